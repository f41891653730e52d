/* operations.h - what becomes of a recorded call when a program is replayed.
 *
 * Who can issue operations says which (can_issue); of the others those that only concern the
 * calling rank (MPI_Comm_rank, datatypes, attributes) are local, and nobody misses them; what
 * communicates otherwise (files, processes that are started) is skipped.
 *
 * What an event refers to has to be there: a communicator, group or window that was made by a call
 * that was skipped is not, so calls on it are skipped, too. The same rule, shown the same events,
 * decides in the survey and in the replay.
 */
#ifndef RFN_REPLAY_OPERATIONS_H
#define RFN_REPLAY_OPERATIONS_H

#include "analyze/call_words.h"
#include "refrain/volume.h"

enum rpl_treatment {
    RPL_NO_CALL, /* a region's begin, say */
    RPL_BEGIN,   /* MPI_Init */
    RPL_END,     /* MPI_Finalize */
    RPL_LOCAL,   /* not issued, and not missed */
    RPL_ISSUE,
    RPL_SKIP,  /* cannot be replayed */
    RPL_FAILED /* returned an error when it was recorded: not issued */
};

enum { RPL_SLOTS_MAX = 1 << 20 }; /* a handle's slot above this is none that a recorder gave */

struct rpl_operations {
    const struct rfn_archive *archive;
    uint8_t *treatments; /* by function: enum rpl_treatment */
    uint32_t n;
};

/* RFN_E_NOMEM. */
int rpl_operations_init(struct rpl_operations *operations, const struct rfn_archive *archive,
                        bool (*can_issue)(enum rfn_operation operation,
                                          enum rfn_call_variant variant));
void rpl_operations_release(struct rpl_operations *operations);

/* A collective call that all members of its communicator make, in one order. */
bool rpl_is_ordered(const struct rfn_call_event *call);

/* What a rank gives to a reduction, in MPI_Reduce_scatter_block to each rank's part of it. */
int64_t rpl_reduced_bytes(const struct rfn_call_event *call);

/* What was received is what was asked for where that was not anything: MPICH 4.0 does not fill in
 * the status of MPI_Isendrecv. */
static inline void rpl_match(struct rfn_volume *volume, int64_t source, int64_t tag)
{
    if (source != RFN_ANY)
        volume->source = source;
    if (tag != RFN_ANY)
        volume->tag = tag;
}

/* ---- what is there ---- */

/* Which communicators, groups and windows calls that were issued have made. */
struct rpl_known {
    bool *comms; /* by archive number */
    bool *groups, *wins;
    size_t groups_capacity, wins_capacity;
    uint32_t n_comms;
};

int rpl_known_init(struct rpl_known *known, const struct rfn_archive *archive);
void rpl_known_release(struct rpl_known *known);

/* What becomes of an event, which is noted. Unsuccessful polls are for the caller. A negative error
 * or an enum rpl_treatment. */
int rpl_decide(struct rpl_known *known, const struct rpl_operations *operations,
               const struct rfn_call_event *call);

#endif
