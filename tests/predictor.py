"""Predicts a run from its dump, by the definitions of doc/whatif.md and nothing of the tool's code.

For programs on MPI_COMM_WORLD without wildcards, in which MPI_Waitall completes all requests of its rank. Times are
nanoseconds. What a lane assumes is said by functions of (rank, function, own time).
"""
import collections
import math

import harness

SENDS = ("MPI_Send", "MPI_Isend", "MPI_Sendrecv")
RECEIVES = ("MPI_Recv", "MPI_Irecv", "MPI_Sendrecv")
ROOTED = {"MPI_Bcast": "root", "MPI_Reduce": "others"}
TOGETHER = {"MPI_Init": "all", "MPI_Finalize": "all", "MPI_Barrier": "all", "MPI_Allreduce": "all", "MPI_Scan": "lower",
            **ROOTED}


class Network:
    def __init__(self, parameters, scale=None):
        scale = scale or {}
        self.latency = parameters["L"] * 1e9 * scale.get("L", 1)
        self.overhead = parameters["o"] * 1e9 * scale.get("o", 1)
        self.per_byte = parameters["G"] * 1e9 * scale.get("G", 1)
        self.eager = parameters["S"]

    def way(self, bytes_, rendezvous):
        return (2 if rendezvous else 1) * (self.overhead + self.latency) + max(bytes_ - 1, 0) * self.per_byte

    def tree(self, ranks, bytes_):
        return math.ceil(math.log2(ranks)) * (self.latency + 2 * self.overhead + bytes_ * self.per_byte)


def nearest(value):
    return int(value - 0.5) if value < 0 else int(value + 0.5)


class Message:
    def __init__(self):
        self.sent = self.posted = None  # (recorded, predicted) enters
        self.bytes = 0


class Call:
    def __init__(self, event, number):
        self.rank, self.function = int(event["rank"]), event["function"]
        self.enter, self.exit, self.number = int(event["enter_ns"]), int(event["exit_ns"]), number
        self.event = event
        self.sent = self.received = None  # messages that it posts
        self.awaited = []                 # (message, which end)
        self.group = None
        self.entered = self.left = None   # predicted

    def value(self, name):
        return int(harness.parameter(self.event, name))


