"""What the processes of a job that does not end are doing: said by a test that has waited enough.

Launchers may themselves miss that all ranks have ended, and wait for ever without a process below
them, or never answer a process that MPI_Comm_spawn has started.
"""
import os
import shutil
import subprocess

FRAMES = 14      # of each thread
MOST = 12        # processes
# As /proc/PID/comm has them.
LAUNCHERS = {"mpirun.openmpi", "orted", "prterun", "prte", "prted", "mpirun.mpich", "mpiexec.hydra", "hydra_pmi_proxy"}


def parents():
    """Process -> its parent, of all that there are."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf8", errors="replace") as stat:
                found[int(name)] = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            pass
    return found


def descendants(process):
    """The process, and all that it and these have started, parents first."""
    of, found = parents(), [process]
    for parent in found:
        found += sorted(child for child, its in of.items() if its == parent)
    return found


def read(process, name):
    try:
        with open(f"/proc/{process}/{name}", encoding="utf8", errors="replace") as file:
            return file.read().replace("\0", " ").strip()
    except OSError:  # it has ended
        return ""


def status(process):
    """The fields of /proc/PID/stat from the state on; none if it has ended."""
    return read(process, "stat").rpartition(")")[2].split()


def has_lost_its_ranks(process):
    """Whether it is a launcher, and all that is left below it are launchers, too."""
    if read(process, "comm") not in LAUNCHERS:
        return False
    below = descendants(process)[1:]
    return not any(status(each)[:1] not in ([], ["Z"]) and read(each, "comm") not in LAUNCHERS
                   for each in below)


def state(process):
    """Its command, state and CPU time, and where the kernel has it wait."""
    fields = status(process)
    ticks = os.sysconf("SC_CLK_TCK")
    seconds = sum(int(field) for field in fields[11:13]) / ticks if len(fields) > 12 else 0
    return (f"{process} {fields[0] if fields else '?'} {seconds:.2f} s of CPU, "
            f"in {read(process, 'wchan') or '?'}: {read(process, 'cmdline')[:150]}")


def frames(process):
    """Where its threads are, a line a frame, if there is a debugger."""
    if not shutil.which("gdb"):
        return []
    try:
        said = subprocess.run(
            ["gdb", "-nx", "-batch", "-p", str(process), "-ex", f"thread apply all -q bt {FRAMES}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            timeout=30, check=False).stdout.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return ["  the debugger did not answer"]
    return ["  " + line[:140] for line in said.split("\n") if line.startswith(("#", "Thread"))]


def describe(process):
    """Lines about a process and all below it, ranks before launchers, as the first lines are what a
    summary shows; the machine's load before all, as it may be the cause."""
    lines = ["load: " + read("", "loadavg")]
    for each in descendants(process)[::-1][:MOST]:
        lines += [state(each), *frames(each)]
    return "\n".join(lines)


def is_unanswered(description):
    """Whether a process that is described waits for its launcher to answer the first thing that it
    asks. Of Open MPI 4.1 with PMIx 4, as Debian has them, a child of MPI_Comm_spawn does so for ever
    once in 100 to 200 times, recorded or not; all event loops, the launcher's too, are idle then."""
    return " in PMIx_Init " in description
