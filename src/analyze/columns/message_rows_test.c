/* Messages as columns, of runs that are written down by hand. */
#include "refrain/match.h"
#include "support/fake_columns.h"

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, AS = RFN_AS_POSTED };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)

static int setup(void **state)
{
    (void)state;
    fake_reset();
    show(RFN_COLUMNS_MESSAGES);
    return 0;
}

/* What take was told, and how many batches it takes. */
struct taken {
    size_t n[8], batches, most;
};

static void *const *take(void *context, size_t n)
{
    struct taken *taken = context;
    taken->n[taken->batches++] = n;
    return taken->batches < taken->most ? arrays : NULL;
}

static void send(uint32_t rank, int64_t enter, int64_t dest, int64_t bytes)
{
    EVENT(rank, SEND_, 2, enter, enter + 10, PLAIN, bytes, BYTE, dest, 5, WORLD);
}

static void recv(uint32_t rank, int64_t enter, int64_t source)
{
    EVENT(rank, RECV_, 3, enter, enter + 30, PLAIN, 99, BYTE, source, 5, WORLD, AS, AS, AS);
}

static void test_ends(void **state)
{
    (void)state;
    struct taken taken = {.most = 8};
    EVENT(0, BARRIER, 0, 0, 1, WORLD);
    EVENT(0, ISEND, 4, 10, 11, PLAIN, 7, BYTE, 1, 6, WORLD);
    EVENT(0, WAIT, 5, 20, 25, RECENT(1), 0);
    EVENT(1, RECV_, 3, 15, 40, PLAIN, 99, BYTE, 0, 6, WORLD, AS, AS, AS);
    assert_int_equal(rfn_message_rows(&fake, arrays, MOST_ROWS, take, &taken, NULL), 0);
    assert_int_equal(taken.batches, 1);
    assert_int_equal(taken.n[0], 1);
    expect_column("source", 0);
    expect_column("dest", 1);
    expect_column("tag", 6);
    expect_column("comm", WORLD);
    expect_column("bytes", 7);
    expect_column("mode", RFN_SEND_STANDARD);
    expect_column("send_thread", 0);
    expect_column("send_index", 1);
    expect_column("send_function", FAKE_ISEND);
    expect_column("send_path", 4);
    expect_column("send_ns", 10);
    expect_column("send_end_index", 2);
    expect_column("send_end_path", 5);
    expect_column("send_end_ns", 25);
    expect_column("receive_index", 0);
    expect_column("receive_function", FAKE_RECV_);
    expect_column("receive_path", 3);
    expect_column("receive_ns", 15);
    expect_column("receive_end_index", 0);
    expect_column("receive_end_ns", 40);
}

/* Nobody knows when a request that was freed was over. */
static void test_freed(void **state)
{
    (void)state;
    struct taken taken = {.most = 8};
    EVENT(0, ISEND, 4, 10, 11, PLAIN, 7, BYTE, 1, 5, WORLD);
    EVENT(0, REQUEST_FREE, 0, 12, 13, RECENT(1));
    recv(1, 15, 0);
    assert_int_equal(rfn_message_rows(&fake, arrays, MOST_ROWS, take, &taken, NULL), 0);
    assert_int_equal(taken.n[0], 1);
    expect_column("send_ns", 10);
    expect_column("send_end_index", -1);
    expect_column("send_end_path", -1);
    expect_column("send_end_ns", -1);
}

static void write_five(void)
{
    for (int i = 0; i < 5; i++) {
        send(0, 100 * i, 1, i);
        recv(1, 100 * i, 0);
    }
}

static void test_batches(void **state)
{
    (void)state;
    struct taken taken = {.most = 8};
    write_five();
    assert_int_equal(rfn_message_rows(&fake, arrays, 2, take, &taken, NULL), 0);
    assert_int_equal(taken.batches, 3);
    assert_int_equal(taken.n[1], 2);
    assert_int_equal(taken.n[2], 1);
    expect_column("bytes", 4, 3);
}

static void test_ended(void **state)
{
    (void)state;
    struct taken taken = {.most = 1};
    write_five();
    assert_int_equal(rfn_message_rows(&fake, arrays, 2, take, &taken, NULL), 0);
    assert_int_equal(taken.batches, 1);
}

/* What there was before a stream broke off is handed over, and then the error is told. */
static void test_errors(void **state)
{
    (void)state;
    struct taken taken = {.most = 8};
    struct rfn_diag diag = {.text = ""};
    write_five();
    fake.streams[1].fails_with = RFN_E_CORRUPT;
    assert_int_equal(rfn_message_rows(&fake, arrays, MOST_ROWS, take, &taken, &diag),
                     RFN_E_CORRUPT);
    assert_string_equal(diag.text, "broken");
    assert_int_equal(taken.n[0], 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_ends, setup),    cmocka_unit_test_setup(test_freed, setup),
        cmocka_unit_test_setup(test_batches, setup), cmocka_unit_test_setup(test_ended, setup),
        cmocka_unit_test_setup(test_errors, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
