/* A program that has no children: wait() says so whenever it is asked, or the exit status is 1.
 *
 *     no_child SECONDS
 */
#include <errno.h>
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_none(void)
{
    if (waitpid(-1, NULL, WNOHANG | __WALL) != -1 || errno != ECHILD)
        _exit(1);
}

int main(int argc, char **argv)
{
    expect_none();
    MPI_Init(&argc, &argv);
    expect_none();
    for (int i = 0; i < atoi(argv[1]) * 100; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(10000);
        expect_none();
    }
    MPI_Finalize();
    expect_none();
    return 0;
}
