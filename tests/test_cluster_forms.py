"""The forms of clustering that the paper has, and the reference that tells whether anything is lost.

Known answers come from what programs do. Beside them stands each form as an independent computation in Python,
over the events of the reader that was written from the format's page (rfn_reader.py): who is in which cluster has
to be the same, rank by rank. Its reference is no hash but the sequence itself.
"""
import collections
import os
import random

import harness
import rfn_reader
import rfn_text
import test_clusters
import test_smpi

SIMULATED = True
FOLDER = test_clusters.FOLDER
MASK = (1 << 64) - 1
ROOTED = (9, 10)  # classes of collective calls with a root: from one to all, from all to one
COMM_CLASS = 17
REGIONS = range(rfn_reader.CLASS_REGION, rfn_reader.CLASS_UNRECORDED + 1)


# ---- the forms in Python ----

class Rank:
    """Events of a rank, in the order of its streams; communicators by number as it gets to know them."""

    def __init__(self, archive, streams):
        self.archive, self.rank, self.streams = archive, streams[0].rank, streams
        self.comms = {}

    def events(self):
        for stream in self.streams:
            for event in stream.events():
                symbol = event.symbol
                if symbol.failed_poll or symbol.function.class_ in REGIONS:
                    continue
                yield stream, event, symbol.function
                for word, (_, kind) in zip(event.outcomes, symbol.function.outcomes):
                    if kind == rfn_text.COMM and word >= 0:
                        self.number(word)

    def number(self, comm):
        return self.comms.setdefault(comm, len(self.comms))

    def own(self, event, function):
        """The rank's place, and how many ranks a partner may be."""
        place, size = self.rank, self.archive.ranks
        for word, (_, kind) in zip(event.inputs, function.inputs):
            if kind == rfn_text.COMM and word >= 0:
                self.number(word)
                comm = self.archive.comms[word]
                place, size = comm.rank_of(self.rank), comm.sizes()[1]
        return place, size

    def known(self, kind, word, partner, own):
        """A word as it is compared."""
        if partner and 0 <= word < own[1]:
            return (word - own[0]) % own[1]
        if kind == rfn_text.COMM and word >= 0:
            return self.number(word), self.archive.comms[word].kind, self.archive.comms[word].sizes()
        return word

    def reference(self):
        """Its calls with all their inputs."""
        found = []
        for stream, event, function in self.events():
            own, inputs = self.own(event, function), []
            for word, (_, kind) in zip(event.inputs, function.inputs):
                element = kind & ~rfn_text.LIST
                if word > 0 and (kind & rfn_text.LIST or kind == rfn_text.STRING):
                    partners = element == rfn_text.RANK and function.class_ == COMM_CLASS
                    inputs.append(tuple(self.known(element, each, partners, own)
                                        for each in stream.list(word, element)))
                else:
                    partner = kind == rfn_text.RANK and function.class_ not in ROOTED
                    inputs.append(self.known(kind, word, partner, own))
            found.append((stream.thread, function.name, event.symbol.path, tuple(inputs)))
        return tuple(found)

    def calls(self):
        return tuple((stream.thread, function.name, event.symbol.path) for stream, event, function in self.events())

    def paper(self):
        """Table 1: averages of counts and of partners' offsets, a bit for each type, operation, communicator."""
        sums, bits = collections.defaultdict(list), 0
        for stream, event, function in self.events():
            own = self.own(event, function)
            messages = rfn_text.SEND <= function.class_ <= rfn_text.RMA
            for word, (name, kind) in zip(event.inputs, function.inputs):
                element = kind & ~rfn_text.LIST
                for each in stream.list(word, element) if kind & rfn_text.LIST else [word]:
                    bits |= self.bit(element, each)
                    if element == rfn_text.COUNT and messages and each >= 0:
                        sums[0].append(each)
                if kind == rfn_text.RANK and messages and function.class_ not in ROOTED and 0 <= word < own[1]:
                    sums[32 if name == "source" else 16].append((word - own[0]) % own[1])
        for shift, values in sums.items():
            bits |= sum(values) // len(values) % 65536 << shift
        return bits

    def fields(self):
        """Per call path, in order of its first call, and input that is compared: the different words in order of first
        occurrence; of counts the least and the most (doc/clustering.md, Parameters). Without lists of partners, and
        inputs with more than 64 values."""
        found = collections.defaultdict(dict)
        for stream, event, function in self.events():
            own, of_call = self.own(event, function), found[function.name, event.symbol.path]
            comms = [self.known(kind, word, False, own) for word, (_, kind) in zip(event.inputs, function.inputs)
                     if kind == rfn_text.COMM]
            for i, (word, (_, kind)) in enumerate(zip(event.inputs, function.inputs)):
                partner = kind == rfn_text.RANK and function.class_ not in ROOTED
                if kind & ~rfn_text.LIST in COUNTS:
                    words = stream.list(word, kind & ~rfn_text.LIST) if kind & rfn_text.LIST else [word]
                    least, most = of_call.get(i, (words[0], words[0]))
                    of_call[i] = min(least, *words), max(most, *words)
                elif kind in COMPARED:
                    word = self.known(kind, word, partner, own)
                    of_call.setdefault(i, {})[(word, own[1], *comms) if partner else word] = True
        return [(call, i, tuple(words), isinstance(words, tuple))
                for call, of_call in found.items() for i, words in [(-1, {}), *of_call.items()]]

    def bit(self, kind, word):
        types = ["MPI_CHAR", "MPI_INTEGER", "MPI_INT", "MPI_DOUBLE", "MPI_FLOAT", "MPI_BYTE"]
        ops = ["MPI_MAX", "MPI_MIN", "MPI_SUM", "MPI_PROD", "MPI_LAND", "MPI_LOR"]
        if kind == rfn_text.TYPE and word >= 0:
            name = self.archive.datatypes[word][0]
            return 1 << 48 + (types.index(name) if name in types else 6)
        if kind == rfn_text.OP and word != -1:
            name = rfn_text.handle_text(kind, word)
            return 1 << 55 + (ops.index(name) if name in ops else 6)
        if kind == rfn_text.COMM and word >= 0:
            return {rfn_reader.SELF: 1 << 62, rfn_reader.WORLD: 1 << 63}.get(self.archive.comms[word].kind, 0)
        return 0


