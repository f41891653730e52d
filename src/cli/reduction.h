/* reduction.h - what a reduced archive says of itself: that its times are approximate, and what
 * became of its segments (doc/trace-profiling.md). */
#ifndef RFN_CLI_REDUCTION_H
#define RFN_CLI_REDUCTION_H

#include "cli/text.h"
#include "refrain/archive.h"

#include <jansson.h>

/* "times are those of similar iterations (avgWave 0.2)", and how processes were compared, if they
 * were; of a reduced archive. */
void rfn_reduction_append(struct rfn_text *out, const struct rfn_run *run);

/* Lines for refrain info; nothing if the archive is not reduced. */
void rfn_reduction_lines(struct rfn_text *out, const struct rfn_run *run);

/* The same for --json: null, or what is known. */
json_t *rfn_json_reduction(const struct rfn_run *run);

/* Matches / possible matches, of segments and of streams (Mohror 2010, 5.1.4): 0 to 1, and 1 where
 * nothing can match. */
double rfn_reduction_degree(const struct rfn_run *run);

#endif
