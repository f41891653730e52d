"""Archives become time-independent text and back (refrain convert): SimGrid's own replay program runs the text, messages
are the archive's, and what goes round comes back as the same text."""
import collections
import gzip
import json
import os
import re
import subprocess

import harness

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-15" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
"""
OWN_TAGS = 1 << 30  # from here on those of messages that calls were made of


def convert(bench, source, out, *options):
    return json.loads(bench.verb("convert", "--json", source, "-o", out, *options))


def files_of(path):
    """The files of ranks that a list names."""
    with open(path, encoding="ascii") as names:
        return names.read().split()


def opened(path):
    if path.endswith(".gz"):
        with gzip.open(path, "rt") as text:
            return text.read()
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True, text=True).stdout
    with open(path, encoding="ascii") as text:
        return text.read()


def lines_of(path, shared=False):
    """Words of each line, by rank; every rank has one init and one finalize around all else."""
    ranks = collections.defaultdict(list)
    for file in [path] if shared else files_of(path):
        for line in opened(file).splitlines():
            words = line.split()
            ranks[int(words[0])].append(words[1:])
    for lines in ranks.values():
        harness.compare("around", (lines[0], lines[-1]), (["init"], ["finalize"]))
    return dict(ranks)


def messages(ranks):
    """Messages and bytes that the program itself sends, by pair of ranks; and those that are received."""
    sent, received = collections.Counter(), collections.Counter()
    for rank, lines in ranks.items():
        for name, *fields in lines:
            if name in ("send", "isend") and int(fields[1]) < OWN_TAGS:
                sent[rank, int(fields[0]), "n"] += 1
                sent[rank, int(fields[0]), "bytes"] += int(fields[2])
            elif name in ("recv", "irecv") and int(fields[1]) < OWN_TAGS:
                received[int(fields[0]), rank, "n"] += 1
            elif name == "sendRecv":
                sent[rank, int(fields[1]), "n"] += 1
                sent[rank, int(fields[1]), "bytes"] += int(fields[0])
                received[int(fields[3]), rank, "n"] += 1
    return +sent, +received


def matrix(bench, archive):
    """The same as the report has it."""
    facts = json.loads(bench.verb("report", "--json", archive))
    sent = collections.Counter()
    for pair in facts["communication_matrix"]:
        key = pair["source"], pair["dest"]
        sent[(*key, "n")] += pair["messages"]
        sent[(*key, "bytes")] += pair["bytes"]
    return +sent


def replayed(bench, path, ranks):
    """SimGrid's replay runs it, without an error: the simulated seconds."""
    platform = bench.once("platform.xml", PLATFORM, lambda out: open(out, "w", encoding="ascii").write(PLATFORM))
    run = bench.run(["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts(bench, ranks),
                     "-replay", path, "--cfg=smpi/simulate-computation:yes", "--log=root.thres:info"], timeout=60)
    said = run.out + run.err
    found = re.search(r"Simulation time ([0-9.]+)", said)
    if run.code or not found or "deadlock" in said.lower():
        raise harness.Failure(f"smpirun -replay {path}: exit {run.code}\n{said[-2000:]}")
    return float(found[1])


def hosts(bench, ranks):
    names = "".join(f"h{i}\n" for i in range(ranks))

    def write(out):
        with open(out, "w", encoding="ascii") as file:
            file.write(names)
    return bench.once("hosts", names, write)


def check_text(bench, archive, ranks):
    """The archive as text of SimGrid's dialect: (what convert says, lines by rank)."""
    path = bench.fresh("run.txt")
    told = convert(bench, archive, path)
    text = lines_of(path)
    harness.compare("ranks", len(text), ranks)
    harness.compare("lines", told["lines"], sum(map(len, text.values())))
    harness.compare("bytes", told["text_bytes"], sum(os.path.getsize(file) for file in files_of(path)))
    sent, received = messages(text)
    harness.compare("messages that are received", received,
                    collections.Counter({key: n for key, n in sent.items() if key[2] == "n"}))
    harness.compare("messages", sent, matrix(bench, archive))
    replayed(bench, path, ranks)
    return told, text, path


def count(text):
    """Lines by action."""
    return collections.Counter(line[0] for lines in text.values() for line in lines)


def go_round(bench, path, *options):
    """Text, an archive of it, text again: the same."""
    archive, again = bench.fresh("round.rfn"), bench.fresh("again.txt")
    convert(bench, path, archive)
    bench.verb("verify", archive)
    convert(bench, archive, again, *options)
    for before, after in zip(files_of(path), files_of(again), strict=True):
        harness.compare(f"{before} that has gone round", opened(after), opened(before))
    return archive


def recorded(bench, name, ranks, *words):
    _, archive = bench.record("openmpi", ranks, [bench.program(name, "openmpi"), *words])
    return archive


