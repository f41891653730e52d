/* Rank 0 makes a file, which the first argument names, when it is through MPI_Init; the others wait
 * for it outside of MPI. */
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        close(open(argv[1], O_CREAT | O_WRONLY, 0600));
    for (int i = 0; rank > 0 && i < 3000 && access(argv[1], F_OK) != 0; i++)
        usleep(20000);
    return MPI_Finalize();
}
