/* gather_left_out.h - what --keep-predictions has left out, of all ranks. */
#ifndef RFN_RECORD_FINISH_GATHER_LEFT_OUT_H
#define RFN_RECORD_FINISH_GATHER_LEFT_OUT_H

#include "record/finish/finish_internal.h"

/* Collective, when definitions have their numbers: on rank 0 the payload of AGGREGATED, or nothing
 * if no call was left out. error: so far. RFN_E_NOMEM, RFN_E_EXCHANGE. */
int rec_gather_left_out(struct rec_finishing *finish, struct rfn_buf *payload, int error);

#endif
