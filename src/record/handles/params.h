/* params.h - parameters of MPI calls as words (refrain/event.h).
 *
 * The generated wrappers call one rec_in_* per input before the MPI call, and rec_out_* and
 * rec_freed_* after it. Each rec_in_* appends one word to call->in, each rec_out_* one word (or as
 * many as said) to call->out, in the order of the function's schema; both are cheap and never
 * allocate on the usual path. Handles become numbers here and nowhere else: handles.c (slots),
 * comms.c, types.c, requests.c.
 *
 * Tables are per process, those of requests per thread. Under MPI_THREAD_MULTIPLE they are guarded
 * by short spin locks, which the usual path does not take, or shares with nobody (tables.h,
 * requests.c); otherwise by nothing.
 */
#ifndef RFN_RECORD_HANDLES_PARAMS_H
#define RFN_RECORD_HANDLES_PARAMS_H

#include "record/core/recorder.h"

/* ---- plain values ---- */

static inline void rec_in_int(struct rec_call *call, int64_t value) /* INT COUNT BYTES FLAG */
{
    call->in[call->n_in++] = value;
}

static inline void rec_out_int(struct rec_call *call, int64_t value)
{
    bool known = call->rc == MPI_SUCCESS && call->poll != RFN_POLL_FAILED;
    call->out[call->n_out++] = known ? value : RFN_UNKNOWN;
}

/* The outcomes of a call that failed or of a poll without success. */
static inline void rec_out_unknown(struct rec_call *call, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        call->out[call->n_out++] = RFN_UNKNOWN;
}

/* All outcomes of a call that the program has left. */
void rec_out_left(struct rec_call *call);

static inline void rec_in_place(struct rec_call *call,
                                int64_t value) /* colour, key, displacement */
{
    rec_in_int(call, value == MPI_UNDEFINED ? RFN_UNDEFINED : value);
}

static inline int64_t rec_rank_word(int rank)
{
    return rank >= 0                ? rank
           : rank == MPI_ANY_SOURCE ? RFN_ANY
           : rank == MPI_PROC_NULL  ? RFN_PROC_NULL
           : rank == MPI_ROOT       ? RFN_ROOT
           : rank == MPI_UNDEFINED  ? RFN_UNDEFINED
                                    : RFN_UNKNOWN;
}

static inline void rec_in_rank(struct rec_call *call, int rank)
{
    rec_in_int(call, rec_rank_word(rank));
}

static inline void rec_in_tag(struct rec_call *call, int tag)
{
    rec_in_int(call, tag == MPI_ANY_TAG ? RFN_ANY : tag);
}

/* BUFFER: MPI_IN_PLACE, MPI_BOTTOM and NULL are kept, other addresses are not. */
static inline void rec_in_buffer(struct rec_call *call, const void *buffer)
{
    rec_in_int(call, buffer == MPI_IN_PLACE ? RFN_BUFFER_IN_PLACE
                     : buffer == MPI_BOTTOM ? RFN_BUFFER_BOTTOM
                     : buffer == NULL       ? RFN_BUFFER_NULL
                                            : RFN_BUFFER_PLAIN);
}

void rec_in_string(struct rec_call *call, const char *text); /* STRING; NULL is LIST_ABSENT */

/* ---- lists: interned per stream; a NULL or special array gives enum rfn_list_special ----
 * The arrays are read: where MPI ignores an argument (MPI_IN_PLACE, not the root) it may be
 * garbage, so pass NULL there. */

void rec_in_ints(struct rec_call *call, const int *values, int64_t n);
void rec_in_counts(struct rec_call *call, const MPI_Count *values, int64_t n);
void rec_in_aints(struct rec_call *call, const MPI_Aint *values, int64_t n);
void rec_in_ranks(struct rec_call *call, const int *ranks, int64_t n);
void rec_in_types(struct rec_call *call, const MPI_Datatype *types, int64_t n);
void rec_in_infos(struct rec_call *call, const MPI_Info *infos, int64_t n);
void rec_out_ints(struct rec_call *call, const int *values, int64_t n);
void rec_out_string(struct rec_call *call, const char *text);

/* Scratch for at least n words, kept with the call; NULL (and recording has stopped) without
 * memory. */
