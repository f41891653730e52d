"""What ranks sent to merge (`merging` of refrain info): how many messages follows from the tree, in which each rank but
one has a parent."""
import json
import os

import harness
import rfn_reader
import test_clusters
import test_smpi

SIMULATED = True
# Messages per rank but one. Wishes down, a survey up and down; a parent shows what it has, then definitions and digests
# go up and numbers down; tables go up.
PLAIN = 3 + 3 + 1
# Reduced times are surveyed, too, up and down, and how far they lie apart goes up.
REDUCED = PLAIN + 3
# Rank 0 says how they are compared, and what is compared goes up and down.
ACROSS = REDUCED + 3


def check_merging(bench, name, archive, ranks, per_rank):
    """Both readers and the page say what the tree asks for. Returns the bytes."""
    facts = json.loads(bench.verb("info", "--json", archive))
    merging = facts["merging"]
    harness.compare(f"{name}: messages", merging["messages"], per_rank * (ranks - 1))
    if merging["bytes"] < 60 * (ranks - 1):
        raise harness.Failure(f"{name}: {merging['bytes']} bytes in {merging['messages']} messages")
    harness.compare(f"{name}: the other reader", rfn_reader.Archive(archive).merging[:2],
                    [merging["messages"], merging["bytes"]])
    lines = [line for line in bench.verb("info", archive).splitlines() if line.startswith("Merging")]
    harness.compare(f"{name}: lines on the page", len(lines), 1)
    harness.compare(f"{name}: on the page", lines[0].split()[1], str(merging["bytes"] // ranks))
    harness.compare(f"{name}: it took time", facts["merge_seconds"] > 0, True)
    bench.verb("verify", archive)
    return merging["bytes"]


def simulated(bench, name, ranks, time, env=None):
    """The archive of a program, by its own name."""
    program = test_clusters.PROGRAMS[name]
    compiled = test_smpi.smpi_program(bench, program.source)
    found = test_smpi.smpi_run(bench, compiled, ranks, program.arguments, {"REFRAIN_TIME": time, **(env or {})})
    kept = bench.fresh(f"{name}.rfn")
    os.rename(found, kept)
    return kept


def test_simulated(bench):
    for name, ranks in (("sweep2d", 16), ("adi", 16), ("sweep2d", 64), ("adi", 64)):
        for time, wanted in (("full", PLAIN), ("none", PLAIN), ("reduced", REDUCED)):
            check_merging(bench, f"{name} on {ranks} ranks, times: {time}", simulated(bench, name, ranks, time), ranks,
                          wanted)


def test_across(bench):
    """Times that are compared over ranks are moved, too."""
    alone, across = (check_merging(bench, f"adi, {env}", simulated(bench, "adi", 16, "reduced", env), 16, wanted)
                     for env, wanted in (({}, REDUCED), ({"REFRAIN_ACROSS": "0.4"}, ACROSS)))
    # A survey says how long was waited, in a varint of 1 to 10 bytes, up and down: no two runs are alike.
    harness.compare("more bytes than that", across - alone > 2 * 15 * (10 - 1), True)


def test_online_merges(bench):
    """What was sent while the program ran is not counted; what was merged then is not merged again."""
    alone, merged = (check_merging(bench, f"sweep2d, {env}", simulated(bench, "sweep2d", 16, "full", env), 16, PLAIN)
                     for env in ({}, {"REFRAIN_MERGE_INTERVAL": "1"}))
    harness.compare("fewer bytes", merged < alone, True)


def test_real(bench, flavour):
    program = bench.program(os.path.join(test_clusters.FOLDER, "open_ring.c"), flavour)
    for options, wanted in ((["--time=full"], PLAIN), (["--time=none"], PLAIN), (["--no-cluster"], PLAIN),
                            (["--time=reduced"], REDUCED)):
        archive = bench.record(flavour, 4, [program, "2"], options=options)[1]
        check_merging(bench, f"open_ring, {options}", archive, 4, wanted)


def test_alone(bench):
    """One rank sends nothing, and nothing is said of it."""
    program = bench.program(os.path.join(test_clusters.FOLDER, "open_ring.c"), "openmpi")
    archive = bench.record("openmpi", 1, [program, "2"])[1]
    harness.compare("merging", json.loads(bench.verb("info", "--json", archive))["merging"], None)
    harness.compare("the other reader", rfn_reader.Archive(archive).merging, None)
