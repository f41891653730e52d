/* call_exit.c - how long a call waited, and for whom, when it leaves.
 *
 * Of all that a call waited for, the thing that came last counts. What the call did is then
 * divided: waiting, with its causes; waiting of which no cause is known; and the rest.
 */
#include "analyze/waits/waits_internal.h"
#include "base/grow.h"
#include "base/pool.h"
#include "refrain/event.h"

#include <string.h>

/* Nothing is found out yet. Field by field: clearing it all at once takes longer. */
static inline void begin_leaving(struct rfn_leaving *leaving, struct rfn_wait_pass *pass,
                                 struct rfn_wait_stream *of, uint32_t stream,
                                 const struct rfn_event_order_stream *at)
{
    leaving->pass = pass;
    leaving->of = of;
    leaving->at = at;
    leaving->stream = stream;
    leaving->wait.ns = leaving->after.ns = 0;
    leaving->wait.last_sync = 0;
    leaving->full_ns = leaving->completion.ns = leaving->doubt.ns = 0;
    leaving->in_step.is = leaving->backward = leaving->at_window = false;
    leaving->late = 0;
    leaving->longest = leaving->doubt.message = NULL;
}

/* ---- what a stream did ---- */

/* Something else than the usual at a call site. */
static int did(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream, uint32_t site,
               enum rfn_activity_kind kind, int64_t ns)
{
    if (ns <= 0)
        return 0;
    struct rfn_activity activity = {
        .kind = kind, .at = pass->activities.sites[site], .region = RFN_NO_REGION};
    if (kind == RFN_ACTIVITY_COMPUTE)
        activity.before = activity.at;
    int64_t number = rfn_activity_of(&pass->activities, &activity);
    RFN_TRY((int)(number < 0 ? number : 0));
    return rfn_pass_did(pass, stream, (uint32_t)number, ns);
}

static int did_here(const struct rfn_leaving *leaving, enum rfn_activity_kind kind, int64_t ns)
{
    return did(leaving->pass, leaving->of, rfn_symbol_of(leaving->of)->site, kind, ns);
}

/* What led to the end of the wait is not known any more: on the path it was waiting. */
static int stay(const struct rfn_leaving *leaving, const struct rfn_wait *wait)
{
    struct rfn_wait_pass *pass = leaving->pass;
    const struct rfn_activity waiting = {
        .kind = RFN_ACTIVITY_WAIT,
        .at = pass->activities.sites[rfn_symbol_of(leaving->of)->site],
        .region = RFN_NO_REGION};
    int64_t number = rfn_activity_of(&pass->activities, &waiting);
    RFN_TRY((int)(number < 0 ? number : 0));
    return rfn_critical_add(&leaving->of->critical, (uint32_t)number, wait->ns);
}

/* The stream goes on with the chain that led to the end of the wait, over_ns. Where clocks disagree
 * or times are reduced that may lie after the call: then the path goes back in time on the other
 * one, and what is left where that had waited, too, is taken off what it did last. */
static int jump(const struct rfn_leaving *leaving, const struct rfn_wait *wait, int64_t over_ns)
{
    struct rfn_wait_stream *of = leaving->of;
    const struct rfn_point *until = &wait->until;
    const struct rfn_wait_stream *late = &leaving->pass->streams[until->stream];
    int64_t over = until->ns - over_ns;
    int known = rfn_critical_jump(&of->critical, of->history.at, &late->critical, &late->history,
                                  until, &over);
    if (known <= 0)
        return known < 0 ? known : stay(leaving, wait);
    if (!over)
        return 0;
    uint32_t last = rfn_symbol_of(of)->mpi_activity;
    if (until->at > late->history.first)
        last = late->history.log[(until->at - 1) & late->history.mask].what;
    return rfn_critical_add(&of->critical,
                            last & RFN_PASSED_ON ? rfn_symbol_of(of)->mpi_activity : last, -over);
}

/* Patterns of behaviour are told of who is to blame. */
static int tell_blames(const struct rfn_leaving *leaving)
{
    struct rfn_wait_pass *pass = leaving->pass;
    const struct rfn_delays *delays = &pass->delays;
    for (size_t i = 0; i < delays->n_blames; i++) {
        const struct rfn_blame *blame = &delays->blames[i];
        RFN_TRY(rfn_watched_steps_blame(pass->steps, leaving->stream,
                                        delays->causes[blame->cause].rank, blame->ns));
    }
    return 0;
}

