"""Fortran programs: the same events as from C, whichever way MPI is used.

programs/fortran/calls.c and the three programs that include body.inc make the same calls.
"""
import os
import re
import sys

import harness
import test_regions

FOLDER = os.path.join(harness.PROGRAMS, "fortran")
WAYS = ("mpif_h", "use_mpi", "use_mpi_f08")

# Symbols of MPI's Fortran libraries that are no calls to record: functions of times and addresses,
# predefined callbacks, and names beyond the standard (Open MPI 6 has a misspelt one).
UNRECORDED = re.compile(r"(?i)^mpi_(wtime|wtick|aint_add|aint_diff|f_sync_reg|sizeof_\w+|"
                        r"(comm_|type_|win_)?(dup|null_copy|null_delete)_fn|conversion_fn_null|"
                        r"delete_error_(class|code|string)|status_(f082f|f2f08)|"
                        r"request_status_get_any)(_f08(ts)?)?_*$")


def fortran(bench, flavour, name, flags=()):
    """Compiles programs/fortran/NAME.F90; the executable's path."""
    def compile_to(out):
        modules = bench.fresh("modules")
        os.mkdir(modules)
        bench.run([f"mpifort.{flavour}", "-O1", "-g", "-w", "-fallow-argument-mismatch", "-J",
                   modules, "-o", out, os.path.join(FOLDER, name + ".F90"), *flags], check=True)
    return bench.once(f"{name}.{flavour}", ("fortran", flags), compile_to)


def record(bench, flavour, ranks, program, options=()):
    command = [program] if isinstance(program, str) else program
    run, archive = bench.record(flavour, ranks, command, options)
    bench.verb("verify", archive)
    for text in ("not in the archive", "stops"):
        if text in run.err:
            raise harness.Failure(run.err)
    return bench.dump(archive)


def is_unsuccessful(event):
    """Polls without success: how many there are is chance."""
    return bool(re.search(r"(^| )polls=", event["parameters"]))


def by_rank(events):
    ranks = {}
    for event in events:
        if not is_unsuccessful(event):
            ranks.setdefault(int(event["rank"]), []).append(event)
    return ranks


def leaf(event):
    """Function and file of the innermost frame."""
    match = re.match(r"(.*)\[(?:.*/)?(.*):\d+\]$", event["call_path"].split(" > ")[-1])
    return match.groups() if match else (event["call_path"], "")


def compare_events(way, found, expected):
    harness.compare(f"{way}: ranks", sorted(found), sorted(expected))
    for rank in sorted(expected):
        for number, (one, other) in enumerate(zip(found[rank], expected[rank])):
            what = f"{way}, rank {rank}, event {number}"
            harness.compare(what, (one["function"], one["parameters"]),
                            (other["function"], other["parameters"]))
            name, file = leaf(one)
            harness.compare(f"{what}: file", file, "body.inc")
            wanted = leaf(other)[0].replace("main", "everything")
            if not name.endswith(wanted):
                raise harness.Failure(f"{what}: called from {name}, expected {wanted}")
        harness.compare(f"{way}, rank {rank}: events", len(found[rank]), len(expected[rank]))


def check_ways(bench, flavour, options=()):
    reference = bench.program(os.path.join(FOLDER, "calls.c"), flavour)
    expected = by_rank(record(bench, flavour, 3, reference, options))
    for way in WAYS:
        found = by_rank(record(bench, flavour, 3, fortran(bench, flavour, way), options))
        compare_events(way, found, expected)


def test_same_as_c(bench, flavour):
    check_ways(bench, flavour)


def test_same_as_c_without_times(bench, flavour):
    check_ways(bench, flavour, ["--time=none"])


def test_calls_count_once(bench, flavour):
    """What each rank calls, counted in the source."""
    counts = {"MPI_Init_thread": 1, "MPI_Finalize": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1,
              "MPI_Sendrecv": 4, "MPI_Waitall": 12, "MPI_Waitany": 4, "MPI_Waitsome": 4,
              "MPI_Test": 2, "MPI_Testall": 2, "MPI_Testany": 2, "MPI_Testsome": 2,
              "MPI_Irecv": 12, "MPI_Isend": 6, "MPI_Startall": 6, "MPI_Start": 4,
              "MPI_Wait": 4, "MPI_Request_free": 4, "MPI_Bcast": 2, "MPI_Allreduce": 6,
              "MPI_Reduce": 2, "MPI_Gatherv": 2, "MPI_Barrier": 4, "MPI_Comm_split": 4,
              "MPI_Comm_set_name": 2, "MPI_Comm_dup": 2, "MPI_Type_vector": 2,
              "MPI_Type_commit": 2, "MPI_Type_free": 2, "MPI_Comm_get_attr": 2,
              "MPI_Info_create": 2, "MPI_Info_set": 2, "MPI_Info_get": 4, "MPI_Info_get_nthkey": 2, "MPI_Info_free": 2}
    for way in WAYS:
        ranks = by_rank(record(bench, flavour, 3, fortran(bench, flavour, way)))
        for rank, events in ranks.items():
            found = harness.count_calls(events)
            for function, count in counts.items():
                harness.compare(f"{way}, rank {rank}: {function}", found.get(function, 0), count)


