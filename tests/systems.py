#!/usr/bin/env python3
"""Builds and tests Refrain on other releases of Debian, each in a root of its own (debian_root.py says why).

    systems.py [--folder DIR] [--mirror URL] [--full] [SUITE...]
    systems.py [--folder DIR] --table [--write]

Of each release (bookworm, trixie, forky) a root is made in which only gcc, make and git are there. It gets the
files of this checkout that git knows, as they are now, and `make demo`, as a newcomer would. Then it gets the packages
for tests, and whole runs (RUNS) under each MPI; with --full all of `make check`. Builds and packages stay in DIR: the
next call builds only changed files. Results go to DIR/results; --table prints the last ones as a table, and with
--write puts it into doc/systems.md. The last line is "N passed, N failed".
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import debian_root  # noqa: E402
import page_tables  # noqa: E402

SOURCES = os.path.dirname(HERE)
PAGE = os.path.join(SOURCES, "doc", "systems.md")
SUITES = {"bookworm": "Debian 12", "trixie": "Debian 13", "forky": "Debian 14 (testing)"}
NEWCOMER = ["gcc", "make", "git"]
# Whole runs that meet an MPI in most of its ways: Fortran, Python, sessions, threads, spawned processes, launchers,
# ends of all kinds, journals, samples, clocks, predictions, pages.
RUNS = "abi,events,fortran,python,launch,behaviour,journal,recorder,sample,snapshot,whatif,view"
SHOWN = {"libopenmpi-dev": "Open MPI", "libmpich-dev": "MPICH", "libsimgrid-dev": "SimGrid", "gcc": "gcc",
         "clang": "clang", "python3": "Python"}


def say(text):
    print(text, flush=True)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def copy_sources(to):
    """The files that git knows, as they are; those that have not changed keep their times, so make does."""
    listed = subprocess.run(["git", "-C", SOURCES, "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if os.path.isfile(os.path.join(SOURCES, name))]
    kept = os.path.join(to, ".sources")
    before = content(kept).decode().split("\0") if os.path.exists(kept) else []
    for name in set(before) - set(names):
        if name and os.path.lexists(os.path.join(to, name)):
            os.remove(os.path.join(to, name))
    for name in names:
        source, copy = os.path.join(SOURCES, name), os.path.join(to, name)
        if not os.path.exists(copy) or content(source) != content(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copyfile(source, copy)
            shutil.copymode(source, copy)
    with open(kept, "w", encoding="utf-8") as file:
        file.write("\0".join(names))


class System:
    """A release of Debian, and the results there."""

    def __init__(self, suite, folder, mirror):
        self.tree = os.path.join(folder, suite, "refrain")
        os.makedirs(self.tree, exist_ok=True)
        self.root = debian_root.Root(os.path.join(folder, suite), self.tree, suite, mirror, say)
        self.found = {"suite": suite, "steps": {}, "failures": []}

    def step(self, name, command, timeout):
        """Runs a command in the checkout there, and counts tests by its last line; without such a line it is one test."""
        self.root.folder_of_runs("log")
        done = self.root.run(["sh", "-c", 'cd /refrain && exec "$@"', "sh", *command], name, timeout, "log",
                             environment={"YES": "1", "LC_ALL": "C.UTF-8"})
        counts = re.findall(r"^(\d+) passed, (\d+) failed", done.out, re.M)
        passed, failed = map(int, counts[-1]) if counts else (int(done.code == 0), int(done.code != 0))
        if done.code != 0 and not failed:
            failed = 1
        self.found["steps"][name] = {"passed": passed, "failed": failed, "seconds": done.seconds}
        say(f"  {name}: {passed} passed, {failed} failed, {done.seconds:.0f} s")
        if failed:
            wrong = re.findall(r"^(?:FAIL +)(\S+)", done.out, re.M)
            self.found["failures"] += sorted(set(wrong)) or [name]
            say(f"    {' '.join(sorted(set(wrong)))}\n    see {self.root.runs}/log/{name}.out and .err:\n"
                f"{done.err[-1500:] if not wrong else ''}")
        return not failed

    def versions(self):
        with open(os.path.join(self.root.path, "var/lib/dpkg/status"), encoding="utf-8", errors="replace") as file:
            text = file.read()
        for package, name in SHOWN.items():
            version = re.search(rf"^Package: {re.escape(package)}\nStatus: install ok installed\n(?:.+\n)*?Version: (\S+)",
                                text, re.M)
            if version:
                self.found.setdefault("versions", {})[name] = re.sub(
                    r"^\d+:|[~+-].*$", "", re.sub(r".*really", "", version.group(1)).replace("~rc", "rc"))
        return self.found

    def check(self, full):
        self.root.check()
        self.root.make()
        self.root.install("what a newcomer has", NEWCOMER)
        copy_sources(self.tree)
        if self.step("demo", ["make", "demo"], 1800) and \
                self.step("packages", ["tools/install-deps.sh", "build", "mpi", "run", "test"], 1800):
            if full:
                self.step("check", ["make", "check"], 5400)
            elif self.step("build", ["sh", "-c", 'make -j"$(nproc)" all tests'], 1800):
                self.step("runs", ["python3", "tests/run.py", "--modules", RUNS], 1800)
        return self.versions()


def cells(row):
    versions, steps = row.get("versions", {}), row["steps"]
    tests = steps.get("check") or steps.get("runs")
    return [SUITES.get(row["suite"], row["suite"]),
            ", ".join(f"{name} {versions[name]}" for name in ("Open MPI", "MPICH", "SimGrid") if name in versions),
            ", ".join(f"{name} {versions[name]}" for name in ("gcc", "clang", "Python") if name in versions),
            "works" if steps.get("demo", {}).get("passed") else "fails",
            f"{tests['passed']} of {tests['passed'] + tests['failed']} pass" if tests else "not run",
            "; ".join(row["failures"]) or "none"]


def table(rows):
    return page_tables.table(["system", "MPIs", "compilers, Python", "`make demo`", "tests", "failed"], map(cells, rows))


def check_all(arguments):
    passed = failed = 0
    for suite in arguments.suites or SUITES:
        say(SUITES.get(suite, suite))
        try:
            found = System(suite, arguments.folder, arguments.mirror).check(arguments.full)
        except (debian_root.Trouble, subprocess.CalledProcessError) as trouble:
            say(f"FAIL {suite}: {trouble}")
            failed += 1
            continue
        page_tables.keep(arguments.folder, suite, found)
        passed += sum(step["passed"] for step in found["steps"].values())
        failed += sum(step["failed"] for step in found["steps"].values())
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description="Builds and tests Refrain on other releases of Debian.")
    parser.add_argument("--folder", default=os.path.join(SOURCES, "build", "systems"), type=os.path.abspath,
                        help="where roots, packages and builds lie")
    parser.add_argument("--mirror", help="URL of Debian's packages, as apt's")
    parser.add_argument("--full", action="store_true", help="all of make check")
    parser.add_argument("--table", action="store_true", help="print the table of the last results only")
    parser.add_argument("--write", action="store_true", help="put the table into doc/systems.md")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    arguments = parser.parse_args()
    passed, failed = (0, 0) if arguments.table else check_all(arguments)
    text = table(page_tables.kept(arguments.folder, SUITES).values())
    say(text)
    if arguments.write:
        page_tables.put(PAGE, "systems-table", text)
    if not arguments.table:
        say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
