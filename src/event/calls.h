/* calls.h - what MPI's functions do, and where their parameters stand.
 *
 * The one table of MPI's functions by name. A function is looked up once, by its schema, which the
 * recorder has of every function and an archive of those that it uses; an event then costs an
 * index.
 */
#ifndef RFN_EVENT_CALLS_H
#define RFN_EVENT_CALLS_H

#include "refrain/event.h"

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
/* Functions that some rule names, without MPI_ and without what makes variants of them: MPI_Ibcast,
 * MPI_Bcast_init and MPI_Bcast_c are all Bcast. */
#define RFN_OPERATIONS(X)                                                                       \
    X(Init) X(Init_thread) X(Finalize) X(Session_init) X(Session_finalize) X(Abort)             \
    X(Send) X(Bsend) X(Ssend) X(Rsend) X(Psend) X(Recv) X(Precv) X(Mrecv)                       \
    X(Sendrecv) X(Sendrecv_replace) X(Probe) X(Iprobe) X(Mprobe) X(Improbe)                     \
    X(Buffer_attach) X(Buffer_detach)                                                           \
    X(Start) X(Startall) X(Pready) X(Pready_range) X(Pready_list) X(Parrived)                   \
    X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome)         \
    X(Request_get_status) X(Request_free) X(Cancel)                                             \
    X(Barrier) X(Bcast) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv)  \
    X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter)              \
    X(Reduce_scatter_block) X(Scan) X(Exscan) X(Neighbor_allgather) X(Neighbor_allgatherv)      \
    X(Neighbor_alltoall) X(Neighbor_alltoallv) X(Neighbor_alltoallw)                            \
    X(Comm_dup) X(Comm_dup_with_info) X(Comm_idup) X(Comm_idup_with_info) X(Comm_split)         \
    X(Comm_split_type) X(Comm_create) X(Comm_create_group) X(Comm_create_from_group)            \
    X(Intercomm_create) X(Intercomm_create_from_groups) X(Intercomm_merge) X(Comm_free)         \
    X(Comm_disconnect) X(Comm_join) X(Comm_get_parent) X(Comm_set_info)                         \
    X(Cart_create) X(Cart_sub) X(Graph_create) X(Dist_graph_create) X(Dist_graph_create_adjacent)\
    X(Comm_group) X(Comm_remote_group) X(Group_from_session_pset) X(Win_get_group)              \
    X(Group_incl) X(Group_excl) X(Group_range_incl) X(Group_range_excl) X(Group_union)          \
    X(Group_intersection) X(Group_difference) X(Group_free)                                     \
    X(Win_create) X(Win_allocate) X(Win_allocate_shared) X(Win_set_info) X(Win_sync)            \
    X(Win_free) X(Win_fence) X(Win_post) X(Win_start) X(Win_complete) X(Win_wait) X(Win_test)   \
    X(Win_lock) X(Win_lock_all) X(Win_unlock) X(Win_unlock_all)                                 \
    X(Win_flush) X(Win_flush_local) X(Win_flush_all) X(Win_flush_local_all)                     \
    X(Put) X(Rput) X(Get) X(Rget) X(Accumulate) X(Raccumulate) X(Get_accumulate)                \
    X(Rget_accumulate) X(Fetch_and_op) X(Compare_and_swap) X(File_close) X(File_set_info)

/* Inputs by their names in the standard. */
#define RFN_INPUT_NAMES(X)                                                                      \
    X(count) X(datatype) X(dest) X(source) X(tag) X(sendtag) X(recvtag) X(root) X(partitions)   \
    X(sendbuf) X(recvbuf) X(sendcount) X(sendtype) X(sendcounts) X(sendtypes) X(recvcount)      \
    X(recvtype) X(recvcounts) X(recvtypes) X(op) X(origin_count) X(origin_datatype)             \
    X(result_count) X(result_datatype) X(target_count) X(target_datatype) X(target_rank)        \
    X(target_disp) X(size) X(disp_unit) X(assert) X(lock_type) X(rank) X(group2) X(n) X(ranks)  \
    X(ranges) X(pset_name) X(color) X(key) X(local_leader) X(peer_comm) X(remote_leader) X(high)\
    X(ndims) X(dims) X(periods) X(remain_dims) X(nnodes) X(index) X(edges) X(indegree) X(sources)\
    X(outdegree) X(destinations) X(degrees) X(partition) X(partition_low) X(partition_high)     \
    X(length) X(array_of_partitions)

