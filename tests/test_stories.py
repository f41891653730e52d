"""What findings mean together: stories (doc/analysis.md) of programs that are slow in one way each, and near misses.

Under SMPI, where sleeping takes exactly as long as it says and messages next to nothing: what a story costs follows
from the program (programs/stories/*.c; times are in tens of milliseconds). Of each program all stories are named but
plain causes of less than 5 %, so that nothing is said twice.
"""
import heapq
import json
import os

import harness
import test_smpi

SIMULATED = True
FOLDER = os.path.join(harness.PROGRAMS, "stories")
UNIT = 0.01
TOLERANCE = 0.02
TOLD = 0.05  # of all time: plain causes


class Story:
    """What kind of story, what it costs all ranks in all, who is late at its costliest finding, how the advice
    begins, and other members of it in JSON."""

    def __init__(self, kind, cost, late=None, advice="", **fields):
        self.kind, self.cost, self.late, self.advice, self.fields = kind, cost, late, advice, fields

    def check(self, found):
        """What is wrong with a story that was found."""
        faults = []
        cost = self.cost * UNIT
        if found["kind"] != self.kind:
            faults.append(f"{found['kind']}, not {self.kind}")
        if abs(found["seconds"] - cost) > TOLERANCE * cost:
            faults.append(f"costs {found['seconds']} s, not {cost}")
        if not found["advice"].startswith(self.advice):
            faults.append(f"advice: {found['advice']}")
        if self.late is not None:
            ranks = found["findings"][0]["ranks"]
            late = [rank["rank"] for rank in ranks if rank["seconds"] > 0.1 * ranks[0]["seconds"]]
            if sorted(late) != self.late:
                faults.append(f"late are {late}, not {self.late}")
        for name, value in self.fields.items():
            same = abs(found[name] - value) <= TOLERANCE * value if isinstance(value, float) else found[name] == value
            if not same:
                faults.append(f"{name} is {found[name]}, not {value}")
        return faults


class Parts(Story):
    """A cost that is told in several stories of a kind."""


class Program:
    """One of a file of programs, and its stories, costliest first. nodes: see smpi_launch."""

    def __init__(self, name, ranks, steps, *stories, nodes=None, options=()):
        self.name, self.ranks, self.steps, self.stories = name, ranks, steps, stories
        self.nodes, self.options = nodes, options


# ---- arithmetic ----

def at_barriers(ranks, steps, length):
    """Each step takes every rank length(step, rank), then it waits for the last one."""
    lengths = [[length(step, rank) for rank in range(ranks)] for step in range(steps)]
    return sum(ranks * max(step) - sum(step) for step in lengths)


def numbers(state=1):
    """next_random of programs/stories/stories.h."""
    while True:
        state = (state * 1103515245 + 12345) % 2**32
        yield state >> 16


def queue(ranks, hold):
    """Rank r waits for r others before it, and at the barrier for those behind it."""
    return hold * ranks * (ranks - 1)


def filling(ranks, length, stages=None):
    """A sweep's cost: each rank is idle while the first block comes to it and the last one to the end."""
    return ranks * ((stages or ranks) - 1) * length


def at_once(ranks, spent, waited):
    return ranks * spent / (spent + waited)


def served(works, tasks, service):
    """Rank 0 answers who comes first. Each worker works, asks, and waits for its answer, so many times."""
    asking, free, waiting = [(work, number, tasks) for number, work in enumerate(works)], 0, 0
    heapq.heapify(asking)
    while asking:
        time, number, left = heapq.heappop(asking)
        free = max(free, time) + service
        waiting += free - time
        if left > 1:
            heapq.heappush(asking, (free + works[number], number, left - 1))
    return waiting


def master(workers):
    return served([6] * workers, 20, 3)


# ---- programs ----

LESS_WORK = "Give that rank less of this work, or find out"
SHARE_WORK = "Divide this work among the ranks"  # which one does alone
HOST = [0] * 4 + [1] * 4


def on_hosts(slow, a, b):
    """(cost in `assemble`, in `solve`) of ranks that are slow."""
    return [at_barriers(8, 128, lambda i, r: length * (factor if r in slow else 1) + 0.01 * ((r ^ i) % 8))
            for length, factor in ((10, a), (6, b))]


