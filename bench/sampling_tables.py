"""Tables of the sampling study (sampling_study.py), as Markdown; in doc/sampling.md they stand between marks."""
import os
import re

from sampling_plots import of_programs
from study_plots import rows
from study_tables import MARK, lines_of, number

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "doc", "sampling.md")
# What Photon added to the 37.2 us of a message of 4 bytes, ns (Vetter 2001, 4.3).
PAPER = {"random:0.01": 6100, "random:0.9": 19800, "counter:2": 11500, "counter:256+-25": 2900,
         "timer:1ms+-100us": 8300, "timer:300ms+-30ms": 4600}
NAMES = (("mean", "mean"), ("p50", "median"), ("p99", "99th percentile"))


def contained(row, which):
    """Of the seeds; of fewer where not all have an interval with two ends."""
    intervals = row[f"{which}_intervals"]
    return "-" if intervals == "0" else row[f"{which}_contain"] + \
        (f" of {intervals}" if intervals != row["seeds"] else "")


def coverage(folder):
    body = [[row["program"], row["strategy"], f"{float(row['samples']):,.0f}",
             *[contained(row, which) for which, _ in NAMES],
             *[f"{float(row[f'{which}_bias_percent']):+.1f}" for which, _ in NAMES]]
            for row in rows(folder, "coverage")]
    return lines_of(["program", "strategy", "samples", *[name for _, name in NAMES],
                     *[f"{name}, % off" for _, name in NAMES]], body)


def sites(folder):
    """Of the programs that send in several places."""
    lines = []
    for _, own in of_programs(rows(folder, "sites")):
        shares = {}
        for row in own:
            shares.setdefault(row["call_path"], {"all": row["messages_percent"]})[row["strategy"]] = \
                row["samples_percent"]
        if len(shares) > 1:
            names = list(next(iter(shares.values())))
            lines += lines_of(["sent by, %", *names],
                              [[re.sub(r" < main.*?:(\d+)\)$", r" < main:\1", path), *[number(float(share[name]))
                                                                                     for name in names]]
                               for path, share in shares.items()])
    return lines


def rates(folder):
    """Of the programs that have more categories than rank 0 has neighbours."""
    body = [[row["strategy"], f"{float(row['samples']):,.0f}", number(float(row["samples_percent"])),
             f"{number(float(row['categories_sampled']))} of {row['categories']}",
             number(float(row["covered_percent"]), 4)]
            for row in rows(folder, "rates") if int(row["categories"]) > 4]
    return lines_of(["strategy", "samples", "of its messages, %", "categories with samples",
                     "messages of these categories, %"], body)


def distribution(folder):
    """How far the shares of ranges of latency are off, in sum."""
    body = []
    for program, own in of_programs(rows(folder, "distribution")):
        shares = {}
        for row in own:
            shares.setdefault(row["strategy"], []).append(float(row["percent"]))
        body += [[program, strategy, number(sum(abs(a - b) for a, b in zip(share, shares["all"])) / 2)]
                 for strategy, share in shares.items() if strategy != "all"]
    return lines_of(["program", "strategy", "in other ranges, %"], body)


def overhead(folder):
    return lines_of(["strategy", "measured, %", "plain, ns", "added, ns", "quartiles", "added by Photon, ns"],
                    [[row["strategy"], number(float(row["samples_percent"])), row["plain_ns"], row["added_ns"],
                      f"{row['added_low_ns']} to {row['added_high_ns']}", PAPER.get(row["strategy"], "")]
                     for row in rows(folder, "overhead")])


TABLES = {"coverage": coverage, "sites": sites, "rates": rates, "distribution": distribution, "overhead": overhead}


def made(folder):
    """The tables that there are CSV files for."""
    return {name: table(folder) for name, table in TABLES.items()
            if os.path.exists(os.path.join(folder, f"{name}.csv"))}


def show(folder):
    for name, lines in made(folder).items():
        print(f"\n{name}\n", *lines, sep="\n")


def page(folder, text):
    """A text with its tables made anew; those without a CSV file stay."""
    tables = made(folder)
    return MARK.sub(lambda found: found.group(1) + "\n" + "\n".join(tables[found.group(2)]) + "\n\n" + found.group(3)
                    if found.group(2) in tables else found.group(0), text)


def write(folder):
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page(folder, text))
