"""Results that are kept beside each other, and tables of them in a page (apps.py, systems.py)."""
import json
import os

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


def put(page, target, text):
    """Replaces the part of a page that `make TARGET` writes."""
    begin = f"<!-- make {target} writes from here on -->\n"
    with open(page, encoding="utf-8") as file:
        before, rest = file.read().split(begin)
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n{text}\n{END}{rest.split(END)[1]}")
