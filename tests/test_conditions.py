"""What survives: conditions that no other test has, and other tests' with a journal (doc/reliability.md).

A program is run without the recorder and with it. What it prints, and its exit status, stay the same.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys

import conditions
import harness
import test_behaviour
import test_counts
import test_fortran
import test_journal
import test_python

JOURNAL = ["--journal"]
PENDING = {"openmpi": 10 ** 6, "mpich": 10 ** 5}  # MPICH has no more
NAMESPACE = ["unshare", "--mount"]
# What it says besides: of calls of programs/endings.c, and of what it wrote early.
BESIDES = re.compile("refrain: .*(by PMPI names went past the recorder|writes went to a journal)")


def words_of(run):
    """The lines that the recorder said, none of them twice."""
    said = [line for line in test_behaviour.own_words(run) if not BESIDES.match(line)]
    harness.compare("lines that are said twice", [line for line in set(said) if said.count(line) > 1], [])
    return said


# ---- results ----

def whole(bench, run, archive):
    said = words_of(run)
    if not os.path.exists(archive) or f"; next: refrain report {os.path.basename(archive)}" not in " ".join(said):
        raise harness.Failure(f"no archive: {run.err}")
    bench.verb("verify", archive)
    harness.compare("a journal is left", os.path.exists(archive + ".journal"), False)
    return said


def only_whole(bench, run, archive):
    harness.compare("lines of the recorder", len(whole(bench, run, archive)), 1)


def whole_before(bench, run, archive):
    """What comes after the archive is told."""
    said = whole(bench, run, archive)
    harness.compare("lines of the recorder", len(said), 2)
    if "MPI is used again after its end" not in said[1]:
        raise harness.Failure(f"the recorder said {said}")


def silent(bench, run, archive):
    harness.compare("lines of the recorder", words_of(run), [])
    harness.compare("an archive exists", os.path.exists(archive), False)


def recovered(bench, run, archive):
    words_of(run)
    bench.run([bench.refrain, "recover", archive + ".journal"], check=True)
    check = bench.run([bench.refrain, "verify", archive])
    if "recovered" not in check.err or "wrong" in check.err:
        raise harness.Failure(f"verify: {check.out}{check.err}")


def recovered_as_told(bench, run, archive):
    said = words_of(run)
    if len(said) != 1 or not said[0].endswith(f"; next: refrain recover {os.path.basename(archive)}.journal"):
        raise harness.Failure(f"the recorder said {said}")
    recovered(bench, run, archive)


def none_but(reason):
    """No archive, which one line says; the others, of the journal, are said once."""
    def check(bench, run, archive):
        final = [line for line in words_of(run) if "no archive was written" in line]
        harness.compare("an archive exists", os.path.exists(archive), False)
        if len(final) != 1 or not re.search(reason, final[0]):
            raise harness.Failure(f"expected one line with '{reason}', found {final}: {run.err}")
    return check


def whole_or_none(bench, run, archive):
    check = only_whole if os.path.exists(archive) else none_but("memory")
    check(bench, run, archive)


# ---- words before the program ----

def library(bench, name, flags=()):
    """programs/NAME.c, to be preloaded."""
    source = os.path.join(harness.PROGRAMS, name + ".c")
    return bench.compiled(f"{name}.so", ["cc", "-shared", "-fPIC", "-O1", "-w", *flags, source])


def preloaded(name, **variables):
    def before(bench):
        return ["env", f"LD_PRELOAD={library(bench, name)}", *(f"{key}={value}" for key, value in variables.items())]
    return before


def in_shell(words):
    """What follows runs after some words of a shell."""
    return ["sh", "-c", words + ' && exec "$@"', "sh"]


def unshared(*words):
    """A command after which the system is another for what follows, where the system lets it."""
    def before(bench):
        run = bench.run([*words, "true"])
        if run.code != 0:
            raise harness.Refused(f"the system refuses '{' '.join(words[:4])}': {run.err.strip()}")
        return list(words)
    return before


def without_counters(bench):
    source = os.path.join(harness.PROGRAMS, "refuse_counters.c")
    words = [bench.compiled("refuse_counters", ["cc", "-O1", "-w", source])]
    if bench.run([*words, "true"]).code == 111:
        raise harness.Refused("the system lets no process refuse itself calls (seccomp)")
    return words


# ---- the same with and without a journal ----

class Case:
    """A condition: words of the program, the check in the end, and how it is run. journal_check: with a
    journal, where that is something else. plain: also without a journal, which is not in another module."""

    def __init__(self, condition, expected, words, check, journal_check=None, journal_expected=None, plain=True,
                 before=None, ranks=2, options=(), flags=(), env=None):
        self.condition, self.expected, self.words, self.check = condition, expected, words, check
        self.journal_check, self.journal_expected = journal_check or check, journal_expected or expected
        self.plain, self.before, self.ranks = plain, before, ranks
        self.options, self.flags, self.env = list(options), flags, test_journal.SOON if env is None else env

    def run(self, bench, flavour, journal):
        name, *words = (word.format(library=harness.FLAVOURS[flavour].library, pending=PENDING[flavour])
                        for word in self.words)
        before = self.before(bench) if self.before else []
        said = bench.fresh("said")
        run, archive = test_behaviour.both(
            bench, flavour, self.ranks, [bench.program(name, flavour, self.flags), *words],
            [option.format(flavour=flavour) for option in self.options] + (JOURNAL if journal else []), self.env,
            before=[*harness.saying_into(said), *before])
        run.err = harness.said_in(said)
        (self.journal_check if journal else self.check)(bench, run, archive)


CASES = {
    "signals": Case("signal handlers of the program", conditions.WHOLE, ["conditions", "signals"], only_whole),
    "abort_of_c": Case("abort", conditions.SILENT, ["conditions", "aborted"], silent,
                       recovered, conditions.RECOVERED),
    "sigterm": Case("SIGTERM, not caught", conditions.SILENT,
                    ["conditions", "terminated"], silent, recovered, conditions.RECOVERED),
    "jump_from_handler": Case("a signal handler that jumps out of an MPI call", conditions.WHOLE,
                              ["conditions", "jump-out"],
                              only_whole),
    "start_again": Case("MPI_Init after MPI_Finalize, by another library",
                        "as without the recorder, and a whole archive of what came before",
                        ["conditions", "start-again"],
                        whole_before),
    "communicators": Case("10,000 communicators made and freed", conditions.WHOLE,
                          ["conditions", "communicators", "10000"],
                          only_whole),
    "requests": Case("10^6 pending requests (MPICH: 10^5)", conditions.WHOLE,
                     ["conditions", "requests", "{pending}"],
                     only_whole, ranks=1),
    "requests_freed": Case("requests freed before completion", conditions.WHOLE, ["freed"], only_whole),
    "threads": Case("threads that come and go, with the smallest stacks", conditions.WHOLE,
                    ["conditions", "threads", "100"],
                    only_whole),
    "small_stack": Case("a small stack (ulimit -s 192)", conditions.WHOLE, ["conditions", "signals"], only_whole,
                        before=unshared(*in_shell("ulimit -s 192"))),
    "scarce": Case("RLIMIT_AS that MPI_Finalize meets", "as without the recorder; an archive, maybe without lines, or "
                   "one line that says why there is none", ["conditions", "scarce", "16"], whole_or_none, ranks=1),
    "jumping_clock": Case("clocks that jump forth and back", conditions.WHOLE, ["conditions", "linger", "100"],
                          only_whole, before=preloaded("jumping_clock", CLOCK_JUMP=3600)),
    "jumping_counter": Case("clocks that jump, without a time-stamp counter", conditions.WHOLE,
                            ["conditions", "linger", "100"], only_whole,
                            before=preloaded("jumping_clock", CLOCK_JUMP=3600),
                            env={**test_journal.SOON, "REFRAIN_CLOCK": "monotonic"}),
    "quota": Case("quota used up", conditions.NO_ARCHIVE, ["conditions", "linger", "100"], none_but("[Qq]uota"),
                  before=preloaded("quota", QUOTA=500)),
    "no_sys": Case("no /sys", conditions.WHOLE, ["conditions", "signals"], only_whole,
                   before=unshared(*NAMESPACE, *in_shell("mount -t tmpfs none /sys"))),
    "no_counters": Case("perf_event_open refused (seccomp)", conditions.WHOLE,
                        ["conditions", "signals"], only_whole,
                        before=without_counters),
    "time_namespace": Case("a time namespace per rank", conditions.WHOLE, ["conditions", "signals"], only_whole,
                           before=unshared("unshare", "--time", "--monotonic=100000", "--fork")),
    "dlopen": Case("MPI loaded by dlopen", conditions.WHOLE, ["loader", "{library}"], only_whole,
                   options=("--mpi={flavour}",), flags=("-Wl,--as-needed",)),
    # Other modules have these without a journal.
    "exit_at_once": Case("_exit", conditions.RECOVERED, ["endings", "exit-at-once"], recovered, plain=False),
    "abort": Case("MPI_Abort", conditions.NEXT, ["endings", "abort"], recovered_as_told, plain=False),
    "segfault": Case("SIGSEGV", conditions.RECOVERED, ["endings", "segfault"], recovered, plain=False),
    "killed": Case("SIGKILL of all ranks", conditions.RECOVERED, ["endings", "killed"], recovered, plain=False),
    "at_exit": Case("MPI_Finalize called from atexit", conditions.WHOLE,
                    ["endings", "at-exit"], only_whole, plain=False),
    "fork": Case("fork", conditions.WHOLE, ["endings", "forked"], only_whole, plain=False),
    "exec": Case("fork and exec", conditions.WHOLE, ["endings", "children"], only_whole, plain=False, env={}),
    "jump_from_error": Case("an error handler that jumps out of an MPI call", conditions.WHOLE,
                            ["endings", "jumping"], only_whole,
                            plain=False),
    "pending": Case("MPI_Finalize with messages pending", conditions.WHOLE,
                    ["left_under_way"], only_whole, plain=False, ranks=4),
    "no_descriptors": Case("RLIMIT_NOFILE", conditions.NO_ARCHIVE,
                           ["awkward", "descriptors"], none_but("Too many open files"),
                           plain=False, ranks=3),
    "file_size": Case("RLIMIT_FSIZE", conditions.NO_ARCHIVE,
                      ["awkward", "limit"], none_but("File too large"), plain=False, ranks=3),
    "no_memory": Case("RLIMIT_AS", conditions.NO_ARCHIVE,
                      ["awkward", "memory"], none_but("rank 1: recording stopped: out of memory"),
                      plain=False, ranks=3),
    "sanitizer": Case("address sanitizer in the program", conditions.WHOLE,
                      ["conditions", "signals"], only_whole, plain=False,
                      flags=("-fsanitize=address",), env={"ASAN_OPTIONS": "detect_leaks=0"}),
}


def make_test(case, journal):
    words = ", with a journal" if journal else ""

    @harness.condition(case.condition + words, case.journal_expected if journal else case.expected)
    def test(bench, flavour):
        case.run(bench, flavour, journal)
    return test


for _name, _case in CASES.items():
    if _case.plain:
        globals()[f"test_{_name}"] = make_test(_case, False)
    globals()[f"test_{_name}_with_journal"] = make_test(_case, True)


@harness.condition("exit, with a journal", conditions.NEXT)
def test_exit_with_journal(bench, flavour):
    run, archive = test_behaviour.ending(bench, flavour, "exit-early", JOURNAL, test_journal.SOON)
    recovered_as_told(bench, run, archive)


# ---- where the whole job is under the condition ----

def without_and_with(bench, flavour, before, program, journal):
    """Runs a job of two ranks without the recorder and with it, each in a folder of its own, whose words "before"
    gives. Returns (run, archive)."""
    runs = []
    for recorder in ([], [bench.refrain, "record", "--time=full", "-o", "x.rfn", *(JOURNAL if journal else [])]):
        folder = bench.fresh("job")
        os.mkdir(folder)
        runs.append(bench.run([*before(folder), *harness.FLAVOURS[flavour].launch(2), *recorder, *program],
                              cwd=folder, timeout=test_behaviour.TIMEOUT, env=test_journal.SOON))
    harness.compare("standard output", *(test_behaviour.output_of(run) for run in reversed(runs)))
    harness.compare("exit status", runs[1].code, runs[0].code)
    return runs[1], os.path.join(folder, "x.rfn")


SMALL_DISK = 'mount -t tmpfs -o size=64k none . && cd "$PWD" && "$@"; status=$?; ls -A; exit $status'


def check_disk_full(bench, flavour, journal):
    words = [*NAMESPACE, "sh", "-c", SMALL_DISK, "sh"]
    unshared(*NAMESPACE, *in_shell("mount -t tmpfs none /mnt"))(bench)
    run, archive = without_and_with(bench, flavour, lambda folder: words,
                                    [bench.program("conditions", flavour), "different", "40000"], journal)
    none_but("No space left on device")(bench, run, archive)


@harness.condition("disk full", conditions.NO_ARCHIVE)
def test_disk_full(bench, flavour):
    check_disk_full(bench, flavour, False)


@harness.condition("disk full, with a journal", conditions.NO_ARCHIVE)
def test_disk_full_with_journal(bench, flavour):
    check_disk_full(bench, flavour, True)


@harness.condition("a folder that goes while the program runs, with a journal", conditions.NO_ARCHIVE)
def test_folder_that_goes_with_journal(bench, flavour):
    run, archive = test_behaviour.record_where_folder_goes(bench, flavour, JOURNAL)
    none_but("No such file")(bench, run, archive)


# ---- jobs that are ended from outside ----

def strike(bench, flavour, recorded, how):
    """Runs rounds (programs/logged_rounds.c) until how(job, mark) ends them; (exit status, archive, log)."""
    archive, log = bench.fresh("struck.rfn"), bench.fresh("struck.log")
    words = test_journal.command(bench, flavour, 2, archive, log, "100000000", "50", options=JOURNAL)
    if not recorded:
        at = words.index(bench.refrain)
        words[at:words.index(log)] = words[words.index(log) - 1:words.index(log)]
    with test_journal.running(bench, words, log, 2, test_journal.SOON) as (job, mark):
        test_journal.wait_until(lambda: not recorded or test_journal.have_saved(archive, 2))
        how(job, mark)
        status = job.wait(timeout=30)
    return status, archive, log


def interrupt(job, _mark):
    """What control-C does."""
    os.killpg(job.pid, signal.SIGINT)


def as_batch_system(job, mark):
    """SIGTERM to all processes of a job, and SIGKILL to those that are left."""
    test_journal.kill_all([*test_journal.ranks_of(mark).values(), job.pid], signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        job.wait(timeout=10)
    test_journal.kill_all([*test_journal.ranks_of(mark).values(), job.pid])


def check_struck(bench, flavour, how):
    """Returns the exit status of the launcher."""
    status, archive, log = strike(bench, flavour, True, how)
    run = test_journal.recover(bench, archive)
    harness.compare(f"exit status of recover: {run.out}{run.err}", run.code, 0)
    test_journal.compare_with_log(bench, archive, log, 2)
    return status


@harness.condition("control-C, with a journal", conditions.AS_LOGGED)
def test_interrupt(bench, flavour):
    status = check_struck(bench, flavour, interrupt)
    if flavour != "mpich":  # whose launcher ends with 0 or 2, as it happens
        harness.compare("exit status of the launcher", status, strike(bench, flavour, False, interrupt)[0])


@harness.condition("SIGTERM and then SIGKILL, as of a batch system; with a journal", conditions.AS_LOGGED)
def test_batch_system(bench, flavour):
    """What launchers do then is chance: Open MPI's ends with 1 or crashes, also without the recorder."""
    check_struck(bench, flavour, as_batch_system)


