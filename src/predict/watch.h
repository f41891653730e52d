/* watch.h - looks on while the first lane is predicted: what the steps are, what calls need and how
 * long its way takes, and when each call begins and ends.
 */
#ifndef RFN_PREDICT_WATCH_H
#define RFN_PREDICT_WATCH_H

#include "predict/steps.h"
#include "refrain/predict.h"

/* Something that a call needs, in the recorded model: as recorded it was there `way_ns` after
 * `ready_ns`. */
struct rfn_watched_need {
    const struct rfn_need *need;
    int64_t ready_ns, way_ns;
    bool rendezvous; /* a message that needs both ends */
};

struct rfn_predict_watch {
    void *context;
    /* The steps, before they are predicted; NULL: they are not looked at. `leave` is not called. */
    const struct rfn_step_hooks *steps;
    /* A call leaves: what it needs; it is predicted already. May be NULL. */
    int (*needed)(void *context, const struct rfn_steps *steps, const struct rfn_step *step,
                  const struct rfn_watched_need *needs, size_t n);
    /* A call has left, in the order of its stream: by how much earlier than recorded it begins and
     * ends. Of a call that ends polls step->enter_ns is the enter of the first of these. May be
     * NULL. 0 or a negative error, which ends the prediction; so of all. */
    int (*left)(void *context, const struct rfn_step *step, int64_t enter_early_ns,
                int64_t exit_early_ns);
};

/* As rfn_predict, of at least one lane. */
int rfn_predict_watched(const struct rfn_archive *archive,
                        const struct rfn_predict_options *options,
                        const struct rfn_predict_watch *watch, struct rfn_prediction *prediction,
                        struct rfn_diag *diag);

#endif
