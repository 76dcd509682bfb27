// ---- axes
function axes(svg, box, x, y, names) {
  svg.append(draw("path", { d: `M${box.left},${box.top}V${box.bottom}H${box.right}`, fill: "none", class: "axis" }));
  const label = (text, at) => { const node = draw("text", at); node.textContent = text; svg.append(node); };
  x.ticks.forEach((t) => label(number(t), { x: x.at(t), y: box.bottom + 16, "text-anchor": "middle" }));
  y.ticks.forEach((t) => label(y.words ? y.words(t) : number(t), { x: box.left - 6, y: y.at(t) + 4, "text-anchor": "end" }));
  label(names[0], { x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle" });
  label(names[1], { x: 12, y: (box.top + box.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(box.top + box.bottom) / 2})` });
}
function scale(low, high, from, to, log, given) {
  const f = log ? Math.log10 : (v) => v;
  if (!(f(high) > f(low))) high = log ? low * 10 : low + 1;
  const at = (v) => from + ((f(v) - f(low)) / (f(high) - f(low))) * (to - from);
  const ticks = given ?? [];
  if (given) return { at, ticks };
  // Few powers of ten have other round numbers between them.
  const between = high / low < 300 ? [1, 2, 5] : [1];
  if (log) for (let t = 10 ** Math.floor(Math.log10(low)); t <= high; t *= 10) ticks.push(...between.map((f) => +(f * t).toPrecision(6)).filter((v) => v >= low * 0.999 && v <= high * 1.001));
  else {
    const step = 10 ** Math.floor(Math.log10((high - low) / 3)), by = (high - low) / step > 8 ? step * 4 : step * (((high - low) / step) > 4 ? 2 : 1);
    for (let t = Math.ceil(low / by) * by; t <= high + 1e-12; t += by) ticks.push(Math.abs(t) < by * 1e-6 ? 0 : +t.toPrecision(6));
  }
  if (log && !ticks.length) ticks.push(low, high);
  return { at, ticks };
}

// ---- a criterion over the values of a parameter, which is read with the pointer or the arrow keys
const MARKED = 30, TICKED = 12;
function curve(name, given) {
  if (!given) return;
  // Values that are out of the question have no score.
  const kept = given.values.map((_, i) => i).filter((i) => given.score[i] !== null), of = (list) => list && kept.map((i) => list[i]);
  const g = { ...given, values: of(given.values), score: of(given.score), error: of(given.error) };
  const place = find(`curve-${name}`), read = find(`curve-${name}-read`), count = g.values.length;
  // On a phone, the drawing is narrower, and its text is not smaller.
  const wide = Math.max(320, Math.min(720, place.clientWidth || 720));
  const box = { left: 64, right: wide - 20, top: 14, bottom: 250 }, error = g.error ?? g.score.map(() => 0);
  const words = (i) => `${g.parameter} = ${number(g.values[i])}: ${g.titles[1]} ${number(g.score[i])}` + (g.error ? `, standard error ${number(g.error[i])}` : "");
  let at = g.values.indexOf(g.chosen);
  // One value makes no curve.
  if (count < 2) { read.textContent = words(at); return; }
  const svg = draw("svg", { viewBox: `0 0 ${wide} 300`, role: "img", tabindex: "0", "aria-label": `${g.titles[1]} over the ${g.titles[0]}, ${count} values; chosen: ${words(at)}. Use the arrow keys to read it.` });
  const bounds = [...g.score.map((v, i) => v - error[i]), ...g.score.map((v, i) => v + error[i]), ...(g.required === null ? [] : [g.required])];
  const x = scale(g.values[0], g.values[count - 1], box.left, box.right, g.is_log, !g.is_log && count <= TICKED ? g.values : undefined);
  const y = scale(Math.min(...bounds), Math.max(...bounds), box.bottom, box.top);
  axes(svg, box, x, y, g.titles);
  const line = (sign) => g.values.map((v, i) => `${x.at(v)},${y.at(g.score[i] + sign * error[i])}`);
  if (g.error) svg.append(draw("path", { d: "M" + line(1).join("L") + "L" + line(-1).reverse().join("L") + "Z", class: "band" }));
  svg.append(draw("path", { d: "M" + line(0).join("L"), class: "curve" }));
  if (count <= MARKED) g.values.forEach((v, i) => svg.append(draw("circle", { cx: x.at(v), cy: y.at(g.score[i]), r: 3, class: "value" })));
  if (g.required !== null) svg.append(draw("path", { d: `M${box.left},${y.at(g.required)}H${box.right}`, class: "required" }));
  svg.append(draw("path", { d: `M${x.at(g.chosen)},${box.top}V${box.bottom}`, class: "cut" }));
  const spot = draw("circle", { r: 5, class: "spot", visibility: "hidden" });
  svg.append(spot);
  const point = (i) => {
    at = i;
    spot.setAttribute("cx", x.at(g.values[i]));
    spot.setAttribute("cy", y.at(g.score[i]));
    spot.setAttribute("visibility", "visible");
    read.textContent = words(i);
    return read.textContent;
  };
  svg.addEventListener("pointermove", (event) => {
    const rect = svg.getBoundingClientRect(), px = ((event.clientX - rect.left) / rect.width) * wide;
    let best = 0;
    g.values.forEach((v, i) => { if (Math.abs(x.at(v) - px) < Math.abs(x.at(g.values[best]) - px)) best = i; });
    showTip(event, point(best));
  });
  svg.addEventListener("pointerleave", hideTip);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) { point(Math.max(0, Math.min(count - 1, at + step))); event.preventDefault(); }
  });
  place.replaceChildren(svg);
  point(at);
}
