/* Derived datatypes: their text is how they were made, and made again they have it again. ranks: 2
 */
#include "expect.h"

#include <stddef.h>

struct pair {
    int first;
    double second;
};

static int rank;
static char data[4096];

/* Exchanges count of them with the other rank. bytes: of one. */
static void exchange(MPI_Datatype type, const char *name, int count, int bytes)
{
    CALL(MPI_Type_commit(&type), "datatype=%s", name);
    if (rank == 0)
        CALL(MPI_Send(data, count, type, 1, 1, MPI_COMM_WORLD), "count=%d datatype=%s bytes=%d",
             count, name, count * bytes);
    else
        CALL(MPI_Recv(data, count, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             "count=%d datatype=%s bytes=%d", count, name, count * bytes);
}

static void release(MPI_Datatype *type, const char *name)
{
    CALL(MPI_Type_free(type), "datatype=%s", name);
}

static void simple(void)
{
    MPI_Datatype type;
    const COUNT lengths[2] = {1, 2}, places[2] = {0, 3};
    const LENGTH far[2] = {0, 24};
    CALL(MPI_Type_contiguous(5, MPI_INT, &type),
         "count=5 oldtype=MPI_INT newtype=contiguous(5,MPI_INT)");
    exchange(type, "contiguous(5,MPI_INT)", 2, 20);
    release(&type, "contiguous(5,MPI_INT)");
    CALL(MPI_Type_vector(4, 1, 10, MPI_DOUBLE, &type),
         "count=4 blocklength=1 stride=10 oldtype=MPI_DOUBLE newtype=vector(4,1,10,MPI_DOUBLE)");
    exchange(type, "vector(4,1,10,MPI_DOUBLE)", 1, 32);
    release(&type, "vector(4,1,10,MPI_DOUBLE)");
    CALL(MPI_Type_create_hvector(3, 2, 64, MPI_CHAR, &type),
         "count=3 blocklength=2 stride=64 newtype=hvector(3,2,64,MPI_CHAR)");
    exchange(type, "hvector(3,2,64,MPI_CHAR)", 1, 6);
    release(&type, "hvector(3,2,64,MPI_CHAR)");
    CALL(MPI_Type_indexed(2, lengths, places, MPI_INT, &type),
         "count=2 array_of_blocklengths=[1,2] array_of_displacements=[0,3] "
         "newtype=indexed(2,1,2,0,3,MPI_INT)");
    exchange(type, "indexed(2,1,2,0,3,MPI_INT)", 3, 12);
    release(&type, "indexed(2,1,2,0,3,MPI_INT)");
    CALL(MPI_Type_create_hindexed(2, lengths, far, MPI_INT, &type),
         "array_of_displacements=[0,24] newtype=hindexed(2,1,2,0,24,MPI_INT)");
    exchange(type, "hindexed(2,1,2,0,24,MPI_INT)", 1, 12);
    release(&type, "hindexed(2,1,2,0,24,MPI_INT)");
    CALL(MPI_Type_create_hindexed_block(2, 3, far, MPI_INT, &type),
         "count=2 blocklength=3 array_of_displacements=[0,24] newtype=@block");
    exchange(type, "@block", 1, 24);
    release(&type, "@block");
    CALL(MPI_Type_create_indexed_block(2, 3, places, MPI_INT, &type),
         "count=2 blocklength=3 newtype=indexed_block(2,3,0,3,MPI_INT)");
    exchange(type, "indexed_block(2,3,0,3,MPI_INT)", 1, 24);
    release(&type, "indexed_block(2,3,0,3,MPI_INT)");
}

static void subarray(void)
{
    MPI_Datatype type;
    const COUNT sizes[2] = {8, 8}, part[2] = {2, 3}, start[2] = {1, 1};
    CALL(MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type),
         "ndims=2 array_of_sizes=[8,8] array_of_subsizes=[2,3] array_of_starts=[1,1] newtype=@sub");
    exchange(type, "@sub", 1, 24);
    release(&type, "@sub");
}

/* Types of types; the inner one is freed before the outer one is used. */
static void nested(void)
{
    const COUNT lengths[2] = {1, 1};
    const LENGTH places[2] = {offsetof(struct pair, first), offsetof(struct pair, second)};
    MPI_Datatype members[2] = {MPI_INT, MPI_DOUBLE}, pair, whole, many, copy;
    CALL(MPI_Type_create_struct(2, lengths, places, members, &pair),
         "count=2 array_of_blocklengths=[1,1] array_of_displacements=[0,8] "
         "array_of_types=[MPI_INT,MPI_DOUBLE] newtype=struct(2,1,1,0,8,MPI_INT,MPI_DOUBLE)");
    CALL(MPI_Type_create_resized(pair, 0, 32, &whole),
         "oldtype=struct(2,1,1,0,8,MPI_INT,MPI_DOUBLE) lb=0 extent=32 newtype=@resized");
    CALL(MPI_Type_free(&pair), "datatype=struct(2,1,1,0,8,MPI_INT,MPI_DOUBLE)");
    CALL(MPI_Type_contiguous(3, whole, &many), "count=3 oldtype=@resized newtype=@many");
    CALL(MPI_Type_free(&whole), "datatype=@resized");
    exchange(many, "@many", 2, 36);
    CALL(MPI_Type_dup(many, &copy), "oldtype=@many newtype=@copy");
    release(&many, "@many");
    exchange(copy, "@copy", 1, 36);
    release(&copy, "@copy");
}

