/* clock_sync.h - how the clocks of the job's nodes differ, measured when MPI starts and when it
 * ends.
 *
 * On each node the lowest rank measures, on a binomial tree over the nodes in order of these ranks:
 * node i compares its clock with that of node i without its lowest bit set. It sends a ping, the
 * other answers with its CLOCK_MONOTONIC, which is taken for that of the middle between sending and
 * receiving; of several such round trips the shortest counts, and is wrong by at most half of it.
 * With its stamps a node answers what it knows of itself, so that offsets and round trips add up
 * along the tree to the node of rank 0. What was measured at both ends is collected in the end and
 * goes to the archive (CLOCKS), where the stamps of events stay as they were read.
 *
 * A node is a host name, as it is in the archive. A job on one node does not measure. Where the
 * launcher says that it is one (job.h) no message is sent when MPI starts; otherwise the ranks
 * tell each other their hosts, on a communicator of the recorder's own. REFRAIN_CLOCK_SYNC=always
 * does that whatever the launcher says, never does nothing. It must be the same for all ranks.
 * Nothing is measured where rank 0 records no times.
 */
#ifndef RFN_RECORD_CORE_CLOCK_SYNC_H
#define RFN_RECORD_CORE_CLOCK_SYNC_H

#include "record/core/exchange_mpi.h"
#include "reduce/merge/merge.h"
#include "refrain/archive.h"

#include <stddef.h>

/* Collective over the job, in MPI_Init, when it has succeeded. */
void rec_clock_sync_start(void);

/* Collective over the job in the end, whether the ranks have called rec_clock_sync_start (sessions
 * have not) or not. On rank 0 *measured gets what rec_clock_sync_pack needs, on the others nothing;
 * it is to be released. Fails silently: an archive without CLOCKS is right, too. */
void rec_clock_sync_end(struct rec_exchange *exchange, struct rfn_buf *measured);

/* Collective, after rec_clock_sync_start: what it has measured, on all ranks; empty where clocks
 * were not compared. To be released. RFN_E_NOMEM, RFN_E_EXCHANGE: on all ranks. */
int rec_clock_sync_share(struct rec_exchange *exchange, struct rfn_buf *measured);

/* On rank 0, after the merge: the payload of CLOCKS; nothing when nothing was measured. */
int rec_clock_sync_pack(const struct rfn_buf *measured, const struct rfn_merge *merge,
                        struct rfn_buf *out);

/* A hash of this process's host, by its name. */
uint64_t rec_clock_sync_host(void);

/* What is to be added to a moment of a host's CLOCK_MONOTONIC to get that of rank 0's host. The
 * bytes are from rec_clock_sync_end or rec_clock_sync_share. False: nothing is known of the host.
 */
bool rec_clock_sync_offset(const uint8_t *measured, size_t size, uint64_t of_host,
                           uint64_t monotonic_ns, int64_t *offset_ns);

/* Clocks of machines drift by less than a thousandth. Two measurements that differ by more, as two
 * that follow each other quickly on a busy machine do, differ by their errors; and one whose round
 * trip was longer than the other's by more than such a drift amounts to tells nothing: then the one
 * with the shorter round trip is left, in offsets[0]. Returns how many are left, in order of time.
 */
size_t rec_clock_sync_settle(struct rfn_clock_offset offsets[2]);

#endif
