/* ti_parser_test.c - lines of both dialects as actions. */
#include "convert/text/ti_parser.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct rfn_ti_parser parser;
static struct rfn_action action;

static int setup(void **state)
{
    (void)state;
    parser = (struct rfn_ti_parser){.rank = 1, .n_ranks = 4, .dialect = RFN_TEXT_SIMGRID};
    return 0;
}

static int setup_thesis(void **state)
{
    setup(state);
    parser.dialect = RFN_TEXT_THESIS;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_ti_parser_release(&parser);
    return 0;
}

/* The line as an action of this kind. */
static void line(const char *text, enum rfn_action_kind kind)
{
    const int got = rfn_ti_parse(&parser, text, strlen(text), &action);
    if (got != 1)
        fail_msg("%s: %s", text, parser.fault);
    assert_int_equal(action.kind, kind);
}

static void wrong(const char *text, const char *fault)
{
    assert_int_equal(rfn_ti_parse(&parser, text, strlen(text), &action), RFN_E_CORRUPT);
    if (!strstr(parser.fault, fault))
        fail_msg("%s: \"%s\" does not say \"%s\"", text, parser.fault, fault);
}

static void test_messages_of_simgrid(void **state)
{
    (void)state;
    line("1 init 1", RFN_ACTION_INIT); /* MPI_DOUBLE is the type */
    line("1 send 3 17 10", RFN_ACTION_SEND);
    assert_true(action.blocks);
    assert_int_equal(action.peer, 3);
    assert_int_equal(action.tag, 17);
    assert_int_equal(action.bytes, 80);
    line("1 isend 2 5 1e3 6", RFN_ACTION_SEND); /* MPI_BYTE */
    assert_false(action.blocks);
    assert_int_equal(action.bytes, 1000);
    assert_int_equal(action.request, 0);
    line("1 recv -555 9 4 1\r", RFN_ACTION_RECV);
    assert_int_equal(action.peer, RFN_ACTION_ANY);
    assert_int_equal(action.bytes, 16);
    line("1 recv 0 9 -1", RFN_ACTION_RECV);
    assert_int_equal(action.bytes, -1);
    line("1 sendRecv 5 2 7 3 6 1", RFN_ACTION_SENDRECV);
    assert_int_equal(action.bytes, 5);
    assert_int_equal(action.receive_peer, 3);
    assert_int_equal(action.receive_bytes, 28);
}

static void test_messages_of_thesis(void **state)
{
    (void)state;
    line("1 init", RFN_ACTION_INIT);
    line("1 send 2 1e6", RFN_ACTION_SEND);
    assert_int_equal(action.bytes, 1000000);
    assert_int_equal(action.tag, 0);
    line("1 recv 3", RFN_ACTION_RECV);
    assert_int_equal(action.bytes, -1);
    line("1 Irecv 3 8", RFN_ACTION_RECV);
    line("1 Isend 2 16", RFN_ACTION_SEND);
    assert_int_equal(action.request, 1);
    line("1 wait", RFN_ACTION_WAIT); /* the one that was posted last */
    assert_int_equal(action.n_requests, 1);
    assert_int_equal(action.requests[0], 1);
    line("1 waitAll", RFN_ACTION_WAIT);
    assert_int_equal(action.n_requests, 1);
    assert_int_equal(action.requests[0], 0);
    wrong("1 wait", "no request is pending");
    line("1 send 2 512 1", RFN_ACTION_SEND); /* of MPI_INT */
    assert_int_equal(action.bytes, 2048);
    assert_int_equal(action.tag, 0);
    line("1 Irecv 0 3 0", RFN_ACTION_RECV);
    assert_int_equal(action.bytes, 24);
    wrong("1 send 2", "field 4 is missing: a count");
    wrong("1 send 2 5 7", "\"7\", is not a type");
    wrong("1 send 2 5 100 1", "\"100\", is not a type");
    wrong("1 wait 2 1 7", "field 3 is one too many");
}

/* Fig. 3.20 and Table 3.1; with 2 ranks displacements are no types. */
static void test_collective_calls_of_thesis(void **state)
{
    (void)state;
    line("1 bcast 4 1 2", RFN_ACTION_BCAST);
    assert_int_equal(action.root, 1);
    assert_int_equal(action.bytes, 4);
    line("1 reduce 4 1e3 3 0", RFN_ACTION_REDUCE);
    assert_int_equal(action.root, 3);
    assert_int_equal(action.bytes, 32);
    line("1 allGatherV 5 1 2 3 4 0 1 3 6", RFN_ACTION_ALLGATHERV);
    assert_int_equal(action.receives[3], 4);
    line("1 allToAllv 10 1 2 3 4 0 1 3 6 26 5 6 7 8 0 5 11 18", RFN_ACTION_ALLTOALLV);
    assert_int_equal(action.receives[3], 8);
    parser.n_ranks = 2;
    line("1 allGatherV 5 1 2 0 1", RFN_ACTION_ALLGATHERV);
    assert_int_equal(action.bytes, 5);
    assert_int_equal(action.receives[1], 2);
}

