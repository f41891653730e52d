/* pause.h - holds the process's streams still, so that another thread can read them.
 *
 * Only the thread that owns a stream changes it, without locks, and only while it is inside of the
 * recorder: from rec_come_inside to rec_go_outside, but for the time that it spends in MPI, when
 * stream->open.function is set. A thread that wants to look at all streams sets rec_pausing and
 * waits until nobody is inside. Threads that come inside see it, and wait until it is over.
 *
 * A thread first says that it is inside, then reads rec_pausing; the one that pauses sets
 * rec_pausing, then reads who is inside. Each must see what the other one did first. In place of
 * a fence in every call, membarrier(2) makes all threads of the process execute one at that moment.
 *
 * In a child of fork nobody pauses; the parent does not fork within a pause.
 */
#ifndef RFN_RECORD_CORE_PAUSE_H
#define RFN_RECORD_CORE_PAUSE_H

#include <stdbool.h>

/* To be called once, before the first pause. false: this system has no membarrier. */
bool rec_pause_prepare(void);

/* All streams hold still until rec_pause_end. false: a thread stayed inside for too long, and
 * nothing is held; to be tried again later. */
bool rec_pause_begin(void);
void rec_pause_end(void);

/* Keeps others from pausing, for what changes streams without being inside; not for long. */
void rec_pause_forbid(void);
void rec_pause_allow(void);

#endif
