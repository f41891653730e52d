"""What `compare` says of runs before and after a change, of several of each, and on more and more ranks, in simulated
time."""
import json
import os
import re

import harness
import pathologies
import rfn_reader
import test_smpi

TOGETHER = SIMULATED = True
STEPS, WORK, SERIAL, EXTRA, SLOW = 10, 0.16, 0.01, 0.05, 3
# A version with other lines and addresses, and a call path that the first one does not have.
MOVED = "#include <math.h>\nint more(int n)\n{\n    return n < 2 ? n : more(n - 1) + more(n - 2);\n}\n\n"


def moved_source(bench):
    """A newer version of the program: everything lies elsewhere in it."""
    path = bench.path("before_after.c")
    with open(os.path.join(harness.PROGRAMS, "before_after.c"), encoding="ascii") as file:
        source = file.read()
    with open(path, "w", encoding="ascii") as file:
        file.write(MOVED + source.replace("MPI_Finalize();", "MPI_Barrier(MPI_COMM_WORLD);\n    MPI_Finalize();"))
    return path


def record(bench, ranks, source=None, time="full", **numbers):
    """Runs the program; the path of its archive."""
    program = test_smpi.smpi_program(bench, source or os.path.join(harness.PROGRAMS, "before_after.c"))
    platform, archive = bench.path("no_latency.xml"), bench.fresh("run.rfn")
    with open(platform, "w", encoding="ascii") as file:
        file.write(pathologies.PLATFORM % 0)
    words = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
    bench.run(["smpirun", "-np", str(ranks), "-platform", platform, *pathologies.SIMULATION, program, *words],
              env={"REFRAIN_TIME": time, "REFRAIN_OUTPUT": archive, "REFRAIN_FORCE": "1"}, check=True)
    return archive


def compare(bench, *files):
    return json.loads(bench.verb("compare", "--json", *files))


def text(bench, *files, code=0, columns=None):
    """The page, of which no line is too long."""
    run = bench.run([bench.refrain, "compare", *files], env={"COLUMNS": str(columns)} if columns else {"COLUMNS": ""})
    harness.compare("exit status", run.code, code)
    harness.compare("too long", [line for line in run.out.splitlines() if len(line) > (columns or 100)], [])
    return run.out


def first_sentence(page):
    return " ".join(page.split("\n\n")[0].split())


def near(what, found, expected):
    """Within a millionth of a second, or of 1."""
    if found is None or abs(found - expected) > 1e-6:
        raise harness.Failure(f"{what}: {found}, not {expected}")


def need(words, page):
    if words not in page:
        raise harness.Failure(f"'{words}' is not in:\n{page}")


def computing(ranks, extra):
    """Seconds of a rank on average in a step."""
    return SERIAL + WORK / ranks + extra / ranks


def check_run(found, ranks, extra, size=8):
    """What is said of one run."""
    run_time = STEPS * (SERIAL + WORK / ranks + extra)
    balance = STEPS * computing(ranks, extra) / run_time
    near("run time", found["run_time_seconds"], run_time)
    for name, value in (("parallel_efficiency", balance), ("load_balance", balance), ("communication_efficiency", 1)):
        near(name, found["efficiency"][name], value)
    spent = found["seconds_per_rank"]
    near("computing", spent["computing"], STEPS * computing(ranks, extra))
    near("waiting", spent["waiting"], STEPS * extra * (ranks - 1) / ranks)
    for name in ("mpi_without_waiting", "setup", "outside_of_setup"):
        near(name, spent[name], 0)
    messages = STEPS * (ranks - 1)
    for name, value in (("ranks", ranks), ("messages", messages), ("sent_bytes", messages * size), ("times", True),
                        ("collective_bytes", 0), ("complete", True), ("missing_ranks", 0)):
        harness.compare(name, found[name], value)


