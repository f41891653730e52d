"""Each command that a man page shows runs, on files of the names that it has, and prints lines of the shape shown.

A command is a line of a block (.nf or .EX) outside of the SYNOPSIS; the lines below it, up to the next
command or the end of the block, are its output (compared as in documents). EXAMPLES are one
test, the blocks of the other sections another.

app, halo.c of examples/, is recorded on 4 ranks; archives of 64 ranks are simulated. Launchers are scripts: srun is
mpirun of MPICH, or of Open MPI without --mpi=mpich, and jobs have at most four ranks where their number
does not matter. apptainer runs the rest of its line. jq only reads.
"""
import glob
import os
import re
import shutil
import socket
import sys

import harness
import test_documents
import test_smpi

SIMULATED = True
ROOT = os.path.dirname(harness.HERE)
EXAMPLES = os.path.join(ROOT, "examples")
PAGES = [os.path.basename(path) for path in sorted(glob.glob(os.path.join(ROOT, "doc", "man", "*.[15]")))]
# In place of what only others have.
PLACES = (("/scratch/", ""), ("/tmp/traces", "traces"), ("PAPI_TOT_INS", "cpu"), ("volume=instructions", "volume=cpu"),
          ("-N 4 -n 16", "-n 4"), ("-n 512", "-n 4"), ("-n 8", "-n 4"), ("-n 7", "-n 3"), ("app.8", "app.4"),
          ("solver::*", "s*"), ("halo.c:87", "app.c:58"), ("cluster.xml ./app", "cluster.xml ./app.smpi 10 4"),
          ("-o app ", "-o app.smpi "), (" 4711 ", " $(pgrep -x controlled | head -n 1) "))
# How files are made that commands read. A command that makes a file itself comes too late to need one.
MAKE = {
    "app.rfn": "mpirun -n 4 refrain record --functions='*' --volume=cpu -o app.rfn ./app 200 64",
    "app.4.rfn": "mpirun -n 4 refrain record -o app.4.rfn ./app 5 64",
    "halo.4.rfn": "mpirun -n 4 refrain record --time-independent -o halo.4.rfn ./app 60 300",
    "tiles.4.rfn": "mpirun -n 4 refrain record -o tiles.4.rfn ./tiles",
    "before.rfn": "mpirun -n 4 refrain record -o before.rfn ./app 200 64",
    "after.rfn": "mpirun -n 4 refrain record -o after.rfn ./app 100 64",
    "a1.rfn": "mpirun -n 4 refrain record -o a1.rfn ./app 5 64",
    **{run: f"cp a1.rfn {run}" for run in ("a2.rfn", "a3.rfn", "b1.rfn", "b2.rfn", "b3.rfn")},
    "full.rfn": "cp app.64.rfn full.rfn",
    "small.rfn": "refrain reduce app.64.rfn -o small.rfn",
    "app.64.rank": "refrain reduce --rank=0-31 app.64.rfn -o app.64.rank0.rfn &&"
                   " refrain reduce --rank=32-63 app.64.rfn -o app.64.rank32.rfn",
    "app.small.rfn": "refrain reduce app.64.rfn -o app.small.rfn",
    "fft.64.rfn": "cp app.64.rfn fft.64.rfn",
    "real.64.rfn": "cp app.64.rfn real.64.rfn",
    "app.txt": "refrain convert app.rfn -o app.txt",
    "app.txt_files": "refrain convert app.rfn -o app.txt",
    "/tmp/traces": "refrain convert app.64.rfn -o t.txt && mv t.txt_files traces",
    "trace.lst": "refrain convert app.rfn -o trace.ti && mv trace.ti trace.lst",
    "traces.otf2": "refrain convert app.rfn --to otf2 -o otf2 && mv otf2/* .",
    "scorep-run/traces.otf2": "refrain convert app.rfn --to otf2 -o scorep-run",
    "network.json": "mpirun -n 2 refrain calibrate --seconds=1 -o network.json",
    "hosts": "printf 'node-%d\\n' $(seq 0 63) >hosts",
    "input.txt": "touch input.txt",
    "solver.py": "echo 'print(1)' >solver.py",
    "app.rfn.journal": "mpirun -n 4 refrain record --journal -o app.rfn ./killed || true",
}
READS = {"full.rfn": "app.64.rfn", "small.rfn": "app.64.rfn", "app.small.rfn": "app.64.rfn", "fft.64.rfn": "app.64.rfn",
         "real.64.rfn": "app.64.rfn", "app.txt": "app.rfn", "app.txt_files": "app.rfn", "/tmp/traces": "app.64.rfn",
         "trace.lst": "app.rfn", "traces.otf2": "app.rfn", "scorep-run/traces.otf2": "app.rfn",
         "app.64.rank": "app.64.rfn",
         **{run: "a1.rfn" for run in ("a2.rfn", "a3.rfn", "b1.rfn", "b2.rfn", "b3.rfn")}}
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
KILLED = (("./app ", "./killed || true "), ("journal ./app\n", "journal ./killed || true\n"),
          ("recover app.4.rfn.journal\n", "recover app.4.rfn.journal || test $? = 3\n"))
