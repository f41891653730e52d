/* distances.h - how far recreated times are from those that were recorded: the approximation
 * distance (Mohror 2010, 5.1.4.3) is the 90th percentile of all.
 */
#ifndef RFN_ANALYZE_DISTANCES_H
#define RFN_ANALYZE_DISTANCES_H

#include <stdint.h>

/* Percentiles of many numbers in constant memory.
 *
 * Numbers are counted in buckets: below 2048 one for each, above 1024 for each doubling. So what
 * comes out is exact below 2048, and above too small by less than 0.1 %.
 */
enum { RFN_PERCENTILE_EXACT = 2048, RFN_PERCENTILE_BUCKETS = 1024 * (64 - 10 + 1) };

struct rfn_percentile {
    uint64_t n, buckets[RFN_PERCENTILE_BUCKETS];
};

/* All zero: empty. 440 KB: not for the stack. */
void rfn_percentile_add(struct rfn_percentile *percentile, uint64_t number);
/* The smallest number that at least this share (0 to 1) of all do not exceed; 0 when there are
 * none. */
uint64_t rfn_percentile_at(const struct rfn_percentile *percentile, double share);

struct rfn_distances {
    struct rfn_percentile percentile;
    uint64_t largest_ns;
};

/* All zero: none. 440 KB: not for the stack. */
void rfn_distances_add(struct rfn_distances *distances, int64_t recreated_ns, int64_t real_ns);
/* The approximation distance, and the largest one; 0 when there are none. */
double rfn_distances_approximation_us(const struct rfn_distances *distances);
double rfn_distances_largest_us(const struct rfn_distances *distances);

#endif
