#include "record/finish/finish_internal.h"

#include "archive/cursor/pack_spreads.h"
#include "archive/write/forced_parameters.h"
#include "record/core/clock_sync.h"
#include "record/core/job.h"
#include "record/core/options.h"
#include "record/core/run_identity.h"
#include "record/finish/pack_open.h"
#include "record/limits/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chunk of rank 0's; the payload is empty afterwards. */
static int chunk(struct rec_output *output, uint32_t type, uint64_t id, struct rfn_buf *payload,
                 int error)
{
    struct rfn_rope rope = {.bytes = *payload};
    *payload = (struct rfn_buf)RFN_BUF_INIT;
    if (!error)
        error = rec_output_chunk(output, type, id, &rope, true, NULL);
    rfn_rope_release(&rope);
    return error;
}

/* From volumes that are counted apart, on the first thread. */
static uint64_t taken_out(void)
{
    const struct rec_stream *stream = rec_streams;
    while (stream && stream->next)
        stream = stream->next;
    return stream ? stream->apart.cost : 0;
}

static int chunk_meta(const struct rec_finishing *finish, uint64_t merge_ns,
                      struct rec_output *output)
{
    const bool reduced = finish->wishes & REC_WANTS_REDUCED;
    const bool compared = rec_finishing_compares(finish) && !finish->reduced.not_compared;
    char similar[RFN_CRITERION_TEXT], forced[RFN_FORCED_TEXT];
    const struct rfn_criterion criterion = rec_options_criterion();
    rfn_criterion_text(&criterion, similar);
    rfn_forced_roles_text(finish->clustered.merged, forced);
    const struct rfn_run run = {
        .recorder = "refrain " RFN_VERSION,
        .program = rec_options.program,
        .command = rec_options.command,
        .mpi = rec_job_mpi_version(),
        .flavour = RFN_FLAVOUR_NAME,
        .start_realtime_ns = (int64_t)rec_start().realtime_ns,
        .ranks = (uint32_t)rec_job_size(),
        .times = finish->wishes & REC_WANTS_TIMES,
        .all_polls = rec_options.all_polls,
        .start_off = rec_options.start_off,
        .path_ends = rec_options.path_ends,
        .merge_seconds = (double)merge_ns * 1e-9,
        .volume = rec_options.volume,
        .volume_unit = rec_options.volume ? rfn_volume_unit(rec_options.volume) : NULL,
        .apart = rec_options.apart && rec_options.volume,
        .taken_out = rec_options.apart ? taken_out() : 0,
        .reduced = reduced,
        .similar = similar,
        .across = compared ? rec_options.across : NULL,
        .reduction = finish->reduced.counts,
        .merging = finish->merging,
        .forced = forced[0] ? forced : NULL,
        .clustered = finish->alone && rec_options.cluster,
        .limits = rec_limits_text(),
        .identity = rec_run_identity(),
        .recovered = {finish->draft, finish->end.realtime_ns, finish->end.realtime_ns},
    };
    struct rfn_buf payload = RFN_BUF_INIT;
    int error = rfn_pack_meta(&run, &payload);
    return chunk(output, RFN_CHUNK_META, 0, &payload, error);
}

int rec_chunk_definitions(struct rec_finishing *finish)
{
    struct rfn_buf payload = RFN_BUF_INIT;
    struct rfn_symbolizer *symbolizer = finish->draft ? NULL : rfn_symbolizer_new();
    int error = rfn_pack_definitions(&finish->merge, symbolizer, &payload);
    rfn_symbolizer_free(symbolizer);
    return chunk(&finish->front, RFN_CHUNK_DEFINITIONS, 0, &payload, error);
}

static int pack_streams(const struct rec_finishing *finish, struct rfn_buf *payload)
{
    const struct rfn_stream_classes *kinds = &finish->merge.streams;
    const struct rfn_rank_runs *told = finish->together.streams.tables[0].slots;
    struct rfn_rank_runs slots[RFN_STREAM_SLOTS] = {RFN_RUNS_INIT};
    uint64_t *signatures = rfn_stream_classes_signatures(kinds);
    int error = signatures ? 0 : RFN_E_NOMEM;
    memcpy(slots, told, sizeof slots);
    slots[RFN_SLOT_SIGNATURE] = (struct rfn_rank_runs)RFN_RUNS_INIT; /* nobody has told */
    if (!error)
        error = rfn_fill_signatures(&told[RFN_SLOT_VALUES], signatures,
                                    kinds->of[RFN_KIND_OF_VALUES].n, &slots[RFN_SLOT_SIGNATURE]);
    if (!error)
        error = rfn_pack_streams(slots, finish->survey.streams, payload);
    rfn_rank_runs_release(&slots[RFN_SLOT_SIGNATURE]);
    free(signatures);
    return error;
}

static int chunk_rank_params(const struct rec_finishing *finish, struct rec_output *chunks)
{
    const struct rfn_tables *rank_params = &finish->together.rank_params;
    for (size_t g = 0; g < rank_params->n; g++) {
        struct rfn_rope payload = RFN_ROPE_INIT;
        int error = rfn_pack_table(&rank_params->tables[g], &payload.bytes);
        if (!error)
            error = rec_output_chunk(chunks, RFN_CHUNK_RANK_PARAMS, g, &payload, true, NULL);
        rfn_rope_release(&payload);
        RFN_TRY(error);
    }
    return 0;
}

