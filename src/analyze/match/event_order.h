/* event_order.h - shows the events of all streams in one order, that of time.
 *
 * An event is shown twice. It *enters* when it is fetched, as soon as the event of its stream
 * before it has left; it *leaves* when no event with an earlier exit is left to do so. So when
 * an event leaves, every event that began before its end has entered, unless the hook holds streams
 * back (rfn_event_order_ask_again). In a process with several
 * threads events enter in order of time, for one thread uses what another one has made. Where
 * clocks disagree or something is missing, that may not be enough: then `leave` parks the event,
 * and it is shown again when rfn_event_order_wake says that there is something new; when nothing
 * else can move, the parked event with the earliest exit is told to leave as it is. So a replay
 * always ends.
 *
 * Times come from a file: here they ascend, and lie within bounds in which those of all streams can
 * be added up. Times of a stream may be moved: rfn_event_order_put_off makes the current event end
 * later, and what follows is later by as much, less 1 % of the time since, until recorded times
 * hold again (a controlled logical clock, amortized forward; Rabenseifner 1997).
 */
#ifndef RFN_ANALYZE_MATCH_EVENT_ORDER_H
#define RFN_ANALYZE_MATCH_EVENT_ORDER_H

#include "archive/cursor/cursor.h"
#include "refrain/archive.h"

struct rfn_event_order;

/* A stream and its current event. */
struct rfn_event_order_stream {
    uint32_t rank, thread;
    struct rfn_cursor *cursor;
    /* The cursor's; until it has left. Of an event of a batch it has the words, but not the times,
     * nor where segments begin. */
    const struct rfn_record *record;
    struct rfn_batch *batch;   /* that the event is of (archive/cursor/cursor.h); NULL: of none */
    uint32_t place;            /* in its iteration, if it is of a batch, */
    bool together;             /* whose times are as they are recorded, and in order */
    bool begins;               /* a segment, where the cursor tells segments, */
    uint32_t context;          /* of this context */
    int64_t before_ns;         /* exit of the event before; of the first, its enter */
    int64_t enter_ns, exit_ns; /* of the current event */
    int64_t from_ns, to_ns;    /* the same as recorded, not moved; 0 without times */
    bool first;                /* there was none before it */
    /* the replay's own */
    struct rfn_event_order_clock {
        int64_t shift_ns, recorded_ns; /* of the clock; the last recorded stamp seen */
        int64_t batch_ns;              /* in the batch: exit of the event before */
    } clock;
    bool open;
    bool several; /* its process has other threads */
    bool held;    /* the current event has not entered yet */
};

/* Of the current event's recorded time that inside MPI; what the file says of it may be anything.
 */
static inline int64_t rfn_event_order_inside_ns(const struct rfn_event_order_stream *at)
{
    int64_t all = at->to_ns - at->from_ns;
    if (at->batch)
        return all;
    int64_t inside = at->record->inside_ns;
    return inside < 0 || inside > all ? all : inside;
}

/* The number of the current event in its stream. */
static inline uint64_t rfn_event_order_index(const struct rfn_event_order_stream *at)
{
    return at->batch ? at->batch->first + at->batch->taken - 1 : at->record->index;
}

enum { RFN_REPLAY_PARK = 1, RFN_REPLAY_LEFT = 2 };

struct rfn_event_order_hooks {
    /* 0; RFN_REPLAY_LEFT: nothing that others do matters to this event, so that it has left already
     * and its stream goes on at once, ahead of the others; or RFN_E_NOMEM. Where it has left and
     * the batch has more events, `enter` may itself go on to the next one (rfn_event_order_go_on).
     */
    int (*enter)(void *context, uint32_t stream, struct rfn_event_order_stream *at);
    /* 0: it has left; RFN_REPLAY_PARK: not before something else happens (not if `forced`);
     * RFN_E_NOMEM. After rfn_event_order_put_off it is asked again at the new time, and after
     * rfn_event_order_ask_again at that time, whatever it returned; the last of them counts. */
    int (*leave)(void *context, uint32_t stream, const struct rfn_event_order_stream *at,
                 bool forced);
    /* A batch, at->batch, comes, of which the current event is the first; what has been taken of
     * it, mostly all, has left. May be NULL: then there are no batches. 0 or RFN_E_NOMEM. */
    int (*begin_batch)(void *context, uint32_t stream, const struct rfn_event_order_stream *at);
    int (*end_batch)(void *context, uint32_t stream, const struct rfn_event_order_stream *at);
    /* May be NULL. The stream's current event will probably leave soon: what that takes may be
     * fetched from far memory meanwhile. */
    void (*ahead)(void *context, uint32_t stream);
    /* The stream has no more events. 0 or RFN_E_NOMEM. May be NULL. */
    int (*end)(void *context, uint32_t stream);
    void (*progress)(void *context, double share); /* may be NULL */
    void *context, *progress_context;
};

