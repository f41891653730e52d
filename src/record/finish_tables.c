#include "record/finishing.h"

#include "record/options.h"
#include "record/place.h"
#include "record/regions.h"

#include <string.h>

/* What the stream adds to the table of streams and to its group's table. */
static int tabulate(struct rec_finishing *finish, size_t i)
{
    struct rec_stream_description *of = &finish->description.streams[i];
    const struct rfn_stream *events = of->stream->events;
    const struct rfn_stream_kinds *kinds = &finish->merge.streams;
    const uint64_t group = rfn_stream_fate(kinds, i, RFN_KIND_OF_GROUP).number;
    const struct rec_clock_pair start = rec_start();
    struct rfn_table *streams = rfn_tables_use(&finish->streams, 0, RFN_STREAM_SLOTS);
    struct rfn_table *places = rfn_tables_use(&finish->places, (size_t)group,
                                              rfn_pack_places_count(events, &of->refs));
    const int64_t words[RFN_STREAM_SLOTS] = {
        [RFN_SLOT_RANK] = rec_place_rank(),
        [RFN_SLOT_THREAD] = (int64_t)i,
        [RFN_SLOT_GROUP] = (int64_t)group,
        [RFN_SLOT_VALUES] = (int64_t)rfn_stream_fate(kinds, i, RFN_KIND_OF_VALUES).number,
        [RFN_SLOT_HOST] = (int64_t)finish->description.host,
        [RFN_SLOT_EVENTS] = (int64_t)rfn_stream_events(events),
        [RFN_SLOT_CALLS] = (int64_t)rfn_stream_calls(events),
        [RFN_SLOT_START] = rec_options.times ? start.monotonic_ns : 0,
        [RFN_SLOT_REGIONS] = (int64_t)rec_regions_events(of->stream),
        [RFN_SLOT_REALTIME] = rec_options.times ? start.realtime_ns - start.monotonic_ns : 0,
        [RFN_SLOT_VOLUME] = rfn_stream_has_volume(events),
        [RFN_SLOT_TIMES] = (int64_t)finish->packed[i].time_set,
    };
    if (!streams || !places)
        return RFN_E_NOMEM;
    for (int s = 0; s < RFN_STREAM_SLOTS; s++) {
        /* these are large, and do not follow from the stream's number */
        const bool relative = s != RFN_SLOT_START && s != RFN_SLOT_REALTIME && s != RFN_SLOT_END;
        RFN_TRY(rfn_runs_append(&streams->slots[s], words[s], relative,
                                (int64_t)(finish->first_stream + i)));
    }
    RFN_TRY(rfn_pack_places(events, &of->refs, places));
    return rec_together_bring(&finish->together, &finish->merge, i, events, &of->refs,
                              &finish->packed[i].values);
}

/* What a trace of this process alone would have of its streams: structures, words that depend on
 * the rank (a byte for each and one for its run), values and times. */
static uint64_t trace_bytes(const struct rec_finishing *finish)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < finish->description.n_streams; i++) {
        const struct rec_stream_description *of = &finish->description.streams[i];
        const struct rec_packed *packed = &finish->packed[i];
        bytes += packed->loop_bytes + rfn_pack_head_bytes(of->stream->events, &of->refs) +
                 2 * rfn_pack_places_count(of->stream->events, &of->refs) +
                 packed->digests.content_bytes + packed->timing_bytes;
    }
    return bytes;
}

enum { SUM_EVENTS, SUM_TRACES, SUM_ALL, SUM_DEFINITIONS, SUMS };

_Static_assert(SUMS == (int)RFN_COLLECTED_SUMS, "other sums are collected");

/* A trace that is handed on goes over as many ranks as this one has bits: the tree is binomial. */
static void count(struct rec_finishing *finish, struct rfn_collection *collection)
{
    uint64_t hops = (uint64_t)__builtin_popcount((unsigned)finish->exchange->rank);
    uint64_t bytes = trace_bytes(finish);
    for (const struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        collection->sums[SUM_EVENTS] += rfn_stream_events(stream->events);
    collection->sums[SUM_TRACES] = bytes;
    collection->sums[SUM_ALL] = bytes * hops;
    collection->sums[SUM_DEFINITIONS] = finish->definition_bytes * hops;
    rec_finishing_count_sent(finish, collection->step);
    memcpy(collection->sent, finish->merging.step_sent, sizeof collection->sent);
}

static void note(struct rec_finishing *finish, const struct rfn_collection *collection)
{
    struct rfn_run_merging *merging = &finish->merging;
    finish->events = collection->sums[SUM_EVENTS];
    memcpy(merging->step_sent, collection->sent, sizeof merging->step_sent);
    for (int step = 0; step < RFN_MERGING_STEPS; step++) {
        merging->messages += collection->sent[step].messages;
        merging->bytes += collection->sent[step].bytes;
    }
    merging->trace_bytes = collection->sums[SUM_TRACES];
    merging->all_bytes = collection->sums[SUM_ALL];
    merging->all_definition_bytes = collection->sums[SUM_DEFINITIONS];
}

static int begin(struct rec_finishing *finish)
{
    RFN_TRY(rfn_tables_init(&finish->streams, 1));
    RFN_TRY(rfn_tables_init(&finish->places, finish->merge.streams.of[RFN_KIND_OF_GROUP].total));
    return rec_together_begin(&finish->together, &finish->merge);
}

void rec_tables_release(struct rec_finishing *finish)
{
    rfn_tables_release(&finish->streams);
    rfn_tables_release(&finish->places);
    rec_together_release(&finish->together);
}

int rec_tables_collect(struct rec_finishing *finish, int error)
{
    if (!error)
        error = begin(finish);
    for (size_t i = 0; i < finish->description.n_streams && !error; i++)
        error = tabulate(finish, i);
    struct rfn_tables *tables[] = {&finish->streams, &finish->places, &finish->together.numbers};
    struct rfn_collection collection = {.tables = tables,
                                        .n_tables = 3,
                                        .parcels = &finish->together.parcels,
                                        .step = RFN_MERGING_TABLES};
    if (!error)
        count(finish, &collection);
    error = rfn_collect(&collection, finish->exchange, error);
    note(finish, &collection);
    return error;
}
