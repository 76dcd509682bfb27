// Small tools: elements, requests, and numbers in words. Text from data is always set as text, never as HTML.

export const el = (id) => document.getElementById(id);

export const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};

export const show = (node, isShown = true) => { node.hidden = !isShown; };

export const say = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
  if (node.getAttribute("role") === "alert") show(node, Boolean(text));
};

const LOST = "The app does not answer. Look at the terminal in which it was started, and start it again if it has ended.";

// Asks the server; an error has the words of the server.
export const ask = async (path, body) => {
  let response;
  try {
    response = await fetch(path, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
  } catch {
    show(el("lost"));
    throw new Error(LOST);
  }
  show(el("lost"), false);
  if (!response.ok) throw new Error(await words(response));
  return response.json();
};

const words = async (response) => {
  const text = await response.text();
  try {
    return JSON.parse(text).error || text;
  } catch {
    return text.slice(0, 300);
  }
};

export const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export const count = (number) => number.toLocaleString("en");

export const plural = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

export const bytes = (number) => {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (number >= size) return `${(number / size).toLocaleString("en", { maximumFractionDigits: 1 })} ${unit}`;
  }
  return plural(number, "byte");
};

export const seconds = (number) => {
  if (number < 9.95) return `${number.toFixed(1)} s`;
  if (number < 60) return `${Math.round(number)} s`;
  const minutes = Math.round(number / 60);
  return minutes < 60 ? `${Math.floor(number / 60)} min ${Math.round(number % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
};
