/* predict.c - the recorded model (doc/whatif.md): all lanes in one pass over the steps of a run.
 *
 * Each stream has, per lane, D = recorded - predicted: by how much it is earlier. Each message and
 * collective call in flight has, per lane, when it was posted. A call that needs nobody, and takes
 * as long as recorded, leaves D as it is. A call that needs others ends at
 *
 *     X' = max(E', A' of all that it needs) + (X - max(E, A of all that it needs))
 *
 * with E and X the recorded enter and exit, A when something was there. A message is there
 * some time after both ends were ready for it (`way`), which is the network's part of it.
 */
#include "refrain/predict.h"

#include "base/grow.h"
#include "predict/watch.h"
#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- what lanes assume ---- */

/* Of an activity, in one lane. */
struct effect {
    uint32_t lane;
    const struct rfn_assumption *assumption;
};

/* Of each activity, found when it comes first. */
struct effects {
    bool known;
    struct effect *items;
    size_t n;
};

/* ---- messages and collective calls in flight ---- */

/* Vectors of lanes, by number. */
struct vectors {
    int64_t *items;
    size_t capacity;
};

struct collective {
    int64_t *latest; /* of all, of data, of the root, of the others: four vectors */
    int64_t *places; /* of each place, where the kind of call asks for it; NULL */
    bool begun;
};

enum { ALL, DATA, ROOT, OTHERS, LATEST };

struct mark {
    bool any;
    uint64_t event;
    int64_t enter_ns;
};

/* Points that others may wait for at windows, the last of them. */
enum { MARKS = 64 };

struct stream {
    int64_t *early;  /* D */
    int64_t *polled; /* D when the phase of polls began; NULL: there was none */
    int64_t *marked; /* MARKS vectors; NULL: none */
    int64_t last_ns; /* exit of its last call */
    struct mark marks[MARKS];
    size_t n_marks;
};

/* What a call needs was there when both vectors (the second may be NULL) had come, and `way_ns`
 * later. */
struct source {
    const struct rfn_need *need;
    const int64_t *first, *second;
    int64_t ready_ns, way_ns; /* as recorded */
    int64_t bytes;
    bool message, rendezvous;
};

struct engine {
    const struct rfn_archive *archive;
    const struct rfn_network *network;
    const struct rfn_lane *given;
    size_t n;                              /* lanes */
    const struct rfn_predict_watch *watch; /* or NULL */
    struct rfn_watched_need *watched;      /* what it is told of the call at hand */
    size_t watched_capacity, n_sources;    /* of that call */
    struct rfn_steps *steps;
    struct effects *effects; /* by activity */
    size_t effects_capacity;
    struct rfn_network *networks; /* by lane */
    uint32_t *special;            /* lanes whose network differs */
    size_t n_network;
    struct vectors messages, receives; /* when they were posted; of a message behind it that of its
                                          receive, where that is over before the send is */
    struct collective *collectives;
    size_t collectives_capacity;
    struct stream *streams;
    int64_t *exits;         /* of the call at hand, by lane */
    struct source *sources; /* of its needs */
    size_t sources_capacity;
    struct vectors latest; /* of places, by need */
    struct rfn_prediction *prediction;
};

