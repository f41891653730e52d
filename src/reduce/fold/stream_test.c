#include "base/grow.h"
#include "reduce/columns/lists.h"
#include "reduce/fold/elastic_signature.h"
#include "reduce/fold/stream.h"
#include "reduce/fold/varying_params.h"
#include "support/spill_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two functions: a send with five inputs, and a test with one input and one outcome. */
static const struct rfn_param_info send_params[] = {
    {"count", RFN_KIND_COUNT, 0}, {"datatype", RFN_KIND_TYPE, 0}, {"dest", RFN_KIND_RANK, 0},
    {"tag", RFN_KIND_TAG, 0},     {"comm", RFN_KIND_COMM, 0},
};
static const struct rfn_param_info test_params[] = {
    {"request", RFN_KIND_REQUEST, 0},
    {"flag", RFN_KIND_FLAG, RFN_PARAM_OUT},
};
static const struct rfn_function_info functions[] = {
    {"MPI_Send", RFN_CLASS_SEND, 0, 5, 0, send_params},
    {"MPI_Test", RFN_CLASS_COMPLETION, RFN_FUNCTION_POLL, 1, 1, test_params},
    {"region", RFN_CLASS_REGION, 0, 0, 0, NULL},
};
enum { SEND, TEST, REGION };

/* Sites this far apart are one call path. */
static const uint32_t few_paths = 5, many_paths = 1000;

static uint64_t call_hash(const void *paths, uint32_t site)
{
    return (site % *(const uint32_t *)paths + 1) * 0x9e3779b97f4a7c15u;
}

/* What went in, one per call. */
struct call {
    struct rfn_event event;
    int64_t in[5], out[1];
};

struct history {
    struct call *calls;
    size_t n, capacity;
    uint64_t now, counted;
    struct rfn_stream *stream;
};

static struct history history_new_within(bool all_polls, struct rfn_memory *memory,
                                         const struct rfn_spill *spill)
{
    struct rfn_stream_options options = {.functions = functions,
                                         .times = true,
                                         .all_polls = all_polls,
                                         .start = 1000,
                                         .volume = true,
                                         .volume_start = 7,
                                         .memory = memory,
                                         .spill = spill,
                                         .call_hash = call_hash,
                                         .call_hash_context = &few_paths};
    struct history history = {.now = 1000, .counted = 7};
    history.stream = rfn_stream_new(&options);
    assert_non_null(history.stream);
    return history;
}

static struct history history_new(bool all_polls)
{
    return history_new_within(all_polls, NULL, NULL);
}

static void history_free(struct history *history)
{
    rfn_stream_free(history->stream);
    free(history->calls);
}

static void add(struct history *history, uint32_t site, uint32_t function, enum rfn_poll poll,
                const int64_t *in, int64_t out, uint64_t gap, uint64_t duration)
{
    assert_int_equal(RFN_GROW(history->calls, history->capacity, history->n + 1), 0);
    struct call *call = &history->calls[history->n++];
    memset(call, 0, sizeof *call);
    memcpy(call->in, in, functions[function].n_in * sizeof *in);
    call->out[0] = out;
    call->event = (struct rfn_event){.site = site,
                                     .function = function,
                                     .poll = poll,
                                     .in = call->in,
                                     .out = call->out,
                                     .enter = history->now + gap,
                                     .exit = history->now + gap + duration,
                                     .volume_enter = history->counted + 3 * gap + site,
                                     .volume_exit = history->counted + 3 * gap + site +
                                                    duration / 2};
    if (function == REGION) /* a moment, at which nothing is counted */
        call->event.volume_enter = call->event.volume_exit = history->counted;
    history->now = call->event.exit;
    history->counted = call->event.volume_exit;
    assert_in_range(rfn_stream_event(history->stream, &call->event), 0, 1);
}

static void add_send(struct history *history, uint32_t site, int64_t count, int64_t dest,
                     uint64_t gap, uint64_t duration)
{
    add(history, site, SEND, RFN_POLL_NONE, (int64_t[]){count, 3, dest, 7, 0}, 0, gap, duration);
}

