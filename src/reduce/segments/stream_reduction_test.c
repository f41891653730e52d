/* Where all segments are kept, and starts exactly, a stream's profile has every event with its
 * times, whatever number of epochs it took; and its segments are those that the final structure
 * has, which a recursion finds here from the definition (doc/trace-profiling.md). */
#include "reduce/segments/stream_reduction.h"

#include "base/grow.h"
#include "refrain/archive.h"
#include "support/spill_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct rfn_param_info send_params[] = {
    {"count", RFN_KIND_COUNT, 0}, {"dest", RFN_KIND_RANK, 0}, {"tag", RFN_KIND_TAG, 0}};
static const struct rfn_param_info test_params[] = {{"request", RFN_KIND_REQUEST, 0},
                                                    {"flag", RFN_KIND_FLAG, RFN_PARAM_OUT}};
static const struct rfn_function_info functions[] = {
    {"MPI_Send", RFN_CLASS_SEND, 0, 3, 0, send_params},
    {"MPI_Test", RFN_CLASS_COMPLETION, RFN_FUNCTION_POLL, 1, 1, test_params}};
enum { SEND, TEST, START = 1000 };

/* What happened: an event, a run of polls being one. */
struct happened {
    uint64_t enter, exit;
    uint32_t site;
    int64_t polls, inside, volume_gap, volume_inside;
};

struct history {
    struct happened *events;
    size_t n, capacity;
    uint64_t now, counted, random;
    struct rfn_memory memory;
    struct spill_model spill;
    struct rfn_reducing reducing;
    size_t keep_bytes;
    struct rfn_stream *stream;
    bool volume;
    bool told; /* epochs come by request, also within runs of polls */
};

static const struct rfn_criterion keep_all = {.method = &rfn_iter_k, .threshold = UINT32_MAX};
static const struct rfn_criterion keep_different = {.method = &rfn_avg_wave, .threshold = 0.2};

static uint64_t below(struct history *history, uint64_t limit)
{
    history->random = history->random * 6364136223846793005u + 1442695040888963407u;
    return (history->random >> 33) % limit;
}

/* limit: on memory; 0: none. keep: what times may take without being reduced. */
static struct history *history_keeping(size_t keep, size_t limit, uint32_t min_calls, bool volume,
                                       const struct rfn_criterion *criterion)
{
    struct history *history = calloc(1, sizeof *history);
    assert_non_null(history);
    history->now = START;
    history->random = 1;
    history->volume = volume;
    history->memory.limit = limit;
    history->reducing = (struct rfn_reducing){.criterion = *criterion,
                                              .max_per_kind = 100,
                                              .min_calls = min_calls,
                                              .exact_starts = true,
                                              .quantum_ns = 1};
    history->keep_bytes = keep;
    spill_model_init(&history->spill);
    const struct rfn_stream_options options = {.functions = functions,
                                               .times = true,
                                               .start = START,
                                               .volume = volume,
                                               .memory = limit ? &history->memory : NULL,
                                               .spill = limit ? &history->spill.spill : NULL,
                                               .sink = &rfn_stream_reduction_sink,
                                               .reducing = &history->reducing,
                                               .keep_bytes = &history->keep_bytes};
    history->stream = rfn_stream_new(&options);
    assert_non_null(history->stream);
    return history;
}

static struct history *history_of(size_t limit, uint32_t min_calls, bool volume,
                                  const struct rfn_criterion *criterion)
{
    return history_keeping(0, limit, min_calls, volume, criterion);
}

static struct history *history_new(size_t limit, uint32_t min_calls, bool volume)
{
    return history_of(limit, min_calls, volume, &keep_all);
}

static void history_free(struct history *history)
{
    rfn_stream_free(history->stream);
    assert_int_equal(history->memory.used, 0);
    rfn_buf_release(&history->spill.bytes);
    free(history->events);
    free(history);
}

