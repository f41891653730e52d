/* Functions of the program that MPI calls, and that call MPI themselves: what is called inside of
 * another call is no event. Generalized requests, operations, attributes, error handlers. ranks: 2
 */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include "expect.h"

static int rank;
static int inside; /* calls that callbacks have made */

static void call_mpi(void)
{
    int flag;
    MPI_Initialized(&flag);
    inside += flag;
}

/* ---- generalized requests ---- */

static int query(void *state, MPI_Status *status)
{
    call_mpi();
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    call_mpi();
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    call_mpi();
    return MPI_SUCCESS;
}

static void generalized(void)
{
    MPI_Request first, second;
    MPI_Status status;
    int n = 3, flag;
    COUNT count;
    CALL(MPI_Grequest_start(query, release, cancel, &n, &first), "%s", "");
    CALL(MPI_Grequest_start(query, release, cancel, &n, &second), "%s", "");
    CALL(MPI_Test(&first, &flag, &status), "request=recent:2 polls=1");
    CALL(MPI_Cancel(&second), "request=recent:1");
    CALL(MPI_Grequest_complete(first), "request=recent:2");
    CALL(MPI_Wait(&first, &status), "request=recent:2 !source !bytes");
    CALL(MPI_Get_count(&status, MPI_INT, &count), "datatype=MPI_INT");
    CALL(MPI_Grequest_complete(second), "request=recent:1");
    POLL(MPI_Test(&second, &flag, MPI_STATUS_IGNORE), flag, "request=recent:1",
         "request=recent:1 !polls !source");
}

/* ---- operations ---- */

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;
    call_mpi();
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void operations(void)
{
    MPI_Op op;
    int data[4] = {1, 2, 3, 4}, sum[4] = {0}, flag;
    CALL(MPI_Op_create(add, 0, &op), "commute=0 op=op#0");
    CALL(MPI_Op_commutative(op, &flag), "op=op#0 commute=0");
    CALL(MPI_Reduce_local(data, sum, 4, MPI_INT, op), "count=4 datatype=MPI_INT op=op#0");
    CALL(MPI_Scan(data, sum, 4, MPI_INT, op, MPI_COMM_WORLD), "count=4 op=op#0 bytes=16");
    CALL(MPI_Op_free(&op), "op=op#0");
}

/* ---- attributes ---- */

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
    int size;
    (void)keyval, (void)extra;
    call_mpi();
    MPI_Comm_size(comm, &size);
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    call_mpi();
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *value, void *copy, int *flag)
{
    (void)type, (void)keyval, (void)extra;
    call_mpi();
    *(void **)copy = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)value, (void)extra;
    call_mpi();
    return MPI_SUCCESS;
}

static void type_attributes(void)
{
    MPI_Datatype type, copy;
    int keyval, flag, value = 1;
    void *found;
    CALL(MPI_Type_create_keyval(copy_type, delete_type, &keyval, NULL), "type_keyval=keyval#0");
    CALL(MPI_Type_contiguous(3, MPI_INT, &type), "newtype=contiguous(3,MPI_INT)");
    CALL(MPI_Type_set_attr(type, keyval, &value),
         "datatype=contiguous(3,MPI_INT) type_keyval=keyval#0");
    CALL(MPI_Type_dup(type, &copy), "oldtype=contiguous(3,MPI_INT) newtype=@copy");
    CALL(MPI_Type_get_attr(copy, keyval, &found, &flag),
         "datatype=@copy type_keyval=keyval#0 flag=1");
    CALL(MPI_Type_delete_attr(copy, keyval), "datatype=@copy type_keyval=keyval#0");
    CALL(MPI_Type_free(&copy), "datatype=@copy");
    CALL(MPI_Type_free(&type), "datatype=contiguous(3,MPI_INT)");
    CALL(MPI_Type_free_keyval(&keyval), "type_keyval=keyval#0");
}

/* The names of MPI 1. */
static void old_attributes(void)
{
    MPI_Comm dup;
    int keyval, flag, value = 1;
    void *found;
    CALL(MPI_Keyval_create(copy_comm, delete_comm, &keyval, NULL), "keyval=keyval#0");
    CALL(MPI_Attr_put(MPI_COMM_WORLD, keyval, &value), "comm=world keyval=keyval#0");
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "newcomm=@dup");
    CALL(MPI_Attr_get(dup, keyval, &found, &flag), "comm=@dup keyval=keyval#0 flag=1");
    CALL(MPI_Attr_delete(dup, keyval), "comm=@dup keyval=keyval#0");
    CALL(MPI_Comm_free(&dup), "comm=@dup");
    CALL(MPI_Attr_delete(MPI_COMM_WORLD, keyval), "comm=world keyval=keyval#0");
    CALL(MPI_Keyval_free(&keyval), "keyval=keyval#0");
}

/* ---- error handlers ---- */

static void on_error(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, size;
    call_mpi();
    MPI_Comm_size(*comm, &size);
    MPI_Error_string(*code, text, &length);
}

static void on_file_error(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
    call_mpi();
}

static void on_window_error(MPI_Win *win, int *code, ...)
{
    (void)win, (void)code;
    call_mpi();
}

static void handlers(void)
{
    MPI_Errhandler own, before, others[2];
    MPI_Win win;
    int data = 0, *base;
    CALL(MPI_Comm_create_errhandler(on_error, &own), "errhandler=errhandler#0");
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, own), "comm=world errhandler=errhandler#0");
    CALL(MPI_Send(&data, 1, MPI_INT, 99, 1, MPI_COMM_WORLD), "dest=99 error=%d", MPI_ERR_RANK);
    CALL(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before), "errhandler=errhandler#0");
    CALL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "comm=world");
    CALL(MPI_Errhandler_free(&before), "errhandler=errhandler#0");
    if (own != MPI_ERRHANDLER_NULL && before == MPI_ERRHANDLER_NULL)
        MPI_Errhandler_free(&own), expect("MPI_Errhandler_free", "%s", "");
    CALL(MPI_File_create_errhandler(on_file_error, &others[0]), "errhandler=*");
    CALL(MPI_File_set_errhandler(MPI_FILE_NULL, others[0]), "file=MPI_FILE_NULL");
    CALL(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_FILE), "fh=MPI_FILE_NULL errorcode=%d",
         MPI_ERR_FILE);
    CALL(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), "file=MPI_FILE_NULL");
    CALL(MPI_Win_create_errhandler(on_window_error, &others[1]), "errhandler=*");
    CALL(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), "win=win#0");
    CALL(MPI_Win_set_errhandler(win, others[1]), "win=win#0");
    CALL(MPI_Win_call_errhandler(win, MPI_ERR_OTHER), "win=win#0 errorcode=%d", MPI_ERR_OTHER);
    CALL(MPI_Win_free(&win), "win=win#0");
    CALL(MPI_Errhandler_free(&others[0]), "errhandler=*");
    CALL(MPI_Errhandler_free(&others[1]), "errhandler=*");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    generalized();
    operations();
    type_attributes();
    old_attributes();
    handlers();
    return expect_finalize(rank) || inside == 0;
}
