"""OTF2 traces become archives and archives OTF2 traces (refrain convert): of traces that libotf2 itself has written
it is known what they say, and otf2-print reads what refrain writes."""
import json
import os
import random
import re
import shutil

import harness

EVENT = re.compile(r"^([A-Z_]+)\s+(\d+)\s+(\d+)\s+(.*)$")
REFERENCE = re.compile(r" ?<\d+>")
SENDS = ("MPI_SEND", "MPI_ISEND")


def trace(bench, kind):
    """The anchor file of a trace of tests/programs/otf2_traces.c."""
    source = os.path.join(harness.PROGRAMS, "otf2_traces.c")
    program = bench.compiled("otf2_traces", ["cc", "-std=gnu11", "-O1", source, "-lopen-trace-format2"])
    folder = bench.fresh(f"{kind}.otf2")
    bench.run([program, kind, folder], check=True)
    return os.path.join(folder, "traces.otf2")


def to_archive(bench, anchor, *options):
    """What convert says as JSON, and the archive, which is whole."""
    out = bench.fresh("converted.rfn")
    told = json.loads(bench.verb("convert", anchor, "-o", out, "--json", *options))
    bench.verb("verify", out)
    return told, out


def to_otf2(bench, archive):
    out = bench.fresh("written.otf2")
    told = json.loads(bench.verb("convert", archive, "--to", "otf2", "-o", out, "--json"))
    return told, os.path.join(out, "traces.otf2")


def printed(bench, anchor):
    """What otf2-print reads, without the numbers of definitions; it complains of nothing."""
    run = bench.run(["otf2-print", anchor], check=True)
    harness.compare("what otf2-print complains of", run.err, "")
    return [REFERENCE.sub("", line) for line in run.out.split("\n")]


def events_of(lines):
    """(event, location, time, attributes) of each line that is an event."""
    found = [EVENT.match(line) for line in lines]
    return [(match[1], int(match[2]), int(match[3]), match[4]) for match in found if match]


def count(events, *names):
    return sum(event[0] in names for event in events)


def words(event):
    """An event of a dump in short."""
    return f"{event['enter_ns']} {event['exit_ns']} {event['function']} {event['parameters']}"


def dumped(bench, archive, rank):
    return [event for event in bench.dump(archive) if event["rank"] == str(rank)]


# ---- traces whose events are known ----

def test_late_sender(bench):
    """Rank 1 waits 4 ms in MPI_Recv, for rank 0, which calls MPI_Send 5 ms after the begin; its clock and its numbers
    of regions are its own."""
    told, archive = to_archive(bench, trace(bench, "late"))
    harness.compare("facts", [told[name] for name in ("ranks", "streams", "otf2_events", "calls", "unresolved")],
                    [2, 2, 10, 2, 0])
    harness.compare("rank 0", [words(e) for e in dumped(bench, archive, 0)], [
        "5000000 5100000 MPI_Send count=800 datatype=MPI_BYTE dest=1 tag=7 comm=world bytes=800"])
    harness.compare("rank 1", [words(e) for e in dumped(bench, archive, 1)], [
        "1000000 5200000 MPI_Recv count=800 datatype=MPI_BYTE source=0 tag=7 comm=world bytes=800"])
    report = json.loads(bench.verb("report", archive, "--json"))
    waits = [(wait["pattern"], wait["seconds"], wait["seconds_by_rank"], wait["call_path"])
             for wait in report["wait_states"]]
    harness.compare("waits", waits, [("late_sender", 0.004, [0.0, 0.004], "MPI_Recv < main (app.c:3)")])
    harness.compare("hosts", [host["name"] for host in report["hosts"]], ["even", "odd"])


