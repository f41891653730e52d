"""Events of an archive (rfn_reader.py) as the text of refrain-dump(1).

Three parts: how words are written; what a call communicates, by the rules that
include/refrain/volume.h states; and what became of requests, by those of
include/refrain/completion.h and include/refrain/event.h.
"""

(INT, COUNT, TYPE, RANK, TAG, COMM, OP) = range(1, 8)
KEYVAL, REQUEST, BUFFER, BYTES, STRING, COMPLETIONS, REGION = 15, 16, 17, 19, 21, 22, 23
LIST = 0x40
ANY, PROC_NULL, ROOT, AS_POSTED, UNKNOWN, UNDEFINED = -1, -2, -3, -4, -5, -1 << 63
(OTHER, SEND, SSEND, RECV, SENDRECV, PROBE, COMPLETION) = range(7)
NEIGHBOR, RMA, FILE = 13, 14, 16
NONBLOCKING, PERSISTENT = 1, 2
IN_PLACE = 1
INTER = 3
INT64_MAX = (1 << 63) - 1

# ---- words ----

HANDLES = {
    7: ("op", "OP_NULL MAX MIN SUM PROD LAND BAND LOR BOR LXOR BXOR MAXLOC MINLOC REPLACE NO_OP"),
    8: ("group", "GROUP_NULL GROUP_EMPTY"),
    9: ("info", "INFO_NULL INFO_ENV"),
    10: ("errhandler", "ERRHANDLER_NULL ERRORS_ARE_FATAL ERRORS_RETURN ERRORS_ABORT"),
    11: ("win", "WIN_NULL"),
    12: ("file", "FILE_NULL"),
    13: ("session", "SESSION_NULL"),
    14: ("message", "MESSAGE_NULL MESSAGE_NO_PROC"),
    15: ("keyval", "KEYVAL_INVALID TAG_UB HOST IO WTIME_IS_GLOBAL UNIVERSE_SIZE LASTUSEDCODE APPNUM"
                   " WIN_BASE WIN_SIZE WIN_DISP_UNIT WIN_CREATE_FLAVOR WIN_MODEL"),
}
BUFFERS = ["PLAIN", "IN_PLACE", "BOTTOM", "NULL"]
REQUESTS = ["", "recent:", "slot:", "foreign:"]
FOREIGN = 3
SPECIAL_RANKS = {ANY: "ANY_SOURCE", PROC_NULL: "PROC_NULL", ROOT: "ROOT"}
SPECIAL_LISTS = {-1: "NULL", -2: "UNWEIGHTED", -3: "WEIGHTS_EMPTY", UNDEFINED: "UNDEFINED"}
ESCAPES = {c: f"\\x{c:02x}" for c in [*range(0x20), 0x7f]}
ESCAPES |= {c: f"\\xc2\\x{c:02x}" for c in range(0x80, 0xa0)}
ESCAPES |= {0xdc00 + c: f"\\x{c:02x}" for c in range(0x80, 0x100)}
ESCAPES |= {ord("\\"): "\\\\", ord(" "): "\\s", ord("\t"): "\\t", ord("\n"): "\\n"}


def escaped(text):
    """Bytes that are no part of a character are surrogates here."""
    return text.translate(ESCAPES)


def error_text(error):
    return "left" if error == 0xffffffff else error


def handle_text(kind, word):
    stem, names = HANDLES[kind]
    if word >= 0:
        return f"{stem}#{word}"
    names = names.split()
    return "MPI_" + names[-1 - word] if -1 - word < len(names) else "UNKNOWN"


def request_text(word):
    if word == 0:
        return "null"
    if word & 3 == FOREIGN and word > 0:
        return f"foreign:{word >> 2 & 0xffff}.{word >> 18}"
    return f"{REQUESTS[word & 3]}{word >> 2}" if word > 0 else "UNKNOWN"


def comm_text(archive, word):
    if not 0 <= word < len(archive.comms):
        return "MPI_COMM_NULL" if word == -1 else "UNKNOWN"
    kind = archive.comms[word].kind
    return ("world", "self")[kind] if kind < 2 else f"comm#{word}"


def type_text(archive, word):
    if not 0 <= word < len(archive.datatypes):
        return "MPI_DATATYPE_NULL" if word == -1 else "UNKNOWN"
    return escaped(archive.datatypes[word][0].replace(" ", ""))