# ---- programs of the tests: what each has that text has no word for ----

def check_program(bench, name, ranks, *words):
    archive = recorded(bench, name, ranks, *words)
    told, text, path = check_text(bench, archive, ranks)
    go_round(bench, path)
    return told, count(text)


def test_convert_messages(bench):
    """Every kind of send and receive, wildcards among them."""
    told, counts = check_program(bench, "point_to_point", 2)
    if not told["synchronous"] or counts["wait"] + counts["waitall"] == 0:
        raise harness.Failure(f"no synchronous sends, or no waits: {told} {counts}")


def test_convert_completions(bench):
    """Waitany, Waitsome and their kind wait for what they completed."""
    check_program(bench, "completions", 2)


def test_convert_persistent(bench):
    """Requests that are started again and again."""
    check_program(bench, "persistent", 2)


def test_convert_collective_calls(bench):
    """Every collective call of MPI_COMM_WORLD, those with a request as messages."""
    told, counts = check_program(bench, "collectives", 3)
    for name in ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall"):
        if not counts[name]:
            raise harness.Failure(f"no {name}: {counts}")
    if not told["expanded"]:
        raise harness.Failure("no call became messages")


def test_convert_communicators(bench):
    """Calls on sub-communicators become messages; those on inter-communicators are refused."""
    told, _ = check_program(bench, "random_calls", 4, "3", "200")
    if not told["expanded"]:
        raise harness.Failure("no call became messages")
    archive = recorded(bench, "communicators", 4)
    run = bench.run([bench.refrain, "convert", archive, "-o", bench.fresh("run.txt")])
    if run.code != 1 or not re.search(r"rank \d+, event \d+: MPI_\w+ \(inter < main\) is a collective call on an "
                                      r"inter-communicator", run.err):
        raise harness.Failure(f"exit {run.code}: {run.err}")


def test_convert_polls(bench):
    check_program(bench, "polls", 2)


def test_convert_one_sided_is_refused(bench):
    """By name, with the call path."""
    archive = recorded(bench, "one_sided", 2)
    path = bench.fresh("run.txt")
    run = bench.run([bench.refrain, "convert", archive, "-o", path])
    if run.code != 1 or not re.search(r"rank \d+, event \d+: MPI_\w+ \(.*main.*\) is one-sided", run.err):
        raise harness.Failure(f"exit {run.code}: {run.err}")
    if os.path.exists(path) or os.path.exists(path + "_files"):
        raise harness.Failure("files of a conversion that failed are there")


# ---- text ----

RING = """0 init
0 compute 1e6
0 send 1 1e6
0 recv 3
0 finalize
1 init
1 recv 0
1 compute 1e6
1 send 2 1e6
1 finalize
2 init
2 recv 1
2 compute 1e6
2 send 3 1e6
2 finalize
3 init
3 recv 2
3 compute 1e6
3 send 0 1e6
3 finalize
"""


