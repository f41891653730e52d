"""A reader of GOAL schedules by the grammar of LogGOPSim's txt2bin, and a run of a schedule without times."""
import collections
import re

ANY = -1
OPERATION = re.compile(r"l(\d+): (?:calc (\d+)|send (\d+)b to (\d+) tag (\d+)|recv (\d+)b from (-1|\d+) tag (-1|\d+))")
DEPENDENCY = re.compile(r"l(\d+) (requires|irequires) l(\d+)")

Operation = collections.namedtuple("Operation", "kind bytes peer tag")


class Schedule:
    """ranks: of each its operations by label, and of each label (how, label) that it waits for."""

    def __init__(self, text):
        self.ranks, self.needs = [], []
        head, *lines = text.split("\n")
        self.size = int(re.fullmatch(r"num_ranks (\d+)", head)[1])
        inside = False
        for line in lines:
            if not line:
                continue
            if not inside:
                if int(re.fullmatch(r"rank (\d+) \{", line)[1]) != len(self.ranks):
                    raise ValueError(f"{line} is not the next one")
                inside = True
                self.ranks.append({})
                self.needs.append(collections.defaultdict(list))
            elif line == "}":
                inside = False
            else:
                self.take(line)
        if inside or len(self.ranks) != self.size:
            raise ValueError("ranks are missing")

    def take(self, line):
        operations, needs = self.ranks[-1], self.needs[-1]
        if match := DEPENDENCY.fullmatch(line):
            label, before = int(match[1]), int(match[3])
            # An operation can only wait for earlier ones: there are no cycles within a rank.
            if label not in operations or before not in operations or before >= label:
                raise ValueError(f"{line}: not in order")
            needs[label].append((match[2], before))
            return
        match = OPERATION.fullmatch(line)
        if not match or int(match[1]) in operations:
            raise ValueError(f"{line!r} is no operation, or comes twice")
        calc, sent, to, sent_tag, received, source, received_tag = (int(n) if n else None for n in match.groups()[1:])
        operations[int(match[1])] = (Operation("calc", calc, None, None) if calc is not None else
                                     Operation("send", sent, to, sent_tag) if sent is not None else
                                     Operation("recv", received, source, received_tag))

    def operations(self, kind):
        """(rank, operation) of a kind."""
        return [(rank, one) for rank, own in enumerate(self.ranks) for one in own.values() if one.kind == kind]

    def run(self, eager):
        """Runs all operations; sends are over when they begin, or when their receive has begun. Returns how many
        messages there were; an operation that never begins, or is never over, is an error."""
        return Machine(self, eager).run()


class Machine:
    def __init__(self, schedule, eager):
        self.schedule, self.eager, self.messages = schedule, eager, 0
        self.left, self.after = [], []
        for operations, needs in zip(schedule.ranks, schedule.needs):
            self.left.append({label: len(needs[label]) for label in operations})
            after = collections.defaultdict(list)
            for label, before in needs.items():
                for how, one in before:
                    after[how, one].append(label)
            self.after.append(after)
        self.over, self.sends, self.receives = 0, collections.defaultdict(list), collections.defaultdict(list)
        self.ready = collections.deque()

    def satisfy(self, rank, how, label):
        for one in self.after[rank][how, label]:
            self.left[rank][one] -= 1
            if self.left[rank][one] == 0:
                self.ready.append((rank, one))

    def end(self, rank, label):
        self.over += 1
        self.satisfy(rank, "requires", label)

    def match(self, dest):
        """Joins the first receive that fits with the first message that fits."""
        for receive in list(self.receives[dest]):
            for send in self.sends[dest]:
                if receive[2].peer in (ANY, send[0]) and receive[2].tag in (ANY, send[2].tag):
                    if receive[2].bytes < send[2].bytes:
                        raise ValueError(f"{send} has no room in {receive}")
                    self.receives[dest].remove(receive)
                    self.sends[dest].remove(send)
                    self.messages += 1
                    self.end(dest, receive[1])
                    if not self.eager:
                        self.end(send[0], send[1])
                    break

    def begin(self, rank, label):
        operation = self.schedule.ranks[rank][label]
        self.satisfy(rank, "irequires", label)
        if operation.kind == "calc":
            self.end(rank, label)
        elif operation.kind == "send":
            self.sends[operation.peer].append((rank, label, operation))
            if self.eager:
                self.end(rank, label)
            self.match(operation.peer)
        else:
            self.receives[rank].append((rank, label, operation))
            self.match(rank)

    def run(self):
        for rank, left in enumerate(self.left):
            self.ready.extend((rank, label) for label, n in left.items() if n == 0)
        while self.ready:
            self.begin(*self.ready.popleft())
        if self.over != sum(map(len, self.schedule.ranks)) or any(self.sends.values()) or any(self.receives.values()):
            raise ValueError(f"{self.over} of {sum(map(len, self.schedule.ranks))} operations are over")
        return self.messages