COUNTS = (rfn_text.COUNT, rfn_text.BYTES)
COMPARED = (rfn_text.RANK, rfn_text.TYPE, rfn_text.OP, rfn_text.COMM, rfn_reader.KIND_PLACE)


def alike(lead, other):
    """Whether fields have as many words, and equal ones, counts within 5 % of the first one's."""
    return len(lead) == len(other) and all(
        (call, i) == (call_, i_) and len(words) == len(words_) and
        (all(20 * abs(a - b) <= abs(a) for a, b in zip(words, words_)) if are_counts else words == words_)
        for (call, i, words, are_counts), (call_, i_, words_, _) in zip(lead, other))


def subs_of(main, fields):
    """Sub-clusters of a main cluster's ranks: the lowest one that is in none takes in all that are like it."""
    left, found_ = sorted(main), []
    while left:
        found_.append([rank for rank in left if alike(fields[left[0]], fields[rank])])
        left = [rank for rank in left if rank not in found_[-1]]
    return found_


def xor(calls, call_hashes):
    """The exclusive or of ((i mod 10) + 1) times the call hash, which is drawn at random: what has the same for any
    call hashes is equal by the formula, and not because addresses happened to be as they are."""
    found = 0
    for i, call in enumerate(calls):
        found ^= (i % 10 + 1) * call_hashes[call] & MASK
    return found


def ranks_of(archive):
    streams = collections.defaultdict(list)
    for stream in archive.streams:
        streams[stream.rank].append(stream)
    return [Rank(archive, streams[rank]) for rank in sorted(streams)]


def partition(keys):
    """Lists of ranks that have the same key."""
    found = collections.defaultdict(list)
    for rank, key in enumerate(keys):
        found[key].append(rank)
    return sorted(found.values())


def computed(path):
    """By form, main clusters and sub-clusters as lists of ranks."""
    archive, draw = rfn_reader.Archive(path), random.Random(7)
    call_hashes = collections.defaultdict(lambda: draw.getrandbits(64))
    ranks = ranks_of(archive)
    calls, paper = [rank.calls() for rank in ranks], [rank.paper() for rank in ranks]
    xors = [xor(each, call_hashes) for each in calls]
    return {"reference": (partition(calls), partition(rank.reference() for rank in ranks)),
            "paper": (partition(xors), partition(zip(xors, paper)))}


