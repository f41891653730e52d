/* page_reader.c - what a page in a browser calls of the library, compiled to WebAssembly.
 *
 * One archive per instance. Numbers go in and out as they are in JavaScript: counts and numbers of
 * things as uint32_t, times as double (ns since the start of the run, exact up to 104 days).
 * Answers with many values are columns, arrays of one type each, which the page views in place:
 * they are valid until the next call of the same function. A function that fails returns a negative
 * number; page_error() has the words.
 */
#include "view/wasm/page_reader.h"

#include "archive/read/reader.h"
#include "refrain/timeline.h"
#include "refrain/waits.h"

#include <stdlib.h>
#include <string.h>

struct rfn_archive *page_archive;
struct rfn_diag page_diag = {.file_offset = -1, .rank = -1};

/* Readers of streams, opened when they are needed. Where there are many, the oldest is closed. */
enum { MOST_OPEN = 256 };
static struct rfn_timeline **timelines;
static uint32_t open_streams[MOST_OPEN], n_opened;

int page_fail(int error)
{
    if (!page_diag.text[0])
        rfn_fail(&page_diag, error, -1, -1, "%s", rfn_error_text(error));
    return error;
}

void page_forget_error(void)
{
    page_diag = (struct rfn_diag){.file_offset = -1, .rank = -1};
}

const char *EXPORT(page_error)(void)
{
    return page_diag.text;
}

/* Room for an archive's bytes, which stay. */
void *EXPORT(page_room)(uint32_t size)
{
    return malloc(size ? size : 1);
}

/* The number of streams. */
int EXPORT(page_open)(const void *bytes, uint32_t size)
{
    page_forget_error();
    int error = rfn_archive_open_memory(bytes, size, &page_archive, &page_diag);
    if (error < 0)
        return page_fail(error);
    const uint32_t n = rfn_archive_run(page_archive)->streams;
    timelines = calloc((size_t)n + 1, sizeof(struct rfn_timeline *));
    return timelines ? (int)n : page_fail(RFN_E_NOMEM);
}

/* ---- names ---- */

uint32_t EXPORT(page_functions)(void)
{
    return rfn_archive_functions(page_archive);
}

const char *EXPORT(page_function)(uint32_t number)
{
    return rfn_archive_function(page_archive, number)->name;
}

uint32_t EXPORT(page_function_kind)(uint32_t number)
{
    const struct rfn_function_info *function = rfn_archive_function(page_archive, number);
    return rfn_class_is_mpi(function->class_) ? rfn_timeline_kind_of(function)
                                              : RFN_TIMELINE_UNKNOWN;
}

uint32_t EXPORT(page_paths)(void)
{
    return rfn_archive_paths(page_archive);
}

uint32_t EXPORT(page_path_frames)(uint32_t path)
{
    return rfn_archive_path(page_archive, path).n_frames;
}

/* A location's number; frame 0 is that of the MPI call. */
uint32_t EXPORT(page_path_frame)(uint32_t path, uint32_t frame)
{
    return rfn_archive_path(page_archive, path).frames[frame];
}

uint32_t EXPORT(page_locations)(void)
{
    return rfn_archive_locations(page_archive);
}

/* Its function (part 0), file (1), module (2); NULL: not known. */
const char *EXPORT(page_location)(uint32_t number, uint32_t part)
{
    const struct rfn_location location = rfn_archive_location(page_archive, number);
    return part == 0 ? location.function : part == 1 ? location.file : location.module;
}

uint32_t EXPORT(page_location_line)(uint32_t number)
{
    return rfn_archive_location(page_archive, number).line;
}

/* Its return address in the module. */
double EXPORT(page_location_offset)(uint32_t number)
{
    return (double)rfn_archive_location(page_archive, number).offset;
}

uint32_t EXPORT(page_regions)(void)
{
    return rfn_archive_regions(page_archive);
}

const char *EXPORT(page_region)(uint32_t number)
{
    return rfn_archive_region(page_archive, number);
}

const char *EXPORT(page_datatype)(uint32_t number)
{
    return number < rfn_archive_datatypes(page_archive)
               ? rfn_archive_datatype(page_archive, number)->name
               : NULL;
}

/* A wait's pattern, in words; NULL: there is none of this number. */
const char *EXPORT(page_pattern)(uint32_t number)
{
    return number < RFN_PATTERN_COUNT ? rfn_pattern_words((enum rfn_pattern)number) : NULL;
}

/* ---- streams ---- */

