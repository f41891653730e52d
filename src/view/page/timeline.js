// The timeline of one archive: ranks by time, on a canvas.
//
// Far out it shows pictures, the share of each kind of activity per point: first the
// overview, then pictures of the window that the worker makes. Near enough it shows each call.
import { UNKNOWN, upperBound } from "./archive.js";
import { KINDS, color, inkOn, isDark, kindColor, rgb } from "./colors.js";
import { count, el, printable, rankList, shortName, tickTime, time, withoutMiddle } from "./format.js";
import { SvgContext } from "./svg_context.js";

const GUTTER = 132; // of labels
const AXIS = 24;
const LANE = 15; // of a loop
const MOST_LANES = 4;
const MOST_CALLS = 4000; // of a row that are drawn one by one
const MOST_LINES = 4000; // messages that are drawn
const MOST_EVENTS = 12e6; // of an archive whose messages are matched in the page
const CELL_BYTES = 3;

export class Timeline {
  /** view: {from, to} in ns since the start of the run, shared by all timelines. */
  constructor(archive, shared) {
    this.archive = archive;
    this.shared = shared;
    this.start = 0; // of the run, as refrain dump has times
    this.pictures = new Map(); // by stream
    this.calls = new Map();
    this.loops = new Map();
    this.messages = null;
    this.opened = new Set(); // kinds of ranks whose rows are shown one by one
    this.top = 0; // the first row shown
    this.row = 0; // that is chosen
    this.canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": `Timeline of ${archive.report.program}: ${archive.report.ranks} ranks` });
    this.off = document.createElement("canvas");
    this.makeRows();
    archive.opened.then(() => {
      this.ready = true;
      this.makeRows();
      this.changed();
    });
  }

  // ---- rows ----

  /** One per stream; of ranks that behave alike one in all, where that is wanted. The chosen one stays chosen. */
  makeRows() {
    const chosen = this.rows?.[this.row]?.stream;
    this.rows = this.shared.options.fold && this.archive.streams ? this.foldedRows() : [];
    if (!this.rows.length) for (let i = 0; i < this.archive.overview.streams; i++) this.rows.push({ stream: i, streams: [i] });
    this.rowOf = new Int32Array(this.archive.overview.streams).fill(-1);
    this.rows.forEach((row, i) => {
      if (row.number !== undefined) for (const stream of row.streams) if (this.rowOf[stream] < 0) this.rowOf[stream] = i;
    });
    this.rows.forEach((row, i) => row.number === undefined && (this.rowOf[row.stream] = i));
    const several = this.archive.streams?.some((stream) => stream.thread > 0);
    for (const row of this.rows) row.label = this.labelOf(row, several);
    this.row = Math.max(0, chosen === undefined ? 0 : this.rowOf[chosen]);
  }

  foldedRows() {
    const streamsOf = new Map();
    this.archive.streams.forEach(({ rank }, i) => streamsOf.set(rank, [...(streamsOf.get(rank) || []), i]));
    const rows = [];
    (this.archive.report.alike?.kinds || []).forEach((kind, number) => {
      const streams = kind.ranks.flatMap((rank) => streamsOf.get(rank) || []);
      const alone = streams.length === 1;
      if (!alone && streams.length) rows.push({ stream: streams[0], streams, number, ranks: kind.ranks });
      if (alone || this.opened.has(number)) for (const stream of streams) rows.push({ stream, streams: [stream], inner: !alone });
    });
    return rows;
  }

  labelOf(row, several) {
    if (row.number !== undefined) return `${row.ranks.length} alike: ${rankList(row.ranks).slice(0, 60)}`;
    const { rank, thread } = this.archive.streams?.[row.stream] || { rank: row.stream, thread: 0 };
    return `rank ${rank}${several ? `.${thread}` : ""}`;
  }

  openRow(row) {
    const number = this.rows[row]?.number;
    if (number === undefined) return;
    if (!this.opened.delete(number)) this.opened.add(number);
    this.makeRows();
    this.changed();
  }

