/* spread.h - how far times lie apart, per cluster of ranks and position in their structure.
 *
 * A reduced archive has the times of some iterations, and perhaps of some ranks, which stand for
 * the others'. It keeps the distances of these others' times from each other as a spread: over all
 * ranks of a cluster and all executions, of the time before each call and of the time in it. The
 * spread of an archive that has none is computed from its times. Both are equal, but for reduced
 * archives that lost it (parts of others, and merged ones): theirs is the spread of
 * representatives.
 *
 * The cluster of a thread are all threads with the same call sites (function and call path) in the
 * order in which they first met them. A position is a call site after a call site, the one of the
 * thread's event before: of a loop around a call the first iteration is one, and the others are
 * another. Events after sites that take little of a call site's events and time are one position.
 */
#ifndef REFRAIN_SPREAD_H
#define REFRAIN_SPREAD_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

/* Times are in nanoseconds, and rounded down to their 8 highest binary digits, as are numbers in
 * bins. Bin 0 has the times of 0 ns, bin b those from 2^(b-1) to below 2^b. */
struct rfn_time_spread {
    uint64_t n; /* times; without any all is 0 */
    uint64_t min_ns, max_ns, mean_ns, deviation_ns;
    const uint64_t *bins; /* n_bins of them: how many times */
    uint32_t first_bin, n_bins;
};

enum rfn_spread_after {
    RFN_AFTER_ANY,  /* all events of the call site */
    RFN_AFTER_SITE, /* those after another one */
    RFN_AFTER_REST  /* those after none of the sites that the positions before this one name, and
                       threads' first events */
};

struct rfn_position_spread {
    uint32_t cluster, function, path;
    enum rfn_spread_after after;
    uint32_t after_function, after_path; /* of RFN_AFTER_SITE */
    bool failed_poll;              /* the site's runs of failed polls, which are one event each */
    struct rfn_time_spread before; /* since the exit of the thread's event before; its first event
                                      has no time before it */
    struct rfn_time_spread duration;
};

struct rfn_spread_cluster {
    const uint32_t *streams; /* n_streams of them, in ascending order; borrowed */
    uint32_t n_streams;
    uint64_t counted; /* streams whose times the spread has: all of them, save where ranks recorded
                         in different ways */
};

struct rfn_time_spreads;

/* From the spread that the archive keeps, or else from its times. *spreads is the caller's, to be
 * freed before the archive is closed. RFN_E_UNSUPPORTED: it has no times; errors of
 * rfn_cursor_next. */
int rfn_time_spreads_new(const struct rfn_archive *archive, struct rfn_time_spreads **spreads,
                         struct rfn_diag *diag);
void rfn_time_spreads_free(struct rfn_time_spreads *spreads); /* may be NULL */

bool rfn_time_spreads_kept(const struct rfn_time_spreads *spreads); /* by the archive */
uint32_t rfn_time_spreads_clusters(const struct rfn_time_spreads *spreads);
struct rfn_spread_cluster rfn_time_spreads_cluster(const struct rfn_time_spreads *spreads,
                                                   uint32_t cluster);
/* *n positions that have events, in order of clusters and call sites. Borrowed. */
const struct rfn_position_spread *rfn_time_spreads_positions(const struct rfn_time_spreads *spreads,
                                                             size_t *n);

#pragma GCC visibility pop

#endif
