"""Jobs that hang, each with one fault (programs/hangs.c): what refrain report --hang says of them while they do."""
import collections
import json
import os
import shutil
import subprocess
import time

import harness

RANKS = 4
# MPICH's broadcast of a large message ends all the same.
GO_ON = [("wrong_root", "mpich")]
# What is found first, and what of it is known.
FOUND = {
    "receive_cycle": {"fault": "cycle", "ranks": [0, 3, 2, 1]},
    "send_cycle": {"fault": "cycle", "ranks": [0, 1]},
    "wrong_tag": {"fault": "other_tag", "rank": 1, "peer": 0, "tag": 7, "found": 8},
    "wrong_comm": {"fault": "other_communicator", "rank": 1, "peer": 0, "tag": 7},
    "wrong_source": {"fault": "other_source", "rank": 1, "peer": 2, "tag": 7, "found": 0},
    "late_rank": {"fault": "waited_for", "rank": 2, "waiting": RANKS - 1},
    "wrong_root": {"fault": "collective_calls_disagree", "groups": [([3], "MPI_Bcast", 1),
                                                                   ([0, 1, 2], "MPI_Bcast", 0)]},
    "wrong_function": {"fault": "collective_calls_disagree", "groups": [([1], "MPI_Allreduce", -1),
                                                                       ([0, 2, 3], "MPI_Barrier", -1)]},
    "wrong_order": {"fault": "collective_calls_in_other_order", "groups": [([0], "MPI_Barrier", -1),
                                                                          ([1, 2, 3], "MPI_Barrier", -1)]},
    "not_sent": {"fault": "not_sent", "rank": 1, "peer": 0, "tag": 9},
    "waitall": {"fault": "waited_for", "rank": 0, "waiting": RANKS - 1},
    "polling": {"fault": "cycle", "ranks": [0, 1]},
    "any_source": {"fault": "cycle", "ranks": [0, 1]},
    "fence": {"fault": "waited_for", "rank": 2, "waiting": RANKS - 1},
    "window_lock": {"fault": "cycle", "ranks": [0, 1]},
    "exposure": {"fault": "waited_for", "rank": 1, "waiting": RANKS - 1},
    "collective_write": {"fault": "waited_for", "rank": 2, "waiting": RANKS - 1},
    "nonblocking_write": {"fault": "waited_for", "rank": 2, "waiting": RANKS - 1},
}


def expected_of(how, ranks):
    """The same with more ranks: those of 4 and more do as rank 2 or 3 does."""
    found = dict(FOUND[how])
    if how == "receive_cycle":
        found["ranks"] = [0, *range(ranks - 1, 0, -1)]
    if "waiting" in found:
        found["waiting"] = ranks - 1
    if "groups" in found:
        few, many = found["groups"]
        found["groups"] = [few, ([rank for rank in range(ranks) if rank not in few[0]], *many[1:])]
    return found


def fits(finding, expected):
    groups = [(group["ranks"], group["function"], group["root"]) for group in finding.get("groups", [])]
    return all((groups if name == "groups" else finding.get(name)) == value for name, value in expected.items())


def hangs(bench, flavour, ranks, how):
    """A job that hangs, its archive's name, and the file with what it prints."""
    archive, printed = bench.fresh("hang.rfn"), bench.fresh("printed")
    environment = {**os.environ, "UCX_LOG_LEVEL": "fatal", "REFRAIN_JOURNAL_INTERVAL": "200",
                   "OMPI_MCA_mpi_yield_when_idle": "1"}
    command = [*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "record", "--journal", "-o", archive,
               bench.program("hangs", flavour), how]
    with open(printed, "wb") as file:
        job = subprocess.Popen(command, cwd=bench.folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=file, stderr=subprocess.DEVNULL, start_new_session=True)
    return job, archive, printed


