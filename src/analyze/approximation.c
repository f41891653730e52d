/* What a reduction loses, and what it saves: Mohror 2010, 5.1.4 and 4.4. */
#include "analyze/degrees.h"
#include "analyze/distances.h"
#include "analyze/recreation.h"
#include "analyze/segments.h"
#include "analyze/size_model.h"
#include "analyze/trace_profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* ---- approximation distance ---- */

static int compare_segment(struct rfn_recreation *recreation, const struct rfn_stream_segment *real,
                           struct rfn_distances *distances)
{
    RFN_TRY(rfn_recreation_next(recreation));
    if (recreation->executed.n != real->segment.n)
        return RFN_E_RANGE;
    for (size_t i = 1; i <= 2 * real->segment.n; i++) {
        int64_t time = (int64_t)((uint64_t)real->start_ns + (uint64_t)real->segment.vector[i]);
        rfn_distances_add(distances, rfn_recreation_time(recreation, i), time);
    }
    return 0;
}

static int compare_segments(const struct rfn_stream_profile *stream, struct rfn_segments *segments,
                            struct rfn_distances *distances, struct rfn_diag *diag)
{
    const struct rfn_stream_segment *segment;
    struct rfn_recreation recreation;
    int error = rfn_recreation_open(&recreation, stream), more = 0;
    while (!error && (more = rfn_segments_next(segments, &segment, diag)) > 0)
        error = compare_segment(&recreation, segment, distances);
    rfn_recreation_close(&recreation);
    return error < 0 ? rfn_recreation_failed(error, diag) : more;
}

/* The stream whose times are recreated for this one. */
static const struct rfn_stream_profile *standing_for(const struct rfn_trace_profile *profile,
                                                     uint32_t stream)
{
    return profile->streams[profile->streams[stream].stands_for_it].profile;
}

static int compare_streams(const struct rfn_trace_profile *profile, struct rfn_distances *distances,
                           struct rfn_diag *diag)
{
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        struct rfn_segments *segments;
        if (!profile->streams[i].present)
            continue;
        RFN_TRY(
            rfn_segments_open(profile->archive, i, profile->options.min_calls, &segments, diag));
        int error = compare_segments(standing_for(profile, i), segments, distances, diag);
        rfn_segments_close(segments);
        RFN_TRY(error);
    }
    return 0;
}

/* ---- sizes ---- */

static int add_column_bytes(const struct rfn_column *column, uint64_t *bytes)
{
    struct rfn_buf coded = RFN_BUF_INIT;
    rfn_column_write(column, &coded);
    *bytes += coded.size;
    int error = coded.failed ? RFN_E_NOMEM : 0;
    rfn_buf_release(&coded);
    return error;
}

/* Nothing is coded where segments come from an archive. */
static int add_list_bytes(const struct rfn_execution_list *list, uint64_t *bytes)
{
    assert(!list->coded.n);
    return add_column_bytes(&list->rest, bytes);
}

static int add_stream_bytes(const struct rfn_stream_profile *stream, uint64_t *bytes)
{
    for (uint32_t i = 0; i < rfn_stream_profile_contexts(stream); i++) {
        const struct rfn_execution_columns *columns = rfn_stream_profile_columns(stream, i);
        RFN_TRY(add_list_bytes(&columns->representative, bytes));
        RFN_TRY(add_list_bytes(&columns->correction, bytes));
        RFN_TRY(add_column_bytes(&columns->pace, bytes));
        RFN_TRY(add_column_bytes(&columns->kept, bytes));
    }
    return add_column_bytes(rfn_stream_profile_top(stream), bytes);
}

static int add_execution_bytes(const struct rfn_trace_profile *profile, uint64_t *bytes)
{
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        const struct rfn_profiled_stream *stream = &profile->streams[i];
        if (stream->present && stream->stands_for_it == i)
            RFN_TRY(add_stream_bytes(stream->profile, bytes));
    }
    return 0;
}

static int by_length(const void *a, const void *b)
{
    size_t first = *(const size_t *)a, second = *(const size_t *)b;
    return first < second ? -1 : first > second;
}

