/* coll_ompi.c - Open MPI's choices: the fixed decisions of its module "tuned" since version 4.1.
 * Its algorithms get whole buffers; where one of them is not here, the nearest one is used:
 *
 *   alltoall linear_sync, two_proc     linear
 *   bcast split_binary_tree            binary
 *   reduce in-order_binary             binary
 *   allreduce segmented_ring           ring, as in Open MPI without a segment size
 *   reduce_scatter butterfly           recursive halving
 */
#include "simulate/collectives/coll_build.h"

/* ---- trees, and algorithms that Open MPI does not use for all groups or sizes ---- */

static void bcast_chain(struct coll *c)
{
    struct coll_tree tree;
    coll_chain(c, &tree);
    coll_bcast_tree(c, &tree);
}

static void bcast_binary(struct coll *c)
{
    struct coll_tree tree;
    coll_binary(c, &tree);
    coll_bcast_tree(c, &tree);
}

static void bcast_binomial(struct coll *c)
{
    struct coll_tree tree;
    coll_binomial_high(c, &tree);
    coll_bcast_tree(c, &tree);
}

static void bcast_quaternomial(struct coll *c)
{
    struct coll_tree tree;
    coll_quaternomial(c, &tree);
    coll_bcast_tree(c, &tree);
}

static void bcast_scatter(struct coll *c)
{
    if (coll_is_power(c->size))
        coll_bcast_scatter_doubling(c);
    else
        coll_bcast_scatter_ring(c);
}

static void reduce_chain(struct coll *c)
{
    struct coll_tree tree;
    coll_chain(c, &tree);
    coll_reduce_tree(c, &tree);
}

static void reduce_binary(struct coll *c)
{
    struct coll_tree tree;
    coll_binary(c, &tree);
    coll_reduce_tree(c, &tree);
}

static void reduce_binomial(struct coll *c)
{
    struct coll_tree tree;
    coll_binomial_low(c, &tree);
    coll_reduce_tree(c, &tree);
}

static void reduce_halving(struct coll *c)
{
    if (c->bytes / c->element >= coll_power_below(c->size))
        coll_reduce_halving(c);
    else
        coll_reduce_in_turn(c);
}

static void allreduce_ring(struct coll *c)
{
    if (c->bytes / c->element >= c->size)
        coll_allreduce_ring(c);
    else
        coll_allreduce_doubling(c);
}

static void allreduce_halving(struct coll *c)
{
    if (c->bytes / c->element >= coll_power_below(c->size))
        coll_allreduce_halving(c);
    else
        coll_allreduce_doubling(c);
}

static void allgather_doubling(struct coll *c)
{
    if (coll_is_power(c->size))
        coll_allgather_doubling(c);
    else
        coll_allgather_bruck(c);
}

static void allgather_neighbors(struct coll *c)
{
    if (c->size % 2 == 0)
        coll_allgather_neighbors(c);
    else
        coll_allgather_ring(c);
}

/* ---- the decisions: for groups and bytes below ---- */

#define ANY  UINT32_MAX
#define MORE INT64_MAX
enum { KIB = 1024 };

static void reduce_then_bcast(struct coll *c);
static void gather_then_bcast(struct coll *c);

static const struct coll_rule allreduce_rules[] = {
    {4, 8, allreduce_ring},
    {4, 4 * KIB, coll_allreduce_doubling},
    {4, 8 * KIB, allreduce_ring},
    {4, 16 * KIB, coll_allreduce_doubling},
    {4, 256 * KIB, allreduce_ring},
    {4, MORE, allreduce_halving},
    {8, 16, allreduce_ring},
    {8, 8 * KIB, coll_allreduce_doubling},
    {8, MORE, allreduce_halving},
    {16, 8 * KIB, coll_allreduce_doubling},
    {16, MORE, allreduce_halving},
    {32, 64, allreduce_ring},
    {32, 4 * KIB, coll_allreduce_doubling},
    {32, MORE, allreduce_halving},
    {64, 128, allreduce_ring},
    {64, MORE, allreduce_halving},
    {128, 256 * KIB, coll_allreduce_doubling},
    {128, MORE, allreduce_halving},
    {256, 128 * KIB, reduce_then_bcast},
    {256, 256 * KIB, coll_allreduce_doubling},
    {256, MORE, allreduce_halving},
    {512, 4 * KIB, reduce_then_bcast},
    {512, MORE, allreduce_halving},
    {2048, 2 * KIB, reduce_then_bcast},
    {2048, 16 * KIB, coll_allreduce_doubling},
    {2048, MORE, allreduce_halving},
    {4096, 2 * KIB, reduce_then_bcast},
    {4096, 4 * KIB, allreduce_ring},
    {4096, 16 * KIB, coll_allreduce_doubling},
    {4096, MORE, allreduce_halving},
    {ANY, 2 * KIB, reduce_then_bcast},
    {ANY, 16 * KIB, allreduce_ring},
    {ANY, 32 * KIB, coll_allreduce_doubling},
    {ANY, MORE, allreduce_halving},
};

