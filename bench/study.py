#!/usr/bin/env python3
"""make study: how well the similarity methods keep what matters (Mohror 2010, chapter 5).

Records the 18 programs of tests/pathologies.py in simulated time, reduces each with every method and
threshold - within processes, across them, and both - and compares the reduced archive with the full
one. The results go to doc/study/*.csv, plots beside them, and the tables into doc/study.md and
doc/notes/study-thresholds.md.

    bench/study.py --build DIR [--work DIR] [--jobs N] [--only TEXT] [--redo]

What was measured with the same tool before is not measured again (the work folder, by default
DIR/study, remembers), so that an interrupted study goes on where it was. Results do not depend on
the machine: sizes change by some bytes with the length of paths, nothing else does.
"""
import argparse
import concurrent.futures
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tests"))
import harness  # noqa: E402
import pathologies  # noqa: E402
import study_plots  # noqa: E402
import study_tables  # noqa: E402

FOLDER = os.path.join(ROOT, "doc", "study")
SHARES = ("0.1", "0.2", "0.4", "0.6", "0.8", "1.0")
MICROSECONDS = ("10", "100", "1000", "10000", "100000", "1000000")
# Thresholds of the paper; the defaults within and across (5.2.1, 5.3.1).
METHODS = {
    "relDiff": (SHARES, "0.8", "0.8"),
    "absDiff": (MICROSECONDS, "1000", "10000"),
    "manhattan": (SHARES, "0.4", "0.4"),
    "euclidean": (SHARES, "0.2", "0.4"),
    "chebyshev": (SHARES, "0.2", "0.4"),
    "avgWave": (SHARES, "0.2", "0.4"),
    "haarWave": (SHARES, "0.2", "0.4"),
    "iterK": (("1", "10", "50", "100", "500", "1000"), "10", None),
    "iterAvg": (("",), "", None),
    "jitter": (("0.005", "0.01", "0.02", "0.03", "0.05", "0.1"), "0.02", "0.4"),  # our own
}
ACROSS = {"jitter": ("0.05", "0.1", "0.2", "0.3", "0.4", "0.8")}  # where not the same as within
# Beyond the paper: lower thresholds, the same across, larger ones across; and what iterK's later
# executions may refer to. (method, within, across)
LOWER = ("0.01", "0.02", "0.03", "0.05")
FURTHER = [(method, threshold, across) for method in METHODS if METHODS[method][0] is SHARES
           for threshold in LOWER for across in ("", threshold)]
FURTHER += [("absDiff", "20", ""), ("absDiff", "50", ""), ("absDiff", "50", "1000"),
            ("iterK", "10:average", ""), ("iterK", "10:centroid", "")]
FURTHER += [("chebyshev", "0.02", across) for across in SHARES]
FURTHER += [("jitter", "0.02", across) for across in ("0.02", *ACROSS["jitter"])]
FURTHER += [("avgWave", "0.03", "0.8"), ("euclidean", "0.03", "0.8"), ("haarWave", "0.03", "0.4")]
COLUMNS = ("study", "program", "method", "threshold", "across", "starts", "events", "full_bytes",
           "reduced_bytes", "size_percent", "model_percent", "degree_of_matching",
           "approximation_distance_us", "largest_distance_us", "trends_retained", "trends",
           "trends_changed", "largest_change")


class Case:
    """One reduction of every program. across: threshold, "" for none."""

    def __init__(self, study, method, threshold, across="", starts="near"):
        self.study, self.method, self.threshold = study, method, threshold
        self.across, self.starts = across, starts

    def similar(self):
        return f"{self.method}:{self.threshold}" if self.threshold else self.method

    def options(self):
        """Of `refrain reduce`. Across alone, segments of a process match only if they are equal."""
        similar = f"{self.method}:0" if self.study == "across" else self.similar()
        return [f"--similarity={similar}", *([f"--across={self.across}"] if self.across else []),
                *(["--segment-starts=exact"] if self.starts == "exact" else [])]

    def key(self):
        return {"study": self.study, "method": self.method, "threshold": self.threshold,
                "across": self.across, "starts": self.starts}


def cases():
    """All of the paper's, then those beyond."""
    found = []
    for method, (thresholds, default, across) in METHODS.items():
        found += [Case("within", method, threshold) for threshold in thresholds]
        found.append(Case("exact", method, default, starts="exact"))
        if across is not None:
            found += [Case("across", method, "", threshold)
                      for threshold in ACROSS.get(method, thresholds)]
            found += [Case("combined", method, threshold, across) for threshold in thresholds]
        else:
            found += [Case("combined", method, threshold) for threshold in thresholds]
    return found + [Case("further", *one) for one in FURTHER]


