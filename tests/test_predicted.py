"""Predicted runs as archives (refrain whatif -o): all that reads archives reads them, what they say of times is what an
independent predictor says, and they say that they are predicted."""
import json
import os
import subprocess
import sys

import harness
import predictor
import test_smpi
import test_whatif

SIMULATED = True
READER = os.path.join(harness.HERE, "rfn_reader.py")


def predicted(bench, archive, *options):
    """Writes a prediction; (its archive, what the command says of it)."""
    out = bench.fresh("predicted.rfn")
    found = test_whatif.whatif(bench, archive, "-o", out, *options)
    bench.verb("verify", out)
    return out, found


def info(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))


def random_run(bench, seed, ranks, rounds=40):
    program = test_smpi.smpi_program(bench, test_whatif.SOURCE)
    return test_smpi.smpi_run(bench, program, ranks, [str(seed), str(rounds)])


def check_same(bench, archive):
    """Without an assumption it is the run, to the nanosecond; and the independent reader reads that."""
    out, found = predicted(bench, archive)
    dump = bench.verb("dump", archive)
    harness.compare("run time", found["predicted_seconds"], found["recorded_seconds"])
    harness.compare("the dump is that of the run", bench.verb("dump", out) == dump, True)
    read = subprocess.run([sys.executable, READER, out], capture_output=True, text=True, check=True).stdout
    harness.compare("the reader's dump is that of the run", read == dump, True)
    facts = info(bench, out)
    harness.compare("it says so", (facts["predicted"], info(bench, archive)["predicted"], facts["reduced"]),
                    ("", None, None))


def test_as_recorded(bench):
    archive = random_run(bench, 4, 4)
    check_same(bench, archive)
    for number, options in enumerate((["--similarity", "absDiff:1000"], ["--similarity", "avgWave", "--across"], ["--cluster"])):
        reduced = bench.path(f"reduced.{number}.rfn")
        bench.verb("reduce", "-f", *options, "-o", reduced, archive)
        check_same(bench, reduced)
    for name, ranks, env in (("polls", 2, {}), ("polls", 2, {"REFRAIN_ALL_POLLS": "1"}), ("waits_polling", 2, {}),
                             ("one_sided", 2, {}), ("partitioned", 2, {}), ("persistent", 2, {})):
        program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, name + ".c"))
        check_same(bench, test_smpi.smpi_run(bench, program, ranks, env=env))


def check_times(bench, archive, options, **functions):
    """Every call begins and ends when the independent predictor says; so does the run."""
    out, found = predicted(bench, archive, *options)
    parameters = test_whatif.whatif(bench, archive, "--top", "1")["parameters"]
    network = predictor.Network(parameters)
    events = bench.dump(archive)
    model = predictor.Predictor(events, network)
    model.run(**functions)
    expected = [(call.entered, call.left) for rank in sorted(model.ranks) for call in model.ranks[rank]]
    written = [(int(event["enter_ns"]), int(event["exit_ns"])) for event in bench.dump(out)]
    harness.compare(f"times with {options}", written, expected)
    harness.compare("other words", [e["parameters"] for e in bench.dump(out)], [e["parameters"] for e in events])
    report = json.loads(bench.verb("report", "--json", out))
    harness.compare("run time", report["run_time_seconds"], found["predicted_seconds"])
    harness.compare("it is another one", found["predicted_seconds"] != found["recorded_seconds"], True)
    again = test_whatif.whatif(bench, out)
    harness.compare("it is a run like others", again["recorded_seconds"], found["predicted_seconds"])
    return out, report


