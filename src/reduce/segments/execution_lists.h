/* execution_lists.h - the lists of a stream's profile (stream_profile.h): which representative is
 * executed when, and what corrects its start.
 *
 * One pass over the segments makes them, after the last one. A pass that comes before codes what it
 * makes: the end has only to go over what came since.
 *
 * A list counts representatives in order of first execution. That order is known at once, until the
 * store widens a threshold: then others are executed, and all begins anew. Corrections depend on
 * lengths and paces of representatives, which are averages. So these are frozen: of a new one when
 * it is met, and of all again, with new corrections, when the stream is twice as long as the last
 * time. If half of the stream has come since the last pass, the end begins anew. So the archive has
 * averages over a quarter of the run at least, or over a representative's first executions.
 *
 * Before the end each segment is gone over twice on average for corrections, and up to four times
 * for representatives; what would take more waits until the stream is longer.
 */
#ifndef RFN_REDUCE_SEGMENTS_EXECUTION_LISTS_H
#define RFN_REDUCE_SEGMENTS_EXECUTION_LISTS_H

#include "reduce/columns/column.h"
#include "reduce/columns/list_writer.h"
#include "reduce/segments/segment_starts.h"

enum { RFN_EXECUTED_TOP = -1, RFN_EXECUTED_LOOSE = -1 };

/* How the segments of a stream are held. Borrowed. */
struct rfn_held_segments {
    const struct rfn_column *order;    /* context of each, or TOP */
    const struct rfn_column *number;   /* of all but those of the top: in the store, or LOOSE */
    const struct rfn_column *lateness; /* of each start (rfn_start_hold) */
    const struct rfn_column *lengths;  /* of those of the top and loose ones */
    uint32_t n_contexts;               /* one more than the highest */
};

struct rfn_execution_list {
    struct rfn_list_writer coded; /* the first values */
    struct rfn_column rest;       /* those behind them, of the end */
};

/* Of a context, as PROFILE has them. */
struct rfn_execution_columns {
    struct rfn_execution_list representative, correction; /* per segment of the context */
    struct rfn_column pace, kept;                         /* per representative, after the end */
};

struct rfn_execution_lists {
    struct rfn_execution_context {
        struct rfn_execution_columns columns;
        uint32_t *number_of; /* by number in the store: that in the list + 1; 0: it has none yet */
        uint32_t *stored;    /* by number in the list: that in the store + 1; 0: loose */
        size_t number_of_capacity, stored_capacity;
        uint32_t n; /* numbers in the list */
    } * contexts;
    size_t n_contexts, capacity;
    struct rfn_column top;    /* corrections of the top's segments */
    struct rfn_column firsts; /* context of each segment that is the first execution of its
                                 representative, or TOP */
    uint64_t n;               /* segments that are in the lists of representatives */
    struct rfn_corrected {    /* in those of corrections: */
        uint64_t segments, numbers, lengths; /* values of the columns that were gone over */
        struct rfn_start_place start;        /* since the first start */
        uint64_t corrections;                /* other than 0 */
    } corrected;
    uint64_t frozen_at; /* segments of the stream, when all were frozen */
    uint64_t gone_over; /* segments, all beginnings together */
    uint64_t forwarded; /* by the store, when it began */
    bool given_up;      /* until the end */
};

void rfn_execution_lists_init(struct rfn_execution_lists *lists);
void rfn_execution_lists_release(struct rfn_execution_lists *lists);

/* Codes what is new since the last time, and freezes what the store has. Without memory it is
 * given up. */
void rfn_execution_lists_code(struct rfn_execution_lists *lists,
                              const struct rfn_held_segments *segments,
                              const struct rfn_start_rule *starts,
                              struct rfn_representative_store *store);
/* Frees what is coded, until the end, and thaws what the store has. */
void rfn_execution_lists_give_up(struct rfn_execution_lists *lists,
                                 struct rfn_representative_store *store);

/* After the last segment, once: goes over the rest, and finishes the store. Columns that it makes
 * go to the room's spill where they take more. RFN_E_NOMEM. */
int rfn_execution_lists_finish(struct rfn_execution_lists *lists,
                               const struct rfn_held_segments *segments,
                               const struct rfn_start_rule *starts,
                               struct rfn_representative_store *store, const struct rfn_room *room);

/* Calls visit for every column of the lists (an rfn_each_column) that grows with the segments. */
int rfn_execution_lists_each_column(void *lists,
                                    int (*visit)(void *context, struct rfn_column *column),
                                    void *context);
/* Bytes held, besides the struct itself. */
size_t rfn_execution_lists_bytes(const struct rfn_execution_lists *lists);

#endif
