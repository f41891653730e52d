#include "archive/merge/merge_internal.h"
#include "archive/write/rewrite_facts.h"
#include "reduce/clusters/path_signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- which streams ---- */

static bool keeps(const struct rfn_rank_choice *choice, uint32_t rank)
{
    return !choice || choice->keeps(choice->context, rank);
}

static uint32_t rank_of(const struct rfn_archive *archive, uint32_t stream)
{
    return (uint32_t)rfn_stream_word(archive, RFN_WORD_RANK, stream);
}

static int compare_inputs(const void *left, const void *right)
{
    const struct rfn_archive_merge_input *a = left, *b = right;
    return a->lowest_rank < b->lowest_rank ? -1 : a->lowest_rank > b->lowest_rank;
}

/* Archives of which nothing is kept are not looked at any more. */
static int list_inputs(struct rfn_archive_merge *joining, const struct rfn_archive *const *archives,
                       size_t n, const struct rfn_rank_choice *choice)
{
    uint64_t n_streams = 0;
    joining->inputs = calloc(n + 1, sizeof *joining->inputs);
    if (!joining->inputs)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        struct rfn_archive_merge_input *input = &joining->inputs[joining->n_inputs];
        uint32_t kept = 0;
        for (uint32_t k = archives[i]->n_streams; k-- > 0;) {
            uint32_t rank = rank_of(archives[i], k);
            if (!keeps(choice, rank))
                continue;
            kept++;
            input->lowest_rank = rank; /* ranks ascend */
        }
        n_streams += kept;
        input->archive = archives[i];
        joining->n_inputs += kept > 0;
    }
    if (n_streams == 0)
        return rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1, "%s: it has none of these ranks",
                        archives[0]->chunks.path);
    if (n_streams >= RFN_JOIN_NONE)
        return rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archives have too many ranks and threads together");
    qsort(joining->inputs, joining->n_inputs, sizeof *joining->inputs, compare_inputs);
    joining->n_streams = (uint32_t)n_streams;
    return 0;
}

static int compare_streams(const void *left, const void *right)
{
    const struct rfn_archive_merge_stream *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->input != b->input)
        return a->input < b->input ? -1 : 1;
    return a->stream < b->stream ? -1 : a->stream > b->stream; /* threads ascend */
}

/* Lists those that are kept, and gives each input their new numbers by old ones. */
static int list_streams(struct rfn_archive_merge *joining, const struct rfn_rank_choice *choice)
{
    uint32_t n = 0;
    joining->streams = calloc(joining->n_streams + (size_t)1, sizeof *joining->streams);
    if (!joining->streams)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < joining->n_inputs; i++) {
        struct rfn_archive_merge_input *input = &joining->inputs[i];
        const uint32_t n_all = input->archive->n_streams;
        input->streams = malloc((n_all + (size_t)1) * sizeof *input->streams);
        if (!input->streams)
            return RFN_E_NOMEM;
        for (uint32_t k = 0; k < n_all; k++) {
            uint32_t rank = rank_of(input->archive, k);
            input->streams[k] = RFN_JOIN_NONE;
            if (keeps(choice, rank))
                joining->streams[n++] = (struct rfn_archive_merge_stream){
                    .input = i, .stream = k, .rank = rank};
        }
    }
    qsort(joining->streams, n, sizeof *joining->streams, compare_streams);
    for (uint32_t i = 0; i < n; i++) {
        const struct rfn_archive_merge_stream *stream = &joining->streams[i];
        joining->inputs[stream->input].streams[stream->stream] = i;
        if (i > 0 && stream->rank == stream[-1].rank && stream->input != stream[-1].input)
            return rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, (int)stream->rank,
                            "rank %u is in two archives: %s and %s", stream->rank,
                            rfn_archive_merge_archive(joining, i - 1)->chunks.path,
                            rfn_archive_merge_archive(joining, i)->chunks.path);
    }
    return 0;
}

/* ---- DEFINITIONS ---- */

