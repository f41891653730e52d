/* share_times.c - reduced times at the end of recording: what became of them, which processes share
 * them (doc/trace-profiling.md, Across processes), and how far they lie apart.
 *
 * Comparing processes and spreads cannot make the recording fail: when something is missing, on any
 * rank, each stream has its own times, or there are no spreads, and rank 0 knows why.
 */
#include "base/grow.h"
#include "record/core/clock_sync.h"
#include "record/core/options.h"
#include "record/finish/finish_internal.h"
#include "reduce/merge/process_groups.h"
#include "reduce/segments/stream_reduction.h"

#include <stdlib.h>

struct across {
    struct rfn_exchange *exchange;
    struct rfn_criterion criterion;
    struct rfn_time_line line; /* of this process */
    int64_t start_ns;          /* of the process, on a clock that all share */
    struct rfn_process_groups groups;
    uint64_t *streams; /* of the sets, by their places in the list: own numbers of streams */
    size_t n_streams, capacity;
    int error; /* of this rank, so far */
};

/* Of what --memory allows: a stream's copy, and all copies of a process. */
enum { COPY_SHARE = 32, COPIES_SHARE = 8 };

/* ---- rank 0's word: u64 its host, svarint its CLOCK_REALTIME less CLOCK_MONOTONIC, blob how
 * processes are compared, then what was measured of clocks ---- */

static int64_t realtime_offset(void)
{
    struct rec_clock_pair start = rec_start();
    return start.realtime_ns - start.monotonic_ns;
}

static void write_word(const struct rfn_buf *clocks, struct rfn_buf *out)
{
    rfn_buf_u64(out, rec_clock_sync_host());
    rfn_buf_svarint(out, realtime_offset());
    rfn_buf_string(out, rec_options.across ? rec_options.across : "");
    if (clocks)
        rfn_buf_bytes(out, clocks->data, clocks->size);
}

/* What a moment of this process's CLOCK_MONOTONIC is on the clock of rank 0's host, as far as that
 * is known. */
static int64_t aligned(int64_t monotonic_ns, bool same_host, int64_t first_offset,
                       const struct rfn_reader *clocks)
{
    int64_t offset;
    if (same_host)
        return monotonic_ns + first_offset;
    if (rec_clock_sync_offset(clocks->data + clocks->at, rfn_reader_left(clocks),
                              rec_clock_sync_host(), (uint64_t)monotonic_ns, &offset))
        return monotonic_ns + offset + first_offset;
    return monotonic_ns + realtime_offset();
}

/* Through the start of the recording and now. */
static void draw_line(struct across *across, bool same_host, int64_t first_offset,
                      const struct rfn_reader *clocks)
{
    struct rec_clock_pair start = rec_start(), end = rec_clock_pair();
    int64_t from = aligned(start.monotonic_ns, same_host, first_offset, clocks);
    int64_t to = aligned(end.monotonic_ns, same_host, first_offset, clocks);
    uint64_t quanta = end.quanta - start.quanta;
    across->start_ns = from;
    across->line = (struct rfn_time_line){
        .from = start.quanta, .ns_per_quantum = quanta ? (double)(to - from) / (double)quanta : 1};
}

static int read_word(struct across *across, const struct rfn_buf *word)
{
    char text[RFN_CRITERION_TEXT] = "";
    size_t size;
    struct rfn_reader reader = rfn_reader_over(word->data, word->size);
    bool same_host = rfn_reader_u64(&reader) == rec_clock_sync_host();
    int64_t first_offset = rfn_reader_svarint(&reader);
    const uint8_t *criterion = rfn_reader_blob(&reader, &size);
    if (reader.failed || size >= sizeof text)
        return RFN_E_EXCHANGE;
    memcpy(text, criterion, size);
    draw_line(across, same_host, first_offset, &reader);
    return rfn_across_parse(text, &across->criterion, NULL);
}

static void begin(struct across *across, struct rfn_exchange *exchange,
                  const struct rfn_buf *clocks)
{
    struct rfn_buf word = RFN_BUF_INIT;
    *across = (struct across){.exchange = exchange,
                              .groups.max_bytes = rec_options.memory_bytes / COPIES_SHARE};
    if (exchange->rank == 0)
        write_word(clocks, &word);
    across->error = rfn_exchange_down(exchange, &word, rfn_buf_status(&word));
    if (!across->error)
        across->error = read_word(across, &word);
    rfn_buf_release(&word);
}

/* ---- streams ---- */

/* 1; 0: it would take too much memory. */
static int add_set(struct across *across, const struct rfn_stream *stream, uint64_t number,
                   struct rfn_hash128 class_)
{
    size_t max_bytes = rec_options.memory_bytes / COPY_SHARE;
    if (!across->criterion.method->all_alike)
        return rfn_time_sets_add(&across->groups.sets, number, class_,
                                 rfn_stream_reduction_profile(rfn_stream_reduced(stream)),
                                 &across->line, max_bytes);
    RFN_TRY(rfn_time_sets_add_class(&across->groups.sets, number, class_));
    return 1;
}

