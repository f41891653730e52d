/* mpi_program.h - becoming a program that is made for one MPI (src/replay, src/calibrate,
 * src/gather), which is no part of the tool, which needs no MPI.
 */
#ifndef RFN_CLI_ARGS_MPI_PROGRAM_H
#define RFN_CLI_ARGS_MPI_PROGRAM_H

/* Executes refrain-VERB-FLAVOUR with these words: the first is a name, the last NULL.
 * Returns only if that fails: the exit status, after one rank of the job has told why. */
int rfn_become_mpi_program(const char *verb, const char *flavour, char *const *words);

#endif
