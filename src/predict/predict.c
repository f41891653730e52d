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
#include "predict/event_graph.h"
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
    struct effect *items; /* by lane */
    size_t n;
    uint32_t *first; /* by lane: its first item, and the end; NULL: there are none */
};

/* ---- messages and collective calls in flight ---- */

/* Vectors of lanes, by number. With a graph they have one more place, for the node that the first
 * lane's time is of. */
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

/* When a message was there, as recorded and in the first lane. */
struct arrival {
    bool any;
    int64_t recorded_ns, predicted_ns;
};

struct stream {
    int64_t *early;  /* D */
    int64_t *polled; /* D when the phase of polls began; NULL: there was none */
    int64_t *marked; /* MARKS vectors; NULL: none */
    int64_t last_ns; /* exit of its last call */
    int64_t outside_ns;
    uint32_t node, polled_node; /* where it is, and where the phase of polls began */
    size_t next_point;          /* that it comes to */
    struct arrival wildcard;    /* of the last message that it took as it came */
    struct mark marks[MARKS];
    size_t n_marks;
};

/* What a call needs was there when the first vector (of a rendezvous both) had come, and `way_ns`
 * later. */
struct source {
    const struct rfn_need *need;
    const int64_t *first, *second; /* second: NULL: no lane has a rendezvous */
    int64_t ready_ns, way_ns;      /* as recorded */
    int64_t bytes;
    bool message, rendezvous, synchronous;
    bool taken;    /* a send that needs its receive */
    bool wildcard; /* of several that may come, as they come */
};

struct engine {
    const struct rfn_archive *archive;
    const struct rfn_predict_options *options;
    const struct rfn_network *network;
    const struct rfn_lane *given;
    size_t n, width;                       /* lanes; of a vector */
    struct rfn_graph *graph;               /* of the first lane; NULL: not asked for */
    const struct events *asked;            /* with a graph */
    int64_t least_eager;                   /* S of all lanes */
    const struct rfn_predict_watch *watch; /* or NULL */
    struct rfn_watched_need *watched;      /* what it is told of the call at hand */
    size_t watched_capacity, n_sources;    /* of that call */
    struct rfn_steps *steps;
    struct effects *effects; /* by activity */
    size_t effects_capacity;
    struct rfn_network *networks; /* by lane */
    bool *ideal, *differs;        /* by lane: its network */
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

static int index_effects(const struct engine *engine, struct effects *effects)
{
    effects->first = calloc(engine->n + 1, sizeof *effects->first);
    if (!effects->first)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < effects->n; i++)
        effects->first[effects->items[i].lane + 1] = (uint32_t)i + 1;
    for (size_t lane = 0; lane < engine->n; lane++)
        effects->first[lane + 1] = effects->first[lane + 1] > effects->first[lane]
                                       ? effects->first[lane + 1]
                                       : effects->first[lane];
    return 0;
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
    return effects->n ? index_effects(engine, effects) : 0;
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
           (!assumption->single || assumption->event == step->index);
}

/* How long a lane assumes that something takes. */
static int64_t assumed_ns(const struct effects *effects, uint32_t lane, const struct rfn_step *step,
                          enum rfn_assumed what, int64_t ns)
{
    double factor = 1;
    int64_t cap_ns = INT64_MAX;
    if (!effects->n || effects->first[lane] == effects->first[lane + 1])
        return ns;
    for (size_t i = effects->first[lane]; i < effects->first[lane + 1]; i++) {
        const struct effect *effect = &effects->items[i];
        if (effect->assumption->what != what || !is_of(effect->assumption, step))
            continue;
        factor *= effect->assumption->factor;
        if (effect->assumption->cap_ns)
            cap_ns = least(cap_ns, effect->assumption->cap_ns);
    }
    return least(times(factor, ns), cap_ns);
}

/* ---- nodes of the graph ---- */

/* Where a stream is; the first time that is where it begins. RFN_E_NOMEM. */
static int64_t node_of(struct engine *engine, const struct rfn_step *step)
{
    struct stream *stream = &engine->streams[step->stream];
    if (stream->node == RFN_NO_NODE) {
        const int64_t node = rfn_graph_node(engine->graph, step->enter_ns - stream->early[0]);
        RFN_TRY((int)least(node, 0));
        stream->node = (uint32_t)node;
    }
    return stream->node;
}