/* Whoever watches is told of a wait of the call. `until` NULL: nobody is known to have ended it. */
static int tell(const struct rfn_leaving *leaving, enum rfn_pattern pattern, int64_t to_ns,
                int64_t ns, const struct rfn_point *until)
{
    const struct rfn_wait_watch *watch = leaving->pass->watch;
    if (!watch)
        return 0;
    return watch->waited(watch->context, &(struct rfn_wait_seen){
                                             .stream = leaving->stream,
                                             .rank = leaving->at->rank,
                                             .pattern = pattern,
                                             .from_ns = to_ns - ns,
                                             .to_ns = to_ns,
                                             .late_stream = until ? until->stream : RFN_NO_STREAM,
                                             .late_ns = until ? until->ns : 0});
}

static int count(const struct rfn_leaving *leaving, const struct rfn_wait *wait)
{
    struct rfn_wait_pass *pass = leaving->pass;
    if (rfn_order_may_matter(leaving, wait)) {
        rfn_order_begin(leaving, wait);
        return 0;
    }
    return rfn_tally_wait(&pass->tally, wait->pattern, rfn_symbol_of(leaving->of)->site,
                          leaving->at->rank, wait->ns, pass->delays.blames, pass->delays.n_blames);
}

/* A wait, which was over at over_ns, and whom it is blamed on. */
static int waited(const struct rfn_leaving *leaving, const struct rfn_wait *wait, int64_t over_ns)
{
    struct rfn_wait_pass *pass = leaving->pass;
    struct rfn_wait_stream *of = leaving->of;
    const struct rfn_wait_stream *late = &pass->streams[wait->until.stream];
    struct rfn_delays *delays = &pass->delays;
    uint32_t late_rank = rfn_event_order_stream(pass->match.replay, wait->until.stream)->rank;
    RFN_TRY(rfn_delays_find(delays, &of->history, leaving->stream, of->match.here.at,
                            &late->history, late_rank, wait));
    if (of->match.in_step)
        RFN_TRY(tell_blames(leaving));
    rfn_profile_pass_add_wait(pass->profile, leaving->stream, wait->ns);
    if (rfn_profile_pass_counts(pass->profile, leaving->stream)) {
        RFN_TRY(count(leaving, wait));
        RFN_TRY(tell(leaving, wait->pattern, over_ns, wait->ns, &wait->until));
    }
    if (!delays->n_blames)
        return did_here(leaving, RFN_ACTIVITY_WAIT, wait->ns);
    RFN_TRY(jump(leaving, wait, over_ns));
    for (size_t i = 0; i < delays->n_blames; i++)
        RFN_TRY(rfn_history_add(&of->history, &delays->sums,
                                RFN_PASSED_ON | delays->blames[i].cause, delays->blames[i].ns));
    return 0;
}

/* The waits of the call, one behind the other. */
static int waited_all(const struct rfn_leaving *leaving, int64_t first_ns)
{
    const int64_t enter_ns = leaving->of->match.since_ns;
    if (leaving->wait.ns > 0)
        RFN_TRY(waited(leaving, &leaving->wait, enter_ns + first_ns));
    return leaving->after.ns > 0 ? waited(leaving, &leaving->after, enter_ns + leaving->full_ns)
                                 : 0;
}

/* All have been in the call. Not at its end: ranks may leave a call of files at very different
 * times. One that completes a nonblocking call may begin long after all were there, because of what
 * the stream did in front of it. */
static void mark_step(const struct rfn_leaving *leaving)
{
    const struct rfn_wait_symbol *symbol = rfn_symbol_of(leaving->of);
    struct rfn_history *history = &leaving->of->history;
    const uint64_t at = leaving->of->match.here.at;
    uint32_t late_by = symbol->mpi_activity;
    if (symbol->match.role->kind < RFN_CALL_BARRIER && !leaving->full_ns)
        late_by = at > history->first ? history->log[(at - 1) & history->mask].what
                                      : RFN_NOTHING_LATE;
    rfn_history_mark(history, leaving->in_step.key, leaving->in_step.count,
                     late_by & RFN_PASSED_ON ? RFN_NOTHING_LATE : late_by);
}

