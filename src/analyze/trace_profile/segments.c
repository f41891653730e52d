/* The cursor says that a segment begins when it delivers the segment's first event. That event is
 * kept back until the segment before has been handed out. */
#include "analyze/trace_profile/segments.h"

#include "base/grow.h"
#include "event/kind.h"

#include <stdlib.h>

/* What is needed of an event. */
struct event {
    uint32_t symbol, function, path, context;
    int64_t enter_ns, exit_ns;
    int64_t extra[4];
    unsigned n_extra;
};

struct rfn_segments {
    const struct rfn_archive *archive;
    struct rfn_cursor *cursor;
    struct event ahead; /* begins the next segment */
    bool has_ahead, started, volume;
    int64_t last_exit_ns;
    struct rfn_stream_segment current;
    uint32_t *events, *functions, *paths;
    int64_t *vector, *extra;
    size_t events_capacity, functions_capacity, paths_capacity, vector_capacity, extra_capacity;
};

int rfn_segments_open(const struct rfn_archive *archive, uint32_t stream, uint32_t min_calls,
                      struct rfn_segments **segments, struct rfn_diag *diag)
{
    struct rfn_segments *opened = calloc(1, sizeof *opened);
    if (!opened)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
    opened->archive = archive;
    opened->volume = rfn_archive_stream(archive, stream).volume;
    int error = rfn_cursor_open(archive, stream, &opened->cursor, diag);
    if (!error)
        error = rfn_cursor_cut_segments(opened->cursor, min_calls, diag);
    if (error < 0) {
        rfn_segments_close(opened);
        return error;
    }
    *segments = opened;
    return 0;
}

void rfn_segments_close(struct rfn_segments *segments)
{
    if (!segments)
        return;
    if (segments->cursor)
        rfn_cursor_close(segments->cursor);
    free(segments->events);
    free(segments->functions);
    free(segments->paths);
    free(segments->vector);
    free(segments->extra);
    free(segments);
}

/* 1, 0 at the end, or an error; *begins: a segment. */
static int fetch(struct rfn_segments *segments, struct event *event, bool *begins,
                 struct rfn_diag *diag)
{
    const struct rfn_record *record;
    int more = rfn_cursor_next(segments->cursor, &record, diag);
    if (more <= 0)
        return more;
    struct rfn_segment_place place = rfn_cursor_place(segments->cursor);
    *event = (struct event){.symbol = record->symbol,
                            .function = record->function,
                            .path = record->path,
                            .context = place.context,
                            .enter_ns = record->enter_ns,
                            .exit_ns = record->exit_ns};
    if (record->failed_poll) {
        event->extra[event->n_extra++] = (int64_t)record->polls;
        event->extra[event->n_extra++] = record->inside_ns;
    }
    if (segments->volume) {
        event->extra[event->n_extra++] = record->volume_gap;
        event->extra[event->n_extra++] = record->volume_inside;
    }
    *begins = place.begins;
    return 1;
}

/* A time since the segment's start. Of a damaged archive it may be any number. */
static int64_t since(const struct rfn_segments *segments, int64_t time_ns)
{
    return (int64_t)((uint64_t)time_ns - (uint64_t)segments->current.start_ns);
}

static int append(struct rfn_segments *segments, const struct event *event)
{
    struct rfn_segment *current = &segments->current.segment;
    size_t n = current->n;
    RFN_TRY(RFN_GROW(segments->events, segments->events_capacity, n + 1));
    RFN_TRY(RFN_GROW(segments->functions, segments->functions_capacity, n + 1));
    RFN_TRY(RFN_GROW(segments->paths, segments->paths_capacity, n + 1));
    RFN_TRY(RFN_GROW(segments->vector, segments->vector_capacity, 2 * n + 4));
    RFN_TRY(RFN_GROW(segments->extra, segments->extra_capacity, current->n_extra + event->n_extra));
    for (unsigned i = 0; i < event->n_extra; i++)
        segments->extra[current->n_extra++] = event->extra[i];
    segments->events[n] = event->symbol;
    segments->functions[n] = event->function;
    segments->paths[n] = event->path;
    segments->vector[2 * n + 1] = since(segments, event->enter_ns);
    segments->vector[2 * n + 2] = since(segments, event->exit_ns);
    uint8_t class_ = rfn_archive_function(segments->archive, event->function)->class_;
    current->messages += rfn_class_messages(class_);
    current->roles |= rfn_class_role(class_);
    current->n++;
    segments->last_exit_ns = event->exit_ns;
    return 0;
}

int rfn_segments_next(struct rfn_segments *segments, const struct rfn_stream_segment **segment,
                      struct rfn_diag *diag)
{
    struct rfn_stream_segment *current = &segments->current;
    struct event event = segments->ahead;
    bool begins = true;
    int more = segments->has_ahead ? 1 : fetch(segments, &event, &begins, diag);
    if (more <= 0)
        return more;
    *current = (struct rfn_stream_segment){
        .segment.context = event.context,
        .top = event.context < rfn_cursor_top_contexts(segments->cursor),
        .start_ns = segments->started ? segments->last_exit_ns : event.enter_ns};
    segments->started = true;
    do {
        if (append(segments, &event) < 0)
            return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
        more = fetch(segments, &event, &begins, diag);
    } while (more > 0 && !begins);
    RFN_TRY(more);
    segments->has_ahead = more > 0;
    segments->ahead = event;
    segments->vector[0] = 0;
    segments->vector[2 * current->segment.n + 1] = since(segments, segments->last_exit_ns);
    current->segment.events = segments->events;
    current->segment.vector = segments->vector;
    current->segment.extra = segments->extra;
    current->functions = segments->functions;
    current->paths = segments->paths;
    *segment = current;
    return 1;
}