static struct happened *happen(struct history *history, uint32_t site, uint64_t gap)
{
    assert_int_equal(RFN_GROW(history->events, history->capacity, history->n + 1), 0);
    struct happened *event = &history->events[history->n++];
    *event = (struct happened){
        .enter = history->now + gap, .site = site, .volume_gap = (int64_t)(gap / 2)};
    return event;
}

static void add_call(struct history *history, struct happened *event, const int64_t *in,
                     enum rfn_poll poll, uint64_t gap, uint64_t duration)
{
    uint64_t counted = history->counted + (uint64_t)(gap / 2), enter = history->now + gap;
    const int64_t out = poll == RFN_POLL_SUCCESSFUL;
    const struct rfn_event call = {.site = event->site,
                                   .function = poll == RFN_POLL_NONE ? SEND : TEST,
                                   .poll = poll,
                                   .in = in,
                                   .out = &out,
                                   .enter = enter,
                                   .exit = enter + duration,
                                   .volume_enter = counted,
                                   .volume_exit = counted + duration};
    const uint64_t epochs = rfn_stream_epochs(history->stream);
    const int took_long = rfn_stream_event(history->stream, &call);
    assert_in_range(took_long, 0, 1);
    if (rfn_stream_epochs(history->stream) != epochs)
        assert_int_equal(took_long, 1);
    event->exit = history->now = call.exit;
    event->volume_inside += (int64_t)duration;
    event->inside += (int64_t)duration;
    history->counted = call.volume_exit;
}

static void add_send(struct history *history, uint32_t site, int64_t count, uint64_t gap,
                     uint64_t duration)
{
    struct happened *event = happen(history, site, gap);
    add_call(history, event, (const int64_t[]){count, 1, 7}, RFN_POLL_NONE, gap, duration);
}

static void tell_epoch(struct history *history)
{
    assert_int_equal(rfn_stream_catch_up(history->stream), 0);
    assert_int_equal(rfn_stream_epoch(history->stream), 0);
}

/* Unsuccessful polls in a run, then one that succeeds. */
static void add_polls(struct history *history, uint32_t site, int n)
{
    const int64_t request = 3;
    struct happened *event = n ? happen(history, site, 5) : NULL;
    for (int i = 0; i < n; i++) {
        add_call(history, event, &request, RFN_POLL_FAILED, 5, 2);
        event->volume_gap += i ? 2 : 0;
        event->polls++;
        if (history->told && below(history, 40) == 0)
            tell_epoch(history);
    }
    event = happen(history, site, 4);
    add_call(history, event, &request, RFN_POLL_SUCCESSFUL, 4, 9);
}

/* ---- the segments by their definition ---- */

struct place {
    uint32_t context, symbol;
    bool top, begins;
};

struct expansion {
    const struct rfn_fold *fold;
    struct rfn_column_cursor *trips;
    uint32_t *calls, *first;
    uint32_t min_calls;
    struct place *places;
    size_t n, capacity;
    uint32_t length; /* of the segment so far */
    bool pending;
};

static bool cuts(const struct expansion *expansion, rfn_node node)
{
    return rfn_node_is_loop(node) && expansion->calls[rfn_node_index(node)] >= expansion->min_calls;
}

static void number_loops(struct expansion *expansion, size_t n_loops)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_loops; i++) {
        size_t length;
        const rfn_node *body = rfn_fold_body(expansion->fold, i, &length);
        expansion->first[i] = n;
        uint32_t stretches = 1;
        for (size_t k = 0; k < length; k++) {
            uint32_t index = rfn_node_index(body[k]);
            expansion->calls[i] += rfn_node_is_loop(body[k]) ? expansion->calls[index] : 1;
            stretches += cuts(expansion, body[k]);
        }
        n += expansion->calls[i] >= expansion->min_calls ? stretches : 0;
    }
}

static void place_event(struct expansion *expansion, uint32_t symbol, uint32_t context, bool top)
{
    assert_int_equal(RFN_GROW(expansion->places, expansion->capacity, expansion->n + 1), 0);
    bool begins = expansion->pending || expansion->length == RFN_SEGMENT_EVENTS_MAX;
    expansion->places[expansion->n++] = (struct place){context, symbol, top, begins};
    expansion->length = begins ? 1 : expansion->length + 1;
    expansion->pending = false;
}

