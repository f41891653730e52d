/* collectives.h - joins collective calls over their ranks, and measures who waited in them.
 *
 * Calls are counted on *objects*: a communicator, a file, the beginning or the end of the run, the
 * starts of a persistent call. The n-th call on an object of one rank is the n-th of every other. A
 * rank takes part when the call is entered, which gives it a part in an *instance*; it is asked how
 * long it waited when the call leaves, or the one that completes it; and then it is let go. An
 * instance lives until all its ranks have let it go.
 */
#ifndef RFN_ANALYZE_MATCH_COLLECTIVES_H
#define RFN_ANALYZE_MATCH_COLLECTIVES_H

#include "analyze/match/match_point.h"
#include "analyze/match/topology.h"
#include "event/calls.h"

/* One rank's part in a collective call. */
struct rfn_share {
    uint32_t instance;
    uint32_t place; /* of the rank in the object: ranks of the (first) group, then of the second */
    bool root, data, none; /* it is the root; it moves data; it only makes the call */
};

struct rfn_collective_wait {
    struct rfn_wait wait;  /* for those who came later */
    struct rfn_wait after; /* ... and then, at the root of N x 1, until the last of them had come */
    enum rfn_pattern completion;
    int64_t completion_ns; /* what came after all were there */
    bool in_step;          /* all ranks of the object now are: */
    uint64_t key, count;   /* as a mark of history.h */
};

struct rfn_collectives;

struct rfn_collectives_setup {
    const struct rfn_archive *archive;
    struct rfn_topologies *topologies;
    const bool *absent; /* by rank: nothing of it can be read */
    /* A stream that asked rfn_collectives_ready may get another answer now. */
    void (*wake)(void *context, uint32_t stream);
    /* May be NULL: all ranks of an instance that are there have let it go. RFN_E_NOMEM. */
    int (*ended)(void *context, uint32_t instance);
    void *context;
};

/* NULL: out of memory. What the setup points at is borrowed. */
struct rfn_collectives *rfn_collectives_new(const struct rfn_collectives_setup *setup);
void rfn_collectives_free(struct rfn_collectives *collectives);

/* Objects: numbers, RFN_E_NOTFOUND (calls on it are not joined), RFN_E_NOMEM. */
int64_t rfn_collectives_of_comm(struct rfn_collectives *collectives, int64_t comm);
int64_t rfn_collectives_of_run(struct rfn_collectives *collectives, bool end);
int64_t rfn_collectives_of_file(struct rfn_collectives *collectives, uint32_t rank, int64_t file);
/* For the starts of the persistent call that a member of an object sets up now. */
int64_t rfn_collectives_of_starts(struct rfn_collectives *collectives, uint32_t object,
                                  uint32_t place);
/* The call that a rank has a share in has opened a file, which it calls `file`. RFN_E_NOMEM. */
int rfn_collectives_opened(struct rfn_collectives *collectives, const struct rfn_share *share,
                           uint32_t rank, int64_t file);
/* The place of a rank in an object, RFN_E_NOTFOUND. */
int64_t rfn_collectives_place(const struct rfn_collectives *collectives, uint32_t object,
                              uint32_t rank);

struct rfn_collective_call {
    uint32_t object, place;
    enum rfn_call_kind kind; /* a collective one */
    int64_t root;            /* the word of the call: RFN_ROOT and RFN_PROC_NULL too */
    bool data;
};

/* A rank enters its next call on an object. RFN_E_NOMEM. */
int rfn_collectives_enter(struct rfn_collectives *collectives,
                          const struct rfn_collective_call *call, struct rfn_point here,
                          struct rfn_share *share);
/* 1 if all is there that the share waits for; 0 if not: the stream is woken when more is.
 * RFN_E_NOMEM. */
int rfn_collectives_ready(struct rfn_collectives *collectives, const struct rfn_share *share,
                          uint32_t stream);
/* How long the rank waited in a call from enter_ns to exit_ns: this one, or the one that completes
 * it. To be asked in order of exits. */
struct rfn_collective_wait rfn_collectives_measure(struct rfn_collectives *collectives,
                                                   const struct rfn_share *share, int64_t enter_ns,
                                                   int64_t exit_ns);
/* Which others a rank waits for in a call. */
enum rfn_collective_needs {
    RFN_NEEDS_NOBODY,
    RFN_NEEDS_ALL,
    RFN_NEEDS_DATA, /* who moves data */
    RFN_NEEDS_ROOT,
    RFN_NEEDS_OTHERS,   /* who moves data and is not the root */
    RFN_NEEDS_LOWER,    /* places up to the own one */
    RFN_NEEDS_NEIGHBORS /* these places */
};
/* In the call that ends at exit_ns; *ns: when the last of them had entered. Neighbours are borrowed
 * from the topology. To be asked in order of exits, in place of rfn_collectives_measure. */
enum rfn_collective_needs rfn_collectives_needs(struct rfn_collectives *collectives,
                                                const struct rfn_share *share, int64_t exit_ns,
                                                int64_t *ns, const uint32_t **places,
                                                size_t *n_places);
int rfn_collectives_leave(struct rfn_collectives *collectives, const struct rfn_share *share);
/* The communicator of an instance, -1 if it is of all ranks, and how many places it has. */
int64_t rfn_collectives_comm(const struct rfn_collectives *collectives, uint32_t instance,
                             uint32_t *size);

/* Whether ranks of an instance wait for some places only: in scans and among neighbours. */
bool rfn_collectives_by_place(const struct rfn_collectives *collectives, uint32_t instance);

/* Calls that all their ranks have made, and, at the end of the record, those that not all have. */
void rfn_collectives_count(const struct rfn_collectives *collectives, uint64_t *joined,
                           uint64_t *missing);

#endif
