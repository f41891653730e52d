/* platform_ways.c - the ways from place to place in a zone whose file lists them.
 *
 * In a Full zone there is a way or there is none. In Floyd and Dijkstra zones ways are joined to
 * the shortest, by number of links. Where several are as short, the one is taken that SimGrid finds
 * first: that of the algorithm of Floyd and Warshall with places in order, or of Dijkstra's with
 * places in the order of their first route.
 */
#include "base/grow.h"
#include "simulate/platform/platform_internal.h"

#include <stdlib.h>

static int push(struct rfn_platform *platform, uint32_t way)
{
    RFN_TRY(RFN_GROW(platform->path, platform->path_capacity, platform->n_path + 1));
    platform->path[platform->n_path++] = way;
    return 0;
}

static int push_between(struct rfn_platform *platform, const struct rfn_zone *zone, uint32_t from,
                        uint32_t to)
{
    const uint64_t *way = rfn_map_get(&zone->ways, rfn_way_key(from, to));
    return way ? push(platform, (uint32_t)*way) : RFN_E_NOTFOUND;
}

static void reverse(uint32_t *ways, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        const uint32_t way = ways[i];
        ways[i] = ways[n - 1 - i];
        ways[n - 1 - i] = way;
    }
}

/* ---- Floyd ---- */

static void join_at(uint32_t *cost, uint32_t *before, size_t n, size_t middle)
{
    for (size_t from = 0; from < n; from++) {
        const uint32_t first = cost[from * n + middle];
        for (size_t to = 0; first != RFN_NOWHERE && to < n; to++) {
            const uint32_t second = cost[middle * n + to], at = cost[from * n + to];
            if (second == RFN_NOWHERE || (at != RFN_NOWHERE && at <= first + second))
                continue;
            cost[from * n + to] = first + second;
            before[from * n + to] = before[middle * n + to];
        }
    }
}

static int make_table(const struct rfn_platform *platform, struct rfn_zone *zone)
{
    const size_t n = zone->n_points;
    uint32_t *cost = malloc(n * n * sizeof *cost), *before = malloc(n * n * sizeof *before);
    if (!cost || !before) {
        free(cost);
        free(before);
        return RFN_E_NOMEM;
    }
    memset(cost, 0xff, n * n * sizeof *cost);
    memset(before, 0xff, n * n * sizeof *before);
    for (uint32_t i = zone->first_way; i != RFN_NOWHERE; i = platform->ways[i].next) {
        const struct rfn_way *way = &platform->ways[i];
        cost[way->from * n + way->to] = (uint32_t)way->n_links;
        before[way->from * n + way->to] = way->from;
    }
    for (size_t middle = 0; middle < n; middle++)
        join_at(cost, before, n, middle);
    free(cost);
    zone->before = before;
    return 0;
}

static int push_floyd(struct rfn_platform *platform, struct rfn_zone *zone, uint32_t from,
                      uint32_t to)
{
    const size_t base = platform->n_path;
    if (!zone->before)
        RFN_TRY(make_table(platform, zone));
    do {
        const uint32_t before = zone->before[(size_t)from * zone->n_points + to];
        if (before == RFN_NOWHERE)
            return RFN_E_NOTFOUND;
        RFN_TRY(push_between(platform, zone, before, to));
        to = before;
    } while (to != from);
    reverse(platform->path + base, platform->n_path - base);
    return 0;
}

/* ---- Dijkstra ---- */

/* Nodes are the places that have routes, in the order of their first one. */
struct rfn_graph {
    uint32_t n_nodes;
    uint32_t *nodes;  /* by place; RFN_NOWHERE: it has no route */
    uint32_t *places; /* by node */
    uint32_t *first;  /* by node, n_nodes + 1: of its ways in `ways` */
    uint32_t *ways;
    uint32_t *cost;  /* by node, while ways are looked for */
    uint64_t *queue; /* a heap of cost and node */
    size_t n_queue, queue_capacity;
};

void rfn_graph_free(struct rfn_graph *graph)
{
    if (!graph)
        return;
    free(graph->nodes);
    free(graph->places);
    free(graph->first);
    free(graph->ways);
    free(graph->cost);
    free(graph->queue);
    free(graph);
}

static uint32_t node_of(struct rfn_graph *graph, uint32_t place)
{
    if (graph->nodes[place] == RFN_NOWHERE) {
        graph->nodes[place] = graph->n_nodes;
        graph->places[graph->n_nodes++] = place;
    }
    return graph->nodes[place];
}

