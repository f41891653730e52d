/* Windows with one rank that is late everywhere: a fence, post and start, locks. Ranks: 4.
 *
 *   one_sided_waits milliseconds
 *
 * The window lies on a communicator in which the ranks are in reverse order. Between the parts are
 * barriers, so that each begins with the ranks in step.
 *
 *   fence          rank 1 is late: ranks 0, 2, 3 wait in the second MPI_Win_fence
 *   late post      rank 2 exposes late to 0 and 3, which wait in MPI_Win_start, MPI_Put or
 *                  MPI_Win_complete, whichever the MPI lets block
 *   late complete  rank 3 completes late: 0 and 1, which it accesses, wait in MPI_Win_wait
 *   lock           rank 0 holds the exclusive lock of rank 3 for long; rank 1 wants it meanwhile
 */
#include <mpi.h>

#include <stdlib.h>
#include <time.h>

/* Under SMPI nanosleep is replaced: it pauses in simulated time. */
static void pause_for(double seconds)
{
    struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&pause, NULL);
}

static int rank;
static double late;
static int data[4];

/* The rank in the window's communicator of a rank of MPI_COMM_WORLD. */
static int reversed(int world_rank)
{
    return 3 - world_rank;
}

static MPI_Group group_of(MPI_Win win, int n, const int *world_ranks)
{
    MPI_Group all, group;
    int ranks[4];
    for (int i = 0; i < n; i++)
        ranks[i] = reversed(world_ranks[i]);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, n, ranks, &group);
    MPI_Group_free(&all);
    return group;
}

static void fence(MPI_Win win)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(data, 1, MPI_INT, reversed((rank + 1) % 4), 0, 1, MPI_INT, win);
    if (rank == 1)
        pause_for(late);
    MPI_Win_fence(0, win);
}

static void late_post(MPI_Win win)
{
    const int origins[2] = {0, 3}, target = 2;
    MPI_Group group = rank == 2 ? group_of(win, 2, origins) : group_of(win, 1, &target);
    if (rank == 2) {
        pause_for(late);
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
    } else if (rank == 0 || rank == 3) {
        MPI_Win_start(group, 0, win);
        MPI_Put(data, 1, MPI_INT, reversed(2), rank, 1, MPI_INT, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&group);
}

static void early_wait(MPI_Win win)
{
    const int targets[2] = {0, 1}, origin = 3;
    MPI_Group group = rank == 3 ? group_of(win, 2, targets) : group_of(win, 1, &origin);
    if (rank == 3) {
        MPI_Win_start(group, 0, win);
        MPI_Put(data, 1, MPI_INT, reversed(0), 0, 1, MPI_INT, win);
        MPI_Put(data, 1, MPI_INT, reversed(1), 0, 1, MPI_INT, win);
        pause_for(late);
        MPI_Win_complete(win);
    } else if (rank < 2) {
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&group);
}

/* Flushed, so that rank 0 has the lock, however late the MPI takes it, before rank 1 asks. */
static void locks(MPI_Win win)
{
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, reversed(3), 0, win);
        MPI_Put(data, 1, MPI_INT, reversed(3), 1, 1, MPI_INT, win);
        MPI_Win_flush(reversed(3), win);
        pause_for(late);
        MPI_Win_unlock(reversed(3), win);
    } else if (rank == 1) {
        pause_for(late / 2);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, reversed(3), 0, win);
        MPI_Put(data, 1, MPI_INT, reversed(3), 2, 1, MPI_INT, win);
        MPI_Win_unlock(reversed(3), win);
    }
}

int main(int argc, char **argv)
{
    static int memory[8];
    MPI_Comm comm;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    late = argc > 1 ? atof(argv[1]) * 1e-3 : 0.1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, reversed(rank), &comm);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, comm, &win);
    fence(win);
    MPI_Barrier(MPI_COMM_WORLD);
    late_post(win);
    MPI_Barrier(MPI_COMM_WORLD);
    early_wait(win);
    MPI_Barrier(MPI_COMM_WORLD);
    locks(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