def scalar_text(archive, kind, word, unknown=False):
    if kind == REGION:
        return escaped(word)
    if word == UNDEFINED:
        return "UNDEFINED"
    if word == UNKNOWN and (unknown or kind in (RANK, TAG, COUNT)):
        return "UNKNOWN"
    if kind == TAG and word == ANY:
        return "ANY_TAG"
    if kind == RANK and word in SPECIAL_RANKS:
        return SPECIAL_RANKS[word]
    if kind == TYPE:
        return type_text(archive, word)
    if kind == COMM:
        return comm_text(archive, word)
    if kind in HANDLES:
        return handle_text(kind, word)
    if kind == REQUEST:
        return request_text(word)
    if kind == BUFFER:
        return BUFFERS[word] if 0 <= word < len(BUFFERS) else "UNKNOWN"
    return str(word)


def word_text(stream, kind, word, unknown=False):
    if not kind & LIST and kind != STRING:
        return scalar_text(stream.archive, kind, word, unknown)
    if word < 0:
        return SPECIAL_LISTS.get(word, "UNKNOWN")
    words = stream.list(word, kind & ~LIST)
    if kind == STRING:
        return escaped(bytes(c & 0xff for c in words).decode("utf-8", "surrogateescape"))
    return "[" + ",".join(scalar_text(stream.archive, kind & ~LIST, w) for w in words) + "]"


def left_out(kind, word):
    """Ordinary buffers, and what is not significant on this rank."""
    return word <= 0 if kind == BUFFER else word == UNKNOWN and kind in (COUNT, TYPE)


def frame_text(location):
    module, offset, function, file, line = location
    place = f"{escaped(file)}:{line}" if file else f"{escaped(module.split('/')[-1])}+{offset:#x}"
    return f"{escaped(function)}[{place}]"


# ---- volumes ----

def times(a, b):
    return min(a * b, INT64_MAX) if a > 0 and b > 0 else 0


class Volume:
    """Bytes sent and received, None where the call does not; source and tag of a receive."""

    def __init__(self, sent=None, received=None, source=UNKNOWN, tag=UNKNOWN):
        self.sent, self.received, self.source, self.tag = sent, received, source, tag

    def copy(self):
        return Volume(self.sent, self.received, self.source, self.tag)


NAMED = {"gatherv": "gather", "scatterv": "scatter", "allgatherv": "allgather",
         "alltoallv": "alltoall", "alltoallw": "alltoall", "allreduce": "reduce_all",
         "scan": "reduce_all", "exscan": "exscan", "reduce_scatter_block": "reduce_scatter",
         "rput": "put", "accumulate": "put", "raccumulate": "put", "rget": "get",
         "get_accumulate": "get_accumulate", "rget_accumulate": "get_accumulate",
         "fetch_and_op": "get_accumulate", "compare_and_swap": "get_accumulate"}
NAMED |= {name: name for name in ("sendrecv_replace", "bcast", "gather", "scatter", "allgather",
                                  "alltoall", "reduce", "reduce_scatter", "put", "get")}
BY_CLASS = {SEND: "send", SSEND: "send", RECV: "recv", SENDRECV: "sendrecv", PROBE: "probe",
            NEIGHBOR: "neighbor"}
RECEIVES = ("recv", "probe", "sendrecv", "sendrecv_replace")


def operation_of(function):
    name = function.name.removeprefix("MPI_").removeprefix("MPIX_").lower()
    name = name.removesuffix("_c").removesuffix("_init")
    if function.flags & NONBLOCKING and function.class_ != RMA:
        name = name.removeprefix("i")
    if name in NAMED:
        return NAMED[name]
    if function.class_ == FILE and name.startswith("file_") and "_end" not in name:
        return next((word for word in ("read", "write") if word in name), None)
    return BY_CLASS.get(function.class_)


class Rules:
    """What of a function matters, found once."""

    def __init__(self, function):
        self.operation = operation_of(function)
        self.at = {}
        for i, (name, kind) in enumerate(function.inputs):
            self.at.setdefault(name, i)
        comms = [i for i, (_, kind) in enumerate(function.inputs) if kind == COMM]
        self.comm = comms[-1] if comms else None
        self.outcome = {}
        for i, (_, kind) in enumerate(function.outcomes):
            self.outcome.setdefault(kind, i)
        self.source = self.tag = None
        if self.operation in RECEIVES:
            self.source = self.at.get("source")
            self.tag = self.at.get("recvtag", self.at.get("tag"))


