/* spawn.h - processes that the program starts (MPI_Comm_spawn): recorded into an archive of their
 * own, which the event of the call names.
 *
 * The root hands MPI `refrain record ... -- COMMAND ARGUMENTS` in the place of the command. The
 * tool is told that it stands in for a command (--in-place): it then behaves to MPI as the command
 * would, whether the command can be recorded or not. Where the root is not sure of that beforehand,
 * it leaves the call as it is, and says once that these processes are not recorded.
 */
#ifndef RFN_RECORD_WRAP_SPAWN_H
#define RFN_RECORD_WRAP_SPAWN_H

#include "record/core/recorder.h"

/* What is handed to MPI instead of the program's arguments. */
struct rec_spawn {
    char **commands; /* the tool, per command; NULL: the call stays as it is */
    char ***argvs;   /* each ends with NULL */
    int n;
    char *archive; /* its name, without folders */
};

/* On the root: fills *spawn from what the program gives (argvs may be MPI_ARGVS_NULL, and each of
 * them NULL). To be released in any case. */
void rec_spawn_prepare(struct rec_spawn *spawn, int n, char *const *commands, char **const *argvs,
                       const MPI_Info *infos);
void rec_spawn_release(struct rec_spawn *spawn);

#endif
