"""make bench, part smpi: what recording and merging cost at 1024 ranks.

The halo exchange runs under SMPI, all ranks in one process, without and with the recorder, in
alternating order; the times are those of whole runs, from smpirun's start to its end, so they
contain starting, recording, merging and writing. Most of a plain run is simulation.
"""
import os
import re
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests"))
import harness  # pylint: disable=wrong-import-position
import test_smpi  # pylint: disable=wrong-import-position

RANKS, STEPS, CELLS, PAIRS = 1024, 10, 4, 5
MERGED = re.compile(r"merged in ([0-9.]+) s with at most (\d+) KiB of memory on a rank")


def one_run(tests, program):
    """Seconds from start to end, and what the recorder said (None for a plain program)."""
    start = time.monotonic()
    run, _ = test_smpi.smpi_launch(tests, program, RANKS, [str(STEPS), str(CELLS)])
    return time.monotonic() - start, MERGED.search(run.err)


def measure(tests, pairs):
    source = os.path.join(HERE, "..", "examples", "halo.c")
    programs = [test_smpi.smpi_program(tests, source, recorded) for recorded in (False, True)]
    times, said = ([], []), []
    for i in range(pairs):
        for which in ((0, 1) if i % 2 else (1, 0)):
            seconds, merged = one_run(tests, programs[which])
            times[which].append(seconds)
            if merged:
                said.append((float(merged.group(1)), int(merged.group(2))))
    return times, said


def run(build, pairs=PAIRS):
    """Prints the table."""
    tests = harness.Harness(build)
    try:
        times, said = measure(tests, pairs)
    finally:
        tests.close()
    plain, recorded = (statistics.median(seconds) for seconds in times)
    ratios = sorted(b / a for a, b in zip(*times))
    print(f"\nHalo exchange, {STEPS} steps on {RANKS} ranks under SMPI ({pairs} pairs of runs)\n")
    print(f"{'':34}{'median':>12}{'lowest to highest':>22}{'limit':>8}")
    for name, seconds, middle in (("plain, s", times[0], plain), ("recorded, s", times[1], recorded)):
        print(f"{name:34}{middle:12.2f}{f'{min(seconds):.2f} to {max(seconds):.2f}':>22}")
    print(f"{'recorded / plain':34}{statistics.median(ratios):12.2f}"
          f"{f'{ratios[0]:.2f} to {ratios[-1]:.2f}':>22}{2:8}")
    merging, memory = zip(*said)
    print(f"{'of that merging, s':34}{statistics.median(merging):12.2f}"
          f"{f'{min(merging):.2f} to {max(merging):.2f}':>22}")
    print(f"{'memory for merging on a rank, KiB':34}{max(memory):12}{'':22}{8 << 10:8}")
