/* hang_objects.h - windows and files: which ones calls are at, and what ranks wait for at windows.
 *
 * A place is where collective calls are counted: a communicator, or a window or file. The ranks of
 * one are its communicator's, and it is the same for all of them by the
 * order in which each made such objects there.
 *
 * Epochs are counted by pairs of ranks: a target has posted as often as the origin has started
 * (doc/analysis.md), or the origin waits. A rank that wants a lock waits for those that hold it.
 */
#ifndef RFN_ANALYZE_HANG_HANG_OBJECTS_H
#define RFN_ANALYZE_HANG_HANG_OBJECTS_H

#include "analyze/match/call_words.h"
#include "refrain/hang.h"

struct rfn_hang_objects;

/* NULL: out of memory. The archive must stay open. */
struct rfn_hang_objects *rfn_hang_objects_new(const struct rfn_archive *archive);
void rfn_hang_objects_free(struct rfn_hang_objects *objects); /* may be NULL */

/* A call of a rank that has ended, or that it is in: `open`. Calls of a thread come in their order.
 * RFN_E_NOMEM. */
int rfn_hang_objects_event(struct rfn_hang_objects *objects, const struct rfn_call_event *event,
                           bool open);

/* Where a collective call counts; -1: it is none, or that is not known. */
int64_t rfn_hang_place_of(const struct rfn_hang_objects *objects,
                          const struct rfn_call_event *event);

/* What the call that a rank is in waits for at a window. False: for nothing that is known. */
bool rfn_hang_objects_wait(const struct rfn_hang_objects *objects,
                           const struct rfn_call_event *event, struct rfn_hang_wait *wait);

/* Whether a rank that waits so waits for `other`, when all events are known; of a lock, unless
 * `other` waits for it, too. */
bool rfn_hang_objects_waits_for(const struct rfn_hang_objects *objects, uint32_t rank,
                                const struct rfn_hang_wait *wait, uint32_t other);

#endif
