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

const functionNames = new Map();
export const addName = (name, short, full) => functionNames.set(name, { short, full });
/** The name of a function, by the linker's, without template arguments and namespaces. */
export const shortName = (name) => functionNames.get(name)?.short ?? name;
/** The name of a function in its source. */
export const fullName = (name) => functionNames.get(name)?.full ?? name;

/** "exchange (halo.c:58)"; where the source is not known "libsolver.so: exchange". */
export function frame(of, named = shortName) {
  const base = (path) => path.split("/").pop();
  const name = of.function ?? of.name;
  if (of.file) return printable(`${named(name ?? "?")} (${base(of.file)}:${of.line})`);
  const module = of.module ? base(of.module) : "?";
  return printable(name ? `${module}: ${named(name)}` : `${module}+0x${Number(of.offset ?? 0).toString(16)}`);
}

const NAMES = 4;
const program = (frames) => (frames || []).filter((of) => !of.internal);
/** The innermost frames of a path: "exchange (halo.c:58) < step (halo.c:70) < ..." */
export function shortPath(frames) {
  const own = program(frames);
  return own.slice(0, NAMES).map((of) => frame(of)).join(" < ") + (own.length > NAMES ? " < ..." : "");
}
/** All frames of a path with their names in the source. */
export const wholePath = (frames) => program(frames).map((of) => frame(of, fullName)).join(" < ");

/** A text without its middle, no longer than `room`. */
export function withoutMiddle(text, room) {
  if (text.length <= room) return text;
  const end = Math.ceil((room - 1) * 0.6);
  return `${text.slice(0, Math.max(0, room - 1 - end))}\u2026${text.slice(text.length - end)}`;
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
