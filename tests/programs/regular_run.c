/* A run as long as one likes whose iterations are alike but for small differences in time:
 *
 *     regular_run STEPS JOURNAL
 *
 * Each rank sends to itself, 4 calls per step. At the end it says whether the journal is there. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    long steps = atol(argv[1]);
    int rank;
    uint64_t random = 88172645463325252u;
    static char from[64], to[64];
    struct stat status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < steps; i++) {
        MPI_Request request;
        MPI_Irecv(to, 64, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &request);
        MPI_Send(from, 64, MPI_CHAR, rank, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_SELF);
        random = random * 6364136223846793005u + 1442695040888963407u;
        for (volatile unsigned k = 0; k < 200 + (random >> 60); k++)
            ;
    }
    printf("rank %d: %s\n", rank, stat(argv[2], &status) == 0 ? "journal" : "no journal");
    MPI_Finalize();
    return 0;
}
