/* refrain/predict.h, rfn_predict_write: an archive whose TIMINGs are others.
 *
 * The prediction tells call by call how much earlier each begins and ends. That goes to two columns
 * per stream, which are short where little changes and leave memory where they are not. Then
 * retime.h writes each stream's recorded times minus these.
 */
#include "archive/write/retime.h"
#include "predict/watch.h"

#include <stdlib.h>

enum { LARGE = 1 << 16 /* bytes of a column's blocks in memory */ };

/* The columns of a stream: by how much each call begins and ends earlier than recorded; and of the
 * phases of polls that end before their last poll would begin, when the first poll begins, as
 * recorded, and the number, and predicted exit, of the call that ends them. */
enum { ENTER_EARLY, EXIT_EARLY, PHASE_FROM, PHASE_LAST, PHASE_END, MOVES };

struct moves {
    struct rfn_column columns[MOVES];
};

/* Reads the moves of a stream, event by event. */
struct reading {
    struct rfn_column_cursor cursors[MOVES];
    uint64_t phases; /* to come, with the next one: */
    int64_t from_ns, last, end_ns;
};

struct maker {
    struct rfn_retiming times;
    struct moves *moves;    /* by stream */
    struct reading reading; /* of the stream that is written */
};

/* ---- while it is predicted ---- */

static int append(const struct maker *maker, uint32_t stream, int which, int64_t value)
{
    struct rfn_column *column = &maker->moves[stream].columns[which];
    RFN_TRY(rfn_column_append(column, value));
    return rfn_column_sealed_bytes(column) > LARGE
               ? rfn_column_spill(column, &maker->times.rewrite.spill, false)
               : 0;
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

static int next_phase(struct reading *reading)
{
    if (!reading->phases)
        return 0;
    RFN_TRY(rfn_column_next(&reading->cursors[PHASE_FROM], &reading->from_ns));
    RFN_TRY(rfn_column_next(&reading->cursors[PHASE_LAST], &reading->last));
    return rfn_column_next(&reading->cursors[PHASE_END], &reading->end_ns);
}

static int open_moves(void *context, uint32_t stream, int64_t *start_ns)
{
    struct maker *maker = context;
    struct reading *reading = &maker->reading;
    const struct moves *moves = &maker->moves[stream];
    (void)start_ns;
    for (int i = 0; i < MOVES; i++)
        rfn_column_open_growing(&reading->cursors[i], &moves->columns[i]);
    reading->phases = moves->columns[PHASE_FROM].n;
    return next_phase(reading);
}

static void close_moves(void *context)
{
    struct maker *maker = context;
    for (int i = 0; i < MOVES; i++)
        rfn_column_close(&maker->reading.cursors[i]);
}

/* The predicted times of an event. */
static int move(void *context, const struct rfn_record *record, int64_t *enter_ns, int64_t *exit_ns)
{
    struct reading *reading = &((struct maker *)context)->reading;
    int64_t enter_early, exit_early;
    RFN_TRY(rfn_column_next(&reading->cursors[ENTER_EARLY], &enter_early));
    RFN_TRY(rfn_column_next(&reading->cursors[EXIT_EARLY], &exit_early));
    *enter_ns -= enter_early;
    *exit_ns -= exit_early;
    if (reading->phases && record->enter_ns >= reading->from_ns) {
        *enter_ns = rfn_least(*enter_ns, reading->end_ns);
        *exit_ns = rfn_least(*exit_ns, reading->end_ns);
    }
    if (!reading->phases || (int64_t)record->index != reading->last)
        return 0;
    reading->phases--;
    return next_phase(reading);
}

/* ---- the whole ---- */

static int init(struct maker *maker)
{
    const uint32_t n = maker->times.archive->n_streams;
    RFN_TRY(rfn_retiming_init(&maker->times));
    maker->moves = calloc((size_t)n + 1, sizeof *maker->moves);
    if (!maker->moves)
        return rfn_rewrite_failed(RFN_E_NOMEM, maker->times.diag);
    for (size_t i = 0; i < (size_t)n * MOVES; i++)
        rfn_column_init(&maker->moves[i / MOVES].columns[i % MOVES]);
    return 0;
}

static void release(struct maker *maker)
{
    const size_t n = (size_t)maker->times.archive->n_streams * MOVES;
    for (size_t i = 0; maker->moves && i < n; i++)
        rfn_column_release(&maker->moves[i / MOVES].columns[i % MOVES]);
    free(maker->moves);
    rfn_retiming_release(&maker->times);
}

int rfn_predict_write(const struct rfn_archive *archive, const struct rfn_predict_options *options,
                      const char *assumed, const char *path, bool force,
                      struct rfn_prediction *prediction, uint64_t *bytes, struct rfn_diag *diag)
{
    struct maker maker = {.times = {.archive = archive,
                                    .assumed = assumed,
                                    .open = open_moves,
                                    .move = move,
                                    .close = close_moves,
                                    .context = &maker,
                                    .diag = diag}};
    const struct rfn_predict_watch watch = {.context = &maker, .left = left};
    int error = init(&maker);
    if (!error)
        error = rfn_retiming_check(&maker.times, path, force);
    if (!error)
        error = rfn_predict_watched(archive, options, &watch, prediction, diag);
    if (!error) {
        error = rfn_retiming_write(&maker.times, path, force, bytes);
        if (error < 0)
            rfn_prediction_release(prediction);
    }
    release(&maker);
    return error;
}
