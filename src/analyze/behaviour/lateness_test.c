#include "analyze/behaviour/lateness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SEND = 1, BARRIER = 2, RECV = 3 };

/* work, Send, work, Barrier: 0, then enter and exit of each call, then the end. */
static const uint32_t sites[] = {SEND, BARRIER};

#define SEGMENT(ranks, ...)                                                                   \
    {                                                                                         \
        .sites = sites, .vector = (const int64_t[]){0, __VA_ARGS__}, .n = 2, .count = (ranks) \
    }

static bool known; /* whom ranks waited for */

static struct rfn_lateness find(struct rfn_alike_ranks *ranks, size_t n)
{
    struct rfn_lateness lateness;
    assert_int_equal(rfn_lateness_find(ranks, n, 0.02, known, &lateness), 0);
    return lateness;
}

/* Three ranks wait 80 in the barrier, since one works 80 longer in front of it. */
static void test_computing(void **state)
{
    (void)state;
    struct rfn_alike_ranks ranks[] = {SEGMENT(3, 10, 12, 15, 100, 100),
                                      SEGMENT(1, 10, 12, 95, 100, 100)};
    struct rfn_lateness found = find(ranks, 2);
    assert_true(found.waiting);
    assert_int_equal(found.waited, BARRIER);
    assert_true(found.wait_ns == 80);
    assert_false(ranks[0].late);
    assert_true(ranks[1].late);
    assert_true(found.has_cause);
    assert_false(found.in_call);
    assert_int_equal(found.at, BARRIER);
    assert_int_equal(found.before, SEND);
    assert_true(found.excess_ns == 80);
    assert_true(found.length_ns == 100);
}

/* In front of a segment's first call is what follows its last. */
static void test_around_the_loop(void **state)
{
    (void)state;
    struct rfn_alike_ranks ranks[] = {SEGMENT(2, 60, 62, 65, 70, 70),
                                      SEGMENT(2, 10, 12, 15, 70, 70)};
    struct rfn_lateness found = find(ranks, 2);
    assert_true(ranks[0].late);
    assert_true(found.has_cause);
    assert_int_equal(found.at, SEND);
    assert_int_equal(found.before, BARRIER);
    assert_true(found.excess_ns == 50);
}

/* The late one is held up in its send. */
static void test_in_a_call(void **state)
{
    (void)state;
    struct rfn_alike_ranks ranks[] = {SEGMENT(1, 10, 12, 15, 100, 100),
                                      SEGMENT(1, 10, 92, 95, 100, 100)};
    struct rfn_lateness found = find(ranks, 2);
    /* Both calls are 80 longer in one of them: the first such call counts. */
    assert_int_equal(found.waited, SEND);
    assert_true(ranks[0].late);
    assert_true(found.has_cause);
    assert_true(found.in_call);
    assert_int_equal(found.at, BARRIER);
}

/* Of two that hardly wait only one has worked longer: the other one waits for nobody, and is not
 * late. If neither has, both are. */
static void test_neither(void **state)
{
    (void)state;
    struct rfn_alike_ranks ranks[] = {SEGMENT(2, 10, 12, 15, 100, 100),
                                      SEGMENT(1, 10, 12, 95, 100, 100),
                                      SEGMENT(1, 10, 12, 15, 30, 100)};
    struct rfn_lateness found = find(ranks, 3);
    assert_int_equal(found.waited, BARRIER);
    assert_true(found.wait_ns == 80); /* 85, and 5 of the late one */
    assert_true(ranks[0].waits && !ranks[0].late);
    assert_true(ranks[1].late && !ranks[1].waits);
    assert_false(ranks[2].late || ranks[2].waits);
    assert_true(found.has_cause);
    assert_true(found.excess_ns == 80);
    ranks[1] = ranks[2];
    found = find(ranks, 3);
    assert_true(ranks[1].late && ranks[2].late);
    assert_false(found.has_cause);
}

/* Who does not make the call neither waits nor is late. */
static void test_not_there(void **state)
{
    (void)state;
    static const uint32_t edge[] = {SEND};
    struct rfn_alike_ranks ranks[] = {
        SEGMENT(1, 10, 12, 15, 100, 100),
        SEGMENT(1, 10, 12, 95, 100, 100),
        {.sites = edge, .vector = (const int64_t[]){0, 10, 12, 100}, .n = 1, .count = 1}};
    struct rfn_lateness found = find(ranks, 3);
    assert_int_equal(found.waited, BARRIER);
    assert_true(ranks[0].waits && ranks[1].late);
    assert_false(ranks[2].waits || ranks[2].late);
}

/* The first is last as it takes a little longer in front of each of five calls, the second as it
 * takes 30 longer in front of one: both are late. */
