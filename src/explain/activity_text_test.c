/* What ranks did, in words: computing between all sorts of call paths. */
#include "explain/activity_text.h"

#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect_text(struct rfn_text *text, const char *expected)
{
    assert_string_equal(rfn_text_terminated(text), expected);
    rfn_text_release(text);
}

static void expect(struct rfn_activity activity, const char *expected)
{
    struct rfn_text text = {0};
    rfn_activity_append(&text, &fake, &activity);
    expect_text(&text, expected);
}

static struct rfn_activity computing(uint32_t before, uint32_t at)
{
    return (struct rfn_activity){RFN_ACTIVITY_COMPUTE, {SEND, before}, {RECV, at}, RFN_NO_REGION};
}

static void test_common_function(void **state)
{
    (void)state;
    expect(computing(EXCHANGE_88, RESIDUAL_12),
           "computing in step() [solver.c:51-55] between exchange() [halo.c:88] and residual() "
           "[halo.c:12]");
    expect(computing(EXCHANGE_80, EXCHANGE_88), "computing in exchange() [halo.c:80-88]");
    expect(computing(EXCHANGE_88, MAIN_24),
           "computing in main() [solver.c:20-24] after exchange() [halo.c:88]");
    expect(computing(MAIN_24, MAIN_24), "computing in main() [solver.c:24]");
    /* frames inside of MPI do not count */
    expect(computing(EXCHANGE_80_EARLY, EXCHANGE_80),
           "computing in step() [solver.c:40-51] between exchange() [halo.c:80] and exchange() "
           "[halo.c:80]");
    expect(computing(EXCHANGE_88, STEP_INC),
           "computing in step() [solver.c:51 to step.inc:3] after exchange() [halo.c:88]");
    expect(computing(MAIN_10, SUM_7),
           "computing in main() [solver.c:10-24] up to Field::sum() [field.cc:7]");
}

static void expect_function(struct rfn_activity activity, const char *expected)
{
    const char *found = rfn_activity_function(&fake, &activity);
    if (expected)
        assert_string_equal(found, expected);
    else
        assert_null(found);
}

/* The same line is the same call, at whichever address; without lines the address tells. */
static void test_inlined(void **state)
{
    (void)state;
    expect(computing(EXCHANGE_80, EXCHANGE_88_TWIN), "computing in exchange() [halo.c:80-88]");
    expect(computing(EXCHANGE_88_TWIN, EXCHANGE_80),
           "computing in exchange() [halo.c, the loop body after line 88] or its caller step() "
           "[solver.c:51]");
    expect(computing(RESIDUAL_12, EXCHANGE_88_TWIN),
           "computing in step() [solver.c, the loop body after line 55] or its caller main() "
           "[solver.c:20] between residual() [halo.c:12] and exchange() [halo.c:88]");
    expect(computing(EXCHANGE_80_EARLY, EXCHANGE_88_TWIN),
           "computing in step() [solver.c:40-51] between exchange() [halo.c:80] and exchange() "
           "[halo.c:88]");
    expect(computing(PLAIN_1, PLAIN_2),
           "computing in plain() [app+0x720] between exchange() [halo.c:80] and exchange() "
           "[halo.c:88]");
    expect_function(computing(EXCHANGE_80, EXCHANGE_88_TWIN), "exchange");
    expect_function(computing(PLAIN_1, PLAIN_2), "plain");
}

static void test_loop(void **state)
{
    (void)state;
    expect(computing(MAIN_24, MAIN_10),
           "computing in main() [solver.c, the loop body after line 24]");
    expect(computing(EXCHANGE_88, EXCHANGE_80),
           "computing in exchange() [halo.c, the loop body after line 88] or its caller step() "
           "[solver.c:51]");
    expect(computing(RESIDUAL_12, EXCHANGE_88),
           "computing in step() [solver.c, the loop body after line 55] or its caller main() "
           "[solver.c:20] between residual() [halo.c:12] and exchange() [halo.c:88]");
    expect(computing(EXCHANGE_88, EXCHANGE_88),
           "computing in exchange() [halo.c:88] or its caller step() [solver.c:51]");
    expect(computing(EXCHANGE_80_EARLY, EXCHANGE_80_EARLY),
           "computing in exchange() [halo.c:80] or its caller step() [solver.c:40]");
    expect(computing(SUM_7, SUM_7), "computing in Field::sum() [field.cc:7] or its caller main() "
                                    "[solver.c:24]");
}

