"""Hosts whose clocks differ: measured by ping-pongs, and corrected when times are read.

Several hosts on one machine: Linux gives a process its own CLOCK_MONOTONIC (time namespaces) and its
own host name (UTS namespaces); where that is refused, it is told so. A preloaded library makes
clocks drift, and gives wrong times of day. By how much is known, so that the truth is.
"""
import fractions
import json
import os
import random
import re
import subprocess
import threading
import time

import harness
import rfn_reader
import test_damage
import test_reader

REAL_TIME = True
SECOND = 10 ** 9
# Half a round trip, where ranks share cores with others. All errors are compared with what was
# measured; this only says when that would mean nothing.
ERROR_LIMIT = SECOND // 20


class Host:
    """A host and its clock: shift in seconds, drift in ppm, and how wrong its time of day is."""

    def __init__(self, name, shift=0, drift=0, day=0):
        self.name, self.shift, self.drift, self.day = name, shift * SECOND, drift, day * SECOND

    def truth(self, monotonic, base):
        """The machine's CLOCK_MONOTONIC when this host's is that."""
        factor = 1 + fractions.Fraction(self.drift, 10 ** 6)
        return base + (monotonic - self.shift - base) / factor


# Whoever is not root needs a user namespace to be allowed the others.
UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]),
           "--uts", "--time"]

# Processes of different user namespaces must not look into each other's /proc or memory.
APART = {"UCX_POSIX_USE_PROC_LINK": "n", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

BY_RANK = """#!/bin/sh
case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in
%s
esac
"""


def script(bench, name, lines):
    """An executable that does something else on each rank."""
    path = bench.path(name)
    with open(path, "w", encoding="ascii") as file:
        file.write(BY_RANK % "\n".join(f"{rank}) {line} ;;" for rank, line in enumerate(lines)))
    os.chmod(path, 0o755)
    return path


def in_namespaces(bench, hosts):
    """Starts what follows on the rank's host, which is a namespace."""
    return script(bench, "namespaces.sh", [
        f"exec {' '.join(UNSHARE)} --monotonic={host.shift // SECOND} --fork "
        f"sh -c 'hostname {host.name} && exec \"$@\"' sh \"$@\"" for host in hosts])


def may_unshare(bench):
    run = bench.run([*UNSHARE, "--monotonic=7", "--fork", "sh", "-c",
                     "hostname elsewhere && uname -n"])
    if run.code != 0 or run.out != "elsewhere\n":
        raise harness.Refused(f"no clock and host name of its own for a process: {run.err.strip()}")


def preloaded(bench, hosts, base):
    """The same with a library that says what the host's clocks are."""
    library = bench.path("other_clock.so")
    bench.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", library,
               os.path.join(harness.PROGRAMS, "other_clock.c"), "-ldl"], check=True)
    return script(bench, "preloaded.sh", [
        f"exec env LD_PRELOAD={library} HOST_NAME={host.name} HOST_SHIFT={host.shift} "
        f"HOST_BASE={base} HOST_DRIFT={host.drift} HOST_DAY={host.day} \"$@\"" for host in hosts])


def record(bench, flavour, starter, hosts, arguments, sync="always", options=("--time=full",), clock="tsc"):
    """Records the ring, a rank on each of the hosts; the archive's path."""
    program = bench.program("ring", flavour)
    archive = bench.path(f"ring.{flavour}.{sync}.rfn")
    bench.run([*harness.FLAVOURS[flavour].launch(len(hosts)), starter, bench.refrain, "record", *options,
               "-f", "-o", archive, program, *arguments],
              env={"REFRAIN_CLOCK_SYNC": sync, "REFRAIN_CLOCK": clock, **APART}, check=True)
    bench.verb("verify", archive)
    test_reader.compare(bench, archive, f"{flavour}, {sync}")
    return archive


def clocks_of(bench, archive):
    return json.loads(bench.verb("info", "--json", archive))["clocks"]


