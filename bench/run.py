#!/usr/bin/env python3
"""make bench: what recording costs and what reading costs, measured here and now.

Costs per call are differences between a plain and a recorded run of bench/calls.c, taken in pairs
one after the other (the order alternates), pinned to cores; the table gives the median of the
differences and their quartiles. Machines are noisy: compare rows of one table, not of two.

    run.py --build DIR [--pairs N] [--only calls,stages,read,sizes,smpi,fold,column]
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import smpi

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []


def run(command, folder, env=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False,
                          timeout=900, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


class Bench:
    def __init__(self, options):
        self.build = os.path.abspath(options.build)
        self.refrain = os.path.join(self.build, "refrain")
        self.pairs = options.pairs
        self.folder = tempfile.mkdtemp(prefix="refrain-bench-")

    def compile(self, flavour, source, out):
        path = os.path.join(self.folder, f"{out}.{flavour}")
        run([f"mpicc.{flavour}", "-O2", "-g", "-w", "-o", path, source, "-lm"], self.folder)
        return path

    # ---- what recording adds to a call ----

    def pair(self, program, ranks, arguments):
        """One number without and one with the recorder, in alternating order."""
        pin = ["-bind-to", "core"] if ranks > 1 else []
        plain = ["mpirun.mpich", "-n", str(ranks), *pin, program, *arguments]
        recorded = ["mpirun.mpich", "-n", str(ranks), *pin, self.refrain, "record", "-q", "--force",
                    "-o", os.path.join(self.folder, "calls.rfn"), program, *arguments]
        return plain, recorded

    def calls(self):
        program = self.compile("mpich", os.path.join(HERE, "calls.c"), "calls")
        print(f"\nTime added per call (MPICH, pinned, {self.pairs} pairs of runs)\n")
        print(f"{'':34}{'plain':>9}{'recorded':>10}{'added':>9}{'quartiles':>16}{'limit':>8}")
        for title, mode, n, ranks, limit in (
                ("MPI_Iprobe, ns per call", "iprobe", 1000000, 1, 250),
                ("Irecv, Send, Wait, ns per call", "self", 300000, 1, 250),
                ("8-byte round trip, ns", "roundtrip", 300000, 2, 900)):
            commands = self.pair(program, ranks, [mode, str(n)])
            times = ([], [])
            for i in range(self.pairs):
                for which in ((0, 1) if i % 2 else (1, 0)):
                    times[which].append(float(run(commands[which], self.folder)))
            added = [recorded - plain for plain, recorded in zip(*times)]
            low, middle, high = statistics.quantiles(added, n=4)
            print(f"{title:34}{statistics.median(times[0]):9.1f}{statistics.median(times[1]):10.1f}"
                  f"{middle:9.1f}{f'{low:.1f} to {high:.1f}':>16}{limit:8}")

    def stages(self):
        print("\nWhere the time goes, ns per call (bench/stages.c: each stage alone)\n")
        for line in run([os.path.join(self.build, "bench", "stages")], self.folder).splitlines():
            name, value = line.split("\t")
            print(f"{name:34}{float(value):9.1f}")

    # ---- sizes and reading ----

    def record(self, flavour, ranks, program, arguments, options=()):
        out = os.path.join(self.folder, "read.rfn")
        launch = [f"mpirun.{flavour}", *(ROOT if flavour == "openmpi" else []), "-n", str(ranks)]
        if flavour == "openmpi":
            launch.append("--oversubscribe")
        run([*launch, self.refrain, "record", "-q", "--force", "-o", out, *options, program,
             *map(str, arguments)], self.folder)
        return out

    def sizes(self):
        halo = self.compile("openmpi", os.path.join(HERE, "..", "examples", "halo.c"), "halo")
        print("\nSize of a 2-D halo exchange (Open MPI), bytes of the archive\n")
        print(f"{'':34}{'10 steps':>12}{'10,000 steps':>14}")
        for ranks in (16, 64):
            sizes = [os.path.getsize(self.record("openmpi", ranks, halo, (steps, 8),
                                                 ["--time=none"])) for steps in (10, 10000)]
            print(f"{f'{ranks} ranks, --time=none':34}{sizes[0]:12,}{sizes[1]:14,}")
        archive = self.record("openmpi", 2, halo, (100000, 8))
        size, events = os.path.getsize(archive), self.events(archive)
        print(f"{'2 ranks, 100,000 steps, full times':34}{size / events:12.2f} bytes per event")

    def events(self, archive):
        import json
        return json.loads(run([self.refrain, "info", "--json", archive], self.folder))["events"]

    def read(self):
        program = self.compile("mpich", os.path.join(HERE, "calls.c"), "calls")
        archive = self.record("mpich", 1, program, ("self", 3030303))
        events = self.events(archive)
        print(f"\nReading {events:,} events ({os.path.getsize(archive):,} bytes), one core\n")
        for verb in ("report", "verify", "dump"):
            start = time.monotonic()
            with open(os.devnull, "w", encoding="ascii") as null:
                subprocess.run([self.refrain, verb, archive], stdout=null, check=True)
            seconds = time.monotonic() - start
            print(f"{verb:34}{seconds:9.2f} s{events / seconds / 1e6:12.2f} million events per s")

    # ---- many ranks ----

    def smpi(self):
        smpi.run(self.build)

    # ---- the two inner loops, alone ----

    def fold(self):
        print("\nFolding\n")
        print(run([os.path.join(self.build, "bench", "fold_bench"), "10000000"], self.folder))

    def column(self):
        print("\nColumns\n")
        print(run([os.path.join(self.build, "bench", "column_bench")], self.folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", default="calls,stages,sizes,read,smpi,fold,column")
    options = parser.parse_args()
    bench = Bench(options)
    try:
        for part in options.only.split(","):
            getattr(bench, part)()
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
