/* finishing.h - what the steps at the end of recording share (finish.h).
 *
 *   finish_barrier.c  what comes before
 *   finish.c          steps 1 to 3, and what is told
 *   finish_chunks.c   step 4: the chunks that a process writes
 */
#ifndef RFN_RECORD_FINISHING_H
#define RFN_RECORD_FINISHING_H

#include "archive/pack_reduced.h"
#include "record/describe.h"
#include "record/exchange_node.h"
#include "record/finish.h"
#include "record/output.h"
#include "record/together.h"
#include "reduce/spreads.h"

/* What rank 0's word says beside the volume. */
enum {
    WANTS_REDUCED = 1,
    WANTS_ACROSS = 2,
    WANTS_ALL = 4,
    WANTS_FILE = 8,
    WANTS_TIMES = 16,
    WISH_BITS = 5
};

uint64_t rec_finishing_own_wishes(void); /* what this process was asked for */

/* In MPI_Init, on all ranks, after clocks and meetings have started: if all are on one node, they
 * share memory from then on (exchange_node.h). Where it is not known that all run the same program,
 * some may not be recorded, and would take part in nothing: then that is left to the end. */
void rec_gather_start(void);

/* Of ranks of one node, before all have come: steps 1 and 2 of rec_finish, if all ranks are plain,
 * of which step 1 would say only that each has one stream. Collective; returns when rank 0 has
 * heard of all, or one has no boxes. */
void rec_finish_early(bool plain);

/* What rec_finish_barrier leaves. */
struct rec_gathered {
    int64_t arrived; /* ns: when this process came there; 0: it has not */
    /* If all ranks are on one node: */
    struct rec_node_exchange node; /* joined then, and its boxes are open */
    uint64_t wishes;               /* rank 0's */
    bool plain;                    /* all ranks are */
    int64_t last_came;             /* ns */
    struct rec_ahead ahead;
};

extern struct rec_gathered rec_gathered;
void rec_gathered_release(void);

/* What is written of a stream. */
struct rec_packed {
    struct rfn_rope values, timing;
    uint64_t loop_bytes, content_bytes;
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
    bool all;                         /* rank 0 wants all chunks */
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

/* Times of fewer bytes are compressed. Columns are coded near their entropy: what that gains is a
 * quarter of 1 KiB and a hundredth of 8 KiB, and it takes a rank longer than all else that it does
 * when the last one has come. */
enum { REC_TIMES_LARGE = 1 << 13 };

/* The times of a stream, full or reduced (times are of the latter), until now. Errors as
 * rfn_pack_timing and rfn_pack_reduced. */
int rec_pack_times(const struct rfn_stream *stream, struct rfn_new_times *times,
                   struct rfn_rope *out);

/* Makes what rank 0 writes of definitions, once these have their numbers; then all else that only
 * rank 0 writes. Errors of packing, RFN_E_NOMEM, RFN_E_EXCHANGE. */
int rec_chunk_definitions(struct rec_finishing *finish);
int rec_chunk_first(struct rec_finishing *finish);
/* Makes the chunks of the process's streams, which go to rank 0 if that wants all. Collective then.
 * error: so far. Errors as above. */
int rec_chunk_streams(struct rec_finishing *finish, int error);

#endif
