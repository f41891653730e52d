"""Many ranks in one process, in simulated time: the recorder linked statically under SMPI."""
import json
import os
import re

import harness
import rfn_reader
import rfn_text
import test_events as test_events_module

SIMULATED = True
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-1023" speed="1Gf" bw="1GBps" lat="10us"/>
</platform>
"""


# Only simulated time counts: not how long this machine computes between calls. SimGrid's own reduction takes
# time with the square of the ranks.
SIMULATION = ["--cfg=smpi/simulate-computation:no", "--cfg=smpi/reduce:binomial"]


def smpi_program(bench, source, recorded=True, before=None):
    """Compiles a program with smpicc, with the recorder in it; `before`: a header to include before all else."""
    library = os.path.join(bench.build, "lib", "librefrain-smpi.a")
    link = ["-Wl,--build-id", "-Wl,-Bsymbolic", "-Wl,--whole-archive", library,
            "-Wl,--no-whole-archive", "-lzstd", "-lunwind", "-ldw", "-lelf", "-ldl"]
    name = f"{os.path.basename(source)[:-2]}.smpi{'' if recorded else '.plain'}"
    return bench.compiled(name + (".computing" if before else ""), [
        "smpicc", "-O1", "-g", "-w", *(["-include", before] if before else []),
        "-I", harness.PROGRAMS, "-I", harness.INCLUDE, source,
        bench.region_library, *(link if recorded else []), "-lm"])


def smpi_launch(bench, program, ranks, arguments=(), env=None, seconds=300, options=(), nodes=None, machine=PLATFORM):
    """Runs on simulated nodes, with full times unless env says something else, for so many seconds of this machine
    at most; options: more of SimGrid's; nodes: the number of each rank's, else its own. The run and the path of the
    archive, if it makes one."""
    platform = bench.path("platform.xml")
    with open(platform, "w", encoding="ascii") as file:
        file.write(machine)
    archive = bench.path(f"{os.path.basename(program)}.{ranks}.rfn")
    places = []
    if nodes:
        places = ["-hostfile", bench.path("nodes")]
        with open(places[1], "w", encoding="ascii") as file:
            file.writelines(f"node-{node}\n" for node in nodes)
    run = bench.run(["smpirun", "-np", str(ranks), "-platform", platform, *places, *SIMULATION, *options, program,
                     *arguments],
                    env={"REFRAIN_TIME": "full", **(env or {}), "REFRAIN_OUTPUT": archive, "REFRAIN_FORCE": "1"},
                    timeout=seconds, check=True)
    return run, archive


def smpi_run(bench, program, ranks, arguments=(), env=None):
    """Runs on simulated nodes; the path of the archive."""
    return smpi_launch(bench, program, ranks, arguments, env)[1]


def info(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))


def check_halo(bench, ranks, steps):
    """The halo exchange on a torus: all ranks are alike, and every call is there."""
    program = smpi_program(bench, os.path.join(harness.HERE, "..", "examples", "halo.c"))
    run, archive = smpi_launch(bench, program, ranks, [str(steps), "4"])
    bench.verb("verify", archive)
    facts = info(bench, archive)
    # Init, Comm_size, Dims_create, Cart_create, Comm_rank, Cart_coords, 2 Cart_shift; per step 4
    # Irecv, 4 Isend, Waitall; every tenth step Allreduce; Comm_rank, Comm_free, Finalize.
    calls = ranks * (8 + steps * 9 + steps // 10 + 3)
    for name, expected in (("ranks", ranks), ("threads", ranks), ("calls", calls),
                           ("events", calls), ("groups", 1), ("complete", True)):
        harness.compare(name, facts[name], expected)
    return run, archive


def test_halo_256(bench):
    """A torus of 16 x 16."""
    check_halo(bench, 256, 20)


def test_halo_1024(bench):
    """A torus of 32 x 32: each rank's own events, and little memory for merging on any."""
    run, archive = check_halo(bench, 1024, 10)
    kibibytes = int(re.search(r"at most (\d+) KiB of memory on a rank", run.err).group(1))
    if not 1 <= kibibytes <= 8 << 10:
        raise harness.Failure(f"merging took {kibibytes} KiB on a rank")
    for rank in (0, 33, 1023):
        events = bench.dump(archive, "--rank", str(rank))
        harness.compare("ranks", {event["rank"] for event in events}, {str(rank)})
        receives = [event for event in events if event["function"] == "MPI_Irecv"]
        harness.compare("receives", len(receives), 40)
        x, y = rank // 32, rank % 32
        near = [(x - 1) % 32 * 32 + y, (x + 1) % 32 * 32 + y,
                x * 32 + (y - 1) % 32, x * 32 + (y + 1) % 32]
        harness.compare("sources", [harness.parameter(event, "source") for event in receives],
                        [str(source) for source in near] * 10)


