/* fake_archive.h - an archive in memory whose events a test writes by hand.
 *
 * Defines the reader's functions themselves (refrain/archive.h), so that tests of analyses depend
 * on no file and no decoder. To be included by one test program once. Four ranks of one thread (and
 * a second one of rank 0, where a test sets run.streams to 5); communicators: 0 world, 1 self, 2
 * the ranks 1 and 3, 3 an inter-communicator of the ranks 0, 1 and 2, 3, 4 to 6 all ranks like
 * world, 7 the ranks 0 and 2, 8 24 processes of which only the first four are in the archive.
 * A program that needs more ranks, events or lists defines FAKE_RANKS, FAKE_EVENTS, FAKE_LISTS
 * before it includes this; then only the communicators 0 and 1 have all ranks. A test may change
 * which rank and thread a stream is of, and have it fail to open, or end, with an error. Datatypes:
 * 0 MPI_BYTE, 1 MPI_DOUBLE, 2 a type of 24 bytes. Regions: 0 setup, 1 solve, 2 never.
 */
#ifndef RFN_TESTS_SUPPORT_FAKE_ARCHIVE_H
#define RFN_TESTS_SUPPORT_FAKE_ARCHIVE_H

#include "archive/cursor/cursor.h"
#include "archive/read/archive_calls.h"
#include "refrain/aggregation.h"
#include "refrain/archive.h"
#include "refrain/event.h"
#include "refrain/usage.h"

#include <stdlib.h>
#include <string.h>

#ifndef FAKE_RANKS
#define FAKE_RANKS 4
#endif
#ifndef FAKE_EVENTS
#define FAKE_EVENTS 64
#endif
#ifndef FAKE_LISTS
#define FAKE_LISTS 32
#endif
enum { FAKE_LIST_WORDS = 32, FAKE_COMMS = 9, FAKE_CONTEXTS = 8, FAKE_WIDTH = 8, FAKE_LOOPS = 8 };

int rfn_aggregation_read(const struct rfn_archive *archive, struct rfn_aggregation *aggregation,
                         struct rfn_diag *diag)
{
    (void)archive;
    (void)diag;
    *aggregation = (struct rfn_aggregation){0};
    return 0;
}

void rfn_aggregation_release(struct rfn_aggregation *aggregation)
{
    free(aggregation->fixed);
    *aggregation = (struct rfn_aggregation){0};
}

/* ---- functions ---- */

#define IN(name, kind)           \
    {                            \
        name, RFN_KIND_##kind, 0 \
    }
#define INS(name, kind)                          \
    {                                            \
        name, RFN_KIND_##kind | RFN_KIND_LIST, 0 \
    }
#define OUT(name, kind)                      \
    {                                        \
        name, RFN_KIND_##kind, RFN_PARAM_OUT \
    }
#define MESSAGE IN("buf", BUFFER), IN("count", COUNT), IN("datatype", TYPE)
#define SEND    MESSAGE, IN("dest", RANK), IN("tag", TAG), IN("comm", COMM)
#define RECV    MESSAGE, IN("source", RANK), IN("tag", TAG), IN("comm", COMM)
#define STATUS  OUT("source", RANK), OUT("tag", TAG), OUT("bytes", BYTES)
#define REDUCE  IN("count", COUNT), IN("datatype", TYPE), IN("op", OP)
#define BUFFERS IN("sendbuf", BUFFER), IN("recvbuf", BUFFER)
#define GATHER                                                                                  \
    IN("sendbuf", BUFFER), IN("sendcount", COUNT), IN("sendtype", TYPE), IN("recvbuf", BUFFER), \
        IN("recvcount", COUNT), IN("recvtype", TYPE)

static const struct rfn_param_info send_params[] = {SEND};
static const struct rfn_param_info recv_params[] = {RECV, STATUS};
static const struct rfn_param_info irecv_params[] = {RECV};
static const struct rfn_param_info send_init_params[] = {SEND, OUT("request", REQUEST)};
static const struct rfn_param_info recv_init_params[] = {RECV, OUT("request", REQUEST)};
static const struct rfn_param_info sendrecv_params[] = {
    IN("sendbuf", BUFFER), IN("sendcount", COUNT), IN("sendtype", TYPE),   IN("dest", RANK),
    IN("sendtag", TAG),    IN("recvbuf", BUFFER),  IN("recvcount", COUNT), IN("recvtype", TYPE),
    IN("source", RANK),    IN("recvtag", TAG),     IN("comm", COMM),       STATUS};
static const struct rfn_param_info iprobe_params[] = {IN("source", RANK), IN("tag", TAG),
                                                      IN("comm", COMM), STATUS};
static const struct rfn_param_info wait_params[] = {IN("request", REQUEST),
                                                    OUT("completions", COMPLETIONS)};
static const struct rfn_param_info waitall_params[] = {
    IN("count", INT), INS("array_of_requests", REQUEST), OUT("completions", COMPLETIONS)};
static const struct rfn_param_info waitany_params[] = {
    IN("count", INT), INS("array_of_requests", REQUEST), OUT("index", INT),
    OUT("completions", COMPLETIONS)};
static const struct rfn_param_info waitsome_params[] = {
    IN("incount", INT),
    INS("array_of_requests", REQUEST),
    {"array_of_indices", RFN_KIND_INT | RFN_KIND_LIST, RFN_PARAM_OUT},
    OUT("completions", COMPLETIONS)};
static const struct rfn_param_info start_params[] = {IN("request", REQUEST)};
static const struct rfn_param_info startall_params[] = {IN("count", INT),
                                                        INS("array_of_requests", REQUEST)};
