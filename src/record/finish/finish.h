/* finish.h - the end of recording: the ranks merge what they have and write the archive.
 *
 * rec_finish is collective over the job (job.h) and is called inside MPI_Finalize, before MPI's
 * own, or, where no MPI_COMM_WORLD is up, inside the process's last MPI_Session_finalize.
 * A rank whose recording has stopped takes part too, so that nobody waits for it; then no archive
 * is written and rank 0 says which rank failed, and why. finish.c lists the steps and what a rank
 * sends in them: each takes O(log ranks) messages on a tree.
 */
#ifndef RFN_RECORD_FINISH_FINISH_H
#define RFN_RECORD_FINISH_FINISH_H

#include "record/core/recorder.h"

#include <stdbool.h>

/* A barrier of the recorder's own. call: MPI_Finalize, which has begun, and ends with that; NULL:
 * it is not recorded, or ends later. Then comes rec_finish. */
void rec_arrive(struct rec_call *call);
/* From now on nothing is recorded. */
void rec_finish(void);
/* The same in MPI_Abort: the process saves its own events, without the others. */
void rec_finish_alone(void);

/* What an archive of this process alone would have now. */
struct rec_draft {
    struct rfn_buf chunks; /* as archive/journal_format.h has them; to be released */
    uint64_t n_chunks;
    int64_t realtime_ns;
    bool times_lost; /* they are being reduced, and cannot be read */
};
/* Makes one, while the streams hold still (core/pause.h); recording goes on. Finished blocks move
 * to the journals. RFN_E_NOMEM: a stream must not be used further; other errors: nothing has
 * changed.
 */
int rec_finish_draft(struct rec_draft *draft);

#endif
