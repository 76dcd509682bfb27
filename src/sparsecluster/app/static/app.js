// The page: a file is dropped, its columns are shown, and it is fitted.

import { Columns, noteItems } from "./columns.js";
import { Fits } from "./fits.js";
import { ask, bytes, count, el, plural, say, seconds, show, wait } from "./tools.js";

const POLL_MILLISECONDS = 200;
let table = null;
let sending = null;

const fits = new Fits((clusters) => start({ clusters }), (key, alternative) => run(`jobs/${key}/alternatives`, { alternative }));
const columns = new Columns(reread);

// ---------------------------------------------------------------- step 1: the table

function upload(file) {
  if (!file || sending) return;
  // The server says the same, but a browser may not hear it while it is sending.
  if (file.size > Number(document.body.dataset.mostBytes)) {
    say(el("table-error"), document.body.dataset.tooLarge);
    el("file").value = "";
    return;
  }
  begin();
  sending = new XMLHttpRequest();
  say(el("table-name"), file.name);
  say(el("table-size"), bytes(file.size));
  show(el("upload"));
  const failed = (text) => {
    sending = null;
    restart();
    say(el("table-error"), text);
  };
  sending.upload.onprogress = ({ loaded, total }) => {
    el("upload-bar").value = total ? loaded / total : 0;
    say(el("upload-words"), `Copying the file: ${bytes(loaded)} of ${bytes(total)}`);
  };
  sending.onload = () => {
    const [status, text] = [sending.status, sending.responseText];
    if (status !== 200) {
      let words = text;
      try { words = JSON.parse(text).error; } catch { /* the words of the server as they are */ }
      failed(words || "The file was not accepted.");
      return;
    }
    sending = null;
    follow(JSON.parse(text));
  };
  sending.onerror = () => failed("The file could not be copied. It may be too large, or have changed on disk; or the app has ended.");
  sending.onabort = () => { sending = null; restart(); };
  sending.open("POST", "tables");
  sending.setRequestHeader("X-File-Name", encodeURIComponent(file.name.toWellFormed?.() ?? file.name));
  sending.setRequestHeader("Content-Type", "application/octet-stream");
  sending.send(file);
}

function begin() {
  say(el("table-error"), "");
  say(el("info-error"), "");
  say(el("fit-error"), "");
  columns.forget();
  fits.forget();
  el("transpose").checked = false;
  el("sheet").value = "";
  show(el("drop"), false);
  show(el("chosen"));
  show(el("step-columns"), false);
}

function restart() {
  if (table) ask(`tables/${table.key}/forget`, {}).catch(() => {});
  table = null;
  sending?.abort();
  history.replaceState(null, "", location.pathname);
  fits.forget();
  columns.forget();
  for (const id of ["chosen", "upload", "step-columns"]) show(el(id), false);
  show(el("drop"));
  el("file").value = "";
  el("file").focus();
}

// ---------------------------------------------------------------- step 2: its columns

async function follow(started) {
  table = started;
  const mine = table.key;
  history.replaceState(null, "", `?table=${table.key}`);
  say(el("table-name"), table.name);
  say(el("table-size"), bytes(table.bytes));
  show(el("upload"));
  el("upload-bar").removeAttribute("value");
  while (["queued", "running"].includes(table.info.state)) {
    const state = table.info.state === "queued" ? "Waiting: two other computations are running" : "Reading the table";
    say(el("upload-words"), `${state} … ${seconds(table.info.seconds)}`);
    await wait(POLL_MILLISECONDS);
    const next = await ask(`tables/${mine}`).catch(() => null);
    if (!table || table.key !== mine) return;
    table = next ?? table;
  }
  show(el("upload"), false);
  await described();
}

