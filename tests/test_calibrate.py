"""refrain calibrate: the network of a platform whose parameters are known, of this machine within wide bounds, and
whatif and report with --network."""
import json
import os

import harness
import test_smpi
import test_whatif

SIMULATED = True
SECONDS = "0.3"
MOST_BYTES = 16 << 20
BYTES = 30000  # from here on messages are synchronous on the simulated platform


def calibrate(bench, flavour, ranks, *words, code=0):
    run = bench.run([*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "calibrate", *words])
    harness.compare(f"exit of calibrate {words}: {run.err}", run.code, code)
    return run


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def is_near(what, found, expected, off):
    if not abs(found - expected) <= off * expected:
        raise harness.Failure(f"{what}: {found}, not {expected}")


def is_within(what, found, least, most):
    if not least <= found <= most:
        raise harness.Failure(f"{what}: {found}, not {least} to {most}")


def check_pieces(network):
    """They follow on each other from 1 byte to 16 MiB, and give L + 2 o for a byte."""
    pieces = network["pieces"]
    follow = [piece["from_bytes"] for piece in pieces] + [MOST_BYTES + 1]
    harness.compare("beginnings and ends", follow, [1] + [piece["to_bytes"] + 1 for piece in pieces])
    for piece in pieces:
        if piece["latency_seconds"] < 0 or piece["seconds_per_byte"] < 0:
            raise harness.Failure(f"negative: {piece}")
    is_near("L + 2 o", network["L"] + 2 * network["o"], pieces[0]["latency_seconds"] + pieces[0]["seconds_per_byte"],
            1e-6)


def test_real(bench, flavour):
    path = bench.fresh("network.json")
    run = calibrate(bench, flavour, 2, "-o", path, "--seconds", SECONDS)
    network = load(path)
    harness.compare("first words", run.out.split(": ")[0], path)
    harness.compare("facts", (network["schema"], network["flavour"], network["ranks"], len(network["hosts"])),
                    (1, flavour, [0, 1], 2))
    is_within("L", network["L"], 1e-9, 1)
    is_within("o", network["o"], 1e-9, network["L"] + 1e-12)  # at most a third of L + 2 o
    is_within("g", network["g"], network["o"], 1)
    is_within("G", network["G"], 1e-12, 1e-6)
    is_within("S", network["S"], 512, MOST_BYTES)  # so much is assumed of each MPI
    check_pieces(network)


def test_ranks(bench):
    """Of three the first and the last one measure; one has nobody to measure with."""
    path = bench.fresh("three.json")
    run = calibrate(bench, "mpich", 3, "-o", path, "--seconds", SECONDS)
    harness.compare("ranks", load(path)["ranks"], [0, 2])
    if "the ranks between were idle" not in run.out:
        raise harness.Failure(run.out)
    run = calibrate(bench, "mpich", 1, "-o", path, code=2)
    if "mpirun -n 2 refrain calibrate" not in run.err:
        raise harness.Failure(run.err)
    run = bench.run([bench.refrain, "calibrate", "-o", path])
    harness.compare("exit outside of a job", run.code, 2)
    if "mpirun -n 2 refrain calibrate" not in run.err:
        raise harness.Failure(run.err)


def test_output(bench):
    """An existing file stays, without --force; what cannot be written is told before anything is measured."""
    path = bench.fresh("kept.json")
    with open(path, "w", encoding="ascii") as file:
        file.write("mine")
    run = calibrate(bench, "mpich", 2, "-o", path, code=1)
    if "exists already; --force" not in run.err:
        raise harness.Failure(run.err)
    with open(path, encoding="ascii") as file:
        harness.compare("the file", file.read(), "mine")
    calibrate(bench, "mpich", 2, "-o", path, "--force", "--seconds", SECONDS)
    harness.compare("schema and what is left", (load(path)["schema"], os.path.exists(path + ".part")), (1, False))
    os.mkdir(path + ".part")  # where the new file is written until it is whole
    run = calibrate(bench, "mpich", 2, "-o", path, "--force", "--seconds=3600", code=1)
    harness.compare("what is told", "cannot write " + path in run.err, True)
    harness.compare("the old file", load(path)["schema"], 1)
    os.rmdir(path + ".part")
    run = calibrate(bench, "mpich", 2, "-o", "/nowhere/network.json", "--seconds=3600", code=1)
    if "cannot write /nowhere/network.json: No such file" not in run.err:
        raise harness.Failure(run.err)