static void add_test(struct history *history, uint32_t site, int64_t request, bool flag)
{
    add(history, site, TEST, flag ? RFN_POLL_SUCCESSFUL : RFN_POLL_FAILED, (int64_t[]){request},
        flag, 5, 2);
}

/* ---- reading a stream back, independently of the archive's reader ---- */

struct columns {
    struct rfn_buf bytes;
    struct rfn_column_cursor gap, duration, polls, inside, volume_gap, volume_inside, own[6];
};

struct playback {
    struct history *history;
    struct columns *columns; /* per symbol */
    size_t at;               /* in history->calls */
    uint64_t now, counted, events, calls;
};

static unsigned n_own(const struct rfn_symbol *symbol)
{
    return (unsigned)__builtin_popcount(symbol->moved) + functions[symbol->function].n_out;
}

enum { N_FIXED = 6 };

static void open_columns(struct columns *columns, const struct rfn_stream *stream,
                         const struct rfn_symbol *symbol)
{
    const struct rfn_column *volume = rfn_stream_volume(stream, symbol);
    const struct rfn_column *fixed[N_FIXED] = {&symbol->gap,    &symbol->duration, &symbol->polls,
                                               &symbol->inside, &volume[0],        &volume[1]};
    struct rfn_column_cursor *cursors[N_FIXED] = {&columns->gap,        &columns->duration,
                                                  &columns->polls,      &columns->inside,
                                                  &columns->volume_gap, &columns->volume_inside};
    for (unsigned i = 0; i < N_FIXED; i++)
        rfn_column_write(fixed[i], &columns->bytes);
    for (unsigned i = 0; i < n_own(symbol); i++)
        rfn_column_write(&symbol->columns[i], &columns->bytes);
    assert_false(columns->bytes.failed);
    struct rfn_reader reader = rfn_reader_over(columns->bytes.data, columns->bytes.size);
    for (unsigned i = 0; i < N_FIXED; i++)
        assert_int_equal(rfn_column_open(cursors[i], &reader), 0);
    for (unsigned i = 0; i < n_own(symbol); i++)
        assert_int_equal(rfn_column_open(&columns->own[i], &reader), 0);
    assert_int_equal(rfn_reader_left(&reader), 0);
}

static void close_columns(struct columns *columns, const struct rfn_symbol *symbol)
{
    struct rfn_column_cursor *fixed[N_FIXED] = {&columns->gap,        &columns->duration,
                                                &columns->polls,      &columns->inside,
                                                &columns->volume_gap, &columns->volume_inside};
    for (unsigned i = 0; i < N_FIXED; i++) {
        assert_int_equal(rfn_column_at(fixed[i]), fixed[i]->n); /* nothing is left over */
        rfn_column_close(fixed[i]);
    }
    for (unsigned i = 0; i < n_own(symbol); i++) {
        assert_int_equal(rfn_column_at(&columns->own[i]), symbol->occurrences);
        rfn_column_close(&columns->own[i]);
    }
    rfn_buf_release(&columns->bytes);
}

static int64_t next(struct rfn_column_cursor *cursor)
{
    int64_t value = 0;
    assert_int_equal(rfn_column_next(cursor, &value), 0);
    return value;
}

/* A call, or a run of polls: inside adds up, and the rest since the event before is the gap. */
static void check_volume(struct playback *playback, struct columns *columns,
                         const struct call *call, uint64_t polls)
{
    uint64_t gap = (uint64_t)next(&columns->volume_gap), inside = 0;
    for (uint64_t i = 0; i < polls; i++)
        inside += call[i].event.volume_exit - call[i].event.volume_enter;
    assert_int_equal(next(&columns->volume_inside), inside);
    assert_int_equal(playback->counted + gap + inside, call[polls - 1].event.volume_exit);
    playback->counted = call[polls - 1].event.volume_exit;
}

