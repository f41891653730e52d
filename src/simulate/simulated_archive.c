/* refrain/simulate.h, rfn_simulate_write: the recorded calls at the times that the simulation says.
 *
 * While it is simulated, columns keep where each call that is an action begins and ends. Then each
 * stream is read again. Calls that are no action (MPI_Comm_rank, regions, polls) get their place
 * between two that are in proportion to the recorded times or, where there are none, to what was
 * computed.
 */
#include "archive/write/retime.h"
#include "base/order.h"
#include "refrain/simulate.h"

#include <stdlib.h>

enum { LARGE = 1 << 16 /* bytes of a column's blocks in memory */ };

/* Of each call that is an action: how many calls after the one before, and how long after its end;
 * how long it takes, in ns. */
enum { SKIPPED, GAP, DURATION, COLUMNS };

struct call {
    uint64_t event;
    int64_t enter_ns, exit_ns;
};

struct simulated {
    struct rfn_column columns[COLUMNS];
    struct call last, open; /* appended; not yet, as more of its actions may come */
    bool is_open;
};

/* Where a stream is, in what was recorded: ns, or what was computed. */
struct place {
    int64_t enter, exit;
};

/* A stream that is written: the next call that is an action, and the one before. */
struct reading {
    struct rfn_column_cursor cursors[COLUMNS];
    uint64_t left; /* calls to come, behind the next one */
    struct rfn_cursor *ahead;
    bool has_next;
    struct call before, next;
    struct place at, before_at, next_at, ahead_at;
};

struct maker {
    struct rfn_retiming retiming;
    const struct rfn_simulate_options *options; /* the caller's */
    struct simulated *ranks;
    struct reading reading;
    bool times; /* were recorded */
};

/* ---- while it is simulated ---- */

static int64_t ns_of(double seconds)
{
    return seconds < 9e9 ? (int64_t)(seconds * 1e9 + 0.5) : INT64_MAX / 2;
}

static int append(struct maker *maker, struct simulated *rank)
{
    const struct call *call = &rank->open;
    const int64_t words[COLUMNS] = {(int64_t)(call->event - rank->last.event),
                                    call->enter_ns - rank->last.exit_ns,
                                    call->exit_ns - call->enter_ns};
    for (int i = 0; i < COLUMNS; i++) {
        struct rfn_column *column = &rank->columns[i];
        RFN_TRY(rfn_column_append(column, words[i]));
        if (rfn_column_sealed_bytes(column) > LARGE)
            RFN_TRY(rfn_column_spill(column, &maker->retiming.rewrite.spill, false));
    }
    rank->last = *call;
    return 0;
}

static int left(void *context, uint32_t number, const struct rfn_action *action, double enter,
                double exit)
{
    struct maker *maker = context;
    struct simulated *rank = &maker->ranks[number];
    if (maker->options->left)
        RFN_TRY(maker->options->left(maker->options->context, number, action, enter, exit));
    if (action->kind == RFN_ACTION_COMPUTE)
        return 0;
    if (rank->is_open && rank->open.event == action->event) {
        rank->open.exit_ns = ns_of(exit);
        return 0;
    }
    if (rank->is_open)
        RFN_TRY(append(maker, rank));
    rank->is_open = true;
    rank->open = (struct call){action->event, ns_of(enter), ns_of(exit)};
    return 0;
}

static void progress(void *context, uint64_t actions, double seconds)
{
    const struct rfn_simulate_options *options = ((const struct maker *)context)->options;
    options->progress(options->context, actions, seconds);
}

static double weight(void *context, uint32_t rank, const struct rfn_action *action)
{
    const struct rfn_simulate_options *options = ((const struct maker *)context)->options;
    return options->weight(options->context, rank, action);
}

static double seconds(void *context, const struct rfn_action *action)
{
    const struct rfn_simulate_options *options = ((const struct maker *)context)->options;
    return options->seconds(options->context, action);
}

/* ---- the times of a stream ---- */

/* Moves on by an event. */
static void follow(const struct maker *maker, struct place *at, const struct rfn_record *record)
{
    if (maker->times) {
        *at = (struct place){record->enter_ns, record->exit_ns};
        return;
    }
    at->enter = at->exit + rfn_most(record->volume_gap, 0);
    at->exit = at->enter + rfn_most(record->volume_inside, 0);
}

static int find_next(struct maker *maker)
{
    struct reading *reading = &maker->reading;
    const struct rfn_record *record;
    int64_t skipped, gap, duration;
    int more = 0;
    reading->has_next = reading->left > 0;
    if (!reading->has_next)
        return 0;
    reading->left--;
    RFN_TRY(rfn_column_next(&reading->cursors[SKIPPED], &skipped));
    RFN_TRY(rfn_column_next(&reading->cursors[GAP], &gap));
    RFN_TRY(rfn_column_next(&reading->cursors[DURATION], &duration));
    reading->next.event += (uint64_t)skipped;
    reading->next.enter_ns = reading->next.exit_ns + gap;
    reading->next.exit_ns = reading->next.enter_ns + duration;
    do {
        more = rfn_cursor_next(reading->ahead, &record, maker->retiming.diag);
        if (more > 0)
            follow(maker, &reading->ahead_at, record);
    } while (more > 0 && record->index < reading->next.event);
    reading->next_at = reading->ahead_at;
    return more > 0 ? 0 : more < 0 ? more : RFN_E_RANGE;
}