INSTEAD = {
    "refrain-control.1": (("app.4", "controlled.4"),),
    "refrain-compare.1": (("old.*.rfn", "a1.rfn a2.rfn a3.rfn"), ("new.*.rfn", "b1.rfn b2.rfn b3.rfn")),
    "refrain-convert.1": ((" -o ", " --force -o "),),
    "refrain-gather.1": ((" -o ", " --force -o "),),
    "refrain-merge.1": ((" -o app.64.rfn", " --force -o app.64.rfn"),),
    "refrain-snapshot.1": (("./app &", "./app 1000000 64 &\nwait_for sh -c 'ls app.4.rfn.journal/*.3.checkpoint.*'"),
                           ("snapshot.rfn\n", "snapshot.rfn || test $? = 3\n")),
    "refrain-watch.1": (("app.4", "watched.4"),
                        ("./app &", "./watched 1000000 64 &\nwait_for refrain watch watched.4 --once"),
                        ("watch watched.4\n", "watch watched.4 & sleep 2; kill $!\n")),
    "refrain-record.1": (*KILLED[1:2], ("recover app.4.rfn.journal\n",
                                        "recover --force app.4.rfn.journal || test $? = 3\n")),
    "refrain-recover.1": (*KILLED[::2], ("report app.4.rfn\n",
                                         "report app.4.rfn || test $? = 3\nsplit app.4.rfn.journal\n"),
                          ("recover -o", "recover --force -o"), ("node2/app.4.rfn.journal\n",
                                                                 "node2/app.4.rfn.journal || test $? = 3\n")),
}
# The first words of a command.
COMMAND = re.compile(r"(\$ )?([A-Z_]+=\S+ )*(refrain|mpi(run|exec)|j?srun|smpi(cc|run)) ")
MARK = "\x01"  # ends the output of a command


def page_parts(page):
    """The title and the text of each section; lines that continue are joined."""
    with open(os.path.join(ROOT, "doc", "man", page), encoding="utf-8") as file:
        text = re.sub(r"\\[e\\]?\n *", " ", file.read())
    for old, new in (("\\-", "-"), ("\\(aq", "'"), ("\\e", "\\"), ("\\&", "")):
        text = text.replace(old, new)
    return re.findall(r"^\.SH (.*)\n((?:(?!\.SH ).*\n)*)", text, re.MULTILINE)


def commands(page, are_examples):
    """(command, lines shown below it) of a page's EXAMPLES, or of its other sections."""
    for title, text in page_parts(page):
        if title == "SYNOPSIS" or (title == "EXAMPLES") != are_examples:
            continue
        for block in re.findall(r"^\.(?:nf|EX)\n(.*?)^\.(?:fi|EE)", text, re.MULTILINE | re.DOTALL):
            shown = None
            for line in block.splitlines():
                if COMMAND.match(line):
                    shown = []
                    yield line.removeprefix("$ "), shown
                elif shown is not None:
                    shown.append(line)


def script(path, *lines):
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(["#!/bin/sh", *lines, ""]))
    os.chmod(path, 0o755)


