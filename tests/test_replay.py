"""Replay: what was recorded is issued anew, checks itself, and takes as long.

A replay is recorded in its turn. That record has to have the messages of the first one, byte for
byte, and as many calls of each function that a replay issues.
"""
import collections
import json
import os
import random
import re
import shutil
import statistics

import harness
import rfn_reader
import test_clusters
import test_damage
import test_events
import test_smpi
import test_writer

# What stands for what in a replay (doc/replay.md); completions of all kinds count as one.
STANDS_FOR = {
    "MPI_Iprobe": "MPI_Probe", "MPI_Improbe": "MPI_Mprobe", "MPI_Comm_split_type": "MPI_Comm_split",
    "MPI_Rsend": "MPI_Send", "MPI_Irsend": "MPI_Isend", "MPI_Rsend_init": "MPI_Send_init",
    "MPI_Win_create": "MPI_Win_allocate", "MPI_Win_test": "MPI_Win_wait",
    "MPI_Comm_idup_with_info": "MPI_Comm_idup",
}
# Of these a replay makes another number: see doc/replay.md.
OTHER_NUMBER = re.compile(r"MPI_(Wait|Test|Start|Cancel|Request_|Init|Finalize|Parrived)")
ISSUED = re.compile(
    r"MPI_(I?[bsr]?(send|recv)|[BSR]?send|Recv|I?sendrecv|Sendrecv|P(send|recv)|Pready|M?probe|"
    r"Probe|I?m?recv|Mrecv|Mprobe|I?barrier|Barrier|I?bcast|Bcast|I?(all)?gather|(All)?[Gg]ather|"
    r"Allgather|I?scatter|Scatter|I?alltoall|Alltoall|I?(all)?reduce|(All)?[Rr]educe(?!_local)|"
    r"I?(ex)?scan|Scan|Exscan|I?neighbor|Neighbor|Comm_(dup|idup|split|create(?!_keyval|_err)|free(?!_)|"
    r"disconnect|group|remote_group)|Intercomm|Group_(incl|excl|range|union|diff|inter|free)|"
    r"Cart_(create|sub)|Graph_create|Dist_graph_create|Buffer_|Win_(create$|allocate|free$|fence|"
    r"lock|unlock|flush|complete|wait|post|start|test)|Put|Get$|Rput|Rget|R?accumulate|Accumulate|"
    r"Get_accumulate|Fetch_and_op|Compare_and_swap)")


def calls(bench, archive):
    """Calls by rank and function that a replay issues, and those of functions that it skips."""
    counts = collections.Counter()
    for event in bench.dump(archive):
        function = re.sub(r"_c$", "", event["function"])
        function = STANDS_FOR.get(function, function)
        failed_poll = harness.parameter(event, "polls")
        if ISSUED.match(function) and not OTHER_NUMBER.match(function) and not failed_poll:
            counts[event["rank"], function] += 1
    return counts


def matrix(bench, archive):
    """Messages and bytes by pair of ranks."""
    facts = json.loads(bench.verb("report", "--json", archive))
    return facts["communication_matrix"], facts["message_sizes"]


def replay(bench, flavour, ranks, *words, timeout=120):
    return bench.run([*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "replay", *words],
                     timeout=timeout)


def check_replay(bench, flavour, ranks, archive, *words):
    """The facts that a replay prints, and an archive of it that has the same communication."""
    again = bench.fresh("again.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(ranks), bench.refrain, "record", "--force",
                     "-q", "--time=full", "-o", again, bench.refrain, "replay", "--json", *words,
                     archive], check=True)
    facts = json.loads(run.out)
    before, after = calls(bench, archive), calls(bench, again)
    different = {key: (after[key], before[key]) for key in {*before, *after}
                 if before[key] != after[key] and key[1] not in facts["not_replayed"]}
    harness.compare("calls (replayed, recorded)", different, {})
    if not facts["not_replayed"]:
        harness.compare("messages", matrix(bench, again), matrix(bench, archive))
    return facts


# ---- real MPIs ----

# Programs that together call most of MPI, and halves of them that replay does another way.
WHOLE = ["collectives", "communicators", "completions", "datatypes", "info_and_groups", "matched", "one_sided",
         "partitioned", "persistent_collectives", "point_to_point", "polls", "sends", "topologies", "large_counts"]
PARTS = {"windows": {"MPI_Win_create_dynamic"}, "files": {"MPI_File_open", "MPI_File_close"}}


