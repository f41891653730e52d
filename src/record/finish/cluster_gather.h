/* cluster_gather.h - what alike ranks did is stored once (doc/clustering.md, Clusters in archives):
 * small structures and values come to rank 0, of each shape those of the first stream and of other
 * groups only the numbers that may differ; rank 0 makes of these what every group would write, and
 * of that CLUSTERS where they are shorter.
 */
#ifndef RFN_RECORD_FINISH_CLUSTER_GATHER_H
#define RFN_RECORD_FINISH_CLUSTER_GATHER_H

#include "archive/write/pack.h"
#include "record/finish/parallel_write.h"
#include "reduce/merge/merge.h"

struct rec_finishing;

/* Of all ranks on rank 0, else of this rank and those below it. */
struct rec_cluster_gather {
    struct rfn_tables streams;     /* one: STREAMS */
    struct rfn_tables rank_params; /* by group: words that depend on the rank */
    struct rfn_tables numbers; /* by shape: those that may differ, of all groups but the first */
    struct rfn_root_blobs parcels;
};

void rec_cluster_gather_release(struct rec_cluster_gather *together);

/* Collective, after the merge: rank 0 gets what all have, and notes what they have sent. error: so
 * far. RFN_E_NOMEM, RFN_E_EXCHANGE, or the error of a spill. */
int rec_cluster_gather_collect(struct rec_finishing *finish, int error);

/* On rank 0, when all is there: appends STRUCTURE and VALUES of what was brought.
 * RFN_E_EXCHANGE: something is missing; RFN_E_NOMEM. */
int rec_cluster_gather_unfold(const struct rec_cluster_gather *together,
                              const struct rfn_merge *merge, struct rec_output *chunks);

/* On rank 0, when all is there: appends USAGE; nothing if no rank has any. RFN_E_NOMEM. */
int rec_cluster_gather_usage(const struct rec_cluster_gather *together, struct rfn_buf *payload);
/* The same of CORES. */
int rec_cluster_gather_cores(const struct rec_cluster_gather *together, struct rfn_buf *payload);

/* What became of it. */
struct rec_clustered {
    int error;       /* why all is as it was; 0 also where clusters do not take fewer bytes */
    uint64_t n;      /* groups that are in clusters */
    unsigned merged; /* of forced_roles: those of which some rank has another word now */
    uint64_t held;   /* bytes of memory that it took for a while */
};

/* Makes chunks those that take fewer bytes: CLUSTERS instead of some RANK_PARAMS, STRUCTURE and
 * VALUES. front: the chunks that stand before them in the file; forced_roles: parameters that do
 * not tell groups apart (archive/write/forced_parameters.h). What fails changes nothing. */
struct rec_clustered rec_cluster_gather_cluster(const struct rfn_merge *merge,
                                                const struct rec_output *front,
                                                unsigned forced_roles, struct rec_output *chunks);

#endif
