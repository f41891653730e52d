/* cluster_index.h - the payload CLUSTERS, and where what it has lies (refrain-archive(5),
 * CLUSTERS).
 *
 * Its directory and columns are gone through once, when it is read; each part of a shape is then
 * found in logarithmic time.
 */
#ifndef RFN_ARCHIVE_READ_CLUSTER_INDEX_H
#define RFN_ARCHIVE_READ_CLUSTER_INDEX_H

#include "archive/read/chunks.h"

/* No payload is larger than this, nor any that is made of one. */
#ifdef RFN_FUZZING
enum { RFN_CLUSTERS_BYTES_MAX = 1 << 14 };
#else
enum { RFN_CLUSTERS_BYTES_MAX = 1 << 24 };
#endif

/* Where a shape lies. Its parts follow each other; the last ends where the next shape begins. */
struct rfn_shape_place {
    uint32_t first; /* its lowest group */
    uint32_t numbers, rank_params, values;
};

struct rfn_cluster_index {
    struct rfn_payload payload; /* owned */
    uint32_t n;
    struct rfn_shape_place *places; /* n, and where the last ends */
    uint32_t n_columns;
    uint32_t *columns; /* where each begins, and so where the one before it ends */
    bool columns_failed;
};

/* Takes over the payload, of an archive with so many groups. Returns what is wrong, or NULL; to be
 * released even so. */
const char *rfn_cluster_index_read(struct rfn_cluster_index *shapes, uint32_t n_groups,
                                   struct rfn_payload *payload);
void rfn_cluster_index_release(struct rfn_cluster_index *shapes);

/* The shape that has the group, which is one of the payload's. */
const struct rfn_shape_place *rfn_cluster_index_find(const struct rfn_cluster_index *shapes,
                                                     uint32_t group);

#endif
