/* What replay makes of functions, their variants and their parameters. */
#include "replay/operations.h"

#include "analyze/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, DOUBLE = 1, WORLD = 0, TWO = 2, DUPLICATE = 4 };

static struct rpl_operations operations;
static struct rpl_known known;

/* All but files can be issued; of windows only some. */
static int handler_of(const char *name, enum rpl_mode mode)
{
    if (mode == RPL_NONBLOCKING && strcmp(name, "Gatherv") == 0)
        return -1;
    static const char *const names[] = {"Send",     "Recv",       "Barrier",   "Bcast",
                                        "Gatherv",  "Alltoall",   "Allreduce", "Comm_dup",
                                        "Win_free", "Group_free", "Comm_idup"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return -1;
}

static int setup(void **state)
{
    (void)state;
    fake_reset();
    return rpl_operations_init(&operations, &fake, handler_of) < 0 ||
                   rpl_known_init(&known, &fake) < 0
               ? -1
               : 0;
}

static int teardown(void **state)
{
    (void)state;
    rpl_operations_release(&operations);
    rpl_known_release(&known);
    return 0;
}

static void expect(enum fake_function function, const char *name, enum rpl_mode mode,
                   enum rpl_treatment treatment)
{
    const struct rpl_operation *operation = &operations.of[function];
    assert_string_equal(operation->name, name);
    assert_int_equal(operation->mode, mode);
    assert_int_equal(operation->treatment, treatment);
}

static void test_variants(void **state)
{
    (void)state;
    expect(FAKE_SEND_, "Send", RPL_BLOCKING, RPL_ISSUE);
    expect(FAKE_ISEND, "Send", RPL_NONBLOCKING, RPL_ISSUE);
    expect(FAKE_SEND_INIT, "Send", RPL_PERSISTENT, RPL_ISSUE);
    expect(FAKE_IBARRIER, "Barrier", RPL_NONBLOCKING, RPL_ISSUE);
    expect(FAKE_BARRIER_INIT, "Barrier", RPL_PERSISTENT, RPL_ISSUE);
    expect(FAKE_ALLTOALL, "Alltoall", RPL_BLOCKING, RPL_ISSUE); /* MPI_Alltoall_c */
    expect(FAKE_IPROBE, "Iprobe", RPL_BLOCKING, RPL_SKIP);      /* a poll makes no request */
    expect(FAKE_GATHERV, "Gatherv", RPL_NONBLOCKING, RPL_SKIP);
    expect(FAKE_COMM_IDUP, "Comm_idup", RPL_NONBLOCKING, RPL_ISSUE);
}

static void test_treatments(void **state)
{
    (void)state;
    expect(FAKE_INIT, "Init", RPL_BLOCKING, RPL_BEGIN);
    expect(FAKE_FINALIZE, "Finalize", RPL_BLOCKING, RPL_END);
    expect(FAKE_PCONTROL, "Pcontrol", RPL_BLOCKING, RPL_LOCAL);
    expect(FAKE_FILE_READ, "File_read", RPL_BLOCKING, RPL_SKIP);
    expect(FAKE_PARRIVED, "Parrived", RPL_BLOCKING, RPL_LOCAL);
    expect(FAKE_WIN_SYNC, "Win_sync", RPL_BLOCKING, RPL_LOCAL);
    assert_int_equal(operations.of[FAKE_BEGIN].treatment, RPL_NO_CALL);
    assert_int_equal(operations.of[FAKE_UNRECORDED].treatment, RPL_NO_CALL);
}

static struct rpl_call call_of(const struct rfn_record *record, const struct rfn_cursor *cursor)
{
    return (struct rpl_call){&fake, &operations.of[record->function], cursor, record, 0};
}

static void test_words(void **state)
{
    (void)state;
    struct rfn_cursor cursor = {.archive = &fake};
    const struct rfn_record *record = EVENT(0, ISEND, 0, 0, 1, PLAIN, 5, DOUBLE, 3, 9, TWO);
    struct rpl_call call = call_of(record, &cursor);
    assert_int_equal(rpl_word(&call, RPL_dest, 0), 3);
    assert_int_equal(rpl_word(&call, RPL_source, -7), -7);
    assert_false(rpl_has(&call, RPL_root));
    assert_int_equal(rpl_comm(&call), TWO);
    assert_int_equal(rpl_bytes(&call, RPL_count, RPL_datatype), 40);
    assert_int_equal(rpl_reduced_bytes(&call), 40);
    struct rpl_operation block = *call.operation; /* as that of MPI_Reduce_scatter_block */
    block.in[RPL_recvcount] = block.in[RPL_count];
    block.in[RPL_count] = -1;
    const struct rpl_call scatter = {&fake, &block, &cursor, record, 0};
    assert_int_equal(rpl_reduced_bytes(&scatter), 40);
    assert_int_equal(rpl_type_bytes(&call, 99), 0);
    assert_int_equal(rpl_type_bytes(&call, -1), 0);
    assert_int_equal(rpl_outcome(&call, RFN_KIND_COMM), RFN_UNKNOWN);
}

static void test_products(void **state)
{
    (void)state;
    assert_int_equal(rpl_times(3, 4), 12);
    assert_int_equal(rpl_times(-3, 4), 0);
    assert_int_equal(rpl_times(INT64_MAX, 2), INT64_MAX);
    assert_int_equal(rpl_times(INT64_MIN, INT64_MIN), 0);
}

static int decide(const struct rfn_record *record)
{
    struct rfn_cursor cursor = {.archive = &fake};
    struct rpl_call call = call_of(record, &cursor);
    return rpl_decide(&known, &call);
}

/* A communicator is there once the call that made it was issued. */
static void test_communicators(void **state)
{
    (void)state;
    struct rfn_record *barrier = EVENT(0, BARRIER, 0, 0, 1, DUPLICATE);
    assert_int_equal(decide(barrier), RPL_SKIP);
    assert_int_equal(decide(EVENT(0, COMM_DUP, 0, 0, 1, WORLD, DUPLICATE)), RPL_ISSUE);
    assert_int_equal(decide(barrier), RPL_ISSUE);
    assert_int_equal(decide(EVENT(0, CART_CREATE, 0, 0, 1, WORLD, 0, 0, 0, 0, DUPLICATE)),
                     RPL_SKIP);
    assert_int_equal(decide(barrier), RPL_SKIP);
    assert_int_equal(decide(EVENT(0, BARRIER, 0, 0, 1, 1 << 30)), RPL_SKIP);
    assert_int_equal(decide(EVENT(0, BARRIER, 0, 0, 1, RFN_UNKNOWN)), RPL_SKIP);
}

/* Windows and groups that no call has made: what concerns others is missed. */
static void test_slots(void **state)
{
    (void)state;
    assert_int_equal(decide(EVENT(0, WIN_FREE, 0, 0, 1, 0)), RPL_SKIP);
    assert_int_equal(decide(EVENT(0, WIN_FREE, 0, 0, 1, INT64_MAX)), RPL_SKIP);
    assert_int_equal(decide(EVENT(0, GROUP_FREE, 0, 0, 1, 3)), RPL_LOCAL);
    assert_int_equal(decide(EVENT(0, GROUP_FREE, 0, 0, 1, -2)), RPL_ISSUE); /* MPI_GROUP_EMPTY */
}

static void test_failed(void **state)
{
    (void)state;
    struct rfn_record *record = EVENT(0, BARRIER, 0, 0, 1, WORLD);
    record->error = 5;
    assert_int_equal(decide(record), RPL_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_variants, setup, teardown),
        cmocka_unit_test_setup_teardown(test_treatments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_products, setup, teardown),
        cmocka_unit_test_setup_teardown(test_communicators, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slots, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
