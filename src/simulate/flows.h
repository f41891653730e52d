/* flows.h - flows that share links by weighted max-min fairness.
 *
 * The rates are the ones where no flow can get more without taking from one whose rate times
 * penalty is as small. They are found by filling links evenly until one is full (Bertsekas and
 * Gallager, Data Networks, 6.5.2). When flows come and go, only rates change of flows that can be
 * reached from theirs over links in common; a flow that meets no other one costs no filling at all.
 */
#ifndef RFN_SIMULATE_FLOWS_H
#define RFN_SIMULATE_FLOWS_H

#include "simulate/event_heap.h"
#include "simulate/ways.h"

/* A flow on a link. */
struct rfn_flow_use {
    uint32_t link; /* of the flow's uses; in a link's, the flow */
    uint32_t at;   /* the other one's place */
    double weight;
};

struct rfn_flow {
    double left;  /* bytes, at `since` */
    double rate;  /* bytes per second */
    double since; /* seconds */
    double share; /* of the links; the rate is `factor` times as much */
    double penalty, bound, factor;
    struct rfn_flow_use *uses;
    size_t n, capacity;
    uint32_t held;     /* the full link that it gets no more of; none: it is at its bound */
    bool open, filled; /* its rate is to be found, and has been */
};

struct rfn_flow_link {
    double bandwidth;
    struct rfn_flow_use *uses;
    size_t n, capacity;
    bool shared; /* else it is just a bound */
    double left, usage,
        first_usage; /* while links are filled: bandwidth, sum of weight / penalty */
    size_t open;     /* flows without a rate yet */
    uint64_t stamp;
    bool full;
};

struct rfn_flows {
    const struct rfn_ways *ways;
    struct rfn_event_heap *heap;
    struct rfn_flow *flows; /* by number, which the caller chooses */
    size_t n;
    struct rfn_flow_link *links;
    size_t n_links;
    uint32_t *opened,
        *part_links; /* open flows, and their links; n_filling have some without rate */
    size_t n_opened, n_part_links, n_filling, opened_capacity, part_links_capacity;
    uint64_t stamp;
    uint64_t fillings; /* so far */
};

/* When a flow ends is set in the heap, by its number. Cores of hosts are links, too, behind those
 * of the platform. */
int rfn_flows_init(struct rfn_flows *flows, const struct rfn_ways *ways,
                   struct rfn_event_heap *heap);
void rfn_flows_release(struct rfn_flows *flows);

/* A flow of so many bytes sets off along the way; the number is of none that is under way. */
int rfn_flow_start(struct rfn_flows *flows, uint32_t number, const struct rfn_way *way,
                   double bytes, double factor, double now);
/* The same of computing on a host: it takes one core at most, and shares cores with others. */
int rfn_flow_compute(struct rfn_flows *flows, uint32_t number, size_t host, double flops,
                     double now);
/* It is over. */
int rfn_flow_end(struct rfn_flows *flows, uint32_t number);
/* Finds the rates of all flows that changed, and when these end. */
int rfn_flows_share(struct rfn_flows *flows, double now);

#endif
