"""The report's numbers against what is known of the program that was run, numerically."""
import json
import os
import subprocess

import harness


def report(bench, archive):
    return json.loads(bench.verb("report", "--json", "--all", archive))


def test_full_disk(bench):
    """It is told what kept the report from being printed, also where it is longer than a buffer."""
    archive = bench.record("openmpi", 2, [bench.program("mixture", "openmpi")])[1]
    for verb in ("report", "info", "dump"):
        for options in ([], ["--json"] if verb != "dump" else []):
            with open("/dev/full", "w", encoding="ascii") as full:
                run = subprocess.run([bench.refrain, verb, *options, archive], stdout=full, stderr=subprocess.PIPE,
                                     text=True, timeout=60, check=False)
            harness.compare(f"{verb}: exit status", run.returncode, 1)
            if "No space left on device" not in run.stderr:
                raise harness.Failure(f"{verb} {options}: it says {run.stderr!r}")


# ---- what holds for every report ----

class Main:
    """The main part of a run, from the last end of MPI_Init to the first begin of MPI_Finalize (or the last one, if ranks
    wait there for 5 % of their time or more), by its events, of ranks with one thread (where that is most of the time): its length, and how long each rank is outside of MPI in it, in nanoseconds."""

    def __init__(self, bench, archive):
        events = [(int(event["rank"]), event["function"], int(event["enter_ns"]), int(event["exit_ns"]))
                  for event in bench.dump(archive)]
        begin = max(exit for _, function, _, exit in events if function.startswith("MPI_Init"))
        ends = [enter for _, function, enter, _ in events if function == "MPI_Finalize"]
        first, end = min(exit for _, function, _, exit in events if function.startswith("MPI_Init")), min(ends)
        self.end_counts = False
        run = max(exit for *_, exit in events) - min(enter for _, _, enter, _ in events)
        if 2 * (end - begin) < max(ends) - first:  # ranks begin or end at very different times
            begin, end, self.end_counts = first, max(ends), True
        elif sum(max(ends) - one for one in ends) >= 0.05 * run * len(ends):  # ranks wait long for the last one to end
            end, self.end_counts = max(ends), True
        self.length = end - begin
        self.outside = [self.length] * (1 + max(rank for rank, *_ in events))
        for rank, _, enter, exit in events:
            self.outside[rank] -= max(0, min(exit, end) - max(enter, begin))
        for rank, recording in harness.recording_ns(archive, begin, end).items():
            self.outside[rank] -= recording

    def with_polls(self, found):
        """Of unsuccessful polls only the time inside of the calls is MPI's; a dump has them as one event. Each call
        path that polls is of one rank, and between start and end."""
        outside = list(self.outside)
        for path in found["call_paths"]:
            if path["between_polls_seconds"]:
                harness.compare("ranks that poll there", path["ranks"], 1)
                outside[path["min_rank"]] += harness.ns(path["between_polls_seconds"])
        return outside


def check_sound(found, main):
    """Sums agree with each other and times are possible."""
    ranks = found["time_per_rank"]
    paths = found["call_paths"]
    harness.compare("ranks", [r["rank"] for r in ranks], list(range(found["ranks"])))
    harness.compare("calls of paths", sum(p["calls"] for p in paths), found["calls"])
    harness.compare("calls of ranks", sum(r["calls"] for r in ranks), found["calls"])
    harness.compare("MPI time", sum(harness.ns(p["seconds"]) for p in paths),
                    sum(harness.ns(r["mpi_seconds"]) for r in ranks))
    harness.compare("time in Init and Finalize", sum(harness.ns(p["seconds"]) for p in paths if p["setup"]),
                    sum(harness.ns(r["setup_seconds"]) for r in ranks))
    for one in ranks:
        if not 0 <= one["setup_seconds"] <= one["mpi_seconds"] <= found["run_time_seconds"]:
            raise harness.Failure(f"MPI time beyond the run time {found['run_time_seconds']}: {one}")
        if one["outside_seconds"] < 0 or \
                one["mpi_seconds"] + one["outside_seconds"] > found["run_time_seconds"] + 1e-9:
            raise harness.Failure(f"time outside beyond the run time {found['run_time_seconds']}: {one}")
    for path in paths:
        if not 0 <= path["min_seconds"] <= path["mean_seconds"] <= path["max_seconds"] <= path["seconds"]:
            raise harness.Failure(f"minimum, mean and maximum: {path}")
        if abs(path["mean_seconds"] * path["ranks"] - path["seconds"]) > 1e-9:
            raise harness.Failure(f"the mean is not the total over ranks: {path}")
        if not path["shortest_seconds"] <= path["longest_seconds"] <= path["max_seconds"]:
            raise harness.Failure(f"events and sums: {path}")
        share = harness.ns(path["seconds"]) / main.length / found["threads"]
        harness.compare("share", path["share"] and round(path["share"], 9), None if path["setup"] else round(share, 9))
    outside = main.with_polls(found)
    mean = sum(outside) / len(outside)
    efficiency = found["efficiency"]
    harness.compare("load balance", round(efficiency["load_balance"], 6),
                    round(mean / max(outside), 6))
    harness.compare("parallel efficiency", round(efficiency["parallel_efficiency"], 6),
                    round(mean / main.length, 6))
    harness.compare("longest outside", harness.ns(efficiency["max_outside_seconds"]), max(outside))
    messages = found["message_sizes"]["point_to_point"]
    for what, count in (("messages", "count"), ("bytes", "bytes")):
        harness.compare(f"{what} by size and by pair", sum(m[count] for m in messages),
                        sum(pair[what] for pair in found["communication_matrix"]))
    check_alike(found)


