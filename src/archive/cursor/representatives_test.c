/* Tests of reading reduced archives, which reduced_model.h makes:
 *
 *   times that are known from the page by hand
 *   many runs by chance: every event as the model says, and as in the full archive of the same run
 *   values that the page calls damage, and any byte of a PROFILE damaged under right checksums
 *
 * With the arguments "seeds DIR" it writes archives, for the fuzzer and for other readers. */
#include "archive/cursor/representatives.h"
#include "support/reduced_model.h"
#include "support/rounds.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- reading ---- */

static struct rfn_archive *open_bytes(const struct rfn_buf *file, size_t resident_max)
{
    struct rfn_archive *archive = NULL;
    struct rfn_diag diag = {.text = ""};
    int error = rfn_archive_open_memory(file->data, file->size, &archive, &diag);
    if (error)
        print_error("%s\n", diag.text);
    assert_int_equal(error, 0);
    archive->chunks.resident_max = resident_max;
    return archive;
}

/* The model's clock is exact at every third quantum from 1000 on, others are rounded. Times that
 * are shared are those of the lowest stream's clock and host. */
static int64_t expected_ns(const struct reduced_run *run, int stream, uint64_t quanta)
{
    if (run->clock)
        return (int64_t)quanta;
    uint64_t origin = realtime_of(&model[0], model[0].start);
    stream = (int)run->set_of[stream];
    return (int64_t)(aligned_of(&model[stream], 1000 + (quanta - 999) / 3 * 3, true) - origin);
}

static bool same_event(const struct reduced_run *run, int stream, size_t e,
                       const struct rfn_record *record)
{
    const struct made_event *event = &set_of(run, stream)->events[e];
    int64_t enter = expected_ns(run, stream, event->enter);
    int64_t until = expected_ns(run, stream, event->enter + (uint64_t)event->inside);
    return record->index == e && record->symbol == (uint32_t)event->symbol &&
           record->failed_poll == (event->symbol == POLL) && record->enter_ns == enter &&
           record->exit_ns == expected_ns(run, stream, event->exit) &&
           record->inside_ns == until - enter && record->polls == (uint64_t)event->polls &&
           record->volume_gap == event->volume_gap && record->volume_inside == event->volume_inside;
}

/* Reads a stream, odd ones decoded ahead; compares, if it should be as the run says. 0, or the
 * error that ended it. */
static int read_stream(const struct rfn_archive *archive, const struct reduced_run *run, int stream,
                       struct rfn_diag *diag)
{
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    size_t e = 0;
    int more;
    RFN_TRY(rfn_cursor_open(archive, (uint32_t)stream, &cursor, diag));
    int ahead = stream % 2 ? rfn_cursor_decode_ahead(cursor, NULL) : 0;
    for (; (more = rfn_cursor_next(cursor, &record, diag)) > 0; e++) {
        assert_int_equal(ahead, 0);
        assert_true(!run || e < set_of(run, stream)->n);
        if (run && !same_event(run, stream, e, record))
            print_error("stream %d, event %zu: %" PRId64 " to %" PRId64 "\n", stream, e,
                        record->enter_ns, record->exit_ns);
        assert_true(!run || same_event(run, stream, e, record));
    }
    if (more == 0 && run)
        assert_int_equal(e, set_of(run, stream)->n);
    assert_true(!ahead || more == ahead);
    rfn_cursor_close(cursor);
    return more;
}

