/* refrain/trace_profile.h, rfn_reduce: the times of every stream become a PROFILE, META and STREAMS
 * say so, and all other chunks are taken over as they are stored.
 *
 * Without comparing processes a stream is packed as soon as it has been read, and what it took is
 * freed; else all are held until it is known which stand for others. */
#include "analyze/trace_profile.h"
#include "archive/pack_profiles.h"
#include "archive/rewrite.h"
#include "archive/walk.h"

#include <stdlib.h>

struct reducer {
    const struct rfn_archive *archive;
    struct rfn_trace_profile *profile;
    struct rfn_rewrite rewrite;
    struct rfn_gathered gathered; /* PROFILEs that are not in a chunk yet */
    struct rfn_diag *diag;
};

static int no_memory(const struct reducer *reducer)
{
    return rfn_fail(reducer->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* Errors of packing come without words. */
static int packed(const struct reducer *reducer, int error)
{
    if (error == RFN_E_NOMEM)
        return no_memory(reducer);
    if (error < 0)
        return rfn_fail(reducer->diag, error, -1, -1, "cannot write a temporary file (see TMPDIR)");
    return 0;
}

/* ---- a stream's PROFILE ---- */

/* What the structure says, as the writer of PROFILE wants it. */
static int make_shape(struct rfn_own_shape *shape, const struct rfn_structure *structure,
                      const struct rfn_cuts *cuts)
{
    RFN_TRY(rfn_own_shape_make(shape, structure->n_symbols, structure->n_loops, cuts->n_contexts));
    for (uint32_t i = 0; i < structure->n_symbols; i++)
        shape->failed_polls[i] = structure->symbols[i].failed_poll;
    for (uint32_t i = 0; i < structure->n_loops; i++) {
        const struct rfn_node_list *body = &structure->loops[i];
        if (rfn_contexts_cuts(&cuts->loops, i))
            rfn_own_shape_cuts(shape, i, &cuts->loops, i, body->nodes, body->n);
    }
    return 0;
}

/* Segments are cut as they were when the stream was read (segments.c). */
static int find_shape(const struct reducer *reducer, const struct rfn_structure *structure,
                      struct rfn_own_shape *shape)
{
    struct rfn_walk walk;
    int error = rfn_walk_open(&walk, structure, NULL);
    *shape = (struct rfn_own_shape){0};
    if (!error)
        error = rfn_walk_cut(&walk, &reducer->archive->dictionary,
                             reducer->profile->options.min_calls);
    if (!error)
        error = make_shape(shape, structure, walk.cuts);
    rfn_walk_close(&walk);
    return error;
}

static int add_profile(struct reducer *reducer, uint32_t stream, const struct rfn_own_shape *shape)
{
    const struct rfn_stream_profile *profile = reducer->profile->streams[stream].profile;
    const struct rfn_pack_clock clock = {.kind = RFN_CLOCK_KIND_RUN};
    struct rfn_new_times times;
    int error = rfn_new_times_make(&times, profile, &shape->shape, (struct rfn_room){0});
    if (!error)
        error = rfn_gathered_add(&reducer->gathered, stream, profile, &times, &shape->shape,
                                 &clock);
    rfn_new_times_release(&times);
    return error;
}

/* Makes a chunk of those that have been gathered. */
static int add_gathered(struct reducer *reducer)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    uint32_t type;
    uint64_t id;
    if (reducer->gathered.n == 0)
        return 0;
    int error = rfn_gathered_pack(&reducer->gathered, &type, &id, &payload);
    if (!error)
        error = rfn_rewrite_add(&reducer->rewrite, type, id, &payload);
    rfn_rope_release(&payload);
    return packed(reducer, error);
}

static int pack_present(struct reducer *reducer, uint32_t stream)
{
    struct rfn_stream_info info = rfn_archive_stream(reducer->archive, stream);
    struct rfn_part *part;
    struct rfn_own_shape shape;
    RFN_TRY(rfn_part_use(reducer->archive, RFN_CHUNK_STRUCTURE, info.group, NULL, &part,
                         reducer->diag));
    int error = find_shape(reducer, &part->u.structure, &shape);
    shape.shape.volumes = info.volume;
    if (!error)
        error = add_profile(reducer, stream, &shape);
    rfn_own_shape_release(&shape);
    rfn_part_done(reducer->archive, part);
    return packed(reducer, error);
}

/* A chunk has all time sets of its range: one that is not there ends it. A large one is alone. */
static int pack_stream(struct reducer *reducer, uint32_t stream)
{
    const struct rfn_profiled_stream *profiled = &reducer->profile->streams[stream];
    bool small = profiled->present && rfn_gathered_small(profiled->profile);
    if (!small)
        RFN_TRY(add_gathered(reducer));
    if (profiled->present)
        RFN_TRY(pack_present(reducer, stream));
    return small && !rfn_gathered_enough(&reducer->gathered) ? 0 : add_gathered(reducer);
}

/* ---- all of them ---- */

static int pack_one_by_one(struct reducer *reducer)
{
    for (uint32_t i = 0; i < reducer->profile->n_streams; i++) {
        RFN_TRY(rfn_trace_profile_read(reducer->profile, i, reducer->diag));
        RFN_TRY(pack_stream(reducer, i));
        rfn_trace_profile_drop(reducer->profile, i);
    }
    return rfn_trace_profile_join(reducer->profile, reducer->diag);
}

static int pack_sets(struct reducer *reducer)
{
    for (uint32_t i = 0; i < reducer->profile->n_streams; i++)
        RFN_TRY(rfn_trace_profile_read(reducer->profile, i, reducer->diag));
    RFN_TRY(rfn_trace_profile_join(reducer->profile, reducer->diag));
    for (uint32_t i = 0; i < reducer->profile->n_streams; i++) {
        const struct rfn_profiled_stream *stream = &reducer->profile->streams[i];
        if (stream->stands_for_it == i)
            RFN_TRY(pack_stream(reducer, i));
        rfn_trace_profile_drop(reducer->profile, i);
    }
    return 0;
}

/* ---- META and STREAMS ---- */

static struct rfn_run_reduction reduction_of(const struct reducer *reducer)
{
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(reducer->profile);
    return (struct rfn_run_reduction){.executions = stats.executions,
                                      .kinds = stats.kinds,
                                      .representatives = stats.representatives,
                                      .corrections = stats.corrections,
                                      .streams = stats.streams,
                                      .classes = stats.classes,
                                      .time_sets = stats.groups,
                                      .widened = stats.widened,
                                      .full_bytes = rfn_archive_run(reducer->archive)->file_bytes,
                                      .min_calls = reducer->profile->options.min_calls,
                                      .exact_starts = reducer->profile->options.exact_starts};
}

static const char *known(const char *text)
{
    return text ? text : "";
}

static int add_meta(struct reducer *reducer)
{
    const struct rfn_run *run = rfn_archive_run(reducer->archive);
    const struct rfn_trace_profile *profile = reducer->profile;
    char similar[RFN_CRITERION_TEXT], across[RFN_CRITERION_TEXT] = "";
    struct rfn_rope payload = RFN_ROPE_INIT;
    rfn_criterion_text(&profile->criterion, similar);
    if (profile->across.method)
        rfn_criterion_text(&profile->across, across);
    struct rfn_pack_meta meta = {.recorder = known(run->recorder),
                                 .program = known(run->program),
                                 .command = known(run->command),
                                 .mpi = known(run->mpi),
                                 .flavour = known(run->flavour),
                                 .start_realtime_ns = (uint64_t)run->start_realtime_ns,
                                 .ranks = run->ranks,
                                 .times = true,
                                 .all_polls = run->all_polls,
                                 .start_off = run->start_off,
                                 .merge_ns = (uint64_t)(run->merge_seconds * 1e9 + 0.5),
                                 .volume = run->volume,
                                 .volume_unit = known(run->volume_unit),
                                 .similar = similar,
                                 .across = across,
                                 .reduction = reduction_of(reducer)};
    int error = rfn_pack_meta(&meta, &payload.bytes);
    if (!error)
        error = rfn_rewrite_add(&reducer->rewrite, RFN_CHUNK_META, 0, &payload);
    rfn_rope_release(&payload);
    return packed(reducer, error);
}

static int fill_streams(const struct reducer *reducer, struct rfn_table *table)
{
    static const enum rfn_stream_word words[RFN_STREAM_SLOTS] = {
        [RFN_SLOT_RANK] = RFN_WORD_RANK,         [RFN_SLOT_THREAD] = RFN_WORD_THREAD,
        [RFN_SLOT_GROUP] = RFN_WORD_GROUP,       [RFN_SLOT_VALUES] = RFN_WORD_VALUES,
        [RFN_SLOT_HOST] = RFN_WORD_HOST,         [RFN_SLOT_EVENTS] = RFN_WORD_EVENTS,
        [RFN_SLOT_CALLS] = RFN_WORD_CALLS,       [RFN_SLOT_START] = RFN_WORD_START,
        [RFN_SLOT_REALTIME] = RFN_WORD_REALTIME, [RFN_SLOT_VOLUME] = RFN_WORD_VOLUME,
        [RFN_SLOT_REGIONS] = RFN_WORD_REGIONS,   [RFN_SLOT_TIMES] = RFN_WORD_TIMES};
    for (uint32_t i = 0; i < reducer->profile->n_streams; i++) {
        for (int slot = 0; slot < RFN_STREAM_SLOTS; slot++) {
            int64_t word = slot == RFN_SLOT_TIMES
                               ? reducer->profile->streams[i].stands_for_it
                               : rfn_stream_word(reducer->archive, words[slot], i);
            RFN_TRY(rfn_runs_append(&table->slots[slot], word, true, i));
        }
    }
    return 0;
}

static int add_streams(struct reducer *reducer)
{
    struct rfn_runs slots[RFN_STREAM_SLOTS] = {RFN_RUNS_INIT};
    struct rfn_table table = {.slots = slots, .n_slots = RFN_STREAM_SLOTS};
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = fill_streams(reducer, &table);
    if (!error)
        error = rfn_pack_streams(&table, reducer->profile->n_streams, &payload.bytes);
    if (!error)
        error = rfn_rewrite_add(&reducer->rewrite, RFN_CHUNK_STREAMS, 0, &payload);
    for (int slot = 0; slot < RFN_STREAM_SLOTS; slot++)
        rfn_runs_release(&slots[slot]);
    rfn_rope_release(&payload);
    return packed(reducer, error);
}

/* ---- the other chunks ---- */

/* DEFINITIONS of minor version 0 end before the regions; there are none. */
static int add_regions(struct reducer *reducer, size_t entry)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    struct rfn_payload old;
    RFN_TRY(rfn_chunks_load(&reducer->archive->chunks, &reducer->archive->chunks.entries[entry],
                            &old, reducer->diag));
    rfn_buf_bytes(&payload.bytes, old.data, old.size);
    rfn_buf_varint(&payload.bytes, 0);
    int error = rfn_rewrite_add(&reducer->rewrite, RFN_CHUNK_DEFINITIONS, 0, &payload);
    rfn_payload_release(&old);
    rfn_rope_release(&payload);
    return packed(reducer, error);
}

