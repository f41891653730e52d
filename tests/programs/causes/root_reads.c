/* The root reads before each broadcast. ranks: 8 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void read_forcing(void)
{
    usleep(30000); /* a slow file system */
}

static void physics(void)
{
    usleep(15000);
}

static void load_step(char *buf, size_t n)
{
    if (rank == 0)
        read_forcing();
    MPI_Bcast(buf, n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    size_t n = 1 << 18;
    char *buf = malloc(n);
    memset(buf, 1, n);
    for (int s = 0; s < 40; s++) {
        load_step(buf, n);
        physics();
    }
    MPI_Finalize();
    return 0;
}
