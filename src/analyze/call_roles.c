#include "analyze/call_roles.h"

#include "analyze/places.h"

#include <stdlib.h>
#include <string.h>

static bool is(const struct rfn_function_info *function, const char *name)
{
    return strcmp(function->name, name) == 0;
}

/* The last input of a kind, which is the call's own where there are several communicators. */
static int8_t last_input_of(const struct rfn_function_info *function, uint8_t kind)
{
    for (int i = function->n_in - 1; i >= 0; i--) {
        if (function->params[i].kind == kind)
            return (int8_t)i;
    }
    return -1;
}

static void find_places(struct rfn_role *role, const struct rfn_function_info *function)
{
    role->dest = rfn_input_named(function, "dest");
    role->source = rfn_input_named(function, "source");
    role->recv_tag = rfn_input_named(function, "recvtag");
    role->send_tag = rfn_input_named(function, "sendtag");
    if (role->recv_tag < 0)
        role->recv_tag = rfn_input_named(function, "tag");
    if (role->send_tag < 0)
        role->send_tag = rfn_input_named(function, "tag");
    /* The peers' communicator of this one means something on the leaders only. */
    role->comm = is(function, "MPI_Intercomm_create") ? rfn_input_named(function, "local_comm")
                                                      : last_input_of(function, RFN_KIND_COMM);
    role->root = rfn_input_named(function, "root");
    role->file = last_input_of(function, RFN_KIND_FILE);
    role->message = last_input_of(function, RFN_KIND_MESSAGE);
    role->partitions = rfn_input_named(function, "partitions");
    role->out_source = rfn_outcome_of_kind(function, RFN_KIND_RANK);
    role->out_tag = rfn_outcome_of_kind(function, RFN_KIND_TAG);
    role->out_message = rfn_outcome_of_kind(function, RFN_KIND_MESSAGE);
    role->out_file = rfn_outcome_of_kind(function, RFN_KIND_FILE);
}

static bool begins_with(const struct rfn_function_info *function, const char *name)
{
    return strncmp(function->name, name, strlen(name)) == 0;
}

static enum rfn_action action_of(const struct rfn_role *role,
                                 const struct rfn_function_info *function)
{
    switch (function->class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
        return RFN_ACT_SEND;
    case RFN_CLASS_RECV:
        return role->message >= 0 ? RFN_ACT_MRECV : RFN_ACT_RECV;
    case RFN_CLASS_SENDRECV:
        return RFN_ACT_SENDRECV;
    case RFN_CLASS_PROBE:
        return role->out_message >= 0 ? RFN_ACT_MPROBE : RFN_ACT_PROBE;
    case RFN_CLASS_SETUP:
        if (begins_with(function, "MPI_Init"))
            return RFN_ACT_INIT;
        return is(function, "MPI_Finalize") ? RFN_ACT_FINALIZE : RFN_ACT_NONE;
    case RFN_CLASS_REGION:
        if (!function->n_in)
            return RFN_ACT_NONE;
        return is(function, "refrain_region_begin") ? RFN_ACT_REGION_BEGIN : RFN_ACT_REGION_END;
    default:
        return RFN_ACT_NONE;
    }
}

static enum rfn_collective collective_of(uint8_t class_)
{
    switch (class_) {
    case RFN_CLASS_BARRIER:
        return RFN_COLLECTIVE_BARRIER;
    case RFN_CLASS_ONE_TO_ALL:
        return RFN_COLLECTIVE_ONE_TO_ALL;
    case RFN_CLASS_ALL_TO_ONE:
        return RFN_COLLECTIVE_ALL_TO_ONE;
    case RFN_CLASS_ALL_TO_ALL:
        return RFN_COLLECTIVE_NXN;
    case RFN_CLASS_SCAN:
        return RFN_COLLECTIVE_SCAN;
    case RFN_CLASS_NEIGHBOR:
        return RFN_COLLECTIVE_NEIGHBOR;
    default:
        return RFN_COLLECTIVE_MAYBE;
    }
}

/* Collective calls that can be joined: over the members of a communicator, or of a file. Not those
 * that only a part of a communicator makes. Fences are of one_sided.h. */
static bool joined(const struct rfn_role *role, const struct rfn_function_info *function)
{
    bool on_file = function->class_ == RFN_CLASS_FILE && role->file >= 0;
    bool of_part = begins_with(function, "MPI_Comm_create_group") || is(function, "MPI_Comm_join");
    return (function->flags & RFN_FUNCTION_COLLECTIVE) && (role->comm >= 0 || on_file) && !of_part;
}

static void find_mode(struct rfn_role *role, const struct rfn_function_info *function)
{
    const char *name = function->name + strcspn(function->name, "_");
    if (function->class_ == RFN_CLASS_SSEND)
        role->mode = RFN_SEND_SYNCHRONOUS;
    else if (strncmp(name, "_Bsend", 6) == 0 || strncmp(name, "_Ibsend", 7) == 0 ||
             strncmp(name, "_Rsend", 6) == 0 || strncmp(name, "_Irsend", 7) == 0)
        role->mode = RFN_SEND_LOCAL;
}

static void role_init(struct rfn_role *role, const struct rfn_function_info *function)
{
    find_places(role, function);
    find_mode(role, function);
    role->begins = function->flags & RFN_FUNCTION_NONBLOCKING;
    role->persistent = function->flags & RFN_FUNCTION_PERSISTENT;
    role->partitioned = begins_with(function, "MPI_Psend_init") ||
                        begins_with(function, "MPI_Precv_init");
    role->looks = begins_with(function, "MPI_Request_get_status");
    role->collective = collective_of(function->class_);
    role->always_data = role->collective == RFN_COLLECTIVE_BARRIER ||
                        role->collective == RFN_COLLECTIVE_MAYBE;
    role->closes = is(function, "MPI_File_close");
    role->action = action_of(role, function);
    if (role->action == RFN_ACT_INIT)
        role->collective = RFN_COLLECTIVE_INIT;
    else if (role->action == RFN_ACT_FINALIZE)
        role->collective = RFN_COLLECTIVE_FINALIZE;
    else if (role->action == RFN_ACT_NONE && joined(role, function))
        role->action = RFN_ACT_COLLECTIVE;
}

struct rfn_role *rfn_roles_new(const struct rfn_archive *archive)
{
    uint32_t n = rfn_archive_functions(archive);
    struct rfn_role *roles = calloc((size_t)n + 1, sizeof *roles);
    for (uint32_t i = 0; roles && i < n; i++)
        role_init(&roles[i], rfn_archive_function(archive, i));
    return roles;
}