def test_resolution(bench):
    """Simulated stamps in steps of 512 ns, the longest that is at most the microsecond asked for;
    and volumes, which are those of the thread that all ranks share."""
    program = smpi_program(bench, os.path.join(harness.PROGRAMS, "late_sender.c"))
    archive = smpi_run(bench, program, 8,
                       env={"REFRAIN_RESOLUTION": "1us", "REFRAIN_VOLUME": "cpu"})
    bench.verb("verify", archive)
    facts, events = info(bench, archive), bench.dump(archive)
    harness.compare("resolution", facts["resolution_ns"], 512)
    harness.compare("volumes", (facts["volume"], facts["volume_threads"]), ("cpu", 8))
    harness.compare("rests", {(int(e["exit_ns"]) - int(e["enter_ns"])) % 512 for e in events}, {0})
    harness.compare("columns", list(rfn_text.lines(rfn_reader.Archive(archive))),
                    bench.verb("dump", archive).split("\n")[:-1])
    for event in events:
        if event["function"] == "MPI_Recv" and int(event["exit_ns"]) - int(event["enter_ns"]) < \
                0.25e9 - 512:
            raise harness.Failure(f"rank {event['rank']} did not wait: {event}")


def test_late_sender_64(bench):
    """Every receive waits for what rank 0 pauses: 250 ms of simulated time, within 1 %."""
    program = smpi_program(bench, os.path.join(harness.PROGRAMS, "late_sender.c"))
    archive = smpi_run(bench, program, 64)
    receives = [e for e in bench.dump(archive) if e["function"] == "MPI_Recv"]
    harness.compare("receives", len(receives), 63)
    for event in receives:
        seconds = (int(event["exit_ns"]) - int(event["enter_ns"])) * 1e-9
        if not 0.25 <= seconds <= 0.2525:
            raise harness.Failure(f"rank {event['rank']} received in {seconds} s")
        if not {"source=0", "tag=5", "bytes=4"} <= harness.parameters(event):
            raise harness.Failure(f"rank {event['rank']}: {event['parameters']}")


def test_repeatable(bench):
    """Simulated times do not depend on the machine: two runs give the same events."""
    program = smpi_program(bench, os.path.join(harness.PROGRAMS, "late_sender.c"))
    dumps = [bench.verb("dump", smpi_run(bench, program, 32)) for _ in range(2)]
    if dumps[0] != dumps[1]:
        raise harness.Failure("two runs differ")


def check_events(bench, name):
    program = smpi_program(bench, os.path.join(harness.PROGRAMS, name + ".c"))
    log = bench.path(f"smpi.{name}.log")
    test_events_module.compare_logs(
        log, 2, bench.dump(smpi_run(bench, program, 2, env={"EXPECT_OUT": log})))


def test_events(bench):
    """The program of known events that SMPI can run."""
    check_events(bench, "point_to_point")


def test_regions(bench):
    """The recorder's regions come before those of the library that does nothing."""
    check_events(bench, "regions")
