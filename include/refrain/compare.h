/* compare.h - what a reduced archive saves, and what it loses (Mohror 2010, 5.1.4).
 *
 * Compares an archive with another one of the same events, mostly a full one with a reduced one
 * (doc/trace-profiling.md): reads both side by side, event by event, and finds why ranks wait in
 * each.
 */
#ifndef REFRAIN_COMPARE_H
#define REFRAIN_COMPARE_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"
#include "refrain/waits.h"

/* Classes of severity, in shares of the run time: up to 0.1 % (which is no trend), 1 %, 5 %, 20 %,
 * and above. */
enum { RFN_SEVERITY_CLASSES = 5 };
unsigned rfn_severity_class(double share);
/* "none", "slight", "noticeable", "heavy", "dominating". Static. */
const char *rfn_severity_words(unsigned severity_class);

/* Waiting in a pattern at a call path of a rank that is of another class in the reduced archive. */
struct rfn_trend_change {
    enum rfn_pattern pattern;
    uint32_t function, path; /* the full archive's numbers */
    uint32_t rank;
    double full_share, reduced_share; /* of the full archive's run time */
};

/* How long a run took, and the shares of all ranks' time that were spent in MPI, and waiting. */
struct rfn_run_times {
    int64_t run_ns;
    double mpi_share, wait_share;
};

struct rfn_comparison {
    uint64_t events;
    uint64_t full_bytes, reduced_bytes; /* of the files */
    double size_percent;
    /* Matches / possible matches; 1 if none is possible, and for an archive that is not reduced. */
    double degree_within, degree_across;
    double degree_of_matching;        /* both together; within, if processes were not compared */
    double approximation_distance_us; /* 90th percentile over all enters and exits */
    double largest_distance_us;
    struct rfn_run_times full_times, reduced_times;
    int64_t full_outside_ns, reduced_outside_ns; /* outside of MPI, over all ranks */
    uint64_t trends; /* of the full archive: waits of more than the lowest class */
    bool trends_retained;
    struct rfn_trend_change *changes; /* those not retained, largest change of the share first */
    size_t n_changes;
    double largest_change; /* of any share, whether a trend is retained or not */
};

/* *comparison is to be freed. progress (may be NULL) is told the share done, 0 to 1. *concerned
 * (may be NULL) is set when one of the archives cannot be read. RFN_E_USAGE: they do not have the
 * same events, and diag tells where they differ; RFN_E_UNSUPPORTED: one has no times; RFN_E_NOMEM,
 * and the errors of reading: a comparison needs all of both. */
int rfn_comparison_new(const struct rfn_archive *full, const struct rfn_archive *reduced,
                       void (*progress)(void *context, double share), void *context,
                       struct rfn_comparison **comparison, const struct rfn_archive **concerned,
                       struct rfn_diag *diag);
void rfn_comparison_free(struct rfn_comparison *comparison);

/* Of an archive that has times: what one pass over it found. */
struct rfn_run_times rfn_run_times_of(const struct rfn_profile *profile,
                                      const struct rfn_waits *waits);

#pragma GCC visibility pop

#endif
