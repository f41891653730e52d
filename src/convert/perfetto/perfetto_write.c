/* rfn_perfetto_write of refrain/convert.h.
 *
 * Each thread is a track: slices of the functions that lead to its calls of MPI, and in them of the
 * calls. A function is on a track from the first call that it leads to until the last one before
 * another function leads to a call. Regions of the program have a track below, as functions and
 * regions need not be nested, and so have loops, with a slice for each iteration. Arrows (flows)
 * lead from the call that sends a message to the one that completes its receive.
 *
 * Names go into the file once, in the first packet that needs them, and so do the texts of places;
 * the names of annotations are in the first packet. Source: field numbers of
 * protos/perfetto/trace/trace_packet.proto, track_event.proto and interned_data.proto.
 */
#include "base/grow.h"
#include "convert/convertible.h"
#include "convert/event_messages.h"
#include "convert/perfetto/protobuf.h"
#include "convert/progress.h"
#include "convert/run_part.h"
#include "convert/text/text_sink.h"
#include "refrain/convert.h"
#include "refrain/match.h"
#include "refrain/timeline.h"

#include <stdio.h>
#include <stdlib.h>

enum { PACKET = 1 }; /* of a trace */

enum {
    TIMESTAMP = 8,
    SEQUENCE = 10,
    TRACK_EVENT = 11,
    INTERNED = 12,
    SEQUENCE_FLAGS = 13,
    TRACK_DESCRIPTOR = 60
};

enum { STARTS_SEQUENCE = 1, NEEDS_NAMES = 2 }; /* SEQUENCE_FLAGS */

/* Of INTERNED; each has a number and a text. */
enum { CATEGORIES = 1, EVENT_NAMES = 2, ANNOTATION_NAMES = 3, ANNOTATION_STRINGS = 29 };

enum {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48
};

enum { SLICE_BEGIN = 1, SLICE_END = 2 }; /* EVENT_TYPE */

enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5, TRACK_ORDER = 11, TRACK_RANK = 12 };

enum { BY_RANK = 3 }; /* TRACK_ORDER */

enum { ANNOTATION_NAME = 1, ANNOTATION_INT = 4, ANNOTATION_STRING = 17 };

enum category { CALL = 1, FUNCTION, REGION, LOOP, CATEGORIES_END };

static const char *const category_names[] = {
    [CALL] = "mpi", [FUNCTION] = "function", [REGION] = "region", [LOOP] = "loop"};

/* Of slices. */
enum annotation {
    CALLED_AT = 1,
    POLLS,
    TO_RANK,
    SENT_TAG,
    SENT_BYTES,
    FROM_RANK,
    RECEIVED_TAG,
    RECEIVED_BYTES,
    ITERATIONS,
    ANNOTATIONS_END
};

static const char *const annotation_names[] = {
    [CALLED_AT] = "called at",       [POLLS] = "polls",
    [TO_RANK] = "to rank",           [SENT_TAG] = "sent tag",
    [SENT_BYTES] = "sent bytes",     [FROM_RANK] = "from rank",
    [RECEIVED_TAG] = "received tag", [RECEIVED_BYTES] = "received bytes",
    [ITERATIONS] = "iterations"};

#define NOWHERE UINT32_MAX /* no location */

/* A function on a track, and the location from which the one around calls it. */
struct open {
    uint32_t location, caller;
};

struct stream {
    struct open *open; /* the outermost first */
    size_t n_open, open_capacity;
    struct rfn_event_messages sent; /* by the call at hand, */
    uint64_t *sends;                /* and their flows */
    size_t n_sends, sends_capacity;
    size_t n_regions; /* that are open */
    int64_t last_ns;
};

struct writing {
    const struct rfn_archive *archive;
    struct rfn_text_sink *sink;
    struct rfn_buf packet, event, message, names;
    bool *named;         /* by number of a name: it is in the file */
    bool *place_written; /* by location: the text of its place is */
    struct stream *streams;
    uint64_t flows, packets;
    const struct rfn_convert_part *part;
    struct rfn_walk_progress walk;
    struct rfn_trace_summary *summary;
    struct rfn_diag *diag;
};