SLOW = [
    Program("slow_rank", 8, 100, Story("slow_ranks", 700 * 0.6 * 20, [5], "Look at that rank's core", factor=1.6)),
    Program("slow_neighbour", 6, 20, Story("slow_ranks", 100 * 0.3 * 20, [2], "Look at that rank's core", factor=1.3)),
    Program("slow_root", 8, 20, Story("slow_ranks", 140 * (2 + 4), [0], "Look at that rank's core", factor=1.3)),
    Program("slow_function", 8, 100, Story("cause", 700 * 6, [5], LESS_WORK)),
    Program("slow_in_turns", 8, 100, *[Story("cause", 700 * 6, [rank], LESS_WORK) for rank in (2, 3, 1)]),
    Program("hardly_slow", 8, 100, Story("cause", 700 * 3.2, [5])),
    Program("factors_apart", 8, 100, Story("cause", 700 * 4.2, [5]), Story("cause", 700 * 2, [5])),
    Program("slow_and_fast", 8, 100, Story("cause", 700 * 3, [5]), Story("cause", 700 * 1.8, [5])),
]
BOTH = sum(on_hosts(range(4, 8), 1.5, 1.5))
HOSTS = [
    Program("slow_host", 8, 128, Story("slow_ranks", BOTH, [4, 5, 6, 7], "Look at that host:",
                                      factor=1.5, host="node-1"), nodes=HOST),
    Program("slow_host", 8, 128, Story("slow_ranks", sum(on_hosts((1, 3, 5, 7), 1.5, 1.5)), [1, 3, 5, 7],
                                      "Look at that host:", host="node-1"), nodes=[0, 1] * 4),
    Program("slow_host", 8, 128, Story("slow_ranks", sum(on_hosts((2, 3), 1.5, 1.5)), [2, 3], "Look at that host:",
                                      host="node-1"), nodes=[0, 0, 1, 1, 2, 2, 3, 3]),
    Program("slow_host_in_order", 8, 100,
            Story("slow_ranks", 100 * 20 * (8 * 1.507 - sum([1.5] * 4 + [1] * 4) - 0.028), [7], "Look at that host:",
                  host="node-1"), nodes=HOST),
    Program("slow_host", 8, 128, nodes=[1] * 8),
    Program("most_of_host", 8, 128, *[Story("cause", cost, [4, 5, 6]) for cost in on_hosts((4, 5, 6), 1.5, 1.5)],
            nodes=HOST),
    Program("more_than_host", 8, 128, Story("cause", on_hosts((0, 4, 5, 6, 7), 1.5, 1.5)[0], [0, 4, 5, 6, 7]),
            nodes=HOST),
    Program("host_in_one_function", 8, 128, Story("cause", on_hosts(range(4, 8), 1.5, 1)[0], [4, 5, 6, 7]), nodes=HOST),
]
SHORTEN = "Make this work shorter"
ONE_BY_ONE = [
    # Rank 0 comes to its part without a call between, so that the 5 before it count, too.
    Program("token", 6, 20, Story("one_by_one", 20 * queue(6, 6), None, SHORTEN,
                                  ranks_at_once=at_once(6, 6 * 6 + 5, queue(6, 6)))),
    Program("barrier_turns", 6, 10, Story("one_by_one", 10 * queue(6, 6), [1, 2, 3, 4, 5], SHORTEN, ranks_at_once=1.0)),
    Program("lock", 6, 10, Story("one_by_one", 10 * queue(6, 6), None, SHORTEN, ranks_at_once=1.0)),
    Program("permits", 6, 10, Story("one_by_one", 10 * 5 * 5 * 6, None, SHORTEN)),
    Program("two_turns", 6, 100, Story("cause", 100 * 2 * 5 * 6, [0, 1])),
    Program("no_turns", 6, 10),
    Program("shared_lock", 6, 10),
    Program("two_locks", 6, 10, Story("cause", 10 * 2 * queue(3, 6), None, "Hold the lock for less time")),
    Program("long_lock", 6, 10, Story("cause", 10 * 5 * 60, [0], "Hold the lock for less time")),
    Program("token_in_time", 6, 100),
]
ANSWER = "Make that rank answer faster"
MASTERS = [
    Program("master", 8, 20, Story("master", master(7), [0], ANSWER)),
    Program("lookups", 4, 40, Story("master", served([1, 2, 3], 40, 2), [3], ANSWER)),
    Program("counter", 8, 100, Story("master", served([2] * 7, 100, 0.5), [0], ANSWER)),
    Program("fixed_order", 8, 20, Story("cause", master(7), [0], SHARE_WORK)),
    # Rank 0 waits, too: 6, and 3 each time after both have their answers.
    Program("master", 3, 20, Parts("cause", served([6] * 2, 20, 3) + 6 + 19 * 3)),
    Program("workers_talk", 8, 20, Story("cause", master(7), [0])),
    Program("collector", 8, 10, Story("cause", 10 * 7 * 21, [0], SHARE_WORK)),
]
SMALLER = "Pass the work on in smaller parts"


def pipeline(steps, cost, **fields):
    return Story("pipeline", steps * cost, None, SMALLER, **fields)


