"""What ranks sent in each step of merging (`merging.steps` of refrain info): how many messages follows from the
tree, in which each rank but one has a parent; and nothing is lost between steps."""
import json
import os
import re

import harness
import rfn_reader
import test_clusters
import test_damage
import test_smpi

SIMULATED = True
STEPS = ["survey", "signatures", "merge", "times", "tables", "clusters"]
# Per rank but one. A survey: rank 0's wishes, up and down. merge: what its parent has, what it has
# beside that, and numbers down. Reduced times are surveyed, too, and how far they lie apart goes up before tables do.
OVER_MPI = {"survey": 3, "merge": 3, "tables": 1}
REDUCED = {**OVER_MPI, "times": 2, "tables": 2}
# In memory of a node there is nothing to survey, and no numbers go down where rank 0 gets all in the message behind
# what goes up. If it does not, as a rank has more than that, it says so.
WHOLE = {"merge": 2, "tables": 1}
NOT_WHOLE = {"merge": 2 + 2 + 1 + 1, "tables": 1}


def check_steps(bench, name, archive):
    """Steps make the whole, and both readers and the page say so. Returns the steps."""
    facts = json.loads(bench.verb("info", "--json", archive))
    merging, steps = facts["merging"], facts["merging"]["steps"]
    harness.compare(f"{name}: steps", list(steps), STEPS)
    for what in ("messages", "bytes"):
        harness.compare(f"{name}: {what}", sum(step[what] for step in steps.values()), merging[what])
    harness.compare(f"{name}: seconds", {step: of["seconds"] for step, of in steps.items()}, merging["seconds"])
    sent = [(of["messages"], of["bytes"]) for of in steps.values()]
    harness.compare(f"{name}: the other reader", rfn_reader.Archive(archive).sent, sent)
    for messages, bytes_ in sent:
        if (messages == 0) != (bytes_ == 0) or bytes_ < messages:
            raise harness.Failure(f"{name}: {bytes_} bytes in {messages} messages")
    check_page(bench, name, archive, facts)
    bench.verb("verify", archive)
    return steps


def check_page(bench, name, archive, facts):
    """A line for each step, and one for all."""
    lines = bench.verb("info", archive).splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if re.match(r" {12}\w+ +[\d.]+ +[\d.]+ +[\d,]+$", line)}
    merging = facts["merging"]
    wanted = {step: [f"{of['bytes'] / facts['ranks']:.1f}", f"{of['messages']:,}"]
              for step, of in {**merging["steps"], "all": merging}.items()}
    harness.compare(f"{name}: on the page", {step: cells[1:] for step, cells in rows.items()}, wanted)


def check_messages(name, steps, ranks, wanted):
    harness.compare(f"{name}: messages", {step: of["messages"] for step, of in steps.items()},
                    {step: wanted.get(step, 0) * (ranks - 1) for step in STEPS})


def simulated(bench, name, ranks, time, env=None):
    """The archive of a program, by its own name."""
    program = test_clusters.PROGRAMS[name]
    compiled = test_smpi.smpi_program(bench, program.source)
    found = test_smpi.smpi_run(bench, compiled, ranks, program.arguments, {"REFRAIN_TIME": time, **(env or {})})
    kept = bench.fresh(f"{name}.rfn")
    os.rename(found, kept)
    return kept


def test_simulated(bench):
    """Digests of alike ranks are moved once, words of each rank: the wishes alone are 8 bytes for each."""
    for name, ranks in (("sweep2d", 16), ("adi", 16), ("sweep2d", 64), ("adi", 64)):
        for time, wanted in (("full", OVER_MPI), ("none", OVER_MPI), ("reduced", REDUCED)):
            what = f"{name} on {ranks} ranks, times: {time}"
            steps = check_steps(bench, what, simulated(bench, name, ranks, time))
            check_messages(what, steps, ranks, wanted)
            harness.compare(f"{what}: survey", steps["survey"]["bytes"] > 10 * (ranks - 1), True)
            harness.compare(f"{what}: merge", steps["merge"]["bytes"] > 40 * (ranks - 1), True)


