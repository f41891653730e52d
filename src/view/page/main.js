// The page: findings, timelines and tables. A choice in one of them shows in the others.
import { Archive } from "./archive.js";
import { rankBars } from "./charts.js";
import { KINDS, color, isDark, kindColor, noteTheme } from "./colors.js";
import { bytes, count, el, percent, printable, save, seconds, tickTime, time, wholePath } from "./format.js";
import { PANELS } from "./panels.js";
import { readState, writeState } from "./state.js";
import { Timeline, bandText } from "./timeline.js";

const byId = (id) => document.getElementById(id);
const LEAST_WINDOW = 100; // ns
const OVERLAYS = [
  ["waits", "w", "waits"], ["path", "c", "critical path"], ["messages", "m", "messages"],
  ["loops", "l", "loops"], ["stacks", "s", "functions"], ["fold", "f", "fold alike ranks"],
];

const shared = {
  view: { from: 0, to: 1 }, whole: { from: 0, to: 1 }, options: {}, selected: null, mark: null, several: false,
  complain: (text) => (byId("said").textContent = printable(text)),
};
let archives = [];
let timelines = [];
let panel = 0;

async function start() {
  const numbers = [];
  while (byId(`archive-${numbers.length}`)) numbers.push(numbers.length);
  archives = await Promise.all(numbers.map((number) => Archive.load(number)));
  shared.several = archives.length > 1;
  shared.whole = { from: Math.min(...archives.map(({ overview }) => overview.from)), to: Math.max(...archives.map(({ overview }) => overview.to)) };
  shared.view = mainPart();
  shared.options = { waits: true, path: false, messages: false, loops: archives[0].report.ranks > 0, stacks: false, fold: archives[0].report.ranks > 48 };
  Object.assign(shared.options, readState(shared));
  document.title = `${archives.map(({ report }) => printable(report.file)).join(" and ")} - Refrain`;
  fillHead();
  fillSummary();
  timelines = archives.map((archive) => new Timeline(archive, shared));
  fillTimelines();
  fillDetails();
  byId("foot").append(printable(`Made by ${archives[0].report.recorder}. Press ? for keys.`));
  shared.settled = () => (document.documentElement.dataset.settled = String(performance.now()));
  shared.oncalls = () => PANELS[panel][0] === "calls on screen" && !byId("panel").contains(document.activeElement) && fillPanel();
  await Promise.all(archives.map((archive) => archive.opened));
  restoreSelection();
  window.refrain = { archives, timelines, shared }; // for tests, and for whoever looks into it
  document.documentElement.dataset.ready = String(performance.now());
  changed();
}

/** The whole run; where starting MPI takes much of it, the part between Init and Finalize. */
function mainPart() {
  const { whole } = shared;
  const parts = archives.map(({ report, overview }) => [overview.from + report.main_from_seconds * 1e9, overview.from + report.main_to_seconds * 1e9]);
  const from = Math.min(...parts.map((part) => part[0]));
  const to = Math.max(...parts.map((part) => part[1]));
  const length = whole.to - whole.from;
  if (!(to > from) || to - from > 0.85 * length) return { ...whole };
  const margin = 0.03 * (to - from);
  return { from: Math.max(whole.from, from - margin), to: Math.min(whole.to, to + margin) };
}

// ---- head and summary ----

function fillHead() {
  const { report } = archives[0];
  byId("head").append(
    el("h1", {}, report.file.split("/").pop(), archives[1] ? ` and ${archives[1].report.file.split("/").pop()}` : ""),
    el("p", {}, `${report.command || report.program}: ${report.ranks} ranks, ${seconds(report.run_time_seconds)}, ${report.mpi || report.flavour}`),
    el("button", { onclick: toggleTheme, title: "Light or dark", "aria-label": "Light or dark" }, "\u25d0"),
    el("button", { onclick: help, title: "Keys and colours", "aria-label": "Keys and colours" }, "?"),
  );
}

function toggleTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  restyle();
}

/** Colours are others now. */
function restyle() {
  noteTheme();
  byId("summary").replaceChildren();
  fillSummary();
  document.querySelector(".legend").replaceWith(legend());
  fillPanel();
  changed();
}

const EFFICIENCIES = [
  ["parallel efficiency", "parallel_efficiency", 0], ["load balance", "load_balance", 1], ["communication efficiency", "communication_efficiency", 1],
  ["serialization efficiency", "serialization_efficiency", 2], ["transfer efficiency", "transfer_efficiency", 2],
];

function efficiencyBars(report) {
  const rows = EFFICIENCIES.filter(([, key]) => report.efficiency[key] !== null && report.efficiency[key] !== undefined);
  return el("table", { class: "efficiency", "aria-label": "Efficiency" }, el("tbody", {}, ...rows.map(([name, key, depth]) => {
    const value = report.efficiency[key];
    const bar = el("span", { class: "bar" });
    bar.style.width = `${Math.max(0, Math.min(1, value)) * 100}%`;
    return el("tr", {}, el("th", { scope: "row", class: `depth${depth}` }, name), el("td", { class: "number" }, percent(value)), el("td", { class: "track" }, bar));
  })));
}

function notices(report) {
  const list = [];
  if (!report.complete) list.push(`This archive is incomplete: ${report.incomplete_because || "the file was cut short"}.`);
  if (typeof report.predicted === "string") list.push(`This run was predicted, not recorded: ${report.predicted || "as it was"}.`);
  if (report.reduced) list.push("Times of iterations that resemble each other are kept once: times are approximate.");
  if (report.left_out) list.push("Calls were left out on request.");
  if (report.cores?.text) list.push(report.cores.text);
  return list.map((text) => el("p", { class: "notice" }, text));
}

function fillSummary() {
  const { report } = archives[0];
  const stories = report.stories.slice(0, 6).map((story) =>
    el("li", {}, el("button", { class: "story", onclick: () => pickStory(story) }, story.text), story.advice ? el("span", {}, story.advice) : null,
      story.without_seconds !== null && story.without_seconds !== undefined && story.without_seconds < 0.995 * report.run_time_seconds
        ? el("strong", {}, ` Without it the run would take ${seconds(story.without_seconds)} instead of ${seconds(report.run_time_seconds)}.`)
        : null));
  byId("summary").append(
    el("div", { class: "words" }, ...notices(report), el("p", { class: "verdict" }, report.verdict?.text || "Messages were sampled here; calls were not recorded."), stories.length ? el("ol", {}, ...stories) : null),
    el("div", { class: "numbers" }, compared(), efficiencyBars(report), rankBars(report, 380, (rank) => pickRank(rank))),
  );
}

function compared() {
  if (!archives[1]) return null;
  const of = (pick) => archives.map(({ report }) => pick(report));
  const line = (name, values) => el("tr", {}, el("th", { scope: "row" }, name), ...values.map((value) => el("td", { class: "number" }, value)));
  return el("table", { class: "compared", "aria-label": "Both runs" }, el("thead", {}, el("tr", {}, el("td"), ...of((report) => el("th", { scope: "col" }, report.file.split("/").pop())))), el("tbody", {},
    line("run time", of((report) => seconds(report.run_time_seconds))), line("ranks", of((report) => count(report.ranks))),
    line("parallel efficiency", of((report) => percent(report.efficiency.parallel_efficiency))), line("waiting, all ranks", of((report) => seconds(report.waits?.total_seconds)))));
}

// ---- choosing ----

/** A call site of the report is marked in the timeline, or no longer. */
function pickSite(name, frames) {
  const site = archives[0].functions ? archives[0].siteOf(name, frames) : null;
  if (!site) return;
  const same = isSite(name, frames);
  shared.selected = same ? null : { archive: archives[0], ...site };
  repaintPanel();
  changed();
}

