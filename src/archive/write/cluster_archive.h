/* cluster_archive.h - which groups of an archive are stored together, and the chunks of that
 * (doc/clustering.md, Clusters in archives).
 */
#ifndef RFN_ARCHIVE_WRITE_CLUSTER_ARCHIVE_H
#define RFN_ARCHIVE_WRITE_CLUSTER_ARCHIVE_H

#include "archive/write/rewrite.h"
#include "reduce/clusters/rank_expression.h"

/* Groups of a shape get numbers that follow each other, and value sets numbers in their order. */
struct rfn_cluster_plan {
    uint32_t *groups, *sets; /* new numbers by old ones */
    uint32_t n_together;     /* groups that are stored together */
    unsigned merged_roles;   /* of forced_roles: those of which a word became another one */
    size_t held;             /* bytes of memory for what shapes have in common and for windows in
                                both forms, for a while */
};

/* All may be 0 or NULL: then everything is there, and nothing is lost. */
struct rfn_cluster_options {
    const uint32_t *shapes; /* of an archive that is being made: of each group its shape, ascending;
                               groups whose structures or values are not there stay alone */
    unsigned forced_roles;  /* parameters that no longer tell the groups of a shape apart
                               (forced_parameters.h), where groups are stored together */
    struct rfn_expression_finder *finder; /* users' expressions; it counts what is stored */
    size_t common_room; /* bytes of memory for what shapes have in common; 0: any */
};

void rfn_cluster_plan_release(struct rfn_cluster_plan *plan);

/* Adds the chunks that have structures, rank parameters and values to the new archive, together
 * where that is shorter, else as they are, and plans the numbers that STREAMS is to have. The
 * archive is whole; if it has CLUSTERS, their contents are joined again. Errors of reading,
 * RFN_E_NOMEM, RFN_E_IO (the temporary file); to be released even so. */
int rfn_cluster_archive(const struct rfn_archive *archive,
                        const struct rfn_cluster_options *options, struct rfn_rewrite *rewrite,
                        struct rfn_cluster_plan *plan, struct rfn_diag *diag);

/* Adds STREAMS to the new archive, with the numbers of the plan or with those that there were. */
struct rfn_cluster_streams {
    int (*add)(void *context, bool clustered);
    void *context;
};

/* The same only where the file becomes smaller, new numbers in STREAMS included: 1. Else nothing is
 * added, and the plan means nothing: 0. Errors as above, and those of `streams`. */
int rfn_cluster_if_smaller(const struct rfn_archive *archive,
                           const struct rfn_cluster_options *options, struct rfn_rewrite *rewrite,
                           struct rfn_cluster_plan *plan, const struct rfn_cluster_streams *streams,
                           struct rfn_diag *diag);

#endif
