"""README.md, doc/tutorial.md and doc/python.md show what the tool does: their commands run, and print output of the shape shown.
Links of all documents resolve. The first ones to be read read well (tools/words.py).

A command is a line "    $ ..." of an indented block; the lines below it, up to the next command or the end of
the block, are its output. Commands of a document run in one shell, in the order of the document. Of
each line shown the first words must begin a line that is printed, in the same order, and each FILE:LINE must be
printed. Numbers and their units may differ; a line "..." stands for any lines; a line indented by three blanks
continues the one before, and may break elsewhere.
"""
import glob
import importlib
import os
import re
import sys

import harness

ROOT = os.path.dirname(harness.HERE)
FIRST_WORDS = 2
COLUMNS = "92"  # of the pages that the documents show
UNITS = {"s", "ms", "us", "ns", "min", "B", "KiB", "MiB", "GiB", "%"}
PLACE = re.compile(r"[\w.]+\.c:\d+")
MARK = "\x01"  # ends the output of a command


def commands(document):
    """(command, lines shown below it) of a document; lines without their indentation."""
    shown = None
    with open(os.path.join(ROOT, document), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("    $ "):
                shown = []
                yield line[6:], shown
            elif line.startswith("    ") and shown is not None:
                shown.append(line[4:])
            elif line:
                shown = None


def first_words(line):
    """What a line begins with that is the same in every run."""
    words = [re.sub(r"\d[\d.,]*", "#", word) for word in line.split()]
    return [word for word in words if any(map(str.isalpha, word)) and word not in UNITS][:FIRST_WORDS]


def compare_shape(command, shown, printed):
    """The lines shown, in their order, among those printed."""
    rest = iter(printed)
    for line in shown:
        words = first_words(line)
        continues = re.match(r" {3}\S", line)
        if line != "..." and not continues and words and all(first_words(found) != words for found in rest):
            raise harness.Failure(f"$ {command}\n  shown: {line}\n  not printed there:\n" + "\n".join(printed))
    text = "\n".join(printed)
    missing = [place for place in PLACE.findall("\n".join(shown)) if place not in text]
    if missing:
        raise harness.Failure(f"$ {command}\n  {', '.join(missing)} not printed:\n{text}")


def sources(bench):
    """A folder with what the commands use of Refrain's: the built tool and examples; and Open MPI as mpicc and mpirun."""
    root = bench.fresh("sources")
    os.makedirs(os.path.join(root, "build"))
    os.makedirs(os.path.join(root, "bin"))
    openmpi = harness.FLAVOURS["openmpi"]
    for name in ("refrain", "lib"):
        os.symlink(os.path.join(bench.build, name), os.path.join(root, "build", name))
    for name in ("examples", "python"):
        os.symlink(os.path.join(ROOT, name), os.path.join(root, name))
    for name, words in (("mpicc", [openmpi.mpicc]), ("mpirun", openmpi.mpirun)):
        with open(os.path.join(root, "bin", name), "w", encoding="ascii") as script:
            script.write(f'#!/bin/sh\nexec {" ".join(words)} "$@"\n')
        os.chmod(script.name, 0o755)
    return root


def run_commands(bench, document, before=""):
    """Runs the commands of `before`, then a document's, and compares what these print. Returns how many they are."""
    root, steps = sources(bench), list(commands(document))
    path = os.pathsep.join([os.path.join(root, "bin"), os.path.join(root, "build"), os.environ["PATH"]])
    script = f"exec 2>&1\nset -e\n{before}\n" + "".join(f"{command}\nprintf '{MARK}'\n" for command, _ in steps)
    run = bench.run(["bash", "-c", script], cwd=root, env={"PATH": path, "COLUMNS": COLUMNS, "NO_COLOR": "1"})
    printed = run.out.split(MARK)
    if run.code != 0:
        raise harness.Failure(f"{document}: exit {run.code}: {steps[len(printed) - 1][0]}\n{printed[-1]}")
    for (command, shown), text in zip(steps, printed):
        compare_shape(command, shown, text.splitlines())
    return len(steps)


@harness.real_time
def test_tutorial(bench):
    if run_commands(bench, "doc/tutorial.md") < 10:
        raise harness.Failure("doc/tutorial.md has lost its commands")


@harness.real_time
def test_readme(bench):
    """Its first screen is of the tutorial's program, and does not tell how to compile that."""
    compiled = "mkdir tutorial; cp examples/tiles.c tutorial; cd tutorial; mpicc -O2 -g -o tiles tiles.c"
    if run_commands(bench, "README.md", compiled) < 4:
        raise harness.Failure("README.md has lost its commands")


@harness.real_time
def test_python(bench):
    if run_commands(bench, "doc/python.md", "export PYTHONDONTWRITEBYTECODE=1") < 4:
        raise harness.Failure("doc/python.md has lost its commands")


# ---- links ----

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def documents():
    folders = ("*.md", "doc/*.md", "doc/study/*.md", "src/**/*.md")
    return sorted(path for folder in folders for path in glob.glob(os.path.join(ROOT, folder), recursive=True))


def anchors(path):
    """What links to a heading of a document say, in GitHub's way."""
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ (.*)$", file.read(), re.MULTILINE)
    texts = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "") for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


