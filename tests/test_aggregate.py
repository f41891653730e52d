"""Archives without the calls that predictions do not need (refrain reduce --keep-predictions): refrain whatif says of
them what it says of the full ones, to the nanosecond, for all assumptions about kept calls, and refuses the others."""
import collections
import json
import os
import random

import harness
import pathologies
import rfn_reader
import test_smpi
import test_whatif

SIMULATED = True
FACTORS = (0, 0, 0.5, 0.1, 2, 3.7)


def calls_of(bench, archive):
    """Per rank its calls: enter, exit, function, path."""
    calls = collections.defaultdict(list)
    for event in bench.dump(archive):
        calls[int(event["rank"])].append((int(event["enter_ns"]), int(event["exit_ns"]), event["function"], event["call_path"]))
    return calls


def aggregate(bench, archive, threshold):
    """(the archive, the facts that reduce tells of it)."""
    out = bench.fresh("kept.rfn")
    found = json.loads(bench.verb("reduce", "--json", f"--keep-predictions={threshold}", "-o", out, archive))
    bench.verb("verify", out)
    return out, found


def places(full, kept):
    """(rank, index in the kept archive) -> index in the full one: calls stay as they are, in their order."""
    found = {}
    for rank, calls in kept.items():
        rest = iter(enumerate(full[rank]))
        for number, call in enumerate(calls):
            found[rank, number] = next(index for index, other in rest if other == call)
    return found


def predicted(bench, archive, assumptions, more=()):
    options = [word for selector, factor in assumptions for word in ("--scale", f"{selector}={factor}")]
    found = test_whatif.whatif(bench, archive, "--top", "1", *more, *options)
    return found["predicted_seconds"], found["recorded_seconds"]


def check_same(bench, archive, threshold, tries, regions=(), seed=1):
    """Random assumptions about long calls and regions. How much is left."""
    out, found = aggregate(bench, archive, threshold)
    n, different = compare_predictions(bench, archive, out, harness.ns(found["least_seconds"]), tries, regions, seed)
    harness.compare("events", (found["full_events"], found["events"]), n)
    return found, different


def compare_predictions(bench, archive, out, least, tries, regions=(), seed=1, more=()):
    """Of a full archive and one that lacks calls. (The events of both, how many assumptions changed something.)"""
    full, kept = calls_of(bench, archive), calls_of(bench, out)
    numbers = places(full, kept)
    long = [place for place in numbers if kept[place[0]][place[1]][1] - kept[place[0]][place[1]][0] >= least]
    draw, different = random.Random(seed), 0
    for _ in range(tries):
        events = draw.sample(long, min(len(long), draw.choice((0, 1, 3, 9))))
        factors = [draw.choice(FACTORS) for _ in events]
        others = [(selector, draw.choice(FACTORS)) for selector in regions if draw.random() < 0.5]
        of_full = [(f"event:{rank}/{numbers[rank, number]}", factor) for (rank, number), factor in zip(events, factors)]
        of_kept = [(f"event:{rank}/{number}", factor) for (rank, number), factor in zip(events, factors)]
        expected = predicted(bench, archive, of_full + others, more)
        harness.compare(f"{of_full + others}", predicted(bench, out, of_kept + others, more), expected)
        different += expected[0] != expected[1]
    return (sum(map(len, full.values())), len(numbers)), different


def test_as_the_page_says(bench):
    """The independent reader finds in the file what the tool says."""
    archive = groups_run(bench, 6, 3, 4)
    out, found = aggregate(bench, archive, "1ms,2K")
    of = rfn_reader.Archive(out).aggregated()
    full, kept = calls_of(bench, archive), calls_of(bench, out)
    network = test_whatif.whatif(bench, out)["parameters"]
    harness.compare("thresholds", of[:3], (1_000_000, 2048, 3))
    harness.compare("network", [round(value, 6) for value in of[3:7]],
                    [round(network[name] * 1e9, 6) for name in ("L", "o", "g", "G")])
    harness.compare("before", of[9:11], (found["full_events"], found["full_bytes"]))
    numbers = places(full, kept)
    for rank, gaps in enumerate(of[12]):
        expected = {number: numbers[rank, number] - numbers[rank, number - 1] - 1 for number in range(1, len(kept[rank]))}
        harness.compare(f"gaps of rank {rank}", gaps, {number: n for number, n in expected.items() if n})
    harness.compare("the full archive has none", rfn_reader.Archive(archive).aggregated(), None)


def groups_run(bench, ranks, group, exchanges, seed=1, iterations=12):
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "small_groups.c"))
    return test_smpi.smpi_run(bench, program, ranks, [str(seed), str(iterations), str(group), str(exchanges)])


