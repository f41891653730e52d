#include "analyze/match/loop_requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct rfn_loop_requests loop;

static int setup(void **state)
{
    (void)state;
    return rfn_loop_learn(&loop, 8);
}

static int teardown(void **state)
{
    (void)state;
    rfn_loop_release(&loop);
    return 0;
}

static void make(uint32_t place, uint32_t id)
{
    const struct rfn_request_origin made = {.id = id, .symbol = 10 + place};
    assert_int_equal(rfn_loop_makes(&loop, place, &made), 0);
}

static struct rfn_completed done(struct rfn_request_origin *origin, uint32_t id)
{
    static const struct rfn_volume volume = {.received_bytes = 96};
    *origin = (struct rfn_request_origin){.id = id, .receives = id % 2, .volume = &volume};
    return (struct rfn_completed){.origin = origin, .known = true};
}

static void complete(uint32_t place, uint32_t id)
{
    struct rfn_request_origin origin;
    const struct rfn_completed completed = done(&origin, id);
    assert_int_equal(rfn_loop_completes(&loop, place, &completed, 1), 0);
}

static void expect(enum rfn_loop_knowledge knowledge)
{
    rfn_loop_learned(&loop);
    assert_int_equal(loop.knowledge, knowledge);
}

/* Requests are completed in the order of the call, and ids may be used again. */
static void test_closed(void **state)
{
    (void)state;
    make(0, 4);
    make(1, 3);
    struct rfn_request_origin origins[2];
    const struct rfn_completed completed[] = {done(&origins[0], 3), done(&origins[1], 4)};
    assert_int_equal(rfn_loop_completes(&loop, 3, completed, 2), 0);
    make(5, 3);
    complete(7, 3);
    expect(RFN_LOOP_CLOSED);
    assert_int_equal(loop.n, 3);
    assert_int_equal(loop.places[3].n, 2);
    assert_int_equal(loop.order[loop.places[3].first], 1);
    assert_int_equal(loop.order[loop.places[3].first + 1], 0);
    assert_int_equal(loop.order[loop.places[7].first], 2);
    assert_int_equal(loop.requests[2].made, 5);
    assert_int_equal(loop.requests[2].symbol, 15);
    assert_int_equal(loop.requests[2].completed, 7);
    assert_int_equal(loop.requests[1].received_bytes, 96);
    assert_int_equal(loop.requests[0].received_bytes, 0); /* it sends */
}

/* Without requests, too. */
static void test_nothing(void **state)
{
    (void)state;
    expect(RFN_LOOP_CLOSED);
}

static void test_left_open(void **state)
{
    (void)state;
    make(0, 4);
    make(1, 3);
    complete(2, 3);
    expect(RFN_LOOP_OPEN);
}

/* A request of an earlier iteration. */
static void test_earlier(void **state)
{
    (void)state;
    make(0, 4);
    complete(1, 3);
    complete(2, 4);
    expect(RFN_LOOP_OPEN);
}

static void test_unknown_or_cancelled(void **state)
{
    (void)state;
    for (int cancelled = 0; cancelled < 2; cancelled++) {
        struct rfn_request_origin origin;
        struct rfn_completed completed = done(&origin, 4);
        assert_int_equal(rfn_loop_learn(&loop, 8), 0);
        make(0, 4);
        completed.known = cancelled;
        completed.cancelled = cancelled;
        assert_int_equal(rfn_loop_completes(&loop, 1, &completed, 1), 0);
        expect(RFN_LOOP_OPEN);
    }
}

static void test_differs(void **state)
{
    (void)state;
    rfn_loop_differs(&loop);
    make(0, 4);
    complete(1, 4);
    expect(RFN_LOOP_OPEN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(closed),  TEST(nothing), TEST(left_open), TEST(earlier), TEST(unknown_or_cancelled),
        TEST(differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
