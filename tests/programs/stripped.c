/* Rank 1 is late in a function of a library that has no name, once both are stripped. */
#include <mpi.h>

void library_begin(void);
double (*library_step(void))(double, int);

static __attribute__((noinline)) double steps(int rank)
{
    double value = 1;
    for (int i = 0; i < 5; i++)
        value = library_step()(value, rank == 1) / 2;
    return value;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    library_begin();
    double value = steps(rank);
    MPI_Finalize();
    return value < 0;
}
