/* profile_pass.c - the profile, event by event (refrain/profile.h says what comes out).
 *
 * Most events of a stream repeat one of few symbols, so the work per event is kept to its symbol's
 * tally: counts, time, and a repeat count of one volume. Only when the words that decide over the
 * volume differ from those of the occurrence before is the tally's run of equal volumes settled:
 * added to histograms, pairs and bytes, times its length. After the last event, stream by stream,
 * all tallies are settled and their times go to the rows (function and call path), and rank by rank
 * each row's time of this rank goes to the row's spread. Events of regions have no row and no
 * volume; region_profile.h follows them.
 */
#include "analyze/profile/profile_pass.h"

#include "analyze/match/recording_off.h"
#include "analyze/profile/messages.h"
#include "analyze/profile/region_profile.h"
#include "archive/read/archive_calls.h"
#include "base/grow.h"
#include "base/map.h"
#include "refrain/usage.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 }; /* of the cache */

/* What a stream did under one symbol; what every event takes is in the first line. */
struct rfn_tally {
    _Alignas(LINE) uint64_t events;
    uint64_t calls;
    uint64_t run; /* events of the current run of equal volumes, */
    int64_t time_ns, min_ns, max_ns;
    uint32_t function, path;
    uint32_t version; /* which is this one of the symbol's (matching.h) */
    struct rfn_tally_of {
        bool region;      /* a begin, an end or a mark, no call */
        bool first, last; /* begins or ends the run time: Init, Finalize */
        bool setup;
        bool collective, message, later; /* later: bytes count elsewhere (persistent) */
        bool awaited;                    /* received bytes count at completion */
        bool access, makes_window;       /* one-sided */
        bool sends;                      /* a message, as that run goes */
    } of;
    _Alignas(LINE) struct rfn_volume volume; /* of that run */
    size_t row;
    uint64_t failed_polls;
    int64_t between_polls_ns;
    uint64_t volume_before, volume_inside;
    uint64_t long_events; /* than RFN_LONG_NS */
    int64_t long_ns;
};

struct stream {
    uint32_t rank;
    struct rfn_tally **tallies; /* by symbol; NULL: has not occurred */
    size_t n_tallies;
    int64_t first_ns, last_ns; /* first enter, last exit */
    int64_t mpi_ns, waiting_ns, unrecorded_ns;
    uint64_t messages; /* sent */
    bool any;
    bool counts;                        /* it is in the region that the profile is about */
    const struct rfn_off_times *pauses; /* of its rank; NULL: none */
    size_t pause;                       /* the first that may not be over */
    struct rfn_region_stream regions;
};

/* What a rank has spent in a row. */
struct row_of_rank {
    int64_t time_ns;
    bool touched;
};

struct rfn_profile_pass {
    struct rfn_match_watcher watcher;
    const struct rfn_archive *archive;
    struct rfn_profile *profile;
    struct rfn_volumes *volumes;
    struct rfn_messages messages, accesses;
    struct rfn_map windows; /* rank * 2^32 + handle -> communicator of the window */
    struct rfn_regions *regions;
    uint32_t region;              /* the only one that counts; RFN_NO_REGION: all */
    struct rfn_off_times *pauses; /* by rank; NULL: there are none */
    struct stream *streams;
    struct rfn_map rows; /* function * 2^32 + path -> row */
    size_t rows_capacity, of_rank_capacity;
    struct row_of_rank *of_rank; /* beside profile->rows */
    bool counted;                /* some stream has volumes of a counter */
    bool seen_first, seen_last;  /* Init, Finalize */
    int64_t any_first, any_last;
    bool seen_any;
};

/* ---- rows ---- */

static int64_t row_of(struct rfn_profile_pass *pass, uint32_t function, uint32_t path)
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

static void finish_rank(struct rfn_profile_pass *pass, uint32_t rank)
{
    for (size_t i = 0; i < pass->profile->n_rows; i++) {
        if (pass->of_rank[i].touched)
            rfn_spread_add(&pass->profile->rows[i].time, rank, pass->of_rank[i].time_ns);
        pass->of_rank[i] = (struct row_of_rank){0};
    }
}

