/* completion.h - follows the requests of a process, and tells what a completion completed.
 *
 * A nonblocking call only begins a communication; Wait and Test tell its outcome later, and the
 * archive keeps only outcomes that are not as posted. The tracker is shown the events
 * of the threads of one process, and numbers requests as the recorder did (refrain/event.h). It
 * remembers what each was made for. So it tells for a completion call which requests it completed,
 * and for a receive which message it got. It remembers persistent requests by their slots; Start
 * begins them again.
 *
 * Order. Events of one thread are to come in their order. Shown all threads of a process in order
 * of the exits of their events, the tracker knows every request, whichever thread made it. A user
 * that goes through one stream after another resets the tracker before each of them: then requests
 * that another thread made are not known, and their entries say so, and hold what the completion
 * itself tells: all of a message that was received. Without the reset the requests of an earlier
 * stream would be known too, but a persistent slot would mean what it meant when that stream ended,
 * and what a later stream completed would stay open. Whatever the order, and whatever the words
 * say, at worst requests are not known.
 */
#ifndef REFRAIN_COMPLETION_H
#define REFRAIN_COMPLETION_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"
#include "refrain/event.h"
#include "refrain/volume.h"

/* What a request was made for. */
struct rfn_request_origin {
    uint32_t symbol, function, path; /* of the event that made it; symbol: in that stream's group */
    uint32_t id;                     /* see rfn_request_effects */
    bool receives;                   /* a point-to-point receive */
    const struct rfn_volume *volume; /* source and tag as asked for, bytes at most */
};

struct rfn_completed {
    const struct rfn_request_origin *origin; /* its volume as it really was: source, tag,
                                                received_bytes */
    uint32_t position; /* in the array of requests of the call, 0 if it has one */
    bool known;        /* the origin is; if not, only receives and volume mean something */
    bool cancelled;
    uint32_t error; /* MPI error class of the request, 0 for success */
};

/* What an event did to requests. Pointers are borrowed until the next event of this tracker or
 * one beside it, or reset.
 *
 * Every open request has an id, below the largest number of requests that were ever open at once in
 * the process, so a user can keep an array of its own beside them. A nonblocking call's request has
 * it until the event that completes or frees it; a persistent one from its creation until it is
 * freed, through all its starts. Later events may create requests with the same id. */
struct rfn_request_effects {
    const struct rfn_completed *completed;
    size_t n_completed;
    const struct rfn_request_origin *const *started; /* persistent requests that it started */
    size_t n_started;
    int64_t created; /* id of the request that the event made, persistent or not; -1: none */
    const struct rfn_request_origin *freed; /* by Request_free; NULL: none that is known */
    bool given_up; /* it is a receive that was asked to be cancelled before; nothing tells whether
                      it was, and it is taken to be */
    const struct rfn_request_origin *cancelled; /* asked for by Cancel; whether it was is told when
                                                   it completes; NULL: none that is known */
    const struct rfn_request_origin *ready;     /* partitions of it became ready: Pready, _range,
                                                   _list; NULL: none that is known */
    uint64_t partitions;                        /* how many */
};

struct rfn_tracker;

/* NULL: out of memory. The archive is borrowed for the tracker's life. */
struct rfn_tracker *rfn_tracker_new(const struct rfn_archive *archive);
/* A tracker of another process of the same archive, that shares what `first` knows of functions,
 * and the memory of effects: small as long as it is shown nothing. To be freed before `first`.
 * NULL: out of memory. */
struct rfn_tracker *rfn_tracker_new_beside(const struct rfn_tracker *first);
void rfn_tracker_free(struct rfn_tracker *tracker);
/* Trackers of all processes of an archive, by rank; of a rank without streams there is none (NULL),
 * save of rank 0. NULL: out of memory. */
struct rfn_tracker **rfn_trackers_new(const struct rfn_archive *archive);
void rfn_trackers_free(struct rfn_tracker **trackers, const struct rfn_archive *archive);
/* Forgets everything: before the first event of another process, or of another stream if streams
 * are shown one after another. */
void rfn_tracker_reset(struct rfn_tracker *tracker);

/* Whether events of this function concern requests: only such events need to be shown. */
bool rfn_tracker_concerns(const struct rfn_tracker *tracker, uint32_t function);

/* Shows the tracker an event that the cursor has just delivered; thread is the number of the
 * cursor's thread in its process (rfn_stream_info), volume is the event's. volume_lasts: the volume
 * stays in its place and unchanged for as long as the tracker is used, and need not be copied.
 * Returns 0 or RFN_E_NOMEM. */
int rfn_tracker_event(struct rfn_tracker *tracker, uint32_t thread, const struct rfn_cursor *cursor,
                      const struct rfn_record *record, const struct rfn_volume *volume,
                      bool volume_lasts, struct rfn_request_effects *effects);

/* Whether events of this function that have no error only make a request. They may be shown with
 * rfn_tracker_create, which costs less: it returns the origin of the request, or NULL: out of
 * memory. */
bool rfn_tracker_creates(const struct rfn_tracker *tracker, uint32_t function);
const struct rfn_request_origin *rfn_tracker_create(struct rfn_tracker *tracker, uint32_t thread,
                                                    const struct rfn_record *record,
                                                    const struct rfn_volume *volume,
                                                    bool volume_lasts);

/* The thread has created so many requests that nobody will ask for. Returns 0 or RFN_E_NOMEM. */
int rfn_tracker_skip(struct rfn_tracker *tracker, uint32_t thread, uint64_t n);

/* Requests that the thread has created so far, persistent ones not counted. */
uint64_t rfn_tracker_created(const struct rfn_tracker *tracker, uint32_t thread);

#pragma GCC visibility pop

#endif
