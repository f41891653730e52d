/* finish.c - the end of recording, step by step.
 *
 * What a rank sends when it finalizes, in this order. "Up" is one message to its parent in a
 * binomial tree of all ranks, "down" one from there; rank 0, the root, sends no message up. The
 * parent of a rank is that number without its lowest bit (reduce/merge/exchange.h):
 *
 *     0 --- 1
 *     +---- 2 --- 3
 *     +---- 4 --- 5
 *           +---- 6 --- 7
 *
 *     step          messages        contents
 *     arrive        MPI_Barrier     nothing
 *     communicator  of MPI's own    MPI_Comm_create, then whether all ranks have it
 *     samples       to receivers    with --sample: announcements that are left, and how many there
 *                                   are (record/samples/announcements.c)
 *     windows       to and from one with --keep-predictions: the last two (keep/windows.h); then
 *                                   announcements, of which there are none
 *     clocks        down            whether they are compared; if so hosts, up and down, and round
 *                                   trips between nodes (clock_sync.h)
 *     survey        up, down        inputs in columns; streams, also those with long times; events;
 *                                   calls past the recorder; how long the rank waits
 *     wishes        down            rank 0's options, and whether times are reduced, in one word
 *     merge         down, up, down  hashes of what the parent has; definitions and digests that it
 *                                   lacks; their numbers (reduce/merge/merge.h)
 *     samples       up              with --sample: categories (gather_samples.h)
 *     left out      up              with --keep-predictions: where (gather_left_out.h)
 *     times         up, down        reduced ones: what became of them
 *                   down, up, down  with --across: how processes are compared; their times
 *                   up              reduced ones: how far they lie apart (share_times.c)
 *     tables        up              words that depend on the rank; structures and values that are
 *                                   stored once for alike ranks (cluster_gather.h)
 *     places        up, down        sizes of the parts of the file; its name, and offsets
 *     outcome       up, down        who failed, and why; whether the archive is whole
 *     parts         to rank 0       where a rank cannot open the file: every rank's part
 *
 * In code: rec_arrive; rec_exchange_open (not where ranks have merged before, online_merge.h), with
 * an MPI_Allreduce; rec_clock_sync_end; survey; learn_wishes; merge; rec_share_times;
 * rec_cluster_gather_collect; rec_output_write (places, outcome, parts). What goes from rank to
 * rank passes send_bytes or tell of exchange_mpi.c.
 *
 * A rank that has failed sends that it has, in each message's place, so nobody waits for it.
 */
#include "record/finish/finish_internal.h"

#include "archive/write/forced_parameters.h"
#include "base/arithmetic.h"
#include "record/core/attendance.h"
#include "record/core/clock_sync.h"
#include "record/core/exchange_mpi.h"
#include "record/core/job.h"
#include "record/core/launch_checks.h"
#include "record/core/message.h"
#include "record/core/options.h"
#include "record/core/past_calls.h"
#include "record/core/pause.h"
#include "record/core/run_identity.h"
#include "record/core/wait_warning.h"
#include "record/finish/checkpoint.h"
#include "record/finish/early_exit.h"
#include "record/finish/gather_left_out.h"
#include "record/finish/gather_samples.h"
#include "record/finish/online_merge.h"
#include "record/finish/varying_params_sync.h"
#include "record/keep/windows.h"
#include "record/limits/limits.h"
#include "record/regions/regions.h"
#include "record/samples/sampled_calls.h"
#include "reduce/segments/stream_reduction.h"
#include "refrain/shell_word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- arrive ---- */

static int64_t arrived_ns; /* when this process came to the end of MPI; 0: it has not */

static void code_ahead(struct rfn_stream *stream)
{
    const unsigned programs = rfn_arithmetic_begin();
    rfn_stream_code_ahead(stream);
    rfn_arithmetic_end(programs);
}

void rec_arrive(struct rec_call *call)
{
    struct rec_wait_warning warning;
    arrived_ns = rec_monotonic_ns();
    rec_pause_forbid();
    rec_usage_end();
    rec_close_to_threads();
    /* While others are still on their way. Only this thread's stream: others may be in use. */
    if (rec_this_stream && rec_state == REC_RECORDING && rec_options.write)
        code_ahead(rec_this_stream->events);
    rec_pause_allow();
    const bool placed = rec_job_learn(); /* the recorder may not have seen MPI_Init */
    const MPI_Comm all = placed ? rec_job_comm() : MPI_COMM_NULL;
    rec_wait_warning_begin(&warning, "reach the end of MPI");
    if (all != MPI_COMM_NULL)
        rec_mpi.MPI_Barrier(all);
    rec_wait_warning_end(&warning);
    rec_checkpoints_end();
    if (call) {
        rec_end(call, MPI_SUCCESS);
        rec_leave(call);
    }
}

