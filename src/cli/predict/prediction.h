/* prediction.h - what `refrain predict` tells of a run on another machine. */
#ifndef RFN_CLI_PREDICT_PREDICTION_H
#define RFN_CLI_PREDICT_PREDICTION_H

#include "cli/predict/compute_rates.h"
#include "refrain/simulate.h"
#include "refrain/text.h"

#include <jansson.h>

struct rfn_prediction_page {
    const char *file, *platform_file;
    const struct rfn_platform *platform;
    const uint32_t *hosts; /* by rank */
    bool on_simgrid; /* it tells neither waiting nor the use of links nor all of its parameters */
    const struct rfn_simulate_options *options;
    const struct rfn_simulated *simulated;
    const struct rfn_archive *archive; /* NULL: text */
    enum rfn_action_unit unit;
    const char *assumed;                   /* "on cluster.xml, rank:3 x 0.5": all that is */
    const struct rfn_compute_rates *rates; /* NULL: none */
    const char *output; /* the prediction is an archive there, of so many bytes; or NULL */
    uint64_t bytes;
    bool brief;   /* neither ranks, links nor the model */
    size_t top;   /* so many ranks and links */
    size_t width; /* columns */
};

void rfn_prediction_text(struct rfn_text *out, const struct rfn_prediction_page *page);
/* NULL: memory ran out. */
json_t *rfn_prediction_json(const struct rfn_prediction_page *page);

#endif
