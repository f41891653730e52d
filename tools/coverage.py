#!/usr/bin/env python3
"""Writes doc/coverage.md: how every MPI function is recorded, and which test programs call it.

    tools/coverage.py            writes it
    tools/coverage.py --check    fails when it is out of date

Three sources are joined: src/record/wrap/mpi.def, the headers of both MPIs, and the text of the programs
in tests/programs.
"""
import difflib
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "src", "record", "wrap"), os.path.join(ROOT, "tests")]
import gen_wrappers  # noqa: E402
import harness  # noqa: E402
import test_events  # noqa: E402

PAGE = os.path.join(ROOT, "doc", "coverage.md")
MPIS = {"mpich": "MPICH", "openmpi": "Open MPI"}
SHOWN = 3  # programs named per function

START = """\
# How is each MPI function recorded?

Look up here which parameters of an MPI function an archive has. `tools/coverage.py` writes the page
from `src/record/wrap/mpi.def`, the headers of MPICH and Open MPI, and the programs in
`tests/programs`; `make check` fails when it is out of date.

Every call is an event with its call path, enter and exit, error class, and the words of the tables
below: *inputs* are known when the call is made, *outcomes* after it. Handles are recorded as
numbers that mean the same on all ranks or in all iterations, counts also as bytes. Analyses treat a
function by its class (`refrain/event.h`). A request that a call makes has no word: it has the next
number.

- *ret*: the call returns a request; *init*: it makes a persistent one; *poll*: unsuccessful calls
  in a row are one event; *coll*: collective; *hand*: the wrapper is written by hand.
- `_c`: there is a large-count form, recorded in the same way.
- *MPI*: M MPICH, O Open MPI, X Open MPI under the name MPIX_, - neither of the installed ones.
- *called by*: test programs. In most of them each call states what the archive must have
  (`tests/programs/expect.h`). Programs marked `_c` in test_events.py also run with the large-count
  forms.

MPI_T, MPI_Wtime and conversions of handles to Fortran and to integers are not recorded.
"""

MARKS = {"nonblocking": "ret", "persistent": "init", "poll": "poll", "collective": "coll"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def calls_of_programs():
    """Function in lower case -> names of the programs that call it."""
    calls = {}
    for folder, _, files in sorted(os.walk(harness.PROGRAMS)):
        for name in sorted(files):
            stem, suffix = os.path.splitext(name)
            if suffix not in (".c", ".h", ".inc", ".F90"):
                continue
            fortran = "fortran/" if folder.endswith("fortran") else ""
            for found in re.findall(r"\bMPI_(\w+)\s*\(|\bMADE\((\w+),",
                                    read(os.path.join(folder, name)), re.I):
                calls.setdefault("".join(found).lower(), set()).add(fortran + stem)
    return calls


def large_calls(calls, large_forms):
    """The same of the large-count forms: called by name, or in a program compiled for them."""
    by_form = {}
    for name in large_forms:
        programs = set(calls.get(f"{name}_c".lower(), ()))
        if name not in test_events.OTHERWISE:
            programs |= calls.get(name.lower(), set()) & set(test_events.LARGE)
        by_form[name] = programs
    return by_form


def sections(text, functions):
    """(heading, functions) in the order of mpi.def."""
    result = []
    for line in text.splitlines():
        heading = re.match(r"# ---- (.*) ----", line)
        word = line.split(" ", 1)[0]
        if heading:
            result.append((heading.group(1), []))
        elif word in functions:
            result[-1][1].append(functions[word])
    return result


def availability(name, headers):
    have = "".join(MPIS[flavour][0] for flavour in MPIS if name in headers[flavour])
    return have + ("X" if f"X:{name}" in headers["openmpi"] else "") or "-"


def programs_text(programs):
    names = sorted(programs, key=lambda name: ("/" in name, name))
    rest = f" +{len(names) - SHOWN}" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + rest if names else "**none**"


def row(function, headers, calls, large):
    name = function.name
    marks = [MARKS[flag] for flag in function.flags] + (["hand"] if function.special else [])
    shown = name + (" `_c`" if name in large else "")
    return (f"| {shown} | {' '.join([function.class_.lower(), *marks])} | "
            f"{gen_wrappers.words_text(gen_wrappers.input_words(function))} | "
            f"{gen_wrappers.words_text(gen_wrappers.outcome_words(function))} | "
            f"{availability(name, headers)} | {programs_text(calls.get(name.lower(), ()))} |")


def wrapped(names):
    lines, line = [], ""
    for name in names:
        if len(line) + len(name) + 2 > 98:
            lines.append(line.rstrip())
            line = ""
        line += name + ", "
    return "\n".join(lines + [line.rstrip(", ")]) + ("." if names else "none.")


def page():
    text = read(os.path.join(ROOT, "src", "record", "wrap", "mpi.def"))
    functions = gen_wrappers.parse_def(text)
    headers = {flavour: gen_wrappers.parse_header(gen_wrappers.preprocess(
        flavour, harness.FLAVOURS[flavour].mpicc)).functions for flavour in MPIS}
    calls = calls_of_programs()
    large_forms = [name for name in functions
                   if name + "_c" in headers["mpich"] and name + "_c" not in functions]
    large = large_calls(calls, large_forms)
    lines = [START]
    for heading, members in sections(text, functions):
        if not members:
            continue
        lines += [f"## {heading[0].upper()}{heading[1:]}", "",
                  "| MPI_ | class | inputs | outcomes | MPI | called by |",
                  "|---|---|---|---|---|---|",
                  *(row(function, headers, calls, large) for function in members), ""]
    there = [name for name in functions if availability(name, headers) != "-"]
    uncalled = [name for name in there if name.lower() not in calls]
    lines += ["## Called by no test program", "",
              f"{len(there) - len(uncalled)} of the {len(there)} functions that an installed MPI has "
              "are called by a test", "program. Not called:", "", wrapped(uncalled), "",
              f"Of {len(large_forms)} large-count forms not called:", "",
              wrapped([f"{name}_c" for name in large_forms if not large[name]])]
    return "\n".join(lines) + "\n"


def main():
    try:
        text = page()
    except gen_wrappers.Failure as failure:
        sys.exit(f"coverage.py: {failure}")
    if sys.argv[1:] != ["--check"]:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    there = read(PAGE) if os.path.exists(PAGE) else ""
    for line in difflib.unified_diff(there.splitlines(), text.splitlines(), "doc/coverage.md",
                                     "as it should be: run tools/coverage.py", n=0, lineterm=""):
        print(line)
    return int(there != text)


if __name__ == "__main__":
    sys.exit(main())
