#include "archive/parameter_roles.h"

#include "refrain/event.h"

enum rfn_cluster_role rfn_parameter_role(const struct rfn_function_info *function, unsigned input)
{
    switch (function->params[input].kind) {
    case RFN_KIND_RANK:
        return function->class_ == RFN_CLASS_ONE_TO_ALL || function->class_ == RFN_CLASS_ALL_TO_ONE
                   ? RFN_ROLE_ROOT
                   : RFN_ROLE_PEER;
    case RFN_KIND_COUNT:
    case RFN_KIND_BYTES:
    case RFN_KIND_COUNT | RFN_KIND_LIST:
        return RFN_ROLE_COUNT;
    case RFN_KIND_TYPE:
    case RFN_KIND_OP:
        return RFN_ROLE_EXACT;
    case RFN_KIND_COMM:
        return RFN_ROLE_COMM;
    case RFN_KIND_PLACE:
        return RFN_ROLE_PLACE;
    default:
        return RFN_ROLE_CALL;
    }
}

const char *rfn_role_name(enum rfn_cluster_role role)
{
    static const char *const names[] = {
        [RFN_ROLE_CALL] = "other", [RFN_ROLE_PEER] = "peer",   [RFN_ROLE_RANGE] = "range",
        [RFN_ROLE_ROOT] = "root",  [RFN_ROLE_COUNT] = "count", [RFN_ROLE_EXACT] = "exact",
        [RFN_ROLE_COMM] = "comm",  [RFN_ROLE_PLACE] = "place", [RFN_ROLE_SIGNATURE] = "signature"};
    return names[role];
}

const char *rfn_parameter_role_name(const struct rfn_function_info *function, unsigned input)
{
    bool tag = (function->params[input].kind & ~RFN_KIND_LIST) == RFN_KIND_TAG;
    return tag ? "tag" : rfn_role_name(rfn_parameter_role(function, input));
}
