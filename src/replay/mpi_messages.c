/* mpi_messages.c - messages from point to point: blocking, nonblocking, persistent, probes. */
#include "replay/mpi_player.h"

#include "analyze/match/call_parts.h"
#include "base/grow.h"

#include <string.h>

/* A message that MPI is to send: where to, and its bytes. */
struct outgoing {
    struct rpl_piece piece;
    void *buffer;
    int dest, tag;
    MPI_Comm comm;
};

static int64_t send_tag(const struct rfn_call_event *call)
{
    return rfn_word(call, RFN_IN_sendtag, rfn_word(call, RFN_IN_tag, 0));
}

static int stamp_outgoing(struct rpl_player *player, int64_t comm, int64_t dest, int64_t tag,
                          int64_t bytes, void *buffer)
{
    uint64_t stamp = 0;
    if (dest < 0)
        return 0;
    RFN_TRY(rpl_message_id(player, comm, dest, tag, true, &stamp));
    rpl_message_id_put(stamp, buffer, bytes);
    return 0;
}

static int prepare(struct rpl_player *player, const struct rfn_call_event *call,
                   struct outgoing *out)
{
    int64_t bytes = rfn_sent_bytes(call), dest = rfn_word(call, RFN_IN_dest, RFN_PROC_NULL);
    RFN_TRY(rpl_take(player, bytes, &out->buffer));
    out->piece = rpl_piece(player, bytes);
    out->dest = rpl_mpi_rank(dest);
    out->tag = rpl_mpi_tag(send_tag(call));
    out->comm = rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1));
    if (call->call->variant == RFN_CALL_PERSISTENT) /* its starts are */
        return 0;
    return stamp_outgoing(player, rfn_word(call, RFN_IN_COMM, -1), dest, send_tag(call), bytes,
                          out->buffer);
}

/* ---- sends ---- */

#define ARGUMENTS(out) \
    (out)->buffer, (out)->piece.count, (out)->piece.type, (out)->dest, (out)->tag, (out)->comm

static void send_blocking(const struct rfn_call_event *call, const struct outgoing *out)
{
    if (call->call->operation == RFN_MPI_Bsend)
        MPI_Bsend(ARGUMENTS(out));
    else if (call->call->operation == RFN_MPI_Ssend)
        MPI_Ssend(ARGUMENTS(out));
    else /* a ready send, too: the receive might come later than it did */
        MPI_Send(ARGUMENTS(out));
}

static void send_nonblocking(const struct rfn_call_event *call, const struct outgoing *out,
                             MPI_Request *request)
{
    if (call->call->operation == RFN_MPI_Bsend)
        MPI_Ibsend(ARGUMENTS(out), request);
    else if (call->call->operation == RFN_MPI_Ssend)
        MPI_Issend(ARGUMENTS(out), request);
    else
        MPI_Isend(ARGUMENTS(out), request);
}

static void send_init(const struct rfn_call_event *call, const struct outgoing *out,
                      MPI_Request *request)
{
    if (call->call->operation == RFN_MPI_Bsend)
        MPI_Bsend_init(ARGUMENTS(out), request);
    else if (call->call->operation == RFN_MPI_Ssend)
        MPI_Ssend_init(ARGUMENTS(out), request);
    else
        MPI_Send_init(ARGUMENTS(out), request);
}

/* Stands where nothing comes: it is cancelled as it was. */
static int post_nowhere(struct rpl_player *player, struct rpl_request *request, MPI_Request *handle)
{
    request->posted = false;
    MPI_Irecv(request->buffer, 0, MPI_BYTE, 0, 0, player->nowhere, handle);
    return 0;
}

