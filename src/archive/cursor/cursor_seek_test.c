/* Seeking: whoever moves a cursor reads what comes there for someone who reads from the start.
 *
 * Of small runs (archive_model.h) and of random ones (reduced_model.h), full, reduced and without
 * times, with time marks every few events or without, each event is sought, in any order. Marks
 * that are wrong lead to an error, never to another event. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include "archive/cursor/cursor.h"
#include "refrain/merge_archives.h"
#include "support/reduced_model.h"
#include "support/rounds.h"

#include <inttypes.h>
#include <unistd.h>

enum { NO_SEGMENTS = -1, AHEAD = 5 };

static struct rfn_archive *open_marked(const struct rfn_buf *file, size_t resident_max)
{
    struct rfn_archive *archive = NULL;
    assert_int_equal(rfn_archive_open_memory(file->data, file->size, &archive, NULL), 0);
    archive->chunks.resident_max = resident_max;
    if (model_marks)
        archive->mark_events = model_marks;
    return archive;
}

static struct rfn_cursor *open_cursor(const struct rfn_archive *archive, uint32_t stream,
                                      int min_calls)
{
    struct rfn_cursor *cursor;
    assert_int_equal(rfn_cursor_open(archive, stream, &cursor, NULL), 0);
    if (min_calls != NO_SEGMENTS)
        assert_int_equal(rfn_cursor_cut_segments(cursor, (uint32_t)min_calls, NULL), 0);
    return cursor;
}

/* All that records say, lists included. */
static bool same_words(const struct rfn_archive *archive, const struct rfn_cursor *a,
                       const struct rfn_cursor *b, const struct rfn_record *x,
                       const struct rfn_record *y)
{
    const struct rfn_function_info *function = rfn_archive_function(archive, x->function);
    bool same = x->symbol == y->symbol && x->function == y->function && x->path == y->path &&
                x->error == y->error && x->failed_poll == y->failed_poll &&
                x->varying == y->varying;
    for (unsigned i = 0; i < (unsigned)function->n_in + function->n_out && same; i++) {
        uint8_t kind = function->params[i].kind;
        int64_t word = i < function->n_in ? x->in[i] : x->out[i - function->n_in];
        same = word == (i < function->n_in ? y->in[i] : y->out[i - function->n_in]);
        if (!(kind & RFN_KIND_LIST) && kind != RFN_KIND_COMPLETIONS)
            continue;
        size_t n, m;
        const int64_t *list = rfn_cursor_list(a, word, &n, kind);
        const int64_t *other = rfn_cursor_list(b, word, &m, kind);
        same &= n == m && (!n || memcmp(list, other, n * sizeof *list) == 0);
    }
    return same;
}

static void expect_same(const struct rfn_archive *archive, const struct rfn_cursor *a,
                        const struct rfn_cursor *b, const struct rfn_record *x,
                        const struct rfn_record *y)
{
    if (x->index != y->index || x->enter_ns != y->enter_ns)
        print_error("event %" PRIu64 " at %" PRId64 ", not %" PRIu64 " at %" PRId64 "\n", y->index,
                    y->enter_ns, x->index, x->enter_ns);
    assert_true(x->index == y->index && x->enter_ns == y->enter_ns && x->exit_ns == y->exit_ns &&
                x->inside_ns == y->inside_ns && x->polls == y->polls &&
                x->volume_gap == y->volume_gap && x->volume_inside == y->volume_inside &&
                x->begins == y->begins && x->context == y->context);
    assert_true(same_words(archive, a, b, x, y));
}

/* Reads from the start to the first event with at least this number that ends then or later. */
static int read_to(struct rfn_cursor *cursor, uint64_t event, int64_t ns,
                   const struct rfn_record **record)
{
    int more;
    while ((more = rfn_cursor_next(cursor, record, NULL)) > 0 &&
           ((*record)->index < event || (*record)->exit_ns < ns))
        ;
    return more;
}

/* Times of the batch are those of the events that `plain` delivers. */
static void compare_batch(struct rfn_cursor *plain, const struct rfn_record *first,
                          const struct rfn_batch *batch)
{
    int64_t ns = batch->before_ns;
    for (uint32_t i = 0; i < batch->n; i++) {
        if (i > 0)
            assert_int_equal(rfn_cursor_next(plain, &first, NULL), 1);
        assert_int_equal(first->symbol, batch->records[i % batch->width]->symbol);
        assert_int_equal(first->index, batch->first + i);
        assert_int_equal(first->enter_ns, ns += batch->times[i].gap_ns);
        assert_int_equal(first->exit_ns, ns += batch->times[i].duration_ns);
    }
}