static void test_bit_by_bit(void **state)
{
    (void)state;
    static const uint32_t sites[] = {SEND, SEND, SEND, SEND, BARRIER};
    struct rfn_alike_ranks ranks[] = {
        {.sites = sites,
         .vector = (const int64_t[]){0, 20, 20, 40, 40, 60, 60, 80, 80, 100, 101, 101},
         .n = 5,
         .count = 1},
        {.sites = sites,
         .vector = (const int64_t[]){0, 30, 30, 50, 50, 65, 65, 80, 80, 95, 101, 101},
         .n = 5,
         .count = 1},
        {.sites = sites,
         .vector = (const int64_t[]){0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 101, 101},
         .n = 5,
         .count = 1}};
    struct rfn_lateness found = find(ranks, 3);
    assert_int_equal(found.waited, BARRIER);
    assert_true(ranks[0].late && ranks[1].late && ranks[2].waits);
    assert_true(found.has_cause);
}

/* Nothing within the segment tells why. */
static void test_from_before(void **state)
{
    (void)state;
    struct rfn_alike_ranks ranks[] = {SEGMENT(3, 10, 12, 15, 100, 100),
                                      SEGMENT(1, 10, 12, 15, 20, 20)};
    struct rfn_lateness found = find(ranks, 2);
    assert_true(found.waiting);
    assert_true(ranks[1].late);
    assert_false(found.has_cause);
}

static void test_alike(void **state)
{
    (void)state;
    struct rfn_alike_ranks one[] = {SEGMENT(4, 10, 12, 15, 100, 100)};
    assert_false(find(one, 1).waiting);
    /* 1 of 100 on one of two ranks is less than 2 %. */
    struct rfn_alike_ranks two[] = {SEGMENT(1, 10, 12, 15, 100, 100),
                                    SEGMENT(1, 10, 13, 16, 100, 100)};
    assert_false(find(two, 2).waiting);
}

/* Ranks at an edge make other calls: those they share are compared. The second call of a site is
 * not the first. */
static void test_other_calls(void **state)
{
    (void)state;
    static const uint32_t inner[] = {RECV, RECV, BARRIER};
    static const uint32_t edge[] = {RECV, BARRIER};
    struct rfn_alike_ranks ranks[] = {
        {.sites = inner,
         .vector = (const int64_t[]){0, 1, 2, 3, 4, 5, 100, 100},
         .n = 3,
         .count = 2},
        {.sites = edge, .vector = (const int64_t[]){0, 1, 2, 90, 100, 100}, .n = 2, .count = 1}};
    struct rfn_lateness found = find(ranks, 2);
    assert_int_equal(found.waited, BARRIER);
    assert_true(found.wait_ns == 85);
    assert_true(ranks[1].late);
    assert_int_equal(found.at, BARRIER);
    assert_int_equal(found.before, RECV);
    assert_true(found.excess_ns == 87);
}

/* Calls at sites of small numbers, several at each, are all told apart. */
static void test_many_calls(void **state)
{
    (void)state;
    static const uint32_t sites[] = {0, 0, 1, 1, 2};
    struct rfn_alike_ranks ranks[] = {
        {.sites = sites,
         .vector = (const int64_t[]){0, 80, 81, 82, 83, 84, 85, 86, 87, 88, 100, 100},
         .n = 5,
         .count = 1},
        {.sites = sites,
         .vector = (const int64_t[]){0, 10, 11, 12, 13, 14, 15, 16, 17, 18, 100, 100},
         .n = 5,
         .count = 1}};
    struct rfn_lateness found = find(ranks, 2);
    assert_int_equal(found.waited, 2);
    assert_true(ranks[0].late);
    assert_true(found.has_cause);
    assert_false(found.in_call);
    assert_int_equal(found.at, 0);
    assert_int_equal(found.before, 2);
    assert_true(found.excess_ns == 70);
}

/* Segments without events have nothing to compare. */
static void test_no_calls(void **state)
{
    (void)state;
    struct rfn_alike_ranks ranks[] = {{.vector = (const int64_t[]){0, 5}, .count = 1}};
    assert_false(find(ranks, 1).waiting);
}

/* The first waits for the second, which works 80 longer; the third waits for nobody, and would be
 * late, too, as it was kept waiting in its send. */
static void test_known(void **state)
{
    (void)state;
    struct rfn_alike_ranks ranks[] = {SEGMENT(1, 10, 12, 15, 100, 100),
                                      SEGMENT(1, 10, 12, 95, 100, 100),
                                      SEGMENT(1, 10, 92, 95, 100, 100)};
    struct rfn_lateness found = find(ranks, 3);
    assert_true(ranks[0].late && ranks[1].late);
    ranks[1].blamed = known = true;
    found = find(ranks, 3);
    known = false;
    assert_false(ranks[0].late || ranks[2].late);
    assert_true(ranks[1].late);
    assert_true(found.has_cause);
    assert_false(found.in_call);
    assert_true(found.excess_ns == 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_computing),   cmocka_unit_test(test_around_the_loop),
        cmocka_unit_test(test_in_a_call),   cmocka_unit_test(test_neither),
        cmocka_unit_test(test_not_there),   cmocka_unit_test(test_bit_by_bit),
        cmocka_unit_test(test_from_before), cmocka_unit_test(test_alike),
        cmocka_unit_test(test_other_calls), cmocka_unit_test(test_no_calls),
        cmocka_unit_test(test_many_calls),  cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
