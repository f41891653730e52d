/* user_expressions.h - how the public list of users' expressions is asked (refrain/expression.h).
 */
#ifndef RFN_ANALYZE_CLUSTERS_USER_EXPRESSIONS_H
#define RFN_ANALYZE_CLUSTERS_USER_EXPRESSIONS_H

#include "reduce/clusters/rank_expression.h"
#include "refrain/expression.h"

/* What it finds is borrowed from the expressions. */
struct rfn_expression_finder *rfn_expressions_finder(struct rfn_expressions *expressions);

#endif
