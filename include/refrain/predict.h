/* predict.h - how long a run would have taken if something in it were faster: what-if prediction
 * (Ino et al.; doc/whatif.md).
 *
 * Every event of the run begins and ends again, at the latest time of the events that it waited
 * for. The time that it then takes itself is as recorded. So without an assumption the prediction
 * is the recorded run, to the nanosecond; an assumption makes some times shorter or longer, and all
 * that waited for them ends earlier or later. Many sets of assumptions, lanes, are predicted in one
 * pass.
 */
#ifndef REFRAIN_PREDICT_H
#define REFRAIN_PREDICT_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"
#include "refrain/network.h"
#include "refrain/waits.h"

/* Estimates L, o, G and S from the archive's own messages: L + 2 o and G are the lower envelope of
 * the times of messages whose receiver waited, o the shortest call that sends without waiting, S
 * the largest message sent before its receive was posted; of the first 32,768 calls. Without such
 * messages rfn_network_assumed. *estimated: from so many messages. RFN_E_NOMEM. */
int rfn_network_estimate(const struct rfn_archive *archive, struct rfn_network *network,
                         uint64_t *estimated, struct rfn_diag *diag);

enum rfn_assumed {
    RFN_ASSUME_COMPUTE, /* what ranks compute */
    RFN_ASSUME_CALL,    /* what calls take themselves, when all that they wait for is there */
    RFN_ASSUME_WAIT,    /* how long calls wait, also while messages come */
    RFN_ASSUME_LATE, /* how long calls wait until others have come; then messages take their way */
    RFN_ASSUME_TRANSFER, /* the way of messages of some sizes */
    RFN_ASSUME_IDEAL,    /* a network without any cost: messages come, and calls end, as soon as all
                            that they need is there, whatever the factor */
    RFN_ASSUME_L,
    RFN_ASSUME_O,
    RFN_ASSUME_G,
    RFN_ASSUME_S, /* messages up to this size are sent whoever receives them. Of a smaller one:
                     sends that ended before their receive was posted still do */
};

/* Something takes `factor` times as long; 0: it is gone. Or no single one takes longer than a cap.
 */
struct rfn_assumption {
    enum rfn_assumed what;
    double factor;  /* from 0 */
    int64_t cap_ns; /* COMPUTE, CALL, WAIT; 0: none */
    /* Which: COMPUTE activities, or call sites (kind MPI) of CALL and WAIT; NULL: all. */
    bool (*takes)(const void *context, const struct rfn_activity *activity);
    const void *context;
    const bool *ranks;               /* by rank, of all; NULL: all */
    int64_t least_bytes, most_bytes; /* TRANSFER */
    bool single;                     /* only one event of each rank, of this number: a call, or */
    uint64_t event;                  /* the computation in front of it */
};

/* Assumptions that hold together; those on the same thing multiply, and the
 * least cap holds. */
struct rfn_lane {
    const struct rfn_assumption *assumptions;
    size_t n;
};

/* A request for predictions; all borrowed. */
struct rfn_predict_options {
    const struct rfn_network *network;
    const struct rfn_lane *lanes;
    size_t n;
    const int64_t *points_ns; /* ascending, since the first enter; NULL: none */
    size_t n_points;
    void (*progress)(void *context, double share); /* or NULL */
    void *context;
};

struct rfn_prediction {
    int64_t recorded_ns;   /* the run: first enter to last exit */
    int64_t *predicted_ns; /* by lane */
    int64_t *reached_ns;   /* by point, in each by rank, in each by lane: when the rank comes as far
                              in the prediction as it was at the point, since the first enter */
    int64_t *outside_ns;   /* by point, in each by rank: outside of MPI until then, as recorded, of
                              all threads */
    int64_t clamped_ns;    /* times that do not fit together: by how much things came later than
                              they were waited for, in all */
    uint64_t overtaken;    /* messages to MPI_ANY_SOURCE that in the first lane came before another
                              one that was received earlier */
    uint64_t events;
};

/* Predicts n lanes. Needs times (RFN_E_NOTFOUND without). The result is to be released.
 * RFN_E_NOMEM. */
int rfn_predict(const struct rfn_archive *archive, const struct rfn_predict_options *options,
                struct rfn_prediction *prediction, struct rfn_diag *diag);
void rfn_prediction_release(struct rfn_prediction *prediction);

