#include "record/place.h"

#include <pthread.h>

static int own_rank = -1, n_ranks;
static MPI_Group all;
static bool has_group;
static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER; /* sessions may start in threads */

bool rec_place_in_world(void)
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
    if (!has_comm && rec_place_group(&group) == 0 && has_session)
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

int rec_place_group(MPI_Group *group)
{
    pthread_mutex_lock(&learning);
    if (!has_group)
        has_group = rec_place_in_world()
                        ? rec_mpi.MPI_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS
                        : group_of_session();
    pthread_mutex_unlock(&learning);
    *group = has_group ? all : MPI_GROUP_NULL;
    return has_group ? 0 : RFN_E_NOTFOUND;
}

bool rec_place_learn(void)
{
    MPI_Group group;
    if (own_rank < 0 && rec_place_group(&group) == 0 &&
        rec_mpi.MPI_Group_size(group, &n_ranks) == MPI_SUCCESS)
        rec_mpi.MPI_Group_rank(group, &own_rank);
    return own_rank >= 0;
}

int rec_place_rank(void)
{
    return own_rank;
}

int rec_place_size(void)
{
    return n_ranks;
}

MPI_Comm rec_place_comm(void)
{
    return rec_place_in_world() ? MPI_COMM_WORLD : comm_of_session();
}

void rec_place_release(void)
{
    if (has_group)
        rec_mpi.MPI_Group_free(&all);
    has_group = false;
    release_session();
}
