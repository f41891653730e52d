/* column_histogram.h - the coder for blocks of noise, times above all.
 *
 * An adaptive histogram says how likely each stretch (bucket) of the number line is; within a
 * bucket all numbers are taken as equally likely. So a value is coded as its bucket, by an entropy
 * coder, and its offset in the bucket, as plain bits. The histogram is made for each block, and
 * written in front of it; it is as fine as pays for its own description.
 *
 * Before that, if asked to, the value `lag` places before is taken away (counters, random walks,
 * patterns that are almost periodic); then the smallest number, and a common factor (clocks tick in
 * steps, sizes are multiples).
 */
#ifndef RFN_REDUCE_COLUMNS_COLUMN_HISTOGRAM_H
#define RFN_REDUCE_COLUMNS_COLUMN_HISTOGRAM_H

#include "base/buf.h"
#include "reduce/columns/packed.h"

/* Writes n (at most RFN_COLUMN_BLOCK) values behind out; lag < n, 0 for none. RFN_E_NOMEM; what is
 * behind out's former size is then without meaning. */
int rfn_column_histogram_encode(const int64_t *values, uint32_t n, uint32_t lag,
                                struct rfn_buf *out);

/* Reads n (1 to RFN_COLUMN_BLOCK) values from the whole of payload. RFN_E_CORRUPT, RFN_E_NOMEM. */
int rfn_column_histogram_decode(struct rfn_reader *payload, uint32_t n, struct rfn_packed *packed);

/* ---- what the coder and the decoder agree on (doc/refrain-archive.5.md, Columns) ---- */

/* Bits are written least significant first, as numbers in a row. A *number* is from 0 on, mostly
 * small, in Elias delta code: the length of number + 1 in bits (this in Elias gamma code: as many
 * zeros as it has bits behind its leading one, the one, those bits), then the bits of number + 1
 * behind its leading one. */
enum {
    MAX_BUCKETS = 256,
    PROBABILITY_BITS = 12,
    PROBABILITY_ONE = 1 << PROBABILITY_BITS,
    TWO_STATES = 256, /* as many coded values use two interleaved states */
    REST = 15         /* marks the bucket that has the probability which is left */
};
static const uint32_t STATE_LOW = 1u << 15; /* of the entropy coder; where it begins */

/* Which numbers are coded: (values[i] - values[i - lag] - base) / scale, for i from lag on. */
struct model {
    uint32_t lag;
    int64_t base;
    uint64_t scale;
    unsigned n_buckets;
};

#endif