static const struct coll_rule bcast_rules[] = {
    {4, 32, bcast_chain},
    {4, 256, bcast_binary},
    {4, 512, bcast_chain},
    {4, 1 * KIB, bcast_quaternomial},
    {4, 32 * KIB, coll_from_root_to_all},
    {4, 128 * KIB, bcast_binary},
    {4, 256 * KIB, bcast_chain},
    {4, 512 * KIB, coll_from_root_to_all},
    {4, 1024 * KIB, bcast_binomial},
    {4, MORE, bcast_binary},
    {8, 64, bcast_binary},
    {8, 128, bcast_binomial},
    {8, 2 * KIB, bcast_binary},
    {8, 8 * KIB, bcast_binomial},
    {8, 1024 * KIB, coll_from_root_to_all},
    {8, MORE, bcast_chain},
    {16, 8, bcast_quaternomial},
    {16, 64, bcast_binary},
    {16, 4 * KIB, bcast_quaternomial},
    {16, 16 * KIB, bcast_binary},
    {16, 32 * KIB, bcast_binomial},
    {16, MORE, coll_from_root_to_all},
    {32, 4 * KIB, bcast_quaternomial},
    {32, 1024 * KIB, bcast_binomial},
    {32, MORE, bcast_scatter},
    {64, 2 * KIB, bcast_binomial},
    {64, MORE, bcast_quaternomial},
    {128, MORE, bcast_quaternomial},
    {256, 2, bcast_binomial},
    {256, 16 * KIB, bcast_binary},
    {256, 32 * KIB, coll_from_root_to_all},
    {256, 64 * KIB, bcast_binary},
    {256, MORE, bcast_quaternomial},
    {1024, 16 * KIB, bcast_quaternomial},
    {1024, 32 * KIB, bcast_binary},
    {1024, MORE, bcast_quaternomial},
    {2048, 512 * KIB, bcast_quaternomial},
    {2048, MORE, bcast_scatter},
    {4096, 256 * KIB, bcast_quaternomial},
    {4096, MORE, bcast_scatter},
    {ANY, 8 * KIB, bcast_quaternomial},
    {ANY, 16 * KIB, bcast_binary},
    {ANY, 256 * KIB, bcast_quaternomial},
    {ANY, MORE, bcast_scatter},
};

static const struct coll_rule reduce_rules[] = {
    {4, 8, reduce_halving},
    {4, 16, reduce_binary},
    {4, 32, reduce_chain},
    {4, 256 * KIB, coll_reduce_in_turn},
    {4, MORE, reduce_chain},
    {8, 4 * KIB, reduce_binary},
    {8, 64 * KIB, reduce_chain},
    {8, 256 * KIB, reduce_binomial},
    {8, 512 * KIB, coll_reduce_in_turn},
    {8, 1024 * KIB, reduce_binomial},
    {8, MORE, coll_reduce_in_turn},
    {16, 8 * KIB, reduce_binary},
    {16, MORE, reduce_binomial},
    {32, 4 * KIB, reduce_binary},
    {32, MORE, reduce_binomial},
    {256, MORE, reduce_binomial},
    {512, 8 * KIB, reduce_binomial},
    {512, 16 * KIB, reduce_binary},
    {512, MORE, reduce_binomial},
    {2048, MORE, reduce_binomial},
    {4096, 512, reduce_binomial},
    {4096, 1 * KIB, reduce_binary},
    {4096, 8 * KIB, reduce_binomial},
    {4096, 16 * KIB, reduce_binary},
    {4096, MORE, reduce_binomial},
    {ANY, 16, reduce_binomial},
    {ANY, 32, reduce_binary},
    {ANY, 1 * KIB, reduce_binomial},
    {ANY, 2 * KIB, reduce_binary},
    {ANY, 8 * KIB, reduce_binomial},
    {ANY, 16 * KIB, reduce_binary},
    {ANY, MORE, reduce_binomial},
};

