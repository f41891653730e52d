#include "event/calls.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const operation_names[] = {"",
#define X(name) #name,
                                              RFN_OPERATIONS(X)
#undef X
};

static const char *const input_names[] = {
#define X(name) #name,
    RFN_INPUT_NAMES(X)
#undef X
};

enum { N_NAMES = sizeof input_names / sizeof *input_names, NAME_SIZE = 64 };

static const uint8_t input_kinds[] = {
#define X(kind) RFN_KIND_##kind,
    RFN_INPUT_KINDS(X)
#undef X
};

static const uint8_t outcome_kinds[] = {
#define X(kind) RFN_KIND_##kind,
    RFN_OUTCOME_KINDS(X)
#undef X
};

const char *rfn_operation_name(enum rfn_operation operation)
{
    return operation_names[operation];
}

static void cut_end(char *name, const char *end)
{
    size_t length = strlen(name), n = strlen(end);
    if (length > n && strcmp(name + length - n, end) == 0)
        name[length - n] = '\0';
}

/* MPIX_: Open MPI's persistent collectives before they came into the standard. */
static enum rfn_operation operation_of(const struct rfn_function_info *function,
                                       enum rfn_call_variant variant)
{
    char name[NAME_SIZE];
    const char *from = function->name;
    if (strncmp(from, "MPI_", 4) != 0 && strncmp(from, "MPIX_", 5) != 0)
        return RFN_MPI_OTHER;
    snprintf(name, sizeof name, "%s", strchr(from, '_') + 1);
    cut_end(name, "_c");
    if (variant == RFN_CALL_PERSISTENT) {
        cut_end(name, "_init");
    } else if (variant == RFN_CALL_NONBLOCKING && name[0] == 'I' &&
               islower((unsigned char)name[1])) {
        memmove(name, name + 1, strlen(name));
        name[0] = (char)toupper((unsigned char)name[0]);
    }
    for (int i = 1; i < RFN_MPI_COUNT; i++) {
        if (strcmp(operation_names[i], name) == 0)
            return (enum rfn_operation)i;
    }
    return RFN_MPI_OTHER;
}

static void find_inputs(struct rfn_call *call, const struct rfn_function_info *function)
{
    for (int i = function->n_in - 1; i >= 0; i--) { /* so that the first one stays */
        const struct rfn_param_info *param = &function->params[i];
        uint8_t kind = param->kind, one = kind & (uint8_t)~RFN_KIND_LIST;
        for (int k = 0; k < N_NAMES; k++) {
            if (strcmp(param->name, input_names[k]) == 0)
                call->in[k] = (int8_t)i;
        }
        for (int k = N_NAMES; k < RFN_N_INPUTS; k++) {
            if (input_kinds[k - N_NAMES] == (one == RFN_KIND_REQUEST ? one : kind))
                call->in[k] = (int8_t)i;
        }
        if (one == RFN_KIND_REQUEST)
            call->requests = kind != one;
    }
}

static void find_outcomes(struct rfn_call *call, const struct rfn_function_info *function)
{
    for (int i = function->n_out - 1; i >= 0; i--) {
        uint8_t kind = function->params[function->n_in + i].kind;
        for (int k = 0; k < RFN_OUT_INDEX; k++) {
            if (outcome_kinds[k] == kind)
                call->out[k] = (int8_t)i;
        }
        if (call->requests && (kind & ~RFN_KIND_LIST) == RFN_KIND_INT) {
            call->out[RFN_OUT_INDEX] = (int8_t)i;
            call->indices = kind & RFN_KIND_LIST;
        }
    }
}

/* Calls that can be joined over the members of a communicator, or of a file; fences are joined by
 * their window. */
static bool is_joined(const struct rfn_call *call, uint8_t flags)
{
    bool on_file = call->class_ == RFN_CLASS_FILE && call->in[RFN_IN_FILE] >= 0;
    return (flags & RFN_FUNCTION_COLLECTIVE) && (call->in[RFN_IN_COMM] >= 0 || on_file);
}

