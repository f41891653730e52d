"""Each command of the EXAMPLES of the man pages runs, on files of the names that it has.

app, halo.c of examples/, is recorded on 4 ranks; archives of 64 ranks are simulated. Launchers are scripts: srun is
mpirun of MPICH, or of Open MPI without --mpi=mpich, and jobs have at most four ranks where their number
does not matter. jq only reads.
"""
import glob
import os
import re
import shutil
import sys

import harness
import test_smpi

SIMULATED = True
ROOT = os.path.dirname(harness.HERE)
EXAMPLES = os.path.join(ROOT, "examples")
PAGES = [os.path.basename(path) for path in sorted(glob.glob(os.path.join(ROOT, "doc", "man", "*.1")))]
# In place of what only others have.
PLACES = (("/scratch/", ""), ("/tmp/traces", "traces"), ("PAPI_TOT_INS", "cpu"), ("volume=instructions", "volume=cpu"),
          ("-N 4 -n 16", "-n 4"), ("-n 512", "-n 4"), ("-n 8", "-n 4"), ("-n 7", "-n 3"), ("app.8", "app.4"),
          ("solver::*", "s*"), (" 4711 ", " $(pgrep -x controlled | head -n 1) "))
# How files are made that commands read. A command that makes a file itself comes too late to need one.
MAKE = {
    "app.rfn": "mpirun -n 4 refrain record --functions='*' --volume=cpu -o app.rfn ./app 200 64",
    "before.rfn": "mpirun -n 4 refrain record -o before.rfn ./app 200 64",
    "after.rfn": "mpirun -n 4 refrain record -o after.rfn ./app 100 64",
    "full.rfn": "cp app.64.rfn full.rfn",
    "small.rfn": "refrain reduce app.64.rfn -o small.rfn",
    "app.small.rfn": "refrain reduce app.64.rfn -o app.small.rfn",
    "fft.64.rfn": "cp app.64.rfn fft.64.rfn",
    "real.64.rfn": "cp app.64.rfn real.64.rfn",
    "app.txt": "refrain convert app.rfn -o app.txt",
    "app.txt_files": "refrain convert app.rfn -o app.txt",
    "/tmp/traces": "refrain convert app.64.rfn -o t.txt && mv t.txt_files traces",
    "trace.lst": "refrain convert app.rfn -o trace.ti && mv trace.ti trace.lst",
    "traces.otf2": "refrain convert app.rfn --to otf2 -o otf2 && mv otf2/* .",
    "network.json": "mpirun -n 2 refrain calibrate --seconds=1 -o network.json",
    "hosts": "printf 'node-%d\\n' $(seq 0 63) >hosts",
    "input.txt": "touch input.txt",
    "solver.py": "echo 'print(1)' >solver.py",
    "app.rfn.journal": "mpirun -n 4 refrain record --journal -o app.rfn ./killed || true",
}
READS = {"full.rfn": "app.64.rfn", "small.rfn": "app.64.rfn", "app.small.rfn": "app.64.rfn", "fft.64.rfn": "app.64.rfn",
         "real.64.rfn": "app.64.rfn", "app.txt": "app.rfn", "app.txt_files": "app.rfn", "/tmp/traces": "app.64.rfn",
         "trace.lst": "app.rfn", "traces.otf2": "app.rfn"}
# What a page needs before its commands, and in them. A snapshot and a recovered record are not whole: 3.
START = """
wait_for() { for i in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done; echo "not seen: $*"; exit 1; }
split() { mkdir -p node1 node2; cp -r $1 node1; mv $1 node2; rm node1/$1/*.[01].*; rm node2/$1/*.[23].*; }
"""
ENDS = "trap 'kill %1; wait' EXIT\n"
BEFORE = {
    "refrain-control.1": ENDS + "mpirun -n 4 refrain record --sample=adaptive ./controlled 1000000 64 &\n"
                                "wait_for refrain watch controlled.4 --once",
    "refrain-snapshot.1": ENDS,
    "refrain-watch.1": ENDS,
}
INSTEAD = {
    "refrain-control.1": (("app.4", "controlled.4"),),
    "refrain-convert.1": ((" -o ", " --force -o "),),
    "refrain-gather.1": ((" -o ", " --force -o "),),
    "refrain-snapshot.1": (("./app &", "./app 1000000 64 &\nwait_for sh -c 'ls app.4.rfn.journal/*.3.checkpoint.*'"),
                           ("snapshot.rfn\n", "snapshot.rfn || test $? = 3\n")),
    "refrain-watch.1": (("app.4", "watched.4"),
                        ("./app &", "./watched 1000000 64 &\nwait_for refrain watch watched.4 --once"),
                        ("watch watched.4\n", "watch watched.4 & sleep 2; kill $!\n")),
    "refrain-recover.1": (("./app ", "./killed || true "),
                          ("recover app.4.rfn.journal\n", "recover app.4.rfn.journal || test $? = 3\n"),
                          ("report app.4.rfn\n", "report app.4.rfn || test $? = 3\nsplit app.4.rfn.journal\n"),
                          ("recover -o", "recover --force -o"), ("node2/app.4.rfn.journal\n",
                                                                 "node2/app.4.rfn.journal || test $? = 3\n")),
}


