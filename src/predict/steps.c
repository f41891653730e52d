/* steps.c - steps of an archive: a consumer of matching.h. */
#include "predict/steps.h"

#include "analyze/match/activity.h"
#include "analyze/match/matching.h"
#include "analyze/match/own_times.h"
#include "base/grow.h"
#include "refrain/aggregation.h"
#include "refrain/event.h"

#include <stdlib.h>

/* A program that does no more than this between two polls, on average, only waits. */
enum { SPIN_NS = 250 * 1000 };

struct step_symbol {
    struct rfn_match_symbol match;
    uint32_t site, in_mpi;        /* its call site, and the activity of being in it */
    uint32_t before, region, gap; /* the gap in front, as it was last; before UINT32_MAX: not yet */
    bool polls;
};

struct step_stream {
    _Alignas(64) struct rfn_match_stream match;
    struct rfn_open_regions regions;
    uint32_t site; /* of the call before; UINT32_MAX: none */
    struct {
        bool any;
        int64_t enter_ns, n, outside_ns;
    } polls;
    struct rfn_post *posts;
    size_t n_posts, posts_capacity;
    unsigned sends;                  /* of them */
    struct rfn_loop_requests *loops; /* by number */
    size_t loops_capacity;
    size_t next_gap;          /* of the aggregation */
    struct rfn_off_times own; /* when the recorder worked, */
    size_t own_at;            /* and the first piece that may not be over */
};

struct rfn_steps {
    struct rfn_match match; /* first: hooks of matching get it */
    const struct rfn_step_hooks *hooks;
    struct rfn_activities activities;
    struct rfn_need *needs;
    size_t needs_capacity;
    bool stopped;
    struct rfn_aggregation aggregation;
};

static struct step_stream *stream_of(const struct rfn_steps *steps, uint32_t stream)
{
    return (struct step_stream *)rfn_match_stream(&steps->match, stream);
}

static struct step_symbol *symbol_of(const struct step_stream *stream)
{
    return (struct step_symbol *)stream->match.symbol;
}

/* ---- symbols and activities ---- */

static int new_symbol(struct rfn_match *match, uint32_t stream, struct rfn_match_symbol *of,
                      const struct rfn_record *record)
{
    struct rfn_steps *steps = (struct rfn_steps *)match;
    struct step_symbol *symbol = (struct step_symbol *)of;
    const struct rfn_activity in_mpi = {
        .kind = RFN_ACTIVITY_MPI, .at = {record->function, record->path}, .region = RFN_NO_REGION};
    (void)stream;
    int64_t site = rfn_site_of(&steps->activities, in_mpi.at);
    RFN_TRY((int)rfn_least(site, 0));
    int64_t activity = rfn_activity_of(&steps->activities, &in_mpi);
    RFN_TRY((int)rfn_least(activity, 0));
    symbol->site = of->site = (uint32_t)site;
    symbol->in_mpi = (uint32_t)activity;
    symbol->before = UINT32_MAX;
    symbol->polls = rfn_archive_function(match->archive, record->function)->flags &
                    RFN_FUNCTION_POLL;
    return 0;
}

static int64_t gap_activity(struct rfn_steps *steps, const struct step_stream *stream)
{
    struct step_symbol *symbol = symbol_of(stream);
    const uint32_t region = rfn_open_regions_innermost(&stream->regions);
    if (symbol->before == stream->site && symbol->region == region)
        return symbol->gap;
    const struct rfn_activity activity = {.kind = RFN_ACTIVITY_COMPUTE,
                                          .before = steps->activities.sites[stream->site],
                                          .at = steps->activities.sites[symbol->site],
                                          .region = region};
    int64_t number = rfn_activity_of(&steps->activities, &activity);
    RFN_TRY((int)rfn_least(number, 0));
    symbol->before = stream->site;
    symbol->region = region;
    symbol->gap = (uint32_t)number;
    return number;
}

static struct rfn_step step_of(const struct step_stream *of, uint32_t stream,
                               const struct rfn_event_order_stream *at)
{
    return (struct rfn_step){.stream = stream,
                             .rank = at->rank,
                             .record = at->record,
                             .index = rfn_event_order_index(at),
                             .call_ns = at->enter_ns,
                             .activity = symbol_of(of)->in_mpi,
                             .enter_ns = at->enter_ns,
                             .exit_ns = at->exit_ns};
}

