/* cursor_seek.c - moves a cursor to an event or a time without reading from the beginning.
 *
 * The structure tells how often each symbol occurs before an event, and so where its columns go on.
 * Times need more: an event begins where the one before it ends. TIMING has marks, the enter of
 * every 65,536th event, so reading starts at one of them. Times that are not marked are read from
 * the beginning; reduced ones segment by segment, as each begins where the one before says. */
#include "archive/cursor/cursor_state.h"

#include <stdlib.h>
#include <string.h>

/* Reads the next mark. There are so few that each is read by itself. */
static int read_mark(struct rfn_cursor *cursor, struct rfn_cursor_marks *marks)
{
    const struct rfn_payload *payload = &cursor->timing.payload;
    uint8_t bytes[10];
    size_t left = payload->size - marks->at, size = left < sizeof bytes ? left : sizeof bytes;
    int error = rfn_payload_read(payload, marks->at, bytes, size);
    if (error < 0)
        return rfn_cursor_fault_in(cursor, payload, rfn_column_fault(error));
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    marks->quanta += rfn_reader_varint(&reader);
    marks->at += reader.at;
    marks->n++;
    return reader.failed ? rfn_cursor_fault_in(cursor, payload, "a time mark is malformed") : 0;
}

int rfn_cursor_check_mark(struct rfn_cursor *cursor, uint64_t *enter)
{
    if (cursor->marks.n == cursor->timing.n_marks)
        return 0;
    RFN_TRY(read_mark(cursor, &cursor->marks));
    if (cursor->marks.begins)
        *enter = cursor->marks.quanta;
    cursor->marks.begins = false;
    if (cursor->marks.quanta == *enter)
        return 0;
    return rfn_cursor_fault_in(cursor, &cursor->timing.payload, "a time mark is wrong");
}

static struct rfn_cursor_marks first_mark(const struct rfn_cursor *cursor)
{
    return (struct rfn_cursor_marks){.at = cursor->timing.marks,
                                     .quanta = cursor->timing.clock.start,
                                     .mask = cursor->marks.mask};
}

static int64_t ns_of(struct rfn_cursor *cursor, uint64_t quanta)
{
    return (int64_t)(rfn_cursor_ns(cursor, quanta) + cursor->clock.add_ns);
}

/* Finds the last mark before which there is no event that is sought: one with at least this number
 * that does not end before this time. *n: its number from 1; 0: there is none. */
static int find_mark(struct rfn_cursor *cursor, uint64_t event, int64_t ns, uint64_t *n)
{
    struct rfn_cursor_marks marks = first_mark(cursor);
    *n = 0;
    while (marks.n < cursor->timing.n_marks) {
        uint64_t at = (marks.n + 1) * (cursor->marks.mask + 1);
        RFN_TRY(read_mark(cursor, &marks));
        if (at >= cursor->events || (at > event && ns_of(cursor, marks.quanta) >= ns))
            break;
        *n = marks.n;
    }
    return 0;
}

/* Passes over segments without an event that is sought; *at: events before. */
static int pass_segments(struct rfn_cursor *cursor, uint64_t event, int64_t ns, uint64_t *at)
{
    while (*at < cursor->events) {
        uint64_t n, exit;
        if (rfn_representatives_rest(cursor->representatives, &n, &exit) < 0)
            return rfn_cursor_segment_failed(cursor);
        if (*at + n > event && ns_of(cursor, exit) >= ns)
            break;
        rfn_representatives_pass(cursor->representatives);
        *at += n;
    }
    return 0;
}

/* Makes an event the next one: that of the mark with this number, or with 0 the first of the
 * stream, or any one whose times are not in TIMING. Columns are opened anew where they go on. */
static int begin_at(struct rfn_cursor *cursor, uint64_t event, uint64_t mark)
{
    const struct rfn_structure *structure = cursor->parts.structure;
    rfn_cursor_close_columns(cursor);
    rfn_cursor_forget_plans(cursor);
    rfn_list_reader_free(cursor->lists);
    cursor->lists = NULL;
    if (!cursor->passed)
        cursor->passed = malloc((structure->n_symbols + (size_t)1) * sizeof *cursor->passed);
    if (!cursor->passed)
        return rfn_cursor_no_memory(cursor);
    memset(cursor->passed, 0, structure->n_symbols * sizeof *cursor->passed);
    rfn_structure_walk_restart(&cursor->walk);
    if (rfn_structure_walk_pass(&cursor->walk, &cursor->archive->dictionary, event,
                                cursor->passed) < 0)
        return rfn_cursor_fault_in(cursor, &cursor->parts.values->payload, cursor->walk.fault);
    cursor->clock.last_exit = cursor->timing.clock.start;
    cursor->marks = first_mark(cursor);
    while (cursor->marks.n + 1 < mark)
        RFN_TRY(read_mark(cursor, &cursor->marks));
    cursor->marks.begins = mark > 0;
    return 0;
}

/* From a mark on, events are read one by one, and the next mark is compared with them: so the mark
 * before the last one is taken. */
static int seek(struct rfn_cursor *cursor, uint64_t event, int64_t ns)
{
    const uint64_t at = cursor->walk.index;
    uint64_t from = event < cursor->events ? event : cursor->events, mark = 0;
    bool behind = at > event && (!cursor->times || at == cursor->events ||
                                 ns_of(cursor, cursor->clock.last_exit) >= ns);
    if (cursor->representatives) {
        if (behind) {
            rfn_representatives_close(cursor->representatives);
            cursor->representatives = NULL;
            RFN_TRY(rfn_cursor_begin_representatives(cursor));
        }
        from = behind ? 0 : at;
        RFN_TRY(pass_segments(cursor, event, ns, &from));
    } else if (cursor->times) {
        RFN_TRY(find_mark(cursor, event, ns, &mark));
        from = mark * (cursor->marks.mask + 1);
        event = event > from ? event : from;
        if (mark > 0)
            from = --mark * (cursor->marks.mask + 1);
    }
    if (behind || from > at)
        RFN_TRY(begin_at(cursor, from, mark));
    int more;
    cursor->stop.stopped = false;
    do
        more = rfn_cursor_next(cursor, &cursor->stop.held, NULL);
    while (more > 0 && (cursor->stop.held->index < event || cursor->stop.held->exit_ns < ns));
    cursor->stop.stopped = more != 0;
    return more;
}

int rfn_cursor_seek(struct rfn_cursor *cursor, uint64_t event, struct rfn_diag *diag)
{
    cursor->batches.batch.n = 0;
    if (!cursor->stop.error)
        seek(cursor, event, INT64_MIN);
    return rfn_cursor_report(cursor, diag);
}

int rfn_cursor_seek_time(struct rfn_cursor *cursor, int64_t ns, struct rfn_diag *diag)
{
    cursor->batches.batch.n = 0;
    if (!cursor->stop.error && !cursor->times)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, (int)cursor->rank,
                        "%s: its events have no times", cursor->archive->chunks.path);
    if (!cursor->stop.error)
        seek(cursor, 0, ns);
    return rfn_cursor_report(cursor, diag);
}
