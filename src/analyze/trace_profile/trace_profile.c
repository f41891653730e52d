#include "analyze/trace_profile/trace_profile.h"

#include "analyze/trace_profile/segments.h"
#include "base/map.h"
#include "reduce/merge/process_groups.h"

#include <stdlib.h>

enum { ATTEND_EVERY = 1024 }; /* segments */

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* ---- a stream ---- */

static int put_segment(struct rfn_trace_profile *profile, struct rfn_profiled_stream *stream,
                       const struct rfn_stream_segment *segment, struct rfn_diag *diag)
{
    const struct rfn_trace_profile_options *options = &profile->options;
    int error = rfn_stream_profile_put(stream->profile, &segment->segment, segment->start_ns,
                                       segment->top);
    if (error == RFN_E_CORRUPT)
        return rfn_fail(diag, error, -1, -1,
                        "the archive is damaged: times of a rank run backwards, or are too large");
    if (error < 0)
        return no_memory(diag);
    if (profile->watch && profile->watch(profile->watch_context, &segment->segment) < 0)
        return no_memory(diag);
    stream->segments++;
    stream->events += segment->segment.n;
    stream->messages += segment->segment.messages;
    profile->events_done += segment->segment.n;
    for (size_t i = 0; i < segment->segment.n; i++)
        profile->functions[segment->functions[i]] = true;
    if (stream->segments % ATTEND_EVERY != 0)
        return 0;
    if (options->progress)
        options->progress(options->progress_context,
                          (double)profile->events_done / (double)(profile->events + 1));
    uint64_t at_once = profile->across.method && profile->n_streams ? profile->n_streams : 1;
    int widened = 1;
    while (options->memory_bytes && widened > 0 &&
           rfn_stream_profile_bytes(stream->profile) > options->memory_bytes / at_once)
        widened = rfn_stream_profile_widen(stream->profile);
    return widened < 0 ? no_memory(diag) : 0;
}

int rfn_trace_profile_read(struct rfn_trace_profile *profile, uint32_t number,
                           struct rfn_diag *diag)
{
    const struct rfn_stream_profile_options options = {
        .criterion = profile->criterion,
        .max_per_kind = profile->options.max_per_kind,
        .exact_starts = profile->options.exact_starts};
    struct rfn_profiled_stream *stream = &profile->streams[number];
    struct rfn_stream_info info = rfn_archive_stream(profile->archive, number);
    const struct rfn_stream_segment *segment;
    struct rfn_segments *segments;
    if (!info.readable)
        return 0;
    stream->profile = rfn_stream_profile_new(&options);
    if (!stream->profile)
        return no_memory(diag);
    RFN_TRY(
        rfn_segments_open(profile->archive, number, profile->options.min_calls, &segments, diag));
    int error = 0, more = 0;
    while (!error && (more = rfn_segments_next(segments, &segment, diag)) > 0)
        error = put_segment(profile, stream, segment, diag);
    error = error ? error : more;
    if (!error && rfn_stream_profile_finish(stream->profile) < 0)
        error = no_memory(diag);
    rfn_segments_close(segments);
    RFN_TRY(error);
    stream->present = true;
    stream->key = rfn_time_class(stream->profile, info.group, info.volume);
    stream->stats = rfn_stream_profile_stats(stream->profile);
    return 0;
}

void rfn_trace_profile_drop(struct rfn_trace_profile *profile, uint32_t stream)
{
    rfn_stream_profile_free(profile->streams[stream].profile);
    profile->streams[stream].profile = NULL;
}

/* ---- streams that share times ---- */

/* The lowest stream of each class; streams that are not there are of none. In n_members, by lowest
 * stream, how many there are. */
