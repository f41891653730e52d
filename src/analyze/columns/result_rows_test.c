/* Results as columns, and what tables say about themselves, of a run that is worked out by hand. */
#include "refrain/waits.h"
#include "support/fake_columns.h"

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, AS = RFN_AS_POSTED };

static struct rfn_result_rows *results;

/* Rank 0 sends 100 bytes to rank 1 late, in region 1; all meet in two barriers. */
static int setup(void **state)
{
    (void)state;
    fake_reset();
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, INIT, 0, 0, 10, 0);
    EVENT(0, BEGIN, 1, 20, 20, 1);
    EVENT(0, SEND_, 2, 500, 510, PLAIN, 100, BYTE, 1, 7, WORLD);
    EVENT(0, END, 1, 520, 520, 1);
    EVENT(1, RECV_, 3, 100, 530, PLAIN, 400, BYTE, 0, 7, WORLD, AS, AS, 100);
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        EVENT(rank, BARRIER, 4, 600, 610, WORLD);
        EVENT(rank, BARRIER, 5, 700, 720, WORLD);
        EVENT(rank, FINALIZE, 6, 990, 1000, 0);
    }
    assert_int_equal(rfn_result_rows_new(&fake, NULL, &results, NULL), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_result_rows_free(results);
    return 0;
}

static size_t fill(enum rfn_column_table table)
{
    show(table);
    rfn_result_rows_fill(results, table, arrays);
    return rfn_result_rows_count(results, table);
}

static size_t row_of(const char *column, int64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (cell(column, i) == value)
            return i;
    }
    fail_msg("no row with %s %lld", column, (long long)value);
    return 0;
}

static void test_paths(void **state)
{
    (void)state;
    const size_t n = fill(RFN_COLUMNS_PATHS), recv = row_of("path", 3, n);
    assert_int_equal(n, 6);
    assert_int_equal(cell("function", recv), FAKE_RECV_);
    assert_int_equal(cell("calls", recv), 1);
    assert_int_equal(cell("total_ns", recv), 430);
    assert_int_equal(cell("waiting_ns", recv), 400);
    assert_int_equal(cell("received_bytes", recv), 100);
    assert_int_equal(cell("most_rank", recv), 1);
}

static void test_functions(void **state)
{
    (void)state;
    const size_t n = fill(RFN_COLUMNS_FUNCTIONS), barrier = row_of("function", FAKE_BARRIER, n);
    assert_int_equal(n, 5);
    expect_column("function", FAKE_RECV_); /* most time */
    assert_int_equal(cell("paths", barrier), 2);
    assert_int_equal(cell("calls", barrier), 8);
    assert_int_equal(cell("total_ns", barrier), 4 * 30);
    assert_int_equal(cell("shortest_ns", barrier), 10);
    assert_int_equal(cell("longest_ns", barrier), 20);
}

static void test_ranks(void **state)
{
    (void)state;
    assert_int_equal(fill(RFN_COLUMNS_RANKS), FAKE_RANKS);
    expect_column("rank", 0, 1, 2, 3);
    expect_column("messages", 1, 0, 0, 0);
    expect_column("sent_bytes", 100, 0, 0, 0);
    expect_column("mpi_ns", 60, 480, 50, 50);
    expect_column("waiting_ns", 0, 400, 0, 0);
    expect_column("outside_ns", 940, 520, 950, 950);
    expect_column("setup_ns", 20, 20, 20, 20);
}

static void test_regions_and_pairs(void **state)
{
    (void)state;
    assert_int_equal(fill(RFN_COLUMNS_REGIONS), 1);
    expect_column("region", 1);
    expect_column("visits", 1);
    expect_column("total_ns", 500);
    expect_column("mpi_ns", 10);
    assert_int_equal(fill(RFN_COLUMNS_PAIRS), 1);
    expect_column("source", 0);
    expect_column("dest", 1);
    expect_column("messages", 1);
    expect_column("bytes", 100);
}

static void test_waits(void **state)
{
    (void)state;
    assert_int_equal(fill(RFN_COLUMNS_WAITS), 1);
    expect_column("pattern", RFN_LATE_SENDER);
    expect_column("function", FAKE_RECV_);
    expect_column("path", 3);
    expect_column("count", 1);
    expect_column("total_ns", 400);
    assert_int_equal(fill(RFN_COLUMNS_WAITS_BY_RANK), 1);
    expect_column("rank", 1);
    expect_column("total_ns", 400);
}

/* Rank 0 computes up to its region and inside of it. */
static void test_causes(void **state)
{
    (void)state;
    const size_t n = fill(RFN_COLUMNS_CAUSES);
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += cell("total_ns", i);
        assert_int_equal(cell("pattern", i), RFN_LATE_SENDER);
        assert_int_equal(cell("waited_path", i), 3);
        assert_int_equal(cell("costliest_rank", i), 0);
        assert_int_equal(cell("activity", i), RFN_ACTIVITY_COMPUTE);
        const bool inside = cell("function", i) == FAKE_SEND_;
        assert_true(inside || cell("function", i) == FAKE_BEGIN);
        assert_int_equal(cell("region", i), inside ? 1 : -1);
    }
    assert_int_equal(sum, 400);
}

