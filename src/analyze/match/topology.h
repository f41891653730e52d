/* topology.h - who is whose neighbour: topologies of communicators.
 *
 * A neighbourhood collective waits for its neighbours only, and who they are stands in the call
 * that made the communicator. Cartesian topologies are kept as their dimensions, and neighbours
 * computed when asked for; graphs that each rank tells in full are kept once; those whose ranks
 * tell parts fill up as the ranks enter. A duplicate shares its parent's topology.
 */
#ifndef RFN_ANALYZE_MATCH_TOPOLOGY_H
#define RFN_ANALYZE_MATCH_TOPOLOGY_H

#include "analyze/match/call_words.h"

struct rfn_topologies;

/* Whether the communicators that the function makes have a topology, or that of their parent. */
static inline bool rfn_makes_topology(const struct rfn_call *call)
{
    switch (call->operation) {
    case RFN_MPI_Cart_create:
    case RFN_MPI_Cart_sub:
    case RFN_MPI_Graph_create:
    case RFN_MPI_Dist_graph_create:
    case RFN_MPI_Dist_graph_create_adjacent:
    case RFN_MPI_Comm_dup:
    case RFN_MPI_Comm_dup_with_info:
    case RFN_MPI_Comm_idup:
    case RFN_MPI_Comm_idup_with_info:
        return true;
    default:
        return false;
    }
}

enum { RFN_DIMS_MAX = 64 /* more than any number of ranks has, beside dimensions of 1 */ };

/* NULL when out of memory. The archive must stay open. */
struct rfn_topologies *rfn_topologies_new(const struct rfn_archive *archive);
void rfn_topologies_free(struct rfn_topologies *topologies);

/* Whether calls of this function have to be shown to rfn_topologies_event. */
bool rfn_topologies_concerns(const struct rfn_topologies *topologies, uint32_t function);

/* A call of `rank` (in MPI_COMM_WORLD) enters. The calls of one rank have to come in their order.
 * What makes no sense is left out. RFN_E_NOMEM. */
int rfn_topologies_event(struct rfn_topologies *topologies, const struct rfn_call_event *event);

/* The ranks in comm whose data `rank_in_comm` receives in a neighbourhood collective, each once.
 * NULL and *n = 0 when there are none or they are not known. Borrowed until the next call on
 * topologies. */
const uint32_t *rfn_topology_sources(struct rfn_topologies *topologies, int64_t comm,
                                     int64_t rank_in_comm, size_t *n);

/* A communicator may list any number of processes of other jobs: whether there are so few that an
 * analysis can keep something for each. */
static inline bool rfn_comm_countable(const struct rfn_archive *archive, uint32_t comm)
{
    const struct rfn_comm_info *info = rfn_archive_comm(archive, comm);
    uint64_t known = rfn_archive_run(archive)->ranks;
    return (uint64_t)info->size + info->remote_size <= known * 8 + 1024;
}

#endif
