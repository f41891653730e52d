/* mpi_player.h - one rank's replay of one archive.
 *
 * The player reads the rank's events (the survey has found before that they can be replayed),
 * stands in for what was computed between them (mpi_pace.h), and issues each call with what was
 * recorded: handlers of operations, in mpi_messages.c, mpi_requests.c, mpi_collectives.c,
 * mpi_comms.c, mpi_windows.c. What the player does for itself it does by the names PMPI_*, so that
 * a recorder in front of MPI sees the calls of the program and no others.
 *
 * MPI's own errors are fatal, as is MPI's default: no rank is left waiting.
 */
#ifndef RFN_REPLAY_MPI_PLAYER_H
#define RFN_REPLAY_MPI_PLAYER_H

#include "analyze/match/lookahead.h"
#include "analyze/match/operations.h"
#include "analyze/match/survey.h"
#include "refrain/completion.h"
#include "replay/buffers.h"
#include "replay/have.gen.h" /* RPL_HAVE_MPI_X: this MPI has MPI_X */
#include "replay/message_ids.h"
#include "replay/mpi_pace.h"

#include <mpi.h>

enum { RPL_KEPT = 9 };

/* A recorded request, by the tracker's id. */
struct rpl_request {
    MPI_Request request;
    MPI_Request once; /* of a persistent one: what stands for this start, else null */
    MPI_Datatype type;
    void *buffer;
    void *kept[RPL_KEPT]; /* what else MPI may read or write until it completes */
    int64_t bytes;        /* that are sent, or room for what is received */
    int64_t peer, tag, comm;
    uint64_t stamp;
    uint32_t function;
    bool stamped; /* what is received is to have the stamp */
    bool posted;  /* a cancelled one is not, but stands where it does not match */
    bool partitioned;
    bool active; /* not completed, or started */
};

/* A message of a matched probe. */
struct rpl_message {
    MPI_Message message;
    uint64_t stamp;
    bool stamped;
};

/* What the calls so far have made, by the numbers that the recorder gave it. */
struct rpl_objects {
    MPI_Comm *comms;
    bool *owned; /* communicators made here, and not freed yet */
    MPI_Group *groups;
    MPI_Win *wins;
    struct rpl_message *messages;
    size_t groups_capacity, wins_capacity, messages_capacity;
};

struct rpl_requests {
    struct rpl_request *of; /* by id */
    size_t capacity;
    struct rpl_request *orphans; /* freed while they were active */
    size_t n_orphans, orphans_capacity;
};

/* What MPI uses beside the buffers of requests. */
struct rpl_memory {
    void *bsend;   /* the attached buffer */
    void **access; /* pairs, the last in use: what one-sided accesses read and write */
    size_t n_access, access_capacity;
};

/* Room for the arguments of one call. */
struct rpl_room {
    MPI_Request *handles;
    MPI_Status *statuses;
    size_t handles_capacity, statuses_capacity;
    struct rpl_large_type *large;
    size_t n_large, large_capacity;
};

struct rpl_outcome {
    uint64_t wrong; /* messages that were not as recorded */
    char first_wrong[256];
    double seconds;
};

/* One rank of one archive, before a run. */
struct rpl_role_of_rank {
    const struct rfn_treatments *operations;
    const struct rfn_volumes *volumes;
    const struct rfn_survey *survey;
    uint32_t stream;
    int64_t begin_ns; /* of the run: when the first rank left MPI_Init */
    struct rpl_pace_options pace;
};

struct rpl_player {
    const struct rpl_role_of_rank *role;
    const struct rfn_archive *archive;
    struct rfn_diag *diag;
    uint32_t rank, thread;
    struct rfn_cursor *cursor;
    struct rfn_tracker *tracker;
    struct rfn_fates *fates; /* NULL: none needed */
    struct rfn_treat_objects known;
    struct rpl_buffers pool;
    struct rpl_message_ids stamps;
    struct rpl_pace pace;
    MPI_Comm nowhere; /* of this process alone: what is posted here matches nothing */
    struct rpl_objects made;
    struct rpl_requests requests;
    struct rpl_memory memory;
    struct rpl_room room;
    struct rfn_request_effects effects; /* of the event at hand */
    struct rfn_volume volume;           /* of the event at hand */
    struct rpl_outcome outcome;
};

