/* refrain/predict.h, rfn_predict_write: an archive whose TIMINGs are made anew.
 *
 * The prediction tells call by call how much earlier each begins and ends. That goes to two columns
 * per stream, which are short where little changes and leave memory where they are not. Then each
 * stream is read again, its recorded times minus the columns are packed as the recorder
 * packs times, and all chunks that say nothing of times are taken over as they are stored.
 */
#include "archive/read/host_clocks.h"
#include "archive/write/rewrite_facts.h"
#include "base/grow.h"
#include "predict/watch.h"

#include <stdlib.h>

enum {
    LARGE = 1 << 16,   /* bytes of a column's blocks in memory */
    ROOM = 1 << 24,    /* of the columns of a stream's new times */
    LOOK_EVERY = 4096, /* events between two looks at what they take */
    RUN_SECOND = 1000 * 1000 * 1000
};

/* The columns of a stream: by how much each call begins and ends earlier than recorded; and of the
 * phases of polls that end before their last poll would begin, when the first poll begins, as
 * recorded, and the number, and predicted exit, of the call that ends them. */
enum { ENTER_EARLY, EXIT_EARLY, PHASE_FROM, PHASE_LAST, PHASE_END, MOVES };

struct moves {
    struct rfn_column columns[MOVES];
};

struct maker {
    const struct rfn_archive *archive;
    const char *assumed;
    struct rfn_rewrite rewrite;
    struct moves *moves; /* by stream */
    int64_t *starts;     /* by stream: since the start of the run */
    struct rfn_diag *diag;
};

static int failed(const struct maker *maker, int error)
{
    return rfn_rewrite_failed(error, maker->diag);
}

/* ---- while it is predicted ---- */

static int append(const struct maker *maker, uint32_t stream, int which, int64_t value)
{
    struct rfn_column *column = &maker->moves[stream].columns[which];
    RFN_TRY(rfn_column_append(column, value));
    return column->sealed.size > LARGE ? rfn_column_spill(column, &maker->rewrite.spill, false) : 0;
}

static int left(void *context, const struct rfn_step *step, int64_t enter_early_ns,
                int64_t exit_early_ns)
{
    const struct maker *maker = context;
    const uint32_t stream = step->stream;
    const int64_t exit_ns = step->exit_ns - exit_early_ns;
    if (step->polled && exit_ns < step->call_ns - enter_early_ns) {
        RFN_TRY(append(maker, stream, PHASE_FROM, step->enter_ns));
        RFN_TRY(append(maker, stream, PHASE_LAST, (int64_t)step->index));
        RFN_TRY(append(maker, stream, PHASE_END, exit_ns));
    }
    RFN_TRY(append(maker, stream, ENTER_EARLY, enter_early_ns));
    return append(maker, stream, EXIT_EARLY, exit_early_ns);
}

/* ---- the times of a stream ---- */

/* Reads the moves of a stream, event by event. */
struct reading {
    struct rfn_column_cursor cursors[MOVES];
    uint64_t phases; /* to come, with the next one: */
    int64_t from_ns, last, end_ns;
    int64_t before_ns; /* exit of the event before */
};

/* The new columns of a stream. */
struct times {
    struct rfn_column *columns; /* per symbol as many: gap, duration, polls, inside; and volumes */
    size_t n;
    const struct rfn_structure *structure;
    bool volumes;
    uint64_t *marks;
    size_t n_marks, marks_capacity;
    uint64_t end; /* of the last event */
};

enum { GAP, DURATION, POLLS, INSIDE, VOLUMES, COLUMNS = VOLUMES + 2 };

static int next_phase(struct reading *reading)
{
    if (!reading->phases)
        return 0;
    RFN_TRY(rfn_column_next(&reading->cursors[PHASE_FROM], &reading->from_ns));
    RFN_TRY(rfn_column_next(&reading->cursors[PHASE_LAST], &reading->last));
    return rfn_column_next(&reading->cursors[PHASE_END], &reading->end_ns);
}

