/* Infos, groups, operations, attributes, error handlers: numbers that are used again. ranks: 2 */
#include "expect.h"

static int rank;

static void infos(void)
{
    MPI_Info info, copy;
    char value[64];
    int flag, n, length;
    CALL(MPI_Info_create(&info), "info=info#0");
    CALL(MPI_Info_set(info, "colour", "dark blue"), "info=info#0 key=colour value=dark\\sblue");
    CALL(MPI_Info_dup(info, &copy), "info=info#0 newinfo=info#1");
    CALL(MPI_Info_get(copy, "colour", 63, value, &flag),
         "info=info#1 key=colour valuelen=63 flag=1");
    CALL(MPI_Info_get_nkeys(info, &n), "info=info#0 nkeys=1");
    CALL(MPI_Info_get_nthkey(info, 0, value), "info=info#0 n=0");
    CALL(MPI_Info_get_valuelen(info, "shape", &length, &flag), "info=info#0 key=shape flag=0");
    CALL(MPI_Info_delete(info, "colour"), "info=info#0 key=colour");
    CALL(MPI_Info_free(&info), "info=info#0");
    CALL(MPI_Info_create(&info), "info=info#0");
    CALL(MPI_Info_free(&copy), "info=info#1");
    CALL(MPI_Info_free(&info), "info=info#0");
}

static void groups(void)
{
    MPI_Group world, first, second, both;
    const int none[1] = {0};
    int range[1][3] = {{0, 1, 1}}, n, own, translated, result;
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world), "comm=world group=group#0");
    CALL(MPI_Group_size(world, &n), "group=group#0 size=2");
    CALL(MPI_Group_rank(world, &own), "group=group#0");
    CALL(MPI_Group_excl(world, 1, none, &first), "n=1 ranks=[0] newgroup=group#1");
    CALL(MPI_Group_incl(world, 1, none, &second), "n=1 ranks=[0] newgroup=group#2");
    CALL(MPI_Group_union(first, second, &both), "group1=group#1 group2=group#2 newgroup=group#3");
    CALL(MPI_Group_compare(both, world, &result), "group1=group#3 group2=group#0 result=%d",
         MPI_SIMILAR);
    CALL(MPI_Group_free(&both), "group=group#3");
    CALL(MPI_Group_range_incl(world, 1, range, &both), "n=1 ranges=[0,1,1] newgroup=group#3");
    CALL(MPI_Group_translate_ranks(both, 1, none, world, &translated),
         "group1=group#3 n=1 ranks1=[0] group2=group#0");
    CALL(MPI_Group_free(&both), "group=group#3");
    CALL(MPI_Group_intersection(first, second, &both),
         "group1=group#1 group2=group#2 newgroup=MPI_GROUP_EMPTY");
    CALL(MPI_Group_difference(world, first, &both), "newgroup=group#3");
    CALL(MPI_Group_free(&both), "group=group#3");
    CALL(MPI_Group_free(&first), "group=group#1");
    CALL(MPI_Group_free(&second), "group=group#2");
    CALL(MPI_Group_free(&world), "group=group#0");
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void operations(void)
{
    MPI_Op op;
    int data[4] = {1, 2, 3, 4}, sum[4], flag;
    for (int i = 0; i < 2; i++) {
        CALL(MPI_Op_create(add, 1, &op), "commute=1 op=op#0");
        CALL(MPI_Op_commutative(op, &flag), "op=op#0 commute=1");
        CALL(MPI_Allreduce(data, sum, 4, MPI_INT, op, MPI_COMM_WORLD), "op=op#0 bytes=16");
        CALL(MPI_Op_free(&op), "op=op#0");
    }
    if (rank == 0)
        printf("sum %d\n", sum[3]);
}

/* What MPI calls back is called as without the recorder. */
static int copies, deletions;

static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *value, void *copy,
                          int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)copy = value;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int keyval, flag, value = 5;
    void *found;
    MPI_Comm dup;
    CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag),
         "comm=world comm_keyval=MPI_TAG_UB flag=1");
    CALL(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL),
         "comm_keyval=keyval#0");
    CALL(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &flag), "comm_keyval=keyval#0 flag=0");
    CALL(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value), "comm=world comm_keyval=keyval#0");
    CALL(MPI_Comm_dup(MPI_COMM_WORLD, &dup), "newcomm=@dup");
    CALL(MPI_Comm_get_attr(dup, keyval, &found, &flag), "comm=@dup comm_keyval=keyval#0 flag=1");
    CALL(MPI_Comm_free(&dup), "comm=@dup");
    CALL(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval), "comm=world comm_keyval=keyval#0");
    CALL(MPI_Comm_free_keyval(&keyval), "comm_keyval=keyval#0");
    if (rank == 0)
        printf("found %d, copies %d, deletions %d\n", *(int *)found, copies, deletions);
}

static void memory(void)
{
    void *base;
    char room[1024 + MPI_BSEND_OVERHEAD];
    int data = 1;
    COUNT size;
    CALL(MPI_Alloc_mem(4096, MPI_INFO_NULL, &base), "size=4096 info=MPI_INFO_NULL");
    CALL(MPI_Free_mem(base), "%s", "");
    CALL(MPI_Buffer_attach(room, sizeof room), "size=%d", (int)sizeof room);
    CALL(MPI_Bsend(&data, 1, MPI_INT, rank, 1, MPI_COMM_WORLD), "dest=%d tag=1 bytes=4", rank);
    CALL(MPI_Recv(&data, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "bytes=4");
    CALL(MPI_Buffer_detach(&base, &size), "size=%d", (int)size);
}

static void packing(void)
{
    char buffer[64];
    int data[3] = {1, 2, 3};
    COUNT position = 0, size;
    CALL(MPI_Pack_size(3, MPI_INT, MPI_COMM_WORLD, &size), "incount=3 datatype=MPI_INT comm=world");
    CALL(MPI_Pack(data, 3, MPI_INT, buffer, 64, &position, MPI_COMM_WORLD),
         "incount=3 datatype=MPI_INT outsize=64 comm=world");
    position = 0;
    CALL(MPI_Unpack(buffer, 64, &position, data, 3, MPI_INT, MPI_COMM_WORLD),
         "insize=64 outcount=3 datatype=MPI_INT comm=world");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    infos();
    groups();
    operations();
    attributes();
    memory();
    packing();
    return expect_finalize(rank);
}
