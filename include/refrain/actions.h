/* actions.h - what ranks do, without times: the time-independent trace that runs on another machine
 * are simulated from (Markomanolis; doc/prediction.md).
 *
 * A source gives each rank's actions in order: computing as a volume, messages, collective calls,
 * and waits for these. Ranks may be read in any order, each at its own pace. An archive is a
 * source. Its wildcards have the rank that the message came from, its persistent requests are
 * started ones, and a call that completed some requests waits for just these. Time-independent text
 * is another source (SimGrid's dialect and the thesis's).
 */
#ifndef REFRAIN_ACTIONS_H
#define REFRAIN_ACTIONS_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"

enum rfn_action_kind {
    RFN_ACTION_INIT,
    RFN_ACTION_FINALIZE,
    RFN_ACTION_COMPUTE, /* volume */
    RFN_ACTION_SLEEP,   /* seconds */
    RFN_ACTION_SEND,    /* peer, tag, bytes; posts a request unless it blocks */
    RFN_ACTION_RECV,    /* peer, tag, bytes; posts a request unless it blocks */
    RFN_ACTION_PROBE,   /* peer, tag: until such a message is there */
    RFN_ACTION_TEST,    /* one request; does not wait */
    RFN_ACTION_WAIT,    /* the requests, all of them */
    RFN_ACTION_SENDRECV,
    RFN_ACTION_BARRIER,
    RFN_ACTION_BCAST,
    RFN_ACTION_REDUCE,
    RFN_ACTION_ALLREDUCE,
    RFN_ACTION_SCAN,
    RFN_ACTION_EXSCAN,
    RFN_ACTION_GATHER,
    RFN_ACTION_GATHERV,
    RFN_ACTION_SCATTER,
    RFN_ACTION_SCATTERV,
    RFN_ACTION_ALLGATHER,
    RFN_ACTION_ALLGATHERV,
    RFN_ACTION_ALLTOALL,
    RFN_ACTION_ALLTOALLV,
    RFN_ACTION_REDUCE_SCATTER,
    RFN_ACTION_KINDS
};

/* As SimGrid's replay calls it: "allreduce". */
const char *rfn_action_name(enum rfn_action_kind kind);

/* RECV, PROBE: from any rank (text only; archives know the rank). SMPI 3.32 has this number. */
enum { RFN_ACTION_ANY = -555 };

/* Members that a kind does not have are 0. Pointers are the source's, until the rank's next one. */
struct rfn_action {
    enum rfn_action_kind kind;
    bool blocks;      /* SEND, RECV and collective kinds: over when the action is */
    bool synchronous; /* SEND: not over before its receive has begun, whatever its size */
    double volume;    /* COMPUTE; of reductions the computing of a rank in them */
    double seconds;   /* SLEEP */
    int64_t peer;     /* rank in MPI_COMM_WORLD */
    int64_t tag;
    int64_t bytes;         /* of the message; of a collective call the bytes that a rank sends to
                              one other (BCAST, REDUCE...: the buffer) */
    int64_t receive_peer;  /* SENDRECV, */
    int64_t receive_tag;   /* and RECV_BYTES of GATHER, SCATTER, ALLGATHER, ALLTOALL: */
    int64_t receive_bytes; /* what a rank gets from one other */
    uint32_t comm;         /* for rfn_actions_comm; 0: MPI_COMM_WORLD */
    int64_t root;          /* rank in the communicator */
    const int64_t *sends;  /* V kinds: bytes by rank in the communicator, */
    const int64_t *receives;
    int64_t request;         /* the number of the request that it posts; -1: none */
    const int64_t *requests; /* WAIT, TEST: those it waits for */
    size_t n_requests;
    uint32_t type_bytes; /* size of an element, as text names it; 1 in archives */
    uint32_t path;       /* call path in the archive; 0 in text */
    uint32_t activity;   /* COMPUTE of an archive: number of the activity that most of it is */
    uint64_t event;      /* number of the call in its stream; line in text */
};

struct rfn_actions;
struct rfn_activity;

