/* namesakes.c - one of two jobs of one name: rounds of its own collective call, so that an event
 * tells of which job it is.
 *
 *   namesakes barrier|bcast ROUNDS MS [abort]
 *
 * A round computes nothing for MS milliseconds. With "abort" all ranks call MPI_Abort in the end.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int value = 0;
    signal(SIGTERM, SIG_IGN); /* whoever aborts last has some time for it */
    MPI_Init(&argc, &argv);
    for (long i = 0; i < atol(argv[2]); i++) {
        usleep(1000 * atoi(argv[3]));
        if (strcmp(argv[1], "barrier") == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else
            MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (argc > 4)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
