/* Calls that ask MPI something: types, statuses, names, packed data, communicators. ranks: 2 */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include "expect.h"

static int rank, other;

static void types(void)
{
    MPI_Datatype pairs, named;
    MPI_Count size_x, lb_x, extent_x;
    LENGTH lb, extent;
    COUNT size;
    int length;
    char name[MPI_MAX_OBJECT_NAME];
    CALL(MPI_Type_vector(2, 1, 3, MPI_INT, &pairs), "newtype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_set_name(pairs, "pairs"), "datatype=vector(2,1,3,MPI_INT) type_name=pairs");
    CALL(MPI_Type_get_name(pairs, name, &length), "datatype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_size(pairs, &size), "datatype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_size_x(pairs, &size_x), "datatype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_get_extent(pairs, &lb, &extent), "datatype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_get_extent_x(pairs, &lb_x, &extent_x), "datatype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_get_true_extent(pairs, &lb, &extent), "datatype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_get_true_extent_x(pairs, &lb_x, &extent_x), "datatype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &named), "typeclass=%d size=8 datatype=*",
         MPI_TYPECLASS_REAL);
    CALL(MPI_Type_free(&pairs), "datatype=vector(2,1,3,MPI_INT)");
}

static void apart(void)
{
    MPI_Datatype type, inner[1];
    MPI_Aint addresses[1];
    int n, a, d, combiner, integers[3];
    CALL(MPI_Type_vector(2, 1, 3, MPI_INT, &type), "newtype=vector(2,1,3,MPI_INT)");
    CALL(MPI_Type_get_envelope(type, &n, &a, &d, &combiner),
         "datatype=vector(2,1,3,MPI_INT) combiner=%d", MPI_COMBINER_VECTOR);
    CALL(MPI_Type_get_contents(type, 3, 0, 1, integers, addresses, inner),
         "datatype=vector(2,1,3,MPI_INT) max_integers=3 max_addresses=0 max_datatypes=1");
    CALL(MPI_Type_free(&type), "datatype=vector(2,1,3,MPI_INT)");
}

/* Constructors and questions of MPI 1. */
static void old_types(void)
{
    static int place;
    MPI_Datatype type;
    MPI_Aint at[2] = {0, 8}, address, extent;
    int lengths[2] = {1, 2};
    MPI_Datatype parts[2] = {MPI_INT, MPI_INT};
    CALL(MPI_Get_address(&place, &address), "%s", "");
    CALL(MPI_Address(&place, &address), "%s", "");
    CALL(MPI_Type_hvector(2, 1, 16, MPI_INT, &type),
         "count=2 blocklength=1 stride=16 newtype=hvector(2,1,16,MPI_INT)");
    CALL(MPI_Type_extent(type, &extent), "datatype=hvector(2,1,16,MPI_INT)");
    CALL(MPI_Type_lb(type, &extent), "datatype=hvector(2,1,16,MPI_INT)");
    CALL(MPI_Type_ub(type, &extent), "datatype=hvector(2,1,16,MPI_INT)");
    CALL(MPI_Type_free(&type), "datatype=hvector(2,1,16,MPI_INT)");
    CALL(MPI_Type_hindexed(2, lengths, at, MPI_INT, &type),
         "count=2 array_of_blocklengths=[1,2] array_of_displacements=[0,8] "
         "newtype=hindexed(2,1,2,0,8,MPI_INT)");
    CALL(MPI_Type_free(&type), "datatype=hindexed(2,1,2,0,8,MPI_INT)");
    CALL(MPI_Type_struct(2, lengths, at, parts, &type),
         "count=2 array_of_displacements=[0,8] array_of_types=[MPI_INT,MPI_INT] newtype=@struct");
    CALL(MPI_Type_free(&type), "datatype=@struct");
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void old_handlers(void)
{
    MPI_Errhandler handler;
    CALL(MPI_Errhandler_create(on_error, &handler), "errhandler=errhandler#0");
    CALL(MPI_Errhandler_free(&handler), "errhandler=errhandler#0");
    CALL(MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
         "comm=world errhandler=MPI_ERRORS_RETURN");
    CALL(MPI_Errhandler_get(MPI_COMM_WORLD, &handler), "comm=world errhandler=MPI_ERRORS_RETURN");
}

static void packing(void)
{
    char buffer[256];
    int data[3] = {1, 2, 3};
    LENGTH size, position = 0;
    CALL(MPI_Pack_external_size("external32", 3, MPI_INT, &size),
         "datarep=external32 incount=3 datatype=MPI_INT");
    CALL(MPI_Pack_external("external32", data, 3, MPI_INT, buffer, 256, &position),
         "datarep=external32 incount=3 datatype=MPI_INT outsize=256");
    position = 0;
    CALL(MPI_Unpack_external("external32", buffer, 256, &position, data, 3, MPI_INT),
         "datarep=external32 insize=256 outcount=3 datatype=MPI_INT");
    COUNT bytes, at = 0;
    CALL(MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &bytes), "incount=3 datatype=MPI_INT");
    CALL(MPI_Pack(data, 3, MPI_INT, buffer, 256, &at, MPI_COMM_WORLD), "incount=3 outsize=256");
    at = 0;
    CALL(MPI_Unpack(buffer, 256, &at, data, 3, MPI_INT, MPI_COMM_WORLD), "insize=256 outcount=3");
}

static void statuses(void)
{
    int data[4] = {0}, got[4], flag;
    COUNT count;
    MPI_Count count_x;
    MPI_Status status;
    CALL(MPI_Sendrecv(data, 3, MPI_INT, other, 1, got, 4, MPI_INT, other, 1, MPI_COMM_WORLD,
                      &status),
         "dest=%d bytes=12", other);
    CALL(MPI_Get_count(&status, MPI_INT, &count), "datatype=MPI_INT");
    CALL(MPI_Get_elements(&status, MPI_INT, &count), "datatype=MPI_INT");
    CALL(MPI_Get_elements_x(&status, MPI_INT, &count_x), "datatype=MPI_INT");
    CALL(MPI_Status_set_elements(&status, MPI_INT, 2), "datatype=MPI_INT count=2");
    CALL(MPI_Status_set_elements_x(&status, MPI_INT, 2), "datatype=MPI_INT count=2");
    CALL(MPI_Status_set_cancelled(&status, 1), "flag=1");
    CALL(MPI_Test_cancelled(&status, &flag), "flag=1");
}

static void communicators(void)
{
    MPI_Comm dup, half, across;
    MPI_Info info;
    MPI_Group group, part;
    char name[MPI_MAX_OBJECT_NAME];
    int length, range[1][3] = {{0, 0, 1}};
    CALL(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &dup),
         "comm=world info=MPI_INFO_NULL newcomm=@dup");
    CALL(MPI_Comm_get_info(dup, &info), "comm=@dup info_used=info#0");
    CALL(MPI_Comm_set_info(dup, info), "comm=@dup info=info#0");
    CALL(MPI_Info_free(&info), "info=info#0");
    CALL(MPI_Comm_set_name(dup, "double"), "comm=@dup comm_name=double");
    CALL(MPI_Comm_get_name(dup, name, &length), "comm=@dup");
    CALL(MPI_Comm_free(&dup), "comm=@dup");
#if MPI_VERSION >= 4
    MPI_Request request;
    CALL(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &dup, &request),
         "comm=world info=MPI_INFO_NULL newcomm=@idup");
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1");
    CALL(MPI_Barrier(dup), "comm=@idup");
    CALL(MPI_Comm_free(&dup), "comm=@idup");
