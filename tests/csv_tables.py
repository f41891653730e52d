"""A reader of the tables that refrain convert writes, by Python's own reader of CSV."""
import csv
import os


def number(text):
    """A whole number, None for an empty cell, or the text."""
    try:
        return int(text) if text else None
    except ValueError:
        return text


def table(folder, name):
    """The rows as dictionaries. Numbers are numbers, except in columns of names."""
    names = ("host", "function", "file", "module", "region", "before_function", "waited_function", "pattern", "activity")
    with open(os.path.join(folder, name + ".csv"), newline="", encoding="utf-8") as file:
        text = file.read()
    if text.count("\n") != text.count("\r\n") or not text.endswith("\r\n"):
        raise ValueError(f"{name}: a line does not end as RFC 4180 says")
    rows = list(csv.reader(text.splitlines(keepends=True), strict=True))
    if any(len(row) != len(rows[0]) for row in rows):
        raise ValueError(f"{name}: rows of different lengths")
    return [{column: cell if column in names else number(cell) for column, cell in zip(rows[0], row)} for row in rows[1:]]


class Tables:
    def __init__(self, folder):
        self.names = sorted(os.listdir(folder))
        self.events, self.messages, self.ranks, self.call_paths = (
            table(folder, name) for name in ("events", "messages", "ranks", "call_paths"))
        self.waits, self.causes = (
            table(folder, name) if name + ".csv" in self.names else None for name in ("waits", "causes"))
        self.paths = {}
        for row in self.call_paths:
            frames = self.paths.setdefault(row["path"], [])
            if row["frame"] != len(frames):
                raise ValueError("frames are not in their order")
            frames.append(row)
