/* reduction.h - reduced archives: what can be asked of a reduction, by `refrain record` and
 * `refrain reduce` alike, and what such an archive says of itself: that its times are approximate,
 * and what became of its segments (doc/trace-profiling.md). */
#ifndef RFN_CLI_REDUCTION_H
#define RFN_CLI_REDUCTION_H

#include "cli/text.h"
#include "refrain/archive.h"
#include "refrain/record_options.h"
#include "refrain/recording.h"

#include <argp.h>
#include <jansson.h>

/* ---- what can be asked ---- */

/* For completion. */
#define RFN_SIMILARITY_VALUES                                                                    \
    "--similarity=relDiff,absDiff,manhattan,euclidean,chebyshev,avgWave,haarWave,iterK,iterAvg," \
    "jitter"
#define RFN_ACROSS_VALUES "--across=one,all"

/* What an option that `refrain record` has, too, is given, or wrong usage: for parsers. */
void rfn_record_argument(struct argp_state *state, enum rfn_record_option option, const char *arg);
/* When all is parsed: METHOD:T of what is given for --across ("": nothing), with --similarity. Room
 * for RFN_ACROSS_TEXT bytes. */
void rfn_across_argument(struct argp_state *state, const char *given, const char *similar,
                         char *text);

/* ---- what an archive says ---- */

/* "times are those of similar iterations (avgWave 0.2)", and how processes were compared, if they
 * were, and what came of it; of a reduced archive. */
void rfn_reduction_append(struct rfn_text *out, const struct rfn_run *run);

/* "some parameters are those of the lowest rank of each cluster (peer,count), and messages may not
 * match", of an archive with merged parameters. */
void rfn_forced_append(struct rfn_text *out, const struct rfn_run *run);

/* Lines for refrain info; nothing if the archive is neither reduced nor has merged
 * parameters. */
void rfn_reduction_lines(struct rfn_text *out, const struct rfn_run *run);

/* The same for --json: null, or what is known. */
json_t *rfn_json_reduction(const struct rfn_run *run);

/* Matches / possible matches, of segments and of streams (Mohror 2010, 5.1.4): 0 to 1, and 1 where
 * nothing can match. */
double rfn_reduction_degree(const struct rfn_run *run);

#endif