/* The stream goes on to a node at ns, by what its step did. RFN_E_NOMEM. */
static int go_on(struct engine *engine, const struct rfn_step *step, bool call, uint32_t tail,
                 int64_t weight, int64_t ns)
{
    const struct rfn_graph_event event = {step->stream, step->activity, step->index, call};
    const int64_t node = rfn_graph_node(engine->graph, ns);
    RFN_TRY((int)least(node, 0));
    RFN_TRY(rfn_graph_edge(engine->graph, tail, weight));
    engine->streams[step->stream].node = (uint32_t)node;
    return rfn_graph_ends(engine->graph, &event);
}

/* The later of two nodes: a new one. RFN_E_NOMEM. */
static int64_t later_of(struct rfn_graph *graph, int64_t a, int64_t b)
{
    const int64_t node = rfn_graph_node(graph, most(graph->ns[a], graph->ns[b]));
    RFN_TRY((int)least(node, 0));
    RFN_TRY(rfn_graph_edge(graph, (uint32_t)a, 0));
    RFN_TRY(rfn_graph_edge(graph, (uint32_t)b, 0));
    return node;
}

/* ---- points in time ---- */

/* The stream comes to a point, to which it has been outside of MPI for so long; the lanes are there
 * `exits` at the latest (NULL: no matter). */
static void reach(const struct engine *engine, const struct rfn_step *step, size_t point,
                  int64_t outside_ns, const int64_t *exits)
{
    const struct stream *stream = &engine->streams[step->stream];
    const int64_t start_ns = rfn_steps_start_ns(engine->steps);
    const int64_t at_ns = start_ns + engine->options->points_ns[point];
    const uint32_t ranks = rfn_archive_run(engine->archive)->ranks;
    int64_t *reached = engine->prediction->reached_ns + (point * ranks + step->rank) * engine->n;
    for (size_t k = 0; k < engine->n; k++) {
        const int64_t ns = exits ? least(at_ns - stream->early[k], exits[k])
                                 : at_ns - stream->early[k];
        reached[k] = most(reached[k], ns - start_ns);
    }
    engine->prediction->outside_ns[point * ranks + step->rank] += outside_ns;
}

/* Points before the step's end. */
static void reach_points(const struct engine *engine, const struct rfn_step *step, bool computing,
                         const int64_t *exits)
{
    struct stream *stream = &engine->streams[step->stream];
    const struct rfn_predict_options *options = engine->options;
    for (; stream->next_point < options->n_points; stream->next_point++) {
        const int64_t at_ns = rfn_steps_start_ns(engine->steps) +
                              options->points_ns[stream->next_point];
        if (at_ns >= step->exit_ns)
            break;
        const int64_t outside_ns = computing ? most(at_ns - step->enter_ns, 0) : 0;
        reach(engine, step, stream->next_point, stream->outside_ns + outside_ns, exits);
    }
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
    if (engine->options->n_points)
        reach_points(engine, step, true, NULL);
    engine->streams[step->stream].outside_ns += ns;
    const int64_t left_ns = step->enter_ns - early[0];
    const int64_t node = engine->graph ? node_of(engine, step) : 0;
    RFN_TRY((int)least(node, 0));
    for (size_t i = 0; i < effects->n; i++) {
        const struct effect *effect = &effects->items[i];
        const bool first = i == 0 || effects->items[i - 1].lane != effect->lane;
        if (first)
            early[effect->lane] += ns -
                                   assumed_ns(effects, effect->lane, step, RFN_ASSUME_COMPUTE, ns);
    }
    const int64_t entered_ns = step->exit_ns - early[0];
    if (!engine->graph || entered_ns == left_ns)
        return 0;
    return go_on(engine, step, false, (uint32_t)node, entered_ns - left_ns, entered_ns);
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
    if (engine->graph)
        RFN_TRY((int)least(node_of(engine, step), 0));
    stream->polled_node = stream->node;
    return 0;
}

/* ---- what calls post ---- */

static int set_entered(struct engine *engine, const struct rfn_step *step, int64_t *to)
{
    const int64_t *early = engine->streams[step->stream].early;
    for (size_t i = 0; i < engine->n; i++)
        to[i] = step->enter_ns - early[i];
    if (engine->graph)
        to[engine->n] = node_of(engine, step);
    return engine->graph ? (int)least(to[engine->n], 0) : 0;
}

static int take_latest(struct engine *engine, const struct rfn_step *step, int64_t *latest)
{
    const int64_t *early = engine->streams[step->stream].early;
    for (size_t i = 0; i < engine->n; i++)
        latest[i] = most(latest[i], step->enter_ns - early[i]);
    if (!engine->graph)
        return 0;
    int64_t *node = &latest[engine->n];
    const int64_t own = node_of(engine, step);
    RFN_TRY((int)least(own, 0));
    *node = *node == INT64_MIN ? own : later_of(engine->graph, *node, own);
    return (int)least(*node, 0);
}

