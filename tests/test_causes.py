"""What makes a program slow is the first thing that `refrain report` says, also of a run that was
cut short.

Programs with one planted fault each (programs/causes), recorded under real MPIs: the first cause,
in JSON and in the lines that a newcomer reads first, is the planted one, with function, line, wait
state and late rank. Ranks sleep where they would compute, far longer than a shared machine holds
them up; that they are started one after the other is not the programs' fault and not looked at.
"""
import json
import os
import re
import time

import harness
import rfn_reader
import test_clocks
import test_report

REAL_TIME = True
FOLDER = os.path.join(harness.PROGRAMS, "causes")
WORDS = {
    "wait_at_barrier": "Others wait at the barrier",
    "late_sender": "Others wait for messages (late sender)",
    "late_receiver": "Others wait until their messages are received (late receiver)",
    "wrong_order": "Others wait for messages in wrong order"}
NOT_WAITING = "time in MPI calls without waiting"


def source(name):
    return os.path.join(FOLDER, name + ".c")


def lines_of(name, text):
    """The numbers of the lines of a program that contain the text."""
    with open(source(name), encoding="ascii") as file:
        return [n for n, line in enumerate(file, 1) if text in line]


def line_of(name, text):
    """The number of the only line."""
    (number,) = lines_of(name, text)
    return number


class Planted:
    """A program, the ranks that are late before they come `to` a line of a function, where they pause
    in one of the three lines before it, the call where others wait for them, and the least that this
    costs in seconds of all ranks."""

    def __init__(self, name, ranks, late, pattern, seconds, to, waited):
        self.name, self.ranks, self.late = name, ranks, late
        self.pattern, self.seconds = pattern, seconds
        self.function, self.line = to[0], line_of(name, to[1])
        self.work = [line for line in lines_of(name, "pause_ms(") if self.line - 3 <= line < self.line]
        self.waited_function, self.waited_line = waited[0], line_of(name, waited[1])


PLANTED = {planted.name: planted for planted in (
    Planted("imbalance", 4, [3], "wait_at_barrier", 3 * 3 * 0.18, ("smooth", "the phase's end"),
            ("main", "MPI_Barrier(")),
    Planted("pipeline", 4, [0], "late_sender", 3 * 0.5, ("pass_on", "MPI_Send("),
            ("pass_on", "MPI_Recv(")),
    Planted("master", 4, [1], "late_sender", 3 * 3 * 0.23, ("worker", "MPI_Send(&task"),
            ("master", "MPI_Recv(&result")),
    Planted("synchronous", 4, [1, 3], "late_receiver", 2 * 3 * 0.2, ("exchange", "MPI_Recv("),
            ("exchange", "MPI_Ssend(")),
    Planted("input", 2, [0], "late_sender", 3 * 0.2, ("make_input", "MPI_Send("),
            ("wait_for_input", "MPI_Test(")))}

ARCHIVES = {}  # by program and MPI, so that several tests look at one run


def archive_of(bench, name, flavour):
    if (name, flavour) not in ARCHIVES:
        program = bench.program(source(name), flavour)
        _, ARCHIVES[name, flavour] = bench.record(flavour, PLANTED[name].ranks, [program])
    return ARCHIVES[name, flavour]


def facts(bench, archive, *options, code=0):
    run = bench.run([bench.refrain, "report", "--json", *options, archive])
    harness.compare(f"exit of report --json {options}", run.code, code)
    return json.loads(run.out)


def page(bench, archive, *options, code=0, width=100):
    run = bench.run([bench.refrain, "report", *options, archive], env={"COLUMNS": str(width)})
    harness.compare(f"exit of report {options}", run.code, code)
    return run.out


def head(text):
    """The first lines of a page, without ends of lines."""
    return " ".join(text.split("\n\n")[0].split())


# ---- the first cause ----

def place(frames):
    """Function and line of the innermost frame of the program."""
    return next(((f["function"], f["line"]) for f in frames if not f["internal"]), None)


