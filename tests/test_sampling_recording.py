"""Messages sampled while a program runs: beside a trace of the same run, each sample is what the trace says of that
message, and none is missing or extra; and the program does what it does without."""
import csv
import io
import json
import os
import shutil

import harness
import test_events
import test_smpi

FOLDER = os.path.join(harness.PROGRAMS, "sampling")
# Recording was off when some of these messages were sent: they count in their channels, but the trace lacks them.
NOT_IN_TRACE = {"pcontrol", "pcontrol_around"}
# MPICH does not say how many bytes MPI_Isendrecv_replace has received: the ends disagree.
DISAGREEING = ("MPI_Isendrecv_replace", "mpich")


def samples(text, flavour=""):
    """Rows of the samples."""
    function, where = DISAGREEING
    return {tuple(row.items()) for row in csv.DictReader(io.StringIO(text))
            if flavour != where or not row["receive_path"].startswith(function)}


def recorded(bench, archive, flavour=""):
    return samples(bench.verb("report", "--csv=sampling_samples", archive), flavour)


def taken(bench, archive, strategy, flavour=""):
    """What the trace says."""
    return samples(bench.verb("sample", f"--sample={strategy}", "--analysis=write", "--csv=samples", archive), flavour)


def without(rows, *columns):
    return {tuple(item for item in row if item[0] not in columns) for row in rows}


def said(bench, archive):
    return json.loads(bench.verb("report", "--json", archive))["sampling"]


def record(bench, flavour, ranks, command, strategy, options=("--with-trace",), **others):
    return bench.record(flavour, ranks, command, [f"--sample={strategy}", "--sample-analysis=write", *options], **others)[1]


def compare_rows(what, found, expected):
    if found != expected:
        raise harness.Failure(f"{what}: {len(found)} samples, not {len(expected)}; only recorded: "
                              f"{sorted(found - expected)[:2]}; only in the trace: {sorted(expected - found)[:2]}")


def check_program(bench, flavour, name, ranks, strategy):
    """The program says that it saw what it always sees (programs/expect.h)."""
    program, log = bench.program(name, flavour), bench.path(f"{name}.{flavour}.{strategy}.log")
    archive = record(bench, flavour, ranks, [program], strategy, env={"EXPECT_OUT": log})
    bench.verb("verify", archive)
    test_events.compare_logs(log, ranks, bench.dump(archive))
    if name not in NOT_IN_TRACE:
        compare_rows(f"{name} at {strategy}", recorded(bench, archive, flavour), taken(bench, archive, strategy, flavour))
    return archive


def test_forms_of_messages(bench, flavour):
    for name, ranks in test_events.programs():
        if name in ("point_to_point", "persistent", "partitioned", "matched", "sends", "threads", "freed"):
            check_program(bench, flavour, name, ranks, "random:1")
    check_program(bench, flavour, "completions", 2, "random:0.3")


@harness.long
def test_all_programs(bench, flavour):
    for name, ranks in test_events.programs():
        for strategy in ("random:1", "random:0.2"):
            check_program(bench, flavour, name, ranks, strategy)


def check_random(bench, flavour, ranks, arguments, strategy):
    program = bench.program("random_calls", flavour)
    archive = record(bench, flavour, ranks, [program, *arguments], strategy)
    found = recorded(bench, archive)
    compare_rows(f"{arguments} at {strategy}", found, taken(bench, archive, strategy))
    facts = said(bench, archive)
    messages = sum(("collective", "false") in row for row in found)
    harness.compare("sampled, dropped", (facts["sampled"], facts["dropped"]), (messages, 0))
    return archive


def test_random_calls(bench, flavour):
    for seed, strategy in (("1", "random:1"), ("2", "random:0.1"), ("3", "adaptive:4"), ("4", "counter:5+-2")):
        check_random(bench, flavour, 4, (seed, "60"), strategy)


@harness.long
def test_many_ranks(bench):
    for strategy in ("random:1", "random:0.01"):
        check_random(bench, "openmpi", 64, ("5", "60"), strategy)


def changing_rates(bench, *arguments, options=("--with-trace",), strategy="random:1"):
    program = bench.program(os.path.join(FOLDER, "changing_rates.c"), "mpich")
    return record(bench, "mpich", 3, [program, *arguments], strategy, options)


def test_rates_change(bench):
    """While ranks differ in their strategies some messages are dropped, but no sample is wrong."""
    archive = changing_rates(bench, "200", "change")
    found, truth = recorded(bench, archive), taken(bench, archive, "random:1")
    harness.compare("samples that are none", without(found, "weight") - without(truth, "weight"), set())
    facts = said(bench, archive)
    harness.compare("changed", facts["changed"], True)
    harness.compare("some were dropped", facts["dropped_because"]["one_sided"] > 0, True)
    harness.compare("others not", 0 < facts["sampled"] < facts["messages"], True)


