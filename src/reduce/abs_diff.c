/* Absolute difference: each pair differs by at most the threshold (Mohror, 4.3.1.2). It is in
 * microseconds, the vectors in nanoseconds. */
#include "reduce/similarity.h"

static double allowed(double threshold, double largest)
{
    (void)largest;
    return threshold * 1000;
}

const struct rfn_similarity rfn_abs_diff = {.name = "absDiff",
                                            .unit = "us",
                                            .within = 1000,
                                            .across = 10000,
                                            .difference = rfn_difference_absolute,
                                            .near = rfn_near_absolute_largest,
                                            .allowed = allowed};