class Sum:
    """Causes of one kind that end at one place."""

    def __init__(self):
        self.seconds, self.by_rank, self.direct = 0, {}, {}

    def add(self, cause):
        self.seconds += cause["seconds"]
        for rank in cause["ranks"]:
            self.by_rank[rank["rank"]] = self.by_rank.get(rank["rank"], 0) + rank["seconds"]
        where = cause["pattern"], place(cause["waited_frames"])
        self.direct[where] = self.direct.get(where, 0) + cause["direct_seconds"]

    def late(self):
        """The ranks that stand for nearly all."""
        return sorted(r for r, s in self.by_rank.items() if s > 0.2 * max(self.by_rank.values()))


def first_cause(found):
    """(kind, function, line, sum) of what costs most, but for ranks that started late."""
    sums = {}
    for cause in found["causes"]:
        if cause["kind"] not in ("start", "recording"):
            key = cause["kind"], *place(cause["at_frames"])
            sums.setdefault(key, Sum()).add(cause)
    key = max(sums, key=lambda key: sums[key].seconds)
    return *key, sums[key]


def check_json(found, planted):
    kind, function, line, cause = first_cause(found)
    harness.compare(f"what delays {planted.name}", (kind, function, line),
                    ("compute", planted.function, planted.line))
    harness.compare("who is late", cause.late(), planted.late)
    harness.compare("where others wait", max(cause.direct, key=cause.direct.get),
                    (planted.pattern, (planted.waited_function, planted.waited_line)))
    if cause.seconds < 0.8 * planted.seconds:
        raise harness.Failure(f"{planted.name} costs {cause.seconds} s, not {planted.seconds} s")


def check_head(text, planted):
    """The same in words; numbers with units; no colour, no line beyond the page."""
    first = head(text)
    if not re.match(rf"{planted.name}\S* on {planted.ranks} ranks ran for [\d.]+ m?s\. Parallel "
                    r"efficiency [\d.]+ %: .* of the ranks' time is lost, ", first):
        raise harness.Failure(f"the page begins with {first}")
    items = re.split(r" (?=\d\. )", first)[1:]
    who = f"rank{'s' if len(planted.late) > 1 else ''} {','.join(map(str, planted.late))}"
    file = re.escape(planted.name + ".c")
    others = WORDS[planted.pattern]
    one = others.replace("Others wait", "Rank # waits").replace("their", "its")
    waits = rf"({re.escape(others)}|{re.escape(one)})".replace(re.escape("#"), r"\d+")
    work = "|".join(str(line) for line in planted.work)
    if not re.match(rf"1\. [\d.]+ % of all ranks' time is lost by waiting \([\d.]+ m?s\): (mainly )?{who} "
                    r"((computes?|takes?) longer than the others|(is|are) late( at different times)? while (it|they) computes?) in "
                    rf"pause_ms\(\), called in {planted.function}\(\) \[{file}:({work})\].*\. {waits} in "
                    rf"{planted.waited_function}\(\) \[{file}:{planted.waited_line}\][ .]", items[0]):
        raise harness.Failure(f"the first story of {planted.name} is\n{items[0]}")


def make_test(planted):
    def test(bench, flavour):
        archive = archive_of(bench, planted.name, flavour)
        found = facts(bench, archive)
        test_report.check_waits(found, test_report.Main(bench, archive))
        check_json(found, planted)
        for width in (80, 120):
            text = page(bench, archive, width=width)
            check_head(text, planted)
            harness.compare("colour", "\033" in text, False)
            harness.compare("too long", [l for l in text.splitlines() if len(l) > width], [])
    return test


for _planted in PLANTED.values():
    globals()[f"test_{_planted.name}"] = make_test(_planted)


def test_advice(bench):
    """What to do fits the fault: ranks that are late sleep, which uses no core."""
    for name in ("imbalance", "master", "synchronous"):
        first = head(page(bench, archive_of(bench, name, "openmpi")))
        for words in (" % of a core: input and output, or sleep. ", "Read and write in fewer and larger pieces"):
            if words not in first:
                raise harness.Failure(f"{name}: no {words!r} in {first}")


