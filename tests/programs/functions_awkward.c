/* Functions, to be compiled with -finstrument-functions, where the recorder may be inside of itself
 * or already over: an allocator of the program's own, a signal handler, a thread that goes on while
 * the first one ends MPI; and recursion deeper than is recorded. "steps" is called 2000 times, and
 * "deep" 3000 times in itself. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define OWN __attribute__((noinline))

void *__libc_malloc(size_t size);
void __libc_free(void *memory);

static volatile int sink, stop;
static void *volatile kept;

OWN static void account(size_t size)
{
    sink += (int)size;
}

void *malloc(size_t size)
{
    account(size);
    return __libc_malloc(size);
}

void free(void *memory)
{
    account(0);
    __libc_free(memory);
}

OWN static void in_handler(void)
{
    sink++;
}

static void handler(int number)
{
    (void)number;
    in_handler();
}

OWN static void steps(void)
{
    sink++;
}

OWN static int deep(int depth)
{
    return depth > 1 ? deep(depth - 1) + 1 : sink;
}

OWN static void in_thread(void)
{
    sink++;
}

static void *run(void *argument)
{
    while (!stop)
        in_thread();
    return argument;
}

int main(int argc, char **argv)
{
    const struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    pthread_t thread;
    MPI_Init(&argc, &argv);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 2000; i++) {
        steps();
        kept = malloc(100);
        free(kept);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    deep(3000);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, run, NULL);
    usleep(20000);
    MPI_Finalize();
    stop = 1;
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