static int begin_collective(const struct engine *engine, struct collective *collective)
{
    const size_t n = engine->width * LATEST;
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
    const size_t n = engine->width;
    if (!collective->begun)
        RFN_TRY(begin_collective(engine, collective));
    RFN_TRY(take_latest(engine, step, collective->latest + ALL * n));
    if (share->data)
        RFN_TRY(take_latest(engine, step, collective->latest + DATA * n));
    if (share->root)
        RFN_TRY(set_entered(engine, step, collective->latest + ROOT * n));
    else if (share->data)
        RFN_TRY(take_latest(engine, step, collective->latest + OTHERS * n));
    if (!post->by_place)
        return 0;
    if (!collective->places)
        collective->places = calloc((size_t)post->places * n + 1, sizeof *collective->places);
    if (!collective->places)
        return RFN_E_NOMEM;
    return set_entered(engine, step, collective->places + (size_t)share->place * n);
}

static int mark(struct engine *engine, const struct rfn_step *step)
{
    struct stream *stream = &engine->streams[step->stream];
    const size_t at = stream->n_marks++ % MARKS;
    if (!stream->marked)
        stream->marked = malloc(MARKS * engine->width * sizeof *stream->marked);
    if (!stream->marked)
        return RFN_E_NOMEM;
    stream->marks[at] = (struct mark){true, step->index, step->enter_ns};
    return set_entered(engine, step, stream->marked + at * engine->width);
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
                          ? vector(&engine->messages, post->number, 2 * engine->width)
                          : vector(&engine->receives, post->number, engine->width);
        if (!to)
            return RFN_E_NOMEM;
        RFN_TRY(set_entered(engine, step, to));
    }
    return step->marks ? mark(engine, step) : 0;
}

static int keep(void *context, uint32_t message, uint32_t receive)
{
    struct engine *engine = context;
    RFN_TRY(WATCH(engine, keep, message, receive));
    int64_t *to = vector(&engine->messages, message, 2 * engine->width);
    const int64_t *from = vector(&engine->receives, receive, engine->width);
    if (!to || !from)
        return RFN_E_NOMEM;
    memcpy(to + engine->width, from, engine->width * sizeof *to);
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
static bool is_rendezvous(const struct source *source, int64_t eager_bytes)
{
    return source->second && (source->synchronous || source->bytes > eager_bytes);
}

/* Whether a lane needs it. */
static bool is_needed(const struct source *source, bool rendezvous)
{
    return rendezvous || !source->taken;
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
        source->first = stream->marked + i * engine->width;
        source->ready_ns = mark->enter_ns;
    }
    return source->first;
}

/* A message, or that the receive of one is posted. false: in all lanes it is sent whoever receives
 * it, or was when its receive was posted. */
static bool find_message(struct engine *engine, const struct rfn_step *step,
                         const struct rfn_need *need, struct source *source)
{
    const int64_t *sent = vector(&engine->messages, need->number, 2 * engine->width);
    *source = (struct source){.first = sent,
                              .ready_ns = need->sent_ns,
                              .bytes = need->bytes,
                              .message = true,
                              .synchronous = need->synchronous,
                              .taken = need->kind == RFN_NEED_TAKEN,
                              .wildcard = need->wildcard};
    if (!sent || (need->pointed && !find_point(engine, need, source)) ||
        (source->taken && need->posted_ns >= step->exit_ns))
        return false;
    if (need->posted_ns > INT64_MIN && (need->synchronous || need->bytes > engine->least_eager))
        source->second = need->receive ? vector(&engine->receives, need->receive - 1, engine->width)
                                       : sent + engine->width;
    source->rendezvous = is_rendezvous(source, engine->network->eager_bytes);
    if (source->rendezvous)
        source->ready_ns = most(source->ready_ns, need->posted_ns);
    source->way_ns = nearest(way_ns(engine->network, need->bytes, source->rendezvous));
    return !source->taken || source->second;
}

