// ---- this clustering and the alternatives, side by side
function facts(each, isFirst) {
  const list = make("ul", undefined, "facts"), tuned = data.curves.features;
  const outside = each.n_outliers ? `, ${each.n_outliers.toLocaleString("en-US")} in none` : "";
  const told = [
    `${counted(each.sizes.length, "cluster")} of ${each.sizes.map((size) => size.toLocaleString("en-US")).join(", ")} samples${outside}`,
    `${counted(each.n_chosen, "feature")}, ${percent(each.explained)} of whose variation is explained`,
  ];
  if (each.n_core !== null) told.push(`${counted(each.n_core, "core feature")}`);
  if (each.criterion !== null && tuned) told.push(`${tuned.titles[1]}: ${number(each.criterion)}`);
  if (!isFirst) told.push(`agreement with this clustering (adjusted Rand index): ${each.agreement.toFixed(2).replace("-0.00", "0.00")}`);
  told.forEach((text) => list.append(make("li", text)));
  const best = make("li", "highest scores: ");
  each.best.forEach((one, i) => best.append(i ? ", " : "", make("bdi", one.name), ` (${percent(one.score)})`));
  list.append(best);
  return list;
}
// What each cluster is made of: the features that distinguish it, with their typical values.
function parts(each) {
  const list = make("ul", undefined, "parts");
  each.profiles.forEach((best, c) => {
    const item = make("li"), inner = make("ul");
    item.append(swatch(c), `Cluster ${c}: ${counted(each.sizes[c], "sample")}`);
    best.forEach((one) => inner.append(line(one.name, `: ${one.words}`)));
    item.append(inner);
    list.append(item);
  });
  return list;
}
// The samples in each cluster of this clustering (rows) and of the alternative (columns).
function cross(each, title) {
  const grid = make("table", undefined, "cross"), head = make("tr"), box = make("div");
  const headed = (text, scope) => { const cell = make("th", text, "number"); cell.scope = scope; return cell; };
  const name = (c, sizes) => (c < sizes.length ? String(c) : "none");
  head.append(make("td"), ...each.cross[0].map((_, c) => headed(name(c, each.sizes), "col")));
  grid.append(head);
  grid.classList.toggle("wide", each.cross[0].length > 8);
  each.cross.forEach((counts, c) => {
    const row = make("tr");
    row.append(headed(name(c, data.sizes), "row"), ...counts.map((count) => make("td", count.toLocaleString("en-US"), "number")));
    grid.append(row);
  });
  box.append(make("p", `Samples by their cluster in this clustering (rows) and in ${title} (columns):`, "quiet"), scrolled(grid, `Samples in this clustering and in ${title}`));
  return box;
}
function clusterings() {
  data.clusterings.forEach((each, at) => {
    const box = make("div"), title = at ? `alternative ${at - 1}` : "this clustering";
    box.append(make("h3", title[0].toUpperCase() + title.slice(1)), facts(each, !at));
    box.append(each.projection ? cloud(each.projection, each.clusters, title).svg : make("p", each.note, "quiet"));
    if (each.profiles.length) box.append(make("h4", "What it is made of"), parts(each));
    if (at) box.append(cross(each, title));
    find("clusterings").append(box);
  });
}