class Call:
    """An event under the rules of volume.h."""

    def __init__(self, rules, stream, event):
        self.rules, self.stream, self.event = rules, stream, event
        word = event.inputs[rules.comm] if rules.comm is not None else -1
        comms = stream.archive.comms
        self.comm = comms[word] if 0 <= word < len(comms) else None
        self.root = self.word("root", None)

    def has(self, name):
        return name in self.rules.at

    def word(self, name, otherwise=0):
        at = self.rules.at.get(name)
        return otherwise if at is None else self.event.inputs[at]

    def size(self, datatype):
        known = self.stream.archive.datatypes
        return known[datatype][1] if 0 <= datatype < len(known) else 0

    def plain(self, count="count", datatype="datatype"):
        size = times(self.word(count), self.size(self.word(datatype, -1)))
        return times(size, self.word("partitions", 1)) if self.has("partitions") else size

    def parts(self, side, n):
        """Bytes of all parts of a side ("send", "recv"): n of one size, or a list of counts."""
        datatype = self.word(side + "type", self.word("datatype", -1))
        if not self.has(side + "counts"):
            return [times(self.word(side + "count"), self.size(datatype))] * n
        counts = self.stream.list(self.word(side + "counts"), COUNT)
        types = [datatype] * len(counts)
        if self.has(side + "types"):
            types = list(self.stream.list(self.word(side + "types"), TYPE))
            types += [-1] * (len(counts) - len(types))
        return [times(count, self.size(t)) for count, t in zip(counts, types)]

    def all(self, side, n):
        return min(sum(self.parts(side, n)), INT64_MAX)

    def own(self, side):
        """The part of the calling rank."""
        own = self.own_rank() if self.has(side + "counts") else 0
        parts = self.parts(side, 1)
        return parts[own] if 0 <= own < len(parts) else 0

    def one(self, side):
        return (self.parts(side, 1) or [0])[0]

    def own_rank(self):
        rank = self.comm.rank_of(self.stream.rank) if self.comm else None
        return -1 if rank is None else rank

    def is_root(self):
        if self.root is None or self.root < 0 or not self.comm or self.comm.kind == INTER:
            return self.root == ROOT
        return self.root == self.own_rank()

    def partners(self, local=False):
        return self.comm.sizes()[0 if local else 1] if self.comm else 0

    def outcome(self, kind, posted):
        at = self.rules.outcome.get(kind)
        if at is None or self.event.symbol.failed_poll or self.event.outcomes[at] == AS_POSTED:
            return posted
        return self.event.outcomes[at]

    # Rules, by operation. Each returns a volume.

    def send(self):
        return Volume(sent=self.sent(self.plain()))

    def sent(self, size):
        return 0 if self.word("dest", UNKNOWN) == PROC_NULL else size

    def recv(self, asked=None, sent=None):
        asked = self.plain() if asked is None else asked
        source = self.outcome(RANK, self.word("source", UNKNOWN))
        tag = self.outcome(TAG, self.word("recvtag", self.word("tag", UNKNOWN)))
        received = self.outcome(BYTES, 0 if source == PROC_NULL else asked)
        return Volume(sent, received if received >= 0 else None, source, tag)

    def probe(self):
        return self.recv(-1)

    def sendrecv(self):
        return self.recv(self.one("recv"), self.sent(self.one("send")))

    def sendrecv_replace(self):
        return self.recv(self.plain(), self.sent(self.plain()))

    def bcast(self):
        size = self.plain()
        return Volume(sent=size) if self.is_root() else Volume(received=size)

    def gather(self, to_all=False):
        placed = self.word("sendbuf") == IN_PLACE
        volume = Volume()
        if self.root != ROOT:
            volume.sent = self.own("recv") if placed else self.one("send")
        if to_all or self.is_root():
            volume.received = self.all("recv", self.partners())
        return volume

    def allgather(self):
        return self.gather(True)

    def scatter(self):
        volume = Volume()
        if self.is_root():
            volume.sent = self.all("send", self.partners())
        if self.root != ROOT:
            placed = self.word("recvbuf") == IN_PLACE
            volume.received = self.own("send") if placed else self.one("recv")
        return volume

    def alltoall(self, n=None):
        n = self.partners() if n is None else n
        received = self.all("recv", n)
        placed = self.word("sendbuf") == IN_PLACE
        return Volume(received if placed else self.all("send", n), received)

    def neighbor(self):
        return self.alltoall(1)

    def reduce(self):
        size = self.plain()
        return Volume(None if self.root == ROOT else size, size if self.is_root() else None)

    def reduce_all(self):
        return Volume(self.plain(), self.plain())

    def exscan(self):
        return Volume(self.plain(), 0 if self.own_rank() == 0 else self.plain())

    def reduce_scatter(self):
        return Volume(self.all("recv", self.partners(local=True)), self.own("recv"))

    def put(self):
        return Volume(sent=self.origin())

    def get(self):
        return Volume(received=self.origin())

    def get_accumulate(self):
        origin = self.origin()
        result = origin
        if origin and self.has("result_count"):
            result = self.plain("result_count", "result_datatype")
        return Volume(origin, result)

    def origin(self):
        if self.word("target_rank") == PROC_NULL:
            return 0
        if self.has("origin_count"):
            return self.plain("origin_count", "origin_datatype")
        return self.size(self.word("datatype", -1))

    def moved(self):
        asked = self.plain()
        moved = self.outcome(BYTES, asked)
        return asked if moved < 0 else moved

    def read(self):
        return Volume(received=self.moved())

    def write(self):
        return Volume(sent=self.moved())


