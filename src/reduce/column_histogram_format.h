/* column_histogram_format.h - what the encoder and the decoder of histogram blocks agree on
 * (doc/refrain-archive.5.md, Columns).
 *
 * Bits are written least significant first, as numbers in a row. A *number* is from 0 on, mostly
 * small, in Elias delta code: the length of number + 1 in bits (this in Elias gamma code: as many
 * zeros as it has bits behind its leading one, the one, those bits), then the bits of number + 1
 * behind its leading one.
 */
#ifndef RFN_REDUCE_COLUMN_HISTOGRAM_FORMAT_H
#define RFN_REDUCE_COLUMN_HISTOGRAM_FORMAT_H

#include <stdint.h>

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
