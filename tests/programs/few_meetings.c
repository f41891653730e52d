/* Many messages between collective calls that no rank leaves before all have entered it:
 *
 *     few_meetings MESSAGES MEETINGS [WHO BYTES]
 *
 * Each rank sends MESSAGES messages to the next one before each of MEETINGS barriers, and, without
 * WHO, as many behind the last. Then it prints the largest resident set of its process, and what
 * time of a core each of the last messages took. Rank WHO gets no more than BYTES bytes at a time
 * in a barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static int scarce;
static size_t bytes;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return scarce && size > bytes ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return scarce && n * size > bytes ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return scarce && size > bytes ? NULL : __libc_realloc(old, size);
}

/* From the rank before to the one behind. */
static void exchange(int rank, int size, long messages)
{
    int in, out = 0;
    MPI_Request requests[2];
    for (long i = 0; i < messages; i++) {
        MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static double used(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    const long messages = atol(argv[1]), meetings = atol(argv[2]);
    const int who = argc > 4 ? atoi(argv[3]) : -1;
    struct rusage before, behind;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bytes = argc > 4 ? (size_t)atol(argv[4]) : 0;
    for (long i = 0; i < meetings; i++) {
        exchange(rank, size, messages);
        scarce = rank == who;
        MPI_Barrier(MPI_COMM_WORLD);
        scarce = 0;
    }
    getrusage(RUSAGE_SELF, &before);
    exchange(rank, size, argc > 4 ? 0 : messages);
    getrusage(RUSAGE_SELF, &behind);
    printf("rank %d: %ld KiB, %.0f ns\n", rank, behind.ru_maxrss,
           1e9 * (used(&behind) - used(&before)) / (double)messages);
    MPI_Finalize();
    return 0;
}
