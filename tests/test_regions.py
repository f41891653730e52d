"""Regions of programs (refrain/region.h) and pauses (MPI_Pcontrol), up to the report."""
import collections
import json
import os
import re

import harness

BEGIN, END = "refrain_region_begin", "refrain_region_end"
MISUSE = "refrain: refrain_region_end("


def launch(bench, flavour, ranks, command, **options):
    return bench.run([*harness.FLAVOURS[flavour].launch(ranks), *command], check=True, **options)


def report(bench, archive):
    return json.loads(bench.verb("report", "--json", archive))


def test_without_recorder(bench, flavour):
    """The same program runs alone and under the recorder, with the same output."""
    program = bench.program("regions", flavour)
    alone = launch(bench, flavour, 2, [program])
    harness.compare("messages without a recorder", alone.err, "")
    recorded, _ = bench.record(flavour, 2, [program])
    harness.compare("output", sorted(recorded.out.splitlines()), sorted(alone.out.splitlines()))


def test_misuse_is_told_once(bench, flavour):
    run, _ = bench.record(flavour, 2, [bench.program("regions", flavour)])
    lines = [line for line in run.err.splitlines() if line.startswith(MISUSE)]
    harness.compare("lines that tell of an end that does not fit", len(lines), 2)  # one per rank


def test_call_paths(bench, flavour):
    """The call path of an event is that of the program's call: no frame of the library's."""
    _, archive = bench.record(flavour, 2, [bench.program("regions", flavour)])
    events = [e for e in bench.dump(archive) if e["function"] in (BEGIN, END)]
    paths = {e["call_path"].split(" > ")[-1].split("[")[0] for e in events
             if harness.parameter(e, "name") == "descend"}
    harness.compare("functions that begin 'descend'", paths, {"descend"})
    depths = {len(e["call_path"].split(" > ")) for e in events
              if harness.parameter(e, "name") == "descend"}
    harness.compare("deepest path", max(depths), 302)  # main, and 301 calls of descend


def pauses_of(events):
    """Of one rank: (from, to) pairs."""
    since, found = None, []
    for event in events:
        if event["function"] == "MPI_Pcontrol":
            level = harness.parameter(event, "level")
            if level == "0" and since is None:
                since = int(event["exit_ns"])
            if level == "1" and since is not None:
                found.append((since, int(event["enter_ns"])))
                since = None
    return found


def overlap(pauses, begin, end):
    return sum(max(0, min(b, end) - max(a, begin)) for a, b in pauses)


def visits_of(events):
    """Of one rank with one thread: name -> [visits, time, time in MPI], regions not recursive."""
    pauses, stack, found, mpi = pauses_of(events), [], {}, 0
    for event in events:
        enter, leave = int(event["enter_ns"]), int(event["exit_ns"])
        name = harness.parameter(event, "name")
        if event["function"] == BEGIN:
            stack.append((name, enter, mpi))
        elif event["function"] == END:
            begun, since, before = stack.pop()
            harness.compare("the region that ends", name, begun)
            sums = found.setdefault(name, [0, 0, 0])
            sums[0] += 1
            sums[1] += enter - since - overlap(pauses, since, enter)
            sums[2] += mpi - before
        else:
            mpi += leave - enter
    harness.compare("regions that have no end", stack, [])
    return found


def check_row(row, ranks):
    """A row of the report against what the dump says; ranks: rank -> [visits, time, in MPI]."""
    what = f"region {row['name']}"
    harness.compare(f"{what}: visits", row["visits"], sum(v[0] for v in ranks.values()))
    harness.compare(f"{what}: ranks", row["ranks"], len(ranks))
    for key, at in (("time", 1), ("in_mpi", 2)):
        times = {rank: values[at] for rank, values in ranks.items()}
        harness.compare(f"{what}: {key}", harness.ns(row[key]["seconds"]), sum(times.values()))
        harness.compare(f"{what}: least {key}", harness.ns(row[key]["min_seconds"]), min(times.values()))
        harness.compare(f"{what}: most {key}", harness.ns(row[key]["max_seconds"]), max(times.values()))
        harness.compare(f"{what}: where", times[row[key]["max_rank"]], max(times.values()))


