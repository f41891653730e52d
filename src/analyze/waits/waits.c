/* waits.c - finds wait states, their causes and the critical path (doc/analysis.md): a consumer of
 * matching.h.
 *
 *   wait_loop.c       events of loops of which it is known what they send, post and complete
 *   main_part.c       what belongs to the start and the end of the run
 *   call_exit.c       an event leaves: how long it waited, for whom
 *   wait_receivers.c  whether a send waited for its receiver
 *   polls.c           waiting that programs make themselves, of unsuccessful polls
 *   wrong_order.c     whether another order of receiving would have shortened a wait
 *   delay.c           the cause of a wait
 *   wait_tally.c      sums, causes
 *
 * This file prepares and puts together, and knows what lies between two events.
 */
#include "refrain/waits.h"

#include "analyze/match/own_times.h"
#include "analyze/waits/waits_internal.h"
#include "refrain/behaviour.h"

#include <stdlib.h>
#include <string.h>

/* So many activities get the time that each rank spent in them: 8 bytes per rank each. */
enum { SPENT_ACTIVITIES = 64 };

/* Entries of a stream's history: 8 bytes each. */
enum { MANY_STREAMS = 256, LONG_HISTORY = 4096, SHORT_HISTORY = 1024 };

/* ---- symbols ---- */

static int new_symbol(struct rfn_match *match, uint32_t stream, struct rfn_match_symbol *of,
                      const struct rfn_record *record)
{
    struct rfn_wait_pass *pass = (struct rfn_wait_pass *)match;
    struct rfn_wait_symbol *symbol = (struct rfn_wait_symbol *)of;
    symbol->polls = rfn_archive_function(match->archive, record->function)->flags &
                    RFN_FUNCTION_POLL;
    struct rfn_activity in_mpi = {
        .kind = RFN_ACTIVITY_MPI, .at = {record->function, record->path}, .region = RFN_NO_REGION};
    int64_t site = rfn_site_of(&pass->activities, in_mpi.at);
    RFN_TRY((int)(site < 0 ? site : 0));
    int64_t activity = rfn_activity_of(&pass->activities, &in_mpi);
    RFN_TRY((int)(activity < 0 ? activity : 0));
    symbol->site = of->site = (uint32_t)site;
    symbol->mpi_activity = (uint32_t)activity;
    symbol->before = UINT32_MAX;
    int8_t source = of->role->in[RFN_IN_source];
    uint32_t rank = rfn_event_order_stream(match->replay, stream)->rank;
    if (rank < match->n_ranks && source >= 0 && record->in[source] == RFN_ANY)
        pass->waits->takes_any[rank] = true;
    return 0;
}

/* ---- between events ---- */

/* What the stream does between two calls. */
static int64_t gap_activity(struct rfn_wait_pass *pass, const struct rfn_wait_stream *stream)
{
    struct rfn_wait_symbol *symbol = rfn_symbol_of(stream);
    uint32_t region = rfn_pass_region(stream);
    if (symbol->before == stream->site && symbol->region == region && stream->site != UINT32_MAX)
        return symbol->gap_activity;
    struct rfn_activity activity = {
        .kind = RFN_ACTIVITY_START, .at = pass->activities.sites[symbol->site], .region = region};
    if (stream->site != UINT32_MAX) {
        activity.kind = RFN_ACTIVITY_COMPUTE;
        activity.before = pass->activities.sites[stream->site];
    } else {
        activity.at = (struct rfn_call_site){0};
    }
    int64_t number = rfn_activity_of(&pass->activities, &activity);
    RFN_TRY((int)(number < 0 ? number : 0));
    symbol->before = stream->site;
    symbol->region = region;
    symbol->gap_activity = (uint32_t)number;
    return number;
}

/* What the recorder did in the gap, which it takes off: also of what lies before the main part, as
 * a profile has taken all of it off already. */