static const struct rfn_param_info psend_init_params[] = {
    IN("buf", BUFFER), IN("partitions", INT), IN("count", COUNT), IN("datatype", TYPE),
    IN("dest", RANK),  IN("tag", TAG),        IN("comm", COMM),   OUT("request", REQUEST)};
static const struct rfn_param_info pready_params[] = {IN("partition", INT), IN("request", REQUEST)};
static const struct rfn_param_info pready_range_params[] = {
    IN("partition_low", INT), IN("partition_high", INT), IN("request", REQUEST)};
static const struct rfn_param_info pready_list_params[] = {
    IN("length", INT), INS("array_of_partitions", INT), IN("request", REQUEST)};
static const struct rfn_param_info parrived_params[] = {IN("request", REQUEST),
                                                        IN("partition", INT)};
static const struct rfn_param_info comm_params[] = {IN("comm", COMM)};
static const struct rfn_param_info bcast_params[] = {IN("buffer", BUFFER), IN("count", COUNT),
                                                     IN("datatype", TYPE), IN("root", RANK),
                                                     IN("comm", COMM)};
static const struct rfn_param_info gather_params[] = {GATHER, IN("root", RANK), IN("comm", COMM)};
static const struct rfn_param_info gatherv_params[] = {
    IN("sendbuf", BUFFER), IN("sendcount", COUNT),   IN("sendtype", TYPE),
    IN("recvbuf", BUFFER), INS("recvcounts", COUNT), INS("displs", PLACE),
    IN("recvtype", TYPE),  IN("root", RANK),         IN("comm", COMM)};
static const struct rfn_param_info allgather_params[] = {GATHER, IN("comm", COMM)};
static const struct rfn_param_info alltoallw_params[] = {
    IN("sendbuf", BUFFER),  INS("sendcounts", COUNT), INS("sdispls", PLACE),
    INS("sendtypes", TYPE), IN("recvbuf", BUFFER),    INS("recvcounts", COUNT),
    INS("rdispls", PLACE),  INS("recvtypes", TYPE),   IN("comm", COMM)};
static const struct rfn_param_info allgatherv_params[] = {
    IN("sendbuf", BUFFER),    IN("sendcount", COUNT), IN("sendtype", TYPE), IN("recvbuf", BUFFER),
    INS("recvcounts", COUNT), INS("displs", PLACE),   IN("recvtype", TYPE), IN("comm", COMM)};
static const struct rfn_param_info reduce_params[] = {BUFFERS, REDUCE, IN("root", RANK),
                                                      IN("comm", COMM)};
static const struct rfn_param_info allreduce_params[] = {BUFFERS, REDUCE, IN("comm", COMM)};
static const struct rfn_param_info reduce_scatter_params[] = {
    BUFFERS, INS("recvcounts", COUNT), IN("datatype", TYPE), IN("op", OP), IN("comm", COMM)};
static const struct rfn_param_info put_params[] = {
    IN("origin_addr", BUFFER), IN("origin_count", COUNT), IN("origin_datatype", TYPE),
    IN("target_rank", RANK), IN("win", WIN)};
static const struct rfn_param_info file_read_params[] = {IN("fh", FILE), MESSAGE,
                                                         OUT("bytes", BYTES)};

static const struct rfn_param_info cart_create_params[] = {
    IN("comm_old", COMM), IN("ndims", INT),    INS("dims", INT),
    INS("periods", FLAG), IN("reorder", FLAG), OUT("comm_cart", COMM)};
static const struct rfn_param_info cart_sub_params[] = {IN("comm", COMM), INS("remain_dims", FLAG),
                                                        OUT("newcomm", COMM)};
static const struct rfn_param_info graph_create_params[] = {
    IN("comm_old", COMM), IN("nnodes", INT),   INS("index", INT),
    INS("edges", INT),    IN("reorder", FLAG), OUT("comm_graph", COMM)};
static const struct rfn_param_info dist_graph_params[] = {
    IN("comm_old", COMM),        IN("n", INT),        INS("sources", RANK), INS("degrees", INT),
    INS("destinations", RANK),   INS("weights", INT), IN("info", INFO),     IN("reorder", FLAG),
    OUT("comm_dist_graph", COMM)};
static const struct rfn_param_info dist_graph_adjacent_params[] = {
    IN("comm_old", COMM),        IN("indegree", INT),  INS("sources", RANK),
    INS("sourceweights", INT),   IN("outdegree", INT), INS("destinations", RANK),
    INS("destweights", INT),     IN("info", INFO),     IN("reorder", FLAG),
    OUT("comm_dist_graph", COMM)};
static const struct rfn_param_info comm_dup_params[] = {IN("comm", COMM), OUT("newcomm", COMM)};

static const struct rfn_param_info comm_group_params[] = {IN("comm", COMM), OUT("group", GROUP)};
static const struct rfn_param_info pset_params[] = {IN("session", SESSION), IN("pset_name", STRING),
                                                    OUT("newgroup", GROUP)};
static const struct rfn_param_info win_group_params[] = {IN("win", WIN), OUT("group", GROUP)};
static const struct rfn_param_info file_group_params[] = {IN("fh", FILE), OUT("group", GROUP)};
static const struct rfn_param_info incl_params[] = {IN("group", GROUP), IN("n", INT),
                                                    INS("ranks", RANK), OUT("newgroup", GROUP)};
static const struct rfn_param_info range_params[] = {IN("group", GROUP), IN("n", INT),
                                                     INS("ranges", INT), OUT("newgroup", GROUP)};
