/* wait_leaving.h - an event that leaves, and what is found out about it: what wait_leave.c and
 * wait_receivers.c share.
 */
#ifndef RFN_ANALYZE_WAIT_LEAVING_H
#define RFN_ANALYZE_WAIT_LEAVING_H

#include "analyze/wait_pass.h"

struct rfn_leaving {
    struct rfn_wait_pass *pass;
    struct rfn_wait_stream *of;
    const struct rfn_replay_stream *at;
    uint32_t stream;
    struct rfn_wait wait;  /* the longest */
    struct rfn_wait after; /* what follows it: at the root of N x 1, for the last one */
    int64_t full_ns;       /* of both, before it was reduced to time inside MPI */
    int64_t completion_ns;
    enum rfn_pattern completion;
    uint64_t over_at; /* where in the stream's history the wait was over */
    bool in_step;
    uint64_t key, count; /* if in_step: of the mark */
    uint32_t late;       /* + 1: what is noted of it, if some receive cannot be measured yet */
    const struct rfn_message *longest;  /* whose wait it is, if that is for a message; else NULL */
    uint8_t any;                        /* wildcards of a probe that waited for it */
    const struct rfn_message *doubtful; /* whose receiver the call may have waited for, */
    int64_t doubtful_ns;                /* and how long */
    bool backward;                      /* some message is sent after the call's end */
    bool marked;                        /* the channels are that it receives from */
    bool at_window;                     /* the wait is */
};

/* wait_receivers.c: how long the call waited for the receiver of a message that it sent, or that
 * its requests did. ns 0: not, or that is not certain (leaving->doubtful). */
struct rfn_wait rfn_late_receiver(struct rfn_leaving *leaving, const struct rfn_message *message);
/* When all that the call awaited is measured: what is doubtful counts, or not. */
void rfn_settle_doubt(struct rfn_leaving *leaving);
/* Where times are reduced, before anything is measured: whether the event is to be shown again
 * (rfn_replay_ask_again), as receives may be posted a little later than the call ends. */
bool rfn_stays_for_receivers(struct rfn_leaving *leaving);
/* A message that the stream stays for is taken: whether it stays on, for another one. */
bool rfn_stays_on(struct rfn_wait_pass *pass, struct rfn_wait_stream *of);

#endif
