"""refrain predict of recorded runs: as SMPI runs the same program on the same platform; and the prediction as an archive."""
import json
import os
import re
import shutil

import harness
import test_otf2
import test_smpi

SIMULATED = True
HERE = "<cluster id=\"c\" prefix=\"node-\" suffix=\"\" radical=\"0-1023\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\"/>"
THERE = ("<cluster id=\"c\" prefix=\"node-\" suffix=\"\" radical=\"0-1023\" speed=\"1Gf\" bw=\"2GBps\" lat=\"3us\" "
         "bb_bw=\"20GBps\" bb_lat=\"1us\"/>")
COSTS = ("<config><prop id=\"smpi/os\" value=\"0:2e-6:1e-10\"/><prop id=\"smpi/ois\" value=\"0:2e-6:1e-10\"/>"
         "<prop id=\"smpi/or\" value=\"0:3e-6:2e-10\"/></config>")
LIMIT = 0.02
MICROSECOND = 1e-6


def machine(body, config=""):
    return ("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
            f"<platform version=\"4.1\">{config}{body}</platform>\n")


MACHINES = [machine(HERE), machine(THERE, COSTS)]


def platform(bench, text):
    path = bench.fresh("machine.xml")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def hosts(bench, ranks):
    path = bench.fresh("hosts")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(f"node-{i}\n" for i in range(ranks))
    return path


def predict(bench, archive, path, *options):
    return json.loads(bench.verb("predict", "--json", archive, "--platform", path, *options))


def run_seconds(bench, archive):
    return json.loads(bench.verb("report", "--json", archive))["run_time_seconds"]


# ---- as SMPI has it ----

def main_seconds(bench, archive):
    """Until the last rank calls MPI_Finalize, in which SMPI has all ranks wait for each other."""
    lines = [line.split("\t") for line in bench.verb("dump", archive).splitlines() if "\tMPI_Finalize\t" in line]
    return max(int(words[3]) for words in lines) * 1e-9


def check_online(bench, source, ranks, arguments, limit=LIMIT):
    """Recorded on one machine, predicted for the other one, and run there, both ways."""
    program = test_smpi.smpi_program(bench, source)
    runs = []
    for text in MACHINES:
        _, archive = test_smpi.smpi_launch(bench, program, ranks, arguments, machine=text,
                                           options=["--cfg=smpi/reduce:default"])
        kept = bench.fresh("run.rfn")
        os.rename(archive, kept)
        runs.append((kept, platform(bench, text), main_seconds(bench, kept)))
    for archive, _, _ in runs:
        for _, path, seconds in runs:
            found = predict(bench, archive, path, "--measured-compute", "--hosts", hosts(bench, ranks))
            off = found["predicted_seconds"] / seconds - 1
            if abs(off) > limit:
                raise harness.Failure(f"{os.path.basename(source)}, {ranks} ranks: {found['predicted_seconds']} s predicted, "
                                      f"{seconds} s under SMPI: {off:+.1%}")


def source_of(name):
    return os.path.join(harness.PROGRAMS, name + ".c")


def test_online_messages(bench):
    check_online(bench, source_of("random_exchange"), 16, ["3", "60"])


def test_online_calls(bench):
    check_online(bench, source_of("random_calls"), 16, ["5", "100"])


def test_online_halo(bench):
    check_online(bench, os.path.join(harness.HERE, "..", "examples", "halo.c"), 64, ["400", "64"])  # its communicator, which is made in no time here, takes 1 ms


@harness.long
def test_online_long(bench):
    for seed in range(10, 20):
        check_online(bench, source_of("random_exchange"), 4 + 6 * (seed % 8), [str(seed), "40"])
        check_online(bench, source_of("random_calls"), 4 + 6 * (seed % 8), [str(seed), "60"])
    check_online(bench, source_of("random_exchange"), 1024, ["1", "8"])


# ---- as an archive ----

