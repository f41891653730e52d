/* Columns are as wide as their widest cell, in characters. */
#include "cli/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_table(void **state)
{
    (void)state;
    static const char *const cells[] = {"name", "n", "a", "1,000", "\xc3\xa9t\xc3\xa9", "5"};
    struct rfn_table table;
    struct rfn_text out = {0};
    rfn_table_init(&table, "lr");
    for (size_t i = 0; i < 6; i++) {
        rfn_table_cell(&table, cells[i]);
        if (i == 3)
            rfn_table_note(&table, "below");
    }
    assert_int_equal(rfn_table_width(&table), 13);
    rfn_table_print(&table, 4, &out);
    assert_string_equal(rfn_text_terminated(&out), "  name      n\n"
                                                   "  a     1,000\n"
                                                   "    below\n"
                                                   "  \xc3\xa9t\xc3\xa9       5\n");
    rfn_table_release(&table);
    rfn_text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