static const struct coll_rule reduce_scatter_rules[] = {
    {4, MORE, coll_reduce_scatter_ring},          {8, 8, coll_reduce_scatter_linear},
    {8, 256 * KIB, coll_reduce_scatter_halving},  {8, MORE, coll_reduce_scatter_ring},
    {32, 256 * KIB, coll_reduce_scatter_halving}, {32, MORE, coll_reduce_scatter_ring},
    {64, 64, coll_reduce_scatter_linear},         {64, 512 * KIB, coll_reduce_scatter_halving},
    {64, MORE, coll_reduce_scatter_ring},         {512, 256, coll_reduce_scatter_linear},
    {512, MORE, coll_reduce_scatter_halving},     {4096, 512, coll_reduce_scatter_linear},
    {4096, MORE, coll_reduce_scatter_halving},    {ANY, 1 * KIB, coll_reduce_scatter_linear},
    {ANY, MORE, coll_reduce_scatter_halving},
};

static const struct coll_rule allgather_rules[] = {
    {3, MORE, coll_pairwise},
    {32, MORE, allgather_doubling},
    {64, 1 * KIB, allgather_doubling},
    {64, 64 * KIB, allgather_neighbors},
    {64, MORE, coll_allgather_ring},
    {128, 512, allgather_doubling},
    {128, 64 * KIB, allgather_neighbors},
    {128, MORE, coll_allgather_ring},
    {256, 512, allgather_doubling},
    {256, 128 * KIB, allgather_neighbors},
    {256, 512 * KIB, coll_allgather_ring},
    {256, 1024 * KIB, allgather_neighbors},
    {256, MORE, coll_allgather_ring},
    {512, 32, allgather_doubling},
    {512, 128, coll_allgather_bruck},
    {512, 1 * KIB, allgather_doubling},
    {512, 128 * KIB, allgather_neighbors},
    {512, 512 * KIB, coll_allgather_ring},
    {512, 1024 * KIB, allgather_neighbors},
    {512, MORE, coll_allgather_ring},
    {1024, 64, allgather_doubling},
    {1024, 256, coll_allgather_bruck},
    {1024, 2 * KIB, allgather_doubling},
    {1024, MORE, allgather_neighbors},
    {2048, 4, allgather_doubling},
    {2048, 8, coll_allgather_bruck},
    {2048, 16, allgather_doubling},
    {2048, 32, coll_allgather_bruck},
    {2048, 256, allgather_doubling},
    {2048, 512, coll_allgather_bruck},
    {2048, 4 * KIB, allgather_doubling},
    {2048, MORE, allgather_neighbors},
    {4096, 32, coll_allgather_bruck},
    {4096, 128, allgather_doubling},
    {4096, 512, coll_allgather_bruck},
    {4096, 4 * KIB, allgather_doubling},
    {4096, MORE, allgather_neighbors},
    {ANY, 2, allgather_doubling},
    {ANY, 8, coll_allgather_bruck},
    {ANY, 16, allgather_doubling},
    {ANY, 512, coll_allgather_bruck},
    {ANY, 4 * KIB, allgather_doubling},
    {ANY, MORE, allgather_neighbors},
};

