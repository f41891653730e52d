#include "base/buf.h"

#include <stdlib.h>

void rfn_buf_release(struct rfn_buf *buf)
{
    free(buf->data);
    *buf = (struct rfn_buf)RFN_BUF_INIT;
}

static bool grow(struct rfn_buf *buf, size_t more)
{
    if (more > SIZE_MAX / 2 - buf->size) {
        buf->failed = true;
        return false;
    }
    size_t capacity = buf->capacity ? buf->capacity : 64;
    while (capacity < buf->size + more)
        capacity *= 2;
    uint8_t *data = realloc(buf->data, capacity);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

uint8_t *rfn_buf_reserve(struct rfn_buf *buf, size_t more)
{
    if (buf->failed)
        return NULL;
    if (more > buf->capacity - buf->size || !buf->data) {
        if (!grow(buf, more))
            return NULL;
    }
    return buf->data + buf->size;
}

void rfn_buf_bytes(struct rfn_buf *buf, const void *bytes, size_t size)
{
    uint8_t *to = rfn_buf_reserve(buf, size);
    if (to && size) {
        memcpy(to, bytes, size);
        buf->size += size;
    }
}

void rfn_buf_u8(struct rfn_buf *buf, uint8_t value)
{
    rfn_buf_bytes(buf, &value, 1);
}

static void put_fixed(struct rfn_buf *buf, uint64_t value, unsigned n)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < n; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    rfn_buf_bytes(buf, bytes, n);
}

void rfn_buf_u32(struct rfn_buf *buf, uint32_t value)
{
    put_fixed(buf, value, 4);
}

void rfn_buf_u64(struct rfn_buf *buf, uint64_t value)
{
    put_fixed(buf, value, 8);
}

void rfn_buf_varint_slow(struct rfn_buf *buf, uint64_t value)
{
    uint8_t *to = rfn_buf_reserve(buf, 10);
    if (!to)
        return;
    size_t n = 0;
    while (value >= 0x80) {
        to[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[n++] = (uint8_t)value;
    buf->size += n;
}

void rfn_buf_svarint(struct rfn_buf *buf, int64_t value)
{
    rfn_buf_varint(buf, rfn_zigzag(value));
}

void rfn_buf_blob(struct rfn_buf *buf, const void *bytes, size_t size)
{
    rfn_buf_varint(buf, size);
    rfn_buf_bytes(buf, bytes, size);
}

void rfn_buf_string(struct rfn_buf *buf, const char *text)
{
    rfn_buf_blob(buf, text, strlen(text));
}

const uint8_t *rfn_reader_bytes(struct rfn_reader *reader, size_t size)
{
    if (reader->failed || size > reader->size - reader->at) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *bytes = reader->data + reader->at;
    reader->at += size;
    return bytes;
}

uint8_t rfn_reader_u8(struct rfn_reader *reader)
{
    const uint8_t *byte = rfn_reader_bytes(reader, 1);
    return byte ? *byte : 0;
}

static uint64_t get_fixed(struct rfn_reader *reader, unsigned n)
{
    const uint8_t *bytes = rfn_reader_bytes(reader, n);
    uint64_t value = 0;
    for (unsigned i = 0; bytes && i < n; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint32_t rfn_reader_u32(struct rfn_reader *reader)
{
    return (uint32_t)get_fixed(reader, 4);
}

uint64_t rfn_reader_u64(struct rfn_reader *reader)
{
    return get_fixed(reader, 8);
}

uint64_t rfn_reader_varint(struct rfn_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = rfn_reader_u8(reader);
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return reader->failed ? 0 : value;
    }
    reader->failed = true;
    return 0;
}

int64_t rfn_reader_svarint(struct rfn_reader *reader)
{
    return rfn_unzigzag(rfn_reader_varint(reader));
}

uint64_t rfn_reader_limited(struct rfn_reader *reader, uint64_t limit)
{
    uint64_t value = rfn_reader_varint(reader);
    if (value > limit) {
        reader->failed = true;
        return 0;
    }
    return value;
}

uint32_t rfn_reader_index(struct rfn_reader *reader, uint32_t n)
{
    if (n == 0)
        reader->failed = true;
    return (uint32_t)rfn_reader_limited(reader, n ? n - 1 : 0);
}

uint32_t rfn_reader_count(struct rfn_reader *reader, size_t each)
{
    size_t left = rfn_reader_left(reader) / each;
    return (uint32_t)rfn_reader_limited(reader, left < INT32_MAX ? left : INT32_MAX);
}

const uint8_t *rfn_reader_blob(struct rfn_reader *reader, size_t *size)
{
    *size = rfn_reader_limited(reader, rfn_reader_left(reader));
    return rfn_reader_bytes(reader, *size);
}
