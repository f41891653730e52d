"""Jobs of one name that start in one folder, as a job array does: each has files of its own, however it ends.

One job calls MPI_Barrier and the other MPI_Bcast (programs/namesakes.c), so each event tells of which job it is.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import time

import harness
import test_journal

CALLS = {"barrier": "MPI_Barrier", "bcast": "MPI_Bcast"}
RANKS = 2
FOR_EVER = "1000000"


def words(bench, flavour, folder, call, rounds, ms, *arguments, options=("--journal",)):
    return [*harness.FLAVOURS[flavour].launch(RANKS), bench.refrain, "record", "-q", "-o", os.path.join(folder, "x.rfn"),
            "--time=full", *options, bench.program("namesakes", flavour), call, str(rounds), str(ms), *arguments]


def new_folder(bench):
    folder = bench.fresh("folder")
    os.mkdir(folder)
    return folder


def running(bench, *arguments, **options):
    return test_journal.running(bench, words(bench, *arguments, **options), env=test_journal.SOON)


def wait_until(what, condition):
    test_journal.wait_until(condition)
    if not condition():
        raise harness.Failure(f"after a minute there is no {what}")


def processes_saved(folder, least):
    """Waits until so many processes have two checkpoints each."""
    def saved():
        files = glob.glob(os.path.join(folder, "x.rfn.journal", "*.checkpoint.?"))
        return len(files) >= 2 * least and len({file[:-1] for file in files}) >= least
    wait_until(f"{least} processes with two checkpoints", saved)


def kill(mark):
    test_journal.kill_all(test_journal.ranks_of(mark).values())
    test_journal.wait_for_end(mark)


def counts(bench, archive):
    """Of each rank, how often it made which of the calls."""
    found = {}
    for event in bench.run([bench.refrain, "dump", archive]).out.splitlines()[1:]:
        columns = event.split("\t")
        of_rank = found.setdefault(int(columns[1]), dict.fromkeys(CALLS.values(), 0))
        if columns[5] in of_rank:
            of_rank[columns[5]] += 1
    return found


def job_of(bench, archive):
    """The one whose events are in it; both ranks, and no event of the other job."""
    found = counts(bench, archive)
    harness.compare(f"ranks of {archive}", sorted(found), list(range(RANKS)))
    jobs = [call for call, name in CALLS.items() if all(found[rank][name] for rank in found)]
    others = sum(count for of in found.values() for name, count in of.items() if name not in [CALLS[j] for j in jobs])
    harness.compare(f"jobs, and events of others, of {archive}", (len(jobs), others), (1, 0))
    return jobs[0]


def archives(folder):
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(folder, "*.rfn")))


@contextlib.contextmanager
def both(bench, flavour, folder):
    """Both jobs, which go on and have saved."""
    with running(bench, flavour, folder, "barrier", FOR_EVER, 5) as first:
        with running(bench, flavour, folder, "bcast", FOR_EVER, 9) as second:
            processes_saved(folder, 2 * RANKS)
            yield first, second


def test_killed_together(bench, flavour):
    """Two killed jobs, two archives; recover says which is which."""
    folder = new_folder(bench)
    with both(bench, flavour, folder) as (first, second):
        kill(first[1])
        kill(second[1])
    journal = os.path.join(folder, "x.rfn.journal")
    run = bench.run([bench.refrain, "recover", journal], check=True)
    harness.compare("archives", archives(folder), ["x.2.rfn", "x.rfn"])
    said = re.findall(r"(\S*\.rfn): 2 of 2 ranks.*\n  started (\S+ \S+) UTC: .*namesakes\S* (\w+) ", run.out)
    harness.compare("archives that are told", len(said), 2)
    for archive, _, call in said:
        harness.compare(f"job of {archive}", job_of(bench, archive), call)
    harness.compare("jobs", {call for _, _, call in said}, set(CALLS))
    harness.compare("in order of start", [date for _, date, _ in said], sorted(date for _, date, _ in said))
    again = bench.run([bench.refrain, "recover", journal])
    harness.compare("again", (again.code, archives(folder)), (1, ["x.2.rfn", "x.rfn"]))
    lines = bench.run([bench.refrain, "recover", "--force", "--json", journal], check=True).out.splitlines()
    made = [json.loads(line) for line in lines]
    harness.compare("files", sorted(os.path.basename(one["file"]) for one in made), ["x.2.rfn", "x.rfn"])
    harness.compare("jobs", {job_of(bench, one["file"]) for one in made}, set(CALLS))
    for one in made:
        harness.compare("command", f" {job_of(bench, one['file'])} " in one["command"], True)
    report = bench.run([bench.refrain, "report", journal])
    if "1 other left something there, too" not in report.err:
        raise harness.Failure(f"nothing tells of the other run: {report.err}")


def test_one_ends(bench, flavour):
    """A job that ends leaves the other one's journal alone, and that one's archive leaves its own alone."""
    folder = new_folder(bench)
    with running(bench, flavour, folder, "bcast", FOR_EVER, 9) as second:
        processes_saved(folder, RANKS)
        bench.run(words(bench, flavour, folder, "barrier", 40, 20), env=test_journal.SOON, check=True)
        whole = os.path.join(folder, "x.rfn")
        harness.compare("its events", [of["MPI_Barrier"] for of in counts(bench, whole).values()], [40] * RANKS)
        processes_saved(folder, RANKS)
        kill(second[1])
    with open(whole, "rb") as file:
        before = file.read()
    bench.run([bench.refrain, "recover", whole + ".journal"], check=True)
    harness.compare("archives", archives(folder), ["x.2.rfn", "x.rfn"])
    harness.compare("the killed one's", job_of(bench, os.path.join(folder, "x.2.rfn")), "bcast")
    bench.run([bench.refrain, "recover", "--force", whole + ".journal"], check=True)
    harness.compare("archives, by force", archives(folder), ["x.2.rfn", "x.rfn"])
    with open(whole, "rb") as file:
        harness.compare("the other one's is as it was", file.read() == before, True)


def test_both_end(bench, flavour):
    """Each has an archive with all of its events, also with --force, and nothing else is left."""
    for options in (("--journal",), ("--journal", "--force")):
        folder = new_folder(bench)
        with open(os.path.join(folder, "x.rfn"), "w", encoding="ascii") as file:
            file.write("older")
        with running(bench, flavour, folder, "barrier", 250, 20, options=options) as (first, _):
            with running(bench, flavour, folder, "bcast", 260, 20, options=options) as (second, _):
                processes_saved(folder, 2 * RANKS)  # both have begun, and none has ended
                harness.compare("exits", (first.wait(60), second.wait(60)), (0, 0))
        names = ["x.2.rfn", "x.rfn"] if "--force" in options else ["x.2.rfn", "x.3.rfn", "x.rfn"]
        harness.compare("files", sorted(os.listdir(folder)), names)
        made = [os.path.join(folder, name) for name in names[:2]]
        found = {job_of(bench, archive): counts(bench, archive)[1] for archive in made}
        harness.compare("events", found, {"barrier": {"MPI_Barrier": 250, "MPI_Bcast": 0},
                                          "bcast": {"MPI_Barrier": 0, "MPI_Bcast": 260}})


def test_later_job(bench):
    """What a killed run has left is still there when a later one has ended in the same folder."""
    folder = new_folder(bench)
    with running(bench, "mpich", folder, "barrier", FOR_EVER, 5) as (_, mark):
        processes_saved(folder, RANKS)
        kill(mark)
    bench.run(words(bench, "mpich", folder, "bcast", 30, 20), env=test_journal.SOON, check=True)
    bench.run([bench.refrain, "recover", os.path.join(folder, "x.rfn.journal")], check=True)
    harness.compare("jobs", [job_of(bench, os.path.join(folder, name)) for name in ("x.rfn", "x.2.rfn")],
                    ["bcast", "barrier"])


def test_snapshots(bench, flavour):
    """Jobs that go on have a snapshot each, and killed ones none; nothing is recovered of one that goes on."""
    folder = new_folder(bench)
    journal = os.path.join(folder, "x.rfn.journal")
    with both(bench, flavour, folder) as (first, second):
        bench.run([bench.refrain, "snapshot", journal], check=True)
        names = ["x.snapshot.2.rfn", "x.snapshot.rfn"]
        harness.compare("snapshots", archives(folder), names)
        harness.compare("jobs", {job_of(bench, os.path.join(folder, name)) for name in names}, set(CALLS))
        kill(first[1])
        made = bench.fresh("one.rfn")
        bench.run([bench.refrain, "snapshot", "-o", made, journal], check=True)
        harness.compare("job that goes on", job_of(bench, made), "bcast")
        run = bench.run([bench.refrain, "recover", journal], check=True)
        harness.compare("recovered", job_of(bench, os.path.join(folder, "x.rfn")), "barrier")
        if "a run goes on and is left out" not in run.err or "x.2.rfn" in archives(folder):
            raise harness.Failure(f"{archives(folder)}, {run.err}")
        kill(second[1])


def test_snapshots_beside_jobs(bench):
    """Each job's own, though both have one name."""
    folder = new_folder(bench)
    options = ("--journal", "--snapshot-every=0.2s")
    with running(bench, "openmpi", folder, "barrier", FOR_EVER, 5, options=options) as (_, first):
        with running(bench, "openmpi", folder, "bcast", FOR_EVER, 9, options=options) as (_, second):
            wait_until("two snapshots", lambda: len(archives(folder)) == 2)
            time.sleep(1)
            kill(first)
            kill(second)
    names = ["x.snapshot.2.rfn", "x.snapshot.rfn"]
    harness.compare("snapshots", archives(folder), names)
    harness.compare("jobs", {job_of(bench, os.path.join(folder, name)) for name in names}, set(CALLS))


