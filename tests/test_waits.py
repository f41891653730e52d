"""Why ranks wait: programs whose waits are known, against `refrain report --json`.

Under SMPI time is simulated, and the waits follow from the steps in the programs
(programs/steps.h): they are worked out here and have to be found within 1 %. Where SMPI lacks a
function, the programs run under the MPIs there are. Their times are the machine's, but which send
a receive got is known, and so the waits follow from the times in the dump. In both, every message
has to be matched.
"""
import json
import os
import re

import harness
import test_smpi

STEP = 0.05  # s
SLACK = 0.01 * STEP  # what the MPI calls between take in simulated time
MESSAGES = ("late_sender", "late_receiver", "wrong_order")


def report(bench, archive):
    return json.loads(bench.verb("report", "--json", archive))


def smpi(bench, name, ranks, *arguments):
    """Runs a program in simulated time; its report and events."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, name + ".c"))
    archive = test_smpi.smpi_run(bench, program, ranks, arguments)
    return report(bench, archive), bench.dump(archive)


def real(bench, flavour, name, ranks, *arguments):
    _, archive = bench.record(flavour, ranks, [bench.program(name, flavour), *arguments])
    return report(bench, archive), bench.dump(archive)


# ---- what is found ----

def waited(found, *patterns, function=""):
    """Seconds per rank in these patterns, in all calls or those of a function."""
    seconds = [0.0] * found["ranks"]
    for row in found["wait_states"]:
        harness.compare("ranks of a row", len(row["seconds_by_rank"]), found["ranks"])
        if row["pattern"] in patterns and row["call_path"].startswith(function):
            seconds = [a + b for a, b in zip(seconds, row["seconds_by_rank"])]
    return seconds


def compare_seconds(what, found, expected, slack):
    for rank, (seconds, right) in enumerate(zip(found, expected, strict=True)):
        if abs(seconds - right) > 0.01 * right + slack:
            raise harness.Failure(f"{what}, rank {rank}: {seconds} s, expected {right} s; "
                                  f"all: {found}, expected {expected}")


def check_matching(found, messages, **other):
    """All messages are joined, and all collective calls; except for what is said."""
    expected = {"messages": messages, "matched": messages, "unmatched_sends": 0,
                "unmatched_receives": 0, "cancelled": 0, "foreign": 0, "unmatched_collectives": 0,
                "fixed": False, **other}
    harness.compare("matching", {name: found["matching"][name] for name in expected}, expected)


# ---- what is expected in simulated time, in steps ----

class Part:
    """A part of a program, which begins with a barrier: when each rank is done, and its waits."""

    def __init__(self, done, **waits):
        self.done, self.waits = done, waits

    def rest(self):
        """What the ranks wait for the last one."""
        return [max(self.done) - done for done in self.done]


def only(ranks, **steps):
    """Steps of some ranks, given as r0=4: of all ranks."""
    return [steps.get(f"r{rank}", 0) for rank in range(ranks)]


def added(lists, ranks):
    return [sum(column) for column in zip([0] * ranks, *lists)]


def check_parts(found, parts):
    """Waits for messages, at the barriers between the parts, and in MPI_Finalize after the last."""
    ranks = found["ranks"]
    expected = {name: added([part.waits[name] for part in parts if name in part.waits], ranks)
                for name in MESSAGES}
    expected["wait_at_barrier"] = added([part.rest() for part in parts[:-1]], ranks)
    expected["wait_at_finalize"] = parts[-1].rest()
    for name, steps in expected.items():
        compare_seconds(name, waited(found, name), [n * STEP for n in steps], SLACK)


def test_wildcards(bench):
    """What a wildcard got, and in which order, when several are posted."""
    ranks = 8
    last = ranks - 1
    found, _ = smpi(bench, "waits_wildcards", ranks)
    check_matching(found, 2 * last + 4, backward=0, collectives=6)
    check_parts(found, [
        Part([last, *(ranks - r for r in range(1, ranks))], late_sender=only(ranks, r0=last)),
        Part([last, *range(1, ranks)], late_sender=only(ranks, r0=last)),
        Part(only(ranks, r0=2, r1=2), late_sender=only(ranks, r0=2)),
        Part(only(ranks, r0=2, r2=2), late_sender=only(ranks, r0=2))])


def test_communicators(bench):
    """The same tag in several communicators; without intercommunicators, which SMPI has not."""
    ranks, comms = 6, 4
    found, _ = smpi(bench, "waits_comms", ranks, "no-inter")
    check_matching(found, ranks // 2 * comms + ranks, backward=0, collectives=6)
    check_parts(found, [Part([comms] * ranks,
                             late_sender=only(ranks, r1=comms, r3=comms, r5=comms))])


def test_order(bench):
    """Wrong order only where another one would have shortened the wait: by what rank 0 then works, as
    far as that fits into the wait. Rank 2 waits for rank 0 only in their exchange."""
    found, _ = smpi(bench, "waits_order", 3)
    check_matching(found, 10, backward=0, collectives=6)
    check_parts(found, [
        Part([13, 8, 1], late_sender=[5, 0, 0], wrong_order=[3, 0, 0]),
        Part([11, 8, 1], late_sender=[8, 0, 0]),
        Part([13, 8, 10], late_sender=[8, 0, 9]),
        Part([13, 8, 1], late_sender=[8, 0, 0])])
    saved = {row["frames"][1]["function"]: row["wrong_order_seconds"] for row in found["wait_states"]
             if row["pattern"] == "late_sender" and row["wrong_order_seconds"]}
    harness.compare("what might be saved", list(saved), ["both_needed"])
    compare_seconds("what might be saved", list(saved.values()), [3 * STEP], SLACK)


def test_persistent(bench):
    starts = 4
    found, _ = smpi(bench, "waits_persistent", 2)
    check_matching(found, 4 * starts, backward=0, collectives=5)
    check_parts(found, [Part([starts] * 2, late_sender=[0, starts]),
                        Part([2 * starts] * 2, late_receiver=[starts, 0]),
                        Part([starts] * 2, late_sender=[0, starts])])


def test_cancelled(bench):
    """Receives that are cancelled or freed."""
    found, _ = smpi(bench, "waits_cancelled", 2)
    check_matching(found, 6, cancelled=4, backward=0, collectives=4)
    check_parts(found, [Part([3, 3], late_sender=[0, 3]), Part([3, 3], late_sender=[0, 3])])


def shift(enters, ring):
    """Everyone receives from the left: waits, and when each is done."""
    sent = [enters[rank - 1] if rank or ring else 0 for rank in range(len(enters))]
    done = [max(pair) for pair in zip(sent, enters)]
    return [end - enter for end, enter in zip(done, enters)], done


def test_sendrecv(bench):
    ranks = 12
    found, _ = smpi(bench, "waits_sendrecv", ranks)
    first, done = shift(list(range(ranks)), True)
    second, done = shift(done, True)
    chain, end = shift(only(ranks, r0=2), False)
    check_matching(found, 3 * ranks - 1, backward=0, collectives=4)
    check_parts(found, [Part(done, late_sender=added([first, second], ranks)),
                        Part(end, late_sender=chain)])


def polled(events, work):
    """Seconds that rank 0 waited in polls between which it worked: until the message that ended a
    run of them was sent, less the share of the work."""
    sent = {(event["rank"], harness.parameter(event, "tag")): int(event["enter_ns"])
            for event in events if event["function"] == "MPI_Send"}
    waits = 0
    for run, end in zip(events, events[1:]):
        if not harness.parameter(run, "polls"):
            continue
        source, tag = re.search(r"source=(\d+)[ ,]tag=(\d+)", end["parameters"]).groups()
        enter, leave = int(run["enter_ns"]), int(end["exit_ns"])
        outside = int(harness.parameter(run, "polls")) * work / (leave - enter)
        waits += (min(sent[source, tag], leave) - enter) * (1 - outside)
    return waits * 1e-9


def test_polls(bench):
    """Waitsome waits; who tests between its own work waits only in the tests, which take time too."""
    ranks = 5
    found, events = smpi(bench, "waits_polls", ranks)
    check_matching(found, 3 * (ranks - 1), backward=0, collectives=5)
    in_tests = polled(events, 10000000)
    if not 0 < in_tests < STEP:
        raise harness.Failure(f"{in_tests} s in polls")
    for name, first in (("late_sender", (ranks - 1) * STEP + in_tests), ("wrong_order", 0),
                        ("late_receiver", 0)):
        compare_seconds(name, waited(found, name), [first] + [0] * (ranks - 1), SLACK)
    missed = [event for event in events if harness.parameter(event, "polls")]
    if not {"MPI_Testany", "MPI_Testsome"} <= {event["function"] for event in missed}:
        raise harness.Failure("no poll without success")


def check_polling(bench, kind):
    """However a program polls, it waits until the messages are sent; and that is not its computing."""
    rounds = 6
    found, events = smpi(bench, "waits_polling", 2, str(kind))
    check_matching(found, 3 * rounds, backward=0, collectives=rounds + 2)
    begins = [int(event["exit_ns"]) for event in named(events, "MPI_Barrier", rank=0)]
    last = enters(events, "MPI_Send", rank=1)[2::3]
    waits = 1e-9 * sum(ns - begin for ns, begin in zip(last, begins, strict=True))
    compare_seconds("late sender", waited(found, "late_sender"), [waits, 0], SLACK)
    costs = [0, 0]
    for cause in found["causes"]:
        for rank in cause["ranks"]:
            costs[rank["rank"]] += rank["seconds"] if cause["pattern"] == "late_sender" else 0
    compare_seconds("caused by", costs, [0, waits], SLACK)
    (outside_ns,) = [harness.ns(row["outside_seconds"]) for row in found["time_per_rank"] if row["rank"] == 0]
    if outside_ns > 0.02e9 * waits:
        raise harness.Failure(f"kind {kind}: {outside_ns} ns of computing")


def test_polling(bench):
    for kind in range(7):
        check_polling(bench, kind)


def simulated_collective(bench, which, name):
    """One kind of nonblocking collective; everybody waits for the last rank to start it."""
    ranks = 6
    found, _ = smpi(bench, "waits_icollectives", ranks, str(which))
    last = ranks - 1
    waits = [max(0, last - (rank + 1)) for rank in range(ranks)]
    check_matching(found, 0, backward=0, collectives=6 + (which == 3))
    names = ("wait_at_nxn", "wait_at_barrier") if which == 3 else (name,)
    compare_seconds(name, waited(found, *names), [n * STEP for n in waits], SLACK)
    done = [rank + 1 + wait for rank, wait in enumerate(waits)]
    compare_seconds("finalize", waited(found, "wait_at_finalize"),
                    [(max(done) - n) * STEP for n in done], SLACK)


def test_iallreduce(bench):
    simulated_collective(bench, 1, "wait_at_nxn")


def test_ibcast(bench):
    simulated_collective(bench, 2, "late_broadcast")


def test_two_at_once(bench):
    """Collectives of two communicators, completed by one call, which waits once."""
    simulated_collective(bench, 3, "wait_at_nxn and wait_at_barrier")


def test_ibarrier(bench):
    """SMPI's Ibarrier lets all but rank 0 go when rank 0 has begun: no rank waits longer."""
    found, events = smpi(bench, "waits_icollectives", 6, "0")
    check_matching(found, 0, backward=0, collectives=6)
    waits = [late(max(enters(events, "MPI_Ibarrier")), wait)
             for wait in named(events, "MPI_Waitall")]
    compare_seconds("barrier", waited(found, "wait_at_barrier", function="MPI_Waitall"), waits,
                    SLACK)
    compare_seconds("rank 0", waits[:1], [4 * STEP], SLACK)


