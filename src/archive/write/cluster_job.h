/* cluster_job.h - what the steps of storing groups of an archive together share
 * (cluster_archive.h).
 *
 *   cluster_groups.c        what groups have in common and take: shapes, sizes, new numbers
 *   cluster_rank_params.c   the words of all members of groups of a shape
 *   cluster_shape.c         packs groups of a shape: structures, values and rank parameters, merged
 *                           or not
 *   cluster_archive.c       the chunks of these, and of what stays
 */
#ifndef RFN_ARCHIVE_WRITE_CLUSTER_JOB_H
#define RFN_ARCHIVE_WRITE_CLUSTER_JOB_H

#include "archive/write/cluster_archive.h"
#include "base/map.h"

struct rfn_clusters_packer; /* archive/write/pack_clusters.h */
struct rfn_common_table;    /* archive/write/pack_common.h */

struct rfn_cluster_group {
    uint32_t number; /* the old one */
    uint32_t shape;  /* in order of the first group that has it */
    uint32_t main;   /* first group whose shape is of that group's main cluster */
    bool alone;
    bool values;           /* are stored with it, else in chunks of their own */
    bool taken;            /* it is in CLUSTERS */
    uint64_t stored, cost; /* of what would be in CLUSTERS */
};

struct rfn_cluster_job {
    const struct rfn_archive *archive;
    const uint32_t *known_shapes; /* NULL: they are to be found, and everything is there */
    struct rfn_rewrite *rewrite;
    struct rfn_expression_finder *finder; /* may be NULL */
    struct rfn_cluster_plan *plan;
    struct rfn_cluster_group *groups; /* in the new order */
    uint32_t *sets, *first_set; /* value sets by group, in order of their first streams: those of
                                   the group with the old number g are sets[first_set[g]] to
                                   sets[first_set[g + 1] - 1] */
    size_t common_room;         /* as in the options */
    struct rfn_common_table *common; /* NULL: there is nothing that shapes could have in common */
    struct rfn_map shapes;
    unsigned roles; /* that are merged */
    struct rfn_diag *diag;
};

int rfn_cluster_no_memory(const struct rfn_cluster_job *job);
/* NULL: there is none. */
const struct rfn_toc_entry *rfn_cluster_chunk(const struct rfn_cluster_job *job, uint32_t type,
                                              uint64_t id);
/* ---- cluster_groups.c ---- */

/* Finds the groups' shapes and what they take, and puts them in the new order. */
int rfn_cluster_list_groups(struct rfn_cluster_job *job);

/* ---- cluster_rank_params.c ---- */

/* The sequences of RANK_PARAMS of groups of one shape, which are as long as all their members. */
struct rfn_cluster_rank_params {
    uint32_t n_members, n_slots;
    struct rfn_rank_value *words; /* per slot, per member */
    bool *of_ranks;
    unsigned *roles;                                /* per slot */
    struct rfn_sought_parameter *parameters;        /* per slot: what it is */
    struct rfn_sought_parameter *number_parameters; /* per number of the structure, */
    size_t n_numbers;                               /* of the first ones */
};

/* Takes the members of a group, `most` at most, as those from `at` on, which becomes the number
 * behind them. shape: whose communicators the calls are to have; NULL: its own. n_members is set;
 * RFN_E_UNSUPPORTED: the group is not of the others' shape, or memory is short while recording. */
int rfn_cluster_take_group(const struct rfn_cluster_job *job, uint32_t group,
                           const struct rfn_structure *shape, uint32_t most,
                           struct rfn_cluster_rank_params *rank_params, uint32_t *at);
void rfn_cluster_rank_params_release(struct rfn_cluster_rank_params *rank_params);

/* ---- cluster_shape.c ---- */

/* Packs the groups from..end - 1 in the new order, which are of one shape. Adds to *merged the
 * roles of which a word became another one. RFN_E_UNSUPPORTED: it cannot be packed, and is to stay
 * as it is. */
int rfn_cluster_add_shape(const struct rfn_cluster_job *job, struct rfn_clusters_packer *packer,
                          uint32_t from, uint32_t end, unsigned *merged);

#endif