/* What each line alone says of the dialect. */
static void test_dialects(void **state)
{
    static const struct {
        const char *line;
        enum rfn_ti_line dialect;
    } lines[] = {{"0 init", RFN_TI_EITHER},
                 {"0 bcast 4 1 2", RFN_TI_EITHER},
                 {"0 comm_size 4", RFN_TI_EITHER},
                 {"# send 1 2", RFN_TI_EITHER},
                 {"0 what 1 2", RFN_TI_EITHER},
                 {"0 send 1 512 1", RFN_TI_UNCLEAR},
                 {"0 recv 1 0 6", RFN_TI_UNCLEAR},
                 {"0 send 1 0 0", RFN_TI_EITHER}, /* nothing, without a tag: as in both */
                 {"0 send 1 512 7", RFN_TI_SIMGRID},
                 {"0 send 1 0 1e3", RFN_TI_SIMGRID},
                 {"0 send 1 512 1 6", RFN_TI_SIMGRID},
                 {"0 send 1 -5 1", RFN_TI_SIMGRID},
                 {"0 recv -555 512 1", RFN_TI_SIMGRID},
                 {"0 recv 1 0 -1", RFN_TI_SIMGRID},
                 {"0 isend 1 512 1", RFN_TI_SIMGRID},
                 {"0 wait 0 1 0", RFN_TI_SIMGRID},
                 {"0 waitall", RFN_TI_SIMGRID},
                 {"0 allreduce 8 1", RFN_TI_SIMGRID},
                 {"0 sendRecv 1 1 1 1", RFN_TI_SIMGRID},
                 {"0 send 1 512", RFN_TI_THESIS},
                 {"0 send 1 1e6 1", RFN_TI_THESIS},
                 {"0 send 1 3000000000 1", RFN_TI_THESIS},
                 {"0 recv 1", RFN_TI_THESIS},
                 {"0 Isend 1 512 1", RFN_TI_THESIS},
                 {"0 wait", RFN_TI_THESIS},
                 {"0 waitAll", RFN_TI_THESIS},
                 {"0 allReduce 8 1", RFN_TI_THESIS}};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (rfn_ti_line_dialect(lines[i].line, strlen(lines[i].line)) != lines[i].dialect)
            fail_msg("%s", lines[i].line);
    }
}

static void test_readings(void **state)
{
    struct rfn_ti_readings is;
    (void)state;
    rfn_ti_readings("0 send 1 512 1", 14, &is);
    assert_int_equal(is.tag, 512);
    assert_int_equal(is.simgrid_count, 1);
    assert_int_equal(is.thesis_count, 512);
    assert_int_equal(is.thesis_bytes, 4);
}

/* A mixture of dialects is told only where the dialect was recognized. */
static void test_strict(void **state)
{
    (void)state;
    line("1 allReduce 8 1", RFN_ACTION_ALLREDUCE);
    parser.strict = true;
    wrong("1 allReduce 8 1", "allReduce: so only the thesis' dialect names it");
    parser.dialect = RFN_TEXT_THESIS;
    line("1 allReduce 8 1", RFN_ACTION_ALLREDUCE);
    wrong("1 allreduce 8 1", "allreduce: so only SimGrid's");
    wrong("1 sleep 1", "sleep: so only SimGrid's");
}

/* Requests of a key form a queue; a message to itself has one key at both ends. */
static void test_waits(void **state)
{
    (void)state;
    line("1 irecv 2 7 1", RFN_ACTION_RECV);
    line("1 irecv 2 7 1", RFN_ACTION_RECV);
    line("1 isend 2 7 1", RFN_ACTION_SEND);
    line("1 isend 1 7 1", RFN_ACTION_SEND);
    line("1 irecv 1 7 1", RFN_ACTION_RECV);
    line("1 wait 2 1 7", RFN_ACTION_WAIT);
    assert_int_equal(action.requests[0], 0);
    line("1 wait 1 2 7", RFN_ACTION_WAIT);
    assert_int_equal(action.requests[0], 2);
    line("1 wait 1 1 7", RFN_ACTION_WAIT);
    assert_int_equal(action.requests[0], 3);
    line("1 wait 2 1 8", RFN_ACTION_WAIT); /* SimGrid passes over it, too */
    assert_int_equal(action.n_requests, 0);
    line("1 irecv 2 7 1", RFN_ACTION_RECV);
    line("1 test 2 1 7", RFN_ACTION_TEST); /* which moves it behind the other one */
    assert_int_equal(action.requests[0], 1);
    line("1 wait 2 1 7", RFN_ACTION_WAIT);
    assert_int_equal(action.requests[0], 5);
    line("1 waitall", RFN_ACTION_WAIT);
    assert_int_equal(action.n_requests, 2);
    assert_int_equal(action.requests[0], 1);
    assert_int_equal(action.requests[1], 4);
    assert_int_equal(parser.requests.n_pending, 0);
    assert_int_equal(parser.requests.queues.n, 0);
}

