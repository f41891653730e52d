#include "reduce/columns/list_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct rfn_coder_memory memory; /* used by all, one after the other */
static uint64_t seed = 1;

static uint64_t noise(void) /* splitmix64 */
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void append(struct rfn_column *column, int64_t value, uint64_t times)
{
    for (uint64_t i = 0; i < times; i++)
        assert_int_equal(rfn_column_append(column, value), 0);
}

/* Noise, a long run, noise, in several blocks. */
static void fill(struct rfn_column *column, uint64_t run)
{
    rfn_column_init(column);
    for (int i = 0; i < 5000; i++)
        append(column, (int64_t)(noise() % 5), 1);
    append(column, 3, run);
    for (int i = 0; i < 5000; i++)
        append(column, (int64_t)(noise() % 5), 1);
}

static void expect_equal(struct rfn_list_cursor *list, const struct rfn_column *column)
{
    struct rfn_column_cursor expected;
    rfn_column_open_growing(&expected, column);
    assert_int_equal(list->column.n, column->n);
    for (uint64_t i = 0; i < column->n; i++) {
        int64_t value, read;
        assert_int_equal(rfn_column_next(&expected, &value), 0);
        assert_int_equal(rfn_list_next(list, &read), 0);
        assert_int_equal(read, value);
    }
    int64_t none;
    assert_int_equal(rfn_list_next(list, &none), RFN_E_RANGE);
    rfn_column_close(&expected);
}

static void open_list(struct rfn_list_cursor *list, const struct rfn_buf *bytes,
                      struct rfn_list_cursor *guide)
{
    struct rfn_reader reader = rfn_reader_over(bytes->data, bytes->size);
    assert_int_equal(rfn_column_open(&list->column, &reader), 0);
    assert_int_equal(rfn_reader_left(&reader), 0);
    list->guide = guide;
}

/* A list, one that follows from it, and one that follows from that. */
static void test_guides_of_guides(void **state)
{
    (void)state;
    struct rfn_column columns[3];
    struct rfn_buf bytes[3] = {RFN_BUF_INIT, RFN_BUF_INIT, RFN_BUF_INIT};
    struct rfn_list_cursor lists[3];
    fill(&columns[0], 20000);
    for (int k = 1; k < 3; k++) {
        struct rfn_column_cursor before;
        int64_t value;
        rfn_column_init(&columns[k]);
        rfn_column_open_growing(&before, &columns[k - 1]);
        while (rfn_column_next(&before, &value) == 0)
            append(&columns[k], (int64_t[]){2, 0, 4, 3, 1}[value], 1);
        rfn_column_close(&before);
    }
    for (int k = 0; k < 3; k++)
        assert_int_equal(
            rfn_list_pack(NULL, &columns[k], k ? &columns[k - 1] : NULL, &memory, &bytes[k]), 0);
    assert_true(bytes[1].size < bytes[0].size / 20 && bytes[2].size < bytes[0].size / 20);
    for (int k = 0; k < 3; k++)
        open_list(&lists[k], &bytes[k], k ? &lists[k - 1] : NULL);
    expect_equal(&lists[2], &columns[2]);
    for (int k = 0; k < 3; k++) {
        rfn_column_close(&lists[k].column);
        rfn_column_release(&columns[k]);
        rfn_buf_release(&bytes[k]);
    }
}

/* What is no list is written as ever; a guide of another length is none. */
static void test_plain_lists(void **state)
{
    (void)state;
    struct rfn_column column, guide;
    rfn_column_init(&guide);
    append(&guide, 1, 9);
    for (uint64_t run = 0; run <= 100000; run += 50000) {
        struct rfn_buf bytes = RFN_BUF_INIT;
        struct rfn_list_cursor list;
        fill(&column, run);
        assert_int_equal(rfn_list_pack(NULL, &column, &guide, &memory, &bytes), 0);
        open_list(&list, &bytes, NULL);
        expect_equal(&list, &column);
        rfn_column_close(&list.column);
        rfn_column_release(&column);
        rfn_buf_release(&bytes);
    }
    struct rfn_buf bytes = RFN_BUF_INIT, as_ever = RFN_BUF_INIT;
    assert_int_equal(rfn_list_pack(NULL, &guide, NULL, &memory, &bytes), 0);
    rfn_column_write(&guide, &as_ever);
    assert_int_equal(bytes.size, as_ever.size);
    assert_memory_equal(bytes.data, as_ever.data, bytes.size);
    rfn_buf_release(&bytes);
    rfn_buf_release(&as_ever);
    rfn_column_release(&guide);
}

