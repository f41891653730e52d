"""Archives that are written event by event (refrain/writer.h): the copy of a recorded one, made by reading
its events and writing them, says what that says, but for how it is stored."""
import json
import os

import harness
import test_events
import test_install
import test_reader
import test_spawn


def copied(bench, archive):
    """The path of the copy: build/test/writer_test makes it."""
    copier = os.path.join(bench.build, "test", "writer_test")
    if not os.path.exists(copier):
        test_install.make(bench, os.path.relpath(copier, test_install.ROOT))
    out = bench.fresh("copy.rfn")
    bench.run([copier, archive, out], check=True)
    return out


# Of the file itself; and of clocks, which the copy has none of: its times are whole nanoseconds.
STORED = ("file", "bytes", "bytes_per_event", "chunks", "resolution_ns", "clustered_groups", "parameter_bytes",
          "unclustered_parameter_bytes")
# Where threads of a process make communicators, the recorder numbers them as the threads came, and the copy each
# thread's in the order of their use: more threads may be alike then.
ALIKE = ("groups", "group_list", "loops", "nodes", "sub_clusters", "sub_clusters_after_expressions")


def without(value, names):
    """What a verb says to machines, but for these facts, at all depths."""
    if isinstance(value, dict):
        return {name: without(inner, names) for name, inner in value.items() if name not in names}
    return [without(inner, names) for inner in value] if isinstance(value, list) else value


USAGE = ("peak_memory_bytes", "cpu_seconds", "cpu_share", "core_wait_seconds", "core_wait_share", "switches",
         "preemptions")


# A copy has no USAGE: what the recorder did itself counts as computing there, and nobody waits for it.
RECORDING = ("recording_seconds", "outside_seconds", "main_outside_seconds", "efficiency", "verdict", "causes", "stories",
             "critical_path", "behaviour", "by_host", "alike", "waits", "outside", "parallel_efficiency", "load_balance",
             "disturbed", "affinity", "omp_num_threads", "cores", "core_share", "on_core_seconds",
             "runnable_seconds")


def without_work(value):
    """Without what writers do not know: names of the functions that compute, for which they name what calls MPI, what
    processes used, and the advice that follows."""
    if isinstance(value, list):
        return [without_work(part) for part in value]
    if not isinstance(value, dict):
        return value
    left_out = {"text", "advice", *USAGE, *RECORDING} | ({"activity", "function"} if value.get("kind") == "compute" else set())
    return {key: without_work(part) for key, part in value.items() if key not in left_out}


def facts(bench, verb, archive):
    told = without_work(json.loads(bench.verb(verb, "--json", archive)))
    for name in STORED:
        told.pop(name, None)
    for group in told.get("group_list", ()):
        group.pop("bytes")
        group.pop("signature")  # a number of the writer's own
    told.get("group_list", []).sort(key=lambda group: group["members"])  # clusters have an order of their own
    return without(told, ALIKE) if told.get("threads", 1) > told.get("ranks", 1) else told


def check(bench, archive):
    copy = copied(bench, archive)
    bench.verb("verify", copy)
    harness.compare("the same dump", bench.verb("dump", copy) == bench.verb("dump", archive), True)
    for verb in ("info", "report"):
        harness.compare(verb, facts(bench, verb, copy), facts(bench, verb, archive))
    test_reader.compare(bench, copy, "the independent reader")
    return copy


def make_test(name, ranks):
    def test(bench):
        _, archive = bench.record("openmpi", ranks, [bench.program(name, "openmpi")],
                                  env={"EXPECT_OUT": bench.fresh("log")})
        check(bench, archive)
    return test


for _name, _ranks in test_events.programs():
    globals()[f"test_{_name}"] = make_test(_name, _ranks)


def test_options(bench, flavour):
    """A little of everything, without times, with every poll, with volumes."""
    program = bench.program("mixture", flavour)
    for options in (), ["--time=none"], ["--polls=all"], ["--volume=cpu"]:
        _, archive = bench.record(flavour, 2, [program, bench.path("mixture.dat")], options, timeout=60)
        check(bench, archive)


def test_sessions(bench):
    """Without MPI_COMM_WORLD (Open MPI 4 has no sessions)."""
    for how in "overlap", "ask":
        _, archive = bench.record("mpich", 3, [bench.program("sessions", "mpich"), how],
                                  env={"EXPECT_OUT": bench.fresh("log")})
        check(bench, archive)


def test_regions_and_segments(bench):
    for name, ranks in ("regions", 2), ("segments", 4):
        _, archive = bench.record("openmpi", ranks, [bench.program(name, "openmpi")])
        check(bench, archive)


def test_spawned(bench):
    """Inter-communicators of both jobs."""
    case = test_spawn.Case(bench, "copied")
    case.run("one", "./app", archive="x.spawn1.rfn")
    for name in case.archives():
        check(bench, case.path(name))


def test_copy_of_copy(bench):
    """What comes out of a writer is what goes in, to the byte."""
    _, archive = bench.record("openmpi", 4, [bench.program("communicators", "openmpi")],
                              env={"EXPECT_OUT": bench.fresh("log")})
    copies = [check(bench, archive)]
    copies.append(copied(bench, copies[0]))
    contents = []
    for copy in copies:
        with open(copy, "rb") as file:
            contents.append(file.read())
    harness.compare("the same file", contents[0] == contents[1], True)
