/* Average wavelet transform: averages and half-differences of pairs, again of the averages; then
 * Euclidean distance, at most a share of the largest element of the transforms (Mohror, 4.3.1.4).
 */
#include "reduce/similarity.h"
#include "reduce/wave.h"

static void transform(double *vector, size_t n)
{
    rfn_wave_transform(vector, n, 0.5);
}

const struct rfn_similarity rfn_avg_wave = {.name = "avgWave",
                                            .unit = "",
                                            .within = 0.2,
                                            .across = 0.4,
                                            .transformed = rfn_wave_length,
                                            .transform = transform,
                                            .difference = rfn_difference_squared,
                                            .near = rfn_near_squared_sum,
                                            .added = true,
                                            .allowed = rfn_allowed_share_squared};
