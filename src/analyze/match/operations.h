/* operations.h - what becomes of a recorded call when a program is replayed.
 *
 * Who can issue operations says which (can_issue); of the others those that only concern the
 * calling rank (MPI_Comm_rank, datatypes, attributes) are local, and nobody misses them; what
 * communicates otherwise (files, processes that are started) is skipped.
 *
 * What an event refers to has to be there: a communicator, group or window that was made by a call
 * that was skipped is not, so calls on it are skipped, too. The same rule, shown the same events,
 * decides in the survey and in the replay.
 */
#ifndef RFN_ANALYZE_MATCH_OPERATIONS_H
#define RFN_ANALYZE_MATCH_OPERATIONS_H

#include "analyze/match/call_words.h"
#include "refrain/volume.h"

enum rfn_treatment {
    RFN_TREAT_NO_CALL, /* a region's begin, say */
    RFN_TREAT_BEGIN,   /* MPI_Init */
    RFN_TREAT_END,     /* MPI_Finalize */
    RFN_TREAT_LOCAL,   /* not issued, and not missed */
    RFN_TREAT_ISSUE,
    RFN_TREAT_SKIP,  /* cannot be replayed */
    RFN_TREAT_FAILED /* returned an error when it was recorded: not issued */
};

enum { RFN_SLOTS_MAX = 1 << 20 }; /* a handle's slot above this is none that a recorder gave */

struct rfn_treatments {
    const struct rfn_archive *archive;
    uint8_t *treatments; /* by function: enum rfn_treatment */
    uint32_t n;
};

/* RFN_E_NOMEM. */
int rfn_treatments_init(struct rfn_treatments *operations, const struct rfn_archive *archive,
                        bool (*can_issue)(enum rfn_operation operation,
                                          enum rfn_call_variant variant));
void rfn_treatments_release(struct rfn_treatments *operations);

/* A collective call that all members of its communicator make, in one order. */
bool rfn_is_ordered(const struct rfn_call_event *call);

/* What a rank gives to a reduction, in MPI_Reduce_scatter_block to each rank's part of it. */
int64_t rfn_reduced_bytes(const struct rfn_call_event *call);

/* What was received is what was asked for where that was not anything: MPICH 4.0 does not fill in
 * the status of MPI_Isendrecv. */
static inline void rfn_take_posted(struct rfn_volume *volume, int64_t source, int64_t tag)
{
    if (source != RFN_ANY)
        volume->source = source;
    if (tag != RFN_ANY)
        volume->tag = tag;
}

/* ---- what is there ---- */

/* Which communicators, groups and windows calls that were issued have made. */
struct rfn_treat_objects {
    bool *comms; /* by archive number */
    bool *groups, *wins;
    size_t groups_capacity, wins_capacity;
    uint32_t n_comms;
};

int rfn_treat_objects_init(struct rfn_treat_objects *known, const struct rfn_archive *archive);
void rfn_treat_objects_release(struct rfn_treat_objects *known);

/* What becomes of an event, which is noted. Unsuccessful polls are for the caller. A negative error
 * or an enum rfn_treatment. */
int rfn_treat(struct rfn_treat_objects *known, const struct rfn_treatments *operations,
              const struct rfn_call_event *call);

#endif
