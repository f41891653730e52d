#include "reduce/segments/segment_walk.h"

#include "base/grow.h"
#include "refrain/archive.h"

#include <stdlib.h>

/* What a symbol's events take their values from, during a run. */
struct source {
    struct rfn_column_cursor gap, duration;
    struct rfn_column_cursor *more; /* polls and inside, volumes; NULL: there are none */
    unsigned n_more;
    uint8_t mark, messages, role;
    bool open;
};

/* The trips of a loop's visits. */
struct visits {
    struct rfn_column_cursor trips;
    uint64_t taken; /* in earlier runs */
    bool open;
};

/* A list that is being executed. */
struct frame {
    const rfn_node *begin, *next, *end;
    int64_t left; /* executions, with the current one */
    struct rfn_stretch stretch;
};

struct rfn_segment_walk {
    const struct rfn_stream *stream;
    rfn_segment_put *put;
    void *put_context;
    uint32_t min_calls;

    struct rfn_contexts contexts;
    bool marked; /* marks say which loops cut */
    struct {
        struct frame *at; /* the first is the top's */
        size_t n, capacity;
    } frames;
    struct visits *visits; /* per loop */
    size_t visits_capacity;
    uint64_t frozen; /* nodes that were walked over */
    struct source *sources;
    size_t n_sources;

    /* The segment. */
    struct rfn_segment segment;
    struct {
        uint32_t *events;
        int64_t *vector, *extra;
        size_t n; /* events that vector and events have room for */
        size_t events_capacity, vector_capacity, extra_capacity;
    } room;
    int64_t start, now; /* quanta; since then */
    uint64_t owed;      /* by how much the clock went backwards, and has not caught up since */
    bool pending;       /* the next event begins a segment */
};

struct rfn_segment_walk *rfn_segment_walk_new(const struct rfn_stream *stream, uint32_t min_calls,
                                              rfn_segment_put *put, void *context)
{
    struct rfn_segment_walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return NULL;
    walk->stream = stream;
    walk->put = put;
    walk->put_context = context;
    walk->min_calls = min_calls;
    walk->pending = true;
    if (RFN_GROW(walk->frames.at, walk->frames.capacity, 1) < 0) {
        free(walk);
        return NULL;
    }
    walk->frames.n = 1;
    walk->frames.at[0] = (struct frame){
        .stretch = {.context = RFN_CONTEXT_TOP, .first = RFN_CONTEXT_TOP}};
    return walk;
}

void rfn_segment_walk_free(struct rfn_segment_walk *walk)
{
    if (!walk)
        return;
    rfn_contexts_release(&walk->contexts);
    free(walk->frames.at);
    free(walk->visits);
    free(walk->room.events);
    free(walk->room.vector);
    free(walk->room.extra);
    free(walk);
}

/* ---- segments ---- */

static int deliver(struct rfn_segment_walk *walk)
{
    struct rfn_segment *segment = &walk->segment;
    if (!segment->n)
        return 0;
    walk->room.vector[0] = 0;
    walk->room.vector[2 * segment->n + 1] = walk->now;
    segment->events = walk->room.events;
    segment->vector = walk->room.vector;
    segment->extra = walk->room.extra;
    RFN_TRY(walk->put(walk->put_context, segment, walk->start));
    walk->start += walk->now;
    return 0;
}

/* The event that follows begins a segment; of the first one it is the enter that does. */
__attribute__((noinline)) static int cut(struct rfn_segment_walk *walk, int64_t gap)
{
    bool first = !walk->segment.n;
    RFN_TRY(deliver(walk));
    if (first)
        walk->start = (int64_t)(rfn_stream_start(walk->stream) + (uint64_t)gap);
    walk->now = first ? -gap : 0;
    walk->segment = (struct rfn_segment){
        .context = walk->frames.at[walk->frames.n - 1].stretch.context};
    return 0;
}

__attribute__((noinline)) static int grow(struct rfn_segment_walk *walk)
{
    RFN_TRY(RFN_GROW(walk->room.events, walk->room.events_capacity, walk->segment.n + 1));
    RFN_TRY(RFN_GROW(walk->room.vector, walk->room.vector_capacity,
                     2 * walk->room.events_capacity + 2));
    walk->room.n = walk->room.events_capacity;
    return 0;
}

/* ---- what was measured ---- */

/* Where a processor's counter is behind another's, time may seem to go backwards. Here it stands
 * still instead until it has caught up. */
__attribute__((noinline)) static int64_t forward(struct rfn_segment_walk *walk, int64_t time)
{
    if (time < 0) {
        walk->owed -= (uint64_t)time;
        return 0;
    }
    uint64_t paid = walk->owed < (uint64_t)time ? walk->owed : (uint64_t)time;
    walk->owed -= paid;
    return time - (int64_t)paid;
}

