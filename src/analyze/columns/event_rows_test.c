/* Events as columns, of runs that are small enough to be worked out by hand. */
#include "support/fake_columns.h"

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, DOUBLE = 1, WORLD = 0, AS = RFN_AS_POSTED };

static int setup(void **state)
{
    (void)state;
    fake_reset();
    show(RFN_COLUMNS_EVENTS);
    return 0;
}

/* All rows of a choice at once. */
static int read_all(const struct rfn_event_choice *choice)
{
    struct rfn_event_rows *rows;
    assert_int_equal(rfn_event_rows_open(&fake, choice, &rows, NULL), 0);
    const int n = rfn_event_rows_next(rows, arrays, MOST_ROWS, NULL);
    if (n > 0)
        assert_int_equal(rfn_event_rows_next(rows, arrays, MOST_ROWS, NULL), 0);
    rfn_event_rows_close(rows);
    return n;
}

/* Rank 0 sends 3 doubles to rank 1, which asks for any; both exchange with each other. */
static void write_messages(void)
{
    EVENT(0, SEND_, 1, 10, 20, PLAIN, 3, DOUBLE, 1, 7, WORLD);
    EVENT(0, SENDRECV, 2, 30, 45, PLAIN, 2, BYTE, 1, 8, PLAIN, 9, BYTE, 1, 9, WORLD, AS, AS, 5);
    EVENT(1, RECV_, 3, 5, 25, PLAIN, 9, DOUBLE, RFN_ANY, RFN_ANY, WORLD, 0, 7, 24);
    EVENT(1, BARRIER, 4, 50, 51, WORLD);
}

static void test_messages(void **state)
{
    (void)state;
    write_messages();
    assert_int_equal(read_all(NULL), 4);
    expect_column("rank", 0, 0, 1, 1);
    expect_column("thread", 0, 0, 0, 0);
    expect_column("index", 0, 1, 0, 1);
    expect_column("function", FAKE_SEND_, FAKE_SENDRECV, FAKE_RECV_, FAKE_BARRIER);
    expect_column("path", 1, 2, 3, 4);
    expect_column("enter_ns", 10, 30, 5, 50);
    expect_column("exit_ns", 20, 45, 25, 51);
    expect_column("inside_ns", 10, 15, 20, 1);
    expect_column("calls", 1, 1, 1, 1);
    expect_column("bytes", 24, 5, 24, 0);
    expect_column("sent_bytes", 24, 2, 0, 0);
    expect_column("received_bytes", 0, 5, 24, 0);
    expect_column("peer", 1, 1, 0, -1);
    expect_column("source", -1, 1, 0, -1);
    expect_column("tag", 7, 8, 7, -1);
    expect_column("comm", WORLD, WORLD, WORLD, WORLD);
    expect_column("region", -1, -1, -1, -1);
}

/* Ranks of other communicators are told as ranks of the world: rank 1 of communicator 2 is 3. */
static void test_world_ranks(void **state)
{
    (void)state;
    EVENT(1, SEND_, 0, 0, 1, PLAIN, 1, BYTE, 1, 7, 2);
    EVENT(3, RECV_, 0, 0, 1, PLAIN, 1, BYTE, 0, 7, 2, AS, AS, AS);
    EVENT(3, IRECV, 0, 2, 3, PLAIN, 1, BYTE, RFN_ANY, RFN_ANY, 2);
    EVENT(3, SEND_, 0, 4, 5, PLAIN, 1, BYTE, RFN_PROC_NULL, 7, WORLD);
    EVENT(3, PUT, 0, 6, 7, PLAIN, 3, DOUBLE, 1, 0);
    assert_int_equal(read_all(NULL), 5);
    expect_column("peer", 3, 1, -1, -1, -1);
    expect_column("target", -1, -1, -1, -1, 1);
    expect_column("tag", 7, 7, -1, 7, -1);
    expect_column("comm", 2, 2, 2, WORLD, -1);
}

/* Traffic kept for a symbol is not used for another stream, nor for events that vary. */
static void test_kept(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        EVENT(0, SEND_, 1, i, i, PLAIN, 10, BYTE, 1, 7, WORLD)->symbol = 0;
        struct rfn_record *varies = EVENT(0, SEND_, 1, i, i, PLAIN, 20 + i, BYTE, 1, 7, WORLD);
        varies->symbol = 5;
        varies->varying = 2;
        EVENT(1, SEND_, 1, i, i, PLAIN, 30, BYTE, 0, 7, WORLD)->symbol = 0;
    }
    assert_int_equal(read_all(NULL), 9);
    expect_column("bytes", 10, 20, 10, 21, 10, 22, 30, 30, 30);
}

static void test_polls_and_regions(void **state)
{
    (void)state;
    struct rfn_record *polls = EVENT(0, IPROBE, 0, 0, 90, 1, 7, WORLD, AS, AS, AS);
    polls->failed_poll = true;
    polls->polls = 40;
    polls->inside_ns = 60;
    EVENT(0, BEGIN, 0, 95, 95, 1);
    EVENT(0, END, 0, 96, 96, 99); /* there is no region 99 */
    EVENT(0, BARRIER, 0, 97, 97, WORLD)->error = RFN_ERROR_LEFT;
    assert_int_equal(read_all(NULL), 4);
    expect_column("calls", 40, 1, 1, 1);
    expect_column("unsuccessful", 1, 0, 0, 0);
    expect_column("inside_ns", 60, 0, 0, 0);
    expect_column("region", -1, 1, -1, -1);
    expect_column("error", 0, 0, 0, -1);
}

