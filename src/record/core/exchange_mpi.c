#include "record/core/exchange_mpi.h"

#include "record/core/job.h"

#include <string.h>
#include <time.h>

/* A message is its size (8 bytes) and its beginning, together at most FIRST bytes, then pieces of
 * at most PIECE bytes: short messages, and nearly all are short, are one of MPI. A piece is small
 * enough that a receiver without memory has room to receive and drop all of them: the sender must
 * not hang. */
enum { TAG = 1, FIRST = 8192, PIECE = 1 << 20 };

static uint8_t dropped[PIECE];

struct first {
    uint64_t total;
    uint8_t bytes[FIRST - sizeof(uint64_t)];
};

static size_t first_part(uint64_t total)
{
    struct first first;
    return total < sizeof first.bytes ? (size_t)total : sizeof first.bytes;
}

/* Waits for a request, but sleeps between two looks when that takes long: where ranks share a core,
 * others still have something to do. MPI makes progress meanwhile. Only point to point: nonblocking
 * collective calls take memory, and a rank that has none must not keep others waiting. */
static int await(MPI_Request *request)
{
#ifdef RFN_FLAVOUR_SMPI /* whose ranks share one thread, and whose looks take simulated time */
    return rec_mpi.MPI_Wait(request, MPI_STATUS_IGNORE);
#else
    enum { LOOKS = 32, MOST_NS = 1000000, SHARE = 8 };
    int done = 0, rc = MPI_SUCCESS;
    int64_t began = 0;
    for (int looks = 0; !done && rc == MPI_SUCCESS; looks++) {
        rc = rec_mpi.MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done || looks < LOOKS)
            continue;
        const int64_t now = rec_monotonic_ns();
        began = began ? began : now;
        const int64_t nap_ns = (now - began) / SHARE;
        nanosleep(&(struct timespec){.tv_nsec = (long)(nap_ns < MOST_NS ? nap_ns : MOST_NS)}, NULL);
    }
    return rc;
#endif
}

static int send_piece(MPI_Comm comm, int to, const void *bytes, size_t size)
{
    MPI_Request request;
    return rec_mpi.MPI_Isend(bytes, (int)size, MPI_BYTE, to, TAG, comm, &request) == MPI_SUCCESS &&
                   await(&request) == MPI_SUCCESS
               ? 0
               : RFN_E_EXCHANGE;
}

static int receive_piece(MPI_Comm comm, int from, void *bytes, size_t size)
{
    MPI_Request request;
    return rec_mpi.MPI_Irecv(bytes, (int)size, MPI_BYTE, from, TAG, comm, &request) ==
                       MPI_SUCCESS &&
                   await(&request) == MPI_SUCCESS
               ? 0
               : RFN_E_EXCHANGE;
}

static int send_bytes(void *context, int to, const void *bytes, size_t size)
{
    MPI_Comm comm = ((struct rec_exchange *)context)->comm;
    size_t at = first_part(size);
    struct first first;
    first.total = size;
    if (at > 0)
        memcpy(first.bytes, bytes, at);
    RFN_TRY(send_piece(comm, to, &first, sizeof first.total + at));
    for (; at < size; at += PIECE)
        RFN_TRY(send_piece(comm, to, (const uint8_t *)bytes + at,
                           size - at < PIECE ? size - at : PIECE));
    return 0;
}

static int receive_bytes(void *context, int from, struct rfn_buf *bytes)
{
    MPI_Comm comm = ((struct rec_exchange *)context)->comm;
    struct first first;
    RFN_TRY(receive_piece(comm, from, &first, sizeof first));
    uint64_t at = first_part(first.total);
    uint8_t *to = rfn_buf_reserve(bytes, first.total);
    if (to && at > 0)
        memcpy(to, first.bytes, at);
    for (; at < first.total; at += PIECE)
        RFN_TRY(receive_piece(comm, from, to ? to + at : dropped,
                              first.total - at < PIECE ? first.total - at : PIECE));
    if (!to && first.total > 0)
        return RFN_E_NOMEM;
    bytes->size += first.total;
    return 0;
}

/* Along the tree, as MPI_Bcast does, but so that those that wait sleep. */
static int tell(void *context, uint64_t *word)
{
    const struct rec_exchange *exchange = context;
    const int rank = exchange->exchange.rank, size = exchange->exchange.size;
    int step = rfn_exchange_parent_step(&exchange->exchange), error = 0;
    if (rank > 0)
        error = receive_piece(exchange->comm, rank - step, word, sizeof *word);
    for (step /= 2; step >= 1; step /= 2) {
        if (rank + step < size && send_piece(exchange->comm, rank + step, word, sizeof *word) < 0)
            error = RFN_E_EXCHANGE;
    }
    return error;
}

