/* finish.h - the end of recording: the ranks merge what they have and write the archive.
 *
 * rec_finish is collective over MPI_COMM_WORLD and is called inside MPI_Finalize, before MPI's own.
 * A rank whose recording has stopped takes part too, so that nobody waits for it; then no archive
 * is written and rank 0 says which rank failed, and why. The steps, each O(log ranks) messages on a
 * tree:
 *
 *   1. inputs that one rank moved to columns are moved on all (rfn_union_run)
 *   2. definitions, structures and value sets get numbers (rfn_merge_run)
 *   3. what depends on the rank is joined to tables (rfn_tables_run)
 *   4. sizes become offsets (rfn_exchange_scan); rank 0 creates the file and writes the front,
 *      every rank writes its chunks at its offset, rank 0 the table of contents and, last, the
 *      header that declares the file whole
 */
#ifndef RFN_RECORD_FINISH_H
#define RFN_RECORD_FINISH_H

#include "record/recorder.h"

#include <stdbool.h>

extern struct rec_stream *rec_streams; /* all streams of the process, newest first */

/* The clock when the recorder woke up. */
struct rec_clock_pair rec_start(void);
uint32_t rec_error_class(int rc);
/* Whether this process is rank 0 of MPI_COMM_WORLD, as known since MPI_Init. */
bool rec_is_first_rank(void);
/* This process's rank, -1 as long as it is not known; the number of ranks, 0. */
int rec_world_rank(void);
int rec_world_size(void);

/* Removes the files of all streams' journals. */
void rec_journals_remove(void);

/* After MPI_Init: remembers the process's place, cleans the environment. */
void rec_initialized(void);
/* A barrier of the recorder's own, before the exit of MPI_Finalize is stamped. */
void rec_finish_barrier(void);
/* From now on nothing is recorded. */
void rec_finish(void);

#endif