int64_t *rec_words(struct rec_call *call, int64_t n);

/* ---- handles with slots: the lowest free slot number of the kind in the process ---- */

#define REC_SLOT_KINDS(X)                              \
    X(op, MPI_Op, RFN_KIND_OP)                         \
    X(group, MPI_Group, RFN_KIND_GROUP)                \
    X(info, MPI_Info, RFN_KIND_INFO)                   \
    X(errhandler, MPI_Errhandler, RFN_KIND_ERRHANDLER) \
    X(win, MPI_Win, RFN_KIND_WIN)                      \
    X(file, MPI_File, RFN_KIND_FILE)                   \
    X(message, MPI_Message, RFN_KIND_MESSAGE)

/* Flavours without sessions (Open MPI 4.1, SMPI) have no MPI_Session. */
#if !defined REC_HAVE_SESSION && MPI_VERSION >= 4
#define REC_HAVE_SESSION 1
#endif
#ifdef REC_HAVE_SESSION
#define REC_SESSION_KIND(X) X(session, MPI_Session, RFN_KIND_SESSION)
#else
#define REC_SESSION_KIND(X)
#endif

/* rec_in_op(call, op): the word of the handle, which is registered on first sight. rec_in_win and
 * rec_in_file also set call->comm to what it was at rec_out_win or rec_out_file.
 * rec_out_op(call, op): registers a handle that the call made and appends its word as an outcome.
 * rec_free_op(call, op): the call is about to free the handle, which is forgotten: once MPI has
 * freed it another thread may get it for something new.
 * rec_freed_op(call, op): the call is over (pass the value from before it); when it has failed the
 * handle is known again. */
#define REC_DECLARE(name, type, kind)                         \
    void rec_in_##name(struct rec_call *call, type handle);   \
    void rec_out_##name(struct rec_call *call, type handle);  \
    void rec_free_##name(struct rec_call *call, type handle); \
    void rec_freed_##name(struct rec_call *call, type handle);
REC_SLOT_KINDS(REC_DECLARE)
REC_SESSION_KIND(REC_DECLARE)
REC_DECLARE(keyval, int, RFN_KIND_KEYVAL) /* integers in every MPI; predefined ones have names */
#undef REC_DECLARE

/* ---- communicators (comms.c) ---- */

void rec_in_comm(struct rec_call *call, MPI_Comm comm); /* also sets call->comm */
/* A communicator that the call made (or MPI_COMM_NULL). Its identity, equal on all its members, is
 * computed here without communication: parent and creating function (call->comm,
 * call->function), the how-manieth such creation on the parent, the members. Appends the local
 * number as outcome. */
void rec_out_comm(struct rec_call *call, MPI_Comm comm);
/* The same for a communicator that is complete only when the request is (Comm_idup): *comm is read
 * at completion. Call it before rec_out_request of the same call. */
void rec_out_comm_later(struct rec_call *call, MPI_Comm *comm);
void rec_free_comm(struct rec_call *call, MPI_Comm comm);
void rec_freed_comm(struct rec_call *call, MPI_Comm comm);
int64_t rec_comm_size(MPI_Comm comm);           /* of the remote group for an intercommunicator */
bool rec_comm_is_root(MPI_Comm comm, int root); /* this rank gathers or scatters to all */
/* Numbers of sources and destinations of a topology communicator, 0 without one. */
void rec_comm_neighbors(MPI_Comm comm, int *n_in, int *n_out);

/* ---- datatypes (types.c) ---- */

void rec_in_type(struct rec_call *call, MPI_Datatype type);
void rec_out_type(struct rec_call *call, MPI_Datatype type);
void rec_free_type(struct rec_call *call, MPI_Datatype type);
void rec_freed_type(struct rec_call *call, MPI_Datatype type);
int64_t rec_type_size(MPI_Datatype type); /* bytes; -1 for MPI_DATATYPE_NULL */

/* ---- requests and completion (requests.c) ---- */

