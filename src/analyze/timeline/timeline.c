#include "refrain/timeline.h"

#include "analyze/match/recording_off.h"

#include <stdlib.h>

/* Times of a file may be anything; within these bounds they can be subtracted. */
#define STAMP_MAX (INT64_C(1) << 53)

struct rfn_timeline {
    const struct rfn_archive *archive;
    struct rfn_cursor *cursor;
    struct rfn_off_times pauses; /* of the process */
};

enum rfn_timeline_kind rfn_timeline_kind_of(const struct rfn_function_info *function)
{
    switch (function->class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
    case RFN_CLASS_RECV:
    case RFN_CLASS_SENDRECV:
    case RFN_CLASS_PROBE:
    case RFN_CLASS_COMPLETION:
    case RFN_CLASS_START:
        return RFN_TIMELINE_MESSAGES;
    case RFN_CLASS_BARRIER:
    case RFN_CLASS_ONE_TO_ALL:
    case RFN_CLASS_ALL_TO_ONE:
    case RFN_CLASS_ALL_TO_ALL:
    case RFN_CLASS_SCAN:
    case RFN_CLASS_NEIGHBOR:
        return RFN_TIMELINE_COLLECTIVES;
    case RFN_CLASS_RMA:
    case RFN_CLASS_RMA_SYNC:
        return RFN_TIMELINE_ONE_SIDED;
    case RFN_CLASS_FILE:
        return RFN_TIMELINE_FILES;
    default:
        return RFN_TIMELINE_OTHER;
    }
}

static int64_t bounded(int64_t ns)
{
    return ns > STAMP_MAX ? STAMP_MAX : ns < -STAMP_MAX ? -STAMP_MAX : ns;
}

/* A share of the time between two times, ns, goes to one number of each bin, which lies `at` a
 * bin's beginning. */
static void spread(const struct rfn_timeline_window *window, struct rfn_timeline_bin *bins,
                   size_t at, int64_t from_ns, int64_t to_ns, double share)
{
    const double width = (double)(window->to_ns - window->from_ns) / window->n;
    const double from =
        (double)((from_ns > window->from_ns ? from_ns : window->from_ns) - window->from_ns) / width;
    const double to = (double)((to_ns < window->to_ns ? to_ns : window->to_ns) - window->from_ns) /
                      width;
    if (!(to > from))
        return;
    for (uint32_t i = (uint32_t)from; i < window->n && i < to; i++) {
        const double begin = from > i ? from : i, end = to < i + 1.0 ? to : i + 1.0;
        *(double *)((char *)&bins[i] + at) += (end - begin) * width * share;
    }
}

static void spread_kind(const struct rfn_timeline_window *window, struct rfn_timeline_bin *bins,
                        enum rfn_timeline_kind kind, int64_t from_ns, int64_t to_ns, double share)
{
    spread(window, bins, offsetof(struct rfn_timeline_bin, ns) + sizeof(double) * kind, from_ns,
           to_ns, share);
}

void rfn_timeline_select(const struct rfn_timeline_window *window, struct rfn_timeline_bin *bins,
                         int64_t from_ns, int64_t to_ns)
{
    spread(window, bins, offsetof(struct rfn_timeline_bin, selected_ns), from_ns, to_ns, 1);
}

/* Unsuccessful polls in a row are one event, which is partly outside of MPI. */
static void add_call(const struct rfn_archive *archive, const struct rfn_timeline_window *window,
                     struct rfn_timeline_bin *bins, const struct rfn_record *record)
{
    const int64_t enter_ns = bounded(record->enter_ns), exit_ns = bounded(record->exit_ns);
    const double all = (double)(exit_ns - enter_ns);
    const double inside = all > 0 && record->inside_ns >= 0 && (double)record->inside_ns < all
                              ? (double)record->inside_ns / all
                              : 1;
    const enum rfn_timeline_kind kind = rfn_timeline_kind_of(
        rfn_archive_function(archive, record->function));
    spread_kind(window, bins, kind, enter_ns, exit_ns, inside);
    if (inside < 1)
        spread_kind(window, bins, RFN_TIMELINE_COMPUTING, enter_ns, exit_ns, 1 - inside);
    if (window->selects && record->path == window->path && record->function == window->function)
        rfn_timeline_select(window, bins, enter_ns, exit_ns);
}

/* Between two events the program computes, as far as recording was on. */
static void add_gap(const struct rfn_timeline *timeline, const struct rfn_timeline_window *window,
                    struct rfn_timeline_bin *bins, int64_t from_ns, int64_t to_ns)
{
    spread_kind(window, bins, RFN_TIMELINE_COMPUTING, from_ns, to_ns, 1);
    for (size_t i = 0; i < timeline->pauses.n; i++) {
        const struct rfn_off_time *pause = &timeline->pauses.items[i];
        const int64_t from = pause->from_ns > from_ns ? pause->from_ns : from_ns;
        const int64_t to = pause->to_ns < to_ns ? pause->to_ns : to_ns;
        if (from < to)
            spread_kind(window, bins, RFN_TIMELINE_COMPUTING, from, to, -1);
    }
}

