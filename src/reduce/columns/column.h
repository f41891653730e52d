/* column.h - value columns: long sequences of 64-bit words, written on line, coded near their
 * entropy, read back block by block.
 *
 * What changes from call to call does not enter the structure; it lies in columns, one per place
 * (symbol or loop) and quantity: gap and duration, trip counts, outcomes, parameters that vary.
 * Most columns are constant and must cost a few bytes; columns of times are noise around a few
 * typical values and must cost hardly more than their entropy.
 *
 * A coded column is a sequence of blocks of at most RFN_COLUMN_BLOCK values, or more when they are
 * all equal (doc/refrain-archive.5.md, Columns): each says its coder, the number of its values and
 * its size, so that a reader can skip to the n-th value without decoding what is before.
 */
#ifndef RFN_REDUCE_COLUMNS_COLUMN_H
#define RFN_REDUCE_COLUMNS_COLUMN_H

#include "base/rope.h"
#include "reduce/columns/column_block.h"
#include "reduce/columns/packed.h"

#include <stdbool.h>
#include <stdint.h>

/* Blocks that have left memory: extents of whole blocks, of about RFN_ROPE_PART bytes at most. */
struct rfn_column_spilled {
    const struct rfn_spill *spill; /* borrowed */
    struct rfn_extent *extents;    /* in order */
    size_t n, capacity;
    uint64_t size; /* of all */
};

/* What is behind the sealed blocks, coded while the column had n values. */
struct rfn_column_ahead {
    uint64_t n;
    struct rfn_buf tail;
};

/* Of a column whose values differ: blocks that are sealed, then a run of equal values of which only
 * the number is kept, then staged values. */
struct rfn_column_values {
    bool constant; /* nothing is staged: the column's last value is the run's */
    uint32_t n_staged, staged_capacity;
    int64_t *staged;       /* values not yet in a block, at most RFN_COLUMN_BLOCK */
    uint64_t n_sealed;     /* values in sealed blocks; the run has n - n_sealed - n_staged */
    int64_t run;           /* the run's value; meaningless when the run is empty */
    struct rfn_buf sealed; /* coded blocks */
    struct rfn_column_spilled *spilled; /* those before, NULL when there are none */
    struct rfn_column_ahead *ahead;     /* or NULL */
};

/* A column that grows. Most have equal values and take no more than this: a program may have a
 * hundred thousand. All zeros: it is empty. */
struct rfn_column {
    uint64_t n;                       /* values appended so far */
    int64_t last;                     /* the last value appended */
    struct rfn_column_values *values; /* NULL: all are equal to the last one */
};

void rfn_column_init(struct rfn_column *column);
void rfn_column_release(struct rfn_column *column);

/* The part of append that is not in line: the first value that differs, growth, full blocks. */
int rfn_column_append_slow(struct rfn_column *column, int64_t value);

/* Whether the value could be appended in line. */
static inline bool rfn_column_append_fast(struct rfn_column *column, int64_t value)
{
    struct rfn_column_values *values = column->values;
    if (!values || values->constant) {
        if (value != column->last || !column->n)
            return false;
    } else {
        if (values->n_staged >= values->staged_capacity || values->n_staged + 1 >= RFN_COLUMN_BLOCK)
            return false;
        values->staged[values->n_staged++] = value;
        column->last = value;
    }
    column->n++;
    return true;
}

/* Appends a value; RFN_E_NOMEM (the value is then not in the column; when a block could not be
 * sealed, those before it are lost as well, and writing the column fails). */
static inline int rfn_column_append(struct rfn_column *column, int64_t value)
{
    return rfn_column_append_fast(column, value) ? 0 : rfn_column_append_slow(column, value);
}

/* The same, where *held is the bytes that many columns hold together: they are kept by increments,
 * as a sum over the columns would take the longer the more there are. */
int rfn_column_append_slow_held(struct rfn_column *column, int64_t value, size_t *held);
static inline int rfn_column_append_held(struct rfn_column *column, int64_t value, size_t *held)
{
    return rfn_column_append_fast(column, value) ? 0
                                                 : rfn_column_append_slow_held(column, value, held);
}

