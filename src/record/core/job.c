#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct ucred */
#endif

#include "record/core/job.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int own_rank = -1, n_ranks;
static MPI_Group all;
static bool has_group;
/* Where some ranks are not recorded: */
static struct {
    bool is;
    int first;
    MPI_Comm comm;
} limited;
static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER; /* sessions may start in threads */

bool rec_job_in_world(void)
{
    int initialized = 0, finalized = 0;
    return rec_mpi.MPI_Initialized(&initialized) == MPI_SUCCESS && initialized &&
           rec_mpi.MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized;
}

#ifdef REC_HAVE_SESSION
static MPI_Session session;
static MPI_Comm comm;
static bool has_session, has_comm;

static bool group_of_session(void)
{
    if (!rec_mpi.MPI_Session_init)
        return false;
    has_session = has_session || rec_mpi.MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                          &session) == MPI_SUCCESS;
    return has_session &&
           rec_mpi.MPI_Group_from_session_pset(session, "mpi://WORLD", &all) == MPI_SUCCESS;
}

static MPI_Comm comm_of_session(void)
{
    MPI_Group group;
    if (!has_comm && rec_job_group(&group) == 0 && has_session)
        has_comm = rec_mpi.MPI_Comm_create_from_group(group, "refrain", MPI_INFO_NULL,
                                                      MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS;
    return has_comm ? comm : MPI_COMM_NULL;
}

static void release_session(void)
{
    if (has_comm)
        rec_mpi.MPI_Comm_free(&comm);
    if (has_session)
        rec_mpi.MPI_Session_finalize(&session);
    has_comm = has_session = false;
}
#else
static bool group_of_session(void)
{
    return false;
}

static MPI_Comm comm_of_session(void)
{
    return MPI_COMM_NULL;
}

static void release_session(void)
{
}
#endif

int rec_job_group(MPI_Group *group)
{
    pthread_mutex_lock(&learning);
    if (!has_group)
        has_group = rec_job_in_world() ? rec_mpi.MPI_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS
                                       : group_of_session();
    pthread_mutex_unlock(&learning);
    *group = has_group ? all : MPI_GROUP_NULL;
    return has_group ? 0 : RFN_E_NOTFOUND;
}

static char mpi_version[MPI_MAX_LIBRARY_VERSION_STRING + 1];
static char processor[MPI_MAX_PROCESSOR_NAME + 1];

/* What another thread than one of the program's may not ask MPI. */
static void learn_names(void)
{
    int length = 0;
    rec_mpi.MPI_Get_library_version(mpi_version, &length);
    mpi_version[strcspn(mpi_version, "\n")] = 0;
    for (char *c = mpi_version; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    rec_mpi.MPI_Get_processor_name(processor, &length);
}

const char *rec_job_mpi_version(void)
{
    return mpi_version;
}

bool rec_job_learn(void)
{
    MPI_Group group;
    if (own_rank < 0 && rec_job_group(&group) == 0 &&
        rec_mpi.MPI_Group_size(group, &n_ranks) == MPI_SUCCESS &&
        rec_mpi.MPI_Group_rank(group, &own_rank) == MPI_SUCCESS) {
        rec_limit_times(n_ranks);
        learn_names();
    }
    return own_rank >= 0;
}

int rec_job_rank(void)
{
    return own_rank;
}

int rec_job_size(void)
{
    return n_ranks;
}

bool rec_job_is_first(void)
{
    return own_rank == limited.first;
}

void rec_job_limit(int first, MPI_Comm recorded)
{
    limited.is = true;
    limited.first = first;
    limited.comm = recorded;
}

bool rec_job_is_limited(void)
{
    return limited.is;
}

MPI_Comm rec_job_comm(void)
{
    if (limited.is)
        return limited.comm;
    return rec_job_in_world() ? MPI_COMM_WORLD : comm_of_session();
}

bool rec_job_comm_is_programs(void)
{
    return rec_job_in_world() && !limited.is;
}

void rec_job_release(void)
{
    if (limited.is && limited.comm != MPI_COMM_NULL)
        rec_mpi.MPI_Comm_free(&limited.comm);
    limited.is = false;
    if (has_group)
        rec_mpi.MPI_Group_free(&all);
    has_group = false;
    release_session();
}

/* ---- the host ---- */

/* Of this host; 0: not known. Simulated hosts have those of the platform, which matter to nobody.
 */
static uint64_t cores(void)
{
#ifdef RFN_FLAVOUR_SMPI
    return 0;
#else
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint64_t)n : 0;
#endif
}

int rec_job_host(struct rfn_buf *content)
{
    rfn_buf_string(content, processor);
    rfn_buf_varint(content, cores());
    return rfn_buf_status(content);
}

/* ---- what launchers say ---- */

/* The number that a variable has; -1 without one. */
static long number_of(const char *variable)
{
    const char *set = getenv(variable);
    char *end = NULL;
    long number = set ? strtol(set, &end, 10) : -1;
    return set && *set && !*end ? number : -1;
}

static const struct launcher {
    const char *rank, *ranks, *said, *here;
    bool nodes; /* how many nodes there are, and not how many ranks are here */
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", false},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", false},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_NODES", "SLURM_LOCALID", true}};

struct rec_launched rec_job_launched(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const long rank = number_of(launchers[i].rank), size = number_of(launchers[i].ranks);
        if (rank >= 0 && rank < size && size <= INT_MAX)
            return (struct rec_launched){.rank = (int)rank, .size = (int)size};
    }
    return (struct rec_launched){0};
}

bool rec_job_on_one_node(int size)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        long said = number_of(launchers[i].said);
        if (number_of(launchers[i].ranks) == size && said > 0)
            return said == (launchers[i].nodes ? 1 : size);
    }
    return false;
}

bool rec_job_of_several_programs(void)
{
    return number_of("OMPI_NUM_APP_CTX") > 1;
}

bool rec_job_is_first_here(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const long here = number_of(launchers[i].here);
        if (here >= 0)
            return here == 0;
    }
    return true;
}

long rec_job_pmi_server(void)
{
    struct ucred server = {0};
    socklen_t size = sizeof server;
    const long fd = number_of("PMI_FD");
    if (fd < 0 || fd > INT_MAX || getsockopt((int)fd, SOL_SOCKET, SO_PEERCRED, &server, &size) != 0)
        return 0;
    return server.pid;
}
