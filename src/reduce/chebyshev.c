/* Chebyshev distance: the largest difference is at most a share of the largest element (Mohror, Eq.
 * 2 with m to infinity). */
#include "reduce/similarity.h"

const struct rfn_similarity rfn_chebyshev = {.name = "chebyshev",
                                             .unit = "",
                                             .within = 0.2,
                                             .across = 0.4,
                                             .difference = rfn_difference_absolute,
                                             .near = rfn_near_absolute_largest,
                                             .allowed = rfn_allowed_share};
