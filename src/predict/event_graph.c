#include "predict/event_graph.h"

#include "base/grow.h"
#include "refrain/error.h"

#include <stdlib.h>

void rfn_graph_release(struct rfn_graph *graph)
{
    free(graph->ns);
    free(graph->edges);
    free(graph->events);
    free(graph->tails);
    free(graph->weights);
    free(graph->of);
    *graph = (struct rfn_graph){0};
}

int64_t rfn_graph_node(struct rfn_graph *graph, int64_t ns)
{
    if (graph->n == RFN_NO_NODE)
        return RFN_E_RANGE;
    RFN_TRY(RFN_GROW(graph->ns, graph->capacity, graph->n + 1));
    RFN_TRY(RFN_GROW(graph->edges, graph->ends_capacity, graph->n + 2));
    RFN_TRY(RFN_GROW(graph->events, graph->events_capacity, graph->n + 1));
    graph->ns[graph->n] = ns;
    graph->events[graph->n] = 0;
    graph->edges[graph->n] = graph->edges[graph->n + 1] = graph->n_edges;
    return (int64_t)graph->n++;
}

int rfn_graph_edge(struct rfn_graph *graph, uint32_t tail, int64_t weight)
{
    RFN_TRY(RFN_GROW(graph->tails, graph->tails_capacity, graph->n_edges + 1));
    RFN_TRY(RFN_GROW(graph->weights, graph->weights_capacity, graph->n_edges + 1));
    graph->tails[graph->n_edges] = tail;
    graph->weights[graph->n_edges++] = weight;
    graph->edges[graph->n] = graph->n_edges;
    return 0;
}

int rfn_graph_ends(struct rfn_graph *graph, const struct rfn_graph_event *event)
{
    RFN_TRY(RFN_GROW(graph->of, graph->of_capacity, graph->n_events + 1));
    graph->of[graph->n_events++] = *event;
    graph->events[graph->n - 1] = graph->n_events;
    return 0;
}

/* ---- what each event saves ---- */

/* An edge across the cut: how long the longest path over it is. */
struct crossing {
    int64_t through_ns;
    int64_t tail; /* -1: the begin of a stream */
};

/* From the end of the run to its begin. The crossings are a heap, longest first; those whose tails
 * have been passed are dropped when they come to its top. */
struct sweep {
    const struct rfn_graph *graph;
    int64_t *rest_ns; /* by node: the longest path from it to the end; INT64_MIN: none */
    struct crossing *heap;
    size_t n, capacity;
    int64_t run_ns;
    struct rfn_graph_gain *best; /* most first */
    size_t n_best, most;
};

static int push(struct sweep *sweep, int64_t through_ns, int64_t tail)
{
    RFN_TRY(RFN_GROW(sweep->heap, sweep->capacity, sweep->n + 1));
    size_t at = sweep->n++;
    for (; at > 0 && sweep->heap[(at - 1) / 2].through_ns < through_ns; at = (at - 1) / 2)
        sweep->heap[at] = sweep->heap[(at - 1) / 2];
    sweep->heap[at] = (struct crossing){through_ns, tail};
    return 0;
}

static void pop(struct sweep *sweep)
{
    struct crossing *heap = sweep->heap, last = heap[--sweep->n];
    size_t at = 0, child;
    for (; (child = 2 * at + 1) < sweep->n; at = child) {
        child += child + 1 < sweep->n && heap[child + 1].through_ns > heap[child].through_ns;
        if (heap[child].through_ns <= last.through_ns)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
}

/* The longest path that does not lead through the node, which all behind it have been passed of. */
static int64_t longest_beside(struct sweep *sweep, size_t node)
{
    while (sweep->n && sweep->heap[0].tail >= (int64_t)node)
        pop(sweep);
    return sweep->n ? sweep->heap[0].through_ns : INT64_MIN;
}

static int by_gain(const void *left, const void *right)
{
    const struct rfn_graph_gain *a = left, *b = right;
    if (a->gain_ns != b->gain_ns)
        return a->gain_ns > b->gain_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

/* Among the best, in the place of the least of them. */
static void keep(struct sweep *sweep, const struct rfn_graph_gain *gain)
{
    struct rfn_graph_gain *best = sweep->best;
    if (gain->gain_ns <= 0 ||
        (sweep->n_best == sweep->most && by_gain(gain, &best[sweep->n_best - 1]) > 0))
        return;
    size_t at = sweep->n_best < sweep->most ? sweep->n_best++ : sweep->n_best - 1;
    for (; at > 0 && by_gain(gain, &best[at - 1]) < 0; at--)
        best[at] = best[at - 1];
    best[at] = *gain;
}

static int pass(struct sweep *sweep, size_t node)
{
    const struct rfn_graph *graph = sweep->graph;
    const size_t first = graph->edges[node], end = graph->edges[node + 1];
    const int64_t rest_ns = sweep->rest_ns[node];
    if (rest_ns == INT64_MIN)
        return 0;
    const int64_t beside_ns = longest_beside(sweep, node);
    if (graph->events[node] && first < end) {
        const int64_t from_ns = graph->ns[graph->tails[first]];
        const int64_t without_ns = from_ns + rest_ns > beside_ns ? from_ns + rest_ns : beside_ns;
        keep(sweep, &(struct rfn_graph_gain){graph->events[node] - 1, sweep->run_ns - without_ns,
                                             from_ns, graph->ns[node]});
    }
    if (first == end)
        return push(sweep, graph->ns[node] + rest_ns, -1);
    for (size_t i = first; i < end; i++) {
        const uint32_t tail = graph->tails[i];
        const int64_t from_there_ns = graph->weights[i] + rest_ns;
        if (sweep->rest_ns[tail] < from_there_ns)
            sweep->rest_ns[tail] = from_there_ns;
        RFN_TRY(push(sweep, graph->ns[tail] + from_there_ns, tail));
    }
    return 0;
}

static int sweep_back(struct sweep *sweep, const uint32_t *last, size_t n_last)
{
    const struct rfn_graph *graph = sweep->graph;
    sweep->run_ns = INT64_MIN;
    for (size_t i = 0; i < graph->n; i++)
        sweep->rest_ns[i] = INT64_MIN;
    for (size_t i = 0; i < n_last; i++) {
        if (last[i] == RFN_NO_NODE)
            continue;
        sweep->rest_ns[last[i]] = 0;
        sweep->run_ns = graph->ns[last[i]] > sweep->run_ns ? graph->ns[last[i]] : sweep->run_ns;
        RFN_TRY(push(sweep, graph->ns[last[i]], last[i]));
    }
    for (size_t node = graph->n; node-- > 0;)
        RFN_TRY(pass(sweep, node));
    return 0;
}

int64_t rfn_graph_gains(const struct rfn_graph *graph, const uint32_t *last, size_t n_last,
                        size_t most, struct rfn_graph_gain **gains)
{
    struct sweep sweep = {.graph = graph, .most = most < graph->n_events ? most : graph->n_events};
    sweep.rest_ns = malloc((graph->n + 1) * sizeof *sweep.rest_ns);
    sweep.best = calloc(sweep.most + 1, sizeof *sweep.best);
    int error = sweep.rest_ns && sweep.best ? 0 : RFN_E_NOMEM;
    if (!error && sweep.most)
        error = sweep_back(&sweep, last, n_last);
    free(sweep.rest_ns);
    free(sweep.heap);
    *gains = error ? NULL : sweep.best;
    if (error)
        free(sweep.best);
    return error ? error : (int64_t)sweep.n_best;
}
