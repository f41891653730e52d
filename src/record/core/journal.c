#include "record/core/journal.h"

#include "base/hash.h"
#include "base/system.h"
#include "record/core/archive_file.h"
#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "refrain/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ---- */

int rec_journal_folder(char *path, size_t size)
{
    char archive[PATH_MAX];
    return rec_archive_name(archive, sizeof archive, rec_job_size(), 1) < 0
               ? RFN_E_IO
               : rfn_journal_folder(archive, rec_options.journal_directory, path, size);
}

bool rec_journal_make_folder(const char *path)
{
    struct stat status;
    if (mkdir(path, 0777) == 0)
        return true;
    if (errno != EEXIST || lstat(path, &status) < 0 || !S_ISDIR(status.st_mode))
        return false;
    errno = EPERM;
    return status.st_uid == geteuid();
}

/* Creates an empty file of this stream's, never through a link and never over another one. Returns
 * its path, to be freed, or NULL with errno set. */
static char *create(uint32_t stream)
{
    char folder[PATH_MAX], host[256] = "";
    if (rec_journal_folder(folder, sizeof folder) < 0) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    if (!rec_journal_make_folder(folder))
        return NULL;
    gethostname(host, sizeof host - 1);
    for (unsigned number = 0; number < 100; number++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s.%ld.%d.%u.%u", folder, host, (long)getpid(), rec_job_rank(),
                     stream, number) < 0)
            return NULL;
        int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0) {
            close(fd);
            return path;
        }
        free(path);
        if (errno == ENOENT && rec_journal_make_folder(folder))
            continue; /* another job has just removed it */
        if (errno != EEXIST)
            break;
    }
    return NULL;
}

/* ---- writing and reading ---- */

static int write_at(int fd, const uint8_t *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, bytes, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n < 0 ? errno : ENOSPC;
            return RFN_E_IO;
        }
        bytes += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

uint64_t rec_journal_written(const struct rec_journal *journal)
{
    return journal->size - journal->buffered;
}

/* Behind what is in the file. */
static int append(struct rec_journal *journal, const void *bytes, size_t size)
{
    if (!journal->path && !(journal->path = create(journal->stream)))
        return RFN_E_IO;
    journal->owner = (long)getpid();
    int fd = rfn_above_standard(open(journal->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    if (fd < 0)
        return RFN_E_IO;
    int error = write_at(fd, bytes, size, rec_journal_written(journal));
    if (close(fd) < 0 && errno != EINTR)
        error = RFN_E_IO; /* some file systems report a full disk only now */
    journal->writes += !error;
    return error;
}

static bool is_others(const struct rec_journal *journal)
{
    return journal->path && journal->owner != (long)getpid();
}

/* Appends to the file, and says once that it cannot be done. */
static int append_aloud(struct rec_journal *journal, const void *bytes, size_t size)
{
    struct rec_signals signals;
    int programs_errno = errno;
    if (journal->failed || is_others(journal))
        return RFN_E_IO;
    rec_signals_hold(&signals);
    int error = append(journal, bytes, size);
    journal->failed = error < 0;
    if (error < 0)
        rec_message("%s cannot be written: %s; the recorder takes more memory instead",
                    journal->path ? journal->path : "the journal", strerror(errno));
    rec_signals_release(&signals);
    errno = programs_errno;
    return error;
}

int rec_journal_flush(struct rec_journal *journal)
{
    if (!journal->buffered)
        return 0;
    RFN_TRY(append_aloud(journal, journal->buffer, journal->buffered));
    journal->buffered = 0;
    return 0;
}

/* Whether the bytes are behind those in the buffer now. */
static bool put_in_buffer(struct rec_journal *journal, const void *bytes, size_t size)
{
    if (size > REC_JOURNAL_BUFFER - journal->buffered)
        return false;
    if (!journal->buffer && !(journal->buffer = malloc(REC_JOURNAL_BUFFER)))
        return false;
    memcpy(journal->buffer + journal->buffered, bytes, size);
    journal->buffered += size;
    return true;
}

/* Appends behind the buffer. */
static int put(struct rec_journal *journal, const void *bytes, size_t size)
{
    if (put_in_buffer(journal, bytes, size))
        return 0;
    RFN_TRY(rec_journal_flush(journal));
    return put_in_buffer(journal, bytes, size) ? 0 : append_aloud(journal, bytes, size);
}

/* Of memory, for the hash of a file that is written. */
static bool has_hash(struct rec_journal *journal)
{
    if (!journal->hash && (journal->hash = XXH3_createState()))
        XXH3_64bits_reset(journal->hash);
    return journal->hash;
}

uint64_t rec_journal_hash(const struct rec_journal *journal)
{
    return journal->hash ? XXH3_64bits_digest(journal->hash) : rfn_hash_bytes("", 0);
}

uint64_t rec_journal_stream_of(const struct rfn_spill *spill)
{
    const struct rec_journal *journal = spill->context;
    return journal->stream;
}

static int journal_write(void *context, const void *bytes, size_t size, uint64_t *offset)
{
    struct rec_journal *journal = context;
    if (journal->failed || is_others(journal) || !has_hash(journal))
        return RFN_E_IO;
    if (rec_options.write)
        RFN_TRY(put(journal, bytes, size));
    else
        journal->writes++;
    *offset = journal->size;
    XXH3_64bits_update(journal->hash, bytes, size);
    journal->size += size;
    return 0;
}

/* From the file. */
static int read_at(const struct rec_journal *journal, uint64_t offset, uint8_t *bytes, size_t size)
{
    int programs_errno = errno, error = 0;
    if (!journal->path)
        return RFN_E_IO;
    int fd = rfn_above_standard(open(journal->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    for (size_t at = 0; fd >= 0 && at < size && !error;) {
        ssize_t n = pread(fd, bytes + at, size - at, (off_t)(offset + at));
        if (n > 0)
            at += (size_t)n;
        else if (n == 0 || errno != EINTR)
            error = RFN_E_IO;
    }
    if (fd >= 0)
        close(fd);
    errno = programs_errno;
    return fd < 0 ? RFN_E_IO : error;
}

static int journal_read(void *context, uint64_t offset, void *bytes, size_t size)
{
    const struct rec_journal *journal = context;
    const uint64_t written = rec_journal_written(journal);
    const size_t in_file = offset >= written         ? 0
                           : written - offset < size ? (size_t)(written - offset)
                                                     : size;
    uint8_t *to = bytes;
    if (offset > journal->size || size > journal->size - offset)
        return RFN_E_IO;
    if (in_file)
        RFN_TRY(read_at(journal, offset, to, in_file));
    if (size > in_file)
        memcpy(to + in_file, journal->buffer + (offset + in_file - written), size - in_file);
    return 0;
}

void rec_journal_init(struct rec_journal *journal, uint32_t stream)
{
    *journal = (struct rec_journal){.stream = stream};
    journal->spill = (struct rfn_spill){journal, journal_write, journal_read};
}

void rec_journal_remove(struct rec_journal *journal)
{
    if (is_others(journal))
        return;
    free(journal->buffer);
    journal->buffer = NULL;
    journal->buffered = 0;
    journal->size = 0;
    XXH3_freeState(journal->hash);
    journal->hash = NULL;
    if (!journal->path)
        return;
    unlink(journal->path);
    *strrchr(journal->path, '/') = 0;
    rmdir(journal->path);
    free(journal->path);
    journal->path = NULL;
}
