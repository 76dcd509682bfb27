// ---- cluster by cluster: the features that distinguish it, its distribution in color and that of the others in gray
const CARD = { width: 260, height: 34 };
function pooled(counts, c) {
  const sum = counts[0].map(() => 0);
  counts.forEach((row, other) => { if (other !== c) row.forEach((count, b) => { sum[b] += count; }); });
  return sum;
}
function sketch(f, c, words) {
  const { width, height } = CARD, base = height - 2;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "sketch", "aria-label": `${f.name} in cluster ${c}, compared with the other clusters: ${words}` });
  const own = f.counts[c], others = pooled(f.counts, c), top = (row) => Math.max(1, ...row);
  if (f.kind === "level") {
    const slot = width / f.levels.length, total = (row) => Math.max(1, row.reduce((a, b) => a + b, 0));
    [[others, "others", 0.5, {}], [own, "own", 0.1, { fill: look(c).color }]].forEach(([row, className, from, more]) => row.forEach((count, b) => {
      const high = (base - 2) * (count / total(row));
      svg.append(draw("rect", { x: slot * (b + (className === "own" ? 0.08 : 0.46)), y: base - high, width: slot * 0.38, height: high, class: className, ...more }));
    }));
    f.levels.forEach((level, b) => svg.append(tell(draw("rect", { x: slot * b, y: 0, width: slot, height, fill: "transparent" }),
      `${level}: ${percent(own[b] / total(own))} of cluster ${c}, ${percent(others[b] / total(others))} of the others`)));
  } else {
    const x = axisOf(f, 2, width - 2);
    svg.append(draw("path", { d: steps(f, others, x, base, base - 2, top(others)), class: "others" }), draw("path", { d: steps(f, own, x, base, base - 2, top(own)), class: "own", fill: look(c).color }));
  }
  svg.append(draw("path", { d: `M0,${base}H${width}`, class: "axis" }));
  return svg;
}
function profiles() {
  const place = find("profiles");
  data.profiles.clusters.forEach((best, c) => {
    const box = make("div"), heading = make("h4"), list = make("ol");
    heading.append(swatch(c), `Cluster ${c}: ${counted(data.sizes[c], "sample")}`);
    best.forEach((each) => {
      const item = line(each.name, `: ${each.words}, explains ${percent(each.explained)}`);
      item.append(sketch(data.distributions.features[each.at], c, each.words));
      list.append(item);
    });
    box.append(heading, list);
    place.append(box);
  });
}
