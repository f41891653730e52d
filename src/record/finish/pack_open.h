/* pack_open.h - what a thread is doing while the process goes on: the payload of OPEN. */
#ifndef RFN_RECORD_FINISH_PACK_OPEN_H
#define RFN_RECORD_FINISH_PACK_OPEN_H

#include "record/finish/finish_internal.h"

/* Appends what OPEN has of the process's streams, which hold still. Failure shows in out. */
void rec_pack_open(const struct rec_finishing *finish, struct rfn_buf *out);

#endif
