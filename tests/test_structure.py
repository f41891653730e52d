"""Structure that is known: groups, loops and nodes of regular programs; sizes that do not grow.

A node is a call or a visit of a loop; those of the program and those of the loops' bodies, each
loop's once, are what info counts. programs/loops.c has MPI_Init, one loop and MPI_Finalize: three
nodes, and the bodies'.
"""
import json
import os

import harness

HALO = os.path.join(harness.HERE, "..", "examples", "halo.c")
# So that many ranks on few cores take turns.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1"}


def record_loop(bench, flavour, what, steps, ranks=4):
    program = bench.program("loops", flavour)
    _, archive = bench.record(flavour, ranks, [program, what, str(steps)], ["--time=none"],
                              env=YIELD)
    bench.verb("verify", archive)
    return archive


def facts_of(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))


def check_groups(facts, expected):
    """expected: members -> (symbols, loops, nodes)."""
    found = {g["members"]: (g["symbols"], g["loops"], g["nodes"]) for g in facts["group_list"]}
    harness.compare("groups", found, expected)


# what: events of all 4 ranks per step besides Init and Finalize, and the groups
LOOPS = {
    "barriers": (4, {"0-3": (3, 1, 4)}),
    "two-places": (8, {"0-3": (4, 1, 5)}),
    "nested": (4 * (20 * (3 + 1) + 1), {"0-3": (5, 3, 8)}),
    "ring": (4, {"0-3": (3, 1, 4)}),
    "open-ring": (6, {"0": (3, 1, 4), "1-2": (4, 1, 5), "3": (3, 1, 4)}),
}


def make_test(what):
    events, groups = LOOPS[what]

    def test(bench, flavour):
        # Debian's MPICH does not let another rank run while it waits: four may be slow.
        for steps in (3, 50, 1000) if flavour == "openmpi" else (3, 20):
            facts = facts_of(bench, record_loop(bench, flavour, what, steps))
            check_groups(facts, groups)
            harness.compare("events", facts["events"], events * steps + 8)
            harness.compare("calls", facts["calls"], events * steps + 8)
    return test


for _what in LOOPS:
    globals()[f"test_{_what.replace('-', '_')}"] = make_test(_what)


def without_path(event):
    return {name: event[name] for name in ("rank", "thread", "function", "parameters")}


def test_call_path_ends(bench, flavour):
    """Calls whose paths differ in the middle are one where only the paths' ends count, whatever
    becomes of the loop; what was called is the same."""
    program, steps = bench.program("loops", flavour), 40
    expected = {"all": {"0,2": (4, 1, 5), "1,3": (4, 1, 5)},
                "ends": {"0-3": (3, 1, 4)}, "ends:0,1": {"0-3": (3, 1, 4)},
                "ends:2,1": {"0,2": (4, 1, 5), "1,3": (4, 1, 5)},
                "ends:1,9": {"0,2": (4, 1, 5), "1,3": (4, 1, 5)}}
    calls = None
    for match, groups in expected.items():
        _, archive = bench.record(flavour, 4, [program, "middle", str(steps)],
                                  ["--time=none", "--force", f"--call-path-match={match}"],
                                  env=YIELD)
        bench.verb("verify", archive)
        facts = facts_of(bench, archive)
        check_groups(facts, groups)
        ends = None
        if match != "all":
            outer, inner = match[5:].split(",") if ":" in match else (1, 1)
            ends = {"outer": int(outer), "inner": int(inner)}
        harness.compare(f"{match}: info", facts["call_path_ends"], ends)
        harness.compare(f"{match}: told", "--call-path-match" in bench.verb("report", archive),
                        match != "all")
        events = bench.dump(archive)
        calls = calls or [without_path(event) for event in events]
        harness.compare(f"{match}: calls", [without_path(event) for event in events], calls)
        paths = {event["call_path"] for event in events if event["function"] == "MPI_Sendrecv"}
        harness.compare(f"{match}: paths", len(paths), 1 if len(groups) == 1 else 2)
        if match == "ends":
            harness.compare("functions of the path", [word.split("[")[0] for word in
                                                      paths.pop().split(" > ")], ["main", "ring"])


def test_elastic_inner_loop(bench, flavour):
    """An inner loop of varying length does not keep the outer one from folding, and its lengths
    are kept."""
    steps = 300 if flavour == "openmpi" else 40
    archive = record_loop(bench, flavour, "elastic", steps)
    check_groups(facts_of(bench, archive), {"0-3": (4, 2, 6)})
    expected = ["MPI_Init"]
    for i in range(steps):
        expected += ["MPI_Bcast"] * (2 + i * 7 % 11) + ["MPI_Allreduce"]
    for rank in ("0", "3"):
        found = [event["function"] for event in bench.dump(archive, "--rank", rank)]
        harness.compare("calls", found, [*expected, "MPI_Finalize"])


