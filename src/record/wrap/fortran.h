/* fortran.h - calls from Fortran: how they become the same events as calls from C.
 *
 * A Fortran program calls mpi_send_ (mpif.h, `use mpi`) or mpi_send_f08_ (`use mpi_f08`) of MPI's
 * Fortran library, which converts the arguments (handles, sentinels, statuses, strings, indices)
 * and calls the C function, in Open MPI and in parts of MPICH by its PMPI name. The recorder leaves
 * the conversion to that library and stands at both ends:
 *
 *     program --> mpi_send_ (entry) --> mpi_send_ (MPI's) --> PMPI_Send or MPI_Send (wrapper)
 *
 * The entry (fortran.gen.c) says that a call of MPI_Send is to come, and keeps its own frame, where
 * the call path starts. The first call of this function inside is the event, recorded by the C
 * wrapper. Any other call inside (a datatype for an array section, say) passes through, as does a
 * PMPI function that no entry waits for: a C program calls it where it does not want to be seen.
 *
 * Functions that some libraries do not pass on to C (attributes, callbacks, keys of an info) have
 * entries that record by themselves: their arguments are plain numbers and strings.
 */
#ifndef RFN_RECORD_WRAP_FORTRAN_H
#define RFN_RECORD_WRAP_FORTRAN_H

#include "record/core/past_calls.h"
#include "record/core/recorder.h"

/* An entry begins; its frame is that of its caller's call path. False: inside of another call,
 * nothing is to be done at the end. While ranks may merge (online_merge.h), a call inside of
 * another one goes through its wrapper all the same, as it does from C: the other call may have
 * been left by a jump. */
bool rec_fortran_enter(uint32_t function, void *frame);
void rec_fortran_leave(void);

/* The Fortran call that goes on is over for the recorder (MPI_Finalize writes the archive in it).
 */
void rec_fortran_over(void);

/* Sets *next, a pointer to function, to MPI's own entry of this name. Without it the program could
 * not have been linked; should it be missing all the same, the process ends (rec_mpi_missing). */
void rec_fortran_find(void *next, const char *symbol, uint32_t function);

/* Appends a string without the blanks around it, as rec_in_string does. length: some compilers pass
 * 32 bits, and no string is longer. */
void rec_in_fortran_string(struct rec_call *call, const char *text, uint32_t length);

/* The entry of this name in MPI's libraries for Fortran, as far as they are loaded, or NULL. */
void *rec_fortran_loaded(const char *symbol);

/* A PMPI function was called before any MPI function: fills the table. Ends the process when the
 * library does not have the function. */
void rec_fortran_need(uint32_t function) __attribute__((cold));

#endif
