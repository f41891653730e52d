"""The page of refrain view, shown by a browser, and the timeline in a terminal: numbers equal the report's
and dump's, pictures have the colours of what ranks did, and nothing leaves the page."""
import collections
import csv
import io
import json
import os
import re
from xml.etree import ElementTree

import browser
import harness
import test_events
import test_perfetto


def view(bench, *archives, options=()):
    page = os.path.splitext(bench.fresh("page.rfn"))[0] + ".html"
    bench.verb("view", *options, *archives, "-o", page)
    return page


def report(bench, archive):
    return json.loads(bench.verb("report", "--json", archive))


def halo(bench):
    """20 steps of 4 ranks: 2 residuals, each after 10 exchanges."""
    source = os.path.join(harness.HERE, "..", "examples", "halo.c")
    return bench.record("openmpi", 4, [bench.program(source, "openmpi"), "20", "16"])[1]


def check_quiet(page):
    """Nothing was asked of a network, nothing was said on the console, nothing failed."""
    harness.compare("errors", page.errors, [])
    harness.compare("console", page.said, [])
    harness.compare("requests", [url for url in page.requests if not url.startswith(("file:///", "blob:"))], [])
    harness.compare("other files", len([url for url in page.requests if url.startswith("file:///")]), 1)


def run_json(page, expression):
    return json.loads(page.run(f"JSON.stringify({expression})"))


def rows_of(page, panel):
    """The rows of a table as the page copies them."""
    page.run(f"[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === {panel!r}).click()")
    page.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    page.run("window.copied = null; [...document.querySelectorAll('#panel button')].find((b) => b.textContent === 'copy as CSV').click()")
    return list(csv.DictReader(io.StringIO(page.wait("window.copied"))))


def close(what, found, expected, share=1e-9):
    if abs(float(found) - float(expected)) > share * max(abs(float(expected)), 1e-9):
        raise harness.Failure(f"{what}: {found}, expected {expected}")


# ---- numbers ----

def check_summary(page, facts):
    text = page.run("document.getElementById('summary').textContent")
    for story in facts["stories"][:6]:
        if story["text"] not in text:
            raise harness.Failure(f"the page does not say: {story['text']}")
    cells = run_json(page, "[...document.querySelectorAll('.efficiency tr')].map((row) => [row.cells[0].textContent, row.cells[1].textContent])")
    for name, shown in cells:
        value = facts["efficiency"][name.replace(" ", "_")]
        close(name, float(shown.split()[0]) / 100, value, 0.01)
    harness.compare("ranks with a bar", page.run("document.querySelectorAll('.bars g').length"), facts["ranks"])


def check_tables(page, facts):
    for panel, key, number in (("waits", "wait_states", "waits"), ("call paths", "call_paths", "calls"), ("causes", "causes", None),
                               ("ranks", "time_per_rank", "calls"), ("functions", "functions", "calls")):
        rows = rows_of(page, panel)
        harness.compare(f"rows of {panel}", len(rows), len(facts[key]))
        if number:
            member = "count" if number == "waits" else number
            harness.compare(panel, [int(row[number]) for row in rows], [row[member] for row in facts[key]])
    pairs = rows_of(page, "messages")
    harness.compare("pairs", [(int(row["from"]), int(row["to"]), int(row["bytes"])) for row in pairs],
                    [(row["source"], row["dest"], row["bytes"]) for row in facts["communication_matrix"]])


def check_waits(page, facts):
    """The waits that the page draws are those that the report adds up."""
    found = collections.Counter()
    for pattern, ns in run_json(page, "refrain.archives[0].waits.of.flat().map((wait) => [wait.pattern, wait.to - wait.from])"):
        found[pattern] += ns
    harness.compare("waits", page.run("refrain.archives[0].waits.n"), page.run("refrain.archives[0].waits.all"))
    for number, (name, seconds) in enumerate(facts["waits"]["by_pattern"].items()):
        close(name, found[number] / 1e9, seconds, 1e-6)


