"""Runs that were predicted and then simulated: what `refrain whatif` says of a recorded run without its cause of
waiting, or on another network, beside a run of the program in which that is so.

Ranks of SMPI on a network with 10 us from node to switch and 1 GB/s, where small messages leave without their
receiver. Only what the programs ask for takes time besides.
"""
import json
import os

import harness
import pathologies
import test_smpi

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-1023" speed="1Gf" bw="%gBps" lat="%gus"/>
</platform>
"""
LATENCY_US, BYTES_PER_SECOND = 10, 1e9
# LogGP has one latency and one time per byte, and no way back.
SIMULATION = [*pathologies.SIMULATION, "--cfg=smpi/async-small-thresh:65536", "--cfg=smpi/bw-factor:0:1",
              "--cfg=network/crosstraffic:0"]


def simulate(bench, program, ranks, arguments, latency=1, per_byte=1):
    """The archive of a run on a network whose latency and time per byte are so many times as long."""
    platform, archive = bench.fresh("platform.xml"), bench.fresh("simulated.rfn")
    with open(platform, "w", encoding="ascii") as file:
        file.write(PLATFORM % (BYTES_PER_SECOND / per_byte, LATENCY_US * latency))
    bench.run(["smpirun", "-np", str(ranks), "-platform", platform, *SIMULATION, program, *arguments],
              env={"REFRAIN_TIME": "full", "REFRAIN_OUTPUT": archive}, check=True)
    return archive


def whatif(bench, archive, *options):
    return json.loads(bench.verb("whatif", "--json", *options, archive))


class Row:
    """A prediction and its truth, in seconds."""

    def __init__(self, name, ranks, assumed, recorded, predicted, true):
        self.name, self.ranks, self.assumed = name, ranks, assumed
        self.recorded, self.predicted, self.true = recorded, predicted, true

    def error(self):
        """Of the run time."""
        return self.predicted / self.true - 1

    def missed(self):
        """Of the change: 1 where it is not predicted at all."""
        return abs(self.predicted - self.true) / abs(self.recorded - self.true)

    def text(self):
        return (f"| {self.name} | {self.ranks} | {self.assumed} | {self.recorded:.6f} | {self.predicted:.6f} | "
                f"{self.true:.6f} | {100 * self.error():+.3f} % | {100 * self.missed():.2f} % |")


HEADING = ("| program | ranks | assumed | recorded, s | predicted, s | simulated, s | off by | off, of the change |\n"
           "|---|---|---|---|---|---|---|---|")


def table(rows):
    return "\n".join([HEADING, *(row.text() for row in rows)])


# ---- without the cause ----

class Mended:
    """A pathology, the run time that it is predicted to take without its cause, and the parameters with which it has
    none. said: the options in short, where they are many."""

    def __init__(self, name, options, without, said=None, **numbers):
        self.program = next(program for program in pathologies.PROGRAMS if program.name == name)
        self.options, self.without, self.numbers = options, without, numbers
        self.said = said or " ".join(options)

    def row(self, bench):
        program, ranks = pathologies.compiled(bench, self.program.source), self.program.ranks
        archives = [simulate(bench, program, ranks, self.program.arguments(**{**self.numbers, **more}))
                    for more in ({}, self.without)]
        found, true = whatif(bench, archives[0], *self.options), whatif(bench, archives[1])
        return Row(self.program.name, ranks, f"`{self.said}`", found["recorded_seconds"], found["predicted_seconds"],
                   true["recorded_seconds"])


def unequal_ranks(ranks):
    """Each rank of imbalance_at_barrier computes as long as rank 0, and so a third of what the last one did."""
    for rank in range(1, ranks):
        yield from ("--scale", f"compute:unequal_work@{rank}={1 / (1 + 2 * rank / (ranks - 1))!r}")


def quiet(*functions):
    """No computation is interrupted."""
    return [word for function in functions for word in ("--cap", f"compute:{function}=1ms")]


THIRD = f"={1 / 3!r}"  # 10 ms instead of 30 ms
NOISY = {"Nto1": quiet("collect", "give"), "1toN": quiet("broadcast", "take"), "1to1r": quiet("send", "receive"),
         "1to1s": quiet("send", "receive"), "NtoN": quiet("iterate")}
MENDED = [
    *(Mended(name, ["--scale", f"compute:{function}{THIRD}"], {"extra": 0}, f"--scale compute:{function}=1/3")
      for name, function in (("early_gather", "give_late"), ("late_receiver", "receive_late"),
                             ("late_sender", "send_late"), ("late_broadcast", "broadcast_late"))),
    Mended("imbalance_at_barrier", list(unequal_ranks(8)), {"extra": 0}, "--scale compute:unequal_work@1=7/9, ... @7=1/3"),
    *(Mended(f"{name}_{nodes}", options, {"nodes": 0}, iterations=200)
      for nodes in (32, 1024) for name, options in NOISY.items()),
    Mended("dyn_load_balance", ["--cap", "compute:slower=1ms"], {"step": 0}, iterations=200),
    *(Mended(name, ["--remove", "wait:MPI_Recv"], {"apart": 1}, iterations=5) for name in ("sweep_8p", "sweep_32p"))]


def mended(bench):
    return [one.row(bench) for one in MENDED]


# ---- on another network ----

def calibrated(bench):
    """The file that refrain calibrate writes of this network."""
    platform, found = bench.fresh("platform.xml"), bench.fresh("network.json")
    with open(platform, "w", encoding="ascii") as file:
        file.write(PLATFORM % (BYTES_PER_SECOND, LATENCY_US))
    program = os.path.join(bench.build, "lib", "refrain-calibrate-smpi")
    bench.run(["smpirun", "-np", "2", "-platform", platform, *SIMULATION, program, found], check=True)
    return found


def further(bench):
    """The pathologies where latency is three times as long."""
    network, rows = calibrated(bench), []
    for one in MENDED:
        program, ranks = pathologies.compiled(bench, one.program.source), one.program.ranks
        recorded, true = (simulate(bench, program, ranks, one.program.arguments(**one.numbers), latency)
                          for latency in (1, 3))
        found = whatif(bench, recorded, "--network", network, "--top", "1", "--scale", "L=3")
        rows.append(Row(one.program.name, ranks, "`--network ... --scale L=3`", found["recorded_seconds"],
                        found["predicted_seconds"], whatif(bench, true, "--top", "1")["recorded_seconds"]))
    return rows

class Elsewhere:
    """A program on a network whose latency or time per byte is so many times as long."""

    def __init__(self, name, source, arguments, scales, ranks=8):
        self.name, self.source, self.arguments = name, source, arguments
        self.scales, self.ranks = scales, ranks

    def rows(self, bench):
        program = test_smpi.smpi_program(bench, self.source)
        recorded = simulate(bench, program, self.ranks, self.arguments)
        for parameter, factor in self.scales:
            keyword = {"L": "latency", "G": "per_byte"}[parameter]
            true = simulate(bench, program, self.ranks, self.arguments, **{keyword: factor})
            found = whatif(bench, recorded, "--scale", f"{parameter}={factor}")
            yield Row(self.name, self.ranks, f"`--scale {parameter}={factor}`", found["recorded_seconds"],
                      found["predicted_seconds"], whatif(bench, true)["recorded_seconds"])


SHAPES = os.path.join(harness.PROGRAMS, "network.c")
FURTHER, NEARER, NARROWER, WIDER = ("L", 3), ("L", 0.2), ("G", 4), ("G", 0.25)
ELSEWHERE = [
    *(Elsewhere(f"{shape}, 8 bytes", SHAPES, [shape, "8", "20", "100"], [FURTHER, NEARER])
      for shape in ("chain", "ring", "halo", "pairs", "Barrier", "Bcast", "Allreduce", "Allgather", "Alltoall", "Scan")),
    *(Elsewhere(f"{shape}, 40 kB", SHAPES, [shape, "40000", "20", "500"], [FURTHER, NARROWER, WIDER])
      for shape in ("chain", "ring", "halo", "pairs")),
    Elsewhere("sweep", pathologies.SWEEPS[0].source, ["--work", "0.0001", "--iterations", "5"], [FURTHER, NEARER])]


def elsewhere(bench):
    return [row for one in ELSEWHERE for row in one.rows(bench)]


# ---- the page ----

PAGE = os.path.join(harness.HERE, "..", "doc", "whatif.md")
BEGIN = "<!-- tools/whatif_table.py writes from here on -->\n"
END = "<!-- to here -->\n"
TABLES = {"mended": mended, "further": further, "elsewhere": elsewhere}
TITLES = {"mended": "Without the cause:", "further": "The pathologies where latency is three times as long, with calibrated parameters:",
          "elsewhere": "Other programs on other networks, with parameters that the run itself shows:"}


def section(found):
    """found: rows by name of the table."""
    return "\n" + "".join(f"{TITLES[name]}\n\n{table(found[name])}\n\n" for name in TABLES)


def page_parts():
    """What stands before the section, the section, and what stands behind it."""
    with open(PAGE, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    there, after = rest.split(END)
    return before, there, after


def write_page(found):
    before, _, after = page_parts()
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + section(found) + END + after)