static int open_reading(const struct moves *moves, struct reading *reading)
{
    for (int i = 0; i < MOVES; i++)
        rfn_column_open_growing(&reading->cursors[i], &moves->columns[i]);
    reading->phases = moves->columns[PHASE_FROM].n;
    return next_phase(reading);
}

static void close_reading(struct reading *reading)
{
    for (int i = 0; i < MOVES; i++)
        rfn_column_close(&reading->cursors[i]);
}

/* The predicted times of an event. They ascend, whatever the file says. */
static int move(struct reading *reading, const struct rfn_record *record, int64_t *enter_ns,
                int64_t *exit_ns)
{
    int64_t enter_early, exit_early;
    RFN_TRY(rfn_column_next(&reading->cursors[ENTER_EARLY], &enter_early));
    RFN_TRY(rfn_column_next(&reading->cursors[EXIT_EARLY], &exit_early));
    *enter_ns = record->enter_ns - enter_early;
    *exit_ns = record->exit_ns - exit_early;
    if (reading->phases && record->enter_ns >= reading->from_ns) {
        *enter_ns = rfn_least(*enter_ns, reading->end_ns);
        *exit_ns = rfn_least(*exit_ns, reading->end_ns);
    }
    if (reading->phases && (int64_t)record->index == reading->last) {
        reading->phases--;
        RFN_TRY(next_phase(reading));
    }
    *enter_ns = rfn_most(*enter_ns, reading->before_ns);
    *exit_ns = rfn_most(*exit_ns, *enter_ns);
    return 0;
}

static int append_event(struct times *times, struct reading *reading,
                        const struct rfn_record *record)
{
    int64_t enter_ns, exit_ns;
    RFN_TRY(move(reading, record, &enter_ns, &exit_ns));
    struct rfn_column *columns = &times->columns[(size_t)record->symbol * COLUMNS];
    const int64_t duration = exit_ns - enter_ns;
    RFN_TRY(rfn_column_append(&columns[GAP], enter_ns - reading->before_ns));
    RFN_TRY(rfn_column_append(&columns[DURATION], duration));
    if (record->failed_poll) {
        RFN_TRY(rfn_column_append(&columns[POLLS], (int64_t)record->polls));
        RFN_TRY(rfn_column_append(&columns[INSIDE], rfn_least(record->inside_ns, duration)));
    }
    if (times->volumes) {
        RFN_TRY(rfn_column_append(&columns[VOLUMES], record->volume_gap));
        RFN_TRY(rfn_column_append(&columns[VOLUMES + 1], record->volume_inside));
    }
    if (record->index && record->index % RFN_STREAM_MARK == 0) {
        RFN_TRY(RFN_GROW(times->marks, times->marks_capacity, times->n_marks + 1));
        times->marks[times->n_marks++] = (uint64_t)enter_ns;
    }
    reading->before_ns = exit_ns;
    return 0;
}

static int each_column(void *columns, int (*visit)(void *context, struct rfn_column *column),
                       void *context)
{
    struct times *times = columns;
    for (size_t i = 0; i < times->n; i++)
        RFN_TRY(visit(context, &times->columns[i]));
    return 0;
}

static int init_times(const struct maker *maker, uint32_t stream, struct times *times)
{
    times->n = (size_t)times->structure->n_symbols * COLUMNS;
    times->volumes = rfn_stream_counted(maker->archive, stream);
    times->columns = calloc(times->n + 1, sizeof *times->columns);
    for (size_t i = 0; times->columns && i < times->n; i++)
        rfn_column_init(&times->columns[i]);
    return times->columns ? 0 : failed(maker, RFN_E_NOMEM);
}

static void release_times(struct times *times)
{
    for (size_t i = 0; times->columns && i < times->n; i++)
        rfn_column_release(&times->columns[i]);
    free(times->columns);
    free(times->marks);
}

/* Where the first gap counts from. A stream that has the times of another one may begin later than
 * those. */
static int64_t begin(const struct maker *maker, uint32_t stream, const struct rfn_record *first)
{
    if (first->enter_ns < maker->starts[stream])
        maker->starts[stream] = rfn_most(first->enter_ns, 0);
    return maker->starts[stream];
}

