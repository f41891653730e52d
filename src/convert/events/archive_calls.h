/* archive_calls.h - one call of an archive as an action, as far as its own words tell it.
 *
 * Peers become ranks of MPI_COMM_WORLD, counts become bytes, what MPI_IN_PLACE leaves out is taken
 * from the other side. Communicator number c of the archive is c + 1, MPI_COMM_WORLD 0.
 */
#ifndef RFN_CONVERT_EVENTS_ARCHIVE_CALLS_H
#define RFN_CONVERT_EVENTS_ARCHIVE_CALLS_H

#include "analyze/match/call_parts.h"
#include "refrain/actions.h"

/* Memory for lists of an action. */
struct rfn_action_sizes {
    int64_t *sizes;
    size_t capacity;
};

/* What cannot be told: why, and RFN_E_UNSUPPORTED. */
struct rfn_refusal {
    const char *why;
};

/* 1: *action is the message that the call sends, receives or probes, as asked for, and, of what
 * blocks, as it came; 0: it communicates with nobody; RFN_E_UNSUPPORTED. */
int rfn_message_action(const struct rfn_call_event *call, struct rfn_action *action,
                       struct rfn_refusal *refusal);
/* The same of a collective call; lists are in *sizes. RFN_E_NOMEM. */
int rfn_collective_action(const struct rfn_call_event *call, struct rfn_action_sizes *sizes,
                          struct rfn_action *action, struct rfn_refusal *refusal);

/* A peer of a message as a rank of MPI_COMM_WORLD: RFN_PROC_NULL, RFN_ACTION_ANY, or -1: none. */
int64_t rfn_action_peer(const struct rfn_call_event *call, int64_t comm, int64_t peer);
/* The number that actions have for a communicator. */
uint32_t rfn_action_comm(const struct rfn_archive *archive, int64_t comm);

#endif
