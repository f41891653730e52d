"""The first screen: imbalance that ends in MPI_Finalize, runs with nothing in them, ranks without cores."""
import json
import os

import harness
import rfn_reader


def page_and_json(bench, archive):
    """(the first screen in one line, the report as JSON)."""
    page = bench.run([bench.refrain, "report", "--short", archive], check=True, cores=True).out
    return " ".join(page.split()), json.loads(bench.verb("report", "--json", archive))


def expect(what, holds, shown):
    if not holds:
        raise harness.Failure(f"{what}: {shown}")


# ---- imbalance that ends in MPI_Finalize ----

@harness.real_time
def test_one_member_is_longer(bench, flavour):
    """0.2, 0.2, 0.2 and 0.8 s: 1.8 of 3.2 s are lost, as three ranks wait for 0.6 s in MPI_Finalize."""
    times = [0.2, 0.2, 0.2, 0.8]
    lost = sum(max(times) - time for time in times)
    _, archive = bench.record(flavour, 4, [bench.program("members", flavour),
                                           *(str(round(1000 * time)) for time in times)])
    page, found = page_and_json(bench, archive)
    story = found["stories"][0]
    cause = story["findings"][0]
    harness.compare("who", [rank["rank"] for rank in cause["ranks"]], [3])
    expect("the work", "run_member()" in story["text"], story["text"])
    expect("where others wait", cause["pattern"] == "wait_at_finalize", cause)
    expect("what is lost", abs(story["share"] - lost / (4 * max(times))) < 0.08, story)
    expect("seconds", abs(story["seconds"] - lost) < 0.3, story)
    efficiency = found["efficiency"]["parallel_efficiency"]
    expect("efficiency", abs(efficiency - sum(times) / (4 * max(times))) < 0.08, efficiency)
    expect("verdict", "most of it by waiting for ranks that have more work" in found["verdict"]["text"], found["verdict"])
    expect("what it would save", abs(found["run_time_seconds"] - story["without_seconds"] - 0.6) < 0.15, story)
    for wrong in ("without waiting", "wait for each other only", "In MPI_Finalize ranks wait"):
        expect("not right", wrong not in page, page)


@harness.real_time
def test_members_alike(bench):
    """Nobody is late: what MPI_Finalize takes is no loss."""
    _, archive = bench.record("openmpi", 2, [bench.program("members", "openmpi"), "500", "500"])
    page, found = page_and_json(bench, archive)
    harness.compare("stories", [story["text"] for story in found["stories"]], [])
    expect("efficiency", found["efficiency"]["parallel_efficiency"] > 0.9, page)


# ---- nothing in between ----

def check_nothing(bench, archive):
    """No efficiency, cause or advice is made of next to no time; where the machine was slow, it may be some."""
    page, found = page_and_json(bench, archive)
    main = found["main_to_seconds"] - found["main_from_seconds"]
    if main >= min(0.005, 0.01 * found["run_time_seconds"]):
        raise harness.Refused(f"the machine is busy: {main} s between start and end")
    expect("what it says", "too short for any statement" in " ".join(page.split()), page)
    harness.compare("stories", found["stories"], [])
    for wrong in ("fficiency", "nan", "inf", "0.00 %", "almost unchanged", "lost"):
        expect(wrong, wrong not in page, page)


def test_nothing(bench, flavour):
    """MPI starts and ends, on several ranks and on one; and two barriers."""
    program = bench.program("short_runs", flavour)
    for ranks, way in ((4, "nothing"), (1, "nothing"), (2, "barriers")):
        _, archive = bench.record(flavour, ranks, [program, way])
        check_nothing(bench, archive)


def test_no_mpi(bench, flavour):
    """A program that never calls MPI: one line, and no archive."""
    archive = bench.fresh("none.rfn")
    run = bench.run([bench.refrain, "record", "-o", archive, bench.program("short_runs", flavour), "plain"])
    harness.compare("exit status", run.code, 0)
    expect("a line", "no archive was written: the program called no MPI function" in run.err, run.err)
    expect("no archive", not os.path.exists(archive), archive)


# ---- cores ----

def cores_of(archive, ranks):
    """By the independent reader: of each rank (set of cores, OMP_NUM_THREADS, windows)."""
    cores = rfn_reader.Archive(archive).core_windows()
    harness.compare("processes", sorted(cores), list(range(ranks)))
    return [cores[rank] for rank in range(ranks)]


