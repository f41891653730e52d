"""Run times under assumptions (refrain whatif): against an independent predictor, and against runs in which what is
assumed is so."""
import json
import math
import os
import random

import harness
import pathologies
import predictor
import test_smpi
import whatif_truth

SIMULATED = True
SOURCE = os.path.join(harness.PROGRAMS, "random_exchange.c")


def whatif(bench, archive, *options, code=0):
    run = bench.run([bench.refrain, "whatif", "--json", *options, archive])
    harness.compare(f"exit of whatif {options}: {run.err}", run.code, code)
    return json.loads(run.out)


def scaled(factor, chosen):
    """What takes so many times as long where chosen(call)."""
    return lambda call, ns: predictor.nearest((factor if chosen(call) else 1) * ns)


class Assumed:
    """Options, and the same for the predictor."""

    def __init__(self, options, scale=None, **functions):
        self.options, self.scale, self.functions = options, scale, functions

    def check(self, bench, archive, events):
        """The tool and the independent predictor agree to the nanosecond."""
        found = whatif(bench, archive, "--top", "1", *self.options)
        model = predictor.Predictor(events, predictor.Network(found["parameters"]))
        predicted = model.run(**self.functions, lane=predictor.Network(found["parameters"], self.scale))
        harness.compare(f"{self.options}", harness.ns(found["predicted_seconds"]), predicted)
        return found


def some_ranks(draw, size):
    """A list as selectors have it, and whether a call is of these ranks."""
    first = draw.randrange(size)
    last = draw.randrange(first, size)
    return f"{first}-{last}", lambda call: first <= call.rank <= last


def any_assumption(draw, events):
    """Of computing, of calls, of waiting, of the network: each may be there."""
    functions = sorted({event["function"] for event in events} - {"MPI_Init", "MPI_Finalize"})
    size = 1 + max(int(event["rank"]) for event in events)
    assumed, kinds = Assumed([], {}), draw.sample(["compute", "cap", "own", "wait", "L", "o", "G"], draw.randint(1, 3))
    for kind in kinds:
        factor, (ranks, chosen), function = draw.choice([0, 0.25, 0.7, 3]), some_ranks(draw, size), draw.choice(functions)
        if kind == "compute":
            assumed.options += ["--scale", f"rank:{ranks}={factor}"]
            assumed.functions["compute"] = scaled(factor, chosen)
        elif kind == "cap":
            what, selector = draw.choice([("compute", f"rank:{ranks}"), ("wait", f"wait:MPI@{ranks}"), ("own", f"call:MPI@{ranks}")])
            if what not in kinds:
                assumed.options += ["--cap", f"{selector}=700us"]
                assumed.functions[what] = lambda call, ns, chosen=chosen: min(ns, 700_000) if chosen(call) else ns
        elif kind in ("own", "wait") and kind not in assumed.functions:
            selector = "call" if kind == "own" else "wait"
            assumed.options += ["--scale", f"{selector}:{function} <@{ranks}={factor}"]
            assumed.functions[kind] = scaled(factor, lambda call, chosen=chosen, function=function:
                                             call.function == function and chosen(call))
        elif kind in ("L", "o", "G"):
            assumed.options += ["--scale", f"{kind}={factor}"]
            assumed.scale[kind] = factor
    return assumed


def check_random(bench, archive, seed, n):
    """As recorded, and under n random assumptions."""
    draw, events = random.Random(seed), bench.dump(archive)
    found = Assumed([]).check(bench, archive, events)
    harness.compare("as recorded", found["predicted_seconds"], found["recorded_seconds"])
    for _ in range(n):
        any_assumption(draw, events).check(bench, archive, events)


def check_random_program(bench, name):
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, name))
    for seed, ranks in ((1, 4), (2, 3), (3, 6)):
        check_random(bench, test_smpi.smpi_run(bench, program, ranks, [str(seed), "40"]), seed, 12)


def test_random_programs(bench):
    check_random_program(bench, "random_exchange.c")


def test_random_calls(bench):
    """Communicators, wildcards, synchronous sends, requests that are completed one by one, parts."""
    check_random_program(bench, "random_calls.c")


def test_pathologies(bench):
    """Each pathology, a few iterations of it."""
    for seed, program in enumerate(pathologies.PROGRAMS):
        iterations = {"iterations": 2 if program.name.startswith("sweep") else 10}
        archive = whatif_truth.simulate(bench, pathologies.compiled(bench, program.source), program.ranks,
                                        program.arguments(**iterations))
        check_random(bench, archive, seed, 3)


def test_wrong_selectors(bench):
    """What means nothing is an error that says so."""
    archive = test_smpi.smpi_run(bench, test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "late_sender.c")), 2)
    for option, selector, words in (
            ("--remove", "call:MPI_Recv@2", "does not have all ranks of '2'"), ("--remove", "call:MPI_Recv@x", "no call path"),
            ("--remove", "event:0/99999", "no event '0/99999'"), ("--remove", "bytes:8388608T", "no range of sizes"),
            ("--cap", "L=1ms", "--cap is about computation, calls or waits, not about the network"),
            ("--cap", "rank:0", "--cap takes SELECTOR=TIME"), ("--cap", "rank:0=0", "--cap takes SELECTOR=TIME")):
        run = bench.run([bench.refrain, "whatif", option, selector, archive])
        harness.compare(f"exit of {option} {selector}", run.code, 2)
        if words not in run.err:
            raise harness.Failure(f"{option} {selector}: {run.err}")


def test_large_sizes(bench):
    """Sizes are the same with and without a unit, also of 8 MiB and more."""
    archive = halo(bench)
    for plain, with_unit in (("8388608-16777216", "8M-16M"), ("1099511627776-", "1T-")):
        texts = [whatif(bench, archive, "--remove", f"bytes:{sizes}")["predicted_seconds"] for sizes in (plain, with_unit)]
        harness.compare(plain, texts[0], texts[1])


def test_no_dominoes(bench):
    """Where nothing is left that saves time there is no step, with single events and without."""
    archive = test_smpi.smpi_run(bench, test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "late_sender.c")), 2)
    gone = ["rank:0-1", "call:MPI", "wait:MPI", "L", "o", "G"]
    options = [word for selector in gone for word in ("--remove", selector)]
    for more in ([], ["--events"]):
        harness.compare(f"{more}", whatif(bench, archive, "--domino", "3", *more, *options)["domino"], [])


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
