/* Two forms, one after the other. While segments are put in, what is held is in the order of the
 * stream:
 *
 *   order       context, or -1 of a segment of the top
 *   number      in the store, or -1 of a loose one; none of segments of the top
 *   lateness    of the start, in units (stream_profile.h)
 *   loose.*     events, times and lengths of loose segments, one after the other
 *
 * `finish` goes through these once, makes the columns per context, and drops number, lateness and
 * lengths.
 * A walk then takes contexts from `order`, and the rest from the columns of each context, as a
 * reader of the archive does. */
#include "reduce/stream_profile.h"

#include "base/grow.h"

#include <assert.h>
#include <stdlib.h>

enum { TOP = RFN_PROFILE_TOP, LOOSE = RFN_PROFILE_LOOSE };
enum { LOOK_EVERY = 1024 }; /* segments between two looks at what columns take */
#define NO_NUMBER UINT32_MAX

#define LENGTH_MAX (INT64_C(1) << 62)

struct loose {
    struct rfn_column counts, events, gaps, durations, extra_counts, extras;
    struct rfn_column lengths; /* of the segments */
    uint64_t n, n_events, n_messages;
};

struct context {
    struct rfn_profile_columns columns;
    uint32_t *number_of; /* by number in the store: that in the columns, or NO_NUMBER */
    uint32_t *origin;    /* the other way round; NO_NUMBER: loose */
    size_t n, capacity;  /* of origin */
};

struct rfn_stream_profile {
    struct rfn_store *store;
    struct rfn_start_rule starts;
    struct rfn_column order, number, lateness;
    struct rfn_profile_ahead ahead;
    struct loose loose;
    uint32_t n_contexts;
    int64_t first;     /* start of the first segment */
    int64_t held_next; /* where the last segment ends by its representative's length, as
                          starts are held */
    uint64_t total;    /* length of all segments */
    struct rfn_hash128 sequence;
    struct context *contexts; /* after finish; NULL before */
    struct rfn_room room;     /* of their columns */
    struct rfn_column top;
    uint64_t corrections;
};

/* ---- life ---- */

int rfn_stream_profile_each_column(struct rfn_stream_profile *profile,
                                   int (*visit)(void *context, struct rfn_column *column),
                                   void *context)
{
    struct rfn_column *columns[] = {
        &profile->order,        &profile->number,          &profile->lateness,
        &profile->top,          &profile->loose.counts,    &profile->loose.events,
        &profile->loose.gaps,   &profile->loose.durations, &profile->loose.extra_counts,
        &profile->loose.extras, &profile->loose.lengths};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        RFN_TRY(visit(context, columns[i]));
    return 0;
}

static int init_column(void *context, struct rfn_column *column)
{
    (void)context;
    rfn_column_init(column);
    return 0;
}

struct rfn_stream_profile *rfn_stream_profile_new(const struct rfn_stream_profile_options *options)
{
    struct rfn_stream_profile *profile = calloc(1, sizeof *profile);
    struct rfn_store_options store = {.criterion = options->criterion,
                                      .max_per_kind = options->max_per_kind,
                                      .both_ways = options->exact_starts,
                                      .max_events = options->max_events ? options->max_events
                                                                        : RFN_PROFILE_EVENTS_MAX};
    if (!profile)
        return NULL;
    rfn_stream_profile_each_column(profile, init_column, NULL);
    profile->starts = rfn_start_rule_of(&options->criterion, options->exact_starts);
    profile->store = rfn_store_new(&store);
    if (profile->store)
        return profile;
    rfn_stream_profile_free(profile);
    return NULL;
}

static void release_loose(struct loose *loose)
{
    rfn_column_release(&loose->counts);
    rfn_column_release(&loose->events);
    rfn_column_release(&loose->gaps);
    rfn_column_release(&loose->durations);
    rfn_column_release(&loose->extra_counts);
    rfn_column_release(&loose->extras);
    rfn_column_release(&loose->lengths);
}

static void release_context(struct context *context)
{
    rfn_column_release(&context->columns.representative);
    rfn_column_release(&context->columns.correction);
    rfn_column_release(&context->columns.pace);
    rfn_column_release(&context->columns.kept);
    free(context->number_of);
    free(context->origin);
}

