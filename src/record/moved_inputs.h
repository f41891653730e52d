/* moved_inputs.h - inputs that have moved to columns on some rank (reduce/stream.h) move on all, so
 * that streams that did the same have the same structure.
 *
 * What moved is known by function, call path and input; ranks join their sets by rfn_survey_run.
 */
#ifndef RFN_RECORD_MOVED_INPUTS_H
#define RFN_RECORD_MOVED_INPUTS_H

#include "base/map.h"
#include "record/describe.h"

/* Adds what has moved in the streams described; RFN_E_NOMEM. */
int rec_moved_note(const struct rec_description *description, struct rfn_map *set);
/* Moves what is in the set, by rfn_stream_move: the streams are to be settled then. */
int rec_moved_take(const struct rec_description *description, const struct rfn_map *set);

#endif
