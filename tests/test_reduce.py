"""refrain reduce: what was called stays, times stay as near as the method promises."""
import json
import math
import os
import re
import shutil

import harness
import rfn_reader
import rfn_text
import test_smpi

METHODS = ("relDiff", "absDiff", "manhattan", "euclidean", "chebyshev", "avgWave", "haarWave",
           "iterK", "iterAvg")
HALO = os.path.join(harness.HERE, "..", "examples", "halo.c")


def halo(bench, flavour, ranks=4, steps=300, options=()):
    program = bench.program(HALO, flavour)
    return bench.record(flavour, ranks, [program, str(steps), "16"], options,
                        archive=bench.fresh("halo.rfn"))[1]


def simulated_halo(bench, ranks, steps):
    """Times are those of a model: the same in every run."""
    program = test_smpi.smpi_program(bench, HALO)
    return test_smpi.smpi_run(bench, program, ranks, [str(steps), "4"])


def reduced(bench, archive, *options, timeout=120):
    """The path of the reduced archive, which is sound, and what reduce says of it."""
    out = bench.fresh("reduced.rfn")
    told = json.loads(bench.verb("reduce", archive, "-o", out, "--json", *options,
                                 timeout=timeout))
    bench.verb("verify", out)
    harness.compare("size", told["bytes"], os.path.getsize(out))
    harness.compare("size before", told["full_bytes"], os.path.getsize(archive))
    facts = json.loads(bench.verb("info", "--json", out))
    harness.compare("complete", facts["complete"], True)
    return out, told


def untimed(event):
    """What a reduction leaves as it is."""
    left = dict(event)
    for name in ("enter_ns", "exit_ns", "volume_gap", "volume_inside"):
        left.pop(name, None)
    left["parameters"] = re.sub(r"(^| )polls=\d+", "", left["parameters"])
    return left


def check_same(bench, archive, out, bound_ns):
    """Events are equal, times up to a bound (None: whatever they are, but ascending)."""
    before, after = bench.dump(archive), bench.dump(out)
    harness.compare("number of events", len(after), len(before))
    last = {}
    for old, new in zip(before, after):
        harness.compare("event", untimed(new), untimed(old))
        times = [int(new["enter_ns"]), int(new["exit_ns"])]
        who = (new["rank"], new["thread"])
        if not last.get(who, 0) <= times[0] <= times[1]:
            raise harness.Failure(f"times go back: {new}")
        last[who] = times[1]
        for time, name in zip(times, ("enter_ns", "exit_ns")):
            off = abs(time - int(old[name]))
            if bound_ns is not None and off > bound_ns:
                raise harness.Failure(f"{name} is {off} ns off, of at most {bound_ns}: {old}")


def test_lossless(bench, flavour):
    """A threshold of 0 with exact starts: nothing is lost, polls and volumes included."""
    for name, ranks, options in (("mixture", 4, []), ("polls", 2, []), ("regions", 2, []),
                                 ("volumes", 2, ["--volume=cpu"])):
        program = bench.program(name, flavour)
        archive = bench.record(flavour, ranks, [program], options)[1]
        for method in ("chebyshev:0", "jitter:0"):
            out = reduced(bench, archive, f"--similarity={method}", "--segment-starts=exact")[0]
            harness.compare(f"dump of {name}, {method}", bench.verb("dump", out), bench.verb("dump", archive))


def shares(bench, archive):
    """Of each rank's time, what it spends in each function, and "outside" of MPI; all of it, from MPI_Init to
    MPI_Finalize, in ns."""
    spent, begins, ends = {}, {}, {}
    for event in bench.dump(archive):
        rank, enter, leave = event["rank"], int(event["enter_ns"]), int(event["exit_ns"])
        spent[rank, event["function"]] = spent.get((rank, event["function"]), 0) + leave - enter
        begins.setdefault(rank, leave)
        ends[rank] = enter
    total = {rank: ends[rank] - begins[rank] for rank in ends}
    for rank, time in total.items():
        spent[rank, "outside"] = time - sum(ns for (who, name), ns in spent.items() if who == rank
                                            and name not in ("MPI_Init", "MPI_Finalize"))
    return {key: ns / total[key[0]] for key, ns in spent.items()}, total


