/* reduction.h - options of `refrain record` and `refrain reduce` that say how an archive is reduced
 * (doc/trace-profiling.md). */
#ifndef RFN_CLI_REDUCTION_H
#define RFN_CLI_REDUCTION_H

#include "refrain/recording.h"

#include <argp.h>
#include <stdbool.h>

/* For completion. */
#define RFN_SIMILAR_VALUES                                                                    \
    "--similar=relDiff,absDiff,manhattan,euclidean,chebyshev,avgWave,haarWave,iterK,iterAvg," \
    "jitter"
#define RFN_STARTS_VALUES "--starts=exact,predicted"
#define RFN_ACROSS_VALUES "--across=one,all"

#define RFN_SIMILAR_OPTION(key)                                                               \
    {                                                                                         \
        "similar", key, "METHOD[:T]", 0,                                                      \
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
        "starts", key, "exact|predicted", 0,                                              \
            "Keep the start of each iteration exactly, or within the threshold of where " \
            "those before lead to expect it (predicted, the default)",                    \
            0                                                                             \
    }
/* flags: whether there may be no argument. */
#define RFN_ACROSS_OPTION(key, flags)                                                        \
    {                                                                                        \
        "across", key, "[METHOD:]T|one|all", flags,                                          \
            "Keep the times of processes that went alike once, too: with threshold T, by "   \
            "another method than --similar if it is named; one: of those that executed the " \
            "same, only the first one's, whatever they are; all (the default): each one's",  \
            0                                                                                \
    }

/* first: the beginning of the help. */
#define RFN_MERGE_PARAMETER_OPTION(key, first)                                                   \
    {                                                                                            \
        "merge-parameter", key, "LIST", 0,                                                       \
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
/* When all is parsed: METHOD:T of what is given for --across ("": nothing), with --similar. Room
 * for RFN_ACROSS_TEXT bytes. */
void rfn_across_argument(struct argp_state *state, const char *given, const char *similar,
                         char *text);

#endif
