"""Reduced archives, read: the C reader, the independent reader and what verbs say of them agree.

The archives are those of tests/support/reduced_model.h, whose times are known; there C is compared
with the model, here with the page. What refrain reduce makes of real programs is test_reduce.py's.
"""
import glob
import json
import os
import random

import harness
import rfn_reader
import rfn_text
import test_damage

FORGERIES = 160
TELLS = "times are those of similar iterations (avgWave 0.2, across processes avgWave 0.4)"


def archives(bench):
    """Small archives, with clocks of streams and of the run, with volumes and without."""
    folder = bench.fresh("reduced")
    os.mkdir(folder)
    bench.run([os.path.join(bench.build, "test", "representatives_test"), "seeds", folder],
              check=True)
    found = sorted(glob.glob(os.path.join(folder, "*.rfn")))
    harness.compare("archives", len(found) > 20, True)
    return found


def test_readers_agree(bench):
    for path in archives(bench):
        bench.verb("verify", path)
        code, lines, err = test_damage.run(bench, "dump", path)
        harness.compare(f"dump of {path}", (code, TELLS in err), (0, True))
        read = [line.encode("utf-8", "surrogateescape")
                for line in rfn_text.lines(rfn_reader.Archive(path))]
        harness.compare(f"{path}, read independently", lines, read)


def test_what_verbs_say(bench):
    path = archives(bench)[0]
    told = json.loads(bench.verb("info", "--json", path))["reduced"]
    harness.compare("info --json", told, {
        "similarity": "avgWave:0.2", "across": "avgWave:0.4", "exact_starts": True, "min_calls": 2,
        "segments": 1000, "kinds": 20, "kept": 118, "corrections": 7, "long_threads": 0, "threads": 4, "classes": 2,
        "time_sets": 3, "widened": 1, "degree_of_matching": float(f"{883 / 982:.15g}"), "full_bytes": 123456})
    harness.compare("report --json", json.loads(bench.verb("report", "--json", path))["reduced"],
                    told)
    text = bench.verb("info", path)
    for line in (TELLS, "1,000 of 20 kinds, 118 kept; 7 starts corrected", "89.9 %", "121 KiB"):
        harness.compare(f"info says: {line}", line in text, True)
    head = " ".join(bench.verb("report", path).split("\n\n", maxsplit=1)[0].split())
    harness.compare("the report's head says it", "Times are those of similar iterations: single waits are approximate"
                    in head, True)


def test_damaged_bytes(bench):
    """Every tenth byte of META, STREAMS, PROFILE, PROFILES and SPREADS is spoiled: verify notices, and no verb
    breaks."""
    tasks = []
    for number in (5, 32):
        spoil(bench, archives(bench)[number], tasks)
    test_damage.in_parallel(tasks)


def spoil(bench, path, tasks):
    kinds = (rfn_reader.META, rfn_reader.STREAMS, rfn_reader.PROFILE, rfn_reader.PROFILES,
             rfn_reader.SPREADS)
    with open(path, "rb") as file:
        data = file.read()
    for chunk in rfn_reader.listed_chunks(data, rfn_reader.read_header(data)[0], True):
        if chunk.type not in kinds:
            continue
        for at in range(chunk.offset, chunk.end, 10):
            name = f"byte.{len(tasks)}.rfn"
            tasks.append((test_damage.check_verify, bench, test_damage.flipped(data, at),
                          f"byte {at}", name))


@harness.long
def test_forged(bench):
    """META, STREAMS, PROFILE, PROFILES and SPREADS of chance under right checksums: believed or refused, by
    both readers alike."""
    chance, tasks, paths = random.Random(7), [], archives(bench)
    kinds = (rfn_reader.PROFILE, rfn_reader.SPREADS, rfn_reader.STREAMS, rfn_reader.META)
    for number in range(FORGERIES):
        with open(paths[number % len(paths)], "rb") as file:
            data = file.read()
        chunks = [(chunk.type, chunk.id, chunk.payload) for chunk in
                  rfn_reader.listed_chunks(data, rfn_reader.read_header(data)[0], True)]
        wanted = {kinds[number % 4]}
        wanted |= {rfn_reader.PROFILES} if rfn_reader.PROFILE in wanted else set()
        at = chance.choice([i for i, chunk in enumerate(chunks) if chunk[0] in wanted])
        kind, chunk_id, payload = chunks[at]
        chunks[at] = kind, chunk_id, test_damage.forge(payload, chance)
        tasks.append((test_damage.check_forgery, bench, test_damage.container(data, chunks),
                      f"forgery {number}, of chunk {kind}", f"forged.{number}.rfn"))
    test_damage.in_parallel(tasks)
