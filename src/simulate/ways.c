#include "simulate/ways.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_ways_init(struct rfn_ways *ways, struct rfn_platform *platform,
                   const struct rfn_mpi_model *model)
{
    *ways = (struct rfn_ways){.platform = platform, .model = model};
}

void rfn_ways_release(struct rfn_ways *ways)
{
    rfn_map_release(&ways->numbers);
    free(ways->ways);
    free(ways->hops);
    free(ways->route.links);
}

/* A link that the way has already takes both weights, unless each flow has all of it. */
static int add_hop(struct rfn_ways *ways, size_t first, uint32_t link, double weight)
{
    for (size_t i = first; i < ways->n_hops; i++) {
        struct rfn_hop *hop = &ways->hops[i];
        if (hop->link != link)
            continue;
        if (rfn_platform_link(ways->platform, link)->sharing == RFN_LINK_SHARED)
            hop->weight += weight;
        return 0;
    }
    RFN_TRY(RFN_GROW(ways->hops, ways->hops_capacity, ways->n_hops + 1));
    ways->hops[ways->n_hops++] = (struct rfn_hop){link, weight == 1, weight};
    return 0;
}

static int add_hops(struct rfn_ways *ways, size_t first, uint32_t from, uint32_t to, double weight)
{
    RFN_TRY(rfn_platform_route(ways->platform, from, to, &ways->route));
    for (size_t i = 0; i < ways->route.n; i++)
        RFN_TRY(add_hop(ways, first, ways->route.links[i], weight));
    return 0;
}

static void least(double *value, double other)
{
    if (!(*value > 0) || other < *value)
        *value = other;
}

/* The window of TCP bounds a flow, as the narrowest of its links does. */
static void measure(const struct rfn_ways *ways, struct rfn_way *way)
{
    way->penalty = way->latency;
    for (size_t i = way->hops; i < way->hops + way->n_hops; i++) {
        const struct rfn_hop *hop = &ways->hops[i];
        const double bandwidth = rfn_platform_link(ways->platform, hop->link)->bandwidth;
        if (hop->forward) {
            way->penalty += ways->model->weight / bandwidth;
            least(&way->bound, bandwidth);
        }
        least(&way->alone, bandwidth / hop->weight);
    }
    if (way->bound > 0 && way->latency > 0 && ways->model->gamma > 0)
        least(&way->bound, ways->model->gamma / (2 * way->latency));
    if (way->bound > 0)
        least(&way->alone, way->bound);
    if (!(way->penalty > 0))
        way->penalty = 1;
}

static int make(struct rfn_ways *ways, struct rfn_way *way)
{
    RFN_TRY(add_hops(ways, way->hops, way->from, way->to, 1));
    way->latency = ways->route.latency;
    if (ways->model->cross_traffic > 0)
        RFN_TRY(add_hops(ways, way->hops, way->to, way->from, ways->model->cross_traffic));
    way->n_hops = (uint32_t)(ways->n_hops - way->hops);
    measure(ways, way);
    return 0;
}

int64_t rfn_way_between(struct rfn_ways *ways, uint32_t from, uint32_t to)
{
    const uint64_t key = (uint64_t)from << 32 | to;
    const uint64_t *number = rfn_map_get(&ways->numbers, key);
    if (number)
        return (int64_t)*number;
    struct rfn_way way = {.from = from, .to = to, .hops = ways->n_hops};
    RFN_TRY(make(ways, &way));
    RFN_TRY(RFN_GROW(ways->ways, ways->capacity, ways->n + 1));
    RFN_TRY(rfn_map_put(&ways->numbers, key, ways->n));
    ways->ways[ways->n] = way;
    return (int64_t)ways->n++;
}
