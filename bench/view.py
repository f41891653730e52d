"""make bench, part view: what pages for a browser cost, in size and time, and how soon they show something.

The archive is a ring (ring_archive.c) on 64 ranks with 4 million calls whose times all differ, and the same one reduced;
with BIG=1 also one of 1024 ranks with 100 million calls, reduced. A zoom step is measured in the page: drawing what it
has, and the time until every point is exact.
"""
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests"))
import browser  # pylint: disable=wrong-import-position

ZOOM = """(async () => {
  const { timelines, shared } = refrain;
  const root = document.documentElement, canvas = timelines[0].canvas;
  const drawn = [], exact = [];
  for (let i = 0; i < 20; i++) {
    if (i === 10) { document.dispatchEvent(new KeyboardEvent("keydown", { key: "0" })); await new Promise((done) => setTimeout(done, 500)); }
    delete root.dataset.settled;
    const began = performance.now();
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -60, clientX: 300 + 40 * i, clientY: 100, cancelable: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    drawn.push(performance.now() - began);
    while (!root.dataset.settled && performance.now() - began < 3000) await new Promise((done) => setTimeout(done, 2));
    exact.push(performance.now() - began);
  }
  return [drawn, exact];
})()"""


def seconds(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def row(build, folder, name, archive):
    refrain = os.path.join(build, "refrain")
    page = os.path.join(folder, "page.html")
    made = statistics.median(seconds([refrain, "view", "--force", archive, "-o", page]) for _ in range(3))
    firsts, drawn, exact = [], [], []
    for _ in range(5):
        with browser.Browser() as shown:
            shown.open(page, "#o=waits,loops")
            firsts.append(float(shown.run("document.documentElement.dataset.first")))
            steps = shown.run(ZOOM)
            drawn += steps[0]
            exact += steps[1]
    print(f"| {name} | {os.path.getsize(archive) / 1e6:.2f} MB | {os.path.getsize(page) / 1e6:.2f} MB | {made:.1f} s "
          f"| {statistics.median(firsts):.0f} ms | {statistics.median(drawn):.0f} ms | {statistics.median(exact):.0f} ms |", flush=True)


def run(build):
    if not browser.find():
        print("\nview: there is no chromium")
        return
    ring, refrain = os.path.join(build, "bench", "ring_archive"), os.path.join(build, "refrain")
    print("\nPages (3 are made, 5 shown with 20 zoom steps each; medians)\n")
    print("| archive | size | page | made in | first picture | zoom step drawn | and exact |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="refrain-bench-") as folder:
        full, small = os.path.join(folder, "full.rfn"), os.path.join(folder, "small.rfn")
        subprocess.run([ring, "64", "57000", full], check=True)
        row(build, folder, "64 ranks, 4.0 million calls, all times", full)
        subprocess.run([refrain, "reduce", full, "-o", small], check=True, stdout=subprocess.DEVNULL)
        row(build, folder, "the same, reduced", small)
        if os.environ.get("BIG"):
            subprocess.run([ring, "1024", "91000", full], check=True)
            subprocess.run([refrain, "reduce", "--force", full, "-o", small], check=True, stdout=subprocess.DEVNULL)
            os.remove(full)
            row(build, folder, "1024 ranks, 102 million calls, reduced", small)
