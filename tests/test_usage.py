"""Whether ranks compute, sleep or wait for a core between calls of MPI, and what memory they need."""
import json
import os

import harness
import rfn_reader
import test_smpi

MIB = 1 << 20


def recorded(bench, flavour, name, ranks, *arguments):
    """(the report as JSON, the archive)."""
    program = bench.program(name, flavour)
    _, archive = bench.record(flavour, ranks, [program, *arguments])
    bench.verb("verify", archive)
    return json.loads(bench.verb("report", "--json", archive)), archive


def shares(found):
    """The costliest story of which rank 1's computing is the cause. (On a busy machine it may move data for long.)"""
    return next(story for story in found["stories"] for cause in story["findings"][:1]
                if cause["kind"] == "compute" and [rank["rank"] for rank in cause["ranks"]] == [1])


def check_share(what, share, low, high):
    if share is None or not low <= share <= high:
        raise harness.Failure(f"{what}: {share}, not {low} to {high}")


@harness.real_time
def test_sleeping(bench, flavour):
    """Rank 1 sleeps before each broadcast, rank 0 spins."""
    found, archive = recorded(bench, flavour, "cpu_use", 2, "sleep")
    story = shares(found)
    check_share("CPU share", story["cpu_share"], 0, 0.2)
    check_share("core wait", story["core_wait_share"], 0, 0.1)
    for words in ("rank 1 ", "of a core: input and output, or sleep."):
        if words not in story["text"]:
            raise harness.Failure(f"no '{words}' in: {story['text']}")
    gaps = rfn_reader.Archive(archive).usage()
    busiest = {stream: max(of, key=lambda gap: gap[2]) for stream, (_, of, _) in gaps.items()}
    check_share("share of rank 0's longest gap", (busiest[0][3] + busiest[0][4]) / busiest[0][2], 0.5, 1.1)
    check_share("CPU share of rank 1's longest gap", busiest[1][3] / busiest[1][2], 0, 0.2)


@harness.real_time
def test_spinning(bench, flavour):
    """The same, but rank 1 spins until its time is up: what it lacks of its core it waits for."""
    story = shares(recorded(bench, flavour, "cpu_use", 2, "spin")[0])
    check_share("share", story["cpu_share"] + story["core_wait_share"], 0.5, 1.1)
    if "input and output" in story["text"]:
        raise harness.Failure(f"it does not sleep: {story['text']}")


@harness.real_time
def test_crowded(bench):
    """All ranks compute, more than there are cores."""
    ranks = 8
    found, archive = recorded(bench, "openmpi", "cpu_use", ranks, "crowd")
    if found["hosts"][0]["cores"] > ranks // 2:
        raise harness.Refused("needs a host of at most 4 cores")
    shown = [story for story in found["stories"] if story["findings"] and
             story["findings"][0]["ranks"][0]["rank"] == 1]
    check_share("core wait", shown[0]["core_wait_share"], 0.1, 1)
    if "of the time: waits for a core" not in shown[0]["text"]:
        raise harness.Failure(f"it waits for a core: {shown[0]['text']}")
    waited = [rank["core_wait_share"] for rank in found["time_per_rank"]]
    check_share("of all ranks", sum(waited) / ranks, 0.1, 1)
    compared = json.loads(bench.verb("compare", "--json", archive, archive))
    check_share("as compare has it", compared["runs"][0]["core_wait_share"], 0.1, 1)
    for files in ([archive] * 2, [archive] * 3):
        page = " ".join(bench.verb("compare", *files).split())
        if "Short of cores: " not in page or "cores of" not in page or "and waited for one" not in page:
            raise harness.Failure(page)


@harness.real_time
def test_alone(bench):
    """Rank 1 alone computes, which is wrong also with a core for each. Ranks that wait may take its core."""
    found, _ = recorded(bench, "openmpi", "cpu_use", 8, "alone")
    text = "{text} {advice}".format(**shares(found))
    crowded = ("Give each rank a core of its own",) if "waits for a core" in text else ()
    for words in ("rank 1 alone computes ", "Let the root send before it does this work", *crowded):
        if words not in text:
            raise harness.Failure(f"no '{words}' in: {text}")


def test_memory(bench, flavour):
    """Rank r touches (r + 1) times 32 MiB."""
    ranks, each = 3, 32
    found, archive = recorded(bench, flavour, "memory_use", ranks, str(each))
    peaks = [rank["peak_memory_bytes"] for rank in found["time_per_rank"]]
    for rank, peak in enumerate(peaks):
        more = peak - peaks[0] - rank * each * MIB
        if abs(more) > each * MIB // 4 or peak < (rank + 1) * each * MIB:
            raise harness.Failure(f"rank {rank}: {peak} bytes, rank 0: {peaks[0]}")
    page = bench.verb("report", archive)
    line = next((line for line in page.splitlines() if line.startswith("Memory")), "")
    if "on rank 2, at least" not in line or "on rank 0," not in line:
        raise harness.Failure(f"Memory: {line!r}")
    usage = rfn_reader.Archive(archive).usage()
    harness.compare("memory by the reader", [usage[rank][0][5] * 1024 for rank in range(ranks)], peaks)


