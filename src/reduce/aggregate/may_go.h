/* may_go.h - calls that an archive may lack (refrain/aggregation.h): nothing else refers to what
 * they do, but for their requests, messages and communicators. */
#ifndef RFN_REDUCE_AGGREGATE_MAY_GO_H
#define RFN_REDUCE_AGGREGATE_MAY_GO_H

#include "event/calls.h"

/* Whether successful calls of the function may go; no polls, nothing persistent or one-sided. */
bool rfn_may_go(const struct rfn_function_info *function);

#endif
