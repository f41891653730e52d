#!/usr/bin/env python3
"""Writes the tables of doc/whatif.md: run times that `refrain whatif` predicts, and what they then are.

    tools/whatif_table.py [--build DIR]

That the page is up to date is checked by tests/test_whatif_truth.py.
"""
import argparse
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import harness  # noqa: E402
import whatif_truth  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    bench = harness.Harness(parser.parse_args().build)
    try:
        whatif_truth.write_page({name: make(bench) for name, make in whatif_truth.TABLES.items()})
    except harness.Failure as failure:
        sys.exit(f"whatif_table.py: {failure}")
    finally:
        bench.close()


if __name__ == "__main__":
    main()
