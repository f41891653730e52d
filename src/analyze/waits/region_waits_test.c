/* Waits by region and call path of the profile, of events that are written by hand. Times are in
 * ns. */
#include "support/fake_waits.h"

enum { SETUP, SOLVE };

static struct rfn_profile *profile;

static int release(void **state)
{
    rfn_profile_free(profile);
    profile = NULL;
    return teardown(state);
}

static void run_in(const char *region)
{
    struct rfn_diag diag;
    const struct rfn_waits_options options = {.region = region, .profile = &profile};
    assert_int_equal(rfn_waits_new(&fake, &options, NULL, NULL, &waits, &diag), 0);
}

static void begin(int64_t ns, int64_t region)
{
    EVENT(0, BEGIN, 0, ns, ns, region);
}

static void end(int64_t ns, int64_t region)
{
    EVENT(0, END, 0, ns, ns, region);
}

/* r0 waits from enter until r1 sends. */
static void wait_for(int64_t enter, int64_t sent)
{
    EVENT(0, RECV_, 0, enter, sent + 50, PLAIN, SIZE, BYTE, 1, 5, WORLD, AS, AS, AS);
    EVENT(1, SEND_, 0, sent, sent + 10, PLAIN, SIZE, BYTE, 0, 5, WORLD);
}

/* 800 in solve inside of itself, 400 in the outer one, 100 in setup around both, 90 in none. */
static void make_run(void)
{
    begin(0, SETUP);
    begin(10, SOLVE);
    begin(20, SOLVE);
    wait_for(100, 900);
    end(1010, SOLVE);
    wait_for(1100, 1500);
    end(1700, SOLVE);
    wait_for(1800, 1900);
    end(2100, SETUP);
    wait_for(2200, 2290);
}

static int64_t waiting_in(const char *region)
{
    for (size_t i = 0; i < profile->n_regions; i++) {
        if (strcmp(profile->regions[i].name, region) == 0)
            return profile->regions[i].waiting_ns;
    }
    return -1;
}

static int64_t waiting_of(enum fake_function function)
{
    int64_t ns = 0;
    for (size_t i = 0; i < profile->n_rows; i++)
        ns += profile->rows[i].function == function ? profile->rows[i].waiting_ns : 0;
    return ns;
}

static void test_regions(void **state)
{
    (void)state;
    make_run();
    run_in(NULL);
    assert_int_equal(waiting_in("solve"), 800 + 400);
    assert_int_equal(waiting_in("setup"), 800 + 400 + 100);
    assert_int_equal(waits->total_ns, 1390);
    assert_int_equal(waiting_of(FAKE_RECV_), 1390);
    assert_int_equal(waiting_of(FAKE_SEND_), 0);
}

static void test_one_region(void **state)
{
    (void)state;
    make_run();
    run_in("solve");
    assert_int_equal(waits->total_ns, 1200);
    assert_int_equal(waiting_of(FAKE_RECV_), 1200);
    assert_int_equal(waiting_in("solve"), 1200);
    assert_int_equal(waiting_in("setup"), -1); /* around it */
}

/* It has no end: to the last event. An end without a begin ends nothing. */
static void test_open_region(void **state)
{
    (void)state;
    end(0, SOLVE);
    begin(10, SOLVE);
    wait_for(100, 900);
    run_in(NULL);
    assert_int_equal(waiting_in("solve"), 800);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, release)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(regions), TEST(one_region), TEST(open_region)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
