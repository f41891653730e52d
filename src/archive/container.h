/* container.h - the outer form of an archive: a header, chunks, a table of contents.
 *
 * Writing makes bytes in memory, nothing else: the recorder lets every rank make its own chunks and
 * write them where a scan over all ranks says. Reading (chunks.h) uses the numbers below too. The
 * form is defined in refrain-archive(5), Container.
 */
#ifndef RFN_ARCHIVE_CONTAINER_H
#define RFN_ARCHIVE_CONTAINER_H

#include "base/rope.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rfn_chunk_type {
    RFN_CHUNK_META = 1,
    RFN_CHUNK_DEFINITIONS = 2,
    RFN_CHUNK_STREAMS = 3,
    RFN_CHUNK_STRUCTURE = 4,
    RFN_CHUNK_VALUES = 5,
    RFN_CHUNK_RANK_PARAMS = 6,
    RFN_CHUNK_TIMING = 7,
    RFN_CHUNK_TOC = 8,
    RFN_CHUNK_CLOCKS = 9,        /* since minor version 2 */
    RFN_CHUNK_PROFILE = 10,      /* since minor version 3 */
    RFN_CHUNK_PROFILES = 11,     /* since minor version 3 */
    RFN_CHUNK_CLUSTERS = 12,     /* since minor version 4 */
    RFN_CHUNK_SITE_SPREADS = 13, /* of minor version 4: nothing is told apart by what came before */
    RFN_CHUNK_SPREADS = 14,      /* since minor version 5 */
    RFN_CHUNK_COMMON = 15,       /* since minor version 6 */
    RFN_CHUNK_USAGE = 16,        /* since minor version 10 */
    RFN_CHUNK_AGGREGATED = 17,   /* since minor version 10 */
    RFN_CHUNK_SAMPLES = 18,      /* since minor version 11 */
    RFN_CHUNK_SAMPLE_COLUMNS = 19, /* since minor version 11 */
    RFN_CHUNK_OPEN = 20,           /* since minor version 13 */
    RFN_CHUNK_CORES = 21           /* since minor version 15 */
};

enum { RFN_HEADER_BYTES = 64, RFN_CHUNK_HEADER_BYTES = 48, RFN_CHUNK_ALIGNMENT = 8 };
enum { RFN_FORMAT_MAJOR = 1, RFN_FORMAT_MINOR = 15 };
enum {
    RFN_CLOCKS_SINCE_MINOR = 2,
    RFN_PROFILE_SINCE_MINOR = 3,
    RFN_CLUSTERS_SINCE_MINOR = 4,
    RFN_SPREADS_SINCE_MINOR = 5,
    RFN_SIGNATURES_SINCE_MINOR = 6,
    RFN_COMMON_SINCE_MINOR = 6,
    RFN_SENT_SINCE_MINOR = 7,
    RFN_ENDS_SINCE_MINOR = 9,
    RFN_USAGE_SINCE_MINOR = 10,
    RFN_CALLS_SINCE_MINOR = 10,
    RFN_PREDICTED_SINCE_MINOR = 10,
    RFN_AGGREGATED_SINCE_MINOR = 10,
    RFN_SAMPLES_SINCE_MINOR = 11,
    RFN_APART_SINCE_MINOR = 12,
    RFN_RECOVERED_SINCE_MINOR = 13,
    RFN_LIMITS_SINCE_MINOR = 14,
    RFN_CORES_SINCE_MINOR = 15,
    RFN_COUNTS_SINCE_MINOR = 15,
    RFN_IDENTITY_SINCE_MINOR = 15
};
enum { RFN_MERGING_STEPS = 6 }; /* for which META has numbers that nobody writes any more */
enum { RFN_STATE_WRITING = 0, RFN_STATE_WHOLE = 1 };
enum { RFN_COMPRESSION_NONE = 0, RFN_COMPRESSION_ZSTD = 1 };

extern const uint8_t rfn_header_magic[8];
#define RFN_CHUNK_MAGIC 0x434e4652u

/* A payload is never larger than this for the bytes that it is stored in, so that a small damaged
 * or hostile file cannot make a reader allocate without bounds. */
#define RFN_CHUNK_RAW_LIMIT(stored) ((UINT64_C(1) << 20) + UINT64_C(4096) * (stored))

/* Appends a chunk: header, payload (compressed if wanted, legal and smaller), zero bytes up to a
 * multiple of 8. out->size must be a multiple of 8. Returns the size of the payload as stored, for
 * the table of contents; 0 with out->failed when out of memory (an empty payload gives 0, too).
 * Without memory for the compressor the payload is stored as it is. */
uint64_t rfn_chunk_append(struct rfn_buf *out, uint32_t type, uint64_t id, const void *payload,
                          size_t size, bool compress);

/* The same for ropes; the payload is empty afterwards. A large one is not brought into memory: it
 * stays in pieces, or is compressed piece by piece into the spill (may be NULL). *stored is the
 * size of the payload as stored. RFN_E_NOMEM, or the error of a spill. */
int rfn_chunk_join(struct rfn_rope *out, uint32_t type, uint64_t id, struct rfn_rope *payload,
                   bool compress, const struct rfn_spill *spill, uint64_t *stored);

struct rfn_toc_entry {
    uint32_t type;
    uint64_t id, offset, stored_size; /* offset of the chunk in the file, a multiple of 8 */
};

/* Bytes of the file that a chunk takes. */
static inline uint64_t rfn_chunk_bytes(const struct rfn_toc_entry *entry)
{
    uint64_t size = RFN_CHUNK_HEADER_BYTES + entry->stored_size;
    return size + -size % RFN_CHUNK_ALIGNMENT;
}

/* Appends the payload of the TOC chunk. The entries must be in ascending order of offset. */
void rfn_toc_append(struct rfn_buf *out, const struct rfn_toc_entry *entries, size_t n);

/* Makes the file's header. In RFN_STATE_WRITING toc_offset and file_size are 0. */
void rfn_header_write(uint8_t bytes[RFN_HEADER_BYTES], uint64_t state, uint64_t toc_offset,
                      uint64_t file_size);

/* Little-endian numbers at fixed places. */
static inline uint64_t rfn_get_u64(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static inline uint32_t rfn_get_u32(const uint8_t *bytes)
{
    return (uint32_t)rfn_get_u64((const uint8_t[8]){bytes[0], bytes[1], bytes[2], bytes[3]});
}

/* The checksum of a chunk: of the header up to its checksum, then of the stored payload. */
enum { RFN_CHUNK_SUMMED_BYTES = 40 };
enum { RFN_CHUNK_ID_AT = 8 }; /* of the header */

#endif
