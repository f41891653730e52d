/* process_groups.h - streams whose executions went alike share one profile (Mohror 2010, 4.2.3).
 *
 * Two streams match when they executed the same segments in the same order and each pair of
 * executions is similar: the representatives' vectors, and the starts, which count as one more
 * element of them. Sets of streams are joined along a binary tree over the streams in order, as
 * ranks would join them at the end of a run. The lowest stream of a set stands for it.
 */
#ifndef RFN_ANALYZE_PROCESS_GROUPS_H
#define RFN_ANALYZE_PROCESS_GROUPS_H

#include "analyze/trace_profile.h"

/* Sets which stream stands for each, with profile->across (each for itself if it has no method),
 * and the classes. Messages were compared already: only streams that the archive has in one group
 * (equal calls, peers at equal offsets or equal) can match. RFN_E_NOMEM. */
int rfn_process_groups_find(struct rfn_trace_profile *profile);

#endif
