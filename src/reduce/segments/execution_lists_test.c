/* The lists of a stream's profile while it grows. (What is in them: stream_profile_test.c.) */
#include "reduce/segments/execution_lists.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/spill_model.h"

/* Segments of one event, which follow each other without a gap. */
struct stream {
    struct rfn_representative_store *store;
    struct rfn_start_rule starts;
    struct rfn_column order, number, lateness, lengths;
    struct rfn_execution_lists lists;
};

static struct stream make(const char *text, uint32_t max_per_kind)
{
    struct rfn_representative_store_options options = {.max_per_kind = max_per_kind};
    struct stream stream = {0};
    assert_int_equal(rfn_criterion_parse(text, false, &options.criterion, NULL), 0);
    stream.starts = rfn_start_rule_of(&options.criterion, false);
    stream.store = rfn_representative_store_new(&options);
    assert_non_null(stream.store);
    rfn_execution_lists_init(&stream.lists);
    rfn_column_init(&stream.order);
    rfn_column_init(&stream.number);
    rfn_column_init(&stream.lateness);
    rfn_column_init(&stream.lengths);
    return stream;
}

static void release(struct stream *stream)
{
    rfn_execution_lists_release(&stream->lists);
    rfn_representative_store_free(stream->store);
    rfn_column_release(&stream->order);
    rfn_column_release(&stream->number);
    rfn_column_release(&stream->lateness);
    rfn_column_release(&stream->lengths);
}

static struct rfn_held_segments held(const struct stream *stream, uint32_t n_contexts)
{
    return (struct rfn_held_segments){&stream->order, &stream->number, &stream->lateness,
                                      &stream->lengths, n_contexts};
}

static void put(struct stream *stream, uint32_t context, int64_t length, int64_t late)
{
    static const uint32_t symbol = 5;
    const int64_t vector[] = {0, 0, length, length};
    const struct rfn_segment segment = {
        .context = context, .events = &symbol, .n = 1, .roles = RFN_ROLE_MEETS, .vector = vector};
    uint32_t put_as;
    assert_true(rfn_representative_store_put(stream->store, &segment, &put_as) >= 0);
    assert_int_equal(rfn_column_append(&stream->order, context), 0);
    assert_int_equal(rfn_column_append(&stream->number, put_as), 0);
    assert_int_equal(rfn_column_append(&stream->lateness, late), 0);
}

/* Each length is 2 % more than the one before. Whenever five are too far apart the threshold is
 * widened. After the first times lists begin anew at once; when that has happened often enough, not
 * before the stream has become longer. Averages are never those of less than half of it. */
static void test_anew(void **state)
{
    (void)state;
    enum { N = 600 };
    struct stream stream = make("absDiff:0.01", 5);
    const struct rfn_execution_lists *lists = &stream.lists;
    int64_t length = 1000;
    unsigned begun = 0, waited = 0;
    for (uint64_t n = 1; n <= N; n++) {
        uint64_t before = rfn_representative_store_forwarded(stream.store);
        put(&stream, 0, length, 0);
        const struct rfn_held_segments segments = held(&stream, 1);
        rfn_execution_lists_code(&stream.lists, &segments, &stream.starts, stream.store);
        bool all = lists->n == n;
        assert_true(all || lists->n == 0);
        if (rfn_representative_store_forwarded(stream.store) != before)
            begun += all;
        waited += !all;
        assert_true(lists->gone_over <= 4 * n + 2);
        assert_true(!all || n < 2 * lists->frozen_at);
        length += length / 50;
    }
    assert_true(begun > 2 && waited > 2); /* it has begun anew, and has not */
    release(&stream);
}

/* ---- memory ---- */

/* A spill that keeps in mind how far the lists were when it was written to. */
struct watch {
    struct spill_model model;
    const struct rfn_execution_lists *lists;
    uint64_t first_at; /* segments that were in the lists; 0: nothing was written yet */
    bool between;      /* the first context's representatives were described, and no others */
};

static int watch_write(void *context, const void *bytes, size_t size, uint64_t *offset)
{
    struct watch *watch = context;
    const struct rfn_execution_lists *lists = watch->lists;
    if (!watch->first_at)
        watch->first_at = lists->n;
    watch->between |= lists->contexts[0].columns.pace.n && !lists->contexts[1].columns.pace.n;
    return spill_model_write(&watch->model, bytes, size, offset);
}