def make_test(name, ranks):
    def test(bench, flavour):
        _, archive = bench.record(flavour, ranks, [bench.program(name, flavour)])
        facts = check_replay(bench, flavour, ranks, archive)
        missing = PARTS.get(name, set()) - set(facts["not_replayed"])
        if missing or name in WHOLE and facts["not_replayed"]:
            raise harness.Failure(f"not replayed: {facts['not_replayed']}, without {missing}")
    return test


for _name, _ranks in test_events.programs():
    if _name in WHOLE or _name in PARTS:
        globals()[f"test_{_name}"] = make_test(_name, _ranks)


def test_persistent(bench, flavour):
    """Starts of receives from anyone, and of cancelled ones, become receives of their own; the messages
    are the same."""
    _, archive = bench.record(flavour, 2, [bench.program("persistent", flavour)])
    run = replay(bench, flavour, 2, "--json", archive)
    facts = json.loads(run.out)
    sizes = matrix(bench, archive)[1]["point_to_point"]
    harness.compare("messages", facts["messages"], sum(one["count"] for one in sizes))
    harness.compare("bytes", facts["message_bytes"], sum(one["bytes"] for one in sizes))


def test_freed(bench, flavour):
    """Receives that the program frees while they are active."""
    _, archive = bench.record(flavour, 2, [bench.program("freed", flavour)])
    facts = json.loads(replay(bench, flavour, 2, "--json", archive).out)
    harness.compare("messages", (facts["messages"], facts["message_bytes"]), (40, 160))


def test_cancelled(bench, flavour):
    """Receives that are cancelled, and then waited for or freed: the messages are those of the others."""
    _, archive = bench.record(flavour, 2, [bench.program("waits_cancelled", flavour)])
    facts = json.loads(replay(bench, flavour, 2, "--json", archive).out)
    harness.compare("messages", (facts["messages"], facts["message_bytes"]), (6, 24))


def test_other_mpi(bench):
    """What one MPI has recorded the other one replays."""
    for recorded, replayed in (("openmpi", "mpich"), ("mpich", "openmpi")):
        _, archive = bench.record(recorded, 2, [bench.program("one_sided", recorded)])
        check_replay(bench, replayed, 2, archive)


def check_accuracy(facts):
    """It is what its definition makes of the medians."""
    own, full = (statistics.median(one["repetitions"]) for one in (facts, facts["against"]))
    expected = 1 - abs(full - own) / full
    if own <= 0 or abs(facts["replayed_seconds"] / own - 1) > 1e-6 or abs(facts["accuracy_against"] - expected) > 1e-6:
        raise harness.Failure(f"ACC {expected} of medians {own} and {full}: {facts}")


def computed(bench, archive):
    """Seconds that rank 0 is between calls: programs spin for what takes some time when they begin, and later less where
    others have left the core."""
    calls = [(int(event["enter_ns"]), int(event["exit_ns"])) for event in bench.dump(archive) if event["rank"] == "0"]
    return sum(after[0] - before[1] for before, after in zip(calls, calls[1:])) * 1e-9


def late_senders(bench, flavour):
    """An archive of some 1 s of computing, in which five messages of 4 bytes are sent."""
    program = bench.program(os.path.join(harness.PROGRAMS, "pathologies", "late_sender.c"), flavour)
    return bench.record(flavour, 2, [program, "--iterations", "5", "--work", "0.1", "--extra", "0.1"],
                        ["--time=full"])[1]


@harness.real_time
def test_reduced_computing(bench, flavour):
    """Recreated times are those of the run: what is computed is, in either replay, and less than half is noise. Without
    any times the ACC of the reduced archive would be 0."""
    full, small = late_senders(bench, flavour), bench.fresh("small.rfn")
    bench.verb("reduce", "--similarity=absDiff:10000", full, "-o", small)  # each of five iterations is off by 10 ms at most
    work = computed(bench, full)
    harness.compare(f"{work} s of computing: more than half of what is asked for", work > 0.5, True)
    facts = json.loads(replay(bench, flavour, 2, "--json", "--compute=sleep", f"--against={full}", small).out)
    check_accuracy(facts)
    for least, one in ((work - 0.001, facts["against"]), (work - 0.051, facts)):
        if min(one["repetitions"]) < least:
            raise harness.Failure(f"{work} s of computing in {one['repetitions']} s")
    if facts["accuracy_against"] < 0.5:
        raise harness.Failure(f"ACC: {facts}")


