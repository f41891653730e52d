"""Ranks that merge while they run (--merge-interval): what is in the archive is what is in it without."""
import json
import os

import harness
import test_clusters
import test_fortran
import test_other_machine
import test_reader
import test_reduce
import test_smpi
import test_whatif

COLUMNS = b"rank", b"thread", b"function", b"parameters", b"call_path"


def unmeasured(lines):
    """A dump without times and volumes."""
    names = lines[0].split(b"\t")
    places = [names.index(column) for column in COLUMNS]
    return [[fields[place] for place in places] for fields in (line.split(b"\t") for line in lines)]


def info(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))


def online_merges(facts):
    """How many there were."""
    before = (facts["merging"] or {}).get("before")
    return before["online_merges"] if before else 0


def check_pair(bench, name, plain, merged, least=3):
    """Two archives of what is the same, the second with so many online merges at least."""
    facts = [info(bench, archive) for archive in (plain, merged)]
    bench.verb("verify", merged)
    harness.compare(f"{name}: online merges without", online_merges(facts[0]), 0)
    if online_merges(facts[1]) < least:
        raise harness.Failure(f"{name}: {online_merges(facts[1])} online merges")
    dumps = [unmeasured(test_reader.dump(bench, archive)) for archive in (plain, merged)]
    harness.compare(f"{name}: dumps", dumps[0] == dumps[1], True)
    test_reader.compare(bench, merged, name)
    return facts


def record(bench, flavour, arguments, options=(), env=None, ranks=4, checked=True, before=()):
    """What the program says and its archive, which need not be there unless it is checked, with reduced times unless
    the options say something else. before: words between the launcher and what it starts."""
    program = bench.program("online_merges", flavour)
    archive = bench.fresh("merged.rfn")
    command = [*harness.FLAVOURS[flavour].launch(ranks), *before, bench.refrain, "record", "--force", "-o",
               archive, "--time=reduced", *options, program, *arguments]
    return bench.run(command, env=env, timeout=100, check=checked), archive


SIMULATED_PROGRAMS = {"halo": ["30", "4"], "online_merges": ["30", "late", "split"], "sweep2d": ["30"]}


def simulate(bench, name, time, every):
    if name == "halo":
        source = os.path.join(harness.HERE, "..", "examples", "halo.c")
    elif name == "online_merges":
        source = os.path.join(harness.PROGRAMS, "online_merges.c")
    else:
        source = os.path.join(test_clusters.FOLDER, f"{name}.c")
    program = test_smpi.smpi_program(bench, source)
    run, archive = test_smpi.smpi_launch(bench, program, 16, SIMULATED_PROGRAMS[name],
                                         env={"REFRAIN_TIME": time, **every})
    kept = bench.fresh(f"{name}.rfn")
    os.rename(archive, kept)
    return kept


def test_simulated(bench):
    """On 16 simulated ranks, with all kinds of times; what was alike stays alike."""
    for name in SIMULATED_PROGRAMS:
        for time in ("none", "full", "reduced"):
            plain = simulate(bench, name, time, {})
            merged = simulate(bench, name, time, {"REFRAIN_MERGE_INTERVAL": "3"})
            facts = check_pair(bench, f"{name}, {time}", plain, merged, 1 if name == "halo" else 3)
            for what in ("groups", "clustered_groups"):
                harness.compare(f"{name}, {time}: {what}", facts[1][what], facts[0][what])
            # Call paths and the like are up by then. Each rank sends its own work, and how far reduced times lie
            # apart, in the end in any case.
            left = [each["merging"]["bytes"] - test_clusters.own_bytes(archive, 16)
                    for each, archive in zip(facts, (plain, merged))]
            print(f"{name}, {time}: {left[1]:.0f} bytes to merge in the end, without online merges {left[0]:.0f}")
            if left[1] >= left[0]:
                raise harness.Failure(f"{name}, {time}: as much is left as without online merges: {left}")


