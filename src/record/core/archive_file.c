#include "record/core/archive_file.h"

#include "base/system.h"
#include "record/core/job.h"
#include "record/core/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_DESCRIPTORS "/proc/self/fd"

enum { MOST_NAMES = 10000 };

int rec_archive_fail(struct rec_archive_result *result, const char *format, ...)
{
    if (!result->problem[0]) {
        va_list args;
        va_start(args, format);
        vsnprintf(result->problem, sizeof result->problem, format, args);
        va_end(args);
    }
    return RFN_E_IO;
}

int rec_archive_name(char *path, size_t size, int ranks, unsigned number)
{
    char stem[PATH_MAX];
    if (rec_options.output)
        snprintf(stem, sizeof stem, "%s", rec_options.output);
    else
        snprintf(stem, sizeof stem, "%s.%d.rfn", rec_options.program ? rec_options.program : "mpi",
                 ranks);
    bool absolute = stem[0] == '/' || !rec_options.directory;
    const char *directory = absolute ? "" : rec_options.directory;
    const char *slash = absolute ? "" : "/";
    size_t length = strlen(stem);
    const char *suffix = "";
    if (length > 4 && strcmp(stem + length - 4, ".rfn") == 0) {
        stem[length - 4] = 0;
        suffix = ".rfn";
    }
    int n = number < 2
                ? snprintf(path, size, "%s%s%s%s", directory, slash, stem, suffix)
                : snprintf(path, size, "%s%s%s.%u%s", directory, slash, stem, number, suffix);
    return n > 0 && (size_t)n < size ? 0 : RFN_E_IO;
}

/* Puts .rankN or .full before the suffix of a name. */
static int name_more(const struct rec_archive_result *result, char *path, size_t size)
{
    char more[32] = ".full", suffix[64];
    size_t length = strlen(path), stem = length;
    if (length > 4 && strcmp(path + length - 4, ".rfn") == 0)
        stem -= 4;
    if (result->alone)
        snprintf(more, sizeof more, ".rank%d", rec_job_rank());
    snprintf(suffix, sizeof suffix, "%s%s", more, path + stem);
    if (stem + strlen(suffix) >= size)
        return RFN_E_IO;
    memcpy(path + stem, suffix, strlen(suffix) + 1);
    return 0;
}

/* The name with this number, as result->path. */
static int choose(struct rec_archive_result *result, unsigned number)
{
    if (rec_archive_name(result->path, sizeof result->path, rec_job_size(), number) < 0 ||
        ((result->alone || result->full) &&
         name_more(result, result->path, sizeof result->path) < 0))
        return rec_archive_fail(result, "the name of the archive is too long");
    return 0;
}

/* A file that was changed after this run began is another run's, which goes on at the same time.
 * Clocks of file servers may differ by seconds: then a run gets a number that it would not need. */
static bool is_replaced(const struct stat *old)
{
    const struct timespec *changed = &old->st_mtim;
#ifdef RFN_FLAVOUR_SMPI
    return rec_options.force; /* the run's clock is simulated */
#endif
    return rec_options.force &&
           changed->tv_sec * INT64_C(1000000000) + changed->tv_nsec < rec_start().realtime_ns;
}

/* Chooses the first name that no file has, or that of a file that is to be replaced. */
static int choose_name(struct rec_archive_result *result)
{
    struct stat old;
    for (unsigned number = 1; number < MOST_NAMES; number++) {
        RFN_TRY(choose(result, number));
        const bool exists = lstat(result->path, &old) == 0;
        if (exists && S_ISDIR(old.st_mode))
            return rec_archive_fail(result, "%s is a directory", result->path);
        if (exists && is_replaced(&old) && !S_ISREG(old.st_mode))
            return rec_archive_fail(
                result, "%s is not a regular file and is not replaced; name another with --output",
                result->path);
        if (!exists || is_replaced(&old))
            return 0;
    }
    return rec_archive_fail(
        result,
        "cannot create %s: it exists, as do all names before it; move some away, or use --force",
        result->path);
}

/* Opens a file without a name, which is gone if the process is killed; -1: the file system has
 * none. */
