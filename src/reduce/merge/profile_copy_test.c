/* Copies of profiles: what they say is what the profile says, in any clock; and bytes that are none
 * are refused. */
#include "reduce/merge/profile_copy.h"

#include "support/fake_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct fake_stream plain = {
    .begin = 1000, .unit = 1, .work = 5000, .wait = 300, .slow = 900, .steps = 400};

static struct rfn_buf copy_in(const struct fake_stream *of, const char *criterion,
                              const struct rfn_time_line *line)
{
    struct rfn_buf copy = RFN_BUF_INIT;
    struct rfn_stream_profile *profile = fake_profile(of, criterion);
    assert_non_null(profile);
    assert_int_equal(rfn_profile_copy_make(profile, line, 0, &copy), 1);
    rfn_stream_profile_free(profile);
    return copy;
}

static struct rfn_buf copy_of(const struct fake_stream *of, const char *criterion)
{
    return copy_in(of, criterion, &RFN_TIME_LINE_NS);
}

static int alike_bytes(const struct rfn_buf *a, const struct rfn_buf *b, const char *text)
{
    struct rfn_criterion criterion;
    struct rfn_profile_copy *left, *right = NULL;
    assert_int_equal(rfn_criterion_parse(text, true, &criterion, NULL), 0);
    int same = rfn_profile_copy_open(a, &left);
    if (!same)
        same = rfn_profile_copy_open(b, &right);
    if (!same)
        same = rfn_profile_copies_alike(&criterion, left, right);
    if (same >= 0 && left) /* and again */
        assert_int_equal(rfn_profile_copies_alike(&criterion, left, right), same);
    rfn_profile_copy_close(left);
    rfn_profile_copy_close(right);
    return same;
}

static int alike(const struct fake_stream *a, const struct fake_stream *b, const char *criterion)
{
    struct rfn_buf left = copy_of(a, "absDiff:0.05"), right = copy_of(b, "absDiff:0.05");
    int same = alike_bytes(&left, &right, criterion);
    assert_int_equal(alike_bytes(&right, &left, criterion), same);
    rfn_buf_release(&left);
    rfn_buf_release(&right);
    return same;
}

/* Differences of times, starts and numbers, on either side of the threshold. */
static void test_known(void **state)
{
    (void)state;
    struct fake_stream other = plain;
    assert_int_equal(alike(&plain, &other, "absDiff:0"), 1);
    other.begin += 100;
    assert_int_equal(alike(&plain, &other, "absDiff:0.1"), 1);
    assert_int_equal(alike(&plain, &other, "absDiff:0.099"), 0);
    other = plain;
    other.steps = 1;
    struct fake_stream one = other;
    other.work += 10; /* 20 in the step, 30 in the start of the last segment: that of 10 as well */
    assert_int_equal(alike(&one, &other, "absDiff:0.03"), 1);
    assert_int_equal(alike(&one, &other, "absDiff:0.029"), 0);
    other = plain;
    other.steps--;
    assert_int_equal(alike(&plain, &other, "absDiff:1000000"), 0);
    other = plain;
    other.slow += 400; /* adds up: the 57th slow step makes starts that differ by a step and more */
    assert_int_equal(alike(&plain, &other, "chebyshev:0.4"), 0);
    other.steps = one.steps = 12;
    one.slow = plain.slow;
    assert_int_equal(alike(&one, &other, "chebyshev:0.4"), 1);
}

/* Every method that measures finds a stream like itself. */
static void test_methods(void **state)
{
    (void)state;
    struct fake_stream noisy = plain;
    noisy.noise = 7;
    for (size_t i = 0; rfn_similarity_method(i); i++) {
        const struct rfn_similarity *method = rfn_similarity_method(i);
        if (method->across < 0)
            continue;
        assert_int_equal(alike(&noisy, &noisy, method->name), 1);
    }
}