def test_report(bench, flavour):
    """Visits, times and the pause, as the dump has them, and as the program made them."""
    steps, ms = 5, 4
    program = bench.program("region_times", flavour)
    _, archive = bench.record(flavour, 2, [program, str(steps), str(ms)])
    page, events = report(bench, archive), bench.dump(archive)
    ranks = [[e for e in events if e["rank"] == str(rank)] for rank in range(2)]
    visits = [visits_of(rank) for rank in ranks]
    names = {"loop": 2, "work": 2 * steps, "exchange": 2 * steps, "first\\sonly": 1}
    harness.compare("regions", {r["name"].replace(" ", "\\s"): r["visits"]
                                for r in page["regions"]}, names)
    for row in page["regions"]:
        name = row["name"].replace(" ", "\\s")
        check_row(row, {i: v[name] for i, v in enumerate(visits) if name in v})
    work = next(row for row in page["regions"] if row["name"] == "work")
    for rank, found in enumerate(visits):  # a busy machine may wake rank 0 after rank 1
        if found["work"][1] < (rank + 1) * steps * ms * 10**6:
            raise harness.Failure(f"work of rank {rank}: {found['work']}")
    harness.compare("work, in MPI", work["in_mpi"]["seconds"], 0)
    check_pause(page, ranks, 10 * ms * 10**6, archive)
    harness.compare("calls", page["calls"], 2 * (4 + steps + 1))
    harness.compare("region events", page["region_events"], 2 * sum(names.values()))
    facts = json.loads(bench.verb("info", "--json", archive))
    for key in ("calls", "events", "region_events"):
        harness.compare(f"info: {key}", facts[key], page[key])
    text = bench.verb("report", archive)
    if not re.search(r"^What do regions take\? Regions", text, re.M) or not re.search(r"first only$", text, re.M):
        raise harness.Failure(text)


def check_pause(page, ranks, at_least, archive):
    """What was not recorded is in no sum of the rank's."""
    recording = harness.recording_ns(archive)
    for of_rank, events in zip(page["time_per_rank"], ranks):
        paused = sum(b - a for a, b in pauses_of(events))
        mpi = sum(int(e["exit_ns"]) - int(e["enter_ns"]) for e in events)
        span = int(events[-1]["exit_ns"]) - int(events[0]["enter_ns"])
        harness.compare("not recorded", harness.ns(of_rank["unrecorded_seconds"]), paused)
        harness.compare("outside MPI", harness.ns(of_rank["outside_seconds"]), span - mpi - paused - recording.get(of_rank["rank"], 0))
        if paused < at_least:
            raise harness.Failure(f"{paused} ns of a pause of at least {at_least} ns")
    harness.compare("not recorded, all ranks", harness.ns(page["unrecorded_seconds"]),
                    sum(harness.ns(r["unrecorded_seconds"]) for r in page["time_per_rank"]))


def calls_in(events, name):
    """Of one rank: function -> [calls, time] of what is called while a region is open."""
    found, depth = {}, 0
    for event in events:
        if event["function"] in (BEGIN, END):
            depth += (1 if event["function"] == BEGIN else -1) * (harness.parameter(event, "name") == name)
        elif depth:
            sums = found.setdefault(event["function"], [0, 0])
            sums[0] += 1
            sums[1] += int(event["exit_ns"]) - int(event["enter_ns"])
    return found


def visits_in(events, name):
    """Of one rank: visits of regions while a region is open, and of that itself."""
    found, depth = collections.Counter(), 0
    for event in events:
        region = harness.parameter(event, "name")
        if event["function"] == BEGIN:
            depth += region == name
            found[region.replace("\\s", " ")] += depth > 0
        elif event["function"] == END:
            depth -= region == name
    return +found


def check_inside(page, row, ranks):
    """A page about one region: what its ranks do there, and nothing else."""
    name = row["name"].replace(" ", "\\s")
    inside = [calls_in(events, name) for events in ranks]
    functions = {f: [sum(one.get(f, [0, 0])[i] for one in inside) for i in range(2)] for one in inside for f in one}
    harness.compare(f"{name}: functions", {f["function"]: [f["calls"], harness.ns(f["seconds"])]
                                           for f in page["functions"]}, functions)
    visits = [visits_of(events).get(name, [0, 0, 0]) for events in ranks]
    harness.compare(f"{name}: time of ranks", [(harness.ns(r["mpi_seconds"]), harness.ns(r["outside_seconds"]))
                                               for r in page["time_per_rank"]],
                    [(mpi, time - mpi) for _, time, mpi in visits])
    harness.compare(f"{name}: efficiency", page["efficiency"]["parallel_efficiency"], row["parallel_efficiency"])
    harness.compare(f"{name}: waiting", harness.ns(page["waits"]["total_seconds"]), harness.ns(row["waiting_seconds"]))
    harness.compare(f"{name}: visits", {r["name"]: r["visits"] for r in page["regions"]},
                    sum((visits_in(events, name) for events in ranks), collections.Counter()))