static void test_collective_calls(void **state)
{
    (void)state;
    line("1 bcast 100", RFN_ACTION_BCAST);
    assert_int_equal(action.root, 0);
    line("1 bcast 100 3 1", RFN_ACTION_BCAST);
    assert_int_equal(action.root, 3);
    assert_int_equal(action.bytes, 400);
    line("1 reduce 10 1.5e3 2 0", RFN_ACTION_REDUCE);
    assert_int_equal(action.bytes, 80);
    assert_true(action.volume == 1500);
    line("1 allReduce 10 7", RFN_ACTION_ALLREDUCE);
    assert_int_equal(action.bytes, 10);
    line("1 gather 10 20 2 0 1", RFN_ACTION_GATHER);
    assert_int_equal(action.bytes, 80);
    assert_int_equal(action.receive_bytes, 80);
    line("1 alltoall 3 4 1 0", RFN_ACTION_ALLTOALL);
    assert_int_equal(action.bytes, 12);
    assert_int_equal(action.receive_bytes, 32);
    line("1 gatherv 5 1 2 3 4 2", RFN_ACTION_GATHERV);
    assert_int_equal(action.root, 2);
    assert_int_equal(action.receives[3], 4);
    line("1 allgatherv 5 1 2 3 4 1 0", RFN_ACTION_ALLGATHERV);
    assert_int_equal(action.bytes, 20);
    assert_int_equal(action.receives[3], 32);
    line("1 allgatherv 5 1 2 3 4 0 1 3 6", RFN_ACTION_ALLGATHERV); /* with displacements */
    assert_int_equal(action.receives[3], 4);
    line("1 scatterv 1 2 3 4 9 1", RFN_ACTION_SCATTERV);
    assert_int_equal(action.sends[2], 3);
    assert_int_equal(action.receive_bytes, 9);
    assert_int_equal(action.root, 1);
    line("1 alltoallv 10 1 2 3 4 26 5 6 7 8 6 1", RFN_ACTION_ALLTOALLV);
    assert_int_equal(action.sends[3], 4);
    assert_int_equal(action.receives[0], 20);
    line("1 reducescatter 1 2 3 4 99", RFN_ACTION_REDUCE_SCATTER);
    assert_int_equal(action.receives[1], 2);
    assert_true(action.volume == 99);
}

static void test_lines_without_action(void **state)
{
    static const char *const lines[] = {
        "", "   \t", "# 1 send", "1 comm_size 4", "1 comm_split", "1 location x.c 12"};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(rfn_ti_parse(&parser, lines[i], strlen(lines[i]), &action), 0);
    assert_int_equal(rfn_ti_line_rank("", 0), -1);
    assert_int_equal(rfn_ti_line_rank("  # x", 5), -1);
    assert_int_equal(rfn_ti_line_rank("12 x", 4), 12);
    assert_int_equal(rfn_ti_line_rank("x 12", 4), RFN_E_CORRUPT);
    assert_true(rfn_ti_is_action("0 init", 6));
    assert_false(rfn_ti_is_action("0", 1));
    assert_false(rfn_ti_is_action("traces/0.txt", 12));
}

static void test_wrong_lines(void **state)
{
    (void)state;
    wrong("1 send 4 0 1", "field 3, \"4\", is not a rank");
    wrong("1 send 2 x 1", "field 4, \"x\", is not a tag");
    wrong("1 isend 2", "field 4 is missing: a tag");
    wrong("1 send 2 1e6 1", "\"1e6\", is not a tag");
    wrong("1 wait", "field 3 is missing");
    wrong("1 send 2 0 -1", "field 5, \"-1\", is not a count");
    wrong("1 send 2 0 1 99", "is not a type");
    wrong("1 send 2 0 1 42", "is not a type with a size");
    wrong("1 send 2 0 1 6 7", "field 7 is one too many");
    wrong("1 compute nan", "is not a volume");
    wrong("1 compute 1e999", "is not a volume");
    wrong("1 compute", "field 3 is missing");
    wrong("1 wait 2 3 0", "neither source 2 nor destination 3");
    wrong("1 gatherv 5 1 2 3", "is missing");
    wrong("1 alltoallv 1 1 1 1 1 1 1 1 1", "is missing");
    wrong("1 put 2 0 1", "\"put\" is no action");
    wrong("2 init", "in the file of rank 1");
    wrong("one init", "not with a rank");
    wrong("1", "no action behind the rank");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_messages_of_simgrid, setup, teardown),
        cmocka_unit_test_setup_teardown(test_messages_of_thesis, setup_thesis, teardown),
        cmocka_unit_test_setup_teardown(test_collective_calls_of_thesis, setup_thesis, teardown),
        cmocka_unit_test_setup_teardown(test_dialects, setup, teardown),
        cmocka_unit_test_setup_teardown(test_readings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_strict, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_collective_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lines_without_action, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_lines, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