def volume_of(rules, stream, event):
    if rules.operation is None:
        return Volume()
    call = Call(rules, stream, event)
    if call.root == PROC_NULL:  # of the root's group in an inter-communicator, but not the root
        return Volume()
    return getattr(call, rules.operation)()


def one_size(rules, volume):
    """The one number that says how large a communication is."""
    if volume.sent is not None and rules.operation not in ("sendrecv", "sendrecv_replace"):
        return volume.sent
    return volume.received


# ---- requests ----

class Live:
    """A request that has not completed, or a persistent one."""

    def __init__(self, rules, function, volume):
        self.rules, self.volume, self.active = rules, volume, False
        self.receives = function.class_ in (RECV, SENDRECV)


class Completed:
    def __init__(self, position, word, live):
        self.position, self.word, self.live, self.error, self.cancelled = position, word, live, 0, 0
        self.volume = live.volume.copy() if live else Volume()
        self.receives = live is not None and live.receives


RECENT, SLOT = 1, 2


def use_of(function):
    """How a function uses its requests; None if it does not."""
    takes = any(kind & ~LIST == REQUEST for _, kind in function.inputs)
    gives = [kind for _, kind in function.outcomes]
    if function.flags & PERSISTENT:
        return "persistent" if REQUEST in gives else None
    if function.flags & NONBLOCKING:
        return "creates"
    if not takes:
        return None
    if function.name == "MPI_Request_free":
        return "frees"
    if function.name.startswith("MPI_Request_get_status"):
        return "looks"
    if function.name in ("MPI_Start", "MPI_Startall"):
        return "starts"
    return "completes" if COMPLETIONS in gives else None


