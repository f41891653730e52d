/* cursor.h - what verification and replay ask of a cursor beyond refrain/archive.h. */
#ifndef RFN_ARCHIVE_CURSOR_CURSOR_H
#define RFN_ARCHIVE_CURSOR_CURSOR_H

#include "refrain/archive.h"

#include <stdint.h>

/* ---- batches: some iterations of an innermost loop at once ----
 *
 * Or, of a loop around others, the longest run of events between these, iteration by iteration:
 * what is said of iterations is meant of that run then. For who goes through all events of many
 * streams in turn. Of what such events take only their times change, so these are decoded together,
 * and lie in the order in which they are needed. */

struct rfn_batch_time {
    uint32_t gap_ns, duration_ns; /* since the exit of the event before; enter to exit */
};

struct rfn_batch {
    uint32_t loop;  /* its number in the structure of the stream's group */
    uint32_t width; /* events of an iteration */
    uint32_t n;     /* events: a multiple of width */
    uint32_t taken; /* the user's to count: events that have been taken */
    /* Per event of an iteration: its words, which are the same in all iterations; neither its times
     * nor its number, nor where segments begin. */
    const struct rfn_record *const *records;
    const struct rfn_batch_time *times; /* per event */
    uint64_t first;                     /* number of the first event in its stream */
    int64_t before_ns, end_ns;          /* exits of the event before the first, and of the last */
    bool begins, all_begin;             /* a segment: the first iteration does, the others do */
    uint32_t context;
    bool failed; /* a list could not be read: rfn_cursor_next tells, and no more event is to be
                    taken */
};

/* How many events at a place of the iterations have been taken. */
static inline uint32_t rfn_batch_taken_at(const struct rfn_batch *batch, uint32_t place)
{
    return (batch->taken + batch->width - 1 - place) / batch->width;
}

/* The exit of the last event that has been taken. */
static inline int64_t rfn_batch_taken_ns(const struct rfn_batch *batch)
{
    int64_t ns = batch->before_ns;
    if (batch->taken == batch->n)
        return batch->end_ns;
    for (uint32_t i = 0; i < batch->taken; i++)
        ns += (int64_t)batch->times[i].gap_ns + batch->times[i].duration_ns;
    return ns;
}

/* 1 and *batch: its events are those that come next, they count as delivered, and the batch is
 * borrowed until the cursor is asked for what follows; 0: rfn_cursor_next is to be asked for the
 * next event; or an error, as of rfn_cursor_next. rfn_cursor_place knows only of the last event. */
int rfn_cursor_next_batch(struct rfn_cursor *cursor, struct rfn_batch **batch,
                          struct rfn_diag *diag);

/* A time of the stream's clock, in quanta since its start, as a time of the run. false: the stream
 * has no times, or those of another one. */
bool rfn_cursor_clock_ns(struct rfn_cursor *cursor, uint64_t quanta, int64_t *ns);

/* ---- reduced times ---- */

/* How far from the measured ones times of the last event may be, as far as the file tells, at most
 * ten days; 0 where times are not reduced. Reduced times come in no batches. */
int64_t rfn_cursor_off_ns(const struct rfn_cursor *cursor);

/* ---- verification ---- */

/* After the last event: whether everything there was to read has been read, so that no column is
 * longer than the structure says and no time mark is left. RFN_E_CORRUPT, RFN_E_NOMEM. */
int rfn_cursor_finish(struct rfn_cursor *cursor, struct rfn_diag *diag);

/* Whether the events' polls add up to the calls that there were: in reduced times, how often was
 * polled is that of alike segments. */
bool rfn_cursor_counts_calls(const struct rfn_cursor *cursor);

/* How many lists the cursor's stream has. */
uint64_t rfn_cursor_lists(const struct rfn_cursor *cursor);
/* Whether the words of a list are local datatypes that exist (negative words are special). */
bool rfn_cursor_list_types_exist(const struct rfn_cursor *cursor, uint64_t number);
/* Whether all lists of the stream's values can be read, also those that no event has. Errors as of
 * rfn_cursor_next. */
int rfn_cursor_check_lists(struct rfn_cursor *cursor, struct rfn_diag *diag);

#endif
