"""What whole-run tests share: building programs, recording them, reading what came out."""
import contextlib
import fcntl
import hashlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import textwrap

import hanging

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
INCLUDE = os.path.join(HERE, "..", "include")


class Failure(Exception):
    """A test's finding, in words."""


class Refused(Exception):
    """What the system does not let a test do, which nothing that is installed would change."""


class Flavour:
    """One MPI: how to compile for it and how to launch."""

    def __init__(self, name, mpicc, mpirun, library):
        self.name, self.mpicc, self.mpirun, self.library = name, mpicc, mpirun, library

    def launch(self, ranks):
        return [*self.mpirun, "-n", str(ranks)]


# With 32 processes or more Open MPI's launcher starts them by several threads, and then misses the
# ends of those that end early: "mpirun.openmpi -n 64 true" waits for ever.
ONE_THREAD = ["--mca", "odls_base_num_threads", "0"]
ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []
FLAVOURS = {
    "openmpi": Flavour("openmpi", "mpicc.openmpi", ["mpirun.openmpi", *ROOT, *ONE_THREAD, "--oversubscribe"], "libmpi.so.40"),
    "mpich": Flavour("mpich", "mpicc.mpich", ["mpirun.mpich"], "libmpich.so.12"),
}


class Run:
    """What a command left: exit code and output."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def saying_into(file, command=('exec "$@"',)):
    """Words to put before what a launcher starts, so that its ranks' standard error goes to a file. A launcher that
    ends its ranks may not pass on what they said last; a file loses nothing. command: what the shell does then."""
    return ["sh", "-c", "; ".join(['exec 2>>"$0"', *command]), file]


def said_in(file):
    with open(file, encoding="utf-8", errors="replace") as said:
        return said.read()


class LauncherHangs(Exception):
    """A launcher waits for ranks that have ended, or they for it."""


LOST = 20  # seconds without ranks after which they are not just about to start or to be missed


def wait_for(process, timeout):
    """What a process writes until it ends, at most in timeout seconds; they are counted one by one,
    so that a machine that stood still meanwhile (a virtual one, when it is moved) has waited for
    a second, whatever its clocks say then."""
    lost = 0
    for second in range(timeout):
        try:
            return process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            lost = lost + 1 if hanging.has_lost_its_ranks(process.pid) else 0
            if lost == LOST:
                raise LauncherHangs("the launcher did not see its ranks end") from None
            if second == timeout - 1:
                raise


def last_of(said):
    """The last lines of what a job said before it was ended."""
    lines = (said or b"").decode(errors="replace").split("\n")[-6:]
    return "".join(line + "\n" for line in lines if line)


def end_job(process):
    """Ends a launcher that hangs: asked first, it ends its ranks; then the whole group, and ranks
    that are in none of it."""
    ranks = hanging.descendants(process.pid)[1:]
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        pass
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    for rank in ranks:
        with contextlib.suppress(ProcessLookupError):
            os.kill(rank, signal.SIGKILL)
    process.wait()


def tidies(folder):
    """A function that removes the files which have come into a folder since this call."""
    before = set(os.listdir(folder))

    def tidy():
        for name in set(os.listdir(folder)) - before:
            os.remove(os.path.join(folder, name))
    return tidy


@contextlib.contextmanager
def locked(path):
    """Where one process is at a time: the lock is a file, which is left there."""
    with open(path, "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def real_time(test):
    """Marks a test that measures what ranks wait in the machine's time: run.py puts at most one
    other test beside it. A module of such tests says REAL_TIME = True."""
    test.real_time = True
    return test


def long(test):
    """Marks a test that takes long for what it adds to those which are not: more of the same, at a larger scale.
    `make check ALL=1` runs it. A module of such tests says LONG = True."""
    test.long = True
    return test


def condition(what, expected):
    """Marks a test of what survives (doc/reliability.md). run.py prints what it finds of each condition, as
    conditions.py says."""
    def mark(test):
        test.conditions = [*getattr(test, "conditions", ()), (what, expected)]
        return test
    return mark


class Harness:
    """shared: a folder for what is compiled, if several harnesses are to share that."""

    def __init__(self, build, shared=None):
        self.build = os.path.abspath(build)
        self.refrain = os.path.join(self.build, "refrain")
        self.region_library = os.path.join(self.build, "librefrain-region.a")
        self.folder = tempfile.mkdtemp(prefix="refrain-test-")
        self.shared = shared or self.folder
        self.numbers = itertools.count()

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def fresh(self, name):
        """A path that no call has given before: NAME with a number before its suffix."""
        stem, suffix = os.path.splitext(name)
        return self.path(f"{stem}-{next(self.numbers)}{suffix}")

    def run(self, command, timeout=120, env=None, cwd=None, check=False, tidy=None, cores=False):
        """Runs a command in the test folder; with check, a non-zero exit is a failure. Where a
        launcher hangs it is run once more, after tidy(). Only with cores, a report has what it says
        of ranks that lacked some."""
        try:
            run = self.run_once(command, timeout, env, cwd)
        except LauncherHangs as hangs:
            print(f"{hangs}, so once more: {' '.join(command)}")
            if tidy:
                tidy()
            run = self.run_once(command, timeout, env, cwd)
        if run.code < 0 and ":" in command:
            self.check_several(command[:command.index("-n")])
        if check and run.code != 0:
            raise Failure(f"exit {run.code}: {' '.join(command)}\n{run.out}{run.err}")
        is_report = command[0] == self.refrain and len(command) > 1 and (command[1] == "report" or command[1].endswith(".rfn"))
        if is_report and not cores:
            run.out = without_cores(run.out)
        return run

    def check_several(self, launcher):
        """Open MPI 5.0.7 of Debian 13 crashes where it starts several programs (open-mpi/ompi 13303)."""
        if self.run_once([*launcher, "-n", "1", "true", ":", "-n", "1", "true"], 60, None, None).code < 0:
            raise Refused("this launcher crashes where it starts several programs, also without the recorder")

    def run_once(self, command, timeout, env, cwd):
        """As run, without looking at what became of it."""
        # MPICH's UCX complains on standard output where there is no /sys, as in a chroot.
        environment = {**os.environ, "UCX_LOG_LEVEL": "fatal", **(env or {})}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, cwd=cwd or self.folder,
                              start_new_session=True, env=environment) as process:
            try:
                out, err = wait_for(process, timeout)
            except subprocess.TimeoutExpired as late:
                doing = hanging.describe(process.pid)
                end_job(process)
                if hanging.is_unanswered(doing):
                    raise LauncherHangs("the launcher did not answer a rank") from late
                raise Failure(f"not done after {timeout} s: {' '.join(command)}\n"
                              f"{last_of(late.stdout)}{last_of(late.stderr)}{doing}") from late
            except LauncherHangs:
                end_job(process)
                raise
        return Run(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))

    def once(self, name, key, make):
        """The path of a file that make(path) makes, once for all that have the same key."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:12]
        out = os.path.join(self.shared, f"{name}.{digest}")
        with locked(out + ".lock"):
            if not os.path.exists(out):
                make(out + ".new")
                os.rename(out + ".new", out)
        return out

    def compiled(self, name, command):
        """What a compiler's command makes, without its -o; made once."""
        return self.once(name, command, lambda out: self.run([*command, "-o", out], check=True))

    def program(self, name, flavour, flags=()):
        """Compiles tests/programs/NAME.c (or a path) for a flavour; the executable's path."""
        source = name if os.sep in name else os.path.join(PROGRAMS, name + ".c")
        stem = os.path.splitext(os.path.basename(source))[0]
        return self.compiled(f"{stem}.{flavour}", [
            FLAVOURS[flavour].mpicc, "-std=gnu11", "-O1", "-g", "-w", "-I", PROGRAMS, "-I", INCLUDE,
            source, *flags, self.region_library, "-lm", "-lpthread", "-ldl"])

    def record(self, flavour, ranks, command, options=(), env=None, timeout=120, archive=None,
               before=()):
        """Records a command, with full times unless the options say something else about them, or
        keep only samples; before: words before the launcher's. Returns (run, path of the archive)."""
        archive = archive or self.fresh("archive.rfn")
        alone = "--with-trace" not in options and any(option.startswith("--sample") for option in options)
        times = () if alone else ("--time=full",)
        run = self.run([*before, *FLAVOURS[flavour].launch(ranks), self.refrain, "record", "--force", "-o",
                        archive, *times, *options, *command], env=env, timeout=timeout, check=True)
        if not os.path.exists(archive):
            raise Failure(f"no archive from {' '.join(command)}\n{run.out}{run.err}")
        return run, archive

    def verb(self, verb, *arguments, timeout=120):
        return self.run([self.refrain, verb, *arguments], timeout=timeout, check=True).out

    def dump(self, archive, *options):
        """The events of an archive, as dictionaries by column name."""
        lines = self.verb("dump", archive, *options).split("\n")
        names = lines[0].split("\t")
        return [dict(zip(names, line.split("\t"))) for line in lines[1:] if line]


