#include "record/core/launch_checks.h"

#include "record/core/job.h"
#include "record/core/message.h"
#include "record/core/recorder.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef RFN_FLAVOUR_SMPI /* whose ranks are in one process, without a launcher */

bool rec_is_launchers_first(void)
{
    const char *rank = getenv("PMIX_RANK"); /* of launchers that say nothing else */
    return rec_job_launched().rank == 0 &&
           (rec_job_launched().size > 0 || !rank || strtol(rank, NULL, 10) == 0);
}

/* ---- the notices ---- */

void rec_launch_check_gaps(int ranks)
{
    const struct rec_launched launched = rec_job_launched();
    if (ranks == 1 && launched.size > 1 && launched.rank == 0)
        rec_message("the launcher started %d processes, but each is alone with its MPI and has an "
                    "archive of its own: the launcher belongs to another MPI than the program; use "
                    "the mpirun of the program's MPI",
                    launched.size);
}

/* Whether the process has started MPI. The table is empty: no call came through the recorder. */
static bool mpi_was_initialized(void)
{
    void *library = rec_mpi_loaded(),
         *address = library ? dlsym(library, "PMPI_Initialized") : NULL;
    int (*initialized)(int *);
    int flag = 0;
    if (!address)
        return false;
    memcpy(&initialized, &address, sizeof address);
    return initialized(&flag) == MPI_SUCCESS && flag;
}

#ifdef __x86_64__
#define BY_DLSYM ""
#else
#define BY_DLSYM ", or fetched them by dlsym, which is not followed on this machine"
#endif

void rec_launch_check_unused(void)
{
    const char *started = getenv("REFRAIN_PID");
    struct rusage children;
    if (!started || strtol(started, NULL, 10) != getpid() || !rec_is_launchers_first())
        return;
    if (mpi_was_initialized())
        rec_message(
            "no archive was written: no MPI call came through the recorder; what calls MPI was "
            "loaded with RTLD_DEEPBIND, or calls its PMPI functions" BY_DLSYM);
    else if (getrusage(RUSAGE_CHILDREN, &children) == 0 && children.ru_maxrss == 0)
        rec_message("no archive was written: the program called no MPI function");
}

#else

bool rec_is_launchers_first(void)
{
    return true;
}

void rec_launch_check_gaps(int ranks)
{
    (void)ranks;
}

#endif
