"""Predicts a run from its dump, by the definitions of doc/whatif.md and nothing of the tool's code.

For programs of one thread per rank, in which MPI_Comm_split makes communicators and requests are completed by MPI_Wait,
MPI_Waitall or MPI_Waitany. Times are nanoseconds. Assumptions are functions: of a call and what the computation
before it, itself, or its waiting takes, how long that is then.
"""
import collections
import math
import re

import harness

SENDS = ("MPI_Send", "MPI_Isend", "MPI_Sendrecv", "MPI_Ssend", "MPI_Issend")
RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Sendrecv")
SYNCHRONOUS = ("MPI_Ssend", "MPI_Issend")
NONBLOCKING = ("MPI_Isend", "MPI_Issend", "MPI_Irecv")
COMPLETING = {"MPI_Wait": "request", "MPI_Waitall": "array_of_requests", "MPI_Waitany": "array_of_requests"}
# Whom a rank needs; "maybe": all, if it did not leave before the last came.
COLLECTIVE = {"MPI_Init": "maybe", "MPI_Finalize": "all", "MPI_Barrier": "all", "MPI_Comm_split": "maybe",
              "MPI_Comm_free": "maybe", "MPI_Bcast": "root", "MPI_Scatter": "root", "MPI_Reduce": "others",
              "MPI_Gather": "others", "MPI_Allreduce": "all", "MPI_Allgather": "all", "MPI_Alltoall": "all",
              "MPI_Scan": "lower", "MPI_Exscan": "lower"}
PARTS = ("MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall")  # members give or get different bytes
SIZES = {"MPI_BYTE": 1, "MPI_CHAR": 1, "MPI_INT": 4, "MPI_DOUBLE": 8}


def nearest(value):
    return int(value - 0.5) if value < 0 else int(value + 0.5)


def as_recorded(_, ns):
    return ns


class Network:
    def __init__(self, parameters, scale=None):
        scale = scale or {}
        self.latency = parameters["L"] * 1e9 * scale.get("L", 1)
        self.overhead = parameters["o"] * 1e9 * scale.get("o", 1)
        self.per_byte = parameters["G"] * 1e9 * scale.get("G", 1)
        self.eager = parameters["S"]

    def way(self, bytes_, rendezvous):
        return (2 if rendezvous else 1) * (self.overhead + self.latency) + max(bytes_ - 1, 0) * self.per_byte

    def step(self, call):
        """Of the algorithm of a collective call."""
        bytes_ = call.gives_or_gets()
        if call.function in PARTS:
            bytes_ /= math.ceil(math.log2(call.size()))
        return self.latency + 2 * self.overhead + bytes_ * self.per_byte


class Message:
    """The calls that posted its two ends; None: never received."""

    def __init__(self):
        self.sender = self.receiver = None

    def rendezvous(self, network):
        return self.receiver is not None and (self.sender.function in SYNCHRONOUS or
                                              self.sender.value("bytes") > network.eager)


class End:
    """Of a message, as a call posts it: "sent" or "received"."""

    def __init__(self, call, which):
        self.call, self.which, self.message = call, which, None

    def channel(self):
        here = self.call.comm_rank()
        tag = self.call.word("tag") or self.call.word("sendtag" if self.which == "sent" else "recvtag")
        if self.which == "sent":
            return self.call.comm, here, self.call.value("dest"), tag
        return self.call.comm, self.call.value("source"), here, tag


