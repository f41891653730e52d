"""What findings mean together: stories (doc/analysis.md), of programs that are slow in one way each, and of near misses.

Under SMPI, where sleeping takes exactly as long as it says and messages next to nothing: what a story costs follows
from the program (programs/stories.c; times there are in tens of milliseconds).
"""
import json
import os

import harness
import test_smpi

SIMULATED = True
SOURCE = os.path.join(harness.PROGRAMS, "stories.c")
UNIT = 0.01
TOLERANCE = 0.02


class Told:
    """A program, what the first story of it is, and what that costs in seconds of all ranks."""

    def __init__(self, name, ranks, steps, kind, cost, late=None, **fields):
        self.name, self.ranks, self.steps, self.kind, self.late, self.fields = name, ranks, steps, kind, late, fields
        self.cost = cost and cost * UNIT * steps


def chain(ranks, hold):
    """Rank r waits for r others before it, and at the barrier for those behind it."""
    return hold * ranks * (ranks - 1)


def served(workers, tasks, work, service):
    """From the first result on the master is busy; each worker waits whenever it has no task."""
    last_answers = [work + service * ((tasks - 1) * workers + number) for number in range(1, workers + 1)]
    return sum(answer - tasks * work for answer in last_answers)


TOLD = [
    Told("slow_rank", 8, 10, "slow_ranks", 7 * 0.6 * (10 + 6 + 4), [5], factor=1.6),
    Told("slow_function", 8, 10, "cause", 7 * 0.6 * 10, [5]),
    Told("slow_in_turns", 8, 10, "cause", 7 * 6),
    # Rank 0 comes to its part without a call between, so that the 5 before it count, too.
    Told("token", 6, 20, "one_by_one", chain(6, 6), ranks_at_once=(6 * 6 + 5) * 6 / (6 * 6 + 5 + chain(6, 6))),
    Told("pipeline", 6, 10, "pipeline", 6 * 5 * 4),  # each rank is idle while five others work on one block
    Told("long_pipeline", 6, 1, "cause", None),      # so they are here, but that is little beside 400 blocks
    Told("master", 8, 20, "master", served(7, 20, 6, 3) / 20, [0]),
    Told("fixed_order", 8, 20, "cause", served(7, 20, 6, 3) / 20, [0]),
    Told("send_chain", 6, 10, "send_chain", 5 * 8),
    Told("one_send", 6, 10, "cause", 5 * 8, [5]),
    # The first of 50 times the work comes after other calls, and so is another activity.
    Told("noise", 16, 50, "noise", 15 * 5 * 49 / 50),
    Told("same_rank", 16, 50, "cause", 15 * 5 * 49 / 50, [2]),
]


def check(bench, told, story):
    harness.compare(f"{told.name}: the first story", story["kind"], told.kind)
    if told.cost and abs(story["seconds"] - told.cost) > TOLERANCE * told.cost:
        raise harness.Failure(f"{told.name} costs {story['seconds']} s, not {told.cost}")
    if told.late is not None:
        ranks = story["findings"][0]["ranks"]
        late = [rank["rank"] for rank in ranks if rank["seconds"] > 0.1 * ranks[0]["seconds"]]
        harness.compare(f"{told.name}: who is late", late, told.late)
    for name, value in told.fields.items():
        if abs(story[name] - value) > 0.05 * value:
            raise harness.Failure(f"{told.name}: {name} is {story[name]}, not {value}")


def test_stories(bench):
    program = test_smpi.smpi_program(bench, SOURCE)
    for told in TOLD:
        archive = test_smpi.smpi_run(bench, program, told.ranks, [told.name, str(told.steps)])
        stories = json.loads(bench.verb("report", "--json", archive))["stories"]
        if not stories:
            raise harness.Failure(f"{told.name}: no story")
        check(bench, told, stories[0])
        lines = bench.run([bench.refrain, "report", "--short", archive], env={"COLUMNS": "80"},
                          check=True).out.splitlines()
        if len(lines) > 20 or max(map(len, lines)) > 80:
            raise harness.Failure(f"{told.name}: the first screen has {len(lines)} lines")
