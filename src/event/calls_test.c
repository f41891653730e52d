/* What functions are found to be, and where their parameters stand. */
#include "event/calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NB = RFN_FUNCTION_NONBLOCKING, PERS = RFN_FUNCTION_PERSISTENT };
enum { COLL = RFN_FUNCTION_COLLECTIVE };

static struct rfn_call call_of(const char *name, uint8_t class_, int flags, uint8_t n_in,
                               uint8_t n_out, const struct rfn_param_info *params)
{
    const struct rfn_function_info function = {name, class_, (uint8_t)flags, n_in, n_out, params};
    struct rfn_call call;
    rfn_call_init(&call, &function);
    return call;
}

static void expect_name(const char *name, uint8_t class_, int flags, enum rfn_operation operation,
                        enum rfn_call_variant variant)
{
    struct rfn_call call = call_of(name, class_, flags, 0, 0, NULL);
    assert_int_equal(call.operation, operation);
    assert_int_equal(call.variant, variant);
}

static void test_variants(void **state)
{
    (void)state;
    expect_name("MPI_Send", RFN_CLASS_SEND, 0, RFN_MPI_Send, RFN_CALL_BLOCKING);
    expect_name("MPI_Send_c", RFN_CLASS_SEND, 0, RFN_MPI_Send, RFN_CALL_BLOCKING);
    expect_name("MPI_Ibsend", RFN_CLASS_SEND, NB, RFN_MPI_Bsend, RFN_CALL_NONBLOCKING);
    expect_name("MPI_Send_init", RFN_CLASS_SEND, PERS, RFN_MPI_Send, RFN_CALL_PERSISTENT);
    expect_name("MPI_Psend_init", RFN_CLASS_SEND, PERS, RFN_MPI_Psend, RFN_CALL_PERSISTENT);
    expect_name("MPI_Ialltoallw_c", RFN_CLASS_ALL_TO_ALL, NB, RFN_MPI_Alltoallw,
                RFN_CALL_NONBLOCKING);
    expect_name("MPIX_Bcast_init", RFN_CLASS_ONE_TO_ALL, PERS, RFN_MPI_Bcast, RFN_CALL_PERSISTENT);
    expect_name("MPI_Iprobe", RFN_CLASS_PROBE, RFN_FUNCTION_POLL, RFN_MPI_Iprobe,
                RFN_CALL_BLOCKING); /* a poll makes no request */
    expect_name("MPI_Comm_idup", RFN_CLASS_COMM, NB, RFN_MPI_Comm_idup, RFN_CALL_NONBLOCKING);
    expect_name("MPI_Rput", RFN_CLASS_RMA, NB, RFN_MPI_Rput, RFN_CALL_NONBLOCKING);
    expect_name("MPI_Init", RFN_CLASS_SETUP, COLL, RFN_MPI_Init, RFN_CALL_BLOCKING);
    expect_name("MPI_Wtime", RFN_CLASS_OTHER, 0, RFN_MPI_OTHER, RFN_CALL_BLOCKING);
    expect_name("Send", RFN_CLASS_SEND, 0, RFN_MPI_OTHER, RFN_CALL_BLOCKING);
    assert_string_equal(rfn_operation_name(RFN_MPI_Sendrecv_replace), "Sendrecv_replace");
}

static const struct rfn_param_info send_params[] = {
    {"buf", RFN_KIND_BUFFER, 0}, {"count", RFN_KIND_COUNT, 0}, {"datatype", RFN_KIND_TYPE, 0},
    {"dest", RFN_KIND_RANK, 0},  {"tag", RFN_KIND_TAG, 0},     {"comm", RFN_KIND_COMM, 0}};
static const struct rfn_param_info some_params[] = {
    {"incount", RFN_KIND_INT, 0},
    {"array_of_requests", RFN_KIND_REQUEST | RFN_KIND_LIST, 0},
    {"array_of_indices", RFN_KIND_INT | RFN_KIND_LIST, RFN_PARAM_OUT},
    {"completions", RFN_KIND_COMPLETIONS, RFN_PARAM_OUT}};
static const struct rfn_param_info two_comms[] = {
    {"local_comm", RFN_KIND_COMM, 0}, {"local_leader", RFN_KIND_RANK, 0},
    {"peer_comm", RFN_KIND_COMM, 0},  {"remote_leader", RFN_KIND_RANK, 0},
    {"tag", RFN_KIND_TAG, 0},         {"newintercomm", RFN_KIND_COMM, RFN_PARAM_OUT}};

