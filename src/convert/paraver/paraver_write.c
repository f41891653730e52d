/* rfn_paraver_write of refrain/convert.h.
 *
 * The walk over matched events makes records, which are sorted by time and then written: Paraver
 * wants lines in the order of time, but a message is known only when its receive is over. */
#include "base/copy_text.h"
#include "convert/convertible.h"
#include "convert/paraver/paraver_writing.h"
#include "convert/progress.h"
#include "convert/run_part.h"
#include "convert/text/text_sink.h"
#include "convert/time_sort.h"

#include <stdio.h>
#include <stdlib.h>

enum { HELD = 1 << 19 /* records in memory */, LINES = 64 * 1024 /* bytes to a file at once */ };

enum record_kind { RUNS, CALLS, LEAVES, REGION, SENDS };

struct record {
    struct rfn_timed timed;
    uint32_t stream;
    enum record_kind kind;
    union {
        int64_t to_ns; /* RUNS */
        struct {       /* CALLS, LEAVES */
            int64_t to_ns, sent_bytes, received_bytes;
            uint32_t function, path;
        } call;
        uint32_t region; /* REGION: value; 0: it ends */
        struct {         /* SENDS */
            int64_t posted_ns, received_ns, bytes;
            int32_t tag;
            uint32_t receiver;
        } message;
    } of;
};

/* The end of a name that the two other files do not have. */
static const char suffix[] = ".prv";

struct writing {
    const struct rfn_archive *archive;
    const struct rfn_convert_part *part;
    bool force;
    char *paths[3]; /* .prv, .pcf, .row */
    struct rfn_text_sink *sinks[3];
    struct paraver_objects objects;
    struct paraver_function *functions;
    struct paraver_labels callers, lines;
    char **path_texts; /* by call path: what its callers add to a line; NULL: not yet needed */
    char (*object_texts)[48];
    struct rfn_time_sort *sort;
    int64_t end_ns;
    struct rfn_text text;
    struct rfn_walk_progress walk;
    struct rfn_trace_summary *summary;
    struct rfn_diag *diag;
};