def test_sums(bench):
    """Iterations that are shorter than what they may differ by: what a rank spends in which call, and outside of
    MPI, stays; whatever the first one took, and however often starts are corrected."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "short_steps.c"))
    full = test_smpi.smpi_run(bench, program, 8, ["2000"])
    out, told = reduced(bench, full)
    (before, total), (after, total_after) = shares(bench, full), shares(bench, out)
    harness.compare("few are kept", told["degree_of_matching"] > 0.99, True)
    harness.compare("run times", [abs(total[rank] - total_after[rank]) < 100000 for rank in total], [True] * 8)
    harness.compare("sums", sorted(after), sorted(before))
    for key, share in before.items():
        if key[1] not in ("MPI_Init", "MPI_Finalize") and abs(after[key] - share) > 0.005:
            raise harness.Failure(f"{key}: {share:.2%} of the rank's time in full, {after[key]:.2%} when reduced")


def test_bounds(bench, flavour):
    """absDiff: with exact starts times are off by T at most, with predicted ones by twice that."""
    archive = halo(bench, flavour)
    for micros in (1, 30, 1000):
        for starts, factor in (("exact", 1), ("predicted", 2)):
            out, told = reduced(bench, archive, f"--similarity=absDiff:{micros}", f"--segment-starts={starts}")
            check_same(bench, archive, out, factor * 1000 * micros)
    if told["degree_of_matching"] < 0.5:
        raise harness.Failure(f"at {micros} us: {told}")


def test_methods(bench, flavour):
    """All of them leave the events as they are, and files that are smaller."""
    archive = halo(bench, flavour)
    for method in METHODS:
        out, told = reduced(bench, archive, f"--similarity={method}")
        check_same(bench, archive, out, None)
        facts = json.loads(bench.verb("info", "--json", out))
        harness.compare("method", facts["reduced"]["similarity"].split(":")[0], method)
        harness.compare("size before", facts["reduced"]["full_bytes"], os.path.getsize(archive))
        if told["bytes"] >= told["full_bytes"]:
            raise harness.Failure(f"{method}: {told}")


def test_same_diagnosis(bench, flavour):
    """Where each iteration keeps its own times the report of them is that of the full times."""
    program = bench.program("uneven_shift", flavour)
    archive = bench.record(flavour, 4, [program])[1]
    out, told = reduced(bench, archive, "--similarity=absDiff:0")
    harness.compare("kept", told["kept"], told["segments"])
    check_same(bench, archive, out, 0)
    full, again = (json.loads(bench.verb("report", "--json", path)) for path in (archive, out))
    for part in ("wait_states", "causes", "critical_path", "efficiency"):
        harness.compare(part, again[part], full[part])


def test_own_work(bench):
    """The recorder worked when it did, also on the clock of the run that reduced times have."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "short_steps.c"))
    archive = test_smpi.smpi_run(bench, program, 8, ["400"], {"REFRAIN_MERGE_INTERVAL": "5"})
    pieces = harness.own_pieces(archive)
    if min(map(len, pieces.values())) < 5 or len(pieces) != 8:
        raise harness.Failure(f"pieces of the recorder's own work: {pieces}")
    out = reduced(bench, archive, "--similarity=absDiff:0")[0]
    harness.compare("pieces", harness.own_pieces(out), pieces)
    for path in (archive, out):
        causes = json.loads(bench.verb("report", "--json", "--all", path))["causes"]
        found = sum(cause["seconds"] for cause in causes if cause["kind"] == "recording")
        print(f"{found:.6f} s of waiting for the recorder")
        harness.compare("others wait for the recorder", found > 0, True)


def test_options(bench, flavour):
    """Longer segments, a limit per kind, little memory, several threads."""
    archive = halo(bench, flavour)
    out, by_step = reduced(bench, archive, "--similarity=manhattan:0")
    out, together = reduced(bench, archive, "--segment-min-calls=100")
    check_same(bench, archive, out, None)
    if together["segments"] >= by_step["segments"]:
        raise harness.Failure(f"segments: {together['segments']} of {by_step['segments']}")
    out, limited = reduced(bench, archive, "--similarity=manhattan:0", "--max-per-kind=5")
    check_same(bench, archive, out, None)
    if not limited["widened"] or limited["kept"] > 5 * limited["kinds"]:
        raise harness.Failure(f"at most 5 of a kind: {limited}")
    threads = bench.record(flavour, 2, [bench.program("threads", flavour)])[1]
    out = reduced(bench, threads, "--similarity=absDiff:100")[0]
    check_same(bench, threads, out, 200000)