/* Checks that a symbol's next occurrence is the call (or run of polls) that comes next. */
static int check_event(void *context, uint32_t number)
{
    struct playback *playback = context;
    const struct rfn_symbol *symbol = rfn_stream_symbol(playback->history->stream, number);
    struct columns *columns = &playback->columns[number];
    const struct call *call = &playback->history->calls[playback->at];
    uint64_t enter = playback->now + (uint64_t)next(&columns->gap);
    uint64_t exit = enter + (uint64_t)next(&columns->duration);
    uint64_t polls = symbol->failed_poll ? (uint64_t)next(&columns->polls) : 1;
    uint64_t inside = symbol->failed_poll ? (uint64_t)next(&columns->inside) : exit - enter;
    assert_int_equal(symbol->site, call->event.site);
    assert_int_equal(symbol->function, call->event.function);
    assert_int_equal(symbol->failed_poll, call->event.poll == RFN_POLL_FAILED);
    unsigned column = 0;
    for (unsigned i = 0; i < functions[symbol->function].n_in; i++) {
        int64_t word = symbol->moved >> i & 1 ? next(&columns->own[column++]) : symbol->in[i];
        assert_int_equal(word, call->in[i]);
    }
    for (unsigned i = 0; i < functions[symbol->function].n_out; i++)
        assert_int_equal(next(&columns->own[column++]), call->out[i]);
    assert_int_equal(enter, call->event.enter);
    for (uint64_t i = 0; i < polls; i++) {
        const struct call *one = call + i;
        assert_int_equal(one->event.poll == RFN_POLL_FAILED, symbol->failed_poll);
        assert_int_equal(one->in[0], call->in[0]);
        inside -= one->event.exit - one->event.enter;
    }
    assert_int_equal(inside, 0);
    assert_int_equal(exit, call[polls - 1].event.exit);
    check_volume(playback, columns, call, polls);
    playback->at += polls;
    playback->now = exit;
    playback->events++;
    playback->calls += polls;
    return 0;
}

/* The signature is that of the calls, one by one. */
static void check_signature(const struct history *history)
{
    struct rfn_elastic all = {0};
    for (size_t i = 0; i < history->n; i++) {
        const struct rfn_event *event = &history->calls[i].event;
        if (event->poll != RFN_POLL_FAILED && event->function != REGION)
            assert_int_equal(rfn_elastic_append(&all, call_hash(&few_paths, event->site) | 1), 0);
    }
    uint64_t signature = rfn_elastic_signature(&all);
    assert_true(rfn_stream_signature(history->stream) == (signature ? signature : 1));
    rfn_elastic_release(&all);
}

static void check_all(struct history *history)
{
    assert_int_equal(rfn_stream_flush(history->stream), 0);
    check_signature(history);
    uint32_t n = rfn_stream_symbols(history->stream);
    struct playback playback = {.history = history, .now = 1000, .counted = 7};
    playback.columns = calloc(n, sizeof *playback.columns);
    for (uint32_t i = 0; i < n; i++)
        open_columns(&playback.columns[i], history->stream, rfn_stream_symbol(history->stream, i));
    assert_int_equal(rfn_fold_unfold(rfn_stream_fold(history->stream), check_event, &playback), 0);
    assert_int_equal(playback.at, history->n);
    assert_int_equal(playback.events, rfn_stream_events(history->stream));
    assert_int_equal(playback.calls, rfn_stream_calls(history->stream));
    for (uint32_t i = 0; i < n; i++)
        close_columns(&playback.columns[i], rfn_stream_symbol(history->stream, i));
    free(playback.columns);
}

/* ---- tests ---- */

static void test_regular(void **state)
{
    (void)state;
    struct history history = history_new(false);
    for (int step = 0; step < 1000; step++) {
        for (int peer = 0; peer < 4; peer++)
            add_send(&history, 0, 128, peer, 100 + (uint64_t)step % 7, 40);
        add_send(&history, 1, 1, 0, 10, 20);
    }
    check_all(&history);
    struct rfn_fold_stats stats;
    rfn_fold_stats(rfn_stream_fold(history.stream), &stats);
    assert_int_equal(rfn_stream_symbols(history.stream), 5);
    assert_true(stats.nodes <= 6);
    history_free(&history);
}