def test_one_region(bench, flavour):
    """report --region is about what happens inside."""
    program = bench.program("region_times", flavour)
    _, archive = bench.record(flavour, 2, [program, "5", "4"])
    whole, events = report(bench, archive), bench.dump(archive)
    ranks = [[e for e in events if e["rank"] == str(rank)] for rank in range(2)]
    for row in whole["regions"]:
        page = json.loads(bench.verb("report", "--json", "--region", row["name"], archive))
        harness.compare("region", page["region"], row["name"])
        check_inside(page, row, ranks)
    exchange = next(row for row in whole["regions"] if row["name"] == "exchange")
    if exchange["waiting_seconds"] < 0.5 * 5 * 0.004:  # rank 0 waits for rank 1, which works twice as long
        raise harness.Failure(f"waiting in the exchange: {exchange}")
    text = bench.verb("report", "--region", "exchange", archive)
    if "The rest of this page is about region exchange: a rank spends " not in " ".join(text.split()) or "Critical path" in text:
        raise harness.Failure(text)
    wrong = bench.run([bench.refrain, "report", "--region", "exchanges", archive])
    harness.compare("status", wrong.code, 2)
    if "has no region 'exchanges'; it has " not in wrong.err or "first only" not in wrong.err:
        raise harness.Failure(wrong.err)


def test_report_without_times(bench, flavour):
    program = bench.program("region_times", flavour)
    _, archive = bench.record(flavour, 2, [program, "3", "1"], ["--time=none"])
    bench.verb("verify", archive)
    page = report(bench, archive)
    harness.compare("visits", {row["name"]: row["visits"] for row in page["regions"]},
                    {"loop": 2, "work": 6, "exchange": 6, "first only": 1})
    harness.compare("times", [row["time"] for row in page["regions"]], [None] * 4)
    harness.compare("paused", page["paused"], True)
    if "not recorded (MPI_Pcontrol)" not in bench.verb("report", archive):
        raise harness.Failure("the page does not tell of the pause")


def test_start_off(bench, flavour):
    """Nothing is recorded before the first MPI_Pcontrol(1) but MPI_Init."""
    program = bench.program("region_times", flavour)
    for command in (["record", "--start-off"], ["record", "--start-off", "--force"]):
        archive = bench.path(f"start-off.{flavour}.{len(command)}.rfn")
        own = [bench.refrain, *command, "-o", archive]
        job = harness.FLAVOURS[flavour].launch(2)
        words = [*job, *own, program] if len(command) == 2 else [*own, *job, program]
        bench.run([*words, "3", "5"], check=True)
        bench.verb("verify", archive)
        events = bench.dump(archive)
        for rank in range(2):
            mine = [e for e in events if e["rank"] == str(rank)]
            first = [BEGIN, END] if rank == 0 else []
            harness.compare("events", [e["function"] for e in mine],
                            ["MPI_Init", "MPI_Pcontrol", "MPI_Pcontrol", *first, "MPI_Finalize"])
            page = report(bench, archive)["time_per_rank"][rank]
            gap = int(mine[2]["enter_ns"]) - int(mine[0]["exit_ns"])
            inside = int(mine[1]["exit_ns"]) - int(mine[1]["enter_ns"])
            harness.compare("not recorded", harness.ns(page["unrecorded_seconds"]), gap - inside)


AROUND = ["MPI_Pcontrol", "MPI_Init", "MPI_Barrier", "MPI_Pcontrol", "MPI_Finalize"]


def check_around(bench, flavour, program, options=()):
    """MPICH would end the process in MPI_Pcontrol before MPI_Init and after MPI_Finalize."""
    run, archive = bench.record(flavour, 2, [program], options)
    harness.compare("output", run.out, "controlled 1\n" * 2)
    harness.compare("own lines", len(re.findall("^refrain:", run.err, re.M)), 1)
    bench.verb("verify", archive)
    for rank in ("0", "1"):
        found = [e["function"] for e in bench.dump(archive) if e["rank"] == rank]
        harness.compare(f"{options}, rank {rank}", found, AROUND)
    bench.verb("report", archive)


def test_control_around_mpi(bench, flavour):
    program = bench.program("pcontrol_around", flavour)
    check_around(bench, flavour, program)
    check_around(bench, flavour, program, ["--start-off"])  # on before MPI_Init


def test_threads_pause_together(bench, flavour):
    """A pause that one thread begins and ends is one of all threads of its process."""
    program = bench.program("region_pause_threads", flavour)
    _, archive = bench.record(flavour, 1, [program])
    events = bench.dump(archive)
    threads = [[e for e in events if e["thread"] == str(thread)] for thread in range(2)]
    harness.compare("events of the thread", [e["function"] for e in threads[1]], [BEGIN, END] * 2)
    pauses = pauses_of(threads[0])
    harness.compare("pauses", len(pauses), 1)
    page = report(bench, archive)
    gap = overlap(pauses, int(threads[1][1]["exit_ns"]), int(threads[1][2]["enter_ns"]))
    harness.compare("the thread's gap has the whole pause", gap, pauses[0][1] - pauses[0][0])
    harness.compare("not recorded", harness.ns(page["unrecorded_seconds"]), 2 * gap)