def test_across(bench):
    """Ranks that went alike share a time set, and are as near as both thresholds say: that across
    counts once per level of the tree in which 16 ranks are joined."""
    archive = simulated_halo(bench, 16, 500)
    alone = reduced(bench, archive, "--similarity=absDiff:20")[1]
    out, told = reduced(bench, archive, "--similarity=absDiff:20", "--across=50")
    check_same(bench, archive, out, 2 * 20000 + 4 * 2 * 50000)
    harness.compare("time sets", (alone["time_sets"], told["time_sets"] < 16), (16, True))
    if told["bytes"] >= alone["bytes"]:
        raise harness.Failure(f"{told['bytes']} bytes, of {alone['bytes']} without")
    check_same(bench, archive, reduced(bench, archive, "--similarity=absDiff:0", "--across=0")[0], 0)


def times_of(events, rank):
    return [(event["function"], event["enter_ns"], event["exit_ns"]) for event in events
            if event["rank"] == str(rank)]


def test_across_one(bench):
    """All ranks have the times of rank 0, which are exact; all: they have their own."""
    archive = simulated_halo(bench, 9, 30)
    full = bench.dump(archive)
    out, told = reduced(bench, archive, "--similarity=absDiff:0", "--across=one")
    check_same(bench, archive, out, None)
    found = bench.dump(out)
    harness.compare("time sets", (told["time_sets"], told["degree_of_matching"] > 0.8), (1, True))
    for rank in range(9):
        harness.compare(f"times of rank {rank}", times_of(found, rank), times_of(full, 0))
    if times_of(full, 0) == times_of(full, 4):
        raise harness.Failure("ranks have equal times anyway")
    harness.compare("when the recorder worked is told of rank 0 alone",
                    [stream for stream, pieces in harness.own_pieces(out).items() if pieces and stream], [])
    every, _ = reduced(bench, archive, "--similarity=absDiff:0", "--across=all")
    without, _ = reduced(bench, archive, "--similarity=absDiff:0")
    with open(every, "rb") as one, open(without, "rb") as other:
        harness.compare("all is as without", one.read() == other.read(), True)
    clustered, _ = reduced(bench, archive, "--cluster", "--across=all")
    harness.compare("times", json.loads(bench.verb("info", "--json", clustered))["reduced"], None)


def test_small(bench):
    """A long and regular run takes a few KiB, whatever its length."""
    archive = simulated_halo(bench, 16, 3000)
    out, told = reduced(bench, archive)
    if told["bytes"] > 8 * 1024 or told["degree_of_matching"] < 0.99:
        raise harness.Failure(f"{told}")
    for verb, words in (("info", "jitter 0.02"), ("report", "Times are those of similar iterations: ")):
        told = bench.verb(verb, out)
        if words not in told:
            raise harness.Failure(f"{verb} does not say that times are approximate:\n{told}")


def expect(bench, code, text, *words):
    run = bench.run([bench.refrain, "reduce", *words])
    if run.code != code or text not in run.err:
        raise harness.Failure(f"reduce {' '.join(words)}: exit {run.code}, {run.err}")


def test_two_runs(bench, flavour):
    """Archives of two runs with the same events are compared, and it is said that they are; not so of one run."""
    program = bench.program("late_sender", flavour)
    full, again = (bench.record(flavour, 2, [program])[1] for _ in range(2))
    reduced = bench.fresh("one_run.rfn")
    bench.verb("reduce", full, "-o", reduced)
    for other, said in ((again, 1), (reduced, 0), (full, 0)):
        run = bench.run([bench.refrain, "compare", "--reduction", full, other])
        harness.compare(f"{other}: exit, said", (run.code, run.err.count("are of two runs")), (0, said))
        harness.compare(f"{other}: run times", run.out.startswith("Run time "), bool(said))
        for part in ("\nFirst ", "\nSecond ", "\nTimes differ by", "in the second run"):
            harness.compare(f"{other}: {part}", part in run.out, bool(said))
        trends = "Trends +" + ("(the same, all|not the same: .* the first run has) " if said else "retained, all ")
        harness.compare(f"{other}: {trends}", re.search(trends, run.out) is not None, True)
    for other, said in ((again, 0), (reduced, 1), (full, 0)):
        run = bench.run([bench.refrain, "compare", full, other], check=True)
        harness.compare(f"{other}: told of --reduction", run.out.count("refrain compare --reduction"), said)
    parts = [bench.fresh(f"only_{rank}.rfn") for rank in range(2)]
    for rank, part in enumerate(parts):
        bench.verb("reduce", f"--rank={rank}", full, "-o", part)
    run = bench.run([bench.refrain, "compare", "--reduction", *parts])
    # Archives with one rank each are incomplete: exit status 3.
    harness.compare("two ranks of one run", (run.code, run.out, "not of the same events" in run.err), (3, "", True))
    found = json.loads(bench.verb("compare", "--reduction", "--json", full, again))
    first, second = found["runs"]
    harness.compare("run time", first["run_time_ns"], found["run_time_ns"])
    for run in (first, second):
        if not 0 <= run["wait_share"] <= run["mpi_share"] <= 1 or run["run_time_ns"] <= 0:
            raise harness.Failure(f"times of a run: {run}")


