#include "simulate/flows.h"

#include "base/grow.h"

#include <stdlib.h>

/* Levels that differ by less are the same. */
static const double same = 1 + 1e-9;

int rfn_flows_init(struct rfn_flows *flows, const struct rfn_ways *ways,
                   struct rfn_event_heap *heap)
{
    const size_t links = rfn_platform_links(ways->platform);
    const size_t hosts = rfn_platform_hosts(ways->platform);
    *flows = (struct rfn_flows){.ways = ways, .heap = heap, .n_links = links + hosts};
    flows->links = calloc(flows->n_links + 1, sizeof *flows->links);
    if (!flows->links)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < links; i++) {
        const struct rfn_link *link = rfn_platform_link(ways->platform, i);
        flows->links[i].bandwidth = link->bandwidth;
        flows->links[i].shared = link->sharing == RFN_LINK_SHARED;
    }
    for (size_t i = 0; i < hosts; i++) {
        const struct rfn_host *host = rfn_platform_host(ways->platform, i);
        flows->links[links + i].bandwidth = host->speed * host->cores;
        flows->links[links + i].shared = true;
    }
    return 0;
}

void rfn_flows_release(struct rfn_flows *flows)
{
    for (size_t i = 0; i < flows->n; i++)
        free(flows->flows[i].uses);
    for (size_t i = 0; flows->links && i < flows->n_links; i++)
        free(flows->links[i].uses);
    free(flows->flows);
    free(flows->links);
    free(flows->changed);
    free(flows->part_links);
    free(flows->part_flows);
}

/* ---- who uses which link ---- */

static int set_changed(struct rfn_flows *flows, uint32_t number)
{
    struct rfn_flow_link *link = &flows->links[number];
    if (link->changed)
        return 0;
    RFN_TRY(RFN_GROW(flows->changed, flows->changed_capacity, flows->n_changed + 1));
    flows->changed[flows->n_changed++] = number;
    link->changed = true;
    return 0;
}

static int use(struct rfn_flows *flows, uint32_t number, const struct rfn_hop *hop)
{
    struct rfn_flow *flow = &flows->flows[number];
    struct rfn_flow_link *link = &flows->links[hop->link];
    RFN_TRY(RFN_GROW(flow->uses, flow->capacity, flow->n + 1));
    RFN_TRY(RFN_GROW(link->uses, link->capacity, link->n + 1));
    flow->uses[flow->n] = (struct rfn_flow_use){hop->link, (uint32_t)link->n, hop->weight};
    link->uses[link->n++] = (struct rfn_flow_use){number, (uint32_t)flow->n++, hop->weight};
    return 0;
}

/* Nobody takes a share of its links. */
static int run_alone(struct rfn_flows *flows, uint32_t number)
{
    struct rfn_flow *flow = &flows->flows[number];
    flow->rate = flow->bound * flow->factor;
    const double seconds = flow->rate > 0 ? flow->left / flow->rate : 0;
    return rfn_event_set(flows->heap, number, flow->since + seconds);
}

static int init_flow(struct rfn_flows *flows, uint32_t number, const struct rfn_flow *as)
{
    RFN_TRY(RFN_GROW_ZEROED(flows->flows, flows->n, (size_t)number + 1));
    const struct rfn_flow before = flows->flows[number];
    flows->flows[number] = *as;
    flows->flows[number].uses = before.uses;
    flows->flows[number].capacity = before.capacity;
    return 0;
}

static int set_all_changed(struct rfn_flows *flows, uint32_t number)
{
    const struct rfn_flow *flow = &flows->flows[number];
    for (size_t i = 0; i < flow->n; i++)
        RFN_TRY(set_changed(flows, flow->uses[i].link));
    return 0;
}

int rfn_flow_start(struct rfn_flows *flows, uint32_t number, const struct rfn_way *way,
                   double bytes, double factor, double now)
{
    const struct rfn_flow as = {.left = bytes,
                                .since = now,
                                .penalty = way->penalty,
                                .bound = way->bound,
                                .factor = factor};
    const struct rfn_hop *hops = flows->ways->hops + way->hops;
    RFN_TRY(init_flow(flows, number, &as));
    struct rfn_flow *flow = &flows->flows[number];
    for (uint32_t i = 0; i < way->n_hops; i++) {
        const double most = flows->links[hops[i].link].bandwidth / hops[i].weight;
        if (flows->links[hops[i].link].shared)
            RFN_TRY(use(flows, number, &hops[i]));
        else if (most < flow->bound)
            flow->bound = most;
    }
    return flow->n ? set_all_changed(flows, number) : run_alone(flows, number);
}

