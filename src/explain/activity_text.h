/* activity_text.h - what findings ask of activities, beside their words. */
#ifndef RFN_EXPLAIN_ACTIVITY_TEXT_H
#define RFN_EXPLAIN_ACTIVITY_TEXT_H

#include "refrain/explain.h"

/* Whether it is in a call that polls (MPI_Test, MPI_Iprobe, ...), or between two calls of one such
 * place. */
bool rfn_activity_polls(const struct rfn_archive *archive, const struct rfn_activity *activity);

/* The function that a computation is a piece of work of: where it may have been called again, its
 * caller. NULL if it is not known, or for what is no computation. */
const char *rfn_activity_work(const struct rfn_archive *archive,
                              const struct rfn_activity *activity);

#endif
