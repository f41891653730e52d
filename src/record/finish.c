#include "record/finishing.h"

#include "archive/forced_parameters.h"
#include "record/across.h"
#include "record/clock_sync.h"
#include "record/exchange_mpi.h"
#include "record/meetings.h"
#include "record/moved_inputs.h"
#include "record/notice.h"
#include "record/options.h"
#include "record/place.h"
#include "record/regions.h"
#include "record/say.h"
#include "reduce/stream_reduction.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool rec_is_first_rank(void)
{
    return rec_place_rank() == 0;
}

void rec_initialized(void)
{
    int provided = MPI_THREAD_SINGLE; /* the user may have asked MPI for more than the program */
    rec_mpi.MPI_Query_thread(&provided);
    if (provided == MPI_THREAD_MULTIPLE)
        rec_threads_multiple = true;
    rec_place_learn();
    rec_clock_sync_start();
    rec_meetings_start();
}

void rec_initialized_session(void)
{
    static bool first = true;
    if (!__atomic_exchange_n(&first, false, __ATOMIC_ACQ_REL))
        return;
    rec_threads_multiple = true; /* a session may allow what the world does not: be prepared */
    rec_place_learn();
}

/* ---- options: an archive has what rank 0 was asked for ---- */

static uint64_t volume_word(void)
{
    const char *volume = rec_options.volume;
    return volume ? rfn_hash_bytes(volume, strlen(volume)) >> WISH_BITS : 0;
}

static uint64_t own_wishes(void)
{
    uint64_t wishes = volume_word() << WISH_BITS;
    wishes |= (rec_options.write ? WANTS_FILE : 0) | (rec_options.times ? WANTS_TIMES : 0);
    if (rec_options.segments)
        wishes |= WANTS_REDUCED | (rec_options.across ? WANTS_ACROSS : 0);
    return wishes;
}

static void keep_volume(uint64_t word, int rank)
{
    if (word == volume_word())
        return;
    if (rec_options.volume)
        rec_say("rank %d recorded the volume %s, and rank 0 not: it is left out", rank,
                rec_options.volume);
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        rfn_stream_drop_volume(stream->events);
}

unsigned rec_finishing_forced_roles(const struct rec_finishing *finish)
{
    return finish->alone ? 0 : rec_options.forced_roles;
}

void rec_finishing_count_sent(struct rec_finishing *finish, enum rfn_merging_step step)
{
    const struct rfn_sent now = {finish->exchange->bytes_sent, finish->exchange->messages_sent};
    struct rfn_sent *sent = &finish->merging.step_sent[step];
    sent->bytes += now.bytes - finish->sent.bytes;
    sent->messages += now.messages - finish->sent.messages;
    finish->sent = now;
}

void rec_finishing_end_step(struct rec_finishing *finish, enum rfn_merging_step step)
{
    rec_finishing_count_sent(finish, step);
    int64_t now = rec_monotonic_ns();
    finish->merging.step_ns[step] += (uint64_t)(now - finish->step_began);
    finish->step_began = now;
}

/* What meetings before have sent is counted beside what the names of surveys say. */
enum { SURVEY_MET_BYTES = RFN_SURVEY_WRITTEN + 1, SURVEY_MET_MESSAGES, SURVEY_COUNTED };

_Static_assert(SURVEY_COUNTED <= (int)RFN_SURVEY_COUNTS, "a survey counts too little");

static void count_stream(const struct rec_stream *stream, uint64_t *counts)
{
    counts[RFN_SURVEY_EVENTS] += rfn_stream_events(stream->events);
    counts[RFN_SURVEY_WRITES] += stream->journal.writes;
    counts[RFN_SURVEY_WRITTEN] += stream->journal.size;
}

/* What this process has. */
static int describe(struct rec_finishing *finish)
{
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        RFN_TRY(rfn_stream_flush(stream->events));
    int error = rec_describe(&finish->description, &finish->merge, rec_place_rank(), finish->alone);
    finish->definition_bytes = finish->merge.content_bytes;
    return error;
}

/* ---- step 1: what rank 0 wants, who has how much ---- */

/* An archive has times of all ranks, or of none; reduced ones of some only if it says how that was
 * done, by rank 0. */
