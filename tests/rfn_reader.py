#!/usr/bin/env python3
"""A reader of Refrain archives, written from doc/refrain-archive.5.md alone.

    rfn_reader.py FILE [--rank R]

prints the events of an archive as `refrain dump` does. It shares no code with the C reader, so that
where both say the same of a file, the page says it too. The order here is that of the page:
numbers, columns, container, definitions, structure, times, events. How events are written as text,
with what follows from the rules of MPI, is in rfn_text.py.
"""
import argparse
import ctypes
import itertools
import struct
import sys

import rfn_formula
import rfn_text

MASK, HALF = (1 << 64) - 1, 1 << 63
MINOR = 15  # the newest that is understood completely
INT64_MAX = HALF - 1


class Damage(Exception):
    """What in the file is not as the page says."""


def check(condition, what):
    if not condition:
        raise Damage(what)


def signed(value):
    """A number modulo 2^64 as two's complement."""
    return ((value + HALF) & MASK) - HALF


# ---- numbers ----

class Reader:
    """Takes numbers from bytes, in order."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        check(size <= self.left(), "too short")
        self.at += size
        return self.data[self.at - size:self.at]

    def fixed(self, size):
        return int.from_bytes(self.take(size), "little")

    def u8(self):
        return self.fixed(1)

    def u64(self):
        return self.fixed(8)

    def varint(self):
        value = shift = 0
        try:
            while True:
                byte = self.data[self.at]
                self.at += 1
                value |= (byte & 0x7f) << shift
                if byte < 0x80:
                    break
                shift += 7
        except IndexError:
            raise Damage("too short") from None
        check(shift < 70 and value <= MASK, "a varint is too large")
        return value

    def svarint(self):
        coded = self.varint()
        return (coded >> 1) ^ -(coded & 1)

    def below(self, n, what):
        value = self.varint()
        check(value < n, f"{what} {value} does not exist")
        return value

    def blob(self):
        return bytes(self.take(self.varint()))

    def string(self):
        return self.blob().split(b"\0")[0].decode("utf-8", "surrogateescape")

    def count(self):
        """How many things follow, of a byte or more each."""
        n = self.varint()
        check(n <= self.left(), "a count is too large")
        return n

    def many(self, read):
        return [read() for _ in range(self.count())]

    def end(self, exact=True):
        check(not exact or not self.left(), "bytes are left over")


# ---- columns ----

BLOCK_VALUES = 4096


def constant_block(reader, count):
    return itertools.repeat(reader.svarint(), count)


def varint_block(reader, count):
    return [reader.svarint() for _ in range(count)]


def run_block(reader, count):
    values = []
    while len(values) < count:
        value, length = reader.svarint(), reader.varint() + 1
        check(length <= count - len(values), "a run reaches beyond its block")
        values += [value] * length
    return values


def period_block(reader, count):
    period, step = reader.varint(), reader.svarint()
    check(1 <= period <= count, "a period is out of its limits")
    values = [reader.svarint() for _ in range(period)]
    for i in range(count - period):
        values.append(signed(values[i] + step))
    return values


class Bits:
    """Fields of bits, the least significant first."""

    def __init__(self, data):
        self.data, self.at = bytes(data), 0

    def take(self, width):
        begin, end = self.at, self.at + width
        self.at = end
        chunk = self.data[begin >> 3:(end + 7) >> 3]
        check(end <= 8 * len(self.data), "too few bits")
        return int.from_bytes(chunk, "little") >> (begin & 7) & ((1 << width) - 1)

    def delta(self):
        zeros = 0
        while not self.take(1):
            zeros += 1
            check(zeros <= 6, "a delta code is too long")
        length = (1 << zeros) + self.take(zeros)
        return (1 << (length - 1)) + self.take(length - 1) - 1

    def end(self):
        check(len(self.data) == (self.at + 7) // 8, "bits are left over")
        check(not self.take(-self.at % 8), "the last bits are not zero")


def read_buckets(bits, n):
    """(low, width, frequency) of each bucket."""
    lows, widths, frequencies = [], [], []
    for j in range(n):
        if j == 0:
            widths.append(bits.take(7))
            lows.append(0)
        else:
            coded = bits.delta()
            widths.append(widths[-1] + ((coded >> 1) ^ -(coded & 1)))
            check(0 <= widths[-1], "a width is out of its limits")
            gap = bits.delta() << min(widths[-1], widths[-2])
            lows.append((lows[-1] + (1 << widths[-2]) + gap) & MASK)
        check(widths[-1] <= 64, "a width is out of its limits")
        if n > 1:
            e = bits.take(4)
            check(e <= 11 or e == 15, "a frequency is out of its limits")
            frequencies.append(0 if e == 15 else
                               (1 << e) + (bits.take(min(e, 3)) << (e - min(e, 3))))
    if n > 1:
        check(frequencies.count(0) == 1 and sum(frequencies) < 4096, "the frequencies are wrong")
        frequencies[frequencies.index(0)] = 4096 - sum(frequencies)
    return lows, widths, frequencies


def bucket_numbers(states, words, frequencies, m):
    """The bucket of each number: asymmetric numeral systems."""
    bucket, factor, rest = [], [], []
    for j, frequency in enumerate(frequencies):
        bucket += [j] * frequency
        factor += [frequency] * frequency
        rest += range(frequency)
    found, at, which = [], 0, 0
    try:
        for _ in range(m):
            x = states[which]
            s = x & 4095
            found.append(bucket[s])
            x = factor[s] * (x >> 12) + rest[s]
            if x < 1 << 15:
                x = x << 16 | words[at]
                at += 1
            states[which] = x
            which = (which + 1) % len(states)
    except IndexError:
        raise Damage("too few words") from None
    check(at == len(words) and all(x == 1 << 15 for x in states), "the states do not end well")
    return found


def histogram_block(reader, count):
    form = reader.varint()
    n_buckets = form >> 2
    check(1 <= n_buckets <= 256, "the number of buckets is out of its limits")
    base = reader.svarint()
    scale = reader.varint() if form & 2 else 1
    lag = reader.varint() if form & 1 else 0
    check(lag < count, "the lag is out of its limits")
    values = [reader.svarint() for _ in range(lag)]
    m = count - lag
    states, words = [], ()
    if n_buckets > 1:
        states = [reader.fixed(4) for _ in range(2 if m >= 256 else 1)]
        n_words = reader.varint()
        check(n_words <= m, "there are too many words")
        words = struct.unpack(f"<{n_words}H", reader.take(2 * n_words))
    bits = Bits(reader.take(reader.left()))
    lows, widths, frequencies = read_buckets(bits, n_buckets)
    buckets = bucket_numbers(states, words, frequencies, m) if n_buckets > 1 else [0] * m
    for i, j in enumerate(buckets):
        value = base + scale * (lows[j] + bits.take(widths[j]))
        values.append(signed(value + values[i] if lag else value))
    bits.end()
    return values


LOGISTIC = [22, 36, 60, 98, 162, 267, 439, 720, 1179, 1921, 3108, 4971, 7812, 11955, 17625, 24743,
            32768, 40793, 47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097, 65269,
            65374, 65438, 65476, 65500, 65514]


def squash(odds):
    at = max(-2047, min(2047, odds)) + 2048
    i, more = at >> 7, at & 127
    return (LOGISTIC[i] * (128 - more) + LOGISTIC[i + 1] * more + 64) >> 7


# STRETCH[p]: the least odds whose probability is p or more.
STRETCH = []
for odds_ in range(-2047, 2048):
    STRETCH += [odds_] * ((squash(odds_) >> 4) + 1 - len(STRETCH))
STRETCH += [2047] * (4096 - len(STRETCH))


def mixed(model, a, b):
    number = ((a + 1) * 0x9e3779b97f4a7c15 + (b + 1) * 0xd6e8feb86659fd93 + model) & MASK
    return number ^ number >> 29


class Adaptive:
    """Decisions predicted by some models and decoded."""

    def __init__(self, data, count, matches):
        self.data, self.at = data, 0
        bits = 8
        while bits < 16 and 1 << bits < 16 * count:
            bits += 1
        models = 8 if matches else 4
        self.shift, self.slots = 64 - bits, [{} for _ in range(models)]
        self.weights, self.contexts = [16384 if matches else 26214] * models, None
        self.match = Match() if matches else None
        self.low, self.high, self.code = 0, 0xffffffff, 0
        for _ in range(4):
            self.shift_in()

    def shift_in(self):
        byte = self.data[self.at] if self.at < len(self.data) else 0
        self.code = (self.code << 8 & 0xffffffff) | byte
        self.at += 1

    def bit(self, probability):
        middle = self.low + ((self.high - self.low) * probability >> 16)
        bit = self.code <= middle
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        while not (self.low ^ self.high) >> 24:
            self.shift_in()
            self.low = self.low << 8 & 0xffffffff
            self.high = (self.high << 8 & 0xffffffff) | 255
        return int(bit)

    def slot(self, context, node):
        return ((context ^ node * 0xc2b2ae3d27d4eb4f & MASK) * 0x9e3779b97f4a7c15
                & MASK) >> self.shift

    def decision(self, node, expected=None):
        """expected: by the match; None: it expects nothing."""
        chosen = [(slots, self.slot(context, node), 0)
                  for slots, context in zip(self.slots, self.contexts)]
        if expected is not None:
            chosen.append((self.slots[7], min(self.match.length, 15), 1 - expected))
        states = [slots.get(i, (1 << 15, 0)) for slots, i, _ in chosen]
        odds = [(-1) ** inverse * STRETCH[p >> 4] if uses else 0
                for (p, uses), (_, _, inverse) in zip(states, chosen)]
        probability = squash(sum(w * o for w, o in zip(self.weights, odds)) >> 16)
        bit = self.bit(probability)
        error = 65536 * bit - probability
        self.weights[:len(odds)] = [
            max(-(1 << 22), min(1 << 22, w + ((6 * error * o + 65536) >> 17)))
            for w, o in zip(self.weights, odds)]
        for (slots, i, inverse), (p, uses) in zip(chosen, states):
            p += (65535 * (bit ^ inverse) - p) * (5 * 65536 // (5 * uses + 8)) >> 16
            slots[i] = max(32, min(65503, p)), min(255, uses + 1)
        return bit

    def number(self):
        like = self.match.expected() if self.match else None
        length, wanted = 0, -1 if like is None else like.bit_length()
        while length < 64 and self.decision(length,
                                            int(length < wanted) if length <= wanted else None):
            length += 1
        number = min(length, 1)
        for i in range(length - 1):
            at = length - 2 - i
            expected = like >> at & 1 if length == wanted and like >> at + 1 == number else None
            bit = (self.decision(length << 13 | number, expected) if i < 12
                   else self.bit(1 << 15))
            number = number << 1 | bit
        return number


class Match:
    """What followed the last time that the numbers before were the same."""

    def __init__(self):
        self.numbers, self.last, self.at, self.length = [], {}, None, 0

    def look(self, slot):
        at, before = self.last.get(slot), self.numbers
        if at and self.length < 8:
            length = 0
            while length < min(at, 32) and before[at - 1 - length] == before[-1 - length]:
                length += 1
            if length > self.length:
                self.at, self.length = at, length
        self.last[slot] = len(before)

    def expected(self):
        return None if self.at is None else self.numbers[self.at]

    def follow(self, number):
        self.numbers.append(number)
        if self.at is not None:
            self.length = self.length + 1 if self.numbers[self.at] == number else 0
            self.at += 1


def old_contexts(x, guided):
    far = x[1] + (x[2] << 20) & MASK if guided is None else guided[0]
    return [mixed(0, 0, 0), mixed(1, x[0], 0),
            mixed(2, x[1], x[0]) if guided is None else mixed(2, far, 0), mixed(3, far, x[0])]


def contexts_of(x, guided):
    """x: the numbers before, the latest first. guided: the guide's value and its next one."""
    three = mixed(2, mixed(2, x[0], x[1]), x[2])
    five = mixed(5, mixed(5, x[0], x[1]), guided[0] if guided else mixed(5, x[2], x[3]))
    return [mixed(0, 0, 0), mixed(1, x[0], 0), three,
            mixed(3, mixed(3, three, x[3]), mixed(3, x[4], x[5])),
            mixed(4, guided[0], 0) if guided else mixed(4, x[0], x[1]), five,
            mixed(6, guided[0], guided[1]) if guided else mixed(6, five, x[4])]