static int read_events(const struct maker *maker, uint32_t stream, struct times *times)
{
    struct rfn_room room = {.spill = &maker->rewrite.spill, .bytes = ROOM};
    struct reading reading = {.before_ns = INT64_MIN};
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    RFN_TRY(rfn_cursor_open(maker->archive, stream, &cursor, maker->diag));
    int error = failed(maker, open_reading(&maker->moves[stream], &reading)), more = 0;
    while (!error && (more = rfn_cursor_next(cursor, &record, maker->diag)) > 0) {
        if (record->index == 0)
            reading.before_ns = begin(maker, stream, record);
        error = append_event(times, &reading, record);
        if (error == RFN_E_RANGE) /* it was not predicted to its end: it is damaged there */
            error = RFN_E_CORRUPT;
        error = failed(maker, error);
        if (record->index % LOOK_EVERY == 0)
            rfn_columns_keep_to(times, each_column, &room);
    }
    close_reading(&reading);
    rfn_cursor_close(cursor);
    return error ? error : more;
}

static struct rfn_pack_times times_of(const void *context, uint32_t symbol)
{
    const struct times *times = context;
    const struct rfn_column *columns = &times->columns[(size_t)symbol * COLUMNS];
    const bool polls = times->structure->symbols[symbol].failed_poll;
    return (struct rfn_pack_times){.gap = &columns[GAP],
                                   .duration = &columns[DURATION],
                                   .polls = polls ? &columns[POLLS] : NULL,
                                   .inside = polls ? &columns[INSIDE] : NULL,
                                   .volumes = &columns[VOLUMES]};
}

/* Quanta are nanoseconds since the start of the run. */
static int add_timing(struct maker *maker, uint32_t stream, const struct times *times)
{
    const uint64_t realtime = (uint64_t)rfn_archive_run(maker->archive)->start_realtime_ns;
    const struct rfn_pack_pair pairs[] = {{0, 0, realtime},
                                          {RUN_SECOND, RUN_SECOND, realtime + RUN_SECOND}};
    const struct rfn_pack_clock clock = {
        .kind = 1, .pairs = pairs, .n_pairs = 2, .start = (uint64_t)maker->starts[stream]};
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = rfn_pack_timing_of(&clock, times->marks, times->n_marks, times_of, times,
                                   times->structure->n_symbols, times->volumes, &payload);
    if (!error)
        error = rfn_rewrite_add(&maker->rewrite, RFN_CHUNK_TIMING, stream, &payload);
    rfn_rope_release(&payload);
    return failed(maker, error);
}

static int write_stream(struct maker *maker, uint32_t stream)
{
    const uint32_t group = rfn_archive_stream(maker->archive, stream).group;
    struct times times = {0};
    struct rfn_part *part;
    RFN_TRY(rfn_part_use(maker->archive, RFN_CHUNK_STRUCTURE, group, NULL, &part, maker->diag));
    times.structure = &part->u.structure;
    int error = init_times(maker, stream, &times);
    if (!error)
        error = read_events(maker, stream, &times);
    if (!error)
        error = add_timing(maker, stream, &times);
    release_times(&times);
    rfn_part_done(maker->archive, part);
    return error;
}

/* ---- the other chunks ---- */

/* When streams began, on the clock of the run. */
static void find_starts(const struct maker *maker)
{
    for (uint32_t i = 0; i < maker->archive->n_streams; i++) {
        const uint32_t host = (uint32_t)rfn_stream_word(maker->archive, RFN_WORD_HOST, i);
        const struct rfn_clock *clock = rfn_host_clock(&maker->archive->clocks, host);
        struct rfn_clock_place place = {0};
        uint64_t start = (uint64_t)rfn_stream_word(maker->archive, RFN_WORD_START, i);
        if (clock)
            start = rfn_clock_ns(clock, &place, start);
        maker->starts[i] = (int64_t)(start + rfn_archive_origin(maker->archive, host));
    }
}