/* ---- definitions ---- */

/* What this process has. */
static int describe(struct rec_finishing *finish)
{
    if (!finish->draft)
        RFN_TRY(rec_limits_end());
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        RFN_TRY(finish->draft ? rfn_stream_draft_begin(stream->events)
                              : rfn_stream_flush(stream->events));
    int error = rec_definitions_make(&finish->description, &finish->merge, rec_job_rank(),
                                     finish->alone);
    finish->definition_bytes = finish->merge.content_bytes;
    return error;
}

/* ---- survey ---- */

/* What online merges have sent is counted beside what the names of surveys say. */
enum {
    SURVEY_ONLINE_BYTES = RFN_SURVEY_LONG + 1,
    SURVEY_ONLINE_MESSAGES,
    SURVEY_PAST,
    SURVEY_CUT_PATHS,
    SURVEY_COUNTED
};

_Static_assert(SURVEY_COUNTED <= (int)RFN_SURVEY_COUNTS, "a survey counts too little");

enum { WAITED_UNIT = 100000 }; /* ns; a finer one would take more bytes of each message */

/* All ranks learn which inputs have moved, how many streams there are, and for how long the last
 * one to come has been here. */
static int survey(struct rec_finishing *finish, int error)
{
    const int64_t now = rec_monotonic_ns();
    struct rfn_run_online_merges *online = &finish->merging.online;
    *online = rec_online_merge_cost();
    struct rfn_survey survey = {.counts = {[RFN_SURVEY_STREAMS] = finish->description.n_streams,
                                           [SURVEY_ONLINE_BYTES] = online->bytes,
                                           [SURVEY_ONLINE_MESSAGES] = online->messages,
                                           [SURVEY_PAST] = rec_past_calls()},
                                .least = (arrived_ns ? now - arrived_ns : 0) / WAITED_UNIT};
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next) {
        survey.counts[RFN_SURVEY_EVENTS] += rfn_stream_events(stream->events);
        survey.counts[RFN_SURVEY_WRITES] += stream->journal.writes;
        survey.counts[RFN_SURVEY_WRITTEN] += rec_journal_written(&stream->journal);
        survey.counts[RFN_SURVEY_LONG] += rfn_stream_is_long(stream->events);
        survey.counts[SURVEY_CUT_PATHS] += stream->sites.cut.frames > 0;
    }
    error = rec_varying_params_survey(&finish->description, &survey, finish->exchange, error);
    finish->survey = (struct rec_surveyed){.first_stream = survey.before,
                                           .streams = survey.total[RFN_SURVEY_STREAMS],
                                           .events = survey.total[RFN_SURVEY_EVENTS],
                                           .writes = survey.total[RFN_SURVEY_WRITES],
                                           .written = survey.total[RFN_SURVEY_WRITTEN],
                                           .past = survey.total[SURVEY_PAST],
                                           .cut_paths = survey.total[SURVEY_CUT_PATHS]};
    finish->reduced.counts.long_streams = rec_options.keep_short ? survey.total[RFN_SURVEY_LONG]
                                                                 : 0;
    online->bytes = survey.total[SURVEY_ONLINE_BYTES];
    online->messages = survey.total[SURVEY_ONLINE_MESSAGES];
    finish->began = now - survey.least * WAITED_UNIT;
    for (struct rec_stream *stream = rec_streams; stream && !error; stream = stream->next)
        error = rfn_stream_settle(stream->events);
    return error;
}

/* ---- wishes: an archive has what rank 0 was asked for ---- */

static uint64_t volume_word(void)
{
    const char *volume = rec_options.volume;
    return volume ? rfn_hash_bytes(volume, strlen(volume)) >> REC_WISH_BITS : 0;
}

bool rec_finishing_compares(const struct rec_finishing *finish)
{
    return finish->wishes & REC_WANTS_ACROSS && !finish->alone;
}

unsigned rec_finishing_forced_roles(const struct rec_finishing *finish)
{
    return finish->alone ? 0 : rec_options.forced_roles;
}