/* ---- volumes ---- */

static uint64_t window_key(uint32_t rank, int64_t window)
{
    return (uint64_t)rank << 32 | (uint32_t)window;
}

static bool is_sent(const struct rfn_volume *volume)
{
    return volume->dest != RFN_PROC_NULL && volume->sent_bytes >= 0;
}

static int count_message(struct rfn_profile_pass *pass, uint32_t rank,
                         const struct rfn_volume *volume, uint64_t count)
{
    if (!is_sent(volume))
        return 0;
    struct rfn_profile_rank *of = &pass->profile->ranks[rank];
    uint64_t bytes = (uint64_t)volume->sent_bytes;
    of->messages += count;
    of->sent_bytes += bytes * count;
    rfn_size_count(pass->profile->point_to_point, bytes, count);
    if (volume->dest_world < 0)
        return 0;
    return rfn_messages_count(&pass->messages, rank, (uint32_t)volume->dest_world, bytes, count);
}

/* Counts one-sided operations, in the matrix where their window is known. */
static int count_access(struct rfn_profile_pass *pass, uint32_t rank,
                        const struct rfn_volume *volume, uint64_t count)
{
    struct rfn_profile_rank *of = &pass->profile->ranks[rank];
    uint64_t bytes = (volume->sent_bytes > 0 ? (uint64_t)volume->sent_bytes : 0) +
                     (volume->received_bytes > 0 ? (uint64_t)volume->received_bytes : 0);
    if (volume->target == RFN_PROC_NULL)
        return 0;
    of->accesses += count;
    of->accessed_bytes += bytes * count;
    rfn_size_count(pass->profile->one_sided, bytes, count);
    const uint64_t *comm = rfn_map_get(&pass->windows, window_key(rank, volume->window));
    int64_t target = comm ? rfn_comm_peer(pass->archive, (uint32_t)*comm, rank, volume->target)
                          : -1;
    return target < 0 ? 0
                      : rfn_messages_count(&pass->accesses, rank, (uint32_t)target, bytes, count);
}

static void count_collective(struct rfn_profile_pass *pass, uint32_t rank, uint64_t bytes,
                             uint64_t count)
{
    pass->profile->ranks[rank].collective_bytes += bytes * count;
    rfn_size_count(pass->profile->collective, bytes, count);
}

