"""What `refrain whatif` predicts comes true: the 18 pathologies without their causes, and programs on other
networks, in simulated time. The tables that are printed are those of doc/whatif.md."""
import harness
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