static void expand(struct expansion *expansion, const rfn_node *nodes, size_t n, uint32_t *context,
                   bool top, bool flat)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t loop = rfn_node_index(nodes[i]);
        if (!rfn_node_is_loop(nodes[i])) {
            place_event(expansion, loop, *context, top);
            continue;
        }
        bool cut = !flat && cuts(expansion, nodes[i]);
        *context += cut;
        expansion->pending |= cut;
        int64_t trips = 0;
        size_t length;
        assert_int_equal(rfn_column_next(&expansion->trips[loop], &trips), 0);
        const rfn_node *body = rfn_fold_body(expansion->fold, loop, &length);
        for (; trips > 0; trips--) {
            uint32_t inside = cut ? expansion->first[loop] : *context;
            expand(expansion, body, length, &inside, top && !cut, !cut);
            expansion->pending |= cut;
        }
    }
}

static void expand_frozen(struct expansion *expansion, const struct rfn_column *frozen,
                          uint32_t *context)
{
    struct rfn_column_cursor cursor;
    rfn_column_open_growing(&cursor, frozen);
    while (rfn_column_at(&cursor) < cursor.n) {
        int64_t node = 0;
        assert_int_equal(rfn_column_next(&cursor, &node), 0);
        expand(expansion, &(rfn_node){(rfn_node)node}, 1, context, true, false);
    }
    rfn_column_close(&cursor);
}

static struct expansion expand_all(const struct rfn_stream *stream, uint32_t min_calls)
{
    struct rfn_fold_view view;
    struct expansion expansion = {
        .fold = rfn_stream_fold(stream), .min_calls = min_calls, .pending = true};
    uint32_t context = 0;
    rfn_fold_view(expansion.fold, &view);
    expansion.trips = calloc(view.n_loops + 1, sizeof *expansion.trips);
    expansion.calls = calloc(view.n_loops + 1, sizeof *expansion.calls);
    expansion.first = calloc(view.n_loops + 1, sizeof *expansion.first);
    assert_true(expansion.trips && expansion.calls && expansion.first);
    for (uint32_t i = 0; i < view.n_loops; i++)
        rfn_column_open_growing(&expansion.trips[i], rfn_fold_trips(expansion.fold, i));
    number_loops(&expansion, view.n_loops);
    expand_frozen(&expansion, view.frozen, &context);
    expand(&expansion, view.top, view.n_top, &context, true, false);
    for (uint32_t i = 0; i < view.n_loops; i++) {
        assert_int_equal(rfn_column_at(&expansion.trips[i]), expansion.trips[i].n);
        rfn_column_close(&expansion.trips[i]);
    }
    free(expansion.trips);
    free(expansion.calls);
    free(expansion.first);
    return expansion;
}

/* ---- the profile against both ---- */

struct check {
    const struct history *history;
    struct expansion expansion;
    size_t at; /* event */
    uint64_t last_exit;
};

static void check_extra(const struct check *check, const struct rfn_executed *executed, size_t at,
                        size_t *extra)
{
    const struct happened *event = &check->history->events[at];
    const int64_t *values = executed->extra + *extra;
    size_t n = 0;
    if (event->polls) {
        assert_int_equal(values[n++], event->polls);
        assert_int_equal(values[n++], event->inside);
    }
    if (check->history->volume) {
        assert_int_equal(values[n++], event->volume_gap);
        assert_int_equal(values[n++], event->volume_inside);
    }
    *extra += n;
}