static int open_stream(void *context, uint32_t stream, int64_t *start_ns)
{
    struct maker *maker = context;
    const struct rfn_archive *archive = maker->retiming.archive;
    const struct simulated *rank = &maker->ranks[rfn_archive_stream(archive, stream).rank];
    maker->reading = (struct reading){.left = rank->columns[SKIPPED].n};
    for (int i = 0; i < COLUMNS; i++)
        rfn_column_open_growing(&maker->reading.cursors[i], &rank->columns[i]);
    *start_ns = 0;
    RFN_TRY(rfn_cursor_open(archive, stream, &maker->reading.ahead, maker->retiming.diag));
    return find_next(maker);
}

static void close_stream(void *context)
{
    struct maker *maker = context;
    for (int i = 0; i < COLUMNS; i++)
        rfn_column_close(&maker->reading.cursors[i]);
    if (maker->reading.ahead)
        rfn_cursor_close(maker->reading.ahead);
}

/* Between the two calls; behind the last one, as far as it was recorded. */
static int64_t between(const struct maker *maker, int64_t at)
{
    const struct reading *reading = &maker->reading;
    const int64_t since = at - reading->before_at.exit, from = reading->before.exit_ns;
    const int64_t recorded = reading->next_at.enter - reading->before_at.exit;
    if (!reading->has_next)
        return from + (maker->times ? rfn_most(since, 0) : 0);
    if (recorded <= 0 || since <= 0)
        return from;
    const double share = (double)rfn_least(since, recorded) / (double)recorded;
    return from + (int64_t)(share * (double)(reading->next.enter_ns - from));
}

static int move(void *context, const struct rfn_record *record, int64_t *enter_ns, int64_t *exit_ns)
{
    struct maker *maker = context;
    struct reading *reading = &maker->reading;
    follow(maker, &reading->at, record);
    if (!reading->has_next || record->index < reading->next.event) {
        *enter_ns = between(maker, reading->at.enter);
        *exit_ns = between(maker, reading->at.exit);
        return 0;
    }
    *enter_ns = reading->next.enter_ns;
    *exit_ns = reading->next.exit_ns;
    reading->before = reading->next;
    reading->before_at = reading->next_at;
    return find_next(maker);
}

/* ---- the whole ---- */

static int init(struct maker *maker)
{
    const uint32_t n = rfn_archive_run(maker->retiming.archive)->ranks;
    RFN_TRY(rfn_retiming_init(&maker->retiming));
    maker->ranks = calloc((size_t)n + 1, sizeof *maker->ranks);
    if (!maker->ranks)
        return rfn_rewrite_failed(RFN_E_NOMEM, maker->retiming.diag);
    for (size_t i = 0; i < (size_t)n * COLUMNS; i++)
        rfn_column_init(&maker->ranks[i / COLUMNS].columns[i % COLUMNS]);
    return 0;
}

static void release(struct maker *maker)
{
    const uint32_t n = rfn_archive_run(maker->retiming.archive)->ranks;
    for (size_t i = 0; maker->ranks && i < (size_t)n * COLUMNS; i++)
        rfn_column_release(&maker->ranks[i / COLUMNS].columns[i % COLUMNS]);
    free(maker->ranks);
    rfn_retiming_release(&maker->retiming);
}

static int simulate(struct maker *maker, struct rfn_actions *actions, struct rfn_platform *platform,
                    const uint32_t *hosts, struct rfn_simulated *simulated)
{
    struct rfn_simulate_options options = *maker->options;
    options.left = left;
    options.progress = options.progress ? progress : NULL;
    options.weight = options.weight ? weight : NULL;
    options.seconds = options.seconds ? seconds : NULL;
    options.context = maker;
    RFN_TRY(rfn_simulate(actions, platform, hosts, &options, simulated, maker->retiming.diag));
    for (uint32_t i = 0; i < simulated->n_ranks; i++) {
        if (maker->ranks[i].is_open)
            RFN_TRY(rfn_rewrite_failed(append(maker, &maker->ranks[i]), maker->retiming.diag));
    }
    return 0;
}

int rfn_simulate_write(const struct rfn_archive *archive, struct rfn_actions *actions,
                       struct rfn_platform *platform, const uint32_t *hosts,
                       const struct rfn_simulate_options *options,
                       const struct rfn_simulated_file *file, struct rfn_simulated *simulated,
                       uint64_t *bytes, struct rfn_diag *diag)
{
    struct maker maker = {.retiming = {.archive = archive,
                                       .assumed = file->assumed,
                                       .open = open_stream,
                                       .move = move,
                                       .close = close_stream,
                                       .context = &maker,
                                       .diag = diag},
                          .options = options,
                          .times = rfn_archive_run(archive)->times};
    *simulated = (struct rfn_simulated){0};
    int error = init(&maker);
    if (!error)
        error = rfn_retiming_check(&maker.retiming, file->path, file->force);
    if (!error)
        error = simulate(&maker, actions, platform, hosts, simulated);
    if (!error)
        error = rfn_retiming_write(&maker.retiming, file->path, file->force, bytes);
    release(&maker);
    return error;
}