class Call:
    def __init__(self, event, comms):
        self.event, self.comms = event, comms
        self.rank, self.function = int(event["rank"]), event["function"]
        self.enter, self.exit = int(event["enter_ns"]), int(event["exit_ns"])
        self.comm = self.word("comm") or "world"
        self.posted, self.awaited = [], []  # ends
        self.group = None                   # all calls of the collective one
        self.entered = self.left = None     # predicted

    def word(self, name):
        return harness.parameter(self.event, name)

    def value(self, name):
        return int(self.word(name))

    def size(self):
        return len(self.comms[self.comm])

    def comm_rank(self):
        return self.comms[self.comm].index(self.rank)

    def has(self, name):
        return self.word(name) not in (None, "PROC_NULL")

    def gives_or_gets(self):
        """Bytes of this rank, at most."""
        gives = int(self.word("bytes") or 0)
        if not self.word("recvcount"):
            return gives
        gets = self.value("recvcount") * SIZES[self.word("recvtype")]
        return max(gives, gets if self.function == "MPI_Scatter" else gets * self.size())


# ---- what belongs together ----

def comms_of(events):
    """Ranks of the world in the order of each communicator's."""
    made = collections.defaultdict(list)
    for event in events:
        made["world"].append((int(event["rank"]), int(event["rank"])))
        name = harness.parameter(event, "newcomm")
        if event["function"] == "MPI_Comm_split" and name.startswith("comm#"):
            made[name].append((int(harness.parameter(event, "key")), int(event["rank"])))
    return {name: [rank for _, rank in sorted(set(members))] for name, members in made.items()}


def completed(call, made):
    """The ends whose requests a call completes."""
    requests = re.findall(r"null|recent:\d+", call.word(COMPLETING[call.function]))
    if call.function == "MPI_Waitany":
        requests = [requests[call.value("index")]]
    return [made[-int(request[len("recent:"):])] for request in requests if request != "null"]


def join(ranks):
    """Messages by channel and order, collective calls by communicator and order."""
    channels, groups = collections.defaultdict(lambda: ([], [])), collections.defaultdict(list)
    for calls in ranks.values():
        made, together = [], collections.Counter()
        for call in calls:
            if call.function in RECEIVES and call.has("source"):
                call.posted.append(End(call, "received"))
            if call.function in SENDS and call.has("dest"):
                call.posted.append(End(call, "sent"))
            if call.function in NONBLOCKING:
                made += call.posted or [None]
            elif call.function in COMPLETING:
                call.awaited = [end for end in completed(call, made) if end]
            else:
                call.awaited = call.posted
            if call.function in COLLECTIVE:
                call.group = groups[call.comm, together[call.comm]]
                call.group.append(call)
                together[call.comm] += 1
        for end in (end for call in calls for end in call.posted):
            channels[end.channel()][end.which == "received"].append(end)
    for sent, received in channels.values():
        for number, end in enumerate(sent):
            end.message = Message()
            end.message.sender = end.call
            if number < len(received):
                end.message.receiver = received[number].call
                received[number].message = end.message


# ---- what a call needs ----

class Need:
    """Something that is there some time after some calls were entered; of a message or not. taken: that its receive is
    posted."""

    def __init__(self, calls, way=0, message=None, taken=False):
        self.calls, self.way, self.message, self.taken = calls, way, message, taken
        self.ready = max(call.enter for call in calls)

    def known(self):
        return all(call.entered is not None for call in self.calls)

    def there(self, way):
        return max(call.entered for call in self.calls) + way


