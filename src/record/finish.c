#include "record/finish.h"

#include "archive/pack_reduced.h"
#include "record/across.h"
#include "record/clock_sync.h"
#include "record/describe.h"
#include "record/exchange_mpi.h"
#include "record/notice.h"
#include "record/options.h"
#include "record/output.h"
#include "record/patience.h"
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
}

void rec_initialized_session(void)
{
    static bool first = true;
    if (!__atomic_exchange_n(&first, false, __ATOMIC_ACQ_REL))
        return;
    rec_threads_multiple = true; /* a session may allow what the world does not: be prepared */
    rec_place_learn();
}

/* ---- step 1: inputs that have moved to columns on some rank, and who has how much ---- */

static uint64_t move_key(const struct rec_stream_description *stream, uint32_t site, unsigned input)
{
    return rfn_hash_bytes((uint64_t[]){stream->functions[site], stream->paths[site], input},
                          3 * sizeof(uint64_t));
}

/* Calls act for every input of every site that has (or has not) moved. */
static int each_input(struct rec_description *description, bool moved, struct rfn_map *set,
                      int (*act)(struct rec_stream *, uint32_t site, unsigned input, uint64_t key,
                                 struct rfn_map *set))
{
    for (size_t i = 0; i < description->n_streams; i++) {
        struct rec_stream_description *of = &description->streams[i];
        for (uint32_t site = 0; site < of->n_sites; site++) {
            uint32_t function = rec_sites_function(&of->stream->sites, site);
            for (unsigned input = 0; input < rec_functions[function].n_in; input++) {
                bool has = rfn_stream_moved(of->stream->events, site) >> input & 1;
                if (has == moved)
                    RFN_TRY(act(of->stream, site, input, move_key(of, site, input), set));
            }
        }
    }
    return 0;
}

static int note_moved(struct rec_stream *stream, uint32_t site, unsigned input, uint64_t key,
                      struct rfn_map *set)
{
    (void)stream, (void)site, (void)input;
    return rfn_survey_add(set, key);
}

static int move_too(struct rec_stream *stream, uint32_t site, unsigned input, uint64_t key,
                    struct rfn_map *set)
{
    if (rfn_map_get(set, key))
        rfn_stream_move(stream->events, site, input);
    return 0;
}

/* ---- volumes: an archive has those that rank 0 was asked for ---- */

static uint64_t volume_word(void)
{
    const char *volume = rec_options.volume;
    return volume ? rfn_hash_bytes(volume, strlen(volume)) >> 2 : 0;
}

/* What rank 0's word says beside the volume. */
enum { WANTS_REDUCED = 1, WANTS_ACROSS = 2 };

