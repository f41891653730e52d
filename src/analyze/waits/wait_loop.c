/* wait_loop.c - events of loops whose iterations are alike enter, in the short way.
 *
 * Where events come in batches (archive/cursor/cursor.h) their words last, and where a loop
 * completes the requests that it makes (loop_requests.h) an event does in each iteration what it
 * did in the one before: it sends in the same channel, posts in the same one, completes requests by
 * the same numbers. What match_calls.c has found out is kept beside each other for the events of an
 * iteration, and later ones do just that. Whatever is not as simple goes the long way every time.
 */
#include "analyze/match/channels_inline.h"
#include "analyze/waits/waits_internal.h"

#include <stdlib.h>
#include <string.h>

void rfn_pass_release_loop(struct rfn_wait_loop *loop)
{
    rfn_loop_release(&loop->requests);
    free(loop->events);
}

/* ---- learning ---- */

int rfn_pass_begin_loop(struct rfn_wait_stream *stream, const struct rfn_batch *batch)
{
    struct rfn_wait_loop *loop = stream->loop;
    uint32_t region = rfn_pass_region(stream);
    if (loop->requests.knowledge == RFN_LOOP_UNKNOWN)
        return rfn_loop_learn(&loop->requests, batch->width);
    if (loop->requests.knowledge != RFN_LOOP_CLOSED)
        return 0;
    if (loop->events && loop->region == region)
        return 0;
    RFN_TRY(RFN_GROW(loop->events, loop->events_capacity, batch->width));
    memset(loop->events, 0, batch->width * sizeof *loop->events);
    loop->entry = (struct rfn_loop_event){0};
    loop->region = region;
    return 0;
}

static inline bool has_channel(const struct rfn_loop_event *event)
{
    return event->action >= RFN_LOOP_ACT_SENDS;
}

/* The channel that the event's symbol remembers; there is none: RFN_NONE. */
static int64_t channel_of(const struct rfn_wait_pass *pass, const struct rfn_wait_symbol *symbol,
                          enum rfn_call_kind kind)
{
    bool sends = kind == RFN_CALL_SEND;
    uint32_t channel = sends ? symbol->match.send_channel : symbol->match.receive_channel;
    uint32_t generation = sends ? symbol->match.send_generation : symbol->match.receive_generation;
    if (!channel || pass->match.channels.items[channel - 1].generation != generation)
        return RFN_NONE;
    return (int64_t)channel - 1;
}

/* What the event does in each iteration. */
static enum rfn_loop_action action_of(const struct rfn_wait_symbol *symbol,
                                      const struct rfn_record *record)
{
    if (symbol->match.topology || symbol->match.groups || symbol->match.one_sided || record->error)
        return RFN_LOOP_ACT_ANY;
    if (symbol->match.concerns && !symbol->match.creates)
        return RFN_LOOP_ACT_COMPLETES;
    if (symbol->match.role->kind == RFN_CALL_SEND)
        return symbol->match.creates ? RFN_LOOP_ACT_BEGINS_SEND : RFN_LOOP_ACT_SENDS;
    if (symbol->match.role->kind == RFN_CALL_RECV)
        return symbol->match.creates ? RFN_LOOP_ACT_BEGINS_RECEIVE : RFN_LOOP_ACT_RECEIVES;
    bool nothing = symbol->match.role->kind == RFN_CALL_OTHER && !symbol->match.creates;
    return nothing ? RFN_LOOP_ACT_NOTHING : RFN_LOOP_ACT_ANY;
}

/* The number of an activity, + 1, or what is more already. */
static uint32_t most(uint32_t n, uint32_t activity)
{
    return activity < n ? n : activity + 1;
}

