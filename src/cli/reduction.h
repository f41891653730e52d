/* reduction.h - reduced archives: what can be asked of a reduction, by `refrain record` and
 * `refrain reduce` alike, and what such an archive says of itself: that its times are approximate,
 * and what became of its segments (doc/trace-profiling.md). */
#ifndef RFN_CLI_REDUCTION_H
#define RFN_CLI_REDUCTION_H

#include "cli/text.h"
#include "refrain/archive.h"
#include "refrain/recording.h"

#include <argp.h>
#include <jansson.h>

/* ---- what can be asked ---- */

/* For completion. */
#define RFN_SIMILAR_VALUES                                                                       \
    "--similarity=relDiff,absDiff,manhattan,euclidean,chebyshev,avgWave,haarWave,iterK,iterAvg," \
    "jitter"
#define RFN_STARTS_VALUES "--segment-starts=exact,predicted"
#define RFN_ACROSS_VALUES "--across=one,all"

#define RFN_SIMILAR_OPTION(key)                                                               \
    {                                                                                         \
        "similarity", key, "METHOD[:T]", 0,                                                   \
            "When iterations went alike: relDiff, absDiff, manhattan, euclidean, chebyshev, " \
            "avgWave, haarWave, iterK, iterAvg or jitter, and its threshold "                 \
            "(default " RFN_SIMILAR_DEFAULT ")",                                              \
            0                                                                                 \
    }
#define RFN_MIN_CALLS_OPTION(key)                                                            \
    {                                                                                        \
        "segment-min-calls", key, "N", 0,                                                    \
            "Leave iterations with fewer than N calls (1) within the segment around them", 0 \
    }
#define RFN_STARTS_OPTION(key)                                                            \
    {                                                                                     \
        "segment-starts", key, "exact|predicted", 0,                                      \
            "Keep the start of each iteration exactly, or within the threshold of where " \
            "those before lead to expect it (predicted, the default)",                    \
            0                                                                             \
    }
/* flags: whether there may be no argument. */
#define RFN_ACROSS_OPTION(key, flags)                                                           \
    {                                                                                           \
        "across", key, "[METHOD:]T|one|all", flags,                                             \
            "Keep the times of processes that went alike once, too: with threshold T, by "      \
            "another method than --similarity if it is named; one: of those that executed the " \
            "same, only the first one's, whatever they are; all (the default): each one's",     \
            0                                                                                   \
    }

/* first: the beginning of the help. */
#define RFN_MERGE_PARAMETER_OPTION(key, first)                                                   \
    {                                                                                            \
        "ignore-parameter", key, "LIST", 0,                                                      \
            first                                                                                \
            " parameters no longer tell ranks with the same loops apart; all get those of the "  \
            "lowest one: some of peer, root, count, exact (datatypes, operations), comm, place " \
            "(colour, key) and tag. What differed is lost, and messages may not match any "      \
            "more",                                                                              \
            0                                                                                    \
    }

/* What these are given, or wrong usage: for parsers. */
void rfn_similar_argument(struct argp_state *state, const char *arg);
uint32_t rfn_min_calls_argument(struct argp_state *state, const char *arg);
bool rfn_starts_argument(struct argp_state *state, const char *arg); /* whether exact */
void rfn_merge_parameter_argument(struct argp_state *state, const char *arg);
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
