/* A process that is killed as soon as the recorder writes the first bytes of the archive.
 *
 *     killed_saving abort      in MPI_Abort
 *     killed_saving finalize   in MPI_Finalize
 *
 * To be linked with -rdynamic, so that the recorder finds this pwritev. On one rank. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t offset)
{
    pwrite(fd, parts[0].iov_base, parts[0].iov_len, offset);
    kill(getpid(), SIGKILL);
    return -1;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
