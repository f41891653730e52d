#include "archive/write/retime.h"

#include "archive/read/host_clocks.h"
#include "archive/write/rewrite_facts.h"
#include "base/grow.h"
#include "base/order.h"

#include <stdlib.h>

enum {
    ROOM = 1 << 24,    /* bytes of a stream's columns in memory */
    LOOK_EVERY = 4096, /* events between two looks at what they take */
    RUN_SECOND = 1000 * 1000 * 1000
};

static int failed(const struct rfn_retiming *times, int error)
{
    return rfn_rewrite_failed(error, times->diag);
}

/* ---- the times of a stream ---- */

/* The new columns of a stream. */
struct columns {
    struct rfn_column *of; /* per symbol as many: gap, duration, polls, inside; and volumes */
    size_t n;
    const struct rfn_structure *structure;
    bool volumes;
    uint64_t *marks;
    size_t n_marks, marks_capacity;
    uint64_t end; /* of the last event */
};

enum { GAP, DURATION, POLLS, INSIDE, VOLUMES, COLUMNS = VOLUMES + 2 };

/* Times ascend, whatever the file says. */
static int append_event(const struct rfn_retiming *times, struct columns *columns,
                        int64_t *before_ns, const struct rfn_record *record)
{
    int64_t enter_ns = record->enter_ns, exit_ns = record->exit_ns;
    RFN_TRY(times->move(times->context, record, &enter_ns, &exit_ns));
    enter_ns = rfn_most(enter_ns, *before_ns);
    exit_ns = rfn_most(exit_ns, enter_ns);
    struct rfn_column *of = &columns->of[(size_t)record->symbol * COLUMNS];
    const int64_t duration = exit_ns - enter_ns;
    RFN_TRY(rfn_column_append(&of[GAP], enter_ns - *before_ns));
    RFN_TRY(rfn_column_append(&of[DURATION], duration));
    if (record->failed_poll) {
        RFN_TRY(rfn_column_append(&of[POLLS], (int64_t)record->polls));
        RFN_TRY(rfn_column_append(&of[INSIDE], rfn_least(record->inside_ns, duration)));
    }
    if (columns->volumes) {
        RFN_TRY(rfn_column_append(&of[VOLUMES], record->volume_gap));
        RFN_TRY(rfn_column_append(&of[VOLUMES + 1], record->volume_inside));
    }
    if (record->index && record->index % RFN_STREAM_MARK == 0) {
        RFN_TRY(RFN_GROW(columns->marks, columns->marks_capacity, columns->n_marks + 1));
        columns->marks[columns->n_marks++] = (uint64_t)enter_ns;
    }
    *before_ns = exit_ns;
    return 0;
}

static int each_column(void *columns, int (*visit)(void *context, struct rfn_column *column),
                       void *context)
{
    struct columns *all = columns;
    for (size_t i = 0; i < all->n; i++)
        RFN_TRY(visit(context, &all->of[i]));
    return 0;
}

static int init_columns(const struct rfn_retiming *times, uint32_t stream, struct columns *columns)
{
    columns->n = (size_t)columns->structure->n_symbols * COLUMNS;
    columns->volumes = rfn_stream_counted(times->archive, stream);
    columns->of = calloc(columns->n + 1, sizeof *columns->of);
    for (size_t i = 0; columns->of && i < columns->n; i++)
        rfn_column_init(&columns->of[i]);
    return columns->of ? 0 : failed(times, RFN_E_NOMEM);
}

static void release_columns(struct columns *columns)
{
    for (size_t i = 0; columns->of && i < columns->n; i++)
        rfn_column_release(&columns->of[i]);
    free(columns->of);
    free(columns->marks);
}

/* Where the first gap counts from. A stream that has the times of another one may begin later than
 * those. */
static int64_t begin(const struct rfn_retiming *times, uint32_t stream,
                     const struct rfn_record *first)
{
    if (first->enter_ns < times->starts[stream])
        times->starts[stream] = rfn_most(first->enter_ns, 0);
    return times->starts[stream];
}

static int read_events(const struct rfn_retiming *times, uint32_t stream, struct columns *columns)
{
    struct rfn_room room = {.spill = &times->rewrite.spill, .bytes = ROOM};
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    RFN_TRY(rfn_cursor_open(times->archive, stream, &cursor, times->diag));
    int error = failed(times, times->open(times->context, stream, &times->starts[stream])),
        more = 0;
    int64_t before_ns = 0;
    while (!error && (more = rfn_cursor_next(cursor, &record, times->diag)) > 0) {
        if (record->index == 0)
            before_ns = begin(times, stream, record);
        error = append_event(times, columns, &before_ns, record);
        if (error == RFN_E_RANGE) /* its times were not found to its end: it is damaged there */
            error = RFN_E_CORRUPT;
        error = failed(times, error);
        if (record->index % LOOK_EVERY == 0)
            rfn_columns_keep_to(columns, each_column, &room);
    }
    times->close(times->context);
    rfn_cursor_close(cursor);
    return error ? error : more;
}

static struct rfn_pack_times times_of(const void *context, uint32_t symbol)
{
    const struct columns *columns = context;
    const struct rfn_column *of = &columns->of[(size_t)symbol * COLUMNS];
    const bool polls = columns->structure->symbols[symbol].failed_poll;
    return (struct rfn_pack_times){.gap = &of[GAP],
                                   .duration = &of[DURATION],
                                   .polls = polls ? &of[POLLS] : NULL,
                                   .inside = polls ? &of[INSIDE] : NULL,
                                   .volumes = &of[VOLUMES]};
}

