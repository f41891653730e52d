#define _POSIX_C_SOURCE 200809L /* access' modes */
#include "cli/args/mpi_program.h"

#include "cli/args/command.h"
#include "cli/launch/mpi_environment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *what, const char *why)
{
    if (rfn_job_speaks())
        rfn_command_error("%s: %s", what, why);
    return RFN_EXIT_FAILURE;
}

int rfn_become_mpi_program(const char *verb, const char *flavour, char *const *words)
{
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "refrain-%s-%s", verb, flavour);
    if (!rfn_find_part(name, X_OK, path))
        return fail(name, "this program is not there: Refrain was built where that MPI was not "
                          "installed; install it and build Refrain again");
    execv(path, words);
    return fail(path, strerror(errno));
}