/* Bytes of `count` equal volumes go to the row of the call that described them. */
static void count_bytes(struct rfn_profile_pass *pass, struct rfn_profile_row *row,
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

static int count_volume(struct rfn_profile_pass *pass, uint32_t rank, const struct rfn_tally *tally,
                        const struct rfn_volume *volume, uint64_t count)
{
    int64_t bytes = rfn_volume_bytes(pass->volumes, tally->function, volume);
    count_bytes(pass, &pass->profile->rows[tally->row], volume, count);
    if (tally->of.collective && bytes >= 0)
        count_collective(pass, rank, (uint64_t)bytes, count);
    if (tally->of.access)
        return count_access(pass, rank, volume, count);
    return tally->of.message ? count_message(pass, rank, volume, count) : 0;
}

/* Ends the tally's run of equal volumes. */
static int settle(struct rfn_profile_pass *pass, uint32_t rank, struct rfn_tally *tally)
{
    struct rfn_volume volume = tally->volume;
    uint64_t run = tally->run;
    tally->run = 0;
    if (!run || tally->of.later)
        return 0;
    if (tally->of.awaited)
        volume.received_bytes = -1;
    return count_volume(pass, rank, tally, &volume, run);
}

/* ---- signatures ---- */

/* What kind of calls a tally is of. */
static int kind_of(struct rfn_profile_pass *pass, struct rfn_tally *tally, uint32_t number,
                   uint32_t path)
{
    const struct rfn_function_info *function = rfn_archive_function(pass->archive, number);
    const struct rfn_call *of = rfn_archive_call(pass->archive, number);
    uint8_t class_ = function->class_, operation = of->operation;
    bool setup = class_ == RFN_CLASS_SETUP;
    bool nonblocking = function->flags & (RFN_FUNCTION_NONBLOCKING | RFN_FUNCTION_PERSISTENT);
    int64_t row = row_of(pass, number, path);
    RFN_TRY((int)(row < 0 ? row : 0));
    *tally = (struct rfn_tally){
        .of.first = setup && (operation == RFN_MPI_Init || operation == RFN_MPI_Init_thread ||
                              operation == RFN_MPI_Session_init),
        .of.last = setup &&
                   (operation == RFN_MPI_Finalize || operation == RFN_MPI_Session_finalize),
        .of.setup = setup,
        .of.collective = class_ >= RFN_CLASS_ONE_TO_ALL && class_ <= RFN_CLASS_NEIGHBOR,
        .of.message = class_ == RFN_CLASS_SEND || class_ == RFN_CLASS_SSEND ||
                      class_ == RFN_CLASS_SENDRECV,
        .of.later = function->flags & RFN_FUNCTION_PERSISTENT,
        .of.awaited = nonblocking && (class_ == RFN_CLASS_RECV || class_ == RFN_CLASS_SENDRECV),
        .of.access = class_ == RFN_CLASS_RMA && of->in[RFN_IN_target_rank] >= 0 &&
                     of->in[RFN_IN_WIN] >= 0,
        .of.makes_window = of->out[RFN_OUT_WIN] >= 0,
        .function = number,
        .path = path,
        .row = (size_t)row,
        .min_ns = INT64_MAX,
        .max_ns = INT64_MIN,
    };
    return 0;
}

static int tally_init(struct rfn_profile_pass *pass, struct rfn_tally *tally,
                      const struct rfn_record *record)
{
    const struct rfn_function_info *function = rfn_archive_function(pass->archive,
                                                                    record->function);
    if (!rfn_class_is_mpi(function->class_))
        tally->of.region = true;
    else
        RFN_TRY(kind_of(pass, tally, record->function, record->path));
    return 0;
}

static int tally_of(struct rfn_profile_pass *pass, struct stream *stream,
                    const struct rfn_record *record, struct rfn_tally **tally)
{
    uint32_t symbol = record->symbol;
    if (symbol < stream->n_tallies && stream->tallies[symbol]) {
        *tally = stream->tallies[symbol];
        return 0;
    }
    RFN_TRY(RFN_GROW_ZEROED(stream->tallies, stream->n_tallies, (size_t)symbol + 1));
    *tally = stream->tallies[symbol] = aligned_alloc(LINE, sizeof **tally);
    if (!*tally)
        return RFN_E_NOMEM;
    memset(*tally, 0, sizeof **tally);
    return tally_init(pass, *tally, record);
}

/* ---- requests ---- */

/* The tally of the event that made the request; NULL: of another thread of the process. */
static const struct rfn_tally *maker(const struct stream *stream,
                                     const struct rfn_request_origin *origin)
{
    if (origin->symbol >= stream->n_tallies)
        return NULL;
    const struct rfn_tally *tally = stream->tallies[origin->symbol];
    bool same = tally && !tally->of.region && tally->function == origin->function &&
                tally->path == origin->path;
    return same ? tally : NULL;
}

/* A persistent request was started. */
static int take_started(struct rfn_profile_pass *pass, struct stream *stream,
                        const struct rfn_request_origin *origin)
{
    struct rfn_tally kind;
    struct rfn_volume volume = *origin->volume;
    const struct rfn_tally *made = maker(stream, origin);
    if (!made) {
        RFN_TRY(kind_of(pass, &kind, origin->function, origin->path));
        made = &kind;
    }
    if (origin->receives)
        volume.received_bytes = -1;
    stream->messages += made->of.message && is_sent(&volume);
    return stream->counts ? count_volume(pass, stream->rank, made, &volume, 1) : 0;
}

static void receive_bytes(struct rfn_profile_row *row, uint64_t bytes)
{
    row->bytes += bytes;
    row->received_bytes += bytes;
}

static int take_completed(struct rfn_profile_pass *pass, const struct stream *stream,
                          const struct rfn_completed *completed)
{
    const struct rfn_request_origin *origin = completed->origin;
    if (!completed->known || !origin->receives || completed->cancelled || !stream->counts)
        return 0;
    const struct rfn_tally *made = maker(stream, origin);
    int64_t row = made ? (int64_t)made->row : row_of(pass, origin->function, origin->path);
    RFN_TRY((int)(row < 0 ? row : 0));
    if (origin->volume->received_bytes > 0)
        receive_bytes(&pass->profile->rows[row], (uint64_t)origin->volume->received_bytes);
    return 0;
}

static void take_received(void *context, uint32_t number, uint32_t symbol, uint64_t bytes,
                          uint64_t count)
{
    struct rfn_profile_pass *pass = context;
    const struct stream *stream = &pass->streams[number];
    if (stream->counts)
        receive_bytes(&pass->profile->rows[stream->tallies[symbol]->row], bytes * count);
}

static int take_requests(void *context, uint32_t number, const struct rfn_request_effects *effects)
{
    struct rfn_profile_pass *pass = context;
    struct stream *stream = &pass->streams[number];
    for (size_t i = 0; i < effects->n_started; i++)
        RFN_TRY(take_started(pass, stream, effects->started[i]));
    for (size_t i = 0; i < effects->n_completed; i++)
        RFN_TRY(take_completed(pass, stream, &effects->completed[i]));
    return 0;
}

/* ---- events ---- */

/* The run's beginning and end. */
static void take_ends(struct rfn_profile_pass *pass, const struct rfn_tally *tally,
                      const struct rfn_event_order_stream *at)
{
    struct rfn_profile *profile = pass->profile;
    if (tally->of.first && (!pass->seen_first || at->from_ns < profile->start_ns)) {
        profile->start_ns = at->from_ns;
        pass->seen_first = true;
    }
    if (tally->of.last && (!pass->seen_last || at->to_ns > profile->end_ns)) {
        profile->end_ns = at->to_ns;
        pass->seen_last = true;
    }
}

/* What lies between the event before and this one. */
static void take_gap(struct stream *stream, const struct rfn_event_order_stream *at)
{
    if (!stream->any) {
        stream->any = true;
        stream->first_ns = at->from_ns;
    } else if (stream->pauses) {
        stream->unrecorded_ns += rfn_off_times_overlap(stream->pauses, &stream->pause,
                                                       stream->last_ns, at->from_ns);
    }
    stream->last_ns = at->to_ns;
}

static struct rfn_region_clock clock_at(const struct stream *stream, int64_t ns)
{
    return (struct rfn_region_clock){ns, stream->mpi_ns, stream->waiting_ns, stream->unrecorded_ns,
                                     stream->messages};
}

/* A window gets a handle, which another one may have had: what was done with that is counted. */
static int take_window(struct rfn_profile_pass *pass, const struct stream *stream,
                       const struct rfn_record *record)
{
    const struct rfn_call *call = rfn_archive_call(pass->archive, record->function);
    const struct stream *all = pass->streams, *end = all + rfn_archive_run(pass->archive)->streams,
                        *of = stream;
    int64_t window = record->out[call->out[RFN_OUT_WIN]],
            comm = call->in[RFN_IN_COMM] < 0 ? -1 : record->in[call->in[RFN_IN_COMM]];
    if (record->error || window < 0 || comm < 0 || comm >= rfn_archive_comms(pass->archive))
        return 0;
    while (of > all && of[-1].rank == stream->rank)
        of--;
    for (; of < end && of->rank == stream->rank; of++) {
        for (size_t i = 0; i < of->n_tallies; i++) {
            if (of->tallies[i] && of->tallies[i]->of.access)
                RFN_TRY(settle(pass, of->rank, of->tallies[i]));
        }
    }
    return rfn_map_put(&pass->windows, window_key(stream->rank, window), (uint64_t)comm);
}

static void count_long(struct rfn_tally *tally, int64_t ns)
{
    tally->long_events++;
    tally->long_ns += ns;
}

/* How often, how long, and the volume of a counter. */
static void count_call(const struct rfn_profile_pass *pass, struct rfn_tally *tally,
                       const struct rfn_event_order_stream *at, int64_t ns)
{
    const struct rfn_record *record = at->record;
    tally->events++;
    tally->calls += record->polls;
    tally->time_ns += ns;
    tally->min_ns = ns < tally->min_ns ? ns : tally->min_ns;
    tally->max_ns = ns > tally->max_ns ? ns : tally->max_ns;
    if (ns > RFN_LONG_NS)
        count_long(tally, ns);
    if (pass->counted) {
        tally->volume_before += (uint64_t)record->volume_gap;
        tally->volume_inside += (uint64_t)record->volume_inside;
    }
    if (record->failed_poll) {
        tally->failed_polls += record->polls;
        tally->between_polls_ns += at->to_ns - at->from_ns - ns;
    }
}

static int take_call(struct rfn_profile_pass *pass, struct stream *stream, struct rfn_tally *tally,
                     const struct rfn_match_symbol *symbol, const struct rfn_event_order_stream *at)
{
    const struct rfn_record *record = at->record;
    int64_t ns = rfn_event_order_inside_ns(at);
    stream->mpi_ns += ns;
    if (stream->counts)
        count_call(pass, tally, at, ns);
    if (tally->of.setup)
        take_ends(pass, tally, at);
    if (tally->of.makes_window)
        RFN_TRY(take_window(pass, stream, record));
    if (record->failed_poll)
        return 0;
    if (tally->version != symbol->version) {
        RFN_TRY(settle(pass, stream->rank, tally));
        tally->volume = symbol->volume;
        tally->version = symbol->version;
        tally->of.sends = tally->of.message && !tally->of.later && is_sent(&tally->volume);
    }
    tally->run += stream->counts;
    stream->messages += tally->of.sends;
    return 0;
}

static int take_event(void *context, uint32_t number, const struct rfn_match_symbol *symbol,
                      const struct rfn_event_order_stream *at)
{
    struct rfn_profile_pass *pass = context;
    struct stream *stream = &pass->streams[number];
    struct rfn_tally *tally;
    RFN_TRY(tally_of(pass, stream, at->record, &tally));
    take_gap(stream, at);
    if (!tally->of.region)
        return take_call(pass, stream, tally, symbol, at);
    RFN_TRY(rfn_regions_event(pass->regions, &stream->regions, at->record,
                              clock_at(stream, at->from_ns)));
    if (pass->region != RFN_NO_REGION)
        stream->counts = rfn_region_is_open(&stream->regions, pass->region);
    tally->events += stream->counts;
    return 0;
}

void rfn_profile_pass_add_wait(struct rfn_profile_pass *pass, uint32_t number, int64_t ns)
{
    pass->streams[number].waiting_ns += ns;
}

bool rfn_profile_pass_counts(const struct rfn_profile_pass *pass, uint32_t number)
{
    return pass->streams[number].counts;
}

void rfn_profile_pass_waited(struct rfn_profile_pass *pass, uint32_t number, uint32_t symbol,
                             int64_t ns, bool between_polls)
{
    struct stream *stream = &pass->streams[number];
    struct rfn_tally *tally = stream->tallies[symbol];
    stream->mpi_ns += ns;
    if (!stream->counts)
        return;
    tally->time_ns += ns;
    tally->between_polls_ns -= between_polls ? ns : 0;
}

/* ---- batches ---- */

static void skip_pauses(struct stream *stream, const struct rfn_batch *batch)
{
    int64_t ns = batch->before_ns;
    for (uint32_t i = 0; i < batch->taken; i++) {
        int64_t from_ns = ns + batch->times[i].gap_ns;
        stream->unrecorded_ns += rfn_off_times_overlap(stream->pauses, &stream->pause, ns, from_ns);
        ns = from_ns + batch->times[i].duration_ns;
    }
}

/* The events at one place of the iterations, which are calls of one symbol. */
static void take_calls(struct stream *stream, const struct rfn_batch *batch, uint32_t place)
{
    struct rfn_tally *tally = stream->tallies[batch->records[place]->symbol];
    uint32_t n = 0, min = UINT32_MAX, max = 0;
    int64_t time_ns = 0;
    for (uint32_t i = place; i < batch->taken; i += batch->width, n++) {
        uint32_t ns = batch->times[i].duration_ns;
        time_ns += ns;
        min = ns < min ? ns : min;
        max = ns > max ? ns : max;
    }
    stream->mpi_ns += time_ns;
    stream->messages += tally->of.sends ? n : 0;
    if (!n || !stream->counts)
        return;
    tally->events += n;
    tally->calls += n;
    tally->run += n;
    tally->time_ns += time_ns;
    tally->min_ns = min < tally->min_ns ? min : tally->min_ns;
    tally->max_ns = max > tally->max_ns ? max : tally->max_ns;
    for (uint32_t i = place; i < batch->taken && max > RFN_LONG_NS; i += batch->width) {
        if (batch->times[i].duration_ns > RFN_LONG_NS)
            count_long(tally, batch->times[i].duration_ns);
    }
}

/* In place of each of its events: each symbol has occurred before. */
static void take_batch(void *context, uint32_t number, const struct rfn_batch *batch)
{
    struct rfn_profile_pass *pass = context;
    struct stream *stream = &pass->streams[number];
    for (uint32_t i = 0; i < batch->width; i++) /* most are far from the processor */
        __builtin_prefetch(stream->tallies[batch->records[i]->symbol], 1);
    if (stream->pauses)
        skip_pauses(stream, batch);
    for (uint32_t i = 0; i < batch->width; i++)
        take_calls(stream, batch, i);
    stream->last_ns = rfn_batch_taken_ns(batch);
}

/* ---- after the last event ---- */

/* Events of a stream are in order of time, so its first and last are enough. */
static void finish_span(struct rfn_profile_pass *pass, const struct stream *stream)
{
    struct rfn_profile_rank *rank = &pass->profile->ranks[stream->rank];
    if (!stream->any)
        return;
    rank->threads++;
    if (pass->region != RFN_NO_REGION) {
        rank->span_ns += rfn_region_time_ns(&stream->regions, pass->region);
    } else {
        rank->unrecorded_ns += stream->unrecorded_ns;
        rank->span_ns += stream->last_ns - stream->first_ns;
        pass->profile->unrecorded_ns += stream->unrecorded_ns;
    }
    if (!pass->seen_any || stream->first_ns < pass->any_first)
        pass->any_first = stream->first_ns;
    if (!pass->seen_any || stream->last_ns > pass->any_last)
        pass->any_last = stream->last_ns;
    pass->seen_any = true;
}

static void finish_volume(const struct rfn_tally *tally, struct rfn_profile_row *row,
                          struct rfn_profile_rank *rank)
{
    row->volume_before += tally->volume_before;
    row->volume_inside += tally->volume_inside;
    rank->volume_outside += tally->volume_before;
    rank->volume_mpi += tally->volume_inside;
    if (tally->of.setup)
        rank->volume_setup += tally->volume_inside;
}

static int finish_tally(struct rfn_profile_pass *pass, uint32_t number, struct rfn_tally *tally)
{
    struct rfn_profile *profile = pass->profile;
    struct rfn_profile_rank *rank = &profile->ranks[number];
    rank->events += tally->events;
    profile->events += tally->events;
    if (tally->of.region) {
        profile->region_events += tally->events;
        return 0;
    }
    RFN_TRY(settle(pass, number, tally));
    struct rfn_profile_row *row = &profile->rows[tally->row];
    row->events += tally->events;
    row->calls += tally->calls;
    row->min_ns = tally->min_ns < row->min_ns ? tally->min_ns : row->min_ns;
    if (tally->max_ns > row->max_ns)
        row->max_rank = number;
    row->max_ns = tally->max_ns > row->max_ns ? tally->max_ns : row->max_ns;
    row->long_events += tally->long_events;
    row->long_ns += tally->long_ns;
    row->between_polls_ns += tally->between_polls_ns;
    pass->of_rank[tally->row].time_ns += tally->time_ns;
    pass->of_rank[tally->row].touched |= tally->events > 0;
    rank->calls += tally->calls;
    rank->mpi_ns += tally->time_ns;
    if (tally->of.setup)
        rank->setup_ns += tally->time_ns;
    finish_volume(tally, row, rank);
    profile->calls += tally->calls;
    profile->failed_polls += tally->failed_polls;
    return 0;
}

static int finish_stream(struct rfn_profile_pass *pass, struct stream *stream)
{
    rfn_regions_end_stream(pass->regions, &stream->regions, clock_at(stream, stream->last_ns));
    finish_span(pass, stream);
    for (size_t i = 0; i < stream->n_tallies; i++) {
        if (stream->tallies[i])
            RFN_TRY(finish_tally(pass, stream->rank, stream->tallies[i]));
    }
    return 0;
}

/* The streams of a rank lie side by side, and ranks ascend. */
static int finish_streams(struct rfn_profile_pass *pass)
{
    uint32_t n = rfn_archive_run(pass->archive)->streams;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = pass->streams[i].rank;
        if (rank >= pass->profile->n_ranks)
            continue;
        RFN_TRY(finish_stream(pass, &pass->streams[i]));
        if (i + 1 < n && pass->streams[i + 1].rank == rank)
            continue;
        finish_rank(pass, rank);
        rfn_regions_end_rank(pass->regions, rank);
    }
    return 0;
}

