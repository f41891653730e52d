"""A program behaves the same with the recorder and without: output, exit status, no hang."""
import json
import os
import re

import conditions
import harness
import test_counts
import test_events

TIMEOUT = 60


# What the launcher and MPI's own libraries write there when a process fails.
NOT_THE_PROGRAMS = re.compile(r"=|$|Please see the FAQ|This typically|YOUR APPLICATION|\[.* UCX ")


def output_of(run):
    """Lines of standard output in an order that does not depend on the run."""
    return sorted(l for l in run.out.splitlines() if not NOT_THE_PROGRAMS.match(l))


def own_words(run):
    """What the recorder said of itself, not of regions that a program ends wrongly."""
    return [line for line in run.err.splitlines() if line.startswith("refrain:")
            and not line.startswith(("refrain: refrain_region_end(",
                                     "refrain: refrain_segment_end("))]


def both(bench, flavour, ranks, command, options=(), env=None, output=True, status=True, before=()):
    """Runs a command without and with the recorder, compares, and returns (run, archive). The
    archive need not exist. output, status: whether standard output and the exit status are to be the same.
    before: words between the launcher and what it starts."""
    launch = [*harness.FLAVOURS[flavour].launch(ranks), *before]
    alone = bench.run([*launch, *command], timeout=TIMEOUT, env=env)
    archive = bench.fresh("behaviour.rfn")
    recorded = bench.run([*launch, bench.refrain, "record", "--time=full",
                          "-o", archive, *options, *command],
                         timeout=TIMEOUT, env=env)
    if output:
        harness.compare("standard output", output_of(recorded), output_of(alone))
    if status:
        harness.compare("exit status", recorded.code, alone.code)
    return recorded, archive


def has_archive(bench, run, archive):
    if not os.path.exists(archive):
        raise harness.Failure("no archive\n" + run.err)
    bench.verb("verify", archive)
    # programs/endings.c calls PMPI_Barrier
    said = [line for line in own_words(run) if "by PMPI names went past the recorder" not in line]
    harness.compare("lines of the recorder", len(said), 1)


def has_none(run, archive, words):
    if os.path.exists(archive):
        raise harness.Failure("there is an archive")
    told = own_words(run)
    if len(told) != 1 or not re.search(words, told[0]):
        raise harness.Failure(f"expected one line with '{words}', found {told}")


def make_test(name, ranks):
    def test(bench, flavour):
        run, archive = both(bench, flavour, ranks, [bench.program(name, flavour)])
        has_archive(bench, run, archive)
    return test


for _name, _ranks in test_events.programs():
    globals()[f"test_{_name}"] = make_test(_name, _ranks)

# ---- ways to end (programs/endings.c) ----

# Those that end with MPI_Finalize: there is an archive, and the recorder says one line.
WHOLE = ["plain", "status", "at-exit", "forked", "alarms", "deep", "small-stack",
         "no-environment", "chdir", "jumping"]
# Those without an archive, and what the recorder says instead.
NONE = {"limited": "no archive.*[Ff]ile too large", "no-files": "no archive.*Too many open files",
        "abort": "rank 0 called MPI_Abort",
        "exit-early": r"the program ended without MPI_Finalize; next: refrain recover",
        "no-init": "no archive.*no MPI function"}
# Those where nothing can be said, or nothing needs to be.
SILENT = ["fatal", "segfault", "killed", "exit-at-once", "only-initialized", "no-stderr",
          "broken-stderr"]


# A launcher that ends its ranks may not pass on what they said last.
CUT_SHORT = ["abort", "abort-by-one", "exit-early", "exit-of-one", "exit-at-once"]
STATUSES = {"exit-of-one": "3", "exit-early": "3", "exit-at-once": "4"}  # of ranks that end by themselves
# Ranks that know nothing of each other: the first that fails has the launcher end the other one, wherever that is.
APART = ["no-init", "only-initialized"]
# Programs with a rank that still saves its record, or is about to end, while another one has ended.
SAVING = ["exit-early", "exit-at-once"]