static int take_more(struct rfn_segment_walk *walk, struct source *source)
{
    struct rfn_segment *segment = &walk->segment;
    RFN_TRY(
        RFN_GROW(walk->room.extra, walk->room.extra_capacity, segment->n_extra + source->n_more));
    for (unsigned i = 0; i < source->n_more; i++)
        RFN_TRY(rfn_column_next(&source->more[i], &walk->room.extra[segment->n_extra++]));
    return 0;
}

static uint8_t class_of(const struct rfn_segment_walk *walk, uint32_t symbol)
{
    uint32_t function = rfn_stream_symbol(walk->stream, symbol)->function;
    return rfn_stream_schema(walk->stream, function)->class_;
}

static int open_source(struct rfn_segment_walk *walk, uint32_t number, struct source *source)
{
    const struct rfn_symbol *symbol = rfn_stream_symbol(walk->stream, number);
    const struct rfn_column *volume = rfn_stream_volume(walk->stream, symbol);
    const struct rfn_column *more[4];
    uint8_t class_ = class_of(walk, number);
    source->mark = (uint8_t)rfn_mark_of(class_);
    source->messages = (uint8_t)rfn_class_messages(class_);
    source->role = rfn_class_role(class_);
    if (symbol->failed_poll) {
        more[source->n_more++] = &symbol->polls;
        more[source->n_more++] = &symbol->inside;
    }
    for (unsigned i = 0; volume && i < 2; i++)
        more[source->n_more++] = &volume[i];
    if (source->n_more) {
        source->more = calloc(source->n_more, sizeof *source->more);
        if (!source->more)
            return RFN_E_NOMEM;
    }
    rfn_column_open_growing(&source->gap, &symbol->gap);
    rfn_column_open_growing(&source->duration, &symbol->duration);
    for (unsigned i = 0; i < source->n_more; i++)
        rfn_column_open_growing(&source->more[i], more[i]);
    source->open = true;
    return 0;
}

static inline __attribute__((always_inline)) int take_event(struct rfn_segment_walk *walk,
                                                            uint32_t symbol)
{
    struct source *source = &walk->sources[symbol];
    struct rfn_segment *segment = &walk->segment;
    int64_t gap, duration;
    if (__builtin_expect(!source->open, 0))
        RFN_TRY(open_source(walk, symbol, source));
    RFN_TRY(rfn_column_next(&source->gap, &gap));
    RFN_TRY(rfn_column_next(&source->duration, &duration));
    if (__builtin_expect((gap | duration) < 0 || walk->owed, 0)) {
        gap = forward(walk, gap);
        duration = forward(walk, duration);
    }
    if (walk->pending || source->mark == RFN_MARK_BEGIN || segment->n == RFN_SEGMENT_EVENTS_MAX)
        RFN_TRY(cut(walk, gap));
    walk->pending = __builtin_expect(source->mark == RFN_MARK_END, 0);
    if (__builtin_expect(segment->n == walk->room.n, 0))
        RFN_TRY(grow(walk));
    size_t n = segment->n++;
    int64_t *times = walk->room.vector + 2 * n, enter = walk->now + gap, exit = enter + duration;
    walk->now = exit;
    segment->messages += source->messages;
    segment->roles |= source->role;
    walk->room.events[n] = symbol;
    times[1] = enter;
    times[2] = exit;
    return __builtin_expect(source->n_more, 0) ? take_more(walk, source) : 0;
}

/* ---- structure ---- */

static int enter_loop(struct rfn_segment_walk *walk, uint32_t loop)
{
    const struct rfn_fold *fold = rfn_stream_fold(walk->stream);
    struct visits *visits = &walk->visits[loop];
    int64_t trips;
    size_t length;
    if (!visits->open) {
        const struct rfn_column *column = rfn_fold_trips(fold, loop);
        if (!column)
            return RFN_E_NOMEM;
        rfn_column_open_growing(&visits->trips, column);
        visits->open = true;
        RFN_TRY(rfn_column_skip(&visits->trips, visits->taken));
    }
    RFN_TRY(rfn_column_next(&visits->trips, &trips));
    visits->taken++;
    walk->pending |= rfn_stretch_meets(&walk->frames.at[walk->frames.n - 1].stretch,
                                       &walk->contexts, loop);
    if (trips == 0)
        return 0;
    RFN_TRY(RFN_GROW(walk->frames.at, walk->frames.capacity, walk->frames.n + 1));
    struct frame *frame = &walk->frames.at[walk->frames.n++];
    const rfn_node *body = rfn_fold_body(fold, loop, &length);
    *frame = (struct frame){body, body, body + length, trips,
                            rfn_stretch_inside(&frame[-1].stretch, &walk->contexts, loop)};
    return 0;
}

static int take_node(struct rfn_segment_walk *walk, rfn_node node)
{
    uint32_t index = rfn_node_index(node);
    return rfn_node_is_loop(node) ? enter_loop(walk, index) : take_event(walk, index);
}