/* The latest of some places, in vector i of `latest`. NULL: no memory. */
static const int64_t *latest_of(struct engine *engine, const struct rfn_need *need,
                                const int64_t *places, size_t i)
{
    int64_t *latest = vector(&engine->latest, (uint32_t)i, engine->width);
    for (size_t k = 0; latest && k < engine->width; k++)
        latest[k] = INT64_MIN;
    for (size_t p = 0; latest && p < need->n_places; p++) {
        const int64_t *of = places + (need->places ? need->places[p] : p) * engine->width;
        int64_t *node = &latest[engine->n];
        for (size_t k = 0; k < engine->n; k++)
            latest[k] = most(latest[k], of[k]);
        if (engine->graph)
            *node = *node == INT64_MIN ? of[engine->n]
                                       : later_of(engine->graph, *node, of[engine->n]);
        if (engine->graph && *node < 0)
            return NULL;
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
        source->first = collective->latest + (size_t)which[need->needs] * engine->width;
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
        if (!is_needed(source, source->rendezvous))
            continue;
        if (source->message && at > step->enter_ns && (!last || at > last->ready_ns + last->way_ns))
            last = source;
    }
    const int64_t got = step->exit_ns - (int64_t)engine->network->overhead_ns;
    if (last)
        last->way_ns = most(got - last->ready_ns, 0);
    for (size_t i = 0; i < n; i++) {
        struct source *source = &engine->sources[i];
        const int64_t late = source->ready_ns - step->exit_ns;
        if (!is_needed(source, source->rendezvous))
            continue;
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
    if (step->n_needs && !vector(&engine->latest, (uint32_t)step->n_needs, engine->width))
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
    int64_t own_ns;  /* what it takes when all is there */
    double bytes[2]; /* of messages that it needs: to come, to be taken */
};

static int64_t recorded_ready(const struct engine *engine, const struct call *call)
{
    int64_t ready = call->step->enter_ns;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct source *source = &engine->sources[i];
        if (is_needed(source, source->rendezvous))
            ready = most(ready, source->ready_ns + source->way_ns);
    }
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
        const int64_t *second = source->rendezvous ? source->second : first;
        if (!is_needed(source, source->rendezvous))
            continue;
        for (size_t k = 0; k < engine->n; k++)
            exits[k] = most(exits[k], most(first[k], second[k]) + source->way_ns);
    }
    for (size_t k = 0; k < engine->n; k++)
        exits[k] += call->own_ns;
}

/* A message that took longer than its formula shared a link with others that the call needs in the
 * same direction: how many of their bytes fit into the rest. */
static double shared_bytes(const struct rfn_network *network, const struct call *call,
                           const struct source *source, double formula_ns)
{
    const double bytes = call->bytes[source->taken] - (double)source->bytes;
    const double rest_ns = (double)most(source->way_ns - nearest(formula_ns), 0);
    return bytes * network->gap_per_byte_ns <= rest_ns ? bytes : rest_ns / network->gap_per_byte_ns;
}

/* The way of what a call needs, in one lane. */
static int64_t lane_way(const struct engine *engine, const struct source *source, uint32_t lane,
                        const struct call *call, bool rendezvous)
{
    const struct rfn_network *network = &engine->networks[lane];
    double factor = 1;
    if (engine->ideal[lane])
        return least(source->way_ns, 0);
    if (!source->message || !engine->differs[lane])
        return source->way_ns;
    for (size_t i = 0; i < engine->given[lane].n; i++) {
        const struct rfn_assumption *assumption = &engine->given[lane].assumptions[i];
        if (assumption->what == RFN_ASSUME_TRANSFER && source->bytes >= assumption->least_bytes &&
            source->bytes <= assumption->most_bytes && is_of(assumption, call->step))
            factor *= assumption->factor;
    }
    /* It took less than a request, an answer and the message: not every MPI asks. */
    const bool unasked = source->rendezvous && rendezvous &&
                         source->way_ns < nearest(way_ns(engine->network, source->bytes, true));
    const double formula_ns = way_ns(engine->network, source->bytes,
                                     source->rendezvous && !unasked);
    const double change = way_ns(network, source->bytes, rendezvous && !unasked) - formula_ns +
                          shared_bytes(engine->network, call, source, formula_ns) *
                              (network->gap_per_byte_ns - engine->network->gap_per_byte_ns);
    return most(times(factor, source->way_ns + nearest(change)), least(source->way_ns, 0));
}

/* What a step of a collective call takes: with all bytes, or where they go in parts with its share
 * of those of a tree. */
static double stride_ns(const struct rfn_network *network, const struct rfn_step *step)
{
    double depth = 0, bytes = (double)step->bytes;
    for (uint32_t reached = 1; reached < step->places; reached *= 2)
        depth++;
    return network->latency_ns + 2 * network->overhead_ns +
           (step->parts ? bytes / depth : bytes) * network->gap_per_byte_ns;
}

