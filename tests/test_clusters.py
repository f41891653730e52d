"""Clusters of ranks whose number is known, in simulated time from 8 to 1024 ranks and under both MPIs.

The programs are in programs/clusters (and bench/adi.c); what is expected of them is derived in
doc/clustering.md. Each test prints a table, one line per run: main clusters, sub-clusters, and
sub-clusters after expressions, expected / found; - where any number is right; the bytes that go up a tree
of ranks, per rank, as clusters and without merging; and the CPU time of clustering off line. The same stands
in doc/clustering.md beside the paper's (tools/clusters_table.py).
"""
import collections
import json
import os
import re
import shutil
import sys

import harness
import rfn_reader
import rfn_text
import test_merge
import test_reader
import test_smpi

SIMULATED = True
SIZES = [8, 12, 16, 32, 64, 128, 256, 512, 1024]
POWERS = [size for size in SIZES if size & (size - 1) == 0]
FOLDER = os.path.join(harness.PROGRAMS, "clusters")


def sides(ranks, dimensions):
    """MPI_Dims_create, of powers of two and of 12."""
    if ranks == 12:
        return [4, 3]
    found = [1] * dimensions
    at = 0
    while ranks > 1:
        found[at % dimensions] *= 2
        ranks //= 2
        at += 1
    return found


def sweep(ranks):
    rows, columns = sides(ranks, 2)
    kinds = min(3, rows) * min(3, columns)
    return kinds, kinds, kinds


def cylinder(ranks):
    """The first, inner and last columns differ in whom they have no partner; no call is guarded."""
    return 1, min(3, sides(ranks, 2)[1]), 1


class Program:
    """Source, arguments, the numbers of ranks that it runs on, what is expected of it: main clusters,
    sub-clusters, and those after expressions, None for any."""

    def __init__(self, source, arguments, sizes, expected):
        self.source, self.arguments, self.sizes, self.expected = source, arguments, sizes, expected


PROGRAMS = {
    "sweep2d": Program(os.path.join(FOLDER, "sweep2d.c"), ["2"], SIZES, sweep),
    "adi": Program(os.path.join(harness.HERE, "..", "bench", "adi.c"), ["1", "1"],
                   [16, 64, 256, 1024], lambda ranks: (1, 2 if ranks == 4 else 3, 1)),
    "open_ring": Program(os.path.join(FOLDER, "open_ring.c"), ["1"], SIZES,
                         lambda ranks: (3, 3, 3)),
    "transpose": Program(os.path.join(FOLDER, "transpose.c"), ["1"], SIZES,
                         lambda ranks: (1, ranks, 1)),
    "cg": Program(os.path.join(FOLDER, "cg.c"), ["2"], POWERS, lambda ranks: (1, None, 1)),
    "vcycle": Program(os.path.join(FOLDER, "vcycle.c"), ["1"], POWERS,
                      lambda ranks: (max(sides(ranks, 3)).bit_length(), None, None)),
    "ghosts": Program(os.path.join(FOLDER, "ghosts.c"), ["1"], SIZES,
                      lambda ranks: (1, None, None)),
    "workers": Program(os.path.join(FOLDER, "workers.c"), ["2"], SIZES,
                       lambda ranks: (2, ranks, 2)),
    # A message per pair of ranks; at 128 they do not stand in the structure any more.
    "pairwise": Program(os.path.join(FOLDER, "pairwise.c"), ["1"], [8, 12, 64, 128],
                        lambda ranks: (1, 1, 1)),
    "cylinder": Program(os.path.join(FOLDER, "cylinder.c"), ["2"], SIZES, cylinder),
}


def clusters(bench, archive, form="elastic"):
    return json.loads(bench.verb("info", "--json", f"--clusters={form}", archive))


def counts(facts):
    return (facts["main_clusters"], facts["sub_clusters"], facts["sub_clusters_after_expressions"])


def check_sum(facts):
    """Each rank is in one cluster and in one sub-cluster of it, which its lowest rank stands for."""
    harness.compare("ranks", sum(c["n_ranks"] for c in facts["clusters"]), facts["ranks"])
    for cluster in facts["clusters"]:
        harness.compare("ranks of sub-clusters", sum(s["n_ranks"] for s in cluster["subs"]),
                        cluster["n_ranks"])
        harness.compare("sub-clusters", len(cluster["subs"]), cluster["sub_clusters"])
        harness.compare("lowest", min(s["representative"] for s in cluster["subs"]),
                        cluster["representative"])


