/* archive_neighbors.h - with whom a rank exchanges in a neighbourhood collective: in the order of
 * its buffers, each as often as it is named, and nobody where the topology ends.
 *
 * A rank's own calls tell that, except where MPI_Dist_graph_create lets others tell it.
 */
#ifndef RFN_CONVERT_EVENTS_ARCHIVE_NEIGHBORS_H
#define RFN_CONVERT_EVENTS_ARCHIVE_NEIGHBORS_H

#include "analyze/match/call_words.h"
#include "base/map.h"

struct rfn_neighbors {
    int64_t *dims; /* Cartesian: n_dims dimensions, then whether they are periodic; else NULL */
    size_t n_dims;
    int64_t *ranks; /* in the communicator: n_in sources, then n_out destinations; -1: nobody */
    size_t n_in, n_out;
};

/* Communicator of the archive -> struct rfn_neighbors of one rank; all zeros at first. */
struct rfn_neighborhoods {
    struct rfn_map comms;
};

void rfn_neighborhoods_release(struct rfn_neighborhoods *all);
/* A call that rfn_makes_topology is true of. RFN_E_NOMEM. */
int rfn_neighborhoods_event(struct rfn_neighborhoods *all, const struct rfn_call_event *call);
/* NULL: not known. */
const struct rfn_neighbors *rfn_neighborhoods_of(const struct rfn_neighborhoods *all, int64_t comm);

#endif
