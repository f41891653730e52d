"""Waits at windows: fences, posts, completes, locks, each with a rank that is late on purpose."""
import json
import os

import harness
import test_smpi as smpi

LATE_MS = 250
LATE = LATE_MS * 1e-3
PATTERNS = ("early_fence", "late_post", "early_wait", "lock_contention")
# programs/one_sided_waits.c: which ranks wait for the late one, and for what part of its pause.
WAITING = {"early_fence": {0: 1, 2: 1, 3: 1}, "late_post": {0: 1, 3: 1},
           "early_wait": {0: 1, 1: 1}, "lock_contention": {1: 0.5}}


def waits(bench, archive, ranks=4):
    """Seconds of the patterns of windows, by pattern and rank, as the report has them."""
    found = json.loads(bench.verb("report", "--json", archive))
    seconds = {pattern: [0.0] * ranks for pattern in PATTERNS}
    for row in found["wait_states"]:
        if row["pattern"] in seconds:
            by_rank = row["seconds_by_rank"]
            harness.compare("ranks of " + row["pattern"], len(by_rank), ranks)
            if abs(sum(by_rank) - row["seconds"]) > 1e-6:
                raise harness.Failure(f"ranks do not add up: {row}")
            for rank, value in enumerate(by_rank):
                seconds[row["pattern"]][rank] += value
    return seconds


# ---- the same from the events of this program, call by call ----

class Call:
    """A call of the program with its times in seconds."""

    def __init__(self, event):
        self.name = event["function"][4:]
        self.rank = int(event["rank"])
        self.enter, self.exit = int(event["enter_ns"]) * 1e-9, int(event["exit_ns"]) * 1e-9

    def until(self, time):
        """How long it waits for something at a time."""
        return max(0.0, min(time, self.exit) - self.enter)


def calls_of(events, rank, names):
    """Those calls of a rank, in their order."""
    return [call for call in map(Call, events) if call.rank == rank and call.name in names]


def add_fences(events, seconds):
    """The first fence, with nothing before it, need not wait; the second is the one of the test."""
    fences = [calls_of(events, rank, ["Win_fence"]) for rank in range(4)]
    for number in range(2):
        latest = max(calls[number].enter for calls in fences)
        for rank, calls in enumerate(fences):
            if number == 1 or calls[number].exit >= latest:
                seconds["early_fence"][rank] += calls[number].until(latest)


def access_epoch(events, rank, number):
    """Win_start to Win_complete, the calls of an access epoch."""
    calls = calls_of(events, rank, ["Win_start", "Put", "Win_complete"])
    starts = [i for i, call in enumerate(calls) if call.name == "Win_start"]
    ends = [i for i, call in enumerate(calls) if call.name == "Win_complete"]
    return calls[starts[number]:ends[number] + 1]


def add_epochs(events, seconds):
    """Part 2: rank 2 exposes to 0 and 3. Part 3: 0 and 1 to 3."""
    posts = {rank: calls_of(events, rank, ["Win_post"])[0].enter for rank in range(3)}
    exposures = {rank: calls_of(events, rank, ["Win_wait"])[0] for rank in range(3)}
    parts = ((0, access_epoch(events, 0, 0), (2,)), (3, access_epoch(events, 3, 0), (2,)),
             (3, access_epoch(events, 3, 1), (0, 1)))
    for origin, epoch, targets in parts:
        for call in epoch:
            targets_of_put = targets if call.name != "Put" or len(targets) == 1 else ()
            post = max((posts[target] for target in targets_of_put), default=0)
            if post <= call.exit:
                seconds["late_post"][origin] += call.until(post)
    completes = [epoch[-1].enter for _, epoch, _ in parts]
    seconds["early_wait"][2] += exposures[2].until(max(completes[:2]))
    for rank in range(2):
        seconds["early_wait"][rank] += exposures[rank].until(completes[2])


def add_locks(events, seconds):
    """Rank 1's calls against the unlock of rank 0, or its beginning where it ends later."""
    lock, _, _, unlock = calls_of(events, 0, ["Win_lock", "Put", "Win_flush", "Win_unlock"])[-4:]
    for call in calls_of(events, 1, ["Win_lock", "Put", "Win_unlock"])[-3:]:
        if unlock.exit <= call.exit:
            seconds["lock_contention"][1] += call.until(unlock.exit)
        elif unlock.enter <= call.exit and lock.exit <= call.enter:
            seconds["lock_contention"][1] += call.until(unlock.enter)


def expected_waits(events):
    seconds = {pattern: [0.0] * 4 for pattern in PATTERNS}
    add_fences(events, seconds)
    add_epochs(events, seconds)
    add_locks(events, seconds)
    return seconds


def check_same(found, expected):
    """The times are those of the archive, so both come out alike, but for what decimals lose."""
    for pattern in PATTERNS:
        for rank in range(4):
            if abs(found[pattern][rank] - expected[pattern][rank]) > 2e-6:
                raise harness.Failure(f"{pattern} of rank {rank}: {found[pattern][rank]} s, "
                                      f"from the events {expected[pattern][rank]} s")


def check_shares(found, low, high, rest):
    """Who should wait does so for low to high of what is expected; the others less than rest."""
    for pattern, ranks in WAITING.items():
        for rank, value in enumerate(found[pattern]):
            wanted = ranks.get(rank, 0) * LATE
            if not (low * wanted <= value <= high * wanted if wanted else value <= rest * LATE):
                raise harness.Failure(f"{pattern} of rank {rank}: {value} s, late by {wanted} s")


@harness.real_time
def test_real(bench, flavour):
    """To the nanosecond what the events say. And, as it is meant: who should wait does so for half
    of the pause at least, because to lose more a rank in step with the others would have to get no
    processor for 125 ms (the lock: 62 ms); it may wait for longer, as the late rank's sleep may
    take any time on a busy machine. Who should not wait, waits less than those in its pattern."""
    program = bench.program("one_sided_waits", flavour)
    _, archive = bench.record(flavour, 4, [program, str(LATE_MS)])
    found = waits(bench, archive)
    check_same(found, expected_waits(bench.dump(archive)))
    check_shares(found, 0.5, float("inf"), float("inf"))
    for pattern, ranks in WAITING.items():
        idle = max(value for rank, value in enumerate(found[pattern]) if rank not in ranks)
        if idle >= min(found[pattern][rank] for rank in ranks):
            raise harness.Failure(f"{pattern}: the wrong ranks wait: {found[pattern]}")


@harness.real_time
def test_polls(bench, flavour):
    """A successful MPI_Win_test waited since the first unsuccessful one."""
    _, archive = bench.record(flavour, 2, [bench.program("waits_win_test", flavour)])
    found = waits(bench, archive, 2)["early_wait"]
    events = bench.dump(archive)
    polls = calls_of(events, 0, ["Win_test"])
    complete, = calls_of(events, 1, ["Win_complete"])
    longest = complete.enter - polls[0].enter
    harness.compare("of rank 1", found[1], 0)
    if not longest / 10 <= found[0] or harness.ns(found[0]) > harness.ns(longest):
        raise harness.Failure(f"late complete {found[0]} s, rank 1 completed after {longest} s")


def test_simulated(bench):
    """In simulated time the pause is exact: waits within 1 %, and none where none should be."""
    program = smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "one_sided_waits.c"))
    archive = smpi.smpi_run(bench, program, 4, [str(LATE_MS)])
    found = waits(bench, archive)
    check_same(found, expected_waits(bench.dump(archive)))
    check_shares(found, 0.99, 1.01, 0.01)