typedef int rpl_handler(struct rpl_player *player, const struct rfn_call_event *call);

struct rpl_named_handler {
    enum rfn_operation operation;
    rpl_handler *handler;
};

/* The handlers of a file, ended by a NULL handler. */
extern const struct rpl_named_handler rpl_message_handlers[];
extern const struct rpl_named_handler rpl_request_handlers[];
extern const struct rpl_named_handler rpl_collective_handlers[];
extern const struct rpl_named_handler rpl_comm_handlers[];
extern const struct rpl_named_handler rpl_window_handlers[];

/* For rfn_treatments_init. */
bool rpl_can_issue(enum rfn_operation operation, enum rfn_call_variant variant);

/* Collective over all ranks. Fills seconds and what was wrong. 0, or an error of this rank's, which
 * the others do not know of. */
int rpl_play(const struct rpl_role_of_rank *role, struct rpl_player *player, struct rfn_diag *diag);

/* ---- for handlers ---- */

/* How `bytes` bytes are told to MPI, in integers. */
struct rpl_piece {
    int count;
    MPI_Datatype type;
};
struct rpl_piece rpl_piece(struct rpl_player *player, int64_t bytes);

int rpl_mpi_rank(int64_t word);
int rpl_mpi_tag(int64_t word);
MPI_Comm rpl_mpi_comm(const struct rpl_player *player, int64_t word);
/* A group that a call has made, in the slot that the recorder gave it; freed where there is none.
 */
int rpl_keep_group(struct rpl_player *player, const struct rfn_call_event *call, MPI_Group group);
/* A buffer of the pool; fails with words. */
int rpl_take(struct rpl_player *player, int64_t bytes, void **buffer);
/* Room for n + 1 integers, of the pool; NULL without memory. */
int *rpl_ints(struct rpl_player *player, size_t n);
/* The words of a list as such integers, at least `least` of them (0 beyond the list), which are n;
 * NULL without memory. */
int *rpl_int_list(struct rpl_player *player, const struct rfn_call_event *call, enum rfn_input role,
                  uint8_t kind, size_t least, size_t *n);
int rpl_no_memory(struct rpl_player *player);

/* The element of the request that the call at hand creates. RFN_E_CORRUPT, with words: it creates
 * none. */
int rpl_new_request(struct rpl_player *player, const struct rfn_call_event *call,
                    struct rpl_request **request);
struct rpl_request *rpl_request_of(struct rpl_player *player,
                                   const struct rfn_request_origin *origin);
/* Gives its buffers back. */
void rpl_give_request(struct rpl_player *player, struct rpl_request *request);
/* One that the program frees while it is active: it is asked from time to time, so that its buffers
 * can be used again when its message is through. Its element may be used for another one. */
int rpl_orphan_request(struct rpl_player *player, struct rpl_request *request);
/* Gives the buffers of those back that have completed in the meantime. */
void rpl_bury_orphans(struct rpl_player *player);

/* The stamp of the next message from or to a rank of the call's communicator. */
int rpl_message_id(struct rpl_player *player, int64_t comm, int64_t peer, int64_t tag, bool sending,
                   uint64_t *stamp);
/* Compares what came with what was recorded. stamp: NULL when it is not known. */
void rpl_check(struct rpl_player *player, MPI_Status *status, MPI_Datatype type,
               const struct rfn_volume *recorded, const uint64_t *stamp, const void *buffer);
int rpl_outcome_ahead(struct rpl_player *player, const struct rfn_volume *volume,
                      struct rfn_fate *fate);

#endif
