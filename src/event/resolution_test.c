/* Resolutions as they are written on a command line. */
#include "refrain/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_legal(void **state)
{
    (void)state;
    assert_int_equal(rfn_resolution_parse("1ns"), 1);
    assert_int_equal(rfn_resolution_parse("50ns"), 50);
    assert_int_equal(rfn_resolution_parse("007us"), 7000);
    assert_int_equal(rfn_resolution_parse("3ms"), 3000000);
    assert_int_equal(rfn_resolution_parse("1s"), 1000000000);
    assert_int_equal(rfn_resolution_parse("1000000000ns"), 1000000000);
}

static void test_illegal(void **state)
{
    static const char *const texts[] = {
        "",      "1",   "ns",    "0ns",         "-1ns",
        "+1ns",  "1 s", "1sec",  "1.5us",       "2s",
        "1000s", "1NS", "0x1ns", "9999999999s", "18446744073709551617ns"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(rfn_resolution_parse(texts[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legal),
        cmocka_unit_test(test_illegal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