/* Quanta are nanoseconds since the start of the run. */
static int add_timing(struct rfn_retiming *times, uint32_t stream, const struct columns *columns)
{
    const uint64_t realtime = (uint64_t)rfn_archive_run(times->archive)->start_realtime_ns;
    const struct rfn_pack_pair pairs[] = {{0, 0, realtime},
                                          {RUN_SECOND, RUN_SECOND, realtime + RUN_SECOND}};
    const struct rfn_pack_clock clock = {
        .kind = 1, .pairs = pairs, .n_pairs = 2, .start = (uint64_t)times->starts[stream]};
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = rfn_pack_timing_of(&clock, columns->marks, columns->n_marks, times_of, columns,
                                   columns->structure->n_symbols, columns->volumes, &payload);
    if (!error)
        error = rfn_rewrite_add(&times->rewrite, RFN_CHUNK_TIMING, stream, &payload);
    rfn_rope_release(&payload);
    return failed(times, error);
}

static int write_stream(struct rfn_retiming *times, uint32_t stream)
{
    const uint32_t group = rfn_archive_stream(times->archive, stream).group;
    struct columns columns = {0};
    struct rfn_part *part;
    RFN_TRY(rfn_part_use(times->archive, RFN_CHUNK_STRUCTURE, group, NULL, &part, times->diag));
    columns.structure = &part->u.structure;
    int error = init_columns(times, stream, &columns);
    if (!error)
        error = read_events(times, stream, &columns);
    if (!error)
        error = add_timing(times, stream, &columns);
    release_columns(&columns);
    rfn_part_done(times->archive, part);
    return error;
}

/* ---- the other chunks ---- */

/* When streams began, on the clock of the run. */
static void find_starts(const struct rfn_retiming *times)
{
    for (uint32_t i = 0; i < times->archive->n_streams; i++) {
        const uint32_t host = (uint32_t)rfn_stream_word(times->archive, RFN_WORD_HOST, i);
        const struct rfn_clock *clock = rfn_host_clock(&times->archive->clocks, host);
        struct rfn_clock_place place = {0};
        uint64_t start = (uint64_t)rfn_stream_word(times->archive, RFN_WORD_START, i);
        if (clock)
            start = rfn_clock_ns(clock, &place, start);
        times->starts[i] = (int64_t)(start + rfn_archive_origin(times->archive, host));
    }
}

static int64_t word_of(const void *context, enum rfn_stream_word word, uint32_t stream)
{
    const struct rfn_retiming *times = context;
    switch (word) {
    case RFN_WORD_START:
        return times->starts[stream];
    case RFN_WORD_REALTIME:
        return rfn_archive_run(times->archive)->start_realtime_ns;
    case RFN_WORD_TIMES:
        return stream;
    case RFN_WORD_END:
        return 0;
    default:
        return rfn_stream_word(times->archive, word, stream);
    }
}

static int add_meta(struct rfn_retiming *times)
{
    struct rfn_run run = *rfn_archive_run(times->archive);
    run.predicted = times->assumed ? times->assumed : "";
    run.times = true;
    run.resolution_ns = 1;
    run.reduced = false;
    run.merge_seconds = 0;
    run.merging = (struct rfn_run_merging){0};
    run.clustered &= !times->archive->first_set;
    return failed(times, rfn_rewrite_add_meta(&times->rewrite, &run));
}

/* What says nothing of times. */
static bool stays(const void *context, uint32_t type)
{
    (void)context;
    return (type <= RFN_CHUNK_COMMON || type == RFN_CHUNK_AGGREGATED) && type != RFN_CHUNK_META &&
           type != RFN_CHUNK_TIMING && type != RFN_CHUNK_CLOCKS && type != RFN_CHUNK_PROFILE &&
           type != RFN_CHUNK_PROFILES && type != RFN_CHUNK_SITE_SPREADS &&
           type != RFN_CHUNK_SPREADS;
}

/* ---- the whole ---- */

int rfn_retiming_check(const struct rfn_retiming *times, const char *path, bool force)
{
    const struct rfn_archive *archive = times->archive;
    if (archive->chunks.minor > RFN_FORMAT_MINOR)
        return rfn_fail(
            times->diag, RFN_E_VERSION, -1, -1,
            "%s was written by a later version of Refrain: predict it with that version",
            archive->chunks.path);
    if (!archive->complete)
        return rfn_fail(times->diag, archive->chunks.fault, -1, -1,
                        "%s: %s; only a complete run can be written as predicted",
                        archive->chunks.path, archive->why);
    return rfn_rewrite_check(&times->rewrite, path, force, times->diag);
}

int rfn_retiming_init(struct rfn_retiming *times)
{
    RFN_TRY(failed(times, rfn_rewrite_init(&times->rewrite, times->archive)));
    times->starts = calloc((size_t)times->archive->n_streams + 1, sizeof *times->starts);
    if (!times->starts)
        return failed(times, RFN_E_NOMEM);
    find_starts(times);
    return 0;
}

void rfn_retiming_release(struct rfn_retiming *times)
{
    free(times->starts);
    rfn_rewrite_release(&times->rewrite);
}

int rfn_retiming_write(struct rfn_retiming *times, const char *path, bool force, uint64_t *bytes)
{
    for (uint32_t i = 0; i < times->archive->n_streams; i++)
        RFN_TRY(write_stream(times, i));
    RFN_TRY(add_meta(times));
    RFN_TRY(failed(times, rfn_rewrite_add_streams(&times->rewrite, times->archive->n_streams,
                                                  word_of, times)));
    RFN_TRY(rfn_rewrite_copy_others(&times->rewrite, stays, times, times->diag));
    return failed(times, rfn_rewrite_write(&times->rewrite, path, force, bytes, times->diag));
}
