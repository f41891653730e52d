/* hand_up.h - merging of all ranks as tools without clusters do it, to compare with
 * (REFRAIN_MERGE=all): each rank's whole chunks are handed up the tree to rank 0.
 */
#ifndef RFN_RECORD_HAND_UP_H
#define RFN_RECORD_HAND_UP_H

#include "record/output.h"

/* Collective. own: all chunks of this rank's streams, also those that others have, too; afterwards
 * it is empty, and on rank 0 `output` has one of each. error: this rank takes part but has failed.
 * RFN_E_NOMEM, RFN_E_EXCHANGE. */
int rec_hand_up(struct rec_output *own, struct rfn_exchange *exchange, struct rec_output *output,
                int error);

#endif
