/* Opening: the 64 bytes of the header are checked first. When they say that the file is whole, the
 * TOC chunk lists the chunks; each must lie behind the one before it and before the TOC, so that no
 * later check can be led outside of the file. When the header is in the state of being written, or
 * the file is shorter than it says, or the TOC is damaged, the chunks are found by walking:
 *
 *   at = 64
 *   skip zero bytes, 8 at a time; stop at the end or at anything that is not a chunk
 *   check the chunk's header against the file's size and its checksum over all of it
 *   note it; go on behind it, at the next multiple of 8
 *
 * Loading: what is to be in memory is read whole, then its checksum computed. The rest is read
 * twice, in blocks: for its checksum, then to decompress it into the scratch file, unless it is
 * there already or is not compressed. Without a scratch file it must be in memory after all.
 */
#define _POSIX_C_SOURCE 200809L /* pread, O_CLOEXEC */

#include "archive/read/chunks.h"

#include "base/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { READ_BLOCK = 1 << 16, WRITE_BLOCK = 1 << 17, FIRST_ALLOCATION = 1 << 26 };

/* A chunk's header in numbers. */
struct chunk_header {
    uint32_t magic, type;
    uint64_t id, size, stored;
    uint32_t compression;
    uint64_t sum;
};

/* ---- bytes of the file ---- */

int rfn_chunks_read(const struct rfn_chunks *chunks, uint64_t offset, void *bytes, size_t size,
                    struct rfn_diag *diag)
{
    if (offset > chunks->file_bytes || size > chunks->file_bytes - offset)
        return rfn_fail(diag, RFN_E_INCOMPLETE, (int64_t)offset, -1,
                        "%s: the file ends before offset %" PRIu64, chunks->path,
                        offset + (uint64_t)size);
    if (chunks->fd < 0) {
        if (size)
            memcpy(bytes, chunks->memory + offset, size);
        return 0;
    }
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(chunks->fd, (uint8_t *)bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return rfn_fail(diag, RFN_E_IO, (int64_t)(offset + done), -1,
                            "%s: cannot read at offset %" PRIu64 ": %s", chunks->path,
                            offset + done, strerror(errno));
        if (n == 0)
            return rfn_fail(diag, RFN_E_INCOMPLETE, (int64_t)(offset + done), -1,
                            "%s: the file has become shorter: it ends before offset %" PRIu64,
                            chunks->path, offset + done);
        done += (size_t)n;
    }
    return 0;
}

static int read_file(void *context, uint64_t offset, void *bytes, size_t size)
{
    return rfn_chunks_read(context, offset, bytes, size, NULL);
}

static int corrupt_at(const struct rfn_chunks *chunks, uint64_t offset, const char *what,
                      struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_CORRUPT, (int64_t)offset, -1,
                    "%s: damaged at offset %" PRIu64 ": %s", chunks->path, offset, what);
}

/* ---- one chunk ---- */

static const char *type_name(uint32_t type)
{
    static const char *const names[] = {
        [RFN_CHUNK_META] = "META",
        [RFN_CHUNK_DEFINITIONS] = "DEFINITIONS",
        [RFN_CHUNK_STREAMS] = "STREAMS",
        [RFN_CHUNK_STRUCTURE] = "STRUCTURE",
        [RFN_CHUNK_VALUES] = "VALUES",
        [RFN_CHUNK_RANK_PARAMS] = "RANK_PARAMS",
        [RFN_CHUNK_TIMING] = "TIMING",
        [RFN_CHUNK_TOC] = "TOC",
        [RFN_CHUNK_CLOCKS] = "CLOCKS",
        [RFN_CHUNK_PROFILE] = "PROFILE",
        [RFN_CHUNK_PROFILES] = "PROFILES",
        [RFN_CHUNK_CLUSTERS] = "CLUSTERS",
        [RFN_CHUNK_SITE_SPREADS] = "SITE_SPREADS",
        [RFN_CHUNK_SPREADS] = "SPREADS",
        [RFN_CHUNK_COMMON] = "COMMON",
        [RFN_CHUNK_USAGE] = "USAGE",
        [RFN_CHUNK_CORES] = "CORES",
        [RFN_CHUNK_OPEN] = "OPEN",
        [RFN_CHUNK_AGGREGATED] = "AGGREGATED",
        [RFN_CHUNK_SAMPLES] = "SAMPLES",
        [RFN_CHUNK_SAMPLE_COLUMNS] = "SAMPLE_COLUMNS",
    };
    return type < sizeof names / sizeof *names && names[type] ? names[type] : "of unknown type";
}