def check_calls(page, events, archive=0):
    found = page.run(f"""(async () => {{
        const archive = refrain.archives[{archive}];
        const all = [];
        for (let stream = 0; stream < archive.streams.length; stream++) {{
            const [calls] = await archive.ask("calls", {{streams: [stream], from: -1e15, to: 1e15, most: 65536}});
            if (calls.error) throw new Error(calls.error);
            for (let k = 0; k < calls.n; k++)
                all.push([archive.streams[stream].rank, archive.streams[stream].thread, archive.functions[calls.function[k]].name, calls.enter[k], calls.exit[k]]);
        }}
        return JSON.stringify(all);
    }})()""")
    expected = [[int(e["rank"]), int(e["thread"]), e["function"], int(e["enter_ns"]), int(e["exit_ns"])] for e in events]
    harness.compare("calls", json.loads(found), expected)


def check_messages(page, facts, unseen=0):
    found = json.loads(page.run("""(async () => {
        const { messages } = await refrain.archives[0].ask("messages", { most: 4e6 });
        const streams = refrain.archives[0].streams;
        return JSON.stringify(Array.from({ length: messages.n }, (_, i) => [streams[messages.from[i]].rank, streams[messages.to[i]].rank, messages.bytes[i], messages.received[i] - messages.sent[i]]));
    })()"""))
    harness.compare("messages", len(found), facts["matching"]["matched"] - unseen)
    if not facts["matching"]["backward"] and any(took < 0 for *_, took in found):
        raise harness.Failure("a message arrives before it was sent")
    return found


def test_halo(bench):
    """Texts, tables, waits, calls, messages, loops: as report, dump and the program say."""
    archive = halo(bench)
    facts, events = report(bench, archive), bench.dump(archive)
    with browser.Browser() as page:
        page.open(view(bench, archive))
        harness.compare("title", page.run("document.title"), f"{archive} - Refrain")
        check_summary(page, facts)
        check_tables(page, facts)
        check_waits(page, facts)
        check_calls(page, events)
        found = check_messages(page, facts)
        sent = collections.Counter()
        for source, dest, size, _ in found:
            sent[source, dest] += size
        harness.compare("bytes", dict(sent), {(row["source"], row["dest"]): row["bytes"] for row in facts["communication_matrix"]})
        bands = json.loads(page.run("""refrain.archives[0].ask("loops", { stream: 0 }).then(({ bands }) =>
            JSON.stringify(bands.map((band) => [band.depth, band.count, band.begins.length, band.from, band.to])))"""))
        steps = [band for band in bands if band[0] == 0]
        harness.compare("steps of ten and a residual", [band[1] for band in steps], [2])
        harness.compare("exchanges in each", [band[1] for band in bands if band[0] == 1], [10, 10])
        harness.compare("begins", [band[2] for band in bands], [band[1] for band in bands])
        check_quiet(page)


# ---- pictures ----

def pixel_shares(page, row):
    """How many points of a row have each colour, by name."""
    return run_json(page, f"""(() => {{
        const timeline = refrain.timelines[0];
        const ratio = window.devicePixelRatio;
        const y = Math.round((timeline.y({row}) + 2) * ratio);
        const {{ data }} = timeline.canvas.getContext("2d").getImageData(132 * ratio, y, timeline.canvas.width - 132 * ratio, 1);
        const counts = {{}};
        for (let i = 0; i < data.length; i += 4) {{
            const key = data[i] + "," + data[i + 1] + "," + data[i + 2];
            counts[key] = (counts[key] || 0) + 1;
        }}
        return counts;
    }})()""")


COMPUTING, COLLECTIVE, WAITING = "223,227,232", "230,159,0", "213,94,0"


