/* The tables that one walk over matched events makes: a row per event when its call leaves, a row
 * per message when both ends are over, and sums by rank. */
#include "convert/csv/csv_tables.h"
#include "convert/event_messages.h"
#include "convert/run_part.h"

#include <stdlib.h>

/* What refrain/columns.h has too has its name there. */
static const char event_columns[] = "rank,thread,index,function,path,enter_ns,exit_ns,inside_ns,"
                                    "calls,sent_bytes,received_bytes,dest,source,tag,comm,region,"
                                    "error";
static const char message_columns[] =
    "source,send_thread,dest,receive_thread,comm,tag,bytes,send_index,send_end_index,"
    "receive_index,receive_end_index,send_ns,send_end_ns,receive_ns,receive_end_ns,send_path,"
    "receive_path";
static const char rank_columns[] = "rank,host,threads,events,calls,messages,sent_bytes,mpi_ns,"
                                   "outside_ns";

/* What a call posts when it enters. */
struct posted {
    struct rfn_event_messages sent, received;
};

/* Sums over a rank's rows. */
struct rank {
    const char *host;
    uint32_t threads;
    uint64_t events, calls, messages, sent_bytes;
    int64_t mpi_ns, outside_ns;
};

struct walk {
    const struct csv_writing *writing;
    struct csv_table events, messages;
    struct posted *posted; /* by stream: the call at hand */
    struct rank *ranks;
    struct rfn_walk_progress progress;
};

/* ---- events ---- */

/* Whether the messages say what the call sends and receives; else its buffers do. */
static bool is_point_to_point(const struct rfn_function_info *function)
{
    return rfn_class_messages(function->class_) || function->class_ == RFN_CLASS_PROBE ||
           function->class_ == RFN_CLASS_COMPLETION || function->class_ == RFN_CLASS_START;
}

static const char *region_of(const struct csv_writing *writing, const struct rfn_record *record,
                             const struct rfn_function_info *function)
{
    if (function->n_in < 1 || function->params[0].kind != RFN_KIND_REGION)
        return NULL;
    return rfn_csv_region(&writing->names, record->in[0]);
}

/* Bytes, ranks, tag and communicator. */
static void append_communication(struct rfn_text *row, const struct rfn_match_event *event,
                                 const struct posted *posted, bool point_to_point)
{
    const struct rfn_event_messages *sent = &posted->sent,
                                    done = rfn_event_messages(event, RFN_MATCH_RECEIVE),
                                    *received = done.n ? &done : &posted->received;
    const struct rfn_volume *volume = event->volume;
    const bool to_one = sent->n == 1 && sent->peer != RFN_NO_PEER;
    const bool from_one = received->n == 1 && received->peer != RFN_NO_PEER;
    const int64_t sent_bytes = !point_to_point ? volume->sent_bytes : sent->n ? sent->bytes : -1;
    const int64_t received_bytes = !point_to_point ? volume->received_bytes
                                   : done.n        ? done.bytes
                                                   : -1;
    csv_if(row, sent_bytes >= 0, sent_bytes);
    csv_if(row, received_bytes >= 0, received_bytes);
    csv_if(row, to_one, sent->peer);
    csv_if(row, from_one, received->peer);
    csv_if(row, to_one || from_one, to_one ? sent->tag : received->tag);
    csv_if(row, volume->comm >= 0, volume->comm);
}

static int write_event(struct walk *walk, const struct rfn_match_event *event,
                       const struct rfn_function_info *function)
{
    const struct csv_writing *writing = walk->writing;
    const struct rfn_record *record = event->record;
    struct rfn_text *row = &walk->events.rows;
    rfn_text_unsigned(row, event->rank);
    csv_number(row, event->thread);
    csv_number(row, (int64_t)record->index);
    csv_cell(row, rfn_csv_function(&writing->names, record->function));
    csv_number(row, record->path);
    csv_number(row, event->enter_ns);
    csv_number(row, event->exit_ns);
    csv_number(row, record->inside_ns);
    csv_number(row, (int64_t)record->polls);
    append_communication(row, event, &walk->posted[event->stream], is_point_to_point(function));
    csv_cell(row, region_of(writing, record, function));
    csv_if(row, record->error != RFN_ERROR_LEFT, record->error);
    return rfn_csv_end_row(writing, &walk->events);
}

static void count(struct walk *walk, const struct rfn_match_event *event, bool is_call)
{
    const struct rfn_event_messages *sent = &walk->posted[event->stream].sent;
    struct rank *rank = &walk->ranks[event->rank];
    rank->events++;
    if (!is_call)
        return;
    rank->calls += event->record->polls;
    rank->mpi_ns += event->record->inside_ns;
    rank->messages += sent->n;
    rank->sent_bytes += sent->n && sent->bytes > 0 ? (uint64_t)sent->bytes : 0;
    walk->writing->summary->calls++;
}

static int enter(void *context, const struct rfn_match_event *event)
{
    struct walk *walk = context;
    walk->posted[event->stream] = (struct posted){rfn_event_messages(event, RFN_MATCH_SEND),
                                                  rfn_event_messages(event, RFN_MATCH_RECEIVE)};
    return 0;
}

