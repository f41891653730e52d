"""What a user can choose of the report's page: how many rows, one table as CSV, a pager, colours."""
import contextlib
import csv
import fcntl
import io
import json
import os
import re
import struct
import subprocess
import termios

import harness

TABLES = ["stories", "wait_states", "causes", "critical_path", "behaviour", "alike", "time_per_rank", "by_host",
          "regions", "files", "windows", "core_windows", "functions", "call_paths", "message_sizes",
          "communication_matrix", "one_sided_matrix", "hosts", "children"]
SAMPLED = ["sampling_all", "sampling_categories", "sampling_pairs", "sampling_call_paths", "sampling_sizes",
           "sampling_collectives", "sampling_samples"]  # test_sampling.py looks at them


def recorded(bench, name="accesses", ranks=3):
    return bench.once(f"{name}-page", (), lambda out: bench.record(
        "openmpi", ranks, [bench.program(name, "openmpi")], archive=out))


def rows_of(value):
    """The rows of a table in JSON, as dictionaries of texts by column."""
    for inner in ("parts", "kinds"):
        if isinstance(value, dict) and inner in value:
            value = value[inner]
    lists = value if isinstance(value, dict) else {None: value}
    for kind, rows in lists.items():
        for row in rows:
            yield ({"kind": kind} if kind else {}) | flat(row, "")


def flat(row, prefix):
    cells = {}
    for name, value in row.items():
        if isinstance(value, dict):
            cells |= flat(value, f"{prefix}{name}.")
        else:
            cells[prefix + name] = value
    return cells


def same(text, value):
    if value is None:
        return text == ""
    if isinstance(value, str):
        return text == value
    return json.loads(text) == value


def test_csv(bench):
    archive = recorded(bench)
    whole = json.loads(bench.verb("report", "--json", archive))
    lengths = {}
    for table in TABLES:
        if table == "core_windows":
            continue  # which only CSV has
        found = list(csv.DictReader(io.StringIO(bench.verb("report", f"--csv={table}", archive), newline="")))
        wanted = list(rows_of(whole[table]))
        harness.compare(f"rows of {table}", len(found), len(wanted))
        for row, expected in zip(found, wanted):
            for name, value in expected.items():
                assert same(row[name], value), (table, name, row[name], value)
        lengths[table] = len(found)
    harness.compare("rows", [lengths[table] for table in ("time_per_rank", "one_sided_matrix", "hosts",
                                                              "by_host", "alike", "children")], [3, 4, 1, 1, 3, 0])
    help_ = bench.verb("report", "--csv=help")
    harness.compare("the list of tables", help_.split(), TABLES + SAMPLED)
    wrong = bench.run([bench.refrain, "report", "--csv=nix", archive])
    harness.compare("a wrong name", (wrong.code, "there is no table 'nix'; there are stories" in wrong.err), (2, True))


def test_all(bench):
    archive = recorded(bench)
    functions = json.loads(bench.verb("report", "--json", archive))["functions"]
    assert len(functions) > 7, functions
    rows = {}
    for option in ("--top=2", "--top=7", "--all"):
        page = bench.verb("report", option, archive)
        table = page.split("Which MPI functions")[1].split("\n\n")[0].split("\n")
        rows[option] = len(table) - 2
        harness.compare(f"{option}: more are announced", "--all shows all" in table[0], option != "--all")
    harness.compare("rows", rows, {"--top=2": 2, "--top=7": 7, "--all": len(functions)})
    harness.compare("without an option", bench.verb("report", archive), bench.verb("report", "--top=7", archive))


def test_threads_are_told(bench):
    """Shares of all ranks' time count each thread, which is said where a rank has several."""
    told = "\"all ranks' time\" is the time of all these threads"
    pages = {name: " ".join(bench.verb("report", recorded(bench, name, 2)).split())
             for name in ("threads", "names")}
    harness.compare("with and without threads", [pages[name].count(told) for name in pages], [1, 0])


