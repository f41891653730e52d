/* options.h - what `refrain record` told the recorder, through the environment.
 *
 *   REFRAIN_OUTPUT    file to write (default <program>.<ranks>.rfn where the program started, with
 *                     the name of the executable that calls MPI)
 *   REFRAIN_FORCE     1: overwrite an existing file instead of adding a number to the name
 *   REFRAIN_TIME      full (default) or none
 *   REFRAIN_POLLS     all: every unsuccessful poll is an event of its own
 *   REFRAIN_START     off: nothing is recorded before MPI_Pcontrol(1), except MPI_Init
 *   REFRAIN_PID       the process that was to be recorded: see notice.h
 *   REFRAIN_COMMAND   command line, for the archive (default: the process's own)
 *   REFRAIN_PRELOAD   the recorder's own path in LD_PRELOAD, to be taken out again
 *   REFRAIN_QUIET     1: no line at the end
 *   REFRAIN_CLOCK     tsc, monotonic, mpi: see clock.h
 */
#ifndef RFN_RECORD_OPTIONS_H
#define RFN_RECORD_OPTIONS_H

#include <stdbool.h>

struct rec_options {
    char *output, *program, *command; /* output may be NULL */
    char *executable;                 /* the program as it was called; may be NULL */
    char *directory;                  /* where the program started */
    bool force, times, all_polls, quiet, start_off;
};

extern struct rec_options rec_options;

/* Reads the environment; to be called once, at the first MPI call. */
void rec_options_read(void);
/* Takes the recorder and its variables out of the environment, so that children are clean. */
void rec_options_clean_environment(void);

#endif
