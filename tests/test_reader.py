"""The independent reader (rfn_reader.py) and `refrain dump` say the same of every archive.

The reader was written from the pages that specify the format, the C reader is what users have:
where they agree line by line, the pages are true. Every program in programs/ is recorded, with
times, without, and with every poll as an event and volumes; hpcc stands for programs that nobody here wrote.
"""
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys

import harness
import rfn_reader
import rfn_text

WAYS = {"times": ["--time=full"], "no times": ["--time=none"],
        "all polls, volumes": ["--polls=all", "--volume=cpu"],
        "all polls, volumes, no times": ["--polls=all", "--volume=cpu", "--time=none"]}
HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"
APPROXIMATE = (b": times are those of similar iterations (",  # of a reduced archive, or one with merged parameters
               b": some parameters are those of the lowest rank of each cluster (")
ROOT = os.path.dirname(harness.HERE)


def dump(bench, archive, *options):
    """Lines of `refrain dump` as bytes."""
    done = subprocess.run([bench.refrain, "dump", *options, archive], capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    told = [line for line in done.stderr.splitlines() if not any(words in line for words in APPROXIMATE)]
    harness.compare(f"exit of dump {archive}", (done.returncode, told), (0, []))
    return done.stdout.split(b"\n")[:-1]


def compare(bench, archive, what):
    """Compares line by line; the number of lines."""
    number = 0
    opened = rfn_reader.Archive(archive)
    harness.compare("minor version that is written, and understood", opened.minor, rfn_reader.MINOR)
    read = (line.encode("utf-8", "surrogateescape") for line in rfn_text.lines(opened))
    for number, (dumped, line) in enumerate(itertools.zip_longest(dump(bench, archive), read)):
        if dumped != line:
            raise harness.Failure(f"{what}, line {number + 1}:\n  dump   {dumped}\n  reader {line}")
    if number == 0:
        raise harness.Failure(f"{what}: no events")
    return number


def programs():
    """(name, ranks) of the programs in programs/ whose first comment says "ranks: N"."""
    for path in sorted(glob.glob(os.path.join(harness.PROGRAMS, "*.c"))):
        with open(path, encoding="utf-8") as file:
            ranks = re.search(r"ranks:\s(?:\* )?(\d+)", file.read())
        if ranks:
            yield os.path.basename(path)[:-2], int(ranks.group(1))


def check_program(bench, flavour, name, ranks):
    program = bench.program(name, flavour)
    log = bench.path(f"reader.{name}.{flavour}.log")
    for what, options in WAYS.items():
        _, archive = bench.record(flavour, ranks, [program], options, env={"EXPECT_OUT": log},
                                  timeout=60)
        compare(bench, archive, f"{name}, {what}")


def make_test(name, ranks, flavour):
    def test(bench):
        check_program(bench, flavour, name, ranks)
    return test


# A file does not tell its MPI: one program under the one, the next under the other.
for _i, (_name, _ranks) in enumerate(programs()):
    if _name != "mixture":
        globals()[f"test_program_{_name}"] = make_test(_name, _ranks, list(harness.FLAVOURS)[_i % 2])


def used_coders(archive):
    """Names of the coders of all columns of an archive."""
    used, coders = set(), list(rfn_reader.CODERS)

    def noted(coder):
        def decode(reader, count):
            used.add(coder.__name__)
            return coder(reader, count)
        return decode

    rfn_reader.CODERS[:] = map(noted, coders)
    try:
        for stream in rfn_reader.Archive(archive).streams:
            for _ in stream.events():
                pass
    finally:
        rfn_reader.CODERS[:] = coders
    return used


def test_mixture(bench, flavour):
    """A little of everything; every coder of columns occurs, but that for lists of reduced archives. MPICH
    polls without yielding: no more ranks there than cores."""
    program = bench.program("mixture", flavour)
    ranks = 2 if flavour == "mpich" else 4
    for what, options in WAYS.items():
        _, archive = bench.record(flavour, ranks, [program, bench.path("mixture.dat")], options,
                                  timeout=60)
        compare(bench, archive, f"mixture, {what}")
    harness.compare("coders", used_coders(archive), {coder.__name__ for coder in rfn_reader.CODERS}
                    - {"adaptive_block"})


def test_halo(bench, flavour):
    program = bench.program(os.path.join(ROOT, "examples", "halo.c"), flavour)
    for what, options in WAYS.items():
        _, archive = bench.record(flavour, 4, [program, "100"], options)
        compare(bench, archive, f"halo, {what}")


def test_hpcc(bench):
    """hpcc on a small problem (Debian's is linked with Open MPI)."""
    if not shutil.which("hpcc") or not os.path.exists(HPCC_INPUT):
        raise harness.Failure("hpcc is not installed (package hpcc)")
    with open(HPCC_INPUT, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for at, value in ((5, "200"), (7, "40"), (10, "1"), (11, "2")):  # N, NB, P, Q
        lines[at] = value + " " + lines[at].split(maxsplit=1)[1]
    with open(bench.path("hpccinf.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    for what in ("times", "all polls, volumes, no times"):
        _, archive = bench.record("openmpi", 2, [shutil.which("hpcc")], WAYS[what])
        if compare(bench, archive, f"hpcc, {what}") < 1000:
            raise harness.Failure(f"hpcc, {what}: hardly any events")


def test_ranks_of_a_dump(bench):
    """Lists of ranks are as those of other verbs; the header stays, and the order is that of the archive."""
    program = bench.program(os.path.join(harness.HERE, "..", "examples", "halo.c"), "openmpi")
    _, archive = bench.record("openmpi", 4, [program, "5", "8"])
    header, *lines = bench.verb("dump", archive).splitlines()
    for text, ranks in (("0-2", "012"), ("3,1", "13"), ("0,2-3", "023"), ("2", "2"), ("0-3", "0123")):
        wanted = [line for line in lines if line.split("\t")[1] in ranks]
        harness.compare(text, bench.verb("dump", f"--rank={text}", archive).splitlines(), [header, *wanted])
    for text, words in (("4", "there is no rank 4: the run has 4, counted from 0"), ("2-5", "there is no rank 4"),
                        ("2-1", "'2-1' is not a list of ranks"), ("", "is not a list"), ("0-", "is not a list")):
        run = bench.run([bench.refrain, "dump", f"--rank={text}", archive])
        harness.compare(f"{text}: {run.err}", (run.code, run.out, words in run.err), (2, "", True))


def test_parts_of_a_dump(bench):
    """From an event or a time on, to a time: of each rank what all of it has there. More than 131,072 events
    of a rank, so that its archive has several time marks; times are full, reduced, or not there."""
    program = bench.program("long_loop", "openmpi")
    for options in ("--time=full", "--time=reduced", "--time=none"):
        _, archive = bench.record("openmpi", 2, [program, "150000"], [options])
        header, *lines = bench.verb("dump", archive).splitlines()
        events = [line.split("\t") for line in lines]
        most = max(int(event[0]) for event in events)
        if most < 2 * 65536:
            raise harness.Failure(f"only {most} events")
        for first in (0, 1, 65535, 65536, 65537, most // 2, 131072, most - 1, most, most + 1):
            wanted = [line for line, event in zip(lines, events) if int(event[0]) >= first][:200]
            harness.compare(f"{options}, event {first}",
                            bench.verb("dump", f"--from-event={first}", "--limit=200", archive).splitlines(),
                            [header, *wanted])
        if options == "--time=none":
            run = bench.run([bench.refrain, "dump", "--from=1s", archive])
            harness.compare(run.err, (run.code, run.out, "have no times" in run.err), (2, "", True))
            continue
        ends = sorted(int(event[4]) for event in events)
        for ns in (0, ends[5], ends[len(ends) // 3] + 1, ends[-100], ends[-1], ends[-1] + 1):
            to = ns + 20000
            wanted = [line for line, event in zip(lines, events) if int(event[4]) >= ns and int(event[3]) <= to]
            harness.compare(f"{options}, from {ns} ns",
                            bench.verb("dump", f"--from={ns}", f"--to={to / 1000}us", archive).splitlines(),
                            [header, *wanted])
    for text in ("x", "-1", "1h", "", "nan"):
        run = bench.run([bench.refrain, "dump", f"--from={text}", archive])
        harness.compare(text, (run.code, f"--from takes a time like 1.5s, 20ms or 300 (nanoseconds), not '{text}'"
                               in run.err), (2, True))
    run = bench.run([bench.refrain, "dump", "--from=1s", "--from-event=3", archive])
    harness.compare("both", (run.code, "either --from or --from-event" in run.err), (2, True))


def test_command(bench):
    """rfn_reader.py as a command: all ranks, one rank, and its exit status."""
    program = bench.program("point_to_point", "openmpi")
    _, archive = bench.record("openmpi", 2, [program])
    command = [sys.executable, os.path.join(harness.HERE, "rfn_reader.py"), archive]
    harness.compare("all ranks", bench.run(command, check=True).out, bench.verb("dump", archive))
    harness.compare("rank 1", bench.run([*command, "--rank", "1"], check=True).out,
                    bench.verb("dump", "--rank", "1", archive))
    with open(archive, "rb") as file:
        data = bytearray(file.read())
    data[len(data) // 2] ^= 1
    with open(archive, "wb") as file:
        file.write(data)
    harness.compare("exit for a damaged archive", bench.run(command).code, 3)
