/* finish.h - the end of recording: the ranks merge what they have and write the archive.
 *
 * rec_finish is collective over the job (place.h) and is called inside MPI_Finalize, before MPI's
 * own, or, where no MPI_COMM_WORLD is up, inside the process's last MPI_Session_finalize.
 * A rank whose recording has stopped takes part too, so that nobody waits for it; then no archive
 * is written and rank 0 says which rank failed, and why. finish.c lists the steps and what a rank
 * sends in them: each takes O(log ranks) messages on a tree.
 */
#ifndef RFN_RECORD_FINISH_H
#define RFN_RECORD_FINISH_H

#include "record/recorder.h"

#include <stdbool.h>

extern struct rec_stream *rec_streams; /* all streams of the process, newest first */

/* The clock when the recorder woke up. */
struct rec_clock_pair rec_start(void);
uint32_t rec_error_class(int rc);
/* Whether this process is rank 0 of the job, as known since MPI has been up. */
bool rec_is_first_rank(void);

/* Removes the files of all streams' journals. */
void rec_journals_remove(void);

/* In MPI_Init when MPI's own has succeeded (also when recording has stopped: other ranks may wait
 * for this one), after MPI_Session_init: learns the process's place; the first compares clocks of
 * nodes (clock_sync.h). */
void rec_initialized(void);
void rec_initialized_session(void);
/* A barrier of the recorder's own. call: MPI_Finalize, which has begun, and ends with that; NULL:
 * it is not recorded, or ends later. Then comes rec_finish. */
void rec_finish_barrier(struct rec_call *call);
/* From now on nothing is recorded. */
void rec_finish(void);
/* The same in MPI_Abort: the process saves its own events, without the others. */
void rec_finish_alone(void);

#endif
