#include "predict/equal_delays.h"

#include "base/grow.h"
#include "predict/symbolic.h"
#include "predict/watch.h"

#include <stdlib.h>

/* When something was posted: recorded time and delay together. */
struct posted {
    struct rfn_form at;
    uint32_t call; /* that posted it */
    bool open;     /* and nothing is known of its other end yet */
};

struct message {
    struct posted sent;
    struct rfn_form kept; /* when its receive was posted, where that is over before the send is */
};

struct collective {
    bool begun;
    uint32_t call; /* of its first rank */
    uint32_t parts, places;
    struct rfn_form all, data, root, others;
    struct rfn_form *by_place; /* NULL: nobody asks */
};

struct stream {
    struct rfn_form delay;
    uint32_t joined; /* the collective call that its current call is part of, + 1 */
    uint32_t gap;    /* the short computation in front of it, its activity + 1 */
};

struct finder {
    struct rfn_call_groups *groups;
    struct rfn_aggregation *to;
    struct rfn_unknowns unknowns;
    struct stream *streams;
    struct message *messages;
    struct posted *receives;
    struct collective *collectives;
    size_t messages_capacity, receives_capacity, collectives_capacity;
    bool *fixed; /* by activity */
    size_t fixed_capacity, to_capacity;
};

static uint32_t call_of(const struct finder *finder, const struct rfn_step *step)
{
    return rfn_call_number(finder->groups, step->stream, step->index);
}

/* ---- activities about which nothing can be assumed ---- */

static int fix(struct finder *finder, const struct rfn_steps *steps, uint32_t activity)
{
    struct rfn_aggregation *to = finder->to;
    RFN_TRY(RFN_GROW_ZEROED(finder->fixed, finder->fixed_capacity, (size_t)activity + 1));
    if (finder->fixed[activity])
        return 0;
    finder->fixed[activity] = true;
    RFN_TRY(RFN_GROW(to->fixed, finder->to_capacity, to->n_fixed + 1));
    to->fixed[to->n_fixed++] = *rfn_steps_activity(steps, activity);
    return 0;
}

/* ---- steps ---- */

/* The computation in front of a call. It is named by the calls around it, so they stay. The
 * recorder's own work takes its time in all predictions. */
static int compute(void *context, const struct rfn_step *step)
{
    struct finder *finder = context;
    const uint32_t call = call_of(finder, step);
    if (step->recording)
        return 0;
    if (step->exit_ns - step->enter_ns < finder->to->least_ns) {
        finder->streams[step->stream].gap = step->activity + 1;
        return 0;
    }
    finder->streams[step->stream].delay = rfn_form_unknown(&finder->unknowns);
    rfn_call_groups_stay(finder->groups, call - 1);
    rfn_call_groups_stay(finder->groups, call);
    return 0;
}

static struct rfn_form entered(const struct finder *finder, const struct rfn_step *step)
{
    return rfn_form_later(&finder->streams[step->stream].delay, step->enter_ns);
}

static void take_latest(struct finder *finder, struct rfn_form *form, const struct rfn_form *other)
{
    *form = rfn_form_latest(&finder->unknowns, form, other);
}

/* An earlier post under this number that has no other end stays. */
static void let_go(struct finder *finder, const struct posted *before)
{
    if (before->open)
        rfn_call_groups_stay(finder->groups, before->call);
}

static int take_part(struct finder *finder, const struct rfn_step *step,
                     const struct rfn_post *post, const struct rfn_form *at)
{
    RFN_TRY(RFN_GROW_ZEROED(finder->collectives, finder->collectives_capacity,
                            (size_t)post->number + 1));
    struct collective *of = &finder->collectives[post->number];
    const uint32_t call = call_of(finder, step);
    if (!of->begun)
        *of = (struct collective){.begun = true, .call = call, .places = post->places};
    if (post->by_place && !of->by_place)
        of->by_place = calloc((size_t)post->places + 1, sizeof *of->by_place);
    if (post->by_place && !of->by_place)
        return RFN_E_NOMEM;
    rfn_call_groups_join(finder->groups, of->call, call);
    of->parts++;
    take_latest(finder, &of->all, at);
    if (post->share.data)
        take_latest(finder, &of->data, at);
    if (post->share.root)
        of->root = *at;
    else if (post->share.data)
        take_latest(finder, &of->others, at);
    if (post->by_place)
        of->by_place[post->share.place] = *at;
    finder->streams[step->stream].joined = post->number + 1;
    return 0;
}

