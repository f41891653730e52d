/* aggregation.h - archives that keep predictions, but not all calls (Ino et al., R1 to R3;
 * doc/whatif.md): they lack successive calls of a stream that are equally late under every
 * assumption about kept calls and computations. The gap that they leave is one computation.
 *
 * Thresholds limit the assumptions: to computations and calls of at least a time, and to the way of
 * messages of at least a size.
 */
#ifndef REFRAIN_AGGREGATION_H
#define REFRAIN_AGGREGATION_H

#pragma GCC visibility push(default)

#include "refrain/predict.h"

/* So many events were left out in front of an event of a stream. */
struct rfn_aggregated_gap {
    uint64_t event, left_out;
};

struct rfn_aggregation {
    bool any;            /* else the archive has all calls, and the rest means nothing */
    int64_t least_ns;    /* assumptions may be about activities of this time at least, */
    int64_t least_bytes; /* and about messages of so many bytes at least */
    /* Of forms, by which it was decided (m in the paper). 0: while the run was recorded, for every
     * network; then there is none here, and the first calls of the run are complete. */
    uint32_t terms;
    struct rfn_network network;  /* of all messages, those left out, too */
    uint64_t messages;           /* it was estimated from so many */
    uint64_t events, file_bytes; /* of the archive before */
    /* Activities with an execution shorter than least_ns: computations, and calls as
     * RFN_ACTIVITY_MPI. Nothing can be assumed about them as a whole. */
    struct rfn_activity *fixed;
    size_t n_fixed;
    struct rfn_aggregated_stream {
        const struct rfn_aggregated_gap *gaps; /* ascending */
        size_t n;
    } * streams; /* by number */
    struct rfn_aggregated_gap *gaps;
    size_t n_gaps;
};

/* *aggregation is to be released, also after an error. RFN_E_CORRUPT, RFN_E_NOMEM, errors of
 * reading. */
int rfn_aggregation_read(const struct rfn_archive *archive, struct rfn_aggregation *aggregation,
                         struct rfn_diag *diag);
void rfn_aggregation_release(struct rfn_aggregation *aggregation);

struct rfn_aggregate_options {
    int64_t least_ns;                              /* negative: a thousandth of the run time */
    int64_t least_bytes;                           /* negative: 64 KiB */
    uint32_t terms;                                /* 0: 3; at most 8 */
    void (*progress)(void *context, double share); /* may be NULL */
    void *context;
};

struct rfn_aggregate_result {
    int64_t least_ns, least_bytes;
    uint64_t events_before, events, bytes_before, bytes;
};

/* Writes an archive without the calls that predictions do not need. RFN_E_NOTFOUND: there are no
 * times; RFN_E_RANGE: more than 8 terms; RFN_E_UNSUPPORTED: it is aggregated already; else as
 * rfn_predict_write. */
int rfn_aggregate(const struct rfn_archive *archive, const struct rfn_aggregate_options *options,
                  const char *path, bool force, struct rfn_aggregate_result *result,
                  struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
