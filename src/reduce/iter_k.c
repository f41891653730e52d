/* Keeps the first k segments of a kind; what comes later is taken to be like them
 * (Mohror, 4.3.2.1). */
#include "reduce/similarity.h"

static uint32_t kept(double threshold)
{
    return threshold < 1 ? 1 : threshold > (double)UINT32_MAX ? UINT32_MAX : (uint32_t)threshold;
}

const struct rfn_similarity rfn_iter_k = {
    .name = "iterK", .unit = "segments", .within = 10, .across = -1, .kept = kept};