class Study:
    """The work folder: recorded programs, and what was measured."""

    def __init__(self, options):
        self.refrain = os.path.join(os.path.abspath(options.build), "refrain")
        self.work = os.path.abspath(options.work or os.path.join(options.build, "study"))
        os.makedirs(self.work, exist_ok=True)
        with open(self.refrain, "rb") as tool:
            self.tool = hashlib.sha256(tool.read()).hexdigest()[:16]
        self.build, self.known = options.build, {}
        if options.redo:
            shutil.rmtree(self.work)
            os.makedirs(self.work)
        self.memory = os.path.join(self.work, f"results-{self.tool}.jsonl")
        if os.path.exists(self.memory):
            with open(self.memory, encoding="utf-8") as lines:
                for line in lines:
                    if line.endswith("\n"):  # an interrupted line does not
                        entry = json.loads(line)
                        self.known[entry["key"]] = entry["row"]

    def full(self, program):
        return os.path.join(self.work, f"{program.name}.{self.tool}.rfn")

    def record(self, programs):
        """Those that are not there yet."""
        bench = harness.Harness(self.build)
        try:
            for program in programs:
                if not os.path.exists(self.full(program)):
                    new = self.full(program) + ".new"
                    shutil.copy(pathologies.record(bench, program), new)
                    os.rename(new, self.full(program))
        finally:
            bench.close()

    def run(self, *command):
        done = subprocess.run([self.refrain, *command], capture_output=True, text=True, check=False,
                              timeout=900, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise harness.Failure(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    def model(self, program, case):
        """In % of a traditional trace, by Mohror's models (4.4), which know no sharing of times."""
        if case.study == "across" or case.across:
            return ""
        facts = json.loads(self.run("info", "--json", f"--size-model={case.similar()}",
                                    self.full(program)))
        return round(facts["size_model"]["size_percent"], 4)

    def measure(self, program, case):
        """A row of the table."""
        full = self.full(program)
        reduced = os.path.join(self.work, f"reduced-{os.getpid()}-{id(case):x}-{program.name}.rfn")
        try:
            self.run("reduce", "--force", *case.options(), "-o", reduced, full)
            facts = json.loads(self.run("compare", "--reduction", "--json", "--top=0", full, reduced))
        finally:
            if os.path.exists(reduced):
                os.remove(reduced)
        row = {**{name: facts[name] for name in COLUMNS if name in facts}, **case.key(),
               "program": program.name, "model_percent": self.model(program, case)}
        if case.study == "across":  # what matches within is equal, and not what this is about
            row["degree_of_matching"] = facts["degree_across"]
        row["trends_retained"] = int(row["trends_retained"])
        for name in ("size_percent", "degree_of_matching", "largest_change",
                     "approximation_distance_us", "largest_distance_us"):
            row[name] = round(row[name], 6)
        return row

    def measured(self, program, case):
        """The row, from memory if it is known; whether it was."""
        key = f"{program.name} {' '.join(case.options())} {case.study}"
        if key in self.known:
            return self.known[key]
        row = self.measure(program, case)
        with open(self.memory, "a", encoding="utf-8") as lines:
            lines.write(json.dumps({"key": key, "row": row}) + "\n")
        return row


def all_rows(study, programs, chosen, jobs):
    """In order of the cases, whatever the order in which they are done. Shows progress."""
    start, done, rows = time.monotonic(), 0, {}
    pairs = [(case, program) for case in chosen for program in programs]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(study.measured, program, case): i
                   for i, (case, program) in enumerate(pairs)}
        try:
            for future in concurrent.futures.as_completed(futures):
                rows[futures[future]] = future.result()
                done += 1
                if sys.stderr.isatty() or done % 250 == 0 or done == len(pairs):
                    print(f"{done} of {len(pairs)}, {time.monotonic() - start:.0f} s",
                          end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [rows[i] for i in range(len(pairs))]


def write_csv(rows):
    os.makedirs(FOLDER, exist_ok=True)
    for study in dict.fromkeys(row["study"] for row in rows):
        with open(os.path.join(FOLDER, f"{study}.csv"), "w", encoding="ascii", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(row for row in rows if row["study"] == study)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--work", help="remembers what was measured (BUILD/study)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", help="print the rows of one study instead of writing anything")
    parser.add_argument("--redo", action="store_true", help="forget what was measured")
    parser.add_argument("--page", action="store_true", help="only plots and tables, from the CSV")
    options = parser.parse_args()
    if not options.page:
        start = time.monotonic()
        study = Study(options)
        chosen = [case for case in cases() if options.only in (None, case.study)]
        try:
            study.record(pathologies.PROGRAMS)
            rows = all_rows(study, pathologies.PROGRAMS, chosen, options.jobs)
        except harness.Failure as failure:
            sys.exit(f"study: {failure}")
        if options.only:
            print("\n".join(",".join(str(row[name]) for name in COLUMNS) for row in rows))
            return
        write_csv(rows)
        print(f"{len(rows)} reductions of {len(pathologies.PROGRAMS)} programs measured in "
              f"{time.monotonic() - start:.0f} s")
    study_plots.write(FOLDER, METHODS)
    study_tables.write(FOLDER, METHODS)


if __name__ == "__main__":
    main()
