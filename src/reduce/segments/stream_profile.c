/* What is held is in the order of the stream:
 *
 *   order       context, or -1 of a segment of the top
 *   number      in the store, or -1 of a loose one; none of segments of the top
 *   lateness    of the start, in units (stream_profile.h)
 *   loose.*     events, times and lengths of loose segments, one after the other
 *
 * The lists of PROFILE are made of that (execution_lists.h), and so are the segments that a walk
 * gives. */
#include "reduce/segments/stream_profile.h"

#include "base/grow.h"

#include <assert.h>
#include <stdlib.h>

enum { TOP = RFN_EXECUTED_TOP, LOOSE = RFN_EXECUTED_LOOSE };

#define LENGTH_MAX (INT64_C(1) << 62)

/* Columns of loose segments; readers have no need of lengths. */
enum { COUNTS, EVENTS, GAPS, DURATIONS, EXTRA_COUNTS, EXTRAS, LOOSE_READ, LENGTHS = LOOSE_READ };

struct loose {
    struct rfn_column columns[LENGTHS + 1];
    uint64_t n, n_events, n_messages;
};

struct rfn_stream_profile {
    struct rfn_representative_store *store;
    struct rfn_start_rule starts;
    struct rfn_column order, number, lateness;
    struct loose loose;
    uint32_t n_contexts;
    int64_t first;     /* start of the first segment */
    int64_t held_next; /* where the last segment ends by its representative's length, as
                          starts are held */
    uint64_t total;    /* length of all segments */
    struct rfn_hash128 sequence;
    struct rfn_execution_lists lists;
    struct rfn_room room; /* of their columns, after the last segment */
    bool finished;
};

/* ---- life ---- */

/* Those that are not of the lists. */
static int each_held_column(struct rfn_stream_profile *profile,
                            int (*visit)(void *context, struct rfn_column *column), void *context)
{
    RFN_TRY(visit(context, &profile->order));
    RFN_TRY(visit(context, &profile->number));
    RFN_TRY(visit(context, &profile->lateness));
    for (int i = COUNTS; i <= LENGTHS; i++)
        RFN_TRY(visit(context, &profile->loose.columns[i]));
    return 0;
}

int rfn_stream_profile_each_column(void *of, int (*visit)(void *context, struct rfn_column *column),
                                   void *context)
{
    struct rfn_stream_profile *profile = of;
    RFN_TRY(each_held_column(profile, visit, context));
    return rfn_execution_lists_each_column(&profile->lists, visit, context);
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
    struct rfn_representative_store_options store = {
        .criterion = options->criterion,
        .max_per_kind = options->max_per_kind,
        .both_ways = options->exact_starts,
        .max_events = options->max_events ? options->max_events : RFN_PROFILE_EVENTS_MAX};
    if (!profile)
        return NULL;
    rfn_execution_lists_init(&profile->lists);
    rfn_stream_profile_each_column(profile, init_column, NULL);
    profile->starts = rfn_start_rule_of(&options->criterion, options->exact_starts);
    profile->store = rfn_representative_store_new(&store);
    if (profile->store)
        return profile;
    rfn_stream_profile_free(profile);
    return NULL;
}

static int release_column(void *context, struct rfn_column *column)
{
    (void)context;
    rfn_column_release(column);
    return 0;
}

void rfn_stream_profile_free(struct rfn_stream_profile *profile)
{
    if (!profile)
        return;
    each_held_column(profile, release_column, NULL);
    rfn_execution_lists_release(&profile->lists);
    rfn_representative_store_free(profile->store);
    free(profile);
}

/* ---- segments ---- */