/* Rows of calls that are made elsewhere only. */
static void drop_empty(struct rfn_profile *profile)
{
    size_t n = 0;
    for (size_t i = 0; i < profile->n_rows; i++) {
        if (profile->rows[i].events)
            profile->rows[n++] = profile->rows[i];
    }
    profile->n_rows = n;
}

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

/* What the recorder did on each rank, as USAGE tells, if it can be read. */
static int take_recording(struct rfn_profile_pass *pass)
{
    struct rfn_profile *profile = pass->profile;
    struct rfn_usage usage;
    if (!profile->times || pass->region != RFN_NO_REGION)
        return 0;
    const int error = rfn_usage_read(pass->archive, &usage, NULL);
    for (size_t i = 0; i < usage.n && !error; i++) {
        struct rfn_profile_rank *rank = &profile->ranks[usage.streams[i].rank];
        const int64_t outside_ns = rfn_profile_outside_ns(rank);
        const int64_t ns = (int64_t)usage.streams[i].recording_ns;
        const int64_t own = ns < outside_ns ? ns : outside_ns > 0 ? outside_ns : 0;
        rank->recording_ns += own;
        profile->recording_ns += own;
    }
    rfn_usage_release(&usage);
    return error == RFN_E_NOMEM ? error : 0;
}

