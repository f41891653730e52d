// The tables and charts below the timeline, each of the first archive's report.
import { bars, icicle, latencies, matrix } from "./charts.js";
import { bytes, count, el, percent, printable, rankList, seconds, shortPath, time, wholePath } from "./format.js";
import { table } from "./table.js";

const column = (title, of, text = null, plain = false) => ({ title, of, text, plain });
const fromWhere = (title, frames) => ({ ...column(title, (row) => wholePath(frames(row)), (_, row) => shortPath(frames(row)), true), hint: true });
const words = (title, of) => column(title, of, null, true);

/** [name, whether there is something, page => element]. page: {archive, width, pickSite, isSite, pickRank, hint, timelines}. */
export const PANELS = [
  ["call paths", () => true, callPaths],
  ["waits", (report) => report.wait_states.length > 0, waits],
  ["causes", (report) => report.causes.length > 0, causes],
  ["critical path", (report) => report.critical_path?.parts?.length > 0, criticalPath],
  ["findings", (report) => report.stories.length > 0, findings],
  ["what if", (report, archive) => !!archive.whatif, whatIf],
  ["ranks", () => true, ranks],
  ["alike", (report) => report.alike?.kinds?.length > 0, alike],
  ["functions", (report) => report.functions.length > 0, functions],
  ["regions", (report) => report.regions.length > 0, regions],
  ["messages", (report) => report.communication_matrix.length > 0 || report.message_sizes.point_to_point.length > 0 || report.message_sizes.collective.length > 0, messages],
  ["latencies", (report) => !!report.sampling, sampled],
  ["calls on screen", () => true, onScreen],
];

function sitePicker(page, call, frames) {
  return {
    onpick: (row) => page.pickSite(call(row), frames(row)),
    isPicked: (row) => page.isSite(call(row), frames(row)),
  };
}

function callPaths(page) {
  const rows = page.archive.report.call_paths;
  return el(
    "div", {},
    icicle(page.archive.report, page.width, (row) => page.pickSite(row.function, row.frames), (row) => page.isSite(row.function, row.frames)),
    table({
      name: "call paths", rows,
      columns: [
        words("call", (row) => row.function), fromWhere("from", (row) => row.frames),
        column("time of all ranks", (row) => row.seconds, seconds), column("share", (row) => row.share, percent),
        column("calls", (row) => row.calls, count), column("longest", (row) => row.longest_seconds, seconds),
        column("ranks", (row) => row.ranks, count), column("sent", (row) => row.sent_bytes, bytes),
      ],
      ...sitePicker(page, (row) => row.function, (row) => row.frames),
    }),
  );
}

function waits(page) {
  return table({
    name: "waits", rows: page.archive.report.wait_states,
    columns: [
      words("wait state", (row) => row.pattern.replace(/_/g, " ")), words("in", (row) => row.function), fromWhere("from", (row) => row.frames),
      column("time of all ranks", (row) => row.seconds, seconds), column("share", (row) => row.share, percent),
      column("waits", (row) => row.count, count), column("longest", (row) => row.longest_seconds, seconds),
    ],
    ...sitePicker(page, (row) => row.function, (row) => row.frames),
  });
}

function causes(page) {
  return table({
    name: "causes", rows: page.archive.report.causes,
    columns: [
      words("who made others wait, and how", (row) => `rank ${rankList(row.ranks.slice(0, 4).map((rank) => rank.rank).sort((a, b) => a - b))}${row.ranks.length > 4 ? ", ..." : ""}: ${row.activity}`),
      words("others waited in", (row) => row.waited_in), words("wait state", (row) => row.pattern.replace(/_/g, " ")),
      column("time waited", (row) => row.seconds, seconds), column("share", (row) => row.share, percent), column("directly", (row) => row.direct_seconds, seconds),
    ],
    ...sitePicker(page, (row) => row.waited_function, (row) => row.waited_frames),
  });
}

function criticalPath(page) {
  return table({
    name: "critical path", rows: page.archive.report.critical_path.parts,
    columns: [
      words("on the path", (row) => row.activity), column("time", (row) => row.seconds, seconds), column("share", (row) => row.share, percent),
      column("mean of all ranks", (row) => row.mean_seconds, seconds), column("more than the mean", (row) => row.imbalance_seconds, seconds),
    ],
  });
}