void rfn_stream_profile_free(struct rfn_stream_profile *profile)
{
    if (!profile)
        return;
    for (uint32_t i = 0; profile->contexts && i < profile->n_contexts; i++)
        release_context(&profile->contexts[i]);
    free(profile->contexts);
    rfn_column_release(&profile->order);
    rfn_column_release(&profile->number);
    rfn_column_release(&profile->lateness);
    rfn_column_release(&profile->top);
    release_loose(&profile->loose);
    rfn_profile_ahead_release(&profile->ahead);
    rfn_store_free(profile->store);
    free(profile);
}

/* ---- segments ---- */

static int put_loose(struct loose *loose, const struct rfn_segment *segment)
{
    const int64_t *vector = segment->vector;
    RFN_TRY(rfn_column_append(&loose->counts, (int64_t)segment->n));
    for (size_t i = 0; i < segment->n; i++) {
        int64_t gap = (int64_t)((uint64_t)vector[2 * i + 1] - (uint64_t)vector[2 * i]);
        int64_t duration = (int64_t)((uint64_t)vector[2 * i + 2] - (uint64_t)vector[2 * i + 1]);
        RFN_TRY(rfn_column_append(&loose->events, segment->events[i]));
        RFN_TRY(rfn_column_append(&loose->gaps, gap));
        RFN_TRY(rfn_column_append(&loose->durations, duration));
    }
    RFN_TRY(rfn_column_append(&loose->extra_counts, (int64_t)segment->n_extra));
    for (size_t i = 0; i < segment->n_extra; i++)
        RFN_TRY(rfn_column_append(&loose->extras, segment->extra[i]));
    RFN_TRY(rfn_column_append(&loose->lengths, vector[2 * segment->n]));
    loose->n++;
    loose->n_events += segment->n;
    loose->n_messages += segment->messages;
    return 0;
}

/* The start, as it is held; `length` is that of what the segment is executed as. */
static int put_start(struct rfn_stream_profile *profile, int64_t start, int64_t length)
{
    if (profile->lateness.n == 0)
        profile->first = profile->held_next = start;
    int64_t late = rfn_start_hold(&profile->starts, &profile->held_next, start, length);
    return rfn_column_append(&profile->lateness, late);
}

/* Puts a segment that is not of the top into the store, or aside. */
static int put_compared(struct rfn_stream_profile *profile, const struct rfn_segment *segment,
                        int64_t *length)
{
    uint32_t number, context = segment->context;
    int result = rfn_store_put(profile->store, segment, &number);
    RFN_TRY(result);
    if (context >= profile->n_contexts)
        profile->n_contexts = context + 1;
    RFN_TRY(rfn_column_append(&profile->order, context));
    if (result == RFN_STORE_FULL) {
        RFN_TRY(rfn_column_append(&profile->number, LOOSE));
        return put_loose(&profile->loose, segment);
    }
    *length = rfn_store_representative(profile->store, context, number).first_length;
    return rfn_column_append(&profile->number, number);
}

static void hash_segment(struct rfn_stream_profile *profile, const struct rfn_segment *segment,
                         bool top)
{
    struct rfn_hash128 events = rfn_hash128_bytes(segment->events,
                                                  segment->n * sizeof *segment->events);
    const uint64_t words[] = {profile->sequence.low, profile->sequence.high,
                              top ? UINT64_MAX : segment->context, events.low, events.high};
    profile->sequence = rfn_hash128_bytes(words, sizeof words);
}

int rfn_stream_profile_put(struct rfn_stream_profile *profile, const struct rfn_segment *segment,
                           int64_t start, bool top)
{
    int64_t length = segment->vector[2 * segment->n + 1];
    assert(!profile->contexts);
    if (length < 0 || length > LENGTH_MAX || profile->total > (uint64_t)(LENGTH_MAX - length))
        return RFN_E_CORRUPT;
    profile->total += (uint64_t)length;
    hash_segment(profile, segment, top);
    if (top) {
        RFN_TRY(rfn_column_append(&profile->order, TOP));
        RFN_TRY(put_loose(&profile->loose, segment));
    } else {
        RFN_TRY(put_compared(profile, segment, &length));
    }
    return put_start(profile, start, length);
}

void rfn_stream_profile_code_ahead(struct rfn_stream_profile *profile)
{
    const struct rfn_profile_segments segments = {&profile->order, &profile->number,
                                                  &profile->lateness, &profile->loose.lengths,
                                                  profile->first};
    assert(!profile->contexts);
    rfn_profile_ahead_take(&profile->ahead, &segments, &profile->starts, profile->store);
}

void rfn_stream_profile_drop_ahead(struct rfn_stream_profile *profile)
{
    assert(!profile->contexts);
    rfn_profile_ahead_give_up(&profile->ahead, profile->store);
}

