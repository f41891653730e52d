"""What the other tests rely on: jobs that do not end are described and ended."""
import os
import stat
import sys
import time
import unittest.mock

import conditions
import hanging
import harness


def script(bench, name, *lines):
    path = bench.path(name)
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join([*lines, ""]))
    os.chmod(path, stat.S_IRWXU)
    return path


def is_gone(process):
    """Whether it is soon: a signal takes effect when its turn comes."""
    for _ in range(100):
        if hanging.status(process)[:1] in ([], ["Z"]):
            return True
        time.sleep(0.1)
    return False


def failure_of(bench, command):
    try:
        bench.run(command, timeout=4)
    except harness.Failure as failure:
        return str(failure)
    raise harness.Failure("it ended")


def test_hanging_job(bench):
    """It says what it has said, and what its processes do; none of them is left."""
    numbers = bench.path("numbers")
    hangs = script(bench, "hangs.sh", "#!/bin/sh", "echo early words",
                   f"setsid sleep 600 & echo $! > {numbers}", "wait")
    said = failure_of(bench, [hangs])
    for words in ("not done after 4 s", "early words", "load:", "hangs.sh", "sleep 600"):
        if words not in said:
            raise harness.Failure(f"{words!r} is not in: {said}")
    with open(numbers, encoding="ascii") as file:
        harness.compare("it is gone", is_gone(int(file.read())), True)


# Adds a line to its log; the first times it does not end.
LAUNCHER = """#!{python}
import sys, time
with open("{log}", "a+") as log:
    log.write("started\\n")
    log.seek(0)
    if len(log.readlines()) <= int(sys.argv[1]):
        log.close()
        time.sleep(600)
print("done")
"""


def test_lost_ranks(bench):
    """A launcher that is left without ranks is ended, and the job run once more, not twice."""
    log = bench.path("log")
    launcher = script(bench, "mpirun.openmpi", LAUNCHER.format(python=sys.executable, log=log))
    with unittest.mock.patch.object(harness, "LOST", 2):
        harness.compare("output", bench.run([launcher, "1"]).out, "done\n")
        os.unlink(log)
        try:
            bench.run([launcher, "2"])
        except harness.LauncherHangs:
            return
    raise harness.Failure("a launcher that hangs twice was not found")


def test_unanswered_rank(bench):
    """A job with a rank that its launcher does not answer is run once more, in the folder as it was."""
    folder = bench.path("unanswered")
    os.makedirs(folder)
    script(bench, "unanswered/kept", "")
    asks = script(bench, "asks.sh", "#!/bin/sh", f"echo started >> {bench.path('starts')}",
                  "test -e new && exit 1", "touch new",
                  f"test $(wc -l < {bench.path('starts')}) = 1 && sleep 600", "exit 0")
    tidy = harness.tidies(folder)
    waiting = "#5 0x00007f17d40501cb in PMIx_Init () from libpmix.so.2"
    with unittest.mock.patch.object(hanging, "frames", lambda process: [waiting]):
        harness.compare("exit", bench.run([asks], cwd=folder, timeout=4, tidy=tidy).code, 0)
    harness.compare("files", sorted(os.listdir(folder)), ["kept", "new"])
    with unittest.mock.patch.object(hanging, "frames", lambda process: ["#5 in PMIx_Lookup ()"]):
        os.unlink(bench.path("starts"))
        failure_of(bench, [asks])


class Declares:
    """A test of a condition, as far as the table asks."""

    def __init__(self, verdict, flavour, long=False):
        self.name, self.flavour, self.long = f"{verdict}-{flavour}", flavour, long
        self.verdict, self.why, self.conditions = verdict, "no room", [("a flood", "it floats")]


def test_table_of_conditions(_bench):
    """It says so only where all tests of a condition have passed."""
    o, m = "openmpi", "mpich"
    for tests, expected in (
            ([Declares("passed", o), Declares("passed", m)], "so (openmpi, mpich)"),
            ([Declares("passed", None)], "so"),
            ([Declares("passed", o), Declares("failed", o), Declares("passed", m)], "FAILED (openmpi); so (mpich)"),
            ([Declares("passed", o), Declares("refused", o)], "not run here (openmpi): no room"),
            ([Declares("passed", o), Declares("none", o)], "not run here (openmpi): left out"),
            ([Declares("passed", o), Declares("none", m, True)],
             "so (openmpi); not run here (mpich): takes long, so with ALL=1 only"),
            ([Declares("none", None, True)], "not run here: takes long, so with ALL=1 only")):
        ran = [test for test in tests if test.verdict != "none"]
        text = conditions.table(tests, ran, {test.name for test in tests})
        harness.compare("found", text.split("\n")[-1].rstrip("| ").split(" | ")[-1], expected)
    harness.compare("no test is wanted", conditions.table([Declares("none", o)], [], set()), "")
