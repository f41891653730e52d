/* buf.h - growable byte strings, and a bounds-checked reader over bytes.
 *
 * A struct rfn_buf grows by doubling and remembers failure: once an allocation has failed, further
 * writes are ignored and `failed` stays set, so that a serializer can write without looking and
 * check once at its end. A struct rfn_reader works the same way: reads past the end, or malformed
 * numbers, set `failed` and return 0. Nothing a reader is given can make it read out of bounds.
 *
 * Numbers are LEB128: seven bits a byte, least significant first; signed ones are zigzag coded
 * (0, -1, 1, -2 become 0, 1, 2, 3). Fixed-size numbers are little-endian.
 */
#ifndef RFN_BASE_BUF_H
#define RFN_BASE_BUF_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rfn_buf {
    uint8_t *data;
    size_t size, capacity;
    bool failed;
};

#define RFN_BUF_INIT \
    {                \
        0            \
    }

void rfn_buf_release(struct rfn_buf *buf); /* frees the bytes; buf is empty and usable again */

/* Makes room for `more` bytes behind size and returns where they go, or NULL (failed is set).
 * Does not change size. */
uint8_t *rfn_buf_reserve(struct rfn_buf *buf, size_t more);
void rfn_buf_bytes(struct rfn_buf *buf, const void *bytes, size_t size);
void rfn_buf_u8(struct rfn_buf *buf, uint8_t value);
void rfn_buf_u32(struct rfn_buf *buf, uint32_t value);
void rfn_buf_u64(struct rfn_buf *buf, uint64_t value);
void rfn_buf_varint_slow(struct rfn_buf *buf, uint64_t value); /* for rfn_buf_varint alone */
/* Inline for one byte, the usual case: traces for Perfetto take a quarter less time. */
static inline void rfn_buf_varint(struct rfn_buf *buf, uint64_t value)
{
    if (value < 0x80 && buf->size < buf->capacity && !buf->failed)
        buf->data[buf->size++] = (uint8_t)value;
    else
        rfn_buf_varint_slow(buf, value);
}
void rfn_buf_svarint(struct rfn_buf *buf, int64_t value);
/* A length as varint, then the bytes. */
void rfn_buf_blob(struct rfn_buf *buf, const void *bytes, size_t size);
void rfn_buf_string(struct rfn_buf *buf, const char *text); /* a blob without the final zero */

static inline int rfn_buf_status(const struct rfn_buf *buf)
{
    return buf->failed ? RFN_E_NOMEM : 0;
}

struct rfn_reader {
    const uint8_t *data; /* borrowed */
    size_t size, at;
    bool failed;
};

static inline struct rfn_reader rfn_reader_over(const void *data, size_t size)
{
    return (struct rfn_reader){.data = data, .size = size};
}

static inline size_t rfn_reader_left(const struct rfn_reader *reader)
{
    return reader->failed ? 0 : reader->size - reader->at;
}

/* The next `size` bytes, borrowed, or NULL and failed. */
const uint8_t *rfn_reader_bytes(struct rfn_reader *reader, size_t size);
uint8_t rfn_reader_u8(struct rfn_reader *reader);
uint32_t rfn_reader_u32(struct rfn_reader *reader);
uint64_t rfn_reader_u64(struct rfn_reader *reader);
uint64_t rfn_reader_varint(struct rfn_reader *reader);
int64_t rfn_reader_svarint(struct rfn_reader *reader);
/* A varint that must be <= limit, else failed and 0: for counts, indices and sizes. */
uint64_t rfn_reader_limited(struct rfn_reader *reader, uint64_t limit);
/* A number below n, else failed and 0. */
uint32_t rfn_reader_index(struct rfn_reader *reader, uint32_t n);
/* How many things follow that take so many bytes each, or more; at most 2^31 - 1. */
uint32_t rfn_reader_count(struct rfn_reader *reader, size_t each);
/* A blob: its length goes to *size, its bytes are returned borrowed. */
const uint8_t *rfn_reader_blob(struct rfn_reader *reader, size_t *size);

/* 8 bytes, least significant first. In a row: compilers make one load or store of them. */
static inline void rfn_representative_store_64(uint8_t *to, uint64_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
    to[2] = (uint8_t)(value >> 16);
    to[3] = (uint8_t)(value >> 24);
    to[4] = (uint8_t)(value >> 32);
    to[5] = (uint8_t)(value >> 40);
    to[6] = (uint8_t)(value >> 48);
    to[7] = (uint8_t)(value >> 56);
}
static inline uint64_t rfn_load_64(const uint8_t *from)
{
    return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 |
           (uint64_t)from[3] << 24 | (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
           (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

static inline uint64_t rfn_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ -(uint64_t)(value < 0);
}

static inline int64_t rfn_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
