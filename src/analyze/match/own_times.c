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
