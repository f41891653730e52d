/* Several runs of two sides that are made up: medians, ranges, and what is noise. */
#include "support/fake_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST = 8 };

static struct rfn_compared_sides compared;
static struct rfn_profile profiles[MOST];
static struct rfn_measured runs[MOST];

static int setup(void **state)
{
    (void)state;
    fake_runs_reset();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_compared_sides_release(&compared);
    return 0;
}

/* Runs of these seconds; of the first side all are as the first of the fake runs, of the second as
 * the second. */
static void compare(const double *seconds, size_t before, size_t after)
{
    const size_t n[] = {before, after};
    for (size_t i = 0; i < before + after; i++) {
        const unsigned which = i >= before;
        profiles[i] = fake_profiles[which];
        profiles[i].end_ns = SECONDS(seconds[i]);
        runs[i] = fake_runs[which];
        runs[i].profile = &profiles[i];
    }
    assert_int_equal(rfn_compared_sides_init(&compared, runs, n), 0);
}

static const struct rfn_row_change *row(const char *name)
{
    for (size_t i = 0; i < compared.n_rows; i++) {
        if (strcmp(compared.rows[i].name, name) == 0)
            return &compared.rows[i];
    }
    fail_msg("no row %s", name);
    return NULL;
}

static void near(double found, double seconds)
{
    if (!(found > seconds * 1e9 - 1 && found < seconds * 1e9 + 1))
        fail_msg("%g ns, not %g s", found, seconds);
}

static void expect(const struct rfn_row_range *range, double least, double median, double largest)
{
    near(range->least, least);
    near(range->median, median);
    near(range->largest, largest);
}

static void test_ranges(void **state)
{
    static const double seconds[] = {10.4, 10, 10.1, 12, 11, 11.5, 13};
    (void)state;
    compare(seconds, 3, 4);
    const struct rfn_row_change *time = row("run time");
    expect(&time->of[0], 10, 10.1, 10.4);
    expect(&time->of[1], 11, 11.75, 13); /* between the middle two */
    assert_false(time->noise);
    assert_ptr_equal(time, &compared.rows[0]);
    assert_true(compared.times);
    assert_false(compared.other_programs);
}

/* They overlap in one value; and medians that are equal are no noise. */
static void test_noise(void **state)
{
    static const double seconds[] = {10, 10.5, 11, 11, 11.5, 12}, same[] = {10, 11, 12, 9, 11, 13};
    (void)state;
    compare(seconds, 3, 3);
    assert_true(row("run time")->noise);
    rfn_compared_sides_release(&compared);
    compare(same, 3, 3);
    assert_false(row("run time")->noise);
}

/* Receives from several places in exchange() are one row; what a run lacks is 0 there. */
static void test_named_rows(void **state)
{
    static const double seconds[] = {10, 10, 10, 10, 10, 10};
    bool barrier = false;
    (void)state;
    compare(seconds, 3, 3);
    for (size_t i = 0; i < compared.n_rows; i++) {
        const struct rfn_row_change *one = &compared.rows[i];
        if (strncmp(one->name, "MPI_Recv < exchange", 19) == 0) {
            assert_int_equal(one->kind, RFN_ROW_CALL);
            expect(&one->of[0], 1, 1, 1);
            expect(&one->of[1], 2.25, 2.25, 2.25);
        } else if (strncmp(one->name, "MPI_Barrier < ", 14) == 0) {
            barrier = true;
            expect(&one->of[0], 0, 0, 0);
            expect(&one->of[1], 0.125, 0.125, 0.125);
        }
        assert_true(!i || compared.rows[i - 1].kind <= one->kind);
    }
    assert_true(barrier);
    const struct rfn_row_change *region = row("region smoothing");
    expect(&region->of[0], 5, 5, 5);
    expect(&region->of[1], 4, 4, 4);
    assert_int_equal(region->kind, RFN_ROW_REGION);
}

/* What rank 3 computes costs others 1 s each, then 2 s. */
static void test_causes(void **state)
{
    static const double seconds[] = {10, 10};
    size_t causes = 0;
    (void)state;
    compare(seconds, 1, 1);
    for (size_t i = 0; i < compared.n_rows; i++) {
        const struct rfn_row_change *one = &compared.rows[i];
        if (one->kind != RFN_ROW_CAUSE)
            continue;
        causes++;
        if (strncmp(one->name, "compute", 7) != 0)
            continue;
        assert_non_null(strstr(one->name, ", region smoothing, at MPI_Allreduce < "));
        expect(&one->of[0], 1, 1, 1);
        expect(&one->of[1], 2, 2, 2);
    }
    assert_int_equal(causes, 2);
}

static void test_sentence(void **state)
{
    static const double faster[] = {20, 20, 20, 10, 10, 10}, noise[] = {10, 12, 14, 11, 13, 15};
    struct rfn_text text = {0};
    (void)state;
    compare(faster, 3, 3);
    rfn_compared_sides_append(&text, &compared);
    assert_string_equal(rfn_text_terminated(&text),
                        "B is 2.00 times as fast as A, by the medians: 20.0 s -> 10.0 s; the "
                        "ranges do not overlap.");
    rfn_compared_sides_release(&compared);
    rfn_text_release(&text);
    compare(noise, 3, 3);
    rfn_compared_sides_append(&text, &compared);
    assert_string_equal(rfn_text_terminated(&text),
                        "B takes about as long as A, by the medians: 12.0 s -> 13.0 s; that is "
                        "noise: A takes 10.0 s to 14.0 s, B 11.0 s to 15.0 s.");
    rfn_text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ranges, setup, teardown),
        cmocka_unit_test_setup_teardown(test_noise, setup, teardown),
        cmocka_unit_test_setup_teardown(test_named_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_causes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sentence, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
