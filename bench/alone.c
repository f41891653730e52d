/* alone.c - each rank exchanges messages with itself: traces of any length on many ranks of a small
 * machine, where ranks that wait for each other would mostly wait for a core.
 *
 *     alone STEPS
 *
 * In a step each rank receives and sends MESSAGES messages with different tags: as many different
 * calls as bench/adi.c has.
 */
#include <mpi.h>
#include <stdlib.h>

enum { MESSAGES = 12 };

static void step(void)
{
    MPI_Request requests[MESSAGES];
    double in[MESSAGES], out = 1;
    for (int i = 0; i < MESSAGES; i++)
        MPI_Irecv(&in[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, &requests[i]);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Send(&out, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF);
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    long steps = argc > 1 ? atol(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    for (long i = 0; i < steps; i++)
        step();
    MPI_Finalize();
    return 0;
}