static const struct rfn_param_info two_groups_params[] = {IN("group1", GROUP), IN("group2", GROUP),
                                                          OUT("newgroup", GROUP)};
static const struct rfn_param_info group_params[] = {IN("group", GROUP)};
static const struct rfn_param_info win_create_params[] = {IN("base", BUFFER),   IN("size", BYTES),
                                                          IN("disp_unit", INT), IN("info", INFO),
                                                          IN("comm", COMM),     OUT("win", WIN)};
static const struct rfn_param_info win_params[] = {IN("win", WIN)};
static const struct rfn_param_info fence_params[] = {IN("assert", INT), IN("win", WIN)};
static const struct rfn_param_info post_params[] = {IN("group", GROUP), IN("assert", INT),
                                                    IN("win", WIN)};
static const struct rfn_param_info lock_params[] = {IN("lock_type", INT), IN("rank", RANK),
                                                    IN("assert", INT), IN("win", WIN)};
static const struct rfn_param_info flush_params[] = {IN("rank", RANK), IN("win", WIN)};

static const struct rfn_param_info pcontrol_params[] = {IN("level", INT)};
static const struct rfn_param_info region_params[] = {IN("name", REGION)};
static const struct rfn_param_info unrecorded_params[] = {IN("name", REGION), OUT("calls", INT)};

enum { NB = RFN_FUNCTION_NONBLOCKING, PS = RFN_FUNCTION_PERSISTENT, CO = RFN_FUNCTION_COLLECTIVE };

/* name in the test, name in MPI, class, flags, outcomes, parameters */
#define FAKE_FUNCTIONS(X)                                                                \
    X(INIT, "MPI_Init", SETUP, CO, 0, NULL, 0)                                           \
    X(FINALIZE, "MPI_Finalize", SETUP, CO, 0, NULL, 0)                                   \
    X(SEND_, "MPI_Send", SEND, 0, 0, send_params, 6)                                     \
    X(ISEND, "MPI_Isend", SEND, NB, 0, send_params, 6)                                   \
    X(RECV_, "MPI_Recv", RECV, 0, 3, recv_params, 6)                                     \
    X(IRECV, "MPI_Irecv", RECV, NB, 0, irecv_params, 6)                                  \
    X(SEND_INIT, "MPI_Send_init", SEND, PS, 1, send_init_params, 6)                      \
    X(RECV_INIT, "MPI_Recv_init", RECV, PS, 1, recv_init_params, 6)                      \
    X(SENDRECV, "MPI_Sendrecv", SENDRECV, 0, 3, sendrecv_params, 11)                     \
    X(IPROBE, "MPI_Iprobe", PROBE, RFN_FUNCTION_POLL, 3, iprobe_params, 3)               \
    X(WAIT, "MPI_Wait", COMPLETION, 0, 1, wait_params, 1)                                \
    X(TEST, "MPI_Test", COMPLETION, RFN_FUNCTION_POLL, 1, wait_params, 1)                \
    X(WAITALL, "MPI_Waitall", COMPLETION, 0, 1, waitall_params, 2)                       \
    X(WAITANY, "MPI_Waitany", COMPLETION, 0, 2, waitany_params, 2)                       \
    X(WAITSOME, "MPI_Waitsome", COMPLETION, 0, 2, waitsome_params, 2)                    \
    X(START, "MPI_Start", START, 0, 0, start_params, 1)                                  \
    X(STARTALL, "MPI_Startall", START, 0, 0, startall_params, 2)                         \
    X(REQUEST_FREE, "MPI_Request_free", OTHER, 0, 0, start_params, 1)                    \
    X(BARRIER, "MPI_Barrier", BARRIER, CO, 0, comm_params, 1)                            \
    X(IBARRIER, "MPI_Ibarrier", BARRIER, CO | NB, 0, comm_params, 1)                     \
    X(BCAST, "MPI_Bcast", ONE_TO_ALL, CO, 0, bcast_params, 5)                            \
    X(GATHER_, "MPI_Gather", ALL_TO_ONE, CO, 0, gather_params, 8)                        \
    X(GATHERV, "MPI_Igatherv", ALL_TO_ONE, CO | NB, 0, gatherv_params, 9)                \
    X(SCATTER, "MPI_Scatter", ONE_TO_ALL, CO, 0, gather_params, 8)                       \
    X(ALLGATHER, "MPI_Allgather", ALL_TO_ALL, CO, 0, allgather_params, 7)                \
    X(ALLGATHERV, "MPI_Allgatherv", ALL_TO_ALL, CO, 0, allgatherv_params, 8)             \
    X(ALLTOALL, "MPI_Alltoall_c", ALL_TO_ALL, CO, 0, allgather_params, 7)                \
    X(ALLTOALLW, "MPI_Alltoallw", ALL_TO_ALL, CO, 0, alltoallw_params, 9)                \
    X(REDUCE_, "MPI_Reduce", ALL_TO_ONE, CO, 0, reduce_params, 7)                        \
    X(ALLREDUCE, "MPI_Allreduce", ALL_TO_ALL, CO, 0, allreduce_params, 6)                \
    X(REDUCE_SCATTER, "MPI_Reduce_scatter", ALL_TO_ALL, CO, 0, reduce_scatter_params, 6) \
    X(EXSCAN, "MPI_Exscan", SCAN, CO, 0, allreduce_params, 6)                            \
    X(NEIGHBOR, "MPI_Neighbor_alltoallw", NEIGHBOR, CO, 0, alltoallw_params, 9)          \
    X(PUT, "MPI_Put", RMA, 0, 0, put_params, 5)                                          \
    X(GET, "MPI_Get", RMA, 0, 0, put_params, 5)                                          \
    X(FILE_READ, "MPI_File_read", FILE, 0, 1, file_read_params, 4)                       \
    X(PCONTROL, "MPI_Pcontrol", OTHER, 0, 0, pcontrol_params, 1)                         \
    X(CANCEL, "MPI_Cancel", OTHER, 0, 0, start_params, 1)                                \
    X(PSEND_INIT, "MPI_Psend_init", SEND, PS, 1, psend_init_params, 7)                   \
    X(PREADY, "MPI_Pready", START, 0, 0, pready_params, 2)                               \
    X(PREADY_RANGE, "MPI_Pready_range", START, 0, 0, pready_range_params, 3)             \
    X(PREADY_LIST, "MPI_Pready_list", START, 0, 0, pready_list_params, 3)                \
    X(PARRIVED, "MPI_Parrived", START, RFN_FUNCTION_POLL, 0, parrived_params, 2)         \
    X(BEGIN, "refrain_region_begin", REGION, 0, 0, region_params, 1)                     \
    X(END, "refrain_region_end", REGION, 0, 0, region_params, 1)                         \
    X(MARK, "refrain_segment_begin", SEGMENT_BEGIN, 0, 0, region_params, 1)              \
    X(UNRECORDED, "refrain_calls_unrecorded", UNRECORDED, 0, 1, unrecorded_params, 1)

