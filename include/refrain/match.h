/* match.h - which ranks communicate with each other: messages with both their ends, collective
 * calls with their members, calls at windows.
 *
 * One walk over the events of all streams of an archive tells its user, by the functions of struct
 * rfn_match_hooks, what each stream does, in happened-before order: a call leaves after all that it
 * waited for has entered. doc/analysis.md ("Matching") has the rules. Memory grows with the
 * messages and calls under way at one time and with ranks, not with events.
 *
 * - Per stream: gap, enter, leave; gap, enter, leave; ... Between streams: a send enters before the
 *   call leaves that completes its receive; so do all members of a collective call that
 *   synchronizes, before one of them leaves. Where clocks disagree, or the other end is missing,
 *   the walk goes on with the events that there are.
 * - Times are nanoseconds as recorded; in an archive without times they are numbers of events.
 * - All arguments of a hook are borrowed until it returns. A hook returns 0, or a negative error,
 *   which ends the walk.
 */
#ifndef REFRAIN_MATCH_H
#define REFRAIN_MATCH_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"
#include "refrain/event.h"
#include "refrain/volume.h"
#include "refrain/waits.h"

#define RFN_NO_PEER UINT32_MAX

/* Where a call entered. */
struct rfn_match_point {
    uint32_t stream, rank;
    uint64_t event; /* number in its stream */
    int64_t ns;
};

enum rfn_match_what {
    RFN_MATCH_SEND,
    RFN_MATCH_RECEIVE,
    RFN_MATCH_PROBE, /* a message is looked at; a matched probe takes it for a receive that follows
                      */
    RFN_MATCH_COLLECTIVE /* this stream's part in one */
};

/* Something that a call posts, when it enters, or completes, when it leaves. A blocking call does
 * both with the same things. */
struct rfn_match_op {
    enum rfn_match_what what;
    bool cancelled;                      /* it completes without having happened */
    uint32_t peer;                       /* RFN_NO_PEER: not known yet, or collective */
    uint32_t comm;                       /* of the message, where the peer is known: number for
                                            rfn_archive_comm; */
    int64_t tag;                         /* and its tag */
    uint32_t part;                       /* 0; of a partitioned message, its pair of inits among
                                            those of its ranks, communicator and tag, from 1 */
    int64_t bytes;                       /* of the message, as sent; -1: not known yet */
    const struct rfn_match_point *other; /* where the other end was posted; NULL: not known yet */
    uint64_t *user;                      /* the message's slot, first 0; NULL: no message yet */
};

/* The event at hand of a stream. */
struct rfn_match_event {
    uint32_t stream, rank, thread;
    const struct rfn_record *record; /* the call, its words, its recorded times */
    const struct rfn_cursor *cursor; /* for rfn_cursor_list */
    const struct rfn_volume *volume; /* bytes and peers */
    int64_t enter_ns, exit_ns;
    const struct rfn_match_op *ops; /* posted, or completed */
    size_t n_ops;
};

/* One end of a message. */
struct rfn_match_end {
    struct rfn_match_point posted; /* the call that sends or posts, or starts that; of a partitioned
                                      send its last Pready, of a matched receive the probe */
    struct rfn_call_site site;     /* the call that sends, receives, posts or starts that */
    bool ended;                    /* by a call: */
    uint64_t event;                /* the same one, or the one that completed the request */
    struct rfn_call_site end_site; /* where that call is made, */
    int64_t enter_ns, exit_ns;     /* and its times */
};

/* A message that both ends have completed. An end that has not `ended` was freed while it was under
 * way, and nobody knows when it was over. */
struct rfn_match_message {
    struct rfn_match_end sent, received;
    enum rfn_send_mode mode;
    int64_t bytes, tag;
    uint32_t comm;  /* number for rfn_archive_comm */
    uint64_t *user; /* as above */
};

struct rfn_match_member {
    bool entered; /* else its events are missing */
    struct rfn_match_end end;
    int64_t sent_bytes, received_bytes; /* -1: none */
};

/* A collective call that all its members have made and left. */
struct rfn_match_collective {
    uint32_t function; /* that the first of them called */
    int64_t comm;      /* number for rfn_archive_comm; -1: of all ranks, MPI_Init and the like */
    int64_t root;      /* index of members, -1 without */
    const struct rfn_match_member *members; /* by rank in comm; of an inter-communicator's first
                                               group, then of the other */
    uint32_t n_members;
};

/* A call at a window leaves. */
struct rfn_match_one_sided {
    const struct rfn_match_event *event;
    uint32_t comm;   /* whose ranks have the window */
    uint64_t window; /* of those made on comm, from 0 */
    int64_t target;  /* rank in comm that the call names; -1: none, or all */
    /* Its wait, by the patterns of refrain/waits.h: until where another rank fenced, posted,
     * completed or unlocked. ns 0: none that is known. */
    enum rfn_pattern pattern;
    int64_t waited_ns;
    struct rfn_match_point until;
};

/* Any may be NULL. */
struct rfn_match_hooks {
    void *context;
    /* The stream computed between two events; where recording was off for a while, a part before
     * and a part behind that. */
    int (*gap)(void *context, uint32_t stream, int64_t from_ns, int64_t to_ns);
    int (*enter)(void *context, const struct rfn_match_event *event); /* with what it posts */
    int (*leave)(void *context, const struct rfn_match_event *event); /* with what it completes */
    int (*message)(void *context, const struct rfn_match_message *message);
    int (*collective)(void *context, const struct rfn_match_collective *collective);
    int (*one_sided)(void *context, const struct rfn_match_one_sided *one_sided);
    int (*end)(void *context, uint32_t stream, int64_t ns); /* of the stream; its last exit */
};

/* Walks. matching (may be NULL) is told how far events could be joined. Streams that cannot be read
 * to their end end there; the error of the lowest of them is returned after the walk, with diag.
 * Otherwise 0, RFN_E_NOMEM, or what a hook returned. */
int rfn_match_run(const struct rfn_archive *archive, const struct rfn_match_hooks *hooks,
                  struct rfn_matching *matching, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