function findings(page) {
  const run = page.archive.report.run_time_seconds;
  return table({
    name: "findings", rows: page.archive.report.stories,
    columns: [
      words("what costs", (row) => row.text), words("what to do", (row) => row.advice || ""), column("time of all ranks", (row) => row.seconds, seconds),
      column("share", (row) => row.share, percent),
      column("run without it", (row) => row.without_seconds, (s) => (s === null || s === undefined ? "" : `${seconds(s)} of ${seconds(run)}`)),
    ],
    onpick: (row) => page.pickStory(row),
    isPicked: (row) => page.isSite(row.function, row.frames),
  });
}

/** Whatif's ranking, and its domino path: the best, then the best after it. */
function whatIf(page) {
  const { remedies: ranked, domino, recorded_seconds: recorded } = page.archive.whatif;
  return el(
    "div", {},
    domino?.length ? el("h3", {}, "One after the other, the best each time") : null,
    domino?.length ? table({
      name: "domino path", rows: domino.map((row, i) => ({ ...row, step: i + 1 })),
      columns: [
        column("step", (row) => row.step, count), words("removed", (row) => row.selector), column("the run then takes", (row) => row.predicted_seconds, seconds),
        column("left of the run", (row) => row.predicted_seconds / recorded, percent),
        column("without as many of the longest waits", (row) => row.without_longest_waits_seconds, seconds),
      ],
      onpick: (row) => page.pickDomino(row.step),
    }) : null,
    el("h3", {}, "Each alone"),
    table({
      name: "what if", rows: ranked,
      columns: [
        words("removed", (row) => row.selector), column("saved", (row) => row.saved_seconds, seconds),
        column("share", (row) => (row.saved_seconds === null ? null : row.saved_seconds / recorded), percent),
        column("if halved", (row) => row.saved_half_seconds, seconds), column("at most", (row) => row.bound_seconds, seconds),
      ],
    }),
  );
}

function ranks(page) {
  return table({
    name: "ranks", rows: page.archive.report.time_per_rank,
    columns: [
      column("rank", (row) => row.rank, count), column("outside of MPI", (row) => row.outside_seconds, seconds), column("in MPI", (row) => row.mpi_seconds, seconds),
      column("in Init, Finalize", (row) => row.setup_seconds, seconds), column("calls", (row) => row.calls, count),
      column("messages", (row) => row.messages, count), column("sent", (row) => row.sent_bytes, bytes), column("collective", (row) => row.collective_bytes, bytes),
      column("memory", (row) => row.peak_memory_bytes, bytes), column("CPU share", (row) => row.cpu_share, percent),
    ],
    onpick: (row) => page.pickRank(row.rank),
  });
}

function alike(page) {
  return table({
    name: "ranks that behave alike", rows: page.archive.report.alike.kinds,
    columns: [
      column("ranks", (row) => row.n_ranks, count), words("which", (row) => rankList(row.ranks)), column("call paths", (row) => row.call_paths, count),
      words("sends to", (row) => range(row.sends_to)), words("messages", (row) => range(row.messages)), column("sent", (row) => row.sent_bytes, bytes),
      column("in MPI", (row) => row.mpi_seconds, seconds), column("outside of MPI", (row) => row.outside_seconds, seconds),
      words("also calls", (row) => row.also_calls.map((call) => call.call_path ?? call.function ?? call).join("; ")),
      words("does not call", (row) => row.does_not_call.map((call) => call.call_path ?? call.function ?? call).join("; ")),
    ],
    onpick: (row) => page.pickRank(row.ranks[0]),
  });
}

const range = (pair) => (pair ? (pair[0] === pair[1] ? count(pair[0]) : `${count(pair[0])} to ${count(pair[1])}`) : "");

function functions(page) {
  return table({
    name: "functions", rows: page.archive.report.functions,
    columns: [
      words("function", (row) => row.function), column("time of all ranks", (row) => row.seconds, seconds), column("share", (row) => row.share, percent),
      column("calls", (row) => row.calls, count), column("bytes", (row) => row.bytes, bytes),
    ],
  });
}

function regions(page) {
  return table({
    name: "regions", rows: page.archive.report.regions,
    columns: [
      words("region", (row) => row.name), column("visits", (row) => row.visits, count), column("time of all ranks", (row) => row.time?.seconds ?? null, seconds),
      column("share", (row) => row.share ?? null, percent), column("in MPI", (row) => row.in_mpi?.seconds ?? null, seconds),
      column("waiting", (row) => row.waiting_seconds ?? null, seconds), column("load balance", (row) => row.load_balance ?? null, percent),
      column("parallel efficiency", (row) => row.parallel_efficiency ?? null, percent),
    ],
  });
}

