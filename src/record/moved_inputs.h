/* moved_inputs.h - inputs that have moved to columns on some rank (reduce/stream.h) move on all, so
 * that streams that did the same have the same structure.
 *
 * What moved is known by function, call path and input; ranks join their sets by rfn_survey_run.
 */
#ifndef RFN_RECORD_MOVED_INPUTS_H
#define RFN_RECORD_MOVED_INPUTS_H

#include "record/describe.h"
#include "reduce/merge.h"

/* Collective: a survey of what has moved in the streams described, by which all ranks move it
 * (rfn_stream_move: the streams are to be settled then). The survey's counts are the caller's. */
int rec_moved_survey(const struct rec_description *description, struct rfn_survey *survey,
                     struct rfn_exchange *exchange, int error);

#endif