/* A guide that ends before the list does. */
static void test_short_guide(void **state)
{
    (void)state;
    struct rfn_column column, guide;
    struct rfn_buf bytes = RFN_BUF_INIT, guide_bytes = RFN_BUF_INIT;
    struct rfn_list_cursor list, guides;
    int64_t value;
    fill(&column, 0);
    rfn_column_init(&guide);
    append(&guide, 1, 9);
    rfn_column_write(&guide, &guide_bytes);
    assert_int_equal(rfn_list_pack(NULL, &column, &column, &memory, &bytes), 0);
    open_list(&guides, &guide_bytes, NULL);
    open_list(&list, &bytes, &guides);
    assert_int_equal(rfn_list_next(&list, &value), RFN_E_CORRUPT);
    rfn_column_close(&list.column);
    rfn_column_close(&guides.column);
    rfn_buf_release(&bytes);
    rfn_buf_release(&guide_bytes);
    rfn_column_release(&column);
    rfn_column_release(&guide);
}

/* ---- lists that are coded while they grow ---- */

/* The first n values of the column are coded, the others follow in the end: the same as if all did;
 * the column that follows says in vain that there is a guide. Bytes held, at most `most`. */
static void expect_same(const struct rfn_column *column, uint64_t n, size_t most)
{
    struct rfn_list_writer coded = {0};
    struct rfn_column rest;
    struct rfn_column_cursor cursor;
    struct rfn_buf with = RFN_BUF_INIT, again = RFN_BUF_INIT, without = RFN_BUF_INIT;
    int64_t value = 0;
    rfn_column_init(&rest);
    rfn_column_open_growing(&cursor, column);
    for (uint64_t i = 0; i < column->n; i++) {
        assert_int_equal(rfn_column_next(&cursor, &value), 0);
        if (i < n)
            assert_int_equal(rfn_list_put(&coded, value, &memory), 0);
        else
            append(&rest, value, 1);
    }
    rfn_column_close(&cursor);
    assert_int_equal(coded.n, n);
    assert_true(rfn_list_bytes(&coded) <= most);
    assert_int_equal(rfn_list_pack(&coded, &rest, NULL, &memory, &with), 0);
    assert_int_equal(rfn_list_pack(&coded, &rest, NULL, &memory, &again), 0); /* it is unchanged */
    assert_int_equal(rfn_list_pack(NULL, column, NULL, &memory, &without), 0);
    assert_int_equal(with.size, without.size);
    assert_memory_equal(with.data, without.data, with.size);
    assert_int_equal(again.size, without.size);
    assert_memory_equal(again.data, without.data, with.size);
    rfn_buf_release(&with);
    rfn_buf_release(&again);
    rfn_buf_release(&without);
    rfn_list_release(&coded);
    rfn_column_release(&rest);
}

/* Whatever part of a list is coded before the end, the list is the same. */
static void test_coded(void **state)
{
    (void)state;
    enum { RUNS = 5 };
    static const uint64_t runs[RUNS] = {0, 3000, 4095, 8192, 20000};
    for (int i = 0; i < RUNS; i++) {
        struct rfn_column column;
        fill(&column, runs[i]);
        for (uint64_t n = 0; n <= column.n; n += 1 + noise() % 3000)
            expect_same(&column, n, 8 * column.n);
        expect_same(&column, column.n, 8 * column.n);
        rfn_column_release(&column);
    }
}

/* Nothing but zeros, also on the way there, and a run of exactly one block. */
static void test_coded_runs(void **state)
{
    (void)state;
    static const struct {
        int64_t first, second;
    } values[] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct rfn_column column;
        rfn_column_init(&column);
        append(&column, values[i].first, RFN_COLUMN_BLOCK);
        append(&column, values[i].second, RFN_COLUMN_BLOCK + i);
        for (uint64_t n = 0; n <= column.n; n += 512)
            expect_same(&column, n, SIZE_MAX);
        struct rfn_buf bytes = RFN_BUF_INIT;
        struct rfn_list_cursor list;
        assert_int_equal(rfn_list_pack(NULL, &column, NULL, &memory, &bytes), 0);
        open_list(&list, &bytes, NULL);
        expect_equal(&list, &column);
        rfn_column_close(&list.column);
        rfn_buf_release(&bytes);
        rfn_column_release(&column);
    }
}

static int release_memory(void **state)
{
    (void)state;
    rfn_coder_memory_release(&memory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guides_of_guides), cmocka_unit_test(test_plain_lists),
        cmocka_unit_test(test_short_guide),      cmocka_unit_test(test_coded),
        cmocka_unit_test(test_coded_runs),
    };
    return cmocka_run_group_tests(tests, NULL, release_memory);
}
