"""Programs that come to MPI in unusual ways: loaded late, fetched by name, from an interpreter."""
import json
import os

import harness
import test_events
import test_reader

PYTHON = "/usr/bin/python3"  # Debian's, which has mpi4py


def late(bench, flavour, how, plugin=False):
    """Runs programs/late.c alone under the recorder; (run, archive, log)."""
    program = bench.program("late", flavour, ["-Wl,--as-needed", "-ldl"])
    words = [program, how, harness.FLAVOURS[flavour].library]
    if plugin:
        words.append(bench.program("late", flavour, ["-DPLUGIN", "-shared", "-fPIC",
                                                     "-Wl,--as-needed"]))
    stem = bench.path(f"late-{how}.{flavour}")
    run = bench.run([bench.refrain, "record", "--time=full",
                     "-f", f"--mpi={flavour}", "-o", stem + ".rfn",
                     *words], env={"EXPECT_OUT": stem + ".log"}, timeout=60, check=True)
    return run, stem + ".rfn", stem + ".log"


def check_late(bench, flavour, how, plugin=False):
    _, archive, log = late(bench, flavour, how, plugin)
    bench.verb("verify", archive)
    test_events.compare_logs(log, 1, bench.dump(archive))


def test_functions_of_the_whole_program(bench, flavour):
    """dlsym(RTLD_DEFAULT, "MPI_Send")"""
    check_late(bench, flavour, "default")


def test_functions_of_a_handle(bench, flavour):
    """dlsym(handle, "MPI_Send"), while dlsym(handle, "PMPI_Send") stays MPI's."""
    check_late(bench, flavour, "handle")


def test_functions_of_a_plugin(bench, flavour):
    check_late(bench, flavour, "plugin", plugin=True)


def test_calls_past_the_recorder(bench, flavour):
    """A plugin that is loaded past everything cannot be recorded; one line tells why."""
    run, archive, _ = late(bench, flavour, "deep", plugin=True)
    told = [line for line in run.err.splitlines() if line.startswith("refrain:")]
    harness.compare("lines", len(told), 1)
    if os.path.exists(archive) or "RTLD_DEEPBIND" not in told[0]:
        raise harness.Failure(f"expected no archive and the reason: {told}")


def test_names_are_the_real_ones(bench, flavour):
    """What is not MPI's is found as ever: lookups behind the caller, in other libraries, failures
    and their texts."""
    source = bench.path(f"names.{flavour}.c")
    with open(source, "w", encoding="ascii") as file:
        file.write('''#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
double cos(double x) { return x; }
int main(void)
{
    void *m = dlopen("libm.so.6", RTLD_LAZY);
    double (*next)(double) = dlsym(RTLD_NEXT, "cos"), (*of_m)(double) = dlsym(m, "cos");
    MPI_Init(NULL, NULL);
    printf("%d %d %d", next && next != cos, of_m && of_m != cos, dlsym(m, "MPI_Send") == NULL);
    dlerror();
    printf(" %d", dlsym(m, "MPI_Nothing") == NULL && strstr(dlerror(), "MPI_Nothing") != NULL);
    printf(" %d", dlsym(RTLD_NEXT, "MPI_Send") != NULL && dlerror() == NULL);
    printf(" %d\\n", dlvsym(m, "cos", "GLIBC_2.2.5") != NULL);
    return MPI_Finalize();
}
''')
    program = bench.program(source, flavour, ["-ldl", "-fno-builtin", "-rdynamic"])
    alone = bench.run([program], check=True)
    harness.compare("alone", alone.out, "1 1 1 1 1 1\n")
    run = bench.run([bench.refrain, "record", "--time=full",
                     "-f", "-o", bench.path("names.rfn"), program],
                    check=True)
    harness.compare("recorded", run.out, alone.out)


# ---- Python ----

MPI4PY = """from mpi4py import MPI
import array
comm = MPI.COMM_WORLD
some = array.array('i', [0] * 5)
for i in range(3):
    if comm.rank == 0:
        comm.Send(some, dest=1, tag=7)
    else:
        comm.Recv(some, source=0, tag=7)
comm.Barrier()
half = comm.Split(comm.rank, 0)
comm.Allreduce(array.array('d', [1.0] * 4), array.array('d', [0.0] * 4))
half.Free()
"""

BOTH = ["MPI_Barrier comm=world", "MPI_Comm_split comm=world color={rank} key=0 newcomm=comm#{new}",
        "MPI_Allreduce count=4 datatype=MPI_DOUBLE op=MPI_SUM comm=world",
        "MPI_Comm_free comm=comm#{new}", "MPI_Finalize"]
START = ["MPI_Init_thread required=3"]
ONE = [["MPI_Send count=5 datatype=MPI_INT dest=1 tag=7 comm=world bytes=20"] * 3,
       ["MPI_Recv count=5 datatype=MPI_INT source=0 tag=7 comm=world bytes=20"] * 3]