# Of rank 1, which is rank 0 of the communicator of the ranks 1 and 3.
SCOREP = """\
100 110 MPI_Init
120 120 refrain_region_begin name=solve
200 210 MPI_Irecv count=101 datatype=MPI_BYTE source=0 tag=9 comm=world
220 230 MPI_Isend count=102 datatype=MPI_BYTE dest=2 tag=9 comm=world bytes=102
240 250 MPI_Test request=recent:2 polls=1
260 300 MPI_Waitall count=2 array_of_requests=[recent:2,recent:1] completed=[0(source=0,tag=9,bytes=101),1] bytes=101
310 320 MPI_Allreduce count=24 datatype=MPI_BYTE op=MPI_OP_NULL comm=world bytes=24
330 340 MPI_Bcast count=50 datatype=MPI_BYTE root=1 comm=world bytes=50
350 360 MPI_Scan count=8 datatype=MPI_BYTE op=MPI_OP_NULL comm=world bytes=8
370 380 MPI_Gatherv sendcount=11 sendtype=MPI_BYTE recvcounts=NULL recvtype=MPI_DATATYPE_NULL root=0 comm=world bytes=11
390 400 MPI_Iallreduce count=32 datatype=MPI_BYTE op=MPI_OP_NULL comm=world bytes=32
410 420 MPI_Wait request=recent:1
430 440 MPI_Recv count=77 datatype=MPI_BYTE source=1 tag=3 comm=comm#1 bytes=77
450 460 MPI_Barrier comm=comm#1
465 465 refrain_region_end name=solve
470 480 MPI_Irecv count=0 datatype=MPI_BYTE source=ANY_SOURCE tag=ANY_TAG comm=world
490 500 MPI_Cancel
510 520 MPI_Wait request=recent:1 cancelled=1
530 540 MPI_File_write bytes=0
550 560 MPI_Finalize"""


def test_requests_and_collectives(bench):
    told, archive = to_archive(bench, trace(bench, "scorep"))
    harness.compare("left out", told["left_out"],
                    {"io": 4, "threads": 4, "one_sided": 0, "other": 0, "locations": 1})
    events = dumped(bench, archive, 1)
    harness.compare("rank 1", [words(event).rstrip() for event in events], SCOREP.split("\n"))
    paths = {event["function"]: event["call_path"] for event in events}
    harness.compare("path", paths["MPI_Isend"], "main[app.c:3] > step[step.c:20]")
    harness.compare("path behind it", paths["MPI_Bcast"], "main[app.c:3]")
    harness.compare("instructions", [(e["volume_gap"], e["volume_inside"]) for e in events if e["function"] in (
        "MPI_Init", "MPI_Irecv")][:2], [("5000", "300"), ("3701", "0")])
    gathered = [event for event in dumped(bench, archive, 0) if event["function"] == "MPI_Gatherv"]
    harness.compare("counts of the root: its own, and the others' mean",
                    harness.parameter(gathered[0], "recvcounts"), "[10,12,12,12]")
    matching = json.loads(bench.verb("report", archive, "--json"))["matching"]
    harness.compare("matching", [matching[name] for name in (
        "messages", "matched", "cancelled", "collectives", "unmatched_collectives")], [5, 5, 4, 8, 0])


def test_other_metric(bench):
    _, archive = to_archive(bench, trace(bench, "scorep"), "--metric", "PAPI_L2_TCM")
    run = json.loads(bench.verb("info", archive, "--json"))
    harness.compare("volume", run["volume"], "papi:PAPI_L2_TCM")
    run = bench.run([bench.refrain, "convert", trace(bench, "scorep"), "-o", bench.fresh("x.rfn"), "--metric", "none"])
    harness.compare("exit", run.code, 1)
    harness.compare("message", "there is no metric 'none' in it" in run.err, True)


def test_tau(bench):
    """A call keeps its name where a message that it stands for is told elsewhere; of two messages it becomes two
    calls, that share its time."""
    told, archive = to_archive(bench, trace(bench, "tau"))
    harness.compare("messages outside of calls", told["outside_of_calls"], 1)
    harness.compare("rank 0", [words(event).rstrip() for event in dumped(bench, archive, 0)], [
        "10 20 MPI_Isend count=64 datatype=MPI_BYTE dest=1 tag=4 comm=world bytes=64",
        "30 30 MPI_Send count=16 datatype=MPI_BYTE dest=1 tag=5 comm=world bytes=16", "100 110 MPI_Barrier"])
    events = dumped(bench, archive, 1)
    harness.compare("rank 1", [words(event).rstrip() for event in events], [
        "10 20 MPI_Irecv", "30 40 MPI_Recv count=64 datatype=MPI_BYTE source=0 tag=4 comm=world bytes=64",
        "40 50 MPI_Recv count=16 datatype=MPI_BYTE source=0 tag=5 comm=world bytes=16", "100 110 MPI_Barrier"])
    harness.compare("path", events[0]["call_path"], "main[/home/app.c:3]")


def at_calls(events, origin=0):
    """Events of MPI by location: what is told of a message or collective call has the time of its call's region."""
    told, call, gathered = {}, {}, {}
    for name, location, time, rest in events:
        if name in ("ENTER", "LEAVE") and not re.search(r'Region: "mpi_', rest, re.I):
            continue
        if name.startswith(("IO_", "THREAD_", "METRIC", "ADDITIONAL")):
            continue
        if name == "ENTER":
            call[location], gathered[location] = time, []
        elif name != "LEAVE":
            gathered[location].append((name, re.sub(r"Request: \d+", "", rest)))
        else:
            told.setdefault(location, []).append((call[location] - origin, time - origin, gathered[location]))
    return told


