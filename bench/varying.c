/* varying.c - exchanges in which no step is like the one before.
 *
 *     varying ring N        steps of a ring: two Irecv, two Isend, Waitall, counts change each time
 *     varying alltoallv N   MPI_Alltoallv, all four arrays of which change each time
 *     varying random N      Irecv, Send to self, Wait with tags and pauses that nothing can predict
 *
 * N is the number of calls per rank. Rank 0 prints the ns per call of the first and of the last
 * tenth of the run, the number of MPI calls of all ranks and, after MPI_Finalize, its maximum
 * resident set in bytes.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MAX_RANKS = 256, MAX_COUNT = 256 };

static int rank, size;
static double out[MAX_RANKS * MAX_COUNT], in[MAX_RANKS * MAX_COUNT];

/* A number that depends on everything given, the same on every rank (splitmix64). */
static uint64_t hash(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c * 0x94d049bb133111ebu;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* How many numbers go from one rank to another at a step: 0 to MAX_COUNT - 1. */
static int count(long step, int from, int to)
{
    return (int)(hash((uint64_t)step, (uint64_t)from, (uint64_t)to) % MAX_COUNT);
}

static void ring(long step)
{
    MPI_Request requests[4];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(in, count(step, left, rank), MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + MAX_COUNT, count(-step, right, rank), MPI_DOUBLE, right, 2, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(out, count(step, rank, right), MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, count(-step, rank, left), MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void alltoallv(long step)
{
    int to[MAX_RANKS], from[MAX_RANKS], to_at[MAX_RANKS], from_at[MAX_RANKS], n_to = 0, n_from = 0;
    for (int r = 0; r < size; r++) {
        to_at[r] = n_to;
        from_at[r] = n_from;
        n_to += to[r] = count(step, rank, r);
        n_from += from[r] = count(step, r, rank);
    }
    MPI_Alltoallv(out, to, to_at, MPI_DOUBLE, in, from, from_at, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void random_times(long step)
{
    MPI_Request request;
    uint64_t number = hash((uint64_t)step, (uint64_t)rank, 1);
    int tag = (int)(number >> 40) % 32768; /* the standard grants no larger one */
    for (volatile int i = (int)(number % 512); i > 0; i--)
        continue;
    MPI_Irecv(in, 1, MPI_DOUBLE, 0, tag, MPI_COMM_SELF, &request);
    for (volatile int i = (int)(number >> 9 & 511); i > 0; i--)
        continue;
    MPI_Send(out, 1, MPI_DOUBLE, 0, tag, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static const struct mode {
        const char *name;
        void (*step)(long step);
        int calls; /* in a step */
    } modes[] = {{"ring", ring, 5}, {"alltoallv", alltoallv, 1}, {"random", random_times, 3}};
    double tenths[10] = {0};
    struct rusage usage;
    long calls = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t m = 0; argc > 2 && size <= MAX_RANKS && m < sizeof modes / sizeof *modes; m++) {
        const struct mode *mode = &modes[m];
        if (strcmp(argv[1], mode->name) != 0)
            continue;
        long steps = atol(argv[2]) / mode->calls / 10;
        for (int tenth = 0; tenth < 10; tenth++) {
            double start = MPI_Wtime();
            for (long i = 0; i < steps; i++)
                mode->step(tenth * steps + i);
            tenths[tenth] = (MPI_Wtime() - start) * 1e9 / (double)(steps * mode->calls);
        }
        calls = 10 * steps * mode->calls * size;
    }
    MPI_Finalize();
    getrusage(RUSAGE_SELF, &usage);
    if (rank == 0)
        printf("%.2f %.2f %ld %ld\n", tenths[0], tenths[9], calls, usage.ru_maxrss * 1024);
    return 0;
}
