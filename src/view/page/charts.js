// Charts of the report's numbers: bars per rank, an icicle of call paths, a matrix, histograms.
import { color, kindColor, rgb } from "./colors.js";
import { bytes, count, el, frame, fullName, percent, seconds, svg, time, withoutMiddle } from "./format.js";

const ROW = 20;
const LATENCY_ROW = 28;

/** Time per rank: computing, waiting, the rest of MPI; one thin bar each. */
export function rankBars(report, width, onpick) {
  const ranks = report.time_per_rank;
  const waits = new Array(ranks.length).fill(0);
  for (const row of report.wait_states) row.seconds_by_rank.forEach((s, rank) => (waits[rank] += s));
  const most = Math.max(...ranks.map((rank) => rank.mpi_seconds + rank.outside_seconds), 1e-9);
  const height = ranks.length > 130 ? 260 / ranks.length : Math.min(16, Math.floor(260 / ranks.length));
  const label = height > 8 ? 52 : 0;
  const root = svg("svg", { class: "bars", width, height: ranks.length * height + 18, role: "group", "aria-label": "Time per rank: computing, waiting, other MPI time" });
  const x = (s) => (s / most) * (width - label - 4);
  ranks.forEach((rank, i) => {
    const y = i * height;
    const waiting = Math.min(waits[i] || 0, rank.mpi_seconds);
    const parts = [[rank.outside_seconds, kindColor(0)], [waiting, color("wait")], [rank.mpi_seconds - waiting, kindColor(5)]];
    const group = svg("g", { tabindex: height > 8 ? 0 : null, role: "button", "aria-label": `rank ${rank.rank}`, class: "can", onclick: () => onpick(rank.rank), onkeydown: (event) => event.key === "Enter" && onpick(rank.rank) });
    group.append(svg("title", {}, `rank ${rank.rank}: ${seconds(rank.outside_seconds)} outside of MPI, ${seconds(waiting)} waiting, ${seconds(rank.mpi_seconds - waiting)} in MPI without waiting`));
    if (label) group.append(svg("text", { x: 0, y: y + height - 4, class: "faint" }, `rank ${rank.rank}`));
    let at = label;
    for (const [value, fill] of parts) {
      group.append(svg("rect", { x: at, y, width: Math.max(0, x(value)), height: height > 3 ? height - 1 : height, fill }));
      at += x(value);
    }
    root.append(group);
  });
  root.append(svg("text", { x: label, y: ranks.length * height + 13, class: "faint" }, "computing, waiting, other MPI time"));
  return root;
}

/** The tree of call paths, main on top, as wide as the time of all ranks in the MPI calls below. */
export function callTree(rows) {
  const root = { name: "all calls", seconds: 0, children: new Map(), site: null };
  for (const row of rows) {
    if (!row.seconds) continue;
    const steps = row.frames.filter((f) => !f.internal).reverse().map((f) => ({ key: `${f.function}:${f.file}:${f.line}`, name: frame(f), full: frame(f, fullName) }));
    steps.push({ key: row.function, name: row.function, site: row });
    root.seconds += row.seconds;
    let node = root;
    for (const step of steps) {
      if (!node.children.has(step.key)) node.children.set(step.key, { name: step.name, full: step.full ?? step.name, seconds: 0, children: new Map(), site: null });
      node = node.children.get(step.key);
      node.seconds += row.seconds;
      if (step.site) node.site = step.site;
    }
  }
  return root;
}

export function icicle(report, width, onpick, isPicked) {
  const tree = callTree(report.call_paths.filter((row) => !row.setup));
  const boxes = [];
  const place = (node, depth, from) => {
    const wide = (node.seconds / tree.seconds) * width;
    if (!(wide >= 1)) return;
    boxes.push({ node, depth, from, wide });
    let at = from;
    for (const child of [...node.children.values()].sort((a, b) => b.seconds - a.seconds)) {
      place(child, depth + 1, at);
      at += (child.seconds / tree.seconds) * width;
    }
  };
  place(tree, 0, 0);
  const deepest = boxes.reduce((most, box) => Math.max(most, box.depth), 0);
  const root = svg("svg", { class: "icicle", width, height: (deepest + 1) * ROW, role: "group", "aria-label": "Call paths by time in MPI" });
  const sites = [];
  for (const { node, depth, from, wide } of boxes) {
    const pick = () => node.site && onpick(node.site);
    const group = svg("g", { class: node.site ? "can" : "", tabindex: node.site ? 0 : null, role: node.site ? "button" : null, "aria-label": node.name, onclick: pick, onkeydown: (event) => event.key === "Enter" && pick() });
    group.append(svg("title", {}, `${node.full ?? node.name}: ${seconds(node.seconds)} in MPI, ${percent(node.seconds / tree.seconds)}`));
    group.append(svg("rect", { x: from, y: depth * ROW, width: Math.max(0.5, wide - 1), height: ROW - 1, fill: kindColor(0) }));
    const room = Math.floor((wide - 6) / 6.3);
    if (room > 3) group.append(svg("text", { x: from + 4, y: depth * ROW + 14, class: node.site ? "on" : "" }, withoutMiddle(node.name, room)));
    if (node.site) sites.push({ group, site: node.site });
    root.append(group);
  }
  const repaint = () => {
    for (const { group, site } of sites) {
      group.querySelector("rect").setAttribute("fill", isPicked(site) ? color("selected") : kindColor(1));
      group.querySelector("text")?.setAttribute("class", isPicked(site) ? "picked" : "on");
    }
  };
  repaint();
  return Object.assign(root, { repaint });
}

