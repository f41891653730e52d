/* segment_starts.h - when the segments of a stream start: how that is held while they are put in,
 * and what is added to the starts that readers predict (doc/trace-profiling.md, The execution list
 * and At run time).
 */
#ifndef RFN_REDUCE_SEGMENTS_SEGMENT_STARTS_H
#define RFN_REDUCE_SEGMENTS_SEGMENT_STARTS_H

#include "reduce/segments/representative_store.h"

/* How far starts may be off: absolute + length * share / 65536, of a representative's length. */
struct rfn_start_tolerance {
    uint64_t absolute, share; /* share is at most 2^36 */
};

/* T times the length (jitter: the length + 0.25 ms); absDiff: T; methods without a threshold of
 * time: 0.2 times. exact: 0. */
struct rfn_start_tolerance rfn_start_tolerance_of(const struct rfn_criterion *criterion,
                                                  bool exact);
/* The tolerance for a length (not negative), modulo 2^64. */
static inline uint64_t rfn_start_tolerance(const struct rfn_start_tolerance *tolerance,
                                           int64_t length)
{
    uint64_t n = (uint64_t)length;
    return tolerance->absolute + (n >> 16) * tolerance->share +
           ((n & 65535) * tolerance->share >> 16);
}

/* Starts of one-way segments, where the method compares these as such, are off by so many
 * tolerances at most. */
enum { RFN_ONE_WAY_STARTS = 10 };

/* What holds for all starts of a stream. */
struct rfn_start_rule {
    struct rfn_start_tolerance tolerance;
    unsigned one_way; /* starts of such segments are off by so many tolerances at most */
    bool averages;    /* no threshold says how far lengths lie apart: starts are held as they are */
    bool stretched;   /* a segment lasts until the next one starts */
};

struct rfn_start_rule rfn_start_rule_of(const struct rfn_criterion *criterion, bool exact);

/* a + b and a + n * unit, modulo 2^64. */
static inline int64_t rfn_start_after(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t rfn_start_units_after(int64_t a, int64_t n, uint64_t unit)
{
    return (int64_t)((uint64_t)a + (uint64_t)n * unit);
}

/* Where in a segment, which lasts for `room`, something is that is `offset` after the start of its
 * representative, whose length is `length`: everything in it is moved in proportion. What is before
 * it (of a clock that went backwards), or behind it, is at its beginning, or its end. */
static inline uint64_t rfn_start_stretched(int64_t signed_offset, uint64_t length, uint64_t room)
{
    __extension__ typedef unsigned __int128 u128;
    const uint64_t offset = (uint64_t)signed_offset;
    if (signed_offset < 0)
        return 0;
    if (offset >= length)
        return room;
    if (room == length)
        return offset;
    u128 product = (u128)offset * room;
    return product >> 64 ? (uint64_t)(product / length) : (uint64_t)product / length;
}

/* In an order of segments: where the one before ends, as starts are held (by the length of what it
 * was put in as), and as readers predict the next start (by its representative's pace). */
struct rfn_start_place {
    int64_t held_next, predicted;
};

/* Of a segment: lengths of what it was put in as, of what it is executed as now, and that one's
 * pace. */
struct rfn_start_lengths {
    int64_t first, now, pace;
    bool one_way;
};

/* Of a segment that was put into the store as this number; *now: what it is executed as. */
struct rfn_start_lengths rfn_start_lengths_of(const struct rfn_representative_store *store,
                                              uint32_t context, uint32_t put_as, uint32_t *now);
/* Of one that is not in the store. */
static inline struct rfn_start_lengths rfn_start_lengths_alone(int64_t length)
{
    return (struct rfn_start_lengths){length, length, length, false};
}

/* Holds the segment's start: returns how much later than held_next it is, in units that follow from
 * `length`, that of what it was put in as; moves held_next on. */
int64_t rfn_start_hold(const struct rfn_start_rule *rule, int64_t *held_next, int64_t start,
                       int64_t length);
/* Of a start that was held so: what to add to the predicted one, in units of the tolerance, to
 * bring it near. It moves the place on. */
int64_t rfn_start_correct(const struct rfn_start_rule *rule, struct rfn_start_place *place,
                          const struct rfn_start_lengths *lengths, int64_t late);

#endif
