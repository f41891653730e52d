#include "record/output.h"

#include "base/grow.h"
#include "record/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void rec_output_release(struct rec_output *output)
{
    rfn_rope_release(&output->bytes);
    free(output->entries);
}

int rec_output_chunk(struct rec_output *output, uint32_t type, uint64_t id,
                     struct rfn_rope *payload, bool compress, const struct rfn_spill *spill)
{
    RFN_TRY(RFN_GROW(output->entries, output->entries_capacity, output->n_entries + 1));
    struct rfn_toc_entry *entry = &output->entries[output->n_entries];
    *entry = (struct rfn_toc_entry){
        .type = type, .id = id, .offset = rfn_rope_size(&output->bytes)};
    RFN_TRY(
        rfn_chunk_join(&output->bytes, type, id, payload, compress, spill, &entry->stored_size));
    output->n_entries++;
    return 0;
}

/* ---- the file ---- */

static int fail(struct rec_output_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes the first problem. */
static int fail(struct rec_output_result *result, const char *format, ...)
{
    if (!result->problem[0]) {
        va_list args;
        va_start(args, format);
        vsnprintf(result->problem, sizeof result->problem, format, args);
        va_end(args);
    }
    return RFN_E_IO;
}

int rec_output_name(char *path, size_t size, int ranks, unsigned number)
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

/* The descriptors of standard input, output and error may be free, but whoever writes to those must
 * not hit the archive. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(fd);
    errno = error;
    return higher;
}

/* Creates the file, never through a link and never over another file, unless forced. */
static int create(int ranks, struct rec_output_result *result)
{
    for (unsigned number = 1; number < 10000; number++) {
        if (rec_output_name(result->path, sizeof result->path, ranks, number) < 0)
            return fail(result, "the name of the archive is too long");
        struct stat old;
        bool exists = lstat(result->path, &old) == 0;
        if (exists && S_ISDIR(old.st_mode))
            return fail(result, "%s is a directory", result->path);
        if (exists && S_ISREG(old.st_mode) && rec_options.force)
            unlink(result->path);
        int fd = above_standard(
            open(result->path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666));
        if (fd >= 0)
            return fd;
        if (errno != EEXIST || rec_options.force)
            break;
    }
    return fail(result, "cannot create %s: %s", result->path, strerror(errno));
}

static int write_all(int fd, const uint8_t *bytes, size_t size, uint64_t offset,
                     struct rec_output_result *result)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, bytes, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(result, "cannot write %s: %s", result->path,
                        strerror(n < 0 ? errno : ENOSPC));
        bytes += n;
        size -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

/* Opens the file that rank 0 created; -1 when there is none or it is another. */
static int open_shared(const char *path, uint64_t inode)
{
    int fd = above_standard(open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (fd >= 0 && (fstat(fd, &status) < 0 || (uint64_t)status.st_ino != inode)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- the table of contents comes together on rank 0 ---- */

static int contents_merge(void *state, const uint8_t *bytes, size_t size)
{
    rfn_buf_bytes(state, bytes, size);
    return rfn_buf_status(state);
}

static int contents_write(void *state, struct rfn_buf *out)
{
    const struct rfn_buf *entries = state;
    rfn_buf_bytes(out, entries->data, entries->size);
    return rfn_buf_status(out);
}

/* Writes the table of contents and the final header. */
static int close_archive(int fd, const struct rfn_buf *contents, uint64_t end,
                         struct rec_output_result *result)
{
    struct rfn_buf payload = RFN_BUF_INIT, chunk = RFN_BUF_INIT;
    rfn_toc_append(&payload, (const void *)contents->data,
                   contents->size / sizeof(struct rfn_toc_entry));
    rfn_chunk_append(&chunk, RFN_CHUNK_TOC, 0, payload.data, payload.size, true);
    int error = payload.failed || chunk.failed ? RFN_E_NOMEM : 0;
    uint8_t header[RFN_HEADER_BYTES];
    result->file_bytes = end + chunk.size;
    rfn_header_write(header, RFN_STATE_WHOLE, end, result->file_bytes);
    if (!error)
        error = write_all(fd, chunk.data, chunk.size, end, result);
    if (!error)
        error = write_all(fd, header, sizeof header, 0, result);
    rfn_buf_release(&payload);
    rfn_buf_release(&chunk);
    return error;
}

/* ---- all ranks ---- */

/* Rank 0 creates the file; all learn its name and identity and open it. Returns the descriptor, or
 * -1 with *error set. *shared says whether this rank sees the same file. */
static int open_everywhere(struct rfn_exchange *exchange, struct rec_output_result *result,
                           int *error, uint64_t *unshared)
{
    struct rfn_buf message = RFN_BUF_INIT;
    int fd = -1;
    if (exchange->rank == 0 && !*error) {
        uint8_t header[RFN_HEADER_BYTES];
        struct stat status;
        fd = create(exchange->size, result);
        rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
        if (fd < 0)
            *error = fd;
        else if (fstat(fd, &status) < 0)
            *error = fail(result, "cannot write %s: %s", result->path, strerror(errno));
        else if ((*error = write_all(fd, header, sizeof header, 0, result)) == 0)
            rfn_buf_u64(&message, status.st_ino);
        rfn_buf_bytes(&message, result->path, strlen(result->path) + 1);
    }
    int down = rfn_exchange_down(exchange, &message, *error);
    *error = *error ? *error : down;
    if (exchange->rank != 0 && !*error) {
        struct rfn_reader reader = rfn_reader_over(message.data, message.size);
        uint64_t inode = rfn_reader_u64(&reader);
        snprintf(result->path, sizeof result->path, "%s", (const char *)message.data + 8);
        fd = open_shared(result->path, inode);
    }
    rfn_buf_release(&message);
    uint64_t before;
    int scanned = rfn_exchange_scan(exchange, fd < 0, *error, &before, unshared);
    *error = *error ? *error : scanned;
    return fd;
}

/* A place in the file that moves on as parts are written there. */
struct writing {
    int fd;
    uint64_t offset;
    struct rec_output_result *result;
};

static int write_part_of(void *context, const uint8_t *bytes, size_t size)
{
    struct writing *writing = context;
    RFN_TRY(write_all(writing->fd, bytes, size, writing->offset, writing->result));
    writing->offset += size;
    return 0;
}

static int send_part(void *context, const uint8_t *bytes, size_t size)
{
    enum { PART = 1 << 20 }; /* rank 0 holds one at a time */
    struct rfn_exchange *exchange = context;
    for (; size > PART; bytes += PART, size -= PART)
        RFN_TRY(exchange->send(exchange->context, 0, bytes, PART));
    return exchange->send(exchange->context, 0, bytes, size);
}

/* Everything, part by part, then an empty part. An error ends it early, with an empty part too. */
static int send_gathered(struct rfn_exchange *exchange, const struct rfn_rope *bytes)
{
    int error = rfn_rope_each(bytes, send_part, exchange);
    int ended = send_part(exchange, NULL, 0);
    return error ? error : ended;
}

/* What one rank sends goes to the file; after an error it is received nevertheless. */
static int receive_gathered(struct rfn_exchange *exchange, int rank, struct writing *writing,
                            int error)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    for (;;) {
        bytes.size = 0;
        int received = exchange->receive(exchange->context, rank, &bytes);
        if (received == RFN_E_EXCHANGE || (!received && !bytes.size))
            break;
        if (!error)
            error = received ? received : write_part_of(writing, bytes.data, bytes.size);
    }
    rfn_buf_release(&bytes);
    return error;
}

/* Ranks that do not see the file: all send, rank 0 writes. */
static int write_gathered(struct rfn_exchange *exchange, struct writing *writing,
                          const struct rec_output *output)
{
    if (exchange->rank != 0)
        return send_gathered(exchange, &output->bytes);
    int error = rfn_rope_each(&output->bytes, write_part_of, writing);
    for (int rank = 1; rank < exchange->size; rank++)
        error = receive_gathered(exchange, rank, writing, error);
    return error;
}

static int close_file(int fd, struct rec_output_result *result)
{
    return close(fd) == 0 ? 0 : fail(result, "cannot write %s: %s", result->path, strerror(errno));
}

/* This rank's chunks go out; the table of contents comes together. Ranks other than 0 then have
 * closed the file, as some file systems report errors only there. */
static int write_part(struct rec_output *output, struct rfn_exchange *exchange, int fd,
                      uint64_t before, bool shared, struct rec_output_result *result,
                      struct rfn_buf *contents)
{
    uint64_t offset = RFN_HEADER_BYTES + before;
    struct writing writing = {fd, offset, result};
    int error = shared ? rfn_rope_each(&output->bytes, write_part_of, &writing)
                       : write_gathered(exchange, &writing, output);
    if (exchange->rank != 0 && fd >= 0) {
        int closed = close_file(fd, result);
        error = error ? error : closed;
    }
    for (size_t i = 0; i < output->n_entries; i++)
        output->entries[i].offset += offset;
    rfn_buf_bytes(contents, output->entries, output->n_entries * sizeof *output->entries);
    if (error)
        contents->failed = true;
    int up = rfn_exchange_up(exchange, contents_merge, contents_write, contents);
    return error ? error : up;
}

int rec_output_write(struct rec_output *output, struct rfn_exchange *exchange, int error,
                     struct rec_output_result *result)
{
    uint64_t before, total, unshared = 0;
    struct rfn_buf contents = RFN_BUF_INIT;
    int scanned = rfn_exchange_scan(exchange, rfn_rope_size(&output->bytes), error, &before,
                                    &total);
    error = error ? error : scanned;
    int fd = open_everywhere(exchange, result, &error, &unshared);
    if (!error)
        error = write_part(output, exchange, fd, before, unshared == 0, result, &contents);
    else if (exchange->rank != 0 && fd >= 0)
        close(fd);
    if (exchange->rank == 0 && fd >= 0) {
        if (!error)
            error = close_archive(fd, &contents, RFN_HEADER_BYTES + total, result);
        int closed = close_file(fd, result);
        error = error ? error : closed;
        if (error)
            unlink(result->path);
    }
    rfn_buf_release(&contents);
    return error;
}
