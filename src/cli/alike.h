/* alike.h - kinds of ranks: those that call the same paths, and exchange messages with as many
 * others.
 *
 * Coarser than the main clusters of refrain/clusters.h, for people: calls may come in another
 * order, and the corners of a grid are one kind, whichever calls they leave out. Where ranks that
 * call the same paths have too many different numbers of partners (drawn at random, say), these do
 * not tell kinds apart; nor from how many a rank gets messages where some ranks are missing.
 */
#ifndef RFN_CLI_ALIKE_H
#define RFN_CLI_ALIKE_H

#include "refrain/clusters.h"
#include "refrain/profile.h"

#include <stddef.h>

struct rfn_alike_range {
    uint64_t least, most; /* of a rank */
};

struct rfn_alike_kind {
    const uint32_t *ranks; /* ascending */
    uint32_t n_ranks;
    uint32_t orders;                            /* main clusters that they are of */
    struct rfn_alike_range sends_to, gets_from; /* how many ranks */
    struct rfn_alike_range messages;            /* sent */
    uint64_t sent_bytes, collective_bytes;      /* of all of them, as in refrain/profile.h */
    int64_t mpi_ns, outside_ns;                 /* 0 without times */
    const uint64_t *calls; /* ascending: see rfn_alike_function, rfn_alike_path */
    size_t n_calls;
};

struct rfn_alike {
    struct rfn_alike_kind *kinds; /* most ranks first, then by the lowest rank */
    size_t n;
    uint32_t n_ranks; /* of all kinds: those that are readable */
    /* What the above point into. */
    uint32_t *ranks;
    uint64_t *calls;
};

/* RFN_E_NOMEM. To be released in any case. */
int rfn_alike_init(struct rfn_alike *alike, const struct rfn_clustering *clustering,
                   const struct rfn_profile *profile);
void rfn_alike_release(struct rfn_alike *alike);

static inline uint32_t rfn_alike_function(uint64_t call)
{
    return (uint32_t)(call >> 32);
}

static inline uint32_t rfn_alike_path(uint64_t call)
{
    return (uint32_t)call;
}

/* Calls of a kind that another one does not make: the first `most` of them to `calls`; how many
 * there are in all. */
size_t rfn_alike_only(const struct rfn_alike_kind *kind, const struct rfn_alike_kind *other,
                      uint64_t *calls, size_t most);

#endif