bool rec_all_say(MPI_Comm comm, bool yes)
{
    int mine = yes, all = 0;
    return rec_mpi.MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && all;
}

/* A communicator of all ranks on *comm, or MPI_COMM_NULL on all of them. A program may have used up
 * all that MPI can make, on some ranks only. */
static void create_comm(MPI_Comm world, MPI_Group group, MPI_Comm *comm)
{
    if (rec_mpi.MPI_Comm_create(world, group, comm) != MPI_SUCCESS)
        *comm = MPI_COMM_NULL;
    if (!rec_all_say(world, *comm != MPI_COMM_NULL) && *comm != MPI_COMM_NULL)
        rec_mpi.MPI_Comm_free(comm); /* sets it to MPI_COMM_NULL */
}

/* The same in MPI_Init, when nothing has been used up. A rank that is not recorded takes no part in
 * it, and must not take the recorder's messages for the program's, as it would those of a
 * collective call on the program's communicator: what makes a communicator of a group alone has
 * messages of its own. Under SMPI all ranks have the recorder in them. */
static void create_first_comm(MPI_Comm world, MPI_Group group, MPI_Comm *comm)
{
#ifdef RFN_FLAVOUR_SMPI
    create_comm(world, group, comm);
#else
    if (rec_mpi.MPI_Comm_create_group(world, group, TAG, comm) != MPI_SUCCESS)
        *comm = MPI_COMM_NULL;
#endif
}

/* MPI's own, of which references are not to be given back. */
static bool is_predefined(MPI_Errhandler handler)
{
#ifdef MPI_ERRORS_ABORT
    if (handler == MPI_ERRORS_ABORT)
        return true;
#endif
    return handler == MPI_ERRHANDLER_NULL || handler == MPI_ERRORS_ARE_FATAL ||
           handler == MPI_ERRORS_RETURN;
}

/* A communicator of a group beside the program's; errors on the program's return meanwhile. */
static void make_beside(MPI_Comm world, MPI_Group group, bool in_init, MPI_Comm *comm)
{
    MPI_Errhandler programs;
    rec_mpi.MPI_Comm_get_errhandler(world, &programs);
    rec_mpi.MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (in_init)
        create_first_comm(world, group, comm);
    else
        create_comm(world, group, comm);
    rec_mpi.MPI_Comm_set_errhandler(world, programs);
    if (!is_predefined(programs))
        rec_mpi.MPI_Errhandler_free(&programs); /* the reference of MPI_Comm_get_errhandler */
}

void rec_comm_of_group(MPI_Group group, MPI_Comm *comm)
{
    make_beside(MPI_COMM_WORLD, group, true, comm);
}

/* With sessions only, and where some ranks are not recorded, the job's communicator is the
 * recorder's own already. Of the first kind a second one is not made: MPICH 4.0 crashes in
 * MPI_Comm_create as long as it has no MPI_COMM_WORLD. */
int rec_exchange_open(struct rec_exchange *exchange, bool in_init)
{
    *exchange = (struct rec_exchange){
        .exchange = {
            .context = exchange, .send = send_bytes, .receive = receive_bytes, .tell = tell}};
    exchange->comm = rec_job_comm();
    exchange->beside = rec_job_comm_is_programs();
    if (exchange->beside) {
        MPI_Group group;
        const MPI_Comm world = exchange->comm;
        exchange->comm = MPI_COMM_NULL;
        if (rec_job_group(&group) == 0)
            make_beside(world, group, in_init, &exchange->comm);
    }
    if (exchange->comm == MPI_COMM_NULL)
        return RFN_E_EXCHANGE;
    rec_mpi.MPI_Comm_set_errhandler(exchange->comm, MPI_ERRORS_RETURN);
    rec_mpi.MPI_Comm_rank(exchange->comm, &exchange->exchange.rank);
    rec_mpi.MPI_Comm_size(exchange->comm, &exchange->exchange.size);
    return 0;
}

void rec_exchange_close(struct rec_exchange *exchange)
{
    if (exchange->beside)
        rec_mpi.MPI_Comm_free(&exchange->comm);
}
