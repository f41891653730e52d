"""Tables, traces for Paraver and GOAL schedules, read back by csv_tables.py, paraver.py and goal.py: each call and message
of the archive is there, with its times, bytes and call path."""
import collections
import json
import os
import re

import csv_tables
import goal
import harness
import paraver
import perfetto
import test_convert
import test_events
import test_waits

# Messages that were completed while recording was off: nobody knows when they were over; bytes of sends that
# failed (of a callback of MPI only its rank counts the send); runs whose messages are not all received as they were sent.
UNSEEN = {"pcontrol": 2}
UNSENT = {"callbacks": 0, "errors": 8}
ODD = ("errors", "pcontrol")
HALO = os.path.join(harness.HERE, "..", "examples", "halo.c")


def converted(bench, archive, suffix, *options):
    """(path, what convert says)"""
    path = os.path.splitext(bench.fresh("run.x"))[0] + suffix
    return path, json.loads(bench.verb("convert", "--json", archive, "-o", path, *options))


def tables_of(bench, archive, *options):
    path, said = converted(bench, archive, ".csv", *options)
    return csv_tables.Tables(path), said


def thread_name(rank, thread):
    return f"rank {rank}" + (f", thread {thread}" if int(thread) else "")


def escaped_frame(row):
    """A frame as refrain dump has it."""
    place = f"{row['file']}:{row['line']}" if row["file"] and row["line"] else f"{row['module']}+{row['offset']:#x}"
    return f"{row['function']}[{place}]" if row["function"] else f"[{place}]"


def is_call(event):
    return not event["function"].startswith("refrain_")


# ---- tables ----

def check_events(tables, events):
    expected = collections.Counter(
        (int(e["rank"]), int(e["thread"]), int(e["index"]), e["function"], int(e["enter_ns"]), int(e["exit_ns"]),
         harness.polls(e), e["call_path"].replace("\\s", " ")) for e in events)
    found = collections.Counter(
        (row["rank"], row["thread"], row["index"], row["function"], row["enter_ns"], row["exit_ns"], row["calls"],
         " > ".join(escaped_frame(frame) for frame in reversed(tables.paths.get(row["path"], [])))) for row in tables.events)
    harness.compare("events", found, expected)


def path_of(event, message, end):
    """The call path that a message has of one of its ends: of a matched receive it is the receive's, not the probe's, of a
    partitioned send that of its start."""
    return message[f"{end}_path"] if re.search("probe|Pready", event["function"]) else event["path"]


def check_messages(tables, report, name):
    """Ends of messages are events, with their times; there are as many as the report has."""
    events = {(row["rank"], row["thread"], row["index"]): row for row in tables.events}
    harness.compare("messages", len(tables.messages), report["matching"]["matched"] - UNSEEN.get(name, 0))
    for row in tables.messages:
        sent = events[row["source"], row["send_thread"], row["send_index"]]
        received = events[row["dest"], row["receive_thread"], row["receive_index"]]
        harness.compare("begins", (row["send_ns"], row["receive_ns"], row["send_path"], row["receive_path"]),
                        (sent["enter_ns"], received["enter_ns"], path_of(sent, row, "send"),
                         path_of(received, row, "receive")))
        for end in ("send", "receive"):
            if row[f"{end}_end_index"] is None:
                harness.compare("exit", row[f"{end}_end_ns"], None)
    sent = sum(row["sent_bytes"] for row in tables.ranks)
    harness.compare("bytes that are sent", sent + UNSENT.get(name, 0),
                    sum(pair["bytes"] for pair in report["communication_matrix"]))
    for row, rank in zip(tables.ranks, report["time_per_rank"], strict=True):
        columns = ["rank", "events", "calls", "threads"] + ([] if name in UNSENT else ["messages", "sent_bytes"])
        harness.compare("rank", [row[column] for column in columns], [rank[column] for column in columns])


