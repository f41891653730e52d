/* finishing.h - what the steps at the end of recording share (finish.h).
 *
 *   finish_barrier.c  what comes before
 *   finish.c          steps 1 and 2, and what is told
 *   finish_tables.c   step 3
 *   finish_chunks.c   step 4: the chunks that a process writes
 */
#ifndef RFN_RECORD_FINISHING_H
#define RFN_RECORD_FINISHING_H

#include "archive/pack_profile.h"
#include "record/describe.h"
#include "record/finish.h"
#include "record/output.h"
#include "record/together.h"
#include "reduce/spreads.h"

/* What rank 0's word says beside the volume. */
enum { WANTS_REDUCED = 1, WANTS_ACROSS = 2, WANTS_FILE = 4, WANTS_TIMES = 8, WISH_BITS = 4 };

extern int64_t rec_arrived_ns; /* when this process came to the end of MPI; 0: it has not */

/* What is written of a stream. */
struct rec_packed {
    struct rfn_rope values, timing;
    struct rfn_stream_digests digests;
    uint64_t loop_bytes, timing_bytes;
    struct rfn_new_times times; /* if they are reduced */
    uint64_t time_set;          /* the stream whose times these are */
};

/* What the steps share. */
struct rec_finishing {
    struct rfn_exchange *exchange;
    struct rfn_merge merge;
    struct rec_description description;
    struct rfn_tables streams, places;
    struct rec_together together;
    struct rec_output output, front;  /* the latter on rank 0: what is to stand behind META */
    uint64_t first_stream, n_streams; /* over all ranks */
    struct rec_packed *packed;        /* per stream of the process */
    uint64_t wishes;                  /* rank 0's word */
    bool alone;                       /* of a process that writes without the others */
    struct rfn_run_merging merging;   /* on rank 0, in the end */
    struct rfn_sent sent;             /* before the step began, and before all of this */
    uint64_t definition_bytes;        /* of this process */
    int64_t began, step_began; /* ns; the former: when this rank came here, after the survey the
                                  last one, by this rank's clock */
    bool reduced;              /* rank 0 has reduced its times */
    bool across;               /* rank 0 wants processes compared */
    int not_compared;          /* on rank 0: why they were not */
    struct rfn_run_reduction reduction; /* over all ranks */
    struct rfn_spreads spreads;         /* on rank 0 over all ranks */
    int not_spread;                     /* on rank 0: why there are none */
    uint64_t events;                    /* over all ranks */
    uint64_t writes, written;           /* to the journals: how many, bytes; over all ranks */
    struct rec_clustered clustered;     /* on rank 0 */
    const struct rfn_buf *clocks;       /* on rank 0, as clock_sync.h says; may be NULL */
};

/* Parameters that do not tell groups apart; a process alone does not know the other ranks'. */
unsigned rec_finishing_forced_roles(const struct rec_finishing *finish);

/* The time since the step before, or the beginning, is that of this step. */
void rec_finishing_end_step(struct rec_finishing *finish, enum rfn_merging_step step);

/* What was sent since the step before, or the beginning, is sent in this step. */
void rec_finishing_count_sent(struct rec_finishing *finish, enum rfn_merging_step step);

/* Collective: rank 0 gets the tables of all, and what is brought to it. error: so far; also
 * RFN_E_EXCHANGE, RFN_E_NOMEM, or that of a spill. */
int rec_tables_collect(struct rec_finishing *finish, int error);
void rec_tables_release(struct rec_finishing *finish);

/* Makes what rank 0 writes of definitions, once these have their numbers; then all else that only
 * rank 0 writes. Errors of packing, RFN_E_NOMEM, RFN_E_EXCHANGE. */
int rec_chunk_definitions(struct rec_finishing *finish);
int rec_chunk_first(struct rec_finishing *finish);
/* Makes the chunks of the process's streams. Errors as above. */
int rec_chunk_streams(struct rec_finishing *finish);

#endif
