/* profile.c - one pass over all events (refrain/profile.h says what comes out).
 *
 * Most events of a stream repeat one of few symbols, so the work per event is kept to its symbol's
 * tally: counts, time, and a repeat count of one volume. Only when the words that decide over the
 * volume differ from those of the occurrence before is the tally's run of equal volumes settled:
 * added to histograms, pairs and bytes, times its length. At the end of a stream all tallies are
 * settled and their times go to the rows (function and call path); after the last stream of a rank
 * each row's time of this rank goes to the row's spread. Events of regions have no row and no
 * volume; region_profile.h follows them.
 */
#include "refrain/profile.h"

#include "analyze/messages.h"
#include "analyze/pause.h"
#include "analyze/region_profile.h"
#include "analyze/spread.h"
#include "base/grow.h"
#include "base/map.h"
#include "refrain/completion.h"
#include "refrain/volume.h"

#include <stdlib.h>
#include <string.h>

/* What a stream did under one symbol. */
struct tally {
    bool used, varies;                      /* varies: the volume may differ from event to event */
    bool first, last;                       /* begins or ends the run time: Init, Finalize */
    bool setup, collective, message, later; /* later: bytes count elsewhere (persistent) */
    bool awaited;                           /* received bytes count at completion */
    bool concerns;                          /* the tracker is to see it */
    bool region;                            /* a begin or an end, no call */
    uint32_t function;
    size_t row;
    uint64_t events, calls, failed_polls;
    int64_t time_ns, min_ns, max_ns, between_polls_ns;
    uint64_t volume_before, volume_inside;
    struct rfn_volume volume; /* of the current run of equal volumes */
    uint64_t run;             /* its length */
    int64_t *words;           /* inputs and outcomes of that run, if varies */
    size_t words_capacity;
};

/* What a rank has spent in a row. */
struct row_of_rank {
    int64_t time_ns;
    bool touched;
};

struct pass {
    const struct rfn_archive *archive;
    struct rfn_profile *profile;
    struct rfn_volumes *volumes;
    struct rfn_tracker *tracker;
    struct rfn_messages messages;
    struct rfn_regions *regions;
    struct rfn_pauses pauses; /* of the current rank */
    bool pauses_possible;
    struct rfn_map rows; /* function * 2^32 + path -> row */
    size_t rows_capacity, of_rank_capacity;
    struct row_of_rank *of_rank; /* beside profile->rows */
    struct tally *tallies;       /* by symbol */
    size_t n_tallies, tallies_capacity;
    uint32_t rank, thread;
    const struct rfn_cursor *cursor;
    int64_t stream_first, stream_last; /* of the current stream: first enter, last exit */
    int64_t stream_mpi, stream_unrecorded;
    bool stream_any;
    bool seen_first, seen_last; /* Init, Finalize */
    int64_t any_first, any_last;
    bool seen_any;
};

/* ---- rows ---- */

static int64_t row_of(struct pass *pass, uint32_t function, uint32_t path)
{
    struct rfn_profile *profile = pass->profile;
    uint64_t key = (uint64_t)function << 32 | path;
    uint64_t *at = rfn_map_get(&pass->rows, key);
    if (at)
        return (int64_t)*at;
    size_t n = profile->n_rows;
    RFN_TRY(RFN_GROW(profile->rows, pass->rows_capacity, n + 1));
    RFN_TRY(RFN_GROW(pass->of_rank, pass->of_rank_capacity, n + 1));
    RFN_TRY(rfn_map_put(&pass->rows, key, n));
    profile->rows[n] = (struct rfn_profile_row){
        .function = function, .path = path, .min_ns = INT64_MAX, .max_ns = INT64_MIN};
    pass->of_rank[n] = (struct row_of_rank){0};
    profile->n_rows++;
    return (int64_t)n;
}

static void rank_finish(struct pass *pass, uint32_t rank)
{
    for (size_t i = 0; i < pass->profile->n_rows; i++) {
        if (pass->of_rank[i].touched)
            rfn_spread_add(&pass->profile->rows[i].time, rank, pass->of_rank[i].time_ns);
        pass->of_rank[i] = (struct row_of_rank){0};
    }
}