def test_aborted(bench):
    """Archives of single ranks of two runs are not joined; the message says which belong together, and before that
    report says what to do."""
    folder = new_folder(bench)
    for call in CALLS:
        bench.run(words(bench, "openmpi", folder, call, 3, 10, "abort", options=()), timeout=60)
    files = sorted(glob.glob(os.path.join(folder, "x*.rank*.rfn")))
    of = {file: [call for call, name in CALLS.items() if sum(c[name] for c in counts(bench, file).values())][0]
          for file in files}
    harness.compare("runs", set(of.values()), set(CALLS))
    mixed = bench.run([bench.refrain, "merge", *files, "-o", os.path.join(folder, "mixed.rfn")])
    groups = re.search(r"of one run are (.*); of another one are (.*)", mixed.err)
    if mixed.code != 1 or not groups:
        raise harness.Failure(f"{files}: exit {mixed.code}, {mixed.out}{mixed.err}")
    for group in groups.groups():
        told = group.split(", ")
        harness.compare("told", told, [file for file in files if of[file] == of[told[0]]])
        merged = bench.fresh("merged.rfn")
        run = bench.run([bench.refrain, "merge", *told, "-o", merged])
        harness.compare("merged", (run.code, os.path.exists(merged)), (0 if len(told) == RANKS else 3, True))
    report = bench.run([bench.refrain, "report", os.path.join(folder, "x.rfn")])
    if len(glob.glob(os.path.join(folder, "x.rank*.rfn"))) > 1 and "next: refrain merge -o" not in report.err:
        raise harness.Failure(f"nothing tells to merge: {report.err}")


