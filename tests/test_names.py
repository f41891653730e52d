"""Names are UTF-8 in any language, bytes that are no letters are escaped one by one, and numbers have a
point, although the program has chosen a language with a comma."""
import json
import os
import re
import shutil

import harness

COMMA = """comment_char %
escape_char /
LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
"""
WORD = b"gr\xc3\xb6\xc3\x9fe\xff"


def comma(bench):
    """Variables that choose a language whose decimal point is a comma."""
    def make(folder):
        os.mkdir(folder)
        source = os.path.join(folder, "source")
        with open(source, "w", encoding="ascii") as file:
            file.write(COMMA)
        # Its status is 1, as there are no other categories.
        bench.run(["localedef", "-c", "-i", source, "-f", "ANSI_X3.4-1968", os.path.join(folder, "xx_XX")])
    return {"LOCPATH": bench.once("locales", COMMA, make), "LC_ALL": "xx_XX"}


def test_names(bench, flavour):
    folder = bench.fresh("names")
    os.mkdir(folder)
    program = os.path.join(folder, "straße")
    shutil.copy(bench.program("names", flavour), program)
    run, archive = bench.record(flavour, 2, [program, os.fsdecode(WORD)], env=comma(bench),
                                options=["--time=reduced", "--similarity=relDiff:0.25"])
    assert "1,5" in run.out, f"the program's language has no comma: {run.out}"
    assert re.search(r"merged in \d+\.\d{3} s", run.err), run.err
    report = json.loads(bench.verb("report", "--json", archive))
    harness.compare("command", report["command"].split()[-1], "größe\\xff")
    harness.compare("program", os.path.basename(report["program"]), "straße")
    for verb in ("report", "info", "dump"):
        assert "\ufffd" not in bench.verb(verb, archive), f"{verb} prints bytes that are no letters"
    events = bench.dump(archive)
    for function, name, expected in (("MPI_Comm_set_name", "comm_name", "gitter_ü\\xff"),
                                     ("MPI_File_open", "filename", "ü.dat")):
        found = {harness.parameter(event, name) for event in events if event["function"] == function}
        harness.compare(name, found, {expected})
    info = bench.verb("info", archive)
    assert "relDiff 0.25" in info, info
