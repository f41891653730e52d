#define _GNU_SOURCE /* F_DUPFD_CLOEXEC, madvise */
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
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

/* ---- processes ---- */

/* The beginning of a small file of /proc, terminated; false: there is none. */
static bool read_text(const char *path, char *text, size_t size)
{
    const int fd = rfn_above_standard(open(path, O_RDONLY | O_CLOEXEC));
    const ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* By which /proc shifts times for this process. */
static uint64_t shift_ticks(void)
{
    char text[256];
    const char *at = read_text("/proc/self/timens_offsets", text, sizeof text)
                         ? strstr(text, "boottime")
                         : NULL;
    const long long seconds = at ? strtoll(at + strlen("boottime"), NULL, 10) : 0;
    return (uint64_t)(seconds * (long long)sysconf(_SC_CLK_TCK));
}

uint64_t rfn_process_began(uint64_t pid)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    if (!read_text(path, text, sizeof text))
        return 0;
    const char *at = strrchr(text, ')'); /* behind the name, the second field */
    if (!at || strncmp(at, ") Z", 3) == 0 || strncmp(at, ") X", 3) == 0)
        return 0;
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) - shift_ticks() : 0;
}

/* ---- files in use ---- */

#define IN_MEMORY 0x01021994 /* TMPFS_MAGIC */

static int lock(int fd, int how)
{
    struct statfs system;
    if (fstatfs(fd, &system) < 0)
        return errno;
    if (system.f_type != IN_MEMORY)
        return EOPNOTSUPP;
    int error;
    do
        error = flock(fd, how) < 0 ? errno : 0;
    while (error == EINTR);
    return error;
}

int rfn_use_file(int fd)
{
    struct stat status;
    const int error = lock(fd, LOCK_SH);
    if (error)
        return error;
    return fstat(fd, &status) < 0 ? errno : status.st_nlink ? 0 : ESTALE;
}

bool rfn_is_unused(int fd)
{
    struct stat status;
    return lock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &status) == 0 && status.st_nlink > 0;
}
