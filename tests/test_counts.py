"""Every call is accounted for: an independent counter in front of the recorder counts the same.

The counter (mpi_counter.py) is preloaded before the recorder, which keeps what is in LD_PRELOAD in
front. Per function, and summed over the ranks, its counts are those of the dump, in which a line
with polls=N stands for N calls; all together they are the calls that info tells.
"""
import glob
import json
import os

import harness
import mpi_counter
import test_events

HPCC_INPUT = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
200          Ns
1            # of NBs
32           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
200          values of N
0            number of additional blocking sizes for PTRANS
32           values of NB
"""


def counter(bench, flavour):
    """The path of the counter for a flavour."""
    out = bench.path(f"counter-{flavour}.so")
    if not os.path.exists(out):
        mpi_counter.build(f"/usr/lib/{os.uname().machine}-linux-gnu/"
                          f"{harness.FLAVOURS[flavour].library}", out)
    return out


def check_counts(bench, flavour, ranks, command, env=None, options=(), timeout=120, folder=None):
    """Records a command behind the counter; returns the archive."""
    prefix, archive = bench.fresh(f"counts-{flavour}"), bench.fresh(f"counts-{flavour}.rfn")
    bench.run([*harness.FLAVOURS[flavour].launch(ranks), "env",
               f"LD_PRELOAD={counter(bench, flavour)}", f"MPI_COUNTER_OUT={prefix}", bench.refrain,
               "record", "--time=full", "--force", "-o", archive, *options, *command],
              env=env, timeout=timeout, cwd=folder, check=True)
    files = glob.glob(glob.escape(prefix) + ".*")
    harness.compare("processes that counted", len(files), ranks)
    expected = mpi_counter.counted(prefix)
    bench.verb("verify", archive)
    events = bench.dump(archive)
    found = harness.count_calls(e for e in events if e["function"].startswith("MPI"))
    different = {function: (found.get(function, 0), expected.get(function, 0))
                 for function in sorted({*found, *expected})
                 if found.get(function, 0) != expected.get(function, 0)}
    harness.compare("functions with other counts (dumped, counted)", different, {})
    facts = json.loads(bench.verb("info", "--json", archive))
    harness.compare("calls", facts["calls"], sum(expected.values()))
    harness.compare("events", facts["events"], len(events))
    return archive


def make_test(name, ranks):
    def test(bench, flavour):
        check_counts(bench, flavour, ranks, [bench.program(name, flavour)])
    return test


for _name, _ranks in test_events.programs():
    # Of pcontrol not every call is to be recorded; what MPI's callbacks call counts here, but is no
    # event.
    if _name in ("pcontrol", "callbacks"):
        continue
    globals()[f"test_{_name}"] = make_test(_name, _ranks)


def around_main(bench, flavour):
    """A program whose library starts MPI before main and ends it after."""
    source = os.path.join(harness.PROGRAMS, "around_main.c")
    compiler = [harness.FLAVOURS[flavour].mpicc, "-g", source]
    library = bench.compiled(f"libaround.{flavour}.so", [*compiler, "-shared", "-fPIC"])
    return bench.compiled(f"around_main.{flavour}", [*compiler, "-DMAIN", library])


def test_around_main(bench, flavour):
    check_counts(bench, flavour, 2, [around_main(bench, flavour)])
    run, archive = bench.record(flavour, 2, [around_main(bench, flavour)])
    told = [line for line in run.err.splitlines() if line.startswith("refrain:")]
    harness.compare("output", run.out, "main is over\n" * 2)
    harness.compare(f"lines in {told}", len(told), 1)
    calls = harness.count_calls(bench.dump(archive))
    harness.compare("calls", calls, {"MPI_Init": 2, "MPI_Allreduce": 200, "MPI_Barrier": 2, "MPI_Finalize": 2})


def test_every_poll(bench, flavour):
    check_counts(bench, flavour, 2, [bench.program("polls", flavour)], options=["--polls=all"])


def test_hpcc(bench):
    """A real program as packaged: Linpack, transposition, random access, Fourier transform, ..."""
    folder = bench.path("hpcc")
    os.makedirs(folder)
    with open(os.path.join(folder, "hpccinf.txt"), "w", encoding="ascii") as file:
        file.write(HPCC_INPUT)
    check_counts(bench, "openmpi", 4, ["hpcc"], folder=folder, timeout=300,
                 env={"OMPI_MCA_mpi_yield_when_idle": "1"})
    with open(os.path.join(folder, "hpccoutf.txt"), encoding="ascii") as file:
        if "Success=1" not in file.read():
            raise harness.Failure("hpcc did not succeed")


def netpipe(bench, flavour, program, options):
    folder = bench.fresh(f"netpipe-{flavour}")
    os.makedirs(folder)
    check_counts(bench, flavour, 2, [program, "-u", "4096", "-n", "20", *options], folder=folder)


def test_netpipe(bench, flavour):
    program = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}[flavour]
    for options in ([], ["-a"], ["-S"], ["-2", "-a"]):
        netpipe(bench, flavour, program, options)


def test_netpipe_any_source(bench):
    """Only here: this way of NetPIPE does not end under Debian's MPICH, recorded or not."""
    netpipe(bench, "openmpi", "NPopenmpi", ["-z"])
