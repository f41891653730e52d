// Runs librefrain's reader on the page's archive, beside the page.
//
// The page sends {id, what, ...}; the worker answers {id, ...}, pictures one by one. A request for
// pictures ends when the page sends the next one for the same purpose: nobody waits for it any more.
import { fromBase64, gunzip } from "./unpack.js";

const NOTHING = 0xffffffff;
const CELL_BYTES = 3;
let reader; // the exports of the reader
let streams = 0;
const pictured = {}; // by purpose, the request whose pictures are being made

function text(pointer) {
  if (!pointer) return null;
  const memory = new Uint8Array(reader.memory.buffer);
  let end = pointer;
  while (memory[end]) end++;
  return new TextDecoder().decode(memory.subarray(pointer, end));
}

function check(value) {
  if (value < 0) throw new Error(text(reader.page_error()));
  return value;
}

// The reader calls nothing of a system but what ends in an error: it has no files.
function noSystem() {
  return new Proxy({}, { get: () => () => 8 });
}

async function open(message) {
  const [program, archive] = await Promise.all([gunzip(fromBase64(message.reader)), gunzip(fromBase64(message.archive))]);
  const module = await WebAssembly.compile(program);
  const imports = {};
  for (const { module: from } of WebAssembly.Module.imports(module)) imports[from] = noSystem();
  reader = (await WebAssembly.instantiate(module, imports)).exports;
  reader._initialize();
  const room = reader.page_room(archive.length);
  if (!room) throw new Error("the browser has too little memory for this archive");
  new Uint8Array(reader.memory.buffer).set(archive, room);
  streams = check(reader.page_open(room, archive.length));
  return names();
}

function list(n, of) {
  return Array.from({ length: n }, (_, i) => of(i));
}

function names() {
  return {
    streams: list(streams, (i) => ({
      rank: reader.page_stream_rank(i),
      thread: reader.page_stream_thread(i),
      group: reader.page_stream_group(i),
      events: reader.page_stream_events(i),
      host: text(reader.page_stream_host(i)),
    })),
    functions: list(reader.page_functions(), (i) => ({ name: text(reader.page_function(i)), kind: reader.page_function_kind(i) })),
    locations: list(reader.page_locations(), (i) => ({
      name: text(reader.page_location(i, 0)),
      file: text(reader.page_location(i, 1)),
      module: text(reader.page_location(i, 2)),
      line: reader.page_location_line(i),
      offset: reader.page_location_offset(i),
    })),
    paths: list(reader.page_paths(), (i) => list(reader.page_path_frames(i), (k) => reader.page_path_frame(i, k))),
    patterns: patterns(),
    regions: list(reader.page_regions(), (i) => text(reader.page_region(i))),
  };
}

function patterns() {
  const words = [];
  for (let pointer; (pointer = reader.page_pattern(words.length)); ) words.push(text(pointer));
  return words;
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve));
}

async function pictures(message) {
  pictured[message.purpose] = message.id;
  let last = performance.now();
  for (const stream of message.streams) {
    // Whoever left the window should not wait for its pictures; pausing takes time, too.
    if (performance.now() - last > 30) {
      await pause();
      last = performance.now();
    }
    if (pictured[message.purpose] !== message.id) return { ended: false };
    const select = message.select || { function: NOTHING, path: NOTHING };
    const failed = reader.page_picture(stream, message.from, message.to, message.n, select.function, select.path) < 0;
    if (!reader.page_cells()) throw new Error(text(reader.page_error()));
    const cells = new Uint8Array(reader.memory.buffer, reader.page_cells(), message.n * CELL_BYTES).slice();
    postMessage({ id: message.id, stream, cells, error: failed ? text(reader.page_error()) : null }, [cells.buffer]);
  }
  return { ended: true };
}

function column(number, type, n) {
  return new type(reader.memory.buffer, reader.page_call_column(number), n).slice();
}

function calls(message) {
  return message.streams.map((stream) => {
    const n = reader.page_calls(stream, message.from, message.to, message.most);
    const error = text(reader.page_error());
    if (n < 0) return { stream, n: 0, error };
    return {
      stream,
      n,
      error,
      enter: column(0, Float64Array, n),
      exit: column(1, Float64Array, n),
      index: column(2, Float64Array, n),
      bytes: column(3, Float64Array, n),
      function: column(4, Uint32Array, n),
      path: column(5, Uint32Array, n),
      polls: column(6, Uint32Array, n),
      word: column(7, Int32Array, n),
    };
  });
}

function call(message) {
  const KIND_TYPE = 3;
  const words = list(check(reader.page_call(message.stream, message.index)), (i) => {
    const kind = reader.page_call_kind(i);
    const word = reader.page_call_word(i);
    return { name: text(reader.page_call_name(i)), kind, word, type: kind === KIND_TYPE && word >= 0 ? text(reader.page_datatype(word)) : null };
  });
  const [enter, exit] = new Float64Array(reader.memory.buffer, reader.page_call_times(), 2);
  return { words, enter, exit };
}

/** The loops of a stream as bands, each with the times at which its iterations began. */
function loops(message) {
  const ROW = 48, START = 2;
  const n = check(reader.page_loops(message.stream));
  const rows = new DataView(reader.memory.buffer, reader.page_bands(), n * ROW);
  const starts = new Float64Array(reader.memory.buffer, reader.page_band_starts(), reader.page_band_n_starts() * START);
  const bands = list(n, (i) => {
    const value = (k) => rows.getFloat64(i * ROW + 8 * k, true);
    return {
      from: value(0), to: value(1), count: value(2), shortest: value(3), longest: value(4),
      loop: rows.getUint32(i * ROW + 40, true), depth: rows.getUint32(i * ROW + 44, true), begins: [],
    };
  });
  for (let i = 0; i < starts.length; i += START) bands[starts[i + 1]].begins.push(starts[i]);
  return { bands };
}

function messages(message) {
  const n = check(reader.page_messages(message.most));
  const memory = reader.memory.buffer;
  const MESSAGE = 40, MEMBER = 32;
  const rows = new DataView(memory, reader.page_message_rows(), n * MESSAGE);
  const members = new DataView(memory, reader.page_member_rows(), reader.page_members() * MEMBER);
  const found = {
    n, sent: new Float64Array(n), received: new Float64Array(n), bytes: new Float64Array(n),
    from: new Uint32Array(n), to: new Uint32Array(n), tag: new Int32Array(n),
  };
  for (let i = 0; i < n; i++) {
    const at = i * MESSAGE;
    found.sent[i] = rows.getFloat64(at, true);
    found.received[i] = rows.getFloat64(at + 8, true);
    found.bytes[i] = rows.getFloat64(at + 16, true);
    found.from[i] = rows.getUint32(at + 24, true);
    found.to[i] = rows.getUint32(at + 28, true);
    found.tag[i] = rows.getInt32(at + 32, true);
  }
  const collectives = [];
  for (let i = 0; i < members.byteLength / MEMBER; i++) {
    const at = i * MEMBER;
    const number = members.getUint32(at + 16, true);
    if (!collectives[number]) collectives[number] = { function: members.getUint32(at + 24, true), members: [] };
    collectives[number].members.push({ stream: members.getUint32(at + 20, true), enter: members.getFloat64(at, true), exit: members.getFloat64(at + 8, true) });
  }
  return { messages: found, collectives: collectives.filter((collective) => collective) };
}

const answers = { open, pictures, calls, call, loops, messages };

onmessage = async ({ data }) => {
  try {
    postMessage({ id: data.id, answer: await answers[data.what](data) });
  } catch (error) {
    postMessage({ id: data.id, failed: error.message });
  }
};
