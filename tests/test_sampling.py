"""Latencies of messages from samples of an archive (refrain sample): against the archive's own events, matched and
measured here, and against the rules of doc/sampling.md."""
import collections
import csv
import io
import json
import math
import os
import re
import statistics

from unittest import mock

import harness
import predictor
import test_sampled_archives
import test_smpi

SIMULATED = True
MASK = (1 << 64) - 1


def sample(bench, archive, *options):
    return json.loads(bench.verb("sample", "--json", *options, archive))


def archive_of(bench, name, ranks=4, arguments=("3", "40")):
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, name))
    return test_smpi.smpi_run(bench, program, ranks, list(arguments))


# ---- what the archive says, without the tool's code ----

Message = collections.namedtuple("Message", "source dest bytes sent posted entered received send receive")


def site(event):
    """A call: the function, and file:line of the frames, the innermost first."""
    return event["function"], tuple(re.findall(r"\[(?:[^\]]*/)?([^\]/]*:\d+)\]", event["call_path"])[::-1])


def short_site(call_path):
    """The same of a call path that the tool prints."""
    return call_path.split(" ")[0], tuple(re.findall(r"\(([^()]*:\d+)\)", call_path))


def messages_of(bench, archive):
    """All messages that were sent and received."""
    events = bench.dump(archive)
    comms, ranks = predictor.comms_of(events), collections.defaultdict(list)
    for event in events:
        ranks[int(event["rank"])].append(predictor.Call(event, comms))
    predictor.join(ranks)
    completing = {}
    for calls in ranks.values():
        for call in calls:
            for end in call.awaited:
                if end.which == "received":
                    completing[id(end)] = call
    found = []
    for calls in ranks.values():
        for end in (end for call in calls for end in call.posted if end.which == "received" and end.message):
            send, over = end.message.sender, completing[id(end)]
            found.append(Message(send.rank, end.call.rank, send.value("bytes"), send.enter, end.call.enter, over.enter,
                                 over.exit, site(send.event), site(end.call.event)))
    return found


def bytes_from(size):
    """The least of a size's class."""
    return 1 << (size.bit_length() - 1) if size else 0


def category(message):
    return message.source, message.dest, message.send, message.receive, bytes_from(message.bytes)


def categories(messages):
    by = collections.defaultdict(list)
    for message in messages:
        by[category(message)].append(message)
    return by


def found_category(row):
    return (row["source"], row["destination"], short_site(row["send_path"]), short_site(row["receive_path"]),
            row["bytes_from"])


def close(what, found, expected, relative=1e-9):
    if not math.isclose(found, expected, rel_tol=relative, abs_tol=1e-6):
        raise harness.Failure(f"{what}: found {found}, expected {expected}")


# ---- every message ----

def check_row(row, messages):
    """A category of which all messages were measured: what they have, to the nanosecond."""
    what, latencies = found_category(row), sorted(m.received - m.sent for m in messages)
    harness.compare(f"count of {what}", (row["count"], row["sampled"], row["estimated"]),
                    (len(messages), len(messages), row["estimated"]))
    harness.compare(f"bytes of {what}", row["bytes"], sum(m.bytes for m in messages))
    close(f"mean of {what}", row["mean_ns"], statistics.mean(latencies))
    close(f"low end of {what}", row["mean_low_ns"], row["mean_ns"])
    close(f"high end of {what}", row["mean_high_ns"], row["mean_ns"])
    harness.compare(f"least and greatest of {what}", (row["min_ns"], row["max_ns"]), (latencies[0], latencies[-1]))
    waited = [max(min(m.sent, m.received) - m.entered, 0) for m in messages]
    lay = [max(m.posted - m.sent, 0) for m in messages]
    close(f"waiting of {what}", row["waited_ns"], statistics.mean(waited))
    close(f"lying of {what}", row["lay_ns"], statistics.mean(lay))
    clean = [m.received - m.sent for m in messages if m.posted < m.sent and m.entered < m.sent]
    harness.compare(f"clean ones of {what}", (row["clean"], row["clean_min_ns"]),
                    (len(clean), min(clean) if clean else None))
    # Shorter ones than 64 ns are in the first bar.
    for bar in row["histogram"]:
        within = [x for x in latencies if bar["from_ns"] <= max(x, 64) < bar["to_ns"]]
        close(f"share from {bar['from_ns']} ns of {what}", bar["share"], len(within) / len(latencies))
    close(f"shares of {what}", sum(bar["share"] for bar in row["histogram"]), 1)
    # An order statistic, up to the width of a bucket.
    for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        at = latencies[min(math.ceil(share * len(latencies)), len(latencies)) - 1]
        if at >= 64 and not at / 1.033 <= row[name] <= at * 1.033 and len(latencies) > 2:
            below, above = latencies[max(math.floor(share * len(latencies)) - 2, 0)], at
            if not below / 1.033 <= row[name] <= latencies[min(math.ceil(share * len(latencies)),
                                                               len(latencies) - 1)] * 1.033:
                raise harness.Failure(f"{name} of {what}: {row[name]}, expected {at} (or {below} to {above})")


