"""Counters beside the clock (`refrain record --volume`), and the resolution of the clock.

programs/volumes.c computes known amounts between known calls. Bounds are such that a busy machine
keeps them: a thread that spins for some CPU time has used at least that, and one that sleeps has
used none, save what the recorder and the system need for a moment. It spins by the clock that is
counted: programs/volumes.c says how the kernel's two clocks of a thread differ.
"""
import json
import os

import harness
import rfn_reader
import rfn_text

MS = 1000000
SPIN, POLL_SPIN, INSTRUCTIONS, POLLS = 50 * MS, 20 * MS, 10000000, 3
SPUN, SLEPT, EXECUTED = "MPI_Comm_test_inter", "MPI_Get_address", "MPI_Query_thread"
RANKS = 2


def compare_readers(bench, archive):
    """What was recorded is in the archive as the independent reader finds it."""
    dumped = bench.verb("dump", archive).split("\n")[:-1]
    harness.compare("lines", list(rfn_text.lines(rfn_reader.Archive(archive))), dumped)
    bench.verb("verify", archive)


def record(bench, flavour, volume, *options, spin_by=()):
    """(archive, per rank a map from functions to the last dumped event)"""
    program = bench.program("volumes", flavour)
    _, archive = bench.record(flavour, RANKS, [program, *spin_by], ["--volume", volume, *options])
    compare_readers(bench, archive)
    ranks = [{} for _ in range(RANKS)]
    for event in bench.dump(archive):
        ranks[int(event["rank"])][event["function"]] = event
    return archive, ranks


def at_least(what, event, column, bound):
    if int(event[column]) < bound:
        raise harness.Failure(f"{what}: {column} is {event[column]}, expected {bound} or more")


def check_cpu(ranks):
    for number, events in enumerate(ranks):
        at_least(f"spin of rank {number}", events[SPUN], "volume_gap", SPIN)
        if int(events[SLEPT]["volume_gap"]) >= 100 * MS:
            raise harness.Failure(f"rank {number} computed while it slept: {events[SLEPT]}")
        # Between two polls of a run nothing is inside of MPI.
        at_least(f"polls of rank {number}", events["MPI_Test"], "volume_gap",
                 (POLLS - 1) * POLL_SPIN)
        harness.compare("polls", harness.polls(events["MPI_Test"]), POLLS)


def test_cpu_time(bench, flavour):
    archive, ranks = record(bench, flavour, "cpu")
    check_cpu(ranks)
    for events in ranks:
        elapsed = int(events[SLEPT]["enter_ns"]) - int(events[SPUN]["exit_ns"])
        if elapsed < 300 * MS:
            raise harness.Failure(f"the sleep took {elapsed} ns")
    info = json.loads(bench.verb("info", "--json", archive))
    harness.compare("volume", (info["volume"], info["volume_unit"], info["volume_threads"]),
                    ("cpu", "ns", RANKS))
    if "Volume      cpu\n" not in bench.verb("info", archive):
        raise harness.Failure("info does not name the volume")


def test_without_times(bench, flavour):
    archive, ranks = record(bench, flavour, "cpu", "--time=none")
    check_cpu(ranks)
    harness.compare("enter", {events[SPUN]["enter_ns"] for events in ranks}, {"-"})
    harness.compare("times", json.loads(bench.verb("info", "--json", archive))["times"], False)


def test_every_poll(bench, flavour):
    """Each poll an event: the sum is that of the run."""
    program = bench.program("volumes", flavour)
    _, archive = bench.record(flavour, 1, [program], ["--volume=cpu", "--polls=all"])
    compare_readers(bench, archive)
    polls = [event for event in bench.dump(archive) if event["function"] == "MPI_Test"]
    harness.compare("polls", len(polls), POLLS)
    for event in polls[1:]:
        at_least("a poll", event, "volume_gap", POLL_SPIN)


CLOCK = "perf::TASK-CLOCK"


def need_papi(bench, flavour):
    """Where PAPI does not count CLOCK, and only there, it is said before the program starts."""
    if bench.run([bench.program("papi_counts", flavour, ["-lpapi"]), CLOCK]).code != 0:
        refused(bench, [f"--volume=papi:{CLOCK}"], 1, f"PAPI does not count {CLOCK}")
        raise harness.Refused(f"PAPI does not count {CLOCK} here")


