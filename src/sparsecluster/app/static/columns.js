// Step 2: the columns of the table, a page at a time, and what was changed about them.

import { ask, count, el, make, plural, say, show } from "./tools.js";

const PAGE = 50;
const PERCENT = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

export class Columns {
  // `reread` has the table read in another way.
  constructor(reread) {
    this.reread = reread;
    this.changes = new Map();
    this.first = 0;
    this.total = 0;
    this.asked = 0;
    let timer;
    el("search").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.turn(0), 150);
    });
    el("before").addEventListener("click", () => this.turn(this.first - PAGE));
    el("after").addEventListener("click", () => this.turn(this.first + PAGE));
    el("drop-found").addEventListener("click", () => this.changeFound("left out"));
    el("use-found").addEventListener("click", () => this.changeFound(null));
  }

  forget() {
    this.changes.clear();
    el("search").value = "";
    this.first = 0;
  }

  async show(table) {
    this.table = table;
    show(el("columns-bar"), table.n_columns > 8);
    await this.turn(this.first);
  }

  async turn(first) {
    const mine = ++this.asked;
    const search = el("search").value.trim();
    const found = await ask(`tables/${this.table.key}/columns?${new URLSearchParams({ first: Math.max(0, first), count: PAGE, search })}`);
    // An answer that is no longer wanted, because something else was typed in the meantime.
    if (mine !== this.asked) return;
    this.first = found.first;
    this.total = found.total;
    el("columns").tBodies[0].replaceChildren(...found.columns.map((column) => this.row(column)));
    show(el("pager"), found.total > PAGE);
    const last = Math.min(found.total, found.first + PAGE);
    say(el("pager-words"), `${count(Math.min(found.first + 1, last))} to ${count(last)} of ${count(found.total)}`);
    el("before").disabled = found.first === 0;
    el("after").disabled = last >= found.total;
    say(el("columns-count"), search ? (found.total ? `${plural(found.total, "column")} found` : "No column has this in its name.") : "");
    say(el("drop-found"), search ? "Leave out those found" : "Leave out all");
    say(el("use-found"), search ? "Reset those found" : "Reset all");
  }

  row(column) {
    const row = el("column-row").content.firstElementChild.cloneNode(true);
    const [name, use, metric, type, values, missing, example] = row.cells;
    const [useSelect, metricSelect] = [use.firstChild, metric.firstChild];
    const usual = column.use ?? "feature";
    name.firstChild.textContent = column.shown || "(no name)";
    // Why a column is compared as it is need not be read by everybody.
    name.lastChild.textContent = [usual === "feature" ? "" : column.why, column.advice].filter(Boolean).join(" ");
    type.title = column.why ?? "";
    useSelect.setAttribute("aria-label", `Use of ${column.shown}`);
    metricSelect.setAttribute("aria-label", `How ${column.shown} is compared`);
    metricSelect.options[0].textContent = column["compared by"] || "automatic";
    // The way that was found is the first one already.
    for (const option of [...metricSelect.options].slice(1)) if (option.value === column.metric) option.remove();
    type.textContent = column.type ?? "";
    values.textContent = column.values === undefined || column.values === null ? "" : (column.more ? "more than " : column.least ? "at least " : "") + count(column.values);
    missing.firstChild.value = column.missing ?? 0;
    missing.lastChild.textContent = column.missing ? PERCENT.format(column.missing) : "none";
    show(missing.firstChild, Boolean(column.missing));
    example.firstChild.textContent = column.example ?? "";
    example.title = column.example ?? "";
    const draw = () => {
      const change = this.changes.get(column.name);
      useSelect.value = change?.use ?? usual;
      metricSelect.value = change?.metric ?? "auto";
      metricSelect.disabled = useSelect.value !== "feature";
      row.className = [useSelect.value === "feature" ? "" : "out", change ? "changed" : ""].join(" ").trim();
    };
    useSelect.addEventListener("change", () => this.changeUse(column, usual, useSelect.value).then(draw));
    metricSelect.addEventListener("change", () => {
      this.change(column.name, usual, useSelect.value, metricSelect.value);
      draw();
    });
    draw();
    return row;
  }

  change(name, usual, use, metric) {
    if (use === usual && metric === "auto") this.changes.delete(name);
    else this.changes.set(name, { use, metric });
    this.counted();
  }

  async changeUse(column, usual, use) {
    const metric = this.changes.get(column.name)?.metric ?? "auto";
    // Only one column can have the names of the rows, or the known groups.
    if (use === "truth") for (const [name, each] of this.changes) if (each.use === "truth") this.changes.delete(name);
    if (use === "id" || column.name === this.table.id) {
      // Which column has the names of the rows may decide how others are used.
      if (use === "id") this.changes.delete(column.name);
      else this.changes.set(column.name, { use, metric });
      await this.reread({ id: use === "id" ? column.name : null });
      return;
    }
    this.change(column.name, usual, use, metric);
    if (use === "truth") await this.turn(this.first);
  }

  async changeFound(use) {
    const names = await ask(`tables/${this.table.key}/names?${new URLSearchParams({ search: el("search").value.trim() })}`);
    for (const name of names) {
      if (use === null) this.changes.delete(name);
      else if (name !== this.table.id) this.changes.set(name, { use, metric: "auto" });
    }
    this.counted();
    await this.turn(this.first);
  }

  counted() {
    const changed = this.changes.size;
    say(el("fit-words"), changed ? `${plural(changed, "column")} changed.` : "");
  }

  // As the server wants it. Names are no keys of objects here, because they can be anything.
  asChoices() {
    return [...this.changes].map(([name, { use, metric }]) => [name, use, metric]);
  }
}

export const noteItems = (notes) => notes.map((note) => make("li", {}, note));
