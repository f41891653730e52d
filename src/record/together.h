/* together.h - what alike ranks did is stored once (doc/clustering.md, Clusters in archives): small
 * structures and values come to rank 0, of each shape those of the first stream and of other groups
 * only the numbers that may differ; rank 0 makes of these what every group would write, and of that
 * CLUSTERS where they are shorter.
 */
#ifndef RFN_RECORD_TOGETHER_H
#define RFN_RECORD_TOGETHER_H

#include "archive/pack.h"
#include "record/output.h"
#include "reduce/merge.h"

struct rec_together {
    struct rfn_tables
        numbers; /* of each shape: those that may differ, of all groups but the first */
    struct rfn_parcels parcels;
};

void rec_together_release(struct rec_together *together);
/* After the merge. RFN_E_NOMEM. */
int rec_together_begin(struct rec_together *together, const struct rfn_merge *merge);

/* What a stream has to bring. */
struct rec_brings {
    bool shape;                    /* all of its structure */
    bool numbers;                  /* of its structure what may differ in groups of the shape */
    bool content;                  /* its values */
    uint64_t of_shape, of_content; /* numbers of these */
};

struct rec_brings rec_together_brings(const struct rfn_merge *merge, size_t i);

/* STRUCTURE, and where in it numbers may differ (rfn_pack_number_places). RFN_E_NOMEM, or the error
 * of a spill. */
struct rec_structure {
    struct rfn_buf places, numbers;
};

#define REC_STRUCTURE_INIT                              \
    {                                                   \
        .places = RFN_BUF_INIT, .numbers = RFN_BUF_INIT \
    }

int rec_structure_pack(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                       struct rec_structure *structure);
void rec_structure_release(struct rec_structure *structure);

/* Copies them. RFN_E_NOMEM. */
int rec_together_add_shape(struct rec_together *together, uint64_t number,
                           const struct rec_structure *structure);
int rec_together_add_content(struct rec_together *together, uint64_t number, const uint8_t *bytes,
                             size_t size);

/* Adds what the process's stream i has to bring. RFN_E_NOMEM, or the error of a spill. */
int rec_together_bring(struct rec_together *together, const struct rfn_merge *merge, size_t i,
                       const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                       const struct rfn_rope *values);

/* On rank 0, when all is there: appends STRUCTURE and VALUES of what was brought.
 * RFN_E_EXCHANGE: something is missing; RFN_E_NOMEM. */
int rec_together_unfold(const struct rec_together *together, const struct rfn_merge *merge,
                        struct rec_output *chunks);

/* What became of it. */
struct rec_clustered {
    int error;       /* why all is as it was; 0 also where clusters do not take fewer bytes */
    uint64_t n;      /* groups that are in clusters */
    unsigned merged; /* of forced_roles: those of which some rank has another word now */
    uint64_t held;   /* bytes of memory that it took for a while */
};

/* Makes chunks those that take fewer bytes: CLUSTERS instead of some PLACES, STRUCTURE and VALUES.
 * front: the chunks that stand before them in the file; forced_roles: parameters that do not tell
 * groups apart (archive/forced_parameters.h). What fails changes nothing. */
struct rec_clustered rec_together_cluster(const struct rfn_merge *merge,
                                          const struct rec_output *front, unsigned forced_roles,
                                          struct rec_output *chunks);

#endif