static int put_loose(struct loose *loose, const struct rfn_segment *segment)
{
    const int64_t *vector = segment->vector;
    RFN_TRY(rfn_column_append(&loose->columns[COUNTS], (int64_t)segment->n));
    for (size_t i = 0; i < segment->n; i++) {
        int64_t gap = (int64_t)((uint64_t)vector[2 * i + 1] - (uint64_t)vector[2 * i]);
        int64_t duration = (int64_t)((uint64_t)vector[2 * i + 2] - (uint64_t)vector[2 * i + 1]);
        RFN_TRY(rfn_column_append(&loose->columns[EVENTS], segment->events[i]));
        RFN_TRY(rfn_column_append(&loose->columns[GAPS], gap));
        RFN_TRY(rfn_column_append(&loose->columns[DURATIONS], duration));
    }
    RFN_TRY(rfn_column_append(&loose->columns[EXTRA_COUNTS], (int64_t)segment->n_extra));
    for (size_t i = 0; i < segment->n_extra; i++)
        RFN_TRY(rfn_column_append(&loose->columns[EXTRAS], segment->extra[i]));
    RFN_TRY(rfn_column_append(&loose->columns[LENGTHS], vector[2 * segment->n]));
    loose->n++;
    loose->n_events += segment->n;
    loose->n_messages += segment->messages;
    return 0;
}

/* Puts a segment that is not of the top into the store, or aside. */
static int put_compared(struct rfn_stream_profile *profile, const struct rfn_segment *segment,
                        int64_t *length)
{
    uint32_t number, context = segment->context;
    int result = rfn_representative_store_put(profile->store, segment, &number);
    RFN_TRY(result);
    if (context >= profile->n_contexts)
        profile->n_contexts = context + 1;
    RFN_TRY(rfn_column_append(&profile->order, context));
    if (result == RFN_STORE_FULL) {
        RFN_TRY(rfn_column_append(&profile->number, LOOSE));
        return put_loose(&profile->loose, segment);
    }
    *length = rfn_representative_store_representative(profile->store, context, number).first_length;
    return rfn_column_append(&profile->number, number);
}

int rfn_stream_profile_put(struct rfn_stream_profile *profile, const struct rfn_segment *segment,
                           int64_t start, bool top)
{
    int64_t length = segment->vector[2 * segment->n + 1];
    assert(!profile->finished);
    if (length < 0 || length > LENGTH_MAX || profile->total > (uint64_t)(LENGTH_MAX - length))
        return RFN_E_CORRUPT;
    profile->total += (uint64_t)length;
    struct rfn_hash128 events = rfn_hash128_bytes(segment->events,
                                                  segment->n * sizeof *segment->events);
    const uint64_t words[] = {profile->sequence.low, profile->sequence.high,
                              top ? UINT64_MAX : segment->context, events.low, events.high};
    profile->sequence = rfn_hash128_bytes(words, sizeof words);
    if (top) {
        RFN_TRY(rfn_column_append(&profile->order, TOP));
        RFN_TRY(put_loose(&profile->loose, segment));
    } else {
        RFN_TRY(put_compared(profile, segment, &length));
    }
    /* The start, as it is held; `length` is that of what the segment is executed as. */
    if (profile->lateness.n == 0)
        profile->first = profile->held_next = start;
    int64_t late = rfn_start_hold(&profile->starts, &profile->held_next, start, length);
    return rfn_column_append(&profile->lateness, late);
}

static struct rfn_held_segments held_segments(const struct rfn_stream_profile *profile)
{
    return (struct rfn_held_segments){&profile->order, &profile->number, &profile->lateness,
                                      &profile->loose.columns[LENGTHS], profile->n_contexts};
}

void rfn_stream_profile_code_ahead(struct rfn_stream_profile *profile)
{
    const struct rfn_held_segments segments = held_segments(profile);
    assert(!profile->finished);
    rfn_execution_lists_code(&profile->lists, &segments, &profile->starts, profile->store);
}

void rfn_stream_profile_drop_ahead(struct rfn_stream_profile *profile)
{
    assert(!profile->finished);
    rfn_execution_lists_give_up(&profile->lists, profile->store);
}

struct rfn_hash128 rfn_stream_profile_sequence(const struct rfn_stream_profile *profile)
{
    return profile->sequence;
}

int rfn_stream_profile_widen(struct rfn_stream_profile *profile)
{
    return rfn_representative_store_widen(profile->store);
}

/* ---- figures ---- */

static size_t bytes_beside_store(const struct rfn_stream_profile *profile)
{
    size_t bytes = sizeof *profile + rfn_execution_lists_bytes(&profile->lists);
    each_held_column((struct rfn_stream_profile *)profile, rfn_column_add_bytes, &bytes);
    return bytes;
}

