/* Everybody sends to the right and receives from the left, small and large messages by turns, after
 * work of random length: no two iterations take the same time. ranks: any */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 40, SMALL = 30000, LARGE = 400000, WORK_MICROSECONDS = 500, MORE = 2000 };

static char in[LARGE], out[LARGE];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    srand((unsigned)rank);
    for (int i = 0; i < STEPS; i++) {
        int count = i % 2 ? LARGE : SMALL;
        usleep((useconds_t)(WORK_MICROSECONDS + rand() % MORE));
        MPI_Irecv(in, count, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, count, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