# ---- what the command says ----

def listed(blocks):
    ranks = []
    for block in blocks:
        of_block = [block["start"]]
        for count, stride in block["dimensions"]:
            of_block = [rank + i * stride for rank in of_block for i in range(count)]
        ranks += of_block
    return sorted(ranks)


def found(bench, archive, form):
    mains = test_clusters.clusters(bench, archive, form)["clusters"]
    return (sorted(listed(main["ranks"]) for main in mains),
            sorted(listed(sub["ranks"]) for main in mains for sub in main["subs"]))


def check_computed(bench, what, archive):
    for form, expected in computed(archive).items():
        for level, got, wanted in zip(("main clusters", "sub-clusters"), found(bench, archive, form), expected):
            harness.compare(f"{what}, {form}: {level}", got, wanted)


def check_kept(bench, what, archive):
    """Ranks that the reference does not tell apart are not told apart by any other form."""
    of_form = {form: found(bench, archive, form)[1] for form in ("elastic", "strict", "xor", "paper", "reference")}
    for form, subs in of_form.items():
        number = {rank: i for i, sub in enumerate(subs) for rank in sub}
        for sub in of_form["reference"]:
            harness.compare(f"{what}, {form}: clusters of {sub}", len({number[rank] for rank in sub}), 1)


# ---- tests ----

def check_fields(bench, what, archive):
    """The default form: sub-clusters within the main ones that the command has."""
    mains, subs = found(bench, archive, "elastic")
    fields = [rank.fields() for rank in ranks_of(rfn_reader.Archive(archive))]
    harness.compare(f"{what}: sub-clusters", subs, sorted(sub for main in mains for sub in subs_of(main, fields)))


def test_fields(bench):
    """All programs, also those of which nobody knows beforehand how many sub-clusters they have."""
    for name, program in test_clusters.PROGRAMS.items():
        for ranks in {16 if 16 in program.sizes else 12, 64}:
            check_fields(bench, f"{name} on {ranks} ranks", test_clusters.simulate(bench, name, ranks))


@harness.long
def test_computed(bench):
    """All programs: who is in which cluster."""
    for name, program in test_clusters.PROGRAMS.items():
        for ranks in {16 if 16 in program.sizes else 12, 64}:
            archive = test_clusters.simulate(bench, name, ranks)
            check_computed(bench, f"{name} on {ranks} ranks", archive)
            check_kept(bench, f"{name} on {ranks} ranks", archive)


def test_columns(bench):
    """The same where partners and counts have too many values for the structure, and of a clustered archive."""
    archive = test_clusters.simulate(bench, "pairwise", 128)
    check_computed(bench, "pairwise on 128 ranks", archive)
    check_computed(bench, "the same clustered", test_clusters.clustered(bench, archive))


# Ranks of a sub-cluster of these programs have the same parameters in each call, which all follow from their place
# on the grid: tags, roots and counts are the same on all ranks, so that nothing but partners, colours and keys
# differs, and the reference has as many clusters as are derived for sub-clusters (test_clusters.py). No two ranks of
# cg have the same partners: their distances within the row tell the column, and how far the transposed place is,
# (column - row) (R - 1) on R x R ranks, the row.
REFERENCE = {"sweep2d": lambda ranks: 9, "adi": lambda ranks: 3, "open_ring": lambda ranks: 3,
             "transpose": lambda ranks: ranks, "cg": lambda ranks: ranks, "cylinder": lambda ranks: 3,
             "pairwise": lambda ranks: 1}


@harness.long
def test_reference(bench):
    for name, expected in REFERENCE.items():
        for ranks in (64, 128 if name == "pairwise" else 256):
            facts = test_clusters.clusters(bench, test_clusters.simulate(bench, name, ranks), "reference")
            mains = test_clusters.PROGRAMS[name].expected(ranks)[0]
            harness.compare(f"{name} on {ranks} ranks", test_clusters.counts(facts),
                            (mains, expected(ranks), expected(ranks)))


