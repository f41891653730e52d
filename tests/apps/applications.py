"""The applications: what they need, how they run, what of their output is compared, what is true of them.

An application is a class here; apps.py runs it plainly and recorded. The last line of each filter
says why the output differs between two plain runs. Truths are checks of the report where the answer
is known from the input, or from the machine: (what is known, whether the report says so, what it
says instead).
"""
import os
import re
import shutil
import subprocess

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
FLAVOUR = harness.FLAVOURS["openmpi"]


class Filter:
    """keep: only lines with one of these patterns, if there are any; drop: not those; replace: (pattern, text) in
    the others; why: what differs, in words."""

    def __init__(self, why, keep=(), drop=(), replace=()):
        self.why, self.keep, self.drop, self.replace = why, keep, drop, replace

    def __call__(self, text):
        lines = []
        for line in text.splitlines():
            if self.keep and not any(re.search(pattern, line) for pattern in self.keep):
                continue
            if any(re.search(pattern, line) for pattern in self.drop):
                continue
            for pattern, new in self.replace:
                line = re.sub(pattern, new, line)
            lines.append(line.rstrip())
        return lines


class Application:
    """name: as on the command line; title: as in the table. inputs: files beside this one, copied to where the
    application runs. outputs: files there that are compared, beside standard output."""

    name = title = ""
    packages = ()
    ranks = 4
    command = ()
    inputs = ()
    outputs = ()
    options = ()  # of refrain record
    environment = {}
    filter = Filter("nothing")
    nested = {}  # calls that callbacks make inside of other calls, per rank
    known = ()  # truths that the report is known not to say yet
    timeout = 600

    def prepare(self, folder, inside):
        """Makes what the application reads. inside(command, name): runs a command in the root, in this folder."""
        for name in self.inputs:
            shutil.copy(os.path.join(HERE, name), folder)

    def truths(self, report, screen):
        """report: of refrain report --json; screen: of refrain report --short, as one line."""
        return shares_cores(report, screen)


def shares_cores(report, screen):
    """The machine is overloaded where ranks share cores: they poll while they wait, so all want one all the time. Of the
    time that they were ready, they had a core for less than 80 %; the first screen says so before its findings."""
    cores = sum(host["cores"] or 0 for host in report["hosts"])
    if report["ranks"] <= cores or not report["cores"]:
        return []
    share, before = report["cores"]["share"], re.split(r" 1\. ", screen)[0]
    return [("ranks share cores: on one for less than 80 % of the time in which they could run", share < 0.8, share),
            ("the first screen says before its findings how long ranks had cores", "Ranks had cores for " in before,
             before)]


def rank_0_is_late(report, screen, place=""):
    """Rank 0 has more work than all others. place: the function that it computes in, if known."""
    if report["cores"] and report["cores"]["share"] < 0.5:
        return []  # who computes longest is then who lacked a core
    last = report["efficiency"]["max_outside_rank"]
    late = r"\brank 0 (alone computes|computes|takes longer|is late while it computes)\b[^.]*"
    facts = [("rank 0 computes longest", last == 0, f"rank {last}"),
             ("the first screen says that rank 0 computes longer", re.search(late, screen) is not None, screen)]
    if place:
        facts.append((f"the first screen says {place}", re.search(late + rf" in {re.escape(place)}", screen) is not None,
                      screen))
    return facts


class Nwchem(Application):
    name, title = "nwchem", "NWChem"
    packages = ("nwchem-openmpi",)
    inputs = ("water.nw",)
    command = ("nwchem.openmpi", "water.nw")
    filter = Filter(
        "times, date; addresses of heap and stack; statistics of Global Arrays, as ranks fetch work from a counter; "
        "energies to 9 digits, gradients of the iteration, numbers below 1e-9 and signs of zero, as sums are made in "
        "the order in which ranks come",
        drop=(r"^ *date +=", r"(heap|stack|total) += +\d+ doubles", r"Total times|Task +times|Time for solution",
              r"\| +(CPU|WALL) +\|", r"^calls:|^bytes (total|remote)", r"maximum total bytes"),
        replace=((r" at +[\d.]+s$", ""), (r"^( +\d+ +-\d+\.\d{7})\d{3} .*", r"\1"), (r"-(?=0\.0+\b)", " "),
                 (r"-?\d\.\d+D-(09|[1-9]\d)|0\.0D\+00", "0"), (r"(\.\d{9})\d{3,}", r"\1"),
                 (r" {2,}", " ")))


