// Numbers as people read them, and elements of the page.

const TIME_UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

/** "1.23 ms" */
export function time(ns, digits = 3) {
  if (ns === 0) return "0 s";
  const [factor, unit] = TIME_UNITS.find(([f]) => Math.abs(ns) >= f) || TIME_UNITS[3];
  return `${rounded(ns / factor, digits)} ${unit}`;
}

/** A time on an axis whose ticks are `step` apart: as many digits as tell them apart. */
export function tickTime(ns, step) {
  const [factor, unit] = TIME_UNITS.find(([f]) => Math.abs(ns) >= f || step >= f) || TIME_UNITS[3];
  return `${(ns / factor).toFixed(Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9)))} ${unit}`;
}

function rounded(value, digits) {
  const text = value.toPrecision(digits);
  return text.includes("e") ? Math.round(value).toString() : text;
}

export const seconds = (s) => (s === null || s === undefined ? "" : time(s * 1e9));
export const percent = (share) => (share === null || share === undefined ? "" : `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`);
export const count = (n) => (n === null || n === undefined ? "" : Math.round(n).toLocaleString("en-US"));

/** "4.0 KiB" */
export function bytes(n) {
  if (n === null || n === undefined || n < 0) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) [n, i] = [n / 1024, i + 1];
  return `${i ? n.toPrecision(3) : n} ${units[i]}`;
}

/** "0-3,7" */
export function rankList(ranks) {
  const parts = [];
  for (let i = 0; i < ranks.length; ) {
    let k = i;
    while (k + 1 < ranks.length && ranks[k + 1] === ranks[k] + 1) k++;
    parts.push(k > i ? `${ranks[i]}-${ranks[k]}` : `${ranks[i]}`);
    i = k + 1;
  }
  return parts.join(",");
}

/** Control characters, and others that cannot be seen, as escapes: names come from a file that may hold anything. */
export function printable(text) {
  const escaped = (c) => (c < "\u0100" ? `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}` : `\\u{${c.charCodeAt(0).toString(16)}}`);
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, escaped);
}

const demangledNames = new Map();
export const addDemangled = (name, source) => demangledNames.set(name, source);
/** The name of a function in its source. */
export const demangled = (name) => demangledNames.get(name) ?? name;

/** "exchange (halo.c:58)" */
export function frame(of) {
  const name = demangled(of.function ?? of.name ?? "?");
  const file = of.file ? ` (${of.file.split("/").pop()}:${of.line})` : "";
  return printable(name + file);
}

/** An element: el("p", {class: "x", onclick: f}, "text", child). Text never becomes markup. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : printable(child))));
  return element;
}

/** The same for SVG. */
export function svg(tag, properties = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, properties);
  element.append(...children.map((child) => (child instanceof Node ? child : printable(child))));
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value === true ? "" : printable(value));
  }
}

/** Saves a file from the page. */
export function save(name, type, content) {
  const link = el("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