/* Those that make communicators with topologies. */
#define FAKE_TOPOLOGY_FUNCTIONS(X)                                                            \
    X(CART_CREATE, "MPI_Cart_create", COMM, CO, 1, cart_create_params, 5)                     \
    X(CART_SUB, "MPI_Cart_sub", COMM, CO, 1, cart_sub_params, 2)                              \
    X(GRAPH_CREATE, "MPI_Graph_create", COMM, CO, 1, graph_create_params, 5)                  \
    X(DIST_GRAPH, "MPI_Dist_graph_create", COMM, CO, 1, dist_graph_params, 8)                 \
    X(ADJACENT, "MPI_Dist_graph_create_adjacent", COMM, CO, 1, dist_graph_adjacent_params, 9) \
    X(COMM_DUP, "MPI_Comm_dup", COMM, CO, 1, comm_dup_params, 1)                              \
    X(COMM_IDUP, "MPI_Comm_idup", COMM, CO | NB, 1, comm_dup_params, 1)

/* Groups and windows. */
#define FAKE_ONE_SIDED_FUNCTIONS(X)                                              \
    X(COMM_GROUP, "MPI_Comm_group", OTHER, 0, 1, comm_group_params, 1)           \
    X(REMOTE_GROUP, "MPI_Comm_remote_group", OTHER, 0, 1, comm_group_params, 1)  \
    X(PSET, "MPI_Group_from_session_pset", OTHER, 0, 1, pset_params, 2)          \
    X(WIN_GET_GROUP, "MPI_Win_get_group", OTHER, 0, 1, win_group_params, 1)      \
    X(FILE_GET_GROUP, "MPI_File_get_group", OTHER, 0, 1, file_group_params, 1)   \
    X(INCL, "MPI_Group_incl", OTHER, 0, 1, incl_params, 3)                       \
    X(EXCL, "MPI_Group_excl", OTHER, 0, 1, incl_params, 3)                       \
    X(RANGE_INCL, "MPI_Group_range_incl", OTHER, 0, 1, range_params, 3)          \
    X(RANGE_EXCL, "MPI_Group_range_excl", OTHER, 0, 1, range_params, 3)          \
    X(UNION, "MPI_Group_union", OTHER, 0, 1, two_groups_params, 2)               \
    X(INTERSECTION, "MPI_Group_intersection", OTHER, 0, 1, two_groups_params, 2) \
    X(DIFFERENCE, "MPI_Group_difference", OTHER, 0, 1, two_groups_params, 2)     \
    X(GROUP_FREE, "MPI_Group_free", OTHER, 0, 0, group_params, 1)                \
    X(WIN_CREATE, "MPI_Win_create", RMA_SYNC, CO, 1, win_create_params, 5)       \
    X(WIN_FREE, "MPI_Win_free", RMA_SYNC, CO, 0, win_params, 1)                  \
    X(FENCE, "MPI_Win_fence", RMA_SYNC, CO, 0, fence_params, 2)                  \
    X(WIN_POST, "MPI_Win_post", RMA_SYNC, 0, 0, post_params, 3)                  \
    X(WIN_START, "MPI_Win_start", RMA_SYNC, 0, 0, post_params, 3)                \
    X(WIN_COMPLETE, "MPI_Win_complete", RMA_SYNC, 0, 0, win_params, 1)           \
    X(WIN_WAIT, "MPI_Win_wait", RMA_SYNC, 0, 0, win_params, 1)                   \
    X(WIN_TEST, "MPI_Win_test", RMA_SYNC, RFN_FUNCTION_POLL, 0, win_params, 1)   \
    X(LOCK, "MPI_Win_lock", RMA_SYNC, 0, 0, lock_params, 4)                      \
    X(LOCK_ALL, "MPI_Win_lock_all", RMA_SYNC, 0, 0, fence_params, 2)             \
    X(UNLOCK, "MPI_Win_unlock", RMA_SYNC, 0, 0, flush_params, 2)                 \
    X(UNLOCK_ALL, "MPI_Win_unlock_all", RMA_SYNC, 0, 0, win_params, 1)           \
    X(FLUSH, "MPI_Win_flush", RMA_SYNC, 0, 0, flush_params, 2)                   \
    X(FLUSH_ALL, "MPI_Win_flush_all", RMA_SYNC, 0, 0, win_params, 1)             \
    X(WIN_SYNC, "MPI_Win_sync", RMA_SYNC, 0, 0, win_params, 1)

