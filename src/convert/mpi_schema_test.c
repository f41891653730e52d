#include "convert/mpi_schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void check_name(const char *as, const char *expected)
{
    char name[RFN_MPI_NAME];
    assert_true(rfn_mpi_name(as, name));
    assert_string_equal(name, expected);
}

static void test_names(void **state)
{
    char name[RFN_MPI_NAME];
    (void)state;
    check_name("MPI_Send", "MPI_Send");
    check_name("mpi_comm_split_", "MPI_Comm_split");
    check_name("mpi_comm_split__", "MPI_Comm_split");
    check_name("MPI_SENDRECV", "MPI_Sendrecv");
    check_name("MPI_Waitall()", "MPI_Waitall");
    check_name("MPI_Bcast_c", "MPI_Bcast_c");
    assert_false(rfn_mpi_name("main", name));
    assert_false(rfn_mpi_name("MPI_", name));
    assert_false(rfn_mpi_name("MPI_1", name));
    assert_false(rfn_mpi_name("PMPI_Send", name));
    assert_false(rfn_mpi_name(
        "MPI_Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", name));
}

static void check_kind(const char *name, enum rfn_form form, bool nonblocking)
{
    const struct rfn_mpi_kind kind = rfn_mpi_kind(name);
    assert_int_equal(kind.form, form);
    assert_int_equal(kind.nonblocking, nonblocking);
}

static void test_kinds(void **state)
{
    (void)state;
    check_kind("MPI_Send", RFN_FORM_SEND, false);
    check_kind("MPI_Issend", RFN_FORM_SEND, true);
    check_kind("MPI_Irsend", RFN_FORM_SEND, true);
    check_kind("MPI_Irecv", RFN_FORM_IRECV, true);
    check_kind("MPI_Recv_c", RFN_FORM_RECV, false);
    check_kind("MPI_Ibcast", RFN_FORM_BCAST, true);
    check_kind("MPI_Iexscan_c", RFN_FORM_SCAN, true);
    check_kind("MPI_Rput", RFN_FORM_PUT, true);
    check_kind("MPI_Reduce", RFN_FORM_REDUCE, false);
    check_kind("MPI_Rsend", RFN_FORM_SEND, false);
    check_kind("MPI_Iprobe", RFN_FORM_PLAIN, false);
    check_kind("MPI_Init", RFN_FORM_PLAIN, false);
    check_kind("MPI_Iwait", RFN_FORM_PLAIN, false);
    check_kind("MPI_Type_c", RFN_FORM_PLAIN, false);
}

/* Every form has room in an event, and inputs before outcomes. */
static void test_forms(void **state)
{
    (void)state;
    for (int form = 0; form < RFN_FORMS; form++) {
        const struct rfn_function_info function = rfn_form_function("MPI_Any", (enum rfn_form)form,
                                                                    false);
        assert_true(function.n_in <= RFN_FORM_INPUTS && function.n_out <= RFN_FORM_OUTCOMES);
        for (int i = 0; i < function.n_in + function.n_out; i++)
            assert_int_equal(function.params[i].flags & RFN_PARAM_OUT,
                             i < function.n_in ? 0 : RFN_PARAM_OUT);
    }
}

static void test_classes(void **state)
{
    (void)state;
    assert_int_equal(rfn_form_function("MPI_Ssend", RFN_FORM_SEND, false).class_, RFN_CLASS_SSEND);
    assert_int_equal(rfn_form_function("MPI_Isend", RFN_FORM_SEND, true).flags,
                     RFN_FUNCTION_NONBLOCKING);
    assert_int_equal(rfn_form_function("MPI_Init", RFN_FORM_PLAIN, false).class_, RFN_CLASS_SETUP);
    assert_int_equal(rfn_form_function("MPI_Initialized", RFN_FORM_PLAIN, false).class_,
                     RFN_CLASS_OTHER);
    assert_int_equal(rfn_form_function("MPI_File_open", RFN_FORM_PLAIN, false).class_,
                     RFN_CLASS_FILE);
    assert_int_equal(rfn_form_function("MPI_Win_fence", RFN_FORM_WIN, false).flags,
                     RFN_FUNCTION_COLLECTIVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_kinds),
                                       cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
