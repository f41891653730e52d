"""Run times under assumptions (refrain whatif): against an independent predictor, and against runs in which what is
assumed is so."""
import json
import os

import harness
import predictor
import test_smpi

SIMULATED = True
SOURCE = os.path.join(harness.PROGRAMS, "random_exchange.c")


def whatif(bench, archive, *options, code=0):
    run = bench.run([bench.refrain, "whatif", "--json", *options, archive])
    harness.compare(f"exit of whatif {options}: {run.err}", run.code, code)
    return json.loads(run.out)


def ones(_):
    return 1


def check(bench, archive, options, compute=ones, own=ones, wait=ones, scale=None):
    """The tool and the independent predictor agree to the nanosecond."""
    found = whatif(bench, archive, *options)
    network = predictor.Network(found["parameters"])
    model = predictor.Predictor(bench.dump(archive), network)
    predicted = model.run(compute, own, wait, predictor.Network(found["parameters"], scale))
    harness.compare(f"{options}", harness.ns(found["predicted_seconds"]), predicted)
    return found


def test_random_programs(bench):
    program = test_smpi.smpi_program(bench, SOURCE)
    for seed, ranks in ((1, 4), (2, 3), (3, 6)):
        archive = test_smpi.smpi_run(bench, program, ranks, [str(seed), "40"])
        found = check(bench, archive, [])
        harness.compare("as recorded", found["predicted_seconds"], found["recorded_seconds"])
        check(bench, archive, ["--scale", "rank:1=0.5"], compute=lambda rank: 0.5 if rank == 1 else 1)
        check(bench, archive, ["--remove", "rank:0-2"], compute=lambda rank: 0 if rank <= 2 else 1)
        check(bench, archive, ["--scale", "call:MPI_Waitall=0.25"], own=lambda f: 0.25 if f == "MPI_Waitall" else 1)
        check(bench, archive, ["--remove", "wait:MPI_Waitall"], wait=lambda f: 0 if f == "MPI_Waitall" else 1)
        check(bench, archive, ["--scale", "L=3"], scale={"L": 3})
        check(bench, archive, ["--scale", "G=0", "--scale", "rank:2=2"], compute=lambda rank: 2 if rank == 2 else 1,
              scale={"G": 0})
