/* keep_predictions.h - refrain reduce --keep-predictions: an archive without the calls that
 * predictions do not need (refrain/aggregation.h). */
#ifndef RFN_CLI_KEEP_PREDICTIONS_H
#define RFN_CLI_KEEP_PREDICTIONS_H

#include "refrain/aggregation.h"

#include <argp.h>

/* TIME[,SIZE], or a usage error; NULL: by default. */
void rfn_keep_predictions_argument(struct argp_state *state, const char *text,
                                   struct rfn_aggregate_options *options);
/* Writes the archive, and says how much of it is left. Returns the exit status. */
int rfn_keep_predictions(const struct rfn_archive *archive, const char *file,
                         struct rfn_aggregate_options *options, const char *output, bool force,
                         bool json);

#endif