static int add_stream(struct across *across, const struct rfn_stream *stream, uint64_t number,
                      struct rfn_hash128 class_)
{
    RFN_TRY(RFN_GROW(across->streams, across->capacity, across->n_streams + 1));
    int added = add_set(across, stream, number, class_);
    RFN_TRY(added);
    if (added)
        across->streams[across->n_streams++] = number;
    else
        across->groups.alone++;
    return 0;
}

/* ---- what became of times ---- */

enum { EXECUTIONS, KINDS, REPRESENTATIVES, CORRECTIONS, WIDENED, REDUCED_STREAMS };

_Static_assert(REDUCED_STREAMS < (int)RFN_SURVEY_COUNTS, "a survey counts too little");

static struct rfn_hash128 class_of(const struct rec_finishing *finish, size_t i)
{
    const struct rfn_stream *stream = finish->description.streams[i].stream->events;
    return rfn_time_class(rfn_stream_reduction_profile(rfn_stream_reduced(stream)),
                          rfn_stream_class_of(&finish->merge.streams, i, RFN_KIND_OF_GROUP).number,
                          rfn_stream_has_volume(stream));
}

static int count_reduction(const struct rec_finishing *finish, size_t i, struct rfn_survey *survey)
{
    struct rfn_stream *stream = finish->description.streams[i].stream->events;
    RFN_TRY(rfn_stream_reduce(stream)); /* all that is left */
    const struct rfn_stream_reduction *reduction = rfn_stream_reduced(stream);
    if (!reduction)
        return 0; /* this rank was asked for full times */
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

/* Which streams share times: all that were reduced are compared with others of their class, if
 * there are any. error: of the recording; then this rank only takes part. */
static void compare_processes(struct rec_finishing *finish, struct across *across,
                              const struct rfn_survey *survey, int error)
{
    const struct rec_definitions *description = &finish->description;
    across->error = error ? error : across->error;
    across->line.at_ns = (double)(across->start_ns - survey->least);
    for (size_t i = 0; i < description->n_streams && !across->error; i++) {
        const struct rfn_stream *stream = description->streams[i].stream->events;
        if (!rfn_stream_reduced(stream))
            continue;
        struct rfn_hash128 class_ = class_of(finish, i);
        const uint64_t *often = rfn_map_get(survey->set, class_.low);
        if (often && *often > 1)
            across->error = add_stream(across, stream, finish->survey.first_stream + i, class_);
        else
            across->groups.alone++;
    }
    across->groups.criterion = &across->criterion;
    finish->reduced.not_compared = rfn_process_groups_run(&across->groups, across->exchange,
                                                          across->error);
    if (finish->reduced.not_compared)
        return;
    finish->reduced.counts.time_sets = across->groups.n_sets;
    for (size_t i = 0; i < description->n_streams && across->groups.streams; i++) {
        for (size_t k = 0; k < across->n_streams; k++) {
            if (across->streams[k] == finish->survey.first_stream + i)
                finish->packed[i].time_set = across->groups.streams[k];
        }
    }
}

static int survey_times(struct rec_finishing *finish, int error)
{
    const bool compares = rec_finishing_compares(finish);
    struct rfn_map classes = RFN_MAP_INIT;
    struct rfn_survey survey = {.set = &classes, .set_for_first = !compares};
    struct across across = {0};
    if (compares)
        begin(&across, finish->exchange, finish->clocks);
    survey.least = across.start_ns;
    for (size_t i = 0; i < finish->description.n_streams && !error; i++)
        error = count_reduction(finish, i, &survey);
    error = rfn_survey_run(&survey, finish->exchange, error);
    finish->reduced.counts = (struct rfn_run_reduction){
        .long_streams = finish->reduced.counts.long_streams,
        .executions = survey.total[EXECUTIONS],
        .kinds = survey.total[KINDS],
        .representatives = survey.total[REPRESENTATIVES],
        .corrections = survey.total[CORRECTIONS],
        .widened = survey.total[WIDENED],
        .streams = survey.total[REDUCED_STREAMS],
        .time_sets = survey.total[REDUCED_STREAMS],
        .classes = classes.n,
        .min_calls = rec_options.segment_min_calls,
        .exact_starts = rec_options.exact_starts,
    };
    if (compares)
        compare_processes(finish, &across, &survey, error);
    rfn_process_groups_release(&across.groups);
    free(across.streams);
    rfn_map_release(&classes);
    return error;
}

/* ---- how far times lie apart ---- */

enum { SPREADS_SHARE = 8 }; /* of what --memory allows */

static int add_spread(struct rec_finishing *finish, size_t i)
{
    const struct rec_stream_definitions *of = &finish->description.streams[i];
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
    return rfn_spreads_add(&finish->reduced.spreads, digest, finish->survey.first_stream + i,
                           spread);
}

int rec_share_times(struct rec_finishing *finish, int error)
{
    struct rec_reduced *reduced = &finish->reduced;
    error = survey_times(finish, error);
    reduced->spreads.max_bytes = rec_options.memory_bytes / SPREADS_SHARE;
    int spread = error;
    for (size_t i = 0; i < finish->description.n_streams && !spread; i++)
        spread = add_spread(finish, i);
    reduced->not_spread = rfn_spreads_run(&reduced->spreads, finish->exchange, spread);
    return error;
}