/* ---- choices ---- */

static void test_ranks(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, BARRIER, rank, 0, 1, WORLD);
    const uint32_t ranks[] = {1, 3};
    assert_int_equal(read_all(&(struct rfn_event_choice){.ranks = ranks, .n_ranks = 2}), 2);
    expect_column("rank", 1, 3);
    assert_int_equal(read_all(&(struct rfn_event_choice){.ranks = ranks, .n_ranks = 0}), 0);
}

static void test_window(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        EVENT(0, BARRIER, 0, 10 * i, 10 * i + 5, WORLD);
    assert_int_equal(read_all(&(struct rfn_event_choice){
                         .from_given = true, .from_ns = 15, .to_given = true, .to_ns = 30}),
                     3);
    expect_column("enter_ns", 10, 20, 30);
    assert_int_equal(read_all(&(struct rfn_event_choice){.to_given = true, .to_ns = 9}), 1);
    assert_int_equal(read_all(&(struct rfn_event_choice){.from_given = true, .from_ns = 99}), 0);
    struct rfn_event_rows *rows;
    struct rfn_diag diag = {.text = ""};
    fake.run.times = false;
    assert_int_equal(
        rfn_event_rows_open(&fake, &(struct rfn_event_choice){.from_given = true}, &rows, &diag),
        RFN_E_UNSUPPORTED);
    assert_null(rows);
    assert_true(diag.text[0]);
}

/* Few rows at a time are the same ones, and columns that are not wanted are left alone. */
static void test_batches(void **state)
{
    (void)state;
    struct rfn_event_rows *rows;
    write_messages();
    for (uint32_t i = 0; i < MOST_COLUMNS; i++)
        arrays[i] = i == number_of("index") || i == number_of("bytes") ? cells[i] : NULL;
    assert_int_equal(rfn_event_rows_open(&fake, NULL, &rows, NULL), 0);
    assert_int_equal(rfn_event_rows_next(rows, arrays, 3, NULL), 3);
    expect_column("index", 0, 1, 0);
    expect_column("bytes", 24, 5, 24);
    assert_int_equal(rfn_event_rows_next(rows, arrays, 3, NULL), 1);
    expect_column("index", 1);
    assert_int_equal(rfn_event_rows_next(rows, arrays, 3, NULL), 0);
    assert_int_equal(rfn_event_rows_next(rows, arrays, 3, NULL), 0);
    rfn_event_rows_close(rows);
    assert_int_equal(cells[0][0], 0x7777777777777777);
}

/* Rank 1 cannot be opened, rank 2 breaks off, rank 3 cannot be sought: each is told once, behind
 * the rows before it, and the others follow. */
static void test_errors(void **state)
{
    (void)state;
    const struct rfn_event_choice choice = {.from_given = true};
    struct rfn_event_rows *rows;
    struct rfn_diag diag;
    for (uint32_t rank = 0; rank < 3; rank++)
        EVENT(rank, BARRIER, 0, 1, 2, WORLD);
    fake.streams[1].opens_with = RFN_E_CORRUPT;
    fake.streams[2].fails_with = RFN_E_INCOMPLETE;
    fake.streams[3].fails_with = RFN_E_IO;
    assert_int_equal(rfn_event_rows_open(&fake, &choice, &rows, NULL), 0);
    assert_int_equal(rfn_event_rows_next(rows, arrays, MOST_ROWS, &diag), 1);
    assert_int_equal(rfn_event_rows_next(rows, arrays, MOST_ROWS, &diag), RFN_E_CORRUPT);
    assert_int_equal(diag.rank, 1);
    assert_int_equal(diag.file_offset, 77);
    assert_int_equal(rfn_event_rows_next(rows, arrays, MOST_ROWS, &diag), 1);
    expect_column("rank", 2);
    assert_int_equal(rfn_event_rows_next(rows, arrays, MOST_ROWS, &diag), RFN_E_INCOMPLETE);
    assert_string_equal(diag.text, "broken");
    assert_int_equal(rfn_event_rows_next(rows, arrays, MOST_ROWS, &diag), RFN_E_IO);
    assert_int_equal(rfn_event_rows_next(rows, arrays, MOST_ROWS, &diag), 0);
    rfn_event_rows_close(rows);
    rfn_event_rows_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_messages, setup),
        cmocka_unit_test_setup(test_world_ranks, setup),
        cmocka_unit_test_setup(test_kept, setup),
        cmocka_unit_test_setup(test_polls_and_regions, setup),
        cmocka_unit_test_setup(test_ranks, setup),
        cmocka_unit_test_setup(test_window, setup),
        cmocka_unit_test_setup(test_batches, setup),
        cmocka_unit_test_setup(test_errors, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
