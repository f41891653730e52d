"""refrain reduce: what was called stays, times stay as near as the method promises."""
import json
import os
import re
import shutil

import harness
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
        out = reduced(bench, archive, "--similar=chebyshev:0", "--starts=exact")[0]
        harness.compare(f"dump of {name}", bench.verb("dump", out), bench.verb("dump", archive))


def test_bounds(bench, flavour):
    """absDiff: with exact starts times are off by T at most, with predicted ones by twice that."""
    archive = halo(bench, flavour)
    for micros in (1, 30, 1000):
        for starts, factor in (("exact", 1), ("predicted", 2)):
            out, told = reduced(bench, archive, f"--similar=absDiff:{micros}", f"--starts={starts}")
            check_same(bench, archive, out, factor * 1000 * micros)
    if told["degree_of_matching"] < 0.5:
        raise harness.Failure(f"at {micros} us: {told}")


def test_methods(bench, flavour):
    """All of them leave the events as they are, and files that are smaller."""
    archive = halo(bench, flavour)
    for method in METHODS:
        out, told = reduced(bench, archive, f"--similar={method}")
        check_same(bench, archive, out, None)
        facts = json.loads(bench.verb("info", "--json", out))
        harness.compare("method", facts["reduced"]["similar"].split(":")[0], method)
        harness.compare("size before", facts["reduced"]["full_bytes"], os.path.getsize(archive))
        if told["bytes"] >= told["full_bytes"]:
            raise harness.Failure(f"{method}: {told}")


def test_options(bench, flavour):
    """Longer segments, a limit per kind, little memory, several threads."""
    archive = halo(bench, flavour)
    out, by_step = reduced(bench, archive, "--similar=manhattan:0")
    out, together = reduced(bench, archive, "--segment-min-calls=100")
    check_same(bench, archive, out, None)
    if together["segments"] >= by_step["segments"]:
        raise harness.Failure(f"segments: {together['segments']} of {by_step['segments']}")
    out, limited = reduced(bench, archive, "--similar=manhattan:0", "--max-per-kind=5")
    check_same(bench, archive, out, None)
    if not limited["widened"] or limited["kept"] > 5 * limited["kinds"]:
        raise harness.Failure(f"at most 5 of a kind: {limited}")
    threads = bench.record(flavour, 2, [bench.program("threads", flavour)])[1]
    out = reduced(bench, threads, "--similar=absDiff:100")[0]
    check_same(bench, threads, out, 200000)


def test_across(bench):
    """Ranks that went alike share a time set, and are as near as both thresholds say: that across
    counts once per level of the tree in which 16 ranks are joined."""
    archive = simulated_halo(bench, 16, 500)
    alone = reduced(bench, archive, "--similar=absDiff:20")[1]
    out, told = reduced(bench, archive, "--similar=absDiff:20", "--across=50")
    check_same(bench, archive, out, 2 * 20000 + 4 * 2 * 50000)
    harness.compare("time sets", (alone["time_sets"], told["time_sets"] < 16), (16, True))
    if told["bytes"] >= alone["bytes"]:
        raise harness.Failure(f"{told['bytes']} bytes, of {alone['bytes']} without")
    harness.compare("exact", check_same(
        bench, archive, reduced(bench, archive, "--similar=absDiff:0", "--across=0")[0], 0), None)


def test_small(bench):
    """A long and regular run takes a few KiB, whatever its length."""
    archive = simulated_halo(bench, 16, 3000)
    out, told = reduced(bench, archive)
    if told["bytes"] > 8 * 1024 or told["degree_of_matching"] < 0.99:
        raise harness.Failure(f"{told}")
    for verb in ("info", "report"):
        told = bench.verb(verb, out)
        if "jitter 0.02" not in told:
            raise harness.Failure(f"{verb} does not say that times are approximate:\n{told}")


def expect(bench, code, text, *words):
    run = bench.run([bench.refrain, "reduce", *words])
    if run.code != code or text not in run.err:
        raise harness.Failure(f"reduce {' '.join(words)}: exit {run.code}, {run.err}")


def test_refused(bench, flavour):
    """What cannot be, and what must not: each with its reason."""
    archive = halo(bench, flavour, 2, 20)
    out = bench.fresh("out.rfn")
    expect(bench, 2, "where to?", archive)
    expect(bench, 2, "which file?", "-o", out)
    expect(bench, 2, "no similarity method 'mean'", archive, "-o", out, "--similar=mean")
    expect(bench, 2, "is not a threshold of avgWave", archive, "-o", out, "--similar=avgWave:x")
    expect(bench, 2, "is not a threshold of jitter", archive, "-o", out, "--across=-1")
    expect(bench, 2, "iterK does not compare processes", archive, "-o", out, "--similar=iterK",
           "--across")
    expect(bench, 2, "'exact' or 'predicted'", archive, "-o", out, "--starts=some")
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
        run = bench.run([bench.refrain, "reduce", cut, "-o", out, "--similar=absDiff:0"])
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
