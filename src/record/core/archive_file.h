/* archive_file.h - the file of an archive: its name, how it is created, and writing to it.
 *
 * The file gets its name when it is whole. Until then it is a part: PATH.PID.N.part in the same
 * folder, or, of a process that writes alone, a file without a name, where the file system has such
 * files. Such a process may be killed at any moment, as others have called MPI_Abort, and leaves
 * nothing then.
 *
 * Bytes go to the file from where they are, gathered to few calls. Nothing is ever written through
 * a link or over another file, unless forced.
 */
#ifndef RFN_RECORD_CORE_ARCHIVE_FILE_H
#define RFN_RECORD_CORE_ARCHIVE_FILE_H

#include "base/rope.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct rec_archive_result {
    bool alone;      /* of a process that writes without the others: .rankN goes into the name */
    bool full;       /* beside one that has not all calls: .full goes into the name */
    char path[4096]; /* of the archive */
    char part[4096]; /* of the file until it is whole; "": it has no name */
    uint64_t file_bytes;
    uint64_t peak_bytes; /* on rank 0: most memory that merging has taken on a rank */
    int64_t complete_ns; /* on rank 0: when the archive was complete */
    bool failed;         /* it was not written, though it was wanted */
    char problem[512];   /* why it failed, on ranks that know; may be set before */
};

/* Notes the problem if it is the first. Returns RFN_E_IO. */
int rec_archive_fail(struct rec_archive_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The wanted name with a number before the suffix, for number > 1: app.8.rfn, app.8.2.rfn, ...
 * Absolute, unless it is not known where the program started. RFN_E_IO when it is too long. */
int rec_archive_name(char *path, size_t size, int ranks, unsigned number);

/* Creates the file and chooses result->path and part. Returns a descriptor, or a negative error and
 * notes why. */
int rec_archive_create(struct rec_archive_result *result);

/* Closes the file that was created and, without an error, gives it its name; else nothing is left.
 * Returns that error or its own. */
int rec_archive_end(int fd, int error, struct rec_archive_result *result);

/* Opens for writing the file that another process created, by the name of the part; -1 when there
 * is none or it is another, by its inode. */
int rec_archive_open(const char *part, uint64_t inode);

/* Some file systems report errors of writing only here. */
int rec_archive_close(int fd, struct rec_archive_result *result);

int rec_archive_write(int fd, const uint8_t *bytes, size_t size, uint64_t offset,
                      struct rec_archive_result *result);

/* Bytes, and parts, that go to the file with one call. Fewer take more calls, and of more bytes the
 * system makes larger pages, for which it takes longer to find memory. */
enum { REC_WRITING_AT_ONCE = 1 << 18, REC_WRITING_MOST_PARTS = 128 };

/* A place in the file that moves on as a rope is written there. */
struct rec_writing {
    int fd;
    uint64_t offset; /* behind what is written */
    struct rec_archive_result *result;
    struct iovec waiting[REC_WRITING_MOST_PARTS];
    int n_waiting;
    size_t waiting_bytes; /* less than REC_WRITING_AT_ONCE */
};

int rec_writing_rope(struct rec_writing *writing, const struct rfn_rope *bytes);
/* Bytes that need not stay where they are. */
int rec_writing_bytes(struct rec_writing *writing, const uint8_t *bytes, size_t size);

#endif
