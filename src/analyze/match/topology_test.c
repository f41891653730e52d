/* Topologies made by hand, and who is whose neighbour in them. */
#include "analyze/match/topology.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Communicators of the fake archive. */
enum {
    WORLD = 0,
    SELF = 1,
    ODD = 2,
    BETWEEN = 3,
    ALL = 4,
    OTHER = 5,
    THIRD = 6,
    EVEN = 7,
    MANY = 8
};

static struct rfn_topologies *topologies;

static int set_up(void **state)
{
    (void)state;
    fake_reset();
    topologies = rfn_topologies_new(&fake);
    return topologies ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rfn_topologies_free(topologies);
    return 0;
}

static void show(uint32_t rank, const struct rfn_record *record)
{
    struct rfn_cursor cursor = {.archive = &fake, .stream = rank};
    const struct rfn_call_event event = rfn_call_event(&fake, &cursor, rank, record);
    assert_int_equal(rfn_topologies_event(topologies, &event), 0);
}
#define SHOW(rank, function, ...) show(rank, EVENT(rank, function, 0, 0, 1, __VA_ARGS__))

static void expect(const uint32_t *ranks, size_t n, const uint32_t *expected, size_t n_expected)
{
    assert_int_equal(n, n_expected);
    assert_true((ranks == NULL) == (n == 0));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ranks[i], expected[i]);
}

/* Expected ranks in ascending order. */
#define RANKS(...)                          \
    (const uint32_t[]){0, __VA_ARGS__} + 1, \
        sizeof((uint32_t[]){0, __VA_ARGS__}) / sizeof(uint32_t) - 1
#define EXPECT_SOURCES(comm, rank, ...)                                                 \
    do {                                                                                \
        size_t n_found;                                                                 \
        const uint32_t *found = rfn_topology_sources(topologies, comm, rank, &n_found); \
        expect(found, n_found, __VA_ARGS__);                                            \
    } while (0)

static void test_concerns(void **state)
{
    (void)state;
    assert_true(rfn_topologies_concerns(topologies, FAKE_CART_CREATE));
    assert_true(rfn_topologies_concerns(topologies, FAKE_CART_SUB));
    assert_true(rfn_topologies_concerns(topologies, FAKE_GRAPH_CREATE));
    assert_true(rfn_topologies_concerns(topologies, FAKE_DIST_GRAPH));
    assert_true(rfn_topologies_concerns(topologies, FAKE_ADJACENT));
    assert_true(rfn_topologies_concerns(topologies, FAKE_COMM_DUP));
    assert_true(rfn_topologies_concerns(topologies, FAKE_COMM_IDUP));
    assert_false(rfn_topologies_concerns(topologies, FAKE_BARRIER));
}

/* An open chain: the ends have one neighbour. */
static void test_chain(void **state)
{
    (void)state;
    SHOW(0, CART_CREATE, WORLD, 1, LIST(4), LIST(0), 0, ALL);
    EXPECT_SOURCES(ALL, 0, RANKS(1));
    EXPECT_SOURCES(ALL, 1, RANKS(0, 2));
    EXPECT_SOURCES(ALL, 3, RANKS(2));
    EXPECT_SOURCES(ALL, 4, RANKS());
    EXPECT_SOURCES(ALL, -1, RANKS());
    EXPECT_SOURCES(WORLD, 1, RANKS());
}

/* 2 x 2, periodic in the first: both neighbours in it are the same rank. */
static void test_grid_and_rows(void **state)
{
    (void)state;
    SHOW(1, CART_CREATE, WORLD, 2, LIST(2, 2), LIST(1, 0), 0, ALL);
    EXPECT_SOURCES(ALL, 0, RANKS(1, 2));
    EXPECT_SOURCES(ALL, 3, RANKS(1, 2));
    SHOW(1, CART_SUB, ALL, LIST(1, 0), ODD);
    SHOW(0, CART_CREATE, WORLD, 2, LIST(2, 2), LIST(1, 0), 0, ALL);
    SHOW(0, CART_SUB, ALL, LIST(1, 0), EVEN);
    EXPECT_SOURCES(ODD, 0, RANKS(1));
    EXPECT_SOURCES(ODD, 1, RANKS(0));
    EXPECT_SOURCES(EVEN, 1, RANKS(0));
    EXPECT_SOURCES(EVEN, 2, RANKS());
}

/* A periodic dimension of one rank: it is its own neighbour. */
static void test_self(void **state)
{
    (void)state;
    SHOW(2, CART_CREATE, WORLD, 2, LIST(1, 4), LIST(1, 0), 0, ALL);
    EXPECT_SOURCES(ALL, 0, RANKS(0, 1));
    EXPECT_SOURCES(ALL, 2, RANKS(1, 2, 3));
}