/* Some events from here on are those that `plain` delivers, of which `first` is the next. */
static void compare_next(const struct rfn_archive *archive, struct rfn_cursor *plain, int more,
                         const struct rfn_record *first, struct rfn_cursor *sought)
{
    for (int i = 0; i < AHEAD; i++) {
        const struct rfn_record *record;
        struct rfn_batch *batch;
        if (more > 0 && i % 2 && rfn_cursor_next_batch(sought, &batch, NULL) > 0) {
            compare_batch(plain, first, batch);
        } else {
            assert_int_equal(rfn_cursor_next(sought, &record, NULL), more);
            if (more > 0)
                expect_same(archive, plain, sought, first, record);
        }
        if (more > 0)
            more = rfn_cursor_next(plain, &first, NULL);
    }
}

static void compare_event(const struct rfn_archive *archive, uint32_t stream, int min_calls,
                          struct rfn_cursor *sought, uint64_t event)
{
    const struct rfn_record *first = NULL;
    struct rfn_cursor *plain = open_cursor(archive, stream, min_calls);
    int more = read_to(plain, event, INT64_MIN, &first);
    assert_int_equal(rfn_cursor_seek(sought, event, NULL), 0);
    compare_next(archive, plain, more, first, sought);
    rfn_cursor_close(plain);
}

static void compare_time(const struct rfn_archive *archive, uint32_t stream, int min_calls,
                         struct rfn_cursor *sought, int64_t ns)
{
    const struct rfn_record *first = NULL;
    struct rfn_cursor *plain = open_cursor(archive, stream, min_calls);
    int more = read_to(plain, 0, ns, &first);
    assert_int_equal(rfn_cursor_seek_time(sought, ns, NULL), 0);
    compare_next(archive, plain, more, first, sought);
    rfn_cursor_close(plain);
}

/* The exit of the last event. */
static int64_t end_ns(const struct rfn_archive *archive, uint32_t stream)
{
    const struct rfn_record *record;
    struct rfn_cursor *cursor = open_cursor(archive, stream, NO_SEGMENTS);
    int64_t ns = 0;
    while (rfn_cursor_next(cursor, &record, NULL) > 0)
        ns = record->exit_ns;
    rfn_cursor_close(cursor);
    return ns;
}

/* By number and by time, here and there, some twice in a row. */
static void check_somewhere(const struct rfn_archive *archive, uint32_t stream, int min_calls,
                            unsigned rounds, uint64_t seed)
{
    uint64_t n = rfn_archive_stream(archive, stream).events;
    int64_t end = end_ns(archive, stream);
    struct rfn_cursor *sought = open_cursor(archive, stream, min_calls);
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t event = noise(&seed) % (n + 3);
        for (uint64_t twice = noise(&seed) % 4; twice < 5; twice += 3)
            compare_event(archive, stream, min_calls, sought, event);
        if (!rfn_archive_run(archive)->times)
            continue;
        int64_t ns = (int64_t)(noise(&seed) % ((uint64_t)end + 30)) - 10;
        for (uint64_t twice = noise(&seed) % 4; twice < 5; twice += 3)
            compare_time(archive, stream, min_calls, sought, ns);
    }
    rfn_cursor_close(sought);
}

/* Each event, forwards and backwards. */
static void check_each(const struct rfn_archive *archive, uint32_t stream, int min_calls)
{
    uint64_t n = rfn_archive_stream(archive, stream).events;
    struct rfn_cursor *sought = open_cursor(archive, stream, min_calls);
    for (uint64_t i = 0; i < n + 2; i++)
        compare_event(archive, stream, min_calls, sought, i);
    for (uint64_t i = n + 2; i-- > 0;)
        compare_event(archive, stream, min_calls, sought, i);
    rfn_cursor_close(sought);
}

/* ---- the small run ---- */

static void test_small(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < RFN_ROUNDS(96); variant++) {
        unsigned minor = variant % 3 ? RFN_FORMAT_MINOR : variant % RFN_FORMAT_MINOR;
        model_marks = variant % 4 ? UINT64_C(1) << variant % 4 : 0;
        model_steady = variant & 8;
        model_around = (variant & 24) == 24;
        model_late = variant & 32 ? 1000 : 0;
        struct rfn_buf file = write_version(minor, SOUND, variant & 64, variant % 5);
        struct rfn_archive *archive = open_marked(&file, variant % 2 ? RFN_RESIDENT_MAX : 0);
        for (uint32_t i = 0; i < N_STREAMS; i++) {
            int min_calls = (int)(variant + i) % 5 - 1;
            check_each(archive, i, min_calls);
            check_somewhere(archive, i, min_calls, 5, variant);
        }
        rfn_archive_close(archive);
        rfn_buf_release(&file);
    }
    model_marks = 0;
    model_late = 0;
    model_steady = model_around = false;
}

