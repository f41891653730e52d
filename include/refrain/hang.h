/* hang.h - why a job hangs: the call that each rank is in, the ranks that it waits for, and the
 * fault.
 *
 * An archive that was made of journals (refrain/journal.h) knows what each thread was doing when
 * its record ends. Counts of messages and collective calls tell which receives have no message, and
 * which ranks have not come to a collective call. The rules for AND-OR graphs, where all waits of a
 * rank must end, or any one, find ranks that wait for each other.
 *
 * Checkpoints of ranks are made at different moments, up to a second apart: in a job that does not
 * hang, waits that seem to last may be over long since.
 */
#ifndef REFRAIN_HANG_H
#define REFRAIN_HANG_H

#pragma GCC visibility push(default)

#include "refrain/open_calls.h"

enum rfn_hang_what {
    RFN_HANG_SEND,       /* a message that is to be received */
    RFN_HANG_RECEIVE,    /* a message that is to come */
    RFN_HANG_COLLECTIVE, /* ranks that are to come to a collective call */
    RFN_HANG_LOCK,       /* ranks that hold a lock of a window */
    RFN_HANG_POST,       /* ranks that are to call MPI_Win_post */
    RFN_HANG_COMPLETE,   /* ranks that are to call MPI_Win_complete */
    RFN_HANG_END         /* ranks that are to come to MPI_Finalize */
};

/* The communicator of a place (rfn_hang_wait): -1 of none. */
static inline int64_t rfn_hang_place_comm(int64_t place)
{
    return place < 0 ? -1 : place & UINT32_MAX;
}

/* Something that a thread waits for. */
struct rfn_hang_wait {
    enum rfn_hang_what what;
    int64_t peer;            /* world rank of a message's other end; -1: any, or collective */
    int64_t tag;             /* of a message; RFN_ANY */
    int64_t comm;            /* number for rfn_archive_comm; -1: none */
    int64_t place;           /* COLLECTIVE: comm, or a window or file, which have greater numbers;
                                LOCK to COMPLETE: a window */
    int64_t target;          /* LOCK: the rank in comm that it is of */
    bool exclusive;          /* LOCK */
    uint32_t function, path; /* of the call that sends, receives, or is collective */
    bool ready;              /* the message has been sent, or all ranks have come */
};

/* What a thread does. */
struct rfn_hang_thread {
    uint32_t stream, rank, thread;
    bool known; /* else nothing of what follows */
    enum rfn_open_kind kind;
    uint32_t function, path; /* of the call that it is in, or was in last */
    int64_t since_ns, until_ns;
    uint64_t polls;
    bool any;              /* one of the waits is enough to go on */
    bool requests_unknown; /* it waits for requests that are not known */
    struct rfn_hang_wait *waits;
    size_t n_waits;
    struct rfn_hang_wait *posted; /* other receives that it has begun */
    size_t n_posted;
    uint32_t *ranks; /* that it waits for, ascending */
    size_t n_ranks;
    bool stuck; /* it cannot go on whatever the ranks do that are not stuck */
};

enum rfn_hang_fault {
    RFN_HANG_DISAGREE,     /* ranks have come to different collective calls */
    RFN_HANG_OTHER_ORDER,  /* ranks make calls at two places in different orders */
    RFN_HANG_OTHER_TAG,    /* a receive has no message, but there is one with another tag */
    RFN_HANG_OTHER_COMM,   /* the same on another communicator */
    RFN_HANG_OTHER_SOURCE, /* the same from another rank */
    RFN_HANG_NOT_SENT,     /* the rank that should send is in MPI_Finalize */
    RFN_HANG_NOT_RECEIVED, /* the rank that should receive is */
    RFN_HANG_CYCLE,        /* ranks wait for each other */
    RFN_HANG_WAITED_FOR    /* others wait for a rank that does not wait, or has no record */
};

/* Ranks whose collective calls are alike. */
struct rfn_hang_calls {
    uint32_t function, path; /* of the lowest of them */
    int64_t root, count;     /* -1: there is none */
    uint32_t *ranks;
    size_t n;
};

struct rfn_hang_finding {
    enum rfn_hang_fault fault;
    uint32_t thread;               /* index of threads: who waits; WAITED_FOR: who is waited for */
    uint32_t rank;                 /* of that thread; of WAITED_FOR there may be no thread */
    struct rfn_hang_wait wait;     /* of messages */
    int64_t found;                 /* OTHER_TAG, COMM, SOURCE: the tag, communicator or world rank;
                                      OTHER_ORDER: the second place */
    int64_t from;                  /* of that message, the world rank that sent it */
    uint32_t function, path;       /* and the call that did */
    size_t n_alike;                /* waits with this fault, equal calls and tags */
    struct rfn_hang_calls *groups; /* DISAGREE, OTHER_ORDER: largest last */
    size_t n_groups;
    uint32_t
        *cycle; /* CYCLE: indices of threads, each waits for the next, the last for the first */
    size_t n_cycle;
    size_t n_waiting; /* CYCLE, WAITED_FOR: threads that wait for it, directly or not */
};

struct rfn_hang {
    struct rfn_hang_thread *threads; /* by stream */
    size_t n_threads;
    struct rfn_hang_finding *findings; /* causes before their effects */
    size_t n_findings;
    int64_t first_ns, last_ns; /* since 1970: of the checkpoints */
    size_t n_outside, n_stuck; /* threads that are not in MPI, or stuck */
    bool uncounted; /* recording was off at times: which calls and messages are missing is not
                       known, and only WAITED_FOR is found */
};

/* RFN_E_UNSUPPORTED: the archive does not know what threads were doing; RFN_E_NOMEM, RFN_E_CORRUPT,
 * RFN_E_IO. To be freed unless it fails. */
int rfn_hang_find(const struct rfn_archive *archive, struct rfn_hang **hang, struct rfn_diag *diag);
void rfn_hang_free(struct rfn_hang *hang); /* may be NULL */

#pragma GCC visibility pop

#endif
