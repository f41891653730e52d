/* volume.c - bytes of a call from its counts and datatypes (refrain/volume.h has the rules). */
#include "refrain/volume.h"

#include "analyze/match/call_parts.h"

#include <stdlib.h>

struct rfn_volumes {
    const struct rfn_archive *archive;
};

struct rfn_volumes *rfn_volumes_new(const struct rfn_archive *archive)
{
    struct rfn_volumes *volumes = malloc(sizeof *volumes);
    if (volumes)
        volumes->archive = archive;
    return volumes;
}

void rfn_volumes_free(struct rfn_volumes *volumes)
{
    free(volumes);
}

static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static const struct rfn_comm_info *comm_info(const struct rfn_call_event *call)
{
    int64_t comm = rfn_word(call, RFN_IN_COMM, -1);
    if (comm < 0 || comm >= rfn_archive_comms(call->archive))
        return NULL;
    return rfn_archive_comm(call->archive, (uint32_t)comm);
}

/* How many ranks the call communicates with: of an inter-communicator those of the other group. */
static int64_t partners(const struct rfn_call_event *call)
{
    if (!comm_info(call))
        return 0;
    return rfn_comm_peers(call->archive, (uint32_t)rfn_word(call, RFN_IN_COMM, -1), call->rank);
}

/* How many are in the caller's own group. */
static int64_t local_size(const struct rfn_call_event *call)
{
    const struct rfn_comm_info *comm = comm_info(call);
    if (!comm)
        return 0;
    return comm->kind == RFN_COMM_INTER ? (int64_t)comm->size + comm->remote_size - partners(call)
                                        : comm->size;
}

static int64_t own_rank(const struct rfn_call_event *call)
{
    int64_t comm = rfn_word(call, RFN_IN_COMM, -1);
    return comm < 0 ? -1 : rfn_comm_rank_of(call->archive, (uint32_t)comm, call->rank);
}

static bool is_root(const struct rfn_call_event *call)
{
    const struct rfn_comm_info *comm = comm_info(call);
    int64_t root = rfn_word(call, RFN_IN_root, RFN_PROC_NULL);
    if (root == RFN_ROOT)
        return true;
    if (root < 0 || !comm || comm->kind == RFN_COMM_INTER)
        return false;
    return root == own_rank(call);
}

/* In an inter-communicator the ranks beside the root take no part. */
static bool takes_part(const struct rfn_call_event *call)
{
    return rfn_word(call, RFN_IN_root, 0) != RFN_PROC_NULL;
}

/* All parts of a side: one per partner, or as many as the list of counts has. */
static int64_t all_bytes(const struct rfn_call_parts *parts, int64_t partners)
{
    int64_t sum = 0;
    if (!parts->listed)
        return rfn_product(rfn_part_bytes(parts, 0), partners);
    for (size_t i = 0; i < parts->n_counts; i++)
        sum = plus(sum, rfn_part_bytes(parts, i));
    return sum;
}

static int64_t all_sent(const struct rfn_call_event *call, int64_t partners)
{
    const struct rfn_call_parts parts = rfn_sent_parts(call);
    return all_bytes(&parts, partners);
}

static int64_t all_received(const struct rfn_call_event *call, int64_t partners)
{
    const struct rfn_call_parts parts = rfn_received_parts(call);
    return all_bytes(&parts, partners);
}

/* ---- rules ---- */

static void send_to(const struct rfn_call_event *call, struct rfn_volume *volume, int64_t bytes)
{
    volume->dest = rfn_word(call, RFN_IN_dest, RFN_UNKNOWN);
    volume->sent_bytes = volume->dest == RFN_PROC_NULL ? 0 : bytes;
    if (volume->dest >= 0 && comm_info(call))
        volume->dest_world = rfn_comm_peer(call->archive, (uint32_t)volume->comm, call->rank,
                                           volume->dest);
}

static int64_t outcome(const struct rfn_call_event *call, int at, int64_t posted)
{
    if (at < 0 || call->record->failed_poll || call->record->out[at] == RFN_AS_POSTED)
        return posted;
    return call->record->out[at];
}