static int enter(void *context, const struct rfn_step *step)
{
    struct finder *finder = context;
    const struct posted posted = {entered(finder, step), call_of(finder, step), true};
    for (size_t i = 0; i < step->n_posts; i++) {
        const struct rfn_post *post = &step->posts[i];
        const size_t n = (size_t)post->number + 1;
        switch (post->kind) {
        case RFN_POST_SEND:
            RFN_TRY(RFN_GROW_ZEROED(finder->messages, finder->messages_capacity, n));
            let_go(finder, &finder->messages[post->number].sent);
            finder->messages[post->number] = (struct message){.sent = posted};
            break;
        case RFN_POST_RECEIVE:
            RFN_TRY(RFN_GROW_ZEROED(finder->receives, finder->receives_capacity, n));
            let_go(finder, &finder->receives[post->number]);
            finder->receives[post->number] = posted;
            break;
        case RFN_POST_COLLECTIVE:
            RFN_TRY(take_part(finder, step, post, &posted.at));
            break;
        }
    }
    if (step->marks)
        rfn_call_groups_stay(finder->groups, posted.call);
    return 0;
}

static int keep(void *context, uint32_t message, uint32_t receive)
{
    struct finder *finder = context;
    if (message >= finder->messages_capacity || receive >= finder->receives_capacity)
        return 0;
    struct message *of = &finder->messages[message];
    struct posted *posted = &finder->receives[receive];
    of->kept = posted->at;
    rfn_call_groups_join(finder->groups, of->sent.call, posted->call);
    of->sent.open = posted->open = false;
    return 0;
}

/* A collective call in which not all ranks take part stays. */
static int over(void *context, uint32_t number)
{
    struct finder *finder = context;
    if (number >= finder->collectives_capacity)
        return 0;
    struct collective *of = &finder->collectives[number];
    if (of->begun && of->parts != of->places)
        rfn_call_groups_stay(finder->groups, of->call);
    free(of->by_place);
    *of = (struct collective){0};
    return 0;
}

/* ---- what calls need ---- */

/* Joins the call with both ends of a message. */
static void join_message(struct finder *finder, const struct rfn_need *need, uint32_t call)
{
    if (need->number < finder->messages_capacity) {
        struct posted *sent = &finder->messages[need->number].sent;
        rfn_call_groups_join(finder->groups, call, sent->call);
        sent->open = false;
    }
    if (need->receive && need->receive <= finder->receives_capacity) {
        struct posted *posted = &finder->receives[need->receive - 1];
        rfn_call_groups_join(finder->groups, call, posted->call);
        posted->open = false;
    }
}

/* When a message had both ends. n 0: it is not known. */
static struct rfn_form message_ready(struct finder *finder, const struct rfn_watched_need *of)
{
    const struct rfn_need *need = of->need;
    struct rfn_form ready = {0};
    if (need->number >= finder->messages_capacity || need->pointed)
        return ready;
    const struct message *message = &finder->messages[need->number];
    ready = message->sent.at;
    if (!of->rendezvous)
        return ready;
    if (need->receive > finder->receives_capacity)
        return (struct rfn_form){0};
    take_latest(finder, &ready,
                need->receive ? &finder->receives[need->receive - 1].at : &message->kept);
    return ready;
}

static struct rfn_form others_ready(struct finder *finder, const struct rfn_need *need)
{
    struct rfn_form ready = {0};
    if (need->number >= finder->collectives_capacity)
        return ready;
    const struct collective *of = &finder->collectives[need->number];
    switch (need->needs) {
    case RFN_NEEDS_ALL:
        return of->all;
    case RFN_NEEDS_DATA:
        return of->data;
    case RFN_NEEDS_ROOT:
        return of->root;
    case RFN_NEEDS_OTHERS:
        return of->others;
    default:
        break;
    }
    for (size_t i = 0; i < need->n_places && of->by_place; i++)
        take_latest(finder, &ready, &of->by_place[need->places ? need->places[i] : i]);
    return ready;
}

/* When all that the call needs is there; n 0: it is not known. */
static struct rfn_form there(struct finder *finder, const struct rfn_step *step,
                             const struct rfn_watched_need *needs, size_t n)
{
    const struct stream *stream = &finder->streams[step->stream];
    struct rfn_form latest = {0}, own = entered(finder, step);
    bool includes_own = false;
    for (size_t i = 0; i < n; i++) {
        const struct rfn_need *need = needs[i].need;
        const bool all = need->kind == RFN_NEED_COLLECTIVE;
        struct rfn_form ready = all                            ? others_ready(finder, need)
                                : need->kind == RFN_NEED_POINT ? (struct rfn_form){0}
                                                               : message_ready(finder, &needs[i]);
        if (ready.n == 0)
            return ready;
        ready = rfn_form_later(&ready, needs[i].way_ns);
        take_latest(finder, &latest, &ready);
        /* Its own enter is among all of them. */
        includes_own |= all && need->needs == RFN_NEEDS_ALL && need->number + 1 == stream->joined &&
                        needs[i].way_ns >= 0;
    }
    if (!includes_own)
        take_latest(finder, &latest, &own);
    return latest;
}

