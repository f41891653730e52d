/* Making, using and freeing communicators. A word @x stands for one communicator on all ranks.
 * ranks: 4 */
#include "expect.h"

static int rank;

/* A barrier and, between the first two ranks, a message, so that the communicator is used. */
static void use(MPI_Comm comm, const char *name)
{
    int own, data = 0;
    CALL(MPI_Comm_rank(comm, &own), "comm=%s", name);
    CALL(MPI_Barrier(comm), "comm=%s", name);
    if (own == 0)
        CALL(MPI_Send(&data, 1, MPI_INT, 1, 5, comm), "dest=1 tag=5 comm=%s bytes=4", name);
    if (own == 1)
        CALL(MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE),
             "source=0 tag=5 comm=%s bytes=4", name);
}

static void release(MPI_Comm *comm, const char *name)
{
    CALL(MPI_Comm_free(comm), "comm=%s", name);
}

static void split(void)
{
    MPI_Comm half, some;
    const char *name = rank % 2 ? "@odd" : "@even";
    int size;
    CALL(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half),
         "comm=world color=%d key=%d newcomm=%s", rank % 2, -rank, name);
    CALL(MPI_Comm_size(half, &size), "comm=%s size=2", name);
    use(half, name);
    int color = rank < 3 ? 7 : MPI_UNDEFINED;
    CALL(MPI_Comm_split(MPI_COMM_WORLD, color, 0, &some), "comm=world color=%s key=0 newcomm=%s",
         rank < 3 ? "7" : "UNDEFINED", rank < 3 ? "@three" : "MPI_COMM_NULL");
    if (rank < 3) {
        use(some, "@three");
        release(&some, "@three");
    }
    release(&half, name);
    CALL(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &half),
         "comm=world key=0 info=MPI_INFO_NULL newcomm=@node");
    use(half, "@node");
    release(&half, "@node");
}

/* Duplicates of duplicates; a loop that makes and frees one has the same each time. */
static void duplicates(void)
{
    MPI_Comm dup, again, later;
    MPI_Request request;
    int result;
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "comm=world newcomm=@dup");
    CALL(MPI_Comm_dup(dup, &again), "comm=@dup newcomm=@dupdup");
    CALL(MPI_Comm_compare(dup, again, &result), "comm1=@dup comm2=@dupdup result=%d",
         MPI_CONGRUENT);
    use(again, "@dupdup");
    release(&dup, "@dup");
    use(again, "@dupdup");
    release(&again, "@dupdup");
    CALL(MPI_Comm_idup(MPI_COMM_WORLD, &later, &request), "comm=world newcomm=@idup");
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1");
    use(later, "@idup");
    for (int i = 0; i < 3; i++) {
        CALL(MPI_Comm_dup(later, &dup), "comm=@idup newcomm=@loop");
        use(dup, "@loop");
        release(&dup, "@loop");
    }
    release(&later, "@idup");
}

static void from_groups(void)
{
    MPI_Group world, part;
    MPI_Comm comm;
    const int first[3] = {2, 0, 1};
    const char *name = rank < 3 ? "@created" : "MPI_COMM_NULL";
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world), "comm=world group=group#0");
    CALL(MPI_Group_incl(world, 3, first, &part), "group=group#0 ranks=[2,0,1] newgroup=group#1");
    CALL(MPI_Comm_create(MPI_COMM_WORLD, part, &comm), "comm=world group=group#1 newcomm=%s", name);
    if (rank < 3) {
        use(comm, "@created");
        release(&comm, "@created");
        CALL(MPI_Comm_create_group(MPI_COMM_WORLD, part, 17, &comm),
             "comm=world group=group#1 tag=17 newcomm=@grouped");
        use(comm, "@grouped");
        release(&comm, "@grouped");
    }
    CALL(MPI_Group_free(&part), "group=group#1");
    CALL(MPI_Group_free(&world), "group=group#0");
}

static void grid(void)
{
    int dims[2] = {0, 0}, periodic[2] = {0, 1}, keep[2] = {0, 1}, source, dest;
    MPI_Comm cart, line;
    const char *name = rank < 2 ? "@row0" : "@row1";
    CALL(MPI_Dims_create(4, 2, dims), "nnodes=4 ndims=2 dims=[0,0] dims=[2,2]");
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &cart),
         "comm_old=world ndims=2 dims=[2,2] periods=[0,1] reorder=0 comm_cart=@cart");
    CALL(MPI_Cart_shift(cart, 0, 1, &source, &dest), "comm=@cart direction=0 disp=1");
    CALL(MPI_Sendrecv(&rank, 1, MPI_INT, dest, 1, keep, 1, MPI_INT, source, 1, cart,
                      MPI_STATUS_IGNORE),
         "dest=%s source=%s comm=@cart bytes=%d sent_bytes=%d",
         rank < 2 ? (rank ? "3" : "2") : "PROC_NULL",
         rank < 2    ? "PROC_NULL"
         : rank == 2 ? "0"
                     : "1",
         rank < 2 ? 0 : 4, rank < 2 ? 4 : 0);
    keep[0] = 0, keep[1] = 1;
    CALL(MPI_Cart_sub(cart, keep, &line), "comm=@cart remain_dims=[0,1] newcomm=%s", name);
    use(line, name);
    release(&line, name);
    release(&cart, "@cart");
}

/* Peers of an inter-communicator are ranks of the other group. */
static void inter(void)
{
    MPI_Comm half, across, all;
    int flag, size, data = 0;
    const char *name = rank < 2 ? "@low" : "@high";
    CALL(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half), "newcomm=%s", name);
    CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 3, &across),
         "local_comm=%s local_leader=0 tag=3 newintercomm=@across", name);
    CALL(MPI_Comm_test_inter(across, &flag), "comm=@across flag=1");
    CALL(MPI_Comm_remote_size(across, &size), "comm=@across size=2");
    if (rank == 1)
        CALL(MPI_Send(&data, 1, MPI_INT, 0, 4, across), "dest=0 comm=@across bytes=4");
    if (rank == 2)
        CALL(MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 4, across, MPI_STATUS_IGNORE),
             "source=1 comm=@across bytes=4");
    int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;
    CALL(MPI_Bcast(&data, 1, MPI_INT, root, across), "root=%s comm=@across %s",
         rank == 0   ? "ROOT"
         : rank == 1 ? "PROC_NULL"
                     : "0",
         rank == 1 ? "!bytes" : "bytes=4");
    CALL(MPI_Intercomm_merge(across, rank < 2, &all),
         "intercomm=@across high=%d newintracomm=@merged", rank < 2);
    use(all, "@merged");
    release(&all, "@merged");
    release(&across, "@across");
    release(&half, name);
}

/* A communicator of the process alone differs from process to process. */
static void alone(void)
{
    int data = 0, back;
    CALL(MPI_Sendrecv(&data, 1, MPI_INT, 0, 1, &back, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
                      MPI_STATUS_IGNORE),
         "dest=0 source=0 comm=self bytes=4 sent_bytes=4");
    MPI_Comm own;
    CALL(MPI_Comm_dup(MPI_COMM_SELF, &own), "comm=self newcomm=@self%d", rank);
    CALL(MPI_Barrier(own), "comm=@self%d", rank);
    CALL(MPI_Comm_set_name(own, "mine"), "comm=@self%d comm_name=mine", rank);
    CALL(MPI_Comm_free(&own), "comm=@self%d", rank);
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    split();
    duplicates();
    from_groups();
    grid();
    inter();
    alone();
    return expect_finalize(rank);
}