static void receive_from(const struct rfn_call_event *call, struct rfn_volume *volume,
                         int64_t bytes)
{
    const int8_t *out = call->call->out;
    int tag = call->call->recv_tag;
    volume->source = outcome(call, out[RFN_OUT_RANK], rfn_word(call, RFN_IN_source, RFN_UNKNOWN));
    volume->tag = outcome(call, out[RFN_OUT_TAG], tag < 0 ? RFN_UNKNOWN : call->record->in[tag]);
    int64_t received = outcome(call, out[RFN_OUT_BYTES],
                               volume->source == RFN_PROC_NULL ? 0 : bytes);
    volume->received_bytes = received < 0 ? -1 : received;
}

static void gather(const struct rfn_call_event *call, struct rfn_volume *volume, bool to_all)
{
    bool root = to_all || is_root(call);
    bool placed = rfn_is_in_place(call, RFN_IN_sendbuf);
    bool inter = rfn_word(call, RFN_IN_root, 0) == RFN_ROOT; /* such a root sends nothing */
    if (!takes_part(call))
        return;
    if (!inter)
        volume->sent_bytes = placed ? rfn_received_part(call, (size_t)own_rank(call))
                                    : rfn_sent_part(call, 0);
    if (root)
        volume->received_bytes = all_received(call, partners(call));
}

static void scatter(const struct rfn_call_event *call, struct rfn_volume *volume)
{
    if (!takes_part(call))
        return;
    if (is_root(call))
        volume->sent_bytes = all_sent(call, partners(call));
    if (rfn_word(call, RFN_IN_root, 0) != RFN_ROOT)
        volume->received_bytes = rfn_is_in_place(call, RFN_IN_recvbuf)
                                     ? rfn_sent_part(call, (size_t)own_rank(call))
                                     : rfn_received_part(call, 0);
}

static void all_to_all(const struct rfn_call_event *call, struct rfn_volume *volume, int64_t parts)
{
    volume->received_bytes = all_received(call, parts);
    volume->sent_bytes = rfn_is_in_place(call, RFN_IN_sendbuf) ? volume->received_bytes
                                                               : all_sent(call, parts);
}

static void reduce(const struct rfn_call_event *call, struct rfn_volume *volume)
{
    enum rfn_operation operation = (enum rfn_operation)call->call->operation;
    int64_t bytes = rfn_buffer_bytes(call);
    if (!takes_part(call))
        return;
    if (rfn_word(call, RFN_IN_root, 0) != RFN_ROOT)
        volume->sent_bytes = bytes;
    if (operation != RFN_MPI_Reduce || is_root(call))
        volume->received_bytes = bytes;
    if (operation == RFN_MPI_Exscan && own_rank(call) == 0)
        volume->received_bytes = 0;
}

static void bcast(const struct rfn_call_event *call, struct rfn_volume *volume)
{
    if (!takes_part(call))
        return;
    if (is_root(call))
        volume->sent_bytes = rfn_buffer_bytes(call);
    else
        volume->received_bytes = rfn_buffer_bytes(call);
}

/* What goes to the target, what comes from it, or, of the operations that fetch, both. */
static void one_sided(const struct rfn_call_event *call, struct rfn_volume *volume, bool sends,
                      bool receives)
{
    int64_t origin = rfn_has(call, RFN_IN_origin_count)
                         ? rfn_element_bytes(call, RFN_IN_origin_count, RFN_IN_origin_datatype)
                         : rfn_type_bytes(call->archive, rfn_word(call, RFN_IN_datatype, -1));
    volume->target = rfn_word(call, RFN_IN_target_rank, RFN_UNKNOWN);
    volume->window = rfn_word(call, RFN_IN_WIN, RFN_UNKNOWN);
    if (volume->target == RFN_PROC_NULL)
        origin = 0;
    if (sends)
        volume->sent_bytes = origin;
    if (receives)
        volume->received_bytes = rfn_has(call, RFN_IN_result_count) && origin
                                     ? rfn_element_bytes(call, RFN_IN_result_count,
                                                         RFN_IN_result_datatype)
                                     : origin;
}

/* File access: what was really moved where it is known, else what was asked for. */
static int64_t moved_bytes(const struct rfn_call_event *call)
{
    int64_t asked = rfn_buffer_bytes(call);
    int64_t moved = outcome(call, call->call->out[RFN_OUT_BYTES], asked);
    return moved < 0 ? asked : moved;
}