/* DEFINITIONS are read a second time here; what else was read refers to what they were then. */
static int unpack_definitions(struct rfn_archive_merge *joining,
                              struct rfn_archive_merge_input *input)
{
    const struct rfn_chunks *chunks = &input->archive->chunks;
    const struct rfn_dictionary *opened = &input->archive->dictionary;
    const uint32_t n[RFN_DEFINITION_KINDS] = {[RFN_DEFINITION_MODULE] = opened->n_modules,
                                              [RFN_DEFINITION_PATH] = opened->n_paths,
                                              [RFN_DEFINITION_FUNCTION] = opened->n_functions,
                                              [RFN_DEFINITION_DATATYPE] = opened->n_datatypes,
                                              [RFN_DEFINITION_COMM] = opened->n_comms,
                                              [RFN_DEFINITION_HOST] = opened->n_hosts,
                                              [RFN_DEFINITION_REGION] = opened->n_regions};
    int64_t entry = rfn_chunks_find(chunks, RFN_CHUNK_DEFINITIONS, 0);
    struct rfn_payload payload;
    bool same = true;
    RFN_TRY(rfn_chunks_load(chunks, &chunks->entries[entry], &payload, joining->diag));
    int error = rfn_unpack_definitions(payload.data, payload.size, &joining->merge,
                                       &joining->sources, &input->definitions);
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++)
        same &= input->definitions.kinds[k].n == n[k];
    if (error == RFN_E_CORRUPT)
        error = rfn_payload_fail(&payload, error, "its tables are malformed", joining->diag);
    else if (!error && !same)
        error = rfn_payload_fail(&payload, RFN_E_CORRUPT, "it has changed since it was opened",
                                 joining->diag);
    else if (error == RFN_E_EXCHANGE)
        error = rfn_fail(joining->diag, RFN_E_UNSUPPORTED, -1, -1,
                         "%s and %s are not of one run: a communicator or region is not the same",
                         joining->inputs->archive->chunks.path, chunks->path);
    rfn_payload_release(&payload);
    return error;
}

static int add_definitions(struct rfn_archive_merge *joining)
{
    const struct rfn_source_finder finder = {&joining->sources, rfn_known_sources_find,
                                             rfn_known_sources_calls};
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = joining->symbolizer
                    ? rfn_pack_definitions(&joining->merge, joining->symbolizer, &payload.bytes)
                    : rfn_pack_known_definitions(&joining->merge, &finder, &payload.bytes);
    if (!error)
        error = rfn_rewrite_add(&joining->rewrite, RFN_CHUNK_DEFINITIONS, 0, &payload);
    rfn_rope_release(&payload);
    return error;
}

/* ---- STREAMS ---- */

/* Streams of a value set have one signature, which one of them having it is enough for. Where
 * archives have several for one set they were not made alike: none of them can be compared with
 * those of other archives, and no stream has one. */
static int join_signatures(struct rfn_archive_merge *joining)
{
    size_t n = joining->merge.streams.of[RFN_KIND_OF_VALUES].n;
    joining->signatures = rfn_stream_classes_signatures(&joining->merge.streams);
    if (!joining->signatures)
        return RFN_E_NOMEM;
    bool alike = true;
    for (uint32_t i = 0; i < joining->n_streams && alike; i++) {
        const struct rfn_archive_merge_stream *stream = &joining->streams[i];
        uint64_t old = (uint64_t)rfn_stream_word(rfn_archive_merge_archive(joining, i),
                                                 RFN_WORD_SIGNATURE, stream->stream);
        alike = old == RFN_UNSIGNED || old == joining->signatures[stream->set];
    }
    for (size_t set = 0; set < n && !alike; set++)
        joining->signatures[set] = RFN_UNSIGNED;
    return 0;
}

static int64_t word_of(const void *context, enum rfn_stream_word word, uint32_t number)
{
    const struct rfn_archive_merge *joining = context;
    const struct rfn_archive_merge_together *together = &joining->together;
    const struct rfn_archive_merge_stream *stream = &joining->streams[number];
    const struct rfn_archive_merge_input *input = &joining->inputs[stream->input];
    int64_t old = rfn_stream_word(input->archive, word, stream->stream);
    switch (word) {
    case RFN_WORD_GROUP:
        return together->smaller ? together->plan.groups[stream->group] : stream->group;
    case RFN_WORD_VALUES:
        return together->smaller ? together->plan.sets[stream->set] : stream->set;
    case RFN_WORD_SIGNATURE:
        return (int64_t)joining->signatures[stream->set];
    case RFN_WORD_TIMES:
        return rfn_archive_merge_time_set(joining, number);
    case RFN_WORD_HOST:
        return rfn_archive_merge_number(joining, input, RFN_DEFINITION_HOST, (uint64_t)old);
    default:
        return old;
    }
}

int rfn_archive_merge_add_streams(struct rfn_archive_merge *joining, struct rfn_rewrite *rewrite)
{
    return rfn_rewrite_add_streams(rewrite, joining->n_streams, word_of, joining);
}

/* ---- META ---- */