PIPELINES = [
    # Of rank 0 only the first block counts: nobody waits for the others.
    Program("blocks_6", 6, 10, pipeline(10, filling(6, 4), ranks_at_once=at_once(6, (5 * 6 + 1) * 4, filling(6, 4)))),
    Program("blocks_14", 6, 10, pipeline(10, filling(6, 4), ranks_at_once=at_once(6, 6 * 14 * 4, filling(6, 4)))),
    Program("there_and_back", 6, 10, pipeline(10, 2 * filling(6, 4))),
    Program("corner", 9, 10, pipeline(10, filling(9, 4, 5))),
    Program("two_buffers", 6, 10, pipeline(10, filling(6, 5))),
    Program("blocks_16", 6, 10, Parts("cause", 10 * filling(6, 4))),
    Program("blocks_400", 6, 1),
    Program("slow_stage", 6, 5, Story("cause", 5 * (6 * (2 * 4 + 100 * 8 + 3 * 4) - 5 * 400 - 800), [2])),
    Program("blocks_6", 2, 10, Parts("cause", 10 * filling(2, 4))),
]
SENDRECV = "Use MPI_Sendrecv"
SEND_CHAINS = [
    Program("upwards", 6, 10, Story("send_chain", 10 * 5 * 8, [5], SENDRECV)),
    Program("large_rows", 5, 10, Story("send_chain", 10 * 4 * 20, [0], SENDRECV)),
    Program("work_between", 6, 10, Story("send_chain", 10 * queue(6, 3), None, SENDRECV)),
    Program("upwards", 3, 10, Story("cause", 10 * 2 * 8, [2])),
    Program("one_send", 6, 10, Story("cause", 10 * 5 * 8, [5])),
    Program("pairs", 8, 10, Story("cause", 10 * 4 * 8, [1, 3, 5, 7], "Post the receive before")),
    Program("posted", 6, 10, Story("cause", 10 * 5 * 8, [5])),
]


def late_ones(ranks, among, steps, otherwise):
    late = [number % among for number, _ in zip(numbers(), range(steps))]
    return at_barriers(ranks, steps, lambda i, r: 20 if r == late[i] else otherwise)


def any_length(ranks, steps):
    drawn = numbers()
    lengths = [[10 + 0.01 * (next(drawn) % 400) for _ in range(ranks)] for _ in range(steps)]
    return at_barriers(ranks, steps, lambda i, r: lengths[i][r])


VARIES = "The work varies from step to step"
NOISE = [
    Program("late_at_random", 16, 200, Story("noise", late_ones(16, 16, 200, 15), None, VARIES)),
    Program("any_length", 8, 100, Story("noise", any_length(8, 100), list(range(8)), VARIES)),
    Program("goes_round", 8, 80, Story("noise", 80 * 7 * 2, list(range(8)), VARIES)),
    Program("same_rank", 16, 200, Story("cause", 200 * 15 * 5, [0], LESS_WORK)),
    Program("three_ranks", 8, 200, Story("cause", 200 * 7 * 5, [0, 1, 2])),
    Program("one_works", 8, 200, Story("cause", 200 * 7 * 19)),
    Program("one_rank_more", 8, 64, Story("cause", 64 * 7 * 5)),
]

# Messages take 20 us, 10 in each link, and 1 ms per megabyte, and do not disturb each other.
EXACT = ["--cfg=smpi/lat-factor:0:1", "--cfg=smpi/bw-factor:0:1", "--cfg=network/crosstraffic:no",
         "--cfg=smpi/async-small-thresh:65536"]


def moved(count, size=0):
    return count * (20e-6 + size * 1e-9) / UNIT


FEWER = "Small messages cost latency, not bandwidth"
MOVING = "Many MPI libraries transfer large messages only"


def moving(name, ranks, steps, *stories):
    return Program(name, ranks, steps, *stories, options=EXACT)


