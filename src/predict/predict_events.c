/* predict_events.c - the predicted run as a graph (event_graph.h): what single events save. */
#include "predict/predict_internal.h"

#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes of the graph ---- */

int64_t rfn_engine_node(struct rfn_engine *engine, const struct rfn_step *step)
{
    struct rfn_engine_stream *stream = &engine->streams[step->stream];
    if (stream->node == RFN_NO_NODE) {
        const int64_t node = rfn_graph_node(engine->graph, step->enter_ns - stream->early[0]);
        RFN_TRY((int)rfn_least(node, 0));
        stream->node = (uint32_t)node;
    }
    return stream->node;
}

int rfn_engine_go_on(struct rfn_engine *engine, const struct rfn_step *step, bool call,
                     uint32_t tail, int64_t weight, int64_t ns)
{
    const struct rfn_graph_event event = {step->stream, step->activity, step->index, call};
    const int64_t node = rfn_graph_node(engine->graph, ns);
    RFN_TRY((int)rfn_least(node, 0));
    RFN_TRY(rfn_graph_edge(engine->graph, tail, weight));
    engine->streams[step->stream].node = (uint32_t)node;
    return rfn_graph_ends(engine->graph, &event);
}

int64_t rfn_engine_later(struct rfn_graph *graph, int64_t a, int64_t b)
{
    const int64_t node = rfn_graph_node(graph, rfn_most(graph->ns[a], graph->ns[b]));
    RFN_TRY((int)rfn_least(node, 0));
    RFN_TRY(rfn_graph_edge(graph, (uint32_t)a, 0));
    RFN_TRY(rfn_graph_edge(graph, (uint32_t)b, 0));
    return node;
}

/* ---- calls as events ---- */

/* Among the longest waits, in the place of the shortest of them. */
static void keep_wait(const struct rfn_engine *engine, const struct rfn_step *step,
                      int64_t enter_ns, int64_t ns)
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

int rfn_engine_draw(struct rfn_engine *engine, const struct rfn_engine_call *call, uint32_t tail)
{
    const struct rfn_step *step = call->step;
    const int64_t entered_ns = step->enter_ns - call->early[0],
                  own_ns = rfn_engine_lane_own(engine, call, 0);
    if (engine->exits[0] == entered_ns && !call->n_sources)
        return 0;
    keep_wait(engine, step, entered_ns, engine->exits[0] - own_ns - entered_ns);
    RFN_TRY(rfn_engine_go_on(engine, step, true, tail, own_ns, engine->exits[0]));
    if (rfn_engine_assumed_ns(call->effects, 0, step, RFN_ASSUME_WAIT, 1) == 0)
        return 0;
    for (size_t i = 0; i < call->n_sources; i++) {
        const struct rfn_engine_source *source = &engine->sources[i];
        const bool rendezvous = rfn_is_rendezvous(source, engine->networks[0].eager_bytes);
        const int64_t weight = rfn_engine_lane_way(engine, source, 0, call, rendezvous) + own_ns;
        if (!rfn_is_needed(source, rendezvous))
            continue;
        RFN_TRY(rfn_graph_edge(engine->graph, (uint32_t)source->first[engine->n], weight));
        if (rendezvous)
            RFN_TRY(rfn_graph_edge(engine->graph, (uint32_t)source->second[engine->n], weight));
    }
    return 0;
}

/* ---- single events ---- */

static int take_gains(struct rfn_engine *engine, void *context)
{
    const struct rfn_engine_events *asked = context;
    const uint32_t n = rfn_archive_run(engine->archive)->streams;
    const int64_t start_ns = rfn_steps_start_ns(engine->steps);
    struct rfn_graph_gain *found = NULL;
    uint32_t *last = calloc((size_t)n + 1, sizeof *last);
    for (uint32_t i = 0; last && i < n; i++)
        last[i] = engine->streams[i].node;
    const int64_t n_found = last ? rfn_graph_gains(engine->graph, last, n, asked->most, &found)
                                 : RFN_E_NOMEM;
    free(last);
    RFN_TRY((int)rfn_least(n_found, 0));
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
        if ((assumption->what == RFN_ASSUME_WAIT && assumption->factor != 0) ||
            assumption->what == RFN_ASSUME_LATE)
            return false;
    }
    return true;
}

int rfn_predict_events(const struct rfn_archive *archive, const struct rfn_predict_options *options,
                       size_t most, struct rfn_event_gains *gains,
                       struct rfn_prediction *prediction, struct rfn_diag *diag)
{
    struct rfn_graph graph = {.n = 0};
    struct rfn_engine_events asked = {most, gains};
    struct rfn_engine engine = {.archive = archive,
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
    int error = rfn_engine_predict(&engine, take_gains, &asked, diag);
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
