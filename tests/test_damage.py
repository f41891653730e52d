"""Damaged and cut archives, and files that are none.

Small archives of real programs, with times and volumes, without, clustered, and with loops in common, are spoiled in many ways: every byte of
the file's header, of the chunks' headers and of the table of contents is changed, bytes elsewhere
at random, and the file is cut at many lengths. Whatever was done: no verb dies of a signal,
`verify` never says that the file is whole, and messages name the file and the place. What is
printed of a file that was cut is what the whole file says, as far as it goes: never a wrong answer
without a word. Forgeries, whose checksums are right, get further into the reader: there too nothing
breaks, and what `verify` lets pass means the same to the independent reader.

What the format is does not depend on the MPI, and the verbs do not know it: each archive is of one of them.
"""
import concurrent.futures
import contextlib
import json
import os
import random
import re
import struct
import subprocess

import harness
import rfn_reader
import rfn_text

OPTIONS = {"full": ["--time=full", "--volume=cpu", "--no-cluster"], "none": ["--time=none"],
           "clustered": ["--time=none", "--no-cluster"], "common": ["--time=none"]}
FLAVOURS = {"full": "openmpi", "none": "mpich", "clustered": "mpich", "common": "openmpi"}
FLIPS, CUTS, SAMPLE, FORGERIES = 300, 100, 150, 250
VERBS = ("info", "clusters", "variation", "dump", "report", "verify")


def run(bench, verb, path):
    """(exit, lines on standard output, messages): also that of a page, which tells itself that its file is incomplete."""
    words = ["info", f"--{verb}"] if verb in ("clusters", "variation") else [verb]
    done = subprocess.run([bench.refrain, *words, path], capture_output=True, timeout=30,
                          stdin=subprocess.DEVNULL, check=False)
    told = re.search(rb"^incomplete: .*(\n   .*)*", done.stdout)
    err = done.stderr + (b"%s: %s" % (path.encode(), b" ".join(told[0].split())) if told else b"")
    return done.returncode, done.stdout.split(b"\n")[:-1], err.decode(errors="replace")


