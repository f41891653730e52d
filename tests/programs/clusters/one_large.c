/* Rank 0 makes calls of eight kinds in random order, whose structure is too large to be stored with
 * others; the rest are alike but for a size. Arguments: calls of rank 0. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

static char out[512], in[512];

#define CALL(kind)                                                                               \
    case kind:                                                                                   \
        MPI_Sendrecv(out, kind + 1, MPI_CHAR, 0, kind, in, 64, MPI_CHAR, 0, kind, MPI_COMM_SELF, \
                     MPI_STATUS_IGNORE);                                                         \
        break;

static void call(uint32_t kind)
{
    switch (kind) {
        CALL(0)
        CALL(1)
        CALL(2)
        CALL(3)
        CALL(4)
        CALL(5)
        CALL(6)
        CALL(7)
    }
}

int main(int argc, char **argv)
{
    int rank, calls = argc > 1 ? atoi(argv[1]) : 100000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint32_t state = 7;
    for (int i = 0; i < calls && rank == 0; i++) {
        state = state * 1664525 + 1013904223;
        call(state >> 29);
    }
    for (int i = 0; i < 3 && rank > 0; i++) {
        MPI_Bcast(out, 2 * (rank / 2) + 3, MPI_CHAR, 0, MPI_COMM_SELF);
        MPI_Sendrecv(out, rank + 1, MPI_CHAR, 0, i, in, 64, MPI_CHAR, 0, i, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
