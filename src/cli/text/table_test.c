/* Columns are as wide as their widest cell, in characters. */
#include "cli/text/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_table(void **state)
{
    (void)state;
    struct rfn_table table;
    struct rfn_text out = {0}, note = {0};
    rfn_table_init(&table, "lr", "name\tn");
    rfn_table_row(&table, "%s\t%s", "a", "1,000");
    rfn_text_string(&note, "below\nthat");
    rfn_table_note(&table, &note);
    rfn_table_row(&table, "\xc3\xa9t\xc3\xa9\t%d", 5);
    rfn_table_cell(&table, "a\tb");
    rfn_table_cell(&table, "");
    rfn_table_print(&table, 4, &out);
    assert_string_equal(rfn_text_terminated(&out), "  name      n\n"
                                                   "  a     1,000\n"
                                                   "    below\n"
                                                   "    that\n"
                                                   "  \xc3\xa9t\xc3\xa9       5\n"
                                                   "  a\tb\n");
    rfn_text_release(&out);
}

/* Names come from a file: they neither command the terminal nor begin a new line or cell. */
static void test_names(void **state)
{
    (void)state;
    struct rfn_table table;
    struct rfn_text out = {0};
    rfn_table_init(&table, "ll", "name\tmore");
    rfn_table_name(&table, "e\033[1m\tv\nil");
    rfn_table_cell(&table, "x");
    rfn_table_print(&table, 2, &out);
    assert_string_equal(rfn_text_terminated(&out), "  name             more\n"
                                                   "  e\\x1b[1m\\tv\\nil  x\n");
    rfn_text_release(&out);
}

/* Columns are hidden in the order given, until rows fit. */
static void test_fit(void **state)
{
    (void)state;
    static const unsigned spare[] = {1, 0};
    static const char *const expected[] = {"  one  two  three\n  1    2    3\n",
                                           "  one  three\n  1    3\n", "  three\n  3\n"};
    static const size_t widths[] = {17, 16, 11};
    for (size_t i = 0; i < 3; i++) {
        struct rfn_table table;
        struct rfn_text out = {0};
        rfn_table_init(&table, "lll", "one\ttwo\tthree");
        rfn_table_row(&table, "1\t2\t3");
        rfn_table_fit(&table, widths[i], spare, 2);
        rfn_table_print(&table, 2, &out);
        assert_string_equal(rfn_text_terminated(&out), expected[i]);
        rfn_text_release(&out);
    }
}

/* Where memory was short for a cell, nothing is printed; without a text there is no place to. */
static void test_failure(void **state)
{
    (void)state;
    struct rfn_table table;
    struct rfn_text out = {0}, failed = {.failed = true};
    rfn_table_init(&table, "l", "title");
    rfn_table_text(&table, &failed);
    rfn_table_print(&table, 2, &out);
    assert_true(out.failed);
    assert_int_equal(out.n, 0);
    rfn_table_init(&table, "l", "title");
    rfn_table_print(&table, 2, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_fit), cmocka_unit_test(test_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
