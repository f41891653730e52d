"""What `refrain whatif` predicts comes true: the 18 pathologies without their causes, and programs on other
networks, in simulated time. The tables that are printed are those of doc/whatif.md."""
import os

import domino
import harness
import test_smpi
import whatif_truth

TOGETHER = SIMULATED = True
FOUND = {}  # tables by name, so that the page is checked without another run


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


def test_elsewhere(bench):
    """Programs on networks with other latency and bandwidth."""
    check(bench, "elsewhere", 0.03, 0.12)


def test_page(bench):
    """The page says what was found here."""
    there = whatif_truth.page_parts()[1]
    text = whatif_truth.section({name: rows(bench, name) for name in whatif_truth.TABLES})
    if there != text:
        raise harness.Failure("doc/whatif.md is out of date: run tools/whatif_table.py\n" +
                              harness.difference(there.split("\n"), text.split("\n")))


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
