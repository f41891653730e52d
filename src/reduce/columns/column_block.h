/* column_block.h - the blocks that columns are made of: at most RFN_COLUMN_BLOCK values, coded by
 * the one of six coders that needs the fewest bytes.
 *
 * constant   one value. The only coder whose blocks may have more than RFN_COLUMN_BLOCK values.
 * varints    zigzag varints: a few values have nothing to learn from.
 * runs       (value, length) pairs.
 * period     value[i] = value[i - p] + step: arithmetic sequences, short periods, both at once.
 * histogram  everything else, times above all (column_histogram.h): noise around a few typical
 *            values, or that after taking away the value `lag` places before.
 * adaptive   lists, when they are packed as such (column_adaptive.h).
 *
 * doc/refrain-archive.5.md, Columns defines the bytes.
 */
#ifndef RFN_REDUCE_COLUMNS_COLUMN_BLOCK_H
#define RFN_REDUCE_COLUMNS_COLUMN_BLOCK_H

#include "base/buf.h"
#include "reduce/columns/packed.h"

#include <stdint.h>

enum { RFN_COLUMN_BLOCK = 4096 };

enum {
    RFN_BLOCK_HEAD_MAX = 21, /* bytes of a block's head, at most; a column's has fewer */
    RFN_BLOCK_MAX = 20 * RFN_COLUMN_BLOCK, /* bytes of a block: of runs of one value, at worst */
    RFN_BLOCK_FEW = 64
};

enum rfn_column_coder {
    RFN_CODER_CONSTANT,
    RFN_CODER_VARINTS,
    RFN_CODER_RUNS,
    RFN_CODER_PERIOD,
    RFN_CODER_HISTOGRAM,
    RFN_CODER_ADAPTIVE,
    RFN_N_CODERS
};

/* How many of the n values, n > 0, are equal to the first one before one that is not. */
static inline uint32_t rfn_run_length(const int64_t *values, uint32_t n)
{
    uint32_t length = 1;
    while (length < n && values[length] == values[0])
        length++;
    return length;
}

/* All of these write behind out, where failure shows. count is what the block's head says: how many
 * values, or 0 for "all that are left". */

/* The head; size is that of the payload in bytes. */
void rfn_block_head(struct rfn_buf *out, enum rfn_column_coder coder, uint64_t count, size_t size);
/* A block of one value, however often. */
void rfn_block_constant(struct rfn_buf *out, int64_t value, uint64_t count);
/* A block of n (1 to RFN_COLUMN_BLOCK) values, by any coder but the adaptive one. */
void rfn_block_put(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count);

/* Decodes the n values of the whole payload; n is at most RFN_COLUMN_BLOCK, but for constants.
 * guide: n numbers that the adaptive coder was told, or NULL. RFN_E_CORRUPT, RFN_E_NOMEM. */
int rfn_block_get(enum rfn_column_coder coder, struct rfn_reader *payload, uint64_t n,
                  const int64_t *guide, struct rfn_packed *packed);

#endif
