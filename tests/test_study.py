"""The tables and plots of doc/study.md and its note say what the CSV files say. (The study itself is `make study`.)"""
import os
import sys

import harness

sys.path.insert(0, os.path.join(harness.HERE, "..", "bench"))
import study  # noqa: E402  pylint: disable=wrong-import-position
import study_plots  # noqa: E402  pylint: disable=wrong-import-position
import study_tables  # noqa: E402  pylint: disable=wrong-import-position

PROGRAMS = 18


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def test_tables(bench):
    """Every table of the pages is the one that the files make, and none is missing."""
    marks = []
    for path in study_tables.PAGES:
        text = text_of(path)
        marks += [found.group(2) for found in study_tables.MARK.finditer(text)]
        if study_tables.page(path, study.FOLDER, study.METHODS) != text:
            raise harness.Failure(f"{os.path.relpath(path)} is out of date: bench/study.py --page")
    harness.compare("tables", sorted(marks), sorted(study_tables.tables(study.FOLDER, study.METHODS)))


def test_plots(bench):
    folder = bench.path("plots")
    os.makedirs(folder)
    for name in os.listdir(study.FOLDER):
        if name.endswith(".csv"):
            os.symlink(os.path.join(study.FOLDER, name), os.path.join(folder, name))
    study_plots.write(folder, study.METHODS)
    plots = {name for name in os.listdir(folder) if name.endswith(".svg")}
    harness.compare("plots", plots, {n for n in os.listdir(study.FOLDER) if n.endswith(".svg")})
    for name in plots:
        if text_of(os.path.join(folder, name)) != text_of(os.path.join(study.FOLDER, name)):
            raise harness.Failure(f"{name} is out of date: bench/study.py --page")


def test_complete(bench):
    """Every case of the study is there, for every program."""
    wanted = {}
    for case in study.cases():
        wanted.setdefault(case.study, set()).add(tuple(case.key().values()))
    for name, cases in wanted.items():
        rows = study_plots.rows(study.FOLDER, name)
        harness.compare(f"cases of {name}", {tuple(row[k] for k in study.Case("", "", "").key())
                                             for row in rows}, cases)
        harness.compare(f"rows of {name}", len(rows), PROGRAMS * len(cases))