/* ---- volumes ---- */

static int count_message(struct pass *pass, const struct rfn_volume *volume, uint64_t count)
{
    if (volume->dest == RFN_PROC_NULL || volume->sent_bytes < 0)
        return 0;
    struct rfn_profile_rank *rank = &pass->profile->ranks[pass->rank];
    uint64_t bytes = (uint64_t)volume->sent_bytes;
    rank->messages += count;
    rank->sent_bytes += bytes * count;
    rfn_size_count(pass->profile->point_to_point, bytes, count);
    if (volume->dest_world < 0)
        return 0;
    return rfn_messages_count(&pass->messages, pass->rank, (uint32_t)volume->dest_world, bytes,
                              count);
}

static void count_collective(struct pass *pass, uint64_t bytes, uint64_t count)
{
    pass->profile->ranks[pass->rank].collective_bytes += bytes * count;
    rfn_size_count(pass->profile->collective, bytes, count);
}

/* Bytes of `count` equal volumes go to the row of the call that described them. */
static void count_bytes(struct pass *pass, struct rfn_profile_row *row,
                        const struct rfn_volume *volume, uint64_t count)
{
    int64_t bytes = rfn_volume_bytes(pass->volumes, row->function, volume);
    if (bytes > 0)
        row->bytes += (uint64_t)bytes * count;
    if (volume->sent_bytes > 0)
        row->sent_bytes += (uint64_t)volume->sent_bytes * count;
    if (volume->received_bytes > 0)
        row->received_bytes += (uint64_t)volume->received_bytes * count;
}

static int count_volume(struct pass *pass, struct tally *tally, const struct rfn_volume *volume,
                        uint64_t count)
{
    int64_t bytes = rfn_volume_bytes(pass->volumes, tally->function, volume);
    count_bytes(pass, &pass->profile->rows[tally->row], volume, count);
    if (tally->collective && bytes >= 0)
        count_collective(pass, (uint64_t)bytes, count);
    return tally->message ? count_message(pass, volume, count) : 0;
}

/* Ends the tally's run of equal volumes. */
static int settle(struct pass *pass, struct tally *tally)
{
    struct rfn_volume volume = tally->volume;
    uint64_t run = tally->run;
    tally->run = 0;
    if (!run || tally->later)
        return 0;
    if (tally->awaited)
        volume.received_bytes = -1;
    return count_volume(pass, tally, &volume, run);
}

static bool same_words(const struct tally *tally, const struct rfn_record *record, unsigned n_in,
                       unsigned n_out)
{
    return (!n_in || memcmp(tally->words, record->in, n_in * sizeof *record->in) == 0) &&
           (!n_out || memcmp(tally->words + n_in, record->out, n_out * sizeof *record->out) == 0);
}

/* Counts the event's volume: in the current run if the words are the same, else in a new one. */
static int take_volume(struct pass *pass, struct tally *tally, const struct rfn_record *record)
{
    if (tally->run && !tally->varies) {
        tally->run++;
        return 0;
    }
    const struct rfn_function_info *function = rfn_archive_function(pass->archive, tally->function);
    unsigned n_in = function->n_in, n_out = function->n_out;
    if (tally->run && same_words(tally, record, n_in, n_out)) {
        tally->run++;
        return 0;
    }
    RFN_TRY(settle(pass, tally));
    RFN_TRY(RFN_GROW(tally->words, tally->words_capacity, (size_t)n_in + n_out + 1));
    if (n_in)
        memcpy(tally->words, record->in, n_in * sizeof *record->in);
    if (n_out)
        memcpy(tally->words + n_in, record->out, n_out * sizeof *record->out);
    tally->volume = rfn_volume_of(pass->volumes, pass->cursor, pass->rank, record);
    tally->run = 1;
    return 0;
}

/* ---- requests ---- */

static int take_started(struct pass *pass, const struct rfn_request_origin *origin)
{
    struct tally *made = &pass->tallies[origin->symbol];
    struct rfn_volume volume = origin->volume;
    if (origin->receives)
        volume.received_bytes = -1;
    return count_volume(pass, made, &volume, 1);
}

