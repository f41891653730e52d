/* Layout of the 64 bytes of a file header and the 48 bytes of a chunk header: see the tables in
 * refrain-archive(5). A chunk is made in place at the end of the buffer: room for the header is
 * left, the payload is compressed straight behind it, and the header is filled in last. */
#include "archive/container.h"

#include <assert.h>
#include <zstd.h>

enum { COMPRESSION_LEVEL = 3 };

const uint8_t rfn_header_magic[8] = {0x89, 'R', 'F', 'N', 0x0d, 0x0a, 0x1a, 0x0a};

static void put_u64(uint8_t *bytes, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static void put_u32(uint8_t *bytes, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

void rfn_header_write(uint8_t bytes[RFN_HEADER_BYTES], uint64_t state, uint64_t toc_offset,
                      uint64_t file_size)
{
    memset(bytes, 0, RFN_HEADER_BYTES);
    memcpy(bytes, rfn_header_magic, sizeof rfn_header_magic);
    put_u32(bytes + 8, RFN_FORMAT_MAJOR);
    put_u32(bytes + 12, RFN_FORMAT_MINOR);
    put_u64(bytes + 16, state);
    put_u64(bytes + 24, toc_offset);
    put_u64(bytes + 32, file_size);
    put_u64(bytes + 56, rfn_hash_bytes(bytes, 56));
}

/* Compresses behind the end of out (whose size does not change). Returns the compressed size, or 0
 * when the payload is to be stored as it is: because it does not shrink, because it shrinks more
 * than a reader would believe, or for want of memory. */
static size_t compress_behind(struct rfn_buf *out, size_t skip, const void *payload, size_t size)
{
    size_t bound = ZSTD_compressBound(size);
    uint8_t *to = ZSTD_isError(bound) ? NULL : rfn_buf_reserve(out, skip + bound);
    if (!to)
        return 0;
    size_t stored = ZSTD_compress(to + skip, bound, payload, size, COMPRESSION_LEVEL);
    if (ZSTD_isError(stored) || stored >= size || size > RFN_CHUNK_RAW_LIMIT(stored))
        return 0;
    return stored;
}

static void put_chunk_header(uint8_t *header, uint32_t type, uint64_t id, uint64_t size,
                             uint64_t stored, uint32_t compression)
{
    put_u32(header, RFN_CHUNK_MAGIC);
    put_u32(header + 4, type);
    put_u64(header + 8, id);
    put_u64(header + 16, size);
    put_u64(header + 24, stored);
    put_u32(header + 32, compression);
    put_u32(header + 36, 0);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, header, RFN_CHUNK_SUMMED_BYTES);
    XXH3_64bits_update(&state, header + RFN_CHUNK_HEADER_BYTES, stored);
    put_u64(header + RFN_CHUNK_SUMMED_BYTES, XXH3_64bits_digest(&state));
}

uint64_t rfn_chunk_append(struct rfn_buf *out, uint32_t type, uint64_t id, const void *payload,
                          size_t size, bool compress)
{
    assert(out->failed || out->size % RFN_CHUNK_ALIGNMENT == 0);
    size_t stored = compress ? compress_behind(out, RFN_CHUNK_HEADER_BYTES, payload, size) : 0;
    bool compressed = stored > 0;
    if (!compressed)
        stored = size;
    size_t total = RFN_CHUNK_HEADER_BYTES + stored;
    size_t padding = -total % RFN_CHUNK_ALIGNMENT;
    uint8_t *header = rfn_buf_reserve(out, total + padding);
    if (!header)
        return 0;
    if (!compressed && size > 0)
        memcpy(header + RFN_CHUNK_HEADER_BYTES, payload, size);
    memset(header + total, 0, padding);
    put_chunk_header(header, type, id, size, stored,
                     compressed ? RFN_COMPRESSION_ZSTD : RFN_COMPRESSION_NONE);
    out->size += total + padding;
    return stored;
}

void rfn_toc_append(struct rfn_buf *out, const struct rfn_toc_entry *entries, size_t n)
{
    uint64_t before = 0;
    rfn_buf_varint(out, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t place = entries[i].offset / RFN_CHUNK_ALIGNMENT;
        assert(place > before);
        rfn_buf_varint(out, entries[i].type);
        rfn_buf_varint(out, entries[i].id);
        rfn_buf_varint(out, place - before);
        rfn_buf_varint(out, entries[i].stored_size);
        before = place;
    }
}