def check_archive(bench, archive, path, *options):
    """Its run time and ranks are those of the page, its calls those of the run; to predict it again changes nothing."""
    out = bench.fresh("predicted.rfn")
    found = predict(bench, archive, path, "-o", out, *options)
    bench.verb("verify", out)
    harness.compare("bytes", found["output_bytes"], os.path.getsize(out))
    report = json.loads(bench.verb("report", "--json", out))
    off = report["run_time_seconds"] - found["predicted_seconds"]
    if not -MICROSECOND - found["predicted_seconds"] * 0.01 < off < MICROSECOND:
        raise harness.Failure(f"{report['run_seconds']} s in the archive, {found['predicted_seconds']} s predicted")
    words = [(e["rank"], e["function"], e["parameters"], e["call_path"]) for e in bench.dump(archive)]
    dump = bench.dump(out)
    harness.compare("calls", [(e["rank"], e["function"], e["parameters"], e["call_path"]) for e in dump] == words, True)
    before = {}
    for event in dump:
        enter, leave, rank = int(event["enter_ns"]), int(event["exit_ns"]), event["rank"]
        if not before.get(rank, 0) <= enter <= leave:
            raise harness.Failure(f"rank {rank}: {before.get(rank)} {enter} {leave}")
        before[rank] = leave
    for rank in found["by_rank"]:
        if abs(before[str(rank["rank"])] * 1e-9 - rank["end_seconds"]) > MICROSECOND:
            raise harness.Failure(f"rank {rank['rank']} ends after {before[str(rank['rank'])]} ns, not {rank['end_seconds']} s")
    return out, found


def test_archive(bench, flavour):
    path = platform(bench, MACHINES[1])
    _, archive = bench.record(flavour, 4, [bench.program("folded", flavour), "30"])
    out, found = check_archive(bench, archive, path)
    again = predict(bench, out, path, "--measured-compute")
    if abs(again["predicted_seconds"] - found["predicted_seconds"]) > MICROSECOND:
        raise harness.Failure(f"{again['predicted_seconds']} s predicted again, not {found['predicted_seconds']} s")
    if "on " + path not in bench.verb("info", out):
        raise harness.Failure(bench.verb("info", out))
    _, archive = bench.record(flavour, 4, [bench.program("random_calls", flavour), "3", "200"])
    check_archive(bench, archive, path)


def test_archive_without_times(bench, flavour):
    """A time-independent archive gets times."""
    path = platform(bench, MACHINES[0])
    archive = bench.fresh("volumes.rfn")
    bench.run([*harness.FLAVOURS[flavour].launch(4), bench.refrain, "record", "--time-independent", "-o", archive,
               bench.program("folded", flavour), "20"], check=True)
    check_archive(bench, archive, path)


def test_compare(bench):
    """What a run took, beside what it is predicted to take, call path by call path."""
    path = platform(bench, MACHINES[0])
    _, archive = bench.record("openmpi", 4, [bench.program("folded", "openmpi"), "30"])
    found = predict(bench, archive, path, "--compare", archive)
    runs = [run["run_time_seconds"] for run in found["comparison"]["runs"]]
    harness.compare("the recorded run", runs[0], run_seconds(bench, archive))
    if abs(runs[1] - found["predicted_seconds"]) > 0.01 * runs[1]:
        raise harness.Failure(f"{runs} s compared, {found['predicted_seconds']} s predicted")
    text = bench.verb("predict", archive, "--platform", path, "--compare", archive)
    if "the prediction" not in text or "Call paths that differ most" not in text:
        raise harness.Failure(text)


def test_ends_apart(bench):
    """Ranks that wait at their end for unrecorded calls are no deadlock; others are."""
    path, program = platform(bench, MACHINES[0]), bench.program("stops_apart", "openmpi")
    for options, cut in ((["--until=level=2"], 1), ([], 0)):
        _, archive = bench.record("openmpi", 2, [program], options)
        found = json.loads(bench.verb("predict", "--json", archive, "--platform", path))
        harness.compare("ranks cut short", (found["ranks_cut_short"], found["left_out"] is not None), (cut, cut == 1))
        page = " ".join(bench.verb("predict", archive, "--platform", path).split())
        harness.compare("said", "1 rank ends in a call for which the archive lacks" in page, cut == 1)


