/* paper_signatures.h - what tells ranks of a main cluster apart in the forms of the paper (Bahmani
 * and Mueller; doc/clustering.md, Forms of the paper), to compare with.
 *
 * Both are made of a rank's events one by one, as a cursor delivers them: nothing that was folded,
 * gathered or bounded before is taken for granted, so that the reference can tell whether the
 * parameters of rank_parameters.h have lost anything. O(events), and what their lists hold.
 *
 * A rank is all its streams. Events are its calls of MPI but for unsuccessful polls, whose number
 * is an accident.
 */
#ifndef RFN_ANALYZE_CLUSTERS_PAPER_SIGNATURES_H
#define RFN_ANALYZE_CLUSTERS_PAPER_SIGNATURES_H

#include "refrain/archive.h"

/* The reference signature (3.4): a hash of 128 bits of the sequence of events, each with its
 * function and all its inputs, lists word by word. Partners count as offsets from the rank in the
 * communicator of the call, communicators as the rank knows them. Streams first to end - 1 are
 * those of one rank. RFN_E_NOMEM, and the errors of the cursor. */
int rfn_reference_signature(const struct rfn_archive *archive, uint32_t first, uint32_t end,
                            int64_t words[2], struct rfn_diag *diag);

/* Bits of the parameter signature (Table 1); of types, operations and communicators one each. */
enum rfn_paper_bits {
    RFN_PAPER_COUNT = 0,
    RFN_PAPER_DEST = 16,
    RFN_PAPER_SOURCE = 32,
    RFN_PAPER_TYPES = 48,
    RFN_PAPER_OPS = 55,
    RFN_PAPER_COMMS = 62
};

/* The parameter signature (3.1, Table 1) of the same streams; errors as above. */
int rfn_paper_parameters(const struct rfn_archive *archive, uint32_t first, uint32_t end,
                         int64_t *word, struct rfn_diag *diag);

#endif