def call(found, function):
    calls = [one for one in found["call_paths"] if one["function"] == function]
    harness.compare(f"call paths of {function}", len(calls), 1)
    return calls[0]


def test_before_after(bench):
    """One rank is slow, then it is not; meanwhile the program was changed, so that nothing is where it was."""
    before = record(bench, 4, extra=EXTRA, slow=SLOW)
    after = record(bench, 4, source=moved_source(bench), slow=SLOW, bytes=100)
    found = compare(bench, before, after)
    check_run(found["runs"][0], 4, EXTRA)
    check_run(found["runs"][1], 4, 0, size=100)
    near("speedup", found["speedup"], 2)
    harness.compare("differ", (found["differ"], found["nothing_common"]), (True, False))
    waited = STEPS * EXTRA * 3
    finding, = found["findings"]
    harness.compare("change", (finding["change"], finding["after"]), ("gone", None))
    near("by", finding["change_seconds_per_rank"], -waited / 4)
    for name, value in (("function", "do_work"), ("kind", "compute"), ("pattern", "late_sender"),
                        ("waited_function", "MPI_Recv"), ("region", "smoothing")):
        harness.compare(name, finding["before"][name], value)
    harness.compare("late", [rank["rank"] for rank in finding["before"]["ranks"]], [SLOW])
    receive = call(found, "MPI_Recv")
    harness.compare("first is what differs most", found["call_paths"][0], receive)
    near("receiving", receive["before"]["seconds"], waited)
    near("receiving", receive["after"]["seconds"], 0)
    near("receiving", receive["change_seconds_per_rank"], -waited / 4)
    lines = [re.findall(r"before_after\.c:(\d+)", receive[side]["call_path"]) for side in ("before", "after")]
    harness.compare("lines moved", [int(b) - int(a) for a, b in zip(*lines)], [MOVED.count("\n")] * 3)
    barrier = call(found, "MPI_Barrier")
    harness.compare("barrier", (barrier["before"], barrier["after"]["calls"]), (None, 4))
    region, = found["regions"]
    harness.compare("region", (region["name"], region["before"]["visits"]), ("smoothing", 4 * STEPS))
    near("region", region["change_seconds_per_rank"], -STEPS * EXTRA / 4)
    check_page(bench, before, after, lines[1][0])


def check_page(bench, before, after, line):
    """Two runs of which the second is twice as fast, as text."""
    place = f"exchange (before_after.c:{line})"
    page = text(bench, before, after)
    harness.compare("answer", first_sentence(page).split(" The programs")[0],
                    f"B is 2.00 times as fast as A: 1.00 s -> 500 ms; most of it by less waiting in {place}.")
    need("only in A: rank 3 computing in region smoothing", page)
    need(f"MPI_Recv < {place}", page)
    need("(1 of 5; --all shows all)", page)
    back = text(bench, after, before)
    need("B takes 2.00 times as long as A: 500 ms -> 1.00 s; most of it by more waiting in exchange", " ".join(back.split()))
    need("only in B: rank 3", back)
    if "MPI_Barrier" in page:
        raise harness.Failure(f"what hardly differs is in:\n{page}")
    need("MPI_Barrier", text(bench, "--all", before, after))
    harness.compare("--top", "MPI_Recv" in text(bench, "--top=0", before, after), False)
    need("MPI_Recv", text(bench, before, after, columns=60))
    harness.compare("rows of JSON", len(compare(bench, "--top=1", before, after)["call_paths"]), 1)


def test_changed(bench):
    """The same costs more, less, and by another rank."""
    one, two, other = (record(bench, 4, extra=extra, slow=slow) for extra, slow in
                       ((EXTRA, SLOW), (2 * EXTRA, SLOW), (EXTRA, 1)))
    for files, change, words in (((one, two), "more", "more in B: rank 3"), ((two, one), "less", "less in B: rank 3"),
                                 ((one, other), "rank", "another rank in B: rank 1"),
                                 ((one, one), "same", "as in A: rank 3")):
        finding, = compare(bench, *files)["findings"]
        harness.compare("change", finding["change"], change)
        need(words, text(bench, "--all", *files))
    harness.compare("as long", first_sentence(text(bench, one, other)), "B takes as long as A: 1.00 s -> 1.00 s.")