/* What is coded ahead serves all columns that do not grow any more, also of events that waited. */
static void test_ahead(void **state)
{
    (void)state;
    struct history history = history_new(false);
    for (int i = 0; i < 300; i++) {
        add_send(&history, 0, 128, 1, 100 + (uint64_t)i % 7 * (uint64_t)i, 40 + (uint64_t)i % 11);
        add_send(&history, 1, i, 0, 10 + (uint64_t)i % 13, 20 * (uint64_t)i);
    }
    assert_int_equal(rfn_stream_code_ahead(history.stream), 0);
    add_send(&history, 0, 128, 1, 5, 5);
    assert_int_equal(rfn_stream_flush(history.stream), 0);
    for (uint32_t i = 0; i < rfn_stream_symbols(history.stream); i++) {
        const struct rfn_symbol *symbol = rfn_stream_symbol(history.stream, i);
        assert_non_null(symbol->gap.values->ahead);
        assert_int_equal(symbol->gap.values->ahead->n == symbol->gap.n, symbol->site == 1);
        assert_int_equal(symbol->duration.values->ahead->n == symbol->duration.n,
                         symbol->site == 1);
        if (symbol->moved) /* the counts */
            assert_int_equal(symbol->columns[0].values->ahead->n, 300);
    }
    check_all(&history);
    history_free(&history);
}

/* The end of the last event is another one, whether its column is one value, some equal ones or
 * many, and whether the stream was flushed; other events may follow. */
static void test_end_later(void **state)
{
    (void)state;
    for (int times = 1; times <= 200; times = 2 * times + 1) {
        for (int equal = 0; equal < 2; equal++) {
            struct history history = history_new(false);
            for (int i = 0; i < times; i++) {
                add_send(&history, 0, 128, 1, 100, equal ? 50 : 50 + (uint64_t)i * (uint64_t)i);
                if (i % 5) {
                    assert_int_equal(rfn_stream_code_ahead(history.stream), 0);
                    assert_int_equal(rfn_stream_flush(history.stream), 0);
                }
                struct rfn_event *last = &history.calls[history.n - 1].event;
                history.now = last->exit += i % 3 ? 0 : 1000;
                history.counted = last->volume_exit += i % 3 ? 0 : 77;
                assert_int_equal(
                    rfn_stream_end_later(history.stream, last->exit, last->volume_exit), 0);
            }
            check_all(&history);
            history_free(&history);
        }
    }
}

static bool any_moved(const struct rfn_stream *stream)
{
    bool any = false;
    for (uint32_t site = 0; site < 40; site++)
        any = any || rfn_stream_moved(stream, site);
    return any;
}

/* A run of polls that is held back is the one by which an input moves. */
static void test_ahead_of_polls(void **state)
{
    (void)state;
    for (int values = RFN_INPUT_VALUES_MAX; values <= RFN_INPUT_VALUES_MAX + 1; values++) {
        struct history history = history_new(false);
        for (int i = 0; i < values; i++)
            add_test(&history, 0, i, false);
        assert_int_equal(rfn_stream_code_ahead(history.stream), 0);
        assert_int_equal(any_moved(history.stream), values > RFN_INPUT_VALUES_MAX);
        check_all(&history);
        history_free(&history);
    }
}

/* A parameter with up to 64 values stays in signatures; with 65 it moves to a column. */
static void test_moves_after_64(void **state)
{
    (void)state;
    for (int values = 64; values <= 65; values++) {
        struct history history = history_new(false);
        for (int step = 0; step < 3000; step++) {
            add_send(&history, 0, step % values, 1, 5, 6);
            add_send(&history, 1, 8, 2, 7, 8);
        }
        check_all(&history);
        bool moved = values > RFN_INPUT_VALUES_MAX;
        assert_int_equal(rfn_stream_moved(history.stream, 0), moved ? 1 : 0);
        assert_int_equal(rfn_stream_moved(history.stream, 1), 0);
        assert_int_equal(rfn_stream_symbols(history.stream), moved ? 2 : 65);
        struct rfn_fold_stats stats;
        rfn_fold_stats(rfn_stream_fold(history.stream), &stats);
        if (moved)
            assert_true(stats.nodes <= 3);
        history_free(&history);
    }
}

