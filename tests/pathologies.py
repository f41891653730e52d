"""Programs whose performance is known: the table, and what each must be found to wait for.

PROGRAMS holds the 18 programs after Mohror 5.1.1 and, as LARGE, those with noise on 1024 ranks. The
sources are programs/pathologies/*.c. For each a model here computes from the definitions in
doc/analysis.md how long every rank waits in which pattern, and which ranks are to blame: nothing of
that comes from a recording. Times are whole nanoseconds. Simulated communication takes no time
(PLATFORM), so that program and model have the same time line: else an interruption that comes just
before the end of some work in the one could come after it in the other. Ranks end together in
MPI_Finalize, where those that ran ahead wait: that is expected too, but is not what a program is
about.
"""
import bisect
import json
import os
import re

import harness

FOLDER = os.path.join(harness.PROGRAMS, "pathologies")
AT_ENDS = ("wait_at_init", "wait_at_finalize")
TOLERANCE = 0.01
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-1023" speed="1Gf" bw="1PBps"
           lat="%dns"/>
</platform>
"""
# Only what the programs ask for takes time; everybody is given a broadcast by its root.
SIMULATION = ["--cfg=smpi/simulate-computation:no", "--cfg=smpi/bcast:flattree", "--cfg=smpi/reduce:binomial",
              "--cfg=smpi/lat-factor:0:1"]
# That a synchronous send waited shows where it ends after the receive began: there a message must
# take some time. Each node has a link of half as much.
TRANSFER_NS = 10


# ---- noise, as in noise.h ----

CLUSTER = 32
KINDS = [  # place in the cluster (None: all), period, length
    (None, 125_000_000, 100_000),
    (None, 500_000_000, 500_000),
    (0, 250_000_000, 2_000_000),
    (1, 400_000_000, 1_000_000),
    (31, 300_000_000, 1_500_000),
]
HORIZON = 10_000_000_000  # no run takes longer


class Noise:
    """The interruptions of one rank, in order of time."""

    def __init__(self, rank, size, nodes):
        self.begins, self.sums = [], [0]
        events = []
        for node in range(rank, nodes, size):
            for kind, (place, period, length) in enumerate(KINDS):
                if place in (None, node % CLUSTER):
                    share = (node * len(KINDS) + kind + 1) * 2654435769 % 2**32
                    phase = share * period >> 32
                    events += ((begin, length) for begin in range(phase, HORIZON, period))
        for begin, length in sorted(events):
            self.begins.append(begin)
            self.sums.append(self.sums[-1] + length)

    def extended(self, start, work):
        """How long work takes that begins at start."""
        first = self.sums[bisect.bisect_left(self.begins, start)]
        length = work
        while True:
            end = bisect.bisect_left(self.begins, start + length)
            longer = work + self.sums[end] - first
            if longer == length:
                return length
            length = longer


# ---- what is expected ----

class Expected:
    """Waiting in nanoseconds by pattern and rank; what each rank cost in `pattern`: least and most,
    if of several that are late together it is never or always this one, and evenly shared."""

    def __init__(self, size, pattern):
        self.size, self.pattern = size, pattern
        self.waits = {}
        self.least, self.even, self.most = [0] * size, [0] * size, [0] * size

    def wait(self, pattern, rank, ns, late=()):
        """A rank waits, if the time is positive, for the late ones."""
        if ns <= 0:
            return
        self.waits.setdefault(pattern, [0] * self.size)[rank] += ns
        if pattern == self.pattern:
            for one in late:
                self.least[one] += ns if len(late) == 1 else 0
                self.even[one] += ns / len(late)
                self.most[one] += ns

    def finish(self, clocks):
        """All have called MPI_Finalize."""
        for rank, clock in enumerate(clocks):
            self.wait("wait_at_finalize", rank, max(clocks) - clock)
        return self

    def blamed(self):
        """The ranks that may cost most: several where they are alike, or late together."""
        return [rank for rank, ns in enumerate(self.most) if ns >= 0.99 * max(self.even)]


def last(enters):
    """The latest enter and the ranks (of a dictionary) that are that late."""
    latest = max(enters.values())
    return latest, [rank for rank, enter in enters.items() if enter == latest]


def ns_of(seconds):
    return int(seconds * 1e9 + 0.5)


# ---- models: one iteration is work(rank, start, iteration), then communication ----

def pairs(expected, partners, work, iterations, synchronous):
    """Messages from the first of each pair to the second; synchronous ones take a little time."""
    clocks = [0] * expected.size
    for sender, receiver in partners:
        sent = received = 0
        for i in range(iterations):
            sent += work(sender, sent, i)
            received += work(receiver, received, i)
            expected.wait("late_sender", receiver, sent - received, [sender])
            if synchronous:
                expected.wait("late_receiver", sender, received - sent, [receiver])
                sent = received = max(sent, received) + TRANSFER_NS
            received = max(sent, received)
        clocks[sender], clocks[receiver] = sent, received
    return expected.finish(clocks)


def one_to_all(expected, root, work, iterations):
    """A root that waits for nobody broadcasts."""
    clocks = [0] * expected.size
    for i in range(iterations):
        enters = [clock + work(rank, clock, i) for rank, clock in enumerate(clocks)]
        for rank, enter in enumerate(enters):
            expected.wait("late_broadcast", rank, enters[root] - enter, [root])
        clocks = [max(enter, enters[root]) for enter in enters]
    return expected.finish(clocks)


def all_to_one(expected, root, work, iterations, gather):
    """A root takes a message of everybody; with MPI_Gather it waits for the first of them, and
    then, which is another wait, for the last, with MPI_Waitall for the last."""
    clocks = [0] * expected.size
    for i in range(iterations):
        clocks = [clock + work(rank, clock, i) for rank, clock in enumerate(clocks)]
        others = {rank: clock for rank, clock in enumerate(clocks) if rank != root}
        if gather:
            first = min(others.values())
            expected.wait("early_reduce", root, first - clocks[root],
                          [rank for rank, enter in others.items() if enter == first])
            latest, late = last(others)
            expected.wait("wait_at_nx1", root, latest - max(first, clocks[root]), late)
        else:
            latest, late = last(others)
            expected.wait("late_sender", root, latest - clocks[root], late)
        clocks[root] = max(clocks)
    return expected.finish(clocks)


def all_to_all(expected, pattern, work, iterations):
    """Nobody leaves before the last has come."""
    now = 0
    for i in range(iterations):
        enters = {rank: now + work(rank, now, i) for rank in range(expected.size)}
        now, late = last(enters)
        for rank, enter in enters.items():
            expected.wait(pattern, rank, now - enter, late)
    return expected.finish([now] * expected.size)


def unequal(numbers, late):
    """work, longer where late(rank)."""
    work, extra = ns_of(numbers["work"]), ns_of(numbers["extra"])
    return lambda rank, start, i: work + (extra if late(rank) else 0)


def noisy(size, numbers):
    work = ns_of(numbers["work"])
    noise = [Noise(rank, size, numbers["nodes"]) for rank in range(size)]
    return lambda rank, start, i: noise[rank].extended(start, work)


def late_sender(size, numbers):
    partners = [(rank, rank + 1) for rank in range(0, size - 1, 2)]
    return pairs(Expected(size, "late_sender"), partners,
                 unequal(numbers, lambda rank: rank % 2 == 0), numbers["iterations"], False)


def late_receiver(size, numbers):
    partners = [(rank, rank + 1) for rank in range(0, size - 1, 2)]
    return pairs(Expected(size, "late_receiver"), partners,
                 unequal(numbers, lambda rank: rank % 2 == 1), numbers["iterations"], True)


def early_gather(size, numbers):
    return all_to_one(Expected(size, "early_reduce"), 0, unequal(numbers, lambda rank: rank != 0),
                      numbers["iterations"], True)


def late_broadcast(size, numbers):
    return one_to_all(Expected(size, "late_broadcast"), 0,
                      unequal(numbers, lambda rank: rank == 0), numbers["iterations"])


def imbalance_at_barrier(size, numbers):
    work, extra = ns_of(numbers["work"]), ns_of(numbers["work"] + numbers["extra"])
    return all_to_all(Expected(size, "wait_at_barrier"), "wait_at_barrier",
                      lambda rank, start, i: work + (extra - work) * rank // (size - 1),
                      numbers["iterations"])


def noise_pairs(size):
    """(the rank that may be late, its partner)"""
    return [(rank, rank ^ CLUSTER // 2) for rank in range(size)
            if (rank + 1) % CLUSTER < CLUSTER // 2]


def one_to_one_receiver(size, numbers):
    return pairs(Expected(size, "late_receiver"), [(b, a) for a, b in noise_pairs(size)],
                 noisy(size, numbers), numbers["iterations"], True)


def one_to_one_sender(size, numbers):
    return pairs(Expected(size, "late_sender"), noise_pairs(size), noisy(size, numbers),
                 numbers["iterations"], False)


def noisy_gather(size, numbers):
    return all_to_one(Expected(size, "late_sender"), numbers["root"], noisy(size, numbers),
                      numbers["iterations"], False)


def noisy_broadcast(size, numbers):
    return one_to_all(Expected(size, "late_broadcast"), numbers["root"], noisy(size, numbers),
                      numbers["iterations"])


def noisy_reduction(size, numbers):
    return all_to_all(Expected(size, "wait_at_nxn"), "wait_at_nxn", noisy(size, numbers),
                      numbers["iterations"])


def dyn_load_balance(size, numbers):
    work, step = ns_of(numbers["work"]), ns_of(numbers["step"])

    def drifting(rank, _, i):
        return work + (1 if rank < size // 2 else -1) * (i % numbers["period"]) * step
    return all_to_all(Expected(size, "wait_at_nxn"), "wait_at_nxn", drifting,
                      numbers["iterations"])


class Sweep:
    """Ranks of a grid, each with its clock."""

    def __init__(self, size, numbers):
        self.columns, self.rows = numbers["columns"], size // numbers["columns"]
        self.work, self.blocks = ns_of(numbers["work"]), numbers["blocks"]
        self.expected = Expected(size, "late_sender")
        self.clocks = [0] * size

    def receive(self, rank, sent):
        """A wait is made by all ranks that the wavefront came through: by none more than others."""
        self.expected.wait("late_sender", rank, sent - self.clocks[rank], range(len(self.clocks)))
        self.clocks[rank] = max(self.clocks[rank], sent)

    def compute(self, rank, ns):
        self.clocks[rank] += ns
        return self.clocks[rank]

    def sweep(self, dx, dy):
        """From a corner: whoever comes later in this order receives what came before."""
        columns = range(self.columns)[::dx]
        rows = range(self.rows)[::dy]
        for _ in range(self.blocks):
            sent_x, sent_y = {}, {}
            for y in rows:
                for x in columns:
                    rank = y * self.columns + x
                    for source, sent in ((rank - dx, sent_x), (rank - dy * self.columns, sent_y)):
                        if (source, rank) in sent:
                            self.receive(rank, sent[source, rank])
                    rest = self.work // 10 + self.work // 50 * rows.index(y)
                    to_x = rank + dx if x != columns[-1] else None
                    sent_x[rank, to_x] = self.compute(rank, self.work - rest)
                    sent_y[rank, rank + dy * self.columns] = self.compute(rank, rest)


def sweep(size, numbers):
    grid = Sweep(size, numbers)
    for _ in range(numbers["iterations"]):
        for dx, dy in ((1, 1), (-1, 1), (-1, -1), (1, -1)):
            grid.sweep(dx, dy)
    return grid.expected.finish(grid.clocks)


# ---- the table ----

class Program:
    """One line of the table: what to run, on how many ranks, and where the late ranks compute."""

    def __init__(self, name, source, ranks, model, function, **numbers):
        self.name, self.source, self.ranks = name, os.path.join(FOLDER, source + ".c"), ranks
        self.model, self.function, self.numbers = model, function, numbers
        self.synchronous = model in (late_receiver, one_to_one_receiver)

    def arguments(self, **others):
        numbers = {**self.numbers, **others}
        return [word for name, number in numbers.items() for word in (f"--{name}", str(number))]

    def expected(self, **others):
        return self.model(self.ranks, {**self.numbers, **others})


REGULAR = [
    Program(name, name, 8, model, function, work=0.01, extra=0.02, iterations=50)
    for name, model, function in (
        ("early_gather", early_gather, "give_late"),
        ("imbalance_at_barrier", imbalance_at_barrier, "unequal_work"),
        ("late_receiver", late_receiver, "receive_late"),
        ("late_sender", late_sender, "send_late"),
        ("late_broadcast", late_broadcast, "broadcast_late"))]
PATTERNS = [
    ("Nto1", noisy_gather, "give", {"root": 2, "iterations": 500}),
    ("1toN", noisy_broadcast, "broadcast", {"root": 0}),
    ("1to1r", one_to_one_receiver, "receive", {}),
    ("1to1s", one_to_one_sender, "send", {}),
    ("NtoN", noisy_reduction, "iterate", {})]
IRREGULAR = [
    Program(f"{name}_{nodes}", name, 32, model, function,
            **{"work": 0.001, "nodes": nodes, "iterations": 1000, **more})
    for nodes in (32, 1024) for name, model, function, more in PATTERNS]
BALANCE = Program("dyn_load_balance", "dyn_load_balance", 8, dyn_load_balance, "slower",
                  work=0.001, step=0.00002, period=40, iterations=1000)
SWEEPS = [Program(f"sweep_{ranks}p", "sweep", ranks, sweep, "sweep", columns=columns, work=0.001,
                  blocks=10, iterations=25) for ranks, columns in ((8, 4), (32, 8))]
PROGRAMS = [*REGULAR, *IRREGULAR, BALANCE, *SWEEPS]
# Few iterations: enough for some cluster managers to be interrupted, the root of 1toN among them.
FEWER = {"Nto1": {"iterations": 6}, "1toN": {"root": 512}}
LARGE = [
    Program(f"{name}_1024p", name, 1024, model, function,
            **{"work": 0.001, "nodes": 1024, "iterations": 50, **more, **FEWER.get(name, {})})
    for name, model, function, more in PATTERNS]


# ---- running ----

def compiled(bench, source):
    """The program with the recorder in it, for SMPI; each is compiled once."""
    library = os.path.join(bench.build, "lib", "librefrain-smpi.a")
    return bench.compiled(f"pathology-{os.path.basename(source)[:-2]}", [
        "smpicc", "-O1", "-g", "-w", source, "-Wl,--build-id", "-Wl,-Bsymbolic",
        "-Wl,--whole-archive", library, "-Wl,--no-whole-archive", "-lzstd", "-lunwind", "-ldw",
        "-lelf", "-ldl", "-lm"])


def record(bench, program, env=None):
    """Runs a program in simulated time, with full times unless env says something else; the path of
    the archive."""
    latency = TRANSFER_NS // 2 if program.synchronous else 0
    platform, archive = bench.path(f"latency-{latency}.xml"), bench.path(f"{program.name}.rfn")
    with open(platform, "w", encoding="ascii") as file:
        file.write(PLATFORM % latency)
    bench.run(["smpirun", "-np", str(program.ranks), "-platform", platform, *SIMULATION,
               compiled(bench, program.source), *program.arguments()],
              env={"REFRAIN_TIME": "full", **(env or {}), "REFRAIN_OUTPUT": archive,
                   "REFRAIN_FORCE": "1"},
              timeout=300, check=True)
    return archive


def report(bench, archive):
    return json.loads(bench.verb("report", "--json", archive, timeout=300))


# ---- comparing ----

ROW_KEYS = {"pattern", "seconds", "share", "call_path", "seconds_by_rank"}
CAUSE_KEYS = {"activity", "kind", "function", "ranks", "seconds", "share", "pattern", "waited_in"}


def need(row, keys):
    """A row of a report with everything that belongs into it."""
    if not keys <= set(row):
        raise harness.Failure(f"without {sorted(keys - set(row))}: {row}")
    return row


def found_waits(facts, size):
    """Seconds by pattern and rank, over all call paths."""
    waits = {}
    for row in facts["wait_states"]:
        ranks = need(row, ROW_KEYS)["seconds_by_rank"]
        harness.compare(f"ranks of {row['pattern']}", len(ranks), size)
        if abs(sum(ranks) - row["seconds"]) > 1e-6 + 1e-3 * row["seconds"]:
            raise harness.Failure(f"{row['pattern']}: {row['seconds']} s are not {sum(ranks)} s")
        mine = waits.setdefault(row["pattern"], [0.0] * size)
        for rank, seconds in enumerate(ranks):
            mine[rank] += seconds
    return waits


def dominating(waits):
    """The pattern with most time, the beginning and the end of the run apart."""
    totals = {name: sum(ranks) for name, ranks in waits.items() if name not in AT_ENDS}
    return max(totals, key=totals.get, default=None)


def largest_deviation(expected, found):
    """(deviation, where): the largest over all patterns and ranks, each as a share of what is
    expected there, or of 1 % of what the rank that waits most waits in any pattern, if that is
    more: so nothing may be found, but for a ten-thousandth of that, where nothing is expected."""
    floor = 0.01 * max(max(ranks) for ranks in expected.waits.values()) * 1e-9
    worst = (0.0, "")
    nobody = [0] * expected.size
    for pattern in {*expected.waits, *found}:
        wanted, there = expected.waits.get(pattern, nobody), found.get(pattern, nobody)
        for rank in range(expected.size):
            seconds = wanted[rank] * 1e-9
            share = abs(there[rank] - seconds) / max(seconds, floor)
            if share > worst[0]:
                worst = (share, f"{pattern} of rank {rank}: {there[rank]:.9f} s, expected "
                                f"{seconds:.9f} s")
    return worst


def causes_of(facts, pattern):
    causes = [cause for cause in facts["causes"] if need(cause, CAUSE_KEYS)["pattern"] == pattern]
    if not causes:
        raise harness.Failure(f"no cause of {pattern}")
    return causes


def found_cause(facts, pattern):
    """(function, rank) of what costs most in a pattern: where work is called that is named."""
    cause = max(causes_of(facts, pattern), key=lambda one: one["seconds"])
    harness.compare("kind of the first cause", cause["kind"], "compute")
    most = max(cause["ranks"], key=lambda one: one["seconds"])
    called = re.search(r"called in (\w+)\(\)", cause["activity"])
    return called[1] if called else cause["function"].removesuffix("()"), most["rank"]


def found_cost(facts, pattern, rank):
    """Seconds that others waited for whatever a rank did."""
    return sum(one["seconds"] for cause in causes_of(facts, pattern) for one in cause["ranks"]
               if one["rank"] == rank)


def ranks_text(ranks):
    """[0, 2, 4] -> "0,2,4"; [1, 2, 3] -> "1-3"."""
    steps = {b - a for a, b in zip(ranks, ranks[1:])}
    if len(ranks) > 2 and steps == {1}:
        return f"{ranks[0]}-{ranks[-1]}"
    return ",".join(map(str, ranks))


def behaviour_faults(facts):
    """Patterns of behaviour in which no rank is late that a cause names. Of several that are late
    together causes name one."""
    blamed = {rank["rank"] for cause in facts["causes"] for rank in cause["ranks"]}
    for loop in facts["behaviour"] or []:
        for pattern in loop["patterns"]:
            late = set(pattern.get("late") or [])
            if late and not late & blamed:
                yield f"{ranks_text(sorted(late))} said to be late in steps, but by no cause"


class Result:
    """A program's expectation and what a report says of it."""

    def __init__(self, program, facts):
        self.program, self.expected = program, program.expected()
        waits = found_waits(facts, program.ranks)
        self.pattern = dominating(waits)
        self.seconds = sum(waits.get(self.expected.pattern, []))
        self.deviation, self.where = largest_deviation(self.expected, waits)
        self.cause = found_cause(facts, self.expected.pattern)
        self.cost = found_cost(facts, self.expected.pattern, self.cause[1])
        self.others = list(behaviour_faults(facts))

    def faults(self):
        """In words, what is not as it should be."""
        expected = self.expected
        if dominating(expected.waits) != expected.pattern:
            yield f"the model says {dominating(expected.waits)}, not {expected.pattern}"
        if self.pattern != expected.pattern:
            yield f"dominated by {self.pattern}, not by {expected.pattern}"
        if self.deviation > TOLERANCE:
            yield self.where
        yield from self.others
        function, rank = self.cause
        if function != self.program.function or rank not in expected.blamed():
            yield (f"caused by rank {rank} in {function}, not by {ranks_text(expected.blamed())} "
                   f"in {self.program.function}")
        least, most = expected.least[rank] * 1e-9, expected.most[rank] * 1e-9
        if not (1 - TOLERANCE) * least <= self.cost <= (1 + TOLERANCE) * most:
            yield f"rank {rank} cost {self.cost:.9f} s, expected {least:.9f} to {most:.9f} s"

    def row(self):
        total = sum(self.expected.waits[self.expected.pattern]) * 1e-9
        function, rank = self.cause
        return (f"| {self.program.name} | {self.program.ranks} | {self.expected.pattern} | "
                f"{total:.6f} | {self.seconds:.6f} | {100 * self.deviation:.3f} % | "
                f"{self.program.function}() on {ranks_text(self.expected.blamed())} | "
                f"{function}() on {rank} |")