/* By how much it changes what a collective call takes itself: as many steps as fit into that, and
 * at most those around a ring and back. */
static double collective_change_ns(const struct rfn_network *from, const struct rfn_network *to,
                                   const struct rfn_step *step, int64_t own_ns)
{
    const double most_steps = 2 * (step->places - 1.0), stride = stride_ns(from, step);
    const double steps = (double)most(own_ns, 0) < most_steps * stride
                             ? (double)most(own_ns, 0) / stride
                             : most_steps;
    return steps * (stride_ns(to, step) - stride);
}

/* What a call takes itself, in one lane. */
static int64_t lane_own(const struct engine *engine, const struct call *call, uint32_t lane)
{
    const struct rfn_network *network = &engine->networks[lane];
    const struct rfn_step *step = call->step;
    double change = 0;
    if (engine->ideal[lane])
        return 0;
    if (engine->differs[lane])
        change = step->messages * (network->overhead_ns - engine->network->overhead_ns);
    if (engine->differs[lane] && step->places > 1)
        change += collective_change_ns(engine->network, network, step, call->own_ns);
    return most(
        assumed_ns(call->effects, lane, step, RFN_ASSUME_CALL, call->own_ns + nearest(change)), 0);
}

static int64_t end_in(const struct engine *engine, const struct call *call, uint32_t lane)
{
    const int64_t enter_ns = call->step->enter_ns - call->early[lane];
    int64_t there = enter_ns;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct source *source = &engine->sources[i];
        const bool rendezvous = is_rendezvous(source, engine->networks[lane].eager_bytes);
        int64_t ready = source->first[lane];
        if (!is_needed(source, rendezvous))
            continue;
        if (rendezvous)
            ready = most(ready, source->second[lane]);
        there = most(there, ready + lane_way(engine, source, lane, call, rendezvous));
    }
    if (engine->ideal[lane] && !call->effects->n)
        return there;
    return enter_ns +
           assumed_ns(call->effects, lane, call->step, RFN_ASSUME_WAIT, there - enter_ns) +
           lane_own(engine, call, lane);
}

/* Lanes that assume something of this call. */
static void end_in_some(const struct engine *engine, const struct call *call)
{
    for (size_t i = 0; i < engine->n_network; i++)
        engine->exits[engine->special[i]] = end_in(engine, call, engine->special[i]);
    for (size_t i = 0; i < call->effects->n; i++) {
        const uint32_t lane = call->effects->items[i].lane;
        if (i == 0 || call->effects->items[i - 1].lane != lane)
            engine->exits[lane] = end_in(engine, call, lane);
    }
}

/* A message that is taken as it comes: in the prediction it may come before the one that came
 * before it. */
static void count_overtaken(struct engine *engine, const struct call *call)
{
    struct arrival *before = &engine->streams[call->step->stream].wildcard;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct source *source = &engine->sources[i];
        if (!source->wildcard || source->taken)
            continue;
        int64_t predicted = source->first[0];
        if (source->rendezvous)
            predicted = most(predicted, source->second[0]);
        const struct arrival now = {true, source->ready_ns + source->way_ns,
                                    predicted + source->way_ns};
        engine->prediction->overtaken += before->any && before->recorded_ns <= now.recorded_ns &&
                                         before->predicted_ns > now.predicted_ns;
        *before = now;
    }
}

/* A call that needs nobody, and of which only the network is assumed to differ. */
static void leave_alone(struct engine *engine, struct call *call)
{
    const struct rfn_step *step = call->step;
    struct stream *stream = &engine->streams[step->stream];
    call->own_ns = step->exit_ns - step->enter_ns;
    reach_points(engine, step, false, NULL);
    for (size_t i = 0; i < engine->n_network; i++) {
        const uint32_t lane = engine->special[i];
        stream->early[lane] = step->exit_ns - end_in(engine, call, lane);
    }
}

/* What is asked of single events. */
struct events {
    size_t most;
    struct rfn_event_gains *gains;
};

