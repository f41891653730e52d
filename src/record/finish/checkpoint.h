/* checkpoint.h - what survives a process that does not come to MPI_Finalize: the journal.
 *
 * A thread of the recorder's own, which has all signals blocked and never calls MPI, makes a
 * checkpoint of the process about every second: it holds the streams still (core/pause.h),
 * drafts an archive of this process alone (rec_finish_draft), lets them go on, and writes what it
 * has to one of two files in turn (archive/journal_format.h). The size of a checkpoint does not
 * depend on the length of the run, as finished blocks of columns are already on disk. The next one
 * comes later if this one held the streams for long: at most a twentieth of the time goes to that.
 *
 * Journals are kept with --journal, or once a run has lasted for a minute; a process that ends
 * without MPI_Finalize makes one checkpoint in any case. Not under SMPI, where ranks are not
 * processes, and not where no trace is kept.
 */
#ifndef RFN_RECORD_FINISH_CHECKPOINT_H
#define RFN_RECORD_FINISH_CHECKPOINT_H

#include "refrain/journal.h"

/* When MPI is up. */
void rec_checkpoints_start(void);
/* No more come. Waits for one that is being made. */
void rec_checkpoints_end(void);

/* In place of rec_checkpoints_end: the last one comes now, of a process that does not come to
 * MPI_Finalize. Waits a few seconds for it. Returns whether there is a journal. */
bool rec_checkpoint_last(enum rfn_journal_state state);
/* Whether the process has written a checkpoint. */
bool rec_checkpoint_is_there(void);
/* The folder of the journals; "" as long as there is none. */
const char *rec_checkpoint_folder(void);

/* Removes the process's checkpoints, as the archive has all. */
void rec_checkpoints_remove(void);

#endif