static int issue_send(struct rpl_player *player, const struct rfn_call_event *call)
{
    struct outgoing out;
    if (call->call->variant == RFN_CALL_BLOCKING) {
        RFN_TRY(prepare(player, call, &out));
        send_blocking(call, &out);
        rpl_buffers_give(&player->pool, out.buffer);
        return 0;
    }
    struct rpl_request *request;
    struct rfn_fate fate = {0};
    RFN_TRY(rpl_new_request(player, call, &request));
    if (call->call->variant == RFN_CALL_NONBLOCKING)
        RFN_TRY(rpl_outcome_ahead(player, &player->volume, &fate));
    if (fate.cancelled)
        return post_nowhere(player, request, &request->request);
    RFN_TRY(prepare(player, call, &out));
    request->buffer = out.buffer;
    request->bytes = rfn_sent_bytes(call);
    request->peer = rfn_word(call, RFN_IN_dest, RFN_PROC_NULL);
    request->tag = send_tag(call);
    if (call->call->variant == RFN_CALL_PERSISTENT)
        send_init(call, &out, &request->request);
    else
        send_nonblocking(call, &out, &request->request);
    return 0;
}

/* ---- receives ---- */

/* Posts what is to be received, and notes with what stamp it will come. */
static int post(struct rpl_player *player, struct rpl_request *request, int64_t source, int64_t tag,
                MPI_Request *handle)
{
    struct rpl_piece piece = rpl_piece(player, request->bytes);
    request->stamped = source >= 0 && tag >= 0;
    request->posted = true;
    request->type = piece.type;
    if (request->stamped)
        RFN_TRY(rpl_message_id(player, request->comm, source, tag, false, &request->stamp));
    MPI_Irecv(request->buffer, piece.count, piece.type, rpl_mpi_rank(source), rpl_mpi_tag(tag),
              rpl_mpi_comm(player, request->comm), handle);
    return 0;
}

static int receive_blocking(struct rpl_player *player, const struct rfn_call_event *call)
{
    const struct rfn_volume *volume = &player->volume;
    struct rpl_piece piece = rpl_piece(player, rfn_asked_bytes(call));
    bool stamped = volume->source >= 0;
    uint64_t stamp = 0;
    void *buffer;
    MPI_Status status;
    RFN_TRY(rpl_take(player, rfn_asked_bytes(call), &buffer));
    if (stamped)
        RFN_TRY(rpl_message_id(player, volume->comm, volume->source, volume->tag, false, &stamp));
    MPI_Recv(buffer, piece.count, piece.type, rpl_mpi_rank(volume->source),
             rpl_mpi_tag(volume->tag), rpl_mpi_comm(player, volume->comm), &status);
    rpl_check(player, &status, piece.type, volume, stamped ? &stamp : NULL, buffer);
    rpl_buffers_give(&player->pool, buffer);
    return 0;
}

static int issue_recv(struct rpl_player *player, const struct rfn_call_event *call)
{
    if (call->call->variant == RFN_CALL_BLOCKING)
        return receive_blocking(player, call);
    struct rpl_request *request;
    struct rfn_fate fate;
    RFN_TRY(rpl_new_request(player, call, &request));
    request->bytes = rfn_asked_bytes(call);
    request->peer = rfn_word(call, RFN_IN_source, RFN_PROC_NULL);
    request->tag = rfn_word(call, RFN_IN_tag, RFN_ANY);
    RFN_TRY(rpl_take(player, request->bytes, &request->buffer));
    if (call->call->variant == RFN_CALL_NONBLOCKING) {
        RFN_TRY(rpl_outcome_ahead(player, &player->volume, &fate));
        return fate.cancelled ? post_nowhere(player, request, &request->request)
                              : post(player, request, fate.source, fate.tag, &request->request);
    }
    struct rpl_piece piece = rpl_piece(player, request->bytes);
    request->type = piece.type;
    MPI_Recv_init(request->buffer, piece.count, piece.type, rpl_mpi_rank(request->peer),
                  rpl_mpi_tag(request->tag), rpl_mpi_comm(player, request->comm),
                  &request->request);
    return 0;
}

/* ---- both ---- */

