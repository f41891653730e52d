#include "reduce/profile_ahead.h"

#include "base/grow.h"

#include <stdlib.h>

static void release_context(struct rfn_context_ahead *context)
{
    rfn_list_ahead_release(&context->representative);
    rfn_list_ahead_release(&context->correction);
    free(context->number_of);
}

void rfn_profile_ahead_release(struct rfn_profile_ahead *ahead)
{
    for (size_t i = 0; i < ahead->capacity; i++)
        release_context(&ahead->contexts[i]);
    free(ahead->contexts);
    *ahead = (struct rfn_profile_ahead){0};
}

void rfn_profile_ahead_give_up(struct rfn_profile_ahead *ahead, struct rfn_store *store)
{
    rfn_profile_ahead_release(ahead);
    ahead->given_up = true;
    rfn_store_thaw(store);
}

/* ---- going over segments ---- */

struct taking {
    struct rfn_profile_ahead *ahead;
    const struct rfn_start_rule *starts;
    const struct rfn_store *store;
    struct rfn_column_cursor order, number, lateness, lengths;
    struct rfn_coder_memory memory;
};

/* Takes a segment; TOP and LOOSE as above. */
typedef int (*take_segment)(struct taking *taking, int64_t context, int64_t put_as);

/* starts: lateness and lengths are read, too. */
static int open_at(struct taking *taking, const struct rfn_profile_segments *segments,
                   const struct rfn_profile_place *place, bool starts)
{
    rfn_column_open_growing(&taking->order, segments->order);
    rfn_column_open_growing(&taking->number, segments->number);
    rfn_column_open_growing(&taking->lateness, segments->lateness);
    rfn_column_open_growing(&taking->lengths, segments->lengths);
    RFN_TRY(rfn_column_skip(&taking->order, place->segments));
    RFN_TRY(rfn_column_skip(&taking->number, place->numbers));
    if (!starts)
        return 0;
    RFN_TRY(rfn_column_skip(&taking->lateness, place->segments));
    return rfn_column_skip(&taking->lengths, place->lengths);
}

static void close_all(struct taking *taking)
{
    rfn_column_close(&taking->order);
    rfn_column_close(&taking->number);
    rfn_column_close(&taking->lateness);
    rfn_column_close(&taking->lengths);
}

/* Takes the segments from the place on, and moves it to the end. */
static int go_over(struct taking *taking, const struct rfn_profile_segments *segments,
                   struct rfn_profile_place *place, bool starts, take_segment take)
{
    int error = open_at(taking, segments, place, starts);
    while (!error && rfn_column_at(&taking->order) < taking->order.n) {
        int64_t context, put_as = RFN_PROFILE_LOOSE;
        error = rfn_column_next(&taking->order, &context);
        if (!error && context != RFN_PROFILE_TOP)
            error = rfn_column_next(&taking->number, &put_as);
        if (!error)
            error = take(taking, context, put_as);
    }
    place->segments = rfn_column_at(&taking->order);
    place->numbers = rfn_column_at(&taking->number);
    place->lengths = rfn_column_at(&taking->lengths);
    close_all(taking);
    return error;
}

static int context_of(struct rfn_profile_ahead *ahead, int64_t number,
                      struct rfn_context_ahead **context)
{
    RFN_TRY(RFN_GROW_ZEROED(ahead->contexts, ahead->capacity, (size_t)number + 1));
    *context = &ahead->contexts[number];
    return 0;
}

/* ---- representatives ---- */

/* The number in the list of what the store has as `stored`; one that is new is the next. */
static int number_in_list(struct rfn_context_ahead *context, uint32_t stored, uint32_t *number)
{
    RFN_TRY(RFN_GROW_ZEROED(context->number_of, context->capacity, stored + (size_t)1));
    if (!context->number_of[stored])
        context->number_of[stored] = ++context->n;
    *number = context->number_of[stored] - 1;
    return 0;
}

static int take_representative(struct taking *taking, int64_t number_of_context, int64_t put_as)
{
    struct rfn_context_ahead *context;
    uint32_t number;
    if (number_of_context == RFN_PROFILE_TOP)
        return 0;
    RFN_TRY(context_of(taking->ahead, number_of_context, &context));
    if (put_as == RFN_PROFILE_LOOSE)
        number = context->n++;
    else
        RFN_TRY(number_in_list(
            context,
            rfn_store_forward(taking->store, (uint32_t)number_of_context, (uint32_t)put_as),
            &number));
    return rfn_list_ahead_put(&context->representative, number, &taking->memory);
}

/* ---- corrections ---- */

