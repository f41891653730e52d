/* payload_reader.h - reads a payload from front to back, wherever its bytes are.
 *
 * A payload is in memory, or it is read through a window of a few KiB. Who reads small numbers asks
 * for as many bytes as they have at most, takes them from the window, and skips what is large.
 */
#ifndef RFN_ARCHIVE_READ_PAYLOAD_READER_H
#define RFN_ARCHIVE_READ_PAYLOAD_READER_H

#include "archive/read/chunks.h"
#include "reduce/columns/column.h"

#ifdef RFN_FUZZING
enum { RFN_SCAN_WINDOW = 32 };
#else
enum { RFN_SCAN_WINDOW = 4096 };
#endif

struct rfn_payload_reader {
    const struct rfn_payload *payload; /* borrowed */
    struct rfn_reader window;
    size_t begin; /* of the window in the payload */
    int error;    /* why it cannot be read */
    uint8_t bytes[RFN_SCAN_WINDOW];
};

/* The scan borrows the payload, and must stay where it is. */
void rfn_payload_reader_begin(struct rfn_payload_reader *scan, const struct rfn_payload *payload);

/* A reader at the scan's place, for the next `most` (<= RFN_SCAN_WINDOW) bytes, or what is left. */
struct rfn_reader *rfn_payload_reader_next(struct rfn_payload_reader *scan, size_t most);

/* Where it is, and how many bytes are left; none after a failure. */
size_t rfn_payload_reader_at(const struct rfn_payload_reader *scan);
size_t rfn_payload_reader_left(const struct rfn_payload_reader *scan);

/* Numbers, as rfn_reader_varint and rfn_reader_limited. */
uint64_t rfn_payload_reader_varint(struct rfn_payload_reader *scan);
uint64_t rfn_payload_reader_limited(struct rfn_payload_reader *scan, uint64_t limit);

/* Passes over the column at the scan's place. */
void rfn_payload_reader_column(struct rfn_payload_reader *scan);

static inline bool rfn_payload_reader_failed(const struct rfn_payload_reader *scan)
{
    return scan->window.failed;
}

/* What is wrong when it has failed: that it cannot be read, or else `malformed`. */
const char *rfn_payload_reader_fault(const struct rfn_payload_reader *scan, const char *malformed);

/* Notes where n columns begin, and where the last ends (n + 1 places), and moves the scan past
 * them. Returns what is wrong, or NULL. */
const char *rfn_payload_reader_columns(struct rfn_payload_reader *scan, size_t *columns, size_t n);

/* What is wrong with a column, by the error of opening or reading it. */
const char *rfn_column_fault(int error);
/* What is wrong with a column that should be at its end, or NULL. */
const char *rfn_column_left_over(struct rfn_column_cursor *column);

/* What is wrong with a column that nothing has read and that should be empty, or NULL. */
const char *rfn_column_not_empty(const struct rfn_payload *payload, const size_t *at);

/* Opens the column that the payload (borrowed) has at these places. RFN_E_CORRUPT, RFN_E_NOMEM,
 * RFN_E_IO, RFN_E_INCOMPLETE. */
int rfn_payload_column(const struct rfn_payload *payload, size_t from, size_t end,
                       struct rfn_column_cursor *column);

#endif
