#!/usr/bin/env python3
"""Runs all tests and counts: the driver behind `make check`.

    tools/check.py --build DIR [--all] [--fuzz] [--ranks TEST=N,N...]... [--app NAME]... [ONLY...]

Builds with make (the plain build and its tests, the unit tests with address and undefined-behaviour
sanitizers, with --all or --fuzz the fuzzers), then runs

  - every cmocka program in DIR/test and in DIR-san/test; names with .mpich or .openmpi at the end
    are MPI programs, run by that MPI's launcher on the numbers of ranks of --ranks,
  - every *_test.py in src, for what is written in Python,
  - with --all or --fuzz every fuzzer in DIR/fuzz, FUZZ_SECONDS (30) in total, from one seed: it finds
    the same again (FUZZ_SEED=0 FUZZ_SECONDS=600 tools/check.py --build build _fuzz looks further),
  - tests/damage, damaged archives and journals, read with sanitizers (2,000; 20,000 with --all),
  - every tests/*_test.py, tests of the built tool in Python's unittest,
  - tests/run.py, the whole runs (the modules tests/test_*.py are its own), several at once; those that take
    long only with --all, and of these the race detector with --fuzz,
  - with --app, real applications (tests/apps.py), one pair of runs of each: ci names those of
    continuous integration,
  - the checks of layering, format and doc/coverage.md.

Each program has its own time limit and counts as many tests as it says it ran: cmocka in TAP form,
unittest by its last lines, others by a last line "N passed, N failed"; whatever says nothing counts
as one. A program that fails, crashes, hangs or skips something counts at least one failure. The
output of what failed is printed, and of all programs the tables, lines that begin with "|", and the
whole runs that the system refuses, lines "refused NAME: why", which count as neither. All that
programs print is in DIR/check/NAME: of the whole runs what each test took. In the end
stands again what failed, and why, in few lines: who sees only the end of the output sees that. The
last line is "N passed, N failed"; the exit status is 0 only if nothing failed. With ONLY, just the
programs whose name contains one of the words run.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAN = "address,undefined"
MOST_REASONS = 12  # lines, per program
DAMAGED, DAMAGED_OF_ALL = 2000, 20000  # files
LAUNCHERS = {
    "mpich": ["mpiexec.hydra", "mpiexec.mpich", "mpiexec"],
    "openmpi": ["mpirun.openmpi", "orterun", "mpirun"],
}


class Program:
    """Something to run: its name, command line, time limit, and whether it runs alone."""

    def __init__(self, name, command, seconds=120, alone=False, environment=None, counted=True):
        self.name = name
        self.command = [str(word) for word in command]
        self.seconds = seconds
        self.alone = alone  # timing matters, or it uses all cores itself
        self.environment = environment or {}
        self.counted = counted  # a step of the build counts only when it fails


class Outcome:
    def __init__(self, name, passed, failed, seconds, output="", note=""):
        self.name, self.passed, self.failed = name, passed, failed
        self.seconds, self.output, self.note = seconds, output, note


def count(output, status):
    """(passed, failed) as the program's output says, made consistent with its exit status."""
    skipped = 0
    passed = len(re.findall(r"^ok \d+", output, re.M))
    failed = len(re.findall(r"^not ok \d+", output, re.M))
    if passed + failed:  # cmocka, TAP
        skipped = len(re.findall(r"^(?:not )?ok \d+.*# SKIP", output, re.M))
    elif re.search(r"^Ran \d+ tests?", output, re.M):  # unittest
        ran = sum(int(n) for n in re.findall(r"^Ran (\d+) tests?", output, re.M))
        failed = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", output))
        skipped = sum(int(n) for n in re.findall(r"skipped=(\d+)", output))
        passed = max(0, ran - failed)
    else:
        lines = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?(?:, \d+ refused)?$", output, re.M)
        if lines:
            passed, failed, skipped = (int(n or 0) for n in lines[-1])
            passed += skipped
        elif status == 0:
            passed = 1
    passed, failed = passed - skipped, failed + skipped
    if status != 0 and failed == 0:
        failed = 1
    return passed, failed


