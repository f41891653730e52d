/* collective_ops.h - a collective call as the messages of its algorithm.
 *
 * For one rank of one collective action, this makes the operations that the algorithm makes there,
 * in order:
 *
 *   SEND, RECV     over when the message is (SEND: as MPI_Send)
 *   ISEND, IRECV   post a request; requests of a call are numbered from 0 in the order of posting
 *   WAIT           until requests first ... first + n - 1 are over
 *   COMPUTE        a volume, in the unit of the action's source
 *
 * MPI_Sendrecv is ISEND, IRECV and a WAIT for both. A call that does not block uses the linear
 * algorithm of its kind, as SMPI does: all posts come first, then one WAIT. A caller makes the
 * posts at the call, and what follows them where the call's request is waited for.
 *
 * Algorithms are chosen by size and ranks as a library chooses them (enum rfn_coll_choice;
 * doc/prediction.md has the table). Tags are negative, and SMPI's: no message meets one of the
 * program. Messages of two communicators need not be kept apart, as ranks call collectives of a
 * communicator in the same order; keeping them apart does no harm.
 */
#ifndef RFN_SIMULATE_COLLECTIVES_COLLECTIVE_OPS_H
#define RFN_SIMULATE_COLLECTIVES_COLLECTIVE_OPS_H

#include "refrain/actions.h"

enum rfn_coll_choice {
    RFN_COLL_CHOICE_SIMGRID, /* SMPI's, smpi/coll-selector default */
    RFN_COLL_CHOICE_MPICH,
    RFN_COLL_CHOICE_OMPI, /* the fixed decisions of Open MPI since 4.1 */
    RFN_COLL_CHOICES
};

enum rfn_coll_kind {
    RFN_COLL_SEND,    /* peer, tag, bytes */
    RFN_COLL_RECV,    /* peer or RFN_COLL_ANY, tag, bytes */
    RFN_COLL_ISEND,   /* as SEND */
    RFN_COLL_IRECV,   /* as RECV */
    RFN_COLL_WAIT,    /* first, n */
    RFN_COLL_COMPUTE, /* volume */
};

struct rfn_coll_op {
    enum rfn_coll_kind kind;
    int32_t tag;
    uint32_t peer; /* rank in the communicator; of RECV and IRECV also RFN_COLL_ANY */
    uint32_t n;    /* WAIT */
    union {
        int64_t bytes;
        uint64_t first;
        double volume;
    };
    int64_t at; /* where its part of the call's data begins; only tests follow the data by it */
};

#define RFN_COLL_ANY UINT32_MAX

/* Operations, in memory of the caller's that grows: start with {0}, set n to 0 to use it again,
 * release it by free(ops->ops). */
struct rfn_coll_ops {
    struct rfn_coll_op *ops;
    size_t n, capacity;
    uint32_t requests; /* posted by the call */
};

/* "simgrid", "mpich", "ompi"; NULL for other numbers, and -1 for other names. */
const char *rfn_coll_choice_name(enum rfn_coll_choice which);
int rfn_coll_choice_named(const char *name);

/* Whether the kind is one of a collective call (RFN_ACTION_BARRIER to REDUCE_SCATTER). */
bool rfn_action_is_collective(enum rfn_action_kind kind);

/* What rank `rank` of `size` ranks does in the action: ops are set, not appended to. Vectors of V
 * kinds may be NULL where MPI does not look at them: receives of GATHERV and sends of SCATTERV on
 * other ranks than the root. RFN_E_USAGE: a rank or root that is not there, a vector that is not
 * there, not a collective action; RFN_E_NOMEM. */
int rfn_collective_ops(enum rfn_coll_choice which, const struct rfn_action *action, uint32_t size,
                       uint32_t rank, struct rfn_coll_ops *ops);

#endif