static int find_classes(struct rfn_trace_profile *profile, uint32_t *n_members)
{
    struct rfn_map by_key = RFN_MAP_INIT;
    int error = 0;
    for (uint32_t i = 0; i < profile->n_streams && !error; i++) {
        struct rfn_profiled_stream *stream = &profile->streams[i];
        const uint64_t *known = rfn_map_get(&by_key, stream->key.low);
        stream->class_ = i;
        if (!stream->present)
            continue;
        if (known && rfn_hash128_equal(profile->streams[*known].key, stream->key))
            stream->class_ = (uint32_t)*known;
        else
            error = rfn_map_put(&by_key, stream->key.low, i);
        n_members[stream->class_]++;
    }
    rfn_map_release(&by_key);
    return error;
}

static int join(struct rfn_trace_profile *profile, struct rfn_time_sets *left,
                struct rfn_time_sets *right)
{
    size_t n = right->n;
    uint32_t *joined = calloc(n + 1, sizeof *joined), *streams = calloc(n + 1, sizeof *streams);
    for (size_t i = 0; i < n && streams; i++)
        streams[i] = (uint32_t)right->sets[i].stream;
    int error = joined && streams ? rfn_time_sets_join(left, right, &profile->across, 0, joined)
                                  : RFN_E_NOMEM;
    for (size_t i = 0; i < n && !error; i++) {
        if (joined[i] != RFN_TIME_SET_ALONE)
            profile->streams[streams[i]].stands_for_it = (uint32_t)left->sets[joined[i]].stream;
    }
    free(joined);
    free(streams);
    return error;
}

/* Puts a stream into its process's list. What is alone in its class matches nothing. */
static int put_stream(struct rfn_trace_profile *profile, uint32_t stream, const uint32_t *n_members,
                      struct rfn_time_sets *list)
{
    const struct rfn_profiled_stream *of = &profile->streams[stream];
    struct rfn_time_sets one = {0};
    if (!of->present || n_members[of->class_] < 2)
        return 0;
    int error = profile->across.method->all_alike
                    ? rfn_time_sets_add_class(&one, stream, of->key)
                    : rfn_time_sets_add(&one, stream, of->key, of->profile, &RFN_TIME_LINE_NS, 0);
    if (error >= 0 && one.n > 0)
        error = join(profile, list, &one);
    rfn_time_sets_release(&one);
    return error;
}

/* Each process has a list; lists are joined as the ranks would do it at the end of a run. */
static int find_groups(struct rfn_trace_profile *profile, const uint32_t *n_members)
{
    uint32_t n = 0, rank = 0;
    struct rfn_time_sets *lists = calloc(profile->n_streams + (size_t)1, sizeof *lists);
    int error = lists ? 0 : RFN_E_NOMEM;
    for (uint32_t i = 0; i < profile->n_streams && !error; i++) {
        uint32_t own = rfn_archive_stream(profile->archive, i).rank;
        n += i == 0 || own != rank;
        rank = own;
        error = put_stream(profile, i, n_members, &lists[n - 1]);
    }
    for (uint32_t step = 1; step < n && !error; step *= 2) {
        for (uint32_t i = 0; i < n - step && !error; i += 2 * step)
            error = join(profile, &lists[i], &lists[i + step]);
    }
    for (uint32_t i = 0; i < n; i++)
        rfn_time_sets_release(&lists[i]);
    free(lists);
    /* One that stood for others may have been joined itself; it stands before them. */
    for (uint32_t i = 0; i < profile->n_streams && !error; i++)
        profile->streams[i].stands_for_it =
            profile->streams[profile->streams[i].stands_for_it].stands_for_it;
    return error;
}

int rfn_trace_profile_join(struct rfn_trace_profile *profile, struct rfn_diag *diag)
{
    uint32_t *n_members = calloc(profile->n_streams + (size_t)1, sizeof *n_members);
    for (uint32_t i = 0; i < profile->n_streams; i++)
        profile->streams[i].stands_for_it = i;
    int error = n_members ? find_classes(profile, n_members) : RFN_E_NOMEM;
    if (!error && profile->across.method)
        error = find_groups(profile, n_members);
    free(n_members);
    return error < 0 ? no_memory(diag) : 0;
}