SMALL_MESSAGES = [
    moving("small_words", 4, 10, Story("small_messages", moved(4 * 1000, 8), None, FEWER, messages=4000)),
    moving("page_size", 4, 10, Story("small_messages", moved(4 * 1000, 4096), None, FEWER, bytes=4 * 1000 * 4096)),
    moving("edges", 4, 250, Story("small_messages", moved(4 * 250, 64), None, FEWER, messages=4000)),
    moving("particles", 4, 20, Story("small_messages", moved(4 * 1000, 48), None, FEWER)),
    # A question and its answer take two messages, and each rank waits for both.
    moving("questions", 4, 10, Story("small_messages", 4 * 1000 * 2 * moved(1, 4), None, FEWER, messages=4000)),
    moving("above_page_size", 4, 10),
    moving("small_words", 4, 9),
    moving("edges", 4, 249),
    moving("much_work", 4, 10),
    moving("exchanges", 4, 10),
]
SLOWER_NETWORK = [*EXACT[1:], "--cfg=smpi/lat-factor:0:10"]
NO_OVERLAP = [
    moving("faces", 4, 10, Story("no_overlap", moved(4 * 10, 4e6), None, MOVING)),
    moving("half_overlap", 4, 10, Story("no_overlap", moved(4 * 10, 4e6) - 4 * 10 * 0.2, None, MOVING)),
    moving("longer_faces", 4, 50, Story("no_overlap", moved(4 * 50, 90000), None, MOVING)),
    moving("persistent_faces", 4, 10, Story("no_overlap", moved(4 * 10, 4e6), None, MOVING)),
    moving("faces_and_slow_rank", 4, 100, Story("cause", 100 * 3 * 2, [1]),
           Story("no_overlap", moved(4 * 100, 4e6), None, MOVING)),
    moving("full_overlap", 4, 10),
    moving("rare_faces", 4, 10),
    moving("short_faces", 4, 50),
    moving("exchanges", 4, 10),
    # Small messages are long under way here, and not said to be large as well.
    Program("edges", 4, 250, Story("small_messages", 4 * 250 * (200e-6 + 64e-9) / UNIT, None, FEWER),
            options=SLOWER_NETWORK),
]
CAUSES = [
    Program("late_root", 6, 20, Story("cause", 20 * 5 * 3, [2], "Let the root send before")),
    # The first of ten steps comes after a barrier, the others after MPI_Gather.
    Program("serial_part", 6, 10, Story("cause", 10 * 5 * 3, [0], "Let the root send before")),
    Program("late_part", 6, 20, Story("cause", 20 * 5 * 3, [1], "Balance this work over the ranks, or let the root")),
    Program("late_receiver", 6, 20,
            Story("cause", 20 * (4 + 4 * 2), [3], "Give that rank less of this work, or let it post")),
    Program("balanced", 6, 20),
    Program("late_to_end", 6, 20),
    Program("trifle", 6, 20),
]


def joined(stories):
    """Stories of one kind as one, if they are."""
    kinds = {story["kind"] for story in stories}
    return [{**stories[0], "seconds": sum(story["seconds"] for story in stories)}] if len(kinds) == 1 else stories


def faults_of(bench, source, program):
    """What is wrong with the stories told of a program."""
    archive = test_smpi.smpi_launch(bench, source, program.ranks, [program.name, str(program.steps)],
                                    options=program.options, nodes=program.nodes)[1]
    stories = json.loads(bench.verb("report", "--json", archive))["stories"]
    if program.stories and isinstance(program.stories[0], Parts):
        stories = joined(stories)
    stories = [story for story in stories if story["kind"] != "cause" or story["share"] >= TOLD]
    if len(stories) != len(program.stories):
        texts = "\n".join(f"    {story['kind']}: {story['text']}" for story in stories)
        return [f"{len(stories)} stories, not {len(program.stories)}\n{texts}"]
    faults = [fault for story, found in zip(program.stories, stories) for fault in story.check(found)]
    lines = bench.run([bench.refrain, "report", "--short", archive], env={"COLUMNS": "80"}, check=True).out.splitlines()
    if len(lines) > 20 or max(map(len, lines)) > 80:
        faults.append(f"the first screen has {len(lines)} lines, of up to {max(map(len, lines))} characters")
    return faults


def check(bench, name, programs):
    source = test_smpi.smpi_program(bench, os.path.join(FOLDER, name + ".c"))
    faults = [f"{program.name}, {program.ranks} ranks: {fault}"
              for program in programs for fault in faults_of(bench, source, program)]
    if faults:
        raise harness.Failure("\n".join(faults))


def test_slow_ranks(bench):
    check(bench, "slow_ranks", SLOW)


def test_slow_hosts(bench):
    check(bench, "slow_ranks", HOSTS)


def test_one_by_one(bench):
    check(bench, "one_by_one", ONE_BY_ONE)


def test_masters(bench):
    check(bench, "masters", MASTERS)


def test_pipelines(bench):
    check(bench, "pipelines", PIPELINES)


def test_send_chains(bench):
    check(bench, "send_chains", SEND_CHAINS)


def test_noise(bench):
    check(bench, "noisy_steps", NOISE)


def test_small_messages(bench):
    check(bench, "moving_data", SMALL_MESSAGES)


def test_no_overlap(bench):
    check(bench, "moving_data", NO_OVERLAP)


def test_plain_causes(bench):
    check(bench, "plain_causes", CAUSES)