static void take_completed(struct pass *pass, const struct rfn_completed *completed)
{
    if (!completed->known || !completed->origin->receives || completed->cancelled)
        return;
    struct tally *made = &pass->tallies[completed->origin->symbol];
    struct rfn_volume volume = completed->origin->volume;
    volume.sent_bytes = -1;
    count_bytes(pass, &pass->profile->rows[made->row], &volume, 1);
}

static int take_requests(struct pass *pass, const struct tally *tally,
                         const struct rfn_record *record)
{
    struct rfn_request_effects effects;
    RFN_TRY(rfn_tracker_event(pass->tracker, pass->thread, pass->cursor, record, &tally->volume,
                              &effects));
    for (size_t i = 0; i < effects.n_started; i++)
        RFN_TRY(take_started(pass, effects.started[i]));
    for (size_t i = 0; i < effects.n_completed; i++)
        take_completed(pass, &effects.completed[i]);
    return 0;
}

/* ---- events ---- */

static bool moves_data(uint8_t class_)
{
    return class_ >= RFN_CLASS_ONE_TO_ALL && class_ <= RFN_CLASS_NEIGHBOR;
}

static int tally_init(struct pass *pass, struct tally *tally, const struct rfn_record *record)
{
    const struct rfn_function_info *function = rfn_archive_function(pass->archive,
                                                                    record->function);
    uint8_t class_ = function->class_;
    if (class_ == RFN_CLASS_REGION) {
        tally->used = tally->region = true;
        tally->events = tally->calls = tally->run = 0;
        return 0;
    }
    int64_t row = row_of(pass, record->function, record->path);
    RFN_TRY((int)(row < 0 ? row : 0));
    bool nonblocking = function->flags & (RFN_FUNCTION_NONBLOCKING | RFN_FUNCTION_PERSISTENT);
    int64_t *words = tally->words;
    size_t capacity = tally->words_capacity;
    *tally = (struct tally){
        .used = true,
        .varies = record->varying || function->n_out,
        .first = class_ == RFN_CLASS_SETUP && strstr(function->name, "nit"),
        .last = class_ == RFN_CLASS_SETUP && strstr(function->name, "inalize"),
        .setup = class_ == RFN_CLASS_SETUP,
        .collective = moves_data(class_),
        .message = class_ == RFN_CLASS_SEND || class_ == RFN_CLASS_SSEND ||
                   class_ == RFN_CLASS_SENDRECV,
        .later = function->flags & RFN_FUNCTION_PERSISTENT,
        .awaited = nonblocking && (class_ == RFN_CLASS_RECV || class_ == RFN_CLASS_SENDRECV),
        .concerns = rfn_tracker_concerns(pass->tracker, record->function),
        .function = record->function,
        .row = (size_t)row,
        .min_ns = INT64_MAX,
        .max_ns = INT64_MIN,
        .words = words,
        .words_capacity = capacity,
    };
    return 0;
}

static int tally_of(struct pass *pass, const struct rfn_record *record, struct tally **found)
{
    size_t old = pass->n_tallies;
    if (record->symbol >= old) {
        RFN_TRY(RFN_GROW(pass->tallies, pass->tallies_capacity, (size_t)record->symbol + 1));
        pass->n_tallies = (size_t)record->symbol + 1;
        memset(pass->tallies + old, 0, (pass->n_tallies - old) * sizeof *pass->tallies);
    }
    *found = &pass->tallies[record->symbol];
    if (!(*found)->used)
        RFN_TRY(tally_init(pass, *found, record));
    return 0;
}

/* The run's beginning and end. */
static void take_span(struct pass *pass, const struct tally *tally, const struct rfn_record *record)
{
    struct rfn_profile *profile = pass->profile;
    if (tally->first && (!pass->seen_first || record->enter_ns < profile->start_ns)) {
        profile->start_ns = record->enter_ns;
        pass->seen_first = true;
    }
    if (tally->last && (!pass->seen_last || record->exit_ns > profile->end_ns)) {
        profile->end_ns = record->exit_ns;
        pass->seen_last = true;
    }
    if (!pass->stream_any)
        pass->stream_first = record->enter_ns;
    pass->stream_last = record->exit_ns;
    pass->stream_any = true;
}

