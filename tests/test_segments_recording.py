"""record --time=segments: the times of alike iterations are kept once while the program runs."""
import json
import os

import harness
import test_events
import test_memory
import test_reduce
import test_smpi

SEGMENTS = ["--time=segments"]


def facts(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))


def reduction(bench, archive):
    return facts(bench, archive)["reduced"]


# ---- simulated times are the same in each run ----

def simulated(bench, source, ranks, arguments, env):
    program = test_smpi.smpi_program(bench, source)
    archive = test_smpi.smpi_run(bench, program, ranks, arguments, env=env)
    kept = bench.fresh("simulated.rfn")
    os.rename(archive, kept)
    bench.verb("verify", kept)
    return kept


def check_as_reduced(bench, source, ranks, arguments=(), options=(), env=()):
    """What is recorded is what refrain reduce makes of a full recording. max-per-kind is the
    recorder's own."""
    full = simulated(bench, source, ranks, arguments, {"REFRAIN_TIME": "full"})
    recorded = simulated(bench, source, ranks, arguments,
                         {"REFRAIN_TIME": "segments", **dict(env)})
    reduced, _ = test_reduce.reduced(bench, full, "--max-per-kind=400", *options)
    if bench.verb("dump", recorded) != bench.verb("dump", reduced):
        raise harness.Failure("other events or times than those of refrain reduce")
    wanted = {name: value for name, value in reduction(bench, reduced).items()
              if name != "full_bytes"}
    found = {name: value for name, value in reduction(bench, recorded).items()
             if name != "full_bytes"}
    harness.compare("what became of the segments", found, wanted)
    return recorded, found


HALO = os.path.join(harness.HERE, "..", "examples", "halo.c")


def program_path(name):
    return os.path.join(harness.PROGRAMS, name + ".c")


def test_as_reduced_halo(bench):
    check_as_reduced(bench, HALO, 4, ["3000", "4"])


def test_as_reduced_in_other_ways(bench):
    """Methods with and without a threshold of time, exact starts, larger segments."""
    check_as_reduced(bench, HALO, 4, ["300", "4"], ["--similar=absDiff:20", "--starts=exact"],
                     {"REFRAIN_SIMILAR": "absDiff:20", "REFRAIN_STARTS": "exact"})
    check_as_reduced(bench, HALO, 4, ["300", "4"], ["--similar=iterK:3", "--segment-min-calls=10"],
                     {"REFRAIN_SIMILAR": "iterK:3", "REFRAIN_SEGMENT_MIN_CALLS": "10"})


def test_as_reduced_others(bench):
    check_as_reduced(bench, program_path("late_sender"), 8)
    check_as_reduced(bench, program_path("point_to_point"), 2, env={"EXPECT_OUT": "log"})


def test_as_reduced_marks(bench):
    check_as_reduced(bench, program_path("segments"), 2)


def test_small(bench):
    """A regular program of many steps: the archive does not grow with them."""
    archive = simulated(bench, HALO, 16, ["2000", "4"], {"REFRAIN_TIME": "segments"})
    if os.path.getsize(archive) > 16 << 10:
        raise harness.Failure(f"{os.path.getsize(archive)} bytes")


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


def test_default(bench, flavour):
    """Times are reduced unless something else is asked for."""
    program, archive = bench.program(HALO, flavour), bench.fresh("default.rfn")
    record = [*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "-f", "-o", archive]
    bench.run([*record, program, "100", "4"], check=True)
    told = reduction(bench, archive)
    harness.compare("defaults", (told["similar"], told["min_calls"], told["exact_starts"]),
                    ("jitter:0.02", 1, False))
    for time in ("full", "none"):
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
                                      [*SEGMENTS, f"--similar={similar}", "--starts=exact",
                                       f"--resolution={resolution}"])
            bench.verb("verify", archive)
            told = reduction(bench, archive)
            harness.compare("similar", told["similar"], similar)
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
    """A rank that calls MPI_Abort saves its own events."""
    program = bench.program("endings", flavour)
    archive = bench.fresh("abort.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", *SEGMENTS,
                     "--force", "-o", archive, program, "abort"])
    alone = archive[:-len(".rfn")] + ".rank0.rfn"
    if run.code == 0 or not os.path.exists(alone):
        raise harness.Failure(f"exit {run.code}\n{run.out}{run.err}")
    dump = bench.run([bench.refrain, "dump", alone])
    harness.compare("last event", "MPI_Abort" in dump.out.splitlines()[-1], True)


def test_wrong_usage(bench, flavour):
    program = bench.program(HALO, flavour)
    for options in (["--time=some"], ["--similar=nearly"], ["--similar=avgWave:-1"],
                    ["--segment-min-calls=0"], ["--segment-min-calls=x"], ["--starts=early"],
                    ["--time=full", "--similar=avgWave"], ["--time=none", "--starts=exact"],
                    ["--across=0.4"]):
        run = bench.run([bench.refrain, "record", *options, program])
        harness.compare(f"exit status with {options}", run.code, 2)
        harness.compare("the option is named", options[-1].split("=")[0] in run.err, True)