def test_timer(bench):
    """The receiver does not know what the sender's clock chooses."""
    archive = changing_rates(bench, "400", strategy="timer:20us+-5us")
    found, truth = recorded(bench, archive), taken(bench, archive, "random:1")
    harness.compare("samples that are none", without(found, "weight") - without(truth, "weight"), set())
    harness.compare("some", len(found) > 0, True)


# Batches that need their sender: as where processes cannot read each other's memory, or on a network.
NEED_SENDER = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl_vader_eager_limit": "1024"}


def test_sender_outside_mpi(bench, flavour):
    """The recorder does not wait for a sender that waits, outside of MPI, for what its receiver does next."""
    program = bench.program(os.path.join(FOLDER, "outside_mpi.c"), flavour)
    archive = record(bench, flavour, 2, [program, bench.fresh("made_by_rank_1")], "random:1", env=NEED_SENDER)
    found = recorded(bench, archive)
    compare_rows("sender outside of MPI", found, taken(bench, archive, "random:1"))
    harness.compare("messages", len([row for row in found if ("collective", "false") in row]), 2000)


def test_uncertain(bench, flavour):
    """Where the order of calls does not say which message a receive gets, none is sampled rather than a wrong one."""
    program = bench.program(os.path.join(FOLDER, "uncertain.c"), flavour)
    for case, sampled, dropped in (("cancelled", 0, {"uncertain": 20}), ("given-up", 20, {"one_sided": 1}),
                                   ("threads", 0, {"uncertain": 20}), ("wildcard", 0, {"uncertain": 22}),
                                   ("partitioned", 2 if flavour == "mpich" else 0, {}),
                                   ("mixed", 40 if flavour == "mpich" else 0, {})):
        archive = record(bench, flavour, 2, [program, case], "random:1")
        found = {row for row in recorded(bench, archive) if ("collective", "false") in row}
        harness.compare(f"{case}: samples that are none", found - taken(bench, archive, "random:1"), set())
        harness.compare(f"{case}: samples", len(found), sampled)
        because = {why: n for why, n in said(bench, archive)["dropped_because"].items() if n}
        harness.compare(f"{case}: dropped", because, dropped)
        if case == "mixed":
            harness.compare("bytes", sorted({dict(row)["bytes"] for row in found}), ["32", "8"] if found else [])


STEPS, RANKS = 50, 3
CONDITIONS = {  # of 5 messages of a step and rank: how many fit, in one of its tenths
    "": 50, "bytes=4K-": 20, "bytes=-64": 30, "comm=the other": 20, "comm=MPI_COMM_WORLD": 30, "path=pass_*": 40,
    "function=MPI_Send*": 50, "function=!MPI_Sendrecv": 0, "region=de*": 10, "level=2": 5,
    "bytes=8,comm=the other,level=1": 9,
}


