/* completion.h - follows requests through a stream, so that a completion says what it completed.
 *
 * A nonblocking call only begins a communication; Wait and Test say later what became of it, and
 * the archive keeps only what differs from what was asked for. The tracker is shown every event of
 * a stream in order, numbers requests as the recorder did (refrain/event.h), remembers what each
 * was made for, and so tells for a completion call which requests it completed, and for a receive
 * which message it got. Persistent requests are remembered by their slots; Start begins them anew.
 *
 * Requests of other threads of the process are not known to the tracker of this one; their entries
 * say so, and hold what the completion itself tells: all of a message that was received.
 */
#ifndef REFRAIN_COMPLETION_H
#define REFRAIN_COMPLETION_H

#include "refrain/archive.h"
#include "refrain/event.h"
#include "refrain/volume.h"

/* What a request was made for. */
struct rfn_request_origin {
    uint32_t symbol, function, path; /* of the event that made it */
    struct rfn_volume volume;        /* source and tag as asked for, bytes at most */
    bool receives;                   /* a point-to-point receive */
};

struct rfn_completed {
    uint32_t position; /* in the array of requests of the call, 0 if it has one */
    bool known;        /* the origin is; if not, only receives and volume mean something */
    bool cancelled;
    uint32_t error;                   /* MPI error class of the request, 0 for success */
    struct rfn_request_origin origin; /* volume as it really was: source, tag, received_bytes */
};

/* What an event did to requests. Arrays are borrowed until the next event. */
struct rfn_request_effects {
    const struct rfn_completed *completed;
    size_t n_completed;
    const struct rfn_request_origin *started; /* persistent requests that the event started */
    size_t n_started;
};

struct rfn_tracker;

/* NULL: out of memory. Both arguments are borrowed for the tracker's life. */
struct rfn_tracker *rfn_tracker_new(const struct rfn_archive *archive,
                                    const struct rfn_volumes *volumes);
void rfn_tracker_free(struct rfn_tracker *tracker);
/* Forgets everything: before the first event of another stream. */
void rfn_tracker_reset(struct rfn_tracker *tracker);

/* Whether events of this function concern requests: only those need to be shown. */
bool rfn_tracker_concerns(const struct rfn_tracker *tracker, uint32_t function);

/* Shows the tracker an event that the cursor has just delivered; volume is the event's. Returns 0
 * or RFN_E_NOMEM. */
int rfn_tracker_event(struct rfn_tracker *tracker, const struct rfn_cursor *cursor,
                      const struct rfn_record *record, const struct rfn_volume *volume,
                      struct rfn_request_effects *effects);

/* Requests that the stream has created so far, persistent ones not counted. */
uint64_t rfn_tracker_created(const struct rfn_tracker *tracker);

#endif
