/* Functions, to be compiled with -finstrument-functions: static ones, recursion, jumps, a callback,
 * threads, a burst of calls. Each rank writes how often each was called, "RANK NAME CALLS". */
#include <mpi.h>
#include <pthread.h>
#include <refrain/region.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PLAIN __attribute__((no_instrument_function))
#define OWN   __attribute__((noinline))

enum { STEPS = 20, TINY = 3, SLEEPS = 5, DEPTH = 60, JUMPS = 10, BURST = 30000, WORK = 7 };

/* clang-format off */
#define NAMES(X)                                                                  \
    X(main) X(kernel) X(tiny) X(step) X(nap) X(sleeper) X(descend) X(leaves)      \
    X(jumps) X(busy) X(work) X(worker) X(add) X(in_callback) X(hidden) X(across)
/* clang-format on */
#define NUMBER(name) number_##name,
#define TEXT(name)   #name,

enum { NAMES(NUMBER) N_NAMES };
static const char *const names[] = {NAMES(TEXT)};
static int calls[N_NAMES];

#define COUNT(name) (calls[number_##name]++)

static jmp_buf back;
static volatile int sink;

OWN static void kernel(void)
{
    COUNT(kernel);
    sink++;
}

OWN void tiny(void)
{
    COUNT(tiny);
    sink++;
}

OWN void step(void)
{
    COUNT(step);
    kernel();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TINY; i++)
        tiny();
}

OWN static void nap(void)
{
    COUNT(nap);
    const struct timespec time = {.tv_nsec = 40000000};
    nanosleep(&time, NULL);
}

OWN void sleeper(void)
{
    COUNT(sleeper);
    refrain_region_begin("user");
    nap();
    refrain_region_end("user");
}

OWN int descend(int depth)
{
    COUNT(descend);
    return depth > 1 ? descend(depth - 1) + 1 : sink;
}

OWN void leaves(void)
{
    COUNT(leaves);
    longjmp(back, 1);
}

OWN void jumps(void)
{
    COUNT(jumps);
    if (!setjmp(back))
        leaves();
}

OWN void busy(void)
{
    COUNT(busy);
    sink++;
}

OWN static void work(void)
{
    COUNT(work);
    sink++;
}

OWN void *worker(void *argument)
{
    COUNT(worker);
    for (int i = 0; i < WORK; i++)
        work();
    return argument;
}

OWN static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    COUNT(add);
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

OWN static void in_callback(void)
{
    COUNT(in_callback);
    MPI_Op op;
    int one = 1, sum;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
}

OWN static void hidden(void)
{
    COUNT(hidden);
}

/* Ends while recording is off. */
OWN static void across(void)
{
    COUNT(across);
    MPI_Pcontrol(0);
    hidden();
}

PLAIN static void tell(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N_NAMES; i++)
        printf("%d %s %d\n", rank, names[i], calls[i]);
}

int main(int argc, char **argv)
{
    int provided;
    COUNT(main);
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
#ifndef SIMULATED
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
#endif
    for (int i = 0; i < BURST; i++)
        busy();
#ifndef SIMULATED /* SMPI has no MPI_Pcontrol */
    across();
    hidden();
    MPI_Pcontrol(1);
#endif
    tell();
    MPI_Finalize();
    return 0;
}
