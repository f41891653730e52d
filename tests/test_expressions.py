"""Expressions that users add to clustering: formulas on the command line, and of plug-ins.

programs/clusters/reversed.c has partners, amounts and colours for which no form of Refrain's own fits. Of
its P ranks, which make the same calls, each has its own parameters.
"""
import json
import os

import harness
import rfn_formula
import test_clusters
import test_reader
import test_smpi

SIMULATED = True
SOURCE = os.path.join(test_clusters.FOLDER, "reversed.c")
EXAMPLE = os.path.join(harness.HERE, "..", "examples", "plugin.c")
COLOUR = "r * (r + 1) / 2 % 4"
AMOUNT = "r*(r+1)/2 + 1"
REVERSED_16 = "r>>3&1 | r>>1&2 | r<<1&4 | r<<3&8"
PLUGIN = """
#include <refrain/plugin.h>
#include <stdio.h>
int NAME(const struct refrain_parameter *parameter, char *text, size_t size)
{
    return snprintf(text, size, "%s", TEXT);
}
"""


def simulate(bench, ranks):
    program = test_smpi.smpi_program(bench, SOURCE)
    return test_smpi.smpi_run(bench, program, ranks, ["3"], env={"REFRAIN_CLUSTER": "no"})


def plugin(bench, source, name, *flags):
    return bench.compiled(name, ["cc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared",
                                 "-fPIC", "-I", harness.INCLUDE, *flags, source])


def example(bench):
    return plugin(bench, EXAMPLE, "plugin.so")


def saying(bench, text, name="refrain_expression"):
    """A plug-in that says this of every parameter."""
    source = bench.fresh("saying.c")
    with open(source, "w", encoding="ascii") as file:
        file.write(PLUGIN)
    return plugin(bench, source, "saying.so", f"-DTEXT={json.dumps(text)}", f"-DNAME={name}",
                  "-Wno-unused-parameter")


def words(*texts):
    return [word for text in texts for word in ("--expression", text)]


def told(bench, archive, *options):
    return json.loads(bench.verb("info", "--json", "--clusters", *options, archive))


def texts(facts):
    return {p["name"]: p["expression"]["text"] for p in facts["clusters"][0]["parameters"]
            if p["expression"]}


def test_clusters_found(bench):
    """After expressions there is one sub-cluster: by formulas alone, or by a plug-in and a formula."""
    for ranks in (16, 64):
        archive = simulate(bench, ranks)
        harness.compare("without", test_clusters.counts(told(bench, archive)), (1, ranks, ranks))
        facts = told(bench, archive, "--plugin", example(bench), *words(COLOUR))
        harness.compare("with", test_clusters.counts(facts), (1, ranks, 1))
        harness.compare("colour", texts(facts)["color"], COLOUR.replace(" ", ""))
        # Colour, both partners, and the least and most bytes; the number of the part is the archive's.
        found = facts["expressions"]
        harness.compare("found", (found["parameters"], found["found"], found["malformed"]), (5, 5, 0))
        for name in ("dest", "source"):
            formula = rfn_formula.Formula(texts(facts)[name])
            harness.compare(name, sorted(formula(r, ranks) for r in range(ranks)), list(range(ranks)))
    facts = told(bench, simulate(bench, 16), *words("n/0", AMOUNT, COLOUR, REVERSED_16))
    harness.compare("by formulas", test_clusters.counts(facts), (1, 16, 1))
    harness.compare("forms", {p["expression"]["form"] for p in facts["clusters"][0]["parameters"]
                              if p["name"] != "key"}, {"formula"})


def reduced(bench, archive, *options):
    out = bench.fresh("reduced.rfn")
    facts = json.loads(bench.verb("reduce", "--json", "--cluster", *options, archive, "-o", out))
    bench.verb("verify", out)
    return out, facts["expressions"]