def test_reduced_and_full(bench, flavour):
    """Both in one job, in turn; times of the reduced archive are recreated. (Nothing is computed, so how long they take is
    the scheduler's affair.)"""
    program = bench.program(os.path.join(harness.HERE, "..", "examples", "halo.c"), flavour)
    _, full = bench.record(flavour, 4, [program, "20", "8"])
    small = bench.fresh("small.rfn")
    bench.verb("reduce", full, "-o", small)
    run = replay(bench, flavour, 4, "--json", f"--against={full}", small)
    if run.code:
        raise harness.Failure(run.err)
    facts = json.loads(run.out)
    harness.compare("reduced", (facts["reduced"], facts["against"]["reduced"]), (True, False))
    harness.compare("messages", (facts["messages"], facts["message_bytes"]), (320, 320 * 64))
    harness.compare("repetitions", len(facts["repetitions"]), 3)
    check_accuracy(facts)
    text = replay(bench, flavour, 4, "--repeat=1", f"--against={small}", full).out
    if not re.search(r"\(reduced\): 4 ranks .*ACC .* % *\n.*ACC of .* against the replay of .*small.*\.rfn \(reduced\): ",
                     text, re.S):
        raise harness.Failure(text)


def test_without_times(bench, flavour):
    """It is said that nothing is computed, and where that is what accuracy is about."""
    program = bench.program("late_sender", flavour)
    _, full = bench.record(flavour, 2, [program])
    _, bare = bench.record(flavour, 2, [program], ["--time=none"])
    said, about = "computing: none, as the archive has no times", "an archive without times computes nothing"
    for words, wanted in (([bare], (1, 0)), ([f"--against={full}", bare], (1, 1)), ([full], (0, 0))):
        text = replay(bench, flavour, 2, "--repeat=1", *words).out
        harness.compare(f"{words}: said", (text.count(said), text.count(about)), wanted)


def test_against_another_program(bench, flavour):
    """Refused, with what differs; another recording of the same program is not."""
    folder = os.path.join(harness.PROGRAMS, "pathologies")
    program = bench.program(os.path.join(folder, "late_sender.c"), flavour)
    short = ["--work", "0", "--extra", "0", "--iterations"]
    _, archive = bench.record(flavour, 2, [program, *short, "5"])
    _, again = bench.record(flavour, 2, [program, *short, "5"], ["--time=reduced"])
    run = replay(bench, flavour, 2, "--json", f"--against={archive}", again)
    harness.compare(f"another run: exit of {run.err}", run.code, 0)
    _, longer = bench.record(flavour, 2, [program, *short, "6"])
    _, other = bench.record(flavour, 2, [bench.program("late_sender", flavour)])
    for wrong, what in ((longer, "another command"), (other, "another program")):
        run = replay(bench, flavour, 2, f"--against={wrong}", archive)
        told = [line for line in run.err.split("\n") if line.startswith("refrain: ")]
        if run.code == 0 or "ACC" in run.out or len(told) != 1 or wrong not in told[0] or what not in told[0]:
            raise harness.Failure(f"{what}: exit {run.code}: {run.out}{run.err}")


def test_compute(bench, flavour):
    """What was computed is left out, or takes as long as it is to."""
    archive = late_senders(bench, flavour)
    work = computed(bench, archive)

    def seconds(*words):
        facts = json.loads(replay(bench, flavour, 2, "--json", *words, archive).out)
        return facts["replayed_seconds"], facts["compute"], "accuracy" in facts
    took, compute, _ = seconds("--compute=sleep")
    if compute != "sleep" or took < work - 0.001:
        raise harness.Failure(f"{compute} for {took} s, {work} s of computing")
    twice, _, told = seconds("--compute=busy", "--scale-compute=2")
    if twice < 2 * (work - 0.001) or told:
        raise harness.Failure(f"twice the work took {twice} s; accuracy told: {told}")
    nothing, compute, _ = seconds("--no-compute")
    if compute != "none" or nothing > work / 2:  # five messages
        raise harness.Failure(f"{compute} for {nothing} s, {work} s of computing")


# ---- what comes is not what was recorded ----

