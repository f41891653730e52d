/* predict_needs.c - what a call needs of others, and when that was there, as recorded. */
#include "predict/predict_internal.h"

#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- what calls need ---- */

/* When a stream came to a point: false, that is too long ago. */
static bool find_point(const struct rfn_engine *engine, const struct rfn_need *need,
                       struct rfn_engine_source *source)
{
    const struct rfn_engine_stream *stream = &engine->streams[need->stream];
    source->first = NULL;
    for (size_t i = 0; i < RFN_ENGINE_MARKS && stream->marked; i++) {
        const struct rfn_engine_mark *mark = &stream->marks[i];
        if (!mark->any || mark->event != need->event)
            continue;
        source->first = stream->marked + i * engine->width;
        source->ready_ns = mark->enter_ns;
    }
    return source->first;
}

/* The post of a number; NULL: none. Sources point to it, so no vector grows here. */
static const int64_t *find_vector(const struct rfn_engine_vectors *vectors, uint32_t number,
                                  size_t n)
{
    return ((size_t)number + 1) * n <= vectors->capacity ? vectors->items + (size_t)number * n
                                                         : NULL;
}

/* A message, or that the receive of one is posted. false: in all lanes it is sent whoever receives
 * it, or was when its receive was posted. */
static bool find_message(const struct rfn_engine *engine, const struct rfn_step *step,
                         const struct rfn_need *need, struct rfn_engine_source *source)
{
    const int64_t *sent = find_vector(&engine->messages, need->number, 2 * engine->width);
    *source = (struct rfn_engine_source){.first = sent,
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
        source->second = need->receive
                             ? find_vector(&engine->receives, need->receive - 1, engine->width)
                             : sent + engine->width;
    source->rendezvous = rfn_is_rendezvous(source, engine->network->eager_bytes);
    if (source->rendezvous)
        source->ready_ns = rfn_most(source->ready_ns, need->posted_ns);
    source->way_ns = rfn_nearest(rfn_way_ns(engine->network, need->bytes, source->rendezvous));
    return !source->taken || source->second;
}

/* The latest of some places. RFN_E_NOMEM; RFN_E_RANGE: too many nodes. */
static int take_places(struct rfn_engine *engine, const struct rfn_need *need,
                       const int64_t *places, int64_t *latest)
{
    for (size_t k = 0; k < engine->width; k++)
        latest[k] = INT64_MIN;
    for (size_t p = 0; p < need->n_places; p++) {
        const int64_t *of = places + (need->places ? need->places[p] : p) * engine->width;
        int64_t *node = &latest[engine->n];
        for (size_t k = 0; k < engine->n; k++)
            latest[k] = rfn_most(latest[k], of[k]);
        if (engine->graph)
            *node = *node == INT64_MIN ? of[engine->n]
                                       : rfn_engine_later(engine->graph, *node, of[engine->n]);
        if (engine->graph)
            RFN_TRY((int)rfn_least(*node, 0));
    }
    return 0;
}

/* 1: the others are known; 0; or a negative error. */
static int find_others(struct rfn_engine *engine, const struct rfn_need *need, size_t i,
                       struct rfn_engine_source *source)
{
    static const int which[] = {[RFN_NEEDS_ALL] = RFN_ENGINE_ALL,
                                [RFN_NEEDS_DATA] = RFN_ENGINE_DATA,
                                [RFN_NEEDS_ROOT] = RFN_ENGINE_ROOT,
                                [RFN_NEEDS_OTHERS] = RFN_ENGINE_OTHERS};
    *source = (struct rfn_engine_source){.ready_ns = need->ns};
    if (need->number >= engine->collectives_capacity)
        return 0;
    const struct rfn_engine_collective *collective = &engine->collectives[need->number];
    const bool some = need->needs == RFN_NEEDS_LOWER || need->needs == RFN_NEEDS_NEIGHBORS;
    if (!collective->begun || (some && (!collective->places || !need->n_places)))
        return 0;
    if (!some) {
        source->first = collective->latest + (size_t)which[need->needs] * engine->width;
        return 1;
    }
    int64_t *latest = engine->latest.items + i * engine->width;
    source->first = latest;
    RFN_TRY(take_places(engine, need, collective->places, latest));
    return 1;
}

/* Of the messages of a call that came while it waited only the last one is known to have come just
 * before the call ended; and nothing came later than it ended. */
static void fit_ways(struct rfn_engine *engine, const struct rfn_step *step, size_t n)
{
    struct rfn_engine_source *last = NULL;
    for (size_t i = 0; i < n; i++) {
        struct rfn_engine_source *source = &engine->sources[i];
        const int64_t at = source->ready_ns + source->way_ns;
        if (!rfn_is_needed(source, source->rendezvous))
            continue;
        if (source->message && at > step->enter_ns && (!last || at > last->ready_ns + last->way_ns))
            last = source;
    }
    const int64_t got = step->exit_ns - (int64_t)engine->network->overhead_ns;
    if (last)
        last->way_ns = rfn_most(got - last->ready_ns, 0);
    for (size_t i = 0; i < n; i++) {
        struct rfn_engine_source *source = &engine->sources[i];
        const int64_t late = source->ready_ns - step->exit_ns;
        if (!rfn_is_needed(source, source->rendezvous))
            continue;
        if (source != last && source->message)
            source->way_ns = rfn_least(source->way_ns, rfn_most(got - source->ready_ns, 0));
        if (late > 0)
            engine->prediction->clamped_ns += late;
        source->way_ns = rfn_least(source->way_ns, step->exit_ns - source->ready_ns);
    }
}

int rfn_engine_find_sources(struct rfn_engine *engine, const struct rfn_step *step, size_t *n)
{
    int found;
    *n = 0;
    RFN_TRY(RFN_GROW(engine->sources, engine->sources_capacity, step->n_needs + 1));
    if (step->n_needs &&
        !rfn_engine_vector(&engine->latest, (uint32_t)step->n_needs, engine->width))
        return RFN_E_NOMEM;
    for (size_t i = 0; i < step->n_needs; i++) {
        const struct rfn_need *need = &step->needs[i];
        struct rfn_engine_source *source = &engine->sources[*n];
        const size_t before = *n;
        switch (need->kind) {
        case RFN_NEED_MESSAGE:
        case RFN_NEED_TAKEN:
            *n += find_message(engine, step, need, source);
            break;
        case RFN_NEED_COLLECTIVE:
            found = find_others(engine, need, i, source);
            RFN_TRY(found);
            *n += (size_t)found;
            break;
        case RFN_NEED_POINT:
            *source = (struct rfn_engine_source){0};
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
