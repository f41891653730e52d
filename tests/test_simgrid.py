"""The program that runs actions on libsimgrid, beside SimGrid's own replay of the same text: the same
times, whether collective calls are SimGrid's actions or the messages of collective_ops.h."""
import json
import os
import pathlib

import harness
import predict_traces

SIMULATED = True

CLUSTER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  {config}
  <cluster id="c" prefix="n" suffix="" radical="0-63" speed="1Gf" {attributes}/>
</platform>
"""
# Times to send and receive, messages that are over at once, and ones that set off late.
CONFIG = """<config id="General">
    <prop id="smpi/os" value="0:8.9e-06:7.8e-10;1420:1.4e-05:8.7e-10;33956:3.6e-05:2.6e-10"/>
    <prop id="smpi/ois" value="0:6.1e-06:8.7e-10;1420:4.2e-06:1e-9"/>
    <prop id="smpi/or" value="0:8.4e-06:1e-09;1420:9.3e-06:1.1e-9"/>
    <prop id="smpi/async-small-thresh" value="1400"/>
    <prop id="smpi/send-is-detached-thresh" value="65536"/>
  </config>"""
PLATFORMS = {
    "crossbar": CLUSTER.format(config="", attributes='bw="125MBps" lat="50us" sharing_policy="FATPIPE"'),
    "backbone": CLUSTER.format(config=CONFIG, attributes='bw="1GBps" lat="10us" bb_bw="2GBps" bb_lat="5us"'),
    "torus": CLUSTER.format(config="", attributes='bw="125MBps" lat="20us" topology="TORUS" topo_parameters="4,4,4"'),
}
VECTORS = ("gatherv", "scatterv", "allgatherv", "alltoallv", "reducescatter")
SCANS = ("scan", "exscan")


class Trace(predict_traces.Trace):
    """Steps of all kinds of collective calls."""

    def vector(self, name, sizes=None):
        """scatterv without types: SimGrid takes a count for one of them."""
        sizes = sizes or [self.random.choice((0, 1, 2)) * (self.bytes() // 16) for _ in range(self.ranks)]
        root = self.random.randrange(self.ranks)
        counts = " ".join(map(str, sizes))
        matrix = [[sizes[(row + 3 * column) % self.ranks] for column in range(self.ranks)] for row in range(self.ranks)]
        for rank in range(self.ranks):
            sends, receives = matrix[rank], [row[rank] for row in matrix]
            self.add(rank, {
                "gatherv": f"gatherv {sizes[rank]} {counts} {root} 1 1",
                "scatterv": f"scatterv {counts} {sizes[rank]} {root}",
                "allgatherv": f"allgatherv {sizes[rank]} {counts} 1 1",
                "alltoallv": f"alltoallv {sum(sends)} {' '.join(map(str, sends))} "
                             f"{sum(receives)} {' '.join(map(str, receives))} 1 1",
                "reducescatter": f"reducescatter {' '.join([str(max(sizes))] * self.ranks)} 1000 1"}[name])

    def grow(self, steps):
        for _ in range(steps):
            kind = self.random.choice(self.kinds)
            if kind in VECTORS:
                self.vector(kind)
            elif kind in SCANS:
                size = self.bytes() // 8
                for rank in range(self.ranks):
                    self.add(rank, f"{kind} {size} 5000 0")
            elif kind in predict_traces.WORLD:
                self.collective(kind)
            else:
                getattr(self, kind)()
        return self


KINDS = ("compute", "sleep", "message", "wait", "waitall", "ring", "halo", "test",
         *predict_traces.WORLD, *VECTORS, *SCANS)


class Place:
    """Files of a platform, its hosts in another order than their names, and a trace."""

    def __init__(self, bench, platform, trace):
        folder = pathlib.Path(bench.path("simgrid"))
        folder.mkdir(exist_ok=True)
        self.bench, self.ranks = bench, trace.ranks
        self.platform, self.hosts = str(folder / f"{platform}.xml"), str(folder / "hosts")
        pathlib.Path(self.platform).write_text(PLATFORMS[platform])
        pathlib.Path(self.hosts).write_text("".join(f"n{rank * 5 % 64}\n" for rank in range(64)))
        self.trace = str(trace.finish().write(folder, "trace"))

    def by_smpirun(self, *settings):
        run = self.bench.run(["smpirun", "-np", str(self.ranks), "-platform", self.platform, "-hostfile", self.hosts,
                              "-replay", self.trace, "--log=smpi_replay.fmt:[%.15r]%n",
                              *(f"--cfg={setting}" for setting in settings)], check=True)
        return float((run.out + run.err).rsplit("[", 1)[1].split("]")[0])

    def by_refrain(self, *options):
        run = self.bench.run([os.path.join(self.bench.build, "lib", "refrain-simgrid"), "--platform", self.platform,
                              "--hosts", self.hosts, *options, self.trace], check=True)
        return json.loads(run.out)

    def compare(self, what, options=(), settings=()):
        theirs, ours = self.by_smpirun(*settings), self.by_refrain(*options)
        if abs(ours["predicted_seconds"] - theirs) > 1e-12 * theirs:
            raise harness.Failure(f"{what}: {ours['predicted_seconds']!r} s, smpirun: {theirs!r} s")
        return ours


def test_traces(bench):
    for seed, ranks in enumerate((2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17)):
        platform = list(PLATFORMS)[seed % 3]
        trace = Trace(ranks, seed, KINDS).grow(20)
        place = Place(bench, platform, trace)
        ours = place.compare(f"seed {seed}, {platform}")
        harness.compare("ranks", len(ours["ranks"]), ranks)
        harness.compare("actions", ours["actions"], sum(map(len, trace.lines)))
        harness.compare("end", max(rank["end"] for rank in ours["ranks"]), ours["predicted_seconds"])
        for rank in ours["ranks"]:
            parts = rank["compute"] + rank["sleep"] + rank["messages"]
            if abs(parts - rank["end"]) > 1e-9:
                raise harness.Failure(f"seed {seed}: the parts of {rank} are {parts} s")
        as_messages = place.by_refrain("--messages")["predicted_seconds"]
        if abs(as_messages - ours["predicted_seconds"]) > 1e-12 * as_messages:
            raise harness.Failure(f"seed {seed}: {as_messages!r} s by messages, {ours['predicted_seconds']!r} s")


# What our choice uses for so many ranks and bytes, and the name that SMPI has for it.
ALGORITHMS = (
    ("mpich", "barrier", 13, 0, "barrier:ompi_bruck"),
    ("mpich", "bcast", 16, 20000, "bcast:scatter_rdb_allgather"),
    ("mpich", "bcast", 13, 20001, "bcast:scatter_LR_allgather"),
    ("mpich", "reduce", 13, 100, "reduce:binomial"),
    ("mpich", "reduce", 13, 30001, "reduce:scatter_gather"),
    ("mpich", "allreduce", 13, 100, "allreduce:rdb"),
    ("mpich", "allreduce", 13, 30001, "allreduce:rab_rdb"),
    ("mpich", "gather", 13, 5000, "gather:ompi_binomial"),
    ("mpich", "allgather", 16, 1000, "allgather:rdb"),
    ("mpich", "allgather", 13, 1000, "allgather:bruck"),
    ("mpich", "allgather", 13, 100000, "allgather:NTSLR"),
    ("mpich", "alltoall", 13, 100, "alltoall:bruck"),
    ("mpich", "alltoall", 16, 40000, "alltoall:pair"),
    ("mpich", "alltoall", 13, 40000, "alltoall:ring"),
    ("mpich", "allgatherv", 16, 100, "allgatherv:mpich_rdb"),
    ("mpich", "allgatherv", 13, 100, "allgatherv:ompi_bruck"),
    ("mpich", "reducescatter", 13, 100, "reduce_scatter:ompi_basic_recursivehalving"),
    ("mpich", "reducescatter", 13, 200000, "reduce_scatter:mpich_pair"),
    ("ompi", "barrier", 13, 0, "barrier:ompi_recursivedoubling"),
    ("ompi", "reduce", 13, 5000, "reduce:ompi_binary"),
    ("ompi", "reduce", 32, 1900, "reduce:ompi_binomial"),
    ("ompi", "reduce", 3, 1000, "reduce:ompi_basic_linear"),
    ("ompi", "reducescatter", 13, 100000, "reduce_scatter:ompi_ring"),
    ("ompi", "allgather", 32, 5000, "allgather:ompi_neighborexchange"),
    ("ompi", "gather", 5, 3000, "gather:ompi_basic_linear"),
    ("ompi", "scatter", 13, 3000, "scatter:ompi_binomial"),
    ("ompi", "scatter", 5, 3000, "scatter:ompi_basic_linear"),
)


def test_algorithms(bench):
    for choice, kind, ranks, size, name in ALGORITHMS:
        trace, root = Trace(ranks, 1, KINDS), min(2, ranks - 1)
        for rank in range(ranks):
            trace.add(rank, f"compute {rank * 7919 % 50000}")
            if kind not in VECTORS:
                trace.add(rank, f"{kind} " + {
                    "barrier": "", "bcast": f"{size} {root} 6", "reduce": f"{size} 0 {root} 6", "allreduce": f"{size} 0 6",
                    "gather": f"{size} {size} {root} 6 6", "scatter": f"{size} {size} {root} 6 6",
                    "allgather": f"{size} {size} 6 6", "alltoall": f"{size} {size} 6 6"}[kind])
        if kind in VECTORS:
            trace.vector(kind, [size] * ranks)
        Place(bench, "crossbar", trace).compare(f"{choice}, {name}", ("--collectives", choice), (f"smpi/{name}",))


def test_words(bench):
    trace = Trace(2, 1, KINDS)
    trace.add(1, "recv 0 1 100 6")
    place = Place(bench, "crossbar", trace)
    good = {"--platform": place.platform, "--hosts": place.hosts, "": place.trace}
    for wrong, said in (({"--hosts": "/nowhere"}, "/nowhere"), ({"--platform": None}, "usage"),
                        ({"--collectives": "lam"}, "simgrid, mpich, ompi"), ({"--rate": "0"}, "--rate"),
                        ({"--wrong": "1"}, "--wrong"), ({"": "/nowhere"}, "/nowhere"), ({"--cfg": "smpi/no:1"}, "smpi/no"),
                        ({"--platform": place.hosts}, "SimGrid: Parse error"), ({}, "deadlock: rank 1 waits for ever in recv")):
        words = [word for name, value in {**good, **wrong}.items() if value for word in (name, value) if word]
        run = bench.run([os.path.join(bench.build, "lib", "refrain-simgrid"), *words])
        if run.code != (3 if "deadlock" in said else 1) or said not in run.err:
            raise harness.Failure(f"{words}: exit {run.code}: {run.err}")