def check_rows(rows, messages):
    """The same where a compiler made several calls of a line, which are several rows."""
    what, latencies = found_category(rows[0]), [m.received - m.sent for m in messages]
    for name, expected in (("count", len(messages)), ("bytes", sum(m.bytes for m in messages))):
        harness.compare(f"{name} of {what}", sum(row[name] for row in rows), expected)
    close(f"time of {what}", sum(row["mean_ns"] * row["count"] for row in rows), sum(latencies))
    harness.compare(f"least of {what}", min(row["min_ns"] for row in rows), min(latencies))
    harness.compare(f"greatest of {what}", max(row["max_ns"] for row in rows), max(latencies))


def check_every(bench, archive):
    messages = messages_of(bench, archive)
    expected, by = categories(messages), collections.defaultdict(list)
    found = sample(bench, archive, "--sample", "random:1")
    harness.compare("messages", (found["messages"], found["sampled"], found["dropped"]),
                    (len(messages), len(messages), 0))
    for row in found["categories"]:
        by[found_category(row)].append(row)
    harness.compare("categories", set(by), set(expected))
    for what, rows in by.items():
        check_rows(rows, expected[what])
        if len(rows) == 1:
            check_row(rows[0], expected[what])
    return messages, found


def test_every_message(bench):
    """At rate 1 the page is the truth; its sums are those of the report."""
    for name in ("random_exchange.c", "random_calls.c"):
        archive = archive_of(bench, name)
        messages, found = check_every(bench, archive)
        report = json.loads(bench.verb("report", "--json", archive))
        sizes = {row["min_bytes"]: (row["count"], row["bytes"]) for row in report["message_sizes"]["point_to_point"]}
        matrix = {(row["source"], row["dest"]): (row["messages"], row["bytes"])
                  for row in report["communication_matrix"]}
        harness.compare("sizes", {row["bytes_from"]: (row["count"], row["bytes"]) for row in found["sizes"]}, sizes)
        harness.compare("pairs", {(row["source"], row["destination"]): (row["count"], row["bytes"])
                                  for row in found["pairs"]}, matrix)
        for rows in ("categories", "pairs", "call_paths", "sizes", "all"):
            harness.compare(f"sum of {rows}", sum(row["count"] for row in found[rows]), len(messages))
        harness.compare("no samples in the archive", report["sampling"], None)
        calls = {row["call_path"]: row["count"] for row in found["collectives"]}
        for function in ("MPI_Barrier", "MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Scan"):
            harness.compare(f"calls of {function}",
                            sum(n for path, n in calls.items() if path.split(" <")[0] == function),
                            sum(row["calls"] for row in report["functions"] if row["function"] == function))


def test_each_is_accounted_for(bench, flavour):
    """Threads, probes, persistent, partitioned, unreceived ones: each message is measured, or dropped with its reason."""
    for name, ranks in (("persistent", 2), ("matched", 2), ("sends", 2), ("partitioned", 2), ("threads", 2)):
        _, archive = bench.record(flavour, ranks, [bench.program(name, flavour)])
        found = sample(bench, archive, "--sample", "random:1")
        matching = json.loads(bench.verb("report", "--json", archive))["matching"]
        harness.compare(f"messages of {name}", (found["messages"], found["sampled"] + found["dropped"]),
                        (matching["messages"], matching["messages"]))
        harness.compare(f"dropped of {name}", (found["dropped"], found["dropped_because"]["one_sided"]),
                        (matching["unmatched_sends"], matching["unmatched_sends"]))
        for rows in ("categories", "pairs", "call_paths", "sizes"):
            harness.compare(f"{rows} of {name}", sum(row["count"] for row in found[rows]), found["messages"])


# ---- some ----

def mix(word):
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9 & MASK
    word = (word ^ word >> 27) * 0x94d049bb133111eb & MASK
    return word ^ word >> 31


