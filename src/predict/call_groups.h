/* call_groups.h - which calls stay in an archive that is aggregated (refrain/aggregation.h), and
 * which only stay or go together: both ends of a message, what makes a request and what completes
 * it, all ranks' parts in a collective call. Calls are numbered over all streams.
 */
#ifndef RFN_PREDICT_CALL_GROUPS_H
#define RFN_PREDICT_CALL_GROUPS_H

#include "refrain/archive.h"

struct rfn_call_groups {
    uint64_t *first;  /* by stream: the number of its first call */
    uint32_t *parent; /* by call: another one of its group, itself of one that stands for it */
    bool *stays;      /* by call: it has to stay */
    uint64_t n;
};

/* To be released, also on failure. RFN_E_NOMEM; RFN_E_RANGE: too many calls. */
int rfn_call_groups_init(struct rfn_call_groups *groups, const struct rfn_archive *archive);
void rfn_call_groups_release(struct rfn_call_groups *groups);

static inline uint32_t rfn_call_number(const struct rfn_call_groups *groups, uint32_t stream,
                                       uint64_t event)
{
    return (uint32_t)(groups->first[stream] + event);
}

void rfn_call_groups_join(struct rfn_call_groups *groups, uint32_t a, uint32_t b);
void rfn_call_groups_stay(struct rfn_call_groups *groups, uint32_t call);
/* Whether its whole group may go. */
bool rfn_call_groups_goes(const struct rfn_call_groups *groups, uint32_t call);

/* What each call says of itself: only messages and their completions, collective calls on
 * communicators, and calls that tell something can go; not the first and last of a stream, failed
 * ones, unsuccessful polls, nor any of a process with several threads. Joins calls by their
 * requests. Reads all events. RFN_E_NOMEM, or errors of reading. */
int rfn_call_groups_read(struct rfn_call_groups *groups, const struct rfn_archive *archive,
                         struct rfn_diag *diag);

#endif
