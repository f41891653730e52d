"""Random traces of what ranks do, in SimGrid's dialect of text, that never deadlock.

A trace is made in one global order: each step appends to its ranks what they do in it, and no rank
waits for what a later step does. Messages of a channel are sent and received in the same order.
"""

import random

WORLD = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall")
SIZES = (0, 1, 100, 257, 1000, 3484, 8000, 20000, 65535, 65536, 100000, 1000000)


class Trace:
    """Lines by rank. kinds: names of steps (methods), collectives are names of WORLD."""

    def __init__(self, ranks, seed, kinds):
        self.ranks, self.kinds = ranks, kinds
        self.random = random.Random(seed)
        self.lines = [[f"{rank} init"] for rank in range(ranks)]
        self.open = [[] for _ in range(ranks)]  # requests, as (source, target, tag)
        self.tag = 100

    def add(self, rank, line):
        self.lines[rank].append(f"{rank} {line}")

    def bytes(self):
        """Often at the thresholds of the model."""
        return max(0, self.random.choice(SIZES) + self.random.choice((0, 0, -1, 1, 13)))

    def pair(self):
        return self.random.sample(range(self.ranks), 2)

    def new_tag(self):
        self.tag += 1
        return self.tag

    # ---- steps ----

    def compute(self):
        self.add(self.random.randrange(self.ranks), f"compute {self.random.randrange(10 ** 7)}")

    def sleep(self):
        self.add(self.random.randrange(self.ranks), f"sleep {self.random.random() * 1e-3:.9f}")

    def message(self):
        """Each end blocks or not."""
        (a, b), size, tag = self.pair(), self.bytes(), self.random.randint(1, 3)
        send = self.random.choice(("send", "isend"))
        early = self.random.random() < 0.5
        if early:
            self.add(b, f"irecv {a} {tag} {size} 6")
            self.open[b].append((a, b, tag))
        self.add(a, f"{send} {b} {tag} {size} 6")
        if send == "isend":
            self.open[a].append((a, b, tag))
        if not early:
            self.add(b, f"recv {a} {tag} {size} 6")

    def wait(self):
        rank = self.random.randrange(self.ranks)
        if self.open[rank]:
            key = self.random.choice(self.open[rank])
            self.open[rank].remove(key)
            self.add(rank, "wait {} {} {}".format(*key))

    def waitall(self, rank=None):
        rank = self.random.randrange(self.ranks) if rank is None else rank
        if self.open[rank]:
            self.add(rank, "waitall")
            self.open[rank] = []

    def ring(self):
        """Exchanges around a ring of some ranks."""
        members = self.random.sample(range(self.ranks), self.random.randint(2, self.ranks))
        size = self.bytes()
        for i, rank in enumerate(members):
            right, left = members[(i + 1) % len(members)], members[i - 1]
            self.add(rank, f"sendRecv {size} {right} {size} {left} 6 6")

    def halo(self):
        """Everybody exchanges with the neighbours, and waits for all."""
        size, tag = self.bytes(), self.new_tag()
        for rank in range(self.ranks):
            for step in (1, self.ranks - 1):
                self.add(rank, f"irecv {(rank + step) % self.ranks} {tag} {size} 6")
            for step in (1, self.ranks - 1):
                self.add(rank, f"isend {(rank + step) % self.ranks} {tag} {size} 6")
            self.add(rank, "waitall")
            self.open[rank] = []

    def any_source(self):
        """A master takes what comes."""
        master, size, tag = self.random.randrange(self.ranks), self.bytes(), self.new_tag()
        workers = [rank for rank in range(self.ranks) if rank != master]
        workers = self.random.sample(workers, self.random.randint(1, len(workers)))
        for rank in workers:
            self.add(rank, f"compute {self.random.randrange(10 ** 6)}")  # equal times come in any order
            self.add(rank, f"send {master} {tag} {size} 6")
            self.add(master, f"recv -555 {tag} {size} 6")

    def test(self):
        (a, b), size, tag = self.pair(), self.bytes(), self.new_tag()
        self.add(b, f"irecv {a} {tag} {size} 6")
        for _ in range(self.random.randint(1, 3)):
            self.add(b, f"test {a} {b} {tag}")
        self.add(a, f"send {b} {tag} {size} 6")
        self.open[b].append((a, b, tag))
        self.waitall(b)  # SimGrid fails in a wait for what a test saw, where it is the last request

    def probe(self):
        (a, b), size, tag = self.pair(), self.bytes(), self.new_tag()
        self.add(a, f"send {b} {tag} {size} 6")
        self.add(b, f"recv {a} {tag} -1 6")

    def collective(self, name):
        size, root = self.bytes() // 8, self.random.randrange(self.ranks)
        flops = self.random.randrange(10 ** 5)
        arguments = {"barrier": "", "bcast": f"{size} {root} 0", "reduce": f"{size} {flops} {root} 0",
                     "allreduce": f"{size} {flops} 0", "gather": f"{size} {size} {root} 0 0",
                     "scatter": f"{size} {size} {root} 0 0", "allgather": f"{size} {size} 0 0",
                     "alltoall": f"{size // 16} {size // 16} 0 0"}[name]
        for rank in range(self.ranks):
            self.add(rank, f"{name} {arguments}".rstrip())

    # ---- the whole ----

    def grow(self, steps):
        for _ in range(steps):
            kind = self.random.choice(self.kinds)
            self.collective(kind) if kind in WORLD else getattr(self, kind)()
        return self

    def finish(self):
        for rank in range(self.ranks):
            self.waitall(rank)
            self.add(rank, "finalize")
        return self

    def write(self, folder, name):
        """One file per rank, and the list of them, whose path is returned."""
        names = []
        for rank, lines in enumerate(self.lines):
            path = folder / f"{name}.{rank}"
            path.write_text("\n".join(lines) + "\n")
            names.append(str(path))
        listed = folder / f"{name}.lst"
        listed.write_text("\n".join(names) + "\n")
        return listed