def check_measurements(bench, archive, hosts, base=0):
    """Every host but the first was measured; no offset is wrong by more than it says. Returns the
    largest error by host; where a measurement was so bad that only the other was kept, with what the
    clock drifts in the whole run."""
    facts = json.loads(bench.verb("info", "--json", archive))
    clocks, errors = facts["clocks"], {hosts[0].name: 0}
    by_name = {host.name: host for host in hosts}
    harness.compare("reference", clocks["reference"], hosts[0].name)
    harness.compare("hosts", sorted(host["name"] for host in clocks["hosts"]), sorted(by_name))
    for host in clocks["hosts"]:
        if host["name"] == hosts[0].name:
            harness.compare("offsets of the reference", host["offsets"], [])
            continue
        if not 1 <= len(host["offsets"]) <= 2:
            raise harness.Failure(f"{host['name']} was measured {len(host['offsets'])} times")
        for offset in host["offsets"]:
            now = by_name[host["name"]].truth(offset["monotonic_ns"], base)
            wrong = offset["monotonic_ns"] + offset["offset_ns"] - now
            if abs(wrong) > offset["error_ns"] + 2 or not 0 < offset["error_ns"] < ERROR_LIMIT:
                raise harness.Failure(f"{host['name']}: wrong by {float(wrong)} ns: {offset}")
        errors[host["name"]] = host["error_ns"]
        if len(host["offsets"]) == 1:
            errors[host["name"]] += facts["span_ns"] * abs(by_name[host["name"]].drift) // 10 ** 6
    return errors


def outside(clock, monotonic):
    """ns to the nearest measurement, for a time that is not between two."""
    times = [offset[0] for offset in clock.offsets]
    return max(times[0] - monotonic, monotonic - times[-1], 0)


def check_times(path, hosts, errors, base=0):
    """All corrected times are those of the first host's clock, from each stream's begin to its end,
    as exactly as the clocks were measured; beyond the measurements of a short run a drift remains."""
    archive = rfn_reader.Archive(path)
    own = [s for s in archive.streams if archive.hosts[s.host] == hosts[0].name][0]
    for stream in archive.streams:
        host = next(host for host in hosts if host.name == archive.hosts[stream.host])
        events = [(event.enter, event.exit) for event in stream.events()]
        length = events[-1][1] - events[0][0]
        for part in range(11):
            monotonic = stream.start + length * part // 10
            truth = host.truth(monotonic, base) + own.realtime
            wrong = archive.aligned(stream.host, monotonic) - truth
            allowed = errors[host.name] + 2
            if host.name != hosts[0].name:
                beyond = outside(archive.clocks[stream.host], monotonic)
                allowed += beyond * abs(host.drift) // 10 ** 6
            if abs(wrong) > allowed:
                raise harness.Failure(f"rank {stream.rank}, part {part}: wrong by {float(wrong)} ns, "
                                      f"and not {allowed}")


def hops(bench, archive, n):
    """(sender, receiver, ns from the begin of the send to the end of the receive), per hop."""
    events = bench.dump(archive)
    sends, receives = [[] for _ in range(n)], [[] for _ in range(n)]
    for event in events:
        kind = {"MPI_Send": sends, "MPI_Recv": receives}.get(event["function"])
        if kind is not None:
            kind[int(event["rank"])].append(event)
    for rank in range(n):
        after = (rank + 1) % n
        harness.compare("messages", len(sends[rank]), len(receives[after]))
        for send, receive in zip(sends[rank], receives[after]):
            yield rank, after, int(receive["exit_ns"]) - int(send["enter_ns"])


def check_order(bench, archive, hosts, errors):
    """No receive ends before its send begins."""
    found = 0
    for source, dest, took in hops(bench, archive, len(hosts)):
        found += 1
        if took < -errors[hosts[source].name] - errors[hosts[dest].name]:
            raise harness.Failure(f"a message from {source} to {dest} takes {took} ns")
    if found < len(hosts):
        raise harness.Failure(f"{found} messages")


SHIFTED = [Host("alpha"), Host("alpha"), Host("beta", 5), Host("gamma", -3)]


def test_other_clocks(bench, flavour):
    """Real hosts, as the kernel has them: 5 seconds ahead, and 3 behind."""
    may_unshare(bench)
    starter = in_namespaces(bench, SHIFTED)
    archive = record(bench, flavour, starter, SHIFTED, ["20", "5000"])
    errors = check_measurements(bench, archive, SHIFTED)
    check_times(archive, SHIFTED, errors)
    check_order(bench, archive, SHIFTED, errors)
    text = bench.verb("info", archive)
    if not re.search(r"\n  beta +-[45]\.\d{9} s ", text) or not re.search(r"\n  gamma +\+[23]\.", text):
        raise harness.Failure(f"info says {text}")


