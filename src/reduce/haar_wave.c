/* Haar wavelet transform: as avg_wave.c, with the square root of 2 in place of 2, so that the
 * transforms are as far from each other as the vectors (Mohror, 4.3.1.4). */
#include "reduce/similarity.h"
#include "reduce/wave.h"

static void transform(double *vector, size_t n)
{
    const double root_of_half = 0.70710678118654752440;
    rfn_wave_transform(vector, n, root_of_half);
}

const struct rfn_similarity rfn_haar_wave = {.name = "haarWave",
                                             .unit = "",
                                             .within = 0.2,
                                             .across = 0.4,
                                             .transformed = rfn_wave_length,
                                             .transform = transform,
                                             .difference = rfn_difference_squared,
                                             .near = rfn_near_squared_sum,
                                             .added = true,
                                             .allowed = rfn_allowed_share_squared};
