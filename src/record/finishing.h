/* finishing.h - what the steps at the end of recording share (finish.h).
 *
 *   finish_barrier.c  what comes before
 *   finish.c          steps 1 and 2, and what is told
 *   finish_tables.c   step 3
 *   finish_chunks.c   step 4: the chunks that a process writes
 *   finish_whole.c    steps 3 and 4 where rank 0 needs no more of the others (finish_whole.h)
 */
#ifndef RFN_RECORD_FINISHING_H
#define RFN_RECORD_FINISHING_H

#include "archive/pack_profile.h"
#include "record/describe.h"
#include "record/exchange_node.h"
#include "record/finish.h"
#include "record/output.h"
#include "record/patience.h"
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
 * heard of all. True: rec_finish has nothing left to do but, on rank 0, to
 * write the archive, for which the others have waited; what is recorded of this process must stay
 * as it is. under_way: a message of the program's may be, for which MPI must not stand still for
 * long. */
bool rec_finish_early(bool plain, bool under_way);

/* What rec_finish_barrier leaves. */
struct rec_gathered {
    int64_t arrived; /* ns: when this process came there; 0: it has not */
    /* If all ranks are on one node: */
    struct rec_node_exchange node; /* joined then */
    uint64_t wishes;               /* rank 0's */
    bool plain;                    /* all ranks are */
    int64_t last_came, came;       /* ns: the last one, and when that was told */
    bool ends_elsewhere;           /* of this process's stream the archive says when it ends, and
                                      not its times */
    struct rec_ahead ahead;
    struct rec_patience patience; /* over, but not ended */
};

extern struct rec_gathered rec_gathered;
/* Waits until all ranks are there, and notes what they say. */
void rec_gathered_came(void);
void rec_gathered_release(void);

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
    struct rfn_symbolizer *symbolizer;  /* on rank 0, may be NULL */
    const struct rfn_buf *clocks;       /* on rank 0, as clock_sync.h says; may be NULL */
};

/* Parameters that do not tell groups apart; a process alone does not know the other ranks'. */
unsigned rec_finishing_forced_roles(const struct rec_finishing *finish);

/* The time since the step before, or the beginning, is that of this step. */
void rec_finishing_end_step(struct rec_finishing *finish, enum rfn_merging_step step);

/* Whether the times of the process's only stream stand in the file. */
bool rec_finishing_is_whole(const struct rec_finishing *finish);

/* What was sent since the step before, or the beginning, is sent in this step. */
void rec_finishing_count_sent(struct rec_finishing *finish, enum rfn_merging_step step);

/* Words of the process's stream i in STREAMS, but for group, value set and host, and the signature,
 * which rank 0 knows; then, with these, into the table, of the stream that is `stream` of all.
 * RFN_E_NOMEM. */
void rec_finishing_words(const struct rec_finishing *finish, size_t i,
                         int64_t words[RFN_STREAM_SLOTS]);
int rec_finishing_add_words(struct rec_finishing *finish, size_t i, uint64_t stream, uint64_t host,
                            int64_t words[RFN_STREAM_SLOTS]);

/* What this process has, and has sent, is counted; on rank 0 what all have is noted for META. */
void rec_finishing_count(struct rec_finishing *finish, struct rfn_collection *collection);
void rec_finishing_note(struct rec_finishing *finish, const struct rfn_collection *collection);

/* Tables, and what is brought to rank 0, empty; RFN_E_NOMEM. Collective: rank 0 gets those of all.
 * error: so far; also RFN_E_EXCHANGE, or that of a spill. */
int rec_tables_begin(struct rec_finishing *finish);
int rec_tables_collect(struct rec_finishing *finish, int error);
void rec_tables_release(struct rec_finishing *finish); /* may be used again */

/* The times of a stream, full or reduced (times are of the latter), until now. Errors as
 * rfn_pack_timing and rfn_pack_reduced. */
int rec_pack_times(const struct rfn_stream *stream, struct rfn_new_times *times,
                   struct rfn_rope *out);

/* On rank 0, at any time: looks up functions and lines of the addresses that it knows by then,
 * which takes time mostly for the first one of each module. */
void rec_look_up_definitions(struct rec_finishing *finish);
/* Makes what rank 0 writes of definitions, once these have their numbers; then all else that only
 * rank 0 writes. Errors of packing, RFN_E_NOMEM, RFN_E_EXCHANGE. */
int rec_chunk_definitions(struct rec_finishing *finish);
int rec_chunk_first(struct rec_finishing *finish);
/* Makes the chunks of the process's streams, which go to rank 0 if that wants all. Collective then.
 * error: so far. Errors as above. */
int rec_chunk_streams(struct rec_finishing *finish, int error);

#endif