/* Events of a stream are in order of time, so its first and last are enough. */
static void stream_span(struct pass *pass)
{
    if (!pass->stream_any)
        return;
    pass->profile->ranks[pass->rank].threads++;
    pass->profile->ranks[pass->rank].unrecorded_ns += pass->stream_unrecorded;
    pass->profile->unrecorded_ns += pass->stream_unrecorded;
    pass->profile->ranks[pass->rank].span_ns += pass->stream_last - pass->stream_first;
    if (!pass->seen_any || pass->stream_first < pass->any_first)
        pass->any_first = pass->stream_first;
    if (!pass->seen_any || pass->stream_last > pass->any_last)
        pass->any_last = pass->stream_last;
    pass->seen_any = true;
    pass->stream_any = false;
}

/* What lies between the event before and this one. */
static void take_gap(struct pass *pass, const struct rfn_record *record)
{
    if (pass->pauses.n && pass->stream_any)
        pass->stream_unrecorded += rfn_pauses_overlap(&pass->pauses, pass->stream_last,
                                                      record->enter_ns);
}

static struct rfn_region_clock clock_at(const struct pass *pass, int64_t ns)
{
    return (struct rfn_region_clock){ns, pass->stream_mpi, pass->stream_unrecorded};
}

static int take_event(struct pass *pass, const struct rfn_record *record)
{
    struct tally *tally;
    RFN_TRY(tally_of(pass, record, &tally));
    take_gap(pass, record);
    tally->events++;
    if (tally->region) {
        take_span(pass, tally, record);
        return rfn_regions_event(pass->regions, record, clock_at(pass, record->enter_ns));
    }
    tally->calls += record->polls;
    if (record->failed_poll) {
        tally->failed_polls += record->polls;
        tally->between_polls_ns += record->exit_ns - record->enter_ns - record->inside_ns;
    } else {
        RFN_TRY(take_volume(pass, tally, record));
        if (tally->concerns)
            RFN_TRY(take_requests(pass, tally, record));
    }
    int64_t ns = record->inside_ns;
    tally->time_ns += ns;
    pass->stream_mpi += ns;
    if (ns < tally->min_ns)
        tally->min_ns = ns;
    if (ns > tally->max_ns)
        tally->max_ns = ns;
    tally->volume_before += (uint64_t)record->volume_gap;
    tally->volume_inside += (uint64_t)record->volume_inside;
    take_span(pass, tally, record);
    return 0;
}

/* ---- streams ---- */

static void finish_volume(const struct tally *tally, struct rfn_profile_row *row,
                          struct rfn_profile_rank *rank)
{
    row->volume_before += tally->volume_before;
    row->volume_inside += tally->volume_inside;
    rank->volume_outside += tally->volume_before;
    rank->volume_mpi += tally->volume_inside;
    if (tally->setup)
        rank->volume_setup += tally->volume_inside;
}

static int tally_finish(struct pass *pass, struct tally *tally)
{
    struct rfn_profile *profile = pass->profile;
    if (tally->region) {
        profile->ranks[pass->rank].events += tally->events;
        profile->events += tally->events;
        profile->region_events += tally->events;
        return 0;
    }
    RFN_TRY(settle(pass, tally));
    struct rfn_profile_row *row = &profile->rows[tally->row];
    struct rfn_profile_rank *rank = &profile->ranks[pass->rank];
    row->events += tally->events;
    row->calls += tally->calls;
    row->min_ns = tally->min_ns < row->min_ns ? tally->min_ns : row->min_ns;
    row->max_ns = tally->max_ns > row->max_ns ? tally->max_ns : row->max_ns;
    row->between_polls_ns += tally->between_polls_ns;
    pass->of_rank[tally->row].time_ns += tally->time_ns;
    pass->of_rank[tally->row].touched = true;
    rank->events += tally->events;
    rank->calls += tally->calls;
    rank->mpi_ns += tally->time_ns;
    if (tally->setup)
        rank->setup_ns += tally->time_ns;
    finish_volume(tally, row, rank);
    profile->events += tally->events;
    profile->calls += tally->calls;
    profile->failed_polls += tally->failed_polls;
    return 0;
}