/* The same type in every round, and one that is another in every round. */
static void again(void)
{
    char name[64];
    for (int i = 1; i <= 4; i++) {
        MPI_Datatype same, other;
        COUNT size;
        LENGTH lb, extent;
        CALL(MPI_Type_vector(2, 1, 4, MPI_INT, &same), "newtype=vector(2,1,4,MPI_INT)");
        exchange(same, "vector(2,1,4,MPI_INT)", i, 8);
        sprintf(name, "vector(2,%d,16,MPI_INT)", i);
        CALL(MPI_Type_vector(2, i, 16, MPI_INT, &other), "blocklength=%d newtype=%s", i, name);
        CALL(MPI_Type_size(other, &size), "datatype=%s", name);
        CALL(MPI_Type_get_extent(other, &lb, &extent), "datatype=%s", name);
        exchange(other, name, 2, 8 * i);
        release(&same, "vector(2,1,4,MPI_INT)");
        release(&other, name);
    }
}

/* One type of the sender may be others of the receiver; bytes are what count. */
static void mixed(void)
{
    MPI_Status status;
#ifdef EXPECT_LARGE
    MPI_Count count;
#else
    int count;
#endif
    if (rank == 0) {
        CALL(MPI_Send(data, 3, MPI_DOUBLE_INT, 1, 2, MPI_COMM_WORLD),
             "count=3 datatype=MPI_DOUBLE_INT bytes=36");
        CALL(MPI_Send(data, 3, MPI_INT, 1, 3, MPI_COMM_WORLD), "bytes=12");
        CALL(MPI_Send(data, 24, MPI_PACKED, 1, 4, MPI_COMM_WORLD), "datatype=MPI_PACKED bytes=24");
        return;
    }
    CALL(MPI_Recv(data, 10, MPI_DOUBLE_INT, 0, 2, MPI_COMM_WORLD, &status),
         "count=10 datatype=MPI_DOUBLE_INT bytes=36");
    CALL(MPI_Recv(data, 100, MPI_INT, 0, 3, MPI_COMM_WORLD, &status), "count=100 bytes=12");
    CALL(MPI_Get_count(&status, MPI_INT, &count), "datatype=MPI_INT");
    CALL(MPI_Get_elements(&status, MPI_INT, &count), "datatype=MPI_INT");
    CALL(MPI_Recv(data, 100, MPI_PACKED, 0, 4, MPI_COMM_WORLD, &status), "bytes=24");
}

/* A part of an array that is distributed over the ranks: each has a type of its own. */
static void distributed(void)
{
    MPI_Datatype type;
    const COUNT whole[1] = {8};
    const int blocks[1] = {MPI_DISTRIBUTE_BLOCK}, any[1] = {MPI_DISTRIBUTE_DFLT_DARG};
    const int ranks[1] = {2};
    CALL(MPI_Type_create_darray(2, rank, 1, whole, blocks, any, ranks, MPI_ORDER_C, MPI_INT, &type),
         "size=2 rank=%d ndims=1 array_of_gsizes=[8] array_of_distribs=[%d] array_of_psizes=[2] "
         "order=%d oldtype=MPI_INT newtype=@part%d",
         rank, MPI_DISTRIBUTE_BLOCK, MPI_ORDER_C, rank);
    exchange(type, rank ? "@part1" : "@part0", 1, 16);
    release(&type, rank ? "@part1" : "@part0");
}

/* Types that are there without being freed. */
static void fortran(void)
{
    MPI_Datatype type;
    CALL(MPI_Type_create_f90_real(6, 30, &type), "p=6 r=30 newtype=@real");
    CALL(MPI_Send(data, 2, type, MPI_PROC_NULL, 1, MPI_COMM_WORLD), "count=2 datatype=@real");
    CALL(MPI_Type_create_f90_complex(6, 30, &type), "p=6 r=30 newtype=@complex");
    CALL(MPI_Type_create_f90_integer(6, &type), "r=6 newtype=@integer");
    CALL(MPI_Send(data, 2, type, MPI_PROC_NULL, 1, MPI_COMM_WORLD), "count=2 datatype=@integer");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    simple();
    subarray();
    nested();
    again();
    mixed();
    distributed();
    fortran();
    return expect_finalize(rank);
}