int rfn_payload_fail(const struct rfn_payload *payload, int error, const char *what,
                     struct rfn_diag *diag)
{
    return rfn_fail(diag, error, (int64_t)payload->offset, -1,
                    "%s: %s at offset %" PRIu64 " (chunk %s %" PRIu64 "): %s", payload->path,
                    error == RFN_E_CORRUPT ? "damaged" : "cannot read", payload->offset,
                    type_name(payload->type), payload->id, what);
}

const char rfn_out_of_memory[] = "out of memory";
const char rfn_cannot_read[] = "it cannot be read";
const char rfn_became_shorter[] = "the file has become shorter while it was read";

const char *rfn_read_fault(int error)
{
    if (error == RFN_E_NOMEM)
        return rfn_out_of_memory;
    return error == RFN_E_INCOMPLETE ? rfn_became_shorter : rfn_cannot_read;
}

int rfn_fault_error(const char *fault)
{
    if (fault == rfn_out_of_memory)
        return RFN_E_NOMEM;
    if (fault == rfn_cannot_read)
        return RFN_E_IO;
    return fault == rfn_became_shorter ? RFN_E_INCOMPLETE : RFN_E_CORRUPT;
}

int rfn_payload_fault(const struct rfn_payload *payload, const char *fault, struct rfn_diag *diag)
{
    if (!fault)
        return 0;
    return rfn_payload_fail(payload, rfn_fault_error(fault), fault, diag);
}

int rfn_payload_read(const struct rfn_payload *payload, size_t at, void *bytes, size_t size)
{
    if (!payload->data)
        return payload->store->read(payload->store->context, payload->at + at, bytes, size);
    memcpy(bytes, payload->data + at, size);
    return 0;
}

void rfn_payload_release(struct rfn_payload *payload)
{
    free(payload->data);
    payload->data = NULL;
    payload->size = 0;
}

static struct chunk_header decode_header(const uint8_t *bytes)
{
    return (struct chunk_header){
        .magic = rfn_get_u32(bytes),
        .type = rfn_get_u32(bytes + 4),
        .id = rfn_get_u64(bytes + 8),
        .size = rfn_get_u64(bytes + 16),
        .stored = rfn_get_u64(bytes + 24),
        .compression = rfn_get_u32(bytes + 32),
        .sum = rfn_get_u64(bytes + RFN_CHUNK_SUMMED_BYTES),
    };
}

/* What is wrong with a header by itself, or NULL. room: bytes of the file behind the header. */
static const char *header_fault(const struct chunk_header *header, uint64_t room)
{
    if (header->magic != RFN_CHUNK_MAGIC)
        return "not the start of a chunk";
    if (header->stored > room)
        return "the chunk reaches beyond the end of the file";
    if (header->compression > RFN_COMPRESSION_ZSTD)
        return "unknown compression";
    if (header->compression == RFN_COMPRESSION_NONE && header->size != header->stored)
        return "stored uncompressed, but the two sizes differ";
    if (header->size > RFN_CHUNK_RAW_LIMIT(header->stored) || header->size > SIZE_MAX / 2)
        return "the decompressed size is not believable";
    return NULL;
}

/* Fuzzing would never get past checksums: the fuzzer's build does not compare them. */
static bool sum_matches(uint64_t computed, uint64_t stored)
{
#ifdef RFN_FUZZING
    (void)computed, (void)stored;
    return true;
#else
    return computed == stored;
#endif
}

/* Decompresses the frame that is all of `stored`. Memory is doubled as the decompressor fills it.
 * Returns what is wrong, or NULL; *error is RFN_E_NOMEM if it is memory. */
