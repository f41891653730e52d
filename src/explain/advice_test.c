/* Advice fits the pattern, what the late rank did, and how many ranks are late. */
#include "explain/advice.h"

#include "refrain/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_lateness(void **state)
{
    const struct rfn_rank_ns one[] = {{3, 900}, {1, 50}, {2, 50}};
    const struct rfn_rank_ns alike[] = {{5, 30}, {0, 28}, {1, 26}, {2, 25}, {3, 24}, {4, 20}};
    const struct rfn_rank_ns two[] = {{3, 500}, {1, 450}, {2, 10}};
    const struct rfn_rank_ns uneven[] = {{5, 300}, {0, 40}, {1, 40}, {2, 40}, {3, 40}, {4, 40}};
    const struct rfn_rank_ns mostly[] = {{2, 81}, {3, 11}, {4, 8}};
    (void)state;
    assert_int_equal(rfn_late_kind_of(one, 3, 8), RFN_LATE_ONE);
    assert_int_equal(rfn_late_kind_of(alike, 6, 6), RFN_LATE_ALIKE);
    assert_int_equal(rfn_late_kind_of(alike, 6, 64), RFN_LATE_SOME);
    assert_int_equal(rfn_late_kind_of(two, 3, 8), RFN_LATE_SOME);
    assert_int_equal(rfn_late_kind_of(uneven, 6, 6), RFN_LATE_SOME);
    assert_int_equal(rfn_late_kind_of(mostly, 3, 8), RFN_LATE_ONE);
    assert_int_equal(rfn_late_kind_of(NULL, 0, 8), RFN_LATE_ONE);
    assert_true(rfn_rank_stands_out(uneven, 6, 6));
    assert_false(rfn_rank_stands_out(alike, 6, 6));
    assert_true(rfn_rank_stands_out(alike, 6, 64)); /* the others cost less, or nothing */
    assert_true(rfn_rank_stands_out((const struct rfn_rank_ns[]){{0, 50}, {1, 25}, {2, 25}}, 3, 3));
    assert_false(
        rfn_rank_stands_out((const struct rfn_rank_ns[]){{0, 49}, {1, 26}, {2, 25}}, 3, 3));
    assert_int_equal(rfn_late_ranks(one, 3), 1);
    assert_int_equal(rfn_late_ranks(two, 3), 2);
    assert_int_equal(rfn_late_ranks(mostly, 3), 1);
    assert_int_equal(rfn_late_ranks(NULL, 0), 0);
}

static void expect(enum rfn_pattern pattern, enum rfn_activity_kind kind, uint8_t class_,
                   enum rfn_late_kind late, const char *part)
{
    const struct rfn_advised doing = {.kind = kind, .class_ = class_};
    const char *advice = rfn_advice(pattern, doing, late, false);
    if (!strstr(advice, part))
        fail_msg("'%s' does not say '%s'", advice, part);
}

static void test_idle(void **state)
{
    struct rfn_advised doing = {.kind = RFN_ACTIVITY_COMPUTE, .idle = true};
    (void)state;
    assert_string_equal(rfn_advice(RFN_WAIT_AT_NXN, doing, RFN_LATE_ONE, false),
                        "Give that rank less of this work.");
    doing.idle = false;
    assert_non_null(
        strstr(rfn_advice(RFN_WAIT_AT_NXN, doing, RFN_LATE_ONE, false), "why it is slow"));
}