def test_rooted(bench):
    """A root waits for the first of the others, and then for the last: each is the cause of its part."""
    ranks = 5
    found, _ = smpi(bench, "waits_rooted", ranks)
    check_matching(found, 0, backward=0, collectives=6)
    for function in ("MPI_Gather", "MPI_Reduce"):
        for name, steps in (("early_reduce", 1), ("wait_at_nx1", ranks - 2)):
            compare_seconds(f"{function}, {name}", waited(found, name, function=function + " "),
                            only(ranks, r0=steps * STEP), SLACK)
    for name, late_rank in (("early_reduce", 1), ("wait_at_nx1", ranks - 1)):
        late_ranks = {one["rank"] for cause in found["causes"] if cause["pattern"] == name and cause["kind"] == "compute"
                      for one in cause["ranks"]}
        harness.compare(f"who is late, {name}", late_ranks, {late_rank})


# ---- what is expected after a run in real time ----

TICKS = 1e-5  # s, for rounding


def named(events, *functions, rank=None):
    """Events of these functions, in order of rank, thread and time."""
    return [event for event in events
            if event["function"] in functions and rank in (None, int(event["rank"]))]


def enters(events, *functions, rank=None):
    return [int(event["enter_ns"]) for event in named(events, *functions, rank=rank)]


