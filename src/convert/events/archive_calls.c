#include "convert/events/archive_calls.h"

#include "base/grow.h"

/* Members of a communicator of which lists are made. */
enum { MEMBERS_MAX = 1 << 24 };

uint32_t rfn_action_comm(const struct rfn_archive *archive, int64_t comm)
{
    const bool known = comm >= 0 && comm < rfn_archive_comms(archive);
    if (!known || rfn_archive_comm(archive, (uint32_t)comm)->kind == RFN_COMM_WORLD)
        return 0;
    return (uint32_t)comm + 1;
}

static int refuse(struct rfn_refusal *refusal, const char *why)
{
    refusal->why = why;
    return RFN_E_UNSUPPORTED;
}

/* ---- messages ---- */

int64_t rfn_action_peer(const struct rfn_call_event *call, int64_t comm, int64_t peer)
{
    if (peer == RFN_PROC_NULL)
        return RFN_PROC_NULL;
    if (peer == RFN_ANY)
        return RFN_ACTION_ANY;
    if (comm < 0 || comm >= rfn_archive_comms(call->archive))
        return -1;
    const int64_t world = rfn_comm_peer(call->archive, (uint32_t)comm, call->rank, peer);
    return world < rfn_archive_run(call->archive)->ranks ? world : -1;
}

/* What came, or, where that is not known or as asked for, what was asked for. */
static int64_t came(const struct rfn_call_event *call, enum rfn_outcome outcome, int64_t asked)
{
    const int at = call->call->out[outcome];
    return at < 0 || call->record->out[at] == RFN_AS_POSTED ? asked : call->record->out[at];
}

static int64_t tag_at(const struct rfn_call_event *call, int8_t place)
{
    return place < 0 ? RFN_ANY : call->record->in[place];
}

static int send_action(const struct rfn_call_event *call, struct rfn_action *action,
                       struct rfn_refusal *refusal)
{
    const int64_t comm = rfn_word(call, RFN_IN_COMM, -1);
    action->peer = rfn_action_peer(call, comm, rfn_word(call, RFN_IN_dest, RFN_PROC_NULL));
    if (action->peer == RFN_PROC_NULL)
        return 0;
    if (action->peer < 0)
        return refuse(refusal, "sends to a process that is not in MPI_COMM_WORLD");
    action->kind = RFN_ACTION_SEND;
    action->tag = tag_at(call, call->call->send_tag);
    action->bytes = rfn_sent_bytes(call);
    action->synchronous = call->call->mode == RFN_SEND_SYNCHRONOUS;
    action->blocks = call->call->variant == RFN_CALL_BLOCKING &&
                     call->call->mode != RFN_SEND_BUFFERED;
    return 1;
}

static int receive_action(const struct rfn_call_event *call, struct rfn_action *action,
                          struct rfn_refusal *refusal)
{
    const int64_t comm = rfn_word(call, RFN_IN_COMM, -1);
    const int64_t asked = rfn_word(call, RFN_IN_source, RFN_PROC_NULL);
    const bool probes = call->call->kind == RFN_CALL_PROBE || call->call->kind == RFN_CALL_MPROBE;
    const int64_t bytes = probes ? 0 : rfn_asked_bytes(call);
    action->peer = rfn_action_peer(call, comm, came(call, RFN_OUT_RANK, asked));
    if (asked == RFN_PROC_NULL || action->peer == RFN_PROC_NULL)
        return 0;
    if (action->peer < 0 && action->peer != RFN_ACTION_ANY)
        return refuse(refusal, "receives from a process that is not in MPI_COMM_WORLD");
    action->kind = probes ? RFN_ACTION_PROBE : RFN_ACTION_RECV;
    action->tag = came(call, RFN_OUT_TAG, tag_at(call, call->call->recv_tag));
    action->bytes = came(call, RFN_OUT_BYTES, bytes);
    if (action->bytes < 0)
        action->bytes = bytes ? bytes : -1; /* not even asked for: text without a volume */
    action->blocks = call->call->variant == RFN_CALL_BLOCKING;
    return 1;
}

/* A side that is MPI_PROC_NULL leaves the other one. */
static int sendrecv_action(const struct rfn_call_event *call, struct rfn_action *action,
                           struct rfn_refusal *refusal)
{
    struct rfn_action receive = *action;
    int sends, receives;
    RFN_TRY(sends = send_action(call, action, refusal));
    RFN_TRY(receives = receive_action(call, &receive, refusal));
    if (!receives)
        return sends;
    if (!sends) {
        *action = receive;
        return 1;
    }
    action->kind = RFN_ACTION_SENDRECV;
    action->receive_peer = receive.peer;
    action->receive_tag = receive.tag;
    action->receive_bytes = receive.bytes;
    return 1;
}

int rfn_message_action(const struct rfn_call_event *call, struct rfn_action *action,
                       struct rfn_refusal *refusal)
{
    *action = (struct rfn_action){.request = -1, .type_bytes = 1, .path = call->record->path};
    action->comm = rfn_action_comm(call->archive, rfn_word(call, RFN_IN_COMM, -1));
    switch (call->call->kind) {
    case RFN_CALL_SEND:
        return send_action(call, action, refusal);
    case RFN_CALL_SENDRECV:
        return sendrecv_action(call, action, refusal);
    default:
        return receive_action(call, action, refusal);
    }
}

/* ---- collective calls ---- */

