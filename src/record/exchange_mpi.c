#include "record/exchange_mpi.h"

#include "record/place.h"

/* A message is its size (8 bytes), then pieces of at most PIECE bytes. A piece is small enough that
 * a receiver without memory has room to receive and drop all of them: the sender must not hang. */
enum { TAG = 1, PIECE = 1 << 20 };

static uint8_t dropped[PIECE];

static int send_bytes(void *context, int to, const void *bytes, size_t size)
{
    MPI_Comm comm = ((struct rec_exchange *)context)->comm;
    uint64_t total = size;
    if (rec_mpi.MPI_Send(&total, sizeof total, MPI_BYTE, to, TAG, comm) != MPI_SUCCESS)
        return RFN_E_EXCHANGE;
    for (size_t at = 0; at < size; at += PIECE) {
        int piece = (int)(size - at < PIECE ? size - at : PIECE);
        if (rec_mpi.MPI_Send((const uint8_t *)bytes + at, piece, MPI_BYTE, to, TAG, comm) !=
            MPI_SUCCESS)
            return RFN_E_EXCHANGE;
    }
    return 0;
}

static int receive_bytes(void *context, int from, struct rfn_buf *bytes)
{
    MPI_Comm comm = ((struct rec_exchange *)context)->comm;
    uint64_t total = 0;
    if (rec_mpi.MPI_Recv(&total, sizeof total, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return RFN_E_EXCHANGE;
    uint8_t *to = rfn_buf_reserve(bytes, total);
    for (uint64_t at = 0; at < total; at += PIECE) {
        int piece = (int)(total - at < PIECE ? total - at : PIECE);
        if (rec_mpi.MPI_Recv(to ? to + at : dropped, piece, MPI_BYTE, from, TAG, comm,
                             MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return RFN_E_EXCHANGE;
    }
    if (!to)
        return RFN_E_NOMEM;
    bytes->size += total;
    return 0;
}

/* A communicator of all ranks on *comm, or MPI_COMM_NULL on all of them. A program may have used up
 * all that MPI can make. */
static void create_comm(MPI_Comm world, MPI_Comm *comm)
{
    MPI_Group group;
    *comm = MPI_COMM_NULL;
    if (rec_mpi.MPI_Comm_group(world, &group) == MPI_SUCCESS) {
        if (rec_mpi.MPI_Comm_create(world, group, comm) != MPI_SUCCESS)
            *comm = MPI_COMM_NULL;
        rec_mpi.MPI_Group_free(&group);
    }
    int mine = *comm != MPI_COMM_NULL, all = 0;
    int rc = rec_mpi.MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world);
    if (mine && (rc != MPI_SUCCESS || !all))
        rec_mpi.MPI_Comm_free(comm); /* sets it to MPI_COMM_NULL */
}

int rec_exchange_open(struct rec_exchange *exchange)
{
    MPI_Errhandler programs;
    *exchange = (struct rec_exchange){
        .exchange = {.context = exchange, .send = send_bytes, .receive = receive_bytes}};
    const MPI_Comm world = rec_place_comm();
    if (world == MPI_COMM_NULL)
        return RFN_E_EXCHANGE;
    rec_mpi.MPI_Comm_get_errhandler(world, &programs);
    rec_mpi.MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    create_comm(world, &exchange->comm);
    rec_mpi.MPI_Comm_set_errhandler(world, programs);
    if (exchange->comm == MPI_COMM_NULL)
        return RFN_E_EXCHANGE;
    rec_mpi.MPI_Comm_set_errhandler(exchange->comm, MPI_ERRORS_RETURN);
    rec_mpi.MPI_Comm_rank(exchange->comm, &exchange->exchange.rank);
    rec_mpi.MPI_Comm_size(exchange->comm, &exchange->exchange.size);
    return 0;
}

void rec_exchange_close(struct rec_exchange *exchange)
{
    rec_mpi.MPI_Comm_free(&exchange->comm);
}
