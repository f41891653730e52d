/* Calls that the program leaves through its error handler, by a C++ exception or (argument "jump") by
 * longjmp. In each of ROUNDS rounds a rank leaves an MPI_Send to a rank that is not there and, except
 * in Open MPI, which takes it, an MPI_Waitall for a message that does not fit; after each it meets the others in an MPI_Barrier, once
 * from where the call was, once from a function that lies deeper on the stack. In the end the handler
 * returns, after it has called MPI on another stack. */
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <mpi.h>
#include <stdexcept>
#include <ucontext.h>

enum { ROUNDS = 20 };

static bool jumps;
static int rank, caught;
static jmp_buf back;

static void leave(MPI_Comm *, int *, ...)
{
    if (jumps)
        longjmp(back, 1);
    throw std::runtime_error("MPI has failed");
}

template <typename Call>
static void attempt(Call call)
{
    if (jumps) {
        if (setjmp(back) == 0)
            call();
        else
            caught++;
        return;
    }
    try {
        call();
    } catch (const std::runtime_error &) {
        caught++;
    }
}

/* With room that nobody writes to, where the frames of the call that was left have been. */
__attribute__((noinline)) static void meet_deeper(int depth)
{
    volatile char room[5000];
    room[0] = (char)depth;
    if (depth > 0)
        meet_deeper(depth - 1);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    room[1] = room[0];
}

static void wait_for_too_much()
{
    int small = 0, large[2] = {1, 2};
    MPI_Request requests[2];
    MPI_Irecv(&small, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(large, 2, MPI_INT, rank, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* ---- a handler that returns ---- */

static ucontext_t outside, aside;
static char other_stack[1 << 18];

static void call_aside()
{
    int flag;
    MPI_Initialized(&flag);
}

static void come_back(MPI_Comm *, int *, ...)
{
    getcontext(&aside);
    aside.uc_stack.ss_sp = other_stack;
    aside.uc_stack.ss_size = sizeof other_stack;
    aside.uc_link = &outside;
    makecontext(&aside, call_aside, 0);
    swapcontext(&outside, &aside);
}

static void handle_by(MPI_Comm_errhandler_function *function)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    jumps = argc > 1 && std::strcmp(argv[1], "jump") == 0;
    handle_by(leave);
    for (int i = 0; i < ROUNDS; i++) {
        attempt([&] { MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD); });
        MPI_Barrier(MPI_COMM_WORLD);
#ifndef OPEN_MPI
        attempt(wait_for_too_much);
#endif
        meet_deeper(5);
    }
    handle_by(come_back);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    if (rank == 0)
        std::printf("%d caught\n", caught);
    MPI_Finalize();
}
