#include "reduce/segments/representative_store.h"

#include "base/grow.h"
#include "base/map.h"
#include "reduce/segments/length_classes.h"
#include "reduce/segments/vector_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* After so many steps everything is similar: 1.5^64 times any threshold. */
enum { MAX_STEPS = 64 };
#define NO_KIND UINT32_MAX
/* Between classes of lengths; more than any threshold allows. */
#define CLASSES_APART 1e290

struct kept {
    int64_t *vector; /* NULL: freed; the extra values lie behind it */
    uint64_t *sums;  /* of all executions, per element and extra value; NULL: it is not averaged */
    uint64_t length; /* of all executions */
    uint64_t executions;
    int64_t first_length;
    size_t n_extra;
    uint32_t kind, forward;
    uint32_t length_class; /* of a one-way kind */
    bool frozen;
    int64_t frozen_length, frozen_pace; /* if so */
};

struct context {
    struct kept *kept;
    size_t n, capacity;
    size_t n_frozen;    /* the first so many are frozen, as far as they can be */
    uint32_t last_kind; /* that was put in, plus 1; 0: none yet */
};

struct kind {
    uint32_t context, next; /* kind of the same hash, or NO_KIND */
    uint32_t *events;
    size_t n_events;
    uint32_t messages;
    bool made;                         /* the last representative is not a segment */
    bool one_way;                      /* and compared as such */
    struct rfn_criterion criterion;    /* the threshold may be wider than the store's */
    unsigned steps;                    /* by which it was widened */
    struct rfn_vector_index index;     /* methods that measure only */
    struct rfn_length_classes classes; /* one-way ones only */
    uint32_t *numbers;                 /* in the context, by number in the kind */
    size_t n, capacity;
};

struct rfn_representative_store {
    struct rfn_representative_store_options options;
    struct context *contexts;
    size_t n_contexts, contexts_capacity;
    struct kind *kinds;
    size_t n_kinds, kinds_capacity;
    struct rfn_map by_hash; /* of a kind: its number */
    double *elements;       /* of the segment that is put in */
    size_t elements_capacity;
    uint64_t executions, representatives, widened, forwarded;
    uint64_t events; /* in all vectors */
    size_t vector_bytes;
    uint64_t old_comparisons, old_visits; /* of indices that were built again */
};

struct rfn_representative_store *
rfn_representative_store_new(const struct rfn_representative_store_options *options)
{
    assert(options->max_per_kind != 1);
    struct rfn_representative_store *store = calloc(1, sizeof *store);
    if (store)
        store->options = *options;
    return store;
}

static void release_kind(struct kind *kind)
{
    rfn_vector_index_release(&kind->index);
    rfn_length_classes_release(&kind->classes);
    free(kind->events);
    free(kind->numbers);
}

void rfn_representative_store_free(struct rfn_representative_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->n_kinds; i++)
        release_kind(&store->kinds[i]);
    for (size_t i = 0; i < store->n_contexts; i++) {
        struct context *context = &store->contexts[i];
        for (size_t k = 0; k < context->n; k++) {
            free(context->kept[k].vector);
            free(context->kept[k].sums);
        }
        free(context->kept);
    }
    free(store->kinds);
    free(store->contexts);
    free(store->elements);
    rfn_map_release(&store->by_hash);
    free(store);
}

/* ---- kinds ---- */

static size_t vector_length(size_t n_events)
{
    return 2 * n_events + 2;
}

static bool is_of(const struct kind *kind, const struct rfn_segment *segment)
{
    return kind->context == segment->context && kind->n_events == segment->n &&
           (segment->n == 0 ||
            memcmp(kind->events, segment->events, segment->n * sizeof *kind->events) == 0);
}

/* Makes a kind that follows `next` in the list of its hash. */
static int add_kind(struct rfn_representative_store *store, const struct rfn_segment *segment,
                    uint64_t hash, uint32_t next)
{
    const struct rfn_similarity *method = store->options.criterion.method;
    const bool one_way = method->one_way > 0 && store->options.criterion.threshold > 0 &&
                         !store->options.both_ways && rfn_roles_one_way(segment->roles);
    RFN_TRY(RFN_GROW(store->kinds, store->kinds_capacity, store->n_kinds + 1));
    struct kind *kind = &store->kinds[store->n_kinds];
    *kind = (struct kind){.context = segment->context,
                          .next = next,
                          .n_events = segment->n,
                          .messages = segment->messages,
                          .criterion = store->options.criterion,
                          .one_way = one_way,
                          .events = malloc((segment->n + 1) * sizeof *kind->events)};
    if (one_way)
        kind->criterion.threshold *= method->one_way;
    rfn_vector_index_init(&kind->index, rfn_similarity_length(method, vector_length(segment->n)));
    if (!kind->events || rfn_map_put(&store->by_hash, hash, store->n_kinds) < 0) {
        release_kind(kind);
        return RFN_E_NOMEM;
    }
    if (segment->n)
        memcpy(kind->events, segment->events, segment->n * sizeof *kind->events);
    store->n_kinds++;
    return 0;
}

