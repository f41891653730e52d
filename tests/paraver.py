"""A reader of Paraver's traces: a head, records in the order of time, names in two files beside it."""
import collections
import gzip
import re

MPI_TYPES = range(50000001, 50000006)
REGION, CALLER, LINE, SENT, RECEIVED = 60000019, 70000000, 80000000, 50100001, 50100002
HEAD = re.compile(r"#Paraver \(\d\d/\d\d/\d\d at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:(\d+)\(([\d:,]+)\)")

Call = collections.namedtuple("Call", "function enter exit callers lines sent received state")
Message = collections.namedtuple("Message", "sender receiver posted sent receive_posted received bytes tag")


def lines_of(path):
    with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
        text = file.read()
    if not text.endswith("\n"):
        raise ValueError(f"{path} is cut short")
    return text.split("\n")[:-1]


class Names:
    """states, types: number -> name; values: type -> value -> name."""

    def __init__(self, path):
        self.states, self.types, self.values = {}, {}, {}
        part, types = None, []
        for line in lines_of(path):
            if re.fullmatch(r"[A-Z_]+", line):
                part, types = line, types if line == "VALUES" else []
            elif part == "STATES" and line:
                self.states[int(line.split()[0])] = line.split(None, 1)[1]
            elif part == "EVENT_TYPE" and line:
                _, number, name = line.split(None, 2)
                self.types[int(number)] = name
                types.append(int(number))
            elif part == "VALUES" and line:
                number, _, name = line.partition(" ")
                for kind in types:
                    if int(number) in self.values.setdefault(kind, {}):
                        raise ValueError(f"value {number} of {kind} twice")
                    self.values[kind][int(number)] = name.strip()


def rows_of(path):
    """level -> names of its objects."""
    rows, lines = {}, iter(lines_of(path))
    for line in lines:
        match = re.fullmatch(r"LEVEL (\w+) SIZE (\d+)", line)
        if match:
            rows[match[1]] = [next(lines) for _ in range(int(match[2]))]
        elif line:
            raise ValueError(f"{path}: {line!r} belongs to no level")
    return rows


class Trace:
    """Of each thread, by the name in NAME.row: calls, regions (name, begin, end) and what runs (begin, end); messages."""

    def __init__(self, path):
        stem = path.removesuffix(".gz").removesuffix(".prv")
        self.names, self.rows = Names(stem + ".pcf"), rows_of(stem + ".row")
        head, *records = lines_of(path)
        match = HEAD.fullmatch(head)
        self.end, nodes = int(match[1]), [int(n) for n in match[3].split(",")]
        tasks = [tuple(map(int, task.split(":"))) for task in match[5].split(",")]
        self.tasks = tasks
        if (int(match[2]), int(match[4]), len(self.rows["TASK"])) != (len(nodes), len(tasks), len(tasks)):
            raise ValueError(f"counts in {head}")
        if not all(1 <= node <= len(nodes) for _, node in tasks):
            raise ValueError(f"nodes in {head}")
        objects = [(task + 1, thread + 1) for task, (threads, _) in enumerate(tasks) for thread in range(threads)]
        self.threads = dict(zip(objects, self.rows["THREAD"], strict=True))
        self.cpus, self.n_cpus = {}, sum(nodes)
        self.calls, self.regions, self.runs = ({name: [] for name in self.rows["THREAD"]} for _ in range(3))
        self.messages, self.open, self.states = [], {}, {}
        last = 0
        for record in records:
            kind, *fields = map(int, record.split(":"))
            time = fields[4]
            if time < last:
                raise ValueError(f"{record}: time goes back")
            last = time
            thread = self.thread(fields[:4])
            (self.state, self.event, self.message)[kind - 1](thread, fields)
        if any(kind != REGION for stack in self.open.values() for kind, *_ in stack):
            raise ValueError("calls without an end")

    def thread(self, numbers):
        cpu, application, task, thread = numbers
        if application != 1 or self.cpus.setdefault((task, thread), cpu) != cpu or not 1 <= cpu <= self.n_cpus:
            raise ValueError(f"object {numbers}")
        return self.threads[task, thread]

    def state(self, thread, fields):
        begin, end, state = fields[4:]
        if begin > end or state not in self.names.states or begin < self.states.get(thread, (0, 0))[1]:
            raise ValueError(f"state {fields}")
        self.states[thread] = begin, end, state
        if state == 1:
            self.runs[thread].append((begin, end))

    def event(self, thread, fields):
        time, pairs = fields[4], dict(zip(fields[5::2], fields[6::2], strict=True))
        stack = self.open.setdefault(thread, [])
        for kind, value in pairs.items():
            if value and kind not in (SENT, RECEIVED) and value not in self.names.values[kind]:
                raise ValueError(f"value {value} of {kind} has no name")
            if kind == REGION:
                if value:
                    stack.append((REGION, self.names.values[kind][value], time))
                elif stack:
                    _, name, begin = stack.pop()
                    self.regions[thread].append((name, begin, time))
            elif kind in MPI_TYPES and value:
                level = sum(1 for one in pairs if CALLER < one < LINE)
                callers = [self.names.values[CALLER + i][pairs[CALLER + i]] for i in range(1, level + 1)]
                lines = [self.names.values[LINE + i][pairs[LINE + i]] for i in range(1, level + 1)]
                state = self.states[thread]
                stack.append((kind, Call(self.names.values[kind][value], time, state[1], callers, lines, pairs.get(SENT),
                                         pairs.get(RECEIVED), self.names.states[state[2]]), state))
            elif kind in MPI_TYPES:
                of, call, state = stack.pop()
                if (of, call.enter, call.exit) != (kind, state[0], time):
                    raise ValueError(f"{call} and its state {state} end at {time} as {kind}")
                self.calls[thread].append(call)

    def message(self, thread, fields):
        receiver = self.thread(fields[6:10])
        self.messages.append(Message(thread, receiver, fields[4], fields[5], *fields[10:]))