/* Names of handles differ: the first one of a kind. Of COMM that is the call's own communicator. */
#define RFN_INPUT_KINDS(X) X(COMM) X(GROUP) X(WIN) X(FILE) X(MESSAGE) X(RANK) X(REQUEST)
#define RFN_OUTCOME_KINDS(X)                                                                    \
    X(RANK) X(TAG) X(BYTES) X(MESSAGE) X(FILE) X(COMM) X(GROUP) X(WIN) X(REQUEST)               \
    X(COMPLETIONS)
/* clang-format on */

enum rfn_operation {
    RFN_MPI_OTHER,
#define X(name) RFN_MPI_##name,
    RFN_OPERATIONS(X)
#undef X
        RFN_MPI_COUNT
};

/* What matching makes of a call, blocking or not. */
enum rfn_call_kind {
    RFN_CALL_OTHER,
    RFN_CALL_SEND, /* one message */
    RFN_CALL_RECV,
    RFN_CALL_SENDRECV,
    RFN_CALL_PROBE,
    RFN_CALL_MPROBE, /* takes a message for a handle */
    RFN_CALL_MRECV,  /* receives a message that was taken */
    RFN_CALL_START,  /* of persistent requests */
    RFN_CALL_READY,  /* partitions of a request are */
    RFN_CALL_COMPLETE,
    RFN_CALL_LOOK, /* tells of a request without ending it */
    RFN_CALL_FREE, /* a request */
    RFN_CALL_CANCEL,
    RFN_CALL_BARRIER, /* from here to FINALIZE: collective calls, as classes are ordered */
    RFN_CALL_ONE_TO_ALL,
    RFN_CALL_ALL_TO_ONE,
    RFN_CALL_ALL_TO_ALL,
    RFN_CALL_SCAN,
    RFN_CALL_NEIGHBOR,
    RFN_CALL_MAKE, /* makes or ends communicators, windows, files: may synchronize */
    RFN_CALL_INIT,
    RFN_CALL_FINALIZE,
    RFN_CALL_REGION_BEGIN,
    RFN_CALL_REGION_END
};

enum rfn_call_variant { RFN_CALL_BLOCKING, RFN_CALL_NONBLOCKING, RFN_CALL_PERSISTENT };

enum rfn_input {
#define X(name) RFN_IN_##name,
    RFN_INPUT_NAMES(X) RFN_INPUT_KINDS(X)
#undef X
        RFN_N_INPUTS
};

enum rfn_outcome {
#define X(kind) RFN_OUT_##kind,
    RFN_OUTCOME_KINDS(X)
#undef X
        RFN_OUT_INDEX, /* or indices: of the requests that have completed */
    RFN_N_OUTCOMES
};

/* What is known of a function. REQUEST of inputs is the one request or the list of them. */
struct rfn_call {
    uint8_t operation, kind;   /* enum rfn_operation, enum rfn_call_kind */
    uint8_t mode, variant;     /* enum rfn_send_mode, enum rfn_call_variant */
    uint8_t class_;            /* enum rfn_class */
    bool requests, indices;    /* REQUEST, INDEX is a list */
    bool reads, writes;        /* a file */
    int8_t send_tag, recv_tag; /* which input, -1: none */
    int8_t in[RFN_N_INPUTS];   /* which input it is, -1: none */
    int8_t out[RFN_N_OUTCOMES];
};

void rfn_call_init(struct rfn_call *call, const struct rfn_function_info *function);

/* "Bcast"; of OTHER "". Static. */
const char *rfn_operation_name(enum rfn_operation operation);

static inline bool rfn_call_sends(const struct rfn_call *call)
{
    return call->kind == RFN_CALL_SEND || call->kind == RFN_CALL_SENDRECV;
}

/* A message, from point to point. */
static inline bool rfn_call_receives(const struct rfn_call *call)
{
    return call->kind == RFN_CALL_RECV || call->kind == RFN_CALL_SENDRECV ||
           call->kind == RFN_CALL_MRECV;
}

static inline bool rfn_call_is_collective(const struct rfn_call *call)
{
    return call->kind >= RFN_CALL_BARRIER && call->kind <= RFN_CALL_FINALIZE;
}

#endif