/* Divides the time of the call, with the polls that it ends. Of those a part is outside of MPI, and
 * so is that part of the wait: no wait. */
static int divide(struct rfn_leaving *leaving)
{
    const struct rfn_record *record = leaving->at->record;
    int64_t all = leaving->at->exit_ns - leaving->of->match.since_ns, outside = 0;
    if (record->polls > 1 || leaving->of->polled_ns)
        outside = all - rfn_least(rfn_pass_inside_ns(leaving->at) + leaving->of->polled_ns, all);
    int64_t left = all - outside, outside_before = 0;
    const int64_t first = leaving->wait.ns = rfn_least(leaving->wait.ns, all);
    leaving->after.ns = rfn_least(leaving->after.ns, all - first);
    leaving->full_ns = first + leaving->after.ns;
    if (outside > 0 && leaving->full_ns > 0) {
        double share = (double)outside / (double)all;
        leaving->wait.ns -= (int64_t)((double)first * share);
        leaving->after.ns -= (int64_t)((double)leaving->after.ns * share);
        outside_before = leaving->full_ns - leaving->wait.ns - leaving->after.ns;
        RFN_TRY(did_here(leaving, RFN_ACTIVITY_COMPUTE, outside_before));
    }
    left -= leaving->wait.ns + leaving->after.ns;
    if (leaving->of->polled_ns)
        rfn_pass_waited_in_polls(leaving, all);
    RFN_TRY(waited_all(leaving, first));
    leaving->over_at = leaving->of->history.at;
    if (outside > 0)
        RFN_TRY(did_here(leaving, RFN_ACTIVITY_COMPUTE, outside - outside_before));
    if (leaving->completion.ns > 0 && left > 0) {
        leaving->completion.ns = rfn_least(leaving->completion.ns, left);
        left -= leaving->completion.ns;
        rfn_profile_pass_add_wait(leaving->pass->profile, leaving->stream, leaving->completion.ns);
        if (rfn_profile_pass_counts(leaving->pass->profile, leaving->stream)) {
            RFN_TRY(rfn_tally_wait(&leaving->pass->tally, leaving->completion.pattern,
                                   rfn_symbol_of(leaving->of)->site, leaving->at->rank,
                                   leaving->completion.ns, NULL, 0));
            RFN_TRY(tell(leaving, leaving->completion.pattern, leaving->at->exit_ns,
                         leaving->completion.ns, NULL));
        }
        RFN_TRY(did_here(leaving, RFN_ACTIVITY_WAIT, leaving->completion.ns));
    }
    if (leaving->in_step.is)
        mark_step(leaving);
    if (left <= 0)
        return 0;
    return rfn_pass_did(leaving->pass, leaving->of, rfn_symbol_of(leaving->of)->mpi_activity, left);
}

/* ---- messages ---- */

/* A wait for a message. */
static struct rfn_wait late_sender(const struct rfn_message *message, int64_t enter_ns,
                                   int64_t exit_ns)
{
    return (struct rfn_wait){.pattern = RFN_LATE_SENDER,
                             .ns = rfn_least(message->sent.ns, exit_ns) - enter_ns,
                             .until = message->sent};
}

/* The receive would end before its send began: counted, and moved if that is wanted. Returns
 * whether the event has been put off. */
static bool goes_backward(const struct rfn_leaving *leaving, const struct rfn_message *message)
{
    struct rfn_wait_pass *pass = leaving->pass;
    struct rfn_matching *matching = &pass->waits->matching;
    int64_t by = message->sent.ns - leaving->at->exit_ns;
    matching->backward++;
    if (by > matching->backward_max_ns)
        matching->backward_max_ns = by;
    if (pass->fix_clocks)
        rfn_event_order_put_off(pass->match.replay, leaving->stream, message->sent.ns);
    return pass->fix_clocks;
}

/* Whether some message has not been sent yet when the call that receives it ends, so that the event
 * is put off. */
