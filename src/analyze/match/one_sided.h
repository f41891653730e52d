/* one_sided.h - who waits for whom at windows: fences, post and start, complete and wait, locks.
 *
 * doc/analysis.md defines the patterns. Windows are joined over their ranks by the order of the
 * calls that make them on a communicator, fences by their number on the window, epochs by counting,
 * for every pair of ranks, the posts and starts that name each other.
 *
 * Each call is shown when it enters and again when it leaves, in order of time over all streams,
 * as the pass of doc/analysis.md has it. Several threads of a rank may be in calls at once: a call
 * is known by its stream.
 */
#ifndef RFN_ANALYZE_MATCH_ONE_SIDED_H
#define RFN_ANALYZE_MATCH_ONE_SIDED_H

#include "analyze/match/match_point.h"
#include "analyze/match/mpi_groups.h"

struct rfn_one_sided;

/* NULL when out of memory. Both must live as long; groups is fed by the caller. */
struct rfn_one_sided *rfn_one_sided_new(const struct rfn_archive *archive,
                                        struct rfn_mpi_groups *groups);
void rfn_one_sided_free(struct rfn_one_sided *os);

/* Whether calls of this function have to be shown to rfn_one_sided_enter and _leave. */
bool rfn_one_sided_concerns(const struct rfn_one_sided *os, uint32_t function);

/* A call of `rank` (in MPI_COMM_WORLD) begins at `here`; groups must know of what the rank did
 * before. What makes no sense is left out. RFN_E_NOMEM. */
int rfn_one_sided_enter(struct rfn_one_sided *os, const struct rfn_call_event *event,
                        struct rfn_point here);

/* The window that `stream` is in a call at, as number of the windows made on a communicator, and
 * the rank there that the call names, -1: none. False: in none that is known. */
bool rfn_one_sided_window(const struct rfn_one_sided *os, uint32_t stream, uint32_t *comm,
                          uint64_t *number, int64_t *target);

/* Whether all that the call that `stream` is in may have waited for is known. */
bool rfn_one_sided_ready(const struct rfn_one_sided *os, uint32_t stream);

/* The call that left.stream is in ends at `left`. *wait tells what it waited for, as far as that
 * is known; ns 0: nothing. RFN_E_NOMEM. */
int rfn_one_sided_leave(struct rfn_one_sided *os, struct rfn_point left, struct rfn_wait *wait);

#endif
