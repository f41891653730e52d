"""make bench, part formats: how fast archives are written in other formats, and how large they are then.

The archive is a ring (ring_archive.c) on 64 ranks with 4 million calls whose times all differ.
"""
import json
import os
import statistics
import subprocess
import tempfile
import time

FORMATS = {"otf2": "out", "perfetto": "out.pftrace", "paraver": "out.prv", "csv": "out", "goal": "out.goal"}


def bytes_below(path):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def convert(refrain, archive, name):
    """(seconds, bytes of the result). Prints the error and returns None where it fails."""
    with tempfile.TemporaryDirectory(prefix="refrain-bench-") as folder:
        began = time.monotonic()
        done = subprocess.run([refrain, "convert", "--to", name, archive, "-o", os.path.join(folder, FORMATS[name])],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr, end="")
        return (time.monotonic() - began, bytes_below(folder)) if done.returncode == 0 else None


def run(build):
    ring, refrain = os.path.join(build, "bench", "ring_archive"), os.path.join(build, "refrain")
    print("\nOther formats (3 conversions each; medians)\n")
    with tempfile.TemporaryDirectory(prefix="refrain-bench-") as folder:
        archive = os.path.join(folder, "full.rfn")
        subprocess.run([ring, "64", "57000", archive], check=True)
        calls = json.loads(subprocess.run([refrain, "info", "--json", archive], capture_output=True, check=True).stdout)["events"]
        print(f"{calls:,} calls\n")
        print("| format | size | time | million calls per second |")
        print("|---|---|---|---|")
        for name in FORMATS:
            first = convert(refrain, archive, name)
            if not first:
                continue
            found = [first, convert(refrain, archive, name), convert(refrain, archive, name)]
            took = statistics.median(seconds for seconds, _ in found)
            print(f"| {name} | {found[0][1] / 1e6:,.0f} MB | {took:.1f} s | {calls / took / 1e6:.1f} |", flush=True)