static const char *inflate(const struct chunk_header *header, const uint8_t *stored,
                           struct rfn_payload *payload, int *error)
{
    ZSTD_inBuffer in = {stored, (size_t)header->stored, 0};
    const size_t wanted = (size_t)header->size;
    size_t capacity = wanted < FIRST_ALLOCATION ? wanted : FIRST_ALLOCATION;
    const char *fault = NULL;
    if (ZSTD_getFrameContentSize(stored, in.size) != header->size)
        return "the compressed data are of another size than the chunk says";
    if (ZSTD_findFrameCompressedSize(stored, in.size) != in.size)
        return "the compressed data are not one frame";
    ZSTD_DCtx *context = ZSTD_createDCtx();
    while (context && !fault && (payload->size < wanted || !payload->data)) {
        if (payload->size == capacity)
            capacity = capacity > wanted / 2 ? wanted : capacity * 2;
        uint8_t *data = realloc(payload->data, capacity ? capacity : 1);
        if (!data)
            break;
        payload->data = data;
        ZSTD_outBuffer out = {data, capacity, payload->size};
        size_t before = in.pos, left = ZSTD_decompressStream(context, &out, &in);
        bool moved = out.pos > payload->size || in.pos > before;
        payload->size = out.pos;
        if (ZSTD_isError(left) || (payload->size < wanted && (!moved || left == 0)))
            fault = "the compressed data are damaged";
    }
    ZSTD_freeDCtx(context);
    if (fault || (payload->data && payload->size == wanted))
        return fault;
    *error = RFN_E_NOMEM;
    return "no memory to decompress it";
}

/* The stored bytes become the payload: handed over as they are, or decompressed and freed. */
static int unpack(const struct chunk_header *header, uint8_t *stored, struct rfn_payload *payload,
                  struct rfn_diag *diag)
{
    int error = RFN_E_CORRUPT;
    if (header->compression == RFN_COMPRESSION_NONE) {
        payload->data = stored;
        payload->size = header->size;
        return 0;
    }
    const char *fault = inflate(header, stored, payload, &error);
    free(stored);
    if (!fault)
        return 0;
    rfn_payload_release(payload);
    return rfn_payload_fail(payload, error, fault, diag);
}

/* The checksum of a chunk in the file, block by block. */
static int sum_of_file(const struct rfn_chunks *chunks, uint64_t offset, const uint8_t *header,
                       uint64_t stored, uint64_t *sum, struct rfn_diag *diag)
{
    uint8_t block[READ_BLOCK];
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, header, RFN_CHUNK_SUMMED_BYTES);
    offset += RFN_CHUNK_HEADER_BYTES;
    for (uint64_t done = 0; done < stored;) {
        uint64_t left = stored - done;
        size_t n = left < sizeof block ? (size_t)left : sizeof block;
        RFN_TRY(rfn_chunks_read(chunks, offset + done, block, n, diag));
        XXH3_64bits_update(&state, block, n);
        done += n;
    }
    *sum = XXH3_64bits_digest(&state);
    return 0;
}

static const char wrong_sum[] = "the checksum is wrong";

/* Begins with a payload: its header, which agrees with itself and the table of contents. */
static int load_header(const struct rfn_chunks *chunks, const struct rfn_toc_entry *entry,
                       uint8_t bytes[RFN_CHUNK_HEADER_BYTES], struct chunk_header *header,
                       struct rfn_payload *payload, struct rfn_diag *diag)
{
    *payload = (struct rfn_payload){.path = chunks->path,
                                    .type = entry->type,
                                    .id = entry->id,
                                    .offset = entry->offset,
                                    .stored_size = entry->stored_size};
    RFN_TRY(rfn_chunks_read(chunks, entry->offset, bytes, RFN_CHUNK_HEADER_BYTES, diag));
    *header = decode_header(bytes);
    const char *fault = header_fault(header,
                                     chunks->file_bytes - entry->offset - RFN_CHUNK_HEADER_BYTES);
    if (!fault && (header->type != entry->type || header->id != entry->id ||
                   header->stored != entry->stored_size))
        fault = "the table of contents says otherwise";
    return rfn_payload_fault(payload, fault, diag);
}

