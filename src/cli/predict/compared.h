/* compared.h - where a prediction and the recorded run that it is of part. */
#ifndef RFN_CLI_PREDICT_COMPARED_H
#define RFN_CLI_PREDICT_COMPARED_H

#include "cli/compare/compare.h"

struct rfn_prediction_compared {
    const char *real;      /* the recorded run */
    const char *predicted; /* the prediction as an archive, */
    const char *name;      /* and what it is called */
    bool json, all;
    size_t top, width;
};

/* Appends the page, or sets *value ("comparison", as `refrain compare --json REAL PREDICTED`). The
 * exit status; what is wrong has been said. */
int rfn_prediction_compare(const struct rfn_prediction_compared *what, struct rfn_text *out,
                           json_t **value);

#endif