class Cp2k(Application):
    name, title = "cp2k", "CP2K"
    packages = ("cp2k", "cp2k-data")
    inputs = ("water.inp",)
    command = ("cp2k.psmp", "-i", "water.inp")
    environment = {"OMP_NUM_THREADS": "1"}
    filter = Filter(
        "times, dates, processes, memory; statistics of DBCSR and the table of times; energies to 9 digits, as sums "
        "of many threads and ranks differ in the last ones",
        keep=(r"OT DIIS", r"ENERGY\|", r"energy:", r"SCF run", r"Number of|Total number", r"PROGRAM (STARTED|ENDED) IN",
              r"Electronic density", r"warnings"),
        replace=((r"(OT DIIS +\S+) +\S+", r"\1"), (r"(\.\d{9})\d+", r"\1")))


class Lammps(Application):
    name, title = "lammps", "LAMMPS"
    packages = ("lammps",)
    inputs = ("melt.lmp",)
    command = ("lmp", "-in", "melt.lmp", "-log", "none")
    environment = {"OMP_NUM_THREADS": "1"}
    filter = Filter("times and speeds", drop=(r"^Loop time|^Performance|CPU use|wall time|^  (create|read|velocity|replicate)",
                                              r"^(Pair|Neigh|Comm|Output|Modify|Other|Bond|Kspace) +\|"))


class Hpcc(Application):
    name, title = "hpcc", "HPCC"
    packages = ("hpcc",)
    inputs = ("hpccinf.txt",)
    command = ("hpcc",)
    outputs = ("hpccoutf.txt",)
    filter = Filter("all but what passed, failed and succeeded: the rest is times and speeds",
                    keep=(r"PASSED|FAILED|^Success|Found \d+ errors|End of .* section",),
                    replace=((r"= +\d\.\d+ +\.\.\.", "="), (r" +\d+\.\d+ PASSED +\d+\.\d+", " PASSED")))


class Netpipe(Application):
    name, title = "netpipe", "NetPIPE"
    packages = ("netpipe-openmpi",)
    ranks = 2
    command = ("NPopenmpi", "-u", "262144", "-n", "1000")
    outputs = ("np.out",)
    filter = Filter("latencies and bandwidths; lines with the host of each rank, which come in any order",
                    drop=(r"^\d+: \S+$",), replace=((r"^ *(\d+) .*", r"\1"),))


class Heat(Application):
    name, title = "heat", "mpi4py"
    packages = ("python3-mpi4py", "python3-numpy")
    inputs = ("heat.py",)
    command = ("python3", "heat.py", "1200", "400")
    options = ("--mpi=openmpi",)
    environment = {"OPENBLAS_NUM_THREADS": "1"}
    # mpi4py duplicates MPI_COMM_WORLD for pickled messages; MPI_Comm_delete_attr calls what frees that.
    nested = {"MPI_Finalized": 1, "MPI_Comm_free": 1}
    known = ("the first screen says relax()",)  # work of Python is told of the function that called MPI before

    def truths(self, report, screen):
        return [*shares_cores(report, screen), *rank_0_is_late(report, screen, "relax()")]