def of_two_runs(bench, flavour, elements, received):
    """An archive that joins two runs: rank 0 sends `elements` integers, rank 1 received another number. A copy names no
    run: merge accepts both."""
    program, parts = bench.program("two_sizes", flavour), []
    for rank, n in enumerate((elements, received)):
        part = bench.fresh("rank.rfn")
        _, archive = bench.record(flavour, 2, [program], ["--time=none"], env={"ELEMENTS": str(n)})
        bench.verb("reduce", f"--rank={rank}", archive, "-o", part)
        parts.append(test_writer.copied(bench, part))
    joined = bench.fresh("two_runs.rfn")
    bench.verb("merge", *parts, "-o", joined)
    return joined


def test_other_sizes(bench, flavour):
    """A replay checks what its receives got against what was recorded, and says what is not the same."""
    run = replay(bench, flavour, 2, of_two_runs(bench, flavour, 5, 5))
    harness.compare(f"the same sizes: {run.err}", (run.code, "received as recorded" in run.out), (0, True))
    for sent, recorded in ((4, 5), (7, 6), (0, 1)):
        archive = of_two_runs(bench, flavour, sent, recorded)
        check_refused(bench, flavour, 2, archive, 1, archive, f"rank 1: received {4 * sent} bytes from rank 0, "
                      f"where {4 * recorded} were recorded, and there are more")


# ---- what is refused ----

def check_refused(bench, flavour, ranks, archive, status, *texts):
    run = replay(bench, flavour, ranks, archive)
    told = [line for line in run.err.split("\n") if line.startswith("refrain: ")]
    if run.code == 0 or len(told) != 1 or run.out.startswith(archive):
        raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")
    for text in texts:
        if text not in told[0]:
            raise harness.Failure(f"no {text!r} in {told[0]!r}")
    if flavour == "openmpi":  # MPICH's launcher joins the ranks' statuses
        harness.compare("exit status", run.code, status)


def test_refused(bench, flavour):
    _, archive = bench.record(flavour, 2, [bench.program("point_to_point", flavour)])
    check_refused(bench, flavour, 3, archive, 2, "recorded on 2 ranks", "mpirun -n 2")
    check_refused(bench, flavour, 2, bench.path("absent.rfn"), 1, "absent.rfn")


def test_refused_programs(bench):
    _, threads = bench.record("openmpi", 2, [bench.program("threads", "openmpi")])
    check_refused(bench, "openmpi", 2, threads, 1, "several threads")
    _, parts = bench.record("openmpi", 2, [bench.program("pcontrol", "openmpi")])
    check_refused(bench, "openmpi", 2, parts, 1, "sent and not received")


def test_outside_of_a_job(bench):
    _, archive = bench.record("openmpi", 2, [bench.program("point_to_point", "openmpi")])
    run = bench.run([bench.refrain, "replay", archive])
    if run.code != 2 or "mpirun -n 2 refrain replay" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.err}")
    for words in (["--repeat=no"], ["--compute=never"], ["--scale-compute=-1"], ["--timeout=0"], ["--mpi=smpi"],
                  ["--no-compute", "--scale-compute=2"], ["--scale-compute=2", "--no-compute"]):
        run = bench.run([bench.refrain, "replay", *words, archive])
        if run.code != 2 or words[0].split("=")[0] not in run.err:
            raise harness.Failure(f"{words}: exit {run.code}: {run.err}")


def test_gets_no_further(bench):
    """A rank that is in one call for longer than it may ends the job, and says where it is."""
    program = bench.program(os.path.join(harness.PROGRAMS, "pathologies", "late_sender.c"), "openmpi")
    _, archive = bench.record("openmpi", 2, [program, "--iterations", "1", "--work", "0", "--extra", "3"])
    run = replay(bench, "openmpi", 2, "--compute=sleep", "--timeout=1", archive, timeout=60)
    if run.code == 0 or "gets no further" not in run.err:
        raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")


# ---- simulated ----

SIMULATED_PROGRAMS = [(os.path.join("pathologies", name + ".c"), ["--iterations", "5"])
                      for name in ("late_sender", "early_gather", "imbalance_at_barrier", "dyn_load_balance")]
SIMULATED_PROGRAMS += [(os.path.join(harness.HERE, "..", "bench", "wavefront.c"), ["3", "8", "4"]),
                       (os.path.join(harness.HERE, "..", "bench", "adi.c"), ["3", "32"]),
                       (os.path.join(harness.HERE, "..", "examples", "halo.c"), ["10", "8"])]


