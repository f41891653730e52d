#!/usr/bin/env python3
"""Runs the whole-run tests: real programs under real MPIs, recorded and read back.

    run.py --build DIR [--only WORD] [--modules NAME,...] [--but NAME,...] [--list]

Tests are the functions test_* of the modules tests/test_*.py. A test takes the harness, and a
flavour if it has a parameter of that name (then it is run for each MPI). It returns, or raises.
A test that needs something which is not installed fails. Where the
system refuses what a test needs (harness.Refused), that is told and counted, as neither of both.
"""
import argparse
import glob
import importlib
import inspect
import os
import sys
import time
import traceback

import harness

HERE = os.path.dirname(os.path.abspath(__file__))


def collect(only, modules, but):
    """(name, function, keyword arguments) of all tests, of some modules or of all but some."""
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        short = os.path.basename(path)[5:-3]
        if modules and short not in modules or short in but:
            continue
        module = importlib.import_module("test_" + short)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("test_") or function.__module__ != module.__name__:
                continue
            names = inspect.signature(function).parameters
            flavours = harness.FLAVOURS if "flavour" in names else [None]
            for flavour in flavours:
                full = f"{module.__name__[5:]}.{name[5:]}" + (f"[{flavour}]" if flavour else "")
                if not only or only in full:
                    yield full, function, {"flavour": flavour} if flavour else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--only", default="", help="tests whose name contains this")
    parser.add_argument("--modules", default="", help="tests of these modules: test_NAME.py, ...")
    parser.add_argument("--but", default="", help="not those of these modules")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    tests = list(collect(options.only, options.modules.split(",") if options.modules else [],
                         options.but.split(",")))
    if options.list:
        print("\n".join(name for name, _, _ in tests))
        return 0
    bench = harness.Harness(options.build)
    passed = failed = refused = 0
    for name, function, arguments in tests:
        start = time.monotonic()
        try:
            function(bench, **arguments)
            passed += 1
            print(f"ok    {name} ({time.monotonic() - start:.1f} s)", flush=True)
        except harness.Refused as reason:
            refused += 1
            print(f"refused {name}: {reason}", flush=True)
        except Exception as error:  # a test's own mistake is a failure too
            failed += 1
            text = str(error) if isinstance(error, harness.Failure) else traceback.format_exc()
            print(f"FAIL  {name}\n      " + "\n      ".join(text.split("\n")[:40]), flush=True)
    bench.close()
    print(f"{passed} passed, {failed} failed" + (f", {refused} refused" if refused else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
