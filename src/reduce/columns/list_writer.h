/* list_writer.h - writes lists of small numbers that have an order: as columns, of which blocks may
 * also be of the adaptive coder (column_adaptive.h), value by value.
 *
 * A block has RFN_COLUMN_BLOCK values, or more if they are all equal. That follows from the values
 * alone, so what a writer has coded while a list grew is what it would have coded in the end.
 */
#ifndef RFN_REDUCE_COLUMNS_LIST_WRITER_H
#define RFN_REDUCE_COLUMNS_LIST_WRITER_H

#include "reduce/columns/column.h"
#include "reduce/columns/column_adaptive.h"

struct rfn_list_writer {
    uint64_t n;                   /* values so far */
    struct rfn_buf coded;         /* blocks */
    int64_t *staged;              /* values behind them, at most RFN_COLUMN_BLOCK */
    size_t n_staged, capacity;    /* capacity: of staged, in values */
    uint64_t run;                 /* the values behind the blocks are equal: so many, of which the
                                     first RFN_COLUMN_BLOCK are staged; or 0 */
    struct rfn_list_guide *guide; /* what the coder knows beside them; NULL: nothing */
};

/* Appends a value. memory: the coder's. RFN_E_NOMEM (it can then only be released). */
int rfn_list_put(struct rfn_list_writer *writer, int64_t value, struct rfn_coder_memory *memory);
/* Bytes held, besides the struct itself. */
size_t rfn_list_bytes(const struct rfn_list_writer *writer);
void rfn_list_release(struct rfn_list_writer *writer);

/* Writes as a list behind out the values that `coded` has, which may be NULL for none, and those of
 * the column behind them. guide: what the coder knows beside each value, a column of as many
 * values; another one, or NULL, is none. There is no guide where something is coded. memory: the
 * coder's. RFN_E_NOMEM, or the error of a spill: what is behind out's former size is then without
 * meaning. */
int rfn_list_pack(const struct rfn_list_writer *coded, const struct rfn_column *column,
                  const struct rfn_column *guide, struct rfn_coder_memory *memory,
                  struct rfn_buf *out);

#endif
