/* lookahead.h - what will become of a request that is about to be made.
 *
 * A nonblocking receive from anyone says only at its completion whom the message came from, and a
 * request that is cancelled later must not match anything. Replay has to know when it posts: a
 * second cursor runs ahead of the first one, as far as it takes. What is kept is proportional to
 * the requests in between.
 */
#ifndef RFN_ANALYZE_MATCH_LOOKAHEAD_H
#define RFN_ANALYZE_MATCH_LOOKAHEAD_H

#include "analyze/match/operations.h"
#include "refrain/volume.h"

struct rfn_fate {
    int64_t source, tag; /* of the message that was received; else as asked for */
    bool cancelled;
};

struct rfn_fates;

/* archive and volumes are borrowed. */
int rfn_fates_open(struct rfn_fates **fates, const struct rfn_archive *archive,
                   const struct rfn_volumes *volumes, uint32_t stream, struct rfn_diag *diag);
void rfn_fates_close(struct rfn_fates *fates);

/* The fate of the next request from point to point that the stream makes (not of persistent ones)
 * or starts. 0, or an error. */
int rfn_fates_next(struct rfn_fates *fates, struct rfn_fate *fate, struct rfn_diag *diag);

#endif