uint32_t EXPORT(page_stream_rank)(uint32_t stream)
{
    return rfn_archive_stream(page_archive, stream).rank;
}

uint32_t EXPORT(page_stream_thread)(uint32_t stream)
{
    return rfn_archive_stream(page_archive, stream).thread;
}

uint32_t EXPORT(page_stream_group)(uint32_t stream)
{
    return rfn_archive_stream(page_archive, stream).group;
}

double EXPORT(page_stream_events)(uint32_t stream)
{
    return (double)rfn_archive_stream(page_archive, stream).events;
}

const char *EXPORT(page_stream_host)(uint32_t stream)
{
    return rfn_archive_stream(page_archive, stream).host;
}

/* NULL: it cannot be opened. */
static struct rfn_timeline *timeline_of(uint32_t stream)
{
    if (timelines[stream])
        return timelines[stream];
    const uint32_t slot = n_opened % MOST_OPEN;
    if (n_opened >= MOST_OPEN) {
        rfn_timeline_close(timelines[open_streams[slot]]);
        timelines[open_streams[slot]] = NULL;
    }
    const int error = rfn_timeline_open(page_archive, stream, &timelines[stream], &page_diag);
    if (error < 0) {
        page_fail(error);
        timelines[stream] = NULL;
    }
    open_streams[slot] = stream;
    n_opened++;
    return timelines[stream];
}

/* After an error a reader only repeats it. */
static int timeline_failed(uint32_t stream, int error)
{
    rfn_timeline_close(timelines[stream]);
    timelines[stream] = NULL;
    return page_fail(error);
}

/* ---- pictures ---- */

static struct rfn_timeline_bin *bins;
static uint8_t *cells;
static uint32_t most_bins;

static int room_for_bins(uint32_t n)
{
    if (n > most_bins) {
        free(bins);
        free(cells);
        bins = malloc(n * sizeof *bins);
        cells = malloc((size_t)n * RFN_TIMELINE_CELL_BYTES);
        most_bins = bins && cells ? n : 0;
    }
    return most_bins >= n ? 0 : page_fail(RFN_E_NOMEM);
}

const uint8_t *EXPORT(page_cells)(void)
{
    return cells;
}

/* Fills page_cells, RFN_TIMELINE_CELL_BYTES per bin, with what can be read. function UINT32_MAX:
 * nothing is selected. */
int EXPORT(page_picture)(uint32_t stream, double from_ns, double to_ns, uint32_t n,
                         uint32_t function, uint32_t path)
{
    const struct rfn_timeline_window window = {.from_ns = (int64_t)from_ns,
                                               .to_ns = (int64_t)to_ns,
                                               .n = n,
                                               .selects = function != UINT32_MAX,
                                               .function = function,
                                               .path = path};
    page_forget_error();
    RFN_TRY(room_for_bins(n));
    memset(bins, 0, n * sizeof *bins);
    struct rfn_timeline *timeline = timeline_of(stream);
    const int error = timeline ? rfn_timeline_add(timeline, &window, bins, &page_diag) : 0;
    rfn_timeline_pack(&window, bins, cells);
    if (!timeline)
        return RFN_E_CORRUPT;
    return error < 0 ? timeline_failed(stream, error) : 0;
}

/* ---- single calls ---- */

enum { MOST_CALLS = 1 << 16 };

/* Columns of page_calls. bytes: of the first count and datatype; word: the rank in MPI_COMM_WORLD
 * that a call of MPI names first, the region of a begin or end; -1: none, or not known. */
static struct {
    double enter[MOST_CALLS], exit[MOST_CALLS], index[MOST_CALLS], bytes[MOST_CALLS];
    uint32_t function[MOST_CALLS], path[MOST_CALLS], polls[MOST_CALLS];
    int32_t word[MOST_CALLS];
} calls;

const void *EXPORT(page_call_column)(uint32_t number)
{
    const void *const columns[] = {calls.enter,    calls.exit, calls.index, calls.bytes,
                                   calls.function, calls.path, calls.polls, calls.word};
    return number < sizeof columns / sizeof *columns ? columns[number] : NULL;
}

/* The first input of a kind, or -1. */
static int64_t word_of(const struct rfn_record *record, uint8_t kind)
{
    const struct rfn_function_info *function = rfn_archive_function(page_archive, record->function);
    for (uint32_t i = 0; i < function->n_in; i++) {
        if (function->params[i].kind == kind)
            return record->in[i];
    }
    return -1;
}

