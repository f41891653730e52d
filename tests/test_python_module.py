"""The module for Python (python/refrain): its tables are what `refrain dump` and `refrain report --json` print."""
import ast
import collections
import contextlib
import ctypes
import glob
import json
import os
import re
import subprocess
import sys
import threading
import warnings

import harness
import test_reader

ROOT = os.path.dirname(harness.HERE)
SOURCES = os.path.join(ROOT, "python")
# Debian's, which has numpy and pandas; the tests before do without.
PYTHON = "/usr/bin/python3"
SAMPLE = ("point_to_point", "regions", "completions", "collectives", "one_sided", "threads")
MOVES = re.compile(r"MPI_(?:B|S|R)?(?:send|recv|sendrecv|bcast|allreduce|put|get)$", re.IGNORECASE)


def environment(bench):
    given = os.environ.get("PYTHONPATH")
    return {"REFRAIN_LIBRARY": os.path.join(bench.build, "lib", "librefrain.so.0"), "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": SOURCES + (os.pathsep + given if given else "")}


def module(bench):
    """The module, in this process."""
    os.environ["REFRAIN_LIBRARY"] = environment(bench)["REFRAIN_LIBRARY"]
    sys.dont_write_bytecode = True
    if SOURCES not in sys.path:
        sys.path.insert(0, SOURCES)
    import refrain  # pylint: disable=import-error,import-outside-toplevel
    return refrain


def script(bench, lines, *arguments, python=sys.executable, timeout=120):
    """What a program in a process of its own prints."""
    return bench.run([python, "-c", lines, *arguments], env=environment(bench), check=True, timeout=timeout).out


@contextlib.contextmanager
def raising(error, **members):
    """The block raises an error with these members."""
    try:
        yield
    except error as raised:
        for name, value in members.items():
            harness.compare(f"{name} of {raised!r}", getattr(raised, name), value)
    else:
        raise harness.Failure(f"{error.__name__} is not raised")


def rounded(seconds):
    return 0 if seconds is None else round(seconds * 1e9)


# ---- against the tool ----

def plain(word):
    """A word of `refrain dump` with its blanks."""
    return re.sub(r"\\([stn\\])", lambda match: {"s": " ", "t": "\t", "n": "\n"}.get(match[1], match[1]), word)


def compare_events(bench, run, archive):
    """Each event with its line of `refrain dump`."""
    dumped, events = bench.dump(archive), run.events().to_dict()
    for column, name in (("function", "function"), ("path", "call_path")):
        harness.compare(f"{archive}: {column}", events[column], [line[name] for line in dumped])
    times = ("enter_ns", "exit_ns") if run.times else ()
    for name in ("rank", "thread", "index", *times):
        harness.compare(f"{archive}: {name}", events[name], [int(line[name]) for line in dumped])
    harness.compare(f"{archive}: calls", events["calls"], list(map(harness.polls, dumped)))
    for i, line in enumerate(dumped):
        words = dict(word.split("=", 1) for word in line["parameters"].split(" ") if "=" in word)
        if line["function"].startswith("refrain_region"):
            harness.compare(f"{archive}: region of {line}", events["region"][i], plain(words["name"]))
        if "dest" in words and words.get("comm") == "world":
            peer = int(words["dest"]) if words["dest"].isdigit() else events["source"][i]
            peer = peer if peer < run.ranks else -1
            harness.compare(f"{archive}: peer of {line}", events["peer"][i], peer)
        if "dest" in words and words.get("tag", "").isdigit() and "sendtag" not in words:
            harness.compare(f"{archive}: tag of {line}", events["tag"][i], int(words["tag"]))
        if MOVES.fullmatch(line["function"]) and words.get("bytes", "").isdigit():
            harness.compare(f"{archive}: bytes of {line}", events["bytes"][i], int(words["bytes"]))
    return len(dumped)


def compare_rows(what, table, found, expected, names):
    """Rows of a table and of JSON with members of these names: column -> member; times are in seconds there."""
    for column, member in names.items():
        convert = rounded if member.endswith("seconds") else lambda value: 0 if value is None else value
        harness.compare(f"{what}: {column}", found[column], [convert(row.get(member)) for row in expected])
    harness.compare(f"{what}: rows", len(table), len(expected))