def test_refused(bench, flavour):
    """What cannot be, and what must not: each with its reason."""
    archive = halo(bench, flavour, 2, 20)
    out = bench.fresh("out.rfn")
    expect(bench, 2, "where to?", archive)
    expect(bench, 2, "which file?", "-o", out)
    expect(bench, 2, "no similarity method 'mean'", archive, "-o", out, "--similarity=mean")
    expect(bench, 2, "is not a threshold of avgWave", archive, "-o", out, "--similarity=avgWave:x")
    expect(bench, 2, "is not a threshold of jitter", archive, "-o", out, "--across=-1")
    expect(bench, 2, "iterK does not compare processes", archive, "-o", out, "--similarity=iterK",
           "--across")
    expect(bench, 2, "--segment-starts is one of exact, predicted, not 'some'", archive, "-o", out, "--segment-starts=some")
    expect(bench, 2, "at least 2", archive, "-o", out, "--max-per-kind=1")
    expect(bench, 2, "at least 1M", archive, "-o", out, "--memory=1K")
    expect(bench, 2, "is the archive that is read", archive, "-o", archive, "--force")
    expect(bench, 1, "no-such", "no-such.rfn", "-o", out)
    expect(bench, 1, "No such file or directory", archive, "-o", bench.path("no-folder/out.rfn"))
    expect(bench, 1, "is a directory", archive, "-o", bench.folder)
    expect(bench, 1, "No space left", archive, "-o", "/dev/full")
    harness.compare("an archive after all", os.path.exists(out), False)
    bench.verb("reduce", archive, "-o", out)
    with open(out, "rb") as file:
        before = file.read()
    expect(bench, 1, "--force replaces it", archive, "-o", out)
    expect(bench, 1, "is reduced already (jitter:0.02)", out, "-o", bench.fresh("twice.rfn"))
    bench.verb("reduce", archive, "-o", out, "--force")
    with open(out, "rb") as file:
        harness.compare("the same archive reduced twice", file.read() == before, True)
    bare = halo(bench, flavour, 2, 20, ["--time=none"])
    expect(bench, 1, "has no times to reduce", bare, "-o", bench.fresh("bare.out.rfn"))
    left = [name for name in os.listdir(bench.folder) if name.endswith(".part")]
    harness.compare("files left", left, [])


def test_incomplete(bench, flavour):
    """What is there of a file that was cut short is reduced, and stays incomplete."""
    archive = halo(bench, flavour, 4, 200)
    cut = bench.path("cut.rfn")
    found = 0
    for share in (0.3, 0.5, 0.7, 0.9, 0.99):
        shutil.copy(archive, cut)
        os.truncate(cut, int(os.path.getsize(archive) * share))
        out = bench.fresh("cut.out.rfn")
        run = bench.run([bench.refrain, "reduce", cut, "-o", out, "--similarity=absDiff:0"])
        harness.compare(f"exit, {share}", run.code, 3)
        if not os.path.exists(out):
            continue
        before = bench.run([bench.refrain, "dump", cut])
        after = bench.run([bench.refrain, "dump", out])
        harness.compare("dump of the reduced file", (after.code, after.out), (3, before.out))
        harness.compare("verify", bench.run([bench.refrain, "verify", out]).code, 3)
        found += after.out.count("\n") > 100
    if not found:
        raise harness.Failure("no file had events")
    check_cut_at_chunks(bench, archive)


