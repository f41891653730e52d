// A table that sorts, finds, picks, and copies itself as CSV.
import { el, printable } from "./format.js";

const PAGE = 200; // rows shown at first

/**
 * columns: [{title, of: row => value, text: (value, row) => string, plain: true of words, hint: true if a pointer shows the value}]; onpick: row => void.
 * rows may be many: the first are shown, and all are searched, sorted and copied.
 */
export function table({ name, columns, rows, onpick = null, isPicked = null }) {
  const state = { sort: -1, up: false, find: "", most: PAGE };
  const body = el("tbody");
  const more = el("button", { class: "more", onclick: () => ((state.most *= 10), fill()) });
  let timer;
  const search = () => ((state.find = find.value.toLowerCase()), fill());
  const find = el("input", { type: "search", placeholder: "find", "aria-label": `Find in ${name}`, oninput: () => (clearTimeout(timer), (timer = setTimeout(search, 200))) });
  const heads = columns.map((column, i) =>
    el("th", { scope: "col", class: column.plain ? "" : "number" }, el("button", { onclick: () => sort(i) }, column.title)),
  );
  const text = (column, row) => (column.text ? column.text(column.of(row), row) : (column.of(row) ?? ""));

  function shown() {
    let list = rows.slice();
    if (state.find) list = list.filter((row) => columns.some((column) => [text(column, row), column.hint ? column.of(row) : ""].some((part) => String(part).toLowerCase().includes(state.find))));
    if (state.sort >= 0) {
      const { of } = columns[state.sort];
      const factor = state.up ? 1 : -1;
      list.sort((a, b) => factor * compare(of(a), of(b)));
    }
    return list;
  }

  function sort(i) {
    state.up = state.sort === i ? !state.up : !!columns[i].plain;
    state.sort = i;
    heads.forEach((head, k) => head.setAttribute("aria-sort", k !== i ? "none" : state.up ? "ascending" : "descending"));
    fill();
  }

  function fill() {
    const list = shown();
    body.replaceChildren(...list.slice(0, state.most).map((row) => line(row)));
    more.hidden = list.length <= state.most;
    more.textContent = `${list.length - state.most} more`;
  }

  /** After another choice: rows stay where they are, and so does the focus. */
  function repaint() {
    for (const line of body.children) if (onpick) line.className = isPicked?.(line.row) ? "picked" : "can";
  }

  function line(row) {
    const cells = columns.map((column) => el("td", { class: column.plain ? "" : "number", title: column.hint ? column.of(row) : null }, String(text(column, row))));
    if (!onpick) return el("tr", {}, ...cells);
    const pick = () => onpick(row);
    const shown = el("tr", { tabindex: 0, class: isPicked?.(row) ? "picked" : "can", onclick: pick, onkeydown: (event) => event.key === "Enter" && pick() }, ...cells);
    return Object.assign(shown, { row });
  }

  async function copy() {
    const csv = toCsv(columns, shown());
    try {
      await navigator.clipboard.writeText(csv);
      button.textContent = "copied";
    } catch {
      area.value = csv;
      area.hidden = false;
      area.select();
      document.execCommand("copy");
      button.textContent = "copied";
    }
    setTimeout(() => (button.textContent = "copy as CSV"), 1500);
  }

  const area = el("textarea", { hidden: true, "aria-label": "CSV" });
  const button = el("button", { onclick: copy }, "copy as CSV");
  fill();
  const element = el(
    "div", { class: "table" },
    el("div", { class: "tools" }, find, button),
    el("div", { class: "scroll" }, el("table", { "aria-label": name }, el("thead", {}, el("tr", {}, ...heads)), body)),
    more, area,
  );
  return Object.assign(element, { repaint });
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return typeof a === "number" ? a - b : String(a).localeCompare(String(b));
}

/** RFC 4180; text that a spreadsheet would take for a formula gets an apostrophe. */
export function toCsv(columns, rows) {
  const field = (value) => {
    let text = value === null || value === undefined ? "" : typeof value === "number" ? String(value) : printable(value);
    if (typeof value !== "number" && /^[=+\-@]/.test(text)) text = `'${text}`;
    return /[",]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const lines = [columns.map((column) => field(column.title)), ...rows.map((row) => columns.map((column) => field(column.of(row))))];
  return lines.map((line) => line.join(",") + "\n").join("");
}
