"""The domino path of programs/domino.c, by arithmetic.

A run is a chain of stages, the last of which starts what the first spare rank does then. A remedy makes a stage or that
take no time, or as long as the mean of all ranks; or it removes a wait: the next call begins at once.
"""

STAGES = (53, 71, 67, 61, 59, 73, 47)  # ms
FINISH = 30
SPARE = range(len(STAGES))  # what each spare rank computes first
RANKS = 2 * len(STAGES)


class Run:
    def __init__(self):
        self.stages, self.finish = list(STAGES), FINISH
        self.cut = set()  # what does not wait for the stage before it; len(STAGES): the first spare rank

    def time(self):
        now = longest = 0
        for number, stage in enumerate([*self.stages, self.finish]):
            now = (0 if number in self.cut else now) + stage
            longest = max(longest, now)
        return max(longest, *SPARE)


def remedies():
    """Functions that change a run."""
    mean = (sum(STAGES) + FINISH + sum(SPARE)) / RANKS
    for number, stage in enumerate(STAGES):
        for becomes in (0, mean / stage):
            def shorten(run, number=number, becomes=becomes):
                run.stages[number] *= becomes
            if becomes < 1:
                yield shorten
    for number in range(1, len(STAGES) + 1):
        yield lambda run, number=number: run.cut.add(number)

    def finish_at_once(run):
        run.finish = 0
    yield finish_at_once


def time_with(chosen):
    run = Run()
    for remedy in chosen:
        remedy(run)
    return run.time()


def paths(steps):
    """Run times in ms, as it is and after each best remedy: all that are possible, as several may be equally good."""
    ways, options = {((time_with([]),), frozenset())}, list(remedies())
    for _ in range(steps):
        further = set()
        for times, chosen in ways:
            after = {number: time_with([options[n] for n in (*sorted(chosen), number)])
                     for number in range(len(options)) if number not in chosen}
            best = min(after.values())
            further |= {((*times, best), chosen | {number}) for number, ms in after.items() if ms == best}
        ways = further
    return {times for times, _ in ways}


def without_spare_waits():
    """Of the seven longest waits six are of spare ranks; that of the first one is worth something, and none else."""
    return time_with([lambda run: run.cut.add(len(STAGES))])
