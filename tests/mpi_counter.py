#!/usr/bin/env python3
"""Builds a library that counts MPI calls, to be preloaded before the recorder.

It knows nothing of MPI's prototypes and shares nothing with the recorder: for every function MPI_*
(and MPIX_*_init) that the MPI library exports there is a trampoline of two instructions, which adds
one to a counter and jumps to the next definition. The first call of all, which a library's constructor
may make, looks up where these are (dlsym RTLD_NEXT). Calls that MPI makes to itself
through public names would be counted too; both MPIs call their PMPI_ names inside.

In MPI_Finalize each process writes lines "FUNCTION COUNT" to $MPI_COUNTER_OUT.<pid>. What is called
then is not counted, since the recorder's archive is complete.

    mpi_counter.py LIBMPI.so OUT.so
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = ("MPI_T_", "MPI_Wtime", "MPI_Wtick")

C_PART = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern const char *const counter_names[];
extern unsigned long counter_counts[];
extern void *counter_next[];

/* Called where a function's next definition is not known yet. Python loads MPI for itself alone: where it is not seen
 * by others, it is made so. */
__attribute__((visibility("hidden"))) void counter_resolve(void)
{
    dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    for (int i = 0; i < COUNT; i++)
        counter_next[i] = dlsym(RTLD_NEXT, counter_names[i]);
}

/* Called by the trampoline of MPI_Finalize. */
__attribute__((visibility("hidden"))) void counter_write(void)
{
    const char *out = getenv("MPI_COUNTER_OUT");
    char path[4096];
    if (!out)
        return;
    snprintf(path, sizeof path, "%s.%d", out, (int)getpid());
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < COUNT; i++) {
        if (counter_counts[i])
            fprintf(file, "%s %lu\n", counter_names[i], counter_counts[i]);
    }
    if (file)
        fclose(file);
}
"""


def functions(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
    names = {line.split()[-1].split("@")[0] for line in out.splitlines()}
    return sorted(n for n in names if re.match(r"MPI_[A-Z]|MPIX_\w+_init$", n)
                  and not n.startswith(SKIPPED) and n != n.upper() and "_f2c" not in n
                  and "_c2f" not in n and "f08" not in n and f"P{n}" in names)


REGISTERS = ("rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9")  # which hold arguments; an odd number keeps the stack aligned


def assembly(names):
    lines = ["    .text"]
    for i, name in enumerate(names):
        lines += [f"    .globl {name}", f"    .type {name}, @function", f"{name}:",
                  f"    lock incq counter_counts+{8 * i}(%rip)"]
        if name == "MPI_Finalize":
            lines += ["    subq $8, %rsp", "    call counter_write", "    addq $8, %rsp"]
        lines += [f"    jmp *counter_next+{8 * i}(%rip)", f"    .size {name}, . - {name}"]
        lines += [f"first_{i}:", *(f"    pushq %{register}" for register in REGISTERS),
                  "    call counter_resolve", *(f"    popq %{register}" for register in reversed(REGISTERS)),
                  f"    jmp *counter_next+{8 * i}(%rip)"]
    lines += ["    .data", "    .balign 8"]
    lines += ["    .globl counter_counts", "    .hidden counter_counts", "counter_counts:",
              f"    .zero {8 * len(names)}"]
    lines += ["    .globl counter_next", "    .hidden counter_next", "counter_next:"]
    lines += [f"    .quad first_{i}" for i in range(len(names))]
    lines += ["    .globl counter_names", "    .hidden counter_names", "counter_names:"]
    lines += [f"    .quad text_{i}" for i in range(len(names))]
    lines += ["    .section .rodata"]
    for i, name in enumerate(names):
        lines += [f'text_{i}: .asciz "{name}"']
    lines += ['    .section .note.GNU-stack,"",@progbits']
    return "\n".join(lines) + "\n"


def build(library, out):
    names = functions(library)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/trampolines.s", "w", encoding="ascii") as file:
            file.write(assembly(names))
        with open(f"{folder}/counter.c", "w", encoding="ascii") as file:
            file.write(C_PART)
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", f"-DCOUNT={len(names)}",
                        f'-DLIBRARY="{os.path.basename(library)}"', "-o", out,
                        f"{folder}/counter.c", f"{folder}/trampolines.s", "-ldl"], check=True)
    return names


def counted(prefix):
    """Sum of the counts that the processes have left."""
    counts = {}
    for path in glob.glob(glob.escape(prefix) + ".*"):
        with open(path, encoding="ascii") as file:
            for line in file:
                name, number = line.split()
                counts[name] = counts.get(name, 0) + int(number)
    return counts


if __name__ == "__main__":
    print(len(build(sys.argv[1], sys.argv[2])), "functions")