/* The peer or root. */
static int64_t rank_of(const struct rfn_record *record, uint32_t world_rank)
{
    const int64_t comm = word_of(record, RFN_KIND_COMM);
    if (comm < 0 || comm >= rfn_archive_comms(page_archive))
        return -1;
    return rfn_comm_peer(page_archive, (uint32_t)comm, world_rank, word_of(record, RFN_KIND_RANK));
}

/* Of the first count and datatype. */
static double bytes_of(const struct rfn_record *record)
{
    const struct rfn_function_info *function = rfn_archive_function(page_archive, record->function);
    for (uint32_t i = 0; i + 1u < function->n_in; i++) {
        if (function->params[i].kind == RFN_KIND_COUNT &&
            function->params[i + 1].kind == RFN_KIND_TYPE && record->in[i + 1] >= 0 &&
            record->in[i + 1] < rfn_archive_datatypes(page_archive))
            return (double)record->in[i] *
                   (double)rfn_archive_datatype(page_archive, (uint32_t)record->in[i + 1])->size;
    }
    return -1;
}

static void put_call(uint32_t n, const struct rfn_record *record, uint32_t rank)
{
    const bool mpi = rfn_class_is_mpi(rfn_archive_function(page_archive, record->function)->class_);
    calls.enter[n] = (double)record->enter_ns;
    calls.exit[n] = (double)record->exit_ns;
    calls.index[n] = (double)record->index;
    calls.bytes[n] = bytes_of(record);
    calls.function[n] = record->function;
    calls.path[n] = record->path;
    calls.polls[n] = record->polls < UINT32_MAX ? (uint32_t)record->polls : UINT32_MAX;
    calls.word[n] = (int32_t)(mpi ? rank_of(record, rank) : word_of(record, RFN_KIND_REGION));
}

/* The events of a stream that overlap a time, as many as there is room for: their number. After
 * damage those before it. */
int EXPORT(page_calls)(uint32_t stream, double from_ns, double to_ns, uint32_t most)
{
    const struct rfn_record *record;
    const uint32_t rank = rfn_archive_stream(page_archive, stream).rank;
    page_forget_error();
    struct rfn_timeline *timeline = timeline_of(stream);
    if (!timeline)
        return RFN_E_CORRUPT;
    struct rfn_cursor *cursor = rfn_timeline_cursor(timeline);
    uint32_t n = 0;
    int more = rfn_cursor_seek_time(cursor, (int64_t)from_ns, &page_diag);
    while (more >= 0 && n < most && n < MOST_CALLS &&
           (more = rfn_cursor_next(cursor, &record, &page_diag)) > 0 &&
           (double)record->enter_ns <= to_ns)
        put_call(n++, record, rank);
    if (more < 0)
        timeline_failed(stream, more);
    return more < 0 && !n ? more : (int)n;
}

/* One event, with all of its words. */
static struct {
    const struct rfn_function_info *function;
    double words[2 * RFN_PARAMS_MAX];
    double times[2]; /* enter, exit */
} call;

const double *EXPORT(page_call_times)(void)
{
    return call.times;
}

/* How many parameters it has; page_call_name, page_call_kind and page_call_word tell them. */
int EXPORT(page_call)(uint32_t stream, double index)
{
    const struct rfn_record *record;
    page_forget_error();
    struct rfn_timeline *timeline = timeline_of(stream);
    if (!timeline)
        return RFN_E_CORRUPT;
    struct rfn_cursor *cursor = rfn_timeline_cursor(timeline);
    int more = rfn_cursor_seek(cursor, (uint64_t)index, &page_diag);
    if (more >= 0)
        more = rfn_cursor_next(cursor, &record, &page_diag);
    if (more == 0)
        return rfn_fail(&page_diag, RFN_E_RANGE, -1, -1, "there is no such event");
    if (more < 0)
        return timeline_failed(stream, more);
    call.function = rfn_archive_function(page_archive, record->function);
    call.times[0] = (double)record->enter_ns;
    call.times[1] = (double)record->exit_ns;
    for (uint32_t i = 0; i < call.function->n_in; i++)
        call.words[i] = (double)record->in[i];
    for (uint32_t i = 0; i < call.function->n_out; i++)
        call.words[call.function->n_in + i] = (double)record->out[i];
    return call.function->n_in + call.function->n_out;
}

const char *EXPORT(page_call_name)(uint32_t i)
{
    return call.function->params[i].name;
}

uint32_t EXPORT(page_call_kind)(uint32_t i)
{
    return call.function->params[i].kind;
}

double EXPORT(page_call_word)(uint32_t i)
{
    return call.words[i];
}
