/* volume.h - the communication of an event: bytes sent and received, and partners.
 *
 * The archive holds counts and datatypes; how many bytes a call moves follows from them by the
 * rules of the MPI standard, function by function. The rules here count the bytes that the calling
 * rank gives to MPI and gets from it, once per byte of its buffers:
 *
 *   Send                 sent count                 Recv            received what really came
 *   Bcast                root: sent, others: received, count
 *   Gather(v)            sent sendcount; root: received all parts
 *   Scatter(v)           root: sent all parts; received recvcount
 *   Allgather(v)         sent sendcount; received all parts
 *   Alltoall(v, w)       sent and received all parts
 *   Reduce               sent count; root: received count     Allreduce, Scan   both count
 *   Reduce_scatter       sent all parts; received its own part
 *   Neighbor_*           as the above over neighbors; where the number of neighbors is not an
 *                        argument of the call, once
 *   Put, Accumulate      sent; Get: received; Get_accumulate, Fetch_and_op: both
 *   File_write*          sent; File_read*: received
 *
 * MPI_IN_PLACE: the argument that is ignored takes its size from the other one. Communication with
 * MPI_PROC_NULL moves nothing. Nonblocking and persistent calls have the volume of the blocking
 * one.
 */
#ifndef REFRAIN_VOLUME_H
#define REFRAIN_VOLUME_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"
#include "refrain/event.h"

/* The communication of an event. Ranks are ranks of the call's communicator or enum rfn_special. */
struct rfn_volume {
    int64_t sent_bytes, received_bytes; /* -1: the call does not send, or receive */
    int64_t dest;                       /* of a point-to-point send, else RFN_UNKNOWN */
    int64_t dest_world;                 /* dest as rank of MPI_COMM_WORLD, -1 none */
    int64_t source, tag;    /* of a receive or probe: what came, or, as long as it has not
                               come, what was asked for; else RFN_UNKNOWN */
    int64_t comm;           /* number for rfn_archive_comm, -1 none */
    int64_t target, window; /* of a one-sided operation: rank in the window's group, and the
                               process's handle of the window; else RFN_UNKNOWN */
};

struct rfn_volumes;

/* Prepares for the functions of an archive; the archive must stay open. NULL: out of memory. */
struct rfn_volumes *rfn_volumes_new(const struct rfn_archive *archive);
void rfn_volumes_free(struct rfn_volumes *volumes);

/* The volume of a record that the cursor has just delivered, `rank` being the cursor's. */
struct rfn_volume rfn_volume_of(const struct rfn_volumes *volumes, const struct rfn_cursor *cursor,
                                uint32_t rank, const struct rfn_record *record);

/* The one number that says how large a call's communication is: the bytes that it sends, or, if it
 * does not send, receives; -1 where neither applies. For Sendrecv the bytes that it receives. */
int64_t rfn_volume_bytes(const struct rfn_volumes *volumes, uint32_t function,
                         const struct rfn_volume *volume);

/* Which inputs of a function are the posted source and tag of its receive; -1 none. */
struct rfn_posted {
    int source, tag;
};
struct rfn_posted rfn_volume_posted(const struct rfn_volumes *volumes, uint32_t function);

#pragma GCC visibility pop

#endif
