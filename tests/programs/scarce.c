/* What happens to ranks without memory while the archive is gathered: scarce WHO BYTES NUMBER.
 *
 * Ranks other than 0 cannot open the archive, as if they did not share rank 0's file system. From
 * then on (rank 0: since MPI_Finalize began) rank WHO gets no more than BYTES bytes at a time from
 * realloc, by which buffers grow, from the NUMBER-th larger request on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EVENTS = 20000 };

static int rank = -1, who, number, scarce;
static size_t bytes;

void *__libc_realloc(void *old, size_t size);

void *realloc(void *old, size_t size)
{
    if (scarce && rank == who && size > bytes && --number <= 0)
        return NULL;
    return __libc_realloc(old, size);
}

static int open_file(const char *path, int flags, mode_t mode)
{
    size_t length = strlen(path);
    if (rank > 0 && length > 5 && strcmp(path + length - 5, ".part") == 0) {
        scarce = 1;
        errno = EACCES;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int main(int argc, char **argv)
{
    who = atoi(argv[1]);
    bytes = strtoul(argv[2], NULL, 10);
    number = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < EVENTS && rank == 1; i++) {
        int in, out = i, tag = rand() % 32768;
        MPI_Sendrecv(&out, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    }
    scarce = rank == 0;
    MPI_Finalize();
    return 0;
}