static int lengths_of(struct taking *taking, int64_t context, int64_t put_as,
                      struct rfn_start_lengths *lengths)
{
    uint32_t now;
    int64_t length;
    if (put_as != RFN_PROFILE_LOOSE) {
        *lengths = rfn_start_lengths_of(taking->store, (uint32_t)context, (uint32_t)put_as, &now);
        return 0;
    }
    RFN_TRY(rfn_column_next(&taking->lengths, &length));
    *lengths = rfn_start_lengths_alone(length);
    return 0;
}

static int take_correction(struct taking *taking, int64_t number_of_context, int64_t put_as)
{
    struct rfn_profile_ahead *ahead = taking->ahead;
    struct rfn_context_ahead *context;
    struct rfn_start_lengths lengths;
    int64_t late;
    RFN_TRY(lengths_of(taking, number_of_context, put_as, &lengths));
    RFN_TRY(rfn_column_next(&taking->lateness, &late));
    int64_t correction = rfn_start_correct(taking->starts, &ahead->start, &lengths, late);
    if (number_of_context == RFN_PROFILE_TOP) /* whose corrections are no list */
        return 0;
    RFN_TRY(context_of(ahead, number_of_context, &context));
    return rfn_list_ahead_put(&context->correction, correction, &taking->memory);
}

static void release_corrections(struct rfn_profile_ahead *ahead)
{
    for (size_t i = 0; i < ahead->capacity; i++)
        rfn_list_ahead_release(&ahead->contexts[i].correction);
}

/* Whether all that is frozen should be so again, n segments having come. */
static bool is_stale(const struct rfn_profile_ahead *ahead, uint64_t n)
{
    return n >= 2 * ahead->frozen_at;
}

/* Freezes what is new, or all, and then corrections begin again. */
static void freeze(struct rfn_profile_ahead *ahead, const struct rfn_profile_segments *segments,
                   struct rfn_store *store)
{
    bool again = is_stale(ahead, segments->order->n);
    rfn_store_freeze(store, again);
    if (!again)
        return;
    release_corrections(ahead);
    ahead->corrections = (struct rfn_profile_place){0};
    ahead->start = (struct rfn_start_place){segments->first, segments->first};
    ahead->frozen_at = segments->order->n;
}

/* ---- the whole ---- */

static bool is_changed(const struct rfn_profile_ahead *ahead, const struct rfn_store *store)
{
    return ahead->representatives.segments && ahead->forwarded != rfn_store_forwarded(store);
}

/* Whether there is something to do: not if beginning anew would be once too often. */
static bool may_take(struct rfn_profile_ahead *ahead, struct rfn_store *store, uint64_t n)
{
    enum { TIMES = 3 };
    if (is_changed(ahead, store)) {
        uint64_t gone_over = ahead->gone_over;
        rfn_profile_ahead_release(ahead);
        rfn_store_thaw(store);
        ahead->gone_over = gone_over;
    }
    ahead->forwarded = rfn_store_forwarded(store);
    return !ahead->given_up && (ahead->representatives.segments || ahead->gone_over / TIMES <= n);
}

void rfn_profile_ahead_take(struct rfn_profile_ahead *ahead,
                            const struct rfn_profile_segments *segments,
                            const struct rfn_start_rule *starts, struct rfn_store *store)
{
    struct taking taking = {.ahead = ahead, .starts = starts, .store = store};
    if (!may_take(ahead, store, segments->order->n))
        return;
    freeze(ahead, segments, store);
    ahead->gone_over += segments->order->n - ahead->representatives.segments;
    int error = go_over(&taking, segments, &ahead->representatives, false, take_representative);
    if (!error)
        error = go_over(&taking, segments, &ahead->corrections, true, take_correction);
    rfn_coder_memory_release(&taking.memory);
    if (error)
        rfn_profile_ahead_give_up(ahead, store);
}

void rfn_profile_ahead_end(struct rfn_profile_ahead *ahead, struct rfn_store *store, uint64_t n)
{
    if (is_changed(ahead, store)) {
        rfn_profile_ahead_give_up(ahead, store);
    } else if (is_stale(ahead, n)) {
        release_corrections(ahead);
        rfn_store_thaw(store);
    }
}

const struct rfn_context_ahead *rfn_profile_ahead_of(const struct rfn_profile_ahead *ahead,
                                                     uint32_t context)
{
    return context < ahead->capacity ? &ahead->contexts[context] : NULL;
}

size_t rfn_profile_ahead_bytes(const struct rfn_profile_ahead *ahead)
{
    size_t bytes = ahead->capacity * sizeof *ahead->contexts;
    for (size_t i = 0; i < ahead->capacity; i++) {
        const struct rfn_context_ahead *context = &ahead->contexts[i];
        bytes += rfn_list_ahead_bytes(&context->representative) +
                 rfn_list_ahead_bytes(&context->correction) +
                 context->capacity * sizeof *context->number_of;
    }
    return bytes;
}