/* Has who looks on see a step. */
#define WATCH(engine, hook, ...)                                                      \
    ((engine)->watch && (engine)->watch->steps && (engine)->watch->steps->hook        \
         ? (engine)->watch->steps->hook((engine)->watch->steps->context, __VA_ARGS__) \
         : 0)

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t nearest(double ns)
{
    return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

static int64_t times(double factor, int64_t ns)
{
    return nearest(factor * (double)ns);
}

/* The vector of a number, for which there is room then; NULL: no memory. */
static int64_t *vector(struct vectors *vectors, uint32_t number, size_t n)
{
    if (RFN_GROW_ZEROED(vectors->items, vectors->capacity, ((size_t)number + 1) * n) < 0)
        return NULL;
    return vectors->items + (size_t)number * n;
}

/* ---- effects ---- */

static bool concerns(const struct rfn_assumption *assumption, const struct rfn_activity *activity)
{
    const bool compute = activity->kind == RFN_ACTIVITY_COMPUTE;
    const bool call = assumption->what == RFN_ASSUME_CALL || assumption->what == RFN_ASSUME_WAIT;
    if (compute ? assumption->what != RFN_ASSUME_COMPUTE : !call)
        return false;
    return !assumption->takes || assumption->takes(assumption->context, activity);
}

static int find_effects(struct engine *engine, const struct rfn_activity *activity,
                        struct effects *effects)
{
    size_t capacity = 0;
    for (size_t lane = 0; lane < engine->n; lane++) {
        for (size_t i = 0; i < engine->given[lane].n; i++) {
            const struct rfn_assumption *assumption = &engine->given[lane].assumptions[i];
            if (!concerns(assumption, activity))
                continue;
            RFN_TRY(RFN_GROW(effects->items, capacity, effects->n + 1));
            effects->items[effects->n++] = (struct effect){(uint32_t)lane, assumption};
        }
    }
    effects->known = true;
    return 0;
}

/* NULL: no memory. */
static const struct effects *effects_of(struct engine *engine, uint32_t activity)
{
    if (RFN_GROW_ZEROED(engine->effects, engine->effects_capacity, (size_t)activity + 1) < 0)
        return NULL;
    struct effects *effects = &engine->effects[activity];
    if (!effects->known &&
        find_effects(engine, rfn_steps_activity(engine->steps, activity), effects) < 0)
        return NULL;
    return effects;
}

static bool is_of(const struct rfn_assumption *assumption, const struct rfn_step *step)
{
    return (!assumption->ranks || assumption->ranks[step->rank]) &&
           (!assumption->single || assumption->event == step->record->index);
}

/* By how much a lane's factor of something changes in a call. */
static double factor_of(const struct effects *effects, uint32_t lane, const struct rfn_step *step,
                        enum rfn_assumed what)
{
    double factor = 1;
    for (size_t i = 0; i < effects->n; i++) {
        const struct effect *effect = &effects->items[i];
        if (effect->lane == lane && effect->assumption->what == what &&
            is_of(effect->assumption, step))
            factor *= effect->assumption->factor;
    }
    return factor;
}

/* ---- computing ---- */

static int compute(void *context, const struct rfn_step *step)
{
    struct engine *engine = context;
    RFN_TRY(WATCH(engine, compute, step));
    const struct effects *effects = effects_of(engine, step->activity);
    int64_t *early = engine->streams[step->stream].early;
    const int64_t ns = step->exit_ns - step->enter_ns;
    if (!effects)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < effects->n; i++) {
        const struct effect *effect = &effects->items[i];
        const bool first = i == 0 || effects->items[i - 1].lane != effect->lane;
        if (first)
            early[effect->lane] +=
                ns - times(factor_of(effects, effect->lane, step, RFN_ASSUME_COMPUTE), ns);
    }
    return 0;
}

static int polls(void *context, const struct rfn_step *step)
{
    struct engine *engine = context;
    struct stream *stream = &engine->streams[step->stream];
    RFN_TRY(WATCH(engine, polls, step));
    if (!stream->polled)
        stream->polled = malloc(engine->n * sizeof *stream->polled);
    if (!stream->polled)
        return RFN_E_NOMEM;
    memcpy(stream->polled, stream->early, engine->n * sizeof *stream->polled);
    return 0;
}

/* ---- what calls post ---- */

static void set_entered(const struct engine *engine, const struct rfn_step *step, int64_t *to)
{
    const int64_t *early = engine->streams[step->stream].early;
    for (size_t i = 0; i < engine->n; i++)
        to[i] = step->enter_ns - early[i];
}

static void take_latest(const struct engine *engine, const struct rfn_step *step, int64_t *latest)
{
    const int64_t *early = engine->streams[step->stream].early;
    for (size_t i = 0; i < engine->n; i++)
        latest[i] = most(latest[i], step->enter_ns - early[i]);
}

static int begin_collective(const struct engine *engine, struct collective *collective)
{
    const size_t n = engine->n * LATEST;
    if (!collective->latest)
        collective->latest = malloc(n * sizeof *collective->latest);
    if (!collective->latest)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        collective->latest[i] = INT64_MIN;
    collective->begun = true;
    return 0;
}

