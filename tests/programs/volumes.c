/* Computes a known amount between known calls: what a volume must show. Each rank spins for
 * SPIN_MS of its own CPU time, sleeps for SLEEP_MS, executes at least INSTRUCTIONS instructions,
 * and polls for a message that does not come, spinning POLL_SPIN_MS between two polls.
 *
 * CPU time is what the thread's clock says or, with the argument "task-clock", perf's task clock.
 * Each of them runs ahead of the other: the thread's goes on while the kernel switches to the
 * thread and from it, perf's, which is the time of day while the thread is on a core, also while
 * the host has taken that core away. Two of perf's task clocks of one thread are read from one
 * clock and never differ. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPIN_MS = 50, SLEEP_MS = 300, POLL_SPIN_MS = 20, INSTRUCTIONS = 10000000, POLLS = 3 };

static int task_clock = -1; /* its descriptor, if the program spins by that */

static void open_task_clock(void)
{
    struct perf_event_attr counted = {.type = PERF_TYPE_SOFTWARE,
                                      .size = sizeof counted,
                                      .config = PERF_COUNT_SW_TASK_CLOCK,
                                      .exclude_kernel = 1,
                                      .exclude_hv = 1};
    task_clock = (int)syscall(SYS_perf_event_open, &counted, 0, -1, -1, 0);
    if (task_clock < 0) {
        perror("perf's task clock");
        exit(1);
    }
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    int64_t counted;
    if (task_clock >= 0)
        return read(task_clock, &counted, sizeof counted) == sizeof counted ? counted : INT64_MAX;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void spin(int ms)
{
    int64_t end = cpu_ns() + ms * INT64_C(1000000);
    while (cpu_ns() < end)
        ;
}

int main(int argc, char **argv)
{
    int rank, flag;
    MPI_Request request;
    if (argc > 1 && strcmp(argv[1], "task-clock") == 0)
        open_task_clock();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    spin(SPIN_MS);
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag); /* what came before it: the spin */
    nanosleep(&(struct timespec){.tv_nsec = SLEEP_MS * 1000000L}, NULL);
    MPI_Get_address(&rank, &(MPI_Aint){0}); /* the sleep */
    for (int i = 0; i < INSTRUCTIONS; i++)
        __asm__ volatile("");
    MPI_Query_thread(&flag); /* the instructions */
    MPI_Irecv(&flag, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &request);
    for (int i = 0; i < POLLS; i++) {
        int done;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (i + 1 < POLLS)
            spin(POLL_SPIN_MS);
    }
    MPI_Send(&rank, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    puts("done");
    return 0;
}