/* Loads the rest into memory. */
static int load_resident(const struct rfn_chunks *chunks, const uint8_t *bytes,
                         const struct chunk_header *header, struct rfn_payload *payload,
                         struct rfn_diag *diag)
{
    uint8_t *stored = malloc(header->stored ? (size_t)header->stored : 1);
    if (!stored)
        return rfn_payload_fail(payload, RFN_E_NOMEM, "no memory to read it", diag);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, bytes, RFN_CHUNK_SUMMED_BYTES);
    int error = rfn_chunks_read(chunks, payload->offset + RFN_CHUNK_HEADER_BYTES, stored,
                                (size_t)header->stored, diag);
    if (!error)
        XXH3_64bits_update(&state, stored, (size_t)header->stored);
    if (!error && !sum_matches(XXH3_64bits_digest(&state), header->sum))
        error = rfn_payload_fail(payload, RFN_E_CORRUPT, wrong_sum, diag);
    if (error) {
        free(stored);
        return error;
    }
    return unpack(header, stored, payload, diag);
}

int rfn_chunks_load(const struct rfn_chunks *chunks, const struct rfn_toc_entry *entry,
                    struct rfn_payload *payload, struct rfn_diag *diag)
{
    uint8_t bytes[RFN_CHUNK_HEADER_BYTES];
    struct chunk_header header;
    RFN_TRY(load_header(chunks, entry, bytes, &header, payload, diag));
    return load_resident(chunks, bytes, &header, payload, diag);
}

/* ---- payloads that stay in stores ---- */

static const char no_scratch[] = "there is no temporary file"; /* not shown */
static const char not_one_frame[] = "the compressed data are not one frame";

/* Decompresses from the file into the scratch file. */
static const char *unpack_blocks(const struct rfn_chunks *chunks, const struct chunk_header *header,
                                 const struct rfn_payload *payload, ZSTD_DCtx *zstd, uint8_t *block)
{
    const uint64_t from = payload->offset + RFN_CHUNK_HEADER_BYTES;
    uint64_t done = 0;
    bool ended = false; /* the frame is */
    for (uint64_t at = 0; at < header->stored; at += READ_BLOCK) {
        uint64_t left = header->stored - at;
        ZSTD_inBuffer in = {block, left < READ_BLOCK ? (size_t)left : READ_BLOCK, 0};
        ZSTD_outBuffer out = {block + READ_BLOCK, WRITE_BLOCK, 0};
        int error = rfn_chunks_read(chunks, from + at, block, in.size, NULL);
        if (error < 0)
            return rfn_read_fault(error);
        if (!at && ZSTD_getFrameContentSize(block, in.size) != header->size)
            return "the compressed data are of another size than the chunk says";
        do {
            if (ended)
                return not_one_frame;
            out.pos = 0;
            size_t more = ZSTD_decompressStream(zstd, &out, &in);
            if (ZSTD_isError(more) || out.pos > header->size - done)
                return "the compressed data are damaged";
            if (rfn_temp_file_write(chunks->scratch, payload->at + done, out.dst, out.pos) < 0)
                return no_scratch;
            done += out.pos;
            ended = more == 0;
        } while (in.pos < in.size || (out.pos == out.size && !ended));
    }
    if (!ended)
        return not_one_frame;
    return done == header->size ? NULL : "the compressed data are damaged";
}

/* What is wrong, no_scratch, or NULL: the payload is at payload->at of the scratch file. */
static const char *unpack_to_scratch(const struct rfn_chunks *chunks,
                                     const struct chunk_header *header, struct rfn_payload *payload)
{
    struct rfn_temp_file *scratch = chunks->scratch;
    const char *fault = rfn_out_of_memory;
    if (rfn_temp_file_reserve(scratch, header->size, &payload->at) < 0)
        return no_scratch;
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    uint8_t *block = malloc(READ_BLOCK + WRITE_BLOCK);
    if (zstd && block)
        fault = unpack_blocks(chunks, header, payload, zstd, block);
    ZSTD_freeDCtx(zstd);
    free(block);
    if (!fault && rfn_temp_file_keep(scratch, payload->offset, payload->at) < 0)
        fault = rfn_out_of_memory;
    if (fault)
        rfn_temp_file_drop(scratch, payload->at, header->size);
    return fault;
}