/* The same run in quanta of a quarter of a nanosecond, from another zero on. */
static void test_clocks(void **state)
{
    (void)state;
    struct fake_stream quick = plain;
    quick.unit = 4;
    const struct rfn_time_line line = {.from = 400, .at_ns = 100, .ns_per_quantum = 0.25};
    const struct rfn_time_line late = {.from = 400, .at_ns = 110, .ns_per_quantum = 0.25};
    struct rfn_buf a = copy_of(&plain, "absDiff:0"), b = copy_in(&quick, "absDiff:0", &line),
                   c = copy_in(&quick, "absDiff:0", &late);
    assert_int_equal(alike_bytes(&a, &b, "absDiff:0"), 1);
    assert_int_equal(alike_bytes(&b, &a, "relDiff:0"), 1);
    assert_int_equal(alike_bytes(&a, &c, "absDiff:0.009"), 0);
    assert_int_equal(alike_bytes(&a, &c, "absDiff:0.010"), 1);
    rfn_buf_release(&a);
    rfn_buf_release(&b);
    rfn_buf_release(&c);
}

/* A stream without segments. */
static void test_empty(void **state)
{
    (void)state;
    struct rfn_stream_profile_options options = {0};
    struct rfn_buf copy = RFN_BUF_INIT;
    assert_int_equal(rfn_criterion_parse("jitter", false, &options.criterion, NULL), 0);
    struct rfn_stream_profile *profile = rfn_stream_profile_new(&options);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    assert_int_equal(rfn_profile_copy_make(profile, &RFN_TIME_LINE_NS, 0, &copy), 1);
    assert_int_equal(alike_bytes(&copy, &copy, "jitter"), 1);
    rfn_stream_profile_free(profile);
    rfn_buf_release(&copy);
}

/* What would take too much is not copied, and leaves what was there. */
static void test_too_large(void **state)
{
    (void)state;
    struct fake_stream noisy = plain;
    noisy.noise = 3;
    noisy.steps = 20000;
    struct rfn_stream_profile *profile = fake_profile(&noisy, "absDiff:0");
    struct rfn_buf copy = RFN_BUF_INIT;
    rfn_buf_string(&copy, "before");
    size_t before = copy.size;
    assert_int_equal(rfn_profile_copy_make(profile, &RFN_TIME_LINE_NS, 0, &copy), 1);
    size_t size = copy.size - before;
    assert_in_range(size, 1000, 60000);
    for (size_t limit = 1; limit < size; limit = limit * 3 / 2 + 1) {
        copy.size = before;
        assert_int_equal(rfn_profile_copy_make(profile, &RFN_TIME_LINE_NS, limit, &copy), 0);
        assert_int_equal(copy.size, before);
    }
    assert_int_equal(rfn_profile_copy_make(profile, &RFN_TIME_LINE_NS, 8 * size, &copy), 1);
    rfn_stream_profile_free(profile);
    rfn_buf_release(&copy);
}

/* Cut short anywhere, or with a byte that is another. */
static void test_damage(void **state)
{
    (void)state;
    struct fake_stream noisy = plain;
    noisy.noise = 11;
    noisy.steps = 60;
    struct rfn_buf good = copy_of(&noisy, "absDiff:0.01"), bad = RFN_BUF_INIT;
    for (size_t n = 0; n < good.size; n++) {
        bad.size = 0;
        rfn_buf_bytes(&bad, good.data, n);
        assert_int_equal(alike_bytes(&bad, &good, "absDiff:1"), RFN_E_EXCHANGE);
    }
    bad.size = 0;
    rfn_buf_bytes(&bad, good.data, good.size);
    for (size_t at = 32; at < good.size; at++) {
        for (unsigned bit = 0; bit < 7; bit++) { /* no numbers that become huge */
            bad.data[at] ^= (uint8_t)(1u << bit);
            int same = alike_bytes(&bad, &good, "absDiff:1");
            assert_true(same == 0 || same == 1 || same == RFN_E_EXCHANGE || same == RFN_E_NOMEM);
            bad.data[at] ^= (uint8_t)(1u << bit);
        }
    }
    rfn_buf_release(&good);
    rfn_buf_release(&bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),     cmocka_unit_test(test_methods),
        cmocka_unit_test(test_clocks),    cmocka_unit_test(test_empty),
        cmocka_unit_test(test_too_large), cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