static void test_parameters(void **state)
{
    (void)state;
    struct rfn_call call = call_of("MPI_Rsend", RFN_CLASS_SEND, 0, 6, 0, send_params);
    assert_int_equal(call.kind, RFN_CALL_SEND);
    assert_int_equal(call.mode, RFN_SEND_READY);
    assert_int_equal(call.in[RFN_IN_count], 1);
    assert_int_equal(call.in[RFN_IN_dest], 3);
    assert_int_equal(call.in[RFN_IN_RANK], 3);
    assert_int_equal(call.in[RFN_IN_COMM], 5);
    assert_int_equal(call.in[RFN_IN_source], -1);
    assert_int_equal(call.send_tag, 4);
    call = call_of("MPI_Waitsome", RFN_CLASS_COMPLETION, 0, 2, 2, some_params);
    assert_int_equal(call.kind, RFN_CALL_COMPLETE);
    assert_int_equal(call.in[RFN_IN_REQUEST], 1);
    assert_true(call.requests && call.indices);
    assert_int_equal(call.out[RFN_OUT_INDEX], 0);
    assert_int_equal(call.out[RFN_OUT_COMPLETIONS], 1);
    call = call_of("MPI_Intercomm_create", RFN_CLASS_COMM, COLL, 5, 1, two_comms);
    assert_int_equal(call.kind, RFN_CALL_MAKE);
    assert_int_equal(call.in[RFN_IN_COMM], 0);
    assert_int_equal(call.in[RFN_IN_peer_comm], 2);
    assert_int_equal(call.out[RFN_OUT_COMM], 0);
}

static const struct rfn_param_info one_comm[] = {{"comm", RFN_KIND_COMM, 0}};
static const struct rfn_param_info one_request[] = {{"request", RFN_KIND_REQUEST, 0}};
static const struct rfn_param_info one_region[] = {{"name", RFN_KIND_REGION, 0}};
static const struct rfn_param_info one_number[] = {{"name", RFN_KIND_INT, 0}};

static void expect_kind(const char *name, uint8_t class_, int flags,
                        const struct rfn_param_info *params, enum rfn_call_kind kind)
{
    assert_int_equal(call_of(name, class_, flags, params ? 1 : 0, 0, params).kind, kind);
}

/* A schema that lacks what a kind needs, as a broken file may have, is of none. */
static void test_kinds(void **state)
{
    (void)state;
    expect_kind("MPI_Barrier", RFN_CLASS_BARRIER, COLL, one_comm, RFN_CALL_BARRIER);
    expect_kind("MPI_Barrier", RFN_CLASS_BARRIER, COLL, NULL, RFN_CALL_OTHER);
    expect_kind("MPI_New_scan", RFN_CLASS_SCAN, COLL, one_comm, RFN_CALL_SCAN);
    expect_kind("MPI_Comm_free", RFN_CLASS_COMM, COLL, one_comm, RFN_CALL_MAKE);
    expect_kind("MPI_Comm_create_group", RFN_CLASS_COMM, COLL, one_comm, RFN_CALL_OTHER);
    expect_kind("MPI_Init_thread", RFN_CLASS_SETUP, COLL, NULL, RFN_CALL_INIT);
    expect_kind("MPI_Start", RFN_CLASS_START, 0, one_request, RFN_CALL_START);
    expect_kind("MPI_Start", RFN_CLASS_START, 0, NULL, RFN_CALL_OTHER);
    expect_kind("MPI_Pready", RFN_CLASS_START, 0, one_request, RFN_CALL_READY);
    expect_kind("MPI_Parrived", RFN_CLASS_START, 0, one_request, RFN_CALL_OTHER);
    expect_kind("MPI_Wait", RFN_CLASS_COMPLETION, 0, NULL, RFN_CALL_OTHER);
    expect_kind("MPI_Request_get_status", RFN_CLASS_OTHER, 0, one_request, RFN_CALL_LOOK);
    expect_kind("MPI_Cancel", RFN_CLASS_OTHER, 0, one_request, RFN_CALL_CANCEL);
    expect_kind("refrain_region_begin", RFN_CLASS_REGION, 0, one_region, RFN_CALL_REGION_BEGIN);
    expect_kind("refrain_region_end", RFN_CLASS_REGION, 0, one_region, RFN_CALL_REGION_END);
    expect_kind("refrain_region_begin", RFN_CLASS_REGION, 0, one_number, RFN_CALL_OTHER);
    expect_kind("refrain_region_end", RFN_CLASS_REGION, 0, NULL, RFN_CALL_OTHER);
}

static void test_files(void **state)
{
    (void)state;
    struct rfn_call call = call_of("MPI_File_iread_at", RFN_CLASS_FILE, NB, 0, 0, NULL);
    assert_true(call.reads && !call.writes);
    call = call_of("MPI_File_write_all_end", RFN_CLASS_FILE, COLL, 0, 0, NULL);
    assert_false(call.reads || call.writes); /* the call that began has the counts */
    call = call_of("MPI_File_write_all_begin", RFN_CLASS_FILE, COLL, 0, 0, NULL);
    assert_true(call.writes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
