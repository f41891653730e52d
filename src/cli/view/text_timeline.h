/* text_timeline.h - the timeline in a terminal: ranks by time, a character per part of the time.
 *
 * With colours a character is a block as high as the share of MPI calls, in the colour of the kind
 * that takes most of it, or that of waiting; without, a letter of what takes most of it. */
#ifndef RFN_CLI_VIEW_TEXT_TIMELINE_H
#define RFN_CLI_VIEW_TEXT_TIMELINE_H

#include "cli/args/rank_filter.h"
#include "refrain/text.h"
#include "refrain/waits.h"

struct rfn_text_timeline {
    const struct rfn_archive *archive;   /* with times */
    const struct rfn_rank_filter *ranks; /* NULL: all */
    int64_t from_ns, to_ns;              /* since the first call; INT64_MAX: to the end */
    size_t width, rows;                  /* at most */
    bool colors;
};

/* Draws it. RFN_E_NOMEM, RFN_E_RANGE: nothing is in the window. What cannot be read is left out:
 * *unread is the first error of reading, else 0, and diag says what it was. */
int rfn_text_timeline(struct rfn_text *out, const struct rfn_text_timeline *of,
                      void (*progress)(void *context, double share), void *context, int *unread,
                      struct rfn_diag *diag);

#endif
