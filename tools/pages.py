#!/usr/bin/env python3
"""Makes doc/view: the pages of two examples, and pictures of pages, shown by a browser (chromium).

    tools/pages.py --build DIR
"""
import argparse
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tests"))
import browser  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

OUT = os.path.join(ROOT, "doc", "view")
NO_SUMMARY = "document.getElementById('summary').remove()"
HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


def record(bench, folder, archive, ranks, *command):
    launch = harness.FLAVOURS["openmpi"].launch(ranks)
    bench.run([*launch, bench.refrain, "record", "-o", archive, *command], cwd=folder, timeout=900, check=True)
    return archive


def halo(bench, folder):
    source = os.path.relpath(os.path.join(ROOT, "examples", "halo.c"), ROOT)
    program = os.path.join(folder, "halo")
    bench.run([harness.FLAVOURS["openmpi"].mpicc, "-O2", "-g", source, "-o", program, "-lm"], cwd=ROOT, check=True)
    return record(bench, folder, "halo.4.rfn", 4, "./halo", "200", "128")


def hpcc(bench, folder):
    shutil.copy(HPCC_INPUT, os.path.join(folder, "hpccinf.txt"))
    full = record(bench, folder, "full.rfn", 4, "hpcc")
    bench.run([bench.refrain, "reduce", full, "-o", "hpcc.4.rfn"], cwd=folder, check=True)
    return "hpcc.4.rfn"


def page(bench, folder, out, *archives):
    bench.run([bench.refrain, "view", "--force", *archives, "-o", out], cwd=folder, timeout=600, check=True)
    return os.path.join(folder, out)


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
    folder = os.path.dirname(bench.fresh("pages"))
    os.makedirs(OUT, exist_ok=True)
    try:
        archive = halo(bench, folder)
        bench.run([bench.refrain, "reduce", archive, "-o", "halo.small.rfn"], cwd=folder, check=True)
        bench.run([os.path.join(build, "bench", "ring_archive"), "1024", "200", "ring.1024.rfn"], cwd=folder, check=True)
        made = page(bench, folder, os.path.join(OUT, "halo.html"), archive)
        with browser.Browser(1200, 1000) as shown:
            picture(shown, made, "halo.png", "#o=waits,path,loops")
            view = json.loads(shown.run("JSON.stringify(refrain.shared.view)"))
            step = (view["to"] - view["from"]) / 100
            near = f"#t={round(view['from'] + 40 * step)}-{round(view['from'] + 45 * step)}&o=waits,messages,loops,stacks"
            picture(shown, made, "messages.png", near, NO_SUMMARY)
            picture(shown, page(bench, folder, "both.html", archive, "halo.small.rfn"), "compare.png", "#o=waits", NO_SUMMARY)
            picture(shown, page(bench, folder, os.path.join(OUT, "hpcc.html"), hpcc(bench, folder)), "hpcc.png", "#o=waits,loops")
            picture(shown, page(bench, folder, "ranks.html", "ring.1024.rfn"), "ranks.png", "#o=waits,loops,fold&p=messages")
            sampled = record(bench, folder, "sampled.rfn", 4, "--sample=random:1", "./halo", "200", "128")
            picture(shown, page(bench, folder, "sampled.html", sampled), "latencies.png", "#o=waits&p=latencies", NO_SUMMARY)
    finally:
        bench.close()
    for name in sorted(os.listdir(OUT)):
        print(f"{os.path.getsize(os.path.join(OUT, name)):10,} {name}")


if __name__ == "__main__":
    if not browser.find() or not shutil.which("hpcc"):
        sys.exit("pages.py: needs chromium and hpcc")
    main()