/* Types that an old version does not have mean nothing there. */
static bool stays(uint32_t type, uint32_t minor)
{
    switch (type) {
    case RFN_CHUNK_META:
    case RFN_CHUNK_STREAMS:
    case RFN_CHUNK_TIMING:
    case RFN_CHUNK_TOC:
    case RFN_CHUNK_PROFILE:
    case RFN_CHUNK_PROFILES:
        return false;
    case RFN_CHUNK_CLOCKS:
        return minor >= RFN_CLOCKS_SINCE_MINOR;
    default:
        return true;
    }
}

static int copy_others(struct reducer *reducer)
{
    const struct rfn_chunks *chunks = &reducer->archive->chunks;
    for (size_t i = 0; i < chunks->n; i++) {
        uint32_t type = chunks->entries[i].type;
        if (!stays(type, chunks->minor))
            continue;
        if (type == RFN_CHUNK_DEFINITIONS && chunks->minor == 0 &&
            rfn_archive_regions(reducer->archive) == 0)
            RFN_TRY(add_regions(reducer, i));
        else
            RFN_TRY(packed(reducer, rfn_rewrite_copy(&reducer->rewrite, i)));
    }
    return 0;
}

/* ---- the whole ---- */

static int check_input(const struct rfn_archive *archive, struct rfn_diag *diag)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    if (run->reduced)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "%s is reduced already (%s); what is to be reduced is the full archive",
                        archive->chunks.path, run->similar);
    if (archive->chunks.minor > RFN_FORMAT_MINOR)
        return rfn_fail(diag, RFN_E_VERSION, -1, -1,
                        "%s was written by a later version of Refrain, which has to reduce it",
                        archive->chunks.path);
    return 0;
}