static void check_segment(struct check *check, const struct rfn_executed *executed)
{
    const struct happened *events = check->history->events + check->at;
    const struct place *places = check->expansion.places + check->at;
    uint64_t start = check->at ? check->last_exit : events->enter;
    size_t extra = 0;
    assert_true(executed->n > 0 && executed->n <= check->expansion.n - check->at);
    assert_int_equal(executed->start, start);
    assert_int_equal(executed->top, places[0].top);
    if (!executed->top)
        assert_int_equal(executed->context, places[0].context);
    for (size_t i = 0; i < executed->n; i++) {
        assert_int_equal(places[i].begins, i == 0);
        assert_int_equal(executed->events[i], places[i].symbol);
        uint32_t site = rfn_stream_symbol(check->history->stream, executed->events[i])->site;
        assert_int_equal(site, events[i].site);
        if (!executed->first)
            continue; /* it has what its representative has */
        assert_int_equal((uint64_t)executed->vector[2 * i + 1] + start, events[i].enter);
        assert_int_equal((uint64_t)executed->vector[2 * i + 2] + start, events[i].exit);
        check_extra(check, executed, check->at + i, &extra);
    }
    check->last_exit = events[executed->n - 1].exit;
    check->at += executed->n;
}

/* The stream has had all events: reduces it and compares. Returns the number of segments. */
static size_t check_all(struct history *history)
{
    struct rfn_executed executed;
    size_t n = 0;
    assert_int_equal(rfn_stream_flush(history->stream), 0);
    assert_int_equal(rfn_stream_reduce(history->stream), 0);
    struct check check = {.history = history,
                          .expansion = expand_all(history->stream, history->reducing.min_calls)};
    assert_int_equal(check.expansion.n, history->n);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(
        rfn_stream_reduction_profile(rfn_stream_reduced(history->stream)));
    assert_non_null(walk);
    int more;
    for (; (more = rfn_profile_walk_next(walk, &executed)) > 0; n++)
        check_segment(&check, &executed);
    assert_int_equal(more, 0);
    assert_int_equal(check.at, history->n);
    for (uint32_t i = 0; i < rfn_stream_symbols(history->stream); i++)
        assert_int_equal(rfn_stream_symbol(history->stream, i)->gap.n, 0);
    rfn_profile_walk_free(walk);
    free(check.expansion.places);
    return n;
}

/* ---- programs ---- */

/* The smallest limit with which a spill has to be avoided by epochs. */
enum { SMALL = 1 << 18 };

static void play_nest(struct history *history, uint64_t steps)
{
    add_send(history, 0, 1, 50, 10);
    for (uint64_t i = 0; i < steps; i++) {
        add_send(history, 1, 8, 10000 + below(history, 4000), 2000 + below(history, 900));
        for (uint64_t k = below(history, 3); k; k--)
            add_send(history, 2, 8, 7, 3 + below(history, 3));
        add_send(history, 3, 16, 9, 11);
    }
    add_send(history, 4, 1, 50, 10);
}

static void play_disorder(struct history *history, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        add_send(history, (uint32_t)below(history, i / 5000 % 2 ? 3 : 200), 8, below(history, 1000),
                 below(history, 100));
}

/* A loop of two events, with 1 event that comes only now and then. */
static void test_known_segments(void **state)
{
    (void)state;
    struct history *history = history_of(0, 1, false, &keep_different);
    for (int i = 0; i < 10; i++) {
        add_send(history, 0, 1, 30, 4);
        add_send(history, 1, 1, 5, 6);
    }
    add_send(history, 2, 1, 5, 6);
    assert_int_equal(check_all(history), 11);
    struct rfn_stream_profile_stats stats = rfn_stream_profile_stats(
        rfn_stream_reduction_profile(rfn_stream_reduced(history->stream)));
    assert_int_equal(stats.executions, 11);
    assert_int_equal(stats.kinds, 2);
    assert_int_equal(stats.representatives, 3); /* the first one starts with its first enter */
    history_free(history);
}

static void test_nothing(void **state)
{
    (void)state;
    struct history *history = history_new(0, 1, false);
    assert_int_equal(check_all(history), 0);
    history_free(history);
}