/* A node of the top and all that is inside. */
static int take_top(struct rfn_segment_walk *walk, rfn_node node)
{
    RFN_TRY(take_node(walk, node));
    while (walk->frames.n > 1) {
        struct frame *frame = &walk->frames.at[walk->frames.n - 1];
        if (frame->next < frame->end) {
            RFN_TRY(take_node(walk, *frame->next++));
            continue;
        }
        walk->pending |= rfn_stretch_ends(&frame->stretch);
        frame->next = frame->begin;
        if (--frame->left == 0)
            walk->frames.n--;
    }
    return 0;
}

static int take_frozen(struct rfn_segment_walk *walk, const struct rfn_column *frozen)
{
    struct rfn_column_cursor cursor;
    rfn_column_open_growing(&cursor, frozen);
    int error = rfn_column_skip(&cursor, walk->frozen);
    while (!error && rfn_column_at(&cursor) < cursor.n) {
        int64_t node;
        error = rfn_column_next(&cursor, &node);
        if (!error)
            error = take_top(walk, (rfn_node)node);
    }
    walk->frozen = cursor.n;
    rfn_column_close(&cursor);
    return error;
}

/* ---- runs ---- */

/* Whether marks have been made, which are then what cuts loops, is decided once, with the first
 * run.
 */
static int number_contexts(struct rfn_segment_walk *walk, size_t n_loops)
{
    const struct rfn_fold *fold = rfn_stream_fold(walk->stream);
    bool *counts = calloc(rfn_stream_symbols(walk->stream) + (size_t)1, sizeof *counts);
    bool found = false;
    if (!counts)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < rfn_stream_symbols(walk->stream); i++) {
        counts[i] = rfn_mark_of(class_of(walk, i)) != RFN_MARK_NONE;
        found |= counts[i];
    }
    if (!walk->contexts.least) {
        walk->marked = found;
        rfn_contexts_init(&walk->contexts, found ? 1 : walk->min_calls);
    }
    int error = 0;
    while (walk->contexts.n_loops < n_loops && !error) {
        size_t length;
        const rfn_node *body = rfn_fold_body(fold, (uint32_t)walk->contexts.n_loops, &length);
        error = rfn_contexts_add(&walk->contexts, body, length, walk->marked ? counts : NULL);
    }
    free(counts);
    return error;
}

static void end_run(struct rfn_segment_walk *walk)
{
    for (size_t i = 0; i < walk->visits_capacity; i++) {
        if (walk->visits[i].open)
            rfn_column_close(&walk->visits[i].trips);
        walk->visits[i].open = false;
    }
    for (size_t i = 0; walk->sources && i < walk->n_sources; i++) {
        struct source *source = &walk->sources[i];
        if (!source->open)
            continue;
        rfn_column_close(&source->gap);
        rfn_column_close(&source->duration);
        for (unsigned k = 0; k < source->n_more; k++)
            rfn_column_close(&source->more[k]);
        free(source->more);
    }
    free(walk->sources);
    walk->sources = NULL;
}

int rfn_segment_walk_run(struct rfn_segment_walk *walk)
{
    struct rfn_fold_view view;
    rfn_fold_view(rfn_stream_fold(walk->stream), &view);
    RFN_TRY(number_contexts(walk, view.n_loops));
    RFN_TRY(RFN_GROW_ZEROED(walk->visits, walk->visits_capacity, view.n_loops));
    walk->n_sources = rfn_stream_symbols(walk->stream);
    walk->sources = calloc(walk->n_sources + 1, sizeof *walk->sources);
    int error = walk->sources ? 0 : RFN_E_NOMEM;
    if (!error)
        error = take_frozen(walk, view.frozen);
    for (size_t i = 0; i < view.n_top && !error; i++)
        error = take_top(walk, view.top[i]);
    end_run(walk);
    return error;
}

void rfn_segment_walk_end_later(struct rfn_segment_walk *walk, int64_t quanta, int64_t volume)
{
    const struct rfn_segment *segment = &walk->segment; /* it is held back */
    if (!segment->n)
        return;
    walk->now += forward(walk, quanta);
    walk->room.vector[2 * segment->n] = walk->now;
    if (rfn_stream_has_volume(walk->stream))
        walk->room.extra[segment->n_extra - 1] += volume;
}

int rfn_segment_walk_end(struct rfn_segment_walk *walk)
{
    int error = deliver(walk);
    walk->segment.n = 0;
    return error;
}

const struct rfn_contexts *rfn_segment_walk_contexts(const struct rfn_segment_walk *walk)
{
    return &walk->contexts;
}

size_t rfn_segment_walk_bytes(const struct rfn_segment_walk *walk)
{
    return sizeof *walk + walk->contexts.capacity * sizeof *walk->contexts.loops +
           walk->frames.capacity * sizeof *walk->frames.at +
           walk->visits_capacity * sizeof *walk->visits +
           walk->room.events_capacity * sizeof *walk->room.events +
           walk->room.vector_capacity * sizeof *walk->room.vector +
           walk->room.extra_capacity * sizeof *walk->room.extra;
}