def test_compare_with_others(bench):
    """The run to compare with is looked at first; the prediction is printed beside an incomplete one, too."""
    path = platform(bench, MACHINES[0])
    _, archive = bench.record("openmpi", 4, [bench.program("folded", "openmpi"), "30"])
    cut, volumes, out = bench.fresh("cut.rfn"), bench.fresh("volumes.rfn"), bench.fresh("out.rfn")
    with open(archive, "rb") as whole, open(cut, "wb") as part:
        part.write(whole.read()[:-20])
    run = bench.run([bench.refrain, "predict", "--json", archive, "--platform", path, "--compare", cut])
    harness.compare("exit", (run.code, "incomplete" in run.err), (3, True))
    found = json.loads(run.out)
    harness.compare("runs", len(found["comparison"]["runs"]), 2)
    bench.run([*harness.FLAVOURS["openmpi"].launch(4), bench.refrain, "record", "--time-independent", "-o", volumes,
               bench.program("folded", "openmpi"), "20"], check=True)
    for real, code, message in (("nothing.rfn", 1, "nothing.rfn"), (volumes, 1, "no times to compare"),
                                (out, 2, "would be replaced")):
        if real == out:
            shutil.copy(archive, out)
        run = bench.run([bench.refrain, "predict", archive, "--platform", path, "--compare", real, "-o", out, "--force"])
        if run.code != code or message not in run.err or run.out:
            raise harness.Failure(f"{real}: exit {run.code}: {run.err}")
        harness.compare("a prediction is there", os.path.exists(out), real == out)


def test_assumed(bench):
    """The page, JSON and the predicted archive say all that was assumed."""
    path, out = platform(bench, MACHINES[0]), bench.fresh("out.rfn")
    _, archive = bench.record("openmpi", 4, [bench.program("folded", "openmpi"), "5"])
    placed = hosts(bench, 4)
    found = predict(bench, archive, path, "--hosts", placed, "--no-contention", "--collectives=mpich", "--cfg",
                    "smpi/os=0:1e-6:0", "--measured-compute", "--scale-compute=0.5", "--rate=2e9", "--scale", "rank:1=3",
                    "-o", out)
    expected = (f"on {path} without contention, ranks placed by {placed}, smpi/coll-selector=mpich, smpi/os=0:1e-6:0, "
                "computing as long as measured, computing x 0.5, rate 2e+09, rank:1 x 3")
    harness.compare("assumed", found["assumed"], expected)
    harness.compare("in the archive", json.loads(bench.verb("info", "--json", out))["predicted"], expected)
    harness.compare("waiting", None in [rank["waiting_seconds"] for rank in found["by_rank"]], False)
    found = predict(bench, archive, path, "--engine", "simgrid")
    harness.compare("what SimGrid does not tell", [found["links"], found["model"], *{
        rank["waiting_seconds"] for rank in found["by_rank"]}], [None, None, None])
    text = bench.verb("predict", archive, "--platform", path, "--engine", "simgrid")
    harness.compare("a column of waiting", re.search(r"(?m)^ +rank .*waiting", text), None)


def test_refusals(bench):
    """Text has no calls; an archive that is there stays; SimGrid tells no single calls."""
    path = platform(bench, MACHINES[0])
    text, there = bench.fresh("two.txt"), bench.fresh("there.rfn")
    with open(text, "w", encoding="ascii") as file:
        file.write("0 init\n0 compute 1e6\n0 finalize\n1 init\n1 finalize\n")
    bench.verb("convert", text, "-o", there)
    for arguments, code, message in (([text, "-o", bench.fresh("x.rfn")], 1, "refrain convert"),
                                     ([there, "-o", there], 2, "is the archive that is read"),
                                     ([there, "-o", text], 1, "exists already"),
                                     ([there, "-o", "x", "--engine", "simgrid"], 2, "no times of single calls"),
                                     ([there, "--no-contention", "--engine", "simgrid"], 2, "--no-contention"),
                                     ([there, "--force"], 2, "--force"),
                                     ([text, "--measured-compute"], 2, "--measured-compute")):
        run = bench.run([bench.refrain, "predict", "--platform", path, *arguments])
        if run.code != code or message not in run.err:
            raise harness.Failure(f"{arguments}: exit {run.code}: {run.err}")


def test_config(bench):
    """What a platform says that no model knows is an error with its line, not ignored."""
    text = bench.fresh("two.txt")
    with open(text, "w", encoding="ascii") as file:
        file.write("0 init\n0 compute 1e6\n0 finalize\n1 init\n1 finalize\n")
    for prop, code, message in (('id="smpi/os" value="0:1e-6:0"', 0, ""), ('id="network/model" value="SMPI"', 0, ""),
                                ('id="smpi/host-speed" value="1Gf"', 0, ""),
                                ('id="network/model" value="CM02"', 1, "only SMPI is known"),
                                ('id="smpi/oss" value="1"', 1, ':3: <prop>: the property "smpi/oss"')):
        path = platform(bench, machine(HERE, f"<config><prop {prop}/></config>"))
        run = bench.run([bench.refrain, "predict", text, "--platform", path])
        if run.code != code or message not in run.err:
            raise harness.Failure(f"{prop}: exit {run.code}: {run.err}")