class Predictor:
    def __init__(self, events, network):
        self.network = network
        self.ranks = collections.defaultdict(list)
        for event in events:
            calls = self.ranks[int(event["rank"])]
            calls.append(Call(event, len(calls)))
        self.join()

    def join(self):
        """Messages by channel and order, collective calls by order, requests by rank."""
        sent, received, groups = (collections.defaultdict(list) for _ in range(3))
        for rank, calls in self.ranks.items():
            pending, made = [], 0
            for call in calls:
                if call.function in SENDS:
                    call.sent = self.at(sent, received, (rank, call.value("dest"), self.tag(call, "send")), sent)
                    call.sent.bytes = call.value("bytes")
                if call.function in RECEIVES:
                    call.received = self.at(sent, received, (call.value("source"), rank, self.tag(call, "recv")), received)
                ends = [(call.received, "received")] * (call.received is not None) + \
                    [(call.sent, "sent")] * (call.sent is not None)
                if call.function in ("MPI_Isend", "MPI_Irecv"):
                    pending += ends
                elif call.function == "MPI_Waitall":
                    call.awaited, pending = pending, []
                else:
                    call.awaited = ends
                if call.function in TOGETHER:
                    call.group = groups[made]
                    call.group.append(call)
                    made += 1

    @staticmethod
    def tag(call, which):
        tag = harness.parameter(call.event, "tag")
        return int(tag if tag is not None else harness.parameter(call.event, which + "tag"))

    @staticmethod
    def at(sent, received, channel, mine):
        """The next message of the channel of this end; both ends count alike."""
        other = received if mine is sent else sent
        number = len(mine[channel])
        message = other[channel][number] if number < len(other[channel]) else Message()
        mine[channel].append(message)
        return message

    # ---- what a call waits for: (recorded, predicted) times; None: not known yet ----

    def others(self, call):
        kind = TOGETHER[call.function]
        root = call.value("root") if call.function in ROOTED else None
        if kind == "root":
            chosen = [] if call.rank == root else [c for c in call.group if c.rank == root]
        elif kind == "others":
            chosen = [c for c in call.group if c.rank != root] if call.rank == root else []
        else:
            chosen = [c for c in call.group if kind == "all" or c.rank <= call.rank]
        if call.function == "MPI_Init" and call.exit < max(c.enter for c in chosen):
            return []
        if any(c.entered is None for c in chosen):
            return None
        return [(max(c.enter for c in chosen), max(c.entered for c in chosen), 0, None)] if chosen else []

    def message(self, call, message, end):
        """(ready, ready', way, message)"""
        rendezvous = message.bytes > self.network.eager and \
            (end == "received" or message.posted is None or self.posted_at(message) < call.exit)
        if end == "sent" and not rendezvous:
            return []
        both = [message.sent, message.posted] if rendezvous else [message.sent]
        if any(point is None for point in both):
            return None
        way = nearest(self.network.way(message.bytes, rendezvous)) if rendezvous else \
            nearest(self.network.way(message.bytes, False))
        return [(max(p[0] for p in both), max(p[1] for p in both), way, (message, rendezvous))]

    def posted_at(self, message):
        return next(c.enter for calls in self.ranks.values() for c in calls if c.received is message)

    def needs(self, call):
        found = []
        for message, end in call.awaited:
            part = self.message(call, message, end)
            if part is None:
                return None
            found += part
        if call.group is not None:
            part = self.others(call)
            if part is None:
                return None
            found += part
        return found

    def fit(self, call, needs):
        """Ways of messages: the one that came last while the call waited came just before its end."""
        got = call.exit - int(self.network.overhead)
        came = [need for need in needs if need[3] and need[0] + need[2] > call.enter]
        last = max(came, key=lambda need: need[0] + need[2]) if came else None
        fitted = []
        for ready, ready_, way, message in needs:
            if (ready, ready_, way, message) == last:
                way, last = max(got - ready, 0), None
            elif message:
                way = min(way, max(got - ready, 0))
            fitted.append((ready, ready_, min(way, call.exit - ready), message))
        return fitted

    # ---- the run ----

    def run(self, compute, own, wait, lane):
        """The predicted run time. compute(rank), own(function), wait(function): factors. lane: another network."""
        for calls in self.ranks.values():
            for call in calls:
                call.entered = call.left = None
                for message in (call.sent, call.received):
                    if message:
                        message.sent = message.posted = None
        at = {rank: 0 for rank in self.ranks}
        moved = True
        while moved:
            moved = False
            for rank, calls in self.ranks.items():
                while at[rank] < len(calls) and self.step(calls, at[rank], compute, own, wait, lane):
                    at[rank] += 1
                    moved = True
        if any(at[rank] < len(calls) for rank, calls in self.ranks.items()):
            raise harness.Failure("the predictor is stuck")
        start = min(calls[0].enter for calls in self.ranks.values())
        return max(calls[-1].left for calls in self.ranks.values()) - start

    def step(self, calls, number, compute, own, wait, lane):
        call = calls[number]
        if call.entered is None:
            call.entered = call.enter
            if number:
                before = calls[number - 1]
                call.entered = before.left + nearest(compute(call.rank) * (call.enter - before.exit))
            if call.sent:
                call.sent.sent = (call.enter, call.entered)
            if call.received:
                call.received.posted = (call.enter, call.entered)
        needs = self.needs(call)
        if needs is None:
            return False
        needs = self.fit(call, needs)
        ready = max([call.enter, *(r + way for r, _, way, _ in needs)])
        there = max([call.entered, *(r + self.lane_way(way, message, lane) for _, r, way, message in needs)])
        messages = (call.sent is not None) + sum(1 for m, end in call.awaited if end == "received")
        change = messages * (lane.overhead - self.network.overhead)
        if call.group is not None and len(self.ranks) > 1 and needs:
            bytes_ = 8 if call.function not in ("MPI_Barrier", "MPI_Init", "MPI_Finalize") else 0
            change += lane.tree(len(self.ranks), bytes_) - self.network.tree(len(self.ranks), bytes_)
        taken = max(nearest(own(call.function) * (call.exit - ready + nearest(change))), 0)
        call.left = call.entered + nearest(wait(call.function) * (there - call.entered)) + taken
        return True

    def lane_way(self, way, message, lane):
        if message is None:
            return way
        bytes_, rendezvous = message[0].bytes, message[1]
        change = lane.way(bytes_, rendezvous) - self.network.way(bytes_, rendezvous)
        return max(nearest(way + nearest(change)), min(way, 0))
