"""Tables of the study (study.py), written into doc/study.md and doc/notes/study-thresholds.md between marks.

The words of the pages are written by people; what stands between `<!-- table NAME -->` and
`<!-- end -->` is made from the CSV files here, so that no number is copied by hand.
"""
import os
import re

import study_plots

DOC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "doc")
PAGES = [os.path.join(DOC, "study.md"), os.path.join(DOC, "notes", "study-thresholds.md")]
MARK = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", re.S)


def number(value, digits=3):
    """At most that many digits, no exponents."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e" in text else text


def lines_of(heading, body):
    return ["| " + " | ".join(heading) + " |", "|" + "---|" * len(heading)] + \
        ["| " + " | ".join(map(str, row)) + " |" for row in body]


def lost(chosen):
    """The programs whose trends are not all retained."""
    return ", ".join(row["program"] for row in chosen if row["trends_retained"] == "0") or "none"


def measures(chosen):
    """Size, degree, distance, programs retained."""
    return [number(study_plots.summary(chosen, "size_percent")),
            f"{study_plots.summary(chosen, 'degree_of_matching'):.4f}",
            number(study_plots.summary(chosen, "approximation_distance_us")),
            f"{study_plots.summary(chosen, 'trends_retained'):.0f}"]


def model(chosen):
    values = [float(row["model_percent"]) for row in chosen if row["model_percent"]]
    return number(study_plots.mean(values)) if values else "-"


def of_each(table, key):
    """Rows by key, in order."""
    found = {}
    for row in table:
        found.setdefault(key(row), []).append(row)
    return found.items()


def thresholds_table(folder, study):
    body = []
    for (method, threshold), chosen in of_each(
            study_plots.rows(folder, study),
            lambda row: (row["method"], study_plots.threshold_of(row))):
        body.append([method, threshold or "-", *measures(chosen), model(chosen), lost(chosen)])
    heading = ["method", "threshold", "size, %", "degree", "distance, µs", "trends of 18",
               "model, %", "lost in"]
    if study != "within":
        body = [row[:6] + row[7:] for row in body]
        heading.remove("model, %")
    return lines_of(heading, body)


def at_defaults(folder, study, methods):
    """The paper's defaults: (method, its rows)."""
    found = []
    for method, (_, within, across) in methods.items():
        threshold = across if study == "across" else within
        chosen = [row for row in study_plots.rows(folder, study) if row["method"] == method
                  and study_plots.threshold_of(row) == threshold]
        if chosen:
            found.append((method, chosen))
    return found


def defaults_table(folder, methods):
    body = []
    for method, (_, within, across) in methods.items():
        row = [method, within or "-", "-" if across is None else across]
        for study in ("within", "across", "combined"):
            chosen = dict(at_defaults(folder, study, methods)).get(method)
            row += measures(chosen) if chosen else ["-"] * 4
        body.append(row)
    heading = ["method", "T within", "T across"] + [
        f"{name}{study}" for study in ("within", "across", "combined")
        for name in ("size, % ", "degree ", "distance, µs ", "trends ")]
    return lines_of(heading, body)


def ranked(found, measure, descending):
    """Best first; equal ones with = between."""
    values = sorted(((round(study_plots.summary(chosen, measure), 4), method)
                     for method, chosen in found),
                    key=lambda pair: -pair[0] if descending else pair[0])
    words = ""
    for i, (value, method) in enumerate(values):
        if i:
            words += " = " if value == values[i - 1][0] else ", "
        words += f"{method} ({number(value, 4)})"
    return words


def rankings_table(folder, methods):
    body = []
    for study in ("within", "across", "combined"):
        found = at_defaults(folder, study, methods)
        for measure, title, descending in (
                ("size_percent", "size, %", False), ("degree_of_matching", "degree", True),
                ("approximation_distance_us", "distance, µs", False),
                ("trends_retained", "trends, of 18", True)):
            body.append([study, title, ranked(found, measure, descending)])
    return lines_of(["", "", "best first"], body)


def starts_table(folder, methods):
    """What exact starts cost and bring."""
    body = []
    exact = study_plots.rows(folder, "exact")
    for method, near in at_defaults(folder, "within", methods):
        chosen = [row for row in exact if row["method"] == method]
        body.append([study_plots.threshold_of(near[0]) and
                     f"{method}:{study_plots.threshold_of(near[0])}" or method,
                     *measures(near), *measures(chosen)])
    return lines_of(["method", "size, %", "degree", "distance, µs", "trends", "exact: size, %",
                     "degree", "distance, µs", "trends"], body)


def further_table(folder, across):
    body = []
    for (method, within, between), chosen in of_each(
            study_plots.rows(folder, "further"),
            lambda row: (row["method"], row["threshold"], row["across"])):
        if bool(between) == across:
            body.append([method, within, *([between] if across else []), *measures(chosen),
                         lost(chosen)])
    return lines_of(["method", "within", *(["across"] if across else []), "size, %", "degree",
                     "distance, µs", "trends of 18", "lost in"], body)


def tables(folder, methods):
    return {"defaults": lambda: defaults_table(folder, methods),
            "rankings": lambda: rankings_table(folder, methods),
            "within": lambda: thresholds_table(folder, "within"),
            "across": lambda: thresholds_table(folder, "across"),
            "combined": lambda: thresholds_table(folder, "combined"),
            "starts": lambda: starts_table(folder, methods),
            "further": lambda: further_table(folder, False),
            "further-combined": lambda: further_table(folder, True)}


def page(path, folder, methods):
    """A page with its tables made from the files."""
    made = tables(folder, methods)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return MARK.sub(lambda found: found.group(1) + "\n" + "\n".join(made[found.group(2)]()) +
                    "\n\n" + found.group(3), text)


def write(folder, methods):
    for path in PAGES:
        text = page(path, folder, methods)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
