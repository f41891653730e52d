/* archive_stream_test.c - calls with words that no recorder writes, as a damaged archive has. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "refrain/actions.h"
#include "refrain/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[96];
static struct rfn_writer *writer;
static struct rfn_archive *archive;
static struct rfn_actions *actions;
static struct rfn_diag diag;

/* A run of one rank with volumes. */
static int setup(void **state)
{
    const struct rfn_run run = {.ranks = 1, .volume = "flops", .volume_unit = ""};
    (void)state;
    strcpy(folder, "/tmp/refrain-stream-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.rfn", folder);
    assert_int_equal(rfn_writer_new(path, false, &run, &writer, &diag), 0);
    assert_int_equal(rfn_writer_host(writer, "host", 1), 0);
    assert_int_equal(rfn_writer_path(writer, NULL, 0), 0);
    assert_int_equal(rfn_writer_comm(writer, RFN_COMM_WORLD, NULL, 0, NULL, 0), 0);
    assert_int_equal(rfn_writer_stream(writer, 0, 0, 0, true), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_actions_free(actions);
    rfn_archive_close(archive);
    actions = NULL;
    archive = NULL;
    unlink(path);
    return rmdir(folder);
}

static void call(const struct rfn_function_info *function, const int64_t *in, int64_t gap)
{
    const int64_t number = rfn_writer_function(writer, function);
    const struct rfn_record record = {
        .function = (uint32_t)number, .polls = 1, .in = in, .volume_gap = gap};
    assert_true(number >= 0);
    assert_int_equal(rfn_writer_event(writer, 0, &record), 0);
}

static void open_actions(void)
{
    assert_int_equal(rfn_writer_close(writer, NULL), 0);
    assert_int_equal(rfn_archive_open(path, &archive, &diag), 0);
    assert_int_equal(rfn_actions_of_archive(archive, false, &actions, &diag), 0);
}

static struct rfn_action next(enum rfn_action_kind kind)
{
    struct rfn_action action;
    assert_int_equal(rfn_actions_next(actions, 0, &action), 1);
    assert_int_equal(action.kind, kind);
    return action;
}

static void end(void)
{
    struct rfn_action action;
    assert_int_equal(rfn_actions_next(actions, 0, &action), 0);
}

static const struct rfn_function_info finalize = {.name = "MPI_Finalize",
                                                  .class_ = RFN_CLASS_SETUP};

static void test_sleeps(void **state)
{
    static const struct rfn_param_info params[] = {{"ns", RFN_KIND_INT, 0}};
    static const struct rfn_function_info sleeps = {
        .name = "sleep", .class_ = RFN_CLASS_OTHER, .n_in = 1, .params = params};
    (void)state;
    call(&sleeps, (const int64_t[]){1500000000}, 0);
    call(&sleeps, (const int64_t[]){-7}, 0);
    call(&finalize, NULL, 0);
    open_actions();
    assert_true(next(RFN_ACTION_SLEEP).seconds == 1.5);
    assert_true(next(RFN_ACTION_SLEEP).seconds == 0);
    next(RFN_ACTION_FINALIZE);
    end();
}

/* A function of that name that does not say for how long. */
static void test_sleep_without_a_time(void **state)
{
    static const struct rfn_function_info sleeps = {.name = "sleep", .class_ = RFN_CLASS_OTHER};
    (void)state;
    call(&sleeps, NULL, 5);
    call(&finalize, NULL, 2);
    open_actions();
    assert_true(next(RFN_ACTION_COMPUTE).volume == 7);
    next(RFN_ACTION_FINALIZE);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sleeps, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sleep_without_a_time, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
