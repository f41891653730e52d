"""refrain predict: the same simulated times as SimGrid's own replay of the same traces.

Each run of smpirun replays sections of random traces (predict_traces.py), one behind the other with a barrier between them,
and tells when each rank had done its last action. Without contention both engines agree to 9 digits, with it within 1 %."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import harness
import predict_traces

MESSAGES = ("compute", "sleep", "message", "message", "message", "wait", "waitall", "ring", "halo")
LOOKS = MESSAGES + ("any_source", "test", "probe")
CALLS = MESSAGES + ("bcast", "reduce", "allreduce", "allgather", "alltoall")
SECTIONS = 10
STEPS = 20
DIGITS = 1e-9
CONTENTION = 0.01
COSTS = ('<prop id="smpi/os" value="0:1e-6:2e-10;1000:3e-6:1e-10"/><prop id="smpi/ois" value="0:2e-6:1e-10"/>'
         '<prop id="smpi/or" value="0:5e-6:3e-10;5000:7e-6:2e-10"/>')
FACTORS = '<prop id="smpi/bw-factor" value="100:0.5;1000:0.9"/><prop id="smpi/lat-factor" value="0:1.5;5000:2"/>'
ALIKE = '<prop id="network/weight-S" value="0"/><prop id="network/crosstraffic" value="0"/>'


def platform(config, body):
    return ("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            f'<platform version="4.1"><config>{config}</config>{body}</platform>\n')


def cluster(attributes):
    return f'<cluster id="c" prefix="h" suffix="" radical="0-63" {attributes}/>'


def apart(step):
    """Links that each message has for itself; the bandwidths of hosts differ by a step. SimGrid gives all messages on such a
    link no more than that one has whose bandwidth over its penalty is least, so that not everything may differ."""
    links = "".join(f'<host id="h{i}" speed="1Gf"/><link id="u{i}" bandwidth="200MBps" latency="20us" sharing_policy="FATPIPE"/>'
                    f'<link id="d{i}" bandwidth="{100 + step * i}MBps" latency="20us" sharing_policy="FATPIPE"/>'
                    f'<host_link id="h{i}" up="u{i}" down="d{i}"/>' for i in range(64))
    return f'<zone id="c" routing="Cluster">{links}</zone>'


PLATFORMS = {
    "apart": platform(COSTS, apart(0)),
    "apart, differing": platform(COSTS + FACTORS + ALIKE, apart(1)),
    "crossbar": platform(COSTS, cluster('speed="1Gf" bw="125MBps" lat="50us"')),
    "backbone": platform("", cluster('speed="2Gf" bw="1.25GBps" lat="1us" bb_bw="5GBps" bb_lat="2us"')),
    "half duplex": platform(FACTORS, cluster('speed="2Gf" bw="125MBps" lat="10us" sharing_policy="SHARED"')),
    "torus": platform(COSTS, cluster('speed="1Gf" bw="1GBps" lat="2us" topology="TORUS" topo_parameters="4,4,4"')),
}


def in_sections(ranks, seed, kinds):
    trace = predict_traces.Trace(ranks, seed, kinds)
    for _ in range(SECTIONS):
        trace.grow(STEPS)
        for rank in range(ranks):
            trace.waitall(rank)
            trace.add(rank, "barrier")
    return trace.finish()


class Case:
    """A trace, a platform and hosts in a folder."""

    def __init__(self, bench, name, trace):
        self.folder = pathlib.Path(bench.fresh("predict"))
        self.folder.mkdir()
        self.ranks = trace.ranks
        self.trace = trace.write(self.folder, "trace")
        self.platform = self.folder / "platform.xml"
        self.platform.write_text(PLATFORMS[name])
        self.hosts = self.folder / "hosts"
        self.hosts.write_text("".join(f"h{i}\n" for i in range(64)))

    def simgrid(self):
        """When each rank's last barrier was over."""
        command = ["smpirun", "-np", str(self.ranks), "-hostfile", self.hosts, "-platform", self.platform,
                   "--cfg=surf/precision:1e-12", "--cfg=smpi/host-speed:1Gf", "--log=root.fmt:%.14r|%m%n",
                   "--log=smpi_replay.thres:verbose", "-replay", self.trace]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=self.folder, check=False)
        ends = [[] for _ in range(self.ranks)]
        for time, rank in re.findall(r"^([0-9.]+)\|(\d+) barrier ", done.stdout + done.stderr, re.M):
            ends[int(rank)].append(float(time))
        if done.returncode or any(len(times) != SECTIONS for times in ends):
            raise harness.Failure(f"smpirun failed: {' '.join(map(str, command))}\n{done.stderr[-800:]}")
        return [times[-1] for times in ends]

    def refrain(self, bench, *words):
        run = bench.run([bench.refrain, "predict", str(self.trace), "--platform", str(self.platform), "--hosts", str(self.hosts), "--json",
                         *words], check=True)
        return json.loads(run.out)


def farthest(ours, theirs):
    return max(abs(a - b) / b for a, b in zip(ours, theirs))


def compare(bench, name, trace, off, *words):
    case = Case(bench, name, trace)
    theirs = case.simgrid()
    found = case.refrain(bench, *words)
    ours = [rank["end_seconds"] for rank in found["by_rank"]]
    if not farthest(ours, theirs) <= off:
        raise harness.Failure(f"{case.folder} on {name} {words}: ranks end at {ours}, for SimGrid at {theirs}")
    harness.compare("run time", found["predicted_seconds"], max(ours))
    shutil.rmtree(case.folder)


def test_without_contention(bench):
    """Both ways to simulate it give SimGrid's times."""
    for seed, (ranks, kinds) in enumerate(((4, LOOKS), (16, LOOKS), (64, MESSAGES), (8, CALLS), (13, CALLS),
                                             (48, MESSAGES), (5, LOOKS))):
        name = "apart" if seed % 2 else "apart, differing"
        trace = in_sections(ranks, seed, kinds)
        compare(bench, name, trace, DIGITS, "--no-contention")
    compare(bench, "apart", in_sections(12, 77, LOOKS), DIGITS)


def test_with_contention(bench):
    for seed, name in enumerate(("crossbar", "backbone", "half duplex", "torus")):
        for ranks, kinds in ((4, LOOKS), (24, MESSAGES), (13, CALLS)):
            compare(bench, name, in_sections(ranks, 100 * seed + ranks, kinds), CONTENTION)
