#include "cli/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const verbs[] = {"record", "report", "info", "dump", "verify", "help"};

static const char *nearest(const char *word)
{
    return rfn_nearest(word, verbs, sizeof verbs / sizeof verbs[0]);
}

static void test_distance(void **state)
{
    (void)state;
    assert_int_equal(rfn_word_distance("", ""), 0);
    assert_int_equal(rfn_word_distance("", "abc"), 3);
    assert_int_equal(rfn_word_distance("abc", ""), 3);
    assert_int_equal(rfn_word_distance("kitten", "sitting"), 3);
    assert_int_equal(rfn_word_distance("record", "recrod"), 1); /* a swap */
    assert_int_equal(rfn_word_distance("ab", "ba"), 1);
    assert_int_equal(rfn_word_distance("abcd", "badc"), 2);
}

static void test_suggestions(void **state)
{
    (void)state;
    assert_string_equal(nearest("recrod"), "record");
    assert_string_equal(nearest("reprot"), "report");
    assert_string_equal(nearest("inf"), "info");
    assert_string_equal(nearest("ver"), "verify");
    assert_string_equal(nearest("dumb"), "dump");
    assert_null(nearest("mpirun"));
    assert_null(nearest("x"));
    assert_null(nearest(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