class Tracker:
    """Follows the requests of one stream."""

    def __init__(self, stream):
        self.stream, self.live, self.created = stream, {}, 0

    def key(self, word):
        if word > 0 and word & 3 == RECENT:
            return RECENT, self.created - (word >> 2)
        return (SLOT, word >> 2) if word > 0 and word & 3 == SLOT else None

    def event(self, use, rules, event, volume):
        """(completed, started)"""
        function = event.symbol.function
        if use == "creates":
            if not event.symbol.error:
                self.live[RECENT, self.created] = Live(rules, function, volume)
                self.created += 1
            return [], []
        if use == "persistent":
            key = self.key(event.outcomes[rules.outcome[REQUEST]])
            if key and key[0] == SLOT:
                self.live[key] = Live(rules, function, volume)
            return [], []
        words, array = self.requests(event)
        if use == "starts":
            return [], self.start(words)
        if use == "frees":
            self.live.pop(self.key(words[0]), None)
            return [], []
        done = self.complete(event, words, array, rules)
        if use == "completes":
            self.settle(done)
        return done, []

    def requests(self, event):
        for word, (_, kind) in zip(event.inputs, event.symbol.function.inputs):
            if kind & ~LIST == REQUEST:
                return (self.stream.list(word, REQUEST), True) if kind & LIST else ([word], False)
        return [], False

    def start(self, words):
        started = [live for live in map(self.live.get, map(self.key, words)) if live]
        for live in started:
            live.active = True
        return started

    def positions(self, event, n, array):
        """Positions of the requests that completed: of an index, of indices, or all."""
        for word, (_, kind) in zip(event.outcomes, event.symbol.function.outcomes):
            if array and kind & ~LIST == INT:
                indices = self.stream.list(word, INT) if kind & LIST else [word]
                return [i for i in indices if 0 <= i < n]
        return range(n)

    def complete(self, event, words, array, rules):
        done = []
        for i in self.positions(event, len(words), array):
            live = self.live.get(self.key(words[i]))
            inactive = live and words[i] & 3 == SLOT and not live.active
            if words[i] != 0 and not inactive:
                done.append(Completed(i, words[i], live))
        by_position = {entry.position: entry for entry in done}
        at = rules.outcome.get(COMPLETIONS)
        amended = () if at is None else self.stream.list(event.outcomes[at], COMPLETIONS)
        for at in range(0, len(amended) - 5, 6):
            position, source, tag, size, error, flags = amended[at:at + 6]
            entry = by_position.get(position)
            if entry:
                volume = entry.volume
                volume.source = volume.source if source == AS_POSTED else source
                volume.tag = volume.tag if tag == AS_POSTED else tag
                if size != AS_POSTED:
                    volume.received = size if size >= 0 else None
                    entry.receives |= entry.live is None
                entry.error, entry.cancelled = error & 0xffffffff, flags & 1
                if flags & 2:  # pending: not completed after all
                    done.remove(entry)
        return done

    def settle(self, done):
        for entry in done:
            if entry.word & 3 != SLOT:
                self.live.pop(self.key(entry.word), None)
            elif entry.live:
                entry.live.active = False


# ---- lines ----