def test_sleep_between_polls(bench, flavour):
    """Who sleeps between polls counts as busy, and the page says so."""
    _, archive = bench.record(flavour, 2, [bench.program(source("input"), flavour), "sleeps"])
    (tests,) = [p for p in facts(bench, archive)["call_paths"] if p["function"] == "MPI_Test"]
    check_between("between polls", tests["between_polls_seconds"], 0.8 * 3 * 0.25, 10)
    sentence = re.escape(" of their time between unsuccessful polls (MPI_Test, "
                         f"wait_for_input() [input.c:{PLANTED['input'].waited_line}]). This counts as computing, but "
                         "the ranks may only wait there.")
    if not re.search(rf"Ranks spend [\d.]+ %{sentence}", head(page(bench, archive))):
        raise harness.Failure(head(page(bench, archive)))


# ---- runs and files that were cut short ----

def record_death(bench, flavour, *arguments):
    """Records programs/causes/dies.c; the name of the archive that does not come."""
    archive = bench.path(f"dies.{flavour}.{len(arguments)}.rfn")
    program = bench.program(source("dies"), flavour)
    run = bench.run([*harness.FLAVOURS[flavour].launch(4), bench.refrain, "record", "--time=full",
                     "-o", archive,
                     program, *arguments])
    if run.code == 0 or os.path.exists(archive):
        raise harness.Failure(f"exit {run.code}, and an archive")
    return archive


def no_archive(bench, archive):
    run = bench.run([bench.refrain, "report", archive])
    harness.compare("exit without an archive", (run.code, run.out), (1, ""))
    if f"{archive}: cannot open" not in run.err:
        raise harness.Failure(run.err)
    return run.err


def test_abort(bench, flavour):
    """MPI_Abort leaves one rank: what can be said of it is said, and nothing about the others."""
    archive = record_death(bench, flavour)
    alone = archive[:-len(".rfn")] + ".rank2.rfn"
    if alone not in no_archive(bench, archive):
        raise harness.Failure(f"{alone} is not told of")
    found = facts(bench, alone, code=3)
    harness.compare("JSON", (found["complete"], found["ranks"], found["missing_ranks"]),
                    (False, 4, 3))
    harness.compare("why", found["incomplete_because"],
                    "1 of 4 ranks is here: others were not recorded, were left out, or the run ended "
                    "before the ranks met")
    harness.compare("calls", test_report.by_function(found)["MPI_Sendrecv"], (10, 40))
    harness.compare("matching", (found["matching"]["matched"], found["matching"]["messages"],
                                 found["causes"]), (0, 10, []))
    for part in found["critical_path"]["parts"]:
        test_report.close_to("the mean of one rank", part["mean_seconds"], part["seconds"])
    text = page(bench, alone, code=3)
    if not re.match(r"incomplete: 1 of 4 ranks is here: others were not recorded, were left out, or the "
                    r"run ended before the ranks met dies\S* "
                    r"on 4 ranks \(1 of them in this archive\) ran for [\d.]+ m?s until rank 2 called "
                    rf"MPI_Abort in give_up\(\) \[dies\.c:{line_of('dies', 'MPI_Abort(')}\]\. "
                    r"Parallel efficiency of the ranks in this archive [\d.]+ %: .* How long this rank waited "
                    r"for others is not known without the other ranks\.", head(text)):
        raise harness.Failure(head(text))
    if NOT_WAITING in text or "MPI_Sendrecv" not in text:
        raise harness.Failure(text)


def test_killed(bench, flavour):
    """After SIGKILL there is nothing."""
    if "rank2" in no_archive(bench, record_death(bench, flavour, "killed")):
        raise harness.Failure("an archive of rank 2 is told of")