/* The functions that occur, and the median length of their names (Mohror 4.4.1). RFN_E_NOMEM. */
static int find_names(const struct rfn_trace_profile *profile, struct rfn_model_names *names)
{
    uint32_t n = rfn_archive_functions(profile->archive);
    size_t *lengths = malloc((n + (size_t)1) * sizeof *lengths);
    if (!lengths)
        return RFN_E_NOMEM;
    *names = (struct rfn_model_names){0};
    for (uint32_t i = 0; i < n; i++) {
        if (profile->functions[i])
            lengths[names->n++] = strlen(rfn_archive_function(profile->archive, i)->name);
    }
    qsort(lengths, names->n, sizeof *lengths, by_length);
    names->length = names->n ? lengths[names->n / 2] : 0;
    free(lengths);
    return 0;
}

/* The process group that this stream stands for. */
static struct rfn_model_group model_group(const struct rfn_trace_profile *profile, uint32_t number)
{
    struct rfn_stream_profile_stats stats = profile->streams[number].stats;
    struct rfn_model_group group = {.representatives = stats.representatives,
                                    .executions = stats.executions,
                                    .events = stats.kept_events,
                                    .messages = stats.kept_messages};
    for (uint32_t i = number; i < profile->n_streams; i++)
        group.ranks += profile->streams[i].stands_for_it == number;
    return group;
}

static int model_sizes(const struct rfn_trace_profile *profile,
                       struct rfn_reduction_measures *measures)
{
    struct rfn_model_names names;
    RFN_TRY(find_names(profile, &names));
    measures->model_profile_bytes = rfn_model_profile_names(&names);
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        const struct rfn_profiled_stream *stream = &profile->streams[i];
        if (!stream->present)
            continue;
        measures->model_full_bytes += rfn_model_full_names(&names) +
                                      rfn_model_full_records(stream->events, stream->messages);
        if (stream->stands_for_it != i)
            continue;
        struct rfn_model_group group = model_group(profile, i);
        measures->model_profile_bytes += rfn_model_profile_group(&names, &group);
    }
    return 0;
}

/* ---- the whole ---- */

static struct rfn_degrees degrees_of(const struct rfn_trace_profile_stats *stats, bool across)
{
    const struct rfn_matching_counts counts = {.executions = stats->executions,
                                               .kinds = stats->kinds,
                                               .representatives = stats->representatives,
                                               .streams = stats->streams,
                                               .classes = stats->classes,
                                               .groups = stats->groups,
                                               .across = across};
    return rfn_degrees_of(&counts);
}

double rfn_degree_of_matching(const struct rfn_trace_profile_stats *stats, bool across)
{
    return degrees_of(stats, across).both;
}

static void fill_degrees(const struct rfn_trace_profile *profile,
                         struct rfn_reduction_measures *measures)
{
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    struct rfn_degrees degrees = degrees_of(&stats, profile->across.method != NULL);
    measures->degree_within = degrees.within;
    measures->degree_across = degrees.across;
    measures->degree_of_matching = degrees.both;
}

int rfn_trace_profile_measure(const struct rfn_trace_profile *profile,
                              struct rfn_reduction_measures *measures, struct rfn_diag *diag)
{
    struct rfn_distances *distances = calloc(1, sizeof *distances);
    if (!distances)
        return no_memory(diag);
    int error = compare_streams(profile, distances, diag);
    *measures = (struct rfn_reduction_measures){
        .approximation_distance_us = rfn_distances_approximation_us(distances),
        .largest_distance_us = rfn_distances_largest_us(distances)};
    free(distances);
    RFN_TRY(error);
    fill_degrees(profile, measures);
    if (model_sizes(profile, measures) < 0 ||
        add_execution_bytes(profile, &measures->execution_bytes) < 0)
        return no_memory(diag);
    if (measures->model_full_bytes)
        measures->model_size_percent = 100 * (double)measures->model_profile_bytes /
                                       (double)measures->model_full_bytes;
    return 0;
}