int rfn_timeline_add(struct rfn_timeline *timeline, const struct rfn_timeline_window *window,
                     struct rfn_timeline_bin *bins, struct rfn_diag *diag)
{
    const struct rfn_archive *archive = timeline->archive;
    const struct rfn_record *record;
    int64_t last_ns = window->from_ns;
    RFN_TRY(rfn_cursor_seek_time(timeline->cursor, window->from_ns, diag));
    int more = 0;
    while ((more = rfn_cursor_next(timeline->cursor, &record, diag)) > 0) {
        if (record->index > 0)
            add_gap(timeline, window, bins, last_ns, bounded(record->enter_ns));
        if (rfn_class_is_mpi(rfn_archive_function(archive, record->function)->class_))
            add_call(archive, window, bins, record);
        last_ns = bounded(record->exit_ns);
        if (last_ns >= window->to_ns)
            return 0;
    }
    return more;
}

/* ---- streams ---- */

int rfn_timeline_open(const struct rfn_archive *archive, uint32_t stream,
                      struct rfn_timeline **timeline, struct rfn_diag *diag)
{
    if (!rfn_archive_run(archive)->times)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1, "the archive has no times");
    struct rfn_timeline *opened = calloc(1, sizeof *opened);
    if (!opened)
        return RFN_E_NOMEM;
    opened->archive = archive;
    int error = rfn_cursor_open(archive, stream, &opened->cursor, diag);
    if (!error)
        error = rfn_off_times_of(&opened->pauses, archive, stream);
    if (error < 0)
        rfn_timeline_close(opened);
    else
        *timeline = opened;
    return error;
}

void rfn_timeline_close(struct rfn_timeline *timeline)
{
    if (!timeline)
        return;
    rfn_cursor_close(timeline->cursor);
    rfn_off_times_release(&timeline->pauses);
    free(timeline);
}

struct rfn_cursor *rfn_timeline_cursor(struct rfn_timeline *timeline)
{
    return timeline->cursor;
}

/* The exit of the last event of a stream that can be read, from where the cursor is. */
static int64_t last_exit(struct rfn_cursor *cursor, int64_t ns)
{
    const struct rfn_record *record;
    while (rfn_cursor_next(cursor, &record, NULL) > 0)
        ns = bounded(record->exit_ns);
    return ns;
}

/* RFN_E_NOMEM; of a stream that cannot be read to its end, where it can be read to. */
static int add_ends(const struct rfn_archive *archive, uint32_t stream, int64_t *from_ns,
                    int64_t *to_ns)
{
    const uint64_t events = rfn_archive_stream(archive, stream).events;
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    int64_t end_ns = INT64_MIN;
    int error = rfn_cursor_open(archive, stream, &cursor, NULL);
    if (error < 0)
        return error == RFN_E_NOMEM ? error : 0;
    if (rfn_cursor_next(cursor, &record, NULL) > 0) {
        end_ns = bounded(record->exit_ns);
        *from_ns = bounded(record->enter_ns) < *from_ns ? bounded(record->enter_ns) : *from_ns;
    }
    error = events > 1 ? rfn_cursor_seek(cursor, events - 1, NULL) : 0;
    if (error < 0) {
        rfn_cursor_close(cursor);
        cursor = NULL;
        error = rfn_cursor_open(archive, stream, &cursor, NULL);
    }
    if (!error)
        end_ns = last_exit(cursor, end_ns);
    rfn_cursor_close(cursor);
    *to_ns = end_ns > *to_ns ? end_ns : *to_ns;
    return 0;
}

int rfn_timeline_ends(const struct rfn_archive *archive, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = INT64_MAX;
    *to_ns = INT64_MIN;
    for (uint32_t i = 0; i < rfn_archive_run(archive)->streams; i++)
        RFN_TRY(add_ends(archive, i, from_ns, to_ns));
    if (*from_ns == INT64_MAX)
        *from_ns = 0;
    if (*to_ns <= *from_ns)
        *to_ns = *from_ns + 1;
    return 0;
}

static uint8_t share_of(double part, double all)
{
    const double share = all > 0 ? part / all : 0;
    return (uint8_t)(255 * (share < 0 ? 0 : share > 1 ? 1 : share) + 0.5);
}

void rfn_timeline_pack(const struct rfn_timeline_window *window,
                       const struct rfn_timeline_bin *bins, uint8_t *cells)
{
    const double width = (double)(window->to_ns - window->from_ns) / window->n;
    for (uint32_t i = 0; i < window->n; i++, cells += RFN_TIMELINE_CELL_BYTES) {
        const double *ns = bins[i].ns;
        double mpi = 0;
        uint8_t most = 0;
        for (uint8_t kind = RFN_TIMELINE_COMPUTING + 1; kind < RFN_TIMELINE_KIND_COUNT; kind++) {
            mpi += ns[kind];
            if (ns[kind] > 0 && (!most || ns[kind] > ns[most]))
                most = kind;
        }
        const double known = mpi + ns[RFN_TIMELINE_COMPUTING];
        cells[0] = known < width / 2 ? RFN_TIMELINE_UNKNOWN : most;
        cells[1] = share_of(mpi, known);
        cells[2] = share_of(bins[i].selected_ns, known);
    }
}