def test_across(bench):
    """Times that are compared over ranks are moved in their step, and nothing else is."""
    alone, across = (check_steps(bench, "adi, across", simulated(bench, "adi", 16, "reduced", env))
                     for env in ({}, {"REFRAIN_ACROSS": "0.4"}))
    check_messages("adi, across", across, 16, {**REDUCED, "times": 5})
    harness.compare("bytes of merge", across["merge"]["bytes"], alone["merge"]["bytes"])
    # A survey says how long was waited, in a varint of 1 to 10 bytes, up and down: no two runs are alike.
    waits = 2 * 15 * (10 - 1)
    more = {step: across[step]["bytes"] - alone[step]["bytes"] for step in ("survey", "times")}
    harness.compare("bytes of survey differ by waits at most", abs(more["survey"]) <= waits, True)
    harness.compare("more bytes of times than that", more["times"] > waits, True)


def test_meetings(bench):
    """What was sent while the program ran is in no step; what was merged then is not merged again."""
    alone, met = (check_steps(bench, "sweep2d, meetings", simulated(bench, "sweep2d", 16, "full", env))
                  for env in ({}, {"REFRAIN_MERGE_INTERVAL": "1"}))
    harness.compare("messages", [of["messages"] for of in met.values()], [of["messages"] for of in alone.values()])
    harness.compare("bytes of merge", met["merge"]["bytes"] < alone["merge"]["bytes"], True)


def real(bench, program, ranks, options=(), env=None, arguments=()):
    compiled = bench.program(program, "openmpi")
    return bench.record("openmpi", ranks, [compiled, *arguments], options=options, env=env)[1]


def test_real(bench):
    """Ranks of one node, over MPI and through memory, where they merge before all have come."""
    ring = os.path.join(test_clusters.FOLDER, "open_ring.c")
    for options, env, wanted in ((["--time=full"], {}, WHOLE), (["--time=none"], {}, WHOLE),
                                 (["--time=full"], {"REFRAIN_WRITE_AHEAD": "no"}, NOT_WHOLE),
                                 (["--no-cluster"], {}, NOT_WHOLE),
                                 (["--time=reduced"], {}, {**NOT_WHOLE, "times": 2, "tables": 2}),
                                 (["--time=full"], {"REFRAIN_NODE_MEMORY": "no"}, OVER_MPI)):
        what = f"open_ring, {options} {env}"
        steps = check_steps(bench, what, real(bench, ring, 4, options, env, ["2"]))
        check_messages(what, steps, 4, wanted)
        for step in ("merge", "tables"):
            harness.compare(f"{what}: {step}", steps[step]["bytes"] > 3 * 20, True)


def test_in_vain(bench):
    """Threads are told of in a survey, so what ranks merged before that was in vain. It counts as merging."""
    program = os.path.join(harness.PROGRAMS, "threads.c")
    over_mpi, memory = (check_steps(bench, f"threads, {env}", real(bench, program, 2, [], env))
                        for env in ({"REFRAIN_NODE_MEMORY": "no"}, {}))
    check_messages("threads over MPI", over_mpi, 2, OVER_MPI)
    check_messages("threads through memory", memory, 2, {"survey": 2, "merge": 6 + 3, "tables": 1})


def test_alone(bench):
    """One rank sends nothing, and nothing is said of it."""
    archive = real(bench, os.path.join(test_clusters.FOLDER, "open_ring.c"), 1, arguments=["2"])
    harness.compare("merging", json.loads(bench.verb("info", "--json", archive))["merging"], None)
    harness.compare("the other reader", rfn_reader.Archive(archive).sent, None)


def test_older(bench):
    """Before minor version 7 nothing was known by step; what reduce makes of such a file says so, too."""
    archive = simulated(bench, "sweep2d", 16, "full")
    with open(archive, "rb") as file:
        data = file.read()
    old, reduced, again = (bench.fresh("older.rfn") for _ in range(3))
    with open(old, "wb") as file:
        file.write(test_damage.with_header(data, minor=6))
    bench.verb("reduce", "-o", reduced, old)
    bench.verb("reduce", "-o", again, archive)
    whole = json.loads(bench.verb("info", "--json", archive))["merging"]
    for path in (old, reduced):
        merging = json.loads(bench.verb("info", "--json", path))["merging"]
        harness.compare("all but steps", {**merging, "steps": whole["steps"]}, whole)
        harness.compare("steps", merging["steps"], {step: {**of, "messages": None, "bytes": None}
                                                    for step, of in whole["steps"].items()})
        harness.compare("the other reader", rfn_reader.Archive(path).sent, None)
        harness.compare("a line of times", re.search(r"^ {12}[\d.]+ ms: survey ", bench.verb("info", path), re.M) is None,
                        False)
        bench.verb("verify", path)
    harness.compare("reduced", json.loads(bench.verb("info", "--json", again))["merging"], whole)
