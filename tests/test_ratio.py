"""What reducing saves and loses, of a few programs and methods: as ratio/results.csv says.

Simulated time makes everything exact but sizes, in which lengths of paths play a part. A change of
the file shows what a change of the code does to fidelity; tools/ratio.py writes it anew.
"""
import csv
import json
import os

import harness
import pathologies

TOGETHER = SIMULATED = True
RESULTS = os.path.join(harness.HERE, "ratio", "results.csv")
PROGRAMS = ("late_sender", "1to1r_1024", "NtoN_1024", "dyn_load_balance", "sweep_8p")
REDUCTIONS = ("avgWave:0.2", "avgWave:0.2 --across=0.4", "avgWave:0.2 --segment-starts=exact",
              "avgWave:0 --across=0.4", "relDiff:0.8", "absDiff:1000", "manhattan:0.4",
              "euclidean:0.2", "haarWave:0.2", "iterK:10", "iterK:10:average", "iterAvg",
              "chebyshev:0.02", "chebyshev:0.02 --across=0.4", "chebyshev:0.02 --max-per-kind=100",
              "jitter:0.02", "jitter:0.02 --across=0.4")
MEASURES = ("degree_within", "degree_across", "approximation_distance_us", "largest_distance_us",
            "trends", "trends_changed", "largest_change")
COLUMNS = ("program", "reduction", "full_bytes", "reduced_bytes", *MEASURES)


def row(bench, program, full, reduction):
    reduced = bench.path("reduced.rfn")
    similar, *more = reduction.split()
    bench.verb("reduce", "--force", f"--similarity={similar}", *more, "-o", reduced, full)
    facts = json.loads(bench.verb("compare", "--reduction", "--json", full, reduced))
    return {"program": program, "reduction": reduction,
            **{name: f"{facts[name]:.6g}" if isinstance(facts[name], float) else str(facts[name])
               for name in COLUMNS if name in facts}}


def rows(bench):
    found = []
    for name in PROGRAMS:
        program = next(p for p in pathologies.PROGRAMS if p.name == name)
        full = pathologies.record(bench, program)
        found += [row(bench, name, full, reduction) for reduction in REDUCTIONS]
    return found


def same_size(found, wanted):
    return abs(int(found) - int(wanted)) <= 128 + int(wanted) / 50


def test_results(bench):
    with open(RESULTS, encoding="ascii", newline="") as file:
        wanted = list(csv.DictReader(file))
    found = rows(bench)
    harness.compare("rows", [(r["program"], r["reduction"]) for r in found],
                    [(r["program"], r["reduction"]) for r in wanted])
    wrong = []
    for one, other in zip(found, wanted):
        wrong += [f"{one['program']} {one['reduction']}: {name} {one[name]}, not {other[name]}"
                  for name in COLUMNS[2:]
                  if not (same_size(one[name], other[name]) if name.endswith("_bytes")
                          else one[name] == other[name])]
    if wrong:
        raise harness.Failure("\n".join([*wrong, "if that is meant: tools/ratio.py"]))


def test_nothing_lost(bench):
    """Segments that match only if they are equal are recreated to the nanosecond."""
    program = next(p for p in pathologies.PROGRAMS if p.name == "NtoN_1024")
    full, reduced = pathologies.record(bench, program), bench.path("equal.rfn")
    for method in ("relDiff", "absDiff", "manhattan", "euclidean", "chebyshev", "avgWave", "jitter"):
        bench.verb("reduce", "--force", f"--similarity={method}:0", "-o", reduced, full)
        facts = json.loads(bench.verb("compare", "--reduction", "--json", full, reduced))
        harness.compare(f"{method}: largest distance", facts["largest_distance_us"], 0)
        harness.compare(f"{method}: retained", facts["trends_retained"], True)
