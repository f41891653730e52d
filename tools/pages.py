#!/usr/bin/env python3
"""Makes doc/view: the pages of two examples, and pictures of pages, shown by a browser (chromium).

    tools/pages.py --build DIR
"""
import argparse
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tests"))
import browser  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

OUT = os.path.join(ROOT, "doc", "view")
HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


def halo(bench):
    program = bench.program(os.path.join(ROOT, "examples", "halo.c"), "openmpi", ["-g"])
    return bench.record("openmpi", 4, [program, "200", "128"], archive=bench.fresh("halo.4.rfn"))[1]


def hpcc(bench):
    folder = os.path.dirname(bench.fresh("hpcc.4.rfn"))
    with open(HPCC_INPUT, encoding="utf-8") as source, open(os.path.join(folder, "hpccinf.txt"), "w", encoding="utf-8") as to:
        to.write(source.read())
    archive = os.path.join(folder, "hpcc.4.rfn")
    bench.run([*bench.flavours["openmpi"].launch(4), bench.refrain, "record", "--force", "-o", archive, "hpcc"], cwd=folder, timeout=900, check=True)
    return archive


def page(bench, name, *archives):
    made = os.path.join(OUT, name)
    bench.verb("view", "--force", *archives, "-o", made, timeout=600)
    return made


def picture(shown, made, name, fragment="", script="0"):
    shown.open(made, fragment)
    shown.run(script)
    shown.wait("document.documentElement.dataset.settled || performance.now() > 5000")
    shown.run("new Promise((done) => setTimeout(done, 1500))")
    shown.screenshot(os.path.join(OUT, name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    build = os.path.abspath(parser.parse_args().build)
    bench = harness.Harness(build)
    os.makedirs(OUT, exist_ok=True)
    try:
        archive = halo(bench)
        reduced = bench.fresh("halo.small.rfn")
        bench.verb("reduce", archive, "-o", reduced)
        many = bench.fresh("ring.1024.rfn")
        bench.run([os.path.join(build, "bench", "ring_archive"), "1024", "200", many], check=True)
        with browser.Browser(1200, 1000) as shown:
            made = page(bench, "halo.html", archive)
            picture(shown, made, "halo.png", "#o=waits,path,loops")
            whole = shown.run("JSON.stringify(refrain.shared.view)")
            start = f"const v = {whole}, l = v.to - v.from; location.hash = 't=' + Math.round(v.from + 0.4 * l) + '-' + Math.round(v.from + 0.46 * l) + '&o=waits,messages,loops,stacks'"
            picture(shown, made, "messages.png", "#", start + "; document.getElementById('summary').remove()")
            both = page(bench, "both.html", archive, reduced)
            picture(shown, both, "compare.png", "#o=waits", "document.getElementById('summary').remove()")
            os.remove(both)
            picture(shown, page(bench, "hpcc.html", hpcc(bench)), "hpcc.png", "#o=waits,loops")
            ranks = page(bench, "ranks.html", many)
            picture(shown, ranks, "ranks.png", "#o=waits,loops,fold&p=messages")
            os.remove(ranks)
    finally:
        bench.close()
    for name in sorted(os.listdir(OUT)):
        print(f"{os.path.getsize(os.path.join(OUT, name)):10,} {name}")


if __name__ == "__main__":
    if not browser.find() or not shutil.which("hpcc"):
        sys.exit("pages.py: needs chromium and hpcc")
    main()