void rfn_pass_learn(const struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                    const struct rfn_event_order_stream *at, uint32_t before)
{
    struct rfn_wait_loop *loop = stream->loop;
    struct rfn_wait_symbol *symbol = rfn_symbol_of(stream);
    struct rfn_loop_event *event = at->batch->taken == 1 ? &loop->entry : &loop->events[at->place];
    if (rfn_sums_at(symbol->mpi_activity) >= pass->delays.sums.capacity)
        return; /* it has not taken any time yet */
    if (before == UINT32_MAX || symbol->before != before || symbol->region != loop->region)
        return;
    *event = (struct rfn_loop_event){.symbol = symbol,
                                     .bytes = symbol->match.sent_bytes,
                                     .site = symbol->site,
                                     .before = before,
                                     .gap_activity = symbol->gap_activity,
                                     .mpi_activity = symbol->mpi_activity,
                                     .request = loop->requests.places[at->place].first,
                                     .action = (uint8_t)action_of(symbol, at->record),
                                     .mode = symbol->match.role->mode};
    loop->n_activities = most(loop->n_activities, symbol->gap_activity);
    loop->n_activities = most(loop->n_activities, symbol->mpi_activity);
    if (!has_channel(event))
        return;
    int64_t channel = channel_of(pass, symbol, (enum rfn_call_kind)symbol->match.role->kind);
    if (channel < 0) {
        event->action = RFN_LOOP_ACT_ANY;
        return;
    }
    event->channel = (uint32_t)channel;
    event->generation = pass->match.channels.items[channel].generation;
}

/* ---- entering ---- */

static inline bool same_channel(const struct rfn_wait_pass *pass,
                                const struct rfn_loop_event *event)
{
    return pass->match.channels.items[event->channel].generation == event->generation;
}

/* Whether what is known of the event still holds. */
static inline bool holds(const struct rfn_wait_pass *pass, const struct rfn_wait_stream *stream,
                         const struct rfn_loop_event *event)
{
    if (event->action == RFN_LOOP_ACT_ANY || event->before != stream->site)
        return false;
    return !has_channel(event) || same_channel(pass, event);
}

/* What is known of the current event and holds; NULL: nothing. */
static inline const struct rfn_loop_event *known(const struct rfn_wait_pass *pass,
                                                 const struct rfn_wait_stream *stream,
                                                 const struct rfn_event_order_stream *at)
{
    const struct rfn_wait_loop *loop = stream->loop;
    if (holds(pass, stream, &loop->events[at->place]))
        return &loop->events[at->place];
    return at->batch->taken == 1 && holds(pass, stream, &loop->entry) ? &loop->entry : NULL;
}

/* Sends. The message; RFN_E_NOMEM. */
static inline int64_t send(struct rfn_channels *channels, const struct rfn_loop_event *event,
                           struct rfn_point here)
{
    channels->items[event->channel].used = true;
    return rfn_channels_send_in(channels, event->channel, here, event->bytes,
                                (enum rfn_send_mode)event->mode, true);
}

/* Sends or receives. */
static inline int communicate(struct rfn_channels *channels, const struct rfn_loop_event *event,
                              uint32_t rank, struct rfn_point here, struct rfn_begun *doing)
{
    if (event->action == RFN_LOOP_ACT_SENDS || event->action == RFN_LOOP_ACT_BEGINS_SEND) {
        int64_t message = send(channels, event, here);
        RFN_TRY((int)(message < 0 ? message : 0));
        *doing = (struct rfn_begun){.message = (uint32_t)message + 1};
    } else {
        channels->items[event->channel].used = true;
        int64_t receive = rfn_channels_receive_in(channels, event->channel, rank, here);
        RFN_TRY((int)(receive < 0 ? receive : 0));
        *doing = (struct rfn_begun){.receive = (uint32_t)receive + 1};
    }
    return 0;
}

/* What the event does to others. */
static inline int act(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                      const struct rfn_event_order_stream *at, const struct rfn_loop_event *event)
{
    struct rfn_begun doing;
    if (event->action == RFN_LOOP_ACT_NOTHING)
        return 0;
    if (event->action == RFN_LOOP_ACT_COMPLETES)
        return rfn_match_complete_in_loop(&stream->match, at->place);
    RFN_TRY(communicate(&pass->match.channels, event, at->rank, stream->match.here, &doing));
    if (event->action >= RFN_LOOP_ACT_BEGINS_SEND) {
        stream->loop->requests.requests[event->request].doing = doing;
        return 0;
    }
    RFN_TRY(RFN_GROW(stream->match.awaited, stream->match.awaited_capacity,
                     stream->match.n_awaited + 1));
    rfn_match_await(&stream->match, doing, false);
    return 0;
}

