/* Batches: whoever takes iterations at once sees the events that a cursor delivers one by one. The
 * run is that of archive_model.h, of whose exchange, the innermost loop, only times vary. */
#include "archive/cursor/cursor.h"
#include "refrain/archive.h"
#include "support/archive_model.h"

#include <stdlib.h>

static struct rfn_archive *open_model(bool steady, bool volumes, bool times)
{
    static struct rfn_buf file;
    struct rfn_archive *archive = NULL;
    rfn_buf_release(&file);
    model_steady = steady;
    file = write_archive(SOUND, volumes, times);
    assert_int_equal(rfn_archive_open_memory(file.data, file.size, &archive, NULL), 0);
    return archive;
}

/* Two cursors of one stream: one delivers one by one. */
struct both {
    struct rfn_cursor *plain, *batched;
    uint64_t events, in_batches;
    bool cut;
};

static const struct rfn_record *expected_next(struct both *both)
{
    const struct rfn_record *record;
    assert_int_equal(rfn_cursor_next(both->plain, &record, NULL), 1);
    assert_int_equal(record->index, both->events++);
    return record;
}

static void expect_words(const struct rfn_record *is, const struct rfn_record *expected)
{
    assert_int_equal(is->symbol, expected->symbol);
    assert_int_equal(is->function, expected->function);
    assert_int_equal(is->path, expected->path);
    unsigned n_in = schemas[is->symbol].n_in, n_out = schemas[is->symbol].n_out;
    for (unsigned i = 0; i < n_in; i++)
        assert_int_equal(is->in[i], expected->in[i]);
    for (unsigned i = 0; i < n_out; i++)
        assert_int_equal(is->out[i], expected->out[i]);
}

static void compare_batch(struct both *both, struct rfn_batch *batch)
{
    int64_t ns = batch->before_ns;
    assert_int_equal(batch->first, both->events);
    assert_int_equal(batch->n % batch->width, 0);
    while (batch->taken < batch->n) {
        uint32_t place = batch->taken % batch->width;
        const struct rfn_record *expected = expected_next(both);
        const struct rfn_batch_time *time = &batch->times[batch->taken];
        expect_words(batch->records[place], expected);
        assert_int_equal(expected->enter_ns, ns += time->gap_ns);
        assert_int_equal(expected->exit_ns, ns += time->duration_ns);
        bool begins = !place && (batch->taken ? batch->all_begin : batch->begins);
        batch->taken++;
        both->in_batches++;
        assert_int_equal(rfn_batch_taken_ns(batch), ns);
        if (!both->cut)
            continue;
        assert_int_equal(expected->begins, begins);
        assert_int_equal(expected->context, batch->context);
    }
    assert_int_equal(batch->end_ns, ns);
}

static void compare_one(struct both *both)
{
    const struct rfn_record *record, *expected = expected_next(both);
    assert_int_equal(rfn_cursor_next(both->batched, &record, NULL), 1);
    expect_words(record, expected);
    assert_int_equal(record->index, expected->index);
    assert_int_equal(record->enter_ns, expected->enter_ns);
    assert_int_equal(record->exit_ns, expected->exit_ns);
    assert_int_equal(record->begins, expected->begins);
    assert_int_equal(record->context, expected->context);
}

static void compare(struct both *both, uint64_t n)
{
    const struct rfn_record *record;
    while (both->events < n) {
        struct rfn_batch *batch;
        int got = rfn_cursor_next_batch(both->batched, &batch, NULL);
        assert_true(got >= 0);
        if (got)
            compare_batch(both, batch);
        else
            compare_one(both);
    }
    assert_int_equal(rfn_cursor_next(both->batched, &record, NULL), 0);
    assert_int_equal(rfn_cursor_finish(both->batched, NULL), 0);
}

/* Returns how many events of a stream come in batches. min_calls: of segments; UINT32_MAX: none. */
static uint64_t batched(const struct rfn_archive *archive, uint32_t stream, uint32_t min_calls)
{
    struct both both = {.cut = min_calls != UINT32_MAX};
    assert_int_equal(rfn_cursor_open(archive, stream, &both.plain, NULL), 0);
    assert_int_equal(rfn_cursor_open(archive, stream, &both.batched, NULL), 0);
    if (both.cut) {
        assert_int_equal(rfn_cursor_cut_segments(both.plain, min_calls, NULL), 0);
        assert_int_equal(rfn_cursor_cut_segments(both.batched, min_calls, NULL), 0);
    }
    compare(&both, rfn_archive_stream(archive, stream).events);
    rfn_cursor_close(both.plain);
    rfn_cursor_close(both.batched);
    return both.in_batches;
}

/* The first iteration comes event by event, and so do those that are alone. Streams 0 to 2
 * exchange 2, 0, 4 times, then once; stream 3 exchanges 5 times, once, never. */
static void test_iterations(void **state)
{
    (void)state;
    struct rfn_archive *archive = open_model(true, false, true);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(batched(archive, i, UINT32_MAX), 2 * 4);
    assert_int_equal(batched(archive, 3, UINT32_MAX), 2 * 4);
    assert_int_equal(batched(archive, 4, UINT32_MAX), 0);
    rfn_archive_close(archive);
}

/* ... whether each iteration is a segment, those of the loop around are, or nothing is. */
static void test_segments(void **state)
{
    (void)state;
    struct rfn_archive *archive = open_model(true, false, true);
    for (uint32_t min_calls = 1; min_calls < 5; min_calls++) {
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(batched(archive, i, min_calls), 2 * 4);
    }
    rfn_archive_close(archive);
}

/* The event that ends when STREAMS says comes alone. */
static void test_end(void **state)
{
    (void)state;
    model_late = 1000;
    struct rfn_archive *archive = open_model(true, false, true);
    for (uint32_t i = 0; i < N_STREAMS; i++)
        assert_int_equal(batched(archive, i, UINT32_MAX), i < 4 ? 2 * 4 : 0);
    rfn_archive_close(archive);
    model_late = 0;
}

/* Four calls between two visits of loops come at once, from the second iteration on, whatever trips
 * the visits have; segments or not. Streams 0 to 2 have three iterations, stream 3 has two. */
static void test_between_loops(void **state)
{
    (void)state;
    model_around = true;
    struct rfn_archive *archive = open_model(true, false, true);
    for (uint32_t min_calls = 1; min_calls < 9; min_calls++) {
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(batched(archive, i, min_calls), 2 * 4 + (i < 3 ? 2 : 1) * 4);
    }
    assert_int_equal(batched(archive, 0, UINT32_MAX), 2 * 4 + 2 * 4);
    rfn_archive_close(archive);
    model_around = false;
}

/* Words or volumes that vary, and no times: then there are none. */
static void test_none(void **state)
{
    (void)state;
    for (int variant = 0; variant < 3; variant++) {
        struct rfn_archive *archive = open_model(variant != 0, variant == 1, variant != 2);
        for (uint32_t i = 0; i < N_STREAMS; i++)
            assert_int_equal(batched(archive, i, 1), 0);
        rfn_archive_close(archive);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iterations),    cmocka_unit_test(test_segments),
        cmocka_unit_test(test_between_loops), cmocka_unit_test(test_none),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
