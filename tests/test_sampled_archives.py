"""Samples of messages in archives: written here as refrain-archive(5) says, read by the tool and by the independent
reader, kept by what reduces an archive, and damaged."""
import collections
import csv
import io
import json
import random
import struct
from unittest import mock

import harness
import rfn_reader
import test_damage

RANKS, FORGERIES = 2, 120
SEND, RECEIVE, UNLISTED = 0xfedcba9876543210, 0x0123456789abcdef, 0x7777777777777777
DROPPED = [1, 2, 3, 4, 5]
COUNTS = [(0, 1, 4, 1000, 8000, 3), (-1, -1, 5, 20, 320, 2)]  # source, destination, size class, messages, bytes, samples
varint, svarint = test_damage.varint, test_damage.svarint


def u64(value):
    return struct.pack("<Q", value)


def blob(data):
    return varint(len(data)) + data


def amount(value):
    return varint(2 * int(value)) if value >= 0 and value == int(value) else b"\1" + struct.pack("<d", value)


def row(source, dest, receive, messages, latencies):
    """A category; of the latencies the second is clean."""
    out = svarint(source) + svarint(dest) + u64(SEND) + u64(receive) + bytes([4])
    out += varint(messages) + varint(8 * messages) + varint(len(latencies))
    if latencies:
        n, mean = len(latencies), sum(latencies) / len(latencies)
        moment = sum((latency - mean) ** 2 for latency in latencies)
        out += b"".join(map(amount, (n, n, 8 * n, mean, moment, min(latencies), max(latencies), 7, 0)))
        out += varint(1) + amount(latencies[1]) + amount(latencies[1])
        out += varint(2) + varint(5) + amount(1) + varint(0) + amount(n - 1)
    return out


def samples():
    """The payload of SAMPLES."""
    sites = ((RECEIVE, 1, 0), (SEND, 0, 0))
    table = b"".join(map(varint, DROPPED)) + varint(3)
    table += row(0, 1, 0, 1000, []) + row(0, 1, RECEIVE, 0, [100, 250.5, 70]) + row(-1, 1, UNLISTED, 0, [-3, 5])
    counts = varint(len(COUNTS)) + b"".join(svarint(source) + svarint(dest) + b"".join(map(varint, rest))
                                            for source, dest, *rest in COUNTS)
    listed = b"".join(u64(word) + varint(function) + varint(path) for word, function, path in sites)
    return (blob(b"random:0.25") + blob(b"") + varint(2) + varint(0) + varint(1000) + varint(8000) + varint(5) +
            varint(len(sites)) + listed + blob(table) + counts)


def words(values):
    known, out = [], b""
    for value in values:
        out += varint(known.index(value) if value in known else len(known))
        if value not in known:
            known.append(value)
            out += u64(value)
    return out


def columns(clock, start, received):
    """The payload of SAMPLE_COLUMNS: the clock, and samples (source, sent, posted, entered, received)."""
    received = sorted(received, key=lambda sample: sample[-1])
    n, out, before = len(received), b"\1" + clock + varint(len(received)), start
    out += b"".join(varint(source) for source, *_ in received)
    out += words([SEND] * n) + words([RECEIVE, UNLISTED, 0][i % 3] for i in range(n))
    out += b"".join(map(varint, range(n))) + words(10 ** 18 + source for source, *_ in received)
    out += b"".join(map(varint, range(n)))
    out += words(struct.unpack("<Q", struct.pack("<d", 4.0))[0] for _ in range(n))
    for *_, time in received:
        out += varint(time - before)
        before = time
    out += b"".join(svarint(time - entered) for *_, entered, time in received)
    out += b"".join(svarint(entered - posted) for _, _, posted, entered, _ in received)
    return out + b"".join(svarint(time - sent) for _, sent, _, _, time in received)


def first_events(archive, n=12):
    """Enter and exit of the first events of the first thread of each rank: times, or quanta."""
    found = {}
    for stream in archive.streams:
        if stream.rank not in found:
            found[stream.rank] = [(event.enter, event.exit) for event, _ in zip(stream.events(), range(n))]
    return found


def clock_bytes(archive, rank):
    """A rank's clock as its TIMING has it, and its start."""
    stream = next(stream for stream in archive.streams if stream.rank == rank)
    reader = archive.payload(rfn_reader.TIMING, stream.number)
    reader.varint()
    begin = reader.at
    clock = rfn_reader.Clock(reader)
    return bytes(reader.data[begin:reader.at]), clock.start