def test_across_hosts(bench, flavour):
    """Ranks whose times are alike once they are corrected share them."""
    may_unshare(bench)
    archive = record(bench, flavour, in_namespaces(bench, SHIFTED), SHIFTED, ["20", "5000"],
                     options=["--time=reduced", "--similarity=absDiff:1000000", "--across=1000000"])
    told = json.loads(bench.verb("info", "--json", archive))["reduced"]
    harness.compare("sets: of the first rank, and of the others",
                    (told["threads"], told["classes"], told["time_sets"]), (4, 2, 2))


def test_tree_of_hosts(bench, flavour):
    """Six hosts: offsets add up along the tree, errors too."""
    may_unshare(bench)
    hosts = [Host(f"node{i}", 3 * i - 7) for i in range(6)]
    hosts[0].shift = 0
    archive = record(bench, flavour, in_namespaces(bench, hosts), hosts, ["3", "1000"])
    errors = check_measurements(bench, archive, hosts)
    check_times(archive, hosts, errors)
    check_order(bench, archive, hosts, errors)


def drifting():
    """Clocks that are fast and slow, and times of day that nobody set."""
    return [Host("alpha"), Host("beta", 100, 400, 2), Host("gamma", -1, -300, -4)]


def test_drift(bench, flavour):
    """Clocks that run apart by more than a millisecond are right from the begin to the end."""
    base, hosts = time.clock_gettime_ns(time.CLOCK_MONOTONIC), drifting()
    starter = preloaded(bench, hosts, base)
    archive = record(bench, flavour, starter, hosts, ["30", "100000"])
    errors = check_measurements(bench, archive, hosts, base)
    check_times(archive, hosts, errors, base)
    check_order(bench, archive, hosts, errors)
    for host in clocks_of(bench, archive)["hosts"]:
        drift = next(h.drift for h in hosts if h.name == host["name"])
        if len(host["offsets"]) == 2:
            apart = host["offsets"][1]["monotonic_ns"] - host["offsets"][0]["monotonic_ns"]
            unsure = 1e6 * sum(offset["error_ns"] for offset in host["offsets"]) / apart
            if abs(host["drift_ppm"] + drift) > unsure + 1:
                raise harness.Failure(f"{host['name']} drifts by {drift} ppm: {host}")


def mean_latencies(rows):
    """By the two ranks."""
    return {(row["source"], row["destination"]): row["mean_ns"] for row in rows}


def check_sampled(bench, archive, limit):
    """Latencies that were measured while the program ran are what the trace says, which was corrected in the end.
    The most by which a mean is wrong, in ns."""
    facts = json.loads(bench.verb("report", "--json", archive))["sampling"]
    truth = json.loads(bench.verb("sample", "--sample=random:1", "--json", archive))
    found, expected = mean_latencies(facts["categories"]), mean_latencies(truth["categories"])
    harness.compare("dropped", facts["dropped"], 0)
    harness.compare("pairs", sorted(found), sorted(expected))
    wrong = max(abs(found[pair] - expected[pair]) for pair in expected)
    if wrong > limit:
        raise harness.Failure(f"means are wrong by up to {wrong} ns: {found}, not {expected}")


SAMPLED = ("--time=full", "--with-trace", "--sample=random:1")


