"""Functions compiled with -finstrument-functions: which calls are recorded, and their names."""
import json
import os
import re

import harness
import test_smpi

BEGIN, END = "refrain_region_begin", "refrain_region_end"
UNRECORDED = "refrain_calls_unrecorded"
HOOKS = "-finstrument-functions"
RANKS = 2
NEVER = {"add", "hidden"}  # called by MPI, and while recording is off


def calls_of(run, rank=0):
    """What the program says of itself: name -> calls."""
    found = {}
    for line in run.out.splitlines():
        who, name, n = line.split(" ")
        if int(who) == rank:
            found[name] = int(n)
    if len(found) != 16:
        raise harness.Failure(f"the program said {run.out}")
    return found


def visits_of(events):
    """Of one thread: name -> visits; that ends fit begins, and times ascend."""
    stack, found, last = [], {}, 0
    for event in events:
        if int(event["enter_ns"]) < last:
            raise harness.Failure(f"begins before the event before it ends: {event}")
        last = int(event["exit_ns"])
        name = harness.parameter(event, "name")
        if event["function"] == BEGIN:
            stack.append(name)
            found[name] = found.get(name, 0) + 1
        elif event["function"] == END:
            harness.compare("the region that ends", name, stack.pop())
    harness.compare("what is open at the end", stack, [])
    return found


def visits(bench, archive, rank=0):
    """Of all threads of a rank together."""
    events, found = bench.dump(archive, "--rank", str(rank)), {}
    for thread in {e["thread"] for e in events}:
        for name, n in visits_of([e for e in events if e["thread"] == thread]).items():
            found[name] = found.get(name, 0) + n
    return found


def unrecorded(bench, archive, rank=0):
    return {harness.parameter(e, "name"): int(harness.parameter(e, "calls"))
            for e in bench.dump(archive, "--rank", str(rank)) if e["function"] == UNRECORDED}


def recorded(bench, flavour, options, flags=(), env=None):
    program = bench.program("functions", flavour, (HOOKS, *flags))
    run, archive = bench.record(flavour, RANKS, [program], options, env)
    bench.verb("verify", archive)
    return run, archive


def regions(bench, archive):
    return {row["name"]: row for row in json.loads(bench.verb("report", "--json", archive))["regions"]}


def check_all(bench, run, archive):
    """Every call that can be recorded is there, of every rank."""
    for rank in range(RANKS):
        expected = {name: n for name, n in calls_of(run, rank).items()
                    if n and name not in NEVER}
        expected["user"] = 5
        harness.compare(f"calls of rank {rank}", visits(bench, archive, rank), expected)


def test_all(bench, flavour):
    run, archive = recorded(bench, flavour, ["--functions=*", "--functions-rate=none"])
    check_all(bench, run, archive)
    harness.compare("not recorded", unrecorded(bench, archive), {})
    jumps = [line for line in run.err.splitlines() if "was left by a jump" in line]
    harness.compare("lines about jumps", len(jumps), RANKS)
    nap = regions(bench, archive)["nap"]
    if nap["time"]["min_seconds"] < 5 * 0.04 or nap["in_mpi"]["seconds"] != 0:
        raise harness.Failure(f"sleeping: {nap}")
    facts = json.loads(bench.verb("info", "--json", archive))
    if facts["nodes"] > 200:
        raise harness.Failure(f"{facts['events']} events are not folded: {facts['nodes']} nodes")
    thread = [e for e in bench.dump(archive, "--rank", "0") if e["thread"] == "1"]
    harness.compare("the thread", visits_of(thread), {"worker": 1, "work": 7})


def test_nothing_without_asking(bench, flavour):
    run, archive = recorded(bench, flavour, [])
    harness.compare("visits", visits(bench, archive), {"user": 5})
    alone = bench.run([*harness.FLAVOURS[flavour].launch(RANKS),
                       bench.program("functions", flavour, (HOOKS,))], check=True)
    harness.compare("output", sorted(alone.out.splitlines()), sorted(run.out.splitlines()))


