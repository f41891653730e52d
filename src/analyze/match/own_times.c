#include "analyze/match/own_times.h"

#include "archive/cursor/cursor.h"

#include <stdlib.h>

/* On the clock of the stream, whose times may be those of another one: then nothing is known. */
static int take_stream(const struct rfn_archive *archive, const struct rfn_stream_usage *of,
                       struct rfn_off_times *own)
{
    struct rfn_cursor *cursor;
    const int error = rfn_cursor_open(archive, of->stream, &cursor, NULL);
    if (error < 0)
        return error == RFN_E_NOMEM ? error : 0;
    own->items = malloc(of->n_recording * sizeof *own->items);
    for (size_t i = 0; own->items && i < of->n_recording; i++) {
        struct rfn_off_time *time = &own->items[own->n];
        if (rfn_cursor_clock_ns(cursor, of->recording[i].from, &time->from_ns) &&
            rfn_cursor_clock_ns(cursor, of->recording[i].to, &time->to_ns))
            own->n++;
    }
    rfn_cursor_close(cursor);
    return own->items ? 0 : RFN_E_NOMEM;
}

int rfn_own_times_by_stream(const struct rfn_archive *archive, const struct rfn_usage *usage,
                            struct rfn_off_times **by_stream)
{
    const uint32_t n = rfn_archive_run(archive)->streams;
    *by_stream = NULL;
    for (size_t i = 0; i < usage->n; i++) {
        const struct rfn_stream_usage *of = &usage->streams[i];
        if (!of->n_recording || of->stream >= n)
            continue;
        if (!*by_stream && !(*by_stream = calloc((size_t)n + 1, sizeof **by_stream)))
            return RFN_E_NOMEM;
        RFN_TRY(take_stream(archive, of, &(*by_stream)[of->stream]));
    }
    return 0;
}

void rfn_own_times_free(const struct rfn_archive *archive, struct rfn_off_times *by_stream)
{
    for (uint32_t i = 0; by_stream && i < rfn_archive_run(archive)->streams; i++)
        rfn_off_times_release(&by_stream[i]);
    free(by_stream);
}