/** The communication matrix, on a canvas: senders down, receivers across. */
export function matrix(report, measure, onhint) {
  const n = report.ranks;
  const cells = report.communication_matrix;
  const scale = Math.max(1, Math.min(24, Math.floor(520 / n)));
  const canvas = el("canvas", { class: "matrix", width: n, height: n, role: "img", "aria-label": `Communication matrix of ${n} ranks` });
  canvas.style.width = canvas.style.height = `${n * scale}px`;
  const context = canvas.getContext("2d");
  const image = context.createImageData(n, n);
  const pixels = new Uint32Array(image.data.buffer);
  const [low, high] = [rgb(color("unknown")), rgb(kindColor(1))];
  const most = Math.log1p(cells.reduce((value, cell) => Math.max(value, cell[measure]), 0)) || 1;
  pixels.fill(pack(low));
  const at = new Map();
  for (const cell of cells) {
    if (!(cell.source < n && cell.dest < n)) continue;
    const share = 0.15 + (0.85 * Math.log1p(cell[measure])) / most;
    pixels[cell.source * n + cell.dest] = pack(low.map((from, i) => from + (high[i] - from) * share));
    at.set(cell.source * n + cell.dest, cell);
  }
  context.putImageData(image, 0, 0);
  canvas.onpointermove = (event) => {
    const [x, y] = [Math.floor(event.offsetX / scale), Math.floor(event.offsetY / scale)];
    const cell = at.get(y * n + x);
    onhint(event, cell ? `rank ${y} to rank ${x}: ${count(cell.messages)} messages, ${bytes(cell.bytes)}` : `rank ${y} to rank ${x}: nothing`);
  };
  canvas.onpointerleave = () => onhint(null);
  return canvas;
}

function pack([r, g, b]) {
  return (0xff000000 | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r)) >>> 0;
}

/** Counts of classes as bars: [{label, value}]. */
export function bars(rows, width, text) {
  const most = Math.max(...rows.map((row) => row.value), 1e-9);
  const root = svg("svg", { class: "histogram", width, height: rows.length * ROW, role: "img" });
  rows.forEach((row, i) => {
    root.append(
      svg("text", { x: 0, y: i * ROW + 14 }, row.label),
      svg("rect", { x: 170, y: i * ROW + 3, width: Math.max(1, ((width - 280) * row.value) / most), height: ROW - 6, fill: kindColor(1) }),
      svg("text", { x: 176 + ((width - 280) * row.value) / most, y: i * ROW + 14, class: "faint" }, text(row.value)),
    );
  });
  return root;
}

/** Latencies: a histogram for each row, with least, median, 99 % and largest, on a logarithmic axis. */
export function latencies(rows, width) {
  const shown = rows.filter((row) => row.min_ns > 0 && row.max_ns > 0).slice(0, 40);
  if (!shown.length) return el("p", {}, "No latencies.");
  const least = Math.log10(Math.min(...shown.map((row) => row.min_ns)));
  const most = Math.log10(Math.max(...shown.map((row) => row.max_ns))) + 0.01;
  const label = 240;
  const x = (ns) => label + ((Math.min(Math.max(Math.log10(ns), least), most) - least) / (most - least)) * (width - label - 20);
  const root = svg("svg", { class: "latencies", width, height: shown.length * LATENCY_ROW + 20, role: "img", "aria-label": "Latencies of sampled messages" });
  shown.forEach((row, i) => {
    const y = (i + 1) * LATENCY_ROW - 5;
    const group = svg("g", {}, svg("title", {}, `${row.label}: ${time(row.min_ns)} to ${time(row.max_ns)}, median ${row.p50_ns ? time(row.p50_ns) : "?"}, mean ${time(row.mean_ns)}`));
    group.append(svg("text", { x: 0, y }, row.label.slice(0, 38)));
    // Bins are not equally wide on this axis: their areas are the shares.
    const density = (bin) => bin.share / Math.log2(bin.to_ns / bin.from_ns);
    const densest = Math.max(...row.histogram.map(density));
    for (const bin of row.histogram) {
      const height = Math.max(1, ((LATENCY_ROW - 8) * density(bin)) / densest);
      const [from, to] = [Math.max(bin.from_ns, row.min_ns), Math.min(bin.to_ns, row.max_ns)];
      group.append(svg("rect", { class: "share", x: x(bin.from_ns), width: Math.max(1, x(bin.to_ns) - x(bin.from_ns) - 0.5), y: y - height, height, fill: kindColor(1), opacity: 0.45 },
        svg("title", {}, `${row.label}: ${percent(bin.share)} took ${time(from)} to ${time(to)}`)));
    }
    group.append(svg("line", { x1: x(row.min_ns), x2: x(row.max_ns), y1: y, y2: y, stroke: color("faint") }));
    if (row.p50_ns) group.append(svg("circle", { cx: x(row.p50_ns), cy: y, r: 4, fill: kindColor(1) }));
    if (row.p99_ns) group.append(svg("rect", { x: x(row.p99_ns) - 3, y: y - 3, width: 6, height: 6, fill: color("wait") }));
    root.append(group);
  });
  for (let power = Math.ceil(least); power <= most; power++)
    root.append(svg("text", { x: x(10 ** power), y: shown.length * LATENCY_ROW + 14, class: "faint" }, time(10 ** power, 1)));
  return root;
}
