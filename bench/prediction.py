"""make bench, parts texts and reality: what an archive takes beside its time-independent text, how fast predictions are from both,
and how far predictions for this machine are off."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

from engine import PLATFORM, seconds_of

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS = 5
# name, source, words of a run on 2 ranks
PROGRAMS = (("halo exchange", "../examples/halo.c", ["2000", "200"]),
            ("halo exchange, small blocks", "../examples/halo.c", ["20000", "24"]),
            ("wavefront", "wavefront.c", ["600", "8", "48"]),
            ("ring and Allreduce", "../tests/programs/folded.c", ["1500"]))


def launch(ranks):
    return ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)]


class Bench:
    def __init__(self, build, folder):
        self.refrain = os.path.abspath(os.path.join(build, "refrain"))
        self.folder = folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode:
            sys.exit(f"bench: {command} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def tell(self, verb, *words):
        return json.loads(self.run(self.refrain, verb, "--json", *words))

    def compiled(self, source):
        program = self.path(os.path.basename(source)[:-2])
        if not os.path.exists(program):
            self.run("mpicc.openmpi", "-O2", "-g", "-o", program, os.path.join(HERE, source), "-lm")
        return program

    def recorded(self, program, ranks, words, *options):
        archive = self.path(f"{os.path.basename(program)}.{ranks}.rfn")
        self.run(*launch(ranks), self.refrain, "record", "--force", "-o", archive, *options, program, *words)
        return archive

    # ---- sizes and speed ----

    def text_row(self, title, archive):
        told = self.tell("convert", archive, "-o", self.path("run.txt"), "--one-file", "--force", "--to", "simgrid")
        packed = self.tell("convert", archive, "-o", self.path("run.txt.zst"), "--one-file", "--force", "--to", "simgrid")
        platform = self.path("platform.xml")
        with open(platform, "w", encoding="ascii") as file:
            file.write(PLATFORM)
        speeds = []
        for source, words in ((archive, ["--no-contention"]), (archive, []), (self.path("run.txt"), ["--no-contention"])):
            seconds, out = seconds_of([self.refrain, "predict", "--json", source, "--platform", platform, *words], self.folder)
            speeds.append(json.loads(out)["actions"] / seconds / 1e6)
        archived, raw, zst = os.path.getsize(archive), told["text_bytes"], packed["file_bytes"]
        print(f"| {title} | {told['lines']:,} | {archived:,} | {raw:,} | {zst:,} | {raw / archived:.0f} / {zst / archived:.1f} | "
              f"{speeds[0]:.1f} / {speeds[1]:.1f} | {speeds[2]:.1f} |")

    def texts(self):
        print("\nSizes in bytes; predictions in million actions per second of CPU time, reading included\n\n"
              "| program, ranks | lines | archive | text | zstd | text, zstd / archive | from the archive alone / contention | "
              "from text alone |\n|---|---|---|---|---|---|---|---|")
        for title, source, words, ranks in (("halo exchange, 16", "../examples/halo.c", ["2000", "16"], 16),
                                            ("wavefront, 64", "wavefront.c", ["100", "8", "8"], 64),
                                            ("sweeps (adi), 64", "adi.c", ["40", "16"], 64)):
            archive = self.recorded(self.compiled(source), ranks, words, "--time-independent")
            self.text_row(title, archive)

    # ---- this machine ----

    def main_seconds(self, archive):
        """From the end of MPI_Init to the begin of MPI_Finalize."""
        report = self.tell("report", archive)
        return report["main_to_seconds"] - report["main_from_seconds"]

    def reality_row(self, title, source, words):
        """Real runs and predictions from runs with volumes, in turn; each prediction's own run is no part of what it is held
        against."""
        program = self.compiled(source)
        real, measured, volumes = [], [], []
        for _ in range(RUNS):
            archive = self.recorded(program, 2, words, "--time=full")
            real.append(self.main_seconds(archive))
            measured.append(self.predicted(archive, "--measured-compute"))
            volumes.append(self.predicted(self.recorded(program, 2, words, "--time-independent", "--volume=cpu")))
        there = statistics.median(real)
        offs = [f"{statistics.median(found):.3f} s ({statistics.median(found) / there - 1:+.1%})" for found in (measured, volumes)]
        print(f"| {title} | {there:.3f} s ({min(real):.3f} to {max(real):.3f}) | {offs[0]} | {offs[1]} |")

    def predicted(self, archive, *words):
        return self.tell("predict", archive, "--platform", self.path("here.xml"), *words)["predicted_seconds"]

    def reality(self):
        self.run(*launch(2), self.refrain, "calibrate", "--platform", self.path("here.xml"), "--force", "--seconds=20")
        print("\n2 ranks on this machine, calibrated: between MPI_Init and MPI_Finalize; medians of "
              f"{RUNS} runs\n\n| program | real (least to most) | predicted from times | predicted from CPU time |\n|---|---|---|---|")
        for title, source, words in PROGRAMS:
            self.reality_row(title, source, words)


def run(build, part):
    with tempfile.TemporaryDirectory(prefix="refrain-bench-") as folder:
        getattr(Bench(build, folder), part)()


if __name__ == "__main__":
    run(sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "..", "build"), sys.argv[1])
