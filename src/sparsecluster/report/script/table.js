// ---- tables that can be searched and sorted
const PAGE = 50;
function table(place, columns, rows, word) {
  let order = rows.map((_, i) => i), sorted = -1, down = true, needle = "", page = 0;
  const search = make("input");
  search.type = "search";
  search.placeholder = "Search " + word;
  search.setAttribute("aria-label", "Search " + word);
  const count = make("span", "", "quiet");
  count.setAttribute("role", "status");
  const back = make("button", "Back"), on = make("button", "Next");
  const bar = make("div", undefined, "bar");
  bar.append(search, back, on, count);
  const grid = make("table"), head = make("thead"), body = make("tbody"), line = make("tr");
  columns.forEach((column, c) => {
    const cell = make("th", undefined, column.text ? "" : "number"), button = make("button", column.title);
    cell.scope = "col";
    button.addEventListener("click", () => {
      down = sorted === c ? !down : !column.text;
      sorted = c;
      page = 0;
      line.querySelectorAll("th").forEach((th, i) => {
        if (i === c) th.setAttribute("aria-sort", down ? "descending" : "ascending");
        else th.removeAttribute("aria-sort");
      });
      show();
    });
    cell.append(button);
    line.append(cell);
  });
  head.append(line);
  grid.append(head, body);
  grid.classList.toggle("wide", columns.length > 12);
  find(place).append(bar, scrolled(grid, "Table of " + word));
  function show() {
    const kept = order.filter((i) => !needle || columns.some((c) => String(c.value(rows[i]) ?? "").toLowerCase().includes(needle)));
    if (sorted >= 0) {
      const value = columns[sorted].value;
      kept.sort((i, j) => {
        const a = value(rows[i]), b = value(rows[j]);
        if (a === b) return i - j;
        if (a === null || a === undefined || a === "") return 1;
        if (b === null || b === undefined || b === "") return -1;
        return (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))) * (down ? -1 : 1);
      });
    }
    const pages = Math.max(1, Math.ceil(kept.length / PAGE));
    page = Math.min(page, pages - 1);
    body.replaceChildren(...kept.slice(page * PAGE, (page + 1) * PAGE).map((i) => {
      const row = make("tr");
      columns.forEach((column) => {
        const cell = make("td", (column.words ?? number)(column.value(rows[i]), rows[i]), column.text ? "" : "number");
        if (column.text) cell.title = String(column.value(rows[i]) ?? "");
        row.append(cell);
      });
      return row;
    }));
    count.textContent = `${kept.length.toLocaleString("en-US")} ${word}` + (pages > 1 ? `, page ${page + 1} of ${pages}` : "");
    back.disabled = page === 0;
    on.disabled = page >= pages - 1;
    back.hidden = on.hidden = pages === 1;
  }
  search.addEventListener("input", () => { needle = search.value.toLowerCase(); page = 0; show(); });
  back.addEventListener("click", () => { page -= 1; show(); });
  on.addEventListener("click", () => { page += 1; show(); });
  show();
}
