#include "analyze/trace_profile/approximation.h"

#include "analyze/trace_profile/segments.h"
#include "analyze/trace_profile/trace_profile.h"
#include "reduce/segments/segment_starts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- distances ---- */

void rfn_distances_add(struct rfn_distances *distances, int64_t recreated_ns, int64_t real_ns)
{
    uint64_t recreated = (uint64_t)recreated_ns, real = (uint64_t)real_ns, bucket;
    bucket = recreated_ns < real_ns ? real - recreated : recreated - real;
    distances->n++;
    if (bucket > distances->largest_ns)
        distances->largest_ns = bucket;
    if (bucket >= RFN_DISTANCES_EXACT) { /* 11 bits are left, of which the highest is 1 */
        unsigned shift = 53 - (unsigned)__builtin_clzll(bucket);
        bucket = 1024 * shift + (bucket >> shift);
    }
    distances->buckets[bucket]++;
}

uint64_t rfn_distances_at(const struct rfn_distances *distances, double share)
{
    uint64_t seen = 0, i = 0;
    double needed = share * (double)distances->n;
    for (; i < RFN_DISTANCES_BUCKETS; i++) {
        seen += distances->buckets[i];
        if (seen > 0 && (double)seen >= needed)
            break;
    }
    if (i == RFN_DISTANCES_BUCKETS)
        return 0;
    unsigned shift = i < RFN_DISTANCES_EXACT ? 0 : (unsigned)(i / 1024 - 1);
    return (i - 1024 * shift) << shift;
}

double rfn_distances_approximation_us(const struct rfn_distances *distances)
{
    return 1e-3 * (double)rfn_distances_at(distances, 0.9);
}

/* ---- degrees of matching ---- */

struct share {
    uint64_t matches, possible; /* at most all of them */
};

static struct share share_of(uint64_t all, uint64_t kept, uint64_t kinds)
{
    struct share share = {all > kept ? all - kept : 0, all > kinds ? all - kinds : 0};
    if (share.matches > share.possible)
        share.matches = share.possible;
    return share;
}

static double degree(struct share share)
{
    return share.possible ? (double)share.matches / (double)share.possible : 1;
}

struct rfn_degrees rfn_degrees_of(const struct rfn_run_reduction *counts, bool across)
{
    struct share within = share_of(counts->executions, counts->representatives, counts->kinds);
    struct share between = share_of(counts->streams, counts->time_sets, counts->classes);
    struct rfn_degrees degrees = {degree(within), degree(between), degree(within)};
    if (across && within.possible <= UINT64_MAX - between.possible)
        degrees.both = degree(
            (struct share){within.matches + between.matches, within.possible + between.possible});
    return degrees;
}

double rfn_degree_of_matching(const struct rfn_trace_profile_stats *stats, bool across)
{
    const struct rfn_run_reduction counts = rfn_trace_profile_counts(stats);
    return rfn_degrees_of(&counts, across).both;
}

/* ---- recreated times ---- */

int rfn_recreation_open(struct rfn_recreation *recreation, const struct rfn_stream_profile *profile)
{
    struct rfn_executed first;
    *recreation = (struct rfn_recreation){.walk = rfn_profile_walk_new(profile),
                                          .last_ns = rfn_stream_profile_first(profile)};
    if (!recreation->walk)
        return RFN_E_NOMEM;
    if (!rfn_stream_profile_stretched(profile))
        return 0;
    recreation->ahead = rfn_profile_walk_new(profile);
    if (!recreation->ahead)
        return RFN_E_NOMEM;
    int more = rfn_profile_walk_next(recreation->ahead, &first);
    return more < 0 ? more : 0;
}

void rfn_recreation_close(struct rfn_recreation *recreation)
{
    rfn_profile_walk_free(recreation->walk);
    rfn_profile_walk_free(recreation->ahead);
}

static int64_t length_of(const struct rfn_executed *executed)
{
    return executed->vector[2 * executed->n + 1];
}