function isSite(name, frames) {
  const { selected } = shared;
  if (selected?.archive !== archives[0] || archives[0].functions[selected.function].name !== name) return false;
  return archives[0].siteOf(name, frames)?.path === selected.path;
}

/** Goes to where a story costs most: the longest wait for its late rank at its call, which is marked; else the part of the run where that call takes most time. */
async function pickStory(story) {
  const finding = story.findings?.[0];
  const name = story.function || finding?.waited_function;
  const site = name && archives[0].functions ? archives[0].siteOf(name, story.frames || finding?.waited_frames) : null;
  const late = finding?.ranks?.[0]?.rank;
  if (site) {
    const found = story.function ? null : await longestWait(site, finding);
    shared.selected = { archive: archives[0], ...site };
    repaintPanel();
    if (found) showWait(found);
    else await showMost(site);
  }
  if (late !== undefined) pickRank(late);
  changed();
  byId("timelines").scrollIntoView({ block: "nearest" });
}

const WAITS_TRIED = 100;

/** The function of the program that makes the calls of a path. */
const caller = (path) => archives[0].frames(path).find(({ name }) => !name.startsWith("MPI"))?.name;

/** The longest wait at a call site for the ranks of a finding, the most costly rank first: {wait, stream, call}. If none of the longest waits is at this site, and the finding has several places: the longest one in the same function of the program. null: none. */
async function longestWait(site, finding) {
  const archive = archives[0];
  const ranks = finding.ranks.map(({ rank }) => rank);
  const order = ({ wait }) => ranks.indexOf(archive.streams[wait.late].rank);
  const waits = archive.waits.of.flatMap((list, stream) => list.filter(({ late }) => late >= 0).map((wait) => ({ wait, stream })))
    .filter((one) => order(one) >= 0)
    .sort((a, b) => (order(a) > 0) - (order(b) > 0) || b.wait.to - b.wait.from - (a.wait.to - a.wait.from));
  let elsewhere = null;
  for (const { wait, stream } of waits.slice(0, WAITS_TRIED)) {
    const [calls] = await archive.ask("calls", { streams: [stream], from: wait.from, to: wait.to, most: 100 });
    for (let k = 0; k < calls.n; k++) {
      if (calls.function[k] !== site.function || calls.enter[k] >= wait.to || calls.exit[k] <= wait.from) continue;
      const found = { wait, stream, call: timelines[0].callOf(calls, k) };
      if (calls.path[k] === site.path) return found;
      if (finding.places > 1 && caller(calls.path[k]) === caller(site.path)) elsewhere ||= found;
    }
  }
  return elsewhere;
}

/** A wait in the middle, with as much time before and behind it, and its call marked. */
function showWait({ wait, stream, call }) {
  const timeline = timelines[0];
  const length = wait.to - wait.from;
  setView(wait.from - length - timeline.start, wait.to + length - timeline.start);
  pickCall(timeline, stream, call);
}

/** Shows the twentieth of the run around where a call site takes most of a rank's time. */
async function showMost(site) {
  const n = 200;
  const archive = archives[0];
  const { from, to } = archive.overview;
  const best = { bin: 0, share: -1, stream: 0 };
  await archive.ask("pictures", { purpose: "find", streams: archive.streams.map((_, stream) => stream), from, to, n, select: site }, ({ stream, cells }) => {
    for (let bin = 0; bin < n; bin++) if (cells[3 * bin + 2] > best.share) Object.assign(best, { bin, share: cells[3 * bin + 2], stream });
  });
  if (best.share <= 0) return;
  const middle = from + ((best.bin + 0.5) / n) * (to - from);
  setView(middle - (to - from) / 40, middle + (to - from) / 40);
}

function pickRank(rank) {
  const stream = archives[0].streams ? archives[0].streams.findIndex((of) => of.rank === rank) : rank;
  if (stream < 0) return shared.complain(`nothing of rank ${rank} is in this archive`);
  timelines[0].choose(stream);
  return changed();
}