static void finish(struct rfn_profile_pass *pass)
{
    struct rfn_profile *profile = pass->profile;
    if (!pass->seen_first)
        profile->start_ns = pass->any_first;
    if (!pass->seen_last)
        profile->end_ns = pass->any_last;
    if (pass->region != RFN_NO_REGION)
        drop_empty(profile);
    if (profile->rows)
        qsort(profile->rows, profile->n_rows, sizeof *profile->rows, by_weight);
    profile->pairs = rfn_messages_take(&pass->messages, &profile->n_pairs);
    profile->accesses = rfn_messages_take(&pass->accesses, &profile->n_accesses);
    profile->regions = rfn_regions_take(pass->regions, &profile->n_regions);
}

int rfn_profile_pass_finish(struct rfn_profile_pass *pass, struct rfn_profile **profile)
{
    RFN_TRY(finish_streams(pass));
    finish(pass);
    RFN_TRY(take_recording(pass));
    rfn_profile_take_whole(pass->profile);
    *profile = pass->profile;
    pass->profile = NULL;
    return 0;
}

/* ---- before the first event ---- */

static int find_pauses(struct rfn_profile_pass *pass)
{
    RFN_TRY(rfn_off_times_by_rank(pass->archive, &pass->pauses));
    for (uint32_t i = 0; pass->pauses && i < rfn_archive_run(pass->archive)->streams; i++) {
        const uint32_t rank = pass->streams[i].rank;
        if (rank >= pass->profile->n_ranks || !pass->pauses[rank].n)
            continue;
        pass->streams[i].pauses = &pass->pauses[rank];
        pass->profile->paused = true;
    }
    return 0;
}