def test_words(bench):
    for words, said in ((["--seconds=0"], "--seconds"), (["--seconds", "1x"], "--seconds"), (["--mpi=lam"], "--mpi"),
                        (["network.json"], "-o network.json"), (["-o", ""], "--output"), (["-o", "--force"], "--output"),
                        (["--hosts=4"], "--hosts"), (["--speed=1e9", "-o", "n.json"], "--speed"), (["--json"], "--json"),
                        (["-o", "a", "--platform", "a"], "are both a")):
        run = bench.run([bench.refrain, "calibrate", *words])
        harness.compare(f"exit {words}", run.code, 2)
        if said not in run.err:
            raise harness.Failure(f"{words}: {run.err}")


# ---- a known network ----

def simulated(bench, ranks, *options):
    """Two links of 10 us and 1 GB/s, as there are no factors; simulated time is exact."""
    path, platform = bench.fresh("simulated.json"), bench.path("platform.xml")
    with open(platform, "w", encoding="ascii") as file:
        file.write(test_smpi.PLATFORM)
    bench.run(["smpirun", "-np", str(ranks), "-platform", platform, "--log=root.thresh:error", *test_smpi.SIMULATION,
               "--cfg=smpi/lat-factor:0:1", "--cfg=smpi/wtime:0", *options,
               os.path.join(bench.build, "lib", "refrain-calibrate-smpi"), path], check=True)
    return load(path)


def test_known_network(bench):
    """1 us to send, 2 us to receive; only messages below BYTES are eager, and only they take that time."""
    network = simulated(bench, 4, "--cfg=smpi/bw-factor:0:1", "--cfg=smpi/os:0:1e-6:0", "--cfg=smpi/or:0:2e-6:0",
                        f"--cfg=smpi/send-is-detached-thresh:{BYTES}")
    is_near("L", network["L"], 20e-6, 0.01)
    is_near("o", network["o"], 1.5e-6, 0.01)
    is_near("g", network["g"], 2e-6, 0.01)
    is_near("G", network["G"], 1e-9, 0.01)
    harness.compare("S, hosts, ranks", (network["S"], len(set(network["hosts"])), network["ranks"]), (BYTES - 1, 2, [0, 3]))
    check_pieces(network)
    harness.compare("where pieces end", [piece["to_bytes"] for piece in network["pieces"]], [BYTES - 1, MOST_BYTES])
    for piece, latency in zip(network["pieces"], (23e-6, 20e-6)):
        is_near("latency", piece["latency_seconds"], latency, 0.01)
        is_near("time per byte", piece["seconds_per_byte"], 1e-9, 0.01)


def test_known_pieces(bench):
    """Half of the bandwidth up to 100 KB, which no other limit shows."""
    network = simulated(bench, 2, "--cfg=smpi/bw-factor:0:0.5;100000:1")
    check_pieces(network)
    slow, fast = network["pieces"]
    is_near("time per byte of small ones", slow["seconds_per_byte"], 2e-9, 0.01)
    is_near("time per byte of large ones", fast["seconds_per_byte"], 1e-9, 0.01)
    is_near("G", network["G"], 1e-9, 0.01)
    is_within("the break", slow["to_bytes"], 100000 / 1.5, 100000)


def exchanges(bench, bytes_):
    """Text of two ranks: messages of one size back and forth, then both ways at once."""
    path = bench.fresh("exchange.txt")
    lines = ["0 init", "1 init"]
    for _ in range(20):
        lines += [f"0 send 1 0 {bytes_} 6", f"0 recv 1 0 {bytes_} 6", f"1 recv 0 0 {bytes_} 6", f"1 send 0 0 {bytes_} 6"]
        for rank in (0, 1):
            lines += [f"{rank} irecv {1 - rank} 1 {bytes_} 6", f"{rank} isend {1 - rank} 1 {bytes_} 6", f"{rank} waitall"]
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join([*lines, "0 finalize", "1 finalize", ""]))
    return path


def predicted_seconds(bench, text, platform):
    return json.loads(bench.verb("predict", "--json", text, "--platform", platform))["predicted_seconds"]


def check_platform(bench, body, off=0.02):
    """The platform that is written for a known one: messages of all sizes take as long on both."""
    known, found = bench.fresh("known.xml"), bench.fresh("found.xml")
    with open(known, "w", encoding="ascii") as file:
        file.write(body)
    bench.run(["smpirun", "-np", "2", "-platform", known, "--log=root.thresh:error", *test_smpi.SIMULATION,
               "--cfg=smpi/wtime:0", os.path.join(bench.build, "lib", "refrain-calibrate-smpi"), f"--platform={found}",
               "--hosts=4", "--cores=1", "--speed=2e9"], check=True)
    with open(found, encoding="ascii") as file:
        text = file.read()
    for words in ('radical="0-3"', 'core="1"', 'speed="2e+09f"'):
        harness.compare(f"{words} in the platform", words in text, True)
    for bytes_ in (1, 100, 1000, 8000, 60000, 100000, 1000000, 10000000):
        trace = exchanges(bench, bytes_)
        is_near(f"{bytes_} bytes", predicted_seconds(bench, trace, found), predicted_seconds(bench, trace, known), off)


