#include "record/output.h"

#include "base/grow.h"
#include "record/clock.h"
#include "record/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void rec_output_release(struct rec_output *output)
{
    rfn_rope_release(&output->bytes);
    rfn_rope_release(&output->claimed);
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

static void compare(void *ahead, uint64_t offset, const uint8_t *bytes, size_t size)
{
    rec_ahead_compare(ahead, offset, bytes, size);
}

int rec_output_chunk_claimed(struct rec_output *output, uint32_t type, uint64_t id,
                             struct rfn_rope *payload)
{
    struct rfn_toc_entry *entry = &output->claimed_entry;
    *entry = (struct rfn_toc_entry){.type = type, .id = id, .stored_size = rfn_rope_size(payload)};
    if (!output->ahead || output->ahead->size < rfn_chunk_bytes(entry))
        return rec_output_chunk(output, type, id, payload, false, NULL);
    entry->offset = output->ahead->offset;
    const struct rfn_chunk_look look = {compare, output->ahead};
    return rfn_chunk_join_as_is(&output->claimed, type, id, payload, &look, &entry->stored_size);
}

void rec_output_chunk_whole(struct rec_output *output)
{
    output->claimed_entry = output->ahead->entry;
    output->claimed = output->ahead->chunk;
    output->ahead->chunk = (struct rfn_rope)RFN_ROPE_INIT;
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
    struct rfn_buf claimed;  /* entries of chunks for what is claimed: the children's and this
                                rank's; offsets as claimed */
    uint64_t offset;         /* of this rank's part in the file */
    int64_t shift;           /* from where claims were to where they are */
    uint64_t peak;           /* of memory for merging, here and on ranks below */
    bool unwritten;          /* one of these has more to write, when it is told where */
    bool fresh;              /* the file is not the one in which times may stand */
    uint64_t inode;          /* of the file */
    int fd;                  /* -1: this rank has not opened the file */
};

static bool any_claims(const struct placing *placing)
{
    return placing->output->ahead && placing->output->ahead->end;
}

/* Where the part of the first child begins; what ranks claim is between rank 0's part and that. */
static uint64_t end_of_part(const struct placing *placing)
{
    return placing->exchange->rank == 0 && any_claims(placing)
               ? placing->output->ahead->end + (uint64_t)placing->shift
               : placing->offset + rfn_rope_size(&placing->output->bytes);
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

/* Of this rank and all below it, wherever this rank's part is. */
static void write_contents(const struct placing *placing, struct rfn_buf *out)
{
    const struct rec_output *output = placing->output;
    write_entries((const uint8_t *)output->entries, output->n_entries * sizeof *output->entries,
                  placing->offset, out);
    write_entries(placing->contents.data, placing->contents.size, end_of_part(placing), out);
}

static size_t held_by(const struct placing *placing)
{
    return placing->contents.capacity + placing->claimed.capacity;
}

static int place_merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct placing *placing = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    size_t before = held_by(placing), claimed;
    uint64_t part = rfn_reader_varint(&reader), peak = rfn_reader_varint(&reader);
    bool unwritten = rfn_reader_u8(&reader);
    const uint8_t *entries = rfn_reader_blob(&reader, &claimed);
    if (reader.failed)
        return RFN_E_EXCHANGE;
    placing->before[child] = placing->children;
    placing->peak = peak > placing->peak ? peak : placing->peak;
    placing->unwritten |= unwritten;
    write_entries(entries, claimed, 0, &placing->claimed);
    write_entries(bytes + reader.at, size - reader.at, placing->children, &placing->contents);
    placing->children += part;
    rfn_exchange_hold(placing->exchange, (int64_t)(held_by(placing) - before));
    return placing->claimed.failed ? RFN_E_NOMEM : rfn_buf_status(&placing->contents);
}

static int place_write(void *state, struct rfn_buf *out)
{
    const struct placing *placing = state;
    const uint64_t peak = placing->exchange->peak;
    rfn_buf_varint(out, rfn_rope_size(&placing->output->bytes) + placing->children);
    rfn_buf_varint(out, peak > placing->peak ? peak : placing->peak);
    rfn_buf_u8(out, placing->unwritten);
    rfn_buf_varint(out, placing->claimed.size);
    rfn_buf_bytes(out, placing->claimed.data, placing->claimed.size);
    write_contents(placing, out);
    return rfn_buf_status(out);
}

/* Of the archive, under its name: the one in which times stand, if it could be given that. */
static int create(struct placing *placing)
{
    struct rec_ahead *ahead = placing->output->ahead;
    int unnamed = ahead ? ahead->fd : -1;
    int fd = rec_archive_create(placing->output->alone, rec_place_size(), &unnamed,
                                placing->result);
    placing->fresh = unnamed < 0;
    if (ahead)
        ahead->fd = fd == unnamed ? -1 : unnamed; /* it is this one now, or closed */
    return fd;
}

/* What is claimed begins behind the reserve, if rank 0's part fits in there, and leaves not too
 * much of it unused. */
static int64_t shift_of(const struct placing *placing)
{
    const struct rec_ahead *ahead = placing->output->ahead;
    const uint64_t part = rfn_rope_size(&placing->output->bytes);
    if (!any_claims(placing))
        return 0;
    const uint64_t most = (ahead->end + part) / REC_AHEAD_UNUSED;
    return part <= ahead->reserve && ahead->reserve - part <= most
               ? 0
               : (int64_t)(part - ahead->reserve);
}

/* On rank 0, whose part has its size now: what is claimed, and stands in the file, makes room. */
static int make_way(struct placing *placing)
{
    const struct rec_ahead *ahead = placing->output->ahead;
    placing->offset = RFN_HEADER_BYTES;
    placing->shift = shift_of(placing);
    if (!placing->shift || placing->fresh)
        return 0;
    const uint64_t begin = RFN_HEADER_BYTES + ahead->reserve;
    return rec_archive_move(placing->fd, begin, ahead->end - begin,
                            begin + (uint64_t)placing->shift, placing->result);
}

/* Rank 0 creates the file. */
static int begin_file(struct placing *placing)
{
    uint8_t header[RFN_HEADER_BYTES];
    struct stat status;
    placing->fd = create(placing);
    if (placing->fd < 0)
        return RFN_E_IO;
    if (fstat(placing->fd, &status) < 0)
        return rec_archive_fail(placing->result, "cannot write %s: %s", placing->result->path,
                                strerror(errno));
    placing->inode = status.st_ino;
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    return rec_archive_write(placing->fd, header, sizeof header, 0, placing->result);
}

static int place_write_down(void *state, int child, struct rfn_buf *out)
{
    const struct placing *placing = state;
    rfn_buf_u64(out, placing->inode);
    rfn_buf_u8(out, placing->fresh);
    rfn_buf_svarint(out, placing->shift);
    rfn_buf_varint(out, end_of_part(placing) + placing->before[child]);
    rfn_buf_bytes(out, placing->result->path, strlen(placing->result->path));
    return rfn_buf_status(out);
}

static int place_read_down(void *state, const uint8_t *bytes, size_t size)
{
    struct placing *placing = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    placing->inode = rfn_reader_u64(&reader);
    placing->fresh = rfn_reader_u8(&reader);
    placing->shift = rfn_reader_svarint(&reader);
    placing->offset = rfn_reader_varint(&reader);
    if (reader.failed || size - reader.at >= sizeof placing->result->path)
        return RFN_E_EXCHANGE;
    memcpy(placing->result->path, bytes + reader.at, size - reader.at);
    placing->result->path[size - reader.at] = 0;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    const uint64_t one = ((const struct rfn_toc_entry *)a)->offset;
    const uint64_t other = ((const struct rfn_toc_entry *)b)->offset;
    return one < other ? -1 : one > other;
}

/* Writes the table of contents and the final header. */
static int close_archive(const struct placing *placing, struct rec_archive_result *result)
{
    struct rfn_buf contents = RFN_BUF_INIT, payload = RFN_BUF_INIT, chunk = RFN_BUF_INIT;
    const uint64_t end = end_of_part(placing) + placing->children;
    write_contents(placing, &contents);
    write_entries(placing->claimed.data, placing->claimed.size, (uint64_t)placing->shift,
                  &contents);
    const size_t n = contents.size / sizeof(struct rfn_toc_entry);
    if (n > 0)
        qsort(contents.data, n, sizeof(struct rfn_toc_entry), compare_entries);
    rfn_toc_append(&payload, (const void *)contents.data, n);
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
    struct rfn_exchange *exchange;
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

struct standing {
    const struct rec_ahead *ahead;
    int64_t shift;
};

static int stands(void *context, uint64_t offset, const uint8_t *bytes, size_t size)
{
    const struct standing *standing = context;
    (void)bytes; /* compared when the chunk was made */
    return rec_ahead_stands(standing->ahead, offset - (uint64_t)standing->shift, size);
}

/* This rank's part, and what it has claimed. */
static int write_own(const struct placing *placing)
{
    const struct rec_output *output = placing->output;
    struct rec_writing writing = writing_at(placing, placing->offset);
    RFN_TRY(rec_writing_rope(&writing, &output->bytes));
    if (!any_claims(placing))
        return 0;
    writing = writing_at(placing, output->ahead->offset + (uint64_t)placing->shift);
    struct standing standing = {output->ahead, placing->shift};
    if (!placing->fresh) {
        writing.look = stands;
        writing.context = &standing;
    }
    return rec_writing_rope(&writing, &output->claimed);
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
static int receive_gathered(struct rfn_exchange *exchange, int rank, struct rec_writing *writing,
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

/* What a rank claims of the file, as it says to rank 0 before it sends that. */
struct claim {
    uint64_t offset, size;
};

/* All that this rank has. Everything is sent, whatever fails: rank 0 waits for it. */
static int send_all(const struct placing *placing)
{
    struct rfn_exchange *exchange = placing->exchange;
    const struct rec_output *output = placing->output;
    int error = send_gathered(exchange, &output->bytes);
    if (!any_claims(placing))
        return error;
    const struct claim claim = {output->ahead->offset + (uint64_t)placing->shift,
                                output->ahead->size};
    int said = exchange->send(exchange->context, 0, &claim, sizeof claim);
    int sent = send_gathered(exchange, &output->claimed);
    return error ? error : said ? said : sent;
}

/* A rank could not read its own part. */
static int lost_part(const struct placing *placing)
{
    return rec_archive_fail(placing->result, "a rank has lost a part of its events");
}

static int receive_claimed(const struct placing *placing, int rank, int error)
{
    struct rfn_exchange *exchange = placing->exchange;
    struct rfn_buf said = RFN_BUF_INIT;
    struct claim claim = {0};
    int received = exchange->receive(exchange->context, rank, &said);
    if (!received && said.size == sizeof claim)
        memcpy(&claim, said.data, sizeof claim);
    else
        received = received ? received : RFN_E_EXCHANGE;
    rfn_buf_release(&said);
    error = error ? error : received;
    struct rec_writing writing = writing_at(placing, claim.offset);
    error = receive_gathered(exchange, rank, &writing, error);
    return !error && writing.offset != claim.offset + claim.size ? lost_part(placing) : error;
}

/* Ranks that do not see the file: all send, rank 0 writes. */
static int write_for_all(const struct placing *placing)
{
    const struct rfn_exchange *exchange = placing->exchange;
    if (exchange->rank != 0)
        return send_all(placing);
    int error = write_own(placing);
    struct rec_writing writing = writing_at(placing, end_of_part(placing));
    for (int rank = 1; rank < exchange->size; rank++) {
        error = receive_gathered(placing->exchange, rank, &writing, error);
        if (any_claims(placing))
            error = receive_claimed(placing, rank, error);
    }
    if (!error && writing.offset != end_of_part(placing) + placing->children)
        error = lost_part(placing);
    return error;
}

/* This rank's chunks go out. Ranks other than 0 then have closed the file, as some file systems
 * report errors only there. */
static int write_part(struct placing *placing)
{
    struct rec_archive_result *result = placing->result;
    if (placing->exchange->rank != 0)
        placing->fd = rec_archive_open(result->path, placing->inode);
    if (placing->fd < 0)
        return 0;
    int error = write_own(placing);
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
    int closed = rec_archive_close(placing->fd, result);
    placing->fd = -1;
    placing->output->whole = rec_monotonic_ns();
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

/* What is claimed becomes as long as it was claimed to be. */
static int fill_claim(struct rec_output *output)
{
    static const uint8_t zeros[4096];
    const uint64_t used = rfn_rope_size(&output->claimed);
    if (!output->ahead)
        return 0;
    for (uint64_t left = output->ahead->size - used; left > 0;) {
        const size_t part = left < sizeof zeros ? (size_t)left : sizeof zeros;
        rfn_rope_borrow(&output->claimed, zeros, part);
        left -= part;
    }
    return rfn_rope_status(&output->claimed);
}

/* Before its entry goes up. */
static int take_claimed_entry(struct placing *placing)
{
    const struct rec_output *output = placing->output;
    if (rfn_rope_size(&output->claimed) == 0)
        return 0;
    write_entries((const uint8_t *)&output->claimed_entry, sizeof output->claimed_entry, 0,
                  &placing->claimed);
    return rfn_buf_status(&placing->claimed);
}

/* Whether all that a rank other than 0 has is what it has claimed, and stands there now: that needs
 * no word of rank 0's. */
static bool write_claimed(const struct placing *placing)
{
    struct rec_ahead *ahead = placing->output->ahead;
    struct rec_archive_result unsaid = {0}; /* a problem is told when it comes again */
    struct standing standing = {ahead, 0};
    struct rec_writing writing = {.fd = ahead->fd,
                                  .offset = ahead->offset,
                                  .look = stands,
                                  .context = &standing,
                                  .result = &unsaid};
    const bool more = rfn_rope_size(&placing->output->bytes) > 0;
    if (ahead->size == 0)
        return !more;
    bool written = !more && rec_ahead_is_open(ahead) &&
                   rec_writing_rope(&writing, &placing->output->claimed) == 0;
    return rec_ahead_close(ahead) && written;
}

/* Where all that ranks have is what they have claimed, and stands there, rank 0 ends the file at
 * once. True: that is done. */
static bool end_at_once(struct placing *placing, int *error)
{
    const bool first = placing->exchange->rank == 0;
    uint64_t ended = 0;
    if (!any_claims(placing))
        return false;
    if (first && !*error && !placing->unwritten && !placing->fresh) {
        *error = end_file(placing, write_own(placing));
        ended = !*error;
    }
    int told = rfn_exchange_tell(placing->exchange, &ended);
    if (ended)
        *error = 0; /* whoever does not hear of it */
    else if (!*error)
        *error = told;
    return ended;
}

/* Every rank is told where its part is, and writes it there. */
static int write_placed(struct placing *placing, const struct rfn_round *round, int error)
{
    bool gather = false;
    error = rfn_exchange_descend(placing->exchange, round, placing, error);
    if (placing->output->ahead)
        rec_ahead_withdraw(placing->output->ahead);
    if (!error)
        error = write_part(placing);
    error = agree(placing, error, &gather);
    if (gather)
        error = write_for_all(placing);
    return placing->exchange->rank == 0 ? end_file(placing, error) : error;
}

int rec_output_write(struct rec_output *output, struct rfn_exchange *exchange, int error,
                     struct rec_archive_result *result)
{
    static const struct rfn_round round = {.merge = place_merge,
                                           .write = place_write,
                                           .write_down = place_write_down,
                                           .read_down = place_read_down};
    struct placing placing = {.exchange = exchange, .output = output, .result = result, .fd = -1};
    if (!error)
        error = take_claimed_entry(&placing);
    if (!error)
        error = fill_claim(output);
    if (!error && exchange->rank != 0)
        placing.unwritten = any_claims(&placing) && !write_claimed(&placing);
    rfn_exchange_hold(exchange, (int64_t)held_by(&placing));
    error = rfn_exchange_climb(exchange, &round, &placing, error);
    if (exchange->rank == 0 && !error)
        error = begin_file(&placing);
    if (exchange->rank == 0 && !error)
        error = make_way(&placing);
    if (!end_at_once(&placing, &error))
        error = write_placed(&placing, &round, error);
    output->peak = placing.peak > exchange->peak ? placing.peak : exchange->peak;
    rfn_exchange_hold(exchange, -(int64_t)held_by(&placing));
    rfn_buf_release(&placing.contents);
    rfn_buf_release(&placing.claimed);
    return error;
}

/* ---- rank 0 without the others ---- */

int rec_output_create(struct rec_output *output, struct rfn_exchange *exchange,
                      struct rec_archive_result *result)
{
    struct placing placing = {.exchange = exchange, .output = output, .result = result, .fd = -1};
    int error = begin_file(&placing);
    if (!error && any_claims(&placing) && placing.fresh)
        error = RFN_E_UNSUPPORTED;
    if (!error)
        return placing.fd;
    if (placing.fd >= 0) {
        close(placing.fd);
        unlink(result->path);
    }
    return error;
}

int rec_output_complete(struct rec_output *output, struct rfn_exchange *exchange, int fd,
                        const struct rfn_buf *standing, int error,
                        struct rec_archive_result *result)
{
    struct placing placing = {
        .exchange = exchange, .output = output, .result = result, .fd = fd, .claimed = *standing};
    if (!error)
        error = make_way(&placing);
    struct rec_writing writing = writing_at(&placing, placing.offset);
    if (!error)
        error = rec_writing_rope(&writing, &output->bytes);
    error = end_file(&placing, error);
    if (exchange->peak > output->peak)
        output->peak = exchange->peak;
    if (error && !result->problem[0])
        snprintf(result->problem, sizeof result->problem, "%s", rfn_error_text(error));
    return error;
}
