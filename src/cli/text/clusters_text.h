/* clusters_text.h - clusters of ranks, for people and as JSON. */
#ifndef RFN_CLI_TEXT_CLUSTERS_TEXT_H
#define RFN_CLI_TEXT_CLUSTERS_TEXT_H

#include "cli/text/print_text.h"
#include "refrain/clusters.h"

#include <jansson.h>

/* "0-15", "0-12 by 4", "9-14, 6 times 8 apart"; several with "; " between them. */
void rfn_rank_blocks_append(struct rfn_text *text, const struct rfn_rank_block *blocks,
                            size_t n_blocks);
/* "rank + 1", "(rank + 1) mod 16", "rank of (i, j + 1) round a 4 x 4 grid". */
void rfn_expression_append(struct rfn_text *text, const struct rfn_rank_expression *expression);

/* A page, with an empty line before it. top: the most lines of each list, or 0 for a page that can
 * be looked over. */
void rfn_clusters_append(struct rfn_text *out, const struct rfn_archive *archive,
                         const struct rfn_clustering *clustering, uint64_t top);
/* What clustering cost; nothing for one rank. */
void rfn_clustering_cost_append(struct rfn_text *out, const struct rfn_clustering_cost *cost);
/* Sets clustering_cost. */
void rfn_json_clustering_cost(json_t *value, const struct rfn_clustering_cost *cost);
/* Sets main_clusters, sub_clusters and sub_clusters_after_expressions; null without clustering. */
void rfn_json_cluster_counts(json_t *value, const struct rfn_clustering *clustering);
/* Sets clusters, and what they do not tell: unclustered_ranks and compared_by_extremes. */
void rfn_json_clusters(json_t *value, const struct rfn_archive *archive,
                       const struct rfn_clustering *clustering);

#endif
