"""Iterations that programs mark as segments (refrain/region.h), up to the trace profile."""
import json
import os

import harness
import test_smpi

BEGIN, END = "refrain_segment_begin", "refrain_segment_end"
MISUSE = "refrain: refrain_segment_end(): no segment is begun"
RANKS, SEGMENTS, KINDS, STEPS = 2, 84, 6, 40  # of programs/segments.c


def facts_of(bench, archive, *options):
    return json.loads(bench.verb("info", "--json", "--size-model=iterAvg", *options, archive))


def check_marks(bench, archive, steps, segments, kinds):
    """What is marked is a segment, and nothing that is not marked cuts."""
    bench.verb("verify", archive)
    facts = facts_of(bench, archive)
    harness.compare("segments", facts["size_model"]["segments"], RANKS * segments)
    harness.compare("kinds", facts["size_model"]["kinds"], RANKS * kinds)
    for rank in range(RANKS):
        events = bench.dump(archive, "--rank", str(rank))
        begins = [e for e in events if e["function"] == BEGIN]
        names = [harness.parameter(e, "name") for e in begins]
        harness.compare("marked steps", names.count("step"), steps)
        harness.compare("ends", sum(e["function"] == END for e in events), len(begins))
        harness.compare("durations", {int(e["exit_ns"]) - int(e["enter_ns"]) for e in begins}, {0})
    return facts


def check_counts(bench, archive, facts):
    """Marks are events, but neither calls nor visits of regions."""
    marks = RANKS * 2 * (STEPS + 2)
    regions = RANKS * 2 * STEPS
    calls = RANKS * (2 + STEPS * 4 + 30 + 1 + 1)
    harness.compare("events that are no calls", facts["region_events"], marks + regions)
    harness.compare("calls", facts["calls"], calls)
    page = json.loads(bench.verb("report", "--json", archive))
    harness.compare("calls of the report", page["calls"], calls)
    harness.compare("regions", {r["name"]: r["visits"] for r in page["regions"]},
                    {"sums": RANKS * STEPS})


def test_marked(bench, flavour):
    run, archive = bench.record(flavour, RANKS, [bench.program("segments", flavour)])
    facts = check_marks(bench, archive, STEPS, SEGMENTS, KINDS)
    check_counts(bench, archive, facts)
    harness.compare("lines of misuse",
                    sum(line.startswith(MISUSE) for line in run.err.splitlines()), RANKS)


def test_fortran(bench, flavour):
    folder = bench.path(f"fortran-segments.{flavour}")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, "segments")
    bench.run([f"mpifort.{flavour}", "-O1", "-g", "-J", folder, "-o", program,
               os.path.join(harness.INCLUDE, "refrain", "refrain.f90"),
               os.path.join(harness.PROGRAMS, "fortran", "segments.F90"), bench.region_library,
               "-ldl"], check=True)
    bench.run([*harness.FLAVOURS[flavour].launch(RANKS), program], check=True)
    _, archive = bench.record(flavour, RANKS, [program])
    check_marks(bench, archive, 20, 22, 3)  # MPI_Init, the steps, MPI_Finalize


def test_simulated(bench):
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "segments.c"))
    archive = test_smpi.smpi_run(bench, program, RANKS)
    check_counts(bench, archive, check_marks(bench, archive, STEPS, SEGMENTS, KINDS))