class Writer:
    """Writes the events of a stream."""

    def __init__(self, stream, rules, paths):
        self.stream, self.archive, self.rules, self.paths = stream, stream.archive, rules, paths
        self.tracker = Tracker(stream)
        self.rests = {}

    def rest(self, event):
        """What a line says behind its times."""
        symbol = event.symbol
        rules, use = self.rules[symbol.function]
        if use and not symbol.failed_poll:
            volume = volume_of(rules, self.stream, event)
            done, started = self.tracker.event(use, rules, event, volume)
            if not symbol.function.flags & (NONBLOCKING | PERSISTENT):
                return self.make(event, rules, volume, done, started)
        key = (symbol.number, event.polls, *event.inputs, *event.outcomes)
        if key not in self.rests:
            volume = None if symbol.failed_poll else volume_of(rules, self.stream, event)
            self.rests[key] = self.make(event, rules, volume, [], [])
        return self.rests[key]

    def make(self, event, rules, volume, done, started):
        symbol = event.symbol
        items = self.inputs(event, rules, volume)
        if not symbol.failed_poll:
            items += self.outcomes(event, rules, volume)
            if symbol.function.class_ == COMPLETION:
                items += self.completions(symbol.function, done)
            items += self.bytes(symbol.function, rules, volume, started)
        if symbol.error:
            items.append(f"error={error_text(symbol.error)}")
        if symbol.failed_poll:
            items.append(f"polls={event.polls}")
        return f"{symbol.function.name}\t{' '.join(items)}\t{self.paths[symbol.path]}"

    def named(self, name, kind, word, unknown=False):
        return f"{name}={word_text(self.stream, kind, word, unknown)}"

    def has_message(self, event):
        """Whether a message has come with this call."""
        symbol = event.symbol
        return (symbol.function.class_ in (RECV, SENDRECV, PROBE) and not symbol.failed_poll and
                not symbol.function.flags & (NONBLOCKING | PERSISTENT) and not symbol.error)

    def inputs(self, event, rules, volume):
        items, message = [], self.has_message(event)
        for i, (name, kind) in enumerate(event.symbol.function.inputs):
            word = event.inputs[i]
            if left_out(kind, word):
                continue
            if message and i == rules.source:
                word = volume.source
            if message and i == rules.tag:
                word = volume.tag
            items.append(self.named(name, kind, word))
        if message and rules.source is None:
            items.append(self.named("source", RANK, volume.source))
        if message and (rules.tag is None or event.symbol.function.inputs[rules.tag][0] != "tag"):
            items.append(self.named("tag", TAG, volume.tag))
        return items

    def outcomes(self, event, rules, volume):
        items, message = [], self.has_message(event)
        told = {COMPLETIONS}
        if message:
            told |= {RANK, TAG, BYTES}
        if volume.sent is not None or volume.received is not None:
            told.add(BYTES)
        for word, (name, kind) in zip(event.outcomes, event.symbol.function.outcomes):
            if kind not in told:
                items.append(self.named(name, kind, word, event.symbol.error or kind == BYTES))
        return items

    def received(self, volume):
        items = [self.named("source", RANK, volume.source), self.named("tag", TAG, volume.tag)]
        return items + ([f"bytes={volume.received}"] if volume.received is not None else [])

    def completions(self, function, done):
        one = any(kind == REQUEST for _, kind in function.inputs)
        if one or any(kind == INT for _, kind in function.outcomes):
            return self.single(done[0]) if done else []
        entries, sizes = [], []
        for entry in done:
            came = entry.receives and not entry.cancelled
            if came and entry.volume.received is not None:
                sizes.append(entry.volume.received)
            if entry.cancelled:
                detail = "(cancelled)"
            elif entry.error:
                detail = f"(error={error_text(entry.error)})"
            else:
                detail = f"({','.join(self.received(entry.volume))})" if came else ""
            entries.append(f"{entry.position}{detail}")
        items = [f"completed=[{','.join(entries)}]"]
        return items + ([f"bytes={min(sum(sizes), INT64_MAX)}"] if sizes else [])

    def single(self, entry):
        items = ["cancelled=1"] if entry.cancelled else []
        items += [f"request_error={error_text(entry.error)}"] if entry.error else []
        came = entry.receives and not entry.cancelled
        return items + (self.received(entry.volume) if came else [])

    def bytes(self, function, rules, volume, started):
        sizes = [one_size(live.rules, live.volume) for live in started if not live.receives]
        sizes = [size for size in sizes if size is not None]
        items = [f"bytes={min(sum(sizes), INT64_MAX)}"] if sizes else []
        if function.flags & PERSISTENT:
            return items
        if function.class_ == SENDRECV:
            items.append(f"sent_bytes={-1 if volume.sent is None else volume.sent}")
            if function.flags & NONBLOCKING:
                return items
        size = one_size(rules, volume)
        waits = function.flags & NONBLOCKING and function.class_ == RECV
        return items + ([f"bytes={size}"] if size is not None and not waits else [])


HEAD = "index\trank\tthread\tenter_ns\texit_ns\t%sfunction\tparameters\tcall_path"


def stream_lines(archive, stream):
    """The lines of one stream."""
    if not hasattr(archive, "texts_of_paths"):
        archive.texts_of_paths = [" > ".join(map(frame_text, reversed(path)))
                                  for path in archive.paths]
        archive.rules = {function: (Rules(function), use_of(function))
                         for function in archive.functions}
    writer = Writer(stream, archive.rules, archive.texts_of_paths)
    place, rest = f"\t{stream.rank}\t{stream.thread}\t", writer.rest
    for event in stream.events():
        clock = f"{event.enter}\t{event.exit}\t" if archive.times else "-\t-\t"
        if archive.volume:
            clock += f"{event.gap}\t{event.inside}\t" if stream.volume else "-\t-\t"
        yield f"{event.index}{place}{clock}{rest(event)}"


def lines(archive, rank=None):
    """What refrain dump prints, without ends of lines; only streams that can be read."""
    yield HEAD % ("volume_gap\tvolume_inside\t" if archive.volume else "")
    for stream in archive.streams:
        if rank in (None, stream.rank) and (archive.complete or stream.readable()):
            yield from stream_lines(archive, stream)