# ---- other languages and tools ----

@harness.condition("MPI_Abort of Fortran, with a journal", conditions.NEXT)
def test_abort_of_fortran(bench, flavour):
    said = bench.fresh("said")
    run, archive = test_behaviour.both(bench, flavour, 2, [test_fortran.fortran(bench, flavour, "abort")], JOURNAL,
                                       test_journal.SOON, before=harness.saying_into(said))
    run.err = harness.said_in(said)
    recovered_as_told(bench, run, archive)


@harness.condition("MPI loaded by Python (ctypes), with a journal", conditions.WHOLE)
def test_python_with_journal(bench, flavour):
    log = bench.fresh("frames.log")
    words = [test_python.PYTHON, test_python.FRAMES, harness.FLAVOURS[flavour].library, log]
    run, archive = test_behaviour.both(bench, flavour, 1, words, [f"--mpi={flavour}", *JOURNAL],
                                       {**test_python.CLEAN, **test_journal.SOON})
    only_whole(bench, run, archive)


def check_other_tool(bench, flavour, options):
    program = [bench.program("communicators", flavour)]
    bench.verb("verify", test_counts.check_counts(bench, flavour, 4, program, test_journal.SOON, options))


@harness.condition("another tool of PMPI", "both count the same calls, and a whole archive")
def test_other_tool(bench, flavour):
    check_other_tool(bench, flavour, ())


