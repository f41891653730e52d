/* trackers.h - the trackers of requests (refrain/completion.h) of all processes of an archive. */
#ifndef RFN_ANALYZE_TRACKERS_H
#define RFN_ANALYZE_TRACKERS_H

#include "refrain/completion.h"

/* By rank; of a rank without streams there is none (NULL), save of rank 0. NULL: out of memory. */
struct rfn_tracker **rfn_trackers_new(const struct rfn_archive *archive);
void rfn_trackers_free(struct rfn_tracker **trackers, const struct rfn_archive *archive);

#endif
