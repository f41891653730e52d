/* own_times.h - when the recorder itself worked on each thread, between two calls (USAGE). */
#ifndef RFN_ANALYZE_MATCH_OWN_TIMES_H
#define RFN_ANALYZE_MATCH_OWN_TIMES_H

#include "analyze/match/matching.h"
#include "analyze/match/recording_off.h"
#include "refrain/usage.h"

/* Those of a stream whose cursor this is, on the clock of the run; none where its times are those
 * of another stream. To be released with rfn_off_times_release. RFN_E_NOMEM. */
int rfn_own_times_of(const struct rfn_stream_usage *of, struct rfn_cursor *cursor,
                     struct rfn_off_times *own);
/* The same for all streams of a run, before it is replayed, as far as USAGE can be read. The times
 * of a stream go to *of(context, stream), which is empty before. RFN_E_NOMEM. */
int rfn_own_times_find(const struct rfn_match *match,
                       struct rfn_off_times *(*of)(void *context, uint32_t stream), void *context);

#endif
