/* actions.c - the functions that all sources of actions have. */
#include "convert/actions_source.h"

#include <assert.h>

const char *rfn_action_name(enum rfn_action_kind kind)
{
    static const char *const names[RFN_ACTION_KINDS] = {
        "init",       "finalize", "compute",   "sleep",        "send",    "recv",     "probe",
        "test",       "wait",     "sendRecv",  "barrier",      "bcast",   "reduce",   "allreduce",
        "scan",       "exscan",   "gather",    "gatherv",      "scatter", "scatterv", "allgather",
        "allgatherv", "alltoall", "alltoallv", "reducescatter"};
    return kind < RFN_ACTION_KINDS ? names[kind] : "?";
}

uint32_t rfn_actions_ranks(const struct rfn_actions *actions)
{
    return actions->n_ranks;
}

enum rfn_action_unit rfn_actions_unit(const struct rfn_actions *actions)
{
    return actions->unit;
}

const struct rfn_activity *rfn_actions_activities(const struct rfn_actions *actions, size_t *n)
{
    *n = 0;
    return actions->activities ? actions->activities(actions, n) : NULL;
}

const int64_t *rfn_actions_comm(const struct rfn_actions *actions, uint32_t comm, uint32_t *n)
{
    *n = 0;
    return comm && actions->comm ? actions->comm(actions, comm, n) : NULL;
}

int rfn_actions_next(struct rfn_actions *actions, uint32_t rank, struct rfn_action *action)
{
    assert(rank < actions->n_ranks);
    return actions->next(actions, rank, action);
}

bool rfn_actions_has(const struct rfn_actions *actions, uint32_t rank)
{
    return !actions->has || actions->has(actions, rank);
}

uint64_t rfn_actions_left_out(const struct rfn_actions *actions, const char **first)
{
    *first = NULL;
    return actions->left_out ? actions->left_out(actions, first) : 0;
}

void rfn_actions_free(struct rfn_actions *actions)
{
    if (actions)
        actions->free(actions);
}