/* Among the longest waits, in the place of the shortest of them. */
static void keep_wait(const struct engine *engine, const struct rfn_step *step, int64_t enter_ns,
                      int64_t ns)
{
    struct rfn_event_gains *gains = engine->asked->gains;
    struct rfn_event_gain *waits = gains->waits;
    const size_t most = engine->asked->most;
    if (ns <= 0 || !most || (gains->n_waits == most && waits[most - 1].ns >= ns))
        return;
    size_t at = gains->n_waits < most ? gains->n_waits++ : most - 1;
    for (; at > 0 && waits[at - 1].ns < ns; at--)
        waits[at] = waits[at - 1];
    waits[at] = (struct rfn_event_gain){
        .rank = step->rank,
        .stream = step->stream,
        .index = step->index,
        .activity = *rfn_steps_activity(engine->steps, step->activity),
        .enter_ns = enter_ns - rfn_steps_start_ns(engine->steps),
        .ns = ns};
}

/* The call as an event of the graph: what it needs, in the first lane, which has its exit. */
static int draw(struct engine *engine, const struct call *call, uint32_t tail)
{
    const struct rfn_step *step = call->step;
    const int64_t entered_ns = step->enter_ns - call->early[0], own_ns = lane_own(engine, call, 0);
    if (engine->exits[0] == entered_ns && !call->n_sources)
        return 0;
    keep_wait(engine, step, entered_ns, engine->exits[0] - own_ns - entered_ns);
    RFN_TRY(go_on(engine, step, true, tail, own_ns, engine->exits[0]));
    if (assumed_ns(call->effects, 0, step, RFN_ASSUME_WAIT, 1) == 0)
        return 0;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct source *source = &engine->sources[i];
        const bool rendezvous = is_rendezvous(source, engine->networks[0].eager_bytes);
        const int64_t weight = lane_way(engine, source, 0, call, rendezvous) + own_ns;
        if (!is_needed(source, rendezvous))
            continue;
        RFN_TRY(rfn_graph_edge(engine->graph, (uint32_t)source->first[engine->n], weight));
        if (rendezvous)
            RFN_TRY(rfn_graph_edge(engine->graph, (uint32_t)source->second[engine->n], weight));
    }
    return 0;
}

static int end_call(struct engine *engine, const struct rfn_step *step)
{
    struct stream *stream = &engine->streams[step->stream];
    struct call call = {.step = step, .effects = effects_of(engine, step->activity)};
    if (!call.effects)
        return RFN_E_NOMEM;
    engine->prediction->events++;
    stream->last_ns = step->exit_ns;
    const bool polled = step->polled && stream->polled;
    const int64_t node = !engine->graph ? 0 : polled ? stream->polled_node : node_of(engine, step);
    RFN_TRY((int)least(node, 0));
    call.early = polled ? stream->polled : stream->early;
    RFN_TRY(find_sources(engine, step, &call.n_sources));
    engine->n_sources = call.n_sources;
    if (!call.n_sources && !call.effects->n && call.early == stream->early && !engine->graph) {
        leave_alone(engine, &call);
        return 0;
    }
    call.own_ns = step->exit_ns - recorded_ready(engine, &call);
    for (size_t i = 0; i < call.n_sources && engine->n_network; i++)
        call.bytes[engine->sources[i].taken] += (double)engine->sources[i].bytes;
    end_in_all(engine, &call);
    end_in_some(engine, &call);
    count_overtaken(engine, &call);
    if (engine->graph)
        RFN_TRY(draw(engine, &call, (uint32_t)node));
    reach_points(engine, step, false, engine->exits);
    for (size_t k = 0; k < engine->n; k++)
        stream->early[k] = step->exit_ns - engine->exits[k];
    return 0;
}

static int tell_needs(struct engine *engine, const struct rfn_step *step)
{
    size_t n = 0;
    RFN_TRY(RFN_GROW(engine->watched, engine->watched_capacity, engine->n_sources + 1));
    for (size_t i = 0; i < engine->n_sources; i++) {
        const struct source *source = &engine->sources[i];
        if (is_needed(source, source->rendezvous))
            engine->watched[n++] = (struct rfn_watched_need){source->need, source->ready_ns,
                                                             source->way_ns, source->rendezvous};
    }
    return engine->watch->needed(engine->watch->context, engine->steps, step, engine->watched, n);
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
    return what >= RFN_ASSUME_TRANSFER;
}

