"""How recording is started: real launchers, scripts and mistakes (launcher_test.py: made-up ones).

What a user may rely on: the program runs as ever, whatever stands between it and the launcher;
there is one archive, named after the executable that calls MPI; a mistake is told once, in one
line, before anything has run.
"""
import array
import contextlib
import fcntl
import json
import os
import shlex
import shutil
import subprocess
import threading

import conditions
import harness

RANKS = 2
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_IMMUTABLE_FL = 0x80086601, 0x40086602, 0x10  # linux/fs.h


def own_lines(run):
    return [line for line in run.err.splitlines() if line.startswith("refrain: ")]


def folder(bench, name):
    path = bench.path(name)
    os.makedirs(path)
    return path


def archives(path):
    return sorted(name for name in os.listdir(path) if name.endswith(".rfn"))


def check_ran(bench, flavour, run, where, name, ranks=RANKS):
    """The program ran on so many ranks and left an archive, of which one line tells."""
    total = ranks * (ranks - 1) // 2
    harness.compare("first line", run.out.split("\n")[0], f"ran {ranks} {total}")
    harness.compare("archives", archives(where), [name])
    lines = own_lines(run)
    harness.compare(f"lines in {run.err}", len(lines), 1)
    if not lines[0].endswith("; next: refrain report " + shlex.quote(name)):
        raise harness.Failure(f"the archive's name is not told: {lines[0]}")
    found = harness.count_calls(bench.dump(os.path.join(where, name)))
    harness.compare("calls", found, {f"MPI_{f}": ranks for f in (
        "Init", "Comm_rank", "Comm_size", "Allreduce", "Finalize")})
    bench.verb("verify", os.path.join(where, name))


def start(bench, flavour, where, words, options=()):
    """mpirun ... refrain record OPTIONS WORDS"""
    return bench.run([*harness.FLAVOURS[flavour].launch(RANKS), bench.refrain, "record", *options,
                      *words], cwd=where, check=True)


# How a process knows its rank before MPI_Init.
RANK = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}


