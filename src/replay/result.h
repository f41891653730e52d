/* result.h - what a replay has found, as text or as JSON. */
#ifndef RFN_REPLAY_RESULT_H
#define RFN_REPLAY_RESULT_H

#include "refrain/archive.h"

#include <stdbool.h>
#include <stdio.h>

/* A replay of one archive, all ranks and repetitions together. */
struct rpl_replayed {
    const char *file;
    const struct rfn_archive *archive;
    double recorded_seconds; /* 0: the archive has no times */
    double *seconds;         /* of each repetition; sorted by rpl_result_print */
    uint64_t issued, failed, messages, bytes;
    uint64_t polls;       /* unsuccessful ones, when this was recorded */
    double polls_seconds; /* in them, over all ranks; 0 without times */
    uint64_t *skipped;    /* calls by function */
};

struct rpl_result {
    struct rpl_replayed *replays; /* the archive, and the one it is held against */
    int n_replays;
    int repeats;
    double scale;    /* of what was computed */
    bool sleeps;     /* else busy */
    const char *why; /* it does that */
    const char *mpi; /* "Open MPI" */
};

/* 1 - |t - t'| / t, the accuracy of a replay in t' of what took t; negative when t' is more than
 * twice t. t is to be positive. */
double rpl_accuracy(double t, double replayed);
/* Sorts n values and returns the one in the middle, or the average of two. */
double rpl_median(double *values, int n);

/* Returns 0 or RFN_E_NOMEM. */
int rpl_result_print(struct rpl_result *result, bool json, FILE *out);

#endif