  layout() {
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.parentElement.clientWidth;
    const lanes = this.shared.options.loops ? Math.max(1, Math.min(MOST_LANES, this.depth())) * LANE + 4 : 0;
    const room = Math.max(120, window.innerHeight * (this.shared.several ? 0.32 : 0.5));
    this.rowHeight = Math.max(this.rows.length > 400 ? 2 : 4, Math.min(this.shared.options.stacks ? 84 : 26, Math.floor(room / this.rows.length)));
    this.shownRows = Math.min(this.rows.length, Math.floor(room / this.rowHeight));
    this.top = Math.max(0, Math.min(this.top, this.rows.length - this.shownRows));
    this.width = width;
    this.lanes = lanes;
    this.height = AXIS + lanes + this.shownRows * this.rowHeight + 4;
    this.plot = width - GUTTER;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(this.height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
    }
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  get from() {
    return this.start + this.shared.view.from;
  }

  get to() {
    return this.start + this.shared.view.to;
  }

  x(ns) {
    return GUTTER + ((ns - this.from) / (this.to - this.from)) * this.plot;
  }

  timeAt(x) {
    return this.from + ((x - GUTTER) / this.plot) * (this.to - this.from);
  }

  y(row) {
    return AXIS + this.lanes + (row - this.top) * this.rowHeight;
  }

  rowAt(y) {
    const row = this.top + Math.floor((y - AXIS - this.lanes) / this.rowHeight);
    return y >= AXIS + this.lanes && row >= this.top && row < Math.min(this.rows.length, this.top + this.shownRows) ? row : -1;
  }

  shown() {
    return this.rows.slice(this.top, this.top + this.shownRows);
  }

  /** Its row, or that of the ranks like it; -1: it has none. */
  rowOfStream(stream) {
    return this.rowOf[stream] ?? -1;
  }

  choose(stream) {
    this.row = Math.max(0, this.rowOfStream(stream));
    this.showRow();
  }

  /** Scrolls to the chosen row. */
  showRow() {
    if (this.row < this.top) this.top = this.row;
    if (this.row >= this.top + this.shownRows) this.top = this.row - this.shownRows + 1;
  }

  // ---- what the worker has to find ----

  /** The view, the rows or the selection are others than before. */
  changed() {
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.request(), 40);
  }

  request() {
    if (!this.ready || !this.canvas.isConnected) return;
    if (this.shared.options.loops) this.requestLoops().catch((error) => this.shared.complain(error.message));
    if (this.shared.options.messages) this.requestMessages().catch((error) => this.shared.complain(error.message));
    const rows = this.shown();
    const failed = (error) => this.shared.complain(error.message);
    if (this.showsCalls()) this.requestCalls(rows).catch(failed);
    else if (this.shared.selected || this.overviewIsCoarse()) this.requestPictures(rows).catch(failed);
    else this.shared.settled?.();
    this.shared.oncalls?.(this);
  }

  overviewIsCoarse() {
    const overview = this.archive.overview;
    return ((this.to - this.from) / (overview.to - overview.from)) * overview.bins < 0.9 * this.plot;
  }

  /** About how many events of a stream are in the window. */
  eventsInView(stream) {
    const overview = this.archive.overview;
    return (this.archive.streams[stream].events * (this.to - this.from)) / (overview.to - overview.from);
  }

  showsCalls() {
    if (!this.ready || this.rowHeight < 4) return false;
    let all = 0;
    for (const row of this.shown()) {
      const events = this.eventsInView(row.stream);
      if (events > this.plot) return false;
      all += events;
    }
    return all < 40000;
  }

  async requestPictures(rows) {
    const [from, to, select, n] = [this.from, this.to, this.shared.selected?.archive === this.archive ? this.shared.selected : null, Math.round(this.plot)];
    const same = (picture) => picture && picture.from === from && picture.to === to && picture.n === n && picture.select === select;
    const streams = rows.map((row) => row.stream).filter((stream) => !same(this.pictures.get(stream)));
    if (!streams.length) return this.shared.settled?.();
    let last = performance.now();
    const { ended } = await this.archive.ask("pictures", { purpose: "window", streams, from, to, n, select: select && { function: select.function, path: select.path } }, (picture) => {
      if (picture.error) this.shared.complain(picture.error);
      this.pictures.set(picture.stream, { from, to, n, select, cells: picture.cells });
      if (performance.now() - last > 50) {
        this.draw();
        last = performance.now();
      }
    });
    this.draw();
    if (ended) this.shared.settled?.();
  }

