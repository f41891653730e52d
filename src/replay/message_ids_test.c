/* What messages carry, and the buffers they are in. */
#include "replay/message_ids.h"

#include "replay/buffers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct rpl_message_ids stamps;

static uint64_t next(int64_t source, int64_t dest, int64_t tag, bool sending)
{
    struct rpl_channel channel = {0, source, dest, tag, sending};
    uint64_t stamp;
    assert_int_equal(rpl_message_ids_next(&stamps, &channel, &stamp), 0);
    return stamp;
}

/* Both ends count alike, also those of messages to oneself. */
static void test_ends(void **state)
{
    (void)state;
    uint64_t first = next(1, 1, 5, true), second = next(1, 1, 5, true);
    assert_int_not_equal(first, second);
    assert_int_equal(next(1, 1, 5, false), first);
    assert_int_equal(next(1, 1, 5, false), second);
    rpl_message_ids_release(&stamps);
}

static void test_channels_differ(void **state)
{
    (void)state;
    uint64_t one = next(1, 2, 5, true);
    assert_int_not_equal(next(1, 2, 6, true), one);
    assert_int_not_equal(next(2, 1, 5, true), one);
    assert_int_not_equal(next(1, 3, 5, true), one);
    rpl_message_ids_release(&stamps);
}

static void test_sizes(void **state)
{
    (void)state;
    const uint64_t stamp = UINT64_C(0x1122334455667788), other = stamp ^ UINT64_MAX;
    for (int64_t bytes = -1; bytes < 20; bytes++) {
        unsigned char buffer[20];
        memset(buffer, 0x5a, sizeof buffer);
        rpl_message_id_put(stamp, buffer, bytes);
        for (int64_t i = bytes < 0 ? 0 : bytes < 8 ? bytes : 8; i < 20; i++)
            assert_int_equal(buffer[i], 0x5a);
        assert_true(rpl_message_id_fits(stamp, buffer, bytes));
        assert_int_equal(rpl_message_id_fits(other, buffer, bytes), bytes <= 0);
    }
}

static void test_pool(void **state)
{
    (void)state;
    struct rpl_buffers pool = {{0}};
    void *small = rpl_buffers_take(&pool, 0), *large = rpl_buffers_take(&pool, 100000);
    assert_non_null(small);
    assert_non_null(large);
    assert_int_equal((uintptr_t)large % 64, 0);
    memset(small, 1, 64);
    memset(large, 1, 100000);
    rpl_buffers_give(&pool, large);
    rpl_buffers_give(&pool, NULL);
    assert_ptr_equal(rpl_buffers_take(&pool, 70000), large); /* of the same power of two */
    assert_null(rpl_buffers_take(&pool, INT64_MAX));
    rpl_buffers_give(&pool, large);
    rpl_buffers_give(&pool, small);
    rpl_buffers_release(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_channels_differ),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
