/* How often ranks meet, as it is written on a command line. */
#include "refrain/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_legal(void **state)
{
    static const struct {
        const char *text;
        uint64_t segments, ns;
    } cases[] = {{"1", 1, 0},
                 {"1000", 1000, 0},
                 {"1000000000", 1000000000, 0},
                 {"30s", 0, 30000000000},
                 {"0.5s", 0, 500000000},
                 {"0.000000001s", 0, 1},
                 {"1000000.25s", 0, 1000000250000000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rfn_every every;
        assert_true(rfn_every_parse(cases[i].text, &every));
        assert_int_equal(every.segments, cases[i].segments);
        assert_int_equal(every.ns, cases[i].ns);
    }
}

static void test_illegal(void **state)
{
    static const char *const texts[] = {
        "",    "0",    "-1",         "+1",       "1.5",           "0s",          "0.0s",
        "s",   ".5s",  "1.s",        "1 s",      "1ms",           "1m",          "1S",
        "1e3", "0x10", "1000000001", "1000001s", "0.0000000001s", "99999999999", "1s "};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rfn_every every = {1, 1};
        assert_false(rfn_every_parse(texts[i], &every));
        assert_true(every.segments == 0 && every.ns == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legal),
        cmocka_unit_test(test_illegal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
