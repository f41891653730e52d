/* own_times.h - when the recorder itself worked on each thread, between two calls (USAGE). */
#ifndef RFN_ANALYZE_MATCH_OWN_TIMES_H
#define RFN_ANALYZE_MATCH_OWN_TIMES_H

#include "analyze/match/recording_off.h"
#include "refrain/usage.h"

/* By stream, on the clock of the run; *by_stream is NULL where the archive tells nothing, else has
 * as many as there are streams. To be freed, also after an error. What is damaged counts as not
 * there. RFN_E_NOMEM. */
int rfn_own_times_by_stream(const struct rfn_archive *archive, const struct rfn_usage *usage,
                            struct rfn_off_times **by_stream);
void rfn_own_times_free(const struct rfn_archive *archive, struct rfn_off_times *by_stream);

#endif