class Predictor:
    def __init__(self, events, network):
        self.network = network
        comms, self.ranks = comms_of(events), collections.defaultdict(list)
        for event in events:
            self.ranks[int(event["rank"])].append(Call(event, comms))
        join(self.ranks)
        for calls in self.ranks.values():
            for call in calls:
                call.needs = self.needs(call)

    def needs(self, call):
        found = [need for end in call.awaited for need in self.message(call, end)]
        if call.group:
            found += self.others(call)
        self.fit(call, found)
        return found

    def others(self, call):
        kind, here = COLLECTIVE[call.function], call.comm_rank()
        root = call.word("root") and call.value("root")
        if kind == "root":
            chosen = [] if here == root else [c for c in call.group if c.comm_rank() == root]
        elif kind == "others":
            chosen = [c for c in call.group if c.comm_rank() != root] if here == root else []
        elif kind == "lower":
            chosen = [c for c in call.group if c.comm_rank() < here]
        else:
            chosen = call.group
        if kind == "maybe" and call.exit < max(c.enter for c in chosen):
            return []
        return [Need(chosen)] if chosen else []

    def message(self, call, end):
        message = end.message
        if not message:
            return []
        rendezvous = message.rendezvous(self.network)
        if end.which == "sent" and (not rendezvous or message.receiver.enter >= call.exit):
            return []
        ends = [message.sender, message.receiver] if rendezvous else [message.sender]
        return [Need(ends, nearest(self.network.way(message.sender.value("bytes"), rendezvous)), message,
                     end.which == "sent")]

    def fit(self, call, needs):
        """Ways of messages: the one that came last while the call waited came just before its end."""
        got = call.exit - int(self.network.overhead)
        came = [need for need in needs if need.message and need.ready + need.way > call.enter]
        last = max(came, key=lambda need: need.ready + need.way) if came else None
        for need in needs:
            if need is last:
                need.way = max(got - need.ready, 0)
            elif need.message:
                need.way = min(need.way, max(got - need.ready, 0))
            need.way = min(need.way, call.exit - need.ready)

    # ---- the run ----

    def run(self, compute=as_recorded, own=as_recorded, wait=as_recorded, lane=None):
        """The predicted run time. lane: another network."""
        for calls in self.ranks.values():
            for call in calls:
                call.entered = call.left = None
        at = dict.fromkeys(self.ranks, 0)
        moved = True
        while moved:
            moved = False
            for rank, calls in self.ranks.items():
                while at[rank] < len(calls) and self.step(calls, at[rank], compute, own, wait, lane or self.network):
                    at[rank] += 1
                    moved = True
        if any(at[rank] < len(calls) for rank, calls in self.ranks.items()):
            raise harness.Failure("the predictor is stuck")
        start = min(calls[0].enter for calls in self.ranks.values())
        return max(calls[-1].left for calls in self.ranks.values()) - start

    def step(self, calls, number, compute, own, wait, lane):
        """false: not all is known yet that the call needs."""
        call = calls[number]
        if call.entered is None:
            before = calls[number - 1] if number else None
            call.entered = before.left + compute(call, call.enter - before.exit) if before else call.enter
        if not all(need.known() for need in call.needs):
            return False
        ready = max([call.enter, *(need.ready + need.way for need in call.needs)])
        there = max([call.entered, *(need.there(self.lane_way(call, need, lane)) for need in call.needs)])
        change = nearest(self.own_change(call, call.exit - ready, lane))
        call.left = call.entered + wait(call, there - call.entered) + max(own(call, call.exit - ready + change), 0)
        return True

    def own_change(self, call, ns, lane):
        messages = sum(end.which == "sent" for end in call.posted) + sum(e.which == "received" for e in call.awaited)
        change = messages * (lane.overhead - self.network.overhead)
        if call.group and call.size() > 1:
            step = self.network.step(call)
            steps = min(max(ns, 0) / step, 2 * (call.size() - 1))
            change += steps * (lane.step(call) - step)
        return change

    def lane_way(self, call, need, lane):
        if not need.message:
            return need.way
        bytes_, rendezvous = need.message.sender.value("bytes"), need.message.rendezvous(self.network)
        asked = rendezvous and need.way >= nearest(self.network.way(bytes_, True))
        formula, others = self.network.way(bytes_, asked), 0
        rest = need.way - nearest(formula)
        if rest > 0 and self.network.per_byte:
            others = sum(other.message.sender.value("bytes") for other in call.needs
                         if other.message and other is not need and other.taken == need.taken)
            others = min(others, rest / self.network.per_byte)
        change = lane.way(bytes_, asked) - formula + others * (lane.per_byte - self.network.per_byte)
        return max(need.way + nearest(change), min(need.way, 0))
