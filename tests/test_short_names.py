"""Functions of stripped files go by the exported function before them, and those of C++ by short names: in
tables, in what whatif prints and takes, and in other formats. nm and the sources say what is right."""
import json
import os
import re

import harness
import test_otf2

ENDS = ("MPI_Init", "MPI_Finalize")


def source(name):
    return os.path.join(harness.PROGRAMS, name)


def build(folder, bench, compiler, name, sources, flags):
    """A library and a program that needs it, in a new folder."""
    os.mkdir(folder)
    library, program = os.path.join(folder, f"lib{name}.so"), os.path.join(folder, name)
    bench.run([*compiler, "-fPIC", "-shared", *flags, source(sources[0]), "-o", library], check=True)
    bench.run([*compiler, source(sources[1]), "-L", folder, f"-l{name}", "-Wl,-rpath,$ORIGIN", "-o", program], check=True)
    return library, program


def stripped(bench, flavour):
    """A program and its library, stripped; where functions were, by name."""
    def make(folder):
        compiler = [harness.FLAVOURS[flavour].mpicc, "-O1", "-w", "-fno-toplevel-reorder"]
        library, program = build(folder, bench, compiler, "stripped", ("stripped_library.c", "stripped.c"), ())
        for path in (library, program):
            with open(path + ".nm", "w", encoding="ascii") as file:
                file.write(bench.run(["nm", path], check=True).out)
            bench.run(["strip", path], check=True)
    folder = bench.once("stripped", flavour, make)
    addresses = {}
    for name in ("libstripped.so", "stripped"):
        with open(os.path.join(folder, name + ".nm"), encoding="ascii") as file:
            addresses |= {words[2]: int(words[0], 16) for words in map(str.split, file) if len(words) == 3}
    return os.path.join(folder, "stripped"), addresses


def remedies(bench, archive):
    told = json.loads(bench.verb("whatif", "--json", "--top", "100", archive))["remedies"]
    for remedy in told:
        if remedy["selector"].startswith(("call:", "wait:")) and any(end in remedy["selector"].split(" < ")[0] for end in ENDS):
            raise harness.Failure(f"this cannot be mended: {remedy['selector']}")
    return told


def without(bench, archive, selector):
    return json.loads(bench.verb("whatif", "--json", "--remove", selector, archive))["predicted_seconds"]


def check_selectors(bench, archive):
    """All names that whatif prints select, and save what it said."""
    told = remedies(bench, archive)
    recorded = json.loads(bench.verb("whatif", "--json", archive))["recorded_seconds"]
    names = [remedy for remedy in told if remedy["selector"].startswith(("call:", "wait:", "compute:"))]
    for remedy in names:
        found = recorded - without(bench, archive, remedy["selector"])
        if abs(found - remedy["saved_seconds"]) > 1e-6:
            raise harness.Failure(f"{remedy['selector']} saves {found} s, not {remedy['saved_seconds']} s")
    return [remedy["selector"] for remedy in names]


def test_stripped(bench, flavour):
    program, addresses = stripped(bench, flavour)
    _, archive = bench.record(flavour, 3, [program])
    report = json.loads(bench.verb("report", "--json", archive))
    row = next(row for row in report["call_paths"] if row["function"] == "MPI_Allreduce")
    behind = {name: f"library_begin+0x{addresses[name] - addresses['library_begin']:x}" for name in ("hidden_sum", "hidden_work")}
    wanted = [("libstripped.so", behind["hidden_sum"]), ("libstripped.so", behind["hidden_work"]),
              ("stripped", f"+0x{addresses['steps']:x}"), ("stripped", f"+0x{addresses['main']:x}")]
    found = [(os.path.basename(frame["module"]), frame["function"]) for frame in row["frames"] if not frame["internal"]]
    harness.compare("frames", found[:4], wanted)
    begin, distance = behind["hidden_work"].split("+")
    text = " ".join(bench.verb("report", "--short", archive).split())
    if f"code after {begin}()+{distance} [libstripped.so+0x" not in text:
        raise harness.Failure(text)
    if "the program has hardly any: compile it with -g and do not strip it" not in text:
        raise harness.Failure(f"it is not said that names are missing: {text}")
    selectors = check_selectors(bench, archive)
    if f"compute:libstripped.so: code after {begin}()+{distance}" not in selectors:
        raise harness.Failure(f"the late function is not in {selectors}")


