/* Parts of jumping.F90 that Fortran cannot do. */
#include <mpi.h>
#include <setjmp.h>

static jmp_buf back;

static void jump(MPI_Comm *comm, int *code, ...)
{
    longjmp(back, 1);
}

/* So that a call that fails is left by a jump. */
void jump_on_errors(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
}

void stay_on_errors(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

void fail_in_c(void)
{
    int data = 0, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Send(&data, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
}

/* Calls what fails. */
void leave(void (*failing)(void))
{
    if (!setjmp(back))
        failing();
}
