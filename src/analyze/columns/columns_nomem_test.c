/* Tables out of memory: of all allocations each fails once, and nothing is left behind. */
#include "support/fake_columns.h"

#include "support/fail_each.h"

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, AS = RFN_AS_POSTED };

static void *const *take(void *context, size_t n)
{
    (void)context;
    assert_true(n > 0);
    return arrays;
}

static int read_events(struct rfn_diag *diag)
{
    struct rfn_event_rows *rows;
    int n;
    show(RFN_COLUMNS_EVENTS);
    RFN_TRY(rfn_event_rows_open(&fake, NULL, &rows, diag));
    while ((n = rfn_event_rows_next(rows, arrays, 3, diag)) > 0)
        ;
    rfn_event_rows_close(rows);
    return n;
}

static int read_results(struct rfn_diag *diag)
{
    struct rfn_result_rows *rows;
    RFN_TRY(rfn_result_rows_new(&fake, NULL, &rows, diag));
    int error = rfn_result_rows_error(rows, diag);
    for (int i = RFN_COLUMNS_PATHS; i < RFN_COLUMNS_TABLES; i++) {
        const enum rfn_column_table table = (enum rfn_column_table)i;
        assert_true(rfn_result_rows_count(rows, table) <= MOST_ROWS);
        show(table);
        rfn_result_rows_fill(rows, table, arrays);
    }
    rfn_result_rows_free(rows);
    return error;
}

static int read_tables(const void *of)
{
    (void)of;
    struct rfn_diag diag = {.text = ""};
    RFN_TRY(read_events(&diag));
    show(RFN_COLUMNS_MESSAGES);
    int error = rfn_message_rows(&fake, arrays, 1, take, NULL, &diag);
    if (!error)
        error = read_results(&diag);
    return error;
}

static void test_memory(void **state)
{
    (void)state;
    fake_reset();
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, INIT, 0, 0, 10, 0);
    EVENT(0, SEND_, 2, 500, 510, PLAIN, 100, BYTE, 1, 7, WORLD);
    EVENT(1, RECV_, 3, 100, 530, PLAIN, 400, BYTE, 0, 7, WORLD, AS, AS, 100);
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, FINALIZE, 6, 990, 1000, 0);
    fail_each(20, read_tables, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