def solvers(bench, flavour):
    compiler = [harness.FLAVOURS[flavour].mpicc.replace("mpicc", "mpicxx"), "-std=c++17", "-O1", "-g", "-w",
                "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    def make(folder):
        build(folder, bench, compiler, "solvers", ("solvers.cpp", "solvers.cpp"), ("-DLIBRARY",))
    program = os.path.join(bench.once("solvers", compiler, make), "solvers")
    return bench.once(f"solvers-archive.{flavour}", (), lambda out: bench.record(flavour, 3, [program], archive=out))


def test_cpp(bench, flavour):
    archive = solvers(bench, flavour)
    selectors = check_selectors(bench, archive)
    printed = "compute:libsolvers.so: PCG::scalarSolve()"
    if printed not in selectors:
        raise harness.Failure(f"{printed} is not in {selectors}")
    predicted = without(bench, archive, printed)
    for form in ("PCG::scalarSolve()", "Foam::PCG::scalarSolve()", "_ZNK4Foam3PCG11scalarSolveERNS_5FieldIdEEi()"):
        harness.compare(f"what is gone with {form}", without(bench, archive, f"compute:{form}"), predicted)
    for selector in selectors:
        if len(selector.split(" < ")) > 5 or "<double" in selector or "anonymous" in selector:
            raise harness.Failure(f"more than four names, or too long ones: {selector}")
    path = next(row for row in json.loads(bench.verb("report", "--json", archive))["wait_states"] if row["function"] == "MPI_Allreduce")
    names = [frame["function"] for frame in path["frames"] if not frame["internal"]]
    assert "_ZNK4Foam3PCG11scalarSolveERNS_5FieldIdEEi" in names, f"the linker's names are gone: {names}"
    for name in ("< PCG::scalarSolve", "< Foam::run", "< main"):
        assert name in path["call_path"], path["call_path"]
    page = " ".join(bench.verb("report", "--all", archive).split())
    for chain in re.findall(r"MPI_Allreduce < .*? < \.\.\.", page):
        if chain.count(" < ") > 4:
            raise harness.Failure(f"more than four names: {chain}")
    if page.count(" < ...") == 0 or "< main (solvers.cpp:" in page.split("MPI_Allreduce < ", 1)[1].split(" < ...")[0]:
        raise harness.Failure(f"no path is cut: {page}")
    for words in ("in PCG::scalarSolve() [solvers.cpp:", "MPI_Barrier < lambda in PCG::scalarSolve (solvers.cpp:", "MPI_Allreduce < PCG::scalarSolve (solvers.cpp:"):
        assert words in page, page
    assert "Foam::PCG" not in page and "<double>" not in page, page


def test_otf2_regions(bench):
    """Regions have the short names; the archive that is made of them has the linker's again."""
    archive = solvers(bench, "openmpi")
    anchor = test_otf2.to_otf2(bench, archive)[1]
    definitions = bench.run(["otf2-print", "-G", anchor], check=True).out
    names = dict(re.findall(r'REGION .*Name: "([^"]*)" <\d+> \(Aka. "([^"]*)"', definitions))
    harness.compare("a region's canonical name", names.get("libsolvers.so: PCG::scalarSolve"), "_ZNK4Foam3PCG11scalarSolveERNS_5FieldIdEEi")
    harness.compare("the program's own function", names.get("main"), "main")
    back = bench.fresh("back.rfn")
    bench.verb("convert", anchor, "-o", back)
    functions = {frame["function"] for row in json.loads(bench.verb("report", "--json", back))["call_paths"] for frame in row["frames"]}
    assert "_ZNK4Foam3PCG11scalarSolveERNS_5FieldIdEEi" in functions, functions
