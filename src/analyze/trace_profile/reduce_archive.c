/* refrain/trace_profile.h, rfn_reduce: the times of every stream become a PROFILE, what alike ranks
 * did is stored once (cluster_archive.h), META and STREAMS say so, and all other chunks are taken
 * over as they are stored.
 *
 * Without comparing processes a stream is packed as soon as it has been read, and what it took is
 * freed; else all are held until it is known which stand for others. */
#include "analyze/clusters/user_expressions.h"
#include "analyze/match/own_times.h"
#include "analyze/trace_profile/trace_profile.h"
#include "archive/cursor/cursor.h"
#include "archive/cursor/pack_spreads.h"
#include "archive/cursor/time_spreads.h"
#include "archive/read/structure_walk.h"
#include "archive/usage_format.h"
#include "archive/write/cluster_archive.h"
#include "archive/write/forced_parameters.h"
#include "archive/write/pack_profiles.h"
#include "archive/write/rewrite_facts.h"
#include "base/order.h"

#include <stdlib.h>

struct reducer {
    const struct rfn_archive *archive;
    struct rfn_trace_profile *profile; /* NULL: times stay as they are */
    bool cluster;
    unsigned forced_roles;                /* forced_parameters.h */
    struct rfn_expression_finder *finder; /* users' expressions, or NULL */
    struct rfn_cluster_plan plan;
    struct rfn_rewrite rewrite;
    struct rfn_gathered gathered;       /* PROFILEs that are not in a chunk yet */
    struct rfn_spreads spreads;         /* of the times as they were */
    struct rfn_spread_table spread;     /* of the stream that is being read */
    struct rfn_structure_places places; /* of its symbols */
    struct rfn_diag *diag;
};

