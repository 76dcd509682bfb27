// ---- samples in two components
const BOX = { left: 46, right: 390, top: 12, bottom: 300 };
// Draws the samples with a tooltip for each, and returns the drawing, its scales and the marks.
function cloud(p, clusters, title) {
  const svg = draw("svg", { viewBox: "0 0 400 346", role: "img", "aria-label": `${title}: ${p.x.length} samples in two principal components` });
  const x = scale(Math.min(...p.x), Math.max(...p.x), BOX.left + 6, BOX.right - 6), y = scale(Math.min(...p.y), Math.max(...p.y), BOX.bottom - 6, BOX.top + 6);
  axes(svg, BOX, x, y, [`first component (${percent(p.shares[0])} of variance)`, p.shares[1] ? `second component (${percent(p.shares[1])} of variance)` : "no second component"]);
  const nodes = p.x.map((_, i) => {
    const c = clusters[i], node = mark(c, 4.2, x.at(p.x[i]), y.at(p.y[i]));
    node.addEventListener("pointermove", (event) => showTip(event, `${data.projection.samples[i]}: ${nameOf(c)}`));
    node.addEventListener("pointerleave", hideTip);
    svg.append(node);
    return node;
  });
  return { svg, x, y, nodes };
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
  if (p.n_missing) figure.append(make("p", `${p.n_missing.toLocaleString()} missing values are filled with the mean of their column.`, "quiet"));
  const { svg, x, y, nodes } = cloud(p, data.projection.clusters, title);
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
    const found = p.x.map((_, i) => i).filter((i) => inside(x.at(p.x[i]), from[0], to[0]) && inside(y.at(p.y[i]), from[1], to[1]));
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
    const button = make("button");
    button.append(swatch(c), `${nameOf(c)} (${sizeOf(c).toLocaleString()})`);
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      only = only === c ? null : c;
      bar.querySelectorAll("button").forEach((each, i) => each.setAttribute("aria-pressed", String(only === groups[i])));
      paint();
    });
    bar.append(button);
  });
  const pair = make("div", undefined, "pair");
  pair.append(scatter("chosen", data.n_chosen === 1 ? "The chosen feature" : `The ${data.n_chosen} chosen features`), scatter("all", `All ${data.n_features} features`));
  find("projection").append(bar, pair);
}
