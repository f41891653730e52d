"""What `refrain whatif` predicts comes true: the 18 pathologies without their causes, and programs on other
networks, in simulated time; five of them under a real MPI. doc/whatif.md has the tables of simulated runs."""
import os
import statistics

import domino
import harness
import test_smpi
import whatif_truth

TOGETHER = SIMULATED = True
RANKS = 4  # of a real MPI
FOUND = {}  # tables by name: the page is checked without another run


def rows(bench, name):
    if name not in FOUND:
        FOUND[name] = whatif_truth.TABLES[name](bench)
    return FOUND[name]


def check(bench, name, most, most_missed):
    """Off by so much of the run time at most, and of what the run time changes."""
    found = rows(bench, name)
    print(whatif_truth.table(found), flush=True)
    wrong = [row.text() for row in found if abs(row.error()) > most or row.missed() > most_missed]
    if wrong:
        raise harness.Failure("\n".join(wrong))


def test_mended(bench):
    """The 18 pathologies."""
    harness.compare("programs", len({one.program.name for one in whatif_truth.MENDED}), 18)
    check(bench, "mended", 0.01, 0.05)


BY_CLOCK = ("1to1r_1024", "NtoN_1024")  # noise depends on the clock: another network meets other noise


def test_further(bench):
    """The 18 pathologies on a network with three times the latency, with calibrated parameters."""
    found = rows(bench, "further")
    print(whatif_truth.table(found), flush=True)
    wrong = [row.text() for row in found
             if abs(row.error()) > 0.03 or (row.missed() > 0.06 and row.name not in BY_CLOCK)]
    harness.compare("off by 3 % of the run time, or 6 % of the change", wrong, [])


def test_elsewhere(bench):
    """Programs on networks with other latency and bandwidth."""
    check(bench, "elsewhere", 0.01, 0.12)


def test_page(bench):
    """The page has the tables of this run."""
    there = whatif_truth.page_parts()[1]
    text = whatif_truth.section({name: rows(bench, name) for name in whatif_truth.TABLES})
    if there != text:
        raise harness.Failure("doc/whatif.md is out of date: run tools/whatif_table.py\n" +
                              harness.difference(there.split("\n"), text.split("\n")))


def between_ends(bench, archive):
    """Seconds of MPI_Init and of MPI_Finalize when all had come, which a launcher makes long or short."""
    events = bench.dump(archive)
    begun = max(int(event["exit_ns"]) for event in events if event["function"] == "MPI_Init")
    ending = max(int(event["enter_ns"]) for event in events if event["function"] == "MPI_Finalize")
    return 1e-9 * (begun + max(int(event["exit_ns"]) for event in events) - ending)


def real_seconds(bench, one, *options, **numbers):
    """What a pathology takes, or is predicted to take, where ranks sleep and do not compute."""
    program = one.program
    _, archive = bench.record("openmpi", RANKS, [bench.program(program.source, "openmpi"),
                                                 *program.arguments(work=0.15, iterations=2, **numbers)])
    return whatif_truth.whatif(bench, archive, *options)["predicted_seconds"] - between_ends(bench, archive)


def check_real(bench, one):
    """Within 5 %, or the medians of more runs are: the machine is not ours alone."""
    predicted, true = [], []
    options = list(whatif_truth.unequal_ranks(RANKS)) if one.program.name == "imbalance_at_barrier" else one.options
    for runs in (1, 3, 5):
        while len(true) < runs:
            predicted.append(real_seconds(bench, one, *options, extra=0.3))
            true.append(real_seconds(bench, one, extra=0))
        error = statistics.median(predicted) / statistics.median(true) - 1
        if abs(error) <= 0.05:
            print(f"| {one.program.name} | {RANKS} | {statistics.median(predicted):.4f} s predicted | "
                  f"{statistics.median(true):.4f} s run | {100 * error:+.2f} % |", flush=True)
            return
    raise harness.Failure(f"{one.program.name}: predicted {predicted} s, run {true} s")


@harness.real_time
def test_real(bench):
    """Five pathologies under Open MPI, whose ranks take three times as long as without what makes them late."""
    for one in whatif_truth.MENDED[:5]:
        check_real(bench, one)


def test_domino(bench):
    """The longest waits are worth nothing; seven steps of the domino path save more than three times what all seven
    of them do. Both as computed by hand."""
    source = os.path.join(harness.PROGRAMS, "domino.c")
    archive = whatif_truth.simulate(bench, test_smpi.smpi_program(bench, source), domino.RANKS,
                                    [str(ms) for ms in domino.STAGES], latency=0)
    found = whatif_truth.whatif(bench, archive, "--domino", "7")
    for longest in ("MPI_Finalize", "MPI_Recv < spare1"):
        without = whatif_truth.whatif(bench, archive, "--remove", f"wait:{longest}")
        harness.compare(f"without waits in {longest}", without["predicted_seconds"], found["recorded_seconds"])
    times = [1e3 * ms for ms in [found["recorded_seconds"], *(step["predicted_seconds"] for step in found["domino"])]]
    waits = 1e3 * found["domino"][6]["without_longest_waits_seconds"]
    if not any(all(abs(a - b) < 1e-3 for a, b in zip(times, one)) for one in domino.paths(7)):
        raise harness.Failure(f"after each step {times} ms")
    harness.compare("ms without the seven longest waits", round(waits, 2), domino.without_spare_waits())
    if times[0] - times[7] < 3 * (times[0] - waits):
        raise harness.Failure(f"seven steps save {times[0] - times[7]} ms, the longest waits {times[0] - waits} ms")
