/* Euclidean distance, compared by squares: at most a share of the largest element (Mohror, Eq. 2
 * with m = 2). */
#include "reduce/similarity.h"

const struct rfn_similarity rfn_euclidean = {.name = "euclidean",
                                             .unit = "",
                                             .within = 0.2,
                                             .across = 0.4,
                                             .difference = rfn_difference_squared,
                                             .near = rfn_near_squared_sum,
                                             .added = true,
                                             .allowed = rfn_allowed_share_squared};
