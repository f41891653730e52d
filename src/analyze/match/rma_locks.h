/* rma_locks.h - who waits for whom at the locks of one window.
 *
 * A part of one_sided.c. Ranks are those of the window's communicator;
 * RFN_ALL_TARGETS as a target is MPI_Win_lock_all and what goes with it, a shared lock.
 */
#ifndef RFN_ANALYZE_MATCH_RMA_LOCKS_H
#define RFN_ANALYZE_MATCH_RMA_LOCKS_H

#include "analyze/match/match_point.h"
#include "base/map.h"

#define RFN_ALL_TARGETS UINT32_MAX

enum { RFN_UNLOCKS = 4 }; /* how many ranks' last unlocks are remembered */

/* An unlock, at its end or its beginning. */
struct rfn_unlock {
    struct rfn_point point;
    uint32_t rank;
    bool used, exclusive;
    int64_t locked_ns; /* the end of the call that locked */
};

/* Of every rank its last, the latest first; exclusive and all. */
struct rfn_unlocks {
    struct rfn_unlock exclusive[RFN_UNLOCKS], any[RFN_UNLOCKS];
};

struct rfn_lock_target {
    struct rfn_unlocks ended, begun;
};

/* Zeros are a window without locks. */
struct rfn_rma_locks {
    struct rfn_map locks;            /* rank, target -> struct rfn_lock */
    struct rfn_map targets;          /* target -> struct rfn_lock_target */
    struct rfn_lock_target anywhere; /* exclusive locks of any target */
};

/* Of the types of locks as MPIs number them. */
static inline bool rfn_lock_is_exclusive(int64_t type)
{
    enum { EXCLUSIVE = 1, EXCLUSIVE_MPICH = 234 }; /* shared: 2, 235 */
    return type == EXCLUSIVE || type == EXCLUSIVE_MPICH;
}

/* A lock epoch that is open. */
struct rfn_lock {
    bool exclusive, no_check; /* with MPI_MODE_NOCHECK nothing conflicts */
    int64_t entered_ns, locked_ns;
};

/* A call of rank `own`, which began at entered_ns; `locking`: it is one that locks. */
struct rfn_lock_call {
    uint32_t own, target;
    bool locking;
    int64_t entered_ns;
};

void rfn_rma_locks_release(struct rfn_rma_locks *contention);

/* The lock epoch that a call is in: of its target, or of all; NULL when it is in none. */
const struct rfn_lock *rfn_rma_locks_around(const struct rfn_rma_locks *contention,
                                            const struct rfn_lock_call *call);

/* A call that locks begins, and ends. RFN_E_NOMEM. */
int rfn_rma_locks_lock(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                       bool exclusive, bool no_check);
void rfn_rma_locks_locked(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                          int64_t left_ns);

/* A call that unlocks begins, and ends: then the epoch is over. RFN_E_NOMEM. */
int rfn_rma_locks_unlock(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                         struct rfn_point here);
int rfn_rma_locks_unlocked(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                           struct rfn_point left);

/* Whether a call in a lock epoch, which ended at left_ns, waited for another rank; *until is when
 * that gave the lock up. */
bool rfn_rma_locks_waited(const struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                          int64_t left_ns, struct rfn_point *until);

#endif