/* All ranks learn them, those that have failed as well: which messages are to come depends on them.
 * An archive has times of all ranks, or of none; reduced ones of some only if it says how that was
 * done, by rank 0: after the survey, as it may keep times that are short on all ranks. */
static int learn_wishes(struct rec_finishing *finish, struct rec_archive_result *result, int error)
{
    const bool reduces = rec_options.segments &&
                         (!rec_options.keep_short || finish->reduced.counts.long_streams);
    finish->wishes = volume_word() << REC_WISH_BITS | (rec_options.write ? REC_WANTS_FILE : 0) |
                     (rec_options.times ? REC_WANTS_TIMES : 0) | (reduces ? REC_WANTS_REDUCED : 0) |
                     (reduces && rec_options.across ? REC_WANTS_ACROSS : 0) |
                     (rec_options.keeps && !result->full ? REC_WANTS_KEPT : 0);
    int told = rfn_exchange_tell(finish->exchange, &finish->wishes);
    error = error ? error : told;
    if (error)
        return error;
    if (rec_options.times != (bool)(finish->wishes & REC_WANTS_TIMES))
        return rec_archive_fail(
            result,
            "recorded with%s times (--time), and rank 0 with%s: give all ranks the same options",
            rec_options.times ? "" : "out", rec_options.times ? "out" : "");
    for (const struct rec_stream *stream = rec_streams; stream; stream = stream->next) {
        if (!(finish->wishes & REC_WANTS_REDUCED) && rfn_stream_is_long(stream->events))
            return rec_archive_fail(result,
                                    "recorded without --time=full, and rank 0 with it: give all "
                                    "ranks the same options");
    }
    return 0;
}

static void keep_volume(uint64_t word, int rank)
{
    if (word == volume_word())
        return;
    if (rec_options.volume)
        rec_message("rank %d recorded the volume %s, and rank 0 did not: it is left out; give all "
                    "ranks the same --volume",
                    rank, rec_options.volume);
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        rfn_stream_drop_volume(stream->events);
}

/* ---- merge ---- */

/* Digests of what a stream would write, with hashes in place of numbers. signing: what is left for
 * that. */
static int digest(struct rec_finishing *finish, size_t i, struct rfn_path_limits *signing)
{
    struct rec_stream_definitions *of = &finish->description.streams[i];
    struct rec_packed *packed = &finish->packed[i];
    struct rfn_stream_digests *digests = &packed->digests;
    if (finish->draft) {
        /* Which streams are equal is not looked for, as that takes reading what has left memory. */
        digests->structure.low = digests->content.low = digests->shape = i + 1;
        digests->signature = RFN_UNSIGNED;
        RFN_TRY(rfn_pack_values(of->stream->events, &packed->values));
        return rfn_merge_stream(&finish->merge, digests);
    }
    digests->signature = rfn_pack_signature(of->stream->events, signing);
    RFN_TRY(
        rfn_pack_structure_digests(of->stream->events, &of->refs, digests, &packed->loop_bytes));
    RFN_TRY(rfn_pack_values(of->stream->events, &packed->values));
    RFN_TRY(rfn_rope_hash128(&packed->values, 0, &digests->content));
    digests->content_bytes = rfn_rope_size(&packed->values);
    return rfn_merge_stream(&finish->merge, digests);
}

/* Of what --memory allows: structures, and values, that come to rank 0. */
enum { TOGETHER_SHARE = 16 };

/* Definitions, structures and values that are equal get one number. */
static int merge(struct rec_finishing *finish, int error)
{
    struct rfn_path_limits signing = rfn_signature_limits;
    const size_t n = finish->description.n_streams;
    finish->packed = calloc(n + 1, sizeof *finish->packed);
    if (!error && !finish->packed)
        error = RFN_E_NOMEM;
    for (size_t i = 0; i < n && !error; i++) {
        finish->packed[i].time_set = finish->survey.first_stream + i;
        error = digest(finish, i, &signing);
    }
    finish->merge.together = rec_options.cluster && !finish->draft
                                 ? rec_options.memory_bytes / TOGETHER_SHARE
                                 : 0;
    error = rfn_merge_run(&finish->merge, finish->exchange, error);
    return error ? error : rec_definitions_number(&finish->description, &finish->merge);
}

/* ---- pack ---- */

