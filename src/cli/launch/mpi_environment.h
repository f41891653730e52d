/* mpi_environment.h - what a process of the tool knows of the MPI job that it is started in, and
 * the parts of Refrain that are made for one MPI each.
 */
#ifndef RFN_CLI_LAUNCH_MPI_ENVIRONMENT_H
#define RFN_CLI_LAUNCH_MPI_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this process is to speak: outside of a job every process is, inside of one rank 0, and
 * where the launcher tells, the first rank of each of several programs. */
bool rfn_job_speaks(void);
/* The same, where options are those of the whole job. */
bool rfn_job_is_first(void);

/* How many ranks the launcher says that the job has; 1 outside of one. */
long rfn_job_size(void);

/* Which MPI the job's launcher belongs to, "openmpi" or "mpich", or NULL. Slurm sets PMI_RANK for
 * both. */
const char *rfn_job_flavour(void);

/* The path of this executable: size bytes at path. */
bool rfn_own_path(char *path, size_t size);

/* The path of a file that is built with the tool: in lib/ beside the tool where it was built, in
 * lib/refrain beside its directory where it is installed. access_mode is that of access(2). *path
 * holds at least PATH_MAX bytes. */
bool rfn_find_part(const char *name, int access_mode, char *path);

#endif
