/* fake_columns.h - tables of a made-up archive (fake_archive.h), cell by cell. For one test program
 * each; FAKE_EVENTS is defined before.
 */
#ifndef RFN_TESTS_SUPPORT_FAKE_COLUMNS_H
#define RFN_TESTS_SUPPORT_FAKE_COLUMNS_H

#include "refrain/columns.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- the reader's functions that only tables use ---- */

static const char *const fake_hosts[] = {"north", "south"};

uint32_t rfn_archive_hosts(const struct rfn_archive *archive)
{
    (void)archive;
    return 2;
}

struct rfn_host_info rfn_archive_host(const struct rfn_archive *archive, uint32_t host)
{
    (void)archive;
    return (struct rfn_host_info){.name = fake_hosts[host]};
}

uint32_t rfn_archive_paths(const struct rfn_archive *archive)
{
    (void)archive;
    return 9;
}

int rfn_cursor_seek_time(struct rfn_cursor *cursor, int64_t ns, struct rfn_diag *diag)
{
    const struct fake_stream *stream = &cursor->archive->streams[cursor->stream];
    if (stream->n == 0 && stream->fails_with)
        return rfn_fail(diag, stream->fails_with, 88, (int)cursor->stream, "no mark");
    cursor->at = 0;
    while (cursor->at < stream->n && stream->events[cursor->at].record.exit_ns < ns)
        cursor->at++;
    return 0;
}

/* ---- cells ---- */

enum { MOST_COLUMNS = 32, MOST_ROWS = 128 };

static enum rfn_column_table shown;
static int64_t cells[MOST_COLUMNS][MOST_ROWS]; /* of either type */
static void *arrays[MOST_COLUMNS];

/* The table that cells are of: all of its columns are wanted. */
static inline void show(enum rfn_column_table table)
{
    const struct rfn_column_info *columns;
    const uint32_t n = rfn_columns_of(table, &columns);
    assert_true(n > 0 && n <= MOST_COLUMNS);
    shown = table;
    memset(cells, 0x77, sizeof cells);
    for (uint32_t i = 0; i < n; i++)
        arrays[i] = cells[i];
}

static inline uint32_t number_of(const char *name)
{
    const struct rfn_column_info *columns;
    const uint32_t n = rfn_columns_of(shown, &columns);
    uint32_t i = 0;
    while (i < n && strcmp(columns[i].name, name) != 0)
        i++;
    if (i == n)
        fail_msg("there is no column %s", name);
    return i;
}

static inline int64_t cell(const char *name, size_t row)
{
    const struct rfn_column_info *columns;
    const uint32_t i = number_of(name);
    rfn_columns_of(shown, &columns);
    return columns[i].type == RFN_COLUMN_INT32 ? ((int32_t *)arrays[i])[row]
                                               : ((int64_t *)arrays[i])[row];
}

/* The first rows of a column. */
#define expect_column(name, ...)                                                     \
    do {                                                                             \
        const int64_t expected_[] = {__VA_ARGS__};                                   \
        for (size_t row_ = 0; row_ < sizeof expected_ / sizeof *expected_; row_++) { \
            if (cell(name, row_) != expected_[row_])                                 \
                fail_msg("%s of row %zu is %lld, not %lld", name, row_,              \
                         (long long)cell(name, row_), (long long)expected_[row_]);   \
        }                                                                            \
    } while (0)

#endif
