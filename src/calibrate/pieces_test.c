/* Pieces of known lines, with noise and disturbances. */
#include "calibrate/pieces.h"
#include "calibrate/sizes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A network of three ways of sending: 1 us + 1 ns per byte up to 1000 bytes, 3 us + 0.5 ns up to
 * 64 KiB, 20 us + 0.1 ns. */
static const struct cal_piece known[] = {
    {1, 1000, 1000, 1}, {1001, 65536, 3000, 0.5}, {65537, CAL_MOST_BYTES, 20000, 0.1}};
enum { KNOWN = sizeof known / sizeof *known };

static struct cal_point points[CAL_MOST_SIZES];
static struct cal_piece pieces[CAL_MOST_PIECES];

/* 0 to 1, another one for each i. */
static double share(size_t i)
{
    const double x = sin((double)(i + 1) * 12.9898) * 43758.5453;
    return x - floor(x);
}

/* All sizes, each up to so much longer than known. */
static size_t measure(double noise)
{
    int64_t bytes[CAL_MOST_SIZES];
    uint64_t random = 1;
    const size_t n = cal_sizes(bytes, 1000, &random);
    for (size_t i = 0; i < n; i++)
        points[i] = (struct cal_point){bytes[i], cal_pieces_ns(known, KNOWN, bytes[i]) *
                                                     (1 + noise * share(i))};
    return n;
}

static void expect_near(double value, double expected, double share_off)
{
    if (!(fabs(value - expected) <= share_off * expected))
        fail_msg("%g, not %g", value, expected);
}

/* Each break is between the sizes that are on its two sides. */
static void expect_known(size_t n, size_t n_points, double share_off)
{
    assert_int_equal(n, KNOWN);
    assert_int_equal(pieces[0].from_bytes, 1);
    assert_int_equal(pieces[KNOWN - 1].to_bytes, CAL_MOST_BYTES);
    for (size_t i = 0; i < KNOWN; i++) {
        assert_true(pieces[i].to_bytes <= known[i].to_bytes);
        for (size_t k = 0; k < n_points; k++)
            assert_true(points[k].bytes <= pieces[i].to_bytes ||
                        points[k].bytes > known[i].to_bytes);
        expect_near(pieces[i].latency_ns, known[i].latency_ns, share_off);
        expect_near(pieces[i].ns_per_byte, known[i].ns_per_byte, share_off);
    }
}

static void test_exact(void **state)
{
    (void)state;
    const size_t n = measure(0);
    expect_known(cal_pieces_fit(points, n, pieces), n, 1e-6);
    assert_int_equal(pieces[0].to_bytes, 1000); /* both sides of it were measured */
    expect_near(cal_pieces_ns_per_byte(pieces, KNOWN), 0.1, 1e-6);
}

static void test_noise(void **state)
{
    (void)state;
    const size_t n = measure(0.03);
    expect_known(cal_pieces_fit(points, n, pieces), n, 0.06);
}

/* Every eighth size takes twice to four times as long. */
static void test_disturbed(void **state)
{
    (void)state;
    const size_t n = measure(0.02);
    size_t disturbed = 0;
    for (size_t i = 5; i < n; i += 8, disturbed++)
        points[i].ns *= 2 + 2 * share(i);
    const size_t left = cal_points_undisturbed(points, n);
    assert_int_equal(left, n - disturbed);
    expect_known(cal_pieces_fit(points, left, pieces), left, 0.06);
}

/* Nothing is left out where nothing was disturbed, also where ways of sending begin. */
static void test_undisturbed(void **state)
{
    (void)state;
    const size_t n = measure(0.1);
    assert_int_equal(cal_points_undisturbed(points, n), n);
}

static void test_one_line(void **state)
{
    (void)state;
    const size_t n = measure(0);
    for (size_t i = 0; i < n; i++)
        points[i].ns = 700 + 0.25 * (double)points[i].bytes;
    assert_int_equal(cal_pieces_fit(points, n, pieces), 1);
    expect_near(pieces[0].latency_ns, 700, 1e-9);
    expect_near(pieces[0].ns_per_byte, 0.25, 1e-9);
    expect_near(cal_pieces_ns(pieces, 1, 1000), 950, 1e-9);
    expect_near(cal_pieces_ns(pieces, 1, 2 * CAL_MOST_BYTES), 700 + 0.5 * CAL_MOST_BYTES, 1e-9);
}

/* Steeper and steeper: a line would begin below 0. Falling: a line would fall. */
static void test_never_negative(void **state)
{
    (void)state;
    const size_t n = measure(0);
    for (size_t i = 0; i < n; i++)
        points[i].ns = pow((double)points[i].bytes, 1.5);
    size_t found = cal_pieces_fit(points, n, pieces);
    for (size_t i = 0; i < found; i++)
        assert_true(pieces[i].latency_ns >= 0 && pieces[i].ns_per_byte > 0);
    for (size_t i = 0; i < n; i++)
        points[i].ns = 2000 - 10 * (double)i;
    found = cal_pieces_fit(points, n, pieces);
    assert_true(found > 0);
    for (size_t i = 0; i < found; i++)
        assert_true(pieces[i].latency_ns > 0 && pieces[i].ns_per_byte >= 0);
}

static void test_few(void **state)
{
    (void)state;
    const struct cal_point few[] = {{10, 20}, {20, 30}, {40, 50}};
    assert_int_equal(cal_pieces_fit(few, 0, pieces), 0);
    assert_int_equal(cal_pieces_fit(few, 1, pieces), 1);
    expect_near(cal_pieces_ns(pieces, 1, 10), 20, 1e-9);
    assert_int_equal(cal_pieces_fit(few, 3, pieces), 1);
    assert_int_equal(pieces[0].from_bytes, 10);
    assert_int_equal(pieces[0].to_bytes, 40);
    expect_near(pieces[0].latency_ns, 10, 1e-9);
    expect_near(pieces[0].ns_per_byte, 1, 1e-9);
}

/* Whatever was measured, pieces follow on each other and hold four points or more. */
static void test_any(void **state)
{
    (void)state;
    for (size_t seed = 0; seed < 20; seed++) {
        const size_t n = measure(0);
        for (size_t i = 0; i < n; i++)
            points[i].ns *= exp(3 * share(seed * 1000 + i));
        const size_t found = cal_pieces_fit(points, n, pieces);
        assert_in_range(found, 1, CAL_MOST_PIECES);
        assert_int_equal(pieces[0].from_bytes, points[0].bytes);
        assert_int_equal(pieces[found - 1].to_bytes, points[n - 1].bytes);
        for (size_t i = 0; i < found; i++) {
            size_t inside = 0;
            for (size_t k = 0; k < n; k++)
                inside += points[k].bytes >= pieces[i].from_bytes &&
                          points[k].bytes <= pieces[i].to_bytes;
            assert_true(inside >= CAL_LEAST_POINTS);
            assert_true(!i || pieces[i].from_bytes == pieces[i - 1].to_bytes + 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),     cmocka_unit_test(test_noise),
        cmocka_unit_test(test_disturbed), cmocka_unit_test(test_undisturbed),
        cmocka_unit_test(test_one_line),  cmocka_unit_test(test_never_negative),
        cmocka_unit_test(test_few),       cmocka_unit_test(test_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
