"""Archives of jobs that still run (refrain snapshot, record --snapshot-every), and journals in folders of their own
(record --journal-dir). The programs keep logs of their own, as in test_journal.py.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import time

import harness
import test_journal

REAL_TIME = True
RANKS = 2
LONG = 300  # seconds that nothing takes
ROUNDS = ("3000", "1")  # 4 seconds or more
FOR_EVER = ("100000000", "50")


def paths(bench, name):
    return bench.fresh(name + ".rfn"), bench.fresh(name + ".log")


@contextlib.contextmanager
def job(bench, flavour, archive, log, rounds, options=("--journal",), interval="100"):
    words = test_journal.command(bench, flavour, RANKS, archive, log, *rounds, options=options)
    with test_journal.running(bench, words, env={"REFRAIN_JOURNAL_INTERVAL": interval}) as (launcher, mark):
        yield launcher, mark


def wait_until(what, condition, seconds=LONG):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise harness.Failure(f"not after {seconds} s: {what}")
        time.sleep(0.02)


def wait_for_journal(archive, of=RANKS):
    wait_until("checkpoints of all ranks", lambda: all(
        glob.glob(f"{archive}.journal/*.{rank}.checkpoint.?") for rank in range(of)))


def snapshot_of(archive):
    return archive[:-len(".rfn")] + ".snapshot.rfn"


def snapshot(bench, archive, *options):
    return bench.run([bench.refrain, "snapshot", *options, archive])


def events(bench, archive, log):
    """Of each rank how many; all are in the program's own log."""
    return test_journal.compare_with_log(bench, snapshot_of(archive), log, RANKS)


