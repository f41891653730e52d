/* Of many waits the longest are kept, by stream and time. */
#include "refrain/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void see(struct rfn_seen_waits *waits, uint32_t stream, int64_t from, int64_t ns)
{
    const struct rfn_wait_seen wait = {.stream = stream, .from_ns = from, .to_ns = from + ns};
    assert_int_equal(waits->watch.waited(waits->watch.context, &wait), 0);
}

static void test_longest(void **state)
{
    struct rfn_seen_waits waits;
    (void)state;
    rfn_seen_waits_init(&waits, 3);
    for (int64_t i = 1; i <= 100; i++)
        see(&waits, (uint32_t)(i % 4), 1000 - 10 * i, i);
    see(&waits, 0, 5, 0); /* is none */
    rfn_seen_waits_finish(&waits);
    assert_int_equal(waits.all, 100);
    assert_int_equal(waits.n, 3);
    const int64_t lengths[] = {100, 98, 99}, streams[] = {0, 2, 3};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(waits.items[i].to_ns - waits.items[i].from_ns, lengths[i]);
        assert_int_equal(waits.items[i].stream, streams[i]);
    }
    rfn_seen_waits_release(&waits);
}

static void test_few(void **state)
{
    struct rfn_seen_waits waits;
    (void)state;
    rfn_seen_waits_init(&waits, 3);
    rfn_seen_waits_finish(&waits);
    assert_int_equal(waits.n, 0);
    see(&waits, 1, 50, 7);
    see(&waits, 1, 20, 5);
    rfn_seen_waits_finish(&waits);
    assert_int_equal(waits.n, 2);
    assert_int_equal(waits.items[0].from_ns, 20);
    rfn_seen_waits_release(&waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_longest), cmocka_unit_test(test_few)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
