/* sample_counts.h - how many messages there were between two ranks, by size: exact numbers, apart
 * from the categories of the sample table, which may be told together for want of room.
 *
 * Senders count messages and bytes, receivers the messages that were sampled. A table is one piece
 * of memory without pointers, as a sample table is, and a row never moves. When its room is used
 * up, further pairs of ranks are counted together, by size, in rows of any ranks. So sums by size,
 * and of all, stay exact; the pairs are known to be incomplete because such rows are there.
 */
#ifndef RFN_REDUCE_SAMPLES_SAMPLE_COUNTS_H
#define RFN_REDUCE_SAMPLES_SAMPLE_COUNTS_H

#include "base/buf.h"
#include "refrain/sampling.h"

#include <stdint.h>

/* Rows for any ranks: one per size class. */
enum { RFN_SAMPLE_COUNTS_ANY = 65 };

struct rfn_sample_counts {
    uint32_t room; /* of rows for pairs; behind them RFN_SAMPLE_COUNTS_ANY further ones have room */
    uint32_t n;    /* rows in use: the first ones */
    uint32_t hash_bits; /* the index has so many places */
    uint32_t n_pairs;   /* of the rows those that are for pairs of ranks */
    /* behind it uint32_t[1 << hash_bits], row + 1 or 0; then the rows */
};

/* Bytes for a table of so many pairs, at least 8. */
size_t rfn_sample_counts_bytes(uint32_t room);
/* Where the rows begin. */
size_t rfn_sample_counts_offset(uint32_t room);
/* Makes a table in zeroed memory of that size, which stays the caller's. */
struct rfn_sample_counts *rfn_sample_counts_init(void *memory, uint32_t room);

static inline struct rfn_sample_count *rfn_sample_counts_rows(struct rfn_sample_counts *counts)
{
    return (struct rfn_sample_count *)(void *)((uint32_t *)(void *)(counts + 1) +
                                               ((size_t)1 << counts->hash_bits));
}

/* The row of messages from a rank to another one, of a size class; made if it is new; never NULL.
 * It stays where it is. */
struct rfn_sample_count *rfn_sample_counts_row(struct rfn_sample_counts *counts, int32_t source,
                                               int32_t dest, uint8_t size_class);
/* Adds a row's numbers to the row of its ranks and size. */
void rfn_sample_counts_add(struct rfn_sample_counts *counts, const struct rfn_sample_count *row);

/* As bytes, for messages and files: how many rows, then of each source and destination (signed),
 * size class, messages, bytes and samples; all are varints. */
void rfn_sample_counts_pack(struct rfn_sample_counts *counts, struct rfn_buf *out);
/* Adds what the bytes have to a table. The reader has failed: they are malformed. */
void rfn_sample_counts_unpack(struct rfn_sample_counts *counts, struct rfn_reader *reader);
/* The rows of the bytes; *rows is the caller's to free, NULL after an error. RFN_E_CORRUPT,
 * RFN_E_NOMEM. */
int rfn_sample_counts_read(struct rfn_reader *reader, struct rfn_sample_count **rows,
                           size_t *n_rows);

#endif
