#!/usr/bin/env python3
"""Writes the section "Beside the paper" of doc/clustering.md: clusters, bytes and time of the programs of
tests/test_clusters.py, beside the figures of Bahmani and Mueller for the programs that they resemble.

    tools/clusters_table.py [--build DIR] [--print]
    tools/clusters_table.py [--build DIR] [--print] --long [PROGRAM...]

Runs these programs in simulated time on all numbers of ranks that they allow; `make clusters-table` does so. With --print
the section goes to standard output. tests/test_clusters.py checks what it says of clusters and bytes.

With --long: the table of long runs in "What it moves and takes", or of that the rows of some programs: what
1024 ranks that compute for times that are never quite the same move in the end. `make clusters-long`; 45 minutes.
"""
import argparse
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import harness  # noqa: E402
import test_clusters  # noqa: E402
import test_smpi  # noqa: E402

BEGIN = "<!-- tools/clusters_table.py writes from here on -->\n"
END = "<!-- to here -->\n"
BEGIN_LONG = "<!-- tools/clusters_table.py --long writes from here on -->\n"
RANKS = [16, 64, 256, 1024]  # of the paper
AT = 256  # ranks of the paper's tables 5 and 7


class Benchmark:
    """Of the paper: main and sub-clusters by numbers of ranks (Tables 3, 4 and 6, and what 5. says of MG; None:
    not told), and on 256 ranks (Tables 5 and 7): size of a trace; clusters and space per process with
    clustering, with reference clustering, and space without; KB."""

    def __init__(self, name, main, sub, trace, space, reference, reference_space, unclustered):
        self.name, self.main, self.sub, self.trace, self.space = name, main, sub, trace, space
        self.reference, self.reference_space = reference, reference_space
        self.unclustered = unclustered


# Ranks, and arguments with which a rank has so many events that at most 1 % is sent.
LONG = {"sweep2d": (1024, ["185"]), "adi": (1024, ["16", "1"]), "open_ring": (1024, ["935"]),
        "cg": (1024, ["320"]), "vcycle": (1024, ["150"]), "transpose": (1024, ["980"]),
        "ghosts": (1024, ["1345"]), "workers": (1024, ["2000"]), "pairwise": (1024, ["5"]),
        "cylinder": (1024, ["760"])}
MOST = 0.01  # of what merging without clusters would move
HOURS = 3 * 3600


class Always:
    """The same for any number of ranks that is valid, as Table 3 says of some benchmarks."""

    def __init__(self, n):
        self.n = n

    def get(self, ranks):
        del ranks
        return self.n


PAPER = {
    "sweep2d": [Benchmark("Sweep3D", Always(9), Always(1), 28, 1.06, 9, 4.86, 27.89),
                Benchmark("LU", Always(9), Always(1), 72, 2.43, 16, 25.05, 71.71)],
    "adi": [Benchmark("BT", Always(1), Always(3), 72, 0.08, 41, 108.49, 71.71),
            Benchmark("SP", Always(1), Always(3), 68, 0.10, 53, 133.06, 67.73)],
    "cg": [Benchmark("CG", Always(1), {16: 4, 64: 8, 256: 16, 1024: 64}, 44, 0.36, 256, 376.32, 43.82)],
    "transpose": [Benchmark("FT", Always(1), Always(1), 8, 0.06, 256, 70.46, 7.96)],
    "open_ring": [Benchmark("IS", Always(3), Always(1), 8, 0.15, 21, 3.62, 7.96)],
    "vcycle": [Benchmark("MG", {16: 2, 32: 4, 64: 8, 256: 16, 1024: 36}, {16: 8, 32: 16, 64: 32, 256: 64, 1024: 144}, 216,
                         14.23, 72, 733.83, 215.15)],
    "ghosts": [Benchmark("POP", {16: 1, 64: 3, 256: 2, 1024: 2}, {16: 16, 256: 256}, 1100, 16, 256, 1100,
                         1090)],
}


class Run:
    """A program on so many ranks: what is known of its clusters, and how many the reference form has, and the
    paper's parameter signature."""

    def __init__(self, bench, name, ranks):
        program = test_clusters.PROGRAMS[name]
        # As the recorder does in long runs: with reduced times, clustered if it can.
        archive = test_smpi.smpi_run(bench, test_smpi.smpi_program(bench, program.source), ranks,
                                     program.arguments,
                                     env={"REFRAIN_TIME": "reduced", "REFRAIN_CLUSTER": "yes"})
        self.name, self.ranks = name, ranks
        self.facts = test_clusters.clusters(bench, archive)
        self.reference, self.paper = (test_clusters.counts(test_clusters.clusters(bench, archive, form))[1]
                                      for form in ("reference", "paper"))
        self.moved = moved_at_finalize(bench, archive)


def moved_at_finalize(bench, archive):
    """BYTES MOVED AT FINALIZE: per rank, as clusters and had all traces been handed on, where the recorder
    says so (field `merging` of refrain info); else None, and the columns are left out."""
    facts = json.loads(bench.verb("info", "--json", archive))
    merging = facts.get("merging")
    if not merging or not merging.get("all_bytes"):
        return None
    return merging["bytes"] / facts["ranks"], merging["all_bytes"] / facts["ranks"]


