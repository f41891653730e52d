"""Runs that do not come to their end, and what refrain recover makes of their journals.

The program keeps a log of its own (programs/logged_rounds.c), which says what each rank has done when it is killed.
"""
import contextlib
import glob
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time

import conditions
import harness
import test_behaviour
import test_events

RANKS = 4
FUNCTIONS = ["MPI_Init", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Sendrecv", "MPI_Barrier", "MPI_Allreduce", "MPI_Isend",
             "MPI_Irecv", "MPI_Waitall", "MPI_Bcast"]
# Parameters of a call that have the log's peer and number.
NAMES = {"MPI_Sendrecv": ("dest", "sendcount"), "MPI_Allreduce": (None, "count"), "MPI_Isend": ("dest", "count"),
         "MPI_Irecv": ("source", "count"), "MPI_Bcast": ("root", "count")}
SOON = {"REFRAIN_JOURNAL_INTERVAL": "100"}  # ms
INCOMPLETE = 3
PROGRAMS = ("logged_rounds", "namesakes")


def log_of(log, rank):
    """(function, peer, number, ms) of the calls that a rank has returned from."""
    with open(f"{log}.{rank}", "rb") as file:
        calls = []
        for function, peer, number, ms in struct.iter_unpack("<IiII", file.read()):
            if not function:
                break
            calls.append((FUNCTIONS[function - 1], peer, number, ms))
    return calls


def compare_rank(rank, calls, events, complete=None):
    """Whether events are the first of the calls of the log; and not more than one further, which had returned from
    MPI but was not yet in the log. Returns how many there are."""
    for i, event in enumerate(events):
        if i >= len(calls):
            # MPI_Finalize is not in the log; the call under way may have returned
            if i == len(calls):
                break
            raise harness.Failure(f"rank {rank}: {len(events)} events, but the program made {len(calls)} calls")
        function, peer, number, _ = calls[i]
        names = NAMES.get(function, (None, None))
        found = (event["function"], *(harness.parameter(event, name) if name else None for name in names))
        wanted = (function, *(str(value) if name else None for name, value in zip(names, (peer, number))))
        if found != wanted:
            raise harness.Failure(f"rank {rank}, call {i}: found {found}, the program made {wanted}")
    if complete is not None:
        harness.compare(f"events of rank {rank}", len(events), complete)
    return len(events)


def events_of(bench, archive):
    run = bench.run([bench.refrain, "dump", archive])
    lines = run.out.split("\n")
    names = lines[0].split("\t")
    ranks = {}
    for line in lines[1:]:
        if line:
            event = dict(zip(names, line.split("\t")))
            ranks.setdefault(int(event["rank"]), []).append(event)
    return ranks


def compare_with_log(bench, archive, log, ranks):
    """Returns by rank how many calls of its log are in the archive."""
    checked = bench.run([bench.refrain, "verify", archive])
    if "recovered" not in checked.err or "wrong" in checked.err:
        raise harness.Failure(f"verify: {checked.out}{checked.err}")
    found = events_of(bench, archive)
    return {rank: compare_rank(rank, log_of(log, rank), events) for rank, events in found.items() if rank < ranks}


def command(bench, flavour, ranks, archive, log, *arguments, options=("--journal",)):
    return [*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "record", "--force", "-o", archive, "--time=full",
            *options, bench.program("logged_rounds", flavour), log, *arguments]


def recover(bench, archive, *options):
    return bench.run([bench.refrain, "recover", "--force", *options, archive + ".journal"])


def has_folder(archive):
    return os.path.isdir(archive + ".journal")


# ---- killed ----