def test_nothing_differs(bench):
    """Of an archive and itself, and of one run twice: simulated times are exact."""
    first, again = (record(bench, 4, extra=EXTRA, slow=SLOW) for _ in range(2))
    for other in (first, again):
        found = compare(bench, first, other)
        harness.compare("differ", found["differ"], False)
        harness.compare("changes", {row["change_seconds_per_rank"] for table in ("findings", "call_paths", "regions")
                                    for row in found[table]}, {0})
        page = text(bench, first, other)
        harness.compare("answer", first_sentence(page), "Nothing differs between A and B: both took 1.00 s.")
        need("What costs time does not differ", page)


def test_other_ranks(bench):
    """With twice as many ranks, times are those of a rank."""
    before, after = (record(bench, ranks, extra=EXTRA, slow=SLOW) for ranks in (4, 8))
    found = compare(bench, before, after)
    for run, ranks in zip(found["runs"], (4, 8)):
        check_run(run, ranks, EXTRA)
    near("speedup", found["speedup"], 1.25)
    near("receiving", call(found, "MPI_Recv")["change_seconds_per_rank"], STEPS * EXTRA * (7 / 8 - 3 / 4))
    harness.compare("finding", [one["change"] for one in found["findings"]], ["more"])
    page = text(bench, before, after)
    harness.compare("answer", first_sentence(page), "B (8 ranks) is 1.25 times as fast as A (4 ranks): 1.00 s -> 800 ms; "
                    "most of it by less computing of each rank.")
    need("Call paths that differ most, a rank on average", page)


def test_scaling(bench):
    """4, 8 and 16 ranks share the work but for what is serial; columns come by ranks, whatever the order of files."""
    files = {ranks: record(bench, ranks, extra=EXTRA, slow=SLOW) for ranks in (4, 8, 16)}
    found = compare(bench, files[16], files[4], files[8])
    harness.compare("order", [run["file"] for run in found["runs"]], list(files.values()))
    first = SERIAL + WORK / 4 + EXTRA
    for ranks, run in zip(files, found["runs"]):
        check_run(run, ranks, EXTRA)
        longest = SERIAL + WORK / ranks + EXTRA
        scaling = 4 * computing(4, EXTRA) / (ranks * computing(ranks, EXTRA))
        for name, value in (("speedup", first / longest), ("ideal_speedup", ranks / 4), ("computation_scaling", scaling),
                            ("global_efficiency", scaling * computing(ranks, EXTRA) / longest)):
            near(f"{name} of {ranks}", run[name], value)
        finding, = run["findings"]
        harness.compare("finding", (finding["function"], finding["ranks"][0]["rank"]), ("do_work", SLOW))
    page = text(bench, *files.values())
    harness.compare("answer", first_sentence(page), "16 ranks are 1.43 times as fast as 4, of 4.00 at best: 1.00 s -> 700 ms. "
                    "Global efficiency falls from 62.5 % to 22.3 %, most of it by load balance (62.5 % -> 33.0 %).")
    rows = [line.split("  ") for line in page.split("\n\n")[1].splitlines()]
    table = {cells[0].strip(): [cell.strip() for cell in cells[1:] if cell.strip()]
             for cells in ([*filter(None, row)] for row in rows)}
    for name, cells in (("ranks", ["4", "8", "16"]), ("run time", ["1.00 s", "800 ms", "700 ms"]),
                        ("speedup", ["1.00", "1.25", "1.43"]), ("ideal", ["1.00", "2.00", "4.00"]),
                        ("computation scaling", ["100.0 %", "86.2 %", "67.6 %"])):
        harness.compare(name, table[name], cells)
    many = text(bench, *[files[ranks] for ranks in files for _ in range(4)])
    harness.compare("blocks of a wide table", many.count("run time"), 2)