/* Without times there is nothing to be found by a time, and the cursor stays where it is. */
static void test_no_times(void **state)
{
    (void)state;
    struct rfn_diag diag = {.text = ""};
    const struct rfn_record *record;
    struct rfn_buf file = write_archive(SOUND, false, false);
    struct rfn_archive *archive = open_marked(&file, 0);
    struct rfn_cursor *cursor = open_cursor(archive, 0, NO_SEGMENTS);
    assert_int_equal(rfn_cursor_seek(cursor, 4, NULL), 0);
    assert_int_equal(rfn_cursor_seek_time(cursor, 4, &diag), RFN_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "no times"));
    assert_int_equal(rfn_cursor_next(cursor, &record, NULL), 1);
    assert_int_equal(record->index, 4);
    rfn_cursor_close(cursor);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* ---- random runs ---- */

static uint64_t size_of(const struct shape *shape, const struct node_list *list)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < list->n; i++) {
        unsigned loop = list->nodes[i] >> 1;
        uint64_t trips = list->nodes[i] & 1 ? shape->least[loop] + shape->more[loop] - 1 : 0;
        n += list->nodes[i] & 1 ? trips * size_of(shape, &shape->loops[loop]) : 1;
    }
    return n;
}

static struct node_list random_list(unsigned n_loops, uint64_t *random)
{
    struct node_list list = {.n = 1 + (unsigned)(noise(random) % 5)};
    for (unsigned i = 0; i < list.n; i++) {
        bool loop = n_loops && noise(random) % 2;
        list.nodes[i] = (uint8_t)(loop ? LOOP(noise(random) % n_loops)
                                       : SYMBOL(noise(random) % R_SYMBOLS));
    }
    return list;
}

/* Loops with trips that vary and others, and of which some cut; at most 3000 events. */
static struct shape random_shape(uint64_t *random)
{
    struct shape shape;
    do {
        shape = (struct shape){.n_loops = 1 + (unsigned)(noise(random) % 4)};
        for (unsigned i = 0; i < shape.n_loops; i++) {
            shape.loops[i] = random_list(i, random);
            shape.cuts[i] = noise(random) % 2;
            shape.least[i] = (unsigned)(noise(random) % (noise(random) % 4 ? 5 : 40));
            shape.more[i] = noise(random) % 2 ? 1 : 1 + (unsigned)(noise(random) % 4);
        }
        shape.top = random_list(shape.n_loops, random);
    } while (size_of(&shape, &shape.top) < 2 || size_of(&shape, &shape.top) > 3000);
    return shape;
}

/* Reduced or full, with segments that are cut otherwise than those of the file. */
static void test_random(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (unsigned i = 0; i < RFN_ROUNDS(400); i++) {
        struct shape shape = random_shape(&random);
        struct reduced_run *run = new_run(i % 5 ? &shape : shapes[i % N_SHAPES],
                                          i % 2 ? i / 2 & 21u : i / 2, i);
        run->full = i % 2;
        model_marks = noise(&random) % 4 ? UINT64_C(1) << noise(&random) % 8 : 0;
        struct rfn_buf file = write_reduced(run);
        struct rfn_archive *archive = open_marked(&file, i % 3 ? RFN_RESIDENT_MAX : 0);
        for (uint32_t stream = 0; stream < N_RANKS; stream++)
            check_somewhere(archive, stream, (int)(noise(&random) % 6) - 1, 4, i);
        if (set_of(run, 0)->n < 60)
            check_each(archive, 0, NO_SEGMENTS);
        rfn_archive_close(archive);
        rfn_buf_release(&file);
        delete_run(run);
    }
    model_marks = 0;
}

/* ---- structures that are stored once for ranks that are alike ---- */

static void test_clustered(void **state)
{
    (void)state;
    char path[] = "/tmp/refrain-seek-XXXXXX";
    model_marks = 4;
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *archive = open_marked(&file, RFN_RESIDENT_MAX), *clustered;
    const struct rfn_archive *all = archive;
    const struct rfn_merge_options options = {.clusters = RFN_MERGE_CLUSTERED};
    struct rfn_merge_result merged;
    int opened = mkstemp(path);
    assert_true(opened >= 0);
    assert_int_equal(rfn_merge_archives(&all, 1, &options, path, true, &merged, NULL), 0);
    assert_int_equal(rfn_archive_open(path, &clustered, NULL), 0);
    clustered->mark_events = model_marks;
    assert_true(clustered->first_set != NULL);
    for (uint32_t i = 0; i < N_STREAMS; i++)
        check_each(clustered, i, NO_SEGMENTS);
    rfn_archive_close(clustered);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
    close(opened);
    unlink(path);
    model_marks = 0;
}

/* ---- marks that are wrong ---- */

/* From each event a seek and some reading: what comes is right, or else an error that says where.
 * Returns how many errors there were. */
