/* coll_build.h - the algorithms of collective calls, and what they make their operations with.
 *
 * An algorithm writes what one rank does. It sees the call (sizes in bytes, root) and the group,
 * and appends operations; as in MPI, it does not see what other ranks pass. Names are those of the
 * literature: binomial, recursive doubling and halving, ring, Bruck, Rabenseifner, pairwise
 * exchange (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in
 * MPICH, 2005).
 *
 * Where the part of the data begins that a message carries (`at`) is told so, and tests follow the
 * data by it:
 *
 *   barrier, bcast, reduce,   bytes in the buffer
 *   allreduce, scan, exscan
 *   gather, scatter,          number of the first block, by rank in the communicator; parts may
 *   allgather,                go on behind the last block at the first one
 *   reduce_scatter
 *   alltoall                  from * size + to; -1 - step of Bruck's algorithm, which carries all
 *                             blocks of this step
 */
#ifndef RFN_SIMULATE_COLLECTIVES_COLL_BUILD_H
#define RFN_SIMULATE_COLLECTIVES_COLL_BUILD_H

#include "simulate/collectives/collective_ops.h"

struct coll {
    const struct rfn_action *action;
    uint32_t size, rank, root;
    int64_t bytes;        /* the buffer, or the block of each rank, */
    const int64_t *sizes; /* or, if not NULL, the blocks, by rank */
    int64_t element;      /* bytes that are not split; of bytes and sizes */
    int32_t tag;
    int error; /* the first */
    struct rfn_coll_ops *ops;
};

/* SMPI's tags. */
enum {
    COLL_TAG_REDUCE = -112,
    COLL_TAG_SCATTER = -223,
    COLL_TAG_SCATTERV = -334,
    COLL_TAG_GATHER = -445,
    COLL_TAG_ALLGATHER = -556,
    COLL_TAG_ALLGATHERV = -667,
    COLL_TAG_BARRIER = -778,
    COLL_TAG_SCAN = -888,
    COLL_TAG_REDUCE_SCATTER = -889,
    COLL_TAG_ALLTOALLV = -1000,
    COLL_TAG_ALLTOALL = -1112,
    COLL_TAG_GATHERV = -2223,
    COLL_TAG_BCAST = -3334,
    COLL_TAG_ALLREDUCE = -4445
};

/* ---- operations ---- */

/* Part of a call's data. */
struct coll_part {
    int64_t at, bytes;
};

void coll_send(struct coll *c, uint32_t to, struct coll_part part);
void coll_recv(struct coll *c, uint32_t from, struct coll_part part);
/* The number of the request. */
uint32_t coll_isend(struct coll *c, uint32_t to, struct coll_part part);
uint32_t coll_irecv(struct coll *c, uint32_t from, struct coll_part part);
void coll_wait(struct coll *c, uint32_t first, uint32_t n);
/* All requests since the first. */
void coll_wait_since(struct coll *c, uint32_t first);
/* As MPI_Sendrecv: isend, irecv, wait for both. Nothing, from and to oneself. */
void coll_sendrecv(struct coll *c, uint32_t to, struct coll_part out, uint32_t from,
                   struct coll_part in);
/* Nothing, for no volume. */
void coll_compute(struct coll *c, double volume);

/* ---- arithmetic ---- */

/* The greatest power of two that is not above n; n > 0. */
uint32_t coll_power_below(uint32_t n);
bool coll_is_power(uint32_t n);
/* The rank that is `by` ranks behind (or, negative, before) another one, around the group. */
uint32_t coll_around(const struct coll *c, uint32_t rank, int64_t by);
/* The rank as seen from the root, which is 0. */
uint32_t coll_from_root(const struct coll *c);
/* Blocks of a rank and of the n - 1 behind it, around the group. */
struct coll_part coll_blocks(const struct coll *c, uint32_t first, uint32_t n);
/* The buffer. */
struct coll_part coll_all(const struct coll *c);
/* Bytes from one to another, of the buffer of `bytes`; none, behind its end. */
struct coll_part coll_range(const struct coll *c, int64_t from, int64_t to);

/* ---- linear algorithms: a rank posts everything at once (coll_linear.c) ---- */

/* What the call has for one other rank, and gets from it, where no other ranks are between. */
struct coll_part coll_outgoing(const struct coll *c, uint32_t to);
struct coll_part coll_incoming(const struct coll *c, uint32_t from);

