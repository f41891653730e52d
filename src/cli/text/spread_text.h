/* spread_text.h - how far times lie apart (refrain/spread.h), for refrain info. */
#ifndef RFN_CLI_TEXT_SPREAD_TEXT_H
#define RFN_CLI_TEXT_SPREAD_TEXT_H

#include "cli/text/print_text.h"
#include "refrain/spread.h"

#include <jansson.h>

/* A table of the `top` positions that take most time, before and in their calls, most first. */
void rfn_spread_append(struct rfn_text *out, const struct rfn_archive *archive,
                       const struct rfn_time_spreads *spreads, uint64_t top);

/* {kept, clusters, positions} with at most `top` positions, in the same order. */
json_t *rfn_json_spread(const struct rfn_archive *archive, const struct rfn_time_spreads *spreads,
                        uint64_t top);

#endif