def adaptive_block(reader, count, guide):
    """guide: as many values, or None."""
    form, data = reader.u8(), reader.take(reader.left())
    check(form <= 3 and (not data or data[-1]), "an adaptive block is malformed")
    coder, values = Adaptive(data, count, form & 2), []
    before = [0] * 6
    ahead = [word & MASK for word in guide] + [0] if guide else []
    for i in range(count):
        guided = ahead[i:i + 2] if guide else None
        coder.contexts = (contexts_of if form & 2 else old_contexts)(before, guided)
        if coder.match:
            coder.match.look(coder.slot(coder.contexts[3], 0))
        number = coder.number()
        if coder.match:
            coder.match.follow(number)
        before = [number, *before[:5]]
        values.append((number >> 1) ^ -(number & 1) if form & 1 else signed(number))
    check(coder.at >= len(data), "an adaptive block is too long")
    return values


CODERS = [constant_block, varint_block, run_block, period_block, histogram_block, adaptive_block]
ADAPTIVE = 5


class Column:
    def __init__(self, reader, guide=None):
        """guide: another column; it is one if it is as long."""
        self.n = reader.varint()
        self.data = reader.take(reader.varint())
        self.guide = guide if guide and guide.n == self.n else None

    def blocks(self):
        """Iterables of values; decoded when their turn comes."""
        reader, left = Reader(self.data), self.n
        if not self.data:
            yield itertools.repeat(0, self.n)
            return
        while reader.left():
            coder, count = reader.u8(), reader.varint() or left
            payload = Reader(reader.take(reader.varint()))
            check(coder < len(CODERS), "a coder is unknown")
            check(0 < count <= left and (coder == 0 or count <= BLOCK_VALUES),
                  "a block has too many values")
            if coder == ADAPTIVE:
                yield adaptive_block(payload, count, self.guide and self.beside(left, count))
            else:
                yield CODERS[coder](payload, count)
            payload.end()
            left -= count
        check(left == 0, "a column has too few values")

    def beside(self, left, count):
        """The guide's values beside the next ones."""
        at = self.n - left
        values = list(itertools.islice(self.guide, at, at + count))
        check(len(values) == count, "a guide is too short")
        return values

    def __iter__(self):
        return itertools.chain.from_iterable(self.blocks())


# ---- container ----

MAGIC, CHUNK_MAGIC = b"\x89RFN\r\n\x1a\n", 0x434e4652
(META, DEFINITIONS, STREAMS, STRUCTURE, VALUES, RANK_PARAMS, TIMING, TOC, CLOCKS,
 PROFILE, PROFILES, CLUSTERS, SITE_SPREADS, SPREADS, COMMON, USAGE,
 AGGREGATED, SAMPLES, SAMPLE_COLUMNS, OPEN, CORES) = range(1, 22)
ZSTD = ctypes.CDLL("libzstd.so.1")
XXHASH = ctypes.CDLL("libxxhash.so.0")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
ZSTD.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
ZSTD.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3(data):
    return XXHASH.XXH3_64bits(data, len(data))


def decompress(stored, size):
    check(ZSTD.ZSTD_getFrameContentSize(stored, len(stored)) == size, "the sizes differ")
    out = ctypes.create_string_buffer(max(size, 1))
    check(ZSTD.ZSTD_decompress(out, size, stored, len(stored)) == size, "cannot be decompressed")
    return out.raw[:size]


class Chunk:
    """A chunk at an offset: checked, its payload decompressed."""

    def __init__(self, data, offset):
        check(offset % 8 == 0 and offset + 48 <= len(data), f"no chunk at offset {offset}")
        (magic, self.type, self.id, size, stored, compression, _,
         total) = struct.unpack_from("<IIQQQIIQ", data, offset)
        self.offset, self.stored, self.end = offset, stored, offset + 48 + stored
        check(magic == CHUNK_MAGIC, f"no chunk at offset {offset}")
        check(self.end <= len(data), f"the chunk at offset {offset} is cut")
        payload = data[offset + 48:self.end]
        check(xxh3(data[offset:offset + 40] + payload) == total,
              f"the checksum of the chunk at offset {offset} is wrong")
        check(compression <= 1, "an unknown compression")
        self.payload = decompress(payload, size) if compression else payload
        check(len(self.payload) == size, "the sizes differ")


def read_header(data):
    """(offset of the TOC or None in a file that was cut, minor version)"""
    check(len(data) >= 64 and data[:8] == MAGIC, "not a Refrain archive")
    major, minor, state, toc, size = struct.unpack_from("<IIQQQ", data, 8)
    total = struct.unpack_from("<Q", data, 56)[0]
    check(xxh3(data[:56]) == total, "the header's checksum is wrong")
    check(major == 1, f"version {major} of the format")
    return (toc if state == 1 and size <= len(data) else None), minor


def listed_chunks(data, toc, exact):
    table = Chunk(data, toc)
    check(table.type == TOC, "the TOC is not one")
    reader, offset, end = Reader(table.payload), 0, 64
    for _ in range(reader.count()):
        kind, number = reader.varint(), reader.varint()
        offset += 8 * reader.varint()
        stored = reader.varint()
        check(not any(data[end:offset]), f"bytes behind offset {end} are not zero")
        chunk = Chunk(data, offset)
        check((chunk.type, chunk.id, chunk.stored) == (kind, number, stored) and offset >= end,
              f"the chunk at offset {offset} is not what the TOC says")
        end = chunk.end
        yield chunk
    reader.end(exact)


def walked_chunks(data):
    """What is whole of a file that was cut short."""
    at = 64
    while at < len(data):
        if not any(data[at:at + 8]):
            at += 8
            continue
        try:
            chunk = Chunk(data, at)
        except Damage:
            return
        yield chunk
        at = chunk.end + -chunk.end % 8


# ---- definitions ----

class Function:
    def __init__(self, reader, strings):
        self.name = strings[reader.below(len(strings), "string")]
        self.class_, self.flags, n_in, n_out = (reader.u8() for _ in range(4))
        params = [(strings[reader.below(len(strings), "string")], reader.u8(), reader.u8())
                  for _ in range(n_in + n_out)]
        self.inputs = [(name, kind) for name, kind, _ in params[:n_in]]
        self.outcomes = [(name, kind) for name, kind, _ in params[n_in:]]


COMBINERS = ["type", "type", "dup", "contiguous", "vector", "hvector", "indexed", "hindexed",
             "indexed_block", "hindexed_block", "struct", "subarray", "darray", "f90_real",
             "f90_complex", "f90_integer", "resized", "value_index", "hvector", "hindexed",
             "struct"]
COMBINER_ABSOLUTE = 0x80


def read_datatype(reader, strings, known):
    """(name, size); known: the datatypes before."""
    combiner = reader.varint() & ~COMBINER_ABSOLUTE
    name = strings[reader.below(len(strings), "string")]
    size = [reader.svarint() for _ in range(5)][0]
    items = [str(n) for n in reader.many(reader.svarint) + reader.many(reader.svarint)]
    items += [known[i][0] for i in reader.many(lambda: reader.below(len(known), "datatype"))]
    if not name:
        constructor = COMBINERS[combiner] if combiner < len(COMBINERS) else "type"
        name = f"{constructor}({','.join(items)})"
        name = name if len(name) <= 250 else name[:250] + "..."
    return name, size


WORLD, SELF, INTRA, INTER = range(4)
FOREIGN = (1 << 32) - 1


class Communicator:
    def __init__(self, reader, n_ranks):
        self.kind, _ = reader.u8(), reader.u64()
        check(self.kind <= INTER, "a communicator of unknown kind")
        self.n_ranks = n_ranks
        self.groups = [self.read_ranks(reader) for _ in range(max(0, self.kind - 1))]

    def read_ranks(self, reader):
        size, ranks = reader.varint(), []
        for _ in range(reader.count()):
            start, count, stride = reader.varint(), reader.varint(), reader.svarint()
            check(0 < count <= size - len(ranks), "a rank list is too long")
            run = [-1] * count if start == FOREIGN else [start + i * stride for i in range(count)]
            check(start == FOREIGN or 0 <= min(run) <= max(run) < self.n_ranks, "no such rank")
            ranks += run
        return ranks + [-1] * (size - len(ranks))

    def rank_of(self, world_rank):
        """The rank of a process of MPI_COMM_WORLD, None if it is not a member."""
        if self.kind in (WORLD, SELF):
            return world_rank if self.kind == WORLD else 0
        return next((group.index(world_rank) for group in self.groups if world_rank in group), None)

    def sizes(self):
        """Of the first group, and of the ranks that a call communicates with."""
        if self.kind in (WORLD, SELF):
            return (self.n_ranks if self.kind == WORLD else 1,) * 2
        return len(self.groups[0]), len(self.groups[-1])


