/* Samples out of memory: of all allocations of packing and unpacking each fails once; they say so,
 * and leave nothing behind. Recording allocates nothing, nor does adding tables. */
#include "reduce/samples/sample_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/fail_each.h"

enum { CAPACITY = 64, MANY = 1000 };

static struct rfn_sample_table *make_table(void)
{
    void *memory = __real_calloc(1, rfn_sample_table_bytes(CAPACITY));
    assert_non_null(memory);
    return rfn_sample_table_init(memory, CAPACITY);
}

/* More categories than there is room for. */
static void record(struct rfn_sample_table *table)
{
    for (int32_t i = 0; i < MANY; i++) {
        const struct rfn_sample_key key = {i, i % 7, 1, 2, 3};
        const struct rfn_sample_values values = {.latency_ns = 1000 + i, .weight = 100};
        rfn_sample_row_sample(rfn_sample_table_row(table, &key), &values, true);
    }
}

static int pack_and_unpack(const void *table)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    struct rfn_sample_row *rows = NULL;
    size_t n_rows;
    uint64_t dropped[RFN_SAMPLE_DROPS];
    rfn_sample_table_pack((void *)(uintptr_t)table, &bytes);
    int error = rfn_buf_status(&bytes);
    if (!error)
        error = rfn_sample_rows_unpack(bytes.data, bytes.size, &rows, &n_rows, dropped);
    free(rows);
    rfn_buf_release(&bytes);
    return error;
}

static void test_nomem(void **state)
{
    (void)state;
    struct rfn_sample_table *table = make_table();
    record(table);
    assert_int_equal(fail_each(5, pack_and_unpack, table), 0);
    __real_free(table);
}

static void test_no_allocation(void **state)
{
    (void)state;
    struct rfn_sample_table *table = make_table(), *sum = make_table();
    struct rfn_buf bytes = RFN_BUF_INIT;
    record(table);
    rfn_sample_table_pack((void *)(uintptr_t)table, &bytes);
    allocations = 0;
    record(table);
    assert_true(table->generation > 0);
    rfn_sample_table_add(sum, table);
    assert_int_equal(rfn_sample_table_unpack(sum, bytes.data, bytes.size), 0);
    assert_int_equal(allocations, 0);
    rfn_buf_release(&bytes);
    __real_free(table);
    __real_free(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nomem),
        cmocka_unit_test(test_no_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
