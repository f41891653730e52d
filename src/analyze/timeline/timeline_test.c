/* Time in bins, of a run that is small enough to be worked out by hand. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "refrain/timeline.h"

#include "refrain/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[96];
static struct rfn_archive *archive;
static struct rfn_timeline *timeline;

enum { BARRIER, PCONTROL, POLL };

static void put(struct rfn_writer *writer, uint32_t function, int64_t enter, int64_t exit,
                int64_t inside, const int64_t *in)
{
    const bool polls = function == POLL;
    const struct rfn_record record = {.function = function,
                                      .in = in,
                                      .polls = polls ? 10 : 1,
                                      .failed_poll = polls,
                                      .enter_ns = enter,
                                      .exit_ns = exit,
                                      .inside_ns = inside};
    assert_int_equal(rfn_writer_event(writer, 0, &record), 0);
}

/* A barrier from 100 to 200; polls from 250 to 350, 30 ns of them inside of MPI; recording is
 * off from 400 to 600; a barrier from 700 to 1000. */
static int setup(void **state)
{
    static const struct rfn_param_info level[] = {{"level", RFN_KIND_INT, 0}};
    static const struct rfn_function_info functions[] = {
        [BARRIER] = {.name = "MPI_Barrier", .class_ = RFN_CLASS_BARRIER},
        [PCONTROL] = {.name = "MPI_Pcontrol", .n_in = 1, .params = level},
        [POLL] = {.name = "MPI_Iprobe", .class_ = RFN_CLASS_PROBE, .flags = RFN_FUNCTION_POLL}};
    const struct rfn_run run = {.recorder = "test", .ranks = 1, .times = true};
    const int64_t off = 0, on = 1;
    struct rfn_writer *writer;
    (void)state;
    strcpy(folder, "/tmp/refrain-timeline-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.rfn", folder);
    assert_int_equal(rfn_writer_new(path, false, &run, &writer, NULL), 0);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        assert_int_equal(rfn_writer_function(writer, &functions[i]), i);
    assert_int_equal(rfn_writer_path(writer, NULL, 0), 0);
    assert_int_equal(rfn_writer_host(writer, "host", 1), 0);
    assert_int_equal(rfn_writer_stream(writer, 0, 0, 0, false), 0);
    put(writer, BARRIER, 100, 200, 100, NULL);
    put(writer, POLL, 250, 350, 30, NULL);
    put(writer, PCONTROL, 400, 400, 0, &off);
    put(writer, PCONTROL, 600, 600, 0, &on);
    put(writer, BARRIER, 700, 1000, 300, NULL);
    assert_int_equal(rfn_writer_close(writer, NULL), 0);
    assert_int_equal(rfn_archive_open(path, &archive, NULL), 0);
    assert_int_equal(rfn_timeline_open(archive, 0, &timeline, NULL), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_timeline_close(timeline);
    rfn_archive_close(archive);
    unlink(path);
    return rmdir(folder);
}

static void expect(const struct rfn_timeline_window *window, size_t kind, const double *expected)
{
    struct rfn_timeline_bin bins[8] = {0};
    assert_true(window->n <= 8);
    assert_int_equal(rfn_timeline_add(timeline, window, bins, NULL), 0);
    for (uint32_t i = 0; i < window->n; i++)
        assert_float_equal(
            (float)(kind < RFN_TIMELINE_KIND_COUNT ? bins[i].ns[kind] : bins[i].selected_ns),
            (float)expected[i], 1e-3F);
}

static const struct rfn_timeline_window whole = {.from_ns = 0, .to_ns = 1000, .n = 4};

/* Before the first call and while recording is off nothing is known. */
static void test_whole(void **state)
{
    (void)state;
    expect(&whole, RFN_TIMELINE_COLLECTIVES, (const double[]){100, 0, 50, 250});
    expect(&whole, RFN_TIMELINE_MESSAGES, (const double[]){0, 30, 0, 0});
    expect(&whole, RFN_TIMELINE_COMPUTING, (const double[]){50, 70 + 50, 100, 0});
}

/* A window in the middle has what overlaps it, also in cells that end within a call. */
static void test_window(void **state)
{
    const struct rfn_timeline_window window = {.from_ns = 150, .to_ns = 350, .n = 2};
    (void)state;
    expect(&window, RFN_TIMELINE_COLLECTIVES, (const double[]){50, 0});
    expect(&window, RFN_TIMELINE_COMPUTING, (const double[]){50, 70});
    expect(&window, RFN_TIMELINE_MESSAGES, (const double[]){0, 30});
    expect(&whole, RFN_TIMELINE_COLLECTIVES, (const double[]){100, 0, 50, 250});
}

/* A window within a pause has nothing. */
static void test_pause(void **state)
{
    const struct rfn_timeline_window window = {.from_ns = 450, .to_ns = 650, .n = 2};
    (void)state;
    expect(&window, RFN_TIMELINE_COMPUTING, (const double[]){0, 50});
    expect(&window, RFN_TIMELINE_COLLECTIVES, (const double[]){0, 0});
}

static void test_selected(void **state)
{
    struct rfn_timeline_window window = whole;
    (void)state;
    window.selects = true;
    window.function = BARRIER;
    expect(&window, RFN_TIMELINE_KIND_COUNT, (const double[]){100, 0, 50, 250});
    window.function = PCONTROL;
    expect(&window, RFN_TIMELINE_KIND_COUNT, (const double[]){0, 0, 0, 0});
}

static void test_cells(void **state)
{
    struct rfn_timeline_bin bins[4] = {0};
    uint8_t cells[4 * RFN_TIMELINE_CELL_BYTES];
    (void)state;
    assert_int_equal(rfn_timeline_add(timeline, &whole, bins, NULL), 0);
    rfn_timeline_pack(&whole, bins, cells);
    const uint8_t expected[] = {RFN_TIMELINE_COLLECTIVES, 170, 0, RFN_TIMELINE_MESSAGES,    51,  0,
                                RFN_TIMELINE_COLLECTIVES, 85,  0, RFN_TIMELINE_COLLECTIVES, 255, 0};
    assert_memory_equal(cells, expected, sizeof cells);
}

static void test_ends(void **state)
{
    int64_t from, to;
    (void)state;
    assert_int_equal(rfn_timeline_ends(archive, &from, &to), 0);
    assert_int_equal(from, 100);
    assert_int_equal(to, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(test_window, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selected, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cells, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
