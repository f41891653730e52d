#!/usr/bin/env python3
"""make bench-overhead: what recording costs while a program runs, and of that writing (Mohror 2010,
chapters 3 and 6).

bench/wavefront.c, strong scaling: about as many calls together on 2 to 64 ranks. Each number of ranks
is run plain, and recorded with all combinations of

    times      full, or of similar iterations (profiled)
    memory     1.5 MB or 8 MB (--memory): what does not fit goes to disk while the program runs
    writing    or not (REFRAIN_WRITE=no)

Wall time is the program's own, between MPI_Init and MPI_Finalize. Instrumentation overhead is that of
runs that do not write less that of plain runs; writing overhead what writing adds to it. The runs of one
number of ranks take turns, so that what else the machine does meets all of them. Behind the table stands
how wall time correlates with the number of calls of a rank, over the numbers of ranks.

    overhead.py --build DIR [--calls N] [--repeats N] [--ranks N,N...] [--csv FILE]
"""
import argparse
import csv
import itertools
import os
import re
import shutil
import statistics
import sys

import run as bench

TIMES = {"full": ("--time=full",), "profiled": ("--time=reduced",)}
MEMORY = {"1.5 MB": "1536K", "8 MB": "8M"}
CALLS_PER_ITERATION = 113  # of a rank in the midst, with 8 planes
COLUMNS = ("ranks", "times", "memory", "plain_seconds", "no_write_seconds", "write_seconds",
           "instrumentation_percent", "writing_percent", "archive_bytes", "flushed_bytes", "flushes",
           "calls_of_a_rank")
JOURNAL = re.compile(r"([0-9,]+) bytes in ([0-9,]+) writes")


class Study:
    def __init__(self, options):
        self.bench, self.options = bench.Bench(options), options
        self.program = self.bench.compile("openmpi", os.path.join(bench.HERE, "wavefront.c"),
                                          "wavefront")

    def command(self, ranks, record=()):
        iterations = max(1, round(self.options.calls / ranks / CALLS_PER_ITERATION))
        return [*self.bench.launch("openmpi", ranks), *record, self.program, str(iterations), "8", "16"]

    def once(self, ranks, config, out):
        """Wall seconds, and what was flushed (bytes, times)."""
        if config is None:
            done = bench.run_both(self.command(ranks), self.bench.folder)
        else:
            times, memory, write = config
            record = [self.bench.refrain, "record", "--force", "-o", out, *TIMES[times],
                      "--memory=" + MEMORY[memory]]
            done = bench.run_both(self.command(ranks, record), self.bench.folder,
                                  {} if write else {"REFRAIN_WRITE": "no"})
        said = JOURNAL.search(done.stderr)
        flushed = tuple(int(x.replace(",", "")) for x in said.groups()) if said else (0, 0)
        return float(done.stdout.split()[0]), flushed

    def rows(self, ranks):
        configs = [None, *itertools.product(TIMES, MEMORY, (False, True))]
        seconds, flushed, sizes = {c: [] for c in configs}, {}, {}
        for i in range(self.options.repeats):
            for config in configs if i % 2 == 0 else configs[::-1]:
                out = os.path.join(self.bench.folder, "overhead.rfn")
                wall, flushed[config] = self.once(ranks, config, out)
                seconds[config].append(wall)
                if config and config[2]:
                    sizes[config] = os.path.getsize(out)
            print(".", end="", file=sys.stderr, flush=True)
        plain = statistics.mean(seconds[None])
        calls = self.options.calls // ranks
        for times, memory in itertools.product(TIMES, MEMORY):
            without, with_ = (statistics.mean(seconds[times, memory, w]) for w in (False, True))
            config = (times, memory, True)
            yield dict(zip(COLUMNS, (
                ranks, times, memory, plain, without, with_, 100 * (without - plain) / plain,
                100 * (with_ - without) / plain, sizes[config], *flushed[config], calls)))


def correlation(rows, name):
    if len(rows) < 3:
        return float("nan")
    return statistics.correlation([row["calls_of_a_rank"] for row in rows],
                                  [row[name] for row in rows])


def print_table(rows):
    print(f"{'ranks':>5} {'times':9}{'memory':8}{'plain':>8}{'no write':>9}{'write':>8}"
          f"{'instr.':>9}{'writing':>9}{'archive':>11}{'flushed':>11}{'flushes':>8}")
    for row in rows:
        print(f"{row['ranks']:5} {row['times']:9}{row['memory']:8}{row['plain_seconds']:6.2f} s"
              f"{row['no_write_seconds']:7.2f} s{row['write_seconds']:6.2f} s"
              f"{row['instrumentation_percent']:7.1f} %{row['writing_percent']:7.1f} %"
              f"{row['archive_bytes']:11,}{row['flushed_bytes']:11,}{row['flushes']:8,}")


def print_correlations(rows):
    print("\nCorrelation of wall time with the calls of a rank, over the numbers of ranks\n")
    print(f"{'times':10}{'memory':8}{'no write':>10}{'write':>8}")
    for times, memory in itertools.product(TIMES, MEMORY):
        some = [row for row in rows if (row["times"], row["memory"]) == (times, memory)]
        print(f"{times:10}{memory:8}{correlation(some, 'no_write_seconds'):10.2f}"
              f"{correlation(some, 'write_seconds'):8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--calls", type=int, default=6_000_000, help="of all ranks together")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--ranks", default="2,4,8,16,32,64")
    parser.add_argument("--csv", help="write the table there, too")
    parser.set_defaults(pairs=1)
    study = Study(parser.parse_args())
    try:
        rows = [row for ranks in study.options.ranks.split(",") for row in study.rows(int(ranks))]
        print(file=sys.stderr)
        print_table(rows)
        print_correlations(rows)
        if study.options.csv:
            with open(study.options.csv, "w", encoding="ascii", newline="") as file:
                table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                table.writeheader()
                table.writerows({k: f"{v:.3f}" if isinstance(v, float) else v for k, v in row.items()}
                                for row in rows)
    finally:
        shutil.rmtree(study.bench.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