def check_waits(tables, report):
    found = collections.Counter()
    for row in tables.waits:
        found[row["pattern"]] += row["total_ns"]
    expected = {name: harness.ns(seconds) for name, seconds in report["waits"]["by_pattern"].items()}
    harness.compare("waits", dict(found), {name: ns for name, ns in expected.items() if ns})
    causes = sum(row["total_ns"] for row in tables.causes)
    harness.compare("causes", causes, harness.ns(report["waits"]["total_seconds"] - report["waits"]["unexplained_seconds"]))


def check_tables(bench, archive, events, report, name):
    tables, said = tables_of(bench, archive)
    check_events(tables, events)
    check_messages(tables, report, name)
    check_waits(tables, report)
    harness.compare("said", (said["calls"], said["messages"]), (sum(map(is_call, events)), len(tables.messages)))
    return tables


# ---- Paraver ----

def since_start(ns):
    return max(int(ns), 0)


def check_paraver(bench, archive, events, tables, suffix=".prv"):
    path, said = converted(bench, archive, suffix)
    trace = paraver.Trace(path)
    expected = collections.defaultdict(list)
    for event in filter(is_call, events):
        expected[thread_name(event["rank"], event["thread"])].append(
            (event["function"], since_start(event["enter_ns"]), since_start(event["exit_ns"])))
    for thread, calls in trace.calls.items():
        harness.compare(thread, [call[:3] for call in calls], expected[thread])
    sent = collections.Counter(
        (thread_name(row["source"], row["send_thread"]), thread_name(row["dest"], row["receive_thread"]),
         since_start(row["send_ns"]), since_start(row["receive_ns"]),
         since_start(row["receive_ns"] if row["receive_end_ns"] is None else row["receive_end_ns"]),
         row["bytes"], row["tag"]) for row in tables.messages)
    found = collections.Counter((m.sender, m.receiver, m.posted, m.receive_posted, m.received, m.bytes, m.tag)
                                for m in trace.messages)
    harness.compare("messages", found, sent)
    harness.compare("said", (said["calls"], said["messages"]), (sum(map(len, trace.calls.values())), len(trace.messages)))
    return trace


# ---- GOAL ----

def read_goal(path):
    return goal.Schedule(test_convert.opened(path))


def check_goal(bench, archive, report, tables, name):
    """A schedule that runs to its end with sends that wait and that do not; None: the run is none that actions can tell."""
    path = os.path.splitext(bench.fresh("run.x"))[0] + ".goal"
    run = bench.run([bench.refrain, "convert", "--json", archive, "-o", path])
    if run.code:
        if run.code != 1 or not re.search(r"rank \d+, event \d+: |threads", run.err) or os.path.exists(path):
            raise harness.Failure(f"exit {run.code}: {run.err}")
        return None
    schedule, said = read_goal(path), json.loads(run.out)
    harness.compare("lines", said["lines"], len(test_convert.opened(path).splitlines()))
    if name not in ODD:
        harness.compare("messages", schedule.run(True), len(schedule.operations("send")))
    sent = collections.Counter()
    for rank, one in schedule.operations("send"):
        if one.tag < test_convert.OWN_TAGS:
            sent[rank, one.peer] += one.bytes
    expected = collections.Counter()
    for pair in report["communication_matrix"]:
        expected[pair["source"], pair["dest"]] += pair["bytes"]
    for row in tables.messages:
        expected[row["source"], row["dest"]] += row["bytes"] == 0  # written as one byte
    if name not in UNSENT:
        harness.compare("bytes", +sent, +expected)
    return schedule


def check(bench, archive, name=""):
    events, report = bench.dump(archive), test_waits.report(bench, archive)
    tables = check_tables(bench, archive, events, report, name)
    trace = check_paraver(bench, archive, events, tables)
    return events, report, tables, trace, check_goal(bench, archive, report, tables, name)


def make_test(name, ranks):
    def test(bench, flavour):
        _, archive = bench.record(flavour, ranks, [bench.program(name, flavour)], env={"EXPECT_OUT": bench.fresh("log")})
        check(bench, archive, name)
    return harness.long(test)


for _name, _ranks in test_events.programs():
    globals()[f"test_{_name}"] = make_test(_name, _ranks)


# ---- known answers ----

