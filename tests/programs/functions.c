/* Functions that are compiled with -finstrument-functions. Standard output says, per line, what
 * happened in the program: "RANK THREAD NAME CALLS". ranks: any
 *
 *   main > step (20 times) > kernel (static), MPI_Barrier, tiny (3 times)
 *        > sleeper (5 times), which sleeps 40 ms > nap, the same time
 *        > descend (recursion, 60 deep)
 *        > jumps (10 times) > leaves, left by longjmp
 *        > busy (30000 times, in a burst)
 *        > worker of a thread (7 times)
 */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))
#define OWN   __attribute__((noinline))

enum { STEPS = 20, TINY = 3, SLEEPS = 5, DEPTH = 60, JUMPS = 10, BURST = 30000, WORK = 7 };

static jmp_buf back;
static volatile int sink;

OWN static void kernel(void)
{
    sink++;
}

OWN void tiny(void)
{
    sink++;
}

OWN void step(void)
{
    kernel();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TINY; i++)
        tiny();
}

OWN static void nap(void)
{
    const struct timespec time = {.tv_nsec = 40000000};
    nanosleep(&time, NULL);
}

OWN void sleeper(void)
{
    nap();
}

OWN int descend(int depth)
{
    return depth > 1 ? descend(depth - 1) + 1 : sink;
}

OWN void leaves(void)
{
    longjmp(back, 1);
}

OWN void jumps(void)
{
    if (!setjmp(back))
        leaves();
}

OWN void busy(void)
{
    sink++;
}

OWN static void work(void)
{
    sink++;
}

OWN void *worker(void *argument)
{
    for (int i = 0; i < WORK; i++)
        work();
    return argument;
}

OWN static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

OWN static void in_callback(void)
{
    MPI_Op op;
    int one = 1, sum;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < SLEEPS; i++)
        sleeper();
    descend(DEPTH);
    for (int i = 0; i < JUMPS; i++)
        jumps();
    in_callback();
#ifndef NO_THREADS
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
#endif
    for (int i = 0; i < BURST; i++)
        busy();
    MPI_Finalize();
    return 0;
}