# What starts a rank: the rank alone; one whose status is said, too; one that fails when both are done and what they
# printed is passed on (a job's ranks have one parent).
ALONE = ['exec "$@"']
SAYING = ['test "$PMI_RANK" = 1 || exec "$@"', '"$@"', "s=$?", 'echo "status $s" >&2', "exit $s"]
TOGETHER = ['"$@"', "s=$?", 'echo "status $s" >&2', 'echo "$PPID has one" >&2',
            'until [ "$(grep -c "^$PPID has one" "$0")" = 2 ]; do sleep 0.01; done', "sleep 0.2", "exit $s"]


def ending(bench, flavour, how, options=(), env=None):
    program = bench.program("endings", flavour)
    if how not in CUT_SHORT + APART:
        return both(bench, flavour, 2, [program, how], options, env)
    said = bench.fresh(f"{how}-{flavour}.said")
    # The launcher of MPICH has the status of the rank that ends, or of one that it has killed for that (9, now and then
    # on a busy machine, also without the recorder), or 0 (Hydra 4.2). So the rank says its own.
    own = flavour == "mpich" and how in STATUSES
    start = TOGETHER if how in APART + SAVING else SAYING if own else ALONE
    run, archive = both(bench, flavour, 2, [program, how], options, env, status=not own,
                        before=harness.saying_into(said, start))
    run.err = harness.said_in(said)
    if own:
        harness.compare("statuses of ranks", re.findall("(?m)^status (.*)$", run.err), [STATUSES[how]] * (4 if start is TOGETHER else 2))
    return run, archive


def make_ending(how):
    def test(bench, flavour):
        run, archive = ending(bench, flavour, how)
        if how in WHOLE:
            has_archive(bench, run, archive)
        elif how in NONE:
            has_none(run, archive, NONE[how])
        else:
            harness.compare("lines of the recorder", own_words(run), [])
    return test


CONDITIONS = {
    "exit-early": ("exit", conditions.NEXT),
    "exit-at-once": ("_exit", conditions.SILENT),
    "segfault": ("SIGSEGV", conditions.SILENT),
    "killed": ("SIGKILL of all ranks", conditions.SILENT),
    "at-exit": ("MPI_Finalize called from atexit", conditions.WHOLE),
    "forked": ("fork", conditions.WHOLE),
    "jumping": ("an error handler that jumps out of an MPI call", conditions.WHOLE),
    "limited": ("RLIMIT_FSIZE", conditions.NO_ARCHIVE),
    "no-files": ("RLIMIT_NOFILE", conditions.NO_ARCHIVE),
    "no-stderr": ("standard error closed", conditions.SILENT),
    "broken-stderr": ("standard error that nobody reads", conditions.SILENT),
}

for _how in [*WHOLE, *NONE, *SILENT]:
    _test = make_ending(_how)
    if _how in CONDITIONS:
        _test = harness.condition(*CONDITIONS[_how])(_test)
    globals()[f"test_ending_{_how.replace('-', '_')}"] = _test


def test_ending_exit_of_one(bench, flavour):
    """Only rank 0 tells, which is ended here."""
    run, _ = ending(bench, flavour, "exit-of-one")
    harness.compare("lines of the recorder", own_words(run), [])


@harness.condition("fork and exec", conditions.WHOLE)
def test_environment_of_children(bench, flavour):
    run, archive = ending(bench, flavour, "children")
    has_archive(bench, run, archive)
    harness.compare("what a child sees", [l for l in run.out.splitlines() if "started" not in l],
                    ["child"])


def test_preload_of_children(bench, flavour):
    """What was in LD_PRELOAD before is there for children too, and only that."""
    other = test_counts.counter(bench, flavour)
    launch = harness.FLAVOURS[flavour].launch(2)
    run = bench.run([*launch, "env", f"LD_PRELOAD={other}", bench.refrain, "record", "--time=full",
                     "-o",
                     bench.path("preload.rfn"), "-f", bench.program("endings", flavour),
                     "children"], timeout=TIMEOUT, check=True)
    harness.compare("what a child sees", [l for l in run.out.splitlines() if "started" not in l],
                    [f"LD_PRELOAD={other}", "child"])


# ---- scripts ----