/* How much later a is than b. */
static int64_t later(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* A stretched segment lasts until the next one starts; where that is earlier than what has been,
 * there is no room for it. */
int rfn_recreation_next(struct rfn_recreation *recreation)
{
    struct rfn_executed next;
    int more = rfn_profile_walk_next(recreation->walk, &recreation->executed);
    RFN_TRY(more);
    if (!more)
        return RFN_E_RANGE;
    recreation->begin_ns = recreation->executed.start;
    if (!recreation->ahead)
        return 0;
    int64_t end = rfn_start_after(recreation->begin_ns, length_of(&recreation->executed));
    RFN_TRY(more = rfn_profile_walk_next(recreation->ahead, &next));
    if (more)
        end = next.start;
    if (later(recreation->last_ns, recreation->begin_ns) > 0)
        recreation->begin_ns = recreation->last_ns;
    int64_t room = later(end, recreation->begin_ns);
    recreation->room_ns = room > 0 ? room : 0;
    return 0;
}

int64_t rfn_recreation_time(struct rfn_recreation *recreation, size_t i)
{
    const struct rfn_executed *executed = &recreation->executed;
    int64_t offset = executed->vector[i];
    if (recreation->ahead)
        offset = (int64_t)rfn_start_stretched(offset, (uint64_t)length_of(executed),
                                              (uint64_t)recreation->room_ns);
    int64_t time = rfn_start_after(recreation->begin_ns, offset);
    if (time > recreation->last_ns)
        recreation->last_ns = time;
    return recreation->last_ns;
}

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* The segments of a stream beside those of the stream whose times are recreated for it. */
static int compare_stream(const struct rfn_stream_profile *profile, struct rfn_segments *segments,
                          struct rfn_distances *distances, struct rfn_diag *diag)
{
    const struct rfn_stream_segment *real;
    struct rfn_recreation recreation;
    int error = rfn_recreation_open(&recreation, profile), more = 0;
    while (!error && (more = rfn_segments_next(segments, &real, diag)) > 0) {
        error = rfn_recreation_next(&recreation);
        if (!error && recreation.executed.n != real->segment.n)
            error = RFN_E_RANGE;
        for (size_t i = 1; i <= 2 * real->segment.n && !error; i++) {
            int64_t time = (int64_t)((uint64_t)real->start_ns + (uint64_t)real->segment.vector[i]);
            rfn_distances_add(distances, rfn_recreation_time(&recreation, i), time);
        }
    }
    rfn_recreation_close(&recreation);
    if (error == RFN_E_NOMEM)
        return no_memory(diag);
    return error < 0
               ? rfn_fail(diag, error, -1, -1, "the archive changed while it was read: try again")
               : more;
}

static int compare_streams(const struct rfn_trace_profile *profile, struct rfn_distances *distances,
                           struct rfn_diag *diag)
{
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        const struct rfn_profiled_stream *stream = &profile->streams[i];
        struct rfn_segments *segments;
        if (!stream->present)
            continue;
        RFN_TRY(
            rfn_segments_open(profile->archive, i, profile->options.min_calls, &segments, diag));
        int error = compare_stream(profile->streams[stream->stands_for_it].profile, segments,
                                   distances, diag);
        rfn_segments_close(segments);
        RFN_TRY(error);
    }
    return 0;
}

/* ---- sizes by Mohror's models ---- */

enum {
    FULL_ID = 4,            /* I_s of a traditional trace */
    FULL_EVENT = 48,        /* E_s: enter and exit of 24 bytes */
    FULL_MESSAGE = 96,      /* M_s */
    PROFILE_ID = 5,         /* I_s of a trace profile: number and length of the name */
    SECTION = 5,            /* H_s */
    RANK = 4,               /* R_s */
    EXECUTION = 12,         /* I_s + T_s: number and time */
    SEGMENT = SECTION + 12, /* H_s + H_sd: number and duration */
    PROFILE_EVENT = 23,     /* markers, number, start, duration, whether there are messages */
    PROFILE_MESSAGE = 4 + 4 + 2 + 2 /* peer, bytes, tag, communicator */
};

