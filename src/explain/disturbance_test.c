/* What the machine did to a run that is made up: four ranks, ten seconds, 40 s of all ranks. */
#include "refrain/explain.h"

#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECONDS(s) ((int64_t)((s)*1e9))

enum { RANKS = 4 };

/* Rank 2 is in MPI_Type_size for 0.8 s once, and for 0.2 s once more; others wait for it at a
 * barrier, and for its receiving. */
static const struct rfn_activity size = {
    RFN_ACTIVITY_MPI, {0, 0}, {TYPE_SIZE, MAIN_24}, RFN_NO_REGION};
static const struct rfn_activity recv_ = {
    RFN_ACTIVITY_MPI, {0, 0}, {RECV, EXCHANGE_88}, RFN_NO_REGION};
static struct rfn_activity activities[2];
static struct rfn_profile_row rows[2];
static struct rfn_rank_ns late[] = {{2, SECONDS(3)}, {2, SECONDS(1)}};
static struct rfn_cause causes[] = {
    {0, RFN_WAIT_AT_BARRIER, {BARRIER, RESIDUAL_12}, SECONDS(3), SECONDS(3), &late[0], 1},
    {1, RFN_LATE_SENDER, {RECV, EXCHANGE_80}, SECONDS(1), SECONDS(1), &late[1], 1}};
static struct rfn_profile_rank ranks[RANKS];
static struct rfn_profile profile;
static struct rfn_waits waits = {.n_ranks = RANKS,
                                 .times = true,
                                 .activities = activities,
                                 .n_activities = 2,
                                 .causes = causes,
                                 .n_causes = 2};
static struct rfn_measured run;

static int setup(void **state)
{
    (void)state;
    activities[0] = size;
    activities[1] = recv_;
    rows[0] = (struct rfn_profile_row){.function = TYPE_SIZE,
                                       .path = MAIN_24,
                                       .calls = 100,
                                       .time.total_ns = SECONDS(1.1),
                                       .max_ns = SECONDS(0.8),
                                       .max_rank = 2,
                                       .long_events = 2,
                                       .long_ns = SECONDS(1)};
    rows[1] = (struct rfn_profile_row){.function = RECV,
                                       .path = EXCHANGE_88,
                                       .calls = 100,
                                       .time.total_ns = SECONDS(2),
                                       .max_ns = SECONDS(1.5),
                                       .max_rank = 2,
                                       .long_events = 1,
                                       .long_ns = SECONDS(1.5)};
    profile = (struct rfn_profile){
        .n_ranks = RANKS, .times = true, .ranks = ranks, .rows = rows, .n_rows = 2};
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i] = (struct rfn_profile_rank){
            .mpi_ns = SECONDS(5), .span_ns = SECONDS(10), .threads = 1};
    profile.end_ns = SECONDS(10);
    rfn_profile_take_whole(&profile);
    run = (struct rfn_measured){&fake, &profile, &waits, rfn_profile_efficiency(&profile), NULL};
    return 0;
}

/* MPI_Recv may take as long as it likes. */
static void test_calls(void **state)
{
    (void)state;
    const struct rfn_disturbance found = rfn_disturbance_of(&run);
    struct rfn_text text = {0};
    assert_int_equal(found.calls, 2);
    assert_int_equal(found.ns, SECONDS(1));
    assert_ptr_equal(found.longest, &rows[0]);
    assert_true(rfn_activity_is_beyond_program(&run, &size));
    assert_false(rfn_activity_is_beyond_program(&run, &recv_));
    rfn_disturbance_append(&text, &run, &found);
    static const char begin[] =
        "2 calls that are fast in every MPI took 1.00 s (the longest 800 ms in "
        "MPI_Type_size, main()";
    assert_memory_equal(rfn_text_terminated(&text), begin, sizeof begin - 1);
    assert_non_null(
        strstr(rfn_text_terminated(&text), ", on rank 2). The program is not the cause"));
    rfn_text_release(&text);
}