def spoil(bench, name, data):
    path = bench.path(name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def check_message(path, err, what):
    # A forged number of ranks leaves nothing that is wrong at some place: ranks are missing.
    if path not in err or not re.search(r"offset \d+|not a Refrain archive|\d+ of \d+ ranks", err):
        raise harness.Failure(f"{what}: the message names no file or offset: {err!r}")


def check_verify(bench, data, what, name):
    """A damaged file: verify says so."""
    path = spoil(bench, name, data)
    code, _, err = run(bench, "verify", path)
    if code != 3:
        raise harness.Failure(f"verify, {what}: exit {code}: {err}")
    check_message(path, err, what)
    os.unlink(path)


def check_verbs(bench, data, what, name):
    """A damaged file: the other verbs may not need the spoilt part, but they know how to fail."""
    path = spoil(bench, name, data)
    for verb in VERBS[:5]:
        code, _, err = run(bench, verb, path)
        if code not in (0, 3):
            raise harness.Failure(f"{verb}, {what}: exit {code}: {err}")
        if code == 3:
            check_message(path, err, f"{verb}, {what}")
    os.unlink(path)


def check_cut_dump(bench, whole, path, what):
    """A cut file's events are those of the whole file, for a number of whole streams."""
    code, lines, err = run(bench, "dump", path)
    if code != 3:
        raise harness.Failure(f"dump, {what}: exit {code}: {err}")
    check_message(path, err, f"dump, {what}")
    if not lines:
        return 0  # not even the parts that say what the rest means
    if "incomplete" not in err:
        raise harness.Failure(f"dump, {what}: does not say incomplete: {err}")
    streams = {}
    for line in lines[1:]:
        streams.setdefault(tuple(line.split(b"\t")[1:3]), []).append(line)
    for stream, found in streams.items():
        if found != whole[stream]:
            raise harness.Failure(f"dump, {what}: the events of {stream} are others")
    readable = {tuple(b"%d" % number for number in (stream.rank, stream.thread))
                for stream in rfn_reader.Archive(path).streams if stream.readable()}
    harness.compare(f"dump, {what}: streams", set(streams), readable)
    return len(streams)


def check_cut(bench, whole, data, what, name):
    path = spoil(bench, name, data)
    streams = check_cut_dump(bench, whole, path, what)
    for verb in ("info", "report"):
        code, lines, err = run(bench, verb, path)
        if code != 3:
            raise harness.Failure(f"{verb}, {what}: exit {code}: {err}")
        check_message(path, err, f"{verb}, {what}")
        if streams and (not lines or "incomplete" not in err + b"\n".join(lines).decode()):
            raise harness.Failure(f"{verb}, {what}: does not print what is whole: {err}")
    os.unlink(path)
    return streams


def in_parallel(tasks):
    """Runs (function, arguments...) two at a time; the results. The first failure is raised."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(*task) for task in tasks]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()


def chunks_of(data):
    """(offset, end) of the chunks, that of the TOC last."""
    toc, _ = rfn_reader.read_header(data)
    chunks = [(chunk.offset, chunk.end) for chunk in rfn_reader.listed_chunks(data, toc, True)]
    return chunks + [(toc, rfn_reader.Chunk(data, toc).end)]


def places(data):
    """Offsets to spoil: all of headers and of the TOC, and some of the rest."""
    chunks = chunks_of(data)
    always = set(range(64)) | set(range(*chunks[-1]))
    for offset, _ in chunks:
        always |= set(range(offset, offset + 48))
    rest = sorted(set(range(len(data))) - always)
    return sorted(always), random.Random(1).sample(rest, min(FLIPS, len(rest)))


def flipped(data, at):
    """One byte changed: another bit at each place, sometimes all of them."""
    spoilt = bytearray(data)
    spoilt[at] ^= 0xff if at % 9 == 8 else 1 << at % 9
    return bytes(spoilt)


ARCHIVES = {}


def recorded(bench, time):
    flavour = FLAVOURS[time]
    if time == "common":  # ranks of different shapes, with loops in common
        program = bench.program(os.path.join(harness.PROGRAMS, "clusters", "patchwork.c"), flavour)
        return bench.record(flavour, 3, [program, "25"], OPTIONS[time], timeout=60)[1]
    if time != "clustered":
        program = bench.program("damage", flavour)
        return bench.record(flavour, 2, [program], OPTIONS[time], timeout=60)[1]
    # Every rank sends other amounts: groups that differ in numbers.
    program = bench.program(os.path.join(harness.PROGRAMS, "clusters", "ghosts.c"), flavour)
    _, full = bench.record(flavour, 4, [program, "1"], OPTIONS[time], timeout=60)
    out = bench.fresh("clustered.rfn")
    bench.verb("reduce", "--cluster", full, "-o", out)
    return out


def archive(bench, time):
    """A small archive and its whole dump by stream; recorded once."""
    if time not in ARCHIVES:
        path = recorded(bench, time)
        with open(path, "rb") as file:
            data = file.read()
        code, lines, err = run(bench, "dump", path)
        harness.compare("the whole archive", (code, err), (0, ""))
        streams = {}
        for line in lines[1:]:
            streams.setdefault(tuple(line.split(b"\t")[1:3]), []).append(line)
        ARCHIVES[time] = data, streams
    return ARCHIVES[time]


def check_flips(bench, time):
    data, _ = archive(bench, time)
    always, some = places(data)
    chosen = always + some
    tasks = [(check_verify, bench, flipped(data, at), f"byte {at} changed", f"flip.{at}.rfn")
             for at in chosen]
    tasks += [(check_verbs, bench, flipped(data, at), f"byte {at} changed", f"verbs.{at}.rfn")
              for at in random.Random(2).sample(chosen, SAMPLE)]
    in_parallel(tasks)


def lengths(data):
    """Where to cut: at all borders of chunks, beside them, and at random."""
    borders = {border for chunk in chunks_of(data) for border in chunk} | {64, 8}
    chosen = {at + by for at in borders for by in (-1, 0, 1)} | {0, 1, 63}
    chosen = {at for at in chosen if 0 <= at < len(data)}
    left = sorted(set(range(len(data))) - chosen)
    return sorted(chosen | set(random.Random(3).sample(left, max(0, CUTS - len(chosen)))))


def check_cuts(bench, time):
    data, whole = archive(bench, time)
    chosen = lengths(data)
    tasks = [(check_verify, bench, data[:at], f"cut to {at} bytes", f"cut.{at}.rfn")
             for at in chosen]
    in_parallel(tasks)
    found = in_parallel((check_cut, bench, whole, data[:at], f"cut to {at} bytes", f"rest.{at}.rfn")
                        for at in chosen)
    harness.compare("the fewest and most streams that a cut leaves", (min(found), max(found)),
                    (0, len(whole)))


def make_test(check, time):
    """Two forms have what the others have, too: those are spoiled in the same ways where there is time."""
    def test(bench):
        check(bench, time)
    return test if time in ("full", "common") else harness.long(test)


for _time in OPTIONS:
    globals()[f"test_changed_bytes_{_time}"] = make_test(check_flips, _time)
    globals()[f"test_cut_{_time}"] = make_test(check_cuts, _time)


def with_header(data, **fields):
    """The archive with other words in its header, and the right checksum."""
    layout = {"major": (8, "<I"), "minor": (12, "<I"), "state": (16, "<Q"), "toc": (24, "<Q"),
              "size": (32, "<Q")}
    header = bytearray(data[:64])
    for name, value in fields.items():
        at, form = layout[name]
        struct.pack_into(form, header, at, value)
    struct.pack_into("<Q", header, 56, rfn_reader.xxh3(bytes(header[:56])))
    return bytes(header) + data[64:]


def test_versions(bench):
    """A future major version is refused, a future minor version is read."""
    data, whole = archive(bench, "full")
    path = spoil(bench, "major.rfn", with_header(data, major=2))
    for verb in VERBS:
        code, _, err = run(bench, verb, path)
        harness.compare(f"{verb}, major version 2", code, 3)
        if path not in err or "version 2" not in err:
            raise harness.Failure(f"{verb}, major version 2: {err}")
    path = spoil(bench, "minor.rfn", with_header(data, minor=99))
    for verb in VERBS:
        code, lines, err = run(bench, verb, path)
        harness.compare(f"{verb}, minor version 99", (code, err), (0, ""))
        if verb == "dump":
            harness.compare("its events", len(lines) - 1, sum(map(len, whole.values())))


def test_older_minor_version(bench):
    """What minor version 1 has added may be missing."""
    _, path = bench.record("openmpi", 2, [bench.program("matched", "openmpi")], ["--no-cluster"])
    with open(path, "rb") as file:
        data = file.read()
    whole = run(bench, "dump", path)[1]
    old = spoil(bench, "minor-0.rfn", with_header(data, minor=0))
    for verb in VERBS:
        code, lines, err = run(bench, verb, old)
        harness.compare(f"{verb}, minor version 0", (code, err), (0, ""))
        if verb == "dump":
            harness.compare("its events", lines, whole)
    harness.compare("the other reader's", len(list(rfn_text.lines(rfn_reader.Archive(old)))),
                    len(whole))


def test_unfinished(bench):
    """A file that was still being written: all of its chunks are there, but not its end."""
    data, whole = archive(bench, "full")
    path = spoil(bench, "unfinished.rfn", with_header(data, state=0, toc=0, size=0))
    for verb in VERBS:
        code, lines, err = run(bench, verb, path)
        harness.compare(f"{verb} of an unfinished file", code, 3)
        check_message(path, err, verb)
        if verb == "dump":
            harness.compare("its events", lines[1:], [e for s in whole.values() for e in s])


def test_headers_that_lie(bench):
    """Headers with a right checksum and wrong words."""
    data, _ = archive(bench, "full")
    tasks = []
    for field in ("state", "toc", "size"):
        for value in (1 if field != "state" else 2, 63, 64, 72, len(data) - 8, len(data),
                      len(data) + 8, 1 << 31, 1 << 63, (1 << 64) - 8):
            spoilt, what = with_header(data, **{field: value}), f"{field} {value}"
            if spoilt != data:
                tasks.append((check_verify, bench, spoilt, what, f"lie.{field}.{value}.rfn"))
                tasks.append((check_verbs, bench, spoilt, what, f"lies.{field}.{value}.rfn"))
    in_parallel(tasks)


def chunk(kind, number, payload):
    """The bytes of a chunk that is not compressed, filled up to a multiple of 8."""
    head = struct.pack("<IIQQQII", rfn_reader.CHUNK_MAGIC, kind, number, len(payload), len(payload),
                       0, 0)
    data = head + struct.pack("<Q", rfn_reader.xxh3(head + payload)) + payload
    return data + bytes(-len(data) % 8)


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def container(data, chunks):
    """An archive of (type, id, payload) with the header of another one."""
    out, contents, before = bytearray(data[:64]), varint(len(chunks)), 0
    for kind, number, payload in chunks:
        contents += varint(kind) + varint(number) + varint(len(out) // 8 - before)
        contents += varint(len(payload))
        before = len(out) // 8
        out += chunk(kind, number, payload)
    toc = len(out)
    out += chunk(rfn_reader.TOC, 0, contents)
    return with_header(bytes(out), toc=toc, size=len(out))


def forge(payload, chance):
    """One to three bytes of a payload changed, taken out or put in."""
    forged = bytearray(payload)
    for _ in range(chance.randint(1, 3)):
        at, how = chance.randrange(len(forged)), chance.randrange(4)
        if how == 0:
            forged[at] = chance.randrange(256)
        elif how == 1:
            forged[at] ^= 1 << chance.randrange(8)
        elif how == 2:
            forged[at] = chance.choice((0, 1, 0x7f, 0x80, 0xff))
        elif len(forged) > 1:
            forged[at:at + 1] = bytes(chance.randrange(256) for _ in range(chance.randrange(3)))
    return bytes(forged)


def check_forgery(bench, data, what, name):
    """Checksums are right, the content is not: verbs may believe it, but do not break; what
    verify lets pass, all can read, and alike."""
    path = spoil(bench, name, data)
    codes, lines = {}, {}
    for verb in VERBS:
        codes[verb], lines[verb], err = run(bench, verb, path)
        if codes[verb] not in (0, 3):
            raise harness.Failure(f"{verb}, {what}: exit {codes[verb]}: {err}")
        if codes[verb] == 3:
            check_message(path, err, f"{verb}, {what}")
    if codes["verify"] == 0:
        harness.compare(f"exits, {what}", set(codes.values()), {0})
        archive = rfn_reader.Archive(path)
        archive.spreads()
        read = [line.encode("utf-8", "surrogateescape") for line in rfn_text.lines(archive)]
        harness.compare(f"{what}, read independently", lines["dump"], read)
    os.unlink(path)


def check_forgeries(bench, time):
    data, _ = archive(bench, time)
    toc, _ = rfn_reader.read_header(data)
    chunks = [(c.type, c.id, c.payload) for c in rfn_reader.listed_chunks(data, toc, True)]
    plain = spoil(bench, "plain.rfn", container(data, chunks))
    harness.compare("an archive made anew", run(bench, "verify", plain)[::2], (0, ""))
    chance, tasks = random.Random(5), []
    for number in range(FORGERIES):
        at = number % len(chunks)
        kind, chunk_id, payload = chunks[at]
        forged = chunks[:at] + [(kind, chunk_id, forge(payload, chance))] + chunks[at + 1:]
        tasks.append((check_forgery, bench, container(data, forged),
                      f"forgery {number}, of chunk {kind} {chunk_id}", f"forged.{number}.rfn"))
    in_parallel(tasks)


for _time in OPTIONS:
    globals()[f"test_forged_{_time}"] = make_test(check_forgeries, _time)


def svarint(value):
    return varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


def test_signatures(bench):
    """Signatures that are not those of calls, under right checksums: ranks 0 and 1 make the same calls, not
    equally often; 2 and 3 make others."""
    program = bench.program(os.path.join(harness.PROGRAMS, "clusters", "left_out.c"), "openmpi")
    path = bench.record("openmpi", 4, [program], ["--time=none", "--no-cluster"])[1]
    streams = rfn_reader.Archive(path).streams
    harness.compare("value sets", len({stream.set for stream in streams}), 4)
    a, same, b, c = (stream.signature for stream in streams)
    harness.compare("right", (a == same, len({0, a, b, c})), (True, 4))
    with open(path, "rb") as file:
        data = file.read()
    toc, _ = rfn_reader.read_header(data)
    chunks = [(c.type, c.id, c.payload) for c in rfn_reader.listed_chunks(data, toc, True)]
    payload = next(chunk[2] for chunk in chunks if chunk[0] == rfn_reader.STREAMS)
    reader = rfn_reader.Reader(payload)
    numbers = range(reader.varint())
    for _ in range(12):
        rfn_reader.read_runs(reader, numbers)
    behind = rfn_reader.Reader(payload[reader.at:])
    rfn_reader.read_runs(behind, numbers)
    ends = payload[reader.at + behind.at:]
    for number, (words, right) in enumerate((((a, a, b, c), True), ((5, 5, 7, -9), True),
                                             ((0, a, b, c), True), ((a, b, c, 5), False),
                                             ((a, a, a, c), False), ((a, a, b, b), False))):
        end = b"".join(b"\4" + svarint(word) for word in words)
        changed = [(kind, i, payload[:reader.at] + end + ends if kind == rfn_reader.STREAMS else old)
                   for kind, i, old in chunks]
        spoilt = spoil(bench, f"signatures.{number}.rfn", container(data, changed))
        code, _, err = run(bench, "verify", spoilt)
        harness.compare(f"exit of verify: {err}", code, 0 if right else 3)
        if not right and "its signature in STREAMS is not that of its calls" not in err:
            raise harness.Failure(f"verify: {err!r}")


def test_fewer_events_than_batches(bench):
    """Fewer events in STREAMS than a loop has, whose iterations come several at once, and an end for the last one."""
    program = bench.program("regular_run", "openmpi")
    path = bench.record("openmpi", 2, [program, "5000", bench.path("")], ["--no-cluster"])[1]
    with open(path, "rb") as file:
        data = file.read()
    toc, _ = rfn_reader.read_header(data)
    chunks = [(c.type, c.id, c.payload) for c in rfn_reader.listed_chunks(data, toc, True)]
    for end in (0, 1, (1 << 63) - 1):
        words = [list(each) for each in zip(*((stream.rank, stream.thread, stream.group, stream.set, stream.host, 3000,
                                               3000, stream.start, stream.realtime, stream.volume, 0, stream.times,
                                               stream.signature, end) for stream in rfn_reader.Archive(path).streams))]
        streams = varint(2) + b"".join(b"\4" + svarint(word) for of_streams in words for word in of_streams)
        forged = container(data, [(kind, i, streams if kind == rfn_reader.STREAMS else old) for kind, i, old in chunks])
        spoilt = spoil(bench, f"fewer.{end}.rfn", forged)
        for verb in ("verify", "report"):
            code, _, err = run(bench, verb, spoilt)
            harness.compare(f"{verb}: {err}", (code, "event 3000" in err), (3, True))


def with_error(common, error):
    """The payload of a COMMON whose first symbol has another error class."""
    reader = rfn_reader.Reader(common)
    for _ in range(2 * reader.varint()):
        reader.varint()
    for _ in range(reader.varint()):
        reader.varint()
    at = reader.at
    reader.varint()
    return common[:at] + rfn_reader.varint_bytes(error) + common[reader.at:]


def test_common(bench):
    """COMMON that is not there, in the wrong place, or malformed, under right checksums."""
    data, _ = archive(bench, "common")
    toc, _ = rfn_reader.read_header(data)
    chunks = [(c.type, c.id, c.payload) for c in rfn_reader.listed_chunks(data, toc, True)]
    common = next(chunk for chunk in chunks if chunk[0] == rfn_reader.COMMON)
    rest = [chunk for chunk in chunks if chunk is not common]
    payload = common[2]
    spoilt = {"lists no chunk COMMON 0": rest,
              "must stand before those of clusters": rest + [common],
              "belongs to nothing": chunks + [(rfn_reader.COMMON, 1, payload)],
              r"offset .*COMMON 0\): its sites are malformed": [(*common[:2], b"\1\xff\xff\3"), *rest],
              r"offset .*COMMON 0\): bytes behind|behind its end": [(*common[:2], payload + b"\0"), *rest],
              "CLUSTERS .*COMMON does not have what": [(*common[:2], b"\0\0\0"), *rest],
              r"offset .*COMMON 0\): its symbols are": [(*common[:2], with_error(payload, 1 << 32)), *rest]}
    for number, (message, parts) in enumerate(spoilt.items()):
        parts = sorted(parts, key=lambda chunk: chunk[0] not in (
            rfn_reader.META, rfn_reader.DEFINITIONS, rfn_reader.STREAMS, rfn_reader.RANK_PARAMS))
        path = spoil(bench, f"common.{number}.rfn", container(data, parts))
        code, _, err = run(bench, "verify", path)
        harness.compare(f"exit of verify: {err}", code, 3)
        if path not in err or not re.search(message, err):
            raise harness.Failure(f"verify: {err!r}, not {message!r}")
        code, _, err = run(bench, "dump", path)
        harness.compare(f"exit of dump: {err}", code, 0 if number in (1, 2) else 3)
    for error in ((1 << 32) - 1, 1 << 32):
        changed = (*common[:2], with_error(payload, error))
        parts = [changed if chunk is common else chunk for chunk in chunks]
        path = spoil(bench, "common.error.rfn", container(data, parts))
        try:
            rfn_reader.Archive(path).common()
            right = True
        except rfn_reader.Damage:
            right = False
        harness.compare(f"error class {error} is read", right, error < 1 << 32)
        code, _, err = run(bench, "verify", path)
        harness.compare(f"exit of verify: {err}", code, 0 if right else 3)
    one = [chunk for chunk in chunks if chunk[0] != rfn_reader.CLUSTERS]
    path = spoil(bench, "common.alone.rfn", container(data, one))
    code, _, err = run(bench, "verify", path)
    harness.compare(f"exit of verify: {err}", code, 3)


def test_dates(bench):
    """META of a run that began, or was saved, before 1970, under right checksums."""
    path = os.path.join(harness.HERE, "damage", "archives", "recovered")
    sound = rfn_reader.Archive(path)
    with open(path, "rb") as file:
        data = file.read()
    toc, _ = rfn_reader.read_header(data)
    chunks = [(c.type, c.id, c.payload) for c in rfn_reader.listed_chunks(data, toc, True)]
    meta = next(payload for kind, _, payload in chunks if kind == rfn_reader.META)
    start, first, last = (struct.pack("<Q", date) for date in (sound.start, *sound.recovered))
    for number, at in enumerate((meta.find(start), meta.find(first), meta.rfind(last))):
        harness.compare("the date is there", at >= 0, True)
        forged = meta[:at] + struct.pack("<Q", 1 << 63) + meta[at + 8:]
        spoilt = spoil(bench, f"date.{number}.rfn", container(
            data, [(kind, i, forged if kind == rfn_reader.META else payload) for kind, i, payload in chunks]))
        for verb in ("info", "verify", "report"):
            code, _, err = run(bench, verb, spoilt)
            harness.compare(f"{verb}: {err}", (code, "its dates are before 1970" in err), (3, True))
        with contextlib.suppress(rfn_reader.Damage):
            rfn_reader.Archive(spoilt)
            raise harness.Failure(f"date {number} is read")


# Seeds that are refused: one has wrong checksums, which fuzzers do not look at, one wrong dates.
SPOILT_SEEDS = {"nothing-together", "dates_far_apart"}


# Words of a stream in STREAMS (refrain-archive(5)).
THREAD, GROUP, VALUE_SET, TIME_SET, STREAM_WORDS = 1, 2, 3, 11, 14


def of_threads(bench, threads, numbered, chunks, *options):
    """An archive of so many threads, none of which has an event. The words of a stream that are `numbered` are the
    thread's number, the others 0; META and DEFINITIONS are those of a small program recorded with the options."""
    _, small = bench.record("mpich", 1, [bench.program("ring", "mpich"), "0", "0"],
                            options=["--no-cluster", *options])
    with open(small, "rb") as file:
        data = file.read()
    toc, _ = rfn_reader.read_header(data)
    kept = [(each.type, each.id, each.payload) for each in rfn_reader.listed_chunks(data, toc, True)
            if each.type < rfn_reader.STREAMS]
    streams = varint(threads) + b"".join(varint(threads << 2 | (word in numbered)) + b"\0"
                                         for word in range(STREAM_WORDS))
    return container(data, kept + [(rfn_reader.STREAMS, 0, streams)] + chunks)


def test_many_words(bench):
    """A few bytes may say that very many ranks or threads have very many words: `reduce --cluster` leaves those as
    they are, rather than to take memory for them."""
    threads, slots = 100000, 1500
    none = varint(threads << 2) + b"\1"
    # One group, which has only communicators.
    forged = of_threads(bench, threads, {THREAD, TIME_SET},
                        [(rfn_reader.RANK_PARAMS, 0, varint(slots) + slots * none),
                         (rfn_reader.STRUCTURE, 0, bytes(2) + varint(slots) + bytes(3)),
                         (rfn_reader.VALUES, 0, bytes(5))], "--time=none")
    path, out = spoil(bench, "many_words.rfn", forged), bench.fresh("many_words.out.rfn")
    bench.verb("verify", path)
    bench.run(["prlimit", f"--as={1 << 30}", bench.refrain, "reduce", "--cluster", path, "-o", out], check=True)
    harness.compare("clustered", json.loads(bench.verb("info", "--json", out))["clustered_groups"], 0)


def verify_in_a_minute(bench, name, forged, threads):
    """Of CPU: a hundred times what it takes, but not what going through all for each would take."""
    path = spoil(bench, name, forged)
    bench.run(["prlimit", "--cpu=60", bench.refrain, "verify", path], check=True)
    harness.compare("threads", len(rfn_reader.Archive(path).streams), threads)


def test_many_shapes(bench):
    """The directory and the columns of a chunk with very many shapes are gone through once, not once per shape."""
    threads = 100000
    numbers, values = varint(6) + bytes(6) + b"\0", varint(3) + bytes(3) + b"\0"
    directory = b"\1" + varint(len(numbers)) + b"\0" + varint(len(values))
    clusters = b"\0" + varint(threads) + directory * threads + (numbers + values) * threads + bytes(2)
    forged = of_threads(bench, threads, {THREAD, GROUP, VALUE_SET, TIME_SET},
                        [(rfn_reader.CLUSTERS, threads, clusters)], "--time=none")
    verify_in_a_minute(bench, "many_shapes.rfn", forged, threads)


def test_many_time_sets(bench):
    """So is the directory of one with very many time sets."""
    threads = 100000
    profile = bytes([1, 3]) + bytes(15)
    profiles = varint(threads) + (varint(len(profile)) + bytes(2)) * threads + profile * threads
    forged = of_threads(bench, threads, {THREAD, TIME_SET},
                        [(rfn_reader.RANK_PARAMS, 0, b"\0"), (rfn_reader.STRUCTURE, 0, bytes(6)),
                         (rfn_reader.VALUES, 0, bytes(5)), (rfn_reader.PROFILES, threads, profiles)],
                        "--time=reduced")
    verify_in_a_minute(bench, "many_time_sets.rfn", forged, threads)


def test_seeds(bench):
    """What fuzzers begin with can be read: a seed of a form that is none any more would begin nothing."""
    folder = os.path.join(harness.HERE, "fuzz")
    seeds = [os.path.join(folder, fuzzer, name) for fuzzer in ("archive_fuzz", "reduce_archive_fuzz")
             for name in sorted(os.listdir(os.path.join(folder, fuzzer)))]
    versions = set()
    for path in seeds:
        code, _, err = run(bench, "verify", path)
        spoilt = os.path.basename(path) in SPOILT_SEEDS
        harness.compare(f"exit of verify: {path}: {err}", code, 3 if spoilt else 0)
        with open(path, "rb") as file:
            versions.add(rfn_reader.read_header(file.read())[1])
    harness.compare("versions of the format", versions >= {4, 6}, True)


def test_no_archives(bench):
    """Files that are no archives, and what is no file."""
    data, _ = archive(bench, "full")
    files = {"empty": b"", "text": b"This is a text.\n" * 100, "zeros": bytes(4096),
             "magic": data[:8], "noise": random.Random(4).randbytes(5000)}
    for name, content in files.items():
        path = spoil(bench, f"no.{name}.rfn", content)
        for verb in VERBS:
            code, lines, err = run(bench, verb, path)
            harness.compare(f"{verb} of {name}", (code, lines), (3, []))
            check_message(path, err, f"{verb} of {name}")
    for path in (bench.folder, bench.path("missing.rfn"), "/dev/null"):
        for verb in VERBS:
            code, lines, err = run(bench, verb, path)
            harness.compare(f"{verb} of {path}", (code, lines), (1, []))
            if path not in err:
                raise harness.Failure(f"{verb} of {path}: {err}")


def test_json(bench):
    """verify --json tells the offset of the damage."""
    data, _ = archive(bench, "full")
    begin, end = chunks_of(data)[2]
    path = spoil(bench, "json.rfn", flipped(data, end - 1))
    told = bench.run([bench.refrain, "verify", "--json", path])
    harness.compare("exit", told.code, 3)
    told = json.loads(told.out)
    harness.compare("file, whole, offset", (told["file"], told["whole"], told["offset"]),
                    (path, False, begin))


def test_unreadable_clusters(bench):
    """What ranks do cannot be read: how many are alike is not known, and the file's fault is told once."""
    data, _ = archive(bench, "clustered")
    toc, _ = rfn_reader.read_header(data)
    stored = next(chunk for chunk in rfn_reader.listed_chunks(data, toc, True) if chunk.type == rfn_reader.CLUSTERS)
    path = spoil(bench, "clusters.rfn", flipped(data, stored.end - 1))
    told = bench.run([bench.refrain, "info", "--json", path])
    harness.compare("exit", told.code, 3)
    facts = json.loads(told.out)
    harness.compare("clusters", [facts[name] for name in ("main_clusters", "sub_clusters",
                                                          "sub_clusters_after_expressions")], [None] * 3)
    code, lines, err = run(bench, "info", path)
    harness.compare("exit", code, 3)
    harness.compare("said", b"Alike       not known: calls or parameters cannot be read" in lines, True)
    harness.compare("messages", len(err.splitlines()), 1)