/* ---- packets ---- */

static int end_packet(struct writing *writing)
{
    struct rfn_buf *packet = &writing->packet;
    const bool first = writing->packets++ == 0;
    pb_number(packet, SEQUENCE, 1);
    pb_number(packet, SEQUENCE_FLAGS, first ? STARTS_SEQUENCE | NEEDS_NAMES : NEEDS_NAMES);
    if (writing->names.size)
        pb_message(packet, INTERNED, &writing->names);
    pb_message(rfn_text_sink_text(writing->sink), PACKET, packet);
    return rfn_text_sink_flow(writing->sink, writing->diag);
}

static int end_event(struct writing *writing, int64_t ns)
{
    pb_number(&writing->packet, TIMESTAMP, ns > 0 ? (uint64_t)ns : 0);
    pb_message(&writing->packet, TRACK_EVENT, &writing->event);
    return end_packet(writing);
}

static void add_name(struct writing *writing, uint32_t table, uint64_t number, const char *name)
{
    pb_number(&writing->message, 1, number);
    pb_string(&writing->message, 2, name);
    pb_message(&writing->names, table, &writing->message);
}

/* Names are numbered: functions of MPI, regions, locations of the program, words; from 1. */
static uint32_t number_of_function(uint32_t function)
{
    return 1 + function;
}

static uint32_t number_of_region(const struct rfn_archive *archive, uint32_t region)
{
    return 1 + rfn_archive_functions(archive) + region;
}

static uint32_t number_of_location(const struct rfn_archive *archive, uint32_t location)
{
    return 1 + rfn_archive_functions(archive) + rfn_archive_regions(archive) + location;
}

enum word { WORD_LOOP, WORD_ITERATION, WORDS };

static uint32_t number_of_word(const struct rfn_archive *archive, enum word word)
{
    return number_of_location(archive, rfn_archive_locations(archive)) + (uint32_t)word;
}

static void name_event(struct writing *writing, uint32_t number, const char *name)
{
    if (!writing->named[number])
        add_name(writing, EVENT_NAMES, number, name);
    writing->named[number] = true;
    pb_number(&writing->event, EVENT_NAME, number);
}

/* ---- tracks ---- */

enum { ALL = 1, OF_STREAMS = 2 }; /* UUIDs */

static uint64_t track_of(uint32_t stream)
{
    return OF_STREAMS + 3 * (uint64_t)stream;
}

static uint64_t region_track_of(uint32_t stream)
{
    return track_of(stream) + 1;
}

static uint64_t loop_track_of(uint32_t stream)
{
    return track_of(stream) + 2;
}

static int write_track(struct writing *writing, uint64_t uuid, uint64_t parent, const char *name,
                       uint32_t rank)
{
    struct rfn_buf *track = &writing->message;
    pb_number(track, TRACK_UUID, uuid);
    pb_string(track, TRACK_NAME, name);
    if (parent)
        pb_number(track, TRACK_PARENT, parent);
    pb_number(track, TRACK_ORDER, BY_RANK);
    pb_number(track, TRACK_RANK, rank);
    pb_message(&writing->packet, TRACK_DESCRIPTOR, track);
    return end_packet(writing);
}