static int check_times(const struct rec_finishing *finish, struct rec_archive_result *result)
{
    if (rec_options.times != (bool)(finish->wishes & WANTS_TIMES))
        return rec_archive_fail(result, "recorded with%s times (--time), and rank 0 with%s",
                                rec_options.times ? "" : "out", rec_options.times ? "out" : "");
    if (rec_options.times && rec_options.segments && !finish->reduced)
        return rec_archive_fail(result,
                                "recorded without --time=full, and rank 0 with it: give all "
                                "ranks the same options");
    return 0;
}

/* All ranks learn it, those that have failed as well: which messages are to come depends on it. */
static int learn_wishes(struct rec_finishing *finish, struct rec_archive_result *result, int error)
{
    finish->wishes = own_wishes();
    int told = rfn_exchange_tell(finish->exchange, &finish->wishes);
    finish->reduced = finish->wishes & WANTS_REDUCED;
    finish->across = finish->wishes & WANTS_ACROSS && !finish->alone;
    error = error ? error : told;
    return error ? error : check_times(finish, result);
}

enum { WAITED_UNIT = 100000 }; /* ns; a finer one would take more bytes of each message */

/* All ranks learn which inputs have moved, how many streams there are, and for how long the last
 * one to come has been here. */
static int survey(struct rec_finishing *finish, int error)
{
    struct rec_description *description = &finish->description;
    struct rfn_survey survey = {.counts[RFN_SURVEY_STREAMS] = description->n_streams,
                                .least = (finish->step_began - finish->began) / WAITED_UNIT};
    finish->merging.before = rec_meetings_cost();
    survey.counts[SURVEY_MET_BYTES] = finish->merging.before.bytes;
    survey.counts[SURVEY_MET_MESSAGES] = finish->merging.before.messages;
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        count_stream(stream, survey.counts);
    error = rec_moved_survey(description, &survey, finish->exchange, error);
    finish->first_stream = survey.before;
    finish->n_streams = survey.total[RFN_SURVEY_STREAMS];
    finish->events = survey.total[RFN_SURVEY_EVENTS];
    finish->writes = survey.total[RFN_SURVEY_WRITES];
    finish->written = survey.total[RFN_SURVEY_WRITTEN];
    finish->merging.before.bytes = survey.total[SURVEY_MET_BYTES];
    finish->merging.before.messages = survey.total[SURVEY_MET_MESSAGES];
    finish->began = finish->step_began = finish->step_began - survey.least * WAITED_UNIT;
    for (struct rec_stream *stream = rec_streams; stream && !error; stream = stream->next)
        error = rfn_stream_settle(stream->events);
    rec_finishing_end_step(finish, RFN_MERGING_SURVEY);
    return error;
}

/* ---- times that are reduced ---- */

enum { EXECUTIONS, KINDS, REPRESENTATIVES, CORRECTIONS, WIDENED, REDUCED_STREAMS };

_Static_assert(REDUCED_STREAMS < (int)RFN_SURVEY_COUNTS, "a survey counts too little");

/* All that is left of their times. */
static int reduce_times(int error)
{
    for (struct rec_stream *stream = rec_streams; stream && !error; stream = stream->next)
        error = rfn_stream_reduce(stream->events);
    return error;
}

static struct rfn_hash128 class_of(const struct rec_finishing *finish, size_t i)
{
    const struct rfn_stream *stream = finish->description.streams[i].stream->events;
    return rfn_time_class(rfn_stream_reduction_profile(rfn_stream_reduced(stream)),
                          rfn_stream_fate(&finish->merge.streams, i, RFN_KIND_OF_GROUP).number,
                          rfn_stream_has_volume(stream));
}

static int count_reduction(const struct rec_finishing *finish, size_t i, struct rfn_survey *survey)
{
    const struct rfn_stream_reduction *reduction = rfn_stream_reduced(
        finish->description.streams[i].stream->events);
    if (!reduction)
        return 0;
    struct rfn_stream_profile_stats stats = rfn_stream_profile_stats(
        rfn_stream_reduction_profile(reduction));
    survey->counts[EXECUTIONS] += stats.executions;
    survey->counts[KINDS] += stats.kinds;
    survey->counts[REPRESENTATIVES] += stats.representatives;
    survey->counts[CORRECTIONS] += stats.corrections;
    survey->counts[WIDENED] += stats.widened;
    survey->counts[REDUCED_STREAMS]++;
    return rfn_survey_add(survey->set, class_of(finish, i).low);
}

