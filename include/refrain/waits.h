/* waits.h - why ranks wait: wait states, their causes, the critical path.
 *
 * One pass over the events of all streams in order of time joins every message from send to receive
 * and every collective call over its ranks, from the archive alone, and finds the time that ranks
 * spent waiting for others. doc/analysis.md defines each pattern and tells the algorithm. Memory
 * grows with the messages, requests and collectives under way at one time, with ranks and call
 * paths, not with events.
 *
 * - A wait belongs to the call that had to wait: of nonblocking communication that is the call that
 *   completed it, with the unsuccessful polls right before it. No call waits longer than it takes,
 *   and no time is counted in two patterns.
 * - A cause is an activity of the rank that others waited for: it took longer there than on the
 *   rank that waited, since both were last in step. The waiting of a late rank itself is passed on
 *   to the cause of that wait. Causes add up to the waits that have one.
 */
#ifndef REFRAIN_WAITS_H
#define REFRAIN_WAITS_H

#pragma GCC visibility push(default)

#include "refrain/network.h"
#include "refrain/profile.h"

/* Name in JSON, which stays as it is; words for people, as Scalasca has them. */
#define RFN_PATTERNS(X)                                               \
    X(LATE_SENDER, "late_sender", "late sender")                      \
    X(LATE_RECEIVER, "late_receiver", "late receiver")                \
    X(WRONG_ORDER, "wrong_order", "messages in wrong order")          \
    X(EARLY_REDUCE, "early_reduce", "early reduce")                   \
    X(WAIT_AT_NX1, "wait_at_nx1", "wait at N x 1")                    \
    X(LATE_BROADCAST, "late_broadcast", "late broadcast")             \
    X(WAIT_AT_NXN, "wait_at_nxn", "wait at N x N")                    \
    X(NXN_COMPLETION, "collective_completion", "N x N completion")    \
    X(WAIT_AT_BARRIER, "wait_at_barrier", "wait at barrier")          \
    X(BARRIER_COMPLETION, "barrier_completion", "barrier completion") \
    X(EARLY_SCAN, "early_scan", "early scan")                         \
    X(WAIT_AT_INIT, "wait_at_init", "wait at init")                   \
    X(WAIT_AT_FINALIZE, "wait_at_finalize", "wait at finalize")       \
    X(WAIT_AT_FENCE, "early_fence", "wait at fence")                  \
    X(LATE_POST, "late_post", "late post")                            \
    X(LATE_COMPLETE, "early_wait", "late complete")                   \
    X(LOCK_CONTENTION, "lock_contention", "lock contention")

enum rfn_pattern {
#define X(name, json, words) RFN_##name,
    RFN_PATTERNS(X)
#undef X
        RFN_PATTERN_COUNT
};

/* "late_sender"; "late sender". Static. */
const char *rfn_pattern_name(enum rfn_pattern pattern);
const char *rfn_pattern_words(enum rfn_pattern pattern);

/* Waiting in one pattern at one call path. */
struct rfn_wait_row {
    enum rfn_pattern pattern;
    uint32_t function, path; /* of the call that waited */
    uint64_t count;          /* waits longer than 0 */
    int64_t total_ns, max_ns;
    const int64_t *ns_by_rank; /* n_ranks */
    int64_t wrong_order_ns;    /* of late sender: saved perhaps by another order of receiving, if
                                  the rank then needed only the message it received */
};

/* What a rank does between two events or in one. */
enum rfn_activity_kind {
    RFN_ACTIVITY_COMPUTE,  /* outside MPI, between the call `before` and the call `at` */
    RFN_ACTIVITY_MPI,      /* in the call `at`, not waiting */
    RFN_ACTIVITY_WAIT,     /* in the call `at`, waiting, and nobody can be said to be the cause */
    RFN_ACTIVITY_START,    /* before the rank's first event */
    RFN_ACTIVITY_RECORDING /* the recorder's own work, between two calls */
};
enum { RFN_ACTIVITY_KIND_COUNT = RFN_ACTIVITY_RECORDING + 1 };

/* "compute", "mpi", "wait", "start", "recording". Static. */
const char *rfn_activity_kind_name(enum rfn_activity_kind kind);

struct rfn_call_site {
    uint32_t function, path;
};

struct rfn_activity {
    enum rfn_activity_kind kind;
    struct rfn_call_site before, at; /* before: only of COMPUTE; START and RECORDING have neither */
    uint32_t region;                 /* the innermost region it happened in, or RFN_NO_REGION */
};

/* Whether it is in a call, or in front of one. */
static inline bool rfn_activity_has_call(const struct rfn_activity *activity)
{
    return activity->kind != RFN_ACTIVITY_START && activity->kind != RFN_ACTIVITY_RECORDING;
}

struct rfn_rank_ns {
    uint32_t rank;
    int64_t ns;
};