static int exchange(struct rpl_player *player, const struct rfn_call_event *call,
                    const struct outgoing *out, void *buffer, struct rpl_piece piece)
{
    const struct rfn_volume *volume = &player->volume;
    bool stamped = volume->source >= 0;
    uint64_t stamp = 0;
    MPI_Status status;
    if (stamped)
        RFN_TRY(rpl_message_id(player, volume->comm, volume->source, volume->tag, false, &stamp));
    if (call->call->operation == RFN_MPI_Sendrecv_replace)
        MPI_Sendrecv_replace(out->buffer, out->piece.count, out->piece.type, out->dest, out->tag,
                             rpl_mpi_rank(volume->source), rpl_mpi_tag(volume->tag), out->comm,
                             &status);
    else
        MPI_Sendrecv(out->buffer, out->piece.count, out->piece.type, out->dest, out->tag, buffer,
                     piece.count, piece.type, rpl_mpi_rank(volume->source),
                     rpl_mpi_tag(volume->tag), out->comm, &status);
    rpl_check(player, &status, piece.type, volume, stamped ? &stamp : NULL, buffer);
    return 0;
}

/* Where one buffer is for both, the piece and the buffer are those of what is sent. */
static int issue_sendrecv(struct rpl_player *player, const struct rfn_call_event *call)
{
    struct outgoing out;
    void *buffer = NULL;
    RFN_TRY(prepare(player, call, &out));
    bool replaces = call->call->operation == RFN_MPI_Sendrecv_replace;
    if (!replaces)
        RFN_TRY(rpl_take(player, rfn_asked_bytes(call), &buffer));
    RFN_TRY(exchange(player, call, &out, replaces ? out.buffer : buffer,
                     rpl_piece(player, rfn_asked_bytes(call))));
    rpl_buffers_give(&player->pool, buffer);
    rpl_buffers_give(&player->pool, out.buffer);
    return 0;
}

#if RPL_HAVE_MPI_Isendrecv
static int issue_isendrecv(struct rpl_player *player, const struct rfn_call_event *call)
{
    struct rpl_request *request;
    struct rfn_fate fate;
    struct outgoing out;
    RFN_TRY(rpl_new_request(player, call, &request));
    RFN_TRY(rpl_outcome_ahead(player, &player->volume, &fate));
    RFN_TRY(prepare(player, call, &out));
    struct rpl_piece piece = rpl_piece(player, rfn_asked_bytes(call));
    request->type = piece.type;
    request->bytes = rfn_asked_bytes(call);
    request->stamped = fate.source >= 0 && fate.tag >= 0;
    if (request->stamped)
        RFN_TRY(
            rpl_message_id(player, request->comm, fate.source, fate.tag, false, &request->stamp));
    if (call->call->operation == RFN_MPI_Sendrecv_replace) {
        request->buffer = out.buffer;
        MPI_Isendrecv_replace(out.buffer, out.piece.count, out.piece.type, out.dest, out.tag,
                              rpl_mpi_rank(fate.source), rpl_mpi_tag(fate.tag), out.comm,
                              &request->request);
        return 0;
    }
    request->kept[0] = out.buffer;
    RFN_TRY(rpl_take(player, request->bytes, &request->buffer));
    MPI_Isendrecv(out.buffer, out.piece.count, out.piece.type, out.dest, out.tag, request->buffer,
                  piece.count, piece.type, rpl_mpi_rank(fate.source), rpl_mpi_tag(fate.tag),
                  out.comm, &request->request);
    return 0;
}
#endif

static int issue_exchange(struct rpl_player *player, const struct rfn_call_event *call)
{
#if RPL_HAVE_MPI_Isendrecv
    if (call->call->variant == RFN_CALL_NONBLOCKING)
        return issue_isendrecv(player, call);
#endif
    return issue_sendrecv(player, call);
}

/* ---- probes ---- */

/* A successful Iprobe is waited for. */
static int issue_probe(struct rpl_player *player, const struct rfn_call_event *call)
{
    const struct rfn_volume *volume = &player->volume;
    MPI_Status status;
    (void)call;
    MPI_Probe(rpl_mpi_rank(volume->source), rpl_mpi_tag(volume->tag),
              rpl_mpi_comm(player, volume->comm), &status);
    return 0;
}