# ---- parts of computing ----

def computing(bench, archive, path, *options):
    found = predict(bench, archive, path, "--measured-compute", *options)
    return [rank["compute_seconds"] for rank in found["by_rank"]], found


def is_near(what, found, expected, off=1e-9):
    if not abs(found - expected) <= off * max(abs(expected), 1e-9):
        raise harness.Failure(f"{what}: {found}, not {expected}")


def test_scaled(bench):
    """What is scaled takes so many times as long, and nothing else changes; the archive says what was assumed."""
    path, out = platform(bench, MACHINES[0]), bench.fresh("scaled.rfn")
    _, archive = bench.record("openmpi", 4, [bench.program("folded", "openmpi"), "20"])
    as_is, _ = computing(bench, archive, path)
    scaled, found = computing(bench, archive, path, "--scale", "rank:1,2=3", "--remove", "rank:3", "-o", out)
    for rank, factor in enumerate((1, 3, 3, 0)):
        is_near(f"rank {rank}", scaled[rank], factor * as_is[rank], 1e-6)
    if "rank:1,2 x 3, rank:3 x 0" not in found["assumed"] or found["assumed"] not in bench.verb("info", out):
        raise harness.Failure(found["assumed"])
    parts = [computing(bench, archive, path, "--remove", selector)[0] for selector in ("compute:step", "compute:main")]
    for rank in range(4):
        removed = [as_is[rank] - part[rank] for part in parts]
        if not 0.5 * as_is[rank] < removed[0] <= as_is[rank] or removed[1] < 0:
            raise harness.Failure(f"rank {rank}: {removed} of {as_is[rank]} s")
    _, found = computing(bench, archive, path, "--scale-compute", "2")
    _, both = computing(bench, archive, path, "--scale", "rank:0-3=2")
    is_near("all of it", both["predicted_seconds"], found["predicted_seconds"], 1e-6)


def test_scaled_regions(bench):
    path = platform(bench, MACHINES[0])
    _, archive = bench.record("mpich", 2, [bench.program("regions", "mpich")], env={"EXPECT_OUT": bench.fresh("log")})
    as_is, _ = computing(bench, archive, path)
    less, _ = computing(bench, archive, path, "--remove", "region:descend")
    harness.compare("less is computed", all(0 <= found < before for found, before in zip(less, as_is)), True)


def exchange_in_text(bench):
    """A ring of four ranks, of messages below and above the thresholds, and a collective call."""
    text = bench.fresh("ring.txt")
    with open(text, "w", encoding="ascii") as file:
        for rank in range(4):
            file.write(f"{rank} init\n")
            for size in (8, 3000, 70000, 200000):
                file.write(f"{rank} compute {1e5 + 1e4 * rank:.0f}\n{rank} irecv {(rank - 1) % 4} 1 {size} 6\n"
                           f"{rank} send {(rank + 1) % 4} 1 {size} 6\n{rank} wait {(rank - 1) % 4} {rank} 1\n"
                           f"{rank} allreduce {size} 0 6\n")
            file.write(f"{rank} finalize\n")
    return text


def scaled_platform(bench, latency=1.0, transfer=1.0, overhead=1.0, eager=1.0):
    costs = "".join(f"<prop id=\"smpi/{name}\" value=\"0:{overhead * fixed!r}:{overhead * per_byte!r}\"/>"
                    for name, fixed, per_byte in (("os", 2e-6, 1e-10), ("ois", 3e-6, 2e-10), ("or", 4e-6, 3e-10)))
    sizes = "".join(f"<prop id=\"smpi/{name}-thresh\" value=\"{eager * size:.0f}\"/>"
                    for name, size in (("async-small", 1024), ("send-is-detached", 65536)))
    return platform(bench, machine(f"<cluster id=\"c\" prefix=\"node-\" suffix=\"\" radical=\"0-3\" speed=\"1Gf\" "
                                   f"bw=\"{1e9 / transfer!r}Bps\" lat=\"{1e-5 * latency!r}s\"/>",
                                   f"<config>{costs}{sizes}</config>"))


