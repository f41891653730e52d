#!/usr/bin/env python3
"""Runs real applications, as Debian packages them, plainly and recorded in turn, and checks the recordings.

    apps.py --build DIR [--folder DIR] [--mirror URL] [--pairs N] [APPLICATION... | ci]
    apps.py --build DIR [--folder DIR] --table [--write]

Needs root (debian_root.py says why). Of each application (apps/applications.py) are checked, in
every pair of runs:

  - it ends as it does without the recorder, and what it prints and writes is the same after a filter
    that is listed with the application;
  - the calls of each MPI function in the archive are those that an independent counter (mpi_counter.py)
    has seen in the same run. The counter lies below the recorder: it is named in the root's
    /etc/ld.so.preload, whose libraries the loader puts behind those of LD_PRELOAD and before MPI. The
    recorder finds the function to call by RTLD_NEXT and so calls the counter's; calls that it makes
    for itself go to PMPI names, which the counter does not have. In front of the recorder a counter would miss Fortran:
    there the program calls mpi_send_, which Open MPI's library for Fortran passes on as PMPI_Send. The
    recorder takes that name, too, and passes it on as MPI_Send (record/wrap/fortran.h), so below it
    there are only MPI_ names. Open MPI's C++ bindings are functions of the header that call C. One call is taken off:
    in each process the recorder asks the layer below once for the size of MPI_COMM_WORLD
    (record/core/past_calls.c). Calls that MPI's callbacks make inside a call are counted, but are no events: an
    application says how many it has;

and in the last pair that verify, report, whatif and view read the archive, and what the report says
where the truth is known. Times and sizes are printed in tables, not judged: they go to DIR/apps/results.
--table prints the tables of the last results, and with --write puts them into doc/applications.md.
The last line is "N passed, N failed".
"""
import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "apps"))
import applications  # noqa: E402
import debian_root  # noqa: E402
import harness  # noqa: E402
import mpi_counter  # noqa: E402
import page_tables  # noqa: E402
import tables  # noqa: E402

COUNTER = "/usr/lib/mpi_counter.so"  # in the root
VERBS = {"verify": (), "report": (), "whatif": (), "view": ("-f", "-o", "page.html")}


def say(text):
    print(text, flush=True)


class Checks:
    """What passed and what did not. known: faults of the report that are known; they are told, and do not count."""

    def __init__(self, name, known):
        self.name, self.known, self.passed, self.failures, self.faults = name, known, 0, [], []

    def add(self, what, fine, found=""):
        if fine:
            self.passed += 1
        elif what in self.known:
            self.faults.append(what)
            say(f"KNOWN {self.name}: not so: {what}\n      found: {found:.1500}")
        else:
            self.failures.append(what)
            say(f"FAIL {self.name}: {what}\n      found: {found:.1500}")

    def same(self, what, found, expected):
        self.add(what, found == expected, "" if found == expected else harness.difference(found, expected))


class Counter:
    """The counter below the recorder: what is bound into the root for a recorded run."""

    def __init__(self, folder):
        library = f"/usr/lib/{os.uname().machine}-linux-gnu/{applications.FLAVOUR.library}"
        self.library, self.preload = (os.path.join(folder, name) for name in ("mpi_counter.so", "ld.so.preload"))
        mpi_counter.build(library, self.library)
        with open(self.preload, "w", encoding="ascii") as file:
            file.write(COUNTER + "\n")
        self.binds = [(self.library, COUNTER), (self.preload, "/etc/ld.so.preload")]

    @staticmethod
    def counts(folder, application):
        """Calls by function that are to be recorded, of all processes in a folder."""
        counts = mpi_counter.counted(os.path.join(folder, "counts"))
        for name, number in {"MPI_Comm_size": 1, **application.nested}.items():
            counts[name] = counts.get(name, 0) - number * application.ranks
        return {name: number for name, number in counts.items() if number}


