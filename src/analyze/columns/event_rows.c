/* event_rows.c - events as columns (refrain/columns.h).
 *
 * Most events differ from an earlier one of their symbol in times only. So what they communicate is
 * found once per symbol and kept, as long as no parameter varies and no outcome is there to vary.
 */
#include "analyze/columns/column_lists.h"
#include "base/order.h"
#include "refrain/volume.h"

#include <stdlib.h>

/* What an event communicates, as its columns have it. */
struct traffic {
    bool valid;
    int64_t bytes, sent_bytes, received_bytes;
    int64_t peer, source, target, tag, comm, region;
};

struct rfn_event_rows {
    const struct rfn_archive *archive;
    struct rfn_event_choice choice;
    struct rfn_volumes *volumes;
    uint32_t stream; /* the next one to open; that of the cursor is before it */
    struct rfn_stream_info info;
    struct rfn_cursor *cursor;
    struct traffic *kept; /* by symbol, of the current stream */
    size_t n_kept;
    int error; /* of the stream that failed, until it is told */
    struct rfn_diag diag;
};

#define EVENT_COLUMNS(X)                                                                 \
    X(rank, INT32, NONE, rows->info.rank)                                                \
    X(thread, INT32, NONE, rows->info.thread)                                            \
    X(index, INT64, NONE, record->index)                                                 \
    X(function, INT32, FUNCTIONS, record->function)                                      \
    X(path, INT32, PATHS, record->path)                                                  \
    X(enter_ns, INT64, NONE, record->enter_ns)                                           \
    X(exit_ns, INT64, NONE, record->exit_ns)                                             \
    X(inside_ns, INT64, NONE, record->inside_ns)                                         \
    X(calls, INT64, NONE, record->polls)                                                 \
    X(unsuccessful, INT32, NONE, record->failed_poll)                                    \
    X(error, INT32, NONE, record->error == RFN_ERROR_LEFT ? -1 : (int64_t)record->error) \
    X(bytes, INT64, NONE, traffic->bytes)                                                \
    X(sent_bytes, INT64, NONE, traffic->sent_bytes)                                      \
    X(received_bytes, INT64, NONE, traffic->received_bytes)                              \
    X(peer, INT32, NONE, traffic->peer)                                                  \
    X(source, INT32, NONE, traffic->source)                                              \
    X(target, INT32, NONE, traffic->target)                                              \
    X(tag, INT64, NONE, traffic->tag)                                                    \
    X(comm, INT32, NONE, traffic->comm)                                                  \
    X(region, INT32, REGIONS, traffic->region)                                           \
    X(volume_outside, INT64, NONE, record->volume_gap)                                   \
    X(volume_inside, INT64, NONE, record->volume_inside)

/* Their numbers: COLUMN_rank is 0. */
#define NUMBER(name, type, names, value) COLUMN_##name,
enum { EVENT_COLUMNS(NUMBER) };

static const struct rfn_column_info event_columns[] = {EVENT_COLUMNS(RFN_COLUMN_INFO)};
const struct rfn_column_list rfn_event_columns = RFN_COLUMN_LIST(event_columns);

/* ---- what an event communicates ---- */

static int64_t world_rank(const struct rfn_event_rows *rows, const struct rfn_volume *volume,
                          int64_t rank)
{
    if (rank < 0 || volume->comm < 0)
        return -1;
    return rfn_comm_peer(rows->archive, (uint32_t)volume->comm, rows->info.rank, rank);
}

/* Of the first input of this kind, -1 without one. */
static int64_t input_of(const struct rfn_function_info *function, const struct rfn_record *record,
                        uint8_t kind)
{
    for (unsigned i = 0; i < function->n_in; i++) {
        if (function->params[i].kind == kind)
            return rfn_most(record->in[i], -1);
    }
    return -1;
}

static void find_traffic(const struct rfn_event_rows *rows, const struct rfn_record *record,
                         struct traffic *traffic)
{
    const struct rfn_function_info *function = rfn_archive_function(rows->archive,
                                                                    record->function);
    const int64_t region = input_of(function, record, RFN_KIND_REGION);
    *traffic = (struct traffic){.peer = -1, .source = -1, .target = -1, .tag = -1, .comm = -1};
    traffic->region = region < rfn_archive_regions(rows->archive) ? region : -1;
    if (record->failed_poll)
        return;
    const struct rfn_volume v = rfn_volume_of(rows->volumes, rows->cursor, rows->info.rank, record);
    traffic->bytes = rfn_most(rfn_volume_bytes(rows->volumes, record->function, &v), 0);
    traffic->sent_bytes = rfn_most(v.sent_bytes, 0);
    traffic->received_bytes = rfn_most(v.received_bytes, 0);
    traffic->source = world_rank(rows, &v, v.source);
    traffic->peer = v.dest_world >= 0 ? v.dest_world : traffic->source;
    traffic->target = rfn_most(v.target, -1);
    traffic->tag = v.dest == RFN_UNKNOWN ? rfn_most(v.tag, -1)
                                         : input_of(function, record, RFN_KIND_TAG);
    traffic->comm = rfn_most(v.comm, -1);
}

static bool may_keep(const struct rfn_event_rows *rows, const struct rfn_record *record)
{
    return !record->varying && !record->failed_poll &&
           rfn_archive_function(rows->archive, record->function)->n_out == 0;
}

