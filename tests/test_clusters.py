"""Clusters of ranks whose number is known, in simulated time from 8 to 1024 ranks and under both MPIs.

The programs are in programs/clusters (and bench/adi.c); what is expected of them is derived in
doc/clustering.md. Each test prints a table, one line per run: main clusters, sub-clusters, and
sub-clusters after expressions, expected / found; - where any number is right.
"""
import json
import os
import re

import harness
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


def check(bench, name, ranks, archive):
    """Prints a line of the table; returns what is wrong, or nothing."""
    facts = clusters(bench, archive)
    found, expected = counts(facts), PROGRAMS[name].expected(ranks)
    cells = " | ".join(f"{'-' if wanted is None else wanted} / {got}"
                       for wanted, got in zip(expected, found))
    print(f"| {name} | {ranks} | {cells} |", flush=True)
    check_sum(facts)
    wrong = [got for wanted, got in zip(expected, found) if wanted not in (None, got)]
    return f"{name} on {ranks} ranks: found {found}, expected {expected}" if wrong else None


def simulate(bench, name, ranks):
    program = PROGRAMS[name]
    compiled = test_smpi.smpi_program(bench, program.source)
    return test_smpi.smpi_run(bench, compiled, ranks, program.arguments,
                              env={"REFRAIN_TIME": "none"})


def check_all(bench, name):
    print("| program | ranks | main | sub | after expressions |\n|---|---|---|---|---|")
    faults = [check(bench, name, ranks, simulate(bench, name, ranks))
              for ranks in PROGRAMS[name].sizes]
    if any(faults):
        raise harness.Failure("\n".join(filter(None, faults)))


def test_sweep2d(bench):
    """A wavefront: corners, edges and the interior."""
    check_all(bench, "sweep2d")


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


def test_real(bench, flavour):
    """All programs under a real MPI."""
    faults = []
    ranks = 16 if flavour == "openmpi" else 4
    for name, program in PROGRAMS.items():
        compiled = bench.program(program.source, flavour)
        _, archive = bench.record(flavour, ranks, [compiled, *program.arguments],
                                  options=["--time=none"])
        faults.append(check(bench, name, ranks, archive))
    if any(faults):
        raise harness.Failure("\n".join(filter(None, faults)))


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
    # Even repetitions cancel in the paper's form: three pairs of the nine kinds become one each.
    grid = simulate(bench, "sweep2d", 16)
    harness.compare("strict grid", counts(clusters(bench, grid, "strict"))[0], 9)
    if counts(clusters(bench, grid, "xor"))[0] > 9:
        raise harness.Failure("xor tells more apart than there is")


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
