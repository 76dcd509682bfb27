"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // Color and mark of every cluster, the same that matplotlib draws.
  const color = (c) => data.palette[c].color;
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
  const mark = (c, radius, x, y) => draw("path", { d: data.palette[c].path, fill: color(c), class: "mark", transform: `translate(${x} ${y}) scale(${radius})` });
  const swatch = (c) => {
    const node = draw("svg", { viewBox: "-7 -7 14 14", class: "swatch", "aria-hidden": "true" });
    node.append(mark(c, 4.6, 0, 0));
    return node;
  };
  const number = (value) => (value === null || value === undefined ? "" : typeof value === "number" ? +value.toPrecision(4) : value);

  // A line that begins with a name. A name that is written from right to left does not turn the rest of the line.
  const line = (name, text) => {
    const node = make("li");
    node.append(make("bdi", name), text);
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
    if (!g) { place.append(make("p", "The gap statistic was not used: nothing was tuned.", "quiet")); return; }
    const box = { left: 56, right: 700, top: 14, bottom: 250 };
    const svg = draw("svg", { viewBox: "0 0 720 300", role: "img", tabindex: "0", "aria-label": `Gap statistic over ${g.s.length} sizes, chosen: ${g.parameter} = ${number(g.chosen)}. Use the arrow keys to read it.` });
    const low = Math.min(...g.gap.map((v, i) => v - g.error[i])), high = Math.max(...g.gap.map((v, i) => v + g.error[i]));
    const x = scale(g.s[0], g.s[g.s.length - 1], box.left, box.right, g.s[0] > 0), y = scale(low, high, box.bottom, box.top);
    axes(svg, box, x, y, [g.parameter === "s" ? "number of features s" : g.parameter, "gap"]);
    const line = (sign) => g.s.map((s, i) => `${x.at(s)},${y.at(g.gap[i] + sign * g.error[i])}`);
    svg.append(draw("path", { d: "M" + line(1).join("L") + "L" + line(-1).reverse().join("L") + "Z", class: "band" }));
    svg.append(draw("path", { d: "M" + line(0).join("L"), class: "curve" }));
    svg.append(draw("path", { d: `M${x.at(g.chosen)},${box.top}V${box.bottom}`, class: "cut" }));
    const spot = draw("circle", { r: 5, class: "spot", visibility: "hidden" });
    svg.append(spot);
    const read = find("gap-read");
    let at = g.s.indexOf(g.chosen);
    const point = (i) => {
      at = i;
      spot.setAttribute("cx", x.at(g.s[i]));
      spot.setAttribute("cy", y.at(g.gap[i]));
      spot.setAttribute("visibility", "visible");
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
    if (!p) { figure.append(make("p", data.projection.notes[part], "quiet")); return figure; }
    if (p.n_missing) figure.append(make("p", `${p.n_missing.toLocaleString()} missing values are filled with the mean of their column.`, "quiet"));
    const box = { left: 46, right: 390, top: 12, bottom: 300 };
    const svg = draw("svg", { viewBox: "0 0 400 346", role: "img", "aria-label": `${title}: ${p.x.length} samples in two principal components` });
    const x = scale(Math.min(...p.x), Math.max(...p.x), box.left + 6, box.right - 6), y = scale(Math.min(...p.y), Math.max(...p.y), box.bottom - 6, box.top + 6);
    axes(svg, box, x, y, [`first component (${Math.round(100 * p.shares[0])}% of variance)`, p.shares[1] ? `second component (${Math.round(100 * p.shares[1])}% of variance)` : "no second component"]);
    p.x.forEach((_, i) => {
      const c = data.projection.clusters[i], cx = x.at(p.x[i]), cy = y.at(p.y[i]);
      const node = mark(c, 4.2, cx, cy);
      node.classList.add("dot");
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
      const button = make("button");
      button.append(swatch(c), `cluster ${c} (${size.toLocaleString()})`);
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

  // ---- the heatmap: a pixel per value on a canvas, with the clusters of the samples on its left and of the columns above
  function strip(clusters, className) {
    const node = make("div", undefined, className);
    node.setAttribute("aria-hidden", "true");
    for (let from = 0, to = 0; from < clusters.length; from = to) {
      while (to < clusters.length && clusters[to] === clusters[from]) to += 1;
      const c = clusters[from], part = make("div", (to - from) / clusters.length > 0.02 ? String(c) : "");
      part.style.flexGrow = to - from;
      part.style.background = color(c);
      part.style.color = data.palette[c].ink;
      part.title = `cluster ${c}`;
      node.append(part);
    }
    return node;
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
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
    const [below, middle, above] = h.colors.map(rgb), missing = rgb(h.missing);
    const shade = (v) => {
      const t = Math.min(1, Math.abs(v) / (10 * h.limit)), to = v < 0 ? below : above;
      return middle.map((from, i) => Math.round(from + (to[i] - from) * t));
    };
    h.values.forEach((line, i) => line.forEach((v, j) => image.data.set([...(v === null ? missing : shade(v)), 255], 4 * (i * columns + j))));
    context.putImageData(image, 0, 0);
    const words = (i, j) => {
      const v = h.values[i][j], sample = `${h.samples[i].id}, cluster ${h.samples[i].cluster}, ${h.features[j]}: `;
      return sample + (v === null ? "missing" : h.is_level[j] ? (v > 0 ? "yes" : "no") : `${(v / 10).toFixed(1)} sd`);
    };
    canvas.addEventListener("pointermove", (event) => {
      const rect = canvas.getBoundingClientRect(), inside = (at, from, length, count) => Math.max(0, Math.min(count - 1, Math.floor(((at - from) / length) * count)));
      showTip(event, words(inside(event.clientY, rect.top, rect.height, rows), inside(event.clientX, rect.left, rect.width, columns)));
    });
    canvas.addEventListener("pointerleave", hideTip);
    frame.append(strip(h.singled_out, "above"), strip(h.samples.map((sample) => sample.cluster), "beside"), canvas);
    place.append(frame, scaleOf(h));
  }
  function scaleOf(h) {
    const node = make("p", undefined, "quiet scale"), bar = make("span", undefined, "gradient");
    bar.style.background = `linear-gradient(to right, ${h.colors.join(", ")})`;
    node.append(`${-h.limit} sd or less `, bar, ` ${h.limit} sd or more. The strips show the clusters: of the samples on the left; above, the one that a column singles out.`);
    return node;
  }

  // ---- which features make which cluster
  function profiles() {
    const place = find("profiles");
    if (data.profiles.note) place.append(make("p", data.profiles.note, "quiet"));
    data.profiles.clusters.forEach((best, c) => {
      const box = make("div"), heading = make("h3"), list = make("ol");
      heading.append(swatch(c), `Cluster ${c}: ${data.sizes[c].toLocaleString()} samples`);
      best.forEach((each) => list.append(line(each.name, `: ${each.words}, explains ${Math.round(100 * each.explained)}%`)));
      box.append(heading, list);
      place.append(box);
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
  const sampleColumns = [{ title: "sample", text: true, value: (r) => r.id }, { title: "cluster", value: (r) => r.cluster }];
  if (data.samples.rows.some((r) => r.distance !== undefined)) sampleColumns.push(
    { title: "distance", value: (r) => r.distance }, { title: "second best", value: (r) => r.second }, { title: "silhouette", value: (r) => r.silhouette });
  table("samples", sampleColumns, data.samples.rows, "samples");
  document.documentElement.dataset.ready = "yes";
})();
