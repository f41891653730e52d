/* Layout of the 64 bytes of a file header and the 48 bytes of a chunk header: see the tables in
 * refrain-archive(5). A chunk is made in place at the end of the buffer: room for the header is
 * left, the payload is compressed straight behind it, and the header is filled in last. */
#include "archive/container.h"

#include <assert.h>
#include <zstd.h>

enum {
    SMALL = 1 << 14, /* a payload so small may take 0.3 us per byte, and half a MiB */
    SMALL_COMPRESSION_LEVEL = 19,
    /* Where there are many of them, those that are not tiny take 0.05 us per byte, and a few
     * percent more of the file. */
    TINY = 1 << 11,
    MANY_COMPRESSION_LEVEL = 9,
    COMPRESSION_LEVEL = 3,
    LARGE = 1 << 20,             /* a payload that is not brought into memory */
    LARGE_COMPRESSION_LEVEL = 1, /* takes 1 MiB of memory, not 5 */
};

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

/* There may be as many chunks of which a stream or a group has its own as ranks: rank 0 compresses
 * those of groups while others wait, and all ranks of a node those of times at once. */
static int level_for(uint32_t type, size_t size)
{
    const bool many = type == RFN_CHUNK_STRUCTURE || type == RFN_CHUNK_VALUES ||
                      type == RFN_CHUNK_RANK_PARAMS || type == RFN_CHUNK_TIMING ||
                      type == RFN_CHUNK_PROFILE;
    if (size > SMALL)
        return COMPRESSION_LEVEL;
    return size > TINY && many ? MANY_COMPRESSION_LEVEL : SMALL_COMPRESSION_LEVEL;
}

/* Compresses behind the end of out (whose size does not change). Returns the compressed size, or 0
 * when the payload is to be stored as it is: because it does not shrink, because it shrinks more
 * than a reader would believe, or for want of memory. */
static size_t compress_behind(struct rfn_buf *out, size_t skip, uint32_t type, const void *payload,
                              size_t size)
{
    size_t bound = ZSTD_compressBound(size);
    uint8_t *to = ZSTD_isError(bound) ? NULL : rfn_buf_reserve(out, skip + bound);
    if (!to)
        return 0;
    size_t stored = ZSTD_compress(to + skip, bound, payload, size, level_for(type, size));
    if (ZSTD_isError(stored) || stored >= size || size > RFN_CHUNK_RAW_LIMIT(stored))
        return 0;
    return stored;
}

/* All but the checksum. */
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
}

static int sum_part(void *context, const uint8_t *bytes, size_t size)
{
    XXH3_64bits_update(context, bytes, size);
    return 0;
}

uint64_t rfn_chunk_append(struct rfn_buf *out, uint32_t type, uint64_t id, const void *payload,
                          size_t size, bool compress)
{
    size_t stored = compress ? compress_behind(out, RFN_CHUNK_HEADER_BYTES, type, payload, size)
                             : 0;
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
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    sum_part(&state, header, RFN_CHUNK_SUMMED_BYTES);
    sum_part(&state, header + RFN_CHUNK_HEADER_BYTES, stored);
    put_u64(header + RFN_CHUNK_SUMMED_BYTES, XXH3_64bits_digest(&state));
    out->size += total + padding;
    return stored;
}

/* ---- chunks of ropes ---- */

struct packer {
    ZSTD_CCtx *zstd;
    struct rfn_rope packed;
    const struct rfn_spill *spill;
};

static int pack_part(struct packer *packer, const uint8_t *bytes, size_t size,
                     ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in = {bytes, size, 0};
    size_t left;
    do {
        struct rfn_buf *to = &packer->packed.bytes;
        ZSTD_outBuffer out = {rfn_buf_reserve(to, RFN_ROPE_PART), RFN_ROPE_PART, 0};
        if (!out.dst)
            return RFN_E_NOMEM;
        left = ZSTD_compressStream2(packer->zstd, &out, &in, directive);
        if (ZSTD_isError(left))
            return RFN_E_NOMEM;
        to->size += out.pos;
        rfn_rope_relieve(&packer->packed, packer->spill);
    } while (directive == ZSTD_e_end ? left > 0 : in.pos < in.size);
    return 0;
}

static int pack_next(void *context, const uint8_t *bytes, size_t size)
{
    return pack_part(context, bytes, size, ZSTD_e_continue);
}

/* Compresses the payload if that is worth it; returns whether it is compressed now. Without memory
 * to do so it stays as it is. */
static bool compress_rope(struct rfn_rope *payload, const struct rfn_spill *spill)
{
    struct packer packer = {.zstd = ZSTD_createCCtx(), .spill = spill};
    uint64_t size = rfn_rope_size(payload);
    bool done = packer.zstd &&
                !ZSTD_isError(ZSTD_CCtx_setParameter(packer.zstd, ZSTD_c_compressionLevel,
                                                     LARGE_COMPRESSION_LEVEL)) &&
                !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(packer.zstd, size)) &&
                rfn_rope_each(payload, pack_next, &packer) == 0 &&
                pack_part(&packer, NULL, 0, ZSTD_e_end) == 0;
    ZSTD_freeCCtx(packer.zstd);
    uint64_t stored = rfn_rope_size(&packer.packed);
    if (!done || stored >= size || size > RFN_CHUNK_RAW_LIMIT(stored)) {
        rfn_rope_release(&packer.packed);
        return false;
    }
    rfn_rope_release(payload);
    *payload = packer.packed;
    return true;
}

/* Nothing is brought into memory. */
static int join(struct rfn_rope *out, uint32_t type, uint64_t id, struct rfn_rope *payload,
                bool compress, const struct rfn_spill *spill, uint64_t *stored)
{
    static const uint8_t zeros[RFN_CHUNK_ALIGNMENT];
    uint8_t header[RFN_CHUNK_HEADER_BYTES];
    uint64_t size = rfn_rope_size(payload);
    bool compressed = compress && compress_rope(payload, spill);
    *stored = rfn_rope_size(payload);
    put_chunk_header(header, type, id, size, *stored,
                     compressed ? RFN_COMPRESSION_ZSTD : RFN_COMPRESSION_NONE);
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    sum_part(&state, header, RFN_CHUNK_SUMMED_BYTES);
    RFN_TRY(rfn_rope_each(payload, sum_part, &state));
    put_u64(header + RFN_CHUNK_SUMMED_BYTES, XXH3_64bits_digest(&state));
    rfn_buf_bytes(&out->bytes, header, sizeof header);
    rfn_rope_join(out, payload);
    rfn_buf_bytes(&out->bytes, zeros, -(size_t)*stored % RFN_CHUNK_ALIGNMENT);
    return rfn_rope_status(out);
}

int rfn_chunk_join(struct rfn_rope *out, uint32_t type, uint64_t id, struct rfn_rope *payload,
                   bool compress, const struct rfn_spill *spill, uint64_t *stored)
{
    RFN_TRY(rfn_rope_status(payload));
    assert(out->bytes.failed || rfn_rope_size(out) % RFN_CHUNK_ALIGNMENT == 0);
    if (rfn_rope_size(payload) >= LARGE || !compress)
        return join(out, type, id, payload, compress, spill, stored);
    struct rfn_buf flat = RFN_BUF_INIT;
    rfn_rope_flatten(payload, &flat);
    int error = rfn_buf_status(&flat);
    *stored = error ? 0 : rfn_chunk_append(&out->bytes, type, id, flat.data, flat.size, compress);
    rfn_buf_release(&flat);
    rfn_rope_release(payload);
    return error ? error : rfn_rope_status(out);
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
