/* online_merge.h - ranks merge while the program runs (--merge-interval).
 *
 * They do so only where the program itself has them all together: in its blocking calls of
 * MPI_Barrier, MPI_Allreduce, MPI_Alltoall, MPI_Allgather and MPI_Reduce_scatter_block, of more
 * than nothing (a datatype may be empty, too), on communicators of all ranks. Each rank gets
 * something of every other one there, so none leaves such a call before all have entered it (as
 * ranks may leave an MPI_Bcast, and those that get nothing an MPI_Alltoallv). The calls come in one
 * order on all ranks, and the k-th of them is the same one everywhere: every rank knows without a
 * message that it is there. When a call has returned that they have agreed upon, its event
 * recorded, the ranks merge on a communicator of their own:
 *
 *   1. inputs that one rank has moved to columns move on all (varying_params_sync.h)
 *   2. what was measured is reduced: an epoch (reduce/fold/stream.h), in the same place on all
 * ranks, so that streams which did the same keep the same structure
 *   3. rank 0 tells after how many calls they merge again (rfn_merge_interval_next)
 *   4. definitions that are new go up the tree (reduce/merge/merge.h): functions, call paths,
 * datatypes, hosts and regions. Communicators wait for the end, as only one member knows its
 * members
 *
 * Only the calling thread's stream contributes: another one may be at work on its own. Where
 * threads may call MPI at the same time the calls have no order, and there are no online merges.
 *
 * A rank takes part as long as all do, whatever happens to it: it counts the calls and merges also
 * when its recording has stopped. The others then learn of it, and there are no further online
 * merges. A call that failed for its arguments was none of all ranks, and does not count.
 *
 * A call that counts has to return. One that a rank leaves by a jump or a C++ exception, from an
 * error handler or a reduction of its own, does not tell what became of it: refused for its
 * arguments it was none of all ranks, and failed later it was. So the rank does not count it, and
 * if the others do, they wait for it in an online merge, for ever.
 */
#ifndef RFN_RECORD_FINISH_ONLINE_MERGE_H
#define RFN_RECORD_FINISH_ONLINE_MERGE_H

#include "record/core/recorder.h"
#include "refrain/archive.h"

#include <stdbool.h>

struct rec_comm;
struct rec_exchange;
struct rfn_merge;

/* Whether the ranks merge in mid-run, or end windows (keep/windows.h): what wrappers ask before
 * rec_synchronized. */
extern bool rec_meetings_count;

/* In MPI_Init, collective over the world where --merge-interval was given: the ranks agree. */
void rec_online_merge_start(void);

/* A blocking call of all ranks of comm, of elements of the type, has returned rc. call: it has been
 * recorded, unless that is off; NULL: it has not. If the ranks merge after it, or windows end, that
 * is the recorder's own work. */
void rec_synchronized(struct rec_call *call, MPI_Comm comm, MPI_Datatype type, int rc)
    __attribute__((cold));

/* What the end of the run goes on with; there are no online merges after it. The exchange; NULL:
 * there is none, and nothing was merged. *merge becomes the caller's. */
struct rec_exchange *rec_online_merge_end(struct rfn_merge *merge);

/* How many there were, and what they took on this rank so far. */
struct rfn_run_online_merges rec_online_merge_cost(void);

#endif