int rfn_flow_compute(struct rfn_flows *flows, uint32_t number, size_t host, double flops,
                     double now)
{
    const struct rfn_flow as = {.left = flops,
                                .since = now,
                                .penalty = 1,
                                .bound = rfn_platform_host(flows->ways->platform, host)->speed,
                                .factor = 1};
    const struct rfn_hop core = {(uint32_t)(rfn_platform_links(flows->ways->platform) + host), true,
                                 1};
    RFN_TRY(init_flow(flows, number, &as));
    RFN_TRY(use(flows, number, &core));
    return set_all_changed(flows, number);
}

int rfn_flow_end(struct rfn_flows *flows, uint32_t number)
{
    struct rfn_flow *flow = &flows->flows[number];
    for (size_t i = 0; i < flow->n; i++) {
        const struct rfn_flow_use gone = flow->uses[i];
        struct rfn_flow_link *link = &flows->links[gone.link];
        const struct rfn_flow_use last = link->uses[--link->n];
        link->uses[gone.at] = last;
        flows->flows[last.link].uses[last.at].at = gone.at;
        if (link->n)
            RFN_TRY(set_changed(flows, gone.link));
    }
    flow->n = 0;
    return 0;
}

/* ---- the part of the network that changed ---- */

static int reach_link(struct rfn_flows *flows, uint32_t number)
{
    struct rfn_flow_link *link = &flows->links[number];
    if (link->stamp == flows->stamp)
        return 0;
    RFN_TRY(RFN_GROW(flows->part_links, flows->part_links_capacity, flows->n_part_links + 1));
    link->stamp = flows->stamp;
    link->left = link->bandwidth;
    link->usage = 0;
    link->open = 0;
    flows->part_links[flows->n_part_links++] = number;
    return 0;
}

static int reach_flow(struct rfn_flows *flows, uint32_t number)
{
    struct rfn_flow *flow = &flows->flows[number];
    if (flow->stamp == flows->stamp)
        return 0;
    RFN_TRY(RFN_GROW(flows->part_flows, flows->part_flows_capacity, flows->n_part_flows + 1));
    flow->stamp = flows->stamp;
    flow->filled = false;
    flows->part_flows[flows->n_part_flows++] = number;
    for (size_t i = 0; i < flow->n; i++) {
        RFN_TRY(reach_link(flows, flow->uses[i].link));
        flows->links[flow->uses[i].link].usage += flow->uses[i].weight / flow->penalty;
        flows->links[flow->uses[i].link].open++;
    }
    return 0;
}

/* The changed links, and all that flows join with them. */
static int reach(struct rfn_flows *flows)
{
    flows->stamp++;
    flows->n_part_links = flows->n_part_flows = 0;
    for (size_t i = 0; i < flows->n_changed; i++) {
        flows->links[flows->changed[i]].changed = false;
        RFN_TRY(reach_link(flows, flows->changed[i]));
    }
    flows->n_changed = 0;
    for (size_t i = 0; i < flows->n_part_links; i++) {
        const struct rfn_flow_link *link = &flows->links[flows->part_links[i]];
        for (size_t k = 0; k < link->n; k++)
            RFN_TRY(reach_flow(flows, link->uses[k].link));
    }
    for (size_t i = 0; i < flows->n_part_links; i++) {
        struct rfn_flow_link *link = &flows->links[flows->part_links[i]];
        link->first_usage = link->usage;
    }
    return 0;
}

/* ---- filling ---- */

/* Many small differences leave an error: the sum is made anew where little is left of it. */
static void sum_usage(const struct rfn_flows *flows, struct rfn_flow_link *link)
{
    link->usage = 0;
    for (size_t i = 0; i < link->n; i++) {
        const struct rfn_flow *flow = &flows->flows[link->uses[i].link];
        if (!flow->filled)
            link->usage += link->uses[i].weight / flow->penalty;
    }
    link->first_usage = link->usage;
}