struct rfn_hash128 rfn_stream_profile_sequence(const struct rfn_stream_profile *profile)
{
    return profile->sequence;
}

int rfn_stream_profile_widen(struct rfn_stream_profile *profile)
{
    return rfn_store_widen(profile->store);
}

/* ---- figures ---- */

static size_t columns_bytes(const struct rfn_profile_columns *columns)
{
    return rfn_column_bytes(&columns->representative) + rfn_column_bytes(&columns->correction) +
           rfn_column_bytes(&columns->pace) + rfn_column_bytes(&columns->kept);
}

static size_t loose_bytes(const struct loose *loose)
{
    return rfn_column_bytes(&loose->counts) + rfn_column_bytes(&loose->events) +
           rfn_column_bytes(&loose->gaps) + rfn_column_bytes(&loose->durations) +
           rfn_column_bytes(&loose->extra_counts) + rfn_column_bytes(&loose->extras) +
           rfn_column_bytes(&loose->lengths);
}

static size_t bytes_beside_store(const struct rfn_stream_profile *profile)
{
    size_t bytes = sizeof *profile + rfn_column_bytes(&profile->order) +
                   rfn_column_bytes(&profile->number) + rfn_column_bytes(&profile->lateness) +
                   rfn_column_bytes(&profile->top) + loose_bytes(&profile->loose) +
                   rfn_profile_ahead_bytes(&profile->ahead);
    for (uint32_t i = 0; profile->contexts && i < profile->n_contexts; i++) {
        const struct context *context = &profile->contexts[i];
        bytes += sizeof *context + columns_bytes(&context->columns) +
                 context->capacity * sizeof *context->origin +
                 rfn_store_numbers(profile->store, i) * sizeof *context->number_of;
    }
    return bytes;
}

size_t rfn_stream_profile_bytes(const struct rfn_stream_profile *profile)
{
    return rfn_store_stats(profile->store).bytes + bytes_beside_store(profile);
}

struct rfn_stream_profile_stats rfn_stream_profile_stats(const struct rfn_stream_profile *profile)
{
    struct rfn_store_stats store = rfn_store_stats(profile->store);
    const struct loose *loose = &profile->loose;
    return (struct rfn_stream_profile_stats){.executions = store.executions + loose->n,
                                             .kinds = store.kinds + loose->n,
                                             .representatives = store.representatives + loose->n,
                                             .kept_events = store.kept_events + loose->n_events,
                                             .kept_messages = store.kept_messages +
                                                              loose->n_messages,
                                             .corrections = profile->corrections,
                                             .widened = store.widened,
                                             .comparisons = store.comparisons,
                                             .bytes = store.bytes + bytes_beside_store(profile)};
}

/* ---- reading loose segments ---- */

struct loose_reader {
    struct rfn_column_cursor counts, events, gaps, durations, extra_counts, extras;
    uint32_t *symbols;
    int64_t *vector, *extra;
    size_t symbols_capacity, vector_capacity, extra_capacity;
    size_t n, n_extra; /* of the last one */
};

static void open_loose(struct loose_reader *reader, const struct loose *loose)
{
    rfn_column_open_growing(&reader->counts, &loose->counts);
    rfn_column_open_growing(&reader->events, &loose->events);
    rfn_column_open_growing(&reader->gaps, &loose->gaps);
    rfn_column_open_growing(&reader->durations, &loose->durations);
    rfn_column_open_growing(&reader->extra_counts, &loose->extra_counts);
    rfn_column_open_growing(&reader->extras, &loose->extras);
}

static void close_loose(struct loose_reader *reader)
{
    rfn_column_close(&reader->counts);
    rfn_column_close(&reader->events);
    rfn_column_close(&reader->gaps);
    rfn_column_close(&reader->durations);
    rfn_column_close(&reader->extra_counts);
    rfn_column_close(&reader->extras);
    free(reader->symbols);
    free(reader->vector);
    free(reader->extra);
}

static int read_events(struct loose_reader *reader)
{
    size_t n = reader->n;
    RFN_TRY(RFN_GROW(reader->symbols, reader->symbols_capacity, n + 1));
    RFN_TRY(RFN_GROW(reader->vector, reader->vector_capacity, 2 * n + 2));
    reader->vector[0] = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t symbol, gap, duration;
        RFN_TRY(rfn_column_next(&reader->events, &symbol));
        RFN_TRY(rfn_column_next(&reader->gaps, &gap));
        RFN_TRY(rfn_column_next(&reader->durations, &duration));
        reader->symbols[i] = (uint32_t)symbol;
        reader->vector[2 * i + 1] = rfn_start_after(reader->vector[2 * i], gap);
        reader->vector[2 * i + 2] = rfn_start_after(reader->vector[2 * i + 1], duration);
    }
    reader->vector[2 * n + 1] = reader->vector[2 * n];
    return 0;
}