size_t rfn_stream_profile_bytes(const struct rfn_stream_profile *profile)
{
    return rfn_representative_store_stats(profile->store).bytes + bytes_beside_store(profile);
}

struct rfn_stream_profile_stats rfn_stream_profile_stats(const struct rfn_stream_profile *profile)
{
    struct rfn_representative_store_stats store = rfn_representative_store_stats(profile->store);
    const struct loose *loose = &profile->loose;
    return (struct rfn_stream_profile_stats){.executions = store.executions + loose->n,
                                             .kinds = store.kinds + loose->n,
                                             .representatives = store.representatives + loose->n,
                                             .kept_events = store.kept_events + loose->n_events,
                                             .kept_messages = store.kept_messages +
                                                              loose->n_messages,
                                             .corrections = profile->lists.corrected.corrections,
                                             .widened = store.widened,
                                             .comparisons = store.comparisons,
                                             .bytes = store.bytes + bytes_beside_store(profile)};
}

/* ---- finish ---- */

void rfn_stream_profile_keep_to(struct rfn_stream_profile *profile, const struct rfn_room *room)
{
    profile->room = *room;
}

int rfn_stream_profile_finish(struct rfn_stream_profile *profile)
{
    const struct rfn_held_segments segments = held_segments(profile);
    assert(!profile->finished);
    profile->finished = true;
    RFN_TRY(rfn_execution_lists_finish(&profile->lists, &segments, &profile->starts, profile->store,
                                       &profile->room));
    rfn_columns_keep_to(profile, rfn_stream_profile_each_column, &profile->room);
    return 0;
}

uint32_t rfn_stream_profile_contexts(const struct rfn_stream_profile *profile)
{
    return profile->n_contexts;
}

const struct rfn_execution_columns *
rfn_stream_profile_columns(const struct rfn_stream_profile *profile, uint32_t context)
{
    return context < profile->n_contexts ? &profile->lists.contexts[context].columns : NULL;
}

const struct rfn_column *rfn_stream_profile_top(const struct rfn_stream_profile *profile)
{
    return &profile->lists.top;
}

int64_t rfn_stream_profile_first(const struct rfn_stream_profile *profile)
{
    return profile->first;
}

struct rfn_start_tolerance rfn_stream_profile_tolerance(const struct rfn_stream_profile *profile)
{
    return profile->starts.tolerance;
}

bool rfn_stream_profile_stretched(const struct rfn_stream_profile *profile)
{
    return profile->starts.stretched;
}

/* ---- walks ---- */

struct rfn_profile_walk {
    const struct rfn_stream_profile *profile;
    bool firsts; /* only these */
    struct rfn_column_cursor contexts, number, lateness, loose[LOOSE_READ];
    uint32_t *n_of; /* representatives so far, by context */
    struct rfn_start_place place;
    /* The last loose segment. */
    uint32_t *symbols;
    int64_t *vector, *extra;
    size_t symbols_capacity, vector_capacity, extra_capacity;
};

static struct rfn_profile_walk *new_walk(const struct rfn_stream_profile *profile, bool firsts)
{
    struct rfn_profile_walk *walk = calloc(1, sizeof *walk);
    assert(profile->finished);
    if (!walk)
        return NULL;
    walk->n_of = calloc(profile->n_contexts + (size_t)1, sizeof *walk->n_of);
    if (!walk->n_of) {
        free(walk);
        return NULL;
    }
    walk->profile = profile;
    walk->firsts = firsts;
    walk->place = (struct rfn_start_place){profile->first, profile->first};
    rfn_column_open_growing(&walk->contexts, firsts ? &profile->lists.firsts : &profile->order);
    rfn_column_open_growing(&walk->number, &profile->number);
    rfn_column_open_growing(&walk->lateness, &profile->lateness);
    for (int i = 0; i < LOOSE_READ; i++)
        rfn_column_open_growing(&walk->loose[i], &profile->loose.columns[i]);
    return walk;
}

struct rfn_profile_walk *rfn_profile_walk_new(const struct rfn_stream_profile *profile)
{
    return new_walk(profile, false);
}

struct rfn_profile_walk *rfn_profile_walk_firsts(const struct rfn_stream_profile *profile)
{
    return new_walk(profile, true);
}

