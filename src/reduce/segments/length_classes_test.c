/* Classes of lengths: known answers; and against trying all leaders in order. */
#include "reduce/segments/length_classes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct rfn_criterion jitter(double threshold)
{
    return (struct rfn_criterion){
        .method = &rfn_jitter, .threshold = threshold, .more = (double)rfn_jitter.more_ns};
}

static uint32_t find(struct rfn_length_classes *classes, double threshold, int64_t length)
{
    const struct rfn_criterion criterion = jitter(threshold);
    uint32_t number;
    assert_int_equal(rfn_length_classes_find(classes, &criterion, length, &number), 0);
    return number;
}

/* At 0.1 what is near 1 ms is up to 0.2 ms away, or 0.22 ms if it is longer; the lowest-numbered
 * class that is near counts, not the nearest. */
static void test_known(void **state)
{
    (void)state;
    struct rfn_length_classes classes = {0};
    assert_int_equal(find(&classes, 0.1, 1000000), 0);
    assert_int_equal(find(&classes, 0.1, 1222222), 0);
    assert_int_equal(find(&classes, 0.1, 1222223), 1);
    assert_int_equal(find(&classes, 0.1, 1200000), 0);
    assert_int_equal(find(&classes, 0.1, 800000), 0);
    assert_int_equal(find(&classes, 0.1, 799999), 2);
    assert_int_equal(find(&classes, 0.1, 900000), 0);
    assert_int_equal(find(&classes, 0.1, 0), 3);
    assert_int_equal(find(&classes, 0.1, 1222223), 1);
    assert_int_equal(classes.n, 4);
    assert_true(rfn_length_classes_bytes(&classes) > 0);
    rfn_length_classes_release(&classes);
    assert_int_equal(rfn_length_classes_bytes(&classes), 0);
}

static void test_sums(void **state)
{
    (void)state;
    struct rfn_length_classes classes = {0};
    uint32_t number = find(&classes, 0.1, 5);
    rfn_length_classes_add(&classes, number, 5, 1);
    rfn_length_classes_add(&classes, number, 40, 3);
    rfn_length_classes_add(&classes, RFN_NO_LENGTH_CLASS, 1000, 9);
    assert_int_equal(classes.classes[number].leader, 5);
    assert_int_equal(classes.classes[number].length, 45);
    assert_int_equal(classes.classes[number].executions, 4);
    rfn_length_classes_release(&classes);
}

static uint64_t random_state = 1;

static int64_t noise(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* Lengths of all magnitudes, and ends of what a number can be. */
static int64_t random_length(void)
{
    static const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_C(1) << 62};
    return noise(30) ? noise((int64_t)1 << (1 + noise(31))) : extremes[noise(5)];
}

/* The first leader that is similar, as a segment of that length alone would be. */
static uint32_t in_order(const struct rfn_length_classes *classes, double threshold, int64_t length)
{
    const struct rfn_criterion criterion = jitter(threshold);
    const struct rfn_wave wave = {.elements = &(double){(double)length}, .largest = (double)length};
    for (uint32_t i = 0; i < classes->n; i++) {
        double leader = (double)classes->classes[i].leader;
        struct rfn_wave other = {.elements = &leader, .largest = leader};
        if (rfn_similar(&criterion, &wave, &other, 1))
            return i;
    }
    return (uint32_t)classes->n;
}

static void test_random(void **state)
{
    (void)state;
    static const double thresholds[] = {0.0001, 0.02, 0.05, 0.5, 2};
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
        struct rfn_length_classes classes = {0};
        for (int k = 0; k < 3000; k++) {
            int64_t length = random_length();
            uint32_t expected = in_order(&classes, thresholds[i], length);
            assert_int_equal(find(&classes, thresholds[i], length), expected);
        }
        assert_true(classes.n < RFN_LENGTH_CLASSES_MAX);
        rfn_length_classes_release(&classes);
    }
}

/* There are only so many classes; those that are there are found as before. */
static void test_full(void **state)
{
    (void)state;
    struct rfn_length_classes classes = {0};
    for (int64_t i = 0; i < RFN_LENGTH_CLASSES_MAX; i++)
        assert_int_equal(find(&classes, 1e-9, i * 1000), i);
    size_t bytes = rfn_length_classes_bytes(&classes);
    assert_int_equal(find(&classes, 1e-9, 500), RFN_NO_LENGTH_CLASS);
    assert_int_equal(find(&classes, 1e-9, 77000), 77);
    assert_int_equal(rfn_length_classes_bytes(&classes), bytes);
    rfn_length_classes_release(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
