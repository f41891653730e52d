/* The main part of runs whose events are written by hand: every time below is exact, in ns. */
#define FAKE_EVENTS 5120
#include "support/fake_waits.h"

static struct rfn_profile *profile;

static int release(void **state)
{
    rfn_profile_free(profile);
    profile = NULL;
    return teardown(state);
}

static void run_with_profile(void)
{
    struct rfn_diag diag;
    const struct rfn_waits_options options = {.profile = &profile};
    assert_int_equal(rfn_waits_new(&fake, &options, NULL, NULL, &waits, &diag), 0);
}

static void init(uint32_t rank, int64_t enter, int64_t exit)
{
    EVENT(rank, INIT, 0, enter, exit, 0);
}

static void finalize(uint32_t rank, int64_t enter, int64_t exit)
{
    EVENT(rank, FINALIZE, 0, enter, exit, 0);
}

/* Something that is neither communication nor computing. */
static void call(uint32_t rank, int64_t enter, int64_t exit)
{
    EVENT(rank, PCONTROL, 0, enter, exit, 1);
}

static void expect_main(int64_t from, int64_t to, int64_t r0, int64_t r1, int64_t r2, int64_t r3)
{
    const int64_t outside[] = {r0, r1, r2, r3};
    assert_int_equal(profile->main_from_ns, from);
    assert_int_equal(profile->main_to_ns, to);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(profile->ranks[i].main_outside_ns, outside[i]);
}

static int in_thousandths(double value)
{
    return (int)(value * 1000 + 0.5);
}

/* All ranks compute so long in the middle that it does not matter how long they wait at the end. */
enum { LONG = 2000 };

/* Inits end at 10, 14, 12 and 11, Finalizes begin at LONG + 100, 130, 110 and 120. r3 computes and
 * calls before r1 is through, and is in a call at 14; r2 is in one at LONG + 100 and computes
 * behind it. */
static void make_run(void)
{
    init(0, 0, 10);
    init(1, 1, 14);
    init(2, 2, 12);
    init(3, 3, 11);
    call(0, 20, 25);
    call(1, 30, 50);
    call(2, 60, 70);
    call(2, LONG + 95, LONG + 104);
    call(3, 12, 16);
    finalize(0, LONG + 100, LONG + 140);
    finalize(1, LONG + 130, LONG + 140);
    finalize(2, LONG + 110, LONG + 140);
}

static void test_main_part(void **state)
{
    (void)state;
    make_run();
    finalize(3, LONG + 120, LONG + 140);
    run_with_profile();
    expect_main(14, LONG + 100, 6 + LONG + 75, 16 + LONG + 50, 46 + LONG + 25, LONG + 84);
    assert_int_equal(profile->start_ns, 0);
    assert_int_equal(profile->end_ns, LONG + 140);
    assert_false(profile->end_counts);
    const struct rfn_efficiency efficiency = rfn_profile_efficiency(profile);
    assert_int_equal(efficiency.all_ns, 4 * (LONG + 86));
    assert_int_equal(efficiency.max_outside_ns, LONG + 84);
    assert_int_equal(efficiency.max_outside_rank, 3);
    assert_int_equal(efficiency.mean_outside_ns, LONG + 302 / 4);
    assert_int_equal(profile->ranks[1].span_ns, LONG + 139);
    assert_int_equal(rfn_profile_outside_ns(&profile->ranks[1]), 16 + LONG + 80);
}

/* The recorder works on r3 for 20 around the end of the main part, and counts there for 10; on r1
 * behind it. */
static void test_recording_around_end(void **state)
{
    (void)state;
    make_run();
    fake.streams[3].own = (struct rfn_own_work){LONG + 90, LONG + 110};
    fake.streams[1].own = (struct rfn_own_work){LONG + 105, LONG + 125};
    finalize(3, LONG + 120, LONG + 140);
    run_with_profile();
    expect_main(14, LONG + 100, 6 + LONG + 75, 16 + LONG + 50, 46 + LONG + 25, LONG + 74);
}

