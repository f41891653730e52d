"""Alike segments: what `info --size-model` says of programs in simulated time, where all is known."""
import json
import os
from types import SimpleNamespace

import harness
import pathologies

TOGETHER = SIMULATED = True
THREE_BEHAVIOURS = SimpleNamespace(
    name="three_behaviours", source=os.path.join(pathologies.FOLDER, "three_behaviours.c"), ranks=8,
    synchronous=False, arguments=lambda: [])
TWO_LOOPS = SimpleNamespace(
    name="two_loops", source=os.path.join(pathologies.FOLDER, "two_loops.c"), ranks=6,
    synchronous=False, arguments=lambda: [])
SENDING = {"MPI_Send", "MPI_Ssend", "MPI_Recv", "MPI_Isend", "MPI_Issend", "MPI_Irecv"}


def program(name):
    return next(p for p in pathologies.PROGRAMS if p.name == name)


def model(bench, archive, method):
    return json.loads(bench.verb("info", "--json", f"--size-model={method}", archive))["size_model"]


def sizes(events, kept, segments, ranks):
    """Mohror 4.4, with Tables 2 to 4: bytes of a traditional trace, and of a trace profile. kept:
    the events of the segments that are kept, one list for each."""
    names = {e["function"] for e in events}
    length = sorted(map(len, names))[len(names) // 2]

    def messages(some):
        return sum(e["function"] in SENDING for e in some)
    full = ranks * len(names) * (4 + length) + 48 * len(events) + 96 * messages(events)
    profile = 10 + len(names) * (5 + length)
    profile += ranks * (9 + 5 + 5 + 5) + 12 * segments + len(kept) * (5 + length + 17)
    profile += sum(23 * len(segment) + 12 * messages(segment) for segment in kept)
    return full, profile


def loop_of(functions, times):
    """Where a loop of so many iterations begins, and how many calls each has."""
    for each in range(1, len(functions) // times + 1):
        for first in range(len(functions) - times * each + 1):
            rest = range(first, first + (times - 1) * each)
            if all(functions[i] == functions[i + each] for i in rest):
                return first, each
    raise harness.Failure(f"no loop of {times} iterations")


def check_regular(bench, name):
    """50 iterations, all alike: on each rank three segments are kept, before, in and after the
    loop, of 52 (as of Mohror's random-barrier)."""
    archive = pathologies.record(bench, program(name))
    events = bench.dump(archive)
    found = model(bench, archive, "avgWave:0.2")
    ranks = program(name).ranks
    harness.compare("segments", found["segments"], 52 * ranks)
    harness.compare("kinds", found["kinds"], 3 * ranks)
    harness.compare("kept", found["kept"], 3 * ranks)
    harness.compare("degree of matching", found["degree_of_matching"], 1)
    harness.compare("approximation distance", found["approximation_distance_us"], 0)
    kept = []
    for rank in range(ranks):
        own = [e for e in events if int(e["rank"]) == rank]
        first, each = loop_of([e["function"] for e in own], 50)
        kept += [own[:first], own[first:first + each], own[first + 50 * each:]]
    harness.compare("sizes", (found["trace_bytes"], found["profile_bytes"]),
                    sizes(events, kept, 52 * ranks, ranks))


def test_regular(bench):
    for name in ("early_gather", "imbalance_at_barrier", "late_sender", "late_broadcast"):
        check_regular(bench, name)


def test_methods(bench):
    """Noise: iterAvg keeps one segment of each kind, iterK ten; the others tell what is disturbed
    from what is not, and are nearer to the truth than the average. Without tolerance nothing is
    lost."""
    archive = pathologies.record(bench, program("NtoN_32"))
    average = model(bench, archive, "iterAvg")
    harness.compare("kept by iterAvg", average["kept"], average["kinds"])
    ten = model(bench, archive, "iterK:10")
    harness.compare("segments", ten["segments"], average["segments"])
    harness.compare("kept by iterK", ten["kept"], 32 * (2 + 10))
    for method in ("absDiff:100", "manhattan:0.2", "euclidean:0.2", "chebyshev:0.2", "avgWave:0.2",
                   "haarWave:0.2"):
        found = model(bench, archive, method)
        if not average["kept"] < found["kept"] < found["segments"] / 20:
            raise harness.Failure(f"{method} keeps {found['kept']} of {found['segments']}")
        if not 0 < found["approximation_distance_us"] < average["approximation_distance_us"]:
            raise harness.Failure(f"{method}: {found['approximation_distance_us']} us, with the "
                                  f"average {average['approximation_distance_us']} us")
    harness.compare("off without tolerance",
                    model(bench, archive, "euclidean:0")["approximation_distance_us"], 0)


def test_usage(bench):
    """A method that does not exist is wrong usage, and then nothing is printed."""
    archive = pathologies.record(bench, program("late_sender"))
    run = bench.run([bench.refrain, "info", "--size-model=wave:0.2", archive])
    harness.compare("exit status", run.code, 2)
    if "avgWave" not in run.err or run.out:
        raise harness.Failure(f"it said {run.err!r} and printed {run.out!r}")
    text = bench.verb("info", "--size-model", archive)
    if "Degree of matching  100.0 %" not in text:
        raise harness.Failure(text)


def test_cut(bench):
    """Of a file that was cut it measures the streams that are whole; where none is it says so."""
    archive = pathologies.record(bench, program("late_sender"))
    with open(archive, "rb") as whole:
        data = whole.read()
    cut, seen = archive + ".cut", set()
    for size in range(len(data) - 1, 512, -len(data) // 40):
        with open(cut, "wb") as part:
            part.write(data[:size])
        run = bench.run([bench.refrain, "info", "--size-model", cut])
        harness.compare("exit status", run.code, 3)
        nothing, something = "Nothing that has times" in run.out, "Times are off" in run.out
        if nothing and something or run.out and not (nothing or something):
            raise harness.Failure(f"{size} bytes: {run.out}")
        seen.add((nothing, something))
    if not {(True, False), (False, True)} <= seen:
        raise harness.Failure(f"only {seen}")


def test_behaviour(bench):
    """Which ranks were late, doing what, in which share of the steps (Mohror's Fig. 17)."""
    archive = pathologies.record(bench, THREE_BEHAVIOURS)
    facts = json.loads(bench.verb("report", "--json", "--behaviour", archive))
    loop, = facts["behaviour"]
    harness.compare("steps", loop["steps"], 100)
    harness.compare("ranks", loop["ranks"], list(range(8)))
    late, writing, alike = loop["patterns"]
    for pattern, steps, each in ((late, 80, 12), (writing, 15, 20), (alike, 5, 6)):
        harness.compare("steps of a pattern", pattern["steps"], steps)
        share = loop["share"] * steps * each / (80 * 12 + 15 * 20 + 5 * 6)
        if abs(pattern["share"] / share - 1) > 0.01:
            raise harness.Failure(f"{steps} steps: share {pattern['share']}, not {share}")
    harness.compare("alike", [p["alike"] for p in loop["patterns"]], [False, False, True])
    for pattern, seconds, where in ((late, 0.006, "work_b"), (writing, 0.014, "write_data")):
        harness.compare("late", (pattern["late"], pattern["varying"]), ([0, 1, 2, 3], False))
        harness.compare("waited in", pattern["waited_in"]["function"], "MPI_Barrier")
        harness.compare("cause", pattern["cause"]["kind"], "compute")
        for name in ("wait_seconds", "excess_seconds"):
            if abs(pattern[name] / seconds - 1) > 0.01:
                raise harness.Failure(f"{name} {pattern[name]}, not {seconds}")
        if where not in pattern["cause"]["activity"] and where not in pattern["cause"]["at"]:
            raise harness.Failure(f"{where} not in {pattern['cause']}")


def test_behaviour_page(bench):
    """The same for people: all of it, or what costs most."""
    archive = pathologies.record(bench, THREE_BEHAVIOURS)
    page = " ".join(bench.verb("report", "--behaviour", archive).split())
    for text in ("Behaviour: 100 steps of a loop in main() on ranks 0-7",
                 "ranks 0-3 are late to MPI_Barrier < work_b",
                 "others are in it 6.00 ms longer", "others are in it 14.0 ms longer",
                 "all ranks take about equally long in every call"):
        if text not in page:
            raise harness.Failure(f"not on the page: {text}\n{page}")
    brief = bench.verb("report", archive)
    part = brief[brief.index("Behaviour: "):].split("\n\n", maxsplit=1)[0]
    if len(part.split("\n")) > 6:
        raise harness.Failure(f"more than six lines\n{part}")
    words = " ".join(part.split())
    for text in ("80.0 % of 100 steps (longer in a call: ",
                 " of all ranks' time): ranks 0-3 are late to MPI_Barrier < work_b",
                 "others are in it 6.00 ms longer: computing in do_work(), called in work_b()", "takes 6.00 ms longer"):
        if text not in words:
            raise harness.Failure(f"not in the lines: {text}\n{words}")
    narrow = bench.run([bench.refrain, "report", archive], env={"COLUMNS": "60"}, check=True).out
    wide = [line for line in narrow.split("\n") if len(line) > 60]
    harness.compare("lines that are too wide", wide, [])


def test_behaviour_of_loops(bench):
    """Two loops of as many steps are told apart; in one, ranks go round an inner loop as often as
    they like."""
    archive = pathologies.record(bench, TWO_LOOPS)
    facts = json.loads(bench.verb("report", "--json", "--behaviour", archive))
    loops = {}
    for loop in facts["behaviour"]:
        for pattern in loop["patterns"]:
            if not pattern["alike"]:
                where = pattern["waited_in"]["call_path"].split(" < ")[1].split(" ")[0]
                loops.setdefault(where, []).append(
                    (loop["ranks"], loop["steps"], pattern["steps"], pattern["late"]))
    ranks = list(range(6))
    harness.compare("loops", loops, {"first_loop": [(ranks, 60, 60, [0, 1])],
                                     "second_loop": [(ranks, 60, 30, [5])]})