static const struct coll_rule allgatherv_rules[] = {
    {3, 2 * KIB, coll_allgather_ring},     {3, 4 * KIB, coll_pairwise},
    {3, 8 * KIB, coll_allgather_ring},     {3, MORE, coll_pairwise},
    {8, 256, gather_then_bcast},           {8, 4 * KIB, allgather_neighbors},
    {8, 8 * KIB, coll_allgather_ring},     {8, 16 * KIB, allgather_neighbors},
    {8, 256 * KIB, coll_allgather_bruck},  {8, MORE, allgather_neighbors},
    {16, 1 * KIB, gather_then_bcast},      {16, MORE, coll_allgather_bruck},
    {32, 128, gather_then_bcast},          {32, 256 * KIB, coll_allgather_bruck},
    {32, MORE, coll_allgather_ring},       {64, 256, gather_then_bcast},
    {64, 8 * KIB, coll_allgather_bruck},   {64, MORE, coll_allgather_ring},
    {128, 256, gather_then_bcast},         {128, 4 * KIB, coll_allgather_bruck},
    {128, MORE, coll_allgather_ring},      {256, 1 * KIB, coll_allgather_bruck},
    {256, 64 * KIB, allgather_neighbors},  {256, MORE, coll_allgather_ring},
    {512, 1 * KIB, coll_allgather_bruck},  {512, MORE, coll_allgather_ring},
    {1024, 512, coll_allgather_bruck},     {1024, 1 * KIB, gather_then_bcast},
    {1024, 4 * KIB, coll_allgather_bruck}, {1024, 1024 * KIB, allgather_neighbors},
    {1024, MORE, coll_allgather_ring},     {ANY, 4 * KIB, coll_allgather_bruck},
    {ANY, MORE, allgather_neighbors},
};

static const struct coll_rule gather_rules[] = {
    {4, 2, coll_gather_synchronized},     {4, 4, coll_gather_in_turn},
    {4, 32 * KIB, coll_gather_binomial},  {4, 64 * KIB, coll_gather_in_turn},
    {4, 128 * KIB, coll_gather_binomial}, {4, MORE, coll_gather_synchronized},
    {8, 1 * KIB, coll_gather_binomial},   {8, 8 * KIB, coll_gather_in_turn},
    {8, 32 * KIB, coll_gather_binomial},  {8, 256 * KIB, coll_gather_in_turn},
    {8, MORE, coll_gather_synchronized},  {256, MORE, coll_gather_binomial},
    {512, 2 * KIB, coll_gather_binomial}, {512, 8 * KIB, coll_gather_in_turn},
    {512, MORE, coll_gather_binomial},    {ANY, MORE, coll_gather_binomial},
};

static const struct coll_rule scatter_rules[] = {
    {4, 2, coll_from_root_to_all},
    {4, 128 * KIB, coll_scatter_in_turn},
    {4, 256 * KIB, coll_from_root_to_all},
    {4, MORE, coll_scatter_in_turn},
    {8, 2 * KIB, coll_scatter_binomial_near_first},
    {8, 4 * KIB, coll_scatter_in_turn},
    {8, 8 * KIB, coll_scatter_binomial_near_first},
    {8, 32 * KIB, coll_scatter_in_turn},
    {8, 1024 * KIB, coll_from_root_to_all},
    {8, MORE, coll_scatter_in_turn},
    {16, 16 * KIB, coll_scatter_binomial_near_first},
    {16, 1024 * KIB, coll_from_root_to_all},
    {16, MORE, coll_scatter_in_turn},
    {32, 16 * KIB, coll_scatter_binomial_near_first},
    {32, 32 * KIB, coll_scatter_in_turn},
    {32, MORE, coll_from_root_to_all},
    {64, 512, coll_scatter_binomial_near_first},
    {64, 8 * KIB, coll_from_root_to_all},
    {64, 16 * KIB, coll_scatter_binomial_near_first},
    {64, MORE, coll_from_root_to_all},
    {ANY, 512, coll_scatter_binomial_near_first},
    {ANY, MORE, coll_from_root_to_all},
};

static const struct coll_rule alltoall_rules[] = {
    {3, 2, coll_pairwise},
    {3, 4, coll_exchange_around},
    {3, 16, coll_pairwise},
    {3, 64, coll_exchange_around},
    {3, 256, coll_pairwise},
    {3, 4 * KIB, coll_exchange_around},
    {3, 32 * KIB, coll_pairwise},
    {3, 1024 * KIB, coll_exchange_around},
    {3, MORE, coll_pairwise},
    {8, 512 * KIB, coll_exchange_around},
    {8, 1024 * KIB, coll_pairwise},
    {8, MORE, coll_exchange_around},
    {16, MORE, coll_exchange_around},
    {32, 4, coll_exchange_around},
    {32, 512, coll_alltoall_bruck},
    {32, MORE, coll_exchange_around},
    {64, 512, coll_alltoall_bruck},
    {64, MORE, coll_exchange_around},
    {256, 1 * KIB, coll_alltoall_bruck},
    {256, 256 * KIB, coll_exchange_around},
    {256, MORE, coll_pairwise},
    {512, 1 * KIB, coll_alltoall_bruck},
    {512, 32 * KIB, coll_exchange_around},
    {512, MORE, coll_pairwise},
    {1024, 512, coll_alltoall_bruck},
    {1024, 256 * KIB, coll_exchange_around},
    {1024, MORE, coll_pairwise},
    {2048, 512, coll_alltoall_bruck},
    {2048, MORE, coll_exchange_around},
    {4096, 1 * KIB, coll_alltoall_bruck},
    {4096, MORE, coll_exchange_around},
    {ANY, 2 * KIB, coll_alltoall_bruck},
    {ANY, MORE, coll_exchange_around},
};

