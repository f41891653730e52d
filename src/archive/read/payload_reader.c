#include "archive/read/payload_reader.h"

enum { VARINT_MAX = 10 };

void rfn_payload_reader_begin(struct rfn_payload_reader *scan, const struct rfn_payload *payload)
{
    scan->payload = payload;
    scan->begin = 0;
    scan->error = 0;
    scan->window = rfn_reader_over(payload->data, payload->data ? payload->size : 0);
}

size_t rfn_payload_reader_at(const struct rfn_payload_reader *scan)
{
    return scan->begin + scan->window.at;
}

size_t rfn_payload_reader_left(const struct rfn_payload_reader *scan)
{
    return scan->window.failed ? 0 : scan->payload->size - rfn_payload_reader_at(scan);
}

struct rfn_reader *rfn_payload_reader_next(struct rfn_payload_reader *scan, size_t most)
{
    size_t there = rfn_reader_left(&scan->window), left = rfn_payload_reader_left(scan);
    if (there >= most || there >= left)
        return &scan->window;
    size_t size = left < sizeof scan->bytes ? left : sizeof scan->bytes;
    scan->begin = rfn_payload_reader_at(scan);
    scan->error = rfn_payload_read(scan->payload, scan->begin, scan->bytes, size);
    scan->window = rfn_reader_over(scan->bytes, size);
    scan->window.failed = scan->error < 0;
    return &scan->window;
}

uint64_t rfn_payload_reader_varint(struct rfn_payload_reader *scan)
{
    return rfn_reader_varint(rfn_payload_reader_next(scan, VARINT_MAX));
}

uint64_t rfn_payload_reader_limited(struct rfn_payload_reader *scan, uint64_t limit)
{
    return rfn_reader_limited(rfn_payload_reader_next(scan, VARINT_MAX), limit);
}

void rfn_payload_reader_column(struct rfn_payload_reader *scan)
{
    struct rfn_reader *reader = rfn_payload_reader_next(scan, 2 * VARINT_MAX);
    uint64_t n = rfn_reader_varint(reader);
    uint64_t size = rfn_reader_varint(reader);
    if (size > rfn_payload_reader_left(scan) || (size && !n))
        reader->failed = true;
    if (reader->failed)
        return;
    if (size <= rfn_reader_left(reader)) {
        reader->at += (size_t)size;
        return;
    }
    scan->begin = rfn_payload_reader_at(scan) + (size_t)size;
    *reader = rfn_reader_over(scan->bytes, 0);
}

const char *rfn_payload_reader_fault(const struct rfn_payload_reader *scan, const char *malformed)
{
    return scan->error ? rfn_read_fault(scan->error) : malformed;
}

const char *rfn_payload_reader_columns(struct rfn_payload_reader *scan, size_t *columns, size_t n)
{
    for (size_t i = 0; i < n && !rfn_payload_reader_failed(scan); i++) {
        columns[i] = rfn_payload_reader_at(scan);
        rfn_payload_reader_column(scan);
    }
    columns[n] = rfn_payload_reader_at(scan);
    return rfn_payload_reader_failed(scan) ? rfn_payload_reader_fault(scan, "a column is malformed")
                                           : NULL;
}

const char *rfn_column_fault(int error)
{
    if (error == RFN_E_NOMEM || error == RFN_E_IO || error == RFN_E_INCOMPLETE)
        return rfn_read_fault(error);
    return error == RFN_E_RANGE ? "a column is too short" : "a column is damaged";
}

const char *rfn_column_left_over(struct rfn_column_cursor *column)
{
    int64_t value;
    int error = rfn_column_next(column, &value);
    if (error == RFN_E_RANGE)
        return NULL;
    return error < 0 ? rfn_column_fault(error) : "a column is longer than the structure says";
}

int rfn_payload_column(const struct rfn_payload *payload, size_t from, size_t end,
                       struct rfn_column_cursor *column)
{
    if (!payload->data) {
        const struct rfn_extent extent = {payload->at + from, end - from};
        return rfn_column_open_stored(column, payload->store, &extent);
    }
    struct rfn_reader reader = rfn_reader_over(payload->data + from, end - from);
    return rfn_column_open(column, &reader);
}

const char *rfn_column_not_empty(const struct rfn_payload *payload, const size_t *at)
{
    struct rfn_column_cursor column = {0};
    int error = rfn_payload_column(payload, at[0], at[1], &column);
    const char *fault = error < 0 ? rfn_column_fault(error) : rfn_column_left_over(&column);
    rfn_column_close(&column);
    return fault;
}