/* ---- between calls ---- */

/* Whether calls in front of it were left out, none of which was an unsuccessful poll. What was done
 * instead of them nothing can be assumed about. */
static bool is_aggregated(const struct rfn_steps *steps, struct step_stream *of, uint32_t stream,
                          const struct rfn_event_order_stream *at)
{
    if (!steps->aggregation.any)
        return false;
    const struct rfn_aggregated_stream *gaps = &steps->aggregation.streams[stream];
    const bool is = of->next_gap < gaps->n &&
                    gaps->gaps[of->next_gap].event == rfn_event_order_index(at);
    of->next_gap += is;
    of->polls.any &= !is;
    return is;
}

/* Part of a gap. activity: its number, or an error. */
static int tell_gap(const struct rfn_steps *steps, struct rfn_step *step, int64_t activity,
                    int64_t ns)
{
    RFN_TRY((int)rfn_least(activity, 0));
    step->activity = (uint32_t)activity;
    step->enter_ns = step->exit_ns;
    step->exit_ns += ns;
    return steps->hooks->compute(steps->hooks->context, step);
}

/* The recorder's own work comes first: it takes the time that it took, whatever is assumed. */
static int take_gap(struct rfn_steps *steps, struct step_stream *of, uint32_t stream,
                    const struct rfn_event_order_stream *at)
{
    static const struct rfn_activity recording = {.kind = RFN_ACTIVITY_RECORDING,
                                                  .region = RFN_NO_REGION};
    const int64_t gap = at->enter_ns - at->before_ns;
    if (at->first || gap <= 0 || of->site == UINT32_MAX || !steps->hooks->compute)
        return 0;
    if (of->polls.any)
        of->polls.outside_ns += gap;
    const int64_t own = rfn_off_times_overlap(&of->own, &of->own_at, at->before_ns, at->enter_ns);
    struct rfn_step step = step_of(of, stream, at);
    step.exit_ns = at->before_ns;
    step.recording = true;
    if (own)
        RFN_TRY(tell_gap(steps, &step, rfn_activity_of(&steps->activities, &recording), own));
    step.recording = false;
    return own < gap ? tell_gap(steps, &step, gap_activity(steps, of), gap - own) : 0;
}

/* Unsuccessful polls begin a phase, or go on with it; any other call but a successful one ends it.
 */
static int take_polls(struct rfn_steps *steps, struct step_stream *of, uint32_t stream,
                      const struct rfn_event_order_stream *at)
{
    if (!at->record->failed_poll) {
        of->polls.any &= symbol_of(of)->polls;
        return 0;
    }
    if (!of->polls.any) {
        of->polls.any = true;
        of->polls.enter_ns = at->enter_ns;
        of->polls.n = of->polls.outside_ns = 0;
        const struct rfn_step step = step_of(of, stream, at);
        if (steps->hooks->polls)
            RFN_TRY(steps->hooks->polls(steps->hooks->context, &step));
    }
    of->polls.n += (int64_t)(at->record->polls & INT32_MAX);
    of->polls.outside_ns += at->exit_ns - at->enter_ns - rfn_event_order_inside_ns(at);
    return 0;
}

/* ---- a call enters ---- */

static int posted(struct rfn_match *match, uint32_t stream, const struct rfn_awaited *one)
{
    struct step_stream *of = stream_of((struct rfn_steps *)match, stream);
    struct rfn_post post = {.number = one->number};
    switch (one->kind) {
    case RFN_AWAITS_MESSAGE_TAKEN:
        post.kind = RFN_POST_SEND;
        of->sends++;
        break;
    case RFN_AWAITS_MESSAGE:
        if (of->match.symbol->role->in[RFN_IN_MESSAGE] >= 0)
            return 0; /* a matched probe has posted it */
        post.kind = RFN_POST_RECEIVE;
        break;
    case RFN_AWAITS_PROBED:
        post.kind = RFN_POST_RECEIVE;
        break;
    case RFN_AWAITS_ALL:
        post = (struct rfn_post){RFN_POST_COLLECTIVE, one->share.instance, one->share, 0,
                                 rfn_collectives_by_place(match->collectives, one->share.instance)};
        rfn_collectives_comm(match->collectives, one->share.instance, &post.places);
        break;
    default:
        return 0;
    }
    RFN_TRY(RFN_GROW(of->posts, of->posts_capacity, of->n_posts + 1));
    of->posts[of->n_posts++] = post;
    return 0;
}