static void check_run(const struct reduced_run *run, size_t resident_max)
{
    struct rfn_buf file = write_reduced(run);
    struct rfn_archive *archive = open_bytes(&file, resident_max);
    struct rfn_diag diag = {.text = ""};
    assert_true(rfn_archive_complete(archive, NULL));
    for (int i = 0; i < N_RANKS; i++)
        assert_int_equal(read_stream(archive, run, i, &diag), 0);
    int error = rfn_archive_verify_open(archive, NULL, NULL, &diag);
    if (error)
        print_error("%s\n", diag.text);
    assert_int_equal(error, 0);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* ---- what is right ---- */

/* Segments that are longer than segments are. */
static const struct shape lengthy = {
    .top = {3, {LOOP(0), LOOP(1), SYMBOL(PLAIN_3)}},
    .loops = {{1, {SYMBOL(PLAIN_0)}}, {2, {LOOP(0), SYMBOL(PLAIN_1)}}},
    .n_loops = 2,
    .cuts = {0, 1},
    .least = {2 * RFN_SEGMENT_EVENTS_MAX - 1, 4},
    .more = {2, 1}};

static void put(struct numbers *to, size_t n, const int64_t *values)
{
    free_numbers(to);
    for (size_t i = 0; i < n; i++)
        add_number(to, values[i]);
}

#define PUT(to, ...) \
    put(&(to), sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* The third segment starts two units of 15 early, so that all of it would be before the end of the
 * second; the fourth one unit of 60 late. */
static const struct made_event known[] = {
    {PLAIN_0, 105, 115, 1, 10, 1, 2}, {PLAIN_2, 135, 165, 1, 30, 3, 4},
    {POLL, 170, 215, 3, 40, 5, 6},    {PLAIN_2, 239, 269, 1, 30, 3, 4},
    {POLL, 274, 319, 3, 40, 5, 6},    {PLAIN_2, 319, 319, 1, 0, 7, 8},
    {POLL, 319, 319, 1, 0, 9, 10},    {PLAIN_2, 381, 411, 1, 30, 3, 4},
    {POLL, 416, 461, 3, 40, 5, 6},    {PLAIN_1, 489, 497, 1, 8, 11, 12},
};

/* The same, with segments that last until the next one starts: of 100 quanta 104, 74 and 121, of 10
 * quanta 68. */
static const struct made_event stretched[] = {
    {PLAIN_0, 105, 115, 1, 10, 1, 2}, {PLAIN_2, 135, 167, 1, 32, 3, 4},
    {POLL, 172, 219, 3, 41, 5, 6},    {PLAIN_2, 233, 256, 1, 23, 3, 4},
    {POLL, 259, 293, 3, 29, 5, 6},    {PLAIN_2, 299, 313, 1, 14, 7, 8},
    {POLL, 333, 361, 1, 28, 9, 10},   {PLAIN_2, 385, 421, 1, 36, 3, 4},
    {POLL, 427, 482, 3, 48, 5, 6},    {PLAIN_1, 489, 497, 1, 8, 11, 12},
};

/* And with eight units instead of two: the third starts before the second one, which so takes no
 * time, and has what is left until the fourth. */
static const struct made_event squeezed[] = {
    {PLAIN_0, 105, 115, 1, 10, 1, 2}, {PLAIN_2, 135, 167, 1, 32, 3, 4},
    {POLL, 172, 219, 3, 41, 5, 6},    {PLAIN_2, 219, 219, 1, 0, 3, 4},
    {POLL, 219, 219, 3, 0, 5, 6},     {PLAIN_2, 224, 234, 1, 10, 7, 8},
    {POLL, 250, 271, 1, 21, 9, 10},   {PLAIN_2, 295, 331, 1, 36, 3, 4},
    {POLL, 337, 392, 3, 48, 5, 6},    {PLAIN_1, 399, 407, 1, 8, 11, 12},
};

/* One loop, four times: a segment that is kept, it again, another one that is not, the first. */
static struct reduced_run *known_run(void)
{
    static const struct shape shape = {.top = {3, {SYMBOL(PLAIN_0), LOOP(0), SYMBOL(PLAIN_1)}},
                                       .loops = {{2, {SYMBOL(PLAIN_2), SYMBOL(POLL)}}},
                                       .n_loops = 1,
                                       .cuts = {1},
                                       .least = {4},
                                       .more = {1}};
    struct reduced_run *run = new_run(&shape, 1 | 2, 1);
    struct made_set *set = &run->sets[0];
    for (int i = 0; i < N_RANKS; i++)
        run->set_of[i] = 0;
    set->first = 100;
    set->tolerance = 10;
    set->share = 1 << 15; /* half of the length */
    PUT(set->words[PLAIN_0][GAP], 5);
    PUT(set->words[PLAIN_0][DURATION], 10);
    PUT(set->words[PLAIN_0][VOLUME_GAP], 1);
    PUT(set->words[PLAIN_0][VOLUME_INSIDE], 2);
    PUT(set->words[PLAIN_2][GAP], 20, 1);
    PUT(set->words[PLAIN_2][DURATION], 30, 2);
    PUT(set->words[PLAIN_2][VOLUME_GAP], 3, 7);
    PUT(set->words[PLAIN_2][VOLUME_INSIDE], 4, 8);
    PUT(set->words[POLL][GAP], 5, 3);
    PUT(set->words[POLL][DURATION], 45, 4);
    PUT(set->words[POLL][POLLS], 3, 1);
    PUT(set->words[POLL][INSIDE], 40, 9);
    PUT(set->words[POLL][VOLUME_GAP], 5, 9);
    PUT(set->words[POLL][VOLUME_INSIDE], 6, 10);
    PUT(set->words[PLAIN_1][GAP], 7);
    PUT(set->words[PLAIN_1][DURATION], 8);
    PUT(set->words[PLAIN_1][VOLUME_GAP], 11);
    PUT(set->words[PLAIN_1][VOLUME_INSIDE], 12);
    PUT(set->top, 0, 1);
    PUT(set->contexts[0][RFN_PROFILE_REPRESENTATIVE], 0, 0, 1, 0);
    PUT(set->contexts[0][RFN_PROFILE_CORRECTION], 0, 0, -2, 1);
    PUT(set->contexts[0][RFN_PROFILE_PACE], 4, -2);
    PUT(set->contexts[0][RFN_PROFILE_KEPT], 1, 0);
    assert_int_equal(set->n, sizeof known / sizeof *known);
    memcpy(set->events, known, sizeof known);
    return run;
}

static void test_known(void **state)
{
    (void)state;
    struct reduced_run *run = known_run();
    check_run(run, RFN_RESIDENT_MAX);
    check_run(run, 0);
    delete_run(run);
}

static void test_known_stretched(void **state)
{
    (void)state;
    struct reduced_run *run = known_run();
    struct made_set *set = &run->sets[0];
    run->stretched = true;
    memcpy(set->events, stretched, sizeof stretched);
    check_run(run, RFN_RESIDENT_MAX);
    check_run(run, 0);
    PUT(set->contexts[0][RFN_PROFILE_CORRECTION], 0, 0, -8, 1);
    memcpy(set->events, squeezed, sizeof squeezed);
    check_run(run, RFN_RESIDENT_MAX);
    delete_run(run);
}

static void test_random(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RFN_ROUNDS(300); i++) {
        struct reduced_run *run = new_run(shapes[i % N_SHAPES], i / N_SHAPES, i);
        check_run(run, i % 2 ? RFN_RESIDENT_MAX : 0);
        delete_run(run);
    }
}

/* A stream of both, with segments that are cut otherwise than those of the file. */
static void compare_streams(const struct rfn_archive *reduced, const struct rfn_archive *full,
                            uint32_t stream, uint32_t min_calls)
{
    struct rfn_cursor *a, *b;
    const struct rfn_record *x, *y;
    assert_int_equal(rfn_cursor_open(reduced, stream, &a, NULL), 0);
    assert_int_equal(rfn_cursor_open(full, stream, &b, NULL), 0);
    assert_int_equal(rfn_cursor_cut_segments(a, min_calls, NULL), 0);
    assert_int_equal(rfn_cursor_cut_segments(b, min_calls, NULL), 0);
    assert_int_equal(rfn_cursor_contexts(a), rfn_cursor_contexts(b));
    while (rfn_cursor_next(a, &x, NULL) > 0) {
        struct rfn_segment_place p = rfn_cursor_place(a), q;
        assert_int_equal(rfn_cursor_next(b, &y, NULL), 1);
        q = rfn_cursor_place(b);
        assert_true(p.context == q.context && p.begins == q.begins);
        assert_true(x->enter_ns == y->enter_ns && x->exit_ns == y->exit_ns &&
                    x->inside_ns == y->inside_ns && x->polls == y->polls &&
                    x->volume_gap == y->volume_gap && x->volume_inside == y->volume_inside &&
                    x->symbol == y->symbol && x->index == y->index);
    }
    assert_int_equal(rfn_cursor_next(b, &y, NULL), 0);
    rfn_cursor_close(a);
    rfn_cursor_close(b);
}

static void test_as_full(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        struct reduced_run *run = new_run(shapes[i % N_SHAPES], (i / N_SHAPES) & 21u, i);
        struct rfn_buf reduced = write_reduced(run), full;
        run->full = true;
        full = write_reduced(run);
        struct rfn_archive *a = open_bytes(&reduced, 0), *b = open_bytes(&full, 0);
        assert_false(rfn_archive_run(b)->reduced);
        assert_int_equal(rfn_archive_verify_open(b, NULL, NULL, NULL), 0);
        for (uint32_t stream = 0; stream < N_RANKS; stream++)
            compare_streams(a, b, stream, 1 + i % 4);
        rfn_archive_close(a);
        rfn_archive_close(b);
        rfn_buf_release(&reduced);
        rfn_buf_release(&full);
        delete_run(run);
    }
}