def test_patterns(bench, flavour):
    run, archive = recorded(bench, flavour, ["--functions=*e*,!*step*,!nap,busy,!b*"])
    calls = calls_of(run)
    expected = {name: calls[name] for name in ("kernel", "descend", "leaves", "sleeper", "worker")}
    harness.compare("calls", visits(bench, archive), {**expected, "user": 5})
    run, archive = recorded(bench, flavour, ["--functions=!*", "--functions-rate=none"])
    harness.compare("none", visits(bench, archive), {"user": 5})
    if run.err.count("--functions=!*: no such function was called") != 1:
        raise harness.Failure(run.err)
    run, archive = recorded(bench, flavour, [], env={"REFRAIN_FUNCTIONS": "unheard"})
    harness.compare("the option decides", visits(bench, archive), {"user": 5})


def test_minimum(bench, flavour):
    """Short calls are left out, unless something is recorded in them."""
    _, archive = recorded(bench, flavour, ["--functions=*", "--functions-min=10ms"])
    found = visits(bench, archive)
    for name in ("kernel", "tiny", "leaves", "jumps", "work"):  # some may be delayed by others
        if found.pop(name, 0) > 3:
            raise harness.Failure(f"{name} is not left out")
    for name in ("descend", "worker", "busy"):
        found.pop(name, None)
    harness.compare("calls", found, {"main": 1, "step": 20, "sleeper": 5, "nap": 5, "user": 5,
                                     "in_callback": 1, "across": 1})
    for event in bench.dump(archive, "--rank", "0"):
        if harness.parameter(event, "name") == "step" and event["function"] == BEGIN:
            path = event["call_path"]
    if not re.match(r"step\[\S*functions.c:\d+\]$", path):
        raise harness.Failure(f"the call path of a function: {path}")


def test_rate(bench, flavour):
    """One function is called too often, and from then on left out for good."""
    run, archive = recorded(bench, flavour, ["--functions=*"])
    calls, found = calls_of(run), visits(bench, archive)
    missed = unrecorded(bench, archive)
    harness.compare("functions switched off", set(missed), {"busy"})
    harness.compare("calls of busy", found["busy"] + missed["busy"], calls["busy"])
    if found["busy"] < 10000:
        raise harness.Failure(f"{found['busy']} calls are fewer than are allowed in a second")
    rows = regions(bench, archive)
    total = sum(unrecorded(bench, archive, rank)["busy"] for rank in range(RANKS))
    harness.compare("of the report", rows["busy"]["unrecorded_calls"], total)
    harness.compare("others", {rows[name]["unrecorded_calls"] for name in rows if name != "busy"},
                    {0})
    if f"busy: {total:,} calls not recorded" not in bench.verb("report", archive):
        raise harness.Failure(bench.verb("report", archive))
    if "1 function was called more than 10000 times in a second" not in run.err:
        raise harness.Failure(run.err)
    facts = json.loads(bench.verb("info", "--json", archive))
    harness.compare("calls of MPI", facts["calls"], RANKS * (1 + 20 + 3 + 2 + 1 + 1))


def test_low_rate(bench, flavour):
    """Recursion that is switched off half-way down still ends as it began."""
    run, archive = recorded(bench, flavour, ["--functions=descend,step", "--functions-rate=7"])
    calls, found, missed = calls_of(run), visits(bench, archive), unrecorded(bench, archive)
    harness.compare("recursion", (found["descend"], missed["descend"]), (7, calls["descend"] - 7))
    harness.compare("steps", found["step"] + missed["step"], calls["step"])


def test_without_symbols(bench, flavour):
    """Functions of a stripped program are named by their places, and are as many."""
    program = bench.program("functions", flavour, (HOOKS,))
    stripped = bench.path(f"stripped.{flavour}")
    bench.run(["strip", "-o", stripped, program], check=True)
    run, archive = bench.record(flavour, RANKS, [stripped],
                                ["--functions=stripped*", "--functions-rate=none"])
    found = visits(bench, archive)
    harness.compare("user", found.pop("user"), 5)
    for name in found:
        if not re.match(rf"stripped\.{flavour}\+0x[0-9a-f]+$", name):
            raise harness.Failure(f"a place: {name}")
    harness.compare("calls", sorted(found.values()),
                    sorted(n for name, n in calls_of(run).items() if name not in NEVER))