/* Whether an assumption may be about the call or its messages. */
static bool is_variable(const struct finder *finder, const struct rfn_step *step)
{
    bool is = step->exit_ns - step->call_ns >= finder->to->least_ns;
    for (size_t i = 0; i < step->n_needs; i++)
        is |= step->needs[i].kind <= RFN_NEED_TAKEN &&
              step->needs[i].bytes >= finder->to->least_bytes;
    return is;
}

static int64_t recorded_there(const struct rfn_step *step, const struct rfn_watched_need *needs,
                              size_t n)
{
    int64_t ns = step->enter_ns;
    for (size_t i = 0; i < n; i++)
        ns = rfn_most(ns, needs[i].ready_ns + needs[i].way_ns);
    return ns;
}

static int needed(void *context, const struct rfn_steps *steps, const struct rfn_step *step,
                  const struct rfn_watched_need *needs, size_t n)
{
    struct finder *finder = context;
    struct stream *stream = &finder->streams[step->stream];
    const uint32_t call = call_of(finder, step);
    const bool variable = is_variable(finder, step);
    struct rfn_form delay = {0};
    for (size_t i = 0; i < step->n_needs; i++) {
        if (step->needs[i].kind <= RFN_NEED_TAKEN)
            join_message(finder, &step->needs[i], call);
    }
    if (!variable)
        RFN_TRY(fix(finder, steps, step->activity));
    if (stream->gap)
        RFN_TRY(fix(finder, steps, stream->gap - 1));
    if (!variable && !step->polled && n) {
        delay = there(finder, step, needs, n);
        delay = rfn_form_later(&delay, -recorded_there(step, needs, n));
    } else if (!variable && !step->polled) {
        delay = stream->delay;
    }
    stream->joined = stream->gap = 0;
    if (delay.n && rfn_form_equal(&delay, &stream->delay))
        return 0;
    rfn_call_groups_stay(finder->groups, call);
    stream->delay = delay.n ? delay : rfn_form_unknown(&finder->unknowns);
    return 0;
}

/* ---- the whole ---- */

static int init(struct finder *finder, const struct rfn_archive *archive)
{
    const uint32_t n = rfn_archive_run(archive)->streams;
    finder->streams = calloc((size_t)n + 1, sizeof *finder->streams);
    if (!finder->streams)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        finder->streams[i].delay = rfn_form_zero();
    return 0;
}

/* What has no other end in the end. */
static void let_all_go(struct finder *finder)
{
    for (size_t i = 0; i < finder->messages_capacity; i++)
        let_go(finder, &finder->messages[i].sent);
    for (size_t i = 0; i < finder->receives_capacity; i++)
        let_go(finder, &finder->receives[i]);
    for (size_t i = 0; i < finder->collectives_capacity; i++) {
        if (finder->collectives[i].begun)
            rfn_call_groups_stay(finder->groups, finder->collectives[i].call);
        free(finder->collectives[i].by_place);
    }
}

int rfn_equal_delays_find(const struct rfn_archive *archive, struct rfn_call_groups *groups,
                          struct rfn_aggregation *aggregation,
                          void (*progress)(void *context, double share), void *context,
                          struct rfn_diag *diag)
{
    struct finder *finder = calloc(1, sizeof *finder);
    if (!finder)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    finder->groups = groups;
    finder->to = aggregation;
    finder->unknowns.most = aggregation->terms;
    const struct rfn_step_hooks steps = {
        .context = finder, .compute = compute, .enter = enter, .keep = keep, .over = over};
    const struct rfn_predict_watch watch = {.context = finder, .steps = &steps, .needed = needed};
    const struct rfn_lane lane = {NULL, 0};
    const struct rfn_predict_options options = {.network = &aggregation->network,
                                                .lanes = &lane,
                                                .n = 1,
                                                .progress = progress,
                                                .context = context};
    struct rfn_prediction prediction;
    int error = init(finder, archive);
    if (!error)
        error = rfn_predict_watched(archive, &options, &watch, &prediction, diag);
    if (!error)
        rfn_prediction_release(&prediction);
    let_all_go(finder);
    free(finder->streams);
    free(finder->messages);
    free(finder->receives);
    free(finder->collectives);
    free(finder->fixed);
    free(finder);
    return error;
}
