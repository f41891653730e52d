/* Bytes that ranks put into each other's memory and get from there; run on 3 ranks. Two windows
 * that have one handle after the other: of all ranks, and of the last two. Per phase rank 0 puts 10
 * times 80 bytes to rank 1 of the first window, and gets 5 times 40 from rank 2; world rank 1 (0 in
 * the second window) puts 3 times 160 bytes to world rank 2 (1 there); world rank 2 fetches and
 * adds 4 times 8 bytes, both ways, at world rank 1. */
#include <mpi.h>

static void first(int rank, double *from)
{
    double *base;
    MPI_Win window;
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_fence(0, window);
    for (int i = 0; rank == 0 && i < 10; i++)
        MPI_Put(from, 10, MPI_DOUBLE, 1, 0, 10, MPI_DOUBLE, window);
    for (int i = 0; rank == 0 && i < 5; i++)
        MPI_Get(from + 50, 5, MPI_DOUBLE, 2, 0, 5, MPI_DOUBLE, window);
    MPI_Put(from, 10, MPI_DOUBLE, MPI_PROC_NULL, 0, 10, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void second(int rank, double *from)
{
    double *base, one = 1, before;
    MPI_Win window;
    MPI_Comm last;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &last);
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, last, &base, &window);
    MPI_Win_lock_all(0, window);
    for (int i = 0; rank == 1 && i < 3; i++) {
        MPI_Request request;
        MPI_Rput(from, 20, MPI_DOUBLE, 1, 10, 20, MPI_DOUBLE, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; rank == 2 && i < 4; i++)
        MPI_Fetch_and_op(&one, &before, MPI_DOUBLE, 0, 0, MPI_SUM, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Comm_free(&last);
}

int main(int argc, char **argv)
{
    double from[100] = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++) {
        first(rank, from);
        second(rank, from);
    }
    MPI_Finalize();
    return 0;
}
