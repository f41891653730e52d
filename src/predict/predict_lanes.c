/* predict_lanes.c - what lanes assume of a step. */
#include "predict/predict_internal.h"

#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- effects ---- */

static bool concerns(const struct rfn_assumption *assumption, const struct rfn_activity *activity)
{
    const bool compute = activity->kind == RFN_ACTIVITY_COMPUTE;
    const bool call = assumption->what >= RFN_ASSUME_CALL && assumption->what <= RFN_ASSUME_LATE;
    if (activity->kind == RFN_ACTIVITY_RECORDING)
        return false;
    if (compute ? assumption->what != RFN_ASSUME_COMPUTE : !call)
        return false;
    return !assumption->takes || assumption->takes(assumption->context, activity);
}

static int index_effects(const struct rfn_engine *engine, struct rfn_engine_effects *effects)
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

static bool is_about_same(const struct rfn_assumption *a, const struct rfn_assumption *b)
{
    return a->what == b->what && a->takes == b->takes && a->context == b->context;
}

/* Lanes often differ by a factor alone: what their assumption is about is asked once. */
static int find_effects(struct rfn_engine *engine, const struct rfn_activity *activity,
                        struct rfn_engine_effects *effects)
{
    const struct rfn_assumption *asked = NULL;
    size_t capacity = 0;
    bool takes = false;
    for (size_t lane = 0; lane < engine->n; lane++) {
        for (size_t i = 0; i < engine->given[lane].n; i++) {
            const struct rfn_assumption *assumption = &engine->given[lane].assumptions[i];
            if (!asked || !is_about_same(asked, assumption))
                takes = concerns(assumption, activity);
            asked = assumption;
            if (!takes)
                continue;
            RFN_TRY(RFN_GROW(effects->items, capacity, effects->n + 1));
            effects->items[effects->n++] = (struct rfn_engine_effect){(uint32_t)lane, assumption};
        }
    }
    effects->known = true;
    return effects->n ? index_effects(engine, effects) : 0;
}

const struct rfn_engine_effects *rfn_engine_effects_of(struct rfn_engine *engine, uint32_t activity)
{
    if (RFN_GROW_ZEROED(engine->effects, engine->effects_capacity, (size_t)activity + 1) < 0)
        return NULL;
    struct rfn_engine_effects *effects = &engine->effects[activity];
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

int64_t rfn_engine_assumed_ns(const struct rfn_engine_effects *effects, uint32_t lane,
                              const struct rfn_step *step, enum rfn_assumed what, int64_t ns)
{
    double factor = 1;
    int64_t cap_ns = INT64_MAX;
    if (!effects->n || effects->first[lane] == effects->first[lane + 1])
        return ns;
    for (size_t i = effects->first[lane]; i < effects->first[lane + 1]; i++) {
        const struct rfn_engine_effect *effect = &effects->items[i];
        if (effect->assumption->what != what || !is_of(effect->assumption, step))
            continue;
        factor *= effect->assumption->factor;
        if (effect->assumption->cap_ns)
            cap_ns = rfn_least(cap_ns, effect->assumption->cap_ns);
    }
    return rfn_least(rfn_times(factor, ns), cap_ns);
}

/* ---- the network ---- */

static bool is_of_network(enum rfn_assumed what)
{
    return what >= RFN_ASSUME_TRANSFER;
}

static void assume_network(struct rfn_engine *engine, size_t lane,
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
        network->eager_bytes = eager < (double)MOST_BYTES ? rfn_nearest(eager) : MOST_BYTES;
        break;
    default:
        break;
    }
}

int rfn_engine_init_lanes(struct rfn_engine *engine)
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
        engine->least_eager = rfn_least(engine->least_eager, engine->networks[k].eager_bytes);
        if (engine->differs[k])
            engine->special[engine->n_network++] = (uint32_t)k;
    }
    return 0;
}

/* ---- ways, and what calls take themselves ---- */

/* A message that took longer than its formula shared a link with others that the call needs in the
 * same direction: how many of their bytes fit into the rest. */
static double shared_bytes(const struct rfn_network *network, const struct rfn_engine_call *call,
                           const struct rfn_engine_source *source, double formula_ns)
{
    const double bytes = call->bytes[source->taken] - (double)source->bytes;
    const double rest_ns = (double)rfn_most(source->way_ns - rfn_nearest(formula_ns), 0);
    return bytes * network->gap_per_byte_ns <= rest_ns ? bytes : rest_ns / network->gap_per_byte_ns;
}

int64_t rfn_engine_lane_way(const struct rfn_engine *engine, const struct rfn_engine_source *source,
                            uint32_t lane, const struct rfn_engine_call *call, bool rendezvous)
{
    const struct rfn_network *network = &engine->networks[lane];
    double factor = 1;
    if (engine->ideal[lane])
        return rfn_least(source->way_ns, 0);
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
                         source->way_ns <
                             rfn_nearest(rfn_way_ns(engine->network, source->bytes, true));
    const double formula_ns = rfn_way_ns(engine->network, source->bytes,
                                         source->rendezvous && !unasked);
    const double change = rfn_way_ns(network, source->bytes, rendezvous && !unasked) - formula_ns +
                          shared_bytes(engine->network, call, source, formula_ns) *
                              (network->gap_per_byte_ns - engine->network->gap_per_byte_ns);
    return rfn_most(rfn_times(factor, source->way_ns + rfn_nearest(change)),
                    rfn_least(source->way_ns, 0));
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
    const double steps = (double)rfn_most(own_ns, 0) < most_steps * stride
                             ? (double)rfn_most(own_ns, 0) / stride
                             : most_steps;
    return steps * (stride_ns(to, step) - stride);
}

int64_t rfn_engine_lane_own(const struct rfn_engine *engine, const struct rfn_engine_call *call,
                            uint32_t lane)
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
    return rfn_most(rfn_engine_assumed_ns(call->effects, lane, step, RFN_ASSUME_CALL,
                                          call->own_ns + rfn_nearest(change)),
                    0);
}
