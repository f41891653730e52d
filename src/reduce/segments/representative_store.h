/* representative_store.h - the representatives of a stream's segments: what alike segments are kept
 * as (Mohror 2010, 4.2.2; doc/trace-profiling.md).
 *
 * Segments are put in one by one. Segments of equal context and equal events are of one kind;
 * within it a segment matches the lowest-numbered representative that is similar, or becomes a
 * representative itself. Representatives are numbered per context, from 0, in the order in which
 * they were made.
 *
 * Cost: vector_index.h. With a limit per kind a kind that reaches it widens its threshold, so that
 * no search can compare more vectors than that. Widening frees representatives; what was executed
 * as them is then executed as others: see rfn_representative_store_forward.
 */
#ifndef RFN_REDUCE_SEGMENTS_REPRESENTATIVE_STORE_H
#define RFN_REDUCE_SEGMENTS_REPRESENTATIVE_STORE_H

#include "reduce/segments/similarity.h"
#include "refrain/event.h"

struct rfn_representative_store;

struct rfn_representative_store_options {
    struct rfn_criterion criterion;
    uint32_t max_per_kind; /* representatives; at least 2, or 0: no limit. iterK has its own */
    uint64_t max_events; /* in all representatives together, and four times the kinds at most; 0: no
                            limit */
    bool both_ways;      /* segments that are one-way are compared like all others */
    bool in_order;       /* tries all representatives in order, for comparison */
};

/* NULL: out of memory. */
struct rfn_representative_store *
rfn_representative_store_new(const struct rfn_representative_store_options *options);
void rfn_representative_store_free(struct rfn_representative_store *store);

/* What the calls of a segment do, as bits. */
enum {
    RFN_ROLE_SENDS = 1,
    RFN_ROLE_RECEIVES = 2,
    RFN_ROLE_ONE_TO_ALL = 4,
    RFN_ROLE_ALL_TO_ONE = 8,
    RFN_ROLE_COMPLETES = 16, /* goes with any of these */
    RFN_ROLE_MEETS = 32      /* waits for others that wait for it, or may do so */
};

/* The role of a call of the class; 0: it concerns nobody else. */
static inline uint8_t rfn_class_role(uint8_t class_)
{
    switch (class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
        return RFN_ROLE_SENDS;
    case RFN_CLASS_RECV:
    case RFN_CLASS_PROBE:
        return RFN_ROLE_RECEIVES;
    case RFN_CLASS_ONE_TO_ALL:
        return RFN_ROLE_ONE_TO_ALL;
    case RFN_CLASS_ALL_TO_ONE:
        return RFN_ROLE_ALL_TO_ONE;
    case RFN_CLASS_COMPLETION:
        return RFN_ROLE_COMPLETES;
    case RFN_CLASS_OTHER:
    case RFN_CLASS_REGION:
    case RFN_CLASS_SEGMENT_BEGIN:
    case RFN_CLASS_SEGMENT_END:
    case RFN_CLASS_UNRECORDED:
        return 0;
    default:
        return RFN_ROLE_MEETS;
    }
}

/* Whether lateness goes through a segment with these roles in one direction at most. A rank that
 * receives and then sends hands its lateness on, and one that meets all others makes all of them
 * wait: the exact moment matters, and to ranks that this one never talks to. A segment that only
 * sends, or only receives, is an end of the chain: waits there are between two ranks, and sums of
 * them are what matters. */
static inline bool rfn_roles_one_way(uint8_t roles)
{
    uint8_t rest = roles & (uint8_t)~RFN_ROLE_COMPLETES;
    return roles && !(rest & RFN_ROLE_MEETS) && (rest & (rest - 1)) == 0;
}

/* A segment as it was executed. Borrowed. */
struct rfn_segment {
    uint32_t context;
    const uint32_t *events; /* symbols; n of them */
    size_t n;
    uint32_t messages;     /* of these events; only counted */
    uint8_t roles;         /* RFN_ROLE_ of these events, together */
    const int64_t *vector; /* 2 n + 2 times since its start, ns: 0, enters and exits, end */
    const int64_t *extra;  /* values that are kept with it, and not looked at; as many of each
                              segment of the same events */
    size_t n_extra;
};

/* What put returns: the segment matched; it is kept as a representative; a representative was made
 * of segments that were kept before (iterK's average or centroid); it is like none, and there is no
 * room for it: it is not in the store. */
enum { RFN_STORE_MATCHED, RFN_STORE_KEPT, RFN_STORE_MADE, RFN_STORE_FULL };

/* Puts a segment in; *number is what it is executed as, in its context. One of the above, or
 * RFN_E_NOMEM (the store can then only be freed). */
int rfn_representative_store_put(struct rfn_representative_store *store,
                                 const struct rfn_segment *segment, uint32_t *number);

/* From now on representatives have the length and the pace that they would have if no segment came
 * any more, until they are frozen again. again: also those that are frozen. */
void rfn_representative_store_freeze(struct rfn_representative_store *store, bool again);
/* None is frozen any more. */
void rfn_representative_store_thaw(struct rfn_representative_store *store);

/* After the last segment: makes the averages (which end where they did when they were frozen), of
 * iterAvg, and of segments that are one-way or shorter than what the criterion adds to lengths. */
void rfn_representative_store_finish(struct rfn_representative_store *store);

/* Borrowed until the next put or widening. */
struct rfn_representative {
    const int64_t *vector;  /* NULL: widening freed it, and forward leads to another one */
    const uint32_t *events; /* n_events of them */
    size_t n_events;
    const int64_t *extra; /* that of the segment that was put in when it was kept, or averages */
    size_t n_extra;
    int64_t first_length; /* when it was kept; stays when the vector is freed or averaged */
    uint64_t executions;
    int64_t length; /* of the vector, if it is frozen or the store is finished; ns */
    int64_t pace; /* the mean length of what was executed as it, or of all executions of its length
                     class, rounded, now or when it was frozen; ns */
    bool one_way; /* segments of its kind are compared as such, and so have length classes */
};

/* How many numbers a context has; 0 for contexts that had no segment. */
uint32_t rfn_representative_store_numbers(const struct rfn_representative_store *store,
                                          uint32_t context);
/* number < rfn_representative_store_numbers(). */
struct rfn_representative
rfn_representative_store_representative(const struct rfn_representative_store *store,
                                        uint32_t context, uint32_t number);
/* The number that stands for this one now: itself, or after widening another one. */
uint32_t rfn_representative_store_forward(const struct rfn_representative_store *store,
                                          uint32_t context, uint32_t number);

/* How many numbers stand for others by now. */
uint64_t rfn_representative_store_forwarded(const struct rfn_representative_store *store);

/* Widens the threshold of the kind whose representatives hold most bytes, by steps to 1.5 times,
 * until they are at most half as many. 1; 0 when no kind has two representatives, or the method has
 * no threshold to widen; RFN_E_NOMEM. */
int rfn_representative_store_widen(struct rfn_representative_store *store);

struct rfn_representative_store_stats {
    uint64_t executions;      /* segments put in */
    uint64_t kinds;           /* contexts with distinct events */
    uint64_t representatives; /* segments that are kept; executions less these are matches */
    uint64_t kept_events, kept_messages; /* in them */
    uint64_t widened;                    /* kinds whose threshold was widened */
    uint64_t comparisons;                /* of vectors */
    uint64_t visits;                     /* nodes of indices */
    size_t bytes;                        /* held */
};

struct rfn_representative_store_stats
rfn_representative_store_stats(const struct rfn_representative_store *store);

#endif
