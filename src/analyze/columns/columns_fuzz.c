/* Opens bytes as an archive and reads its tables: codes must have a name to be looked up, whatever
 * the file says.
 *
 * Built with -DRFN_FUZZING like archive/cursor/archive_fuzz.c, which tells what that changes. Seeds
 * are shared by all fuzzers that read archives. */
#include "archive/read/reader.h"
#include "refrain/columns.h"

#include <stdlib.h>
#include <string.h>

/* A few bytes can claim any number of iterations, or of ranks. */
enum { EVENTS = 1 << 12, RANKS = 1 << 12, ROWS = 64, COLUMNS = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Arrays for a table, and how many rows it has had. */
struct table {
    const struct rfn_archive *archive;
    const struct rfn_column_info *columns;
    uint32_t n_columns;
    void *arrays[COLUMNS];
    size_t rows;
};

static struct table table_new(const struct rfn_archive *archive, enum rfn_column_table number,
                              size_t rows)
{
    struct table table = {.archive = archive};
    table.n_columns = rfn_columns_of(number, &table.columns);
    for (uint32_t i = 0; i < table.n_columns; i++) {
        const bool narrow = table.columns[i].type == RFN_COLUMN_INT32;
        table.arrays[i] = malloc((rows + 1) * (narrow ? sizeof(int32_t) : sizeof(int64_t)));
        if (!table.arrays[i])
            abort();
    }
    return table;
}

static void check(const struct table *table, size_t n)
{
    for (uint32_t i = 0; i < table->n_columns; i++) {
        if (table->columns[i].names == RFN_NAMES_NONE)
            continue;
        const int64_t codes = rfn_columns_codes(table->archive, table->columns[i].names);
        for (size_t row = 0; row < n; row++) {
            const int32_t code = ((const int32_t *)table->arrays[i])[row];
            if (code < -1 || code >= codes)
                abort();
        }
    }
}

static void table_release(struct table *table)
{
    for (uint32_t i = 0; i < table->n_columns; i++)
        free(table->arrays[i]);
}

static bool is_time(int64_t ns)
{
    return ns > -(INT64_C(1) << 48) && ns < INT64_C(1) << 48;
}

/* Whether all three times of the rows are such that sums of them are numbers. */
static bool are_times(const struct table *table, size_t n)
{
    bool all = true;
    for (uint32_t i = 0; i < table->n_columns; i++) {
        const char *name = table->columns[i].name;
        if (strcmp(name, "enter_ns") != 0 && strcmp(name, "exit_ns") != 0 &&
            strcmp(name, "inside_ns") != 0)
            continue;
        for (size_t row = 0; row < n; row++)
            all &= is_time(((const int64_t *)table->arrays[i])[row]);
    }
    return all;
}

/* Whether the run is small, and its times are believable: then it can be analyzed. */
static bool read_events(const struct rfn_archive *archive)
{
    struct rfn_diag diag;
    struct rfn_event_rows *rows;
    struct table table = table_new(archive, RFN_COLUMNS_EVENTS, ROWS);
    bool fits = rfn_archive_run(archive)->ranks <= RANKS;
    int n = 0;
    if (rfn_event_rows_open(archive, NULL, &rows, &diag) < 0)
        abort();
    while (table.rows <= EVENTS && (n = rfn_event_rows_next(rows, table.arrays, ROWS, &diag))) {
        if (n < 0)
            continue;
        check(&table, (size_t)n);
        fits &= are_times(&table, (size_t)n);
        table.rows += (size_t)n;
    }
    fits &= table.rows <= EVENTS;
    rfn_event_rows_close(rows);
    table_release(&table);
    return fits;
}

static void *const *take(void *context, size_t n)
{
    struct table *table = context;
    check(table, n);
    table->rows += n;
    return table->rows < EVENTS ? table->arrays : NULL;
}

static void read_results(const struct rfn_archive *archive)
{
    struct rfn_diag diag;
    struct rfn_result_rows *rows;
    if (rfn_result_rows_new(archive, NULL, &rows, &diag) < 0)
        return;
    for (int i = 0; i < RFN_COLUMNS_TABLES; i++) {
        const enum rfn_column_table number = (enum rfn_column_table)i;
        const size_t n = rfn_result_rows_count(rows, number);
        struct table table = table_new(archive, number, n);
        rfn_result_rows_fill(rows, number, table.arrays);
        check(&table, n);
        table_release(&table);
    }
    rfn_result_rows_free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct rfn_archive *archive;
    struct rfn_diag diag;
    if (rfn_archive_open_memory(bytes, size, &archive, &diag) < 0)
        return 0;
    if (read_events(archive)) {
        struct table messages = table_new(archive, RFN_COLUMNS_MESSAGES, ROWS);
        (void)rfn_message_rows(archive, messages.arrays, ROWS, take, &messages, &diag);
        table_release(&messages);
        struct table threads = table_new(archive, RFN_COLUMNS_THREADS,
                                         rfn_archive_run(archive)->streams);
        rfn_thread_rows(archive, threads.arrays);
        check(&threads, rfn_archive_run(archive)->streams);
        table_release(&threads);
        read_results(archive);
    }
    rfn_archive_close(archive);
    return 0;
}