def test_workers(bench, flavour):
    """The order in which rank 0 serves the others is not regular; that of the others is."""
    archive = record_loop(bench, flavour, "workers", 100)
    groups = {g["members"]: g for g in facts_of(bench, archive)["group_list"]}
    harness.compare("groups", sorted(groups), ["0", "1-3"])
    harness.compare("nodes of a worker", groups["1-3"]["nodes"], 5)
    harness.compare("symbols of rank 0", groups["0"]["symbols"], 3 + 3)
    served = {}
    for event in bench.dump(archive, "--rank", "0"):
        if event["function"] == "MPI_Recv":
            source = harness.parameter(event, "source")
            served[source] = served.get(source, 0) + 1
    harness.compare("messages by source", served, {"1": 100, "2": 100, "3": 100})


def test_changing_counts(bench, flavour):
    """Counts and tags that never come again: each is there, and the structure stays small."""
    sizes = {}
    for steps in (200, 1000):
        archive = record_loop(bench, flavour, "changing", steps, ranks=2)
        facts = facts_of(bench, archive)
        check_groups(facts, {"0-1": (4, 1, 5)})
        sizes[steps] = sum(g["bytes"] for g in facts["group_list"])
        for rank in (0, 1):
            events = bench.dump(archive, "--rank", str(rank))[1:-1]
            harness.compare("events", len(events), 2 * steps)
            for i in range(steps):
                count = 1 + i * 37 % 1009
                lines = [f"MPI_Bcast count={count} bytes={4 * count}",
                         f"MPI_Sendrecv sendcount={i + 1} dest={1 - rank} sendtag={i} "
                         f"recvcount={i + 1} source={1 - rank} recvtag={i} "
                         f"sent_bytes={4 * i + 4} bytes={4 * i + 4}"]
                harness.compare_log(f"rank {rank}", lines, events[2 * i:2 * i + 2], {})
    if sizes[1000] > sizes[200]:
        raise harness.Failure(f"the structure grows with the number of steps: {sizes}")


def test_changing_arrays(bench, flavour):
    """The same for arrays of counts."""
    steps, ranks = 300, 3
    archive = record_loop(bench, flavour, "changing-arrays", steps, ranks)
    check_groups(facts_of(bench, archive), {"0-2": (3, 1, 4)})
    for rank in range(ranks):
        events = bench.dump(archive, "--rank", str(rank))[1:-1]
        harness.compare("events", len(events), steps)
        for i, event in enumerate(events):
            counts = [1 + (i + 3 * r) % 200 for r in range(ranks)]
            line = (f"MPI_Allgatherv sendcount={counts[rank]} displs=[0,256,512] "
                    f"recvcounts=[{','.join(map(str, counts))}] bytes={4 * counts[rank]}")
            harness.compare_log(f"rank {rank}", [line], [event], {})


# ---- the example, a 2-D halo exchange ----


def record_halo(bench, ranks, steps, options, cells=2, flavour="openmpi"):
    program = bench.program(HALO, flavour)
    _, archive = bench.record(flavour, ranks, [program, str(steps), str(cells)], options, env=YIELD,
                              timeout=300)
    return archive


def halo_events(ranks, steps):
    """Eight messages and a completion per step, a reduction every ten, eleven calls around."""
    return ranks * (9 * steps + steps // 10 + 11)


@harness.long
def test_halo_size(bench):
    """Without times the size of an archive depends neither on the number of steps nor of ranks."""
    sizes = {}
    for ranks, most in ((16, 2000), (64, 200)):  # 64 take half a minute of two cores for 2000
        for steps in (10, most):
            archive = record_halo(bench, ranks, steps, ["--time=none"])
            facts = facts_of(bench, archive)
            harness.compare("groups", [g["members"] for g in facts["group_list"]],
                            [f"0-{ranks - 1}"])
            harness.compare("events", facts["events"], halo_events(ranks, steps))
            sizes[ranks, steps] = os.path.getsize(archive)
    if max(sizes.values()) > 1.1 * min(sizes.values()):
        raise harness.Failure(f"sizes by ranks and steps: {sizes}")


def test_halo_times(bench, flavour):
    """Exact times of every event take at most 4 bytes per event."""
    archive = record_halo(bench, 2, 10000, [], 32, flavour)
    bench.verb("verify", archive)
    facts = facts_of(bench, archive)
    harness.compare("events", facts["events"], halo_events(2, 10000))
    if facts["events"] < 100000 or os.path.getsize(archive) > 4 * facts["events"]:
        raise harness.Failure(f"{os.path.getsize(archive)} bytes for {facts['events']} events")


def test_times_are_in_order(bench, flavour):
    """Each event ends after it began and begins after the one before it ended."""
    archive = record_halo(bench, 2, 1000, [], 2, flavour)
    for rank in ("0", "1"):
        last = 0
        for event in bench.dump(archive, "--rank", rank):
            enter, leave = int(event["enter_ns"]), int(event["exit_ns"])
            if not last <= enter <= leave:
                raise harness.Failure(f"rank {rank}, event {event['index']}: after {last} ns came "
                                      f"{enter} ns, {leave} ns")
            last = leave
