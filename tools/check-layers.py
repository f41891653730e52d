#!/usr/bin/env python3
"""Fails when an include or a link breaks the layering that the tables in src/README.md state.

    tools/check-layers.py [--build DIR]

The first table says which stages a stage may use; the second one lists the folders inside a stage, in
order: a folder uses those before it, never one behind it ("." is the stage's own folder). So no two
folders depend on each other both ways.

Includes are read from the sources, links from the objects in DIR/obj, by nm. A stage may call public
functions (include/refrain) of every stage before it. Tests and fuzzers (x_test.c,
x_fuzz.c) keep to the first table only, and alone may include tests/support. The record stage includes
mpi.h in its generated table only, replay, calibrate and gather in their files mpi_*. An include without a folder is an
error.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Of the C library, which the recorder defines for the program alone.
FOR_THE_PROGRAM = ("dlsym",)


class Layers:
    """stages: stage -> the stages that it may use. folders: stage -> its folders, in order."""

    def __init__(self, text):
        self.stages, self.folders = {}, {}
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("|") and len(cells) == 3 and cells[0].isalpha() and cells[0] != "folder":
                self.stages[cells[0]] = set(cells[2].split()) | {cells[0]}
            elif line.startswith("|") and len(cells) == 2 and cells[0] in self.stages:
                self.folders[cells[0]] = cells[1].split()

    def is_behind(self, user, used):
        """Whether the used file's stage comes after the user's: it may use that one itself."""
        return place_of(user)[0] in self.stages[place_of(used)[0]]

    def fault(self, user, used, is_test=False):
        """Why one place, (stage, folder), may not use another one, or None."""
        (stage, folder), (other, inside) = user, used
        if stage not in self.stages or other not in self.stages:
            return f"there is no stage {stage if other in self.stages else other} in the table"
        if other not in self.stages[stage]:
            return f"{stage} may not use {other}"
        if stage != other or is_test or folder == inside:
            return None
        order = self.folders.get(stage, ["."])
        for name in (folder, inside):
            if name not in order:
                return f"there is no folder {stage}/{name} in the table"
        if order.index(inside) > order.index(folder):
            return f"{stage}/{folder} may not use {stage}/{inside}"
        return None


def place_of(path):
    """(stage, folder) of a path below src, or of an include."""
    parts = pathlib.PurePath(path).parts
    return parts[0], parts[1] if len(parts) > 2 else "."


# ---- includes ----

def fault_of_include(layers, path, quote, name):
    user, is_test = place_of(path), path.name.endswith(("_test.c", "_fuzz.c"))
    if name == "mpi.h":
        if user[0] == "record" and is_test or user[0] in ("replay", "calibrate", "gather") and path.name.startswith("mpi_"):
            return None
        return "mpi.h is included by record/mpi_table.gen.h, and by mpi_* of replay, calibrate and gather, only"
    if quote == "<" or name.startswith("refrain/"):
        return None
    if "/" not in name:
        return "headers are included by folder"
    if name.startswith("support/"):
        return None if is_test else "only tests may include tests/support"
    if name.endswith(".gen.h"):
        return layers.fault(user, (place_of(name)[0], user[1]), is_test)
    return layers.fault(user, place_of(name), is_test)


def check_includes(layers):
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            why = match and fault_of_include(layers, path.relative_to(ROOT / "src"), *match.groups())
            if why:
                yield f"{path.relative_to(ROOT)}:{number}: {match.group(2)}: {why}"
    for path in sorted(ROOT.glob("include/refrain/*.h")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match and match.group(1) == '"' and not match.group(2).startswith("refrain/"):
                yield f"{path.relative_to(ROOT)}:{number}: {match.group(2)}: not a public header"


# ---- links ----

class Objects:
    """What the objects below a folder define and use: of the library and the tool, or of a recorder."""

    def __init__(self, top, paths):
        self.defined, self.used = {}, []
        output = subprocess.run(["nm", "-A", "-g", *map(str, paths)], stdout=subprocess.PIPE, text=True,
                                check=True).stdout
        for line in output.splitlines():
            name, _, rest = line.partition(":")
            kind, symbol = rest.split()[-2:]
            path = pathlib.PurePath(name).relative_to(top)
            source = pathlib.PurePath(path.parts[0].partition("-")[0], *path.parts[1:])
            if symbol in FOR_THE_PROGRAM:
                continue
            if kind in "Uw":
                self.used.append((source, symbol))
            else:
                self.defined[symbol] = source


def check_links(layers, build):
    """Each recorder is looked at with the library, as each defines the same symbols."""
    top = build / "obj"
    common = [path for path in top.rglob("*.o") if "-" not in path.relative_to(top).parts[0]
              and (ROOT / "src" / path.relative_to(top)).with_suffix(".c").exists()]
    if not common:
        yield f"{top}: no objects: run make first"
        return
    groups = [[*common, *path.rglob("*.o")] for path in sorted(top.glob("record-*"))] or [common]
    faults = set()
    for paths in groups:
        objects = Objects(top, paths)
        for user, symbol in objects.used:
            used = objects.defined.get(symbol)
            if used is None or used.name.endswith(".gen.o") or user.name.endswith(".gen.o"):
                continue
            why = layers.fault(place_of(user), place_of(used))
            if why and (place_of(user)[0] == place_of(used)[0] or layers.is_behind(user, used)):
                faults.add(f"{user.with_suffix('.c')}: calls {symbol} of {used.with_suffix('.c')}: {why}")
    yield from sorted(faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=lambda name: pathlib.Path(name).resolve(), help="look at its objects, too")
    build = parser.parse_args().build
    layers = Layers((ROOT / "src/README.md").read_text())
    faults = [*check_includes(layers), *(check_links(layers, build) if build else ())]
    print("\n".join(faults) if faults else "Layers are kept.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
