"""record --time=reduced: the times of alike iterations are kept once while the program runs."""
import json
import os

import harness
import pathologies
import test_events
import test_memory
import test_reader
import test_reduce
import test_smpi

SEGMENTS = ["--time=reduced"]


def facts(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))


def reduction(bench, archive):
    return facts(bench, archive)["reduced"]


# ---- simulated times are the same in each run ----

def kept_apart(bench, archive):
    kept = bench.fresh("simulated.rfn")
    os.rename(archive, kept)
    bench.verb("verify", kept)
    return kept


def simulated(bench, source, ranks, arguments, env):
    program = test_smpi.smpi_program(bench, source)
    return kept_apart(bench, test_smpi.smpi_run(bench, program, ranks, arguments, env=env))


def check_same(bench, full, recorded, options):
    """What is recorded is what refrain reduce makes of a full recording. max-per-kind is the
    recorder's own."""
    reduced, _ = test_reduce.reduced(bench, full, "--max-per-kind=400", *options)
    if bench.verb("dump", recorded) != bench.verb("dump", reduced):
        raise harness.Failure("other events or times than those of refrain reduce")
    wanted = {name: value for name, value in reduction(bench, reduced).items()
              if name != "full_bytes"}
    found = {name: value for name, value in reduction(bench, recorded).items()
             if name != "full_bytes"}
    harness.compare("what became of the segments", found, wanted)
    return found


def check_as_reduced(bench, source, ranks, arguments=(), options=(), env=()):
    full = simulated(bench, source, ranks, arguments, {"REFRAIN_TIME": "full"})
    recorded = simulated(bench, source, ranks, arguments,
                         {"REFRAIN_TIME": "reduced", **dict(env)})
    return recorded, check_same(bench, full, recorded, options)


HALO = os.path.join(harness.HERE, "..", "examples", "halo.c")


def program_path(name):
    return os.path.join(harness.PROGRAMS, name + ".c")


def test_as_reduced_halo(bench):
    check_as_reduced(bench, HALO, 4, ["3000", "4"])


def test_as_reduced_in_other_ways(bench):
    """Methods with and without a threshold of time, exact starts, larger segments."""
    check_as_reduced(bench, HALO, 4, ["300", "4"], ["--similarity=absDiff:20", "--segment-starts=exact"],
                     {"REFRAIN_SIMILARITY": "absDiff:20", "REFRAIN_SEGMENT_STARTS": "exact"})
    check_as_reduced(bench, HALO, 4, ["300", "4"], ["--similarity=iterK:3", "--segment-min-calls=10"],
                     {"REFRAIN_SIMILARITY": "iterK:3", "REFRAIN_SEGMENT_MIN_CALLS": "10"})


def test_as_reduced_others(bench):
    check_as_reduced(bench, program_path("late_sender"), 8)
    check_as_reduced(bench, program_path("point_to_point"), 2, env={"EXPECT_OUT": "log"})


def test_as_reduced_marks(bench):
    check_as_reduced(bench, program_path("segments"), 2)


# ---- across processes: the same as off line ----

def check_across(bench, source, ranks, arguments=(), across="0.4", similar="jitter:0.02", env=()):
    """One recorded with --across is what refrain reduce --across makes of a full one: the same times,
    the same sets of them. How many sets of how many classes."""
    archive, found = check_as_reduced(
        bench, source, ranks, arguments, [f"--similarity={similar}", f"--across={across}"],
        {"REFRAIN_SIMILARITY": similar, "REFRAIN_ACROSS": across, **dict(env)})
    method = similar.split(":", maxsplit=1)[0]
    harness.compare("across", found["across"], f"{method}:{across}")
    told = f"across processes {method} {across}"
    harness.compare(f"info says '{told}'", told in bench.verb("info", archive), True)
    return archive, found["time_sets"], found["classes"]


@harness.long
def test_across_halo(bench):
    for ranks in (4, 16, 64):
        _, sets, classes = check_across(bench, HALO, ranks, ["200", "4"])
        harness.compare(f"of {ranks} ranks", (sets < ranks / 2, classes), (True, 1))
    for ranks, across in ((7, "0.1"), (16, "0.01"), (13, "0")):
        check_across(bench, HALO, ranks, ["200", "4"], across)


def test_across_methods(bench):
    for similar, across in (("absDiff:20", "50"), ("relDiff:0.2", "0.8"), ("avgWave:0.2", "0.4"),
                            ("haarWave:0.1", "0.2"), ("manhattan:0.2", "0.1"), ("euclidean:0", "0.1")):
        check_across(bench, HALO, 9, ["100", "4"], across, similar)