def ranks_of(pid):
    """PIDs of the program's processes, by rank."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                environment = file.read().split(b"\0")
            words = dict(word.split(b"=", 1) for word in environment if b"=" in word)
            with open(os.path.join(os.path.dirname(path), "comm"), encoding="ascii") as file:
                name = file.read().strip()
        except (OSError, UnicodeDecodeError):
            continue
        rank = words.get(b"OMPI_COMM_WORLD_RANK", words.get(b"PMI_RANK"))
        if words.get(b"KILLED_RUN") == str(pid).encode() and rank is not None and name.startswith(PROGRAMS):
            found[int(rank)] = int(path.split("/")[2])
    return found


def kill_all(pids, number=signal.SIGKILL):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


@contextlib.contextmanager
def running(bench, words, log=None, ranks=0, env=None):
    """A job, and the mark by which ranks_of finds its processes; with a log once all ranks keep theirs. It ends with
    SIGKILL to all processes that are left."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    environment = {**os.environ, "UCX_LOG_LEVEL": "fatal", "KILLED_RUN": mark, **(env or {})}
    with subprocess.Popen(words, cwd=bench.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as job:
        try:
            for _ in range(600 if log else 0):
                if len(glob.glob(log + ".*")) == ranks:
                    break
                time.sleep(0.05)
            yield job, mark
        finally:
            kill_all(ranks_of(mark).values())
            if job.poll() is None:
                harness.end_job(job)


def wait_until(condition, seconds=60):
    """Or for so many seconds."""
    limit = time.time() + seconds
    while not condition() and time.time() < limit:
        time.sleep(0.02)


def wait_for_end(mark):
    wait_until(lambda: not ranks_of(mark), 5)


def have_saved(archive, ranks):
    """Whether all ranks have two checkpoints."""
    return all(len(glob.glob(f"{archive}.journal/*.{rank}.checkpoint.?")) == 2 for rank in range(ranks))


def run_and_kill(bench, flavour, ranks, archive, log, seconds, whom, pause="50"):
    """Returns when it was killed, in ms as in logs. seconds: or a function to wait for."""
    words = command(bench, flavour, ranks, archive, log, "100000000", pause)
    with running(bench, words, log, ranks) as (job, mark):
        if callable(seconds):
            wait_until(seconds)
        else:
            time.sleep(seconds)
        pids = ranks_of(mark)
        killed = int(time.time() * 1000) % 2 ** 32
        if whom == "launcher":
            job.kill()
        elif whom == "one":
            kill_all([pids[random.randrange(ranks)]])
        else:
            kill_all(pids.values())
        wait_for_end(mark)
    return killed


def check_moment(bench, flavour, ranks, whom, seconds):
    """Kills a run; returns the seconds before it was killed that are missing most."""
    archive, log = bench.fresh("killed.rfn"), bench.fresh("killed.log")
    killed = run_and_kill(bench, flavour, ranks, archive, log, seconds, whom)
    run = recover(bench, archive)
    if run.code not in (0, INCOMPLETE):
        raise harness.Failure(f"{whom} killed after {seconds:.3f} s: {run.out}{run.err}")
    there = compare_with_log(bench, archive, log, ranks)
    missing = 0
    for rank in range(ranks):
        calls = [call for call in log_of(log, rank) if call[3] <= killed]
        behind = calls[there.get(rank, 0):]
        missing = max(missing, (killed - behind[0][3]) / 1000 if behind else 0)
    shutil.rmtree(archive + ".journal")
    os.remove(archive)
    for path in glob.glob(log + ".*"):
        os.remove(path)
    return missing


def kill_at_random(bench, flavour, ranks, moments, seed):
    random.seed(seed)
    worst = 0
    for i in range(moments):
        whom, seconds = ("one", "all", "launcher")[i % 3], random.uniform(1, 2.5)
        worst = max(worst, check_moment(bench, flavour, ranks, whom, seconds))
    print(f"{moments} runs of {ranks} ranks killed: at most {worst:.2f} s missing")
    return worst


@harness.condition("one rank, all ranks, the launcher killed; with a journal", conditions.AS_LOGGED)
@harness.real_time
def test_killed(bench, flavour):
    """One rank, all ranks, the launcher, at random moments: what comes back is right."""
    kill_at_random(bench, flavour, RANKS, 3, 1)


@harness.long
@harness.real_time
def test_killed_often(bench, flavour):
    """The same with more ranks, as often as MOMENTS says. What is missing is printed: at most the last second on a
    machine that does nothing else (doc/reliability.md)."""
    worst = kill_at_random(bench, flavour, 8, int(os.environ.get("MOMENTS", "12")), 2)
    if worst > 5:
        raise harness.Failure(f"{worst:.2f} s are missing")


# ---- other ends ----

def end_early(bench, flavour, how, options=("--journal",), rounds="2000"):
    archive, log = bench.fresh(f"{how}.rfn"), bench.fresh(f"{how}.log")
    said = bench.fresh(f"{how}.said")
    words = command(bench, flavour, 2, archive, log, rounds, "10", how, options=options)
    at = words.index(bench.refrain)
    start = test_behaviour.TOGETHER if how in ("exit", "handler") else ['exec "$@"']
    run = bench.run([*words[:at], *harness.saying_into(said, start), *words[at:]], env=SOON, timeout=60)
    return archive, log, run, harness.said_in(said)


def check_end(bench, flavour, how, state, all_ranks):
    archive, log, run, said = end_early(bench, flavour, how)
    if run.code == 0 and how in ("abort", "crash"):
        raise harness.Failure(f"exit status 0 after {how}")
    if state != "running" and not re.search(rf"next: refrain recover \S*{how}\S*\.journal", said):
        raise harness.Failure(f"nothing says what to type next: {said}")
    made = json.loads(recover(bench, archive, "--json").out)
    there = compare_with_log(bench, archive, log, 2)
    states = {journal["rank"]: journal["state"] for journal in made["journals"]}
    if state not in states.values():
        raise harness.Failure(f"found {states}, expected {state}")
    for rank in (rank for rank, found in states.items() if found == state and all_ranks):
        calls = len(log_of(log, rank))
        if there[rank] not in (calls, calls + 1):
            raise harness.Failure(f"rank {rank}: {there[rank]} events, but it made {calls} calls")


@harness.condition("exit, with a journal", conditions.NEXT)
def test_exit(bench, flavour):
    check_end(bench, flavour, "exit", "exited", True)


@harness.condition("exit from a handler of SIGTERM, with a journal", conditions.NEXT)
def test_exit_from_handler(bench, flavour):
    """As programs do that clean up when a batch system sends SIGTERM."""
    check_end(bench, flavour, "handler", "exited", True)


@harness.condition("MPI_Abort, with a journal", conditions.NEXT)
def test_abort(bench, flavour):
    check_end(bench, flavour, "abort", "aborted", True)


@harness.condition("SIGSEGV, with a journal", conditions.RECOVERED)
def test_crash(bench, flavour):
    check_end(bench, flavour, "crash", "running", False)


@harness.condition("_exit, with a journal", conditions.RECOVERED)
def test_exit_at_once(bench, flavour):
    check_end(bench, flavour, "_exit", "running", False)


def test_exit_without_journal_so_far(bench):
    """What a run of less than a minute has recorded is saved when it ends without MPI_Finalize."""
    archive, log, _, said = end_early(bench, "openmpi", "exit", ())
    if "next: refrain recover" not in said:
        raise harness.Failure(said)
    recover(bench, archive)
    compare_with_log(bench, archive, log, 2)


# ---- runs that end well ----

def test_good_end(bench, flavour):
    archive, log = bench.fresh("good.rfn"), bench.fresh("good.log")
    bench.run(command(bench, flavour, 2, archive, log, "3000", "10"), env=SOON, check=True)
    harness.compare("folder", has_folder(archive), False)
    bench.verb("verify", archive)
    for rank, events in events_of(bench, archive).items():
        calls = log_of(log, rank)
        compare_rank(rank, calls, events[:-1], complete=len(calls))


def test_no_journal(bench):
    archive, _, _, said = end_early(bench, "openmpi", "exit", ("--no-journal",))
    harness.compare("folder", has_folder(archive), False)
    if "nothing was recorded" not in said:
        raise harness.Failure(said)


def test_both(bench):
    run = bench.run([bench.refrain, "record", "--journal", "--no-journal", "true"])
    if run.code == 0 or "--no-journal" not in run.err:
        raise harness.Failure(run.err)


@harness.condition("a checkpoint every millisecond", "the same events as without")
def test_checkpoints_change_nothing(bench, flavour):
    """With a checkpoint every millisecond programs record what they do without."""
    for name, ranks in test_events.programs():
        program = bench.program(name, flavour)
        log = bench.path(f"{name}.{flavour}.journal.log")
        _, archive = bench.record(flavour, ranks, [program], ["--journal"],
                                  env={"EXPECT_OUT": log, "REFRAIN_JOURNAL_INTERVAL": "1"})
        bench.verb("verify", archive)
        test_events.compare_logs(log, ranks, bench.dump(archive))
        harness.compare(f"folder of {name}", has_folder(archive), False)


# ---- what may be left of a folder ----

def left_over(bench):
    """(archive, log) of a run that crashed, with a journal of two checkpoints per rank."""
    archive, log, _, _ = end_early(bench, "openmpi", "crash", rounds="10000")
    return archive, log


def checkpoints(archive, rank):
    return sorted(glob.glob(f"{archive}.journal/*.{rank}.checkpoint.?"))


@harness.condition("a checkpoint cut or damaged", "the one before counts")
@harness.condition("both checkpoints of a rank damaged", "the rank is missing, and this is said")
def test_parts(bench):
    """Any subset of ranks, any damage: what is left is right, and what is missing is said."""
    archive, log = left_over(bench)
    folder, kept = archive + ".journal", archive + ".kept"
    shutil.copytree(folder, kept)
    both = checkpoints(archive, 0)
    harness.compare("checkpoints of rank 0", len(both), 2)
    size = [os.path.getsize(path) for path in both]
    for path, bytes_left in ((both[0], 0), (both[0], 30), (both[1], size[1] // 2), (both[0], size[0] - 1)):
        with open(path, "r+b") as file:
            file.truncate(bytes_left)
        run = recover(bench, archive)
        harness.compare("exit", run.code, 0)
        compare_with_log(bench, archive, log, 2)
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
    for path in both:
        with open(path, "r+b") as file:
            file.seek(60)
            file.write(b"damaged")
    run = recover(bench, archive)
    harness.compare("exit without rank 0", run.code, INCOMPLETE)
    if "Rank 0 left no journal" not in run.out or "cannot be read" not in run.err:
        raise harness.Failure(run.out + run.err)
    harness.compare("ranks", sorted(compare_with_log(bench, archive, log, 2)), [1])
    for path in checkpoints(archive, 1):
        os.remove(path)
    run = recover(bench, archive)
    if run.code != INCOMPLETE or "no checkpoint can be read" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")


@harness.condition("blocks of a rank damaged", "the rank is missing, and this is said")
def test_damaged_blocks(bench):
    """A rank whose finished blocks are damaged is left out."""
    archive, log = bench.fresh("blocks.rfn"), bench.fresh("blocks.log")

    def blocks_of_rank_0():
        return [path for path in glob.glob(archive + ".journal/*.0.0.0") if "checkpoint" not in path]

    def are_blocks_known():
        """Both checkpoints were written after blocks were."""
        times = [os.stat(path).st_mtime for path in glob.glob(archive + ".journal/*.0.checkpoint.?")]
        begun.extend(time.time() for _ in blocks_of_rank_0() if not begun)
        return begun and len(times) == 2 and min(times) > begun[0]

    begun = []
    run_and_kill(bench, "openmpi", 2, archive, log, are_blocks_known, "all", pause="0")
    blocks = blocks_of_rank_0()
    harness.compare("files of blocks of rank 0", len(blocks), 1)
    with open(blocks[0], "r+b") as file:
        file.seek(100)
        file.write(b"damaged")
    run = recover(bench, archive)
    if run.code != INCOMPLETE or "what they saved is damaged" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")
    harness.compare("ranks", sorted(compare_with_log(bench, archive, log, 2)), [1])
    os.remove(blocks[0])
    harness.compare("exit", recover(bench, archive).code, INCOMPLETE)


@harness.condition("a link in place of the folder of a journal", "nothing is written through it")
def test_no_links(bench):
    """Nothing is written through a link that somebody has put in the place of the folder."""
    archive, log = bench.fresh("linked.rfn"), bench.fresh("linked.log")
    elsewhere = bench.path("elsewhere")
    os.mkdir(elsewhere)
    os.symlink(elsewhere, archive + ".journal")
    run = bench.run(command(bench, "openmpi", 1, archive, log, "3000", "10"), env=SOON, check=True)
    harness.compare("files", os.listdir(elsewhere), [])
    if "the journal cannot be written" not in run.err:
        raise harness.Failure(run.err)
    bench.verb("verify", archive)


def test_verbs_take_the_folder(bench):
    archive, log = left_over(bench)
    folder = archive + ".journal"
    run = bench.run([bench.refrain, "info", folder])
    if "2 of 2 ranks" not in run.out or "recovered" not in run.out:
        raise harness.Failure(run.out + run.err)
    found = events_of(bench, folder)
    for rank, events in found.items():
        compare_rank(rank, log_of(log, rank), events)


def test_no_journals(bench):
    """Other folders are not taken for journals."""
    empty = bench.path("empty.rfn.journal")
    os.mkdir(empty)
    run = bench.run([bench.refrain, "recover", empty])
    if run.code == 0 or "no journal of a recording" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
    run = bench.run([bench.refrain, "recover", bench.path("nowhere.rfn.journal")])
    if run.code == 0 or "cannot open" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
    run = bench.run([bench.refrain, "recover", bench.folder])
    if run.code == 0 or "where to?" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
    run = bench.run([bench.refrain, "recover", bench.refrain])
    if run.code == 0 or "is no folder" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