static enum rfn_action_kind collective_kind(enum rfn_operation operation)
{
    switch (operation) {
    case RFN_MPI_Bcast:
        return RFN_ACTION_BCAST;
    case RFN_MPI_Reduce:
        return RFN_ACTION_REDUCE;
    case RFN_MPI_Allreduce:
        return RFN_ACTION_ALLREDUCE;
    case RFN_MPI_Scan:
        return RFN_ACTION_SCAN;
    case RFN_MPI_Exscan:
        return RFN_ACTION_EXSCAN;
    case RFN_MPI_Gather:
        return RFN_ACTION_GATHER;
    case RFN_MPI_Gatherv:
        return RFN_ACTION_GATHERV;
    case RFN_MPI_Scatter:
        return RFN_ACTION_SCATTER;
    case RFN_MPI_Scatterv:
        return RFN_ACTION_SCATTERV;
    case RFN_MPI_Allgather:
        return RFN_ACTION_ALLGATHER;
    case RFN_MPI_Allgatherv:
        return RFN_ACTION_ALLGATHERV;
    case RFN_MPI_Alltoall:
        return RFN_ACTION_ALLTOALL;
    case RFN_MPI_Alltoallv:
    case RFN_MPI_Alltoallw:
        return RFN_ACTION_ALLTOALLV;
    case RFN_MPI_Reduce_scatter:
    case RFN_MPI_Reduce_scatter_block:
        return RFN_ACTION_REDUCE_SCATTER;
    default:
        return RFN_ACTION_BARRIER; /* also what makes communicators, windows, files */
    }
}

/* A list of the parts of a side, in half 0 or 1 of the memory. */
static const int64_t *list(const struct rfn_call_parts *parts, uint32_t n,
                           struct rfn_action_sizes *sizes, unsigned half)
{
    int64_t *to = sizes->sizes + (size_t)half * n;
    for (uint32_t i = 0; i < n; i++)
        to[i] = rfn_part_bytes(parts, i);
    return to;
}

/* Of what a rank sends to one other and gets from one other, one side may be left out. */
static void both_parts(const struct rfn_call_event *call, struct rfn_action *action, bool sends,
                       bool receives)
{
    action->bytes = sends ? rfn_sent_part(call, 0) : rfn_received_part(call, 0);
    action->receive_bytes = receives ? rfn_received_part(call, 0) : rfn_sent_part(call, 0);
}

static void fill(const struct rfn_call_event *call, uint32_t n, uint32_t own,
                 struct rfn_action_sizes *sizes, struct rfn_action *action)
{
    const bool is_root = action->root == own;
    const bool sends = !rfn_is_in_place(call, RFN_IN_sendbuf);
    const bool receives = !rfn_is_in_place(call, RFN_IN_recvbuf);
    const struct rfn_call_parts sent = rfn_sent_parts(call), received = rfn_received_parts(call);
    switch (action->kind) {
    case RFN_ACTION_GATHER:
        both_parts(call, action, sends, is_root);
        break;
    case RFN_ACTION_SCATTER:
        both_parts(call, action, is_root, receives);
        break;
    case RFN_ACTION_ALLGATHER:
    case RFN_ACTION_ALLTOALL:
        both_parts(call, action, sends, true);
        break;
    case RFN_ACTION_GATHERV:
        action->bytes = sends ? rfn_part_bytes(&sent, 0) : rfn_part_bytes(&received, own);
        action->receives = is_root ? list(&received, n, sizes, 1) : NULL;
        break;
    case RFN_ACTION_SCATTERV:
        action->receive_bytes = receives ? rfn_part_bytes(&received, 0)
                                         : rfn_part_bytes(&sent, own);
        action->sends = is_root ? list(&sent, n, sizes, 0) : NULL;
        break;
    case RFN_ACTION_ALLGATHERV:
        action->receives = list(&received, n, sizes, 1);
        action->bytes = sends ? rfn_part_bytes(&sent, 0) : action->receives[own];
        break;
    case RFN_ACTION_ALLTOALLV:
        action->receives = list(&received, n, sizes, 1);
        action->sends = sends ? list(&sent, n, sizes, 0) : action->receives;
        break;
    case RFN_ACTION_REDUCE_SCATTER:
        action->receives = list(&received, n, sizes, 1);
        break;
    case RFN_ACTION_BARRIER:
        break;
    default:
        action->bytes = rfn_element_bytes(call, RFN_IN_count, RFN_IN_datatype);
        break;
    }
}

int rfn_collective_action(const struct rfn_call_event *call, struct rfn_action_sizes *sizes,
                          struct rfn_action *action, struct rfn_refusal *refusal)
{
    const int64_t comm = rfn_word(call, RFN_IN_COMM, -1);
    if (comm < 0 || comm >= rfn_archive_comms(call->archive))
        return 0;
    const struct rfn_comm_info *info = rfn_archive_comm(call->archive, (uint32_t)comm);
    if (info->kind == RFN_COMM_INTER && call->call->kind == RFN_CALL_MAKE)
        return 0;
    if (info->kind == RFN_COMM_INTER)
        return refuse(refusal, "is a collective call on an inter-communicator");
    if (info->size > MEMBERS_MAX)
        return refuse(refusal, "has more members than there can be");
    const int64_t own = rfn_comm_rank_of(call->archive, (uint32_t)comm, call->rank);
    *action = (struct rfn_action){.request = -1, .type_bytes = 1, .path = call->record->path};
    action->kind = collective_kind((enum rfn_operation)call->call->operation);
    action->blocks = call->call->variant == RFN_CALL_BLOCKING;
    action->comm = rfn_action_comm(call->archive, comm);
    action->root = rfn_word(call, RFN_IN_root, 0);
    if (info->size <= 1 || own < 0)
        return 0;
    if (action->root < 0 || action->root >= info->size)
        return refuse(refusal, "has a root that is not in its communicator");
    RFN_TRY(RFN_GROW(sizes->sizes, sizes->capacity, 2 * (size_t)info->size));
    fill(call, info->size, (uint32_t)own, sizes, action);
    return 1;
}