static int take_part(struct engine *engine, const struct rfn_step *step,
                     const struct rfn_post *post)
{
    RFN_TRY(RFN_GROW_ZEROED(engine->collectives, engine->collectives_capacity,
                            (size_t)post->number + 1));
    struct collective *collective = &engine->collectives[post->number];
    const struct rfn_share *share = &post->share;
    const size_t n = engine->n;
    if (!collective->begun)
        RFN_TRY(begin_collective(engine, collective));
    take_latest(engine, step, collective->latest + ALL * n);
    if (share->data)
        take_latest(engine, step, collective->latest + DATA * n);
    if (share->root)
        set_entered(engine, step, collective->latest + ROOT * n);
    else if (share->data)
        take_latest(engine, step, collective->latest + OTHERS * n);
    if (!post->by_place)
        return 0;
    if (!collective->places)
        collective->places = calloc((size_t)post->places * n + 1, sizeof *collective->places);
    if (!collective->places)
        return RFN_E_NOMEM;
    set_entered(engine, step, collective->places + (size_t)share->place * n);
    return 0;
}

static int mark(struct engine *engine, const struct rfn_step *step)
{
    struct stream *stream = &engine->streams[step->stream];
    const size_t at = stream->n_marks++ % MARKS;
    if (!stream->marked)
        stream->marked = malloc(MARKS * engine->n * sizeof *stream->marked);
    if (!stream->marked)
        return RFN_E_NOMEM;
    stream->marks[at] = (struct mark){true, step->record->index, step->enter_ns};
    set_entered(engine, step, stream->marked + at * engine->n);
    return 0;
}

static int enter(void *context, const struct rfn_step *step)
{
    struct engine *engine = context;
    RFN_TRY(WATCH(engine, enter, step));
    for (size_t i = 0; i < step->n_posts; i++) {
        const struct rfn_post *post = &step->posts[i];
        if (post->kind == RFN_POST_COLLECTIVE) {
            RFN_TRY(take_part(engine, step, post));
            continue;
        }
        int64_t *to = post->kind == RFN_POST_SEND
                          ? vector(&engine->messages, post->number, 2 * engine->n)
                          : vector(&engine->receives, post->number, engine->n);
        if (!to)
            return RFN_E_NOMEM;
        set_entered(engine, step, to);
    }
    return step->marks ? mark(engine, step) : 0;
}

static int keep(void *context, uint32_t message, uint32_t receive)
{
    struct engine *engine = context;
    RFN_TRY(WATCH(engine, keep, message, receive));
    int64_t *to = vector(&engine->messages, message, 2 * engine->n);
    const int64_t *from = vector(&engine->receives, receive, engine->n);
    if (!to || !from)
        return RFN_E_NOMEM;
    memcpy(to + engine->n, from, engine->n * sizeof *to);
    return 0;
}

static int over(void *context, uint32_t number)
{
    struct engine *engine = context;
    RFN_TRY(WATCH(engine, over, number));
    if (number < engine->collectives_capacity) {
        engine->collectives[number].begun = false;
        free(engine->collectives[number].places);
        engine->collectives[number].places = NULL;
    }
    return 0;
}

/* ---- what calls need ---- */

/* Larger messages, and those that say so, go only when their receive is posted. */
static bool is_rendezvous(const struct engine *engine, const struct rfn_need *need)
{
    return need->posted_ns > INT64_MIN &&
           (need->synchronous || need->bytes > engine->network->eager_bytes);
}

/* What a message takes when both ends are ready for it. */
static double way_ns(const struct rfn_network *network, int64_t bytes, bool rendezvous)
{
    return (rendezvous ? 2 : 1) * (network->overhead_ns + network->latency_ns) +
           (bytes > 1 ? (double)(bytes - 1) : 0) * network->gap_per_byte_ns;
}

/* When a stream came to a point: false, that is too long ago. */
static bool find_point(const struct engine *engine, const struct rfn_need *need,
                       struct source *source)
{
    const struct stream *stream = &engine->streams[need->stream];
    source->first = NULL;
    for (size_t i = 0; i < MARKS && stream->marked; i++) {
        const struct mark *mark = &stream->marks[i];
        if (!mark->any || mark->event != need->event)
            continue;
        source->first = stream->marked + i * engine->n;
        source->ready_ns = mark->enter_ns;
    }
    return source->first;
}

