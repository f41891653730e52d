/* calls.c - how long MPI calls take, as the program sees it: run plain and recorded, the difference
 * is what recording adds.
 *
 *     calls iprobe N      N unsuccessful MPI_Iprobe on one rank           ns per call
 *     calls self N        N times Irecv, Send to self, Wait on one rank   ns per call (3 N of them)
 *     calls roundtrip N   N round trips of 8 bytes between two ranks      ns per round trip
 *
 * Prints one number. The first tenth is not timed.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void iprobe(long n)
{
    for (long i = 0; i < n; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
}

static void self(long n)
{
    for (long i = 0; i < n; i++) {
        double in, out = 1;
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request);
        MPI_Send(&out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void roundtrip(long n)
{
    int rank;
    double data = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(&data, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(&data, 1, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&data, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&data, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(long n);
        int calls;
    } modes[] = {{"iprobe", iprobe, 1}, {"self", self, 3}, {"roundtrip", roundtrip, 1}};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t m = 0; argc > 2 && m < sizeof modes / sizeof *modes; m++) {
        if (strcmp(argv[1], modes[m].name) != 0)
            continue;
        long n = atol(argv[2]);
        modes[m].run(n / 10);
        double start = MPI_Wtime();
        modes[m].run(n);
        double seconds = MPI_Wtime() - start;
        if (rank == 0)
            printf("%.2f\n", seconds * 1e9 / (double)n / modes[m].calls);
    }
    MPI_Finalize();
    return 0;
}