/* Of a stream that lacks times: a run of polls counts once. */
static struct rfn_pack_times once_each(const void *context, uint32_t number)
{
    static struct rfn_column once; /* one draft is made at a time */
    const struct rfn_symbol *symbol = rfn_stream_symbol(context, number);
    once = (struct rfn_column){.n = symbol->occurrences, .last = 1};
    return (struct rfn_pack_times){.polls = symbol->failed_poll ? &once : NULL};
}

static int pack_without_times(const struct rfn_stream *stream, struct rfn_rope *out)
{
    bool polls = false;
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++)
        polls |= rfn_stream_symbol(stream, i)->failed_poll;
    return polls ? rfn_pack_timing_of(NULL, NULL, 0, once_each, stream, rfn_stream_symbols(stream),
                                      false, out)
                 : 0;
}

/* The times that a stream writes; nothing if they are another's. What columns have not coded while
 * they grew, of each the last block, is coded here. */
static int pack_times(struct rec_finishing *finish, size_t i)
{
    const struct rfn_stream *stream = finish->description.streams[i].stream->events;
    struct rec_packed *packed = &finish->packed[i];
    const struct rfn_pack_pair pairs[] = {rec_finishing_pair(rec_start()),
                                          rec_finishing_pair(finish->end)};
    const struct rfn_pack_clock clock = {
        .kind = (uint8_t)rec_clock.kind, .pairs = pairs, .n_pairs = 2, .start = rec_start().quanta};
    if (packed->time_set != finish->survey.first_stream + i)
        return 0;
    const bool times = finish->wishes & REC_WANTS_TIMES;
    int error = rec_finishing_lacks_times(finish, stream)
                    ? pack_without_times(stream, &packed->timing)
                : rfn_stream_reduced(stream)
                    ? rfn_pack_reduced(stream, &clock, &packed->times, &packed->timing)
                    : rfn_pack_timing(stream, times ? &clock : NULL, &packed->timing);
    packed->timing_bytes = rfn_rope_size(&packed->timing);
    return error;
}

/* ---- tell ---- */

static void tell_journal(const struct rec_finishing *finish, const char *what)
{
    char bytes[32], writes[32];
    if (finish->survey.writes)
        rec_message("%s bytes in %s writes %s", rec_message_number(finish->survey.written, bytes),
                    rec_message_number(finish->survey.writes, writes), what);
}

/* What --memory had no room for. */
static void tell_cut_paths(uint64_t threads)
{
    if (threads)
        rec_message(
            "on %llu thread%s there were too many call paths: those first seen late in the run "
            "have only their innermost functions, %d at most (refrain info); --memory allows more",
            (unsigned long long)threads, threads == 1 ? "" : "s", REC_SITE_CUT);
}

/* Groups that came to rank 0, as small ones do. */
static uint64_t count_brought(const struct rfn_stream_class_bits *groups)
{
    uint64_t n = 0;
    for (size_t i = 0; i < groups->n; i++)
        n += (groups->items[i].fate.bits & RFN_KIND_TOGETHER) != 0;
    return n;
}

/* The archive says the first, too. What is equal in the groups of a shape is so by what a shape is;
 * what may differ there, and is not merged, is in VALUES. */
static void tell_forced(const struct rec_finishing *finish)
{
    char names[RFN_FORCED_TEXT];
    const struct rfn_stream_class_bits *groups = &finish->merge.streams.of[RFN_KIND_OF_GROUP];
    uint64_t n = finish->clustered.n, all = groups->total, brought = count_brought(groups);
    const char *why = n == brought ? "too large for clusters"
                                   : "too large for clusters, or clusters make the archive no "
                                     "smaller";
    if (!rec_finishing_forced_roles(finish))
        return;
    rfn_forced_roles_text(finish->clustered.merged, names);
    if (names[0])
        rec_message(
            "some parameters are those of the lowest rank of each cluster (%s), and messages "
            "may not match",
            names);
    else if (n)
        rec_message("no parameters were merged, as those of ranks with the same loops are equal; "
                    "lists, and what has more than 64 values on a rank, stay each rank's own");
    if (n && n < all)
        rec_message("of %llu of %llu groups no parameters were merged, as they are %s",
                    (unsigned long long)(all - n), (unsigned long long)all, why);
    if (!n && finish->clustered.error)
        rec_message("no parameters were merged: %s", rfn_error_text(finish->clustered.error));
    else if (!n)
        rec_message("no parameters were merged, as what ranks did is %s", why);
}