static const struct rfn_param_info probe_params[] = {IN("source", RANK), IN("tag", TAG),
                                                     IN("comm", COMM), STATUS};
static const struct rfn_param_info mprobe_params[] = {
    IN("source", RANK),  IN("tag", TAG),  IN("comm", COMM),   OUT("message", MESSAGE),
    OUT("source", RANK), OUT("tag", TAG), OUT("bytes", BYTES)};
static const struct rfn_param_info mrecv_params[] = {MESSAGE, IN("message", MESSAGE), STATUS};
static const struct rfn_param_info precv_init_params[] = {
    IN("buf", BUFFER),  IN("partitions", INT), IN("count", COUNT), IN("datatype", TYPE),
    IN("source", RANK), IN("tag", TAG),        IN("comm", COMM),   OUT("request", REQUEST)};
static const struct rfn_param_info barrier_init_params[] = {IN("comm", COMM),
                                                            OUT("request", REQUEST)};
static const struct rfn_param_info file_open_params[] = {IN("comm", COMM), OUT("fh", FILE)};
static const struct rfn_param_info file_read_all_params[] = {IN("fh", FILE), MESSAGE,
                                                             OUT("bytes", BYTES)};

/* Those that only the analysis of waits looks at. */
#define FAKE_WAIT_FUNCTIONS(X)                                                       \
    X(SSEND, "MPI_Ssend", SSEND, 0, 0, send_params, 6)                               \
    X(ISSEND, "MPI_Issend", SSEND, NB, 0, send_params, 6)                            \
    X(BSEND, "MPI_Bsend", SEND, 0, 0, send_params, 6)                                \
    X(PROBE, "MPI_Probe", PROBE, 0, 3, probe_params, 3)                              \
    X(MPROBE, "MPI_Mprobe", PROBE, 0, 4, mprobe_params, 3)                           \
    X(MRECV, "MPI_Mrecv", RECV, 0, 3, mrecv_params, 4)                               \
    X(IMRECV, "MPI_Imrecv", RECV, NB, 0, mrecv_params, 4)                            \
    X(PRECV_INIT, "MPI_Precv_init", RECV, PS, 1, precv_init_params, 7)               \
    X(SCAN, "MPI_Scan", SCAN, CO, 0, allreduce_params, 6)                            \
    X(NEIGHBOR_ALL, "MPI_Neighbor_allgather", NEIGHBOR, CO, 0, allgather_params, 7)  \
    X(IALLREDUCE, "MPI_Iallreduce", ALL_TO_ALL, CO | NB, 0, allreduce_params, 6)     \
    X(IREDUCE, "MPI_Ireduce", ALL_TO_ONE, CO | NB, 0, reduce_params, 7)              \
    X(BARRIER_INIT, "MPI_Barrier_init", BARRIER, CO | PS, 1, barrier_init_params, 1) \
    X(FILE_OPEN, "MPI_File_open", FILE, CO, 1, file_open_params, 1)                  \
    X(FILE_READ_ALL, "MPI_File_read_all", FILE, CO, 1, file_read_all_params, 4)

enum fake_function {
#define X(id, name, class_, flags, n_out, params, n_in) FAKE_##id,
    FAKE_FUNCTIONS(X) FAKE_TOPOLOGY_FUNCTIONS(X) FAKE_ONE_SIDED_FUNCTIONS(X) FAKE_WAIT_FUNCTIONS(X)
#undef X
        N_FAKE_FUNCTIONS
};

static const struct rfn_function_info fake_functions[] = {
#define X(id, name, class_, flags, n_out, params, n_in) \
    {name, RFN_CLASS_##class_, (uint8_t)(flags), n_in, n_out, params},
    FAKE_FUNCTIONS(X) FAKE_TOPOLOGY_FUNCTIONS(X) FAKE_ONE_SIDED_FUNCTIONS(X) FAKE_WAIT_FUNCTIONS(X)
#undef X
};

/* ---- events ---- */

struct fake_event {
    struct rfn_record record;
    int64_t in[RFN_PARAMS_MAX], out[RFN_PARAMS_MAX];
    struct rfn_segment_place place;
};

struct fake_stream {
    uint32_t rank, thread;
    struct fake_event events[FAKE_EVENTS];
    size_t n;
    struct rfn_segment_place next; /* of the event that comes */
    int opens_with, fails_with;    /* what rfn_cursor_open returns; the cursor at its end */
    bool absent;                   /* is known not to be there, and opens with RFN_E_INCOMPLETE */
    bool volume;
    struct rfn_own_work own; /* of the recorder, in ns of the run; ends at 0: none */
};

struct rfn_archive {
    struct rfn_run run;
    struct fake_stream streams[FAKE_RANKS + 1]; /* the last one: a second thread of rank 0 */
    int64_t lists[FAKE_LISTS][FAKE_LIST_WORDS];
    size_t list_lengths[FAKE_LISTS], n_lists;
    struct rfn_comm_info comms[FAKE_COMMS]; /* a test may change their sizes */
    uint32_t around[FAKE_CONTEXTS]; /* of a context that lies in another one that one, + 1 */
    uint64_t lookups;               /* of members of communicators */
    bool groups;                    /* each stream is a group of its own */
    bool batches;                   /* what repeats itself comes so (archive/cursor/cursor.h) */
    uint64_t in_batches;            /* events that have come so */
    int64_t off_ns;                 /* how far times may be off; above 0: they are reduced */
};

struct rfn_cursor {
    const struct rfn_archive *archive;
    uint32_t stream;
    size_t at;
    size_t bodies[FAKE_LOOPS], widths[FAKE_LOOPS]; /* of loops: where one was found; 0: none */
    struct rfn_batch batch;
    const struct rfn_record *records[FAKE_WIDTH];
    struct rfn_batch_time times[FAKE_EVENTS];
};

static struct rfn_archive fake;

static const struct rfn_comm_info fake_comms[FAKE_COMMS] = {
    {RFN_COMM_WORLD, FAKE_RANKS, 0, 10}, {RFN_COMM_SELF, 1, 0, 11},  {RFN_COMM_INTRA, 2, 0, 12},
    {RFN_COMM_INTER, 2, 2, 13},          {RFN_COMM_INTRA, 4, 0, 14}, {RFN_COMM_INTRA, 4, 0, 15},
    {RFN_COMM_INTRA, 4, 0, 16},          {RFN_COMM_INTRA, 2, 0, 17}, {RFN_COMM_INTRA, 24, 0, 18}};

static void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.run = (struct rfn_run){.recorder = "refrain",
                                .program = "./fake",
                                .command = "./fake -n 4",
                                .mpi = "Fake MPI",
                                .flavour = "fake",
                                .ranks = FAKE_RANKS,
                                .streams = FAKE_RANKS,
                                .times = true};
    memcpy(fake.comms, fake_comms, sizeof fake.comms);
    for (uint32_t i = 0; i <= FAKE_RANKS; i++) {
        fake.streams[i].rank = i % FAKE_RANKS;
        fake.streams[i].thread = i / FAKE_RANKS;
    }
}

