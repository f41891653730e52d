/* trace_profile.h - alike iterations kept once: reduces the times of an archive in memory, and
 * measures the loss (doc/trace-profiling.md).
 */
#ifndef REFRAIN_TRACE_PROFILE_H
#define REFRAIN_TRACE_PROFILE_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"
#include "refrain/expression.h"

struct rfn_trace_profile;

struct rfn_trace_profile_options {
    const char *similar;   /* METHOD or METHOD:THRESHOLD, as "avgWave:0.2"; rfn_reduce: NULL: times
                              stay as they are */
    const char *across;    /* the same, for comparing processes; NULL: they are not */
    uint32_t min_calls;    /* loops with fewer calls in an iteration cut no segments */
    uint32_t max_per_kind; /* representatives; when it is reached the threshold is widened. At least
                              2, or 0: no limit */
    bool exact_starts;     /* segments start when they really did */
    uint64_t memory_bytes; /* for the data of all streams held at once; thresholds are widened to
                              stay below it. 0: no limit */
    bool cluster;       /* of rfn_reduce: events of alike ranks are stored once (doc/clustering.md)
                         */
    const char *forced; /* with cluster: parameters that no longer tell ranks apart, as "peer,count"
                          (rfn_forced_check); NULL: none */
    struct rfn_expressions *expressions; /* users', for that (refrain/expression.h), or NULL */
    void (*progress)(void *context, double share); /* may be NULL; share of the events read */
    void *progress_context;
};

enum { RFN_FORCED_TEXT = 40 };

/* Whether these are names of parameters that can be merged: some of peer, root, count, exact
 * (datatypes, operations), comm, place (colour, key) and tag, separated by commas. RFN_E_USAGE. */
int rfn_forced_check(const char *names, struct rfn_diag *diag);

/* Reads all streams that are there, twice. *profile is the caller's; the archive is borrowed until
 * it is freed. RFN_E_USAGE: there is no such method or threshold; RFN_E_UNSUPPORTED: the archive
 * has no times; RFN_E_NOMEM, and the errors of reading. */
int rfn_trace_profile_new(const struct rfn_archive *archive,
                          const struct rfn_trace_profile_options *options,
                          struct rfn_trace_profile **profile, struct rfn_diag *diag);
void rfn_trace_profile_free(struct rfn_trace_profile *profile);

/* The outcome for all streams together. */
struct rfn_trace_profile_stats {
    uint64_t events, messages;
    uint64_t executions;                 /* segments */
    uint64_t kinds;                      /* of segments: contexts with distinct events */
    uint64_t representatives;            /* segments that are kept, of each stream */
    uint64_t kept_events, kept_messages; /* in them */
    uint64_t corrections;                /* of starts that were predicted too badly */
    uint64_t widened;                    /* kinds whose threshold was widened */
    uint64_t comparisons;                /* of vectors */
    uint64_t memory_bytes;               /* for the segments of one stream, at most */
    uint32_t streams;                    /* that are there */
    uint32_t classes;                    /* of streams that executed the same segments */
    uint32_t groups;                     /* of streams that share times */
};

struct rfn_trace_profile_stats rfn_trace_profile_stats(const struct rfn_trace_profile *profile);

/* The stream whose times stand for this one's. */
uint32_t rfn_trace_profile_standing_for(const struct rfn_trace_profile *profile, uint32_t stream);

/* Matches / possible matches; 1 if none is possible. With `across` also matches of processes. */
double rfn_degree_of_matching(const struct rfn_trace_profile_stats *stats, bool across);

struct rfn_reduction {
    uint64_t full_bytes, bytes; /* of the archive, and of the reduced one */
    double degree_of_matching;
    bool forced;              /* some parameters are the lowest rank's, and were others */
    uint32_t groups;          /* of streams with equal structures */
    uint32_t groups_together; /* in clusters: only parameters of these are merged. 0 where clusters
                                 make the file no smaller */
    bool clusters_larger;     /* that is why: groups are small enough to be stored together */
    struct rfn_trace_profile_stats stats;
    struct rfn_expression_counts expressions; /* 0 without */
};

/* Writes a reduced archive to `path`, which takes the place of a file there only if `force`; a
 * device or pipe is written to. Parts missing in an incomplete archive are missing in the new one
 * (and it cannot be clustered: RFN_E_INCOMPLETE). Without `similar`, statistics are 0.
 * RFN_E_EXISTS; RFN_E_USAGE, also where the path is the archive itself; RFN_E_UNSUPPORTED: it is
 * reduced already, or has no times; RFN_E_VERSION: it is of a later version; RFN_E_IO, RFN_E_NOMEM,
 * and the errors of reading. */
int rfn_reduce(const struct rfn_archive *archive, const struct rfn_trace_profile_options *options,
               const char *path, bool force, struct rfn_reduction *result, struct rfn_diag *diag);

/* How good the reduction is (Mohror 2010, 5.1.4). */
struct rfn_reduction_measures {
    /* Matches / possible matches; 1 if none is possible. */
    double degree_within, degree_across;
    double degree_of_matching;        /* both together; within, if processes are not compared */
    double approximation_distance_us; /* 90th percentile over all enters and exits */
    double largest_distance_us;
    uint64_t execution_bytes;  /* of the execution list, coded */
    double model_size_percent; /* by Mohror's models: a trace profile, of ... */
    uint64_t model_profile_bytes;
    uint64_t model_full_bytes; /* ... a traditional trace */
};

/* Reads all streams once more. Errors as above. */
int rfn_trace_profile_measure(const struct rfn_trace_profile *profile,
                              struct rfn_reduction_measures *measures, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
