// ---- can you trust it? the stability of clusters, samples that are together in subsamples, and the surest features
const SHARES = [0, 0.25, 0.5, 0.75, 1], LEFT = 142, RIGHT = 348, STEP = 24, LONGEST = 20;
// A drawing with one row per name and an axis of shares, and the places of shares and rows in it.
function rowsOf(names, label, title) {
  const bottom = 6 + STEP * names.length, svg = draw("svg", { viewBox: `0 0 360 ${bottom + 40}`, role: "img", "aria-label": label });
  const x = (part) => LEFT + (RIGHT - LEFT) * Math.max(0, Math.min(1, part)), y = (i) => 6 + STEP * (i + 0.5);
  const write = (text, at) => { const node = draw("text", at); node.textContent = text; svg.append(node); };
  svg.append(draw("path", { d: `M${LEFT},6V${bottom}H${RIGHT}`, fill: "none", class: "axis" }));
  names.forEach((name, i) => write(cut(name, LONGEST), { x: LEFT - 6, y: y(i) + 4, "text-anchor": "end" }));
  SHARES.forEach((part) => write(part, { x: x(part), y: bottom + 16, "text-anchor": "middle" }));
  write(title, { x: (LEFT + RIGHT) / 2, y: bottom + 34, "text-anchor": "middle" });
  return { svg, x, y, bottom };
}
function bars() {
  const { clusters } = data.assessment, words = clusters.map((each, c) => `cluster ${c}: ${each.verdict}`);
  const { svg, x, y, bottom } = rowsOf(words, `Stability of ${words.length} clusters: ${words.join(", ")}`, "stability (Jaccard similarity)");
  clusters.forEach(({ size, stability, recovered }, c) => svg.append(tell(
    draw("rect", { x: LEFT, y: y(c) - 8, width: x(stability) - LEFT, height: 16, fill: look(c).color }),
    `cluster ${c}, ${counted(size, "sample")}: stability ${share(stability)}, found again in ${percent(recovered)} of the subsamples`)));
  data.trust.limits.forEach((limit) => svg.append(draw("path", { d: `M${x(limit)},6V${bottom}`, class: "cut" })));
  return svg;
}
function consensus() {
  const { samples, together, colors, missing } = data.trust, count = samples.length;
  const canvas = make("canvas"), frame = make("div", undefined, "heatmap square");
  canvas.width = canvas.height = count;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Heatmap of ${count} by ${count} samples in the order of clusters: how often two samples are in the same cluster`);
  const [never, always] = colors.map(rgb), shade = (often) => never.map((from, i) => Math.round(from + ((always[i] - from) * often) / 100));
  fill(canvas, together, (often) => (often === null ? rgb(missing) : shade(often)));
  const words = (i, j) => `${samples[i].id} (${nameOf(samples[i].cluster)}) and ${samples[j].id} (${nameOf(samples[j].cluster)}): ` +
    (together[i][j] === null ? "never in the same subsample" : `together in ${percent(together[i][j] / 100)} of the subsamples`);
  pointed(canvas, words);
  const clusters = samples.map((sample) => sample.cluster);
  frame.append(strip(clusters, "above"), strip(clusters, "beside"), canvas);
  return frame;
}
function surest() {
  const { features } = data.trust;
  const { svg, x, y } = rowsOf(features.map((f) => f.name), `The ${features.length} surest features, with the share that the clusters of held-out samples explain`, "share");
  features.forEach(({ name, listed, effect, low, high, frequency }, i) => {
    const group = draw("g", { class: listed ? "listed" : "unlisted" });
    if (effect !== null) group.append(draw("path", { d: `M${x(low ?? effect)},${y(i)}H${x(high ?? effect)}`, class: "range" }), draw("circle", { cx: x(effect), cy: y(i), r: 4.5 }));
    group.append(draw("path", { d: `M${x(frequency)},${y(i) - 7}v14`, class: "often" }), draw("rect", { x: 0, y: y(i) - STEP / 2, width: 360, height: STEP, fill: "transparent" }));
    const explained = effect === null ? "" : `${percent(effect)} explained (${percent(low)} to ${percent(high)}), `;
    svg.append(tell(group, `${name}: ${explained}chosen in ${percent(frequency)} of the halves${listed ? ", listed" : ""}`));
  });
  return svg;
}
function trust() {
  if (!data.trust) return;
  for (const [name, panel] of Object.entries({ bars, consensus, surest })) find(`trust-${name}`).append(panel());
}