/* Replaces the last value appended (a trip count that grew); the column must not be empty. A full
 * block is sealed only when the next value arrives, so that this is always possible. RFN_E_NOMEM
 * (the value is then as it was). */
int rfn_column_set_last(struct rfn_column *column, int64_t value);
int rfn_column_set_last_held(struct rfn_column *column, int64_t value, size_t *held);

/* Moves the sealed blocks into the spill; with `staged` also all staged values but the last, as a
 * block of fewer values than usual. 0 or an error: then they are still in memory. */
int rfn_column_spill(struct rfn_column *column, const struct rfn_spill *spill, bool staged);
/* Codes the staged values but the last, if there are more than n: coded values take about an eighth
 * of the memory. 0 or RFN_E_NOMEM, as of rfn_column_append. */
int rfn_column_compact(struct rfn_column *column, uint32_t n);
/* Bytes held in memory, besides the struct itself. */
size_t rfn_column_bytes(const struct rfn_column *column);
/* Bytes of coded blocks in memory: what rfn_column_spill without `staged` moves. */
size_t rfn_column_sealed_bytes(const struct rfn_column *column);

/* About what writing the column takes: a value that is not coded yet counts as a byte. */
size_t rfn_column_coded_bytes(const struct rfn_column *column);

/* Codes what is behind the sealed blocks before it is asked for: writing the column takes that if
 * it is as it was by then, so that it takes no longer than what is sealed. Takes as much memory;
 * does nothing without, or for a few values. */
void rfn_column_code_ahead(struct rfn_column *column);

/* Writes the whole column: varint n, varint bytes of the blocks, then the blocks. The column is
 * unchanged and may grow on. Failure shows in out. */
void rfn_column_write(const struct rfn_column *column, struct rfn_buf *out);
/* The same into a rope, which borrows large sealed blocks from the column. */
void rfn_column_pack(const struct rfn_column *column, struct rfn_rope *out);

/* ---- columns that grow together, in limited memory ---- */

/* Calls visit for every column until it returns an error, which is returned. */
typedef int (*rfn_each_column)(void *columns,
                               int (*visit)(void *context, struct rfn_column *column),
                               void *context);

/* To visit columns with: adds their bytes (rfn_column_bytes) to *sum, a size_t. */
int rfn_column_add_bytes(void *sum, struct rfn_column *column);

/* Spills about `wanted` bytes, if there are so many; *freed may be NULL. RFN_E_NOMEM, or the error
 * of the spill: what has not left is still there. */
int rfn_columns_spill(void *columns, rfn_each_column each, const struct rfn_spill *spill,
                      size_t wanted, size_t *freed);

/* What columns may take. */
struct rfn_room {
    const struct rfn_spill *spill; /* borrowed; NULL: they may take what they need */
    size_t bytes;
};

/* Has the columns take no more than half of the room if they take more than all of it. A spill that
 * fails is not tried again: the room has none then. */
void rfn_columns_keep_to(void *columns, rfn_each_column each, struct rfn_room *room);

/* ---- reading ---- */

/* A cursor borrows the bytes of a written column, or a column that does not grow
 * meanwhile, or a store that has the column: then it reads one window of blocks after the other.
 * Who reads many streams in turn has all their columns open: decoded values are packed, what one of
 * them takes lies side by side, in front, and of a store no bytes are kept but those of small
 * blocks. So a column that is open takes at most 8 bytes per value of a block and RFN_COLUMN_WINDOW
 * bytes, however long it is. */
struct rfn_column_cursor {
    const uint8_t *next;             /* where in packed the next value is */
    uint64_t mask;                   /* of 8 bytes loaded there, those that are its own */
    uint64_t left;                   /* values to come of the current block */
    struct rfn_packed packed;        /* that block */
    uint64_t n;                      /* values in the column */
    uint64_t end;                    /* values in front of the current block's end */
    struct rfn_reader blocks;        /* what is left of the window */
    const struct rfn_column *column; /* that does not grow meanwhile, or NULL */
    const struct rfn_spill *store; /* that has the column, or NULL. Neither: there is one window */
    union {
        size_t window;          /* of the column: extents, then the sealed blocks */
        struct rfn_extent rest; /* of the store: what is behind the window */
    };
    struct rfn_buf own; /* a window that is not in the memory of others */
    bool zeros;         /* there are no blocks: all n values are 0 */
};