def check_cut_at_chunks(bench, archive):
    """Of what has no rank's events nothing is written; of what is reduced already the truncation is told
    first."""
    small = bench.fresh("small.rfn")
    bench.verb("reduce", archive, "-o", small)
    nothing = 0
    for path in (archive, small):
        with open(path, "rb") as file:
            data = file.read()
        toc, _ = rfn_reader.read_header(data)
        for chunk in rfn_reader.listed_chunks(data, toc, True):
            cut, out = bench.fresh("cut.rfn"), bench.fresh("cut.out.rfn")
            with open(cut, "wb") as file:
                file.write(data[:chunk.offset])
            run = bench.run([bench.refrain, "reduce", cut, "-o", out])
            there = bench.run([bench.refrain, "dump", cut]).out.count("\n") > 1
            harness.compare(f"cut at {chunk.offset}: exit, written", (run.code, os.path.exists(out)),
                            (3, there and path == archive))
            harness.compare("cut short", "cut short after it was written" in run.err, True)
            harness.compare("reduced already", "reduced already" in run.err, there and path == small)
            nothing += "nothing is left to reduce" in run.err
    if not nothing:
        raise harness.Failure("no file was without events")


def test_cluster(bench, flavour):
    """Clusters stored once, and again; not of what is cut; times stay unless something is said of them."""
    archive = halo(bench, flavour, 4, 50, ["--no-cluster"])
    out, told = reduced(bench, archive, "--cluster")
    harness.compare("degree of matching", told["degree_of_matching"], None)
    harness.compare("dump", bench.verb("dump", out) == bench.verb("dump", archive), True)
    harness.compare("times", json.loads(bench.verb("info", "--json", out))["reduced"], None)
    twice, told = reduced(bench, out, "--cluster")
    harness.compare("twice", bench.verb("dump", twice) == bench.verb("dump", archive), True)
    harness.compare("no larger", told["bytes"] <= told["full_bytes"], True)
    line = bench.verb("reduce", archive, "--cluster", "--force", "-o", out)
    if "matching" in line or "Clustered" not in bench.verb("info", out):
        raise harness.Failure(line)
    small, both = reduced(bench, archive, "--cluster", "--segment-starts=exact")
    harness.compare("times, too", both["degree_of_matching"] is None, False)
    again, _ = reduced(bench, out, "--cluster", "--segment-starts=exact")
    harness.compare("times of what is clustered",
                    bench.verb("dump", again) == bench.verb("dump", small), True)
    cut = bench.path("cut.rfn")
    shutil.copy(archive, cut)
    os.truncate(cut, os.path.getsize(archive) - 100)
    expect(bench, 3, "only whole archives can be clustered", cut, "--cluster", "-o", bench.fresh("cut.out.rfn"))


