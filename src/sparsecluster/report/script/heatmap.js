// ---- the heatmap: a pixel per value on a canvas, with the clusters of the samples on its left and of the columns above
function strip(clusters, className) {
  const node = make("div", undefined, className);
  node.setAttribute("aria-hidden", "true");
  for (let from = 0, to = 0; from < clusters.length; from = to) {
    while (to < clusters.length && clusters[to] === clusters[from]) to += 1;
    const c = clusters[from], part = make("div", c >= 0 && (to - from) / clusters.length > 0.02 ? String(c) : "");
    part.style.flexGrow = to - from;
    part.style.background = look(c).color;
    part.style.color = look(c).ink;
    part.title = nameOf(c);
    node.append(part);
  }
  return node;
}
const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
// A pixel per value, in the color of the value.
function fill(canvas, values, color) {
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, canvas.height);
  values.forEach((line, i) => line.forEach((v, j) => image.data.set([...color(v), 255], 4 * (i * canvas.width + j))));
  context.putImageData(image, 0, 0);
}
// A tooltip about the row and the column below the pointer.
function pointed(canvas, words) {
  const inside = (at, from, length, count) => Math.max(0, Math.min(count - 1, Math.floor(((at - from) / length) * count)));
  canvas.addEventListener("pointermove", (event) => {
    const rect = canvas.getBoundingClientRect();
    showTip(event, words(inside(event.clientY, rect.top, rect.height, canvas.height), inside(event.clientX, rect.left, rect.width, canvas.width)));
  });
  canvas.addEventListener("pointerleave", hideTip);
}
function heatmap() {
  const h = data.heatmap, place = find("heatmap"), rows = h.values.length, columns = h.features.length;
  if (h.notes.length) place.append(make("p", h.notes.join(" "), "quiet"));
  if (!rows) return;
  const canvas = make("canvas"), frame = make("div", undefined, "heatmap");
  canvas.width = columns;
  canvas.height = rows;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Heatmap of ${rows} samples by ${columns} columns, samples in the order of clusters`);
  frame.style.aspectRatio = `${Math.max(columns, 12)} / ${Math.max(8, Math.min(columns, rows / 2))}`;
  const [below, middle, above] = h.colors.map(rgb), missing = rgb(h.missing);
  const shade = (v) => {
    const t = Math.min(1, Math.abs(v) / (10 * h.limit)), to = v < 0 ? below : above;
    return middle.map((from, i) => Math.round(from + (to[i] - from) * t));
  };
  fill(canvas, h.values, (v) => (v === null ? missing : shade(v)));
  const words = (i, j) => {
    const v = h.values[i][j], sample = `${h.samples[i].id}, ${nameOf(h.samples[i].cluster)}, ${h.features[j]}: `;
    return sample + (v === null ? "missing" : h.is_level[j] ? (v > 0 ? "yes" : "no") : `${(v / 10).toFixed(1)} sd`);
  };
  pointed(canvas, words);
  frame.append(strip(h.singled_out, "above"), strip(h.samples.map((sample) => sample.cluster), "beside"), canvas);
  place.append(frame, scaleOf(h));
}
function scaleOf(h) {
  const node = make("p", undefined, "quiet scale"), bar = make("span", undefined, "gradient");
  bar.style.background = `linear-gradient(to right, ${h.colors.join(", ")})`;
  node.append(`${-h.limit} sd or less `, bar, ` ${h.limit} sd or more. The strips show the clusters: of the samples on the left; above, the one that a column singles out.${data.n_outliers ? " Samples in no cluster are gray and come last." : ""}`);
  return node;
}
