#include "convert/paraver/paraver_writing.h"

#include "refrain/timeline.h"

#include <string.h>

/* The values that Extrae gives to calls of MPI: Paraver's configurations for its traces work here,
 * too. Source: Extrae, enumeration of MPI event values. */
static const char *const known[] = {
    /* 0 */ "",
    "MPI_Send",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Bcast",
    "MPI_Barrier",
    "MPI_Reduce",
    /* 10 */ "MPI_Allreduce",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Comm_rank",
    /* 20 */ "MPI_Comm_size",
    "MPI_Comm_create",
    "MPI_Comm_dup",
    "MPI_Comm_split",
    "MPI_Comm_group",
    "MPI_Comm_free",
    "MPI_Comm_remote_group",
    "MPI_Comm_remote_size",
    "MPI_Comm_test_inter",
    "MPI_Comm_compare",
    /* 30 */ "MPI_Scan",
    "MPI_Init",
    "MPI_Finalize",
    "MPI_Bsend",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Ibsend",
    "MPI_Issend",
    "MPI_Irsend",
    "MPI_Test",
    /* 40 */ "MPI_Cancel",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
    "MPI_Cart_create",
    "MPI_Cart_shift",
    "MPI_Cart_coords",
    "MPI_Cart_get",
    "MPI_Cart_map",
    "MPI_Cart_rank",
    "MPI_Cart_sub",
    /* 50 */ "MPI_Cartdim_get",
    "MPI_Dims_create",
    "MPI_Graph_get",
    "MPI_Graph_map",
    "MPI_Graph_create",
    "MPI_Graph_neighbors",
    "MPI_Graphdims_get",
    "MPI_Graph_neighbors_count",
    "MPI_Topo_test",
    "MPI_Waitany",
    /* 60 */ "MPI_Waitsome",
    "MPI_Probe",
    "MPI_Iprobe",
    "MPI_Win_create",
    "MPI_Win_free",
    "MPI_Put",
    "MPI_Get",
    "MPI_Accumulate",
    "MPI_Win_fence",
    "MPI_Win_start",
    /* 70 */ "MPI_Win_complete",
    "MPI_Win_post",
    "MPI_Win_wait",
    "MPI_Win_test",
    "MPI_Win_lock",
    "MPI_Win_unlock",
    "MPI_Pack",
    "MPI_Unpack",
    "MPI_Op_create",
    "MPI_Op_free",
    /* 80 */ "MPI_Reduce_scatter",
    "MPI_Attr_delete",
    "MPI_Attr_get",
    "MPI_Attr_put",
    "MPI_Group_difference",
    "MPI_Group_excl",
    "MPI_Group_free",
    "MPI_Group_incl",
    "MPI_Group_intersection",
    "MPI_Group_rank",
    /* 90 */ "MPI_Group_range_excl",
    "MPI_Group_range_incl",
    "MPI_Group_size",
    "MPI_Group_translate_ranks",
    "MPI_Group_union",
    "MPI_Group_compare",
    "MPI_Intercomm_create",
    "MPI_Intercomm_merge",
    "MPI_Keyval_free",
    "MPI_Keyval_create",
    /* 100 */ "MPI_Abort",
    "MPI_Error_class",
    "MPI_Errhandler_create",
    "MPI_Errhandler_free",
    "MPI_Errhandler_get",
    "MPI_Error_string",
    "MPI_Errhandler_set",
    "MPI_Get_processor_name",
    "MPI_Initialized",
    "MPI_Wtick",
    /* 110 */ "MPI_Wtime",
    "MPI_Address",
    "MPI_Bsend_init",
    "MPI_Buffer_attach",
    "MPI_Buffer_detach",
    "MPI_Request_free",
    "MPI_Recv_init",
    "MPI_Send_init",
    "MPI_Get_count",
    "MPI_Get_elements",
    /* 120 */ "MPI_Pack_size",
    "MPI_Rsend_init",
    "MPI_Ssend_init",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Test_cancelled",
    "MPI_Testsome",
    "MPI_Type_commit",
    /* 130 */ "MPI_Type_contiguous",
    "MPI_Type_extent",
    "MPI_Type_free",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_indexed",
    "MPI_Type_lb",
    "MPI_Type_size",
    "MPI_Type_struct",
    "MPI_Type_ub",
    /* 140 */ "MPI_Type_vector",
    "MPI_File_open",
    "MPI_File_close",
    "MPI_File_read",
    "MPI_File_read_all",
    "MPI_File_write",
    "MPI_File_write_all",
    "MPI_File_read_at",
    "MPI_File_read_at_all",
    "MPI_File_write_at",
    /* 150 */ "MPI_File_write_at_all",
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "MPI_Request_get_status",
    "MPI_Ireduce",
    "MPI_Iallreduce",
    "MPI_Ibarrier",
    "MPI_Ibcast",
    "MPI_Ialltoall",
    "MPI_Ialltoallv",
    /* 160 */ "MPI_Iallgather",
    "MPI_Iallgatherv",
    "MPI_Igather",
    "MPI_Igatherv",
    "MPI_Iscatter",
    "MPI_Iscatterv",
    "MPI_Ireduce_scatter",
    "MPI_Iscan",
    "MPI_Reduce_scatter_block",
    "MPI_Ireduce_scatter_block",
    /* 170 */ "MPI_Alltoallw",
    "MPI_Ialltoallw",
    "MPI_Get_accumulate",
};

