/* What replay makes of functions, their variants and their parameters. */
#include "analyze/match/operations.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, DOUBLE = 1, WORLD = 0, TWO = 2, DUPLICATE = 4 };

static struct rfn_treatments operations;
static struct rfn_treat_objects known;

/* All but files can be issued; of windows only some. */
static bool can_issue(enum rfn_operation operation, enum rfn_call_variant variant)
{
    switch (operation) {
    case RFN_MPI_Gatherv:
        return variant != RFN_CALL_NONBLOCKING;
    case RFN_MPI_Send:
    case RFN_MPI_Recv:
    case RFN_MPI_Barrier:
    case RFN_MPI_Bcast:
    case RFN_MPI_Alltoall:
    case RFN_MPI_Allreduce:
    case RFN_MPI_Comm_dup:
    case RFN_MPI_Comm_idup:
    case RFN_MPI_Win_free:
    case RFN_MPI_Group_free:
        return true;
    default:
        return false;
    }
}

static int setup(void **state)
{
    (void)state;
    fake_reset();
    return rfn_treatments_init(&operations, &fake, can_issue) < 0 ||
                   rfn_treat_objects_init(&known, &fake) < 0
               ? -1
               : 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_treatments_release(&operations);
    rfn_treat_objects_release(&known);
    return 0;
}

static void expect(enum fake_function function, enum rfn_treatment treatment)
{
    assert_int_equal(operations.treatments[function], treatment);
}

static void test_variants(void **state)
{
    (void)state;
    expect(FAKE_SEND_, RFN_TREAT_ISSUE);
    expect(FAKE_ISEND, RFN_TREAT_ISSUE);
    expect(FAKE_SEND_INIT, RFN_TREAT_ISSUE);
    expect(FAKE_IBARRIER, RFN_TREAT_ISSUE);
    expect(FAKE_BARRIER_INIT, RFN_TREAT_ISSUE);
    expect(FAKE_ALLTOALL, RFN_TREAT_ISSUE); /* MPI_Alltoall_c */
    expect(FAKE_IPROBE, RFN_TREAT_SKIP);
    expect(FAKE_GATHERV, RFN_TREAT_SKIP);
    expect(FAKE_COMM_IDUP, RFN_TREAT_ISSUE);
}

static void test_treatments(void **state)
{
    (void)state;
    expect(FAKE_INIT, RFN_TREAT_BEGIN);
    expect(FAKE_FINALIZE, RFN_TREAT_END);
    expect(FAKE_PCONTROL, RFN_TREAT_LOCAL);
    expect(FAKE_FILE_READ, RFN_TREAT_SKIP);
    expect(FAKE_PARRIVED, RFN_TREAT_LOCAL);
    expect(FAKE_WIN_SYNC, RFN_TREAT_LOCAL);
    expect(FAKE_BEGIN, RFN_TREAT_NO_CALL);
    expect(FAKE_UNRECORDED, RFN_TREAT_NO_CALL);
}

static struct rfn_call_event call_of(const struct rfn_record *record,
                                     const struct rfn_cursor *cursor)
{
    return rfn_call_event(&fake, cursor, 0, record);
}

static void test_words(void **state)
{
    (void)state;
    struct rfn_cursor cursor = {.archive = &fake};
    const struct rfn_record *record = EVENT(0, ISEND, 0, 0, 1, PLAIN, 5, DOUBLE, 3, 9, TWO);
    struct rfn_call_event call = call_of(record, &cursor);
    assert_int_equal(rfn_word(&call, RFN_IN_dest, 0), 3);
    assert_int_equal(rfn_word(&call, RFN_IN_source, -7), -7);
    assert_false(rfn_has(&call, RFN_IN_root));
    assert_int_equal(rfn_word(&call, RFN_IN_COMM, -1), TWO);
    assert_int_equal(rfn_element_bytes(&call, RFN_IN_count, RFN_IN_datatype), 40);
    assert_int_equal(rfn_reduced_bytes(&call), 40);
    struct rfn_call block = *call.call; /* as that of MPI_Reduce_scatter_block */
    block.in[RFN_IN_recvcount] = block.in[RFN_IN_count];
    block.in[RFN_IN_count] = -1;
    const struct rfn_call_event scatter = {&fake, &block, &cursor, record, 0};
    assert_int_equal(rfn_reduced_bytes(&scatter), 40);
    assert_int_equal(rfn_type_bytes(&fake, 99), 0);
    assert_int_equal(rfn_type_bytes(&fake, -1), 0);
    assert_int_equal(rfn_outcome(&call, RFN_OUT_COMM), RFN_UNKNOWN);
}

static void test_products(void **state)
{
    (void)state;
    assert_int_equal(rfn_product(3, 4), 12);
    assert_int_equal(rfn_product(-3, 4), 0);
    assert_int_equal(rfn_product(INT64_MAX, 2), INT64_MAX);
    assert_int_equal(rfn_product(INT64_MIN, INT64_MIN), 0);
}

static int decide(const struct rfn_record *record)
{
    struct rfn_cursor cursor = {.archive = &fake};
    struct rfn_call_event call = call_of(record, &cursor);
    return rfn_treat(&known, &operations, &call);
}

/* A communicator is there once the call that made it was issued. */
static void test_communicators(void **state)
{
    (void)state;
    struct rfn_record *barrier = EVENT(0, BARRIER, 0, 0, 1, DUPLICATE);
    assert_int_equal(decide(barrier), RFN_TREAT_SKIP);
    assert_int_equal(decide(EVENT(0, COMM_DUP, 0, 0, 1, WORLD, DUPLICATE)), RFN_TREAT_ISSUE);
    assert_int_equal(decide(barrier), RFN_TREAT_ISSUE);
    assert_int_equal(decide(EVENT(0, CART_CREATE, 0, 0, 1, WORLD, 0, 0, 0, 0, DUPLICATE)),
                     RFN_TREAT_SKIP);
    assert_int_equal(decide(barrier), RFN_TREAT_SKIP);
    assert_int_equal(decide(EVENT(0, BARRIER, 0, 0, 1, 1 << 30)), RFN_TREAT_SKIP);
    assert_int_equal(decide(EVENT(0, BARRIER, 0, 0, 1, RFN_UNKNOWN)), RFN_TREAT_SKIP);
}

/* Windows and groups that no call has made: what concerns others is missed. */
static void test_slots(void **state)
{
    (void)state;
    assert_int_equal(decide(EVENT(0, WIN_FREE, 0, 0, 1, 0)), RFN_TREAT_SKIP);
    assert_int_equal(decide(EVENT(0, WIN_FREE, 0, 0, 1, INT64_MAX)), RFN_TREAT_SKIP);
    assert_int_equal(decide(EVENT(0, GROUP_FREE, 0, 0, 1, 3)), RFN_TREAT_LOCAL);
    assert_int_equal(decide(EVENT(0, GROUP_FREE, 0, 0, 1, -2)),
                     RFN_TREAT_ISSUE); /* MPI_GROUP_EMPTY */
}

static void test_failed(void **state)
{
    (void)state;
    struct rfn_record *record = EVENT(0, BARRIER, 0, 0, 1, WORLD);
    record->error = 5;
    assert_int_equal(decide(record), RFN_TREAT_FAILED);
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
