/* event_graph.h - a predicted run as a graph, and what each of its events would save if it took no
 * time.
 *
 * A node is a point in time of a stream, the begin or the end of a call, or what several others
 * have in common (a collective call). Edges lead to it from what it waited for: it is at the latest
 * of their tails, each with its weight later. Nodes come in happened-before order: edges
 * lead from lower to higher numbers.
 *
 * Without one event all paths that led through its end lead there from where it began, at once. How
 * long the longest of the others is tells the cut behind it: every path crosses it once.
 */
#ifndef RFN_PREDICT_EVENT_GRAPH_H
#define RFN_PREDICT_EVENT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RFN_NO_NODE UINT32_MAX

struct rfn_graph_event {
    uint32_t stream, activity;
    uint64_t index; /* of the call, or of the one that the stream computed before */
    bool call;      /* else computing */
};

struct rfn_graph {
    int64_t *ns;     /* by node: when */
    size_t *edges;   /* by node: its first edge; the next node's is the end */
    size_t *events;  /* by node: the event that it ends, + 1; 0: none */
    uint32_t *tails; /* by edge */
    int64_t *weights;
    struct rfn_graph_event *of; /* by event */
    size_t n, n_edges, n_events;
    size_t capacity, events_capacity, ends_capacity, tails_capacity, weights_capacity, of_capacity;
};

/* What the run would gain. */
struct rfn_graph_gain {
    size_t event;
    int64_t gain_ns; /* of the run time */
    int64_t from_ns, to_ns;
};

void rfn_graph_release(struct rfn_graph *graph);
/* A new node, which all edges are of that come until the next one. Its number; RFN_E_NOMEM. */
int64_t rfn_graph_node(struct rfn_graph *graph, int64_t ns);
int rfn_graph_edge(struct rfn_graph *graph, uint32_t tail, int64_t weight);
/* The last node ends this event, which began at the tail of its first edge. RFN_E_NOMEM. */
int rfn_graph_ends(struct rfn_graph *graph, const struct rfn_graph_event *event);

/* The events that save most, at most `most`, most first; *gains is to be freed. last: the nodes
 * with which streams end. Returns how many; RFN_E_NOMEM. */
int64_t rfn_graph_gains(const struct rfn_graph *graph, const uint32_t *last, size_t n_last,
                        size_t most, struct rfn_graph_gain **gains);

#endif