  async requestCalls(rows) {
    const [from, to] = [this.from, this.to];
    const covers = (calls) => calls && calls.from <= from && calls.to >= to && !calls.cut;
    const streams = rows.map((row) => row.stream).filter((stream) => !covers(this.calls.get(stream)));
    if (!streams.length) return this.shared.settled?.();
    const margin = (to - from) / 4;
    const answer = await this.archive.ask("calls", { streams, from: from - margin, to: to + margin, most: MOST_CALLS });
    for (const calls of answer) {
      if (calls.error) this.shared.complain(calls.error);
      if (!calls.n) {
        this.calls.set(calls.stream, { ...calls, from: from - margin, to: to + margin });
        continue;
      }
      const cut = calls.n === MOST_CALLS;
      this.calls.set(calls.stream, { ...calls, from: from - margin, to: cut ? calls.exit[calls.n - 1] : to + margin, cut });
    }
    this.draw();
    this.shared.oncalls?.(this);
    this.shared.settled?.();
  }

  async requestLoops() {
    const stream = this.rows[this.row].stream;
    if (this.loops.has(stream) || this.archive.streams[stream].events > 4e6) return;
    this.loops.set(stream, { bands: [] });
    this.loops.set(stream, await this.archive.ask("loops", { stream }));
    this.layout();
    this.draw();
  }

  async requestMessages() {
    if (this.messages) return;
    this.messages = { messages: { n: 0 }, collectives: [] };
    const events = this.archive.streams.reduce((sum, stream) => sum + stream.events, 0);
    if (events > MOST_EVENTS)
      return this.shared.complain(`messages are drawn for runs of at most ${count(MOST_EVENTS)} events`);
    const found = await this.archive.ask("messages", { most: 4e6 });
    for (const collective of found.collectives) {
      collective.from = Math.min(...collective.members.map((member) => member.enter));
      collective.to = Math.max(...collective.members.map((member) => member.exit));
    }
    this.messages = found;
    this.draw();
  }

  depth() {
    const loops = this.loops.get(this.rows[this.row]?.stream);
    return loops ? loops.bands.reduce((most, band) => Math.max(most, band.depth + 1), 0) : 0;
  }

  // ---- drawing ----

  draw() {
    if (!this.canvas.isConnected) return;
    this.layout();
    this.paint();
  }

  paint() {
    const context = this.context;
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = color("unknown");
    context.fillRect(0, 0, this.width, this.height);
    context.save();
    context.beginPath();
    context.rect(GUTTER, AXIS + this.lanes, this.plot, this.height);
    context.clip();
    this.drawPictures();
    if (this.showsCalls()) this.drawCalls();
    if (this.shared.options.waits) this.drawWaits();
    if (this.shared.options.messages) this.drawMessages();
    if (this.shared.options.path) this.drawPath();
    if (this.archive.dominoes?.length) this.drawDominoes();
    this.drawMark();
    context.restore();
    this.drawAxis();
    if (this.lanes) this.drawLoops();
    this.drawLabels();
  }

  /** Colours of a cell by kind and share of MPI, as 32 bits. */
  shades() {
    const dark = isDark();
    if (this.table?.dark === dark) return this.table;
    const base = rgb(kindColor(0));
    this.table = new Uint32Array(KINDS.length * 256);
    this.table.dark = dark;
    for (let kind = 0; kind < KINDS.length; kind++) {
      const to = rgb(kindColor(kind));
      for (let share = 0; share < 256; share++) {
        const [r, g, b] = base.map((from, i) => Math.round(from + ((to[i] - from) * share) / 255));
        this.table[kind * 256 + share] = 0xff000000 | (b << 16) | (g << 8) | r;
      }
    }
    return this.table;
  }