static unsigned seek_each(const struct rfn_archive *wrong, const struct rfn_archive *right)
{
    unsigned errors = 0;
    int64_t entry = rfn_timing_find(wrong, 0), end = end_ns(right, 0);
    uint64_t offset = wrong->chunks.entries[entry].offset, n = rfn_archive_stream(wrong, 0).events;
    for (uint64_t i = 0; i < 2 * n; i++) {
        const struct rfn_record *record, *expected;
        struct rfn_diag diag = {.text = ""};
        struct rfn_cursor *cursor = open_cursor(wrong, 0, NO_SEGMENTS),
                          *plain = open_cursor(right, 0, NO_SEGMENTS);
        int64_t ns = end * (int64_t)(i - n) / (int64_t)n;
        int more = i < n ? read_to(plain, i, INT64_MIN, &expected)
                         : read_to(plain, 0, ns, &expected);
        int error = i < n ? rfn_cursor_seek(cursor, i, &diag)
                          : rfn_cursor_seek_time(cursor, ns, &diag);
        while (!error && more > 0) {
            error = rfn_cursor_next(cursor, &record, &diag);
            if (error <= 0)
                break;
            expect_same(wrong, plain, cursor, expected, record);
            more = rfn_cursor_next(plain, &expected, NULL);
            error = 0;
        }
        if (error) {
            errors++;
            assert_int_equal(error, RFN_E_CORRUPT);
            assert_int_equal(diag.file_offset, offset);
            assert_non_null(strstr(diag.text, "a time mark is wrong"));
            assert_int_equal(rfn_cursor_seek(cursor, 0, NULL), error);
            assert_int_equal(rfn_cursor_seek_time(cursor, 0, NULL), error);
            assert_int_equal(rfn_cursor_next(cursor, &record, NULL), error);
        }
        rfn_cursor_close(cursor);
        rfn_cursor_close(plain);
    }
    return errors;
}

static void test_wrong_marks(void **state)
{
    (void)state;
    static const int64_t offs[] = {1, -1, 3, -3, 3000, -3000, INT64_C(1) << 40, INT64_MIN};
    model_marks = 4;
    struct rfn_buf right = write_archive(SOUND, false, true);
    struct rfn_archive *known = open_marked(&right, RFN_RESIDENT_MAX);
    uint64_t n_marks = (rfn_archive_stream(known, 0).events - 1) / model_marks;
    assert_int_equal(seek_each(known, known), 0);
    for (model_wrong_mark = 1; model_wrong_mark <= n_marks; model_wrong_mark++) {
        for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
            model_mark_off = offs[i];
            struct rfn_buf file = write_archive(SOUND, false, true);
            struct rfn_archive *archive = open_marked(&file, RFN_RESIDENT_MAX);
            assert_true(seek_each(archive, known) >= model_marks * model_wrong_mark);
            assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, NULL), RFN_E_CORRUPT);
            rfn_archive_close(archive);
            rfn_buf_release(&file);
        }
    }
    model_wrong_mark = model_marks = 0;
    rfn_archive_close(known);
    rfn_buf_release(&right);
}

/* All marks from one on are off by the same: a seek that begins before that one finds it, one that
 * begins behind it has no reason to. Verification does. */
static void test_shifted_marks(void **state)
{
    (void)state;
    model_marks = 2;
    model_wrong_mark = 3;
    model_mark_off = 300;
    model_all_off = true;
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *archive = open_marked(&file, RFN_RESIDENT_MAX);
    struct rfn_diag diag = {.text = ""};
    for (uint64_t event = 0; event < 8; event++) {
        const struct rfn_record *record;
        struct rfn_cursor *cursor = open_cursor(archive, 0, NO_SEGMENTS);
        int error = rfn_cursor_seek(cursor, event, &diag);
        while (!error && rfn_cursor_next(cursor, &record, &diag) > 0)
            ;
        assert_non_null(strstr(diag.text, "a time mark is wrong"));
        rfn_cursor_close(cursor);
    }
    assert_int_equal(rfn_archive_verify_open(archive, NULL, NULL, &diag), RFN_E_CORRUPT);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
    model_marks = model_wrong_mark = 0;
    model_all_off = false;
}

/* More marks than there are events. */
static void test_too_many_marks(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(TOO_MANY_MARKS, false, true);
    struct rfn_archive *archive = open_marked(&file, RFN_RESIDENT_MAX);
    struct rfn_cursor *cursor = open_cursor(archive, 0, NO_SEGMENTS);
    for (int64_t ns = 0; ns < 10000; ns += 100)
        compare_time(archive, 0, NO_SEGMENTS, cursor, ns);
    rfn_cursor_close(cursor);
    check_each(archive, 0, NO_SEGMENTS);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),          cmocka_unit_test(test_no_times),
        cmocka_unit_test(test_random),         cmocka_unit_test(test_clustered),
        cmocka_unit_test(test_wrong_marks),    cmocka_unit_test(test_shifted_marks),
        cmocka_unit_test(test_too_many_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
