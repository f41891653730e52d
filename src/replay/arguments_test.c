/* The command line, and the figures that are printed. */
#include "replay/arguments.h"

#include "replay/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WORDS(...) parse(&words, (const char *const[]){"replay", __VA_ARGS__, NULL})

static struct rpl_arguments words;

static int parse(struct rpl_arguments *result, const char *const *given)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    char *argv[16];
    int argc = 0;
    for (; given[argc]; argc++)
        argv[argc] = (char *)given[argc];
    int error = rpl_arguments_parse(result, argc, argv, &diag);
    assert_int_equal(error == 0, diag.text[0] == '\0');
    return error;
}

static void test_words(void **state)
{
    (void)state;
    assert_int_equal(WORDS("a.rfn"), 0);
    assert_string_equal(words.file, "a.rfn");
    assert_true(words.scale == 1 && !words.against && !words.json && !words.repeats);
    assert_int_equal(WORDS("--against=b.rfn", "--repeat=5", "--timeout=9", "--scale-compute=0.5",
                           "--compute=sleep", "--json", "--", "-a.rfn"),
                     0);
    assert_string_equal(words.file, "-a.rfn");
    assert_string_equal(words.against, "b.rfn");
    assert_int_equal(words.repeats, 5);
    assert_int_equal(words.timeout_seconds, 9);
    assert_true(words.scale == 0.5 && words.json && words.compute == RPL_COMPUTE_SLEEP);
    assert_int_equal(WORDS("--no-compute", "a.rfn"), 0);
    assert_true(words.scale == 0);
}

static void test_wrong_words(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "--repeat=0",           "--repeat=x",   "--repeat=1001", "--scale-compute=-1",
        "--scale-compute=nan",  "--compute=no", "--what",        "--timeout=1s",
        "--scale-compute=1e999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(WORDS(wrong[i], "a.rfn"), RFN_E_USAGE);
    assert_int_equal(WORDS("a.rfn", "b.rfn"), RFN_E_USAGE);
    assert_int_equal(WORDS("--", "a.rfn", "b.rfn"), RFN_E_USAGE);
    assert_int_equal(WORDS("--json"), RFN_E_USAGE);
}

static void expect_near(double found, double expected)
{
    assert_true(found > expected - 1e-12 && found < expected + 1e-12);
}

static void test_figures(void **state)
{
    (void)state;
    expect_near(rpl_accuracy(2, 2), 1);
    expect_near(rpl_accuracy(2, 1.5), 0.75);
    expect_near(rpl_accuracy(2, 2.5), 0.75);
    expect_near(rpl_accuracy(1, 3), -1);
    double odd[] = {3, 1, 2}, even[] = {4, 1, 2, 8};
    expect_near(rpl_median(odd, 3), 2);
    expect_near(rpl_median(even, 4), 3);
    expect_near(even[0], 1); /* sorted */
    expect_near(rpl_median(odd, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_wrong_words),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