static int take_own_work(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                         const struct rfn_event_order_stream *at, int64_t from, int64_t *gap)
{
    if (from < pass->main_from_ns && !at->first)
        stream->start.ns -= rfn_off_times_overlap(&stream->own, &stream->own_at, from,
                                                  rfn_least(from + *gap, pass->main_from_ns));
    const int64_t own = rfn_off_times_overlap(&stream->own, &stream->own_at, from, from + *gap);
    if (!own)
        return 0;
    const struct rfn_activity activity = {.kind = RFN_ACTIVITY_RECORDING, .region = RFN_NO_REGION};
    const int64_t number = rfn_activity_of(&pass->activities, &activity);
    RFN_TRY((int)(number < 0 ? number : 0));
    *gap -= own;
    return rfn_pass_did(pass, stream, (uint32_t)number, own);
}

/* The gap in front of the event; in a phase of polls, it is a part of that. */
static int take_gap(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                    const struct rfn_event_order_stream *at)
{
    int64_t from = at->first ? rfn_event_order_start_ns(pass->match.replay) : at->before_ns;
    int64_t gap = at->enter_ns - from;
    pass->behind_init |= pass->main_from_ns && !at->first && from >= pass->first_init_ns;
    if (gap <= 0)
        return 0;
    if (from < pass->main_from_ns && !at->first)
        rfn_pass_outside(pass, (uint32_t)(stream - pass->streams), from,
                         rfn_least(at->enter_ns, pass->main_from_ns), &stream->start);
    int64_t activity = gap_activity(pass, stream);
    RFN_TRY((int)(activity < 0 ? activity : 0));
    if (stream->polls.any)
        return rfn_pass_between_polls(stream, at, (uint32_t)activity, gap);
    if (stream->own.n)
        RFN_TRY(take_own_work(pass, stream, at, from, &gap));
    return rfn_pass_did(pass, stream, (uint32_t)activity, gap);
}

/* An event that has waited for nothing leaves in its enter. */
static inline int leave_at_once(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                                uint32_t number, const struct rfn_event_order_stream *at)
{
    int64_t ns = at->exit_ns - at->enter_ns;
    if (stream->polled_ns) { /* it has got nothing: the phase goes on */
        stream->polls.any = true;
        RFN_TRY(rfn_pass_poll(pass, stream, at));
        rfn_pass_over(pass, stream, number, at->exit_ns);
        return RFN_REPLAY_LEFT;
    }
    if (at->record->polls > 1 || at->record->failed_poll) {
        RFN_TRY(rfn_pass_leave(pass, number, at, true));
        return RFN_REPLAY_LEFT;
    }
    if (ns > 0 && pass->waits->times)
        RFN_TRY(rfn_pass_did(pass, stream, rfn_symbol_of(stream)->mpi_activity, ns));
    rfn_pass_over(pass, stream, number, at->exit_ns);
    return RFN_REPLAY_LEFT;
}

/* The gap in front of the event, and the regions that it begins or ends. */
static inline int enter_symbol(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                               const struct rfn_event_order_stream *at)
{
    const struct rfn_call *role = stream->match.symbol->role;
    stream->polled_ns = 0;
    if (pass->waits->times) {
        if (stream->polls.any && !rfn_symbol_of(stream)->polls)
            RFN_TRY(rfn_pass_flush_polls(pass, stream));
        RFN_TRY(take_gap(pass, stream, at));
        if (stream->polls.any && !at->record->failed_poll)
            rfn_pass_end_polls(stream);
    }
    stream->match.here.at = stream->history.at;
    if (role->kind == RFN_CALL_INIT || role->kind == RFN_CALL_FINALIZE)
        rfn_pass_enter_setup(pass, stream, at);
    return rfn_open_regions_event(&stream->regions, role, at->record);
}

