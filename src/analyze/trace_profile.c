#include "analyze/trace_profile.h"

#include "analyze/process_groups.h"
#include "analyze/segments.h"

#include <stdlib.h>

enum { ATTEND_EVERY = 1024 }; /* segments */

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* ---- a stream ---- */

static void hash_segment(struct rfn_profiled_stream *stream, const struct rfn_segment *segment)
{
    struct rfn_hash128 events = rfn_hash128_bytes(segment->events,
                                                  segment->n * sizeof *segment->events);
    const uint64_t words[] = {stream->sequence.low, stream->sequence.high, segment->context,
                              events.low, events.high};
    stream->sequence = rfn_hash128_bytes(words, sizeof words);
}

/* Now and then: says how far reading is, and has the stream hold its share of the memory. */
static int attend(struct rfn_trace_profile *profile, struct rfn_profiled_stream *stream)
{
    const struct rfn_trace_profile_options *options = &profile->options;
    uint64_t at_once = profile->across.method && profile->n_streams ? profile->n_streams : 1;
    int widened = 1;
    if (options->progress)
        options->progress(options->progress_context,
                          (double)profile->events_done / (double)(profile->events + 1));
    while (options->memory_bytes && widened > 0 &&
           rfn_stream_profile_bytes(stream->profile) > options->memory_bytes / at_once)
        widened = rfn_stream_profile_widen(stream->profile);
    return widened < 0 ? widened : 0;
}

static int put_segment(struct rfn_trace_profile *profile, struct rfn_profiled_stream *stream,
                       const struct rfn_stream_segment *segment, struct rfn_diag *diag)
{
    int error = rfn_stream_profile_put(stream->profile, &segment->segment, segment->start_ns,
                                       segment->top);
    if (error == RFN_E_CORRUPT)
        return rfn_fail(diag, error, -1, -1, "the times of a segment descend, or are too large");
    if (error < 0)
        return no_memory(diag);
    hash_segment(stream, &segment->segment);
    stream->segments++;
    stream->events += segment->segment.n;
    stream->messages += segment->segment.messages;
    profile->events_done += segment->segment.n;
    for (size_t i = 0; i < segment->segment.n; i++)
        profile->functions[segment->functions[i]] = true;
    if (stream->segments % ATTEND_EVERY == 0 && attend(profile, stream) < 0)
        return no_memory(diag);
    return 0;
}

static int put_segments(struct rfn_trace_profile *profile, struct rfn_profiled_stream *stream,
                        struct rfn_segments *segments, struct rfn_diag *diag)
{
    const struct rfn_stream_segment *segment;
    int more;
    while ((more = rfn_segments_next(segments, &segment, diag)) > 0)
        RFN_TRY(put_segment(profile, stream, segment, diag));
    RFN_TRY(more);
    return rfn_stream_profile_finish(stream->profile) < 0 ? no_memory(diag) : 0;
}

static int read_stream(struct rfn_trace_profile *profile, uint32_t number, struct rfn_diag *diag)
{
    struct rfn_profiled_stream *stream = &profile->streams[number];
    struct rfn_stream_profile_options options = {.criterion = profile->criterion,
                                                 .max_per_kind = profile->options.max_per_kind,
                                                 .exact_starts = profile->options.exact_starts};
    struct rfn_segments *segments;
    stream->profile = rfn_stream_profile_new(&options);
    if (!stream->profile)
        return no_memory(diag);
    RFN_TRY(
        rfn_segments_open(profile->archive, number, profile->options.min_calls, &segments, diag));
    int error = put_segments(profile, stream, segments, diag);
    rfn_segments_close(segments);
    return error;
}

int rfn_trace_profile_read(struct rfn_trace_profile *profile, uint32_t stream,
                           struct rfn_diag *diag)
{
    struct rfn_profiled_stream *read = &profile->streams[stream];
    if (!rfn_archive_stream(profile->archive, stream).readable)
        return 0;
    RFN_TRY(read_stream(profile, stream, diag));
    read->present = true;
    read->stats = rfn_stream_profile_stats(read->profile);
    return 0;
}

void rfn_trace_profile_drop(struct rfn_trace_profile *profile, uint32_t stream)
{
    rfn_stream_profile_free(profile->streams[stream].profile);
    profile->streams[stream].profile = NULL;
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
        RFN_TRY(rfn_criterion_parse(options->across, true, &across, diag));
    if (!run->times)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "the archive has no times to reduce");
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

int rfn_trace_profile_join(struct rfn_trace_profile *profile, struct rfn_diag *diag)
{
    return rfn_process_groups_find(profile) < 0 ? no_memory(diag) : 0;
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

static void add_stream(struct rfn_trace_profile_stats *sum,
                       const struct rfn_profiled_stream *stream)
{
    const struct rfn_stream_profile_stats *stats = &stream->stats;
    sum->events += stream->events;
    sum->messages += stream->messages;
    sum->executions += stats->executions;
    sum->kinds += stats->kinds;
    sum->representatives += stats->representatives;
    sum->kept_events += stats->kept_events;
    sum->kept_messages += stats->kept_messages;
    sum->corrections += stats->corrections;
    sum->widened += stats->widened;
    sum->comparisons += stats->comparisons;
    if (stats->bytes > sum->memory_bytes)
        sum->memory_bytes = stats->bytes;
}

struct rfn_trace_profile_stats rfn_trace_profile_stats(const struct rfn_trace_profile *profile)
{
    struct rfn_trace_profile_stats stats = {0};
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        const struct rfn_profiled_stream *stream = &profile->streams[i];
        if (!stream->present)
            continue;
        add_stream(&stats, stream);
        stats.streams++;
        stats.classes += stream->class_ == i;
        stats.groups += stream->stands_for_it == i;
    }
    return stats;
}

uint32_t rfn_trace_profile_standing_for(const struct rfn_trace_profile *profile, uint32_t stream)
{
    return profile->streams[stream].stands_for_it;
}
