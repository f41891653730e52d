/* Whether the ranks of a node merge through memory that they share: near none|offer|join.
 *
 * offer: rank 0 has no such memory. join: the last rank cannot open it, as if it were elsewhere. At
 * its end each process says how many messages, or parts of such, it has sent through semaphores.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STEPS = 100 };

static const char *missing = "";
static int rank, size;
static long posted;

int memfd_create(const char *name, unsigned flags)
{
    if (strcmp(missing, "offer") != 0)
        return (int)syscall(SYS_memfd_create, name, flags);
    errno = ENOSYS;
    return -1;
}

ssize_t readlink(const char *restrict path, char *restrict link, size_t bytes)
{
    if (strcmp(missing, "join") != 0 || rank != size - 1 || !strstr(path, "/fd/"))
        return syscall(SYS_readlink, path, link, bytes);
    errno = ENOENT;
    return -1;
}

int sem_post(sem_t *semaphore)
{
    static int (*post)(sem_t *);
    if (!post)
        *(void **)&post = dlsym(RTLD_NEXT, "sem_post");
    posted++;
    return post(semaphore);
}

__attribute__((destructor)) static void say(void)
{
    printf("rank %d posted %ld\n", rank, posted);
}

int main(int argc, char **argv)
{
    int word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < STEPS + rank % 2; i++) {
        const int odd = rank % 2;
        MPI_Sendrecv(&rank, 1, MPI_INT, rank, odd, &word, 1, MPI_INT, rank, odd, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    missing = argc > 1 ? argv[1] : "";
    posted = 0;
    return MPI_Finalize();
}
