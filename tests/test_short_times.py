"""record --time=auto, the default: full times as long as they are short, reduced ones else."""
import json
import os

import harness
import rfn_reader
import test_merge
import test_smpi

MANY = 2000000  # calls of programs/noisy.c whose times take more than 1 MiB
SLEEPS = 200000  # whose simulated times take more than 256 KiB, and less than 1 MiB
NOISY = os.path.join(harness.PROGRAMS, "noisy.c")
HALO = os.path.join(harness.HERE, "..", "examples", "halo.c")


def facts(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))


def simulated(bench, ranks, arguments, env, source=NOISY):
    """Simulated times are the same in each run."""
    archive = test_smpi.smpi_run(bench, test_smpi.smpi_program(bench, source), ranks, arguments, env)
    kept = bench.fresh("simulated.rfn")
    os.rename(archive, kept)
    bench.verb("verify", kept)
    return kept


def chunks(archive):
    """All but META, which has the time of merging, and in TIMING when that was: the second pair of clocks."""
    read = rfn_reader.Archive(archive)
    harness.compare("times are reduced", read.reduced, None)
    found = {key: bytes(chunk.payload) for key, chunk in read.chunks.items() if key[0] != rfn_reader.META}
    return {key: payload[:27] + payload[51:] if key[0] == rfn_reader.TIMING else payload
            for key, payload in found.items()}


def record(bench, flavour, ranks, options, arguments, name="noisy", env=None):
    """Without an option for times, unless there is one. (run, archive)"""
    archive = bench.fresh("short.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "record", "-f", "-o", archive, *options,
                     bench.program(name, flavour), *arguments], check=True, env=env)
    bench.verb("verify", archive)
    return run, archive


# ---- short ones ----

def test_simulated_as_full(bench):
    for source, ranks, arguments in ((HALO, 16, ["300", "4"]), (NOISY, 4, ["20000", "1", "sleep"])):
        for more in ({}, {"REFRAIN_MERGE_INTERVAL": "3"}):
            full, auto = (simulated(bench, ranks, arguments, {"REFRAIN_TIME": time, **more}, source)
                          for time in ("full", ""))
            harness.compare(f"{source}, {more}: chunks", chunks(auto) == chunks(full), True)


def test_short_is_full(bench, flavour):
    for options in ([], ["--time=auto"], ["--merge-interval=100"]):
        run, archive = record(bench, flavour, 4, options, ["20000"])
        harness.compare(f"{options}: reduced", facts(bench, archive)["reduced"], None)
        if "full: of every event (each thread's take at most 1.00 MiB, or --time=full)" not in bench.verb("info", archive):
            raise harness.Failure(f"{options}: info does not say which times there are")
        harness.compare("said", "reduced" in run.err, False)


def test_saying_how_is_asking(bench):
    """Short times are reduced where an option says how."""
    for how in ("--similarity=relDiff:0.5", "--across=0.4", "--segment-min-calls=2", "--segment-starts=exact"):
        for time in ([], ["--time=auto"]):
            _, archive = record(bench, "mpich", 2, [how, *time], ["200"])
            harness.compare(f"{how} {time}: reduced", facts(bench, archive)["reduced"] is not None, True)


def test_environment(bench):
    """By hand: a wrong value is told, and the default is taken; the name of the default is one."""
    for value, told in (("auto", False), ("segments", True), ("", False)):
        archive = bench.fresh("by-hand.rfn")
        program = test_smpi.smpi_program(bench, NOISY)
        run, archive = test_smpi.smpi_launch(bench, program, 2, ["40", "-1", "sleep"], {"REFRAIN_TIME": value})
        harness.compare(f"{value}: {run.err}",
                        "REFRAIN_TIME is one of auto, full, reduced, none, not 'segments'; auto is taken" in run.err,
                        told)
        harness.compare(f"{value}: reduced", facts(bench, archive)["reduced"], None)


# ---- long ones ----

def check_reduced(bench, archive, long_threads, threads, why):
    found = facts(bench, archive)["reduced"] or {"long_threads": None, "threads": None}
    harness.compare(f"{archive}: threads that are long, and all", (found["long_threads"], found["threads"]),
                    (long_threads, threads))
    text = bench.verb("info", archive)
    if why not in text:
        raise harness.Failure(f"'{why}' is not said: {text}")