static void message(const struct rfn_call_event *call, struct rfn_volume *volume)
{
    switch (call->call->kind) {
    case RFN_CALL_SEND:
        send_to(call, volume, rfn_sent_bytes(call));
        break;
    case RFN_CALL_SENDRECV:
        send_to(call, volume, rfn_sent_bytes(call));
        receive_from(call, volume, rfn_asked_bytes(call));
        break;
    case RFN_CALL_PROBE:
    case RFN_CALL_MPROBE:
        receive_from(call, volume, -1);
        break;
    default:
        receive_from(call, volume, rfn_asked_bytes(call));
        break;
    }
}

static void apply(const struct rfn_call_event *call, struct rfn_volume *volume)
{
    const struct rfn_call *of = call->call;
    if (of->kind >= RFN_CALL_SEND && of->kind <= RFN_CALL_MRECV)
        message(call, volume);
    else if (of->class_ == RFN_CLASS_NEIGHBOR)
        all_to_all(call, volume, 1);
    else if (of->reads)
        volume->received_bytes = moved_bytes(call);
    else if (of->writes)
        volume->sent_bytes = moved_bytes(call);
    switch (of->operation) {
    case RFN_MPI_Bcast:
        bcast(call, volume);
        break;
    case RFN_MPI_Gather:
    case RFN_MPI_Gatherv:
        gather(call, volume, false);
        break;
    case RFN_MPI_Allgather:
    case RFN_MPI_Allgatherv:
        gather(call, volume, true);
        break;
    case RFN_MPI_Scatter:
    case RFN_MPI_Scatterv:
        scatter(call, volume);
        break;
    case RFN_MPI_Alltoall:
    case RFN_MPI_Alltoallv:
    case RFN_MPI_Alltoallw:
        all_to_all(call, volume, partners(call));
        break;
    case RFN_MPI_Reduce:
    case RFN_MPI_Allreduce:
    case RFN_MPI_Scan:
    case RFN_MPI_Exscan:
        reduce(call, volume);
        break;
    case RFN_MPI_Reduce_scatter:
    case RFN_MPI_Reduce_scatter_block:
        volume->sent_bytes = all_received(call, local_size(call));
        volume->received_bytes = rfn_received_part(call, (size_t)own_rank(call));
        break;
    case RFN_MPI_Put:
    case RFN_MPI_Rput:
    case RFN_MPI_Accumulate:
    case RFN_MPI_Raccumulate:
        one_sided(call, volume, true, false);
        break;
    case RFN_MPI_Get:
    case RFN_MPI_Rget:
        one_sided(call, volume, false, true);
        break;
    case RFN_MPI_Get_accumulate:
    case RFN_MPI_Rget_accumulate:
    case RFN_MPI_Fetch_and_op:
    case RFN_MPI_Compare_and_swap:
        one_sided(call, volume, true, true);
        break;
    default:
        break;
    }
}

struct rfn_volume rfn_volume_of(const struct rfn_volumes *volumes, const struct rfn_cursor *cursor,
                                uint32_t rank, const struct rfn_record *record)
{
    struct rfn_volume volume = {.sent_bytes = -1,
                                .received_bytes = -1,
                                .dest = RFN_UNKNOWN,
                                .dest_world = -1,
                                .source = RFN_UNKNOWN,
                                .tag = RFN_UNKNOWN,
                                .comm = -1,
                                .target = RFN_UNKNOWN,
                                .window = RFN_UNKNOWN};
    const struct rfn_call_event call = rfn_call_event(volumes->archive, cursor, rank, record);
    volume.comm = rfn_word(&call, RFN_IN_COMM, -1);
    if (volume.comm >= rfn_archive_comms(volumes->archive))
        volume.comm = -1;
    apply(&call, &volume);
    return volume;
}

int64_t rfn_volume_bytes(const struct rfn_volumes *volumes, uint32_t function,
                         const struct rfn_volume *volume)
{
    const struct rfn_call *call = rfn_archive_call(volumes->archive, function);
    if (volume->sent_bytes >= 0 && call->kind != RFN_CALL_SENDRECV)
        return volume->sent_bytes;
    return volume->received_bytes;
}

struct rfn_posted rfn_volume_posted(const struct rfn_volumes *volumes, uint32_t function)
{
    const struct rfn_call *call = rfn_archive_call(volumes->archive, function);
    bool receives = rfn_call_receives(call) || call->kind == RFN_CALL_PROBE ||
                    call->kind == RFN_CALL_MPROBE;
    if (!receives)
        return (struct rfn_posted){-1, -1};
    return (struct rfn_posted){call->in[RFN_IN_source], call->recv_tag};
}
