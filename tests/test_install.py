"""make install: what is installed works where it is, and make uninstall takes all of it away."""
import json
import os
import re
import shutil
import sys

import harness

ROOT = os.path.join(harness.HERE, "..")
PREFIX = "/usr"
VERBS = ("record", "report", "view", "info", "recover", "reduce", "compare", "whatif", "predict", "sample", "watch", "replay", "snapshot",
         "convert", "merge", "gather", "calibrate", "control", "dump", "verify", "doctor")
PROGRAM = """
#include <mpi.h>
#include <refrain/region.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    refrain_region_begin("all");
    MPI_Barrier(MPI_COMM_WORLD);
    refrain_region_end("all");
    MPI_Finalize();
    puts("done");
    return 0;
}
"""
READER = """
#include <refrain/archive.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct rfn_archive *archive;
    if (argc < 2 || rfn_archive_open(argv[1], &archive, NULL) < 0)
        return 1;
    printf("%u %s\\n", rfn_archive_run(archive)->ranks, rfn_archive_region(archive, 0));
    rfn_archive_close(archive);
    return 0;
}
"""
FORTRAN = """
program test
  use mpi
  use refrain
  integer :: ierr
  call MPI_Init(ierr)
  call refrain_region_begin('all')
  call refrain_region_end('all')
  call MPI_Finalize(ierr)
end program
"""


def make(bench, goal, *variables):
    """With the compiler that the build was made with, so that nothing is made anew."""
    with open(os.path.join(bench.build, "flags"), encoding="utf-8") as file:
        words = file.read().split()
    return bench.run(["make", "-C", ROOT, f"O={os.path.relpath(bench.build, ROOT)}", f"CC={words[0]}",
                      f"WERROR={1 if '-Werror' in words else ''}",
                      f"DESTDIR={bench.path('installed')}", f"PREFIX={PREFIX}", *variables, goal],
                     timeout=600, check=True)


def tree(bench):
    """The folder that the tree is installed in, with everything installed."""
    folder = bench.path("installed")
    if not os.path.exists(folder):
        make(bench, "install")
    return folder + PREFIX