static int read_loose(struct loose_reader *reader)
{
    int64_t n, n_extra;
    RFN_TRY(rfn_column_next(&reader->counts, &n));
    RFN_TRY(rfn_column_next(&reader->extra_counts, &n_extra));
    reader->n = (size_t)n;
    reader->n_extra = (size_t)n_extra;
    RFN_TRY(read_events(reader));
    RFN_TRY(RFN_GROW(reader->extra, reader->extra_capacity, reader->n_extra + 1));
    for (size_t i = 0; i < reader->n_extra; i++)
        RFN_TRY(rfn_column_next(&reader->extras, &reader->extra[i]));
    return 0;
}

static int64_t length_of_loose(const struct loose_reader *reader)
{
    return reader->vector[2 * reader->n + 1];
}

/* ---- finish ---- */

/* What finish knows of the segment it is at. */
struct finishing {
    struct rfn_column_cursor order, number, lateness, loose_lengths;
    struct rfn_start_place place;
};

static int make_context(struct context *context, uint32_t n_numbers)
{
    rfn_column_init(&context->columns.representative);
    rfn_column_init(&context->columns.correction);
    rfn_column_init(&context->columns.pace);
    rfn_column_init(&context->columns.kept);
    context->number_of = malloc((n_numbers + (size_t)1) * sizeof *context->number_of);
    if (!context->number_of)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n_numbers; i++)
        context->number_of[i] = NO_NUMBER;
    return 0;
}

static int make_contexts(struct rfn_stream_profile *profile)
{
    profile->contexts = calloc(profile->n_contexts + (size_t)1, sizeof *profile->contexts);
    if (!profile->contexts)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < profile->n_contexts; i++) {
        RFN_TRY(make_context(&profile->contexts[i], rfn_store_numbers(profile->store, i)));
        profile->contexts[i].columns.ahead = rfn_profile_ahead_of(&profile->ahead, i);
    }
    return 0;
}

/* The context's next representative, from this number of the store (NO_NUMBER: a loose one). */
static int add_representative(struct context *context, uint32_t origin, int64_t pace, bool kept)
{
    RFN_TRY(RFN_GROW(context->origin, context->capacity, context->n + 1));
    RFN_TRY(rfn_column_append(&context->columns.pace, pace));
    RFN_TRY(rfn_column_append(&context->columns.kept, kept));
    context->origin[context->n++] = origin;
    return 0;
}

static int finish_loose(struct finishing *at, struct rfn_start_lengths *lengths)
{
    int64_t length;
    RFN_TRY(rfn_column_next(&at->loose_lengths, &length));
    *lengths = rfn_start_lengths_alone(length);
    return 0;
}

/* A segment that is in the store; *number is what it is in the columns. */
static int finish_stored(struct rfn_stream_profile *profile, uint32_t context_number,
                         uint32_t put_as, uint32_t *number, struct rfn_start_lengths *lengths)
{
    const struct rfn_store *store = profile->store;
    struct context *context = &profile->contexts[context_number];
    uint32_t now;
    *lengths = rfn_start_lengths_of(store, context_number, put_as, &now);
    if (context->number_of[now] == NO_NUMBER) {
        bool kept = rfn_store_representative(store, context_number, now).executions > 1;
        context->number_of[now] = (uint32_t)context->n;
        RFN_TRY(add_representative(context, now, lengths->pace - lengths->now, kept));
    }
    *number = context->number_of[now];
    return 0;
}

static int correct(struct rfn_stream_profile *profile, struct finishing *at,
                   const struct rfn_start_lengths *lengths, int64_t *correction)
{
    int64_t late;
    RFN_TRY(rfn_column_next(&at->lateness, &late));
    *correction = rfn_start_correct(&profile->starts, &at->place, lengths, late);
    profile->corrections += *correction != 0;
    return 0;
}

static int finish_top(struct rfn_stream_profile *profile, struct finishing *at)
{
    struct rfn_start_lengths lengths;
    int64_t correction;
    RFN_TRY(finish_loose(at, &lengths));
    RFN_TRY(correct(profile, at, &lengths, &correction));
    return rfn_column_append(&profile->top, correction);
}

