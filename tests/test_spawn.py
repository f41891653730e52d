"""Processes that the program starts, and processes that connect (Open MPI: Debian's MPICH does not start
any on one machine, recorded or not)."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import time

import harness
import test_events
import test_reader

TIMEOUT = 90


class Case:
    """A run of programs/spawn.c with two parents, in a folder of its own."""

    def __init__(self, bench, name):
        self.bench, self.folder = bench, bench.path(f"spawn-{name}")
        os.makedirs(self.folder)
        self.log = os.path.join(self.folder, "log")
        shutil.copy(bench.program("spawn", "openmpi"), os.path.join(self.folder, "app"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, options=("-o", "x.rfn"), archive="", alone=False,
            whole=True):
        env = {"EXPECT_OUT": self.log, "EXPECT_ARCHIVE": archive,
               "EXPECT_SOCKET": self.path("socket")}
        recorder = [] if alone else [self.bench.refrain, "record", "--time=full", *options]
        run = self.bench.run([*harness.FLAVOURS["openmpi"].launch(2), *recorder, "./app", *words],
                             env=env, cwd=self.folder, timeout=TIMEOUT, tidy=harness.tidies(self.folder))
        if whole:
            harness.compare(f"exit status of {run.err}", run.code, 0)
        return run

    def archives(self):
        return sorted(name for name in os.listdir(self.folder) if name.endswith(".rfn"))

    def compare(self, archive, log, ranks):
        """An archive is whole and holds what the programs' logs say."""
        path = self.path(archive)
        self.bench.verb("verify", path)
        test_events.compare_logs(log, ranks, self.bench.dump(path))
        test_reader.compare(self.bench, path, archive)


def own_lines(run):
    return [line for line in run.err.splitlines() if line.startswith("refrain: ")]


CHILDREN = "children 3, all 5, arguments right\n"


def test_children(bench):
    case = Case(bench, "one")
    run = case.run("one", "./app", archive="x.spawn1.rfn")
    harness.compare("output", run.out, CHILDREN)
    harness.compare("archives", case.archives(), ["x.rfn", "x.spawn1.rfn"])
    case.compare("x.rfn", case.log, 2)
    case.compare("x.spawn1.rfn", case.log + "-child", 3)
    harness.compare(f"lines in {run.err}", len(own_lines(run)), 2)


def test_children_of_several_commands(bench):
    """They are one job with one archive; the root's rank is in its name."""
    case = Case(bench, "several")
    shutil.copy(case.path("app"), case.path("other"))
    run = case.run("several", "./app", "./other", archive="x.rank1.spawn1.rfn")
    harness.compare("output", run.out, CHILDREN)
    case.compare("x.rfn", case.log, 2)
    case.compare("x.rank1.spawn1.rfn", case.log + "-child", 3)
    for verb in ("info", "report"):  # tell of them
        facts = json.loads(bench.verb(verb, "--json", case.path("x.rfn")))
        harness.compare(f"children in {verb}", facts["children"],
                        [{"archive": "x.rank1.spawn1.rfn", "rank": 1}])
        text = bench.verb(verb, case.path("x.rfn"))
        if not re.search(r"^Started +x\.rank1\.spawn1\.rfn \(by rank 1\)$", text, re.M):
            raise harness.Failure(f"{verb} does not tell of the children: {text}")
        facts = json.loads(bench.verb(verb, "--json", case.path("x.rank1.spawn1.rfn")))
        harness.compare(f"children's children in {verb}", facts["children"], [])


def test_children_of_each_rank(bench):
    """One after the other, and at the same time as those of the other rank."""
    case = Case(bench, "each")
    stem = os.path.basename(case.path("app")) + ".2"
    run = case.run("each", "app", options=(), archive=stem)  # found in the current directory
    harness.compare("output", run.out, "children 1, all 2, arguments right\n" * 4)
    names = [f"{stem}{rank}.spawn{i}.rfn" for rank in ("", ".rank1") for i in (1, 2)]
    harness.compare("archives", case.archives(), sorted([stem + ".rfn", *names]))
    case.compare(stem + ".rfn", case.log, 2)
    for name in names:
        case.compare(name, case.log + "-child", 1)


def test_children_elsewhere(bench):
    """Where the call says where its command is and works."""
    case = Case(bench, "elsewhere")
    for number, command in enumerate(("./other", "other"), 1):
        folder = case.path(f"folder{number}")
        os.makedirs(folder)
        shutil.copy(case.path("app"), os.path.join(folder, "other"))
        run = case.run("one", command, folder, options=("-f", "-o", "x.rfn"),
                       archive="x.spawn1.rfn")
        harness.compare("output", run.out, CHILDREN)
        harness.compare("archives", case.archives(), ["x.rfn", "x.spawn1.rfn"])
        harness.compare("in the folder", os.listdir(folder), ["other"])
        case.compare("x.rfn", case.log, 2)
        case.compare("x.spawn1.rfn", case.log + "-child", 3)


