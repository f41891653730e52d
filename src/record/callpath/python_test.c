/* What python.h reads of texts and lines; frames are tested in whole runs (tests/test_python.py).
 */
#include "record/callpath/python.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SHORT = 0, ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
#define ENTRY(code, instructions) (uint8_t)(0x80 | (code) << 3 | ((instructions)-1))

/* The forms of entries of a table, in CPython's Objects/locations.md. */
static void test_lines(void **state)
{
    (void)state;
    static const uint8_t table[] = {
        ENTRY(ONE_LINE + 2, 1),
        0,
        9, /* instruction 0: 2 lines on */
        ENTRY(SHORT + 3, 8),
        0x12,           /* 1 to 8: the same line */
        ENTRY(NONE, 2), /* 9, 10: no line of their own */
        ENTRY(NO_COLUMNS, 1),
        3, /* 11: one line back */
        ENTRY(LONG, 2),
        0x48,
        3,
        1, /* 12, 13: 8 + 3 * 64 = 200, which is 100 lines on; */
        2,
        2, /* an end line and two columns */
        ENTRY(NO_COLUMNS, 1),
        0x41,
        1, /* 14: 1 + 64 = 65, which is 32 lines back */
    };
    static const uint32_t expected[] = {12, 12, 12, 12, 12,  12,  12, 12,
                                        12, 12, 12, 11, 111, 111, 79};
    for (int64_t i = 0; i < 15; i++)
        assert_int_equal(rec_python_line(table, sizeof table, 10, i), expected[i]);
    assert_int_equal(rec_python_line(table, sizeof table, 10, -1), 10);
    assert_int_equal(rec_python_line(table, sizeof table, 10, 1000), 79); /* the last there is */
    assert_int_equal(rec_python_line(table, 0, 10, 0), 10);
}

/* Tables that end in the middle of an entry are read up to their end. */
static void test_cut_lines(void **state)
{
    (void)state;
    const uint8_t table[] = {ENTRY(LONG, 2), 0x48, 0x43};
    assert_int_equal(rec_python_line(table, 1, 10, 5), 10);
    assert_int_equal(rec_python_line(table, 2, 10, 5), 14); /* 8: 4 lines on */
    assert_int_equal(rec_python_line(table, 3, 10, 5), 110);
}

static void check_character(uint32_t character, const char *expected)
{
    char bytes[REC_PYTHON_CHARACTER];
    const size_t n = rec_python_character(character, bytes);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(bytes, expected, n);
}

/* The first and the last character of each length (RFC 3629), and bytes of file names. */
static void test_characters(void **state)
{
    (void)state;
    check_character(1, "\x01");
    check_character(0x7f, "\x7f");
    check_character(0x80, "\xc2\x80");
    check_character(0x7ff, "\xdf\xbf");
    check_character(0x800, "\xe0\xa0\x80");
    check_character(0xffff, "\xef\xbf\xbf");
    check_character(0x10000, "\xf0\x90\x80\x80");
    check_character(0x10ffff, "\xf4\x8f\xbf\xbf");
    check_character(0xdc80, "\x80");
    check_character(0xdcff, "\xff");
    check_character(0xdc7f, "\xed\xb1\xbf");
    check_character(0xdd00, "\xed\xb4\x80");
}

/* This program has no interpreter. */
static void test_no_interpreter(void **state)
{
    (void)state;
    struct rec_python_frame frame;
    struct rec_python_stack stack;
    assert_false(rec_python_begin(&stack));
    assert_false(rec_python_read((uintptr_t)&frame, &frame));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_cut_lines),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_no_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
