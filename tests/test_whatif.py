"""Run times under assumptions (refrain whatif): against an independent predictor, and against runs in which what is
assumed is so."""
import json
import math
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


def saved(bench, archive, *options):
    found = whatif(bench, archive, "--top", "1", *options)
    return round((found["recorded_seconds"] - found["predicted_seconds"]) * 1e9)


def halo(bench):
    program = test_smpi.smpi_program(bench, os.path.join(harness.HERE, "..", "examples", "halo.c"))
    return test_smpi.smpi_run(bench, program, 6, ["30", "4"])


def test_events(bench):
    """What a single event saves, found for all at once, is what the run gains without it; also in loops, and after
    other events are gone."""
    exchange = test_smpi.smpi_program(bench, SOURCE)
    pathology = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "faults", "late_in_halo.c"))
    for archive, least in ((test_smpi.smpi_run(bench, exchange, 4, ["5", "40"]), 8), (halo(bench), 0),
                           (test_smpi.smpi_run(bench, pathology, 6), 1)):
        harness.compare("nothing is changed", saved(bench, archive, "--scale", "L=1"), 0)
        found = whatif(bench, archive, "--events", "--top", "8", "--domino", "3")
        assert len(found["events"]) >= least, found["events"]
        for event in found["events"]:
            harness.compare(event["selector"], saved(bench, archive, "--remove", event["selector"]),
                            harness.ns(event["saved_seconds"]))
        gone = []
        for step in found["domino"]:
            gone += ["--remove", step["selector"]]
            harness.compare(f"without {gone}", saved(bench, archive, *gone),
                            harness.ns(found["recorded_seconds"]) - harness.ns(step["predicted_seconds"]))
        harness.compare("the best first", [step["selector"] for step in found["domino"][:1]],
                        [event["selector"] for event in found["events"][:1]])
    run = bench.run([bench.refrain, "whatif", "--events", "--scale", "wait:MPI_=0.5", archive])
    harness.compare("exit", run.code, 1)
    assert "remove waits, do not scale or cap them" in run.err, run.err


def test_report(bench):
    """The report says what it would take without its first story, and the factors of efficiency, of the whole and of
    windows, have the product that they are to have."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "faults", "slow_rank.c"))
    archive = test_smpi.smpi_run(bench, program, 8)
    report = json.loads(bench.verb("report", "--json", "--windows", "5", archive))
    first = report["stories"][0]
    finding = first["findings"][0]
    late = finding["ranks"][0]["rank"]
    found = whatif(bench, archive, "--remove", f"rank:{late}")
    # the surplus of the late rank is gone, not all that it computes
    assert found["predicted_seconds"] <= first["without_seconds"] < report["run_time_seconds"], first
    for window in [report["efficiency"], *report["windows"]]:
        factors = [window[f"{name}_efficiency"] for name in ("serialization", "transfer")] + [window["load_balance"]]
        assert all(0 < factor <= 1 for factor in factors), window
        harness.compare("product", abs(math.prod(factors) - window["parallel_efficiency"]) < 1e-3, True)
    ends = [(window["from_seconds"], window["to_seconds"]) for window in report["windows"]]
    harness.compare("one after the other", [end for _, end in ends[:-1]], [begin for begin, _ in ends[1:]])
