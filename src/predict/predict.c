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
#include "predict/predict_internal.h"

#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- points in time ---- */

/* The stream comes to a point, to which it has been outside of MPI for so long; the lanes are there
 * `exits` at the latest (NULL: no matter). */
static void reach(const struct rfn_engine *engine, const struct rfn_step *step, size_t point,
                  int64_t outside_ns, const int64_t *exits)
{
    const struct rfn_engine_stream *stream = &engine->streams[step->stream];
    const int64_t start_ns = rfn_steps_start_ns(engine->steps);
    const int64_t at_ns = start_ns + engine->options->points_ns[point];
    const uint32_t ranks = rfn_archive_run(engine->archive)->ranks;
    int64_t *reached = engine->prediction->reached_ns + (point * ranks + step->rank) * engine->n;
    for (size_t k = 0; k < engine->n; k++) {
        const int64_t ns = exits ? rfn_least(at_ns - stream->early[k], exits[k])
                                 : at_ns - stream->early[k];
        reached[k] = rfn_most(reached[k], ns - start_ns);
    }
    engine->prediction->outside_ns[point * ranks + step->rank] += outside_ns;
}

/* Points before the step's end. */
static void reach_points(const struct rfn_engine *engine, const struct rfn_step *step,
                         bool computing, const int64_t *exits)
{
    struct rfn_engine_stream *stream = &engine->streams[step->stream];
    const struct rfn_predict_options *options = engine->options;
    for (; stream->next_point < options->n_points; stream->next_point++) {
        const int64_t at_ns = rfn_steps_start_ns(engine->steps) +
                              options->points_ns[stream->next_point];
        if (at_ns >= step->exit_ns)
            break;
        const int64_t outside_ns = computing ? rfn_most(at_ns - step->enter_ns, 0) : 0;
        reach(engine, step, stream->next_point, stream->outside_ns + outside_ns, exits);
    }
}

/* ---- computing ---- */

/* Computing, or the recorder's own work. */
static int compute(void *context, const struct rfn_step *step)
{
    struct rfn_engine *engine = context;
    RFN_TRY(RFN_ENGINE_WATCH(engine, compute, step));
    const struct rfn_engine_effects *effects = rfn_engine_effects_of(engine, step->activity);
    int64_t *early = engine->streams[step->stream].early;
    const int64_t ns = step->exit_ns - step->enter_ns;
    if (!effects)
        return RFN_E_NOMEM;
    if (engine->options->n_points)
        reach_points(engine, step, !step->recording, NULL);
    engine->streams[step->stream].outside_ns += step->recording ? 0 : ns;
    const int64_t left_ns = step->enter_ns - early[0];
    const int64_t node = engine->graph ? rfn_engine_node(engine, step) : 0;
    RFN_TRY((int)rfn_least(node, 0));
    for (size_t i = 0; i < effects->n; i++) {
        const struct rfn_engine_effect *effect = &effects->items[i];
        const bool first = i == 0 || effects->items[i - 1].lane != effect->lane;
        if (first)
            early[effect->lane] += ns - rfn_engine_assumed_ns(effects, effect->lane, step,
                                                              RFN_ASSUME_COMPUTE, ns);
    }
    const int64_t entered_ns = step->exit_ns - early[0];
    if (!engine->graph || entered_ns == left_ns)
        return 0;
    return rfn_engine_go_on(engine, step, false, (uint32_t)node, entered_ns - left_ns, entered_ns);
}

static int polls(void *context, const struct rfn_step *step)
{
    struct rfn_engine *engine = context;
    struct rfn_engine_stream *stream = &engine->streams[step->stream];
    RFN_TRY(RFN_ENGINE_WATCH(engine, polls, step));
    if (!stream->polled)
        stream->polled = malloc(engine->n * sizeof *stream->polled);
    if (!stream->polled)
        return RFN_E_NOMEM;
    memcpy(stream->polled, stream->early, engine->n * sizeof *stream->polled);
    if (engine->graph)
        RFN_TRY((int)rfn_least(rfn_engine_node(engine, step), 0));
    stream->polled_node = stream->node;
    return 0;
}

/* ---- what calls post ---- */

static int set_entered(struct rfn_engine *engine, const struct rfn_step *step, int64_t *to)
{
    const int64_t *early = engine->streams[step->stream].early;
    for (size_t i = 0; i < engine->n; i++)
        to[i] = step->enter_ns - early[i];
    if (engine->graph)
        to[engine->n] = rfn_engine_node(engine, step);
    return engine->graph ? (int)rfn_least(to[engine->n], 0) : 0;
}