/* Clusters are made of an archive without events: what it says of itself is not looked at. */
static void cluster(struct rec_finishing *finish, struct rec_output *chunks)
{
    struct rec_output whole = REC_OUTPUT_INIT;
    if (chunk_meta(finish, 0, &whole) == 0 && rec_output_append(&whole, &finish->front) == 0) {
        finish->clustered = rec_cluster_gather_cluster(&finish->merge, &whole,
                                                       rec_finishing_forced_roles(finish), chunks);
        rfn_exchange_hold(finish->exchange, (int64_t)finish->clustered.held);
        rfn_exchange_hold(finish->exchange, -(int64_t)finish->clustered.held);
    }
    rec_output_release(&whole);
}

int rec_chunk_first(struct rec_finishing *finish)
{
    struct rec_output chunks = {.draft = finish->draft};
    struct rfn_buf payload = RFN_BUF_INIT;
    int error = pack_streams(finish, &payload);
    error = chunk(&finish->front, RFN_CHUNK_STREAMS, 0, &payload, error);
    if (!error && finish->clocks)
        error = rec_clock_sync_pack(finish->clocks, &finish->merge, &payload);
    if (!error && payload.size) /* clocks were compared */
        error = chunk(&finish->front, RFN_CHUNK_CLOCKS, 0, &payload, error);
    if (!error)
        error = chunk_rank_params(finish, &chunks);
    if (!error)
        error = rec_cluster_gather_unfold(&finish->together, &finish->merge, &chunks);
    if (!error && finish->merge.together)
        cluster(finish, &chunks);
    if (!error && finish->wishes & REC_WANTS_REDUCED && !finish->reduced.not_spread) {
        error = rfn_pack_spreads(&finish->reduced.spreads, &payload);
        error = chunk(&chunks, RFN_CHUNK_SPREADS, 0, &payload, error);
    }
    if (!error)
        error = rec_cluster_gather_usage(&finish->together, &payload);
    if (!error && payload.size)
        error = chunk(&chunks, RFN_CHUNK_USAGE, 0, &payload, error);
    if (!error)
        error = rec_cluster_gather_cores(&finish->together, &payload);
    if (!error && payload.size)
        error = chunk(&chunks, RFN_CHUNK_CORES, 0, &payload, error);
    if (!error && finish->draft)
        rec_pack_open(finish, &payload);
    if (!error && payload.size)
        error = chunk(&chunks, RFN_CHUNK_OPEN, 0, &payload, error);
    if (!error && finish->left_out.size)
        error = chunk(&chunks, RFN_CHUNK_AGGREGATED, 0, &finish->left_out, error);
    if (!error && finish->samples.size)
        error = chunk(&chunks, RFN_CHUNK_SAMPLES, 0, &finish->samples, error);
    if (!error)
        error = chunk_meta(finish, (uint64_t)(rec_monotonic_ns() - finish->began), &finish->output);
    if (!error)
        error = rec_output_append(&finish->output, &finish->front);
    if (!error)
        error = rec_output_append(&finish->output, &chunks);
    rfn_buf_release(&payload);
    rec_output_release(&chunks);
    return error;
}

/* Times of fewer bytes are compressed. Columns are coded near their entropy: what that gains is a
 * quarter of 1 KiB and a hundredth of 8 KiB. */
enum { TIMES_LARGE = 1 << 13 };

static int chunk_timing(struct rec_finishing *finish, size_t i)
{
    struct rfn_rope *payload = &finish->packed[i].timing;
    bool reduced = rfn_stream_reduced(finish->description.streams[i].stream->events);
    bool compress = rfn_rope_size(payload) < TIMES_LARGE;
    if (rfn_rope_size(payload) == 0)
        return 0;
    return rec_output_chunk(&finish->output, reduced ? RFN_CHUNK_PROFILE : RFN_CHUNK_TIMING,
                            finish->survey.first_stream + i, payload, compress, NULL);
}

static int chunk_structure(struct rec_finishing *finish, size_t i, uint64_t group)
{
    struct rec_stream_definitions *of = &finish->description.streams[i];
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = rfn_pack_structure(of->stream->events, &of->refs, &payload);
    if (!error)
        error = rec_output_chunk(&finish->output, RFN_CHUNK_STRUCTURE, group, &payload, true,
                                 rfn_stream_spill_of(of->stream->events));
    rfn_rope_release(&payload);
    return error;
}

/* A stream's own chunks: structure and values if it is the first to have them and rank 0 does not
 * write them, and its times, unless they are another's. */
static int chunk_stream(struct rec_finishing *finish, size_t i)
{
    const struct rfn_stream_classes *kinds = &finish->merge.streams;
    struct rfn_stream_class_of group = rfn_stream_class_of(kinds, i, RFN_KIND_OF_GROUP);
    struct rfn_stream_class_of values = rfn_stream_class_of(kinds, i, RFN_KIND_OF_VALUES);
    if (group.first && !group.together)
        RFN_TRY(chunk_structure(finish, i, group.number));
    if (values.first && !values.together)
        RFN_TRY(rec_output_chunk(
            &finish->output, RFN_CHUNK_VALUES, values.number, &finish->packed[i].values, true,
            rfn_stream_spill_of(finish->description.streams[i].stream->events)));
    return chunk_timing(finish, i);
}

int rec_chunk_streams(struct rec_finishing *finish)
{
    for (size_t i = 0; i < finish->description.n_streams; i++)
        RFN_TRY(chunk_stream(finish, i));
    return 0;
}