static bool has_room(const struct rfn_representative_store *store,
                     const struct rfn_segment *segment)
{
    uint64_t max = store->options.max_events;
    return !max || (store->events <= max && segment->n <= max - store->events);
}

/* The segment's kind, made if there is none, or NO_KIND if there is no room for one: a kind takes
 * as much memory as a few events. The one that the context had last is mostly it. */
static int find_kind(struct rfn_representative_store *store, const struct rfn_segment *segment,
                     uint32_t *found)
{
    enum { EVENTS = 4, ANYWAY = 16 };
    struct context *context = &store->contexts[segment->context];
    uint64_t max = store->options.max_events;
    *found = context->last_kind - 1;
    if (context->last_kind && is_of(&store->kinds[*found], segment))
        return 0;
    uint64_t events = rfn_hash_bytes(segment->events, segment->n * sizeof *segment->events);
    uint64_t hash = rfn_hash_mix(events, segment->context);
    const uint64_t *first = rfn_map_get(&store->by_hash, hash);
    uint32_t head = first ? (uint32_t)*first : NO_KIND;
    for (*found = head; *found != NO_KIND; *found = store->kinds[*found].next) {
        if (is_of(&store->kinds[*found], segment))
            break;
    }
    if (*found == NO_KIND && has_room(store, segment) &&
        (!max || store->n_kinds < max / EVENTS + ANYWAY)) {
        *found = (uint32_t)store->n_kinds;
        RFN_TRY(add_kind(store, segment, hash, head));
    }
    context->last_kind = *found + 1; /* 0, for none, where there is no room */
    return 0;
}

static struct kept *kept_of(const struct rfn_representative_store *store, const struct kind *kind,
                            size_t number)
{
    return &store->contexts[kind->context].kept[kind->numbers[number]];
}

/* ---- representatives ---- */

static size_t kept_bytes(const struct kept *kept, const struct kind *kind)
{
    size_t n = vector_length(kind->n_events);
    return (n + kept->n_extra) * (sizeof *kept->vector + (kept->sums ? sizeof *kept->sums : 0));
}

/* Makes the kind's next representative, of this segment. */
static int keep(struct rfn_representative_store *store, uint32_t number_of_kind,
                const struct rfn_segment *segment)
{
    struct kind *kind = &store->kinds[number_of_kind];
    struct context *context = &store->contexts[kind->context];
    RFN_TRY(RFN_GROW(context->kept, context->capacity, context->n + 1));
    RFN_TRY(RFN_GROW(kind->numbers, kind->capacity, kind->n + 1));
    uint32_t number = (uint32_t)context->n;
    size_t n = vector_length(segment->n), n_all = n + segment->n_extra;
    int64_t length = segment->vector[n - 1];
    /* Of what is short next to what a machine's noise may be, the first execution may be like no
     * other one. */
    bool averages = kind->criterion.method->averages || kind->one_way ||
                    (double)length < kind->criterion.more;
    struct kept *kept = &context->kept[number];
    *kept = (struct kept){.vector = malloc(n_all * sizeof *kept->vector),
                          .sums = averages ? calloc(n_all, sizeof *kept->sums) : NULL,
                          .kind = number_of_kind,
                          .forward = number,
                          .first_length = length,
                          .n_extra = segment->n_extra};
    if (!kept->vector || (averages && !kept->sums)) {
        free(kept->vector);
        free(kept->sums);
        return RFN_E_NOMEM;
    }
    memcpy(kept->vector, segment->vector, n * sizeof *kept->vector);
    if (segment->n_extra)
        memcpy(kept->vector + n, segment->extra, segment->n_extra * sizeof *kept->vector);
    kind->numbers[kind->n++] = number;
    context->n++;
    store->events += segment->n;
    store->vector_bytes += kept_bytes(kept, kind);
    return 0;
}