def test_sections_and_callbacks(bench, flavour):
    """Where MPI's library makes several C calls of one, or none."""
    sent = ["MPI_Send bytes=48", "MPI_Send bytes=72", "MPI_Send bytes=32"]
    received = ["MPI_Recv bytes=48", "MPI_Recv bytes=72", "MPI_Recv bytes=32"]
    rest = ["MPI_Op_create commute=1", "MPI_Allreduce bytes=48", "MPI_Op_free",
            "MPI_Comm_create_keyval comm_keyval=@key", "MPI_Comm_set_attr comm_keyval=@key",
            "MPI_Comm_dup newcomm=@twin", "MPI_Comm_get_attr comm=@twin comm_keyval=@key flag=1",
            "MPI_Comm_delete_attr comm=@twin comm_keyval=@key",
            "MPI_Comm_get_attr comm=@twin comm_keyval=@key flag=0",
            "MPI_Comm_free_keyval comm_keyval=@key", "MPI_Ibarrier comm=@twin", "MPI_Wait",
            "MPI_Comm_free comm=@twin", "MPI_Comm_set_errhandler comm=self",
            "MPI_Send dest=5 comm=self error=6", "MPI_Finalize"]
    ranks = by_rank(record(bench, flavour, 2, fortran(bench, flavour, "sections")))
    for rank, messages in enumerate((sent, received)):
        harness.compare_log(f"rank {rank}", ["MPI_Init", "MPI_Comm_rank", *messages, *rest],
                            ranks[rank], {})


def test_library_of_an_interpreter(bench, flavour):
    """MPI's Fortran libraries loaded for one module only."""
    library = fortran(bench, flavour, "library", ("-shared", "-fPIC"))
    code = f"import ctypes; ctypes.CDLL('{library}').reduce()"
    ranks = by_rank(record(bench, flavour, 2, [sys.executable, "-c", code], [f"--mpi={flavour}"]))
    log = ["MPI_Init", "MPI_Allreduce sendbuf=IN_PLACE count=3 bytes=12",
           "MPI_Comm_get_attr comm_keyval=MPI_TAG_UB flag=1", "MPI_Finalize"]
    for rank in range(2):
        harness.compare_log(f"rank {rank}", log, ranks[rank], {})


def test_pmpi_is_not_recorded(bench, flavour):
    program = bench.program(os.path.join(FOLDER, "unseen.c"), flavour)
    run, archive = bench.record(flavour, 2, [program])
    ranks = by_rank(bench.dump(archive))
    for rank in range(2):
        harness.compare(f"rank {rank}", [e["function"] for e in ranks[rank]],
                        ["MPI_Init", "MPI_Barrier", "MPI_Finalize"])
    harness.compare("told", "4 calls by PMPI names went past the recorder" in run.err, True)


def test_control_around_mpi(bench, flavour):
    for flags in ((), ("-DF08",)):
        test_regions.check_around(bench, flavour, fortran(bench, flavour, "pcontrol_around", flags))


def text_symbols(bench, path):
    lines = bench.run(["nm", "-D", "--defined-only", path], check=True).out.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] in "TW"}


def test_all_entries(bench, flavour):
    """Every call that MPI's Fortran libraries offer has an entry in the recorder."""
    program = fortran(bench, flavour, "use_mpi_f08")
    libraries = re.findall(r"=> (\S*/lib(?:mpi_(?:mpifh|use)|mpichfort)\S*)",
                           bench.run(["ldd", program], check=True).out)
    offered = set().union(*(text_symbols(bench, path) for path in libraries))
    offered = {s for s in offered if re.match(r"mpi_|MPI_[A-Z0-9_]+$", s)
               and not UNRECORDED.match(s)}
    if len(offered) < 1000:
        raise harness.Failure(f"{len(offered)} symbols in {libraries}")
    recorder = os.path.join(bench.build, "lib", f"librefrain-{flavour}.so")
    harness.compare("without an entry", sorted(offered - text_symbols(bench, recorder)), [])