static void test_advice(void **state)
{
    (void)state;
    expect(RFN_LATE_SENDER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_SEND, RFN_LATE_ONE, "that rank less");
    expect(RFN_WAIT_AT_NXN, RFN_ACTIVITY_COMPUTE, RFN_CLASS_ALL_TO_ALL, RFN_LATE_SOME,
           "Balance this work");
    expect(RFN_WAIT_AT_NXN, RFN_ACTIVITY_COMPUTE, RFN_CLASS_ALL_TO_ALL, RFN_LATE_ALIKE,
           "No rank stands out");
    expect(RFN_WAIT_AT_BARRIER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_BARRIER, RFN_LATE_ALIKE,
           "emove the barrier if the program is correct without it");
    expect(RFN_WAIT_AT_BARRIER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_BARRIER, RFN_LATE_EVEN,
           "emove the barrier if the program is correct without it");
    expect(RFN_WRONG_ORDER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_SEND, RFN_LATE_ONE,
           "that rank less of this work, or receive first the message that comes first");
    expect(RFN_WRONG_ORDER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_SEND, RFN_LATE_SOME,
           "Receive in the order");
    expect(RFN_WRONG_ORDER, RFN_ACTIVITY_MPI, RFN_CLASS_SEND, RFN_LATE_ONE, "Receive in the order");
    expect(RFN_LATE_RECEIVER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_RECV, RFN_LATE_ONE,
           "that rank less of this work, or let it post the receive earlier");
    expect(RFN_LATE_RECEIVER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_RECV, RFN_LATE_SOME,
           "Post the receive before this work");
    expect(RFN_LATE_SENDER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_SEND, RFN_LATE_SOME,
           "or send the data that others wait for before it");
    expect(RFN_LATE_SENDER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_SEND, RFN_LATE_EVEN,
           "in smaller parts");
    expect(RFN_LATE_RECEIVER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_RECV, RFN_LATE_EVEN,
           "Post the receive before this work");
    expect(RFN_LATE_SENDER, RFN_ACTIVITY_COMPUTE, RFN_CLASS_SEND, RFN_LATE_ALIKE,
           "one after the other");
    expect(RFN_LATE_BROADCAST, RFN_ACTIVITY_COMPUTE, RFN_CLASS_ONE_TO_ALL, RFN_LATE_ONE, "root");
    expect(RFN_EARLY_REDUCE, RFN_ACTIVITY_COMPUTE, RFN_CLASS_ALL_TO_ONE, RFN_LATE_SOME,
           "MPI_Ireduce");
    expect(RFN_WAIT_AT_NX1, RFN_ACTIVITY_COMPUTE, RFN_CLASS_ALL_TO_ONE, RFN_LATE_SOME,
           "MPI_Ireduce");
    expect(RFN_LOCK_CONTENTION, RFN_ACTIVITY_MPI, RFN_CLASS_RMA, RFN_LATE_SOME, "lock");
    expect(RFN_WAIT_AT_INIT, RFN_ACTIVITY_START, RFN_CLASS_SETUP, RFN_LATE_SOME, "launched");
    expect(RFN_WAIT_AT_BARRIER, RFN_ACTIVITY_MPI, RFN_CLASS_FILE, RFN_LATE_ONE, "collectively");
    expect(RFN_WAIT_AT_BARRIER, RFN_ACTIVITY_MPI, RFN_CLASS_SETUP, RFN_LATE_ONE, "start-up");
    expect(RFN_LATE_SENDER, RFN_ACTIVITY_MPI, RFN_CLASS_SEND, RFN_LATE_ONE, "messages");
    expect(RFN_LATE_BROADCAST, RFN_ACTIVITY_MPI, RFN_CLASS_ALL_TO_ONE, RFN_LATE_ONE,
           "wait for the root");
}

/* Who is late because it polls, polls too much; who is late between polls may wait himself. */
static void test_polls(void **state)
{
    const struct rfn_advised in_polls = {
        .kind = RFN_ACTIVITY_MPI, .class_ = RFN_CLASS_COMPLETION, .polls = true};
    const struct rfn_advised between = {
        .kind = RFN_ACTIVITY_COMPUTE, .class_ = RFN_CLASS_COMPLETION, .polls = true};
    const char *polling = rfn_advice(RFN_LATE_SENDER, in_polls, RFN_LATE_SOME, false);
    const char *computing = rfn_advice(RFN_LATE_SENDER, between, RFN_LATE_SOME, false);
    (void)state;
    assert_non_null(strstr(polling, "Poll less often"));
    assert_non_null(strstr(computing, "find out for which rank"));
}