# ---- structure, values, rank parameters ----

KIND_TYPE, KIND_RANK, KIND_COMM, KIND_PLACE, KIND_REGION = 3, 4, 6, 20, 23
TRANSLATED = (KIND_TYPE, KIND_COMM, KIND_REGION)
# From REGION to UNRECORDED they are no calls.
CLASS_REGION, CLASS_SEGMENT_BEGIN, CLASS_SEGMENT_END, CLASS_UNRECORDED = 19, 20, 21, 22
RANK_KINDS = (KIND_RANK, KIND_PLACE)
UNKNOWN = -5


def small(reader):
    """An error class, or which inputs are moved."""
    return reader.below(1 << 32, "error class or moved")


class Symbol:
    def __init__(self, reader, structure, functions):
        head = reader.varint()
        check(head >> 1 < len(structure.sites), "no such site")
        self.number = len(structure.symbols)
        function, self.path = structure.sites[head >> 1]
        self.function, self.failed_poll = functions[function], head & 1
        self.error, moved = small(reader), small(reader)
        kinds = [kind for _, kind in self.function.inputs]
        check(moved >> len(kinds) == 0, "an input that does not exist is moved")
        self.moved = [i for i in range(len(kinds)) if moved >> i & 1]
        self.rank_params = [i for i, kind in enumerate(kinds)
                            if kind in RANK_KINDS and i not in self.moved]
        self.shared = [None if i in self.moved or i in self.rank_params else reader.svarint()
                       for i in range(len(kinds))]


class Structure:
    def __init__(self, reader, archive):
        self.sites = reader.many(lambda: (reader.below(len(archive.functions), "function"),
                                          reader.below(len(archive.paths), "path")))
        self.types = reader.many(lambda: reader.below(len(archive.datatypes), "datatype"))
        self.n_comms = reader.varint()
        self.symbols = []
        for _ in range(reader.count()):
            self.symbols.append(Symbol(reader, self, archive.functions))
            for word, (_, kind) in zip(self.symbols[-1].shared, self.symbols[-1].function.inputs):
                limit = {KIND_COMM: self.n_comms, KIND_TYPE: len(self.types)}.get(kind)
                check(limit is None or word is None or word < limit,
                      "no such datatype or communicator")
                check(kind != KIND_REGION or word is None or word in archive.regions,
                      "no such region")
        self.loops = []
        for _ in range(reader.count()):
            self.loops.append(self.read_nodes(reader))
            check(self.loops[-1], "a loop is empty")
        self.top = self.read_nodes(reader)

    def read_nodes(self, reader):
        nodes = reader.many(reader.varint)
        for node in nodes:
            check(node >> 1 < len(self.loops if node & 1 else self.symbols), "no such node")
        return nodes


class Values:
    def __init__(self, reader, structure):
        n_lists = reader.varint()
        lengths, words = Column(reader), Column(reader)
        check(lengths.n == n_lists, "the lists have other lengths")
        words = iter(words)
        self.lists = []
        for length in lengths:
            check(length >= 0, "a list has a negative length")
            self.lists.append(list(itertools.islice(words, min(length, sys.maxsize))))
            check(len(self.lists[-1]) == length, "words are missing")
        check(next(words, None) is None, "words belong to no list")
        self.trips = [Column(reader) for _ in structure.loops]
        self.moved, self.outcomes = [], []
        for symbol in structure.symbols:
            self.moved.append([Column(reader) for _ in symbol.moved])
            self.outcomes.append([Column(reader) for _ in symbol.function.outcomes])


PROC_NULL = -2
OFFSET, SHIFTED, XOR, PERMUTED, AFFINE, FORMULA = range(2, 8)


class Expression:
    """A word that follows from the rank."""

    def __init__(self, reader):
        self.form = reader.varint()
        check(OFFSET <= self.form <= FORMULA, "an expression of unknown form")
        ends = reader.below(8, "way to leave a grid") if self.form == SHIFTED else 0
        self.offset = reader.svarint() if self.form in (OFFSET, XOR, AFFINE) else 0
        self.sides, self.numbers = [], []
        if self.form in (SHIFTED, PERMUTED, AFFINE):
            self.read_grid(reader)
        self.open = self.open_dimensions(ends)
        if self.form == FORMULA:
            self.read_formula(reader)

    def read_grid(self, reader):
        n, ranks = reader.varint(), 1
        check(1 <= n <= 3, "a grid has no such number of dimensions")
        for _ in range(n):
            self.sides.append(reader.varint())
            self.numbers.append(reader.varint() if self.form == PERMUTED else reader.svarint())
            ranks *= self.sides[-1]
            check(1 <= ranks < 1 << 31, "a grid is too large")
        if self.form == PERMUTED:
            check(sorted(self.numbers) == list(range(n)), "an order of dimensions is none")
        if self.form == SHIFTED:
            check(max(map(abs, self.numbers)) < 1 << 31, "a shift is too large")

    def open_dimensions(self, ends):
        """Those whose ends are not joined, of those that are shifted: none, all, or as bits say."""
        moved = {i for i, shift in enumerate(self.numbers) if shift}
        if ends < 2:
            return moved if ends else set()
        found = {i for i in range(3) if ends - 1 >> i & 1}
        check(found < moved, "ends of a grid are open where nothing is shifted, or all of them")
        return found

    def read_formula(self, reader):
        self.coded, self.size = reader.below(2, "way to code a value"), reader.varint()
        check(1 <= self.size < 1 << 31, "a formula has no such number of ranks")
        try:
            self.formula = rfn_formula.Formula(reader.blob().decode("latin-1"))
        except rfn_formula.Malformed as why:
            check(False, f"a formula is malformed: {why}")

    def by_formula(self, rank):
        try:
            value = self.formula(rank, self.size)
        except rfn_formula.NoValue:
            value = 0
        return signed((value << 1 ^ value >> 63) & MASK) if self.coded else value

    def digits(self, rank):
        found = []
        for side in reversed(self.sides):
            found.insert(0, rank % side)
            rank //= side
        return found

    def __call__(self, rank):
        if self.form == FORMULA:
            return self.by_formula(rank)
        at = self.digits(rank)
        if self.form == OFFSET:
            return signed(rank + self.offset)
        if self.form == XOR:
            return signed(rank ^ self.offset)
        if self.form == AFFINE:
            return signed(self.offset + sum(x * f for x, f in zip(at, self.numbers)))
        order = self.numbers if self.form == PERMUTED else range(len(at))
        if self.form == SHIFTED:
            at = [x + shift for x, shift in zip(at, self.numbers)]
            if any(not 0 <= at[i] < self.sides[i] for i in self.open):
                return PROC_NULL
        value = 0
        for i in order:
            value = value * self.sides[i] + at[i] % self.sides[i]
        return value


ABSOLUTE, RELATIVE, BY_EXPRESSION = range(3)


def read_runs(reader, references, forms=RELATIVE):
    """The word of each stream or member whose reference is given."""
    words = []
    while len(words) < len(references):
        head = reader.varint()
        begin, end, form = len(words), len(words) + (head >> 2), head & 3
        check(begin < end <= len(references) and form <= forms, "runs over ranks are malformed")
        if form == BY_EXPRESSION:
            words += map(Expression(reader), references[begin:end])
            continue
        value = reader.svarint()
        words += [signed(value + reference) if form == RELATIVE else value
                  for reference in references[begin:end]]
    return words


def read_rank_param_runs(reader, references):
    return read_runs(reader, references, BY_EXPRESSION)


def read_comm_runs(reader, references):
    """Communicators are relative to nothing."""
    return read_runs(reader, references, ABSOLUTE)


def read_sequence(reader, references):
    """The same in CLUSTERS."""
    way = reader.below(3, "way of writing a sequence")
    if way == 0:
        return read_runs(reader, references, BY_EXPRESSION)
    column = Column(reader)
    check(column.n == len(references), "a sequence over ranks has another length")
    return [signed(value + (reference if way == 2 else 0))
            for value, reference in zip(column, references)]


class RankParams:
    """Per local communicator number the members' communicators; per symbol their words."""

    def __init__(self, reader, structure, archive, ranks):
        n_inputs = sum(len(symbol.rank_params) for symbol in structure.symbols)
        check(reader.varint() == n_inputs + structure.n_comms, "the number of slots is wrong")
        self.read(reader, structure, archive, ranks, read_rank_param_runs, read_comm_runs)

    def read(self, reader, structure, archive, ranks, read, read_comms):
        n_inputs = sum(len(symbol.rank_params) for symbol in structure.symbols)
        start = reader.at
        for _ in range(n_inputs):  # the references need the communicators, which come last
            read(reader, ranks)
        self.comms = [read_comms(reader, ranks) for _ in range(structure.n_comms)]
        check(all(-1 <= comm < len(archive.comms) for words in self.comms for comm in words),
              "no such communicator")
        end, reader.at = reader.at, start
        self.words = []
        for symbol in structure.symbols:
            kinds = [symbol.function.inputs[i][1] for i in symbol.rank_params]
            own = self.own_ranks(symbol, archive, ranks) if KIND_RANK in kinds else ranks
            self.words.append([read(reader, own if kind == KIND_RANK else ranks)
                               for kind in kinds])
        reader.at = end

    def own_ranks(self, symbol, archive, ranks):
        comms = [i for i, (_, kind) in enumerate(symbol.function.inputs) if kind == KIND_COMM]
        local = symbol.shared[comms[-1]] if comms else None
        if local is None or local < 0:
            return ranks
        own = []
        for comm, rank in zip(self.comms[local], ranks):
            found = archive.comms[comm].rank_of(rank) if comm >= 0 else None
            own.append(rank if found is None else found)
        return own


class ClusteredRankParams(RankParams):
    """Those of a group of a shape: the members with numbers from..end - 1 of its groups' ones."""

    def __init__(self, reader, structure, archive, ranks, members):
        self.read(reader, structure, archive, ranks, read_sequence, read_sequence)
        reader.end()
        self.comms = [words[members] for words in self.comms]
        self.words = [[words[members] for words in symbol] for symbol in self.words]


