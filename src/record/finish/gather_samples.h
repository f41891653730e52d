/* gather_samples.h - sampled messages at the end of recording: what ranks have, for one chunk. */
#ifndef RFN_RECORD_FINISH_GATHER_SAMPLES_H
#define RFN_RECORD_FINISH_GATHER_SAMPLES_H

#include "record/finish/finish_internal.h"

/* Collective, when definitions have their numbers: what all ranks have sampled goes up the tree. On
 * rank 0 *payload gets that of SAMPLES. error: so far. RFN_E_NOMEM, RFN_E_EXCHANGE. */
int rec_gather_samples(struct rec_finishing *finish, struct rfn_buf *payload, int error);

/* With --sample-analysis=write: makes the chunk of the samples that this rank has received. */
int rec_chunk_sample_columns(struct rec_finishing *finish);

#endif