/* INIT ends segments and FINALIZE begins them, or the other way. */
static void test_marks(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        model_classes[INIT] = i % 2 ? RFN_CLASS_SEGMENT_END : RFN_CLASS_SEGMENT_BEGIN;
        model_classes[FINALIZE] = i % 2 ? RFN_CLASS_SEGMENT_BEGIN : RFN_CLASS_SEGMENT_END;
        struct reduced_run *run = new_run(shapes[i % N_SHAPES], i / N_SHAPES, i);
        check_run(run, RFN_RESIDENT_MAX);
        delete_run(run);
    }
    model_classes[INIT] = model_classes[FINALIZE] = RFN_CLASS_OTHER;
}

static void test_long_segments(void **state)
{
    (void)state;
    struct reduced_run *run = new_run(&lengthy, 2 | 4, 3);
    assert_true(run->sets[0].top.n > 2 && run->sets[0].contexts[0][0].n >= 10);
    check_run(run, RFN_RESIDENT_MAX);
    delete_run(run);
}

static void test_what_it_says(void **state)
{
    (void)state;
    struct reduced_run *run = new_run(&nested, 3, 1);
    struct rfn_buf file = write_reduced(run), other = write_archive(SOUND, true, true);
    struct rfn_archive *archive = open_bytes(&file, 0), *full = open_bytes(&other, 0);
    const struct rfn_run *says = rfn_archive_run(archive);
    assert_true(says->reduced && says->times);
    assert_string_equal(says->similar, "avgWave:0.2");
    assert_string_equal(says->across, "avgWave:0.4");
    assert_memory_equal(&says->reduction, &made_reduction, sizeof made_reduction);
    assert_true(says->resolution_ns == 1.0);
    assert_true(rfn_archive_stream(archive, 2).readable);
    says = rfn_archive_run(full);
    assert_true(!says->reduced && !says->similar && !says->across);
    assert_int_equal(says->reduction.executions, 0);
    rfn_archive_close(archive);
    rfn_archive_close(full);
    rfn_buf_release(&file);
    rfn_buf_release(&other);
    delete_run(run);
}

