"""What the recorder does when a program is awkward: it never breaks, hangs or changes it."""
import os
import signal

import conditions
import harness

RANKS = 3
WANTED_EXIT = 5  # of programs/awkward.c


def run_awkward(bench, flavour, what, ranks=RANKS, time="full"):
    """Records the program; its exit code must be its own. Returns (what was said, archive)."""
    program = bench.program("awkward", flavour)
    archive = bench.path(f"awkward-{flavour}-{what}.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "record", f"--time={time}",
                     "-o", archive, program, what], timeout=100)
    harness.compare(f"exit code of {what}", run.code, WANTED_EXIT)
    return [line for line in run.err.split("\n") if line.startswith("refrain:")], archive


def check_recorded(bench, flavour, what, extra=()):
    """The archive is whole and has the ring; extra: functions that must be there, too."""
    said, archive = run_awkward(bench, flavour, what)
    bench.verb("verify", archive)
    calls = harness.count_calls(bench.dump(archive))
    ring = {"MPI_Init_thread": RANKS, "MPI_Sendrecv": 100 * RANKS, "MPI_Finalize": RANKS}
    for function, count in {**ring, **dict(extra)}.items():
        harness.compare(f"{what}: calls of {function}", calls.get(function), count)
    return said, archive


def check_refused(bench, flavour, what, reason, time="full", ranks=RANKS):
    """No archive, and one line on why."""
    said, archive = run_awkward(bench, flavour, what, ranks, time)
    harness.compare(f"{what}: an archive exists", os.path.exists(archive), False)
    final = [line for line in said if "no archive was written" in line]
    harness.compare(f"{what}: lines that say so", len(final), 1)
    if reason not in final[0]:
        raise harness.Failure(f"{what}: '{reason}' is not in '{final[0]}'")


def test_end_is_a_barrier(bench, flavour):
    """MPI_Finalize ends on no rank before the last one has come."""
    program = bench.program("in_step", flavour)
    for options in ([], ["--volume=cpu"]):
        _, archive = bench.record(flavour, RANKS, [program, "300"], options)
        ends = [event for event in bench.dump(archive) if event["function"] == "MPI_Finalize"]
        waits = [int(event["exit_ns"]) - int(event["enter_ns"]) for event in ends]
        harness.compare("ranks", len(ends), RANKS)
        if min(waits[:-1]) < 200_000_000:
            raise harness.Failure(f"ranks wait for the last one, ns: {waits}")


def test_standard_descriptors_closed(bench, flavour):
    check_recorded(bench, flavour, "closed")


def test_nobody_reads_standard_error(bench, flavour):
    check_recorded(bench, flavour, "pipe")


def test_child_ends_by_itself(bench, flavour):
    said, _ = check_recorded(bench, flavour, "fork")
    harness.compare("lines said", len(said), 1)


def test_program_moves_away(bench, flavour):
    _, archive = check_recorded(bench, flavour, "moved")
    harness.compare("mode", os.stat(archive).st_mode & 0o777, 0o600)


def test_callback_inside_finalize(bench, flavour):
    check_recorded(bench, flavour, "callback")


def test_calls_after_finalize(bench, flavour):
    check_recorded(bench, flavour, "late")


def test_calls_during_finalize(bench, flavour):
    check_recorded(bench, flavour, "asking")


def test_other_thread_finalizes(bench, flavour):
    said, archive = run_awkward(bench, flavour, "thread")
    harness.compare("lines said", len(said), 1)
    threads = {}
    for event in bench.dump(archive):
        if event["function"] == "MPI_Sendrecv":
            key = int(event["rank"]), int(event["thread"])
            threads[key] = threads.get(key, 0) + 1
    harness.compare("messages", threads, {(rank, thread): 100 for rank in range(RANKS)
                                          for thread in range(2)})


def test_call_left_by_jump(bench, flavour):
    said, archive = check_recorded(bench, flavour, "jump", {"MPI_Send": 1})
    harness.compare("lines said", len(said), 1)
    left = [event["rank"] for event in bench.dump(archive) if "error=left" in event["parameters"]]
    harness.compare("ranks of the call that was left", left, ["1"])


