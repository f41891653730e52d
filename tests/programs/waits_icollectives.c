/* Nonblocking collectives with work between start and completion. Rank r starts r steps late and
 * then works for one step. With an argument only that one: 0 Ibarrier, 1 Iallreduce, 2 Ibcast, 3
 * two of them on two communicators, completed together. ranks: any */
#include "steps.h"

#include <stdlib.h>

static int rank, size, in, out;
static MPI_Comm other;

static int begin(int which, MPI_Request *requests)
{
    int n = 1;
    if (which == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    } else if (which == 1) {
        MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    } else if (which == 2) {
        MPI_Ibcast(&in, 1, MPI_INT, size - 1, MPI_COMM_WORLD, &requests[0]);
    } else {
        MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, other, &requests[n++]);
        MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    }
    return n;
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    for (int which = 0; which < 4; which++) {
        if (argc > 1 && atoi(argv[1]) != which)
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        steps(rank);
        int n = begin(which, requests);
        steps(1);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