def test_long_is_reduced(bench, flavour):
    run, archive = record(bench, flavour, 2, [], [str(MANY)])
    check_reduced(bench, archive, 2, 2, ", as full ones of 2 threads take more than 1.00 MiB")
    _, full = record(bench, flavour, 2, ["--time=full"], [str(MANY)])
    if os.path.getsize(full) < 2 << 20 or os.path.getsize(archive) > os.path.getsize(full) / 2:
        raise harness.Failure(f"{os.path.getsize(archive)} bytes, in full {os.path.getsize(full)}\n{run.err}")
    _, asked = record(bench, flavour, 2, ["--time=reduced"], ["1000"])
    check_reduced(bench, asked, 0, 2, "Reduced     times are those of similar iterations (jitter 0.02)\n")


@harness.long
def test_one_rank_is_long(bench, flavour):
    """Then the times of all ranks are reduced, as --time=reduced does."""
    more = [["--memory=2M"], ["--merge-interval=5"]] if flavour == "mpich" else []
    for options in ([], *more):
        _, archive = record(bench, flavour, 3, options, [str(MANY), "2"])
        check_reduced(bench, archive, 3 if options == ["--merge-interval=5"] else 1, 3, "than 1.00 MiB\n")


def test_limit_of_many_ranks(bench):
    """64 MiB of all ranks: of 256 each has 256 KiB."""
    for ranks, reduced in ((64, False), (256, True)):
        archive = simulated(bench, ranks, [str(SLEEPS), "5", "sleep"], {"REFRAIN_TIME": "auto"})
        if reduced:
            check_reduced(bench, archive, 1, ranks, ", as full ones of 1 thread take more than 256 KiB")
        else:
            harness.compare(f"{ranks} ranks: reduced", facts(bench, archive)["reduced"], None)


def test_simulated_as_reduced(bench):
    """What is kept of the times is what --time=reduced keeps."""
    asked, auto = (simulated(bench, 256, [str(SLEEPS), "5", "sleep"], {"REFRAIN_TIME": time})
                   for time in ("reduced", "auto"))
    harness.compare("dumps", bench.verb("dump", asked) == bench.verb("dump", auto), True)
    found = [facts(bench, archive)["reduced"] for archive in (asked, auto)]
    harness.compare("long threads", [one.pop("long_threads") for one in found], [0, 1])
    harness.compare("what became of the segments", found[1], found[0])


@harness.long
@harness.real_time
def test_memory_is_the_limit(bench, flavour):
    """Long times are reduced when memory is short, before they would go to a journal. How many bytes they take first
    depends on how much else disturbs the program, and so do the starts that are corrected: with 8M they did not fit on a
    noisy machine."""
    run, archive = record(bench, flavour, 1, ["--memory=16M"], [str(3 * MANY)])
    check_reduced(bench, archive, 1, 1, "than 1.00 MiB")
    harness.compare(f"journal: {run.err}", "journal" in run.err, False)


@harness.long
def test_ranks_asked_for_others(bench, flavour):
    """Rank 0 decides: full times of a long rank that might have reduced them are none of its archive."""
    program, archive = bench.program("noisy", flavour), bench.fresh("others.rfn")
    for first, other, calls, reduced in (("auto", "full", 2000, False), ("full", "auto", 2000, False),
                                         ("reduced", "auto", 2000, True), ("auto", "full", MANY, True),
                                         ("full", "auto", MANY, None)):
        parts = [[bench.refrain, "record", "-f", "-o", archive, f"--time={time}", program, str(calls)]
                 for time in (first, other)]
        if os.path.exists(archive):
            os.unlink(archive)
        run = bench.run([*harness.FLAVOURS[flavour].launch(1), *parts[0], ":", "-n", "1", *parts[1]], check=True)
        what = f"{first}, {other}, {calls}"
        harness.compare(f"{what}: an archive exists: {run.err}", os.path.exists(archive), reduced is not None)
        if reduced is None:
            harness.compare(f"{what}: {run.err}", "rank 1: recorded without --time=full" in run.err, True)
        else:
            bench.verb("verify", archive)
            harness.compare(f"{what}: reduced", facts(bench, archive)["reduced"] is not None, reduced)


def test_of_an_aborted_rank(bench, flavour):
    """A rank that is alone goes by its own times."""
    for file in test_merge.aborted(bench, flavour, []):
        found = json.loads(bench.run([bench.refrain, "info", "--json", file]).out)
        harness.compare(f"{file}: reduced", found["reduced"], None)