def marks():
    return set(glob.glob(f"/dev/shm/refrain.ranks.{os.geteuid()}.*"))


def marks_without_server():
    """Marks of jobs that have ended: other tests have jobs at the same time."""
    return {mark for mark in marks() if not os.path.exists(f"/proc/{mark.split('.')[-2]}")}


def live(name):
    return set(glob.glob(f"/dev/shm/refrain-{os.geteuid()}/{name}.*"))


def test_shared_memory(bench):
    """What a killed job has left in /dev/shm goes when the user starts another run; what a job uses stays."""
    folder = new_folder(bench)
    program = bench.program("namesakes", "mpich")
    sampling = [*harness.FLAVOURS["mpich"].launch(RANKS), bench.refrain, "record", "-q", "--sample=adaptive"]
    names = [f"{os.path.basename(folder)}-{which}" for which in ("killed", "lives", "next")]
    jobs = {name: [*sampling, "-o", os.path.join(folder, name + ".rfn"), program, "barrier", "400", "10"]
            for name in names}
    before = marks()
    with test_journal.running(bench, jobs[names[0]]) as (_, mark):
        wait_until("files of the job", lambda: len(live(names[0])) == RANKS and marks() - before)
        left = marks() - before
        kill(mark)
    harness.compare("files of the killed job", len(live(names[0])), RANKS)
    with test_journal.running(bench, jobs[names[1]]) as (job, _):
        wait_until("files of the job", lambda: len(live(names[1])) == RANKS and marks() - before - left)
        used = marks() - before - left
        bench.run(words(bench, "mpich", folder, "bcast", 1, 1, options=()), check=True)
        harness.compare("what the killed job has left", (live(names[0]), marks_without_server() & left), (set(), set()))
        harness.compare("what the other one uses", (len(live(names[1])), marks() & used), (RANKS, used))
        harness.compare("exit", job.wait(60), 0)
    harness.compare("in the end", (live(names[1]), marks() & used), (set(), set()))
    shutil.rmtree(folder)


def looking(bench, flavour, way):
    """A program that is not linked with MPI, and the arguments that lead it to MPI."""
    flags = ["-DWEAK"] if way == "weak" else []
    source = os.path.join(harness.PROGRAMS, "looks_for_mpi.c")
    program = bench.compiled(f"looks-{way}", ["gcc", "-w", *flags, source, "-ldl"])
    plugin = bench.compiled(f"looking.{flavour}.so", [harness.FLAVOURS[flavour].mpicc, "-w", "-DPLUGIN", "-shared",
                                                      "-fPIC", source])
    library = next(word for word in bench.run(["ldd", plugin], check=True).out.split()
                   if re.match(r"/.*/libmpi\w*\.so", word))
    return program, library, plugin


def test_programs_without_mpi(bench, flavour):
    """A program that asks for MPI finds it where it would without the recorder, and not before it is loaded."""
    for way in ("dlsym", "weak"):
        program, library, plugin = looking(bench, flavour, way)
        for arguments in ([], ["global", library], ["local", library, plugin]):
            plain = bench.run([program, *arguments])
            archive = bench.fresh("looks.rfn")
            run = bench.run([bench.refrain, "record", "-q", f"--mpi={flavour}", "-o", archive, program, *arguments])
            harness.compare(f"{way} {arguments}: output", run.out, plain.out)
            harness.compare(f"{way} {arguments}: exit", run.code, plain.code)
            harness.compare(f"{way} {arguments}: archive", os.path.exists(archive), bool(arguments))