static const struct coll_rule alltoallv_rules[] = {
    {4, MORE, coll_pairwise},    {64, MORE, coll_exchange_receives_first},
    {128, MORE, coll_pairwise},  {256, MORE, coll_exchange_receives_first},
    {1024, MORE, coll_pairwise}, {ANY, MORE, coll_exchange_receives_first},
};

static const struct coll_rule barrier_rules[] = {
    {4, MORE, coll_barrier_doubling},  {8, MORE, coll_barrier_linear},
    {64, MORE, coll_barrier_doubling}, {256, MORE, coll_barrier_dissemination},
    {512, MORE, coll_barrier_tree},    {1024, MORE, coll_barrier_dissemination},
    {4096, MORE, coll_barrier_tree},   {ANY, MORE, coll_barrier_dissemination},
};

/* ---- algorithms that are made of others ---- */

static void reduce_then_bcast(struct coll *c)
{
    c->tag = COLL_TAG_REDUCE;
    coll_by_rules(c, reduce_rules, c->bytes);
    c->tag = COLL_TAG_BCAST;
    coll_by_rules(c, bcast_rules, c->bytes);
}

static void gather_then_bcast(struct coll *c)
{
    struct rfn_action gather = *c->action, bcast = {.kind = RFN_ACTION_BCAST};
    gather.kind = RFN_ACTION_GATHERV;
    bcast.bytes = coll_blocks(c, 0, c->size).bytes;
    struct coll first = coll_with(c, &gather, COLL_TAG_GATHERV);
    coll_gather_in_turn(&first);
    struct coll second = coll_with(&first, &bcast, COLL_TAG_BCAST);
    coll_by_rules(&second, bcast_rules, bcast.bytes);
    c->error = second.error;
}

void coll_ompi_alltoall(struct coll *c)
{
    coll_by_rules(c, alltoall_rules, c->bytes);
}

void coll_choose_ompi(struct coll *c)
{
    int64_t all = coll_blocks(c, 0, c->size).bytes;
    switch (c->action->kind) {
    case RFN_ACTION_BARRIER:
        coll_by_rules(c, barrier_rules, 0);
        break;
    case RFN_ACTION_BCAST:
        coll_by_rules(c, bcast_rules, c->bytes);
        break;
    case RFN_ACTION_REDUCE:
        coll_by_rules(c, reduce_rules, c->bytes);
        break;
    case RFN_ACTION_ALLREDUCE:
        coll_by_rules(c, allreduce_rules, c->bytes);
        break;
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        coll_scan_chain(c);
        break;
    case RFN_ACTION_GATHER:
        coll_by_rules(c, gather_rules, c->bytes);
        break;
    case RFN_ACTION_GATHERV:
        coll_gather_in_turn(c);
        break;
    case RFN_ACTION_SCATTER:
        coll_by_rules(c, scatter_rules, c->bytes);
        break;
    case RFN_ACTION_SCATTERV:
        coll_scatter_in_turn(c);
        break;
    case RFN_ACTION_ALLGATHER:
        coll_by_rules(c, allgather_rules, c->bytes);
        break;
    case RFN_ACTION_ALLGATHERV:
        coll_by_rules(c, allgatherv_rules, all / c->size);
        break;
    case RFN_ACTION_ALLTOALL:
        coll_ompi_alltoall(c);
        break;
    case RFN_ACTION_ALLTOALLV:
        coll_by_rules(c, alltoallv_rules, 0);
        break;
    default:
        coll_by_rules(c, reduce_scatter_rules, all);
        break;
    }
}
