/* A handler of a signal calls MPI while the thread is inside of another call. Nothing may allocate
 * memory for that: the signal may have come inside of malloc, whose lock is then held. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);

static volatile sig_atomic_t in_handler, calls;

void *malloc(size_t size)
{
    if (in_handler)
        _exit(9);
    return __libc_malloc(size);
}

static void on_signal(int number)
{
    int flag = 0;
    in_handler = 1;
    MPI_Initialized(&flag);
    in_handler = 0;
    calls += flag && number == SIGUSR1;
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    raise(SIGUSR1);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    signal(SIGUSR1, on_signal);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD);
    printf("%d calls in handlers\n", (int)calls);
    MPI_Errhandler_free(&handler);
    return MPI_Finalize();
}
