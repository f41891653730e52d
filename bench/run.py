#!/usr/bin/env python3
"""make bench: what recording costs and what reading costs, measured here and now.

Costs per call are differences between a plain and a recorded run of bench/calls.c, taken in pairs
one after the other (the order alternates), pinned to cores; the table gives the median of the
differences and their quartiles. Slowdowns are ratios of such pairs. Machines are noisy: compare rows
of one table, not of two. A limit is what the project asks of itself.

    run.py --build DIR [--pairs N] [--only PART,PART...]
"""
import argparse
import contextlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import engine
import formats
import prediction
import smpi
import view
import harness  # smpi.py says where it is
import pathologies

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []
PARTS = ("calls", "journal", "sampling", "stages", "wavefront", "adi", "varying", "finalize", "memory", "sizes",
         "segments", "clusters", "resolution", "read", "report", "predict", "engine", "texts",
         "reality", "smpi", "fold", "column", "flat", "view", "formats")
HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


def run(command, folder):
    return run_both(command, folder).stdout


def run_both(command, folder, environment=()):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False,
                          timeout=900, stdin=subprocess.DEVNULL, env=dict(os.environ, **dict(environment)))
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done


def quartiles(values):
    """Lower quartile, median, upper quartile."""
    return statistics.quantiles(values, n=4) if len(values) > 1 else values * 3


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

    def launch(self, flavour, ranks):
        if flavour == "mpich":
            return ["mpirun.mpich", "-n", str(ranks), *(["-bind-to", "core"] if ranks > 1 else [])]
        return ["mpirun.openmpi", *ROOT, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n",
                str(ranks)]

    def pair(self, flavour, ranks, program, arguments, options=()):
        """The commands without and with the recorder, which keeps full times unless options say
        otherwise, and where the archive will be."""
        out = os.path.join(self.folder, "pair.rfn")
        launch, what = self.launch(flavour, ranks), [program, *map(str, arguments)]
        return [*launch, *what], [*launch, self.refrain, "record", "-q", "--force", "-o", out,
                                  *([] if "--sample" in " ".join(options) else ["--time=full"]), *options,
                                  *what], out

    def alternate(self, commands, pairs):
        """The numbers that each of the commands prints, run in turn."""
        printed = tuple([] for _ in commands)
        for i in range(pairs):
            for which in range(len(commands)) if i % 2 else reversed(range(len(commands))):
                printed[which].append([float(x) for x in run(commands[which], self.folder).split()])
        return printed

    def calls(self):
        program = self.compile("mpich", os.path.join(HERE, "calls.c"), "calls")
        print(f"\nTime added per call (MPICH, pinned, {self.pairs} pairs of runs)\n")
        print(f"{'':34}{'plain':>9}{'recorded':>10}{'added':>9}{'quartiles':>16}{'limit':>8}")
        for title, mode, n, ranks, limit in (
                ("MPI_Iprobe, ns per call", "iprobe", 1000000, 1, 60),
                ("Irecv, Send, Wait, ns per call", "self", 300000, 1, 110),
                ("8-byte round trip, ns", "roundtrip", 300000, 2, 400)):
            self.added_row(title, self.pair("mpich", ranks, program, (mode, n))[:2], limit)

    def added_row(self, title, commands, limit):
        """What the second of two commands takes beyond the first."""
        times = [[numbers[0] for numbers in one] for one in self.alternate(commands, self.pairs)]
        low, middle, high = quartiles([second - first for first, second in zip(*times)])
        print(f"{title:34}{statistics.median(times[0]):9.1f}{statistics.median(times[1]):10.1f}"
              f"{middle:9.1f}{f'{low:.1f} to {high:.1f}':>16}{limit:8}")

    # ---- what a journal adds ----

    WAYS = ("--no-journal", "--journal")

    def journal(self):
        """Runs take a few seconds, and each has checkpoints."""
        self.journal_per_call()
        self.journal_instructions()
        self.journal_calls()

    def ways(self, ranks, program, arguments, options=()):
        """The commands that record without and with a journal."""
        return [self.pair("mpich", ranks, program, arguments, [way, *options])[1] for way in self.WAYS]

    def journal_per_call(self):
        program = self.compile("mpich", os.path.join(HERE, "calls.c"), "calls")
        print(f"\nTime that a journal adds per call (MPICH, pinned, {self.pairs} pairs of runs)\n")
        print(f"{'':34}{'without':>9}{'with':>10}{'added':>9}{'quartiles':>16}{'limit':>8}")
        for title, mode, n, ranks, limit in (
                ("MPI_Iprobe, ns per call", "iprobe", 30000000, 1, 10),
                ("Irecv, Send, Wait, ns per call", "self", 6000000, 1, 10),
                ("8-byte round trip, ns", "roundtrip", 3000000, 2, 40)):
            self.added_row(title, self.ways(ranks, program, (mode, n)), limit)

    def instructions(self, command, n):
        """Instructions of n times Irecv, Send, Wait. Checkpoints come by the clock, and so far more often per call
        than without valgrind: there is none."""
        at = command.index("self") - 1
        command = [*command[:at], "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", command[at],
                   "self", str(n)]
        counted = run_both(command, self.folder, {"REFRAIN_JOURNAL_INTERVAL": "600000"}).stderr
        return int(re.search(r"Collected : (\d+)", counted)[1])

    def journal_instructions(self):
        """What a longer run takes beyond a shorter one, per call; without times, which differ from run to run."""
        program, few, many = os.path.join(self.folder, "calls.mpich"), 20000, 120000
        counts = [(self.instructions(command, many) - self.instructions(command, few)) / (many - few) / 3 / 1.1
                  for command in self.ways(1, program, ("self", 0), ["--time=none"])]
        print(f"{'the same, instructions, no times':34}{counts[0]:9.1f}{counts[1]:10.1f}{counts[1] - counts[0]:9.1f}")

    QUANTILES = (("half", None), ("99 %", None), ("99.9 %", 5000), ("99.99 %", None), ("all", None))

    def journal_calls(self):
        """The distributions of what single calls take, by median over runs."""
        program = self.compile("mpich", os.path.join(HERE, "call_times.c"), "call_times")
        runs = max(3, self.pairs // 3)
        print(f"\nTime of single calls, ns, and what recording adds to it (MPICH, 30 million calls, {runs} runs each)\n")
        print(f"{'so many calls took at most':34}{'plain':>12}{'recorded':>12}{'added':>12}{'with a journal':>16}"
              f"{'added':>12}{'limit':>8}")
        for title, mode, n in (("MPI_Iprobe", "iprobe", 30000000), ("Irecv, Send, Wait", "self", 10000000)):
            plain = self.pair("mpich", 1, program, (mode, n))[0]
            printed = self.alternate([plain, *self.ways(1, program, (mode, n))], runs)
            for i, (share, limit) in enumerate(self.QUANTILES):
                one, recorded, kept = (statistics.median(numbers[i] for numbers in way) for way in printed)
                print(f"{f'{title}, {share}':34}{one:12,.0f}{recorded:12,.0f}{recorded - one:12,.0f}{kept:16,.0f}"
                      f"{kept - one:12,.0f}{limit or '':>8}")

    SAMPLINGS = (("random:0.01", 40), ("random:0.1", None), ("random:0.5", None), ("random:0.9", 120), ("adaptive", None),
                 ("counter:100+-10", None), ("timer:1ms+-100us", None))

    def sampled_message(self, program, strategy, round_trips=300000):
        """ns per message of an 8-byte round trip: of each run, plain and sampled; quartiles of what is added; and the
        archive of the last sampled run."""
        *commands, archive = self.pair("mpich", 2, program, ("roundtrip", round_trips), [f"--sample={strategy}"])
        times = [[numbers[0] / 2 for numbers in one] for one in self.alternate(commands, self.pairs)]
        return times, quartiles([sampled - plain for plain, sampled in zip(*times)]), archive

    def sampling(self):
        """Sampling without a trace: what it adds to a message (half of a round trip), and to a whole program."""
        program = self.compile("mpich", os.path.join(HERE, "calls.c"), "calls")
        print(f"\nSampling messages, 8-byte round trips (MPICH, pinned, {self.pairs} pairs of runs)\n")
        print(f"{'ns per message':34}{'plain':>9}{'sampled':>10}{'added':>9}{'quartiles':>16}{'limit':>8}")
        for strategy, limit in self.SAMPLINGS:
            times, (low, middle, high), _ = self.sampled_message(program, strategy)
            print(f"{strategy:34}{statistics.median(times[0]):9.1f}{statistics.median(times[1]):10.1f}"
                  f"{middle:9.1f}{f'{low:.1f} to {high:.1f}':>16}{limit or '':>8}")
        print("\nWavefront on 64 oversubscribed ranks, --sample=random:0.01 (Open MPI, yielding)\n")
        archive, _ = self.slowdown("wavefront", (553, 8, 16), ["--sample=random:0.01"], limit=1.05)
        print(f"{'bytes of the archive':34}{os.path.getsize(archive):28,}{'':16}{256 << 10:8,}")

    def stages(self):
        print("\nWhere the time goes, ns per call (bench/stages.c: each stage alone)\n")
        for line in run([os.path.join(self.build, "bench", "stages")], self.folder).splitlines():
            name, value = line.split("\t")
            print(f"{name:34}{float(value):9.1f}")

    # ---- whole programs ----

    def slowdown(self, name, arguments, options=(), limit=None):
        """Prints how much longer a program of bench/ takes on 64 ranks: wall time, and CPU time,
        which what else runs on the machine disturbs less. Returns the archive and the calls."""
        program = self.compile("openmpi", os.path.join(HERE, f"{name}.c"), name)
        *commands, archive = self.pair("openmpi", 64, program, arguments, options)
        printed = self.alternate(commands, max(3, self.pairs // 2))
        print(f"{'':34}{'plain':>9}{'recorded':>10}{'ratio':>9}{'quartiles':>16}{'limit':>8}")
        for i, what in enumerate(("wall time, s", "CPU time of all ranks, s")):
            times = [[numbers[i] for numbers in one] for one in printed]
            low, middle, high = quartiles([recorded / plain for plain, recorded in zip(*times)])
            print(f"{what:34}{statistics.median(times[0]):9.2f}{statistics.median(times[1]):10.2f}"
                  f"{middle:9.2f}{f'{low:.2f} to {high:.2f}':>16}"
                  f"{limit if limit and i == 0 else '':>8}")
        return archive, printed[0][0][2]

    def wavefront(self):
        print("\nWavefront, 4 million calls on 64 oversubscribed ranks (Open MPI, yielding)\n")
        self.slowdown("wavefront", (553, 8, 16), limit=1.25)
        print("\nThe same with --keep-predictions=1ms\n")
        archive, _ = self.slowdown("wavefront", (553, 8, 16), ["--keep-predictions=1ms"])
        print(f"{'bytes of the archive':34}{os.path.getsize(archive):28,}")

    def adi(self):
        print("\nMulti-partition sweeps, 2 million calls on 64 ranks (Open MPI, --time=none)\n")
        archive, _ = self.slowdown("adi", (223, 64), ["--time=none"])
        print(f"{'bytes of the archive':34}{os.path.getsize(archive):28,}{'':16}{64 << 10:8,}")

    def varying(self):
        print("\nExchanges that change at every step, 2 ranks (MPICH, pinned), 10^6 calls each\n")
        print(f"{'':34}{'plain':>9}{'recorded':>10}{'limit':>8}")
        program = self.compile("mpich", os.path.join(HERE, "varying.c"), "varying")
        for mode, title in (("ring", "ring"), ("alltoallv", "MPI_Alltoallv")):
            arguments = ("mpich", 2, program, (mode, 1000000))
            *commands, archive = self.pair(*arguments, ["--time=none"])
            calls = float(run(commands[1], self.folder).split()[2])
            print(f"{f'{title}, bytes per call, no times':34}{'':9}"
                  f"{os.path.getsize(archive) / calls:10.2f}{6:8}")
            printed = self.alternate(self.pair(*arguments)[:2], max(3, self.pairs // 2))
            growth = [statistics.median(last / first for first, last, *_ in one)
                      for one in printed]
            print(f"{f'{title}, last tenth / first':34}{growth[0]:9.2f}{growth[1]:10.2f}{1.1:8}")

    def finalize(self):
        program = self.compile("openmpi", os.path.join(HERE, "calls.c"), "calls")
        command = self.pair("openmpi", 64, program, ("self", 30303))[1]
        command.remove("-q")
        said = [run_both(command, self.folder).stderr for _ in range(5)]
        seconds = [float(re.search(r"merged in ([0-9.]+) s", text)[1]) for text in said]
        low, middle, high = quartiles(seconds)
        print("\nMerging 64 ranks of 100,000 events (Open MPI, oversubscribed)\n")
        print(f"{'':34}{'recorded':>10}{'quartiles':>16}{'limit':>8}")
        print(f"{'MPI_Finalize merges in, s':34}{middle:10.3f}{f'{low:.3f} to {high:.3f}':>16}{2:8}")

    def memory(self):
        print("\nMemory of a rank whose times and tags are random (MPICH, one rank), MiB\n")
        print(f"{'':34}{'plain':>9}{'recorded':>10}{'growth':>9}{'limit':>8}")
        program = self.compile("mpich", os.path.join(HERE, "varying.c"), "varying")
        for n in (1000000, 10000000):
            printed = self.alternate(self.pair("mpich", 1, program, ("random", n))[:2], 3)
            plain, recorded = (statistics.median(numbers[3] for numbers in one) / (1 << 20)
                               for one in printed)
            print(f"{f'{n:,} events':34}{plain:9.1f}{recorded:10.1f}{recorded - plain:9.1f}{32:8}")

    # ---- sizes and reading ----

    def record(self, flavour, ranks, program, arguments, options=()):
        *_, command, out = self.pair(flavour, ranks, program, arguments, options)
        run(command, self.folder)
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

    def segments(self):
        """Times of similar iterations kept once: against --time=full, and how small that is."""
        program = self.compile("mpich", os.path.join(HERE, "calls.c"), "calls")
        commands = [self.pair("mpich", 2, program, ("roundtrip", 300000), options)[1]
                    for options in (("--time=full",), ("--time=reduced",))]
        times = [[numbers[0] for numbers in one] for one in self.alternate(commands, self.pairs)]
        low, middle, high = quartiles([(b - a) / 4 for a, b in zip(*times)])
        print(f"\nTimes of similar iterations (--time=reduced), {self.pairs} pairs of runs\n")
        print(f"{'8-byte round trip, ns, by times':34}{'full':>9}{'reduced':>10}{'per event':>11}"
              f"{'quartiles':>16}{'limit':>8}")
        print(f"{'':34}{statistics.median(times[0]):9.1f}{statistics.median(times[1]):10.1f}"
              f"{middle:11.1f}{f'{low:.1f} to {high:.1f}':>16}{20:8}")
        halo = self.compile("openmpi", os.path.join(HERE, "..", "examples", "halo.c"), "halo")
        print(f"\n{'halo exchange, 100,000 steps':34}{'events':>12}{'bytes':>11}{'per event':>11}"
              f"{'merging':>10}{'limit':>8}")
        for ranks in (2, 4, 16):
            archive = self.record("openmpi", ranks, halo, (100000, 16), ("--time=reduced",))
            facts = json.loads(run([self.refrain, "info", "--json", archive], self.folder))
            print(f"{f'{ranks} ranks, Open MPI':34}{facts['events']:12,}{facts['bytes']:11,}"
                  f"{facts['bytes'] / facts['events']:11.3f}{facts['merge_seconds']:8.2f} s{0.1:8}")

    # ---- alike ranks stored once ----

    def merged(self, command, archive):
        """Seconds from when the last rank comes to MPI_Finalize until the archive is complete. There is no
        older one: to remove that takes as long as it is large."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(archive)
        return float(re.search(r"merged in ([0-9.]+) s", run_both(command, self.folder).stderr).group(1))

    def clusters(self):
        """Finalizing 64 ranks: how long it takes, and what is sent, against all traces handed to rank 0."""
        print(f"\nMerging 64 ranks (Open MPI, oversubscribed), at most {self.pairs} runs of each: median of the seconds "
              "at the end, bytes sent per rank\n")
        print(f"{'':24}{'full':>9}{'no times':>10}{'default':>9}{'sent':>9}{'all':>11}{'share':>8}{'limit':>7}")
        programs = os.path.join(HERE, "..", "tests", "programs", "clusters")
        for title, source, arguments, runs in (
                ("ghosts, 100 steps", os.path.join(programs, "ghosts.c"), (100,), self.pairs),
                ("wavefront, 10 steps", os.path.join(HERE, "wavefront.c"), (10, 8, 16), self.pairs),
                ("sweeps, 5 steps", os.path.join(HERE, "adi.c"), (5, 64), self.pairs),
                ("sweeps, 1,000 steps", os.path.join(HERE, "adi.c"), (1000,), min(self.pairs, 5)),
                ("alone, 1,000 steps", os.path.join(HERE, "alone.c"), (1000,), min(self.pairs, 5)),
                ("alone, 30,000 steps", os.path.join(HERE, "alone.c"), (30000,), min(self.pairs, 5))):
            self.clusters_row(title, self.compile("openmpi", source, title.split(",", maxsplit=1)[0]), arguments, runs)

        print(f"\nMerging while the program runs (--merge-interval), at most {self.pairs} pairs of "
              "runs: seconds at the end, in online merges on rank 0, of the whole run\n")
        print(f"{'':24}{'end only':>10}{'every':>9}{'ratio':>8}{'quartiles':>16}{'online':>10}"
              f"{'run':>9}{'every':>9}{'ratio':>8}")
        halo = self.compile("openmpi", os.path.join(HERE, "..", "examples", "halo.c"), "halo")
        for ranks, steps in ((16, 100000), (64, 10000)):
            self.every_row(f"halo, {ranks}, {steps:,} steps", ranks, halo, (steps, 8), 10000, self.pairs)
        sweeps = self.compile("openmpi", os.path.join(HERE, "adi.c"), "sweeps")
        self.every_row("sweeps, 64, 3,000 steps", 64, sweeps, (3000,), 300, min(self.pairs, 3))

    def merging(self, ranks, program, arguments, options):
        """Seconds at the end, in online merges, and of the whole run."""
        begin = time.perf_counter()
        archive = self.record("openmpi", ranks, program, arguments, ["--time=reduced", *options])
        whole = time.perf_counter() - begin
        facts = json.loads(run([self.refrain, "info", "--json", archive], self.folder))
        return (facts["merge_seconds"], (facts["merging"]["before"] or {"seconds": 0})["seconds"], whole)

    def every_row(self, title, ranks, program, arguments, segments, n_pairs):
        ways, pairs = {"end": (), "every": (f"--merge-interval={segments}",)}, []
        for i in range(n_pairs):
            both = {every: self.merging(ranks, program, arguments, options)
                    for every, options in list(ways.items())[::1 if i % 2 else -1]}
            pairs.append((both["end"], both["every"]))
        ends, wholes = ([every[k] / plain[k] for plain, every in pairs] for k in (0, 2))
        low, middle, high = quartiles(ends)
        medians = [[statistics.median(one[k] for one in runs) for k in range(3)]
                   for runs in zip(*pairs)]
        print(f"{title:24}{medians[0][0]:10.3f}{medians[1][0]:9.3f}{middle:8.2f}"
              f"{f'{low:.2f} to {high:.2f}':>16}{medians[1][1]:10.3f}{medians[0][2]:9.2f}"
              f"{medians[1][2]:9.2f}{statistics.median(wholes):8.2f}")

    def clusters_row(self, title, program, arguments, runs):
        archive = os.path.join(self.folder, "clusters.rfn")
        launch = [*self.launch("openmpi", 64), self.refrain, "record", "--force", "-o", archive]
        seconds = {times: [] for times in ("reduced", "none", "full")}
        for _ in range(runs):
            for times, found in seconds.items():
                found.append(self.merged([*launch, f"--time={times}", program, *map(str, arguments)], archive))
        facts = json.loads(run([self.refrain, "info", "--json", archive], self.folder))["merging"]
        moved = facts["all_bytes"] + facts["all_definition_bytes"]
        full, none, default = (statistics.median(seconds[times]) for times in ("full", "none", "reduced"))
        print(f"{title:24}{full:9.3f}{none:10.3f}{default:9.3f}{facts['bytes'] / 64:9,.0f}{moved / 64:11,.0f}"
              f"{facts['bytes'] / moved:8.2%}{'1%':>7}")

    def resolution(self):
        """The programs of the table at 1 ns and, where the recorder can, coarser."""
        print("\nBytes per event with full times, by resolution\n")
        print(f"{'':34}{'1 ns':>9}{'50 ns':>10}")
        coarse = "--resolution" in run([self.refrain, "record", "--help"], self.folder)
        halo = self.compile("openmpi", os.path.join(HERE, "..", "examples", "halo.c"), "halo")
        netpipe = ("-u", "65536", "-n", "2000")
        for title, flavour, ranks, program, arguments in (
                ("halo, 2 ranks", "openmpi", 2, halo, (100000, 8)),
                ("NetPIPE (MPICH)", "mpich", 2, "NPmpich2", netpipe),
                ("NetPIPE (Open MPI)", "openmpi", 2, "NPopenmpi", netpipe),
                ("hpcc, 4 ranks", "openmpi", 4, "hpcc", ())):
            if not shutil.which(program) or program == "hpcc" and not self.hpcc_input():
                print(f"{title:34}  not installed")
                continue
            sizes = []
            for options in ((), ("--resolution=50ns",)) if coarse else ((),):
                archive = self.record(flavour, ranks, program, arguments, options)
                sizes.append(f"{os.path.getsize(archive) / self.events(archive):9.2f}")
            print(f"{title:34}{' '.join(sizes)}")
        print(f"{'limit':34}{4:9}{2.5:10}")
        if not coarse:
            print("(This recorder has no --resolution.)")

    def hpcc_input(self):
        """Makes hpcc's input: a small problem on 2 x 2 ranks."""
        if not os.path.exists(HPCC_INPUT):
            return False
        with open(HPCC_INPUT, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for at, value in ((5, "1000"), (7, "40"), (10, "2"), (11, "2")):  # N, NB, P, Q
            lines[at] = value + " " + lines[at].split(maxsplit=1)[1]
        with open(os.path.join(self.folder, "hpccinf.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        return True

    def events(self, archive):
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

    # ---- the report of many ranks ----

    def cpu_seconds(self, command):
        """CPU time of a command: other processes of the machine count less than in elapsed time."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(command, self.folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)

    def report_row(self, name, archive, limit):
        events = self.events(archive)
        seconds = [self.cpu_seconds([self.refrain, "report", "--json", archive]) for _ in range(5)]
        low, middle, high = quartiles(seconds)
        print(f"{name:34}{events:12,}{middle:10.2f}{f'{low:.2f} to {high:.2f}':>16}"
              f"{events / middle / 1e6:10.2f}{limit:>10}")

    def report(self):
        """From the archive to the whole report: both passes, causes, critical path, JSON."""
        print("\nThe report of many ranks: seconds of CPU time, million events per second of it\n")
        print(f"{'':34}{'events':>12}{'median':>10}{'quartiles':>16}{'M/s':>10}{'limit':>10}")
        halo = self.compile("openmpi", os.path.join(HERE, "..", "examples", "halo.c"), "halo")
        self.report_row("halo exchange, 64 ranks", self.record("openmpi", 64, halo, (3000, 8)),
                        "5 M/s")
        wavefront = self.compile("openmpi", os.path.join(HERE, "wavefront.c"), "wavefront")
        self.report_row("wavefront, 64 ranks",
                        self.record("openmpi", 64, wavefront, (553, 8, 16)), "5 M/s")
        adi = self.compile("openmpi", os.path.join(HERE, "adi.c"), "adi")
        self.report_row("multi-partition sweeps, 64 ranks",
                        self.record("openmpi", 64, adi, (223, 64)), "5 M/s")
        tests = harness.Harness(self.build)
        try:
            program = pathologies.LARGE[-1]
            program.numbers["iterations"] = 400
            self.report_row("NtoN with noise, 1024 ranks, SMPI",
                            pathologies.record(tests, program), "10 s")
        finally:
            tests.close()

    # ---- predictions ----

    def predict_row(self, name, archive):
        program = os.path.join(self.build, "bench", "predict_bench")
        runs = [[float(word) for word in run([program, archive, "64"], self.folder).split()] for _ in range(5)]
        events, one, all_ = runs[0][0], *(statistics.median(each[i] for each in runs) for i in (1, 2))
        report = statistics.median(self.cpu_seconds([self.refrain, "report", "--json", archive]) for _ in range(5))
        remedies = self.cpu_seconds([self.refrain, "whatif", "--json", archive])
        print(f"{name:34}{events:12,.0f}{events / one / 1e6:10.2f}{all_ / one:10.1f}{remedies:10.2f}{report:10.2f}")

    def predict(self):
        """One assumption and 64 in one pass; all remedies of whatif; the report, which predicts its stories."""
        print("\nPredictions: million events per second of CPU time with one assumption, how many times as long\n"
              "64 of them take in one pass; seconds of CPU time of whatif and of report\n")
        print(f"{'':34}{'events':>12}{'M/s':>10}{'64 : 1':>10}{'whatif':>10}{'report':>10}")
        halo = self.compile("openmpi", os.path.join(HERE, "..", "examples", "halo.c"), "halo")
        self.predict_row("halo exchange, 64 ranks", self.record("openmpi", 64, halo, (3000, 8)))
        wavefront = self.compile("openmpi", os.path.join(HERE, "wavefront.c"), "wavefront")
        self.predict_row("wavefront, 64 ranks", self.record("openmpi", 64, wavefront, (553, 8, 16)))
        adi = self.compile("openmpi", os.path.join(HERE, "adi.c"), "adi")
        self.predict_row("multi-partition sweeps, 64 ranks", self.record("openmpi", 64, adi, (223, 64)))
        print(f"{'limit':46}{5:10}{8:10}{20:10}")

    # ---- simulations ----

    def engine(self):
        engine.run(self.build)

    def texts(self):
        prediction.run(self.build, "texts")

    def reality(self):
        prediction.run(self.build, "reality")

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

    def flat(self):
        """Instructions per event of the recorder's tables, by how many objects they hold (bench/flat.c)."""
        sizes, events = [10 ** k for k in range(2, 7)], 20000
        program = os.path.join(self.build, "bench", "flat")
        print("\nInstructions per event, by the objects that a table of the recorder holds\n")
        print("| table |" + "".join(f" {n:,} |" for n in sizes) + " 10^6 to 10^3 |")
        print("|---|" + "---|" * (len(sizes) + 1))
        for table in run([program], self.folder).split():
            counts = []
            for n in sizes:
                done = run_both(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null",
                                 program, table, str(n), str(events)], self.folder)
                counts.append(int(re.search(r"Collected : (\d+)", done.stderr)[1]) / events)
            print(f"| {table} |" + "".join(f" {count:,.0f} |" for count in counts) + f" {counts[-1] / counts[1]:.2f} |",
                  flush=True)

    def view(self):
        view.run(self.build)

    def formats(self):
        formats.run(self.build)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    bench = Bench(options)
    try:
        for part in options.only.split(","):
            getattr(bench, part)()
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
