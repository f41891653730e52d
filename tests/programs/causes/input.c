/* Rank 0 makes the input that the other rank polls for; with an argument that sleeps between. */
#include "pause.h"

#include <mpi.h>

enum { INPUTS = 3 };

static void make_input(void)
{
    int input = 0;
    for (int i = 0; i < INPUTS; i++) {
        pause_ms(250);
        MPI_Send(&input, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
}

static void wait_for_input(int sleeps)
{
    int input, there;
    MPI_Request request;
    for (int i = 0; i < INPUTS; i++) {
        MPI_Irecv(&input, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        for (there = 0; !there;) {
            MPI_Test(&request, &there, MPI_STATUS_IGNORE);
            if (sleeps)
                pause_ms(1);
        }
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        make_input();
    else
        wait_for_input(argc > 1);
    MPI_Finalize();
    return 0;
}
