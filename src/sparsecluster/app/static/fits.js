// Step 3: a fit that runs, its result, and all results of the table.

import { ask, bytes, count, el, make, plural, say, seconds, show, wait } from "./tools.js";

const POLL_MILLISECONDS = 250;
const pressed = (words, act, attributes = {}) => {
  const button = make("button", { type: "button", ...attributes }, words);
  button.addEventListener("click", act);
  return button;
};
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export class Fits {
  // `refit` starts another fit with a given number of clusters, and `lookAt` one with an alternative as its result.
  constructor(refit, lookAt) {
    this.refit = refit;
    this.lookAt = lookAt;
    this.fits = [];
    this.running = null;
    this.shown = null;
    el("cancel").addEventListener("click", () => this.cancel());
    el("copy").addEventListener("click", () => this.copy());
    el("report").addEventListener("load", () => el("report").classList.add("ready"));
  }

  forget() {
    this.fits = [];
    this.running = null;
    this.shown = null;
    say(el("result-error"), "");
    for (const id of ["step-result", "running", "result", "session"]) show(el(id), false);
    el("report").removeAttribute("src");
  }

  // Takes over what the server knows, after the page was loaded again.
  take(fits) {
    this.forget();
    this.fits = fits;
    if (!fits.length) return;
    show(el("step-result"));
    const done = fits.filter((fit) => fit.state === "done");
    if (done.length) this.showResult(done.at(-1));
    const running = fits.find((fit) => ["queued", "running"].includes(fit.state));
    if (running) this.follow(running);
    this.list();
  }

  async follow(fit) {
    this.running = fit.key;
    say(el("result-error"), "");
    show(el("step-result"));
    show(el("running"));
    show(el("result"), false);
    el("cancel").disabled = false;
    if (!this.fits.some((each) => each.key === fit.key)) this.fits.push(fit);
    let failures = 0;
    while (["queued", "running"].includes(fit.state)) {
      this.showProgress(fit);
      await wait(POLL_MILLISECONDS);
      if (this.running !== fit.key) return;
      try {
        fit = await ask(`jobs/${fit.key}`);
        failures = 0;
      } catch (error) {
        if (++failures > 8) {
          fit = { ...fit, state: "failed", error: error.message };
        }
      }
    }
    if (this.running !== fit.key) return;
    this.running = null;
    this.fits = this.fits.map((each) => (each.key === fit.key ? fit : each));
    show(el("running"), false);
    if (fit.state === "done") {
      this.showResult(fit);
      el("h-result").focus({ preventScroll: true });
    } else {
      say(el("result-error"), fit.state === "cancelled" ? "The fit was cancelled. Nothing was kept of it." : fit.error);
      if (this.shown) this.showResult(this.shown);
    }
    this.list();
  }

  showProgress(fit) {
    const isQueued = fit.state === "queued";
    // The stage is read aloud when it changes; its steps change too often for this.
    const stage = capital(fit.phase) + (fit.what ? `: ${fit.what}` : " …");
    say(el("stage"), isQueued ? "Waiting: two other computations are running." : stage);
    if (fit.total) el("bar").value = fit.done / fit.total;
    else el("bar").removeAttribute("value");
    const steps = fit.total ? `${count(fit.done)} of ${count(fit.total)}` : "";
    const left = fit.left !== null && fit.left >= 1 ? `about ${seconds(fit.left)} left in this stage` : "";
    say(el("time"), isQueued ? "" : [steps, left, `${seconds(fit.seconds)} so far`].filter(Boolean).join(" · "));
  }

  async cancel() {
    el("cancel").disabled = true;
    say(el("stage"), "Stopping …");
    await ask(`jobs/${this.running}/cancel`, {}).catch((error) => say(el("result-error"), error.message));
  }

  showResult(fit) {
    this.shown = fit;
    show(el("step-result"));
    show(el("result"));
    const doubtful = fit.sentences.length > 0 && fit.verdict !== "groups";
    const untested = fit.alternative === null
      ? "Whether there are groups at all was not tested, because the table is large."
      : `This is alternative ${fit.alternative}: another good clustering of the same samples. It was not tested by itself.`;
    say(el("verdict"), fit.sentences[0] ?? untested);
    el("verdict").className = doubtful ? "lead alarm" : "lead";
    const tile = (number, words) => make("li", {}, make("strong", {}, number), words);
    el("tiles").replaceChildren(
      tile(count(fit.n_clusters), `cluster${fit.n_clusters === 1 ? "" : "s"}, with ${fit.sizes.slice(0, 8).map(count).join(", ")}${fit.sizes.length > 8 ? ", …" : ""} samples`),
      tile(count(fit.n_chosen), `of ${plural(fit.n_features, "feature")} chosen`),
      ...(fit.n_alternatives ? [tile(count(fit.n_alternatives), `other good clustering${fit.n_alternatives === 1 ? "" : "s"} of the same samples`)] : []),
      tile(seconds(fit.seconds), "to fit"),
    );
    el("warnings").replaceChildren(...fit.warnings.map((warning) => make("li", {}, warning)));
    show(el("warnings"), fit.warnings.length > 0);
    this.offer(fit.n_clusters);
    this.offerAlternatives(fit);
    el("zip").href = `jobs/${fit.key}/results.zip`;
    el("report-file").href = `jobs/${fit.key}/files/report.html`;
    el("report-tab").href = `../reports/${fit.report}`;
    el("files").querySelector("ul").replaceChildren(
      ...fit.files.map((file) => make("li", {}, make("a", { href: `jobs/${fit.key}/files/${encodeURIComponent(file.name)}` }, file.name), ` (${bytes(file.bytes)})`)),
    );
    say(el("command"), fit.command);
    say(el("copied"), "Run it in the folder of the file. It gives the same files.");
    const address = `../reports/${fit.report}`;
    if (el("report").getAttribute("src") !== address) {
      el("report").classList.remove("ready");
      el("report").setAttribute("src", address);
    }
    this.list();
  }

  // One click tries another number of clusters.
  offer(n) {
    const numbers = [n - 1, n + 1, n + 2].filter((each) => each >= 2);
    const buttons = numbers.map((number) => pressed(String(number), () => this.refit(String(number)), { "aria-label": `Fit with ${number} clusters` }));
    el("again").replaceChildren(make("span", {}, "Try another number of clusters:"), ...buttons, pressed("Find it", () => this.refit("auto")));
  }

  // Another makes an alternative the result, or shows it if it already is one.
  offerAlternatives(shown) {
    const first = this.fits.find((fit) => fit.key === shown.first) ?? shown;
    const of = (number) => this.fits.find((fit) => fit.state === "done" && fit.first === first.key && fit.alternative === number);
    const open = (number) => (of(number) ? this.showResult(of(number)) : this.lookAt(first.key, number));
    const buttons = [...Array(first.n_alternatives ?? 0).keys()].map((number) => pressed(
      `Alternative ${number}`, () => open(number), { "aria-label": `Look at alternative ${number}`, "aria-pressed": String(shown.alternative === number) },
    ));
    const back = pressed("First clustering", () => this.showResult(first), { "aria-pressed": String(shown.key === first.key) });
    el("others").replaceChildren(make("span", {}, "Look at another clustering:"), back, ...buttons);
    show(el("others"), buttons.length > 0);
  }

  list() {
    const words = { done: "", failed: "failed", cancelled: "cancelled", queued: "waiting", running: "running" };
    const rows = this.fits.map((fit, place) => {
      const isDone = fit.state === "done";
      const row = make("tr", fit.key === this.shown?.key && !this.running ? { class: "shown" } : {});
      const last = make("td");
      if (isDone) {
        const button = make("button", { type: "button", "aria-label": `Show result ${place + 1}` }, "Show");
        button.addEventListener("click", () => { if (!this.running) this.showResult(fit); });
        last.append(button);
      } else last.textContent = words[fit.state];
      row.append(
        make("td", {}, String(place + 1), fit.alternative === null ? "" : `, alternative ${fit.alternative}`),
        make("td", {}, make("code", { dir: "ltr" }, fit.options || "all automatic")),
        make("td", { class: "number" }, isDone ? count(fit.n_clusters) : ""),
        make("td", { class: "number" }, isDone ? count(fit.n_chosen) : ""),
        make("td", { class: "number" }, isDone ? seconds(fit.seconds) : ""),
        last,
      );
      return row;
    });
    el("fits").tBodies[0].replaceChildren(...rows);
    show(el("session"), this.fits.length > 1);
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.shown.command);
      say(el("copied"), "Copied.");
    } catch {
      getSelection().selectAllChildren(el("command"));
      say(el("copied"), "The command is selected: press Ctrl+C or ⌘C to copy it.");
    }
  }
}