static void tell(const struct rec_finishing *finish, const struct rec_archive_result *result,
                 int error)
{
    const struct rec_reduced *reduced = &finish->reduced;
    const size_t length = rec_options.directory ? strlen(rec_options.directory) : 0;
    const char *path = result->path;
    char events[32], bytes[32], word[REC_MESSAGE];
    if (error) {
        rec_message("no archive was written: %s",
                    result->problem[0] ? result->problem : rfn_error_text(error));
        return;
    }
    if (length && strncmp(path, rec_options.directory, length) == 0 && path[length] == '/')
        path += length + 1;
    if (finish->alone)
        rec_message("rank %d %s; its own %s events, without those of other ranks: %s",
                    rec_job_rank(),
                    rec_is_world_replaced() ? "is in an MPI_COMM_WORLD that a layer between the "
                                              "program and MPI has replaced by a smaller one"
                                            : "called MPI_Abort",
                    rec_message_number(finish->survey.events, events), path);
    if (finish->alone || rec_options.quiet)
        return;
    rec_message("%d rank%s, %s events, %s bytes, merged in %.3f s with at most %llu KiB of memory "
                "on a rank; next: refrain report %s",
                finish->exchange->size, finish->exchange->size == 1 ? "" : "s",
                rec_message_number(finish->survey.events, events),
                rec_message_number(result->file_bytes, bytes),
                (double)(result->complete_ns - finish->began) * 1e-9,
                (unsigned long long)(result->peak_bytes + 1023) / 1024,
                rfn_shell_word(path, word, sizeof word));
    if (rec_job_is_limited())
        rec_message("the archive has the %d of %d ranks that were started under refrain record",
                    finish->exchange->size, rec_job_size());
    if (reduced->not_compared)
        rec_message("processes were not compared, and keep their own times: %s",
                    reduced->not_compared == RFN_E_EXCHANGE
                        ? "a rank could not"
                        : rfn_error_text(reduced->not_compared));
    if (reduced->not_spread)
        rec_message(
            "the archive does not tell how far reduced times differ from those measured: %s",
            reduced->not_spread == RFN_E_EXCHANGE ? "a rank failed to tell"
            : reduced->not_spread == RFN_E_NOMEM ? "not enough memory for so many different calls; "
                                                   "try a larger --memory"
                                                 : rfn_error_text(reduced->not_spread));
    tell_forced(finish);
    rec_past_calls_tell(finish->survey.past);
    rec_limits_tell();
    rec_launch_check_gaps(rec_job_size());
    tell_journal(finish, "went to a journal while the program ran: --memory allows more");
    tell_cut_paths(finish->survey.cut_paths);
}

/* ---- all of it ---- */

/* Merges and writes. */
static void write_run(struct rec_finishing *finish, struct rec_archive_result *result, int error)
{
    const bool first = finish->exchange->rank == 0;
    error = merge(finish, error);
    if (rec_sampling_is_on())
        error = rec_gather_samples(finish, &finish->samples, error);
    if (finish->wishes & REC_WANTS_KEPT)
        error = rec_gather_left_out(finish, &finish->left_out, error);
    if (finish->wishes & REC_WANTS_REDUCED)
        error = rec_share_times(finish, error);
    for (size_t i = 0; i < finish->description.n_streams && !error; i++)
        error = pack_times(finish, i);
    if (!error && first)
        error = rec_chunk_definitions(finish); /* while others make and send what follows */
    error = rec_cluster_gather_collect(finish, error);
    if (!error && first)
        error = rec_chunk_first(finish);
    if (!error)
        error = rec_chunk_streams(finish);
    if (!error && rec_sampling_is_on())
        error = rec_chunk_sample_columns(finish);
    error = rec_output_write(&finish->output, finish->exchange, error, result);
    result->failed = error < 0;
    if (first)
        tell(finish, result, error);
}

static void release(struct rec_finishing *finish)
{
    for (size_t i = 0; finish->packed && i < finish->description.n_streams; i++) {
        rfn_rope_release(&finish->packed[i].values);
        rfn_rope_release(&finish->packed[i].timing);
        rfn_new_times_release(&finish->packed[i].times);
    }
    free(finish->packed);
    rec_output_release(&finish->output);
    rec_output_release(&finish->front);
    rfn_buf_release(&finish->samples);
    rfn_buf_release(&finish->left_out);
    rec_cluster_gather_release(&finish->together);
    rec_definitions_release(&finish->description);
    rfn_merge_release(&finish->merge);
    rfn_spreads_release(&finish->reduced.spreads);
}