def rate(strategy, position):
    name, _, value = strategy.partition(":")
    if name == "random":
        return float(value)
    period = int(value)
    return 1 if position < period else 0.5 ** ((position // period).bit_length())


def is_chosen(strategy, seed, row):
    channel = int(row["channel"], 16)
    drawn = mix(((channel ^ seed * 0xd1342543de82ef95 & MASK) + row["position"] * 0x9e3779b97f4a7c15) & MASK)
    return (drawn >> 11) * 0.5 ** 53 < rate(strategy, row["position"])


def key(row):
    return row["channel"], row["position"]


def test_some_messages(bench):
    """Which messages are measured follows from channel, position, seed; what is measured of them stays the same."""
    archive = archive_of(bench, "random_exchange.c", arguments=("5", "150"))
    every = {key(row): row for row in sample(bench, archive, "--sample", "random:1", "--analysis", "write")["samples"]}
    for strategy, seed in (("random:0.2", 1), ("random:0.2", 2), ("adaptive:8", 3)):
        found = sample(bench, archive, "--sample", strategy, "--seed", str(seed), "--analysis", "write")
        chosen = {at: row for at, row in every.items() if is_chosen(strategy, seed, row)}
        harness.compare(f"chosen by {strategy}, seed {seed}", {key(row) for row in found["samples"]}, set(chosen))
        harness.compare("some", 0 < len(chosen) < len(every), True)
        for row in found["samples"]:
            close("weight", row["weight"], 1 / rate(strategy, row["position"]))
            harness.compare("the rest", {**row, "weight": 1}, {**chosen[key(row)], "weight": 1})
        harness.compare("sampled", found["sampled"], sum(not row["collective"] for row in found["samples"]))
        total = sum(not row["collective"] for row in every.values())
        harness.compare("messages", (found["messages"], sum(row["count"] for row in found["pairs"])), (total, total))


def test_counter_and_timer(bench):
    """Every N-th send of a rank; sends at least so long apart."""
    archive = archive_of(bench, "random_exchange.c")
    every = [row for row in sample(bench, archive, "--sample", "random:1", "--analysis", "write")["samples"]
             if not row["collective"]]
    by_rank = collections.defaultdict(list)
    for row in every:
        by_rank[row["source"]].append(row["sent_ns"])
    found = sample(bench, archive, "--sample", "counter:5", "--analysis", "write")
    for rank, sent in by_rank.items():
        sent.sort()
        at = sorted(sent.index(row["sent_ns"]) for row in found["samples"]
                    if row["source"] == rank and not row["collective"])
        harness.compare(f"rank {rank}", at, list(range(at[0], len(sent), 5)))
        harness.compare(f"first of rank {rank}", at[0] < 5, True)
    found = sample(bench, archive, "--sample", "timer:10ms", "--analysis", "write")
    for rank in by_rank:
        at = sorted(row["sent_ns"] for row in found["samples"] if row["source"] == rank and not row["collective"])
        harness.compare(f"some of rank {rank}", len(at) > 2, True)
        for before, after in zip(at, at[1:]):
            harness.compare("apart", after - before >= 10_000_000, True)


def test_truth(bench):
    """With --truth estimates stand beside what all messages have; of all messages each interval is right."""
    archive = archive_of(bench, "random_exchange.c", arguments=("7", "150"))
    every = sample(bench, archive, "--sample", "random:1")
    at = {found_category(row): row for row in every["categories"]}
    found = sample(bench, archive, "--sample", "random:0.5", "--truth")
    intervals = right = 0
    for row in found["categories"]:
        if not row["sampled"]:
            continue
        truth = at[found_category(row)]
        harness.compare("truth", [row[name] for name in ("all_count", "all_mean_ns", "all_p50_ns", "all_p99_ns")],
                        [truth[name] for name in ("count", "mean_ns", "p50_ns", "p99_ns")])
        for name, off in (("mean", 1e-12), ("p50", 1 / 64), ("p99", 1 / 64)):
            low, high, value = row[f"{name}_low_ns"], row[f"{name}_high_ns"], truth[f"{name}_ns"]
            if low is not None and high is not None and value is not None:
                intervals += 1
                right += low <= value * (1 + off) and high >= value * (1 - off)
    harness.compare("intervals", (found["intervals"], found["intervals_right"]), (intervals, right))
    harness.compare("there are some", intervals > 0, True)
    words = bench.verb("sample", "--sample", "random:0.5", "--truth", archive).rstrip().split("\n\n")[-1]
    numbers = [int(word.replace(",", "")) for word in re.findall(r"[\d,]*\d", words.replace("95 %", "").replace("99th", ""))]
    harness.compare(f"the last line, {words}", numbers[:2], [intervals, right])
    whole = sample(bench, archive, "--sample", "random:1", "--truth")
    harness.compare("of all messages all are right", whole["intervals_right"], whole["intervals"])
    page = bench.verb("sample", archive, "--sample", "random:0.5", "--truth")
    known = [line for line in page.splitlines() if re.match(r"^ +[0-9,]+( +[0-9.]+ \w+)? +all ", line)]
    harness.compare("rows of all messages, and their intervals", (len(known) > 0, "[" in "".join(known)), (True, False))


# ---- the pages ----

TABLES = ("all", "categories", "pairs", "call_paths", "sizes", "collectives")


def plain(value):
    """As CSV has it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value


def same(found, expected):
    if isinstance(expected, list):
        return json.loads(found) == expected
    expected = plain(expected)
    return math.isclose(float(found), expected, rel_tol=1e-12) if isinstance(expected, (int, float)) else found == expected


def test_pages_agree(bench):
    """Text, JSON and CSV say the same."""
    archive = archive_of(bench, "random_exchange.c")
    options = ["--sample", "random:0.3"]
    found = sample(bench, archive, *options)
    check_tables(found, lambda table: bench.verb("sample", *options, "--csv", table, archive))
    text = bench.run([bench.refrain, "sample", *options, "--all", archive], env={"COLUMNS": "400"}, check=True).out
    words = f"Measured: {found['sampled']:,} of {found['messages']:,} messages"
    if words not in text:
        raise harness.Failure(f"no '{words}' in\n{text}")
    pairs = text.split("Pairs by 99th percentile")[1].split("\n\n")[0].split("\n")[2:]
    harness.compare("rows of pairs", len(pairs), len(found["pairs"]))
    for line, row in zip(pairs, found["pairs"]):
        source, dest, count = line.split()[:3]
        harness.compare("pair", (source, dest, count), (str(row["source"]), str(row["destination"]), f"{row['count']:,}"))
    # Only some rows where they are many, and only those asked for.
    few = bench.verb("sample", *options, "--top", "2", archive)
    harness.compare("two rows", f"(2 of {len(found['pairs'])}; --all shows all)" in " ".join(few.split()), True)
    of_rank = sample(bench, archive, *options, "--rank", "2")
    harness.compare("rank 2", {(row["source"], row["destination"]) for row in of_rank["pairs"]},
                    {(row["source"], row["destination"]) for row in found["pairs"]
                     if 2 in (row["source"], row["destination"])})


def check_tables(found, table_of):
    """The lists of JSON and what table_of(name) gives as CSV say the same."""
    for table, expected in ((name, found[name]) for name in TABLES):
        rows = list(csv.DictReader(io.StringIO(table_of(table))))
        harness.compare(f"rows of {table}", len(rows), len(expected))
        for row, values in zip(rows, expected):
            harness.compare("columns", list(row), list(values))
            for name, value in values.items():
                if not same(row[name], value):
                    raise harness.Failure(f"{table}, {name}: {row[name]} in CSV, {value} in JSON")


SECTION = "How long do messages take?"


def names_of(value):
    """The names of all members."""
    if isinstance(value, list):
        return set().union(*map(names_of, value))
    return set(value) | set().union(*map(names_of, value.values())) if isinstance(value, dict) else set()


def test_report(bench):
    """An archive with samples beside a trace: they are one section, and documented."""
    path = test_sampled_archives.with_samples(bench)[0]
    page, found = bench.verb("report", path), json.loads(bench.verb("report", "--json", path))
    harness.compare("sections", (page.count(SECTION), "Parallel efficiency" in page), (1, True))
    if "Measured: 5 of 1,000 messages (0.50 %, 7.81 KiB), by random:0.25." not in page:
        raise harness.Failure(page)
    sampling = found["sampling"]
    row = sampling["categories"][0]
    harness.compare("a category", [row[name] for name in ("source", "destination", "count", "sampled", "min_ns")],
                    [0, 1, 1000, 3, 70])
    close("its mean", row["mean_ns"], (100 + 250.5 + 70) / 3)
    harness.compare("dropped", (sampling["dropped"], list(sampling["dropped_because"].values())),
                    (sum(test_sampled_archives.DROPPED), test_sampled_archives.DROPPED))
    check_tables(sampling, lambda table: bench.verb("report", "--csv", f"sampling_{table}", path))
    rows = list(csv.DictReader(io.StringIO(bench.verb("report", "--csv", "sampling_samples", path))))
    harness.compare("samples", [int(row["received_ns"]) for row in rows],
                    [row["received_ns"] for row in sampling["samples"]])
    harness.compare("there are some", len(rows) > 3, True)
    with open(os.path.join(harness.HERE, "..", "doc", "man", "refrain-json.5"), encoding="ascii") as file:
        heads = re.findall(r"^\.TP\n(.*)", file.read(), re.M)
    documented = {name for head in heads for name in re.findall(r"\\fB([a-z0-9_]+)\\fR", head)}
    truth = sample(bench, archive_of(bench, "random_exchange.c"), "--sample", "random:0.5", "--truth")
    harness.compare("members without a word", (names_of(sampling) | names_of(truth)) - documented, set())


def without_events(payload):
    """SAMPLES of an archive that has no events beside: the flags follow strategy, where and analysis."""
    at = 1 + len("random:0.25") + 1 + 1
    return payload[:at] + b"\1" + payload[at + 1:]


def test_report_alone(bench):
    """Where calls were not recorded nothing is concluded from them."""
    payload = without_events(test_sampled_archives.samples())
    with mock.patch.object(test_sampled_archives, "samples", lambda: payload):
        path = test_sampled_archives.with_samples(bench)[0]
    page, found = bench.verb("report", path), json.loads(bench.verb("report", "--json", path))
    words = " ".join(page.split())
    for said, there in (("This archive has a sample of its messages, and no other events", True), (SECTION, True),
                        ("Command", True), ("efficiency", False), ("Wait states", False), ("Which MPI functions", False)):
        harness.compare(f"'{said}' in {page}", said in words, there)
    harness.compare("the run", (found["ranks"], found["sampling"]["alone"]), (2, True))
    harness.compare("no conclusions", [name for name in ("efficiency", "stories", "functions", "calls") if name in found], [])
    short = bench.verb("report", "--short", path)
    harness.compare("short", (SECTION in short, "Measured: 5 of" in short, "Pairs by" in short), (True, True, False))
    for verb, words, code, said in (("report", ["--csv", "functions"], 2, "no other events"),
                                    ("sample", [], 1, "not all of them")):
        run = bench.run([bench.refrain, verb, *words, path])
        harness.compare(f"{verb}: {run.err}", (run.code, said in run.err), (code, True))


def test_damaged_samples(bench):
    """What else the archive has is reported."""
    payload = test_sampled_archives.samples()
    with mock.patch.object(test_sampled_archives, "samples", lambda: payload[:-3]):
        path = test_sampled_archives.with_samples(bench)[0]
    run = bench.run([bench.refrain, "report", path])
    harness.compare(f"exit: {run.err}", (run.code, "Parallel efficiency" in run.out, SECTION in run.out), (3, True, False))


def test_wrong_options(bench):
    archive = archive_of(bench, "late_sender.c", 2, ())
    for words, code, said in (
            (["--sample", "sometimes"], 2, "sometimes"), (["--sample", "off"], 2, "samples nothing"),
            (["--analysis", "mean"], 2, "stat, freq or write"), (["--csv", "nothing"], 2, "no table 'nothing'"),
            (["--csv", "samples"], 2, "--analysis=write"), (["--csv", "pairs", "--json"], 2, "give one of them"),
            (["--rank", "7"], 2, "no rank 7"), (["--seed", "x"], 2, "not a seed")):
        run = bench.run([bench.refrain, "sample", *words, archive])
        harness.compare(f"exit of sample {words}: {run.err}", run.code, code)
        if said not in run.err:
            raise harness.Failure(f"sample {words}: {run.err}")
    run = bench.run([bench.refrain, "report", "--csv", "sampling_pairs", archive])
    harness.compare(f"exit of report: {run.err}", (run.code, "no samples" in run.err), (2, True))


def test_without_times(bench):
    """What has no times of each message cannot be sampled, and says so."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "random_exchange.c"))
    for time, said in (("none", "--time=full"), ("reduced", "similar iterations")):
        archive = test_smpi.smpi_run(bench, program, 3, ["3", "40"], env={"REFRAIN_TIME": time})
        run = bench.run([bench.refrain, "sample", archive])
        harness.compare(f"exit with times {time}: {run.err}", (run.code, said in run.err), (1, True))