def script(bench, name, text):
    path = bench.path(name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path


def test_script(bench, flavour):
    """A shell script that starts the program, says something afterwards, and passes its status."""
    path = script(bench, f"start-{flavour}.sh",
                  "#!/bin/sh\necho before\n\"$@\"\ncode=$?\necho after $code\nexit $code\n")
    for how, options in (("status", []), ("plain", [f"--mpi={flavour}"]), ("plain", [])):
        # The launcher may end one script when the other has failed.
        run, archive = both(bench, flavour, 2, [path, bench.program("endings", flavour), how],
                            options, output=how != "status")
        has_archive(bench, run, archive)
        calls = harness.count_calls(bench.dump(archive))
        harness.compare("calls", calls, {"MPI_Init": 2, "MPI_Comm_rank": 2, "MPI_Barrier": 2,
                                         "MPI_Finalize": 2})


# ---- where the archive goes ----


def in_folder(bench, name):
    path = bench.path(name)
    os.makedirs(path)
    return path


def record_in(bench, flavour, folder, options, how="plain"):
    program = bench.program("endings", flavour)
    return bench.run([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "--time=full",
                      *options,
                      program, how], timeout=TIMEOUT, cwd=folder, check=True)


def test_default_name(bench, flavour):
    """PROGRAM.RANKS.rfn where the program was started, also if it goes elsewhere."""
    folder = in_folder(bench, f"names-{flavour}")
    stem = os.path.basename(bench.program("endings", flavour))
    for how, expected in (("chdir", f"{stem}.2.rfn"), ("plain", f"{stem}.2.2.rfn")):
        run = record_in(bench, flavour, folder, [], how)
        if expected not in os.listdir(folder) or expected not in own_words(run)[0]:
            raise harness.Failure(f"no {expected}: {os.listdir(folder)}\n{run.err}")
        bench.verb("verify", os.path.join(folder, expected))


def test_existing_archives_stay(bench, flavour):
    folder = in_folder(bench, f"existing-{flavour}")
    first = os.path.join(folder, "x.rfn")
    for number, expected in enumerate((["x.rfn"], ["x.2.rfn", "x.rfn"],
                                       ["x.2.rfn", "x.3.rfn", "x.rfn"])):
        record_in(bench, flavour, folder, ["-o", "x.rfn", "--time=none"],
                  "plain" if number else "forked")
        harness.compare("files", sorted(os.listdir(folder)), expected)
        with open(first, "rb") as file:
            kept = kept if number else file.read()
            file.seek(0)
            if file.read() != kept:
                raise harness.Failure("x.rfn was changed")
    record_in(bench, flavour, folder, ["-o", "x.rfn", "--force", "--time=none"])
    harness.compare("files", sorted(os.listdir(folder)), ["x.2.rfn", "x.3.rfn", "x.rfn"])
    with open(first, "rb") as file:
        if file.read() == kept:
            raise harness.Failure("--force did not replace x.rfn")


def test_links_are_not_followed(bench, flavour):
    """What a link points to is not touched; with --force that is told before the program runs."""
    folder = in_folder(bench, f"links-{flavour}")
    target, link = os.path.join(folder, "precious"), os.path.join(folder, "x.rfn")
    with open(target, "w", encoding="ascii") as file:
        file.write("precious")
    os.symlink(target, link)
    record_in(bench, flavour, folder, ["-o", "x.rfn"])
    harness.compare("archives", sorted(os.listdir(folder)), ["precious", "x.2.rfn", "x.rfn"])
    run = bench.run([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "--force", "-o", "x.rfn",
                     bench.program("endings", flavour), "plain"], timeout=TIMEOUT, cwd=folder)
    harness.compare("exit status", run.code, 2)
    harness.compare("output", output_of(run), [])
    harness.compare("own words", own_words(run),
                    ["refrain: x.rfn is a symbolic link, which is not replaced by an archive"])
    harness.compare("the link", os.readlink(link), target)
    with open(target, encoding="ascii") as file:
        harness.compare("the link's target", file.read(), "precious")


@harness.condition("a missing folder", conditions.TOLD_BEFORE)
def test_no_such_folder(bench, flavour):
    """Told before the program has run for hours."""
    path = bench.path("no/such/folder/x.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "--time=full",
                     "-o", path,
                     bench.program("endings", flavour), "status"], timeout=TIMEOUT)
    harness.compare("exit status", run.code, 1)
    harness.compare("output", output_of(run), [])
    has_none(run, path, re.escape(path))


