/* expect_column.h - for tests: what is in a column. To be included after cmocka.h. */
#ifndef RFN_TESTS_SUPPORT_EXPECT_COLUMN_H
#define RFN_TESTS_SUPPORT_EXPECT_COLUMN_H

#include "reduce/columns/column.h"

static inline void expect_column(const struct rfn_column *column, size_t n, const int64_t *values)
{
    struct rfn_column_cursor cursor;
    int64_t value;
    assert_int_equal(column->n, n);
    rfn_column_open_growing(&cursor, column);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rfn_column_next(&cursor, &value), 0);
        assert_int_equal(value, values[i]);
    }
    rfn_column_close(&cursor);
}

#endif