# ---- what groups have together ----

def varint_bytes(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


class Common:
    """COMMON: sites, and symbols and loops as STRUCTURE has them, but in common numbers."""

    def __init__(self, reader, archive):
        check(reader.left() <= 1 << 24, "a COMMON is too large")
        self.sites = reader.many(lambda: (reader.below(len(archive.functions), "function"),
                                          reader.below(len(archive.paths), "path")))
        heads, site = [], 0
        for _ in range(reader.count()):
            head = reader.varint()
            site += (head >> 2) ^ -(head >> 1 & 1)
            check(0 <= site < len(self.sites), "no such site")
            heads.append((site, head & 1))
        errors, moved = ([small(reader) for _ in heads] for _ in range(2))
        self.symbols = []
        for (site, poll), error, bits in zip(heads, errors, moved):
            inputs = archive.functions[self.sites[site][0]].inputs
            check(bits >> len(inputs) == 0, "an input that does not exist is moved")
            shared = [i for i, (_, kind) in enumerate(inputs)
                      if kind not in RANK_KINDS and not bits >> i & 1]
            self.symbols.append((site, poll, [error, bits] + [reader.varint() for _ in shared]))
        self.loops = []
        for _ in range(reader.count()):
            body = reader.many(reader.varint)
            check(body, "a loop is empty")
            check(all(node >> 1 < len(self.loops if node & 1 else self.symbols) for node in body),
                  "no such node")
            self.loops.append(body)

    def structure(self, reader):
        """The numbers that STRUCTURE has."""
        sites = self.references(reader, self.sites)
        numbers = [len(sites), *(word for i in sites for word in self.sites[i])]
        types = reader.many(reader.varint)
        numbers += [len(types), *types, reader.varint()]
        symbols = self.references(reader, self.symbols)
        numbers.append(len(symbols))
        for i in symbols:
            site, poll, words = self.symbols[i]
            check(site in sites, "a structure has not the site of its symbol")
            numbers += [sites[site] * 2 + poll, *words]
        loops = self.references(reader, self.loops)
        numbers.append(len(loops))
        behind = []
        for i, own in loops.items():
            check(all(node >> 1 in (loops if node & 1 else symbols) and
                      (not node & 1 or loops[node >> 1] < own) for node in self.loops[i]),
                  "a structure has not what its loop consists of")
            body = [(loops if node & 1 else symbols)[node >> 1] * 2 + (node & 1)
                    for node in self.loops[i]]
            numbers += [len(body), *body]
            behind.append(behind[body[-1] >> 1] if body[-1] & 1 else (body[-1] >> 1) + 1)
        return numbers + self.top(reader, len(symbols), behind)

    @staticmethod
    def references(reader, things):
        """{number here: number in the structure} in order"""
        found, expected = {}, 0
        for own in range(reader.count()):
            number = expected + reader.svarint()
            check(0 <= number < len(things) and number not in found, "no such reference")
            found[number], expected = own, number + 1
        return found

    @staticmethod
    def top(reader, n_symbols, behind):
        nodes, expected = [], [0, 0]
        for _ in range(reader.count()):
            head = reader.varint()
            loop, number = head & 1, expected[head & 1] + ((head >> 2) ^ -(head >> 1 & 1))
            check(0 <= number < (len(behind) if loop else n_symbols), "no such node")
            nodes.append(number * 2 + loop)
            expected[loop] = number + 1
            if loop:
                expected[0] = behind[number]
        return [len(nodes), *nodes]


def read_numbers(data, references, i, common=None):
    """Those of the i-th thing; common: gives COMMON, where the first may refer to it."""
    reader = Reader(data)
    numbers, at = reader.many(reader.varint), -1
    if not numbers and common:
        numbers = common().structure(reader)
    check(numbers, "a shape has no numbers")
    for _ in range(reader.count()):
        at += reader.varint() + 1
        check(at < len(numbers), "there is no such number")
        numbers[at] = read_sequence(reader, references)[i] & MASK
    reader.end()
    return numbers


class Clusters:
    def __init__(self, reader, number, archive):
        self.archive, self.shapes = archive, []
        at, self.end = number >> 32, number & 0xffffffff
        check(reader.left() <= 1 << 24, "a CLUSTERS is too large")
        reader.varint()
        sizes = [[reader.varint() for _ in range(4)] for _ in range(reader.count())]
        for n, *parts in sizes:
            check(n > 0, "a shape has no groups")
            self.shapes.append((range(at, at + n), [reader.take(size) for size in parts]))
            at += n
        check(at == self.end <= archive.n_groups(), "shapes have other groups than the id says")
        self.columns = []
        while reader.left():
            begin = reader.at
            Column(reader)
            self.columns.append(bytes(reader.data[begin:reader.at]))

    def shape(self, group):
        return next(shape for shape in self.shapes if group in shape[0])

    def structure(self, group):
        groups, parts = self.shape(group)
        lowest = [self.archive.members(g)[0].rank for g in groups]
        numbers = read_numbers(parts[0], lowest, groups.index(group), self.archive.common)
        return Reader(b"".join(map(varint_bytes, numbers)))

    def rank_params(self, group, structure):
        groups, parts = self.shape(group)
        ranks, begin = [], 0
        for g in groups:
            begin = len(ranks) if g == group else begin
            ranks += [stream.rank for stream in self.archive.members(g)]
        members = slice(begin, begin + len(self.archive.members(group)))
        return ClusteredRankParams(Reader(parts[1]), structure, self.archive, ranks, members)

    def values(self, number, group):
        groups, parts = self.shape(group)
        check(parts[2], "the values of a group are missing")
        sets = sorted({stream.set for g in groups for stream in self.archive.members(g)})
        n_lists, *columns = read_numbers(parts[2], range(len(sets)), sets.index(number))
        check(all(column < len(self.columns) for column in columns), "there is no such column")
        return Reader(varint_bytes(n_lists) + b"".join(self.columns[i] for i in columns))


# ---- times ----

def line(pair, following):
    """(first, base, slope, shift) between two pairs."""
    (first, base), (end, end_base) = pair, following
    shift = 64
    while shift and ((end_base - base) << shift) // (end - first) >= HALF:
        shift -= 1
    return first, base, ((end_base - base) << shift) // (end - first), shift


def along(segment, at):
    first, base, slope, shift = segment
    distance = (abs(at - first) * slope + (1 << shift >> 1)) >> shift
    return (base + distance if at >= first else base - distance) & MASK


CLOCK_OF_THE_RUN = 3


class Clock:
    """Quanta to nanoseconds of CLOCK_MONOTONIC."""

    def __init__(self, reader):
        kind, n = reader.u8(), reader.varint()
        self.of_the_run = kind == CLOCK_OF_THE_RUN
        check(n == 0 if self.of_the_run else 2 <= n <= reader.left() // 24,
              "the clock's pairs are malformed")
        pairs = [tuple(reader.u64() for _ in range(3)) for _ in range(n)]
        check(all(a[0] <= b[0] and a[1] <= b[1] for a, b in zip(pairs, pairs[1:])), "the clock's pairs descend")
        self.start = reader.u64()
        if self.of_the_run:
            return
        self.realtime = (pairs[0][2] - pairs[0][1]) & MASK
        distinct = [p[:2] for i, p in enumerate(pairs) if i == 0 or p[0] > pairs[i - 1][0]]
        self.segments = [line(*two) for two in zip(distinct, distinct[1:])]
        self.segments = self.segments or [(pairs[0][0], pairs[0][1], 1, 0)]

    def ns(self, quanta):
        for segment in reversed(self.segments):
            if quanta >= segment[0]:
                break
        return along(segment, quanta)


DRIFT_NS = 10 ** 10


class HostClock:
    """CLOCK_MONOTONIC of a host to that of the reference."""

    def __init__(self, reader):
        self.offsets = reader.many(lambda: (reader.u64(), reader.svarint(), reader.varint()))
        pairs = [(time, (time + offset) & MASK) for time, offset, _ in self.offsets]
        check(pairs and all(a[0] <= b[0] and a[1] <= b[1] for a, b in zip(pairs, pairs[1:])),
              "the measurements of a host's clock are malformed")
        self.pairs = [p for i, p in enumerate(pairs) if i == 0 or p[0] > pairs[i - 1][0]]
        self.lines = [line(*two) for two in zip(self.pairs, self.pairs[1:])]
        self.drift = self.pairs[-1][0] - self.pairs[0][0] >= DRIFT_NS

    def corrected(self, time):
        before = sum(pair[0] <= time for pair in self.pairs)
        if len(self.pairs) > 1 and (self.drift or 0 < before < len(self.pairs)):
            return along(self.lines[min(max(before, 1), len(self.lines)) - 1], time)
        near, base = self.pairs[max(before, 1) - 1]
        return (base + time - near) & MASK


class Timing:
    def __init__(self, reader, structure):
        flags = reader.varint()
        self.times, self.volume, self.stretched = flags & 1, flags >> 1 & 1, flags >> 2 & 1
        self.clock, self.marks = None, []
        if self.times:
            self.clock = Clock(reader)
            self.marks = reader.many(reader.varint)
        self.read_columns(reader, structure)

    def read_columns(self, reader, structure):
        self.columns = []
        for symbol in structure.symbols:
            n = (2 if self.times else 0) + symbol.failed_poll * (1 + self.times)
            self.columns.append([Column(reader) for _ in range(n)])
        self.volumes = [[Column(reader), Column(reader)] if self.volume else []
                        for _ in structure.symbols]


# ---- reduced times ----

SEGMENT_EVENTS_MAX, KEPT_EVENTS_MAX = 65536, 4194304
LENGTH_MAX, SHARE_MAX = 1 << 62, 1 << 36


class Context:
    """Where the segments of a context are executed, and what becomes of new ones."""

    def __init__(self, reader):
        self.columns = [Column(reader) for _ in range(3)]
        self.corrections, self.paces, self.kept_bits = map(iter, self.columns)
        self.n, self.kept = 0, {}

    def read_list(self, reader, guide):
        self.columns.append(Column(reader, guide))
        self.representatives = iter(self.columns[-1])


class Profiles:
    """PROFILE of several time sets in one."""

    def __init__(self, reader):
        check(reader.left() <= 1 << 24, "a PROFILES is too large")
        sizes = [(reader.varint(), reader.varint(), reader.varint())
                 for _ in range(reader.count())]
        self.rests = [reader.take(rest) for rest, _, _ in sizes]
        self.lists = [reader.take(lists) for _, lists, _ in sizes]
        self.guides = [guide for _, _, guide in sizes]
        check(all(guide <= i for i, guide in enumerate(self.guides)), "a guide does not exist")

    def profile(self, number):
        """Its PROFILE, and the lists that guide its own."""
        return Reader(bytes(self.rests[number]) + bytes(self.lists[number])), self.guiding(number)

    def guiding(self, number, depth=0):
        if not self.guides[number]:
            return []
        check(depth < 4, "too many lists guide each other")
        guide = number - self.guides[number]
        guides, reader, columns = self.guiding(guide, depth + 1), Reader(self.lists[guide]), []
        while reader.left():
            i = len(columns)
            columns.append(Column(reader, guides[i] if i < len(guides) else None))
        return columns


class Profile(Timing):
    """Each stream that shares it reads one of its own: columns are read but once."""

    def __init__(self, reader, structure, guides):
        super().__init__(reader, structure)
        check(self.times and not self.marks, "a PROFILE without times, or with marks")
        bits = [reader.u8() for _ in structure.loops]
        check(all(bit <= 1 for bit in bits), "whether a loop cuts is neither 0 nor 1")
        self.cuts = bits
        self.first, self.a, self.s = reader.varint(), reader.varint(), reader.varint()
        check(self.s <= SHARE_MAX, "the tolerance of starts is out of its limits")
        self.top = Column(reader)
        self.contexts = {}
        for loop, body in enumerate(structure.loops):
            if bits[loop]:
                stretches = 1 + sum(node & 1 and bits[node >> 1] for node in body)
                for stretch in range(stretches):
                    self.contexts[loop, stretch] = Context(reader)
        for i, context in enumerate(self.contexts.values()):
            context.read_list(reader, guides[i] if i < len(guides) else None)
        self.structure = structure

    # Where segments begin and end.

    def flat(self, nodes, trips):
        """The symbols of nodes where nothing cuts."""
        for node in nodes:
            if not node & 1:
                yield node >> 1
                continue
            for _ in range(count_of(trips[node >> 1])):
                yield from self.flat(self.structure.loops[node >> 1], trips)

    def cut(self, nodes, loop, trips):
        """(context, symbol) of each event of the top (loop is None) or of a body that cuts; None
        where a segment ends."""
        stretch = 0
        for node in nodes:
            inner = node >> 1
            if not node & 1:
                yield (loop, stretch), inner
            elif not self.cuts[inner]:
                for symbol in self.flat([node], trips):
                    yield (loop, stretch), symbol
            else:
                yield None
                for _ in range(count_of(trips[inner])):
                    yield from self.cut(self.structure.loops[inner], inner, trips)
                    yield None
                stretch += 1

    def segments(self, trips):
        """(context, symbols) of each segment, in order."""
        symbols, context, after_end = [], None, False
        for event in self.cut(self.structure.top, None, trips):
            if event is None:
                if symbols:
                    yield context, symbols
                symbols, after_end = [], False
                continue
            class_ = self.structure.symbols[event[1]].function.class_
            if symbols and (len(symbols) == SEGMENT_EVENTS_MAX or after_end or
                            class_ == CLASS_SEGMENT_BEGIN):
                yield context, symbols
                symbols = []
            context = event[0]
            symbols.append(event[1])
            after_end = class_ == CLASS_SEGMENT_END
        if symbols:
            yield context, symbols

    # What they are executed as.

    def new_words(self, symbols):
        """Of each event gap, duration, and what else there is; their length."""
        words = [[next(column) for column in self.sources[symbol]] for symbol in symbols]
        length = signed(sum(word[0] + word[1] for word in words))
        check(0 <= length <= LENGTH_MAX, "a segment is too long")
        return words, length

    def new_segment(self, context, symbols):
        words, length = self.new_words(symbols)
        pace, kept = signed(length + next(context.paces)), next(context.kept_bits)
        check(0 <= pace <= LENGTH_MAX, "a pace is out of its limits")
        check(kept in (0, 1), "whether a segment is kept is neither 0 nor 1")
        if kept:
            self.n_kept += len(symbols)
            check(self.n_kept <= KEPT_EVENTS_MAX, "too many events are kept")
            context.kept[context.n] = symbols, words, length, pace
        context.n += 1
        return words, length, pace

    def execute(self, context, symbols):
        """(words, length, pace, correction) of the next segment."""
        if context[0] is None:
            words, length = self.new_words(symbols)
            return words, length, length, next(self.corrections)
        context = self.contexts[context]
        number, correction = next(context.representatives), next(context.corrections)
        check(0 <= number <= context.n, "a segment is like one that has not been")
        if number == context.n:
            return (*self.new_segment(context, symbols), correction)
        check(number in context.kept, "a segment is like one that is not kept")
        like, words, length, pace = context.kept[number]
        check(like == symbols, "a segment is like one with other events")
        return words, length, pace, correction

    def executed(self, trips):
        """(symbols, words, length, start) of each segment, in order."""
        predicted = None
        for context, symbols in self.segments(trips):
            words, length, pace, correction = self.execute(context, symbols)
            if predicted is None:
                check(correction == 0, "the first segment has a correction")
                predicted = signed(self.clock.start) + self.first
            start = predicted + correction * max(1, (self.a + (length * self.s >> 16)) & MASK)
            predicted = start + pace
            yield symbols, words, length, start

    def recreated(self, trips):
        """(symbol, enter, exit, polls, inside, volumes) of each event, in quanta."""
        self.sources = [[iter(column) for column in columns + volumes]
                        for columns, volumes in zip(self.columns, self.volumes)]
        self.corrections, self.n_kept = iter(self.top), 0
        last = signed(self.clock.start)
        for (symbols, words, length, begin), after in with_next(self.executed(trips)):
            end, at = after[3] if after else begin + length, 0
            if self.stretched:
                begin = not_before(last, begin)
            room = max(0, signed(end - begin)) if self.stretched else None
            for symbol, word in zip(symbols, words):
                at += word[0]
                enter = last = not_before(last, begin + stretched(at, length, room))
                at += word[1]
                last = not_before(last, begin + stretched(at, length, room))
                polls, inside, rest = 1, signed(last - enter), 2
                if self.structure.symbols[symbol].failed_poll:
                    polls, inside, rest = word[2], min(inside, stretched(word[3], length, room)), 4
                yield symbol, enter & MASK, last & MASK, polls, inside, word[rest:]
        ends = [self.corrections] + [c for columns in self.sources for c in columns]
        for context in self.contexts.values():
            ends += context.representatives, context.corrections, context.paces, context.kept_bits
        check(all(next(column, None) is None for column in ends), "values are left over")


def with_next(items):
    """Each with the one after it, the last with None."""
    items = iter(items)
    item = next(items, None)
    while item is not None:
        after = next(items, None)
        yield item, after
        item = after


def stretched(offset, length, room):
    """Where what is at the offset of a representative is in a segment that lasts for room (None:
    where it is)."""
    if room is None:
        return offset
    offset = signed(offset)
    return 0 if offset < 0 else room if offset >= length else offset * room // length


def count_of(trips):
    times = next(trips)
    check(times >= 0, "a negative number of trips")
    return times


def not_before(last, time):
    return time if signed(time - last) > 0 else last


# ---- events ----

class Event:
    """One event; the same object per symbol, its words changing from occurrence to occurrence."""
    __slots__ = ("symbol", "index", "inputs", "outcomes", "polls", "enter", "exit", "gap", "inside",
                 "sources")


class Stream:
    def __init__(self, archive, number, words):
        self.archive, self.number = archive, number
        (self.rank, self.thread, self.group, self.set, self.host, self.n_events, self.n_calls,
         self.start, self.realtime, self.volume, self.n_regions, self.times,
         self.signature, self.end) = words
        check(not self.volume or archive.volume is not None, "META says nothing of volumes")

    def readable(self):
        found = self.archive.chunks
        parts = ((STRUCTURE, self.group), (RANK_PARAMS, self.group), (VALUES, self.set))
        if self.archive.clusters(self.group):
            parts = ()
        if not all(part in found for part in parts):
            return False
        polls = any(symbol.failed_poll for symbol in self.archive.structure(self.group).symbols)
        return (any((kind, self.times) in found for kind in (TIMING, PROFILE)) or
                self.archive.profiles_with(self.times) is not None or
                not (self.archive.times or self.volume or polls))

    def open(self):
        archive = self.archive
        self.structure = archive.structure(self.group)
        self.values = archive.values(self.set, self.structure, self.group)
        self.rank_params = archive.rank_params(self.group)
        self.place = [s.number for s in archive.streams if s.group == self.group].index(self.number)
        self.comms = [words[self.place] for words in self.rank_params.comms]
        self.timing = archive.timing(self, self.structure)
        self.columns = self.volumes = [[]] * len(self.structure.symbols)
        if self.timing and not isinstance(self.timing, Profile):
            self.columns, self.volumes = self.timing.columns, self.timing.volumes
        check(bool(self.volume) == bool(self.timing and self.timing.volume),
              "whether it has volumes is not as STREAMS says")
        self.opened = {}

    def translate(self, kind, word):
        """Local numbers of datatypes and communicators become the archive's, regions their names;
        None: no such one."""
        if kind == KIND_REGION:
            return self.archive.regions.get(word)
        if kind not in TRANSLATED or word < 0:
            return word
        table = self.structure.types if kind == KIND_TYPE else self.comms
        return table[word] if word < len(table) else None

    def known(self, kind, word):
        translated = self.translate(kind, word)
        check(translated is not None, f"kind {kind} has no number {word}")
        return translated

    def list(self, number, kind):
        """Words of a list; (), if there is no such list."""
        if not 1 <= number <= len(self.values.lists):
            return ()
        words = self.values.lists[number - 1]
        if kind not in (KIND_TYPE, KIND_COMM):
            return words
        found = [self.translate(kind, word) for word in words]
        return [UNKNOWN if word is None else word for word in found]

    def first(self, symbol):
        """A symbol's event: what is the same for all occurrences, and iterators over the rest."""
        event, function, number = Event(), symbol.function, symbol.number
        event.symbol, event.polls, event.enter, event.exit = symbol, 1, 0, 0
        event.gap = event.inside = None
        event.inputs = [word if word is None else self.known(kind, word)
                        for word, (_, kind) in zip(symbol.shared, function.inputs)]
        for i, words in zip(symbol.rank_params, self.rank_params.words[number]):
            event.inputs[i] = words[self.place]
        event.outcomes = [0] * len(function.outcomes)
        event.sources = []
        targets = [(event.inputs, i, function.inputs[i][1]) for i in symbol.moved]
        targets += [(event.outcomes, i, kind) for i, (_, kind) in enumerate(function.outcomes)]
        columns = self.values.moved[number] + self.values.outcomes[number]
        for (target, i, kind), column in zip(targets, columns):
            event.sources.append((target, i, kind if kind in TRANSLATED else 0, iter(column)))
        return event

    def symbols(self):
        """The symbols' numbers in order: the structure unfolded."""
        trips = [iter(column) for column in self.values.trips]
        loops, stack = self.structure.loops, [(iter(self.structure.top), 0, None)]
        while stack:
            nodes, left, body = stack.pop()
            for node in nodes:
                if not node & 1:
                    yield node >> 1
                    continue
                times = next(trips[node >> 1])
                check(times >= 0, "a negative number of trips")
                if times:
                    stack += [(nodes, left, body), (iter(loops[node >> 1]), times - 1,
                                                    loops[node >> 1])]
                    break
            else:
                if left:
                    stack.append((iter(body), left - 1, body))
        check(all(next(column, None) is None for column in trips), "trips are left over")

    def symbols_with_times(self):
        """(symbol, what a PROFILE says of its event or None) in order."""
        if not isinstance(self.timing, Profile):
            return ((symbol, None) for symbol in self.symbols())
        trips = [iter(column) for column in self.values.trips]
        recreated = self.timing.recreated(trips)
        return zip(self.symbols(), recreated, strict=True)

    def at(self, ns):
        """What the host's clock says, as time since the start."""
        host = self.archive.streams[self.times].host
        return signed(self.archive.aligned(host, ns) - self.archive.origin())

    def since_start(self, quanta):
        if self.timing.clock.of_the_run:
            return signed(quanta)
        return self.at(self.timing.clock.ns(quanta))

    def recreate(self, event, recreated):
        symbol, enter, exit_, event.polls, _, volumes = recreated
        check(symbol == event.symbol.number, "a segment has other events")
        event.enter, event.exit = self.since_start(enter), self.since_start(exit_)
        if volumes:
            event.gap, event.inside = volumes

    def events(self):
        """All events in order. At the end it is checked that nothing is left over."""
        self.open()
        opened, calls, regions, index = self.opened, 0, 0, -1
        timing = self.timing
        times = timing and timing.times
        if times and timing.clock.of_the_run:
            check(isinstance(timing, Profile), "a clock that is not a stream's")
        last = mark = timing.clock.start if times else 0
        marks = iter(timing.marks if times else ())
        if times and not timing.clock.of_the_run:
            to_ns, of = timing.clock.ns, self.archive.streams[self.times]
            check((of.start & MASK, of.realtime & MASK) ==
                  (to_ns(last), timing.clock.realtime),
                  "the clock starts not as STREAMS says")
        try:
            for index, (number, recreated) in enumerate(self.symbols_with_times()):
                known = opened.get(number)
                if known is None:
                    event = self.first(self.structure.symbols[number])
                    known = opened[number] = (event, [iter(c) for c in self.columns[number]],
                                              [iter(c) for c in self.volumes[number]])
                event, clocks, counts = known
                for target, i, kind, column in event.sources:
                    value = next(column)
                    target[i] = self.known(kind, value) if kind else value
                if recreated:
                    self.recreate(event, recreated)
                elif times:
                    enter = (last + next(clocks[0])) & MASK
                    last = (enter + next(clocks[1])) & MASK
                    event.enter, event.exit = self.since_start(enter), self.since_start(last)
                    if self.end and index + 1 == self.n_events:
                        event.exit = max(event.exit, self.at(self.end))
                    if index % 65536 == 0 and index:
                        mark += next(marks, enter - mark)
                        check(mark == enter, "a mark is wrong")
                if event.symbol.failed_poll and not recreated:
                    event.polls = next(clocks[2 if times else 0])
                    if times:
                        next(clocks[3])
                if counts:
                    event.gap, event.inside = next(counts[0]), next(counts[1])
                calls += event.polls
                regions += CLASS_REGION <= event.symbol.function.class_ <= CLASS_UNRECORDED
                event.index = index
                yield event
        except RuntimeError as error:  # a generator's own StopIteration
            raise Damage("a column is too short") from error
        except StopIteration:
            raise Damage("a column is too short") from None
        check(index + 1 == self.n_events, f"{index + 1} events, not {self.n_events}")
        polled = any(event.symbol.failed_poll for event, _, _ in opened.values())
        check(calls == self.n_calls or (polled and isinstance(timing, Profile)),
              f"{calls} calls, not {self.n_calls}")
        check(regions == self.n_regions, f"{regions} region events, not {self.n_regions}")
        for event, clocks, counts in opened.values():
            ends = [source[3] for source in event.sources] + clocks + counts
            check(all(next(column, None) is None for column in ends), "values are left over")


def spread_bin(number):
    return number.bit_length()


def spread_number(code):
    """What a code of SPREADS stands for: its 8 highest binary digits."""
    check(code <= 128 * 56 + 255, "no such number in a spread")
    return code if code < 256 else (128 + code % 128) << (code // 128 - 1)


def read_spread(reader, n):
    """{n, min_ns, mean_ns, max_ns, deviation_ns, first_bin, bins} of n times"""
    spread = dict.fromkeys(("n", "min_ns", "mean_ns", "max_ns", "deviation_ns", "first_bin"), 0)
    if not n:
        return {**spread, "bins": []}
    least = reader.varint()
    span = reader.varint()
    mean = reader.varint() if span else 0
    check(mean <= span, "a mean above the maximum")
    low, high = spread_number(least), spread_number(least + span)
    spread.update(n=n, min_ns=low, max_ns=high, mean_ns=spread_number(least + mean),
                  deviation_ns=spread_number(reader.varint()) if span else 0,
                  first_bin=spread_bin(low))
    bins = range(spread_bin(low), spread_bin(high) + 1)
    alone = spread_number(128 * max(n.bit_length() - 8, 0) + (n >> max(n.bit_length() - 8, 0)))
    return {**spread, "bins": [spread_number(reader.varint()) for _ in bins] if len(bins) > 1
            else [alone]}


class Spreads:
    """SPREADS, or SITE_SPREADS: `positions`, of every site and of its failed polls that have events, where told apart
    by what came before."""

    def __init__(self, reader, archive, kind):
        self.kind, self.positions, stream, before = kind, [], 0, set()
        clusters = archive.sites_in_order()
        for i in range(reader.varint()):
            gap = reader.varint()
            stream += gap
            check(stream < len(archive.streams) and (gap or not i), "no such stream in SPREADS")
            sites = archive.structure(archive.streams[stream].group).sites
            number = clusters.index(sites)
            check(number not in before, "a cluster is in SPREADS twice")
            before.add(number)
            self.read_cluster(reader, archive, number, sites)

    def read_cluster(self, reader, archive, number, sites):
        of = [s for s in archive.streams if archive.structure(s.group).sites == sites]
        check(1 <= reader.varint() <= len(of), "a spread of more streams than there are")
        left, n_sites = sum(stream.n_events for stream in of), reader.varint()
        check(n_sites <= len(sites), "a spread of more sites than there are")
        for site in sites[:n_sites]:
            place = {"cluster": number, **self.site(archive, site), "failed_poll": False}
            if self.read_place(reader, archive, sites, place):
                more = self.read_place(reader, archive, sites, {**place, "failed_poll": True})
                check(not more, "failed polls of failed polls")
        check(sum(p["duration"]["n"] for p in self.positions if p["cluster"] == number) <= left,
              "more times than events")

    @staticmethod
    def site(archive, site):
        return {"function": archive.functions[site[0]], "path": site[1]}

    def read_place(self, reader, archive, sites, place):
        """Whether failed polls of the same site follow."""
        head, bits = reader.varint(), 3 if self.kind == SPREADS else 2
        n, firsts = head >> bits, reader.varint() if head & 2 else 0
        check(firsts <= n and (firsts or not head & 2), "first events that are not there")
        after = None
        if bits == 3 and head & 4:
            n_apart, site, after = reader.varint(), -1, {}
            check(2 <= n_apart <= 16, "a number of sites before that cannot be")
            for _ in range(n_apart):
                site += reader.varint() + 1
                check(site < len(sites), "no such site before")
                some = reader.varint()
                check(0 < some <= n, "more apart than there are")
                n -= some
                self.read_position(reader, {**place, "after": self.site(archive, sites[site])}, some, 0)
        check(firsts <= n, "first events that are not there")
        self.read_position(reader, {**place, "after": after}, n, firsts)
        return head & 1

    def read_position(self, reader, position, n, firsts):
        """after: a site; {} for the rest, where some are told apart, else None."""
        before, duration = read_spread(reader, n - firsts), read_spread(reader, n)
        if n:
            self.positions.append({**position, "before": before, "duration": duration})


def read_caller(reader, name, locations):
    """(function, file, calls as (name, offset, line), loops as (first line, last line))"""
    _, start, function, file, _ = locations[reader.below(len(locations), "location")]
    calls, line = [], 0
    for _ in range(reader.count()):
        called, offset, further = name(), start + reader.svarint(), reader.varint()
        line += further // 2
        calls.append((called, offset, line))
    loops = reader.many(lambda: (first := reader.varint(), first + reader.varint()))
    return function, file, calls, loops


class Archive:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        toc, minor = read_header(data)
        self.minor, self.exact, self.complete = minor, minor == MINOR, toc is not None
        found = listed_chunks(data, toc, self.exact) if self.complete else walked_chunks(data)
        self.chunks = {(chunk.type, chunk.id): chunk for chunk in found}
        self.made, self.of_group = {}, {}
        self.read_meta(self.payload(META))
        self.read_definitions(self.payload(DEFINITIONS))
        self.read_streams(self.payload(STREAMS))
        self.read_clocks()

    def payload(self, kind, number=0):
        check((kind, number) in self.chunks, f"there is no chunk of type {kind}, id {number}")
        return Reader(self.chunks[kind, number].payload)

    def read_meta(self, reader):
        self.texts = [reader.string() for _ in range(5)]
        self.start, self.ranks, flags, _ = (reader.u64(), reader.varint(), reader.varint(),
                                            reader.varint())
        self.times, self.all_polls = flags & 1, flags >> 1 & 1
        self.volume = (reader.string(), reader.string()) if flags & 4 else None
        self.reduced = None
        if flags & 16 and self.minor >= 3:
            self.reduced = [reader.string(), reader.string()]
            self.reduced += [reader.varint() for _ in range(11)]
            check(self.times, "times that are not there are reduced")
        self.path_ends = None
        if flags & 32 and self.minor >= 4:
            self.path_ends = reader.varint(), reader.varint()
            check(self.path_ends[1] > 0, "call paths have no frames")
        self.merging = None
        if flags & 64 and self.minor >= 4:
            self.merging = [reader.varint() for _ in range(5)]
            for _ in range(6):  # of steps, which nobody writes any more
                reader.varint()
            check(self.merging[0] > 0, "merging without messages")
        self.merged = reader.string() if flags & 128 and self.minor >= 4 else None
        self.online_merges = None
        if flags & 256 and self.minor >= 4:
            self.online_merges = [reader.varint() for _ in range(4)]
            check(self.online_merges[0] > 0, "no online merges")
        if flags & 512 and self.minor >= 7:  # what was sent in steps of merging, which nobody writes any more
            for _ in range(12):
                reader.varint()
        self.predicted = reader.string() if flags & 2048 and self.minor >= 10 else None
        self.taken_out = reader.varint() if flags & 4096 and self.minor >= 12 else None
        self.recovered = (reader.u64(), reader.u64()) if flags & 8192 and self.minor >= 13 else None
        check(all(date < 1 << 63 for date in (self.start, *(self.recovered or ()))), "dates before 1970")
        self.limits = reader.string() if flags & 16384 and self.minor >= 14 else None
        self.identity = reader.u64() if flags & 32768 and self.minor >= 15 else None
        reader.end(self.exact)

    def read_definitions(self, reader):
        strings = reader.many(reader.string)
        check(strings and strings[0] == "", "string 0 is not empty")

        def name():
            return strings[reader.below(len(strings), "string")]

        modules = reader.many(lambda: (name(), reader.blob()))
        locations = reader.many(lambda: (modules[reader.below(len(modules), "module")][0],
                                         reader.varint(), name(), name(), reader.varint()))
        self.paths = reader.many(lambda: [
            locations[i] for i in reader.many(lambda: reader.below(len(locations), "location"))])
        self.functions = reader.many(lambda: Function(reader, strings))
        self.datatypes = []
        for _ in range(reader.count()):
            self.datatypes.append(read_datatype(reader, strings, self.datatypes))
        self.comms = reader.many(lambda: Communicator(reader, self.ranks))
        self.hosts = reader.many(name)
        regions = reader.many(lambda: (signed(reader.u64()), name())) if reader.left() else []
        self.regions = dict(regions)
        check(len(self.regions) == len(regions), "a region is there twice")
        self.cores = [reader.varint() for _ in self.hosts] if reader.left() else []
        self.callers = reader.many(lambda: read_caller(reader, name, locations)) if reader.left() else []
        reader.end(self.exact)

    def read_streams(self, reader):
        numbers = range(reader.varint())
        n_words = 9 if self.minor == 0 else 11 if self.minor < 3 else 12 if self.minor < 6 else \
            13 if self.minor < 9 else 14
        words = [read_runs(reader, numbers) for _ in range(n_words)]
        words += [[0] * len(numbers)] * (11 - len(words))
        words += [list(numbers)] * (12 - len(words))
        words += [[0] * len(numbers)] * (14 - len(words))
        reader.end(self.exact)
        self.streams = [Stream(self, i, words) for i, words in enumerate(zip(*words))]
        order = [(stream.rank, stream.thread) for stream in self.streams]
        check(order == sorted(set(order)), "the streams are not in order")
        for stream in self.streams:
            check(0 <= stream.rank < self.ranks and 0 <= stream.thread and
                  0 <= stream.host < len(self.hosts) and
                  0 <= stream.n_regions <= stream.n_events <= stream.n_calls,
                  "a stream has a number that is out of range")
            check(0 <= stream.times <= stream.number and
                  self.streams[stream.times].times == stream.times and
                  self.streams[stream.times].group == stream.group,
                  "a time set is not that of a lower stream of the group")

    def members(self, group):
        if not self.of_group:
            for stream in self.streams:
                self.of_group.setdefault(stream.group, []).append(stream)
        return self.of_group[group]

    def n_groups(self):
        return 1 + max(stream.group for stream in self.streams)

    def part(self, kind, number, make, clustered=None):
        """A chunk's content, made once; or what `clustered` has of it."""
        key = kind, number
        if key not in self.made:
            reader = clustered() if clustered else self.payload(kind, number)
            self.made[key] = make(reader)
            reader.end(self.exact)
        return self.made[key]

    def common(self):
        check(self.minor >= 6, "a shape has no numbers")
        return self.part(COMMON, 0, lambda reader: Common(reader, self))

    def clusters(self, group):
        """The CLUSTERS that has a group, or None."""
        number = next((number for kind, number in self.chunks if kind == CLUSTERS and
                       self.minor >= 4 and number >> 32 <= group < number & 0xffffffff), None)
        if number is None:
            return None
        sets = sorted({(stream.set, stream.group) for stream in self.streams})
        check([g for _, g in sets] == sorted(g for _, g in sets),
              "the value sets are not in order of their groups")
        return self.part(CLUSTERS, number, lambda reader: Clusters(reader, number, self))

    def structure(self, group):
        found = self.clusters(group)
        return self.part(STRUCTURE, group, lambda reader: Structure(reader, self),
                         found and (lambda: found.structure(group)))

    def values(self, number, structure, group):
        found = None if (VALUES, number) in self.chunks else self.clusters(group)
        return self.part(VALUES, number, lambda reader: Values(reader, structure),
                         found and (lambda: found.values(number, group)))

    def rank_params(self, group):
        structure, found = self.structure(group), self.clusters(group)
        if found:
            key = RANK_PARAMS, group
            if key not in self.made:
                self.made[key] = found.rank_params(group, structure)
            return self.made[key]
        ranks = [stream.rank for stream in self.members(group)]
        return self.part(RANK_PARAMS, group, lambda reader: RankParams(reader, structure, self, ranks))

    def profiles_with(self, times):
        """The id of the PROFILES that has a time set, or None."""
        return next((number for kind, number in self.chunks if kind == PROFILES and self.reduced and
                     number >> 32 <= times < number & 0xffffffff), None)

    def profile_payload(self, times):
        """(Reader of PROFILE or None, the lists that guide its own)"""
        if self.reduced and (PROFILE, times) in self.chunks:
            return self.payload(PROFILE, times), []
        number = self.profiles_with(times)
        if number is None:
            return None, []
        sets = [s.number for s in self.streams if s.times == s.number and
                number >> 32 <= s.number < number & 0xffffffff]
        profiles = self.part(PROFILES, number, Profiles)
        check(len(profiles.rests) == len(sets), "a PROFILES has not as many time sets as its id says")
        return profiles.profile(sets.index(times))

    def timing(self, stream, structure):
        reader, guides = self.profile_payload(stream.times)
        if reader:
            profile = Profile(reader, structure, guides)
            reader.end(self.exact)
            return profile
        check(stream.times == stream.number, "streams share times that are not reduced")
        if (TIMING, stream.number) not in self.chunks:
            polls = any(symbol.failed_poll for symbol in structure.symbols)
            check(not (self.times or stream.volume or polls),
                  f"stream {stream.number} has no TIMING")
            return None
        return self.part(TIMING, stream.number, lambda reader: Timing(reader, structure))

    def sites_in_order(self):
        """The sites of each cluster of spreads, in order of the clusters' lowest streams."""
        found = []
        for stream in self.streams:
            sites = self.structure(stream.group).sites
            if sites not in found:
                found.append(sites)
        return found

    def spreads(self):
        """What SPREADS says, or None."""
        kinds = [kind for kind, since in ((SPREADS, 5), (SITE_SPREADS, 4))
                 if self.minor >= since and (kind, 0) in self.chunks]
        if not kinds:
            return None
        check(self.reduced, "spreads of times that are all there")
        check(len(kinds) == 1, "spreads of two kinds")
        return self.part(kinds[0], 0, lambda reader: Spreads(reader, self, kinds[0]))

    def usage(self):
        """What USAGE says, by stream: (process, gaps, recording). A process is None or (time, CPU time, core wait or None,
        switches, preemptions, KiB), a gap ((function, path), (function, path), time, CPU time, core wait), in us. Recording is (us, [(from, to)] in quanta)."""
        found, stream = {}, -1
        if self.minor < 10 or (USAGE, 0) not in self.chunks:
            return found
        reader = self.payload(USAGE)

        def site():
            return (reader.below(len(self.functions), "function"), reader.below(len(self.paths), "path"))

        while reader.left():
            stream += 1 + reader.varint()
            check(stream < len(self.streams), "no such stream in USAGE")
            flags, process, recording = reader.varint(), None, (0, [])
            if flags & 1:
                process = [reader.varint(), reader.varint(), reader.varint() if flags & 2 else None]
                process += [reader.varint() for _ in range(3)]
            if flags & 4:
                recording, at = (reader.varint(), []), 0
                for _ in range(reader.count()):
                    start = at + reader.varint()
                    at = start + reader.varint()
                    recording[1].append((start, at))
            if flags & 8:
                check(reader.varint() > 0, "call paths without frames")
            found[stream] = process, [(site(), site(), reader.varint(), reader.varint(), reader.varint())
                                      for _ in range(reader.count())], recording
            check(all(wait <= time for _, _, time, _, wait in found[stream][1]), "a core wait is too long")
        return found

    def core_windows(self):
        """What CORES says, by first stream of a process: (set of cores, OMP_NUM_THREADS or 0, windows of (time, on a
        core, runnable), in us)."""
        found, stream = {}, -1
        if self.minor < 15 or (CORES, 0) not in self.chunks:
            return found
        reader = self.payload(CORES)
        while reader.left():
            stream += 1 + reader.varint()
            check(stream < len(self.streams), "no such stream in CORES")
            mask = reader.blob()
            check(not mask or mask[-1], "the mask ends with zeros")
            cores = {8 * at + bit for at, byte in enumerate(mask) for bit in range(8) if byte >> bit & 1}
            threads = reader.varint()
            windows = [(reader.varint(), reader.varint(), reader.varint()) for _ in range(reader.count())]
            check(all(1000 * sum(column) < 1 << 63 for column in zip(*windows)), "windows are too long")
            found[stream] = cores, threads, windows
        return found

    def aggregated(self):
        """What AGGREGATED says: (least ns, least bytes, terms, L, o, g, G, S, messages, events and bytes before,
        activities, by stream {event: how many were left out in front of it}), or None."""
        if self.minor < 10 or (AGGREGATED, 0) not in self.chunks:
            return None
        reader, activities, gaps = self.payload(AGGREGATED), [], []

        def site():
            return (reader.below(len(self.functions), "function"), reader.below(len(self.paths), "path"))

        head = [reader.varint() for _ in range(3)] + [struct.unpack("<d", reader.take(8))[0] for _ in range(4)]
        head += [reader.varint() for _ in range(4)]
        for _ in range(reader.varint()):
            activities.append((site(),) if reader.varint() else (site(), site(), reader.varint()))
        for stream in self.streams:
            event, found = 0, {}
            for _ in range(reader.varint()):
                event += reader.varint()
                found[event] = reader.varint()
                check(found[event] > 0 and event > 0, "a gap is not there")
            gaps.append(found)
        reader.end(self.exact)
        return (*head, activities, gaps)

    def samples(self):
        """What SAMPLES and SAMPLE_COLUMNS say, or None."""
        if self.minor < 11 or (SAMPLES, 0) not in self.chunks:
            return None
        return Samples(self, self.payload(SAMPLES))

    def read_clocks(self):
        self.reference, self.clocks, self.first = 0, {}, None
        self.realtimes = {}
        for stream in self.streams:
            self.realtimes.setdefault(stream.host, stream.realtime)
        if self.minor < 2 or (CLOCKS, 0) not in self.chunks:
            return
        reader = self.payload(CLOCKS)
        self.reference = reader.below(len(self.hosts), "host")
        for _ in range(reader.varint()):
            host = reader.below(len(self.hosts), "host")
            check(not self.clocks or host > max(self.clocks), "the hosts are not in order")
            self.clocks[host] = HostClock(reader)
        reader.end(self.exact)

    def aligned(self, host, time):
        """Nanoseconds of a host's CLOCK_MONOTONIC as a time that all hosts share."""
        if host in self.clocks:
            return self.clocks[host].corrected(time) + self.realtimes.get(self.reference, 0)
        return time + self.realtimes[host]

    def origin(self):
        """The earliest start of a stream."""
        if self.first is None:
            for stream in self.streams:
                start = self.aligned(stream.host, stream.start & MASK)
                if self.first is None or signed(start - self.first) < 0:
                    self.first = start
        return self.first


# ---- samples of messages ----

MOST, BUCKETS, SAMPLE_ROWS_MAX = 1e100, 32 * 30, 1 << 16
NO_SITE, OTHER_SITE = "none", "others"


def read_amount(reader, least=0):
    word = reader.varint()
    check(word == 1 or not word & 1, "an amount is malformed")
    amount = struct.unpack("<d", reader.take(8))[0] if word & 1 else float(word >> 1)
    check(least <= amount <= MOST, "an amount is out of its limits")
    return amount


class SampleRow:
    """A category of messages."""

    def __init__(self, reader, samples):
        ranks = samples.archive.ranks
        self.source, self.dest = reader.svarint(), reader.svarint()
        self.send, self.receive = samples.site(reader.u64()), samples.site(reader.u64())
        self.size_class = reader.u8()
        check(-1 <= self.source < ranks and -2 <= self.dest < ranks and
              (self.size_class <= 64 or self.size_class == 255), "a category that cannot be")
        self.messages, self.bytes, self.n = (reader.varint() for _ in range(3))
        self.buckets = {}
        if self.n:
            self.read_latencies(reader)

    def read_latencies(self, reader):
        self.weight, self.weight2, self.sampled_bytes = (read_amount(reader) for _ in range(3))
        check(self.weight > 0 and self.weight2 > 0, "samples without weight")
        self.mean, self.moment2 = read_amount(reader, -MOST), read_amount(reader)
        self.least = read_amount(reader, -MOST)
        self.greatest = read_amount(reader, self.least)
        self.waited, self.lay = read_amount(reader), read_amount(reader)
        self.clean = reader.varint()
        check(self.clean <= self.n, "too many clean samples")
        if self.clean:
            self.clean_least, self.clean_sum = read_amount(reader, -MOST), read_amount(reader, -MOST)
        bucket = -1
        for _ in range(reader.count()):
            bucket += 1 + reader.varint()
            check(bucket < BUCKETS, "a bucket that does not exist")
            self.buckets[bucket] = read_amount(reader)


class SampleColumns:
    """The samples that a rank received: tuples of source, sites, bytes, channel, position and weight, and times:
    sent, posted, entered and received, in quanta."""

    def __init__(self, reader, samples):
        check(reader.varint() & 1, "samples have no times")
        self.clock = Clock(reader)
        n = reader.count()
        check(n * 11 <= reader.left(), "a count is too large")
        sources = [reader.below(samples.archive.ranks, "rank") for _ in range(n)]
        sends, receives = self.words(reader, n), self.words(reader, n)
        sizes, channels = [reader.varint() for _ in range(n)], self.words(reader, n)
        positions = [reader.varint() for _ in range(n)]
        weights = [struct.unpack("<d", struct.pack("<Q", word))[0] for word in self.words(reader, n)]
        check(all(0 < weight < float("inf") for weight in weights), "a weight is none")
        received = list(itertools.accumulate((reader.varint() for _ in range(n)),
                                             lambda a, b: (a + b) & MASK, initial=self.clock.start))[1:]
        entered = [(time - reader.svarint()) & MASK for time in received]
        posted = [(time - reader.svarint()) & MASK for time in entered]
        sent = [(time - reader.svarint()) & MASK for time in received]
        reader.end(samples.archive.exact)
        self.samples = list(zip(sources, map(samples.site, sends), map(samples.site, receives), sizes, channels,
                                positions, weights, sent, posted, entered, received))

    @staticmethod
    def words(reader, n):
        known, found = [], []
        for _ in range(n):
            number = reader.below(len(known) + 1, "word")
            if number == len(known):
                known.append(reader.u64())
            found.append(known[number])
        return found


class Samples:
    def __init__(self, archive, reader):
        self.archive = archive
        strategy, self.where = reader.blob(), reader.string()
        self.strategy = strategy.decode("utf-8", "surrogateescape")
        check(len(strategy) < 64, "a strategy that cannot be")
        self.analysis = ("stat", "freq", "write")[reader.below(3, "analysis")]
        flags = reader.varint()
        self.alone, self.changed = flags & 1, flags >> 1 & 1
        self.messages, self.bytes, self.sampled = (reader.varint() for _ in range(3))
        sites = reader.many(lambda: (reader.u64(), (reader.below(len(archive.functions), "function"),
                                                    reader.below(len(archive.paths), "path"))))
        self.sites = dict(sites)
        check([site[0] for site in sites] == sorted(self.sites), "sites are not in order")
        table = Reader(reader.blob())
        self.dropped = [table.varint() for _ in range(5)]
        self.rows = table.many(lambda: SampleRow(table, self))
        check(len(self.rows) <= SAMPLE_ROWS_MAX, "too many categories")
        table.end()
        self.counts = reader.many(lambda: self.read_count(reader)) if archive.minor >= 15 else None
        reader.end(archive.exact)
        self.columns = {rank: SampleColumns(archive.payload(kind, rank), self)
                        for kind, rank in archive.chunks if kind == SAMPLE_COLUMNS}
        self.lowest = {}
        for stream in archive.streams:
            self.lowest.setdefault(stream.rank, stream)
        for rank, columns in self.columns.items():
            self.check_clock(rank, columns.clock)

    def read_count(self, reader):
        """(source, destination, size class, messages, bytes, samples)"""
        source, dest = reader.svarint(), reader.svarint()
        size_class, messages, size, measured = (reader.varint() for _ in range(4))
        check(-1 <= source < self.archive.ranks and -1 <= dest < self.archive.ranks and
              (source < 0) == (dest < 0) and size_class <= 64, "messages of a pair that cannot be")
        return source, dest, size_class, messages, size, measured

    def site(self, site_hash):
        return self.sites.get(site_hash, OTHER_SITE) if site_hash else NO_SITE

    def check_clock(self, rank, clock):
        check(rank in self.lowest, "samples of a rank that is not there")
        stream = self.lowest[rank]
        check(clock.of_the_run or not self.archive.times or
              (clock.ns(clock.start), clock.realtime) == (stream.start & MASK, stream.realtime & MASK),
              "the clock starts not as STREAMS says")

    def time(self, rank, quanta):
        """Nanoseconds since the start of the run."""
        clock = self.columns[rank].clock
        if clock.of_the_run:
            return signed(quanta)
        time = self.archive.aligned(self.lowest[rank].host, clock.ns(quanta))
        return signed(time - self.archive.origin())

    def list(self):
        """(destination, source, send site, receive site, bytes, channel, position, weight, and in ns: sent, posted,
        entered, received), by destination; sites are (function, path)."""
        found = []
        for dest in sorted(self.columns):
            for *what, sent, posted, entered, received in self.columns[dest].samples:
                if what[0] in self.columns:
                    found.append((dest, *what, self.time(what[0], sent),
                                  *(self.time(dest, time) for time in (posted, entered, received))))
        return found


def main():
    parser = argparse.ArgumentParser(description="Prints the events of a Refrain archive.")
    parser.add_argument("file")
    parser.add_argument("--rank", type=int)
    options = parser.parse_args()
    try:
        archive = Archive(options.file)
        for line in rfn_text.lines(archive, options.rank):
            sys.stdout.buffer.write(line.encode("utf-8", "surrogateescape") + b"\n")
    except (Damage, OSError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 3
    return 0 if archive.complete else 3


if __name__ == "__main__":
    sys.exit(main())
