#!/usr/bin/env python3
"""Runs the whole-run tests: real programs under real MPIs, recorded and read back.

    run.py --build DIR [--all] [--only WORD] [--modules NAME,...] [--but NAME,...] [--lanes N] [--list]

Tests are the functions test_* of the modules tests/test_*.py. A test takes the harness, and a
flavour if it has a parameter of that name (then it is run for each MPI). It returns, or raises.
A test that needs something which is not installed fails. Where the
system refuses what a test needs (harness.Refused), that is told and counted, as neither of both.
Tests that take long (harness.long) are run with --all, and where tests or modules are named.

Most tests wait more than they compute: for launchers, for ranks that sleep. So several lanes, twice as
many as there are cores, which are processes with a harness each, take one test after the other, those
of a module with TOGETHER = True as one, and those of a module with EARLY = True before the rest, as
they take long. Tests of waiting in real time (harness.real_time) are run by the first lane, before
anything else, and until it is through with them only the second lane works beside it, on modules with
SIMULATED = True, whose ranks are one process, but for their tests with a flavour: tests in real time
have to bear that much at a time, not the load of a full machine.

Before the last line stands what the tests that ran have found of the conditions that they declare
(harness.condition, conditions.py).
"""
import argparse
import collections
import contextlib
import glob
import importlib
import inspect
import io
import multiprocessing
import multiprocessing.connection
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback

import conditions
import harness

HERE = os.path.dirname(os.path.abspath(__file__))
FORKING = multiprocessing.get_context("fork")  # lanes share the tests; from Python 3.14 on this is not the default


class Test:
    """A function, and the flavour to run it with, if it takes one."""

    def __init__(self, module, name, function, flavour):
        self.module, self.function = module, function
        self.flavour, self.arguments = flavour, {"flavour": flavour} if flavour else {}
        self.name = f"{module.__name__[5:]}.{name[5:]}" + (f"[{flavour}]" if flavour else "")
        self.real_time = getattr(function, "real_time", getattr(module, "REAL_TIME", False))
        self.together = getattr(module, "TOGETHER", False)
        self.early = getattr(module, "EARLY", False)
        self.long = getattr(function, "long", getattr(module, "LONG", False))
        self.simulated = getattr(module, "SIMULATED", False) and not flavour
        self.conditions = getattr(function, "conditions", ())


def collect(only, modules, but):
    """All tests, of some modules or of all but some."""
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        short = os.path.basename(path)[5:-3]
        if modules and short not in modules or short in but:
            continue
        module = importlib.import_module("test_" + short)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("test_") or function.__module__ != module.__name__:
                continue
            names = inspect.signature(function).parameters
            for flavour in harness.FLAVOURS if "flavour" in names else [None]:
                test = Test(module, name, function, flavour)
                if not only or only in test.name:
                    yield test


# ---- one test ----

class Result:
    """Of the test of this name: passed, failed or refused; the words to print; why it was refused."""

    def __init__(self, name, verdict, text, why=""):
        self.name, self.verdict, self.text, self.why = name, verdict, text, why