/* Puts a payload into a store, after its checksum. */
static int load_stored(const struct rfn_chunks *chunks, const uint8_t *bytes,
                       const struct chunk_header *header, struct rfn_payload *payload,
                       struct rfn_diag *diag)
{
    bool compressed = header->compression != RFN_COMPRESSION_NONE;
    uint64_t sum;
    payload->size = (size_t)header->size;
    payload->store = compressed ? &chunks->scratch->store : &chunks->file;
    payload->at = payload->offset + RFN_CHUNK_HEADER_BYTES;
    if (compressed && rfn_temp_file_find(chunks->scratch, payload->offset, &payload->at))
        return 0;
    RFN_TRY(sum_of_file(chunks, payload->offset, bytes, header->stored, &sum, diag));
    if (!sum_matches(sum, header->sum))
        return rfn_payload_fail(payload, RFN_E_CORRUPT, wrong_sum, diag);
    const char *fault = compressed ? unpack_to_scratch(chunks, header, payload) : NULL;
    if (fault != no_scratch)
        return rfn_payload_fault(payload, fault, diag);
    payload->size = 0;
    int error = load_resident(chunks, bytes, header, payload, diag);
    if (error != RFN_E_NOMEM)
        return error;
    return rfn_payload_fail(payload, error,
                            "no memory to decompress it, and no room in a temporary file; have "
                            "TMPDIR name a folder with room",
                            diag);
}

int rfn_chunks_load_events(const struct rfn_chunks *chunks, const struct rfn_toc_entry *entry,
                           struct rfn_payload *payload, struct rfn_diag *diag)
{
    uint8_t bytes[RFN_CHUNK_HEADER_BYTES];
    struct chunk_header header;
    RFN_TRY(load_header(chunks, entry, bytes, &header, payload, diag));
    if (header.size <= chunks->resident_max)
        return load_resident(chunks, bytes, &header, payload, diag);
    return load_stored(chunks, bytes, &header, payload, diag);
}

/* ---- the table of contents ---- */

static uint64_t end_of(const struct rfn_toc_entry *entry)
{
    return entry->offset + RFN_CHUNK_HEADER_BYTES + entry->stored_size;
}

/* Each chunk must lie between the one before it and the TOC. */
static bool read_toc(struct rfn_chunks *chunks, const struct rfn_payload *payload, int *error)
{
    struct rfn_reader reader = rfn_reader_over(payload->data, payload->size);
    uint64_t place = 0, earliest = RFN_HEADER_BYTES;
    for (uint64_t n = rfn_reader_limited(&reader, rfn_reader_left(&reader)); n > 0; n--) {
        *error = RFN_GROW(chunks->entries, chunks->capacity, chunks->n + 1);
        if (*error < 0)
            return true;
        struct rfn_toc_entry *entry = &chunks->entries[chunks->n];
        entry->type = (uint32_t)rfn_reader_limited(&reader, UINT32_MAX);
        entry->id = rfn_reader_varint(&reader);
        place += rfn_reader_limited(&reader, chunks->toc_offset / RFN_CHUNK_ALIGNMENT);
        entry->offset = place * RFN_CHUNK_ALIGNMENT;
        entry->stored_size = rfn_reader_limited(&reader, chunks->toc_offset);
        if (reader.failed || entry->offset < earliest || end_of(entry) > chunks->toc_offset)
            return false;
        earliest = end_of(entry);
        chunks->n++;
    }
    return !reader.failed && (chunks->minor != RFN_FORMAT_MINOR || !rfn_reader_left(&reader));
}

/* The TOC's own size is not listed anywhere but in its header. */
static int load_toc(struct rfn_chunks *chunks, struct rfn_diag *diag)
{
    uint8_t bytes[RFN_CHUNK_HEADER_BYTES];
    RFN_TRY(rfn_chunks_read(chunks, chunks->toc_offset, bytes, sizeof bytes, diag));
    struct rfn_toc_entry entry = {.type = RFN_CHUNK_TOC,
                                  .offset = chunks->toc_offset,
                                  .stored_size = decode_header(bytes).stored};
    struct rfn_payload payload;
    int error = 0;
    RFN_TRY(rfn_chunks_load(chunks, &entry, &payload, diag));
    chunks->toc_stored = entry.stored_size;
    if (!read_toc(chunks, &payload, &error))
        error = rfn_payload_fail(&payload, RFN_E_CORRUPT, "the table of contents is malformed",
                                 diag);
    rfn_payload_release(&payload);
    return error;
}

