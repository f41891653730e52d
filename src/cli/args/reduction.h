/* reduction.h - options of `refrain record` and `refrain reduce` that say how an archive is reduced
 * (doc/trace-profiling.md). */
#ifndef RFN_CLI_ARGS_REDUCTION_H
#define RFN_CLI_ARGS_REDUCTION_H

#include "refrain/record_options.h"
#include "refrain/recording.h"

#include <argp.h>
#include <stdbool.h>

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

#endif