def test_call_in_signal_handler(bench, flavour):
    program = bench.compiled(f"handler.{flavour}", [harness.FLAVOURS[flavour].mpicc, "-g", "-w", "-fno-builtin-malloc",
                                                    os.path.join(harness.PROGRAMS, "handler.c")])
    run, archive = bench.record(flavour, 1, [program])
    harness.compare("output", run.out.splitlines(), ["1 calls in handlers"])
    calls = harness.count_calls(bench.dump(archive))
    harness.compare("calls", (calls["MPI_Send"], calls.get("MPI_Initialized")), (1, None))


@harness.condition("an error handler that jumps out of an MPI call", conditions.WHOLE)
def test_calls_left(bench, flavour):
    """Calls that are left through an error handler (programs/left_calls.cpp) are there, and all that follows."""
    rounds, ranks, waits = 20, 2, int(flavour != "openmpi")
    program = bench.compiled(f"left_calls.{flavour}", [
        f"mpicxx.{flavour}", "-std=gnu++17", "-O1", "-g", "-w",
        "-DOMPI_SKIP_MPICXX", os.path.join(harness.PROGRAMS, "left_calls.cpp")])
    for how in ("throw", "jump"):
        run, archive = bench.record(flavour, ranks, [program, how])
        harness.compare(f"{how}: output", run.out, f"{(1 + waits) * rounds} caught\n")
        bench.verb("verify", archive)
        events = bench.dump(archive)
        counts = harness.count_calls(events)
        left = [event for event in events if event["parameters"].endswith(" error=left")]
        for function, count, of_them in (("MPI_Send", 1, 1), ("MPI_Waitall", waits, waits), ("MPI_Isend", waits, 0),
                                         ("MPI_Barrier", 2, 0)):
            harness.compare(f"{how}: calls of {function}", counts.get(function, 0), rounds * ranks * count)
            harness.compare(f"{how}: of them left", sum(event["function"] == function for event in left),
                            rounds * ranks * of_them)
        harness.compare(f"{how}: time in them", sum(int(e["exit_ns"]) - int(e["enter_ns"]) for e in left), 0)
        done = [e for e in left if "completed=[0(error=left),1(error=left)]" in e["parameters"]]
        harness.compare(f"{how}: requests that failed", len(done), rounds * ranks * waits)
        deep = [e["call_path"].count("meet_deeper") for e in events if e["function"] == "MPI_Barrier"]
        harness.compare(f"{how}: paths of barriers", sorted(deep), [0] * rounds * ranks + [6] * rounds * ranks)
        handled = [e for e in events if e["function"] == "MPI_Comm_call_errhandler"]
        harness.compare(f"{how}: not left", ["error" in e["parameters"].replace("errorcode", "") for e in handled],
                        [False] * ranks)
        harness.compare(f"{how}: called on another stack", counts.get("MPI_Initialized"), None)


def run_differently(bench, flavour, what, first, others, env=None):
    """Rank 0 is recorded with some options, or words before the command, and ranks 1 and 2 with others."""
    program, archive = bench.program("awkward", flavour), bench.fresh("different.rfn")
    parts = [[*before, bench.refrain, "record", "-o", archive, *options, program, what]
             for before, options in (first, others)]
    run = bench.run([*harness.FLAVOURS[flavour].launch(1), *parts[0], ":", "-n", "2", *parts[1]],
                    timeout=60, env=env)
    harness.compare(f"exit code of {what}, {first}, {others}", run.code, WANTED_EXIT)
    return run.err, archive


def test_other_options_and_a_failure(bench, flavour):
    """What is recorded on rank 0 only, or not there, makes no rank wait for another that has failed."""
    plain, full = ([], ["--time=reduced"]), ([], ["--time=full"])
    for first, others in ((plain, full), (full, plain)):
        said, archive = run_differently(bench, flavour, "memory", first, others)
        harness.compare(f"{first}, {others}: an archive exists", os.path.exists(archive), False)
        if "rank 1: recording stopped: out of memory" not in said:
            raise harness.Failure(said)


