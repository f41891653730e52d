/* merge_archives.h - makes one archive of several that have different ranks of one run; or, of one,
 * an archive of some of its ranks (refrain-merge(1)).
 */
#ifndef REFRAIN_MERGE_ARCHIVES_H
#define REFRAIN_MERGE_ARCHIVES_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

/* Which ranks are kept. */
struct rfn_rank_choice {
    bool (*keeps)(const void *context, uint32_t rank);
    const void *context;
};

/* Whether events of alike ranks are stored once, where that is smaller, as rfn_reduce does it. */
enum rfn_merge_clusters {
    RFN_MERGE_AS_BEFORE, /* if it was so in any of the archives (struct rfn_run, clustered) */
    RFN_MERGE_CLUSTERED,
    RFN_MERGE_UNCLUSTERED
};

/* All zeros: the default. */
struct rfn_merge_options {
    const struct rfn_rank_choice *choice; /* NULL: all ranks */
    enum rfn_merge_clusters clusters;
};

struct rfn_merge_result {
    bool clustered;               /* something is stored once */
    bool samples_left_out;        /* an archive has samples of messages */
    uint64_t bytes_before, bytes; /* of all files that were read, and of the new one */
    uint64_t events;
    uint32_t ranks, missing; /* of the run; of these, ranks that the new file does not have */
    char missing_ranks[128]; /* which these are: "3, 5-7"; ends with "..." where they are many */
};

/* Writes an archive with the ranks of n (at least one) archives to `path`, as rfn_reduce does
 * (refrain/trace_profile.h). options: NULL is the default. Definitions, structures, values and
 * times are as they were. Repetitions over several archives are there once. Clusters are made
 * again, with users' expressions of the old clusters. Streams with equal structure and values all
 * have the signature that one of them had; if two such streams had different ones, archives were
 * not signed alike, and no stream of the new one is signed.
 *
 * RFN_E_UNSUPPORTED: the archives are not of one run, or a rank is in two of them, or nothing is
 * kept, or a rank would be kept without the one whose times it shares. RFN_E_INCOMPLETE,
 * RFN_E_CORRUPT: an archive was cut short or is damaged. Other errors as of rfn_reduce. */
int rfn_merge_archives(const struct rfn_archive *const *archives, size_t n,
                       const struct rfn_merge_options *options, const char *path, bool force,
                       struct rfn_merge_result *result, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