CORES_PARAGRAPH = re.compile(r"^Ranks? (\d+ )?had cores for .*\n(   .*\n)*", re.MULTILINE)


def without_cores(page):
    """A report without the sentences on ranks that lacked cores: whether they are there depends on what else the
    machine does, and no test but test_first_screen.py is about them. Lines stay as short as they were."""
    width = max(map(len, page.splitlines()), default=0)
    page = re.sub(r"\s+But\s+(that\s+rank|these\s+ranks)\s+had\s+cores\s+for\s+only\s+\S+\s+%\s+of\s+the\s+time\s+in\s+which"
                  r"\s+(it|they)\s+could\s+run\.", "", CORES_PARAGRAPH.sub("", page))
    return "".join(line if len(line) <= width + 1 else textwrap.fill(line, width, subsequent_indent="   ") + "\n"
                   for line in page.splitlines(keepends=True))


def parameters(event):
    """name=value pairs of a dumped event, as a set of texts."""
    return set(event["parameters"].split(" "))


def parameter(event, name):
    """The value of one parameter of a dumped event; None without it."""
    found = re.search(rf"(?:^| ){name}=(\S*)", event["parameters"])
    return found.group(1) if found else None


def polls(event):
    """How many calls a dumped event stands for."""
    found = re.search(r"(?:^| )polls=(\d+)", event["parameters"])
    return int(found.group(1)) if found else 1


