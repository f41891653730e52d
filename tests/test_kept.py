"""Calls that predictions do not need, left out while the program runs (refrain record --keep-predictions): with
--with-trace the recorder writes all calls of the same run beside, and refrain whatif says of both archives the same, to the
nanosecond, for all assumptions about what was kept."""
import json
import os
import re

import harness
import pathologies
import test_aggregate
import test_smpi
import test_whatif

SIMULATED = True
GROUPS = os.path.join(harness.PROGRAMS, "small_groups.c")
# Decided for every network: these differ in what is eager and in how long ways are.
NETWORKS = ({"L": 20e-6, "o": 1.5e-6, "g": 1.5e-6, "G": 1e-9, "S": 29999},
            {"L": 1e-7, "o": 1e-7, "g": 1e-7, "G": 1e-10, "S": 512})


def networks(bench):
    """Options of whatif: none, and each of the networks."""
    options = []
    for network in NETWORKS:
        options.append(("--network", bench.fresh("network.json")))
        with open(options[-1][1], "w", encoding="ascii") as file:
            json.dump({"schema": 1, **network}, file)
    return options


def check(bench, kept, least_ns, tries, regions=(), seed=1, whole=False):
    """Compares FILE and FILE.full. (All events, those that are left)."""
    full = kept[:-len(".rfn")] + ".full.rfn"
    for archive in (kept, full):
        bench.verb("verify", archive)
    found = json.loads(bench.verb("info", "--json", kept))["aggregated"]
    for more in [(), *networks(bench)] if whole else networks(bench):
        n, _ = test_aggregate.compare_predictions(bench, full, kept, least_ns, tries, regions, seed, more)
    harness.compare("events", (found["full_events"], found["left_out"]) if found else (n[0], 0), (n[0], n[0] - n[1]))
    return n


def keep(limits, whole=0):
    return {"REFRAIN_KEEP_PREDICTIONS": limits, "REFRAIN_WITH_TRACE": "yes", "REFRAIN_KEEP_WHOLE": str(whole)}


def offline(bench, kept, limits):
    """How many events refrain reduce leaves of the full archive."""
    full = kept[:-len(".rfn")] + ".full.rfn"
    return test_aggregate.aggregate(bench, full, limits)[1]["events"]


def test_small_groups(bench):
    """Computations are long, exchanges between them are many."""
    program = test_smpi.smpi_program(bench, GROUPS)
    for ranks, group, exchanges in ((6, 2, 4), (6, 3, 5), (8, 4, 6)):
        archive = test_smpi.smpi_run(bench, program, ranks, ["1", "12", str(group), str(exchanges)], keep("1ms,1M"))
        n = check(bench, archive, 1_000_000, 3, ["region:move"])
        harness.compare(f"of {n[0]} events {n[1]} are left, and off line {offline(bench, archive, '1ms,1M')}",
                        n[1] < n[0], True)


def check_random(bench, seeds, tries):
    program = test_smpi.smpi_program(bench, test_whatif.SOURCE)
    left = 0
    for seed in seeds:
        for limits, least in (("2ms,8K", 2_000_000), ("20ms,1M", 20_000_000)):
            archive = test_smpi.smpi_run(bench, program, 3 + seed % 4, [str(seed), "40"], keep(limits))
            n = check(bench, archive, least, tries, ["bytes:1M-"], seed)
            left += n[1] < n[0]
    harness.compare("something is left out", left > 0, True)


def test_random_programs(bench):
    check_random(bench, (11, 12), 2)


@harness.long
def test_random_programs_long(bench):
    check_random(bench, range(20, 50), 20)


def check_pathologies(bench, programs, tries):
    for program in programs:
        archive = pathologies.record(bench, program, keep("20ms"))
        check(bench, archive, 20_000_000, tries)


def test_pathologies(bench):
    check_pathologies(bench, [pathologies.BALANCE], 2)


@harness.long
def test_pathologies_long(bench):
    check_pathologies(bench, [p for p in pathologies.PROGRAMS if not p.name.endswith("1024")], 20)


def check_mpi(bench, flavour, source, ranks, arguments, limits, least, tries, env=None):
    program = bench.program(source, flavour)
    _, archive = bench.record(flavour, ranks, [program, *arguments], ["--keep-predictions", limits, "--with-trace"],
                              env or {"REFRAIN_KEEP_WHOLE": "0"})
    return check(bench, archive, least, tries, whole=bool(env)), archive