static int open_nameless(const char *path)
{
    char directory[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (access(OWN_DESCRIPTORS, X_OK) < 0)
        return -1; /* it would never get a name */
    if (slash)
        snprintf(directory, sizeof directory, "%.*s", (int)(slash - path) + 1, path);
    return rfn_above_standard(open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
}

static int link_nameless(int fd, const char *path)
{
    char own[64];
    snprintf(own, sizeof own, OWN_DESCRIPTORS "/%d", fd);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* Creates result->part, beside the archive: a new file, or that of a descriptor without a name. A
 * long name is cut, so that there is room for what is added to it. */
static int create_part(struct rec_archive_result *result, int nameless)
{
    enum { NAME = 200 };
    const char *slash = strrchr(result->path, '/');
    const int stem = (slash ? (int)(slash - result->path) + 1 : 0) + NAME;
    for (unsigned number = 0; number < 100; number++) {
        snprintf(result->part, sizeof result->part, "%.*s.%ld.%u.part", stem, result->path,
                 (long)getpid(), number);
        int fd = nameless;
        if (nameless < 0)
            fd = rfn_above_standard(
                open(result->part, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666));
        else if (link_nameless(nameless, result->part) < 0)
            fd = -1;
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            break;
    }
    result->part[0] = 0;
    return rec_archive_fail(result, "cannot create %s: %s", result->path, strerror(errno));
}

int rec_archive_create(struct rec_archive_result *result)
{
    RFN_TRY(choose_name(result));
    const int fd = result->alone ? open_nameless(result->path) : -1;
    return fd >= 0 ? fd : create_part(result, -1);
}

/* Gives the part the archive's name. Another job may have taken that meanwhile. */
static int rename_part(struct rec_archive_result *result)
{
    struct stat old;
    while (lstat(result->path, &old) < 0 || !is_replaced(&old)) {
        if (link(result->part, result->path) == 0) {
            unlink(result->part);
            return 0;
        }
        if (errno != EEXIST)
            break; /* a file system without links: no file had the name a moment ago */
        RFN_TRY(choose_name(result));
    }
    RFN_TRY(choose_name(result));
    return rename(result->part, result->path) == 0
               ? 0
               : rec_archive_fail(result, "cannot %s %s: %s",
                                  rec_options.force ? "replace" : "create", result->path,
                                  strerror(errno));
}

int rec_archive_end(int fd, int error, struct rec_archive_result *result)
{
    if (!error && !result->part[0] && create_part(result, fd) < 0)
        error = RFN_E_IO;
    const int closed = rec_archive_close(fd, result);
    error = error ? error : closed;
    if (!error)
        error = rename_part(result);
    if (error && result->part[0])
        unlink(result->part);
    return error;
}

/* Leaves out what has been written. */
static struct iovec *skip_written(struct iovec *parts, const struct iovec *end, size_t written)
{
    for (; parts < end && written >= parts->iov_len; parts++)
        written -= parts->iov_len;
    if (parts < end) {
        parts->iov_base = (uint8_t *)parts->iov_base + written;
        parts->iov_len -= written;
    }
    return parts;
}

/* Changes the parts. *offset is then behind what was written. */
static int write_parts(int fd, struct iovec *parts, int n_parts, uint64_t *offset,
                       struct rec_archive_result *result)
{
    const struct iovec *end = parts + n_parts;
    while ((parts = skip_written(parts, end, 0)) < end) {
        ssize_t n = pwritev(fd, parts, (int)(end - parts), (off_t)*offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return rec_archive_fail(result, "cannot write %s: %s", result->path,
                                    strerror(n < 0 ? errno : ENOSPC));
        *offset += (uint64_t)n;
        parts = skip_written(parts, end, (size_t)n);
    }
    return 0;
}

int rec_archive_write(int fd, const uint8_t *bytes, size_t size, uint64_t offset,
                      struct rec_archive_result *result)
{
    struct iovec part = {(void *)bytes, size};
    return write_parts(fd, &part, 1, &offset, result);
}

int rec_archive_open(const char *part, uint64_t inode)
{
    int fd = rfn_above_standard(open(part, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (fd >= 0 && (fstat(fd, &status) < 0 || (uint64_t)status.st_ino != inode)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int rec_archive_close(int fd, struct rec_archive_result *result)
{
    return close(fd) == 0
               ? 0
               : rec_archive_fail(result, "cannot write %s: %s", result->path, strerror(errno));
}

/* ---- writing ---- */

static int write_waiting(struct rec_writing *writing)
{
    const int n = writing->n_waiting;
    writing->n_waiting = 0;
    writing->waiting_bytes = 0;
    return write_parts(writing->fd, writing->waiting, n, &writing->offset, writing->result);
}

static int write_lasting(void *context, const uint8_t *bytes, size_t size)
{
    struct rec_writing *writing = context;
    while (size > 0) {
        const size_t room = REC_WRITING_AT_ONCE - writing->waiting_bytes;
        const size_t part = size < room ? size : room;
        writing->waiting[writing->n_waiting++] = (struct iovec){(void *)bytes, part};
        writing->waiting_bytes += part;
        if (writing->n_waiting == REC_WRITING_MOST_PARTS ||
            writing->waiting_bytes == REC_WRITING_AT_ONCE)
            RFN_TRY(write_waiting(writing));
        bytes += part;
        size -= part;
    }
    return 0;
}

static int write_passing(void *context, const uint8_t *bytes, size_t size)
{
    RFN_TRY(write_lasting(context, bytes, size));
    return write_waiting(context);
}

int rec_writing_rope(struct rec_writing *writing, const struct rfn_rope *bytes)
{
    static const struct rfn_rope_visitor visitor = {write_lasting, write_passing};
    RFN_TRY(rfn_rope_walk(bytes, &visitor, writing));
    return write_waiting(writing);
}

int rec_writing_bytes(struct rec_writing *writing, const uint8_t *bytes, size_t size)
{
    return write_passing(writing, bytes, size);
}