/* 2 x 3 x 4, in all of its ranks, against the coordinates. */
static void test_three_dimensions(void **state)
{
    (void)state;
    SHOW(0, CART_CREATE, WORLD, 3, LIST(2, 3, 4), LIST(0, 1, 0), 0, MANY);
    for (uint32_t rank = 0; rank < 24; rank++) {
        bool near[24] = {false};
        uint32_t x = rank / 12, y = rank / 4 % 3, z = rank % 4, expected[24], n = 0;
        near[(1 - x) * 12 + y * 4 + z] = true;
        near[x * 12 + (y + 1) % 3 * 4 + z] = near[x * 12 + (y + 2) % 3 * 4 + z] = true;
        if (z > 0)
            near[rank - 1] = true;
        if (z < 3)
            near[rank + 1] = true;
        for (uint32_t i = 0; i < 24; i++) {
            if (near[i])
                expected[n++] = i;
        }
        EXPECT_SOURCES(MANY, rank, expected, n);
    }
}

static void test_cart_that_does_not_fit(void **state)
{
    (void)state;
    int64_t many[FAKE_LIST_WORDS];
    for (int i = 0; i < FAKE_LIST_WORDS; i++)
        many[i] = INT32_MAX;
    SHOW(0, CART_CREATE, WORLD, 2, LIST(2, 3), LIST(0, 0), 0, ALL);
    SHOW(0, CART_CREATE, WORLD, 1, LIST(2), LIST(0), 0, ALL);
    SHOW(0, CART_CREATE, WORLD, 2, LIST(0, 4), LIST(0, 0), 0, ALL);
    SHOW(0, CART_CREATE, WORLD, 2, LIST(-2, -2), LIST(0, 0), 0, ALL);
    SHOW(0, CART_CREATE, WORLD, 2, LIST(INT64_MAX, INT64_MIN), LIST(0, 0), 0, ALL);
    SHOW(0, CART_CREATE, WORLD, 2, fake_list(many, FAKE_LIST_WORDS),
         fake_list(many, FAKE_LIST_WORDS), 0, ALL);
    SHOW(0, CART_CREATE, WORLD, 2, LIST(2, 2), LIST(0), 0, ALL);
    SHOW(0, CART_CREATE, WORLD, 2, 0, -1, 0, ALL);
    SHOW(0, CART_CREATE, WORLD, 2, 9999, INT64_MIN, 0, ALL);
    EXPECT_SOURCES(ALL, 0, RANKS());
    SHOW(0, CART_CREATE, WORLD, 1, LIST(4), LIST(1), 0, -1);
    SHOW(0, CART_CREATE, WORLD, 1, LIST(4), LIST(1), 0, 9);
    SHOW(0, CART_CREATE, WORLD, 1, LIST(4), LIST(1), 0, INT64_MAX);
    SHOW(0, CART_CREATE, WORLD, 1, LIST(4), LIST(1), 0, RFN_UNKNOWN);
    EXPECT_SOURCES(9, 0, RANKS());
    EXPECT_SOURCES(INT64_MIN, 0, RANKS());
}

static void test_sub_without_parent(void **state)
{
    (void)state;
    SHOW(1, CART_SUB, ALL, LIST(1, 0), ODD);
    SHOW(1, CART_SUB, -1, LIST(1, 0), ODD);
    SHOW(1, CART_SUB, 1 << 20, LIST(1, 0), ODD);
    SHOW(1, CART_CREATE, WORLD, 2, LIST(2, 2), LIST(1, 1), 0, ALL);
    SHOW(1, CART_SUB, ALL, LIST(1), ODD);
    SHOW(1, CART_SUB, ALL, LIST(1, 1), ODD); /* does not fit its size */
    EXPECT_SOURCES(ODD, 0, RANKS());
    SHOW(1, CART_SUB, ALL, LIST(0, 1), ODD);
    EXPECT_SOURCES(ODD, 0, RANKS(1));
}

/* A graph, with an edge twice, and one to nowhere; duplicates of its communicator. */
static void test_graph(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++)
        SHOW(rank, GRAPH_CREATE, WORLD, 4, LIST(4, 5, 7, 7), LIST(3, 1, 3, 2, 0, 0, 77), 0, ALL);
    SHOW(0, COMM_DUP, ALL, OTHER);
    SHOW(0, COMM_IDUP, OTHER, THIRD);
    for (int64_t comm = ALL; comm <= THIRD; comm++) {
        EXPECT_SOURCES(comm, 0, RANKS(1, 2, 3));
        EXPECT_SOURCES(comm, 1, RANKS(0));
        EXPECT_SOURCES(comm, 2, RANKS(0));
        EXPECT_SOURCES(comm, 3, RANKS());
    }
}

static void test_graph_that_does_not_fit(void **state)
{
    (void)state;
    SHOW(0, GRAPH_CREATE, WORLD, 4, LIST(1, 2, 3), LIST(1, 0, 0), 0, ALL);
    SHOW(0, GRAPH_CREATE, WORLD, 4, LIST(1, 2, 3, 4), LIST(1, 0, 0), 0, ALL);
    SHOW(0, GRAPH_CREATE, WORLD, 4, LIST(1, 3, 2, 3), LIST(1, 0, 0), 0, ALL);
    SHOW(0, GRAPH_CREATE, WORLD, 4, LIST(-1, 1, 2, 3), LIST(1, 0, 0), 0, ALL);
    SHOW(0, GRAPH_CREATE, WORLD, 4, LIST(1, 2, 3, INT64_MAX), LIST(1, 0, 0), 0, ALL);
    SHOW(0, GRAPH_CREATE, WORLD, 4, -1, 0, 0, ALL);
    EXPECT_SOURCES(ALL, 0, RANKS());
}

