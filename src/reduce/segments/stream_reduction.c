#include "reduce/segments/stream_reduction.h"

#include "base/arithmetic.h"
#include "reduce/segments/segment_walk.h"

#include <stdlib.h>

struct rfn_stream_reduction {
    struct rfn_segment_walk *walk;
    struct rfn_stream_profile *profile;
    const struct rfn_stream *stream;
    struct rfn_spread_table spread;
    double quantum_ns;
    bool spread_lost;
};

static int64_t ns(const struct rfn_stream_reduction *reduction, int64_t quanta)
{
    return reduction->quantum_ns == 1 ? quanta
                                      : (int64_t)((double)quanta * reduction->quantum_ns + 0.5);
}

static int put(void *context, const struct rfn_segment *segment, int64_t start)
{
    struct rfn_stream_reduction *reduction = context;
    for (size_t i = 0; i < segment->n && !reduction->spread_lost; i++) {
        const struct rfn_symbol *symbol = rfn_stream_symbol(reduction->stream, segment->events[i]);
        const int64_t *times = &segment->vector[2 * i];
        int64_t enter = ns(reduction, times[1] - times[0]);
        reduction->spread_lost = rfn_spread_table_event(
                                     &reduction->spread,
                                     rfn_spread_place(symbol->site, symbol->failed_poll), 0, enter,
                                     enter + ns(reduction, times[2] - times[1])) < 0;
    }
    if (reduction->spread_lost) /* there was no memory for it; the rest goes on */
        rfn_spread_table_release(&reduction->spread);
    return rfn_stream_profile_put(reduction->profile, segment, start,
                                  segment->context >= RFN_CONTEXT_TOP);
}

static void reduction_free(struct rfn_stream_reduction *reduction)
{
    if (!reduction)
        return;
    rfn_segment_walk_free(reduction->walk);
    rfn_stream_profile_free(reduction->profile);
    rfn_spread_table_release(&reduction->spread);
    free(reduction);
}

static struct rfn_stream_reduction *reduction_new(const struct rfn_stream *stream,
                                                  const struct rfn_reducing *reducing,
                                                  uint64_t max_events)
{
    struct rfn_stream_reduction *reduction = calloc(1, sizeof *reduction);
    const struct rfn_stream_profile_options options = {.criterion = reducing->criterion,
                                                       .max_per_kind = reducing->max_per_kind,
                                                       .max_events = max_events,
                                                       .exact_starts = reducing->exact_starts};
    if (!reduction)
        return NULL;
    reduction->stream = stream;
    reduction->quantum_ns = reducing->quantum_ns;
    reduction->walk = rfn_segment_walk_new(stream, reducing->min_calls, put, reduction);
    reduction->profile = rfn_stream_profile_new(&options);
    if (reduction->walk && reduction->profile)
        return reduction;
    reduction_free(reduction);
    return NULL;
}

/* A column that could not code a block for want of memory has lost it, and cannot be read. */
static int lost(int error)
{
    return error == RFN_E_CORRUPT || error == RFN_E_RANGE ? RFN_E_NOMEM : error;
}

static int epoch(struct rfn_stream_reduction *reduction)
{
    const unsigned programs = rfn_arithmetic_begin(); /* as the program may be running */
    const int error = rfn_segment_walk_run(reduction->walk);
    rfn_arithmetic_end(programs);
    return lost(error);
}

static void end_later(struct rfn_stream_reduction *reduction, int64_t quanta, int64_t volume)
{
    rfn_segment_walk_end_later(reduction->walk, quanta, volume);
}

static int finish(struct rfn_stream_reduction *reduction, const struct rfn_room *room)
{
    RFN_TRY(rfn_segment_walk_end(reduction->walk));
    rfn_stream_profile_keep_to(reduction->profile, room);
    return lost(rfn_stream_profile_finish(reduction->profile));
}

static size_t bytes(const struct rfn_stream_reduction *reduction)
{
    return sizeof *reduction + rfn_segment_walk_bytes(reduction->walk) +
           rfn_stream_profile_bytes(reduction->profile) + reduction->spread.bytes;
}

static int widen(struct rfn_stream_reduction *reduction)
{
    const unsigned programs = rfn_arithmetic_begin();
    const int widened = rfn_stream_profile_widen(reduction->profile);
    rfn_arithmetic_end(programs);
    return widened;
}

static void code_ahead(struct rfn_stream_reduction *reduction)
{
    rfn_stream_profile_code_ahead(reduction->profile);
}

static void drop_ahead(struct rfn_stream_reduction *reduction)
{
    rfn_stream_profile_drop_ahead(reduction->profile);
}

static int each_column(struct rfn_stream_reduction *reduction,
                       int (*visit)(void *context, struct rfn_column *column), void *context)
{
    return rfn_stream_profile_each_column(reduction->profile, visit, context);
}

const struct rfn_time_sink rfn_stream_reduction_sink = {.make = reduction_new,
                                                        .free = reduction_free,
                                                        .epoch = epoch,
                                                        .end_later = end_later,
                                                        .finish = finish,
                                                        .bytes = bytes,
                                                        .widen = widen,
                                                        .code_ahead = code_ahead,
                                                        .drop_ahead = drop_ahead,
                                                        .each_column = each_column};

const struct rfn_spread_table *
rfn_stream_reduction_spread(const struct rfn_stream_reduction *reduction)
{
    return reduction->spread_lost ? NULL : &reduction->spread;
}

struct rfn_stream_profile *
rfn_stream_reduction_profile(const struct rfn_stream_reduction *reduction)
{
    return reduction->profile;
}

const struct rfn_contexts *
rfn_stream_reduction_contexts(const struct rfn_stream_reduction *reduction)
{
    return rfn_segment_walk_contexts(reduction->walk);
}