def received_by(times, rank):
    """What a rank received, as (source, sent, posted, entered, received): times of events of both ends."""
    other = (rank + 1) % RANKS
    return [(source, times[source][i][0], times[rank][2 * i][0], times[rank][2 * i + 1][0], times[rank][2 * i + 1][1])
            for i, source in enumerate((other, rank, other, other))]


def recorded(bench):
    return bench.once("sampled.rfn", "damage", lambda out: bench.record(
        "mpich", RANKS, [bench.program("damage", "mpich")], ["--no-cluster"], archive=out, timeout=60))


def with_samples(bench):
    """(path, chunks, times of events) of an archive to which samples were added."""
    path = recorded(bench)
    with open(path, "rb") as file:
        data = file.read()
    archive = rfn_reader.Archive(path)
    times = first_events(archive)
    with mock.patch.object(rfn_reader.Stream, "since_start", lambda self, quanta: quanta):
        quanta = first_events(rfn_reader.Archive(path))
    chunks = [(chunk.type, chunk.id, chunk.payload) for chunk in archive.chunks.values()]
    chunks.append((rfn_reader.SAMPLES, 0, samples()))
    for rank in range(RANKS):
        payload = columns(*clock_bytes(archive, rank), received_by(quanta, rank))
        chunks.append((rfn_reader.SAMPLE_COLUMNS, rank, payload))
    return test_damage.spoil(bench, bench.fresh("samples.rfn"), test_damage.container(data, chunks)), chunks, times


def check_samples(bench, path, times):
    """All of it is there; times are None where single messages are not."""
    bench.verb("verify", path)
    found = rfn_reader.Archive(path).samples()
    harness.compare("strategy", (found.strategy, found.where, found.analysis), ("random:0.25", "", "write"))
    harness.compare("messages", (found.messages, found.bytes, found.sampled, found.dropped), (1000, 8000, 5, DROPPED))
    harness.compare("categories", [(of.source, of.dest, of.send, of.receive, of.messages, of.n) for of in found.rows],
                    [(0, 1, (0, 0), rfn_reader.NO_SITE, 1000, 0), (0, 1, (0, 0), (1, 0), 0, 3),
                     (-1, 1, (0, 0), rfn_reader.OTHER_SITE, 0, 2)])
    harness.compare("counted apart", found.counts, COUNTS)
    harness.compare("a histogram", found.rows[1].buckets, {5: 1, 6: 2})
    if times is None:
        harness.compare("single messages", found.list(), [])
        return
    expected = [(rank, *of) for rank in range(RANKS) for of in received_by(times, rank)]
    harness.compare("times", [(*of[:2], *of[-4:]) for of in found.list()], expected)


def test_info(bench):
    path, _, times = with_samples(bench)
    check_samples(bench, path, times)
    page = bench.verb("info", path)
    if "\nSampled     5 of 1,000 messages, random:0.25\n" not in page:
        raise harness.Failure(page)
    harness.compare("JSON", json.loads(bench.verb("info", "--json", path))["sampling"], {
        "strategy": "random:0.25", "changed": False, "where": "", "alone": False, "messages": 1000, "bytes": 8000,
        "sampled": 5, "dropped": sum(DROPPED)})
    plain = recorded(bench)
    harness.compare("without", json.loads(bench.verb("info", "--json", plain))["sampling"], None)
    harness.compare("without, a line", "Sampled" in bench.verb("info", plain), False)


def test_kept(bench):
    """Reducing keeps samples, with the times of the full archive; without all calls there are no single ones."""
    path, _, times = with_samples(bench)
    for options in ((), ("--similarity=iterAvg",), ("--cluster",)):
        out = bench.fresh("reduced.rfn")
        bench.verb("reduce", *options, path, "-o", out)
        check_samples(bench, out, times)
    out = bench.fresh("kept.rfn")
    bench.verb("reduce", "--keep-predictions", path, "-o", out)
    check_samples(bench, out, None)