static void drop(struct rfn_representative_store *store, struct kept *kept, uint32_t forward)
{
    struct kept *target = &store->contexts[store->kinds[kept->kind].context].kept[forward];
    target->executions += kept->executions;
    target->length += kept->length;
    store->vector_bytes -= kept_bytes(kept, &store->kinds[kept->kind]);
    store->events -= store->kinds[kept->kind].n_events;
    size_t n = vector_length(store->kinds[kept->kind].n_events) + kept->n_extra;
    for (size_t i = 0; target->sums && i < n; i++)
        target->sums[i] += kept->sums ? kept->sums[i]
                                      : (uint64_t)kept->vector[i] * kept->executions;
    free(kept->vector);
    free(kept->sums);
    kept->vector = NULL;
    kept->sums = NULL;
    kept->forward = forward;
    store->forwarded++;
    store->representatives--;
}

/* ---- classes of lengths ---- */

/* The class of a one-way segment of this length. It takes the place of the segment's end in its
 * vector: so only segments of one class are similar. */
static int set_class(struct kind *kind, int64_t length, double *elements, uint32_t *number)
{
    RFN_TRY(rfn_length_classes_find(&kind->classes, &kind->criterion, length, number));
    elements[kind->index.length - 1] = *number * CLASSES_APART;
    return 0;
}

static void add_to_class(struct kind *kind, const struct kept *kept, uint64_t length,
                         uint64_t executions)
{
    if (kind->one_way)
        rfn_length_classes_add(&kind->classes, kept->length_class, length, executions);
}

/* ---- methods that measure ---- */

static uint32_t find(struct rfn_representative_store *store, struct kind *kind,
                     const struct rfn_wave *wave)
{
    if (kind->steps >= MAX_STEPS)
        return kind->n ? 0 : RFN_INDEX_NONE;
    if (store->options.in_order)
        return rfn_vector_index_find_in_order(&kind->index, &kind->criterion, wave);
    return rfn_vector_index_find(&kind->index, &kind->criterion, wave);
}

/* A representative of the old index: as if it were a segment. If it matches an earlier one it is
 * dropped. */
static int move(struct rfn_representative_store *store, struct kind *kind,
                const struct rfn_vector_index *old, const struct rfn_length_classes *classes,
                uint32_t i)
{
    struct rfn_wave wave = rfn_vector_index_vector(old, i);
    struct kept *kept = kept_of(store, kind, i);
    if (kind->one_way && kept->length_class != RFN_NO_LENGTH_CLASS) /* its leader has the length */
        RFN_TRY(set_class(kind, classes->classes[kept->length_class].leader,
                          old->elements + i * old->length, &kept->length_class));
    uint32_t found = find(store, kind, &wave);
    if (found != RFN_INDEX_NONE) {
        drop(store, kept, kind->numbers[found]);
        return 0;
    }
    kind->numbers[kind->n++] = kind->numbers[i];
    return rfn_vector_index_add(&kind->index, &kind->criterion, &wave);
}

/* Moves the kind's representatives into a new index, with its present threshold. */
static int rebuild(struct rfn_representative_store *store, struct kind *kind)
{
    struct rfn_vector_index old = kind->index;
    struct rfn_length_classes classes = kind->classes;
    size_t n = kind->n;
    store->old_comparisons += old.comparisons;
    store->old_visits += old.visits;
    rfn_vector_index_init(&kind->index, old.length);
    kind->classes = (struct rfn_length_classes){0};
    kind->n = 0;
    int error = 0;
    for (uint32_t i = 0; i < n && !error; i++)
        error = move(store, kind, &old, &classes, i);
    for (size_t i = 0; i < kind->n && !error; i++) {
        const struct kept *kept = kept_of(store, kind, i);
        add_to_class(kind, kept, kept->length, kept->executions);
    }
    rfn_vector_index_release(&old);
    rfn_length_classes_release(&classes);
    return error;
}

static int widen(struct rfn_representative_store *store, struct kind *kind)
{
    size_t goal = kind->n / 2;
    store->widened += kind->steps == 0;
    while (kind->n > goal) {
        kind->steps++;
        /* From 0 on there is nothing to multiply. */
        double threshold = kind->criterion.threshold;
        kind->criterion.threshold = threshold > 0 ? threshold * 1.5 : 1e-3;
        RFN_TRY(rebuild(store, kind));
    }
    return 0;
}

