/* Two passes over each stream. The first puts segments into the store; then it is known how long
 * the executions of each representative are on average, and the second one corrects starts that are
 * predicted too badly from that. Starts are predicted from recreated starts, so that deviations do
 * not add up. */
#include "analyze/trace_profile.h"

#include "analyze/process_groups.h"
#include "analyze/recreation.h"
#include "analyze/segments.h"

#include <stdlib.h>

/* Methods without a threshold of time correct starts that are off by so much of the length. */
static const double default_tolerance = 0.2;

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* How far segments may start from where they really did: the threshold's part of their length. */
static struct rfn_start_tolerance tolerance_of(const struct rfn_trace_profile *profile)
{
    const struct rfn_criterion *criterion = &profile->criterion;
    const double most = 1e12; /* us; a share of so much is as good as any */
    double threshold = criterion->threshold < most ? criterion->threshold : most;
    if (profile->options.exact_starts)
        return (struct rfn_start_tolerance){0};
    if (criterion->method == &rfn_abs_diff)
        return (struct rfn_start_tolerance){.absolute_ns = (uint64_t)(threshold * 1000)};
    double share = criterion->method->kept ? default_tolerance : threshold;
    return (struct rfn_start_tolerance){.share = (uint64_t)(share * 65536)};
}

/* ---- the first pass ---- */

static int make_contexts(struct rfn_stream_profile *stream, uint32_t n)
{
    stream->contexts = calloc(n + (size_t)1, sizeof *stream->contexts);
    if (!stream->contexts)
        return RFN_E_NOMEM;
    stream->n_contexts = n;
    for (uint32_t i = 0; i < n; i++) {
        rfn_column_init(&stream->contexts[i].representative);
        rfn_column_init(&stream->contexts[i].correction);
    }
    return 0;
}

static void hash_segment(struct rfn_stream_profile *stream, const struct rfn_segment *segment)
{
    struct rfn_hash128 events = rfn_hash128_bytes(segment->events,
                                                  segment->n * sizeof *segment->events);
    const uint64_t words[] = {stream->sequence.low, stream->sequence.high, segment->context,
                              events.low, events.high};
    stream->sequence = rfn_hash128_bytes(words, sizeof words);
}

static int put_segment(struct rfn_trace_profile *profile, struct rfn_stream_profile *stream,
                       const struct rfn_stream_segment *segment)
{
    uint32_t context = segment->segment.context, number;
    RFN_TRY(rfn_store_put(stream->store, &segment->segment, &number));
    RFN_TRY(rfn_column_append(&stream->contexts[context].representative, number));
    RFN_TRY(rfn_column_append(&stream->order, context));
    hash_segment(stream, &segment->segment);
    if (stream->events == 0)
        stream->first_start_ns = segment->start_ns;
    stream->events += segment->segment.n;
    stream->messages += segment->segment.messages;
    for (size_t i = 0; i < segment->segment.n; i++)
        profile->functions[segment->functions[i]] = true;
    return 0;
}

static int put_segments(struct rfn_trace_profile *profile, struct rfn_stream_profile *stream,
                        struct rfn_segments *segments, struct rfn_diag *diag)
{
    const struct rfn_stream_segment *segment;
    int more;
    if (make_contexts(stream, rfn_segments_contexts(segments)) < 0)
        return no_memory(diag);
    while ((more = rfn_segments_next(segments, &segment, diag)) > 0) {
        if (put_segment(profile, stream, segment) < 0)
            return no_memory(diag);
    }
    rfn_store_finish(stream->store);
    return more;
}

static int read_stream(struct rfn_trace_profile *profile, uint32_t number, struct rfn_diag *diag)
{
    struct rfn_stream_profile *stream = &profile->streams[number];
    struct rfn_store_options options = {.criterion = profile->criterion,
                                        .max_per_kind = profile->options.max_per_kind};
    struct rfn_segments *segments;
    rfn_column_init(&stream->order);
    stream->tolerance = tolerance_of(profile);
    stream->store = rfn_store_new(&options);
    if (!stream->store)
        return no_memory(diag);
    RFN_TRY(
        rfn_segments_open(profile->archive, number, profile->options.min_calls, &segments, diag));
    int error = put_segments(profile, stream, segments, diag);
    rfn_segments_close(segments);
    return error;
}

/* ---- the second pass ---- */

/* What brings the predicted start near the real one: units, to the nearest, or 0 if it is near
 * enough. */