static int issue_mprobe(struct rpl_player *player, const struct rfn_call_event *call)
{
    const struct rfn_volume *volume = &player->volume;
    struct rpl_message message = {.stamped = volume->source >= 0};
    int64_t slot = rfn_outcome(call, RFN_OUT_MESSAGE);
    MPI_Status status;
    if (message.stamped)
        RFN_TRY(rpl_message_id(player, volume->comm, volume->source, volume->tag, false,
                               &message.stamp));
    MPI_Mprobe(rpl_mpi_rank(volume->source), rpl_mpi_tag(volume->tag),
               rpl_mpi_comm(player, volume->comm), &message.message, &status);
    if (slot < 0 || slot >= RFN_SLOTS_MAX)
        return 0;
    RFN_TRY(
        RFN_GROW_ZEROED(player->made.messages, player->made.messages_capacity, (size_t)slot + 1));
    player->made.messages[slot] = message;
    return 0;
}

/* The message that a matched receive fetches. */
static struct rpl_message fetch(const struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t slot = rfn_word(call, RFN_IN_MESSAGE, -1);
    if (slot >= 0 && (uint64_t)slot < player->made.messages_capacity &&
        player->made.messages[slot].message)
        return player->made.messages[slot];
    return (struct rpl_message){.message = MPI_MESSAGE_NO_PROC};
}

static int issue_mrecv(struct rpl_player *player, const struct rfn_call_event *call)
{
    struct rpl_message message = fetch(player, call);
    struct rpl_piece piece = rpl_piece(player, rfn_asked_bytes(call));
    MPI_Status status;
    void *buffer;
    RFN_TRY(rpl_take(player, rfn_asked_bytes(call), &buffer));
    if (call->call->variant == RFN_CALL_BLOCKING) {
        MPI_Mrecv(buffer, piece.count, piece.type, &message.message, &status);
        rpl_check(player, &status, piece.type, &player->volume,
                  message.stamped ? &message.stamp : NULL, buffer);
        rpl_buffers_give(&player->pool, buffer);
        return 0;
    }
    struct rpl_request *request;
    struct rfn_fate fate;
    RFN_TRY(rpl_new_request(player, call, &request));
    RFN_TRY(rpl_outcome_ahead(player, &player->volume, &fate));
    request->buffer = buffer;
    request->type = piece.type;
    request->stamp = message.stamp;
    request->stamped = message.stamped;
    MPI_Imrecv(buffer, piece.count, piece.type, &message.message, &request->request);
    return 0;
}

/* ---- persistent ones ---- */

/* A start of a request. Of a receive from anyone, and of one that is cancelled, the source is not
 * that of the persistent request: one that is good for this start takes its place, *own is false.
 */
static int begin_start(struct rpl_player *player, struct rpl_request *request,
                       const struct rfn_request_origin *origin, bool *own)
{
    const struct rfn_call *made = rfn_archive_call(player->archive, origin->function);
    struct rfn_fate fate;
    *own = true;
    if (!rfn_call_sends(made) && !rfn_call_receives(made))
        return 0;
    RFN_TRY(rpl_outcome_ahead(player, origin->volume, &fate));
    if (request->request == MPI_REQUEST_NULL) /* it could not be made */
        return 0;
    *own = !fate.cancelled && request->peer != RFN_ANY && request->tag != RFN_ANY;
    if (request->partitioned)
        return 0;
    if (fate.cancelled)
        return post_nowhere(player, request, &request->once);
    request->posted = true;
    if (rfn_call_sends(made))
        return stamp_outgoing(player, request->comm, request->peer, request->tag, request->bytes,
                              request->buffer);
    if (!*own)
        return post(player, request, fate.source, fate.tag, &request->once);
    request->stamped = request->peer >= 0;
    return request->stamped ? rpl_message_id(player, request->comm, request->peer, request->tag,
                                             false, &request->stamp)
                            : 0;
}

static int issue_start(struct rpl_player *player, const struct rfn_call_event *call)
{
    int n = 0;
    size_t started = player->effects.n_started;
    RFN_TRY(RFN_GROW(player->room.handles, player->room.handles_capacity, started + 1));
    for (size_t i = 0; i < started; i++) {
        const struct rfn_request_origin *origin = player->effects.started[i];
        struct rpl_request *request = rpl_request_of(player, origin);
        bool own = false;
        if (!request)
            continue;
        request->active = true;
        RFN_TRY(begin_start(player, request, origin, &own));
        if (own && request->request != MPI_REQUEST_NULL)
            player->room.handles[n++] = request->request;
    }
    if (n == 1 && call->call->operation == RFN_MPI_Start)
        MPI_Start(player->room.handles);
    else if (n)
        MPI_Startall(n, player->room.handles);
    return 0;
}

