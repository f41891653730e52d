/* Calls that fail and return: the program gets the code that MPI gives it, the event says so.
 * ranks: 2 */
#include "expect.h"

static int rank, other;
static int data[64];

/* Says on standard output what a code means, for comparison with a run without the recorder. */
static void tell(const char *what, int code)
{
    int class;
    CALL(MPI_Error_class(code, &class), "errorcode=%d errorclass=%d", code, class);
    printf("rank %d: %s: class %d\n", rank, what, class);
}

static void arguments(void)
{
    int code;
    MPI_Request request = MPI_REQUEST_NULL;
    CALL(code = MPI_Send(data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD), "dest=99 error=%d",
         MPI_ERR_RANK);
    tell("rank", code);
    CALL(code = MPI_Send(data, 1, MPI_INT, other, -7, MPI_COMM_WORLD), "tag=-7 error=%d",
         MPI_ERR_TAG);
    tell("tag", code);
    CALL(code = MPI_Send(data, -1, MPI_INT, other, 1, MPI_COMM_WORLD), "count=-1 error=%d",
         MPI_ERR_COUNT);
    tell("count", code);
    CALL(code = MPI_Isend(data, 1, MPI_DATATYPE_NULL, other, 1, MPI_COMM_WORLD, &request),
         "datatype=MPI_DATATYPE_NULL error=%d", MPI_ERR_TYPE);
    tell("type", code);
    CALL(code = MPI_Bcast(data, 1, MPI_INT, 77, MPI_COMM_WORLD), "root=77 error=%d", MPI_ERR_ROOT);
    tell("root", code);
    CALL(code = MPI_Allreduce(data, data + 8, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD),
         "op=MPI_OP_NULL error=%d", MPI_ERR_OP);
    tell("op", code);
    CALL(code = MPI_Barrier(MPI_COMM_NULL), "comm=MPI_COMM_NULL error=%d", MPI_ERR_COMM);
    tell("comm", code);
}

/* A failed call makes no request: numbering goes on as if it had not been. */
static void numbering(void)
{
    MPI_Request first, second;
    int code;
    CALL(MPI_Isend(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &first), "tag=1 !error");
    CALL(code = MPI_Isend(data, 1, MPI_INT, 99, 2, MPI_COMM_WORLD, &second), "dest=99 error=%d",
         MPI_ERR_RANK);
    tell("isend", code);
    CALL(MPI_Irecv(data, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &second), "tag=3 !error");
    CALL(MPI_Wait(&first, MPI_STATUS_IGNORE), "request=recent:2 !error");
    CALL(MPI_Wait(&second, MPI_STATUS_IGNORE), "request=recent:1 !error");
}

/* What Waitall completed, by the statuses that the program got. MPI may leave a request that is not
 * complete pending when another one has failed. */
static const char *completed(int n, const MPI_Status *statuses)
{
    static char text[256];
    size_t at = (size_t)sprintf(text, "[");
    for (int i = 0; i < n; i++) {
        int class;
        PMPI_Error_class(statuses[i].MPI_ERROR, &class);
        const char *comma = at > 1 ? "," : "";
        if (class == MPI_SUCCESS)
            at += (size_t)sprintf(text + at, "%s%d(source=0,tag=%d,bytes=32)", comma, i,
                                  statuses[i].MPI_TAG);
        else if (class != MPI_ERR_PENDING)
            at += (size_t)sprintf(text + at, "%s%d(error=%d)", comma, i, class);
    }
    sprintf(text + at, "]");
    return text;
}

/* Messages that do not fit. */
static void truncation(void)
{
    int code;
    MPI_Status status, statuses[2];
    MPI_Request requests[2];
    if (rank == 0) {
        for (int tag = 1; tag <= 4; tag++)
            CALL(MPI_Send(data, 8, MPI_INT, 1, tag, MPI_COMM_WORLD), "tag=%d bytes=32 !error", tag);
        return;
    }
    CALL(code = MPI_Recv(data, 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &status), "tag=1 error=%d",
         MPI_ERR_TRUNCATE);
    tell("receive", code);
    CALL(MPI_Irecv(data, 2, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[0]), "tag=2 !error");
    CALL(code = MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "request=recent:1 error=%d",
         MPI_ERR_TRUNCATE);
    tell("wait", code);
    CALL(MPI_Irecv(data, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[0]), "tag=3");
    CALL(MPI_Irecv(data + 8, 8, MPI_INT, 0, 4, MPI_COMM_WORLD, &requests[1]), "tag=4");
    CALL(code = MPI_Waitall(2, requests, statuses), "completed=%s error=%d", completed(2, statuses),
         MPI_ERR_IN_STATUS);
    tell("waitall", code);
    CALL(MPI_Error_class(statuses[0].MPI_ERROR, &code), "errorclass=%d", MPI_ERR_TRUNCATE);
    if (requests[1] != MPI_REQUEST_NULL)
        CALL(MPI_Wait(&requests[1], &status), "request=recent:1 source=0 tag=4 bytes=32 !error");
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    printf("rank %d: handler called, %s\n", rank, *code == MPI_SUCCESS ? "no error" : "error");
}

static void own_handler(void)
{
    MPI_Errhandler own, before;
    int code, class, length;
    char text[MPI_MAX_ERROR_STRING];
    CALL(MPI_Comm_create_errhandler(handler, &own), "errhandler=errhandler#0");
    CALL(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before), "errhandler=MPI_ERRORS_RETURN");
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, own), "comm=world errhandler=errhandler#0");
    CALL(code = MPI_Send(data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD), "error=%d", MPI_ERR_RANK);
    tell("handled", code);
    CALL(MPI_Add_error_class(&class), "errorclass=%d", class);
    CALL(MPI_Add_error_code(class, &code), "errorclass=%d errorcode=%d", class, code);
    CALL(MPI_Add_error_string(code, "our own"), "errorcode=%d string=our\\sown", code);
    CALL(MPI_Error_string(code, text, &length), "errorcode=%d", code);
    CALL(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code), "comm=world errorcode=%d", code);
    printf("rank %d: %s\n", rank, text);
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
         "errhandler=MPI_ERRORS_RETURN");
    CALL(MPI_Errhandler_free(&own), "errhandler=errhandler#0");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
         "comm=world errhandler=MPI_ERRORS_RETURN");
    arguments();
    numbering();
    truncation();
    own_handler();
    return expect_finalize(rank);
}
