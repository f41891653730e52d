/* attendance.h - which ranks of the job are recorded.
 *
 * Recorded ranks wait for each other, and write one archive. Ranks that were started without
 * `refrain record` never come, and none of MPI's own calls asks whether they will: a message to one
 * of them could match a receive of the program's. So each recorded rank of a job on one node leaves
 * a mark in a file of the job, before it starts MPI, by a session or by MPI_Init. No rank leaves
 * MPI_Init before all have started MPI, so then each reads all marks. (It may leave before all have
 * entered MPI_Init: under MPICH ranks wait for each other in a session's start, and not again.)
 *
 * The file is where all ranks of the job and no others find it:
 *
 *   Open MPI's mpirun    in PMIX_SERVER_TMPDIR, by PMIX_NAMESPACE; mpirun removes the folder
 *   hydra (MPICH)        in /dev/shm, by the process that started the ranks, which the socket
 *                        PMI_FD tells; if that process has the same /dev/shm
 *
 *     file            of each rank, at its number, a byte: 1: it is recorded
 *
 * A killed job leaves its file in /dev/shm. So each process shares the lock of the file (base/
 * system.h) as long as it may be needed, and the user's next run removes files that nobody uses,
 * and the files of processes that sampled and are gone (reduce/samples/live_segment.h).
 *
 * Everywhere else (several nodes, other launchers, sessions without MPI_Init) ranks are taken to be
 * recorded, and are waited for (wait_warning.h).
 */
#ifndef RFN_RECORD_CORE_ATTENDANCE_H
#define RFN_RECORD_CORE_ATTENDANCE_H

/* Before MPI's own start, whichever call that is. */
void rec_attendance_mark(void);

/* After MPI_Init: if some ranks are not recorded, the job of the others becomes their own (job.h).
 */
void rec_attendance_settle(void);

/* Removes the file; by the first rank that is recorded, once all have read it. */
void rec_attendance_end(void);

#endif