static int write_reduced(struct reducer *reducer, const char *path, bool force,
                         struct rfn_reduction *result)
{
    RFN_TRY(rfn_rewrite_check(&reducer->rewrite, path, force, reducer->diag));
    RFN_TRY(reducer->profile->across.method ? pack_sets(reducer) : pack_one_by_one(reducer));
    RFN_TRY(add_gathered(reducer));
    RFN_TRY(add_meta(reducer));
    RFN_TRY(add_streams(reducer));
    RFN_TRY(copy_others(reducer));
    int error = rfn_rewrite_write(&reducer->rewrite, path, force, &result->bytes, reducer->diag);
    if (error == RFN_E_NOMEM)
        return no_memory(reducer);
    RFN_TRY(error);
    result->full_bytes = rfn_archive_run(reducer->archive)->file_bytes;
    result->stats = rfn_trace_profile_stats(reducer->profile);
    result->degree_of_matching = rfn_degree_of_matching(&result->stats,
                                                        reducer->profile->across.method != NULL);
    return 0;
}

int rfn_reduce(const struct rfn_archive *archive, const struct rfn_trace_profile_options *options,
               const char *path, bool force, struct rfn_reduction *result, struct rfn_diag *diag)
{
    struct reducer reducer = {.archive = archive, .diag = diag};
    RFN_TRY(check_input(archive, diag));
    RFN_TRY(rfn_trace_profile_begin(archive, options, &reducer.profile, diag));
    int error = rfn_rewrite_init(&reducer.rewrite, archive) < 0
                    ? no_memory(&reducer)
                    : write_reduced(&reducer, path, force, result);
    rfn_gathered_release(&reducer.gathered);
    rfn_rewrite_release(&reducer.rewrite);
    rfn_trace_profile_free(reducer.profile);
    return error;
}
