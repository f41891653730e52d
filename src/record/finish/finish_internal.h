/* finish_internal.h - what the steps at the end of recording share. finish.c tells them in their
 * order.
 */
#ifndef RFN_RECORD_FINISH_FINISH_INTERNAL_H
#define RFN_RECORD_FINISH_FINISH_INTERNAL_H

#include "archive/write/pack_profile.h"
#include "record/finish/cluster_gather.h"
#include "record/finish/definitions.h"
#include "record/finish/finish.h"
#include "record/finish/parallel_write.h"
#include "reduce/merge/spreads.h"

/* What rank 0's word says beside the volume. */
enum {
    REC_WANTS_REDUCED = 1, /* times */
    REC_WANTS_ACROSS = 2,  /* processes compared */
    REC_WANTS_FILE = 4,
    REC_WANTS_TIMES = 8,
    REC_WANTS_KEPT = 16, /* what predictions need */
    REC_WISH_BITS = 5
};

static inline struct rfn_pack_pair rec_finishing_pair(struct rec_clock_pair pair)
{
    return (struct rfn_pack_pair){pair.quanta, (uint64_t)pair.monotonic_ns,
                                  (uint64_t)pair.realtime_ns};
}

/* What is written of a stream. */
struct rec_packed {
    struct rfn_rope values, timing;
    struct rfn_stream_digests digests;
    uint64_t loop_bytes, timing_bytes;
    struct rfn_new_times times; /* if they are reduced */
    uint64_t time_set;          /* the stream whose times these are */
};

/* What the ranks have together; but for the first two only rank 0 knows it. */
struct rec_surveyed {
    uint64_t first_stream; /* of this process */
    uint64_t streams;
    uint64_t events;
    uint64_t writes, written; /* to journals: how many, bytes */
    uint64_t past;            /* calls that went past the recorder */
    uint64_t cut_paths;       /* threads whose call paths were cut */
};

/* What became of reduced times; all but the counts on rank 0. */
struct rec_reduced {
    struct rfn_run_reduction counts; /* over all ranks; of long streams from the survey on */
    int not_compared;                /* why processes were not */
    struct rfn_spreads spreads;      /* over all ranks */
    int not_spread;                  /* why there are none */
};

struct rec_finishing {
    struct rfn_exchange *exchange;
    bool alone;                   /* of a process that writes without the others, */
    bool draft;                   /* and goes on to record: its streams stay as they are */
    const struct rfn_buf *clocks; /* on rank 0, as clock_sync.h says; may be NULL */
    uint64_t wishes;              /* rank 0's word */
    int64_t began;                /* ns: when the last rank came, by this rank's clock */
    struct rec_clock_pair end;    /* the second pair of the process's clock in the archive */
    struct rec_definitions description;
    uint64_t definition_bytes; /* of this process */
    struct rfn_merge merge;
    struct rec_surveyed survey;
    struct rec_packed *packed; /* per stream of the process */
    struct rec_reduced reduced;
    struct rec_cluster_gather together;
    struct rfn_run_merging merging;  /* on rank 0 */
    struct rec_clustered clustered;  /* on rank 0 */
    struct rec_output output, front; /* the latter on rank 0: what is to stand behind META */
    struct rfn_buf left_out;         /* on rank 0: the payload of AGGREGATED; empty: all is there */
    struct rfn_buf samples;          /* on rank 0: the payload of SAMPLES; empty: there are none */
};

/* Whether what was measured of the stream cannot be read any more while it goes on: it is being
 * reduced. */
static inline bool rec_finishing_lacks_times(const struct rec_finishing *finish,
                                             const struct rfn_stream *stream)
{
    return finish->draft && rfn_stream_reduced(stream);
}

/* Whether rank 0 wants processes compared; one alone cannot be. */
bool rec_finishing_compares(const struct rec_finishing *finish);
/* Parameters that do not tell groups apart; a process alone does not know the other ranks'. */
unsigned rec_finishing_forced_roles(const struct rec_finishing *finish);

/* With reduced times, collective: counts what became of them, finds which streams share them, and
 * then, when all definitions have numbers, tells rank 0 how far they lie apart. error: so far.
 * RFN_E_NOMEM, RFN_E_EXCHANGE; what fails of comparing or of the last is only noted. */
int rec_share_times(struct rec_finishing *finish, int error);

/* On rank 0: makes what only it writes, definitions first, once these have their numbers. Errors of
 * packing, RFN_E_NOMEM. */
int rec_chunk_definitions(struct rec_finishing *finish);
int rec_chunk_first(struct rec_finishing *finish);
/* Makes the chunks of the process's streams. Errors as above. */
int rec_chunk_streams(struct rec_finishing *finish);

#endif