def source(bench, name, text):
    path = bench.path(name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def flags(bench, package, *options):
    """What pkg-config says, for a tree that is not where it is going to be."""
    env = {"PKG_CONFIG_SYSROOT_DIR": bench.path("installed"), "PKG_CONFIG_PATH":
           tree(bench) + "/lib/pkgconfig", "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
           "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
    words = bench.run(["pkg-config", *options, package], env=env, check=True).out.split()
    # Of the libraries that the system has the folders are the system's.
    return [word for word in words if not word.startswith(("-I/usr", "-L/usr"))]


def test_program_with_regions(bench, flavour):
    """Compiled against the installed tree it runs with and without the installed recorder."""
    prefix, program = tree(bench), bench.path(f"installed-regions.{flavour}")
    bench.run([harness.FLAVOURS[flavour].mpicc, "-o", program,
               source(bench, "installed.c", PROGRAM),
               *flags(bench, "refrain-region", "--cflags", "--libs")], check=True)
    launch = harness.FLAVOURS[flavour].launch(2)
    # The launcher may put one rank's characters between another's.
    harness.compare("alone", sorted(bench.run([*launch, program], check=True).out),
                    sorted("done\n" * 2))
    archive = bench.path(f"installed.{flavour}.rfn")
    bench.run([*launch, prefix + "/bin/refrain", "record", "-o", archive, program], check=True)
    events = [e["function"] for e in bench.dump(archive, "--rank", "0")]
    harness.compare("events", events, ["MPI_Init", "refrain_region_begin", "MPI_Barrier",
                                       "refrain_region_end", "MPI_Finalize"])


def test_fortran_module(bench, flavour):
    tree(bench)
    module = flags(bench, "refrain-region", "--variable=fortran_module")[0]
    if not module.startswith(bench.path("installed")):  # pkg-config's variables have no sysroot
        module = bench.path("installed") + module
    program = bench.path(f"installed-fortran.{flavour}")
    bench.run([f"mpifort.{flavour}", "-J", bench.folder, "-o", program, module,
               source(bench, "installed.f90", FORTRAN),
               *flags(bench, "refrain-region", "--libs")], check=True)
    _, archive = bench.record(flavour, 1, [program])
    harness.compare("regions", [harness.parameter(e, "name") for e in bench.dump(archive)],
                    [None, "all", "all", None])


def test_reading_library(bench):
    tree(bench)
    program = bench.path("installed-reader")
    bench.run(["gcc", "-o", program, source(bench, "reader.c", READER),
               *flags(bench, "refrain", "--cflags", "--libs", "--static"), "-lpthread", "-lm"],
              check=True)
    _, archive = bench.record("openmpi", 2, [bench.program("regions", "openmpi")])
    harness.compare("what it reads", bench.run([program, archive], check=True).out, "2 whole\n")


TABLES = """
import os, sys
import refrain
print(os.path.dirname(refrain.__file__), os.path.exists(os.path.join(os.path.dirname(refrain.__file__), "py.typed")))
with refrain.open(sys.argv[1]) as run:
    print(run.ranks, set(run.events(columns=["region"]).decoded("region")) - {None})
"""


def test_python_module(bench):
    """It finds the library beside it, also when the whole tree is moved."""
    moved = bench.fresh("moved")
    shutil.copytree(tree(bench), moved)
    _, archive = bench.record("openmpi", 2, [bench.program("regions", "openmpi")])
    for prefix in (tree(bench), moved):
        python = f"{prefix}/lib/python3/dist-packages"
        out = bench.run([sys.executable, "-c", TABLES, archive], check=True,
                        env={"PYTHONPATH": python, "PYTHONDONTWRITEBYTECODE": "1", "REFRAIN_LIBRARY": ""}).out.split("\n")
        harness.compare("module", out[0], f"{python}/refrain True")
        assert out[1].startswith("2 {") and "'whole'" in out[1], out


def test_summary(bench):
    """The installation ends with the places of its files, and the next steps."""
    tree(bench)
    out = make(bench, "install", "PYTHONDIR=/opt/python").out
    summary = out[out.index("Installed Refrain"):]
    for words in ("in /usr (below", "bin/refrain", "lib/refrain", "/opt/python/refrain", "Next:",
                  "export PYTHONPATH=/opt/python", "refrain record ./app"):
        assert words in summary, f"no {words!r} in {summary}"
    place = bench.path("installed") + "/opt"
    with open(f"{place}/python/refrain/_installed.py", encoding="ascii") as file:
        harness.compare("library", file.readline().split('"')[1], "../../../usr/lib/librefrain.so.0")
    shutil.rmtree(place)


def test_messages_example(bench):
    """A token that goes round 3 ranks 4 times is 4 messages from each rank to the next one."""
    tree(bench)
    program, rounds, ranks = bench.path("installed-messages"), 4, 3
    bench.run(["gcc", "-std=c11", "-Wall", "-Werror", "-o", program, os.path.join(ROOT, "examples", "messages.c"),
               *flags(bench, "refrain", "--cflags", "--libs", "--static"), "-lm"], check=True)
    _, archive = bench.record("openmpi", ranks, [bench.program("ring", "openmpi"), str(rounds), "0"])
    lines = bench.run([program, archive], check=True).out.splitlines()
    found = [re.match(r"4 bytes, tag 5, from rank (\d) .*, to rank (\d) ", line).groups() for line in lines]
    harness.compare("messages", sorted(found), sorted([(str(r), str((r + 1) % ranks)) for r in range(ranks)] * rounds))


def test_plugin(bench):
    """The example of a plug-in is made with what is installed."""
    tree(bench)
    library = bench.path("installed-plugin.so")
    bench.run(["gcc", "-shared", "-fPIC", "-o", library, os.path.join(ROOT, "examples", "plugin.c"),
               *flags(bench, "refrain", "--cflags")], check=True)
    _, archive = bench.record("openmpi", 2, [bench.program("regions", "openmpi")])
    found = json.loads(bench.verb("info", "--json", "--clusters", "--plugin", library, archive))
    harness.compare("malformed", found["expressions"]["malformed"], 0)


def test_man_pages(bench):
    """One per command and for the region API; each renders, without a complaint."""
    prefix = tree(bench)
    commands = re.findall(r"^  (\w+)  +[A-Z]", bench.run([bench.refrain, "--help"]).out, re.M)
    wanted = [f"man1/refrain-{name}.1" for name in commands if name != "help"]
    wanted += ["man1/refrain.1", "man5/refrain-json.5", "man3/refrain_region_begin.3",
               "man3/refrain_segment_begin.3", "man3/refrain_sample.3"]
    if len(wanted) < 7:
        raise harness.Failure(f"commands: {commands}")
    for page in wanted:
        path = f"{prefix}/share/man/{page}"
        run = bench.run(["man", "--warnings", path], env={"MANWIDTH": "80", "LC_ALL": "C"},
                        check=True)
        harness.compare(f"complaints about {page}", run.err, "")
        if "NAME" not in run.out:
            raise harness.Failure(f"{page}: {run.out}")
    other = bench.run(["man", "-M", prefix + "/share/man", "3", "refrain_region_end"], check=True)
    if "refrain_region_end" not in other.out:
        raise harness.Failure(other.out)


def test_help_fits_a_screen(bench):
    for verb in VERBS:
        lines = bench.run([bench.refrain, verb, "--help"], check=True).out.splitlines()
        harness.compare(f"lines, columns of refrain {verb} --help: at most 40, 80",
                        (len(lines) <= 40, max(map(len, lines)) <= 80), (True, True))


def test_misspelt(bench):
    """The message names the nearest word; an archive alone is reported."""
    _, archive = bench.record("mpich", 2, [bench.program("point_to_point", "mpich")])
    program = bench.program("point_to_point", "mpich")
    for words, said in ((["record", "--exlude=MPI_Test", program], "did you mean --exclude?"),
                        (["report", archive, "--shrt"], "did you mean --short?"),
                        (["report", archive, "--nothing"], "there is no option --nothing; 'refrain help report' lists all"),
                        (["record", "-n", "4", program], "mpirun -n 4 refrain record ./app"),
                        (["record", "-np", "4", program], "mpirun -n 4 refrain record ./app"),
                        ([program], f"refrain record {program}"),
                        (["repotr", archive], "did you mean 'report'?")):
        run = bench.run([bench.refrain, *words])
        harness.compare(f"exit of {words}", run.code, 2)
        if said not in run.err:
            raise harness.Failure(f"no {said!r} in {run.err!r}")
    harness.compare("refrain FILE.rfn", bench.run([bench.refrain, archive, "--short"], check=True).out,
                    bench.verb("report", "--short", archive))


def test_options_in_man_page(bench):
    """These man pages have the options of their helps, and no others."""
    for verb in ("record", "report", "whatif", "predict", "convert", "gather", "calibrate", "sample", "snapshot", "watch"):
        check_options(bench, verb)


def check_options(bench, verb):
    in_help = re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", bench.run([bench.refrain, "help", verb]).out, re.M)
    with open(os.path.join(ROOT, "doc", "man", f"refrain-{verb}.1"), encoding="ascii") as file:
        page = file.read().split("\n.SH OPTIONS\n")[1].split("\n.SH ")[0]
    in_page = re.findall(r"^\.TP\n.*?(\\-\\-[a-z\\-]+)", page, re.M)
    harness.compare(f"options of {verb}", sorted(name.replace("\\", "") for name in in_page),
                    sorted(set(in_help) - {"--help", "--usage"}))


def completions(bench, *words):
    """What bash completes the last of these words to."""
    script = f"""
source {tree(bench)}/share/bash-completion/completions/refrain || exit 1
[[ $(complete -p refrain) == *_refrain* ]] || exit 1
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _refrain
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    folder = bench.path("completion")
    os.makedirs(os.path.join(folder, "runs"), exist_ok=True)
    for name in ("app.2.rfn", "app two.rfn", "app", "runs/old.rfn"):
        with open(os.path.join(folder, name), "w", encoding="ascii"):
            pass
    run = bench.run(["bash", "--norc", "-c", script, "bash", *words], cwd=folder, check=True)
    harness.compare("complaints", run.err, "")
    return [line for line in run.out.split("\n") if line]


def test_completion(bench):
    cases = [
        (["refrain", "re"], ["record", "recover", "reduce", "replay", "report"]),
        (["refrain", "ver"], ["verify"]),
        (["refrain", "help", "du"], ["dump"]),
        (["refrain", "record", "--se"], ["--segment-min-calls", "--segment-starts"]),
        (["refrain", "record", "--jo"], ["--journal", "--journal-dir"]),
        (["refrain", "sn"], ["snapshot"]),
        (["refrain", "snapshot", "--every", "="], ["10s", "600s", "60s"]),
        (["refrain", "record", "--max"], ["--max-calls-per-second", "--max-size"]),
        (["refrain", "record", "--time", "="], ["auto", "full", "none", "reduced"]),
        (["refrain", "record", "--time", "=", "n"], ["none"]),
        (["refrain", "record", "--mpi", "op"], ["openmpi"]),
        (["refrain", "record", "-o", "ap"], ["app", "app two.rfn", "app.2.rfn"]),
        (["refrain", "record", "--quiet", "./app", "run"], ["runs"]),
        (["refrain", "report", "--"],
         ["--all", "--behaviour", "--call-path", "--color", "--csv", "--fix-clocks", "--hang", "--help", "--json", "--network",
          "--rank", "--region", "--short", "--top", "--windows"]),
        (["refrain", "report", "--json", "a"], ["app two.rfn", "app.2.rfn"]),
        (["refrain", "report", "r"], ["runs"]),
        (["refrain", "dump", "runs/"], ["runs/old.rfn"]),
        (["refrain", "dump", "--rank", ""], []),
        (["refrain", "control", "app.8", "sa"], ["sample="]),
        (["refrain", "control", "app.8", "sample", "=", "r"], ["random:"]),
    ]
    for words, expected in cases:
        harness.compare(" ".join(words), sorted(completions(bench, *words)), expected)
    found = completions(bench, "refrain", "record", "mpirun.o")
    if "mpirun.openmpi" not in found:
        raise harness.Failure(f"programs: {found}")


# zsh completes in a terminal only. What it finds passes through its function compadd.
ZSH = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell 'compadd() { local -a found; builtin compadd -A found "$@"; for one in $found; do print -r -- "=$one"; done; builtin compadd "$@" }'
zpty -w shell 'print -r "rea""dy"'
zpty -r shell said '*ready*'
zpty -n -w shell "$2"$'\t\x15print -r "do""ne"\n'
zpty -r shell said '*done*'
print -r -- $said
"""


def test_completion_in_zsh_and_fish(bench):
    """Each shell has a line of words, and what completes them."""
    archive = bench.path("completes.2.rfn")
    with open(archive, "w", encoding="ascii"):
        pass
    cases = (("refrain sna", ["snapshot"]),
             ("refrain record --se", ["--segment-min-calls", "--segment-starts"]),
             ("refrain report completes", ["completes.2.rfn"]))
    where = {"env": {"PATH": f"{tree(bench)}/bin:{os.environ['PATH']}"}, "cwd": os.path.dirname(archive), "check": True}
    for line, expected in cases:
        fish = bench.run(["fish", "--no-config", "-c", f"source {tree(bench)}/share/fish/vendor_completions.d/refrain.fish; "
                                                       f"complete -C '{line}'"], **where).out
        harness.compare(f"fish: {line}", [row.split("\t")[0] for row in fish.splitlines()], expected)
        zsh = bench.run(["zsh", "-f", "-c", ZSH, "zsh", tree(bench), line], timeout=60, **where).out
        harness.compare(f"zsh: {line}", sorted(set(re.findall(r"=([a-z0-9.-]+)", zsh))), expected)
    with open(f"{tree(bench)}/share/fish/vendor_completions.d/refrain.fish", encoding="ascii") as file:
        harness.compare("verbs in fish", re.findall(r"__fish_use_subcommand -f -a (\w+)", file.read()), list(VERBS))


def test_completion_knows_every_option(bench):
    """What help lists is what completes."""
    for verb in VERBS:
        text = bench.run([bench.refrain, "help", verb], check=True).out
        options = set(re.findall(r"^ .*?(--[a-z-]+)", text, re.M)) - {"--usage"}
        found = set(completions(bench, "refrain", verb, "--"))
        harness.compare(f"options of {verb}", found, options)


def test_replay(bench, flavour):
    """The installed tool finds the installed programs that replay."""
    _, archive = bench.record(flavour, 2, [bench.program("point_to_point", flavour)])
    run = bench.run([*harness.FLAVOURS[flavour].launch(2), f"{tree(bench)}/bin/refrain", "replay", archive],
                    check=True)
    if "received as recorded" not in run.out:
        raise harness.Failure(run.out)


def test_uninstall(bench):
    """Nothing is left, and what others have put there stays."""
    prefix = tree(bench)
    other = f"{prefix}/share/man/man1/other.1"
    with open(other, "w", encoding="ascii"):
        pass
    make(bench, "uninstall")
    left = [os.path.join(folder, name) for folder, _, names in os.walk(bench.path("installed"))
            for name in names]
    harness.compare("files left", left, [other])
    make(bench, "install")
