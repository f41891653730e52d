/* sample_table.h - what is known of sampled messages, a row per category, in bounded memory.
 *
 * A table is one piece of memory without pointers: the recorder puts it into memory that another
 * process can map and read while the job runs. One thread writes at a time; a reader may see a row
 * between two states, which matters to a display only.
 *
 * There is room for a number of rows, which may grow. When they are used up, the half with the
 * fewest samples and messages is given up: a row goes to the one with the same call sites and size
 * class and any ranks; when that is one of the fewest, too, to the row of all that is left
 * ("other": any ranks, other sites, any size). Rows that senders count (whose site of receive stays
 * NO_SITE), rows with latencies and collective calls (whose destination stays) give up half each,
 * and have an "other" each. So sums over all rows stay exact, and what is rare is told together. A
 * category that was given up and comes again counts from 0: sample_counts.h has exact numbers that
 * say so.
 */
#ifndef RFN_REDUCE_SAMPLES_SAMPLE_TABLE_H
#define RFN_REDUCE_SAMPLES_SAMPLE_TABLE_H

#include "base/buf.h"
#include "refrain/sampling.h"

#include <stdint.h>

struct rfn_sample_table {
    uint32_t capacity;   /* of rows */
    uint32_t room;       /* rows whose memory is there: the owner may let it grow up to capacity */
    uint32_t n_rows;     /* used: the first ones */
    uint32_t hash_bits;  /* the index over rows has so many places */
    uint32_t generation; /* grows whenever rows move: what points at a row is to be found again.
                            Odd while they move: a reader waits, and reads again if it changed */
    uint64_t dropped[RFN_SAMPLE_DROPS];
    /* behind it the index: uint32_t[1 << hash_bits], row + 1 or 0; then rows[capacity] */
};

/* Bytes for a table of so many rows (at least 8). */
size_t rfn_sample_table_bytes(uint32_t capacity);
/* Where the rows begin. */
size_t rfn_sample_table_offset(uint32_t capacity);
/* Makes a table in zeroed memory of that size, which stays the caller's; there is room for all. */
struct rfn_sample_table *rfn_sample_table_init(void *memory, uint32_t capacity);

static inline struct rfn_sample_row *rfn_sample_table_rows(struct rfn_sample_table *table)
{
    return (struct rfn_sample_row *)(void *)((uint32_t *)(void *)(table + 1) +
                                             ((size_t)1 << table->hash_bits));
}

/* The row of a key, made if it is new; never NULL. It is valid as long as the generation stays. */
struct rfn_sample_row *rfn_sample_table_row(struct rfn_sample_table *table,
                                            const struct rfn_sample_key *key);

/* A sample of a category. */
struct rfn_sample_values {
    double latency_ns;
    double waited_ns, lay_ns; /* at least 0 */
    double bytes, weight;
    bool clean;
};

/* histogram: FREQ and WRITE. */
void rfn_sample_row_sample(struct rfn_sample_row *row, const struct rfn_sample_values *values,
                           bool histogram);

/* Adds all of another table. */
void rfn_sample_table_add(struct rfn_sample_table *table, struct rfn_sample_table *from);

/* As bytes, for messages and files: numbers of dropped messages, then the rows, buckets that are 0
 * left out. Sites are 64-bit words. */
void rfn_sample_table_pack(struct rfn_sample_table *table, struct rfn_buf *out);
/* Adds what the bytes have to a table. RFN_E_CORRUPT: the table has the rows before the fault. */
int rfn_sample_table_unpack(struct rfn_sample_table *table, const uint8_t *bytes, size_t size);
/* The rows themselves, in an array that the caller frees; dropped[] is set. RFN_E_CORRUPT,
 * RFN_E_NOMEM. */
int rfn_sample_rows_unpack(const uint8_t *bytes, size_t size, struct rfn_sample_row **rows,
                           size_t *n_rows, uint64_t dropped[RFN_SAMPLE_DROPS]);

#endif
