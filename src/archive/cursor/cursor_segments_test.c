/* Where a cursor says that segments begin: in the small run of archive_model.h, and in the way its
 * definition (doc/trace-profiling.md) says. */
#include "support/archive_model.h"

#include <stdlib.h>

#include "refrain/archive.h"

/* The stream's structure is
 *
 *     top = INIT SPLIT L1 ALLTOALLW L0 FINALIZE      L1 = L0 TEST      L0 = SEND RECV
 *
 * so that the contexts are, with all loops cutting: of top 0 INIT SPLIT, 1 ALLTOALLW, 2 FINALIZE;
 * of L0 3 SEND RECV; of L1 4 nothing, 5 TEST. */
struct expected {
    uint32_t context;
    bool begins;
};

static struct rfn_archive *open_model(void)
{
    static struct rfn_buf file;
    struct rfn_archive *archive = NULL;
    rfn_buf_release(&file);
    file = write_archive(SOUND, false, true);
    assert_int_equal(rfn_archive_open_memory(file.data, file.size, &archive, NULL), 0);
    return archive;
}

static void expect_places(uint32_t stream, uint32_t min_calls, uint32_t n_contexts,
                          const struct expected *expected, size_t n)
{
    struct rfn_archive *archive = open_model();
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    assert_int_equal(rfn_cursor_open(archive, stream, &cursor, NULL), 0);
    assert_int_equal(rfn_cursor_cut_segments(cursor, min_calls, NULL), 0);
    assert_int_equal(rfn_cursor_contexts(cursor), n_contexts);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rfn_cursor_next(cursor, &record, NULL), 1);
        struct rfn_segment_place place = rfn_cursor_place(cursor);
        assert_int_equal(place.context, expected[i].context);
        assert_int_equal(place.begins, expected[i].begins);
    }
    assert_int_equal(rfn_cursor_next(cursor, &record, NULL), 0);
    rfn_cursor_close(cursor);
    rfn_archive_close(archive);
}

#define EXPECT(stream, min_calls, n_contexts, ...)                                       \
    expect_places(stream, min_calls, n_contexts, (const struct expected[]){__VA_ARGS__}, \
                  sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

/* Exchanges 2, 0 and 4 times, then once. Each iteration of L0 is a segment, each TEST after it
 * another one, also where L0 made no trip. */
static void test_all_loops(void **state)
{
    (void)state;
    EXPECT(0, 1, 6, {0, 1}, {0, 0},                                        /* INIT SPLIT */
           {3, 1}, {3, 0}, {3, 1}, {3, 0}, {5, 1},                         /* L1, first trip */
           {5, 1},                                                         /* second trip */
           {3, 1}, {3, 0}, {3, 1}, {3, 0}, {3, 1}, {3, 0}, {3, 1}, {3, 0}, /* third trip */
           {5, 1}, {1, 1},                                                 /* TEST ALLTOALLW */
           {3, 1}, {3, 0}, {2, 1});                                        /* L0 FINALIZE */
    /* exchanges 5 and 1 times, then none: FINALIZE begins a segment all the same */
    EXPECT(3, 2, 6, {0, 1}, {0, 0}, {3, 1}, {3, 0}, {3, 1}, {3, 0}, {3, 1}, {3, 0}, {3, 1}, {3, 0},
           {3, 1}, {3, 0}, {5, 1}, {3, 1}, {3, 0}, {5, 1}, {1, 1}, {2, 1});
    EXPECT(4, 1, 1, {0, 1}); /* the thread that has one event */
}

/* L0 has two calls and does not cut; L1 has three, L0's counted once. Contexts: of top 0 INIT
 * SPLIT, 1 ALLTOALLW L0 FINALIZE; of L1 2, all of it. */
static void test_few_calls(void **state)
{
    (void)state;
    EXPECT(0, 3, 3, {0, 1}, {0, 0},                /* INIT SPLIT */
           {2, 1}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, /* L1, first trip */
           {2, 1},                                 /* second trip */
           {2, 1}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, /* third */
           {1, 1}, {1, 0}, {1, 0}, {1, 0}); /* ALLTOALLW to FINALIZE */
}

/* No loop cuts: all is one segment. */
static void test_no_loop(void **state)
{
    (void)state;
    struct expected expected[21] = {{0, true}};
    expect_places(0, 4, 1, expected, 21);
    expect_places(0, UINT32_MAX, 1, expected, 21);
}

/* Marks: L1's TEST begins a segment; of L0 nothing is marked, so only L1 cuts, whatever min_calls
 * is. Contexts: of top 0 INIT SPLIT, 1 ALLTOALLW L0 FINALIZE; of L1 2, all of it. */
static void test_begin_in_loop(void **state)
{
    (void)state;
    model_classes[TEST] = RFN_CLASS_SEGMENT_BEGIN;
    const uint32_t min_calls[] = {1, 3, UINT32_MAX};
    for (size_t i = 0; i < sizeof min_calls / sizeof *min_calls; i++)
        EXPECT(0, min_calls[i], 3, {0, 1}, {0, 0}, {2, 1}, {2, 0}, {2, 0}, {2, 0},
               {2, 1},         /* the first TEST */
               {2, 1},         /* in the second trip L0 makes none */
               {2, 1}, {2, 0}, /* the third trip */
               {2, 0}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, {2, 1}, /* its TEST */
               {1, 1}, {1, 0}, {1, 0}, {1, 0});
    model_classes[TEST] = RFN_CLASS_COMPLETION;
}

/* SEND begins and RECV ends one: each is a segment, L0's iterations, and L1's as they contain it.
 */
static void test_begin_and_end(void **state)
{
    (void)state;
    model_classes[SEND] = RFN_CLASS_SEGMENT_BEGIN;
    model_classes[RECV] = RFN_CLASS_SEGMENT_END;
    EXPECT(3, 100, 6, {0, 1}, {0, 0}, {3, 1}, {3, 0}, {3, 1}, {3, 0}, {3, 1}, {3, 0}, {3, 1},
           {3, 0}, {3, 1}, {3, 0}, {5, 1}, {3, 1}, {3, 0}, {5, 1}, {1, 1}, {2, 1});
    model_classes[SEND] = RFN_CLASS_SEND;
    model_classes[RECV] = RFN_CLASS_RECV;
}

/* Marks in the top: INIT ends one, so SPLIT begins the next, which ALLTOALLW ends. No loop cuts. */
static void test_marks_in_top(void **state)
{
    (void)state;
    model_classes[INIT] = RFN_CLASS_SEGMENT_END;
    model_classes[ALLTOALLW] = RFN_CLASS_SEGMENT_END;
    struct expected expected[21] = {[0] = {0, true}, [1] = {0, true}, [18] = {0, true}};
    expect_places(0, 1, 1, expected, 21);
    model_classes[ALLTOALLW] = RFN_CLASS_SEGMENT_BEGIN;
    struct expected begins[21] = {[0] = {0, true}, [1] = {0, true}, [17] = {0, true}};
    expect_places(0, 1, 1, begins, 21);
    model_classes[INIT] = model_classes[ALLTOALLW] = RFN_CLASS_OTHER;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_loops),     cmocka_unit_test(test_few_calls),
        cmocka_unit_test(test_no_loop),       cmocka_unit_test(test_begin_in_loop),
        cmocka_unit_test(test_begin_and_end), cmocka_unit_test(test_marks_in_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