# Calls of the example that no action is of: their time counts as computing.
SILENT = ("MPI_Comm_size", "MPI_Comm_rank", "MPI_Dims_create", "MPI_Cart_coords", "MPI_Cart_shift", "MPI_Comm_free")


def halo(bench):
    program = bench.program(HALO, "openmpi", ["-finstrument-functions"])
    return bench.record("openmpi", 4, [program, "20", "16"])[1]


def test_halo(bench):
    """All numbers of the example, which has no polls."""
    archive = halo(bench)
    events, report, tables, trace, schedule = check(bench, archive)
    pieces = harness.own_pieces(archive)  # one thread per rank: a rank's stream has its number
    for row, rank in zip(tables.ranks, report["time_per_rank"], strict=True):
        harness.compare("times", (row["mpi_ns"], row["outside_ns"]),
                        (harness.ns(rank["mpi_seconds"]), harness.ns(rank["outside_seconds"]) + harness.ns(rank["recording_seconds"])))
        own = [e for e in tables.events if e["rank"] == row["rank"]]
        harness.compare("sums", (sum(e["inside_ns"] for e in own),
                                 sum(e["sent_bytes"] or 0 for e in own if e["dest"] is not None),
                                 sum(e["received_bytes"] or 0 for e in own if e["function"] == "MPI_Waitall")),
                        (row["mpi_ns"], row["sent_bytes"],
                         sum(m["bytes"] for m in tables.messages if m["dest"] == row["rank"])))
        ran = sum(end - begin for begin, end in trace.runs[f"rank {row['rank']}"])
        computed = sum(one.bytes for rank, one in schedule.operations("calc") if rank == row["rank"])
        silent = sum(e["inside_ns"] for e in own if e["function"] in SILENT)
        harness.compare("computing", (ran, computed), (
            row["outside_ns"],
            row["outside_ns"] + silent - sum(end - begin for begin, end in pieces.get(row["rank"], []))))
    for event in tables.events:
        if event["function"] == "MPI_Isend":
            harness.compare("of a message", (event["sent_bytes"], event["received_bytes"], event["tag"] in range(4)),
                            (128, None, True))
    kinds = {call.function: (call.state, call.callers[0], call.lines[0].split("/")[-1].split(":")[0], call.sent)
             for call in trace.calls["rank 0"]}
    harness.compare("an Isend", kinds["MPI_Isend"], ("Immediate Send", "exchange", "halo.c", None))
    harness.compare("an Allreduce", kinds["MPI_Allreduce"][::3], ("Group Communication", 8))
    harness.compare("runs with sends that wait", schedule.run(False), len(schedule.operations("send")))
    check_paraver(bench, archive, events, tables, ".prv.gz")


def test_late_sender(bench):
    """Who waited, and for what."""
    _, archive = bench.record("openmpi", 3, [bench.program("late_sender", "openmpi")])
    tables = check(bench, archive)[2]
    waits = {row["rank"]: row for row in tables.waits if row["pattern"] == "late_sender"}
    harness.compare("who waited", sorted(waits), [1, 2])
    cause = max(tables.causes, key=lambda row: row["total_ns"])
    harness.compare("cause", tuple(cause[name] for name in ("pattern", "waited_function", "activity", "rank", "function")),
                    ("late_sender", "MPI_Recv", "compute", 0, "MPI_Send"))
    if not all(row["total_ns"] > 100e6 for row in waits.values()):
        raise harness.Failure(waits)
    harness.compare("messages", sorted((m["source"], m["dest"], m["tag"], m["bytes"]) for m in tables.messages),
                    [(0, 1, 5, 4), (0, 2, 5, 4)])


def test_regions(bench, flavour):
    """Names that mean something to readers stay names."""
    _, archive = bench.record(flavour, 2, [bench.program("hostile_names", flavour)])
    names = ["=cmd()", "+1", "-1", "@x", "a,b", 'say "no"', "two\\nlines", "\\x0d\\x01:", "back\\\\", "{}", "rank 0 {\\nl1"]
    events, _, tables, trace, _ = check(bench, archive)
    found = [row["region"] for row in tables.events if row["rank"] == 1 and row["function"] == "refrain_region_begin"]
    harness.compare("tables", found, ["'" + name if name[0] in "=+-@" else name for name in names])
    harness.compare("Paraver", [name for name, _, _ in trace.regions["rank 1"]], names)
    begins = [int(e["enter_ns"]) for e in events if e["rank"] == "1" and e["function"] == "refrain_region_begin"]
    harness.compare("begins", [begin for _, begin, _ in trace.regions["rank 1"]], begins)