/* Two parameters that vary together: each moves when it is its turn, and by request. */
static void test_moves_two(void **state)
{
    (void)state;
    struct history history = history_new(false);
    for (int step = 0; step < 2000; step++)
        add_send(&history, 0, step * 3, step % 70, (uint64_t)step, 6);
    check_all(&history);
    assert_int_equal(rfn_stream_moved(history.stream, 0), 1 | 4);
    assert_int_equal(rfn_stream_symbols(history.stream), 1);
    rfn_stream_move(history.stream, 0, 3);
    assert_int_equal(rfn_stream_settle(history.stream), 0);
    check_all(&history);
    assert_int_equal(rfn_stream_moved(history.stream, 0), 1 | 4 | 8);
    history_free(&history);
}

/* Too many symbols at a site although no input has many values. */
static void test_moves_many_symbols(void **state)
{
    (void)state;
    struct history history = history_new(false);
    srand(1);
    for (int step = 0; step < 20000; step++)
        add_send(&history, 0, rand() % 60, rand() % 50, 5, 6);
    check_all(&history);
    assert_int_equal(rfn_stream_moved(history.stream, 0), 1); /* count has most values */
    assert_true(rfn_stream_symbols(history.stream) <= 50);
    history_free(&history);
}

/* Sites that vary one after the other, late: most moves wait, and still everything comes out. Not a
 * pass per move: 2000 of those would take minutes here. */
static void test_moves_late(void **state)
{
    (void)state;
    struct history history = history_new(false);
    enum { SITES = 2000, VALUES = 70 };
    for (int step = 0; step < 300000; step++)
        add_send(&history, (uint32_t)step % 7, 1, step % 2, (uint64_t)step % 50, 6);
    for (int site = 7; site < 7 + SITES; site++) {
        for (int value = 0; value < VALUES; value++)
            add_send(&history, (uint32_t)site, value, value % 3 ? 1 : site % 90, 5, 6);
    }
    for (int step = 0; step < 100000; step++) /* some of them again, with a second input */
        add_send(&history, 7 + (uint32_t)step % 5, step % 1000, step / 5 % 80, 5, 6);
    check_all(&history);
    /* A site that has just begun when symbols are looked at may move its second input, too: looks
     * come as symbols double. */
    enum { LOOKS = 6 };
    int begun = 0;
    for (uint32_t site = 0; site < 7 + SITES; site++) {
        const uint32_t moved = rfn_stream_moved(history.stream, site);
        begun += site >= 12 && moved == (1 | 4);
        if (site < 12 || moved != (1 | 4))
            assert_int_equal(moved, site < 7 ? 0 : site < 12 ? 1 | 4 : 1);
    }
    assert_in_range(begun, 0, LOOKS);
    history_free(&history);
}

/* Hundreds of sites whose calls are hardly ever the same: they do not become symbols each, whether
 * there is a limit to memory or not; those of a site that repeat do. */
static void test_moves_rare(void **state)
{
    (void)state;
    enum { SITES = 600, CALLS = 60 };
    struct history history = history_new(false);
    srand(3);
    for (int step = 0; step < SITES * CALLS; step++) {
        add_send(&history, 1 + (uint32_t)rand() % SITES, rand() % 50, rand() % 40, 5, 6);
        add_send(&history, 0, step % 10, 1, 5, 6);
    }
    check_all(&history);
    assert_int_equal(rfn_stream_moved(history.stream, 0), 0);
    assert_in_range(rfn_stream_symbols(history.stream), 10 + SITES, 4 * SITES);
    history_free(&history);
}

static void test_polls(void **state)
{
    (void)state;
    for (int all = 0; all <= 1; all++) {
        struct history history = history_new(all);
        srand(2);
        for (int step = 0; step < 500; step++) {
            add_send(&history, 0, 1, 1, 5, 6);
            for (int i = rand() % 5; i > 0; i--)
                add_test(&history, 1, 5, false);
            add_test(&history, 1, 5, true);
        }
        add_test(&history, 1, 5, false);
        add_test(&history, 1, 9, false); /* another request: another run */
        check_all(&history);
        assert_int_equal(rfn_stream_calls(history.stream), history.n);
        if (all)
            assert_int_equal(rfn_stream_events(history.stream), history.n);
        else
            assert_true(rfn_stream_events(history.stream) <= 500 * 3 + 2);
        history_free(&history);
    }
}

