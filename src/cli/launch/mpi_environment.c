#define _XOPEN_SOURCE 700 /* readlink, realpath */
#include "cli/launch/mpi_environment.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Of a job of several programs, each with options of its own: whether this rank is the first of
 * one, by the numbers of ranks that each has. Only Open MPI tells them. */
static bool is_first_of_program(long rank)
{
    const char *at = getenv("OMPI_APP_CTX_NUM_PROCS");
    long first = 0;
    for (char *end; at && first < rank; at = end) {
        long ranks = strtol(at, &end, 10);
        if (ranks <= 0)
            return false;
        first += ranks;
    }
    return first == rank;
}

/* The first of these variables that is set, as a number, or otherwise. */
static long first_number(const char *const *names, long otherwise)
{
    for (; *names; names++) {
        const char *value = getenv(*names);
        if (value && value[0])
            return atol(value);
    }
    return otherwise;
}

/* -1: outside of a job. A batch script of Slurm is task 0, and so is the shell of an allocation. */
static long own_rank(void)
{
    static const char *const ranks[] = {
        "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID",
        "MV2_COMM_WORLD_RANK",  NULL};
    return first_number(ranks, -1);
}

/* SLURM_NTASKS is there in a whole allocation: how many tasks may be started in it. */
long rfn_job_size(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                                        "MV2_COMM_WORLD_SIZE", NULL};
    return first_number(sizes, 1);
}

bool rfn_job_is_first(void)
{
    return own_rank() <= 0;
}

bool rfn_job_speaks(void)
{
    const long rank = own_rank();
    return rank < 0 || is_first_of_program(rank);
}

const char *rfn_job_flavour(void)
{
    if (getenv("OMPI_COMM_WORLD_SIZE"))
        return "openmpi";
    if (getenv("MPI_LOCALNRANKS") || (getenv("PMI_RANK") && !getenv("SLURM_PROCID")))
        return "mpich";
    return NULL;
}

bool rfn_own_path(char *path, size_t size)
{
    const char *executed = (const char *)getauxval(AT_EXECFN);
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    if (n > 0 && (size_t)n < size - 1) {
        path[n] = 0;
        return true;
    }
    char *real = executed ? realpath(executed, NULL) : NULL; /* there may be no /proc */
    bool fits = real && strlen(real) < size;
    if (fits)
        strcpy(path, real);
    free(real);
    return fits;
}

bool rfn_find_part(const char *name, int access_mode, char *path)
{
    char own[PATH_MAX];
    if (!rfn_own_path(own, sizeof own))
        return false;
    *strrchr(own, '/') = 0;
    static const char *const places[] = {"lib", "../lib/refrain"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(path, PATH_MAX, "%s/%s/%s", own, places[i], name);
        if (n > 0 && n < PATH_MAX && access(path, access_mode) == 0)
            return true;
    }
    return false;
}
