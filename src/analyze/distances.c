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