def table(titles, rows):
    return test_clusters.header(titles) + "\n" + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def told(number):
    return "" if number is None else f"{number:,}" if isinstance(number, int) else f"{number:,.2f}"


def cluster_rows(runs):
    for run in runs:
        theirs = [of for of in PAPER.get(run.name, [])
                  if any(column.get(run.ranks) is not None for column in (of.main, of.sub))]
        numbers = [" ".join(sorted({told(of.get(run.ranks)) for of in column}))
                   for column in ([b.main for b in theirs], [b.sub for b in theirs])]
        yield [*test_clusters.cells(run.name, run.facts), ", ".join(b.name for b in theirs), *numbers]


def space_rows(runs):
    for run in runs:
        if run.ranks != AT:
            continue
        found, merging = test_clusters.counts(run.facts), run.facts["clustering_cost"]["merging"]
        ours = [run.name, str(max(found[0], found[2])), str(run.reference), str(run.paper),
                f"{merging['bytes'] / AT:,.0f}", f"{merging['unmerged_bytes'] / AT:,.0f}",
                f"{100 * merging['bytes'] / merging['unmerged_bytes']:.1f}"]
        if run.moved:
            ours += [f"{run.moved[0]:,.0f}", f"{run.moved[1]:,.0f}", f"{100 * run.moved[0] / run.moved[1]:.2f}"]
        for theirs in PAPER.get(run.name, []):
            involved = max(theirs.main.get(AT), theirs.sub.get(AT))
            yield [*ours, theirs.name, str(involved), str(theirs.reference), told(theirs.trace),
                   told(theirs.space), told(theirs.reference_space), told(theirs.unclustered),
                   f"{100 * theirs.space / theirs.unclustered:.1f}"]
            ours = [""] * len(ours)


def section(runs):
    recorded = ["moved at finalize", "of all traces", "%"] if all(run.moved for run in runs) else []
    if not recorded:
        for run in runs:
            run.moved = None
    clusters = table([*test_clusters.TITLES, "of the paper", "main", "sub"], cluster_rows(runs))
    space = table(["program", "clusters", "reference", "by Table 1", "bytes per rank", "unmerged", "%", *recorded,
                   "of the paper",
                   "clusters", "reference", "trace KB", "space KB", "reference KB", "unclustered KB", "%"],
                  space_rows(runs))
    return f"{clusters}\nOn {AT} ranks:\n\n{space}"


LONG_TITLES = ["program", "ranks", "events per rank", "trace", "sent", "all traces", "what they refer to",
               "share of both"]


def long_row(bench, name):
    """What a long run moves, bytes per rank; its clusters have to be those of short ones."""
    ranks, words = LONG[name]
    program = test_smpi.smpi_program(bench, test_clusters.PROGRAMS[name].source,
                                     before=os.path.join(test_clusters.FOLDER, "computing.h"))
    archive = test_smpi.smpi_launch(bench, program, ranks, words, {"REFRAIN_CLUSTER": "yes"}, HOURS)[1]
    facts = test_clusters.clusters(bench, archive)
    for wanted, got in zip(test_clusters.PROGRAMS[name].expected(ranks), test_clusters.counts(facts)):
        if wanted not in (None, got):
            raise harness.Failure(f"{name} on {ranks} ranks: {got} clusters, expected {wanted}")
    merging = json.loads(bench.verb("info", "--json", archive))["merging"]
    parts = [merging[part] for part in ("trace_bytes", "bytes", "all_bytes", "all_definition_bytes")]
    share = parts[1] / (parts[2] + parts[3])
    row = [name, str(ranks), f"{facts['events'] / ranks:,.0f}", *(f"{part / ranks:,.0f}" for part in parts),
           f"{100 * share:.2f} %"]
    print(f"| {' | '.join(row)} |", file=sys.stderr, flush=True)
    if share > MOST:
        raise harness.Failure(f"{name} on {ranks} ranks sends {share:.2%} of all traces, and at most {MOST:.0%} is wanted")
    return row


def write(text, begin):
    path = test_clusters.SECTION
    with open(path, encoding="utf-8") as file:
        page = file.read()
    found = re.sub(re.escape(begin) + ".*?" + re.escape(END), lambda _: begin + "\n" + text + "\n" + END, page,
                   count=1, flags=re.S)
    if begin not in page or END not in page:
        sys.exit(f"clusters_table.py: {path} has no place for it")
    with open(path, "w", encoding="utf-8") as file:
        file.write(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--print", action="store_true")
    parser.add_argument("--long", nargs="*", metavar="PROGRAM", choices=LONG)
    arguments = parser.parse_args()
    bench = harness.Harness(arguments.build)
    try:
        if arguments.long is not None:
            text = table(LONG_TITLES, (long_row(bench, name) for name in arguments.long or LONG))
        else:
            text = section([Run(bench, name, ranks) for name, program in test_clusters.PROGRAMS.items()
                            for ranks in program.sizes])
    except harness.Failure as failure:
        sys.exit(f"clusters_table.py: {failure}")
    finally:
        bench.close()
    if arguments.print or arguments.long:
        print(text, end="")
    else:
        write(text, BEGIN if arguments.long is None else BEGIN_LONG)
    return 0


if __name__ == "__main__":
    sys.exit(main())