static void test_nothing_in_common(void **state)
{
    (void)state;
    expect(computing(NOWHERE, EXCHANGE_88),
           "computing between MPI_Send, and MPI_Recv, exchange() [halo.c:88]");
    expect(computing(NOWHERE, NOWHERE), "computing between MPI_Send, and MPI_Recv");
    expect(computing(UNNAMED, UNNAMED_2),
           "computing between MPI_Send, [app+0x1234], and MPI_Recv, [app+0x2000]");
    expect(computing(UNNAMED, UNNAMED), "computing in [app+0x1234]");
    expect(computing(N_PATHS, UINT32_MAX), "computing between MPI_Send, and MPI_Recv");
}

static void test_first_call(void **state)
{
    (void)state;
    expect(
        (struct rfn_activity){
            RFN_ACTIVITY_COMPUTE, {INIT, MAIN_10}, {BARRIER, MAIN_24}, RFN_NO_REGION},
        "computing between MPI_Init and MPI_Barrier in main() [solver.c:10-24]");
    expect(
        (struct rfn_activity){
            RFN_ACTIVITY_COMPUTE, {INIT, NOWHERE}, {BARRIER, MAIN_24}, RFN_NO_REGION},
        "computing between MPI_Init, and MPI_Barrier, main() [solver.c:24]");
}

static void test_regions(void **state)
{
    (void)state;
    struct rfn_activity activity = computing(EXCHANGE_88, RESIDUAL_12);
    activity.region = 0;
    expect(
        activity,
        "computing in region smoothing (step() [solver.c:51-55] between exchange() [halo.c:88] and "
        "residual() [halo.c:12])");
    activity.region = 1;
    expect(
        activity,
        "computing in region two\\nlines (step() [solver.c:51-55] between exchange() [halo.c:88] "
        "and residual() [halo.c:12])");
    activity.region = 2; /* none such */
    expect(activity,
           "computing in step() [solver.c:51-55] between exchange() [halo.c:88] and residual() "
           "[halo.c:12]");
    activity = computing(NOWHERE, NOWHERE);
    activity.region = 0;
    expect(activity, "computing in region smoothing");
}

static struct rfn_activity calling(enum rfn_activity_kind kind, uint32_t function, uint32_t path)
{
    return (struct rfn_activity){.kind = kind, .at = {function, path}, .region = RFN_NO_REGION};
}

static void test_calls(void **state)
{
    (void)state;
    expect(calling(RFN_ACTIVITY_MPI, SEND, EXCHANGE_88),
           "moving data in MPI_Send, exchange() [halo.c:88]");
    expect(calling(RFN_ACTIVITY_MPI, BARRIER, MAIN_24),
           "synchronizing in MPI_Barrier, main() [solver.c:24]");
    expect(calling(RFN_ACTIVITY_MPI, FILE_WRITE, NOWHERE), "reading or writing in MPI_File_write");
    expect(calling(RFN_ACTIVITY_MPI, REDUCE, MAIN_24),
           "collecting data in MPI_Reduce, main() [solver.c:24]");
    expect(calling(RFN_ACTIVITY_MPI, SPLIT, MAIN_24), "in MPI_Comm_split, main() [solver.c:24]");
    expect(calling(RFN_ACTIVITY_MPI, TEST, MAIN_24), "polling in MPI_Test, main() [solver.c:24]");
    expect(calling(RFN_ACTIVITY_MPI, IPROBE, NOWHERE), "polling in MPI_Iprobe");
    struct rfn_activity between = calling(RFN_ACTIVITY_COMPUTE, TEST, MAIN_24);
    between.before = between.at;
    expect(between, "between polls of MPI_Test, main() [solver.c:24]");
    between.region = 0;
    expect(between, "between polls in region smoothing (MPI_Test, main() [solver.c:24])");
    between.region = RFN_NO_REGION;
    between.before.function = IPROBE;
    expect(between, "computing in main() [solver.c:24]");
    expect(calling(RFN_ACTIVITY_WAIT, TEST, MAIN_24), "waiting in MPI_Test, main() [solver.c:24]");
    expect(calling(RFN_ACTIVITY_MPI, 4711, 4711), "in ?");
    expect(calling(RFN_ACTIVITY_WAIT, RECV, EXCHANGE_80_EARLY),
           "waiting in MPI_Recv, exchange() [halo.c:80]");
    expect(calling(RFN_ACTIVITY_START, 0, 0), "starting later than others");
}

