/* column_lists.h - how the tables of refrain/columns.h are written down.
 *
 * A table is a list X(name, type, names, value): a line per column, whose value is an expression of
 * the row at hand. The list makes both the description of the columns and the code that writes a
 * row: they cannot disagree.
 */
#ifndef RFN_ANALYZE_COLUMNS_COLUMN_LISTS_H
#define RFN_ANALYZE_COLUMNS_COLUMN_LISTS_H

#include "refrain/columns.h"

#define RFN_COLUMN_INFO(name, type, names, value) {#name, RFN_COLUMN_##type, RFN_NAMES_##names},

/* Writes a value to row `at` of the column at *next, and goes on to the next column. */
#define RFN_COLUMN_PUT(name, type, names, value) \
    rfn_column_put_##type(*next++, at, (int64_t)(value));

static inline void rfn_column_put_INT32(void *column, size_t at, int64_t value)
{
    if (column)
        ((int32_t *)column)[at] = value > INT32_MAX   ? INT32_MAX
                                  : value < INT32_MIN ? INT32_MIN
                                                      : (int32_t)value;
}

static inline void rfn_column_put_INT64(void *column, size_t at, int64_t value)
{
    if (column)
        ((int64_t *)column)[at] = value;
}

struct rfn_column_list {
    const struct rfn_column_info *columns;
    uint32_t n;
};

#define RFN_COLUMN_LIST(columns)                                 \
    {                                                            \
        columns, (uint32_t)(sizeof(columns) / sizeof *(columns)) \
    }

extern const struct rfn_column_list rfn_event_columns, rfn_message_columns, rfn_thread_columns;
/* By enum rfn_column_table; empty of these. */
extern const struct rfn_column_list rfn_result_columns[RFN_COLUMNS_TABLES];

#endif