/* ---- walking over a file without a table of contents ---- */

/* The first multiple of 8 from `at` on whose 8 bytes are not all zero; the file's end if none. */
static uint64_t skip_zeros(const struct rfn_chunks *chunks, uint64_t at)
{
    uint64_t words[READ_BLOCK / 8];
    while (at < chunks->file_bytes) {
        uint64_t left = chunks->file_bytes - at;
        size_t n = left < sizeof words ? (size_t)left / 8 : sizeof words / 8;
        if (n == 0 || rfn_chunks_read(chunks, at, words, n * 8, NULL) < 0)
            break;
        for (size_t i = 0; i < n; i++) {
            if (words[i] != 0)
                return at + i * 8;
        }
        at += n * 8;
    }
    return chunks->file_bytes;
}

/* Finds the chunk at `at`; false when there is none that is whole. */
static bool walk_step(const struct rfn_chunks *chunks, uint64_t at, struct rfn_toc_entry *entry)
{
    uint8_t bytes[RFN_CHUNK_HEADER_BYTES];
    uint64_t sum;
    if (rfn_chunks_read(chunks, at, bytes, sizeof bytes, NULL) < 0)
        return false;
    struct chunk_header header = decode_header(bytes);
    *entry = (struct rfn_toc_entry){header.type, header.id, at, header.stored};
    return !header_fault(&header, chunks->file_bytes - at - sizeof bytes) &&
           sum_of_file(chunks, at, bytes, header.stored, &sum, NULL) == 0 &&
           sum_matches(sum, header.sum);
}

/* *end: where the last whole chunk ends. */
static int walk(struct rfn_chunks *chunks, uint64_t *end)
{
    chunks->n = 0;
    *end = RFN_HEADER_BYTES;
    uint64_t at = skip_zeros(chunks, *end);
    struct rfn_toc_entry entry;
    while (at < chunks->file_bytes && walk_step(chunks, at, &entry)) {
        RFN_TRY(RFN_GROW(chunks->entries, chunks->capacity, chunks->n + 1));
        chunks->entries[chunks->n] = entry;
        chunks->n += entry.type != RFN_CHUNK_TOC;
        *end = end_of(&entry);
        at = skip_zeros(chunks, *end + -*end % RFN_CHUNK_ALIGNMENT);
    }
    return 0;
}

/* ---- finding ---- */

static int compare_keys(const void *left, const void *right)
{
    const struct rfn_chunk_key *a = left, *b = right;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return a->id == b->id ? 0 : a->id < b->id ? -1 : 1;
}

bool rfn_chunks_know(const struct rfn_chunks *chunks, uint32_t type)
{
    if (type == RFN_CHUNK_CLOCKS)
        return chunks->minor >= RFN_CLOCKS_SINCE_MINOR;
    if (type == RFN_CHUNK_PROFILE || type == RFN_CHUNK_PROFILES)
        return chunks->minor >= RFN_PROFILE_SINCE_MINOR;
    if (type == RFN_CHUNK_CLUSTERS || type == RFN_CHUNK_SITE_SPREADS)
        return chunks->minor >= RFN_CLUSTERS_SINCE_MINOR;
    if (type == RFN_CHUNK_SPREADS)
        return chunks->minor >= RFN_SPREADS_SINCE_MINOR;
    if (type == RFN_CHUNK_COMMON)
        return chunks->minor >= RFN_COMMON_SINCE_MINOR;
    if (type == RFN_CHUNK_OPEN)
        return chunks->minor >= RFN_RECOVERED_SINCE_MINOR;
    if (type == RFN_CHUNK_USAGE)
        return chunks->minor >= RFN_USAGE_SINCE_MINOR;
    if (type == RFN_CHUNK_CORES)
        return chunks->minor >= RFN_CORES_SINCE_MINOR;
    if (type == RFN_CHUNK_AGGREGATED)
        return chunks->minor >= RFN_AGGREGATED_SINCE_MINOR;
    if (type == RFN_CHUNK_SAMPLES || type == RFN_CHUNK_SAMPLE_COLUMNS)
        return chunks->minor >= RFN_SAMPLES_SINCE_MINOR;
    return type <= RFN_CHUNK_TOC;
}

