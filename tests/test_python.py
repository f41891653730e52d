"""Call paths of Python programs. Debian's mpi4py is made for Open MPI; functions that a script fetches from
the library work with both."""
import collections
import os
import re

import conditions
import harness

PYTHON = "/usr/bin/python3"  # Debian's, which has mpi4py
FRAMES = os.path.join(harness.PROGRAMS, "scripts", "frames.py")
# No files beside the tests' own; and text in files is UTF-8 whatever the language is.
CLEAN = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}


def line_of(source, text, which=0):
    """The line of the which-th line with this text."""
    return [i for i, line in enumerate(source.split("\n"), 1) if text in line][which]


def logged_path(line):
    """A line of frames.py's log as dump shows the path."""
    words = line.split("\t")
    frames = zip(words[::3], words[1::3], words[2::3])
    return " > ".join(f"{function}[{'/'.join(file.split('/')[-2:])}:{number}]" for function, file, number in frames)


@harness.condition("MPI loaded by Python (ctypes)", conditions.WHOLE)
def test_frames(bench, flavour):
    """The interpreter itself says where its frames are."""
    log = bench.fresh("frames.log")
    _, archive = bench.record(flavour, 1, [PYTHON, FRAMES, harness.FLAVOURS[flavour].library, log],
                              options=[f"--mpi={flavour}"], env=CLEAN)
    bench.verb("verify", archive)
    with open(log, encoding="utf-8", errors="backslashreplace") as file:
        expected = collections.Counter(logged_path(line) for line in file.read().split("\n"))
    events = bench.dump(archive)
    found = collections.Counter(e["call_path"] for e in events if e["function"] == "MPI_Get_version")
    harness.compare("threads", len({e["thread"] for e in events}), 4)
    for path in sorted(expected.keys() | found.keys()):
        harness.compare(path, found[path], expected[path])
    deep = {e["call_path"] for e in events if e["function"] == "MPI_Query_thread"}
    harness.compare("deep paths", len(deep), 1)
    frames = deep.pop().split(" > ")
    harness.compare("deep frames", len(set(frames)), 1)
    assert 900 < len(frames) <= 1024, f"{len(frames)} frames are kept"


MPI4PY = """import time
from mpi4py import MPI
def slow():
    time.sleep(0.01)
def exchange(c):
    c.allreduce(c.rank)
    c.Barrier()
    c.Barrier()
c = MPI.COMM_WORLD
for i in range(5):
    if c.rank == 1:
        slow()
    exchange(c)
"""


def recorded(bench):
    """An archive of this script on two ranks."""
    script = bench.path("solver.py")
    with open(script, "w", encoding="ascii") as file:
        file.write(MPI4PY)
    return bench.record("openmpi", 2, [PYTHON, script], options=["--mpi=openmpi"])[1]


def check_barriers(bench, archive):
    last = line_of(MPI4PY, "exchange(c)", 1)
    folder = os.path.basename(bench.folder)
    paths = [f"<module>[{folder}/solver.py:{last}] > exchange[{folder}/solver.py:{line_of(MPI4PY, 'Barrier', i)}]"
             for i in range(2)]
    found = [e["call_path"] for e in bench.dump(archive) if e["function"] == "MPI_Barrier"]
    harness.compare("barriers", found, paths * 5 * 2)


def test_mpi4py(bench):
    """Lines of the script, and nothing of the interpreter or the binding, in all that calls the script makes."""
    archive = recorded(bench)
    check_barriers(bench, archive)
    last, first = line_of(MPI4PY, "exchange(c)", 1), line_of(MPI4PY, "allreduce")
    report = bench.verb("report", archive)
    assert f"exchange (solver.py:{first}) < <module> (solver.py:{last})" in report, report
    assert re.search(rf"computing in <module>\(\) \[solver\.py:\d+-{last}\]", report), report
    assert "hardly any" not in report, report
    start = [e["call_path"] for e in bench.dump(archive) if e["function"] == "MPI_Init_thread"]
    harness.compare("start", {path.split("/")[-1] for path in start}, {f"solver.py:{line_of(MPI4PY, 'mpi4py')}]"})


def test_mpi_of_another_launcher(bench):
    """mpi4py has loaded Open MPI for itself; the launcher's MPI is another, and its recorder says so."""
    run = bench.run([*harness.FLAVOURS["mpich"].launch(1), bench.refrain, "record", PYTHON, "-c", "from mpi4py import MPI"])
    harness.compare("refused", (run.code != 0, "has loaded another MPI" in run.err, "MPI_Init" in run.err), (True, True, False))


def test_merged(bench):
    """Archives that are made from others keep the lines."""
    archive = recorded(bench)
    parts, again = [bench.fresh("part.rfn") for _ in range(2)], bench.fresh("again.rfn")
    for rank, part in enumerate(parts):
        bench.verb("reduce", f"--rank={rank}", "-o", part, archive)
    bench.verb("merge", "-o", again, *parts)
    check_barriers(bench, again)
