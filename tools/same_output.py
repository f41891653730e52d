#!/usr/bin/env python3
"""Compares what two builds of Refrain print about the same archives, to the byte.

    tools/same_output.py OLD_TOOL NEW_TOOL [--keep DIR] [--map TEXT=TEXT]... FOLDER_OR_ARCHIVE...

A refactoring must not change what people read. For every archive (*.rfn, also in folders) both tools run
report, report --json, dump, info, info --json and verify; archives with equal names but for a prefix up to the
first "-" are also held against each other by compare. Output, error output and exit status must be the
same. What is meant to differ is named: --map OLD=NEW is applied to what the old tool prints. --keep
stores what the old tool prints, which makes the next comparison quicker. Prints the first differing
line of each, then how many were the same; the exit status is 1 if any differ.
"""

import argparse
import concurrent.futures
import hashlib
import itertools
import pathlib
import pickle
import subprocess
import sys

VERBS = (["report"], ["report", "--json"], ["dump"], ["info"], ["info", "--json"], ["verify"])
SECONDS = 300
MOST_BYTES = 64 << 20  # of a page that is compared; the rest is not looked at


def archives(names):
    for name in map(pathlib.Path, names):
        yield from sorted(name.rglob("*.rfn")) if name.is_dir() else [name]


def commands(paths):
    """Arguments of the tool, for every archive and pair of archives."""
    for path, verb in itertools.product(paths, VERBS):
        yield [*verb, str(path)]
    same_name = {}
    for path in paths:
        same_name.setdefault(path.name.partition("-")[2], []).append(path)
    for group in same_name.values():
        for first, second in zip(group, group[1:]):
            yield ["compare", str(first), str(second)]
            yield ["compare", "--reduction", str(first), str(second)]


def run(tool, arguments):
    process = subprocess.Popen([tool, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "timeout", b"", b""
    return process.returncode, out[:MOST_BYTES], err


def kept(keep, tool, arguments):
    """What the tool prints, from the folder if it is there."""
    if not keep:
        return run(tool, arguments)
    file = keep / hashlib.sha1("\0".join([tool, *arguments]).encode()).hexdigest()
    if file.exists():
        return pickle.loads(file.read_bytes())
    result = run(tool, arguments)
    file.write_bytes(pickle.dumps(result))
    return result


def difference(old, new):
    """The first difference, as text, or None."""
    if old == new:
        return None
    if old[0] != new[0]:
        return f"exit status {old[0]}, now {new[0]}"
    for what, left, right in (("output", old[1], new[1]), ("errors", old[2], new[2])):
        lines = itertools.zip_longest(left.splitlines(), right.splitlines(), fillvalue=b"(nothing)")
        for number, (one, other) in enumerate(lines, 1):
            if one != other:
                return f"{what}, line {number}:\n    - {one[:200].decode(errors='replace')}" \
                       f"\n    + {other[:200].decode(errors='replace')}"
    return "line ends"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--map", action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("archives", nargs="+")
    arguments = parser.parse_args()
    pairs = [text.encode().split(b"=", 1) for text in arguments.map]
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)

    def compare(words):
        old = kept(arguments.keep, arguments.old, words)
        for before, after in pairs:
            old = (old[0], old[1].replace(before, after), old[2].replace(before, after))
        return words, difference(old, run(arguments.new, words))

    todo = list(commands(list(archives(arguments.archives))))
    same = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for words, why in pool.map(compare, todo):
            same += why is None
            if why:
                print(f"refrain {' '.join(words)}: {why}", flush=True)
    print(f"{same} of {len(todo)} the same")
    return 1 if same != len(todo) else 0


if __name__ == "__main__":
    sys.exit(main())