void coll_to_root(struct coll *c);
void coll_from_root_to_all(struct coll *c);
/* With all others in order; sends and receives by turns. */
void coll_exchange(struct coll *c);
/* All receives in order, then all sends. */
void coll_exchange_receives_first(struct coll *c);
/* Receives from the rank behind on, then sends to the one before down. */
void coll_exchange_around(struct coll *c);
/* From all before, to all behind; waits in this order. */
void coll_scan_linear(struct coll *c);
void coll_barrier_linear(struct coll *c);
/* Blocking calls, one rank after the other; reductions from the last one on. */
void coll_gather_in_turn(struct coll *c);
void coll_reduce_in_turn(struct coll *c);
void coll_scatter_in_turn(struct coll *c);
/* The root asks one rank after the other for the first part of its data. */
void coll_gather_synchronized(struct coll *c);

/* ---- algorithms that are made of others ---- */

/* The same group, root and operations for another call, whose buffer or blocks are action->bytes.
 * Its error is to be taken over. */
struct coll coll_with(const struct coll *c, const struct rfn_action *action, int32_t tag);

/* ---- trees, from and to the root (coll_trees.c) ---- */

void coll_bcast_binomial(struct coll *c);
void coll_reduce_binomial(struct coll *c);
void coll_gather_binomial(struct coll *c);
/* The largest subtree first, or the nearest. */
void coll_scatter_binomial(struct coll *c);
void coll_scatter_binomial_near_first(struct coll *c);

/* The buffer is scattered, then gathered by all: around a ring, or by recursive doubling, which
 * needs a power of two of ranks. */
void coll_bcast_scatter_ring(struct coll *c);
void coll_bcast_scatter_doubling(struct coll *c);

/* A rank's neighbours in a tree from the root. */
struct coll_tree {
    uint32_t parent;
    bool is_root;
    uint32_t n, children[48]; /* at most, with base 4 */
};

void coll_chain(const struct coll *c, struct coll_tree *tree);
void coll_binary(const struct coll *c, struct coll_tree *tree);
void coll_binomial_high(const struct coll *c, struct coll_tree *tree);
void coll_binomial_low(const struct coll *c, struct coll_tree *tree);
void coll_quaternomial(const struct coll *c, struct coll_tree *tree);
void coll_bcast_tree(struct coll *c, const struct coll_tree *tree);
void coll_reduce_tree(struct coll *c, const struct coll_tree *tree);

/* ---- exchanges among all (coll_exchanges.c) ---- */

/* In size - 1 steps with one other rank at a time: pairs of a power of two of ranks, else one
 * before and one behind. */
void coll_pairwise(struct coll *c);
/* With n others at a time. */
void coll_scattered(struct coll *c, uint32_t n);
void coll_alltoall_bruck(struct coll *c);
void coll_allgather_bruck(struct coll *c);
void coll_allgather_ring(struct coll *c);
/* Needs a power of two of ranks. */
void coll_allgather_doubling(struct coll *c);
/* Needs an even number of ranks. */
void coll_allgather_neighbors(struct coll *c);

void coll_barrier_dissemination(struct coll *c);
void coll_barrier_doubling(struct coll *c);
void coll_barrier_tree(struct coll *c);
void coll_scan_doubling(struct coll *c);
void coll_scan_chain(struct coll *c);

/* ---- reductions that split the buffer (coll_reductions.c) ---- */

/* To rank 0, and from there. */
void coll_reduce_scatter_linear(struct coll *c);
/* By recursive halving. */
void coll_reduce_scatter_halving(struct coll *c);
void coll_reduce_scatter_ring(struct coll *c);

/* Rabenseifner's: halved to pieces, which are gathered by all, or at the root. */
void coll_allreduce_halving(struct coll *c);
void coll_reduce_halving(struct coll *c);
void coll_allreduce_doubling(struct coll *c);
void coll_allreduce_ring(struct coll *c);

/* ---- choices of libraries (coll_mpich.c, coll_ompi.c) ---- */

/* An algorithm is used for groups and bytes below these. */
struct coll_rule {
    uint32_t size;
    int64_t bytes;
    void (*algorithm)(struct coll *c);
};

/* Uses the first rule that fits. The last one fits all. */
void coll_by_rules(struct coll *c, const struct coll_rule *rules, int64_t bytes);

void coll_choose_mpich(struct coll *c);
void coll_choose_ompi(struct coll *c);
void coll_ompi_alltoall(struct coll *c);

#endif
