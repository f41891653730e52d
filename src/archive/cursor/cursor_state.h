/* cursor_state.h - what a cursor is made of: cursor.c delivers events one by one, cursor_batch.c
 * several iterations of a loop at once. */
#ifndef RFN_ARCHIVE_CURSOR_CURSOR_STATE_H
#define RFN_ARCHIVE_CURSOR_CURSOR_STATE_H

#include "archive/cursor/cursor.h"
#include "archive/cursor/representatives.h"
#include "archive/read/event_payloads.h"
#include "archive/read/reader.h"
#include "archive/read/structure_walk.h"
#include "reduce/columns/column.h"

#include <assert.h>

/* A line of the cache. Who reads many streams in turn finds little of them there. */
enum { RFN_LINE = 64 };

/* A column that varies, and where its values go. What an event takes is in its first line. */
struct rfn_symbol_source {
    _Alignas(RFN_LINE) int64_t *target;
    bool translated; /* TYPE, COMM and REGION are */
    bool of_timing;  /* the column; else of VALUES */
    uint8_t kind;
    struct rfn_column_cursor column;
};

_Static_assert(sizeof(struct rfn_symbol_source) == 3 * RFN_LINE, "a source has grown by a line");

/* The times of an event, in quanta. */
struct rfn_quanta {
    int64_t gap, duration;
};

enum { RFN_READY_NARROW = 7, RFN_READY_WIDE = 3 };

/* The times of the next occurrences of a symbol, the last one first: narrow if they fit. */
struct rfn_ready {
    _Alignas(RFN_LINE) uint32_t n;
    bool wide;
    bool others; /* it has columns beside those of times */
    union {
        struct {
            uint32_t gap, duration;
        } narrow[RFN_READY_NARROW];
        struct rfn_quanta wides[RFN_READY_WIDE];
    };
};

_Static_assert(sizeof(struct rfn_ready) == RFN_LINE, "what is ready has grown");

static inline struct rfn_quanta rfn_ready_at(const struct rfn_ready *ready, uint32_t at)
{
    if (__builtin_expect(ready->wide, 0))
        return ready->wides[at];
    return (struct rfn_quanta){ready->narrow[at].gap, ready->narrow[at].duration};
}

/* What gaps or durations are taken from: a column that varies, or so many times the same value. */
struct rfn_supply {
    bool open;
    struct rfn_column_cursor column;
    uint64_t left;
    int64_t value;
};

/* A symbol that has occurred. One allocation: sources and words lie behind. Most events take but
 * two times, and touch the first line of the record and the line of what is ready. */
struct rfn_symbol_state {
    _Alignas(RFN_LINE) struct rfn_record record;
    unsigned n_sources; /* columns beside those of times */
    struct rfn_symbol_source *sources;
    int64_t *in, *out;
    struct rfn_ready ready;
    struct rfn_supply gaps, durations;
    int64_t inside; /* quanta */
    bool counted;   /* there are columns, of so many values: */
    uint64_t n;
};

_Static_assert(offsetof(struct rfn_record, varying) <= RFN_LINE,
               "what events take of a record has grown");

/* A loop whose iterations may come in batches, or a run of events of its body: of each the symbol.
 */
struct rfn_batch_plan {
    uint32_t width; /* 0: it is not known yet; UINT32_MAX: they never come so */
    uint32_t pause; /* iterations that come one by one, before it is worth trying again */
    uint32_t first; /* where in the body the run begins, */
    uint32_t run;   /* and how long it is; 0: it has not been looked for */
    bool whole;     /* it is all of the body */
    struct rfn_symbol_state **states;
    const struct rfn_record **records; /* of these */
};

