#!/usr/bin/env python3
"""make sampling-study: what samples of messages tell, and what they cost (Vetter 2001, chapter 4).

Records two programs in simulated time, samples their messages off line with every strategy, and
compares estimates with what all messages have:

    coverage      over 100 seeds: how often 95 % intervals contain the truth, and how far estimates are off it
    sites         from which calls samples are, and from which calls messages are
    rates         samples against rate, and how many categories of messages have one, of rank 0
    distribution  latencies of samples beside those of all messages
    overhead      what sampling adds to a message in a round trip: in this machine's time, with nothing else running

Each part becomes NAME.csv and NAME.svg in BUILD/sampling-study, and a table on standard output; --page also puts the
tables into doc/sampling.md. All but overhead do not depend on the machine.

    bench/sampling_study.py --build DIR [--only PART,PART...] [--seeds N] [--pairs N] [--jobs N] [--page]
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import math
import os
import shutil
import statistics
import subprocess
import sys

import run  # which says where the tests are
import harness
import sampling_plots
import sampling_tables
import test_smpi

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

SEEDS = 100          # of coverage and sites
RATE_SEEDS = 20      # of rates
TIMER_SHARE = 0.05   # of the messages that the timer of coverage would measure if they were sent evenly
QUANTITIES = ("mean", "p50", "p99")
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9)
DISTRIBUTIONS = ("random:0.01", "random:0.05", "adaptive")  # and the timer
PER_OCTAVE = 4       # ranges of latency of the distribution
ROUND_TRIPS = 300000


class Program:
    """A program of bench/, recorded under SMPI; `computes`: in calls, where it has no computation of its own."""

    def __init__(self, name, ranks, arguments, computes=False):
        self.name, self.ranks, self.arguments = name, ranks, arguments
        self.before = os.path.join(harness.PROGRAMS, "clusters", "computing.h") if computes else None

    def record(self, bench, archive):
        program = test_smpi.smpi_program(bench, os.path.join(HERE, f"{self.name}.c"), before=self.before)
        shutil.move(test_smpi.smpi_run(bench, program, self.ranks, self.arguments), archive)


PROGRAMS = (Program("wavefront", 16, ["100"], computes=True), Program("exchange", 8, ["1024"]))


class Recorded:
    """An archive, and what all its messages have."""

    def __init__(self, refrain, name, archive):
        self.refrain, self.name, self.archive = refrain, name, archive
        self.every, rows = self.sample("random:1"), self.rows("random:1")
        sent = [float(row["sent_ns"]) for row in rows]
        ranks = len({row["source"] for row in rows})
        self.distance_ms = (max(sent) - min(sent)) / 1e6 * ranks / len(sent)  # of a rank's sends, on average
        self.latencies = sorted(float(row["latency_ns"]) for row in rows)
        self.truth = {"mean": statistics.fmean(self.latencies), "p50": self.quantile(0.5), "p99": self.quantile(0.99)}

    def quantile(self, q):
        return self.latencies[math.ceil(q * len(self.latencies)) - 1]

    def command(self, strategy, seed, *options):
        command = [self.refrain, "sample", f"--sample={strategy}", f"--seed={seed}", *options, self.archive]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300,
                              stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise harness.Failure(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def sample(self, strategy, seed=1):
        return json.loads(self.command(strategy, seed, "--json"))

    def rows(self, strategy):
        """Of each sample that is a message."""
        text = self.command(strategy, 1, "--analysis=write", "--csv=samples")
        return [row for row in csv.DictReader(io.StringIO(text)) if row["collective"] == "false"]

    def samples(self, strategy):
        """(latency in ns, weight) of each."""
        return [(float(row["latency_ns"]), float(row["weight"])) for row in self.rows(strategy)]

    def timer(self, share):
        """A timer that measures so many of the messages, if each rank sends in equal distances."""
        period_ms = float(f"{self.distance_ms / share:.2g}")
        return f"timer:{period_ms:g}ms+-{period_ms / 10:g}ms"


def counter(period):
    """Varied by a tenth, where that is a message at least."""
    return f"counter:{period}+-{period // 10}" if period >= 10 else f"counter:{period}"


# ---- coverage, sites ----

def contains(row, name, truth):
    """Whether the interval contains the truth; None: it lacks an end."""
    low, high = row[f"{name}_low_ns"], row[f"{name}_high_ns"]
    return None if low is None or high is None else low <= truth <= high


def coverage_row(recorded, strategy, found):
    """found: the object of each seed."""
    rows = [one["all"][0] for one in found]
    result = {"program": recorded.name, "strategy": strategy, "seeds": len(found),
              "messages": recorded.every["messages"],
              "samples": round(statistics.fmean(one["sampled"] for one in found), 1)}
    for name in QUANTITIES:
        truth = recorded.truth[name]
        inside = [contains(row, name, truth) for row in rows]
        values = [row[f"{name}_ns"] for row in rows if row[f"{name}_ns"] is not None]
        result |= {f"{name}_truth_ns": round(truth), f"{name}_estimate_ns": round(statistics.fmean(values)),
                   f"{name}_bias_percent": round(100 * (statistics.fmean(values) / truth - 1), 2),
                   f"{name}_intervals": len(inside) - inside.count(None), f"{name}_contain": inside.count(True)}
    return result


def by_site(found, what):
    """Sums of a member over call paths, by the call that sends."""
    sums = collections.Counter()
    for row in found["call_paths"]:
        sums[row["send_path"]] += row[what]
    return sums


def site_rows(recorded, strategy, found):
    messages, samples = by_site(recorded.every, "count"), collections.Counter()
    for one in found:
        samples.update(by_site(one, "sampled"))
    return [{"program": recorded.name, "strategy": strategy, "call_path": site,
             "messages_percent": round(100 * count / messages.total(), 3),
             "samples_percent": round(100 * samples[site] / samples.total(), 3)}
            for site, count in sorted(messages.items())]


def strategies(recorded):
    return ("random:0.01", "random:0.05", "random:0.2", "adaptive", "counter:100+-10", "counter:100",
            recorded.timer(TIMER_SHARE))


def coverage(study):
    """Of both parts, as they look at the same samples."""
    rows, sites = [], []
    for recorded in study.recorded:
        for strategy in strategies(recorded):
            found = study.samples(recorded, strategy, study.seeds)
            rows.append(coverage_row(recorded, strategy, found))
            sites += site_rows(recorded, strategy, found)
    return {"coverage": rows, "sites": sites}


# ---- rates ----

def rated(recorded):
    """(kind, strategies) with less and more samples."""
    return (("random", [f"random:{share:g}" for share in (*SHARES, 1)]),
            ("adaptive", [f"adaptive:{first}" for first in (4, 16, 64, 256, 1024, 4096)]),
            ("counter", [counter(n) for n in (256, 128, 64, 32, 16, 8, 4, 2)]),
            ("timer", [recorded.timer(share) for share in (0.001, *SHARES)]))


def category(row):
    return row["source"], row["destination"], row["send_path"], row["receive_path"], row["bytes_from"]


def sent_by(found, rank):
    """Samples, and those of each category that has some, of what a rank sends."""
    rows = [row for row in found["categories"] if row["source"] == rank and row["sampled"]]
    return sum(row["sampled"] for row in rows), {category(row) for row in rows}


def rate_row(recorded, kind, strategy, found, rank=0):
    population = {category(row): row["count"] for row in recorded.every["categories"] if row["source"] == rank}
    seen = [sent_by(one, rank) for one in found]
    messages = sum(population.values())
    samples = statistics.fmean(count for count, _ in seen)
    covered = statistics.fmean(sum(population[one] for one in have) for _, have in seen)
    return {"program": recorded.name, "kind": kind, "strategy": strategy, "seeds": len(found), "messages": messages,
            "samples": round(samples, 1), "samples_percent": round(100 * samples / messages, 3),
            "categories": len(population),
            "categories_sampled": round(statistics.fmean(len(have) for _, have in seen), 2),
            "covered_percent": round(100 * covered / messages, 2)}


def rates(study):
    rows = []
    for recorded in study.recorded:
        for kind, chosen in rated(recorded):
            for strategy in chosen:
                rows.append(rate_row(recorded, kind, strategy, study.samples(recorded, strategy, study.rate_seeds)))
    return {"rates": rows}


# ---- distribution ----

def place(latency_ns):
    """The number of its range; those of less than 1 ns are in the first."""
    return math.floor(math.log2(max(latency_ns, 1)) * PER_OCTAVE)


def shares_by_place(samples):
    weights = collections.Counter()
    for latency, weight in samples:
        weights[place(latency)] += weight
    return {where: 100 * weight / weights.total() for where, weight in weights.items()}


def distribution(study):
    rows = []
    for recorded in study.recorded:
        chosen = {"all": "random:1", **{one: one for one in (*DISTRIBUTIONS, recorded.timer(TIMER_SHARE))}}
        shares = {name: shares_by_place(recorded.samples(strategy)) for name, strategy in chosen.items()}
        for where in range(min(shares["all"]), max(shares["all"]) + 1):
            rows += [{"program": recorded.name, "strategy": name, "latency_from_us":
                      round(2 ** (where / PER_OCTAVE) / 1e3, 4), "percent": round(share.get(where, 0), 4)}
                     for name, share in shares.items()]
    return {"distribution": rows}


# ---- overhead ----

OVERHEADS = (*[("random", f"random:{share:g}") for share in SHARES], ("adaptive", "adaptive"),
             *[("counter", counter(n)) for n in (256, 64, 16, 4, 2)],
             *[("timer", f"timer:{period}") for period in ("300ms+-30ms", "10ms+-1ms", "1ms+-100us", "100us+-10us")])


def overhead(study):
    """As run.py's part `sampling` measures it: times are ns per message, half of a round trip."""
    bench = run.Bench(argparse.Namespace(build=study.build, pairs=study.pairs))
    rows = []
    try:
        program = bench.compile("mpich", os.path.join(HERE, "calls.c"), "calls")
        for kind, strategy in OVERHEADS:
            times, (low, middle, high), archive = bench.sampled_message(program, strategy, study.round_trips)
            facts = json.loads(run.run([study.refrain, "report", "--json", archive], bench.folder))["sampling"]
            rows.append({"kind": kind, "strategy": strategy, "pairs": study.pairs,
                         "samples_percent": round(100 * facts["sampled"] / facts["messages"], 4),
                         "plain_ns": round(statistics.median(times[0]), 1), "added_low_ns": round(low, 1),
                         "added_ns": round(middle, 1), "added_high_ns": round(high, 1)})
    finally:
        shutil.rmtree(bench.folder)
    return {"overhead": rows}