/* Interns a list; its number. */
__attribute__((unused)) static int64_t fake_list(const int64_t *words, size_t n)
{
    size_t number = fake.n_lists++;
    if (number == FAKE_LISTS || n > FAKE_LIST_WORDS)
        abort();
    memcpy(fake.lists[number], words, n * sizeof *words);
    fake.list_lengths[number] = n;
    return (int64_t)number + 1;
}
#define LIST(...) \
    fake_list((const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static bool fake_same(const struct fake_event *a, const struct fake_event *b)
{
    return a->record.function == b->record.function && a->record.path == b->record.path &&
           a->record.failed_poll == b->record.failed_poll &&
           memcmp(a->in, b->in, sizeof a->in) == 0;
}

/* Appends an event with its words: inputs, then outcomes. It takes from enter to exit. */
static struct rfn_record *fake_event(uint32_t rank, enum fake_function function, uint32_t path,
                                     int64_t enter, int64_t exit, const int64_t *words)
{
    struct fake_stream *stream = &fake.streams[rank];
    struct fake_event *event = &stream->events[stream->n];
    const struct rfn_function_info *info = &fake_functions[function];
    if (stream->n == FAKE_EVENTS)
        abort();
    for (unsigned i = 0; i < info->n_in; i++)
        event->in[i] = words[i];
    for (unsigned i = 0; i < info->n_out; i++)
        event->out[i] = words[info->n_in + i];
    event->record = (struct rfn_record){.index = stream->n,
                                        .symbol = (uint32_t)stream->n,
                                        .function = function,
                                        .path = path,
                                        .in = event->in,
                                        .out = event->out,
                                        .enter_ns = enter,
                                        .exit_ns = exit,
                                        .polls = 1,
                                        .inside_ns = (int64_t)((uint64_t)exit - (uint64_t)enter)};
    event->place = stream->next;
    event->place.begins |= stream->n == 0;
    event->record.begins = event->place.begins;
    event->record.context = event->place.context;
    stream->next.begins = false;
    for (size_t i = stream->n; i-- > 0;) {
        if (fake_same(&stream->events[i], event))
            event->record.symbol = stream->events[i].record.symbol;
    }
    stream->n++;
    return &event->record;
}
#define EVENT(rank, function, path, enter, exit, ...) \
    fake_event(rank, FAKE_##function, path, enter, exit, (const int64_t[]){0, __VA_ARGS__} + 1)

/* The rank's next event begins a segment of this context, below FAKE_CONTEXTS. */
__attribute__((unused)) static void fake_segment(uint32_t rank, uint32_t context)
{
    fake.streams[rank].next = (struct rfn_segment_place){context, true};
}

/* ---- the reader's functions ---- */

bool rfn_archive_complete(const struct rfn_archive *archive, const char **why)
{
    (void)archive;
    if (why)
        *why = NULL;
    return true;
}

const struct rfn_run *rfn_archive_run(const struct rfn_archive *archive)
{
    return &archive->run;
}

struct rfn_stream_info rfn_archive_stream(const struct rfn_archive *archive, uint32_t stream)
{
    return (struct rfn_stream_info){.rank = archive->streams[stream].rank,
                                    .thread = archive->streams[stream].thread,
                                    .group = archive->groups ? stream : 0,
                                    .host = stream < 3 ? "north" : "south",
                                    .events = archive->streams[stream].n,
                                    .calls = archive->streams[stream].n,
                                    .volume = archive->streams[stream].volume,
                                    .readable = !archive->streams[stream].absent};
}

uint32_t rfn_archive_functions(const struct rfn_archive *archive)
{
    (void)archive;
    return N_FAKE_FUNCTIONS;
}

const struct rfn_function_info *rfn_archive_function(const struct rfn_archive *archive,
                                                     uint32_t function)
{
    (void)archive;
    return &fake_functions[function];
}

const struct rfn_call *rfn_archive_call(const struct rfn_archive *archive, uint32_t function)
{
    static struct rfn_call calls[N_FAKE_FUNCTIONS];
    static bool known[N_FAKE_FUNCTIONS];
    (void)archive;
    if (!known[function])
        rfn_call_init(&calls[function], &fake_functions[function]);
    known[function] = true;
    return &calls[function];
}

uint32_t rfn_archive_regions(const struct rfn_archive *archive)
{
    (void)archive;
    return 3;
}

const char *rfn_archive_region(const struct rfn_archive *archive, uint32_t region)
{
    static const char *const names[] = {"setup", "solve", "never"};
    (void)archive;
    return names[region];
}

uint32_t rfn_archive_datatypes(const struct rfn_archive *archive)
{
    (void)archive;
    return 3;
}

const struct rfn_datatype_info *rfn_archive_datatype(const struct rfn_archive *archive,
                                                     uint32_t datatype)
{
    static const struct rfn_datatype_info types[] = {{"MPI_BYTE", 1, 1, 1},
                                                     {"MPI_DOUBLE", 8, 8, 8},
                                                     {"vector(3, 1, 2, MPI_DOUBLE)", 24, 40, 40}};
    (void)archive;
    return &types[datatype];
}

uint32_t rfn_archive_comms(const struct rfn_archive *archive)
{
    (void)archive;
    return FAKE_COMMS;
}

const struct rfn_comm_info *rfn_archive_comm(const struct rfn_archive *archive, uint32_t comm)
{
    return &archive->comms[comm];
}

int64_t rfn_comm_world_rank(const struct rfn_archive *archive, uint32_t comm, bool remote,
                            uint32_t rank)
{
    (void)archive;
    fake.lookups++;
    switch (comm) {
    case 0:
        return rank < FAKE_RANKS ? (int64_t)rank : -1;
    case 4:
    case 5:
    case 6:
    case 8:
        return rank < 4 ? (int64_t)rank : -1;
    case 1:
        return rank;
    case 2:
        return rank < 2 ? (int64_t)rank * 2 + 1 : -1;
    case 7:
        return rank < 2 ? (int64_t)rank * 2 : -1;
    default:
        return rank < 2 ? (int64_t)rank + (remote ? 2 : 0) : -1;
    }
}

int64_t rfn_comm_rank_of(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank)
{
    (void)archive;
    switch (comm) {
    case 0:
        return world_rank;
    case 4:
    case 5:
    case 6:
    case 8:
        return world_rank < 4 ? (int64_t)world_rank : -1;
    case 1:
        return 0;
    case 2:
        return world_rank % 2 ? (int64_t)world_rank / 2 : -1;
    case 7:
        return world_rank % 2 ? -1 : (int64_t)world_rank / 2;
    default:
        return world_rank % 2;
    }
}

int64_t rfn_comm_peer(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank,
                      int64_t rank)
{
    if (rank < 0 || rank > UINT32_MAX)
        return -1;
    if (comm == 1)
        return rank == 0 ? (int64_t)world_rank : -1;
    return rfn_comm_world_rank(archive, comm, comm == 3 && world_rank < 2, (uint32_t)rank);
}

uint32_t rfn_comm_peers(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank)
{
    const struct rfn_comm_info *of = &archive->comms[comm];
    return of->kind == RFN_COMM_INTER && world_rank < 2 ? of->remote_size : of->size;
}

int rfn_cursor_open(const struct rfn_archive *archive, uint32_t stream, struct rfn_cursor **cursor,
                    struct rfn_diag *diag)
{
    if (archive->streams[stream].absent)
        return rfn_fail(diag, RFN_E_INCOMPLETE, 77, (int)stream, "not there");
    if (archive->streams[stream].opens_with)
        return rfn_fail(diag, archive->streams[stream].opens_with, 77, (int)stream, "lost");
    *cursor = malloc(sizeof **cursor);
    if (!*cursor)
        return RFN_E_NOMEM;
    **cursor = (struct rfn_cursor){.archive = archive, .stream = stream};
    return 0;
}

/* Quanta are ns of the run. */
bool rfn_cursor_clock_ns(struct rfn_cursor *cursor, uint64_t quanta, int64_t *ns)
{
    (void)cursor;
    *ns = (int64_t)quanta;
    return true;
}

int rfn_usage_read(const struct rfn_archive *archive, struct rfn_usage *usage,
                   struct rfn_diag *diag)
{
    (void)diag;
    *usage = (struct rfn_usage){0};
    usage->streams = calloc(FAKE_RANKS + 1, sizeof *usage->streams);
    if (!usage->streams)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < archive->run.streams; i++) {
        const struct rfn_own_work *own = &archive->streams[i].own;
        if (own->to)
            usage->streams[usage->n++] = (struct rfn_stream_usage){.stream = i,
                                                                   .rank = archive->streams[i].rank,
                                                                   .recording_ns = own->to -
                                                                                   own->from,
                                                                   .recording = own,
                                                                   .n_recording = 1};
    }
    return 0;
}

void rfn_usage_release(struct rfn_usage *usage)
{
    free(usage->streams);
    *usage = (struct rfn_usage){0};
}

int rfn_cursor_next(struct rfn_cursor *cursor, const struct rfn_record **record,
                    struct rfn_diag *diag)
{
    const struct fake_stream *stream = &cursor->archive->streams[cursor->stream];
    if (cursor->at == stream->n)
        return stream->fails_with
                   ? rfn_fail(diag, stream->fails_with, 99, (int)cursor->stream, "broken")
                   : 0;
    *record = &stream->events[cursor->at++].record;
    return 1;
}

int64_t rfn_cursor_off_ns(const struct rfn_cursor *cursor)
{
    return cursor->archive->off_ns;
}

/* Whether so many events, which may come in batches, are as those `width` before them. */
static bool fake_repeats(const struct fake_stream *stream, size_t at, size_t width)
{
    for (size_t i = at; i < at + width; i++) {
        const struct fake_event *event = &stream->events[i], *before = event - width;
        uint8_t class_ = fake_functions[event->record.function].class_;
        int64_t gap = i ? event->record.enter_ns - event[-1].record.exit_ns : -1;
        if (i >= stream->n || class_ == RFN_CLASS_SETUP || !rfn_class_is_mpi(class_) ||
            event->record.failed_poll || event->record.symbol != before->record.symbol ||
            memcmp(event->out, before->out, sizeof event->out) != 0 || gap < 0 ||
            event->record.exit_ns < event->record.enter_ns)
            return false;
    }
    return true;
}

/* The number of the loop whose body ends in front of an event. */
static uint32_t fake_loop(struct rfn_cursor *cursor, size_t at, size_t width)
{
    const struct fake_stream *stream = &cursor->archive->streams[cursor->stream];
    for (uint32_t i = 0; i < FAKE_LOOPS; i++) {
        bool same = cursor->widths[i] == width;
        for (size_t k = 0; k < width && same; k++)
            same = stream->events[cursor->bodies[i] + k].record.symbol ==
                   stream->events[at + k].record.symbol;
        if (!same && cursor->widths[i])
            continue;
        cursor->bodies[i] = at;
        cursor->widths[i] = width;
        return i;
    }
    abort();
}

/* At most two iterations, of the narrowest loop. */
int rfn_cursor_next_batch(struct rfn_cursor *cursor, struct rfn_batch **batch,
                          struct rfn_diag *diag)
{
    const struct fake_stream *stream = &cursor->archive->streams[cursor->stream];
    size_t at = cursor->at, width = 1, end = at;
    (void)diag;
    while (cursor->archive->batches && end == at && width <= FAKE_WIDTH && width <= at) {
        for (; end + width <= stream->n && end < at + 2 * width && fake_repeats(stream, end, width);
             end += width)
            continue;
        width += end == at;
    }
    if (end == at)
        return 0;
    const struct rfn_record *before = &stream->events[at - 1].record;
    for (size_t i = at; i < end; i++) {
        const struct rfn_record *record = &stream->events[i].record;
        cursor->times[i - at] = (struct rfn_batch_time){
            .gap_ns = (uint32_t)(record->enter_ns - stream->events[i - 1].record.exit_ns),
            .duration_ns = (uint32_t)(record->exit_ns - record->enter_ns)};
    }
    for (size_t i = 0; i < width; i++)
        cursor->records[i] = &stream->events[at + i].record;
    cursor->batch = (struct rfn_batch){.loop = fake_loop(cursor, at, width),
                                       .width = (uint32_t)width,
                                       .n = (uint32_t)(end - at),
                                       .records = cursor->records,
                                       .times = cursor->times,
                                       .first = at,
                                       .before_ns = before->exit_ns,
                                       .end_ns = stream->events[end - 1].record.exit_ns};
    cursor->at = end;
    fake.in_batches += end - at;
    *batch = &cursor->batch;
    return 1;
}

/* Segments are where the test says. */
int rfn_cursor_cut_segments(struct rfn_cursor *cursor, uint32_t min_calls, struct rfn_diag *diag)
{
    (void)cursor;
    (void)min_calls;
    (void)diag;
    return 0;
}

struct rfn_segment_place rfn_cursor_place(const struct rfn_cursor *cursor)
{
    return cursor->archive->streams[cursor->stream].events[cursor->at - 1].place;
}

uint32_t rfn_cursor_top_contexts(const struct rfn_cursor *cursor)
{
    (void)cursor;
    return 0;
}

uint32_t rfn_cursor_contexts(const struct rfn_cursor *cursor)
{
    (void)cursor;
    return FAKE_CONTEXTS;
}

/* Each context is a loop with the calls of its first execution. */
int rfn_cursor_show_calls(const struct rfn_cursor *cursor,
                          int (*show)(void *context, const struct rfn_context_call *call),
                          void *context)
{
    const struct fake_stream *stream = &cursor->archive->streams[cursor->stream];
    for (uint32_t i = 0; i < FAKE_CONTEXTS; i++) {
        struct rfn_context_call call = {
            .context = i, .list = i, .around = cursor->archive->around[i] - 1};
        size_t at = 0;
        while (at < stream->n && stream->events[at].place.context != i)
            at++;
        for (size_t first = at; at < stream->n && stream->events[at].place.context == i; at++) {
            if (at > first && stream->events[at].place.begins)
                break;
            call.function = stream->events[at].record.function;
            call.path = stream->events[at].record.path;
            RFN_TRY(show(context, &call));
        }
    }
    return 0;
}

const int64_t *rfn_cursor_list(const struct rfn_cursor *cursor, int64_t number, size_t *n,
                               uint8_t kind)
{
    (void)kind;
    *n = 0;
    if (number < 1 || (size_t)number > cursor->archive->n_lists)
        return NULL;
    *n = cursor->archive->list_lengths[number - 1];
    return cursor->archive->lists[number - 1];
}

int rfn_cursor_decode_ahead(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    (void)cursor, (void)diag;
    return 0;
}

void rfn_cursor_close(struct rfn_cursor *cursor)
{
    free(cursor);
}

#endif