static void sort_ways(const struct rfn_platform *platform, const struct rfn_zone *zone,
                      struct rfn_graph *graph)
{
    for (uint32_t i = zone->first_way; i != RFN_NOWHERE; i = platform->ways[i].next) {
        const uint32_t from = node_of(graph, platform->ways[i].from);
        node_of(graph, platform->ways[i].to);
        graph->first[from + 1]++;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        graph->first[i + 1] += graph->first[i];
    for (uint32_t i = zone->first_way; i != RFN_NOWHERE; i = platform->ways[i].next)
        graph->ways[graph->first[graph->nodes[platform->ways[i].from]]++] = i;
    for (uint32_t i = graph->n_nodes; i > 0; i--)
        graph->first[i] = graph->first[i - 1];
    graph->first[0] = 0;
}

static int make_graph(const struct rfn_platform *platform, struct rfn_zone *zone)
{
    const size_t n = zone->n_points, n_ways = zone->ways.n;
    struct rfn_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return RFN_E_NOMEM;
    graph->nodes = malloc((n + 1) * sizeof *graph->nodes);
    graph->places = malloc((n + 1) * sizeof *graph->places);
    graph->first = calloc(n + 2, sizeof *graph->first);
    graph->ways = malloc((n_ways + 1) * sizeof *graph->ways);
    graph->cost = malloc((n + 1) * sizeof *graph->cost);
    zone->before = malloc((n + 1) * sizeof *zone->before);
    if (!graph->nodes || !graph->places || !graph->first || !graph->ways || !graph->cost ||
        !zone->before) {
        rfn_graph_free(graph);
        free(zone->before);
        zone->before = NULL;
        return RFN_E_NOMEM;
    }
    memset(graph->nodes, 0xff, (n + 1) * sizeof *graph->nodes);
    sort_ways(platform, zone, graph);
    zone->graph = graph;
    return 0;
}

static int enqueue(struct rfn_graph *graph, uint32_t cost, uint32_t node)
{
    RFN_TRY(RFN_GROW(graph->queue, graph->queue_capacity, graph->n_queue + 1));
    const uint64_t entry = (uint64_t)cost << 32 | node;
    size_t at = graph->n_queue++;
    while (at && graph->queue[(at - 1) / 2] > entry) {
        graph->queue[at] = graph->queue[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    graph->queue[at] = entry;
    return 0;
}

static uint64_t dequeue(struct rfn_graph *graph)
{
    const uint64_t lowest = graph->queue[0], last = graph->queue[--graph->n_queue];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < graph->n_queue && graph->queue[child + 1] < graph->queue[child])
            child++;
        if (child >= graph->n_queue || graph->queue[child] >= last)
            break;
        graph->queue[at] = graph->queue[child];
        at = child;
    }
    graph->queue[at] = last;
    return lowest;
}

/* Finds the ways from a node to all others. */
static int spread(const struct rfn_platform *platform, struct rfn_zone *zone, uint32_t from)
{
    struct rfn_graph *graph = zone->graph;
    memset(graph->cost, 0xff, graph->n_nodes * sizeof *graph->cost);
    memset(zone->before, 0xff, graph->n_nodes * sizeof *zone->before);
    zone->before_from = RFN_NOWHERE;
    graph->cost[from] = 0;
    graph->n_queue = 0;
    RFN_TRY(enqueue(graph, 0, from));
    while (graph->n_queue) {
        const uint64_t lowest = dequeue(graph);
        const uint32_t node = (uint32_t)lowest, cost = (uint32_t)(lowest >> 32);
        for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
            const struct rfn_way *way = &platform->ways[graph->ways[i]];
            const uint32_t to = graph->nodes[way->to], sum = cost + (uint32_t)way->n_links;
            if (cost > graph->cost[node] || sum >= graph->cost[to])
                continue;
            graph->cost[to] = sum;
            zone->before[to] = node;
            RFN_TRY(enqueue(graph, sum, to));
        }
    }
    zone->before_from = from;
    return 0;
}

static int push_dijkstra(struct rfn_platform *platform, struct rfn_zone *zone, uint32_t from,
                         uint32_t to)
{
    const size_t base = platform->n_path;
    if (from == to)
        return push_between(platform, zone, from, to);
    if (!zone->graph)
        RFN_TRY(make_graph(platform, zone));
    const struct rfn_graph *graph = zone->graph;
    const uint32_t first = graph->nodes[from];
    uint32_t node = graph->nodes[to];
    if (first == RFN_NOWHERE || node == RFN_NOWHERE)
        return RFN_E_NOTFOUND;
    if (zone->before_from != first)
        RFN_TRY(spread(platform, zone, first));
    for (; node != first; node = zone->before[node]) {
        if (zone->before[node] == RFN_NOWHERE)
            return RFN_E_NOTFOUND;
        RFN_TRY(
            push_between(platform, zone, graph->places[zone->before[node]], graph->places[node]));
    }
    reverse(platform->path + base, platform->n_path - base);
    return 0;
}

int rfn_platform_ways(struct rfn_platform *platform, struct rfn_zone *zone, uint32_t from,
                      uint32_t to)
{
    if (zone->routing == RFN_ROUTING_FULL)
        return push_between(platform, zone, from, to);
    if (zone->routing == RFN_ROUTING_FLOYD)
        return push_floyd(platform, zone, from, to);
    if (zone->routing == RFN_ROUTING_DIJKSTRA)
        return push_dijkstra(platform, zone, from, to);
    return RFN_E_NOTFOUND;
}
