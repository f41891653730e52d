#include "record/exchange_mpi.h"

/* A message is its size (8 bytes), then pieces of at most PIECE bytes. */
enum { TAG = 1, PIECE = 1 << 28 };

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
    if (!to)
        return RFN_E_NOMEM;
    for (uint64_t at = 0; at < total; at += PIECE) {
        int piece = (int)(total - at < PIECE ? total - at : PIECE);
        if (rec_mpi.MPI_Recv(to + at, piece, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return RFN_E_EXCHANGE;
    }
    bytes->size += total;
    return 0;
}

int rec_exchange_open(struct rec_exchange *exchange)
{
    MPI_Group world;
    *exchange = (struct rec_exchange){
        .exchange = {.context = exchange, .send = send_bytes, .receive = receive_bytes}};
    int rc = rec_mpi.MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (rc == MPI_SUCCESS) {
        rc = rec_mpi.MPI_Comm_create(MPI_COMM_WORLD, world, &exchange->comm);
        rec_mpi.MPI_Group_free(&world);
    }
    if (rc != MPI_SUCCESS)
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
