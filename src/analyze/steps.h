/* steps.h - which loops the ranks execute in step, and as what: every segment of every stream is
 * compared with those of all, and is of a class of similar ones.
 *
 * A member is a context of a stream that was executed more than once. Members belong together (a
 * loop) if they are of different streams, were executed equally often, and are, of those of their
 * stream that were executed so often, as many-th in order of first execution.
 */
#ifndef RFN_ANALYZE_STEPS_H
#define RFN_ANALYZE_STEPS_H

#include "analyze/activity.h"
#include "reduce/column.h"
#include "reduce/store.h"
#include "refrain/archive.h"

struct rfn_step_member {
    uint32_t stream, context;
    uint32_t place;           /* among those of the stream that were executed as often */
    uint64_t n;               /* executions */
    int64_t ns;               /* of all */
    uint32_t first, last;     /* sites of the first execution's first and last call */
    struct rfn_column column; /* the class of each execution: a number of the store */
};

struct rfn_steps {
    struct rfn_store *store;          /* of context 0; events are sites */
    struct rfn_activities activities; /* for the numbers of sites */
    struct rfn_step_member *members;  /* loop by loop: (n, place, stream) ascend */
    size_t n_members, members_capacity;
    double span_ns;     /* that streams were there, together */
    bool too_irregular; /* the store grew too large: there are no members */
};

/* Reads all streams that are there. Those that cannot be read to their end have no members.
 * RFN_E_NOMEM; to be released either way. */
int rfn_steps_read(struct rfn_steps *steps, const struct rfn_archive *archive,
                   const struct rfn_criterion *criterion, struct rfn_diag *diag);
void rfn_steps_release(struct rfn_steps *steps);

#endif