/* What it posts: a blocking call what it then awaits, another one what its request does. */
static int tell_enter(struct rfn_steps *steps, struct step_stream *of, uint32_t stream,
                      const struct rfn_event_order_stream *at)
{
    const struct rfn_call *role = of->match.symbol->role;
    const bool blocking = role->variant == RFN_CALL_BLOCKING &&
                          (role->kind < RFN_CALL_START || rfn_call_is_collective(role));
    for (size_t i = 0; blocking && i < of->match.n_awaited; i++)
        RFN_TRY(posted(&steps->match, stream, &of->match.awaited[i]));
    struct rfn_step step = step_of(of, stream, at);
    step.marks = of->match.one_sided || role->kind == RFN_CALL_READY;
    step.blocking = blocking;
    step.posts = of->posts;
    step.n_posts = of->n_posts;
    if (!steps->hooks->enter || (!step.n_posts && !step.marks))
        return 0;
    return steps->hooks->enter(steps->hooks->context, &step);
}

static bool goes_in_parts(enum rfn_operation operation)
{
    switch (operation) {
    case RFN_MPI_Gather:
    case RFN_MPI_Gatherv:
    case RFN_MPI_Scatter:
    case RFN_MPI_Scatterv:
    case RFN_MPI_Allgather:
    case RFN_MPI_Allgatherv:
    case RFN_MPI_Alltoall:
    case RFN_MPI_Alltoallv:
    case RFN_MPI_Alltoallw:
        return true;
    default:
        return false;
    }
}

static void describe_collective(const struct rfn_steps *steps, const struct step_stream *of,
                                struct rfn_step *step)
{
    const struct rfn_volume *volume = &of->match.symbol->volume;
    const struct rfn_call *role = of->match.symbol->role;
    for (size_t i = 0; i < of->match.n_awaited; i++) {
        const struct rfn_awaited *awaited = &of->match.awaited[i];
        if (awaited->kind != RFN_AWAITS_ALL)
            continue;
        rfn_collectives_comm(steps->match.collectives, awaited->share.instance, &step->places);
        step->bytes = rfn_most(rfn_most(volume->sent_bytes, volume->received_bytes), 0);
        step->parts = goes_in_parts((enum rfn_operation)role->operation);
    }
}

static int tell_leave(struct rfn_steps *steps, struct step_stream *of, uint32_t stream,
                      const struct rfn_event_order_stream *at, size_t n_needs)
{
    struct rfn_step step = step_of(of, stream, at);
    step.needs = steps->needs;
    step.n_needs = n_needs;
    step.messages = of->sends;
    for (size_t i = 0; i < n_needs; i++)
        step.messages += steps->needs[i].kind == RFN_NEED_MESSAGE;
    describe_collective(steps, of, &step);
    of->site = symbol_of(of)->site;
    if (at->record->failed_poll)
        return steps->hooks->leave(steps->hooks->context, &step);
    step.polled = of->polls.any && n_needs && of->polls.outside_ns / SPIN_NS < of->polls.n;
    if (step.polled)
        step.enter_ns = of->polls.enter_ns;
    of->polls.any = false;
    return steps->hooks->leave(steps->hooks->context, &step);
}

static int enter(void *context, uint32_t stream, struct rfn_event_order_stream *at)
{
    struct rfn_steps *steps = context;
    struct step_stream *of = stream_of(steps, stream);
    if (steps->stopped)
        return RFN_E_RANGE;
    of->n_posts = 0;
    of->sends = 0;
    RFN_TRY(rfn_match_begin(&steps->match, &of->match, stream, at));
    if (!is_aggregated(steps, of, stream, at))
        RFN_TRY(take_gap(steps, of, stream, at));
    RFN_TRY(take_polls(steps, of, stream, at));
    RFN_TRY(rfn_open_regions_event(&of->regions, of->match.symbol->role, at->record));
    RFN_TRY(rfn_match_call(&steps->match, &of->match, at));
    RFN_TRY(tell_enter(steps, of, stream, at));
    if (of->match.n_awaited || of->match.one_sided)
        return 0;
    RFN_TRY(tell_leave(steps, of, stream, at, 0));
    return RFN_REPLAY_LEFT;
}

/* ---- a call leaves ---- */