def test_papi(bench, flavour):
    need_papi(bench, flavour)
    archive, ranks = record(bench, flavour, f"papi:{CLOCK}", spin_by=["task-clock"])
    check_cpu(ranks)
    harness.compare("volume", json.loads(bench.verb("info", "--json", archive))["volume"],
                    f"papi:{CLOCK}")


def test_report(bench, flavour):
    """The page and its numbers: what was counted outside of MPI and inside of it."""
    archive, _ = record(bench, flavour, "cpu")
    events = bench.dump(archive)
    report = json.loads(bench.verb("report", "--json", archive))
    for rank in report["time_per_rank"]:
        own = [event for event in events if int(event["rank"]) == rank["rank"]]
        for column, name in (("volume_gap", "volume_outside"), ("volume_inside", "volume_mpi")):
            harness.compare(name, rank[name], sum(int(event[column]) for event in own))
    for path in report["call_paths"]:
        if path["function"] == "MPI_Test":
            own = [event for event in events if event["function"] == "MPI_Test"]
            harness.compare("of MPI_Test", (path["volume_before"], path["volume_inside"]),
                            (sum(int(event["volume_gap"]) for event in own),
                             sum(int(event["volume_inside"]) for event in own)))
    if "Volume per rank: cpu" not in bench.verb("report", archive):
        raise harness.Failure("the page does not show the volume")


def test_instructions(bench, flavour):
    """Counted where the machine can; elsewhere the program does not start, and it is said why."""
    program = bench.program("volumes", flavour)
    run = bench.run([*harness.FLAVOURS[flavour].launch(1), bench.refrain, "record", "--force", "-o",
                     bench.path("instructions.rfn"), "--volume=instructions", program])
    if run.code == 0:
        event = next(event for event in bench.dump(bench.path("instructions.rfn"))
                     if event["function"] == EXECUTED)
        at_least("instructions", event, "volume_gap", INSTRUCTIONS)
        return
    if "done" in run.out or "this machine does not count instructions: " not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")


def refused(bench, options, status, reason):
    program = bench.program("volumes", "openmpi")
    run = bench.run([bench.refrain, "record", *options, program])
    harness.compare(f"exit of {options}", run.code, status)
    if reason not in run.err or "done" in run.out:
        raise harness.Failure(f"{options}: {run.out}{run.err}")


def test_wrong_options(bench):
    for volume in ("", "time", "papi:", "CPU"):
        refused(bench, [f"--volume={volume}"], 2, "--volume is cpu, instructions or papi:EVENT")
    for resolution in ("", "5", "0ns", "ns", "-1ns", "1.5us", "1 ns", "2s", "99999999999ns"):
        refused(bench, [f"--resolution={resolution}"], 2, "--resolution is a time from 1ns to 1s")
    refused(bench, ["--volume=papi:no::SUCH-EVENT"], 1, "PAPI does not count no::SUCH-EVENT")


@harness.real_time
def test_some_rank_cannot_count(bench, flavour):
    """Rank 1 has a PAPI that cannot be loaded: it says so once, and its events have no volumes."""
    need_papi(bench, flavour)
    broken = bench.path(f"no-papi-{flavour}")
    os.makedirs(broken)
    for name in ("libpapi.so", *(f"libpapi.so.{major}.{minor}" for major in range(5, 9)
                                 for minor in range(10))):
        with open(os.path.join(broken, name), "w", encoding="utf-8"):
            pass
    archive = bench.path(f"some-{flavour}.rfn")
    recorder = os.path.join(bench.build, "lib", f"librefrain-{flavour}.so")
    script = ('if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then\n'
              f'export LD_LIBRARY_PATH={broken}; fi\n'
              f'LD_PRELOAD={recorder} REFRAIN_PRELOAD={recorder} REFRAIN_OUTPUT={archive} '
              f'REFRAIN_TIME=full REFRAIN_VOLUME=papi:{CLOCK} exec {bench.program("volumes", flavour)} task-clock')
    run = bench.run([*harness.FLAVOURS[flavour].launch(RANKS), "sh", "-c", script], check=True)
    harness.compare("said", run.err.count("no volumes are recorded here: PAPI's library"), 1)
    compare_readers(bench, archive)
    events = bench.dump(archive)
    harness.compare("of rank 1", {event["volume_gap"] for event in events if event["rank"] == "1"},
                    {"-"})
    at_least("rank 0", next(event for event in events if event["function"] == SPUN), "volume_gap",
             SPIN)
    if "counted by 1 of 2 threads" not in bench.verb("info", archive):
        raise harness.Failure("info does not say that a thread did not count")