def count_calls(events):
    """Calls by function, over all ranks."""
    counts = {}
    for event in events:
        counts[event["function"]] = counts.get(event["function"], 0) + polls(event)
    return counts


def ns(seconds):
    """Whole nanoseconds of a time in JSON."""
    return round(seconds * 1e9)


def difference(found, expected):
    """Where two values differ: of large ones, the first place."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        key = next(key for key in found if found[key] != expected[key])
        return f"{key}: {difference(found[key], expected[key])}"
    large = isinstance(found, list) and isinstance(expected, list) and (len(found) > 8 or len(repr(found)) > 2000)
    if large and len(found) == len(expected):
        at = next(i for i, value in enumerate(found) if value != expected[i])
        return f"[{at}]: {difference(found[at], expected[at])}"
    return f"found {found!r:.2000}, expected {expected!r:.2000}"


def own_pieces(archive):
    """When the recorder worked between calls: {stream: [(begin, end)]} in ns of the run, as the independent reader
    finds it."""
    import rfn_reader  # pylint: disable=import-outside-toplevel
    found, pieces = rfn_reader.Archive(archive), {}
    for number, (_, _, (_, quanta)) in found.usage().items():
        stream = found.streams[number]
        stream.open()
        pieces[number] = [tuple(stream.since_start(stream.timing.clock.start + at) for at in piece) for piece in quanta]
    return pieces


def recording_ns(archive, begin=-float("inf"), end=float("inf")):
    """How long the recorder worked between calls, by rank, as the independent reader finds it; begin, end: without
    what its pieces have before and after, in ns of the run."""
    import rfn_reader  # pylint: disable=import-outside-toplevel
    found, by_rank = rfn_reader.Archive(archive), {}
    for number, (_, _, (us, _)) in found.usage().items():
        by_rank[found.streams[number].rank] = by_rank.get(found.streams[number].rank, 0) + 1000 * us
    for number, pieces in own_pieces(archive).items():
        by_rank[found.streams[number].rank] -= sum(
            max(0, min(last, begin) - first) + max(0, last - max(first, end)) for first, last in pieces)
    return by_rank


def compare(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: {difference(found, expected)}")


def value_fits(wanted, found, names):
    """Whether a value is what a log says of it. names: the values of the words @name so far."""
    if not wanted.startswith("@"):
        return wanted in ("*", found)
    if wanted not in names and found not in names.values():
        names[wanted] = found
    return names.get(wanted) == found


def missing_parameters(wanted, event, names):
    """Those of the wanted parameters that an event does not have."""
    found = {}
    for word in event["parameters"].split(" "):
        name, _, value = word.partition("=")
        found.setdefault(name, set()).add(value)
    missing = []
    for word in filter(None, wanted):
        name, _, value = word.partition("=")
        if word.startswith("!"):
            fits = name[1:] not in found
        else:
            fits = any(value_fits(value, one, names) for one in sorted(found.get(name, ())))
        if not fits:
            missing.append(word)
    return missing


def compare_log(who, log, events, names):
    """A thread's expected calls (programs/expect.h) against its dumped events."""
    for number, (line, event) in enumerate(zip(log, events)):
        function, *wanted = line.split(" ")
        missing = missing_parameters(wanted, event, names)
        if function != event["function"] or missing:
            raise Failure(f"{who}, call {number}: expected {line}\n"
                          f"  found {event['function']} {event['parameters']}\n"
                          f"  missing {' '.join(missing)}")
    if len(log) != len(events):
        extra = [e["function"] for e in events[len(log):]] or log[len(events):]
        raise Failure(f"{who}: {len(events)} events, expected {len(log)}; from there {extra[:5]}")