static int64_t correction(uint64_t tolerance_ns, int64_t predicted, int64_t real)
{
    uint64_t later = (uint64_t)real - (uint64_t)predicted;
    bool early = later >> 63;
    uint64_t off = early ? -later : later, unit = tolerance_ns ? tolerance_ns : 1;
    if (off <= tolerance_ns)
        return 0;
    uint64_t units = off / unit + (off % unit >= unit - off % unit);
    return early ? (int64_t)-units : (int64_t)units;
}

static int correct_segment(struct rfn_stream_profile *stream, struct rfn_recreation *recreation,
                           const struct rfn_stream_segment *segment)
{
    uint32_t context = segment->segment.context;
    struct rfn_representative representative;
    RFN_TRY(rfn_recreation_representative(recreation, context, &representative));
    int64_t predicted = recreation->predicted_ns;
    uint64_t tolerance = rfn_recreation_tolerance(recreation, &representative);
    int64_t by = correction(tolerance, predicted, segment->start_ns);
    RFN_TRY(rfn_column_append(&stream->contexts[context].correction, by));
    stream->corrections += by != 0;
    rfn_recreation_start(
        recreation, &representative,
        (int64_t)((uint64_t)predicted + (uint64_t)rfn_recreation_correction(tolerance, by)));
    return 0;
}

static int correct_segments(struct rfn_stream_profile *stream, struct rfn_segments *segments,
                            struct rfn_diag *diag)
{
    const struct rfn_stream_segment *segment;
    struct rfn_recreation recreation;
    int error = rfn_recreation_open(&recreation, stream), more = 0;
    while (!error && (more = rfn_segments_next(segments, &segment, diag)) > 0)
        error = correct_segment(stream, &recreation, segment);
    rfn_recreation_close(&recreation);
    return error < 0 ? rfn_recreation_failed(error, diag) : more;
}

static int correct_stream(const struct rfn_trace_profile *profile, uint32_t number,
                          struct rfn_diag *diag)
{
    struct rfn_segments *segments;
    RFN_TRY(
        rfn_segments_open(profile->archive, number, profile->options.min_calls, &segments, diag));
    int error = correct_segments(&profile->streams[number], segments, diag);
    rfn_segments_close(segments);
    return error;
}

/* ---- the whole ---- */

static int read_streams(struct rfn_trace_profile *profile, struct rfn_diag *diag)
{
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        if (!rfn_archive_stream(profile->archive, i).readable)
            continue;
        RFN_TRY(read_stream(profile, i, diag));
        RFN_TRY(correct_stream(profile, i, diag));
    }
    if (rfn_process_groups_find(profile) < 0)
        return no_memory(diag);
    return 0;
}

int rfn_trace_profile_new(const struct rfn_archive *archive,
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
    int error = made->streams && made->functions ? read_streams(made, diag) : no_memory(diag);
    if (error < 0) {
        rfn_trace_profile_free(made);
        return error;
    }
    *profile = made;
    return 0;
}

static void release_stream(struct rfn_stream_profile *stream)
{
    for (uint32_t i = 0; i < stream->n_contexts; i++) {
        rfn_column_release(&stream->contexts[i].representative);
        rfn_column_release(&stream->contexts[i].correction);
    }
    free(stream->contexts);
    rfn_column_release(&stream->order);
    rfn_store_free(stream->store);
}

void rfn_trace_profile_free(struct rfn_trace_profile *profile)
{
    if (!profile)
        return;
    for (uint32_t i = 0; i < profile->n_streams && profile->streams; i++)
        release_stream(&profile->streams[i]);
    free(profile->streams);
    free(profile->functions);
    free(profile);
}

/* ---- what came of it ---- */

static void add_stream(struct rfn_trace_profile_stats *sum, const struct rfn_stream_profile *stream)
{
    struct rfn_store_stats stats = rfn_store_stats(stream->store);
    sum->events += stream->events;
    sum->messages += stream->messages;
    sum->executions += stats.executions;
    sum->kinds += stats.kinds;
    sum->representatives += stats.representatives;
    sum->kept_events += stats.kept_events;
    sum->kept_messages += stats.kept_messages;
    sum->corrections += stream->corrections;
    sum->widened += stats.widened;
    sum->comparisons += stats.comparisons;
    if (stats.bytes > sum->memory_bytes)
        sum->memory_bytes = stats.bytes;
}

struct rfn_trace_profile_stats rfn_trace_profile_stats(const struct rfn_trace_profile *profile)
{
    struct rfn_trace_profile_stats stats = {0};
    for (uint32_t i = 0; i < profile->n_streams; i++) {
        const struct rfn_stream_profile *stream = &profile->streams[i];
        if (!stream->store)
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