static int enter(void *context, uint32_t number, struct rfn_event_order_stream *at)
{
    struct rfn_wait_pass *pass = context;
    struct rfn_wait_stream *stream = &pass->streams[number];
    bool has_entered = false;
    if (stream->loop && stream->loop->events && at->before_ns >= pass->main_from_ns) {
        int result = rfn_pass_enter_loop(pass, stream, number, at, &has_entered);
        if (result || has_entered)
            return result;
    }
    RFN_TRY(rfn_match_begin(&pass->match, &stream->match, number, at));
    RFN_TRY(enter_symbol(pass, stream, at));
    RFN_TRY(rfn_match_call(&pass->match, &stream->match, at));
    if (stream->loop && stream->loop->requests.knowledge == RFN_LOOP_CLOSED)
        rfn_pass_learn(pass, stream, at, stream->site);
    if (stream->match.n_awaited || stream->match.one_sided)
        return 0;
    return leave_at_once(pass, stream, number, at);
}

/* ---- batches ---- */

static bool records_within(struct rfn_wait_stream *stream, const struct rfn_batch *batch)
{
    const struct rfn_off_times *own = &stream->own;
    size_t at = stream->own_at;
    while (at < own->n && own->items[at].to_ns <= batch->before_ns)
        at++;
    return at < own->n && own->items[at].from_ns < batch->end_ns;
}

/* What iterations do to requests is learned in a loop's first batch. Other threads of a process may
 * do something to its requests. In a batch in which the recorder worked gaps are looked at. */
static int begin_batch(void *context, uint32_t number, const struct rfn_event_order_stream *at)
{
    struct rfn_wait_pass *pass = context;
    struct rfn_wait_stream *stream = &pass->streams[number];
    if (at->several || records_within(stream, at->batch))
        return 0;
    RFN_TRY(RFN_GROW_ZEROED(stream->loops, stream->loops_capacity, (size_t)at->batch->loop + 1));
    stream->loop = &stream->loops[at->batch->loop];
    stream->match.loop = &stream->loop->requests;
    return rfn_pass_begin_loop(stream, at->batch);
}

static int end_batch(void *context, uint32_t number, const struct rfn_event_order_stream *at)
{
    struct rfn_wait_pass *pass = context;
    pass->streams[number].loop = NULL;
    return rfn_match_end_batch(&pass->match, number, at);
}

/* Where a stream is in what it will touch. */
static void ahead(void *context, uint32_t number)
{
    const struct rfn_wait_pass *pass = context;
    const struct rfn_wait_stream *stream = &pass->streams[number];
    const struct rfn_history *history = &stream->history;
    __builtin_prefetch(stream->match.symbol);
    __builtin_prefetch(stream->match.awaited);
    __builtin_prefetch(&history->log[history->at & history->mask], 1);
    __builtin_prefetch(&stream->critical.chains[stream->critical.current]);
}

static int end(void *context, uint32_t number)
{
    struct rfn_wait_pass *pass = context;
    RFN_TRY(rfn_match_end(&pass->match, number));
    return pass->waits->times ? rfn_pass_flush_polls(pass, &pass->streams[number]) : 0;
}

/* ---- the pass ---- */

/* After the replay has opened the streams. */
static int make_steps(struct rfn_wait_pass *pass, const struct rfn_waits_options *options)
{
    struct rfn_criterion criterion;
    if (!options->behaviour || !pass->waits->times)
        return 0;
    RFN_TRY(rfn_criterion_parse(RFN_BEHAVIOUR_METHOD, true, &criterion, NULL));
    pass->steps = malloc(sizeof *pass->steps);
    if (!pass->steps)
        return RFN_E_NOMEM;
    RFN_TRY(rfn_watched_steps_init(pass->steps, pass->match.archive, &criterion, options->all_steps,
                                   &pass->activities));
    for (uint32_t i = 0; i < pass->steps->n_streams; i++) {
        const struct rfn_event_order_stream *stream = rfn_event_order_stream(pass->match.replay, i);
        if (stream->open)
            RFN_TRY(rfn_watched_steps_open(pass->steps, pass->match.archive, i, stream->cursor));
    }
    pass->steps->blamed = true;
    pass->match.stepper = &pass->steps->stepper;
    return rfn_watched_steps_choose(pass->steps, pass->match.archive);
}

