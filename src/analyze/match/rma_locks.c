/* rma_locks.c - calls leave in order of time, so that of each rank its last unlock is all that a
 * call can have waited for.
 *
 * Lock contention ends when the holder's unlock does; or, where the call that waited ends before
 * the holder's unlock (the lock passes on while the unlock still returns), when that began. Then it
 * must be sure that the holder had the lock: its Win_lock was over before the waiting rank's began.
 * An MPI may take locks late, and of two ranks in unlock at once each would seem to wait. And who
 * has left Win_lock, and then waits in another call, does not wait for a rank that left its
 * Win_lock only after that call began: that one comes next, while the call is still returning.
 */
#include "analyze/match/rma_locks.h"

#include <stdlib.h>
#include <string.h>

static uint64_t key_of(uint32_t own, uint32_t target)
{
    return (uint64_t)own << 32 | target;
}

void rfn_rma_locks_release(struct rfn_rma_locks *contention)
{
    rfn_map_release_objects(&contention->locks, free);
    rfn_map_release_objects(&contention->targets, free);
    *contention = (struct rfn_rma_locks){0};
}

/* ---- epochs ---- */

static struct rfn_lock *lock_of(const struct rfn_rma_locks *contention,
                                const struct rfn_lock_call *call, uint32_t target)
{
    return rfn_map_object(&contention->locks, key_of(call->own, target));
}

const struct rfn_lock *rfn_rma_locks_around(const struct rfn_rma_locks *contention,
                                            const struct rfn_lock_call *call)
{
    const struct rfn_lock *lock = lock_of(contention, call, call->target);
    return lock ? lock : lock_of(contention, call, RFN_ALL_TARGETS);
}

int rfn_rma_locks_lock(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                       bool exclusive, bool no_check)
{
    struct rfn_lock *lock = rfn_map_make_object(&contention->locks, key_of(call->own, call->target),
                                                sizeof *lock);
    if (!lock)
        return RFN_E_NOMEM;
    *lock = (struct rfn_lock){exclusive, no_check, call->entered_ns, INT64_MAX};
    return 0;
}

void rfn_rma_locks_locked(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                          int64_t left_ns)
{
    struct rfn_lock *lock = lock_of(contention, call, call->target);
    if (lock)
        lock->locked_ns = left_ns;
}

/* ---- unlocks ---- */

/* Puts a rank's unlock into a list that is in order, the latest first, each rank once. */
static void put_unlock(struct rfn_unlock *list, const struct rfn_unlock *unlock)
{
    size_t at = 0, same = 0;
    while (same < RFN_UNLOCKS - 1 && list[same].used && list[same].rank != unlock->rank)
        same++;
    if (list[same].used && list[same].point.ns > unlock->point.ns)
        return; /* this rank's is later, or all are */
    while (at < same && list[at].point.ns > unlock->point.ns)
        at++;
    memmove(list + at + 1, list + at, (same - at) * sizeof *list);
    list[at] = *unlock;
}

static void note_unlock(struct rfn_unlocks *unlocks, const struct rfn_unlock *unlock)
{
    put_unlock(unlocks->any, unlock);
    if (unlock->exclusive)
        put_unlock(unlocks->exclusive, unlock);
}

static int note(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                struct rfn_point point, bool ended)
{
    const struct rfn_lock *lock = lock_of(contention, call, call->target);
    if (!lock || lock->no_check)
        return 0;
    struct rfn_lock_target *target = rfn_map_make_object(&contention->targets, call->target,
                                                         sizeof *target);
    if (!target)
        return RFN_E_NOMEM;
    const struct rfn_unlock unlock = {point, call->own, true, lock->exclusive, lock->locked_ns};
    note_unlock(ended ? &target->ended : &target->begun, &unlock);
    if (lock->exclusive)
        note_unlock(ended ? &contention->anywhere.ended : &contention->anywhere.begun, &unlock);
    return 0;
}

int rfn_rma_locks_unlock(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                         struct rfn_point here)
{
    return note(contention, call, here, false);
}

int rfn_rma_locks_unlocked(struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                           struct rfn_point left)
{
    int error = note(contention, call, left, true);
    free(lock_of(contention, call, call->target));
    rfn_map_remove(&contention->locks, key_of(call->own, call->target));
    return error;
}

/* ---- waits ---- */

/* A call in a lock epoch, and what it was found to have waited for. */
struct search {
    const struct rfn_lock_call *call;
    const struct rfn_lock *lock;
    int64_t left_ns;
    struct rfn_point latest;
    bool found;
};

/* Whether the unlock is one that the call may have waited for. */
static bool conflicts(const struct search *search, const struct rfn_unlock *unlock, bool begun)
{
    const struct rfn_lock_call *call = search->call;
    if (unlock->rank == call->own || unlock->point.ns <= call->entered_ns ||
        unlock->point.ns > search->left_ns)
        return false;
    if (begun)
        return unlock->locked_ns <= search->lock->entered_ns;
    return call->locking || unlock->locked_ns <= call->entered_ns;
}

static void look_at(struct search *search, const struct rfn_unlocks *unlocks, bool begun)
{
    const struct rfn_unlock *list = search->lock->exclusive ? unlocks->any : unlocks->exclusive;
    for (int i = 0; i < RFN_UNLOCKS && list[i].used; i++) {
        if (conflicts(search, &list[i], begun) &&
            (!search->found || list[i].point.ns > search->latest.ns)) {
            search->latest = list[i].point;
            search->found = true;
        }
    }
}

static void look_at_target(struct search *search, const struct rfn_lock_target *target)
{
    if (!target)
        return;
    look_at(search, &target->ended, false);
    look_at(search, &target->begun, true);
}

bool rfn_rma_locks_waited(const struct rfn_rma_locks *contention, const struct rfn_lock_call *call,
                          int64_t left_ns, struct rfn_point *until)
{
    struct search search = {.call = call, .left_ns = left_ns};
    search.lock = rfn_rma_locks_around(contention, call);
    if (!search.lock || search.lock->no_check)
        return false;
    if (call->target == RFN_ALL_TARGETS) { /* a shared lock: only exclusive ones conflict */
        look_at_target(&search, &contention->anywhere);
    } else {
        look_at_target(&search, rfn_map_object(&contention->targets, call->target));
        look_at_target(&search, rfn_map_object(&contention->targets, RFN_ALL_TARGETS));
    }
    *until = search.latest;
    return search.found;
}