# ---- all ----

PARTS = {"coverage": coverage, "rates": rates, "distribution": distribution, "overhead": overhead}


class Study:
    """The work folder and what is measured how often."""

    seeds, rate_seeds, round_trips = SEEDS, RATE_SEEDS, ROUND_TRIPS

    def __init__(self, build, pairs=10, jobs=1, programs=PROGRAMS, folder=None):
        self.build, self.pairs, self.programs = os.path.abspath(build), pairs, programs
        self.refrain = os.path.join(self.build, "refrain")
        self.folder = folder or os.path.join(self.build, "sampling-study")
        self.pool, self.recorded = concurrent.futures.ThreadPoolExecutor(jobs), []
        os.makedirs(self.folder, exist_ok=True)

    def record(self):
        bench = harness.Harness(self.build)
        try:
            for program in self.programs:
                archive = os.path.join(self.folder, f"{program.name}.rfn")
                program.record(bench, archive)
                self.recorded.append(Recorded(self.refrain, program.name, archive))
        finally:
            bench.close()

    def samples(self, recorded, strategy, seeds):
        """The object of each seed."""
        return list(self.pool.map(lambda seed: recorded.sample(strategy, seed), range(1, seeds + 1)))

    def measure(self, parts):
        """Makes the CSV files."""
        if set(parts) - {"overhead"}:
            self.record()
        for part in parts:
            for name, rows in PARTS[part](self).items():
                with open(os.path.join(self.folder, f"{name}.csv"), "w", encoding="utf-8", newline="") as file:
                    table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
                    table.writeheader()
                    table.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of coverage")
    parser.add_argument("--pairs", type=int, default=10, help="of runs, for the overhead")
    parser.add_argument("--round-trips", type=int, default=ROUND_TRIPS, help="of a run, for the overhead")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--page", action="store_true", help="put the tables into doc/sampling.md")
    options = parser.parse_args()
    parts = options.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    study = Study(options.build, options.pairs, options.jobs)
    study.seeds, study.round_trips = options.seeds, options.round_trips
    try:
        study.measure(parts)
    except harness.Failure as failure:
        sys.exit(f"sampling-study: {failure}")
    sampling_plots.write(study.folder)
    sampling_tables.show(study.folder)
    if options.page:
        sampling_tables.write(study.folder)


if __name__ == "__main__":
    main()