static int finish_compared(struct rfn_stream_profile *profile, struct finishing *at,
                           uint32_t context_number)
{
    struct context *context = &profile->contexts[context_number];
    struct rfn_start_lengths lengths;
    int64_t put_as, correction;
    uint32_t number = (uint32_t)context->n;
    RFN_TRY(rfn_column_next(&at->number, &put_as));
    if (put_as == LOOSE) {
        RFN_TRY(finish_loose(at, &lengths));
        RFN_TRY(add_representative(context, NO_NUMBER, 0, false));
    } else {
        RFN_TRY(finish_stored(profile, context_number, (uint32_t)put_as, &number, &lengths));
    }
    RFN_TRY(correct(profile, at, &lengths, &correction));
    RFN_TRY(rfn_column_append(&context->columns.representative, number));
    return rfn_column_append(&context->columns.correction, correction);
}

void rfn_stream_profile_keep_to(struct rfn_stream_profile *profile, const struct rfn_room *room)
{
    profile->room = *room;
}

/* Of those that finish makes. */
static int each_finished(void *columns, int (*visit)(void *context, struct rfn_column *column),
                         void *context)
{
    struct rfn_stream_profile *profile = columns;
    for (uint32_t i = 0; i < profile->n_contexts; i++) {
        struct rfn_profile_columns *of = &profile->contexts[i].columns;
        RFN_TRY(visit(context, &of->representative));
        RFN_TRY(visit(context, &of->correction));
        RFN_TRY(visit(context, &of->pace));
        RFN_TRY(visit(context, &of->kept));
    }
    return visit(context, &profile->top);
}

static int finish_segments(struct rfn_stream_profile *profile, struct finishing *at)
{
    uint64_t look_every = LOOK_EVERY + 4 * (uint64_t)profile->n_contexts;
    while (rfn_column_at(&at->order) < at->order.n) {
        int64_t context;
        if (rfn_column_at(&at->order) % look_every == 0)
            rfn_columns_keep_to(profile, each_finished, &profile->room);
        RFN_TRY(rfn_column_next(&at->order, &context));
        RFN_TRY(context == TOP ? finish_top(profile, at)
                               : finish_compared(profile, at, (uint32_t)context));
    }
    return 0;
}

int rfn_stream_profile_finish(struct rfn_stream_profile *profile)
{
    struct finishing at = {.place = {profile->first, profile->first}};
    assert(!profile->contexts);
    rfn_profile_ahead_end(&profile->ahead, profile->store, profile->order.n);
    rfn_store_finish(profile->store);
    RFN_TRY(make_contexts(profile));
    rfn_column_open_growing(&at.order, &profile->order);
    rfn_column_open_growing(&at.number, &profile->number);
    rfn_column_open_growing(&at.lateness, &profile->lateness);
    rfn_column_open_growing(&at.loose_lengths, &profile->loose.lengths);
    int error = finish_segments(profile, &at);
    rfn_column_close(&at.order);
    rfn_column_close(&at.number);
    rfn_column_close(&at.lateness);
    rfn_column_close(&at.loose_lengths);
    rfn_column_release(&profile->number);
    rfn_column_release(&profile->lateness);
    rfn_column_release(&profile->loose.lengths);
    return error;
}

uint32_t rfn_stream_profile_contexts(const struct rfn_stream_profile *profile)
{
    return profile->n_contexts;
}

const struct rfn_profile_columns *
rfn_stream_profile_columns(const struct rfn_stream_profile *profile, uint32_t context)
{
    return context < profile->n_contexts ? &profile->contexts[context].columns : NULL;
}

const struct rfn_column *rfn_stream_profile_top(const struct rfn_stream_profile *profile)
{
    return &profile->top;
}

int64_t rfn_stream_profile_first(const struct rfn_stream_profile *profile)
{
    return profile->first;
}

struct rfn_start_tolerance rfn_stream_profile_tolerance(const struct rfn_stream_profile *profile)
{
    return profile->starts.tolerance;
}

/* ---- walks ---- */

struct walked_context {
    struct rfn_column_cursor representative, correction;
    uint32_t n; /* representatives so far */
};

struct rfn_profile_walk {
    const struct rfn_stream_profile *profile;
    struct rfn_column_cursor order, top;
    struct loose_reader loose;
    struct walked_context *contexts;
    int64_t predicted;
};