def test_damaged(bench, flavour):
    """Any byte may be wrong: that is an error, or what is written can be read."""
    archive = halo(bench, flavour, 2, 30)
    with open(archive, "rb") as file:
        data = file.read()
    spoilt, out = bench.path("spoilt.rfn"), bench.fresh("spoilt.out.rfn")
    for at in range(0, len(data), max(1, len(data) // 150)):
        with open(spoilt, "wb") as file:
            file.write(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1:])
        run = bench.run([bench.refrain, "reduce", spoilt, "-o", out, "--force"])
        if run.code not in (0, 3):
            raise harness.Failure(f"byte {at}: exit {run.code}: {run.err}")
        if run.code == 0:
            bench.verb("verify", out)


def expected_spreads(path):
    """What the spreads of an archive with full times are, by plain calculation: [times before calls, times in calls] by
    cluster, site, failed polls or not, and what the positions that are told apart come after."""
    archive, places = rfn_reader.Archive(path), {}
    clusters = archive.sites_in_order()
    for stream in archive.streams:
        sites = archive.structure(stream.group).sites
        before = None
        for event in stream.events():
            site = (event.symbol.function.name, event.symbol.path)
            key = (clusters.index(sites), *site, bool(event.symbol.failed_poll))
            times = places.setdefault(key, {}).setdefault(before and before[0], ([], []))
            if before:
                times[0].append(event.enter - before[1])
            times[1].append(event.exit - event.enter)
            before = site, event.exit
    return {(*key, after): [spread_of(some) for some in both] for key, place in places.items()
            for after, both in told_apart(place).items()}


def told_apart(place):
    """Of a place's times by what they come after: those after a site with more than a sixteenth, and the rest; after
    more than 16 sites nothing is told apart."""
    n = sum(len(times[1]) for times in place.values())
    time = sum(sum(map(sum, times)) for times in place.values())
    apart = {after: times for after, times in place.items()
             if after and (len(times[1]) > n // 16 or sum(map(sum, times)) > time // 16)}
    if len(apart) < 2 or len(set(place) - {None}) > 16:
        apart = {}
    rest = [times for after, times in place.items() if after not in apart]
    if rest:
        apart["rest" if apart else "any"] = [[time for times in rest for time in times[i]] for i in (0, 1)]
    return apart


def rounded(number):
    shift = max(number.bit_length() - 8, 0)
    return number >> shift << shift


def spread_of(times):
    if not times:
        return {"n": 0, "min_ns": 0, "mean_ns": 0, "max_ns": 0, "deviation_ns": 0, "first_bin": 0,
                "bins": []}
    mean, bins = sum(times) // len(times), [time.bit_length() for time in times]
    deviation = math.isqrt(sum((time - mean) ** 2 for time in times) // len(times))
    low, high = rounded(min(times)), rounded(max(times))
    return {"n": len(times), "min_ns": low, "max_ns": high,
            "mean_ns": low if low == high else rounded(mean),
            "deviation_ns": 0 if low == high else rounded(deviation), "first_bin": min(bins),
            "bins": [rounded(bins.count(i)) for i in range(min(bins), max(bins) + 1)]}


def told_spreads(bench, path, kept, representatives=False):
    told = json.loads(bench.run([bench.refrain, "info", "--json", "--variation", path]).out)["variation"]
    harness.compare("spreads are kept, of representatives", (told["kept"], told["representatives"]),
                    (kept, representatives))
    return told


def as_text(facts):
    return json.dumps(facts, sort_keys=True)


def check_spreads(bench, path, expected):
    """Of a reduced archive, by both readers."""
    read = {(p["cluster"], p["function"].name, p["path"], p["failed_poll"], after_of(p["after"])):
            [p["before"], p["duration"]] for p in rfn_reader.Archive(path).spreads().positions}
    harness.compare("spreads, read independently", read, expected)
    told = told_spreads(bench, path, True)
    harness.compare("spreads", sorted(as_text([kind_of(p["after"]), p["before"], p["duration"]])
                                      for p in told["positions"]),
                    sorted(as_text([key[-1] if isinstance(key[-1], str) else key[-1][0], *both])
                           for key, both in expected.items()))
    return told


def after_of(after):
    """As expected_spreads has it, of what the independent reader says."""
    return (after["function"].name, after["path"]) if after else kind_of(after)


def kind_of(after):
    """What a position is after: the name of a function, or which ones it has."""
    return "any" if after is None else after.get("function", "rest")


def test_spreads(bench):
    """However times were reduced, how far they lay apart is what the full archive says: when reducing
    and when recording, of programs with one cluster and several, with failed polls, and with more sites before a call
    than are told apart."""
    for name, ranks, arguments in (("halo", 16, ["300", "4"]), ("sweep2d", 16, []), ("polls", 2, []),
                                   ("workers", 6, []), ("followers", 2, [])):
        source = next(p for p in (HALO, os.path.join(harness.PROGRAMS, "clusters", f"{name}.c"),
                                  os.path.join(harness.PROGRAMS, f"{name}.c"))
                      if os.path.basename(p) == f"{name}.c" and os.path.exists(p))
        program, full = test_smpi.smpi_program(bench, source), bench.fresh(f"{name}.rfn")
        shutil.copy(test_smpi.smpi_run(bench, program, ranks, arguments), full)
        expected = expected_spreads(full)
        told = told_spreads(bench, full, False)
        if name == "followers":
            apart = {(p["cluster"], p["function"]) for p in told["positions"] if p["after"] is not None}
            harness.compare("told apart", apart, {(0, "MPI_Comm_size"), (0, "MPI_Initialized"), (1, "MPI_Initialized")})
        again = []
        for options in (["--similarity=avgWave"], ["--similarity=iterK:1", "--across=relDiff:1"],
                        ["--across", "--cluster"]):
            out = reduced(bench, full, *options)[0]
            again.append(check_spreads(bench, out, expected))
        for across in ("", "relDiff:1", "one"):
            env = {"REFRAIN_TIME": "reduced", **({"REFRAIN_ACROSS": across} if across else {})}
            out = test_smpi.smpi_run(bench, program, ranks, arguments, env)
            again.append(check_spreads(bench, out, expected))
        clustered = bench.fresh("clustered.rfn")
        bench.verb("reduce", "--cluster", out, "-o", clustered)
        again.append(check_spreads(bench, clustered, expected))
        for one in again:
            harness.compare("positions", one["positions"], told["positions"])
            harness.compare("clusters", [c["ranks"] for c in one["clusters"]],
                            [c["ranks"] for c in told["clusters"]])


def test_spreads_of_parts(bench):
    """Spreads of some ranks are not known from those of all, nor those of all from those of some: what is left is how far
    representatives lie apart, and that is what is said."""
    full = bench.fresh("full.rfn")
    shutil.copy(simulated_halo(bench, 16, 300), full)
    small = reduced(bench, full, "--similarity=iterK:1", "--across=relDiff:1")[0]
    files = [bench.fresh("part.rfn") for _ in range(3)]
    for path, ranks, archive in ((files[0], "0-7", small), (files[1], "8-15", small), (files[2], "8-15", full)):
        bench.verb("reduce", "--rank", ranks, archive, "-o", path)
    joined = bench.fresh("joined.rfn")
    bench.verb("merge", *files[:2], "-o", joined)
    for path in (files[0], joined):
        told_spreads(bench, path, False, True)
        text = bench.run([bench.refrain, "info", "--variation", path]).out
        harness.compare(f"said: {text}", ("of REPRESENTATIVES" in text, "that the archive has" in text), (True, False))
    for path, words in ((small, "as measured"), (full, "from the times that the archive has"),
                        (files[2], "from the times that the archive has")):
        text = bench.run([bench.refrain, "info", "--variation", path]).out
        harness.compare(f"said: {text}", (words in text, "REPRESENTATIVES" in text), (True, False))


def test_spread_text(bench):
    """The table names the costliest call first, and --top narrows it."""
    archive = simulated_halo(bench, 16, 500)
    text = bench.verb("info", "--variation", "--top=1", archive).split("\nVariation:")[1]
    words = [line.split() for line in text.splitlines()]
    row = next(row for row in words if "MPI_Waitall" in row)
    harness.compare("times of MPI_Waitall", row[0], "8,000")
    refused = bench.run([bench.refrain, "info", "--top=1", archive])
    harness.compare("without --variation", ("--top goes with --variation" in refused.err, refused.code), (True, 2))
    harness.compare("the rest is left out", ["17", "more:", "--top"] in words and
                    "MPI_Irecv" not in text, True)
    told = json.loads(bench.verb("info", "--json", "--variation", "--top=2", archive))["variation"]
    harness.compare("--json", [p["function"] for p in told["positions"]],
                    ["MPI_Waitall", "MPI_Allreduce"])


def cluster_program(bench, name, ranks, clustered=True):
    """The archive of one of the programs whose clusters are known, with full times."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "clusters", f"{name}.c"))
    archive = bench.fresh(f"{name}.rfn")
    env = {} if clustered else {"REFRAIN_CLUSTER": "no"}
    shutil.copy(test_smpi.smpi_run(bench, program, ranks, env=env), archive)
    return archive


def merged(bench, archive, names):
    """What it says of itself, and its events by rank; both readers agree."""
    out, told = reduced(bench, archive, "--cluster", f"--ignore-parameter={names}")
    harness.compare("merged", told["ignored"], True)
    run = bench.run([bench.refrain, "dump", out], check=True)
    harness.compare("the independent reader's dump", run.out.splitlines(),
                    list(rfn_text.lines(rfn_reader.Archive(out))))
    says = "some parameters are those of the lowest rank of each cluster"
    page = " ".join(bench.verb("report", out).split())
    for what, text in (("dump", run.err), ("info", bench.verb("info", out)), ("report", page)):
        harness.compare(f"{what} tells", says in text and f"({names})" in text, True)
    facts = json.loads(bench.verb("info", "--json", "--clusters", out))
    harness.compare("merged parameters", facts["ignored_parameters"], names)
    told = json.loads(bench.verb("report", "--json", out))
    harness.compare("merged parameters, in the report", told["ignored_parameters"], names)
    of_rank = {}
    for event in bench.dump(out):
        of_rank.setdefault(int(event["rank"]), []).append(event)
    return facts, of_rank


def offsets(events, rank, ranks):
    """(function, partner relative to the rank, count, tag) of sends and receives."""
    found = []
    for event in events:
        partner = harness.parameter(event, "dest") or harness.parameter(event, "source")
        if partner is not None:
            found.append((event["function"], (int(partner) - rank) % ranks,
                          harness.parameter(event, "count"), harness.parameter(event, "tag")))
    return found


def test_merged_parameters(bench):
    """Partners and counts drawn at random no longer tell ranks apart: all have those of rank 0, partners
    as seen from themselves. What is not merged stays."""
    archive = cluster_program(bench, "ghosts", 16)
    before = {}
    for event in bench.dump(archive):
        before.setdefault(int(event["rank"]), []).append(event)
    known = json.loads(bench.verb("info", "--json", "--clusters", archive))
    harness.compare("sub-clusters", known["sub_clusters"], 16)
    harness.compare("nothing merged", known["ignored_parameters"], None)
    facts, after = merged(bench, archive, "peer,count")
    harness.compare("sub-clusters, merged", (facts["main_clusters"], facts["sub_clusters"]), (1, 1))
    first = offsets(before[0], 0, 16)
    for rank in range(16):
        harness.compare(f"rank {rank}, merged", offsets(after[rank], rank, 16), first)
    after = merged(bench, archive, "count")[1]
    counts = [count for _, _, count, _ in first]
    for rank in range(16):
        was = offsets(before[rank], rank, 16)
        harness.compare(f"rank {rank}, only counts", offsets(after[rank], rank, 16),
                        [(*one[:2], count, one[3]) for one, count in zip(was, counts)])


def test_merged_twice(bench):
    """What was merged before is still named."""
    archive = cluster_program(bench, "ghosts", 16)
    once = reduced(bench, archive, "--cluster", "--ignore-parameter=count")[0]
    twice, told = reduced(bench, once, "--cluster", "--ignore-parameter=peer")
    facts = json.loads(bench.verb("info", "--json", "--clusters", twice))
    harness.compare("merged", (told["ignored"], facts["ignored_parameters"], facts["sub_clusters"]),
                    (True, "peer,count", 1))


def test_merged_ring(bench):
    """The open ring's ends are clusters of their own, and its inner ranks have the same offsets anyway:
    nothing changes. A split by row and column merges to the colour and key of rank 0."""
    archive = cluster_program(bench, "open_ring", 8, clustered=False)
    out, told = reduced(bench, archive, "--cluster", "--ignore-parameter=peer")
    facts = json.loads(bench.verb("info", "--json", out))
    harness.compare("merged", (told["ignored"], told["unmerged_groups"], facts["ignored_parameters"]), (False, 0, None))
    harness.compare("clusters", facts["clustered_groups"], facts["groups"])
    run = bench.run([bench.refrain, "dump", out], check=True)
    harness.compare("dump", (run.out, "parameters" in run.err), (bench.verb("dump", archive), False))
    text = bench.verb("reduce", archive, "--cluster", "--ignore-parameter=peer", "-o", bench.fresh("same.rfn"))
    harness.compare("told", "no parameters were merged, as those of ranks with the same loops are equal; lists" in text and
                    "groups" not in text, True)
    archive = cluster_program(bench, "transpose", 16)
    facts, after = merged(bench, archive, "place")
    harness.compare("sub-clusters", facts["sub_clusters"], 1)
    splits = {tuple((harness.parameter(event, "color"), harness.parameter(event, "key"))
                    for event in events if event["function"] == "MPI_Comm_split")
              for events in after.values()}
    harness.compare("splits", len(splits), 1)


def test_merged_wrong(bench):
    """Names that are none, and merging without clustering. Where clusters make a file no smaller, nothing
    is merged, and it says so."""
    single = bench.fresh("single.rfn")
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "late_sender.c"))
    shutil.copy(test_smpi.smpi_run(bench, program, 2), single)
    out = bench.fresh("same.rfn")
    options = ["--cluster", "--ignore-parameter=tag", "-o", out]
    harness.compare("says that nothing is merged", "no parameters were merged" in
                    bench.verb("reduce", single, *options), True)
    harness.compare("merged",
                    json.loads(bench.verb("info", "--json", out))["ignored_parameters"], None)
    archive = cluster_program(bench, "open_ring", 8)
    for options, text in ((["--cluster", "--ignore-parameter=peer,cont"], "no parameters 'cont'"),
                          (["--ignore-parameter=peer"], "goes with --cluster")):
        run = bench.run([bench.refrain, "reduce", archive, "-o", bench.fresh("no.rfn"), *options])
        harness.compare(f"{options}", (run.code, text in run.err), (2, True))
