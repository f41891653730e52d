/* work.h - computing that takes a known time, for programs whose performance is known.
 *
 * Under SMPI work is simulated time: exact, and nothing else takes any. Under a real MPI it is a
 * busy loop, calibrated once, where every rank has a core of its own; on shared cores it is a
 * sleep, as busy loops there would show what the scheduler does, not what the program does.
 *
 * Everything here that talks to other ranks calls PMPI, so that it is not recorded. */
#ifndef PATHOLOGIES_WORK_H
#define PATHOLOGIES_WORK_H

#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef SMPI_H
#include <simgrid/engine.h>
#endif

/* Functions with a role of their own, which keep their name on the call path. */
#define ROLE __attribute__((noinline)) static

static int rank, size;
static struct {
    double origin;     /* when work_begin returned */
    double per_second; /* rounds of the busy loop; 0: sleep */
} work_state;

/* ---- parameters: --NAME NUMBER ---- */

struct parameter {
    const char *name;
    double value; /* the default */
};

static void parse(int argc, char **argv, struct parameter *list, int n)
{
    for (int i = 1; i < argc; i += 2) {
        struct parameter *found = NULL;
        for (int j = 0; j < n; j++)
            if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, list[j].name) == 0)
                found = &list[j];
        if (!found || i + 1 == argc) {
            fprintf(stderr, "%s: unknown or without a value: %s\n", argv[0], argv[i]);
            exit(2);
        }
        found->value = strtod(argv[i + 1], NULL);
    }
}

/* ---- time ---- */

static double clock_seconds(void)
{
#ifdef SMPI_H
    return simgrid_get_clock(); /* MPI_Wtime would add to the time */
#else
    return PMPI_Wtime();
#endif
}

static void spin(double rounds)
{
    for (volatile double done = 0; done < rounds; done += 1)
        ;
}

#ifndef SMPI_H
/* Whether there is a core for every rank on this node. */
static int core_for_each(void)
{
    int ranks;
    cpu_set_t mine, all;
    MPI_Comm node;
    sched_getaffinity(0, sizeof mine, &mine);
    PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    PMPI_Comm_size(node, &ranks);
    PMPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
    PMPI_Comm_free(&node);
    return CPU_COUNT(&all) >= ranks;
}

static double calibrate(void)
{
    const double rounds = 1e7;
    double start = clock_seconds();
    spin(rounds);
    return rounds / (clock_seconds() - start);
}
#endif

/* After MPI_Init: all ranks go on from here together. */
static void work_begin(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
#ifndef SMPI_H
    if (core_for_each())
        work_state.per_second = calibrate();
    PMPI_Barrier(MPI_COMM_WORLD);
#endif
    work_state.origin = clock_seconds();
}

/* Computes for a time. */
static void do_work(int64_t ns)
{
    struct timespec left = {ns / 1000000000, ns % 1000000000};
    if (work_state.per_second > 0)
        spin(work_state.per_second * 1e-9 * (double)ns);
    else
        nanosleep(&left, NULL);
}

static int64_t to_ns(double seconds)
{
    return (int64_t)(seconds * 1e9 + 0.5);
}

#endif