static void test_control_characters(void **state)
{
    (void)state;
    expect(computing(EVIL, EVIL), "computing in ev\\x1bil\\n() [b\\tad.c:3]");
    expect(calling(RFN_ACTIVITY_WAIT, RECV, EVIL),
           "waiting in MPI_Recv, ev\\x1bil\\n() [b\\tad.c:3]");
}

static void test_function_alone(void **state)
{
    (void)state;
    expect_function(computing(EXCHANGE_88, RESIDUAL_12), "step");
    expect_function(computing(SUM_7, SUM_7), "_ZN6solver5FieldIdE3sumEi");
    expect_function(computing(NOWHERE, EXCHANGE_88), NULL);
    expect_function(computing(UNNAMED, UNNAMED), NULL);
    expect_function(calling(RFN_ACTIVITY_MPI, SEND, EXCHANGE_88), "exchange");
    expect_function(calling(RFN_ACTIVITY_WAIT, SEND, NOWHERE), NULL);
    expect_function(calling(RFN_ACTIVITY_START, 0, MAIN_10), NULL);
}

static void expect_work(struct rfn_activity activity, const char *expected)
{
    const char *found = rfn_activity_work(&fake, &activity);
    if (expected)
        assert_string_equal(found, expected);
    else
        assert_null(found);
}

/* What may have been called again is a piece of its caller's work, as what leads to it is. */
static void test_work(void **state)
{
    (void)state;
    expect_work(computing(RESIDUAL_12, RESIDUAL_12), "step");
    expect_work(computing(EXCHANGE_88, RESIDUAL_12), "step");
    expect_work(computing(MAIN_24, MAIN_10), "main");
    expect_work(computing(EXCHANGE_80, EXCHANGE_88), "exchange");
    expect_work(computing(NOWHERE, EXCHANGE_88), NULL);
    expect_work(calling(RFN_ACTIVITY_MPI, SEND, EXCHANGE_88), NULL);
}

static void expect_path(uint32_t path, size_t width, const char *expected)
{
    struct rfn_text text = {0};
    rfn_call_site_path(&text, &fake, (struct rfn_call_site){RECV, path}, width);
    expect_text(&text, expected);
}

static void test_call_sites(void **state)
{
    struct rfn_text text = {0};
    (void)state;
    expect_path(EXCHANGE_88, SIZE_MAX,
                "MPI_Recv < exchange (halo.c:88) < step (solver.c:51) < main (solver.c:20)");
    expect_path(EXCHANGE_88, 40, "MPI_Recv < exchange (halo.c:88) < ...");
    expect_path(EXCHANGE_88, 1, "MPI_Recv < exchange (halo.c:88) < ...");
    expect_path(NOWHERE, 80, "MPI_Recv");
    expect_path(N_PATHS, 80, "MPI_Recv");
    rfn_call_site_place(&text, &fake, (struct rfn_call_site){RECV, EXCHANGE_80_EARLY});
    expect_text(&text, "exchange() [halo.c:80]");
    rfn_call_site_place(&text, &fake, (struct rfn_call_site){RECV, NOWHERE});
    expect_text(&text, "MPI_Recv");
    rfn_call_site_place(&text, &fake, (struct rfn_call_site){RECV, UNNAMED});
    expect_text(&text, "[app+0x1234]");
}

/* Locations of the fake: main 10 0, 20 1, 24 2; step 51 3, 55 4, 40 12, exchange 88 5, 80 6,
 * residual 12 7. */