def test_assumptions(bench):
    archive = random_run(bench, 5, 5)
    out, report = check_times(bench, archive, ["--scale", "rank:1=0.5"], compute=test_whatif.scaled(0.5, lambda call: call.rank == 1))
    harness.compare("the assumptions", report["predicted"], "rank:1 x 0.5")
    check_times(bench, archive, ["--scale", "rank:0-2=3"], compute=test_whatif.scaled(3, lambda call: call.rank <= 2))
    check_times(bench, archive, ["--remove", "wait:MPI_Waitall", "--scale", "call:MPI_Send=9"],
                own=test_whatif.scaled(9, lambda call: call.function.startswith("MPI_Send")),
                wait=test_whatif.scaled(0, lambda call: call.function == "MPI_Waitall"))
    capped, _ = predicted(bench, archive, "--cap", "rank:2=700us")
    harness.compare("cap", info(bench, capped)["predicted"], "rank:2 at most 700 us")
    again, _ = predicted(bench, out, "--scale", "rank:2=0.5")
    harness.compare("then", info(bench, again)["predicted"], "rank:1 x 0.5, then rank:2 x 0.5")
    for verb, said in (("report", "Predicted: times are predicted, not recorded: rank:1 x 0.5."),
                       ("info", "Predicted   times are predicted, not recorded: rank:1 x 0.5\n")):
        harness.compare(f"{verb} says so", said in bench.verb(verb, out), True)
    told = bench.run([bench.refrain, "dump", out]).err
    harness.compare("dump says so", told.strip().endswith("times are predicted, not recorded: rank:1 x 0.5"), True)
    harness.compare("compare", "refrain" not in bench.verb("compare", archive, out).split("\n")[0], True)


def test_polls_end(bench):
    """Where a polled message comes earlier the polls before it do not end later."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "waits_polling.c"))
    archive = test_smpi.smpi_run(bench, program, 2)
    for options in (["--remove", "rank:0"], ["--remove", "rank:1"], ["--scale", "rank:0=0.1"]):
        out, found = predicted(bench, archive, *options)
        last = {}
        for event in bench.dump(out):
            enter, left = int(event["enter_ns"]), int(event["exit_ns"])
            harness.compare(f"order on rank {event['rank']}", last.get(event["rank"], 0) <= enter <= left, True)
            last[event["rank"]] = left
        harness.compare("end of the run", max(last.values()) - first(bench, out), harness.ns(found["predicted_seconds"]))


def first(bench, archive):
    return min(int(event["enter_ns"]) for event in bench.dump(archive))


def test_parts(bench):
    """Ranks taken out of a prediction, and put together again."""
    out, _ = predicted(bench, random_run(bench, 6, 4), "--scale", "rank:3=0.5")
    parts = [bench.path(f"part.{i}.rfn") for i in range(2)]
    for ranks, part in zip(("0,2", "1,3"), parts):
        bench.verb("reduce", "-f", "--rank", ranks, "-o", part, out)
    whole = bench.path("whole.rfn")
    bench.verb("merge", "-f", "-o", whole, *parts)
    harness.compare("dump", bench.verb("dump", whole) == bench.verb("dump", out), True)
    harness.compare("predicted", info(bench, whole)["predicted"], "rank:3 x 0.5")


def test_refused(bench):
    archive = random_run(bench, 7, 3, 5)
    there = bench.path("there.rfn")
    with open(there, "w", encoding="ascii") as file:
        file.write("mine")
    for path, options, said in ((there, [], "exists already"), (archive, ["-f"], "is the archive that is read"),
                                (bench.folder, ["-f"], "is a directory")):
        run = bench.run([bench.refrain, "whatif", *options, "-o", path, archive])
        harness.compare(f"{path}: {run.err}", (run.code != 0, said in run.err), (True, True))
    with open(there, encoding="ascii") as file:
        harness.compare("the old file", file.read(), "mine")
    with open(archive, "rb") as file:
        bytes_ = file.read()
    cut = bench.path("cut.rfn")
    with open(cut, "wb") as file:
        file.write(bytes_[:len(bytes_) * 3 // 4])
    run = bench.run([bench.refrain, "whatif", "-o", bench.path("no.rfn"), cut])
    harness.compare(f"cut: {run.err}", (run.code, os.path.exists(bench.path("no.rfn"))), (3, False))