def check_alike(found):
    """Each rank is of one kind of ranks, and kinds have what their ranks have together."""
    kinds, ranks = found["alike"]["kinds"], found["time_per_rank"]
    harness.compare("ranks of kinds", sorted(r for kind in kinds for r in kind["ranks"]),
                    [r["rank"] for r in ranks])
    pairs = [(pair["source"], pair["dest"]) for pair in found["communication_matrix"]]
    for kind in kinds:
        of_kind = [ranks[r] for r in kind["ranks"]]
        for name in ("sent_bytes", "collective_bytes"):
            harness.compare(name, kind[name], sum(one[name] for one in of_kind))
        messages = [one["messages"] for one in of_kind]
        harness.compare("messages", kind["messages"], [min(messages), max(messages)])
        for name, end in (("sends_to", 0), ("gets_from", 1)):
            numbers = [sum(pair[end] == r for pair in pairs) for r in kind["ranks"]]
            harness.compare(name, kind[name], [min(numbers), max(numbers)])
        for name in ("mpi", "outside"):
            close_to(name, kind[f"{name}_seconds"],
                     sum(one[f"{name}_seconds"] for one in of_kind))
    harness.compare("calls that tell the first kind apart",
                    kinds[0]["also_calls"] + kinds[0]["does_not_call"], [])


def close_to(what, found, expected, slack=1e-6):
    """Seconds that were summed up in another order."""
    if abs(found - expected) > slack:
        raise harness.Failure(f"{what}: {found} s instead of {expected} s")


def check_waits(found, main):
    """Wait states, causes and the critical path add up, and fit the rest of the report."""
    states, waits = found["wait_states"], found["waits"]
    ranks, run_time = found["time_per_rank"], found["run_time_seconds"]
    by_pattern = dict.fromkeys(waits["by_pattern"], 0)
    for state in states:
        by_pattern[state["pattern"]] += state["seconds"]
        close_to(f"ranks of {state}", sum(state["seconds_by_rank"]), state["seconds"])
        if state["pattern"] == "wait_at_init" or (state["pattern"] == "wait_at_finalize" and not main.end_counts):
            harness.compare("share", state["share"], None)
        else:
            close_to("share", state["share"], state["seconds"] / (main.length / 1e9) / found["threads"])
        harness.compare("ranks", len(state["seconds_by_rank"]), found["ranks"])
        if not 0 < state["longest_seconds"] <= max(state["seconds_by_rank"]) + 1e-9 or \
                min(state["seconds_by_rank"]) < 0 or state["count"] < 1:
            raise harness.Failure(f"impossible wait state: {state}")
    for pattern, seconds in by_pattern.items():
        close_to(pattern, waits["by_pattern"][pattern], seconds)
    close_to("all waiting", waits["total_seconds"], sum(by_pattern.values()))
    for one in ranks:
        waited = sum(state["seconds_by_rank"][one["rank"]] for state in states)
        if waited > one["mpi_seconds"] + 1e-6:
            raise harness.Failure(f"rank {one['rank']} waits {waited} s, more than it is in MPI")
    check_causes(found)
    path = found["critical_path"]
    close_to("parts of the critical path", sum(part["seconds"] for part in path["parts"]),
             path["seconds"])
    if path["seconds"] > run_time + 1e-6:
        raise harness.Failure(f"a critical path of {path['seconds']} s in {run_time} s")