static struct rfn_need need_message(const struct rfn_message *message,
                                    const struct rfn_channels *channels)
{
    const bool wildcard = message->receive &&
                          channels->receives[message->receive - 1].any & RFN_ANY_SOURCE;
    return (struct rfn_need){.kind = RFN_NEED_MESSAGE,
                             .number = (uint32_t)(message - channels->messages),
                             .receive = message->receive,
                             .bytes = message->bytes,
                             .sent_ns = message->sent.ns,
                             .posted_ns = message->taken ? message->posted.ns : INT64_MIN,
                             .pointed = channels->items[message->channel].key.part != 0,
                             .synchronous = message->mode == RFN_SEND_SYNCHRONOUS,
                             .wildcard = wildcard,
                             .stream = message->sent.stream,
                             .event = message->sent.at};
}

/* Whether the call needs it, and how. */
static bool describe(struct rfn_steps *steps, const struct rfn_awaited *awaited,
                     const struct rfn_event_order_stream *at, struct rfn_need *need)
{
    const struct rfn_channels *channels = &steps->match.channels;
    if (awaited->kind == RFN_AWAITS_ALL) {
        *need = (struct rfn_need){.kind = RFN_NEED_COLLECTIVE, .number = awaited->share.instance};
        need->needs = rfn_collectives_needs(steps->match.collectives, &awaited->share, at->exit_ns,
                                            &need->ns, &need->places, &need->n_places);
        return need->needs != RFN_NEEDS_NOBODY;
    }
    if (awaited->kind == RFN_AWAITS_NOTHING || awaited->cancelled || !awaited->message)
        return false;
    *need = need_message(awaited->message, channels);
    if (awaited->kind != RFN_AWAITS_MESSAGE_TAKEN)
        return awaited->message->begun;
    need->kind = RFN_NEED_TAKEN;
    return awaited->message->taken && awaited->message->begun &&
           awaited->message->mode < RFN_SEND_BUFFERED;
}

static int describe_all(struct rfn_steps *steps, const struct step_stream *of,
                        const struct rfn_event_order_stream *at, const struct rfn_wait *waited,
                        size_t *n)
{
    *n = 0;
    RFN_TRY(RFN_GROW(steps->needs, steps->needs_capacity, of->match.n_awaited + 1));
    for (size_t i = 0; i < of->match.n_awaited; i++)
        *n += describe(steps, &of->match.awaited[i], at, &steps->needs[*n]);
    if (waited->ns > 0)
        steps->needs[(*n)++] = (struct rfn_need){.kind = RFN_NEED_POINT,
                                                 .ns = waited->until.ns,
                                                 .stream = waited->until.stream,
                                                 .event = waited->until.at};
    return 0;
}

/* Receives that end before the send of their message. */
static int keep(struct rfn_steps *steps, const struct step_stream *of)
{
    const struct rfn_channels *channels = &steps->match.channels;
    for (size_t i = 0; i < of->match.n_awaited; i++) {
        const struct rfn_awaited *awaited = &of->match.awaited[i];
        if (awaited->kind != RFN_AWAITS_MESSAGE || awaited->cancelled || !awaited->message ||
            awaited->message->over)
            continue;
        RFN_TRY(steps->hooks->keep(steps->hooks->context,
                                   (uint32_t)(awaited->message - channels->messages),
                                   awaited->number));
    }
    return 0;
}

static int leave(void *context, uint32_t stream, const struct rfn_event_order_stream *at,
                 bool forced)
{
    struct rfn_steps *steps = context;
    struct step_stream *of = stream_of(steps, stream);
    struct rfn_wait waited = {.ns = 0};
    size_t n;
    int there = rfn_match_arrived(&steps->match, &of->match, stream, forced);
    if (there > 0 && of->match.one_sided)
        there = rfn_match_windows(&steps->match, &of->match, stream, at, forced, &waited);
    if (there <= 0)
        return there < 0 ? there : RFN_REPLAY_PARK;
    RFN_TRY(describe_all(steps, of, at, &waited, &n));
    RFN_TRY(tell_leave(steps, of, stream, at, n));
    if (steps->hooks->keep)
        RFN_TRY(keep(steps, of));
    return rfn_match_let_go(&steps->match, &of->match, stream);
}

/* ---- batches ---- */

/* What iterations do to requests is learned in a loop's first batch. Other threads of a process may
 * do something to its requests. */