/* The traffic of an event, kept before or found now (in *own). */
static int traffic_of(struct rfn_event_rows *rows, const struct rfn_record *record,
                      struct traffic *own, const struct traffic **traffic)
{
    const size_t symbol = record->symbol;
    *traffic = own;
    if (symbol < rows->n_kept && rows->kept[symbol].valid) {
        *traffic = &rows->kept[symbol];
        return 0;
    }
    find_traffic(rows, record, own);
    if (!may_keep(rows, record))
        return 0;
    if (symbol >= rows->n_kept) {
        const size_t n = (symbol + 1) * 2;
        struct traffic *kept = realloc(rows->kept, n * sizeof *kept);
        if (!kept)
            return rfn_fail(&rows->diag, RFN_E_NOMEM, -1, -1, "out of memory for reading events");
        for (size_t i = rows->n_kept; i < n; i++)
            kept[i].valid = false;
        rows->kept = kept;
        rows->n_kept = n;
    }
    rows->kept[symbol] = *own;
    rows->kept[symbol].valid = true;
    return 0;
}

/* ---- streams ---- */

static bool is_chosen(const struct rfn_event_choice *choice, uint32_t rank)
{
    size_t from = 0, to = choice->n_ranks;
    if (!choice->ranks)
        return true;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (choice->ranks[middle] < rank)
            from = middle + 1;
        else
            to = middle;
    }
    return from < choice->n_ranks && choice->ranks[from] == rank;
}

static void end_stream(struct rfn_event_rows *rows)
{
    rfn_cursor_close(rows->cursor);
    rows->cursor = NULL;
    for (size_t i = 0; i < rows->n_kept; i++)
        rows->kept[i].valid = false;
}

/* Opens the next chosen stream; 0: there is none. */
static int next_stream(struct rfn_event_rows *rows, struct rfn_diag *diag)
{
    const uint32_t n = rfn_archive_run(rows->archive)->streams;
    while (rows->stream < n) {
        const uint32_t stream = rows->stream++;
        rows->info = rfn_archive_stream(rows->archive, stream);
        if (!is_chosen(&rows->choice, rows->info.rank))
            continue;
        RFN_TRY(rfn_cursor_open(rows->archive, stream, &rows->cursor, diag));
        const int error = rows->choice.from_given
                              ? rfn_cursor_seek_time(rows->cursor, rows->choice.from_ns, diag)
                              : 0;
        if (error < 0) {
            end_stream(rows);
            return error;
        }
        return 1;
    }
    return 0;
}

/* ---- rows ---- */

static void put(const struct rfn_event_rows *rows, const struct rfn_record *record,
                const struct traffic *traffic, void *const *columns, size_t at)
{
    void *const *next = columns;
    EVENT_COLUMNS(RFN_COLUMN_PUT)
}

/* Whether a column is wanted that comes from a struct traffic. */
static bool wants_traffic(void *const *columns)
{
    for (uint32_t i = COLUMN_bytes; i <= COLUMN_region; i++) {
        if (columns[i])
            return true;
    }
    return false;
}

/* Writes the events of the open stream; 0: it is at its end. */
static int put_stream(struct rfn_event_rows *rows, void *const *columns, size_t *n, size_t most,
                      struct rfn_diag *diag)
{
    static const struct traffic none;
    const bool wants = wants_traffic(columns);
    const struct rfn_record *record;
    const struct traffic *traffic = &none;
    struct traffic own;
    while (*n < most) {
        const int got = rfn_cursor_next(rows->cursor, &record, diag);
        if (got <= 0)
            return got;
        if (rows->choice.to_given && record->enter_ns > rows->choice.to_ns)
            return 0;
        if (wants)
            RFN_TRY(traffic_of(rows, record, &own, &traffic));
        put(rows, record, traffic, columns, (*n)++);
    }
    return 1;
}

int rfn_event_rows_open(const struct rfn_archive *archive, const struct rfn_event_choice *choice,
                        struct rfn_event_rows **rows, struct rfn_diag *diag)
{
    struct rfn_event_rows *made = calloc(1, sizeof *made);
    const bool window = choice && (choice->from_given || choice->to_given);
    *rows = NULL;
    if (window && !rfn_archive_run(archive)->times) {
        free(made);
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the events have no times; choose them without a window");
    }
    if (made)
        made->volumes = rfn_volumes_new(archive);
    if (!made || !made->volumes) {
        free(made);
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory for reading events");
    }
    made->archive = archive;
    made->diag = (struct rfn_diag){.file_offset = -1, .rank = -1};
    if (choice)
        made->choice = *choice;
    *rows = made;
    return 0;
}

/* When a stream fails, the rows before are returned, and the error by the next call. */
int rfn_event_rows_next(struct rfn_event_rows *rows, void *const *columns, size_t most,
                        struct rfn_diag *diag)
{
    size_t n = 0;
    while (n < most && !rows->error) {
        int got = rows->cursor ? 1 : next_stream(rows, &rows->diag);
        if (got == 0)
            break;
        if (got > 0)
            got = put_stream(rows, columns, &n, most, &rows->diag);
        if (got <= 0)
            end_stream(rows);
        rows->error = got < 0 ? got : 0;
    }
    if (n || !rows->error)
        return (int)n;
    const int error = rows->error;
    if (diag)
        *diag = rows->diag;
    rows->diag = (struct rfn_diag){.file_offset = -1, .rank = -1};
    rows->error = 0;
    return error;
}

void rfn_event_rows_close(struct rfn_event_rows *rows)
{
    if (!rows)
        return;
    rfn_cursor_close(rows->cursor);
    rfn_volumes_free(rows->volumes);
    free(rows->kept);
    free(rows);
}