struct rfn_cursor {
    const struct rfn_archive *archive;
    uint32_t stream, rank;
    struct rfn_stream_parts parts;
    struct rfn_timing timing;
    struct rfn_reduced_timing reduced;
    struct rfn_representatives *representatives; /* NULL: times are not reduced */
    bool has_timing, times;                      /* has_timing: columns of TIMING */
    bool seldom;                                 /* it tells segments, or has representatives */
    uint64_t events;
    struct rfn_cursor_clock {
        uint64_t last_exit; /* quanta */
        uint64_t add_ns;
        uint64_t last;  /* the event that ends when STREAMS says; UINT64_MAX: there is none */
        int64_t end_ns; /* when that is, from the origin */
        struct rfn_clock_place place, correction_place;
        const struct rfn_clock *correction; /* of the host's clock; NULL: none */
    } clock;
    struct rfn_cursor_marks {
        size_t at;       /* where in TIMING the next one is */
        uint64_t n;      /* read so far */
        uint64_t quanta; /* the last one */
        uint64_t mask;   /* numbers of marked events have none of these bits */
        bool begins;     /* the next event begins at its mark: the one before was not read */
    } marks;
    struct rfn_structure_walk walk;    /* in the structure; counts the events */
    int64_t *comms;                    /* archive numbers by local number */
    int64_t *open_words;               /* of the call that it ends in; NULL: nobody has asked */
    struct rfn_symbol_state **symbols; /* NULL: has not occurred since the cursor was moved */
    uint64_t *passed;                  /* per symbol: how often it did before; NULL: never moved */
    struct rfn_list_reader *lists;     /* NULL: nobody has asked for one */
    struct rfn_cursor_batches {
        struct rfn_batch_plan *plans; /* per loop */
        struct rfn_batch_time *times; /* of the batch; NULL: there was none */
        struct rfn_batch batch;       /* n: 0 while events come one by one */
    } batches;
    struct rfn_cursor_stop {
        bool stopped;                  /* it has failed, or holds a record */
        int error;                     /* sticky, as is what it says */
        const struct rfn_record *held; /* found by a seek */
        struct rfn_diag diag;
    } stop;
};

/* ---- failure ---- */

/* The cursor has failed, in a payload; all return the error. What it says may be asked for again
 * (rfn_cursor_report, 0 if it has not failed; diag may be NULL). */
int rfn_cursor_fault_in(struct rfn_cursor *cursor, const struct rfn_payload *payload,
                        const char *fault);
int rfn_cursor_no_memory(struct rfn_cursor *cursor);
int rfn_cursor_report(const struct rfn_cursor *cursor, struct rfn_diag *diag);

/* The stream's word becomes the archive's. false: there is no such thing. */
bool rfn_cursor_translate(const struct rfn_cursor *cursor, uint8_t kind, int64_t *word);

/* The times of segments that are kept. */
int rfn_cursor_begin_representatives(struct rfn_cursor *cursor);
int rfn_cursor_segment_failed(struct rfn_cursor *cursor);

void rfn_cursor_close_columns(struct rfn_cursor *cursor);

/* ---- times ---- */

/* An event with a mark, if there are any left: *enter is as it says. After a seek to that event it
 * is taken from it. */
int rfn_cursor_check_mark(struct rfn_cursor *cursor, uint64_t *enter);

/* On the clock of the host of reference; quanta ascend. */
static inline uint64_t rfn_cursor_ns(struct rfn_cursor *cursor, uint64_t quanta)
{
    struct rfn_cursor_clock *clock = &cursor->clock;
    return rfn_corrected_ns(&cursor->timing.clock, &clock->place, clock->correction,
                            &clock->correction_place, quanta);
}

/* The i-th of the values that there are (at least i + 1). */
static inline int64_t rfn_supply_at(const struct rfn_supply *supply, size_t i)
{
    if (!supply->open)
        return supply->value;
    const struct rfn_column_cursor *column = &supply->column;
    uint64_t more = rfn_load_64(column->next + i * column->packed.width) & column->mask;
    return (int64_t)((uint64_t)column->packed.base + more);
}

static inline void rfn_supply_take(struct rfn_supply *supply, size_t n)
{
    if (!supply->open) {
        supply->left -= n;
        return;
    }
    supply->column.left -= n;
    supply->column.next += n * supply->column.packed.width;
}

/* ---- batches ---- */

/* They are made anew when they are needed. */
void rfn_cursor_forget_plans(struct rfn_cursor *cursor);

#endif
