#define _POSIX_C_SOURCE 200809L /* pread, pwrite, mkstemp */

#include "archive/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static int read_bytes(void *context, uint64_t offset, void *bytes, size_t size)
{
    const struct rfn_temp_file *scratch = context;
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(scratch->fd, (uint8_t *)bytes + done, size - done,
                          (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? RFN_E_IO : RFN_E_INCOMPLETE;
        done += (size_t)n;
    }
    return 0;
}

struct rfn_temp_file *rfn_temp_file_new(void)
{
    struct rfn_temp_file *scratch = calloc(1, sizeof *scratch);
    if (scratch && pthread_mutex_init(&scratch->lock, NULL) != 0) {
        free(scratch);
        return NULL;
    }
    if (scratch) {
        scratch->fd = -1;
        scratch->store = (struct rfn_spill){.context = scratch, .read = read_bytes};
    }
    return scratch;
}

void rfn_temp_file_free(struct rfn_temp_file *scratch)
{
    if (!scratch)
        return;
    if (scratch->fd >= 0)
        close(scratch->fd);
    rfn_map_release(&scratch->chunks);
    pthread_mutex_destroy(&scratch->lock);
    free(scratch);
}

int rfn_temp_file_file(void)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    int size = snprintf(path, sizeof path, "%s/refrainXXXXXX", folder && *folder ? folder : "/tmp");
    int fd = size < (int)sizeof path ? mkstemp(path) : -1;
    if (fd < 0)
        return -1;
    unlink(path);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

bool rfn_temp_file_find(struct rfn_temp_file *scratch, uint64_t chunk, uint64_t *offset)
{
    pthread_mutex_lock(&scratch->lock);
    const uint64_t *found = rfn_map_get(&scratch->chunks, chunk);
    if (found)
        *offset = *found;
    pthread_mutex_unlock(&scratch->lock);
    return found != NULL;
}

int rfn_temp_file_reserve(struct rfn_temp_file *scratch, uint64_t size, uint64_t *offset)
{
    pthread_mutex_lock(&scratch->lock);
    if (scratch->fd < 0)
        scratch->fd = rfn_temp_file_file();
    /* Writing behind the limit of the process would end it with a signal. */
    struct rlimit limit;
    uint64_t end = scratch->end + size;
    bool room = scratch->fd >= 0 && end <= INT64_MAX && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                (limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur);
    if (room) {
        *offset = scratch->end;
        scratch->end = end;
    }
    pthread_mutex_unlock(&scratch->lock);
    return room ? 0 : RFN_E_IO;
}

int rfn_temp_file_write(struct rfn_temp_file *scratch, uint64_t offset, const void *bytes,
                        size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(scratch->fd, (const uint8_t *)bytes + done, size - done,
                           (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return RFN_E_IO;
        done += (size_t)n;
    }
    return 0;
}

int rfn_temp_file_keep(struct rfn_temp_file *scratch, uint64_t chunk, uint64_t offset)
{
    pthread_mutex_lock(&scratch->lock);
    int error = rfn_map_put(&scratch->chunks, chunk, offset);
    pthread_mutex_unlock(&scratch->lock);
    return error;
}

/* Room in the middle stays: that is seldom, and costs no more than what was written there. */
void rfn_temp_file_drop(struct rfn_temp_file *scratch, uint64_t offset, uint64_t size)
{
    pthread_mutex_lock(&scratch->lock);
    if (offset + size == scratch->end && ftruncate(scratch->fd, (off_t)offset) == 0)
        scratch->end = offset;
    pthread_mutex_unlock(&scratch->lock);
}
