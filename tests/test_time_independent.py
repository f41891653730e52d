"""refrain record --time-independent: calls and parameters do not depend on how many ranks share a core, and volumes are
the program's alone."""
import json
import os

import harness

MS = 1000000
SPIN = 50 * MS  # of programs/volumes.c
SPUN, SLEPT = "MPI_Comm_test_inter", "MPI_Get_address"
RANKS, STEPS = 8, 20
VOLUMES = ("volume_gap", "volume_inside")
CORES = 2


def record(bench, flavour, ranks, argv, *options, cores=CORES):
    """The archive of a run whose ranks have so many cores."""
    archive = bench.fresh(f"{flavour}.rfn")
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    bench.run(["taskset", "-c", ",".join(map(str, allowed)), *harness.FLAVOURS[flavour].launch(ranks), bench.refrain,
               "record", "--time-independent", *options, "-o", archive, *argv], check=True)
    return archive


def messages(bench, archive):
    """What was called: all of the dump but the volumes."""
    return [{key: value for key, value in event.items() if key not in VOLUMES} for event in bench.dump(archive)]


def volumes_of_ranks(bench, archive):
    sums = [0] * RANKS
    for event in bench.dump(archive):
        sums[int(event["rank"])] += int(event["volume_gap"])
    return sums


def test_folded(bench, flavour):
    """8 ranks on 2 cores and on 1: 4 and 8 per core; and 2 ranks on 2 cores as they are."""
    program = [bench.program("folded", flavour), str(STEPS)]
    spread, folded = (record(bench, flavour, RANKS, program, cores=cores) for cores in (2, 1))
    harness.compare("messages", messages(bench, spread), messages(bench, folded))
    info = json.loads(bench.verb("info", "--json", folded))
    harness.compare("times", (info["times"], info["volume_threads"]), (False, RANKS))
    # Instructions are the same. CPU time is longer where caches are shared, but no other order of magnitude.
    for many, few in zip(volumes_of_ranks(bench, folded), volumes_of_ranks(bench, spread)):
        if info["volume"] == "instructions" and abs(many - few) > 0.01 * few:
            raise harness.Failure(f"instructions: {many} where ranks share a core, else {few}")
        if info["volume"] == "cpu" and not 0.1 * many < few < 10 * many:
            raise harness.Failure(f"CPU time: {many} where ranks share a core, else {few} ns")
    bench.verb("verify", folded)


def test_one_per_core(bench, flavour):
    """2 ranks on 2 cores, and on 1."""
    program = [bench.program("folded", flavour), str(STEPS)]
    alone, together = (messages(bench, record(bench, flavour, 2, program, cores=cores)) for cores in (2, 1))
    harness.compare("messages", alone, together)


def test_volumes(bench, flavour):
    """What a program spins, known by the counted clock, is in its volume; what it sleeps is not, and no call has one."""
    archive = record(bench, flavour, 2, [bench.program("volumes", flavour)], "--volume=cpu")
    for event in bench.dump(archive):
        harness.compare("inside", event["volume_inside"], "0")
        if event["function"] == SPUN and int(event["volume_gap"]) < 0.999 * SPIN:
            raise harness.Failure(f"spun {event['volume_gap']} ns")
        if event["function"] == SLEPT and int(event["volume_gap"]) >= 100 * MS:
            raise harness.Failure(f"computed {event['volume_gap']} ns in its sleep")
    info = json.loads(bench.verb("info", "--json", archive))
    if not 0 < info["volume_taken_out"] < 100000:
        raise harness.Failure(f"taken out: {info['volume_taken_out']} ns")
    text = bench.verb("info", archive)
    if f"cpu, of the program alone; {info['volume_taken_out']} ns taken out" not in text:
        raise harness.Failure(text)


def test_paths(bench, flavour):
    """The place of the call; with --call-path-match the path, as an ordinary recording has it."""
    program = [bench.program("folded", flavour), "2"]
    short = {event["call_path"] for event in bench.dump(record(bench, flavour, 2, program))}
    whole = {event["call_path"] for event in bench.dump(record(bench, flavour, 2, program, "--call-path-match=all"))}
    _, archive = bench.record(flavour, 2, program)
    harness.compare("paths", whole, {event["call_path"] for event in bench.dump(archive)})
    _, archive = bench.record(flavour, 2, program, ["--call-path-match=ends:0,1"])
    harness.compare("places", short, {event["call_path"] for event in bench.dump(archive)})
    if not max(map(len, whole)) > max(map(len, short)):
        raise harness.Failure(f"{whole} is no longer than {short}")


def test_what_needs_times(bench):
    for word in ("--time=full", "--sample=adaptive", "--similarity=jitter", "--resolution=1us"):
        run = bench.run([bench.refrain, "record", "--time-independent", word, "true"])
        harness.compare(f"exit of {word}", run.code, 2)
        if "--time-independent records none" not in run.err:
            raise harness.Failure(run.err)