def test_stored(bench):
    """What is stored is exact, for either reader and without the plug-in, and shorter."""
    archive = simulate(bench, 128)
    expected = test_reader.dump(bench, archive)
    bare, none = reduced(bench, archive)
    harness.compare("without", none, None)
    out, found = reduced(bench, archive, "--plugin", example(bench), *words(COLOUR))
    harness.compare("dumps", test_reader.dump(bench, out) == expected, True)
    test_reader.compare(bench, out, "formulas")
    # Partners, of either direction, and amounts; colours are shorter as a table, as they are periodic.
    if not found["found"] >= found["stored"] >= 3 or os.path.getsize(out) >= os.path.getsize(bare):
        raise harness.Failure(f"stored {found}, {os.path.getsize(out)} bytes, without "
                              f"{os.path.getsize(bare)}")
    known = {name: rfn_formula.Formula(text) for name, text in texts(told(bench, out)).items()
             if name in ("dest", "sendcount")}
    harness.compare("partners", [known["dest"](r, 128) for r in range(128)],
                    [int(f"{r:07b}"[::-1], 2) for r in range(128)])
    harness.compare("amounts", [known["sendcount"](r, 128) for r in range(128)],
                    [r * (r + 1) // 2 + 1 for r in range(128)])
    # What is clustered already, and again: it keeps what it has.
    twice, found = reduced(bench, bare, "--plugin", example(bench), *words(COLOUR))
    harness.compare("clustered later", (found["stored"] >= 3, test_reader.dump(bench, twice) == expected),
                    (True, True))
    again, _ = reduced(bench, twice)
    harness.compare("again", (texts(told(bench, again))["dest"], os.path.getsize(again)),
                    (texts(told(bench, out))["dest"], os.path.getsize(twice)))
    page = bench.verb("info", "--clusters", out)
    harness.compare("page", "dest = r>>6&1|r>>4&2|" in page, True)


def test_parts(bench):
    """What is taken apart and joined is stored with the formulas that it was stored with."""
    archive = simulate(bench, 128)
    out, _ = reduced(bench, archive, "--plugin", example(bench), *words(COLOUR))
    parts = [bench.fresh("part.rfn") for _ in range(2)]  # of 64 ranks a table is shorter
    for part, ranks in zip(parts, ("1-127", "0")):
        bench.verb("reduce", "--rank", ranks, out, "-o", part)
    joined = bench.fresh("joined.rfn")
    bench.verb("merge", *parts, "-o", joined)
    harness.compare("dumps", test_reader.dump(bench, joined) == test_reader.dump(bench, archive), True)
    harness.compare("partners", texts(told(bench, joined))["dest"], texts(told(bench, out))["dest"])
    harness.compare("amounts", texts(told(bench, joined))["sendcount"], texts(told(bench, out))["sendcount"])
    if os.path.getsize(joined) > os.path.getsize(out):
        raise harness.Failure(f"{os.path.getsize(joined)} bytes, before {os.path.getsize(out)}")


def test_one_place(bench):
    """Where all ranks name the same partner, that is another offset on each, and told to be."""
    page = " ".join(bench.verb("info", "--clusters", test_clusters.simulate(bench, "workers", 6, "none")).split())
    harness.compare(f"page {page}", "source = 0 on all of them, which is another offset from each (MPI_Recv" in page, True)
    ring = bench.verb("info", "--clusters", test_clusters.simulate(bench, "open_ring", 8, "none"))
    harness.compare("where none differ", "on all of them" in ring, False)


def test_again(bench):
    """Clustering what is clustered loses nothing, with times reduced on the way, or values apart."""
    for name in ("sweep2d", "workers", "pairwise"):
        archive = test_clusters.simulate(bench, name, 12, "full")
        once, _ = reduced(bench, archive)
        for options in ([], ["--across"]):
            expected, _ = reduced(bench, archive, *options)
            out, _ = reduced(bench, once, *options)
            harness.compare(f"{name} {options}", test_reader.dump(bench, out) ==
                            test_reader.dump(bench, expected), True)
            if os.path.getsize(out) > 1.05 * os.path.getsize(expected):
                raise harness.Failure(f"{name}: {os.path.getsize(out)} bytes, at once "
                                      f"{os.path.getsize(expected)}")


def test_header(bench):
    """C++ takes what is for plug-ins, too."""
    source = bench.fresh("plugin.cpp")
    with open(source, "w", encoding="ascii") as file:
        file.write(PLUGIN)
    bench.run(["g++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", harness.INCLUDE, '-DTEXT="r"',
               "-DNAME=refrain_expression", "-Wno-unused-parameter", source], check=True)


def test_few_ranks(bench):
    """Four ranks are too few for most forms, not for users'."""
    archive = simulate(bench, 4)
    facts = told(bench, archive, *words(COLOUR, AMOUNT))
    harness.compare("colour", texts(facts).get("color"), COLOUR.replace(" ", ""))
    harness.compare("amount", texts(facts).get("sendcount"), AMOUNT.replace(" ", ""))


def test_no_fit(bench):
    """What does not fit, or is no expression, is a table, and the command says so."""
    archive = simulate(bench, 16)
    expected = test_reader.dump(bench, archive)
    for text, wanted in (("r + 1", ("misfits", 0)), ("r +", ("malformed", 1))):
        library = saying(bench, text)
        out, found = reduced(bench, archive, "--plugin", library, *words("n - r"))
        harness.compare("dumps", test_reader.dump(bench, out) == expected, True)
        harness.compare("counts", (found["found"], found["stored"]), (0, 0))
        harness.compare(text, found[wanted[0]], found["parameters"])
        harness.compare("why", bool(found["first_malformed"]), bool(wanted[1]))
        run = bench.run([bench.refrain, "reduce", "--cluster", "--plugin", library, archive, "-o", out,
                         "--force"], check=True)
        harness.compare("page", ("did not fit" in run.out, "wrong expression: " in run.err),
                        (not wanted[1], bool(wanted[1])))
    if "'r +': a value is missing" not in run.err:
        raise harness.Failure(run.err)


def test_errors(bench):
    """What is wrong is told, and nothing is written."""
    archive, out = simulate(bench, 16), bench.fresh("none.rfn")
    cluster = ["reduce", "--cluster", "-o", out]
    for command, code, wanted in (
            ([*cluster, *words("r +")], 2, "'r +' is no expression: a value is missing at character 4"),
            ([*cluster, *words("rank")], 2, "there is no such name at character 1"),
            ([*cluster, *words("(" * 100)], 2, "nested too deeply"),
            (["reduce", "-o", out, *words("r")], 2, "go with --cluster"),
            (["info", *words("r")], 2, "go with --clusters"),
            ([*cluster, "--plugin", "none.so"], 1, "cannot be loaded: ./none.so"),
            ([*cluster, "--plugin", SOURCE], 1, "cannot be loaded"),
            (["info", "--clusters", "--plugin", saying(bench, "r", "another")], 1,
             "has no function refrain_expression")):
        run = bench.run([bench.refrain, *command, archive])
        if run.code != code or wanted not in run.err or os.path.exists(out):
            raise harness.Failure(f"{command}: exit {run.code}, {run.err}")
