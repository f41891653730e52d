"""Functions that work between two calls of MPI, from debug information of optimized code."""
import json
import shutil

import harness
import rfn_reader

RANKS = 3
MAIN = ("main", [("prepare", 63), ("update", 65), ("move", 68), ("output", 70), ("move", 71)])
AGREE = ("agree", [("check", 54)])


def callers(path):
    """What functions of the program call: {function: [(name, line)]}."""
    return {function: [(name, line) for name, _, line in calls]
            for function, _, calls, _ in rfn_reader.Archive(path).callers}


def loops(path, function):
    return next(loops for name, _, _, loops in rfn_reader.Archive(path).callers if name == function)


def causes(bench, archive):
    """Function by the words for it, of what others waited for."""
    text = bench.verb("report", "--json", archive)
    found = {}

    def look(value):
        if isinstance(value, dict):
            if value.get("kind") == "compute" and "activity" in value:
                found[value["activity"]] = value["function"]
            value = list(value.values())
        if isinstance(value, list):
            for part in value:
                look(part)
    look(json.loads(text))
    return found


def test_functions_that_work(bench, flavour):
    """Optimized code names them; merging and reducing keeps that, the reader of its own reads it."""
    _, archive = bench.record(flavour, RANKS, [bench.program("works", flavour, ("-O2",))])
    bench.verb("verify", archive)
    harness.compare("calls", callers(archive), dict([MAIN, AGREE]))
    harness.compare("the loop of main", {(64, 72), (65, 72)} & set(loops(archive, "main")) != set(), True)
    found = causes(bench, archive)
    for line, name in ((65, "update"), (68, "move")):
        text = f"computing in {name}(), called in main() [works.c:{line}]"
        harness.compare(text, found.get(text), name)
    text = "computing in output() and move(), called in main() [works.c:70-71]"
    harness.compare(text, found.get(text), "output")
    low, high, merged, reduced = (bench.fresh(f"{name}.rfn") for name in ("low", "high", "merged", "reduced"))
    bench.verb("reduce", "--rank", "0-1", archive, "-o", low)
    bench.verb("reduce", "--rank", "2", archive, "-o", high)
    bench.verb("merge", low, high, "-o", merged)
    bench.verb("reduce", "--similarity=avgWave:0.2", archive, "-o", reduced)
    for path in (merged, reduced):
        bench.verb("verify", path)
        harness.compare(f"calls in {path}", callers(path), dict([MAIN, AGREE]))
        harness.compare(f"loops in {path}", loops(path, "main"), loops(archive, "main"))


def test_other_compilers(bench):
    """Clang tells the same; without optimization or without debug information nothing is told."""
    flavour = "openmpi"
    plain = bench.program("works", flavour, ("-O0",))
    stripped = bench.compiled("works.stripped", ["strip", bench.program("works", flavour, ("-O2",))])
    for program in (plain, stripped):
        _, archive = bench.record(flavour, RANKS, [program])
        bench.verb("verify", archive)
        harness.compare(f"calls in {program}", callers(archive), {})
    if not shutil.which("clang"):
        return
    command = [harness.FLAVOURS[flavour].mpicc, "-std=gnu11", "-O2", "-g", "-w",
               f"{harness.PROGRAMS}/works.c"]
    program = bench.compiled("works.clang", ["env", "OMPI_CC=clang", *command])
    _, archive = bench.record(flavour, RANKS, [program])
    harness.compare("calls of clang", callers(archive), dict([MAIN, AGREE]))