def test_scaled_network(bench):
    """As on a platform with that latency, bandwidth, costs of calls, thresholds; of a run as text, too."""
    _, archive = bench.record("openmpi", 4, [bench.program("folded", "openmpi"), "20"])
    here = scaled_platform(bench)
    there = {"latency": "L", "transfer": "G", "overhead": "o", "eager": "S"}
    for file in (exchange_in_text(bench), archive):
        for how in ([], ["--no-contention"]):
            def seconds(path, *options):
                return predict(bench, file, path, *how, *options)["predicted_seconds"]
            as_is = seconds(here)
            for factor in (0.5, 4):
                for parameter, selector in there.items():
                    is_near(f"{selector} x {factor} {how}", seconds(here, "--scale", f"{selector}={factor}"),
                            seconds(scaled_platform(bench, **{parameter: factor})))
                both = seconds(here, "--scale", f"L={factor}", "--scale", f"G={factor}")
                is_near(f"all sizes {how}", seconds(here, "--scale", f"bytes:0-={factor}"), both)
            if file != archive:
                less = seconds(here, "--remove", "bytes:100K-")
                harness.compare(f"some, none, all {how}", seconds(here, "--remove", "bytes:0-") < less < as_is, True)
                is_near("no such messages", seconds(here, "--remove", "bytes:1G-"), as_is)


def test_scaled_words(bench):
    path = platform(bench, MACHINES[0])
    _, archive = bench.record("mpich", 2, [bench.program("folded", "mpich"), "2"])
    for file, words, said in (
            (archive, ["--scale", "call:MPI_=2"], "whatif OUT.rfn --scale call:MPI_=2"),
            (archive, ["--remove", "event:0/3"], "whatif OUT.rfn --remove event:0/3"),
            (archive, ["--scale", "rank:9=2"], "all ranks"),
            (archive, ["--remove", "compute:nothing"], "no computation is in 'nothing'; there are"),
            (archive, ["--scale", "rank:0"], "SELECTOR=F"),
            (archive, ["--engine", "simgrid", "--remove", "rank:0"], "need --engine=own"),
            (exchange_in_text(bench), ["--remove", "compute:main"], "does not tell which part computes what")):
        run = bench.run([bench.refrain, "predict", file, "--platform", path, *words])
        if run.code != 2 or said not in run.err:
            raise harness.Failure(f"{words}: exit {run.code}: {run.err}")
    out = bench.fresh("out.rfn")
    predict(bench, archive, path, "-o", out)
    bench.verb("whatif", out, "--scale", "call:MPI_=2")


# ---- rates ----

def with_volumes(bench, program, *words):
    _, archive = bench.record("openmpi", 4, [program, *words], ["--volume=cpu"])
    return archive


def predicted_run(bench, archive, path, *options):
    """A prediction as an archive, which has the volumes of the run, and times of the other machine: a run there."""
    out = bench.fresh("there.rfn")
    found = predict(bench, archive, path, "-o", out, *options)
    return out, [rank["compute_seconds"] for rank in found["by_rank"]]


def test_rates(bench):
    """Parts of a program that are as fast as in a run on the machine take as long as there."""
    path = platform(bench, MACHINES[0])
    archive = with_volumes(bench, bench.program("folded", "openmpi"), "20")
    there, expected = predicted_run(bench, archive, path, "--scale", "compute:step=3", "--scale-compute", "2")
    found = predict(bench, archive, path, "--rates", there)
    is_near("all ranks", sum(rank["compute_seconds"] for rank in found["by_rank"]), sum(expected), 0.01)
    harness.compare("rates of the average and of activities", [found["rates"][0]["activity"], len(found["rates"]) > 2],
                    [None, True])
    harness.compare("assumed", f"rates of {there}" in found["assumed"], True)