def test_spreads(bench):
    """How far times lie apart is what the times say, where only equal ones are kept once, and starts are exact. (Online
    merges take simulated time, according to what is kept, so that no other run has the same times.)"""
    for name in SIMULATED_PROGRAMS:
        merged = simulate(bench, name, "reduced", {"REFRAIN_MERGE_INTERVAL": "3", "REFRAIN_SIMILARITY": "absDiff:0",
                                                    "REFRAIN_SEGMENT_STARTS": "exact"})
        harness.compare(f"{name}: there are online merges", online_merges(info(bench, merged)) > 0, True)
        test_reduce.check_spreads(bench, merged, test_reduce.expected_spreads(merged))


def test_time_of_online_merges(bench):
    """Online merges are the recorder's own work: neither time that the program computes, nor in the calls after which
    ranks merge."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "short_steps.c"))
    outside, inside, own = [], [], []
    for time, every in (("full", {}), ("full", {"REFRAIN_MERGE_INTERVAL": "5"}),
                        ("reduced", {"REFRAIN_MERGE_INTERVAL": "5"})):
        archive = test_smpi.smpi_run(bench, program, 8, ["400"], {"REFRAIN_TIME": time, **every})
        shares, total = test_reduce.shares(bench, archive)
        worked = harness.recording_ns(archive)
        own.append([worked.get(int(rank), 0) for rank in sorted(total)])
        outside.append([shares[rank, "outside"] * total[rank] - worked.get(int(rank), 0) for rank in sorted(total)])
        inside.append([shares[rank, "MPI_Allreduce"] * total[rank] for rank in sorted(total)])
        harness.compare(f"{time}, {every}: online merges", online_merges(info(bench, archive)) > 5, bool(every))
    # Each of 450 calls is in whole ns, the recorder's work in us; reduced times are what computing and that work take
    # together, about.
    for plain, full, segments, worked in zip(*outside, own[2]):
        if abs(full - plain) > 1900 or abs(segments - plain) > 0.02 * plain + 0.005 * worked:
            raise harness.Failure(f"outside of MPI: {plain:.0f} ns without online merges, "
                                  f"{full:.0f} and {segments:.0f} with")
    for plain, full, segments in zip(*inside):
        if max(abs(full - plain), abs(segments - plain)) > 0.03 * plain:
            raise harness.Failure(f"in MPI_Allreduce: {plain:.0f} ns without online merges, "
                                  f"{full:.0f} and {segments:.0f} with")
    harness.compare("own work grows", [min(full, segments) > plain for plain, full, segments in zip(*own)], [True] * 8)


def test_predictions_of_online_merges(bench):
    """They take the time that they took, and are not computed: neither in a prediction for a machine nor where computing
    is assumed to take no time."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "short_steps.c"))
    machine = test_other_machine.platform(bench, test_other_machine.MACHINES[0])
    computed, saved = [], []
    for every in ({}, {"REFRAIN_MERGE_INTERVAL": "5"}):
        archive = test_smpi.smpi_run(bench, program, 8, ["400"], every)
        found = test_other_machine.predict(bench, archive, machine)
        computed.append([harness.ns(rank["compute_seconds"]) for rank in found["by_rank"]])
        found = test_whatif.whatif(bench, archive, "--remove=compute:main")
        saved.append(harness.ns(found["recorded_seconds"] - found["predicted_seconds"]))
    harness.compare("ns computed by ranks", computed[1], computed[0])
    if min(harness.recording_ns(archive).values()) < 2 * saved[0]:
        raise harness.Failure("online merges take so little that counting them as computing would not show")
    if abs(saved[1] - saved[0]) > 0.05 * saved[0]:
        raise harness.Failure(f"without computing {saved[0]} ns are saved, with online merges {saved[1]}")


CASES = {"openmpi": ((["late"], ["--time=none"]), (["off"], []), (["off"], ["--start-off"]), (["zero", "empty"], []),
                     (["values", "polls"], []), (["off", "polls"], []), (["values"], ["--time=none"]),
                     (["late", "split"], ["--time=full", "--volume=cpu"]),
                     (["late"], ["--memory=1M"])),
         "mpich": ((["late", "split", "refused", "zero"], []),)}  # whose ranks wait in earnest


