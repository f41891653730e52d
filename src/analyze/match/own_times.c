#include "analyze/match/own_times.h"

#include "archive/cursor/cursor.h"

#include <stdlib.h>

int rfn_own_times_of(const struct rfn_stream_usage *of, struct rfn_cursor *cursor,
                     struct rfn_off_times *own)
{
    *own = (struct rfn_off_times){0};
    own->items = malloc((of->n_recording + 1) * sizeof *own->items);
    if (!own->items)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < of->n_recording; i++) {
        struct rfn_off_time *time = &own->items[own->n];
        if (rfn_cursor_clock_ns(cursor, of->recording[i].from, &time->from_ns) &&
            rfn_cursor_clock_ns(cursor, of->recording[i].to, &time->to_ns))
            own->n++;
    }
    return 0;
}

int rfn_own_times_find(const struct rfn_match *match,
                       struct rfn_off_times *(*of)(void *context, uint32_t stream), void *context)
{
    struct rfn_usage usage;
    if (!rfn_archive_run(match->archive)->times)
        return 0;
    int error = rfn_usage_read(match->archive, &usage, NULL);
    for (size_t i = 0; i < usage.n && !error; i++) {
        const struct rfn_stream_usage *one = &usage.streams[i];
        const struct rfn_event_order_stream *at = one->n_recording && one->stream < match->n_streams
                                                      ? rfn_event_order_stream(match->replay,
                                                                               one->stream)
                                                      : NULL;
        if (at && at->open)
            error = rfn_own_times_of(one, at->cursor, of(context, one->stream));
    }
    rfn_usage_release(&usage);
    return error == RFN_E_NOMEM ? error : 0;
}