/* ---- what is wrong ---- */

static int verify_bytes(const struct rfn_buf *file, size_t resident_max, struct rfn_diag *diag)
{
    struct rfn_archive *archive;
    *diag = (struct rfn_diag){.text = ""};
    RFN_TRY(rfn_archive_open_memory(file->data, file->size, &archive, diag));
    archive->chunks.resident_max = resident_max;
    int error = rfn_archive_verify_open(archive, NULL, NULL, diag);
    rfn_archive_close(archive);
    return error;
}

/* All of it is of the known run; what it is, and what is said. Columns: a value changed. */
struct damage {
    const char *says;
    int context_column; /* of context 0, or -1 */
    size_t at;
    int64_t value;
};

static const struct damage values[] = {
    {"like one that has not been", RFN_PROFILE_REPRESENTATIVE, 0, 1},
    {"like one that has not been", RFN_PROFILE_REPRESENTATIVE, 1, 2},
    {"like one that has not been", RFN_PROFILE_REPRESENTATIVE, 1, -1},
    {"like one that is not kept", RFN_PROFILE_REPRESENTATIVE, 3, 1},
    {"a column is too short", RFN_PROFILE_REPRESENTATIVE, 3, 2},
    {"a column is longer", RFN_PROFILE_REPRESENTATIVE, 2, 0},
    {"it is not said whether a segment is kept", RFN_PROFILE_KEPT, 0, 2},
    {"it is not said whether a segment is kept", RFN_PROFILE_KEPT, 1, -1},
    {"like one that is not kept", RFN_PROFILE_KEPT, 0, 0},
    {"too large a pace", RFN_PROFILE_PACE, 0, -101},
    {"too large a pace", RFN_PROFILE_PACE, 1, INT64_C(1) << 62},
};