static int take_latest(struct rfn_engine *engine, const struct rfn_step *step, int64_t *latest)
{
    const int64_t *early = engine->streams[step->stream].early;
    for (size_t i = 0; i < engine->n; i++)
        latest[i] = rfn_most(latest[i], step->enter_ns - early[i]);
    if (!engine->graph)
        return 0;
    int64_t *node = &latest[engine->n];
    const int64_t own = rfn_engine_node(engine, step);
    RFN_TRY((int)rfn_least(own, 0));
    *node = *node == INT64_MIN ? own : rfn_engine_later(engine->graph, *node, own);
    return (int)rfn_least(*node, 0);
}

static int begin_collective(const struct rfn_engine *engine,
                            struct rfn_engine_collective *collective)
{
    const size_t n = engine->width * RFN_ENGINE_LATEST;
    if (!collective->latest)
        collective->latest = malloc(n * sizeof *collective->latest);
    if (!collective->latest)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        collective->latest[i] = INT64_MIN;
    collective->begun = true;
    return 0;
}

static int take_part(struct rfn_engine *engine, const struct rfn_step *step,
                     const struct rfn_post *post)
{
    RFN_TRY(RFN_GROW_ZEROED(engine->collectives, engine->collectives_capacity,
                            (size_t)post->number + 1));
    struct rfn_engine_collective *collective = &engine->collectives[post->number];
    const struct rfn_share *share = &post->share;
    const size_t n = engine->width;
    if (!collective->begun)
        RFN_TRY(begin_collective(engine, collective));
    RFN_TRY(take_latest(engine, step, collective->latest + RFN_ENGINE_ALL * n));
    if (share->data)
        RFN_TRY(take_latest(engine, step, collective->latest + RFN_ENGINE_DATA * n));
    if (share->root)
        RFN_TRY(set_entered(engine, step, collective->latest + RFN_ENGINE_ROOT * n));
    else if (share->data)
        RFN_TRY(take_latest(engine, step, collective->latest + RFN_ENGINE_OTHERS * n));
    if (!post->by_place)
        return 0;
    if (!collective->places)
        collective->places = calloc((size_t)post->places * n + 1, sizeof *collective->places);
    if (!collective->places)
        return RFN_E_NOMEM;
    return set_entered(engine, step, collective->places + (size_t)share->place * n);
}

static int mark(struct rfn_engine *engine, const struct rfn_step *step)
{
    struct rfn_engine_stream *stream = &engine->streams[step->stream];
    const size_t at = stream->n_marks++ % RFN_ENGINE_MARKS;
    if (!stream->marked)
        stream->marked = malloc(RFN_ENGINE_MARKS * engine->width * sizeof *stream->marked);
    if (!stream->marked)
        return RFN_E_NOMEM;
    stream->marks[at] = (struct rfn_engine_mark){true, step->index, step->enter_ns};
    return set_entered(engine, step, stream->marked + at * engine->width);
}

static int enter(void *context, const struct rfn_step *step)
{
    struct rfn_engine *engine = context;
    RFN_TRY(RFN_ENGINE_WATCH(engine, enter, step));
    for (size_t i = 0; i < step->n_posts; i++) {
        const struct rfn_post *post = &step->posts[i];
        if (post->kind == RFN_POST_COLLECTIVE) {
            RFN_TRY(take_part(engine, step, post));
            continue;
        }
        int64_t *to = post->kind == RFN_POST_SEND
                          ? rfn_engine_vector(&engine->messages, post->number, 2 * engine->width)
                          : rfn_engine_vector(&engine->receives, post->number, engine->width);
        if (!to)
            return RFN_E_NOMEM;
        RFN_TRY(set_entered(engine, step, to));
    }
    return step->marks ? mark(engine, step) : 0;
}

static int keep(void *context, uint32_t message, uint32_t receive)
{
    struct rfn_engine *engine = context;
    RFN_TRY(RFN_ENGINE_WATCH(engine, keep, message, receive));
    int64_t *to = rfn_engine_vector(&engine->messages, message, 2 * engine->width);
    const int64_t *from = rfn_engine_vector(&engine->receives, receive, engine->width);
    if (!to || !from)
        return RFN_E_NOMEM;
    memcpy(to + engine->width, from, engine->width * sizeof *to);
    return 0;
}

static int over(void *context, uint32_t number)
{
    struct rfn_engine *engine = context;
    RFN_TRY(RFN_ENGINE_WATCH(engine, over, number));
    if (number < engine->collectives_capacity) {
        engine->collectives[number].begun = false;
        free(engine->collectives[number].places);
        engine->collectives[number].places = NULL;
    }
    return 0;
}