def check_causes(found):
    waits = found["waits"]
    for cause in found["causes"]:
        close_to(f"late ranks of {cause}", sum(rank["seconds"] for rank in cause["ranks"]),
                 cause["seconds"])
        if not -1e-9 <= cause["direct_seconds"] <= cause["seconds"] + 1e-9:
            raise harness.Failure(f"direct waiting: {cause}")
        if not cause["activity"] or cause["kind"] not in ("compute", "mpi", "wait", "start", "recording"):
            raise harness.Failure(f"no activity: {cause}")
    close_to("causes", sum(cause["seconds"] for cause in found["causes"]),
             waits["total_seconds"] - waits["unexplained_seconds"])


def check_matched(found):
    """Everything that was sent was received, and nothing else."""
    matching = found["matching"]
    sent = sum(pair["messages"] for pair in found["communication_matrix"])
    harness.compare("messages", (matching["messages"], matching["matched"]), (sent, sent))
    for key in ("unmatched_sends", "unmatched_receives", "unmatched_collectives", "cancelled",
                "foreign"):
        harness.compare(key, matching[key], 0)


def histogram(sizes):
    """As the report has it: by powers of two, empty classes left out."""
    counts = {}
    for size in sizes:
        low = 1 << (size.bit_length() - 1) if size else 0
        entry = counts.setdefault(low, [0, 0])
        entry[0] += 1
        entry[1] += size
    return [{"min_bytes": low, "max_bytes": 2 * low - 1 if low else 0, "count": count, "bytes": sum_}
            for low, (count, sum_) in sorted(counts.items())]


def matrix(found):
    return {(pair["source"], pair["dest"]): (pair["messages"], pair["bytes"])
            for pair in found["communication_matrix"]}


def by_function(found):
    """function -> (calls, bytes), over call paths."""
    sums = {}
    for path in found["call_paths"]:
        calls, size = sums.get(path["function"], (0, 0))
        sums[path["function"]] = (calls + path["calls"], size + path["bytes"])
    return sums


# ---- master and workers ----

def test_farm(bench, flavour):
    ranks, tasks = (4, 400) if flavour == "openmpi" else (2, 400)
    out = bench.path(f"farm.{flavour}.out")
    _, archive = bench.record(flavour, ranks, [bench.program("farm", flavour), str(tasks)],
                              env={"FARM_OUT": out})
    found = report(bench, archive)
    main = Main(bench, archive)
    check_sound(found, main)
    check_waits(found, main)
    check_matched(found)
    sizes = [n * 7919 % 5000 + 1 for n in range(tasks)]
    workers = ranks - 1
    got = {}
    for rank in range(1, ranks):
        with open(f"{out}.{rank}", encoding="utf-8") as file:
            got[rank] = tuple(map(int, file.read().split()))
    harness.compare("tasks", sum(n for n, _ in got.values()), tasks)
    harness.compare("functions", by_function(found), {
        "MPI_Init": (ranks, 0), "MPI_Comm_rank": (ranks, 0), "MPI_Comm_size": (ranks, 0),
        "MPI_Finalize": (ranks, 0), "MPI_Get_count": (tasks, 0),
        "MPI_Send": (2 * tasks + 2 * workers, 3 * sum(sizes)),
        "MPI_Recv": (2 * tasks + 2 * workers, 3 * sum(sizes))})
    expected = {}
    for rank, (n, size) in got.items():
        expected[0, rank] = (n + 1, size)
        expected[rank, 0] = (n + 1, 2 * size)
    harness.compare("matrix", matrix(found), expected)
    harness.compare("histogram", found["message_sizes"]["point_to_point"],
                    histogram(sizes + [2 * size for size in sizes] + [0] * (2 * workers)))
    harness.compare("collectives", found["message_sizes"]["collective"], [])
    for one in found["time_per_rank"]:
        rank = one["rank"]
        n, size = got.get(rank, (tasks + workers - 1, sum(sizes)))
        harness.compare(f"sent by rank {rank}", (one["messages"], one["sent_bytes"]),
                        (n + 1, size if rank == 0 else 2 * size))
        harness.compare(f"calls of rank {rank}", one["calls"],
                        4 + 2 * (n + 1) + (n if rank else 0))
    master, = (kind for kind in found["alike"]["kinds"] if 0 in kind["ranks"])
    harness.compare("alike to the master", master["ranks"], [0])
    harness.compare("ranks that the master sends to", master["sends_to"], [workers, workers])
    harness.compare("received at the master", [
        (p["calls"], p["received_bytes"], p["sent_bytes"]) for p in found["call_paths"]
        if p["function"] == "MPI_Recv" and p["min_rank"] == 0],
        [(tasks + workers, 2 * sum(sizes), 0)])


