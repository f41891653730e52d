"""Programs of the standard ABI of MPI 5.0: one executable and one recorder under each MPI that has it. Where none is
installed, the system refuses."""
import glob
import json
import os

import harness
import test_events

SOURCES = os.path.join(os.path.dirname(harness.HERE), "src")
ABI = os.path.join(SOURCES, "record", "abi")
# Programs of test_events.py that call nothing which MPI-3 removed: the ABI does not have it.
PROGRAMS = ("point_to_point", "collectives", "persistent", "completions", "cancelled", "matched", "sends", "topologies",
            "neighbours", "windows", "one_sided", "files", "info_and_groups", "datatypes", "threads")


def library(bench, flavour):
    """A folder in which the library that programs need is that of this MPI."""
    found = sorted(glob.glob(f"/usr/lib/*/libmpi_abi_{flavour}.so.1*"))
    if not found:
        raise harness.Refused("no MPI with the standard ABI is installed (Debian 14 has some)")
    folder = bench.path(f"abi.{flavour}")
    if not os.path.isdir(folder):
        os.mkdir(folder)
        os.symlink(found[-1], os.path.join(folder, "libmpi_abi.so.1"))
    return folder


def program(bench, name, flavour):
    """The executable, which is the same for each MPI."""
    linked = os.path.join(library(bench, flavour), "libmpi_abi.so.1")
    return bench.once(f"{name}.mpiabi", name, lambda out: bench.run(
        ["cc", "-std=gnu11", "-O1", "-g", "-w", "-I", ABI, "-I", SOURCES, "-I", harness.PROGRAMS, "-I", harness.INCLUDE,
         os.path.join(harness.PROGRAMS, name + ".c"), linked, bench.region_library, "-lm", "-lpthread", "-ldl", "-o", out],
        check=True))


def recorded(bench, flavour, name, ranks, arguments=(), options=(), env=None):
    made = program(bench, name, flavour)
    environment = {"LD_LIBRARY_PATH": library(bench, flavour), **(env or {})}
    _, archive = bench.record(flavour, ranks, [made, *arguments], options, env=environment)
    bench.verb("verify", archive)
    return archive


def make_test(name, ranks):
    def test(bench, flavour):
        log = bench.fresh(f"{name}.{flavour}.log")
        archive = recorded(bench, flavour, name, ranks, env={"EXPECT_OUT": log})
        test_events.compare_logs(log, ranks, bench.dump(archive))
    return test


for _name, _ranks in test_events.programs():
    if _name in PROGRAMS:
        globals()[f"test_{_name}"] = make_test(_name, _ranks)


def test_report(bench, flavour):
    """Names and lines, and which recorder it was."""
    archive = recorded(bench, flavour, "late_sender", 3)
    harness.compare("flavour", json.loads(bench.verb("info", "--json", archive))["flavour"], "mpiabi")
    report = bench.verb("report", archive)
    assert "late_sender.c" in report, report