/* The end counts: ranks wait in MPI_Finalize for 30 + 0 + 20 + 10 of 4 * 140. */
static void test_end_counts(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        init(i, 0, 14);
    finalize(0, 100, 140);
    finalize(1, 130, 140);
    finalize(2, 110, 140);
    finalize(3, 120, 140);
    run_with_profile();
    expect_main(14, 130, 86, 116, 96, 106);
    assert_true(profile->end_counts);
    const struct rfn_efficiency efficiency = rfn_profile_efficiency(profile);
    assert_int_equal(in_thousandths(efficiency.parallel), 871);       /* 101 / 116 */
    assert_int_equal(in_thousandths(efficiency.load_balance), 871);   /* 101 / 116 */
    assert_int_equal(in_thousandths(efficiency.communication), 1000); /* 116 / 116 */
}

/* They wait for 6 of 4 * 140 only: that is how ranks end. */
static void test_end_is_short(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        init(i, 0, 14);
        finalize(i, 100 + i, 140);
    }
    run_with_profile();
    expect_main(14, 100, 86, 86, 86, 86);
    assert_false(profile->end_counts);
}

/* r3 never comes to its end: what it does after LONG + 100 is not of the main part either. */
static void test_without_finalize(void **state)
{
    (void)state;
    make_run();
    call(3, LONG + 90, LONG + 95);
    call(3, LONG + 125, LONG + 150);
    run_with_profile();
    expect_main(14, LONG + 100, LONG + 81, LONG + 66, LONG + 71, LONG + 74 + 5);
}

/* Nobody comes to MPI_Finalize. */
static void test_open_end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        init(i, i, 10 + i);
        call(i, 50, 60 + i);
    }
    run_with_profile();
    expect_main(13, 63, 37, 37, 37, 37);
}

/* A rank begins MPI_Finalize before another is through MPI_Init: there is nothing between, so all
 * between the first end of MPI_Init and the last begin of MPI_Finalize counts. */
static void test_no_main_part(void **state)
{
    (void)state;
    init(0, 0, 10);
    finalize(0, 15, 40);
    for (uint32_t i = 1; i < 4; i++) {
        init(i, 1, 20);
        finalize(i, 35, 40);
    }
    run_with_profile();
    expect_main(10, 35, 5, 15, 15, 15);
}

/* r3 enters MPI_Init when the others have ended, as a rank of another run does: all of the time
 * counts, and no rank has computed for longer than there was time. */
static void test_inits_apart(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        init(i, 0, 10 + i);
        call(i, 100, 110);
    }
    init(3, 200, 210);
    call(3, 230, 240);
    run_with_profile();
    expect_main(10, 240, 90, 89, 88, 20);
    const struct rfn_efficiency efficiency = rfn_profile_efficiency(profile);
    assert_int_equal(efficiency.all_ns, 4 * 230);
    assert_int_equal(in_thousandths(efficiency.parallel), 312); /* 287 / 920 */
}

/* MPI takes long to start and to end, and ranks hardly wait. The first goes to MPI_Finalize before
 * half of the time between is over: all of it counts. */
static void test_early_ends(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        init(i, 0, 1010);
        finalize(i, i < 2 ? 1029 : 1050, 2060);
    }
    run_with_profile();
    expect_main(1010, 1050, 19, 19, 40, 40);
    assert_true(profile->end_counts);
}

static void test_late_ends(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        init(i, 0, 1010);
        finalize(i, i < 2 ? 1030 : 1050, 2060);
    }
    run_with_profile();
    expect_main(1010, 1030, 20, 20, 20, 20);
    assert_false(profile->end_counts);
}

static void test_no_init(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        call(i, 5, 10);
        finalize(i, 30 + i, 40);
    }
    run_with_profile();
    expect_main(5, 40, 20, 21, 22, 23);
}

/* A second thread of r0 calls from LONG + 50 on: it has no MPI_Init, and computes on after LONG +
 * 100. */