static bool put_off(const struct rfn_leaving *leaving)
{
    const struct rfn_wait_stream *of = leaving->of;
    for (size_t i = 0, n = of->match.n_awaited; i < n; i++) {
        const struct rfn_message *message = of->match.awaited[i].message;
        if (of->match.awaited[i].kind == RFN_AWAITS_MESSAGE && message &&
            message->sent.ns > leaving->at->exit_ns && goes_backward(leaving, message))
            return true;
    }
    return false;
}

/* ---- receives that cannot be measured yet ---- */

/* What has been measured of the call is not to be counted again. */
static int note_late(struct rfn_leaving *leaving)
{
    const struct rfn_wait_stream *of = leaving->of;
    int64_t waited_ns = leaving->full_ns - (of->match.here.ns - of->match.since_ns);
    struct rfn_late_receives *late = &leaving->pass->late;
    int64_t at = RFN_POOL_TAKE(late->items, late->capacity, late->n, late->free, next_free);
    RFN_TRY((int)(at < 0 ? at : 0));
    leaving->late = (uint32_t)at + 1;
    late->items[at] = (struct rfn_late_receive){
        .left = of->match.here,
        .from_ns = of->match.here.ns + (waited_ns > 0 ? waited_ns : 0),
        .exit_ns = leaving->at->exit_ns,
        .site = rfn_symbol_of(of)->site,
        .counts = rfn_profile_pass_counts(leaving->pass->profile, leaving->stream)};
    return 0;
}

/* The call leaves without knowing the message; when it is known, rfn_pass_late goes on. */
static int leave_open(struct rfn_leaving *leaving, uint32_t number)
{
    struct rfn_wait_pass *pass = leaving->pass;
    struct rfn_receive *receive = &pass->match.channels.receives[number];
    receive->note = 0;
    if (receive->placed)
        return 0;
    if (!leaving->late)
        RFN_TRY(note_late(leaving));
    receive->note = leaving->late;
    pass->late.items[leaving->late - 1].users++;
    return 0;
}

/* The same as tell, of a call that has left. */
static int tell_late(const struct rfn_wait_pass *pass, const struct rfn_late_receive *late,
                     uint32_t rank, const struct rfn_wait *wait)
{
    if (!pass->watch)
        return 0;
    return pass->watch->waited(pass->watch->context,
                               &(struct rfn_wait_seen){.stream = late->left.stream,
                                                       .rank = rank,
                                                       .pattern = wait->pattern,
                                                       .from_ns = late->from_ns - wait->ns,
                                                       .to_ns = late->from_ns,
                                                       .late_stream = wait->until.stream,
                                                       .late_ns = wait->until.ns});
}

static int measure_late(struct rfn_wait_pass *pass, struct rfn_late_receive *late, uint32_t rank,
                        const struct rfn_message *message)
{
    struct rfn_wait wait = late_sender(message, late->from_ns, late->exit_ns);
    struct rfn_delays *delays = &pass->delays;
    const struct rfn_history *waiting = &pass->streams[late->left.stream].history;
    const struct rfn_history *sender = &pass->streams[message->sent.stream].history;
    if (wait.ns <= 0)
        return 0;
    late->from_ns += wait.ns;
    delays->n_blames = 0;
    if (late->left.at >= waiting->first && message->sent.at >= sender->first)
        RFN_TRY(rfn_delays_find(
            delays, waiting, late->left.stream, late->left.at, sender,
            rfn_event_order_stream(pass->match.replay, message->sent.stream)->rank, &wait));
    rfn_profile_pass_add_wait(pass->profile, late->left.stream, wait.ns);
    if (!late->counts)
        return 0;
    RFN_TRY(rfn_tally_wait(&pass->tally, wait.pattern, late->site, rank, wait.ns, delays->blames,
                           delays->n_blames));
    return tell_late(pass, late, rank, &wait);
}

int rfn_pass_late(struct rfn_match *match, struct rfn_receive *receive)
{
    struct rfn_wait_pass *pass = (struct rfn_wait_pass *)match;
    if (!receive->note)
        return 0;
    struct rfn_late_receive *late = &pass->late.items[receive->note - 1];
    if (pass->waits->times)
        RFN_TRY(measure_late(pass, late, receive->rank,
                             &match->channels.messages[receive->message - 1]));
    if (--late->users == 0)
        RFN_POOL_GIVE(pass->late.items, pass->late.free, next_free, receive->note - 1);
    return 0;
}

