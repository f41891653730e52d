/* Chebyshev distance with something for the machine: the largest difference is at most a share of
 * the largest element and a millisecond together. A machine's noise has a length of its own: it is
 * most of a short iteration and nothing of a long one. Segments that are one-way may differ by 2.5
 * times as much: their noise is between two ranks. Not in Mohror; doc/study.md tells why it is
 * there, and where the numbers come from.
 */
#include "reduce/segment_starts.h"
#include "reduce/similarity.h"

enum { MORE_NS = 1000000 };

static double allowed(double threshold, double largest)
{
    return threshold * largest; /* which the millisecond is in */
}

const struct rfn_similarity rfn_jitter = {.name = "jitter",
                                          .unit = "",
                                          .within = 0.02,
                                          .across = 0.4,
                                          .difference = rfn_difference_absolute,
                                          .near = rfn_near_absolute_largest,
                                          .allowed = allowed,
                                          .more_ns = MORE_NS,
                                          .one_way = 2.5,
                                          .one_way_starts = RFN_ONE_WAY_STARTS,
                                          .stretched = true};