FORTRAN = """program family
  use mpi
  implicit none
  integer :: ierr, parent, inter
  character(len=20) :: arguments(3), one
  call MPI_Init(ierr)
  call MPI_Comm_get_parent(parent, ierr)
  if (parent == MPI_COMM_NULL) then
    arguments = (/ 'first word  ', 'second      ', '            ' /)
    call MPI_Comm_spawn('./family', arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter, &
                        MPI_ERRCODES_IGNORE, ierr)
    call MPI_Comm_disconnect(inter, ierr)
    call MPI_Comm_spawn('./family', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, inter, &
                        MPI_ERRCODES_IGNORE, ierr)
    call MPI_Comm_disconnect(inter, ierr)
  else
    call get_command_argument(1, one)
    print '(i0,3a)', command_argument_count(), '<', trim(one), '>'
    call MPI_Comm_disconnect(parent, ierr)
  end if
  call MPI_Finalize(ierr)
end program
"""


def test_children_of_fortran(bench):
    folder = bench.path("spawn-fortran")
    os.makedirs(folder)
    with open(os.path.join(folder, "family.f90"), "w", encoding="ascii") as file:
        file.write(FORTRAN)
    bench.run(["mpif90.openmpi", "-o", "family", "family.f90"], cwd=folder, check=True)
    run = bench.run([*harness.FLAVOURS["openmpi"].launch(1), bench.refrain, "record", "--time=full",
                     "-o",
                     "x.rfn", "./family"], cwd=folder, timeout=TIMEOUT, check=True,
                    tidy=harness.tidies(folder))
    harness.compare("output", run.out, "2<first word>\n0<>\n")
    calls = {"MPI_Init": 1, "MPI_Comm_get_parent": 1, "MPI_Comm_disconnect": 1, "MPI_Finalize": 1}
    for i in (1, 2):
        archive = os.path.join(folder, f"x.spawn{i}.rfn")
        bench.verb("verify", archive)
        harness.compare("calls", harness.count_calls(bench.dump(archive)), calls)
    events = bench.dump(os.path.join(folder, "x.rfn"))
    harness.compare("children", [harness.parameter(e, "archive") for e in events
                                 if e["function"] == "MPI_Comm_spawn"],
                    ["x.spawn1.rfn", "x.spawn2.rfn"])


def test_children_options(bench):
    """What is to be recorded, and how, is the same for children."""
    case = Case(bench, "options")
    run = case.run("one", "./app", options=("-o", "x.rfn", "--time=none", "--quiet",
                                              "--call-path-match=ends:1,2", "--no-cluster"),
                   archive="x.spawn1.rfn")
    harness.compare("lines", own_lines(run), [])
    for archive in case.archives():
        event = bench.dump(case.path(archive))[0]
        harness.compare(f"time in {archive}", event["enter_ns"], "-")
        facts = json.loads(bench.verb("info", "--json", case.path(archive)))
        harness.compare(f"paths in {archive}", facts["call_path_ends"], {"outer": 1, "inner": 2})
        harness.compare(f"clusters in {archive}", facts["clustered_groups"], 0)
    run = case.run("one", "./app", archive="x.spawn2.rfn")  # existing archives stay
    harness.compare("archives", case.archives(),
                    ["x.2.rfn", "x.rfn", "x.spawn1.rfn", "x.spawn2.rfn"])
    case.compare("x.2.rfn", case.log, 2)
    run = case.run("one", "./app", options=("-f", "-o", "x.rfn"), archive="x.spawn1.rfn")
    case.compare("x.rfn", case.log, 2)
    case.compare("x.spawn1.rfn", case.log + "-child", 3)
    facts = json.loads(bench.verb("info", "--json", case.path("x.spawn1.rfn")))
    harness.compare("clusters of children", facts["clustered_groups"], facts["groups"])


def test_no_children(bench):
    case = Case(bench, "none")
    run = case.run("one", "./app", options=("-o", "x.rfn", "--no-children"), archive="NULL")
    harness.compare("output", run.out, CHILDREN)
    harness.compare("archives", case.archives(), ["x.rfn"])
    case.compare("x.rfn", case.log, 2)
    harness.compare(f"lines in {run.err}", len(own_lines(run)), 1)