def test_from_otf2_to_otf2(bench):
    """Calls and what happens in them are those of the first trace. MPI_Init and MPI_Cancel alone differ: of the one
    Score-P tells that it makes MPI_COMM_WORLD, and what the other cancels OTF2 does not tell."""
    anchor = trace(bench, "scorep")
    first = bench.run(["otf2-print", anchor], check=True).out.split("\n")
    _, archive = to_archive(bench, anchor)
    _, again = to_otf2(bench, archive)
    before = at_calls(events_of([REFERENCE.sub("", line).replace('"odd"', '"comm 1"') for line in first]), 1000)
    after = at_calls(events_of([line.replace('"thread 0"', '"thread"') for line in printed(bench, again)]))
    for calls in before.values():
        calls[0] = (*calls[0][:2], [])
    harness.compare("locations", sorted(after), [0, 1, 2, 3])
    for location in range(4):
        harness.compare(f"location {location}", after[location], before[location])


# ---- programs ----

def recorded(bench, flavour, name, ranks, *options):
    _, archive = bench.record(flavour, ranks, [bench.program(name, flavour)], options,
                              env={"EXPECT_OUT": bench.fresh("log")})
    return archive


def check_round_trip(bench, flavour, name, ranks, *options):
    """An archive becomes a trace, that an archive, and that the same trace. Returns its events, and the archives."""
    archive = recorded(bench, flavour, name, ranks, *options)
    told, anchor = to_otf2(bench, archive)
    read, copy = to_archive(bench, anchor)
    _, again = to_otf2(bench, copy)
    lines = printed(bench, anchor)
    harness.compare(f"{name}, once more", printed(bench, again), lines)
    harness.compare("events", read["otf2_events"], told["otf2_events"])
    return events_of(lines), archive, copy


def facts(bench, archive):
    report = json.loads(bench.verb("report", archive, "--json"))
    return {"matching": report["matching"], "matrix": report["communication_matrix"],
            "late": [wait["seconds"] for wait in report["wait_states"] if wait["pattern"] == "late_sender"]}


def test_messages(bench, flavour):
    """otf2-print counts the messages that the report counts, and the archive of the trace has the same waits."""
    events, archive, copy = check_round_trip(bench, flavour, "completions", 2)
    report = facts(bench, archive)
    sends = [event for event in events if event[0] in SENDS]
    lengths = sum(int(re.search(r"Length: (\d+)", event[3])[1]) for event in sends)
    cancelled = count(events, "MPI_REQUEST_CANCELLED")
    harness.compare("receives", count(events, "MPI_RECV", "MPI_IRECV"), report["matching"]["matched"])
    harness.compare("cancelled", cancelled >= report["matching"]["cancelled"] > 0, True)
    harness.compare("bytes", lengths >= sum(pair["bytes"] for pair in report["matrix"]) > 0, True)
    harness.compare("report of the copy", facts(bench, copy), report)


def communicator(event):
    return harness.parameter(event, "comm") or harness.parameter(event, "comm_old")


def test_collectives(bench):
    events, archive, copy = check_round_trip(bench, "mpich", "collectives", 3)
    calls = count(events, "MPI_COLLECTIVE_END", "NON_BLOCKING_COLLECTIVE_COMPLETE")
    dump = bench.dump(archive)
    together = [event for event in dump if communicator(event) and event["function"] not in (
        "MPI_Comm_rank", "MPI_Comm_size", "MPI_Cart_coords", "MPI_Cart_shift") and
        "eighbor_" not in event["function"]]
    harness.compare("collective calls", calls, len(together))
    in_bytes = [harness.parameter(event, "bytes") for event in together]
    copied = [harness.parameter(event, "bytes") for event in bench.dump(copy)
              if communicator(event)]
    harness.compare("bytes of each", copied, in_bytes)


def test_communicators(bench):
    check_round_trip(bench, "mpich", "communicators", 4)


def test_windows(bench):
    events, _, _ = check_round_trip(bench, "mpich", "one_sided", 2)
    harness.compare("accesses", count(events, "RMA_PUT") > 0 and count(events, "RMA_GET") > 0, True)