/* Two chunks of the same type and id would leave open which one is meant. */
static int index_entries(struct rfn_chunks *chunks, struct rfn_diag *diag)
{
    struct rfn_chunk_key *keys = chunks->by_type = malloc((chunks->n + 1) * sizeof *keys);
    if (!keys)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < chunks->n; i++)
        keys[i] = (struct rfn_chunk_key){chunks->entries[i].type, chunks->entries[i].id, i};
    qsort(keys, chunks->n, sizeof *keys, compare_keys);
    for (size_t i = 1; i < chunks->n; i++) {
        size_t later = keys[i].entry > keys[i - 1].entry ? keys[i].entry : keys[i - 1].entry;
        if (rfn_chunks_know(chunks, keys[i].type) && compare_keys(&keys[i - 1], &keys[i]) == 0)
            return corrupt_at(chunks, chunks->entries[later].offset,
                              "a chunk of this type and id is there already", diag);
    }
    return 0;
}

/* The place in by_type of the first entry that is not less than (type, id). */
static size_t lower_bound(const struct rfn_chunks *chunks, uint32_t type, uint64_t id)
{
    const struct rfn_chunk_key key = {.type = type, .id = id};
    size_t low = 0, high = chunks->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&chunks->by_type[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t rfn_chunks_first(const struct rfn_chunks *chunks, uint32_t type)
{
    size_t at = lower_bound(chunks, type, 0);
    const struct rfn_chunk_key *key = &chunks->by_type[at];
    return at < chunks->n && key->type == type ? (int64_t)key->entry : -1;
}

int64_t rfn_chunks_find(const struct rfn_chunks *chunks, uint32_t type, uint64_t id)
{
    size_t at = lower_bound(chunks, type, id);
    const struct rfn_chunk_key *key = &chunks->by_type[at];
    return at < chunks->n && key->type == type && key->id == id ? (int64_t)key->entry : -1;
}

int64_t rfn_chunks_find_range(const struct rfn_chunks *chunks, uint32_t type, uint32_t number)
{
    size_t behind = lower_bound(chunks, type, ((uint64_t)number + 1) << 32);
    if (number == UINT32_MAX || behind == 0)
        return -1;
    const struct rfn_chunk_key *key = &chunks->by_type[behind - 1];
    return key->type == type && number < (uint32_t)key->id ? (int64_t)key->entry : -1;
}

/* ---- opening ---- */

static int open_incomplete(struct rfn_chunks *chunks, int fault, const char *why,
                           struct rfn_diag *diag)
{
    uint64_t end;
    chunks->complete = false;
    chunks->fault = fault;
    chunks->toc_offset = 0;
    RFN_TRY(walk(chunks, &end));
    if (chunks->n == 0)
        return rfn_fail(diag, RFN_E_INCOMPLETE, RFN_HEADER_BYTES, -1,
                        "%s: %s; nothing can be read from offset %d on", chunks->path, why,
                        RFN_HEADER_BYTES);
    snprintf(chunks->why, sizeof chunks->why, "%s; it is whole up to offset %" PRIu64, why, end);
    return 0;
}

static int read_contents(struct rfn_chunks *chunks, struct rfn_diag *diag)
{
    uint8_t header[RFN_HEADER_BYTES];
    if (chunks->file_bytes < sizeof header)
        return rfn_fail(diag, RFN_E_INCOMPLETE, (int64_t)chunks->file_bytes, -1,
                        "%s: not a whole archive: it ends at offset %" PRIu64, chunks->path,
                        chunks->file_bytes);
    RFN_TRY(rfn_chunks_read(chunks, 0, header, sizeof header, diag));
    uint32_t major = rfn_get_u32(header + 8);
    uint64_t state = rfn_get_u64(header + 16), toc = rfn_get_u64(header + 24);
    chunks->minor = rfn_get_u32(header + 12);
    chunks->said_bytes = rfn_get_u64(header + 32);
    if (memcmp(header, rfn_header_magic, sizeof rfn_header_magic) != 0)
        return rfn_fail(diag, RFN_E_CORRUPT, 0, -1, "%s: not a Refrain archive", chunks->path);
    if (!sum_matches(rfn_hash_bytes(header, 56), rfn_get_u64(header + 56)))
        return corrupt_at(chunks, 0, "the checksum of the file's header is wrong", diag);
    if (major != RFN_FORMAT_MAJOR)
        return rfn_fail(diag, RFN_E_VERSION, 8, -1,
                        "%s: version %" PRIu32 " of the format is not supported, only version %d; "
                        "read it with the Refrain that wrote it",
                        chunks->path, major, RFN_FORMAT_MAJOR);
    if (state == RFN_STATE_WRITING)
        return open_incomplete(chunks, RFN_E_INCOMPLETE,
                               "recording ended before the archive was whole, or it was reduced "
                               "from one that was not",
                               diag);
    if (chunks->file_bytes < chunks->said_bytes)
        return open_incomplete(chunks, RFN_E_INCOMPLETE,
                               "the file was cut short after it was written", diag);
    if (state != RFN_STATE_WHOLE || toc % RFN_CHUNK_ALIGNMENT || toc < RFN_HEADER_BYTES ||
        toc > chunks->said_bytes || chunks->said_bytes - toc < RFN_CHUNK_HEADER_BYTES)
        return corrupt_at(chunks, 16, "the file's header contradicts itself", diag);
    chunks->toc_offset = toc;
    chunks->complete = true;
    int error = load_toc(chunks, diag);
    if (error == RFN_E_CORRUPT)
        return open_incomplete(chunks, RFN_E_CORRUPT, "the table of contents is damaged", diag);
    return error;
}

static int open_file(struct rfn_chunks *chunks, struct rfn_diag *diag)
{
    struct stat status;
    chunks->fd = open(chunks->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (chunks->fd < 0 || fstat(chunks->fd, &status) < 0)
        return rfn_fail(diag, RFN_E_IO, -1, -1, "%s: cannot open: %s", chunks->path,
                        strerror(errno));
    if (!S_ISREG(status.st_mode))
        return rfn_fail(diag, RFN_E_IO, -1, -1, "%s: not a regular file", chunks->path);
    chunks->file_bytes = (uint64_t)status.st_size;
    return 0;
}

/* bytes: NULL, or the file in memory. */
static int open_chunks(struct rfn_chunks *chunks, const char *path, const void *bytes,
                       uint64_t size, struct rfn_diag *diag)
{
    *chunks = (struct rfn_chunks){.fd = -1,
                                  .path = malloc(strlen(path) + 1),
                                  .memory = bytes,
                                  .file_bytes = size,
                                  .resident_max = RFN_RESIDENT_MAX,
                                  .file = {.context = chunks, .read = read_file},
                                  .scratch = rfn_temp_file_new()};
    int error = chunks->path && chunks->scratch ? 0 : RFN_E_NOMEM;
    if (chunks->path)
        memcpy(chunks->path, path, strlen(path) + 1);
    if (!error && !bytes)
        error = open_file(chunks, diag);
    if (!error)
        error = read_contents(chunks, diag);
    if (!error)
        error = index_entries(chunks, diag);
    if (error == RFN_E_NOMEM)
        rfn_fail(diag, error, -1, -1, "%s: out of memory", path);
    if (error < 0)
        rfn_chunks_close(chunks);
    return error;
}

int rfn_chunks_open(struct rfn_chunks *chunks, const char *path, struct rfn_diag *diag)
{
    return open_chunks(chunks, path, NULL, 0, diag);
}

int rfn_chunks_open_memory(struct rfn_chunks *chunks, const void *bytes, size_t size,
                           struct rfn_diag *diag)
{
    return open_chunks(chunks, "(memory)", bytes ? bytes : "", size, diag);
}

void rfn_chunks_close(struct rfn_chunks *chunks)
{
    if (chunks->fd >= 0)
        close(chunks->fd);
    rfn_temp_file_free(chunks->scratch);
    free(chunks->path);
    free(chunks->entries);
    free(chunks->by_type);
    *chunks = (struct rfn_chunks){.fd = -1};
}
