"""Other layers that wrap MPI, between the program and MPI (programs/layered.c): they act as without the recorder."""
import os

import harness

SOURCE = os.path.join(harness.PROGRAMS, "layered.c")
CALLS = 20


def with_layer(bench, flavour):
    folder = bench.fresh(f"layer.{flavour}")
    os.makedirs(folder)
    mpicc, program = harness.FLAVOURS[flavour].mpicc, os.path.join(folder, "layered")
    bench.run([mpicc, "-g", "-w", "-fPIC", "-shared", "-DLAYER", SOURCE, "-o", os.path.join(folder, "liblayer.so")],
              check=True)
    bench.run([mpicc, "-g", "-w", SOURCE, "-o", program, f"-L{folder}", "-Wl,--no-as-needed", "-llayer",
               f"-Wl,-rpath,{folder}"], check=True)
    return program


def test_layer_behind_the_recorder(bench, flavour):
    run, archive = bench.record(flavour, 3, [with_layer(bench, flavour)])
    harness.compare("output", sorted(run.out.splitlines()), [f"the layer saw {CALLS}", "world of 3"])
    calls = harness.count_calls(bench.dump(archive))
    harness.compare("calls", (calls["MPI_Barrier"], calls["MPI_Comm_rank"]), (3 * CALLS, 3))
    harness.compare("calls past the recorder", "past the recorder" in run.err, False)


def test_layer_that_keeps_a_rank(bench, flavour):
    """The recorder waits for no rank that the layer has sent home: the others keep what they have."""
    archive = bench.fresh("spare.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(3), "env", "SPARE=1", bench.refrain, "record", "-o", archive,
                     with_layer(bench, flavour)], timeout=60, check=True)
    harness.compare("output", sorted(run.out.splitlines()), [f"the layer saw {CALLS}", "world of 2"])
    harness.compare("said", run.err.count("a layer between the program and MPI has replaced"), 2)
    for rank in range(2):
        dump = bench.run([bench.refrain, "dump", archive.replace(".rfn", f".rank{rank}.rfn")])
        harness.compare(f"rank {rank}", (dump.code, dump.out.count("\tMPI_Barrier\t")), (3, CALLS))


def test_program_that_wraps_mpi_itself(bench, flavour):
    program = bench.compiled(f"wrapping.{flavour}", [harness.FLAVOURS[flavour].mpicc, "-g", "-w", "-DOWN", SOURCE])
    run, archive = bench.record(flavour, 2, [program])
    harness.compare("output", run.out.splitlines(), ["world of 2", f"the program saw {CALLS}"])
    harness.compare("recorded", harness.count_calls(bench.dump(archive)).get("MPI_Barrier"), None)
    said = [line for line in run.err.splitlines() if "past the recorder" in line]
    harness.compare("lines that say so", len(said), 1)
    if f"{2 * CALLS} calls" not in said[0] or f"MPI_Barrier in {os.path.basename(program)} ({CALLS})" not in said[0]:
        raise harness.Failure(said[0])
