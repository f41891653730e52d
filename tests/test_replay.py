"""Replay: what was recorded is issued anew, checks itself, and takes as long.

A replay is recorded in its turn. That record has to have the messages of the first one, byte for
byte, and as many calls of each function that a replay issues.
"""
import collections
import glob
import json
import os
import re
import signal
import struct

import harness
import test_events
import test_smpi

# What stands for what in a replay (doc/replay.md); completions of all kinds count as one.
STANDS_FOR = {
    "MPI_Iprobe": "MPI_Probe", "MPI_Improbe": "MPI_Mprobe", "MPI_Comm_split_type": "MPI_Comm_split",
    "MPI_Rsend": "MPI_Send", "MPI_Irsend": "MPI_Isend", "MPI_Rsend_init": "MPI_Send_init",
    "MPI_Win_create": "MPI_Win_allocate", "MPI_Win_test": "MPI_Win_wait",
    "MPI_Comm_idup_with_info": "MPI_Comm_idup",
}
# Of these a replay makes another number: see doc/replay.md.
OTHER_NUMBER = re.compile(r"MPI_(Wait|Test|Start|Cancel|Request_|Init|Finalize|Parrived)")
ISSUED = re.compile(
    r"MPI_(I?[bsr]?(send|recv)|[BSR]?send|Recv|I?sendrecv|Sendrecv|P(send|recv)|Pready|M?probe|"
    r"Probe|I?m?recv|Mrecv|Mprobe|I?barrier|Barrier|I?bcast|Bcast|I?(all)?gather|(All)?[Gg]ather|"
    r"Allgather|I?scatter|Scatter|I?alltoall|Alltoall|I?(all)?reduce|(All)?[Rr]educe(?!_local)|"
    r"I?(ex)?scan|Scan|Exscan|I?neighbor|Neighbor|Comm_(dup|idup|split|create(?!_keyval|_err)|free(?!_)|"
    r"disconnect|group|remote_group)|Intercomm|Group_(incl|excl|range|union|diff|inter|free)|"
    r"Cart_(create|sub)|Graph_create|Dist_graph_create|Buffer_|Win_(create$|allocate|free$|fence|"
    r"lock|unlock|flush|complete|wait|post|start|test)|Put|Get$|Rput|Rget|R?accumulate|Accumulate|"
    r"Get_accumulate|Fetch_and_op|Compare_and_swap)")


def calls(bench, archive):
    """Calls by rank and function that a replay issues, and those of functions that it skips."""
    counts = collections.Counter()
    for event in bench.dump(archive):
        function = re.sub(r"_c$", "", event["function"])
        function = STANDS_FOR.get(function, function)
        failed_poll = harness.parameter(event, "polls")
        if ISSUED.match(function) and not OTHER_NUMBER.match(function) and not failed_poll:
            counts[event["rank"], function] += 1
    return counts


def matrix(bench, archive):
    """Messages and bytes by pair of ranks."""
    facts = json.loads(bench.verb("report", "--json", archive))
    return facts["communication_matrix"], facts["message_sizes"]


def replay(bench, flavour, ranks, *words, timeout=120):
    return bench.run([*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "replay", *words],
                     timeout=timeout)


def check_replay(bench, flavour, ranks, archive, *words):
    """The facts that a replay prints, and an archive of it that has the same communication."""
    again = bench.fresh("again.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "record", "--force",
                     "-q", "--time=full", "-o", again, bench.refrain, "replay", "--json", *words,
                     archive], check=True)
    facts = json.loads(run.out)
    before, after = calls(bench, archive), calls(bench, again)
    different = {key: (after[key], before[key]) for key in {*before, *after}
                 if before[key] != after[key] and key[1] not in facts["not_replayed"]}
    harness.compare("calls (replayed, recorded)", different, {})
    if not facts["not_replayed"]:
        harness.compare("messages", matrix(bench, again), matrix(bench, archive))
    return facts
