/* Conditions on sampled messages: what they take, and what they refuse. */
#include "reduce/samples/where.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct rfn_sample_where parsed(const char *text)
{
    struct rfn_sample_where where;
    assert_int_equal(rfn_sample_where_parse(text, &where, NULL), 0);
    return where;
}

static void sizes_are_ranges(void **state)
{
    (void)state;
    struct rfn_sample_where where = parsed("bytes=4K-1M");
    assert_true(where.any);
    assert_false(rfn_sample_where_bytes(&where, 4095));
    assert_true(rfn_sample_where_bytes(&where, 4096));
    assert_true(rfn_sample_where_bytes(&where, 1048576));
    assert_false(rfn_sample_where_bytes(&where, 1048577));
    where = parsed("bytes=-8");
    assert_true(rfn_sample_where_bytes(&where, 0));
    assert_false(rfn_sample_where_bytes(&where, 9));
    where = parsed("bytes=1G-");
    assert_false(rfn_sample_where_bytes(&where, (1 << 30) - 1));
    assert_true(rfn_sample_where_bytes(&where, UINT64_MAX));
    where = parsed("bytes=8");
    assert_true(rfn_sample_where_bytes(&where, 8));
    assert_false(rfn_sample_where_bytes(&where, 7));
    where = parsed("");
    assert_false(where.any);
    assert_true(rfn_sample_where_bytes(&where, UINT64_MAX));
}

static void one_pattern_of_a_kind_has_to_fit(void **state)
{
    (void)state;
    struct rfn_sample_where where = parsed(
        "function=MPI_I*,function=!MPI_Isend,path=*halo*,level=-2");
    assert_true(rfn_sample_where_fits(&where, RFN_WHERE_FUNCTION, "MPI_Issend"));
    assert_false(rfn_sample_where_fits(&where, RFN_WHERE_FUNCTION, "MPI_Isend"));
    assert_false(rfn_sample_where_fits(&where, RFN_WHERE_FUNCTION, "MPI_Send"));
    assert_true(rfn_sample_where_fits(&where, RFN_WHERE_PATH, "exchange_halo_x"));
    assert_false(rfn_sample_where_fits(&where, RFN_WHERE_PATH, "solve"));
    assert_false(rfn_sample_where_fits(&where, RFN_WHERE_PATH, NULL));
    assert_true(rfn_sample_where_fits(&where, RFN_WHERE_COMM, NULL));
    assert_true(where.has_level);
    assert_int_equal(where.level, -2);
    rfn_sample_where_release(&where);
    assert_null(where.patterns[RFN_WHERE_FUNCTION]);
}

static void what_is_no_condition_is_refused(void **state)
{
    static const char *const bad[] = {"bytes",    "bytes=",    "bytes=-",    "bytes=9-8",
                                      "bytes=4X", "bytes=4Kx", "bytes=4--8", "bytes=99999999999G",
                                      "level=",   "level=2x",  "path=",      "path=!",
                                      "tag=3",    "bytes=4,,"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rfn_sample_where where;
        struct rfn_diag diag = {.file_offset = -1, .rank = -1};
        assert_int_equal(rfn_sample_where_parse(bad[i], &where, &diag), RFN_E_USAGE);
        assert_non_null(strstr(diag.text, "bytes=LOW-HIGH"));
        rfn_sample_where_release(&where);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_ranges),
        cmocka_unit_test(one_pattern_of_a_kind_has_to_fit),
        cmocka_unit_test(what_is_no_condition_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