/* ---- leaving ---- */

static struct rfn_wait measure_collective(struct rfn_leaving *leaving,
                                          const struct rfn_awaited *awaited)
{
    struct rfn_collective_wait found = rfn_collectives_measure(
        leaving->pass->match.collectives, &awaited->share, leaving->of->match.since_ns,
        leaving->at->exit_ns);
    if (found.completion_ns > leaving->completion.ns) {
        leaving->completion.pattern = found.completion;
        leaving->completion.ns = found.completion_ns;
    }
    if (found.in_step) {
        leaving->in_step.is = true;
        leaving->in_step.key = found.key;
        leaving->in_step.count = found.count;
    }
    if (leaving->of->match.n_awaited == 1)
        leaving->after = found.after;
    return found.wait;
}

static inline void measure(struct rfn_leaving *leaving, const struct rfn_awaited *awaited)
{
    const struct rfn_event_order_stream *at = leaving->at;
    const struct rfn_message *message = NULL;
    int64_t enter_ns = leaving->of->match.since_ns;
    struct rfn_wait wait;
    if (rfn_awaits_receive(awaited)) {
        message = awaited->message;
        if (!message || message->sent.ns - enter_ns <= leaving->wait.ns)
            return;
        wait = late_sender(message, enter_ns, at->exit_ns);
    } else if (awaited->kind == RFN_AWAITS_ALL) {
        wait = measure_collective(leaving, awaited);
    } else {
        if (awaited->cancelled)
            return;
        wait = rfn_late_receiver(leaving, awaited->message);
    }
    if (wait.ns <= leaving->wait.ns)
        return;
    leaving->wait = wait;
    leaving->longest = message;
}

/* Returns whether the event has been put off. */
static bool measure_all(struct rfn_leaving *leaving)
{
    const struct rfn_awaited *awaited = leaving->of->match.awaited;
    if (leaving->backward && put_off(leaving))
        return true;
    for (const struct rfn_awaited *end = awaited + leaving->of->match.n_awaited; awaited < end;
         awaited++)
        measure(leaving, awaited);
    rfn_settle_doubt(leaving);
    return false;
}

/* ---- points in common: where causes of later waits are looked for from ---- */

static int synced(const struct rfn_leaving *leaving, uint32_t *hint, uint32_t stream, uint64_t at,
                  uint32_t other, uint64_t other_at)
{
    const struct rfn_last_sync sync = {
        .stream = stream, .at = at, .other = other, .other_at = other_at};
    return rfn_last_syncs_add(&leaving->pass->delays.last_syncs, hint, &sync);
}

/* The same of a message that came early, unless a later one has synchronized the two in the same
 * call. */
static int synced_early(const struct rfn_leaving *leaving, uint32_t *hint, uint32_t stream,
                        uint64_t at, uint32_t other, uint64_t other_at)
{
    const struct rfn_last_sync *last = rfn_last_syncs_find(&leaving->pass->delays.last_syncs, *hint,
                                                           stream, other);
    bool own = stream == leaving->stream;
    if (last && (own ? last->at > at : last->other_at > other_at))
        return 0;
    return synced(leaving, hint, stream, at, other, other_at);
}

/* Whether, of a call that waited for several things, what came at this time was one of the early
 * ones: then the stream was where the wait began rather than where it was over. */
static bool came_early(const struct rfn_leaving *leaving, int64_t ns)
{
    const int64_t after_ns = ns - leaving->of->match.since_ns;
    return after_ns > 0 && after_ns < leaving->full_ns / 2;
}