static int init_streams(struct rfn_wait_pass *pass)
{
    uint32_t n = pass->match.n_streams;
    size_t length = n <= MANY_STREAMS ? LONG_HISTORY : SHORT_HISTORY;
    pass->streams = (struct rfn_wait_stream *)(void *)pass->match.streams;
    for (uint32_t i = 0; i < n; i++) {
        pass->streams[i].site = UINT32_MAX;
        RFN_TRY(rfn_history_init(&pass->streams[i].history, length));
    }
    return 0;
}

static struct rfn_off_times *own_times_of(void *context, uint32_t stream)
{
    return &((struct rfn_wait_pass *)context)->streams[stream].own;
}

static int pass_init(struct rfn_wait_pass *pass, void (*progress)(void *, double), void *context)
{
    const struct rfn_archive *archive = pass->match.archive;
    const struct rfn_event_order_hooks hooks = {.enter = enter,
                                                .leave = rfn_pass_leave,
                                                .begin_batch = begin_batch,
                                                .end_batch = end_batch,
                                                .end = end,
                                                .ahead = ahead,
                                                .progress = progress,
                                                .context = pass,
                                                .progress_context = context};
    pass->match.hooks = (struct rfn_match_consumer){.stream_size = sizeof *pass->streams,
                                                    .symbol_size = sizeof(struct rfn_wait_symbol),
                                                    .symbol = new_symbol,
                                                    .late = rfn_pass_late,
                                                    .wakes = rfn_pass_wakes};
    pass->waits = calloc(1, sizeof *pass->waits);
    if (!pass->waits)
        return RFN_E_NOMEM;
    RFN_TRY(rfn_profile_pass_new(archive, pass->region, &pass->profile));
    pass->match.watcher = rfn_profile_pass_watcher(pass->profile);
    RFN_TRY(rfn_match_init(&pass->match, &hooks));
    RFN_TRY(init_streams(pass));
    RFN_TRY(rfn_own_times_find(&pass->match, own_times_of, pass));
    pass->waits->n_ranks = pass->match.n_ranks;
    pass->waits->takes_any = calloc((size_t)pass->match.n_ranks + 1,
                                    sizeof *pass->waits->takes_any);
    if (!pass->waits->takes_any)
        return RFN_E_NOMEM;
    pass->waits->times = rfn_archive_run(archive)->times;
    rfn_tally_init(&pass->tally, pass->match.n_ranks);
    pass->turn_ns = rfn_event_order_turn_ns(pass->match.replay);
    return 0;
}

static void pass_release(struct rfn_wait_pass *pass)
{
    for (uint32_t i = 0; pass->streams && i < pass->match.n_streams; i++) {
        rfn_history_release(&pass->streams[i].history);
        rfn_critical_release(&pass->streams[i].critical);
        for (size_t k = 0; k < pass->streams[i].loops_capacity; k++)
            rfn_pass_release_loop(&pass->streams[i].loops[k]);
        free(pass->streams[i].loops);
        rfn_open_regions_release(&pass->streams[i].regions);
        free(pass->streams[i].polls.parts);
        rfn_off_times_release(&pass->streams[i].own);
    }
    rfn_match_release(&pass->match);
    if (pass->steps)
        rfn_watched_steps_release(pass->steps);
    free(pass->steps);
    rfn_profile_pass_free(pass->profile);
    rfn_activities_release(&pass->activities);
    rfn_delays_release(&pass->delays);
    rfn_tally_release(&pass->tally);
    free(pass->late.items);
}

/* ---- the result ---- */

static int by_time(const void *left, const void *right)
{
    const struct rfn_critical_row *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return a->activity < b->activity ? -1 : a->activity > b->activity;
}

/* Sums of what all streams did, per activity, from the beginning on. */
static int sum_histories(struct rfn_wait_pass *pass, size_t n_activities)
{
    struct rfn_sums *sums = &pass->delays.sums;
    uint32_t n = rfn_archive_run(pass->match.archive)->streams;
    if (n_activities)
        RFN_TRY(rfn_sums_grow(sums, (uint32_t)n_activities - 1));
    rfn_sums_reset(sums);
    for (uint32_t i = 0; i < n; i++) {
        const struct rfn_history *history = &pass->streams[i].history;
        rfn_history_sum(history, &history->marks[0], 0, history->at, 1, sums);
    }
    return 0;
}