static const struct rfn_run_reduction *reduction_of(const struct rfn_archive_merge_input *input)
{
    return &rfn_archive_run(input->archive)->reduction;
}

/* Whether another part of the same archive was counted before: both speak of more streams than are
 * here, and say the same of them. */
static bool is_counted(const struct rfn_archive_merge *joining, size_t i)
{
    const struct rfn_archive_merge_input *input = &joining->inputs[i];
    const struct rfn_run_reduction *a = reduction_of(input);
    for (size_t k = 0; k < i && a->streams > input->archive->n_streams; k++) {
        const struct rfn_run_reduction *b = reduction_of(&joining->inputs[k]);
        if (b->streams > joining->inputs[k].archive->n_streams && a->executions == b->executions &&
            a->kinds == b->kinds && a->representatives == b->representatives &&
            a->corrections == b->corrections && a->streams == b->streams &&
            a->classes == b->classes)
            return true;
    }
    return false;
}

static struct rfn_run_reduction sum_reductions(const struct rfn_archive_merge *joining)
{
    const struct rfn_run_reduction *first = reduction_of(joining->inputs);
    struct rfn_run_reduction sum = {.min_calls = first->min_calls,
                                    .exact_starts = first->exact_starts};
    for (size_t i = 0; i < joining->n_inputs; i++) {
        const struct rfn_run_reduction *more = reduction_of(&joining->inputs[i]);
        if (is_counted(joining, i))
            continue;
        sum.executions += more->executions;
        sum.kinds += more->kinds;
        sum.representatives += more->representatives;
        sum.corrections += more->corrections;
        sum.streams += more->streams;
        sum.classes += more->classes;
        sum.widened += more->widened;
        sum.full_bytes += more->full_bytes;
        sum.long_streams += more->long_streams;
    }
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        const struct rfn_archive_merge_stream *stream = &joining->streams[i];
        sum.time_sets += rfn_archive_merge_time_set(joining, i) == i &&
                         rfn_reduced_timing_find(rfn_archive_merge_archive(joining, i),
                                                 stream->stream) >= 0;
    }
    return sum;
}

/* Of an archive that is whole nothing is added. */
static void add_recovery(const struct rfn_run_recovery *more, struct rfn_run_recovery *all)
{
    if (!more->recovered)
        return;
    if (!all->recovered)
        *all = *more;
    all->first_ns = more->first_ns < all->first_ns ? more->first_ns : all->first_ns;
    all->last_ns = more->last_ns > all->last_ns ? more->last_ns : all->last_ns;
}

/* What merging the ranks moved is known of each file alone; of times to merge, the longest counts.
 */
int rfn_archive_merge_add_meta(struct rfn_archive_merge *joining, struct rfn_rewrite *rewrite)
{
    struct rfn_run run = *rfn_archive_run(joining->inputs->archive);
    for (size_t i = 0; i < joining->n_inputs; i++) {
        double its = rfn_archive_run(joining->inputs[i].archive)->merge_seconds;
        run.merge_seconds = its > run.merge_seconds ? its : run.merge_seconds;
        run.limits = run.limits ? run.limits : rfn_archive_run(joining->inputs[i].archive)->limits;
        add_recovery(&rfn_archive_run(joining->inputs[i].archive)->recovered, &run.recovered);
    }
    run.reduction = sum_reductions(joining);
    run.merging = (struct rfn_run_merging){0};
    run.clustered = joining->cluster && !joining->together.smaller;
    return rfn_rewrite_add_meta(rewrite, &run);
}

/* ---- the file ---- */

static int write_file(struct rfn_archive_merge *joining, const char *path, bool force,
                      uint64_t *bytes)
{
    RFN_TRY(rfn_rewrite_init(&joining->rewrite, joining->inputs->archive));
    for (size_t i = 0; i < joining->n_inputs; i++)
        RFN_TRY(rfn_rewrite_check_other(joining->inputs[i].archive, path, joining->diag));
    RFN_TRY(rfn_rewrite_check(&joining->rewrite, path, force, joining->diag));
    for (size_t i = 0; i < joining->n_inputs; i++)
        RFN_TRY(unpack_definitions(joining, &joining->inputs[i]));
    RFN_TRY(rfn_archive_merge_groups(joining));
    RFN_TRY(join_signatures(joining));
    RFN_TRY(rfn_archive_merge_time_sets(joining));
    RFN_TRY(add_definitions(joining));
    RFN_TRY(rfn_archive_merge_add_clocks(joining));
    RFN_TRY(rfn_archive_merge_add_rank_params(joining));
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        RFN_TRY(rfn_archive_merge_add_parts(joining, i));
        RFN_TRY(rfn_archive_merge_add_times(joining, i));
    }
    RFN_TRY(rfn_rewrite_add_gathered(&joining->rewrite, &joining->gathered));
    RFN_TRY(rfn_archive_merge_add_usage(joining));
    RFN_TRY(rfn_archive_merge_add_open(joining));
    if (joining->cluster)
        RFN_TRY(rfn_archive_merge_cluster(joining));
    /* They stand before the others nevertheless (rewrite.h). */
    RFN_TRY(rfn_archive_merge_add_streams(joining, &joining->rewrite));
    RFN_TRY(rfn_archive_merge_add_meta(joining, &joining->rewrite));
    return rfn_rewrite_write(&joining->rewrite, path, force, bytes, joining->diag);
}