def check_cost(facts):
    """What goes up a tree: half of the sets at each level, which are no larger than their ranks' own ones
    together."""
    cost, left = facts["clustering_cost"], facts["ranks"]
    levels, messages = cost["levels"], []
    while left > 1:
        messages.append(left // 2)
        left -= left // 2
    harness.compare("messages", [level["messages"] for level in levels], messages)
    harness.compare("sets of one rank", levels[0]["bytes"], levels[0]["unmerged_bytes"])
    for level in levels:
        if level["bytes"] > level["unmerged_bytes"] or level["seconds"] < 0:
            raise harness.Failure(f"clusters are larger than what they are of: {level}")
    for name in ("messages", "bytes", "unmerged_bytes"):
        harness.compare(name, cost["merging"][name], sum(level[name] for level in levels))


def check_found(bench, archive, expected):
    """The recorder has found the main clusters itself; verify makes the signatures anew."""
    facts = json.loads(bench.verb("info", "--json", archive))
    signatures = [group["signature"] for group in facts["group_list"]]
    harness.compare("groups without signature", signatures.count(None), 0)
    harness.compare("main clusters when recording", len(set(signatures)), expected)
    harness.compare("told without being asked", counts(facts), counts(clusters(bench, archive)))
    bench.verb("verify", archive)


TITLES = ["program", "ranks", "main", "sub", "after expressions", "bytes per rank", "unmerged",
          "CPU seconds"]
SECTION = os.path.join(harness.HERE, "..", "doc", "clustering.md")


def seconds(facts):
    """CPU time of all steps of clustering off line."""
    cost = facts["clustering_cost"]
    return cost["merging"]["seconds"] + sum(cost[f"{step}_seconds"]
                                            for step in ("reading", "dividing", "expression"))


def cells(name, facts):
    """What TITLES call for."""
    ranks, merging = facts["ranks"], facts["clustering_cost"]["merging"]
    found = [f"{'-' if wanted is None else wanted} / {got}"
             for wanted, got in zip(PROGRAMS[name].expected(ranks), counts(facts))]
    return [name, str(ranks), *found, f"{merging['bytes'] / ranks:.0f}",
            f"{merging['unmerged_bytes'] / ranks:.0f}", f"{seconds(facts):.4f}"]


def header(titles):
    return f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}"


def rows_of_page():
    """The cells of all tables of doc/clustering.md."""
    with open(SECTION, encoding="utf-8") as file:
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in file if line.startswith("| ")]


def documented():
    """The lines of doc/clustering.md with these cells, but for the time, by program and number of ranks."""
    return {(line[0], int(line[1])): line[:len(TITLES) - 1] for line in rows_of_page()
            if len(line) > len(TITLES) and line[0] in PROGRAMS and "/" in line[2]}


def check(bench, name, ranks, archive, written=None):
    """Prints a line of the table; returns what is wrong, or nothing. written: what that line is to be."""
    facts = clusters(bench, archive)
    found, expected = counts(facts), PROGRAMS[name].expected(ranks)
    line = cells(name, facts)
    print(f"| {' | '.join(line)} |", flush=True)
    check_sum(facts)
    check_cost(facts)
    check_found(bench, archive, expected[0])
    if written is not None and written != line[:-1]:
        return f"doc/clustering.md has {written or 'no such row'}, found {line[:-1]}: make clusters-table"
    wrong = [got for wanted, got in zip(expected, found) if wanted not in (None, got)]
    return f"{name} on {ranks} ranks: found {found}, expected {expected}" if wrong else None


def simulate(bench, name, ranks, time="none", cluster="no"):
    """The archive of a program, not to be changed: simulated once for all tests, as it is the same in each run."""
    program, env = PROGRAMS[name], {"REFRAIN_TIME": time, "REFRAIN_CLUSTER": cluster}
    compiled = test_smpi.smpi_program(bench, program.source)

    def run(out):
        shutil.move(test_smpi.smpi_run(bench, compiled, ranks, program.arguments, env), out)
    return bench.once(f"{name}.{ranks}", (compiled, ranks, program.arguments, env), run)


def check_all(bench, name):
    print(header(TITLES))
    written = documented()
    faults = [check(bench, name, ranks, simulate(bench, name, ranks), written.get((name, ranks), []))
              for ranks in PROGRAMS[name].sizes]
    if any(faults):
        raise harness.Failure("\n".join(filter(None, faults)))


def test_sweep2d(bench):
    """A wavefront: corners, edges and the interior."""
    check_all(bench, "sweep2d")


def test_told(bench):
    """What info says of sub-clusters: the columns of adi's grid at its two sides and between, where their ranks are
    several; no more lines of each list than asked for; and parameters that are one place for all come last."""
    archive = simulate(bench, "adi", 16)
    page = bench.verb("info", "--clusters", archive)
    rows = re.findall(r"^ +(1\.\d) +(\d+)  (.*)$", page, re.M)
    harness.compare("sub-clusters of adi", rows,
                    [("1.1", "4", "0-12 by 4"), ("1.2", "8", "1-2, 4 times 4 apart"), ("1.3", "4", "3-15 by 4")])
    page = bench.verb("info", "--clusters", "--top=2", archive)
    rows = re.findall(r"^ +1\.\d +\d+  .*$", page, re.M)
    told = page.count("\n    source") + page.count("\n    dest")
    harness.compare("at most two", (len(rows), "\n  and 1 more\n" in page, told), (2, True, 2))
    page = bench.verb("info", "--clusters", "--top=100", simulate(bench, "workers", 16))
    harness.compare("each rank of its own", "\n  sub-cluster " in page, False)
    differences = re.findall(r"^    (.*)$", page[page.index("\nParameters in"):page.index("\nCost of")], re.M)
    constant = ["on all of them" in line for line in differences]
    harness.compare("one place for all, told last", (any(constant), constant), (True, sorted(constant)))
    harness.compare("told once", len(differences), len(set(differences)))