def test_whole_begin(bench):
    """The first 32,768 calls of the run stay, and from these the network is estimated: without one that is told both
    archives have the same."""
    program = test_smpi.smpi_program(bench, GROUPS)
    archive = test_smpi.smpi_run(bench, program, 2, ["3", "3000", "2", "6"],
                                {**keep("1ms,1M", 32768), "REFRAIN_MEMORY": "256M"})
    n = check(bench, archive, 1_000_000, 2, ["region:move"], whole=True)
    harness.compare(f"of {n[0]} events {n[1]} are left, and the first stay", 32768 < n[1] < n[0], True)


def test_random_mpi(bench, flavour):
    """On this machine, whatever its times are."""
    n, _ = check_mpi(bench, flavour, "random_exchange", 3, ["5", "60"], "1s,1M", 1_000_000_000, 1)
    harness.compare(f"of {n[0]} events {n[1]} are left", n[1] < n[0], True)
    check_mpi(bench, flavour, "random_exchange", 4, ["6", "40"], "500us,8K", 500_000, 2)
    check_mpi(bench, flavour, "small_groups", 4, ["1", "6", "2", "4"], "3ms,1M", 3_000_000, 2)


def check_what_stays(bench, flavour, programs):
    """Programs of which little or nothing is left out, as they have threads, polls, persistent and one-sided
    communication, cancelled requests, wildcards, communicators that come and go."""
    for program, ranks, arguments in programs:
        check_mpi(bench, flavour, program, ranks, arguments, "1s,1M", 1_000_000_000, 1)


def test_what_stays(bench, flavour):
    check_what_stays(bench, flavour, [("random_calls", 4, ["3", "200"]), ("completions", 2, [])])


@harness.long
def test_what_stays_long(bench, flavour):
    check_what_stays(bench, flavour, [
        *(("random_calls", 4, [str(seed), "300"]) for seed in range(6)), ("persistent", 2, []), ("polls", 2, []),
        ("one_sided", 2, []), ("communicators", 4, []), ("waits_wildcards", 3, []), ("waits_cancelled", 2, []),
        ("left_under_way", 4, []), ("partitioned", 2, []), ("collectives", 3, []), ("matched", 2, []), ("regions", 2, []),
        ("pcontrol", 2, []), ("threads", 2, []), ("errors", 2, []), ("topologies", 4, []),
        *([("spawn", 2, [])] if flavour == "openmpi" else [])])  # MPICH's libucx has no ports


# ---- without collective calls, without memory ----

def meetings(bench, flavour, ranks, memory, arguments, env=None):
    """Of programs/few_meetings.c: (rank 0's KiB, ns per message), and what is known of the archive."""
    program, options = bench.program("few_meetings", flavour), ["--keep-predictions=1s", f"--memory={memory}"]
    run, archive = bench.record(flavour, ranks, [program, *map(str, arguments)], options, env=env, timeout=60)
    bench.verb("verify", archive)
    return tuple(map(int, re.search(r"rank 0: (\d+) KiB, (\d+) ns", run.out).groups())), bench.verb("info", "--json", archive)


def test_memory_is_bounded(bench, flavour):
    """Also where no collective call ends the window, whether it is the first one or another."""
    plain = bench.run([*harness.FLAVOURS[flavour].launch(1), bench.program("few_meetings", flavour), "1000", "0"], check=True)
    least = int(re.search(r"rank 0: (\d+) KiB", plain.out).group(1))
    for messages, meeting in ((300000, 0), (150000, 1)):
        (largest, _), _ = meetings(bench, flavour, 1, "4M", (messages, meeting))
        harness.compare(f"{meeting} barriers: grown from {least} KiB to {largest}", largest - least < 16 * 1024, True)


@harness.real_time
def test_time_without_meetings(bench, flavour):
    """A call does not take longer where a window may be larger."""
    times = [min(meetings(bench, flavour, 1, memory, (300000, 0))[0][1] for _ in range(2)) for memory in ("4M", "512M")]
    harness.compare(f"ns with a small and a large window: {times}", times[1] < 2.5 * times[0], True)


def test_scarce_memory(bench, flavour):
    """A rank that has no memory where windows end, its own turn to decide or not, keeps nobody waiting: all calls stay."""
    for who, leaves_out in ((-1, True), (0, False), (1, False)):
        _, facts = meetings(bench, flavour, 2, "256M", (8000, 3, who, 200000), {"REFRAIN_KEEP_WHOLE": "0"})
        found = json.loads(facts)["aggregated"]
        harness.compare(f"rank {who} has no memory: {found}", bool(found and found["left_out"]), leaves_out)
