/* stream_profile.h - what becomes of the segments of one stream: which are kept, and when the
 * others are executed as those (doc/trace-profiling.md, At run time).
 *
 * Segments are put in once, in order. A segment that is like an earlier one leaves three small
 * numbers in columns: its context, its number in the store (representative_store.h), and how late
 * it began: the start less where the segment before ends by its representative's own length, in
 * eighths of the tolerance of starts, with a remainder that is carried on. After the last segment,
 * `finish` knows how long a representative's executions take on average (its pace), and which were
 * widened away, and makes the columns of PROFILE. (rfn_stream_profile_code_ahead does part of that
 * before.)
 *
 * Segments of the top are executed once each and not compared with anything; nor are those that
 * come when the store is full. Both are *loose*: their times lie in columns, too.
 *
 * Times are numbers of any unit, the same in a profile: nanoseconds or quanta of a clock. (The
 * threshold of absDiff is in thousands of nanoseconds: users of another unit scale it.)
 */
#ifndef RFN_REDUCE_SEGMENTS_STREAM_PROFILE_H
#define RFN_REDUCE_SEGMENTS_STREAM_PROFILE_H

#include "base/hash.h"
#include "reduce/segments/execution_lists.h"

/* Kept segments of one stream have no more events together: readers hold them. */
enum { RFN_PROFILE_EVENTS_MAX = 4194304 };

struct rfn_stream_profile;

struct rfn_stream_profile_options {
    struct rfn_criterion criterion;
    uint32_t max_per_kind; /* as in the store */
    uint64_t max_events;   /* of kept segments; 0: RFN_PROFILE_EVENTS_MAX */
    bool exact_starts;
};

/* NULL: out of memory. */
struct rfn_stream_profile *rfn_stream_profile_new(const struct rfn_stream_profile_options *options);
void rfn_stream_profile_free(struct rfn_stream_profile *profile); /* may be NULL */

/* Puts in the next segment of the stream, which began at `start`. Contexts are any numbers, as few
 * and low as can be. top: the segment is one of the top, and its context does not matter. Extra
 * values are given back with the segments that are kept. RFN_E_CORRUPT: its length, or that of the
 * stream, is negative or above 2^62 (the segment is then not in the profile); RFN_E_NOMEM (the
 * profile can then only be freed). */
int rfn_stream_profile_put(struct rfn_stream_profile *profile, const struct rfn_segment *segment,
                           int64_t start, bool top);

/* Makes what finish would make of the segments so far, and codes it (execution_lists.h): finish
 * then has only those to go over that come later. */
void rfn_stream_profile_code_ahead(struct rfn_stream_profile *profile);
/* Frees what that holds; it does nothing any more. */
void rfn_stream_profile_drop_ahead(struct rfn_stream_profile *profile);

/* Bytes held. It takes a time that grows with the number of kinds. */
size_t rfn_stream_profile_bytes(const struct rfn_stream_profile *profile);
/* Calls visit for every column of the profile (an rfn_each_column) that grows with the segments.
 * Visit may spill them. */
int rfn_stream_profile_each_column(void *profile,
                                   int (*visit)(void *context, struct rfn_column *column),
                                   void *context);
/* Has the store hold less: rfn_representative_store_widen. */
int rfn_stream_profile_widen(struct rfn_stream_profile *profile);

struct rfn_stream_profile_stats {
    uint64_t executions, kinds, representatives; /* loose ones are one of each */
    uint64_t kept_events, kept_messages;         /* in representatives */
    uint64_t corrections;                        /* after finish */
    uint64_t widened, comparisons;               /* of the store */
    size_t bytes;
};

struct rfn_stream_profile_stats rfn_stream_profile_stats(const struct rfn_stream_profile *profile);

/* Of the segments so far, by context and events in order: a hash that is equal for streams that
 * have executed the same ones, and hardly ever for others. */
struct rfn_hash128 rfn_stream_profile_sequence(const struct rfn_stream_profile *profile);

/* ---- after the last segment ---- */

/* Before it: what it makes, and what there is then, goes to the room's spill where it takes more.
 */
void rfn_stream_profile_keep_to(struct rfn_stream_profile *profile, const struct rfn_room *room);
/* To be called once; then no segment may be put in. RFN_E_NOMEM. */
int rfn_stream_profile_finish(struct rfn_stream_profile *profile);

/* One more than the highest context of a segment that was put in. */
uint32_t rfn_stream_profile_contexts(const struct rfn_stream_profile *profile);
/* NULL: no segment had this context (the columns are empty). */
const struct rfn_execution_columns *
rfn_stream_profile_columns(const struct rfn_stream_profile *profile, uint32_t context);
/* Corrections of the top's segments. */
const struct rfn_column *rfn_stream_profile_top(const struct rfn_stream_profile *profile);
/* The start of the first segment; 0 without any. */
int64_t rfn_stream_profile_first(const struct rfn_stream_profile *profile);
struct rfn_start_tolerance rfn_stream_profile_tolerance(const struct rfn_stream_profile *profile);
/* Whether segments last until the next one starts. */
bool rfn_stream_profile_stretched(const struct rfn_stream_profile *profile);

/* All segments in order, as readers recreate them; or only those that are the first execution of
 * their representative, and those of the top, without their starts. */
struct rfn_profile_walk;

/* Borrowed until the next call. */
struct rfn_executed {
    uint32_t context; /* not of the top */
    bool top;
    bool first;             /* it is new: the first execution of its representative */
    uint32_t number;        /* of the representative in the context, as in the columns */
    int64_t start;          /* recreated; 0 in a walk over first executions, as the pace */
    int64_t pace;           /* from there on to where the next one's start is predicted */
    const uint32_t *events; /* symbols */
    size_t n;
    const int64_t *vector; /* that of the representative */
    const int64_t *extra;
    size_t n_extra;
    bool loose; /* no other segment has the vector, which is overwritten with the next */
};

/* NULL: out of memory. Borrows the profile, which is finished. */
struct rfn_profile_walk *rfn_profile_walk_new(const struct rfn_stream_profile *profile);
/* The same over first executions and the top: it takes a time that grows with these only. */
struct rfn_profile_walk *rfn_profile_walk_firsts(const struct rfn_stream_profile *profile);
/* 1 and *executed, 0 at the end, RFN_E_NOMEM, or the error of a spill. */
int rfn_profile_walk_next(struct rfn_profile_walk *walk, struct rfn_executed *executed);
void rfn_profile_walk_free(struct rfn_profile_walk *walk); /* may be NULL */

#endif