@harness.condition("another tool of PMPI, with a journal", "both count the same calls, and a whole archive")
def test_other_tool_with_journal(bench, flavour):
    check_other_tool(bench, flavour, JOURNAL)


@harness.condition("a setuid program", conditions.TOLD_BEFORE)
def test_setuid(bench, flavour):
    path = bench.path(f"setuid.{flavour}")
    shutil.copy(bench.program("conditions", flavour), path)
    os.chmod(path, 0o4755)
    run = bench.run([bench.refrain, "record", path, "signals"])
    harness.compare("output", run.out, "")
    harness.compare("exit status", run.code, 2)
    if len(words_of(run)) != 1 or "set-user-ID" not in run.err:
        raise harness.Failure(run.err)


@harness.condition("--volume=instructions where perf_event_open is refused (seccomp)", conditions.TOLD_BEFORE)
def test_instructions_refused(bench, flavour):
    run = bench.run([*without_counters(bench), bench.refrain, "record", "--volume=instructions",
                     bench.program("conditions", flavour), "signals"])
    harness.compare("output", run.out, "")
    if run.code == 0 or len(words_of(run)) != 1 or "does not count instructions" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")


# ---- allocations of the recorder that fail ----

DIFFERENT = ["conditions", "different", "300"]


class Starved:
    """A program with a rank that lacks memory from a certain allocation of the recorder on: once, or for good."""

    def __init__(self, bench, flavour, ranks, words, options):
        self.bench, self.flavour, self.ranks = bench, flavour, ranks
        self.words, self.options = words, options
        self.counts = bench.fresh("allocations")
        self.output = bench.run(self.command([], words), check=True).out.splitlines()

    def command(self, variables, words):
        launch = harness.FLAVOURS[self.flavour].launch(self.ranks) if self.ranks > 1 else []
        return [*launch, "env", *variables, *words]

    def run(self, at, times):
        """The archive need not exist."""
        archive = self.bench.fresh("starved.rfn")
        heap = library(self.bench, "failing_heap", ["-Wl,-z,initfirst"])
        variables = [f"LD_PRELOAD={heap}", f"FAIL_AT={at}", f"FAIL_TIMES={times}", f"FAIL_RANK={self.ranks - 1}",
                     f"FAIL_COUNT={self.counts}", "REFRAIN_JOURNAL_INTERVAL=5"]
        record = [self.bench.refrain, "record", "-o", archive, *self.options]
        run = self.bench.run(self.command(variables, [*record, *self.words]), timeout=test_behaviour.TIMEOUT)
        what = f"allocation {at}, {times} times: {run.err}"
        harness.compare(f"exit status with {what}", run.code, 0)
        harness.compare(f"output with {what}", sorted(run.out.splitlines()), sorted(self.output))
        refused = sum("no archive was written" in line for line in words_of(run))
        harness.compare(f"lines that say why there is no archive, with {what}", refused, int(not os.path.exists(archive)))
        if not refused:
            self.bench.verb("verify", archive)
            os.remove(archive)

    def count(self):
        """How many allocations there are."""
        self.run(0, 1)
        return max(int(line) for line in harness.said_in(self.counts).split())