GOAL = """num_ranks 2

rank 0 {
l1: calc 100
l2: recv 16b from 1 tag 3
l2 requires l1
l3: send 8b to 1 tag 0
l3 irequires l2
l4: calc 7
l4 irequires l3
l5: send 1b to 1 tag 0
l5 requires l2
l5 requires l4
l6: recv 1b from 1 tag 1610612736
l6 requires l5
l7: send 1b to 1 tag 1610612736
l7 irequires l6
l8: calc 2000000005
l8 requires l6
l8 requires l7
}

rank 1 {
l1: send 16b to 0 tag 3
l2: recv 8b from -1 tag 0
l2 requires l1
l3: recv 1b from 0 tag 0
l3 requires l2
l4: recv 1b from 0 tag 1610612736
l4 requires l3
l5: send 1b to 0 tag 1610612736
l5 irequires l4
}
"""


def test_goal_of_text(bench):
    """A schedule, line for line."""
    text = test_convert.written(bench, "two.txt", """0 init
0 compute 100
0 irecv 1 3 16
0 isend 1 0 8
0 compute 7.5
0 wait 1 0 3
0 send 1 0 0
0 barrier
0 compute 4.5
0 sleep 2
0 finalize
1 init
1 send 0 3 16
1 recv -555 0 8
1 recv 0 0 0
1 barrier
1 finalize
""")
    path = os.path.splitext(bench.fresh("run.x"))[0] + ".goal"
    run = bench.run([bench.refrain, "convert", text, "-o", path], check=True)
    harness.compare("schedule", test_convert.opened(path), GOAL)
    for said in ("volumes of the text count as ns", "2 collective calls became messages"):
        harness.compare(said, said in run.err, True)
    harness.compare("messages", read_goal(path).run(True), 5)
    bench.verb("convert", text, "-o", path + ".gz")
    harness.compare("compressed", test_convert.opened(path + ".gz"), GOAL)
    ring = test_convert.RING
    for rank in range(4):
        ring = ring.replace(f" recv {rank}\n", f" recv {rank} 1e6\n")
    path, _ = converted(bench, test_convert.written(bench, "ring.txt", ring), ".goal")
    harness.compare("ring", (read_goal(path).run(True), read_goal(path).run(False)), (4, 4))
    harness.compare("computing", [one.bytes for _, one in read_goal(path).operations("calc")], [1000000] * 4)


def test_collectives(bench):
    """Each becomes messages that are all received, of calls with a request too."""
    program = bench.program("collectives", "openmpi")
    _, archive = bench.record("openmpi", 3, [program], env={"EXPECT_OUT": bench.fresh("log")})
    schedule = check(bench, archive)[4]
    if not any(one.tag >= test_convert.OWN_TAGS and one.bytes > 1 for _, one in schedule.operations("send")):
        raise harness.Failure("no call became messages")


# ---- parts of a run ----

def in_window(row, begin, end):
    return row["exit_ns"] >= begin and row["enter_ns"] <= end


