#!/usr/bin/env python3
"""Writes tests/ratio/results.csv: what reducing saves and loses, of a few programs and methods.

    tools/ratio.py [--build DIR]

That it is up to date is checked by tests/test_ratio.py. The difference to the file before says what a
change of the code did to sizes and errors.
"""
import argparse
import csv
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import harness  # noqa: E402
import test_ratio  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    bench = harness.Harness(parser.parse_args().build)
    try:
        found = test_ratio.rows(bench)
    except harness.Failure as failure:
        sys.exit(f"ratio.py: {failure}")
    finally:
        bench.close()
    with open(test_ratio.RESULTS, "w", encoding="ascii", newline="") as file:
        table = csv.DictWriter(file, test_ratio.COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