def test_mpi4py(bench):
    """Debian's mpi4py is made for Open MPI. What it asks on its own (ranks, extents, attributes) is
    recorded too; here is compared what the script calls."""
    path, archive = bench.path("solver.py"), bench.path("solver.rfn")
    with open(path, "w", encoding="ascii") as file:
        file.write(MPI4PY)
    bench.run([*harness.FLAVOURS["openmpi"].launch(2), bench.refrain, "record", "--time=full",
               "-o", archive,
               "--mpi=openmpi", PYTHON, path], check=True)
    bench.verb("verify", archive)
    for rank in range(2):
        lines = START + ONE[rank] + BOTH
        events = [e for e in bench.dump(archive, "--rank", str(rank))
                  if any(e["function"] == line.split(" ")[0] for line in lines)]
        new = harness.parameter(events[5], "newcomm") or "comm#?"
        lines = [line.format(rank=rank, new=new.removeprefix("comm#")) for line in lines]
        harness.compare_log(f"rank {rank}", lines, events, {})


CTYPES = """import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
version = (ctypes.c_int(), ctypes.c_int())
mpi.MPI_Init(None, None)
for i in range(4):
    mpi.MPI_Get_version(ctypes.byref(version[0]), ctypes.byref(version[1]))
mpi.PMPI_Get_version(ctypes.byref(version[0]), ctypes.byref(version[1]))
mpi.MPI_Finalize()
"""


def test_ctypes(bench, flavour):
    """An interpreter that fetches C functions by name."""
    path, archive = bench.path("fetch.py"), bench.path(f"fetch.{flavour}.rfn")
    with open(path, "w", encoding="ascii") as file:
        file.write(CTYPES)
    bench.run([bench.refrain, "record", "--time=full",
               "-f", "-o", archive, f"--mpi={flavour}", PYTHON, path,
               harness.FLAVOURS[flavour].library], check=True)
    harness.compare("calls", harness.count_calls(bench.dump(archive)),
                    {"MPI_Init": 1, "MPI_Get_version": 4, "MPI_Finalize": 1})


# ---- sessions (MPICH: Open MPI 4 has none) ----


def check_sessions(bench, how, lines=1, alone=True, ranks=3):
    """alone: the program runs without the recorder, too."""
    program, stem = bench.program("sessions", "mpich"), bench.path(f"sessions-{how}-{ranks}")
    launch, archive = harness.FLAVOURS["mpich"].launch(ranks), stem + ".rfn"
    code = bench.run([*launch, program, how], timeout=60).code if alone else 0
    run = bench.run([*launch, bench.refrain, "record", "--time=full", "-o", archive, program, how],
                    env={"EXPECT_OUT": stem + ".log"}, timeout=60)
    harness.compare("exit status", run.code, code)
    told = [line for line in run.err.splitlines() if line.startswith("refrain:")]
    harness.compare(f"lines in {run.err}", len(told), lines)
    bench.verb("verify", archive)
    test_events.compare_logs(stem + ".log", ranks, bench.dump(archive))
    test_reader.compare(bench, archive, how)
    return told, archive


def test_sessions_that_overlap(bench):
    """The archive is written when the last session ends; members are ranks of mpi://WORLD."""
    _, archive = check_sessions(bench, "overlap")
    messages = json.loads(bench.verb("report", "--json", archive))["communication_matrix"]
    harness.compare("messages", [(m["source"], m["dest"], m["bytes"]) for m in messages], [(2, 0, 28)])


def test_sessions_beside_the_world(bench):
    """A session that ends between MPI_Init and MPI_Finalize ends nothing."""
    check_sessions(bench, "world")


def test_session_after_the_last(bench):
    """(MPICH 4.0 ends with a signal there, with the recorder or without.)"""
    told, _ = check_sessions(bench, "again", lines=2)
    if "already written" not in told[1]:
        raise harness.Failure(f"the second session is not told of: {told}")


def test_session_without_communication(bench):
    """The ranks merge when they exit."""
    check_sessions(bench, "self")


def test_sessions_of_any_number_of_ranks(bench):
    """MPICH crashes in MPI_Comm_create on one rank, as it has no MPI_COMM_WORLD then."""
    for ranks in (1, 2, 3, 4):
        check_sessions(bench, "sets", ranks=ranks)
    check_sessions(bench, "self", ranks=1)
    check_sessions(bench, "world", ranks=1)


def test_session_to_ask(bench):
    """One rank asks a session something before all call MPI_Init: nobody is waited for. (MPICH 4.0
    cannot start twice; with the recorder, which has a session too, it has not ended between.)"""
    check_sessions(bench, "ask", alone=False)


FORTRAN_CTYPES = """import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1])
world, ierr = ctypes.c_int(int(sys.argv[2], 0)), ctypes.c_int()
mpi.mpi_init_(ctypes.byref(ierr))
for i in range(3):
    mpi.mpi_barrier_(ctypes.byref(world), ctypes.byref(ierr))
mpi.mpi_finalize_(ctypes.byref(ierr))
"""


def test_fortran_functions_by_name(bench, flavour):
    """Functions of MPI's library for Fortran, from a handle."""
    path, archive = bench.path("fetch-fortran.py"), bench.path(f"fetch-fortran.{flavour}.rfn")
    library, world = {"openmpi": ("libmpi_mpifh.so.40", "0"),
                      "mpich": ("libmpichfort.so.12", "0x44000000")}[flavour]
    with open(path, "w", encoding="ascii") as file:
        file.write(FORTRAN_CTYPES)
    bench.run([bench.refrain, "record", "--time=full",
               "-f", "-o", archive, f"--mpi={flavour}", PYTHON, path,
               library, world], check=True)
    harness.compare("calls", harness.count_calls(bench.dump(archive)),
                    {"MPI_Init": 1, "MPI_Barrier": 3, "MPI_Finalize": 1})