static void test_marks(void **state)
{
    (void)state;
    struct history history = history_new(false);
    for (int step = 0; step < 200000; step++)
        add_send(&history, 0, 1, 1, 5, 6);
    size_t n;
    const uint64_t *marks = rfn_stream_marks(history.stream, &n);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(marks[i], history.calls[RFN_STREAM_MARK * (i + 1)].event.enter);
    history_free(&history);
}

/* Random mixtures: whatever happens, what went in comes out. */
static void test_random(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 60; seed++) {
        struct history history = history_new(seed % 2);
        srand(seed);
        int sites = 1 + rand() % 6, counts = 1 + rand() % 150, dests = 1 + rand() % 100;
        for (int i = 0; i < 3000; i++) {
            uint32_t site = (uint32_t)(rand() % sites);
            if (site % 3 == 2)
                add_test(&history, site, rand() % 3, rand() % 3 == 0);
            else
                add_send(&history, site, rand() % counts, rand() % dests, (uint64_t)(rand() % 1000),
                         (uint64_t)(rand() % 100));
            if (rand() % 500 == 0)
                assert_int_equal(rfn_stream_code_ahead(history.stream), 0);
            if (i == 1500 && seed % 4 == 0) {
                assert_int_equal(rfn_stream_flush(history.stream), 0);
                rfn_stream_move(history.stream, 0, (uint32_t)(rand() % 5));
                if (seed % 8 == 0) /* otherwise later, with what else has moved */
                    assert_int_equal(rfn_stream_settle(history.stream), 0);
            }
        }
        check_all(&history);
        history_free(&history);
    }
}

static void test_lists(void **state)
{
    (void)state;
    struct history history = history_new(false);
    int64_t words[300];
    for (int64_t i = 0; i < 300; i++) {
        for (int64_t k = 0; k <= i; k++)
            words[k] = i ^ k;
        assert_int_equal(rfn_stream_list(history.stream, words, (size_t)i + 1), i + 1);
        assert_int_equal(rfn_stream_list(history.stream, words, (size_t)i + 1), i + 1);
    }
    assert_int_equal(rfn_stream_list(history.stream, words, 0), 0);
    size_t n;
    const int64_t *list = rfn_stream_list_words(history.stream, 10, &n);
    assert_int_equal(n, 10);
    for (int64_t k = 0; k < 10; k++)
        assert_int_equal(list[k], 9 ^ k);
    assert_null(rfn_stream_list_words(history.stream, 301, &n));
    history_free(&history);
}

/* Lists of any words, more than fit into a block, in any order of reading, keep their words. */
static void test_many_lists(void **state)
{
    (void)state;
    enum { LISTS = 5000, LENGTH = 400 };
    struct rfn_lists lists = {0};
    int64_t *words = malloc(LISTS * LENGTH * sizeof *words);
    assert_non_null(words);
    srand(3);
    for (size_t i = 0; i < LISTS; i++) { /* each differs from the one before in two places */
        int64_t *list = words + i * LENGTH;
        for (size_t k = 0; k < LENGTH; k++)
            list[k] = i ? list[k - LENGTH] : rand() % 100;
        list[rand() % LENGTH] = (int64_t)((uint64_t)rand() << 33 | (uint64_t)rand());
        list[rand() % LENGTH] = rand() % 3 ? INT64_MIN : INT64_MAX;
        assert_int_equal(rfn_lists_intern(&lists, list, LENGTH - i % 2), i + 1);
    }
    assert_true(lists.n_blocks > 3);
    size_t held = 0;
    for (size_t b = 0; b < lists.n_blocks; b++)
        held += lists.blocks[b].size;
    assert_true(held < LISTS * LENGTH); /* not a byte per word */
    for (int i = 0; i < 2 * LISTS; i++) {
        size_t number = i < LISTS ? (size_t)i : (size_t)rand() % LISTS, n;
        if (i >= LISTS && i % 16)
            continue;
        const int64_t *list = rfn_lists_get(&lists, number + 1, &n);
        assert_int_equal(n, LENGTH - number % 2);
        assert_memory_equal(list, words + number * LENGTH, n * sizeof *list);
        assert_int_equal(rfn_lists_intern(&lists, words + number * LENGTH, n), number + 1);
    }
    rfn_lists_release(&lists);
    free(words);
}

