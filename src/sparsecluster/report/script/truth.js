// ---- the true groups (rows) and the clusters (columns): counts, and colors by the share of the group
function truth() {
  const place = find("truth");
  if (!place) return;
  const { groups: names, counts } = data.truth, table = make("table", undefined, "truth"), head = make("tr"), body = make("tbody"), top = make("thead");
  const headed = (node, scope, className) => { const cell = make("th", undefined, className); cell.scope = scope; cell.append(node); return cell; };
  head.append(headed("true group", "col"), ...counts[0].map((_, c) => {
    const cell = headed(c < data.sizes.length ? String(c) : "none", "col", "number");
    cell.prepend(swatch(c < data.sizes.length ? c : -1));
    return cell;
  }), headed("samples", "col", "number"));
  top.append(head);
  counts.forEach((row, g) => {
    const line = make("tr"), total = row.reduce((a, b) => a + b, 0);
    line.append(headed(make("bdi", names[g]), "row"), ...row.map((count) => {
      const cell = make("td", undefined, "number");
      cell.append(count.toLocaleString("en-US"));
      if (count) cell.append(make("span", percent(count / total), "share"));
      else cell.classList.add("none");
      cell.style.setProperty("--share", String(Math.round((45 * count) / Math.max(1, total))));
      return cell;
    }), make("td", total.toLocaleString("en-US"), "number total"));
    body.append(line);
  });
  table.append(top, body);
  table.classList.toggle("wide", counts[0].length > 8);
  place.append(scrolled(table, "Samples by true group and cluster"));
}