CALLS = {"ranks": "ranks", "events": "events", "calls": "calls", "total_ns": "seconds", "bytes": "bytes",
         "shortest_ns": "shortest_seconds", "longest_ns": "longest_seconds", "most_rank": "max_rank",
         "sent_bytes": "sent_bytes", "received_bytes": "received_bytes"}
PER_RANK = {"rank": "rank", "threads": "threads", "events": "events", "calls": "calls", "mpi_ns": "mpi_seconds",
            "setup_ns": "setup_seconds", "outside_ns": "outside_seconds", "messages": "messages",
            "sent_bytes": "sent_bytes", "collective_bytes": "collective_bytes", "one_sided": "one_sided",
            "one_sided_bytes": "one_sided_bytes", "unrecorded_ns": "unrecorded_seconds"}


def compare_report(bench, run, archive):
    """Results equal the report's."""
    report = json.loads(bench.verb("report", "--json", "--top=1000000", archive))
    calls, paths = run.call_paths(), collections.Counter()
    names = CALLS if run.times else {name: CALLS[name] for name in CALLS if name.endswith(("s", "calls")) and
                                     not name.endswith("_ns")}
    rows = [dict(zip(["function", *names], row)) for row in
            zip(calls.decoded("function"), *(calls[name] for name in names))]
    for row in rows:
        paths[tuple(row.values())] += 1
    for row in report["call_paths"]:
        convert = [rounded(row.get(member)) if member.endswith("seconds") else row.get(member) for member in names.values()]
        paths[(row["function"], *convert)] -= 1
    harness.compare(f"{archive}: call paths", +paths, -paths)
    compare_rows(f"{archive}: per rank", *tables(run.per_rank()), report["time_per_rank"], PER_RANK)
    compare_rows(f"{archive}: pairs", *tables(run.pairs()), report["communication_matrix"],
                 {"source": "source", "dest": "dest", "messages": "messages", "bytes": "bytes"})
    compare_rows(f"{archive}: regions", *tables(run.regions()), report["regions"], {"region": "name", "visits": "visits"})
    # Where recording was off, the end of a message may not be there.
    matched = report["matching"]["matched"]
    messages = len(run.messages())
    harness.compare(f"{archive}: messages", messages if not report["paused"] else max(messages, matched), matched)
    compare_waits(run, archive, report)


def tables(table):
    return table, table.to_dict()


def compare_waits(run, archive, report):
    waits, by_rank = run.waits().to_dict(), run.waits(by_rank=True).to_dict()
    sums = collections.Counter()
    if not run.times:
        harness.compare(f"{archive}: waits without times", len(run.waits()), 0)
        return
    for pattern, ns in zip(waits["pattern"], waits["total_ns"]):
        sums[pattern] += ns
    expected = {name: rounded(seconds) for name, seconds in report["waits"]["by_pattern"].items() if seconds}
    harness.compare(f"{archive}: waits", dict(sums), expected)
    harness.compare(f"{archive}: waits by rank", sum(by_rank["total_ns"]), sum(waits["total_ns"]))
    harness.compare(f"{archive}: waits of ranks", sum(run.per_rank()["waiting_ns"]), sum(waits["total_ns"]))
    harness.compare(f"{archive}: causes", sorted(run.causes()["total_ns"], reverse=True),
                    sorted((rounded(cause["seconds"]) for cause in report["causes"]), reverse=True))


def compare_all(bench, archive):
    """The number of events."""
    with module(bench).open(archive) as run:
        info = json.loads(bench.verb("info", "--json", archive))
        for name in ("program", "command", "mpi", "ranks"):
            harness.compare(name, run.info[name], info[name])
        compare_report(bench, run, archive)
        return compare_events(bench, run, archive)


def test_sample_of_programs(bench, flavour):
    for name, ranks in test_reader.programs():
        if name not in SAMPLE:
            continue
        _, archive = bench.record(flavour, ranks, [bench.program(name, flavour)])
        assert compare_all(bench, archive) > 0, f"{name}: no events"