# ---- many call sites ----

SITES, ROUNDS = 300, 7


def sites_source():
    lines = ["#include <mpi.h>", "static double a[400], b[400];",
             "int main(int argc, char **argv) { int rank, size;", "MPI_Init(&argc, &argv);",
             "MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);",
             "int right = (rank + 1) % size, left = (rank + size - 1) % size;",
             f"for (int i = 0; i < {ROUNDS}; i++) {{"]
    for n in range(SITES):
        lines.append([f"MPI_Sendrecv(a, {n}, MPI_DOUBLE, right, {n}, b, {n}, MPI_DOUBLE, left, "
                      f"{n}, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
                      f"MPI_Bcast(a, {n}, MPI_INT, {n} % size, MPI_COMM_WORLD);",
                      f"MPI_Allreduce(a, b, {n % 40 + 1}, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);"
                      ][n % 3])
    return "\n".join(lines + ["}", "MPI_Finalize();", "return 0; }"]) + "\n", len(lines) - SITES + 1


def sites_size(n):
    return [8 * n, 4 * n, 8 * (n % 40 + 1)][n % 3]


def check_sites(found, ranks, first_line):
    """Each line of the program is a call path of its own."""
    functions = ["MPI_Sendrecv", "MPI_Bcast", "MPI_Allreduce"]
    rows = {}
    for path in found["call_paths"]:
        frames = [frame for frame in path["frames"] if not frame["internal"]]
        harness.compare("frames", [frame["function"] for frame in frames], ["main"])
        rows[frames[0]["line"], path["function"]] = path
    for n in range(SITES):
        row = rows.pop((first_line + n, functions[n % 3]))
        harness.compare(f"line {first_line + n}", (row["calls"], row["ranks"], row["bytes"]),
                        (ROUNDS * ranks, ranks, ROUNDS * ranks * sites_size(n)))
    harness.compare("other functions", sorted(name for _, name in rows),
                    ["MPI_Comm_rank", "MPI_Comm_size", "MPI_Finalize", "MPI_Init"])


def test_many_sites(bench, flavour):
    ranks = 3 if flavour == "openmpi" else 2
    source = bench.path(f"sites.{flavour}.c")
    text, first_line = sites_source()
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    _, archive = bench.record(flavour, ranks, [bench.program(source, flavour)])
    bench.verb("verify", archive)
    found = report(bench, archive)
    main = Main(bench, archive)
    check_sound(found, main)
    check_waits(found, main)
    check_matched(found)
    harness.compare("calls", found["calls"], ranks * (4 + SITES * ROUNDS))
    check_sites(found, ranks, first_line)
    sent = [sites_size(n) for n in range(0, SITES, 3)] * ROUNDS
    harness.compare("matrix", matrix(found), {
        (rank, (rank + 1) % ranks): (len(sent), sum(sent)) for rank in range(ranks)})
    harness.compare("messages", found["message_sizes"]["point_to_point"], histogram(sent * ranks))
    given = [sites_size(n) for n in range(SITES) if n % 3] * ROUNDS * ranks
    harness.compare("collectives", found["message_sizes"]["collective"], histogram(given))


# ---- where the time goes ----