/* Computing before MPI_Finalize is the program's. */
static void test_ends(void **state)
{
    (void)state;
    struct rfn_activity activity = {.kind = RFN_ACTIVITY_START};
    assert_true(rfn_activity_is_beyond_program(&run, &activity));
    activity = (struct rfn_activity){.kind = RFN_ACTIVITY_MPI, .at = {FINALIZE, MAIN_24}};
    assert_true(rfn_activity_is_beyond_program(&run, &activity));
    activity.kind = RFN_ACTIVITY_WAIT;
    assert_true(rfn_activity_is_beyond_program(&run, &activity));
    activity.kind = RFN_ACTIVITY_COMPUTE;
    assert_false(rfn_activity_is_beyond_program(&run, &activity));
}

/* Calls that are short, but many, are the program's. */
static void test_many_short(void **state)
{
    (void)state;
    rows[0].time.total_ns = SECONDS(2.1);
    assert_false(rfn_activity_is_beyond_program(&run, &size));
    rows[0].long_events = 0;
    rows[0].long_ns = 0;
    const struct rfn_disturbance found = rfn_disturbance_of(&run);
    assert_int_equal(found.calls, 0);
    assert_null(found.longest);
}

static void test_no_finding(void **state)
{
    (void)state;
    struct rfn_findings found;
    assert_int_equal(rfn_findings_init(&found, &run, NULL, RFN_TRIFLE, SIZE_MAX), 0);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.findings[0].activity, 1);
    rfn_findings_release(&found);
}

/* ---- cores ---- */

static const struct rfn_core_window windows[] = {
    {SECONDS(5), SECONDS(4), SECONDS(0)},
    {SECONDS(5), SECONDS(3), SECONDS(1)},   /* 7 of 8 */
    {SECONDS(10), SECONDS(3), SECONDS(9)}}; /* 3 of 12 */
static struct rfn_process_cores cores[] = {
    {.stream = 0, .rank = 0, .windows = &windows[0], .n_windows = 2},
    {.stream = 1, .rank = 1}, /* whose system does not tell */
    {.stream = 2, .rank = 2, .windows = &windows[2], .n_windows = 1}};
static const struct rfn_usage usage = {.cores = cores, .n_cores = 3};

static void test_cores(void **state)
{
    (void)state;
    assert_false(rfn_core_access_of(&run).known);
    assert_true(rfn_core_share_of_rank(&run, 0) < 0);
    run.usage = &usage;
    const struct rfn_core_access access = rfn_core_access_of(&run);
    assert_true(access.known);
    assert_true(access.share == 10.0 / 20.0);
    assert_true(access.on_core_ns == 10e9 && access.runnable_ns == 10e9);
    assert_int_equal(access.worst_rank, 2);
    assert_true(access.worst_share == 0.25);
    assert_true(rfn_core_share_of_rank(&run, 0) == 7.0 / 8.0);
    assert_true(rfn_core_share_of_rank(&run, 1) < 0);
    assert_true(rfn_core_share_of_rank(&run, 2) == 0.25);
    assert_true(rfn_core_share_of_rank(&run, 3) < 0);
}

/* A process that only slept could always run. */
static void test_sleep(void **state)
{
    (void)state;
    static const struct rfn_core_window slept = {SECONDS(10), 0, 0};
    static struct rfn_process_cores one = {.windows = &slept, .n_windows = 1};
    static const struct rfn_usage of_one = {.cores = &one, .n_cores = 1};
    run.usage = &of_one;
    assert_true(rfn_core_access_of(&run).known);
    assert_true(rfn_core_access_of(&run).share == 1);
}

#define TEST(name) cmocka_unit_test_setup(test_##name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(calls),      TEST(ends),  TEST(many_short),
                                       TEST(no_finding), TEST(cores), TEST(sleep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