/* What the end makes leaves memory while it is made, not only then: corrections of the segments,
 * and paces of 3000 representatives of the first context. */
static void test_room(void **state)
{
    (void)state;
    enum { KINDS = 3000, N = 3 * KINDS + 1, ROOM = 4096 };
    struct stream stream = make("absDiff:1", 0);
    struct watch watch = {.lists = &stream.lists};
    uint64_t seed = 1;
    spill_model_init(&watch.model);
    watch.model.spill = (struct rfn_spill){&watch, watch_write, spill_model_read};
    for (int i = 0; i < N - 1; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        put(&stream, 0, 10000 * (1 + i % KINDS) + (int64_t)(seed >> 56),
            (int64_t)(seed >> 32 & 65535));
    }
    put(&stream, 1, 1, 0);
    const struct rfn_held_segments segments = held(&stream, 2);
    assert_int_equal(rfn_execution_lists_finish(&stream.lists, &segments, &stream.starts,
                                                stream.store,
                                                &(struct rfn_room){&watch.model.spill, ROOM}),
                     0);
    assert_in_range(watch.first_at, 1, N / 3);
    assert_true(watch.between);
    assert_int_equal(stream.lists.contexts[0].columns.pace.n, KINDS);
    release(&stream);
    rfn_buf_release(&watch.model.bytes);
}

/* So do corrections of the top, and contexts of first executions. */
static void test_room_of_firsts(void **state)
{
    (void)state;
    enum { N = 20000, ROOM = 4096 };
    struct stream stream = make("absDiff:1", 0);
    struct spill_model model;
    uint64_t seed = 1;
    spill_model_init(&model);
    for (int i = 0; i < N; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        int64_t context = (int64_t)(seed >> 62) + RFN_EXECUTED_TOP;
        assert_int_equal(rfn_column_append(&stream.order, context), 0);
        if (context != RFN_EXECUTED_TOP)
            assert_int_equal(rfn_column_append(&stream.number, RFN_EXECUTED_LOOSE), 0);
        assert_int_equal(rfn_column_append(&stream.lengths, 10000), 0);
        assert_int_equal(rfn_column_append(&stream.lateness, (int64_t)(seed >> 32 & 65535)), 0);
    }
    const struct rfn_held_segments segments = held(&stream, 3);
    assert_int_equal(rfn_execution_lists_finish(&stream.lists, &segments, &stream.starts,
                                                stream.store,
                                                &(struct rfn_room){&model.spill, ROOM}),
                     0);
    assert_int_equal(stream.lists.firsts.n, N);
    assert_non_null(stream.lists.top.values->spilled);
    assert_non_null(stream.lists.firsts.values->spilled);
    release(&stream);
    rfn_buf_release(&model.bytes);
}

/* Numbers take memory both ways: of each representative that in the list, and that in the store. */
static void test_bytes(void **state)
{
    (void)state;
    enum { N = 40000 };
    struct stream stream = make("absDiff:1", 0);
    for (int64_t i = 0; i < N; i++)
        put(&stream, 0, 10000 * (1 + i), 0);
    const struct rfn_held_segments segments = held(&stream, 1);
    assert_int_equal(rfn_execution_lists_bytes(&stream.lists), 0);
    rfn_execution_lists_code(&stream.lists, &segments, &stream.starts, stream.store);
    const struct rfn_execution_context *context = stream.lists.contexts;
    size_t lists = rfn_list_bytes(&context->columns.representative.coded) +
                   rfn_list_bytes(&context->columns.correction.coded);
    assert_int_equal(context->n, N);
    assert_true(context->number_of_capacity >= N && context->stored_capacity >= N);
    assert_in_range(rfn_execution_lists_bytes(&stream.lists) - lists,
                    sizeof(uint32_t) * (context->number_of_capacity + context->stored_capacity),
                    sizeof(uint32_t) * (context->number_of_capacity + context->stored_capacity) +
                        64 * sizeof *context);
    release(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anew),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_room_of_firsts),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
