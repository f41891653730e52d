/* pack_clusters.h - writes the payload CLUSTERS: structures, rank parameters and values of groups
 * whose structures differ only in numbers (refrain-archive(5); cluster_parts.h reads it).
 */
#ifndef RFN_ARCHIVE_WRITE_PACK_CLUSTERS_H
#define RFN_ARCHIVE_WRITE_PACK_CLUSTERS_H

#include "archive/read/rank_sequence.h"
#include "archive/write/pack_common.h"
#include "base/buf.h"
#include "base/map.h"

/* A payload, borrowed. */
struct rfn_pack_bytes {
    const uint8_t *data;
    size_t size;
};

/* Groups of one shape, in order: all their STRUCTUREs consist of equally many numbers, all VALUES
 * of equally many columns. All is borrowed. */
struct rfn_pack_shape {
    uint32_t n_groups, n_sets, n_members, n_slots;
    const struct rfn_pack_bytes *structures;  /* per group */
    const uint32_t *ranks;                    /* of each group's lowest stream */
    const struct rfn_pack_bytes *values;      /* per value set; n_sets is 0 if they are in VALUES */
    const struct rfn_rank_value *rank_params; /* per sequence of RANK_PARAMS, per member */
    const bool *of_ranks;                     /* per sequence: words are ranks */
    /* Users' expressions, or NULL: per number of a STRUCTURE (name NULL: it is no parameter) and
     * per sequence of RANK_PARAMS what it is. */
    struct rfn_expression_finder *finder;
    const struct rfn_sought_parameter *number_parameters, *slot_parameters;
    size_t n_number_parameters; /* of the first numbers */
};

/* How the numbers of a shape's first STRUCTURE are written: as they are, or, where they can, as
 * references to what is common to several shapes. */
enum rfn_clusters_form { RFN_CLUSTERS_PLAIN, RFN_CLUSTERS_COMMON, RFN_CLUSTERS_FORMS };

struct rfn_clusters_packer {
    struct rfn_common_table *common; /* borrowed; NULL: there is only the plain form */
    uint32_t n_shapes;
    struct rfn_buf directory[RFN_CLUSTERS_FORMS], shapes[RFN_CLUSTERS_FORMS];
    struct rfn_buf columns;
    struct rfn_map column_numbers; /* by hash of the column */
    uint64_t n_columns;
};

void rfn_clusters_packer_release(struct rfn_clusters_packer *packer);

/* RFN_E_NOMEM; RFN_E_UNSUPPORTED: the payloads are not as said above. After an error there is
 * nothing more to do than to release the packer. */
int rfn_clusters_add(struct rfn_clusters_packer *packer, const struct rfn_pack_shape *shape);

/* The payload of all shapes in a form. before: bytes of the chunks that it stands for.
 * RFN_E_NOMEM. */
int rfn_clusters_pack(const struct rfn_clusters_packer *packer, enum rfn_clusters_form form,
                      uint64_t before, struct rfn_buf *out);

#endif