function messages(page) {
  const { report } = page.archive;
  const holder = el("div", { class: "side" });
  const choose = el("select", { "aria-label": "What the matrix shows", onchange: () => show() }, el("option", { value: "bytes" }, "bytes"), el("option", { value: "messages" }, "messages"));
  const show = () => holder.replaceChildren(matrix(report, choose.value, page.hint));
  show();
  const sizes = (kind, title) => {
    const rows = report.message_sizes[kind].map((row) => ({ label: row.min_bytes === row.max_bytes ? bytes(row.min_bytes) : `${bytes(row.min_bytes)} to ${bytes(row.max_bytes)}`, value: row.count }));
    return rows.length ? [el("h3", {}, title), bars(rows, Math.min(560, page.width), count)] : [];
  };
  return el(
    "div", { class: "columns" },
    report.communication_matrix.length ? el("div", {}, el("h3", {}, "Communication matrix: sender down, receiver across ", choose), holder) : null,
    el("div", {}, ...sizes("point_to_point", "Sizes of messages"), ...sizes("collective", "Sizes in collective calls"), ...sizes("one_sided", "Sizes of one-sided transfers")),
    el("div", { class: "wide" }, table({
      name: "pairs of ranks", rows: report.communication_matrix,
      columns: [column("from", (row) => row.source, count), column("to", (row) => row.dest, count), column("messages", (row) => row.messages, count), column("bytes", (row) => row.bytes, bytes)],
      onpick: (row) => page.pickRank(row.source),
    })),
  );
}

function sampled(page) {
  const { sampling } = page.archive.report;
  const name = (row) => (row.source !== undefined ? `${row.source} to ${row.destination}` : row.bytes_from !== undefined ? `from ${bytes(row.bytes_from)}` : row.send_path || row.call_path || "all messages");
  const rows = [...(sampling.all || []), ...(sampling.sizes || []), ...(sampling.pairs || []), ...(sampling.collectives || [])].map((row) => ({ ...row, label: printable(name(row)) }));
  return el(
    "div", {},
    el("p", {}, `${count(sampling.sampled)} of ${count(sampling.messages)} messages were sampled (${sampling.strategy}). Histogram: share of messages, each row to its own scale; line: least to largest; dot: median; square: 99 %.`),
    latencies(rows, page.width),
    table({
      name: "latencies", rows,
      columns: [
        words("messages", (row) => row.label), column("count", (row) => row.count, count), column("sampled", (row) => row.sampled, count),
        column("mean", (row) => row.mean_ns, timed), column("median", (row) => row.p50_ns, timed), column("99 %", (row) => row.p99_ns, timed),
        column("least", (row) => row.min_ns, timed), column("largest", (row) => row.max_ns, timed), column("receiver waited", (row) => row.waited_ns, timed),
      ],
    }),
  );
}

const timed = (ns) => (ns === null || ns === undefined ? "" : time(ns));

/** Every call that the timeline draws one by one. */
function onScreen(page) {
  const timeline = page.timelines[0];
  if (!timeline.showsCalls()) return el("p", {}, "Zoom in until single calls are drawn; here is then one row for each of them.");
  const rows = [];
  for (const row of timeline.shown()) {
    const calls = timeline.calls.get(row.stream);
    for (let k = 0; k < (calls?.n || 0); k++)
      if (calls.exit[k] >= timeline.from && calls.enter[k] <= timeline.to) rows.push({ row, ...timeline.callOf(calls, k) });
  }
  const { archive } = page;
  return table({
    name: "calls on screen", rows,
    columns: [
      words("rank", (row) => row.row.label), column("number", (row) => row.index, count), words("call", (row) => archive.functions[row.function].name),
      fromWhere("from", (row) => archive.frames(row.path)), column("enter (ns)", (row) => row.enter, count),
      column("takes (ns)", (row) => row.exit - row.enter, count), column("peer or root", (row) => (row.word < 0 ? null : row.word), count), column("bytes", (row) => (row.bytes < 0 ? null : row.bytes), bytes),
    ],
    onpick: (row) => page.pickCall(timeline, row.row.stream, row),
  });
}
