"""Programs that say themselves what is to be found (programs/expect.h)."""
import glob
import os
import re

import harness

# Every program in programs/ that includes expect.h; its first comment says "ranks: N".


def programs():
    for path in sorted(glob.glob(os.path.join(harness.PROGRAMS, "*.c"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        ranks = re.search(r"ranks: (\d+)", text)
        if '#include "expect.h"' in text and ranks:
            yield os.path.basename(path)[:-2], int(ranks.group(1))


def logs_of(log):
    """(rank, thread) -> lines, of all logs that a run has left."""
    logs = {}
    for path in glob.glob(glob.escape(log) + ".*"):
        numbers = path[len(log) + 1:].split(".")
        with open(path, encoding="utf-8") as file:
            logs[int(numbers[0]), int(numbers[1]) if numbers[1:] else 0] = file.read().splitlines()
    return logs


def compare_logs(log, ranks, events):
    names = {}
    logs = logs_of(log)
    harness.compare("ranks with a log", sorted({rank for rank, _ in logs}), list(range(ranks)))
    streams = {}
    for event in events:
        streams.setdefault((int(event["rank"]), int(event["thread"])), []).append(event)
    harness.compare("threads with events", sorted(streams), sorted(logs))
    for (rank, thread), lines in sorted(logs.items()):
        harness.compare_log(f"rank {rank} thread {thread}", lines, streams[rank, thread], names)


def check_program(bench, flavour, name, ranks, options=()):
    program = bench.program(name, flavour)
    log = bench.path(f"{name}.{flavour}{''.join(options)}.log")
    _, archive = bench.record(flavour, ranks, [program], options, env={"EXPECT_OUT": log})
    bench.verb("verify", archive)
    compare_logs(log, ranks, bench.dump(archive))


def make_test(name, ranks):
    def test(bench, flavour):
        check_program(bench, flavour, name, ranks)
    return test


for _name, _ranks in programs():
    globals()[f"test_{_name}"] = make_test(_name, _ranks)


def test_parameters_without_times(bench, flavour):
    check_program(bench, flavour, "completions", 2, ["--time=none"])


def test_every_poll(bench, flavour):
    """--polls=all: each unsuccessful poll is a line; their sum is what the program counted."""
    program = bench.program("polls", flavour)
    log = bench.path(f"polls.{flavour}.all.log")
    _, archive = bench.record(flavour, 2, [program], ["--polls=all"], env={"EXPECT_OUT": log})
    bench.verb("verify", archive)
    events = bench.dump(archive)
    expected = 0
    for lines in logs_of(log).values():
        for line in lines:
            polls = re.search(r" polls=(\d+)", line)
            expected += int(polls.group(1)) if polls else 1
    harness.compare("lines", len(events), expected)
    harness.compare("calls", sum(harness.polls(e) for e in events), expected)