/* What the segment is similar to, in *found. `elements` are its own. */
static int find_similar(struct rfn_representative_store *store, struct kind *kind,
                        const struct rfn_segment *segment, const struct rfn_wave *wave,
                        uint32_t *length_class, uint32_t *found)
{
    int64_t length = segment->vector[vector_length(segment->n) - 1];
    if (kind->one_way)
        RFN_TRY(set_class(kind, length, store->elements, length_class));
    *found = find(store, kind, wave);
    return 0;
}

static int put_measured(struct rfn_representative_store *store, uint32_t number_of_kind,
                        const struct rfn_segment *segment, uint32_t *found)
{
    struct kind *kind = &store->kinds[number_of_kind];
    const struct rfn_similarity *method = kind->criterion.method;
    uint32_t max = store->options.max_per_kind, length_class = RFN_NO_LENGTH_CLASS;
    size_t n = vector_length(segment->n);
    struct rfn_wave wave;
    /* A segment that took exactly as long, in all of its parts, as what was found last, matches
     * that again: no representative is similar to a lower-numbered one, or it would not be one
     * (that also holds after widening). */
    *found = kind->index.last;
    if (*found != RFN_INDEX_NONE && !store->options.in_order &&
        memcmp(kept_of(store, kind, *found)->vector, segment->vector,
               n * sizeof *segment->vector) == 0)
        return RFN_STORE_MATCHED;
    RFN_TRY(RFN_GROW(store->elements, store->elements_capacity, kind->index.length));
    wave.largest = rfn_similarity_transform(method, segment->vector, n, store->elements);
    wave.elements = store->elements;
    RFN_TRY(find_similar(store, kind, segment, &wave, &length_class, found));
    if (*found == RFN_INDEX_NONE && max && kind->n == max) {
        RFN_TRY(widen(store, kind));
        RFN_TRY(find_similar(store, kind, segment, &wave, &length_class, found));
    }
    if (*found != RFN_INDEX_NONE)
        return RFN_STORE_MATCHED;
    if (!has_room(store, segment))
        return RFN_STORE_FULL;
    *found = (uint32_t)kind->n;
    RFN_TRY(keep(store, number_of_kind, segment));
    kept_of(store, kind, *found)->length_class = length_class;
    RFN_TRY(rfn_vector_index_add(&kind->index, &kind->criterion, &wave));
    store->representatives++;
    return RFN_STORE_KEPT;
}

/* ---- methods that keep the first ---- */

/* sum / n, rounded; n > 0. */
static int64_t mean(uint64_t sum, uint64_t n)
{
    int64_t quotient = (int64_t)sum / (int64_t)n, rest = (int64_t)sum % (int64_t)n;
    uint64_t over = rest < 0 ? -(uint64_t)rest : (uint64_t)rest;
    bool up = over >= n - over;
    return up ? quotient + (rest < 0 ? -1 : 1) : quotient;
}

/* Of the kept segments the one nearest to their average. */
static const int64_t *centroid_of(const struct rfn_representative_store *store,
                                  const struct kind *kind, const int64_t *average)
{
    size_t n = vector_length(kind->n_events), best = 0;
    double least = 0;
    for (size_t i = 0; i < kind->n; i++) {
        const int64_t *vector = kept_of(store, kind, i)->vector;
        double distance = 0;
        for (size_t j = 0; j < n; j++) {
            const double off = (double)vector[j] - (double)average[j];
            distance += off * off;
        }
        if (i == 0 || distance < least) {
            least = distance;
            best = i;
        }
    }
    return kept_of(store, kind, best)->vector;
}

/* One representative more, for all that come after the k-th. */
static int keep_later(struct rfn_representative_store *store, uint32_t number_of_kind,
                      const struct rfn_segment *segment)
{
    struct kind *kind = &store->kinds[number_of_kind];
    size_t n = vector_length(kind->n_events);
    int64_t *average = malloc(n * sizeof *average);
    if (!average)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (size_t j = 0; j < kind->n; j++)
            sum += (uint64_t)kept_of(store, kind, j)->vector[i];
        average[i] = mean(sum, kind->n);
    }
    struct rfn_segment made = *segment;
    made.vector = kind->criterion.later == RFN_LATER_CENTROID ? centroid_of(store, kind, average)
                                                              : average;
    int error = keep(store, number_of_kind, &made);
    free(average);
    kind->made = true;
    return error < 0 ? error : RFN_STORE_MADE;
}