def test_volumes_of_some_ranks(bench, flavour):
    """What rank 0 does not record is left out."""
    for first, others in ((([], []), ([], ["--volume=cpu"])), (([], ["--volume=cpu"]), ([], []))):
        first, others = ((before, ["--time=full", *options]) for before, options in (first, others))
        said, archive = run_differently(bench, flavour, "none", first, others)
        harness.compare("it is said", said.count("recorded the volume cpu, and rank 0 did not: it is left out"),
                        2 * (others[1][-1] == "--volume=cpu"))
        bench.verb("verify", archive)


def test_end_by_another_clock(bench):
    """MPI_Finalize ends by the clock that times are taken of. (MPICH has none before MPI_Init.)"""
    _, archive = bench.record("openmpi", RANKS, [bench.program("ring", "openmpi"), "5", "0"],
                              env={"REFRAIN_CLOCK": "mpi"})
    bench.verb("verify", archive)
    took = [int(event["exit_ns"]) - int(event["enter_ns"]) for event in bench.dump(archive)
            if event["function"] == "MPI_Finalize"]
    if max(took) > 20_000_000_000 or min(took) < 0:
        raise harness.Failure(f"MPI_Finalize took, ns: {took}")


def test_written_as_rank_0_says(bench, flavour):
    plain, unwritten = ([], []), (["env", "REFRAIN_WRITE=no"], [])
    for first, others in ((plain, unwritten), (unwritten, plain)):
        said, archive = run_differently(bench, flavour, "none", first, others)
        harness.compare(f"{first}: an archive exists", os.path.exists(archive), first == plain)
        harness.compare(f"{first}: nothing was written", "nothing was written" in said,
                        first == unwritten)
        if first == plain:
            bench.verb("verify", archive)


def test_times_of_some_ranks(bench, flavour):
    """Ranks that record no times take part when clocks are compared, or nobody does. An archive has times of
    all ranks or of none, and reduced ones only if rank 0 reduces: else there is none, and it is said why."""
    full, none, reduced = ([], ["--time=full"]), ([], ["--time=none"]), ([], ["--time=reduced"])
    for first, others, reason in ((full, reduced, "rank 1: recorded without --time=full, and rank 0 with it"),
                                  (full, none, "rank 1: recorded without times (--time), and rank 0 with"),
                                  (none, full, "rank 1: recorded with times (--time), and rank 0 without")):
        said, archive = run_differently(bench, flavour, "none", first, others,
                                        {"REFRAIN_CLOCK_SYNC": "always"})
        harness.compare(f"{first}: an archive exists", os.path.exists(archive), False)
        if f"no archive was written: {reason}" not in said:
            raise harness.Failure(said)


@harness.condition("MPI_Finalize with messages pending", conditions.WHOLE)
def test_left_under_way(bench, flavour):
    """While a rank waits for others MPI makes progress in it, also if there is a message that nobody receives."""
    bench.record(flavour, 4, [bench.program("left_under_way", flavour)], timeout=20)


def gather(bench, flavour, *words):
    """Rank 0 writes for all while a rank has no memory (programs/scarce.c). Whether it says that there is no
    archive, which then is not there."""
    program, archive = bench.program("scarce", flavour), bench.fresh("scarce.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(3), bench.refrain, "record", "-o", archive,
                     "--time=full", program, *words], timeout=60, check=True)
    refused = "no archive was written" in run.err
    harness.compare(f"{words}: an archive exists", os.path.exists(archive), not refused)
    if not refused:
        bench.verb("verify", archive)
        harness.compare(f"{words}: calls",
                        harness.count_calls(bench.dump(archive))["MPI_Sendrecv"], 20000)
    return refused


def test_gathering_without_memory(bench, flavour):
    """Rank 0 cannot take what it is sent. Rank 1 lacks memory for the first, second or third buffer after it
    has seen that its archive cannot be opened: nobody waits for it."""
    harness.compare("rank 0: refused", gather(bench, flavour, "0", "20000", "1"), True)
    refused = [gather(bench, flavour, "1", "1", number) for number in ("1", "3")]
    harness.compare("rank 1: refused", refused, [True, False])


@harness.condition("RLIMIT_AS", conditions.NO_ARCHIVE)
def test_no_memory_on_one_rank(bench, flavour):
    check_refused(bench, flavour, "memory", "rank 1: recording stopped: out of memory")