/* Whether the current event's batch has another one, and times need not be moved. */
static inline bool rfn_event_order_has_more(const struct rfn_event_order_stream *at)
{
    return at->batch->taken < at->batch->n && !at->batch->failed;
}

/* Goes on to the next event of the batch, with its times as they are recorded. */
static inline void rfn_event_order_go_on(struct rfn_event_order_stream *at, uint32_t place)
{
    struct rfn_batch *batch = at->batch;
    const struct rfn_batch_time *time = &batch->times[batch->taken];
    int64_t enter_ns = at->clock.batch_ns + time->gap_ns, exit_ns = enter_ns + time->duration_ns;
    at->record = batch->records[place];
    at->begins = !place && (batch->taken ? batch->all_begin : batch->begins);
    at->place = place;
    batch->taken++;
    at->before_ns = at->exit_ns;
    at->enter_ns = at->from_ns = enter_ns;
    at->exit_ns = at->to_ns = at->clock.recorded_ns = at->clock.batch_ns = exit_ns;
}

/* The same for n events, of which the last is at this place and has these times: exit of the one
 * before it, enter and exit. */
static inline void rfn_event_order_skip(struct rfn_event_order_stream *at, uint32_t n,
                                        uint32_t place, int64_t before_ns, int64_t enter_ns,
                                        int64_t exit_ns)
{
    at->place = place;
    at->record = at->batch->records[place];
    at->begins = false;
    at->batch->taken += n;
    at->before_ns = before_ns;
    at->enter_ns = at->from_ns = enter_ns;
    at->exit_ns = at->to_ns = at->clock.recorded_ns = at->clock.batch_ns = exit_ns;
}

/* *replay is to be freed. Streams that cannot be opened are lost. RFN_E_NOMEM. */
int rfn_event_order_new(const struct rfn_archive *archive,
                        const struct rfn_event_order_hooks *hooks, struct rfn_event_order **replay);
void rfn_event_order_free(struct rfn_event_order *replay);

/* Shows everything. RFN_E_NOMEM, from hooks too. */
int rfn_event_order_run(struct rfn_event_order *replay);

/* Borrowed; streams are those of the archive. */
const struct rfn_event_order_stream *rfn_event_order_stream(const struct rfn_event_order *replay,
                                                            uint32_t stream);
/* Of a rank's streams that have more events: the earliest end of a current event, and how far times
 * may be off at most (rfn_cursor_off_ns). False: there is none. */
bool rfn_event_order_rank(const struct rfn_event_order *replay, uint32_t rank, int64_t *exit_ns,
                          int64_t *off_ns);
/* The earliest enter of all streams' first events. */
int64_t rfn_event_order_start_ns(const struct rfn_event_order *replay);
/* Streams that could not be read to their end, why the lowest could not. */
uint32_t rfn_event_order_lost(const struct rfn_event_order *replay, int *error,
                              struct rfn_diag *diag);

/* From enter: an event that ends before this time has its turn now, so that `leave` would be asked
 * next; it may do the same itself and return RFN_REPLAY_LEFT. Borrowed; others being woken changes
 * it. */
const int64_t *rfn_event_order_turn_ns(const struct rfn_event_order *replay);
/* From hooks: an event that is parked, or is shown again later, is to be shown again now (else
 * nothing happens). */
void rfn_event_order_wake(struct rfn_event_order *replay, uint32_t stream);
/* From leave: the event, which keeps its time, is to be shown again when it is ns, or the stream
 * has been woken, whatever is returned. What others do until then may leave although this stream's
 * next event, which has not entered, begins before. False: it is that late already, or the event is
 * forced. */
bool rfn_event_order_ask_again(struct rfn_event_order *replay, uint32_t stream, int64_t ns);
/* From leave: the event ends at ns, which is later than it was recorded. */
void rfn_event_order_put_off(struct rfn_event_order *replay, uint32_t stream, int64_t ns);

#endif