def lengths(data):
    """Where chunks end, and places inside of them; without the whole file."""
    chunks = list(rfn_reader.listed_chunks(data, rfn_reader.read_header(data)[0], True))
    ends = {chunk.end for chunk in chunks}
    return sorted({*ends, *((chunk.offset + chunk.end) // 2 for chunk in chunks), len(data) - 1})


def check_cut(bench, path, whole, what):
    """A cut archive: how many ranks are missing; -1 if it cannot be opened."""
    run = bench.run([bench.refrain, "report", "--json", path])
    harness.compare(f"exit, {what}", run.code, 3)
    if path not in run.err or not re.search(r"offset \d+", run.err):
        raise harness.Failure(f"{what}: {run.err}")
    if not run.out:
        harness.compare(f"page, {what}", page(bench, path, code=3), "")
        return -1
    found = json.loads(run.out)
    harness.compare(f"complete, {what}", found["complete"], False)
    text = page(bench, path, code=3, width=200)
    present = found["ranks"] - found["missing_ranks"]
    reason, first = text.split("\n", 1)
    harness.compare(f"why, {what}", reason, "incomplete: " + found["incomplete_because"])
    harness.compare("ranks", sum(rank["threads"] for rank in found["time_per_rank"]), present)
    if present == found["ranks"]:
        harness.compare(f"head, {what}", head(first), head(whole))
        return 0
    if (f" ({present} of them in this archive) ran for " if present else " (none of them in this archive):") not in first:
        raise harness.Failure(f"{what}: {first}")
    if NOT_WAITING in first or "--time=none" in first:
        raise harness.Failure(f"{what}: {first}")
    return found["missing_ranks"]


def test_cut(bench, flavour):
    """The longer a file, the more is said of it; never more than is known."""
    archive = archive_of(bench, "imbalance", flavour)
    whole = page(bench, archive)
    with open(archive, "rb") as file:
        data = file.read()
    missing = []
    for length in lengths(data):
        path = bench.path("cut.rfn")
        with open(path, "wb") as file:
            file.write(data[:length])
        missing.append(check_cut(bench, path, whole, f"{length} of {len(data)} bytes"))
    readable = [n for n in missing if n >= 0]
    harness.compare("files that cannot be opened come first", missing[-len(readable):], readable)
    harness.compare("ranks come one by one", readable, sorted(readable, reverse=True))
    harness.compare("ranks missing", sorted(set(readable)), [0, 1, 2, 3, 4])


# ---- less than everything ----

def wrong(bench, archive, *options):
    """The message of wrong usage."""
    run = bench.run([bench.refrain, "report", *options, archive])
    harness.compare(f"exit of report {options}", (run.code, run.out), (2, ""))
    return run.err


def test_wrong_values(bench):
    archive = archive_of(bench, "pipeline", "openmpi")
    for options, message in (
            (["--rank", "4"], "there is no rank 4: the run has 4, counted from 0"),
            (["--rank", "0-9"], "there is no rank 4"), (["--rank", "first"], "'first' is not a list"),
            (["--top", "all"], "'all' is not a number"), (["--top=-1"], "'-1' is not a number"),
            (["--json", "--short"], "--json, --csv and --short print different things"),
            (["--csv=causes", "--short"], "--json, --csv and --short print different things"),
            (["--call-path", "nowhere"], "no call path of this run has 'nowhere'")):
        if message not in wrong(bench, archive, *options):
            raise harness.Failure(f"{options}: {wrong(bench, archive, *options)}")


def test_narrowed_to_rank(bench):
    """The last rank of the pipeline waits, the first one is the cause."""
    planted = PLANTED["pipeline"]
    archive = archive_of(bench, "pipeline", "openmpi")
    found = facts(bench, archive, "--rank=3")
    check_json(found, planted)
    check_head(page(bench, archive, "--rank=3"), planted)
    for state in found["wait_states"]:
        harness.compare("waiting of others", state["seconds_by_rank"][:3], [0, 0, 0])
    text = page(bench, archive, "--rank", "3")
    if "Wait states of rank 3\n" not in text or "Time of rank 3\n" not in text:
        raise harness.Failure(text)


def test_narrowed_to_path(bench):
    planted = PLANTED["pipeline"]
    archive = archive_of(bench, "pipeline", "openmpi")
    found = facts(bench, archive, f"--call-path=pipeline.c:{planted.waited_line}")
    check_json(found, planted)
    for rows in (found["wait_states"], found["call_paths"]):
        harness.compare("functions", {row["function"] for row in rows}, {"MPI_Recv"})
    text = page(bench, archive, "--call-path", "pass_on")
    check_head(text, planted)
    if "MPI_Barrier <" in text:  # as a cause it may be there: who left it late came late
        raise harness.Failure(text)


def test_top(bench):
    archive = archive_of(bench, "imbalance", "openmpi")
    found, whole = facts(bench, archive, "--top=1"), facts(bench, archive)
    for rows in ("wait_states", "causes"):
        harness.compare(rows, found[rows], whole[rows][:1])
    shown = f"(1 of {len(whole['causes'])}; --all shows all)"
    if shown not in page(bench, archive, "--top", "1"):
        raise harness.Failure(f"no {shown}")


# ---- clocks that disagree ----

BEHIND = 100_000_000  # ns that the second rank's host is behind
TURN, TURNS = 0.04, 10  # of programs/causes/turns.c


def record_skewed(bench, flavour):
    """Two hosts of which one has the wrong time of day, and nobody compares."""
    hosts = [test_clocks.Host("alpha"), test_clocks.Host("beta")]
    hosts[1].day = -BEHIND
    archive = bench.path(f"skewed.{flavour}.rfn")
    starter = test_clocks.preloaded(bench, hosts, time.clock_gettime_ns(time.CLOCK_MONOTONIC))
    bench.run([*harness.FLAVOURS[flavour].launch(2), starter, bench.refrain, "record", "--time=full",
               "-f", "-o",
               archive, bench.program(source("turns"), flavour)],
              env={"REFRAIN_CLOCK_SYNC": "never", "REFRAIN_CLOCK": "tsc", **test_clocks.APART},
              check=True)
    return archive


def late_sender(found):
    """Seconds by rank."""
    states = [s["seconds_by_rank"] for s in found["wait_states"] if s["pattern"] == "late_sender"]
    return [sum(seconds) for seconds in zip([0, 0], *states)]


def check_between(what, found, low, high):
    if not low <= found <= high:
        raise harness.Failure(f"{what}: {found}, not {low} to {high}")


def test_fix_clocks(bench, flavour):
    """Receives of the rank whose clock is behind end before their sends begin, and the other rank
    seems to wait for nothing. Repaired, both wait for each other; the first receive alone is longer,
    by what the clocks differ."""
    archive = record_skewed(bench, flavour)
    found, fixed = facts(bench, archive), facts(bench, archive, "--fix-clocks")
    behind, half = BEHIND / 1e9, TURN * TURNS / 2
    harness.compare("backward", (found["matching"]["backward"], found["matching"]["fixed"]),
                    (TURNS // 2, False))
    check_between("by up to", found["matching"]["backward_max_seconds"], 0.8 * behind, behind)
    if late_sender(found)[0] > 0.25 * half:
        raise harness.Failure(f"without repair rank 0 waits {late_sender(found)[0]} s")
    harness.compare("repaired", (fixed["matching"]["backward"] > 0, fixed["matching"]["fixed"]),
                    (True, True))
    check_between("rank 0 waits", late_sender(fixed)[0], 0.8 * half, 2 * half)
    check_between("rank 1 waits", late_sender(fixed)[1], 0.8 * (half + behind), 2 * half + behind)
    check_between("the critical path", fixed["critical_path"]["seconds"], TURN * TURNS,
                  fixed["run_time_seconds"] + behind)
    test_report.check_causes(fixed)
    kind, function, _, cause = first_cause(fixed)
    harness.compare("cause", (kind, function, cause.late()), ("compute", "turn", [0, 1]))
    text = " ".join(page(bench, archive).split())
    if not re.search(rf"{TURNS // 2} receives ended before the send began, by up to [\d.]+ ms: "
                     "clocks of ranks disagree; --fix-clocks repairs that", text):
        raise harness.Failure(text)
    repaired = page(bench, archive, "--fix-clocks")
    if "disagree, repaired by a logical clock" not in " ".join(repaired.split()):
        raise harness.Failure("--fix-clocks does not say so")
    harness.compare("warnings", ["The clocks of ranks disagree" in head(one)
                                 for one in (page(bench, archive), repaired)], [True, False])


def test_nothing_to_fix(bench):
    """Where no clock is wrong, --fix-clocks changes nothing."""
    archive = archive_of(bench, "master", "openmpi")
    found, fixed = facts(bench, archive), facts(bench, archive, "--fix-clocks")
    harness.compare("backward", found["matching"].pop("backward"), 0)
    harness.compare("backward", fixed["matching"].pop("backward"), 0)
    harness.compare("fixed", (found["matching"].pop("fixed"), fixed["matching"].pop("fixed")),
                    (False, True))
    harness.compare("reports", fixed, found)