def examples(page):
    """Commands of a page."""
    with open(os.path.join(ROOT, "doc", "man", page), encoding="utf-8") as file:
        text = file.read()
    part = re.search(r"^\.SH EXAMPLES\n(.*?)(?=^\.SH|\Z)", text, re.MULTILINE | re.DOTALL)
    lines = part[1].replace("\\\\\n", " ") if part else ""
    for old, new in (("\\-", "-"), ("\\(aq", "'"), ("\\e", "\\"), ("\\&", "")):
        lines = lines.replace(old, new)
    return [line.removeprefix("$ ") for line in lines.splitlines()
            if re.match(r"(\$ )?(refrain|mpirun|srun) ", line)]


def script(path, *lines):
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(["#!/bin/sh", *lines, ""]))
    os.chmod(path, 0o755)


def programs(bench, root):
    """What the commands run: the tool, launchers, jq, and programs."""
    os.mkdir(os.path.join(root, "bin"))
    openmpi, mpich = harness.FLAVOURS["openmpi"], harness.FLAVOURS["mpich"]
    script(os.path.join(root, "bin", "mpirun"), f'exec {" ".join(openmpi.mpirun)} "$@"')
    script(os.path.join(root, "bin", "srun"), 'test "$1" != -N || shift 2',
           f'case "$*" in *--mpi=mpich*) exec {" ".join(mpich.mpirun)} "$@";; esac',
           f'exec {" ".join(openmpi.mpirun)} "$@"')
    script(os.path.join(root, "bin", "jq"), f"exec {sys.executable} -c 'import json, sys; json.load(sys.stdin)'")
    os.symlink(bench.refrain, os.path.join(root, "bin", "refrain"))
    halo = bench.program(os.path.join(EXAMPLES, "halo.c"), "openmpi", ["-finstrument-functions"])
    for name in ("app", "master", "worker", "controlled", "watched"):
        shutil.copy(halo, os.path.join(root, name))
    script(os.path.join(root, "killed"), "./app 1000000 64 &",
           "until [ $(ls *.journal/*.checkpoint.* 2>/dev/null | wc -l) -ge 4 ]; do sleep 0.1; done", "sleep 1", "kill -KILL $!",
           "wait $!")
    plugin = ["cc", "-shared", "-fPIC", "-I", harness.INCLUDE, os.path.join(EXAMPLES, "plugin.c")]
    shutil.copy(bench.compiled("plugin.so", plugin), os.path.join(root, "plugin.so"))


def make_files(bench, root, commands):
    """The lines that make what the commands read."""
    made, lines = set(), []

    def make(name):
        if name in made:
            return
        made.add(name)
        if name in READS:
            make(READS[name])
        simulated = re.fullmatch(r"app\.(16|32|64)\.rfn", name)
        if simulated:
            program = test_smpi.smpi_program(bench, os.path.join(EXAMPLES, "halo.c"))
            shutil.copy(test_smpi.smpi_run(bench, program, int(simulated[1]), ["10", "4"]), os.path.join(root, name))
        elif name == "cluster.xml":
            with open(os.path.join(root, name), "w", encoding="ascii") as file:
                file.write(test_smpi.PLATFORM)
        else:
            lines.append(MAKE[name])

    written = {word for command in commands for word in re.findall(r"(?:-o |> ?)(\S+)", command)}
    if any("refrain calibrate" in command for command in commands):
        written |= {"network.json", "cluster.xml"}
    for command in commands:
        for word in re.findall(r"[\w./]+", command):
            if word not in written and (word in MAKE or word == "cluster.xml" or re.fullmatch(r"app\.\d\d\.rfn", word)):
                make(word)
    return lines


def run_page(bench, page):
    root = bench.fresh("manual")
    os.mkdir(root)
    programs(bench, root)
    text = "\n".join(examples(page)) + "\n"
    files = make_files(bench, root, text.splitlines())
    for old, new in (*PLACES, *INSTEAD.get(page, ())):
        text = text.replace(old, new)
    commands = text.splitlines()
    lines = ["set -e", START, *files, BEFORE.get(page, ""), "set -o pipefail -x"]
    run = bench.run(["bash", "-c", "\n".join([*lines, *commands])], cwd=root, timeout=240,
                    env={"PATH": os.path.join(root, "bin") + os.pathsep + os.environ["PATH"]})
    if run.code != 0:
        raise harness.Failure(f"{page}: exit {run.code}: {run.out[-1500:]}\n{run.err[-3000:]}")


def make_test(page):
    def test(bench):
        run_page(bench, page)
    return harness.long(test)


for _page in PAGES:
    if examples(_page):
        globals()[f"test_{_page[:-2].replace('-', '_')}"] = make_test(_page)


def test_all_have_examples(_bench):
    harness.compare("pages without examples", [page for page in PAGES if not examples(page)], ["refrain.1"])