def test_cpp(bench, flavour):
    program = bench.compiled(f"functions-cpp.{flavour}", [
        f"mpicxx.{flavour}", "-O1", "-g", "-w", HOOKS,
        os.path.join(harness.PROGRAMS, "functions.cpp")])
    run, archive = bench.record(flavour, RANKS, [program], ["--functions=solver::*,!*::add"])
    bench.verb("verify", archive)
    expected = {"solver::Field<double>::Field": 1, "solver::Field<double>::relax": 6,
                "solver::attempt": 5, "solver::give_up": 20}
    harness.compare("calls", visits(bench, archive), expected)
    if "left by a jump" in run.err:
        raise harness.Failure(run.err)
    _, archive = bench.record(flavour, RANKS, [program], ["--functions=_ZN6solver5FieldIdE3add*"])
    harness.compare("by the linker's name", visits(bench, archive),
                    {"solver::Field<double>::add": 24})


def test_fortran(bench, flavour):
    folder = bench.path(f"fortran-functions.{flavour}")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "functions")
    bench.run([f"mpifort.{flavour}", "-O1", "-g", HOOKS, "-J", folder, "-o", program,
               os.path.join(harness.PROGRAMS, "fortran", "functions.F90")], check=True)
    _, archive = bench.record(flavour, RANKS, [program], ["--functions=solver::*"])
    bench.verb("verify", archive)
    harness.compare("calls", visits(bench, archive), {"solver::step": 10, "solver::descend": 40})
    events = [e["function"] for e in bench.dump(archive, "--rank", "0")]
    harness.compare("begins", events[:4], ["MPI_Init", BEGIN, "MPI_Barrier", BEGIN])


def test_simulated(bench):
    library = os.path.join(bench.build, "lib", "librefrain-smpi.a")
    program = bench.compiled("functions.smpi", [
        "smpicc", "-O1", "-g", "-w", HOOKS, "-DSIMULATED", "-I", harness.INCLUDE,
        os.path.join(harness.PROGRAMS, "functions.c"), bench.region_library, "-Wl,--build-id",
        "-Wl,-Bsymbolic", "-Wl,--whole-archive", library, "-Wl,--no-whole-archive", "-lzstd",
        "-lunwind", "-ldw", "-lelf", "-ldl"])
    run, archive = test_smpi.smpi_launch(
        bench, program, RANKS, env={"REFRAIN_FUNCTIONS": "*", "REFRAIN_FUNCTIONS_RATE": "none"})
    bench.verb("verify", archive)
    check_all(bench, run, archive)


def test_awkward(bench, flavour):
    """Hooks within the recorder and after it, of signals and threads; calls too deep to be kept."""
    program = bench.program("functions_awkward", flavour, (HOOKS,))
    for _ in range(3):
        run, archive = bench.record(flavour, 1, [program], [
            "--functions=*,!handler,!in_handler", "--functions-rate=100000"])
        harness.compare("output", run.out, "done\n")
        bench.verb("verify", archive)
        first = [e for e in bench.dump(archive) if e["thread"] == "0"]
        found = visits_of(first)
        for name, n in (("main", 1), ("steps", 2000), ("deep", 1023)):
            harness.compare(name, found.get(name), n)
        if found["malloc"] < 2000 or found["account"] < 4000:
            raise harness.Failure(f"calls of the program's own allocator: {found}")
        deep = [line for line in run.err.splitlines() if "deeper calls are not recorded" in line]
        harness.compare("lines about depth", len(deep), 1)
    run, archive = bench.record(flavour, 1, [program], ["--functions=*"])
    bench.verb("verify", archive)
    harness.compare("output", run.out, "done\n")


def test_usage(bench):
    for option in ("--functions=", "--functions=a,,b", "--functions-min=10", "--functions-min=2s",
                   "--functions-rate=0", "--functions-rate=many"):
        run = bench.run([bench.refrain, "record", option, "true"])
        harness.compare(option, run.code, 2)
        if option.split("=", maxsplit=1)[0] not in run.err:
            raise harness.Failure(run.err)
