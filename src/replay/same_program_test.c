/* What may be held against each other: recordings of one program, not of two. */
#include "replay/same_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int check(const char *program, const char *command, uint32_t ranks, struct rfn_diag *diag)
{
    const struct rfn_run app = {.program = "app", .command = "./app 10 fast", .ranks = 4};
    const struct rfn_run other = {.program = program, .command = command, .ranks = ranks};
    return rpl_check_same_program("app.rfn", &app, &other, diag);
}

static void expect_refused(const char *program, const char *command, uint32_t ranks,
                           const char *here, const char *there)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    assert_int_equal(check(program, command, ranks, &diag), RFN_E_USAGE);
    assert_non_null(strstr(diag.text, here));
    assert_non_null(strstr(diag.text, there));
    assert_non_null(strstr(diag.text, "app.rfn"));
}

static void test_same(void **state)
{
    (void)state;
    assert_int_equal(check("app", "./app 10 fast", 4, NULL), 0);
    assert_int_equal(check("app", "/where/it/is/app 10 fast", 4, NULL), 0);
    assert_int_equal(check("/where/app", "app 10 fast", 4, NULL), 0);
    assert_int_equal(check("app", "./run.sh", 4, NULL),
                     0); /* what it gives the program is hidden */
}

static void test_other(void **state)
{
    (void)state;
    expect_refused("apple", "./app 10 fast", 4, "'apple'", "'app'");
    expect_refused("pp", "./app 10 fast", 4, "'pp'", "'app'");
    expect_refused(NULL, "./app 10 fast", 4, "''", "'app'");
    expect_refused("app", "./app 20 fast", 4, "'./app 20 fast'", "'./app 10 fast'");
    expect_refused("app", "./app", 4, "'./app'", "'./app 10 fast'");
    expect_refused("app", "./app 10 fast", 8, "of 8 ranks", "of 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
