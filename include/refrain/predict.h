/* predict.h - how long a run would have taken if something in it were faster: what-if prediction
 * (Ino et al.; doc/whatif.md).
 *
 * Every event of the run begins and ends again, at the latest of what it waited for. What it then
 * takes itself is as recorded. So without an assumption the prediction is the recorded run, to the
 * nanosecond; an assumption makes some times shorter or longer, and all that waited for them ends
 * earlier or later. Many sets of assumptions, lanes, are predicted in one pass.
 */
#ifndef REFRAIN_PREDICT_H
#define REFRAIN_PREDICT_H

#include "refrain/archive.h"
#include "refrain/waits.h"

/* LogGPS: what a message takes. Times in nanoseconds. */
struct rfn_network {
    double latency_ns;      /* L, of the first byte */
    double overhead_ns;     /* o, of a processor, to send or receive */
    double gap_ns;          /* g, between two messages of a process */
    double gap_per_byte_ns; /* G */
    int64_t eager_bytes;    /* S: larger messages wait for their receive (rendezvous) */
};

/* Estimates L, o, G and S from the archive's own messages: L + 2 o and G are the lower envelope of
 * what messages took whose receiver waited, o the shortest call that sends or receives without
 * waiting, S the largest message sent before its receive was posted. Without such messages:
 * 1 us, 0.2 us, 1 ns per byte, 512 bytes. *estimated: from so many messages. RFN_E_NOMEM. */
int rfn_network_estimate(const struct rfn_archive *archive, struct rfn_network *network,
                         uint64_t *estimated, struct rfn_diag *diag);

enum rfn_assumed {
    RFN_ASSUME_COMPUTE,  /* what ranks compute */
    RFN_ASSUME_CALL,     /* what calls take themselves, when all that they wait for is there */
    RFN_ASSUME_WAIT,     /* how long calls wait */
    RFN_ASSUME_TRANSFER, /* the way of messages of some sizes */
    RFN_ASSUME_L,
    RFN_ASSUME_O,
    RFN_ASSUME_G,
};

/* Something takes `factor` times as long; 0: it is gone. */
struct rfn_assumption {
    enum rfn_assumed what;
    double factor; /* from 0 */
    /* Which: COMPUTE activities, or call sites (kind MPI) of CALL and WAIT; NULL: all. */
    bool (*takes)(const void *context, const struct rfn_activity *activity);
    const void *context;
    const bool *ranks;               /* by rank, of all; NULL: all */
    int64_t least_bytes, most_bytes; /* TRANSFER */
    bool single;                     /* only one event of each rank, of this number: a call, or */
    uint64_t event;                  /* the computation in front of it */
};

/* Assumptions that hold together; those on the same thing multiply. */
struct rfn_lane {
    const struct rfn_assumption *assumptions;
    size_t n;
};

struct rfn_prediction {
    int64_t recorded_ns;   /* the run: first enter to last exit */
    int64_t *predicted_ns; /* by lane */
    int64_t clamped_ns;    /* times that do not fit together: by how much things came later than
                              they were waited for, in all */
    uint64_t events;
};

/* Predicts n lanes. Needs times (RFN_E_NOTFOUND without). The result is to be released.
 * progress may be NULL. RFN_E_NOMEM. */
int rfn_predict(const struct rfn_archive *archive, const struct rfn_network *network,
                const struct rfn_lane *lanes, size_t n,
                void (*progress)(void *context, double share), void *context,
                struct rfn_prediction *prediction, struct rfn_diag *diag);
void rfn_prediction_release(struct rfn_prediction *prediction);

/* Predicts a lane and writes the run as it is predicted: an archive with the same calls, and full
 * times, that says in META what is assumed (`assumed`: "rank:3 x 0.5"; "" or NULL: nothing). What
 * was measured beside the calls is not in it: clocks, what processes used, merging. Times that many
 * unsuccessful polls had do not end behind the call that they waited for. The prediction is to be
 * released after 0; *bytes: the file's size. Errors of rfn_predict; RFN_E_EXISTS where there is
 * such a file, unless `force`; RFN_E_INCOMPLETE where the archive is; RFN_E_IO, RFN_E_USAGE (the
 * path is the archive itself), RFN_E_CORRUPT. */
int rfn_predict_write(const struct rfn_archive *archive, const struct rfn_network *network,
                      const struct rfn_lane *lane, const char *assumed, const char *path,
                      bool force, void (*progress)(void *context, double share), void *context,
                      struct rfn_prediction *prediction, uint64_t *bytes, struct rfn_diag *diag);

/* ---- which assumption saves most ---- */

/* Something that may be mended. */
struct rfn_remedy {
    struct rfn_assumption assumption; /* how it is mended: its factor */
    int64_t bound_ns;                 /* it cannot save more; INT64_MAX: not known */
    bool evaluated;                   /* else it saves less than those that are */
    int64_t saved_ns;                 /* of the run time, as assumed, */
    int64_t saved_half_ns;            /* and with a factor halfway between that and 1 */
};

/* What each of n remedies saves beside `given`, which is predicted, too; most saved first,
 * those that are not evaluated by bound. Where bounds say that a remedy is not among the `best`
 * ones it is left out. RFN_E_NOMEM, RFN_E_NOTFOUND. */
int rfn_remedies_rank(const struct rfn_archive *archive, const struct rfn_network *network,
                      const struct rfn_lane *given, struct rfn_remedy *remedies, size_t n,
                      size_t best, void (*progress)(void *context, double share), void *context,
                      struct rfn_prediction *prediction, struct rfn_diag *diag);

#endif
