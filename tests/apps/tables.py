"""The tables of doc/applications.md, from the last results of each application."""
import os

import applications
import debian_root
from page_tables import put, table

PAGE = os.path.join(applications.HERE, "..", "..", "doc", "applications.md")


def costs(rows):
    head = ["application", "ranks", "plain, s", "recorded, s", "times", "CPU plain, s", "CPU recorded, s", "times",
            "calls", "memory, MiB", "archive, KB"]
    return table(head, [
        [applications.ALL[name].title, str(row["ranks"]), f"{row['plain_seconds']:.1f}",
         f"{row['recorded_seconds']:.1f}", f"{row['slower']:.2f}", f"{row['plain_cpu']:.1f}",
         f"{row['recorded_cpu']:.1f}", f"{row['slower_cpu']:.2f}", f"{row['calls']:,}",
         f"{row['memory_bytes'] / 2**20:.1f}", f"{row['bytes'] / 1000:,.0f}"] for name, row in rows.items()])


def reading(rows):
    head = ["application", *(f"{verb}, s" for verb in ("report", "whatif", "view")), "checks passed", "failed", "known to be wrong"]
    return table(head, [
        [applications.ALL[name].title, *(f"{row['seconds'][verb]:.2f}" for verb in ("report", "whatif", "view")),
         str(row["passed"]), "; ".join(row["failures"]) or "none",
         "; ".join(row["known"]) or "nothing"] for name, row in rows.items()])


def filters(names):
    return table(["application", "command", "what is not compared"], [
        [one.title, f"`{' '.join(one.command)}`", one.filter.why]
        for one in (applications.ALL[name] for name in names)])


def screens(rows):
    return "\n".join(f"**{applications.ALL[name].title}**\n\n" + "".join(
        f"    {line}\n" for line in row["screen"].rstrip().split("\n")) for name, row in rows.items())


def text(rows):
    return f"{costs(rows)}\n{reading(rows)}"


def write(rows):
    if not rows:
        raise debian_root.Trouble("there are no results yet: run 'make apps' first")
    pairs = sorted({row["pairs"] for row in rows.values()})
    told = "One pair of runs each." if pairs == [1] else f"Medians of {' or '.join(map(str, pairs))} pairs of runs."
    put(PAGE, "apps-table", f"{told}\n\n{costs(rows)}\n"
                            f"CPU seconds of reading the archives, and the checks:\n\n{reading(rows)}\n"
                            f"### What is not compared\n\n{filters(rows)}\n"
                            f"### First screens\n\n{screens(rows)}")
