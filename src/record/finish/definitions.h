/* definitions.h - what the process knows by its own numbers (sites, modules, datatypes,
 * communicators), as definitions that all ranks share.
 */
#ifndef RFN_RECORD_FINISH_DEFINITIONS_H
#define RFN_RECORD_FINISH_DEFINITIONS_H

#include "archive/write/pack.h"
#include "record/core/recorder.h"
#include "reduce/merge/merge.h"

/* Hashes by local number. A stream's sites are its own; types and communicators are the process's.
 */
struct rec_definitions {
    struct rec_stream_definitions {
        struct rec_stream *stream;
        uint64_t *functions, *paths; /* per site */
        size_t n_sites;
        struct rfn_pack_refs refs; /* first hashes, after rec_definitions_number numbers */
    } * streams;                   /* by thread */
    size_t n_streams;
    uint64_t *types;
    size_t n_types;
    int64_t *comm_ranks, *comms;
    uint64_t *comm_hashes;
    size_t n_comms;
    uint64_t host;
};

/* Contributes all definitions of the process to the merge and notes their hashes. alone: also those
 * that another process would contribute. */
int rec_definitions_make(struct rec_definitions *description, struct rfn_merge *merge,
                         int world_rank, bool alone);
/* The same of what is known in mid-run of one stream, its own and the process's tables: streams has
 * one element. Communicators are left out: others contribute their members. */
int rec_definitions_so_far(struct rec_definitions *description, struct rfn_merge *merge,
                           struct rec_stream *stream);
/* After the merge: replaces hashes by numbers. RFN_E_EXCHANGE when one is missing. */
int rec_definitions_number(struct rec_definitions *description, const struct rfn_merge *merge);
void rec_definitions_release(struct rec_definitions *description);

#endif