/* merge: with what has been merged so far; released. */
static void finish_run(struct rfn_exchange *exchange, const struct rfn_merge *merge,
                       const struct rfn_buf *clocks, struct rec_archive_result *result, int error)
{
    struct rec_finishing finish = {.exchange = exchange,
                                   .alone = result->alone,
                                   .clocks = clocks,
                                   .merge = *merge,
                                   .end = rec_clock_pair(),
                                   .left_out = RFN_BUF_INIT,
                                   .samples = RFN_BUF_INIT};
    char events[32];
    exchange->messages_sent = exchange->bytes_sent = 0; /* online merges count their own */
    result->failed = true;
    error = survey(&finish, error ? error : describe(&finish));
    error = learn_wishes(&finish, result, error);
    if (!error)
        keep_volume(finish.wishes >> REC_WISH_BITS, exchange->rank);
    if (finish.wishes & REC_WANTS_FILE) {
        write_run(&finish, result, error);
    } else if (!error && exchange->rank != 0) {
        result->failed = false;
    } else if (exchange->rank == 0) {
        result->failed = error < 0;
        rec_message("%s events; nothing was written (REFRAIN_WRITE=no)",
                    rec_message_number(finish.survey.events, events));
        tell_journal(&finish, "would have gone to a journal while the program ran");
    }
    release(&finish);
}

/* With --keep-predictions and --with-trace: each stream has its other events. */
static void exchange_events(void)
{
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next) {
        struct rfn_stream *events = stream->events;
        stream->events = stream->kept;
        stream->kept = events;
    }
}

/* The archive, and beside it that of all calls, if both are wanted. */
static void finish_runs(struct rfn_exchange *exchange, const struct rfn_merge *merge,
                        const struct rfn_buf *clocks, struct rec_archive_result *result, int error)
{
    if (rec_options.keep_both)
        exchange_events();
    finish_run(exchange, merge, clocks, result, error);
    if (rec_options.keep_both) {
        struct rec_archive_result full = {.alone = result->alone, .full = true};
        struct rfn_merge fresh;
        rfn_merge_init(&fresh);
        exchange_events();
        finish_run(exchange, &fresh, clocks, &full, error);
    }
    rec_sampling_release();
    rec_keep_release();
}

/* ---- a draft ---- */