def test_alike(bench):
    """What the report says: the nine clusters of a wavefront are kinds of ranks by the calls that they
    make, two fewer for each neighbour that a rank does not have."""
    archive = simulate(bench, "sweep2d", 16)
    alike = json.loads(bench.verb("report", "--json", archive))["alike"]
    kinds = alike["kinds"]
    harness.compare("kinds", sorted(kind["ranks"] for kind in kinds),
                    [[0], [1, 2], [3], [4, 8], [5, 6, 9, 10], [7, 11], [12], [13, 14], [15]])
    harness.compare("most ranks first", kinds[0]["ranks"], [5, 6, 9, 10])
    for kind in kinds:
        rank = kind["ranks"][0]
        missing = (rank // 4 in (0, 3)) + (rank % 4 in (0, 3))
        harness.compare("calls", (len(kind["also_calls"]), len(kind["does_not_call"])),
                        (0, 2 * missing))
        harness.compare("partners", kind["sends_to"], [4 - missing] * 2)
    page = bench.run([bench.refrain, "report", archive], env={"COLUMNS": "100"}, check=True).out
    lines = page[page.index("\nWhich ranks behave alike?"):].split("\n\n")[0].splitlines()[1:]
    harness.compare("lines", len(lines) <= 8, True)
    harness.compare("the inner ranks", lines[1].startswith("  4 of 16 ranks (5-6,9-10): "), True)
    harness.compare("others are told apart by their calls", "do not call MPI_" in lines[2] + lines[3],
                    True)


def test_adi(bench):
    """Multi-partitioned sweeps: three sub-clusters, by where neighbours wrap round."""
    check_all(bench, "adi")


def test_open_ring(bench):
    check_all(bench, "open_ring")


def test_transpose(bench):
    """Colours and keys are expressions."""
    check_all(bench, "transpose")


def test_cg(bench):
    """Square and 2:1 grids, transposed partners."""
    check_all(bench, "cg")


def test_vcycle(bench):
    check_all(bench, "vcycle")


def test_ghosts(bench):
    check_all(bench, "ghosts")


def test_workers(bench):
    """However many tasks a worker gets."""
    check_all(bench, "workers")


def test_pairwise(bench):
    """Parameters in columns, of which only the extremes are compared."""
    check_all(bench, "pairwise")


def test_cylinder(bench):
    """Partners round a cylinder, along it and on both diagonals, MPI_PROC_NULL beyond its ends."""
    check_all(bench, "cylinder")


def check_partners(bench, archive, rows, columns):
    """Each partner in which ranks differ is an expression: its shifts, and that columns do not wrap round."""
    found = []
    for parameter in clusters(bench, archive)["clusters"][0]["parameters"]:
        expression = parameter["expression"]
        harness.compare(f"{parameter['text']}: part, form, grid, ends",
                        (parameter["part"], expression["form"], expression["grid"], expression["open"],
                         expression["open_dimensions"]),
                        ("value", "shifted", [rows, columns], True, [1]))
        found.append((parameter["name"], *expression["factors"]))
    wanted = [("dest", 0, 1), ("dest", 1, 1), ("dest", -1, 1), ("source", 0, -1), ("source", -1, -1), ("source", 1, -1)]
    harness.compare("partners", sorted(found), sorted(wanted))


def stored_shifts(archive):
    """Shifts, and dimensions that do not wrap round, of the expressions that a file has."""
    found, read = set(), rfn_reader.Expression.__init__

    def noted(expression, reader):
        read(expression, reader)
        if expression.form == rfn_reader.SHIFTED:
            found.add((*expression.numbers, *sorted(expression.open)))
    rfn_reader.Expression.__init__ = noted
    try:
        for _ in rfn_text.lines(rfn_reader.Archive(archive)):
            pass
    finally:
        rfn_reader.Expression.__init__ = read
    return found


# Of both diagonals, either way.
DIAGONALS = {(1, 1, 1), (-1, -1, 1), (-1, 1, 1), (1, -1, 1)}


def check_cylinder(bench, archive, rows, columns):
    facts = clusters(bench, archive)
    harness.compare("clusters", counts(facts), cylinder(rows * columns))
    check_partners(bench, archive, rows, columns)
    page = bench.verb("info", "--clusters", archive)
    wanted = f"dest = rank of (i + 1, j + 1) round the {rows} x {columns} grid, MPI_PROC_NULL beyond the ends of j ("
    harness.compare(f"{wanted} on the page", wanted in page, True)


def test_cylinder_shifts(bench):
    """The expressions are those of the program, and stand in the file instead of words of all ranks."""
    for ranks in (12, 64, 256):
        rows, columns = sides(ranks, 2)
        plain = simulate(bench, "cylinder", ranks)
        stored = clustered(bench, plain)
        for archive in (plain, stored):
            check_cylinder(bench, archive, rows, columns)
        harness.compare("shifts that are stored", sorted(stored_shifts(stored) & DIAGONALS), sorted(DIAGONALS))
        harness.compare("dumps", test_reader.dump(bench, stored) == test_reader.dump(bench, plain), True)


def test_cylinder_real(bench):
    """The same of 4 x 3 processes."""
    compiled = bench.program(PROGRAMS["cylinder"].source, "openmpi")
    _, archive = bench.record("openmpi", 12, [compiled, "2"], options=["--time=none"])
    check_cylinder(bench, archive, 4, 3)


def test_chains(bench):
    """Ranks of several communicators: each has a place of its own in each of them."""
    compiled = bench.program(os.path.join(FOLDER, "chains.c"), "openmpi")
    _, archive = bench.record("openmpi", 8, [compiled], options=["--time=none"])
    facts = clusters(bench, archive)
    check_sum(facts)
    harness.compare("clusters", (facts["main_clusters"], facts["sub_clusters_after_expressions"]), (1, 1))
    page = bench.verb("info", "--clusters", archive)
    for wanted in ("source = rank - 1, MPI_PROC_NULL beyond the ends", "dest = rank + 1, MPI_PROC_NULL beyond the ends"):
        harness.compare(f"{wanted} on the page", wanted in page, True)


def graph(bench, flavour, ranks, *arguments, **how):
    """Numbers of clusters of graph.c, which SMPI cannot run, and parameters in which ranks of its cluster differ."""
    compiled = bench.program(os.path.join(FOLDER, "graph.c"), flavour)
    _, archive = bench.record(flavour, ranks, [compiled, *arguments], options=["--time=none"], **how)
    facts = clusters(bench, archive)
    check_sum(facts)
    return counts(facts), sorted(p["text"] for p in facts["clusters"][0]["parameters"])


def graph_distances(ranks, far):
    """Of so many neighbours that only their least and largest distance is known: who has an odd number sends to one
    fewer, and gets nothing from `far` ranks before."""
    place = f"rank being (i, j) on the {ranks // 2} x 2 grid"
    return [f"largest distance of destinations = -1 * j + {far}, {place}",
            f"least distance of sources = j + {ranks - far}, {place}"]


def test_graph(bench, flavour):
    """Neighbours in a graph are partners: those at the same distance anyway, and one that is another way for half of
    the ranks. Ranks with more neighbours than others are told apart."""
    harness.compare("near", graph(bench, flavour, 8),
                    ((1, 2, 1), [f"{name} 3 of 3 = rank xor 2" for name in ("destinations", "sources")]))
    harness.compare("far", graph(bench, flavour, 8, "6"), ((1, 2, 2), []))


def test_graph_many_lists(bench):
    """More than 64 different lists of one call."""
    harness.compare("many lists", graph(bench, "openmpi", 20, "18", "170"), ((1, 2, 1), graph_distances(20, 18)))


def test_real(bench, flavour):
    """All programs under a real MPI."""
    faults = []
    ranks = 16 if flavour == "openmpi" else 4
    print(header(TITLES))
    for name, program in PROGRAMS.items():
        compiled = bench.program(program.source, flavour)
        _, archive = bench.record(flavour, ranks, [compiled, *program.arguments],
                                  options=["--time=none"])
        faults.append(check(bench, name, ranks, archive))
    if any(faults):
        raise harness.Failure("\n".join(filter(None, faults)))


def ranks_of(facts):
    """Lowest and number of ranks of each main cluster."""
    return [(cluster["representative"], cluster["n_ranks"]) for cluster in facts["clusters"]]


def test_left_out(bench, flavour):
    """Calls that are left out in an iteration, which only values tell: the recorder finds the main clusters, and
    what is made of its archive keeps them."""
    program = bench.program(os.path.join(FOLDER, "left_out.c"), flavour)
    for options in ([], ["--no-cluster"]):
        _, archive = bench.record(flavour, 4, [program], options=options)
        check_found(bench, archive, 3)
        harness.compare("main clusters", ranks_of(clusters(bench, archive)), [(0, 2), (2, 1), (3, 1)])
        for verb in (("reduce", "--cluster"), ("reduce", "--rank=0-3")):
            out = bench.fresh("again.rfn")
            bench.verb(*verb, archive, "-o", out)
            check_found(bench, out, 3)


def test_disorder(bench, flavour):
    """A million calls in no order, after iterations that leave some out: the recorder finds the main clusters."""
    program = bench.program(os.path.join(FOLDER, "left_out.c"), flavour)
    _, archive = bench.record(flavour, 4, [program, "1000000"])
    check_found(bench, archive, 3)
    harness.compare("main clusters", ranks_of(clusters(bench, archive)), [(0, 2), (2, 1), (3, 1)])


def test_unsigned(bench, flavour):
    """What would take too long to sign meanwhile is left to the readers: calls in no order on hundreds of call paths."""
    program = bench.program(os.path.join(FOLDER, "left_out.c"), flavour)
    _, archive = bench.record(flavour, 4, [program, "20000", "250"])
    facts = json.loads(bench.verb("info", "--json", archive))
    harness.compare("signatures", [group["signature"] for group in facts["group_list"]],
                    [None] * len(facts["group_list"]))
    harness.compare("main clusters", facts["main_clusters"], 3)
    harness.compare("said", "Alike       3 main clusters" in bench.verb("info", archive), True)
    bench.verb("verify", archive)


def clustered(bench, archive, *options):
    """The archive with clusters stored once."""
    out = bench.fresh("clustered.rfn")
    bench.verb("reduce", "--cluster", *options, archive, "-o", out)
    bench.verb("verify", out)
    return out


def check_stored(bench, name, ranks):
    """Nothing is lost, by either reader; parameters and the whole file take less."""
    full = simulate(bench, name, ranks, "full")
    out = clustered(bench, full)
    lines = test_reader.dump(bench, out)
    harness.compare(f"{name}: dumps", test_reader.dump(bench, full) == lines, True)
    test_reader.compare(bench, out, name)
    before, facts = (json.loads(bench.verb("info", "--json", path)) for path in (full, out))
    bytes_, unclustered = facts["parameter_bytes"], facts["unclustered_parameter_bytes"]
    row = [name, str(before["groups"]), str(unclustered), str(bytes_)]
    print(f"| {' | '.join(row)} |", flush=True)
    if ranks == 64 and row not in [line[:4] for line in rows_of_page()]:
        raise harness.Failure(f"doc/clustering.md, Bytes of structures, has no row {row}")
    harness.compare(f"{name}: sizes before", unclustered, before["parameter_bytes"])
    harness.compare(f"{name}: groups", facts["clustered_groups"], before["groups"])
    for least, most in ((bytes_, unclustered), (facts["bytes"], before["bytes"])):
        if least >= most:
            raise harness.Failure(f"{name}: {least} bytes, before {most}")
    return full


# What these say differs from run to run: how long merging took, when ranks began.
OF_THE_RUN = {rfn_reader.META, rfn_reader.STREAMS}
# In these it is what clocks said then, in words of 8 bytes (of which compression makes more or fewer).
WITH_CLOCKS = {rfn_reader.TIMING, rfn_reader.PROFILE}


def contents(archive):
    """Payloads of chunks, as far as they are those of each run, else their sizes."""
    return {(kind, number): len(chunk.payload) if kind in WITH_CLOCKS else chunk.payload
            for (kind, number), chunk in rfn_reader.Archive(archive).chunks.items() if kind not in OF_THE_RUN}


def check_smaller(name, plain, out, reduced):
    """Than what all representatives take by themselves. Returns cells."""
    harness.compare(f"{name}: groups", out["clustered_groups"], plain["groups"])
    for part in ("bytes", "parameter_bytes"):
        if out[part] >= plain[part]:
            raise harness.Failure(f"{name}: {out[part]} {part}, {plain[part]} without clusters")
    return [str(each[part]) for part in ("bytes", "parameter_bytes") for each in (plain, out, reduced)]


def own_bytes(archive, ranks):
    """Bytes that ranks sent of USAGE and CORES, at most 512 per rank. A message passes as many ranks as the sender's
    number has bits."""
    chunks = rfn_reader.Archive(archive).chunks
    own = sum(len(chunk.payload) for (kind, _), chunk in chunks.items() if kind in (rfn_reader.USAGE, rfn_reader.CORES))
    harness.compare(f"{own / ranks:.0f} bytes of a rank's own are at most 512", own <= 512 * ranks, True)
    return own * sum(bin(rank).count("1") for rank in range(ranks)) / ranks


def moved_share(archive, ranks, merging):
    """Bytes sent to merge, without USAGE and CORES, as a share of what merging without clusters would send."""
    sent = merging["bytes"] - own_bytes(archive, ranks)
    harness.compare("more than these is sent", sent > 0, True)
    return sent / (merging["all_bytes"] + merging["all_definition_bytes"])


def check_moved(name, ranks, merging, archive):
    """To each rank but one its parent shows what it has, and it sends what it has beside that, and tables; with
    reduced times as many again in further surveys and for spreads; half as many bits as ranks have numbers are passed
    on the way, by what is handed on. Returns cells of a table."""
    hops = sum(bin(rank).count("1") for rank in range(ranks))
    if not 3 * (ranks - 1) <= merging["messages"] <= 12 * (ranks - 1) or not merging["bytes"] > 20 * merging["messages"]:
        raise harness.Failure(f"{name}: {merging}")
    share = merging["all_bytes"] / hops / (merging["trace_bytes"] / ranks)
    if not 0.5 < share < 2:
        raise harness.Failure(f"{name}: {merging}: hops of an average trace {share}")
    share = moved_share(archive, ranks, merging)
    if share > (0.5 if name == "ghosts" else 0.25):  # in ghosts all ranks are different
        raise harness.Failure(f"{name}: of all traces {share:.1%} are moved: {merging}")
    bytes_ = (merging[part] / ranks for part in ("bytes", "all_bytes", "all_definition_bytes"))
    return [*(f"{each:.0f}" for each in bytes_), f"{share:.1%}"]


def check_recorded(bench, name, ranks, kept, out):
    """The recorder's own clusters: what is dumped of every rank is what it is without, and what `reduce` makes
    of that."""
    reduced = clustered(bench, kept)
    bench.verb("verify", out)
    expected = test_reader.dump(bench, kept)
    harness.compare(f"{name}: recorded dumps", test_reader.dump(bench, out) == expected, True)
    harness.compare(f"{name}: reduced dumps", test_reader.dump(bench, reduced) == expected, True)
    test_reader.compare(bench, out, name)
    facts = [json.loads(bench.verb("info", "--json", path)) for path in (kept, out, reduced)]
    harness.compare(f"{name}: ranks, complete", (facts[1]["ranks"], facts[1]["complete"]), (ranks, True))
    recorded, off_line = contents(out), contents(reduced)
    different = [chunk for chunk in recorded | off_line if recorded.get(chunk) != off_line.get(chunk)]
    harness.compare(f"{name}: chunks that differ, recorded and off line", different, [])
    line = [name, *check_smaller(name, *facts), *check_moved(name, ranks, facts[1]["merging"], out)]
    print(f"| {' | '.join(line)} |", flush=True)


# Of the bytes of structures, rank parameters and values, by ranks: with COMMON at most. As reached, so that it stays;
# what has to be in COMMON is counted by distinct_parts.
COMMON_SHARES = {2: 0.60, 6: 0.38}

# Bytes of the archive, and of structures, rank parameters and values in it; per rank, what was sent or would have been.
RECORDED = header(["program", "unclustered", "recorded", "reduced", "parameters", "recorded", "reduced", "sent",
                   "all traces", "what they refer to", "share of both"])


@harness.long
def test_recorded(bench):
    """Recorded with and without clusters, with all times or those of segments, on 64 ranks."""
    print(RECORDED)
    for i, name in enumerate(PROGRAMS):
        time = "full" if i % 2 else "reduced"
        kept, out = (simulate(bench, name, 64, time, cluster) for cluster in ("no", "yes"))
        check_recorded(bench, name, 64, kept, out)


MANY = 1024
# How much more a rank sends than one of 64: hardly more where ranks are alike; where all are different, what each
# has is handed on over as many levels more as the tree has.
MORE = {"sweep2d": 1.25, "ghosts": 10 / 6}


def check_sent(bench, name, out):
    """What a rank sends, on many ranks and on 64."""
    few = simulate(bench, name, 64, "none", "yes")
    sent = [facts["merging"]["bytes"] / facts["ranks"]
            for facts in (json.loads(bench.verb("info", "--json", path)) for path in (few, out))]
    if sent[1] > MORE[name] * sent[0]:
        raise harness.Failure(f"{name}: a rank sends {sent} bytes on 64 and {MANY} ranks")


@harness.long
def test_recorded_many(bench):
    """As the paper's largest runs: what alike ranks did is stored once, and takes less than the representatives'."""
    print(RECORDED)
    for name in MORE:
        kept, out = (simulate(bench, name, MANY, "none", cluster) for cluster in ("no", "yes"))
        check_recorded(bench, name, MANY, kept, out)
        check_sent(bench, name, out)


def test_one_large(bench):
    """A structure that is not brought to rank 0 stays alone; all others are stored together."""
    program = test_smpi.smpi_program(bench, os.path.join(FOLDER, "one_large.c"))
    archives = []
    for cluster in ("no", "yes"):
        found = test_smpi.smpi_run(bench, program, 8, ["100000"],
                                   env={"REFRAIN_TIME": "none", "REFRAIN_CLUSTER": cluster})
        archives.append(bench.fresh("large.rfn"))
        os.rename(found, archives[-1])
        bench.verb("verify", archives[-1])
    archives.append(clustered(bench, archives[0]))
    dumps = [bench.verb("dump", archive) for archive in archives]
    harness.compare("dumps", [dump == dumps[0] for dump in dumps], [True] * 3)
    facts = [json.loads(bench.verb("info", "--json", archive)) for archive in archives]
    harness.compare("groups", [each["groups"] for each in facts], [8] * 3)
    harness.compare("in clusters", [each["clustered_groups"] for each in facts], [0, 7, 7])


@harness.long
def test_recorded_real(bench, flavour):
    """One rank, an odd number, threads, little memory."""
    ring = bench.program(os.path.join(FOLDER, "open_ring.c"), flavour)
    ghosts = bench.program(os.path.join(FOLDER, "ghosts.c"), flavour)
    threads = bench.program("threads", flavour)
    for ranks, command, options in (
            (1, [ring, "2"], []), (5, [ring, "2"], []), (4, [ghosts, "2"], []),
            (4, [ghosts, "300"], ["--memory=1M"]), (2, [threads], [])):
        dumps = []
        for more in ([], ["--no-cluster"]):
            _, archive = bench.record(flavour, ranks, command, ["--time=none", *options, *more],
                                      archive=bench.fresh("real.rfn"))
            bench.verb("verify", archive)
            dumps.append(test_reader.dump(bench, archive))
            facts = json.loads(bench.verb("info", "--json", archive))
            if more or ranks >= 4:
                harness.compare("clusters", facts["clustered_groups"] > 0, not more)
        harness.compare(f"{ranks} ranks of {command}", dumps[0] == dumps[1], True)


GROWING = """#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size;
    static char data[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Sendrecv(data, rank + 1, MPI_CHAR, (rank + 1) % size, 0, data + 32, 32, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(data, 2 * (rank / 2) + 3, MPI_CHAR, 0, MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
"""


def test_recorded_growing(bench, flavour):
    """Numbers that grow with the rank: each rank is a group, in which just they differ."""
    source = bench.path(f"growing.{flavour}.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(GROWING)
    program = bench.program(source, flavour)
    dumps = []
    for more in ([], ["--no-cluster"]):
        _, archive = bench.record(flavour, 4, [program], ["--time=none", *more],
                                  archive=bench.fresh("growing.rfn"))
        bench.verb("verify", archive)
        dumps.append(test_reader.dump(bench, archive))
    counts = [sum(b"sendcount=%d " % n in line for line in dumps[0]) for n in range(1, 5)]
    harness.compare("counts", counts, [1, 1, 1, 1])
    harness.compare("dumps", dumps[0] == dumps[1], True)


def test_beside_the_paper(bench):
    """The table on 256 ranks has what is found, but for bytes moved at finalize, which differ by one or two
    from run to run."""
    sys.path.append(os.path.join(harness.HERE, "..", "tools"))
    import clusters_table  # it imports this module
    moved, written = slice(7, 10), rows_of_page()
    for row in written:
        del row[moved]
    for name in clusters_table.PAPER:
        for row in clusters_table.space_rows([clusters_table.Run(bench, name, clusters_table.AT)]):
            del row[moved]
            if row not in written:
                raise harness.Failure(f"doc/clustering.md has no row {row}: make clusters-table")


def test_stored(bench):
    """All programs on 64 ranks, with times, clustered in a file; the table of doc/clustering.md."""
    print("| program | groups | before | clustered |\n|---|---|---|---|")
    for name in PROGRAMS:
        full = check_stored(bench, name, 64)
        reduced = bench.fresh("reduced.rfn")
        bench.verb("reduce", "--across", full, "-o", reduced)
        expected = test_reader.dump(bench, reduced)
        for out in (clustered(bench, full, "--across"), clustered(bench, reduced)):
            harness.compare(f"{name}: reduced times", test_reader.dump(bench, out) == expected, True)


def test_stored_analyses(bench):
    """Whoever reads an archive finds in a clustered one what is in the other."""
    for name in ("ghosts", "vcycle"):
        full = simulate(bench, name, 64, "full")
        out = clustered(bench, full)
        for verb in ("report", "clusters"):
            words = ["info", "--clusters"] if verb == "clusters" else [verb]
            told = [json.loads(bench.verb(*words, "--json", path)) for path in (full, out)]
            if verb == "clusters":
                told = [{key: facts[key] for key in ("clusters", "sub_clusters")} for facts in told]
            for facts in told:
                for key in ("file", "bytes", "archive"):
                    facts.pop(key, None)
            harness.compare(f"{name}: {verb}", told[1] == told[0], True)
        bench.verb("compare", "--reduction", full, out)


def test_stored_many(bench):
    """On 256 ranks, parameters take hardly more than on 64."""
    print(header(["program", "64 ranks", "256 ranks"]))
    for name in ("adi", "sweep2d", "transpose", "cylinder"):
        sizes = []
        for ranks in (64, 256):
            full = simulate(bench, name, ranks)
            out = clustered(bench, full)
            harness.compare(f"{name}: dumps", test_reader.dump(bench, full) ==
                            test_reader.dump(bench, out), True)
            sizes.append(json.loads(bench.verb("info", "--json", out))["parameter_bytes"])
        print(f"| {name} | {sizes[0]} | {sizes[1]} |", flush=True)
        if sizes[1] > 1.5 * sizes[0]:
            raise harness.Failure(f"{name}: {sizes} bytes on 64 and 256 ranks")


def chunk_bytes(archive, kinds):
    """Bytes in the file of all chunks of these types, headers included."""
    found = [chunk.stored for (kind, _), chunk in rfn_reader.Archive(archive).chunks.items() if kind in kinds]
    return sum(48 + stored + -stored % 8 for stored in found)


def check_common(bench, full, out):
    """An archive with COMMON says what the unclustered one does, by either reader; info counts all of it."""
    bench.verb("verify", out)
    harness.compare("dumps", test_reader.dump(bench, full) == test_reader.dump(bench, out), True)
    test_reader.compare(bench, out, "patchwork")
    before, facts = (json.loads(bench.verb("info", "--json", path)) for path in (full, out))
    kinds = {rfn_reader.COMMON, rfn_reader.CLUSTERS, rfn_reader.STRUCTURE, rfn_reader.RANK_PARAMS,
             rfn_reader.VALUES}
    harness.compare("there is COMMON", chunk_bytes(out, {rfn_reader.COMMON}) > 0, True)
    harness.compare("bytes", facts["parameter_bytes"], chunk_bytes(out, kinds))
    harness.compare("bytes before", facts["unclustered_parameter_bytes"], before["parameter_bytes"])
    return facts["parameter_bytes"] / before["parameter_bytes"]


def distinct_parts(full):
    """How many different sites, symbols and loops all ranks have, told by what they say."""
    archive = rfn_reader.Archive(full)
    sites, symbols, loops = set(), set(), set()
    for group in {stream.group for stream in archive.streams}:
        structure, alike, named = archive.structure(group), collections.Counter(), []
        sites.update(structure.sites)
        for symbol in structure.symbols:
            said = (symbol.function.name, symbol.path, symbol.failed_poll, symbol.error, tuple(symbol.moved),
                    tuple(symbol.shared))
            named.append((said, alike[said]))  # that say the same are told apart by their order
            alike[said] += 1
        symbols.update(named)
        bodies = []
        for body in structure.loops:
            bodies.append(tuple((bodies if node & 1 else named)[node >> 1] for node in body))
        loops.update(bodies)
    return len(sites), len(symbols), len(loops)


def recorded_patchwork(bench, flavour, ranks, *options):
    program = bench.program(os.path.join(FOLDER, "patchwork.c"), flavour)
    return bench.record(flavour, ranks, [program], options, archive=bench.fresh("patchwork.rfn"))[1]


def test_common_loops(bench, flavour):
    """Ranks of different shapes that execute the same loops: these are stored once."""
    for ranks in (2, 6):
        full = recorded_patchwork(bench, flavour, ranks, "--no-cluster")
        reduced = clustered(bench, full)
        shares = [check_common(bench, full, out)
                  for out in (reduced, clustered(bench, reduced), clustered(bench, full, "--similarity=chebyshev:0"))]
        common = rfn_reader.Archive(reduced).common()
        harness.compare("sites, symbols, loops", tuple(map(len, (common.sites, common.symbols, common.loops))),
                        distinct_parts(full))
        print(f"| {flavour} | {ranks} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)
        if max(shares) > COMMON_SHARES[ranks]:
            raise harness.Failure(f"{ranks} ranks: shares {shares} of what is not clustered")


def test_common_recorded(bench, flavour):
    """The recorder stores it, too."""
    full, out = (recorded_patchwork(bench, flavour, 4, "--time=none", *more) for more in (["--no-cluster"], []))
    check_common(bench, full, out)


def test_common_rewritten(bench):
    """What is made of an archive with COMMON has it as long as groups refer to it."""
    full = recorded_patchwork(bench, "openmpi", 4, "--no-cluster")
    out = clustered(bench, full)
    kept = bench.fresh("kept.rfn")
    bench.verb("reduce", "--similarity=chebyshev:0", out, "-o", kept)
    check_common(bench, full, kept)
    whole = test_merge.check_parts(bench, out)
    check_common(bench, full, whole)
    check_common(bench, full, clustered(bench, whole))
    for words, names in ((["report"], ("call_paths", "waits", "communication_matrix", "behaviour")),
                         (["info", "--clusters"], ("clusters", "sub_clusters"))):
        told = [json.loads(bench.verb(*words, "--json", path)) for path in (full, out)]
        for name in names:
            harness.compare(f"{words}: {name}", told[1][name] == told[0][name], True)


def test_words(bench):
    """What expressions are called, and the other forms of the signature."""
    facts = clusters(bench, simulate(bench, "cg", 32))
    texts = {p["text"] for p in facts["clusters"][0]["parameters"]}
    for wanted in ("dest 1 of 3 = rank xor 4",
                   "dest = rank of (j, i, k) on the transposed grid, rank being (i, j, k) on the "
                   "4 x 4 x 2 grid"):
        if wanted not in texts:
            raise harness.Failure(f"no '{wanted}' in {sorted(texts)}")
    ring = clusters(bench, simulate(bench, "open_ring", 8))
    harness.compare("ranks of the ring", [c["ranks"] for c in ring["clusters"]],
                    [[{"start": 0, "dimensions": []}], [{"start": 1, "dimensions": [[6, 1]]}],
                     [{"start": 7, "dimensions": []}]])
    workers = simulate(bench, "workers", 8)
    harness.compare("strict", counts(clusters(bench, workers, "strict"))[0], 4)
    # The paper's form tells the nine kinds apart, too. The compiler inlines forward() and backward(), so that all
    # their calls have one address on the stack, each its own. Of a rank with k neighbours each is made six times, k
    # events apart in an iteration and 6 k + 1 from one to the next: for k = 2, 3, 4 these are six different numbers
    # modulo 10, so that no factor stands twice and nothing cancels, and no two kinds make the same calls.
    grid = simulate(bench, "sweep2d", 16)
    for form in ("strict", "xor"):
        harness.compare(f"{form} grid", counts(clusters(bench, grid, form))[0], 9)


def test_page(bench):
    """The text form is a page that says the same."""
    for name in ("sweep2d", "ghosts", "vcycle"):
        archive = simulate(bench, name, 16)
        page = bench.verb("info", "--clusters", archive).split("\n")
        page = page[page.index("Clusters: ranks that behave alike"):]
        numbers = tuple(int(re.search(r"\d+", line).group()) for line in page[1:4])
        harness.compare("numbers", numbers, counts(clusters(bench, archive)))
        if len(page) > 60:
            raise harness.Failure(f"{name}: {len(page)} lines")