async function described() {
  el("transpose").checked = table.transpose;
  el("sheet").value = table.sheet ?? "";
  show(el("sheet-label"), table.is_excel);
  const failed = table.info.state !== "done";
  // Everything is there when it is shown.
  if (!failed) await columns.show(table);
  show(el("step-columns"));
  say(el("info-error"), failed ? table.info.error : "");
  show(el("choices"), !failed);
  show(el("columns-body"), !failed && table.n_columns > 0);
  const notes = failed ? [] : table.notes;
  el("notes").replaceChildren(...noteItems(notes));
  show(el("notes-box"), notes.length > 0);
  say(el("notes-box").firstElementChild, plural(notes.length, "note"));
  // A few can be read at once.
  el("notes-box").open = notes.length <= 2;
  if (failed) {
    say(el("columns-words"), "The table could not be read.");
    return;
  }
  const others = table.n_columns - (table.uses.feature ?? 0);
  say(el("columns-words"), table.n_columns
    ? `${plural(table.samples, "sample")} and ${plural(table.n_columns, "column")}${others ? `, ${count(others)} of which ${others === 1 ? "is" : "are"} not compared` : ""}. Check how each is used, then press Fit.`
    : `${plural(table.samples, "sample")}. The columns are all used.`);
  columns.counted();
}

async function reread(changes) {
  const asked = { id: table.id, transpose: table.transpose, sheet: table.sheet, ...changes };
  if (asked.transpose !== table.transpose || asked.sheet !== table.sheet) columns.forget();
  say(el("info-error"), "");
  try {
    await follow(await ask(`tables/${table.key}/info`, asked));
    if (table?.info.state === "failed" && asked.id) {
      // A column that cannot have the names of the rows is not kept.
      const error = table.info.error;
      await follow(await ask(`tables/${table.key}/info`, { ...asked, id: null }));
      say(el("info-error"), error);
    }
  } catch (error) {
    say(el("info-error"), error.message);
  }
}

// ---------------------------------------------------------------- step 3: a fit

const chosen = (name) => {
  const value = document.querySelector(`input[name=${name}]:checked`).value;
  return value === "given" ? el(name).value : value;
};

const start = (changes = {}) => run(`tables/${table.key}/fits`, {
  clusters: chosen("clusters"), size: chosen("size"), expression: el("expression").checked, columns: columns.asChoices(), ...changes,
});

async function run(path, asked) {
  if (fits.running) return;
  say(el("fit-error"), "");
  el("fit").disabled = true;
  try {
    const fit = await ask(path, asked);
    const followed = fits.follow(fit);
    el("step-result").scrollIntoView({ block: "start" });
    await followed;
  } catch (error) {
    say(el("fit-error"), error.message);
  } finally {
    el("fit").disabled = false;
  }
}

// ---------------------------------------------------------------- wiring

el("file").addEventListener("change", () => upload(el("file").files[0]));
el("another").addEventListener("click", restart);
el("transpose").addEventListener("change", () => reread({ id: null, transpose: el("transpose").checked }));
el("sheet").addEventListener("change", () => reread({ id: null, sheet: el("sheet").value || null }));
el("choices").addEventListener("submit", (event) => { event.preventDefault(); start(); });
for (const name of ["clusters", "size"]) {
  el(name).addEventListener("input", () => { document.querySelector(`input[name=${name}][value=given]`).checked = true; });
}
el("quit").addEventListener("click", async () => {
  if (!confirm("End the app? Results that were not downloaded are removed.")) return;
  await ask("quit", {}).catch(() => {});
  say(el("lost"), "The app has ended. You can close this page.");
  for (const section of document.querySelectorAll("section")) show(section, false);
  show(el("quit"), false);
});

// A file may be dropped anywhere on the page while none is chosen.
let depth = 0;
const isFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
addEventListener("dragenter", (event) => { if (isFile(event)) { depth += 1; el("drop").classList.add("over"); } });
addEventListener("dragleave", () => { depth = Math.max(0, depth - 1); if (!depth) el("drop").classList.remove("over"); });
addEventListener("dragover", (event) => { if (isFile(event)) event.preventDefault(); });
addEventListener("drop", (event) => {
  if (!isFile(event)) return;
  event.preventDefault();
  depth = 0;
  el("drop").classList.remove("over");
  if (!el("drop").hidden) upload(event.dataTransfer.files[0]);
});

// After the page was loaded again, it shows the same table.
const known = new URLSearchParams(location.search).get("table");
if (known) {
  ask(`tables/${encodeURIComponent(known)}`).then(async (found) => {
    begin();
    await follow(found);
    fits.take(table.fits);
  }).catch((error) => { history.replaceState(null, "", location.pathname); say(el("table-error"), error.message); });
}
document.documentElement.dataset.ready = "yes";