/* Predicts a lane and writes the run as it is predicted: an archive with the same calls, and full
 * times, that gives the assumptions in META (`assumed`: "rank:3 x 0.5"; "" or NULL: nothing).
 * Measurements beside the calls are not in it: clocks, usage of processes, merging. Times that many
 * unsuccessful polls had do not end behind the call that they waited for. The prediction is to be
 * released after 0; *bytes: the file's size. Errors of rfn_predict; RFN_E_EXISTS where there is
 * such a file, unless `force`; RFN_E_INCOMPLETE where the archive is; RFN_E_IO, RFN_E_USAGE (the
 * path is the archive itself), RFN_E_CORRUPT. */
int rfn_predict_write(const struct rfn_archive *archive, const struct rfn_predict_options *options,
                      const char *assumed, const char *path, bool force,
                      struct rfn_prediction *prediction, uint64_t *bytes, struct rfn_diag *diag);

/* ---- which single event saves most ---- */

/* A call, waiting included, or what a stream computes before one. */
struct rfn_event_gain {
    uint32_t rank, stream;
    uint64_t index;               /* of the call in its stream, as `refrain dump` counts */
    struct rfn_activity activity; /* kind MPI: a call; COMPUTE: the computation before it */
    int64_t saved_ns;             /* of the run time, if it took no time */
    int64_t enter_ns, ns;         /* since the first enter, and how long it takes */
};

struct rfn_event_gains {
    struct rfn_event_gain *events; /* most saved first */
    size_t n;
    struct rfn_event_gain *waits; /* the calls that wait longest, longest first: ns; saved_ns 0 */
    size_t n_waits;
};

/* Of all events the exact gain, by one pass forward and one back over the run as a graph
 * (doc/whatif.md, Single events); *gains has those that save most, at most `most`. The only lane of
 * the options holds beside, and is predicted, too. Memory grows with the run, by some 200 bytes per
 * event. Both results are to be released. RFN_E_NOMEM; RFN_E_RANGE: there are too many events;
 * RFN_E_UNSUPPORTED: waits are scaled. */
int rfn_predict_events(const struct rfn_archive *archive, const struct rfn_predict_options *options,
                       size_t most, struct rfn_event_gains *gains,
                       struct rfn_prediction *prediction, struct rfn_diag *diag);
void rfn_event_gains_release(struct rfn_event_gains *gains);

/* ---- the run time as a function ---- */

/* Between two points the run time is a straight line. */
struct rfn_curve_point {
    double factor;
    int64_t run_ns;
};

struct rfn_curve {
    struct rfn_curve_point *points; /* ascending; the first and the last are the ends */
    size_t n;
    double tolerated; /* with this factor the run takes 1 % longer than with 1; INFINITY: with none
                         that was tried, up to a million */
};

/* The run time when something takes from `from` to `to` times as long, with all points where its
 * slope changes, as far as they can be told apart; `given` holds beside it. n assumptions make the
 * something. *curve is to be released. RFN_E_NOMEM, RFN_E_NOTFOUND. */
int rfn_predict_curve(const struct rfn_archive *archive, const struct rfn_predict_options *given,
                      const struct rfn_assumption *assumptions, size_t n, double from, double to,
                      struct rfn_curve *curve, struct rfn_diag *diag);
void rfn_curve_release(struct rfn_curve *curve);

/* ---- which assumption saves most ---- */

/* Something that may be made faster. */
struct rfn_remedy {
    struct rfn_assumption assumption; /* how much faster it gets: its factor */
    int64_t bound_ns;                 /* it cannot save more; INT64_MAX: not known */
    bool evaluated;                   /* else it saves less than those that are */
    int64_t saved_ns;                 /* of the run time, as assumed, */
    int64_t saved_half_ns;            /* with a factor halfway between that and 1, */
    int64_t saved_first_ns;           /* and with the first hundredth of the way from 1 */
};

/* What each of n remedies saves beside `given`, which is predicted, too; most saved first,
 * those that are not evaluated by bound. Where bounds say that a remedy is not among the `best`
 * ones it is left out. RFN_E_NOMEM, RFN_E_NOTFOUND. */
int rfn_remedies_rank(const struct rfn_archive *archive, const struct rfn_network *network,
                      const struct rfn_lane *given, struct rfn_remedy *remedies, size_t n,
                      size_t best, void (*progress)(void *context, double share), void *context,
                      struct rfn_prediction *prediction, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
