#include "analyze/distances.h"

void rfn_distances_add(struct rfn_distances *distances, int64_t recreated_ns, int64_t real_ns)
{
    uint64_t recreated = (uint64_t)recreated_ns, real = (uint64_t)real_ns;
    uint64_t difference = recreated_ns < real_ns ? real - recreated : recreated - real;
    rfn_percentile_add(&distances->percentile, difference);
    if (difference > distances->largest_ns)
        distances->largest_ns = difference;
}

double rfn_distances_approximation_us(const struct rfn_distances *distances)
{
    return 1e-3 * (double)rfn_percentile_at(&distances->percentile, 0.9);
}

double rfn_distances_largest_us(const struct rfn_distances *distances)
{
    return 1e-3 * (double)distances->largest_ns;
}

/* ---- percentiles ---- */

/* Numbers of b bits, b above 11, are shifted to 11; their highest bit is the same then. */
static unsigned bucket_of(uint64_t number)
{
    if (number < RFN_PERCENTILE_EXACT)
        return (unsigned)number;
    unsigned shift = 53 - (unsigned)__builtin_clzll(number);
    return 1024 * shift + (unsigned)(number >> shift);
}

static uint64_t least_of(unsigned bucket)
{
    if (bucket < RFN_PERCENTILE_EXACT)
        return bucket;
    unsigned shift = bucket / 1024 - 1;
    return (uint64_t)(bucket - 1024 * shift) << shift;
}

void rfn_percentile_add(struct rfn_percentile *percentile, uint64_t number)
{
    percentile->n++;
    percentile->buckets[bucket_of(number)]++;
}

uint64_t rfn_percentile_at(const struct rfn_percentile *percentile, double share)
{
    uint64_t seen = 0;
    double needed = share * (double)percentile->n;
    for (unsigned i = 0; i < RFN_PERCENTILE_BUCKETS; i++) {
        seen += percentile->buckets[i];
        if (seen > 0 && (double)seen >= needed)
            return least_of(i);
    }
    return 0;
}