KNOWN = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><config>%s</config>
  <cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf" bw="%s" lat="%s" %s/>
</platform>
"""
COSTS = """<prop id="smpi/os" value="0:1e-6:2e-10;2000:2e-6:1e-10"/><prop id="smpi/ois" value="0:5e-7:1e-10"/>
<prop id="smpi/or" value="0:3e-6:2e-10"/><prop id="smpi/send-is-detached-thresh" value="%d"/>
<prop id="smpi/async-small-thresh" value="%d"/>"""


ALIKE = '<prop id="smpi/lat-factor" value="0:1"/><prop id="smpi/bw-factor" value="0:1"/>'


def test_known_platform(bench):
    check_platform(bench, KNOWN % (ALIKE + COSTS % (BYTES, BYTES), "1GBps", "10us", ""))


def test_known_platform_late(bench):
    """Messages whose sends are over early, but which come when they are received."""
    check_platform(bench, KNOWN % (ALIKE + COSTS % (BYTES, BYTES // 4), "1GBps", "10us", ""), 0.05)


def test_known_platform_factors(bench):
    """Bandwidth and latency by size, as SimGrid's defaults have them: some pieces are shorter than can be told apart."""
    check_platform(bench, KNOWN % ("", "1.25GBps", "5us", ""), 0.05)


def test_known_platform_limited(bench):
    """Both directions at once have less than twice the bandwidth."""
    check_platform(bench, KNOWN % (ALIKE + COSTS % (BYTES, BYTES), "1GBps", "10us", 'limiter_link="1.3GBps"'))


# ---- what it is for ----

def written(bench, **network):
    path = bench.fresh("given.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump({"schema": 1, "L": 3e-6, "o": 2e-7, "g": 4e-7, "G": 5e-10, "S": 2000, **network}, file)
    return path


def test_whatif_takes_it(bench):
    """The prediction is as the independent one says with these parameters; without an assumption it is the run."""
    archive = test_smpi.smpi_run(bench, test_smpi.smpi_program(bench, test_whatif.SOURCE), 4, ["5", "40"])
    path = written(bench)
    events = bench.dump(archive)
    found = test_whatif.Assumed(["--network", path]).check(bench, archive, events)
    harness.compare("as recorded", found["predicted_seconds"], found["recorded_seconds"])
    harness.compare("parameters", found["parameters"], {"L": 3e-6, "o": 2e-7, "g": 4e-7, "G": 5e-10, "S": 2000,
                                                        "source": "calibrated", "file": path, "messages": 0})
    slower = test_whatif.Assumed(["--network", path, "--scale", "L=4"], {"L": 4}).check(bench, archive, events)
    if not slower["predicted_seconds"] > slower["recorded_seconds"]:
        raise harness.Failure("four times L changes nothing")
    text = bench.verb("whatif", "--network", path, archive)
    if f"measured by refrain calibrate ({path})" not in " ".join(text.split()):
        raise harness.Failure(text)


def test_report_takes_it(bench):
    """rank 0 waits 15 ms for a receive of 1000 bytes, in a call that also gets a message: more than is sent eagerly, as
    assumed. With a network that sends as much eagerly it is 5 ms for the message."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "late_receive.c"))
    _, archive = test_smpi.smpi_launch(bench, program, 2, options=["--cfg=smpi/send-is-detached-thresh:500"])
    for words, receiver, sender in (([], 0.015, 0), (["--network", written(bench, S=999)], 0.015, 0),
                                    (["--network", written(bench, S=1000)], 0, 0.005)):
        waits = json.loads(bench.verb("report", "--json", *words, archive))["waits"]["by_pattern"]
        for pattern, seconds in (("late_receiver", receiver), ("late_sender", sender)):
            is_within(f"{pattern} {words}", waits[pattern], seconds, 1.05 * seconds)


def test_wrong_file(bench):
    _, archive = bench.record("mpich", 2, [bench.program("ring", "mpich"), "2", "0"])
    for path, code, said in ((written(bench, L="fast"), 3, '"L" is something else'), (archive, 3, "not JSON"),
                             (written(bench, schema=2), 3, '"schema" is 2'), ("/nowhere/x", 1, "No such file")):
        for verb in ("whatif", "report"):
            run = bench.run([bench.refrain, verb, "--network", path, archive])
            harness.compare(f"exit of {verb} with {path}", run.code, code)
            if said not in run.err or path not in run.err or run.out:
                raise harness.Failure(f"{verb}: {run.err}{run.out}")