#if RPL_HAVE_MPI_Psend_init
/* Partitions are as large as they were; what they carry is not looked at. */
static int issue_partitioned(struct rpl_player *player, const struct rfn_call_event *call)
{
    struct rpl_request *request;
    bool sends = rfn_call_sends(call->call);
    int64_t part = rfn_element_bytes(call, RFN_IN_count, RFN_IN_datatype);
    RFN_TRY(rpl_new_request(player, call, &request));
    request->partitioned = true;
    request->bytes = rfn_asked_bytes(call);
    request->peer = rfn_word(call, sends ? RFN_IN_dest : RFN_IN_source, RFN_PROC_NULL);
    request->tag = send_tag(call);
    RFN_TRY(rpl_take(player, request->bytes, &request->buffer));
    if (sends)
        MPI_Psend_init(request->buffer, (int)rfn_word(call, RFN_IN_partitions, 0), part, MPI_BYTE,
                       rpl_mpi_rank(request->peer), rpl_mpi_tag(request->tag),
                       rpl_mpi_comm(player, request->comm), MPI_INFO_NULL, &request->request);
    else
        MPI_Precv_init(request->buffer, (int)rfn_word(call, RFN_IN_partitions, 0), part, MPI_BYTE,
                       rpl_mpi_rank(request->peer), rpl_mpi_tag(request->tag),
                       rpl_mpi_comm(player, request->comm), MPI_INFO_NULL, &request->request);
    return 0;
}

static int issue_pready(struct rpl_player *player, const struct rfn_call_event *call)
{
    const struct rfn_request_origin *origin = player->effects.ready;
    struct rpl_request *request = origin ? rpl_request_of(player, origin) : NULL;
    if (!request || request->request == MPI_REQUEST_NULL)
        return 0;
    if (rfn_has(call, RFN_IN_partition_low)) {
        MPI_Pready_range((int)rfn_word(call, RFN_IN_partition_low, 0),
                         (int)rfn_word(call, RFN_IN_partition_high, 0), request->request);
    } else if (rfn_has(call, RFN_IN_array_of_partitions)) {
        size_t n;
        int *list = rpl_int_list(player, call, RFN_IN_array_of_partitions, RFN_KIND_INT, 0, &n);
        if (!list)
            return rpl_no_memory(player);
        MPI_Pready_list((int)n, list, request->request);
        rpl_buffers_give(&player->pool, list);
    } else {
        MPI_Pready((int)rfn_word(call, RFN_IN_partition, 0), request->request);
    }
    return 0;
}
#endif

const struct rpl_named_handler rpl_message_handlers[] = {{RFN_MPI_Send, issue_send},
                                                         {RFN_MPI_Bsend, issue_send},
                                                         {RFN_MPI_Ssend, issue_send},
                                                         {RFN_MPI_Rsend, issue_send},
                                                         {RFN_MPI_Recv, issue_recv},
                                                         {RFN_MPI_Sendrecv, issue_exchange},
                                                         {RFN_MPI_Sendrecv_replace, issue_exchange},
                                                         {RFN_MPI_Probe, issue_probe},
                                                         {RFN_MPI_Iprobe, issue_probe},
                                                         {RFN_MPI_Mprobe, issue_mprobe},
                                                         {RFN_MPI_Improbe, issue_mprobe},
                                                         {RFN_MPI_Mrecv, issue_mrecv},
                                                         {RFN_MPI_Start, issue_start},
                                                         {RFN_MPI_Startall, issue_start},
#if RPL_HAVE_MPI_Psend_init
                                                         {RFN_MPI_Psend, issue_partitioned},
                                                         {RFN_MPI_Precv, issue_partitioned},
                                                         {RFN_MPI_Pready, issue_pready},
                                                         {RFN_MPI_Pready_range, issue_pready},
                                                         {RFN_MPI_Pready_list, issue_pready},
#endif
                                                         {RFN_MPI_OTHER, NULL}};
