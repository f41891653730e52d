#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_NOFOLLOW */
#endif

#include "base/whole_file.h"

#include "refrain/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, uint8_t *bytes, size_t size, size_t *read_bytes)
{
    while (*read_bytes < size) {
        const ssize_t n = read(fd, bytes + *read_bytes, size - *read_bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return RFN_E_IO;
        if (n == 0)
            break; /* it has become shorter */
        *read_bytes += (size_t)n;
    }
    return 0;
}

static int read_file(int fd, uint8_t **bytes, size_t *size)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return RFN_E_IO;
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return RFN_E_IO;
    }
    *bytes = malloc((size_t)status.st_size + 1);
    return *bytes ? read_all(fd, *bytes, (size_t)status.st_size, size) : RFN_E_NOMEM;
}

int rfn_whole_file_read(const char *path, uint8_t **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    const int error = fd < 0 ? RFN_E_IO : read_file(fd, bytes, size);
    const int why = errno;
    if (fd >= 0)
        close(fd);
    if (error) {
        free(*bytes);
        *bytes = NULL;
    }
    errno = why;
    return error;
}

int rfn_write_all(int fd, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    while (size > 0) {
        const ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n < 0 ? errno : ENOSPC;
            return RFN_E_IO;
        }
        at += n;
        size -= (size_t)n;
    }
    return 0;
}