def test_children_without_launcher(bench):
    """MPI starts a daemon of its own, which knows nothing of the recorder."""
    for name, options, archives in (
            ("alone", (), ["x.rfn", "x.spawn1.rfn", "x.spawn2.rfn"]),
            ("alone-none", ("--no-children",), ["x.rfn"])):
        case = Case(bench, name)
        env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "EXPECT_ARCHIVE": "x"}
        run = bench.run([bench.refrain, "record", "--time=full",
                         "-o", "x.rfn", *options, "./app", "each",
                         "./app"], env=env, cwd=case.folder, timeout=TIMEOUT, check=True,
                        tidy=harness.tidies(case.folder))
        harness.compare("output", run.out, "children 1, all 2, arguments right\n" * 2)
        harness.compare("archives", case.archives(), archives)
        calls = harness.count_calls(bench.dump(case.path("x.rfn")))
        harness.compare("calls", calls["MPI_Comm_spawn"], 2)


def test_children_of_a_recorder_by_hand(bench):
    """Without the tool nothing can stand in for the children's command; a line says so."""
    case = Case(bench, "by-hand")
    library = os.path.join(bench.build, "lib", "librefrain-openmpi.so")
    run = bench.run([*harness.FLAVOURS["openmpi"].launch(2), "env", f"LD_PRELOAD={library}",
                     "REFRAIN_OUTPUT=x.rfn", "REFRAIN_TIME=full", "./app", "one", "./app"],
                    env={"EXPECT_OUT": case.log, "EXPECT_ARCHIVE": "NULL"}, cwd=case.folder,
                    timeout=TIMEOUT, check=True, tidy=harness.tidies(case.folder))
    harness.compare("output", run.out, CHILDREN)
    harness.compare("archives", case.archives(), ["x.rfn"])
    case.compare("x.rfn", case.log, 2)
    told = [line for line in own_lines(run) if "not started by refrain record" in line]
    harness.compare(f"lines in {run.err}", (len(own_lines(run)), len(told)), (2, 1))


def test_children_through_a_script(bench):
    case = Case(bench, "script")
    with open(case.path("script"), "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nexec ./app "$@"\n')
    os.chmod(case.path("script"), 0o755)
    run = case.run("one", "./script", archive="x.spawn1.rfn")
    harness.compare("output", run.out, CHILDREN)
    case.compare("x.spawn1.rfn", case.log + "-child", 3)


def test_children_that_cannot_be_recorded(bench):
    """They run all the same; where one of the commands is such, none is recorded."""
    for number, words in enumerate((("one", "./changes-user"), ("several", "./app", "./changes-user"),
                                    ("several", "./changes-user", "./app"))):
        case = Case(bench, f"cannot-{number}")
        shutil.copy(case.path("app"), case.path("changes-user"))
        os.chmod(case.path("changes-user"), 0o4755)
        run = case.run(*words, archive="*")
        harness.compare("output", run.out, CHILDREN)
        harness.compare("archives", case.archives(), ["x.rfn"])
        told = [line for line in own_lines(run) if "not recorded: ./changes-user" in line
                or re.search("not recorded: /.*changes-user", line)]
        harness.compare(f"warnings in {run.err}", len(told), 1)
        case.compare("x.rfn", case.log, 2)


def test_command_that_is_missing(bench):
    """MPI's own error, as without the recorder."""
    case = Case(bench, "missing")
    alone = case.run("missing", alone=True, whole=False)
    run = case.run("missing", whole=False)
    harness.compare("exit status", run.code, alone.code)
    harness.compare("output", run.out, alone.out)
    for text in ("execute an executable", "there-is-no-such-program"):
        harness.compare(text, text in run.err, text in alone.err)


def test_connections(bench):
    """accept and connect, and join, in one job: both sides see one communicator."""
    for how in ("port", "join"):
        case = Case(bench, how)
        case.run(how)
        case.compare("x.rfn", case.log, 2)
        messages = json.loads(bench.verb("report", "--json", case.path("x.rfn")))
        harness.compare("messages", [(m["source"], m["dest"], m["bytes"])
                                     for m in messages["communication_matrix"]], [(0, 1, 20)])


def test_connection_of_two_jobs(bench):
    """Each has its archive. Open MPI 4 needs its name server for that."""
    case = Case(bench, "jobs")
    uri = case.path("uri")
    with subprocess.Popen(["ompi-server", "--no-daemonize", "-r", uri], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as server:
        try:
            while server.poll() is None and not (os.path.exists(uri) and os.path.getsize(uri)):
                time.sleep(0.05)
            with concurrent.futures.ThreadPoolExecutor() as both:
                list(both.map(lambda how: one_job(bench, case, how), ("serve", "visit")))
        finally:
            harness.end_job(server)
    for how in ("serve", "visit"):
        case.compare(how + ".rfn", case.path(how + ".log"), 1)


def one_job(bench, case, how):
    bench.run([*harness.FLAVOURS["openmpi"].launch(1), "--ompi-server", "file:" + case.path("uri"),
               bench.refrain, "record", "--time=full", "-o", how + ".rfn", "./app", how, "port"],
              env={"EXPECT_OUT": case.path(how + ".log")}, cwd=case.folder, timeout=TIMEOUT,
              check=True)