def record_where_folder_goes(bench, flavour, options=()):
    """Nobody, not even root, can create files there any more once the program runs. Returns (run, archive)."""
    folder, started = bench.fresh("gone"), bench.fresh("started")
    os.makedirs(folder)
    os.makedirs(started)
    program = bench.program("endings", flavour)
    # Once both are past `refrain record`, which looks at the folder, too.
    path = script(bench, os.path.basename(started) + ".sh",
                  f"#!/bin/sh\n>{started}/$$\n"
                  f"while [ $(ls {started} | wc -l) -lt 2 ]; do sleep 0.05; done\n"
                  f"rmdir {folder} 2>/dev/null\nexec {program} status\n")
    run = bench.run([*harness.FLAVOURS[flavour].launch(2), bench.refrain, "record", "--time=full", *options,
                     "-o", f"{folder}/x.rfn", path], timeout=TIMEOUT)
    harness.compare("exit status", run.code, 7)
    harness.compare("output", output_of(run), ["rank 0 started", "rank 1 started"])
    return run, f"{folder}/x.rfn"


@harness.condition("a folder that goes while the program runs", conditions.NO_ARCHIVE)
def test_folder_that_goes(bench, flavour):
    """The program runs to its end."""
    run, archive = record_where_folder_goes(bench, flavour)
    has_none(run, archive, "no archive.*" + re.escape(os.path.dirname(archive)))


def test_quiet(bench, flavour):
    run, archive = both(bench, flavour, 2, [bench.program("endings", flavour), "plain"], ["-q"])
    harness.compare("lines of the recorder", own_words(run), [])
    bench.verb("verify", archive)


def test_mask_of_the_user(bench, flavour):
    """Archives are created with the user's mask."""
    path = script(bench, f"mask-{flavour}.sh", "#!/bin/sh\numask 077\nexec \"$@\"\n")
    archive = bench.path(f"mask-{flavour}.rfn")
    bench.run([*harness.FLAVOURS[flavour].launch(2), path, bench.refrain, "record", "--time=full",
               "-o", archive,
               bench.program("endings", flavour), "plain"], timeout=TIMEOUT, check=True)
    harness.compare("mode", oct(os.stat(archive).st_mode & 0o777), "0o600")


def test_launcher_form(bench, flavour):
    """refrain record LAUNCHER ... PROGRAM is the same as LAUNCHER ... refrain record PROGRAM."""
    archive = bench.path(f"launcher-{flavour}.rfn")
    run = bench.run([bench.refrain, "record", "--time=full",
                     "-o", archive, *harness.FLAVOURS[flavour].launch(2),
                     bench.program("endings", flavour), "status"], timeout=TIMEOUT)
    harness.compare("exit status", run.code, 7)
    has_archive(bench, run, archive)
    facts = json.loads(bench.verb("info", "--json", archive))
    harness.compare("ranks", facts["ranks"], 2)


def check_abort(bench, flavour, how, rank, functions, last):
    run, archive = ending(bench, flavour, how)
    alone = f"{archive[:-len('.rfn')]}.rank{rank}.rfn"
    harness.compare("its name in what is said",
                    os.path.basename(alone) in " ".join(own_words(run)), True)
    dump = bench.run([bench.refrain, "dump", alone])
    harness.compare("exit status of dump", dump.code, 3)
    harness.compare("why", "1 of 2 ranks is here" in dump.err, True)
    lines = [line.split("\t") for line in dump.out.splitlines()[1:]]
    harness.compare("rank", {line[1] for line in lines}, {str(rank)})
    harness.compare("functions", [line[5] for line in lines],
                    ["MPI_Init", "MPI_Comm_rank", *functions, "MPI_Barrier", "MPI_Abort"])
    harness.compare("parameters of MPI_Abort", lines[-1][6], last)


@harness.condition("MPI_Abort", "as without the recorder, and an archive of the rank that calls it")
def test_abort_saves_its_rank(bench, flavour):
    """The process that calls MPI_Abort leaves its own events, the last one among them."""
    check_abort(bench, flavour, "abort", 0, [], "comm=world errorcode=9")
    check_abort(bench, flavour, "abort-by-one", 1, ["MPI_Comm_split"], "comm=comm#2 errorcode=9")