static void expect_damage(const struct reduced_run *run, const char *says)
{
    struct rfn_buf file = write_reduced(run);
    struct rfn_diag diag, windowed;
    int error = verify_bytes(&file, RFN_RESIDENT_MAX, &diag);
    if (error != RFN_E_CORRUPT || !strstr(diag.text, says))
        print_error("%s: %d %s\n", says, error, diag.text);
    assert_int_equal(error, RFN_E_CORRUPT);
    assert_non_null(strstr(diag.text, says));
    assert_true(diag.file_offset > 0);
    assert_int_equal(verify_bytes(&file, 0, &windowed), RFN_E_CORRUPT);
    assert_string_equal(windowed.text, diag.text);
    rfn_buf_release(&file);
}

static void test_wrong_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct reduced_run *run = known_run();
        run->sets[0].contexts[0][values[i].context_column].values[values[i].at] = values[i].value;
        expect_damage(run, values[i].says);
        delete_run(run);
    }
}

/* Every column that there is, too short and too long. */
static struct numbers *column_of(struct made_set *set, unsigned i)
{
    if (i == 0)
        return &set->top;
    if (i <= RFN_PROFILE_COLUMNS)
        return &set->contexts[0][i - 1];
    i -= RFN_PROFILE_COLUMNS + 1;
    return i < R_SYMBOLS * R_WORDS ? &set->words[i / R_WORDS][i % R_WORDS] : NULL;
}

static void test_wrong_lengths(void **state)
{
    (void)state;
    for (unsigned i = 0;; i++) {
        struct reduced_run *run = known_run();
        struct numbers *column = column_of(&run->sets[0], i);
        if (!column) {
            delete_run(run);
            break;
        }
        unsigned symbol = (i - RFN_PROFILE_COLUMNS - 1) / R_WORDS;
        unsigned word = (i - RFN_PROFILE_COLUMNS - 1) % R_WORDS;
        bool there = i <= RFN_PROFILE_COLUMNS || word < POLLS || word >= VOLUME_GAP ||
                     symbol == POLL;
        if (there) { /* PLAIN_3 never occurs */
            add_number(column, 1);
            expect_damage(run, "a column is longer than the structure says");
            column->n -= column->n == 1 ? 1 : 2;
        }
        if (there && symbol != PLAIN_3)
            expect_damage(run, "a column is too short");
        delete_run(run);
    }
}

static void spoil(struct reduced_run *run, int what)
{
    struct made_set *set = &run->sets[0];
    switch (what) {
    case 0:
        set->top.values[0] = 1;
        break;
    case 1:
        set->words[PLAIN_0][DURATION].values[0] = -6;
        break;
    case 2:
        set->words[PLAIN_1][GAP].values[0] = (INT64_C(1) << 62);
        break;
    case 3:
        set->share = (UINT64_C(1) << 36) + 1;
        break;
    case 4:
        run->shape.cuts[0] = 2;
        break;
    case 5:
        run->pairs = 2;
        break;
    case 6:
        run->marks = true;
        break;
    case 7:
        run->trailing = true;
        break;
    case 8:
        run->clock = 0;
        run->other_clock = true;
        break;
    case 9:
        run->set_of[1] = 2;
        break;
    case 10:
        run->set_of[3] = 1;
        break;
    case 11:
        run->set_of[2] = -1;
        break;
    case 12:
        run->missing = 1;
        break;
    case 13:
        run->with_timing = true;
        break;
    case 14:
        run->not_reduced = true;
        break;
    case 15:
        run->not_reduced = run->only_timing = true;
        break;
    case 16:
        run->group_of[1] = 1;
        break;
    case 17:
        set->words[POLL][POLLS].values[1] = 0;
        break;
    default:
        run->only_timing = true;
        break;
    }
}

static void test_contradictions(void **state)
{
    (void)state;
    static const char *const says[] = {
        "the first segment's start is corrected",
        "a segment is too long",
        "a segment is too long",
        "the tolerance of starts is malformed",
        "it does not say which loops cut",
        "the clock's pairs are malformed",
        "it has time marks",
        "there are bytes behind its end",
        "its clock starts not as STREAMS says",
        "a time set has not the number of its lowest stream",
        "a time set has not the number of its lowest stream",
        "a time set has not the number of its lowest stream",
        "streams share times that are not reduced",
        "the chunk belongs to nothing",
        "the chunk belongs to nothing",
        "streams share times that are not reduced",
        "streams of two groups have the same times",
        "a run of no polls",
        "streams share times that are not reduced",
    };
    for (int i = 0; i < (int)(sizeof says / sizeof *says); i++) {
        struct reduced_run *run = known_run();
        spoil(run, i);
        expect_damage(run, says[i]);
        delete_run(run);
    }
}