static int put_counted(struct rfn_representative_store *store, uint32_t number_of_kind,
                       const struct rfn_segment *segment, uint32_t *found)
{
    const struct kind *kind = &store->kinds[number_of_kind];
    uint32_t max = kind->criterion.method->kept(kind->criterion.threshold);
    bool later = kind->criterion.later != RFN_LATER_LAST;
    bool makes = later && kind->n == max;
    if ((kind->n < max || makes) && !has_room(store, segment))
        return RFN_STORE_FULL;
    if (kind->n < max) {
        *found = (uint32_t)kind->n;
        RFN_TRY(keep(store, number_of_kind, segment));
        store->representatives++;
        return RFN_STORE_KEPT;
    }
    *found = later ? max : max - 1;
    return makes ? keep_later(store, number_of_kind, segment) : RFN_STORE_MATCHED;
}

/* ---- the whole ---- */

int rfn_representative_store_put(struct rfn_representative_store *store,
                                 const struct rfn_segment *segment, uint32_t *number)
{
    uint32_t number_of_kind, found;
    size_t needed = (size_t)segment->context + 1;
    RFN_TRY(RFN_GROW_ZEROED(store->contexts, store->contexts_capacity, needed));
    store->n_contexts = needed > store->n_contexts ? needed : store->n_contexts;
    RFN_TRY(find_kind(store, segment, &number_of_kind));
    if (number_of_kind == NO_KIND)
        return RFN_STORE_FULL;
    bool measured = store->options.criterion.method->difference != NULL;
    int result = measured ? put_measured(store, number_of_kind, segment, &found)
                          : put_counted(store, number_of_kind, segment, &found);
    RFN_TRY(result);
    if (result == RFN_STORE_FULL)
        return result;
    struct kind *kind = &store->kinds[number_of_kind];
    struct kept *kept = kept_of(store, kind, found);
    size_t n = vector_length(segment->n);
    assert(segment->n_extra == kept->n_extra);
    kept->executions++;
    kept->length += (uint64_t)segment->vector[n - 1];
    for (size_t i = 0; kept->sums && i < n; i++)
        kept->sums[i] += (uint64_t)segment->vector[i];
    for (size_t i = 0; kept->sums && i < segment->n_extra; i++)
        kept->sums[n + i] += (uint64_t)segment->extra[i];
    add_to_class(kind, kept, (uint64_t)segment->vector[vector_length(segment->n) - 1], 1);
    store->executions++;
    *number = kind->numbers[found];
    return result;
}

static int64_t pace_of(const struct kind *kind, const struct kept *kept)
{
    if (!kept->executions)
        return 0;
    if (!kind->one_way || !kept->vector || kept->length_class == RFN_NO_LENGTH_CLASS)
        return mean(kept->length, kept->executions);
    const struct rfn_length_class *of = &kind->classes.classes[kept->length_class];
    return mean(of->length, of->executions);
}

void rfn_representative_store_freeze(struct rfn_representative_store *store, bool again)
{
    for (size_t i = 0; i < store->n_contexts; i++) {
        struct context *context = &store->contexts[i];
        for (size_t j = again ? 0 : context->n_frozen; j < context->n; j++) {
            struct kept *kept = &context->kept[j];
            const struct kind *kind = &store->kinds[kept->kind];
            size_t end = vector_length(kind->n_events) - 1;
            if (!kept->vector || !kept->executions)
                continue;
            kept->frozen = true;
            kept->frozen_pace = pace_of(kind, kept);
            kept->frozen_length = kept->sums ? mean(kept->sums[end], kept->executions)
                                             : kept->vector[end];
        }
        context->n_frozen = context->n;
    }
}

void rfn_representative_store_thaw(struct rfn_representative_store *store)
{
    for (size_t i = 0; i < store->n_contexts; i++) {
        struct context *context = &store->contexts[i];
        for (size_t j = 0; j < context->n_frozen; j++)
            context->kept[j].frozen = false;
        context->n_frozen = 0;
    }
}

