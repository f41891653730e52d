/* Manhattan distance: the sum of all differences is at most a share of the largest element (Mohror,
 * Eq. 2 with m = 1). */
#include "reduce/similarity.h"

const struct rfn_similarity rfn_manhattan = {.name = "manhattan",
                                             .unit = "",
                                             .within = 0.4,
                                             .across = 0.4,
                                             .difference = rfn_difference_absolute,
                                             .near = rfn_near_absolute_sum,
                                             .added = true,
                                             .allowed = rfn_allowed_share};