def test_left_out(bench):
    """They are of all ranks of a file, and of times as they were: told once where they are left out."""
    path, _, _ = with_samples(bench)
    parts = [bench.fresh("part.rfn") for _ in range(RANKS)]
    again, predicted = bench.fresh("again.rfn"), bench.fresh("predicted.rfn")
    for command, out, told in (
            *((["reduce", "--rank", str(rank), path, "-o", part], part, 1) for rank, part in enumerate(parts)),
            (["merge", path, "-o", again], again, 1), (["whatif", "-o", predicted, path], predicted, 0)):
        done = bench.run([bench.refrain, *command], check=True)
        harness.compare(f"{command[0]} tells: {done.err}", done.err.count("samples of messages"), told)
        harness.compare("samples", rfn_reader.Archive(out).samples(), None)
    done = bench.run([bench.refrain, "merge", *parts, "-o", bench.fresh("whole.rfn")], check=True)
    harness.compare("nothing is told of parts", done.err, "")


def check_forgery(bench, data, what):
    """The tool and the independent reader agree on what is damaged."""
    path = test_damage.spoil(bench, "forged.rfn", data)
    codes = {verb: test_damage.run(bench, verb, path) for verb in ("verify", "info")}
    code, _, err = codes["verify"]
    damage = ""
    try:
        rfn_reader.Archive(path).samples()
    except rfn_reader.Damage as found:
        damage = str(found)
    harness.compare(f"{what}: verify: {err!r}, the reader: {damage!r}", code, 3 if damage else 0)
    if code == 3:
        test_damage.check_message(path, err, what)
    harness.compare(f"{what}: info: {codes['info'][2]}", codes["info"][0], 0)
    return bool(damage)


def test_forged(bench):
    path, chunks, _ = with_samples(bench)
    with open(path, "rb") as file:
        data = file.read()
    chance, damaged = random.Random(7), 0
    ours = [at for at, (kind, *_) in enumerate(chunks) if kind in (rfn_reader.SAMPLES, rfn_reader.SAMPLE_COLUMNS)]
    for number in range(FORGERIES):
        at = chance.choice(ours)
        kind, chunk_id, payload = chunks[at]
        forged = chunks[:at] + [(kind, chunk_id, test_damage.forge(payload, chance))] + chunks[at + 1:]
        damaged += check_forgery(bench, test_damage.container(data, forged), f"forgery {number} of chunk {kind}")
    harness.compare("some of both kinds", FORGERIES // 4 < damaged < FORGERIES, True)


def check_recorded(bench, archive):
    """The tool and the independent reader say the same of each sample."""
    rows = csv.DictReader(io.StringIO(bench.verb("report", "--csv=sampling_samples", archive)))
    times = ("sent_ns", "posted_ns", "entered_ns", "received_ns")
    found = sorted(tuple(int(row[name]) for name in ("destination", "source", "bytes", "position", *times))
                   for row in rows)
    read = rfn_reader.Archive(archive).samples().list()
    harness.compare("samples", found, sorted((*of[:2], of[4], of[6], *of[-4:]) for of in read))
    return found


def test_recorded(bench, flavour):
    """With a trace samples have times of its events; without one, and after the times of events were reduced, too."""
    program, sampled = bench.program("ring", flavour), ("--sample=random:1", "--sample-analysis=write")
    alone, reduced = bench.fresh("alone.rfn"), bench.fresh("reduced.rfn")
    bench.run([*harness.FLAVOURS[flavour].launch(3), bench.refrain, "record", "-o", alone, *sampled, program, "20", "10"],
              check=True)
    archive = bench.record(flavour, 3, [program, "20", "10"], [*sampled, "--with-trace"])[1]
    bench.verb("reduce", archive, "-o", reduced)
    for path in (alone, archive, reduced):
        bench.verb("verify", path)
    samples = check_recorded(bench, archive)
    harness.compare("alone", len(check_recorded(bench, alone)), len(samples))
    harness.compare("reduced", check_recorded(bench, reduced), samples)
    harness.compare("any", len(samples) > 20, True)
    begins, ends = (collections.Counter((int(event["rank"]), int(event[name])) for event in bench.dump(archive))
                    for name in ("enter_ns", "exit_ns"))
    for dest, source, _, _, sent, posted, entered, received in samples:
        harness.compare("times of events", [bool(of) for of in (
            begins[source, sent], begins[dest, posted], begins[dest, entered], ends[dest, received])], [True] * 4)
