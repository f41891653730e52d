"""Call paths of programs that were built in unusual ways."""
import os

import harness

SOURCE = os.path.join(harness.PROGRAMS, "nested.c")


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as source:
        return next(i for i, line in enumerate(source, 1) if f"/* {mark} */" in line)


WITH_LINES = " > ".join(f"{function}[programs/nested.c:{line_of(mark)}]" for function, mark in
                        (("main", "MAIN"), ("middle", "MIDDLE"), ("inner", "INNER")))


def built(bench, flavour, name, *flags):
    """programs/nested.c as a program of its own folder, as tests change what lies beside it."""
    folder = bench.fresh(f"{name}.{flavour}")
    os.makedirs(folder)
    program = os.path.join(folder, "nested")
    bench.run([harness.FLAVOURS[flavour].mpicc, "-std=gnu11", "-g", *flags, SOURCE, "-o", program], check=True)
    return program


def path_of_barrier(bench, flavour, program):
    _, archive = bench.record(flavour, 1, [program])
    paths = [event["call_path"] for event in bench.dump(archive) if event["function"] == "MPI_Barrier"]
    harness.compare("calls", len(paths), 10)
    harness.compare("different paths", len(set(paths)), 1)
    return paths[0]


def test_separate_debug_files(bench, flavour):
    """Lines come from the file that .gnu_debuglink names, if it belongs to the program."""
    for build_id in ("sha1", "none"):
        program = built(bench, flavour, f"separate-{build_id}", f"-Wl,--build-id={build_id}")
        folder, debug = os.path.dirname(program), program + ".debug"
        hidden = os.path.join(folder, ".debug")
        os.mkdir(hidden)
        bench.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        bench.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={debug}", program], check=True)
        harness.compare(f"{build_id}, beside", path_of_barrier(bench, flavour, program), WITH_LINES)
        os.rename(debug, os.path.join(hidden, "nested.debug"))
        harness.compare(f"{build_id}, in .debug", path_of_barrier(bench, flavour, program), WITH_LINES)
        other = built(bench, flavour, f"other-{build_id}", "-O1", f"-Wl,--build-id={build_id}")
        bench.run(["objcopy", "--only-keep-debug", other, os.path.join(hidden, "nested.debug")], check=True)
        without = path_of_barrier(bench, flavour, program)
        harness.compare(f"{build_id}, of another program", "nested.c" in without, False)


def test_without_unwind_tables(bench, flavour):
    """With frame pointers the path is whole; without them it ends. No frame is made up."""
    program = built(bench, flavour, "pointers", "-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer")
    harness.compare("with frame pointers", path_of_barrier(bench, flavour, program), WITH_LINES)
    program = built(bench, flavour, "nothing", "-O2", "-fno-asynchronous-unwind-tables", "-fomit-frame-pointer")
    path = path_of_barrier(bench, flavour, program)
    harness.compare("without", WITH_LINES.endswith(path), True)
