#include "reduce/aggregate/may_go.h"

#include <string.h>

bool rfn_may_go(const struct rfn_function_info *function)
{
    struct rfn_call call;
    rfn_call_init(&call, function);
    if (!rfn_class_is_mpi(function->class_) || function->flags & RFN_FUNCTION_POLL ||
        call.variant == RFN_CALL_PERSISTENT)
        return false;
    switch (call.kind) {
    case RFN_CALL_SEND:
    case RFN_CALL_RECV:
    case RFN_CALL_SENDRECV:
        return call.operation != RFN_MPI_Psend && call.operation != RFN_MPI_Precv;
    case RFN_CALL_COMPLETE:
        return true;
    case RFN_CALL_BARRIER:
    case RFN_CALL_ONE_TO_ALL:
    case RFN_CALL_ALL_TO_ONE:
    case RFN_CALL_ALL_TO_ALL:
    case RFN_CALL_SCAN:
    case RFN_CALL_NEIGHBOR:
        return call.variant == RFN_CALL_BLOCKING && call.in[RFN_IN_COMM] >= 0;
    case RFN_CALL_OTHER:
        break;
    default:
        return false;
    }
    for (int i = 0; i < function->n_in + function->n_out; i++) {
        const uint8_t kind = function->params[i].kind & (uint8_t)~RFN_KIND_LIST;
        const bool handle = kind >= RFN_KIND_OP && kind <= RFN_KIND_REQUEST;
        if (handle || (i >= function->n_in && (kind == RFN_KIND_COMM || kind == RFN_KIND_TYPE)))
            return false;
    }
    return call.operation == RFN_MPI_OTHER && strcmp(function->name, "MPI_Pcontrol") != 0;
}
