"""Programs with threads, with the recorder in them, under ThreadSanitizer.

Program and recorder are instrumented, MPI is not: what its libraries do to memory is not looked at
(ignore_noninstrumented_modules), and nothing of ours is suppressed. The runs are checked against
the programs' logs too, as they meet other interleavings than without the sanitizer.
"""
import os
import shutil

import harness
import test_events as test_events_module

# What is tested is built here, which takes as long as any module: one lane does so while others work.
TOGETHER = EARLY = LONG = True
ROOT = os.path.dirname(harness.HERE)
PROGRAMS = {"threads": 2, "threads_apart": 2, "threads_handles": 2}
# Checkpoints all the time.
JOURNAL = {"REFRAIN_JOURNAL": "yes", "REFRAIN_JOURNAL_INTERVAL": "1"}
# What else the recorder does with the calls of threads.
MODES = [{"REFRAIN_SAMPLE": "adaptive"}, {"REFRAIN_SAMPLE": "random:0.5"}, {"REFRAIN_SAMPLE": "counter:3"},
         {"REFRAIN_KEEP_PREDICTIONS": "1s"}]
RACE = """
#include <pthread.h>
#include <stdio.h>
static volatile int shared;
static void *add(void *unused) { for (int i = 0; i < 100000; i++) shared++; return unused; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, add, NULL);
    add(NULL);
    pthread_join(thread, NULL);
    return 0;
}
"""
FOUND = 66  # exit status of a program in which a race was found


def build(bench, flavour):
    """The recorder as a static library, instrumented."""
    folder = bench.build + "-tsan"
    library = os.path.join(folder, "lib", f"librefrain-{flavour}.a")
    os.makedirs(folder, exist_ok=True)
    with harness.locked(os.path.join(folder, "lock")):  # the flavours have objects in common
        # The fence that the sanitizer does not know is in what rank 0 does when all threads are
        # done.
        bench.run(["make", "--no-print-directory", f"-j{min(os.cpu_count() or 1, 8)}",
                   f"O={folder}", "SAN=thread", "CFLAGS=-Wno-tsan", os.path.relpath(library, ROOT)], cwd=ROOT, timeout=600,
                  check=True, env={"MAKEFLAGS": "", "MFLAGS": ""})
    return library


def compile_program(bench, compiler, source, out, link=()):
    bench.run([compiler, "-fsanitize=thread", "-std=gnu11", "-O1", "-g", "-w", "-I",
               harness.PROGRAMS, "-o", out, source, *link, "-lpthread"], check=True)


def without_randomization(bench):
    """A prefix for commands: gcc's ThreadSanitizer cannot place its memory when addresses are more
    random than it knows. Where a container forbids to change that, it may work all the same."""
    prefix = ["setarch", "-R"]
    possible = shutil.which("setarch") and bench.run([*prefix, "true"]).code == 0
    return prefix if possible else []


def test_sanitizer_finds_races(bench):
    source, out = bench.path("race.c"), bench.path("race")
    with open(source, "w", encoding="utf-8") as file:
        file.write(RACE)
    compile_program(bench, "gcc", source, out)
    run = bench.run([*without_randomization(bench), out])
    harness.compare("exit", run.code, FOUND)


def check(bench, flavour, name, modes):
    out, archive = bench.path(f"{name}.{flavour}.tsan"), bench.path(f"{name}.{flavour}.tsan.rfn")
    compile_program(bench, harness.FLAVOURS[flavour].mpicc,
                    os.path.join(harness.PROGRAMS, name + ".c"), out,
                    ["-Wl,--export-dynamic", "-Wl,--whole-archive", build(bench, flavour),
                     "-Wl,--no-whole-archive", "-lzstd", "-lunwind", "-ldw", "-lelf", "-ldl"])
    for mode in modes:
        check_run(bench, flavour, name, out, archive, mode)


def check_run(bench, flavour, name, out, archive, mode):
    log = bench.fresh("log")
    environment = {
        "EXPECT_OUT": log, "REFRAIN_OUTPUT": archive, "REFRAIN_FORCE": "1", "REFRAIN_WITH_TRACE": "yes", **mode,
        "TSAN_OPTIONS": f"ignore_noninstrumented_modules=1 exitcode={FOUND}",
        "UCX_MEM_EVENTS": "n"}  # UCX's hooks of mmap and the sanitizer's crash each other
    run = bench.run([*without_randomization(bench),
                     *harness.FLAVOURS[flavour].launch(PROGRAMS[name]), out], env=environment)
    if run.code != 0 or "ThreadSanitizer" in run.out + run.err:
        raise harness.Failure(f"{mode}: exit {run.code}\n{run.out[:6000]}{run.err[:6000]}")
    bench.verb("verify", archive)
    test_events_module.compare_logs(log, PROGRAMS[name], bench.dump(archive))


def make_test(name, modes):
    def test(bench, flavour):
        check(bench, flavour, name, modes)
    return test


for _name in PROGRAMS:
    globals()[f"test_race_free_{_name}"] = harness.condition(
        "a checkpoint every millisecond, under ThreadSanitizer", "no race")(make_test(_name, [JOURNAL]))
    globals()[f"test_race_free_{_name}_sampled"] = make_test(_name, MODES)