static int64_t word_of(const void *context, enum rfn_stream_word word, uint32_t stream)
{
    const struct maker *maker = context;
    switch (word) {
    case RFN_WORD_START:
        return maker->starts[stream];
    case RFN_WORD_REALTIME:
        return rfn_archive_run(maker->archive)->start_realtime_ns;
    case RFN_WORD_TIMES:
        return stream;
    case RFN_WORD_END:
        return 0;
    default:
        return rfn_stream_word(maker->archive, word, stream);
    }
}

static int add_meta(struct maker *maker)
{
    struct rfn_run run = *rfn_archive_run(maker->archive);
    run.predicted = maker->assumed ? maker->assumed : "";
    run.reduced = false;
    run.merge_seconds = 0;
    run.merging = (struct rfn_run_merging){0};
    run.clustered &= !maker->archive->first_set;
    return failed(maker, rfn_rewrite_add_meta(&maker->rewrite, &run));
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

static int check_input(const struct maker *maker, const char *path, bool force)
{
    const struct rfn_archive *archive = maker->archive;
    if (archive->chunks.minor > RFN_FORMAT_MINOR)
        return rfn_fail(maker->diag, RFN_E_VERSION, -1, -1,
                        "%s was written by a later version of Refrain, which has to predict it",
                        archive->chunks.path);
    if (!archive->complete)
        return rfn_fail(maker->diag, archive->chunks.fault, -1, -1,
                        "%s: %s; only a complete run can be written as predicted",
                        archive->chunks.path, archive->why);
    return rfn_rewrite_check(&maker->rewrite, path, force, maker->diag);
}

static int init(struct maker *maker)
{
    const uint32_t n = maker->archive->n_streams;
    RFN_TRY(failed(maker, rfn_rewrite_init(&maker->rewrite, maker->archive)));
    maker->moves = calloc((size_t)n + 1, sizeof *maker->moves);
    maker->starts = calloc((size_t)n + 1, sizeof *maker->starts);
    if (!maker->moves || !maker->starts)
        return failed(maker, RFN_E_NOMEM);
    for (size_t i = 0; i < (size_t)n * MOVES; i++)
        rfn_column_init(&maker->moves[i / MOVES].columns[i % MOVES]);
    find_starts(maker);
    return 0;
}

static void release(struct maker *maker)
{
    const size_t n = (size_t)maker->archive->n_streams * MOVES;
    for (size_t i = 0; maker->moves && i < n; i++)
        rfn_column_release(&maker->moves[i / MOVES].columns[i % MOVES]);
    free(maker->moves);
    free(maker->starts);
    rfn_rewrite_release(&maker->rewrite);
}

static int write_all(struct maker *maker, const char *path, bool force, uint64_t *bytes)
{
    for (uint32_t i = 0; i < maker->archive->n_streams; i++)
        RFN_TRY(write_stream(maker, i));
    RFN_TRY(add_meta(maker));
    RFN_TRY(failed(maker, rfn_rewrite_add_streams(&maker->rewrite, maker->archive->n_streams,
                                                  word_of, maker)));
    RFN_TRY(rfn_rewrite_copy_others(&maker->rewrite, stays, maker, maker->diag));
    return failed(maker, rfn_rewrite_write(&maker->rewrite, path, force, bytes, maker->diag));
}

int rfn_predict_write(const struct rfn_archive *archive, const struct rfn_predict_options *options,
                      const char *assumed, const char *path, bool force,
                      struct rfn_prediction *prediction, uint64_t *bytes, struct rfn_diag *diag)
{
    struct maker maker = {.archive = archive, .assumed = assumed, .diag = diag};
    const struct rfn_predict_watch watch = {.context = &maker, .left = left};
    int error = init(&maker);
    if (!error)
        error = check_input(&maker, path, force);
    if (!error)
        error = rfn_predict_watched(archive, options, &watch, prediction, diag);
    if (!error) {
        error = write_all(&maker, path, force, bytes);
        if (error < 0)
            rfn_prediction_release(prediction);
    }
    release(&maker);
    return error;
}
