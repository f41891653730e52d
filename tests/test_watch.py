"""refrain watch and refrain control with processes that show what they sample (programs/sampling/live_job.c), and
refrain_sample with a recorder that only tells of it; without MPI. Then both with a job that is recorded."""
import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import harness

ROOT = os.path.join(harness.HERE, "..")
FOLDER = os.path.join(harness.PROGRAMS, "sampling")
RANKS, SAMPLES = 3, 400
SENT = sum(1000 * (rank + 1) for rank in range(RANKS))
SECONDS = 60  # for what takes a moment


def live_job(bench):
    return bench.compiled("live_job", [
        "gcc", "-std=gnu11", "-O1", "-g", "-w", "-I", os.path.join(ROOT, "src"), "-I", harness.INCLUDE,
        os.path.join(FOLDER, "live_job.c"), os.path.join(bench.build, "librefrain.a"), "-lm"])


class Job:
    """A job that runs until end() or kill(). Of its name there is no other one on this machine."""

    def __init__(self, bench, name, ranks=RANKS):
        self.ranks = ranks
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            [live_job(bench), bench.path(name + ".rfn"), str(ranks)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        harness.compare("first words", self.process.stdout.readline(), b"ready\n")

    def end(self):
        """Lets it end; the strategies of its ranks."""
        out = self.process.communicate(timeout=SECONDS)[0].decode()
        harness.compare("exit of the job", self.process.returncode, 0)
        return sorted(out.splitlines())

    def kill(self):
        """Kills the launcher and, through the pipe that it leaves, ends the ranks."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def running(bench, name, ranks=RANKS):
    job = Job(bench, name, ranks)
    try:
        yield job
    finally:
        job.kill()


def unique(bench, word):
    """The name of a job that no other test run has."""
    return f"{word}-{os.path.basename(bench.fresh('x'))}-{os.getpid()}"


def refrain(bench, *words, code=0):
    run = bench.run([bench.refrain, *words])
    harness.compare(f"exit of {words}: {run.err}", run.code, code)
    return run


def look(bench, name, *options):
    return json.loads(refrain(bench, "watch", name, "--once", *options).out)


def expect_in(text, *parts):
    for part in parts:
        if part not in text:
            raise harness.Failure(f"'{part}' is not in: {text}")


def is_near(what, found, expected, off):
    if found is None or not abs(found - expected) <= off * expected:
        raise harness.Failure(f"{what}: {found}, not {expected}")


def check_latencies(row):
    """1 to 400 us: the mean is exact, quantiles are as exact as the histogram. The median's interval has the ranks
    that the binomial distribution gives: 200 +- 1.96 * sqrt(400) / 2, of the 400 or of the SAMPLES of each pair."""
    is_near("mean", row["mean_ns"], 200500, 1e-9)
    is_near("median", row["p50_ns"], 200500, 0.02)
    is_near("99th percentile", row["p99_ns"], 396000, 0.02)
    for name in ("mean", "p50", "p99"):
        low, high = row[f"{name}_low_ns"], row[f"{name}_high_ns"]
        if not low <= row[f"{name}_ns"] <= high:
            raise harness.Failure(f"{name}: {low}, {row[f'{name}_ns']}, {high}")


def test_once(bench):
    name = unique(bench, "once")
    with running(bench, name) as job:
        found = look(bench, name)
        facts = {key: found[key] for key in ("job", "program", "ranks", "ranks_here", "strategy", "strategies_differ",
                                             "messages", "bytes", "sampled", "dropped", "n_pairs", "ended")}
        harness.compare("facts", facts, {
            "job": name, "program": "live_job", "ranks": RANKS, "ranks_here": RANKS, "strategy": "adaptive",
            "strategies_differ": False, "messages": SENT, "bytes": 8 * SENT, "sampled": RANKS * SAMPLES,
            "dropped": 3 * RANKS, "n_pairs": RANKS, "ended": False})
        pairs = [(pair["source"], pair["destination"], pair["messages"], pair["bytes"], pair["sampled"])
                 for pair in found["pairs"]]
        harness.compare("pairs", pairs, [(2, 0, 3000, 24000, SAMPLES), (1, 2, 2000, 16000, SAMPLES),
                                         (0, 1, 1000, 8000, SAMPLES)])
        for row in (found["all"], *found["pairs"]):
            check_latencies(row)
        is_near("messages per second", found["messages_per_second"], SENT / found["seconds"], 1e-6)
        harness.compare("top", len(look(bench, name, "--top", "1")["pairs"]), 1)
        for other in (name + ".rfn", f"/some/where/{name}.rfn", str(process_of(bench, name))):
            harness.compare(other, look(bench, other)["job"], name)
        harness.compare("strategies at the end", job.end(), [f"rank {rank}: adaptive" for rank in range(RANKS)])
    expect_in(refrain(bench, "watch", name, code=1).err, f"no job named '{name}'")


def process_of(bench, name):
    jobs = json.loads(refrain(bench, "watch", "--json").out)["jobs"]
    return next(job["process"] for job in jobs if job["job"] == name)


def test_list(bench):
    """Two jobs, each with its line; a name that is nearly right."""
    first, second = unique(bench, "list"), unique(bench, "other")
    with running(bench, first), running(bench, second, 1):
        jobs = {job["job"]: job for job in json.loads(refrain(bench, "watch", "--json").out)["jobs"]}
        harness.compare("ranks", (jobs[first]["ranks_here"], jobs[second]["ranks_here"]), (RANKS, 1))
        harness.compare("messages", (jobs[first]["messages"], jobs[second]["messages"]), (SENT, 1000))
        page = refrain(bench, "watch").out
        line = re.search(rf"^ *{re.escape(first)} .*", page, re.M).group()
        expect_in(line, "live_job", f"{RANKS} of {RANKS}", f"{SENT:,}", "20.0 %", "adaptive")
        expect_in(refrain(bench, "watch", first[:-1] + "x", code=1).err, "did you mean")


def test_same_name(bench):
    """Two jobs of one name: neither is taken, but each has a process by which it can be named."""
    name = unique(bench, "same")
    with running(bench, name), running(bench, name):
        run = refrain(bench, "watch", name, code=1)
        expect_in(run.err, f"2 jobs are named '{name}'")
        expect_in(refrain(bench, "control", name, "sample=off", code=1).err, "2 jobs")
        pids = re.findall(r"(\d+) \(", run.err)
        harness.compare("processes", len(set(pids)), 2)
        expect_in(refrain(bench, "control", pids[0], "sample=off").out, f"asked {RANKS} processes")
        harness.compare("ranks", [look(bench, pid)["ranks_here"] for pid in pids], [RANKS] * 2)


def wait_for(what, condition):
    """Until a condition holds, which takes a moment."""
    end = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > end:
            raise harness.Failure(f"not after {SECONDS} s: {what}")
        time.sleep(0.02)


def test_control(bench):
    """All ranks take the strategy; watch shows it. The last wish counts."""
    name = unique(bench, "control")
    with running(bench, name) as job:
        expect_in(refrain(bench, "control", name, "sample=random:0.5").out,
                  f"asked {RANKS} processes on this node for random:0.5")
        wait_for("random", lambda: look(bench, name)["strategy"] == "random:0.5")
        refrain(bench, "control", name + ".rfn", "sample=counter:100+-10")
        wait_for("counter", lambda: look(bench, name)["messages"] >= SENT + RANKS + 1)
        wait_for("all have it", lambda: not look(bench, name)["strategies_differ"])
        strategies = job.end()
        harness.compare("ranks", [line[:8] for line in strategies], [f"rank {rank}: " for rank in range(RANKS)])
        for line in strategies:
            expect_in(line, "counter:100")
    expect_in(refrain(bench, "control", name, "sample=off", code=1).err, f"no job named '{name}'")


def test_killed_rank(bench):
    """The other ranks are shown and asked, as those of a node of several."""
    name = unique(bench, "killed")
    with running(bench, name):
        os.kill(process_of(bench, name), signal.SIGKILL)
        wait_for("its file is gone", lambda: look(bench, name)["ranks_here"] == RANKS - 1)
        harness.compare("messages", look(bench, name)["messages"], SENT - 1000)
        expect_in(refrain(bench, "control", name, "sample=off").out, f"asked {RANKS - 1} processes on this node",
                  f"The job has {RANKS} ranks")


def test_wrong_usage(bench):
    for words, what in (([], "which job?"), (["x", "rate=5"], "cannot be changed"),
                        (["x", "sample=often"], "sample=often"), (["x", "sample=off", "y"], "one change")):
        expect_in(refrain(bench, "control", *words, code=2).err, what)
    expect_in(refrain(bench, "control", "x", code=1).err, "no job named 'x'")
    for words, what in ((["x", "--interval=0"], "--interval"), (["x", "y"], "one job at a time")):
        expect_in(refrain(bench, "watch", *words, code=2).err, what)


def test_processes(bench):
    """Numbers of processes that are not there, or do not sample."""
    expect_in(refrain(bench, "watch", str(os.getpid()), code=1).err, "does not sample")
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        none = int(file.read()) + 1
    expect_in(refrain(bench, "watch", str(none), code=1).err, "there is no process")


def objects_of(out):
    return [json.loads(line) for line in out.splitlines()]


def test_stream(bench):
    """In a pipe one object per line, until the job ends: the last one says so, and only that one."""
    name = unique(bench, "stream")
    with running(bench, name) as job:
        with subprocess.Popen([bench.refrain, "watch", name, "--interval=0.05"], stdout=subprocess.PIPE) as watch:
            first = watch.stdout.readline().decode()
            second = watch.stdout.readline().decode()
            refrain(bench, "control", name, "sample=off")
            job.end()
            rest = watch.communicate(timeout=SECONDS)[0].decode()
        harness.compare("exit", watch.returncode, 0)
    objects = objects_of(first + second + rest)
    harness.compare("ended", [found["ended"] for found in objects], [False] * (len(objects) - 1) + [True])
    harness.compare("rate without messages", objects[1]["messages_per_second"], 0)
    counts = [found["messages"] for found in objects]
    harness.compare("counts grow", counts, sorted(counts))


def test_interrupt(bench):
    name = unique(bench, "interrupt")
    with running(bench, name), subprocess.Popen([bench.refrain, "watch", name, "--interval=3600"],
                                                stdout=subprocess.PIPE) as watch:
        harness.compare("job", json.loads(watch.stdout.readline())["job"], name)
        watch.send_signal(signal.SIGINT)
        out = watch.communicate(timeout=SECONDS)[0]
        harness.compare("the rest", (out, watch.returncode), (b"", 0))


def read_until(terminal, said, parts):
    """Reads what is printed on a terminal until it has all the parts; all of it."""
    end = time.monotonic() + SECONDS
    while not all(part in said for part in parts):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        if not ready:
            raise harness.Failure(f"{parts} are not in: {said}")
        try:
            said += os.read(terminal, 65536).decode()
        except OSError:  # the program has ended
            break
    return said


def test_terminal(bench):
    """The page is printed over the one before, and the end of the job is told."""
    name = unique(bench, "terminal")
    with running(bench, name) as job:
        terminal, other = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
        with subprocess.Popen([bench.refrain, "watch", name, "--interval=0.05"], stdin=other, stdout=other,
                              stderr=other, env=environment) as watch:
            os.close(other)
            said = read_until(terminal, "", ["\033["])
            refrain(bench, "control", name, "sample=random:0.25")
            said = read_until(terminal, said, ["random:0.25"])
            job.end()
            said = read_until(terminal, said, ["has ended"])
            watch.wait(timeout=SECONDS)
        os.close(terminal)
        harness.compare("exit", watch.returncode, 0)
    first = said.split("\033[")[0].replace("\r\n", "\n")
    expect_in(first, f"{name}: {RANKS} ranks on ", "sampling adaptive", f"{SENT:,} messages", "2 > 0", "397 us",
              f"all {RANKS} pairs")
    moves = set(re.findall(r"\033\[(\d+)A\033\[J", said))
    harness.compare("lines up", moves, {str(first.count("\n"))})


def test_damaged(bench):
    """Next to a damaged file the job is shown, and the list tells of the file."""
    name = unique(bench, "damaged")
    with running(bench, name):
        folder = next(path for path in (f"{place}/refrain-{os.geteuid()}" for place in
                                        ("/dev/shm", os.environ.get("TMPDIR", "/tmp"), "/tmp"))
                      if os.path.isdir(path) and any(entry.startswith(name) for entry in os.listdir(path)))
        path = os.path.join(folder, f"{name}.99.{os.getpid()}")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(b"rfn-live" + b"\xff" * 10000)
        try:
            harness.compare("ranks", look(bench, name)["ranks_here"], RANKS)
            expect_in(refrain(bench, "watch").err, f"{name}.99.")
        finally:
            os.remove(path)


def recorder_in_place(bench):
    return bench.compiled("recorder_in_place", ["gcc", "-shared", "-fPIC",
                                                os.path.join(FOLDER, "recorder_in_place.c")])


def test_calls(bench):
    """refrain_sample without a recorder, and with one: it gets the text and its answer comes back."""
    program = bench.compiled("strategies", ["gcc", "-I", harness.INCLUDE, os.path.join(FOLDER, "strategies.c"),
                                            bench.region_library, "-ldl"])
    harness.compare("alone", bench.run([program], check=True).out, "0 0\n")
    run = bench.run([program], env={"LD_PRELOAD": recorder_in_place(bench)}, check=True)
    harness.compare("with a recorder", run.out, "<random:0.5>1<often> -1\n")


def test_fortran_calls(bench):
    modules = bench.fresh("modules")
    os.mkdir(modules)
    program = bench.path("strategies.fortran")
    bench.run(["gfortran", "-J", modules, "-o", program, os.path.join(harness.INCLUDE, "refrain", "refrain.f90"),
               os.path.join(FOLDER, "strategies.F90"), bench.region_library, "-ldl"], check=True)
    harness.compare("alone", bench.run([program], check=True).out, "done\n")
    run = bench.run([program], env={"LD_PRELOAD": recorder_in_place(bench)}, check=True)
    harness.compare("with a recorder", run.out, "<random:0.5          >\n<off>\ndone\n")


def test_calls_while_recording(bench, flavour):
    """The recorder has refrain_sample, and says whether it takes a strategy."""
    program = bench.program(os.path.join(FOLDER, "strategies.c"), flavour, ("-DWITH_MPI",))
    run, _ = bench.record(flavour, 1, [program], ["--sample=adaptive", "--with-trace"])
    harness.compare("output with samples", run.out, "1 -1\n")
    run, archive = bench.record(flavour, 1, [program])
    harness.compare("output", run.out, "0 0\n")
    harness.compare("events", [event["function"] for event in bench.dump(archive)], ["MPI_Init", "MPI_Finalize"])


def is_seen(bench, name, condition):
    """Whether the job is there, and fulfils a condition."""
    run = bench.run([bench.refrain, "watch", name, "--once"])
    return run.code == 0 and condition(json.loads(run.out))


def test_rare_calls(bench, flavour):
    """A job that rarely calls MPI is shown as it is, and obeys, although no call of it is sampled."""
    name, told = unique(bench, f"rare-{flavour}"), bench.fresh("told")
    program = bench.program(os.path.join(FOLDER, "until_told.c"), flavour)
    with subprocess.Popen([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "--sample=random:1e-9", "-q",
                           "-o", bench.path(name + ".rfn"), program, told, "500"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as job:
        try:
            wait_for("messages", lambda: is_seen(bench, name, lambda found: found["messages"] > 0))
            seen = look(bench, name)["messages"]
            refrain(bench, "control", name, "sample=off")
            wait_for("off", lambda: is_seen(bench, name, lambda found: found["strategy"] == "off"))
            obeyed = look(bench, name)["messages"]
        finally:
            with open(told, "w", encoding="ascii"):
                pass
            code = job.wait(timeout=SECONDS)
    harness.compare("exit of the job", code, 0)
    harness.compare(f"{seen} messages are a few", seen < 24, True)
    harness.compare(f"{obeyed} messages are a few more", obeyed < seen + 24, True)


def test_recorded_job(bench, flavour):
    """A job that samples all messages, and then none: the archive has some of them."""
    name, told = unique(bench, f"recorded-{flavour}"), bench.fresh("told")
    archive = bench.path(name + ".rfn")
    program = bench.program(os.path.join(FOLDER, "until_told.c"), flavour)
    with subprocess.Popen([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "--sample=random:1", "-q",
                           "-o", archive, program, told], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as job:
        try:
            wait_for("samples", lambda: is_seen(bench, name, lambda found: found["all"]["sampled"] > 10))
            harness.compare("pairs", sorted((pair["source"], pair["destination"]) for pair in
                                            look(bench, name)["pairs"]), [(0, 1), (1, 0)])
            refrain(bench, "control", name, "sample=off")
            wait_for("off", lambda: is_seen(bench, name, lambda found: found["strategy"] == "off"))
            before = look(bench, name)["messages"]
            wait_for("more messages", lambda: is_seen(bench, name, lambda found: found["messages"] > before + 10))
        finally:
            with open(told, "w", encoding="ascii"):
                pass
            code = job.wait(timeout=SECONDS)
    harness.compare("exit of the job", code, 0)
    refrain(bench, "watch", name, code=1)
    sampling = json.loads(bench.verb("report", "--json", archive))["sampling"]
    harness.compare("changed", sampling["changed"], True)
    harness.compare("some were sampled", 10 < sampling["sampled"] <= sampling["messages"] - 10, True)
