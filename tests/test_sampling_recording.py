"""Messages sampled while a program runs: beside a trace of the same run, each sample is what the trace says of that
message, and no message is missing or extra; the program does what it does without."""
import csv
import io
import json
import os

import harness
import test_events

# What both ways of sampling say of a message.
COLUMNS = ("channel", "position", "source", "destination", "send_path", "receive_path", "bytes", "sent_ns", "posted_ns",
           "entered_ns", "received_ns", "weight")


def rows(text):
    return sorted(tuple(row[column] for column in COLUMNS) for row in csv.DictReader(io.StringIO(text)))


def sampling(bench, archive):
    return json.loads(bench.verb("report", "--json", archive))["sampling"]


def compare_samples(bench, archive, strategy):
    """(recorded samples, what the report says of sampling)."""
    recorded = rows(bench.verb("report", "--csv=samples", archive))
    taken = rows(bench.verb("sample", "--sample", strategy, "--analysis=write", "--csv=samples", archive))
    harness.compare("only in the recording", sorted(set(recorded) - set(taken))[:5], [])
    harness.compare("only in the trace", sorted(set(taken) - set(recorded))[:5], [])
    harness.compare("samples", len(recorded), len(taken))
    said = sampling(bench, archive)
    harness.compare("dropped", sum(said["dropped"].values()), 0)
    return recorded, said


def check(bench, flavour, name, ranks, strategy, arguments=()):
    program = bench.program(name, flavour)
    _, archive = bench.record(flavour, ranks, [program, *arguments],
                              [f"--sample={strategy}", "--with-trace", "--sample-analysis=write"])
    bench.verb("verify", archive)
    return compare_samples(bench, archive, strategy)