class Interfoam(Application):
    """damBreak of OpenFOAM's tutorials on a finer grid. Cells go to ranks by a list that is written here, as Debian's
    OpenFOAM has no scotch; in the order of their numbers, in which neighbours are close."""

    name, title = "interfoam", "OpenFOAM, even"
    packages = ("openfoam", "openfoam-examples")
    command = ("interFoam", "-parallel")
    environment = {"WM_PROJECT_DIR": "/usr/share/openfoam"}
    filter = Filter("times, date, processes", drop=(r"^ExecutionTime|^Date|^Time +:|^PID|^Host|^Case", r"^\d+$", r'^"vm',
                                                    r"^Slaves|^Pstream|^nProcs"),)
    tutorial = "usr/share/doc/openfoam-examples/examples/multiphase/interFoam/laminar/damBreak/damBreak"
    finer = 4  # times as many cells in each direction
    until = 0.05  # seconds of the flow
    shares = (0.25, 0.25, 0.25, 0.25)  # of the cells, by ranks

    def prepare(self, folder, inside):
        inside(["sh", "-c", f"cp -r /{self.tutorial}/. ."], "copy")
        self.edit(folder, "system/controlDict", (r"#sinclude.*", ""), (r"(endTime|writeInterval) +[\d.]+;",
                                                                       rf"\1 {self.until};"))
        self.edit(folder, "system/blockMeshDict", (r"\((\d+) (\d+) 1\)(?= simple)", lambda found: "(%d %d 1)" % tuple(
            self.finer * int(number) for number in found.groups())))
        self.edit(folder, "system/decomposeParDict", (r"method +simple;", "method manual;"),
                  (r"numberOfSubdomains +4;", f"numberOfSubdomains {self.ranks};"),
                  (r"n +\(2 2 1\);", 'dataFile "cellDecomposition";'))
        inside(["blockMesh"], "blockMesh")
        inside(["setFields"], "setFields")
        self.decompose(folder)
        inside(["decomposePar"], "decomposePar")

    def edit(self, folder, name, *changes):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for pattern, new in changes:
            text, times = re.subn(pattern, new, text)
            if not times:
                raise harness.Failure(f"{name} of the tutorial has no {pattern}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def decompose(self, folder):
        """The rank of each cell."""
        with open(os.path.join(folder, "constant/polyMesh/owner"), encoding="utf-8", errors="replace") as file:
            cells = int(re.search(r"nCells: *(\d+)", file.read()).group(1))
        ends = [round(cells * sum(self.shares[:rank + 1])) for rank in range(self.ranks)]
        owners = [str(rank) for rank, end in enumerate(ends) for _ in range(ends[rank - 1] if rank else 0, end)]
        with open(os.path.join(folder, "constant/cellDecomposition"), "w", encoding="ascii") as file:
            file.write("FoamFile { version 2.0; format ascii; class labelList; object cellDecomposition; }\n"
                       f"{cells}\n(\n" + "\n".join(owners) + "\n)\n")


class InterfoamUneven(Interfoam):
    """Rank 0 has seven times as many cells as rank 1. Each can have a core of its own, so that rank 1 waits for rank 0
    and not for a core."""

    name, title = "interfoam-uneven", "OpenFOAM, uneven"
    ranks = 2
    shares = (0.875, 0.125)

    def truths(self, report, screen):
        return [*shares_cores(report, screen), *rank_0_is_late(report, screen)]


class Many(Application):
    name, title = "many", "many windows"
    packages = ("openmpi-bin",)
    command = ("./many_windows", "400", "10", "100")

    def prepare(self, folder, inside):
        subprocess.run([FLAVOUR.mpicc, "-O1", "-g", "-o", os.path.join(folder, "many_windows"),
                        os.path.join(HERE, "many_windows.c")], check=True)


ALL = {one.name: one for one in (Nwchem(), Cp2k(), Interfoam(), InterfoamUneven(), Lammps(), Hpcc(), Netpipe(), Heat(),
                                 Many())}
# What continuous integration runs: Fortran and one-sided access; C++ and messages; Python. The smallest downloads.
CI = ("nwchem", "interfoam", "heat")
