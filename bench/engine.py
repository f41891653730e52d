"""make bench, part engine: how fast refrain predict simulates, beside SimGrid's replay of the same text.

Each rank computes, exchanges with two or six others, and waits for that, step by step. The actions are simulated where messages
have their ways alone, and where they share links.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests"))
import predict_traces  # pylint: disable=wrong-import-position

RANKS = 64
PLATFORM = ("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">"
            '<cluster id="c" prefix="h" suffix="" radical="0-63" speed="1Gf" bw="1.25GBps" lat="5us"/></platform>\n')


def exchange(folder, name, steps, neighbours, size):
    """Lines of all ranks; how many actions."""
    trace = predict_traces.Trace(RANKS, 1, ())
    for step in range(steps):
        for rank in range(RANKS):
            trace.add(rank, f"compute {100000 + (rank * 7919 + step * 104729) % 10007}")
            for away in neighbours:
                trace.add(rank, f"irecv {(rank - away) % RANKS} 1 {size} 6")
            for away in neighbours:
                trace.add(rank, f"isend {(rank + away) % RANKS} 1 {size} 6")
            trace.add(rank, "waitall")
    trace.finish()
    return trace.write(folder, name), sum(len(lines) for lines in trace.lines)


def seconds_of(command, folder):
    """CPU time, and the output."""
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    after = os.times()
    if done.returncode:
        sys.exit(f"bench: {command} failed:\n{done.stdout}{done.stderr}")
    return after.children_user + after.children_system - before.children_user - before.children_system, done.stdout


def row(refrain, folder, title, listed, actions):
    platform, hosts = folder / "platform.xml", folder / "hosts"
    ours, speeds = [], []
    for words in (["--no-contention"], []):
        seconds, out = seconds_of([refrain, "predict", str(listed), "--platform", str(platform), "--json", *words], folder)
        ours.append(json.loads(out)["predicted_seconds"])
        speeds.append(actions / seconds / 1e6)
    seconds, _ = seconds_of(["smpirun", "-np", str(RANKS), "-hostfile", str(hosts), "-platform", str(platform),
                             "--cfg=smpi/host-speed:1Gf", "-replay", str(listed)], folder)
    print(f"{title:40}{actions:10,}{speeds[0]:14.2f}{speeds[1]:14.2f}{actions / seconds / 1e6:14.3f}")


def large(refrain, folder, ranks=1024):
    """Many ranks, and ten times as many actions: what memory grows by. With BIG=1 also 10^9 (four minutes)."""
    platform = folder / "large.xml"
    platform.write_text(PLATFORM.replace("0-63", f"0-{ranks - 1}"), encoding="ascii")
    print(f"\n{ranks} ranks in a ring, from gzip: million actions per second of CPU time, and memory\n")
    for steps in (500, 5000, *([250000] if os.environ.get("BIG") else [])):
        for rank in range(ranks):
            step = (f"{rank} compute 100000\n{rank} irecv {(rank - 1) % ranks} 1 1000 6\n"
                    f"{rank} isend {(rank + 1) % ranks} 1 1000 6\n{rank} waitall\n")
            with gzip.open(folder / f"{rank}.txt.gz", "wt", compresslevel=1, encoding="ascii") as file:
                file.write(f"{rank} init\n")
                for _ in range(steps // 500):
                    file.write(step * 500)
                file.write(f"{rank} finalize\n")
        listed = folder / "large.txt"
        listed.write_text("".join(f"{folder / str(rank)}.txt.gz\n" for rank in range(ranks)), encoding="ascii")
        for words in (["--no-contention"], []) if steps < 250000 else (["--no-contention"],):
            with subprocess.Popen([refrain, "predict", "--json", str(listed), "--platform", str(platform), *words],
                                  stdout=subprocess.PIPE) as done:
                actions = json.loads(done.stdout.read())["actions"]
                usage = os.wait4(done.pid, 0)[2]
            print(f"{actions:12,} actions{' alone' if words else ' contention':>12}"
                  f"{actions / (usage.ru_utime + usage.ru_stime) / 1e6:8.2f}{usage.ru_maxrss / 1024:8.0f} MiB")


def run(build):
    print(f"\nPredicting {RANKS} ranks from text: million actions per second of CPU time, reading included\n")
    print(f"{'':40}{'actions':>10}{'alone':>14}{'contention':>14}{'SimGrid':>14}")
    with tempfile.TemporaryDirectory(prefix="refrain-bench-") as name:
        folder = pathlib.Path(name)
        (folder / "platform.xml").write_text(PLATFORM, encoding="ascii")
        (folder / "hosts").write_text("".join(f"h{i}\n" for i in range(RANKS)), encoding="ascii")
        for title, steps, neighbours, size in (("2 neighbours, 1,000 bytes", 1500, (1, RANKS - 1), 1000),
                                               ("6 neighbours, 50,000 bytes", 300, (1, 5, 9, 17, 33, 50), 50000)):
            listed, actions = exchange(folder, "trace", steps, neighbours, size)
            row(os.path.abspath(os.path.join(build, "refrain")), folder, title, listed, actions)
        large(os.path.abspath(os.path.join(build, "refrain")), folder)


if __name__ == "__main__":
    run(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "build"))