@harness.condition("RLIMIT_FSIZE", conditions.NO_ARCHIVE)
def test_file_too_large(bench, flavour):
    for time in ("full", "none"):
        check_refused(bench, flavour, "limit", "File too large", time)
        check_refused(bench, flavour, "none_allowed", "File too large", time)


@harness.condition("RLIMIT_NOFILE", conditions.NO_ARCHIVE)
def test_no_descriptors(bench, flavour):
    check_refused(bench, flavour, "descriptors", "Too many open files")


def test_ranks_that_cannot_open_the_file(bench, flavour):
    _, shared = check_recorded(bench, flavour, "late")
    _, gathered = check_recorded(bench, flavour, "gathered")
    harness.compare("events", harness.count_calls(bench.dump(gathered)),
                    harness.count_calls(bench.dump(shared)))


def test_no_communicators(bench):
    # Only MPICH has so few (some 2000) that a program uses them up.
    check_refused(bench, "mpich", "communicators", "no communicator left", ranks=1)


def test_output_is_a_folder(bench, flavour):
    folder = bench.path(f"folder-{flavour}")
    os.mkdir(folder)
    program = bench.program("awkward", flavour)
    env = {"REFRAIN_OUTPUT": folder,
           "LD_PRELOAD": os.path.join(bench.build, "lib", f"librefrain-{flavour}.so")}
    run = bench.run([*harness.FLAVOURS[flavour].launch(2), "env", *[f"{k}={v}" for k, v in
                     env.items()], program, "none"])
    harness.compare("exit code", run.code, WANTED_EXIT)
    if f"{folder} is a directory" not in run.err:
        raise harness.Failure(run.err)
    harness.compare("left behind", os.listdir(folder), [])


def has_nameless_files(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


@harness.condition("SIGKILL while the archive is written", "no part of an archive under its name, and an older one stays")
def test_killed_while_saving(bench, flavour):
    """No file with the archive's name is there before it is whole, nor is an older one gone."""
    program = bench.program("killed_saving", flavour, ("-rdynamic",))
    for how, old in (("abort", "x.rank0.rfn"), ("finalize", "x.rfn")):
        for options, files in (((), []), (("--force",), [old])):
            folder = bench.fresh("killed")
            os.mkdir(folder)
            for name in files:
                with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                    file.write("older")
            run = bench.run([bench.refrain, "record", "-o", "x.rfn", *options, program, how], cwd=folder)
            harness.compare(f"{how}: exit", run.code, -signal.SIGKILL)
            left = sorted(os.listdir(folder))
            parts = [name for name in left if name.endswith(".part")]
            expected = how == "finalize" or not has_nameless_files(folder)
            harness.compare(f"{how}, {options}: files", [name for name in left if name not in parts], files)
            harness.compare(f"{how}, {options}: parts", len(parts), expected)
            for name in files:
                harness.compare("older file", os.path.getsize(os.path.join(folder, name)), 5)


def test_traps_in_floating_point(bench, flavour):
    """The program's are not the recorder's, at the start, at the end, and where times are reduced meanwhile."""
    program = bench.program("traps", flavour)
    mask = {"openmpi": "3d", "mpich": "1d"}[flavour]  # MPICH's results are inexact
    for options in ([], ["--time=reduced", "--memory=1M"], ["--merge-interval=2"]):
        run, archive = bench.record(flavour, 2, [program, mask], options)
        harness.compare(f"{options}: output", run.out, "")
        harness.compare("calls", harness.count_calls(bench.dump(archive))["MPI_Comm_rank"], 40000)


def test_linked_instead_of_preloaded(bench, flavour):
    folder = os.path.join(bench.build, "lib")
    program = bench.program("awkward", flavour, ("-L" + folder, "-Wl,-rpath," + folder,
                                                 f"-lrefrain-{flavour}"))
    archive = bench.path(f"linked-{flavour}.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(2), "env", f"REFRAIN_OUTPUT={archive}",
                     program, "late"])
    harness.compare("exit code", run.code, WANTED_EXIT)
    bench.verb("verify", archive)
    calls = harness.count_calls(bench.dump(archive))
    harness.compare("messages", calls["MPI_Sendrecv"], 200)