/* One event. Returns as the hook does. */
static inline int enter(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream, uint32_t number,
                        const struct rfn_event_order_stream *at, const struct rfn_loop_event *event)
{
    int64_t gap_ns = at->enter_ns - at->before_ns, ns = at->exit_ns - at->enter_ns;
    stream->match.symbol = &event->symbol->match;
    RFN_TRY(rfn_match_step_at(&pass->match, &stream->match, number, at));
    stream->match.since_ns = at->enter_ns;
    if (gap_ns > 0)
        RFN_TRY(rfn_pass_did(pass, stream, event->gap_activity, gap_ns));
    stream->match.here = (struct rfn_point){number, stream->history.at, at->enter_ns};
    RFN_TRY(act(pass, stream, at, event));
    if (stream->match.n_awaited)
        return 0;
    if (ns > 0)
        RFN_TRY(rfn_pass_did(pass, stream, event->mpi_activity, ns));
    rfn_pass_over(pass, stream, number, at->exit_ns);
    return RFN_REPLAY_LEFT;
}

/* ---- one after the other ---- */

/* What comes of an event: it is none that is over at once, and has not entered; it has left; it has
 * entered and awaits something. */
enum { STEP_NONE, STEP_OVER, STEP_AWAITS };

/* A stream that goes from event to event: what it changes with each of them. */
struct run {
    struct rfn_wait_pass *pass;
    struct rfn_wait_stream *stream;
    struct rfn_history *history;
    struct rfn_loop_request *requests;
    int64_t *chain; /* its times */
    uint32_t number, rank, context;
    uint32_t site;             /* of the last event */
    int64_t enter_ns, exit_ns; /* of the last one, or the one that comes */
};

static inline void did(const struct run *run, uint32_t activity, uint32_t ns)
{
    struct rfn_history *history = run->history;
    history->log[history->at & history->mask] = (struct rfn_logged){activity, ns};
    history->at += ns > 0;
    run->chain[activity] += ns;
}

static inline struct rfn_point here(const struct run *run)
{
    return (struct rfn_point){run->number, run->history->at, run->enter_ns};
}

/* Whether a message that is sent now, in no more than this call, has not waited for its receiver,
 * as rfn_pass_leave_at_once would find. */
static inline bool is_sent_at_once(const struct run *run, const struct rfn_loop_event *event)
{
    const struct rfn_channels *channels = &run->pass->match.channels;
    if (!rfn_channels_quiet(channels, event->channel))
        return false;
    int64_t posted_ns = rfn_channels_posted_ns(channels, event->channel);
    if (posted_ns < run->exit_ns)
        return posted_ns <= run->enter_ns;
    return event->mode != RFN_SEND_STANDARD || event->bytes <= run->pass->eager_bytes;
}

static inline int send_at_once(const struct run *run, const struct rfn_loop_event *event,
                               uint32_t mpi_ns)
{
    struct rfn_channels *channels = &run->pass->match.channels;
    int64_t message = send(channels, event, here(run));
    RFN_TRY((int)(message < 0 ? message : 0));
    did(run, event->mpi_activity, mpi_ns);
    return rfn_channels_sent(channels, (uint32_t)message, false);
}

/* The two streams synchronize where the receive is over. */
static inline int receive_at_once(const struct run *run, const struct rfn_loop_event *event,
                                  const struct rfn_message *message, uint32_t mpi_ns)
{
    struct rfn_channels *channels = &run->pass->match.channels;
    struct rfn_channel *channel = &channels->items[event->channel];
    struct rfn_last_sync sync = {.stream = run->number,
                                 .other = message->sent.stream,
                                 .other_at = message->user ? message->user - 1 : message->sent.at};
    channel->used = true;
    rfn_channels_take(channels, event->channel, here(run));
    did(run, event->mpi_activity, mpi_ns);
    sync.at = run->history->at;
    return rfn_last_syncs_add(&run->pass->delays.last_syncs, &channel->received_user, &sync);
}

