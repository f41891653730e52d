/* A halo exchange along a ring: rank 2 moves three times as many particles, 20 ms more in each of
 * 100 steps, and the delay goes round. ranks: 4 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size;

__attribute__((noinline)) void move_particles(int n)
{
    usleep(50 * n);
}

__attribute__((noinline)) void update_field(void)
{
    usleep(4000);
}

__attribute__((noinline)) void exchange_ghosts(double *buf, int n)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Sendrecv(buf, n, MPI_DOUBLE, right, 1, buf + n, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(buf, n, MPI_DOUBLE, left, 2, buf + n, n, MPI_DOUBLE, right, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *buf = calloc(4000, sizeof *buf);
    double e = 1, tot;
    int npart = rank == 2 ? 600 : 200;
    for (int s = 0; s < 100; s++) {
        update_field();
        exchange_ghosts(buf, 1000);
        move_particles(npart);
        exchange_ghosts(buf, 1000);
        if (s % 10 == 9)
            MPI_Allreduce(&e, &tot, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("energy %g\n", tot);
    MPI_Finalize();
    return 0;
}
