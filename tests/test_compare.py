"""What `compare --reduction` says of two archives whose difference is known, in simulated time."""
import json
import os
import re

import harness
import pathologies
import rfn_reader

TOGETHER = SIMULATED = True
WORK, EXTRA, ITERATIONS, RANKS = 10_000_000, 20_000_000, 50, 8


def late_sender(bench, name, **others):
    """Even ranks send, late by `extra`, to the odd ones."""
    model = next(p for p in pathologies.PROGRAMS if p.name == "late_sender")
    numbers = {**model.numbers, **others}
    return pathologies.record(bench, pathologies.Program(name, "late_sender", RANKS, model.model,
                                                         model.function, **numbers))


def compare(bench, full, other):
    return json.loads(bench.verb("compare", "--reduction", "--json", full, other))


def near(what, found, expected, off=1e-3):
    if abs(found - expected) > off:
        raise harness.Failure(f"{what}: {found}, not {expected}")


def test_itself(bench):
    """Nothing is lost."""
    archive = late_sender(bench, "late_sender")
    found = compare(bench, archive, archive)
    for name, value in (("size_percent", 100), ("degree_of_matching", 1),
                        ("approximation_distance_us", 0), ("largest_distance_us", 0),
                        ("trends_retained", True), ("trends", RANKS // 2), ("changes", [])):
        harness.compare(name, found[name], value)
    text = bench.verb("compare", "--reduction", archive, archive)
    if "retained, all 4" not in text:
        raise harness.Failure(text)
    harness.compare("runs", found["runs"], None)
    if "Run time" in text:
        raise harness.Failure(text)


def test_lost(bench):
    """Who was late is not any more: receivers waited 2/3 of the time, and do not wait."""
    full, other = late_sender(bench, "late"), late_sender(bench, "early", extra=0)
    found = compare(bench, full, other)
    harness.compare("retained", found["trends_retained"], False)
    harness.compare("changed", found["trends_changed"], RANKS // 2)
    for change, rank in zip(found["changes"], range(1, RANKS, 2)):
        for name, value in (("change", "lost"), ("pattern", "late_sender"), ("rank", rank),
                            ("function", "MPI_Recv"), ("class_before", 4), ("class_after", 0)):
            harness.compare(name, change[name], value)
        near("before", change["share_before"], 2 / 3)
        near("after", change["share_after"], 0)
        if not change["call_path"].startswith("MPI_Recv < receive (late_sender.c:"):
            raise harness.Failure(change["call_path"])
    # the i-th iteration ends i * 20 ms earlier, the last time, of 50, 1 s
    near("largest distance", found["largest_distance_us"], EXTRA * ITERATIONS / 1000, 1)
    there = compare(bench, other, full)
    harness.compare("kinds", {change["change"] for change in there["changes"]}, {"appeared"})
    near("shares are of the first archive's run time", there["changes"][0]["share_after"], 2)
    text = bench.verb("compare", "--reduction", full, other)
    if "lost" not in text or "1-7 by 2" not in text or "4 changed, lost or appeared; the full archive has 4" not in text:
        raise harness.Failure(text)


def test_same_class(bench):
    """Waits of 2/3 and of 3/4 are of one class: retained, and yet times are off."""
    full, other = late_sender(bench, "late"), late_sender(bench, "later", extra=0.03)
    found = compare(bench, full, other)
    harness.compare("retained", found["trends_retained"], True)
    near("largest change", found["largest_change"], 1 - 2 / 3)
    if found["approximation_distance_us"] < 100000:
        raise harness.Failure(f"off by {found['approximation_distance_us']} us only")


def test_reduced(bench):
    """A reduced file: what it says of itself, and distances, are those of reducing in memory."""
    full = pathologies.record(bench, next(p for p in pathologies.PROGRAMS if p.name == "NtoN_32"))
    for method in ("avgWave:0.2", "iterAvg", "absDiff:100", "jitter:0.05"):
        reduced = bench.path("reduced.rfn")
        bench.verb("reduce", "-f", f"--similarity={method}", "-o", reduced, full)
        found = compare(bench, full, reduced)
        model = json.loads(bench.verb("info", "--json", f"--size-model={method}", full))["size_model"]
        for name in ("degree_of_matching", "approximation_distance_us"):
            near(f"{method}: {name}", found[name], model[name], 1e-9)
        for name, value in (("similarity", method), ("across", None), ("exact_starts", False),
                            ("full_bytes", os.path.getsize(full)),
                            ("reduced_bytes", os.path.getsize(reduced))):
            harness.compare(name, found[name], value)
        text = bench.verb("compare", "--reduction", full, reduced)
        for part in (method, "Full  ", "\nReduced ", "Times are off by", "when reduced"):
            if part not in text:
                raise harness.Failure(f"'{part}' is not in:\n{text}")


def refused(bench, words, *files, out=""):
    """out: a pattern of what it prints before that."""
    run = bench.run([bench.refrain, "compare", "--reduction", *files])
    harness.compare("exit status", run.code, 2)
    if words not in run.err or not re.fullmatch(out, run.out):
        raise harness.Failure(f"it said {run.err!r} and printed {run.out!r}")


def test_wrong_way_round(bench):
    """The reduced one first is refused, unless both are reduced."""
    full = late_sender(bench, "late")
    reduced = bench.fresh("reduced.rfn")
    bench.verb("reduce", "-o", reduced, full)
    refused(bench, f"refrain compare --reduction {full} {reduced}", reduced, full)
    refused(bench, f"{reduced} is a reduced archive", "--json", reduced, full)
    harness.compare("both reduced", compare(bench, reduced, reduced)["trends_retained"], True)


def test_other_run(bench):
    """Other events, other programs: wrong usage that tells where they differ."""
    full = late_sender(bench, "late")
    fewer = late_sender(bench, "fewer", iterations=49)
    times = (r"Run time  +[\d.]+ s and [\d.]+ s: the second took 0\.98 times as long\n"
             r"In MPI  +33\.\d % and 33\.\d % of all ranks' time\n"
             r"Waiting  +33\.\d % and 33\.\d % of all ranks' time\n")
    refused(bench, "events in one and", full, fewer, out=times)
    refused(bench, "events in one and", "--json", full, fewer)
    other = pathologies.record(bench, next(p for p in pathologies.PROGRAMS
                                           if p.name == "late_broadcast"))
    refused(bench, "rank 0", full, other, out=r"Run time .*\nIn MPI .*\nWaiting .*\n")
    refused(bench, "which files?", full)
    refused(bench, "two files", full, full, full)


def test_unreadable(bench):
    """Of other events, in a file of which not all can be read, no times are told."""
    full, fewer = late_sender(bench, "late"), late_sender(bench, "fewer", iterations=49)
    with open(fewer, "rb") as file:
        data = file.read()
    toc, _ = rfn_reader.read_header(data)
    last = [chunk for chunk in rfn_reader.listed_chunks(data, toc, True) if chunk.type == rfn_reader.TIMING][-1]
    spoilt = bench.path("spoilt.rfn")
    with open(spoilt, "wb") as file:
        file.write(data[:last.end - 1] + bytes([data[last.end - 1] ^ 1]) + data[last.end:])
    refused(bench, f"{spoilt}: damaged at offset", full, spoilt)
    refused(bench, "events in one and", spoilt, full)


def test_cut(bench):
    """It needs all of both files, and says which of them is not whole."""
    full = late_sender(bench, "late")
    with open(full, "rb") as whole:
        data = whole.read()
    cut = full + ".cut"
    for size in (len(data) - 1, len(data) // 2, 10):
        with open(cut, "wb") as part:
            part.write(data[:size])
        for files in ((full, cut), (cut, full)):
            run = bench.run([bench.refrain, "compare", "--reduction", *files])
            harness.compare("exit status", run.code, 3)
            if cut not in run.out + run.err:
                raise harness.Failure(run.out + run.err)
    part = bench.fresh("rank-0.rfn")
    bench.verb("reduce", "--rank=0", "-o", part, full)  # which looks like a run of fewer ranks
    harness.compare("a rank is missing", bench.run([bench.refrain, "compare", "--reduction", full, part]).code, 3)