static int stream_finish(struct pass *pass)
{
    rfn_regions_end_stream(pass->regions, clock_at(pass, pass->stream_last));
    stream_span(pass);
    for (size_t i = 0; i < pass->n_tallies; i++) {
        if (pass->tallies[i].used)
            RFN_TRY(tally_finish(pass, &pass->tallies[i]));
        pass->tallies[i].used = pass->tallies[i].region = false;
    }
    return 0;
}

/* A stream that cannot be read on is remembered; only running out of memory ends the pass. */
static int take_failure(struct pass *pass, int error, const struct rfn_diag *diag)
{
    if (error == RFN_E_NOMEM)
        return error;
    if (!pass->profile->error) {
        pass->profile->error = error;
        pass->profile->diag = *diag;
    }
    pass->profile->unreadable++;
    return 0;
}

static int read_events(struct pass *pass, struct rfn_cursor *cursor)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const struct rfn_record *record;
    int got;
    pass->cursor = cursor;
    while ((got = rfn_cursor_next(cursor, &record, &diag)) > 0)
        RFN_TRY(take_event(pass, record));
    return got < 0 ? take_failure(pass, got, &diag) : 0;
}

static int read_stream(struct pass *pass, uint32_t stream)
{
    struct rfn_stream_info info = rfn_archive_stream(pass->archive, stream);
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_cursor *cursor;
    if (info.rank >= pass->profile->n_ranks)
        return 0;
    pass->rank = info.rank;
    pass->thread = info.thread;
    pass->profile->ranks[info.rank].counted += info.volume;
    pass->stream_mpi = pass->stream_unrecorded = 0;
    rfn_pauses_rewind(&pass->pauses);
    rfn_tracker_reset(pass->tracker);
    int error = rfn_cursor_open(pass->archive, stream, &cursor, &diag);
    if (error < 0)
        return take_failure(pass, error, &diag);
    error = read_events(pass, cursor);
    if (error >= 0)
        error = stream_finish(pass);
    rfn_cursor_close(cursor);
    return error;
}

/* The streams of a rank, which begin with this one; *end: the first of the next rank. */
static int read_rank(struct pass *pass, uint32_t first, uint32_t *end)
{
    uint32_t n = rfn_archive_run(pass->archive)->streams;
    uint32_t rank = rfn_archive_stream(pass->archive, first).rank;
    for (*end = first + 1; *end < n && rfn_archive_stream(pass->archive, *end).rank == rank;)
        ++*end;
    if (pass->pauses_possible)
        RFN_TRY(rfn_pauses_find(&pass->pauses, pass->archive, first, *end));
    pass->profile->paused |= pass->pauses.n > 0;
    for (uint32_t i = first; i < *end; i++)
        RFN_TRY(read_stream(pass, i));
    rank_finish(pass, rank);
    rfn_regions_end_rank(pass->regions, rank);
    return 0;
}

static int read_all(struct pass *pass, void (*progress)(void *, double), void *context)
{
    uint32_t n = rfn_archive_run(pass->archive)->streams;
    for (uint32_t i = 0; i < n;) {
        RFN_TRY(read_rank(pass, i, &i));
        if (progress)
            progress(context, (double)i / n);
    }
    return 0;
}

/* ---- the whole ---- */

static int by_weight(const void *left, const void *right)
{
    const struct rfn_profile_row *a = left, *b = right;
    if (a->time.total_ns != b->time.total_ns)
        return a->time.total_ns > b->time.total_ns ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return a->path < b->path ? -1 : a->path > b->path;
}

static void finish(struct pass *pass)
{
    struct rfn_profile *profile = pass->profile;
    if (!pass->seen_first)
        profile->start_ns = pass->any_first;
    if (!pass->seen_last)
        profile->end_ns = pass->any_last;
    if (profile->rows)
        qsort(profile->rows, profile->n_rows, sizeof *profile->rows, by_weight);
    profile->pairs = rfn_messages_take(&pass->messages, &profile->n_pairs);
    profile->regions = rfn_regions_take(pass->regions, &profile->n_regions);
}