def test_rates_of_sizes(bench):
    """Of runs of two sizes, where the larger one computes at a fifth of the speed, each gets its own."""
    path = platform(bench, MACHINES[0])
    halo = bench.program(os.path.join(harness.HERE, "..", "examples", "halo.c"), "openmpi")
    small, large = with_volumes(bench, halo, "60", "200"), with_volumes(bench, halo, "6", "1600")
    there_small, expected_small = predicted_run(bench, small, path)
    there_large, expected_large = predicted_run(bench, large, path, "--scale-compute", "5")
    for archive, expected in ((small, expected_small), (large, expected_large)):
        found = predict(bench, archive, path, "--rates", there_small, "--rates", there_large)
        is_near("of all ranks", sum(rank["compute_seconds"] for rank in found["by_rank"]), sum(expected), 0.15)


def test_rates_words(bench):
    path = platform(bench, MACHINES[0])
    archive = with_volumes(bench, bench.program("folded", "openmpi"), "2")
    _, timed = bench.record("openmpi", 2, [bench.program("folded", "openmpi"), "2"])
    for words, code, said in ((["--rates", timed], 1, "no run with times and with volumes"),
                              (["--rates", archive, "--measured-compute"], 2, "--measured-compute"),
                              (["--rates", "nothing.rfn"], 1, "nothing.rfn")):
        run = bench.run([bench.refrain, "predict", archive, "--platform", path, *words])
        if run.code != code or said not in run.err:
            raise harness.Failure(f"{words}: exit {run.code}: {run.err}")


def test_rates_of_other_volumes(bench):
    """A rate of misses of a cache says nothing of instructions."""
    path = platform(bench, MACHINES[0])
    anchor = test_otf2.trace(bench, "scorep")
    _, instructions = test_otf2.to_archive(bench, anchor)
    _, misses = test_otf2.to_archive(bench, anchor, "--metric", "PAPI_L2_TCM")
    predict(bench, instructions, path, "--rates", instructions)
    run = bench.run([bench.refrain, "predict", instructions, "--platform", path, "--rates", misses])
    harness.compare("exit", run.code, 1)
    for word in ("papi:PAPI_L2_TCM", "instructions", "the same --volume"):
        harness.compare(f"{word} in {run.err}", word in run.err, True)


# ---- SimGrid as the engine ----

def test_engines(bench):
    """Both engines send the same messages, whatever communicators, buffers and neighbours they are of."""
    path = platform(bench, MACHINES[1])
    _, archive = bench.record("openmpi", 4, [bench.program("engines", "openmpi")])
    own, simgrid = (predict(bench, archive, path, "--scale-compute=0.001", "--engine", engine) for engine in ("own", "simgrid"))
    is_near("run time", simgrid["predicted_seconds"], own["predicted_seconds"], 0.02)
    for name in ("messages", "bytes", "actions"):
        harness.compare(name, *([rank[name] for rank in found["by_rank"]] for found in (simgrid, own)))


def test_unknown_sizes(bench):
    """A receive of unknown size takes what comes. SimGrid cannot do so from any rank, and says it."""
    path = platform(bench, MACHINES[1])
    text = bench.fresh("unknown.ti")
    receives = ["recv 0 5 -1", "irecv 0 5 -1\n1 wait 0 1 5", "recv 0 5 3000"]
    with open(text, "w", encoding="ascii") as file:
        file.write("0 init\n1 init\n" + "".join(f"0 send 1 5 {size}\n" for size in (100, 200000, 3000)) +
                   "".join(f"1 {line}\n" for line in receives) + "0 finalize\n1 finalize\n")
    own, simgrid = (predict(bench, text, path, "--engine", engine) for engine in ("own", "simgrid"))
    is_near("run time", simgrid["predicted_seconds"], own["predicted_seconds"], 0.02)
    with open(text, "w", encoding="ascii") as file:
        file.write("0 init\n1 init\n0 send 1 5 10\n1 recv -555 5 -1\n0 finalize\n1 finalize\n")
    predict(bench, text, path)
    run = bench.run([bench.refrain, "predict", text, "--platform", path, "--engine", "simgrid"])
    harness.compare("exit", (run.code, "a message of any rank" in run.err), (1, True))
    with open(text, "w", encoding="ascii") as file:
        file.write("0 init\n1 init\n1 recv 0 5 10\n0 finalize\n1 finalize\n")
    for engine in ("own", "simgrid"):
        run = bench.run([bench.refrain, "predict", text, "--platform", path, "--engine", engine])
        harness.compare(f"a deadlock: {run.err}", (run.code, "deadlock" in run.err), (3, True))