HEADING = ["| program | ranks | waits in | expected, s | found, s | largest deviation | expected "
           "cause | found cause |", "|---|---|---|---|---|---|---|---|"]


def table(results):
    return HEADING + [result.row() for result in results]


# ---- the page ----

PAGE = os.path.join(harness.HERE, "..", "doc", "pathologies.md")
START = """\
# Known pathologies, and the findings

`refrain report` must find the known waits and causes of these programs. `tools/pathologies.py`
writes the page; `make check` runs all of this again and fails if it finds anything else.

The programs are after Mohror (Scalable Event Tracking on High-End Parallel Systems, 2010, 5.1.1):
regular ones on 8 ranks; irregular ones on 32, with 1 ms of equal work per iteration and the system
noise of 32 or 1024 nodes (`tests/programs/pathologies/noise.h`); dynamic load balancing; and a
wavefront sweep instead of Sweep3D. They run under SMPI, where work takes an exact simulated time.
`tests/pathologies.py` computes from the definitions in [analysis.md](analysis.md), without a
recording, how long each rank waits in each pattern and which ranks are late.

- *Expected* and *found* are the seconds of all ranks together in the pattern of the program.
- The *largest deviation* is over all ranks and all patterns, also patterns that must not occur. It
  is a share of the rank's expected wait, or, if that is more, of 1 % of the longest wait of any
  rank. Up to 1 % is accepted.
- The expected *cause* is the function in which late ranks compute, and the ranks that cost most,
  several if they are alike. The found one is the first of that pattern.

"""


def page(results, large):
    lines = ["## The 18 programs", "", *table(results), "",
             "## 1024 ranks, each with the noise of its own node", "", *table(large), ""]
    return START + "\n".join(lines)