static void test_called_functions(void **state)
{
    static const struct fake_calls known[] = {
        {3, 4, {{"smooth", 52, 0, false}}},
        {12,
         3,
         {{NULL, 41, 0, false},
          {"_ZN6solver5FieldIdE3sumEi", 43, 0, false},
          {"smooth", 47, 0, false}}},
        {0, 2, {{NULL, 12, 0, false}}},
        {2, 0, {{"output", 26, 0, false}, {"prepare", 8, 0, false}}},
        {6, 5, {{0}}}};
    static const struct fake_calls twice[] = {
        {2, 0, {{"output", 26, 0, false}, {"output", 27, 0, false}}},
        {3,
         4,
         {{"fopen", 52, 0, true},
          {NULL, 53, 0, false},
          {"smooth", 53, 1, false},
          {"fclose", 54, 0, true}}},
        {12, 3, {{NULL, 46, 0, false}, {"exp", 47, 0, true}}}};
    (void)state;
    fake_calls = twice;
    n_fake_calls = 3;
    expect(computing(MAIN_24, MAIN_10), "computing in output(), called in main() [solver.c:26-27]");
    expect(computing(EXCHANGE_88, RESIDUAL_12),
           "computing in smooth() and 1 more, called in step() [solver.c:53]");
    expect(computing(EXCHANGE_80_EARLY, EXCHANGE_88),
           "computing in exp() and 1 more, called in step() [solver.c:47]");
    static const struct fake_calls three[] = {{2,
                                               0,
                                               {{"output", 26, 0, false},
                                                {"prepare", 8, 0, false},
                                                {"output", 9, 0, false},
                                                {"smooth", 9, 1, false}}}};
    fake_calls = three;
    n_fake_calls = 1;
    expect(computing(MAIN_24, MAIN_10),
           "computing in output(), prepare() and smooth(), called in main() [solver.c:26]");
    fake_calls = known;
    n_fake_calls = 5;
    expect(computing(EXCHANGE_88, RESIDUAL_12),
           "computing in smooth(), called in step() [solver.c:52]");
    expect(computing(EXCHANGE_80_EARLY, EXCHANGE_88),
           "computing in Field::sum() and 2 more, called in step() "
           "[solver.c:43-47]");
    expect(computing(MAIN_10, MAIN_24), "computing in main() [solver.c:10-24]");
    expect(computing(MAIN_24, MAIN_10),
           "computing in output() and prepare(), called in main() [solver.c:26]");
    expect(computing(EXCHANGE_80, EXCHANGE_88), "computing in exchange() [halo.c:80-88]");
    expect_function(computing(EXCHANGE_88, RESIDUAL_12), "smooth");
    expect_function(computing(EXCHANGE_80_EARLY, EXCHANGE_88), "_ZN6solver5FieldIdE3sumEi");
    expect_function(computing(EXCHANGE_80, EXCHANGE_88), "exchange");
    expect_work(computing(EXCHANGE_88, RESIDUAL_12), "step");
    struct rfn_activity activity = computing(EXCHANGE_88, RESIDUAL_12);
    assert_string_equal(rfn_activity_common(&fake, &activity), "step");
    activity.region = 0;
    expect(activity, "computing in region smoothing (smooth(), called in step() [solver.c:52])");
    fake_calls = NULL;
    n_fake_calls = 0;
}

/* Calls on the way to a call of MPI and behind one count, and those of a caller. */
static void test_called_elsewhere(void **state)
{
    static const struct fake_calls deeper[] = {{3, 4, {{0}}},
                                               {5, RFN_NO_LOCATION, {{"unpack", 90, 0, false}}},
                                               {RFN_NO_LOCATION, 7, {{"sum", 9, 0, false}}}};
    static const struct fake_calls again[] = {{4, 4, {{"output", 54, 0, false}}},
                                              {RFN_NO_LOCATION, 7, {{"sum", 9, 0, false}}},
                                              {7, RFN_NO_LOCATION, {{"finish", 16, 0, false}}},
                                              {7, 7, {{"guessed", 12, 0, false}}}}; /* a loop */
    static const struct fake_calls same[] = {{RFN_NO_LOCATION, 7, {{"sum", 9, 0, false}}},
                                             {7, RFN_NO_LOCATION, {{"sum", 9, 0, false}}}};
    (void)state;
    fake_calls = deeper;
    n_fake_calls = 3;
    expect(computing(EXCHANGE_88, RESIDUAL_12),
           "computing in step() [solver.c:51-55] or sum(), called in residual() [halo.c:9] or 1 "
           "more");
    expect_function(computing(EXCHANGE_88, RESIDUAL_12), "step");
    fake_calls = again;
    n_fake_calls = 4;
    expect(computing(RESIDUAL_12, RESIDUAL_12),
           "computing in sum(), called in residual() [halo.c:9] or output(), called in step() "
           "[solver.c:54] or 1 more");
    expect_function(computing(RESIDUAL_12, RESIDUAL_12), "sum");
    fake_calls = same;
    n_fake_calls = 2;
    expect(computing(RESIDUAL_12, RESIDUAL_12),
           "computing in sum(), called in residual() [halo.c:9]");
    fake_calls = NULL;
    n_fake_calls = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_common_function),
        cmocka_unit_test(test_inlined),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_nothing_in_common),
        cmocka_unit_test(test_first_call),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_control_characters),
        cmocka_unit_test(test_function_alone),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_call_sites),
        cmocka_unit_test(test_called_functions),
        cmocka_unit_test(test_called_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