/* ---- when calls end ---- */

static int64_t recorded_ready(const struct rfn_engine *engine, const struct rfn_engine_call *call)
{
    int64_t ready = call->step->enter_ns;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct rfn_engine_source *source = &engine->sources[i];
        if (rfn_is_needed(source, source->rendezvous))
            ready = rfn_most(ready, source->ready_ns + source->way_ns);
    }
    return ready;
}

static void end_in_all(const struct rfn_engine *engine, const struct rfn_engine_call *call)
{
    int64_t *exits = engine->exits;
    for (size_t k = 0; k < engine->n; k++)
        exits[k] = call->step->enter_ns - call->early[k];
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct rfn_engine_source *source = &engine->sources[i];
        const int64_t *first = source->first;
        const int64_t *second = source->rendezvous ? source->second : first;
        if (!rfn_is_needed(source, source->rendezvous))
            continue;
        for (size_t k = 0; k < engine->n; k++)
            exits[k] = rfn_most(exits[k], rfn_most(first[k], second[k]) + source->way_ns);
    }
    for (size_t k = 0; k < engine->n; k++)
        exits[k] += call->own_ns;
}

static int64_t end_in(const struct rfn_engine *engine, const struct rfn_engine_call *call,
                      uint32_t lane)
{
    const int64_t enter_ns = call->step->enter_ns - call->early[lane];
    int64_t there = enter_ns;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct rfn_engine_source *source = &engine->sources[i];
        const bool rendezvous = rfn_is_rendezvous(source, engine->networks[lane].eager_bytes);
        int64_t ready = source->first[lane];
        if (!rfn_is_needed(source, rendezvous))
            continue;
        if (rendezvous)
            ready = rfn_most(ready, source->second[lane]);
        if (ready > enter_ns)
            ready = enter_ns + rfn_engine_assumed_ns(call->effects, lane, call->step,
                                                     RFN_ASSUME_LATE, ready - enter_ns);
        there = rfn_most(there,
                         ready + rfn_engine_lane_way(engine, source, lane, call, rendezvous));
    }
    if (engine->ideal[lane] && !call->effects->n)
        return there;
    return enter_ns +
           rfn_engine_assumed_ns(call->effects, lane, call->step, RFN_ASSUME_WAIT,
                                 there - enter_ns) +
           rfn_engine_lane_own(engine, call, lane);
}

/* Lanes that assume something of this call. */
static void end_in_some(const struct rfn_engine *engine, const struct rfn_engine_call *call)
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
static void count_overtaken(struct rfn_engine *engine, const struct rfn_engine_call *call)
{
    struct rfn_engine_arrival *before = &engine->streams[call->step->stream].wildcard;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct rfn_engine_source *source = &engine->sources[i];
        if (!source->wildcard || source->taken)
            continue;
        int64_t predicted = source->first[0];
        if (source->rendezvous)
            predicted = rfn_most(predicted, source->second[0]);
        const struct rfn_engine_arrival now = {true, source->ready_ns + source->way_ns,
                                               predicted + source->way_ns};
        engine->prediction->overtaken += before->any && before->recorded_ns <= now.recorded_ns &&
                                         before->predicted_ns > now.predicted_ns;
        *before = now;
    }
}

/* A call that needs nobody, where lanes assume nothing but another network. */
static void leave_alone(struct rfn_engine *engine, struct rfn_engine_call *call)
{
    const struct rfn_step *step = call->step;
    struct rfn_engine_stream *stream = &engine->streams[step->stream];
    call->own_ns = step->exit_ns - step->enter_ns;
    reach_points(engine, step, false, NULL);
    for (size_t i = 0; i < engine->n_network; i++) {
        const uint32_t lane = engine->special[i];
        stream->early[lane] = step->exit_ns - end_in(engine, call, lane);
    }
}

static int end_call(struct rfn_engine *engine, const struct rfn_step *step)
{
    struct rfn_engine_stream *stream = &engine->streams[step->stream];
    struct rfn_engine_call call = {.step = step,
                                   .effects = rfn_engine_effects_of(engine, step->activity)};
    if (!call.effects)
        return RFN_E_NOMEM;
    engine->prediction->events++;
    stream->last_ns = step->exit_ns;
    const bool polled = step->polled && stream->polled;
    const int64_t node = !engine->graph ? 0
                         : polled       ? stream->polled_node
                                        : rfn_engine_node(engine, step);
    RFN_TRY((int)rfn_least(node, 0));
    call.early = polled ? stream->polled : stream->early;
    RFN_TRY(rfn_engine_find_sources(engine, step, &call.n_sources));
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
        RFN_TRY(rfn_engine_draw(engine, &call, (uint32_t)node));
    reach_points(engine, step, false, engine->exits);
    for (size_t k = 0; k < engine->n; k++)
        stream->early[k] = step->exit_ns - engine->exits[k];
    return 0;
}

