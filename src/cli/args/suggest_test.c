#include "cli/args/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const verbs[] = {"record", "report", "info", "dump", "verify", "help"};

static const char *suggested(const char *word)
{
    return rfn_suggest(word, verbs, sizeof verbs / sizeof verbs[0]);
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
    assert_string_equal(suggested("recrod"), "record");
    assert_string_equal(suggested("reprot"), "report");
    assert_string_equal(suggested("inf"), "info");
    assert_string_equal(suggested("ver"), "verify");
    assert_string_equal(suggested("dumb"), "dump");
    assert_null(suggested("mpirun"));
    assert_null(suggested("x"));
    assert_null(suggested(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
