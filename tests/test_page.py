"""What a user can choose of the report's page: how many rows, one table as CSV, a pager, colours."""
import csv
import io
import json

import harness

TABLES = ["stories", "wait_states", "causes", "critical_path", "time_per_rank", "regions", "functions",
          "call_paths", "message_sizes", "communication_matrix", "one_sided_matrix", "hosts"]


def recorded(bench, name="accesses", ranks=3):
    return bench.once(f"{name}-page", (), lambda out: bench.record(
        "openmpi", ranks, [bench.program(name, "openmpi")], archive=out))


def rows_of(value):
    """The rows of a table in JSON, as dictionaries of texts by column."""
    if isinstance(value, dict) and "parts" in value:
        value = value["parts"]
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
        found = list(csv.DictReader(io.StringIO(bench.verb("report", f"--csv={table}", archive), newline="")))
        wanted = list(rows_of(whole[table]))
        harness.compare(f"rows of {table}", len(found), len(wanted))
        for row, expected in zip(found, wanted):
            for name, value in expected.items():
                assert same(row[name], value), (table, name, row[name], value)
        lengths[table] = len(found)
    harness.compare("rows", [lengths[table] for table in ("time_per_rank", "one_sided_matrix", "hosts")], [3, 4, 1])
    help_ = bench.verb("report", "--csv=help")
    harness.compare("the list of tables", help_.strip().split(", "), TABLES)
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
    told = "shares of all ranks' time are shares of the time of all these threads"
    pages = {name: " ".join(bench.verb("report", recorded(bench, name, 2)).split())
             for name in ("threads", "names")}
    harness.compare("with and without threads", [pages[name].count(told) for name in pages], [1, 0])