uint64_t rfn_model_full_names(const struct rfn_model_names *names)
{
    return names->n * (FULL_ID + names->length);
}

uint64_t rfn_model_full_records(uint64_t events, uint64_t messages)
{
    return events * FULL_EVENT + messages * FULL_MESSAGE;
}

uint64_t rfn_model_profile_names(const struct rfn_model_names *names)
{
    return 2 * SECTION + names->n * (PROFILE_ID + names->length);
}

uint64_t rfn_model_profile_group(const struct rfn_model_names *names,
                                 const struct rfn_model_group *group)
{
    uint64_t ranks = SECTION + group->ranks * RANK;
    uint64_t map = SECTION + group->representatives * (PROFILE_ID + names->length);
    uint64_t executions = SECTION + group->executions * EXECUTION;
    uint64_t segments = SECTION + group->representatives * SEGMENT + group->events * PROFILE_EVENT +
                        group->messages * PROFILE_MESSAGE;
    return ranks + map + executions + segments;
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
        struct rfn_model_group group = {.representatives = stream->stats.representatives,
                                        .executions = stream->stats.executions,
                                        .events = stream->stats.kept_events,
                                        .messages = stream->stats.kept_messages};
        for (uint32_t k = i; k < profile->n_streams; k++)
            group.ranks += profile->streams[k].stands_for_it == i;
        measures->model_profile_bytes += rfn_model_profile_group(&names, &group);
    }
    if (measures->model_full_bytes)
        measures->model_size_percent = 100 * (double)measures->model_profile_bytes /
                                       (double)measures->model_full_bytes;
    return 0;
}

/* ---- the whole ---- */

static int add_column_bytes(const struct rfn_column *column, uint64_t *bytes)
{
    struct rfn_buf coded = RFN_BUF_INIT;
    rfn_column_write(column, &coded);
    *bytes += coded.size;
    int error = rfn_buf_status(&coded);
    rfn_buf_release(&coded);
    return error;
}

/* Nothing is coded where segments come from an archive: lists are columns. */
static int add_execution_bytes(const struct rfn_stream_profile *stream, uint64_t *bytes)
{
    for (uint32_t i = 0; i < rfn_stream_profile_contexts(stream); i++) {
        const struct rfn_execution_columns *columns = rfn_stream_profile_columns(stream, i);
        assert(!columns->representative.coded.n && !columns->correction.coded.n);
        RFN_TRY(add_column_bytes(&columns->representative.rest, bytes));
        RFN_TRY(add_column_bytes(&columns->correction.rest, bytes));
        RFN_TRY(add_column_bytes(&columns->pace, bytes));
        RFN_TRY(add_column_bytes(&columns->kept, bytes));
    }
    return add_column_bytes(rfn_stream_profile_top(stream), bytes);
}

int rfn_trace_profile_measure(const struct rfn_trace_profile *profile,
                              struct rfn_reduction_measures *measures, struct rfn_diag *diag)
{
    const struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    const struct rfn_run_reduction counts = rfn_trace_profile_counts(&stats);
    const struct rfn_degrees degrees = rfn_degrees_of(&counts, profile->across.method != NULL);
    struct rfn_distances *distances = calloc(1, sizeof *distances);
    if (!distances)
        return no_memory(diag);
    int error = compare_streams(profile, distances, diag);
    *measures = (struct rfn_reduction_measures){
        .degree_within = degrees.within,
        .degree_across = degrees.across,
        .degree_of_matching = degrees.both,
        .approximation_distance_us = rfn_distances_approximation_us(distances),
        .largest_distance_us = 1e-3 * (double)distances->largest_ns};
    free(distances);
    RFN_TRY(error);
    error = model_sizes(profile, measures);
    for (uint32_t i = 0; i < profile->n_streams && !error; i++) {
        const struct rfn_profiled_stream *stream = &profile->streams[i];
        if (stream->present && stream->stands_for_it == i)
            error = add_execution_bytes(stream->profile, &measures->execution_bytes);
    }
    return error < 0 ? no_memory(diag) : 0;
}