def test_conditions(bench):
    for where, of_ten in CONDITIONS.items():
        archive = changing_rates(bench, str(STEPS), options=["--with-trace", f"--sample-where={where}"])
        found = {row for row in recorded(bench, archive) if ("collective", "false") in row}
        harness.compare(f"samples where '{where}'", len(found), of_ten * STEPS // 10 * RANKS)
        harness.compare("they are in the trace", found - taken(bench, archive, "random:1"), set())
        facts = said(bench, archive)
        harness.compare("where, messages, dropped", (facts["where"], facts["messages"], facts["dropped"]),
                        (where, 5 * STEPS * RANKS, 0))


@harness.long
def test_no_trace(bench):
    """What is alone is small, says so, and counts what a trace counts."""
    program = bench.program(os.path.join(FOLDER, "changing_rates.c"), "mpich")
    sizes = []
    for steps in (100, 1000):
        archive = bench.fresh("alone.rfn")
        bench.run([*harness.FLAVOURS["mpich"].launch(3), bench.refrain, "record", "-o", archive, "--sample=random:0.02",
                   program, str(steps)], check=True)
        bench.verb("verify", archive)
        facts = said(bench, archive)
        harness.compare("messages", facts["messages"], 5 * steps * 3)
        harness.compare("alone, changed", (facts["alone"], facts["changed"]), (True, False))
        harness.compare("events", {event["function"] for event in bench.dump(archive)}, {"MPI_Init", "MPI_Finalize"})
        sizes.append(os.path.getsize(archive))
    harness.compare("size does not grow with the run", sizes[1] < 2 * sizes[0], True)


def test_verbs_that_need_calls(bench):
    """A sample alone is refused, as there is nothing to predict, compare, replay or convert."""
    archive, platform = bench.fresh("alone.rfn"), bench.fresh("platform.xml")
    with open(platform, "w", encoding="ascii") as file:
        file.write(test_smpi.PLATFORM)
    program = bench.program(os.path.join(FOLDER, "changing_rates.c"), "mpich")
    _, trace = bench.record("mpich", 3, [program, "10"])
    bench.run([*harness.FLAVOURS["mpich"].launch(3), bench.refrain, "record", "-o", archive, "--sample=random:0.5", program, "10"],
              check=True)
    for words in (["whatif", archive], ["predict", archive, "--platform", platform], ["compare", archive, trace],
                  ["compare", trace, archive], ["compare", "--reduction", trace, archive], ["replay", archive],
                  ["convert", archive, "-o", bench.fresh("out.txt")], ["sample", archive]):
        run = bench.run([bench.refrain, *words])
        if run.code != 1 or f"{archive}: this archive has a sample of messages" not in run.err:
            raise harness.Failure(f"{words}: exit {run.code}: {run.out}{run.err}")


MEASURED = ("latency_ns", "sent_ns", "posted_ns", "entered_ns", "received_ns")


def test_alone_as_beside_a_trace(bench, flavour):
    """Alone the same messages are sampled as beside a trace, on programs whose messages are the same in each run."""
    for name, ranks in test_events.programs():
        if name not in ("point_to_point", "persistent", "sends", "collectives"):
            continue
        program = bench.program(name, flavour)
        for strategy in ("random:0.3", "adaptive:2"):
            rows = [without(recorded(bench, record(bench, flavour, ranks, [program], strategy, options,
                                                   env={"EXPECT_OUT": bench.fresh("log")}), flavour), *MEASURED)
                    for options in ((), ("--with-trace",))]
            compare_rows(f"{name} at {strategy}, alone", *rows)


def test_fast_exchange(bench, flavour):
    """A rule that takes every other message leaves both ends time to meet, however fast messages are."""
    program = bench.program(os.path.join(harness.HERE, "..", "bench", "calls.c"), flavour)
    for strategy, every in (("counter:2", 2), ("counter:16", 16), ("random:1", 1)):
        facts = said(bench, record(bench, flavour, 2, [program, "roundtrip", "20000"], strategy, ()))
        harness.compare(f"most of what {strategy} chooses", facts["sampled"] > 0.9 * facts["messages"] / every, True)


@harness.long
def test_harmless(bench, flavour):
    """The program sees the same order of messages, statuses and error codes."""
    program = bench.program(os.path.join(FOLDER, "harmless.c"), flavour)
    launch = harness.FLAVOURS[flavour].launch(4)
    plain = sorted(bench.run([*launch, program], check=True).out.split("\n"))
    for strategy in ("random:1", "adaptive", "counter:3", "timer:100us"):
        archive = bench.fresh("harmless.rfn")
        out = bench.run([*launch, bench.refrain, "record", "-q", "-o", archive, f"--sample={strategy}", program],
                        check=True).out
        harness.compare(f"what it sees at {strategy}", sorted(out.split("\n")), plain)
        bench.verb("verify", archive)


LEVELS, LEVEL_RANKS, LEVEL_STEPS = 12, 8, 10


def levels(bench, flavour, *options):
    """What is sampled of an exchange on 12 levels between 8 ranks (programs/sampling/levels.c), what its trace says of
    the same messages, and what the recorder said."""
    program = bench.program(os.path.join(FOLDER, "levels.c"), flavour)
    run, archive = bench.record(flavour, LEVEL_RANKS, [program, str(LEVEL_STEPS)],
                                ["--sample=random:0.5", "--with-trace", *options])
    bench.verb("verify", archive)
    return said(bench, archive), json.loads(bench.verb("sample", "--json", "--sample=random:0.5", archive)), run.err


def check_levels(live):
    """Messages and bytes of pairs, sizes and all are those of the program."""
    pairs = {(source, dest): (LEVELS * LEVEL_STEPS, LEVEL_STEPS * sum(8 << level for level in range(LEVELS)), False)
             for source in range(LEVEL_RANKS) for dest in range(LEVEL_RANKS) if source != dest}
    of_size = len(pairs) * LEVEL_STEPS
    sizes = {8 << level: (of_size, of_size * (8 << level), False) for level in range(LEVELS)}
    harness.compare("pairs", {(row["source"], row["destination"]): (row["count"], row["bytes"], row["estimated"])
                              for row in live["pairs"] if row["source"] is not None}, pairs)
    harness.compare("sizes", {row["bytes_from"]: (row["count"], row["bytes"], row["estimated"])
                              for row in live["sizes"] if row["bytes_from"] is not None}, sizes)
    harness.compare("all", [(row["count"], row["estimated"]) for row in live["all"]],
                    [(sum(pair[0] for pair in pairs.values()), False)])


CATEGORY = ("source", "destination", "bytes_from", "send_path", "receive_path")


def categories(facts):
    """What is known of each, but for latencies, which are not on the same clock."""
    return {tuple(str(row[name]) for name in CATEGORY): (row["count"], row["bytes"], row["sampled"], row["estimated"])
            for row in facts["categories"] if not row["partial"]}


def test_levels(bench, flavour):
    """By default there is room for all categories, and they are those of the trace."""
    live, trace, err = levels(bench, flavour)
    check_levels(live)
    check_levels(trace)
    harness.compare("categories", len(live["categories"]), LEVEL_RANKS * (LEVEL_RANKS - 1) * LEVELS)
    harness.compare("nothing is missing", {row["partial"] for name in ("all", "pairs", "sizes", "categories")
                                           for row in live[name]}, {False})
    harness.compare("categories", categories(live), categories(trace))
    harness.compare("nothing is said", "--memory" in err, False)


def test_levels_without_room(bench):
    """Where there is no room for all categories, numbers of pairs and sizes are exact, and what lost a key says so."""
    live, trace, err = levels(bench, "mpich", "--memory=1M")
    check_levels(live)
    known, truth = categories(live), categories(trace)
    harness.compare("some are missing, others not", (len(known) < len(truth), len(live["categories"]) > 0), (True, True))
    harness.compare("those that are whole", known, {key: truth[key] for key in known})
    for name in ("all", "pairs", "sizes"):
        found = {(row.get("source"), row.get("bytes_from")): row["sampled"] for row in live[name] if not row["partial"]}
        wanted = {(row.get("source"), row.get("bytes_from")): row["sampled"] for row in trace[name]}
        if name != "pairs":
            harness.compare(f"samples of {name} that say they are whole", found, {key: wanted[key] for key in found})
    harness.compare("all samples", live["sampled"], trace["sampled"])
    if "share one row" not in err:
        raise harness.Failure(f"nothing is said of categories without room: {err}")


def test_other_ends(bench, flavour):
    """MPI_Abort with threads ends as without samples, and leaves what the rank has measured."""
    abort, archive = bench.program("aborting_threads", flavour), bench.fresh("aborted.rfn")
    launch, record = harness.FLAVOURS[flavour].launch(2), [bench.refrain, "record", "-q", "-o", archive]
    plain = bench.run([*launch, abort], timeout=60)
    for options in ((), ("--with-trace",)):
        run = bench.run([*launch, *record, "--sample=random:1", *options, abort], timeout=60)
        harness.compare(f"exit code of {run.err}", run.code, plain.code)
    left = archive.replace(".rfn", ".rank1.rfn")
    harness.compare("archive of the rank", os.path.exists(left), True)
    run = bench.run([bench.refrain, "report", "--json", left])
    harness.compare("report of a part", run.code, 3)
    facts = json.loads(run.out)["sampling"]
    harness.compare("all are told", facts["sampled"] + facts["dropped"], facts["messages"])


def test_children(bench):
    """Processes that the program starts sample, too, and name no messages to those that started them."""
    folder = bench.path("sampled-children")
    os.makedirs(folder)
    shutil.copy(bench.program("spawn", "openmpi"), os.path.join(folder, "app"))
    run = bench.run([*harness.FLAVOURS["openmpi"].launch(2), bench.refrain, "record", "-q", "-o", "x.rfn",
                     "--sample=random:1", "./app", "one", "./app"], cwd=folder, tidy=harness.tidies(folder),
                    env={"EXPECT_OUT": os.path.join(folder, "log"), "EXPECT_ARCHIVE": "x.spawn1.rfn"})
    harness.compare(f"exit status of {run.err}", run.code, 0)
    for name in ("x.rfn", "x.spawn1.rfn"):
        facts = said(bench, os.path.join(folder, name))
        because = facts["dropped_because"]
        harness.compare(f"{name}: dropped but to the other job", facts["dropped"] - because["foreign"], 0)


def test_sessions(bench):
    """A program that never calls MPI_Init runs as it does, and no messages are sampled."""
    archive = bench.fresh("sessions.rfn")
    bench.run([*harness.FLAVOURS["mpich"].launch(3), bench.refrain, "record", "-q", "-o", archive, "--sample=random:1",
               bench.program("sessions", "mpich"), "overlap"], env={"EXPECT_OUT": bench.path("sessions.log")}, check=True)
    bench.verb("verify", archive)


def test_refused(bench):
    """Options that do not fit together, or that are wrong."""
    for options, words in ((["--sample=random:2"], "above 0 and up to 1"), (["--sample-seed=1"], "give --sample, too"),
                           (["--sample=adaptive", "--time=full"], "--with-trace"),
                           (["--sample=adaptive", "--sample-where=tag=3"], "bytes=LOW-HIGH")):
        run = bench.run([bench.refrain, "record", *options, "true"])
        harness.compare(f"exit of {options}", run.code, 2)
        if words not in run.err:
            raise harness.Failure(f"no '{words}' in: {run.err}")
