/* Rank 0 polls until rank 1, 100 ms late, has completed its access. ranks: 2 */
#include <mpi.h>

#include <unistd.h>

static void expose(MPI_Win win, MPI_Group origin)
{
    int flag = 0;
    MPI_Win_post(origin, 0, win);
    while (!flag)
        MPI_Win_test(win, &flag);
}

static void access_late(MPI_Win win, MPI_Group target)
{
    int value = 1;
    MPI_Win_start(target, 0, win);
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    usleep(100000);
    MPI_Win_complete(win);
}

int main(int argc, char **argv)
{
    static int memory[64];
    int rank, other;
    MPI_Win win;
    MPI_Group all, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_group(win, &all);
    other = 1 - rank;
    MPI_Group_incl(all, 1, &other, &peer);
    (rank ? access_late : expose)(win, peer);
    MPI_Group_free(&peer);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
