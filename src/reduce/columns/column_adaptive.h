/* column_adaptive.h - the coder for short lists of small numbers that have an order: which
 * representative is executed, segment by segment.
 *
 * How likely a value is follows from the values before it, and from those of a *guide*, another
 * column of as many values (the list of another process that went through the same at the same
 * time). Each value is a few yes-or-no decisions. Eight models predict each one, weighed by how
 * right they have been so far; an expected one costs a fraction of a bit. It takes some hundred
 * nanoseconds per value. refrain-archive(5), Columns, 5: adaptive, has the arithmetic.
 */
#ifndef RFN_REDUCE_COLUMNS_COLUMN_ADAPTIVE_H
#define RFN_REDUCE_COLUMNS_COLUMN_ADAPTIVE_H

#include "base/buf.h"
#include "reduce/columns/packed.h"

/* What the coder learns, some 2 MB for a whole block, kept from block to block so that its pages
 * are asked for once. All zeros to begin with. */
struct rfn_coder_memory {
    void *bytes;
    size_t size;
};

void rfn_coder_memory_release(struct rfn_coder_memory *memory);

/* Writes n (1 to RFN_COLUMN_BLOCK) values behind out. guide: n numbers, or NULL for none.
 * RFN_E_NOMEM; what is behind out's former size is then without meaning. */
int rfn_column_adaptive_encode(const int64_t *values, const int64_t *guide, uint32_t n,
                               struct rfn_coder_memory *memory, struct rfn_buf *out);

/* Reads n (1 to RFN_COLUMN_BLOCK) values from the whole of payload. RFN_E_CORRUPT, RFN_E_NOMEM. */
int rfn_column_adaptive_decode(struct rfn_reader *payload, const int64_t *guide, uint32_t n,
                               int64_t *values);

#endif
