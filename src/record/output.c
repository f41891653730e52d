#include "record/output.h"

#include "base/descriptor.h"
#include "base/grow.h"
#include "record/options.h"
#include "record/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
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

int rec_output_take(struct rec_output *output, const struct rfn_toc_entry *entry,
                    const struct rfn_rope *bytes)
{
    RFN_TRY(RFN_GROW(output->entries, output->entries_capacity, output->n_entries + 1));
    output->entries[output->n_entries] = *entry;
    output->entries[output->n_entries++].offset = rfn_rope_size(&output->bytes);
    rfn_rope_flatten(bytes, &output->bytes.bytes);
    return rfn_rope_status(&output->bytes);
}

int rec_output_append(struct rec_output *output, const struct rec_output *more)
{
    uint64_t before = rfn_rope_size(&output->bytes);
    RFN_TRY(
        RFN_GROW(output->entries, output->entries_capacity, output->n_entries + more->n_entries));
    for (size_t i = 0; i < more->n_entries; i++) {
        output->entries[output->n_entries] = more->entries[i];
        output->entries[output->n_entries++].offset += before;
    }
    rfn_rope_flatten(&more->bytes, &output->bytes.bytes);
    return rfn_rope_status(&output->bytes);
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

/* Puts .rankN before the suffix of a name. */
static int name_alone(char *path, size_t size)
{
    char suffix[64];
    size_t length = strlen(path), stem = length;
    if (length > 4 && strcmp(path + length - 4, ".rfn") == 0)
        stem -= 4;
    snprintf(suffix, sizeof suffix, ".rank%d%s", rec_place_rank(), path + stem);
    if (stem + strlen(suffix) >= size)
        return RFN_E_IO;
    memcpy(path + stem, suffix, strlen(suffix) + 1);
    return 0;
}

/* Creates the file, never through a link and never over another file, unless forced. */
static int create(const struct rec_output *output, int ranks, struct rec_output_result *result)
{
    for (unsigned number = 1; number < 10000; number++) {
        if (rec_output_name(result->path, sizeof result->path, ranks, number) < 0 ||
            (output->alone && name_alone(result->path, sizeof result->path) < 0))
            return fail(result, "the name of the archive is too long");
        struct stat old;
        bool exists = lstat(result->path, &old) == 0;
        if (exists && S_ISDIR(old.st_mode))
            return fail(result, "%s is a directory", result->path);
        if (exists && rec_options.force && !S_ISREG(old.st_mode))
            return fail(result, "%s is no regular file, and so is not replaced", result->path);
        if (exists && rec_options.force && unlink(result->path) < 0 && errno != ENOENT)
            return fail(result, "cannot remove %s: %s", result->path, strerror(errno));
        int fd = rfn_above_standard(
            open(result->path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666));
        if (fd >= 0)
            return fd;
        if (errno != EEXIST || rec_options.force)
            break;
    }
    return fail(result, "cannot create %s: %s", result->path, strerror(errno));
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
                       struct rec_output_result *result)
{
    const struct iovec *end = parts + n_parts;
    while ((parts = skip_written(parts, end, 0)) < end) {
        ssize_t n = pwritev(fd, parts, (int)(end - parts), (off_t)*offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(result, "cannot write %s: %s", result->path,
                        strerror(n < 0 ? errno : ENOSPC));
        *offset += (uint64_t)n;
        parts = skip_written(parts, end, (size_t)n);
    }
    return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t size, uint64_t offset,
                     struct rec_output_result *result)
{
    struct iovec part = {(void *)bytes, size};
    return write_parts(fd, &part, 1, &offset, result);
}

/* Opens the file that rank 0 created; -1 when there is none or it is another. */
static int open_shared(const char *path, uint64_t inode)
{
    int fd = rfn_above_standard(open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status;
    if (fd >= 0 && (fstat(fd, &status) < 0 || (uint64_t)status.st_ino != inode)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- every rank gets its place, rank 0 the table of contents ---- */

struct placing {
    struct rfn_exchange *exchange;
    struct rec_output *output;
    struct rec_output_result *result;
    uint64_t children;                      /* bytes of the children merged so far */
    uint64_t before[RFN_EXCHANGE_CHILDREN]; /* the same, before each child */
    struct rfn_buf contents; /* the children's entries; offsets from where the first child begins */
    uint64_t offset;         /* of this rank's part in the file */
    uint64_t inode;          /* of the file */
    int fd;                  /* -1: this rank has not opened the file */
};

/* Entries whose offsets are moved on. */
static void write_entries(const uint8_t *bytes, size_t size, uint64_t by, struct rfn_buf *out)
{
    struct rfn_toc_entry entry;
    for (; size >= sizeof entry; bytes += sizeof entry, size -= sizeof entry) {
        memcpy(&entry, bytes, sizeof entry);
        entry.offset += by;
        rfn_buf_bytes(out, &entry, sizeof entry);
    }
}

/* Of this rank and all below it, with offsets from `start` on. */
static void write_contents(const struct placing *placing, uint64_t start, struct rfn_buf *out)
{
    const struct rec_output *output = placing->output;
    write_entries((const uint8_t *)output->entries, output->n_entries * sizeof *output->entries,
                  start, out);
    write_entries(placing->contents.data, placing->contents.size,
                  start + rfn_rope_size(&output->bytes), out);
}

static int place_merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct placing *placing = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    size_t capacity = placing->contents.capacity;
    uint64_t part = rfn_reader_varint(&reader);
    placing->before[child] = placing->children;
    write_entries(bytes + reader.at, size - reader.at, placing->children, &placing->contents);
    placing->children += part;
    rfn_exchange_hold(placing->exchange, (int64_t)(placing->contents.capacity - capacity));
    return reader.failed ? RFN_E_EXCHANGE : rfn_buf_status(&placing->contents);
}

static int place_write(void *state, struct rfn_buf *out)
{
    const struct placing *placing = state;
    rfn_buf_varint(out, rfn_rope_size(&placing->output->bytes) + placing->children);
    write_contents(placing, 0, out);
    return rfn_buf_status(out);
}

/* Rank 0 creates the file. */
static int place_turn(void *state)
{
    struct placing *placing = state;
    uint8_t header[RFN_HEADER_BYTES];
    struct stat status;
    placing->offset = RFN_HEADER_BYTES;
    placing->fd = create(placing->output, rec_place_size(), placing->result);
    if (placing->fd < 0)
        return RFN_E_IO;
    if (fstat(placing->fd, &status) < 0)
        return fail(placing->result, "cannot write %s: %s", placing->result->path, strerror(errno));
    placing->inode = status.st_ino;
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    return write_all(placing->fd, header, sizeof header, 0, placing->result);
}

static int place_write_down(void *state, int child, struct rfn_buf *out)
{
    const struct placing *placing = state;
    rfn_buf_u64(out, placing->inode);
    rfn_buf_varint(out, placing->offset + rfn_rope_size(&placing->output->bytes) +
                            placing->before[child]);
    rfn_buf_bytes(out, placing->result->path, strlen(placing->result->path));
    return rfn_buf_status(out);
}

static int place_read_down(void *state, const uint8_t *bytes, size_t size)
{
    struct placing *placing = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    placing->inode = rfn_reader_u64(&reader);
    placing->offset = rfn_reader_varint(&reader);
    if (reader.failed || size - reader.at >= sizeof placing->result->path)
        return RFN_E_EXCHANGE;
    memcpy(placing->result->path, bytes + reader.at, size - reader.at);
    placing->result->path[size - reader.at] = 0;
    return 0;
}

/* Writes the table of contents and the final header. */
static int close_archive(const struct placing *placing, struct rec_output_result *result)
{
    struct rfn_buf contents = RFN_BUF_INIT, payload = RFN_BUF_INIT, chunk = RFN_BUF_INIT;
    uint64_t end = placing->offset + rfn_rope_size(&placing->output->bytes) + placing->children;
    write_contents(placing, placing->offset, &contents);
    rfn_toc_append(&payload, (const void *)contents.data,
                   contents.size / sizeof(struct rfn_toc_entry));
    rfn_chunk_append(&chunk, RFN_CHUNK_TOC, 0, payload.data, payload.size, true);
    int error = contents.failed || payload.failed || chunk.failed ? RFN_E_NOMEM : 0;
    uint8_t header[RFN_HEADER_BYTES];
    int64_t held = (int64_t)(contents.capacity + payload.capacity + chunk.capacity);
    rfn_exchange_hold(placing->exchange, held);
    rfn_exchange_hold(placing->exchange, -held);
    result->file_bytes = end + chunk.size;
    rfn_header_write(header, RFN_STATE_WHOLE, end, result->file_bytes);
    if (!error)
        error = write_all(placing->fd, chunk.data, chunk.size, end, result);
    if (!error)
        error = write_all(placing->fd, header, sizeof header, 0, result);
    rfn_buf_release(&contents);
    rfn_buf_release(&payload);
    rfn_buf_release(&chunk);
    return error;
}

/* ---- rank 0 learns how the others fared, and why it failed ---- */

struct outcome {
    struct rfn_exchange *exchange;
    char problem[512 + 32]; /* of the first rank that knows one */
    uint64_t unshared;      /* ranks that do not see the file */
    uint64_t peak;          /* of memory for merging on any rank */
    int error;              /* of any rank */
};

/* Never fails: it is what tells of failures. */
static int outcome_merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct outcome *outcome = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    (void)child;
    if (rfn_reader_u8(&reader) && !outcome->error)
        outcome->error = RFN_E_EXCHANGE;
    outcome->unshared += rfn_reader_varint(&reader);
    uint64_t peak = rfn_reader_varint(&reader);
    if (peak > outcome->peak)
        outcome->peak = peak;
    if (!outcome->problem[0])
        snprintf(outcome->problem, sizeof outcome->problem, "%.*s", (int)(size - reader.at),
                 (const char *)bytes + reader.at);
    return 0;
}

static int outcome_write(void *state, struct rfn_buf *out)
{
    const struct outcome *outcome = state;
    rfn_buf_u8(out, outcome->error < 0);
    rfn_buf_varint(out, outcome->unshared);
    rfn_buf_varint(out, outcome->peak);
    rfn_buf_bytes(out, outcome->problem, strlen(outcome->problem));
    return rfn_buf_status(out);
}

/* ---- all ranks ---- */

/* Bytes, and parts, that go to the file with one call. Fewer take more calls, and of more bytes the
 * system makes larger pages, for which it takes longer to find memory. */
enum { AT_ONCE = 1 << 18, MOST_PARTS = 128 };

/* A place in the file that moves on as parts are written there, from where they are. */
struct writing {
    int fd;
    uint64_t offset; /* behind what is written */
    struct iovec waiting[MOST_PARTS];
    int n_waiting;
    size_t waiting_bytes; /* less than AT_ONCE */
    struct rec_output_result *result;
};

static struct writing begin_writing(const struct placing *placing)
{
    return (struct writing){
        .fd = placing->fd, .offset = placing->offset, .result = placing->result};
}

static int write_waiting(struct writing *writing)
{
    const int n = writing->n_waiting;
    writing->n_waiting = 0;
    writing->waiting_bytes = 0;
    return write_parts(writing->fd, writing->waiting, n, &writing->offset, writing->result);
}

static int write_lasting(void *context, const uint8_t *bytes, size_t size)
{
    struct writing *writing = context;
    while (size > 0) {
        const size_t room = AT_ONCE - writing->waiting_bytes, part = size < room ? size : room;
        writing->waiting[writing->n_waiting++] = (struct iovec){(void *)bytes, part};
        writing->waiting_bytes += part;
        if (writing->n_waiting == MOST_PARTS || writing->waiting_bytes == AT_ONCE)
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

static int write_bytes(struct writing *writing, const struct rfn_rope *bytes)
{
    static const struct rfn_rope_visitor visitor = {write_lasting, write_passing};
    RFN_TRY(rfn_rope_walk(bytes, &visitor, writing));
    return write_waiting(writing);
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
        if (received == RFN_E_NOMEM)
            rfn_buf_release(&bytes); /* so that what comes next is received again */
        if (received == RFN_E_EXCHANGE || (!received && !bytes.size))
            break;
        if (!error)
            error = received ? received : write_passing(writing, bytes.data, bytes.size);
    }
    rfn_buf_release(&bytes);
    return error;
}

/* Ranks that do not see the file: all send, rank 0 writes. */
static int write_for_all(const struct placing *placing)
{
    struct rfn_exchange *exchange = placing->exchange;
    const struct rfn_rope *bytes = &placing->output->bytes;
    if (exchange->rank != 0)
        return send_gathered(exchange, bytes);
    struct writing writing = begin_writing(placing);
    int error = write_bytes(&writing, bytes);
    for (int rank = 1; rank < exchange->size; rank++)
        error = receive_gathered(exchange, rank, &writing, error);
    uint64_t end = placing->offset + rfn_rope_size(bytes) + placing->children;
    if (!error && writing.offset != end) /* a rank could not read its own part */
        error = fail(placing->result, "a rank has lost a part of its events");
    return error;
}

static int close_file(int fd, struct rec_output_result *result)
{
    return close(fd) == 0 ? 0 : fail(result, "cannot write %s: %s", result->path, strerror(errno));
}

/* This rank's chunks go out. Ranks other than 0 then have closed the file, as some file systems
 * report errors only there. */
static int write_part(struct placing *placing)
{
    struct rec_output_result *result = placing->result;
    if (placing->exchange->rank != 0)
        placing->fd = open_shared(result->path, placing->inode);
    if (placing->fd < 0)
        return 0;
    struct writing writing = begin_writing(placing);
    int error = write_bytes(&writing, &placing->output->bytes);
    if (placing->exchange->rank != 0) {
        int closed = close_file(placing->fd, result);
        error = error ? error : closed;
    }
    return error;
}

/* On rank 0: what only it writes, or what a failure leaves. Nothing when the file is closed. */
static int end_file(struct placing *placing, int error)
{
    struct rec_output_result *result = placing->result;
    if (placing->fd < 0)
        return error;
    if (!error)
        error = close_archive(placing, result);
    int closed = close_file(placing->fd, result);
    placing->fd = -1;
    error = error ? error : closed;
    if (error)
        unlink(result->path);
    return error;
}

/* Rank 0's word on it. */
enum verdict { FAILED, WRITTEN, TO_BE_GATHERED };

/* Returns the error of any rank; *gather says whether rank 0 must write for all. Otherwise it has
 * ended the file before the others go on, who may keep a core busy. */
static int agree(struct placing *placing, int error, bool *gather)
{
    static const struct rfn_round round = {.merge = outcome_merge, .write = outcome_write};
    struct rfn_exchange *exchange = placing->exchange;
    struct rec_output_result *result = placing->result;
    struct outcome outcome = {
        .error = error, .unshared = !error && placing->fd < 0, .peak = exchange->peak};
    if (error && error != RFN_E_EXCHANGE && !result->problem[0])
        snprintf(result->problem, sizeof result->problem, "%s", rfn_error_text(error));
    if (result->problem[0])
        snprintf(outcome.problem, sizeof outcome.problem, "rank %d: %s", exchange->rank,
                 result->problem);
    int climbed = rfn_exchange_climb(exchange, &round, &outcome, 0);
    error = error ? error : climbed ? climbed : outcome.error;
    snprintf(result->problem, sizeof result->problem, "%.*s", (int)sizeof result->problem - 1,
             outcome.problem);
    result->merge_bytes = outcome.peak;
    if (exchange->rank == 0 && !outcome.unshared)
        error = end_file(placing, error);
    uint64_t verdict = error ? FAILED : outcome.unshared ? TO_BE_GATHERED : WRITTEN;
    int told = rfn_exchange_tell(exchange, &verdict);
    *gather = !told && verdict == TO_BE_GATHERED;
    if (exchange->rank == 0 && verdict == WRITTEN)
        return 0; /* whoever does not hear of it */
    return error ? error : told || verdict == FAILED ? RFN_E_EXCHANGE : 0;
}

int rec_output_write(struct rec_output *output, struct rfn_exchange *exchange, int error,
                     struct rec_output_result *result)
{
    static const struct rfn_round round = {.merge = place_merge,
                                           .write = place_write,
                                           .turn = place_turn,
                                           .write_down = place_write_down,
                                           .read_down = place_read_down};
    struct placing placing = {.exchange = exchange, .output = output, .result = result, .fd = -1};
    bool gather = false;
    int placed = rfn_exchange_round(exchange, &round, &placing, error);
    error = error ? error : placed;
    if (!error)
        error = write_part(&placing);
    error = agree(&placing, error, &gather);
    if (gather)
        error = write_for_all(&placing);
    if (exchange->rank == 0)
        error = end_file(&placing, error);
    if (exchange->peak > result->merge_bytes)
        result->merge_bytes = exchange->peak;
    rfn_exchange_hold(exchange, -(int64_t)placing.contents.capacity);
    rfn_buf_release(&placing.contents);
    return error;
}