def late(bench, flavour="openmpi"):
    """2 ranks: rank 0 computes for 0.2 s, rank 1 waits in the barrier."""
    source = bench.fresh("late.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("""#include <mpi.h>
#include <time.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
""")
    return bench.record(flavour, 2, [bench.program(source, flavour)])[1]


def barriers(events, rank):
    return [e for e in events if e["rank"] == str(rank) and e["function"] == "MPI_Barrier"]


def late_part(events):
    """From when rank 0 computes and rank 1 waits, which leaves the first barrier before or after it, to rank 0's barrier."""
    begin = max(int(barriers(events, 1)[1]["enter_ns"]), int(barriers(events, 0)[0]["exit_ns"]))
    return begin, int(barriers(events, 0)[1]["enter_ns"])


def test_pixels(bench):
    """Where one rank computes and the other waits, far out and near: the rows have just these colours."""
    archive = late(bench)
    events = bench.dump(archive)
    begin, end = late_part(events)
    length = end - begin
    with browser.Browser() as page:
        made = view(bench, archive)
        for margin in (0, 0.5):  # nothing but this, and as much around it
            page.open(made, f"#t={int(begin + 1000 - margin * length)}-{int(end - 1000 + margin * length)}&o=waits")
            page.wait("document.documentElement.dataset.settled")
            width = page.run("Math.round(refrain.timelines[0].plot)")
            for row, colour in ((0, COMPUTING), (1, COLLECTIVE)):
                found = pixel_shares(page, row).get(colour, 0)
                if not (0.98 if margin == 0 else 0.48) * width < found <= width:
                    raise harness.Failure(f"row {row}: {found} of {width} points have the colour {colour}: {pixel_shares(page, row)}")
        hint = page.run("refrain.timelines[0].waitAt(1, refrain.timelines[0].start + %d).late" % ((begin + end) // 2))
        harness.compare("who was late", hint, 0)
        check_quiet(page)


def test_zoom(bench):
    """Wheel, drag, keys, buttons and links change the window; a click shows a call with its parameters."""
    archive = halo(bench)
    made = view(bench, archive)
    with browser.Browser() as page:
        page.open(made)
        box = run_json(page, "(({ x, y, width, height }) => ({ x, y, width, height }))(refrain.timelines[0].canvas.getBoundingClientRect())")
        span = "refrain.shared.view.to - refrain.shared.view.from"
        middle = (box["x"] + 132 + (box["width"] - 132) / 2, box["y"] + box["height"] - 20)
        before = page.run(span)
        page.wheel(*middle, -100)
        page.wait(f"({span}) < {before}")
        before = page.run("refrain.shared.view.from")
        page.mouse("mousePressed", *middle, button="left", clickCount=1)
        page.mouse("mouseMoved", middle[0] + 80, middle[1], button="left", buttons=1)
        page.mouse("mouseReleased", middle[0] + 80, middle[1], button="left", clickCount=1)
        page.wait(f"refrain.shared.view.from < {before}")
        for key, grows in (("+", False), ("-", True)):
            before = page.run(span)
            page.key(key)
            page.wait(f"({span}) {'>' if grows else '<'} {before}")
        before = page.run("refrain.shared.view.from")
        page.key("ArrowRight")
        page.wait(f"refrain.shared.view.from > {before}")
        page.key("0")
        page.wait(f"({span}) === refrain.shared.whole.to - refrain.shared.whole.from")
        page.key("c")
        harness.compare("critical path", page.run("refrain.shared.options.path"), True)
        page.key("c")
        check_call(bench, page, archive)
        link = page.wait("location.hash.includes('t=') && location.hash")
        window = run_json(page, "refrain.shared.view")
        page.open(made, link)
        again = run_json(page, "refrain.shared.view")
        close("the link's window", again["from"], window["from"], 1e-3)
        check_quiet(page)


def check_call(bench, page, archive):
    """Zooms to a call of rank 2, clicks it, and compares its parameters."""
    events = bench.dump(archive)
    call = [e for e in events if e["rank"] == "2" and e["function"] == "MPI_Allreduce"][1]
    enter, leave = int(call["enter_ns"]), int(call["exit_ns"])
    page.run(f"location.hash = 't={enter - 2 * (leave - enter)}-{leave + 2 * (leave - enter)}'")
    page.wait("document.getElementById('window').textContent && refrain.timelines[0].showsCalls() && refrain.timelines[0].calls.get(2)?.n > 0")
    page.wait(f"refrain.timelines[0].at(refrain.timelines[0].x(refrain.timelines[0].start + {(enter + leave) / 2}), refrain.timelines[0].middle(2))?.call")
    x, y = run_json(page, f"(() => {{ const t = refrain.timelines[0], box = t.canvas.getBoundingClientRect(); return [box.x + t.x(t.start + {(enter + leave) / 2}), box.y + t.middle(2)]; }})()")
    page.click(x, y)
    text = page.wait("document.getElementById('picked').textContent")
    page.wait("document.getElementById('picked').textContent.includes('MPI_DOUBLE')")
    text = page.run("document.getElementById('picked').textContent")
    for word in ("MPI_Allreduce", "residual", "count1", "rank2"):
        if word not in text:
            raise harness.Failure(f"{word} is not in: {text}")
    rows = rows_of(page, "calls on screen")
    shown = [row for row in rows if row["call"] == "MPI_Allreduce" and row["rank"] == "rank 2"]
    own = [row for row in shown if int(row["number"]) == int(call["index"])]
    harness.compare("its row", [(int(row["enter (ns)"]), int(row["takes (ns)"])) for row in own], [(enter, leave - enter)])


def test_svg(bench):
    """The timeline as SVG: a rectangle for each call, where it is by its times, and names as text."""
    archive = halo(bench)
    calls = [(int(e["enter_ns"]), int(e["exit_ns"])) for e in bench.dump(archive) if e["rank"] == "2"]
    begin, end = calls[30][0], calls[60][1]
    with browser.Browser() as page:
        page.open(view(bench, archive), f"#o=waits,loops&t={begin}-{end}")
        page.wait("refrain.timelines[0].showsCalls() && refrain.timelines[0].calls.get(2)?.n > 0")
        row, height = run_json(page, "[refrain.timelines[0].y(2), refrain.timelines[0].rowHeight - 1]")
        drawing = ElementTree.fromstring(page.run("new XMLSerializer().serializeToString(refrain.timelines[0].toSvg())"))
        check_quiet(page)
    name = "{http://www.w3.org/2000/svg}"
    width = float(drawing.get("width"))
    found = [(float(rect.get("x")), float(rect.get("width"))) for rect in drawing.iter(name + "rect")
             if float(rect.get("y")) == row and float(rect.get("height")) == height]
    scale = (width - 132) / (end - begin)  # labels take 132 points
    for enter, leave in calls[31:60]:
        at, wide = 132 + (enter - begin) * scale, max(0.6, (leave - enter) * scale)
        if not any(abs(at - x) < 0.02 and abs(wide - w) < 0.02 for x, w in found):
            raise harness.Failure(f"no rectangle at {at}, {wide} wide, in {found}")
    texts = [text.text for text in drawing.iter(name + "text")]
    harness.compare("labels", [f"rank {rank}" in texts for rank in range(4)], [True] * 4)


def test_selection(bench):
    """A row of a table marks its call site in the timeline, and again does not."""
    archive = halo(bench)
    with browser.Browser() as page:
        page.open(view(bench, archive), "#o=")
        rows_of(page, "call paths")
        row = "[...document.querySelectorAll('#panel tbody tr')].find((tr) => tr.textContent.includes('MPI_Waitall'))"
        page.run(f"{row}.click()")
        harness.compare("selected", page.run("refrain.archives[0].functions[refrain.shared.selected.function].name"), "MPI_Waitall")
        page.wait("Object.keys((() => { const t = refrain.timelines[0]; const d = t.canvas.getContext('2d').getImageData(132, t.y(0) + 3, t.plot, 1).data; const c = {}; for (let i = 0; i < d.length; i += 4) c[d[i] + ',' + d[i+1] + ',' + d[i+2]] = 1; return c; })()).includes('240,228,66')")
        page.run("[...document.querySelectorAll('#panel th button')].find((b) => b.textContent === 'longest').click()")
        order = "[...document.querySelectorAll('#panel tbody tr')].map((tr) => tr.textContent)"
        sorted_rows = run_json(page, order)
        page.run(f"{row}.focus()")
        page.run(f"{row}.click()")
        harness.compare("unselected", page.run("refrain.shared.selected"), None)
        harness.compare("rows stay where they are", run_json(page, order), sorted_rows)
        harness.compare("focus", page.run(f"document.activeElement === {row}"), True)
        check_quiet(page)


# ---- from a finding to its place ----

CLICKS = {  # of programs/clicks.c: the late rank (None: any), where others wait for it, and how long at least, in ms
    "one": (2, "MPI_Barrier", "meet", 100),
    "turns": (None, "MPI_Recv", "take_turn", 12),
    "server": (0, "MPI_Recv", "ask", 8),
    "reader": (0, "MPI_Bcast", "load", 20),
    "places": (2, "MPI_Barrier", "meet", 5),
}


def innermost(event):
    """The function that makes a dumped call."""
    return event["call_path"].rsplit(" > ", 1)[-1].split("[")[0]


def check_place(page, what, events):
    """After the click: the call that waited is marked and in the middle of the window, and the late rank's row is chosen."""
    late, function, caller, least_ms = CLICKS[what]
    page.wait("refrain.shared.mark !== null")
    mark, view = run_json(page, "(({ mark, view }) => [{ stream: mark.stream, from: mark.from, to: mark.to }, view])(refrain.shared)")
    start = page.run("refrain.timelines[0].start")
    rank = page.run(f"refrain.archives[0].streams[{mark['stream']}].rank")
    marked = [e for e in events if e["rank"] == str(rank) and (int(e["enter_ns"]), int(e["exit_ns"])) == (mark["from"], mark["to"])]
    harness.compare(f"the call that {what} marks", [(e["function"], innermost(e)) for e in marked], [(function, caller)])
    if mark["to"] - mark["from"] < least_ms * 1e6:
        raise harness.Failure(f"{what}: a call of {mark['to'] - mark['from']} ns is marked, not one of {least_ms} ms")
    if not view["from"] <= mark["to"] - start - least_ms * 1e6 < mark["to"] - start <= view["to"]:
        raise harness.Failure(f"{what}: its wait up to {mark['to'] - start} is not in the window {view}")
    harness.compare("what is selected", run_json(page, "(({ archive, selected }) => [archive.functions[selected.function].name, archive.frames(selected.path).find((f) => !f.name.startsWith('MPI')).name])({ archive: refrain.archives[0], ...refrain.shared })"), [function, caller])
    chosen, shown = run_json(page, "(({ rows, row, top, shownRows, archive }) => [archive.streams[rows[row].stream].rank, row >= top && row < top + shownRows])(refrain.timelines[0])")
    harness.compare("the chosen row is on the screen", shown, True)
    if rank == chosen or (late is not None and chosen != late):
        raise harness.Failure(f"{what}: rank {chosen} is chosen; rank {rank} waits, for {late}")


def test_finding_leads_to_its_place(bench):
    """A click on the first finding shows the longest wait for the late rank, of several kinds of findings."""
    program = bench.program("clicks", "openmpi")
    with browser.Browser() as page:
        for what in CLICKS:
            archive = bench.record("openmpi", 4, [program, what])[1]
            page.open(view(bench, archive))
            page.run("document.querySelector('#summary button.story').click()")
            check_place(page, what, bench.dump(archive))
        check_quiet(page)


def test_two(bench):
    """Two archives lie below each other, with the same window, and their numbers beside each other."""
    archive = halo(bench)
    reduced = bench.fresh("reduced.rfn")
    bench.verb("reduce", archive, "-o", reduced)
    with browser.Browser() as page:
        page.open(view(bench, archive, reduced))
        harness.compare("timelines", page.run("document.querySelectorAll('.timeline canvas').length"), 2)
        check_calls(page, bench.dump(archive), 0)
        check_calls(page, bench.dump(reduced), 1)
        harness.compare("windows", page.run("refrain.timelines[0].from - refrain.timelines[0].start === refrain.timelines[1].from - refrain.timelines[1].start"), True)
        check_quiet(page)


def test_whatif(bench):
    """What whatif predicted, and where the events of its domino path are."""
    archive = halo(bench)
    facts = json.loads(bench.verb("whatif", "--json", "--events", "--domino", "3", archive))
    saved = bench.fresh("whatif.json")
    with open(saved, "w", encoding="utf-8") as file:
        json.dump(facts, file)
    of_rank = collections.defaultdict(list)
    for event in bench.dump(archive):
        of_rank[event["rank"]].append((int(event["enter_ns"]), int(event["exit_ns"])))
    places = [re.match(r"(?:event|before):(\d+)/(\d+)", step["selector"]).groups() for step in facts["domino"]]
    with browser.Browser() as page:
        page.open(view(bench, archive, options=("--whatif", saved)))
        found = run_json(page, "refrain.archives[0].dominoes.map((domino) => [domino.enter, domino.exit])")
        harness.compare("places", found, [list(of_rank[rank][int(index)]) for rank, index in places])
        rows = rows_of(page, "what if")
        harness.compare("steps", [row["removed"] for row in rows], [step["selector"] for step in facts["domino"]])
        check_quiet(page)
    for content in ("{", "{}"):
        with open(saved, "w", encoding="utf-8") as file:
            file.write(content)
        run = bench.run([bench.refrain, "view", "--force", "--whatif", saved, archive])
        harness.compare("exit status", (run.code, "refrain whatif --json" in run.err), (3, True))


# ---- what people may put in ----

def test_hostile(bench):
    """Names with markup, quotes and control characters are text."""
    source = bench.fresh("hostile.c")
    name = '<img src=x onerror=fetch(`http://127.0.0.1:9/`)></script><script>document.title=1</script>\\"\\x1b[31m\\x01'
    with open(source, "w", encoding="utf-8") as file:
        file.write(f"""#include <mpi.h>
#include <refrain/region.h>
int main(int argc, char **argv)
{{
    MPI_Init(&argc, &argv);
    refrain_region_begin("{name}");
    MPI_Barrier(MPI_COMM_WORLD);
    refrain_region_end("{name}");
    MPI_Finalize();
}}
""")
    program = bench.program(source, "openmpi")
    _, archive = bench.record("openmpi", 2, [program, "</script><b>", "\x02\"'&lt;"])
    with browser.Browser() as page:
        made = view(bench, archive)
        page.open(made, "#p=regions")
        harness.compare("elements that names made", page.run("document.querySelectorAll('img, b, main script').length"), 0)
        text = page.run("document.body.innerText")
        for part in ("<img src=x onerror=", "\\x1b[31m", "</script><b>"):
            if part not in text:
                raise harness.Failure(f"the page does not show {part!r}")
        if re.search("[\x00-\x08\x0b-\x1f\x7f]", text):
            raise harness.Failure("the page has control characters")
        check_quiet(page)
        page.run("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.injected = 1' }))")
        harness.compare("a script that somebody put in", page.run("window.injected"), None)
    with open(made, encoding="utf-8") as file:
        html = file.read()
    if "onerror" in html.split("<script type")[0] or "127.0.0.1" in html:
        raise harness.Failure("a name is in the HTML")


def test_mangled_names(bench):
    """Functions of C++ and of Fortran modules have the names of their source, in tables and in the timeline."""
    left_calls = bench.compiled("left_calls.openmpi", [
        "mpicxx.openmpi", "-std=gnu++17", "-O1", "-g", "-w", "-DOMPI_SKIP_MPICXX",
        os.path.join(harness.PROGRAMS, "left_calls.cpp")])
    folder = os.path.dirname(left_calls)
    functions = bench.compiled("functions.openmpi", [
        "mpifort.openmpi", "-O1", "-g", "-J", folder, os.path.join(harness.PROGRAMS, "fortran", "functions.F90")])
    for program, names in ((left_calls, ("meet_deeper", "handle_by")), (functions, ("solver::step",))):
        _, archive = bench.record("openmpi", 2, [program])
        with browser.Browser() as page:
            page.open(view(bench, archive))
            rows = rows_of(page, "call paths")
            shown = {"panel": page.run("document.querySelector('#panel').textContent"),
                     "table": "; ".join(row["from"] for row in rows),
                     "timeline": page.run("(({ archive }) => archive.paths.map((_, path) => archive.callName(0, path)).join('; '))(refrain.timelines[0])")}
            for where, text in shown.items():
                if any(name not in text for name in names) or "_Z" in text or "_MOD_" in text:
                    raise harness.Failure(f"{where}: {text[:2000]}, not {names}")
            page.run("document.querySelector('#panel tbody tr').click()")
            harness.compare("rows that are chosen", page.run("document.querySelectorAll('#panel tbody tr.picked').length"), 1)
            check_quiet(page)


def test_samples(bench):
    """An archive of samples alone shows latencies."""
    source = os.path.join(harness.HERE, "..", "examples", "halo.c")
    _, archive = bench.record("openmpi", 4, [bench.program(source, "openmpi"), "20", "16"], ["--sample=random:1"])
    sampling = report(bench, archive)["sampling"]
    with browser.Browser() as page:
        page.open(view(bench, archive))
        rows = rows_of(page, "latencies")
        harness.compare("first row", int(rows[0]["sampled"]), sampling["sampled"])
        harness.compare("bars of all messages", page.run("document.querySelector('.latencies g').querySelectorAll('rect.share').length"),
                        len(sampling["all"][0]["histogram"]))
        check_quiet(page)


def test_incomplete(bench):
    """A part of an archive makes a page that says so, with the exit status of bad input."""
    archive = halo(bench)
    cut = bench.fresh("cut.rfn")
    with open(archive, "rb") as file, open(cut, "wb") as to:
        to.write(file.read()[:-200])
    page = os.path.splitext(bench.fresh("cut.rfn"))[0] + ".html"
    run = bench.run([bench.refrain, "view", cut, "-o", page])
    harness.compare("exit status", run.code, 3)
    with browser.Browser() as shown:
        shown.open(page)
        if "incomplete" not in shown.run("document.getElementById('summary').textContent"):
            raise harness.Failure("the page does not say that the archive is incomplete")
        check_quiet(shown)


def test_refused(bench):
    """What cannot be shown makes no page."""
    archive = late(bench)
    _, timeless = bench.record("mpich", 2, [bench.program("family", "mpich")], ["--time=none"])
    page = view(bench, archive)
    for words, code, text in (
            ([archive, "-o", page], 1, "exists"), ([timeless], 1, "no times"), ([bench.fresh("none.rfn")], 1, "No such file"),
            ([], 2, "which archive"), ([archive, archive, archive], 2, "one archive, or two"), (["--window=1s-2s", archive], 2, "--text"),
            (["--text", "--open", archive], 2, "--open"), (["--text", "--window=900s-", archive], 2, "nothing is in the window"),
            (["--text", "--rank=7", archive], 2, "rank 7"), ([archive, "-o", "/nowhere/x.html"], 1, "/nowhere")):
        run = bench.run([bench.refrain, "view", *words])
        harness.compare(f"exit status of {words}", run.code, code)
        if text not in run.err:
            raise harness.Failure(f"{words}: {run.err}")
    if os.path.exists(os.path.splitext(timeless)[0] + ".html"):
        raise harness.Failure("there is a page all the same")


def make_test(name, ranks):
    def test(bench, flavour):
        _, archive = bench.record(flavour, ranks, [bench.program(name, flavour)], env={"EXPECT_OUT": bench.fresh("log")})
        facts, events = report(bench, archive), bench.dump(archive)
        with browser.Browser() as page:
            page.open(view(bench, archive))
            check_calls(page, events)
            check_waits(page, facts)
            check_messages(page, facts, test_perfetto.UNSEEN.get(name, 0))
            check_quiet(page)
    return harness.long(test)


for _name, _ranks in test_events.programs():
    globals()[f"test_{_name}"] = make_test(_name, _ranks)


# ---- in a terminal ----

def drawn(bench, archive, *options):
    """The letters of each rank."""
    run = bench.run([bench.refrain, "view", "--text", *options, archive], env={"COLUMNS": "92"}, check=True)
    return {line[:12].strip(): line[12:] for line in run.out.splitlines() if line.startswith("rank ")}


def test_text(bench):
    """A letter is what takes most of its time."""
    archive = late(bench)
    events = bench.dump(archive)
    begin, end = late_part(events)
    rows = drawn(bench, archive, f"--window={begin + 1000}ns-{end - 1000}ns")
    harness.compare("rows", rows, {"rank 0": "." * 80, "rank 1": "w" * 80})
    half = drawn(bench, archive, "--rank=1", f"--window={2 * begin - end}ns-{end - 1000}ns")
    harness.compare("ranks", list(half), ["rank 1"])
    harness.compare("the second half", half["rank 1"][41:], "w" * 39)
    coloured = bench.run([bench.refrain, "view", "--text", "--color=always", archive], check=True).out
    if "\x1b[38;5;166m" not in coloured or "\u2588" not in coloured:
        raise harness.Failure(f"no colours or blocks: {coloured!r}")
