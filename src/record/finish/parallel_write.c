#include "record/finish/parallel_write.h"

#include "archive/journal_format.h"
#include "base/grow.h"
#include "record/core/clock.h"
#include "record/core/job.h"
#include "record/core/journal.h"

#include <errno.h>
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
    if (output->draft) {
        output->n_entries++;
        rfn_journal_pack_chunk(&output->bytes.bytes, type, id, compress, payload,
                               rec_journal_stream_of);
        return rfn_rope_status(&output->bytes);
    }
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

/* ---- every rank gets its place, rank 0 the table of contents ---- */

struct placing {
    struct rfn_exchange *exchange;
    struct rec_output *output;
    struct rec_archive_result *result;
    uint64_t children;                      /* bytes of the children merged so far */
    uint64_t before[RFN_EXCHANGE_CHILDREN]; /* the same, before each child */
    struct rfn_buf contents; /* the children's entries; offsets from where the first child begins */
    uint64_t offset;         /* of this rank's part in the file */
    uint64_t peak;           /* of memory for merging, here and on ranks below */
    uint64_t inode;          /* of the file */
    int fd;                  /* -1: this rank has not opened the file */
};

/* Where the part of the first child begins. */
static uint64_t end_of_part(const struct placing *placing)
{
    return placing->offset + rfn_rope_size(&placing->output->bytes);
}

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

/* Of this rank and all below it, in order of their offsets. */
static void write_contents(const struct placing *placing, struct rfn_buf *out)
{
    const struct rec_output *output = placing->output;
    write_entries((const uint8_t *)output->entries, output->n_entries * sizeof *output->entries,
                  placing->offset, out);
    write_entries(placing->contents.data, placing->contents.size, end_of_part(placing), out);
}

static int place_merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct placing *placing = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    size_t before = placing->contents.capacity;
    uint64_t part = rfn_reader_varint(&reader), peak = rfn_reader_varint(&reader);
    if (reader.failed)
        return RFN_E_EXCHANGE;
    placing->before[child] = placing->children;
    placing->peak = peak > placing->peak ? peak : placing->peak;
    write_entries(bytes + reader.at, size - reader.at, placing->children, &placing->contents);
    placing->children += part;
    rfn_exchange_hold(placing->exchange, (int64_t)(placing->contents.capacity - before));
    return rfn_buf_status(&placing->contents);
}

static int place_write(void *state, struct rfn_buf *out)
{
    const struct placing *placing = state;
    const uint64_t peak = placing->exchange->peak;
    rfn_buf_varint(out, rfn_rope_size(&placing->output->bytes) + placing->children);
    rfn_buf_varint(out, peak > placing->peak ? peak : placing->peak);
    write_contents(placing, out);
    return rfn_buf_status(out);
}

/* On rank 0, whose part has its size now, before the others learn where theirs are. */
static int begin_file(void *state)
{
    struct placing *placing = state;
    struct rec_archive_result *result = placing->result;
    uint8_t header[RFN_HEADER_BYTES];
    struct stat status;
    placing->offset = RFN_HEADER_BYTES;
    placing->fd = rec_archive_create(result);
    if (placing->fd < 0)
        return RFN_E_IO;
    if (fstat(placing->fd, &status) < 0)
        return rec_archive_fail(result, "cannot write %s: %s", result->path, strerror(errno));
    placing->inode = status.st_ino;
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    return rec_archive_write(placing->fd, header, sizeof header, 0, result);
}

static int place_write_down(void *state, int child, struct rfn_buf *out)
{
    const struct placing *placing = state;
    rfn_buf_u64(out, placing->inode);
    rfn_buf_varint(out, end_of_part(placing) + placing->before[child]);
    rfn_buf_string(out, placing->result->path);
    rfn_buf_string(out, placing->result->part);
    return rfn_buf_status(out);
}

/* A text in room for `size` bytes. */
static bool read_text(struct rfn_reader *reader, char *text, size_t size)
{
    size_t length;
    const uint8_t *bytes = rfn_reader_blob(reader, &length);
    if (reader->failed || length >= size)
        return false;
    memcpy(text, bytes, length);
    text[length] = 0;
    return true;
}

static int place_read_down(void *state, const uint8_t *bytes, size_t size)
{
    struct placing *placing = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    placing->inode = rfn_reader_u64(&reader);
    placing->offset = rfn_reader_varint(&reader);
    struct rec_archive_result *result = placing->result;
    return read_text(&reader, result->path, sizeof result->path) &&
                   read_text(&reader, result->part, sizeof result->part)
               ? 0
               : RFN_E_EXCHANGE;
}

/* Writes the table of contents and the final header. */
static int close_archive(const struct placing *placing, struct rec_archive_result *result)
{
    struct rfn_buf contents = RFN_BUF_INIT, payload = RFN_BUF_INIT, chunk = RFN_BUF_INIT;
    const uint64_t end = end_of_part(placing) + placing->children;
    write_contents(placing, &contents);
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
        error = rec_archive_write(placing->fd, chunk.data, chunk.size, end, result);
    if (!error)
        error = rec_archive_write(placing->fd, header, sizeof header, 0, result);
    rfn_buf_release(&contents);
    rfn_buf_release(&payload);
    rfn_buf_release(&chunk);
    return error;
}