def test_across_others(bench):
    """Ranks of several classes; some that went otherwise than others of their class."""
    for name, ranks in (("late_sender", 8), ("point_to_point", 2), ("segments", 4)):
        check_across(bench, program_path(name), ranks, env={"EXPECT_OUT": "log"})


def test_across_one(bench):
    """One rank's times for all that executed the same segments, whatever they are; "all": each its own."""
    for source, ranks, arguments in ((HALO, 16, ["100", "4"]), (program_path("late_sender"), 8, []),
                                     (program_path("segments"), 4, [])):
        archive, found = check_as_reduced(bench, source, ranks, arguments, ["--across=one"],
                                          {"REFRAIN_ACROSS": "one", "EXPECT_OUT": "log"})
        harness.compare("across", (found["across"], found["time_sets"]), ("one", found["classes"]))
        said, own = " ".join(bench.verb("info", archive).split()), found["time_sets"] == found["threads"]
        harness.compare("info says so", ("times of one rank stand for those of its cluster" in said,
                                         "each rank's its own, as no two have the same loops and parameters" in said),
                        (not own, own))
    archive, found = check_as_reduced(bench, HALO, 4, ["100", "4"], ["--across=all"],
                                      {"REFRAIN_ACROSS": "all"})
    harness.compare("all", (found["across"], found["time_sets"]), (None, 4))


@harness.long
def test_across_pathologies(bench):
    """The sets that are found off line, and archives that are not larger for it, but for what META says. Of
    programs with noise that of 1024 nodes is enough."""
    for program in pathologies.PROGRAMS:
        if program.numbers.get("nodes") == 32:
            continue
        full = kept_apart(bench, pathologies.record(bench, program))
        size = {}
        for across in ("", "0.4"):
            recorded = kept_apart(bench, pathologies.record(
                bench, program, {"REFRAIN_TIME": "reduced", "REFRAIN_ACROSS": across}))
            found = check_same(bench, full, recorded, [f"--across={across}"] if across else [])
            size[across] = os.path.getsize(recorded)
        print(f"{program.name:24}{found['threads']:4} threads, {found['classes']:3} classes,"
              f"{found['time_sets']:4} sets of times: {size['']:7} bytes, {size['0.4']:7} across",
              flush=True)
        if size["0.4"] > size[""] + 24 or found["time_sets"] < found["classes"]:
            raise harness.Failure(f"{size}, {found}")


def test_small(bench):
    """A regular program of many steps: the archive does not grow with them."""
    archive = simulated(bench, HALO, 16, ["2000", "4"], {"REFRAIN_TIME": "reduced"})
    if os.path.getsize(archive) > 16 << 10:
        raise harness.Failure(f"{os.path.getsize(archive)} bytes")


# ---- across processes, measured times ----

# A thousand seconds, more than any run: what goes the same way is alike, on whatever machine.
ANYTHING = [*SEGMENTS, "--similarity=absDiff:1000000000", "--across", "1000000000"]


def times_by_rank(bench, archive):
    times = {}
    for event in bench.dump(archive):
        who = event["rank"], event["thread"]
        times.setdefault(who, []).append((event["enter_ns"], event["exit_ns"]))
    return times


@harness.long
def test_across_measured(bench, flavour):
    """All ranks have the times of the first, by its clock."""
    program = bench.program(HALO, flavour)
    for options in ([], ["--resolution=1us", "--segment-starts=exact"], ["--volume=cpu"], ["--memory=2M"]):
        _, archive = bench.record(flavour, 4, [program, "300", "4"], [*ANYTHING, *options])
        bench.verb("verify", archive)
        told = reduction(bench, archive)
        harness.compare("sets", (told["across"], told["time_sets"], told["classes"], told["threads"]),
                        ("absDiff:1000000000", 1, 1, 4))
        times = times_by_rank(bench, archive)
        harness.compare("ranks", len(times), 4)
        harness.compare("times of all", {tuple(ts) for ts in times.values()} == {
            tuple(times["0", "0"])}, True)
        check_times(bench, archive)
        test_reader.compare(bench, archive, "read independently")


def test_across_known_events(bench, flavour):
    """Threads, too: each is compared with all."""
    for name, ranks in (("completions", 2), ("polls", 2), ("threads", 2)):
        test_events.check_program(bench, flavour, name, ranks, ANYTHING)


def test_across_threads(bench, flavour):
    _, archive = bench.record(flavour, 2, [bench.program("threads", flavour)], ANYTHING,
                              env={"EXPECT_OUT": bench.path("across.log")})
    bench.verb("verify", archive)
    told = reduction(bench, archive)
    harness.compare("less sets than threads", (told["threads"], told["time_sets"] < 8), (8, True))
    check_times(bench, archive)


