// ---- feature by feature: how its values are distributed in each cluster, on one axis in the units of the table
const WIDE = 360, FIRST = 9, AREA = { left: 40, right: 262 }, LONGEST_WORDS = 15;
const rowHeight = data.sizes.length <= 4 ? 30 : data.sizes.length <= 8 ? 24 : 17;
const axisOf = (f, from, to) => {
  const low = f.edges[0], high = f.edges[f.edges.length - 1];
  return (v) => from + ((v - low) / (high - low || 1)) * (to - from);
};
// A histogram as an outline.
function steps(f, counts, x, base, height, top) {
  const parts = [`M${x(f.edges[0]).toFixed(1)},${base}`];
  counts.forEach((count, b) => parts.push(`V${(base - (height * count) / top).toFixed(1)}H${x(f.edges[b + 1]).toFixed(1)}`));
  return parts.join("") + `V${base}Z`;
}
// Every value as a dot, beside each other in a fixed pattern.
const scattered = (values, x, base, height) => values.map((v, i) => `M${x(v).toFixed(1)},${(base - 4 - ((i * 0.618) % 1) * (height - 8)).toFixed(1)}h.01`).join("");
function numbers(svg, f, bottom) {
  const x = axisOf(f, AREA.left, AREA.right);
  f.ticks.forEach(([at, words], i) => {
    const text = draw("text", { x: x(at), y: bottom + 14, "text-anchor": f.kind === "date" ? ["start", "end"][i] : "middle" });
    text.textContent = words;
    svg.append(draw("path", { d: `M${x(at)},4V${bottom + 3}`, class: "grid" }), text);
  });
  return (c, base) => {
    const height = rowHeight - 5, color = look(c).color, points = f.points[c];
    svg.append(points ? draw("path", { d: scattered(points, x, base, height), class: "points", stroke: color })
      : draw("path", { d: steps(f, f.counts[c], x, base, height, Math.max(1, ...f.counts[c])), class: "own", fill: color }));
    if (f.centers[c] !== null) svg.append(draw("path", { d: `M${x(f.centers[c])},${base}v${-height}`, class: "center" }));
  };
}
function levels(svg, f, bottom) {
  const slot = (AREA.right - AREA.left) / f.levels.length, fits = Math.floor(slot / 6.2), isTight = f.levels.some((level) => [...level].length > fits);
  f.levels.forEach((level, b) => {
    const at = AREA.left + slot * (b + 0.5), text = draw("text", isTight ? { x: at + 4, y: bottom + 12, "text-anchor": "end", transform: `rotate(-35 ${at + 4} ${bottom + 12})` } : { x: at, y: bottom + 14, "text-anchor": "middle" });
    text.textContent = cut(level, isTight ? 10 : fits);
    svg.append(tell(text, level));
  });
  return (c, base) => {
    const total = Math.max(1, f.counts[c].reduce((a, b) => a + b, 0));
    f.counts[c].forEach((count, b) => {
      const high = ((rowHeight - 5) * count) / total;
      svg.append(draw("rect", { x: AREA.left + slot * (b + 0.15), y: base - high, width: slot * 0.7, height: high, class: "own", fill: look(c).color }));
    });
  };
}
function panel(f) {
  const bottom = 4 + rowHeight * data.sizes.length, isTight = f.kind === "level" && f.levels.some((level) => [...level].length > Math.floor((AREA.right - AREA.left) / f.levels.length / 6.2));
  const figure = make("figure"), caption = make("figcaption"), quiet = make("span", `${percent(f.score)} explained${f.core ? ", core" : ""}`, "quiet");
  caption.append(named(f.name), quiet);
  const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${bottom + (isTight ? 52 : 20)}`, role: "img", class: "panel", "aria-label": `${f.name} in each cluster: ${f.words.map((words, c) => `cluster ${c}: ${words}`).join("; ")}` });
  const paint = f.kind === "level" ? levels(svg, f, bottom) : numbers(svg, f, bottom);
  data.sizes.forEach((size, c) => {
    const base = 4 + rowHeight * (c + 1), missing = f.missing[c] ? `, ${f.missing[c].toLocaleString("en-US")} missing` : "";
    const label = draw("text", { x: 34, y: base - rowHeight / 2 + 4, "text-anchor": "end" }), words = draw("text", { x: AREA.right + 8, y: base - rowHeight / 2 + 4, class: "words" });
    label.textContent = c;
    words.textContent = cut(f.words[c], LONGEST_WORDS);
    svg.append(draw("path", { d: `M${AREA.left},${base}H${AREA.right}`, class: "axis" }), mark(c, 4.2, 9, base - rowHeight / 2), label, words);
    paint(c, base);
    svg.append(tell(draw("rect", { x: 0, y: base - rowHeight, width: WIDE, height: rowHeight, fill: "transparent" }), `cluster ${c}, ${counted(size, "sample")}${missing}: ${f.words[c]}`));
  });
  figure.append(caption, svg);
  return figure;
}
function distributions() {
  const place = find("distributions"), { features, n_first: count, note } = data.distributions;
  if (note) { place.append(make("p", note, "quiet")); return; }
  const grid = (list) => { const node = make("div", undefined, "panels"); node.append(...list.map(panel)); return node; };
  place.append(grid(features.slice(0, Math.min(FIRST, count))));
  if (count <= FIRST) return;
  const more = make("details", undefined, "more"), summary = make("summary", `Show ${counted(count - FIRST, "more feature")}`);
  more.append(summary, grid(features.slice(FIRST, count)));
  place.append(more);
}