/* An activity that made others wait, in one pattern, at one call path. */
struct rfn_cause {
    uint32_t activity; /* index of rfn_waits.activities */
    enum rfn_pattern pattern;
    struct rfn_call_site waited;     /* the calls that waited in the end */
    int64_t total_ns;                /* of others' waiting */
    int64_t direct_ns;               /* of that: not passed on by ranks that waited themselves */
    const struct rfn_rank_ns *ranks; /* ranks that did it and what each cost, most first */
    uint32_t n_ranks;
};

/* A part of the critical path. */
struct rfn_critical_row {
    uint32_t activity;
    int64_t ns;          /* on the path */
    double mean_ns;      /* of all ranks that are there, on the path or not */
    double imbalance_ns; /* ns - mean_ns: what balancing this activity could save */
};

/* How far events could be joined. */
struct rfn_matching {
    uint64_t messages;              /* sent, to ranks of the archive */
    uint64_t matched;               /* that were received */
    uint64_t unmatched_sends;       /* without a receive in the archive */
    uint64_t unmatched_receives;    /* without a send */
    uint64_t cancelled;             /* sends and receives */
    uint64_t foreign;               /* sends and receives with processes of another job: in none of
                                       the numbers above */
    uint64_t collectives;           /* calls that all of their ranks have made */
    uint64_t unmatched_collectives; /* calls that not all of their ranks have made */
    uint64_t backward;              /* receives that ended before their send began */
    int64_t backward_max_ns;        /* by how much, at most */
    bool fixed;                     /* and were repaired by the logical clock */
};

struct rfn_waits {
    uint32_t n_ranks;
    bool times;                /* without, there is nothing but the matching */
    struct rfn_wait_row *rows; /* most time first */
    size_t n_rows;
    int64_t pattern_ns[RFN_PATTERN_COUNT];
    int64_t total_ns; /* of all patterns */
    struct rfn_activity *activities;
    size_t n_activities;
    struct rfn_cause *causes; /* most time first */
    size_t n_causes;
    struct rfn_rank_ns *cause_ranks; /* what the causes' `ranks` point into */
    int64_t **spent; /* by activity: what each rank spent in it, whoever waited, of the activities
                        of the costliest causes; NULL of others */
    bool *takes_any; /* by rank: it receives, or probes, with MPI_ANY_SOURCE */
    int64_t unexplained_ns;            /* waits without a cause: completions, missing data */
    struct rfn_critical_row *critical; /* most time first; add up to critical_ns */
    size_t n_critical;
    int64_t critical_ns;    /* length: the run time, where all ranks are there */
    uint32_t critical_rank; /* the last to finish */
    struct rfn_matching matching;
    uint32_t unreadable;  /* streams that could not be read in full */
    int error;            /* why the lowest of them could not, 0 if all could */
    struct rfn_diag diag; /* what goes with error */
};

struct rfn_behaviour;

/* One wait, and who ended it. */
struct rfn_wait_seen {
    uint32_t stream, rank;
    enum rfn_pattern pattern;
    int64_t from_ns, to_ns; /* since the start of the run */
    uint32_t late_stream;   /* whose doing ended the wait, at late_ns; RFN_NO_STREAM: nobody's that
                               is known */
    int64_t late_ns;
};

#define RFN_NO_STREAM UINT32_MAX

/* Is told of each wait that is counted, in no particular order across streams. Returns 0, or a
 * negative error, which ends the analysis. */
struct rfn_wait_watch {
    void *context;
    int (*waited)(void *context, const struct rfn_wait_seen *wait);
};

struct rfn_waits_options {
    const char *region; /* count only what happens inside of this region of the program; NULL, and a
                           name that no region has: everything */
    bool fix_clocks;    /* repair receives that end before their send begins, by a logical clock */
    const struct rfn_network *network; /* measured where the program ran; NULL: as assumed */
    struct rfn_profile **profile; /* if not NULL: here the profile goes, to be freed, made of the
                                     same events, as recorded, on the way */
    /* If not NULL: the same for patterns of behaviour (refrain/behaviour.h), of some steps (NULL
     * without times), */
    struct rfn_behaviour **behaviour;
    bool all_steps;                     /* or of all, which takes much longer */
    const struct rfn_wait_watch *watch; /* NULL: none */
};

/* Finds the waits; *waits is to be freed. Data that cannot be read are left out and counted.
 * progress (may be NULL) is told the share done, 0 to 1. Errors: RFN_E_NOMEM. */
int rfn_waits_new(const struct rfn_archive *archive, const struct rfn_waits_options *options,
                  void (*progress)(void *context, double share), void *context,
                  struct rfn_waits **waits, struct rfn_diag *diag);
void rfn_waits_free(struct rfn_waits *waits);

#pragma GCC visibility pop

#endif
