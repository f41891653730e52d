/* rank_expression.h - a parameter that differs from rank to rank, as an expression in the rank.
 *
 * Where one of a few forms gives the values of all ranks exactly, that form stands for them (the
 * user plug-in functions of Bahmani and Mueller, 3.3, found without the user).
 * enum rfn_expression_form has the forms in the order in which they are tried.
 *
 * A form with p free numbers must explain at least 2 * p ranks, so that few values at random do not
 * fit (XOR: 4; AFFINE: 4, offset 0 and factors 0 and 1 not being free). Time: O(values * grids); n
 * has few divisors, and a form that does not fit mostly fails with the first values.
 */
#ifndef RFN_REDUCE_RANK_EXPRESSION_H
#define RFN_REDUCE_RANK_EXPRESSION_H

#include "refrain/clusters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a rank's parameter is. */
struct rfn_rank_value {
    uint32_t rank, size; /* in the communicator that the parameter is about */
    int64_t value;
};

/* The expression that gives all values, or RFN_EXPRESSION_NONE. values: in order of rank, at least
 * one; rank < size. ranks: values are ranks, so that SHIFTED, XOR and PERMUTED make sense. */
struct rfn_rank_expression rfn_rank_expression_fit(const struct rfn_rank_value *values, size_t n,
                                                   bool ranks);

/* What it gives for a rank. Never for RFN_EXPRESSION_NONE. */
int64_t rfn_rank_expression_value(const struct rfn_rank_expression *expression, uint32_t rank,
                                  uint32_t size);

#endif