/* A message, or that the receive of one is posted. false: it is sent whoever receives it, or was
 * when its receive was posted. */
static bool find_message(struct engine *engine, const struct rfn_step *step,
                         const struct rfn_need *need, struct source *source)
{
    const bool rendezvous = is_rendezvous(engine, need);
    if (need->kind == RFN_NEED_TAKEN && (!rendezvous || need->posted_ns >= step->exit_ns))
        return false;
    const int64_t *sent = vector(&engine->messages, need->number, 2 * engine->n);
    *source = (struct source){.first = sent,
                              .ready_ns = need->sent_ns,
                              .bytes = need->bytes,
                              .message = true,
                              .rendezvous = rendezvous};
    if (!sent || (need->pointed && !find_point(engine, need, source)))
        return false;
    if (rendezvous) {
        source->ready_ns = most(source->ready_ns, need->posted_ns);
        source->second = need->receive ? vector(&engine->receives, need->receive - 1, engine->n)
                                       : sent + engine->n;
    }
    source->way_ns = nearest(way_ns(engine->network, need->bytes, rendezvous));
    return !rendezvous || source->second;
}

/* The latest of some places, in vector i of `latest`. */
static const int64_t *latest_of(struct engine *engine, const struct rfn_need *need,
                                const int64_t *places, size_t i)
{
    int64_t *latest = vector(&engine->latest, (uint32_t)i, engine->n);
    for (size_t k = 0; latest && k < engine->n; k++)
        latest[k] = INT64_MIN;
    for (size_t p = 0; latest && p < need->n_places; p++) {
        const int64_t *of = places + (need->places ? need->places[p] : p) * engine->n;
        for (size_t k = 0; k < engine->n; k++)
            latest[k] = most(latest[k], of[k]);
    }
    return latest;
}

static bool find_others(struct engine *engine, const struct rfn_need *need, size_t i,
                        struct source *source)
{
    static const int which[] = {[RFN_NEEDS_ALL] = ALL,
                                [RFN_NEEDS_DATA] = DATA,
                                [RFN_NEEDS_ROOT] = ROOT,
                                [RFN_NEEDS_OTHERS] = OTHERS};
    *source = (struct source){.ready_ns = need->ns};
    if (need->number >= engine->collectives_capacity)
        return false;
    const struct collective *collective = &engine->collectives[need->number];
    if (!collective->begun)
        return false;
    if (need->needs == RFN_NEEDS_LOWER || need->needs == RFN_NEEDS_NEIGHBORS)
        source->first = collective->places ? latest_of(engine, need, collective->places, i) : NULL;
    else
        source->first = collective->latest + (size_t)which[need->needs] * engine->n;
    return source->first;
}

/* Of the messages of a call that came while it waited only the last one is known to have come just
 * before the call ended; and nothing came later than it ended. */
static void fit_ways(struct engine *engine, const struct rfn_step *step, size_t n)
{
    struct source *last = NULL;
    for (size_t i = 0; i < n; i++) {
        struct source *source = &engine->sources[i];
        const int64_t at = source->ready_ns + source->way_ns;
        if (source->message && at > step->enter_ns && (!last || at > last->ready_ns + last->way_ns))
            last = source;
    }
    const int64_t got = step->exit_ns - (int64_t)engine->network->overhead_ns;
    if (last)
        last->way_ns = most(got - last->ready_ns, 0);
    for (size_t i = 0; i < n; i++) {
        struct source *source = &engine->sources[i];
        const int64_t late = source->ready_ns - step->exit_ns;
        if (source != last && source->message)
            source->way_ns = least(source->way_ns, most(got - source->ready_ns, 0));
        if (late > 0)
            engine->prediction->clamped_ns += late;
        source->way_ns = least(source->way_ns, step->exit_ns - source->ready_ns);
    }
}

