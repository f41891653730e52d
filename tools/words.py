#!/usr/bin/env python3
"""Counts the words of the documents, the stilted phrases in them, and the lines that are too long.

    tools/words.py                        all documents
    tools/words.py --limit 3 [DOCUMENT...]
                                          fails if one has more than 3 stilted phrases per 1,000 words

Documents are README.md, CONTRIBUTING.md, doc/*.md, doc/man/*, src/**/README.md, and the comments of
include/refrain/*.h. Indented and fenced blocks of Markdown are what a tool prints, so they do not count;
nor do rows of tables as long lines, since Markdown cannot break them. Prints a table with a row per
document, how often each phrase occurs, and the lines of more than 100 columns.
"""
import argparse
import pathlib
import re
import sys

# To count another phrase, add it. Where two overlap, the longer one counts.
STILTED = [
    "those of",
    "of which",
    "that which",
    "so that",
    "whom",
    "anew",
    "what is there",
    "what is",
    "it is that",
    "in the place of",
]
COLUMNS = 100
ROOT = pathlib.Path(__file__).resolve().parent.parent
GLOBS = ["README.md", "CONTRIBUTING.md", "doc/*.md", "doc/man/*", "src/**/README.md", "include/refrain/*.h"]
LONGEST_FIRST = sorted(STILTED, key=len, reverse=True)
PHRASE = re.compile(r"\b(" + "|".join(r"\s+".join(phrase.split()) for phrase in LONGEST_FIRST) + r")\b", re.IGNORECASE)
WORD = re.compile(r"\w[\w'-]*")


# ---- the prose of a document ----

def of_markdown(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\]\([^)]*\)", "]", text)


def of_man_page(text):
    text = re.sub(r"^\.nf$.*?^\.fi$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^\.\\\".*$|^\.(TH|so) .*$|^\.[A-Za-z]+", "", text, flags=re.MULTILINE)
    return re.sub(r"\\f.", "", text).replace(r"\-", "-").replace(r"\&", "")


def of_header(text):
    return "\n".join(re.sub(r"^[ *]+", "", comment, flags=re.MULTILINE)
                     for comment in re.findall(r"/\*(.*?)\*/", text, re.DOTALL))


def prose(name, text):
    if name.endswith(".md"):
        return of_markdown(text)
    return of_header(text) if name.endswith(".h") else of_man_page(text)


# ---- counting ----

class Count:
    """Of one document: how many words, which phrases, and (number, columns) of its long lines."""

    def __init__(self, name, text):
        written = prose(name, text)
        self.name = name
        self.words = len(WORD.findall(written))
        self.phrases = [" ".join(found.lower().split()) for found in PHRASE.findall(written)]
        self.long_lines = [(number, len(line)) for number, line in enumerate(text.split("\n"), 1)
                           if len(line) > COLUMNS and not line.startswith("|")]

    def rate(self):
        return 1000 * len(self.phrases) / max(self.words, 1)


def all_documents():
    return sorted({path for glob in GLOBS for path in ROOT.glob(glob)})


def print_table(counts):
    width = max(len(count.name) for count in counts)
    print(f"{'document':{width}}   words  stilted  per 1,000  long lines")
    for count in counts:
        print(f"{count.name:{width}} {count.words:7,} {len(count.phrases):8,} {count.rate():10.1f} "
              f"{len(count.long_lines):11,}")
    words, stilted = sum(count.words for count in counts), sum(len(count.phrases) for count in counts)
    lines = sum(len(count.long_lines) for count in counts)
    print(f"{'all':{width}} {words:7,} {stilted:8,} {1000 * stilted / max(words, 1):10.1f} {lines:11,}")


def print_phrases(counts):
    found = [phrase for count in counts for phrase in count.phrases]
    width = max(map(len, STILTED))
    print(f"\n{'phrase':{width}}   times")
    for phrase in sorted(STILTED, key=found.count, reverse=True):
        print(f"{phrase:{width}} {found.count(phrase):7,}")


def print_long_lines(counts):
    lines = [(count.name, *line) for count in counts for line in count.long_lines]
    if lines:
        print(f"\nLines of more than {COLUMNS} columns")
    for name, number, columns in lines:
        print(f"{name}:{number}: {columns}")


def main():
    parser = argparse.ArgumentParser(description="Counts words, stilted phrases and long lines of documents.")
    parser.add_argument("--limit", type=float, metavar="RATE",
                        help="fail if a document has more stilted phrases per 1,000 words")
    parser.add_argument("documents", nargs="*", metavar="DOCUMENT", type=pathlib.Path, help="only these")
    options = parser.parse_args()
    paths = [path.resolve() for path in options.documents] or all_documents()
    counts = [Count(str(path.relative_to(ROOT) if ROOT in path.parents else path),
                    path.read_text(encoding="utf-8")) for path in paths]
    print_table(counts)
    print_phrases(counts)
    print_long_lines(counts)
    above = [count for count in counts if options.limit is not None and count.rate() > options.limit]
    for count in above:
        print(f"words: {count.name} has {count.rate():.1f} stilted phrases per 1,000 words, more than "
              f"{options.limit:g}", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