/* Results of a region count calls inside of it alone. */
static void test_region(void **state)
{
    (void)state;
    rfn_result_rows_free(results);
    assert_int_equal(rfn_result_rows_new(&fake, "solve", &results, NULL), 0);
    assert_int_equal(fill(RFN_COLUMNS_PATHS), 1);
    expect_column("path", 2);
}

static void test_errors(void **state)
{
    (void)state;
    struct rfn_diag diag = {.text = ""};
    assert_int_equal(rfn_result_rows_error(results, &diag), 0);
    rfn_result_rows_free(results);
    fake.streams[2].fails_with = RFN_E_CORRUPT;
    assert_int_equal(rfn_result_rows_new(&fake, NULL, &results, &diag), 0);
    assert_int_equal(rfn_result_rows_error(results, &diag), RFN_E_CORRUPT);
    assert_string_equal(diag.text, "broken");
    assert_int_equal(fill(RFN_COLUMNS_RANKS), FAKE_RANKS);
}

static void test_threads(void **state)
{
    (void)state;
    fake.run.streams = FAKE_RANKS + 1;
    show(RFN_COLUMNS_THREADS);
    rfn_thread_rows(&fake, arrays);
    expect_column("rank", 0, 1, 2, 3, 0);
    expect_column("thread", 0, 0, 0, 0, 1);
    expect_column("host", 0, 0, 0, 1, 1);
    expect_column("events", 7, 5, 4, 4, 0);
    assert_int_equal(rfn_result_rows_count(results, RFN_COLUMNS_THREADS), 0);
}

/* ---- what tables say about themselves ---- */

static void test_names(void **state)
{
    (void)state;
    const struct {
        enum rfn_column_names names;
        uint32_t code;
        const char *name;
    } cases[] = {{RFN_NAMES_FUNCTIONS, FAKE_BARRIER, "MPI_Barrier"},
                 {RFN_NAMES_FUNCTIONS, N_FAKE_FUNCTIONS, NULL},
                 {RFN_NAMES_REGIONS, 1, "solve"},
                 {RFN_NAMES_REGIONS, 3, NULL},
                 {RFN_NAMES_PATTERNS, RFN_LATE_SENDER, "late_sender"},
                 {RFN_NAMES_HOSTS, 1, "south"},
                 {RFN_NAMES_HOSTS, UINT32_MAX, NULL},
                 {RFN_NAMES_MODES, RFN_SEND_READY, "ready"},
                 {RFN_NAMES_ACTIVITIES, RFN_ACTIVITY_START, "start"},
                 {RFN_NAMES_PATHS, 0, NULL},
                 {RFN_NAMES_NONE, 0, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = rfn_columns_name(&fake, cases[i].names, cases[i].code);
        assert_true(cases[i].name ? name && strcmp(name, cases[i].name) == 0 : !name);
    }
    assert_int_equal(rfn_columns_codes(&fake, RFN_NAMES_PATHS), 9);
    assert_int_equal(rfn_columns_codes(&fake, RFN_NAMES_NONE), 0);
    assert_int_equal(rfn_columns_version(), RFN_COLUMNS_VERSION);
}

static void test_columns(void **state)
{
    (void)state;
    for (int table = 0; table < RFN_COLUMNS_TABLES; table++) {
        const struct rfn_column_info *columns;
        const uint32_t n = rfn_columns_of((enum rfn_column_table)table, &columns);
        assert_true(n >= 4 && n <= MOST_COLUMNS);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t k = 0; k < i; k++)
                assert_string_not_equal(columns[i].name, columns[k].name);
        }
    }
    const struct rfn_column_info *none;
    assert_int_equal(rfn_columns_of(RFN_COLUMNS_TABLES, &none), 0);
}

static void test_facts(void **state)
{
    (void)state;
    struct rfn_fact fact;
    uint32_t n = 0, seen = 0;
    fake.run.resolution_ns = 0.5;
    fake.run.file_bytes = 1234;
    while (rfn_run_fact(&fake, n++, &fact)) {
        if (strcmp(fact.name, "program") == 0)
            seen += fact.type == RFN_FACT_TEXT && strcmp(fact.text, "./fake") == 0;
        else if (strcmp(fact.name, "ranks") == 0 || strcmp(fact.name, "streams") == 0)
            seen += fact.type == RFN_FACT_NUMBER && fact.number == 4;
        else if (strcmp(fact.name, "file_bytes") == 0)
            seen += fact.type == RFN_FACT_NUMBER && fact.number == 1234;
        else if (strcmp(fact.name, "times") == 0)
            seen += fact.type == RFN_FACT_TRUTH && fact.number == 1;
        else if (strcmp(fact.name, "resolution_ns") == 0)
            seen += fact.type == RFN_FACT_REAL && fact.real > 0.4 && fact.real < 0.6;
        else if (strcmp(fact.name, "similar") == 0)
            seen += fact.type == RFN_FACT_TEXT && !fact.text;
    }
    assert_int_equal(seen, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_paths), TEST(test_functions), TEST(test_ranks),   TEST(test_regions_and_pairs),
        TEST(test_waits), TEST(test_causes),    TEST(test_region),  TEST(test_errors),
        TEST(test_names), TEST(test_columns),   TEST(test_threads), TEST(test_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
