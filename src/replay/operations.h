/* operations.h - what replay makes of a recorded call: its name without variants, what becomes of
 * it, and where its parameters stand.
 *
 * A variant of a call (MPI_Ibcast, MPI_Bcast_init, MPI_Bcast_c) is the operation Bcast in a mode.
 * Who can issue operations says which (handler_of); of the others those that only concern the
 * calling rank (MPI_Comm_rank, datatypes, attributes) are local, and nobody misses them; what
 * communicates otherwise (files, processes that are started) is skipped.
 *
 * What an event refers to has to be there: a communicator, group or window that was made by a call
 * that was skipped is not, so calls on it are skipped, too. The same rule, shown the same events,
 * decides in the survey and in the replay.
 */
#ifndef RFN_REPLAY_OPERATIONS_H
#define RFN_REPLAY_OPERATIONS_H

#include "analyze/places.h"
#include "refrain/archive.h"
#include "refrain/event.h"
#include "refrain/volume.h"

/* Inputs by their names in the MPI standard. */
#define RPL_ROLES(X)     \
    RFN_VOLUME_INPUTS(X) \
    X(sendtag)           \
    X(op)                \
    X(target_disp)       \
    X(win)               \
    X(size)              \
    X(disp_unit)         \
    X(lock_type)         \
    X(rank)              \
    X(group)             \
    X(group1)            \
    X(group2)            \
    X(n)                 \
    X(ranks)             \
    X(ranges)            \
    X(color)             \
    X(key)               \
    X(local_leader)      \
    X(peer_comm)         \
    X(remote_leader)     \
    X(high)              \
    X(ndims)             \
    X(dims)              \
    X(periods)           \
    X(remain_dims)       \
    X(nnodes)            \
    X(index)             \
    X(edges)             \
    X(indegree)          \
    X(sources)           \
    X(outdegree)         \
    X(destinations)      \
    X(degrees)           \
    X(message)           \
    X(partition)         \
    X(partition_low)     \
    X(partition_high)    \
    X(array_of_partitions)

enum rpl_role {
#define RPL_X_(name) RPL_##name,
    RPL_ROLES(RPL_X_)
#undef RPL_X_
        RPL_N_ROLES
};

enum rpl_mode { RPL_BLOCKING, RPL_NONBLOCKING, RPL_PERSISTENT };

enum rpl_treatment {
    RPL_NO_CALL, /* a region's begin, say */
    RPL_BEGIN,   /* MPI_Init */
    RPL_END,     /* MPI_Finalize */
    RPL_LOCAL,   /* not issued, and not missed */
    RPL_ISSUE,
    RPL_SKIP,  /* cannot be replayed */
    RPL_FAILED /* returned an error when it was recorded: not issued */
};

enum { RPL_NAME_SIZE = 48 };
enum { RPL_SLOTS_MAX = 1 << 20 }; /* a handle's slot above this is none that a recorder gave */

struct rpl_operation {
    char name[RPL_NAME_SIZE]; /* "Bcast" of MPI_Ibcast */
    enum rpl_mode mode;
    enum rpl_treatment treatment;
    int handler; /* as handler_of said, -1 none */
    uint8_t class_;
    bool sends, receives; /* messages from point to point */
    bool ordered; /* a collective call that all members of its communicator make, in one order */
    bool communicates;      /* concerns others than the calling rank */
    bool refused;           /* a replay is not possible with it: sessions, MPI_Abort */
    int8_t in[RPL_N_ROLES]; /* place of the input, -1 */
    int8_t comm;            /* place of the call's communicator among the inputs, -1 */
};

struct rpl_operations {
    const struct rfn_archive *archive;
    struct rpl_operation *of; /* by function */
    uint32_t n;
};

/* handler_of: a number for the operations that can be issued, -1 for others. RFN_E_NOMEM. */
int rpl_operations_init(struct rpl_operations *operations, const struct rfn_archive *archive,
                        int (*handler_of)(const char *name, enum rpl_mode mode));
void rpl_operations_release(struct rpl_operations *operations);

/* ---- one call ---- */

struct rpl_call {
    const struct rfn_archive *archive;
    const struct rpl_operation *operation;
    const struct rfn_cursor *cursor;
    const struct rfn_record *record;
    uint32_t rank; /* whose event it is */
};

static inline bool rpl_has(const struct rpl_call *call, enum rpl_role role)
{
    return call->operation->in[role] >= 0;
}

/* The word of an input, or `otherwise` if the call has no such input. */
static inline int64_t rpl_word(const struct rpl_call *call, enum rpl_role role, int64_t otherwise)
{
    int at = call->operation->in[role];
    return at < 0 ? otherwise : call->record->in[at];
}

/* The communicator of the call, -1 without. */
int64_t rpl_comm(const struct rpl_call *call);
/* The first outcome of a kind, RFN_UNKNOWN without. */
int64_t rpl_outcome(const struct rpl_call *call, uint8_t kind);
/* Bytes in an element of a datatype; 0 of none. */
int64_t rpl_type_bytes(const struct rpl_call *call, int64_t type);
/* Bytes of `count` elements of `type`, 0 where one of them means nothing. Products that do not fit
 * are INT64_MAX. */
int64_t rpl_bytes(const struct rpl_call *call, enum rpl_role count, enum rpl_role type);
/* What a rank gives to a reduction, in MPI_Reduce_scatter_block to each rank's part of it. */
int64_t rpl_reduced_bytes(const struct rpl_call *call);
int64_t rpl_times(int64_t a, int64_t b);
/* The words of a list; NULL and *n = 0 without. */
const int64_t *rpl_list(const struct rpl_call *call, enum rpl_role role, uint8_t kind, size_t *n);

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
int rpl_decide(struct rpl_known *known, const struct rpl_call *call);

#endif