def run(program, logs):
    """Runs a program; all that it prints is kept in a file of the folder logs, too."""
    start = time.monotonic()
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", **program.environment)
    note = ""
    try:
        # A session of its own, so that a hanging launcher goes with all its children.
        process = subprocess.Popen(program.command, cwd=ROOT, env=environment, text=True,
                                   errors="replace", stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
    except OSError as error:
        return Outcome(program.name, 0, 1, 0.0, str(error), "cannot be started")
    try:
        output, _ = process.communicate(timeout=program.seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        note = f"stopped after {program.seconds} s"
    (logs / program.name.replace(" ", "-")).write_text(output, encoding="utf-8", errors="replace")
    status = process.returncode
    if status < 0 and not note:
        note = f"killed by signal {-status}"
    elif status > 0:
        note = note or f"exit status {status}"
    passed, failed = count(output, status)
    if not program.counted:
        passed = 0
    return Outcome(program.name, passed, failed, time.monotonic() - start, output, note)


def with_reasons(lines):
    """Those that name a failed test, the indented ones below each, which say why, and what a sanitizer says in
    a line."""
    named, below = [], False
    for line in lines:
        below = line.startswith(("FAIL", "not ok")) or below and line.startswith("      ")
        if below or ": runtime error: " in line or line.startswith("SUMMARY: "):
            named.append(line)
    return named


def tell(outcome):
    words = f"{outcome.passed} passed" if outcome.passed else ""
    if outcome.failed:
        words += f"{', ' if words else ''}{outcome.failed} FAILED"
    if outcome.note:
        words += f" ({outcome.note})"
    print(f"  {outcome.name:<44} {outcome.seconds:6.1f} s  {words}", flush=True)
    for line in outcome.output.splitlines():
        if line.startswith(("|", "refused ")):  # a table of what was found, a run that could not be
            print(f"    {line}", flush=True)
    if outcome.failed:
        lines = [line for line in outcome.output.splitlines() if not line.startswith("ok ")]
        for line in with_reasons(lines[:-80]) + lines[-80:]:
            print(f"      | {line}")
        sys.stdout.flush()


def summary(outcome):
    """Which tests of a program failed, and why, in a few lines."""
    why = with_reasons(outcome.output.splitlines())[:MOST_REASONS]
    note = f" ({outcome.note})" if outcome.note else ""
    return "\n".join([f"Failed: {outcome.name}{note}", *(f"  {line[:160]}" for line in why)])


def run_all(programs, logs):
    """Runs those that may be together two at once, then the others one by one."""
    outcomes = []
    logs.mkdir(parents=True, exist_ok=True)
    together = [program for program in programs if not program.alone]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for outcome in pool.map(run, together, [logs] * len(together)):
            tell(outcome)
            outcomes.append(outcome)
    for program in programs:
        if program.alone:
            outcomes.append(run(program, logs))
            tell(outcomes[-1])
    return outcomes


def make_words(*arguments):
    """A command line of make that knows nothing of the make that called this program."""
    words = shlex.split(os.environ.get("MAKE", "make"))
    return ["env", "MAKEFLAGS=", "MFLAGS=", *words, "--no-print-directory", *arguments]


def make(name, *arguments):
    """A step of the build, as a program to run. What can be built is, so that it is tested."""
    jobs = f"-j{min(os.cpu_count() or 1, 8)}"
    return Program(name, make_words("-k", jobs, *arguments), 600, True, counted=False)


def builds(build, fuzz):
    compiler = "CC=" + os.environ.get("CC", "gcc")
    yield make("build", f"O={build}", compiler, "all", "tests")
    yield make("build with sanitizers", f"O={build}-san", compiler, f"SAN={SAN}", "unit-tests", "damage-program")
    if fuzz:
        yield make("build of fuzzers", f"O={build}", compiler, "fuzz")


def listed(build, target, *arguments):
    """The programs that the build makes for a target, as paths."""
    compiler = "CC=" + os.environ.get("CC", "gcc")
    words = make_words(f"O={build}", compiler, *arguments, target)
    result = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    return [pathlib.Path(line) for line in result.stdout.split() if line.startswith("/")]


def launcher(flavour, ranks):
    """The words that run an MPI program on some ranks."""
    paths = os.environ.get("PATH", "").split(":")
    names = LAUNCHERS[flavour]
    name = next((n for n in names for p in paths if os.access(os.path.join(p, n), os.X_OK)), names[0])
    options = ["-n", str(ranks)]
    if flavour == "openmpi":
        options += ["--oversubscribe"]
        if os.getuid() == 0:
            options += ["--allow-run-as-root"]
    return [name, *options]


def unit_tests(build, ranks):
    for path in listed(build, "list-tests"):
        test, _, flavour = path.name.partition(".")
        if flavour in LAUNCHERS:
            for n in ranks[test]:
                command = [*launcher(flavour, n), path]
                yield Program(f"{path.name} on {n}", command, 120, True)
        else:
            yield Program(path.name, [path])


def sanitized_tests(build):
    options = {"ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1",
               "UBSAN_OPTIONS": "print_stacktrace=1"}
    for path in listed(f"{build}-san", "list-unit-tests", f"SAN={SAN}"):
        yield Program(path.name + " (sanitized)", [path], 300, environment=options)


NO_ARCHIVES = ("rank_formula_fuzz", "sample_table_fuzz", "live_jobs_fuzz", "platform_fuzz", "ti_parser_fuzz",
               "strategy_fuzz", "where_fuzz", "recording_fuzz", "selector_fuzz", "network_file_fuzz",
               "unpack_definitions_fuzz", "otf2_read_fuzz")


def seeds_of(name):
    """The folders with what a fuzzer starts from. Those of archives have all archives: from nothing
    they would not come past the header."""
    seeds = ROOT / "tests" / "fuzz"
    if name in NO_ARCHIVES:
        return [seeds / name]
    return sorted(path for path in seeds.iterdir() if path.name not in NO_ARCHIVES)


def fuzzers(build):
    found = listed(build, "list-fuzzers")
    seconds = int(os.environ.get("FUZZ_SECONDS", "30"))
    for path in found:
        share = max(1, 2 * seconds // max(2, len(found)))  # two run at once
        corpus = build / "fuzz" / "corpus" / path.name
        corpus.mkdir(parents=True, exist_ok=True)
        command = [path, f"-max_total_time={share}", f"-seed={os.environ.get('FUZZ_SEED', 1)}",
                   "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=0", "-verbosity=0",
                   f"-artifact_prefix={build / 'fuzz'}/{path.name}-", corpus]
        yield Program(path.name, command + seeds_of(path.name), share + 60)


def damaged_files(build, everything):
    """The first ones of `make damage N=1000000`."""
    jobs, n = os.cpu_count() or 1, DAMAGED_OF_ALL if everything else DAMAGED
    command = [f"{build}-san/damage", "-n", n, "-s", 1, "-j", jobs, ROOT / "tests/damage"]
    yield Program("damage (sanitized)", command, 1800, True)


def python_tests():
    for path in sorted(ROOT.glob("src/**/*_test.py")):
        yield Program(path.name, [sys.executable, path], 300)


def tool_tests(build):
    for path in sorted((ROOT / "tests").glob("*_test.py")):
        yield Program(path.name, [sys.executable, path, "--build", build], 300, True)


def whole_runs(build, everything, fuzz):
    words = ["--all"] if everything else ["--also", "threads"] if fuzz else []
    yield Program("run.py", [sys.executable, ROOT / "tests/run.py", "--build", build, *words], 2700, True)


def real_applications(build, names):
    """All of them as one program: the first ones make the root that the others are installed in."""
    if names:
        yield Program("apps", [sys.executable, ROOT / "tests/apps.py", "--build", build, "--pairs", 1, *names], 1800, True)


def static_checks(build):
    yield Program("check-layers", [sys.executable, ROOT / "tools/check-layers.py", "--build", build])
    yield Program("check-format", make_words("check-format"))
    yield Program("coverage", [sys.executable, ROOT / "tools/coverage.py", "--check"])


def main():
    parser = argparse.ArgumentParser(description="Runs all tests.")
    parser.add_argument("--build", default="build", type=lambda p: pathlib.Path(os.path.abspath(ROOT / p)))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--fuzz", action="store_true")
    parser.add_argument("--ranks", action="append", default=[], metavar="TEST=N,N")
    parser.add_argument("--app", action="append", default=[], metavar="NAME")
    parser.add_argument("only", nargs="*")
    arguments = parser.parse_args()
    build = arguments.build
    everything = arguments.all or bool(arguments.only)  # what is named is run
    fuzz = everything or arguments.fuzz
    pairs = (text.split("=") for text in arguments.ranks)
    ranks = {name: [int(n) for n in numbers.split(",")] for name, numbers in pairs}

    start = time.monotonic()
    print("Building", flush=True)
    logs = build / "check"
    outcomes = run_all(list(builds(build, fuzz)), logs)
    print("Running", flush=True)
    programs = [*static_checks(build), *unit_tests(build, ranks), *python_tests(), *sanitized_tests(build),
                *(fuzzers(build) if fuzz else ()), *damaged_files(build, everything), *tool_tests(build),
                *whole_runs(build, arguments.all, arguments.fuzz), *real_applications(build, arguments.app)]
    if arguments.only:
        programs = [p for p in programs if any(word in p.name for word in arguments.only)]
    outcomes += run_all(programs, logs)

    faulty = [outcome for outcome in outcomes if outcome.failed]
    for outcome in faulty:
        print(summary(outcome))
    if not arguments.all and any(program.name == "run.py" for program in programs):
        print("Tests that take long were left out; make check ALL=1 runs them, too.")
    print(f"In {time.monotonic() - start:.0f} s.")
    print(f"{sum(o.passed for o in outcomes)} passed, {sum(o.failed for o in outcomes)} failed")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
