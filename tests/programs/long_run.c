/* A run as long as one likes whose times, counts and order hardly repeat, the same in each run:
 *
 *     long_run STEPS [JOURNAL [KIB]]
 *
 * Each rank sends to itself, and now and then all exchange counts that change every time. At the
 * end it prints the largest resident set of the process in KiB and, when it is given the name of a
 * journal, whether that is there. With KIB no file may become larger than that. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void send_to_self(int rank, uint64_t random)
{
    static char from[64], to[64];
    MPI_Request request;
    int count = (int)(random % 60);
    MPI_Irecv(to, count, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &request);
    if ((random >> 20) % 3 == 0)
        MPI_Barrier(MPI_COMM_SELF);
    MPI_Send(from, count, MPI_CHAR, rank, 1, MPI_COMM_WORLD);
    if ((random >> 24) % 5 == 0)
        MPI_Barrier(MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void exchange(uint64_t random)
{
    static char from[256], to[256];
    int counts[4], places[4];
    for (int i = 0; i < 4; i++) {
        counts[i] = (int)(random >> (8 * i) & 63);
        places[i] = 64 * i;
    }
    MPI_Alltoallv(from, counts, places, MPI_CHAR, to, counts, places, MPI_CHAR, MPI_COMM_SELF);
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 1000;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 3) {
        rlim_t bytes = (rlim_t)atol(argv[3]) * 1024;
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
    }
    uint64_t state = 88172645463325252u + (uint64_t)rank;
    for (long i = 0; i < steps; i++) {
        uint64_t random = next(&state);
        send_to_self(rank, random);
        if (i % 4 == 0)
            exchange(random);
        for (volatile unsigned k = 0; k < (random >> 40) % 500; k++)
            ;
    }
    struct stat status;
    if (argc > 2)
        printf("rank %d: %s\n", rank, stat(argv[2], &status) == 0 ? "journal" : "no journal");
    MPI_Finalize();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("rank %d: %ld KiB\n", rank, usage.ru_maxrss);
    return 0;
}
