/* distances.h - how far recreated times are from those that were recorded: the approximation
 * distance (Mohror 2010, 5.1.4.3) is the 90th percentile of all.
 */
#ifndef RFN_ANALYZE_DISTANCES_H
#define RFN_ANALYZE_DISTANCES_H

#include "analyze/percentile.h"

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