/* The stream has received a message. If it waited for it, the two were in step when it was sent. */
static int synced_with_sender(const struct rfn_leaving *leaving, const struct rfn_message *message)
{
    struct rfn_channel *channel = &leaving->pass->match.channels.items[message->channel];
    const struct rfn_point *sent = &message->sent;
    const struct rfn_wait_stream *of = leaving->of;
    const uint64_t sent_at = message->user ? message->user - 1 : sent->at;
    if (came_early(leaving, sent->ns)) {
        RFN_TRY(synced_early(leaving, &channel->received_user, leaving->stream, of->match.here.at,
                             sent->stream, sent_at));
        return synced_early(leaving, &channel->sent_user, sent->stream, sent->at, leaving->stream,
                            of->match.here.at);
    }
    RFN_TRY(synced(leaving, &channel->received_user, leaving->stream, of->history.at, sent->stream,
                   sent_at));
    if (sent->ns <= of->match.since_ns)
        return 0;
    return synced(leaving, &channel->sent_user, sent->stream, sent->at, leaving->stream,
                  leaving->over_at);
}

/* The stream's send has waited until the receive was posted: then they were in step. */
static int synced_with_receiver(const struct rfn_leaving *leaving, struct rfn_message *message)
{
    struct rfn_channel *channel = &leaving->pass->match.channels.items[message->channel];
    const struct rfn_point *posted = &message->posted;
    bool early = came_early(leaving, posted->ns);
    uint64_t at = early ? leaving->of->match.here.at : leaving->over_at;
    message->user = at + 1;
    RFN_TRY((early ? synced_early : synced)(leaving, &channel->sent_user, leaving->stream, at,
                                            posted->stream, posted->at));
    if (!message->got)
        return 0;
    return (early ? synced_early : synced)(leaving, &channel->received_user, posted->stream,
                                           posted->at, leaving->stream, at);
}

/* The stream has waited at a window for another one: then they were in step. */
static int synced_at_window(const struct rfn_leaving *leaving)
{
    const struct rfn_point *until = &leaving->wait.until;
    uint32_t hint = 0, other_hint = 0;
    RFN_TRY(synced(leaving, &hint, leaving->stream, leaving->over_at, until->stream, until->at));
    return synced(leaving, &other_hint, until->stream, until->at, leaving->stream,
                  leaving->over_at);
}

static int synced_by_receive(struct rfn_leaving *leaving, const struct rfn_awaited *awaited)
{
    if (awaited->message)
        return synced_with_sender(leaving, awaited->message);
    return awaited->cancelled ? 0 : leave_open(leaving, awaited->number);
}

static bool waited_for_receivers(const struct rfn_leaving *leaving)
{
    return (leaving->wait.ns > 0 && leaving->wait.pattern == RFN_LATE_RECEIVER) ||
           (leaving->after.ns > 0 && leaving->after.pattern == RFN_LATE_RECEIVER);
}

static int synced_by_send(const struct rfn_leaving *leaving, const struct rfn_awaited *awaited)
{
    struct rfn_message *message = &leaving->pass->match.channels.messages[awaited->number];
    if (!waited_for_receivers(leaving) || !message->taken ||
        message->posted.ns <= leaving->of->match.since_ns ||
        (message->posted.ns >= leaving->at->exit_ns && message != leaving->doubt.message))
        return 0;
    return synced_with_receiver(leaving, message);
}

/* How long the event waited, of what it awaited. True: it is to be shown again, not having left. */
static bool measure_awaited(struct rfn_leaving *leaving)
{
    const struct rfn_wait_stream *of = leaving->of;
    if (!of->match.n_awaited)
        return false;
    for (size_t i = 0; i < of->match.n_awaited; i++) {
        const struct rfn_awaited *awaited = &of->match.awaited[i];
        if (awaited->kind == RFN_AWAITS_MESSAGE && awaited->message)
            leaving->backward |= awaited->message->sent.ns > leaving->at->exit_ns;
    }
    if (leaving->pass->reduced && rfn_stays_for_receivers(leaving))
        return true;
    return leaving->pass->waits->times && measure_all(leaving);
}

/* The same at a window. 1; 0: it has not left. */
static int measure_window(struct rfn_leaving *leaving, bool forced)
{
    struct rfn_wait_pass *pass = leaving->pass;
    struct rfn_wait waited;
    int there = rfn_match_windows(&pass->match, &leaving->of->match, leaving->stream, leaving->at,
                                  forced, &waited);
    if (there > 0 && pass->waits->times && waited.ns > leaving->wait.ns) {
        leaving->wait = waited;
        leaving->at_window = true;
    }
    return there;
}

