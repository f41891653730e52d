/* attendance.h - which ranks of the job are recorded.
 *
 * Recorded ranks wait for each other, and write one archive. Ranks that were started without
 * `refrain record` never come, and none of MPI's own calls asks whether they will: a message to one
 * of them could match a receive of the program's. So each recorded rank leaves a mark in a file
 * beside the archive, FILE.ranks, before it enters MPI's start, which none leaves before all have
 * entered it; then each reads which ones are there, and all find the same. The file goes at the end
 * of the run.
 *
 *     FILE.ranks      of each rank, at 16 bytes times its number:
 *                     word    XXH3-64 of the launcher's name of the job; 0: it has none
 *                     word    the time of day, in ms; 0: there is no mark
 *
 * A mark that is missing says little where ranks have different file systems. They are taken to be
 * recorded then, and are waited for (wait_warning.h).
 */
#ifndef RFN_RECORD_CORE_ATTENDANCE_H
#define RFN_RECORD_CORE_ATTENDANCE_H

/* Before MPI's own start. Does nothing where the launcher does not tell the process's rank. */
void rec_attendance_mark(void);

/* After it: if some ranks are not recorded, the job of the others becomes their own (job.h). */
void rec_attendance_settle(void);

/* Removes the file, once all recorded ranks have come to their end. */
void rec_attendance_end(void);

#endif
