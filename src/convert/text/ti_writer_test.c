/* ti_writer_test.c - actions as lines: what waits are for, and calls among some ranks. */
#include "convert/text/ti_writer.h"

#include "convert/actions_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 4 };

static struct rfn_buf text;
static struct rfn_actions_summary summary;
static struct rfn_ti_writer writer;
static const int64_t *members; /* of communicator 1 */
static uint32_t n_members;

static const int64_t *find_members(const struct rfn_actions *actions, uint32_t comm, uint32_t *n)
{
    (void)actions;
    *n = comm == 1 ? n_members : 0;
    return comm == 1 ? members : NULL;
}

static struct rfn_actions source = {.n_ranks = RANKS, .comm = find_members};

static int setup(void **state)
{
    (void)state;
    text = (struct rfn_buf){0};
    summary = (struct rfn_actions_summary){0};
    writer = (struct rfn_ti_writer){.actions = &source,
                                    .rank = 1,
                                    .n_ranks = RANKS,
                                    .dialect = RFN_TEXT_SIMGRID,
                                    .summary = &summary,
                                    .text = &text};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_ti_writer_release(&writer);
    rfn_buf_release(&text);
    return 0;
}

static void post(enum rfn_action_kind kind, int64_t peer, int64_t tag, int64_t request)
{
    const struct rfn_action action = {
        .kind = kind, .peer = peer, .tag = tag, .bytes = 10, .request = request, .type_bytes = 1};
    assert_int_equal(rfn_ti_write(&writer, &action), 0);
}

static int wait_for(const int64_t *requests, size_t n)
{
    const struct rfn_action action = {
        .kind = RFN_ACTION_WAIT, .requests = requests, .n_requests = n, .blocks = true};
    return rfn_ti_write(&writer, &action);
}

/* The lines so far, terminated. */
static const char *written(void)
{
    rfn_buf_u8(&text, 0);
    text.size--;
    return (const char *)text.data;
}

/* But for the first one, init. */
static void lines(const char *expected)
{
    assert_string_equal(strchr(written(), '\n') + 1, expected);
}

static void test_wait_for_any_source(void **state)
{
    const int64_t requests[] = {7};
    (void)state;
    post(RFN_ACTION_RECV, RFN_ACTION_ANY, 3, 7);
    post(RFN_ACTION_SEND, 2, 3, 8);
    assert_int_equal(wait_for(requests, 1), 0);
    lines("1 irecv -555 3 10\n1 isend 2 3 10\n1 wait -555 1 3\n");
}

/* A request that a damaged archive lists more than once is waited for once. */
static void test_wait_listed_twice(void **state)
{
    const int64_t requests[] = {7, 7, 7, 9};
    (void)state;
    post(RFN_ACTION_RECV, 0, 3, 7);
    post(RFN_ACTION_SEND, 2, 3, 8);
    post(RFN_ACTION_SEND, 3, 3, 9);
    assert_int_equal(wait_for(requests, 4), 0);
    lines("1 irecv 0 3 10\n1 isend 2 3 10\n1 isend 3 3 10\n1 wait 0 1 3\n1 wait 1 3 3\n");
}

static void test_thesis_wait_listed_twice(void **state)
{
    const int64_t requests[] = {8, 8, 8, 8};
    (void)state;
    writer.dialect = RFN_TEXT_THESIS;
    post(RFN_ACTION_RECV, 0, 3, 7);
    post(RFN_ACTION_SEND, 2, 3, 8);
    assert_int_equal(wait_for(requests, 4), 0);
    lines("1 Irecv 0 10\n1 Isend 2 10\n1 wait\n");
}

static void test_wait_for_all(void **state)
{
    const int64_t requests[] = {7, 8};
    (void)state;
    post(RFN_ACTION_RECV, 0, 3, 7);
    post(RFN_ACTION_SEND, 2, 3, 8);
    assert_int_equal(wait_for(requests, 2), 0);
    assert_int_equal(wait_for(requests, 2), 0);
    lines("1 irecv 0 3 10\n1 isend 2 3 10\n1 waitall\n");
}

/* Lists are as long as the communicator; with ASan nothing behind them may be read. */
static void test_lists_of_some_ranks(void **state)
{
    static const int64_t two[] = {1, 2};
    int64_t *sizes = test_malloc(2 * sizeof *sizes);
    (void)state;
    sizes[0] = 5;
    sizes[1] = 6;
    members = two;
    n_members = 2;
    const struct rfn_action action = {.kind = RFN_ACTION_GATHERV,
                                      .blocks = true,
                                      .comm = 1,
                                      .bytes = 5,
                                      .receives = sizes,
                                      .request = -1,
                                      .type_bytes = 1};
    assert_int_equal(rfn_ti_write(&writer, &action), 0);
    assert_int_equal(summary.expanded, 1);
    assert_non_null(strstr(written(), "1 irecv 2 "));
    test_free(sizes);
}

static void test_members_of_other_jobs(void **state)
{
    static const int64_t two[] = {1, -1};
    (void)state;
    members = two;
    n_members = 2;
    const struct rfn_action action = {
        .kind = RFN_ACTION_BARRIER, .blocks = true, .comm = 1, .request = -1, .type_bytes = 1};
    assert_int_equal(rfn_ti_write(&writer, &action), RFN_E_UNSUPPORTED);
    assert_non_null(strstr(writer.fault, "not in MPI_COMM_WORLD"));
}

static void collective(enum rfn_action_kind kind, int64_t root)
{
    const struct rfn_action action = {.kind = kind,
                                      .blocks = true,
                                      .bytes = 40,
                                      .receive_bytes = 50,
                                      .volume = 7,
                                      .root = root,
                                      .request = -1,
                                      .type_bytes = 1};
    assert_int_equal(rfn_ti_write(&writer, &action), 0);
}

/* Fig. 3.20: a root that is not 0 is told, with the type, here MPI_BYTE. */
static void test_thesis_roots(void **state)
{
    (void)state;
    writer.dialect = RFN_TEXT_THESIS;
    collective(RFN_ACTION_BCAST, 0);
    collective(RFN_ACTION_BCAST, 2);
    collective(RFN_ACTION_REDUCE, 3);
    collective(RFN_ACTION_GATHER, 1);
    lines("1 bcast 40\n1 bcast 40 2 6\n1 reduce 40 7 3 6\n1 gather 40 50 1 6 6\n");
}

/* Without a type these could be the thesis'. */
static void test_small_messages(void **state)
{
    (void)state;
    for (int64_t bytes = -1; bytes < 8; bytes += 4) {
        const struct rfn_action action = {.kind = RFN_ACTION_RECV,
                                          .blocks = true,
                                          .peer = 2,
                                          .tag = 512,
                                          .bytes = bytes,
                                          .request = -1,
                                          .type_bytes = 1};
        assert_int_equal(rfn_ti_write(&writer, &action), 0);
    }
    lines("1 recv 2 512 -1\n1 recv 2 512 3 6\n1 recv 2 512 7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_thesis_roots, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wait_for_any_source, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wait_listed_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_thesis_wait_listed_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wait_for_all, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lists_of_some_ranks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_members_of_other_jobs, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
