/* survey.h - looks through a rank's events before anything is replayed: whether they can be, and
 * what a replay needs to know.
 *
 * Messages. Of every message that is sent a number that follows from its channel (communicator,
 * sender, receiver, tag) is added up, of every one that is received it is subtracted. Over all
 * ranks the sum is 0 modulo 2^64 if each message has its other end; otherwise it is not, but for
 * one case in 2^64. Collective calls in the same way: the k-th call of a communicator adds a number
 * that follows from communicator, k and function once for each member, and takes it away as often
 * as there are members at one of them. So what would hang is found beforehand, with no memory that
 * grows with messages or ranks.
 */
#ifndef RFN_ANALYZE_MATCH_SURVEY_H
#define RFN_ANALYZE_MATCH_SURVEY_H

#include "analyze/match/operations.h"
#include "refrain/volume.h"

struct rfn_survey {
    uint64_t messages, collectives; /* the sums */
    int64_t begin_ns, end_ns;       /* end of MPI_Init, end of MPI_Finalize */
    int64_t largest_tag;
    uint64_t issued, failed; /* calls */
    uint64_t polls;          /* unsuccessful ones, of which a replay issues none, */
    uint64_t polls_ns;       /* and the time in them */
    uint64_t received_messages, received_bytes;
    uint64_t *skipped; /* calls by function */
    bool wants_fates;  /* a receive from anyone, or a cancelled request: see lookahead.h */
};

/* The stream of a rank's first thread; RFN_E_NOTFOUND when the rank has none, RFN_E_UNSUPPORTED
 * when several of its threads called MPI. */
int rfn_survey_stream(const struct rfn_archive *archive, uint32_t rank, uint32_t *stream,
                      struct rfn_diag *diag);

/* Reads the whole stream. RFN_E_UNSUPPORTED, with words, when it cannot be replayed. */
int rfn_survey_init(struct rfn_survey *survey, const struct rfn_treatments *operations,
                    const struct rfn_volumes *volumes, uint32_t stream, struct rfn_diag *diag);
void rfn_survey_release(struct rfn_survey *survey);

#endif
