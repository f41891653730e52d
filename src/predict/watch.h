/* watch.h - looks on while the first lane is predicted: when each call of a stream begins and ends.
 */
#ifndef RFN_PREDICT_WATCH_H
#define RFN_PREDICT_WATCH_H

#include "predict/steps.h"
#include "refrain/predict.h"

struct rfn_predict_watch {
    void *context;
    /* A call has left, in the order of its stream: by how much earlier than recorded it begins and
     * ends. Of a call that ends polls step->enter_ns is the enter of the first of these, and the
     * times of its record are its own. 0 or a negative error, which ends the prediction. */
    int (*left)(void *context, const struct rfn_step *step, int64_t enter_early_ns,
                int64_t exit_early_ns);
};

/* As rfn_predict, of at least one lane. */
int rfn_predict_watched(const struct rfn_archive *archive, const struct rfn_network *network,
                        const struct rfn_lane *lanes, size_t n,
                        const struct rfn_predict_watch *watch,
                        void (*progress)(void *context, double share), void *context,
                        struct rfn_prediction *prediction, struct rfn_diag *diag);

#endif