static int write_tracks(struct writing *writing)
{
    const struct rfn_archive *archive = writing->archive;
    const struct rfn_run *run = rfn_archive_run(archive);
    char name[64];
    for (uint32_t i = 1; i < CATEGORIES_END; i++)
        add_name(writing, CATEGORIES, i, category_names[i]);
    for (uint32_t i = 1; i < ANNOTATIONS_END; i++)
        add_name(writing, ANNOTATION_NAMES, i, annotation_names[i]);
    RFN_TRY(write_track(writing, ALL, 0, run->program ? run->program : "program", 0));
    for (uint32_t i = 0; i < run->streams; i++) {
        const struct rfn_stream_info stream = rfn_archive_stream(archive, i);
        if (!rfn_part_has_rank(writing->part, stream.rank))
            continue;
        if (stream.thread)
            snprintf(name, sizeof name, "rank %u, thread %u", stream.rank, stream.thread);
        else
            snprintf(name, sizeof name, "rank %u", stream.rank);
        RFN_TRY(write_track(writing, track_of(i), ALL, name, i));
        if (rfn_archive_regions(archive))
            RFN_TRY(write_track(writing, region_track_of(i), track_of(i), "regions", 0));
    }
    return 0;
}

/* ---- slices ---- */

static void begin_slice(struct writing *writing, uint64_t track, enum category category,
                        uint32_t number, const char *name)
{
    pb_number(&writing->event, EVENT_TYPE, SLICE_BEGIN);
    pb_number(&writing->event, EVENT_TRACK, track);
    pb_number(&writing->event, EVENT_CATEGORY, category);
    name_event(writing, number, name);
}

static void end_slice(struct writing *writing, uint64_t track)
{
    pb_number(&writing->event, EVENT_TYPE, SLICE_END);
    pb_number(&writing->event, EVENT_TRACK, track);
}

static void annotate(struct writing *writing, enum annotation which, int64_t value)
{
    pb_number(&writing->message, ANNOTATION_NAME, which);
    pb_number(&writing->message, ANNOTATION_INT, (uint64_t)value);
    pb_message(&writing->event, EVENT_ANNOTATION, &writing->message);
}