def test_computation_scaling(bench):
    """Without a slow rank all that is lost is what each rank computes again."""
    page = text(bench, *[record(bench, ranks) for ranks in (4, 8, 16)])
    harness.compare("answer", first_sentence(page), "16 ranks are 2.50 times as fast as 4, of 4.00 at best: 500 ms -> 200 ms. "
                    "Global efficiency falls from 100.0 % to 62.5 %, most of it by computation scaling (100.0 % -> 62.5 %).")
    need("16 ranks: ranks hardly wait for each other.", page)


def test_other_program(bench):
    """It is said, and compared all the same."""
    before = record(bench, 4)
    after = record(bench, 4, source=os.path.join(harness.PROGRAMS, "late_sender.c"))
    found = compare(bench, before, after)
    harness.compare("programs", (found["other_programs"], found["nothing_common"]), (True, False))
    near("speedup", found["speedup"], 2)
    need("The programs have different names", text(bench, before, after))


def test_without_times(bench):
    """Calls, messages and bytes are there in any case."""
    full, none = (record(bench, 4, time=time, extra=EXTRA, slow=SLOW) for time in ("full", "none"))
    found = compare(bench, full, none)
    for name in ("run_time_seconds", "seconds_per_rank"):
        harness.compare(name, found["runs"][1][name], None)
    harness.compare("efficiency", set(found["runs"][1]["efficiency"].values()), {None})
    harness.compare("compared", (found["speedup"], found["findings"], found["runs"][1]["messages"]), (None, [], 3 * STEPS))
    harness.compare("receives", call(found, "MPI_Recv")["after"]["calls"], 3 * STEPS)
    page = text(bench, full, none)
    need("as B has no times", " ".join(page.split()))
    more = record(bench, 4, time="none", steps=2 * STEPS)
    page = text(bench, none, more)
    need("as both have no times", " ".join(page.split()))
    need("MPI_Recv", page.split("Call paths that differ")[1])
    need("not known without times", text(bench, full, none, full))


def test_reduced(bench):
    """A reduced archive has the times of the full one, but for what is approximate, and it is said that it is reduced."""
    full = record(bench, 4, extra=EXTRA, slow=SLOW)
    reduced = bench.fresh("reduced.rfn")
    bench.verb("reduce", "-o", reduced, full)
    page = text(bench, full, reduced)
    need("times are those of similar iterations", " ".join(page.split()))
    harness.compare("as long", page.startswith("B takes as long as A"), True)


def test_damaged(bench):
    """A file that cannot be read wholly is named, and nothing is compared."""
    good = record(bench, 4, extra=EXTRA, slow=SLOW)
    with open(good, "rb") as file:
        data = file.read()
    toc, _ = rfn_reader.read_header(data)
    last = [chunk for chunk in rfn_reader.listed_chunks(data, toc, True) if chunk.type == rfn_reader.TIMING][-1]
    bad = bench.path("bad.rfn")
    for spoilt in (data[:last.end - 1] + bytes([data[last.end - 1] ^ 1]) + data[last.end:], data[:10], b""):
        with open(bad, "wb") as file:
            file.write(spoilt)
        for files in ((good, bad), (bad, good), (good, good, bad), ("--json", good, bad)):
            run = bench.run([bench.refrain, "compare", *files])
            harness.compare("exit status, page", (run.code, run.out), (3, ""))
            need(bad, run.err)