def test_before_the_launcher(bench, flavour):
    """Both options find their way through the launcher's command line."""
    archive = bench.path(f"launched-{flavour}.rfn")
    bench.run([bench.refrain, "record", "-o", archive, "--volume=cpu", "--resolution", "1us",
               *harness.FLAVOURS[flavour].launch(RANKS), bench.program("volumes", flavour)],
              check=True)
    info = json.loads(bench.verb("info", "--json", archive))
    harness.compare("volume", (info["volume"], info["volume_threads"]), ("cpu", RANKS))
    if not 499 <= info["resolution_ns"] <= 1001:
        raise harness.Failure(f"the resolution is {info['resolution_ns']} ns")


def check_resolution(bench, flavour, clock, wished, expected_ns):
    """Stamps are multiples of the quantum, as far as nanoseconds show it."""
    program = bench.program("volumes", flavour)
    _, archive = bench.record(flavour, 1, [program], [f"--resolution={wished}"],
                              env={"REFRAIN_CLOCK": clock})
    compare_readers(bench, archive)
    found = json.loads(bench.verb("info", "--json", archive))["resolution_ns"]
    low, high = expected_ns
    if not low <= found <= high:
        raise harness.Failure(f"{clock}, {wished}: the resolution is {found} ns")
    events = bench.dump(archive)
    for event in events:
        took = int(event["exit_ns"]) - int(event["enter_ns"])
        if abs(took - round(took / found) * found) > 1 + 1e-6 * took:
            raise harness.Failure(f"{clock}, {wished}: {took} ns is no multiple of {found} ns")
    slept = next(event for event in events if event["function"] == SLEPT)
    spun = next(event for event in events if event["function"] == SPUN)
    elapsed = int(slept["enter_ns"]) - int(spun["exit_ns"])
    if elapsed < 300 * MS - high:
        raise harness.Failure(f"{clock}, {wished}: the sleep took {elapsed} ns")


def test_resolution(bench, flavour):
    """A quantum is at most what was wished, and more than half of it: clocks halve their steps."""
    near = 1e-4
    # MPICH's MPI_Wtime must not be called before MPI_Init.
    for clock in ("monotonic", "mpi")[:2 if flavour == "openmpi" else 1]:
        check_resolution(bench, flavour, clock, "1ns", (1 - near, 1 + near))
        check_resolution(bench, flavour, clock, "50ns", (32 * (1 - near), 32 * (1 + near)))
        check_resolution(bench, flavour, clock, "1ms", (524288 * 0.99, 524288 * 1.01))
    check_resolution(bench, flavour, "tsc", "50ns", (25 * (1 - near), 50 * (1 + near)))
    check_resolution(bench, flavour, "tsc", "1us", (500 * (1 - near), 1000 * (1 + near)))


def test_regions(bench, flavour):
    """Begins and ends of regions count nothing, also those that the recorder makes at the end."""
    program = bench.program("regions", flavour)
    _, archive = bench.record(flavour, 2, [program], ["--volume=cpu"])
    compare_readers(bench, archive)
    events = bench.dump(archive)
    regions = [e for e in events if e["function"].startswith("refrain_region")]
    harness.compare("there are regions", bool(regions), True)
    harness.compare("volumes of regions",
                    {(e["volume_gap"], e["volume_inside"]) for e in regions}, {("0", "0")})
    harness.compare("a gap that is negative",
                    [e for e in events if int(e["volume_gap"]) < 0], [])
