// An archive of the page: what the tool has found out about it, and the worker that reads it.
import { addName, shortName } from "./format.js";
import { NumberReader, fromBase64, gunzip } from "./unpack.js";

const part = (name) => document.getElementById(name)?.textContent;
const unpacked = async (name) => gunzip(fromBase64(part(name)));

export const UNKNOWN = 255;
/** What the report of an archive of samples alone does not have. */
const NO_REPORT = {
  stories: [], wait_states: [], causes: [], time_per_rank: [], functions: [], regions: [], call_paths: [], communication_matrix: [],
  message_sizes: { point_to_point: [], collective: [], one_sided: [] }, efficiency: {}, verdict: null, waits: null, alike: null, critical_path: null,
};

/** The overview: planes of streams * bins bytes (view/page_parts.h). */
function readOverview(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const streams = view.getUint32(0, true);
  const bins = view.getUint32(4, true);
  const plane = (i) => bytes.subarray(24 + i * streams * bins, 24 + (i + 1) * streams * bins);
  return { streams, bins, from: view.getFloat64(8, true), to: view.getFloat64(16, true), kind: plane(0), mpi: plane(1) };
}

/** The longest waits, by stream: lists of {from, to, pattern, late, at}; view/page_parts.h has the columns. */
function readWaits(bytes, streams) {
  const reader = new NumberReader(bytes);
  const all = reader.number();
  const n = reader.number();
  const column = (next) => Array.from({ length: n }, next);
  const steps = column(() => reader.number());
  const froms = column(() => reader.signed());
  const lengths = column(() => reader.number());
  const patterns = column(() => reader.number());
  const lates = column(() => reader.number() - 1);
  const ats = column(() => reader.signed());
  const of = Array.from({ length: streams }, () => []);
  let stream = 0;
  let end = 0;
  for (let i = 0; i < n; i++) {
    if (steps[i]) end = 0;
    stream += steps[i];
    const from = end + froms[i];
    end = from + lengths[i];
    of[stream].push({ from, to: end, pattern: patterns[i], late: lates[i], at: end + ats[i] });
  }
  return { all, n, of };
}

function readNames(bytes) {
  const reader = new NumberReader(bytes);
  while (reader.at < bytes.length) addName(reader.text(), reader.text(), reader.text());
}

/** The critical path as far as the longest waits tell it, backwards from the stream that ends last. */
function criticalPath(waits, overview) {
  let stream = lastToEnd(overview);
  let now = overview.to;
  let jumps = 0; // at one time: clocks that disagree may send the path round in circles
  const path = [];
  while (jumps < overview.streams) {
    const list = waits.of[stream];
    let k = upperBound(list, now) - 1;
    while (k >= 0 && (list[k].late < 0 || list[k].to > now || list[k].at > list[k].to)) k--;
    if (k < 0) break;
    const wait = list[k];
    path.push({ stream, from: wait.to, to: now, comes: wait.late, at: wait.at });
    jumps = wait.at < now ? 0 : jumps + 1;
    stream = wait.late;
    now = Math.min(wait.at, now);
  }
  path.push({ stream, from: overview.from, to: now, comes: -1, at: 0 });
  return path.reverse();
}

function lastToEnd(overview) {
  let best = 0;
  let most = -1;
  for (let i = 0; i < overview.streams; i++) {
    let bin = overview.bins - 1;
    while (bin > most && overview.kind[i * overview.bins + bin] === UNKNOWN) bin--;
    if (bin > most) [best, most] = [i, bin];
  }
  return best;
}

/** How many of the waits begin before a time. */
export function upperBound(waits, time) {
  let low = 0;
  let high = waits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (waits[middle].from < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Archive {
  /** Opens the archive with this number; `opened` is settled when the worker can be asked. */
  static async load(number) {
    const archive = new Archive();
    const [overview, report] = await Promise.all([unpacked(`overview-${number}`), unpacked(`report-${number}`)]);
    archive.overview = readOverview(overview);
    archive.report = { ...NO_REPORT, ...JSON.parse(new TextDecoder().decode(report)) };
    archive.waits = readWaits(await unpacked(`waits-${number}`), archive.overview.streams);
    readNames(await unpacked(`names-${number}`));
    archive.whatif = part(`whatif-${number}`) ? JSON.parse(new TextDecoder().decode(await unpacked(`whatif-${number}`))) : null;
    archive.path = criticalPath(archive.waits, archive.overview);
    archive.start(number);
    return archive;
  }

  start(number) {
    this.requests = new Map();
    this.n = 0;
    this.worker = new Worker(URL.createObjectURL(new Blob([part("worker")], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => this.answered(data);
    this.worker.onerror = ({ message }) => this.requests.forEach(({ reject }) => reject(new Error(message)));
    this.opened = this.ask("open", { reader: part("reader"), archive: part(`archive-${number}`) }).then((names) => {
      Object.assign(this, names);
      return this.findDominoes();
    });
  }

  /** Finds where the events of the domino path are: {step, stream, enter, exit}. */
  async findDominoes() {
    this.dominoes = [];
    const steps = Array.isArray(this.whatif?.domino) ? this.whatif.domino : [];
    for (const [i, domino] of steps.entries()) {
      const named = /^(event|before):(\d+)\/(\d+)/.exec(domino.selector);
      if (!named) continue;
      const stream = this.streams.findIndex((of) => of.rank === Number(named[2]));
      if (stream < 0) continue;
      const { enter, exit } = await this.ask("call", { stream, index: Number(named[3]) });
      this.dominoes.push({ step: i + 1, stream, enter, exit, before: named[1] === "before" });
    }
  }

  answered(data) {
    const request = this.requests.get(data.id);
    if (data.cells) return request.each?.(data);
    this.requests.delete(data.id);
    if (data.failed) return request.reject(new Error(data.failed));
    return request.resolve(data.answer);
  }

  ask(what, message = {}, each = null) {
    const id = ++this.n;
    return new Promise((resolve, reject) => {
      this.requests.set(id, { resolve, reject, each });
      this.worker.postMessage({ id, what, ...message });
    });
  }

  patternOf(wait) {
    return this.patterns?.[wait.pattern] ?? "wait";
  }

  /** Frames of a path, innermost first: {name, file, line}. */
  frames(path) {
    return (this.paths[path] || []).map((location) => this.locations[location]);
  }

  callName(call, path) {
    const inner = this.frames(path)[0];
    return inner?.name ? `${this.functions[call].name} in ${shortName(inner.name)}` : this.functions[call].name;
  }

  /** The numbers {function, path} of a call site of the report (its function and frames); null: there is none. */
  siteOf(name, frames) {
    const key = (list) => list.map((frame) => `${frame.name}:${frame.module}:${frame.offset}:${frame.line}`).join("\n");
    this.siteIndex ||= new Map(this.paths.map((_, path) => [key(this.frames(path)), path]));
    const path = this.siteIndex.get(key((frames || []).map((frame) => ({ ...frame, name: frame.function, line: frame.line || 0 }))));
    const called = this.functions.findIndex((f) => f.name === name);
    return path === undefined || called < 0 ? null : { function: called, path };
  }
}
