/* Calls that are legal before MPI_Init and after MPI_Finalize. Those before belong to the record;
 * the record is complete when MPI_Finalize is. ranks: 2 */
#include "expect.h"

int main(int argc, char **argv)
{
    int rank, flag, version, subversion, length, provided, late;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    CALL(MPI_Initialized(&flag), "flag=0");
    CALL(MPI_Finalized(&flag), "flag=0");
    CALL(MPI_Get_version(&version, &subversion), "version=%d subversion=%d", version, subversion);
    CALL(MPI_Get_library_version(text, &length), "%s", "");
    CALL(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "required=%d provided=%d",
         MPI_THREAD_FUNNELED, provided);
    CALL(MPI_Initialized(&flag), "flag=1");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    CALL(MPI_Query_thread(&version), "provided=%d", provided);
    CALL(MPI_Is_thread_main(&flag), "flag=1");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_Pcontrol(2), "level=2");
    MPI_Wtime();
    MPI_Wtick();
    CALL(MPI_Finalized(&flag), "flag=0");
    if (expect_finalize(rank))
        return 1;
    MPI_Initialized(&flag);
    MPI_Finalized(&late);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
    if (rank == 0)
        printf("initialized %d finalized %d version %d\n", flag, late, version);
    return 0;
}