def test_regions_and_volumes(bench):
    """Regions of the program nest with the functions of call paths; the metric goes on from call to call."""
    events, archive, copy = check_round_trip(bench, "mpich", "regions", 4, "--volume=cpu")
    open_regions = {}
    for name, location, _, rest in events:
        stack = open_regions.setdefault(location, [])
        region = re.search(r'Region: "([^"]*)"', rest)
        if name == "ENTER":
            stack.append(region[1])
        elif name == "LEAVE":
            harness.compare("the region that is left", stack.pop(), region[1])
    harness.compare("open regions", open_regions, {location: [] for location in range(4)})
    last = {location: int(re.search(r"(\d+)\)?\s*$", rest)[1]) for name, location, _, rest in events
            if name == "METRIC"}
    for rank in range(4):
        calls = [event for event in dumped(bench, archive, rank) if event["function"].startswith("MPI_")]
        volume = sum(int(event["volume_gap"]) + int(event["volume_inside"]) for event in calls)
        harness.compare(f"volume of rank {rank}", last[rank], volume)
        harness.compare("of its copy, call by call",
                        [(e["enter_ns"], e["volume_gap"], e["volume_inside"], e["call_path"])
                         for e in dumped(bench, copy, rank) if e["function"].startswith("MPI_")],
                        [(e["enter_ns"], e["volume_gap"], e["volume_inside"], e["call_path"]) for e in calls])


# ---- what is wrong ----

def refused(bench, arguments, code, message):
    run = bench.run([bench.refrain, "convert", *arguments])
    harness.compare(f"exit of {arguments}", run.code, code)
    harness.compare(f"'{message}' in '{run.err}'", message in run.err, True)


def test_wrong_input(bench):
    out, anchor = bench.fresh("x.rfn"), trace(bench, "late")
    folder = os.path.dirname(anchor)
    refused(bench, [bench.path("none.otf2"), "-o", out], 1, "No such file")
    refused(bench, [__file__, "-o", out], 1, "is no time-independent text")
    python = shutil.copy(__file__, bench.fresh("python.otf2"))
    refused(bench, [python, "-o", out], 3, "no anchor file of an OTF2 trace")
    refused(bench, [anchor], 2, "where to?")
    with open(os.path.join(folder, "traces", "1.evt"), "r+b") as file:
        file.truncate(os.path.getsize(file.name) // 2)
    refused(bench, [anchor, "-o", out], 3, "events of a location cannot be read")
    os.remove(os.path.join(folder, "traces.def"))
    refused(bench, [anchor, "-o", out], 3, "its definitions cannot be read")
    harness.compare("archive", os.path.exists(out), False)


def test_what_exists(bench):
    anchor = trace(bench, "late")
    _, archive = to_archive(bench, anchor)
    refused(bench, [anchor, "-o", archive], 1, "exists already")
    _, written = to_otf2(bench, archive)
    folder = os.path.dirname(written)
    refused(bench, [archive, "--to", "otf2", "-o", folder], 1, "exists already")
    bench.verb("convert", archive, "--to", "otf2", "-o", folder, "--force")
    printed(bench, written)
    with open(os.path.join(folder, "notes.txt"), "w", encoding="utf-8") as file:
        file.write("mine\n")
    refused(bench, [archive, "--to", "otf2", "-o", folder, "--force"], 1, "has other files")
    harness.compare("what is not of the trace", "notes.txt" in os.listdir(folder), True)
    printed(bench, written)
    harness.compare("folders beside it", [name for name in os.listdir(os.path.dirname(folder))
                                          if name.startswith(os.path.basename(folder) + ".")], [])


def test_damage(bench):
    """Whatever is damaged or missing, convert tells so or makes a whole archive."""
    source, out = os.path.dirname(trace(bench, "scorep")), bench.path("damaged.rfn")
    chance = random.Random(7)
    files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(source) for name in names)
    for number in range(40):
        folder = bench.fresh("damaged.otf2")
        shutil.copytree(source, folder)
        path = os.path.join(folder, os.path.relpath(chance.choice(files), source))
        with open(path, "r+b") as file:
            size = os.path.getsize(path)
            anchor = os.path.basename(path) == "traces.otf2"
            if number % 3 == 0 or anchor:
                file.truncate(chance.randrange(size))
            for _ in range(0 if anchor else 1 + number % 4):  # libotf2 takes a size of chunks that is wrong for right
                file.seek(chance.randrange(size))
                file.write(bytes([chance.randrange(256)]))
        run = bench.run([bench.refrain, "convert", os.path.join(folder, "traces.otf2"), "-f", "-o", out])
        if run.code == 0:
            bench.verb("verify", out)
        else:
            harness.compare(f"exit of damage {number}: {run.err}", run.code in (1, 3), True)
            harness.compare(f"file in '{run.err}'", folder in run.err, True)
        shutil.rmtree(folder)
