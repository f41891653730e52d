#include "reduce/columns/column.h"

#include "support/spill_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { COLUMNS = 40, VALUES = 20000 };

struct columns {
    struct rfn_column items[COLUMNS];
};

static int each(void *context, int (*visit)(void *context, struct rfn_column *column),
                void *visitor)
{
    struct columns *columns = context;
    for (size_t i = 0; i < COLUMNS; i++)
        RFN_TRY(visit(visitor, &columns->items[i]));
    return 0;
}

/* The k-th value of a column. */
static int64_t value_at(uint64_t column, uint64_t k)
{
    uint64_t x = (column * VALUES + k + 1) * 0x9e3779b97f4a7c15;
    return (int64_t)(x >> 44);
}

static size_t bytes_of(const struct columns *columns)
{
    size_t bytes = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        bytes += rfn_column_bytes(&columns->items[i]);
    return bytes;
}

/* Fills all columns side by side, and looks at them now and then; the most that they took. */
static size_t fill(struct columns *columns, struct rfn_room *room)
{
    size_t most = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        rfn_column_init(&columns->items[i]);
    for (uint64_t k = 0; k < VALUES; k++) {
        for (size_t i = 0; i < COLUMNS; i++)
            assert_int_equal(rfn_column_append(&columns->items[i], value_at(i, k)), 0);
        if (k % 100 == 99)
            rfn_columns_keep_to(columns, each, room);
        size_t bytes = bytes_of(columns);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void check_and_release(struct columns *columns)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        struct rfn_column_cursor cursor;
        int64_t value;
        rfn_column_open_growing(&cursor, &columns->items[i]);
        for (uint64_t k = 0; k < VALUES; k++) {
            assert_int_equal(rfn_column_next(&cursor, &value), 0);
            assert_int_equal(value, value_at(i, k));
        }
        assert_int_equal(rfn_column_next(&cursor, &value), RFN_E_RANGE);
        rfn_column_close(&cursor);
        rfn_column_release(&columns->items[i]);
    }
}

static void test_room(void **state)
{
    (void)state;
    enum { ROOM = 200000 };
    struct columns columns;
    struct spill_model model;
    spill_model_init(&model);
    struct rfn_room room = {&model.spill, ROOM};
    /* Between two looks arrays may double, once. */
    assert_in_range(fill(&columns, &room), ROOM / 2, 2 * ROOM);
    assert_true(model.writes > 0);
    check_and_release(&columns);
    rfn_buf_release(&model.bytes);
}

static void test_no_limit(void **state)
{
    (void)state;
    struct columns columns;
    struct rfn_room room = {0};
    assert_true(fill(&columns, &room) > 1000000);
    check_and_release(&columns);
}

/* What cannot be written stays in memory, and nobody tries again. */
static void test_spill_fails(void **state)
{
    (void)state;
    struct columns columns;
    struct spill_model model;
    spill_model_init(&model);
    model.writes_left = 3;
    struct rfn_room room = {&model.spill, 200000};
    assert_true(fill(&columns, &room) > 1000000);
    assert_null(room.spill);
    assert_int_equal(model.writes, 3);
    check_and_release(&columns);
    rfn_buf_release(&model.bytes);
}

static void test_wanted(void **state)
{
    (void)state;
    struct columns columns;
    struct spill_model model;
    struct rfn_room none = {0};
    size_t freed, before;
    spill_model_init(&model);
    fill(&columns, &none);
    before = bytes_of(&columns);
    assert_int_equal(rfn_columns_spill(&columns, each, &model.spill, 300000, &freed), 0);
    assert_in_range(freed, 300000, 500000);
    assert_int_equal(before - bytes_of(&columns), freed);
    check_and_release(&columns);
    rfn_buf_release(&model.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_no_limit),
        cmocka_unit_test(test_spill_fails),
        cmocka_unit_test(test_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
