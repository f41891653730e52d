"""Clusters of ranks whose number is known, on 64 processes of a real MPI: the programs of
test_clusters.py under Open MPI, with their times.

What these ranks did is known from the same program simulated on as many, unclustered: both
recorders have to say the same of every rank, but for times.
"""
import json
import os
import sys

import harness
import test_clusters
import test_merge

# One such job at a time, and not in the end: each takes some seconds of CPU, nearly all for starting.
TOGETHER = EARLY = LONG = True
RANKS = 64
SECONDS = 600
GENTLY = [sys.executable, os.path.join(harness.HERE, "gently.py")]
# Who is done first decides in which order a master hands out tasks.
ANY_ORDER = {"workers": [0]}


def by_rank(bench, name, archive):
    """The events of each rank without times."""
    found = {}
    for line in bench.verb("dump", archive).splitlines()[1:]:
        _, rank, *event = test_merge.untimed(line)
        found.setdefault(int(rank), []).append(event)
    for rank in ANY_ORDER.get(name, ()):
        found[rank].sort()
    return found


def check_events(bench, name, archive):
    """Calls, parameters and call paths of each rank: those of the simulated run."""
    simulated = test_clusters.simulate(bench, name, RANKS, "full")
    expected, found = (by_rank(bench, name, each) for each in (simulated, archive))
    harness.compare(f"{name}: ranks", sorted(found), list(range(RANKS)))
    other = [rank for rank in range(RANKS) if found[rank] != expected[rank]]
    harness.compare(f"{name}: ranks whose events are not those of the simulated run", other, [])


def check(bench, name):
    """All that is checked on fewer processes, and in simulated time on as many."""
    program = test_clusters.PROGRAMS[name]
    compiled = bench.program(program.source, "openmpi")
    _, archive = bench.record("openmpi", RANKS, [compiled, *program.arguments], timeout=SECONDS,
                              before=GENTLY)
    print(test_clusters.header(test_clusters.TITLES))
    fault = test_clusters.check(bench, name, RANKS, archive)
    if fault:
        raise harness.Failure(fault)
    check_events(bench, name, archive)
    print(test_clusters.RECORDED)
    unclustered = test_merge.taken(bench, archive, f"0-{RANKS - 1}", "--no-cluster")
    test_clusters.check_recorded(bench, name, RANKS, unclustered, archive)


def test_graph(bench):
    """More than 64 neighbours of a rank."""
    harness.compare("neighbours", test_clusters.graph(bench, "openmpi", 68, "66", timeout=SECONDS, before=GENTLY),
                    ((1, 2, 1), test_clusters.graph_distances(68, 66)))


STEPS = 60  # at 40, times that happen to be coded well make it 1.00 %


def test_share(bench):
    """Of what merging without clusters would move at most 1 % is sent, without USAGE and CORES, once a run has some
    thousand events per rank."""
    compiled = bench.program(test_clusters.PROGRAMS["adi"].source, "openmpi")
    _, archive = bench.record("openmpi", RANKS, [compiled, str(STEPS)], timeout=SECONDS, before=GENTLY)
    facts = json.loads(bench.verb("info", "--json", archive))
    merging = facts["merging"]
    share = test_clusters.moved_share(archive, RANKS, merging)
    print(f"{facts['events'] / RANKS:.0f} events, {merging['bytes'] / RANKS:.0f} bytes per rank, {share:.2%}")
    harness.compare(f"{share:.2%} is at most 1 %", share <= 0.01, True)


def make_test(name):
    def test(bench):
        check(bench, name)
    return test


for _name in test_clusters.PROGRAMS:
    globals()[f"test_{_name}"] = make_test(_name)
