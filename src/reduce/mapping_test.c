#include "reduce/mapping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { N = 7 };

static const struct rfn_fate fates[N] = {{3, 1}, {4, 1}, {5, 1}, {6, 0}, {0, 2}, {1, 2}, {9, 3}};

static struct rfn_buf written(void)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_fates_write(fates, N, &bytes);
    return bytes;
}

/* Consecutive numbers take no more bytes for being many. */
static void test_runs(void **state)
{
    (void)state;
    static struct rfn_fate many[1000], read[1000];
    struct rfn_buf bytes = RFN_BUF_INIT;
    for (size_t i = 0; i < 1000; i++)
        many[i] = (struct rfn_fate){i + 5, 1};
    rfn_fates_write(many, 1000, &bytes);
    assert_int_equal(bytes.size, 3);
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_fates_read(read, 1000, 1005, &reader), 0);
    for (size_t i = 0; i < 1000; i++)
        assert_true(read[i].number == i + 5 && read[i].bits == 1);
    rfn_buf_release(&bytes);
}

static void test_fates(void **state)
{
    (void)state;
    struct rfn_fate read[N];
    struct rfn_buf bytes = written();
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_fates_read(read, N, 10, &reader), 0);
    assert_int_equal(rfn_reader_left(&reader), 0);
    for (size_t i = 0; i < N; i++)
        assert_true(read[i].number == fates[i].number && read[i].bits == fates[i].bits);
    rfn_buf_release(&bytes);
}

/* Too few bytes, too many things, numbers that there are not. */
static void test_malformed(void **state)
{
    (void)state;
    struct rfn_fate read[N];
    struct rfn_buf bytes = written();
    for (size_t size = 0; size < bytes.size; size++) {
        struct rfn_reader reader = rfn_reader_over(bytes.data, size);
        assert_int_equal(rfn_fates_read(read, N, 10, &reader), RFN_E_EXCHANGE);
    }
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_fates_read(read, N, 9, &reader), RFN_E_EXCHANGE);
    reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_fates_read(read, 2, 10, &reader), RFN_E_EXCHANGE);
    rfn_buf_release(&bytes);
}

static void test_runs_of_places(void **state)
{
    (void)state;
    struct rfn_mapping mapping = {0};
    assert_int_equal(rfn_mapping_add(&mapping, 17, true), 0);
    assert_true(mapping.things[0].to == 17 && mapping.things[0].created);
    assert_int_equal(rfn_mapping_add_run(&mapping, 5, 3), 0);
    assert_int_equal(mapping.n, 4);
    for (uint32_t i = 1; i < 4; i++)
        assert_true(mapping.things[i].to == 4 + i && !mapping.things[i].created);
    rfn_mapping_release(&mapping);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_fates),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_runs_of_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
