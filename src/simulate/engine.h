/* engine.h - what the parts of the engine share: the state of ranks, and time.
 *
 * A rank goes through its actions on a clock of its own. With contention (`ordered`) it acts on the
 * network at the time `now` only, which follows the events in the heap: ids below n_ranks are ranks
 * that go on, the others messages, n_ranks + number, whose latency or whose flow is over. Flows
 * have the same numbers.
 *
 * Without contention the end of a message is known as soon as both of its ends are there. So a rank
 * runs as far as it can, ahead of the others. What depends on the order of time (receives from any
 * rank, probes, tests) waits in the heap until no rank can run: then the earliest is next, and
 * nothing can happen before it any more. A message that comes to a rank with such a receive waits
 * there, too, as it may come too late for it.
 */
#ifndef RFN_SIMULATE_ENGINE_H
#define RFN_SIMULATE_ENGINE_H

#include "refrain/simulate.h"
#include "simulate/collectives/collective_ops.h"
#include "simulate/event_heap.h"
#include "simulate/flows.h"
#include "simulate/message_queues.h"
#include "simulate/ways.h"

/* A message, seen from one of its ends: number * 2 + 1 for the receiver. */
typedef uint64_t rfn_end;

/* A collective call that does not block: what waits for its request waits for these. */
struct rfn_pending_call {
    rfn_end *ends;
    size_t n, capacity;
    double compute; /* volume, behind them */
};

/* How far the rank is in an operation. */
enum rfn_stage { RFN_FRESH, RFN_PAID, RFN_WAITING };

struct rfn_engine_rank {
    double clock;
    struct rfn_action action;     /* at hand, if any, since `enter` */
    double enter, compute_before; /* seconds that it had computed then */
    bool acts, ready, done;
    enum rfn_stage stage; /* of the operation at hand: */
    size_t part;          /* of the action */

    rfn_end *waits; /* what it is to wait for; and while it is `in_wait` */
    size_t n_waits, waits_capacity;
    size_t unknown; /* so many of them have no end yet */
    double waits_from;
    bool in_wait, in_probe;
    struct rfn_channel looks_for;

    struct rfn_map requests; /* by number: an end, or CALL + a pending call */
    uint64_t nameless;       /* requests without a number so far */
    double behind;           /* volume that it computes when the wait at hand is over */
    struct rfn_coll_ops ops; /* of a collective call, */
    rfn_end *ends;           /* and its requests by number */
    size_t n_ends, ends_capacity;
    uint32_t host;
    bool crowded;  /* the host has more ranks than cores, and with contention they share them */
    bool computes; /* there; since */
    double computes_from;
    double speed; /* flop per second */
};

struct rfn_engine {
    struct rfn_actions *actions;
    struct rfn_platform *platform;
    const struct rfn_simulate_options *options;
    struct rfn_mpi_model model;
    enum rfn_coll_choice collectives;
    struct rfn_ways ways;
    struct rfn_flows flows;
    struct rfn_event_heap heap;
    struct rfn_message_queues messages;
    struct rfn_engine_rank *ranks;
    uint32_t n_ranks;
    struct rfn_pending_call *calls;
    size_t n_calls, calls_capacity;
    uint32_t *free_calls;
    size_t n_free_calls, free_calls_capacity;
    double *sorted; /* ends and costs of what is waited for */
    size_t sorted_capacity;
    bool ordered;
    double now;
    uint32_t *ready; /* a ring of n_ranks */
    uint32_t first_ready, n_ready;
    uint32_t failed_tests, failed_probes; /* in a row, of all ranks, as in SMPI */
    uint32_t probing;
    double flops_per_unit; /* 0: volumes are times */
    struct rfn_simulated *simulated;
    struct rfn_diag *diag;
};

/* ---- what one operation does (transfers.c) ----
 *
 * Each is called until it returns 1; 0: the rank cannot go on yet, and will be ready later; or an
 * error. */

struct rfn_transfer {
    int64_t peer; /* rank, or RFN_ANY_SOURCE */
    int64_t tag;
    uint32_t comm;
    int64_t bytes;
    bool blocks, synchronous;
};

/* *end: what is posted; RFN_NO_END: nothing is left to be waited for. */
#define RFN_NO_END UINT64_MAX
int rfn_transfer_send(struct rfn_engine *engine, uint32_t rank, const struct rfn_transfer *transfer,
                      rfn_end *end);
int rfn_transfer_receive(struct rfn_engine *engine, uint32_t rank,
                         const struct rfn_transfer *transfer, rfn_end *end);
/* Until the ends are over that rfn_wait_add was given. */
int rfn_wait_add(struct rfn_engine_rank *rank, rfn_end end);
int rfn_wait(struct rfn_engine *engine, uint32_t rank);
int rfn_transfer_probe(struct rfn_engine *engine, uint32_t rank,
                       const struct rfn_transfer *transfer, int64_t *bytes);
/* *over: it is, and so is its request. */
int rfn_transfer_test(struct rfn_engine *engine, uint32_t rank, rfn_end end, bool *over);

/* Whether the rank may act on what others act on, too. `matters`: without contention, too, the
 * order does. */
int rfn_in_time(struct rfn_engine *engine, uint32_t rank, bool matters);

/* A message's event in the heap. */
int rfn_message_event(struct rfn_engine *engine, uint32_t number);

/* ---- what actions do (rank_actions.c) ---- */

/* The rank goes on until it has to wait, or has done some hundred actions. */
int rfn_rank_run(struct rfn_engine *engine, uint32_t rank);
/* "send to 3 (tag 1, line 7)" */
void rfn_rank_describe(const struct rfn_engine *engine, uint32_t rank, char *text, size_t size);

/* It has computed what it had to. */
int rfn_rank_computed(struct rfn_engine *engine, uint32_t rank);

void rfn_rank_ready(struct rfn_engine *engine, uint32_t rank);

#endif