def written(bench, name, text):
    path = bench.fresh(name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def test_convert_thesis(bench):
    """The thesis' first trace, and what it becomes; its own dialect comes back as it was."""
    ring = written(bench, "ring.txt", RING)
    archive, simgrid, thesis = bench.fresh("ring.rfn"), bench.fresh("simgrid.txt"), bench.fresh("thesis.txt")
    told = convert(bench, ring, archive)
    harness.compare("actions", told["actions"], 20)
    convert(bench, archive, simgrid)
    harness.compare("rank 0", lines_of(simgrid)[0],
                    [["init"], ["compute", "1000000"], ["send", "1", "0", "1000000"], ["recv", "3", "0", "-1"],
                     ["finalize"]])
    convert(bench, archive, thesis, "--to", "thesis", "--one-file")
    harness.compare("thesis", sorted(opened(thesis).splitlines()), sorted(RING.replace("1e6", "1000000").splitlines()))
    replayed(bench, simgrid, 4)
    facts = json.loads(bench.verb("report", "--json", archive))
    harness.compare("ranks", facts["ranks"], 4)


# A line that is of both dialects, and the rest of two ranks; rank 1 receives whatever comes.
UNCLEAR = """0 init
0 send 1 512 1
0 finalize
1 init
1 recv 0 512 1
1 finalize
"""
DECIDING = {"simgrid": "1 sleep 0\n", "thesis": "1 Irecv 0\n1 wait\n0 send 1 9\n"}


def first_sends(bench, source, *options):
    """Fields of what rank 0 sends first, as SimGrid has them: peer, tag, bytes."""
    archive, text = bench.fresh("read.rfn"), bench.fresh("read.txt")
    convert(bench, source, archive, *options)
    convert(bench, archive, text)
    return [line[1:4] for line in lines_of(text)[0] if line[0] == "send"][0]


SENDS = {"simgrid": ["1", "512", "1"], "thesis": ["1", "0", "2048"]}  # MPI_INT has 4 bytes


def test_convert_dialect_of_line(bench):
    """What both dialects have is refused with both readings, unless a line of another rank or --from decides."""
    path = written(bench, "unclear.txt", UNCLEAR)
    run = bench.run([bench.refrain, "convert", path, "-o", bench.fresh("no.rfn")])
    for words in (f'{path}:2: "0 send 1 512 1"', "1 element with tag 512", "512 elements of 4 bytes", "--from=simgrid",
                  "--from=thesis"):
        if run.code != 2 or words not in run.err:
            raise harness.Failure(f"exit {run.code}: {run.err}")
    for dialect, sends in SENDS.items():
        harness.compare(f"--from={dialect}", first_sends(bench, path, f"--from={dialect}"), sends)
        decided = UNCLEAR.replace("1 finalize\n", DECIDING[dialect] + "1 finalize\n")
        text = written(bench, "decided.txt", decided.replace("0 finalize\n", "", 1) + "0 finalize\n")
        harness.compare(f"a line of {dialect}", first_sends(bench, text), sends)
        with gzip.open(text + ".gz", "wt") as packed:
            packed.write(opened(text))
        harness.compare(f"a line of {dialect} in gzip", first_sends(bench, text + ".gz"), sends)


def test_convert_dialect_of_files(bench):
    """A file per rank: the last one decides for all of them; where files are of both dialects, a line is named."""
    ranks = ["0 init\n0 send 1 512 1\n0 finalize\n", "1 init\n1 recv 0 512 1\n%s1 finalize\n"]
    for dialect, sends in SENDS.items():
        more = "".join(line for line in DECIDING[dialect].splitlines(True) if line[0] == "1")
        files = [written(bench, f"{rank}.txt", text % more if rank else text) for rank, text in enumerate(ranks)]
        path = written(bench, "list.txt", "\n".join(files))
        harness.compare(f"files of {dialect}", first_sends(bench, path), sends)
    files[0] = written(bench, "mixed.txt", ranks[0].replace("0 fin", "0 allreduce 8 1\n0 fin"))
    run = bench.run([bench.refrain, "convert", written(bench, "list.txt", "\n".join(files)), "-o", bench.fresh("no.rfn")])
    if run.code != 3 or f"the text is in SimGrid's dialect, as {files[0]}:3 shows" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")


def test_convert_standard_input(bench):
    """Text from a pipe, plain and by gzip; and from a file that is standard input."""
    path = written(bench, "ring.txt", RING)
    with gzip.open(path + ".gz", "wt") as packed:
        packed.write(RING)
    expected = bench.fresh("expected.rfn")
    convert(bench, path, expected)
    for command in (f"cat {path} | $0 convert - -o $1", f"cat {path}.gz | $0 convert - -o $1",
                    f"$0 convert - -o $1 < {path}.gz", f"$0 convert <(cat {path}) -o $1"):
        out = bench.fresh("piped.rfn")
        bench.run(["bash", "-c", command, bench.refrain, out], check=True)
        harness.compare(command, bench.dump(out), bench.dump(expected))


def test_convert_roots(bench):
    """A root that is not 0, read and written in both dialects."""
    text = "".join(f"{rank} {line}\n" for rank in range(2) for line in ("init", "bcast 4 1 2", "reduce 4 1000 1 6", "finalize"))
    archive = bench.fresh("roots.rfn")
    convert(bench, written(bench, "roots.txt", text), archive)
    for dialect, lines in (("simgrid", [["bcast", "4", "1"], ["reduce", "4", "1000", "1"]]),
                           ("thesis", [["bcast", "4", "1", "6"], ["reduce", "4", "1000", "1", "6"]])):
        path = bench.fresh("again.txt")
        told = convert(bench, archive, path, "--to", dialect)
        harness.compare("made of messages", told["expanded"], 0)
        harness.compare(dialect, lines_of(path)[0][1:-1], lines)
        go_round(bench, path, "--to", dialect)


def test_convert_compressed(bench):
    """The same text in one file or several, plain or compressed: the same actions."""
    archive = recorded(bench, "collectives", 3)
    plain = bench.fresh("plain.txt")
    convert(bench, archive, plain)
    expected = lines_of(plain)
    for suffix in ("", ".gz", ".zst"):
        listed, shared = bench.fresh("listed.txt"), bench.fresh("shared.txt")
        convert(bench, archive, listed + suffix)
        harness.compare("listed" + suffix, lines_of(listed), expected)
        told = convert(bench, archive, shared + suffix, "--one-file")
        harness.compare("shared" + suffix, lines_of(shared + suffix, True), expected)
        harness.compare("size", told["file_bytes"], os.path.getsize(shared + suffix))
        for source in (listed, shared + suffix):
            again = bench.fresh("again.txt")
            convert(bench, source, again)
            harness.compare(f"{source} read", lines_of(again), expected)


def test_convert_bad_text(bench):
    """File, line, action and field are told."""
    cases = [("0 init\n0 send 1 0 x\n1 init\n", r":2: send: field 5, \"x\", is not a count"),
             ("0 init\nx init\n", r":2: the line does not begin with a rank"),
             ("0 init\n0 put 1\n", r":2: \"put\" is no action"),
             ("0 init\n9000000 init\n", r"there is a rank 9000000, but not all ranks before it have actions"),
             ("# nothing\n", r"is empty"),
             ("nowhere.txt\nnobody.txt\n", r"\"nowhere.txt\", names no file")]
    for text, wanted in cases:
        path, out = written(bench, "bad.txt", text), bench.fresh("bad.rfn")
        run = bench.run([bench.refrain, "convert", path, "-o", out])
        if run.code not in (1, 3) or not re.search(wanted, run.err) or os.path.exists(out):
            raise harness.Failure(f"{text!r}: exit {run.code}: {run.err}")
    good = written(bench, "good.txt", RING)
    with gzip.open(good + ".gz", "wb") as packed:
        packed.write(RING.encode() * 1000)
    with open(good + ".gz", "r+b") as cut:
        cut.truncate(os.path.getsize(good + ".gz") - 20)
    run = bench.run([bench.refrain, "convert", good + ".gz", "-o", bench.fresh("cut.rfn")])
    if run.code != 3 or "cut short" not in run.err:
        raise harness.Failure(f"a file that was cut: exit {run.code}: {run.err}")


def test_convert_keeps_files(bench):
    """What is there stays without --force; formats that nobody told are asked for."""
    ring, out = written(bench, "ring.txt", RING), written(bench, "there.txt", "mine")
    for options in ([], ["--one-file"]):
        run = bench.run([bench.refrain, "convert", ring, "-o", out, *options])
        harness.compare("exit and text", (run.code, "--force replaces it" in run.err, opened(out)), (1, True, "mine"))
    convert(bench, ring, out, "--force", "--one-file")
    harness.compare("lines", len(opened(out).splitlines()), 20)
    listed = bench.fresh("listed.txt")
    convert(bench, ring, listed)
    before = lines_of(listed)
    for options in ([], ["--one-file"]):  # the last rank's text is damaged: the old files stay
        bad = written(bench, "bad.txt", RING + "3 nothing\n")
        there = out if options else listed
        run = bench.run([bench.refrain, "convert", bad, "-o", there, "--force", *options])
        harness.compare("exit", run.code, 3)
        harness.compare("old lines", (lines_of(listed), len(opened(out).splitlines())), (before, 20))
        harness.compare("parts", [name for name in os.listdir(os.path.dirname(there)) + os.listdir(listed + "_files")
                                  if name.endswith(".part")], [])
    convert(bench, listed, listed, "--force")
    harness.compare("lines of what was written onto itself", lines_of(listed), before)
    two = written(bench, "two.txt", "0 init\n0 finalize\n1 init\n1 finalize\n")
    convert(bench, two, listed, "--force")
    harness.compare("files of two ranks", sorted(os.listdir(listed + "_files")), ["0_rank.txt", "1_rank.txt"])
    run = bench.run([bench.refrain, "convert", ring, "-o", bench.fresh("ring.what")])
    harness.compare("exit", (run.code, "--to" in run.err), (2, True))


def test_convert_words(bench):
    """Options that a conversion would not look at are refused by name."""
    ring, archive = written(bench, "ring.txt", RING), bench.fresh("ring.rfn")
    convert(bench, ring, archive)
    for words, said in (([ring, "-o", "x.rfn", "--one-file"], "--one-file is about text"),
                        ([archive, "-o", "x.otf2", "--one-file"], "--one-file is about text"),
                        ([ring, "-o", "x.txt", "--measured"], "--measured"),
                        ([archive, "-o", "x.otf2", "--measured"], "--measured"),
                        ([archive, "-o", "x.txt", "--metric", "PAPI_TOT_INS"], "--metric is about OTF2"),
                        ([archive, "-o", "x.txt", "--from", "thesis"], "--from is about text"),
                        ([ring, "-o", "x.rfn", "--from", "otf2"], "--from is simgrid or thesis"),
                        ([ring, "-o", ""], "--output is the name of a file"), ([ring], "where to"), (["-o", "x.rfn"], "which trace")):
        run = bench.run([bench.refrain, "convert", *words])
        harness.compare(f"{words}: {run.err}", (run.code, said in run.err), (2, True))
