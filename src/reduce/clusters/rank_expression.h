/* rank_expression.h - a parameter that differs from rank to rank, as an expression in the rank.
 *
 * Where one of a few forms gives the values of all ranks exactly, that form stands for them (the
 * user plug-in functions of Bahmani and Mueller, 3.3, found without the user).
 * enum rfn_expression_form has the forms in the order in which they are tried.
 *
 * A form with p free numbers must explain at least 2 * p ranks, so that few values at random do not
 * fit (XOR: 4; AFFINE: 4, offset 0 and factors 0 and 1 not being free). Time: O(values * grids); n
 * has few divisors, and a form that does not fit mostly fails with the first values.
 *
 * A formula (rank_formula.h) is never fitted: users give it, and a struct rfn_expression_finder
 * brings it to whoever has a parameter for which none of the forms fits.
 */
#ifndef RFN_REDUCE_CLUSTERS_RANK_EXPRESSION_H
#define RFN_REDUCE_CLUSTERS_RANK_EXPRESSION_H

#include "base/buf.h"
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

/* What it gives for a rank; 0 where a formula has no value. Never for RFN_EXPRESSION_NONE. */
int64_t rfn_rank_expression_value(const struct rfn_rank_expression *expression, uint32_t rank,
                                  uint32_t size);

/* As bytes (refrain-archive(5), Runs over ranks), for which a constant is none: whose grid has one
 * dimension says how long that is, and so does that of a formula. */
void rfn_rank_expression_write(const struct rfn_rank_expression *expression, struct rfn_buf *out);
/* Returns whether there was one that is well-formed (a formula may lack values, which are 0); else
 * reader->failed. A formula lies in the reader's bytes. */
bool rfn_rank_expression_read(struct rfn_rank_expression *expression, struct rfn_reader *reader);

/* What one that was read gives: all ranks are in communicators of the grid's size. */
static inline int64_t rfn_rank_expression_at(const struct rfn_rank_expression *expression,
                                             uint32_t rank)
{
    return rfn_rank_expression_value(expression, rank, expression->dimensions[0]);
}

/* ---- expressions that users give ---- */

/* A parameter for which there is none yet. */
struct rfn_sought_parameter {
    const char *function, *name; /* as in the MPI standard; function NULL: of no single call */
    const char *role;            /* doc/clustering.md, Parameters: "peer", "count" */
    uint32_t size;               /* n for an expression; 0: each value has its own */
    bool coded;                  /* what is to be given are zigzag coded words */
};

struct rfn_expression_finder {
    /* Makes *expression a formula that gives all values, and returns 1; 0: there is none, or
     * RFN_E_NOMEM. Its text is the finder's. values: as users know them, not coded. */
    int (*find)(void *context, const struct rfn_sought_parameter *parameter,
                const struct rfn_rank_value *values, size_t n,
                struct rfn_rank_expression *expression);
    void *context;
    /* Counted by whoever asks. */
    uint64_t asked, found, stored; /* parameters; stored: that take fewer bytes so */
};

#endif