def starve(bench, flavour, ranks, words, options, steps):
    """As many allocations as steps says, each of them once alone and once with all that follow."""
    starved = Starved(bench, flavour, ranks, [bench.program(words[0], flavour), *words[1:]], options)
    n = starved.count()
    if n < 500:
        raise harness.Failure(f"only {n} allocations")
    for step in range(min(n, steps)):
        at = 1 + step * n // min(n, steps)
        starved.run(at, 1)
        if step % 2 == 0:
            starved.run(at, n)


@harness.condition("an allocation of the recorder fails", conditions.NO_ARCHIVE + ", or it is whole")
def test_failing_allocations(bench, flavour):
    starve(bench, flavour, 1, DIFFERENT, ["--time=full"], 8)
    starve(bench, flavour, 4, ["communicators"], ["--time=full"], 3)


@harness.condition("an allocation of the recorder fails, with a journal", conditions.NO_ARCHIVE + ", or it is whole")
def test_failing_allocations_with_journal(bench, flavour):
    starve(bench, flavour, 1, DIFFERENT, JOURNAL, 8)


@harness.long
@harness.condition("each allocation of the recorder fails in turn", conditions.NO_ARCHIVE + ", or it is whole")
def test_each_allocation_fails(bench):
    """With the MPI that starts in a tenth of the time; of ranks that talk in the end, some."""
    starve(bench, "mpich", 1, DIFFERENT, ["--time=full"], 10 ** 9)
    starve(bench, "mpich", 4, ["communicators"], JOURNAL, 100)


# ---- the page ----

def rows_of_page():
    """(condition, expected) of the table of doc/reliability.md, and what it says was found."""
    with open(os.path.join(os.path.dirname(harness.HERE), "doc", "reliability.md"), encoding="utf-8") as file:
        page = file.read().split("## What was tested")[1].split("\n## ")[0]
    lines = [line.strip().strip("|").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    return [tuple(cell.strip() for cell in cells) for cells in lines if cells[0].strip() != "condition"]


def all_tests():
    """As run.py knows them, which is the program that runs."""
    return sys.modules["__main__"].collect("", [], [])


def test_page(_bench):
    """doc/reliability.md promises what tests declare, and nothing else."""
    rows = rows_of_page()
    declared = conditions.declared(all_tests())
    harness.compare("rows", [row[:2] for row in rows], sorted(declared))
    harness.compare("found", {row[2] for row in rows}, {"so"})
    harness.compare("conditions with two expectations", len({row[0] for row in rows}), len(rows))
