/* cluster_parts.h - structures, rank parameters and values of groups that are stored together
 * (refrain-archive(5), CLUSTERS).
 *
 * Groups whose structures differ only in numbers are a shape; numbers and columns of values that
 * are equal are stored once. A part of one group becomes the payload that a chunk of its own would
 * have; its reader then checks all of it.
 */
#ifndef RFN_ARCHIVE_READ_CLUSTER_PARTS_H
#define RFN_ARCHIVE_READ_CLUSTER_PARTS_H

#include "archive/read/cluster_index.h"
#include "archive/read/reader.h"

/* Its id says which groups are in it: those with numbers from `first` to below `end`. */
static inline uint64_t rfn_clusters_id(uint32_t first, uint32_t end)
{
    return (uint64_t)first << 32 | end;
}

/* Whether a group is stored together with others. */
static inline bool rfn_group_is_clustered(const struct rfn_archive *archive, uint32_t group)
{
    return archive->first_set &&
           rfn_chunks_find_range(&archive->chunks, RFN_CHUNK_CLUSTERS, group) >= 0;
}

/* What a CLUSTERS says that its groups would take without it, bytes. Errors of reading. */
int rfn_clusters_before(const struct rfn_archive *archive, const struct rfn_toc_entry *entry,
                        uint64_t *bytes, struct rfn_diag *diag);

/* The group of a value set; only where there are CLUSTERS. */
uint32_t rfn_group_of_set(const struct rfn_archive *archive, uint32_t set);

/* Makes the payload of STRUCTURE, RANK_PARAMS or VALUES (`type`, `id`) of one of its groups.
 * structure: of the group, needed for RANK_PARAMS. common: what several shapes have in common, may
 * be NULL. *payload is to be released after NULL. Returns what is wrong, or NULL.
 * rfn_common_needed: there has to be `common`. */
const char *rfn_cluster_take(const struct rfn_archive *archive,
                             const struct rfn_cluster_index *shapes, uint32_t type, uint32_t id,
                             const struct rfn_structure *structure, const struct rfn_common *common,
                             struct rfn_payload *payload);
extern const char rfn_common_needed[];

/* Calls visit with each formula, once per sequence or part of one that it gives; its text lies in
 * the payload. Returns what is wrong, or NULL; what visit returns is returned, too. */
const char *rfn_cluster_formulas(const struct rfn_archive *archive,
                                 const struct rfn_cluster_index *shapes,
                                 const char *(*visit)(void *context, const char *text, size_t size),
                                 void *context);

#endif