static void fill(struct rfn_flows *flows, struct rfn_flow *flow, double share)
{
    flow->filled = true;
    flow->share = share;
    for (size_t i = 0; i < flow->n; i++) {
        struct rfn_flow_link *link = &flows->links[flow->uses[i].link];
        link->left -= flow->uses[i].weight * share;
        link->usage -= flow->uses[i].weight / flow->penalty;
        link->open--;
        if (link->open && link->usage < 1e-6 * link->first_usage)
            sum_usage(flows, link);
    }
}

static double level(const struct rfn_flow_link *link)
{
    const double least = link->bandwidth * 1e-12;
    return (link->left > least ? link->left : least) / link->usage;
}

/* The lowest level; links whose flows all have a rate leave the list. 0: none is left. */
static double lowest_level(struct rfn_flows *flows)
{
    double lowest = 0;
    for (size_t i = 0; i < flows->n_part_links;) {
        struct rfn_flow_link *link = &flows->links[flows->part_links[i]];
        if (!link->open) {
            flows->part_links[i] = flows->part_links[--flows->n_part_links];
            continue;
        }
        if (!lowest || level(link) < lowest)
            lowest = level(link);
        i++;
    }
    return lowest;
}

/* Links at this level are full. Returns it, or the lower one where the first of their flows are
 * bound to. */
static double find_full(struct rfn_flows *flows, double lowest)
{
    double bound = lowest;
    for (size_t i = 0; i < flows->n_part_links; i++) {
        struct rfn_flow_link *link = &flows->links[flows->part_links[i]];
        link->full = level(link) <= lowest * same;
        for (size_t k = 0; link->full && k < link->n; k++) {
            const struct rfn_flow *flow = &flows->flows[link->uses[k].link];
            if (!flow->filled && flow->bound * flow->penalty < bound)
                bound = flow->bound * flow->penalty;
        }
    }
    return bound;
}

/* Flows on full links get their rate; if some are bound below, these alone. */
static void fill_level(struct rfn_flows *flows, double lowest, double bound)
{
    for (size_t i = 0; i < flows->n_part_links; i++) {
        const struct rfn_flow_link *link = &flows->links[flows->part_links[i]];
        for (size_t k = 0; link->full && k < link->n; k++) {
            struct rfn_flow *flow = &flows->flows[link->uses[k].link];
            if (flow->filled)
                continue;
            if (flow->bound * flow->penalty <= bound * same)
                fill(flows, flow, flow->bound);
            else if (bound == lowest)
                fill(flows, flow, lowest / flow->penalty);
        }
    }
}

/* ---- rates ---- */

static int set_rate(struct rfn_flows *flows, uint32_t number, double now)
{
    struct rfn_flow *flow = &flows->flows[number];
    const double rate = flow->share * flow->factor;
    if (rate == flow->rate)
        return 0;
    flow->left -= flow->rate * (now - flow->since);
    if (flow->left < 0)
        flow->left = 0;
    flow->since = now;
    flow->rate = rate;
    return rfn_event_set(flows->heap, number, now + flow->left / rate);
}

/* One flow on all of its links. */
static void share_alone(struct rfn_flows *flows)
{
    struct rfn_flow *flow = &flows->flows[flows->part_flows[0]];
    flow->share = flow->bound;
    for (size_t i = 0; i < flow->n; i++) {
        const double most = flows->links[flow->uses[i].link].bandwidth / flow->uses[i].weight;
        flow->share = most < flow->share ? most : flow->share;
    }
}

int rfn_flows_share(struct rfn_flows *flows, double now)
{
    if (!flows->n_changed)
        return 0;
    RFN_TRY(reach(flows));
    if (flows->n_part_flows == 1) {
        share_alone(flows);
    } else {
        flows->fillings++;
        for (double lowest; (lowest = lowest_level(flows)) > 0;)
            fill_level(flows, lowest, find_full(flows, lowest));
    }
    for (size_t i = 0; i < flows->n_part_flows; i++)
        RFN_TRY(set_rate(flows, flows->part_flows[i], now));
    return 0;
}