def script(where, name, text):
    path = os.path.join(where, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


# ---- the ways to start a program ----

def test_between_launcher_and_program(bench, flavour):
    where = folder(bench, f"between.{flavour}")
    shutil.copy(bench.program("family", flavour), os.path.join(where, "app"))
    run = start(bench, flavour, where, ["./app"])
    check_ran(bench, flavour, run, where, f"app.{RANKS}.rfn")
    run = start(bench, flavour, where, ["./app"])  # a second run adds a number
    harness.compare("archives", archives(where), ["app.2.2.rfn", "app.2.rfn"])
    run = start(bench, flavour, where, ["./app"], ["--force"])
    harness.compare("archives", archives(where), ["app.2.2.rfn", "app.2.rfn"])


def test_before_launcher(bench, flavour):
    program = bench.program("family", flavour)
    name = f"{os.path.basename(program)}.{RANKS}.rfn"
    mpirun = harness.FLAVOURS[flavour].mpirun
    forms = {"openmpi": [["-n", "2"], ["-np", "2", "--mca", "btl", "self,vader", "-x", "PATH"],
                         ["--map-by", "slot", "-n", "2", "--"]],
             "mpich": [["-n", "2"], ["-np", "2", "-genv", "COLOR", "blue"],
                       ["-l", "-env", "A", "B", "-n", "2", "--"]]}
    for number, words in enumerate(forms[flavour]):
        where = folder(bench, f"before.{flavour}.{number}")
        run = bench.run([bench.refrain, "record", *mpirun, *words, program], cwd=where, check=True)
        run.out = run.out.removeprefix("[0] ")  # -l labels the lines
        run.err = "".join(line.removeprefix("[0] ") for line in run.err.splitlines(keepends=True))
        check_ran(bench, flavour, run, where, name)


def test_output_option(bench, flavour):
    where = folder(bench, f"output.{flavour}")
    program = bench.program("family", flavour)
    os.mkdir(os.path.join(where, "deep er"))
    bench.run([bench.refrain, "record", "-o", "deep er/a b.rfn",
               *harness.FLAVOURS[flavour].launch(RANKS), program], cwd=where, check=True)
    harness.compare("archives", archives(os.path.join(where, "deep er")), ["a b.rfn"])
    harness.compare("others", archives(where), [])


def test_without_launcher(bench, flavour):
    where = folder(bench, f"alone.{flavour}")
    program = bench.program("family", flavour)
    run = bench.run([bench.refrain, "record", program], cwd=where, check=True)
    check_ran(bench, flavour, run, where, os.path.basename(program) + ".1.rfn", 1)


def test_path_with_spaces(bench, flavour):
    where = folder(bench, f"with spaces.{flavour}")
    shutil.copy(bench.program("family", flavour), os.path.join(where, "my app"))
    run = start(bench, flavour, where, ["./my app"])
    check_ran(bench, flavour, run, where, f"my app.{RANKS}.rfn")


def test_through_other_programs(bench, flavour):
    """What stands between needs no MPI; the recorder sleeps in it."""
    program = bench.program("family", flavour)
    name = f"{os.path.basename(program)}.{RANKS}.rfn"
    where = folder(bench, f"through.{flavour}")
    ways = [[script(where, "run", f"#!/bin/sh\nls / >/dev/null\n{program} \"$@\"\n")],
            ["env", "COLOR=blue", program],
            ["sh", "-c", f"true; exec {program}"],
            ["nice", "env", os.path.join(where, "run")]]
    for words in ways:
        run = start(bench, flavour, where, words)
        check_ran(bench, flavour, run, where, name)
        os.remove(os.path.join(where, name))
    run = bench.run([bench.refrain, "record", *harness.FLAVOURS[flavour].launch(RANKS),
                     os.path.join(where, "run")], cwd=where, check=True)
    check_ran(bench, flavour, run, where, name)


@harness.condition("MPI loaded by dlopen", conditions.WHOLE)
def test_mpi_loaded_later(bench, flavour):
    where = folder(bench, f"later.{flavour}")
    program = bench.program("loader", flavour, ["-Wl,--as-needed"])
    refused(bench, where, 2, "needs no MPI library", program)
    run = bench.run([bench.refrain, "record", f"--mpi={flavour}", program,
                     harness.FLAVOURS[flavour].library], cwd=where, check=True)
    harness.compare("output", run.out.split(" ")[0], "ran")
    archive = os.path.join(where, os.path.basename(program) + ".1.rfn")
    harness.compare("calls", harness.count_calls(bench.dump(archive)),
                    {"MPI_Init": 1, "MPI_Get_version": 1, "MPI_Finalize": 1})


def test_exit_status(bench, flavour):
    where = folder(bench, f"status.{flavour}")
    program = bench.program("family", flavour)
    run = bench.run([bench.refrain, "record", program, "7"], cwd=where)
    harness.compare("exit", run.code, 7)
    run = bench.run([bench.refrain, "record", *harness.FLAVOURS[flavour].launch(1), program, "7"],
                    cwd=where)
    harness.compare("exit through the launcher", run.code, 7)


@harness.condition("no /proc (Open MPI; MPICH does not start)", conditions.WHOLE)
def test_without_proc(bench):
    check_without_proc(bench, "proc", ())


@harness.condition("no /proc (Open MPI; MPICH does not start), with a journal", conditions.WHOLE)
def test_without_proc_with_journal(bench):
    check_without_proc(bench, "proc-journal", ("--journal",))


def check_without_proc(bench, name, options):
    """As in a chroot. (MPICH does not start there, with the recorder or without.)"""
    where = folder(bench, name)
    shutil.copy(bench.program("family", "openmpi"), os.path.join(where, "app"))
    hidden = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    allowed = bench.run([*hidden, "true"])
    if allowed.code != 0:
        raise harness.Refused(f"/proc cannot be hidden: {allowed.err}")
    run = bench.run([*hidden, bench.refrain, "record", *options, "./app"], cwd=where, check=True)
    check_ran(bench, "openmpi", run, where, "app.1.rfn", 1)
    archive = os.path.join(where, "app.1.rfn")
    harness.compare("command", json.loads(bench.verb("info", "--json", archive))["command"], "./app")
    paths = {event["call_path"] for event in bench.dump(archive)}
    harness.compare(f"calls without a line in {paths}", [p for p in paths if "family.c:" not in p], [])


# ---- the environment ----

def test_children_are_not_recorded(bench, flavour):
    """The program's children see nothing of the recorder; another LD_PRELOAD stays and works."""
    where = folder(bench, f"children.{flavour}")
    source = os.path.join(where, "other.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include <unistd.h>\n__attribute__((constructor)) static void loaded(void)\n'
                   '{ if (write(2, "other is here\\n", 14) < 0) _exit(9); }\n')
    other = os.path.join(where, "other.so")
    bench.run(["cc", "-w", "-shared", "-fPIC", "-o", other, source], check=True)
    program = bench.program("family", flavour)
    for variables in ({}, {"LD_PRELOAD": other}):
        run = bench.run([bench.refrain, "record", "-f", program], cwd=where, check=True,
                        env=variables)
        lines = run.out.splitlines()
        harness.compare("REFRAIN_*", [l for l in lines if l.startswith("REFRAIN_")], [])
        harness.compare("LD_PRELOAD", [l for l in lines if l.startswith("LD_PRELOAD=")],
                        [f"LD_PRELOAD={other}"] if variables else [])
        if variables and run.err.count("other is here\n") < 2:  # the program and its child
            raise harness.Failure(f"the other library is not loaded: {run.err}")
        harness.compare("archives", archives(where), [os.path.basename(program) + ".1.rfn"])


@harness.condition("address sanitizer in the program", conditions.WHOLE)
def test_address_sanitizer(bench, flavour):
    """Its library ends the program unless it is loaded before all others; children do not get it."""
    where = folder(bench, f"sanitizer.{flavour}")
    shutil.copy(bench.program("family", flavour, ("-fsanitize=address",)), os.path.join(where, "app"))
    leaks = {"ASAN_OPTIONS": "detect_leaks=0"}  # MPI has some
    run = bench.run([bench.refrain, "record", "./app"], cwd=where, check=True, env=leaks)
    check_ran(bench, flavour, run, where, "app.1.rfn", 1)
    lines = [line for line in run.out.splitlines() if line.startswith("LD_PRELOAD=")]
    harness.compare("LD_PRELOAD of a child", lines, [])


# ---- the archive's name ----

def test_variables_in_the_name(bench, flavour):
    where = folder(bench, f"variables.{flavour} 100%")
    shutil.copy(bench.program("family", flavour), os.path.join(where, "app"))
    os.mkdir(os.path.join(where, "runs"))
    launch = harness.FLAVOURS[flavour].launch(RANKS)
    environment = {"RUNS": "runs", "SLURM_JOB_ID": "81", "ABSOLUTE": where}
    for pattern, name in (("%e.%r.%h.rfn", f"app.{RANKS}.{os.uname().nodename}.rfn"),
                          ("%{RUNS}/%j-50%%.rfn", "runs/81-50%.rfn"),
                          ("%{ABSOLUTE}/%r.rfn", f"{RANKS}.rfn")):
        between = [*launch, bench.refrain, "record", "-o", pattern, "./app"]
        before = [bench.refrain, "record", "-o", pattern, *launch, "./app"]
        for words in (between, before):
            run = bench.run(words, cwd=where, env=environment, check=True)
            path = os.path.join(where, name)
            harness.compare(f"{words}: {name} is there, lines", (os.path.exists(path), len(own_lines(run))), (True, 1))
            os.remove(path)
        harness.compare("others", archives(where), [])


def test_wrong_variables_in_the_name(bench, flavour):
    where = folder(bench, f"no-variables.{flavour}")
    program = bench.program("family", flavour)
    launch = harness.FLAVOURS[flavour].launch(RANKS)
    refused(bench, where, 2, "no variable at '%x.rfn'", "-o", "a%x.rfn", program)
    refused(bench, where, 2, "no variable at '%x.rfn'", "-o", "a%x.rfn", *launch, program)
    refused(bench, where, 2, "needs %{NOT_SET_AT_ALL}, which is not set", "-o", "%{NOT_SET_AT_ALL}", program)
    run = bench.run([*launch, bench.refrain, "record", "-o", "%{NOT_SET_AT_ALL}", program], cwd=where)
    harness.compare("ran, lines", ("ran" in run.out, len(own_lines(run))), (False, 1))


def test_name_is_too_long(bench, flavour):
    """That of the program, with what is added to it, or the one that is given."""
    where = folder(bench, f"long.{flavour}")
    shutil.copy(bench.program("family", flavour), os.path.join(where, "p" * 250))
    refused(bench, where, 2, "too long a name", "./" + "p" * 250)
    refused(bench, where, 2, "too long a name", "-o", "o" * 256, "./" + "p" * 250)
    run = bench.run([bench.refrain, "record", "-o", "o" * 251 + ".rfn", "./" + "p" * 250], cwd=where, check=True)
    harness.compare("archives", archives(where), ["o" * 251 + ".rfn"])
    harness.compare("lines", len(own_lines(run)), 1)


# ---- mistakes: one line, and nothing has run ----

def test_env_without_environment(bench, flavour):
    where = folder(bench, f"env.{flavour}")
    program = bench.program("family", flavour)
    launch = harness.FLAVOURS[flavour].launch(RANKS)
    for words in (["env", "-i"], ["/usr/bin/env", "-u", "LD_PRELOAD"], ["env", "LD_PRELOAD="]):
        text = f"{words[0]} {words[1]} takes the recorder (LD_PRELOAD) from the program"
        refused(bench, where, 2, text, f"--mpi={flavour}", *words, program)
        refused(bench, where, 2, text, f"--mpi={flavour}", *launch, *words, program)


def refused(bench, where, code, text, *words):
    run = bench.run([bench.refrain, "record", *words], cwd=where)
    what = f"refrain record {' '.join(words)}: {run.err}"
    harness.compare(f"exit of {what}", run.code, code)
    harness.compare(f"output of {what}", run.out, "")
    harness.compare(f"lines of {what}", run.err.count("\n"), 1)
    if text not in run.err:
        raise harness.Failure(f"no word of {text!r} in {run.err}")
    harness.compare("archives", archives(where), [])


def test_wrong_options_are_told_once(bench, flavour):
    """By rank 0, whatever is wrong, of the verbs that all ranks of a job run."""
    where = folder(bench, f"wrong.{flavour}")
    program = bench.program("family", flavour)
    for words, text in ((["record", "--tmie=full", program], "did you mean --time?"),
                        (["record", "-z", program], "no option -z"),
                        (["record", "--similarity=no", program], "--similarity"),
                        (["record", "--across=no", program], "--across"),
                        (["record", "--memory=no", program], "--memory"),
                        (["record"], "no program is given"),
                        (["calibrate", "--seconds=0"], "--seconds"),
                        (["replay", "--scale-compute=-1", "x.rfn"], "--scale-compute")):
        run = bench.run([*harness.FLAVOURS[flavour].launch(4), bench.refrain, *words], cwd=where, timeout=30)
        told = [line for line in run.err.splitlines() + run.out.splitlines() if line.startswith("refrain ")]
        harness.compare(f"{words}: exit, lines {told}", (run.code != 0, len(told)), (True, 1))
        if text not in told[0]:
            raise harness.Failure(f"no {text!r} in {told[0]!r}")
    # one of several that each do something else
    run = bench.run([bench.refrain, "report", "--no"], cwd=where, env={RANK[flavour]: "1"})
    harness.compare("other verbs", "--no" in run.err, True)


def test_each_of_several_programs_tells_what_is_wrong(bench):
    """Each has options of its own; Open MPI says which ranks are whose."""
    where = folder(bench, "several")
    program = bench.program("family", "openmpi")
    good, wrong = ["record", "-q", program], ["record", "--across=no", program]
    for first, second in ((good, wrong), (wrong, good)):
        run = bench.run([*harness.FLAVOURS["openmpi"].launch(2), bench.refrain, *first, ":",
                         "-n", "2", bench.refrain, *second], cwd=where, timeout=30)
        told = [line for line in run.err.splitlines() if "--across" in line]
        harness.compare(f"{first} {second}: exit, lines {told}", (run.code != 0, len(told)), (True, 1))


def right_steps(ranks):
    """What programs/in_step.c prints."""
    return {f"rank {rank} step {step}: {step} {step * ranks}" for rank in range(ranks) for step in (1, 2, 3)}


def check_some(bench, archive, ranks, of):
    """An archive of some ranks, with all that they did."""
    code = 0 if len(ranks) == of else 3
    harness.compare("verify", bench.run([bench.refrain, "verify", archive]).code, code)
    dump = bench.run([bench.refrain, "dump", archive])
    harness.compare("dump", dump.code, code)
    events = [line.split("\t") for line in dump.out.splitlines()[1:]]
    harness.compare("ranks in the archive", sorted({int(event[1]) for event in events}), ranks)
    for rank in ranks:
        functions = [event[5] for event in events if int(event[1]) == rank]
        harness.compare("first and last call", (functions[0], functions[-1]), ("MPI_Init", "MPI_Finalize"))
    info = json.loads(bench.run([bench.refrain, "info", "--json", archive]).out)
    harness.compare("ranks of the job", info["ranks"], of)
    harness.compare("a journal is left", os.path.exists(archive + ".journal"), False)


@harness.condition("only some ranks recorded, chosen by a script", "as without the recorder, and one archive of those ranks")
def test_ranks_that_are_not_recorded(bench, flavour):
    """The others do not wait for them, and nobody gets a message that is another one's."""
    where = folder(bench, f"some.{flavour}")
    program = bench.program("in_step", flavour)
    archive = os.path.join(where, "x.rfn")
    ways = (([], {}), (["--merge-interval=1"], {}), ([], {"REFRAIN_CLOCK_SYNC": "always"}), (["--journal"], {}),
            (["--sample=random:1", "--with-trace"], {}), (["--keep-predictions=1us"], {}))
    for number, (condition, recorded) in enumerate((("= 0", [0]), ("!= 0", [1, 2]), ("= 7", []))):
        some = script(where, f"some{number}", "#!/bin/sh\n"
                                              f"test ${RANK[flavour]} {condition} || exec {program}\n"
                                              f'exec {bench.refrain} record -f -o x.rfn "$@" {program}\n')
        for options, env in ways:
            run = bench.run([*harness.FLAVOURS[flavour].launch(3), some, *options], cwd=where, timeout=30, env=env,
                            check=True)
            lines = {line for line in run.out.splitlines() if line.startswith("rank ")}
            harness.compare(f"rank {condition}, {options}, {env}: lines", lines, right_steps(3))
            if recorded:
                check_some(bench, archive, recorded, 3)
                harness.compare(f"it is told: {run.err}", run.err.count("that were started under refrain record"), 1)
                os.remove(archive)


@harness.condition("only one of several programs recorded", "as without the recorder, and one archive of its ranks")
def test_one_of_several_programs_is_recorded(bench, flavour):
    where = folder(bench, f"one_of_several.{flavour}")
    program = bench.program("in_step", flavour)
    record = [bench.refrain, "record", "-o", "x.rfn", program]
    for first, second, recorded in ((record, [program], [0, 1]), ([program], record, [2, 3])):
        bench.run([*harness.FLAVOURS[flavour].launch(2), *first, ":", "-n", "2", *second], cwd=where, timeout=30,
                  check=True)
        check_some(bench, os.path.join(where, "x.rfn"), recorded, 4)
        os.remove(os.path.join(where, "x.rfn"))


def test_all_of_several_programs_are_recorded(bench, flavour):
    """Programs of other names and in other folders, without a name for the archive."""
    where = folder(bench, f"all_of_several.{flavour}")
    programs = [os.path.join(where, name, name) for name in ("first", "second")]
    for program in programs:
        os.makedirs(os.path.dirname(program))
        shutil.copy(bench.program("in_step", flavour), program)
    enter = script(where, "enter", "#!/bin/sh\n" + 'cd "$(dirname "$1")" && exec ' + f'{bench.refrain} record "$1"\n')
    run = bench.run([*harness.FLAVOURS[flavour].launch(1), enter, programs[0], ":", "-n", "2", enter, programs[1]],
                    cwd=where, timeout=30, check=True)
    harness.compare(f"it is told: {run.err}", "started under refrain record" in run.err, False)
    harness.compare("archives", archives(os.path.dirname(programs[1])), [])
    check_some(bench, os.path.join(os.path.dirname(programs[0]), "first.3.rfn"), [0, 1, 2], 3)


def test_rank_0_tells_what_is_wrong_though_it_comes_last(bench, flavour):
    """The launcher ends all ranks as soon as one fails, so that the others do not fail before."""
    where = folder(bench, f"late.{flavour}")
    late = script(where, "late", "#!/bin/sh\n"
                                 f"test ${RANK[flavour]} = 0 && sleep 0.5\n"
                                 'exec "$@"\n')
    for words, text in ((["record", "--across=no", "./late"], "--across"),
                        (["record", "./nothing"], "no such program"),
                        (["replay", "--scale-compute=-1", "x.rfn"], "--scale-compute")):
        run = bench.run([*harness.FLAVOURS[flavour].launch(3), late, bench.refrain, *words], cwd=where,
                        timeout=30)
        told = [line for line in run.err.splitlines() if line.startswith("refrain")]
        harness.compare(f"{words}: exit, lines {told}", (run.code != 0, len(told)), (True, 1))
        if text not in told[0]:
            raise harness.Failure(f"no {text!r} in {told[0]!r}")


@harness.condition("a static program", conditions.TOLD_BEFORE)
def test_programs_that_cannot_be_recorded(bench):
    where = folder(bench, "refused")
    source = script(where, "serial.c", "int MPI_Init(void *a, void *b) { return 0; }\n"
                                       "int main(void) { return 3; }\n")
    static, serial = os.path.join(where, "static"), os.path.join(where, "serial")
    bench.run(["cc", "-w", "-static", "-o", static, source], check=True)
    bench.run(["cc", "-w", "-DMPI_Init=f", "-o", serial, source], check=True)
    library = os.path.join(where, "libmpi.so.77")
    strange = os.path.join(where, "strange")
    bench.run(["cc", "-w", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.77", "-o", library, source],
              check=True)
    caller = script(where, "caller.c", "int MPI_Init(void *, void *);\n"
                                       "int main(void) { return MPI_Init(0, 0); }\n")
    bench.run(["cc", "-w", "-o", strange, caller, library, f"-Wl,-rpath,{where}"], check=True)
    script(where, "script", "#!/bin/sh\nexit 3\n")
    refused(bench, where, 2, "linked statically with its MPI", "./static")
    refused(bench, where, 2, "libmpi.so.77", "./strange")
    refused(bench, where, 2, "needs no MPI library", "./serial")
    refused(bench, where, 2, "is a script", "./script")
    refused(bench, where, 127, "no such program", "./nothing")
    refused(bench, where, 127, "in PATH", "surely-no-such-program")
    os.chmod(source, 0o644)
    refused(bench, where, 126, "not executable", "./serial.c")


def test_launchers_that_cannot_be_recorded(bench, flavour):
    where = folder(bench, f"mpmd.{flavour}")
    program = bench.program("family", flavour)
    mpirun = harness.FLAVOURS[flavour].mpirun
    other = {"openmpi": "mpich", "mpich": "openmpi"}[flavour]
    refused(bench, where, 2, "several programs", *mpirun, "-n", "1", program, ":", "-n", "1",
            program)
    refused(bench, where, 2, "no program", *mpirun, "-n", "1")
    refused(bench, where, 127, "no such program", *mpirun, "-n", "1", "./nothing")
    refused(bench, where, 2, f"--mpi={other}", f"--mpi={other}", *mpirun, "-n", "1", program)


@harness.condition("an unwritable folder", conditions.TOLD_BEFORE)
def test_archive_cannot_be_written(bench, flavour):
    """Told before the program runs, by rank 0, and no rank waits for another."""
    where = folder(bench, f"unwritable.{flavour}")
    program = bench.program("family", flavour)
    refused(bench, where, 1, "No such file", "-o", "none/x.rfn", program)
    refused(bench, where, 2, "is a directory", "-o", ".", program)
    refused(bench, where, 1, "/proc/x.rfn cannot be written: /proc: ", "-o", "/proc/x.rfn", program)
    os.symlink("/dev/null", os.path.join(where, "link"))
    refused(bench, where, 2, "is a device", "-f", "-o", "link", program)
    os.symlink("none", os.path.join(where, "nowhere"))
    refused(bench, where, 2, "a symbolic link", "-f", "-o", "nowhere", program)
    run = bench.run([*harness.FLAVOURS[flavour].launch(RANKS), bench.refrain, "record", "-o",
                     "none/x.rfn", program], cwd=where, timeout=30)
    if run.code == 0 or "ran" in run.out:
        raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")
    harness.compare(f"lines in {run.err}", len(own_lines(run)), 1)


@harness.condition("an unwritable folder", conditions.TOLD_BEFORE)
def test_directory_cannot_be_written(bench, flavour):
    """The archive would go to the directory that the program starts in; where a script starts it, that
    may be another, so that nothing is refused before."""
    where = folder(bench, f"kernel.{flavour}")
    program = bench.program("family", flavour)
    run = bench.run([bench.refrain, "record", program], cwd="/proc")
    harness.compare(f"exit, output and lines of {run.err}", (run.code, run.out, len(own_lines(run))),
                    (1, "", 1))
    if "no archive can be written in .: " not in run.err:
        raise harness.Failure(run.err)
    name = script(where, "run", f"#!/bin/sh\ncd {where}\n{program}\n")
    bench.run([bench.refrain, "record", f"--mpi={flavour}", name], cwd="/proc", check=True)
    harness.compare("archives", archives(where), [os.path.basename(program) + ".1.rfn"])


@contextlib.contextmanager
def immutable(path):
    """A file that nobody can remove, even root."""
    with open(path, "rb") as file:
        flags = array.array("l", [0])
        try:
            fcntl.ioctl(file, FS_IOC_GETFLAGS, flags)
            fcntl.ioctl(file, FS_IOC_SETFLAGS, array.array("l", [flags[0] | FS_IMMUTABLE_FL]))
        except OSError as error:
            raise harness.Refused(f"a file cannot be made immutable: {error}") from error
        try:
            yield
        finally:
            fcntl.ioctl(file, FS_IOC_SETFLAGS, flags)


def test_old_archive_cannot_be_removed(bench, flavour):
    """With -f, before the program runs; and where only the recorder finds it, why."""
    where = folder(bench, f"removed.{flavour}")
    program = bench.program("family", flavour)
    old, link = os.path.join(where, "old"), os.path.join(where, "link")
    with open(old, "wb"):
        pass
    os.symlink(old, link)
    alone = {"LD_PRELOAD": os.path.join(bench.build, "lib", f"librefrain-{flavour}.so"),
             "REFRAIN_FORCE": "1"}
    run = bench.run([program], cwd=where, env={**alone, "REFRAIN_OUTPUT": link}, check=True)
    harness.compare("lines", own_lines(run), [
        f"refrain: no archive was written: rank 0: {link} is not a regular file and is not replaced; name another with --output"])
    with immutable(old):
        refused(bench, where, 1, "old cannot be removed: it is immutable", "-f", "-o", "old", program)
        run = bench.run([program], cwd=where, env={**alone, "REFRAIN_OUTPUT": old}, check=True)
        harness.compare("lines", own_lines(run), [
            f"refrain: no archive was written: cannot replace {old}: Operation not permitted"])
        bench.run([bench.refrain, "record", "-o", "old", program], cwd=where, check=True)
        harness.compare("files", sorted(os.listdir(where)), ["link", "old", "old.2"])


def test_mpmd_first_form(bench, flavour):
    """What the error message says to do instead works: one job, one archive."""
    where = folder(bench, f"parts.{flavour}")
    program = bench.program("family", flavour)
    part = [bench.refrain, "record", "-o", "x.rfn", program]
    run = bench.run([*harness.FLAVOURS[flavour].launch(1), *part, ":", "-n", "1", *part], cwd=where,
                    check=True)
    check_ran(bench, flavour, run, where, "x.rfn")


# ---- runs that leave no archive, or less than one expects ----

def test_nothing_to_record(bench, flavour):
    """A program that calls no MPI function: rank 0 says so."""
    where = folder(bench, f"nothing.{flavour}")
    source = script(where, "serial.c", "int main(void) { return 0; }\n")
    bench.run(["cc", "-o", os.path.join(where, "serial"), source], check=True)
    for words in (["./serial"], ["env", "./serial"]):
        run = start(bench, flavour, where, words)
        harness.compare(f"lines in {run.err}", own_lines(run),
                        ["refrain: no archive was written: the program called no MPI function"])
    run = start(bench, flavour, where, ["sh", "-c", "./serial; true"])
    harness.compare("lines", own_lines(run), [])  # a child could have been recorded
    harness.compare("archives", archives(where), [])


def test_fortran(bench, flavour):
    """A program in Fortran is started and recorded like any other."""
    where = folder(bench, f"fortran.{flavour}")
    source = script(where, "ring.f90", """program ring
  use mpi
  implicit none
  integer :: ierr, rank, total
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,i0)', 'ran ', total
  call MPI_Finalize(ierr)
end program
""")
    program = os.path.join(where, "ring")
    bench.run([f"mpif90.{flavour}", "-o", program, source], cwd=where, check=True)
    run = start(bench, flavour, where, [program])
    harness.compare("output", run.out, "ran 1\n")
    harness.compare(f"lines in {run.err}", len(own_lines(run)), 1)
    calls = harness.count_calls(bench.dump(os.path.join(where, "ring.2.rfn")))
    harness.compare("calls", calls, {f"MPI_{f}": RANKS for f in (
        "Init", "Comm_rank", "Allreduce", "Finalize")})


def test_launcher_of_another_mpi(bench, flavour):
    where = folder(bench, f"other.{flavour}")
    other = {"openmpi": "mpich", "mpich": "openmpi"}[flavour]
    run = start(bench, flavour, where, [bench.program("family", other)])
    told = [line for line in own_lines(run) if "another MPI" in line]
    harness.compare(f"warnings in {run.err}", len(told), 1)
    harness.compare("archives", len(archives(where)), RANKS)


def test_long_wait_is_told(bench):
    """Where a launcher starts several programs, one of which may not be recorded. (Here it is only
    late: it ends when the line has come.)"""
    bench.check_several(harness.FLAVOURS["openmpi"].mpirun)
    where = folder(bench, "wait")
    program = bench.program("unequal", "openmpi")
    part = [bench.refrain, "record", "-o", "x.rfn", program, "go"]
    command = [*harness.FLAVOURS["openmpi"].launch(1), *part, ":", "-n", "1", *part]
    with subprocess.Popen(command, cwd=where, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        late = threading.Timer(60, harness.end_job, [process])
        late.start()
        told = []
        for line in process.stderr:
            told += [line] if line.startswith("refrain: ") else []
            if "waiting for all ranks" in line:
                with open(os.path.join(where, "go"), "w", encoding="ascii"):
                    pass
        late.cancel()
        process.wait()
    harness.compare(f"exit, and lines in {told}", (process.returncode, len(told)), (0, 2))
    harness.compare("archives", archives(where), ["x.rfn"])