static int no_memory(const struct writing *writing)
{
    return rfn_fail(writing->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* ---- the walk ---- */

/* The trace lasts as long as anything in it. */
static void reach(struct writing *writing, int64_t ns)
{
    if (ns > writing->end_ns)
        writing->end_ns = ns;
}

static int add(struct writing *writing, const struct record *record)
{
    reach(writing, record->timed.ns);
    return rfn_time_sort_add(writing->sort, record, writing->diag);
}

/* Times before the start of the run, as clocks may have it, are its start. */
static int64_t since_start(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

static int gap(void *context, uint32_t stream, int64_t from_ns, int64_t to_ns)
{
    struct writing *writing = context;
    const struct rfn_convert_part *part = writing->part;
    const int64_t from = since_start(part && from_ns < part->from_ns ? part->from_ns : from_ns);
    const int64_t to = since_start(part && to_ns > part->to_ns ? part->to_ns : to_ns);
    const struct record record = {{from, 0}, stream, RUNS, {.to_ns = to}};
    if (to > from)
        reach(writing, to);
    return to > from && writing->objects.streams[stream].task ? add(writing, &record) : 0;
}

static int add_call(struct writing *writing, const struct rfn_match_event *event)
{
    const struct rfn_volume *volume = event->volume;
    const bool sizes = writing->functions[event->record->function].is_collective;
    struct record record = {{since_start(event->enter_ns), 0},
                            event->stream,
                            CALLS,
                            {.call = {.to_ns = since_start(event->exit_ns),
                                      .sent_bytes = sizes ? volume->sent_bytes : -1,
                                      .received_bytes = sizes ? volume->received_bytes : -1,
                                      .function = event->record->function,
                                      .path = event->record->path}}};
    RFN_TRY(add(writing, &record));
    record.kind = LEAVES;
    record.timed.ns = record.of.call.to_ns;
    writing->summary->calls++;
    return add(writing, &record);
}

static int add_region(struct writing *writing, const struct rfn_match_event *event,
                      const struct rfn_function_info *function)
{
    const struct rfn_record *of = event->record;
    if (function->class_ != RFN_CLASS_REGION || function->n_in < 1 ||
        function->params[0].kind != RFN_KIND_REGION || of->in[0] < 0 ||
        of->in[0] >= rfn_archive_regions(writing->archive))
        return 0;
    const bool begins = strcmp(function->name, "refrain_region_begin") == 0;
    const struct record record = {{since_start(event->enter_ns), 0},
                                  event->stream,
                                  REGION,
                                  {.region = begins ? (uint32_t)of->in[0] + 1 : 0}};
    return add(writing, &record);
}

static int leave(void *context, const struct rfn_match_event *event)
{
    struct writing *writing = context;
    rfn_walk_step(&writing->walk);
    if (!rfn_part_has_event(writing->part, event))
        return 0;
    if (writing->functions[event->record->function].is_call)
        return add_call(writing, event);
    return add_region(writing, event,
                      rfn_archive_function(writing->archive, event->record->function));
}

static int message(void *context, const struct rfn_match_message *of)
{
    struct writing *writing = context;
    const struct rfn_match_end *received = &of->received;
    if (!rfn_part_has_message(writing->part, of))
        return 0;
    const int64_t over_ns = received->ended ? received->exit_ns : received->posted.ns;
    const struct record record = {{since_start(of->sent.posted.ns), 0},
                                  of->sent.posted.stream,
                                  SENDS,
                                  {.message = {.posted_ns = since_start(received->posted.ns),
                                               .received_ns = since_start(over_ns),
                                               .bytes = of->bytes > 0 ? of->bytes : 0,
                                               .tag = (int32_t)of->tag,
                                               .receiver = received->posted.stream}}};
    writing->summary->messages++;
    return add(writing, &record);
}

/* ---- lines ---- */

static void put(struct rfn_text *text, int64_t number)
{
    rfn_text_char(text, ':');
    rfn_text_signed(text, number);
}

static void begin_line(struct writing *writing, char kind, uint32_t stream)
{
    rfn_text_char(&writing->text, kind);
    rfn_text_string(&writing->text, writing->object_texts[stream]);
}

static void put_type(struct rfn_text *text, uint32_t type, int64_t value)
{
    put(text, type);
    put(text, value);
}

static void put_state(struct writing *writing, const struct record *record, int64_t to_ns,
                      enum paraver_state state)
{
    begin_line(writing, '1', record->stream);
    put(&writing->text, record->timed.ns);
    put(&writing->text, to_ns);
    put(&writing->text, state);
    rfn_text_char(&writing->text, '\n');
}

static uint32_t label_of_function(struct writing *writing, const struct rfn_location *at)
{
    struct rfn_text unknown = {0};
    if (at->function)
        return rfn_paraver_label(&writing->callers, at->function);
    rfn_text_format(&unknown, "%s+0x%llx", at->module ? at->module : "",
                    (unsigned long long)at->offset);
    const uint32_t label = rfn_paraver_label(&writing->callers, rfn_text_terminated(&unknown));
    rfn_text_release(&unknown);
    return label;
}

static uint32_t label_of_line(struct writing *writing, const struct rfn_location *at)
{
    struct rfn_text line = {0};
    rfn_text_format(&line, "%s:%u", at->file ? at->file : "?", at->line);
    const uint32_t label = rfn_paraver_label(&writing->lines, rfn_text_terminated(&line));
    rfn_text_release(&line);
    return label;
}

/* Sets the text of a call path. */
static int make_path_text(struct writing *writing, uint32_t number)
{
    const struct rfn_path path = rfn_archive_path(writing->archive, number);
    char text[PARAVER_LEVELS * 64] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < path.n_frames && i < PARAVER_LEVELS; i++) {
        const struct rfn_location at = rfn_archive_location(writing->archive, path.frames[i]);
        const uint32_t function = label_of_function(writing, &at),
                       line = label_of_line(writing, &at);
        if (!function || !line)
            return no_memory(writing);
        n += (size_t)snprintf(text + n, sizeof text - n, ":%u:%u:%u:%u", PARAVER_CALLER + i + 1,
                              function, PARAVER_LINE + i + 1, line);
    }
    writing->path_texts[number] = rfn_copy_text(text);
    return writing->path_texts[number] ? 0 : no_memory(writing);
}

static int put_call(struct writing *writing, const struct record *record)
{
    const struct paraver_function *function = &writing->functions[record->of.call.function];
    const int64_t sent = record->of.call.sent_bytes, received = record->of.call.received_bytes;
    if (!writing->path_texts[record->of.call.path])
        RFN_TRY(make_path_text(writing, record->of.call.path));
    put_state(writing, record, record->of.call.to_ns, function->state);
    begin_line(writing, '2', record->stream);
    put(&writing->text, record->timed.ns);
    put_type(&writing->text, function->type, function->value);
    if (sent >= 0)
        put_type(&writing->text, PARAVER_SENT_SIZE, sent);
    if (received >= 0)
        put_type(&writing->text, PARAVER_RECEIVED_SIZE, received);
    rfn_text_string(&writing->text, writing->path_texts[record->of.call.path]);
    rfn_text_char(&writing->text, '\n');
    return 0;
}

static void put_event(struct writing *writing, const struct record *record, uint32_t type,
                      int64_t value)
{
    begin_line(writing, '2', record->stream);
    put(&writing->text, record->timed.ns);
    put_type(&writing->text, type, value);
    rfn_text_char(&writing->text, '\n');
}

/* A message leaves when it is posted. */
static void put_message(struct writing *writing, const struct record *record)
{
    struct rfn_text *text = &writing->text;
    begin_line(writing, '3', record->stream);
    put(text, record->timed.ns);
    put(text, record->timed.ns);
    rfn_text_string(text, writing->object_texts[record->of.message.receiver]);
    put(text, record->of.message.posted_ns);
    put(text, record->of.message.received_ns);
    put(text, record->of.message.bytes);
    put(text, record->of.message.tag);
    rfn_text_char(text, '\n');
}

static int put_record(struct writing *writing, const struct record *record)
{
    switch (record->kind) {
    case RUNS:
        put_state(writing, record, record->of.to_ns, PARAVER_RUNNING);
        return 0;
    case CALLS:
        return put_call(writing, record);
    case LEAVES:
        put_event(writing, record, writing->functions[record->of.call.function].type, 0);
        return 0;
    case REGION:
        put_event(writing, record, PARAVER_REGION, record->of.region);
        return 0;
    case SENDS:
        put_message(writing, record);
        return 0;
    }
    return 0;
}

/* ---- files ---- */

static int flow(struct writing *writing, struct rfn_text_sink *sink)
{
    return rfn_text_sink_take(sink, &writing->text, writing->diag);
}

static int write_lines(struct writing *writing)
{
    enum { TOLD_EVERY = 1 << 14 };
    const uint64_t n = rfn_time_sort_records(writing->sort);
    const void *record;
    int more;
    rfn_paraver_head(&writing->text, writing->archive, &writing->objects, writing->end_ns);
    for (uint64_t i = 1; (more = rfn_time_sort_next(writing->sort, &record, writing->diag)) > 0;
         i++) {
        RFN_TRY(put_record(writing, record));
        if (writing->text.n >= LINES)
            RFN_TRY(flow(writing, writing->sinks[0]));
        if (i % TOLD_EVERY == 0)
            rfn_convert_tell(writing->walk.progress,
                             writing->walk.share +
                                 (1 - writing->walk.share) * (double)i / (double)n);
    }
    RFN_TRY(more);
    return flow(writing, writing->sinks[0]);
}

static int write_all(struct writing *writing)
{
    const struct rfn_match_hooks hooks = {
        .context = writing, .gap = gap, .leave = leave, .message = message};
    RFN_TRY(rfn_match_run(writing->archive, &hooks, NULL, writing->diag));
    RFN_TRY(write_lines(writing));
    rfn_paraver_pcf(&writing->text, writing->archive, &writing->callers, &writing->lines);
    RFN_TRY(flow(writing, writing->sinks[1]));
    rfn_paraver_row(&writing->text, writing->archive, &writing->objects);
    return flow(writing, writing->sinks[2]);
}

/* NAME.prv, NAME.prv.gz -> NAME.pcf; to be freed. NULL: out of memory. */
static char *beside(const char *path, const char *end)
{
    const size_t whole = strlen(path) - rfn_text_sink_suffix(path), n = sizeof suffix - 1;
    const size_t stem = whole >= n && memcmp(path + whole - n, suffix, n) == 0 ? whole - n : whole;
    char *name = malloc(stem + strlen(end) + 1);
    if (!name)
        return NULL;
    memcpy(name, path, stem);
    memcpy(name + stem, end, strlen(end) + 1);
    return name;
}

static int open_files(struct writing *writing, const char *path)
{
    static const char *const ends[] = {"", ".pcf", ".row"};
    for (int i = 0; i < 3; i++) {
        writing->paths[i] = i ? beside(path, ends[i]) : rfn_copy_text(path);
        if (!writing->paths[i])
            return no_memory(writing);
        RFN_TRY(rfn_text_sink_open(writing->paths[i], writing->force, &writing->sinks[i],
                                   writing->diag));
    }
    return 0;
}

/* Names first: a trace that is there has them. */
static int close_files(struct writing *writing)
{
    uint64_t bytes = 0;
    for (int i = 2; i >= 0; i--) {
        struct rfn_text_sink *sink = writing->sinks[i];
        writing->sinks[i] = NULL;
        RFN_TRY(rfn_text_sink_close(sink, &bytes, &writing->summary->bytes, writing->diag));
    }
    for (int i = 2; i >= 0; i--)
        RFN_TRY(rfn_text_sink_place(writing->paths[i], writing->force, writing->diag));
    return 0;
}

/* ---- all of it ---- */

static int init(struct writing *writing)
{
    const struct rfn_archive *archive = writing->archive;
    const uint32_t functions = rfn_archive_functions(archive);
    const uint32_t streams = rfn_archive_run(archive)->streams;
    writing->functions = calloc((size_t)functions + 1, sizeof *writing->functions);
    writing->path_texts = calloc((size_t)rfn_archive_paths(archive) + 1, sizeof(char *));
    writing->object_texts = calloc((size_t)streams + 1, sizeof *writing->object_texts);
    writing->sort = rfn_time_sort_new(sizeof(struct record), HELD);
    if (!writing->functions || !writing->path_texts || !writing->object_texts || !writing->sort ||
        rfn_paraver_objects_init(&writing->objects, archive, writing->part) < 0)
        return no_memory(writing);
    for (uint32_t i = 0; i < functions; i++)
        writing->functions[i] = rfn_paraver_function(archive, i);
    for (uint32_t i = 0; i < streams; i++) {
        const struct paraver_object *object = &writing->objects.streams[i];
        snprintf(writing->object_texts[i], sizeof *writing->object_texts, ":%u:1:%u:%u",
                 object->cpu, object->task, object->thread);
    }
    return 0;
}

static void release(struct writing *writing)
{
    for (int i = 0; i < 3; i++) {
        rfn_text_sink_cancel(writing->sinks[i]);
        free(writing->paths[i]);
    }
    for (uint32_t i = 0; writing->path_texts && i < rfn_archive_paths(writing->archive); i++)
        free(writing->path_texts[i]);
    free(writing->path_texts);
    free(writing->object_texts);
    free(writing->functions);
    rfn_paraver_objects_release(&writing->objects);
    rfn_paraver_labels_release(&writing->callers);
    rfn_paraver_labels_release(&writing->lines);
    rfn_time_sort_free(writing->sort);
    rfn_text_release(&writing->text);
}

int rfn_paraver_write(const struct rfn_archive *archive, const char *path, bool force,
                      const struct rfn_convert_part *part,
                      const struct rfn_convert_progress *progress,
                      struct rfn_trace_summary *summary, struct rfn_diag *diag)
{
    struct writing writing = {
        .archive = archive, .part = part, .force = force, .summary = summary, .diag = diag};
    *summary = (struct rfn_trace_summary){.ranks = rfn_part_ranks(archive, part)};
    RFN_TRY(rfn_convertible(archive, "a trace for Paraver", diag));
    rfn_walk_begin(&writing.walk, archive, progress, 0.6);
    int error = init(&writing);
    if (!error)
        error = open_files(&writing, path);
    if (!error)
        error = write_all(&writing);
    if (!error)
        error = close_files(&writing);
    release(&writing);
    return error;
}
