/* tables.h - what the tables of handles share: their lock, their keys, and slots that are used
 * again.
 *
 * Handles are integers in MPICH and pointers in Open MPI and SMPI; as keys of tables they are
 * 64-bit words. A program that creates and frees an object in every iteration must look the same
 * in every iteration, so objects are named by slots, and a new object takes the lowest free one.
 */
#ifndef RFN_RECORD_CORE_TABLES_H
#define RFN_RECORD_CORE_TABLES_H

#include "record/core/recorder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REC_KEY(handle) ((uint64_t)(uintptr_t)(handle))

/* Where a key goes in a direct-mapped cache of 1 << bits entries. Multiplying spreads pointers
 * (equal low bits) as well as small integers with a type in their high bits. */
static inline size_t rec_key_place(uint64_t key, unsigned bits)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

/* ---- the lock of all tables of the process ---- */

/* Waits, yielding after a while. Calls that use what their thread has used before do not take the
 * lock; it is held for some local MPI calls when an object is seen for the first time. */
void rec_lock_wait(void);
void rec_lock_release(void);

/* The same for another lock. */
void rec_spin_wait(unsigned char *taken);

static inline void rec_lock(void)
{
    if (__builtin_expect(rec_threads_multiple, 0))
        rec_lock_wait();
}

static inline void rec_unlock(void)
{
    if (__builtin_expect(rec_threads_multiple, 0))
        rec_lock_release();
}

/* ---- what a thread has looked up ----
 * Under MPI_THREAD_MULTIPLE threads look handles up at the same time. So that they need no lock
 * for what they have seen before, each keeps its finds (struct rec_recent of its stream), valid as
 * long as no handle of the table has been removed since: the table counts its removals. A handle
 * is removed before MPI frees it, so before another thread can get the same one for a new object.
 */

static inline bool rec_find_holds(const struct rec_find *find, uint64_t key,
                                  const uint64_t *removals)
{
    return find->key == key && find->what &&
           find->removals == __atomic_load_n(removals, __ATOMIC_ACQUIRE);
}

/* With the lock held. */
static inline void rec_count_removal(uint64_t *removals)
{
    __atomic_store_n(removals, *removals + 1, __ATOMIC_RELEASE);
}

/* ---- slots ---- */

/* Slots up to 64^5. A bit of level 0 says that its slot is used, one of level k + 1 that all 64 of
 * its word on level k are set: the lowest free slot is found in as many steps as there are levels,
 * however many slots there are. Words that are not there are 0. */
enum { REC_SLOT_LEVELS = 5 };

struct rec_slots {
    uint64_t *full[REC_SLOT_LEVELS];
    size_t n_words[REC_SLOT_LEVELS];
};

int64_t rec_slots_take(struct rec_slots *slots); /* the lowest free slot, or RFN_E_NOMEM */
void rec_slots_give(struct rec_slots *slots, int64_t slot);
void rec_slots_release(struct rec_slots *slots);

/* ---- words of a call ---- */

static inline void rec_push_in(struct rec_call *call, int64_t word)
{
    call->in[call->n_in++] = word;
}

static inline void rec_push_out(struct rec_call *call, int64_t word)
{
    call->out[call->n_out++] = word;
}

/* Makes room for n elements of an array of the call's, which may move. false: out of memory, and
 * recording stops. */
bool rec_make_room(void **array, uint32_t *capacity, int64_t n, size_t size, const char *what)
    __attribute__((cold));
#define REC_ROOM(array, capacity, n, what)                       \
    (__builtin_expect((int64_t)(n) <= (int64_t)(capacity), 1) || \
     rec_make_room((void **)&(array), &(capacity), (n), sizeof *(array), what))

/* Whether outcomes mean something: the call succeeded and was not an unsuccessful poll. */
static inline bool rec_has_outcome(const struct rec_call *call)
{
    return call->rc == MPI_SUCCESS && call->poll != RFN_POLL_FAILED;
}

/* The word of an info in a list; locks. */
int64_t rec_info_word(MPI_Info info);

/* Free what the tables hold, when nothing is recorded any more (for the tables of communicators
 * and datatypes see comms.h, types.h). */
void rec_handles_release(void);
void rec_requests_release(void);

#endif