/* A ring: every rank tells its own neighbours when it comes. */
static void test_adjacent(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++) {
        EXPECT_SOURCES(ALL, rank, RANKS());
        SHOW(rank, ADJACENT, WORLD, 1, LIST((rank + 3) % 4), RFN_LIST_UNWEIGHTED, 1,
             LIST((rank + 1) % 4), RFN_LIST_UNWEIGHTED, -1, 0, ALL);
        EXPECT_SOURCES(ALL, rank, RANKS((rank + 3) % 4));
    }
    EXPECT_SOURCES(ALL, 4, RANKS());
}

static void test_adjacent_garbage(void **state)
{
    (void)state;
    SHOW(0, ADJACENT, WORLD, 3, LIST(-2, 4, 1, INT64_MAX, 1), -1, 1, LIST(INT64_MIN), -1, -1, 0,
         ALL);
    EXPECT_SOURCES(ALL, 0, RANKS(1));
    SHOW(0, ADJACENT, ODD, 1, LIST(1), -1, 1, LIST(1), -1, -1, 0, OTHER); /* no member */
    SHOW(0, ADJACENT, -1, 1, LIST(1), -1, 1, LIST(1), -1, -1, 0, OTHER);
    SHOW(0, ADJACENT, 99, 1, LIST(1), -1, 1, LIST(1), -1, -1, 0, OTHER);
    EXPECT_SOURCES(OTHER, 0, RANKS());
    /* What is another topology already stays so. */
    SHOW(0, CART_CREATE, WORLD, 1, LIST(4), LIST(0), 0, THIRD);
    SHOW(0, ADJACENT, WORLD, 1, LIST(3), -1, 1, LIST(3), -1, -1, 0, THIRD);
    SHOW(0, DIST_GRAPH, WORLD, 1, LIST(0), LIST(1), LIST(3), -1, -1, 0, THIRD);
    EXPECT_SOURCES(THIRD, 0, RANKS(1));
}

/* Edges come from any rank, in any number; a duplicate made meanwhile learns them too. */
static void test_edges(void **state)
{
    (void)state;
    SHOW(3, DIST_GRAPH, WORLD, 2, LIST(0, 2), LIST(2, 1), LIST(2, 1, 0), -2, -1, 0, ALL);
    SHOW(3, COMM_DUP, ALL, OTHER);
    EXPECT_SOURCES(OTHER, 0, RANKS(2));
    EXPECT_SOURCES(OTHER, 1, RANKS(0));
    EXPECT_SOURCES(OTHER, 2, RANKS(0));
    SHOW(0, DIST_GRAPH, WORLD, 0, 0, 0, 0, -2, -1, 0, ALL);
    SHOW(1, DIST_GRAPH, WORLD, 2, LIST(1, 0), LIST(1, 1), LIST(0, 1), -2, -1, 0, ALL);
    EXPECT_SOURCES(OTHER, 0, RANKS(1, 2));
    EXPECT_SOURCES(OTHER, 1, RANKS(0));
    EXPECT_SOURCES(ALL, 3, RANKS());
}

static void test_edges_garbage(void **state)
{
    (void)state;
    SHOW(0, DIST_GRAPH, WORLD, 9, LIST(7, 0, 1), LIST(1, -5, INT64_MAX), LIST(0, 9, 2, 3), -2, -1,
         0, ALL);
    EXPECT_SOURCES(ALL, 2, RANKS(1));
    EXPECT_SOURCES(ALL, 3, RANKS(1));
    EXPECT_SOURCES(ALL, 0, RANKS());
    SHOW(0, DIST_GRAPH, WORLD, 9, 0, LIST(1), -1, -2, -1, 0, ALL);
    EXPECT_SOURCES(ALL, 2, RANKS(1));
    EXPECT_SOURCES(ALL, 3, RANKS(1));
}

static void test_failed_call(void **state)
{
    (void)state;
    struct rfn_record *record = EVENT(0, CART_CREATE, 0, 0, 1, WORLD, 1, LIST(4), LIST(0), 0, ALL);
    record->error = 5;
    show(0, record);
    EXPECT_SOURCES(ALL, 0, RANKS());
    SHOW(0, COMM_DUP, -1, ALL);
    SHOW(0, COMM_DUP, 99, ALL);
    SHOW(0, BARRIER, WORLD);
    EXPECT_SOURCES(ALL, 0, RANKS());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_concerns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_grid_and_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_self, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_three_dimensions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cart_that_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sub_without_parent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_graph, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_graph_that_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adjacent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_adjacent_garbage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_edges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_edges_garbage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failed_call, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