int64_t rfn_profile_pass_off_ns(const struct rfn_profile_pass *pass, uint32_t stream,
                                int64_t from_ns, int64_t to_ns)
{
    const struct rfn_off_times *pauses = pass->streams[stream].pauses;
    size_t first = 0;
    return pauses ? rfn_off_times_overlap(pauses, &first, from_ns, to_ns) : 0;
}

static int make_streams(struct rfn_profile_pass *pass)
{
    uint32_t n = rfn_archive_run(pass->archive)->streams;
    pass->streams = calloc((size_t)n + 1, sizeof *pass->streams);
    if (!pass->streams)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        struct rfn_stream_info info = rfn_archive_stream(pass->archive, i);
        pass->streams[i].rank = info.rank;
        pass->streams[i].counts = pass->region == RFN_NO_REGION;
        pass->counted |= info.volume;
        if (info.rank < pass->profile->n_ranks)
            pass->profile->ranks[info.rank].counted += info.volume;
    }
    return find_pauses(pass);
}

static int init(struct rfn_profile_pass *pass, const struct rfn_archive *archive, uint32_t region)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    pass->archive = archive;
    pass->watcher = (struct rfn_match_watcher){.context = pass,
                                               .event = take_event,
                                               .batch = take_batch,
                                               .requests = take_requests,
                                               .received = take_received};
    pass->profile = calloc(1, sizeof *pass->profile);
    if (!pass->profile)
        return RFN_E_NOMEM;
    pass->profile->n_ranks = run->ranks;
    pass->profile->times = run->times;
    pass->region = region;
    pass->profile->region = region == RFN_NO_REGION ? NULL : rfn_archive_region(archive, region);
    pass->profile->ranks = calloc((size_t)run->ranks + 1, sizeof *pass->profile->ranks);
    pass->volumes = rfn_volumes_new(archive);
    pass->regions = rfn_regions_new(archive, region);
    return pass->profile->ranks && pass->volumes && pass->regions ? make_streams(pass)
                                                                  : RFN_E_NOMEM;
}

