#!/usr/bin/env python3
"""Fails when an include breaks the layering that the table in src/README.md states.

A folder may include its own headers, the public ones and those of the folders in the table's last
column; record may include mpi.h, and only in its generated table, and replay, in files mpi_*. Tests and fuzzers
(x_test.c, x_fuzz.c) keep to the same rules, but a test may include what any folder has made up for
tests (fake_*.h). Includes of folders that do not exist, and headers
included without their folder, are errors as well.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_table():
    """The rows of the table in src/README.md: folder -> set of folders it may include."""
    allowed = {}
    for line in (ROOT / "src/README.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and cells[0].isalpha() and cells[0] != "folder":
            allowed[cells[0]] = set(cells[2].split()) | {cells[0]}
    return allowed


def fault(folder, path, quote, name, allowed):
    """Why the include is wrong, or None."""
    if name == "mpi.h":
        if folder == "record" and path.name.endswith("_test.c"):
            return None  # a test in record/ may be an MPI program
        if folder == "replay" and path.name.startswith("mpi_"):
            return None
        return "mpi.h is included by record/mpi_table.gen.h and replay/mpi_* only"
    if quote == "<":
        return None
    target, slash, _ = name.partition("/")
    if not slash:
        return "headers are included by folder"
    if target == "refrain":
        return None
    if path.name.endswith("_test.c") and name.startswith(f"{target}/fake_"):
        return None
    if target not in allowed:
        return f"there is no folder {target} in the table"
    if target not in allowed[folder]:
        return f"{folder} may not include {target}"
    return None


def check(path, folder, allowed):
    faults = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        why = match and fault(folder, path, match.group(1), match.group(2), allowed)
        if why:
            faults.append(f"{path.relative_to(ROOT)}:{number}: {match.group(2)}: {why}")
    return faults


def main():
    allowed = read_table()
    faults = []
    for path in sorted(ROOT.glob("src/*/*.[ch]")):
        folder = path.parent.name
        if folder not in allowed:
            faults.append(f"{path.relative_to(ROOT)}: {folder} is missing in src/README.md")
            continue
        faults += check(path, folder, allowed)
    for path in sorted(ROOT.glob("include/refrain/*.h")):
        faults += check(path, "cli", allowed)  # public headers include public headers only
    for text in faults:
        print(text)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
