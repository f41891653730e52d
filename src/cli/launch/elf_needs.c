/* A breadth-first walk over the needed libraries, each visited once. The queue is an array of
 * files in order of discovery; its elements point back at the one that needed them, because run
 * paths are inherited that way. Elements are allocated singly so that these pointers stay valid.
 */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/launch/elf_needs.h"

#include "cli/launch/elf_file.h"
#include "cli/launch/library_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIBRARIES_MAX = 4096 }; /* a program with more is not looked through to the end */

struct visited {
    struct rfn_elf_file file;
    struct rfn_loaded loaded;
};

struct walk {
    struct rfn_library_search search;
    struct visited *queue[LIBRARIES_MAX];
    char *names[LIBRARIES_MAX]; /* every needed name that was looked at */
    size_t n, n_names;
};

enum rfn_mpi rfn_mpi_of_name(const char *soname)
{
    static const struct {
        const char *start;
        enum rfn_mpi mpi;
    } names[] = {{"libsimgrid.so", RFN_MPI_SMPI},      {"libmpich", RFN_MPI_MPICH},
                 {"libmpi_mpifh.so", RFN_MPI_OPENMPI}, {"libmpi_usempi", RFN_MPI_OPENMPI},
                 {"libmpi_cxx.so", RFN_MPI_OPENMPI},   {"libmpi.so.20", RFN_MPI_OPENMPI},
                 {"libmpi.so.40", RFN_MPI_OPENMPI},    {"libmpi.so", RFN_MPI_OTHER},
                 {"libmpi_abi.so.1", RFN_MPI_ABI}, /* .so.0 was provisional */
                 {"libmpi_", RFN_MPI_OTHER},           {"libmpifort.so", RFN_MPI_OTHER},
                 {"libmpicxx.so", RFN_MPI_OTHER},      {"libmpt.so", RFN_MPI_OTHER}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(soname, names[i].start, strlen(names[i].start)) == 0)
            return names[i].mpi;
    }
    return RFN_MPI_NONE;
}

enum rfn_mpi rfn_mpi_of_library(const char *name, const char *path)
{
    /* What the two mpi.h refer to by name, and so every version and relative has. */
    static const char *const marks[] = {"ompi_mpi_comm_world", "MPIR_Dup_fn", NULL};
    enum rfn_mpi mpi = rfn_mpi_of_name(name);
    if (mpi == RFN_MPI_NONE || mpi == RFN_MPI_SMPI || mpi == RFN_MPI_ABI || !path)
        return mpi;
    int mark = rfn_elf_file_defines(path, marks);
    if (mark == 0)
        return RFN_MPI_OPENMPI;
    if (mark > 0)
        return RFN_MPI_MPICH;
    return mpi;
}

/* Takes a file that was read into the queue. */
static int enqueue(struct walk *walk, const struct rfn_elf_file *file,
                   const struct rfn_loaded *loader)
{
    struct visited *visited = malloc(sizeof *visited);
    if (!visited)
        return RFN_E_NOMEM;
    visited->file = *file;
    visited->loaded = (struct rfn_loaded){.file = &visited->file, .loader = loader};
    walk->queue[walk->n++] = visited;
    return 0;
}

/* Looks at one needed name. 1: it is a known MPI, needs is filled. What only looks like one (an
 * MPI's Fortran library, perhaps) is remembered while the walk goes on below it. */
static int visit(struct walk *walk, const struct rfn_loaded *by, const char *name,
                 struct rfn_needs *needs)
{
    if (walk->n == LIBRARIES_MAX || walk->n_names == LIBRARIES_MAX)
        return 0;
    for (size_t i = 0; i < walk->n_names; i++) {
        if (strcmp(walk->names[i], name) == 0)
            return 0;
    }
    char *copy = strdup(name);
    if (!copy)
        return RFN_E_NOMEM;
    walk->names[walk->n_names++] = copy;

    char *path = rfn_library_find(&walk->search, by, name);
    int result = 0;
    enum rfn_mpi mpi = rfn_mpi_of_library(name, path);
    if (mpi != RFN_MPI_NONE && (mpi != RFN_MPI_OTHER || needs->mpi == RFN_MPI_NONE)) {
        needs->mpi = mpi;
        snprintf(needs->library, sizeof needs->library, "%s", name);
    }
    if (mpi != RFN_MPI_NONE && mpi != RFN_MPI_OTHER) {
        result = 1;
    } else if (path) {
        struct rfn_elf_file file;
        if (rfn_elf_file_read(&file, path) == 0) {
            result = enqueue(walk, &file, by);
            if (result < 0)
                rfn_elf_file_release(&file);
        }
    }
    free(path);
    return result;
}

/* The library of the address sanitizer that the program itself needs, if any: it ends the program
 * when anything was loaded before it. */
static void find_sanitizer(struct walk *walk, const struct rfn_loaded *program,
                           struct rfn_needs *needs)
{
    static const char gcc[] = "libasan.so", clang[] = "libclang_rt.asan";
    for (size_t i = 0; i < program->file->n_needed; i++) {
        const char *name = program->file->needed[i];
        if (strncmp(name, gcc, strlen(gcc)) != 0 && strncmp(name, clang, strlen(clang)) != 0)
            continue;
        char *path = rfn_library_find(&walk->search, program, name);
        if (path && strlen(path) < sizeof needs->first)
            strcpy(needs->first, path);
        free(path);
    }
}

/* Walks from the program's file, which it takes over. */
static int look(const struct rfn_elf_file *program, struct rfn_needs *needs)
{
    struct rfn_elf_file file = *program;
    struct walk *walk = calloc(1, sizeof *walk);
    if (!walk) {
        rfn_elf_file_release(&file);
        return RFN_E_NOMEM;
    }
    rfn_library_search_init(&walk->search, "/etc/ld.so.cache");
    int result = enqueue(walk, &file, NULL);
    if (result < 0)
        rfn_elf_file_release(&file);
    if (result == 0)
        find_sanitizer(walk, &walk->queue[0]->loaded, needs);
    for (size_t i = 0; i < walk->n && result == 0; i++) {
        const struct rfn_loaded *by = &walk->queue[i]->loaded;
        for (size_t k = 0; k < by->file->n_needed && result == 0; k++)
            result = visit(walk, by, by->file->needed[k], needs);
    }
    for (size_t i = 0; i < walk->n; i++) {
        rfn_elf_file_release(&walk->queue[i]->file);
        free(walk->queue[i]);
    }
    for (size_t i = 0; i < walk->n_names; i++)
        free(walk->names[i]);
    rfn_library_search_release(&walk->search);
    free(walk);
    return result < 0 ? result : 0;
}

int rfn_elf_needs(const char *path, struct rfn_needs *needs)
{
    static const char *const init[] = {"MPI_Init", "MPI_Init_thread", "mpi_init_", NULL};
    struct rfn_elf_file file;
    *needs = (struct rfn_needs){.native = true, .dynamic = true};
    int error = rfn_elf_file_read(&file, path);
    if (error == RFN_E_UNSUPPORTED)
        return 0;
    RFN_TRY(error);
    needs->elf = true;
    needs->native = file.native;
    needs->dynamic = file.dynamic;
    RFN_TRY(look(&file, needs));
    needs->inside = needs->mpi == RFN_MPI_NONE && rfn_elf_file_defines(path, init) >= 0;
    return 0;
}
