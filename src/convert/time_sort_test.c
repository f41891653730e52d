/* Records come out in the order of their times, whether they fit into memory or not. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "convert/time_sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct record {
    struct rfn_timed timed;
    uint64_t number;
};

/* n records with times from 0 to times - 1; each comes once, ties as they were added. */
static void sort_random(size_t memory, uint64_t n, int64_t times)
{
    struct rfn_time_sort *sort = rfn_time_sort_new(sizeof(struct record), memory);
    const void *next;
    uint64_t state = n, sum = 0, got = 0;
    struct record last = {{-1, 0}, 0};
    assert_non_null(sort);
    for (uint64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const struct record record = {{(int64_t)(state >> 33) % times, 0}, i};
        assert_int_equal(rfn_time_sort_add(sort, &record, NULL), 0);
        sum += i;
    }
    assert_int_equal(rfn_time_sort_records(sort), n);
    while (rfn_time_sort_next(sort, &next, NULL) > 0) {
        const struct record *record = next;
        assert_true(record->timed.ns > last.timed.ns ||
                    (record->timed.ns == last.timed.ns && record->number > last.number));
        assert_int_equal(record->timed.order, record->number);
        last = *record;
        sum -= record->number;
        got++;
    }
    assert_int_equal(got, n);
    assert_int_equal(sum, 0);
    rfn_time_sort_free(sort);
}

static void test_in_memory(void **state)
{
    (void)state;
    sort_random(1000, 0, 1);
    sort_random(1000, 1, 1);
    sort_random(1000, 1000, 50);
}

static void test_in_runs(void **state)
{
    (void)state;
    sort_random(1, 100, 7);
    sort_random(1000, 1001, 50);
    sort_random(1000, 100000, 5000);
    sort_random(999, 99900, 2);
}

static void test_without_a_folder(void **state)
{
    (void)state;
    const struct record record = {{0, 0}, 0};
    struct rfn_diag diag = {0};
    struct rfn_time_sort *sort = rfn_time_sort_new(sizeof record, 1);
    assert_non_null(sort);
    setenv("TMPDIR", "/nowhere", 1);
    assert_int_equal(rfn_time_sort_add(sort, &record, &diag), 0);
    assert_int_equal(rfn_time_sort_add(sort, &record, &diag), RFN_E_IO);
    assert_true(diag.text[0] != 0);
    unsetenv("TMPDIR");
    rfn_time_sort_free(sort);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_memory),
                                       cmocka_unit_test(test_in_runs),
                                       cmocka_unit_test(test_without_a_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
