/* Rank 5 takes 1.6 times as long for everything. ranks: 8 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static int rank, size;
static double slow = 1;
static double v[3000], w[3000];
void assemble(void)
{
    usleep(6000 * slow);
}
void solve(void)
{
    double d = 1, g;
    for (int i = 0; i < 5; i++) {
        usleep(2000 * slow);
        MPI_Allreduce(&d, &g, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}
void output(void)
{
    usleep(3000 * slow);
    MPI_Gather(v, 100, MPI_DOUBLE, w, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 5)
        slow = 1.6;
    for (int s = 0; s < 60; s++) {
        assemble();
        MPI_Barrier(MPI_COMM_WORLD);
        solve();
        if (s % 3 == 0)
            output();
    }
    MPI_Finalize();
    return 0;
}