function pickCall(timeline, stream, call) {
  shared.mark = { timeline, stream, from: call.enter, to: call.exit };
  timeline.choose(stream);
  describe(timeline, stream, call).catch((error) => shared.complain(error.message));
  changed();
}

/** Goes to an event of the domino path. */
function pickDomino(step) {
  const timeline = timelines[0];
  const domino = archives[0].dominoes?.find((of) => of.step === step);
  if (!domino) return;
  const margin = Math.max(LEAST_WINDOW, 4 * (domino.exit - domino.enter));
  timeline.choose(domino.stream);
  setView(domino.enter - timeline.start - margin, domino.exit - timeline.start + margin);
}

async function describe(timeline, stream, call) {
  const { archive } = timeline;
  const { rank } = archive.streams[stream];
  const wait = timeline.waitAt(stream, (call.enter + call.exit) / 2) || timeline.waitAt(stream, call.enter + 1);
  const lines = [
    ["rank", rank], ["time", `${time(call.enter - timeline.start, 7)} to ${time(call.exit - timeline.start, 7)}: ${time(call.exit - call.enter)}`],
    ["call path", wholePath(archive.frames(call.path)) || "not known"],
  ];
  if (call.polls > 1) lines.push(["polls", `${count(call.polls)} unsuccessful ones`]);
  if (wait) lines.push(["waits", `${time(wait.to - wait.from)}: ${archive.patternOf(wait)}${wait.late >= 0 ? `, for rank ${archive.streams[wait.late].rank}` : ""}`]);
  const { words } = await archive.ask("call", { stream, index: call.index });
  for (const word of words) lines.push([word.name, wordText(word)]);
  byId("picked").replaceChildren(
    el("h3", {}, archive.functions[call.function].name, " ",
      el("button", { onclick: () => selectSite(archive, call) }, "mark all of this call site"),
      wait?.late >= 0 ? el("button", { onclick: () => goTo(timeline, wait) }, "go to who was late") : null),
    el("dl", {}, ...lines.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))])),
  );
}

function selectSite(archive, { function: called, path }) {
  shared.selected = { archive, function: called, path };
  repaintPanel();
  changed();
}

function goTo(timeline, wait) {
  timeline.choose(wait.late);
  const half = (shared.view.to - shared.view.from) / 2;
  setView(wait.at - timeline.start - half, wait.at - timeline.start + half);
}

const SPECIALS = { "-1": "any", "-2": "MPI_PROC_NULL", "-3": "MPI_ROOT" };
const KIND_RANK = 4, KIND_TAG = 5, KIND_OP = 7, KIND_KEYVAL = 15, KIND_BYTES = 19, LIST = 0x40;

function wordText({ kind, word, type }) {
  if (type) return type;
  if (kind & LIST) return word > 0 ? `list ${word}` : "none";
  if (kind >= KIND_OP && kind <= KIND_KEYVAL) return word < 0 ? `predefined ${-1 - word}` : `handle ${word}`;
  if (kind === KIND_RANK || kind === KIND_TAG) return SPECIALS[word] ?? count(word);
  return kind === KIND_BYTES ? bytes(word) : word < -9e18 ? "MPI_UNDEFINED" : count(word);
}

// ---- the window ----

function setView(from, to) {
  const { whole } = shared;
  let length = Math.max(LEAST_WINDOW, Math.min(to - from, whole.to - whole.from));
  from = Math.max(whole.from, Math.min(from, whole.to - length));
  shared.view = { from, to: from + length };
  changed();
}

function zoom(factor, about = (shared.view.from + shared.view.to) / 2) {
  setView(about - (about - shared.view.from) * factor, about + (shared.view.to - about) * factor);
}

function pan(share) {
  const by = (shared.view.to - shared.view.from) * share;
  setView(shared.view.from + by, shared.view.to + by);
}

