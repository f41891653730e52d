#!/usr/bin/env python3
"""Writes doc/pathologies.md: programs of known performance, and what `refrain report` finds.

    tools/pathologies.py [--build DIR]

Runs all of them under SMPI, which takes a minute or two. That the page is up to date is checked by
tests/test_pathologies.py.
"""
import argparse
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import harness  # noqa: E402
import pathologies  # noqa: E402
import test_pathologies  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    bench = harness.Harness(parser.parse_args().build)
    try:
        found = [test_pathologies.results(bench, programs)
                 for programs in (pathologies.PROGRAMS, pathologies.LARGE)]
    except harness.Failure as failure:
        sys.exit(f"pathologies.py: {failure}")
    finally:
        bench.close()
    with open(pathologies.PAGE, "w", encoding="utf-8") as file:
        file.write(pathologies.page(*found))
    faults = [f"{result.program.name}: {fault}" for part in found for result in part
              for fault in result.faults()]
    print("\n".join(faults))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
