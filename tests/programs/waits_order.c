/* Rank 0 asks for the message of rank 1, which works for 8 steps, while that of rank 2, which works
 * for one, lies there: in an order that costs something; in one that may not, because it works with
 * both; in exchanges; and in one whose receives are all posted before. ranks: 3 */
#include "steps.h"

static int rank, in[2], out;

static void receive(int from, int work)
{
    MPI_Recv(in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    steps(work);
}

static void in_wrong_order(void)
{
    receive(1, 2);
    receive(2, 3);
}

static void both_needed(void)
{
    receive(1, 0);
    receive(2, 3);
}

static void exchange(int with)
{
    MPI_Sendrecv(&out, 1, MPI_INT, with, 0, in, 1, MPI_INT, with, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void in_exchanges(void)
{
    exchange(1);
    steps(2);
    exchange(2);
    steps(3);
}

static void all_posted(void)
{
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 1 + i, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    steps(2);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    steps(3);
}

int main(int argc, char **argv)
{
    void (*const receive_both[])(void) = {in_wrong_order, both_needed, in_exchanges, all_posted};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        steps(rank == 1 ? 8 : rank == 2 ? 1 : 0);
        if (rank == 0)
            receive_both[i]();
        else if (i == 2)
            exchange(0);
        else
            MPI_Send(&out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
