#include "simulate/flows.h"

#include "base/grow.h"

#include <math.h>
#include <stdlib.h>

/* Levels that differ by less are the same. */
static const double same = 1 + 1e-9;

/* What one flow does to others fades from link to link. When more than a FEW flows are concerned, a
 * difference below this part of a level stays. */
enum { FEW = 16 };
static const double small = 1e-3;

#define NOT_HELD UINT32_MAX

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
    free(flows->opened);
    free(flows->part_links);
}

/* ---- who uses which link ---- */

/* The flow's rate is to be found, together with those that are. */
static int open_flow(struct rfn_flows *flows, uint32_t number)
{
    struct rfn_flow *flow = &flows->flows[number];
    if (flow->open)
        return 0;
    RFN_TRY(RFN_GROW(flows->opened, flows->opened_capacity, flows->n_opened + 1));
    flows->opened[flows->n_opened++] = number;
    flow->open = true;
    return 0;
}

/* Flows that the link holds may get more. */
static int free_link(struct rfn_flows *flows, uint32_t number)
{
    const struct rfn_flow_link *link = &flows->links[number];
    for (size_t i = 0; i < link->n; i++) {
        if (flows->flows[link->uses[i].link].held == number)
            RFN_TRY(open_flow(flows, link->uses[i].link));
    }
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

int rfn_flow_start(struct rfn_flows *flows, uint32_t number, const struct rfn_way *way,
                   double bytes, double factor, double now)
{
    const struct rfn_flow as = {.left = bytes,
                                .since = now,
                                .held = NOT_HELD,
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
    return flow->n ? open_flow(flows, number) : run_alone(flows, number);
}

int rfn_flow_compute(struct rfn_flows *flows, uint32_t number, size_t host, double flops,
                     double now)
{
    const struct rfn_flow as = {.left = flops,
                                .since = now,
                                .held = NOT_HELD,
                                .penalty = 1,
                                .bound = rfn_platform_host(flows->ways->platform, host)->speed,
                                .factor = 1};
    const struct rfn_hop core = {(uint32_t)(rfn_platform_links(flows->ways->platform) + host), true,
                                 1};
    RFN_TRY(init_flow(flows, number, &as));
    RFN_TRY(use(flows, number, &core));
    return open_flow(flows, number);
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
        RFN_TRY(free_link(flows, gone.link));
    }
    flow->n = 0;
    return 0;
}

/* ---- the links of the open flows ---- */

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
    for (size_t i = 0; i < link->n; i++) {
        const struct rfn_flow *flow = &flows->flows[link->uses[i].link];
        if (flow->open)
            link->usage += link->uses[i].weight / flow->penalty;
        else
            link->left -= link->uses[i].weight * flow->share;
        link->open += flow->open;
    }
    link->first_usage = link->usage;
    flows->part_links[flows->n_part_links++] = number;
    return 0;
}

/* What other flows leave of the links. */
static int reach(struct rfn_flows *flows)
{
    flows->stamp++;
    flows->n_part_links = 0;
    for (size_t i = 0; i < flows->n_opened; i++) {
        struct rfn_flow *flow = &flows->flows[flows->opened[i]];
        flow->filled = false;
        for (size_t k = 0; k < flow->n; k++)
            RFN_TRY(reach_link(flows, flow->uses[k].link));
    }
    flows->n_filling = flows->n_part_links;
    return 0;
}

/* ---- filling ---- */

/* Many small differences leave an error: the sum is made anew where little is left of it. */
static void sum_usage(const struct rfn_flows *flows, struct rfn_flow_link *link)
{
    link->usage = 0;
    for (size_t i = 0; i < link->n; i++) {
        const struct rfn_flow *flow = &flows->flows[link->uses[i].link];
        if (flow->open && !flow->filled)
            link->usage += link->uses[i].weight / flow->penalty;
    }
    link->first_usage = link->usage;
}