static int begin_batch(void *context, uint32_t stream, const struct rfn_event_order_stream *at)
{
    struct step_stream *of = stream_of(context, stream);
    if (at->several)
        return 0;
    RFN_TRY(RFN_GROW_ZEROED(of->loops, of->loops_capacity, (size_t)at->batch->loop + 1));
    of->match.loop = &of->loops[at->batch->loop];
    return of->match.loop->knowledge == RFN_LOOP_UNKNOWN
               ? rfn_loop_learn(of->match.loop, at->batch->width)
               : 0;
}

static int end_batch(void *context, uint32_t stream, const struct rfn_event_order_stream *at)
{
    struct rfn_steps *steps = context;
    return rfn_match_end_batch(&steps->match, stream, at);
}

/* ---- between streams ---- */

/* A receive gets its message after its call has left. */
static int late(struct rfn_match *match, struct rfn_receive *receive)
{
    const struct rfn_steps *steps = (struct rfn_steps *)match;
    if (!steps->hooks->keep || match->channels.messages[receive->message - 1].over)
        return 0;
    return steps->hooks->keep(steps->hooks->context, receive->message - 1,
                              (uint32_t)(receive - match->channels.receives));
}

static int collective(struct rfn_match *match, uint32_t instance)
{
    const struct rfn_steps *steps = (struct rfn_steps *)match;
    return steps->hooks->over ? steps->hooks->over(steps->hooks->context, instance) : 0;
}

/* ---- the whole ---- */

static struct rfn_off_times *own_times_of(void *context, uint32_t stream)
{
    return &stream_of(context, stream)->own;
}

static int init(struct rfn_steps *steps, const struct rfn_archive *archive)
{
    const struct rfn_event_order_hooks hooks = {.enter = enter,
                                                .leave = leave,
                                                .begin_batch = begin_batch,
                                                .end_batch = end_batch,
                                                .progress = steps->hooks->progress,
                                                .context = steps,
                                                .progress_context = steps->hooks->progress_context};
    steps->match.archive = archive;
    steps->match.hooks = (struct rfn_match_consumer){.stream_size = sizeof(struct step_stream),
                                                     .symbol_size = sizeof(struct step_symbol),
                                                     .symbol = new_symbol,
                                                     .late = late,
                                                     .posted = posted,
                                                     .collective = collective};
    RFN_TRY(rfn_match_init(&steps->match, &hooks));
    for (uint32_t i = 0; i < steps->match.n_streams; i++)
        stream_of(steps, i)->site = UINT32_MAX;
    return rfn_own_times_find(&steps->match, own_times_of, steps);
}

int rfn_steps_new(const struct rfn_archive *archive, const struct rfn_step_hooks *hooks,
                  struct rfn_steps **steps)
{
    struct rfn_steps *made = calloc(1, sizeof *made);
    if (!made)
        return RFN_E_NOMEM;
    made->hooks = hooks;
    int error = rfn_aggregation_read(archive, &made->aggregation, NULL);
    if (!error)
        error = init(made, archive);
    if (error < 0)
        rfn_steps_free(made);
    else
        *steps = made;
    return error;
}

void rfn_steps_free(struct rfn_steps *steps)
{
    if (!steps)
        return;
    for (uint32_t i = 0; steps->match.streams && i < steps->match.n_streams; i++) {
        struct step_stream *of = stream_of(steps, i);
        rfn_open_regions_release(&of->regions);
        rfn_off_times_release(&of->own);
        for (size_t k = 0; k < of->loops_capacity; k++)
            rfn_loop_release(&of->loops[k]);
        free(of->loops);
        free(of->posts);
    }
    rfn_match_release(&steps->match);
    rfn_activities_release(&steps->activities);
    rfn_aggregation_release(&steps->aggregation);
    free(steps->needs);
    free(steps);
}

int rfn_steps_run(struct rfn_steps *steps)
{
    const int error = rfn_event_order_run(steps->match.replay);
    return steps->stopped ? 0 : error;
}

void rfn_steps_stop(struct rfn_steps *steps)
{
    steps->stopped = true;
}

const struct rfn_activity *rfn_steps_activity(const struct rfn_steps *steps, uint32_t activity)
{
    return &steps->activities.items[activity];
}

int64_t rfn_steps_start_ns(const struct rfn_steps *steps)
{
    return rfn_event_order_start_ns(steps->match.replay);
}
