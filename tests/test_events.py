"""Programs that say themselves what is to be found (programs/expect.h)."""
import glob
import os
import re
import sys

import harness

sys.path.insert(0, os.path.join(os.path.dirname(harness.HERE), "src", "record", "wrap"))
import gen_wrappers  # noqa: E402  (what functions an MPI has)

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


def compare_logs(log, ranks, events, renamed=None):
    """renamed: functions that the program calls by another name than its log says."""
    names, renamed = {}, renamed or {}
    logs = logs_of(log)
    harness.compare("ranks with a log", sorted({rank for rank, _ in logs}), list(range(ranks)))
    streams = {}
    for event in events:
        streams.setdefault((int(event["rank"]), int(event["thread"])), []).append(event)
    harness.compare("threads with events", sorted(streams), sorted(logs))
    for (rank, thread), lines in sorted(logs.items()):
        lines = [" ".join([renamed.get(name, name), *rest])
                 for name, *rest in (line.split(" ") for line in lines)]
        harness.compare_log(f"rank {rank} thread {thread}", lines, streams[rank, thread], names)


def check_program(bench, flavour, name, ranks, options=(), flags=(), renamed=None):
    program = bench.program(name, flavour, flags)
    log = bench.path(f"{os.path.basename(program)}{''.join(options)}.log")
    _, archive = bench.record(flavour, ranks, [program], options, env={"EXPECT_OUT": log})
    bench.verb("verify", archive)
    compare_logs(log, ranks, bench.dump(archive), renamed)


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


# ---- the same with large counts ----

# Programs that use COUNT, PLACE, LENGTH and UNIT of expect.h where it matters.
LARGE = ("collectives", "datatypes", "file_access", "files", "info_and_groups", "matched",
         "one_sided", "persistent", "persistent_collectives", "point_to_point", "questions", "sends",
         "topologies", "windows")
# Functions whose large-count form has other arguments, or another type of callback.
OTHERWISE = ("Op_create", "Register_datarep", "Type_get_contents", "Type_get_envelope")


def large_forms():
    """MPI_Send -> MPI_Send_c, of MPICH's header."""
    text = gen_wrappers.preprocess("mpich", harness.FLAVOURS["mpich"].mpicc)
    functions = gen_wrappers.parse_header(text).functions
    return {f"MPI_{name}": f"MPI_{name}_c" for name in functions
            if name + "_c" in functions and name not in OTHERWISE}


def check_large(bench, name, ranks):
    forms = large_forms()
    header = bench.path("large.h")
    with open(header, "w", encoding="utf-8") as file:
        file.write("#define EXPECT_LARGE\n#include <mpi.h>\n")
        file.writelines(f"#define {small} {large}\n" for small, large in forms.items())
    check_program(bench, "mpich", name, ranks, flags=["-include", header], renamed=forms)


def make_large_test(name, ranks):
    def test(bench):
        check_large(bench, name, ranks)
    return test


for _name, _ranks in programs():
    if _name in LARGE:
        globals()[f"test_large_{_name}"] = make_large_test(_name, _ranks)