static uint64_t own_wishes(void)
{
    if (!rec_options.segments)
        return 0;
    return WANTS_REDUCED | (rec_options.across ? WANTS_ACROSS : 0);
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

/* ---- steps 2 and 3: numbers and tables ---- */

struct finish {
    struct rfn_exchange *exchange;
    struct rfn_merge merge;
    struct rec_description description;
    struct rfn_tables streams, places;
    struct rec_output output;
    uint64_t first_stream, n_streams; /* over all ranks */
    struct packed {
        struct rfn_rope values;
        struct rfn_new_times times; /* if they are reduced */
        struct rfn_hash128 structure_digest, values_digest;
        uint64_t time_set;              /* the stream whose times these are */
    } * packed;                         /* per stream of the process */
    bool reduced;                       /* rank 0 has reduced its times */
    bool across;                        /* rank 0 wants processes compared */
    int not_compared;                   /* on rank 0: why they were not */
    struct rfn_run_reduction reduction; /* over all ranks */
    uint64_t events;                    /* over all ranks */
    uint64_t writes, written;           /* to the journals: how many, bytes; over all ranks */
    const struct rfn_buf *clocks;       /* on rank 0, as clock_sync.h says; may be NULL */
};

static void count_stream(const struct rec_stream *stream, uint64_t *counts)
{
    counts[RFN_SURVEY_EVENTS] += rfn_stream_events(stream->events);
    counts[RFN_SURVEY_WRITES] += stream->journal.writes;
    counts[RFN_SURVEY_WRITTEN] += stream->journal.size;
}

/* All ranks learn which inputs have moved, and how many streams and events there are. */
static int survey(struct finish *finish, int error)
{
    struct rec_description *description = &finish->description;
    struct rfn_map set = RFN_MAP_INIT;
    struct rfn_survey survey = {.set = &set,
                                .counts[RFN_SURVEY_STREAMS] = description->n_streams,
                                .first = volume_word() << 2 | own_wishes()};
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        count_stream(stream, survey.counts);
    if (!error)
        error = each_input(description, true, &set, note_moved);
    error = rfn_survey_run(&survey, finish->exchange, error);
    if (!error)
        error = each_input(description, false, &set, move_too);
    for (struct rec_stream *stream = rec_streams; stream && !error; stream = stream->next)
        error = rfn_stream_settle(stream->events);
    if (!error)
        keep_volume(survey.first >> 2, finish->exchange->rank);
    finish->reduced = survey.first & WANTS_REDUCED;
    finish->across = survey.first & WANTS_ACROSS && !finish->output.alone;
    finish->first_stream = survey.before[RFN_SURVEY_STREAMS];
    finish->n_streams = survey.total[RFN_SURVEY_STREAMS];
    finish->events = survey.total[RFN_SURVEY_EVENTS];
    finish->writes = survey.total[RFN_SURVEY_WRITES];
    finish->written = survey.total[RFN_SURVEY_WRITTEN];
    rfn_map_release(&set);
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

static struct rfn_hash128 class_of(const struct finish *finish, size_t i)
{
    const struct rfn_stream *stream = finish->description.streams[i].stream->events;
    int64_t group = rfn_merge_distinct(&finish->merge.groups, finish->packed[i].structure_digest);
    return rfn_time_class(rfn_stream_reduction_profile(rfn_stream_reduced(stream)), (uint64_t)group,
                          rfn_stream_has_volume(stream));
}

static int count_reduction(const struct finish *finish, size_t i, struct rfn_survey *survey)
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

static void note_reduction(struct finish *finish, const struct rfn_survey *survey)
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

static void hand_over(struct finish *finish, struct rec_across *across,
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
static void compare_processes(struct finish *finish, struct rec_across *across,
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

/* All ranks learn what became of all times. After merge_all. */
static int survey_times(struct finish *finish, int error)
{
    struct rfn_map classes = RFN_MAP_INIT;
    struct rfn_survey survey = {.set = &classes};
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

/* Digests of what a stream would write, with hashes in place of numbers. */
static int digest(struct finish *finish, size_t i)
{
    struct rec_stream_description *of = &finish->description.streams[i];
    struct packed *packed = &finish->packed[i];
    struct rfn_rope structure = RFN_ROPE_INIT;
    int error = rfn_pack_structure(of->stream->events, &of->refs, &structure);
    if (!error)
        error = rfn_rope_hash128(&structure, 0, &packed->structure_digest);
    rfn_rope_release(&structure);
    if (!error)
        error = rfn_pack_values(of->stream->events, &packed->values);
    if (!error) /* shape and content go together */
        error = rfn_rope_hash128(&packed->values, packed->structure_digest.low,
                                 &packed->values_digest);
    if (!error)
        error = rfn_merge_stream(&finish->merge, finish->first_stream + i, packed->structure_digest,
                                 packed->values_digest);
    return error;
}

static int merge_all(struct finish *finish, int error)
{
    size_t n = finish->description.n_streams;
    finish->packed = calloc(n + 1, sizeof *finish->packed);
    if (!error && !finish->packed)
        error = RFN_E_NOMEM;
    for (size_t i = 0; i < n && finish->packed; i++)
        finish->packed[i].time_set = finish->first_stream + i;
    for (size_t i = 0; i < n && !error; i++)
        error = digest(finish, i);
    error = rfn_merge_run(&finish->merge, finish->exchange, error);
    return error ? error : rec_describe_numbers(&finish->description, &finish->merge);
}

/* What the stream adds to the table of streams and to its group's table. */
static int tabulate(struct finish *finish, size_t i)
{
    struct rec_stream_description *of = &finish->description.streams[i];
    const struct packed *packed = &finish->packed[i];
    const struct rec_clock_pair start = rec_start();
    int64_t group = rfn_merge_distinct(&finish->merge.groups, packed->structure_digest);
    int64_t values = rfn_merge_distinct(&finish->merge.values, packed->values_digest);
    struct rfn_table *streams = rfn_tables_use(&finish->streams, 0, RFN_STREAM_SLOTS);
    struct rfn_table *places = rfn_tables_use(&finish->places, (size_t)group,
                                              rfn_pack_places_count(of->stream->events, &of->refs));
    if (!streams || !places)
        return RFN_E_NOMEM;
    const int64_t words[RFN_STREAM_SLOTS] = {
        [RFN_SLOT_RANK] = rec_place_rank(),
        [RFN_SLOT_THREAD] = (int64_t)i,
        [RFN_SLOT_GROUP] = group,
        [RFN_SLOT_VALUES] = values,
        [RFN_SLOT_HOST] = (int64_t)finish->description.host,
        [RFN_SLOT_EVENTS] = (int64_t)rfn_stream_events(of->stream->events),
        [RFN_SLOT_CALLS] = (int64_t)rfn_stream_calls(of->stream->events),
        [RFN_SLOT_START] = rec_options.times ? start.monotonic_ns : 0,
        [RFN_SLOT_REGIONS] = (int64_t)rec_regions_events(of->stream),
        [RFN_SLOT_REALTIME] = rec_options.times ? start.realtime_ns - start.monotonic_ns : 0,
        [RFN_SLOT_VOLUME] = rfn_stream_has_volume(of->stream->events),
        [RFN_SLOT_TIMES] = (int64_t)packed->time_set,
    };
    for (int s = 0; s < RFN_STREAM_SLOTS; s++)
        RFN_TRY(rfn_runs_append(&streams->slots[s], words[s], true,
                                (int64_t)(finish->first_stream + i)));
    return rfn_pack_places(of->stream->events, &of->refs, places);
}

static int tabulate_all(struct finish *finish, int error)
{
    if (!error)
        error = rfn_tables_init(&finish->streams, 1);
    if (!error)
        error = rfn_tables_init(&finish->places, finish->merge.groups.n);
    for (size_t i = 0; i < finish->description.n_streams && !error; i++)
        error = tabulate(finish, i);
    struct rfn_tables *tables[] = {&finish->streams, &finish->places};
    return rfn_tables_run(tables, 2, finish->exchange, error);
}

/* ---- step 4: chunks ---- */

/* A chunk of rank 0's; the payload is empty afterwards. */
static int chunk(struct finish *finish, uint32_t type, uint64_t id, struct rfn_buf *payload,
                 int error)
{
    struct rfn_rope rope = {.bytes = *payload};
    *payload = (struct rfn_buf)RFN_BUF_INIT;
    if (!error)
        error = rec_output_chunk(&finish->output, type, id, &rope, true, NULL);
    rfn_rope_release(&rope);
    return error;
}

static int chunk_meta(struct finish *finish, uint64_t merge_ns)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    rec_mpi.MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = 0;
    for (char *c = version; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    bool compared = finish->across && finish->reduced && !finish->not_compared;
    char similar[RFN_CRITERION_TEXT];
    const struct rfn_criterion criterion = rec_options_criterion();
    rfn_criterion_text(&criterion, similar);
    const struct rfn_pack_meta meta = {
        .recorder = "refrain " RFN_VERSION,
        .program = rec_options.program ? rec_options.program : "",
        .command = rec_options.command ? rec_options.command : "",
        .mpi = version,
        .flavour = RFN_FLAVOUR_NAME,
        .start_realtime_ns = (uint64_t)rec_start().realtime_ns,
        .ranks = (uint32_t)rec_place_size(),
        .times = rec_options.times,
        .all_polls = rec_options.all_polls,
        .start_off = rec_options.start_off,
        .merge_ns = merge_ns,
        .volume = rec_options.volume,
        .volume_unit = rec_options.volume ? rfn_volume_unit(rec_options.volume) : NULL,
        .similar = finish->reduced ? similar : NULL,
        .across = compared ? rec_options.across : NULL,
        .reduction = finish->reduction,
    };
    struct rfn_buf payload = RFN_BUF_INIT;
    int error = rfn_pack_meta(&meta, &payload);
    return chunk(finish, RFN_CHUNK_META, 0, &payload, error);
}

static int chunk_definitions(struct finish *finish)
{
    struct rfn_buf payload = RFN_BUF_INIT;
    struct rfn_symbolizer *symbolizer = rfn_symbolizer_new();
    int error = rfn_pack_definitions(&finish->merge, symbolizer, &payload);
    rfn_symbolizer_free(symbolizer);
    return chunk(finish, RFN_CHUNK_DEFINITIONS, 0, &payload, error);
}

/* Only where clocks were compared. */
static int chunk_clocks(struct finish *finish)
{
    struct rfn_buf payload = RFN_BUF_INIT;
    int error = finish->clocks ? rec_clock_sync_pack(finish->clocks, &finish->merge, &payload) : 0;
    if (!error && payload.size == 0)
        return 0;
    return chunk(finish, RFN_CHUNK_CLOCKS, 0, &payload, error);
}

/* Rank 0's chunks that stand before all others. */
static int chunk_front(struct finish *finish, uint64_t merge_ns)
{
    const struct rfn_table *streams = &finish->streams.tables[0];
    struct rfn_buf payload = RFN_BUF_INIT;
    RFN_TRY(chunk_meta(finish, merge_ns));
    RFN_TRY(chunk_definitions(finish));
    int error = rfn_pack_streams(streams, finish->n_streams, &payload);
    RFN_TRY(chunk(finish, RFN_CHUNK_STREAMS, 0, &payload, error));
    RFN_TRY(chunk_clocks(finish));
    for (size_t g = 0; g < finish->places.n; g++) {
        error = rfn_pack_table(&finish->places.tables[g], &payload);
        RFN_TRY(chunk(finish, RFN_CHUNK_PLACES, g, &payload, error));
    }
    return 0;
}

static int chunk_timing(struct finish *finish, size_t i)
{
    struct rec_clock_pair start = rec_start(), end = rec_clock_pair();
    const struct rfn_pack_pair pairs[] = {
        {start.quanta, (uint64_t)start.monotonic_ns, (uint64_t)start.realtime_ns},
        {end.quanta, (uint64_t)end.monotonic_ns, (uint64_t)end.realtime_ns}};
    const struct rfn_pack_clock clock = {
        .kind = (uint8_t)rec_clock.kind, .pairs = pairs, .n_pairs = 2, .start = start.quanta};
    const struct rfn_stream *events = finish->description.streams[i].stream->events;
    bool reduced = rfn_stream_reduced(events) != NULL;
    uint32_t type = reduced ? RFN_CHUNK_PROFILE : RFN_CHUNK_TIMING;
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = reduced ? rfn_pack_reduced(events, &clock, &finish->packed[i].times, &payload)
                        : rfn_pack_timing(events, rec_options.times ? &clock : NULL, &payload);
    /* Columns of times are coded near their entropy; compressing them again would gain nothing. */
    bool compress = rfn_rope_size(&payload) < 65536;
    if (!error && rfn_rope_size(&payload) > 0)
        error = rec_output_chunk(&finish->output, type, finish->first_stream + i, &payload,
                                 compress, NULL);
    rfn_rope_release(&payload);
    return error;
}

static int chunk_structure(struct finish *finish, size_t i, uint64_t group)
{
    struct rec_stream_description *of = &finish->description.streams[i];
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = rfn_pack_structure(of->stream->events, &of->refs, &payload);
    if (!error)
        error = rec_output_chunk(&finish->output, RFN_CHUNK_STRUCTURE, group, &payload, true,
                                 rfn_stream_spill_of(of->stream->events));
    rfn_rope_release(&payload);
    return error;
}

/* A stream's own chunks: structure and values if it is the first to have them, and its times,
 * unless they are another's. */
static int chunk_stream(struct finish *finish, size_t i)
{
    struct packed *packed = &finish->packed[i];
    uint64_t stream = finish->first_stream + i;
    int64_t group = rfn_merge_distinct(&finish->merge.groups, packed->structure_digest);
    int64_t values = rfn_merge_distinct(&finish->merge.values, packed->values_digest);
    if (finish->merge.groups.items[group].first == stream)
        RFN_TRY(chunk_structure(finish, i, (uint64_t)group));
    if (finish->merge.values.items[values].first == stream)
        RFN_TRY(rec_output_chunk(
            &finish->output, RFN_CHUNK_VALUES, (uint64_t)values, &packed->values, true,
            rfn_stream_spill_of(finish->description.streams[i].stream->events)));
    return packed->time_set == stream ? chunk_timing(finish, i) : 0;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

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

static void tell_journal(const struct finish *finish, const char *what)
{
    char bytes[32], writes[32];
    if (finish->writes)
        rec_say("%s bytes in %s writes %s", grouped(finish->written, bytes),
                grouped(finish->writes, writes), what);
}

static void tell(const struct finish *finish, const struct rec_output_result *result, int error,
                 double seconds)
{
    char events[32], bytes[32];
    if (error) {
        rec_say("no archive was written: %s",
                result->problem[0] ? result->problem : rfn_error_text(error));
    } else if (!rec_options.quiet || finish->output.alone) {
        const char *path = result->path;
        size_t length = rec_options.directory ? strlen(rec_options.directory) : 0;
        if (length && strncmp(path, rec_options.directory, length) == 0 && path[length] == '/')
            path += length + 1;
        if (finish->output.alone) {
            rec_say("rank %d called MPI_Abort; its own %s events, without those of other ranks: %s",
                    rec_place_rank(), grouped(finish->events, events), path);
            return;
        }
        rec_say("%d rank%s, %s events, %s bytes, merged in %.3f s (at most %llu KiB on a rank): %s",
                finish->exchange->size, finish->exchange->size == 1 ? "" : "s",
                grouped(finish->events, events), grouped(result->file_bytes, bytes), seconds,
                (unsigned long long)(result->merge_bytes + 1023) / 1024, path);
        if (finish->not_compared)
            rec_say("processes were not compared, and keep their own times: %s",
                    finish->not_compared == RFN_E_EXCHANGE ? "a rank could not"
                                                           : rfn_error_text(finish->not_compared));
        rec_notice_gaps(finish->exchange->size);
        tell_journal(finish, "went to a journal while the program ran: --memory allows more");
    }
}

static void tell_unwritten(const struct finish *finish)
{
    char events[32];
    rec_say("%s events; nothing was written (REFRAIN_WRITE=no)", grouped(finish->events, events));
    tell_journal(finish, "would have gone to a journal while the program ran");
}

static int finish_streams(void)
{
    for (struct rec_stream *stream = rec_streams; stream; stream = stream->next)
        RFN_TRY(rfn_stream_flush(stream->events));
    return 0;
}

/* Merges and writes what has been surveyed. start: when that began, ns. */
static void write_run(struct finish *finish, struct rec_output_result *result, int64_t start,
                      int error)
{
    error = reduce_times(error);
    error = merge_all(finish, error);
    error = survey_times(finish, error);
    error = tabulate_all(finish, error);
    if (!error && finish->exchange->rank == 0)
        error = chunk_front(finish, (uint64_t)(now_ns() - start));
    for (size_t i = 0; i < finish->description.n_streams && !error; i++)
        error = chunk_stream(finish, i);
    error = rec_output_write(&finish->output, finish->exchange, error, result);
    if (finish->exchange->rank == 0)
        tell(finish, result, error, (double)(now_ns() - start) * 1e-9);
}

static void release_packed(struct packed *packed)
{
    rfn_rope_release(&packed->values);
    rfn_new_times_release(&packed->times);
}

static void finish_run(struct rfn_exchange *exchange, const struct rfn_buf *clocks,
                       struct rec_output_result *result, bool alone, int error)
{
    int64_t start = now_ns();
    struct finish finish = {.exchange = exchange, .clocks = clocks, .output.alone = alone};
    rfn_merge_init(&finish.merge);
    if (!error)
        error = finish_streams();
    if (!error)
        error = rec_describe(&finish.description, &finish.merge, rec_place_rank(), alone);
    error = survey(&finish, error);
    if (rec_options.write)
        write_run(&finish, result, start, error);
    else if (exchange->rank == 0)
        tell_unwritten(&finish);
    for (size_t i = 0; finish.packed && i < finish.description.n_streams; i++)
        release_packed(&finish.packed[i]);
    free(finish.packed);
    rec_output_release(&finish.output);
    rfn_tables_release(&finish.streams);
    rfn_tables_release(&finish.places);
    rec_description_release(&finish.description);
    rfn_merge_release(&finish.merge);
}

void rec_finish_barrier(void)
{
    struct rec_patience patience = {0};
    if (!rec_place_learn()) /* the recorder may not have seen MPI_Init */
        return;
    if (rec_is_first_rank())
        rec_patience_begin(&patience, "reach the end of MPI");
    MPI_Comm all = rec_place_comm();
    if (all != MPI_COMM_NULL)
        rec_mpi.MPI_Barrier(all);
    rec_patience_end(&patience);
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
    struct rec_output_result result = {0};
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
    finish_run(&alone, NULL, &result, true, 0);
    rec_journals_remove();
    rec_signals_release(&signals);
}

void rec_finish(void)
{
    struct rec_exchange exchange;
    struct rec_output_result result = {0};
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
    if (rec_exchange_open(&exchange) == 0) {
        struct rfn_buf clocks;
        rec_clock_sync_end(&exchange, &clocks);
        finish_run(&exchange.exchange, &clocks, &result, false, stopped || busy ? RFN_E_USAGE : 0);
        rfn_buf_release(&clocks);
        rec_exchange_close(&exchange);
    } else if (rec_is_first_rank()) {
        rec_say("no archive was written: MPI has no communicator left for the recorder");
    }
    rec_journals_remove();
    rec_place_release();
    rec_signals_release(&signals);
}