static int find_sources(struct engine *engine, const struct rfn_step *step, size_t *n)
{
    *n = 0;
    RFN_TRY(RFN_GROW(engine->sources, engine->sources_capacity, step->n_needs + 1));
    if (step->n_needs && !vector(&engine->latest, (uint32_t)step->n_needs, engine->n))
        return RFN_E_NOMEM;
    for (size_t i = 0; i < step->n_needs; i++) {
        const struct rfn_need *need = &step->needs[i];
        struct source *source = &engine->sources[*n];
        const size_t before = *n;
        switch (need->kind) {
        case RFN_NEED_MESSAGE:
        case RFN_NEED_TAKEN:
            *n += find_message(engine, step, need, source);
            break;
        case RFN_NEED_COLLECTIVE:
            *n += find_others(engine, need, i, source);
            break;
        case RFN_NEED_POINT:
            *source = (struct source){0};
            if (!find_point(engine, need, source))
                break;
            source->way_ns = need->ns -
                             source->ready_ns; /* it may be its end that was waited for */
            ++*n;
            break;
        }
        if (*n > before)
            source->need = need;
    }
    fit_ways(engine, step, *n);
    return 0;
}

/* ---- when calls end ---- */

/* The call at hand. */
struct call {
    const struct rfn_step *step;
    const struct effects *effects;
    const int64_t *early; /* when it was entered */
    size_t n_sources;
    int64_t own_ns; /* what it takes when all is there */
};

static int64_t recorded_ready(const struct engine *engine, const struct call *call)
{
    int64_t ready = call->step->enter_ns;
    for (size_t i = 0; i < call->n_sources; i++)
        ready = most(ready, engine->sources[i].ready_ns + engine->sources[i].way_ns);
    return ready;
}

static void end_in_all(const struct engine *engine, const struct call *call)
{
    int64_t *exits = engine->exits;
    for (size_t k = 0; k < engine->n; k++)
        exits[k] = call->step->enter_ns - call->early[k];
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct source *source = &engine->sources[i];
        const int64_t *first = source->first;
        const int64_t *second = source->second ? source->second : first;
        for (size_t k = 0; k < engine->n; k++)
            exits[k] = most(exits[k], most(first[k], second[k]) + source->way_ns);
    }
    for (size_t k = 0; k < engine->n; k++)
        exits[k] += call->own_ns;
}

/* The way of what a call needs, in one lane. */
static int64_t lane_way(const struct engine *engine, const struct source *source, uint32_t lane,
                        const struct rfn_step *step)
{
    double factor = 1;
    if (!source->message)
        return source->way_ns;
    for (size_t i = 0; i < engine->given[lane].n; i++) {
        const struct rfn_assumption *assumption = &engine->given[lane].assumptions[i];
        if (assumption->what == RFN_ASSUME_TRANSFER && source->bytes >= assumption->least_bytes &&
            source->bytes <= assumption->most_bytes && is_of(assumption, step))
            factor *= assumption->factor;
    }
    const double change = way_ns(&engine->networks[lane], source->bytes, source->rendezvous) -
                          way_ns(engine->network, source->bytes, source->rendezvous);
    return most(times(factor, source->way_ns + nearest(change)), least(source->way_ns, 0));
}

/* What a collective call takes along a tree. */
static double tree_ns(const struct rfn_network *network, const struct rfn_step *step)
{
    double depth = 0;
    for (uint32_t reached = 1; reached < step->places; reached *= 2)
        depth++;
    return depth * (network->latency_ns + 2 * network->overhead_ns +
                    (double)step->bytes * network->gap_per_byte_ns);
}

/* What a call takes itself, in one lane. */
static int64_t lane_own(const struct engine *engine, const struct call *call, uint32_t lane)
{
    const struct rfn_network *network = &engine->networks[lane];
    const struct rfn_step *step = call->step;
    double change = step->messages * (network->overhead_ns - engine->network->overhead_ns);
    if (step->places > 1)
        change += tree_ns(network, step) - tree_ns(engine->network, step);
    return most(times(factor_of(call->effects, lane, step, RFN_ASSUME_CALL),
                      call->own_ns + nearest(change)),
                0);
}