/* "halo.c:58", where a call is made. */
static void annotate_place(struct writing *writing, uint32_t location)
{
    const struct rfn_location at = rfn_archive_location(writing->archive, location);
    char place[256];
    if (!at.file || !at.line)
        return;
    if (!writing->place_written[location]) {
        snprintf(place, sizeof place, "%s:%u", at.file, at.line);
        add_name(writing, ANNOTATION_STRINGS, 1 + (uint64_t)location, place);
    }
    writing->place_written[location] = true;
    pb_number(&writing->message, ANNOTATION_NAME, CALLED_AT);
    pb_number(&writing->message, ANNOTATION_STRING, 1 + (uint64_t)location);
    pb_message(&writing->event, EVENT_ANNOTATION, &writing->message);
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static uint32_t line_of(const struct rfn_archive *archive, uint32_t location)
{
    return location == NOWHERE ? 0 : rfn_archive_location(archive, location).line;
}

static bool is_open(const struct rfn_archive *archive, const struct open *open, uint32_t location,
                    uint32_t caller)
{
    if (open->location == location && open->caller == caller)
        return true;
    const struct rfn_location a = rfn_archive_location(archive, open->location),
                              b = rfn_archive_location(archive, location);
    return line_of(archive, open->caller) == line_of(archive, caller) &&
           is_same(a.function, b.function) && is_same(a.file, b.file) &&
           (a.function || (is_same(a.module, b.module) && a.offset == b.offset));
}

static int close_down_to(struct writing *writing, uint32_t number, size_t n)
{
    struct stream *stream = &writing->streams[number];
    for (; stream->n_open > n; stream->n_open--) {
        end_slice(writing, track_of(number));
        RFN_TRY(end_event(writing, stream->last_ns));
    }
    return 0;
}

static int open_function(struct writing *writing, uint32_t number, uint32_t location,
                         uint32_t caller, int64_t ns)
{
    struct stream *stream = &writing->streams[number];
    const struct rfn_location at = rfn_archive_location(writing->archive, location);
    char unknown[256];
    snprintf(unknown, sizeof unknown, "%s+0x%llx", at.module ? at.module : "",
             (unsigned long long)at.offset);
    RFN_TRY(RFN_GROW(stream->open, stream->open_capacity, stream->n_open + 1));
    stream->open[stream->n_open++] = (struct open){location, caller};
    begin_slice(writing, track_of(number), FUNCTION, number_of_location(writing->archive, location),
                at.function ? at.function : unknown);
    if (caller != NOWHERE)
        annotate_place(writing, caller);
    return end_event(writing, ns);
}

/* The functions on the track become those that lead to a call. */
static int follow(struct writing *writing, uint32_t number, struct rfn_path path, int64_t ns)
{
    const struct rfn_archive *archive = writing->archive;
    struct stream *stream = &writing->streams[number];
    uint32_t i = 0, caller = NOWHERE;
    for (; i < path.n_frames && i < stream->n_open; i++) {
        const uint32_t location = path.frames[path.n_frames - 1 - i];
        if (!is_open(archive, &stream->open[i], location, caller))
            break;
        caller = location;
    }
    RFN_TRY(close_down_to(writing, number, i));
    for (; i < path.n_frames; i++) {
        const uint32_t location = path.frames[path.n_frames - 1 - i];
        RFN_TRY(open_function(writing, number, location, caller, ns));
        caller = location;
    }
    return 0;
}

/* ---- events ---- */

/* What a call sends begins an arrow. */
static int enter(void *context, const struct rfn_match_event *event)
{
    struct writing *writing = context;
    struct stream *stream = &writing->streams[event->stream];
    if (!rfn_part_has_event(writing->part, event))
        return 0;
    stream->n_sends = 0;
    stream->sent = rfn_event_messages(event, RFN_MATCH_SEND);
    for (size_t i = 0; i < event->n_ops; i++) {
        if (event->ops[i].what != RFN_MATCH_SEND || !event->ops[i].user)
            continue;
        RFN_TRY(RFN_GROW(stream->sends, stream->sends_capacity, stream->n_sends + 1));
        *event->ops[i].user = ++writing->flows;
        stream->sends[stream->n_sends++] = writing->flows;
    }
    return 0;
}

/* Of several messages only their bytes. which: of the peer, the tag and the bytes. */
static void annotate_messages(struct writing *writing, const struct rfn_event_messages *messages,
                              const enum annotation which[3])
{
    if (messages->n == 1 && messages->peer != RFN_NO_PEER) {
        annotate(writing, which[0], messages->peer);
        annotate(writing, which[1], messages->tag);
    }
    if (messages->n && messages->bytes >= 0)
        annotate(writing, which[2], messages->bytes);
}

static int write_call(struct writing *writing, const struct rfn_match_event *event)
{
    const struct rfn_archive *archive = writing->archive;
    const struct rfn_record *record = event->record;
    struct stream *stream = &writing->streams[event->stream];
    const struct rfn_path path = rfn_archive_path(archive, record->path);
    static const enum annotation sent[] = {TO_RANK, SENT_TAG, SENT_BYTES},
                                 got[] = {FROM_RANK, RECEIVED_TAG, RECEIVED_BYTES};
    const struct rfn_event_messages received = rfn_event_messages(event, RFN_MATCH_RECEIVE);
    RFN_TRY(follow(writing, event->stream, path, event->enter_ns));
    begin_slice(writing, track_of(event->stream), CALL, number_of_function(record->function),
                rfn_archive_function(archive, record->function)->name);
    if (path.n_frames)
        annotate_place(writing, path.frames[0]);
    if (record->polls > 1)
        annotate(writing, POLLS, (int64_t)record->polls);
    annotate_messages(writing, &stream->sent, sent);
    annotate_messages(writing, &received, got);
    for (size_t i = 0; i < stream->n_sends; i++)
        pb_fixed64(&writing->event, EVENT_FLOW, stream->sends[i]);
    RFN_TRY(end_event(writing, event->enter_ns));
    end_slice(writing, track_of(event->stream));
    for (size_t i = 0; i < event->n_ops; i++) {
        const struct rfn_match_op *op = &event->ops[i];
        if (op->what != RFN_MATCH_RECEIVE || op->cancelled || !op->user || !*op->user)
            continue;
        pb_fixed64(&writing->event, EVENT_FLOW_END, *op->user);
        writing->summary->messages++;
    }
    writing->summary->calls++;
    stream->last_ns = event->exit_ns;
    return end_event(writing, event->exit_ns);
}

static int write_region(struct writing *writing, const struct rfn_match_event *event,
                        const struct rfn_function_info *function)
{
    const struct rfn_archive *archive = writing->archive;
    const struct rfn_record *record = event->record;
    struct stream *stream = &writing->streams[event->stream];
    const uint64_t track = region_track_of(event->stream);
    if (function->n_in < 1 || function->params[0].kind != RFN_KIND_REGION || record->in[0] < 0 ||
        record->in[0] >= rfn_archive_regions(archive))
        return 0;
    const uint32_t region = (uint32_t)record->in[0];
    if (strcmp(function->name, "refrain_region_begin") == 0) {
        stream->n_regions++;
        begin_slice(writing, track, REGION, number_of_region(archive, region),
                    rfn_archive_region(archive, region));
    } else if (stream->n_regions) {
        stream->n_regions--;
        end_slice(writing, track);
    } else {
        return 0;
    }
    return end_event(writing, event->enter_ns);
}

static int leave(void *context, const struct rfn_match_event *event)
{
    struct writing *writing = context;
    const struct rfn_function_info *function = rfn_archive_function(writing->archive,
                                                                    event->record->function);
    rfn_walk_step(&writing->walk);
    if (!rfn_part_has_event(writing->part, event))
        return 0;
    if (function->class_ == RFN_CLASS_REGION)
        return write_region(writing, event, function);
    return rfn_class_is_mpi(function->class_) ? write_call(writing, event) : 0;
}

static int end(void *context, uint32_t stream, int64_t ns)
{
    struct writing *writing = context;
    RFN_TRY(close_down_to(writing, stream, 0));
    if (writing->part && ns > writing->part->to_ns)
        ns = writing->part->to_ns;
    for (struct stream *of = &writing->streams[stream]; of->n_regions; of->n_regions--) {
        end_slice(writing, region_track_of(stream));
        RFN_TRY(end_event(writing, ns));
    }
    return 0;
}

/* ---- loops ---- */

struct loops {
    struct writing *writing;
    uint32_t stream;
    bool any; /* the track is there */
};

static bool loop_counts(void *context, const struct rfn_record *record)
{
    const struct loops *loops = context;
    return rfn_part_has_time(loops->writing->part, record->enter_ns, record->exit_ns);
}

static int begin_iteration(const struct loops *loops, int64_t ns)
{
    struct writing *writing = loops->writing;
    begin_slice(writing, loop_track_of(loops->stream), LOOP,
                number_of_word(writing->archive, WORD_ITERATION), "iteration");
    return end_event(writing, ns);
}

static int end_loop_slice(const struct loops *loops, int64_t ns)
{
    end_slice(loops->writing, loop_track_of(loops->stream));
    return end_event(loops->writing, ns);
}

/* It is known by its first call. */
static int begin_loop(void *context, uint32_t depth, uint32_t loop, const struct rfn_record *record)
{
    struct loops *loops = context;
    struct writing *writing = loops->writing;
    const struct rfn_path path = rfn_archive_path(writing->archive, record->path);
    const uint64_t track = loop_track_of(loops->stream);
    (void)depth;
    (void)loop;
    if (!loops->any)
        RFN_TRY(write_track(writing, track, track_of(loops->stream), "loops", 1));
    loops->any = true;
    begin_slice(writing, track, LOOP, number_of_word(writing->archive, WORD_LOOP), "loop");
    if (path.n_frames)
        annotate_place(writing, path.frames[0]);
    RFN_TRY(end_event(writing, record->enter_ns));
    return begin_iteration(loops, record->enter_ns);
}

static int next_iteration(void *context, uint32_t depth, int64_t ns)
{
    (void)depth;
    RFN_TRY(end_loop_slice(context, ns));
    return begin_iteration(context, ns);
}

static int end_loop(void *context, uint32_t depth, int64_t ns,
                    const struct rfn_timeline_loop_run *run)
{
    const struct loops *loops = context;
    (void)depth;
    RFN_TRY(end_loop_slice(loops, ns));
    annotate(loops->writing, ITERATIONS, (int64_t)run->iterations);
    return end_loop_slice(loops, ns);
}

static const double LOOPS_SHARE = 0.2; /* of the work */

static int write_loops(struct writing *writing)
{
    const uint32_t streams = rfn_archive_run(writing->archive)->streams;
    for (uint32_t i = 0; i < streams; i++) {
        struct loops loops = {.writing = writing, .stream = i};
        const struct rfn_timeline_loop_hooks hooks = {.context = &loops,
                                                      .counts = loop_counts,
                                                      .begin = begin_loop,
                                                      .iterate = next_iteration,
                                                      .end = end_loop};
        if (rfn_part_has_rank(writing->part, rfn_archive_stream(writing->archive, i).rank))
            RFN_TRY(rfn_timeline_loops(writing->archive, i, &hooks, writing->diag));
        rfn_convert_tell(writing->walk.progress, 1 - LOOPS_SHARE * (1 - (i + 1.) / streams));
    }
    return 0;
}

/* ---- the file ---- */

static int init(struct writing *writing)
{
    const struct rfn_archive *archive = writing->archive;
    const uint32_t streams = rfn_archive_run(archive)->streams;
    const uint32_t locations = rfn_archive_locations(archive);
    const size_t names = (size_t)number_of_word(archive, WORDS);
    writing->named = calloc(names, sizeof *writing->named);
    writing->place_written = calloc((size_t)locations + 1, sizeof *writing->place_written);
    writing->streams = calloc((size_t)streams + 1, sizeof *writing->streams);
    return writing->named && writing->place_written && writing->streams
               ? 0
               : rfn_fail(writing->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

static void release(struct writing *writing)
{
    const uint32_t n = writing->streams ? rfn_archive_run(writing->archive)->streams : 0;
    for (uint32_t i = 0; i < n; i++) {
        free(writing->streams[i].open);
        free(writing->streams[i].sends);
    }
    free(writing->streams);
    free(writing->named);
    free(writing->place_written);
    rfn_buf_release(&writing->packet);
    rfn_buf_release(&writing->event);
    rfn_buf_release(&writing->message);
    rfn_buf_release(&writing->names);
}

static int write_all(struct writing *writing)
{
    const struct rfn_match_hooks hooks = {
        .context = writing, .enter = enter, .leave = leave, .end = end};
    RFN_TRY(init(writing));
    RFN_TRY(write_tracks(writing));
    RFN_TRY(rfn_match_run(writing->archive, &hooks, NULL, writing->diag));
    return write_loops(writing);
}

int rfn_perfetto_write(const struct rfn_archive *archive, const char *path, bool force,
                       const struct rfn_convert_part *part,
                       const struct rfn_convert_progress *progress,
                       struct rfn_trace_summary *summary, struct rfn_diag *diag)
{
    struct writing writing = {.archive = archive, .part = part, .summary = summary, .diag = diag};
    uint64_t bytes = 0;
    *summary = (struct rfn_trace_summary){.ranks = rfn_part_ranks(archive, part)};
    rfn_walk_begin(&writing.walk, archive, progress, 1 - LOOPS_SHARE);
    RFN_TRY(rfn_convertible(archive, "a trace for Perfetto", diag));
    RFN_TRY(rfn_text_sink_open(path, force, &writing.sink, diag));
    int error = write_all(&writing);
    release(&writing);
    if (error) {
        rfn_text_sink_cancel(writing.sink);
        return error;
    }
    RFN_TRY(rfn_text_sink_close(writing.sink, &bytes, &summary->bytes, diag));
    return rfn_text_sink_place(path, force, diag);
}
