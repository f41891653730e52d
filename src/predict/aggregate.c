/* refrain/aggregation.h, rfn_aggregate: finds the calls that may go (call_groups.h,
 * equal_delays.h), and writes the others, at their times, as a program of fewer calls.
 *
 * A call names a request by how many requests its stream has made since. What makes a request goes
 * together with all that name it, but in between others may go: names are made anew.
 */
#include "analyze/match/match_point.h"
#include "archive/aggregation_format.h"
#include "archive/write/rewrite.h"
#include "archive/write/writer_like.h"
#include "base/grow.h"
#include "predict/equal_delays.h"
#include "predict/symbolic.h"
#include "refrain/completion.h"

#include <stdlib.h>

enum { LEAST_BYTES = 1 << 16, TERMS = 3, RUN_SHARE = 1000 };

struct aggregator {
    const struct rfn_archive *archive;
    const struct rfn_aggregate_options *options;
    struct rfn_call_groups groups;
    struct rfn_aggregation aggregation;
    size_t gaps_capacity;
    uint64_t events; /* that stay */
    struct rfn_writer *writer;
    struct rfn_tracker *tracker;
    struct rfn_volumes *volumes;
    struct rfn_diag *diag;
};

static int no_memory(const struct aggregator *aggregator)
{
    return rfn_fail(aggregator->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* ---- a stream ---- */

struct copying {
    struct aggregator *to;
    struct rfn_stream_info info;
    uint32_t stream, written; /* its number, and that of the writer's */
    const struct rfn_cursor *cursor;
    uint64_t *stayed; /* by request: of those that its stream made before, how many stay */
    size_t n_made, stayed_capacity;
    uint64_t n_stayed;
    uint64_t left_out, volume; /* since the last event that stayed */
    int64_t *words;            /* of a list */
    size_t words_capacity;
};

static int64_t new_request(const struct copying *copying, int64_t word)
{
    const uint64_t distance = (uint64_t)word >> 2;
    if ((word & 3) != RFN_REQUEST_RECENT || distance == 0 || distance > copying->n_made)
        return word;
    return rfn_request_word(
        RFN_REQUEST_RECENT,
        (int64_t)(copying->n_stayed - copying->stayed[copying->n_made - distance]));
}

/* A word in the writer's numbers. Of other threads' requests none is named: their processes stay as
 * they are. */
static int new_word(struct copying *copying, uint8_t kind, int64_t *word)
{
    const uint8_t element = kind & (uint8_t)~RFN_KIND_LIST;
    const bool list = kind != element || kind == RFN_KIND_STRING || kind == RFN_KIND_COMPLETIONS;
    size_t n;
    if (kind == RFN_KIND_REQUEST)
        *word = new_request(copying, *word);
    if (!list || *word <= 0)
        return 0;
    const int64_t *words = rfn_cursor_list(copying->cursor, *word, &n, element);
    RFN_TRY(RFN_GROW(copying->words, copying->words_capacity, n + 1));
    for (size_t i = 0; i < n; i++)
        copying->words[i] = element == RFN_KIND_REQUEST ? new_request(copying, words[i]) : words[i];
    *word = rfn_writer_list(copying->to->writer, copying->written, element, copying->words, n);
    return (int)rfn_least(*word, 0);
}

static int write_event(struct copying *copying, const struct rfn_record *record)
{
    const struct rfn_function_info *function = rfn_archive_function(copying->to->archive,
                                                                    record->function);
    int64_t in[RFN_PARAMS_MAX], out[RFN_PARAMS_MAX];
    struct rfn_record written = *record;
    for (unsigned i = 0; i < function->n_in; i++) {
        in[i] = record->in[i];
        RFN_TRY(new_word(copying, function->params[i].kind, &in[i]));
    }
    for (unsigned i = 0; i < function->n_out; i++) {
        out[i] = record->out[i];
        RFN_TRY(new_word(copying, function->params[function->n_in + i].kind, &out[i]));
    }
    written.in = in;
    written.out = out;
    written.volume_gap += (int64_t)copying->volume;
    return rfn_writer_event(copying->to->writer, copying->written, &written);
}

/* The gap in front of the event that is written next. */
static int add_gap(struct copying *copying, uint64_t event)
{
    struct aggregator *to = copying->to;
    struct rfn_aggregation *of = &to->aggregation;
    if (!copying->left_out)
        return 0;
    RFN_TRY(RFN_GROW(of->gaps, to->gaps_capacity, of->n_gaps + 1));
    of->gaps[of->n_gaps++] = (struct rfn_aggregated_gap){event, copying->left_out};
    of->streams[copying->stream].n++;
    copying->left_out = 0;
    return 0;
}

/* Requests that the event has made. */
static int count_requests(struct copying *copying, const struct rfn_record *record, bool goes)
{
    struct aggregator *to = copying->to;
    struct rfn_request_effects effects;
    if (!rfn_tracker_concerns(to->tracker, record->function))
        return 0;
    const struct rfn_volume volume = rfn_volume_of(to->volumes, copying->cursor, copying->info.rank,
                                                   record);
    RFN_TRY(rfn_tracker_event(to->tracker, copying->info.thread, copying->cursor, record, &volume,
                              false, &effects));
    const size_t n = (size_t)rfn_tracker_created(to->tracker, copying->info.thread);
    RFN_TRY(RFN_GROW(copying->stayed, copying->stayed_capacity, n));
    while (copying->n_made < n) {
        copying->stayed[copying->n_made++] = copying->n_stayed;
        copying->n_stayed += !goes;
    }
    return 0;
}

static int copy_event(struct copying *copying, const struct rfn_record *record, uint64_t *event)
{
    const struct rfn_call_groups *groups = &copying->to->groups;
    const bool goes = rfn_call_groups_goes(groups,
                                           rfn_call_number(groups, copying->stream, record->index));
    if (goes) {
        copying->left_out++;
        copying->volume += (uint64_t)record->volume_gap + (uint64_t)record->volume_inside;
    } else {
        RFN_TRY(add_gap(copying, *event));
        RFN_TRY(write_event(copying, record));
        copying->volume = 0;
        ++*event;
    }
    return count_requests(copying, record, goes);
}

static int copy_events(struct copying *copying)
{
    struct aggregator *to = copying->to;
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    uint64_t event = 0;
    int error = 0, more = 0;
    RFN_TRY(rfn_cursor_open(to->archive, copying->stream, &cursor, to->diag));
    copying->cursor = cursor;
    while (!error && (more = rfn_cursor_next(cursor, &record, to->diag)) > 0)
        error = rfn_rewrite_failed(copy_event(copying, record, &event), to->diag);
    rfn_cursor_close(cursor);
    to->events += event;
    return error ? error : more;
}

static int copy_stream(struct aggregator *aggregator, uint32_t stream)
{
    const struct rfn_archive *archive = aggregator->archive;
    struct copying copying = {
        .to = aggregator, .info = rfn_archive_stream(archive, stream), .stream = stream};
    const int64_t written = rfn_writer_stream(
        aggregator->writer, copying.info.rank, copying.info.thread,
        (uint32_t)rfn_stream_word(archive, RFN_WORD_HOST, stream), copying.info.volume);
    RFN_TRY((int)rfn_least(written, 0));
    copying.written = (uint32_t)written;
    rfn_tracker_reset(aggregator->tracker);
    const int error = copy_events(&copying);
    free(copying.stayed);
    free(copying.words);
    return error;
}

/* ---- what else the archive says ---- */

static int add_aggregation(struct aggregator *aggregator)
{
    const uint32_t n = aggregator->archive->n_streams;
    struct rfn_aggregation *of = &aggregator->aggregation;
    const struct rfn_aggregated_gap *gaps = of->gaps;
    struct rfn_rope payload = RFN_ROPE_INIT;
    for (uint32_t i = 0; i < n; i++) {
        of->streams[i].gaps = gaps;
        gaps += of->streams[i].n;
    }
    rfn_pack_aggregation(of, n, &payload.bytes);
    int error = rfn_rope_status(&payload);
    if (!error)
        error = rfn_writer_chunk(aggregator->writer, RFN_CHUNK_AGGREGATED, &payload);
    rfn_rope_release(&payload);
    return error < 0 ? rfn_rewrite_failed(error, aggregator->diag) : 0;
}

/* They are of all calls; functions and paths have the same numbers. */
static int keep_samples(struct aggregator *aggregator)
{
    const struct rfn_chunks *chunks = &aggregator->archive->chunks;
    const int64_t entry = rfn_chunks_find(chunks, RFN_CHUNK_SAMPLES, 0);
    struct rfn_rope kept = RFN_ROPE_INIT;
    struct rfn_payload payload;
    if (entry < 0 || !rfn_chunks_know(chunks, RFN_CHUNK_SAMPLES))
        return 0;
    RFN_TRY(rfn_chunks_load(chunks, &chunks->entries[entry], &payload, aggregator->diag));
    rfn_buf_bytes(&kept.bytes, payload.data, payload.size);
    int error = rfn_rope_status(&kept);
    if (!error)
        error = rfn_writer_chunk(aggregator->writer, RFN_CHUNK_SAMPLES, &kept);
    rfn_payload_release(&payload);
    rfn_rope_release(&kept);
    return rfn_rewrite_failed(error, aggregator->diag);
}

static int open_writer(struct aggregator *aggregator, const char *path, bool force)
{
    struct rfn_run run = *rfn_archive_run(aggregator->archive);
    run.merge_seconds = 0;
    run.merging = (struct rfn_run_merging){0};
    run.clustered = false;
    return rfn_writer_new_like(aggregator->archive, path, force, &run, &aggregator->writer,
                               aggregator->diag);
}

static int write_archive(struct aggregator *aggregator, uint64_t *bytes)
{
    const uint32_t n = aggregator->archive->n_streams;
    aggregator->aggregation.streams = calloc((size_t)n + 1, sizeof(struct rfn_aggregated_stream));
    aggregator->tracker = rfn_tracker_new(aggregator->archive);
    aggregator->volumes = rfn_volumes_new(aggregator->archive);
    if (!aggregator->aggregation.streams || !aggregator->tracker || !aggregator->volumes)
        return no_memory(aggregator);
    for (uint32_t i = 0; i < n; i++)
        RFN_TRY(copy_stream(aggregator, i));
    RFN_TRY(add_aggregation(aggregator));
    RFN_TRY(keep_samples(aggregator));
    struct rfn_writer *writer = aggregator->writer;
    aggregator->writer = NULL; /* closing releases it */
    return rfn_writer_close(writer, bytes);
}

/* ---- the whole ---- */

static int check_input(const struct aggregator *aggregator)
{
    const struct rfn_archive *archive = aggregator->archive;
    if (!rfn_archive_run(archive)->times)
        return rfn_fail(aggregator->diag, RFN_E_NOTFOUND, -1, -1,
                        "%s has no times to keep; record it with --time=full",
                        archive->chunks.path);
    if (archive->chunks.minor > RFN_FORMAT_MINOR)
        return rfn_fail(aggregator->diag, RFN_E_VERSION, -1, -1,
                        "%s was written by a later version of Refrain: reduce it with that version",
                        archive->chunks.path);
    if (archive->chunks.minor == 0)
        return rfn_fail(
            aggregator->diag, RFN_E_UNSUPPORTED, -1, -1,
            "%s was written by a version of Refrain that is too old; record the program again",
            archive->chunks.path);
    if (!archive->complete)
        return rfn_fail(aggregator->diag, archive->chunks.fault, -1, -1,
                        "%s: %s; predictions can be kept of a complete run only",
                        archive->chunks.path, archive->why);
    return 0;
}

static int read_input(struct aggregator *aggregator)
{
    struct rfn_aggregation *of = &aggregator->aggregation;
    const struct rfn_aggregate_options *options = aggregator->options;
    const struct rfn_run *run = rfn_archive_run(aggregator->archive);
    RFN_TRY(rfn_aggregation_read(aggregator->archive, of, aggregator->diag));
    if (of->any)
        return rfn_fail(aggregator->diag, RFN_E_UNSUPPORTED, -1, -1,
                        "%s has not all calls already (refrain reduce --keep-predictions): reduce "
                        "the full archive instead",
                        aggregator->archive->chunks.path);
    of->any = true;
    of->terms = options->terms ? options->terms : TERMS;
    if (of->terms > RFN_FORM_TERMS)
        return rfn_fail(aggregator->diag, RFN_E_RANGE, -1, -1, "forms have at most %d terms",
                        RFN_FORM_TERMS);
    of->events = 0;
    of->file_bytes = run->file_bytes;
    of->least_bytes = options->least_bytes < 0 ? LEAST_BYTES : options->least_bytes;
    for (uint32_t i = 0; i < run->streams; i++)
        of->events += rfn_archive_stream(aggregator->archive, i).events;
    return rfn_network_estimate(aggregator->archive, &of->network, &of->messages, aggregator->diag);
}

/* A thousandth of the run, unless it is told. */
static int find_least(struct aggregator *aggregator)
{
    struct rfn_aggregation *of = &aggregator->aggregation;
    const struct rfn_lane lane = {NULL, 0};
    struct rfn_prediction prediction;
    of->least_ns = aggregator->options->least_ns;
    if (of->least_ns >= 0)
        return 0;
    const struct rfn_predict_options options = {.network = &of->network, .lanes = &lane, .n = 1};
    RFN_TRY(rfn_predict(aggregator->archive, &options, &prediction, aggregator->diag));
    of->least_ns = rfn_most(prediction.recorded_ns / RUN_SHARE, 1);
    rfn_prediction_release(&prediction);
    return 0;
}

static int find_calls(struct aggregator *aggregator)
{
    struct rfn_call_groups *groups = &aggregator->groups;
    const struct rfn_archive *archive = aggregator->archive;
    int error = rfn_call_groups_init(groups, archive);
    if (!error)
        error = rfn_call_groups_read(groups, archive, aggregator->diag);
    if (error == RFN_E_RANGE)
        return rfn_fail(aggregator->diag, error, -1, -1, "there are too many events");
    RFN_TRY(rfn_rewrite_failed(error, aggregator->diag));
    return rfn_equal_delays_find(archive, groups, &aggregator->aggregation,
                                 aggregator->options->progress, aggregator->options->context,
                                 aggregator->diag);
}

static int run(struct aggregator *aggregator, const char *path, bool force, uint64_t *bytes)
{
    RFN_TRY(check_input(aggregator));
    RFN_TRY(read_input(aggregator));
    RFN_TRY(open_writer(aggregator, path, force));
    RFN_TRY(find_least(aggregator));
    RFN_TRY(find_calls(aggregator));
    return write_archive(aggregator, bytes);
}

int rfn_aggregate(const struct rfn_archive *archive, const struct rfn_aggregate_options *options,
                  const char *path, bool force, struct rfn_aggregate_result *result,
                  struct rfn_diag *diag)
{
    struct aggregator aggregator = {.archive = archive, .options = options, .diag = diag};
    uint64_t bytes = 0;
    const int error = run(&aggregator, path, force, &bytes);
    const struct rfn_aggregation *of = &aggregator.aggregation;
    *result = (struct rfn_aggregate_result){.least_ns = of->least_ns,
                                            .least_bytes = of->least_bytes,
                                            .events_before = of->events,
                                            .events = aggregator.events,
                                            .bytes_before = of->file_bytes,
                                            .bytes = bytes};
    if (aggregator.writer)
        rfn_writer_cancel(aggregator.writer);
    rfn_call_groups_release(&aggregator.groups);
    rfn_aggregation_release(&aggregator.aggregation);
    rfn_tracker_free(aggregator.tracker);
    rfn_volumes_free(aggregator.volumes);
    return error;
}