static int64_t end_in(const struct engine *engine, const struct call *call, uint32_t lane)
{
    const int64_t enter_ns = call->step->enter_ns - call->early[lane];
    int64_t there = enter_ns;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct source *source = &engine->sources[i];
        int64_t ready = source->first[lane];
        if (source->second)
            ready = most(ready, source->second[lane]);
        there = most(there, ready + lane_way(engine, source, lane, call->step));
    }
    const double waits = factor_of(call->effects, lane, call->step, RFN_ASSUME_WAIT);
    return enter_ns + times(waits, there - enter_ns) + lane_own(engine, call, lane);
}

/* Lanes that assume something of this call. */
static void end_in_some(const struct engine *engine, const struct call *call)
{
    for (size_t i = 0; i < engine->n_network; i++)
        engine->exits[engine->special[i]] = end_in(engine, call, engine->special[i]);
    for (size_t i = 0; i < call->effects->n; i++) {
        const uint32_t lane = call->effects->items[i].lane;
        engine->exits[lane] = end_in(engine, call, lane);
    }
}

static int end_call(struct engine *engine, const struct rfn_step *step)
{
    struct stream *stream = &engine->streams[step->stream];
    struct call call = {.step = step, .effects = effects_of(engine, step->activity)};
    if (!call.effects)
        return RFN_E_NOMEM;
    engine->prediction->events++;
    stream->last_ns = step->exit_ns;
    call.early = step->polled && stream->polled ? stream->polled : stream->early;
    RFN_TRY(find_sources(engine, step, &call.n_sources));
    engine->n_sources = call.n_sources;
    if (!call.n_sources && !call.effects->n && !engine->n_network && call.early == stream->early)
        return 0;
    call.own_ns = step->exit_ns - recorded_ready(engine, &call);
    end_in_all(engine, &call);
    end_in_some(engine, &call);
    for (size_t k = 0; k < engine->n; k++)
        stream->early[k] = step->exit_ns - engine->exits[k];
    return 0;
}

static int tell_needs(struct engine *engine, const struct rfn_step *step)
{
    RFN_TRY(RFN_GROW(engine->watched, engine->watched_capacity, engine->n_sources + 1));
    for (size_t i = 0; i < engine->n_sources; i++) {
        const struct source *source = &engine->sources[i];
        engine->watched[i] = (struct rfn_watched_need){source->need, source->ready_ns,
                                                       source->way_ns, source->second != NULL};
    }
    return engine->watch->needed(engine->watch->context, engine->steps, step, engine->watched,
                                 engine->n_sources);
}

static int leave(void *context, const struct rfn_step *step)
{
    struct engine *engine = context;
    const struct rfn_predict_watch *watch = engine->watch;
    const int64_t *early = engine->streams[step->stream].early, before = early[0];
    RFN_TRY(end_call(engine, step));
    if (watch && watch->needed)
        RFN_TRY(tell_needs(engine, step));
    return watch && watch->left ? watch->left(watch->context, step, before, early[0]) : 0;
}

/* ---- the whole ---- */

static bool is_of_network(enum rfn_assumed what)
{
    return what == RFN_ASSUME_TRANSFER || what >= RFN_ASSUME_L;
}

static int init_lanes(struct engine *engine)
{
    engine->networks = calloc(engine->n + 1, sizeof *engine->networks);
    engine->special = calloc(engine->n + 1, sizeof *engine->special);
    engine->exits = calloc(engine->n + 1, sizeof *engine->exits);
    if (!engine->networks || !engine->special || !engine->exits)
        return RFN_E_NOMEM;
    for (size_t k = 0; k < engine->n; k++) {
        struct rfn_network *network = &engine->networks[k];
        bool differs = false;
        *network = *engine->network;
        for (size_t i = 0; i < engine->given[k].n; i++) {
            const struct rfn_assumption *assumption = &engine->given[k].assumptions[i];
            differs |= is_of_network(assumption->what);
            if (assumption->what == RFN_ASSUME_L)
                network->latency_ns *= assumption->factor;
            else if (assumption->what == RFN_ASSUME_O)
                network->overhead_ns *= assumption->factor;
            else if (assumption->what == RFN_ASSUME_G)
                network->gap_per_byte_ns *= assumption->factor;
        }
        if (differs)
            engine->special[engine->n_network++] = (uint32_t)k;
    }
    return 0;
}