/* A segment cannot stand for one with other events. */
static void test_other_events(void **state)
{
    (void)state;
    unsigned refused = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct reduced_run *run = new_run(&mixed, 2, seed);
        struct rfn_diag diag;
        struct numbers *numbers = &run->sets[0].contexts[0][RFN_PROFILE_REPRESENTATIVE];
        int64_t largest = 0;
        for (size_t i = 0; i < numbers->n; i++) {
            if (numbers->values[i] < largest)
                numbers->values[i] = (numbers->values[i] + 1) % largest;
            else
                largest = numbers->values[i] + 1;
        }
        struct rfn_buf file = write_reduced(run);
        int error = verify_bytes(&file, 0, &diag);
        refused += error == RFN_E_CORRUPT && strstr(diag.text, "one that has other events");
        assert_true(error == 0 || error == RFN_E_CORRUPT);
        rfn_buf_release(&file);
        delete_run(run);
    }
    assert_true(refused > 2);
}

/* Loops with columns that are empty, as nothing cuts there. */
static void test_unused_contexts(void **state)
{
    (void)state;
    for (int context = 0; context < 2; context++) { /* of L0, and of L2 */
        for (int k = 0; k < RFN_PROFILE_COLUMNS; k++) {
            struct reduced_run *run = new_run(&flat, 2, 5);
            struct numbers *column = &run->sets[0].contexts[context][k];
            assert_int_equal(column->n, 0);
            add_number(column, 0);
            expect_damage(run, "a column is longer than the structure says");
            delete_run(run);
        }
    }
}

/* All segments are new and kept: one more than there may be. */
static void test_too_many_kept(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 15, MOST = RFN_KEPT_EVENTS_MAX / LENGTH };
    for (unsigned over = 0; over < 2; over++) {
        const struct shape shape = {.top = {1, {LOOP(1)}},
                                    .loops = {{1, {SYMBOL(PLAIN_0)}}, {1, {LOOP(0)}}},
                                    .n_loops = 2,
                                    .cuts = {0, 1},
                                    .least = {LENGTH, MOST + over},
                                    .more = {1, 1}};
        struct reduced_run run = {.shape = shape, .clock = 3};
        struct made_set *set = &run.sets[0];
        make_model();
        number_made_contexts(&run);
        execute_all(&run, NULL);
        set->n = run.occurrences[PLAIN_0];
        set->events = calloc(set->n, sizeof *set->events);
        for (size_t e = 0; e < set->n; e++) {
            set->events[e] = (struct made_event){PLAIN_0, 3 * e + 1, 3 * e + 3, 1, 2, 0, 0};
            add_number(&set->words[PLAIN_0][GAP], 1);
            add_number(&set->words[PLAIN_0][DURATION], 2);
        }
        for (int64_t i = 0; i < MOST + (int64_t)over; i++) {
            add_number(&set->contexts[0][RFN_PROFILE_REPRESENTATIVE], i);
            add_number(&set->contexts[0][RFN_PROFILE_CORRECTION], 0);
            add_number(&set->contexts[0][RFN_PROFILE_PACE], 0);
            add_number(&set->contexts[0][RFN_PROFILE_KEPT], 1);
        }
        struct rfn_buf file = write_reduced(&run);
        struct rfn_archive *archive = open_bytes(&file, RFN_RESIDENT_MAX);
        struct rfn_diag diag = {.text = ""};
        assert_int_equal(read_stream(archive, &run, 2, &diag), over ? RFN_E_CORRUPT : 0);
        assert_true(!over || strstr(diag.text, "too many events are kept"));
        rfn_archive_close(archive);
        rfn_buf_release(&file);
        free_reduced(&run);
    }
}