def on_terminal(bench, archive, *words, lines=24, env=()):
    """(exit status, what a terminal gets) of report."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 100, 0, 0))
    chosen = {"COLUMNS": None, "LINES": None, "NO_COLOR": None, "TERM": "xterm", "REFRAIN_PAGER": "cat",
              **dict(env)}
    environment = {name: value for name, value in {**os.environ, **chosen}.items() if value is not None}
    with subprocess.Popen([bench.refrain, *words, archive], stdout=theirs, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, env=environment) as process:
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):  # EIO: nobody writes any more
            while got := os.read(ours, 65536):
                said += got
        process.wait(timeout=60)
    os.close(ours)
    return process.returncode, said.decode().replace("\r\n", "\n")


def test_pager(bench):
    """Text that is longer than the screen goes through the pager, and nothing else does."""
    archive = recorded(bench)
    seen = bench.path("seen-by-pager")
    pager = (("REFRAIN_PAGER", f"cat >{seen}"), ("NO_COLOR", "1"))
    for words in (("report",), ("info",), ("dump",), ("compare", archive)):
        verb = words[0]
        plain = bench.run([bench.refrain, *words, archive], env={"COLUMNS": "100", **dict(pager)}, cores=True).out
        assert not os.path.exists(seen), f"{verb} starts a pager where there is no terminal"
        harness.compare(f"{verb} on a terminal", on_terminal(bench, archive, *words, lines=9, env=pager), (0, ""))
        with open(seen, encoding="utf-8") as file:
            harness.compare(f"the pager of {verb}", file.read(), plain)
        os.remove(seen)
        harness.compare(f"{verb} on a large screen",
                        on_terminal(bench, archive, *words, lines=1000, env=pager), (0, plain))
        code, shown = on_terminal(bench, archive, *words, lines=9, env=(("REFRAIN_PAGER", "no-such-pager"), pager[1]))
        harness.compare(f"{verb}: a pager that does not exist loses nothing", (code, plain in shown), (0, True))
        assert not os.path.exists(seen), f"{verb} starts a pager for what the screen has room for"
    for option in ("--json", "--csv=functions"):
        on_terminal(bench, archive, "report", option, lines=3, env=pager)
        assert not os.path.exists(seen), f"{option} starts a pager"
    # PAGER is the second choice; a pager's status is not the tool's.
    general = (("PAGER", f"cat >{seen}; exit 7"), ("REFRAIN_PAGER", None))
    harness.compare("status", on_terminal(bench, archive, "report", env=general), (0, ""))
    assert os.path.exists(seen), "PAGER is not started"


def test_colors(bench):
    archive = recorded(bench)
    def page_with(*options):
        return bench.run([bench.refrain, "report", *options, archive], check=True, cores=True).out

    never, always = page_with("--color=never"), page_with("--color=always")
    harness.compare("without the escapes", re.sub("\033\\[[0-9;]*m", "", always), never)
    assert "\033[1mWhich MPI functions take the time?" in always, always
    harness.compare("in a pipe", page_with(), never)
    for env, colored in (((), True), ((("NO_COLOR", "1"),), False), ((("NO_COLOR", ""),), True),
                         ((("TERM", "dumb"),), False)):
        _, page = on_terminal(bench, archive, "report", env=env)
        harness.compare(f"colours with {env}", page, always if colored else never)


def names_of(value):
    """The names of all members; those of waits by pattern are patterns."""
    if isinstance(value, list):
        return set().union(*map(names_of, value))
    if not isinstance(value, dict):
        return set()
    return set(value) | set().union(*(names_of(inner) for name, inner in value.items() if name != "by_pattern"))


def test_json_is_documented(bench):
    """refrain-json(5) has all members that there are, but for how times were reduced."""
    with open(os.path.join(os.path.dirname(harness.HERE), "doc", "man", "refrain-json.5"), encoding="ascii") as file:
        heads = re.findall(r"^\.TP\n(.*)", file.read(), re.M)
    documented = {name for head in heads for name in re.findall(r"\\fB([a-z_]+)\\fR", head)}
    found = set()
    for name, ranks in (("accesses", 3), ("threads", 2), ("regions", 2)):
        report = bench.verb("report", "--json", "--behaviour", recorded(bench, name, ranks))
        found |= names_of({**json.loads(report), "reduced": None})
    assert len(found) > 100, found
    harness.compare("members without a word", found - documented, set())
