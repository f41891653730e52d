// The state of the page, in the fragment of the address: a link shows the same.
//
//   #t=FROM-TO     ns since the start of the run
//    &o=waits,...  layers of the timeline
//    &r=RANK  &c=FUNCTION.PATH (numbers in the archive)  &p=TABLE

const OPTIONS = ["waits", "path", "messages", "loops", "stacks", "fold"];

/** Sets the view; gives the options that the fragment has. */
export function readState(shared) {
  const fields = new URLSearchParams(location.hash.slice(1));
  const found = { call: null };
  const [from, to] = (fields.get("t") || "").split("-").map((text) => Math.round(Number(text)));
  if (to > from && from >= 0 && from < shared.whole.to) shared.view = { from, to: Math.min(to, Math.ceil(shared.whole.to)) };
  if (fields.has("o")) for (const option of OPTIONS) found[option] = fields.get("o").split(",").includes(option);
  if (/^\d+$/.test(fields.get("r") || "")) found.rank = Number(fields.get("r"));
  const site = /^(\d+)\.(\d+)$/.exec(fields.get("c") || "");
  if (site) found.call = { function: Number(site[1]), path: Number(site[2]) };
  if (fields.has("p")) found.panel = fields.get("p");
  return found;
}

let timer;

/** Writes the fragment, when nothing has changed for a moment. */
export function writeState(shared, timelines, panel) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const fields = new URLSearchParams();
    const { view, options, selected } = shared;
    fields.set("t", `${Math.round(view.from)}-${Math.round(view.to)}`);
    fields.set("o", OPTIONS.filter((option) => options[option]).join(","));
    const row = timelines[0]?.rows[timelines[0].row];
    if (row && timelines[0].row > 0 && timelines[0].archive.streams) fields.set("r", timelines[0].archive.streams[row.stream].rank);
    if (selected && selected.archive === timelines[0].archive) fields.set("c", `${selected.function}.${selected.path}`);
    fields.set("p", panel);
    history.replaceState(null, "", `#${fields}`);
  }, 250);
}