/* The requests of the iteration are completed: mostly that has to be waited for. */
static inline int complete_now(const struct run *run, const struct rfn_loop_event *event,
                               const struct rfn_batch_time *time)
{
    struct rfn_wait_stream *stream = run->stream;
    did(run, event->gap_activity, time->gap_ns);
    stream->match.since_ns = run->enter_ns;
    stream->match.here = here(run);
    RFN_TRY(rfn_match_complete_in_loop(&stream->match, (uint32_t)(event - stream->loop->events)));
    if (stream->match.n_awaited)
        return STEP_AWAITS;
    did(run, event->mpi_activity, time->duration_ns);
    return STEP_OVER;
}

/* The event enters and leaves, if it may now: it makes a request and nothing else, or it is its
 * turn and it waits for nothing. Or it enters, and awaits what it completes. RFN_E_NOMEM. */
static inline int step(const struct run *run, const struct rfn_loop_event *event,
                       const struct rfn_batch_time *time)
{
    struct rfn_channels *channels = &run->pass->match.channels;
    const struct rfn_message *message;
    if (event->before != run->site || (has_channel(event) && !same_channel(run->pass, event)))
        return STEP_NONE;
    switch ((enum rfn_loop_action)event->action) {
    case RFN_LOOP_ACT_NOTHING:
        did(run, event->gap_activity, time->gap_ns);
        did(run, event->mpi_activity, time->duration_ns);
        return STEP_OVER;
    case RFN_LOOP_ACT_COMPLETES:
        return complete_now(run, event, time);
    case RFN_LOOP_ACT_BEGINS_SEND:
    case RFN_LOOP_ACT_BEGINS_RECEIVE:
        did(run, event->gap_activity, time->gap_ns);
        RFN_TRY(communicate(channels, event, run->rank, here(run),
                            &run->requests[event->request].doing));
        did(run, event->mpi_activity, time->duration_ns);
        return STEP_OVER;
    case RFN_LOOP_ACT_SENDS:
        if (run->exit_ns >= *run->pass->turn_ns || !is_sent_at_once(run, event))
            return STEP_NONE;
        did(run, event->gap_activity, time->gap_ns);
        RFN_TRY(send_at_once(run, event, time->duration_ns));
        return STEP_OVER;
    case RFN_LOOP_ACT_RECEIVES:
        message = rfn_channels_there(channels, event->channel, run->rank, run->enter_ns);
        if (run->exit_ns >= *run->pass->turn_ns || !message)
            return STEP_NONE;
        did(run, event->gap_activity, time->gap_ns);
        RFN_TRY(receive_at_once(run, event, message, time->duration_ns));
        return STEP_OVER;
    default:
        return STEP_NONE;
    }
}

/* The event begins a segment. */
static inline int begin_step(const struct run *run, const struct rfn_loop_event *event,
                             int64_t before_ns)
{
    const struct rfn_match_step step = {.site = event->site,
                                        .begins = true,
                                        .segment = run->context,
                                        .before_ns = before_ns,
                                        .enter_ns = run->enter_ns,
                                        .exit_ns = run->exit_ns};
    return rfn_match_step(&run->pass->match, &run->stream->match, run->number, &step);
}

/* As many events as there is room for in the log, but not more than n. The chain gets room for all
 * of the loop. RFN_E_NOMEM. */
static inline int64_t make_room(const struct rfn_wait_stream *stream, struct rfn_chain *chain,
                                uint32_t n)
{
    uint64_t room = (stream->history.full - stream->history.at) / 2;
    if (stream->loop->n_activities > chain->capacity)
        RFN_TRY(rfn_critical_grow(chain, stream->loop->n_activities));
    return room < n ? (int64_t)room : n;
}

/* Goes on from the current event of the batch, which has not entered, as long as events are over at
 * once and no segment is looked at. STEP_OVER: some have left, of which the last is the current one
 * now; STEP_AWAITS: so have they, if there are any, and the current one has entered; STEP_NONE;
 * RFN_E_NOMEM. */