enum rec_request_flag {
    REC_REQUEST_RECV = 1,       /* completes with a status: source, tag, bytes as given */
    REC_REQUEST_PERSISTENT = 2, /* stays after completion, until freed */
    REC_REQUEST_CANCELLED = 4,  /* MPI_Cancel was called on it */
    REC_REQUEST_UNSEEN = 8,     /* made while recording was off: no event tells of it */
    REC_REQUEST_LOST = 16       /* persistent: started or completed while recording was off, and not
                                   started since: its state does not follow from the record */
};

/* What is remembered of a request until it completes. */
struct rec_request {
    uint64_t number; /* creation number in its stream, or slot when persistent */
    struct rec_stream *stream;
    uint64_t key;                  /* the handle */
    uint8_t flags;                 /* enum rec_request_flag */
    bool claimed;                  /* a call is completing it; only with several threads */
    bool active;                   /* persistent: started and not completed since */
    int source, tag;               /* as posted, MPI's values */
    int64_t bytes;                 /* room in the receive buffer, -1 not known */
    struct rec_comm *new_comm;     /* Comm_idup: the communicator that completion brings, or NULL */
    void *sampled;                 /* what a listener keeps of it, or NULL */
    uint64_t maker;                /* 1 + the call that made it, as a listener counts; 0: unknown */
    struct rec_request *next;      /* with an equal handle (MPICH shares one among completed sends),
                                      oldest      first; or the next free one */
    struct rec_request_slot *slot; /* of its handle in the table; NULL when free */
};

void rec_in_request(struct rec_call *call, MPI_Request request);
void rec_in_requests(struct rec_call *call, const MPI_Request *requests, int64_t n);
/* Registers a request that the call made. Appends no outcome, except the slot (kind REQUEST) when
 * flags has PERSISTENT. Every successful call takes a number, also when MPI gives back
 * MPI_REQUEST_NULL. */
void rec_out_request(struct rec_call *call, MPI_Request request, unsigned flags, int source,
                     int tag, int64_t bytes);
/* MPI_Request_free: the requests of rec_in_request are forgotten. MPI_Cancel: they are marked. */
void rec_out_request_freed(struct rec_call *call);
void rec_out_cancelled(struct rec_call *call);

/* The status that MPI is to fill: the program's own, or the recorder's where the program passes
 * MPI_STATUS(ES)_IGNORE. */
MPI_Status *rec_status(struct rec_call *call, MPI_Status *status);
MPI_Status *rec_statuses(struct rec_call *call, MPI_Status *statuses, int64_t n);

/* A blocking receive or probe: appends source, tag, bytes, each RFN_AS_POSTED when it is what was
 * asked for (bytes: -1 when nothing was asked for, as in a probe). */
void rec_out_status(struct rec_call *call, const MPI_Status *status, int source, int tag,
                    int64_t bytes);

/* A file access: appends the bytes moved, RFN_AS_POSTED when they are what was asked for (-1: the
 * call does not say, as in the _end calls). */
void rec_out_moved(struct rec_call *call, const MPI_Status *status, int64_t bytes);

/* A request that no recorded call made has the word RFN_UNKNOWN and completes without words. A
 * receive from MPI_PROC_NULL and an inactive persistent request complete as posted.
 *
 * Completion calls. One outcome each, kind COMPLETIONS, after the outcomes named here:
 *   all:  every request of rec_in_request(s) completed (if done != 0: Test, Testall)
 *   any:  appends index (RFN_UNDEFINED: none active) first
 *   some: appends a list of indices first (in returned order; n = MPI_UNDEFINED: none active)
 * An entry of the request array that was null completes without a word. Completed requests that
 * are not persistent are forgotten. */
void rec_out_completed_all(struct rec_call *call, int done, const MPI_Status *statuses);
void rec_out_completed_any(struct rec_call *call, int done, int index, const MPI_Status *status);
void rec_out_completed_some(struct rec_call *call, int n, const int *indices,
                            const MPI_Status *statuses);
/* Request_get_status, Iprobe, Improbe: says whether the poll was successful; an unsuccessful poll's
 * outcomes are RFN_UNKNOWN. Call it before the outcomes (before those of handles it is a must:
 * Improbe leaves the message undefined). The rec_out_completed_* functions do it themselves for
 * functions with RFN_FUNCTION_POLL. */
void rec_out_poll(struct rec_call *call, int flag);

#endif