def programs(bench, root):
    """What the commands run: the tool, launchers, jq, and programs."""
    os.mkdir(os.path.join(root, "bin"))
    openmpi, mpich = harness.FLAVOURS["openmpi"], harness.FLAVOURS["mpich"]
    script(os.path.join(root, "bin", "mpirun"), f'exec {" ".join(openmpi.mpirun)} "$@"')
    script(os.path.join(root, "bin", "mpiexec"), f'exec {" ".join(mpich.mpirun)} "$@"')
    script(os.path.join(root, "bin", "jsrun"), 'exec mpirun "$@"')
    script(os.path.join(root, "bin", "apptainer"), 'test "$1" = exec && shift 2 && exec "$@"')
    script(os.path.join(root, "bin", "srun"), 'test "$1" != -N || shift 2',
           f'case "$*" in *--mpi=mpich*) exec {" ".join(mpich.mpirun)} "$@";; esac',
           f'exec {" ".join(openmpi.mpirun)} "$@"')
    script(os.path.join(root, "bin", "jq"), f"exec {sys.executable} -c 'import json, sys; json.load(sys.stdin)'")
    os.symlink(bench.refrain, os.path.join(root, "bin", "refrain"))
    shutil.copy(os.path.join(bench.build, "lib", "librefrain-smpi.a"), root)
    source = bench.path("app.c")
    for copy in (source, os.path.join(root, "app.c")):
        shutil.copy(os.path.join(EXAMPLES, "halo.c"), copy)
    app = bench.program(source, "openmpi",
                        ["-finstrument-functions", f"-ffile-prefix-map={os.path.dirname(source)}=app"])
    for name in ("app", "master", "worker", "controlled", "watched"):
        shutil.copy(app, os.path.join(root, name))
    shutil.copy(bench.program(os.path.join(EXAMPLES, "tiles.c"), "openmpi", ["-O2"]), os.path.join(root, "tiles"))
    script(os.path.join(root, "killed"), "./app 1000000 64 &",
           "until [ $(ls *.journal/*.checkpoint.* 2>/dev/null | wc -l) -ge 4 ]; do sleep 0.1; done", "sleep 1", "kill -KILL $!",
           "wait $!")
    plugin = ["cc", "-shared", "-fPIC", "-I", harness.INCLUDE, os.path.join(EXAMPLES, "plugin.c")]
    shutil.copy(bench.compiled("plugin.so", plugin), os.path.join(root, "plugin.so"))


def make_files(bench, root, steps):
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

    written = {word for command in steps for word in re.findall(r"(?:-o |> ?)(\S+)", command)}
    if any("refrain calibrate" in command for command in steps):
        written |= {"network.json", "cluster.xml"}
    for command in steps:
        for word in re.findall(r"[\w./-]+", command):
            if word not in written and (word in MAKE or word == "cluster.xml" or re.fullmatch(r"app\.\d\d\.rfn", word)):
                make(word)
    return lines


def as_here(page, text):
    """A command or lines of a page with what this machine has."""
    for old, new in (*PLACES, *INSTEAD.get(page, ())):
        text = text.replace(old, new)
    return text


def compare_output(page, command, shown, printed):
    """Blocks of a page are narrow: far to the right a line continues the one before."""
    host = socket.gethostname()
    lines = ["..." if line.strip() == "..." else as_here(page, line).replace("Hosts       vm", f"Hosts {host}")
             for line in shown if not line.startswith(9 * " ")]
    test_documents.compare_shape(command, lines, printed)


def run_page(bench, page, are_examples):
    root = bench.fresh("manual")
    os.mkdir(root)
    programs(bench, root)
    steps = list(commands(page, are_examples))
    files = make_files(bench, root, [command for command, _ in steps])
    lines = ["set -e", START, *files, BEFORE.get(page, ""), "exec 2>&1", "set -o pipefail"]
    lines += [f"{as_here(page, command + chr(10))}printf '{MARK}'" for command, _ in steps]
    run = bench.run(["bash", "-c", "\n".join(lines)], cwd=root, timeout=240,
                    env={"PATH": os.path.join(root, "bin") + os.pathsep + os.environ["PATH"]})
    printed = run.out.split(MARK)
    if run.code != 0 or len(printed) <= len(steps):
        if "measurements contradict each other" in printed[-1]:
            raise harness.Refused(f"the machine is too busy to measure its network: {printed[-1][-300:]}")
        raise harness.Failure(f"{page}: exit {run.code}: {[*steps, ('', '')][len(printed) - 1][0]}\n"
                              f"{printed[-1][-1500:]}\n{run.err[-3000:]}")
    for (command, shown), text in zip(steps, printed):
        compare_output(page, command, shown, text.splitlines())


def make_test(page, are_examples):
    def test(bench):
        run_page(bench, page, are_examples)
    return harness.long(test)


for _page in PAGES:
    for _suffix, _examples in (("", True), ("_text", False)):
        if list(commands(_page, _examples)):
            globals()[f"test_{_page[:-2].replace('-', '_')}{_suffix}"] = make_test(_page, _examples)


def test_all_have_examples(_bench):
    harness.compare("pages without examples", [page for page in PAGES if not list(commands(page, True))],
                    ["refrain-json.5", "refrain.1"])