def late(other_ns, call):
    """Seconds that a call waited for what happened at a time."""
    enter, end = int(call["enter_ns"]), int(call["exit_ns"])
    return max(0, min(other_ns, end) - enter) * 1e-9


def check_late(found, expected, function=""):
    """Waits for senders, which may be in wrong order; they matter more than those for receivers."""
    compare_seconds("late sender", waited(found, "late_sender", "wrong_order", function=function),
                    expected, TICKS)
    if sum(expected) < sum(waited(found, "late_receiver")):
        raise harness.Failure(f"more waits for receivers than {expected} for senders")


@harness.real_time
def test_intercommunicators(bench, flavour):
    """All kinds of communicators."""
    ranks, comms = 4, 6
    found, events = real(bench, flavour, "waits_comms", ranks)
    check_matching(found, ranks // 2 * (comms + 1) + ranks)
    expected = [0.0] * ranks
    for receiver in range(1, ranks, 2):
        sent = enters(events, "MPI_Send", rank=receiver - 1)[:comms]
        calls = named(events, "MPI_Recv", rank=receiver)
        order = reversed(sent) if receiver == 1 else sent
        expected[receiver] = sum(late(ns, call) for ns, call in zip(order, calls, strict=True))
        back, = named(events, "MPI_Recv", rank=receiver - 1)
        expected[receiver - 1] = late(enters(events, "MPI_Send", rank=receiver)[-1], back)
    check_late(found, expected)


@harness.real_time
def test_communicators_of_each_step(bench, flavour):
    """A loop that makes and frees communicators stays a loop, and all calls on them are joined."""
    ranks, sizes = 2, []
    for steps in (30, 200):
        found, events = real(bench, flavour, "comm_loop", ranks, str(steps))
        check_matching(found, ranks * steps)
        harness.compare("calls", harness.count_calls(events)["MPI_Comm_free"], 2 * ranks * steps)
        _, archive = bench.record(flavour, ranks, [bench.program("comm_loop", flavour), str(steps)], ["--time=none"])
        sizes.append(os.path.getsize(archive))
    if sizes[1] > sizes[0] + 50:
        raise harness.Failure(f"bytes without times: {sizes}")


def test_matched_probes(bench, flavour):
    """A probe takes the first of two messages, a receive gets the second."""
    rounds = 4
    found, events = real(bench, flavour, "waits_matched", 2)
    check_matching(found, 3 * rounds)
    sent = enters(events, "MPI_Send", rank=0)
    probes, receives = named(events, "MPI_Mprobe"), named(events, "MPI_Recv")
    expected = sum(late(ns, call) for ns, call in zip(sent[:2 * rounds:2], probes, strict=True))
    expected += sum(late(ns, call) for ns, call in zip(sent[1:2 * rounds:2], receives, strict=True))
    polls = [event for event in named(events, "MPI_Improbe")
             if harness.parameter(event, "polls") is None]
    expected += sum(late(ns, call) for ns, call in zip(sent[2 * rounds:], polls, strict=True))
    check_late(found, [0, expected])


@harness.real_time
def test_cancelled_sends(bench, flavour):
    """Sends that are cancelled, as far as the MPI can."""
    said = bench.path(f"cancelled.{flavour}")
    found, events = real(bench, flavour, "waits_cancelled", 2, said)
    with open(said, encoding="ascii") as file:
        cancelled = int(file.read())
    matched = 6 + 3 - cancelled
    check_matching(found, found["matching"]["messages"], matched=matched, cancelled=4 + cancelled)
    if found["matching"]["messages"] not in (matched, matched + cancelled):
        raise harness.Failure(f"{found['matching']}, {cancelled} sends were cancelled")
    isends = enters(events, "MPI_Isend", rank=0)
    kept = [ns for ns, event in zip(isends[2:], named(events, "MPI_Isend", rank=0)[2:])
            if harness.parameter(event, "tag") in
            {harness.parameter(call, "tag") for call in named(events, "MPI_Recv")}]
    sends = enters(events, "MPI_Send", rank=0)
    sent = [*sends[:3], isends[1], *sends[3:], *kept]
    calls = named(events, "MPI_Recv", rank=1)
    check_late(found, [0, sum(late(ns, call) for ns, call in zip(sent, calls, strict=True))])


@harness.real_time
def test_partitioned(bench):
    """MPICH has partitioned communication: a message has been sent with its last partition."""
    starts = 5
    found, events = real(bench, "mpich", "waits_partitioned", 2)
    check_matching(found, 2 * starts)
    ready = enters(events, "MPI_Pready_list")[1::2]
    calls = named(events, "MPI_Waitall", rank=1)
    check_late(found, [0, sum(late(ns, call) for ns, call in zip(ready, calls, strict=True))])


@harness.real_time
def test_icollectives(bench, flavour):
    """All nonblocking collectives of the program, by the times at which they were begun."""
    ranks = 4
    found, events = real(bench, flavour, "waits_icollectives", ranks)
    check_matching(found, 0, collectives=13)
    begun = {name: [enters(events, name, rank=rank) for rank in range(ranks)]
             for name in ("MPI_Ibarrier", "MPI_Iallreduce", "MPI_Ibcast")}
    waits = [named(events, "MPI_Waitall", rank=rank) for rank in range(ranks)]

    def last(name, occurrence):
        return max(own[occurrence] for own in begun[name])

    # The last call completes two collectives and waits for the one that was begun last.
    until = [last("MPI_Ibarrier", 0), last("MPI_Iallreduce", 0), begun["MPI_Ibcast"][-1][0],
             max(last("MPI_Ibarrier", 1), last("MPI_Iallreduce", 1))]
    expected = [[late(ns, call) for ns, call in zip(until, own, strict=True)] for own in waits]
    expected[-1][2] = 0  # the root
    compare_seconds("late broadcast", waited(found, "late_broadcast"),
                    [own[2] for own in expected], TICKS)
    compare_seconds("nonblocking", waited(found, "wait_at_nxn", "wait_at_barrier",
                                          function="MPI_Waitall"),
                    [own[0] + own[1] + own[3] for own in expected], TICKS)


def sources(rank, ranks, graph):
    """The ranks that send to a rank in waits_neighbours.c."""
    if graph:
        return [r for r in range(ranks) if rank in ((r + 2) % ranks, (3 * r + 1) % ranks)]
    return [r for r in (rank - 1, rank + 1) if 0 <= r < ranks]


@harness.real_time
def test_neighbours(bench, flavour):
    """Who sends to a rank makes it wait, not who receives from it."""
    ranks = 6
    found, events = real(bench, flavour, "waits_neighbours", ranks)
    check_matching(found, 0, collectives=14)
    for begin, wait in (("MPI_Neighbor_allgather", "MPI_Neighbor_allgather"),
                        ("MPI_Ineighbor_alltoall", "MPI_Wait")):
        begun = [enters(events, begin, rank=rank) for rank in range(ranks)]
        expected = [0.0] * ranks
        for rank in range(ranks):
            for graph, call in enumerate(named(events, wait, rank=rank)):
                times = [begun[source][graph] for source in sources(rank, ranks, graph)]
                expected[rank] += late(max(times, default=0), call)
        compare_seconds(begin, waited(found, "wait_at_nxn", function=wait + " "), expected, TICKS)


def completed_tags(call):
    """Tags of the messages that a call completed."""
    tags = re.findall(r"(?:[ (,])tag=(\d+)", " " + call["parameters"])
    return [int(tag) for tag in tags]


@harness.real_time
def test_threads(bench, flavour):
    """One thread posts, another one completes what was posted; a third one is on its own."""
    rounds, each, alone = 5, 4, 20
    found, events = real(bench, flavour, "waits_threads", 2)
    check_matching(found, 2 * (rounds * (each + 1) + alone))
    expected = [0.0, 0.0]
    for rank in range(2):
        sent = {}
        for event in named(events, "MPI_Send", rank=1 - rank):
            sent.setdefault(int(harness.parameter(event, "tag")), []).append(event["enter_ns"])
        for call in named(events, "MPI_Waitany", "MPI_Waitall", "MPI_Wait", rank=rank):
            times = [int(sent[tag].pop(0)) for tag in completed_tags(call)]
            expected[rank] += late(max(times, default=0), call)
        harness.compare("messages left", [tag for tag in sent if sent[tag]], [])
    check_late(found, expected, function="MPI_Wait")
    # Sendrecv waits for the sender, or for the receiver if that takes longer.
    for rank, seconds in enumerate(waited(found, *MESSAGES, function="MPI_Sendrecv")):
        calls = named(events, "MPI_Sendrecv", rank=rank)
        least = sum(late(ns, call) for ns, call in
                    zip(enters(events, "MPI_Sendrecv", rank=1 - rank), calls, strict=True))
        most = sum(int(call["exit_ns"]) - int(call["enter_ns"]) for call in calls) * 1e-9
        if not least - TICKS <= seconds <= most + TICKS:
            raise harness.Failure(f"Sendrecv, rank {rank}: {seconds} s, {least} to {most} expected")


@harness.real_time
def test_turns(bench, flavour):
    """Threads that send in one channel by turns: order is that of time."""
    each = 4
    found, events = real(bench, flavour, "waits_turns", 2)
    check_matching(found, 2 * each + 1)
    sent = sorted(enters(events, "MPI_Send", rank=0))
    calls = named(events, "MPI_Recv", "MPI_Wait", rank=1)
    waits = [late(ns, call) for ns, call in zip(sent, calls, strict=True)]
    (answer,), (last,) = enters(events, "MPI_Send", rank=1), named(events, "MPI_Recv", rank=0)
    check_late(found, [late(answer, last), sum(waits)])


@harness.real_time
def test_unmatched(bench, flavour):
    """Messages that nobody receives, a receive that gets nothing; MPI_PROC_NULL is no message."""
    found, events = real(bench, flavour, "waits_unmatched", 2)
    check_matching(found, 3, matched=1, unmatched_sends=2, unmatched_receives=1, collectives=3)
    _, _, sent, _ = enters(events, "MPI_Send", rank=0)
    _, call = named(events, "MPI_Recv", rank=1)
    check_late(found, [0, late(sent, call)])