static enum rfn_call_kind kind_by_class(const struct rfn_call *call,
                                        const struct rfn_function_info *function)
{
    bool joined = is_joined(call, function->flags);
    switch (call->class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
        return RFN_CALL_SEND;
    case RFN_CLASS_RECV:
        return call->in[RFN_IN_MESSAGE] >= 0 ? RFN_CALL_MRECV : RFN_CALL_RECV;
    case RFN_CLASS_SENDRECV:
        return RFN_CALL_SENDRECV;
    case RFN_CLASS_PROBE:
        return call->out[RFN_OUT_MESSAGE] >= 0 ? RFN_CALL_MPROBE : RFN_CALL_PROBE;
    case RFN_CLASS_BARRIER:
    case RFN_CLASS_ONE_TO_ALL:
    case RFN_CLASS_ALL_TO_ONE:
    case RFN_CLASS_ALL_TO_ALL:
    case RFN_CLASS_SCAN:
    case RFN_CLASS_NEIGHBOR:
        return joined ? (enum rfn_call_kind)(RFN_CALL_BARRIER + call->class_ - RFN_CLASS_BARRIER)
                      : RFN_CALL_OTHER;
    case RFN_CLASS_REGION:
        if (function->n_in == 0 || function->params[0].kind != RFN_KIND_REGION)
            return RFN_CALL_OTHER;
        return strcmp(function->name, "refrain_region_begin") == 0 ? RFN_CALL_REGION_BEGIN
                                                                   : RFN_CALL_REGION_END;
    default:
        return joined ? RFN_CALL_MAKE : RFN_CALL_OTHER;
    }
}

static enum rfn_call_kind kind_of(const struct rfn_call *call,
                                  const struct rfn_function_info *function)
{
    bool request = call->in[RFN_IN_REQUEST] >= 0;
    switch ((enum rfn_operation)call->operation) {
    case RFN_MPI_Init:
    case RFN_MPI_Init_thread:
        return call->class_ == RFN_CLASS_SETUP ? RFN_CALL_INIT : RFN_CALL_OTHER;
    case RFN_MPI_Finalize:
        return call->class_ == RFN_CLASS_SETUP ? RFN_CALL_FINALIZE : RFN_CALL_OTHER;
    case RFN_MPI_Start:
    case RFN_MPI_Startall:
        return request ? RFN_CALL_START : RFN_CALL_OTHER;
    case RFN_MPI_Pready:
    case RFN_MPI_Pready_range:
    case RFN_MPI_Pready_list:
        return request ? RFN_CALL_READY : RFN_CALL_OTHER;
    case RFN_MPI_Request_get_status:
        return request ? RFN_CALL_LOOK : RFN_CALL_OTHER;
    case RFN_MPI_Request_free:
        return request ? RFN_CALL_FREE : RFN_CALL_OTHER;
    case RFN_MPI_Cancel:
        return request ? RFN_CALL_CANCEL : RFN_CALL_OTHER;
    case RFN_MPI_Comm_create_group: /* only a part of the communicator calls them */
    case RFN_MPI_Comm_join:
        return RFN_CALL_OTHER;
    default:
        if (request && call->variant == RFN_CALL_BLOCKING && call->out[RFN_OUT_COMPLETIONS] >= 0)
            return RFN_CALL_COMPLETE;
        return kind_by_class(call, function);
    }
}

static enum rfn_send_mode mode_of(const struct rfn_call *call)
{
    switch (call->operation) {
    case RFN_MPI_Bsend:
        return RFN_SEND_BUFFERED;
    case RFN_MPI_Rsend:
        return RFN_SEND_READY;
    default:
        return call->class_ == RFN_CLASS_SSEND ? RFN_SEND_SYNCHRONOUS : RFN_SEND_STANDARD;
    }
}

void rfn_call_init(struct rfn_call *call, const struct rfn_function_info *function)
{
    *call = (struct rfn_call){.class_ = function->class_, .variant = RFN_CALL_BLOCKING};
    memset(call->in, -1, sizeof call->in);
    memset(call->out, -1, sizeof call->out);
    if (function->flags & RFN_FUNCTION_PERSISTENT)
        call->variant = RFN_CALL_PERSISTENT;
    else if (function->flags & RFN_FUNCTION_NONBLOCKING)
        call->variant = RFN_CALL_NONBLOCKING;
    call->operation = (uint8_t)operation_of(function, (enum rfn_call_variant)call->variant);
    find_inputs(call, function);
    find_outcomes(call, function);
    call->kind = (uint8_t)kind_of(call, function);
    call->mode = (uint8_t)mode_of(call);
    const int8_t *in = call->in;
    call->send_tag = in[RFN_IN_sendtag] >= 0 ? in[RFN_IN_sendtag] : in[RFN_IN_tag];
    call->recv_tag = in[RFN_IN_recvtag] >= 0 ? in[RFN_IN_recvtag] : in[RFN_IN_tag];
    if (call->class_ == RFN_CLASS_FILE && !strstr(function->name, "_end")) { /* begin has counts */
        call->reads = strstr(function->name, "read") != NULL;
        call->writes = !call->reads && strstr(function->name, "write");
    }
}