def computed():
    """CPU time of this process and of those that it has waited for, in seconds."""
    own, others = (resource.getrusage(who) for who in
                   (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def run_test(bench, test):
    start, before = time.monotonic(), computed()
    said, why = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(said):
            test.function(bench, **test.arguments)
        verdict = "passed"
        text = (f"ok    {test.name} ({time.monotonic() - start:.1f} s, "
                f"of CPU {computed() - before:.1f} s)")
    except harness.Refused as reason:
        verdict, why = "refused", str(reason)
        text = f"refused {test.name}: {why}"
    except Exception as error:  # a test's own mistake is a failure too
        why = str(error) if isinstance(error, harness.Failure) else traceback.format_exc()
        verdict = "failed"
        text = f"FAIL  {test.name}\n      " + "\n      ".join(why.split("\n")[:40])
    return Result(test.name, verdict, said.getvalue() + text, why)


# ---- lanes ----

def work(tests, build, shared, pipe):
    """What a lane does: it runs the tests whose numbers come, until None comes."""
    bench = harness.Harness(build, shared)
    try:
        for number in iter(pipe.recv, None):
            pipe.send(run_test(bench, tests[number]))
    finally:
        bench.close()


class Lane:
    """A process, and the numbers of the tests that it is to run, the first of which it runs."""

    def __init__(self, *arguments):
        self.todo, self.arguments = [], arguments
        self.begin()

    def begin(self):
        self.pipe, other = multiprocessing.Pipe()
        self.process = FORKING.Process(target=work, args=(*self.arguments, other))
        self.process.start()
        other.close()

    def give(self, todo):
        self.todo = todo
        if todo:
            self.pipe.send(todo[0])

    def result(self):
        """Of the test that has ended, or with which the process has."""
        try:
            result = self.pipe.recv()
        except (EOFError, OSError):
            result = None
        if not result:
            self.process.join()
            name = self.arguments[0][self.todo[0]].name
            result = Result(name, "failed", f"FAIL  {name}\n      its process died "
                                      f"({self.process.exitcode})")
            self.begin()
        self.give(self.todo[1:])
        return result

    def end(self):
        with contextlib.suppress(OSError):  # it may have been interrupted, too
            self.pipe.send(None)
        self.process.join()


def simulated(tests, unit):
    """Whether nothing in a list of numbers runs ranks of a real MPI."""
    return all(tests[number].simulated for number in unit)


def split(tests):
    """Numbers of tests, in lists that one lane is to run: of tests in real time, and of others,
    simulated ones first, and then those that take long."""
    real_time, others, together = [], [], {}
    for number, test in enumerate(tests):
        if test.real_time:
            real_time.append([number])
        elif test.module in together:
            together[test.module].append(number)
        else:
            others.append([number])
            if test.together:
                together[test.module] = others[-1]
    return real_time, sorted(others, key=lambda unit: (not simulated(tests, unit),
                                                       not tests[unit[0]].early))


def run_all(tests, lanes):
    """Results in the order in which the tests end."""
    real_time, others = split(tests)
    first = lanes[0]
    while True:
        if real_time and not first.todo:
            first.give(real_time.pop(0))
            open_lanes = lanes[:2]
        elif not first.todo:
            open_lanes = lanes
        for lane in open_lanes:
            if others and not lane.todo and (open_lanes is lanes or simulated(tests, others[0])):
                lane.give(others.pop(0))
        busy = {lane.pipe: lane for lane in lanes if lane.todo}
        if not busy:
            return
        for pipe in multiprocessing.connection.wait(list(busy)):
            yield busy[pipe].result()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--all", action="store_true", help="those that take long, too")
    parser.add_argument("--also", default="", help="those that take long of these modules, too")
    parser.add_argument("--only", default="", help="tests whose name contains this")
    parser.add_argument("--modules", default="", help="tests of these modules: test_NAME.py, ...")
    parser.add_argument("--but", default="", help="not those of these modules")
    parser.add_argument("--lanes", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    tests = list(collect(options.only, options.modules.split(",") if options.modules else [],
                         options.but.split(",")))
    if options.list:
        print("\n".join(test.name for test in tests))
        return 0
    if not tests:
        parser.error("no test has this name, or is in these modules")
    everything, wanted = len(tests), {test.name for test in tests}
    if not (options.all or options.only or options.modules):
        also = options.also.split(",")
        tests = [test for test in tests if not test.long or test.module.__name__[5:] in also]
    results = []
    shared = tempfile.mkdtemp(prefix="refrain-shared-")
    lanes = [Lane(tests, options.build, shared) for _ in range(max(1, options.lanes))]
    try:
        for result in run_all(tests, lanes):
            results.append(result)
            print(result.text, flush=True)
    finally:
        for lane in lanes:
            lane.end()
        shutil.rmtree(shared, ignore_errors=True)
    if len(tests) < everything:
        print(f"{everything - len(tests)} tests that take long were left out; --all runs them, too")
    table = conditions.table(list(collect("", [], [])), results, wanted)
    if table:
        print("What survives:\n" + table)
    counts = collections.Counter(result.verdict for result in results)
    refused = f", {counts['refused']} refused" if counts["refused"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{refused}")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