#endif
    CALL(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half), "newcomm=@half%d", rank);
    CALL(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, other, 5, &across), "newintercomm=@across");
    CALL(MPI_Comm_remote_group(across, &group), "comm=@across group=group#0");
    CALL(MPI_Group_range_excl(group, 1, range, &part),
         "group=group#0 n=1 ranges=[0,0,1] newgroup=MPI_GROUP_EMPTY");
    CALL(MPI_Group_free(&group), "group=group#0");
    CALL(MPI_Comm_free(&across), "comm=@across");
    CALL(MPI_Comm_free(&half), "comm=@half%d", rank);
}

static void others(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    CALL(MPI_Get_processor_name(name, &length), "%s", "");
#if MPI_VERSION >= 4
    MPI_Info info;
    int flag;
    CALL(MPI_Info_create_env(0, NULL, &info), "info=info#0");
    length = sizeof name;
    CALL(MPI_Info_get_string(info, "nothing", &length, name, &flag),
         "info=info#0 key=nothing flag=0");
    CALL(MPI_Info_free(&info), "info=info#0");
#endif
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    types();
#ifndef EXPECT_LARGE /* one of large counts is taken apart by other calls: large_counts.c */
    apart();
#endif
    old_types();
    old_handlers();
    packing();
    statuses();
    communicators();
    others();
    return expect_finalize(rank);
}
