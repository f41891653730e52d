/* replay.h - shows the events of all streams in one order, that of time.
 *
 * An event is shown twice. It *enters* when it is fetched, as soon as the event of its stream
 * before it has left; it *leaves* when no event with an earlier exit is left to do so. So when
 * an event leaves, every event that began before its end has entered. In a process with several
 * threads events enter in order of time, for one thread uses what another one has made. Where
 * clocks disagree or something is missing, that may not be enough: then `leave` parks the event,
 * and it is shown again when rfn_replay_wake says that there is something new; when nothing else
 * can move, the parked event with the earliest exit is told to leave as it is. So a replay always
 * ends.
 *
 * Times come from a file: here they ascend, and lie within bounds in which those of all streams can
 * be added up. Times of a stream may be moved: rfn_replay_put_off makes the current event end
 * later, and what follows is later by as much, less 1 % of the time since, until recorded times
 * hold again (a controlled logical clock, amortized forward; Rabenseifner 1997).
 */
#ifndef RFN_ANALYZE_REPLAY_H
#define RFN_ANALYZE_REPLAY_H

#include "refrain/archive.h"

struct rfn_replay;

/* A stream and its current event. */
struct rfn_replay_stream {
    uint32_t rank, thread;
    struct rfn_cursor *cursor;
    const struct rfn_record *record; /* the cursor's; until it has left */
    int64_t before_ns;               /* exit of the event before; of the first, its enter */
    int64_t enter_ns, exit_ns;       /* of the current event */
    int64_t from_ns, to_ns;          /* the same as recorded, not moved; 0 without times */
    bool first;                      /* there was none before it */
    /* the replay's own */
    int64_t shift_ns, recorded_ns; /* of the clock; the last recorded stamp seen */
    bool open;
    bool several; /* its process has other threads */
    bool held;    /* the current event has not entered yet */
};

enum { RFN_REPLAY_PARK = 1, RFN_REPLAY_LEFT = 2 };

struct rfn_replay_hooks {
    /* 0; RFN_REPLAY_LEFT: nothing that others do matters to this event, so that it has left already
     * and its stream goes on at once, ahead of the others; or RFN_E_NOMEM. */
    int (*enter)(void *context, uint32_t stream, const struct rfn_replay_stream *at);
    /* 0: it has left; RFN_REPLAY_PARK: not before something else happens (not if `forced`);
     * RFN_E_NOMEM. After rfn_replay_put_off it is asked again at the new time, whatever it
     * returned. */
    int (*leave)(void *context, uint32_t stream, const struct rfn_replay_stream *at, bool forced);
    /* The stream has no more events. 0 or RFN_E_NOMEM. */
    int (*end)(void *context, uint32_t stream);
    void (*progress)(void *context, double share); /* may be NULL */
    void *context, *progress_context;
};

/* *replay is to be freed. Streams that cannot be opened are lost. RFN_E_NOMEM. */
int rfn_replay_new(const struct rfn_archive *archive, const struct rfn_replay_hooks *hooks,
                   struct rfn_replay **replay);
void rfn_replay_free(struct rfn_replay *replay);

/* Shows everything. RFN_E_NOMEM, from hooks too. */
int rfn_replay_run(struct rfn_replay *replay);

/* Borrowed; streams are those of the archive. */
const struct rfn_replay_stream *rfn_replay_stream(const struct rfn_replay *replay, uint32_t stream);
/* The earliest enter of all streams' first events. */
int64_t rfn_replay_start_ns(const struct rfn_replay *replay);
/* Streams that could not be read to their end, why the lowest could not. */
uint32_t rfn_replay_lost(const struct rfn_replay *replay, int *error, struct rfn_diag *diag);

/* From hooks: a parked event is to be shown again (else nothing happens). */
void rfn_replay_wake(struct rfn_replay *replay, uint32_t stream);
/* From leave: the event ends at ns, which is later than it was recorded. */
void rfn_replay_put_off(struct rfn_replay *replay, uint32_t stream, int64_t ns);

#endif
