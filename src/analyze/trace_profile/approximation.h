/* approximation.h - what a reduction of times loses, and what it saves (Mohror 2010, 4.4 and
 * 5.1.4): recreated times and how far they are from those that were recorded, degrees of matching,
 * sizes by her models.
 */
#ifndef RFN_ANALYZE_TRACE_PROFILE_APPROXIMATION_H
#define RFN_ANALYZE_TRACE_PROFILE_APPROXIMATION_H

#include "reduce/segments/stream_profile.h"
#include "refrain/archive.h"

/* ---- distances ----
 *
 * The approximation distance (5.1.4.3) is the 90th percentile of all. They are counted in buckets:
 * below 2048 ns one for each, above 1024 for each doubling. So what comes out is exact below 2048,
 * and above too small by less than 0.1 %. */
enum { RFN_DISTANCES_EXACT = 2048, RFN_DISTANCES_BUCKETS = 1024 * (64 - 10 + 1) };

/* All zero: none. 440 KB: not for the stack. */
struct rfn_distances {
    uint64_t n, largest_ns, buckets[RFN_DISTANCES_BUCKETS];
};

void rfn_distances_add(struct rfn_distances *distances, int64_t recreated_ns, int64_t real_ns);
/* The smallest one, in ns, that at least this share (0 to 1) of all do not exceed; 0 when there are
 * none. */
uint64_t rfn_distances_at(const struct rfn_distances *distances, double share);
double rfn_distances_approximation_us(const struct rfn_distances *distances);

/* ---- degrees of matching: matches / possible matches (5.1.4.2) ----
 *
 * Segments match within a process: of all of one kind all but one could. Streams match across
 * processes: of all of one class all but one could. */
struct rfn_degrees {
    double within, across; /* 0 to 1; 1 if no match is possible */
    double both;           /* together; within, if processes were not compared */
};

/* across: processes were compared. Counts that contradict each other, as a damaged file may have
 * them, give degrees of 0 to 1, too. */
struct rfn_degrees rfn_degrees_of(const struct rfn_run_reduction *counts, bool across);

/* ---- the times of a stream's events, from representatives and their executions ----
 *
 * Segments start where those before predict it, plus a correction; events lie in them as in the
 * representative, or, where segments are stretched (refrain-archive(5), PROFILE), in proportion to
 * the time until the next segment starts. What would be earlier than an event before it happens at
 * the time of that one. */
struct rfn_recreation {
    struct rfn_profile_walk *walk, *ahead; /* ahead: a segment further; NULL: not stretched */
    struct rfn_executed executed;          /* the last segment */
    int64_t begin_ns, room_ns;             /* where it begins, and how long it lasts if stretched */
    int64_t last_ns;                       /* the last recreated time: none is before it */
};

/* RFN_E_NOMEM. Either way to be closed. The profile is finished, and borrowed. */
int rfn_recreation_open(struct rfn_recreation *recreation,
                        const struct rfn_stream_profile *profile);
/* The next segment, in order. 0; RFN_E_RANGE when there are no more segments; RFN_E_NOMEM. */
int rfn_recreation_next(struct rfn_recreation *recreation);
/* The time of the vector's element i (1 to 2 n) of that segment, in order; never before the one
 * before. */
int64_t rfn_recreation_time(struct rfn_recreation *recreation, size_t i);
void rfn_recreation_close(struct rfn_recreation *recreation);

/* ---- sizes by Mohror's models ----
 *
 * Of a traditional trace and of a trace profile, in bytes (4.4, Eq. 3 to 11 with the sizes of Table
 * 3 and of TAU's records). They count fixed records and no compression: they are for comparing with
 * her figures, not for our files. */

/* Names of events: how many distinct ones (E_n), and their typical length (N_s), of contexts too.
 */
struct rfn_model_names {
    uint64_t n, length;
};

/* A process of a traditional trace: its event map (Eq. 4), its events and messages (Eq. 5, 6). */
uint64_t rfn_model_full_names(const struct rfn_model_names *names);
uint64_t rfn_model_full_records(uint64_t events, uint64_t messages);

/* A process group of a trace profile. */
struct rfn_model_group {
    uint64_t ranks;            /* R_c */
    uint64_t representatives;  /* S_n */
    uint64_t executions;       /* S_e */
    uint64_t events, messages; /* of all representatives together (E_c, M_c) */
};

/* What all groups share: two section headers and the event map. (Eq. 7 has one header; the paper's
 * table has one for the groups, too.) */
uint64_t rfn_model_profile_names(const struct rfn_model_names *names);
/* A group (Eq. 8 to 11). */
uint64_t rfn_model_profile_group(const struct rfn_model_names *names,
                                 const struct rfn_model_group *group);

#endif
