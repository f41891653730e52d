"""Makes the page's template, as C: the HTML with its style, its programs and the archive's reader in it.

    gen_page.py --html F --css F --main F --worker F --reader F --out F
    gen_page.py --missing "clang, lld and esbuild" --out F

Where the HTML has a line "@archives@", the tool puts what a page is about.
"""

import argparse
import base64
import gzip
import hashlib
import re
import sys


def script(text):
    """Text of a program that may stand in a script element."""
    return re.sub(r"<(?=/script|!--)", r"\\x3c", text, flags=re.IGNORECASE)


def hash_of(text):
    """For the page's policy: nothing else is run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def fill(html, parts):
    for name, text in parts.items():
        mark = f"@{name}@"
        if html.count(mark) != 1:
            sys.exit(f"gen_page.py: the page has {html.count(mark)} places for {mark}")
        html = html.replace(mark, text)
    return html


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def array(name, data):
    lines = [",".join(str(byte) for byte in data[at : at + 32]) for at in range(0, len(data), 32)]
    return f"const unsigned char {name}[] = {{\n" + ",\n".join(lines + ["0"]) + f"}};\nconst size_t {name}_size = {len(data)};\n"


def main():
    parser = argparse.ArgumentParser()
    for name in ("html", "css", "main", "worker", "reader", "missing"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--out", required=True)
    given = parser.parse_args()
    head = tail = b""
    if not given.missing:
        with open(given.reader, "rb") as file:
            reader = base64.b64encode(gzip.compress(file.read(), 9, mtime=0)).decode()
        style, main_script = read(given.css), script(read(given.main))
        html = fill(
            read(given.html),
            {"style-hash": hash_of(style), "main-hash": hash_of(main_script), "style": style, "reader": reader,
             "worker": script(read(given.worker)), "main": main_script},
        )
        head, tail = (part.encode() for part in html.split("@archives@\n"))
    with open(given.out, "w", encoding="ascii") as file:
        file.write('#include "view/page_template.h"\n\n')
        missing = f'"{given.missing}"' if given.missing else "NULL"
        file.write(f"const char *const rfn_page_template_missing = {missing};\n")
        file.write(array("rfn_page_head", head) + array("rfn_page_tail", tail))


main()
