"""What a recorder holds in memory, and what it does with the rest."""
import os
import re
import subprocess

import conditions
import harness


def largest(run):
    """Rank 0's largest resident set, KiB."""
    return int(re.search(r"rank 0: (\d+) KiB", run.out).group(1))


def digest(bench, archive):
    """A hash of all events but their times."""
    with subprocess.Popen([bench.refrain, "dump", archive], bufsize=0,
                          stdout=subprocess.PIPE) as dump:
        names = dump.stdout.readline().decode().rstrip("\n").split("\t")
        kept = [str(i) for i, name in enumerate(names, 1) if name not in ("enter_ns", "exit_ns")]
        harness.compare("columns of times", len(names) - len(kept), 2)
        with subprocess.Popen(["cut", "-f", ",".join(kept)], env={**os.environ, "LC_ALL": "C"},
                              stdin=dump.stdout, stdout=subprocess.PIPE) as cut:
            hashed = subprocess.run(["sha256sum"], stdin=cut.stdout, stdout=subprocess.PIPE,
                                    check=True)
    harness.compare("exit status of dump and cut", (dump.returncode, cut.returncode), (0, 0))
    return hashed.stdout


def record(bench, flavour, ranks, steps, options, timeout=120):
    program = bench.program("long_run", flavour)
    archive = bench.fresh("memory.rfn")
    run, _ = bench.record(flavour, ranks, [program, str(steps), archive + ".journal"], options,
                          archive=archive, timeout=timeout)
    bench.verb("verify", archive)
    if os.path.exists(archive + ".journal"):
        raise harness.Failure("the journal is still there")
    return run, archive


def test_spilled_and_not(bench, flavour):
    """With little memory the journal is used, and the archive holds the same."""
    spilled, small = record(bench, flavour, 2, 150000, ["--memory=1M"])
    kept, large = record(bench, flavour, 2, 150000, ["--memory=1G"])
    harness.compare("with little memory", "no journal" in spilled.out, False)
    harness.compare("with much memory", "no journal" in kept.out, True)
    harness.compare("events", digest(bench, small), digest(bench, large))


@harness.long
def test_memory_of_a_long_run(bench, flavour):
    """The recorder's memory has a limit, whatever the length of the run."""
    program = bench.program("long_run", flavour)
    plain = bench.run([*harness.FLAVOURS[flavour].launch(1), program, "1000"], check=True)
    # Where the machine is busy the run takes more than a minute, and would then save itself.
    run, _ = record(bench, flavour, 1, 3000000, ["--no-journal"])
    grown = largest(run) - largest(plain)
    if grown > 32 * 1024:
        raise harness.Failure(f"the process has grown by {grown} KiB")
    harness.compare("no journal", "no journal" in run.out, False)


def test_no_journal_possible(bench, flavour):
    """Where the journal cannot be made it is said, once per process, and nothing is lost."""
    program = bench.program("long_run", flavour)
    archive = bench.path("blocked.rfn")
    with open(archive + ".journal", "w", encoding="utf-8"):
        pass
    run, _ = bench.record(flavour, 1, [program, "150000"], ["--memory=1M"], archive=archive)
    _, other = record(bench, flavour, 1, 150000, ["--memory=1G"])
    told = [line for line in run.err.splitlines() if "journal" in line]
    harness.compare("lines about the journal", len(told), 1)
    harness.compare("events", digest(bench, archive), digest(bench, other))


@harness.condition("no disk for what memory does not hold", conditions.NO_ARCHIVE)
def test_disk_full(bench, flavour):
    """A journal that cannot grow is no reason to end the program or to lose events."""
    program = bench.program("long_run", flavour)
    archive = bench.path("no_disk.rfn")
    run = bench.run([*harness.FLAVOURS[flavour].launch(1), bench.refrain, "record", "--time=full",
                     "--force", "-o",
                     archive, "--memory=1M", program, "150000", archive + ".journal", "128"],
                    check=True)
    told = [line for line in run.err.splitlines() if line.startswith("refrain:")]
    if len(told) != 2 or "more memory" not in told[0] or "no archive was written" not in told[1]:
        raise harness.Failure(f"the recorder said {told}")
    harness.compare("files left", [n for n in os.listdir(bench.folder) if n.startswith("no_disk")], [])


def test_wrong_sizes(bench, flavour):
    program = bench.program("long_run", flavour)
    for size in ("", "0", "-1", "12Q", "1MB", "1048575", "99999999999999999999", "x"):
        run = bench.run([bench.refrain, "record", f"--memory={size}", program])
        harness.compare(f"exit status with --memory={size}", run.code, 2)
        harness.compare("the option is named", "--memory" in run.err, True)