/* What each rank did of the activities that cost most. */
static int finish_spent(struct rfn_wait_pass *pass)
{
    struct rfn_waits *waits = pass->waits;
    struct rfn_sums *sums = &pass->delays.sums;
    uint32_t known[SPENT_ACTIVITIES];
    size_t n = 0;
    waits->spent = calloc(waits->n_activities + 1, sizeof *waits->spent);
    if (!waits->spent)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < waits->n_causes && n < SPENT_ACTIVITIES; i++) {
        int64_t **of = &waits->spent[waits->causes[i].activity];
        if (*of)
            continue;
        if (!(*of = calloc((size_t)waits->n_ranks + 1, sizeof **of)))
            return RFN_E_NOMEM;
        known[n++] = waits->causes[i].activity;
    }
    for (uint32_t i = 0; i < pass->match.n_streams; i++) {
        const struct rfn_history *history = &pass->streams[i].history;
        uint32_t rank = rfn_event_order_stream(pass->match.replay, i)->rank;
        rfn_sums_reset(sums);
        rfn_history_sum(history, &history->marks[0], 0, history->at, 1, sums);
        for (size_t k = 0; k < n && rank < waits->n_ranks; k++)
            waits->spent[known[k]][rank] += rfn_sums_of(sums, known[k]);
    }
    return 0;
}

static int finish_critical(struct rfn_wait_pass *pass)
{
    struct rfn_waits *waits = pass->waits;
    const struct rfn_critical_stream *last = &pass->streams[pass->last.stream].critical;
    const struct rfn_chain *chain = &last->chains[last->current];
    double ranks = 0;
    for (uint32_t i = 0; i < waits->n_ranks; i++)
        ranks += !pass->match.absent[i];
    waits->critical = calloc(chain->capacity + 1, sizeof *waits->critical);
    if (!waits->critical)
        return RFN_E_NOMEM;
    RFN_TRY(sum_histories(pass, chain->capacity));
    for (size_t i = 0; i < chain->capacity; i++) {
        if (!chain->ns[i])
            continue;
        double mean = (double)rfn_sums_of(&pass->delays.sums, (uint32_t)i) / ranks;
        waits->critical_ns += chain->ns[i];
        waits->critical[waits->n_critical++] = (struct rfn_critical_row){
            .activity = (uint32_t)i,
            .ns = chain->ns[i],
            .mean_ns = mean,
            .imbalance_ns = (double)chain->ns[i] - mean};
    }
    waits->critical_rank = rfn_event_order_stream(pass->match.replay, pass->last.stream)->rank;
    qsort(waits->critical, waits->n_critical, sizeof *waits->critical, by_time);
    return 0;
}

static uint64_t row_key(uint32_t function, uint32_t path)
{
    return (uint64_t)function << 32 | path;
}

/* The rows of the profile get the waits of their call paths. */
static int share_waits(const struct rfn_waits *waits, struct rfn_profile *profile)
{
    struct rfn_map rows = RFN_MAP_INIT;
    int error = 0;
    for (size_t i = 0; i < profile->n_rows && !error; i++)
        error = rfn_map_put(&rows, row_key(profile->rows[i].function, profile->rows[i].path), i);
    for (size_t i = 0; i < waits->n_rows && !error; i++) {
        const struct rfn_wait_row *wait = &waits->rows[i];
        const uint64_t *row = rfn_map_get(&rows, row_key(wait->function, wait->path));
        if (row)
            profile->rows[*row].waiting_ns += wait->total_ns;
    }
    rfn_map_release(&rows);
    return error;
}

static int finish_profile(struct rfn_wait_pass *pass, struct rfn_profile **profile)
{
    RFN_TRY(rfn_profile_pass_finish(pass->profile, profile));
    RFN_TRY(share_waits(pass->waits, *profile));
    if (pass->waits->times && pass->region == RFN_NO_REGION)
        rfn_pass_main_part(pass, *profile);
    (*profile)->unreadable = pass->waits->unreadable;
    (*profile)->error = pass->waits->error;
    (*profile)->diag = pass->waits->diag;
    return 0;
}

