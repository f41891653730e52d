/* Sessions (MPI-4), with and without MPI_COMM_WORLD; MPI has to have sessions. The first is for
 * 3 ranks, the others for any number.
 *
 *   sessions overlap    two sessions, the second one outlives the first
 *   sessions world      a session within the time from MPI_Init to MPI_Finalize, and one around it
 *   sessions again      a session after the last one was finalized
 *   sessions self       nobody communicates with anybody
 *   sessions sets       communicators of mpi://SELF and mpi://WORLD, sessions one after the other
 *   sessions ask        rank 0 asks a session something before all call MPI_Init
 */
#include "expect.h"

#include <string.h>
#include <unistd.h>

static int rank = -1;

static MPI_Session open_session(void)
{
    MPI_Session session;
    CALL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session),
         "info=MPI_INFO_NULL errhandler=MPI_ERRORS_RETURN session=*");
    return session;
}

static MPI_Group group_of(MPI_Session session, const char *set)
{
    MPI_Group group;
    CALL(MPI_Group_from_session_pset(session, set, &group), "pset_name=%s", set);
    return group;
}

/* name: a word of programs/expect.h for the communicator that all members see. */
static MPI_Comm comm_of(MPI_Group group, const char *tag, const char *name)
{
    MPI_Comm comm;
    CALL(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
         "stringtag=%s newcomm=%s", tag, name);
    return comm;
}

static void free_comm(MPI_Comm comm, MPI_Group group, const char *name)
{
    CALL(MPI_Comm_free(&comm), "comm=%s", name);
    CALL(MPI_Group_free(&group), "%s", "");
}

static void learn_rank(MPI_Comm comm, const char *name)
{
    CALL(MPI_Comm_rank(comm, &rank), "comm=%s", name);
}

/* Rank 2 sends to rank 0, in a communicator where these are ranks 0 and 1. */
static void use_pair(MPI_Group world)
{
    int ends[] = {2, 0}, data[7] = {0};
    MPI_Group group;
    CALL(MPI_Group_incl(world, 2, ends, &group), "n=2");
    if (rank != 1) {
        MPI_Comm pair = comm_of(group, "pair", "@pair");
        if (rank == 2)
            CALL(MPI_Send(data, 7, MPI_INT, 1, 3, pair), "dest=1 tag=3 bytes=28 comm=@pair");
        else
            CALL(MPI_Recv(data, 7, MPI_INT, 0, 3, pair, MPI_STATUS_IGNORE),
                 "source=0 tag=3 bytes=28 comm=@pair");
        free_comm(pair, group, "@pair");
    } else {
        CALL(MPI_Group_free(&group), "%s", "");
    }
}

static void overlap(void)
{
    MPI_Session first = open_session(), second = open_session();
    MPI_Group world = group_of(first, "mpi://WORLD"), self = group_of(second, "mpi://SELF"),
              again = group_of(second, "mpi://WORLD");
    MPI_Comm a = comm_of(world, "a", "@a");
    learn_rank(a, "@a");
    use_pair(world);
    free_comm(a, world, "@a");
    CALL(MPI_Session_finalize(&first), "%s", "");
    MPI_Comm b = comm_of(again, "b", "@b");
    char name[16];
    snprintf(name, sizeof name, "@self%d", rank);
    MPI_Comm own = comm_of(self, "own", name);
    int sum, one = 1;
    CALL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, b), "comm=@b bytes=4");
    CALL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, own), "comm=%s", name);
    free_comm(own, self, name);
    free_comm(b, again, "@b");
    CALL(MPI_Session_finalize(&second), "%s", "");
}

/* Which process this is, before MPI has told. */
static int launchers_rank(void)
{
    const char *number = getenv("PMI_RANK");
    return number ? atoi(number) : 0;
}

static void with_world(void)
{
    MPI_Session around = open_session();
    MPI_Group set = group_of(around, "mpi://WORLD");
    MPI_Comm a = comm_of(set, "a", "@a");
    CALL(MPI_Barrier(a), "comm=@a");
    usleep(100000 * launchers_rank()); /* MPICH does not make ranks wait for each other again */
    CALL(MPI_Init(NULL, NULL), "%s", "");
    learn_rank(MPI_COMM_WORLD, "world");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    free_comm(a, set, "@a");
    CALL(MPI_Session_finalize(&around), "%s", "");
    MPI_Session within = open_session();
    CALL(MPI_Session_finalize(&within), "%s", "");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_Finalize(), "%s", "");
}

static int write_log(void)
{
    const char *out = getenv("EXPECT_OUT");
    char path[4096];
    if (!out)
        return 0;
    snprintf(path, sizeof path, "%s.%d", out, rank);
    return expect_write(path);
}

static void again(void)
{
    int failed;
    MPI_Session session = open_session();
    MPI_Group world = group_of(session, "mpi://WORLD");
    MPI_Comm a = comm_of(world, "a", "@a");
    learn_rank(a, "@a");
    free_comm(a, world, "@a");
    CALL(MPI_Session_finalize(&session), "%s", "");
    failed = write_log(); /* now: MPICH may fail to start again */
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session); /* too late to be recorded */
    MPI_Session_finalize(&session);
    exit(failed);
}

static void alone(void)
{
    MPI_Session session = open_session();
    MPI_Group self = group_of(session, "mpi://SELF");
    rank = launchers_rank(); /* nothing else tells here who this is */
    int size;
    CALL(MPI_Group_size(self, &size), "size=1");
    CALL(MPI_Group_free(&self), "%s", "");
    CALL(MPI_Session_finalize(&session), "%s", "");
}

/* A communicator of the set, used and freed. */
static void use_set(MPI_Session session, const char *set, const char *name)
{
    MPI_Group group = group_of(session, set);
    MPI_Comm comm = comm_of(group, "set", name);
    CALL(MPI_Barrier(comm), "comm=%s", name);
    free_comm(comm, group, name);
}

static void sets(void)
{
    char name[16];
    rank = launchers_rank();
    snprintf(name, sizeof name, "@self%d", rank);
    MPI_Session around = open_session();
    use_set(around, "mpi://SELF", name);
    MPI_Session second = open_session();
    use_set(second, "mpi://WORLD", "@world2");
    CALL(MPI_Session_finalize(&second), "%s", "");
    MPI_Session third = open_session();
    snprintf(name, sizeof name, "@third%d", rank);
    use_set(third, "mpi://SELF", name);
    CALL(MPI_Session_finalize(&third), "%s", "");
    CALL(MPI_Session_finalize(&around), "%s", "");
}

static void ask_first(void)
{
    int n;
    rank = launchers_rank();
    MPI_Session session;
    if (rank == 0) {
        session = open_session();
        CALL(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n), "npset_names=%d", n);
        CALL(MPI_Session_finalize(&session), "%s", "");
    }
    CALL(MPI_Init(NULL, NULL), "%s", "");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_Finalize(), "%s", "");
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "overlap") == 0)
        overlap();
    else if (strcmp(how, "world") == 0)
        with_world();
    else if (strcmp(how, "again") == 0)
        again();
    else if (strcmp(how, "sets") == 0)
        sets();
    else if (strcmp(how, "ask") == 0)
        ask_first();
    else
        alone();
    return write_log();
}
