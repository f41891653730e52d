/* ways.h - the ways of messages between hosts, each made once: links, and what they say of a flow.
 *
 * A flow along a way gets a share of its links' bandwidth; a part of it, the cross traffic, goes
 * back along the way from there to here. Its penalty is the latency, and for each link the weight
 * over its bandwidth: where flows compete, their shares are as 1 / penalty.
 */
#ifndef RFN_SIMULATE_WAYS_H
#define RFN_SIMULATE_WAYS_H

#include "base/map.h"
#include "refrain/platform.h"
#include "simulate/mpi_model.h"

struct rfn_hop {
    uint32_t link;
    bool forward; /* messages go through it; else just cross traffic */
    double weight;
};

struct rfn_way {
    double latency; /* seconds */
    double penalty;
    double bound; /* bytes per second: a flow gets no more; 0: there are no links */
    double alone; /* ... gets this if it meets no other one */
    uint32_t from, to;
    size_t hops; /* the first one; shared and other links */
    uint32_t n_hops;
    double bytes; /* the caller's */
};

struct rfn_ways {
    struct rfn_platform *platform;
    const struct rfn_mpi_model *model;
    struct rfn_map numbers; /* by both hosts */
    struct rfn_way *ways;
    size_t n, capacity;
    struct rfn_hop *hops;
    size_t n_hops, hops_capacity;
    struct rfn_route route;
};

void rfn_ways_init(struct rfn_ways *ways, struct rfn_platform *platform,
                   const struct rfn_mpi_model *model);
void rfn_ways_release(struct rfn_ways *ways);
/* The way's number, or rfn_platform_route's error. */
int64_t rfn_way_between(struct rfn_ways *ways, uint32_t from, uint32_t to);

#endif