def test_incomplete(bench):
    """Of a run with a rank less, what is there is compared: as the sender is missing, nobody is known to wait."""
    whole, part = record(bench, 4, extra=EXTRA, slow=SLOW), bench.fresh("part.rfn")
    bench.verb("reduce", "--rank=0-2", "-o", part, whole)
    run = bench.run([bench.refrain, "compare", "--json", whole, part])
    harness.compare("exit status", run.code, 3)
    first, second = json.loads(run.out)["runs"]
    harness.compare("missing", (second["complete"], second["missing_ranks"]), (False, 1))
    harness.compare("messages", (first["messages"], second["messages"]), (3 * STEPS, 0))
    near("waiting", second["seconds_per_rank"]["waiting"], 0)
    near("in MPI", second["seconds_per_rank"]["mpi_without_waiting"], STEPS * EXTRA)
    for files in ((whole, part), (part, whole), (whole, part, whole)):
        said = text(bench, *files, code=3)
        harness.compare("said once", said.count(f"{part}: incomplete: 3 of 4 ranks"), 1)


def test_usage(bench):
    """Two files at least."""
    good = record(bench, 4)
    for words, said in (((), "which files?"), ((good,), "which files?"), (("--reduction", good), "which files?"),
                        (("--top=x", good, good), "is not a number")):
        run = bench.run([bench.refrain, "compare", *words])
        harness.compare(f"exit status of {words}", (run.code, run.out), (2, ""))
        need(said, run.err)
    run = bench.run([bench.refrain, "compare", good, bench.path("missing.rfn")])
    harness.compare("missing", (run.code, run.out, "missing.rfn" in run.err), (1, "", True))


# ---- several runs of each side ----

def sides(bench, *extras, ranks=4):
    """A run for each of these seconds by which the slow rank is late in a step."""
    return [record(bench, ranks, extra=extra, slow=SLOW) for extra in extras]


def row(found, name):
    rows = [one for one in found["rows"] if one["name"] == name]
    harness.compare(f"rows named {name}", len(rows), 1)
    return rows[0]


def check_range(one, side, least, median, largest):
    for name, value in (("least", least), ("median", median), ("largest", largest)):
        near(f"{name} of {one['name']} {side}", one[side][name], value)


def test_sides(bench):
    """Medians and ranges of each row; ranges that overlap are noise."""
    before, after, near_before = (sides(bench, *extras) for extras in ((0.050, 0.054, 0.052), (0.072, 0.070, 0.071, 0.073),
                                                                       (0.053, 0.055, 0.057)))
    found = compare(bench, *before, "--with", *after)
    harness.compare("runs", [[run["file"] for run in found[side]] for side in ("before", "after")], [before, after])
    time, receive = row(found, "run time"), row(found, "MPI_Recv < exchange < step < main")
    check_range(time, "before", 1.00, 1.02, 1.04)
    check_range(time, "after", 1.20, 1.215, 1.23)
    check_range(receive, "before", 0.375, 0.390, 0.405)
    check_range(receive, "after", 0.525, 0.53625, 0.5475)
    near("change", time["change_percent"], 100 * 0.195 / 1.02)
    cause = row(found, "compute in smooth, region smoothing, at refrain_region_end < smooth < step < main")
    harness.compare("kinds", [one["kind"] for one in (time, receive, cause)], ["sum", "call_path", "cause"])
    near("cause", cause["change"], receive["change"])
    harness.compare("noise", [one["noise"] for one in (time, receive, cause)], [False] * 3)
    messages = row(found, "messages")
    harness.compare("messages", (messages["before"]["median"], messages["change"], messages["noise"]), (30, 0, False))
    page = text(bench, *before, "--with", *after)
    harness.compare("answer", first_sentence(page),
                    "B takes 1.19 times as long as A, by the medians: 1.02 s -> 1.22 s; the ranges do not overlap.")
    need("MPI_Recv < exchange", page)
    found = compare(bench, *before, "--with", *near_before)
    harness.compare("overlapping", row(found, "run time")["noise"], True)
    page = text(bench, *before, "--with", *near_before, columns=60)
    harness.compare("answer", first_sentence(page), "B takes about as long as A, by the medians: 1.02 s -> 1.05 s; "
                    "that is noise: A takes 1.00 s to 1.04 s, B 1.03 s to 1.07 s.")
    if "MPI_Recv" in page:
        raise harness.Failure(f"noise is among what differs:\n{page}")