/* An average ends where it did when it was frozen: all of it becomes longer or shorter. */
static void keep_length(int64_t *vector, size_t n, int64_t length)
{
    const int64_t end = vector[n - 1];
    const double ratio = end > 0 ? (double)length / (double)end : 0;
    for (size_t k = 0; k < n; k++) {
        int64_t scaled = (int64_t)((double)vector[k] * ratio + 0.5);
        vector[k] = vector[k] == end || scaled > length ? length : scaled;
    }
    vector[0] = 0;
}

void rfn_representative_store_finish(struct rfn_representative_store *store)
{
    for (size_t i = 0; i < store->n_contexts; i++) {
        for (size_t j = 0; j < store->contexts[i].n; j++) {
            struct kept *kept = &store->contexts[i].kept[j];
            size_t n = vector_length(store->kinds[kept->kind].n_events);
            for (size_t k = 0; kept->sums && k < n + kept->n_extra; k++)
                kept->vector[k] = mean(kept->sums[k], kept->executions);
            if (kept->sums && kept->frozen)
                keep_length(kept->vector, n, kept->frozen_length);
        }
    }
}

uint32_t rfn_representative_store_numbers(const struct rfn_representative_store *store,
                                          uint32_t context)
{
    return context < store->n_contexts ? (uint32_t)store->contexts[context].n : 0;
}

struct rfn_representative
rfn_representative_store_representative(const struct rfn_representative_store *store,
                                        uint32_t context, uint32_t number)
{
    const struct kept *kept = &store->contexts[context].kept[number];
    const struct kind *kind = &store->kinds[kept->kind];
    return (struct rfn_representative){
        .vector = kept->vector,
        .events = kind->events,
        .n_events = kind->n_events,
        .extra = kept->vector ? kept->vector + vector_length(kind->n_events) : NULL,
        .n_extra = kept->n_extra,
        .first_length = kept->first_length,
        .executions = kept->executions,
        .length = kept->frozen   ? kept->frozen_length
                  : kept->vector ? kept->vector[vector_length(kind->n_events) - 1]
                                 : 0,
        .pace = kept->frozen ? kept->frozen_pace : pace_of(kind, kept),
        .one_way = kind->one_way};
}

uint32_t rfn_representative_store_forward(const struct rfn_representative_store *store,
                                          uint32_t context, uint32_t number)
{
    const struct kept *kept = store->contexts[context].kept;
    while (kept[number].forward != number)
        number = kept[number].forward;
    return number;
}

uint64_t rfn_representative_store_forwarded(const struct rfn_representative_store *store)
{
    return store->forwarded;
}

int rfn_representative_store_widen(struct rfn_representative_store *store)
{
    struct kind *most = NULL;
    size_t bytes = 0;
    for (size_t i = 0; i < store->n_kinds; i++) {
        struct kind *kind = &store->kinds[i];
        size_t held = kind->n * vector_length(kind->n_events);
        if (kind->n > 1 && held > bytes) {
            bytes = held;
            most = kind;
        }
    }
    if (!most || !store->options.criterion.method->difference)
        return 0;
    RFN_TRY(widen(store, most));
    return 1;
}

/* ---- figures ---- */

struct rfn_representative_store_stats
rfn_representative_store_stats(const struct rfn_representative_store *store)
{
    struct rfn_representative_store_stats stats = {.executions = store->executions,
                                                   .kinds = store->n_kinds,
                                                   .representatives = store->representatives,
                                                   .widened = store->widened,
                                                   .comparisons = store->old_comparisons,
                                                   .visits = store->old_visits};
    stats.bytes = sizeof *store + store->vector_bytes +
                  store->contexts_capacity * sizeof *store->contexts +
                  store->kinds_capacity * sizeof *store->kinds +
                  store->elements_capacity * sizeof *store->elements +
                  rfn_map_bytes(&store->by_hash);
    for (size_t i = 0; i < store->n_kinds; i++) {
        const struct kind *kind = &store->kinds[i];
        size_t kept = kind->n - kind->made;
        stats.comparisons += kind->index.comparisons;
        stats.visits += kind->index.visits;
        stats.bytes += (kind->n_events + 1) * sizeof *kind->events +
                       kind->capacity * sizeof *kind->numbers +
                       rfn_vector_index_bytes(&kind->index) +
                       rfn_length_classes_bytes(&kind->classes);
        stats.kept_events += kept * kind->n_events;
        stats.kept_messages += kept * kind->messages;
    }
    for (size_t i = 0; i < store->n_contexts; i++)
        stats.bytes += store->contexts[i].capacity * sizeof *store->contexts[i].kept;
    return stats;
}
