#!/usr/bin/env python3
"""Prints how exact replays of clustered archives are under Open MPI: a table for doc/replay.md.

    tools/replay_table.py [--build DIR] [--repeat N] [--ranks P,P...] [--program NAME]...

The programs of tests/test_clusters.py, which sleep for 90 to 110 us before each message
(tests/programs/clusters/computing.h), are recorded with full times and unclustered; the archive is reduced
and clustered as in tests/test_replay.py, and both are replayed in turn, in one job, N times (9). ACC is
1 - |t - t'| / t (doc/replay.md), t' the median of the clustered archive's replays, t the run's time or the
median of the full archive's replays. Times are those of this machine, which should have nothing else to do;
`make replay-table`, 7 minutes.
"""
import argparse
import json
import os
import statistics
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import harness  # noqa: E402
import test_clusters  # noqa: E402
import test_replay  # noqa: E402

# Arguments with which a run takes about a second on 2 cores, by number of ranks.
LENGTHS = {"sweep2d": {4: ["400"], 16: ["200"]}, "adi": {4: ["200", "8"], 16: ["80", "8"]},
           "open_ring": {4: ["3000"], 16: ["1500"]}, "transpose": {4: ["3000"], 16: ["1500"]},
           "cg": {4: ["2000"], 16: ["1000"]}, "vcycle": {4: ["300"], 16: ["150"]},
           "ghosts": {4: ["1500"], 16: ["700"]}, "workers": {4: ["2000"], 16: ["400"]},
           "pairwise": {4: ["900"], 16: ["150"]}, "cylinder": {4: ["1200"], 16: ["500"]}}
TITLES = ["program", "ranks", "recorded", "bytes", "clustered", "ACC of the full archive", "of the clustered one",
          "clustered against full"]
SECONDS = 300


def replayed(bench, name, ranks, repeat):
    """Paths of the full and of the clustered archive, and what their replays say."""
    program = bench.program(test_clusters.PROGRAMS[name].source, "openmpi",
                            ["-include", os.path.join(test_clusters.FOLDER, "computing.h")])
    _, full = bench.record("openmpi", ranks, [program, *LENGTHS[name][ranks]], ["--no-cluster"], timeout=SECONDS)
    small = bench.fresh("clustered.rfn")
    bench.verb("reduce", *test_replay.CLUSTERED, full, "-o", small)
    run = test_replay.replay(bench, "openmpi", ranks, "--json", f"--repeat={repeat}", f"--against={full}", small,
                             timeout=SECONDS)
    if run.code:
        raise harness.Failure(f"{name} on {ranks} ranks: exit {run.code}: {run.err}")
    return full, small, json.loads(run.out)


def row(name, ranks, archives, facts):
    sizes = [f"{os.path.getsize(archive):,}" for archive in archives]
    shares = [facts["against"]["accuracy"], facts["accuracy"], facts["accuracy_against"]]
    return [name, str(ranks), f"{facts['recorded_seconds']:.2f} s", *sizes, *(f"{share:.3f}" for share in shares)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], default=[4, 16])
    parser.add_argument("--program", action="append", choices=LENGTHS)
    arguments = parser.parse_args()
    bench, found = harness.Harness(arguments.build), []
    print(test_clusters.header(TITLES), flush=True)
    try:
        for ranks in arguments.ranks:
            for name in arguments.program or LENGTHS:
                *archives, facts = replayed(bench, name, ranks, arguments.repeat)
                found.append((facts["accuracy"], facts["accuracy_against"]))
                print(f"| {' | '.join(row(name, ranks, archives, facts))} |", flush=True)
    except harness.Failure as failure:
        sys.exit(f"replay_table.py: {failure}")
    finally:
        bench.close()
    for what, shares in zip(("the run", "the full archive's replay"), zip(*found)):
        print(f"\nAgainst {what}: median {statistics.median(shares):.3f}, least {min(shares):.3f}, "
              f"at least 0.95 in {sum(share >= 0.95 for share in shares)} of {len(shares)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