def test_without_times(bench):
    _, archive = bench.record("openmpi", 2, [bench.program("point_to_point", "openmpi")], options=["--time=none"])
    compare_all(bench, archive)
    with module(bench).open(archive) as run:
        harness.compare("times", run.times, False)
        with raising(module(bench).Error, code=module(bench).ErrorCode.UNSUPPORTED):
            run.events(window=(0, 1))


@harness.long
def test_all_programs(bench, flavour):
    for name, ranks in test_reader.programs():
        _, archive = bench.record(flavour, ranks, [bench.program(name, flavour)], options=["--polls=all"])
        compare_all(bench, archive)


def test_forms_of_archives(bench):
    """Reduced, clustered, recovered ones, and such with samples."""
    for archive in sorted(glob.glob(os.path.join(harness.HERE, "damage", "archives", "*"))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with module(bench).open(archive) as run:
                dumped = bench.run([bench.refrain, "dump", archive]).out.count("\n") - 1
                harness.compare(f"events of {archive}", len(run.events()), dumped)


# ---- what a ring does ----

ROUNDS, RANKS = 4, 3


def ring(bench):
    return bench.record("openmpi", RANKS, [bench.program("ring", "openmpi"), str(ROUNDS), "0"])[1]


def test_messages(bench):
    """A token goes round: as many messages from each rank to the next, each with both its ends."""
    with module(bench).open(ring(bench)) as run:
        messages, events = run.messages().to_dict(), run.events()
        place = {(rank, index): i for i, (rank, index) in enumerate(zip(events["rank"], events["index"]))}
        exits, functions = events["exit_ns"], events.decoded("function")
    found = collections.Counter(zip(messages["source"], messages["dest"], messages["tag"], messages["bytes"]))
    harness.compare("messages", found, {(rank, (rank + 1) % RANKS, 5, 4): ROUNDS for rank in range(RANKS)})
    for i in range(ROUNDS * RANKS):
        for end, rank, function in (("send", "source", "MPI_Send"), ("receive", "dest", "MPI_Recv")):
            event = place[messages[rank][i], messages[end + "_end_index"][i]]
            harness.compare(f"{end} of message {i}", (functions[event], exits[event], messages[end + "_function"][i]),
                            (function, messages[end + "_end_ns"][i], function))
    harness.compare("mode", set(messages["mode"]), {"standard"})


def test_choices(bench):
    """Ranks, a window, columns, a limit and batches give the same events."""
    with module(bench).open(ring(bench)) as run:
        every = list(run.events().rows())
        harness.compare("rank 1", list(run.events(ranks=1).rows()), [row for row in every if row["rank"] == 1])
        harness.compare("ranks", list(run.events(ranks=(2, 0, 2)).rows()), [row for row in every if row["rank"] != 1])
        harness.compare("no rank", len(run.events(ranks=[])), 0)
        start, end = every[5]["enter_ns"], every[9]["exit_ns"]
        inside = [row for row in every if row["exit_ns"] >= start and row["enter_ns"] <= end]
        harness.compare("window", list(run.events(window=(start, end)).rows()), inside)
        harness.compare("limit", list(run.events(limit=7).rows()), every[:7])
        batches = list(run.event_batches(rows=5))
        harness.compare("batches", [row for batch in batches for row in batch.rows()], every)
        harness.compare("rows of batches", [len(batch) for batch in batches[:-1]], [5] * (len(batches) - 1))
        few = run.events(columns=["path", "rank"])
        harness.compare("columns", few.columns, ("rank", "path"))
        harness.compare("ranks of columns", list(few["rank"]), [row["rank"] for row in every])
        frame = run.frames(few["path"][0])[0]
        harness.compare("frame", (frame.function, os.path.basename(frame.file)), ("main", "ring.c"))
        threads = run.threads().to_dict()
        harness.compare("threads", (threads["rank"], sum(threads["events"])), (list(range(RANKS)), len(every)))
        for wrong in ({"ranks": RANKS}, {"ranks": [-1]}, {"columns": ["nothing"]}):
            with raising(ValueError):
                run.events(**wrong)
        with raising(ValueError):
            run.waits(region="nowhere")
        with raising(IndexError):
            run.frames(1 << 31)


def test_region(bench):
    """Results of a region equal `refrain report --region`."""
    _, archive = bench.record("openmpi", 2, [bench.program("regions", "openmpi")])
    with module(bench).open(archive) as run:
        name = run.regions().decoded("region")[0]
        report = json.loads(bench.verb("report", "--json", f"--region={name}", archive))
        calls = collections.Counter(dict(zip(run.functions(region=name).decoded("function"),
                                             run.functions(region=name)["calls"])))
        harness.compare("calls", sum(calls.values()), sum(row["calls"] for row in report["call_paths"]))


def test_names(bench):
    """Bytes that are no letters are told as the tool tells them."""
    program = bench.program("names", "openmpi")
    _, archive = bench.record("openmpi", 2, [program, os.fsdecode(b"gr\xc3\xb6\xc3\x9fe\xff")])
    with module(bench).open(archive) as run:
        harness.compare("command", run.command.split()[-1], "größe\\xff")


# ---- errors ----

def test_closed(bench):
    refrain, archive = module(bench), ring(bench)
    run = refrain.open(archive)
    table, batches = run.events(), run.event_batches(rows=3)
    next(batches)
    run.close()
    run.close()
    harness.compare("closed", run.closed, True)
    for use in (run.events, run.messages, run.waits, run.threads, lambda: run.frames(0), lambda: next(batches)):
        with raising(refrain.Error, code=refrain.ErrorCode.USAGE, file=archive):
            use()
    assert table.decoded("function")[0] == "MPI_Init", "a table stays"


def test_no_archive(bench):
    refrain = module(bench)
    nothing, text = bench.path("nothing.rfn"), bench.fresh("text.rfn")
    with open(text, "w", encoding="ascii") as file:
        file.write("This is no archive. " * 100)
    with raising(refrain.Error, code=refrain.ErrorCode.IO, file=nothing, rank=None):
        refrain.open(nothing)
    with raising(refrain.Error, code=refrain.ErrorCode.CORRUPT):
        refrain.open(text)


def test_codes(_bench):
    """The errors, tables and kinds of names of the headers."""
    with open(os.path.join(ROOT, "include", "refrain", "error.h"), encoding="ascii") as file:
        names = re.findall(r"^    X\((\w+), \"", file.read(), re.MULTILINE)
    refrain = module(_bench)
    harness.compare("errors", {code.name: int(code) for code in refrain.ErrorCode},
                    {name: -99 + i for i, name in enumerate(names)})
    with open(os.path.join(ROOT, "include", "refrain", "columns.h"), encoding="ascii") as file:
        header = file.read()
    from refrain import _run  # pylint: disable=import-error,import-outside-toplevel
    tables_ = re.findall(r"RFN_COLUMNS_(\w+)", re.search(r"enum rfn_column_table \{(.*?)\};", header, re.DOTALL).group(1))
    harness.compare("tables", [getattr(_run, name) for name in tables_[:-1]], list(range(len(tables_) - 1)))
    kinds = re.findall(r"RFN_NAMES_(\w+)", re.search(r"enum rfn_column_names \{(.*?)\};", header, re.DOTALL).group(1))
    harness.compare("names", (kinds[_run.PATH_NAMES], kinds[_run.REGION_NAMES]), ("PATHS", "REGIONS"))


def test_cut(bench):
    """An archive that was cut short warns, and has the events of some whole streams."""
    refrain, archive = module(bench), ring(bench)
    with refrain.open(archive) as run:
        every = list(run.events().rows())
    with open(archive, "rb") as file:
        data = file.read()
    warned = 0
    for length in range(len(data) - 1, 0, -max(len(data) // 40, 1)):
        path = bench.fresh("cut.rfn")
        with open(path, "wb") as file:
            file.write(data[:length])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                run = refrain.open(path)
            except refrain.Error as error:
                assert error.code in (refrain.ErrorCode.INCOMPLETE, refrain.ErrorCode.CORRUPT), error
                continue
            with run:
                harness.compare("complete", (run.complete, bool(run.incomplete_because)), (False, True))
                for row in run.events().rows():
                    expected = [other for other in every if (other["rank"], other["index"]) == (row["rank"], row["index"])]
                    harness.compare("event", {**row, "path": None}, {**expected[0], "path": None})
                run.waits()
            harness.compare("warnings", {w.category for w in caught}, {refrain.IncompleteWarning})
            harness.compare("where", {os.path.basename(w.filename) for w in caught}, {"test_python_module.py"})
            warned += 1
    assert warned, "no cut archive could be opened"


READS = """
import random, sys, warnings
import refrain
warnings.simplefilter("ignore")
path, copy = sys.argv[1], sys.argv[2]
data, draw, errors = open(path, "rb").read(), random.Random(5), 0
for _ in range(int(sys.argv[3])):
    bad = bytearray(data)
    for _ in range(draw.choice((1, 1, 3, 30))):
        bad[draw.randrange(len(bad))] = draw.randrange(256)
    with open(copy, "wb") as file:
        file.write(bad)
    try:
        with refrain.open(copy) as run:
            run.events(limit=20000).to_dict(), run.threads().to_dict()
            for table in (run.messages, run.waits, run.causes, run.call_paths, run.functions, run.per_rank, run.regions):
                table().to_dict()
    except refrain.Error as error:
        assert str(error) and error.code < 0
        errors += 1
print(errors)
"""


def test_damaged(bench):
    """Of damaged archives there are errors or tables, never a crash."""
    errors = 0
    for name in ("full", "reduced", "clustered", "recovered"):
        archive = os.path.join(harness.HERE, "damage", "archives", name)
        errors += int(script(bench, READS, archive, bench.fresh("bad.rfn"), "60", timeout=300))
    assert errors > 100, f"only {errors} errors"


# ---- threads, libraries, versions ----

def test_threads(bench):
    """Threads read one run at a time, and one of them may close it."""
    refrain, archive = module(bench), ring(bench)
    failed, run = [], refrain.open(archive)
    whole = list(run.events().rows())

    def read():
        try:
            while True:
                if list(run.events().rows()) != whole or len(run.per_rank()) != RANKS:
                    failed.append("another table")
        except refrain.Error as error:
            if error.code != refrain.ErrorCode.USAGE:
                failed.append(str(error))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        run.messages()
    run.close()
    for thread in threads:
        thread.join(60)
    harness.compare("failures", failed, [])


FORGETS = """
import gc, os, sys
import refrain
def files():
    return sum(os.path.realpath(f"/proc/self/fd/{name}") == os.path.realpath(sys.argv[1]) for name in os.listdir("/proc/self/fd"))
runs = [refrain.open(sys.argv[1]) for _ in range(3)]
before = files()
del runs
gc.collect()
print(before, files())
left = refrain.open(sys.argv[1])
"""


def test_forgotten(bench):
    """Runs that nobody closes are closed when nobody has them, or when Python ends."""
    before, after = map(int, script(bench, FORGETS, ring(bench)).split())
    harness.compare("files", (before in (0, 3), after), (True, 0))


WITHOUT = """
import sys
sys.modules["numpy"] = sys.modules["pandas"] = None
import refrain
with refrain.open(sys.argv[1]) as run:
    table = run.events()
    for convert in (table.to_numpy, table.to_records, table.to_pandas):
        try:
            convert()
            print("converted")
        except ImportError as error:
            assert "to_dict" in str(error)
    print(len(table.to_dict()["rank"]))
"""


def test_without_numpy(bench):
    archive = ring(bench)
    harness.compare("events", int(script(bench, WITHOUT, archive)), len(bench.dump(archive)))


WITH = """
import json, sys
import numpy, pandas, refrain
with refrain.open(sys.argv[1]) as run:
    table, threads = run.events(), run.threads()
    none = run.events(ranks=[])
arrays, records, frame = table.to_numpy(), table.to_records(), table.to_pandas()
assert all((arrays[name] == records[name]).all() for name in table.columns)
assert all(arrays[name].ctypes.data == table[name].buffer_info()[0] for name in table.columns)
assert arrays["rank"].dtype == numpy.int32 and arrays["enter_ns"].dtype == numpy.int64
assert list(frame.columns) == list(table.columns)
assert numpy.shares_memory(frame["enter_ns"].to_numpy(), arrays["enter_ns"])
for name in table.columns:
    values = frame[name].astype(object).where(frame[name].notna(), None).tolist()
    assert values == table.decoded(name), name
assert isinstance(frame["function"].dtype, pandas.CategoricalDtype)
assert len(none.to_pandas()) == len(none.to_records()) == 0 and list(none.to_pandas().columns) == list(table.columns)
assert threads.to_pandas()["host"].notna().all()
from refrain import Table
import array
same = Table("names", {"name": array.array("i", [0, 1, 2, 3, -1])}, {"name": ["a", None, "a", "b"]}, 5).to_pandas()
assert same["name"].astype(object).where(same["name"].notna(), None).tolist() == ["a", None, "a", "b", None]
print(json.dumps(frame.groupby("function", observed=True)["calls"].sum().to_dict()))
"""


def test_numpy_and_pandas(bench):
    archive = ring(bench)
    found = json.loads(script(bench, WITH, archive, python=PYTHON))
    harness.compare("calls", found, harness.count_calls(bench.dump(archive)))


def test_no_library(bench):
    """A library that is not there, or is another one, is told when an archive is opened."""
    for place in ("/nowhere/librefrain.so.0", "libc.so.6"):
        lines = ("import refrain\ntry:\n    refrain.open('x')\nexcept refrain.Error as error:\n"
                 "    print(error.code.name, error)")
        run = bench.run([sys.executable, "-c", lines], env={**environment(bench), "REFRAIN_LIBRARY": place}, check=True)
        harness.compare(place, (run.out.split()[0], "REFRAIN_LIBRARY" in run.out), ("NOTFOUND", True))


def test_structures(bench):
    """The module lays out structures as the headers do."""
    module(bench)
    from refrain import _library  # pylint: disable=import-error,import-outside-toplevel
    pairs = (("rfn_diag", _library.Diag), ("rfn_column_info", _library.Column), ("rfn_fact", _library.Fact),
             ("rfn_location", _library.Location), ("rfn_path", _library.Path), ("rfn_text", _library.Text),
             ("rfn_event_choice", _library.EventChoice))
    lines = [f"sizeof(struct {name})" for name, _ in pairs]
    lines += [f"offsetof(struct {name}, {field})" for name, structure in pairs for field, _ in structure._fields_]
    expected = [ctypes.sizeof(structure) for _, structure in pairs]
    expected += [getattr(structure, field).offset for _, structure in pairs for field, _ in structure._fields_]
    path, program = bench.fresh("structures.c"), bench.fresh("structures")
    with open(path, "w", encoding="ascii") as file:
        file.write("#include <refrain/columns.h>\n#include <refrain/text.h>\n#include <stdio.h>\nint main(void)\n{\n" +
                   "".join(f'    printf("%zu\\n", {line});\n' for line in lines) + "}\n")
    bench.run(["gcc", "-std=c11", "-I", harness.INCLUDE, "-o", program, path], check=True)
    found = map(int, bench.run([program], check=True).out.split())
    harness.compare("layout", dict(zip(lines, found)), dict(zip(lines, expected)))


def test_old_python(_bench):
    """The sources parse as Python 3.8."""
    for path in glob.glob(os.path.join(SOURCES, "refrain", "*.py")):
        with open(path, encoding="utf-8") as file:
            ast.parse(file.read(), path, feature_version=(3, 8))


def test_public_symbols(bench):
    """The shared library has the functions that public headers declare, and the recorders have none of them."""
    def symbols(name):
        command = ["nm", "-D", "--defined-only", os.path.join(bench.build, "lib", name)]
        listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        return {line.split()[2] for line in listed.splitlines()}

    declared, named = set(), set()
    for path in glob.glob(os.path.join(ROOT, "include", "refrain", "*.h")):
        with open(path, encoding="ascii") as file:
            code = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        named |= set(re.findall(r"\brfn_\w+(?=\()", code))
        declared |= set(re.findall(r"^(?!static|#)[a-z].*?\b(rfn_\w+)\(", code, re.MULTILINE))
    shared = symbols("librefrain.so.0")
    harness.compare("exported, and not declared", shared - named, set())
    harness.compare("declared, and not exported", declared - shared, set())
    for recorder in glob.glob(os.path.join(bench.build, "lib", "librefrain-*.so")):
        harness.compare(recorder, {name for name in symbols(os.path.basename(recorder)) if name.startswith("rfn_")}, set())
