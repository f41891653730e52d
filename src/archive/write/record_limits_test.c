#include "archive/write/record_limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_functions(void **state)
{
    (void)state;
    assert_int_equal(rfn_may_be_left_out("MPI_Comm_rank"), RFN_MAY_BE_LEFT_OUT);
    assert_int_equal(rfn_may_be_left_out("MPI_Get_count_c"), RFN_MAY_BE_LEFT_OUT);
    assert_int_equal(rfn_may_be_left_out("MPI_Testany"), RFN_FAILED_MAY_BE_LEFT_OUT);
    assert_int_equal(rfn_may_be_left_out("MPI_Iprobe"), RFN_FAILED_MAY_BE_LEFT_OUT);
    static const char *const stay[] = {
        "MPI_Send",        "MPI_Send_c",     "MPI_Recv",     "MPI_Wait", "MPI_Barrier",
        "MPI_Comm_dup",    "MPI_Init",       "MPI_Pcontrol", "MPI_Get",  "MPI_Request_free",
        "MPI_Cancel",      "MPI_Group_incl", "MPI_Type",     "MPI_",     "Comm_rank",
        "MPI_Win_set_info"};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        assert_int_equal(rfn_may_be_left_out(stay[i]), RFN_STAYS);
}

static void test_calls(void **state)
{
    struct rfn_sample_where where;
    (void)state;
    assert_int_equal(
        rfn_limited_calls_parse("MPI_Test*,MPI_Iprobe,!MPI_Testall,path=*halo*", &where, NULL), 0);
    assert_true(rfn_sample_where_fits(&where, RFN_WHERE_FUNCTION, "MPI_Testany"));
    assert_true(rfn_sample_where_fits(&where, RFN_WHERE_FUNCTION, "MPI_Iprobe"));
    assert_false(rfn_sample_where_fits(&where, RFN_WHERE_FUNCTION, "MPI_Testall"));
    assert_string_equal(where.patterns[RFN_WHERE_PATH], "*halo*");
    assert_null(where.patterns[RFN_WHERE_FILE]);
    rfn_sample_where_release(&where);
    assert_int_equal(rfn_limited_calls_parse("file=halo.c", &where, NULL), 0);
    assert_true(rfn_sample_where_fits(&where, RFN_WHERE_FUNCTION, "MPI_Comm_rank"));
    assert_true(where.any);
    rfn_sample_where_release(&where);
}

static void test_wrong_calls(void **state)
{
    static const struct {
        const char *text, *why;
    } wrong[] = {{"MPI_Send", "MPI_Send has to stay"},
                 {"MPI_Iprobe,MPI_Allreduce", "MPI_Allreduce has to stay"},
                 {"MPI_I?end", "fits no function that may be left out"},
                 {"Iprobe", "fits no function that may be left out"},
                 {"", "fits no function that may be left out"},
                 {"MPI_Iprobe,", "fits no function that may be left out"},
                 {"!", "fits no function that may be left out"},
                 {"bytes=4K", "is neither a pattern of MPI functions"},
                 {"MPI_Iprobe,comm=x", "is neither a pattern of MPI functions"},
                 {"path=", "is none of"}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rfn_sample_where where;
        struct rfn_diag diag = {.file_offset = -1, .rank = -1};
        assert_int_equal(rfn_limited_calls_parse(wrong[i].text, &where, &diag), RFN_E_USAGE);
        assert_non_null(strstr(diag.text, wrong[i].why));
        rfn_sample_where_release(&where);
    }
}

static void test_rates(void **state)
{
    static const char *const wrong[] = {"",
                                        "MPI_Iprobe",
                                        "MPI_Iprobe:",
                                        "MPI_Iprobe:0",
                                        "MPI_Iprobe:none",
                                        "MPI_Iprobe:1,",
                                        ":5",
                                        "MPI_Send:5",
                                        "MPI_Iprobe:1234567890123",
                                        "MPI_Iprobe:12345678901234567"};
    const char *text = "MPI_Test*:10,MPI_Iprobe:1000000000,MPI_Testall:7";
    (void)state;
    assert_int_equal(rfn_limited_rates_check(text, NULL), 0);
    assert_int_equal(rfn_limited_rate(text, "MPI_Testany"), 10);
    assert_int_equal(rfn_limited_rate(text, "MPI_Testall"), 7);
    assert_int_equal(rfn_limited_rate(text, "MPI_Iprobe"), 1000000000);
    assert_true(rfn_limited_rate(text, "MPI_Comm_rank") == UINT64_MAX);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(rfn_limited_rates_check(wrong[i], NULL), RFN_E_USAGE);
}

static void test_until(void **state)
{
    static const char *const wrong[] = {"",         "0",           "10x",      "-1s",
                                        "1.5s",     "segment=0",   "segment=", "level=x",
                                        "level=-1", "1000000001s", "s",        "10 s",
                                        "region=3"};
    struct rfn_until until;
    (void)state;
    assert_true(rfn_until_parse("10", &until));
    assert_true(until.kind == RFN_UNTIL_TIME && until.number == 10000000000);
    assert_true(rfn_until_parse("2min", &until));
    assert_true(until.number == 120000000000);
    assert_true(rfn_until_parse("500ms", &until));
    assert_true(until.number == 500000000);
    assert_true(rfn_until_parse("segment=20", &until));
    assert_true(until.kind == RFN_UNTIL_SEGMENT && until.number == 20);
    assert_true(rfn_until_parse("level=0", &until));
    assert_true(until.kind == RFN_UNTIL_LEVEL && until.number == 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(rfn_until_parse(wrong[i], &until));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions),
                                       cmocka_unit_test(test_calls),
                                       cmocka_unit_test(test_wrong_calls),
                                       cmocka_unit_test(test_rates), cmocka_unit_test(test_until)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