static int finish(struct rfn_wait_pass *pass, const struct rfn_waits_options *options)
{
    struct rfn_waits *waits = pass->waits;
    RFN_TRY(rfn_match_finish(&pass->match, &waits->matching));
    waits->matching.fixed = pass->fix_clocks;
    if (pass->steps) {
        rfn_watched_steps_end(pass->steps);
        RFN_TRY(rfn_behaviour_of(pass->match.archive, pass->steps, options->behaviour));
    }
    waits->unreadable = rfn_event_order_lost(pass->match.replay, &waits->error, &waits->diag);
    if (pass->last.any && waits->times)
        RFN_TRY(finish_critical(pass));
    for (uint32_t i = 0; i < pass->match.n_streams; i++)
        RFN_TRY(rfn_order_end(pass, &pass->streams[i]));
    RFN_TRY(rfn_tally_finish(&pass->tally, &pass->activities, &pass->delays, waits));
    waits->activities = pass->activities.items;
    waits->n_activities = pass->activities.n;
    pass->activities.items = NULL;
    if (waits->n_activities)
        RFN_TRY(rfn_sums_grow(&pass->delays.sums, (uint32_t)waits->n_activities - 1));
    RFN_TRY(finish_spent(pass));
    return options->profile ? finish_profile(pass, options->profile) : 0;
}

static uint32_t region_of(const struct rfn_archive *archive, const char *name)
{
    uint32_t n = rfn_archive_regions(archive), i = 0;
    while (name && i < n && strcmp(rfn_archive_region(archive, i), name) != 0)
        i++;
    return name && i < n ? i : RFN_NO_REGION;
}

/* Whether times are those of other segments. Where each is kept, reduced or not, times are exact.
 */
static bool times_are_replaced(const struct rfn_run *run)
{
    const struct rfn_run_reduction *reduction = &run->reduction;
    bool all_kept = reduction->executions > 0 &&
                    reduction->representatives >= reduction->executions;
    return run->reduced && run->times && !all_kept;
}

int rfn_waits_new(const struct rfn_archive *archive, const struct rfn_waits_options *options,
                  void (*progress)(void *context, double share), void *context,
                  struct rfn_waits **waits, struct rfn_diag *diag)
{
    const struct rfn_run *run = rfn_archive_run(archive);
    const struct rfn_network network = options->network ? *options->network : rfn_network_assumed();
    struct rfn_wait_pass pass = {.match.archive = archive,
                                 .region = region_of(archive, options->region),
                                 .fix_clocks = options->fix_clocks,
                                 .eager_bytes = network.eager_bytes,
                                 .ns_per_byte = network.gap_per_byte_ns,
                                 .watch = options->watch,
                                 .reduced = times_are_replaced(run)};
    if (options->behaviour)
        *options->behaviour = NULL;
    int error = pass_init(&pass, progress, context);
    if (!error)
        error = make_steps(&pass, options);
    if (!error)
        error = rfn_event_order_run(pass.match.replay);
    if (!error)
        error = finish(&pass, options);
    if (error < 0) {
        rfn_waits_free(pass.waits);
        if (options->behaviour) {
            rfn_behaviour_free(*options->behaviour);
            *options->behaviour = NULL;
        }
        rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error));
    } else {
        *waits = pass.waits;
    }
    pass_release(&pass);
    return error;
}

void rfn_waits_free(struct rfn_waits *waits)
{
    if (!waits)
        return;
    for (size_t i = 0; i < waits->n_rows; i++)
        free((int64_t *)waits->rows[i].ns_by_rank);
    free(waits->rows);
    free(waits->activities);
    for (size_t i = 0; waits->spent && i < waits->n_activities; i++)
        free(waits->spent[i]);
    free(waits->spent);
    free(waits->takes_any);
    free(waits->causes);
    free(waits->cause_ranks);
    free(waits->critical);
    free(waits);
}
