/* Tables of JSON as comma-separated values. */
#include "cli/text/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect_csv(const char *json, const char *expected)
{
    struct rfn_text out = {0};
    json_t *rows = json_loads(json, 0, NULL);
    assert_non_null(rows);
    rfn_csv_append(&out, rows);
    assert_string_equal(rfn_text_terminated(&out), expected);
    rfn_text_release(&out);
    json_decref(rows);
}

static void test_cells(void **state)
{
    (void)state;
    expect_csv("[{\"b\": 1, \"a\": 0.5, \"c\": \"plain\"}]", "b,a,c\r\n1,0.5,plain\r\n");
    expect_csv("[{\"a\": \"x,y\", \"b\": \"say \\\"no\\\"\", \"c\": \"1\\n2\"}]",
               "a,b,c\r\n\"x,y\",\"say \"\"no\"\"\",\"1\n2\"\r\n");
    expect_csv("[{\"a\": null, \"b\": true, \"c\": [1, \"x\"]}]",
               "a,b,c\r\n,true,\"[1,\"\"x\"\"]\"\r\n");
    expect_csv("[{\"a\": 4.750161663}, {\"a\": 86400.123456789}]",
               "a\r\n4.750161663\r\n86400.123456789\r\n");
}

/* Rows need not have the same members. */
static void test_columns(void **state)
{
    (void)state;
    expect_csv("[{\"a\": 1}, {\"b\": 2, \"a\": 3}]", "a,b\r\n1,\r\n3,2\r\n");
    expect_csv("[{\"time\": {\"min\": 1, \"max\": 2}, \"n\": 3}]",
               "time.min,time.max,n\r\n1,2,3\r\n");
    expect_csv("{\"one\": [{\"a\": 1}], \"none\": [], \"two\": [{\"a\": 2}]}",
               "kind,a\r\none,1\r\ntwo,2\r\n");
    expect_csv("[]", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells),
                                       cmocka_unit_test(test_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