static void test_one_event(void **state)
{
    (void)state;
    struct history *history = history_new(0, 1, false);
    add_send(history, 0, 1, 3, 4);
    assert_int_equal(check_all(history), 1);
    history_free(history);
}

static void test_min_calls(void **state)
{
    (void)state;
    size_t before = SIZE_MAX;
    for (uint32_t min_calls = 1; min_calls <= 5; min_calls++) {
        struct history *history = history_new(0, min_calls, false);
        play_nest(history, 2000);
        size_t n = check_all(history);
        assert_true(n <= before);
        before = n;
        history_free(history);
    }
    assert_true(before < 10);
}

static void test_long_segments(void **state)
{
    (void)state;
    struct history *history = history_new(0, 1000, false);
    play_nest(history, 60000); /* no loop cuts */
    assert_int_equal(check_all(history),
                     (history->n + RFN_SEGMENT_EVENTS_MAX - 1) / RFN_SEGMENT_EVENTS_MAX);
    history_free(history);
}

static void test_polls_and_volumes(void **state)
{
    (void)state;
    for (int volume = 0; volume < 2; volume++) {
        struct history *history = history_new(volume ? SMALL : 0, 1, volume);
        for (int i = 0; i < 30000; i++) {
            add_send(history, 0, 1, 3 + below(history, 5), 4);
            add_polls(history, 1, (int)below(history, 4));
        }
        check_all(history);
        history_free(history);
    }
}

/* A regular program: nothing is written, however long it runs. */
static void test_epochs(void **state)
{
    (void)state;
    struct history *history = history_of(1 << 20, 1, false, &keep_different);
    while (rfn_stream_epochs(history->stream) < 2)
        play_nest(history, 5000);
    assert_int_equal(history->spill.writes, 0);
    for (int i = 0; i < 200; i++) /* at last even the list of executions is too long */
        play_nest(history, 5000);
    assert_true(history->spill.writes > 0);
    assert_in_range(history->memory.used, 1, 1 << 20);
    check_all(history);
    history_free(history);
}

/* One without any regularity: what does not fit is written, and nothing is lost. */
static void test_epochs_of_disorder(void **state)
{
    (void)state;
    struct history *history = history_new(SMALL, 1, false);
    play_disorder(history, 200000);
    assert_true(rfn_stream_epochs(history->stream) >= 1);
    check_all(history);
    history_free(history);
}

/* What times of the stream take when they are written, without heads. */
static size_t written_bytes(const struct history *history)
{
    struct rfn_buf out = RFN_BUF_INIT;
    for (uint32_t i = 0; i < rfn_stream_symbols(history->stream); i++) {
        rfn_column_write(&rfn_stream_symbol(history->stream, i)->gap, &out);
        rfn_column_write(&rfn_stream_symbol(history->stream, i)->duration, &out);
    }
    const size_t size = out.size;
    rfn_buf_release(&out);
    return size;
}

/* Short times stay, also while others are long; then they are reduced like any. */
static void test_short(void **state)
{
    (void)state;
    struct history *history = history_keeping(100000, 0, 1, false, &keep_all);
    assert_false(rfn_stream_is_long(history->stream));
    play_nest(history, 1000);
    assert_int_equal(rfn_stream_flush(history->stream), 0);
    assert_false(rfn_stream_is_long(history->stream));
    assert_null(rfn_stream_reduced(history->stream));
    assert_int_equal(rfn_stream_code_ahead(history->stream), 0);
    check_all(history);
    assert_true(rfn_stream_is_long(history->stream));
    history_free(history);
}

/* As soon as what would be written is long. */
static void test_long(void **state)
{
    (void)state;
    enum { KEEP = 60000 };
    for (int polls = 0; polls < 2; polls++) {
        struct history *history = history_keeping(KEEP, 0, 1, false, &keep_all);
        while (!rfn_stream_is_long(history->stream)) {
            play_nest(history, 200);
            if (polls)
                add_polls(history, 5, 2);
            assert_int_equal(rfn_stream_code_ahead(history->stream), 0);
        }
        assert_int_equal(rfn_stream_code_ahead(history->stream), 0);
        assert_in_range(written_bytes(history), KEEP * 9 / 10, KEEP * 11 / 10);
        assert_null(rfn_stream_reduced(history->stream));
        check_all(history);
        history_free(history);
    }
}