static void note_reduction(struct rec_finishing *finish, const struct rfn_survey *survey)
{
    finish->reduction = (struct rfn_run_reduction){
        .executions = survey->total[EXECUTIONS],
        .kinds = survey->total[KINDS],
        .representatives = survey->total[REPRESENTATIVES],
        .corrections = survey->total[CORRECTIONS],
        .widened = survey->total[WIDENED],
        .streams = survey->total[REDUCED_STREAMS],
        .time_sets = survey->total[REDUCED_STREAMS],
        .classes = survey->set->n,
        .min_calls = rec_options.segment_min_calls,
        .exact_starts = rec_options.exact_starts,
    };
}

static void hand_over(struct rec_finishing *finish, struct rec_across *across,
                      const struct rfn_survey *survey)
{
    for (size_t i = 0; i < finish->description.n_streams; i++) {
        const struct rfn_stream *stream = finish->description.streams[i].stream->events;
        if (!rfn_stream_reduced(stream))
            continue;
        struct rfn_hash128 class_ = class_of(finish, i);
        const uint64_t *often = rfn_map_get(survey->set, class_.low);
        rec_across_stream(across, stream, finish->first_stream + i, class_, often && *often > 1,
                          survey->least);
    }
}

/* Which streams share times. What fails here costs nothing but that they do not. error: the
 * recording has failed; then only so that nobody waits. */
static void compare_processes(struct rec_finishing *finish, struct rec_across *across,
                              const struct rfn_survey *survey, int error)
{
    if (error)
        across->error = error;
    else
        hand_over(finish, across, survey);
    finish->not_compared = rec_across_run(across);
    if (finish->not_compared)
        return;
    finish->reduction.time_sets = across->groups.n_sets;
    for (size_t i = 0; i < finish->description.n_streams; i++)
        finish->packed[i].time_set = rec_across_of(across, finish->first_stream + i);
}

/* All ranks learn what became of all times. After number_kinds. */
static int survey_times(struct rec_finishing *finish, int error)
{
    struct rfn_map classes = RFN_MAP_INIT;
    struct rfn_survey survey = {.set = &classes, .set_for_first = !finish->across};
    struct rec_across across = {0};
    if (!finish->reduced)
        return error;
    if (finish->across)
        rec_across_begin(&across, finish->exchange, finish->clocks);
    survey.least = across.start_ns;
    for (size_t i = 0; i < finish->description.n_streams && !error; i++)
        error = count_reduction(finish, i, &survey);
    error = rfn_survey_run(&survey, finish->exchange, error);
    note_reduction(finish, &survey);
    if (finish->across)
        compare_processes(finish, &across, &survey, error);
    rec_across_release(&across);
    rfn_map_release(&classes);
    return error;
}

/* ---- how far times lie apart ---- */

enum { SPREADS_SHARE = 8 }; /* of what --memory allows */

static int add_spread(struct rec_finishing *finish, size_t i)
{
    const struct rec_stream_description *of = &finish->description.streams[i];
    const struct rfn_stream_reduction *reduction = rfn_stream_reduced(of->stream->events);
    const struct rfn_spread_table *spread = reduction ? rfn_stream_reduction_spread(reduction)
                                                      : NULL;
    struct rfn_hash128 digest = {0};
    if (!reduction)
        return 0; /* this rank was asked for full times */
    if (!spread)
        return RFN_E_NOMEM;
    for (size_t site = 0; site < of->n_sites; site++)
        digest = rfn_sites_digest(digest, of->functions[site], of->paths[site]);
    return rfn_spreads_add(&finish->spreads, digest, finish->first_stream + i, spread);
}

/* Rank 0 gets those of all ranks. What fails here costs nothing but the spreads. After
 * number_kinds, when all have the same numbers of functions and paths. */
static void merge_spreads(struct rec_finishing *finish, int error)
{
    if (!finish->reduced)
        return;
    finish->spreads.max_bytes = rec_options.memory_bytes / SPREADS_SHARE;
    for (size_t i = 0; i < finish->description.n_streams && !error; i++)
        error = add_spread(finish, i);
    finish->not_spread = rfn_spreads_run(&finish->spreads, finish->exchange, error);
}