enum rfn_text_dialect {
    RFN_TEXT_ANY,     /* reading: a line that only one of the others has tells which */
    RFN_TEXT_SIMGRID, /* SimGrid 3.32's replay */
    RFN_TEXT_THESIS   /* Markomanolis 2014, Table 3.1 and Figures 3.18 to 3.20 */
};

/* What kind of volume COMPUTE has. */
enum rfn_action_unit {
    RFN_ACTION_FLOPS,
    RFN_ACTION_INSTRUCTIONS,
    RFN_ACTION_CPU_NS,
    RFN_ACTION_WALL_NS
};

/* The activities of COMPUTE actions, by number, as far as they were read; n of them, borrowed until
 * more is read. NULL: the source is text, which does not name them. */
const struct rfn_activity *rfn_actions_activities(const struct rfn_actions *actions, size_t *n);
uint32_t rfn_actions_ranks(const struct rfn_actions *actions);
enum rfn_action_unit rfn_actions_unit(const struct rfn_actions *actions);
/* Members by their rank in MPI_COMM_WORLD; borrowed. NULL for 0, and for numbers not yet seen. */
const int64_t *rfn_actions_comm(const struct rfn_actions *actions, uint32_t comm, uint32_t *n);
/* 1: *action is the rank's next one; 0: it has no more. RFN_E_CORRUPT with line or event in the
 * source's diag, RFN_E_UNSUPPORTED (an action that cannot be told, by name), RFN_E_IO, RFN_E_NOMEM.
 */
int rfn_actions_next(struct rfn_actions *actions, uint32_t rank, struct rfn_action *action);
/* How many calls have been left out so far that take time and are none of these actions: calls on
 * files, and calls that start processes. *first: the function of the first one, or NULL. */
uint64_t rfn_actions_left_out(const struct rfn_actions *actions, const char **first);
/* Whether the rank's actions are here. Files of some ranks only (rfn_actions_of_files) lack the
 * actions of others: rfn_actions_next finds none. */
bool rfn_actions_has(const struct rfn_actions *actions, uint32_t rank);
void rfn_actions_free(struct rfn_actions *actions);

/* Of an archive, which is borrowed. measured: COMPUTE has the times between calls in place of
 * volumes. RFN_E_UNSUPPORTED: streams of threads, no volumes nor times. */
int rfn_actions_of_archive(const struct rfn_archive *archive, bool measured,
                           struct rfn_actions **actions, struct rfn_diag *diag);
/* Of time-independent text: a list with one file per rank or one file for all, or the file itself;
 * plain, .gz or .zst. from: the dialect; RFN_TEXT_ANY: all files are looked through up to the first
 * line that decides. RFN_E_USAGE: a line means different things in the dialects, and none decides.
 */
int rfn_actions_of_text(const char *path, enum rfn_text_dialect from, struct rfn_actions **actions,
                        struct rfn_diag *diag);
/* Of such text in a file per rank. paths: by rank, copied; NULL: that rank is not here. */
int rfn_actions_of_files(const char *const *paths, uint32_t n_ranks, enum rfn_text_dialect from,
                         struct rfn_actions **actions, struct rfn_diag *diag);
/* The dialect of text in a file per rank, for those who have only some of a run's files.
 * RFN_TEXT_ANY: no line decides; *unclear: one means different things, as diag tells. */
int rfn_text_recognize(const char *const *paths, uint32_t n_ranks, enum rfn_text_dialect *dialect,
                       bool *unclear, struct rfn_diag *diag);
/* The rank that the first line of a file of text is of; negative: that line is no action. RFN_E_IO,
 * RFN_E_CORRUPT, RFN_E_INCOMPLETE, RFN_E_UNSUPPORTED, RFN_E_NOMEM. */
int rfn_text_rank(const char *path, int64_t *rank, struct rfn_diag *diag);
/* A hash of all lines of a file of text, the same whether it is compressed. Errors as above. */
int rfn_text_hash(const char *path, uint64_t *hash, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
