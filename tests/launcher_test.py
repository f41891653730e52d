#!/usr/bin/env python3
"""What `refrain record` does before a program runs, with made-up launchers, MPIs and recorders.

The tool is copied beside empty shared objects that stand for the recorders. Programs and MPI
libraries are compiled here; the programs print their LD_PRELOAD and REFRAIN_* variables, so that
what the tool hands over is seen. Launchers are shell scripts that print their arguments, or run
them. No MPI is needed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"

SHOW = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern char **environ;
#ifdef USE_MPI
int MPI_Init(void *, void *);
void *keep = MPI_Init;
#endif
#ifdef USE_MIDDLE
int middle(void);
#endif
int main(int argc, char **argv)
{
#ifdef USE_MIDDLE
    middle();
#endif
    for (char **v = environ; *v; v++)
        if (!strncmp(*v, "REFRAIN_", 8) || !strncmp(*v, "LD_PRELOAD=", 11))
            puts(*v);
    for (int i = 0; i < argc; i++)
        printf("arg %s\n", argv[i]);
    return 7;
}
"""
MPI = "int MPI_Init(void *a, void *b) { (void)a; (void)b; return 0; }\n"


class RecordTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(os.path.realpath(tempfile.mkdtemp(prefix="refrain-launcher-")))
        cls.addClassCleanup(shutil.rmtree, cls.top)
        (cls.top / "lib").mkdir()
        cls.refrain = cls.top / "refrain"
        shutil.copy(BUILD / "refrain", cls.refrain)
        for flavour in ("mpich", "openmpi", "mpiabi"):
            cls.library(cls.top / "lib" / f"librefrain-{flavour}.so", "")
        cls.write("show.c", SHOW)
        cls.mpi = {}
        marks = {"libmpi.so.40": "int ompi_mpi_comm_world;", "libmpich.so.12": "int MPIR_Dup_fn;",
                 "libmpi.so.12": "int MPIR_Dup_fn;", "libmpi.so.1": "int ompi_mpi_comm_world;",
                 "libmpi.so.77": "", "libmpi_abi.so.0": "", "libmpi_abi.so.1": "int MPIR_Dup_fn;"}
        for name, mark in marks.items():
            folder = cls.top / ("mpi-" + name)
            folder.mkdir()
            cls.library(folder / name, MPI + mark, f"-Wl,-soname,{name}")
            cls.mpi[name] = folder / name
            cls.program("app-" + name, "-DUSE_MPI", cls.mpi[name], f"-Wl,-rpath,{folder}")
        cls.program("plain")

    @classmethod
    def write(cls, name, text, mode=0o644):
        path = cls.top / name
        path.write_text(text)
        path.chmod(mode)
        return path

    @classmethod
    def cc(cls, *words):
        subprocess.run(["cc", "-w", *map(str, words)], check=True, timeout=60)

    @classmethod
    def library(cls, path, text, *options):
        source = path.with_suffix(".c")
        source.write_text(text + "\nextern int unused_;\n")
        cls.cc("-shared", "-fPIC", "-o", path, source, *options)

    @classmethod
    def program(cls, name, *options):
        cls.cc("-o", cls.top / name, cls.top / "show.c", *options)
        return cls.top / name

    def record(self, *words, variables=None, path=None):
        environment = {"PATH": f"{path}:/usr/bin:/bin" if path else "/usr/bin:/bin"}
        environment.update(variables or {})
        return subprocess.run([self.refrain, "record", *map(str, words)], cwd=self.top, text=True,
                              env=environment, capture_output=True, timeout=60, check=False)

    def preload_of(self, *words, **options):
        """Which recorder the program runs with."""
        result = self.record(*words, **options)
        self.assertEqual(result.stderr, "")
        self.assertEqual(result.returncode, 7)  # the program's own status
        line = next(l for l in result.stdout.splitlines() if l.startswith("LD_PRELOAD="))
        return line[len("LD_PRELOAD="):]

    def refused(self, status, words, *texts, **options):
        result = self.record(*words, **options)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for text in texts:
            self.assertIn(text, result.stderr)

    def recorder(self, flavour):
        return str(self.top / "lib" / f"librefrain-{flavour}.so")

    # ---- which MPI ----

    def test_flavour_by_library(self):
        for name, flavour in (("libmpi.so.40", "openmpi"), ("libmpi.so.1", "openmpi"),
                              ("libmpich.so.12", "mpich"), ("libmpi.so.12", "mpich")):
            self.assertEqual(self.preload_of(f"./app-{name}"), self.recorder(flavour), name)

    def test_flavour_through_a_library(self):
        folder = self.top / "middle"
        folder.mkdir()
        mpi = self.mpi["libmpi.so.40"]
        source = "int MPI_Init(void *, void *); int middle(void) { return MPI_Init(0, 0); }"
        for tags in ("--enable-new-dtags", "--disable-new-dtags"):
            self.library(folder / "libmiddle.so", source, mpi, f"-Wl,{tags},-rpath,{mpi.parent}",
                         "-Wl,-soname,libmiddle.so")
            self.program("indirect", "-DUSE_MIDDLE", folder / "libmiddle.so",
                         f"-Wl,{tags},-rpath,$ORIGIN/middle,--allow-shlib-undefined")
            self.assertEqual(self.preload_of("./indirect"), self.recorder("openmpi"), tags)

    def test_library_path(self):
        mpi = self.mpi["libmpich.so.12"]
        self.program("nopath", "-DUSE_MPI", mpi)
        found = self.preload_of("./nopath", variables={"LD_LIBRARY_PATH": f"/nowhere:{mpi.parent}"})
        self.assertEqual(found, self.recorder("mpich"))

    def test_rpath_is_inherited(self):
        """DT_RPATH of the program serves its libraries too, DT_RUNPATH does not."""
        folder = self.top / "inherit"
        folder.mkdir()
        # A name that no real library has, so that the system's directories give no answer.
        mpi = self.mpi["libmpi.so.12"]
        source = "int MPI_Init(void *, void *); int middle(void) { return MPI_Init(0, 0); }"
        self.library(folder / "libmiddle.so", source, mpi, "-Wl,-soname,libmiddle.so")
        for tags, flavour in (("--disable-new-dtags", "mpich"), ("--enable-new-dtags", None)):
            self.program("inherit-app", "-DUSE_MIDDLE", folder / "libmiddle.so",
                         f"-Wl,{tags},-rpath,{folder}:{mpi.parent},--allow-shlib-undefined")
            if flavour:
                self.assertEqual(self.preload_of("./inherit-app"), self.recorder(flavour))
            else:
                self.refused(2, ["./inherit-app"], "libmpi.so.12")

    def test_unknown_mpi(self):
        self.refused(2, ["./app-libmpi.so.77"], "libmpi.so.77", "--mpi=mpich")
        self.refused(2, ["./app-libmpi_abi.so.0"], "libmpi_abi.so.0")
        self.assertEqual(self.preload_of("--mpi=mpich", "./app-libmpi.so.77"), self.recorder("mpich"))

    def test_standard_abi(self):
        """Whose MPI it is does not matter."""
        self.assertEqual(self.preload_of("./app-libmpi_abi.so.1"), self.recorder("mpiabi"))
        self.refused(2, ["--mpi=mpich", "./app-libmpi_abi.so.1"], "libmpi_abi.so.1", "the standard ABI")

    def doctor(self, *words, library=None):
        """Its exit status and page, where this MPI alone is in front of the system's."""
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.mpi[library].parent)} if library else None
        run = subprocess.run([self.refrain, "doctor", *words], cwd=self.top, env=environment, capture_output=True,
                             text=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def test_doctor_tells_libraries(self):
        for library, told in (("libmpi.so.40", "Open MPI"), ("libmpi_abi.so.1", "the standard ABI"), ("libmpi.so.12", "MPICH")):
            page = self.doctor(library=library)[1]
            self.assertRegex(page, rf"{told}.* {re.escape(str(self.mpi[library]))}: can be recorded")
            self.assertIn("cores", page)

    def test_doctor_tells_what_is_missing(self):
        recorder = pathlib.Path(self.recorder("openmpi"))
        recorder.rename(recorder.with_suffix(".away"))
        try:
            status, page = self.doctor(library="libmpi.so.40")
            self.assertEqual(status, 1)
            self.assertRegex(page, r"has no recorder here; install libopenmpi-dev")
            self.assertEqual(self.doctor("./app-libmpi.so.40")[0], 1)
        finally:
            recorder.with_suffix(".away").rename(recorder)

    def test_doctor_tells_of_a_program(self):
        status, page = self.doctor("./app-libmpi_abi.so.1")
        self.assertEqual((status, "libmpi_abi.so.1" in page, "refrain record ./app-" in page), (0, True, True), page)
        self.assertEqual(self.doctor("./app-libmpi.so.77")[0], 1)
        self.assertEqual(self.doctor("./nowhere")[0], 1)
        self.assertEqual(self.doctor("a", "b")[0], 2)

    def test_wrong_mpi_is_told(self):
        self.refused(2, ["--mpi=mpich", "./app-libmpi.so.40"], "libmpi.so.40", "Open MPI")

    def test_no_mpi(self):
        self.refused(2, ["./plain"], "./plain needs no MPI library", "--mpi=openmpi")
        self.assertEqual(self.preload_of("--mpi=openmpi", "./plain"), self.recorder("openmpi"))
        for variables, flavour in (({"OMPI_COMM_WORLD_SIZE": "2"}, "openmpi"),
                                   ({"PMI_RANK": "0", "PMI_SIZE": "1"}, "mpich"),
                                   ({"MPI_LOCALNRANKS": "1", "SLURM_PROCID": "0"}, "mpich")):
            self.assertEqual(self.preload_of("./plain", variables=variables), self.recorder(flavour))
        self.refused(2, ["./plain"], variables={"PMI_RANK": "0", "SLURM_PROCID": "0"})

    def test_script(self):
        self.write("script", f"#!/bin/sh\nexec {self.top}/plain \"$@\"\n", 0o755)
        self.refused(2, ["./script"], "is a script", "--mpi=")
        self.assertEqual(self.preload_of("--mpi=mpich", "./script"), self.recorder("mpich"))

    def test_static(self):
        self.write("mpi.c", MPI)
        self.program("static", "-static")
        self.refused(2, ["./static"], "linked statically")
        self.program("static-pie", "-static-pie")
        self.refused(2, ["./static-pie"], "linked statically")
        self.program("static-mpi", "-DUSE_MPI", self.top / "mpi.c")
        self.refused(2, ["./static-mpi"], "linked statically with its MPI")
        self.refused(2, ["--mpi=mpich", "./static-mpi"], "linked statically with its MPI")

    def test_other_machine(self):
        data = bytearray((self.top / "plain").read_bytes())
        data[18:20] = (243 if data[18] != 243 else 62).to_bytes(2, "little")  # e_machine
        path = self.top / "foreign"
        path.write_bytes(data)
        path.chmod(0o755)
        self.refused(2, ["./foreign"], "another machine")

    def test_damaged_program(self):
        data = (self.top / "plain").read_bytes()
        for size in (0, 3, 16, 64, 100, 600, 2000):
            path = self.top / "cut"
            path.write_bytes(data[:size])
            path.chmod(0o755)
            result = self.record("./cut")
            self.assertIn(result.returncode, (1, 2, 3, 126), size)

    def test_setuid(self):
        path = self.program("suid", "-DUSE_MPI", self.mpi["libmpi.so.40"])
        path.chmod(0o4755)
        self.refused(2, ["./suid"], "set-user-ID")

    def test_missing_recorder(self):
        other = self.top / "other"
        other.mkdir()
        shutil.copy(self.refrain, other)
        result = subprocess.run([other / "refrain", "record", "./app-libmpi.so.40"], cwd=self.top,
                                text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("libopenmpi-dev", result.stderr)

    def test_installed_layout(self):
        prefix = self.top / "prefix"
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib/refrain").mkdir(parents=True)
        shutil.copy(self.refrain, prefix / "bin")
        shutil.copy(self.recorder("openmpi"), prefix / "lib/refrain")
        result = subprocess.run([prefix / "bin/refrain", "record", "./app-libmpi.so.40"],
                                cwd=self.top, text=True, capture_output=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertIn("prefix/bin/../lib/refrain/librefrain-openmpi.so", result.stdout)

    # ---- what the recorder is told ----

    def variables(self, *words, **options):
        result = self.record(*words, **options)
        lines = [l for l in result.stdout.splitlines() if l.startswith("REFRAIN_")]
        found = dict(line.split("=", 1) for line in lines)
        self.assertGreater(int(found.pop("REFRAIN_PID")), 1)
        return found

    def test_variables(self):
        found = self.variables("./app-libmpi.so.40", "a", "b c")
        self.assertEqual(found, {"REFRAIN_COMMAND": "./app-libmpi.so.40 a b c",
                                 "REFRAIN_PRELOAD": self.recorder("openmpi"),
                                 "REFRAIN_TOOL": str(self.refrain)})
        found = self.variables("-o", "x.rfn", "-f", "-q", "--time=none", "--polls=all",
                               "./app-libmpi.so.40")
        self.assertEqual(found["REFRAIN_OUTPUT"], f"{self.top}/x.rfn")
        self.assertEqual(found["REFRAIN_FORCE"], "1")
        self.assertEqual(found["REFRAIN_QUIET"], "1")
        self.assertEqual(found["REFRAIN_TIME"], "none")
        self.assertEqual(found["REFRAIN_POLLS"], "all")
        for option, variable in (("--no-children", "REFRAIN_CHILDREN=no"), ("--start-off", "REFRAIN_START=off"),
                                 ("--no-cluster", "REFRAIN_CLUSTER=no"), ("--memory=64M", "REFRAIN_MEMORY=64M"),
                                 ("--across=0.4", "REFRAIN_ACROSS=0.4"),
                                 ("--merge-interval=0.5s", "REFRAIN_MERGE_INTERVAL=0.5s")):
            name, value = variable.split("=")
            self.assertEqual(self.variables(option, "./app-libmpi.so.40")[name], value)

    def test_environment_does_not_decide(self):
        found = self.variables("./app-libmpi.so.40", variables={"REFRAIN_OUTPUT": "y", "REFRAIN_FORCE": "1"})
        self.assertNotIn("REFRAIN_OUTPUT", found)
        self.assertNotIn("REFRAIN_FORCE", found)

    def test_preload_of_others_comes_first(self):
        mine = self.mpi["libmpi.so.40"]
        found = self.preload_of("./app-libmpi.so.40", variables={"LD_PRELOAD": str(mine)})
        self.assertEqual(found, f"{mine}:{self.recorder('openmpi')}")

    def test_arguments_are_the_programs(self):
        result = self.record("./app-libmpi.so.40", "-o", "--help", "--", "-f")
        self.assertIn("arg -o\narg --help\narg --\narg -f\n", result.stdout)
        result = self.record("-q", "--", "./app-libmpi.so.40", "-q")
        self.assertIn("arg ./app-libmpi.so.40\narg -q\n", result.stdout)

    # ---- in the place of a command of MPI_Comm_spawn ----

    def in_place(self, *words):
        """Status, whether the program ran with the recorder, lines of the tool."""
        result = self.record("--in-place", "-o", "x.rfn", *words)
        return result.returncode, "librefrain" in result.stdout, result.stderr.count("\n")

    def test_in_place(self):
        self.assertEqual(self.in_place("--", "./app-libmpi.so.40", "-o"), (7, True, 0))
        # What PATH does not have is looked for in the current directory.
        result = self.record("--in-place", "--", "app-libmpi.so.40")
        self.assertIn("arg app-libmpi.so.40\n", result.stdout)
        self.assertEqual(self.in_place("./nothing"), (127, False, 1))

    def test_in_place_nothing_is_refused(self):
        self.assertEqual(self.in_place("./plain"), (7, False, 1))
        self.assertEqual(self.in_place("./app-libmpi.so.77"), (7, False, 1))
        self.assertEqual(self.in_place("-q", "./app-libmpi.so.77"), (7, False, 0))
        result = self.record("--in-place", "-o", "none/x.rfn", "./app-libmpi.so.40")
        self.assertEqual(result.returncode, 7)
        self.assertNotIn("librefrain", result.stdout)

    def test_in_place_all_or_none(self):
        mine = "./app-libmpi.so.40"
        for beside, recorded in (([mine], True), (["./plain"], False), (["./nothing"], False),
                                 (["./app-libmpich.so.12"], False), ([mine, "./plain"], False)):
            words = [f"--beside={self.top}/{name}" for name in beside]
            self.assertEqual(self.in_place(*words, mine)[:2], (7, recorded), beside)

    # ---- what is refused ----

    def test_no_such_program(self):
        self.refused(127, ["./nothing"], "./nothing", "no such program")
        self.refused(127, ["plain"], "PATH")
        self.write("data", "text")
        self.refused(126, ["./data"], "not executable")
        self.refused(127, ["./lib"], "no such program")

    def test_output_cannot_be_written(self):
        self.refused(2, ["-o", ".", "./app-libmpi.so.40"], ". is a directory")
        self.refused(2, ["-o", "/dev/null", "./app-libmpi.so.40"], "/dev/null")
        self.refused(1, ["-o", "none/x.rfn", "./app-libmpi.so.40"], "none/x.rfn", "No such file")
        found = self.variables("-o", "lib/x.rfn", "./app-libmpi.so.40")
        self.assertEqual(found["REFRAIN_OUTPUT"], f"{self.top}/lib/x.rfn")

    def test_wrong_options(self):
        for words in (["--time=now", "./plain"], ["--mpi=lam", "./plain"], ["--bogus", "./plain"],
                      [], ["-o", "", "./plain"], ["-q"]):
            result = self.record(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertEqual(result.stdout, "")

    def test_only_rank_0_speaks(self):
        for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
            result = self.record("./nothing", variables={name: "3"})
            self.assertEqual((result.returncode, result.stderr), (127, ""))
            result = self.record("./nothing", variables={name: "0"})
            self.assertIn("no such program", result.stderr)

    # ---- launchers ----

    def launcher(self, name="mpirun", text='for a; do printf "%s\\n" "$a"; done\n'):
        folder = self.top / "launchers"
        folder.mkdir(exist_ok=True)
        self.write(f"launchers/{name}", f"#!/bin/sh\n{text}", 0o755)
        return folder

    def test_takes_the_programs_place(self):
        path = self.launcher()
        options = ["-q", "-o", "x.rfn", "--time=none", "--no-children"]
        result = self.record(*options, "mpirun", "-n", "8", "--mca", "a", "b",
                             "./app-libmpi.so.40", "-n", path=path)
        # The options as they were given, then the output's name once more, absolute: the last counts.
        self.assertEqual(result.stdout.splitlines(),
                         ["-n", "8", "--mca", "a", "b", str(self.refrain), "record", *options, "-o",
                          f"{self.top}/x.rfn", "--", "./app-libmpi.so.40", "-n"])
        self.assertEqual(result.returncode, 0)

    def test_mark(self):
        path = self.launcher("srun")
        result = self.record("srun", "-n", "8", "--", "./app-libmpi.so.40", path=path)
        self.assertEqual(result.stdout.splitlines(), ["-n", "8", str(self.refrain), "record", "--",
                                                      "./app-libmpi.so.40"])

    def test_through_a_launcher(self):
        path = self.launcher("mpiexec", 'shift 2\nexec "$@"\n')
        found = self.preload_of("mpiexec", "-n", "1", "./app-libmpi.so.40", path=path)
        self.assertEqual(found, self.recorder("openmpi"))
        path = self.launcher("mpiexec", 'shift 2\nPMI_RANK=0 exec "$@"\n')
        found = self.preload_of("mpiexec", "-n", "1", "./plain", path=path)
        self.assertEqual(found, self.recorder("mpich"))

    def test_launcher_errors_come_first(self):
        path = self.launcher()
        self.refused(2, ["mpirun", "-n", "1", "./app-libmpi.so.77"], "libmpi.so.77", path=path)
        self.refused(127, ["mpirun", "-n", "1", "./nothing"], "--", path=path)
        self.refused(2, ["mpirun", "-n", "1"], "no program", path=path)
        self.refused(2, ["mpirun", "-n", "1", "./plain", ":", "./plain"], "several programs",
                     path=path)
        self.refused(127, ["/no/such/mpirun", "-n", "1", "./app-libmpi.so.40"], "/no/such/mpirun")

    def test_program_in_another_directory(self):
        path = self.launcher()
        result = self.record("mpirun", "-wdir", "/elsewhere", "./there", path=path)
        self.assertEqual(result.returncode, 0, result.stderr)


class HelpTest(unittest.TestCase):
    def refrain(self, *words):
        return subprocess.run([BUILD / "refrain", *words], text=True, capture_output=True,
                              timeout=60, check=False)

    def test_first_screen(self):
        for words, status in ((["--help"], 0), (["help"], 0), ([], 2)):
            result = self.refrain(*words)
            self.assertEqual((result.returncode, result.stderr), (status, ""))
            self.assertIn("mpirun -n 8 refrain record ./app", result.stdout)
            self.assertTrue(all(len(line) <= 90 for line in result.stdout.splitlines()))
            self.assertLessEqual(len(result.stdout.splitlines()), 24)

    def test_help_of_verbs(self):
        screen = self.refrain("--help").stdout.split("Commands:")[1].split("\n\n")[0]
        lines, more = screen.strip().split("\nAlso: ")
        verbs = [line.split()[0] for line in lines.splitlines()] + more.split(", ")
        self.assertIn("record", verbs)
        for verb in verbs:
            if verb == "help":
                continue
            one, other = self.refrain(verb, "--help"), self.refrain("help", verb)
            self.assertEqual((one.returncode, one.stderr), (0, ""))
            self.assertIn(f"Usage: refrain {verb}", one.stdout)
            common, every = (set(re.findall(r"^  (?:-., |    )(--[a-z-]+)", text.stdout, re.M)) for text in (one, other))
            self.assertEqual((other.returncode, other.stderr), (0, ""))
            self.assertLessEqual(common, every)
            self.assertEqual(f"More options: refrain help {verb}." in one.stdout, common != every)

    def test_version(self):
        result = self.refrain("--version")
        self.assertRegex(result.stdout, r"^refrain \d+\.\d+\.\d+\n$")

    def test_mistakes(self):
        result = self.refrain("recrod")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'record'", result.stderr)
        for words in (["xyzzy"], ["--xyzzy"], ["help", "xyzzy"]):
            result = self.refrain(*words)
            self.assertEqual((result.returncode, result.stdout), (2, ""))

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["--help"], ["completion", "bash"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                result = subprocess.run([BUILD / "refrain", *words], stdout=full,
                                        stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn("cannot write to standard output: No space left on device", result.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=BUILD)
    arguments, rest = parser.parse_known_args()
    BUILD = arguments.build.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