/* Digests of what a stream would write, with hashes in place of numbers. signing: what is left for
 * that. */
static int digest(struct rec_finishing *finish, size_t i, struct rfn_path_limits *signing)
{
    struct rec_stream_description *of = &finish->description.streams[i];
    struct rec_packed *packed = &finish->packed[i];
    struct rfn_stream_digests *digests = &packed->digests;
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

static int digest_all(struct rec_finishing *finish, int error)
{
    struct rfn_path_limits signing = rfn_signature_limits;
    size_t n = finish->description.n_streams;
    finish->packed = calloc(n + 1, sizeof *finish->packed);
    if (!error && !finish->packed)
        error = RFN_E_NOMEM;
    for (size_t i = 0; i < n && finish->packed; i++)
        finish->packed[i].time_set = finish->first_stream + i;
    for (size_t i = 0; i < n && !error; i++)
        error = digest(finish, i, &signing);
    rec_finishing_end_step(finish, RFN_MERGING_SIGNATURES);
    finish->merge.together = rec_options.cluster ? rec_options.memory_bytes / TOGETHER_SHARE : 0;
    return error;
}

static int number_kinds(struct rec_finishing *finish, int error)
{
    error = digest_all(finish, error);
    error = rfn_merge_run(&finish->merge, finish->exchange, error);
    return error ? error : rec_describe_numbers(&finish->description, &finish->merge);
}

static int pack_rank_times(const struct rfn_stream *stream, struct rfn_new_times *times,
                           struct rfn_rope *out)
{
    struct rec_clock_pair start = rec_start(), end = rec_clock_pair();
    const struct rfn_pack_pair pairs[] = {
        {start.quanta, (uint64_t)start.monotonic_ns, (uint64_t)start.realtime_ns},
        {end.quanta, (uint64_t)end.monotonic_ns, (uint64_t)end.realtime_ns}};
    const struct rfn_pack_clock clock = {
        .kind = (uint8_t)rec_clock.kind, .pairs = pairs, .n_pairs = 2, .start = start.quanta};
    return rfn_stream_reduced(stream)
               ? rfn_pack_reduced(stream, &clock, times, out)
               : rfn_pack_timing(stream, rec_options.times ? &clock : NULL, out);
}

/* The times that a stream writes; nothing if they are another's. */
static int pack_timing(struct rec_finishing *finish, size_t i)
{
    const struct rfn_stream *events = finish->description.streams[i].stream->events;
    struct rec_packed *packed = &finish->packed[i];
    if (packed->time_set != finish->first_stream + i)
        return 0;
    const int error = pack_rank_times(events, &packed->times, &packed->timing);
    packed->timing_bytes = rfn_rope_size(&packed->timing);
    return error;
}

/* What columns have not coded while they grew, of each the last block, is coded here. */
static int pack_times(struct rec_finishing *finish, int error)
{
    for (size_t i = 0; i < finish->description.n_streams && !error; i++)
        error = pack_timing(finish, i);
    return error;
}

/* ---- what is told ---- */

/* "1,234,567" */
static const char *grouped(uint64_t value, char text[32])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = 0;
    return text;
}

static void tell_journal(const struct rec_finishing *finish, const char *what)
{
    char bytes[32], writes[32];
    if (finish->writes)
        rec_say("%s bytes in %s writes %s", grouped(finish->written, bytes),
                grouped(finish->writes, writes), what);
}

/* Groups that came to rank 0, as small ones do. */
static uint64_t count_brought(const struct rfn_stream_things *groups)
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
    const struct rfn_stream_things *groups = &finish->merge.streams.of[RFN_KIND_OF_GROUP];
    uint64_t n = finish->clustered.n, all = groups->total, brought = count_brought(groups);
    const char *why = n == brought ? "too large for clusters"
                                   : "too large for clusters, or clusters make the archive no "
                                     "smaller";
    if (!rec_finishing_forced_roles(finish))
        return;
    rfn_forced_roles_text(finish->clustered.merged, names);
    if (names[0])
        rec_say("some parameters are those of the lowest rank of each cluster (%s), and messages "
                "may not match",
                names);
    else if (n)
        rec_say("no parameters were merged, as those of ranks with the same loops are equal; "
                "lists, and what has more than 64 values on a rank, stay each rank's own");
    if (n && n < all)
        rec_say("of %llu of %llu groups no parameters were merged, as they are %s",
                (unsigned long long)(all - n), (unsigned long long)all, why);
    if (!n && finish->clustered.error)
        rec_say("no parameters were merged: %s", rfn_error_text(finish->clustered.error));
    else if (!n)
        rec_say("no parameters were merged, as what ranks did is %s", why);
}

