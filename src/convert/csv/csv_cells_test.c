/* Names as cells of tables. */
#include "convert/csv/csv_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect_cell(const char *name, const char *expected)
{
    struct rfn_text row = {0};
    rfn_csv_name(&row, name);
    assert_string_equal(rfn_text_terminated(&row), expected);
    rfn_text_release(&row);
}

static void test_quotes(void **state)
{
    (void)state;
    expect_cell("MPI_Send", "MPI_Send");
    expect_cell("", "");
    expect_cell("f(int, int)", "\"f(int, int)\"");
    expect_cell("operator\"\"_s", "\"operator\"\"\"\"_s\"");
    expect_cell("two words", "two words");
}

static void test_control_characters(void **state)
{
    (void)state;
    expect_cell("a\nb\r\001", "a\\nb\\x0d\\x01");
    expect_cell("back\\slash", "back\\\\slash");
    expect_cell("gr\303\266\303\237e\377", "gr\303\266\303\237e\\xff");
}

static void test_formulas(void **state)
{
    (void)state;
    expect_cell("=cmd()", "'=cmd()");
    expect_cell("+1", "'+1");
    expect_cell("-1", "'-1");
    expect_cell("@x,y", "\"'@x,y\"");
    expect_cell("a=b", "a=b");
    expect_cell("\t=1", "\\t=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quotes),
                                       cmocka_unit_test(test_control_characters),
                                       cmocka_unit_test(test_formulas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
