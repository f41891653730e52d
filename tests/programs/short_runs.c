/* short_runs.c nothing | barriers | exit | plain - programs that end before there is anything to
 * tell: MPI starts and ends; two barriers between; exit() in place of MPI_Finalize; no MPI at all.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "nothing";
    if (strcmp(way, "plain") == 0)
        return 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2 && strcmp(way, "barriers") == 0; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "exit") == 0)
        exit(0);
    MPI_Finalize();
    return 0;
}