def broken_links(path):
    with open(path, encoding="utf-8") as file:
        links = LINK.findall(re.sub(r"^    .*$", "", file.read(), flags=re.MULTILINE))
    for link in links:
        name, _, anchor = link.partition("#")
        target = os.path.join(os.path.dirname(path), name) if name else path
        if "://" not in link and (not os.path.exists(target) or anchor and anchor not in anchors(target)):
            yield f"{os.path.relpath(path, ROOT)}: {link}"


def test_links(_bench):
    broken = [link for path in documents() for link in broken_links(path)]
    harness.compare("links to nothing", broken, [])


# ---- words ----

def words_tool():
    sys.path.append(os.path.join(ROOT, "tools"))
    return importlib.import_module("words")


def test_words(_bench):
    """tools/words.py counts prose, and leaves out what a tool prints, targets of links, and macros."""
    count = words_tool().Count
    page = count("page.md", "What is\nthere [is whom](that-which.md).\n\n    what is printed\n" + "| long" * 40 + "\n")
    harness.compare("phrases", page.phrases, ["what is there", "whom"])
    harness.compare("long lines", (page.words, page.long_lines), (5 + 40, []))
    manual = count("page.1", ".TH WHAT IS\n.B what\nis \\fBso\\fR that\n.nf\nthose of\n.fi\n" + "long " * 30)
    harness.compare("man page", (manual.phrases, manual.long_lines), (["what is", "so that"], [(7, 150)]))
    header = count("page.h", "int those_of; /* what is\n   here, of which */\n")
    harness.compare("header", (header.words, header.phrases), (5, ["what is", "of which"]))


GUIDES = ("README.md", "doc/glossary.md", "doc/limits.md", "doc/measurements.md", "doc/python.md", "doc/tutorial.md")
MOST_STILTED = 3  # phrases per 1,000 words


def test_guides_read_well(bench):
    """What newcomers read first; README is short."""
    run = bench.run([sys.executable, os.path.join(ROOT, "tools", "words.py"), "--limit", str(MOST_STILTED),
                     *(os.path.join(ROOT, guide) for guide in GUIDES)])
    if run.code != 0:
        raise harness.Failure(run.err)
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        harness.compare("README.md has at most 180 lines", len(file.readlines()) <= 180, True)


def test_glossary_is_in_order(_bench):
    with open(os.path.join(ROOT, "doc", "glossary.md"), encoding="utf-8") as file:
        terms = re.findall(r"^- \*\*(.*?)\*\*: ", file.read(), re.MULTILINE)
    harness.compare("order", terms, sorted(set(terms), key=str.lower))
    harness.compare("at most 60 terms", 0 < len(terms) <= 60, True)
