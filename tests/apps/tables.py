"""The tables of doc/applications.md, from the last results of each application."""
import json
import os

import applications
import debian_root

PAGE = os.path.join(applications.HERE, "..", "..", "doc", "applications.md")
BEGIN = "<!-- make apps-table writes from here on -->\n"
END = "<!-- to here -->\n"


def keep(folder, name, row):
    os.makedirs(os.path.join(folder, "results"), exist_ok=True)
    with open(os.path.join(folder, "results", name + ".json"), "w", encoding="utf-8") as file:
        json.dump(row, file, indent=1)


def kept(folder, names):
    """Rows by name, of those that have results."""
    rows = {}
    for name in names:
        path = os.path.join(folder, "results", name + ".json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                rows[name] = json.load(file)
    return rows


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


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
    with open(PAGE, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    pairs = sorted({row["pairs"] for row in rows.values()})
    told = "One pair of runs each." if pairs == [1] else f"Medians of {' or '.join(map(str, pairs))} pairs of runs."
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{told}\n\n{costs(rows)}\n"
                   f"CPU seconds of reading the archives, and the checks:\n\n{reading(rows)}\n"
                   f"### What is not compared\n\n{filters(rows)}\n"
                   f"### First screens\n\n{screens(rows)}\n{END}{after}")