/* Epochs come where memory is needed, once times are long, and not before: then something is
 * written. */
static void test_long_in_little_memory(void **state)
{
    (void)state;
    struct history *history = history_keeping(1 << 17, 1 << 21, 1, false, &keep_different);
    while (rfn_stream_epochs(history->stream) < 2) {
        play_nest(history, 5000);
        assert_true(rfn_stream_epochs(history->stream) == 0 || rfn_stream_is_long(history->stream));
    }
    assert_int_equal(history->spill.writes, 0);
    assert_in_range(history->memory.used, 1, 1 << 20);
    check_all(history);
    history_free(history);

    history = history_keeping(1 << 24, 1 << 20, 1, false, &keep_all);
    play_nest(history, 200000);
    assert_int_equal(rfn_stream_epochs(history->stream), 0);
    assert_true(history->spill.writes > 0);
    assert_false(rfn_stream_is_long(history->stream));
    check_all(history);
    history_free(history);
}

/* An epoch by request begins it. */
static void test_short_until_told(void **state)
{
    (void)state;
    struct history *history = history_keeping(1 << 20, 0, 1, true, &keep_all);
    play_nest(history, 500);
    assert_false(rfn_stream_is_long(history->stream));
    tell_epoch(history);
    assert_true(rfn_stream_is_long(history->stream));
    assert_int_equal(rfn_stream_epochs(history->stream), 1);
    play_nest(history, 500);
    check_all(history);
    history_free(history);
}

/* A segment of the top goes on after an epoch. */
static void test_epochs_in_segments(void **state)
{
    (void)state;
    struct history *history = history_new(SMALL, 1000000, false);
    play_disorder(history, 150000);
    assert_true(rfn_stream_epochs(history->stream) >= 1);
    assert_int_equal(check_all(history),
                     (history->n + RFN_SEGMENT_EVENTS_MAX - 1) / RFN_SEGMENT_EVENTS_MAX);
    history_free(history);
}

/* By request, anywhere. */
static void test_epochs_told(void **state)
{
    (void)state;
    for (int volume = 0; volume < 2; volume++) {
        struct history *history = history_new(0, 1, volume);
        history->told = true;
        tell_epoch(history); /* of nothing */
        for (int i = 0; i < 5000; i++) {
            add_send(history, 0, 1, 3 + below(history, 5), 4);
            add_polls(history, 1, (int)below(history, 4));
            if (i % 700 == 0)
                play_disorder(history, 50);
        }
        assert_true(rfn_stream_epochs(history->stream) > 100);
        check_all(history);
        history_free(history);
    }
}

/* The last event ends later than was said, before an epoch has taken it or after that. */
static void go_on(struct history *history)
{
    struct happened *event = &history->events[history->n - 1];
    uint64_t more = below(history, 300);
    event->exit = history->now += more;
    event->inside += (int64_t)more;
    event->volume_inside += (int64_t)more / 3;
    history->counted += more / 3;
    assert_int_equal(rfn_stream_end_later(history->stream, history->now, history->counted), 0);
}

static void test_ends_later(void **state)
{
    (void)state;
    for (int volume = 0; volume < 2; volume++) {
        struct history *history = history_new(0, 1, volume);
        for (int i = 0; i < 3000; i++) {
            add_polls(history, 1, (int)below(history, 3));
            add_send(history, 0, 1 + (int64_t)below(history, 100), 3 + below(history, 5), 4);
            if (below(history, 9) == 0)
                go_on(history);
            if (below(history, 30) == 0)
                tell_epoch(history);
            if (below(history, 9) == 0)
                go_on(history);
        }
        assert_true(rfn_stream_epochs(history->stream) > 50);
        check_all(history);
        history_free(history);
    }
}

