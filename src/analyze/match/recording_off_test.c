#include "analyze/match/recording_off.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Two threads of a process (streams of the archive), switching in turns. */
static void test_threads(void **state)
{
    (void)state;
    struct rfn_off_times pauses = {0};
    fake_reset();
    EVENT(0, PCONTROL, 0, 10, 11, 0);
    EVENT(0, PCONTROL, 0, 50, 51, 0);
    EVENT(1, PCONTROL, 0, 20, 22, 1);
    EVENT(1, PCONTROL, 0, 55, 56, 0); /* off already */
    EVENT(1, PCONTROL, 0, 70, 71, 1);
    EVENT(2, PCONTROL, 0, 80, 81, 0); /* of another process */
    assert_true(rfn_off_times_possible(&fake));
    assert_int_equal(rfn_off_times_find(&pauses, &fake, 0, 2), 0);
    assert_int_equal(pauses.n, 2);
    assert_int_equal(pauses.items[0].from_ns, 11);
    assert_int_equal(pauses.items[0].to_ns, 20);
    assert_int_equal(pauses.items[1].from_ns, 51);
    assert_int_equal(pauses.items[1].to_ns, 70);
    assert_int_equal(rfn_off_times_find(&pauses, &fake, 2, 3), 0);
    assert_int_equal(pauses.n, 1);
    assert_int_equal(pauses.items[0].to_ns, INT64_MAX);
    rfn_off_times_release(&pauses);
}

static void test_overlap(void **state)
{
    (void)state;
    struct rfn_off_time items[] = {{INT64_MIN, 10}, {20, 30}, {40, 50}};
    struct rfn_off_times pauses = {.items = items, .n = 3};
    size_t at = 0;
    assert_int_equal(rfn_off_times_overlap(&pauses, &at, 0, 5), 5);
    assert_int_equal(rfn_off_times_overlap(&pauses, &at, 5, 45), 5 + 10 + 5);
    assert_int_equal(rfn_off_times_overlap(&pauses, &at, 30, 40), 0);
    assert_int_equal(rfn_off_times_overlap(&pauses, &at, 45, 100), 5);
    assert_int_equal(rfn_off_times_overlap(&pauses, &at, 100, 200), 0);
    at = 0;
    assert_int_equal(rfn_off_times_overlap(&pauses, &at, 15, 25), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