/* Any event. */
static __attribute__((flatten)) int leave_any(struct rfn_wait_pass *pass,
                                              struct rfn_wait_stream *of, uint32_t stream,
                                              const struct rfn_event_order_stream *at, bool forced)
{
    struct rfn_leaving leaving;
    int there = rfn_match_arrived(&pass->match, &of->match, stream, forced);
    if (there > 0) {
        begin_leaving(&leaving, pass, of, stream, at);
        if (measure_awaited(&leaving))
            return 0;
        if (of->match.one_sided)
            there = measure_window(&leaving, forced);
    }
    if (there <= 0)
        return there < 0 ? there : RFN_REPLAY_PARK;
    if (at->record->failed_poll) {
        if (pass->waits->times)
            RFN_TRY(rfn_pass_poll(pass, of, at));
    } else if (pass->waits->times) {
        if (of->order.any)
            RFN_TRY(rfn_order_go_on(pass, of, leaving.full_ns > 0));
        RFN_TRY(divide(&leaving));
    }
    if (leaving.at_window && !at->record->failed_poll)
        RFN_TRY(synced_at_window(&leaving));
    for (size_t i = 0; i < of->match.n_awaited; i++) {
        const struct rfn_awaited *awaited = &of->match.awaited[i];
        if (awaited->kind == RFN_AWAITS_MESSAGE_TAKEN)
            RFN_TRY(synced_by_send(&leaving, awaited));
        else if (awaited->kind == RFN_AWAITS_MESSAGE)
            RFN_TRY(synced_by_receive(&leaving, awaited));
    }
    rfn_pass_over(pass, of, stream, at->exit_ns);
    return rfn_match_let_go(&pass->match, &of->match, stream);
}

/* ---- calls of loops that await messages, all of which have come ---- */

/* How long the call waited for the receiver of a message. It may tell how large messages are that
 * are sent before their receive is posted: not here, -1. */
static inline int64_t waited_for_receiver(const struct rfn_wait_pass *pass,
                                          const struct rfn_message *message, bool alone,
                                          int64_t enter_ns, int64_t exit_ns)
{
    bool small = message->bytes <= pass->eager_bytes;
    if (!message->taken || message->posted.ns >= exit_ns)
        return message->mode != RFN_SEND_STANDARD || small ? 0 : -1;
    if (message->mode >= RFN_SEND_BUFFERED)
        return 0;
    if (message->mode != RFN_SEND_SYNCHRONOUS && !alone && small)
        return 0;
    return rfn_most(message->posted.ns - enter_ns, 0);
}

/* A receive is over that nobody waited for. */
static inline int let_go_received(struct rfn_wait_pass *pass, uint32_t stream, uint64_t at,
                                  const struct rfn_awaited *awaited)
{
    const struct rfn_message *message = awaited->message;
    const struct rfn_last_sync sync = {.stream = stream,
                                       .at = at,
                                       .other = message->sent.stream,
                                       .other_at = message->user ? message->user - 1
                                                                 : message->sent.at};
    RFN_TRY(rfn_last_syncs_add(&pass->delays.last_syncs,
                               &pass->match.channels.items[message->channel].received_user, &sync));
    return rfn_channels_received(&pass->match.channels, awaited->number, false);
}

/* What was awaited for longest; message NULL: nothing at all. */
struct longest {
    const struct rfn_message *message;
    int64_t ns;
    bool received;
};

/* Finds it, as measure_all does. False: that is not all that there is to the call. */
static inline bool measure_messages(const struct rfn_wait_pass *pass,
                                    const struct rfn_wait_stream *of, int64_t exit_ns,
                                    struct longest *longest)
{
    const struct rfn_message *message;
    int64_t enter_ns = of->match.since_ns, ns;
    struct rfn_awaited *awaited = of->match.awaited;
    for (const struct rfn_awaited *end = awaited + of->match.n_awaited; awaited < end; awaited++) {
        bool receives = awaited->kind == RFN_AWAITS_MESSAGE;
        if (awaited->cancelled || (!receives && awaited->kind != RFN_AWAITS_MESSAGE_TAKEN))
            return false;
        if (receives) {
            message = rfn_channels_message(&pass->match.channels, awaited->number);
            if (!message || message->sent.ns > exit_ns)
                return false;
            ns = message->sent.ns - enter_ns;
        } else {
            message = &pass->match.channels.messages[awaited->number];
            ns = waited_for_receiver(pass, message, of->match.n_awaited == 1, enter_ns, exit_ns);
            if (ns < 0)
                return false;
        }
        awaited->message = message;
        if (ns > longest->ns)
            *longest = (struct longest){message, ns, receives};
    }
    return true;
}

