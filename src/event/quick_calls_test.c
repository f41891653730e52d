/* Which calls are fast in every MPI. */
#include "event/quick_calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_quick(void **state)
{
    (void)state;
    static const char *const quick[] = {
        "MPI_Comm_rank", "MPI_Type_get_true_extent", "MPI_Type_get_true_extent_c", "MPI_Group_size",
        "MPI_Address",   "MPI_Win_set_name"};
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
        assert_true(rfn_call_is_quick(quick[i]));
}

/* They copy data, wait, look through lists, run code of the program, or are none of MPI's. */
static void test_others(void **state)
{
    (void)state;
    static const char *const others[] = {"MPI_Pack",       "MPI_Barrier",
                                         "MPI_Comm_split", "MPI_Type_indexed",
                                         "MPI_Group_incl", "MPI_Type_free",
                                         "MPI_Alloc_mem",  "MPI_Comm_ran",
                                         "MPI_omm_rank",   "MPI_",
                                         "MPI__c",         "MPI_Wait",
                                         "Comm_rank",      ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(rfn_call_is_quick(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quick), cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