@harness.long
def test_real(bench, flavour):
    """What a program may do between online merges."""
    for words, options in CASES[flavour]:
        pair = [record(bench, flavour, ["30", *words], [*options, *every])[1]
                for every in ([], ["--merge-interval=3"])]
        check_pair(bench, f"{words} {options}", *pair)


def test_seconds(bench, flavour):
    """As often as can be, and hardly ever: after calls 1, 3, 7, 15, ..."""
    for every, least, most in (("0.000000001s", 80, 101), ("1000s", 4, 8)):
        _, archive = record(bench, flavour, ["25"], [f"--merge-interval={every}"])
        number = online_merges(info(bench, archive))
        if not least <= number <= most:
            raise harness.Failure(f"{every}: {number} online merges")


def test_no_online_merges(bench, flavour):
    """Where there is no call to merge after, and where threads may be anywhere; on one rank."""
    for words, ranks, wanted in ((["alone"], 4, 0), (["threads"], 3, 0), ([], 1, None)):
        run, archive = record(bench, flavour, ["20", *words], ["--merge-interval=3"], ranks=ranks)
        bench.verb("verify", archive)
        found = online_merges(info(bench, archive))
        harness.compare(f"{words}: online merges", found if wanted is not None else found > 3,
                        wanted if wanted is not None else True)
        harness.compare(f"{words}: said", (run.err.count("MPI_THREAD_MULTIPLE"), run.err.count("no call of Barrier")),
                        (words.count("threads"), words.count("alone")))


def test_abort(bench, flavour):
    """A rank that calls MPI_Abort between online merges saves its own events, and nobody waits."""
    said = bench.fresh(f"abort-{flavour}.said")
    run, archive = record(bench, flavour, ["60", "abort"], ["--merge-interval=3"], checked=False,
                          before=harness.saying_into(said))
    if run.code == 0 or "rank 1 called MPI_Abort" not in harness.said_in(said):
        raise harness.Failure(f"exit {run.code}\n{run.err}\n{harness.said_in(said)}")
    archive = archive.replace(".rfn", ".rank1.rfn")
    dump = bench.run([bench.refrain, "dump", archive])
    last = dump.out.splitlines()[-1].split("\t")
    harness.compare("exit and last", (dump.code, last[1], last[5]), (3, "1", "MPI_Abort"))


def test_fortran_after_a_jump(bench):
    """Calls from Fortran count also when the rank has left another call by a jump, as they do on the others. (In
    Open MPI, whose library for Fortran calls the functions that the recorder passes by.)"""
    aside = bench.compiled("jump.openmpi", ["mpicc.openmpi", "-O1", "-c", os.path.join(test_fortran.FOLDER, "jump.c")])
    program = test_fortran.fortran(bench, "openmpi", "jumping", (aside,))
    for way in ("c", "fortran"):
        _, archive = bench.record("openmpi", 3, [program, way], ["--merge-interval=3"], timeout=60)
        calls = [(event["function"], "error=left" in event["parameters"]) for event in bench.dump(archive)
                 if event["function"] in ("MPI_Send", "MPI_Allreduce")]
        harness.compare(f"{way}: left", calls.count(("MPI_Send", True)), 1)
        harness.compare(f"{way}: after it", calls.count(("MPI_Allreduce", False)), 60)


def test_stopped(bench, flavour):
    """A rank whose recording stops takes part in the online merge that follows, the last one; the program
    goes on."""
    run, archive = record(bench, flavour, ["60", "memory"], ["--merge-interval=3"])
    for text in ("recording stops: out of memory", "rank 1: recording stopped: out of memory"):
        harness.compare(f"'{text}'", run.err.count(text), 1)
    harness.compare("archive", os.path.exists(archive), False)


def test_usage(bench):
    """What is no interval is refused."""
    for options, text in ((["--merge-interval=0"], "not '0'"), (["--merge-interval=1.5"], "not '1.5'"),
                          (["--merge-interval=3", "--no-cluster"], "--no-cluster leaves out")):
        run = bench.run([bench.refrain, "record", *options, "true"])
        harness.compare(f"{options}: refused", (run.code, text in run.err), (2, True))