let waiting = false;
function changed() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const began = performance.now();
    for (const timeline of timelines) timeline.changed();
    document.documentElement.dataset.drew = String(performance.now() - began);
    document.documentElement.dataset.first ??= String(performance.now());
    byId("window").textContent = windowText();
    writeState(shared, timelines, PANELS[panel][0]);
  });
}

function windowText() {
  const { from, to } = shared.view;
  return `${exactTime(from)} to ${exactTime(to)} (${time(to - from)})`;
}

/** With as many digits as tell moments of the window apart. */
const exactTime = (ns) => tickTime(ns, (shared.view.to - shared.view.from) / 1000);

// ---- timelines ----

function fillTimelines() {
  const box = byId("timelines");
  const buttons = OVERLAYS.map(([name, key, text]) => {
    const button = el("button", { class: "toggle", "data-option": name, "aria-pressed": String(!!shared.options[name]), title: `${text} (${key})`, onclick: () => toggle(name) }, text);
    return button;
  });
  box.append(el("div", { class: "tools" },
    el("button", { title: "Zoom in (+)", onclick: () => zoom(0.5) }, "+"), el("button", { title: "Zoom out (-)", onclick: () => zoom(2) }, "\u2212"),
    el("button", { title: "The whole run (0)", onclick: () => setView(shared.whole.from, shared.whole.to) }, "all"), el("output", { id: "window" }), ...buttons,
    el("button", { onclick: savePng }, "PNG"), el("button", { onclick: saveSvg }, "SVG")), legend());
  timelines.forEach((timeline) => {
    box.append(el("div", { class: "timeline" }, timelines.length > 1 ? el("h2", {}, timeline.archive.report.file.split("/").pop()) : null, el("div", { class: "holder" }, timeline.canvas)));
    listen(timeline);
  });
  box.append(el("div", { id: "picked", "aria-live": "polite" }));
  new ResizeObserver(() => changed()).observe(box);
}

function legend() {
  const box = el("div", { class: "legend" });
  const used = new Set();
  for (const { overview } of archives) for (let i = 0; i < overview.kind.length; i++) used.add(overview.kind[i]);
  KINDS.forEach((kind, i) => (i === 0 || used.has(i)) && box.append(key(kind.name, kindColor(i))));
  box.append(key("waiting", color("wait")));
  return box;
}

function key(name, background) {
  const sample = el("span", { class: "key" });
  sample.style.background = background;
  return el("span", {}, sample, name);
}

function toggle(name) {
  shared.options[name] = !shared.options[name];
  document.querySelector(`[data-option=${name}]`).setAttribute("aria-pressed", String(shared.options[name]));
  if (name === "fold") timelines.forEach((timeline) => timeline.makeRows());
  changed();
}

function listen(timeline) {
  const { canvas } = timeline;
  let drag = null;
  const place = (event) => [event.offsetX, event.offsetY];
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return pan((event.deltaX || event.deltaY) / timeline.plot);
    if (event.altKey) {
      timeline.top += Math.sign(event.deltaY) * 3;
      return changed();
    }
    return zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.008), timeline.timeAt(event.offsetX) - timeline.start);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    drag = { x: event.offsetX, y: event.offsetY, from: shared.view.from, top: timeline.top, range: event.shiftKey, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return hint(event, hintText(timeline, ...place(event)));
    drag.moved ||= Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 4;
    if (!drag.moved) return null;
    if (drag.range) {
      timeline.draw();
      return timeline.drawRange(drag.x, event.offsetX);
    }
    hint(null);
    timeline.top = drag.top - Math.round((event.offsetY - drag.y) / timeline.rowHeight);
    const by = ((drag.x - event.offsetX) / timeline.plot) * (shared.view.to - shared.view.from);
    return setView(drag.from + by, drag.from + by + shared.view.to - shared.view.from);
  });
  canvas.addEventListener("pointerup", (event) => {
    const ended = drag;
    drag = null;
    if (!ended) return;
    if (!ended.moved) click(timeline, ...place(event));
    else if (ended.range) {
      const [a, b] = [ended.x, event.offsetX].map((x) => timeline.timeAt(x) - timeline.start).sort((p, q) => p - q);
      setView(a, b);
    }
  });
  canvas.addEventListener("pointercancel", () => (drag = null));
  canvas.addEventListener("pointerleave", () => hint(null));
  canvas.addEventListener("dblclick", (event) => zoom(0.25, timeline.timeAt(event.offsetX) - timeline.start));
  canvas.addEventListener("keydown", (event) => rowKey(timeline, event));
}