static int leave(void *context, const struct rfn_match_event *event)
{
    struct walk *walk = context;
    const struct rfn_function_info *function = rfn_archive_function(walk->writing->archive,
                                                                    event->record->function);
    rfn_walk_step(&walk->progress);
    if (!rfn_part_has_event(walk->writing->part, event))
        return 0;
    count(walk, event, rfn_class_is_mpi(function->class_));
    return write_event(walk, event, function);
}

/* Time outside of MPI, as far as it is in the window. */
static int gap(void *context, uint32_t stream, int64_t from_ns, int64_t to_ns)
{
    struct walk *walk = context;
    const struct csv_writing *writing = walk->writing;
    const struct rfn_convert_part *part = writing->part;
    if (part && from_ns < part->from_ns)
        from_ns = part->from_ns;
    if (part && to_ns > part->to_ns)
        to_ns = part->to_ns;
    if (to_ns > from_ns)
        walk->ranks[rfn_archive_stream(writing->archive, stream).rank].outside_ns += to_ns -
                                                                                     from_ns;
    return 0;
}

/* ---- messages ---- */

static int message(void *context, const struct rfn_match_message *message)
{
    struct walk *walk = context;
    const struct csv_writing *writing = walk->writing;
    const struct rfn_match_end *sent = &message->sent, *received = &message->received;
    struct rfn_text *row = &walk->messages.rows;
    if (!rfn_part_has_message(writing->part, message))
        return 0;
    rfn_text_unsigned(row, sent->posted.rank);
    csv_number(row, rfn_archive_stream(writing->archive, sent->posted.stream).thread);
    csv_number(row, received->posted.rank);
    csv_number(row, rfn_archive_stream(writing->archive, received->posted.stream).thread);
    csv_number(row, message->comm);
    csv_number(row, message->tag);
    csv_if(row, message->bytes >= 0, message->bytes);
    csv_number(row, (int64_t)sent->posted.event);
    csv_if(row, sent->ended, (int64_t)sent->event);
    csv_number(row, (int64_t)received->posted.event);
    csv_if(row, received->ended, (int64_t)received->event);
    csv_number(row, sent->posted.ns);
    csv_if(row, sent->ended, sent->exit_ns);
    csv_number(row, received->posted.ns);
    csv_if(row, received->ended, received->exit_ns);
    csv_number(row, sent->site.path);
    csv_number(row, received->site.path);
    writing->summary->messages++;
    return rfn_csv_end_row(writing, &walk->messages);
}

/* ---- ranks ---- */

static int write_ranks(const struct walk *walk)
{
    const struct csv_writing *writing = walk->writing;
    struct csv_table table = {0};
    int error = rfn_csv_open(writing, &table, "ranks.csv", rank_columns);
    for (uint32_t i = 0; !error && i < rfn_archive_run(writing->archive)->ranks; i++) {
        const struct rank *rank = &walk->ranks[i];
        if (!rfn_part_has_rank(writing->part, i))
            continue;
        rfn_text_unsigned(&table.rows, i);
        rfn_text_char(&table.rows, ',');
        rfn_csv_name(&table.rows, rank->host ? rank->host : "");
        csv_number(&table.rows, rank->threads);
        csv_number(&table.rows, (int64_t)rank->events);
        csv_number(&table.rows, (int64_t)rank->calls);
        csv_number(&table.rows, (int64_t)rank->messages);
        csv_number(&table.rows, (int64_t)rank->sent_bytes);
        csv_number(&table.rows, rank->mpi_ns);
        csv_number(&table.rows, rank->outside_ns);
        error = rfn_csv_end_row(writing, &table);
    }
    if (!error)
        error = rfn_csv_close(writing, &table);
    if (error)
        rfn_csv_cancel(&table);
    return error;
}

/* ---- all of it ---- */

static int init(struct walk *walk)
{
    const struct csv_writing *writing = walk->writing;
    const struct rfn_run *run = rfn_archive_run(writing->archive);
    walk->posted = calloc((size_t)run->streams + 1, sizeof *walk->posted);
    walk->ranks = calloc((size_t)run->ranks + 1, sizeof *walk->ranks);
    if (!walk->posted || !walk->ranks)
        return rfn_fail(writing->diag, RFN_E_NOMEM, -1, -1, "out of memory");
    for (uint32_t i = 0; i < run->streams; i++) {
        const struct rfn_stream_info stream = rfn_archive_stream(writing->archive, i);
        struct rank *rank = &walk->ranks[stream.rank];
        rank->threads++;
        rank->host = rank->host ? rank->host : stream.host;
    }
    RFN_TRY(rfn_csv_open(writing, &walk->events, "events.csv", event_columns));
    return rfn_csv_open(writing, &walk->messages, "messages.csv", message_columns);
}

int rfn_csv_write_events(const struct csv_writing *writing, double share)
{
    struct walk walk = {.writing = writing};
    const struct rfn_match_hooks hooks = {
        .context = &walk, .gap = gap, .enter = enter, .leave = leave, .message = message};
    rfn_walk_begin(&walk.progress, writing->archive, writing->progress, share);
    int error = init(&walk);
    if (!error)
        error = rfn_match_run(writing->archive, &hooks, NULL, writing->diag);
    if (!error)
        error = rfn_csv_close(writing, &walk.events);
    if (!error)
        error = rfn_csv_close(writing, &walk.messages);
    if (!error)
        error = write_ranks(&walk);
    rfn_csv_cancel(&walk.events);
    rfn_csv_cancel(&walk.messages);
    free(walk.posted);
    free(walk.ranks);
    return error;
}
