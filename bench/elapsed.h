/* elapsed.h - how long a stretch of a program took on all ranks: for the MPI programs of bench/. */
#ifndef BENCH_ELAPSED_H
#define BENCH_ELAPSED_H

#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

struct elapsed {
    double wall, cpu;
};

static inline struct elapsed elapsed_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct elapsed){.wall = MPI_Wtime(),
                            .cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                                   1e-6 *
                                       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)};
}

/* Begins the stretch on all ranks. */
static inline struct elapsed elapsed_start(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return elapsed_now();
}

/* Rank 0 prints its wall time since start, the CPU time and the MPI calls of all ranks. */
static inline void elapsed_print(struct elapsed start, unsigned long calls)
{
    struct elapsed now = elapsed_now();
    double mine[2] = {now.cpu - start.cpu, (double)calls}, all[2];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f %.6f %.0f\n", now.wall - start.wall, all[0], all[1]);
}

#endif