def few_cores(bench, flavour, way, ranks, steps):
    core = min(os.sched_getaffinity(0))
    program = bench.program("few_cores", flavour, ["-pthread"])
    _, archive = bench.record(flavour, ranks, [program, way, str(steps), str(core)],
                              env={"OMP_NUM_THREADS": "4,2"} if way == "threads" else None)
    bench.verb("verify", archive)
    cores = cores_of(archive, ranks)
    for mask, _, _ in cores:
        harness.compare("affinity", mask, {core})
    if not all(windows for _, _, windows in cores):
        raise harness.Refused("this system does not count how long threads wait for a core")
    return archive, cores


@harness.real_time
def test_threads_on_one_core(bench, flavour):
    """Two ranks of four threads compute on one core: a thread gets an eighth of it while they do."""
    ranks, steps = 2, 10
    archive, cores = few_cores(bench, flavour, "threads", ranks, steps)
    page, found = page_and_json(bench, archive)
    computed = steps * 4 * 0.025
    for _, threads, windows in cores:
        harness.compare("OMP_NUM_THREADS", threads, 4)
        on_core, runnable = sum(window[1] for window in windows) / 1e6, sum(window[2] for window in windows) / 1e6
        expect("on a core", on_core >= 0.99 * computed, (on_core, computed))
        # While one of a rank's threads runs the three others wait, and all four while one of the other rank's does.
        expect("runnable", runnable >= 3 * computed, (runnable, computed))
        expect("windows", len(windows) >= 3 and all(window[0] >= 100000 for window in windows[:-1]), windows)
    share = found["cores"]["share"]
    expect("share", 0 < share < 0.5, found["cores"])
    expect("share of ranks", all(rank["core_share"] < 0.5 for rank in found["time_per_rank"]), found["cores"])
    expect("second line", page.split(". ", 2)[1].startswith("Ranks had cores for "), page)
    for words in ("2 ranks of 4 threads each (OMP_NUM_THREADS) ", " 1 core of ", "This page cannot tell more",
                  "start fewer ranks or threads"):
        expect("why, and what to do", words in page, page)
    expect("not well", "own computing" not in page, page)
    rows = bench.verb("report", "--csv=core_windows", archive).splitlines()
    harness.compare("rows", len(rows) - 1, sum(len(windows) for _, _, windows in cores))


@harness.real_time
def test_polling_on_one_core(bench, flavour):
    """Two ranks that wait busily for the third, on one core: they can run, so they lack a core."""
    archive, _ = few_cores(bench, flavour, "poll", 3, 10)
    page, found = page_and_json(bench, archive)
    expect("share", 0 < found["cores"]["share"] < 0.8, found["cores"])
    expect("second line", "Ranks had cores for " in page and " 3 ranks " in page and " 1 core of " in page, page)


def test_kept(bench):
    """Reducing, taking apart and merging keep it; info and dump do not mind."""
    archive, cores = few_cores(bench, "openmpi", "poll", 2, 3)
    reduced, merged = bench.fresh("reduced.rfn"), bench.fresh("merged.rfn")
    parts = [bench.fresh(f"rank{rank}.rfn") for rank in range(2)]
    bench.verb("reduce", archive, "-o", reduced)
    for rank, part in enumerate(parts):
        bench.verb("reduce", "--rank", str(rank), archive, "-o", part)
    bench.verb("merge", "-o", merged, *reversed(parts))
    for kept in (reduced, merged):
        bench.verb("verify", kept)
        harness.compare("cores", cores_of(kept, 2), cores)
    page = bench.verb("compare", archive, merged)
    expect("same conditions", "Conditions differ" not in page, page)


def test_conditions(bench):
    """Two runs of one program: MPI and OMP_NUM_THREADS differ."""
    if len(harness.FLAVOURS) < 2:
        raise harness.Refused("needs two MPIs")
    archives = []
    for flavour, threads in (("openmpi", "3"), ("mpich", "7")):
        program = bench.program("members", flavour)
        archives.append(bench.record(flavour, 1, [program, "10"], env={"OMP_NUM_THREADS": threads})[1])
    page = " ".join(bench.verb("compare", *archives).split())
    for words in ("Conditions differ: MPI (A: Open MPI", "; B: MPICH", "OMP_NUM_THREADS (A: 3; B: 7)"):
        expect("conditions", words in page, page)