class Trial:
    """An application on its way through pairs of runs."""

    def __init__(self, application, root, counter, checks):
        self.application, self.root, self.counter, self.checks = application, root, counter, checks
        self.archive = f"{application.name}.{application.ranks}.rfn"
        self.place = os.path.join(root.runs, application.name)
        shutil.rmtree(self.place, ignore_errors=True)
        os.makedirs(os.path.join(self.place, "input"))
        application.prepare(os.path.join(self.place, "input"), self.inside)

    def inside(self, command, name):
        folder = f"{self.application.name}/input"
        done = self.root.run(command, name, self.application.timeout, folder, environment=self.application.environment)
        if done.code != 0:
            raise debian_root.Trouble(f"{' '.join(command)} ended with {done.code}:\n{done.out[-800:]}{done.err[-800:]}")

    def fresh(self, kind):
        folder = os.path.join(self.place, kind)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(self.place, "input"), folder, symlinks=True)
        return folder

    def run(self, kind, words=(), binds=(), environment=None):
        """One run in a folder of its own; kind: plain or recorded."""
        application = self.application
        self.fresh(kind)
        done = self.root.run([*applications.FLAVOUR.launch(application.ranks), *words, *application.command], "said",
                             application.timeout, f"{application.name}/{kind}", binds,
                             {**application.environment, **(environment or {})})
        say(f"  {kind}: {done.seconds:.1f} s, {done.cpu_seconds:.1f} s of CPU")
        return done

    def results(self, kind, done):
        """What is compared of a run: status, and lines of the outputs after the filter."""
        found = {"status": done.code, "standard output": self.application.filter(done.out)}
        for name in self.application.outputs:
            with open(os.path.join(self.place, kind, name), encoding="utf-8", errors="replace") as file:
                found[name] = self.application.filter(file.read())
        return found

    def pair(self):
        """A plain and a recorded run; the checks of both; the report as JSON."""
        plain = self.run("plain")
        expected = self.results("plain", plain)
        self.checks.add("a plain run works and prints what is compared",
                        plain.code == 0 and any(lines for name, lines in expected.items() if name != "status"),
                        f"status {plain.code}, {plain.out[-500:]}{plain.err[-1000:]}")
        recorded = self.run("recorded", ["/refrain/refrain", "record", "--force", "-o", self.archive,
                                         *self.application.options], self.counter.binds,
                            {"MPI_COUNTER_OUT": "/case/counts"})
        self.checks.same("status and output of the recorded run", self.results("recorded", recorded), expected)
        report = self.verb("report", "--json")
        counts = self.counter.counts(os.path.join(self.place, "recorded"), self.application)
        report = json.loads(report.out)
        self.checks.same("calls of each function (dumped, counted)", self.dumped_calls(), counts)
        self.checks.same("calls in the report", report["calls"], sum(counts.values()))
        return plain, recorded, report

    def dumped_calls(self):
        """Calls by function, of all events."""
        command = [os.path.join(self.root.build, "refrain"), "dump", os.path.join(self.place, "recorded", self.archive)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as dump:
            names = next(dump.stdout, "").rstrip("\n").split("\t")
            events = (dict(zip(names, line.rstrip("\n").split("\t"))) for line in dump.stdout)
            counts = harness.count_calls(event for event in events if event["function"].startswith("MPI"))
        if dump.returncode:
            raise debian_root.Trouble(f"refrain dump ended with {dump.returncode}")
        return counts

    def verb(self, verb, *arguments):
        done = self.root.run(["/refrain/refrain", verb, *arguments, self.archive], verb + "".join(arguments[:1]),
                             self.application.timeout, f"{self.application.name}/recorded")
        if done.code != 0:
            raise debian_root.Trouble(f"refrain {verb} ended with {done.code}:\n{done.err[-1000:]}")
        return done


def columns_of(pairs):
    """Medians over pairs of runs; ratios are of runs of a pair."""
    def median(value):
        return statistics.median(value(plain, recorded) for plain, recorded in pairs)
    return {
        "plain_seconds": median(lambda plain, recorded: plain.seconds),
        "recorded_seconds": median(lambda plain, recorded: recorded.seconds),
        "slower": median(lambda plain, recorded: recorded.seconds / plain.seconds),
        "plain_cpu": median(lambda plain, recorded: plain.cpu_seconds),
        "recorded_cpu": median(lambda plain, recorded: recorded.cpu_seconds),
        "slower_cpu": median(lambda plain, recorded: recorded.cpu_seconds / plain.cpu_seconds),
        "memory_bytes": median(lambda plain, recorded: recorded.peak_bytes - plain.peak_bytes),
        "pairs": len(pairs)}


def measure(application, root, counter, pairs, checks):
    """All runs of an application; a row of the tables."""
    trial = Trial(application, root, counter, checks)
    runs = []
    for _ in range(pairs):
        plain, recorded, report = trial.pair()
        runs.append((plain, recorded))
    seconds = {}
    for verb, arguments in VERBS.items():
        seconds[verb] = trial.verb(verb, *arguments).cpu_seconds
        checks.add(f"refrain {verb} reads the archive", True)
    screen = trial.verb("report", "--short").out
    for what, fine, found in application.truths(report, " ".join(screen.split())):
        checks.add(what, fine, found)
    archive = os.path.join(trial.place, "recorded", trial.archive)
    kept = os.path.join(root.folder, "archives")
    os.makedirs(kept, exist_ok=True)
    shutil.copy(archive, kept)
    return {**columns_of(runs), "ranks": application.ranks, "calls": report["calls"],
            "bytes": os.path.getsize(archive), "seconds": seconds, "screen": screen,
            "passed": checks.passed, "failures": checks.failures, "known": checks.faults}


def try_application(application, root, counter, pairs, libraries):
    """Installs, runs and checks one; the counts of its checks."""
    checks = Checks(application.name, application.known)
    say(application.title)
    try:
        root.install(application.title, [*libraries, "openmpi-bin", *application.packages])
        row = measure(application, root, counter, pairs, checks)
        page_tables.keep(root.folder, application.name, row)
    except (debian_root.Trouble, harness.Failure) as trouble:
        checks.add("it is installed, runs and is read", False, str(trouble))
    except Exception:  # pylint: disable=broad-exception-caught # the others are tried all the same
        checks.add("it is installed, runs and is read", False, traceback.format_exc())
    say(f"  {checks.passed} checks passed, {len(checks.failures)} failed")
    return checks


def run_all(arguments, names):
    root = debian_root.Root(arguments.folder, arguments.build, debian_root.release(), arguments.mirror, say)
    root.check()
    root.make()
    libraries = root.libraries([os.path.join(arguments.build, "refrain"),
                                *glob.glob(os.path.join(arguments.build, "lib", "librefrain-openmpi.so"))])
    counter = Counter(arguments.folder)
    return [try_application(applications.ALL[name], root, counter, arguments.pairs, libraries) for name in names]


def main():
    parser = argparse.ArgumentParser(description="Runs real applications, plainly and recorded.")
    parser.add_argument("--build", default="build", type=os.path.abspath)
    parser.add_argument("--folder", type=os.path.abspath, help="where root, packages and runs lie (BUILD/apps)")
    parser.add_argument("--mirror", help="URL of Debian's packages, as apt's")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="print the tables of the last results only")
    parser.add_argument("--write", action="store_true", help="put the tables into doc/applications.md")
    parser.add_argument("names", nargs="*", metavar="APPLICATION", help=", ".join(applications.ALL) + "; or ci")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder or os.path.join(arguments.build, "apps")
    names = [one for name in arguments.names for one in (applications.CI if name == "ci" else [name])]
    unknown = [name for name in names if name not in applications.ALL]
    if unknown:
        parser.error(f"there is no application {unknown[0]}; there are {', '.join(applications.ALL)}, and ci")
    names = names or list(applications.ALL)
    try:
        found = [] if arguments.table else run_all(arguments, names)
    except (debian_root.Trouble, subprocess.CalledProcessError) as trouble:
        say(f"FAIL apps: {trouble}\n0 passed, {len(names)} failed")
        return 1
    rows = page_tables.kept(arguments.folder, list(applications.ALL) if arguments.table else names)
    say(tables.text(rows))
    if arguments.write:
        tables.write(page_tables.kept(arguments.folder, list(applications.ALL)))
    if arguments.table:
        return 0
    failed = sum(len(checks.failures) for checks in found)
    say(f"{sum(checks.passed for checks in found)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
