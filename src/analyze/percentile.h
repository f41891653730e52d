/* percentile.h - percentiles of many numbers in constant memory.
 *
 * Numbers are counted in buckets: below 2048 one for each, above 1024 for each doubling. So what
 * comes out is exact below 2048, and above too small by less than 0.1 %.
 */
#ifndef RFN_ANALYZE_PERCENTILE_H
#define RFN_ANALYZE_PERCENTILE_H

#include <stdint.h>

enum { RFN_PERCENTILE_EXACT = 2048, RFN_PERCENTILE_BUCKETS = 1024 * (64 - 10 + 1) };

struct rfn_percentile {
    uint64_t n, buckets[RFN_PERCENTILE_BUCKETS];
};

/* All zero: empty. 440 KB: not for the stack. */
void rfn_percentile_add(struct rfn_percentile *percentile, uint64_t number);
/* The smallest number that at least this share (0 to 1) of all do not exceed; 0 when there are
 * none. */
uint64_t rfn_percentile_at(const struct rfn_percentile *percentile, double share);

#endif
