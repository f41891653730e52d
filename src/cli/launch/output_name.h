/* output_name.h - variables in the name of an archive, as `refrain record -o` is given it.
 *
 *     %r      how many ranks the job has, as the launcher says; 1 without one
 *     %h      the host's name
 *     %j      the number that the job's scheduler gave it; without a scheduler that of the process
 *             which started this one (mpirun of Open MPI, a proxy of MPICH's, a shell)
 *     %e      the program, without folders
 *     %{VAR}  the environment's variable VAR, which has to be set
 *     %%      a percent sign
 *
 * The archive has the name that rank 0 makes of this.
 */
#ifndef RFN_CLI_LAUNCH_OUTPUT_NAME_H
#define RFN_CLI_LAUNCH_OUTPUT_NAME_H

#include "refrain/error.h"

/* Puts values in the place of variables; *name is to be freed. name NULL: looks only whether there
 * are such variables. RFN_E_USAGE: there are not, or one is not set; RFN_E_NOMEM. */
int rfn_output_name(const char *pattern, const char *program, char **name, struct rfn_diag *diag);

/* The text with its percent signs doubled, to be freed, or NULL without memory. */
char *rfn_output_quoted(const char *text);

#endif