def beside(archive):
    """PIDs of processes of the tool that take snapshots of this archive's run."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            words = file.read().split(b"\0")
            if b"snapshot" in words and f"--output={snapshot_of(archive)}".encode() in words:
                found.append(int(path.split("/")[2]))
    return found


def expect_good_end(bench, launcher, archive, log):
    """The job has written all that its ranks did, and removed its journal."""
    harness.compare("exit status of the job", launcher.wait(timeout=LONG), 0)
    harness.compare("folder", test_journal.has_folder(archive), False)
    bench.verb("verify", archive)
    for rank, found in test_journal.events_of(bench, archive).items():
        calls = test_journal.log_of(log, rank)
        test_journal.compare_rank(rank, calls, found[:-1], complete=len(calls))


# ---- one ----

@harness.condition("a snapshot of a running job", "each event as in the log of the program; the job ends as without")
def test_running(bench, flavour):
    """What a snapshot has is what the program did so far; a later one has more; the job ends as without."""
    archive, log = paths(bench, "running")
    with job(bench, flavour, archive, log, ROUNDS) as (launcher, _):
        wait_for_journal(archive)
        harness.compare("processes beside the job", beside(archive), [])
        run = snapshot(bench, archive)
        if run.code or not re.search(r"2 of 2 ranks, until [\d.]+ (to [\d.]+ )?s after the start, [\d.]+ s ago;", run.out):
            raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")
        first = events(bench, archive, log)
        time.sleep(0.5)
        run = snapshot(bench, archive + ".journal")
        if run.code != 1 or "exists already" not in run.err:
            raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")
        made = json.loads(snapshot(bench, archive + ".journal/", "--force", "--json").out)
        second = events(bench, archive, log)
        harness.compare("events told", made["events"], sum(second.values()))
        if not all(second[rank] > first[rank] for rank in range(RANKS)):
            raise harness.Failure(f"first {first}, then {second}")
        expect_good_end(bench, launcher, archive, log)


def test_checkpoint_every_millisecond(bench, flavour):
    """While both checkpoints of each rank are written again and again, one of them counts."""
    archive, log = paths(bench, "often")
    with job(bench, flavour, archive, log, ROUNDS, interval="1") as (launcher, _):
        wait_for_journal(archive)
        before = {rank: 0 for rank in range(RANKS)}
        for _ in range(10):
            run = snapshot(bench, archive, "--force")
            harness.compare(f"exit, {run.err}", run.code, 0)
            harness.compare("complaints", run.err, "")
            found = events(bench, archive, log)
            if any(found[rank] < before[rank] for rank in range(RANKS)):
                raise harness.Failure(f"first {before}, then {found}")
            before = found
            if launcher.poll() is not None or not test_journal.has_folder(archive):
                break
        expect_good_end(bench, launcher, archive, log)


def test_no_journal(bench):
    run = snapshot(bench, bench.path("nowhere.rfn"))
    if run.code != 1 or "no folder, and there is no" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
    os.mkdir(bench.path("empty"))
    run = snapshot(bench, bench.path("empty"), "-o", bench.path("out.rfn"))
    if run.code != 1 or "no journal of a recording" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
    run = snapshot(bench, bench.path("empty"), "--every=1")
    if run.code != 2 or "--every is a time" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")


# ---- again and again ----

@contextlib.contextmanager
def every(bench, archive, seconds, *options):
    """The verb, repeating; its output is read when it has ended."""
    with subprocess.Popen([bench.refrain, "snapshot", f"--every={seconds}s", *options, archive], text=True, cwd=bench.folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as verb:
        try:
            yield verb
        finally:
            verb.kill()


def expect_lines(out, least):
    lines = out.splitlines()
    if len(lines) < least or not all(re.search(r": 2 of 2 ranks, until .* events, ", line) for line in lines):
        raise harness.Failure(f"{len(lines)} lines, expected {least}: {out}")


def test_every(bench, flavour):
    """One line per snapshot, each in the place of the one before, until the run ends."""
    archive, log = paths(bench, "every")
    with job(bench, flavour, archive, log, ROUNDS) as (launcher, _):
        wait_for_journal(archive)
        with every(bench, archive, 0.3) as verb:
            out, err = verb.communicate(timeout=LONG)
        harness.compare(f"exit of the verb, {err}", verb.returncode, 0)
        expect_lines(out, 3)
        if "the run has ended and removed its journal" not in err:
            raise harness.Failure(err)
        events(bench, archive, log)
        expect_good_end(bench, launcher, archive, log)
    harness.compare("parts left", glob.glob(snapshot_of(archive) + ".*"), [])


def test_every_of_killed_run(bench):
    """What the ranks saved last is in the last snapshot."""
    archive, log = paths(bench, "killed")
    with job(bench, "openmpi", archive, log, FOR_EVER) as (_, mark):
        wait_for_journal(archive)
        with every(bench, archive, 0.3, "--json") as verb:
            wait_until("a snapshot", lambda: os.path.exists(snapshot_of(archive)))
            test_journal.kill_all(test_journal.ranks_of(mark).values())
            out, err = verb.communicate(timeout=LONG)
    harness.compare(f"exit of the verb, {err}", verb.returncode, 0)
    if "the run was killed" not in err:
        raise harness.Failure(err)
    found = events(bench, archive, log)
    harness.compare("events told last", json.loads(out.splitlines()[-1])["events"], sum(found.values()))
    recovered = json.loads(test_journal.recover(bench, archive, "--json").out)
    harness.compare("events that recover finds", recovered["events"], sum(found.values()))


def test_interrupted(bench):
    """Ctrl-C leaves the last whole one, and the job alone."""
    archive, log = paths(bench, "interrupted")
    with job(bench, "openmpi", archive, log, ROUNDS) as (launcher, _):
        wait_for_journal(archive)
        with every(bench, archive, 0.1) as verb:
            wait_until("a snapshot", lambda: os.path.exists(snapshot_of(archive)))
            verb.send_signal(signal.SIGINT)
            out, err = verb.communicate(timeout=LONG)
        harness.compare(f"exit of the verb, {err}", verb.returncode, 0)
        expect_lines(out, 1)
        events(bench, archive, log)
        expect_good_end(bench, launcher, archive, log)
    harness.compare("parts left", glob.glob(snapshot_of(archive) + ".*"), [])


# ---- record --snapshot-every ----

@harness.condition("snapshots beside a running job (--snapshot-every)", "no child, nobody waits, nothing is left running")
def test_recorded_program_has_no_child(bench, flavour):
    """The program cannot see what takes the snapshots, its launcher does not wait for it, and it ends with them."""
    archive = bench.fresh("alone.rfn")
    with test_journal.running(bench, [
            *harness.FLAVOURS[flavour].launch(RANKS), bench.refrain, "record", "-o", archive, "--snapshot-every=0.2s",
            bench.program("no_child", flavour), "4"], env=test_journal.SOON) as (launcher, _):
        wait_until("a snapshot", lambda: os.path.exists(snapshot_of(archive)))
        found = beside(archive)
        harness.compare("processes beside the job", len(found), 1)
        files = [os.readlink(path) for path in glob.glob(f"/proc/{found[0]}/fd/*") if os.path.lexists(path)]
        of_others = [path for path in files if not path.startswith(bench.folder)]
        harness.compare("files of the process, but for the journal's and the snapshot's", sorted(of_others),
                        ["/dev/null"] * 3 + ["anon_inode:[pidfd]", "anon_inode:[signalfd]"])
        harness.compare("exit status of the job", launcher.wait(timeout=LONG), 0)
    wait_until("the process has ended", lambda: not beside(archive), 10)
    harness.compare("ranks", len(test_journal.events_of(bench, snapshot_of(archive))), RANKS)
    bench.verb("verify", archive)


@harness.condition("snapshots beside a running job (--snapshot-every)", "no child, nobody waits, nothing is left running")
def test_recorded_program_killed(bench, flavour):
    """Nothing is left running when all ranks were killed, and the last snapshot is whole."""
    archive, log = paths(bench, "all")
    with job(bench, flavour, archive, log, FOR_EVER, options=("--snapshot-every=0.2s",)) as (_, mark):
        wait_until("a snapshot", lambda: os.path.exists(snapshot_of(archive)))
        test_journal.kill_all(test_journal.ranks_of(mark).values())
        wait_until("the process has ended", lambda: not beside(archive), 10)
    events(bench, archive, log)


def test_old_journal(bench):
    """What an earlier run has left is no snapshot of this one."""
    archive, log, _, _ = test_journal.end_early(bench, "openmpi", "crash")
    before = time.time()
    with job(bench, "openmpi", archive, log, FOR_EVER, options=("--snapshot-every=0.2s", "--no-children"),
             interval="4000"):
        wait_until("a snapshot", lambda: os.path.exists(snapshot_of(archive)))
        started = json.loads(bench.run([bench.refrain, "info", "--json", snapshot_of(archive)]).out)["start_realtime_ns"]
        harness.compare("the snapshot is of this run", started >= 1e9 * before, True)
        found = beside(archive)
        harness.compare("processes beside the job", len(found), 1)


def test_snapshots_of_scripts(bench):
    """Where it is not known what the archive will be called, it has to be said."""
    run = bench.run([bench.refrain, "record", "--mpi=openmpi", "--snapshot-every=1s", "sh", "-c", "true"])
    if run.code != 2 or "needs the archive's name" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
    run = bench.run([bench.refrain, "record", "--no-journal", "--snapshot-every=1s", "true"])
    if run.code != 2 or "--no-journal" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")


# ---- record --journal-dir ----

def journal_dir(bench, name):
    folder = bench.path(name)
    os.mkdir(folder)
    return folder


@harness.condition("journals in folders of several nodes (--journal-dir)", "one archive with all ranks")
def test_journal_dir(bench, flavour):
    """Folders of several nodes: each has some of the ranks, and recover takes all of them."""
    nodes = [journal_dir(bench, f"node{i}.{flavour}") for i in range(2)]
    archive, log, _, said = test_journal.end_early(bench, flavour, "exit", ("--journal", f"--journal-dir={nodes[0]}"))
    folders = [os.path.join(node, os.path.basename(archive) + ".journal") for node in nodes]
    harness.compare("folder beside the archive", test_journal.has_folder(archive), False)
    if f"next: refrain recover {os.path.relpath(folders[0], bench.folder)}" not in said:
        raise harness.Failure(said)
    os.mkdir(folders[1])
    for path in glob.glob(folders[0] + "/*.1.checkpoint.?"):
        shutil.move(path, folders[1])
    run = bench.run([bench.refrain, "recover", "-o", archive, folders[0]])
    harness.compare("exit, one node", run.code, test_journal.INCOMPLETE)
    run = bench.run([bench.refrain, "recover", "--force", "-o", archive, *folders])
    harness.compare(f"exit, two nodes: {run.err}", run.code, 0)
    harness.compare("ranks", sorted(test_journal.compare_with_log(bench, archive, log, RANKS)), [0, 1])
    bench.run([bench.refrain, "info", folders[1]])


def test_journal_dir_good_end(bench, flavour):
    """The journal goes; snapshots are beside the archive."""
    folder = journal_dir(bench, f"good.{flavour}")
    archive, log = paths(bench, "good")
    options = (f"--journal-dir={os.path.relpath(folder, bench.folder)}", "--snapshot-every=0.2s")
    with job(bench, flavour, archive, log, ROUNDS, options=options) as (launcher, _):
        wait_until("a snapshot", lambda: os.path.exists(snapshot_of(archive)))
        harness.compare("folders", os.listdir(folder), [os.path.basename(archive) + ".journal"])
        harness.compare("folder beside the archive", test_journal.has_folder(archive), False)
        expect_good_end(bench, launcher, archive, log)
    harness.compare("left in the folder", os.listdir(folder), [])


def test_journal_dir_blocks(bench):
    """Blocks that leave memory go there, too."""
    folder = journal_dir(bench, "blocks")
    archive, log = paths(bench, "blocks")
    inside = os.path.join(folder, os.path.basename(archive) + ".journal")
    with job(bench, "openmpi", archive, log, ("100000000", "0"), options=("--journal", f"--journal-dir={folder}")):
        wait_until("blocks and checkpoints of all ranks", lambda: all(
            glob.glob(f"{inside}/*.{rank}.{part}") for rank in range(RANKS) for part in ("0.0", "checkpoint.?")))
    harness.compare("folder beside the archive", test_journal.has_folder(archive), False)
    run = bench.run([bench.refrain, "recover", "-o", archive, inside])
    harness.compare(f"exit, {run.err}", run.code, 0)
    harness.compare("ranks", sorted(test_journal.compare_with_log(bench, archive, log, RANKS)), [0, 1])


def test_journal_dir_of_others(bench):
    """Nothing is written through a link, nor into a folder of somebody else."""
    folder, elsewhere = journal_dir(bench, "shared"), journal_dir(bench, "theirs")
    archive, log = paths(bench, "careful")
    inside = os.path.join(folder, os.path.basename(archive) + ".journal")
    words = test_journal.command(bench, "openmpi", 1, archive, log, "1000", "1",
                                 options=("--journal", f"--journal-dir={folder}"))
    os.symlink(elsewhere, inside)
    run = bench.run(words, env=test_journal.SOON, check=True)
    harness.compare("files behind the link", os.listdir(elsewhere), [])
    if "the journal cannot be written" not in run.err:
        raise harness.Failure(run.err)
    os.remove(inside)
    if os.geteuid() == 0:
        os.mkdir(inside)
        os.chown(inside, 65534, -1)
        run = bench.run(words, env=test_journal.SOON, check=True)
        harness.compare("files in another user's folder", os.listdir(inside), [])
        if "the journal cannot be written" not in run.err:
            raise harness.Failure(run.err)
    run = bench.run([bench.refrain, "record", f"--journal-dir={bench.path('none')}", bench.program("no_child", "openmpi"), "0"])
    if run.code != 1 or "no journal can be written in" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
