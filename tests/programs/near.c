/* Whether the ranks of a node merge through memory that they share: near none|offer|join|room.
 *
 * offer: rank 0 has no such memory. join: the last rank cannot open it, as if it were elsewhere.
 * room: it has no room for its part. A second word tells a rank whether it is the last
 * one. At its end each process says how often it has woken others since MPI_Finalize began. With
 * OWN_SEMAPHORES it has functions named as those for semaphores are, which nobody else may call
 * (MPICH does).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STEPS = 100 };

static const char *missing = "";
static bool last; /* whether this is the last rank, which is told */
static int rank;
static long woken;

int memfd_create(const char *name, unsigned flags)
{
    if (strcmp(missing, "offer") != 0)
        return (int)syscall(SYS_memfd_create, name, flags);
    errno = ENOSYS;
    return -1;
}

ssize_t readlink(const char *restrict path, char *restrict link, size_t bytes)
{
    if (strcmp(missing, "join") != 0 || !last || !strstr(path, "/fd/"))
        return syscall(SYS_readlink, path, link, bytes);
    errno = ENOENT;
    return -1;
}

int madvise(void *memory, size_t bytes, int advice)
{
    if (strcmp(missing, "room") == 0 && last && advice == MADV_POPULATE_WRITE) {
        errno = EFAULT;
        return -1;
    }
    return (int)syscall(SYS_madvise, memory, bytes, advice);
}

/* Knows only what is called here, and counts wake-ups. */
long syscall(long number, ...)
{
    static long (*forward)(long, ...);
    long words[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        words[i] = va_arg(arguments, long);
    va_end(arguments);
    if (!forward)
        *(void **)&forward = dlsym(RTLD_NEXT, "syscall");
    woken += number == SYS_futex && (words[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
    return forward(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

#ifdef OWN_SEMAPHORES
void sem_wait(int number)
{
    abort();
}

void sem_post(int number)
{
    abort();
}

void sem_init(int number)
{
    abort();
}
#endif

__attribute__((destructor)) static void say(void)
{
    printf("rank %d woke %ld\n", rank, woken);
}

int main(int argc, char **argv)
{
    int word = 0;
    missing = argc > 2 ? argv[1] : "";
    last = argc > 2 && atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < STEPS + rank % 2; i++) {
        const int odd = rank % 2;
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, odd, &word, 1, MPI_INT, rank, odd, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    woken = 0;
    return MPI_Finalize();
}