static int init_streams(struct engine *engine)
{
    const uint32_t n = rfn_archive_run(engine->archive)->streams;
    engine->streams = calloc((size_t)n + 1, sizeof *engine->streams);
    if (!engine->streams)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        engine->streams[i].early = calloc(engine->n + 1, sizeof *engine->streams[i].early);
        if (!engine->streams[i].early)
            return RFN_E_NOMEM;
        engine->streams[i].last_ns = INT64_MIN;
    }
    return 0;
}

/* The last exit of all streams. */
static void find_end(struct engine *engine)
{
    struct rfn_prediction *prediction = engine->prediction;
    const uint32_t n = rfn_archive_run(engine->archive)->streams;
    const int64_t start_ns = rfn_steps_start_ns(engine->steps);
    for (uint32_t i = 0; i < n; i++) {
        const struct stream *stream = &engine->streams[i];
        if (stream->last_ns == INT64_MIN)
            continue;
        prediction->recorded_ns = most(prediction->recorded_ns, stream->last_ns - start_ns);
        for (size_t k = 0; k < engine->n; k++)
            prediction->predicted_ns[k] = most(prediction->predicted_ns[k],
                                               stream->last_ns - stream->early[k] - start_ns);
    }
}

static void release(struct engine *engine)
{
    const uint32_t n = rfn_archive_run(engine->archive)->streams;
    for (uint32_t i = 0; engine->streams && i < n; i++) {
        free(engine->streams[i].early);
        free(engine->streams[i].polled);
        free(engine->streams[i].marked);
    }
    for (size_t i = 0; i < engine->collectives_capacity; i++) {
        free(engine->collectives[i].latest);
        free(engine->collectives[i].places);
    }
    for (size_t i = 0; i < engine->effects_capacity; i++)
        free(engine->effects[i].items);
    rfn_steps_free(engine->steps);
    free(engine->streams);
    free(engine->collectives);
    free(engine->effects);
    free(engine->networks);
    free(engine->special);
    free(engine->exits);
    free(engine->sources);
    free(engine->watched);
    free(engine->messages.items);
    free(engine->receives.items);
    free(engine->latest.items);
}

static int run(struct engine *engine, void (*progress)(void *context, double share), void *context)
{
    const struct rfn_step_hooks hooks = {.context = engine,
                                         .compute = compute,
                                         .enter = enter,
                                         .leave = leave,
                                         .polls = polls,
                                         .keep = keep,
                                         .over = over,
                                         .progress = progress,
                                         .progress_context = context};
    RFN_TRY(init_lanes(engine));
    RFN_TRY(init_streams(engine));
    RFN_TRY(rfn_steps_new(engine->archive, &hooks, &engine->steps));
    RFN_TRY(rfn_steps_run(engine->steps));
    find_end(engine);
    return 0;
}

int rfn_predict_watched(const struct rfn_archive *archive, const struct rfn_network *network,
                        const struct rfn_lane *lanes, size_t n,
                        const struct rfn_predict_watch *watch,
                        void (*progress)(void *context, double share), void *context,
                        struct rfn_prediction *prediction, struct rfn_diag *diag)
{
    if (!rfn_archive_run(archive)->times)
        return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1, "the archive has no times");
    struct engine engine = {.archive = archive,
                            .network = network,
                            .given = lanes,
                            .n = n,
                            .watch = watch,
                            .prediction = prediction};
    *prediction = (struct rfn_prediction){.predicted_ns = calloc(n + 1, sizeof(int64_t))};
    int error = prediction->predicted_ns ? 0 : RFN_E_NOMEM;
    if (!error)
        error = run(&engine, progress, context);
    release(&engine);
    if (error < 0) {
        rfn_prediction_release(prediction);
        rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error));
    }
    return error;
}

int rfn_predict(const struct rfn_archive *archive, const struct rfn_network *network,
                const struct rfn_lane *lanes, size_t n,
                void (*progress)(void *context, double share), void *context,
                struct rfn_prediction *prediction, struct rfn_diag *diag)
{
    return rfn_predict_watched(archive, network, lanes, n, NULL, progress, context, prediction,
                               diag);
}

void rfn_prediction_release(struct rfn_prediction *prediction)
{
    free(prediction->predicted_ns);
    *prediction = (struct rfn_prediction){0};
}