/* ---- what became of it ---- */

/* Ranks from..end - 1 are not there. */
static void tell_missing(struct rfn_merge_result *result, uint32_t from, uint32_t end)
{
    enum { DOTS = 6 }; /* ", ..." */
    size_t at = strlen(result->missing_ranks), room = sizeof result->missing_ranks - at;
    char text[32];
    if (from >= end)
        return;
    result->missing += end - from;
    if (end - from == 1)
        snprintf(text, sizeof text, "%s%" PRIu32, at ? ", " : "", from);
    else
        snprintf(text, sizeof text, "%s%" PRIu32 "-%" PRIu32, at ? ", " : "", from, end - 1);
    if (strlen(text) + DOTS < room)
        memcpy(result->missing_ranks + at, text, strlen(text) + 1);
    else if (room >= DOTS && (at < 3 || strcmp(result->missing_ranks + at - 3, "...") != 0))
        memcpy(result->missing_ranks + at, ", ...", DOTS);
}

static void tell(const struct rfn_archive_merge *joining, struct rfn_merge_result *result)
{
    uint32_t next = 0;
    result->ranks = rfn_archive_run(joining->inputs->archive)->ranks;
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        const struct rfn_archive_merge_stream *stream = &joining->streams[i];
        tell_missing(result, next, stream->rank);
        next = stream->rank + 1;
        result->events += (uint64_t)rfn_stream_word(joining->inputs[stream->input].archive,
                                                    RFN_WORD_EVENTS, stream->stream);
    }
    tell_missing(result, next, result->ranks);
    result->clustered = joining->together.smaller;
    for (size_t i = 0; i < joining->n_inputs; i++) {
        const struct rfn_chunks *chunks = &joining->inputs[i].archive->chunks;
        result->bytes_before += chunks->file_bytes;
        result->samples_left_out |= rfn_chunks_know(chunks, RFN_CHUNK_SAMPLES) &&
                                    rfn_chunks_find(chunks, RFN_CHUNK_SAMPLES, 0) >= 0;
    }
}

static void release(struct rfn_archive_merge *joining)
{
    for (size_t i = 0; i < joining->n_inputs; i++) {
        struct rfn_archive_merge_input *input = &joining->inputs[i];
        rfn_unpacked_release(&input->definitions);
        free(input->structures);
        free(input->values);
        free(input->streams);
        free(input->time_sets);
        free(input->written);
    }
    free(joining->inputs);
    free(joining->streams);
    free(joining->signatures);
    rfn_gathered_release(&joining->gathered);
    rfn_rewrite_release(&joining->rewrite);
    rfn_archive_merge_together_release(&joining->together);
    rfn_map_release(&joining->known_times);
    rfn_known_sources_release(&joining->sources);
    rfn_merge_release(&joining->merge);
}

int rfn_archive_merge_archives(const struct rfn_archive *const *archives, size_t n,
                               const struct rfn_archive_merge_options *options, const char *path,
                               bool force, struct rfn_merge_result *result, struct rfn_diag *diag)
{
    struct rfn_archive_merge joining = {.cluster = options->cluster,
                                        .finder = options->finder,
                                        .symbolizer = options->symbolizer,
                                        .diag = diag};
    *result = (struct rfn_merge_result){0};
    rfn_merge_init(&joining.merge);
    int error = list_inputs(&joining, archives, n, options->choice);
    if (!error)
        error = rfn_archive_merge_check(&joining);
    if (!error)
        error = list_streams(&joining, options->choice);
    if (!error)
        error = write_file(&joining, path, force, &result->bytes);
    if (!error)
        tell(&joining, result);
    release(&joining);
    return rfn_rewrite_failed(error, diag);
}