function click(timeline, x, y) {
  const band = timeline.bandAt(x, y);
  if (band) return openBand(timeline, band, x);
  const row = timeline.rowAt(y);
  if (row < 0) return null;
  timeline.row = row;
  if (x < 24 && timeline.rows[row].number !== undefined) return timeline.openRow(row);
  const found = timeline.at(x, y);
  if (found?.call) return pickCall(timeline, found.stream, found.call);
  shared.mark = null;
  return changed();
}

/** A loop opens: the iterations around the time that was clicked fill the window. */
function openBand(timeline, band, x) {
  const mean = (band.to - band.from) / band.count;
  const shown = Math.max(LEAST_WINDOW, 3 * mean);
  if ((band.to - band.from) / (shared.view.to - shared.view.from) < 0.5) return setView(band.from - timeline.start - 0.05 * (band.to - band.from), band.to - timeline.start + 0.05 * (band.to - band.from));
  const at = timeline.timeAt(x) - timeline.start;
  return setView(at - shown / 2, at + shown / 2);
}

function hintText(timeline, x, y) {
  const band = timeline.bandAt(x, y);
  if (band) return `loop: ${bandText(band)}. Click to open it.`;
  const found = timeline.at(x, y);
  if (!found) return "";
  const wait = found.wait ? `; waits ${time(found.wait.to - found.wait.from)} (${timeline.archive.patternOf(found.wait)}${found.wait.late >= 0 && timeline.archive.streams ? `, for rank ${timeline.archive.streams[found.wait.late].rank}` : ""})` : "";
  const label = timeline.rows[found.row].label;
  if (!found.call) return `${label} at ${time(found.time - timeline.start, 6)}${wait}`;
  return `${label}: ${timeline.archive.callName(found.call.function, found.call.path)}, ${time(found.call.exit - found.call.enter)}${wait}`;
}

function hint(event, text = "") {
  const box = byId("hint");
  box.hidden = !event || !text;
  if (box.hidden) return;
  box.textContent = printable(text);
  box.style.left = `${Math.min(event.pageX + 12, document.documentElement.clientWidth - 300)}px`;
  box.style.top = `${event.pageY + 16}px`;
}

function savePng() {
  timelines[0].canvas.toBlob((blob) => save("timeline.png", "image/png", blob));
}

function saveSvg() {
  save("timeline.svg", "image/svg+xml", new XMLSerializer().serializeToString(timelines[0].toSvg()));
}

// ---- tables ----

function page() {
  return { archive: archives[0], timelines, width: Math.max(300, byId("details").clientWidth - 32), pickSite, isSite, pickStory, pickRank, pickCall, pickDomino, hint };
}

function fillDetails() {
  const tabs = PANELS.map(([name, has], i) => (has(archives[0].report, archives[0]) ? el("button", { role: "tab", "data-panel": i, "aria-selected": "false", onclick: () => showPanel(i) }, name) : null));
  byId("details").append(el("div", { role: "tablist", class: "tabs", onkeydown: tabKey }, ...tabs), el("div", { id: "panel", role: "tabpanel" }));
  const wanted = PANELS.findIndex(([name, has]) => name === shared.options.panel && has(archives[0].report, archives[0]));
  showPanel(Math.max(0, wanted));
}