def simulated_replay(bench, ranks, *words, timeout=60):
    with open(bench.path("platform.xml"), "w", encoding="ascii") as file:
        file.write(test_smpi.PLATFORM)
    return bench.run(["smpirun", "-np", str(ranks), "-platform", bench.path("platform.xml"),
                      "--log=root.thresh:error", *test_smpi.SIMULATION,
                      os.path.join(bench.build, "lib", "refrain-replay-smpi"), *words],
                     timeout=timeout)


def facts_of(run):
    """smpirun and SMPI say things before."""
    if run.code:
        raise harness.Failure(f"exit {run.code}: {run.out}{run.err}")
    return json.loads(run.out[run.out.index("{\n"):])


def check_simulated(bench, name, arguments, ranks):
    """Full, reduced, and without computing: times are exact, so a replay takes what the run took."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, name))
    archive = test_smpi.smpi_run(bench, program, ranks, arguments)
    small = bench.fresh("small.rfn")
    bench.verb("reduce", archive, "-o", small)
    facts = facts_of(simulated_replay(bench, ranks, "--json", "--repeat=1", f"--against={archive}", small))
    sizes = matrix(bench, archive)[1]["point_to_point"]
    harness.compare(f"{name}: messages", facts["messages"], sum(one["count"] for one in sizes))
    harness.compare(f"{name}: bytes", facts["message_bytes"], sum(one["bytes"] for one in sizes))
    if not facts["against"]["accuracy"] >= 0.95 or not facts["accuracy_against"] >= 0.95:
        raise harness.Failure(f"{name} on {ranks} ranks: {facts}")
    text = simulated_replay(bench, ranks, "--repeat=1", f"--against={archive}", small).out
    if not re.search(r"^ACC of \S+ against the replay of \S+: [\d.]+ %$", text, re.M):
        raise harness.Failure(text)
    none = facts_of(simulated_replay(bench, ranks, "--json", "--no-compute", archive))
    if none["replayed_seconds"] > facts["against"]["replayed_seconds"]:
        raise harness.Failure(f"{name} on {ranks} ranks without computing: {none}")


def test_simulated_no_compute(bench):
    """Without computing a replay takes what messages take, in simulated time: of 150 ms less than 20 messages' 10 us
    (each way, and a few more in MPI_Init)."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "pathologies", "late_sender.c"))
    archive = test_smpi.smpi_run(bench, program, 2, ["--iterations", "5", "--work", "0.01", "--extra", "0.02"])
    whole, none = (facts_of(simulated_replay(bench, 2, "--json", *words, archive))["replayed_seconds"]
                   for words in ([], ["--no-compute"]))
    if not 0.15 <= whole < 0.16 or not 0 < none < 0.0004:
        raise harness.Failure(f"{whole} s, without computing {none} s")


def test_simulated_4(bench):
    for name, arguments in SIMULATED_PROGRAMS:
        check_simulated(bench, name, arguments, 4)


def test_simulated_16(bench):
    for name, arguments in SIMULATED_PROGRAMS[::2]:
        check_simulated(bench, name, arguments, 16)


def test_simulated_64(bench):
    for name, arguments in SIMULATED_PROGRAMS[4::2]:
        check_simulated(bench, name, arguments, 64)


# Alike ranks once, their times too where they went alike.
CLUSTERED = ["--similarity=jitter", "--across=0.4", "--cluster"]
COMPUTING = os.path.join(test_clusters.FOLDER, "computing.h")
# Iterations of programs that compute, so that there is something to reduce.
ITERATIONS = {"sweep2d": ["10"], "adi": ["4", "8"], "open_ring": ["40"], "transpose": ["40"], "cg": ["20"],
              "vcycle": ["10"], "ghosts": ["20"], "workers": ["20"], "pairwise": ["5"], "cylinder": ["20"]}


def computing(bench, name, ranks):
    """The full archive of a program that computes for 90 to 110 us before each message or collective call."""
    compiled = test_smpi.smpi_program(bench, test_clusters.PROGRAMS[name].source, before=COMPUTING)
    env = {"REFRAIN_CLUSTER": "no"}

    def run(out):
        shutil.move(test_smpi.smpi_run(bench, compiled, ranks, ITERATIONS[name], env), out)
    return bench.once(f"{name}.computing.{ranks}", (compiled, ranks, ITERATIONS[name], env), run)


