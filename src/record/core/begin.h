/* begin.h - --from: recording begins at a segment of the program, or at a level of MPI_Pcontrol.
 *
 * Until then it is switched off, and MPI_Pcontrol(1) does not switch it on; then an event of
 * refrain_recording says so, which for readers is an MPI_Pcontrol(1). There is no --from of a time:
 * ranks would begin at different messages, and readers match messages by their order.
 */
#ifndef RFN_RECORD_CORE_BEGIN_H
#define RFN_RECORD_CORE_BEGIN_H

#include "archive/write/record_limits.h"
#include "record/core/recorder.h"

/* An event that the recorder itself makes at a moment: no call path, and no time. in and out are
 * borrowed. */
struct rfn_event rec_event_at(struct rec_stream *stream, uint32_t function, const int64_t *in,
                              const int64_t *out, uint64_t at);

extern bool rec_begins_later; /* and has not begun; atomic */

/* Once the options are read. */
void rec_begin_init(void);

/* Before the event of a moment: a segment begins (number is not used), or MPI_Pcontrol is called
 * with a level. */
void rec_begin_reached(enum rfn_until_kind kind, int64_t number);

static inline void rec_begin_check(enum rfn_until_kind kind, int64_t number)
{
    if (__builtin_expect(__atomic_load_n(&rec_begins_later, __ATOMIC_RELAXED), 0))
        rec_begin_reached(kind, number);
}

#endif
