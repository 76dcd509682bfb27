"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // Okabe and Ito's colors, told apart by color-blind readers; marks differ too.
  const colors = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7000", "#7f7f7f"];
  const color = (c) => colors[c % colors.length];
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
  const number = (value) => (value === null || value === undefined ? "" : typeof value === "number" ? +value.toPrecision(4) : value);

  // A line that begins with a name; one that turns the direction of text turns only itself.
  const line = (name, text) => {
    const node = make("li");
    node.append(make("bdi", name), text);
    return node;
  };

  // ---- a line of text beside the pointer
  const tip = find("tip");
  const showTip = (event, text) => {
    tip.textContent = text;
    tip.style.visibility = "visible";
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 6)) + "px";
    tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 6)) + "px";
  };
  const hideTip = () => { tip.style.visibility = "hidden"; };

  // ---- tables that can be searched and sorted
  const PAGE = 50;
  function table(place, columns, rows, word) {
    let order = rows.map((_, i) => i), sorted = -1, down = true, needle = "", page = 0;
    const search = make("input");
    search.type = "search";
    search.placeholder = "Search " + word;
    search.setAttribute("aria-label", "Search " + word);
    const count = make("span", "", "quiet");
    count.setAttribute("role", "status");
    const back = make("button", "Back"), on = make("button", "Next");
    const bar = make("div", undefined, "bar");
    bar.append(search, back, on, count);
    const grid = make("table"), head = make("thead"), body = make("tbody"), line = make("tr");
    columns.forEach((column, c) => {
      const cell = make("th", undefined, column.text ? "" : "number"), button = make("button", column.title);
      cell.scope = "col";
      button.addEventListener("click", () => {
        down = sorted === c ? !down : !column.text;
        sorted = c;
        page = 0;
        line.querySelectorAll("th").forEach((th, i) => {
          if (i === c) th.setAttribute("aria-sort", down ? "descending" : "ascending");
          else th.removeAttribute("aria-sort");
        });
        show();
      });
      cell.append(button);
      line.append(cell);
    });
    head.append(line);
    grid.append(head, body);
    const scroll = make("div", undefined, "scroll");
    scroll.append(grid);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", "Table of " + word);
    find(place).append(bar, scroll);
    function show() {
      const kept = order.filter((i) => !needle || columns.some((c) => String(c.value(rows[i]) ?? "").toLowerCase().includes(needle)));
      if (sorted >= 0) {
        const value = columns[sorted].value;
        kept.sort((i, j) => {
          const a = value(rows[i]), b = value(rows[j]);
          if (a === b) return i - j;
          if (a === null || a === undefined || a === "") return 1;
          if (b === null || b === undefined || b === "") return -1;
          return (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b))) * (down ? -1 : 1);
        });
      }
      const pages = Math.max(1, Math.ceil(kept.length / PAGE));
      page = Math.min(page, pages - 1);
      body.replaceChildren(...kept.slice(page * PAGE, (page + 1) * PAGE).map((i) => {
        const row = make("tr");
        columns.forEach((column) => {
          const cell = make("td", number(column.value(rows[i])), column.text ? "" : "number");
          if (column.text) cell.title = String(column.value(rows[i]) ?? "");
          row.append(cell);
        });
        return row;
      }));
      count.textContent = `${kept.length.toLocaleString()} ${word}` + (pages > 1 ? `, page ${page + 1} of ${pages}` : "");
      back.disabled = page === 0;
      on.disabled = page >= pages - 1;
      back.hidden = on.hidden = pages === 1;
    }
    search.addEventListener("input", () => { needle = search.value.toLowerCase(); page = 0; show(); });
    back.addEventListener("click", () => { page -= 1; show(); });
    on.addEventListener("click", () => { page += 1; show(); });
    show();
  }

  // ---- axes
  function axes(svg, box, x, y, names) {
    svg.append(draw("path", { d: `M${box.left},${box.top}V${box.bottom}H${box.right}`, fill: "none", class: "axis" }));
    const label = (text, at) => { const node = draw("text", at); node.textContent = text; svg.append(node); };
    x.ticks.forEach((t) => label(number(t), { x: x.at(t), y: box.bottom + 16, "text-anchor": "middle" }));
    y.ticks.forEach((t) => label(number(t), { x: box.left - 6, y: y.at(t) + 4, "text-anchor": "end" }));
    label(names[0], { x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle" });
    label(names[1], { x: 12, y: (box.top + box.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(box.top + box.bottom) / 2})` });
  }
  function scale(low, high, from, to, log) {
    const f = log ? Math.log10 : (v) => v;
    if (!(f(high) > f(low))) high = log ? low * 10 : low + 1;
    const at = (v) => from + ((f(v) - f(low)) / (f(high) - f(low))) * (to - from);
    const ticks = [];
    if (log) for (let t = 10 ** Math.ceil(Math.log10(low)); t <= high; t *= 10) ticks.push(t);
    else {
      const step = 10 ** Math.floor(Math.log10((high - low) / 3)), by = (high - low) / step > 8 ? step * 4 : step * (((high - low) / step) > 4 ? 2 : 1);
      for (let t = Math.ceil(low / by) * by; t <= high + 1e-12; t += by) ticks.push(Math.abs(t) < by * 1e-6 ? 0 : +t.toPrecision(6));
    }
    if (log && !ticks.length) ticks.push(low, high);
    return { at, ticks };
  }

  // ---- the gap curve
  function gap() {
    const g = data.gap, place = find("gap");
    if (!g) { place.append(make("p", "Nothing was tuned by the gap statistic.", "quiet")); return; }
    const box = { left: 56, right: 700, top: 14, bottom: 250 };
    const svg = draw("svg", { viewBox: "0 0 720 300", role: "img", tabindex: "0", "aria-label": `Gap statistic over ${g.s.length} sizes, chosen: ${g.parameter} = ${number(g.chosen)}. Use the arrow keys to read it.` });
    const low = Math.min(...g.gap.map((v, i) => v - g.error[i])), high = Math.max(...g.gap.map((v, i) => v + g.error[i]));
    const x = scale(g.s[0], g.s[g.s.length - 1], box.left, box.right, g.s[0] > 0), y = scale(low, high, box.bottom, box.top);
    axes(svg, box, x, y, [g.parameter === "s" ? "number of features s" : g.parameter, "gap"]);
    const line = (sign) => g.s.map((s, i) => `${x.at(s)},${y.at(g.gap[i] + sign * g.error[i])}`);
    svg.append(draw("path", { d: "M" + line(1).join("L") + "L" + line(-1).reverse().join("L") + "Z", fill: colors[0], opacity: ".35" }));
    svg.append(draw("path", { d: "M" + line(0).join("L"), fill: "none", stroke: colors[0], "stroke-width": "2" }));
    svg.append(draw("path", { d: `M${x.at(g.chosen)},${box.top}V${box.bottom}`, stroke: colors[1], "stroke-dasharray": "6 4" }));
    const mark = draw("circle", { r: 5, fill: colors[1], visibility: "hidden" });
    svg.append(mark);
    const read = find("gap-read");
    let at = g.s.indexOf(g.chosen);
    const point = (i) => {
      at = i;
      mark.setAttribute("cx", x.at(g.s[i]));
      mark.setAttribute("cy", y.at(g.gap[i]));
      mark.setAttribute("visibility", "visible");
      read.textContent = `${g.parameter} = ${number(g.s[i])}: gap ${number(g.gap[i])}, standard error ${number(g.error[i])}`;
      return read.textContent;
    };
    svg.addEventListener("pointermove", (event) => {
      const rect = svg.getBoundingClientRect(), px = ((event.clientX - rect.left) / rect.width) * 720;
      let best = 0;
      g.s.forEach((s, i) => { if (Math.abs(x.at(s) - px) < Math.abs(x.at(g.s[best]) - px)) best = i; });
      showTip(event, point(best));
    });
    svg.addEventListener("pointerleave", hideTip);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { point(Math.max(0, Math.min(g.s.length - 1, at + step))); event.preventDefault(); }
    });
    place.append(svg);
    point(at);
  }

  // ---- clusters in two components: hover, a rectangle to select, buttons for clusters
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
    if (!p) { figure.append(make("p", "Too large to draw, or not numbers.", "quiet")); return figure; }
    const box = { left: 46, right: 390, top: 12, bottom: 300 };
    const svg = draw("svg", { viewBox: "0 0 400 346", role: "img", "aria-label": `${title}: ${p.x.length} samples in two principal components` });
    const x = scale(Math.min(...p.x), Math.max(...p.x), box.left + 6, box.right - 6), y = scale(Math.min(...p.y), Math.max(...p.y), box.bottom - 6, box.top + 6);
    axes(svg, box, x, y, [`first component, ${Math.round(100 * p.shares[0])} %`, `second, ${Math.round(100 * (p.shares[1] ?? 0))} %`]);
    p.x.forEach((_, i) => {
      const c = data.projection.clusters[i], cx = x.at(p.x[i]), cy = y.at(p.y[i]);
      const node = c % 3 === 0 ? draw("circle", { cx, cy, r: 4.2 }) : c % 3 === 1 ? draw("rect", { x: cx - 3.7, y: cy - 3.7, width: 7.4, height: 7.4 }) : draw("path", { d: `M${cx},${cy - 5}l4.6,8.4h-9.2z` });
      node.setAttribute("fill", color(c));
      node.setAttribute("class", "dot");
      node.addEventListener("pointermove", (event) => showTip(event, `${data.projection.samples[i]}: cluster ${c}`));
      node.addEventListener("pointerleave", hideTip);
      svg.append(node);
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
    data.sizes.forEach((size, c) => {
      const button = make("button"), swatch = make("span", undefined, "swatch");
      swatch.style.background = color(c);
      button.append(swatch, `cluster ${c} (${size})`);
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        only = only === c ? null : c;
        bar.querySelectorAll("button").forEach((each, i) => each.setAttribute("aria-pressed", String(only === i)));
        paint();
      });
      bar.append(button);
    });
    const pair = make("div", undefined, "pair");
    pair.append(scatter("chosen", data.n_chosen === 1 ? "The chosen feature" : `The ${data.n_chosen} chosen features`), scatter("all", `All ${data.n_features} features`));
    find("projection").append(bar, pair);
  }

  // ---- the heatmap, on a canvas: a pixel a value
  function heatmap() {
    const h = data.heatmap, place = find("heatmap");
    if (!h.values.length) { place.append(make("p", "There is nothing to draw.", "quiet")); return; }
    const rows = h.values.length, columns = h.features.length, canvas = make("canvas");
    // Few features are drawn wide, so that the strip that names the clusters stays narrow.
    const unit = Math.max(1, Math.ceil(60 / columns)), side = Math.max(3, Math.round(0.05 * columns * unit));
    canvas.width = columns * unit + side;
    canvas.height = rows;
    canvas.style.aspectRatio = `${Math.max(columns, 12)} / ${Math.max(8, Math.min(columns, rows / 2))}`;
    canvas.style.maxHeight = "34rem";
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Heatmap of ${rows} samples by ${columns} features, samples in the order of clusters`);
    const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, rows);
    // From blue over near white to orange, safe for color-blind readers.
    const shade = (v) => { const t = Math.min(1, Math.abs(v) / 30), to = v < 0 ? [0, 84, 147] : [184, 74, 0]; return to.map((c) => Math.round(246 + (c - 246) * t)); };
    const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    h.values.forEach((line, i) => {
      const cluster = rgb(color(h.samples[i].cluster));
      for (let j = 0; j < canvas.width; j += 1) {
        const [r, g, b] = j < side - 1 ? cluster : j < side ? [255, 255, 255] : shade(line[Math.floor((j - side) / unit)]);
        image.data.set([r, g, b, 255], 4 * (i * canvas.width + j));
      }
    });
    context.putImageData(image, 0, 0);
    canvas.addEventListener("pointermove", (event) => {
      const rect = canvas.getBoundingClientRect();
      const i = Math.floor(((event.clientY - rect.top) / rect.height) * rows), j = Math.floor((Math.floor(((event.clientX - rect.left) / rect.width) * canvas.width) - side) / unit);
      if (i < 0 || i >= rows) { hideTip(); return; }
      const sample = `${h.samples[i].id}, cluster ${h.samples[i].cluster}`;
      showTip(event, j < 0 || j >= columns ? sample : `${sample}, ${h.features[j]}: ${(h.values[i][j] / 10).toFixed(1)} sd`);
    });
    canvas.addEventListener("pointerleave", hideTip);
    place.append(canvas);
  }

  // ---- which features make which cluster
  function profiles() {
    const chosen = data.features.rows.filter((row) => row.chosen && row.centers);
    data.sizes.forEach((size, c) => {
      const box = make("div"), heading = make("h3"), swatch = make("span", undefined, "swatch"), list = make("ol");
      swatch.style.background = color(c);
      heading.append(swatch, `Cluster ${c}: ${size} samples`);
      const numbers = chosen.filter((row) => row.centers.every((v) => typeof v === "number"));
      const stands = (row) => {
        const others = row.centers.filter((_, i) => i !== c), mean = others.reduce((a, b) => a + b, 0) / others.length;
        const spread = Math.max(...row.centers) - Math.min(...row.centers) || 1;
        return { mean, by: ((row.centers[c] - mean) / spread) * row.score };
      };
      const ranked = numbers.map((row) => ({ row, ...stands(row) })).sort((a, b) => Math.abs(b.by) - Math.abs(a.by)).slice(0, 8);
      ranked.forEach(({ row, mean, by }) => list.append(line(row.name, `: ${number(row.centers[c])}, ${by > 0 ? "above" : "below"} the others' ${number(mean)}`)));
      chosen.filter((row) => !numbers.includes(row)).slice(0, 8 - Math.min(8, ranked.length) + 3).forEach((row) => list.append(line(row.name, `: mostly ${row.centers[c] ?? "unknown"}`)));
      box.append(heading, list);
      find("profiles").append(box);
    });
  }

  gap();
  projection();
  heatmap();
  profiles();
  const featureColumns = [
    { title: "feature", text: true, value: (r) => r.name },
    { title: "chosen", text: true, value: (r) => (r.chosen ? "yes" : "no") },
    { title: "score", value: (r) => r.score },
  ];
  if (data.features.rows.some((r) => r.weight !== undefined)) featureColumns.push({ title: "weight", value: (r) => r.weight });
  if (data.features.rows.some((r) => r.centers)) data.sizes.forEach((_, c) => featureColumns.push({ title: `cluster ${c}`, value: (r) => r.centers?.[c] ?? "" }));
  table("features", featureColumns, data.features.rows, "features");
  const itemColumns = [{ title: "sample", text: true, value: (r) => r.id }, { title: "cluster", value: (r) => r.cluster }];
  if (data.samples.rows.some((r) => r.distance !== undefined)) itemColumns.push(
    { title: "distance", value: (r) => r.distance }, { title: "second best", value: (r) => r.second }, { title: "silhouette", value: (r) => r.silhouette });
  table("samples", itemColumns, data.samples.rows, "samples");
  document.documentElement.dataset.ready = "yes";
})();
