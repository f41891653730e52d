/* Kinds of ranks of clusters that are made up: a grid with open ends, a rank that calls more. */
#include "refrain/explain.h"
#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SIDE = 4, RANKS = SIDE * SIDE };

static struct rfn_profile_rank ranks[RANKS];
static struct rfn_pair pairs[4 * RANKS];
static struct rfn_profile profile = {.n_ranks = RANKS, .times = true, .ranks = ranks};

static const uint32_t some_calls[] = {SEND, EXCHANGE_88, RECV, EXCHANGE_80, INIT, MAIN_10};
static const uint32_t other_order[] = {RECV, EXCHANGE_80, INIT, MAIN_10, SEND, EXCHANGE_88};
/* Of two threads, which make a call each. */
static const uint32_t more_calls[] = {RECV,        EXCHANGE_80, INIT,  MAIN_10, SEND,
                                      EXCHANGE_88, BCAST,       SUM_7, SEND,    EXCHANGE_88};
static const struct rfn_rank_block all[] = {{0, 2, {{SIDE, SIDE}, {SIDE, 1}}}}, first[] = {{0}},
                                   but_first[] = {{1, 1, {{SIDE - 1, 1}}},
                                                  {SIDE, 2, {{SIDE - 1, SIDE}, {SIDE, 1}}}};

#define CLUSTER(calls, of)                                                                \
    {                                                                                     \
        .paths = (calls), .n_paths = sizeof(calls) / sizeof *(calls) / 2, .blocks = (of), \
        .n_blocks = sizeof(of) / sizeof *(of)                                             \
    }

static void add_pair(uint32_t source, uint32_t dest)
{
    pairs[profile.n_pairs++] = (struct rfn_pair){source, dest, 10, 1000};
    ranks[source].messages += 10;
    ranks[source].sent_bytes += 1000;
}

/* Each sends to its neighbours. */
static int setup(void **state)
{
    (void)state;
    profile.pairs = pairs;
    profile.n_pairs = 0;
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i] = (struct rfn_profile_rank){.mpi_ns = 2, .span_ns = 5, .collective_bytes = 24};
        if (i >= SIDE)
            add_pair(i, i - SIDE);
        if (i % SIDE > 0)
            add_pair(i, i - 1);
        if (i % SIDE < SIDE - 1)
            add_pair(i, i + 1);
        if (i + SIDE < RANKS)
            add_pair(i, i + SIDE);
    }
    return 0;
}

static void check(const struct rfn_rank_kind *kind, uint32_t n, uint32_t lowest, uint64_t partners)
{
    assert_int_equal(kind->n_ranks, n);
    assert_int_equal(kind->ranks[0], lowest);
    assert_int_equal(kind->sends_to.least, partners);
    assert_int_equal(kind->sends_to.most, partners);
    assert_int_equal(kind->gets_from.most, partners);
    assert_int_equal(kind->messages.least, 10 * partners);
    assert_int_equal(kind->sent_bytes, 1000 * partners * n);
    assert_int_equal(kind->collective_bytes, 24 * n);
    assert_int_equal(kind->mpi_ns, 2 * n);
    assert_int_equal(kind->outside_ns, 3 * n);
    assert_int_equal(kind->n_calls, 3);
}

/* Edges, the middle, corners; that one corner's calls come in another order does not matter. */
static void test_grid(void **state)
{
    const struct rfn_main_cluster mains[] = {CLUSTER(other_order, first),
                                             CLUSTER(some_calls, but_first)};
    const struct rfn_clustering clustering = {mains, 2, 9, 9};
    struct rfn_rank_kinds kinds;
    (void)state;
    assert_int_equal(rfn_rank_kinds_init(&kinds, &clustering, &profile), 0);
    assert_int_equal(kinds.n, 3);
    assert_int_equal(kinds.n_ranks, RANKS);
    check(&kinds.kinds[0], 8, 1, 3);
    check(&kinds.kinds[1], 4, 0, 2);
    check(&kinds.kinds[2], 4, 5, 4);
    assert_int_equal(kinds.kinds[0].orders, 1);
    assert_int_equal(kinds.kinds[1].orders, 2);
    assert_int_equal(kinds.kinds[1].ranks[3], RANKS - 1);
    rfn_rank_kinds_release(&kinds);
}

/* Each rank has another number of partners: they are one kind. */
static void test_any_partners(void **state)
{
    const struct rfn_main_cluster mains[] = {CLUSTER(some_calls, all)};
    const struct rfn_clustering clustering = {mains, 1, 1, 1};
    struct rfn_rank_kinds kinds;
    (void)state;
    profile.n_pairs = 0;
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t k = 0; k < i; k++)
            add_pair(i, k);
    }
    assert_int_equal(rfn_rank_kinds_init(&kinds, &clustering, &profile), 0);
    assert_int_equal(kinds.n, 1);
    assert_int_equal(kinds.kinds[0].sends_to.least, 0);
    assert_int_equal(kinds.kinds[0].sends_to.most, 5);
    for (uint32_t i = 0; i < RANKS; i++)
        assert_int_equal(kinds.kinds[0].ranks[i], i);
    rfn_rank_kinds_release(&kinds);
}

static void test_other_calls(void **state)
{
    const struct rfn_main_cluster mains[] = {CLUSTER(more_calls, first),
                                             CLUSTER(some_calls, but_first)};
    const struct rfn_clustering clustering = {mains, 2, 2, 2};
    struct rfn_call_site calls[2];
    struct rfn_rank_kinds kinds;
    (void)state;
    profile.n_pairs = 0;
    assert_int_equal(rfn_rank_kinds_init(&kinds, &clustering, &profile), 0);
    assert_int_equal(kinds.n, 2);
    assert_int_equal(kinds.kinds[1].n_calls, 4);
    assert_int_equal(rfn_rank_kind_only(&kinds.kinds[1], &kinds.kinds[0], calls, 2), 1);
    assert_int_equal(calls[0].function, BCAST);
    assert_int_equal(calls[0].path, SUM_7);
    assert_int_equal(rfn_rank_kind_only(&kinds.kinds[0], &kinds.kinds[1], NULL, 0), 0);
    rfn_rank_kinds_release(&kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_grid, setup),
                                       cmocka_unit_test_setup(test_any_partners, setup),
                                       cmocka_unit_test_setup(test_other_calls, setup)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