void rfn_profile_walk_free(struct rfn_profile_walk *walk)
{
    if (!walk)
        return;
    rfn_column_close(&walk->contexts);
    rfn_column_close(&walk->number);
    rfn_column_close(&walk->lateness);
    for (int i = 0; i < LOOSE_READ; i++)
        rfn_column_close(&walk->loose[i]);
    free(walk->symbols);
    free(walk->vector);
    free(walk->extra);
    free(walk->n_of);
    free(walk);
}

static int read_loose(struct rfn_profile_walk *walk, struct rfn_executed *executed)
{
    int64_t n, n_extra;
    RFN_TRY(rfn_column_next(&walk->loose[COUNTS], &n));
    RFN_TRY(rfn_column_next(&walk->loose[EXTRA_COUNTS], &n_extra));
    RFN_TRY(RFN_GROW(walk->symbols, walk->symbols_capacity, (size_t)n + 1));
    RFN_TRY(RFN_GROW(walk->vector, walk->vector_capacity, 2 * (size_t)n + 2));
    RFN_TRY(RFN_GROW(walk->extra, walk->extra_capacity, (size_t)n_extra + 1));
    int64_t *times = walk->vector;
    *times = 0;
    for (int64_t i = 0; i < n; i++, times += 2) {
        int64_t symbol, gap, duration;
        RFN_TRY(rfn_column_next(&walk->loose[EVENTS], &symbol));
        RFN_TRY(rfn_column_next(&walk->loose[GAPS], &gap));
        RFN_TRY(rfn_column_next(&walk->loose[DURATIONS], &duration));
        walk->symbols[i] = (uint32_t)symbol;
        times[1] = rfn_start_after(times[0], gap);
        times[2] = rfn_start_after(times[1], duration);
    }
    times[1] = times[0];
    for (int64_t i = 0; i < n_extra; i++)
        RFN_TRY(rfn_column_next(&walk->loose[EXTRAS], &walk->extra[i]));
    executed->loose = true;
    executed->events = walk->symbols;
    executed->n = (size_t)n;
    executed->vector = walk->vector;
    executed->extra = walk->extra;
    executed->n_extra = (size_t)n_extra;
    return 0;
}

int rfn_profile_walk_next(struct rfn_profile_walk *walk, struct rfn_executed *executed)
{
    const struct rfn_stream_profile *profile = walk->profile;
    struct rfn_start_lengths lengths = {0};
    int64_t context, put_as = LOOSE, late;
    if (rfn_column_at(&walk->contexts) == walk->contexts.n)
        return 0;
    RFN_TRY(rfn_column_next(&walk->contexts, &context));
    *executed = (struct rfn_executed){
        .context = (uint32_t)context, .top = context == TOP, .first = true};
    const struct rfn_execution_context *of = executed->top ? NULL
                                                           : &profile->lists.contexts[context];
    executed->number = of ? walk->n_of[context] : 0;
    uint32_t stored = of && walk->firsts ? of->stored[executed->number] : 0; /* and one more */
    if (of && !walk->firsts)
        RFN_TRY(rfn_column_next(&walk->number, &put_as));
    if (put_as != LOOSE) {
        lengths = rfn_start_lengths_of(profile->store, executed->context, (uint32_t)put_as,
                                       &stored);
        executed->number = of->number_of[stored++] - 1;
        executed->first = executed->number == walk->n_of[context];
    }
    if (stored) {
        const struct rfn_representative is = rfn_representative_store_representative(
            profile->store, executed->context, stored - 1);
        executed->events = is.events;
        executed->n = is.n_events;
        executed->vector = is.vector;
        executed->extra = is.extra;
        executed->n_extra = is.n_extra;
    } else {
        RFN_TRY(read_loose(walk, executed));
        lengths = rfn_start_lengths_alone(executed->vector[2 * executed->n + 1]);
    }
    if (!walk->firsts) {
        RFN_TRY(rfn_column_next(&walk->lateness, &late));
        rfn_start_correct(&profile->starts, &walk->place, &lengths, late);
        executed->pace = lengths.pace;
        executed->start = rfn_start_after(walk->place.predicted, -lengths.pace);
    }
    if (of)
        walk->n_of[context] += executed->first;
    return 1;
}
