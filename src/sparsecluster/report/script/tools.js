const data = JSON.parse(document.getElementById("data").textContent);
// Color and mark of every cluster, and of samples in no cluster (-1), the same that matplotlib draws.
const look = (c) => (c < 0 ? data.no_cluster : data.palette[c]);
const nameOf = (c) => (c < 0 ? "no cluster" : `cluster ${c}`);
const inCluster = (c) => (c < 0 ? "none" : c);
// All clusters and, if there are samples in none, -1.
const groups = [...data.sizes.keys(), ...(data.n_outliers ? [-1] : [])];
const sizeOf = (c) => (c < 0 ? data.n_outliers : data.sizes[c]);
const svgNS = "http://www.w3.org/2000/svg";
const find = (id) => document.getElementById(id);
const make = (tag, text, className) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  return node;
};
const draw = (tag, attributes) => {
  const node = document.createElementNS(svgNS, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
};
// The mark of a cluster, of a radius in pixels, at a place of a drawing.
const mark = (c, radius, x, y) => draw("path", { d: look(c).path, fill: look(c).color, class: "mark", transform: `translate(${x} ${y}) scale(${radius})` });
const swatch = (c) => {
  const node = draw("svg", { viewBox: "-7 -7 14 14", class: "swatch", "aria-hidden": "true" });
  node.append(mark(c, 4.6, 0, 0));
  return node;
};

// ---- numbers for people
// Only nothing is 0 %, and only all is 100 %.
const percent = (share) => (share > 0 && share < 0.005 ? "under 1\u00a0%" : share >= 0.995 && share < 1 ? "over 99\u00a0%" : `${Math.round(100 * share) + 0}\u00a0%`);
const power = (value) => {
  const [digits, exponent] = value.toExponential(2).split("e");
  return `${+digits} × 10${[...String(+exponent)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`;
};
// Three digits, and all digits before the point.
const number = (value) => {
  if (typeof value !== "number") return value ?? "";
  const size = Math.abs(value);
  if (value && (size < 1e-3 || size >= 1e7)) return power(value);
  return size >= 100 ? Math.round(value).toLocaleString("en-US") : String(+value.toPrecision(3));
};
// Three digits, also where the last ones are 0, as in a column of numbers.
const digits = (value) => (typeof value === "number" && value && Math.abs(value) < 100 && Math.abs(value) >= 1e-3 ? value.toPrecision(3) : number(value));
// As many digits as show the differences between some values.
const inUnits = (value, values) => {
  const known = values.filter((v) => typeof v === "number"), spread = Math.max(...known) - Math.min(...known);
  const largest = Math.max(...known.map(Math.abs));
  if (typeof value !== "number" || !(spread > 0) || largest >= 1e7 || largest < 1e-3) return digits(value);
  const places = Math.max(0, Math.min(6, Math.max(1 - Math.floor(Math.log10(spread)), 2 - Math.floor(Math.log10(largest)))));
  return (+value.toFixed(places) + 0).toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
};
const share = (value) => (typeof value !== "number" ? "" : value > 0 && value < 0.001 ? "under 0.001" : value.toFixed(3).replace(/^-(0\.000)$/, "$1"));
const counted = (count, what) => `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;
const cut = (name, longest) => ([...name].length > longest ? [...name].slice(0, longest - 1).join("") + "…" : name);

// A line that begins with a name. A name that is written from right to left does not turn the rest of the line.
const line = (name, text) => {
  const node = make("li");
  node.append(make("bdi", name), text);
  return node;
};

// A name that is cut where there is no room for it, and whole in its title.
const named = (name) => {
  const node = make("bdi", name);
  node.title = name;
  return node;
};

// ---- a tooltip beside the pointer
const tip = find("tip");
const showTip = (event, text) => {
  tip.textContent = text;
  tip.style.visibility = "visible";
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 6)) + "px";
  tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 6)) + "px";
};
const hideTip = () => { tip.style.visibility = "hidden"; };
// Tells a text where a node of a drawing is pointed at.
const tell = (node, text) => {
  node.addEventListener("pointermove", (event) => showTip(event, text));
  node.addEventListener("pointerleave", hideTip);
  return node;
};
// A box that scrolls if its content is too wide, also with the keyboard.
const scrolled = (node, label) => {
  const box = make("div", undefined, "scroll");
  box.append(node);
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  return box;
};