/* Whether the times of all streams can be had. */
static bool has_times(void)
{
    bool reduced = false;
    for (const struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        reduced |= rfn_stream_reduced(stream->events) != NULL;
    return rec_options.times && !reduced;
}

static int draft(struct rec_finishing *finish)
{
    RFN_TRY(survey(finish, describe(finish)));
    finish->wishes = REC_WANTS_FILE | (has_times() ? REC_WANTS_TIMES : 0);
    RFN_TRY(merge(finish, 0));
    for (size_t i = 0; i < finish->description.n_streams; i++)
        RFN_TRY(pack_times(finish, i));
    RFN_TRY(rec_chunk_definitions(finish));
    RFN_TRY(rec_cluster_gather_collect(finish, 0));
    RFN_TRY(rec_chunk_first(finish));
    return rec_chunk_streams(finish);
}

int rec_finish_draft(struct rec_draft *out)
{
    struct rfn_exchange alone = {.size = 1};
    struct rec_finishing finish = {.exchange = &alone,
                                   .alone = true,
                                   .draft = true,
                                   .end = rec_clock_pair(),
                                   .output = {.draft = true},
                                   .front = {.draft = true},
                                   .left_out = RFN_BUF_INIT,
                                   .samples = RFN_BUF_INIT};
    rfn_merge_init(&finish.merge);
    int error = draft(&finish);
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        rfn_stream_draft_end(stream->events);
    *out = (struct rec_draft){.n_chunks = finish.output.n_entries,
                              .chunks = finish.output.bytes.bytes,
                              .realtime_ns = finish.end.realtime_ns,
                              .times_lost = rec_options.times && !has_times()};
    finish.output.bytes.bytes = (struct rfn_buf)RFN_BUF_INIT; /* it is the caller's now */
    release(&finish);
    return error;
}

/* A stream that may still hand over an event, or NULL. Threads may legally be in MPI_Initialized
 * and the like now, for a moment. One that is still in MPI then (the program is wrong, or has left
 * the call in a way that nobody could see) hands over nothing any more: its call is missing. */
static const struct rec_stream *busy_stream(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (const struct rec_stream *stream = rec_streams; stream; stream = stream->next) {
        const volatile bool *inside = &stream->inside;
        for (int i = 0; i < 100 && *inside && stream != rec_this_stream; i++)
            nanosleep(&moment, NULL);
        const uint32_t open = stream->open.function;
        if (*inside && !open)
            return stream;
        if (*inside)
            rec_message("rank %d: %s was left by a jump, or a thread is still in it: this call is "
                        "not in the archive",
                        rec_job_rank(), rec_functions[open - 1].name);
    }
    return NULL;
}

/* Whether no other thread is about to hand over an event: one that waits in MPI is not. */
static bool others_are_quiet(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (const struct rec_stream *stream = rec_streams; stream; stream = stream->next) {
        const volatile bool *inside = &stream->inside;
        for (int i = 0; i < 100 && *inside && !stream->open.function; i++)
            nanosleep(&moment, NULL);
        if (*inside && !stream->open.function)
            return false;
    }
    return true;
}

void rec_finish_alone(void)
{
    struct rfn_exchange alone = {.size = 1};
    struct rfn_merge merge;
    struct rec_archive_result result = {.alone = true};
    struct rec_signals signals;
    if (rec_state != REC_RECORDING || rec_job_rank() < 0)
        return;
    rec_checkpoints_end();
    rec_usage_end();
    rec_state = REC_FINISHED;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!others_are_quiet()) {
        rec_journals_end(false);
        return;
    }
    rec_signals_hold(&signals);
    const unsigned arithmetic = rfn_arithmetic_begin();
    rfn_merge_init(&merge);
    rec_sampling_end_alone();
    const int kept = rec_keep_end_alone();
    finish_runs(&alone, &merge, NULL, &result, kept);
    rec_journals_end(!result.failed);
    rec_attendance_end();
    rfn_arithmetic_end(arithmetic);
    rec_signals_release(&signals);
}

/* exchange: that of online merges, or NULL. */
static void finish_by_mpi(struct rec_exchange *exchange, const struct rfn_merge *merge,
                          struct rec_archive_result *result, int error)
{
    struct rec_exchange own;
    struct rfn_buf clocks;
    if (!exchange && rec_exchange_open(&own, false) == 0)
        exchange = &own;
    if (exchange && rec_options.keeps) {
        const int kept = rec_keep_end();
        error = error ? error : kept;
    }
    if (exchange && rec_messages_are_followed()) {
        const int sampled = rec_sampling_end();
        error = error ? error : sampled;
    }
    if (exchange) {
        rec_clock_sync_end(exchange, &clocks);
        finish_runs(&exchange->exchange, merge, &clocks, result, error);
        rfn_buf_release(&clocks);
        rec_exchange_close(exchange);
    } else {
        result->failed = true;
        if (rec_job_is_first())
            rec_message("no archive was written: MPI has no communicator left for the recorder");
    }
}

void rec_finish(void)
{
    struct rfn_merge merge;
    struct rec_exchange *exchange = rec_online_merge_end(&merge);
    struct rec_archive_result result = {0};
    struct rec_signals signals;
    bool stopped = rec_state == REC_STOPPED;
    rec_state = REC_FINISHED;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!rec_job_learn())
        return; /* MPI was never initialized: it will say so */
    rec_run_identity_make();
    const struct rec_stream *busy = stopped ? NULL : busy_stream();
    if (stopped)
        snprintf(result.problem, sizeof result.problem, "recording stopped: %s", rec_stop_reason());
    else if (busy)
        snprintf(result.problem, sizeof result.problem,
                 "a thread did not come out of the recorder in %s",
                 rec_functions[busy->call.function].name);
    rec_signals_hold(&signals);
    const unsigned arithmetic = rfn_arithmetic_begin();
    const int error = stopped || busy ? RFN_E_USAGE : 0;
    finish_by_mpi(exchange, &merge, &result, error);
    rec_journals_end(!result.failed);
    rec_attendance_end();
    rec_job_release();
    rfn_arithmetic_end(arithmetic);
    rec_signals_release(&signals);
}