function showPanel(i) {
  panel = i;
  document.querySelectorAll("[data-panel]").forEach((tab) => tab.setAttribute("aria-selected", String(Number(tab.dataset.panel) === i)));
  fillPanel();
  writeState(shared, timelines, PANELS[panel][0]);
}

function fillPanel() {
  byId("panel").replaceChildren(PANELS[panel][2](page()));
}

/** Another call site is chosen. */
function repaintPanel() {
  for (const part of byId("panel").querySelectorAll(".table, .icicle")) part.repaint?.();
}

function tabKey(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.stopPropagation();
  const tabs = [...document.querySelectorAll("[data-panel]")];
  tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length]?.focus();
}

function restoreSelection() {
  const { call, rank } = shared.options;
  if (!call) shared.selected = null;
  if (call && archives[0].functions[call.function] && archives[0].paths[call.path]) shared.selected = { archive: archives[0], ...call };
  if (Number.isInteger(rank)) pickRank(rank);
  fillPanel();
}

// ---- keys ----

const KEYS = {
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => setView(shared.whole.from, shared.whole.to),
  ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "?": help, Escape: unpick,
  ...Object.fromEntries(OVERLAYS.map(([name, key]) => [key, () => toggle(name)])),
};

function unpick() {
  shared.selected = shared.mark = null;
  byId("picked").replaceChildren();
  repaintPanel();
  changed();
}

function rowKey(timeline, event) {
  const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -timeline.shownRows, PageDown: timeline.shownRows }[event.key];
  if (step) {
    event.preventDefault();
    timeline.row = Math.max(0, Math.min(timeline.rows.length - 1, timeline.row + step));
    timeline.showRow();
    changed();
  } else if (event.key === "Enter") {
    if (timeline.rows[timeline.row].number !== undefined) return timeline.openRow(timeline.row);
    const found = timeline.at(timeline.x((timeline.from + timeline.to) / 2), timeline.middle(timeline.row));
    if (found?.call) pickCall(timeline, found.stream, found.call);
  }
  return undefined;
}

document.addEventListener("keydown", (event) => {
  if (byId("help").open || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

function help() {
  const dialog = byId("help");
  const rows = [
    ["wheel, + and -", "zoom"], ["drag, left and right", "move"], ["Shift and drag", "zoom to a range"], ["double click", "zoom in"], ["Alt and wheel, up and down", "other ranks"],
    ["Enter", "open ranks that behave alike, or show the call"], ["0", "the whole run"], ...OVERLAYS.map(([, key, text]) => [key, text]), ["Escape", "unmark"],
  ];
  dialog.replaceChildren(
    el("h2", {}, "Keys"), el("dl", {}, ...rows.flatMap(([key, text]) => [el("dt", {}, key), el("dd", {}, text)])),
    el("p", {}, "Far out, each point of a row shows the kind of MPI call that takes most of it, paler the more is computed. The band at the bottom of a row is waiting. A click on a loop opens it; a click on a call shows its parameters."),
    el("button", { onclick: () => dialog.close() }, "close"));
  dialog.showModal();
}

addEventListener("hashchange", () => {
  const found = readState(shared);
  Object.assign(shared.options, found);
  document.querySelectorAll("[data-option]").forEach((button) => button.setAttribute("aria-pressed", String(!!shared.options[button.dataset.option])));
  timelines.forEach((timeline) => timeline.makeRows());
  const wanted = PANELS.findIndex(([name]) => name === found.panel);
  if (wanted >= 0 && wanted !== panel && document.querySelector(`[data-panel="${wanted}"]`)) showPanel(wanted);
  restoreSelection();
  setView(shared.view.from, shared.view.to);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => timelines.length && restyle());

start().catch((error) => {
  byId("said").textContent = `The page cannot be shown: ${error.message}`;
  throw error;
});

