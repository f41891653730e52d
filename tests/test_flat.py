"""What an event costs in the recorder's tables does not grow with the objects that they hold: instructions, counted by
callgrind (bench/flat.c), which are the same on each machine."""
import os
import re
import subprocess

import harness

FEW, MANY, MOST = 10 ** 3, 10 ** 5, 10 ** 6
EVENTS, RATIO = 2000, 1.5
# Now and then a table is made anew, or what it holds is compressed: so many events have their share of that.
AMORTIZED = {"requests-new": 10 ** 5, "lists-new": 10 ** 5, "lists": 10 ** 5, "sample-categories": 20000}
# Tables that know so many objects at most: an object that they do not know costs more. Flat it is from there on.
BOUNDS = {"lists": 10 ** 5, "sample-categories": 10 ** 4}
# Of these several have the same code, others need many events.
ALL_ONLY = {"comms-split", "comms-again", "windows", "groups-again", "persistent", "requests-shared", "types-new", "lists",
            "lists-new"}


def tables(bench):
    return bench.run([os.path.join(bench.build, "bench", "flat")], check=True).out.split()


def per_event(bench, table, objects):
    """Instructions."""
    events = AMORTIZED.get(table, EVENTS)
    run = bench.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null",
                     os.path.join(bench.build, "bench", "flat"), table, str(objects), str(events)], check=True, timeout=600)
    counted = re.search(r"Collected : (\d+)", run.err)
    if not counted or int(counted[1]) < 10 * events:
        raise harness.Failure(f"{table}: nothing was counted: {run.err}")
    return int(counted[1]) / events


def check_flat(bench, table, objects):
    first = BOUNDS.get(table, FEW)
    few, many = (per_event(bench, table, n) for n in (first, objects))
    if many > RATIO * few:
        raise harness.Failure(f"{table}: {many:.0f} instructions per event with {objects} objects, {few:.0f} with {first}")


def test_many(bench):
    for table in tables(bench):
        if table not in ALL_ONLY:
            check_flat(bench, table, MANY)


@harness.long
def test_most(bench):
    for table in tables(bench):
        check_flat(bench, table, MOST)


def test_a_line_that_is_not_flat(bench):
    """A search of all objects would be noticed: the count does grow where there is more to do."""
    source = bench.fresh("search.c")
    with open(source, "w", encoding="ascii") as file:
        file.write("""#include <stdlib.h>
#include <valgrind/callgrind.h>
int main(int argc, char **argv)
{
    volatile long n = atol(argv[2]), sum = argc;
    CALLGRIND_START_INSTRUMENTATION;
    for (long event = atol(argv[3]); event > 0; event--)
        for (long i = 0; i < n; i++)
            sum = sum + i;
    return sum == 0;
}
""")
    folder = bench.path("not-flat")
    os.makedirs(os.path.join(folder, "bench"), exist_ok=True)
    subprocess.run(["gcc", "-O1", "-o", os.path.join(folder, "bench", "flat"), source], check=True)

    class Other:
        build, run = folder, bench.run

    try:
        check_flat(Other, "search", 2 * FEW)
    except harness.Failure:
        return
    raise harness.Failure("twice the instructions were not noticed")
