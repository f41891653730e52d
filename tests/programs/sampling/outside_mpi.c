/* Rank 0 sends many messages and leaves MPI until rank 1, which has received them and called MPI
 * some more, makes a file. A recorder that waits for rank 0 in a call of rank 1's stops both: rank
 * 0 gives up after 20 s, and fails.
 *
 *     outside_mpi FILE */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { MESSAGES = 2000, LOOKS = 100 };

static int wait_for(const char *file)
{
    for (int i = 0; i < 20000; i++) {
        if (access(file, F_OK) == 0)
            return 0;
        usleep(1000);
    }
    fprintf(stderr, "rank 1 did not come out of MPI\n");
    return 1;
}

int main(int argc, char **argv)
{
    int rank, value = 0, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        for (int i = 0; i < MESSAGES; i++)
            MPI_Send(&i, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        failed = wait_for(argv[1]);
    } else {
        for (int i = 0; i < MESSAGES; i++)
            MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < LOOKS; i++) {
            usleep(100);
            MPI_Iprobe(0, 6, MPI_COMM_WORLD, &value, MPI_STATUS_IGNORE);
        }
        close(open(argv[1], O_CREAT | O_WRONLY, 0600));
    }
    MPI_Finalize();
    return failed;
}