enum { OWN_VALUES = 1000 /* from here on, of functions that Extrae has no value for */ };

static uint32_t value_of(const char *name, uint32_t function)
{
    for (uint32_t i = 1; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i]) == 0)
            return i;
    }
    return OWN_VALUES + function;
}

/* For Extrae calls that start or test requests are other ones. */
static enum paraver_type type_of(const struct rfn_function_info *function)
{
    static const enum paraver_type types[RFN_TIMELINE_KIND_COUNT] = {
        [RFN_TIMELINE_COMPUTING] = PARAVER_OTHER,
        [RFN_TIMELINE_MESSAGES] = PARAVER_POINT_TO_POINT,
        [RFN_TIMELINE_COLLECTIVES] = PARAVER_COLLECTIVE,
        [RFN_TIMELINE_ONE_SIDED] = PARAVER_ONE_SIDED,
        [RFN_TIMELINE_FILES] = PARAVER_FILE,
        [RFN_TIMELINE_OTHER] = PARAVER_OTHER};
    const bool tests = function->class_ == RFN_CLASS_COMPLETION &&
                       function->flags & RFN_FUNCTION_POLL;
    if (tests || function->class_ == RFN_CLASS_START)
        return PARAVER_OTHER;
    return types[rfn_timeline_kind_of(function)];
}

static enum paraver_state state_of(const struct rfn_function_info *function)
{
    const bool blocks = !(function->flags & (RFN_FUNCTION_NONBLOCKING | RFN_FUNCTION_PERSISTENT));
    switch (function->class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
        return blocks ? PARAVER_SENDING : PARAVER_POSTING_SEND;
    case RFN_CLASS_RECV:
        return blocks ? PARAVER_RECEIVING : PARAVER_POSTING_RECEIVE;
    case RFN_CLASS_SENDRECV:
        return PARAVER_BOTH;
    case RFN_CLASS_PROBE:
        return PARAVER_TESTING;
    case RFN_CLASS_COMPLETION:
        return function->flags & RFN_FUNCTION_POLL ? PARAVER_TESTING : PARAVER_WAITING;
    case RFN_CLASS_BARRIER:
    case RFN_CLASS_RMA_SYNC:
        return PARAVER_SYNCHRONIZING;
    case RFN_CLASS_RMA:
        return PARAVER_ACCESSING;
    case RFN_CLASS_FILE:
        return PARAVER_IN_FILES;
    default:
        return type_of(function) == PARAVER_COLLECTIVE ? PARAVER_TOGETHER : PARAVER_ELSE;
    }
}

struct paraver_function rfn_paraver_function(const struct rfn_archive *archive, uint32_t number)
{
    const struct rfn_function_info *function = rfn_archive_function(archive, number);
    return (struct paraver_function){.type = type_of(function),
                                     .value = value_of(function->name, number),
                                     .state = state_of(function),
                                     .is_call = rfn_class_is_mpi(function->class_),
                                     .is_collective = type_of(function) == PARAVER_COLLECTIVE};
}
