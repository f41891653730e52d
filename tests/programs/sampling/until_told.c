/* Every rank sends 8 bytes to its right neighbour, again and again, until there is a file of the
 * name that is given; a second argument is the pause between, in milliseconds (1). */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const struct timespec pause = {.tv_nsec = 1000000 * (argc > 2 ? atol(argv[2]) : 1)};
    char out[8] = "", in[8];
    int rank, size, on = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (on) {
        MPI_Sendrecv(out, 8, MPI_CHAR, (rank + 1) % size, 1, in, 8, MPI_CHAR,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        nanosleep(&pause, NULL);
        on = access(argv[1], F_OK) < 0;
        MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