static void assume_network(struct engine *engine, size_t lane,
                           const struct rfn_assumption *assumption)
{
    static const int64_t MOST_BYTES = INT64_C(1) << 62;
    struct rfn_network *network = &engine->networks[lane];
    double eager;
    switch (assumption->what) {
    case RFN_ASSUME_IDEAL:
        engine->ideal[lane] = true;
        break;
    case RFN_ASSUME_L:
        network->latency_ns *= assumption->factor;
        break;
    case RFN_ASSUME_O:
        network->overhead_ns *= assumption->factor;
        break;
    case RFN_ASSUME_G:
        network->gap_per_byte_ns *= assumption->factor;
        break;
    case RFN_ASSUME_S:
        eager = assumption->factor * (double)network->eager_bytes;
        network->eager_bytes = eager < (double)MOST_BYTES ? nearest(eager) : MOST_BYTES;
        break;
    default:
        break;
    }
}

static int init_lanes(struct engine *engine)
{
    engine->ideal = calloc(engine->n + 1, sizeof *engine->ideal);
    engine->differs = calloc(engine->n + 1, sizeof *engine->differs);
    engine->least_eager = engine->network->eager_bytes;
    engine->networks = calloc(engine->n + 1, sizeof *engine->networks);
    engine->special = calloc(engine->n + 1, sizeof *engine->special);
    engine->exits = calloc(engine->n + 1, sizeof *engine->exits);
    if (!engine->ideal || !engine->differs || !engine->networks || !engine->special ||
        !engine->exits)
        return RFN_E_NOMEM;
    for (size_t k = 0; k < engine->n; k++) {
        engine->networks[k] = *engine->network;
        for (size_t i = 0; i < engine->given[k].n; i++) {
            const struct rfn_assumption *assumption = &engine->given[k].assumptions[i];
            engine->differs[k] |= is_of_network(assumption->what);
            assume_network(engine, k, assumption);
        }
        engine->least_eager = least(engine->least_eager, engine->networks[k].eager_bytes);
        if (engine->differs[k])
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
        engine->streams[i].node = RFN_NO_NODE;
    }
    return 0;
}

/* The points behind the end of a stream. */
static void reach_rest(struct engine *engine, uint32_t number)
{
    const struct stream *stream = &engine->streams[number];
    const struct rfn_step step = {.stream = number,
                                  .rank = rfn_archive_stream(engine->archive, number).rank};
    for (size_t k = 0; k < engine->n; k++)
        engine->exits[k] = stream->last_ns - stream->early[k];
    for (size_t i = stream->next_point; i < engine->options->n_points; i++)
        reach(engine, &step, i, stream->outside_ns, engine->exits);
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
        reach_rest(engine, i);
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
    for (size_t i = 0; i < engine->effects_capacity; i++) {
        free(engine->effects[i].items);
        free(engine->effects[i].first);
    }
    rfn_steps_free(engine->steps);
    free(engine->streams);
    free(engine->collectives);
    free(engine->effects);
    free(engine->networks);
    free(engine->ideal);
    free(engine->differs);
    free(engine->special);
    free(engine->exits);
    free(engine->sources);
    free(engine->watched);
    free(engine->messages.items);
    free(engine->receives.items);
    free(engine->latest.items);
}

static int run(struct engine *engine)
{
    const struct rfn_step_hooks hooks = {.context = engine,
                                         .compute = compute,
                                         .enter = enter,
                                         .leave = leave,
                                         .polls = polls,
                                         .keep = keep,
                                         .over = over,
                                         .progress = engine->options->progress,
                                         .progress_context = engine->options->context};
    RFN_TRY(init_lanes(engine));
    RFN_TRY(init_streams(engine));
    RFN_TRY(rfn_steps_new(engine->archive, &hooks, &engine->steps));
    RFN_TRY(rfn_steps_run(engine->steps));
    find_end(engine);
    return 0;
}

static int init_prediction(struct rfn_prediction *prediction,
                           const struct rfn_predict_options *options, uint32_t ranks)
{
    const size_t n = options->n_points;
    *prediction = (struct rfn_prediction){
        .predicted_ns = calloc(options->n + 1, sizeof *prediction->predicted_ns),
        .reached_ns = calloc(n * ranks * options->n + 1, sizeof *prediction->reached_ns),
        .outside_ns = calloc(n * ranks + 1, sizeof *prediction->outside_ns)};
    return prediction->predicted_ns && prediction->reached_ns && prediction->outside_ns
               ? 0
               : RFN_E_NOMEM;
}

