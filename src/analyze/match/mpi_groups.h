/* mpi_groups.h - who is in a group: the members of group handles, per process.
 *
 * MPI_Win_post and MPI_Win_start name the processes that they concern by a group. Groups are local
 * objects, built one from the other; this follows every handle through the calls that make it and
 * keeps its members as ranks in MPI_COMM_WORLD. Equal lists exist once, however many processes
 * have them.
 */
#ifndef RFN_ANALYZE_MATCH_MPI_GROUPS_H
#define RFN_ANALYZE_MATCH_MPI_GROUPS_H

#include "analyze/match/call_words.h"

struct rfn_mpi_groups;

/* NULL when out of memory. The archive must stay open. */
struct rfn_mpi_groups *rfn_mpi_groups_new(const struct rfn_archive *archive);
void rfn_mpi_groups_free(struct rfn_mpi_groups *groups);

/* Whether calls of this function have to be shown to rfn_mpi_groups_event. */
bool rfn_mpi_groups_concerns(const struct rfn_mpi_groups *groups, uint32_t function);

/* A call of `rank` (in MPI_COMM_WORLD) enters. The calls of one rank have to come in their order.
 * A group that makes no sense is not known afterwards. RFN_E_NOMEM. */
int rfn_mpi_groups_event(struct rfn_mpi_groups *groups, const struct rfn_call_event *event);

/* The members of what `handle` (a word of kind GROUP) is on `rank` now, as ranks in
 * MPI_COMM_WORLD and in the group's order; processes that are not in it are left out. NULL and
 * *n = 0 when the group is not known; an empty group is not NULL. Borrowed until the next call. */
const uint32_t *rfn_mpi_groups_members(struct rfn_mpi_groups *groups, uint32_t rank, int64_t handle,
                                       size_t *n);

#endif