static int pass_init(struct pass *pass, const struct rfn_archive *archive)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    pass->archive = archive;
    pass->profile = calloc(1, sizeof *pass->profile);
    if (!pass->profile)
        return RFN_E_NOMEM;
    pass->profile->n_ranks = run->ranks;
    pass->profile->times = run->times;
    pass->profile->ranks = calloc((size_t)run->ranks + 1, sizeof *pass->profile->ranks);
    pass->volumes = rfn_volumes_new(archive);
    pass->tracker = rfn_tracker_new(archive);
    pass->regions = rfn_regions_new(archive);
    pass->pauses_possible = rfn_pauses_possible(archive);
    return pass->profile->ranks && pass->volumes && pass->tracker && pass->regions ? 0
                                                                                   : RFN_E_NOMEM;
}

static void pass_release(struct pass *pass)
{
    rfn_volumes_free(pass->volumes);
    rfn_tracker_free(pass->tracker);
    rfn_messages_release(&pass->messages);
    rfn_regions_free(pass->regions);
    rfn_pauses_release(&pass->pauses);
    rfn_map_release(&pass->rows);
    free(pass->of_rank);
    for (size_t i = 0; i < pass->n_tallies; i++)
        free(pass->tallies[i].words);
    free(pass->tallies);
}

int rfn_profile_new(const struct rfn_archive *archive,
                    void (*progress)(void *context, double share), void *context,
                    struct rfn_profile **profile, struct rfn_diag *diag)
{
    struct pass pass = {0};
    int error = pass_init(&pass, archive);
    if (error >= 0)
        error = read_all(&pass, progress, context);
    if (error >= 0) {
        finish(&pass);
        *profile = pass.profile;
    } else {
        rfn_profile_free(pass.profile);
        rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error));
    }
    pass_release(&pass);
    return error;
}

void rfn_profile_free(struct rfn_profile *profile)
{
    if (!profile)
        return;
    free(profile->ranks);
    free(profile->rows);
    free(profile->pairs);
    free(profile->regions);
    free(profile);
}

static void take_outside(struct rfn_efficiency *efficiency, uint32_t rank, int64_t ns, bool first)
{
    if (first || ns < efficiency->min_outside_ns) {
        efficiency->min_outside_ns = ns;
        efficiency->min_outside_rank = rank;
    }
    if (first || ns > efficiency->max_outside_ns) {
        efficiency->max_outside_ns = ns;
        efficiency->max_outside_rank = rank;
    }
}

struct rfn_efficiency rfn_profile_efficiency(const struct rfn_profile *profile)
{
    struct rfn_efficiency efficiency = {0};
    int64_t run_ns = profile->end_ns - profile->start_ns;
    double mpi = 0, setup = 0, all = 0, outside = 0;
    uint32_t n = 0;
    if (!profile->times || run_ns <= 0)
        return efficiency;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        if (!rank->threads)
            continue;
        int64_t own = run_ns * rank->threads - rank->unrecorded_ns;
        int64_t outside_ns = rfn_profile_outside_ns(rank);
        take_outside(&efficiency, i, outside_ns, n++ == 0);
        mpi += (double)rank->mpi_ns;
        setup += (double)rank->setup_ns;
        all += (double)own;
        outside += (double)outside_ns;
    }
    if (!n || all <= 0)
        return efficiency;
    efficiency.mpi_share = mpi / all;
    efficiency.setup_share = setup / all;
    efficiency.mean_outside_ns = (int64_t)(outside / n);
    efficiency.all_ns = (int64_t)all;
    if (efficiency.max_outside_ns > 0)
        efficiency.load_balance = outside / n / (double)efficiency.max_outside_ns;
    efficiency.parallel = outside / all;
    if (efficiency.load_balance > 0)
        efficiency.communication = efficiency.parallel / efficiency.load_balance;
    return efficiency;
}