struct rfn_profile_walk *rfn_profile_walk_new(const struct rfn_stream_profile *profile)
{
    struct rfn_profile_walk *walk = calloc(1, sizeof *walk);
    assert(profile->contexts);
    if (!walk)
        return NULL;
    walk->contexts = calloc(profile->n_contexts + (size_t)1, sizeof *walk->contexts);
    if (!walk->contexts) {
        free(walk);
        return NULL;
    }
    walk->profile = profile;
    walk->predicted = profile->first;
    rfn_column_open_growing(&walk->order, &profile->order);
    rfn_column_open_growing(&walk->top, &profile->top);
    open_loose(&walk->loose, &profile->loose);
    for (uint32_t i = 0; i < profile->n_contexts; i++) {
        const struct rfn_profile_columns *columns = &profile->contexts[i].columns;
        rfn_column_open_growing(&walk->contexts[i].representative, &columns->representative);
        rfn_column_open_growing(&walk->contexts[i].correction, &columns->correction);
    }
    return walk;
}

void rfn_profile_walk_free(struct rfn_profile_walk *walk)
{
    if (!walk)
        return;
    for (uint32_t i = 0; i < walk->profile->n_contexts; i++) {
        rfn_column_close(&walk->contexts[i].representative);
        rfn_column_close(&walk->contexts[i].correction);
    }
    rfn_column_close(&walk->order);
    rfn_column_close(&walk->top);
    close_loose(&walk->loose);
    free(walk->contexts);
    free(walk);
}

static int walk_loose(struct rfn_profile_walk *walk, struct rfn_executed *executed)
{
    RFN_TRY(read_loose(&walk->loose));
    executed->first = executed->loose = true;
    executed->events = walk->loose.symbols;
    executed->n = walk->loose.n;
    executed->vector = walk->loose.vector;
    executed->extra = walk->loose.extra;
    executed->n_extra = walk->loose.n_extra;
    return 0;
}

static void fill_stored(struct rfn_executed *executed,
                        const struct rfn_representative *representative)
{
    executed->events = representative->events;
    executed->n = representative->n_events;
    executed->vector = representative->vector;
    executed->extra = representative->extra;
    executed->n_extra = representative->n_extra;
}

static void start_at(struct rfn_profile_walk *walk, struct rfn_executed *executed,
                     int64_t correction, int64_t pace)
{
    const struct rfn_start_tolerance *of = &walk->profile->starts.tolerance;
    uint64_t tolerance = rfn_start_tolerance(of, executed->vector[2 * executed->n + 1]);
    executed->start = rfn_start_units_after(walk->predicted, correction, tolerance ? tolerance : 1);
    executed->pace = pace;
    walk->predicted = rfn_start_after(executed->start, pace);
}

static int walk_top(struct rfn_profile_walk *walk, struct rfn_executed *executed)
{
    int64_t correction;
    executed->top = true;
    RFN_TRY(rfn_column_next(&walk->top, &correction));
    RFN_TRY(walk_loose(walk, executed));
    start_at(walk, executed, correction, length_of_loose(&walk->loose));
    return 0;
}

static int walk_context(struct rfn_profile_walk *walk, struct rfn_executed *executed)
{
    const struct context *context = &walk->profile->contexts[executed->context];
    struct walked_context *walked = &walk->contexts[executed->context];
    int64_t number, correction;
    RFN_TRY(rfn_column_next(&walked->representative, &number));
    RFN_TRY(rfn_column_next(&walked->correction, &correction));
    executed->number = (uint32_t)number;
    executed->first = executed->number == walked->n;
    walked->n += executed->first;
    uint32_t origin = context->origin[number];
    if (origin == NO_NUMBER) {
        RFN_TRY(walk_loose(walk, executed));
        start_at(walk, executed, correction, length_of_loose(&walk->loose));
        return 0;
    }
    struct rfn_representative representative = rfn_store_representative(walk->profile->store,
                                                                        executed->context, origin);
    fill_stored(executed, &representative);
    start_at(walk, executed, correction, representative.pace);
    return 0;
}

int rfn_profile_walk_next(struct rfn_profile_walk *walk, struct rfn_executed *executed)
{
    int64_t context;
    if (rfn_column_at(&walk->order) == walk->order.n)
        return 0;
    RFN_TRY(rfn_column_next(&walk->order, &context));
    *executed = (struct rfn_executed){.context = (uint32_t)context};
    RFN_TRY(context == TOP ? walk_top(walk, executed) : walk_context(walk, executed));
    return 1;
}