def gate(bench, files, *rules, code):
    run = bench.run([bench.refrain, "compare", *files, *[f"--fail-if={rule}" for rule in rules]])
    harness.compare(f"exit status of {rules}: {run.err}", run.code, code)
    return run


def test_gates(bench):
    """What exceeds the number and is no noise ends in status 4; each rule is told."""
    before, after, near_before = (sides(bench, *extras) for extras in ((0.050, 0.054, 0.052), (0.072, 0.070, 0.071),
                                                                       (0.053, 0.055, 0.057)))
    worse, noise = (*before, "--with", *after), (*before, "--with", *near_before)
    for rule, code in (("run time > 18 %", 4), ("run time > 19 %", 0), ("run time > 180 ms", 4), ("run time > 0.2 s", 0),
                       ("run time < 1 %", 0), ("load balance < 5 points", 4), ("waiting > 1 %", 4), ("messages > 0", 0),
                       ("MPI_Recv < exchange > 30 %", 4), ("MPI_Recv < exchange > 40 %", 0), ("region smoothing > 1 %", 4)):
        gate(bench, worse, rule, code=code)
    gate(bench, noise, "run time > 1 %", "waiting > 0 %", code=0)
    gate(bench, (*after, "--with", *before), "run time > 1 %", code=0)
    run = gate(bench, worse, "run time > 50 %", "waiting > 1 %", code=4)
    need("passed: run time > 50 % (1.02 s -> 1.21 s, +18.6 %)", run.out)
    need("FAILED: waiting > 1 % (390 ms -> 532 ms, +36.5 %)", run.out)
    run = gate(bench, ("--json", *worse), "run time > 50 %", "waiting > 1 %", code=4)
    gates = json.loads(run.out)["gates"]
    harness.compare("gates", [(one["rule"], one["row"], one["failed"]) for one in gates],
                    [("run time > 50 %", "run time", False), ("waiting > 1 %", "waiting", True)])
    near("limit", gates[0]["limit"], 0.51)


def test_gates_usage(bench):
    """What a gate cannot be about is refused, with what would do."""
    before, after = sides(bench, 0.05, 0.05, 0.05), sides(bench, 0.05, 0.05)
    eight, = sides(bench, 0.05, ranks=8)
    three = (*before, "--with", *before)
    for words, said in (((*three, "--fail-if=run tme > 5 %"), 'no row is named "run tme"; rows are: run time; computing'),
                        ((*three, "--fail-if=run time"), "--fail-if is ROW > NUMBER"),
                        ((*three, "--fail-if=run time > 5 points"), "has a unit of time"),
                        ((*before, "--with", *after, "--fail-if=run time > 5 %"), "there are 3 and 2"),
                        ((*before, "--fail-if=run time > 5 %"), "--fail-if compares two sides"),
                        ((*before, "--with"), "--with stands between"), (("--with", *before), "--with stands between"),
                        ((*three, "--with", *before), "--with stands once"),
                        ((*before, "--with", *after, eight), "is a run on 4 ranks")):
        run = bench.run([bench.refrain, "compare", *words])
        harness.compare(f"exit status of {words}", (run.code, run.out), (2, ""))
        need(said, run.err)
    other = record(bench, 4, source=os.path.join(harness.PROGRAMS, "late_sender.c"))
    need("The programs have different names", text(bench, before[0], "--with", other))
    page = text(bench, before[0], "--with", record(bench, 4, time="none"))
    need("not all of them have times", " ".join(page.split()))
    part = bench.fresh("part.rfn")
    bench.verb("reduce", "--rank=0-2", "-o", part, before[0])
    text(bench, *before, "--with", *after, part, "--fail-if=messages > 0", code=3)