def test_across_epochs(bench, flavour):
    """Little memory: streams that cannot be copied keep their own times."""
    _, small = test_memory.record(bench, flavour, 2, 150000, [*SEGMENTS, "--memory=2M",
                                                              "--across=0.4"])
    bench.verb("verify", small)
    told = reduction(bench, small)
    harness.compare("compared", (told["across"], told["threads"]), ("jitter:0.4", 2))
    _, full = test_memory.record(bench, flavour, 2, 150000, ["--memory=1G"])
    harness.compare("events", test_memory.digest(bench, small), test_memory.digest(bench, full))


def test_across_options_differ(bench, flavour):
    """Rank 0's count; who keeps full times is compared with nobody."""
    program, archive = bench.program(HALO, flavour), bench.fresh("differ.rfn")
    for first, second, expected in ((ANYTHING, SEGMENTS, (1, 2)), (SEGMENTS, ANYTHING, (2, 2)),
                                    (ANYTHING, ["--time=full"], (1, 1))):
        command = [[bench.refrain, "record", "-f", "-o", archive, *options, program, "50", "4"]
                   for options in (first, second)]
        bench.run([*harness.FLAVOURS[flavour].launch(1), *command[0], ":", "-n", "1", *command[1]],
                  check=True)
        bench.verb("verify", archive)
        told = reduction(bench, archive)
        harness.compare(f"{first}, {second}", (told["time_sets"], told["threads"]), expected)
        harness.compare("across", told["across"] is None, first is SEGMENTS)


# ---- measured times ----

def check_times(bench, archive):
    """Per thread they ascend."""
    last = {}
    for event in bench.dump(archive):
        who = event["rank"], event["thread"]
        if not last.get(who, 0) <= int(event["enter_ns"]) <= int(event["exit_ns"]):
            raise harness.Failure(f"times go back: {event}")
        last[who] = int(event["exit_ns"])


def test_known_events(bench, flavour):
    test_events.check_program(bench, flavour, "completions", 2, SEGMENTS)
    test_events.check_program(bench, flavour, "polls", 2, SEGMENTS)
    test_events.check_program(bench, flavour, "threads", 2, SEGMENTS)


def test_reduced(bench, flavour):
    """Times are reduced if that is asked for, in the default way, and in no other case here."""
    program, archive = bench.program(HALO, flavour), bench.fresh("default.rfn")
    record = [*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "-f", "-o", archive]
    bench.run([*record, "--time=reduced", program, "100", "4"], check=True)
    told = reduction(bench, archive)
    harness.compare("defaults", (told["similarity"], told["min_calls"], told["exact_starts"]),
                    ("jitter:0.02", 1, False))
    for time in ("auto", "full", "none"):
        bench.run([*record, f"--time={time}", program, "100", "4"], check=True)
        harness.compare(f"reduced with --time={time}", reduction(bench, archive), None)


def test_ways(bench, flavour):
    """Volumes and every poll."""
    program = bench.program("polls", flavour)
    for options in (["--volume=cpu"], ["--polls=all"], ["--resolution=1us"]):
        _, archive = bench.record(flavour, 2, [program], [*SEGMENTS, *options],
                                  env={"EXPECT_OUT": bench.path("ways.log")})
        bench.verb("verify", archive)
        check_times(bench, archive)


def test_thresholds_of_time(bench, flavour):
    """They are times, whatever the clock's quantum is: a second is more than any two steps differ,
    and with nothing allowed hardly any two are equal."""
    program = bench.program(HALO, flavour)
    kept = {}
    for similar in ("absDiff:1000000", "absDiff:0"):
        for resolution in ("1ns", "1us"):
            _, archive = bench.record(flavour, 2, [program, "500", "4"],
                                      [*SEGMENTS, f"--similarity={similar}", "--segment-starts=exact",
                                       f"--resolution={resolution}"])
            bench.verb("verify", archive)
            told = reduction(bench, archive)
            harness.compare("similarity", told["similarity"], similar)
            kept[similar, resolution] = told["kept"] - told["kinds"]
    harness.compare("kept with a second", kept["absDiff:1000000", "1ns"], 0)
    harness.compare("kept with a second, coarse clock", kept["absDiff:1000000", "1us"], 0)
    if kept["absDiff:0", "1ns"] < 100:
        raise harness.Failure(f"with a threshold of 0 only {kept} are kept")


