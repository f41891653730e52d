/* mpi_program.h - becoming a program that is made for one MPI (src/replay, src/calibrate), which is
 * no part of the tool, so that the tool needs no MPI.
 */
#ifndef RFN_CLI_ARGS_MPI_PROGRAM_H
#define RFN_CLI_ARGS_MPI_PROGRAM_H

/* Executes refrain-VERB-FLAVOUR with these words, of which the first is a name and NULL the last.
 * Returns only if that fails: the exit status, after one rank of the job has told why. */
int rfn_become_mpi_program(const char *verb, const char *flavour, char *const *words);

#endif
