/* varying_params_sync.h - inputs that have moved to columns on some rank (reduce/fold/stream.h)
 * move on all, so that streams that did the same have the same structure.
 *
 * What moved is known by function, call path and input; ranks join their sets by rfn_survey_run.
 */
#ifndef RFN_RECORD_FINISH_VARYING_PARAMS_SYNC_H
#define RFN_RECORD_FINISH_VARYING_PARAMS_SYNC_H

#include "record/finish/definitions.h"
#include "reduce/merge/merge.h"

/* Collective: a survey of what has moved in the streams described, by which all ranks move it
 * (rfn_stream_move: the streams are to be settled then). The survey's counts are the caller's. */
int rec_varying_params_survey(const struct rec_definitions *description, struct rfn_survey *survey,
                              struct rfn_exchange *exchange, int error);

#endif
