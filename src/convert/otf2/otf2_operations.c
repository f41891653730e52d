#include "convert/otf2/otf2_operations.h"

static const struct {
    enum rfn_operation function;
    OTF2_CollectiveOp operation;
} table[] = {{RFN_MPI_Barrier, OTF2_COLLECTIVE_OP_BARRIER},
             {RFN_MPI_Bcast, OTF2_COLLECTIVE_OP_BCAST},
             {RFN_MPI_Gather, OTF2_COLLECTIVE_OP_GATHER},
             {RFN_MPI_Gatherv, OTF2_COLLECTIVE_OP_GATHERV},
             {RFN_MPI_Scatter, OTF2_COLLECTIVE_OP_SCATTER},
             {RFN_MPI_Scatterv, OTF2_COLLECTIVE_OP_SCATTERV},
             {RFN_MPI_Allgather, OTF2_COLLECTIVE_OP_ALLGATHER},
             {RFN_MPI_Allgatherv, OTF2_COLLECTIVE_OP_ALLGATHERV},
             {RFN_MPI_Alltoall, OTF2_COLLECTIVE_OP_ALLTOALL},
             {RFN_MPI_Alltoallv, OTF2_COLLECTIVE_OP_ALLTOALLV},
             {RFN_MPI_Alltoallw, OTF2_COLLECTIVE_OP_ALLTOALLW},
             {RFN_MPI_Allreduce, OTF2_COLLECTIVE_OP_ALLREDUCE},
             {RFN_MPI_Reduce, OTF2_COLLECTIVE_OP_REDUCE},
             {RFN_MPI_Reduce_scatter, OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
             {RFN_MPI_Reduce_scatter_block, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
             {RFN_MPI_Scan, OTF2_COLLECTIVE_OP_SCAN},
             {RFN_MPI_Exscan, OTF2_COLLECTIVE_OP_EXSCAN}};

OTF2_CollectiveOp rfn_otf2_operation_of(enum rfn_operation operation)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].function == operation)
            return table[i].operation;
    }
    return OTF2_NO_OPERATION;
}

enum rfn_operation rfn_otf2_function_of(OTF2_CollectiveOp operation)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].operation == operation)
            return table[i].function;
    }
    return RFN_MPI_OTHER;
}
