/* Chains of streams that wait for each other, for long. */
#include "analyze/waits/critical_path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { STREAMS = 3, LENGTH = 64 };

static struct rfn_history histories[STREAMS];
static struct rfn_critical_stream streams[STREAMS];
static struct rfn_sums sums;

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = (struct rfn_critical_stream){0};
        assert_int_equal(rfn_history_init(&histories[i], LENGTH), 0);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < STREAMS; i++) {
        rfn_history_release(&histories[i]);
        rfn_critical_release(&streams[i]);
    }
    rfn_sums_release(&sums);
    sums = (struct rfn_sums){0};
    return 0;
}

static void does(uint32_t stream, uint32_t activity, int64_t ns)
{
    assert_int_equal(rfn_history_add(&histories[stream], &sums, activity, ns), 0);
    assert_int_equal(rfn_critical_add(&streams[stream], activity, ns), 0);
}

/* Waiting that has a cause is in the history, not in the chain. */
static void waits(uint32_t stream, int64_t ns)
{
    assert_int_equal(rfn_history_add(&histories[stream], &sums, RFN_PASSED_ON | 1, ns), 0);
}

/* Back in time by `over`, of which *left is left. */
static int jump_back(uint32_t stream, uint32_t late, uint64_t at, int64_t over, int64_t *left)
{
    const struct rfn_point until = {late, at, 0};
    *left = over;
    return rfn_critical_jump(&streams[stream], histories[stream].at, &streams[late],
                             &histories[late], &until, left);
}

static int jump(uint32_t stream, uint32_t late, uint64_t at)
{
    int64_t left;
    int known = jump_back(stream, late, at, 0, &left);
    assert_int_equal(left, 0);
    return known;
}

static int64_t on_chain(uint32_t stream, uint32_t activity)
{
    const struct rfn_chain *chain = &streams[stream].chains[streams[stream].current];
    return activity < chain->capacity ? chain->ns[activity] : 0;
}

static int64_t length(uint32_t stream)
{
    const struct rfn_chain *chain = &streams[stream].chains[streams[stream].current];
    int64_t ns = 0;
    for (size_t i = 0; i < chain->capacity; i++)
        ns += chain->ns[i];
    return ns;
}

static void test_alone(void **state)
{
    (void)state;
    assert_int_equal(length(0), 0);
    does(0, 1, 10);
    does(0, 1000, 20);
    does(0, 1, 30);
    assert_int_equal(on_chain(0, 1), 40);
    assert_int_equal(on_chain(0, 1000), 20);
    assert_int_equal(length(0), 60);
}

/* The other's chain as it was at the point; what the stream did itself is not on it, even in
 * activities of higher numbers. */
static void test_jump(void **state)
{
    (void)state;
    does(0, 5000, 10);
    does(1, 1, 100);
    does(1, 2, 50);
    does(1, 3, 7);
    assert_int_equal(jump(0, 1, 2), 1);
    waits(0, 140);
    does(0, 4, 5);
    assert_int_equal(on_chain(0, 5000), 0);
    assert_int_equal(on_chain(0, 1), 100);
    assert_int_equal(on_chain(0, 3), 0);
    assert_int_equal(length(0), 155);
    assert_int_equal(length(1), 157);
}

/* Points before, at and after a jump of the late stream itself. A point is at the enter of a call:
 * the chain that the call has taken over is not the one of its own point. */
static void test_points_around_jump(void **state)
{
    (void)state;
    does(1, 1, 100);
    does(2, 2, 300);
    does(1, 3, 50);
    assert_int_equal(jump(1, 2, 1), 1); /* at 2 */
    waits(1, 150);
    does(1, 4, 10);
    does(1, 5, 20);
    assert_int_equal(jump(0, 1, 1), 1);
    assert_int_equal(length(0), 100);
    assert_int_equal(jump(0, 1, 2), 1);
    assert_int_equal(length(0), 150);
    assert_int_equal(on_chain(0, 3), 50);
    assert_int_equal(jump(0, 1, 4), 1);
    assert_int_equal(length(0), 310);
    assert_int_equal(on_chain(0, 2), 300);
    assert_int_equal(jump(0, 1, 5), 1);
    assert_int_equal(length(0), 330);
}