static void tell(const struct rec_finishing *finish, const struct rec_archive_result *result,
                 int error, double seconds)
{
    char events[32], bytes[32];
    if (error) {
        rec_say("no archive was written: %s",
                result->problem[0] ? result->problem : rfn_error_text(error));
    } else if (!rec_options.quiet || finish->alone) {
        const char *path = result->path;
        size_t length = rec_options.directory ? strlen(rec_options.directory) : 0;
        if (length && strncmp(path, rec_options.directory, length) == 0 && path[length] == '/')
            path += length + 1;
        if (finish->alone) {
            rec_say("rank %d called MPI_Abort; its own %s events, without those of other ranks: %s",
                    rec_place_rank(), grouped(finish->events, events), path);
            return;
        }
        rec_say("%d rank%s, %s events, %s bytes, merged in %.3f s (at most %llu KiB on a rank): %s",
                finish->exchange->size, finish->exchange->size == 1 ? "" : "s",
                grouped(finish->events, events), grouped(result->file_bytes, bytes), seconds,
                (unsigned long long)(result->peak_bytes + 1023) / 1024, path);
        if (finish->not_compared)
            rec_say("processes were not compared, and keep their own times: %s",
                    finish->not_compared == RFN_E_EXCHANGE ? "a rank could not"
                                                           : rfn_error_text(finish->not_compared));
        if (finish->reduced && finish->not_spread)
            rec_say("how far times differ that are not kept is not in the archive: %s",
                    finish->not_spread == RFN_E_EXCHANGE ? "a rank could not say"
                                                         : rfn_error_text(finish->not_spread));
        tell_forced(finish);
        rec_notice_gaps(finish->exchange->size);
        tell_journal(finish, "went to a journal while the program ran: --memory allows more");
    }
}

static void tell_unwritten(const struct rec_finishing *finish)
{
    char events[32];
    rec_say("%s events; nothing was written (REFRAIN_WRITE=no)", grouped(finish->events, events));
    tell_journal(finish, "would have gone to a journal while the program ran");
}

static void write_run(struct rec_finishing *finish, struct rec_archive_result *result, int error)
{
    error = number_kinds(finish, error);
    rec_finishing_end_step(finish, RFN_MERGING_MERGE);
    error = reduce_times(error);
    error = survey_times(finish, error);
    error = pack_times(finish, error);
    rec_finishing_end_step(finish, RFN_MERGING_TIMES);
    merge_spreads(finish, error);
    if (!error && finish->exchange->rank == 0)
        error = rec_chunk_definitions(finish); /* while others make and send what follows */
    error = rec_tables_collect(finish, error);
    rec_finishing_end_step(finish, RFN_MERGING_TABLES);
    if (!error && finish->exchange->rank == 0)
        error = rec_chunk_first(finish);
    if (!error)
        error = rec_chunk_streams(finish);
    error = rec_output_write(&finish->output, finish->exchange, finish->alone, error, result);
    if (finish->exchange->rank == 0)
        tell(finish, result, error, (double)(result->complete_ns - finish->began) * 1e-9);
}

static void release_packed(struct rec_packed *packed)
{
    rfn_rope_release(&packed->values);
    rfn_rope_release(&packed->timing);
    rfn_new_times_release(&packed->times);
}

static void begin(struct rec_finishing *finish, struct rfn_exchange *exchange,
                  const struct rfn_merge *merge)
{
    const int64_t now = rec_monotonic_ns();
    *finish = (struct rec_finishing){.exchange = exchange,
                                     .merge = *merge,
                                     .sent = {exchange->bytes_sent, exchange->messages_sent},
                                     .began = rec_arrived_ns ? rec_arrived_ns : now,
                                     .step_began = now};
}

static void release(struct rec_finishing *finish)
{
    for (size_t i = 0; finish->packed && i < finish->description.n_streams; i++)
        release_packed(&finish->packed[i]);
    free(finish->packed);
    rec_output_release(&finish->output);
    rec_output_release(&finish->front);
    rec_tables_release(finish);
    rec_description_release(&finish->description);
    rfn_merge_release(&finish->merge);
    rfn_spreads_release(&finish->spreads);
}

