// ---- cluster by cluster: the features that distinguish it, its distribution in color and that of the others in gray
const CARD = { width: 300, height: 34 };
function pooled(counts, c) {
  const sum = counts[0].map(() => 0);
  counts.forEach((row, other) => { if (other !== c) row.forEach((count, b) => { sum[b] += count; }); });
  return sum;
}
function sketch(f, c, words) {
  const { width, height: high } = CARD, base = high - 2, isLevel = f.kind === "level", height = high + (isLevel ? 15 : 0);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "sketch", "aria-label": `${f.name} in cluster ${c}, compared with the other clusters: ${words}` });
  const own = f.counts[c], others = pooled(f.counts, c), top = (row) => Math.max(1, ...row);
  if (isLevel) {
    const slot = width / f.levels.length, total = (row) => Math.max(1, row.reduce((a, b) => a + b, 0));
    [[own, 0.12, { class: "own", fill: look(c).color }], [others, 0.5, { class: "others" }]].forEach(([row, from, look]) => row.forEach((count, b) => {
      const tall = ((base - 2) * count) / total(row);
      svg.append(draw("rect", { x: slot * (b + from), y: base - tall, width: slot * 0.38, height: tall, ...look }));
    }));
    f.levels.forEach((level, b) => {
      const text = draw("text", { x: slot * (b + 0.5), y: height - 3, "text-anchor": "middle" });
      text.textContent = cut(level, Math.max(2, Math.floor(slot / 6)));
      svg.append(text, tell(draw("rect", { x: slot * b, y: 0, width: slot, height, fill: "transparent" }),
        `${level}: ${percent(own[b] / total(own))} of cluster ${c}, ${percent(others[b] / total(others))} of the others`));
    });
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
      const item = make("li"), head = make("div", undefined, "head");
      head.append(named(each.name), make("span", `explains ${percent(each.explained)}`, "quiet"));
      item.append(head, make("div", each.words), sketch(data.distributions.features[each.at], c, each.words));
      list.append(item);
    });
    box.append(heading, list);
    place.append(box);
  });
}