/* It was something. */
static inline int leave_waited(struct rfn_wait_pass *pass, struct rfn_wait_stream *of,
                               uint32_t stream, const struct rfn_event_order_stream *at,
                               const struct longest *longest)
{
    const struct rfn_message *message = longest->message;
    struct rfn_leaving leaving;
    begin_leaving(&leaving, pass, of, stream, at);
    leaving.wait.pattern = longest->received ? RFN_LATE_SENDER : RFN_LATE_RECEIVER;
    leaving.wait.ns = longest->ns;
    leaving.wait.until = longest->received ? message->sent : message->posted;
    const struct rfn_channel *channel = &pass->match.channels.items[message->channel];
    leaving.wait.last_sync = longest->received ? channel->received_user : channel->sent_user;
    leaving.longest = longest->received ? message : NULL;
    RFN_TRY(divide(&leaving));
    const struct rfn_awaited *awaited = of->match.awaited;
    for (const struct rfn_awaited *end = awaited + of->match.n_awaited; awaited < end; awaited++) {
        if (awaited->kind == RFN_AWAITS_MESSAGE_TAKEN) {
            RFN_TRY(synced_by_send(&leaving, awaited));
            RFN_TRY(rfn_channels_sent(&pass->match.channels, awaited->number, awaited->cancelled));
        } else {
            RFN_TRY(synced_with_sender(&leaving, awaited->message));
            RFN_TRY(rfn_channels_received(&pass->match.channels, awaited->number, false));
        }
    }
    return 0;
}

/* It was nothing. */
static inline int leave_plain(struct rfn_wait_pass *pass, struct rfn_wait_stream *of,
                              uint32_t stream, const struct rfn_event_order_stream *at)
{
    int64_t ns = at->exit_ns - of->match.since_ns;
    if (ns > 0)
        RFN_TRY(rfn_pass_did(pass, of, rfn_symbol_of(of)->mpi_activity, ns));
    const struct rfn_awaited *awaited = of->match.awaited;
    for (const struct rfn_awaited *end = awaited + of->match.n_awaited; awaited < end; awaited++) {
        if (awaited->kind == RFN_AWAITS_MESSAGE)
            RFN_TRY(let_go_received(pass, stream, of->history.at, awaited));
        else
            RFN_TRY(rfn_channels_sent(&pass->match.channels, awaited->number, false));
    }
    return 0;
}

__attribute__((flatten)) int rfn_pass_leave_at_once(struct rfn_wait_pass *pass,
                                                    struct rfn_wait_stream *of, uint32_t stream,
                                                    const struct rfn_event_order_stream *at)
{
    struct longest longest = {0};
    bool plain = at->batch && !of->polled_ns && !of->match.one_sided && of->match.n_awaited;
    if (!plain || !measure_messages(pass, of, at->exit_ns, &longest))
        return 0;
    if (__builtin_expect(of->order.any, 0))
        RFN_TRY(rfn_order_go_on(pass, of, longest.message != NULL));
    if (longest.message)
        RFN_TRY(leave_waited(pass, of, stream, at, &longest));
    else
        RFN_TRY(leave_plain(pass, of, stream, at));
    of->match.n_awaited = 0;
    rfn_pass_over(pass, of, stream, at->exit_ns);
    return 1;
}

int rfn_pass_leave(void *context, uint32_t stream, const struct rfn_event_order_stream *at,
                   bool forced)
{
    struct rfn_wait_pass *pass = context;
    struct rfn_wait_stream *of = &pass->streams[stream];
    int left = rfn_pass_leave_at_once(pass, of, stream, at);
    if (left)
        return left < 0 ? left : 0;
    return leave_any(pass, of, stream, at, forced);
}