/* ---- the whole ---- */

int rfn_trace_profile_begin(const struct rfn_archive *archive,
                            const struct rfn_trace_profile_options *options,
                            struct rfn_trace_profile **profile, struct rfn_diag *diag)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    struct rfn_criterion criterion, across = {0};
    RFN_TRY(rfn_criterion_parse(options->similar, false, &criterion, diag));
    if (options->across)
        RFN_TRY(rfn_across_parse(options->across, &across, diag));
    if (!run->times)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archive has no times to reduce; record it with --time=full");
    struct rfn_trace_profile *made = calloc(1, sizeof *made);
    if (!made)
        return no_memory(diag);
    *made = (struct rfn_trace_profile){.archive = archive,
                                       .options = *options,
                                       .criterion = criterion,
                                       .across = across,
                                       .n_streams = run->streams};
    made->streams = calloc(run->streams + (size_t)1, sizeof *made->streams);
    made->functions = calloc(rfn_archive_functions(archive) + (size_t)1, sizeof *made->functions);
    if (!made->streams || !made->functions) {
        rfn_trace_profile_free(made);
        return no_memory(diag);
    }
    for (uint32_t i = 0; i < run->streams; i++)
        made->events += rfn_archive_stream(archive, i).events;
    *profile = made;
    return 0;
}

int rfn_trace_profile_new(const struct rfn_archive *archive,
                          const struct rfn_trace_profile_options *options,
                          struct rfn_trace_profile **profile, struct rfn_diag *diag)
{
    struct rfn_trace_profile *made;
    int error = 0;
    RFN_TRY(rfn_trace_profile_begin(archive, options, &made, diag));
    for (uint32_t i = 0; i < made->n_streams && !error; i++)
        error = rfn_trace_profile_read(made, i, diag);
    if (!error)
        error = rfn_trace_profile_join(made, diag);
    if (error < 0)
        rfn_trace_profile_free(made);
    else
        *profile = made;
    return error;
}

void rfn_trace_profile_free(struct rfn_trace_profile *profile)
{
    if (!profile)
        return;
    for (uint32_t i = 0; i < profile->n_streams && profile->streams; i++)
        rfn_stream_profile_free(profile->streams[i].profile);
    free(profile->streams);
    free(profile->functions);
    free(profile);
}

/* ---- what came of it ---- */

struct rfn_trace_profile_stats rfn_trace_profile_stats(const struct rfn_trace_profile *profile)
{
    struct rfn_trace_profile_stats sum = {0};
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        const struct rfn_profiled_stream *stream = &profile->streams[i];
        const struct rfn_stream_profile_stats *stats = &stream->stats;
        if (!stream->present)
            continue;
        sum.streams++;
        sum.classes += stream->class_ == i;
        sum.groups += stream->stands_for_it == i;
        sum.events += stream->events;
        sum.messages += stream->messages;
        sum.executions += stats->executions;
        sum.kinds += stats->kinds;
        sum.representatives += stats->representatives;
        sum.kept_events += stats->kept_events;
        sum.kept_messages += stats->kept_messages;
        sum.corrections += stats->corrections;
        sum.widened += stats->widened;
        sum.comparisons += stats->comparisons;
        if (stats->bytes > sum.memory_bytes)
            sum.memory_bytes = stats->bytes;
    }
    return sum;
}

struct rfn_run_reduction rfn_trace_profile_counts(const struct rfn_trace_profile_stats *stats)
{
    return (struct rfn_run_reduction){.executions = stats->executions,
                                      .kinds = stats->kinds,
                                      .representatives = stats->representatives,
                                      .corrections = stats->corrections,
                                      .streams = stats->streams,
                                      .classes = stats->classes,
                                      .time_sets = stats->groups,
                                      .widened = stats->widened};
}

uint32_t rfn_trace_profile_standing_for(const struct rfn_trace_profile *profile, uint32_t stream)
{
    return profile->streams[stream].stands_for_it;
}
