// ---- the heatmap: a pixel per value on a canvas, with the clusters of the samples on its left and of the columns above
function strip(clusters, className, named = 0.2) {
  const node = make("div", undefined, className);
  node.setAttribute("aria-hidden", "true");
  for (let from = 0, to = 0; from < clusters.length; from = to) {
    while (to < clusters.length && clusters[to] === clusters[from]) to += 1;
    // The name where there is room for it, or else the number.
    const c = clusters[from], room = (to - from) / clusters.length, part = make("div", c < 0 || room <= 0.02 ? "" : room > named ? nameOf(c) : String(c));
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
// Names beside the rows or below the columns, as many as fit.
const ROW = 13, COLUMN = 15, TALLEST = 640, LOWEST = 260, MOST_ON_PAPER = 56;
function names(texts, className, every) {
  const node = make("div", undefined, className);
  node.setAttribute("aria-hidden", "true");
  const rare = Math.ceil(texts.length / MOST_ON_PAPER);
  texts.forEach((text, i) => {
    const label = make("span", i % every ? "" : text, className === "below" && i % rare ? "minor" : "");
    label.title = text;
    node.append(label);
  });
  return node;
}
function heatmap() {
  const h = data.heatmap, place = find("heatmap"), rows = h.values.length, columns = h.features.length;
  if (h.notes.length) place.append(make("p", h.notes.join(" "), "quiet"));
  if (!rows) return;
  const canvas = make("canvas"), frame = make("div", undefined, "heatmap named");
  canvas.width = columns;
  canvas.height = rows;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `Heatmap of ${rows} samples by ${columns} columns, samples in the order of clusters`);
  const height = Math.max(LOWEST, Math.min(TALLEST, rows * ROW));
  frame.style.setProperty("--height", `${height}px`);
  frame.style.setProperty("--width", `${columns * COLUMN + 150}px`);
  frame.style.setProperty("--widest", `${columns * 110 + 150}px`);
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
  frame.append(strip(h.singled_out, "above"), strip(h.samples.map((sample) => sample.cluster), "beside", 0.12), canvas,
    names(h.samples.map((sample) => sample.id), "right", Math.ceil((rows * ROW) / height)), names(h.features, "below", 1));
  place.append(scrolled(frame, "Heatmap"), scaleOf(h));
}
// What the colors mean.
function scaleOf(h) {
  const key = make("div", undefined, "key"), bar = make("span", undefined, "gradient"), shades = make("span", undefined, "shades");
  bar.style.background = `linear-gradient(to right, ${h.colors.join(", ")})`;
  const ends = [`−${h.limit} sd or less`, "mean", `+${h.limit} sd or more`].map((text) => make("span", text));
  shades.append(bar, ...ends);
  const entry = (color, text) => { const node = make("span", undefined, "entry"), box = make("i"); box.style.background = color; node.append(box, text); return node; };
  key.append(shades);
  if (h.values.some((row) => row.includes(null))) key.append(entry(h.missing, "missing value"));
  if (h.is_level.some(Boolean)) key.append(make("span", "levels: orange if the sample has the level, blue if it has another", "entry"));
  const groupsKey = make("div", undefined, "key");
  groups.forEach((c) => { const node = make("span", undefined, "entry"); node.append(swatch(c), nameOf(c)); groupsKey.append(node); });
  const box = make("div");
  box.append(key, groupsKey);
  return box;
}