/* Before the first one what has moved moves in all that is there. */
static void test_moves_before_told(void **state)
{
    (void)state;
    struct history *history = history_new(0, 1, false);
    play_nest(history, 200);
    assert_int_equal(rfn_stream_catch_up(history->stream), 0);
    rfn_stream_move(history->stream, 2, 1);
    assert_int_equal(rfn_stream_epoch(history->stream), 0);
    uint32_t moved = 0;
    for (uint32_t i = 0; i < rfn_stream_symbols(history->stream); i++)
        moved |= rfn_stream_symbol(history->stream, i)->moved;
    assert_int_equal(moved, 2);
    play_nest(history, 200);
    check_all(history);
    history_free(history);
}

/* Inputs that move before the first epoch, and after it: those leave symbols of both forms. */
static void test_moves(void **state)
{
    (void)state;
    struct history *history = history_of(1 << 20, 1, false, &keep_different);
    for (int i = 0; i < 100000; i++) {
        add_send(history, 0, i % 70, 100 + below(history, 40), 20);
        add_send(history, 1, 1, 30 + below(history, 40), 20);
    }
    assert_int_equal(rfn_stream_symbols(history->stream), 2);
    while (rfn_stream_epochs(history->stream) == 0)
        add_send(history, 1, 1, below(history, 1000), below(history, 1000));
    for (int i = 0; i < 50000; i++)
        add_send(history, 1, i % 80, 30 + below(history, 40), 20);
    assert_int_equal(rfn_stream_moved(history->stream, 1), 1);
    check_all(history);
    assert_in_range(rfn_stream_symbols(history->stream), 3, 70);
    history_free(history);
}

/* By request of another rank, before and after an epoch. */
static void test_moves_by_request(void **state)
{
    (void)state;
    for (int limit = 0; limit < 2; limit++) {
        struct history *history = history_new(limit ? SMALL : 0, 1, false);
        play_nest(history, 50000);
        assert_int_equal(rfn_stream_flush(history->stream), 0);
        assert_int_equal(rfn_stream_epochs(history->stream) > 0, limit);
        rfn_stream_move(history->stream, 2, 1);
        assert_int_equal(rfn_stream_settle(history->stream), 0);
        uint32_t moved = 0;
        for (uint32_t i = 0; i < rfn_stream_symbols(history->stream); i++)
            moved |= rfn_stream_symbol(history->stream, i)->moved;
        assert_int_equal(moved, limit ? 0 : 2);
        check_all(history);
        history_free(history);
    }
}

/* A clock that goes backwards stands still. */
static void test_clock_goes_back(void **state)
{
    (void)state;
    struct history *history = history_new(0, 1, false);
    add_send(history, 0, 1, 10, 5);
    add_send(history, 1, 1, (uint64_t)-100, 60);
    add_send(history, 2, 1, 50, 5);
    assert_int_equal(rfn_stream_flush(history->stream), 0);
    assert_int_equal(rfn_stream_reduce(history->stream), 0);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(
        rfn_stream_reduction_profile(rfn_stream_reduced(history->stream)));
    struct rfn_executed executed;
    assert_int_equal(rfn_profile_walk_next(walk, &executed), 1);
    const int64_t expected[] = {0, 0, 5, 5, 5, 15, 20};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(executed.vector[i], expected[i]);
    rfn_profile_walk_free(walk);
    history_free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_segments),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_one_event),
        cmocka_unit_test(test_min_calls),
        cmocka_unit_test(test_long_segments),
        cmocka_unit_test(test_polls_and_volumes),
        cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_epochs_of_disorder),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_long_in_little_memory),
        cmocka_unit_test(test_short_until_told),
        cmocka_unit_test(test_epochs_in_segments),
        cmocka_unit_test(test_epochs_told),
        cmocka_unit_test(test_ends_later),
        cmocka_unit_test(test_moves_before_told),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_moves_by_request),
        cmocka_unit_test(test_clock_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