/* Predicts; then `done`, where it is there, before what the engine knows is gone. */
static int predict(struct engine *engine, int (*done)(struct engine *engine, void *context),
                   void *context, struct rfn_diag *diag)
{
    const struct rfn_run *of = rfn_archive_run(engine->archive);
    struct rfn_prediction *prediction = engine->prediction;
    *prediction = (struct rfn_prediction){0};
    if (!of->times)
        return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1, "the archive has no times");
    engine->network = engine->options->network;
    engine->given = engine->options->lanes;
    engine->n = engine->options->n;
    engine->width = engine->n + (engine->graph != NULL);
    int error = init_prediction(prediction, engine->options, of->ranks);
    if (!error)
        error = run(engine);
    if (!error && done)
        error = done(engine, context);
    release(engine);
    if (error < 0) {
        rfn_prediction_release(prediction);
        rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error));
    }
    return error;
}

int rfn_predict(const struct rfn_archive *archive, const struct rfn_predict_options *options,
                struct rfn_prediction *prediction, struct rfn_diag *diag)
{
    struct engine engine = {.archive = archive, .options = options, .prediction = prediction};
    return predict(&engine, NULL, NULL, diag);
}

int rfn_predict_watched(const struct rfn_archive *archive,
                        const struct rfn_predict_options *options,
                        const struct rfn_predict_watch *watch, struct rfn_prediction *prediction,
                        struct rfn_diag *diag)
{
    struct engine engine = {
        .archive = archive, .options = options, .watch = watch, .prediction = prediction};
    return predict(&engine, NULL, NULL, diag);
}

/* ---- single events ---- */

static int take_gains(struct engine *engine, void *context)
{
    const struct events *asked = context;
    const uint32_t n = rfn_archive_run(engine->archive)->streams;
    const int64_t start_ns = rfn_steps_start_ns(engine->steps);
    struct rfn_graph_gain *found = NULL;
    uint32_t *last = calloc((size_t)n + 1, sizeof *last);
    for (uint32_t i = 0; last && i < n; i++)
        last[i] = engine->streams[i].node;
    const int64_t n_found = last ? rfn_graph_gains(engine->graph, last, n, asked->most, &found)
                                 : RFN_E_NOMEM;
    free(last);
    RFN_TRY((int)least(n_found, 0));
    asked->gains->events = calloc((size_t)n_found + 1, sizeof *asked->gains->events);
    for (int64_t i = 0; asked->gains->events && i < n_found; i++) {
        const struct rfn_graph_event *event = &engine->graph->of[found[i].event];
        asked->gains->events[asked->gains->n++] = (struct rfn_event_gain){
            .rank = rfn_archive_stream(engine->archive, event->stream).rank,
            .stream = event->stream,
            .index = event->index,
            .activity = *rfn_steps_activity(engine->steps, event->activity),
            .saved_ns = found[i].gain_ns,
            .enter_ns = found[i].from_ns - start_ns,
            .ns = found[i].to_ns - found[i].from_ns};
    }
    free(found);
    return asked->gains->events ? 0 : RFN_E_NOMEM;
}

/* Nobody waits part of a time there. */
static bool is_max_plus(const struct rfn_lane *lane)
{
    for (size_t i = 0; i < lane->n; i++) {
        const struct rfn_assumption *assumption = &lane->assumptions[i];
        if (assumption->what == RFN_ASSUME_WAIT && assumption->factor != 0)
            return false;
    }
    return true;
}

int rfn_predict_events(const struct rfn_archive *archive, const struct rfn_predict_options *options,
                       size_t most, struct rfn_event_gains *gains,
                       struct rfn_prediction *prediction, struct rfn_diag *diag)
{
    struct rfn_graph graph = {.n = 0};
    struct events asked = {most, gains};
    struct engine engine = {.archive = archive,
                            .options = options,
                            .graph = &graph,
                            .asked = &asked,
                            .prediction = prediction};
    *gains = (struct rfn_event_gains){0};
    *prediction = (struct rfn_prediction){0};
    if (!is_max_plus(options->lanes))
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "single events cannot be told where calls wait for a part of the time: "
                        "remove waits, do not scale or cap them");
    gains->waits = calloc(most + 1, sizeof *gains->waits);
    if (!gains->waits)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s", rfn_error_text(RFN_E_NOMEM));
    int error = predict(&engine, take_gains, &asked, diag);
    rfn_graph_release(&graph);
    if (error < 0)
        rfn_event_gains_release(gains);
    return error;
}

void rfn_event_gains_release(struct rfn_event_gains *gains)
{
    free(gains->events);
    free(gains->waits);
    *gains = (struct rfn_event_gains){0};
}

void rfn_prediction_release(struct rfn_prediction *prediction)
{
    free(prediction->predicted_ns);
    free(prediction->reached_ns);
    free(prediction->outside_ns);
    *prediction = (struct rfn_prediction){0};
}