/* Lists that come again keep their number for ever, the others may get a second one; all keep their
 * words, also those that have left memory. */
static void test_lists_forget(void **state)
{
    (void)state;
    enum { LISTS = 3 * RFN_LISTS_KNOWN };
    struct rfn_lists lists = {0};
    struct spill_model model;
    spill_model_init(&model);
    for (int64_t i = 0; i < LISTS; i++) {
        const int64_t words[3] = {i, -i, 5}, steady[1] = {-7};
        int64_t number = rfn_lists_intern(&lists, words, 3);
        assert_int_equal(number, i ? i + 2 : 1);
        assert_int_equal(rfn_lists_intern(&lists, steady, 1), 2);
        assert_true(lists.n_known <= RFN_LISTS_KNOWN);
        if (i % 10000 == 0)
            assert_int_equal(rfn_lists_spill(&lists, &model.spill), 0);
    }
    assert_true(model.writes > 1 && rfn_lists_bytes(&lists) < 8 << 20);
    const int64_t first[3] = {0, 0, 5};
    assert_int_equal(rfn_lists_intern(&lists, first, 3), LISTS + 2);
    for (int64_t i = 1; i < LISTS; i += i % 100 ? 1 : 5000) {
        size_t n;
        const int64_t *words = rfn_lists_get(&lists, (size_t)i + 2, &n);
        assert_int_equal(n, 3);
        assert_true(words[0] == i && words[1] == -i && words[2] == 5);
    }
    rfn_lists_release(&lists);
    rfn_buf_release(&model.bytes);
}

/* ---- memory ---- */

/* A program in which nothing repeats exactly: order, counts and times are random, polls too. */
static void add_unruly(struct history *history, int calls)
{
    srand(11);
    for (int i = 0; i < calls; i++) {
        uint64_t gap = (uint64_t)rand() % 100000, duration = (uint64_t)rand() % 5000;
        uint32_t site = (uint32_t)(rand() % 5);
        if (site == 4)
            add_test(history, 4, rand() % 2, rand() % 4 == 0);
        else
            add_send(history, site, rand() % 1000, rand() % 3, gap, duration);
    }
}

static void test_memory_is_bounded(void **state)
{
    (void)state;
    enum { LIMIT = 1 << 20, CALLS = 600000, SLACK = 1 << 18 };
    struct rfn_memory memory = {.limit = LIMIT};
    struct spill_model model;
    spill_model_init(&model);
    struct history free_one = history_new(false),
                   bound = history_new_within(false, &memory, &model.spill);
    add_unruly(&free_one, CALLS);
    for (int part = 0; part < 10; part++) {
        add_unruly(&bound, CALLS / 10);
        assert_true(rfn_stream_bytes(bound.stream) < LIMIT + SLACK);
    }
    assert_true(rfn_stream_bytes(free_one.stream) > 4 * LIMIT);
    assert_true(model.writes > 10);
    check_all(&bound);
    assert_true(rfn_stream_bytes(bound.stream) < LIMIT + SLACK);
    history_free(&bound);
    assert_int_equal(memory.used, 0);
    history_free(&free_one);
    rfn_buf_release(&model.bytes);
}

/* What fits does not leave memory. */
static void test_memory_suffices(void **state)
{
    (void)state;
    struct rfn_memory memory = {.limit = 32 << 20};
    struct spill_model model;
    spill_model_init(&model);
    struct history history = history_new_within(false, &memory, &model.spill);
    add_unruly(&history, 300000);
    assert_int_equal(model.writes, 0);
    assert_true(memory.used > 0);
    assert_int_equal(rfn_stream_spill(history.stream), 0); /* but when it is asked for */
    assert_true(model.writes > 0);
    check_all(&history);
    history_free(&history);
    rfn_buf_release(&model.bytes);
}

/* Moving inputs late, when most of the data have left memory. */
static void test_moves_what_was_spilled(void **state)
{
    (void)state;
    struct rfn_memory memory = {.limit = 1 << 19};
    struct spill_model model;
    spill_model_init(&model);
    struct history history = history_new_within(false, &memory, &model.spill);
    add_unruly(&history, 400000);
    size_t writes = model.writes;
    for (int i = 0; i < 100; i++)
        add_send(&history, 2, 3, i, 4, 5);
    assert_true(writes > 0);
    check_all(&history);
    assert_true(rfn_stream_moved(history.stream, 2) >> 2 & 1 && model.reads > 0);
    history_free(&history);
    rfn_buf_release(&model.bytes);
}