  drawPictures() {
    const n = Math.round(this.plot);
    const rows = this.shown();
    if (n < 1 || !rows.length) return;
    if (this.off.width !== n || this.off.height !== rows.length) [this.off.width, this.off.height] = [n, rows.length];
    const context = this.off.getContext("2d");
    const image = context.createImageData(n, rows.length);
    const pixels = new Uint32Array(image.data.buffer);
    rows.forEach((row, i) => this.fillRow(row.stream, pixels.subarray(i * n, (i + 1) * n)));
    context.putImageData(image, 0, 0);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.off, 0, 0, n, rows.length, GUTTER, AXIS + this.lanes, this.plot, rows.length * this.rowHeight);
    if (this.rowHeight < 5) return;
    this.context.fillStyle = color("unknown");
    for (let i = 1; i <= rows.length; i++) this.context.fillRect(GUTTER, AXIS + this.lanes + i * this.rowHeight - 1, this.plot, 1);
  }

  fillRow(stream, pixels) {
    const shades = this.shades();
    const overview = this.archive.overview;
    const picture = this.pictures.get(stream);
    const fits = picture && picture.from <= this.from && picture.to >= this.to && (picture.to - picture.from) / picture.n < (overview.to - overview.from) / overview.bins * 1.2 || (picture?.select && picture.from === this.from && picture.to === this.to);
    const dims = this.shared.selected?.archive === this.archive;
    const unknown = this.packed(color("unknown"));
    const chosen = this.packed(color("selected"));
    const step = (this.to - this.from) / pixels.length;
    const source = fits ? picture : overview;
    const width = (source.to - source.from) / (fits ? picture.n : overview.bins);
    const bins = fits ? picture.n : overview.bins;
    const at = stream * overview.bins;
    for (let i = 0; i < pixels.length; i++) {
      const time = this.from + i * step;
      let first = Math.floor((time - source.from) / width);
      const last = Math.min(bins - 1, Math.max(first, Math.ceil((time + step - source.from) / width) - 1));
      let sum = 0;
      let known = 0;
      let kind = 0;
      let most = -1;
      let selected = 0;
      for (first = Math.max(0, first); first <= last; first++) {
        const of = fits ? picture.cells[first * CELL_BYTES] : overview.kind[at + first];
        if (of === UNKNOWN) continue;
        const share = fits ? picture.cells[first * CELL_BYTES + 1] : overview.mpi[at + first];
        if (fits) selected = Math.max(selected, picture.cells[first * CELL_BYTES + 2]);
        known++;
        sum += share;
        if (share > most) [most, kind] = [share, of];
      }
      pixels[i] = known ? shades[kind * 256 + Math.round(sum / known)] : unknown;
      if (dims && fits && picture.select) pixels[i] = selected ? chosen : faded(pixels[i], unknown);
    }
  }

  packed(hex) {
    const [r, g, b] = rgb(hex);
    return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
  }

  drawCalls() {
    const selected = this.shared.selected?.archive === this.archive ? this.shared.selected : null;
    this.shown().forEach((row, i) => {
      const calls = this.calls.get(row.stream);
      if (!calls?.n || calls.to < this.from || calls.from > this.to) return;
      const y = this.y(this.top + i);
      const stacks = this.shared.options.stacks && this.rowHeight > 40;
      const height = stacks ? 18 : this.rowHeight - 1;
      this.context.fillStyle = kindColor(0);
      const events = this.archive.streams[row.stream].events;
      const left = Math.max(GUTTER, this.x(calls.index[0] > 0 ? calls.from : calls.enter[0]));
      const right = this.x(calls.index[calls.n - 1] + 1 < events ? calls.to : calls.exit[calls.n - 1]);
      this.context.fillRect(left, y, right - left, this.rowHeight - 1);
      this.drawPauses(calls, y);
      if (stacks) this.drawStacks(calls, y + 20, this.rowHeight - 22 - this.drawRegions(calls, y + this.rowHeight - 2));
      for (let k = 0; k < calls.n; k++) this.drawCall(calls, k, y, height, selected);
    });
  }

  /** Nothing is known after a call that switches recording off. */
  drawPauses(calls, y) {
    this.context.fillStyle = color("unknown");
    for (let k = 0; k + 1 < calls.n; k++) {
      const { name } = this.archive.functions[calls.function[k]];
      const next = this.archive.functions[calls.function[k + 1]].name;
      if (!/^(MPI_Pcontrol|refrain_recording)$/.test(name) || name !== next) continue;
      this.context.fillRect(this.x(calls.exit[k]), y, this.x(calls.enter[k + 1]) - this.x(calls.exit[k]), this.rowHeight - 1);
    }
  }

  drawCall(calls, k, y, height, selected) {
    const context = this.context;
    const called = this.archive.functions[calls.function[k]];
    if (calls.exit[k] < this.from || calls.enter[k] > this.to || called.kind === UNKNOWN) return;
    const left = Math.max(GUTTER - 1, this.x(calls.enter[k]));
    const width = Math.max(0.6, this.x(calls.exit[k]) - left);
    const hit = selected && calls.function[k] === selected.function && calls.path[k] === selected.path;
    context.globalAlpha = selected && !hit ? 0.3 : 1;
    context.fillStyle = hit ? color("selected") : kindColor(called.kind);
    context.fillRect(left, y, width, height);
    context.globalAlpha = 1;
    if (width > 46 && height > 10) {
      context.fillStyle = inkOn(hit ? color("selected") : kindColor(called.kind));
      context.save();
      context.beginPath();
      context.rect(left, y, Math.min(width, this.width - left), height);
      context.clip();
      context.fillText(printable(called.name.replace(/^MPI_/, "")), Math.max(left, GUTTER) + 3, y + (height < 20 ? 10 : height / 2 + 4)); // above waits
      context.restore();
    }
  }

  /** The functions that lead to the calls, the outermost on top: one bar while successive calls share it. */
  drawStacks(calls, y, height) {
    const paths = Array.from({ length: calls.n }, (_, k) => (this.archive.functions[calls.function[k]].kind === UNKNOWN ? [] : this.archive.frames(calls.path[k]).reverse()));
    const depth = Math.floor(height / 11);
    for (let level = 0; level < depth; level++) {
      for (let k = 0; k < calls.n; ) {
        const name = paths[k][level]?.name;
        let last = k;
        while (last + 1 < calls.n && paths[last + 1][level]?.name === name && this.sameAbove(paths[k], paths[last + 1], level)) last++;
        if (name) this.drawBar(shortName(name), calls.enter[k], calls.exit[last], y + level * 11, color("faint"));
        k = last + 1;
      }
    }
  }

  /** The regions of the program, the outermost at the bottom; the height that they take. One that begins before the
   *  calls that are here begins with them. */
  drawRegions(calls, bottom) {
    const open = [];
    const found = [];
    for (let k = 0; k < calls.n; k++) {
      const { name } = this.archive.functions[calls.function[k]];
      if (name === "refrain_region_begin") open.push({ region: calls.word[k], from: calls.enter[k], depth: open.length });
      if (name !== "refrain_region_end") continue;
      const ended = open.pop() || { region: calls.word[k], from: calls.from, depth: 0 };
      found.push({ ...ended, to: calls.exit[k] });
    }
    for (const region of open) found.push({ ...region, to: calls.to });
    const depth = found.reduce((most, region) => Math.max(most, region.depth + 1), 0);
    for (const { region, from, to, depth: level } of found) this.drawBar(this.archive.regions[region] ?? "?", from, to, bottom - 11 * (level + 1), color("loop"));
    return 11 * depth;
  }

  /** A bar with a name, where there is room for it. */
  drawBar(name, from, to, y, fill) {
    const context = this.context;
    const left = Math.max(GUTTER, this.x(from));
    const right = Math.min(this.width, this.x(to));
    if (right < left) return;
    context.globalAlpha = 0.45;
    context.fillStyle = fill;
    context.fillRect(left, y, Math.max(0.6, right - left), 10);
    context.globalAlpha = 1;
    if (right - left < 40) return;
    context.fillStyle = color("text");
    context.fillText(clip(context, printable(name), right - left - 4), left + 2, y + 9);
  }

  sameAbove(left, right, level) {
    for (let i = 0; i < level; i++) if (left[i]?.name !== right[i]?.name) return false;
    return true;
  }

  drawWaits() {
    const context = this.context;
    context.fillStyle = color("wait");
    this.shown().forEach((row, i) => {
      const waits = this.archive.waits.of[row.stream];
      const y = this.y(this.top + i);
      const height = this.rowHeight > 5 ? Math.max(2, Math.round((Math.min(this.rowHeight, 20) - 1) * 0.38)) : this.rowHeight;
      const bottom = this.shared.options.stacks && this.rowHeight > 40 ? y + 18 : y + this.rowHeight - (this.rowHeight > 5 ? 1 : 0);
      let covered = -1;
      for (let k = Math.max(0, upperBound(waits, this.from) - 1); k < waits.length && waits[k].from < this.to; k++) {
        const right = this.x(waits[k].to);
        if (right < covered + 0.5 && right - covered < 0.5) continue;
        const left = Math.max(this.x(waits[k].from), covered);
        context.globalAlpha = right - left < 1 ? Math.max(0.25, right - left) : 1;
        context.fillRect(left, bottom - height, Math.max(0.7, right - left), height);
        covered = right;
      }
      context.globalAlpha = 1;
    });
  }

  middle(row) {
    return this.y(row) + Math.min(this.rowHeight, 20) / 2;
  }

  drawPath() {
    const context = this.context;
    context.strokeStyle = color("path");
    context.lineWidth = 2;
    context.beginPath();
    for (const part of this.archive.path) {
      if (part.to < this.from || part.from > this.to) continue;
      const row = this.rowOfStream(part.stream);
      if (row < 0) continue;
      context.moveTo(this.x(part.from), this.middle(row));
      context.lineTo(this.x(part.to), this.middle(row));
      if (part.comes < 0 || this.rowOfStream(part.comes) < 0) continue;
      context.moveTo(this.x(Math.min(part.at, part.from)), this.middle(this.rowOfStream(part.comes)));
      context.lineTo(this.x(part.from), this.middle(row));
    }
    context.stroke();
    context.lineWidth = 1;
  }

  /** The events whose mending saves most, one after the other, numbered, and joined in this order. */
  drawDominoes() {
    const context = this.context;
    const places = this.archive.dominoes.map((domino) => {
      const at = domino.before ? domino.enter : (domino.enter + domino.exit) / 2;
      return { ...domino, x: this.x(at), y: this.middle(this.rowOfStream(domino.stream)) };
    });
    context.strokeStyle = color("domino");
    context.setLineDash([2, 4]);
    context.beginPath();
    places.forEach(({ x, y }, i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
    context.setLineDash([]);
    for (const { step, x, y } of places) {
      context.fillStyle = color("domino");
      context.beginPath();
      context.arc(x, y, 8, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = color("unknown");
      context.textAlign = "center";
      context.fillText(step, x, y + 4);
      context.textAlign = "start";
    }
  }

  drawMessages() {
    const { messages, collectives } = this.messages || {};
    if (!messages?.n && !collectives?.length) return;
    const context = this.context;
    const lines = [];
    for (let i = 0; i < messages.n && lines.length <= MOST_LINES; i++)
      if (messages.received[i] >= this.from && messages.sent[i] <= this.to) lines.push(i);
    context.strokeStyle = color("message");
    context.globalAlpha = lines.length > 500 ? 0.35 : 0.8;
    context.beginPath();
    if (lines.length <= MOST_LINES)
      for (const i of lines) {
        const [from, to] = [this.rowOfStream(messages.from[i]), this.rowOfStream(messages.to[i])];
        if (from < 0 || to < 0) continue;
        context.moveTo(this.x(messages.sent[i]), this.middle(from));
        context.lineTo(this.x(messages.received[i]), this.middle(to));
      }
    context.stroke();
    context.setLineDash([3, 3]);
    context.beginPath();
    let drawn = 0;
    for (const collective of collectives) {
      if (collective.to < this.from || collective.from > this.to) continue;
      const shown = collective.members.filter((member) => member.exit >= this.from && member.enter <= this.to && this.rowOfStream(member.stream) >= 0);
      if (shown.length < 2 || ++drawn > 200) continue;
      shown.forEach((member, i) => {
        const y = this.middle(this.rowOfStream(member.stream));
        if (i) context.lineTo(this.x(member.enter), y);
        else context.moveTo(this.x(member.enter), y);
      });
    }
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
    if (lines.length <= MOST_LINES) return;
    context.fillStyle = color("text");
    context.fillText(`more than ${count(MOST_LINES)} messages here: zoom in to see them`, GUTTER + 6, this.height - 8);
  }

  drawAxis() {
    const context = this.context;
    context.fillStyle = color("text");
    context.strokeStyle = color("line");
    const [step, first] = ticks(this.shared.view.from, this.shared.view.to, this.plot / 110);
    for (let at = first; at <= this.shared.view.to; at += step) {
      const x = this.x(this.start + at);
      context.beginPath();
      context.moveTo(x, AXIS - 6);
      context.lineTo(x, AXIS);
      context.stroke();
      context.fillText(tickTime(at, step), x + 3, AXIS - 9);
    }
  }

  drawLabels() {
    const context = this.context;
    context.fillStyle = color("unknown");
    context.fillRect(0, 0, GUTTER, this.height);
    context.fillStyle = color("text");
    const every = Math.ceil(13 / this.rowHeight);
    this.shown().forEach((row, i) => {
      if ((this.top + i) % every && this.top + i !== this.row) return;
      const y = this.middle(this.top + i) + 4;
      context.fillStyle = this.top + i === this.row ? color("text") : color("faint");
      if (row.number !== undefined) context.fillText(this.opened.has(row.number) ? "\u25be" : "\u25b8", 4, y);
      context.fillText(clip(context, row.label, GUTTER - (row.inner ? 34 : 24)), row.inner ? 26 : 16, y);
    });
    if (this.shownRows < this.rows.length) {
      context.fillStyle = color("faint");
      const height = this.shownRows * this.rowHeight;
      context.fillRect(GUTTER - 4, this.y(this.top) + (this.top / this.rows.length) * height, 3, (this.shownRows / this.rows.length) * height);
    }
  }

  /** The loops of the chosen rank: a band each while it runs, with how often and how long. */
  drawLoops() {
    const context = this.context;
    context.fillStyle = color("faint");
    context.fillText(`loops of ${this.rows[this.row].label.split(":")[0]}`, 4, AXIS + 11);
    const loops = this.loops.get(this.rows[this.row].stream);
    if (!loops) return;
    context.save();
    context.beginPath();
    context.rect(GUTTER, AXIS, this.plot, this.lanes);
    context.clip();
    let covered = new Array(MOST_LANES).fill(-1);
    for (const band of loops.bands) {
      if (band.to < this.from || band.from > this.to || band.depth >= MOST_LANES) continue;
      const left = Math.max(GUTTER - 2, this.x(band.from));
      const right = Math.min(this.width + 2, this.x(band.to));
      if (right - covered[band.depth] < 0.5) continue;
      covered[band.depth] = right;
      this.drawBand(band, left, right, AXIS + 1 + band.depth * LANE);
    }
    context.restore();
  }

  drawBand(band, left, right, y) {
    const context = this.context;
    context.globalAlpha = 0.25;
    context.fillStyle = color("loop");
    context.fillRect(left, y, Math.max(1, right - left), LANE - 2);
    context.globalAlpha = 1;
    context.strokeStyle = color("loop");
    if (right - left > 3) context.strokeRect(left + 0.5, y + 0.5, Math.max(0, right - left - 1), LANE - 3);
    if ((this.x(band.to) - this.x(band.from)) / band.count > 4) this.drawIterations(band, y);
    context.fillStyle = color("text");
    if (right - left > 60) context.fillText(clip(context, bandText(band), right - left - 8), Math.max(left, GUTTER) + 4, y + 10);
  }

  drawIterations(band, y) {
    const context = this.context;
    context.beginPath();
    for (const begin of band.begins) {
      const x = this.x(begin);
      if (x > this.width) break;
      if (x < GUTTER) continue;
      context.moveTo(x, y);
      context.lineTo(x, y + LANE - 2);
    }
    context.stroke();
  }

  /** Where the pointer chose a time or a call. */
  drawMark() {
    const mark = this.shared.mark;
    const row = mark?.timeline === this ? this.rowOfStream(mark.stream) : -1;
    if (row < 0) return;
    const context = this.context;
    context.strokeStyle = color("path");
    context.strokeRect(this.x(mark.from) - 1, this.y(row) + 0.5, Math.max(3, this.x(mark.to) - this.x(mark.from) + 2), Math.min(this.rowHeight, 20));
  }

  /** The range that will be zoomed to. */
  drawRange(from, to) {
    this.context.globalAlpha = 0.25;
    this.context.fillStyle = color("path");
    this.context.fillRect(Math.min(from, to), AXIS, Math.abs(to - from), this.height);
    this.context.globalAlpha = 1;
  }

  // ---- things at a point ----

  /** The call, or the time between calls, at a point. */
  at(x, y) {
    const row = this.rowAt(y);
    if (row < 0 || x < GUTTER) return null;
    const now = this.timeAt(x);
    const { stream } = this.rows[row];
    const calls = this.calls.get(stream);
    const found = { row, stream, time: now, wait: this.waitAt(stream, now) };
    if (!this.showsCalls() || !calls) return found;
    const slack = (1.5 * (this.to - this.from)) / this.plot;
    let near = null;
    for (let k = 0; k < calls.n; k++) {
      if (this.archive.functions[calls.function[k]].kind === UNKNOWN) continue;
      if (calls.enter[k] <= now && calls.exit[k] >= now) return { ...found, call: this.callOf(calls, k) };
      if (calls.enter[k] - slack <= now && calls.exit[k] + slack >= now) near = k;
      if (calls.enter[k] > now + slack) break;
    }
    if (near !== null) found.call = this.callOf(calls, near);
    return found;
  }

  callOf(calls, k) {
    return {
      enter: calls.enter[k], exit: calls.exit[k], index: calls.index[k], bytes: calls.bytes[k],
      function: calls.function[k], path: calls.path[k], polls: calls.polls[k], word: calls.word[k],
    };
  }

  waitAt(stream, now) {
    const waits = this.archive.waits.of[stream];
    const k = upperBound(waits, now) - 1;
    return k >= 0 && waits[k].to >= now ? waits[k] : null;
  }

  bandAt(x, y) {
    if (!this.lanes || y < AXIS || y > AXIS + this.lanes || x < GUTTER) return null;
    const depth = Math.floor((y - AXIS - 1) / LANE);
    const now = this.timeAt(x);
    return this.loops.get(this.rows[this.row].stream)?.bands.find((band) => band.depth === depth && band.from <= now && band.to >= now) || null;
  }

  /** The timeline as the screen shows it, as SVG. */
  toSvg() {
    const screen = this.context;
    const title = `${this.archive.report.program}: ${time(this.shared.view.from)} to ${time(this.shared.view.to)}`;
    this.context = new SvgContext(screen, title, this.width, this.height);
    this.paint();
    const { root } = this.context;
    this.context = screen;
    return root;
  }
}

/** A point that is not selected, paler. */
function faded(pixel, back) {
  const mix = (shift) => (((pixel >> shift) & 255) * 0.3 + ((back >> shift) & 255) * 0.7) & 255;
  return (0xff000000 | (mix(16) << 16) | (mix(8) << 8) | mix(0)) >>> 0;
}

/** Ticks at 1, 2 or 5 times a power of ten: [step, first]. */
export function ticks(from, to, most) {
  const rough = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
  return [step, Math.ceil(from / step) * step];
}

export function bandText(band) {
  const mean = (band.to - band.from) / band.count;
  return `${count(band.count)} \u00d7 ${time(mean)} (${time(band.shortest)} to ${time(band.longest)})`;
}

/** As much of a text as there is room for: it loses its middle. */
function clip(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [1, Math.min(text.length, 200)];
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (context.measureText(withoutMiddle(text, middle)).width > width) high = middle;
    else low = middle;
  }
  return withoutMiddle(text, low);
}