/* A call may wait for ranks that are not there; start-up, and work, do not. */
static void test_missing(void **state)
{
    const char *waits = "This call may wait for ranks that are not in this archive.";
    const struct rfn_advised sends = {.kind = RFN_ACTIVITY_MPI, .class_ = RFN_CLASS_SEND};
    const struct rfn_advised starts = {.kind = RFN_ACTIVITY_MPI, .class_ = RFN_CLASS_SETUP};
    const struct rfn_advised computes = {.kind = RFN_ACTIVITY_COMPUTE, .class_ = RFN_CLASS_SEND};
    (void)state;
    assert_string_equal(rfn_advice(RFN_LATE_RECEIVER, sends, RFN_LATE_ONE, true), waits);
    assert_string_not_equal(rfn_advice(RFN_LATE_RECEIVER, starts, RFN_LATE_ONE, true), waits);
    assert_string_not_equal(rfn_advice(RFN_LATE_RECEIVER, computes, RFN_LATE_ONE, true), waits);
}

/* All ranks that are here are seen to come to a collective call. */
static void test_waits(void **state)
{
    const struct rfn_advised together = {
        .kind = RFN_ACTIVITY_WAIT, .class_ = RFN_CLASS_ALL_TO_ALL, .collective = true};
    const struct rfn_advised alone = {.kind = RFN_ACTIVITY_WAIT, .class_ = RFN_CLASS_RECV};
    const char *elsewhere =
        "Find out what that call waits for: the other rank may not be in the archive.";
    (void)state;
    assert_string_equal(rfn_advice(RFN_WAIT_AT_NXN, alone, RFN_LATE_ONE, false), elsewhere);
    assert_string_equal(rfn_advice(RFN_WAIT_AT_NXN, together, RFN_LATE_ONE, true), elsewhere);
    assert_non_null(strstr(rfn_advice(RFN_WAIT_AT_NXN, together, RFN_LATE_ONE, false),
                           "All ranks had reached"));
}

/* Who writes together already is not told to. */
static void test_files(void **state)
{
    const struct rfn_advised alone = {.kind = RFN_ACTIVITY_MPI, .class_ = RFN_CLASS_FILE};
    const struct rfn_advised together = {
        .kind = RFN_ACTIVITY_MPI, .class_ = RFN_CLASS_FILE, .collective = true};
    (void)state;
    assert_non_null(
        strstr(rfn_advice(RFN_WAIT_AT_NXN, alone, RFN_LATE_ONE, false), "MPI_File_write_all"));
    assert_non_null(strstr(rfn_advice(RFN_WAIT_AT_NXN, together, RFN_LATE_ONE, false), "cb_nodes"));
}

/* Whatever comes, there is a sentence. */
static void test_all(void **state)
{
    (void)state;
    for (int pattern = 0; pattern < RFN_PATTERN_COUNT; pattern++) {
        for (int kind = RFN_ACTIVITY_COMPUTE; kind <= RFN_ACTIVITY_START; kind++) {
            for (uint8_t class_ = 0; class_ <= RFN_CLASS_COUNT; class_++) {
                const struct rfn_advised doing = {(enum rfn_activity_kind)kind, class_,
                                                  .collective = class_ & 4, .polls = class_ & 1};
                const char *advice = rfn_advice((enum rfn_pattern)pattern, doing, RFN_LATE_SOME,
                                                class_ & 2);
                assert_int_equal(advice[strlen(advice) - 1], '.');
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lateness), cmocka_unit_test(test_advice),
        cmocka_unit_test(test_idle),     cmocka_unit_test(test_polls),
        cmocka_unit_test(test_missing),  cmocka_unit_test(test_waits),
        cmocka_unit_test(test_files),    cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