/* What the list of time sets in a PROFILES says wrong. */
static void test_wrong_profiles(void **state)
{
    (void)state;
    static const struct {
        unsigned number, guide, end;
        bool with_profile, with_timing;
        const char *says;
    } wrong[] = {
        {1, 0, 0, false, false, "it has not as many time sets as its id says"},
        {0, 1, 0, false, false, "its list of time sets is malformed"},
        {0, 0, 3, false, false, "streams with the same values have different numbers"},
        {0, 0, 4, false, false, "the chunk belongs to nothing"},
        {0, 0, 5, false, false, "the chunk belongs to nothing"},
        {0, 0, 0, true, false, "the chunk belongs to nothing"},
        {0, 0, 0, false, true, "the chunk belongs to nothing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct reduced_run *run = new_run(&nested, 11, 1);
        run->wrong_number = wrong[i].number;
        run->wrong_guide = wrong[i].guide;
        run->wrong_end = wrong[i].end;
        run->with_profile = wrong[i].with_profile;
        run->with_timing = wrong[i].with_timing;
        expect_damage(run, wrong[i].says);
        delete_run(run);
    }
}

/* A byte of a chunk's payload changed, its checksum too. */
static void flip(struct rfn_buf *file, const struct rfn_toc_entry *entry, size_t at, uint8_t bits)
{
    uint8_t *header = file->data + entry->offset, *stored = header + RFN_CHUNK_HEADER_BYTES;
    XXH3_state_t state;
    stored[at] ^= bits;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, header, RFN_CHUNK_SUMMED_BYTES);
    XXH3_64bits_update(&state, stored, (size_t)entry->stored_size);
    rfn_representative_store_64(header + RFN_CHUNK_SUMMED_BYTES, XXH3_64bits_digest(&state));
}

/* Any other byte gives other times or an error; what the error says depends not on how it is read.
 */
static void test_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * N_SHAPES; i++) {
        bool together = i >= N_SHAPES;
        unsigned variant = (together ? 11 : i % 2 ? 3 : 1) | (i % 2 ? 16 : 0);
        struct reduced_run *run = new_run(shapes[i % N_SHAPES], variant, 11);
        struct rfn_buf file = write_reduced(run);
        struct rfn_archive *archive = open_bytes(&file, 0);
        struct rfn_toc_entry entry =
            archive->chunks
                .entries[together ? rfn_time_set_table_find(&archive->chunks, 0)
                                  : rfn_chunks_find(&archive->chunks, RFN_CHUNK_PROFILE, 0)];
        rfn_archive_close(archive);
        unsigned refused = 0;
        for (size_t at = 0; at < entry.stored_size; at += RFN_SANITIZED ? 3 : 1) {
            struct rfn_diag diag, windowed;
            flip(&file, &entry, at, (uint8_t)(1u << at % 8 | at % 3));
            int error = verify_bytes(&file, RFN_RESIDENT_MAX, &diag);
            assert_true(error == 0 || (error == RFN_E_CORRUPT && diag.file_offset > 0));
            assert_int_equal(verify_bytes(&file, 0, &windowed), error);
            assert_string_equal(windowed.text, diag.text);
            flip(&file, &entry, at, (uint8_t)(1u << at % 8 | at % 3));
            refused += error != 0;
        }
        assert_true(refused > entry.stored_size / (RFN_SANITIZED ? 30 : 10));
        rfn_buf_release(&file);
        delete_run(run);
    }
}

static int write_seeds(const char *directory)
{
    for (unsigned i = 0; i <= 16 * N_SHAPES; i++) {
        char path[512];
        struct reduced_run *run = i ? new_run(shapes[i % N_SHAPES], i / N_SHAPES | (i & 1) << 4, i)
                                    : known_run();
        struct rfn_buf bytes = write_reduced(run);
        snprintf(path, sizeof path, "%s/reduced-%02u.rfn", directory, i);
        bool written = write_file(path, &bytes);
        delete_run(run);
        if (!written)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "seeds") == 0)
        return write_seeds(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),          cmocka_unit_test(test_known_stretched),
        cmocka_unit_test(test_random),         cmocka_unit_test(test_as_full),
        cmocka_unit_test(test_marks),          cmocka_unit_test(test_long_segments),
        cmocka_unit_test(test_what_it_says),   cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_wrong_lengths),  cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_other_events),   cmocka_unit_test(test_unused_contexts),
        cmocka_unit_test(test_too_many_kept),  cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_wrong_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
