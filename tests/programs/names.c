/* Names with letters that are not ASCII, and one byte that is no letter; prints 1.5 as the user's
 * language does. */
#include <locale.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm duplicate;
    MPI_File file;
    int rank;
    setlocale(LC_ALL, "");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_set_name(duplicate, "gitter_\303\274\377");
    MPI_File_open(MPI_COMM_SELF, "\303\274.dat",
                  MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_close(&file);
    MPI_Comm_free(&duplicate);
    MPI_Finalize();
    if (rank == 0)
        printf("%.1f\n", 1.5);
    return 0;
}