/* merge: with what has been merged so far; released. */
static void finish_run(struct rfn_exchange *exchange, const struct rfn_merge *merge,
                       const struct rfn_buf *clocks, struct rec_archive_result *result, bool alone,
                       int error)
{
    struct rec_finishing finish;
    begin(&finish, exchange, merge);
    finish.clocks = clocks;
    finish.alone = alone;
    error = learn_wishes(&finish, result, error);
    error = survey(&finish, error ? error : describe(&finish));
    if (!error)
        keep_volume(finish.wishes >> WISH_BITS, exchange->rank);
    if (finish.wishes & WANTS_FILE)
        write_run(&finish, result, error);
    else if (exchange->rank == 0)
        tell_unwritten(&finish);
    release(&finish);
}

/* A stream that is still inside a call, or NULL. Threads may legally be in MPI_Initialized and the
 * like now, for a moment; in anything else only if the program is wrong, or has left the call by a
 * jump (from an error handler). */
static const struct rec_stream *busy_stream(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (const struct rec_stream *stream = rec_streams; stream; stream = stream->next) {
        const volatile bool *inside = &stream->inside;
        for (int i = 0; i < 100 && *inside && stream != rec_this_stream; i++)
            nanosleep(&moment, NULL);
        if (*inside)
            return stream;
    }
    return NULL;
}

/* Whether no other thread is about to hand over an event: one that waits in MPI is not. */
static bool others_are_quiet(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (const struct rec_stream *stream = rec_streams; stream; stream = stream->next) {
        const volatile bool *inside = &stream->inside;
        for (int i = 0; i < 100 && *inside && !stream->open_function; i++)
            nanosleep(&moment, NULL);
        if (*inside && !stream->open_function)
            return false;
    }
    return true;
}

void rec_finish_alone(void)
{
    struct rfn_exchange alone = {.size = 1};
    struct rfn_merge merge;
    struct rec_archive_result result = {0};
    struct rec_signals signals;
    if (rec_state != REC_RECORDING || rec_place_rank() < 0)
        return;
    rec_state = REC_FINISHED;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!others_are_quiet()) {
        rec_journals_remove();
        return;
    }
    rec_signals_hold(&signals);
    rfn_merge_init(&merge);
    finish_run(&alone, &merge, NULL, &result, true, 0);
    rec_journals_remove();
    rec_signals_release(&signals);
}

/* exchange: that of meetings, or NULL. */
static void finish_by_mpi(struct rec_exchange *exchange, const struct rfn_merge *merge,
                          struct rec_archive_result *result, int error)
{
    struct rec_exchange own;
    struct rfn_buf clocks;
    if (!exchange && rec_exchange_open(&own, false) == 0)
        exchange = &own;
    if (exchange) {
        rec_clock_sync_end(exchange, &clocks);
        finish_run(&exchange->exchange, merge, &clocks, result, false, error);
        rfn_buf_release(&clocks);
        rec_exchange_close(exchange);
    } else if (rec_is_first_rank()) {
        rec_say("no archive was written: MPI has no communicator left for the recorder");
    }
}

void rec_finish(void)
{
    struct rfn_merge merge;
    struct rec_exchange *exchange = rec_meetings_end(&merge);
    struct rec_archive_result result = {0};
    struct rec_signals signals;
    bool stopped = rec_state == REC_STOPPED;
    rec_state = REC_FINISHED;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!rec_place_learn())
        return; /* MPI was never initialized: it will say so */
    const struct rec_stream *busy = stopped ? NULL : busy_stream();
    if (stopped)
        snprintf(result.problem, sizeof result.problem, "recording stopped: %s", rec_stop_reason());
    else if (busy)
        snprintf(result.problem, sizeof result.problem,
                 "%s was left by a jump, or a thread is still in it",
                 rec_functions[busy->call.function].name);
    rec_signals_hold(&signals);
    const int error = stopped || busy ? RFN_E_USAGE : 0;
    finish_by_mpi(exchange, &merge, &result, error);
    rec_journals_remove();
    rec_place_release();
    rec_signals_release(&signals);
}
