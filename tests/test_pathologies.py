"""What programs of known performance wait for is found: exactly in simulated time, the dominating
diagnosis under a real MPI. The table that is printed is the one in doc/pathologies.md."""
import harness
import pathologies

TOGETHER = SIMULATED = True
FOUND = {}  # results by name of the program, so that the page is checked without another run


def results(bench, programs):
    for program in programs:
        if program.name not in FOUND:
            facts = pathologies.report(bench, pathologies.record(bench, program))
            FOUND[program.name] = pathologies.Result(program, facts)
    return [FOUND[program.name] for program in programs]


def check(bench, programs):
    """Per rank within 1 %, nothing else, the right cause."""
    found = results(bench, programs)
    print("\n".join(pathologies.table(found)), flush=True)
    faults = [f"{result.program.name}: {fault}" for result in found for fault in result.faults()]
    if faults:
        raise harness.Failure("\n".join(faults))


def test_18(bench):
    """The 18 programs after Mohror."""
    check(bench, pathologies.PROGRAMS)


@harness.long
def test_1024_ranks(bench):
    """Noise on 1024 ranks, each with that of its own node."""
    check(bench, pathologies.LARGE)


def test_page(bench):
    """The page says what was found here."""
    text = pathologies.page(results(bench, pathologies.PROGRAMS),
                            results(bench, pathologies.LARGE))
    with open(pathologies.PAGE, encoding="utf-8") as file:
        there = file.read().split("\n")
    different = [line for line in text.split("\n") if line not in there]
    if different or len(there) != len(text.split("\n")):
        raise harness.Failure("doc/pathologies.md is out of date: run tools/pathologies.py\n" +
                              "\n".join(different))


def check_real(bench, flavour, program, **numbers):
    """Ranks sleep where they would compute, and the machine is not theirs alone: waits are at least
    half of what is expected where it is most, and where nothing is expected less than that."""
    _, archive = bench.record(flavour, program.ranks, [bench.program(program.source, flavour),
                                                       *program.arguments(**numbers)])
    facts, expected = pathologies.report(bench, archive), program.expected(**numbers)
    waits = pathologies.found_waits(facts, program.ranks)
    harness.compare(f"what dominates {program.name}", pathologies.dominating(waits),
                    expected.pattern)
    function, rank = pathologies.found_cause(facts, expected.pattern)
    harness.compare(f"where {program.name} is late", function, program.function)
    if rank not in expected.blamed():
        raise harness.Failure(f"{program.name}: caused by {rank}, not by {expected.blamed()}")
    wanted = expected.waits[expected.pattern]
    half = 0.5e-9 * max(wanted)
    for rank, (ns, seconds) in enumerate(zip(wanted, waits[expected.pattern])):
        if (ns == max(wanted) and seconds < half) or (ns == 0 and seconds > half):
            raise harness.Failure(f"{program.name}, rank {rank}: {seconds} s, not {ns * 1e-9} s")


@harness.long
@harness.real_time
def test_real(bench):
    """The regular programs and dynamic load balancing under Open MPI, more ranks than cores. (Five seconds of waiting
    are more than a machine is away for when it stalls: what a rank that others wait for is kept from running, they
    wait longer, and what one that waits is kept, it waits less.)"""
    for program in pathologies.REGULAR:
        check_real(bench, "openmpi", program, extra=0.05, iterations=100)
    check_real(bench, "openmpi", pathologies.BALANCE, work=0.06, step=0.01, period=6,
               iterations=18)