static void test_threads(void **state)
{
    (void)state;
    fake.run.streams = 5;
    make_run();
    finalize(3, LONG + 120, LONG + 140);
    call(4, LONG + 50, LONG + 60);
    call(4, LONG + 90, LONG + 92);
    call(4, LONG + 115, LONG + 116);
    run_with_profile();
    expect_main(14, LONG + 100, LONG + 81 + 30 + 8, LONG + 66, LONG + 71, LONG + 84);
}

/* r1 polls until 60, of which 8 are inside of the calls. */
static void test_polls(void **state)
{
    (void)state;
    make_run();
    finalize(3, LONG + 120, LONG + 140);
    fake.streams[1].n = 1;
    struct rfn_record *polls = EVENT(1, IPROBE, 0, 30, 60, 2, 8, WORLD, AS, AS, AS);
    polls->failed_poll = true;
    polls->polls = 5;
    polls->inside_ns = 8;
    finalize(1, LONG + 130, LONG + 140);
    run_with_profile();
    expect_main(14, LONG + 100, LONG + 81, 16 + 22 + LONG + 40, LONG + 71, LONG + 84);
}

/* r1 does not record from 50 to 90. */
static void test_pause(void **state)
{
    (void)state;
    make_run();
    finalize(3, LONG + 120, LONG + 140);
    fake.streams[1].n = 1;
    EVENT(1, PCONTROL, 0, 30, 50, 0);
    EVENT(1, PCONTROL, 0, 90, 91, 1);
    finalize(1, LONG + 130, LONG + 140);
    run_with_profile();
    expect_main(14, LONG + 100, LONG + 81, 16 + LONG + 9, LONG + 71, LONG + 84);
    assert_int_equal(rfn_profile_efficiency(profile).all_ns, 4 * (LONG + 86) - 40);
}

static void test_pause_at_the_end(void **state)
{
    (void)state;
    make_run();
    finalize(3, LONG + 120, LONG + 140);
    fake.streams[1].n = 2;
    EVENT(1, PCONTROL, 0, LONG + 105, LONG + 106, 0);
    finalize(1, LONG + 130, LONG + 140);
    run_with_profile();
    expect_main(14, LONG + 100, LONG + 81, LONG + 66, LONG + 71, LONG + 84);
    assert_int_equal(rfn_profile_efficiency(profile).all_ns, 4 * (LONG + 86));
}

/* r1 calls so often after 100 that its log does not go back to there: what it has forgotten counts
 * as the main part, as far as that has room. Of 5000 gaps of 1 ns and as many calls the log of 4096
 * entries keeps at most half of them. */
static void test_forgotten_end(void **state)
{
    (void)state;
    enum { UP = 1000000 }; /* MPI takes so long to start that the waits at the end are short */
    for (uint32_t i = 0; i < 4; i++)
        init(i, 0, UP);
    for (int64_t i = 0; i < 5000; i++)
        call(1, UP + 12001 + 2 * i, UP + 12002 + 2 * i);
    for (uint32_t i = 0; i < 4; i++)
        finalize(i, UP + (i == 1 ? 22001 : 12000), UP + 22100);
    run_with_profile();
    assert_int_equal(profile->main_to_ns, UP + 12000);
    assert_int_equal(profile->ranks[1].main_outside_ns, 12000); /* no more than there is */
    assert_int_equal(profile->ranks[3].main_outside_ns, 12000);
}

static void test_nothing(void **state)
{
    (void)state;
    run_with_profile();
    expect_main(0, 0, 0, 0, 0, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(main_part),
        TEST(recording_around_end),
        TEST(end_counts),
        TEST(end_is_short),
        TEST(without_finalize),
        TEST(open_end),
        TEST(no_main_part),
        TEST(early_ends),
        TEST(late_ends),
        TEST(no_init),
        TEST(threads),
        TEST(polls),
        TEST(pause),
        TEST(pause_at_the_end),
        TEST(forgotten_end),
        TEST(nothing),
        TEST(inits_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