def test_parts(bench):
    """Tables, traces for Paraver and for Perfetto of some ranks and times have just these."""
    archive = halo(bench)
    whole, _ = tables_of(bench, archive)
    times = sorted(row["enter_ns"] for row in whole.events if row["function"] == "MPI_Isend")
    begin, end = times[len(times) // 4], times[len(times) // 2]
    options = ["--window", f"{begin / 1e3:.3f}us-{end}", "--ranks", "0,2-3"]
    part, said = tables_of(bench, archive, *options)
    harness.compare("tables", part.names, ["call_paths.csv", "events.csv", "messages.csv", "ranks.csv"])
    expected = [row for row in whole.events if row["rank"] != 1 and in_window(row, begin, end)]
    harness.compare("events", part.events, expected)
    harness.compare("messages", part.messages,
                    [m for m in whole.messages if 1 not in (m["source"], m["dest"]) and m["receive_end_ns"] >= begin and
                     m["send_ns"] <= end])
    if not (0 < len(part.messages) < len(whole.messages) / 2 and 0 < len(expected) < len(whole.events) / 2):
        raise harness.Failure("nothing, or everything, is in the part")
    harness.compare("ranks", [(row["rank"], row["events"], row["mpi_ns"]) for row in part.ranks],
                    [(rank, len(own), sum(row["inside_ns"] for row in own)) for rank in (0, 2, 3)
                     for own in [[row for row in expected if row["rank"] == rank]]])
    harness.compare("said", (said["ranks"], said["calls"]), (3, len(expected)))
    path, said = converted(bench, archive, ".prv", *options)
    trace = paraver.Trace(path)
    harness.compare("tasks", (trace.rows["TASK"], len(trace.messages)), (["rank 0", "rank 2", "rank 3"], len(part.messages)))
    for rank in (0, 2, 3):
        harness.compare("calls", [call[:3] for call in trace.calls[f"rank {rank}"]],
                        [(row["function"], row["enter_ns"], row["exit_ns"]) for row in expected if row["rank"] == rank])
        ran = sum(last - first for first, last in trace.runs[f"rank {rank}"])
        harness.compare("computing", [ran], [row["outside_ns"] for row in part.ranks if row["rank"] == rank])
    path, said = converted(bench, archive, ".pftrace", *options)
    check_perfetto_part(path, said, expected)
    told = bench.run([bench.refrain, "convert", archive, "-o", bench.fresh("told.csv"), *options], check=True).err
    harness.compare("told", "waits.csv and causes.csv are of whole runs" in told, True)


def check_perfetto_part(path, said, expected):
    with open(path, "rb") as file:
        trace = perfetto.Trace(file.read())
    found = collections.Counter((trace.tracks[track][0], one.name, one.begin, one.end)
                                for track, slices in trace.slices.items() for one in slices if one.category == "mpi")
    calls = collections.Counter((f"rank {row['rank']}", row["function"], row["enter_ns"], row["exit_ns"]) for row in expected)
    harness.compare("slices", found, calls)
    first, last = min(row["enter_ns"] for row in expected), max(row["exit_ns"] for row in expected)
    loops = [one for slices in trace.slices.values() for one in slices if one.category == "loop"]
    harness.compare("loops", (bool(loops), all(first <= one.begin <= one.end <= last for one in loops)), (True, True))
    harness.compare("said", (said["ranks"], said["calls"]), (3, len(expected)))


def test_open_windows(bench):
    archive = halo(bench)
    whole, _ = tables_of(bench, archive)
    middle = sorted(row["enter_ns"] for row in whole.events)[len(whole.events) // 2]
    before, after = (tables_of(bench, archive, f"--window={window}")[0].events for window in (f"-{middle}ns", f"{middle}-"))
    harness.compare("before", before, [row for row in whole.events if row["enter_ns"] <= middle])
    harness.compare("after", after, [row for row in whole.events if row["exit_ns"] >= middle])
    harness.compare("all ranks", tables_of(bench, archive, "--ranks=0-3")[0].waits, whole.waits)
    empty = tables_of(bench, archive, "--window=1000s-")[0]
    harness.compare("nothing", (empty.events, empty.messages, len(empty.ranks)), ([], [], 4))


# ---- refusals ----

def test_formats_refused(bench):
    archive = halo(bench)
    _, timeless = bench.record("openmpi", 2, [bench.program("late_sender", "openmpi")], ["--time=none"])
    ring = test_convert.written(bench, "ring.txt", test_convert.RING)
    there = {suffix: converted(bench, archive, suffix)[0] for suffix in (".csv", ".prv", ".goal")}
    other = bench.fresh("other.csv")
    os.mkdir(other)
    for words, code, text in (
            ([archive, "-o", "x.csv", "--window", "soon"], 2, "--window takes FROM-TO"),
            ([archive, "-o", "x.csv", "--window", "-"], 2, "--window takes FROM-TO"),
            ([archive, "-o", "x.csv", "--window", "1s"], 2, "--window takes FROM-TO"),
            ([archive, "-o", "x.csv", "--window", "1s-2x"], 2, "--window takes a time"),
            ([archive, "-o", "x.csv", "--window", "2s-1s"], 2, "begins behind its end"),
            ([archive, "-o", "x.csv", "--ranks", "2-1"], 2, "is not a list of ranks"),
            ([archive, "-o", "x.csv", "--ranks", "3-4"], 2, "there is no rank 4"),
            ([archive, "-o", "x.goal", "--ranks", "0"], 2, "--window and --ranks are for csv"),
            ([archive, "-o", "x.otf2", "--window", "0-1s"], 2, "--window and --ranks are for csv"),
            ([archive, "-o", "x.txt", "--window", "0-1s"], 2, "--window and --ranks are for csv"),
            ([archive, "-o", "x.trace", "--to", "paraver"], 2, ".prv"),
            ([archive, "-o", "x.prv.zst"], 2, ".prv"),
            ([archive, "-o", "x.prv", "--measured"], 2, "--measured is about text"),
            ([archive, "-o", "x", "--to", "tables"], 2, "--to is archive, csv, goal"),
            ([there[".prv"], "-o", "x.rfn"], 2, "only written"),
            ([ring, "-o", "x.csv"], 2, "an archive is needed in between"),
            ([ring, "-o", "x.prv"], 2, "an archive is needed in between"),
            ([ring, "-o", "x.goal"], 1, "rank 0, event or line 4 receives a message of a size that the trace does not tell"),
            ([timeless, "-o", "x.csv"], 1, "has no times"), ([timeless, "-o", "x.prv"], 1, "has no times"),
            *(([archive, "-o", path], 1, "--force replaces it") for path in there.values()),
            ([archive, "--force", "-o", other], 1, "is no folder with tables of a run")):
        run = bench.run([bench.refrain, "convert", *words])
        if run.code != code or text not in run.err or os.path.exists(bench.path(words[2])) != words[2].startswith("/"):
            raise harness.Failure(f"{words}: exit {run.code}: {run.err}")


def test_formats_replaced(bench):
    """With --force, when the new ones are whole; other files in a folder of tables are safe."""
    archive = halo(bench)
    for suffix in (".csv", ".prv", ".goal"):
        path, _ = converted(bench, archive, suffix)
        before = os.stat(path).st_mtime_ns
        bench.verb("convert", "--force", archive, "-o", path)
        if os.stat(path).st_mtime_ns == before:
            raise harness.Failure(f"{path} is the old one")
    folder, _ = converted(bench, archive, ".csv")
    mine = test_convert.written(bench, os.path.join(folder, "my_events.csv"), "mine")
    os.rename(mine, os.path.join(folder, "my_events.csv"))
    run = bench.run([bench.refrain, "convert", "--force", archive, "-o", folder])
    harness.compare("other files", (run.code, "has other files" in run.err, len(os.listdir(folder))), (1, True, 7))
    path, _ = converted(bench, archive, ".prv")
    os.remove(path)
    run = bench.run([bench.refrain, "convert", archive, "-o", path])
    harness.compare("names are there", (run.code, os.path.exists(path)), (1, False))
    path, _ = converted(bench, archive, ".goal")
    before = test_convert.opened(path)
    bad = test_convert.written(bench, "bad.txt", "0 init\n0 send 1 0 8\n1 init\n1 recv 0 0 8\n1 nothing\n")
    run = bench.run([bench.refrain, "convert", "--force", bad, "-o", path])
    harness.compare("the old one stays", (run.code, test_convert.opened(path)), (3, before))
    left = [name for name in os.listdir(bench.folder) if name.endswith(".part") or re.search(r"\.csv\.\w{6}$", name)]
    harness.compare("left behind", left, [])
    bench.verb("convert", archive, "-o", bench.path("slash.csv") + "/")
    harness.compare("a slash", len(os.listdir(bench.path("slash.csv"))), 6)