/* A ball that goes between two streams: 5 of activity 1 and 3 of activity 2 each time, and a while
 * that the other one does not see. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { TIMES = 100000 };
    for (int i = 0; i < TIMES; i++) {
        uint32_t has = (uint32_t)i % 2, waiting = 1 - has;
        does(has, 1, 5);
        does(has, 2, 3);
        uint64_t at = histories[has].at;
        does(has, 3, 2);
        assert_int_equal(jump(waiting, has, at), 1);
        waits(waiting, 6);
    }
    assert_int_equal(on_chain(TIMES % 2, 1), 5 * (int64_t)TIMES);
    assert_int_equal(on_chain(TIMES % 2, 2), 3 * (int64_t)TIMES);
    assert_int_equal(length(TIMES % 2), 8 * (int64_t)TIMES);
}

/* As many chains before the current one as are kept: the points of the oldest are still known. */
static void test_kept_chains(void **state)
{
    (void)state;
    does(1, 1, 10);
    for (uint32_t i = 0; i < RFN_CHAINS_KEPT - 1; i++) {
        does(2, 2, 20);
        assert_int_equal(jump(1, 2, histories[2].at), 1);
        waits(1, 10);
        does(1, 3, 1);
    }
    assert_int_equal(jump(0, 1, 1), 1);
    assert_int_equal(length(0), 10);
    assert_int_equal(on_chain(0, 1), 10);
}

/* A point that lies later than the end of the wait: what the late stream did last is not on the
 * path, nor what it did before, as far as that lies after the end of the wait. */
static void test_back_in_time(void **state)
{
    (void)state;
    int64_t left;
    does(1, 1, 100);
    does(1, 2, 50);
    does(1, 3, 7);
    does(1, 4, 10); /* behind the point */
    assert_int_equal(jump_back(0, 1, 3, 5, &left), 1);
    assert_int_equal(left, 0);
    assert_int_equal(on_chain(0, 3), 2);
    assert_int_equal(length(0), 152);
    assert_int_equal(jump_back(0, 1, 3, 70, &left), 1);
    assert_int_equal(left, 0);
    assert_int_equal(on_chain(0, 1), 87);
    assert_int_equal(on_chain(0, 2), 0);
    assert_int_equal(on_chain(0, 3), 0);
    assert_int_equal(length(0), 87);
    assert_int_equal(length(1), 167); /* as it was */
}

/* Not beyond what the late stream did since it took over a chain itself: what others did is not in
 * its history. */
static void test_back_to_a_jump(void **state)
{
    (void)state;
    int64_t left;
    does(1, 1, 10);
    does(2, 2, 300);
    assert_int_equal(jump(1, 2, 1), 1);
    waits(1, 290);
    does(1, 3, 20);
    assert_int_equal(jump_back(0, 1, 3, 25, &left), 1);
    assert_int_equal(left, 5);
    assert_int_equal(on_chain(0, 3), 0);
    assert_int_equal(on_chain(0, 2), 300);
    assert_int_equal(length(0), 300);
}

static void test_forgotten_chain(void **state)
{
    (void)state;
    does(1, 1, 10);
    does(0, 4, 7);
    for (uint32_t i = 0; i < RFN_CHAINS_KEPT; i++) {
        does(2, 2, 20);
        assert_int_equal(jump(1, 2, histories[2].at), 1);
        waits(1, 10);
        does(1, 3, 1);
    }
    assert_int_equal(jump(0, 1, 1), 0);
    assert_int_equal(length(0), 7); /* as it was */
    assert_int_equal(jump(0, 1, 3), 1);
    assert_int_equal(length(0), 20 + 1); /* the first jump's chain, and what came then */
    assert_int_equal(jump(0, 1, 5), 1);
    assert_int_equal(length(0), 40 + 1);
}

/* The point has fallen out of the log, so that what came since cannot be taken off. */
static void test_forgotten_point(void **state)
{
    (void)state;
    for (int i = 0; i < LENGTH * 2; i++)
        does(1, 1, 10);
    uint64_t first = histories[1].first;
    assert_int_equal(jump(0, 1, first - 1), 0);
    assert_int_equal(jump(0, 1, first), 1);
    assert_int_equal(length(0), (int64_t)first * 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_alone),
        TEST(test_jump),
        TEST(test_points_around_jump),
        TEST(test_long_chain),
        TEST(test_kept_chains),
        TEST(test_back_in_time),
        TEST(test_back_to_a_jump),
        TEST(test_forgotten_chain),
        TEST(test_forgotten_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