/* What is read from a store at once, or a block if that is larger. */
#ifdef RFN_FUZZING
enum { RFN_COLUMN_WINDOW = 64 };
#else
enum { RFN_COLUMN_WINDOW = 8192 };
#endif

/* Values that have been delivered. */
static inline uint64_t rfn_column_at(const struct rfn_column_cursor *cursor)
{
    return cursor->end - cursor->left;
}

/* Opens the column at the reader's place and moves the reader past it. RFN_E_CORRUPT. */
int rfn_column_open(struct rfn_column_cursor *cursor, struct rfn_reader *reader);
/* Opens the column that is all of an extent of the store (borrowed), as it was written. What the
 * store has may change meanwhile. RFN_E_CORRUPT, RFN_E_NOMEM, or the store's error, which
 * next_block and skip may return then, too. */
int rfn_column_open_stored(struct rfn_column_cursor *cursor, const struct rfn_spill *store,
                           const struct rfn_extent *written);
/* Opens a column itself. Then next_block and skip may also fail as its spill does. */
void rfn_column_open_growing(struct rfn_column_cursor *cursor, const struct rfn_column *column);
void rfn_column_close(struct rfn_column_cursor *cursor);
/* Decodes the next block; RFN_E_CORRUPT, RFN_E_RANGE at the end, RFN_E_NOMEM. */
int rfn_column_next_block(struct rfn_column_cursor *cursor);

/* The next value. RFN_E_RANGE when the column is at its end, RFN_E_CORRUPT. */
static inline int rfn_column_next(struct rfn_column_cursor *cursor, int64_t *value)
{
    if (__builtin_expect(!cursor->left, 0))
        RFN_TRY(rfn_column_next_block(cursor));
    cursor->left--;
    *value = (int64_t)((uint64_t)cursor->packed.base + (rfn_load_64(cursor->next) & cursor->mask));
    cursor->next += cursor->packed.width;
    return 0;
}

/* Whether there are bytes behind the current block. (A column whose values are all read must have
 * none.) Not of columns that grow. */
static inline bool rfn_column_bytes_left(const struct rfn_column_cursor *cursor)
{
    return rfn_reader_left(&cursor->blocks) || (cursor->store && cursor->rest.size);
}

/* How many values from the next one on are known to be equal to it, without looking: of a column
 * that is not at its end, at least 1. */
static inline uint64_t rfn_column_equal(const struct rfn_column_cursor *cursor)
{
    return cursor->left && !cursor->packed.width ? cursor->left : 1;
}

/* Moves on by n values without delivering them; whole blocks are skipped without decoding. */
int rfn_column_skip(struct rfn_column_cursor *cursor, uint64_t n);

/* A list (list_writer.h): a column with a guide. guide: a list of as many values, which
 * nothing else reads, or NULL. */
struct rfn_list_cursor {
    struct rfn_column_cursor column;
    struct rfn_list_cursor *guide;
};

/* Decodes the next block; errors as of rfn_column_next_block. */
int rfn_list_next_block(struct rfn_list_cursor *list);

/* The next value, as rfn_column_next. */
static inline int rfn_list_next(struct rfn_list_cursor *list, int64_t *value)
{
    if (!list->column.left)
        RFN_TRY(rfn_list_next_block(list));
    return rfn_column_next(&list->column, value);
}

/* Where a block begins, for coming back to it with any cursor that is over the same column, opened
 * in the same way. Not of columns that grow. */
struct rfn_column_place {
    uint64_t at;    /* bytes */
    uint64_t first; /* values before it */
};

/* The place behind the current block. */
struct rfn_column_place rfn_column_place(const struct rfn_column_cursor *cursor);
/* The block there is the next one, and nothing is left of the current one. */
void rfn_column_seek(struct rfn_column_cursor *cursor, const struct rfn_column_place *place);
/* Moves on behind the next block without decoding it. Errors as of next_block. */
int rfn_column_pass_block(struct rfn_column_cursor *cursor);
/* The current block goes to *packed, which is to be released; nothing is left of it here. */
void rfn_column_take_block(struct rfn_column_cursor *cursor, struct rfn_packed *packed);

#endif