static int tell_needs(struct rfn_engine *engine, const struct rfn_step *step)
{
    size_t n = 0;
    RFN_TRY(RFN_GROW(engine->watched, engine->watched_capacity, engine->n_sources + 1));
    for (size_t i = 0; i < engine->n_sources; i++) {
        const struct rfn_engine_source *source = &engine->sources[i];
        if (rfn_is_needed(source, source->rendezvous))
            engine->watched[n++] = (struct rfn_watched_need){source->need, source->ready_ns,
                                                             source->way_ns, source->rendezvous};
    }
    return engine->watch->needed(engine->watch->context, engine->steps, step, engine->watched, n);
}

static int leave(void *context, const struct rfn_step *step)
{
    struct rfn_engine *engine = context;
    const struct rfn_predict_watch *watch = engine->watch;
    const int64_t *early = engine->streams[step->stream].early, before = early[0];
    RFN_TRY(end_call(engine, step));
    if (watch && watch->needed)
        RFN_TRY(tell_needs(engine, step));
    return watch && watch->left ? watch->left(watch->context, step, before, early[0]) : 0;
}

/* ---- the whole ---- */

static int init_streams(struct rfn_engine *engine)
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
static void reach_rest(struct rfn_engine *engine, uint32_t number)
{
    const struct rfn_engine_stream *stream = &engine->streams[number];
    const struct rfn_step step = {.stream = number,
                                  .rank = rfn_archive_stream(engine->archive, number).rank};
    for (size_t k = 0; k < engine->n; k++)
        engine->exits[k] = stream->last_ns - stream->early[k];
    for (size_t i = stream->next_point; i < engine->options->n_points; i++)
        reach(engine, &step, i, stream->outside_ns, engine->exits);
}

/* The last exit of all streams. */
static void find_end(struct rfn_engine *engine)
{
    struct rfn_prediction *prediction = engine->prediction;
    const uint32_t n = rfn_archive_run(engine->archive)->streams;
    const int64_t start_ns = rfn_steps_start_ns(engine->steps);
    for (uint32_t i = 0; i < n; i++) {
        const struct rfn_engine_stream *stream = &engine->streams[i];
        if (stream->last_ns == INT64_MIN)
            continue;
        reach_rest(engine, i);
        prediction->recorded_ns = rfn_most(prediction->recorded_ns, stream->last_ns - start_ns);
        for (size_t k = 0; k < engine->n; k++)
            prediction->predicted_ns[k] = rfn_most(prediction->predicted_ns[k],
                                                   stream->last_ns - stream->early[k] - start_ns);
    }
}

static void release(struct rfn_engine *engine)
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

static int run(struct rfn_engine *engine)
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
    RFN_TRY(rfn_engine_init_lanes(engine));
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

int rfn_engine_predict(struct rfn_engine *engine,
                       int (*done)(struct rfn_engine *engine, void *context), void *context,
                       struct rfn_diag *diag)
{
    const struct rfn_run *of = rfn_archive_run(engine->archive);
    struct rfn_prediction *prediction = engine->prediction;
    *prediction = (struct rfn_prediction){0};
    if (!of->times)
        return rfn_fail(diag, RFN_E_NOTFOUND, -1, -1,
                        "the archive has no times to predict from; record it with --time=full");
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
    struct rfn_engine engine = {.archive = archive, .options = options, .prediction = prediction};
    return rfn_engine_predict(&engine, NULL, NULL, diag);
}

int rfn_predict_watched(const struct rfn_archive *archive,
                        const struct rfn_predict_options *options,
                        const struct rfn_predict_watch *watch, struct rfn_prediction *prediction,
                        struct rfn_diag *diag)
{
    struct rfn_engine engine = {
        .archive = archive, .options = options, .watch = watch, .prediction = prediction};
    return rfn_engine_predict(&engine, NULL, NULL, diag);
}

void rfn_prediction_release(struct rfn_prediction *prediction)
{
    free(prediction->predicted_ns);
    free(prediction->reached_ns);
    free(prediction->outside_ns);
    *prediction = (struct rfn_prediction){0};
}
