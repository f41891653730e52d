/* Keeps one segment of a kind, the average of all (Mohror, 4.3.2.2). It has no threshold. */
#include "reduce/similarity.h"

static uint32_t kept(double threshold)
{
    (void)threshold;
    return 1;
}

const struct rfn_similarity rfn_iter_avg = {
    .name = "iterAvg", .unit = "", .within = 0, .across = -1, .kept = kept, .averages = true};
