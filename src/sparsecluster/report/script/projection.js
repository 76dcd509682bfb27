// ---- samples in two components
const BOX = { left: 46, right: 390, top: 12, bottom: 300 };
// The samples along one component, each cluster in a row of its own.
function rowsFor(clusters) {
  const present = [...new Set(clusters)].sort((a, b) => (a < 0) - (b < 0) || a - b), step = (BOX.bottom - BOX.top) / present.length;
  const middle = (c) => BOX.top + step * (present.indexOf(c) + 0.5);
  return { ticks: present, words: inCluster, at: middle, spread: (c, i) => middle(c) + (((i * 0.618) % 1) - 0.5) * 0.7 * step };
}
// Draws the samples with a tooltip for each, and returns the drawing, its scales and the marks.
function cloud(p, clusters, title) {
  const svg = draw("svg", { viewBox: "0 0 400 346", role: "img", "aria-label": `${title}: ${counted(p.x.length, "sample")} in ${p.shares[1] ? "two principal components" : "one component"}` });
  const x = scale(Math.min(...p.x), Math.max(...p.x), BOX.left + 6, BOX.right - 6);
  const y = p.shares[1] ? scale(Math.min(...p.y), Math.max(...p.y), BOX.bottom - 6, BOX.top + 6) : rowsFor(clusters);
  axes(svg, BOX, x, y, [p.shares[1] ? `first component (${percent(p.shares[0])} of variance)` : "difference from the mean", p.shares[1] ? `second component (${percent(p.shares[1])} of variance)` : "cluster"]);
  const top = (i) => (p.shares[1] ? y.at(p.y[i]) : y.spread(clusters[i], i));
  const nodes = p.x.map((_, i) => {
    const c = clusters[i], node = mark(c, p.x.length > 600 ? 3 : 4.2, x.at(p.x[i]), top(i));
    tell(node, `${data.projection.samples[i]}: ${nameOf(c)}`);
    svg.append(node);
    return node;
  });
  return { svg, left: (i) => x.at(p.x[i]), top, nodes };
}

// ---- the clusters: a rectangle to select samples, buttons for clusters
const dots = [];
let only = null, picked = null;
function paint() {
  dots.forEach(({ node, i }) => {
    const keep = (only === null || data.projection.clusters[i] === only) && (picked === null || picked.has(i));
    node.classList.toggle("dim", !keep);
  });
  const names = picked === null ? [] : [...picked].map((i) => data.projection.samples[i]);
  find("picked").textContent = picked === null ? "" : `${names.length} selected: ${names.slice(0, 30).join(", ")}${names.length > 30 ? ", ..." : ""}`;
}
function scatter(part, title) {
  const figure = make("div"), heading = make("h3", title);
  figure.append(heading);
  const p = data.projection[part];
  if (!p) { figure.append(make("p", data.projection.notes[part], "quiet")); return figure; }
  if (p.n_missing) figure.append(make("p", `${p.n_missing.toLocaleString("en-US")} missing values are filled with the mean of their column.`, "quiet"));
  const { svg, left, top, nodes } = cloud(p, data.projection.clusters, title);
  nodes.forEach((node, i) => {
    node.classList.add("dot");
    dots.push({ node, i });
  });
  let from = null;
  const frame = draw("rect", { fill: "none", stroke: "currentColor", "stroke-dasharray": "4 3", visibility: "hidden" });
  svg.append(frame);
  const place = (event) => {
    const rect = svg.getBoundingClientRect();
    return [((event.clientX - rect.left) / rect.width) * 400, ((event.clientY - rect.top) / rect.height) * 346];
  };
  svg.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse") { from = place(event); svg.setPointerCapture(event.pointerId); event.preventDefault(); } });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const to = place(event);
    frame.setAttribute("visibility", "visible");
    frame.setAttribute("x", Math.min(from[0], to[0]));
    frame.setAttribute("y", Math.min(from[1], to[1]));
    frame.setAttribute("width", Math.abs(to[0] - from[0]));
    frame.setAttribute("height", Math.abs(to[1] - from[1]));
  });
  svg.addEventListener("pointerup", (event) => {
    if (!from) return;
    const to = place(event), inside = (v, a, b) => v >= Math.min(a, b) && v <= Math.max(a, b);
    const found = p.x.map((_, i) => i).filter((i) => inside(left(i), from[0], to[0]) && inside(top(i), from[1], to[1]));
    picked = Math.abs(to[0] - from[0]) < 3 ? null : new Set(found);
    from = null;
    frame.setAttribute("visibility", "hidden");
    paint();
  });
  figure.append(svg);
  return figure;
}
function projection() {
  const bar = make("div", undefined, "bar");
  groups.forEach((c) => {
    const button = make("button", undefined, "legend");
    button.append(swatch(c), `${nameOf(c)} (${sizeOf(c).toLocaleString("en-US")})`);
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      only = only === c ? null : c;
      bar.querySelectorAll("button").forEach((each, i) => each.setAttribute("aria-pressed", String(only === groups[i])));
      paint();
    });
    bar.append(button);
  });
  const pair = make("div", undefined, "pair");
  const isAll = data.n_chosen === data.n_features, features = counted(data.n_features, "feature");
  if (!isAll) pair.append(scatter("chosen", data.n_chosen === 1 ? "The chosen feature" : `The ${counted(data.n_chosen, "chosen feature")}`));
  pair.append(scatter("all", data.n_features === 1 ? "The only feature" : `All ${features}${isAll ? ", which were all chosen" : ""}`));
  find("projection").append(bar, pair);
}