@harness.real_time
def test_slow_rank(bench, flavour):
    """A rank that works ten times as long: the others' time in MPI is the difference."""
    source = bench.path(f"slow.{flavour}.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write("""#include <mpi.h>
#include <time.h>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 40; i++) {
        nanosleep(&(struct timespec){.tv_nsec = rank == 1 ? 10000000 : 1000000}, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
""")
    _, archive = bench.record(flavour, 2, [bench.program(source, flavour)])
    found = report(bench, archive)
    main = Main(bench, archive)
    check_sound(found, main)
    check_waits(found, main)
    check_matched(found)
    harness.compare("busiest rank", found["efficiency"]["max_outside_rank"], 1)
    ranks = found["time_per_rank"]
    if ranks[1]["outside_seconds"] < 0.4 or ranks[0]["outside_seconds"] < 0.04:
        raise harness.Failure(f"ranks sleep longer than that: {ranks}")
    barrier = next(p for p in found["call_paths"] if p["function"] == "MPI_Barrier")
    harness.compare("rank that waits", (barrier["max_rank"], barrier["calls"]), (0, 80))
    # What rank 0 does not sleep of rank 1's time it waits; the machine may be busy.
    wait = ranks[1]["outside_seconds"] - ranks[0]["outside_seconds"]
    if not 0.5 * wait < barrier["max_seconds"] < found["run_time_seconds"]:
        raise harness.Failure(f"{barrier['max_ns']} ns in the barrier, {wait} ns to wait")
    check_slow_rank(found, wait, ranks[1]["mpi_seconds"] - ranks[1]["setup_seconds"])
    check_slow_rank_page(bench.run([bench.refrain, "report", archive], check=True).out)


def check_slow_rank(found, wait, inside):
    """Rank 0 waits at the barrier because of what rank 1 computes in main, for so many seconds longer. Beside that
    it may wait twice as long as rank 1 is inside of barriers: until that gets a core again, or waits itself."""
    state = next(s for s in found["wait_states"] if s["pattern"] == "wait_at_barrier")
    harness.compare("where", (state["function"], state["call_path"].split(" (")[0]),
                    ("MPI_Barrier", "MPI_Barrier < main"))
    if not 0.5 * wait < state["seconds_by_rank"][0] < wait + 2 * inside:
        raise harness.Failure(f"rank 0 waits {state['seconds_by_rank'][0]} s instead of {wait} s")
    if state["seconds_by_rank"][1] > 0.5 * wait:
        raise harness.Failure(f"rank 1 waits, too: {state}")
    # What ranks that wait for a core leave the barrier late costs is the barrier's.
    cause = next(c for c in found["causes"]
                 if c["pattern"] == "wait_at_barrier" and c["kind"] == "compute")
    harness.compare("cause", (cause["function"], cause["ranks"][0]["rank"], cause["waited_function"]),
                    ("nanosleep", 1, "MPI_Barrier"))


def check_slow_rank_page(page):
    lines = page.splitlines()
    harness.compare("first line", lines[0].split(" ran for ")[0].endswith(" on 2 ranks"), True)
    harness.compare("second line", lines[1].split(" ", 2)[:2], ["Parallel", "efficiency"])
    text = " ".join(page.split())
    for part in (" of all ranks' time is lost by waiting (", "rank 1 takes longer than the others in nanosleep(), called in main() [",
                 " of a core: input and output, or sleep. Rank 0 waits at the barrier in main() [",
                 " Without it the run would take ", " longest outside MPI / run on ideal network", "Critical path: "):
        if part not in text:
            raise harness.Failure(f"no {part!r} in\n{page}")


# ---- less than everything ----

def usage_error(bench, *arguments):
    run = bench.run([bench.refrain, "report", *arguments])
    harness.compare(f"exit of report {arguments}", (run.code, run.out), (2, ""))
    return run.err


def test_narrowed(bench):
    out = bench.path("narrowed.out")
    _, archive = bench.record("openmpi", 3, [bench.program("farm", "openmpi"), "60"],
                              env={"FARM_OUT": out})
    whole = report(bench, archive)
    one = json.loads(bench.verb("report", "--json", "--rank", "2", archive))
    harness.compare("ranks", [r["rank"] for r in one["time_per_rank"]], [2])
    harness.compare("pairs", matrix(one), {pair: value for pair, value in matrix(whole).items()
                                           if 2 in pair})
    for state in one["wait_states"]:
        close_to("rank 2 alone", state["seconds_by_rank"][2], state["seconds"])
    close_to("waiting of rank 2", sum(s["seconds"] for s in one["wait_states"]),
             sum(s["seconds_by_rank"][2] for s in whole["wait_states"]))
    some = json.loads(bench.verb("report", "--json", "--rank=0-1,2", archive))
    harness.compare("all ranks by name", some["wait_states"], whole["wait_states"])
    sends = json.loads(bench.verb("report", "--json", "--call-path=MPI_Send", archive))
    harness.compare("functions", {p["function"] for p in sends["call_paths"]}, {"MPI_Send"})
    harness.compare("calls", sum(p["calls"] for p in sends["call_paths"]),
                    by_function(whole)["MPI_Send"][0])
    first = json.loads(bench.verb("report", "--json", "--top", "1", archive))
    harness.compare("first row", first["wait_states"], whole["wait_states"][:1])
    plain = json.loads(bench.verb("report", "--json", archive))
    harness.compare("most rows", (whole["top"], first["top"], plain["top"]), (None, 1, 1000))
    fixed = json.loads(bench.verb("report", "--json", "--fix-clocks", archive))
    check_waits(fixed, Main(bench, archive))
    if "no rank 3" not in usage_error(bench, "--rank", "1-3", archive):
        raise harness.Failure("the message does not name the rank")
    for wrong in ("x", "", "2-1", "1,,2", "-1"):
        usage_error(bench, f"--rank={wrong}", archive)


def test_without_times(bench):
    _, archive = bench.record("openmpi", 2, [bench.program("farm", "openmpi"), "20"],
                              options=("--time=none",), env={"FARM_OUT": bench.path("no.times")})
    found = report(bench, archive)
    harness.compare("waits", (found["wait_states"], found["causes"], found["waits"],
                              found["critical_path"]), ([], [], None, None))
    check_matched(found)
    page = " ".join(bench.verb("report", archive).split())
    if "Efficiency and waits need times" not in page or "all matched" not in page:
        raise harness.Failure(page)


def test_polls_between_work(bench, flavour):
    """Calls are counted one by one; of polling only the time inside of the calls is MPI's."""
    source = bench.path(f"polls.{flavour}.c")
    out = bench.path(f"polls.{flavour}.out")
    with open(source, "w", encoding="utf-8") as file:
        file.write("""#include <mpi.h>
#include <stdio.h>
#include <time.h>
int main(int argc, char **argv)
{
    int rank, value = 0, flag;
    long missed = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        if (rank == 0) {
            MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
            for (flag = 0; !flag; missed += !flag) {
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            }
        } else {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
            MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD); /* so that nobody polls after the main part */
    if (rank == 0) {
        FILE *file = fopen(argv[1], "w");
        fprintf(file, "%ld", missed);
        fclose(file);
    }
    MPI_Finalize();
    return 0;
}
""")
    _, archive = bench.record(flavour, 2, [bench.program(source, flavour), out])
    with open(out, encoding="utf-8") as file:
        missed = int(file.read())
    found = report(bench, archive)
    main = Main(bench, archive)
    check_sound(found, main)
    check_waits(found, main)
    check_matched(found)
    harness.compare("unsuccessful polls", found["unsuccessful_polls"], missed)
    harness.compare("functions", by_function(found), {
        "MPI_Init": (2, 0), "MPI_Comm_rank": (2, 0), "MPI_Barrier": (2, 0), "MPI_Finalize": (2, 0),
        "MPI_Test": (20 + missed, 0), "MPI_Irecv": (20, 80), "MPI_Send": (20, 80)})
    outside = harness.ns(found["time_per_rank"][0]["outside_seconds"])
    if outside < (20 + missed) * 1_000_000:
        raise harness.Failure(f"{20 + missed} sleeps of 1 ms, but {outside} ns outside of MPI")


# ---- the page says what the JSON does ----

def test_page(bench):
    _, archive = bench.record("openmpi", 2, [bench.program("farm", "openmpi"), "50"],
                              env={"FARM_OUT": bench.path("page")})
    page = bench.run([bench.refrain, "report", "--all", archive], env={"COLUMNS": "100"}, check=True).out
    found = report(bench, archive)
    program = os.path.basename(found["program"])
    for line in (f"{program} on 2 ranks ran for ", f"MPI calls {found['calls']}",
                 "Ranks     2, on ", "Where are they called? Call paths by time in MPI"):
        if "\n" + line not in "\n" + page:
            raise harness.Failure(f"no line {line!r} in\n{page}")
    for width in (60, 80, 100, 200):
        lines = bench.run([bench.refrain, "report", "--all", archive], env={"COLUMNS": str(width)},
                          check=True).out.splitlines()
        harness.compare(f"lines wider than {width}", [x for x in lines if len(x) > width], [])
    harness.compare("characters that are not ASCII", page.isascii(), True)
    names = [line.split()[-1] for line in page.splitlines() if line.endswith("MPI_Send")]
    harness.compare("rows of MPI_Send", len(names), 1 + len(
        [p for p in found["call_paths"] if p["function"] == "MPI_Send"]))