def test_kept(bench, flavour):
    """Reducing, taking apart and merging keep usage."""
    found, archive = recorded(bench, flavour, "cpu_use", 2, "sleep")
    reduced, merged = bench.fresh("reduced.rfn"), bench.fresh("merged.rfn")
    parts = [bench.fresh(f"rank{rank}.rfn") for rank in range(2)]
    bench.verb("reduce", archive, "-o", reduced)
    for rank, part in enumerate(parts):
        bench.verb("reduce", "--rank", str(rank), archive, "-o", part)
    bench.verb("merge", "-o", merged, *reversed(parts))
    for kept in (reduced, merged):
        bench.verb("verify", kept)
        harness.compare("by stream", by_name(kept), by_name(archive))
        harness.compare("recording", recording(kept), recording(archive))
        told = json.loads(bench.verb("report", "--json", kept))
        for name in ("peak_memory_bytes", "cpu_seconds"):
            harness.compare(name, [rank[name] for rank in told["time_per_rank"]],
                            [rank[name] for rank in found["time_per_rank"]])


def recording(archive):
    """What the recorder did itself, by stream: the sum, and the longest pieces."""
    return {stream: own for stream, (_, _, own) in rfn_reader.Archive(archive).usage().items()}


def by_name(archive):
    """What USAGE says by stream, with names of functions and paths in place of their numbers."""
    archive = rfn_reader.Archive(archive)

    def site(numbers):
        return archive.functions[numbers[0]].name, str(archive.paths[numbers[1]])

    usage = archive.usage()
    return {stream: (process, [(site(before), site(at), *rest) for before, at, *rest in gaps])
            for stream, (process, gaps, _) in usage.items()}


def test_regions_and_hosts(bench):
    """Load balance of a region and messages sent in it, and the same by host, each rank on one of its own."""
    ranks = 4
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "shares.c"))
    archive = test_smpi.smpi_run(bench, program, ranks)
    found = json.loads(bench.verb("report", "--json", archive))
    regions = {region["name"]: region for region in found["regions"]}
    harness.compare("messages", {name: region["messages"] for name, region in regions.items()},
                    {"work": 10 * 3 * ranks, "last": ranks})
    balance = (1 + 2 + 3 + 4) / 4 / 4
    check_share("load balance", regions["work"]["load_balance"], 0.99 * balance, 1.01 * balance)
    hosts = found["by_host"]
    harness.compare("messages by host", [host["messages"] for host in hosts], [32] * ranks)
    harness.compare("ranks by host", [host["ranks"] for host in hosts], [1] * ranks)
    for rank, host in enumerate(hosts):
        check_share("outside MPI", host["mean_outside_seconds"], 0.099 * (rank + 1), 0.101 * (rank + 1))
        check_share("load balance", host["load_balance"], 1, 1)
    waits = sum(found["waits"]["by_pattern"].values())
    check_share("waiting", sum(host["waiting_seconds"] for host in hosts), 0.999 * waits, 1.001 * waits)
    page = bench.verb("report", archive)
    if "\nHow do hosts differ?" not in page or "What do files take?" in page or "Memory" in page:
        raise harness.Failure(f"a table too few or too many:\n{page}")
    harness.compare("files", found["files"], [])


def test_files(bench, flavour):
    """What was written, and how fast, by call path; one host is no table."""
    ranks = 2
    found, archive = recorded(bench, flavour, "shares", ranks, bench.fresh("shares.dat"))
    rows = [row for row in found["files"] if row["function"] == "MPI_File_write_at"]
    sums = {name: sum(row[name] for row in rows) for name in ("calls", "written_bytes", "read_bytes")}
    harness.compare("writes", sums, {"calls": 2 * ranks, "written_bytes": 2 * ranks * 4096, "read_bytes": 0})
    writes = rows[0]
    harness.compare("messages in regions", {region["name"]: region["messages"] for region in found["regions"]},
                    {"work": 10 * 3 * ranks, "last": ranks})
    rate = writes["written_bytes"] / writes["seconds"]
    check_share("bandwidth", writes["bytes_per_second"], 0.999 * rate, 1.001 * rate)
    page = bench.verb("report", archive)
    if "\nWhat do files take? Calls of MPI-IO" not in page or "How do hosts differ?" in page:
        raise harness.Failure(f"no table of files, or one of hosts:\n{page}")
