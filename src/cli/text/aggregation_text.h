/* aggregation_text.h - what an archive says of calls that were left out (refrain/aggregation.h),
 * for several verbs. */
#ifndef RFN_CLI_TEXT_AGGREGATION_TEXT_H
#define RFN_CLI_TEXT_AGGREGATION_TEXT_H

#include "refrain/aggregation.h"
#include "refrain/text.h"

#include <jansson.h>

/* "1,596 of 3,088 events were left out, which predictions do not need; what they took counts as
 * computing". Nothing where none were, or where that cannot be read. */
void rfn_aggregation_append(struct rfn_text *out, const struct rfn_archive *archive);

/* The same for --json; null: no calls were left out. */
json_t *rfn_json_aggregation(const struct rfn_archive *archive);

#endif