def checkpoints(journal):
    """The times of the older ones of the two checkpoints of all ranks that have two."""
    times = collections.defaultdict(list)
    for name in os.listdir(journal) if os.path.isdir(journal) else ():
        rank, found, _ = name.rpartition(".checkpoint.")
        if found:
            times[rank].append(os.stat(f"{journal}/{name}").st_mtime_ns)
    return [min(of) for of in times.values() if len(of) == 2]


def wait_for_checkpoints(archive, printed, ranks, seconds):
    """Until each rank has one that was begun after the rounds: while they go on, any rank may be late."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.1)
        if os.stat(printed).st_size:
            over = os.stat(printed).st_mtime_ns
            if sum(of > over for of in checkpoints(archive + ".journal")) == ranks:
                return
    raise harness.Failure(f"no checkpoints of all ranks after the rounds: {checkpoints(archive + '.journal')}")


def report(bench, archive, *options):
    return bench.run([bench.refrain, "report", "--hang", *options, archive + ".journal"])


def is_there(found, ranks, expected):
    """Whether all ranks have a checkpoint from when it hangs, and nothing but the fault is found. Where collective
    calls disagree, no rank can go on."""
    there = sorted({thread["rank"] for thread in found["threads"]})
    stuck = found["stuck"] == ranks or expected["fault"] != "collective_calls_disagree"
    return there == list(range(ranks)) and len(found["findings"]) == 1 and stuck and fits(found["findings"][0], expected)


def check(bench, flavour, ranks, how, seconds=60):
    """The job comes to where it hangs sooner or later."""
    expected, found = expected_of(how, ranks), None
    job, archive, printed = hangs(bench, flavour, ranks, how)
    try:
        wait_for_checkpoints(archive, printed, ranks, seconds)
        for _ in range(4 * seconds):
            time.sleep(0.25)
            run = report(bench, archive, "--json")
            found = json.loads(run.out) if run.code == 0 else run.err
            if run.code == 0 and is_there(found, ranks, expected):
                break
        else:
            raise harness.Failure(f"expected {expected}, found {json.dumps(found, indent=1)[:4000]}")
        text = report(bench, archive).out
        if found["findings"][0]["text"].split(" ")[0] not in text or "hangs.c:" not in text:
            raise harness.Failure(text)
    finally:
        harness.end_job(job)
    # the journal of a job that was ended says the same
    left = json.loads(report(bench, archive, "--json").out)
    if not fits(left["findings"][0], expected):
        raise harness.Failure(f"after the end: {left['findings']}")
    recovered = bench.run([bench.refrain, "recover", archive + ".journal"], check=True)
    if "hang" not in recovered.out:
        raise harness.Failure(recovered.out)
    again = bench.run([bench.refrain, "report", "--hang", "--json", archive], check=True)
    harness.compare("faults of the archive", [finding["fault"] for finding in json.loads(again.out)["findings"]],
                    [finding["fault"] for finding in left["findings"]])
    shutil.rmtree(archive + ".journal")


def make_test(how, flavour):
    def test(bench):
        check(bench, flavour, RANKS, how)
    return test


def make_long_test(how):
    @harness.long
    def test(bench, flavour):
        if (how, flavour) not in GO_ON:
            check(bench, flavour, RANKS, how)
    return test


def make_large_test(how):
    @harness.long
    @harness.real_time
    def test(bench):
        check(bench, "openmpi", 64, how, seconds=240)
    return test


for _number, _how in enumerate(FOUND):
    globals()[f"test_{_how}"] = harness.condition("18 programs that hang", "the one fault, by rank, function and line")(
        make_test(_how, ("openmpi", "mpich")[_number % 2]))
    globals()[f"test_{_how}_each"] = make_long_test(_how)
for _how in ("receive_cycle", "wrong_tag", "late_rank", "wrong_root"):
    globals()[f"test_{_how}_64"] = make_large_test(_how)


def test_no_hang(bench):
    """An archive of a run that ended well does not say what ranks were in."""
    _, archive = bench.record("openmpi", 2, [bench.program("hangs", "openmpi"), "not at all"])
    run = bench.run([bench.refrain, "report", "--hang", archive])
    if run.code != 1 or "only journals do" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")