def check_groups(bench, tries):
    for ranks, group, exchanges in ((6, 2, 4), (6, 3, 5), (8, 4, 6)):
        archive = groups_run(bench, ranks, group, exchanges)
        found, different = check_same(bench, archive, "1ms,1M", tries, ["region:move"])
        harness.compare(f"at most 54 % of the events of groups of {group} are left: {found['events_percent']}",
                        found["events_percent"] <= 54, True)
        harness.compare("assumptions that change something", different > tries // 2, True)


def test_small_groups(bench):
    check_groups(bench, 3)


@harness.long
def test_small_groups_long(bench):
    check_groups(bench, 200)


def check_random(bench, seeds, tries):
    program = test_smpi.smpi_program(bench, test_whatif.SOURCE)
    left = 0
    for seed in seeds:
        archive = test_smpi.smpi_run(bench, program, 3 + seed % 4, [str(seed), "40"])
        for threshold in ("2ms,8K", "900us,1M", "20ms,1M"):
            found, _ = check_same(bench, archive, threshold, tries, ["bytes:1M-"], seed)
            left += found["events"] < found["full_events"]
    harness.compare("something is left out", left > 0, True)


def test_random_programs(bench):
    check_random(bench, (11, 12), 2)


@harness.long
def test_random_programs_long(bench):
    check_random(bench, range(20, 30), 20)


def test_clusters_and_reduced(bench):
    """The input may have clusters, or times of similar iterations."""
    archive = groups_run(bench, 6, 3, 4)
    for number, options in enumerate((["--cluster"], ["--similarity", "absDiff:100000"])):
        reduced = bench.path(f"input.{number}.rfn")
        bench.verb("reduce", "-f", *options, "-o", reduced, archive)
        check_same(bench, reduced, "1ms", 2)


def longest_but(calls, share):
    """A threshold in ns: this share of all computations and calls is shorter."""
    times = sorted([left - enter for of in calls.values() for enter, left, _, _ in of] +
                   [later[0] - call[1] for of in calls.values() for call, later in zip(of, of[1:])])
    return times[int(len(times) * share)] + 1


def check_pathologies(bench, programs, tries):
    small = 0
    for program in programs:
        archive = pathologies.record(bench, program)
        for share in (0.9, 0.99):
            found, _ = check_same(bench, archive, f"{longest_but(calls_of(bench, archive), share)}ns", tries)
        small += found["events_percent"] <= 54
    harness.compare(f"half of the programs have at most 54 % of their events left: {small}", 2 * small >= len(programs), True)


def test_pathologies(bench):
    check_pathologies(bench, [pathologies.BALANCE], 3)


@harness.long
def test_pathologies_long(bench):
    check_pathologies(bench, [p for p in pathologies.PROGRAMS if not p.name.endswith("1024")], 200)


def refused(bench, archive, selector):
    run = bench.run([bench.refrain, "whatif", "--remove", selector, archive])
    harness.compare(f"{selector}: {run.err}", (run.code, f"nothing is known of '{selector}'" in run.err), (2, True))
    return run.err


def test_refused(bench):
    archive = groups_run(bench, 6, 2, 4)
    out, _ = aggregate(bench, archive, "1ms")
    for selector in ("L", "o", "G", "bytes:8", "rank:1", "call:MPI_Send", "wait:MPI_Recv", "compute:main"):
        refused(bench, out, selector)
    harness.compare("it is named", "MPI_Recv < exchange" in refused(bench, out, "wait:MPI_Recv"), True)
    run = bench.run([bench.refrain, "whatif", "--events", out])
    harness.compare(f"--events: {run.err}", (run.code, "needs the full archive" in run.err), (2, True))
    kept, computed = calls_of(bench, out), []
    for number, (enter, left, _, _) in enumerate(kept[2][:12]):
        if left - enter < 1_000_000:
            refused(bench, out, f"event:2/{number}")
        before = enter - kept[2][number - 1][1] if number else 0
        if before < 1_000_000:
            refused(bench, out, f"before:2/{number}")
        else:
            computed.append(number)
            test_whatif.whatif(bench, out, "--remove", f"before:2/{number}")
    harness.compare("some computations may be asked about", len(computed) > 0, True)
    ranked = test_whatif.whatif(bench, out)["remedies"]
    harness.compare("something is ranked", len(ranked) > 0, True)
    for remedy in ranked[:4]:
        given = [(remedy["selector"], remedy["factor"])]
        harness.compare("a ranked remedy may be asked", predicted(bench, out, given), predicted(bench, archive, given))
    facts, full = (json.loads(bench.verb("info", "--json", path)) for path in (out, archive))
    harness.compare("it says so", (facts["aggregated"]["left_out"] + facts["events"], full["aggregated"]),
                    (full["events"], None))
    harness.compare("report", "events were left out" in bench.verb("report", out), True)
    for verb, words in (("reduce", ["--keep-predictions"]), ("reduce", ["--rank", "0-1"])):
        run = bench.run([bench.refrain, verb, *words, "-o", bench.path("twice.rfn"), out])
        harness.compare(f"{verb} {words}: {run.err}", (run.code != 0, "has not all calls" in run.err), (True, True))


def test_predicted_of_kept(bench):
    """A prediction of a kept archive is written, and still has no other calls."""
    archive = groups_run(bench, 6, 3, 4)
    out, _ = aggregate(bench, archive, "1ms")
    written = bench.path("predicted.rfn")
    found = test_whatif.whatif(bench, out, "-f", "-o", written, "--remove", "region:move")
    harness.compare("run time", found["predicted_seconds"], predicted(bench, archive, [("region:move", 0)])[0])
    harness.compare("again", test_whatif.whatif(bench, written)["recorded_seconds"], found["predicted_seconds"])
    refused(bench, written, "L")