def test_mpi_never_initialized(bench, flavour):
    """Linked with MPI or not: the program is left alone, and no archive comes of it."""
    mpi = bench.program("region_alone", flavour, ("-Wl,--no-as-needed",))
    plain = bench.path(f"region_alone.plain.{flavour}")
    bench.run(["gcc", "-w", "-I", harness.INCLUDE, "-o", plain,
               os.path.join(harness.PROGRAMS, "region_alone.c"), bench.region_library, "-ldl"],
              check=True)
    for program in (mpi, plain):
        archive = bench.path(f"never.{flavour}.rfn")
        run = bench.run([bench.refrain, "record", "--time=full",
                         "-o", archive, f"--mpi={flavour}", program],
                        check=True)
        harness.compare("output", run.out, "done\n")
        harness.compare("archive", os.path.exists(archive), False)
        harness.compare("what the recorder said", run.err, "refrain: no archive was written: the "
                        "program called no MPI function\n")


def test_mpi_loaded_later(bench, flavour):
    """Regions begun before there is an MPI are not recorded, nor are their ends missed."""
    library = bench.program("region_library", flavour, ("-shared", "-fPIC"))
    plain = bench.path(f"region_later.{flavour}")
    bench.run(["gcc", "-w", "-I", harness.INCLUDE, "-o", plain,
               os.path.join(harness.PROGRAMS, "region_alone.c"), bench.region_library, "-ldl"],
              check=True)
    run, archive = bench.record(flavour, 2, [plain, library], [f"--mpi={flavour}"])
    if "region_end" in run.err:
        raise harness.Failure(run.err)
    bench.verb("verify", archive)
    events = [e["function"] for e in bench.dump(archive, "--rank", "0")]
    harness.compare("events", events, ["MPI_Init", BEGIN, "MPI_Barrier", END, "MPI_Finalize"])


def fortran_program(bench, flavour):
    """Compiles the module from its source, then the program."""
    folder = bench.path(f"fortran-regions.{flavour}")
    os.makedirs(folder, exist_ok=True)
    out = os.path.join(folder, "regions")
    bench.run([f"mpifort.{flavour}", "-O1", "-g", "-J", folder, "-o", out,
               os.path.join(harness.INCLUDE, "refrain", "refrain.f90"),
               os.path.join(harness.PROGRAMS, "fortran", "regions.F90"), bench.region_library,
               "-ldl"], check=True)
    return out


def test_fortran(bench, flavour):
    program = fortran_program(bench, flavour)
    alone = launch(bench, flavour, 2, [program])
    run, archive = bench.record(flavour, 2, [program])
    harness.compare("output", run.out, alone.out)
    if MISUSE in run.err:
        raise harness.Failure(run.err)
    bench.verb("verify", archive)
    step = [(BEGIN, "solve"), ("MPI_Barrier", None), (BEGIN, "inner\\spart"),
            (END, "inner\\spart"), (END, "solve")]
    expected = [(BEGIN, "program"), ("MPI_Init", None), ("MPI_Comm_rank", None), *(step * 10),
                ("MPI_Pcontrol", None), ("MPI_Pcontrol", None), (BEGIN, "subordinate"),
                (END, "subordinate"), (END, "program"), ("MPI_Finalize", None)]
    for rank in range(2):
        events = bench.dump(archive, "--rank", str(rank))
        harness.compare(f"rank {rank}", [(e["function"], harness.parameter(e, "name"))
                                         for e in events], expected)
        path = events[-4]["call_path"].split(" > ")
        if not re.match(r"subordinate\S*\[\S*regions.F90:28\]$", path[-1]):
            raise harness.Failure(f"the call path of a region: {path}")
        harness.compare("where open regions end", events[-2]["call_path"],
                        events[-1]["call_path"])


def test_thread_goes_on(bench, flavour):
    """A thread that visits regions while another one is in MPI_Finalize."""
    program = bench.program("region_late_thread", flavour)
    for _ in range(5):
        run, archive = bench.record(flavour, 1, [program])
        harness.compare("output", run.out, "done\n")
        bench.verb("verify", archive)
        threads = {e["thread"] for e in bench.dump(archive)}
        harness.compare("threads", threads, {"0", "1"})


def test_thread_too_late(bench, flavour):
    """A thread that does nothing that is recorded before MPI_Finalize waits for other ranks is not recorded."""
    program, file = bench.program("region_too_late", flavour), bench.fresh("too_late")
    run, archive = bench.record(flavour, 2, [program, file])
    harness.compare("exit", run.code, 0)
    bench.verb("verify", archive)
    events = [(e["rank"], e["thread"], e["function"]) for e in bench.dump(archive)]
    harness.compare("threads", {(rank, thread) for rank, thread, _ in events}, {("0", "0"), ("1", "0")})
    harness.compare("late calls", [e for e in events if e[2] == "MPI_Initialized"], [])