static int no_memory(const struct reducer *reducer)
{
    return rfn_fail(reducer->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* Errors of packing come without words. */
static int packed(const struct reducer *reducer, int error)
{
    return rfn_rewrite_failed(error, reducer->diag);
}

/* ---- a stream's PROFILE ---- */

/* What the structure says, as the writer of PROFILE wants it. Segments are cut as they were when
 * the stream was read (segments.c). */
static int find_shape(const struct reducer *reducer, const struct rfn_structure *structure,
                      struct rfn_own_shape *shape)
{
    struct rfn_structure_walk walk;
    int error = rfn_structure_walk_open(&walk, structure, NULL);
    *shape = (struct rfn_own_shape){0};
    if (!error)
        error = rfn_structure_walk_cut(&walk, &reducer->archive->dictionary,
                                       reducer->profile->options.min_calls);
    if (!error)
        error = rfn_own_shape_make(shape, structure->n_symbols, structure->n_loops,
                                   walk.cuts->n_contexts);
    for (uint32_t i = 0; i < structure->n_symbols && !error; i++)
        shape->failed_polls[i] = structure->symbols[i].failed_poll;
    for (uint32_t i = 0; i < structure->n_loops && !error; i++) {
        const struct rfn_node_list *body = &structure->loops[i];
        if (rfn_contexts_cuts(&walk.cuts->loops, i))
            rfn_own_shape_cuts(shape, i, &walk.cuts->loops, i, body->nodes, body->n);
    }
    rfn_structure_walk_close(&walk);
    return error;
}

static int add_gathered(struct reducer *reducer)
{
    return packed(reducer, rfn_rewrite_add_gathered(&reducer->rewrite, &reducer->gathered));
}

static int pack_present(struct reducer *reducer, uint32_t stream)
{
    const struct rfn_stream_profile *profile = reducer->profile->streams[stream].profile;
    const struct rfn_pack_clock clock = {.kind = RFN_CLOCK_KIND_RUN};
    struct rfn_stream_info info = rfn_archive_stream(reducer->archive, stream);
    struct rfn_new_times times = {0};
    struct rfn_own_shape shape;
    struct rfn_part *part;
    RFN_TRY(rfn_part_use(reducer->archive, RFN_CHUNK_STRUCTURE, info.group, NULL, &part,
                         reducer->diag));
    int error = find_shape(reducer, &part->u.structure, &shape);
    shape.shape.volumes = info.volume;
    if (!error)
        error = rfn_new_times_make(&times, profile, &shape.shape, (struct rfn_room){0});
    if (!error)
        error = rfn_gathered_add(&reducer->gathered, stream, profile, &times, &shape.shape, &clock);
    rfn_new_times_release(&times);
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

/* ---- how far its times lie apart ---- */

static int spread_segment(void *context, const struct rfn_segment *segment)
{
    struct reducer *reducer = context;
    for (size_t i = 0; i < segment->n; i++) {
        const int64_t *times = &segment->vector[2 * i];
        RFN_TRY(rfn_spread_table_event(&reducer->spread, reducer->places.places[segment->events[i]],
                                       times[0], times[1], times[2]));
    }
    return 0;
}

static int read_stream(struct reducer *reducer, uint32_t stream)
{
    if (!rfn_archive_stream(reducer->archive, stream).readable)
        return 0;
    RFN_TRY(rfn_structure_places(reducer->archive, stream, &reducer->places, reducer->diag));
    int error = rfn_trace_profile_read(reducer->profile, stream, reducer->diag);
    if (!error &&
        rfn_spreads_add(&reducer->spreads, reducer->places.digest, stream, &reducer->spread) < 0)
        error = no_memory(reducer);
    rfn_spread_table_release(&reducer->spread);
    rfn_structure_places_release(&reducer->places);
    return error;
}

/* ---- all of them ---- */

static int write_times(struct reducer *reducer)
{
    struct rfn_trace_profile *profile = reducer->profile;
    const bool one_by_one = !profile->across.method;
    struct rfn_rope spreads = RFN_ROPE_INIT;
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        RFN_TRY(read_stream(reducer, i));
        if (one_by_one) {
            RFN_TRY(pack_stream(reducer, i));
            rfn_trace_profile_drop(profile, i);
        }
    }
    RFN_TRY(rfn_trace_profile_join(profile, reducer->diag));
    for (uint32_t i = 0; i < profile->n_streams && !one_by_one; i++) {
        if (profile->streams[i].stands_for_it == i)
            RFN_TRY(pack_stream(reducer, i));
        rfn_trace_profile_drop(profile, i);
    }
    RFN_TRY(add_gathered(reducer));
    int error = rfn_pack_spreads(&reducer->spreads, &spreads.bytes);
    if (!error)
        error = rfn_rewrite_add(&reducer->rewrite, RFN_CHUNK_SPREADS, 0, &spreads);
    rfn_rope_release(&spreads);
    return packed(reducer, error);
}

/* ---- META and STREAMS ---- */

/* Parameters of which some rank has other words now. */
static unsigned merged_roles(const struct reducer *reducer)
{
    return reducer->cluster ? reducer->plan.merged_roles : 0;
}

static int add_meta(struct reducer *reducer)
{
    char similar[RFN_CRITERION_TEXT], across[RFN_CRITERION_TEXT] = "", forced[RFN_FORCED_TEXT];
    const struct rfn_trace_profile *profile = reducer->profile;
    const struct rfn_run *was = rfn_archive_run(reducer->archive);
    struct rfn_run run = *was;
    unsigned roles = 0;
    run.clustered = was->clustered && !reducer->archive->first_set;
    if (profile) {
        const struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
        rfn_criterion_text(&profile->criterion, similar);
        if (profile->across.method)
            rfn_criterion_text(&profile->across, across);
        run.reduced = true;
        run.similar = similar;
        run.across = across;
        run.reduction = rfn_trace_profile_counts(&stats);
        run.reduction.full_bytes = was->file_bytes;
        run.reduction.min_calls = profile->options.min_calls;
        run.reduction.exact_starts = profile->options.exact_starts;
    }
    /* What the archive says is merged already stays so. */
    if (was->forced && rfn_forced_roles_parse(was->forced, &roles, NULL) < 0)
        roles = 0;
    rfn_forced_roles_text(roles | merged_roles(reducer), forced);
    if (merged_roles(reducer))
        run.forced = forced;
    return packed(reducer, rfn_rewrite_add_meta(&reducer->rewrite, &run));
}

/* Groups and value sets have other numbers where they are clustered, and time sets where times are
 * reduced: those have the ends of all events. */
static int64_t word_of(const void *context, enum rfn_stream_word word, uint32_t stream)
{
    const struct reducer *reducer = context;
    const struct rfn_archive *archive = reducer->archive;
    if (word == RFN_WORD_TIMES)
        return reducer->profile ? reducer->profile->streams[stream].stands_for_it
                                : rfn_stream_times(archive, stream);
    if (word == RFN_WORD_END && reducer->profile)
        return 0;
    int64_t old = rfn_stream_word(archive, word, stream);
    if (reducer->cluster && word == RFN_WORD_GROUP)
        return reducer->plan.groups[old];
    if (reducer->cluster && word == RFN_WORD_VALUES)
        return reducer->plan.sets[old];
    return old;
}

static int add_streams(struct reducer *reducer)
{
    return packed(reducer, rfn_rewrite_add_streams(&reducer->rewrite, reducer->archive->n_streams,
                                                   word_of, reducer));
}

/* ---- clusters ---- */

static int add_streams_as(void *context, bool clustered)
{
    struct reducer *reducer = context;
    reducer->cluster = clustered;
    return add_streams(reducer);
}

/* Clusters only where the file becomes smaller. */
static int add_clusters(struct reducer *reducer)
{
    const struct rfn_cluster_options options = {.forced_roles = reducer->forced_roles,
                                                .finder = reducer->finder};
    const struct rfn_cluster_streams streams = {add_streams_as, reducer};
    int smaller = rfn_cluster_if_smaller(reducer->archive, &options, &reducer->rewrite,
                                         &reducer->plan, &streams, reducer->diag);
    RFN_TRY(smaller);
    reducer->cluster = smaller;
    return 0;
}

/* ---- usage ---- */

/* When the recorder worked, on the clock of the run, as all times of a reduced archive are. */
static int move_recording(const struct reducer *reducer, struct rfn_usage *usage,
                          struct rfn_stream_usage *of)
{
    struct rfn_off_times own = {0};
    struct rfn_cursor *cursor;
    int64_t before = 0;
    if (!of->n_recording)
        return 0;
    struct rfn_own_work *pieces = &usage->recording[of->recording - usage->recording];
    int error = rfn_cursor_open(reducer->archive, of->stream, &cursor, NULL);
    if (!error) {
        error = rfn_own_times_of(of, cursor, &own);
        rfn_cursor_close(cursor);
    }
    of->n_recording = own.n; /* of a stream that cannot be read: none */
    for (size_t i = 0; i < own.n; i++) {
        const int64_t from = rfn_most(own.items[i].from_ns, before);
        before = rfn_most(own.items[i].to_ns, from);
        pieces[i] = (struct rfn_own_work){(uint64_t)from, (uint64_t)before};
    }
    rfn_off_times_release(&own);
    return error == RFN_E_NOMEM ? error : 0;
}

static int add_usage(struct reducer *reducer)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    struct rfn_usage usage;
    uint32_t next = 0;
    int error = rfn_usage_read(reducer->archive, &usage, reducer->diag);
    for (size_t i = 0; i < usage.n && !error; i++) {
        struct rfn_stream_usage *of = &usage.streams[i];
        error = packed(reducer, move_recording(reducer, &usage, of));
        rfn_buf_varint(&payload.bytes, of->stream - next);
        rfn_pack_usage(of, &payload.bytes);
        next = of->stream + 1;
    }
    if (!error && usage.n)
        error = packed(reducer, rfn_rewrite_add(&reducer->rewrite, RFN_CHUNK_USAGE, 0, &payload));
    rfn_rope_release(&payload);
    rfn_usage_release(&usage);
    return error;
}

/* ---- the other chunks ---- */

static bool makes_meta(const struct reducer *reducer)
{
    return reducer->profile || merged_roles(reducer);
}

static bool stays(const void *context, uint32_t type)
{
    const struct reducer *reducer = context;
    switch (type) {
    case RFN_CHUNK_META:
        return !makes_meta(reducer);
    case RFN_CHUNK_TIMING:
    case RFN_CHUNK_PROFILE:
    case RFN_CHUNK_PROFILES:
    case RFN_CHUNK_SITE_SPREADS:
    case RFN_CHUNK_SPREADS:
    case RFN_CHUNK_USAGE:
        return !reducer->profile;
    case RFN_CHUNK_STRUCTURE:
    case RFN_CHUNK_RANK_PARAMS:
    case RFN_CHUNK_VALUES:
    case RFN_CHUNK_CLUSTERS:
    case RFN_CHUNK_COMMON:
        return !reducer->cluster;
    default:
        return true;
    }
}

/* ---- the whole ---- */

static int check_input(const struct reducer *reducer)
{
    const struct rfn_archive *archive = reducer->archive;
    bool readable = archive->complete;
    for (uint32_t i = 0; i < archive->n_streams && !readable; i++)
        readable = rfn_archive_stream(archive, i).readable;
    if (archive->chunks.minor > RFN_FORMAT_MINOR)
        return rfn_fail(reducer->diag, RFN_E_VERSION, -1, -1,
                        "%s was written by a later version of Refrain: reduce it with that version",
                        archive->chunks.path);
    if (reducer->cluster && !archive->complete)
        return rfn_fail(reducer->diag, archive->chunks.fault, -1, -1,
                        "%s: %s; only whole archives can be clustered: leave out --cluster",
                        archive->chunks.path, archive->why);
    if (!readable)
        return rfn_fail(reducer->diag, archive->chunks.fault, -1, -1,
                        "%s: %s; no rank is whole in it, so nothing is left to reduce",
                        archive->chunks.path, archive->why);
    return 0;
}

static int check_times(const struct reducer *reducer)
{
    const struct rfn_run *run = rfn_archive_run(reducer->archive);
    const struct rfn_archive *archive = reducer->archive;
    if (!run->reduced)
        return 0;
    if (!archive->complete)
        return rfn_fail(reducer->diag, archive->chunks.fault, -1, -1,
                        "%s: %s; and it is reduced already (%s): reduce the full archive instead",
                        archive->chunks.path, archive->why, run->similar);
    return rfn_fail(reducer->diag, RFN_E_UNSUPPORTED, -1, -1,
                    "%s is reduced already (%s): reduce the full archive instead",
                    archive->chunks.path, run->similar);
}

static int write_reduced(struct reducer *reducer, const char *path, bool force,
                         struct rfn_reduction *result)
{
    RFN_TRY(rfn_rewrite_check(&reducer->rewrite, path, force, reducer->diag));
    if (reducer->profile)
        RFN_TRY(write_times(reducer));
    if (reducer->cluster)
        RFN_TRY(add_clusters(reducer));
    if (makes_meta(reducer))
        RFN_TRY(add_meta(reducer));
    RFN_TRY(add_streams(reducer));
    if (reducer->profile)
        RFN_TRY(add_usage(reducer));
    RFN_TRY(rfn_rewrite_copy_others(&reducer->rewrite, stays, reducer, reducer->diag));
    int error = rfn_rewrite_write(&reducer->rewrite, path, force, &result->bytes, reducer->diag);
    if (error == RFN_E_NOMEM)
        return no_memory(reducer);
    RFN_TRY(error);
    result->full_bytes = rfn_archive_run(reducer->archive)->file_bytes;
    result->forced = merged_roles(reducer);
    result->groups = reducer->archive->n_groups;
    result->groups_together = reducer->cluster ? reducer->plan.n_together : 0;
    result->clusters_larger = !reducer->cluster && reducer->plan.n_together;
    if (reducer->profile) {
        result->stats = rfn_trace_profile_stats(reducer->profile);
        result->degree_of_matching = rfn_degree_of_matching(
            &result->stats, reducer->profile->across.method != NULL);
    }
    return 0;
}

int rfn_reduce(const struct rfn_archive *archive, const struct rfn_trace_profile_options *options,
               const char *path, bool force, struct rfn_reduction *result, struct rfn_diag *diag)
{
    struct reducer reducer = {.archive = archive, .cluster = options->cluster, .diag = diag};
    if (options->cluster && options->expressions)
        reducer.finder = rfn_expressions_finder(options->expressions);
    *result = (struct rfn_reduction){0};
    RFN_TRY(check_input(&reducer));
    if (options->forced && options->cluster)
        RFN_TRY(rfn_forced_roles_parse(options->forced, &reducer.forced_roles, diag));
    if (options->similar) {
        RFN_TRY(check_times(&reducer));
        RFN_TRY(rfn_trace_profile_begin(archive, options, &reducer.profile, diag));
        reducer.profile->watch = spread_segment;
        reducer.profile->watch_context = &reducer;
    }
    int error = rfn_rewrite_init(&reducer.rewrite, archive) < 0
                    ? no_memory(&reducer)
                    : write_reduced(&reducer, path, force, result);
    if (reducer.finder)
        result->expressions = rfn_expressions_counts(options->expressions);
    rfn_gathered_release(&reducer.gathered);
    rfn_rewrite_release(&reducer.rewrite);
    rfn_cluster_plan_release(&reducer.plan);
    rfn_trace_profile_free(reducer.profile);
    rfn_spreads_release(&reducer.spreads);
    return error;
}
