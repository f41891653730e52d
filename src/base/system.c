#define _GNU_SOURCE /* F_DUPFD_CLOEXEC, madvise */
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* older headers */
#define MADV_POPULATE_WRITE 23
#endif

int rfn_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(fd);
    errno = error;
    return higher;
}

bool rfn_make_room(void *memory, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)memory % page;
    if (bytes < before + page)
        return true;
    bytes -= before;
    return madvise((char *)memory + before, bytes - bytes % page, MADV_POPULATE_WRITE) == 0;
}