def cg_averages(ranks):
    """How many different averages the partners' distances have, round all ranks, that cg.c makes in an iteration."""
    side = int(ranks ** 0.5)
    found_ = set()
    for rank in range(ranks):
        row, column = divmod(rank, side)
        partners = [row * side + (column ^ 1 << bit) for bit in range(side.bit_length() - 1)]
        distances = [(partner - rank) % ranks for partner in [*partners, column * side + row]]
        found_.add(sum(distances) // len(distances))
    return len(found_)


def test_paper(bench):
    """Main clusters are those that the paper has for the programs that these resemble: of sweep2d nine (LU, Sweep3D),
    of open_ring three (IS), of adi one (BT, SP).

    Sub-clusters of adi are the paper's three: q x q ranks send to both neighbours in each of three directions
    equally often, and on n = q * q ranks the distances of the two that are one row apart add up to n, of those one
    column apart to n, but q in the first column and 2 n - q in the last, and of those on the diagonal to n, but n + q
    in the first column and n - q in the last. That is 3 n, 2 n + 2 q, 4 n - 2 q, another average for q >= 4.
    Colour, key and roots are not in Table 1, so that transpose has one sub-cluster."""
    for name, expected in (("sweep2d", (9, 9)), ("adi", (1, 3)), ("open_ring", (3, 3)), ("transpose", (1, 1)),
                           ("pairwise", (1, 1))):
        for ranks in (16, 64) if name != "pairwise" else (12, 64):
            facts = test_clusters.clusters(bench, test_clusters.simulate(bench, name, ranks), "paper")
            harness.compare(f"{name} on {ranks} ranks", test_clusters.counts(facts), (*expected, expected[1]))
    for ranks in (16, 64):
        facts = test_clusters.clusters(bench, test_clusters.simulate(bench, "cg", ranks), "paper")
        harness.compare(f"cg on {ranks} ranks", test_clusters.counts(facts)[:2], (1, cg_averages(ranks)))


LISTS = "  Lists are compared by their least and most only."
MANY = "  Inputs with more than 64 values are compared by their least and most only."
ALWAYS = "  Of the counts of a call path the least and the most are compared, within 5 %; tags are not."
# What lost.c hides: how many sub-clusters the reference finds on so many ranks, and what the page owns up to.
LOST = {"tags": (lambda ranks: ranks, None), "order": (lambda ranks: 2, None), "lists": (lambda ranks: ranks, LISTS),
        "many": (lambda ranks: ranks, MANY)}


def check_lost(bench, what, archive, ranks):
    """Nothing of it is in parameters; the page says what is not compared, and the reference finds it."""
    of_reference, line = LOST[what]
    for form, subs in (("elastic", 1), ("strict", 1), ("paper", 1), ("reference", of_reference(ranks))):
        facts = test_clusters.clusters(bench, archive, form)
        harness.compare(f"{what}, {form}", test_clusters.counts(facts)[:2], (1, subs))
    extremes = test_clusters.clusters(bench, archive)["compared_by_extremes"]
    harness.compare(f"{what}: extremes", extremes, {"lists": line == LISTS, "many_values": line == MANY})
    pages = {form: bench.verb("info", f"--clusters={form}", archive).split("\n") for form in ("elastic", "reference")}
    said = [[each in page for each in (ALWAYS, LISTS, MANY)] for page in pages.values()]
    harness.compare(f"{what}: pages", said, [[True, line == LISTS, line == MANY], [False] * 3])
    check_computed(bench, what, archive)


def test_lost(bench):
    program = test_smpi.smpi_program(bench, os.path.join(FOLDER, "lost.c"))
    for what in LOST:
        archive = test_smpi.smpi_run(bench, program, 16, [what], {"REFRAIN_TIME": "none"})
        check_lost(bench, what, archive, 16)


def test_lost_real(bench, flavour):
    program = bench.program(os.path.join(FOLDER, "lost.c"), flavour)
    for what in LOST:
        _, archive = bench.record(flavour, 4, [program, what], ["--time=none"])
        check_lost(bench, what, archive, 4)


def test_threads(bench, flavour):
    """A rank is all its threads; lists of requests, communicators, persistent requests."""
    for name in ("threads", "mixture"):
        program = bench.program(name, flavour)
        _, archive = bench.record(flavour, 2, [program], ["--time=none"], env={"EXPECT_OUT": bench.path("forms.log")})
        check_computed(bench, name, archive)


def test_usage(bench):
    run = bench.run([bench.refrain, "info", "--clusters=papers", "x.rfn"])
    harness.compare("exit", (run.code, "no form 'papers'" in run.err), (2, True))