__attribute__((noinline, flatten)) static int run_on(struct rfn_wait_pass *pass,
                                                     struct rfn_wait_stream *stream,
                                                     uint32_t number,
                                                     struct rfn_event_order_stream *at)
{
    const struct rfn_batch *batch = at->batch;
    const struct rfn_batch_time *time = &batch->times[batch->taken - 1];
    struct rfn_chain *chain = &stream->critical.chains[stream->critical.current];
    const struct rfn_loop_event *events = stream->loop->events, *event = &events[at->place];
    const struct rfn_loop_event *end = events + batch->width, *last = NULL;
    const bool begins = batch->all_begin && pass->match.stepper;
    int64_t n = make_room(stream, chain, batch->n - batch->taken + 1), done = 0;
    int64_t before_ns = 0, enter_ns = 0, last_ns = at->before_ns;
    int what = STEP_OVER;
    struct run run = {.pass = pass,
                      .stream = stream,
                      .history = &stream->history,
                      .requests = stream->loop->requests.requests,
                      .chain = chain->ns,
                      .number = number,
                      .rank = at->rank,
                      .context = at->context,
                      .site = stream->site};
    for (; done < n && !stream->match.in_step; done++, time++) {
        run.enter_ns = last_ns + time->gap_ns;
        run.exit_ns = run.enter_ns + time->duration_ns;
        what = step(&run, event, time);
        if (what <= STEP_NONE)
            break;
        if (event == events && begins)
            RFN_TRY(begin_step(&run, event, last_ns));
        if (what == STEP_AWAITS)
            break;
        before_ns = last_ns;
        enter_ns = run.enter_ns;
        last_ns = run.exit_ns;
        last = event;
        run.site = event->site;
        event = event + 1 < end ? event + 1 : events;
    }
    RFN_TRY((int)rfn_least(n, what));
    if (last) {
        stream->match.symbol = &last->symbol->match;
        rfn_pass_over(pass, stream, number, last_ns);
    }
    if (what == STEP_AWAITS) {
        stream->match.symbol = &event->symbol->match;
        rfn_event_order_skip(at, (uint32_t)done, (uint32_t)(event - events), last_ns, run.enter_ns,
                             run.exit_ns);
        return STEP_AWAITS;
    }
    if (!last)
        return STEP_NONE;
    rfn_event_order_skip(at, (uint32_t)done - 1, (uint32_t)(last - events), before_ns, enter_ns,
                         last_ns);
    return STEP_OVER;
}

/* The current event has entered. If it is its turn it may leave, too, just as the replay would have
 * it do. Returns as the hook does. */
static int leave_early(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream, uint32_t number,
                       const struct rfn_event_order_stream *at)
{
    if (at->exit_ns >= *pass->turn_ns)
        return 0;
    int left = rfn_pass_leave_at_once(pass, stream, number, at);
    return left > 0 ? RFN_REPLAY_LEFT : left;
}

/* Whether events may go one after the other from the current one of the batch on: no segment is
 * looked at, and its times are those of the batch. */
static inline bool may_run(const struct rfn_wait_stream *stream,
                           const struct rfn_event_order_stream *at)
{
    const struct rfn_batch *batch = at->batch;
    return !stream->match.in_step && !stream->order.any && !batch->failed && batch->taken > 1 &&
           at->enter_ns - at->before_ns == batch->times[batch->taken - 1].gap_ns;
}

__attribute__((flatten)) int rfn_pass_enter_loop(struct rfn_wait_pass *pass,
                                                 struct rfn_wait_stream *stream, uint32_t number,
                                                 struct rfn_event_order_stream *at, bool *entered)
{
    const struct rfn_loop_event *event = known(pass, stream, at);
    if (!at->together || at->clock.shift_ns || stream->polls.any || !event)
        return 0;
    *entered = true;
    stream->polled_ns = 0;
    for (int ran = STEP_NONE;;) {
        int result = RFN_REPLAY_LEFT;
        ran = ran != STEP_OVER && may_run(stream, at) ? run_on(pass, stream, number, at)
                                                      : STEP_NONE;
        if (ran < STEP_NONE)
            return ran;
        if (ran == STEP_NONE)
            result = enter(pass, stream, number, at, event);
        if (!result || ran == STEP_AWAITS)
            result = leave_early(pass, stream, number, at);
        if (result != RFN_REPLAY_LEFT)
            return result;
        uint32_t place = at->place + 1 < at->batch->width ? at->place + 1 : 0;
        event = &stream->loop->events[place];
        if (!rfn_event_order_has_more(at) || !holds(pass, stream, event))
            return RFN_REPLAY_LEFT;
        rfn_event_order_go_on(at, place);
    }
}