static void fill(struct rfn_flows *flows, struct rfn_flow *flow, double share, uint32_t held)
{
    flow->filled = true;
    flow->share = share;
    flow->held = held;
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

/* The lowest level; links whose flows all have a rate go behind the others. 0: there are no others.
 */
static double lowest_level(struct rfn_flows *flows)
{
    double lowest = 0;
    for (size_t i = 0; i < flows->n_filling;) {
        const uint32_t number = flows->part_links[i];
        const struct rfn_flow_link *link = &flows->links[number];
        if (!link->open) {
            flows->part_links[i] = flows->part_links[--flows->n_filling];
            flows->part_links[flows->n_filling] = number;
            continue;
        }
        if (!(lowest > 0) || level(link) < lowest)
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
    for (size_t i = 0; i < flows->n_filling; i++) {
        struct rfn_flow_link *link = &flows->links[flows->part_links[i]];
        link->full = level(link) <= lowest * same;
        for (size_t k = 0; link->full && k < link->n; k++) {
            const struct rfn_flow *flow = &flows->flows[link->uses[k].link];
            if (flow->open && !flow->filled && flow->bound * flow->penalty < bound)
                bound = flow->bound * flow->penalty;
        }
    }
    return bound;
}

/* Flows on full links get their rate; if some are bound below, these alone. */
static void fill_level(struct rfn_flows *flows, double lowest, double bound)
{
    for (size_t i = 0; i < flows->n_filling; i++) {
        const uint32_t number = flows->part_links[i];
        const struct rfn_flow_link *link = &flows->links[number];
        for (size_t k = 0; link->full && k < link->n; k++) {
            struct rfn_flow *flow = &flows->flows[link->uses[k].link];
            if (!flow->open || flow->filled)
                continue;
            if (flow->bound * flow->penalty <= bound * same)
                fill(flows, flow, flow->bound, NOT_HELD);
            else if (bound == lowest)
                fill(flows, flow, lowest / flow->penalty, number);
        }
    }
}

/* ---- whether it fits to the other flows ---- */

static double level_of(const struct rfn_flow *flow)
{
    return flow->share * flow->penalty;
}

/* Opens the link's other flows that get too much, beside an open one that it holds, or too little:
 * it holds them though it is not full, or though there is one with a higher level. */
static int open_unfair(struct rfn_flows *flows, uint32_t number, double tolerance)
{
    const struct rfn_flow_link *link = &flows->links[number];
    double used = 0, highest = 0, held = HUGE_VAL;
    for (size_t i = 0; i < link->n; i++) {
        const struct rfn_flow *flow = &flows->flows[link->uses[i].link];
        used += link->uses[i].weight * flow->share;
        highest = level_of(flow) > highest ? level_of(flow) : highest;
        if (flow->open && flow->held == number && level_of(flow) < held)
            held = level_of(flow);
    }
    const bool full = used >= link->bandwidth * (1 - tolerance);
    for (size_t i = 0; i < link->n; i++) {
        const struct rfn_flow *flow = &flows->flows[link->uses[i].link];
        const bool more = level_of(flow) > held * (1 + tolerance);
        const bool less = flow->held == number &&
                          (!full || highest > level_of(flow) * (1 + tolerance));
        if (!flow->open && (more || less))
            RFN_TRY(open_flow(flows, link->uses[i].link));
    }
    return 0;
}

/* 1: flows had to be opened. */
static int check_others(struct rfn_flows *flows)
{
    const size_t n = flows->n_opened;
    const double tolerance = n > FEW ? small : same - 1;
    for (size_t i = 0; i < flows->n_part_links; i++)
        RFN_TRY(open_unfair(flows, flows->part_links[i], tolerance));
    return flows->n_opened > n;
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

int rfn_flows_share(struct rfn_flows *flows, double now)
{
    int more = flows->n_opened > 0;
    while (more > 0) {
        flows->fillings++;
        RFN_TRY(reach(flows));
        for (double lowest; (lowest = lowest_level(flows)) > 0;)
            fill_level(flows, lowest, find_full(flows, lowest));
        more = check_others(flows);
    }
    for (size_t i = 0; i < flows->n_opened; i++) {
        flows->flows[flows->opened[i]].open = false;
        RFN_TRY(set_rate(flows, flows->opened[i], now));
    }
    flows->n_opened = 0;
    return more;
}