@harness.real_time
def test_samples_of_hosts(bench, flavour):
    """Clocks are seconds apart. While the program runs only the start's measurement is known, which may be worse than
    the end's."""
    may_unshare(bench)
    for _ in range(5):
        archive = record(bench, flavour, in_namespaces(bench, SHIFTED), SHIFTED, ["20", "5000"], options=SAMPLED)
        check_measurements(bench, archive, SHIFTED)
        offsets = [host["offsets"] for host in clocks_of(bench, archive)["hosts"] if host["offsets"]]
        if all(len(measured) == 2 for measured in offsets):
            break  # else the start's was so bad on a busy machine that it was not kept, and nobody knows how bad
    else:
        raise harness.Failure(f"of five runs none has a measurement of its start: {offsets}")
    check_sampled(bench, archive, 2 * max(offset["error_ns"] for measured in offsets for offset in measured) + SECOND // 1000)


@harness.real_time
def test_samples_of_drifting_hosts(bench, flavour):
    """Clocks drift apart by 2 ms in the run. What ranks measure of each other's messages corrects that."""
    base, hosts = time.clock_gettime_ns(time.CLOCK_MONOTONIC), [Host("alpha"), Host("beta", 100, 400)]
    archive = record(bench, flavour, preloaded(bench, hosts, base), hosts, ["500", "5000"], options=SAMPLED,
                     clock="monotonic")
    errors = check_measurements(bench, archive, hosts, base)
    check_sampled(bench, archive, 400000 + 2 * max(errors.values()))


def test_time_of_day(bench, flavour):
    """Without measurements the hosts' times of day count, right or wrong; and the launcher, which
    knows that this is one machine, is believed."""
    base, hosts = time.clock_gettime_ns(time.CLOCK_MONOTONIC), drifting()
    starter = preloaded(bench, hosts, base)
    for sync in ("never", "auto"):
        archive = record(bench, flavour, starter, hosts, ["3", "1000"], sync)
        clocks = clocks_of(bench, archive)
        harness.compare("reference", clocks["reference"], None)
        harness.compare("offsets", [host["offsets"] for host in clocks["hosts"]], [[]] * 3)
        by_hop = {source: took for source, _, took in hops(bench, archive, 3)}
        for source, days in ((0, 2), (1, -6), (2, 4)):
            if abs(by_hop[source] - days * SECOND) > SECOND:
                raise harness.Failure(f"{sync}: hops take {by_hop}")
        if "aligned by the time of day" not in bench.verb("info", archive):
            raise harness.Failure("info does not say how hosts are aligned")


def test_sessions(bench):
    """A program that never calls MPI_Init is compared in the end."""
    base, hosts = time.clock_gettime_ns(time.CLOCK_MONOTONIC), drifting()
    archive = bench.path("sessions.rfn")
    bench.run([*harness.FLAVOURS["mpich"].launch(3), preloaded(bench, hosts, base), bench.refrain,
               "record", "--time=full",
               "-f", "-o", archive, bench.program("sessions", "mpich"), "overlap"],
              env={"REFRAIN_CLOCK_SYNC": "always", "EXPECT_OUT": bench.path("sessions.log")},
              check=True)
    bench.verb("verify", archive)
    check_measurements(bench, archive, hosts, base)
    harness.compare("measurements", [len(host["offsets"]) for host in
                                     clocks_of(bench, archive)["hosts"]
                                     if host["name"] != hosts[0].name], [1, 1])


def test_one_host(bench, flavour):
    """Whatever is asked for: on one host nothing is measured, and info has nothing to say."""
    _, archive = bench.record(flavour, 3, [bench.program("ring", flavour), "2", "1"],
                              env={"REFRAIN_CLOCK_SYNC": "always"})
    harness.compare("clocks", clocks_of(bench, archive), None)
    if "Clocks" in bench.verb("info", archive):
        raise harness.Failure("info tells of clocks")
    if (rfn_reader.CLOCKS, 0) in rfn_reader.Archive(archive).chunks:
        raise harness.Failure("the archive has CLOCKS")


def test_without_times(bench, flavour):
    """No times, nothing to correct."""
    hosts = drifting()
    starter = preloaded(bench, hosts, 0)
    archive = bench.path("timeless.rfn")
    bench.run([*harness.FLAVOURS[flavour].launch(3), starter, bench.refrain, "record", "--time=full",
               "-f", "-o",
               archive, "--time=none", bench.program("ring", flavour), "2", "1"],
              env={"REFRAIN_CLOCK_SYNC": "always"}, check=True)
    bench.verb("verify", archive)
    harness.compare("clocks", clocks_of(bench, archive), None)


def test_unknown_wish(bench):
    run, _ = bench.record("mpich", 3, [bench.program("ring", "mpich"), "1", "0"],
                          env={"REFRAIN_CLOCK_SYNC": "sometimes", "REFRAIN_WRITE": "on"})
    for told in ("REFRAIN_CLOCK_SYNC is one of auto, always, never, not 'sometimes'; auto is taken",
                 "REFRAIN_WRITE is one of no, yes, not 'on'; it is ignored"):
        harness.compare(f"{told}: {run.err}", run.err.count(told), 1)


# ---- what it costs on one machine ----


def start_with_one_recorded(bench, flavour, sync, name, rank=0, before=()):
    """Starts two ranks of which only one is recorded; (process, the file that says that it is
    through MPI_Init). The other one takes part in nothing between."""
    program, through = bench.program("through", flavour), bench.path(name)
    words = [[program, through], [program, through]]
    words[rank] = [*before, bench.refrain, "record", "--time=full", "-f", "-o", bench.path(name + ".rfn"), *words[rank]]
    command = [*harness.FLAVOURS[flavour].launch(1), *words[0], ":", "-n", "1", *words[1]]
    env = {**os.environ, "UCX_LOG_LEVEL": "fatal", "REFRAIN_CLOCK_SYNC": sync}
    return subprocess.Popen(command, cwd=bench.folder, stdout=subprocess.DEVNULL, text=True,
                            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                            start_new_session=True, env=env), through


def test_no_message_on_one_machine(bench, flavour):
    """Where the launcher tells that all ranks are on one machine, the recorder sends no message in
    MPI_Init: a rank goes through it that has nobody to answer."""
    process, through = start_with_one_recorded(bench, flavour, "auto", f"nobody_answers.{flavour}")
    end = time.monotonic() + 60
    while not os.path.exists(through) and time.monotonic() < end:
        time.sleep(0.05)
    harness.end_job(process)
    process.stderr.close()
    if not os.path.exists(through):
        raise harness.Failure("the rank waits in MPI_Init")


def test_wait_at_the_start_is_told(bench):
    """Clocks of ranks that are not recorded cannot be compared; it is said why the job waits, by
    whichever rank is recorded. On several nodes, that is: the launcher's word is changed."""
    for rank in (0, 1):
        process, through = start_with_one_recorded(bench, "openmpi", "always", f"waits{rank}", rank,
                                                   ["env", "OMPI_COMM_WORLD_LOCAL_SIZE=1"])
        late = threading.Timer(60, harness.end_job, [process])
        late.start()
        told = next((line for line in process.stderr if "waiting for all ranks" in line), "")
        late.cancel()
        harness.end_job(process)
        process.stderr.close()
        if "start MPI" not in told or os.path.exists(through) != (rank == 1):
            raise harness.Failure(f"rank {rank} told: {told}")


# ---- damage ----


def with_clocks(bench):
    """The bytes of an archive with CLOCKS."""
    base, hosts = time.clock_gettime_ns(time.CLOCK_MONOTONIC), drifting()
    path = record(bench, "openmpi", preloaded(bench, hosts, base), hosts, ["4", "100000"])
    with open(path, "rb") as file:
        return path, file.read()


def test_damaged_clocks(bench):
    """Every byte of CLOCKS is spoiled; verify notices, and no verb breaks."""
    _, data = with_clocks(bench)
    begin, end = next((chunk.offset, chunk.end) for chunk in
                      rfn_reader.listed_chunks(data, rfn_reader.read_header(data)[0], True)
                      if chunk.type == rfn_reader.CLOCKS)
    tasks = []
    for at in range(begin, end):
        spoilt = test_damage.flipped(data, at)
        tasks.append((test_damage.check_verify, bench, spoilt, f"byte {at}", f"clocks.{at}.rfn"))
        if at % 4 == 0:
            tasks.append((test_damage.check_verbs, bench, spoilt, f"byte {at}", f"verbs.{at}.rfn"))
    test_damage.in_parallel(tasks)


def test_cut_clocks(bench):
    """What is left of a file that was cut has the times of the whole one, or none: cuts around
    CLOCKS."""
    path, data = with_clocks(bench)
    whole = {}
    for line in test_damage.run(bench, "dump", path)[1][1:]:
        whole.setdefault(tuple(line.split(b"\t")[1:3]), []).append(line)
    chunks = list(rfn_reader.listed_chunks(data, rfn_reader.read_header(data)[0], True))
    around = next(i for i, chunk in enumerate(chunks) if chunk.type == rfn_reader.CLOCKS)
    cuts = range(chunks[around].offset, chunks[around + 2].end, 7)
    cuts = [*cuts, *(chunk.end for chunk in chunks)]
    left = test_damage.in_parallel([(test_damage.check_cut, bench, whole, data[:at],
                                     f"cut to {at} bytes", f"cut.{at}.rfn") for at in cuts])
    harness.compare("streams that cuts leave", (min(left), max(left)), (0, 3))


@harness.long
def test_forged_clocks(bench):
    """CLOCKS of chance under right checksums: believed or refused, by both readers alike."""
    _, data = with_clocks(bench)
    chunks = [(c.type, c.id, c.payload) for c in
              rfn_reader.listed_chunks(data, rfn_reader.read_header(data)[0], True)]
    at = next(i for i, chunk in enumerate(chunks) if chunk[0] == rfn_reader.CLOCKS)
    chance, tasks = random.Random(8), []
    for number in range(150):
        payload = test_damage.forge(chunks[at][2], chance)
        forged = chunks[:at] + [(rfn_reader.CLOCKS, 0, payload)] + chunks[at + 1:]
        tasks.append((test_damage.check_forgery, bench, test_damage.container(data, forged),
                      f"forgery {number}", f"forged.{number}.rfn"))
    test_damage.in_parallel(tasks)
