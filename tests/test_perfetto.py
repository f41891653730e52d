"""Traces for Perfetto, read back by perfetto.py: each call, message, function and region of the archive is there."""
import collections
import gzip
import json
import os

import harness
import perfetto
import test_events
import test_waits



# Messages that were completed while recording was off.
UNSEEN = {"pcontrol": 2}


def convert(bench, archive, suffix=".pftrace"):
    path = os.path.splitext(bench.fresh("trace.rfn"))[0] + suffix
    said = json.loads(bench.verb("convert", "--json", archive, "-o", path))
    with gzip.open(path) if suffix.endswith(".gz") else open(path, "rb") as file:
        return perfetto.Trace(file.read()), said


def calls_of(trace, name):
    """Of the track with a name: (function, enter, exit) of its calls."""
    uuid = next(uuid for uuid, (found, _) in trace.tracks.items() if found == name)
    return [(s.name, s.begin, s.end) for s in trace.slices.get(uuid, []) if s.category == "mpi"]


def expected_calls(events):
    return [(e["function"], int(e["enter_ns"]), int(e["exit_ns"])) for e in events if not e["function"].startswith("refrain_")]


def check(bench, archive, suffix=".pftrace", unseen=0):
    trace, said = convert(bench, archive, suffix)
    events = bench.dump(archive)
    of_stream = collections.defaultdict(list)
    for event in events:
        of_stream[event["rank"], event["thread"]].append(event)
    for (rank, thread), own in of_stream.items():
        name = f"rank {rank}" + (f", thread {thread}" if thread != "0" else "")
        harness.compare(name, calls_of(trace, name), expected_calls(own))
    harness.compare("calls", said["calls"], sum(len(expected_calls(own)) for own in of_stream.values()))
    check_flows(bench, archive, trace, said, unseen)
    return trace


def check_flows(bench, archive, trace, said, unseen):
    """An arrow per message whose receive was completed by a call that is recorded: all but `unseen`."""
    sent, received = {}, {}
    for slices in trace.slices.values():
        for one in slices:
            for flow in one.sends:
                harness.compare("arrows begin once", flow in sent, False)
                sent[flow] = one
            for flow in one.receives:
                harness.compare("arrows end once", flow in received, False)
                received[flow] = one
    harness.compare("arrows that end begin", set(received) - set(sent), set())
    matched = test_waits.report(bench, archive)["matching"]["matched"]
    harness.compare("messages", (len(received), said["messages"]), (matched - unseen, matched - unseen))


def make_test(name, ranks):
    def test(bench, flavour):
        _, archive = bench.record(flavour, ranks, [bench.program(name, flavour)], env={"EXPECT_OUT": bench.fresh("log")})
        check(bench, archive, unseen=UNSEEN.get(name, 0))
    return harness.long(test)


for _name, _ranks in test_events.programs():
    globals()[f"test_{_name}"] = make_test(_name, _ranks)


def halo(bench, *options):
    source = os.path.join(harness.HERE, "..", "examples", "halo.c")
    program = bench.program(source, "openmpi", ["-finstrument-functions"])
    return bench.record("openmpi", 4, [program, "20", "16"], options)[1]


def test_halo(bench):
    """Functions lie around their calls; each message has its size and ranks."""
    archive = halo(bench)
    for suffix in (".pftrace", ".pftrace.gz"):
        trace = check(bench, archive, suffix)
    tracks = {name: uuid for uuid, (name, _) in trace.tracks.items()}
    slices = trace.slices[tracks["rank 0"]]
    harness.compare("outermost", [(s.name, s.depth) for s in slices if s.depth == 0], [("main", 0)])
    main = slices[0]
    harness.compare("main is around all", (main.begin, main.end), (slices[1].begin, max(s.end for s in slices)))
    for one in slices:
        if one.name == "MPI_Irecv":
            harness.compare("in exchange", one.depth, 2)
        if one.name == "MPI_Isend":
            harness.compare("of a message", sorted(one.facts), ["called at", "sent bytes", "sent tag", "to rank"])
            if not one.facts["called at"].startswith("examples/halo.c:"):
                raise harness.Failure(one.facts)
    sent = sum(one.facts["sent bytes"] for own in trace.slices.values() for one in own if one.name == "MPI_Isend")
    total = sum(row["bytes"] for row in json.loads(bench.verb("report", "--json", archive))["communication_matrix"])
    harness.compare("bytes", sent, total)


def test_loops(bench):
    """Two times ten exchanges, each ten followed by a sum. Iterations fill their loops without gaps."""
    archive = halo(bench)
    trace, _ = convert(bench, archive)
    for rank in range(4):
        name = f"rank {rank}"
        parent = next(uuid for uuid, (found, _) in trace.tracks.items() if found == name)
        loops = next(uuid for uuid, track in trace.tracks.items() if track == ("loops", parent))
        slices = trace.slices[loops]
        harness.compare("category", {one.category for one in slices}, {"loop"})
        harness.compare(name, [(one.depth, one.facts["iterations"]) for one in slices if one.name == "loop"],
                        [(0, 2), (2, 10), (2, 10)])
        for one in (one for one in slices if one.name == "loop"):
            if not one.facts["called at"].startswith("examples/halo.c:"):
                raise harness.Failure(one.facts)
            own = [each for each in slices if each.depth == one.depth + 1 and one.begin <= each.begin < one.end]
            harness.compare("iterations", (len(own), {each.name for each in own}), (one.facts["iterations"], {"iteration"}))
            harness.compare("begin and end", ([each.end for each in own], own[0].begin),
                            ([each.begin for each in own[1:]] + [one.end], one.begin))
        ends = {at for _, begin, end in calls_of(trace, name) for at in (begin, end)}
        harness.compare("begin and end with calls", {one.begin for one in slices} | {one.end for one in slices} <= ends, True)


def test_regions(bench, flavour):
    """On tracks of their own, as often as the report counts."""
    _, archive = bench.record(flavour, 2, [bench.program("region_times", flavour), "5", "1"])
    trace, _ = convert(bench, archive)
    found = collections.Counter()
    for one in (s for slices in trace.slices.values() for s in slices if s.category == "region"):
        found[one.name] += 1
        harness.compare("a track below its rank", trace.tracks[trace.tracks[one.track][1]][0][:5], "rank ")
    rows = json.loads(bench.verb("report", "--json", archive))["regions"]
    harness.compare("visits", found, {row["name"]: row["visits"] for row in rows})


def test_refused(bench):
    _, timeless = bench.record("mpich", 2, [bench.program("family", "mpich")], ["--time=none"])
    path = bench.fresh("no.pftrace")
    for words, code, text in (([timeless, "-o", path], 1, "has no times"), ([path, "-o", bench.fresh("x.rfn")], 2, "only written")):
        run = bench.run([bench.refrain, "convert", *words])
        if run.code != code or text not in run.err or os.path.exists(path):
            raise harness.Failure(f"{words}: {run.code} {run.err}")
    archive = halo(bench)
    bench.verb("convert", archive, "-o", path)
    again = bench.run([bench.refrain, "convert", archive, "-o", path])
    harness.compare("exists", (again.code, "--force replaces it" in again.err), (1, True))
    bench.verb("convert", "--force", archive, "-o", path)
