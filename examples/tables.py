"""Prints where a run waits, by the module for Python:

    python3 tables.py ARCHIVE
"""
import sys

import refrain

with refrain.open(sys.argv[1]) as run:
    print(f"{run.program} on {run.ranks} ranks")
    for row in run.per_rank().rows():
        print(f"rank {row['rank']}: {row['mpi_ns'] / 1e9:.3f} s in MPI, {row['waiting_ns'] / 1e9:.3f} s waiting")
    for row in list(run.waits().rows())[:3]:
        print(f"{row['pattern']} in {row['function']}: {row['total_ns'] / 1e9:.3f} s, {row['count']} times")
    sent = sum(run.messages(columns=["bytes"])["bytes"])
    events = run.events(ranks=0, columns=["function", "inside_ns"])
    longest = max(zip(events["inside_ns"], events.decoded("function")))
    print(f"{sent} bytes in messages; longest call of rank 0: {longest[1]}, {longest[0] / 1e9:.3f} s")