/* A spill that fails, at any time, costs memory and nothing else. */
static void test_spill_fails(void **state)
{
    (void)state;
    for (size_t writes = 0; writes < 200; writes = 2 * writes + 1) {
        struct rfn_memory memory = {.limit = 1 << 19};
        struct spill_model model;
        spill_model_init(&model);
        model.writes_left = writes;
        struct history history = history_new_within(false, &memory, &model.spill);
        add_unruly(&history, 200000);
        assert_int_equal(model.writes_left, 0);
        check_all(&history);
        history_free(&history);
        rfn_buf_release(&model.bytes);
    }
}

/* ---- the signature ---- */

/* Asked for at any time, which changes nothing; regions and failed polls do not count. */
static void test_signature(void **state)
{
    (void)state;
    struct history history = history_new(false);
    check_signature(&history);
    srand(11);
    for (int i = 0; i < 3000; i++) {
        uint32_t stretch = (uint32_t)i / 300;
        for (uint32_t k = 0; k < 1 + stretch % 3; k++)
            add_send(&history, k + stretch, 1, rand() % (stretch == 5 ? 100 : 3), 1, 1);
        if (stretch % 2 && rand() % 2)
            add(&history, 20 + (uint32_t)rand() % 3, REGION, RFN_POLL_NONE, (int64_t[]){0}, 0, 1,
                1);
        if (rand() % 4 == 0)
            add_test(&history, 30, 1, rand() % 2);
        if (i % 7 == 0)
            check_all(&history);
    }
    assert_true(any_moved(history.stream));
    check_all(&history);
    history_free(&history);
}

static struct rfn_stream *add_calls(const uint32_t *paths, uint32_t n, uint32_t sites)
{
    const struct rfn_stream_options options = {
        .functions = functions, .call_hash = paths ? call_hash : NULL, .call_hash_context = paths};
    struct rfn_stream *stream = rfn_stream_new(&options);
    const int64_t in[5] = {0};
    assert_non_null(stream);
    srand(12);
    for (uint32_t i = 0; i < n; i++) {
        const struct rfn_event event = {
            .site = i < sites ? i : (uint32_t)rand() % sites, .function = SEND, .in = in};
        assert_true(rfn_stream_event(stream, &event) >= 0);
    }
    assert_int_equal(rfn_stream_flush(stream), 0);
    return stream;
}

/* A million calls in random order, of as many sites but few call paths: the signature is kept. Of
 * many it is not: that takes too long. Nor where nobody says what call paths are. */
static void test_signature_limits(void **state)
{
    (void)state;
    const struct {
        const uint32_t *paths;
        uint32_t calls, sites;
        bool is_signed;
    } cases[] = {{&few_paths, 1000000, 20, true},
                 {&many_paths, 1000, 1000, true},
                 {&many_paths, 20000, 1000, false},
                 {NULL, 1000, 20, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rfn_stream *stream = add_calls(cases[i].paths, cases[i].calls, cases[i].sites);
        assert_int_equal(rfn_stream_signature(stream) != RFN_UNSIGNED, cases[i].is_signed);
        assert_int_equal(rfn_stream_events(stream), cases[i].calls);
        rfn_stream_free(stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regular),
        cmocka_unit_test(test_moves_after_64),
        cmocka_unit_test(test_moves_two),
        cmocka_unit_test(test_moves_many_symbols),
        cmocka_unit_test(test_moves_late),
        cmocka_unit_test(test_moves_rare),
        cmocka_unit_test(test_polls),
        cmocka_unit_test(test_end_later),
        cmocka_unit_test(test_ahead_of_polls),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_many_lists),
        cmocka_unit_test(test_lists_forget),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_memory_suffices),
        cmocka_unit_test(test_moves_what_was_spilled),
        cmocka_unit_test(test_spill_fails),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_signature),
        cmocka_unit_test(test_signature_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