def check_clustered(bench, name, ranks):
    """As a row of a table. What is replayed without computing must not be as fast: else times could be lost, and
    nobody would see it."""
    full, small = computing(bench, name, ranks), bench.fresh("small.rfn")
    bench.verb("reduce", *CLUSTERED, full, "-o", small)
    facts = facts_of(simulated_replay(bench, ranks, "--json", "--repeat=1", f"--against={full}", small))
    none = facts_of(simulated_replay(bench, ranks, "--json", "--no-compute", small))
    harness.compare(f"{name}: messages", facts["messages"], facts["against"]["messages"])
    run = facts["against"]["recorded_seconds"]
    accuracy = 1 - abs(facts["replayed_seconds"] - run) / run
    idle = none["replayed_seconds"] / run
    print(f"| {name} | {os.path.getsize(full)} | {os.path.getsize(small)} | {accuracy:.4f} | "
          f"{facts['accuracy_against']:.4f} | {idle:.4f} |", flush=True)
    if min(accuracy, facts["accuracy_against"]) < 0.95 or idle > 0.6:
        raise harness.Failure(f"{name}: {facts}, without computing {idle} of the run")


def test_clustered(bench):
    """Archives in which alike ranks are kept once, times too where they went alike, take as long as full ones, and as
    the run, whose length the full one knows exactly."""
    print("| program, 16 ranks | bytes | clustered | ACC | against the full one | without computing |", flush=True)
    for name in test_clusters.PROGRAMS:
        check_clustered(bench, name, 12 if name == "pairwise" else 16)


def test_merged_parameters(bench):
    """Partners that are another rank's: nobody would send what a rank waits for."""
    full, merged = test_clusters.simulate(bench, "ghosts", 16, "full"), bench.fresh("merged.rfn")
    bench.verb("reduce", "--cluster", "--ignore-parameter=peer", full, "-o", merged)
    run = simulated_replay(bench, 16, merged)
    harness.compare("merged, replayed", (run.code != 0, "messages may not match" in run.err,
                                         "received as recorded" in run.out), (True, True, False))


def test_damaged(bench):
    """Bytes changed and files cut: an error that names the file, and no replay."""
    program = test_smpi.smpi_program(bench, os.path.join(harness.PROGRAMS, "late_sender.c"))
    archive = test_smpi.smpi_run(bench, program, 4)
    with open(archive, "rb") as file:
        data = file.read()
    chunks = list(rfn_reader.listed_chunks(data, rfn_reader.read_header(data)[0], True))
    # Within payloads: what is between chunks means nothing.
    inside = [chunk.end - 1 - chunk.stored // 2 for chunk in (chunks[len(chunks) // 3], chunks[-1])]
    spoiled = [data[:len(data) // 2], data[:-9], data[:70], b""]
    spoiled += [data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:]
                for at in (3, 20, 90, *inside, len(data) - 40)]
    for number, content in enumerate(spoiled):
        path = bench.path("spoiled.rfn")
        with open(path, "wb") as file:
            file.write(content)
        run = simulated_replay(bench, 4, path)
        told = [line for line in run.err.split("\n") if line.startswith("refrain: ")]
        if run.code == 0 or len(told) != 1 or path not in told[0]:
            raise harness.Failure(f"{number}: exit {run.code}: {run.out}{run.err}")


def test_forged(bench):
    """Checksums are right, the content is not: a replay is refused, or ends by itself, but does not break
    or hang. (134: SMPI ends by abort where MPI would.)"""
    for name, ranks in (("collectives", 3), ("completions", 2)):
        _, archive = bench.record("openmpi", ranks, [bench.program(name, "openmpi")])
        with open(archive, "rb") as file:
            data = file.read()
        toc, _ = rfn_reader.read_header(data)
        chunks = [(c.type, c.id, c.payload) for c in rfn_reader.listed_chunks(data, toc, True)]
        chance = random.Random(3)
        for number in range(15):
            at = number % len(chunks)
            kind, chunk_id, payload = chunks[at]
            forged = [*chunks[:at], (kind, chunk_id, test_damage.forge(payload, chance)), *chunks[at + 1:]]
            path = bench.path("forged.rfn")
            with open(path, "wb") as file:
                file.write(test_damage.container(data, forged))
            run = simulated_replay(bench, ranks, "--no-compute", path)
            if run.code not in (0, 1, 2, 3, 134):
                raise harness.Failure(f"{name} {number}: exit {run.code}: {run.out}{run.err}")
