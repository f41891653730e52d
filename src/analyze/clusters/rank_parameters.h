/* rank_parameters.h - what a rank brings to clustering: the call-path signature of its streams, and
 * the parameters of each call path (doc/clustering.md, Parameters).
 *
 * A rank is all its streams. Call paths are keyed by thread, function and frames. The values of an
 * input are those of the symbols of its call path, in order of first occurrence; of inputs that
 * have too many and therefore lie in columns, the least and the most. In the forms of the paper
 * (paper_signatures.h) a signature stands for all parameters.
 */
#ifndef RFN_ANALYZE_CLUSTERS_RANK_PARAMETERS_H
#define RFN_ANALYZE_CLUSTERS_RANK_PARAMETERS_H

#include "archive/read/reader.h"
#include "base/map.h"
#include "reduce/clusters/clusters.h"

/* Where the call of a path's key comes from. */
struct rfn_parameter_path {
    uint32_t thread, function, path;
};

struct rfn_rank_parameters;

/* NULL: out of memory. The archive is borrowed. */
struct rfn_rank_parameters *rfn_rank_parameters_new(const struct rfn_archive *archive,
                                                    struct rfn_cluster_form form);
void rfn_rank_parameters_free(struct rfn_rank_parameters *parameters);

/* Reads the streams first to end - 1, which are all of one rank, and makes a set of clusters of it.
 * RFN_E_NOMEM, RFN_E_UNSUPPORTED, and the errors of reading. */
int rfn_rank_parameters_read(struct rfn_rank_parameters *parameters, uint32_t first, uint32_t end,
                             struct rfn_clusters *clusters, struct rfn_diag *diag);

/* A field's path; NULL when there is none. */
const struct rfn_parameter_path *
rfn_rank_parameters_path(const struct rfn_rank_parameters *parameters, uint64_t key);
/* The call paths of the first rank that was read with a signature, in order of the first call. */
const uint64_t *rfn_rank_parameters_calls(const struct rfn_rank_parameters *parameters,
                                          uint64_t signature, size_t *n);
/* Of which inputs of the ranks that were read only the least and the most is known. */
struct rfn_cluster_extremes
rfn_rank_parameters_extremes(const struct rfn_rank_parameters *parameters);
/* The rank of a world rank in the communicator of a PEER field; -1 when it is in none. */
int64_t rfn_rank_parameters_place(const struct rfn_rank_parameters *parameters, uint32_t rank,
                                  int64_t comm);

#endif
