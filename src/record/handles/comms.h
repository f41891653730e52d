/* comms.h - the communicators of the process, as the recorder knows them.
 *
 * Communicators are numbered in order of creation: MPI_COMM_WORLD is 0, MPI_COMM_SELF 1. Entries
 * stay after the communicator is freed; one that is made in the same way by the same processes may
 * then be the same entry again (comms.c). Different processes give different numbers to one
 * communicator; its identity is what they agree upon (see comms.c for how without communication).
 */
#ifndef RFN_RECORD_HANDLES_COMMS_H
#define RFN_RECORD_HANDLES_COMMS_H

#include "record/core/recorder.h"

#include <stdint.h>

enum rec_comm_kind { REC_COMM_WORLD, REC_COMM_SELF, REC_COMM_INTRA, REC_COMM_INTER };

/* Processes that are not in MPI_COMM_WORLD (spawned or connected) are runs from here, stride 0. */
#define REC_RANK_FOREIGN UINT32_MAX

/* World ranks start, start + stride, ... */
struct rec_rank_run {
    uint32_t start, count;
    int32_t stride;
};

/* An ordered group of processes. Equal groups are one object, so pointers compare them. */
struct rec_ranks {
    uint32_t size;
    uint32_t foreign; /* how many of them are not in MPI_COMM_WORLD */
    uint32_t lowest;  /* lowest world rank, REC_RANK_FOREIGN when there is none */
    uint32_t n_runs;
    uint64_t hash; /* rfn_hash_bytes of the runs */
    struct rec_rank_run runs[];
};

struct rec_comm {
    uint32_t number;
    enum rec_comm_kind kind;
    uint64_t identity; /* equal on all members, different for different communicators; for
                          MPI_COMM_SELF equal on all ranks */
    uint32_t size, my_rank;
    uint32_t remote_size;           /* 0 unless INTER */
    uint32_t lowest;                /* lowest world rank of both groups */
    const struct rec_ranks *local;  /* of MPI_COMM_WORLD: one run 0, 1, ... */
    const struct rec_ranks *remote; /* NULL unless INTER */
    char *name;                     /* given by MPI_Comm_set_name, or NULL */
    int n_in, n_out;                /* neighbours in the topology; -1 when not asked yet */
    MPI_Comm *where;                /* while MPI_Comm_idup is under way: where the handle will be */
    struct rec_call *later_of;      /* ... and until rec_comm_take_later: the call */
    struct rec_comm *next_later;    /* of those with later_of */
    uint64_t reuse;                 /* creation and members, if another one may be it later; or 0 */
    struct rec_comm *next_freed;    /* of equal `reuse` */
};

/* Communicators 0 to rec_comms_count() - 1. Borrowed until rec_comms_release. */
uint32_t rec_comms_count(void);
const struct rec_comm *rec_comm(uint32_t number);
/* The communicator of a handle (registered when it is new), NULL for MPI_COMM_NULL and without
 * memory. Locks. */
const struct rec_comm *rec_comm_of(MPI_Comm comm);
/* Forgets everything and frees it; the tables can be used again. */
void rec_comms_release(void);

/* The communicator that rec_out_comm_later announced in this call, or NULL (while none is on its
 * way, as nearly always, the question need not be asked); for requests.c, which calls
 * rec_comm_arrived when the request is complete. Both are called with the lock held. */
extern unsigned rec_comms_on_their_way;
struct rec_comm *rec_comm_take_later(struct rec_call *call);
void rec_comm_arrived(struct rec_comm *comm);
/* MPI_Comm_set_name, while its parameters are taken. */
void rec_comm_named(struct rec_call *call, const char *name);

#endif