def test_times_ascend(bench, flavour):
    """Where representatives are longer than what is executed as them, too."""
    program = bench.program(HALO, flavour)
    _, archive = bench.record(flavour, 1, [program, "3000", "64"], SEGMENTS)
    events = bench.dump(archive)
    waits = [int(e["exit_ns"]) for e in events if e["function"] == "MPI_Waitall"]
    harness.compare("steps", len(waits), 3000)
    check_times(bench, archive)


def test_nothing_written_before_the_end(bench, flavour):
    """Where iterations are alike a little memory is enough for many epochs."""
    program = bench.program("regular_run", flavour)
    archive = bench.fresh("regular.rfn")
    run, _ = bench.record(flavour, 2, [program, "300000", archive + ".journal"],
                          [*SEGMENTS, "--memory=4M"], archive=archive)
    harness.compare("journals", run.out.count("no journal"), 2)
    bench.verb("verify", archive)
    told = facts(bench, archive)
    harness.compare("calls", told["calls"], 2 * (300000 * 4 + 3))


def test_time_of_epochs(bench, flavour):
    """Thousands of calls are reduced at once, and where memory is short their times: that is the recorder's own work,
    neither in the calls nor what the program computes. (Calls and gaps are in processor time, which others that need
    the machine do not prolong.)"""
    program = bench.program(os.path.join(harness.HERE, "..", "bench", "calls.c"), flavour)
    archive = bench.record(flavour, 1, [program, "self", "300000"], [*SEGMENTS, "--memory=4M", "--volume=cpu"])[1]
    events = [event for event in bench.dump(archive) if event["function"] not in ("MPI_Init", "MPI_Finalize")]
    inside, outside = (sum(ns for ns in (int(event[name]) for event in events) if ns > 500000)
                       for name in ("volume_inside", "volume_gap"))
    own = harness.recording_ns(archive)[0]
    if own < 20e6 or inside + outside > 5e6:
        raise harness.Failure(f"the recorder worked for {own} ns; what takes more than half a millisecond: {inside} ns in "
                              f"calls, {outside} ns outside")


def test_too_little_memory(bench, flavour):
    """An irregular program: epochs, wider thresholds, then the journal; only times suffer."""
    spilled, small = test_memory.record(bench, flavour, 2, 150000, [*SEGMENTS, "--memory=2M"])
    harness.compare("with little memory", "no journal" in spilled.out, False)
    if reduction(bench, small)["widened"] == 0:
        raise harness.Failure("no threshold was widened")
    _, full = test_memory.record(bench, flavour, 2, 150000, ["--memory=1G"])
    harness.compare("events", test_memory.digest(bench, small), test_memory.digest(bench, full))


def test_memory_of_an_irregular_run(bench, flavour):
    """What is held while times are put together and written is bounded as well."""
    program = bench.program("long_run", flavour)
    plain = bench.run([*harness.FLAVOURS[flavour].launch(1), program, "1000"], check=True)
    run, _ = test_memory.record(bench, flavour, 1, 1000000, SEGMENTS)
    grown = test_memory.largest(run) - test_memory.largest(plain)
    if grown > 32 * 1024:
        raise harness.Failure(f"the process has grown by {grown} KiB")


def test_ends_early(bench, flavour):
    """A rank that calls MPI_Abort saves its own events, and is compared with nobody."""
    program = bench.program("endings", flavour)
    archive = bench.fresh("abort.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", *ANYTHING,
                     "--force", "-o", archive, program, "abort"])
    alone = archive[:-len(".rfn")] + ".rank0.rfn"
    if run.code == 0 or not os.path.exists(alone):
        raise harness.Failure(f"exit {run.code}\n{run.out}{run.err}")
    dump = bench.run([bench.refrain, "dump", alone])
    harness.compare("last event", "MPI_Abort" in dump.out.splitlines()[-1], True)
    told = json.loads(bench.run([bench.refrain, "info", "--json", alone]).out)["reduced"]
    harness.compare("across", told["across"], None)


def test_wrong_usage(bench, flavour):
    program = bench.program(HALO, flavour)
    for options in (["--time=some"], ["--similarity=nearly"], ["--similarity=avgWave:-1"],
                    ["--segment-min-calls=0"], ["--segment-min-calls=x"], ["--segment-starts=early"],
                    ["--time=full", "--similarity=avgWave"], ["--time=none", "--segment-starts=exact"],
                    ["--across=0.4:x"], ["--similarity=iterK", "--across=0.4"], ["--across="],
                    ["--time=full", "--across=0.4"]):
        run = bench.run([bench.refrain, "record", *options, program])
        harness.compare(f"exit status with {options}", run.code, 2)
        harness.compare("the option is named", options[-1].split("=")[0] in run.err, True)
