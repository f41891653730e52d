/* shares.c [FILE] - rank r is (r + 1) * 10 ms in the region "work", 10 times, and then sends 3
 * messages to the next rank in it; outside of it 2 messages in all, one of them in the region
 * "last". With a FILE these are starts of a persistent request, and each rank writes 4096 bytes
 * twice to the file.
 */
#include <mpi.h>
#include <refrain/region.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, ranks, data = 0, none = 0;
    MPI_Request request, receives[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 10; i++) {
        int got[3];
        for (int k = 0; k < 3; k++)
            MPI_Irecv(&got[k], 1, MPI_INT, before, 0, MPI_COMM_WORLD, &receives[k]);
        refrain_region_begin("work");
        usleep((unsigned)(rank + 1) * 10000);
        for (int k = 0; k < 3; k++)
            MPI_Send(&data, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
        MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        refrain_region_end("work");
        MPI_Waitall(3, receives, MPI_STATUSES_IGNORE);
    }
    if (argc > 1)
        MPI_Send_init(&data, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(&none, 1, MPI_INT, before, 1, MPI_COMM_WORLD, receives);
        if (i == 1)
            refrain_region_begin("last");
        if (argc > 1)
            MPI_Start(&request);
        else
            MPI_Isend(&data, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i == 1)
            refrain_region_end("last");
        MPI_Wait(receives, MPI_STATUS_IGNORE);
    }
    if (argc > 1) {
        MPI_Request_free(&request);
        MPI_File file;
        static char bytes[4096];
        MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file);
        for (int i = 0; i < 2; i++)
            MPI_File_write_at(file, (rank * 2 + i) * 4096, bytes, 4096, MPI_BYTE,
                              MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    MPI_Finalize();
    return 0;
}