const struct rfn_match_watcher *rfn_profile_pass_watcher(const struct rfn_profile_pass *pass)
{
    return &pass->watcher;
}

int rfn_profile_pass_new(const struct rfn_archive *archive, uint32_t region,
                         struct rfn_profile_pass **pass)
{
    struct rfn_profile_pass *made = calloc(1, sizeof *made);
    if (!made)
        return RFN_E_NOMEM;
    int error = init(made, archive, region);
    if (error < 0)
        rfn_profile_pass_free(made);
    else
        *pass = made;
    return error;
}

static void release_stream(struct stream *stream)
{
    for (size_t i = 0; i < stream->n_tallies; i++) {
        free(stream->tallies[i]);
    }
    free(stream->tallies);
    rfn_region_stream_release(&stream->regions);
}

void rfn_profile_pass_free(struct rfn_profile_pass *pass)
{
    if (!pass)
        return;
    for (uint32_t i = 0; pass->streams && i < rfn_archive_run(pass->archive)->streams; i++)
        release_stream(&pass->streams[i]);
    rfn_off_times_by_rank_free(pass->archive, pass->pauses);
    rfn_volumes_free(pass->volumes);
    rfn_messages_release(&pass->messages);
    rfn_messages_release(&pass->accesses);
    rfn_map_release(&pass->windows);
    rfn_regions_free(pass->regions);
    rfn_map_release(&pass->rows);
    rfn_profile_free(pass->profile);
    free(pass->of_rank);
    free(pass->streams);
    free(pass);
}
