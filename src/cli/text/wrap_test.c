/* Sentences as lines: nothing is lost, and no line is wider than the page. */
#include "cli/text/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *before, const char *words, size_t width, size_t indent,
                   const char *expected)
{
    struct rfn_text text = {0}, out = {0};
    rfn_text_string(&out, before);
    rfn_text_string(&text, words);
    rfn_text_wrap(&out, &text, width, indent);
    rfn_text_char(&out, '\0');
    assert_false(out.failed);
    assert_string_equal(out.data, expected);
    rfn_text_release(&text);
    rfn_text_release(&out);
}

static void test_lines(void **state)
{
    (void)state;
    expect("", "one two three", 80, 2, "one two three\n");
    expect("", "one two three", 7, 2, "one two\n  three\n");
    expect("", "one two three", 8, 0, "one two\nthree\n");
    expect("a\n1. ", "one two three", 10, 3, "a\n1. one two\n   three\n");
    expect("", "", 10, 3, "\n");
    expect("", "  one   two ", 10, 3, "one two\n");
}

static void test_units(void **state)
{
    (void)state;
    expect("", "it costs 5.5 % of it", 12, 0, "it costs\n5.5 % of it\n");
    expect("", "it costs (12 ms), so", 14, 0, "it costs\n(12 ms), so\n");
    expect("", "there are 7 sends", 12, 0, "there are 7\nsends\n");
    expect("", "for 7 s", 6, 0, "for\n7 s\n");
}

static void test_long_words(void **state)
{
    (void)state;
    expect("", "a bcdefghij k", 5, 2, "a\n  bcd\n  efg\n  hij\n  k\n");
    expect("", "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f", 2, 0, "\xc3\xa4\xc3\xb6\n\xc3\xbc\xc3\x9f\n");
    expect("", "abcd", 0, 2, "abc\n  d\n"); /* no width at all: it ends */
}

static void test_count(void **state)
{
    struct rfn_text text = {0};
    (void)state;
    assert_int_equal(rfn_text_lines(&text), 0);
    rfn_text_string(&text, "a\n  bcd\n");
    assert_int_equal(rfn_text_lines(&text), 2);
    rfn_text_release(&text);
}

/* Colours take no room. */
static void test_escapes(void **state)
{
    (void)state;
    struct rfn_text text = {0}, out = {0};
    const char *words = "\033[1;36mone\033[m two three";
    assert_int_equal(rfn_text_columns(words, strlen(words)), 13);
    rfn_text_string(&text, words);
    rfn_text_wrap(&out, &text, 7, 0);
    assert_string_equal(rfn_text_terminated(&out), "\033[1;36mone\033[m two\nthree\n");
    rfn_text_release(&text);
    rfn_text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),      cmocka_unit_test(test_units),
        cmocka_unit_test(test_long_words), cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