/* ---- rank 0 learns how the others fared, and why it failed ---- */

struct outcome {
    char problem[512 + 32]; /* of the first rank that knows one */
    uint64_t unshared;      /* ranks that do not see the file */
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
    rfn_buf_bytes(out, outcome->problem, strlen(outcome->problem));
    return rfn_buf_status(out);
}

/* ---- all ranks ---- */

static struct rec_writing writing_at(const struct placing *placing, uint64_t offset)
{
    return (struct rec_writing){.fd = placing->fd, .offset = offset, .result = placing->result};
}

static int send_part(void *context, const uint8_t *bytes, size_t size)
{
    enum { PART = 1 << 20 }; /* rank 0 holds one at a time */
    struct rfn_exchange *exchange = context;
    for (; size > PART; bytes += PART, size -= PART)
        RFN_TRY(exchange->send(exchange->context, 0, bytes, PART));
    return exchange->send(exchange->context, 0, bytes, size);
}

/* What one rank sends goes to the file; after an error it is received nevertheless. */
static int receive_parts(struct rfn_exchange *exchange, int rank, struct rec_writing *writing,
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
            error = received ? received : rec_writing_bytes(writing, bytes.data, bytes.size);
    }
    rfn_buf_release(&bytes);
    return error;
}

/* Ranks that do not see the file: all send, part by part and then an empty part, also after an
 * error, as rank 0 waits for it. Rank 0 writes. */
static int write_for_all(const struct placing *placing)
{
    struct rfn_exchange *exchange = placing->exchange;
    const struct rfn_rope *bytes = &placing->output->bytes;
    if (exchange->rank != 0) {
        int error = rfn_rope_each(bytes, send_part, exchange);
        int ended = send_part(exchange, NULL, 0);
        return error ? error : ended;
    }
    struct rec_writing writing = writing_at(placing, placing->offset);
    int error = rec_writing_rope(&writing, bytes);
    for (int rank = 1; rank < exchange->size; rank++)
        error = receive_parts(exchange, rank, &writing, error);
    if (!error && writing.offset != end_of_part(placing) + placing->children)
        error = rec_archive_fail(placing->result, "a rank has lost a part of its events");
    return error;
}

/* This rank's chunks go out. Ranks other than 0 then have closed the file, as some file systems
 * report errors only there. */
static int write_part(struct placing *placing)
{
    struct rec_archive_result *result = placing->result;
    if (placing->exchange->rank != 0)
        placing->fd = rec_archive_open(result->part, placing->inode);
    if (placing->fd < 0)
        return 0;
    struct rec_writing writing = writing_at(placing, placing->offset);
    int error = rec_writing_rope(&writing, &placing->output->bytes);
    if (placing->exchange->rank != 0) {
        int closed = rec_archive_close(placing->fd, result);
        error = error ? error : closed;
    }
    return error;
}

/* On rank 0: what only it writes, or what a failure leaves. Nothing when the file is closed. */
static int end_file(struct placing *placing, int error)
{
    struct rec_archive_result *result = placing->result;
    if (placing->fd < 0)
        return error;
    if (!error)
        error = close_archive(placing, result);
    error = rec_archive_end(placing->fd, error, result);
    placing->fd = -1;
    result->complete_ns = rec_monotonic_ns();
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
    struct rec_archive_result *result = placing->result;
    struct outcome outcome = {.error = error, .unshared = !error && placing->fd < 0};
    if (error && error != RFN_E_EXCHANGE && !result->problem[0])
        snprintf(result->problem, sizeof result->problem, "%s", rfn_error_text(error));
    if (result->problem[0])
        snprintf(outcome.problem, sizeof outcome.problem, "rank %d: %s", exchange->rank,
                 result->problem);
    int climbed = rfn_exchange_climb(exchange, &round, &outcome, 0);
    error = error ? error : climbed ? climbed : outcome.error;
    snprintf(result->problem, sizeof result->problem, "%.*s", (int)sizeof result->problem - 1,
             outcome.problem);
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
                     struct rec_archive_result *result)
{
    static const struct rfn_round round = {.merge = place_merge,
                                           .write = place_write,
                                           .turn = begin_file,
                                           .write_down = place_write_down,
                                           .read_down = place_read_down};
    struct placing placing = {.exchange = exchange, .output = output, .result = result, .fd = -1};
    bool gather = false;
    error = rfn_exchange_round(exchange, &round, &placing, error);
    if (!error)
        error = write_part(&placing);
    error = agree(&placing, error, &gather);
    if (gather)
        error = write_for_all(&placing);
    if (exchange->rank == 0)
        error = end_file(&placing, error);
    if (gather) { /* the others know whether their parts have left, and not whether they arrived */
        uint64_t failed = error < 0;
        const int told = rfn_exchange_tell(exchange, &failed);
        if (exchange->rank != 0 && !error)
            error = told ? told : failed ? RFN_E_EXCHANGE : 0;
    }
    result->peak_bytes = placing.peak > exchange->peak ? placing.peak : exchange->peak;
    rfn_exchange_hold(exchange, -(int64_t)placing.contents.capacity);
    rfn_buf_release(&placing.contents);
    return error;
}
